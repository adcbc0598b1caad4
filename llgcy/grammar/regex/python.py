"""The syntax of Python's `re` for str patterns."""
import unicodedata

from llgcy.grammar.regex import charset, unicode
from llgcy.grammar.regex.scanner import ASCII_WORD, DECIMAL, DIGITS, NEWLINE, Scanner
from llgcy.grammar.regex.tree import Alternate, Anchor, Chars, Concat, Literal, Look, line_start, word_boundary

OCTAL = frozenset("01234567")
SIMPLE = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
ASCII_SPACE = ((9, 13), (32, 32))
# What `re` takes for equal beside simple case folding: the four forms of the letter i.
LETTERS_I = charset.single("iI\u0130\u0131")


class Python(Scanner):
    """Flags: a (ASCII), i, m, s, u, x; `L` is for bytes patterns."""

    name = "Python"
    known_flags = "aimsux"
    terminators = NEWLINE
    empty_low = True
    assertions = "AZbB"

    def folded(self, ranges):
        if "i" not in self.flags:
            return ranges
        if "a" in self.flags:       # only ASCII letters match without regard to case
            shift = [(c ^ 32, c ^ 32) for first, last in charset.intersection(ranges, ((65, 90), (97, 122)))
                     for c in range(first, last + 1)]
            return charset.union(ranges, shift)
        ranges = unicode.fold(ranges)
        return charset.union(ranges, LETTERS_I) if charset.intersection(ranges, LETTERS_I) else ranges

    def named_class(self, letter):
        ascii_only = "a" in self.flags
        if letter in "dD":
            found = DIGITS if ascii_only else unicode.category("Nd")
        elif letter in "sS":            # str.isspace: also the information separators
            found = ASCII_SPACE if ascii_only else charset.union(unicode.binary("White_Space"), ((0x1C, 0x1F),))
        else:
            found = self.word()
        return found if letter.islower() else charset.complement(found)

    def word(self):
        """str.isalnum and the underscore."""
        return ASCII_WORD if "a" in self.flags else charset.union(unicode.category("L"), unicode.numeric(), ((95, 95),))

    def line_start(self, start):
        return line_start(NEWLINE, self.column(start))

    def dollar(self, start):
        """The end, or before a newline at the end; with flag m before any newline."""
        column = self.column(start)
        end = Anchor(False, column)
        if "m" in self.flags:
            return Alternate((end, Look(Literal("\n"), True, False, column)))
        return Alternate((end, Look(Concat((Literal("\n"), end)), True, False, column)))

    def escape(self, start):
        c = self.next("an escape")
        if c in "dDsSwW":
            return Chars(self.named_class(c))
        if c in "AZ":
            return Anchor(c == "A", self.column(start))
        if c in "bB":
            return word_boundary(self.word(), c == "B", self.column(start))
        if c in DECIMAL and c != "0":
            more = self.peek(2)
            if not (c in OCTAL and len(more) == 2 and set(more) <= OCTAL):
                raise self.back_reference(start)
        self.pos = start + 1
        return self.character(self.code(start))

    def code(self, start):
        """The code point of an escape that stands for one; the backslash is read."""
        c = self.next("an escape")
        if c in SIMPLE:
            return SIMPLE[c]
        if c in "xuU":
            return self.hexadecimal({"x": 2, "u": 4, "U": 8}[c], start)
        if c == "N":
            if not self.skip("{"):
                raise self.error("\\N needs a name in braces", start)
            name = self.until("}", "the character name", start)
            try:
                return ord(unicodedata.lookup(name))
            except (KeyError, TypeError):
                raise self.error(f"no character is named {name!r}", start) from None
        if c in DECIMAL:
            self.pos -= 1
            digits = self.digits(OCTAL, 3)
            value = int(digits or "400", 8)
            if value > 0o377:
                raise self.error(f"octal escapes go up to \\377, not {self.text[start:self.pos + 1]!r}", start)
            return value
        if c.isascii() and c.isalpha():
            raise self.error(f"there is no escape \\{c}", start)
        return ord(c)

    def bracket(self, start):
        negated = self.skip("^")
        first, ranges = self.pos, []
        while True:
            at = self.pos
            c = self.next("a character class")
            if c == "]" and at > first:
                break
            low, found = self.member(c, at)
            if self.peek() == "-" and self.peek(2) != "-]" and len(self.peek(2)) == 2:
                self.pos += 1
                to = self.pos
                high, other = self.member(self.next("a character class"), to)
                if low is None or high is None or high < low:
                    raise self.error(f"the range {self.text[at:self.pos]!r} has no characters", at)
                found = ((low, high),)
            ranges += found
        return self.chars(charset.of(ranges), negated)

    def member(self, c, start):
        """(code point or None, set) of one member of a class."""
        if c == "\\":
            if self.peek() and self.peek() in "dDsSwW":
                return None, self.named_class(self.next("an escape"))
            if self.skip("b"):
                return 8, ((8, 8),)
            code = self.code(start)
        else:
            code = ord(c)
        return code, ((code, code),)

    def suffix(self, start):
        if not self.skip("?") and self.peek() == "+":
            raise self.error("a possessive quantifier (it depends on the order of attempts)", start)

    def open(self, start):
        if not self.skip("?"):
            self.begin(start, None)
            return
        c = self.next("a group")
        if c == "P":
            c = self.next("a group")
            if c == "=":
                raise self.back_reference(start)
            if c != "<":
                raise self.error(f"there is no group (?P{c}", start)
            name = self.until(">", "the name of the group", start)
            if not name.isidentifier():
                raise self.error(f"{name!r} is no name of a group", start)
            self.begin(start, None)
        elif c == ":":
            self.begin(start, None)
        elif c == "#":
            self.until(")", "the comment", start)
        elif c in "=!":
            self.begin(start, self.looking(True, c == "!", start))
        elif c == "<" and self.peek() in ("=", "!"):
            self.begin(start, self.looking(False, self.next("a group") == "!", start))
        elif c == ">":
            raise self.error("an atomic group (it depends on the order of attempts)", start)
        elif c == "(":
            raise self.error("a conditional group (what a group matched is not kept by an automaton)", start)
        else:
            self.pos -= 1
            self.inline_flags(start)

    def looking(self, ahead, negated, start):
        column = self.column(start)
        return lambda tree: Look(tree, ahead, negated, column)

    def inline_flags(self, start):
        """(?aimsux) at the start of the pattern; (?aimsux-imsx:...) anywhere."""
        on, off, minus = set(), set(), False
        while True:
            c = self.next("the flags of a group")
            if c == "-" and not minus:
                minus = True
            elif c in self.known_flags and not (minus and c in "au"):
                (off if minus else on).add(c)
            elif c == "L":
                raise self.error("flag L (locales are for bytes patterns)", start)
            elif c in ":)":
                break
            else:
                raise self.error(f"there is no group (?{c}" if not on | off else f"there is no flag {c!r}", start)
        if on & off or {"a", "u"} <= on:
            raise self.error("flags that contradict each other", start)
        flags = (self.flags | on) - off
        if "u" in on:
            flags -= {"a"}
        if c == ":":
            self.begin(start, None, flags)
        elif minus or len(self.groups) > 1 or self.groups[0].parts or self.groups[0].done:
            raise self.error("flags for the whole pattern stand at its start", start)
        else:
            self.flags = flags
