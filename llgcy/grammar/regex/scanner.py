"""What the parsers of all flavours share: groups on an explicit stack, alternatives, quantifiers, flags, errors with a place.

A flavour is a subclass that reads escapes, classes, what follows `(`, and the braces of a counted repetition.
"""
from llgcy.errors import GrammarError, UnsupportedKeywordError

from llgcy.grammar.regex import charset, unicode
from llgcy.grammar.regex.tree import NOTHING, Anchor, Chars, Literal, Repeat, alternate, concat

DIGITS = ((48, 57),)
ASCII_WORD = charset.of([(48, 57), (65, 90), (95, 95), (97, 122)])
NEWLINE = ((10, 10),)
DECIMAL = frozenset("0123456789")
HEX = frozenset("0123456789abcdefABCDEF")


class Group:
    """An open group: what is read of it, and how to go on when it closes."""

    __slots__ = ("done", "parts", "flags", "wrap", "start", "repeatable")

    def __init__(self, flags, wrap, start, repeatable=True):
        self.done = []          # finished alternatives
        self.parts = []         # of the alternative under way
        self.flags = flags      # of the enclosing group, to be restored
        self.wrap = wrap        # tree -> tree
        self.start = start      # offset of the parenthesis
        self.repeatable = repeatable        # may a quantifier follow it?


