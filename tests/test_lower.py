"""From the IR to symbols and rules: the language stays what it was, by two plain recognisers, and what is made is small."""
import itertools
import random

import pytest
from ir_oracle import SKIP, Oracle
from test_lark_language import Random

from llgcy.core.regex import Regexes
from llgcy.errors import LimitError
from llgcy.grammar import ir
from llgcy.grammar.choices import from_choices, from_regex
from llgcy.grammar.lark import read
from llgcy.grammar.lower import lower


class LoweredOracle(Oracle):
    """The plain recogniser over lowered rules, counts written out and lexemes read by their terms; ASCII only."""

    def __init__(self, lowered, regexes):
        self.grammar, self.regexes, self.options = lowered.grammar, regexes, lowered.grammar.options
        self.lexemes, self.rules, self.first = lowered.lexemes, {}, lowered.start
        for head, body in lowered.rules:
            bodies = self.rules.setdefault(head, [])
            if body[:1] == ("count",):
                _, one, low, high = body
                bodies += [(one,) * n for n in range(low, (low if high is None else high) + 1)]
                bodies += [(head, one)] if high is None else []
            else:
                bodies.append(body)
        for index in range(len(lowered.names)):             # a rule without any body derives nothing
            self.rules.setdefault(len(lowered.lexemes) + index, [])
        self.optional = {i: len(lowered.lexemes) + len(lowered.names) + i for i, lexeme in enumerate(lowered.lexemes)
                         if regexes.accepts(lexeme.language)}
        self.rules = {head: [tuple(self.optional.get(x, x) for x in body) for body in bodies]
                      for head, bodies in self.rules.items()}
        self.rules |= {nonterminal: [(), (lexeme,)] for lexeme, nonterminal in self.optional.items()}
        self.skip = lowered.lexemes[lowered.skips[0]].language if lowered.skips else None
        self._drop_unproductive()

    def is_lexeme(self, symbol):
        return symbol < len(self.lexemes)

    def begin(self, lexeme):
        return self.skip if lexeme == SKIP else self.lexemes[lexeme].language

    def nullable(self, rest):
        return self.regexes.accepts(rest)

    def derivative(self, rest, char):
        return self.regexes.step(rest, ord(char))

    def alive(self, rest):
        return rest != 0

    def _drop_unproductive(self):
        good, size = set(), -1
        usable = {i for i, lexeme in enumerate(self.lexemes)}
        while size != len(good):
            size = len(good)
            good |= {head for head, bodies in self.rules.items() if any(good | usable >= set(body) for body in bodies)}
        self.rules = {head: [body for body in bodies if good | usable >= set(body)] for head, bodies in self.rules.items()}


def lowered(text, **options):
    return lower(read(text, **options), Regexes("bytes"))


def shape(text, **options):
    """(rules with names for symbols, names of lexemes)."""
    low = lowered(text, **options)
    names = [lexeme.name for lexeme in low.lexemes] + low.names
    return [(names[head], tuple(names[x] if type(x) is int and (body[:1] != ("count",) or i == 1) else x
                                for i, x in enumerate(body))) for head, body in low.rules], names[:len(low.lexemes)]


class Richer(Random):
    """Also what Lark lacks: & and ~, terminals that may be empty, ignored text."""

    def text(self):
        text = super().text()
        if self.terminals and self.random.random() < .5:
            text += "V: " + self.random.choice(['/[ab]+/ & ~"ab"', '~"a" & /[ab]{0,2}/', '"a"* & ("a" | "aa" | "b")', '"b"?',
                                               '"a" & "b"']) + "\n"
            text = text.replace("start:", "start: V |" if self.random.random() < .5 else "start: V", 1)
        if self.random.random() < .5:
            text += "%ignore " + self.random.choice(['" "', '/ b?/', '"b"']) + "\n"
        options = [name for name in ("allow_initial_skip",) if self.random.random() < .3]
        return text + "".join(f'%llguidance {{"{name}": true}}\n' for name in options)


