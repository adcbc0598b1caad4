"""Captures: against a plain search for the first reading of random grammars; attributes; rollback, forks, tokens, JSON."""
import collections
import functools
import random

import llguidance
import numpy as np
import pytest
from lark_random import EOS, SIGNS, SPECIALS, grammars
from test_lark_constructs import LONGER

import llgcy
from llgcy.errors import GrammarError, LimitError
from llgcy.grammar.reading import chart

TOKENIZER = llgcy.Tokenizer.single_byte()


# -- the first reading, as it is defined -------------------------------------------------------------------------------
def flat(node):
    """Parentheses around a sequence inside of another one mean nothing."""
    if node[0] in ("seq", "alt"):
        below = tuple(map(flat, node[1]))
        return node[0], tuple(x for part in below for x in (part[1] if part[0] == "seq" else [part])) if node[0] == "seq" else below
    return ("times", flat(node[1]), *node[2:]) if node[0] == "times" else node


class Readings:
    """Expressions are ("word", words), ("seq", parts), ("alt", options), ("times", body, low, high) and ("rule", name). A reading is
    given as what it records. Blanks may stand before words, but for the first one."""

    def __init__(self, rules, text):
        self.cut, text = text[-1:] == " ", text.rstrip(" ")     # blanks at the end belong to what may follow
        self.rules, self.text, self.n = {name: flat(body) for name, body in rules.items()}, text, len(text)
        self.known = functools.cache(lambda node, i, j, above: next(self.closed(node, i, j, above), None) is not None)

    def can(self, node, i, j, above):
        return self.known(node, i, j, frozenset(x for x in above if x[1:] == (i, j)))

    def captures(self):
        first = next(self.closed(("rule", "start"), 0, self.n, frozenset()), None)
        if first is None:
            first = next(self.open(("rule", "start"), 0, frozenset()), []) if self.n else []
        return first

    def closed(self, node, i, j, above):
        """Readings of text[i:j], the first one first."""
        kind = node[0]
        if kind == "word":
            text = self.text[i:j].lstrip(" ") if i else self.text[i:j]
            if text in node[1] and (text or i == j):
                yield []
        elif kind == "alt":
            for option in node[1]:
                yield from self.closed(option, i, j, above)
        elif kind == "seq":
            if not node[1]:
                yield from [[]] if i == j else []
                return
            for k in range(j, i - 1, -1):
                rest = "seq", node[1][1:]
                if self.can(node[1][0], i, k, above) and self.can(rest, k, j, above):
                    for a in self.closed(node[1][0], i, k, above):
                        for b in self.closed(rest, k, j, above):
                            yield a + b
        elif kind == "times":
            _, body, low, high = node
            if i == j:
                yield from self.closed(("seq", (body,) * low), i, j, above)
            elif high is None or high > 0:
                rest = "times", body, max(low - 1, 0), high and high - 1
                for k in range(j, i, -1):
                    if self.can(body, i, k, above) and self.can(rest, k, j, above):
                        for a in self.closed(body, i, k, above):
                            for b in self.closed(rest, k, j, above):
                                yield a + b
        elif (node[1], i, j) not in above:
            for a in self.closed(self.rules[node[1]], i, j, above | {(node[1], i, j)}):
                yield a + [(node[1], self.text[i:j].lstrip(" ") if i else self.text[i:j])]

    def open(self, node, i, above):
        """Readings of text[i:], which is not empty, as the beginning of something."""
        kind = node[0]
        if kind == "word":
            text = self.text[i:].lstrip(" ") if i else self.text
            if not self.cut and text and any(word.startswith(text) and word != text for word in node[1]):
                yield []
        elif kind == "alt":
            for option in node[1]:
                yield from self.open(option, i, above)
        elif kind == "seq" and node[1]:
            yield from self.first_open(node[1][0], ("seq", node[1][1:]), i, i, above)
        elif kind == "times" and (node[3] is None or node[3] > 0):
            yield from self.first_open(node[1], ("times", node[1], max(node[2] - 1, 0), node[3] and node[3] - 1), i, i + 1, above)
        elif kind == "rule" and (node[1], i) not in above:
            yield from self.open(self.rules[node[1]], i, above | {(node[1], i)})

    def first_open(self, part, rest, i, least, above):
        yield from self.open(part, i, above)
        for k in range(self.n, least - 1, -1):
            if self.can(part, i, k, frozenset()):
                for a in self.closed(part, i, k, frozenset()):
                    if k == self.n:
                        if rest[0] == "seq" and rest[1] or rest[0] == "times" and rest[3] != 0:
                            yield a                         # the text ends before the next part
                    else:
                        for b in self.open(rest, k, above):
                            yield a + b


