"""The syntax of ECMA-262 regular expressions with flag u, as JSON Schema recommends it.

Where flag u makes an error of what Annex B of the standard lets pass without it, and both cannot mean two things, Annex B is followed:
escaped punctuation, `{` and `}` and `]` as themselves, a hyphen beside a class escape.
"""
from llgcy.grammar.regex import charset, unicode
from llgcy.grammar.regex.scanner import ASCII_WORD, DECIMAL, DIGITS, Scanner
from llgcy.grammar.regex.tree import Anchor, Look, line_end, line_start, word_boundary

LINE_TERMINATORS = charset.single("\n\r\u2028\u2029")
SPACE = charset.union(((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F),
                       (0x3000, 0x3000), (0xFEFF, 0xFEFF)), LINE_TERMINATORS)
"""WhiteSpace and LineTerminator of the standard: the category Zs, written out, since the tables take a while to read, and what it adds."""
CONTROL = {"f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


class Ecma(Scanner):
    """Flags: i, m, s; u, g, y and d are accepted and change nothing (u is always on)."""

    name = "ECMA-262"
    known_flags = "imsugyd"
    terminators = LINE_TERMINATORS

    def word(self):
        """WordCharacters: ASCII; with flag i also what folds to it."""
        return unicode.fold(ASCII_WORD) if "i" in self.flags else ASCII_WORD

    def named_class(self, letter):
        kind = letter.lower()
        found = DIGITS if kind == "d" else SPACE if kind == "s" else self.word()
        return found if letter == kind else charset.complement(found)

    def property(self, letter, start):
        """\\p{Script=Greek}, \\p{Lu}, \\p{Alphabetic}: names exactly as in the standard."""
        if not self.skip("{"):
            raise self.error("a property needs a name in braces", start)
        name = self.until("}", "the property", start)
        key, sign, value = name.partition("=")
        found = unicode.lookup(key, value if sign else None)
        if found is None:
            raise self.error(f"the property {name!r} is not known (Unicode {unicode.UNICODE_VERSION})", start)
        return charset.complement(found) if letter == "P" else found

    def line_start(self, start):
        return line_start(LINE_TERMINATORS, self.column(start))

    def dollar(self, start):
        column = self.column(start)
        return line_end(LINE_TERMINATORS, column) if "m" in self.flags else Anchor(False, column)

    def escape(self, start):
        c = self.next("an escape")
        if c in "dDsSwW":
            return self.chars(self.named_class(c))
        if c in "pP":
            return self.chars(self.property(c, start))
        if c in "bB":
            return word_boundary(self.word(), c == "B", self.column(start))
        if c == "k" or c in DECIMAL and c != "0":
            raise self.back_reference(start)
        self.pos = start + 1
        return self.character(self.code(start))

    def code(self, start):
        """The code point of an escape that stands for one; the backslash is read."""
        c = self.next("an escape")
        if c in CONTROL:
            return CONTROL[c]
        if c == "c":
            letter = self.peek()
            if not (letter.isascii() and letter.isalpha()):
                raise self.error("\\c needs a letter", start)
            self.pos += 1
            return ord(letter) & 31
        if c == "0":
            if self.peek() and self.peek() in DECIMAL:
                raise self.error("an octal escape", start)
            return 0
        if c == "x":
            return self.hexadecimal(2, start)
        if c == "u":
            if self.skip("{"):
                return self.digits_in_braces(start)
            code, after = self.hexadecimal(4, start), self.pos
            if 0xD800 <= code <= 0xDBFF and self.skip("\\u"):       # a pair is one code point
                digits = self.text[self.pos:self.pos + 4]
                if len(digits) == 4 and all(d in "0123456789abcdefABCDEF" for d in digits) and 0xDC00 <= int(digits, 16) <= 0xDFFF:
                    self.pos += 4
                    return 0x10000 + (code - 0xD800 << 10) + int(digits, 16) - 0xDC00
                self.pos = after
            return code
        if c.isalnum():
            raise self.error(f"there is no escape \\{c}" + (
                " (use ^ and $ for the ends of the text)" if c in "AzZ" else ""), start)
        return ord(c)

    def bracket(self, start):
        negated, ranges = self.skip("^"), []
        while True:
            at = self.pos
            c = self.next("a character class")
            if c == "]":
                break
            low, found = self.member(c, at)
            if self.peek() == "-" and len(self.peek(2)) == 2 and self.peek(2) != "-]":
                self.pos += 1
                to = self.pos
                high, other = self.member(self.next("a character class"), to)
                if low is None or high is None:         # a hyphen beside a class escape is itself
                    if "p" in (self.text[at + 1:at + 2].lower(), self.text[to + 1:to + 2].lower()):
                        raise self.error("a hyphen beside a property (write \\- for the character)", to - 1)
                    ranges += ((45, 45), *other)
                elif high < low:
                    raise self.error(f"the range {self.text[at:self.pos]!r} has no characters", at)
                else:
                    found = ((low, high),)
            ranges += found
        return self.chars(charset.of(ranges), negated)

    def member(self, c, start):
        """(code point or None, set) of one member of a class."""
        if c != "\\":
            return ord(c), ((ord(c), ord(c)),)
        kind = self.peek()
        if kind and kind in "dDsSwW":
            return None, self.named_class(self.next("an escape"))
        if kind and kind in "pP":
            return None, self.property(self.next("an escape"), start)
        if kind == "b":
            self.pos += 1
            code = 8
        elif kind == "B" or kind and kind in "123456789k":
            raise self.error(f"there is no escape \\{kind} in a class", start)
        else:
            code = self.code(start)
        return code, ((code, code),)

    def counts_follow(self):
        if super().counts_follow():
            return True
        at = self.pos + 1
        if self.text[at:at + 1] == ",":
            end = at + 1
            while self.text[end:end + 1] and self.text[end] in DECIMAL:
                end += 1
            if end > at + 1 and self.text[end:end + 1] == "}":
                raise self.error(f"{self.text[self.pos:end + 1]!r} counts nothing in this syntax (write {{0,n}} for at most n)")
        return False

    def open(self, start):
        if not self.skip("?"):
            self.begin(start, None)
            return
        c = self.next("a group")
        if c == ":":
            self.begin(start, None)
        elif c in "=!":
            self.begin(start, self.looking(True, c == "!", start))
        elif c == "<" and self.peek() in ("=", "!"):
            self.begin(start, self.looking(False, self.next("a group") == "!", start), repeatable=False)
        elif c == "<":
            name = self.until(">", "the name of the group", start)
            if not name.replace("$", "_").isidentifier():
                raise self.error(f"{name!r} is no name of a group", start)
            self.begin(start, None)
        elif c in "ims-":
            self.pos -= 1
            self.modifiers(start)
        else:
            raise self.error(f"there is no group (?{c}", start)

    def looking(self, ahead, negated, start):
        column = self.column(start)
        return lambda tree: Look(tree, ahead, negated, column)

    def modifiers(self, start):
        """(?ims-ims:...)"""
        text = self.until(":", "the modifiers of a group", start)
        on, sign, off = text.partition("-")
        if not set(on + off) <= set("ims") or len(set(on + off)) < len(on + off) or not on + off:
            raise self.error(f"there are no modifiers {text!r}", start)
        self.begin(start, None, (self.flags | set(on)) - set(off))
