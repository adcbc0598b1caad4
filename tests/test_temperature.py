"""Temperatures of rules, as hints."""
import pytest

import llgcy

TOKENIZER = llgcy.Tokenizer.single_byte()


def temperatures(lark, text, **options):
    """The hint before each byte, and at the end."""
    matcher = llgcy.compile(llgcy.Grammar.from_lark(lark, **options), TOKENIZER).matcher()
    out = [matcher.temperature]
    for byte in text.encode():
        assert matcher.accept_token(byte)
        out.append(matcher.temperature)
    for _ in text:                                          # and all of them again on the way back
        matcher.rollback(1)
        assert matcher.temperature == out[matcher.steps]
    return out


@pytest.mark.parametrize("lexing", ["greedy", "exact"])
@pytest.mark.parametrize("lark, text, want", [
    ('start: a b\na[temperature=0.5]: /[0-9]+/\nb[temperature=2]: "x" /y+/', "1xy", [.5, 2, 2, 2]),
    ('start: a "," b ";"\na[temperature=0.5]: /[0-9]+/\nb: /[0-9]+/', "12,3;", [.5, .5, .5, None, None, None]),
    # What may come next counts, the highest of it; nothing asked for is less than anything.
    ('start: (a | b | "c")*\na[temperature=0.5]: "aa"\nb[temperature=0]: "bb"', "aabbc", [.5, .5, .5, 0, .5, .5]),
    ('start: "<" %lark {\nstart: x "," y\nx[temperature=1]: /[0-9]/\ny: /[a-z]/\n} ">"', "<1,a>", [None, 1, None, None, None, None]),
    ('start: "<" x ">"\nx[temperature=1.5]: %lark {\nstart: y y\ny: /[0-9]/\n}', "<12>", [None, 1.5, 1.5, None, None]),
    ('start: "<" x ">"\nx[temperature=1.5]: %json {"type": "array"}', "<[1]>", [None, 1.5, 1.5, 1.5, None, None]),
    ('start[temperature=0.25]: %json {"type": "integer"}', "12", [.25, .25, .25]),
    ('start: "<" x ">"\nx: %lark {\n%llguidance {"lexing": "exact"}\nstart: y "!"\ny[temperature=3]: /[0-9]/\n}', "<1!>", [None, 3, None, None, None]),
])
def test_temperature(lark, text, want, lexing):
    assert temperatures(lark, text, lexing=lexing) == want


def test_without():
    assert temperatures('start: "a" "b"', "ab") == [None] * 3
    matcher = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "integer"}), TOKENIZER).matcher()
    assert matcher.temperature is None
    matcher = llgcy.compile(llgcy.Grammar.from_lark('start[temperature=1]: "a"*'), TOKENIZER).matcher()
    assert matcher.temperature == 1 and matcher.accept_token(256) and matcher.temperature is None