class Random:
    """A random grammar, as rules for `Readings` and as Lark text."""

    def __init__(self, seed, blanks):
        self.choose, self.words = random.Random(seed), []
        self.names = ["start", *"abc"[:self.choose.randint(1, 3)]]
        self.rules = {name: self.expression(3 if name == "start" else 2) for name in self.names}
        lines = [f"{name}[capture]: {self.show(body)}" for name, body in self.rules.items()]
        lines += [f"W{i}: " + " | ".join(f'"{word}"' for word in words) for i, words in enumerate(self.words)]
        self.lark = "\n".join(lines + ['%ignore " "'] * blanks)

    def expression(self, depth):
        choose = self.choose
        kind = choose.choice(["word", "rule", "rule", "seq", "seq", "alt", "times"] if depth else ["word", "rule"])
        if kind == "word":
            words = frozenset("".join(choose.choices("xy", k=choose.choice([1, 1, 2]))) for _ in range(choose.choice([1, 1, 2])))
            if words not in self.words:
                self.words.append(words)
            return "word", words
        if kind == "rule":
            return "rule", choose.choice(self.names)
        if kind == "times":
            low, high = choose.choice([(0, 1), (0, None), (1, None), (2, 3), (0, 2), (3, None)])
            return "times", self.expression(depth - 1), low, high
        return kind, tuple(self.expression(depth - 1) for _ in range(choose.choice([2, 2, 3])))

    def show(self, node):
        if node[0] == "word":
            return f"W{self.words.index(node[1])}"
        if node[0] == "rule":
            return node[1]
        if node[0] == "times":
            return f"({self.show(node[1])})" + "{%s,%s}" % (node[2], "" if node[3] is None else node[3])
        return "(" + (" " if node[0] == "seq" else " | ").join(map(self.show, node[1])) + ")"

    def productive(self):
        """Does every rule derive something?"""
        good, size = set(), -1

        def can(node):
            if node[0] == "times":
                return node[2] == 0 or can(node[1])
            return node[0] == "word" or node[1] in good if node[0] in ("word", "rule") else (all if node[0] == "seq" else any)(map(can, node[1]))
        while size != len(good):
            size = len(good)
            good |= {name for name, body in self.rules.items() if can(body)}
        return size == len(self.rules)


@pytest.mark.parametrize("blanks, seeds", [(False, range(150)), (False, range(150, 250)), (True, range(250, 320))])
def test_first_reading(blanks, seeds):
    compared = several = 0
    for seed in seeds:
        random_ = Random(seed, blanks)
        if not random_.productive():
            continue
        compiled = llgcy.compile(llgcy.Grammar.from_lark(random_.lark, lexing="exact"), TOKENIZER)
        texts = [""]
        for text in texts:                                  # grows while it runs
            matcher = compiled.matcher()
            if not matcher.accept_bytes(text.encode()):
                continue
            want = [(name, part.encode()) for name, part in Readings(random_.rules, text).captures()]
            assert matcher.captures() == want, (random_.lark, text)
            compared, several = compared + 1, several + (len(want) > 2)
            if len(text) < 5:
                texts += [text + char for char in ("xy " if blanks else "xy")]
    assert compared > 300 and several > 100


# -- what the attributes say -------------------------------------------------------------------------------------------
def matcher_of(lark, text, tokenizer=TOKENIZER, **options):
    matcher = llgcy.compile(llgcy.Grammar.from_lark(lark, **options), tokenizer).matcher()
    assert matcher.accept_bytes(text.encode())
    return matcher


SUFFIXED = 'start: out "z"\nout[capture]: a\na[capture, {}="b", stop_capture="s"]: /.*/'


