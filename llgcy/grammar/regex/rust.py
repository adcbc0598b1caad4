"""The syntax of Rust's `regex` crate (regex-syntax)."""
from llgcy.grammar.regex import charset, unicode
from llgcy.grammar.regex.scanner import ASCII_WORD, DECIMAL, DIGITS, NEWLINE, Scanner
from llgcy.grammar.regex.tree import (
    Anchor, Bytes, Chars, Concat, Literal, Look, line_end, line_start, word_boundary)

SIMPLE = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
ASCII_SPACE = ((9, 13), (32, 32))
POSIX = {
    "alnum": [(48, 57), (65, 90), (97, 122)], "alpha": [(65, 90), (97, 122)], "ascii": [(0, 127)], "blank": [(9, 9), (32, 32)],
    "cntrl": [(0, 31), (127, 127)], "digit": [(48, 57)], "graph": [(33, 126)], "lower": [(97, 122)], "print": [(32, 126)],
    "punct": [(33, 47), (58, 64), (91, 96), (123, 126)], "space": [(9, 13), (32, 32)], "upper": [(65, 90)],
    "word": [(48, 57), (65, 90), (95, 95), (97, 122)], "xdigit": [(48, 57), (65, 70), (97, 102)]}
OPERATORS = {"&&": charset.intersection, "--": charset.difference, "~~": charset.symmetric_difference}
SPACE = " \t\n\v\f\r\u0085\u200e\u200f\u2028\u2029"       # Pattern_White_Space: skipped under flag x


class Bracket:
    """An open character class."""

    __slots__ = ("left", "operator", "ranges", "negated", "start")

    def __init__(self, negated, start):
        self.left = self.operator = None        # operands of && -- ~~ so far
        self.ranges = []
        self.negated, self.start = negated, start


