"""The number lexeme in any spelling of RFC 8259: exponents, under any condition.

After the digits D, f of them behind the point, an exponent E makes the text ``D * 10**(E - f)``, and more digits lead into the
interval from there to ``(D+1) * 10**(E - f)``. So as in plain spelling a state describes blocks (see `blocks`), now for all
integers E, with the residues of D where divisors ask for them; D itself is forgotten. Whether D * 10**(E - f) is in the set changes at
few E. So once the ``e`` is read, the right exponents are a few intervals of integers, and these are the state (see `exponents`).

States count digits where bounds or divisors make them matter (12e3 is not 120e3), so they are as many as a text has digits.
"""
import math

from llgcy.errors import LimitError
from llgcy.schema.exact import DIGITS
from llgcy.schema.numbers import exponents
from llgcy.schema.numbers.blocks import INFINITY, Blocks, Cut, cell_of
from llgcy.schema.numbers.residues import append, meets, reachable
from llgcy.schema.numbers.sides import Classes, build_sides

# Kinds of states, with the fields that follow. Where no piece is cut the side no longer matters, and is 0.
START = 0           #
MINUS = 1           #
ZERO = 2            # side                      a lone 0
ZERO_POINT = 3      # side                      0.
ZEROS = 4           # side, f                   0. and f > 0 zeros
INTEGER = 5         # side, runs, rho, z, 0     runs: Blocks.runs by the exponent E
POINT = 6           # side, runs, rho, z, 0     just after the point
FRACTION = 7        # side, runs, rho, z, f
EXPONENT = 8        # a state of `exponents`

_DIGIT_0, _DIGIT_9, _MINUS, _POINT = b"09-."
_ONLY = 0           # the one track