@pytest.mark.parametrize("lark, text, want", [
    ('start: a b\na[capture]: /[0-9]+/\nb[capture="B"]: "x"*', "12xx", [("a", "12"), ("B", "xx")]),
    # Unfinished: a number goes on, the first of them has ended.
    ('start: a "," a ";"\na[capture]: /[0-9]+/', "12,3", [("a", "12")]),
    # Where the text may end it is taken for a whole one.
    ('start: a ("," a)*\na[capture]: /[0-9]+/', "12,3", [("a", "12"), ("a", "3")]),
    # A list for each name, equal neighbours too; left, right and inner recursion.
    ('start: (x ",")*\nx[capture]: "a" | "b"', "a,a,b,", [("x", "a"), ("x", "a"), ("x", "b")]),
    ('start: start x | \nx[capture]: "a"', "aaa", [("x", "a")] * 3),
    ('start: x start | \nx[capture]: "a"', "aaa", [("x", "a")] * 3),
    ('start: "(" x start ")" | \nx[capture]: "a"', "(a(a))", [("x", "a")] * 2),
    # Inner rules before outer ones; what is ignored at the edges is no part of them.
    ('start: out "z"\nout[capture]: x "b"\nx[capture]: "a"\n%ignore " "', "a  b  z", [("x", "a"), ("out", "a  b")]),
    # The first alternative that fits, and from the left as much as can be.
    ('start: a | b\na[capture]: "x"\nb[capture]: "x"', "x", [("a", "x")]),
    ('start: (a | b)*\na[capture]: "x"\nb[capture]: "x" "x"', "xxx", [("b", "xx"), ("a", "x")]),
    ('start: e\ne[capture]: e "+" e | /[0-9]/', "1+2+3", [("e", "1"), ("e", "2"), ("e", "1+2"), ("e", "3"), ("e", "1+2+3")]),
    # Greedy lexemes that end together.
    ('start: kw "!" | id "?"\nkw[capture]: "if"\nid[capture]: /[a-z]+/', "if?", [("id", "if")]),
    ('start: kw "!" | id "?"\nkw[capture]: "if"\nid[capture]: /[a-z]+/', "if!", [("kw", "if")]),
    # suffix= and stop=: what ends a text is no part of it; of rules around it the suffix is, and the stop is not ...
    (SUFFIXED.format("suffix"), "aabz", [("a", "aa"), ("s", "b"), ("out", "aab")]),
    (SUFFIXED.format("stop"), "aabz", [("a", "aa"), ("s", "b"), ("out", "aa")]),
    ('start[capture]: a "z"\na[stop="b"]: /.*/', "aabz", [("start", "aaz")]),
    # ... unless what follows reads it.
    ('start[capture]: a "bz"\na[capture, stop="b", stop_capture="s"]: /.*/', "aabz", [("a", "aa"), ("s", "b"), ("start", "aabz")]),
    ('start: a "z"\na[capture, stop=/a?b/, stop_capture="s"]: /a*/', "aabz", [("a", "aa"), ("s", "b")]),
    ('start: a "z"\na[capture, suffix=/b+/, stop_capture="s"]: /[^b]*/', "bz", [("a", ""), ("s", "b")]),
    ('start: a "z"\na[capture, lazy]: /.*;/', "aa;z", [("a", "aa;")]),
    # Empty texts count.
    ('start: a b\na[capture]: "x"?\nb[capture]: "y"*', "y", [("a", ""), ("b", "y")]),
    # Grammars inside grammars.
    ('start: "<" %lark {\nstart: x "," x\nx[capture]: /[0-9]+/\n} ">"', "<1,2>", [("x", "1"), ("x", "2")]),
    ('start: "<" %lark {\n%llguidance {"lexing": "exact"}\nstart: x y\nx[capture]: /[ab]+/\ny[capture]: "b"\n} ">"', "<abb>",
     [("x", "ab"), ("y", "b")]),
    ('start: "<" x ">"\nx[capture]: %json {"type": "object"}', '<{"a": [1, 2]}>', [("x", '{"a": [1, 2]}')]),
    ('start[capture="all"]: %json {"type": "integer"}', "12", [("all", "12")]),
    ('start: x ("," x)*\nx[capture]: %json {"type": "integer"}', "12,3", [("x", "12"), ("x", "3")]),
])
def test_attributes(lark, text, want):
    assert matcher_of(lark, text).captures() == [(name, part.encode()) for name, part in want]


def test_nothing_is_recorded_without_the_attribute():
    assert matcher_of('start: a\na: "x"', "x").captures() == []
    assert matcher_of('start: a\na[capture]: "x"', "").captures() == []