@pytest.mark.parametrize("lexing", ["greedy", "exact"])
@pytest.mark.parametrize("block", range(8))
def test_the_language_stays(block, lexing):
    words = ["".join(word) for n in range(5) for word in itertools.product("ab", repeat=n)]
    accepted = refused = 0
    for seed in range(block * 8, block * 8 + 8):
        text = Richer(seed + 1000).text()
        grammar, regexes = read(text, lexing=lexing), Regexes("bytes")
        plain, low = Oracle(grammar, "abAB "), LoweredOracle(lower(grammar, regexes), regexes)
        choose = random.Random(seed)
        spaced = ["".join(x + " " * choose.choice([0, 0, 1, 2]) for x in " " * choose.choice([0, 0, 1]) + word)
                  for word in words[1:]]
        for word in words + spaced if grammar.ignore else words:
            wanted = plain.accepts(word)
            assert low.accepts(word) == wanted, (text, word)
            accepted, refused = accepted + wanted, refused + (not wanted)
    assert accepted > 20 and refused > 20


def test_symbols_are_numbered_in_the_order_of_the_grammar():
    assert shape('start: b "x" c\nc: T\nb: "y" "x"\nunused: "q" T\nT: /t/\n') == (
        [("start", ("b", '"x"', "c")), ("c", ("T",)), ("b", ('"y"', '"x"'))], ['"x"', "T", '"y"'])


def test_equal_lexemes_are_one():
    assert shape('start: "ab" A B /ab/ "x" "X"i\nA: "a" "b"\nB: /a[b]/')[1] == ['"ab"', '"x"', '"X"i']


def test_alternatives_that_are_lexemes_become_one():
    rules, lexemes = shape('start: "a" | x | B | "c"\nx: "x" x | \nB: "b"')
    assert rules == [("start", ('("a" | B | "c")',)), ("start", ("x",)), ("x", ('"x"', "x")), ("x", ())]
    assert lexemes == ['("a" | B | "c")', '"x"']
    many = lowered("start: " + "\n | ".join(f'"word{i}"' for i in range(5000)))
    assert len(many.lexemes) == 1 and many.lexemes[0].name.endswith("...")


def test_repetition_is_counted_never_written_out():
    rules, _ = shape('start: "a"* b+ ("c" b){2,1000000000} [b] "d"{3}\nb: "b" b | "b"')
    assert sorted(rules, key=str) == sorted([
        ("start", ("start", "start", "start", "start", "start")), ("b", ('"b"', "b")), ("b", ('"b"',)),
        ("start", ("count", '"a"', 0, None)), ("start", ("count", "b", 1, None)), ("start", ('"c"', "b")),
        ("start", ("count", "start", 2, 1000000000)), ("start", ("b",)), ("start", ()),
        ("start", ("count", '"d"', 3, 3))], key=str)
    assert shape('start: "a"{1} "b"~0 "c"{1,1}')[0] == [("start", ('"a"', '"c"'))]


def test_equal_groups_are_one_nonterminal():
    rules, _ = shape('start: ("a" b)* "c" ("a" b)* b\nb: ("a" b)* "d"')
    assert sum(body[:1] == ("count",) for _, body in rules) == 1


def test_lexemes_that_match_nothing_or_the_empty_text():
    rules, lexemes = shape('start: "b" EMPTY "c" | "a" NONE\nNONE: "x" & "y"\nEMPTY: ""')
    assert ("start", ('"b"', '"c"')) in rules and "NONE" not in lexemes and "EMPTY" not in lexemes


def test_exact_lexing_lifts_regular_rules():
    text = 'start: ws number ws ("," ws number ws)*\nnumber: "-"? digit+ ["." digit+]\ndigit: /[0-9]/\nws: " "*\n'
    low = lowered(text, lexing="exact")
    assert len(low.lexemes) == 1 and low.rules == [(1, (0,))]
    assert len(lowered(text).lexemes) > 1
    assert len(lowered(text + "%ignore /#/", lexing="exact").lexemes) > 1
    # around recursion: what stands side by side becomes one lexeme, the rest stays rules
    rules, lexemes = shape('start: "(" sp start sp ")" sp | digit+ sp\nsp: " "*\ndigit: "0".."9"', lexing="exact")
    assert rules == [("start", ('("(" sp)', "start", '(sp ")" sp)')), ("start", ("(digit+ sp)",))] and len(lexemes) == 3


