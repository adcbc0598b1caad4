"""The points of a half line, as digits narrow them down.

After the digits D, with n digits still to come before the point (-f: f digits of the fraction are read), a number lies in
the *block* ``[D, D+1) * 10**n``. A *piece* describes a block:

    int                             it lies in a cell of this class
    (member, ..., class)            an edge: it starts at a point (its membership per track), above which the class holds
    (first, last)                   it is cut by the points first to last - 1, ``first < last``

with one bool per track in an edge, so with at least two tracks an edge is longer than a cut.
"""
import bisect

from llgcy.schema.exact import Exact, int_of
from llgcy.schema.numbers.residues import meets, some_in_block, value_modulo


class Blocks:
    """The blocks of one side (see `Side`) of a lexeme with two tracks or more."""

    def __init__(self, side, classes):
        self.side, self.classes = side, classes
        # digits from the first integer digit on, or from the point on where the integer part is 0
        self._texts = ["0" * -p.order + p.digits for p in side.points]
        self._orders = [max(order, 0) for order in side.orders]

    def bounds(self, order):
        """The points with this many integer digits (0: the integer part is 0) as ``(first, last + 1)``."""
        return bisect.bisect_left(self._orders, order), bisect.bisect_right(self._orders, order)

    def runs(self):
        """The blocks of an integer part before its first digit (which is not 0): ``((n, piece), ...)``, a piece holding for n
        digits to come and for more, up to the n of the next."""
        out = []
        first, count = self.bounds(0)[1], len(self._orders)
        if first == count or self._orders[first] > 1:
            out.append((1, self.side.cells[first - 1]))
        while first < count:
            order, last = self._orders[first], bisect.bisect_right(self._orders, self._orders[first])
            out.append((order, (first, last)))
            if last == count or self._orders[last] > order + 1:
                out.append((order + 1, self.side.cells[last - 1]))
            first = last
        return tuple(out)

    def _read(self, point, n):
        """How many digits of a point's text are read."""
        return self._orders[point] - n

    def starts(self, point, n):
        """Whether the block with n digits to come starts at this point, one that it holds."""
        return len(self._texts[point]) <= self._read(point, n)

    def piece(self, first, last, n):
        """The piece of the block that holds these points."""
        side = self.side
        if first == last:
            return side.cells[first - 1]
        if last - first == 1 and self.starts(first, n):
            return side.cells[first] if side.joined[first] else (*side.members[first], side.cells[first])
        return first, last

    def narrow(self, piece, n, digit):
        """The piece after one more digit, for n digits to come before it."""
        if isinstance(piece, int):
            return piece
        if len(piece) > 2:
            return piece if digit == 0 else piece[-1]
        first, last = piece
        at, texts = self._read(first, n), self._texts
        digit_of = lambda i: ord(texts[i][at]) - 48 if at < len(texts[i]) else 0
        low = bisect.bisect_left(range(last), digit, first, last, key=digit_of)
        return self.piece(low, bisect.bisect_right(range(last), digit, low, last, key=digit_of), n - 1)

    def shift(self, runs, digit):
        """The runs after one more digit of the integer part."""
        out = []
        for i, (n, piece) in enumerate(runs):
            if i + 1 < len(runs) and runs[i + 1][0] == 1:
                continue        # it held for n = 0 alone, and now n is less
            piece = self.narrow(piece, n, digit)
            if not out or out[-1][1] != piece:
                out.append((max(n - 1, 0), piece))
        return tuple(out)

    # -------- what a block holds, per track
    def start_meets(self, track, piece, rho, z, n):
        """Whether ``D * 10**n`` is in a track; ``D = rho * 10**z`` as far as the divisors ask."""
        if isinstance(piece, tuple):
            if len(piece) > 2:
                return piece[track]
            first = piece[0]
            if self.starts(first, n):
                return self.side.members[first][track]
            piece = self.side.cells[first - 1]
        return meets(self.classes.conditions[piece][track], rho, z, n)

    def some_inside(self, track, piece, rho, z, n):
        """Whether the block holds a number of a track above its start."""
        if isinstance(piece, tuple):
            if len(piece) == 2:
                return self._some_in_cut(track, *piece, n)
            piece = piece[-1]
        return some_in_block(self.classes.conditions[piece][track], rho, z, n)

    def _some_in_cut(self, track, first, last, n):
        members, cells, conditions = self.side.members, self.side.cells, self.classes.conditions
        # cells between two points are empty only if their condition is (see map_cells)
        if any(members[i][track] for i in range(first + self.starts(first, n), last)):
            return True
        if any(conditions[cells[i]][track].mask for i in range(first, last - 1)):
            return True
        return any(condition.divisors.some_between(condition.mask, a, b) for condition, a, b in self._gaps(track, first, last, n))

    def find(self, track, piece, rho, z, n, grid):
        """A number of a track in the block (its start, too) that is a multiple of ``10**grid``, less the start, in units of
        ``10**grid``; None where there is none."""
        if self.start_meets(track, piece, rho, z, n):
            return 0
        if isinstance(piece, tuple):
            if len(piece) == 2:
                x = self._find_in_cut(track, *piece, n, grid)
                if x is None:
                    return None
                start = self._start(piece[0], n)
                return x.c * 10 ** (x.e - grid) - start.c * 10 ** (start.e - grid if start.c else 0)
            piece = piece[-1]
        condition = self.classes.conditions[piece][track]
        divisors = condition.divisors
        return divisors.find_in_block(condition.mask, value_modulo(rho, z, divisors.modulus), n, grid)

    def _find_in_cut(self, track, first, last, n, grid):
        side = self.side
        for i in range(first + self.starts(first, n), last):
            if side.members[i][track] and side.points[i].e >= grid:
                return side.points[i]
        gaps = self._gaps(track, first, last, n)
        for i in range(first, last - 1):
            gaps.append((self.classes.conditions[side.cells[i]][track], side.points[i], side.points[i + 1]))
        for condition, a, b in gaps:
            x = condition.mask and condition.divisors.find_on_grid(condition.mask, a, b, grid)
            if x:
                return x
        return None

    def _gaps(self, track, first, last, n):
        """The ends of a cut block outside its points: up to the first and from the last."""
        side, conditions = self.side, self.classes.conditions
        end = self._start(first, n, 1)
        gaps = [(conditions[side.cells[last - 1]][track], side.points[last - 1], end)]
        if not self.starts(first, n):
            gaps.append((conditions[side.cells[first - 1]][track], self._start(first, n), side.points[first]))
        return [gap for gap in gaps if gap[0].mask]

    def _start(self, point, n, more=0):
        """``(D + more) * 10**n`` for the block that holds a point."""
        read = self._read(point, n)
        return Exact.scaled(int_of(self._texts[point][:read].ljust(read, "0")) + more, n)