class Rust(Scanner):
    """Flags: i, m, s, u (on at first), U, x.

    Parameters
    ----------
    allow_invalid_utf8 : bool
        Under (?-u), let classes and \\xHH match bytes that are no UTF-8.
    """

    name = "Rust"
    known_flags = "imsuUx"
    terminators = NEWLINE
    nested_quantifiers = True

    def __init__(self, text, flags, allow_invalid_utf8=False):
        super().__init__(text, {"u", *flags})
        self.allow_invalid_utf8 = allow_invalid_utf8

    @property
    def bytewise(self):
        return "u" not in self.flags

    def folded(self, ranges):
        if not self.bytewise or "i" not in self.flags:
            return super().folded(ranges)
        return charset.union(ranges, [(c ^ 32, c ^ 32) for first, last in charset.intersection(ranges, ((65, 90), (97, 122)))
                                      for c in range(first, last + 1)])

    def comment(self, c):
        if c in SPACE:
            self.pos += 1
            return True
        return super().comment(c)

    def spaces(self):
        """Skip white space and comments inside of a class (flag x)."""
        while "x" in self.flags and self.peek() and self.comment(self.peek()):
            pass

    def character(self, c):
        if self.bytewise and c > 127:           # a literal of several bytes; case is ASCII's here
            return Literal(chr(c))
        return super().character(c)

    def finish(self, ranges, start):
        """The tree of a class: of bytes where it needs some that are no characters of their own."""
        if not self.bytewise or not ranges or ranges[-1][1] < 128:
            return self.plain(ranges)
        if ranges[-1][1] > 255:
            raise self.error("a class with flag u off has bytes only", start)
        if not self.allow_invalid_utf8:
            raise self.error("this may match bytes that are no UTF-8", start)
        return Bytes(ranges)

    def plain(self, ranges):
        flags, self.flags = self.flags, self.flags - {"i"}
        tree = self.chars(ranges)
        self.flags = flags
        return tree

    def negation(self, ranges):
        return charset.complement(ranges, 255 if self.bytewise else charset.LAST)

    def dot(self):
        start = self.pos - 1
        return self.finish(self.negation(() if "s" in self.flags else NEWLINE), start)

    def line_start(self, start):
        return line_start(NEWLINE, self.column(start))

    def dollar(self, start):
        column = self.column(start)
        return line_end(NEWLINE, column) if "m" in self.flags else Anchor(False, column)

    def named_class(self, letter):
        kind = letter.lower()
        if self.bytewise:
            found = {"d": DIGITS, "s": ASCII_SPACE, "w": ASCII_WORD}[kind]
        elif kind == "d":
            found = unicode.category("Nd")
        else:
            found = unicode.binary("White_Space") if kind == "s" else self.word()
        return found if letter == kind else self.negation(found)

    def word(self):
        """UTS #18, annex C."""
        if self.bytewise:
            return ASCII_WORD
        return charset.union(unicode.binary("Alphabetic"), unicode.category("M"), unicode.category("Nd"), unicode.category("Pc"),
                             unicode.binary("Join_Control"))

    def escape(self, start):
        c = self.next("an escape")
        column = self.column(start)
        if c in "dDsSwW":
            return self.finish(self.folded(self.named_class(c)), start)
        if c in "pP":
            return self.finish(self.folded(self.property(c, start)), start)
        if c in "Az":
            return Anchor(c == "A", column)
        if c in "<>":
            return self.half_boundary(c == "<", False, column)
        if c == "b" and self.peek() == "{":
            at = self.text.find("}", self.pos)
            side = self.text[self.pos + 1:at] if at > 0 else ""
            if side in ("start", "end", "start-half", "end-half"):
                self.pos = at + 1
                return self.half_boundary(side.startswith("start"), side.endswith("-half"), column)
        if c in "bB":
            return word_boundary(self.word(), c == "B", column)
        if c in DECIMAL:
            raise self.error("a back-reference or octal escape (neither exists in this syntax)", start)
        self.pos = start + 1
        code, byte = self.code(start)
        if byte:
            return self.finish(self.folded(((code, code),)), start)
        return self.character(code)

    def half_boundary(self, at_start, half, column):
        """The start or end of a word; half: only the side outside of the word is looked at."""
        part = Chars(self.word())
        outside, inside = Look(part, not at_start, True, column), Look(part, at_start, False, column)
        return outside if half else Concat((outside, inside))

    def code(self, start):
        """(code point, is it a byte) of an escape that stands for one; the backslash is read."""
        c = self.next("an escape")
        if c in SIMPLE:
            return SIMPLE[c], False
        if c in "xuU":
            if self.skip("{"):
                code = self.digits_in_braces(start)
            else:
                code = self.hexadecimal({"x": 2, "u": 4, "U": 8}[c], start)
            if 0xD800 <= code <= 0xDFFF:
                raise self.error("a surrogate is no character", start)
            return code, c == "x" and self.bytewise and code < 256
        if not c.isascii() or c.isalnum() or c in "<>":
            raise self.error(f"there is no escape \\{c}", start)
        return ord(c), False

    def property(self, letter, start):
        """\\pL, \\p{Greek}, \\p{sc=Greek}, \\p{gc!=Lu}; names match loosely."""
        if self.bytewise:
            raise self.error("a Unicode property with flag u off", start)
        c = self.next("a property")
        negated = letter == "P"
        name = self.until("}", "the property", start) if c == "{" else c
        key, value = name, None
        for sign in ("!=", ":", "="):
            if sign in name:
                key, value = name.split(sign, 1)
                negated ^= sign == "!="
                break
        found = unicode.lookup(key.strip(), value and value.strip(), loose=True)
        if found is None:
            raise self.error(f"the property {name!r} is not known (Unicode {unicode.UNICODE_VERSION})", start)
        found = self.folded(found)                          # case variants count before the negation
        return charset.complement(found) if negated else found

    # -- classes, nested on a stack of their own
    def bracket(self, start):
        stack = [self.open_bracket(start)]
        while True:
            self.spaces()
            top, at = stack[-1], self.pos
            c = self.next("a character class")
            if c == "]":
                found = self.close_bracket(stack.pop())
                if not stack:
                    return self.finish(found, start)
                stack[-1].ranges += found
            elif c == "[":
                if self.peek() == ":" and self.posix(top):
                    continue
                stack.append(self.open_bracket(at))
            elif c + self.peek() in OPERATORS:
                self.pos += 1
                self.combine(top)
                top.operator = OPERATORS[2 * c]
            else:
                top.ranges += self.member(c, at)

    def open_bracket(self, start):
        self.spaces()
        bracket = Bracket(self.skip("^"), start)
        self.spaces()
        while self.skip("-"):
            bracket.ranges.append((45, 45))
            self.spaces()
        if not bracket.ranges and self.skip("]"):
            bracket.ranges.append((93, 93))
        return bracket

    def combine(self, bracket):
        """Apply the operator on the left to the union just read."""
        right = self.folded(charset.of(bracket.ranges))
        bracket.left = right if bracket.operator is None else bracket.operator(bracket.left, right)
        bracket.ranges = []

    def close_bracket(self, bracket):
        self.combine(bracket)
        return self.negation(bracket.left) if bracket.negated else bracket.left

    def posix(self, bracket):
        """[:name:] or [:^name:] inside of a class; else nothing is read."""
        end = self.text.find(":]", self.pos + 1)
        name = self.text[self.pos + 1:end] if end > 0 else ""
        found = POSIX.get(name.removeprefix("^"))
        if found is None:
            return False
        self.pos = end + 2
        bracket.ranges += self.negation(self.folded(charset.of(found))) if name.startswith("^") else found
        return True

    def member(self, c, start):
        """The set of a character, range or escape in a class."""
        low, found = self.one(c, start)
        self.spaces()
        if self.peek() != "-" or self.peek(2) in ("--", "-]") or len(self.peek(2)) < 2:
            return found
        back = self.pos
        self.pos += 1
        self.spaces()
        if self.peek() == "]":
            self.pos = back
            return found
        to = self.pos
        high, _ = self.one(self.next("a character class"), to)
        if low is None or high is None or high < low:
            raise self.error(f"the range {self.text[start:self.pos]!r} has no characters", start)
        return ((low, high),)

    def one(self, c, start):
        """(code point or None, set)."""
        if c != "\\":
            if self.bytewise and ord(c) > 127:
                raise self.error("a class with flag u off has bytes only", start)
            return ord(c), ((ord(c), ord(c)),)
        kind = self.peek()
        if kind and kind in "dDsSwW":
            return None, self.named_class(self.next("an escape"))
        if kind and kind in "pP":
            return None, self.property(self.next("an escape"), start)
        if kind and (kind in "bBAz" or kind in DECIMAL):
            raise self.error(f"there is no escape \\{kind} in a class", start)
        code, _ = self.code(start)
        return code, ((code, code),)

    # -- groups
    def counts_follow(self):
        if not super().counts_follow():
            raise self.error("a brace that counts nothing (write \\{ for the character, {0,n} for at most n)")
        return True

    def open(self, start):
        if not self.skip("?"):
            self.begin(start, None)
        elif self.peek(2) in ("<=", "<!") or self.peek() in ("=", "!"):
            raise self.error("look-around (it does not exist in this syntax)", start)
        elif self.skip("P<") or self.skip("<"):
            name = self.until(">", "the name of the group", start)
            if not name or name[0].isdecimal() or not all(c.isalnum() or c in "_.[]" for c in name):
                raise self.error(f"{name!r} is no name of a group", start)
            self.begin(start, None)
        else:
            self.inline_flags(start)

    def inline_flags(self, start):
        """(?flags) up to the end of the group, (?flags:...), (?:...)."""
        flags, on, seen, last = set(self.flags), True, set(), ""
        while True:
            c = self.next("the flags of a group")
            if c in ":)":
                break
            if c == "-" and on:
                on = False
            elif c in self.known_flags and c not in seen:
                seen.add(c)
                flags.add(c) if on else flags.discard(c)
            else:
                raise self.error(f"there is no group or flag {self.text[start:self.pos]!r}", start)
            last = c
        if last == "-" or c == ")" and not last:
            raise self.error(f"flags are missing in {self.text[start:self.pos]!r}", start)
        if c == ":":
            self.begin(start, None, frozenset(flags))
        else:
            self.flags, self.repeatable = frozenset(flags), False