@pytest.mark.parametrize("lark, text", [
    ('start: a b\na[capture]: /[0-9]+/\nb[capture="B"]: "x"', "12x"),
    (SUFFIXED.format("suffix"), "aabz"),
    (SUFFIXED.format("stop"), "aabz"),
    ('start: out "z"\nout[capture]: x "b"\nx[capture]: "a"\n%ignore " "', "a  b  z"),
    ('start: "<" x ">"\nx[capture]: %json {"type": "object"}', '<{"a": [1, 2]}>'),
    ('start: "<" %lark {\nstart: x "," y\nx[capture]: /[0-9]+/\ny[capture]: /[a-z]/\n} ">"', "<1,b>"),
])
def test_llguidance_records_the_same(lark, text):
    """... where one reading is possible, in another order."""
    class Bytes:
        eos_token_id, bos_token_id, special_token_ids = 256, None, [256]
        tokens = [bytes([i]) for i in range(256)] + [b"<eos>"]

        def __call__(self, text):
            return list(text.encode() if isinstance(text, str) else text)
    peer = llguidance.LLMatcher(llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes())), lark)
    assert all(peer.consume_token(byte) for byte in text.encode())
    assert sorted(matcher_of(lark, text).captures()) == sorted(peer.get_captures())


def test_named_grammars():
    grammar = llgcy.Grammar.from_grammars([
        {"lark_grammar": 'start: "a" n "," r "," @sub\nn[capture]: @n\nr[capture]: @r'}, {"name": "n", "json_schema": {"type": "integer"}},
        {"name": "r", "regex": "[a-c]+"}, {"name": "sub", "lark_grammar": 'start[capture="sub"]: /[0-9]+/'}])
    matcher = llgcy.compile(grammar, TOKENIZER).matcher()
    assert matcher.accept_bytes(b"a12,abc,7")
    assert matcher.captures() == [("n", b"12"), ("r", b"abc"), ("sub", b"7")]


def test_rollback_and_forks():
    """Whatever was taken back, captures are those of the text that is there."""
    tokens = [b"q", b"1", b"2", b"12", b";", b"q1", b";q"]
    tokenizer = llgcy.Tokenizer.from_vocab([*tokens, None], special={"<end>": len(tokens)}, eos_token_id=len(tokens))
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: (item ";")*\nitem: "q" n\nn[capture]: /[0-9]+/'), tokenizer)
    choose, seen = random.Random(1), set()
    matchers = [(compiled.matcher(), [])]
    for _ in range(1500):
        matcher, taken = choose.choice(matchers)
        action = choose.random()
        if action < .2 and taken:
            n = choose.randint(1, min(3, len(taken)))
            matcher.rollback(n)
            del taken[-n:]
        elif action < .35:
            matchers = [*matchers[-4:], (matcher.fork(), list(taken))]
        else:
            token = choose.choice([*range(len(tokens))] * 5 + [len(tokens)])
            if not matcher.is_terminated() and matcher.accept_token(token):
                taken.append(token)
        text = b"".join(tokens[token] for token in taken if token < len(tokens))
        want = [("n", number[1:]) for number in text.split(b";")[:-1]]
        assert matcher.captures() == want
        seen.add(len(want))
    assert len(seen) > 3
    matcher = compiled.matcher()
    for token in (5, 2):                                    # q1 2
        assert matcher.accept_token(token)
    matcher.rollback(2)
    assert matcher.accept_tokens([0, 2, 4]) == 3
    assert matcher.captures() == [("n", b"2")]


def test_tokens():
    """Tokens are read as units where the grammar names them; special ones have no text. What ends a text may be named, too."""
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"b", b"ab", None, None], special={"<tool>": 3, "<end>": 4}, eos_token_id=4)
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: t name "b"?\nt[capture]: <tool>\nname[capture]: <[2]> | "a"'), tokenizer)
    for tokens, want in [([3, 2], b"ab"), ([3, 0], b"a"), ([3, 0, 1], b"a"), ([3, 2, 1], b"ab")]:
        matcher = compiled.matcher()
        assert matcher.accept_tokens([*tokens, 4]) == len(tokens) + 1
        assert matcher.captures() == [("t", b""), ("name", want)]
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: all <end>\nall[capture]: /[ab]+/'), tokenizer)
    matcher = compiled.matcher()
    assert matcher.accept_tokens([0, 2, 4]) == 3 and matcher.captures() == [("all", b"aab")]
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: all "b"\nall[capture, stop="", stop_capture="s"]: /a+/'), tokenizer)
    matcher = compiled.matcher()
    assert matcher.accept_tokens([0, 0, 4, 1]) == 4 and matcher.captures() == [("all", b"aa"), ("s", b"")]
    matcher = llgcy.compile(llgcy.Grammar.from_lark('start: all\nall[capture, stop="", stop_capture="s"]: /a+/'), tokenizer).matcher()
    assert matcher.accept_tokens([0, 0]) == 2 and matcher.captures() == [("all", b"aa")]
    assert matcher.accept_token(4) and matcher.is_terminated() and matcher.captures() == [("all", b"aa"), ("s", b"")]


