"""What grammars of the Lark dialect mean, by our plain recogniser: against the lark package and against the samples.

The engine is compared with the plain recogniser elsewhere; here the reading of the text is under test.
"""
import itertools
import json
import pathlib
import random

import lark
import pytest
from ir_oracle import Oracle

from llgcy.grammar.lark import read
from llgcy.grammar.lark.common import COMMON as DEFINED

GRAMMARS = pathlib.Path(__file__).parents[1] / "grammars"


class Random:
    """Random grammars over the letters a and b, in what Lark and the dialect have in common.

    Terminals are sequences of repeated classes: there Lark's search for every end of a match is complete.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rules = ["start", *"pq"[:self.random.randrange(3)]]
        self.terminals = ["T", "U"][:self.random.randrange(3)]

    def text(self):
        lines = [f"{name}: {self.alternatives(1)}" for name in self.rules]
        lines += [f"{name}: {self.terminal()}" for name in self.terminals]
        self.random.shuffle(lines)
        return "\n".join(lines) + "\n"

    def terminal(self):
        choose = self.random.choice
        parts = [choose(['"a"', '"b"', "/[ab]/", '"a".."b"', "/a/"]) + choose(["", "", "+", "?", "~1..2"])
                 for _ in range(self.random.randint(1, 3))]
        return " ".join([choose(['"a"', '"b"', '"A"i', "/b/"]), *parts][:self.random.randint(1, 4)])

    def alternatives(self, depth):
        return " | ".join(self.sequence(depth) for _ in range(self.random.choice([1, 1, 2, 3])))

    def sequence(self, depth):
        return " ".join(self.item(depth) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3])))

    def item(self, depth):
        choose = self.random.choice
        kind = choose(["literal", "literal", "name", "name", "group", "optional"] if depth else ["literal", "name"])
        if kind == "literal":
            atom = choose(['"a"', '"b"', '"ab"', '"ba"', "/[ab]/", '"a"i'])
        elif kind == "name":
            atom = choose(self.rules + self.terminals)
        elif kind == "group":
            atom = f"({self.alternatives(depth - 1)})"
        else:
            return f"[{self.alternatives(depth - 1)}]"
        if atom in self.rules:                              # repeated, they may keep Lark busy for minutes
            return atom
        return atom + choose(["", "", "", "?", "*", "+", "~2", "~0..2", "~1..3"])


@pytest.mark.parametrize("block", range(10))
def test_exact_lexing_agrees_with_lark(block):
    words = ["".join(word) for n in range(5) for word in itertools.product("ab", repeat=n)]
    accepted = read_by_lark = 0
    for seed in range(block * 12, block * 12 + 12):
        text = Random(seed).text()
        try:
            parser = lark.Lark(text, parser="earley", lexer="dynamic_complete", ambiguity="forest")
        except lark.exceptions.GrammarError as e:           # writing out [] and ? may give it one rule twice
            assert "twice" in str(e) or "zero-width" in str(e)
            continue
        read_by_lark += 1
        oracle = Oracle(read(text, lexing="exact"), "abAB")
        for word in words:
            try:
                parser.parse(word)
                wanted = True
            except lark.exceptions.UnexpectedInput:
                wanted = False
            assert oracle.accepts(word) == wanted, (text, word)
            accepted += wanted
    assert accepted and read_by_lark >= 5


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.lark")), ids=lambda path: path.stem)
def test_examples(path):
    samples = json.loads(path.with_suffix(".samples.json").read_text())
    oracle = Oracle(read(path.read_text()), "".join(itertools.chain(*samples.values())))
    assert set(samples) == {"accepted", "refused"} and len(samples["accepted"]) >= 3 and len(samples["refused"]) >= 5
    for text in samples["accepted"]:
        assert oracle.accepts(text), text
    for text in samples["refused"]:
        assert not oracle.accepts(text), text


COMMON = {
    "DIGIT": (["0", "9"], ["", "a", "10"]),
    "HEXDIGIT": (["0", "a", "F"], ["g", "00"]),
    "INT": (["0", "007", "12"], ["", "-1", "1.0"]),
    "SIGNED_INT": (["+1", "-01", "5"], ["+", "--1"]),
    "DECIMAL": (["1.", "1.5", ".5"], ["1", ".", "1e5"]),
    "_EXP": (["e5", "E-05", "e+1"], ["e", "5"]),
    "FLOAT": (["1.", ".5", "1e5", "1.5E-3", "1.e2"], ["1", "e5", "-1.0"]),
    "SIGNED_FLOAT": (["+1.", "-.5", "1e5"], ["+1", "+-1."]),
    "NUMBER": (["1", "1.", "1e3", ".5"], ["-1", "."]),
    "SIGNED_NUMBER": (["+1", "-1.5e3", "1"], ["+", "+ 1"]),
    "ESCAPED_STRING": (['""', '"a b"', r'"a\"b"', r'"\\"', '"a\nb"'], ['"', '"a', '"a"b"', '"\\"', '"\\\n"']),
    "LCASE_LETTER": (["a", "z"], ["A", "ab", "é"]),
    "UCASE_LETTER": (["A"], ["a", "É"]),
    "LETTER": (["a", "Z"], ["1", "aa"]),
    "WORD": (["a", "aBc"], ["", "a1", "é"]),
    "CNAME": (["_", "a1", "_1b"], ["1a", "", "a-b"]),
    "WS_INLINE": ([" ", "\t "], ["", "\n"]),
    "WS": ([" ", "\n\r\f\t"], ["", "\v"]),
    "CR": (["\r"], ["\n"]),
    "LF": (["\n"], ["\r"]),
    "NEWLINE": (["\n", "\r\n", "\r\n\n"], ["\r", "", "\r\r\n"]),
    "SH_COMMENT": (["#", "# a"], ["a", "#\n"]),
    "CPP_COMMENT": (["//", "// a"], ["/", "//\n"]),
    "C_COMMENT": (["/**/", "/* a\n*/", "/***/", "/* * / **/"], ["/*/", "/* */ */", "/*"]),
    "SQL_COMMENT": (["--", "-- a"], ["-", "--\n"]),
}


@pytest.mark.parametrize("name", COMMON)
def test_common(name):
    accepted, refused = COMMON[name]
    oracle = Oracle(read(f"start: {name}\n%import common.{name}"), "".join(accepted + refused))
    assert [text for text in accepted + refused if oracle.accepts(text)] == accepted


def test_common_is_complete():
    assert set(DEFINED) == set(COMMON)


@pytest.mark.parametrize("text, accepted, refused", [
    # one byte of look-ahead and no way back: greedy lexing follows the longer word
    ('start: STEM SUFFIX\nSTEM: "list" | "listen"\nSUFFIX: "ed"', ["listened"], ["listed"]),
    ('%llguidance {"lexing": "exact"}\nstart: STEM SUFFIX\nSTEM: "list" | "listen"\nSUFFIX: "ed"',
     ["listed", "listened"], ["listen"]),
    # lexemes that end together stay open together
    ('start: A "1" | B "2"\nA: "foo"\nB: /[a-z]+/', ["foo1", "foo2", "bar2"], ["bar1", "foo"]),
    # ignored text stands between lexemes, and behind the last one only where another could follow
    ('start: "a" "b"\n%ignore " "', ["ab", "a b", "a   b"], [" ab", "ab "]),
    ('start: "a"*\n%ignore " "', ["", "a", "a ", "a  a "], [" ", " a"]),
    ('start: "a"*\n%ignore " "\n%llguidance {"allow_initial_skip": true}', ["", " ", " a "], ["b"]),
    ('start: "a" "b"\n%ignore " "\n%llguidance {"ignore_once": true}', ["ab", "a b"], ["a  b"]),
    # a terminal is one lexeme: nothing is ignored inside it
    ('start: AB\nAB: "a" "b"\n%ignore " "', ["ab"], ["a b"]),
    ('start: A*\nA: "a"?', ["", "a", "aaa"], ["b"]),
    ('start: A{3}\nA: "a"?', ["", "aaa"], ["aaaa"]),
    ("start: T\nT: /[a-z]+/ & ~(\"if\" | \"do\")", ["i", "iff", "dodo"], ["if", "do", ""]),
    ('start: ~A\nA: "a"+', ["", "b", "ab"], ["a", "aa"]),
    ('start: "k"i "é"i', ["ké", "KÉ"], ["k", "xé"]),
])
def test_meaning(text, accepted, refused):
    oracle = Oracle(read(text), "".join(accepted + refused))
    assert [word for word in accepted + refused if oracle.accepts(word)] == accepted
