"""EOS ids of one matcher that spell text: mask, accept and validate give one answer, whatever the id spells."""
import numpy
import pytest

import llgcy

VOCABULARY = [bytes([b]) for b in range(256)] + [b"ab", b"ba", b"ab", None, None]      # the last two spell nothing; 259 is the tokenizer's EOS
GRAMMARS = {"regex": llgcy.Grammar.from_regex("(ab)+b?"), "json": llgcy.Grammar.from_json_schema({"enum": ["ab", "abab"]}),
            "rules": llgcy.Grammar.from_lark('start: "a" rest | "ab"\nrest: "b" rest | "b"', lexing="exact")}


@pytest.mark.parametrize("eos", [ord("a"), ord("b"), 256, [256, 259], [ord("b"), 260], ord('"'), 260])
@pytest.mark.parametrize("name", GRAMMARS)
def test_one_answer(name, eos):
    tokenizer = llgcy.Tokenizer.from_vocab(VOCABULARY, eos_token_id=259)
    compiled, plain = llgcy.compile(GRAMMARS[name], tokenizer), llgcy.compile(GRAMMARS[name], tokenizer)
    ids, mask = [eos] if isinstance(eos, int) else eos, llgcy.allocate_bitmask(1, len(VOCABULARY))
    text = {"regex": b"abab", "json": b'"abab"', "rules": b"abbb"}[name]
    for cut in range(len(text) + 1):
        matcher, bytewise = compiled.matcher(eos_token_ids=eos), plain.matcher()
        assert matcher.accept_bytes(text[:cut]) and bytewise.accept_bytes(text[:cut])
        matcher.fill_next_token_bitmask(mask)
        allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")[:len(VOCABULARY)].astype(bool)
        for token, spelt in enumerate(VOCABULARY):
            if token in ids:
                want = bytewise.is_accepting()
            else:
                want = spelt is not None and bytewise.accept_bytes(spelt)
                if want:
                    bytewise.rollback(1)
            assert allowed[token] == want, (text[:cut], token)
            assert matcher.validate_tokens([token]) == want
            assert matcher.fork().accept_token(token) == want
