"""The same hostile texts in each grammar language end in an answer or an error of ours; common mistakes get a hint."""
import time

import pytest

import llgcy
from llgcy.errors import GrammarError, LimitError, LlgcyError, UnsatisfiableError

DEPTH = 20_000
LANGUAGES = {
    "lark": (llgcy.Grammar.from_lark, "start: {}\n", "{}: {}\n"),
    "lark, exact": (lambda text: llgcy.Grammar.from_lark(text, lexing="exact"), "start: {}\n", "{}: {}\n"),
    "gbnf": (llgcy.Grammar.from_gbnf, "root ::= {}\n", "{} ::= {}\n"),
    "ebnf": (llgcy.Grammar.from_ebnf, "root ::= {}\n", "{} ::= {}\n"),
}


@pytest.fixture(params=LANGUAGES)
def made(request):
    """A function of the start rule's body and of further rules: the grammar."""
    read, start, rule = LANGUAGES[request.param]
    return lambda body, *more: read(start.format(body) + "".join(rule.format(name, text) for name, text in more))


def test_thousands_of_groups(made):
    grammar = made("(" * DEPTH + '"a"' + ")" * DEPTH)
    assert grammar.accepts("a") and not grammar.accepts("b") and grammar.explain("b").expected
    assert made('("a" ' * DEPTH + ")" * DEPTH).accepts("a" * DEPTH)
    with pytest.raises(GrammarError) as caught:
        made("(" * DEPTH + '"a"' + ")" * (DEPTH - 1))
    assert caught.value.line == 1 or caught.value.line == 2


def test_a_thousand_million_copies(made):
    grammar = made('"a"{1,1000000000} "b"')
    assert grammar.accepts("aab") and not grammar.accepts("b") and grammar.explain("aa").ending == "b"
    with pytest.raises(LimitError, match="1,000,000,000 copies"):
        made('"a"{1,1000000001}')
    nested = made('(("ab"{1,1000000000}){1,1000000000}){1,1000000000} "c"')
    assert nested.accepts("ababc") and not nested.accepts("abac")


def test_nothing_is_derived(made):
    for body, *more in (('"a" x', ("x", 'x "b"')), ("x", ("x", "y"), ("y", "x")), ("x", ("x", '"a" x | "b" x'))):
        with pytest.raises(UnsatisfiableError, match="no finite text can be derived from (start|root)") as caught:
            made(body, *more).accepts("")
        assert (caught.value.line, caught.value.code) == (1, "unsatisfiable")


def test_loops_of_rules_that_may_be_empty(made):
    grammar = made("(x* y*)* x", ("x", 'y | "" | x x | "a"'), ("y", 'x | ""'))
    for text in "", "a", "a" * 30:
        assert grammar.accepts(text)
    assert not grammar.accepts("b")


def test_long_chains_of_rules(made):
    rules = [(f"r{i}", f"r{i + 1}") for i in range(1000)]
    assert made("r0", *rules, ("r1000", '"a"')).accepts("a")
    rules = [(f"r{i}", f'r{i + 1} r{i + 1} "a"?') for i in range(200)]            # 2 ** 200 copies of the last one, all of which may be empty
    assert made("r0", *rules, ("r200", '"b"?')).accepts("")
    assert made("r0", *rules[:4], ("r4", '"b"?')).accepts("bab")
    started = time.monotonic()
    grammar = made("r0", *rules[:12], ("r12", '"b"?'))              # 4,096 of them in one lexeme, where lexing is exact
    assert grammar.accepts("ba" * 1000 + "b" * 1000) and not grammar.accepts("b" * 4097 + "a" * 4097)
    assert time.monotonic() - started < 60                             # a second or so; without limits it took hours


def test_regexes_whose_states_are_large():
    """What a look at two lexemes may cost is bounded by what is compared, not by the number of states alone."""
    started = time.monotonic()
    compiled = llgcy.compile(llgcy.Grammar.from_regex("((a?b?a?){0,3}c?)" * 400), llgcy.Tokenizer.single_byte())
    assert compiled.matcher().accept_tokens(b"abacab" * 20) == 120
    assert time.monotonic() - started < 60                             # some seconds; all states took minutes


def test_a_shortest_text_without_end(made):
    rules = [(f"r{i}", f"r{i + 1} r{i + 1}") for i in range(100)]
    try:
        found = made("r0", *rules, ("r100", '"a"')).explain("aa")
        assert not found.accepted and found.ending is None
    except LlgcyError as error:
        assert isinstance(error, LimitError)


def test_many_alternatives(made):
    started = time.monotonic()
    grammar = made(" | ".join(f'"word{i}" "x"' for i in range(5000)))
    assert grammar.accepts("word4999x") and not grammar.accepts("word5000x")
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("text, code, hint", [
    ("start: A\nA: \"x\" A?", "grammar", "define it as a rule, a"),
    ('start: Abc\nAbc: "x"', "grammar", "neither a rule's"),
    ('start: A\nA: b\nb: "x"', "grammar", "define it as B"),
    ('start: numbr\nnumber: "x"', "grammar", "did you mean number?"),
    ("start: 'x'", "grammar", "double quotes"),
    ('start: /.*/ "x"', "grammar", "use exact lexing"),
    ('start: "a" start', "unsatisfiable", "needs itself again"),
    ('start: "a"{2,1}', "grammar", "2 > 1"),
    ('%llguidance {"lexer": 1}\nstart: "a"', "grammar", "it has lexing"),
])
def test_hints_in_lark(text, code, hint):
    with pytest.raises(GrammarError) as caught:
        llgcy.Grammar.from_lark(text).accepts("")
    assert hint in str(caught.value) and caught.value.code == code


def test_repeated_lexemes_of_one_character():
    for text in ('start: LETTER+ "." | DIGIT*\nLETTER: /[a-z]/ | /[A-Z]/\nDIGIT: "0".."9"\n%ignore " "', 'start: (/[a-z]/)+\n'):
        warnings = llgcy.Grammar.from_lark(text).warnings
        assert warnings and all("is a lexeme of its own" in warning and "(line 1, column" in warning for warning in warnings)
        assert ("what is ignored may stand between" in warnings[0]) == ("%ignore" in text)
        assert ("LETTER+" in warnings[0]) == ("LETTER" in text)
    for text in ('start: WORD+ "."* "x"{2} "-"* x*\nWORD: /[a-z]+/\nx: WORD', '%llguidance {"lexing": "exact"}\nstart: /[a-z]/+', 'start: ("ab" | /c/)*'):
        assert llgcy.Grammar.from_lark(text).warnings == ()
    assert llgcy.Grammar.from_gbnf("root ::= [a-z]+").warnings == ()
