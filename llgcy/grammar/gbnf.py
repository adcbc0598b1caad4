"""GBNF, the grammar language of llama.cpp, read as llama.cpp reads it and with its meaning, character by character.

There are no lexemes in GBNF, so lexing is exact: how a text is cut makes no difference. Left recursion, which llama.cpp
refuses, is fine. Where llama.cpp takes a text and quietly gives it a meaning that nobody can want, it is an error here:
an empty class (which it ignores), a range that ends before it begins (which matches nothing), two definitions of one name
(of which it keeps the last). It also drops upper bounds beyond 2,000; here they count.

XGrammar's EBNF is the same language but for some spellings, which `read` takes with ``ebnf=True``: a rule goes on until the next one begins,
names may have dots, and there are more escapes. What has another meaning there (``\\x`` before more than two digits), or is more than a
spelling (look-ahead, macros, attributes), is an error.

Source of the syntax: llama.cpp's grammar guide and the behaviour of its parser (2026); XGrammar's documentation and that of its lexer (2026).
"""
import re

from llgcy.errors import GrammarError, LimitError
from llgcy.grammar import ir
from llgcy.grammar.source import Source, near
from llgcy.grammar.token_sets import token_set

ROOT = "root"
LAST = 0x10FFFF

_BLANK = re.compile(r"(?:[ \t]|#[^\r\n]*)*")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\r\n]*)*")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_DOTTED = re.compile(r"[A-Za-z_-][A-Za-z0-9_.-]*|\.[A-Za-z0-9_.-]+")        # names in XGrammar's EBNF
_DEFINES = re.compile(r"[ \t]*::=")
_TOKEN = re.compile(r"!?<[^>]*>")
_BOUNDS = re.compile(r"\{%(b)s([0-9]+)%(b)s(?:(,)%(b)s([0-9]+)?%(b)s)?\}" % {"b": r"(?:[ \t\r\n]|#[^\r\n]*)*"})
_SIMPLE = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_DIGITS = {"x": 2, "u": 4, "U": 8}
_MORE = {"'": "'", "?": "?", "/": "/", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "e": "\x1b"}       # in XGrammar's EBNF
_MORE_IN_CLASS = frozenset("^$.*+(){}|")        # themselves
_NAMED = {"d": ((48, 57),), "s": ((9, 13), (32, 32)), "w": ((48, 57), (65, 90), (95, 95), (97, 122))}


def read(text, root=ROOT, ebnf=False):
    """The IR of a grammar in GBNF.

    Parameters
    ----------
    text : str
    root : str
        Name of the rule that the whole text must match.
    ebnf : bool
        It is XGrammar's EBNF.

    Raises
    ------
    GrammarError
        With line, column and an excerpt.

    Examples
    --------
    >>> read('root ::= "a" [0-9]+').rules["root"].body
    <("a" [0-9]+)>
    """
    parser = _Parser(Source(text), ebnf)
    rules = parser.rules()
    for rule in rules.values():
        for node in ir.walk(rule.body):
            if isinstance(node, ir.Reference) and node.name not in rules:
                hint = ": GBNF has no literals that ignore case; write classes, as in [aA]" if node.name == "i" else (
                    near(node.name, rules))
                raise parser.source.error_at(node.at, f"there is no rule {node.name}{hint}")
    if root not in rules:
        raise parser.source.error(0, f"the grammar has no rule {root}, with which every text begins{near(root, rules)}")
    return ir.Grammar(rules, {}, root, None, ir.Options(lexing="exact"))


class _Frame:
    """A group that is being read. ``opened``: offset of its parenthesis, None for a rule's body."""

    __slots__ = ("opened", "options", "parts", "at")

    def __init__(self, opened, at):
        self.opened, self.options, self.parts, self.at = opened, [], [], at


