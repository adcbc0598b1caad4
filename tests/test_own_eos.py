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
        if not bytewise.is_accepting() and not any(token not in ids and spelt and bytewise.validate_tokens([token]) for token, spelt in enumerate(VOCABULARY)):
            with pytest.raises(llgcy.TokenizerError, match="only the ids"):
                matcher.fill_next_token_bitmask(mask)
            continue
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


@pytest.mark.parametrize("name, begin, eos", [("regex", b"a", "b"), ("json", b"", '"'), ("rules", b"a", "b")])
def test_an_end_that_alone_spells_what_is_needed(name, begin, eos):
    """No mask is ever empty: where every token that could come is an end, and the text may not end, that is an error."""
    tokenizer = llgcy.Tokenizer.from_vocab([bytes([b]) for b in range(256)] + [None], eos_token_id=256)
    matcher, mask = llgcy.compile(GRAMMARS[name], tokenizer).matcher(eos_token_ids=ord(eos)), llgcy.allocate_bitmask(1, 257)
    for byte in begin:
        matcher.fill_next_token_bitmask(mask)
        assert mask[0, byte >> 5] >> (byte & 31) & 1 and matcher.accept_token(byte)
    with pytest.raises(llgcy.TokenizerError, match="only the ids"):
        matcher.fill_next_token_bitmask(mask)
    with pytest.raises(llgcy.TokenizerError, match="only the ids"):
        llgcy.fill_bitmasks([matcher], mask)


A, B, END, OTHER = range(4)


@pytest.mark.parametrize("lark, taken, over", [
    # Named and expected: a token of the grammar, behind which the text goes on; another id ends it meanwhile.
    ('start: "a" (<end> "b")*', [A, END, B, END, B, OTHER], True),
    ('start: "a" (<end> "b")*', [A, OTHER], True),
    ('start: "a" (<end> "b")*', [A, END], False),
    # Named, but not expected: the end.
    ('start: <end>? "a"', [END, A, END], True),
    ('start: <end>? "a"', [A, OTHER], True),
    # Named as the last one: the text is over with it, and needs no other end.
    ('start: "a" <end>', [A, END], True),
    ('start: "a" <end>?', [A, END], True),
    ('start: "a" <end>?', [A, OTHER], True),
    ('start: "a" <end> <other>', [A, END, OTHER], True),
    ('start: "a" <end> <other> "b"', [A, END, OTHER, B, END], True),
    # Several of them, none named.
    ('start: "a" "b"?', [A, OTHER], True),
    ('start: "a" "b"?', [A, B, END], True),
    # By id, and as any token.
    ('start: "a" <[2-3]> "b"', [A, OTHER, B, OTHER], True),
    ('start: "a" <[*]> "b"', [A, END, B, END], True),
])
@pytest.mark.parametrize("lexing", ["greedy", "exact"])
def test_ends_that_the_grammar_names(lark, taken, over, lexing):
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"b", None, None], special={"<end>": END, "<other>": OTHER}, eos_token_id=[END, OTHER])
    matcher, mask = llgcy.compile(llgcy.Grammar.from_lark(lark, lexing=lexing), tokenizer).matcher(), llgcy.allocate_bitmask(1, 4)
    assert matcher.validate_tokens(taken) == len(taken)
    for step, token in enumerate(taken):
        assert not matcher.is_terminated()
        matcher.fill_next_token_bitmask(mask)
        for other in range(4):
            assert bool(mask[0, 0] >> other & 1) == matcher.fork().accept_token(other) == matcher.validate_tokens([other])
        assert matcher.accept_token(token) and matcher.steps == step + 1
    assert matcher.is_terminated() == over
    if over:
        matcher.fill_next_token_bitmask(mask)
        assert mask[0, 0] == 1 << END | 1 << OTHER and matcher.accept_token(END) and not matcher.accept_token(A) and matcher.steps == len(taken)
        matcher.rollback(1)
        assert not matcher.is_terminated() and matcher.accept_token(taken[-1]) and matcher.is_terminated()
    matcher.reset()
    assert matcher.accept_tokens(taken) == len(taken)


def test_named_ends_of_one_matcher():
    """An id of this matcher alone: a token of the grammar where it is expected, the end elsewhere, also where it spells text."""
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"b", None, None], special={"<end>": END, "<other>": OTHER}, eos_token_id=END)
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: "a" <other> "a" <[1]>? '), tokenizer)
    matcher = compiled.matcher(eos_token_ids=[OTHER, B])
    assert matcher.accept_tokens([A, OTHER, A, OTHER]) == 4 and matcher.is_terminated()
    matcher.reset()
    assert matcher.accept_tokens([A, OTHER, A, B]) == 4 and matcher.is_terminated()
    matcher.reset()
    assert matcher.validate_tokens([A, OTHER, A, END]) == 3 and matcher.validate_tokens([A, B]) == 1
    plain = compiled.matcher()
    assert plain.accept_tokens([A, OTHER, A, B, END]) == 5 and plain.is_terminated()
