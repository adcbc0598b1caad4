"""The points of a half line, as digits narrow them down.

After digits D the numbers of a text lie in *blocks* ``[D, D+1) * 10**n``, one for each power of ten n of D's last digit that the
text may still end with. A *piece* describes a block: the class of cells (an int) that it lies in, an `Edge` or a `Cut`.
"""
import bisect
from typing import NamedTuple

from llgcy.schema.exact import Exact, int_of
from llgcy.schema.numbers.residues import INFINITY, meets, some_in_block, value_modulo


class Edge(NamedTuple):
    """A block that starts at a point and holds no other."""

    members: tuple      # of bool: whether the point is in each track
    cell: int           # class of the cell above it


class Cut(NamedTuple):
    """A block that holds the points `first` to ``last - 1``, more than an Edge says."""

    first: int
    last: int


def cell_of(piece):
    """The class of cells that a block lies in, but for its start; None if it is cut."""
    return piece if isinstance(piece, int) else piece.cell if isinstance(piece, Edge) else None


class Blocks:
    """The blocks of one side of a lexeme.

    Parameters
    ----------
    side : Side
    classes : Classes
    lowest : int or -inf
        Orders below this count as this much: 0 where the digits before the point are written out, so that ``0.05`` is
        the digits 05 after the point; -inf where an exponent may follow.
    """

    def __init__(self, side, classes, lowest):
        self.side, self.classes = side, classes
        self._orders = [max(order, lowest) for order in (-INFINITY, *side.orders[1:])]
        # digits from the first place of an order on
        self._texts = ["", *("0" * (max(lowest, order) - order) + digits for order, digits in zip(side.orders[1:], side.digits[1:]))]

    def piece_of_order(self, order):
        """The piece of all numbers of an order."""
        return self._piece(bisect.bisect_left(self._orders, order), bisect.bisect_right(self._orders, order), order)

    def runs(self, start):
        """The blocks before the first digit (which is not 0), by the order of the number: ``((order, piece), ...)``, a piece
        holding for its order and those above, up to the next; from order `start` on."""
        orders, cells = self._orders, self.side.cells
        first, count = bisect.bisect_right(orders, start - 1), len(orders)
        out = []
        if first == count or orders[first] > start:
            out.append((start, cells[first - 1]))
        while first < count:
            order, last = orders[first], bisect.bisect_right(orders, orders[first])
            out.append((order, Cut(first, last)))
            if last == count or orders[last] > order + 1:
                out.append((order + 1, cells[last - 1]))
            first = last
        return tuple(out)

    def _read(self, point, n):
        """How many digits of a point's text are read in the block of n that holds it."""
        return self._orders[point] - n

    def _starts(self, point, n):
        """Whether a block starts at this point, one that it holds."""
        return len(self._texts[point]) <= self._read(point, n)

    def _piece(self, first, last, n):
        side = self.side
        if first == last:
            return side.cells[first - 1]
        if last - first == 1 and self._starts(first, n):
            return side.cells[first] if side.joined[first] else Edge(side.members[first], side.cells[first])
        return Cut(first, last)

    def narrow(self, piece, n, digit):
        """The piece at n - 1 after one more digit."""
        if isinstance(piece, int):
            return piece
        if isinstance(piece, Edge):
            return piece.cell if digit else piece
        first, last = piece
        at, texts = self._read(first, n), self._texts
        digit_of = lambda i: ord(texts[i][at]) - 48 if at < len(texts[i]) else 0
        low = bisect.bisect_left(range(last), digit, first, last, key=digit_of)
        return self._piece(low, bisect.bisect_right(range(last), digit, low, last, key=digit_of), n - 1)

    # -------- what a block holds, per track; D = rho * 10**z as far as divisors ask
    def start_meets(self, track, piece, rho, z, n):
        """Whether ``D * 10**n`` is in a track."""
        if isinstance(piece, Edge):
            return piece.members[track]
        if isinstance(piece, Cut):
            first = piece.first
            if self._starts(first, n):
                return self.side.members[first][track]
            piece = self.side.cells[first - 1]
        return meets(self.classes.conditions[piece][track], rho, z, n)

    def some_inside(self, track, piece, rho, z, n):
        """Whether the block holds a number of a track above its start."""
        if isinstance(piece, Cut):
            return self._some_in_cut(track, *piece, n)
        return some_in_block(self.classes.conditions[cell_of(piece)][track], rho, z, n)

    def _some_in_cut(self, track, first, last, n):
        members, cells, conditions = self.side.members, self.side.cells, self.classes.conditions
        # cells between two points are empty only if their condition is (see sides.map_cells)
        if any(members[i][track] for i in range(first + self._starts(first, n), last)):
            return True
        if any(conditions[cells[i]][track].mask for i in range(first, last - 1)):
            return True
        return any(condition.divisors.some_between(condition.mask, a, b) for condition, a, b in self._gaps(track, first, last, n))

    def find(self, track, piece, rho, z, n, grid):
        """A number of a track in the block that is a multiple of ``10**grid``, ``grid <= n``, less the start of the block, in units
        of ``10**grid``; None where there is none."""
        return 0 if self.start_meets(track, piece, rho, z, n) else self.find_inside(track, piece, rho, z, n, grid)

    def find_inside(self, track, piece, rho, z, n, grid):
        """The same above the start."""
        if isinstance(piece, Cut):
            x = self._find_in_cut(track, *piece, n, grid)
            if x is None:
                return None
            start = self._start(piece.first, n)
            return x.c * 10 ** (x.e - grid) - (start.c * 10 ** (start.e - grid) if start else 0)
        condition = self.classes.conditions[cell_of(piece)][track]
        divisors = condition.divisors
        return divisors.find_in_block(condition.mask, value_modulo(rho, z, divisors.modulus), n, grid)

    def _find_in_cut(self, track, first, last, n, grid):
        side = self.side
        for i in range(first + self._starts(first, n), last):
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
        """The ends of a cut block outside its points: from the last on, and up to the first."""
        side, conditions = self.side, self.classes.conditions
        gaps = [(conditions[side.cells[last - 1]][track], side.points[last - 1], self._start(first, n, 1))]
        if not self._starts(first, n):
            gaps.append((conditions[side.cells[first - 1]][track], self._start(first, n), side.points[first]))
        return [gap for gap in gaps if gap[0].mask]

    def _start(self, point, n, more=0):
        """``(D + more) * 10**n`` for the block that holds a point."""
        read = self._read(point, n)
        return Exact.scaled(int_of(self._texts[point][:read].ljust(read, "0")) + more, n)
