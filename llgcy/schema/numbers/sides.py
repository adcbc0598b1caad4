"""Half lines in normal form: what a lexeme needs of a formula once the sign of a number is read.

A half line is cut into points 0 = p_0 < p_1 < ... and the open cells above them. There are one or more *tracks*, sets that
are read side by side (plain spelling has one for digits alone and one for texts with a fraction): a point has a
membership per track, a cell a `Condition` per track. Points that change nothing are dropped and conditions are reduced to
the divisors that matter, since every point and every divisor left multiplies the states.
"""
import functools
from typing import NamedTuple

from llgcy.schema.exact import ONE, Exact
from llgcy.schema.numbers.divisors import Divisors, divisors_of, ratio


class Condition(NamedTuple):
    """Which divisors may divide: a `Divisors` and a condition of it (never one that another Divisors says with less)."""

    divisors: Divisors
    mask: int


NOTHING = Condition(divisors_of(()), 0)


@functools.lru_cache(4096)
def reduce_condition(divisors, condition, universe, integers):
    """The condition over the divisors that matter within a universe (a condition, too). With `integers` the universe is
    that of the integers, and the divisor 1 stays, as the condition alone must say so."""
    js = divisors.essential(condition, universe)
    if integers and condition:
        one = divisors.ms.index(ONE)
        if one not in js:
            js = sorted([*js, one])
    return Condition(*divisors.project(condition, js))


class Side:
    """One half line.

    Attributes
    ----------
    number : int
        Equal half lines have one number.
    points : list of Exact
        Ascending from zero.
    digits : list of str
        Their significant digits, without zeros at either end.
    orders : list of int
        Their digits before the decimal point (see `Exact.order`), 0 for zero.
    members : list of tuple of bool
        Per point and track.
    zero, others : tuple of bool
        Per track: whether zero is in it; whether any other number is.
    cells : list of int
        Class of the cell above each point: index into the `Classes` of the lexeme.
    joined : list of bool
        Whether a point is in each track exactly if its divisors would put it into the cell above.
    """

    def __init__(self, number, points, members, cells, joined, others):
        self.number, self.points, self.members, self.cells, self.joined = number, points, members, cells, joined
        self.zero, self.others = members[0], others
        self.digits = [p.digits for p in points]
        self.orders = [p.order for p in points]


class Classes:
    """The classes of cells that occur in a lexeme: tuples of one Condition per track, numbered."""

    def __init__(self):
        self.conditions, self._numbers = [], {}

    def number(self, conditions):
        key = tuple((c.divisors.ms, c.mask) for c in conditions)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.conditions)
            self.conditions.append(conditions)
        return found


def build_sides(tracks, divisors, classes, integer_track=None):
    """The two sides (positive, negative) of some tracks over the same points.

    Parameters
    ----------
    tracks : per track, per sign: (points, point conditions, cell conditions)
        As `Line.half` gives them; every track has the same points.
    divisors : Divisors
    classes : Classes
        Receives the classes.
    integer_track : int, optional
        The track in which only integers count; its cells must be subsets of "a multiple of 1".
    """
    universes = [divisors.has[divisors.ms.index(ONE)] if i == integer_track else divisors.full for i in range(len(tracks))]
    sides, known = [], {}
    for sign in range(2):
        points = tracks[0][sign][0]
        members = list(zip(*([bool(c) for c in track[sign][1]] for track in tracks)))
        cells = list(zip(*(map_cells(divisors, points, track[sign][2], universe) for track, universe in zip(tracks, universes))))
        if integer_track is not None and not any(
                part[i] for i in range(len(tracks)) if i != integer_track for part in (*members, *cells)):
            points, members, cells = bounds_to_integers(divisors, integer_track, points, members, cells)
        points, members, cells, joined = drop_points(divisors, points, members, cells)
        numbers = [classes.number(tuple(reduce_condition(divisors, mask, universes[i], i == integer_track) for i, mask in enumerate(cell)))
                   for cell in cells]
        key = tuple(points), tuple(members), tuple(numbers)
        if key not in known:
            # a cell without numbers has no condition (see map_cells)
            others = tuple(any(part[i] for part in (*members[1:], *cells)) for i in range(len(tracks)))
            known[key] = Side(len(known), points, members, numbers, joined, others)
        sides.append(known[key])
    return sides


def map_cells(divisors, points, cells, universe):
    """The conditions of cells, 0 where no number of the cell meets them, all of the universe where all do."""
    out = []
    for i, mask in enumerate(cells):
        if mask and i + 1 < len(points) and not (mask == universe == divisors.full):
            live = sum(1 << k for k in divisors.members(universe) if divisors.some_between(1 << k, points[i], points[i + 1]))
            mask &= live
            if mask == live and mask:
                mask = universe
        out.append(mask)
    return out


def is_member(divisors, x, mask):
    return bool(divisors.exactly(x) & mask)


def bounds_to_integers(divisors, track, points, members, cells):
    """The same integers with bounds that are integers and belong to the cell above them: < 18 for <= 17 and for < 17.3."""
    out, below = {}, None
    for p, member, cell in zip(points, members, cells):
        if below is not None:
            upper, lower = is_member(divisors, p, cell[track]), is_member(divisors, p, below[track])
            if p.e < 0 or member[track] != upper and member[track] == lower:
                p = Exact.scaled(ratio(p, ONE) + 1)
                member = tuple(i == track and is_member(divisors, p, cell[track]) for i in range(len(cell)))
        out[p] = member, cell       # of two at one place the later: no integer lies between
        below = cell
    return list(out), [member for member, _ in out.values()], [cell for _, cell in out.values()]


def drop_points(divisors, points, members, cells):
    """Without the points at which nothing changes; and which of the others join the cell above."""
    keep, joined = [], []
    for i, p in enumerate(points):
        exact = divisors.exactly(p)
        with_above = all(member == bool(mask & exact) for member, mask in zip(members[i], cells[i]))
        if not keep or cells[i] != cells[keep[-1]] or not with_above:
            keep.append(i)
            joined.append(with_above)
    return [points[i] for i in keep], [members[i] for i in keep], [cells[i] for i in keep], joined
