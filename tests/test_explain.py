"""Explanations of refused texts: how far they go, by the plain recogniser, and what they name, in each language."""
import itertools
import random

import pytest
from ir_oracle import Oracle
from test_lower import Richer

import llgcy
from llgcy.errors import GrammarError
from llgcy.grammar.lark import read


@pytest.mark.parametrize("lexing", ["greedy", "exact"])
def test_how_far_a_text_goes(lexing):
    """The offset is the longest beginning of the text that the plain recogniser lets live; its rules are the grammar's."""
    seen = 0
    for seed in range(60):
        text = Richer(seed + 7000).text()
        plain, choose = Oracle(read(text, lexing=lexing), "abAB "), random.Random(seed)
        try:
            grammar = llgcy.Grammar.from_lark(text, lexing=lexing)
            grammar.accepts("")
        except GrammarError:                                # it derives nothing, or greedy lexing leads into traps
            continue
        rules = {line.split(":")[0] for line in text.split("\n")}
        for word in ["".join(choose.choices("ab ", k=n)) for n in (0, 1, 2, 3, 4, 5)]:
            config, far = plain.start(), 0
            for char in word:
                config = plain.step(config, char)
                if not config:
                    break
                far += 1
            found = grammar.explain(word)
            if not any("no text can end" in warning for warning in grammar.warnings):
                assert (found.accepted, found.offset) == (far == len(word) and plain.accepts(word), far), (text, word)
            assert found.accepted or found.expected or far == 0, (text, word)
            assert found.rule is None or found.rule in rules
            assert found.ending is None or grammar.accepts(word + found.ending)
            seen += not found.accepted
    assert seen > 100


@pytest.mark.parametrize("grammar, text, place, expected, rule", [
    (llgcy.Grammar.from_lark('start: "let" NAME "=" value ";"\nvalue: INT | "(" value ")"\nNAME: /[a-z]+/\nINT: /[0-9]+/\n%ignore " "'),
     "let x =\u00a0(", (7, 1, 8), ['"("', "INT"], "value"),
    (llgcy.Grammar.from_lark('start: "a" b\nb: "c" | "d" "\\n" "é"'), "ad\nx", (3, 2, 1), ['"é"'], "b"),
    (llgcy.Grammar.from_lark('start: "a" b\nb: "c" | "d" "\\n" "é"'), "ad\nè", (3, 2, 1), ['"é"'], "b"),
    (llgcy.Grammar.from_lark('start: "x" %json {"type": "integer"} "y"?'), "x{", (1, 1, 2), ["a number"], "start"),
    (llgcy.Grammar.from_lark("start: <[5]> A?\nA: \"a\""), "a", (0, 1, 1), ["<[5]>"], "start"),
    (llgcy.Grammar.from_gbnf('root ::= "(" item ")"\nitem ::= "a" root | "b"'), "(ac", (2, 1, 3), ['"("'], "root"),
    (llgcy.Grammar.from_regex("ab+"), "ac", (1, 1, 2), ["the rest of /ab+/"], "start"),
    (llgcy.Grammar.from_choices(["yes", "no"]), "ya", (1, 1, 2), ['the rest of ("yes" | "no")'], "start"),
    (llgcy.Grammar.from_json_schema({"type": ["object", "null"], "additionalProperties": False}), "1", (0, 1, 1), ["null", "an object"], None),
    (llgcy.Grammar.from_json_schema({"type": "object", "properties": {"ab": {"enum": [True, "cd"]}}, "additionalProperties": False}),
     '{"ab": "x', (8, 1, 9), ['the rest of a string such as cd"'], None),
    (llgcy.Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}}), "[12 3", (4, 1, 5), ["','", "']'"], None),
    (llgcy.Grammar.from_grammars([{"lark_grammar": 'start: "n" @n'}, {"name": "n", "regex": "[0-9]+"}]), "nx", (1, 1, 2), ["/[0-9]+/"], "start"),
])
def test_what_was_expected(grammar, text, place, expected, rule):
    found = grammar.explain(text)
    assert (found.accepted, (found.offset, found.line, found.column), found.expected, found.rule) == (False, place, expected, rule)
    assert not found.accepted and grammar.explain(text.encode()) == found
    assert all(what in str(found) for what in expected) and f"line {place[1]}, column {place[2]}" in str(found)


def test_the_end_of_the_text():
    grammar = llgcy.Grammar.from_lark('start: "a"+ "b"')
    assert grammar.explain("ab").accepted and str(grammar.explain("ab")) == "the text is accepted"
    assert (grammar.explain("aa").ending, grammar.explain("aa").found) == ("b", "")
    assert "a shortest ending is 'b'" in str(grammar.explain("aa"))
    assert grammar.explain("abc").expected == ["the end of the text"]
    assert llgcy.Grammar.from_lark("start: <[5]>").explain("").ending is None       # no bytes end it


def test_bytes_that_are_no_text():
    found = llgcy.Grammar.from_regex("a.").explain(b"a\xff")
    assert (found.offset, found.found) == (1, "\\xff")
    assert llgcy.Grammar.from_regex("é").explain(b"\xc3").offset == 1


def test_names_of_what_surrounds_a_place():
    """Every lexeme of a long list is named; the message names some of them."""
    names = [f"word{i}" for i in itertools.islice(itertools.count(), 30)]
    grammar = llgcy.Grammar.from_lark("start: a b\na: " + " | ".join(f'"{name}" "!"' for name in names) + '\nb: "."')
    found = grammar.explain("x")
    assert sorted(found.expected) == sorted(f'"{name}"' for name in names) and found.rule == "a"
    assert "or others" in str(found)
