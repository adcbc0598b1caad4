"""The number lexeme in plain spelling: digits, or digits with a fraction, under any condition.

Two tracks: W, the numbers that may be written with digits alone, and R, those that may be written with a fraction.

After the digits D (of the integer part) a text goes on to ``D * 10**n`` or into ``(D, D+1) * 10**n``, for the number n of
digits that still follow before the point; after f digits of the fraction n is -f for good. So a state says what these
blocks look like (see `blocks`), and what divisibility needs to know of D (see `residues`); the digits are forgotten.
"""
from llgcy.errors import LimitError
from llgcy.schema.exact import DIGITS, ONE, Exact, digits_of
from llgcy.schema.numbers.blocks import Blocks, Cut, Edge, cell_of
from llgcy.schema.numbers.residues import append, merge_residues, meets, moduli, reachable, reduce
from llgcy.schema.numbers.sides import NOTHING, Classes, build_sides

# Kinds of states, with the fields that follow. Where no piece is cut the side no longer matters, and is 0.
START = 0            #
MINUS = 1            #
ZERO = 2             # side                      a lone 0
INTEGER = 3          # side, runs, rho, z        runs: Blocks.runs by n, from 0 on
POINT = 4            # side, piece, rho, z, 0    just after the point
FRACTION = 5         # side, piece, rho, z, f    after f digits of the fraction
SETTLED_POINT = 6    # here, later               just after the point: accepted with zeros alone; with any other digit
SETTLED = 7          # here, later               the same after a digit of the fraction

W, R = 0, 1

# Residues are merged where there are few, and few places behind the point to look at.
_MERGED_RESIDUES = 256
_MERGED_PLACES = 12

_DIGIT_0, _DIGIT_9, _MINUS, _POINT = b"09-."