class _Parser:
    def __init__(self, source, ebnf):
        self.source, self.text, self.pos, self.ebnf = source, source.text, 0, ebnf
        self.names = _DOTTED if ebnf else _NAME

    def error(self, message, offset=None):
        return self.source.error(self.pos if offset is None else offset, message)

    def at(self):
        return self.source.place(self.pos)

    def peek(self):
        return self.text[self.pos:self.pos + 1]

    def skip(self, newlines):
        self.pos = (_SPACE if newlines or self.ebnf else _BLANK).match(self.text, self.pos).end()

    def found(self):
        """What stands here, for messages."""
        char = self.peek()
        return "the end of the grammar" if not char else "the end of the line" if char in "\r\n" else repr(char)

    def rules(self):
        out = {}
        self.skip(True)
        while self.pos < len(self.text):
            at, name = self.at(), self.names.match(self.text, self.pos)
            if name is None:
                hint = ": a rule goes on in the next line only behind '|' or inside parentheses" if self.peek() in "|\"[(.<" else ""
                raise self.error(f"expected the name of a rule, found {self.found()}{hint}")
            self.pos = name.end()
            self.skip(False)
            if not self.text.startswith("::=", self.pos):
                if self.ebnf and self.peek() == "[":
                    raise self.error("attributes of a rule are not supported: XGrammar's EBNF is read without them")
                hint = ": this is how Lark defines a rule; GBNF has name ::= expression" if self.peek() == ":" else ""
                raise self.error(f"expected ::= behind the name {name.group()}, found {self.found()}{hint}")
            if name.group() in out:
                raise self.error(f"{name.group()} is defined twice; first in line {out[name.group()].at[0]}", name.start())
            self.pos += 3
            self.skip(True)
            out[name.group()] = ir.Definition(name.group(), self.alternatives(), at)
            if self.pos < len(self.text) and self.peek() not in "\r\n" and not self.begins_a_line():
                hint = ": a definition starts a line of its own" if self.peek() == ":" else ""
                raise self.error(f"expected the end of the line, found {self.found()}{hint}")
            self.skip(True)
        return out

    def begins_a_line(self):
        """In EBNF: does the next rule stand here, as the first thing in its line?"""
        line = max(self.text.rfind("\n", 0, self.pos), self.text.rfind("\r", 0, self.pos)) + 1
        return self.ebnf and not self.text[line:self.pos].strip() and self.names.match(self.text, self.pos) is not None

    def alternatives(self):
        """A rule's body, with a stack of open groups of our own, so that any depth will do."""
        stack = [_Frame(None, self.at())]
        while True:
            frame = stack[-1]
            nested = len(stack) > 1
            char = self.peek()
            if char == "(":
                if self.ebnf and self.text.startswith("(=", self.pos):
                    raise self.error("look-ahead, (= ...), is not supported: it has no meaning of its own in XGrammar's EBNF")
                stack.append(_Frame(self.pos, self.at()))
                self.pos += 1
                self.skip(True)
            elif char == "|":
                self.pos += 1
                frame.options.append(self.sequence(frame))
                self.skip(True)
            elif char == ")" and nested:
                stack.pop()
                stack[-1].parts.append(self.close(frame))
                self.pos += 1
                self.skip(len(stack) > 1)
            elif char and char in "*+?{":
                if not frame.parts:
                    raise self.error(f"{char} needs something before it to repeat")
                frame.parts[-1] = self.repetition(frame.parts[-1])
                self.skip(nested)
            elif (value := self.atom()) is not None:
                frame.parts.append(value)
                self.skip(nested)
            elif nested:
                raise self.error("expected ')' for the ( of line {}, column {}, found {}".format(
                    *self.source.place(frame.opened), self.found()))
            else:
                return self.close(frame)

    def sequence(self, frame):
        parts, frame.parts = frame.parts, []
        return parts[0] if len(parts) == 1 else ir.Sequence(tuple(parts), at=parts[0].at if parts else frame.at)

    def close(self, frame):
        frame.options.append(self.sequence(frame))
        return frame.options[0] if len(frame.options) == 1 else ir.Alternatives(tuple(frame.options), at=frame.at)

    def atom(self):
        """The node of one literal, class, name or dot; None where none begins."""
        char, at = self.peek(), self.at()
        if char == '"':
            return self.literal(at)
        if char == "[":
            return self.char_class(at)
        if char == "." and not (self.ebnf and self.names.match(self.text, self.pos)):
            self.pos += 1
            return ir.Chars(((0, LAST),), at=at)
        if char and char in "<!":
            token = _TOKEN.match(self.text, self.pos)
            if token is None:
                raise self.error("a token is written <text> or <[id]>, any other token !<text>")
            try:
                node = token_set(token.group().lstrip("!"), others=char == "!", at=at)
            except GrammarError as e:
                raise self.error(e.message) from None
            self.pos = token.end()
            return node
        name = self.names.match(self.text, self.pos)
        if name and self.ebnf and _DEFINES.match(self.text, name.end()):
            return None                                     # the next rule
        if name:
            if self.ebnf and self.text.startswith("(", name.end()) and name.group()[:1].isupper():
                raise self.error(f"the macro {name.group()}(...) is not supported")
            self.pos = name.end()
            return ir.Reference(name.group(), at=at)
        if char == "'":
            raise self.error('a literal stands between double quotes: "..."')
        return None

    def literal(self, at):
        start, points = self.pos, []
        self.pos += 1
        while self.peek() != '"':
            if not self.peek():
                raise self.error("the literal has no closing quote", start)
            points.append(self.char())
        self.pos += 1
        if any(0xD800 <= point <= 0xDFFF for point in points):
            return ir.Sequence(tuple(ir.Chars(((point, point),), at=at) for point in points), at=at)    # no text has it
        return ir.Literal("".join(map(chr, points)), at=at)

    def char_class(self, at):
        start, ranges = self.pos, []
        self.pos += 1
        negated = self.peek() == "^"
        self.pos += negated
        while self.peek() != "]":
            if not self.peek():
                raise self.error("the class has no closing bracket", start)
            kind = self.text[self.pos + 1:self.pos + 2]
            if self.ebnf and _is_named(self.peek(), kind):
                ranges += _NAMED[kind] if kind.islower() else _complement(_NAMED[kind.lower()])
                self.pos += 2
                continue
            offset, first = self.pos, self.char(True)
            last = first
            if self.peek() == "-" and self.text[self.pos + 1:self.pos + 2] not in ("]", ""):
                self.pos += 1
                last = self.char(True)
            if last < first:
                raise self.error("the range ends before it begins", offset)
            ranges.append((first, last))
        self.pos += 1
        if not ranges:
            raise self.error("the class is empty; any character is written .", start)
        return ir.Chars(_complement(_merged(ranges)) if negated else _merged(ranges), at=at)

    def char(self, in_class=False):
        """The code point of one character or escape."""
        char = self.peek()
        if char != "\\":
            self.pos += 1
            return ord(char)
        kind = self.text[self.pos + 1:self.pos + 2]
        if kind in _SIMPLE:
            self.pos += 2
            return ord(_SIMPLE[kind])
        if self.ebnf and (kind in _MORE or in_class and kind in _MORE_IN_CLASS) and kind:
            self.pos += 2
            return ord(_MORE.get(kind, kind))
        count = _DIGITS.get(kind)
        if count is None:
            raise self.error(rf'\{kind} is no escape of GBNF; these are: \" \\ \[ \] \- \n \r \t \xHH \uHHHH \UHHHHHHHH')
        digits = re.compile("[0-9a-fA-F]{%d}" % count).match(self.text, self.pos + 2)
        if digits is None:
            raise self.error(rf"\{kind} needs {count} hexadecimal digits behind it")
        point = int(digits.group(), 16)
        if self.ebnf and kind == "x" and self.text[digits.end():digits.end() + 1] in tuple("0123456789abcdefABCDEF"):
            raise self.error(r"\x takes all digits that follow in XGrammar's EBNF, and two in GBNF: write \uHHHH")
        if point > LAST:
            raise self.error(f"U+{point:X} is no character; the last one is U+10FFFF")
        self.pos = digits.end()
        return point

    def repetition(self, body):
        offset, char = self.pos, self.peek()
        if char != "{":
            self.pos += 1
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[char]
            return ir.Repetition(body, low, high, at=body.at)
        found = _BOUNDS.match(self.text, offset)
        if found is None:
            raise self.error("a repetition is written {m}, {m,} or {m,n}; at most n copies are {0,n}")
        low, comma, high = found.groups()
        bounds = [bound.lstrip("0") or "0" for bound in (low, high) if bound]
        if any(len(bound) > 10 or int(bound) > ir.MOST_COPIES for bound in bounds):
            raise LimitError("a repetition of more than {:,} copies (line {}, column {})".format(
                ir.MOST_COPIES, *self.source.place(offset)))
        low, high = int(bounds[0]), None if comma and not high else int(bounds[-1])
        if high is not None and high < low:
            raise self.error(f"the repetition ends before it begins: {low} > {high}", offset)
        self.pos = found.end()
        return ir.Repetition(body, low, high, at=body.at)


def _is_named(char, kind):
    """In EBNF: is it \\d, \\s, \\w or its complement?"""
    return char == "\\" and kind != "" and kind in "dDsSwW"


def _merged(ranges):
    """Ranges in order, those that touch made one."""
    out = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = out[-1][0], max(last, out[-1][1])
        else:
            out.append((first, last))
    return tuple(out)


def _complement(ranges):
    """The code points outside of merged ranges."""
    edges = [-1, *(edge for first, last in ranges for edge in (first, last)), LAST + 1]
    return tuple((before + 1, after - 1) for before, after in zip(edges[::2], edges[1::2]) if before + 1 < after)
