"""The sorted vocabulary, against Python's own order of bytes."""
import copy
import pickle

from hypothesis import example, given
from hypothesis import strategies as st

from llgcy.core._testing import spelled, white
from llgcy.core.trie import Vocabulary
from llgcy.tokenizer import Tokenizer

# Few different bytes, zeros among them, and long enough that the first eight bytes alone do not tell.
TOKENS = st.lists(st.none() | st.lists(st.sampled_from(b"\x00 a\xff"), max_size=11).map(bytes), max_size=40)


@given(TOKENS)
@example([b"a", b"a\x00", b"a\x00\x00", None, b"", b"a"])
@example([b"x" * 8 + b"b", b"x" * 8, b"x" * 8 + b"a", b"x" * 9, b"x" * 8])
def test_order_of_a_vocabulary(tokens):
    vocabulary = Vocabulary(tokens, (0,) if tokens else ())
    ids = {}
    for id, token in enumerate(tokens):
        if token:
            ids.setdefault(token, []).append(id)
    assert spelled(vocabulary) == sorted(ids.items())
    assert vocabulary.trie.size == len({token[:n] for token in ids for n in range(1, len(token) + 1)})
    assert vocabulary.trie.longest == max(map(len, ids), default=0)
    leads = [(id, len(token) - len(token.lstrip(b" "))) for id, token in enumerate(tokens) if token and token.startswith(b" ")]
    assert white(vocabulary) == sorted(leads, key=lambda pair: -pair[1])
    assert vocabulary.missing == bytes(byte for byte in range(256) if bytes([byte]) not in ids)


def test_a_tokenizer_is_sorted_when_it_is_made():
    """Also one that was copied, or went through pickle."""
    tokenizer = Tokenizer.from_vocab([b"b", b"ab", None, b"a"], eos_token_id=2)
    for other in tokenizer, copy.copy(tokenizer), copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer)):
        assert spelled(vars(other)["vocabulary"]) == [(b"a", [3]), (b"ab", [1]), (b"b", [0])]