class SpelledLexeme:
    """One formula in any spelling, as an automaton over bytes. States are tuples; equal ones have one future.

    Parameters
    ----------
    line : Line
        The set of numbers.

    Raises
    ------
    LimitError
        Beyond a bound there are only numbers that no exponent makes short, such as those above ``1e1000000000`` that are
        not integers.
    """

    def __init__(self, line):
        self._classes = Classes()
        self._sides = build_sides([[line.half(False), line.half(True)]], line.divisors, self._classes)
        self._check_limits()
        self._blocks = {side.number: Blocks(side, self._classes, -INFINITY) for side in self._sides}
        self._first_runs = {number: blocks.runs(-INFINITY) for number, blocks in self._blocks.items()}
        self._divisors = tuple(sorted({m for conditions in self._classes.conditions for c in conditions for m in c.divisors.ms}))
        # by side: is zero in the set; is any other number
        self._zero = {side.number: side.zero[_ONLY] for side in self._sides}
        self._others = {side.number: side.others[_ONLY] for side in self._sides}
        #: Whether no number meets the formula.
        self.empty = not (any(self._zero.values()) or any(self._others.values()))

    def _check_limits(self):
        for side in self._sides:
            for p, order, cell in zip(side.points[1:], side.orders[1:], side.cells[1:]):
                condition = self._classes.conditions[cell][_ONLY]
                if condition.mask and order - condition.divisors.last_place(condition.mask) > DIGITS:
                    raise LimitError(f"numbers beyond {p} that meet the condition have more than {DIGITS} digits, even with exponents")

    # ---------------------------------------------------------------- the automaton
    def start(self):
        """The state before the first byte."""
        return (START,)

    def step(self, state, byte):
        """The state after one more byte; None where no text that meets the formula goes on so."""
        kind = state[0]
        if kind == EXPONENT:
            after = exponents.step(state[1], byte)
            return None if after is None else (EXPONENT, after)
        if _DIGIT_0 <= byte <= _DIGIT_9:
            return self._digit(state, byte - _DIGIT_0)
        if byte == _POINT:
            if kind == ZERO:
                return ZERO_POINT, state[1]
            return (POINT, *state[1:]) if kind == INTEGER else None
        if byte in b"eE":
            if kind in (ZERO, ZEROS):
                return (EXPONENT, (exponents.E, ((-INFINITY, INFINITY),))) if self._zero[state[1]] else None
            right = self._right_exponents(state) if kind in (INTEGER, FRACTION) else ()
            return (EXPONENT, (exponents.E, right)) if right else None
        if byte == _MINUS and kind == START:
            negative = self._sides[1].number
            return (MINUS,) if self._zero[negative] or self._others[negative] else None
        return None

    def accepts(self, state):
        """Whether the text may end here."""
        kind = state[0]
        if kind in (ZERO, ZEROS):
            return self._zero[state[1]]
        if kind in (INTEGER, FRACTION):
            _, side, runs, rho, z, f = state
            piece = next(piece for exponent, piece in reversed(runs) if exponent <= 0)
            return self._blocks[side].start_meets(_ONLY, piece, rho, z, -f)
        return kind == EXPONENT and exponents.accepts(state[1])

    def shortest(self, state):
        """A shortest completion, as bytes."""
        kind = state[0]
        if self.accepts(state):
            return b""
        if kind == EXPONENT:
            return exponents.shortest(state[1]).encode()
        if kind >= INTEGER:
            return self._shortest_mantissa(state).encode()
        if kind >= ZERO:
            return self._shortest_after_zeros(state)
        return min((bytes([byte]) + self.shortest(after) for byte in b"0123456789-"
                    for after in [self.step(state, byte)] if after is not None), key=len)

    def _digit(self, state, digit):
        kind = state[0]
        if kind >= INTEGER:
            _, side, runs, rho, z, f = state
            in_fraction = kind != INTEGER
            narrow = self._blocks[side].narrow
            runs = ((exponent if in_fraction else exponent - 1, narrow(piece, exponent - f, digit)) for exponent, piece in runs)
            after = self._mantissa(FRACTION if in_fraction else INTEGER, side, runs, *append(rho, z, digit), f + in_fraction)
        elif kind == ZERO:
            return None
        else:
            side = self._sides[kind == MINUS].number if kind <= MINUS else state[1]
            f = None if kind <= MINUS else state[2] if kind == ZEROS else 0
            if digit == 0:
                after = (ZERO, side) if f is None else (ZEROS, side, f + 1)
                return after if self._zero[side] or self._others[side] else None
            narrow, first = self._blocks[side].narrow, self._first_runs[side]
            runs = ((order + (-1 if f is None else f), narrow(piece, order, digit)) for order, piece in first)
            after = self._mantissa(INTEGER if f is None else FRACTION, side, runs, digit, 0, 0 if f is None else f + 1)
        return after if self._alive(after) else None

    def _mantissa(self, kind, side, runs, rho, z, f):
        """The state in normal form."""
        merged = []
        for exponent, piece in runs:
            if not merged or merged[-1][1] != piece:
                merged.append((exponent, piece))
        cut, ms = self._divisors_of(merged)
        if not cut:
            side = 0
            if not ms:
                f = 0
        return (kind, side, tuple(merged), *((rho % math.lcm(*(m.c for m in ms)), z) if ms else (0, 0)), f)

    def _divisors_of(self, runs):
        """Whether a block is cut, and the divisors that matter."""
        conditions = []
        for _, piece in runs:
            if isinstance(piece, Cut):
                return True, self._divisors
            conditions += self._classes.conditions[cell_of(piece)]
        return False, tuple(sorted({m for c in conditions for m in c.divisors.ms}))

    def _pieces(self, state):
        """``(first E, last E, piece)`` of a mantissa."""
        runs = state[2]
        for i, (exponent, piece) in enumerate(runs):
            yield exponent, runs[i + 1][0] - 1 if i + 1 < len(runs) else INFINITY, piece

    def _alive(self, state):
        """Whether a mantissa may go on or end."""
        _, side, _, rho, z, f = state
        blocks = self._blocks[side]
        for first, last, piece in self._pieces(state):
            if isinstance(piece, int):
                condition = self._classes.conditions[piece][_ONLY]
                if condition.mask and reachable(condition, rho, z, first - f, last - f):
                    return True
            elif blocks.start_meets(_ONLY, piece, rho, z, first - f) or blocks.some_inside(_ONLY, piece, rho, z, first - f):
                return True
        return False

    def _right_exponents(self, state):
        """The range list of all E with D * 10**(E - f) in the set."""
        _, side, _, rho, z, f = state
        out = []
        for first, last, piece in self._pieces(state):
            if not isinstance(piece, int):
                if self._blocks[side].start_meets(_ONLY, piece, rho, z, first - f):
                    out.append((first, last))
                continue
            condition = self._classes.conditions[piece][_ONLY]
            marks = [first, *(n + f for n in condition.divisors.turns(z) if first < n + f <= last), last + 1]
            for start, following in zip(marks, marks[1:]):
                # any E of the part will do, and one of its ends is finite, or there are no divisors
                inside = start if start > -INFINITY else following - 1
                if condition.mask and (not condition.divisors.ms or meets(condition, rho, z, inside - f)):
                    out.append((start, following - 1))
        return exponents.join(out)

    # ---------------------------------------------------------------- shortest completions
    def _shortest_after_zeros(self, state):
        """After zeros alone that are not accepted: the point where it is missing, j zeros, and on from another digit."""
        if state[0] == ZERO_POINT and self._zero[state[1]]:
            return b"0"
        before = b"." if state[0] == ZERO else b""
        state = (ZERO_POINT, state[1]) if state[0] == ZERO else state
        best = None
        while best is None or len(before) + 1 < len(best):
            for digit in range(1, 10):
                after = self._digit(state, digit)
                if after is not None:
                    text = before + b"%d" % digit + self.shortest(after)
                    best = text if best is None or len(text) < len(best) else best
            state = self._digit(state, 0)
            before += b"0"
        return best

    def _shortest_mantissa(self, state):
        """Over the number k of digits to append: the exponents for which there are k such digits, in intervals. The point, where
        it is missing, may stand before any of them. Zeros alone pay only where they save the exponent, or after a point."""
        kind, side, _, rho, z, f = state
        best = None

        def offer(digits, first, last):
            """These digits make a number of the set where D with the exponents E from first to last would."""
            nonlocal best
            k = len(digits)
            if kind == POINT and k == 0:
                return
            for behind in range(k + 1) if kind == INTEGER else (k,):
                moved = behind - k if kind == INTEGER else 0
                shown = digits if kind != INTEGER or not behind else f"{digits[:k - behind]}.{digits[k - behind:]}"
                if not first + moved <= 0 <= last + moved:
                    shown += "e" + exponents.shortest_of(((first + moved, last + moved),), signed=True)
                if best is None or len(shown) < len(best):
                    best = shown

        right = self._right_exponents(state)
        k = 0
        while best is None or k < len(best):
            for first, last in right:
                offer("0" * k, first, last)
            if k:
                for first, last, y in self._insides(state, k):
                    offer(str(y).rjust(k, "0"), first, last)
            k += 1
        return best

    def _insides(self, state, k):
        """``(first E, last E, y)``: with the k digits of y > 0 appended, D makes a number of the set for these E."""
        _, side, _, rho, z, f = state
        blocks = self._blocks[side]
        for first, last, piece in self._pieces(state):
            if isinstance(piece, int):
                condition = self._classes.conditions[piece][_ONLY]
                if not condition.mask:
                    continue
                # the answer depends on n = E - f near the divisors' powers of ten alone
                near = [n + f for n in condition.divisors.turns_behind(k) if first <= n + f <= last]
                marks = [first, *(E for E in near if E > first), *([near[-1] + 1] if near and near[-1] < last else []), last + 1]
                for start, following in zip(marks, marks[1:]):
                    inside = start if start > -INFINITY else min(following - 1, 0) if following < INFINITY else 0
                    y = blocks.find_inside(_ONLY, piece, rho, z, inside - f, inside - f - k)
                    if y is not None:
                        yield start, following - 1, y
            else:
                y = blocks.find_inside(_ONLY, piece, rho, z, first - f, first - f - k)
                if y is not None:
                    yield first, last, y

    # ---------------------------------------------------------------- states that differ in residues alone
    def split(self, state):
        """See `NumberLexeme.split`."""
        if state[0] < INTEGER or state[0] == EXPONENT:
            return state, 0, 1
        kind, side, runs, rho, z, f = state
        return (kind, side, runs, z, f), rho, math.lcm(*(m.c for m in self._divisors_of(runs)[1]))

    def join(self, shape, code):
        """See `NumberLexeme.join`."""
        if shape[0] < INTEGER or shape[0] == EXPONENT:
            return shape
        kind, side, runs, z, f = shape
        return kind, side, runs, code, z, f

    def loop(self, shape):
        """See `NumberLexeme.loop`."""
        return None
