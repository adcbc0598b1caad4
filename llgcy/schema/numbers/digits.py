"""The number lexeme where "an integer" is a matter of spelling, as in draft 4: 10 is one, 10.0 and 1e1 are none.

A text of digits alone is judged by one formula, a text with a fraction or an exponent by another one.
"""
from llgcy.schema.numbers.formula import CONNECTIVES, program_of
from llgcy.schema.numbers.line import Line
from llgcy.schema.numbers.plain import PlainLexeme
from llgcy.schema.numbers.spelled import SpelledLexeme

# What has been read of "-0", which `PlainLexeme` does not know.
START, MINUS, MINUS_ZERO, OTHER = range(4)

_ZERO, _MINUS = b"0-"
_NOTHING = ("or",)


class DigitsLexeme:
    """One formula in every spelling, where ``int`` says that the text is digits alone.

    States are (state of `PlainLexeme` or None, state of `SpelledLexeme` or None, what is read of "-0", whether a point or an e is read).
    """

    def __init__(self, formula):
        digits = Line(program_of(formula), with_integers=True)
        self._digits = PlainLexeme(digits, Line(program_of(("and", formula, _NOTHING)), with_integers=True))
        self._spelled = SpelledLexeme(Line(program_of(without_int(formula))))
        self._zero = digits.contains_zero
        #: Whether no number meets the formula.
        self.empty = self._digits.empty and self._spelled.empty

    def start(self):
        """The state before the first byte."""
        return (None if self._digits.empty else self._digits.start(), None if self._spelled.empty else self._spelled.start(), START, False)

    def step(self, state, byte):
        """The state after one more byte; None exactly where no text that meets the formula goes on so."""
        digits, spelled, read, marked = state
        if digits is not None:
            digits = self._digits.step(digits, byte)
        if spelled is not None:     # what digits alone spell can be spelled with a fraction, too
            spelled = self._spelled.step(spelled, byte)
        read = MINUS if read == START and byte == _MINUS else MINUS_ZERO if read == MINUS and byte == _ZERO else OTHER
        marked = marked or byte in b".eE"
        if digits is None and spelled is None and not (self._zero and read in (MINUS, MINUS_ZERO)):
            return None
        return digits, spelled, read, marked

    def accepts(self, state):
        """Whether the text may end here."""
        digits, spelled, read, marked = state
        if marked:
            return spelled is not None and self._spelled.accepts(spelled)
        return digits is not None and self._digits.accepts(digits) or read == MINUS_ZERO and self._zero

    def shortest(self, state):
        """A shortest completion, as bytes."""
        digits, spelled, read, marked = state
        if self.accepts(state):
            return b""
        found = []
        if digits is not None:
            found.append(self._digits.shortest(digits))
        if read == MINUS and self._zero:
            found.append(b"0")
        if spelled is not None:
            rest = self._spelled.shortest(spelled)
            found.append(rest if marked or any(byte in b".eE" for byte in rest) else rest + b".0")
        return min(found, key=len)

    def split(self, state):
        """See `NumberLexeme.split`."""
        digits, spelled, read, marked = state
        shape, code, size = (None, 0, 1) if digits is None else self._digits.split(digits)
        other, other_code, other_size = (None, 0, 1) if spelled is None else self._spelled.split(spelled)
        return (shape, other, other_size, read, marked), code * other_size + other_code, size * other_size

    def join(self, shape, code):
        """See `NumberLexeme.join`."""
        digits, spelled, size, read, marked = shape
        code, other = divmod(code, size)
        return (None if digits is None else self._digits.join(digits, code), None if spelled is None else self._spelled.join(spelled, other),
                read, marked)

    def loop(self, shape):
        """See `NumberLexeme.loop`."""
        return None


def without_int(formula):
    """The formula as it reads for a text with a fraction or an exponent."""
    if formula[0] == "int":
        return _NOTHING
    return (formula[0], *map(without_int, formula[1:])) if formula[0] in CONNECTIVES else formula