class Scanner:
    """Reads one pattern. `parse` returns the tree."""

    name = ""                   # of the flavour, for errors
    known_flags = ""

    def __init__(self, text, flags):
        unknown = sorted(set(flags) - set(self.known_flags))
        if unknown:
            raise GrammarError(f"{self.name} regular expressions have no flag {unknown[0]!r}")
        self.text, self.pos = text, 0
        self.flags = frozenset(flags)
        self.groups = [Group(self.flags, None, 0)]
        self.quantified = False         # has the last part just been quantified?
        self.repeatable = False         # may the last part be quantified?

    # -- errors and small readers
    def error(self, message, at=None, kind=GrammarError):
        """The exception for a place of the pattern (by default the current one)."""
        at = self.pos if at is None else at
        return kind(f"{message} in {self.name} regular expression", line=self.text.count("\n", 0, at) + 1,
                    column=at - (self.text.rfind("\n", 0, at) + 1) + 1)

    def back_reference(self, at):
        """The exception for a back-reference."""
        return self.error("a back-reference (what a group matched is not kept by an automaton)", at, UnsupportedKeywordError)

    def column(self, at):
        return at - (self.text.rfind("\n", 0, at) + 1) + 1

    def peek(self, n=1):
        return self.text[self.pos:self.pos + n]

    def skip(self, text):
        """Read this text if it comes next."""
        if self.text.startswith(text, self.pos):
            self.pos += len(text)
            return True
        return False

    def next(self, what):
        """The next character; an error where the pattern ends instead."""
        if self.pos == len(self.text):
            raise self.error(f"the pattern ends inside {what}")
        self.pos += 1
        return self.text[self.pos - 1]

    def until(self, end, what, start):
        """The text up to a delimiter, which is read too."""
        at = self.text.find(end, self.pos)
        if at < 0:
            raise self.error(f"{what} has no {end!r}", start)
        found = self.text[self.pos:at]
        self.pos = at + len(end)
        return found

    def digits(self, allowed=DECIMAL, most=None):
        start = self.pos
        while self.peek() and self.peek() in allowed and (most is None or self.pos - start < most):
            self.pos += 1
        return self.text[start:self.pos]

    def hexadecimal(self, count, start):
        """A code point of exactly `count` hexadecimal digits."""
        digits = self.digits(HEX, count)
        if len(digits) < count:
            raise self.error(f"{count} hexadecimal digits are needed after {self.text[start:self.pos - len(digits)]!r}", start)
        return self.code_point(int(digits, 16), start)

    def code_point(self, value, start):
        if value > charset.LAST:
            raise self.error(f"U+{value:X} is no code point", start)
        return value

    def digits_in_braces(self, start):
        """A code point in braces; the opening one is read already."""
        digits = self.until("}", "the code point", start).strip()
        if not digits or not set(digits) <= HEX:
            raise self.error(f"{digits!r} is no hexadecimal number", start)
        return self.code_point(int(digits[-8:] if not digits[:-8].strip("0") else "FFFFFFFF", 16), start)

    # -- the pattern
    def parse(self):
        while self.pos < len(self.text):
            start, c = self.pos, self.text[self.pos]
            if "x" in self.flags and self.comment(c):
                continue
            if c in "*+?" or c == "{" and self.counts_follow():
                self.quantifier(start)
                continue
            self.pos += 1
            self.quantified, self.repeatable = False, True
            if c == "(":
                self.open(start)
            elif c == ")":
                self.close(start)
            elif c == "|":
                group = self.groups[-1]
                group.done.append(concat(group.parts))
                group.parts = []
            else:
                self.repeatable = self.nested_quantifiers or not (
                    c in "^$" or c == "\\" and self.peek() and self.peek() in self.assertions)
                self.groups[-1].parts.append(self.atom(c, start))
        if len(self.groups) > 1:
            raise self.error("a parenthesis is never closed", self.groups[-1].start)
        return self.content(self.groups[0])

    def comment(self, c):
        """Skip white space or a comment (flag x)."""
        if c == "#":
            end = self.text.find("\n", self.pos)
            self.pos = len(self.text) if end < 0 else end
            return True
        if c in " \t\n\r\f\v":
            self.pos += 1
            return True
        return False

    def content(self, group):
        return alternate([*group.done, concat(group.parts)])

    def begin(self, start, wrap, flags=None, repeatable=True):
        """Open a group; `wrap` makes its tree of the tree inside."""
        self.groups.append(Group(self.flags, wrap, start, repeatable))
        if flags is not None:
            self.flags = flags

    def close(self, start):
        if len(self.groups) == 1:
            raise self.error("a parenthesis was never opened", start)
        group = self.groups.pop()
        self.flags, self.repeatable = group.flags, group.repeatable
        self.groups[-1].parts.append(group.wrap(self.content(group)) if group.wrap else self.content(group))

    def atom(self, c, start):
        if c == "\\":
            return self.escape(start)
        if c == "[":
            return self.bracket(start)
        if c == ".":
            return self.dot()
        if c == "^":
            return self.caret(start)
        if c == "$":
            return self.dollar(start)
        return self.character(ord(c))

    def character(self, c):
        """One code point, under the flags of this place."""
        if "i" in self.flags:
            return self.chars(((c, c),))
        return Chars(((c, c),)) if 0xD800 <= c <= 0xDFFF else Literal(chr(c))

    def folded(self, ranges):
        return unicode.fold(ranges) if "i" in self.flags else ranges

    def chars(self, ranges, negated=False):
        """One character of a set; case variants count before the negation."""
        ranges = self.folded(ranges)
        if negated:
            ranges = charset.complement(ranges)
        if not ranges:
            return NOTHING
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1] and not 0xD800 <= ranges[0][0] <= 0xDFFF:
            return Literal(chr(ranges[0][0]))
        return Chars(ranges)

    def dot(self):
        return Chars(charset.ALL if "s" in self.flags else charset.complement(self.terminators))

    def caret(self, start):
        return self.line_start(start) if "m" in self.flags else Anchor(True, self.column(start))

    # -- quantifiers
    def quantifier(self, start):
        low, high = self.counts()
        if high is not None and high < low:
            raise self.error(f"no number is at least {low} and at most {high}", start)
        parts = self.groups[-1].parts
        if not parts or not self.repeatable:
            raise self.error("nothing to repeat", start)
        if self.quantified and not self.nested_quantifiers:
            raise self.error("a repetition of a repetition (use a group)", start)
        self.suffix(start)
        parts[-1] = Repeat(parts[-1], low, high)
        self.quantified = True

    def counts(self):
        c = self.next("a quantifier")
        if c != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[c]
        low = self.digits()
        high = self.digits() if self.skip(",") else low
        self.pos += 1                       # the brace, see counts_follow
        return self.number(low), None if high == "" else self.number(high)

    def number(self, digits):
        return int(digits.lstrip("0")[:20] or "0")        # longer ones are beyond every limit

    def counts_follow(self):
        """Does a counted repetition such as {2,3} stand here?"""
        at = self.pos + 1
        while at < len(self.text) and self.text[at] in DECIMAL:
            at += 1
        if at == self.pos + 1 and not self.empty_low:
            return False
        if at < len(self.text) and self.text[at] == ",":
            at += 1
            while at < len(self.text) and self.text[at] in DECIMAL:
                at += 1
        elif at == self.pos + 1:
            return False
        return at < len(self.text) and self.text[at] == "}"

    empty_low = False               # {,3}
    nested_quantifiers = False      # a** and ^*
    assertions = "bB"               # escapes that read nothing

    def suffix(self, start):
        """What may follow a quantifier: `?` asks for few copies, which does not change the language."""
        self.skip("?")