def test_prompt():
    """What the output repeats of the prompt is no part of the text."""
    tokenizer = llgcy.Tokenizer.from_vocab([b" ", b"1", b" 1", b"2", None], special={"<end>": 4}, eos_token_id=4, encode=lambda text: [])
    compiled = llgcy.compile(llgcy.Grammar.from_lark("start: n\nn[capture]: /[0-9]+/"), tokenizer)
    matcher = compiled.matcher(prompt=[3, 0])
    assert matcher.healed == 1 and matcher.accept_tokens([2, 3]) == 2
    assert matcher.captures() == [("n", b"12")]


def test_limit(monkeypatch):
    monkeypatch.setattr(chart, "MOST_STEPS", 10_000)
    matcher = matcher_of('start: a b\na[capture]: /.*/\nb: "x" /.*/', "x" * 200, lexing="exact")
    with pytest.raises(LimitError, match="captures"):
        matcher.captures()
    assert matcher.accept_bytes(b"x")


def test_saved(tmp_path):
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: a\na[capture]: "x"'), TOKENIZER)
    compiled.save(tmp_path / "grammar")
    matcher = llgcy.CompiledGrammar.load(tmp_path / "grammar", TOKENIZER).matcher()
    assert matcher.accept_bytes(b"x") and matcher.captures() == [("a", b"x")]


def test_nothing_at_the_beginning_of_a_grammar_with_other_blanks():
    lark = 'start: "<" %lark {\n%ignore "_"\nstart: a b{2}\na[capture]: "a"?\nb[capture]: c "b"?\nc[capture]: "c"*\n} ">"\n%ignore " "'
    for text, want in [("<>", ["a", "c", "b", "c", "b"]), ("<b>", ["a", "c", "b b", "c", "b"]), ("<c_b_b>", ["a", "c c", "b c_b", "c", "b b"])]:
        want = [(part[0], part[2:].encode()) for part in want]
        assert matcher_of(lark, text).captures() == want


def test_readings_and_the_engine_agree():
    """In grammars of all constructs the start rule is recorded just where the text may end."""
    tokenizer = llgcy.Tokenizer.from_vocab([bytes([i]) for i in range(256)] + [None] * 4 + LONGER, special={**SPECIALS, "<eos>": EOS, "<other>": 259},
                                           eos_token_id=EOS)
    seen = [0, 0]
    for seed in range(60):
        sources, tree, _ = grammars(seed, collections.Counter())
        first, lexing = {"name": "first", **sources[0]}, "exact" if (tree.lexing == "exact") ^ (seed % 4 == 0) else "greedy"
        whole = f'%llguidance {{"lexing": "{lexing}"}}\nstart[capture="all of it"]: @{first["name"]}' + '\n%ignore "~"' * (seed % 3 == 0)
        try:
            compiled = llgcy.compile(llgcy.Grammar.from_grammars([{"lark_grammar": whole}, first, *sources[1:]]), tokenizer)
        except GrammarError:                                # see test_lark_constructs
            continue
        choose = random.Random(seed)
        for _ in range(2):
            matcher = compiled.matcher()
            for _ in range(7):
                recorded = "all of it" in dict(matcher.captures())
                assert recorded == matcher.is_accepting(), (sources, whole)
                seen[recorded] += 1
                bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
                matcher.fill_next_token_bitmask(bitmask)
                allowed = np.flatnonzero(np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:tokenizer.vocab_size])
                allowed = [int(id) for id in allowed if id >= 256 or chr(id) in SIGNS] or allowed.tolist()
                assert matcher.accept_token(choose.choice(allowed))
                if matcher.is_terminated():
                    break
    assert min(seen) > 100


def test_a_grammar_that_only_a_token_ends():
    """... may be a lexeme of another one that is lexed otherwise."""
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"b", None, None], special={"<t>": 2, "<end>": 3}, eos_token_id=3)
    for inner in 'start: "a" <t>', 'start: "a"? <t>?', 'start: ("a" <t>)?':
        lark = 'start: x "b"\nx[capture]: %lark {\n%llguidance {"lexing": "exact"}\n' + inner + '\n}'
        matcher = llgcy.compile(llgcy.Grammar.from_lark(lark), tokenizer).matcher()
        assert matcher.accept_tokens([0, 2, 1, 3]) == 4 and matcher.captures() == [("x", b"a")]
        matcher.rollback(4)
        if "?" in inner:
            assert matcher.completion() == b"b"