class PlainLexeme:
    """One formula in plain spelling, as an automaton over bytes. States are tuples; equal ones have one future.

    Parameters
    ----------
    digits_only, fractional : Line
        W and R, over the same values and the same divisors, 1 among them.

    Raises
    ------
    LimitError
        Numbers of the formula, or all that meet it, need more than `DIGITS` digits before or behind the point. Where only
        a bound lies beyond ``10**DIGITS``, numbers from there on are left out of the set, so that no text dies of it.
    """

    def __init__(self, digits_only, fractional):
        divisors = digits_only.divisors
        integers = divisors.has[divisors.ms.index(ONE)]
        far = any(q.order > DIGITS for q in digits_only.values)
        tracks = []
        for track, line in enumerate((digits_only, fractional)):
            tracks.append(halves := [])
            for negative in (False, True):
                points, members, cells = line.half(negative)
                if far:
                    points, members, cells = _within_digits(points, members, cells)
                if negative:
                    members = [0, *members[1:]]     # -0 is no plain number
                if track == W:
                    members = [member if p.is_integer else 0 for p, member in zip(points, members)]
                    cells = [cell & integers for cell in cells]
                halves.append((points, members, cells))
        self._classes = Classes()
        self._sides = build_sides(tracks, divisors, self._classes, integer_track=W)
        self._divisors = tuple(sorted({m for conditions in self._classes.conditions for c in conditions for m in c.divisors.ms}))
        # by class: the class with this condition in R and nothing in W. All are made here: the automaton is shared by all
        # grammars with the formula, so nothing that numbers things may change afterwards.
        self._fraction_classes = [self._classes.number((NOTHING, conditions[R])) for conditions in self._classes.conditions[:]]
        self._fraction_classes += range(len(self._fraction_classes), len(self._classes.conditions))
        self._merged, self._needed = {}, {}     # memos of pure answers
        self._check_limits()
        self._blocks = {side.number: Blocks(side, self._classes, 0) for side in self._sides}
        self._first_runs = {number: blocks.runs(1) for number, blocks in self._blocks.items()}
        #: Whether no number in plain spelling meets the formula.
        self.empty = not any(any(side.zero) or any(side.others) for side in self._sides)
        if self.empty and far:
            raise LimitError(f"every number that meets the condition has more than {DIGITS} digits before the point; "
                             f"number_spelling='any' writes them with exponents")

    def _check_limits(self):
        for x in (*self._divisors, *(p for side in self._sides for p in side.points)):
            if x.e < -DIGITS:
                raise LimitError(f"the number {x} needs {-x.e} digits behind the point; plain spelling has {DIGITS}, "
                                 f"number_spelling='any' has no such limit")
        for m in self._divisors:
            if m.e > DIGITS:
                raise LimitError(f"multiples of {m} need {m.e} digits before the point; plain spelling has {DIGITS}, "
                                 f"number_spelling='any' has no such limit")

    # ---------------------------------------------------------------- the automaton
    def start(self):
        """The state before the first byte."""
        return (START,)

    def step(self, state, byte):
        """The state after one more byte; None where no text that meets the formula goes on so."""
        after = self._follow(state, byte)
        return after if after is not None and self._alive(after) else None

    def accepts(self, state):
        """Whether the text may end here."""
        kind = state[0]
        if kind == INTEGER:
            _, side, runs, rho, z = state
            return self._blocks[side].start_meets(W, runs[0][1], rho, z, 0)
        if kind == FRACTION:
            _, side, piece, rho, z, f = state
            return self._blocks[side].start_meets(R, piece, rho, z, -f)
        if kind == ZERO:
            return self._blocks[state[1]].side.members[0][W]
        return kind == SETTLED and state[1]

    def shortest(self, state):
        """A shortest completion, as bytes."""
        kind = state[0]
        if self.accepts(state):
            return b""
        if kind == INTEGER:
            return self._integer_tail(state).encode()
        if kind in (SETTLED, SETTLED_POINT):
            return b"0" if state[1] else b"1"
        if kind in (POINT, FRACTION):
            _, side, piece, rho, z, f = state
            return self._fraction_tail(side, piece, rho, z, -f, None).encode()
        if kind == ZERO:
            return b"." + self.shortest(self._follow(state, _POINT))
        return min((bytes([byte]) + self.shortest(after) for byte in b"0123456789-"
                    for after in [self.step(state, byte)] if after is not None), key=len)

    # -------- states that differ in residues alone
    def split(self, state):
        """See `NumberLexeme.split`."""
        kind = state[0]
        if kind == INTEGER:
            *shape, rho, z = state
        elif kind in (POINT, FRACTION):
            *shape, rho, z, f = state
            shape.append(f)
        else:
            return state, 0, 1
        modulus, zeros = self._moduli(shape)
        return tuple(shape), z * modulus + rho, modulus * (zeros + 1)

    def join(self, shape, code):
        """See `NumberLexeme.join`."""
        if shape[0] not in (INTEGER, POINT, FRACTION):
            return shape
        z, rho = divmod(code, self._moduli(shape)[0])
        return (*shape, rho, z) if shape[0] == INTEGER else (*shape[:-1], rho, z, shape[-1])

    def loop(self, shape):
        """See `NumberLexeme.loop`."""
        if shape[0] != INTEGER or len(shape[2]) > 1 or not isinstance(shape[2][0][1], int):
            return None
        modulus, zeros = self._moduli(shape)
        return None if modulus * (zeros + 1) <= _MERGED_RESIDUES else (modulus, zeros)

    def _moduli(self, shape):
        """Those of the residues in states of a shape: ``(INTEGER, side, runs)`` or ``(kind, side, piece, f)``."""
        if shape[0] == INTEGER:
            return moduli(self._integer_divisors(shape[2])[1], 0)
        condition = self._fraction_condition(shape[2])
        return moduli(self._divisors if condition is None else condition.divisors.ms, shape[3])

    def _follow(self, state, byte):
        """The state after one more byte that the syntax allows, alive or not."""
        kind = state[0]
        digit = byte - _DIGIT_0 if _DIGIT_0 <= byte <= _DIGIT_9 else -1
        if kind == INTEGER:
            _, side, runs, rho, z = state
            if digit >= 0:
                return self._integer(side, self._shift(side, runs, digit), *append(rho, z, digit))
            if byte == _POINT:
                return self._fraction(POINT, side, runs[0][1], rho, z, 0)
        elif kind in (SETTLED, SETTLED_POINT):
            if digit >= 0:
                return SETTLED, state[1] if digit == 0 else state[2], state[2]
        elif kind in (POINT, FRACTION):
            if digit >= 0:
                _, side, piece, rho, z, f = state
                return self._fraction(FRACTION, side, self._blocks[side].narrow(piece, -f, digit), *append(rho, z, digit), f + 1)
        elif kind == ZERO:
            if byte == _POINT:
                return self._fraction(POINT, state[1], self._blocks[state[1]].piece_of_order(0), 0, DIGITS, 0)
        elif digit >= 0:
            side = self._sides[kind == MINUS].number
            return self._integer(side, self._shift(side, self._first_runs[side], digit), digit, 0) if digit else (ZERO, side)
        elif byte == _MINUS and kind == START:
            return (MINUS,)
        return None

    def _alive(self, state):
        kind = state[0]
        if kind == INTEGER:
            return self._integer_alive(state)
        if kind in (SETTLED, SETTLED_POINT):
            return state[1] or state[2]
        if kind in (POINT, FRACTION):
            _, side, piece, rho, z, f = state
            blocks = self._blocks[side]
            return blocks.start_meets(R, piece, rho, z, -f) or blocks.some_inside(R, piece, rho, z, -f)
        if kind == ZERO:
            return self.accepts(state) or self._alive(self._follow(state, _POINT))
        return any(self.step(state, byte) is not None for byte in b"1234567890-")

    # ---------------------------------------------------------------- integer part
    def _integer(self, side, runs, rho, z):
        """The state with these runs after the digits ``rho * 10**z``, in normal form."""
        cut, ms = self._integer_divisors(runs)
        rho, z = reduce(rho, z, *moduli(ms, 0))
        if not cut:
            side = 0
            if rho or z:
                rho, z = self._merge(runs, ms, rho, z)
        return INTEGER, side, runs, rho, z

    def _shift(self, side, runs, digit):
        """The runs after one more digit of the integer part: one digit less is to come in each."""
        narrow, out = self._blocks[side].narrow, []
        for i, (n, piece) in enumerate(runs):
            if i + 1 < len(runs) and runs[i + 1][0] == 1:
                continue        # it holds for n = 0 alone
            piece = narrow(piece, n, digit)
            if not out or out[-1][1] != piece:
                out.append((max(n - 1, 0), piece))
        return tuple(out)

    def _integer_divisors(self, runs):
        """Whether a block is cut, and the divisors that matter."""
        cells = []
        for _, piece in runs:
            if isinstance(piece, Cut):
                return True, self._divisors
            cells.append(cell_of(piece))
        cells = tuple(cells)
        needed = self._needed.get(cells)
        if needed is None:
            conditions = [c for cell in cells for c in self._classes.conditions[cell]]
            needed = self._needed[cells] = tuple(sorted({m for c in conditions for m in c.divisors.ms}))
        return False, needed

    def _merge(self, runs, ms, rho, z):
        """The first residue with the same future: 307 and 407 become multiples of 100 by the same digits."""
        modulus, zeros = moduli(ms, 0)
        if modulus * (zeros + 1) > _MERGED_RESIDUES or ms[0].e < -_MERGED_PLACES:
            return rho, z
        classes = frozenset(cell_of(piece) for _, piece in runs)
        table = self._merged.get(classes)
        if table is None:
            pairs = [self._classes.conditions[c] for c in sorted(classes)]
            table = self._merged[classes] = merge_residues([pair[W] for pair in pairs], [pair[R] for pair in pairs], ms)
        return table[rho, z]

    def _integer_alive(self, state):
        _, side, runs, rho, z = state
        blocks, conditions = self._blocks[side], self._classes.conditions
        for i, (n, piece) in enumerate(runs):
            if not isinstance(piece, int):
                if any(blocks.start_meets(track, piece, rho, z, n) or blocks.some_inside(track, piece, rho, z, n) for track in (W, R)):
                    return True
                continue
            for condition in conditions[piece]:
                if condition.mask and (i + 1 == len(runs) or reachable(condition, rho, z, n, runs[i + 1][0] - 1)):
                    return True
        return False

    def _integer_tail(self, state):
        """A shortest completion of an integer part that is not accepted: for n digits more before the point, n of them alone,
        or n + 2 at least with a fraction."""
        _, side, runs, rho, z = state
        blocks, conditions, best = self._blocks[side], self._classes.conditions, None
        for i, (first, piece) in enumerate(runs):
            if isinstance(piece, int) and not any(c.mask for c in conditions[piece]):
                continue
            n = first
            while (best is None or n < len(best)) and (i + 1 == len(runs) or n < runs[i + 1][0]):
                y = blocks.find(W, piece, rho, z, n, 0)
                if y is not None:
                    return _spelled(y, n)
                tail = self._fraction_tail(side, piece, rho, z, n, best and len(best) - 1)
                if tail is not None:
                    best = tail[:n] + "." + tail[n:]
                n += 1
        return best

    # ---------------------------------------------------------------- fraction
    def _fraction(self, kind, side, piece, rho, z, f):
        """The state after f digits of the fraction, with D = rho * 10**z in units of 10**-f, in normal form."""
        condition = self._fraction_condition(piece)
        if condition is None:
            return kind, side, piece, *reduce(rho, z, *moduli(self._divisors, f)), f
        ms = condition.divisors.ms
        if all(m.e >= -f for m in ms):      # from here on only zeros keep the value, and with others no divisor is left
            here = piece.members[R] if isinstance(piece, Edge) else meets(condition, rho, z, -f)
            return SETTLED_POINT if kind == POINT else SETTLED, here, bool(condition.mask & 1)
        cell = self._fraction_classes[cell_of(piece)]
        piece = Edge((False, piece.members[R]), cell) if isinstance(piece, Edge) else cell
        return (kind, 0, piece, *reduce(rho, z, *moduli(ms, f)), f)

    def _fraction_condition(self, piece):
        """The condition in R of a block's cell; None if it is cut."""
        cell = cell_of(piece)
        return None if cell is None else self._classes.conditions[cell][R]

    def _fraction_tail(self, side, piece, rho, z, n, below):
        """The digits of a shortest rest with a fraction, n of them before the point (n <= 0: the point is read); None if there
        is none with fewer than `below` (None: any number)."""
        blocks = self._blocks[side]
        if not (blocks.start_meets(R, piece, rho, z, n) or blocks.some_inside(R, piece, rho, z, n)):
            return None
        count = max(n, 0) + 1
        while below is None or count < below:
            y = blocks.find(R, piece, rho, z, n, n - count)
            if y is not None:
                return _spelled(y, count)
            count += 1
        return None


def _within_digits(points, members, cells):
    """The set below ``10**DIGITS``."""
    near = sum(p.order <= DIGITS for p in points)
    return [*points[:near], Exact(False, 1, DIGITS)], [*members[:near], 0], [*cells[:near], 0]


def _spelled(y, count):
    """y >= 0 in `count` digits."""
    return digits_of(y).rjust(count, "0") if count else ""