def test_exact_lexing_leaves_large_counts_to_the_parser():
    rules, lexemes = shape('start: "\\"" char{0,500} "\\""\nchar: /[^"]/', lexing="exact")
    assert len(lexemes) == 2 and ("start", ("count", "char", 0, 500)) in rules
    assert len(shape('start: (x{8}){9}\nx: "a"{3}', lexing="exact")[0]) > 1
    assert len(shape('start: (x{4}){4}\nx: "a"{3}', lexing="exact")[0]) == 1


def test_json_is_a_lexeme_of_its_own():
    for lexing in "exact", "greedy":
        low = lowered('start: "a" %json {"type": "null"} | %json true | "b" %json {"type": "null"}', lexing=lexing)
        documents = [lexeme.source.schema for lexeme in low.lexemes if lexeme.source]
        assert documents == ['{"type": "null"}', "true"] and len(low.lexemes) == 4 and len(low.rules) == 3


def test_a_grammar_that_is_one_document():
    assert read('start: a\na: (b)\nb: %json {"x": 1}\n%ignore " "').document.schema == '{"x": 1}'
    for text in 'start: "a"', "start: %json {} | %json {}", "start: start", "start: a\na: b\nb: a", 'start: %json {} "a"', 'start: A\nA: "a"':
        assert read(text).document is None


def test_what_is_ignored_is_apart_from_equal_lexemes():
    low = lowered('start: "a" " " "b"\n%ignore " "')
    assert low.skips == {0: 3} and low.lexemes[3].language == low.lexemes[1].language
    assert 3 not in {x for _, body in low.rules for x in body}


def test_deep_and_wide_grammars():
    depth = 20_000
    nested = lowered("start: " + '("a" ' * depth + ")" * depth)
    assert len(nested.rules) < 2 * depth
    alternatives = lowered("start: x | " + '(x "a" | ' * depth + "x" + ")" * depth + '\nx: "x" x | "y"')
    assert sum(len(body) + 1 for _, body in alternatives.rules) < 10 * depth
    optional = lowered("start: " + "[x " * 2000 + "]" * 2000 + '\nx: "x" x | "y"')
    assert sum(len(body) + 1 for _, body in optional.rules) < 20 * depth
    doubling = "\n".join(f"A{i}: A{i + 1} A{i + 1}" for i in range(200))
    with pytest.raises(LimitError, match="1,000,000 pieces"):
        lowered(f'start: A0\n{doubling}\nA200: "a"')
    # a rule need not become a lexeme
    assert len(lowered(f'start: a0\n{doubling.lower()}\na200: "a"', lexing="exact").rules) < 200


def test_choices_are_one_lexeme():
    regexes = Regexes("bytes")
    low = lower(from_choices([f"choice {i}" for i in range(100_000)] + ["", "é"]), regexes)
    assert len(low.lexemes) == 1 and len(low.rules) == 1
    state = low.lexemes[0].language
    assert regexes.accepts(state)
    for byte in b"choice 99999":
        state = regexes.step(state, byte)
        assert state
    assert regexes.accepts(state) and not regexes.step(state, ord("9"))


def test_a_regex_is_one_lexeme_that_sees_the_edges_of_the_text():
    regexes = Regexes("bytes")
    for low in (lower(from_regex(r"^(a|\bb)$"), regexes), lower(from_regex("a|b(?!x)", "ecma"), regexes)):
        oracle = LoweredOracle(low, regexes)
        assert [text for text in ("a", "b", "ab", "bx", "") if oracle.accepts(text)] == ["a", "b"]
