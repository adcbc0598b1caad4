"""The number lexeme where nothing but the sign of a number is constrained: every RFC 8259 spelling, in a dozen states."""

# Kinds of states. From BARE_ZERO to FRACTION two fields follow: `here`: the value read so far is in the set; `later`: so is
# any with another digit than 0 added to the fraction. After an e only mantissas of the set go on, with no fields.
START, MINUS, BARE_ZERO, ZERO, INTEGER, POINT, FRACTION, E, E_SIGN, EXPONENT = range(10)
#             BARE_ZERO: the text "0"; ZERO: "-0"

_WHOLE = frozenset((BARE_ZERO, ZERO, INTEGER))
_MANTISSAS = frozenset((*_WHOLE, FRACTION))
_DIGIT_0, _DIGIT_9, _MINUS, _POINT = b"09-."


class SignedLexeme:
    """All spellings of the negative numbers, of zero or of the positive numbers, in any combination.

    Parameters
    ----------
    negative, zero, positive : bool
        Which of them are in the set.
    bare_zero : bool
        Whether the text ``0`` is; any other spelling of zero (``-0``, ``0.0``, ``0e1``) goes by `zero`.
    """

    def __init__(self, negative, zero, positive, bare_zero):
        self._zero, self._bare_zero, self._positive, self._negative = zero, bare_zero, positive, negative
        #: Whether no number is in the set.
        self.empty = not (negative or zero or bare_zero or positive)

    def start(self):
        """The state before the first byte."""
        return (START,)

    def step(self, state, byte):
        """The state after one more byte; None where no text of the set goes on so."""
        kind = state[0]
        if _DIGIT_0 <= byte <= _DIGIT_9:
            if kind == INTEGER:
                return state
            if kind >= E:
                return (EXPONENT,)
            if kind <= MINUS:
                later = self._positive if kind == START else self._negative
                if byte == _DIGIT_0:
                    alive = later or self._zero or kind == START and self._bare_zero
                    return (BARE_ZERO if kind == START else ZERO, self._zero, later) if alive else None
                return (INTEGER, True, True) if later else None
            if kind not in (POINT, FRACTION):
                return None
            _, here, later = state
            here = here if byte == _DIGIT_0 else later
            return (FRACTION, here, later) if here or later else None
        if byte == _POINT:
            return (POINT, *state[1:]) if kind in _WHOLE and (state[1] or state[2]) else None
        if byte in b"eE":
            return (E,) if kind in _MANTISSAS and state[1] else None
        if byte == _MINUS and kind == START:
            return (MINUS,) if self._zero or self._negative else None
        return (E_SIGN,) if byte in b"+-" and kind == E else None

    def accepts(self, state):
        """Whether the text may end here."""
        kind = state[0]
        return self._bare_zero if kind == BARE_ZERO else kind == EXPONENT or kind in _MANTISSAS and state[1]

    def shortest(self, state):
        """A shortest completion, as bytes."""
        kind = state[0]
        if self.accepts(state):
            return b""
        if kind >= E:
            return b"0"
        if kind == START:
            return b"0" if self._bare_zero else b"1" if self._positive else b"-0" if self._zero else b"-1"
        if kind == MINUS:
            return b"0" if self._zero else b"1"
        digit = b"0" if state[1] else b"1"
        return b"." + digit if kind in _WHOLE else digit

    # there are no residues
    def split(self, state):
        """See `NumberLexeme.split`."""
        return state, 0, 1

    def join(self, shape, code):
        """See `NumberLexeme.join`."""
        return shape

    def loop(self, shape):
        """See `NumberLexeme.loop`."""
        return None
