"""Vocabularies that cannot spell every byte: a clear error where the grammar needs what is missing, and none where it does not."""
import pytest

import llgcy


def tokenizer(without, extra=()):
    tokens = [bytes([b]) for b in range(256) if b not in without] + [t.encode() for t in extra] + [None]
    return llgcy.Tokenizer.from_vocab(tokens, eos_token_id=len(tokens) - 1)


def test_a_byte_that_every_text_needs():
    with pytest.raises(llgcy.TokenizerError, match=r"0x7B \('\{'\)"):
        llgcy.compile(llgcy.Grammar.from_json_schema({"type": "object"}), tokenizer(b"{"))
    with pytest.raises(llgcy.TokenizerError, match=r"0x78 \('x'\)"):
        llgcy.compile(llgcy.Grammar.from_choices(["x", "xy"]), tokenizer(b"x"))


def test_a_byte_that_is_needed_later():
    matcher = llgcy.compile(llgcy.Grammar.from_regex("ab"), tokenizer(b"b")).matcher()
    assert matcher.accept_bytes(b"a")
    with pytest.raises(llgcy.TokenizerError, match="0x62"):
        matcher.fill_next_token_bitmask(llgcy.allocate_bitmask(1, 256))
    matcher.rollback(1)
    matcher.fill_next_token_bitmask(llgcy.allocate_bitmask(1, 256))


def test_bytes_that_are_not_needed():
    t = tokenizer(b"\xc0\xc1\xf5\xff#")
    matcher = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "object"}), t).matcher()
    mask = llgcy.allocate_bitmask(1, t.vocab_size)
    for byte in b'{"a":"b"}':
        assert matcher.fill_next_token_bitmask(mask)
        assert matcher.accept_token([t.token_bytes(i) for i in range(t.vocab_size)].index(bytes([byte])))
    assert matcher.is_accepting()


def test_a_longer_token_spells_it():
    t = tokenizer(b"{", ["{\""])
    matcher = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "object", "required": ["a"]}), t).matcher()
    assert matcher.accept_token(t.vocab_size - 2)
