"""The embedded tokenizer, how it is trained, and the model stand-in."""
import collections
import pathlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import llgcy.tokenizer
from llgcy.standin import StandIn
from llgcy.tokenizer import Tokenizer, train_default


def test_default_keeps_its_promises():
    tokenizer = Tokenizer.default()
    stats = tokenizer.stats()
    assert 8_000 <= tokenizer.vocab_size <= 32_000 and stats["missing_bytes"] == [] and stats["special"] == 1
    assert tokenizer.specials == {"<|end|>": tokenizer.eos_token_ids[0]}
    assert stats["longest"] <= train_default.LONGEST
    assert Tokenizer.default() is tokenizer
    data = pathlib.Path(llgcy.tokenizer.__file__).parent / "data"
    assert sum(file.stat().st_size for file in data.iterdir()) < 1_000_000
    for token in b'{"', b'":', b'",', b"    ", b"return", b"self", b" the", b"true", b"123":
        assert token in tokenizer.text_tokens()
    assert any(not _is_utf8(token) for token in tokenizer.text_tokens() if token and len(token) > 1), "parts of characters"


def _is_utf8(data):
    try:
        return bool(data.decode())
    except UnicodeDecodeError:
        return False


@given(st.text() | st.binary())
def test_default_spells_everything(text):
    tokenizer = Tokenizer.default()
    assert tokenizer.decode_bytes(tokenizer.encode(text)) == (text.encode() if isinstance(text, str) else text)


def test_training_is_reproducible():
    texts = [text for text in train_default.documents(["alpha", "beta", "gamma"], 40)]
    assert texts == list(train_default.documents(["alpha", "beta", "gamma"], 40))
    first, second = (train_default.train(iter(texts), 400).to_str() for _ in range(2))
    assert first == second
    tokenizer = Tokenizer.from_huggingface(train_default.Tokenizer.from_str(first))
    assert tokenizer.stats()["missing_bytes"] == [] and tokenizer.vocab_size <= 400


def test_prose_are_the_docstrings():
    assert list(train_default.prose('"""A."""\nclass B:\n    """C."""\n    def d(): "e"\n    def f(): pass\nx = "g"')) == ["A.", "C.", "e"]
    assert list(train_default.prose("def (")) == []


def test_stand_in_is_deterministic_by_seed():
    tokenizer = Tokenizer.single_byte()
    first, again, other = StandIn(tokenizer, 3), StandIn(tokenizer, 3), StandIn(tokenizer, 4)
    rows = [first.next_logits() for _ in range(3)]
    assert all(np.array_equal(row, again.next_logits()) for row in rows)
    assert not np.array_equal(rows[0], other.next_logits()) and not np.array_equal(rows[0], rows[1])
    assert rows[0].dtype == np.float32 and rows[0].shape == (257,) and np.isfinite(rows).all()


@pytest.mark.parametrize("id, expected", [(0, 1.0), (1, 0.5), (3, 0.25), (256, 1.0), (10, 0), (92, 0)])
def test_stand_in_follows_zipf(id, expected):
    """How often an id is the largest, relative to id 0; 256 is the EOS, 10 a line feed, 92 the backslash."""
    model = StandIn(Tokenizer.single_byte(), 0)
    counts = collections.Counter(int(model.next_logits().argmax()) for _ in range(20000))
    assert counts[id] / counts[0] == pytest.approx(expected, rel=0.12, abs=0.001)


@given(st.sets(st.integers(0, 256), min_size=1), st.integers(0, 5))
def test_stand_in_chooses_the_largest_allowed(allowed, seed):
    tokenizer = Tokenizer.single_byte()
    bitmask = np.zeros(9, np.int32)
    for id in allowed:
        bitmask.view(np.uint32)[id // 32] |= np.uint32(1 << id % 32)
    logits = StandIn(tokenizer, seed).next_logits()
    assert StandIn(tokenizer, seed).choose(bitmask) == max(allowed, key=lambda id: logits[id])


def test_stand_in_refuses_an_empty_mask():
    bitmask = np.zeros(9, np.int32)
    bitmask[8] = ~1          # only bits behind the vocabulary
    with pytest.raises(ValueError):
        StandIn(Tokenizer.single_byte()).choose(bitmask)
