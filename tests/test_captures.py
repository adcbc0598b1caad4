"""Captures: against a plain search for the first reading of random grammars; attributes; rollback, forks, tokens, JSON."""
import functools
import random

import pytest

import llgcy
from llgcy.errors import LimitError

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


@pytest.mark.parametrize("blanks", [False, True])
@pytest.mark.parametrize("block", range(3))
def test_first_reading(block, blanks):
    compared = several = 0
    for seed in range(block * 30, block * 30 + 30):
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
    assert compared > 200 and several > 60
