"""Divisibility inside an interval, decided exactly and without listing multiples.

Of several divisors, the ones that divide a given number form a *closed set* T: every divisor that divides lcm(T) is in
it. A condition on divisibility is a set of closed sets, held as a bit mask, so that and, or and not are bit operations
and no case of "multiple of 2 but not of 3" needs code of its own.

A number has exactly T iff it is t * lcm(T) where no n_i = lcm(T, m_i) / lcm(T), for the divisors m_i outside T, divides
the integer t. Of 2**r consecutive integers one is free of r such n_i (Kanold's bound on Jacobsthal's function), so a look
at few t decides any interval, and a long interval needs none. Where T is empty such numbers are dense: every open
interval holds some.
"""
import functools
import math

from llgcy.errors import LimitError
from llgcy.schema.exact import DIGITS, Exact

#: Most different divisors in one formula: a condition is a subset of 2**8 sets.
DIVISORS = 8
#: The lcm of the divisors' significant digits stays below this.
MODULUS = 2 ** 127

# An interval longer than 10**_LONG units holds 2**DIVISORS + 1 consecutive multiples of the unit.
_LONG = 3


def valuations(c):
    """``(a, b, rest)`` with ``c == 2**a * 5**b * rest``, for c > 0."""
    a = (c & -c).bit_length() - 1
    c >>= a
    b = 0
    while c % 5 == 0:
        c //= 5
        b += 1
    return a, b, c


def lcm(x, y):
    """The least common multiple of two positive Exact; its digits divide the lcm of theirs."""
    a, b, p = valuations(x.c)
    c, d, q = valuations(y.c)
    twos, fives = max(a + x.e, c + y.e), max(b + x.e, d + y.e)
    e = min(twos, fives)
    return Exact(False, math.lcm(p, q) * 2 ** (twos - e) * 5 ** (fives - e), e)


def ratio(x, q, up=False):
    """``floor(x / q)`` of non-negative Exact, or the ceiling. Costs the digits of the quotient."""
    if x.e >= q.e:
        a, b = x.c * 10 ** (x.e - q.e), q.c
    elif x.order < q.order:     # x < q: do not write out a far power of ten
        return int(up and x.c > 0)
    else:
        a, b = x.c, q.c * 10 ** (q.e - x.e)
    return -(-a // b) if up else a // b


@functools.lru_cache(512)
def divisors_of(ms):
    """The `Divisors` of a sorted tuple, remembered: few combinations occur."""
    return Divisors(ms)


class Divisors:
    """Some divisors m_0 < m_1 < ... and their closed sets.

    Attributes
    ----------
    ms : tuple of Exact
        The divisors, positive, ascending.
    closed : list of int
        The closed sets, each a bit mask over `ms`; bit k of a *condition* stands for ``closed[k]``.
    units : list of Exact or None
        ``lcm(closed[k])``; None for the empty set.
    full : int
        The condition that every number meets.
    has : list of int
        ``has[j]``: the condition "a multiple of m_j".
    modulus : int
        The lcm of the significant digits.
    """

    def __init__(self, ms):
        if len(ms) > DIVISORS:
            raise LimitError(f"{len(ms)} different divisors in the condition on one number; the limit is {DIVISORS}")
        self.ms = ms
        self.modulus = math.lcm(*(m.c for m in ms))
        if self.modulus >= MODULUS:
            raise LimitError("the least common multiple of the divisors of one number exceeds 2^127")
        units = {0: None}
        for subset in range(1, 1 << len(ms)):
            unit = functools.reduce(lcm, (m for j, m in enumerate(ms) if subset >> j & 1))
            units.setdefault(sum(1 << j for j, m in enumerate(ms) if m.divides(unit)), unit)
        self.closed, self.units = list(units), list(units.values())
        self._bit = {subset: 1 << k for k, subset in enumerate(self.closed)}
        self.full = (1 << len(self.closed)) - 1
        self.has = [sum(1 << k for k, subset in enumerate(self.closed) if subset >> j & 1) for j in range(len(ms))]
        # per divisor: digits, power of ten, and the powers of ten after which more of them change nothing
        self._parts = [(m.c, m.e, max(valuations(m.c)[:2])) for m in ms]

    def exactly(self, x):
        """The one-bit condition of a magnitude: which divisors divide it."""
        return self._bit[sum(1 << j for j, m in enumerate(self.ms) if m.divides(x))]

    def exactly_residue(self, rho, z, n):
        """The same for ``D * 10**n`` where only ``D = rho * 10**z`` is known: rho modulo `modulus`, and the zeros z at the
        end of D, counted at least as far as ``m.e - n`` for every m."""
        found = 0
        for j, (c, e, _) in enumerate(self._parts):
            t = z + n - e
            if t >= 0 and rho * pow(10, t, c) % c == 0:
                found |= 1 << j
        return self._bit[found]

    def turns(self, z):
        """The n at which ``exactly_residue(rho, z, n)`` may differ from that of n - 1, for any rho."""
        return sorted({e - z + t for _, e, zeros in self._parts for t in range(zeros + 1)})

    def turns_behind(self, k):
        """The same for numbers ``(D * 10**k + y) * 10**(n-k)`` with ``0 < y < 10**k``, whatever their zeros."""
        return sorted({n for _, e, zeros in self._parts for n in range(e, e + k + zeros + 1)})

    def scales(self, condition):
        """The n near which ``some_in_block(condition, D, n)`` may differ from n - 1: below all it is that of any n below,
        above all that of any n above."""
        return sorted({n for k in self.members(condition) if k for q in (self.units[k],)
                       for n in range(q.e, q.e + len(str(q.c)) + _LONG + 1)})

    def last_place(self, condition):
        """A power of ten that numbers of a condition need not go below: some multiple of ``10**place`` is among those of any
        magnitude from there on. Infinite where they may end with any number of zeros."""
        best = -math.inf
        for k in self.members(condition):
            unit = self.units[k]
            rest = 1 if unit is None else valuations(unit.c)[2]
            place = math.inf
            for j, m in enumerate(self.ms):
                a, b, own = valuations(m.c)
                # once all primes but 2 and 5 are there, enough zeros at the end make it a multiple
                if not self.closed[k] >> j & 1 and rest % own == 0:
                    place = min(place, m.e + max(a, b) - 1)
            best = max(best, place)
        return best

    @staticmethod
    def members(condition):
        """The indexes of the closed sets in a condition."""
        k = 0
        while condition:
            if condition & 1:
                yield k
            condition >>= 1
            k += 1

    # -------- the open interval (D, D+1) * 10**n, where D counts only modulo `modulus`
    def some_in_block(self, condition, D, n):
        """Whether a number of the condition lies in the open interval ``(D, D+1) * 10**n``.

        It is enough to know D modulo `modulus`: if y = y' * 10**w < 10**n is added, with y' no multiple of 10, then m = c
        * 10**e divides the sum iff w >= e and c divides ``(D * 10**(n-w) + y') * 10**(w-e)``.
        """
        for k in self.members(condition):
            q = self.units[k]
            if q is None:
                return True
            room = n - q.e
            if room >= 0 and (room > len(str(q.c)) + _LONG or self._scan(k, q, D * 10 ** room, (D + 1) * 10 ** room) is not None):
                return True
        return False

    def find_in_block(self, condition, D, n, grid):
        """Some number of the condition in ``(D, D+1) * 10**n`` that is a multiple of ``10**grid``, less ``D * 10**n``, in
        units of ``10**grid``; None where there is none."""
        width = 10 ** (n - grid) if n > grid else 1
        best = None
        for k in self.members(condition):
            q = self._on_grid(k, grid)
            if q is None or q.e > n:
                continue
            scale = 10 ** (n - q.e)
            t = self._scan(k, q, D * scale, (D + 1) * scale)
            if t is not None:
                y = t * q.c * 10 ** (q.e - grid) - D * width
                best = y if best is None else min(best, y)
        return best

    def _on_grid(self, k, grid):
        """The unit of the numbers of closed set k that are multiples of ``10**grid``; None where there are none."""
        step = Exact(False, 1, grid)
        q = step if self.units[k] is None else lcm(self.units[k], step)
        return q if self.exactly(q) == 1 << k else None

    def _scan(self, k, q, low, high):
        """The first t with ``low < t * q.c < high`` such that t * q has exactly closed set k."""
        first = low // q.c + 1
        last = min((high - 1) // q.c, first + (1 << len(self.ms)))
        for t in range(first, last + 1):
            if self.exactly(Exact.scaled(t * q.c, q.e)) == 1 << k:
                return t
        return None

    # -------- the open interval between two numbers
    def some_between(self, condition, low, high):
        """Whether a number of the condition lies strictly between two magnitudes (`high` None: no bound)."""
        return any(self._some(k, low, high) for k in self.members(condition))

    def _some(self, k, low, high):
        q = self.units[k]
        # Numbers have at most DIGITS digits, and blocks are cut from them: two that are much longer than q are far apart.
        return (q is None or high is None or high.order >= q.order
                and (high.order - q.order > 2 * DIGITS or self._within(k, q, low, high) is not None))

    def find_between(self, condition, low, high):
        """Some number of the condition strictly between two magnitudes (`high` None: no bound), with few digits; None
        where there is none.

        Raises LimitError where there are some, but all with more digits than two numbers and a divisor account for.
        """
        beyond = False
        for k in self.members(condition):
            if not self._some(k, low, high):
                continue
            beyond = True
            for grid in self._grids(low, high):
                x = self._on_grid_between(k, low, high, grid)
                if x is not None:
                    return x
        if beyond:
            raise LimitError(f"every number that meets the condition needs more than {DIGITS} digits")
        return None

    def find_on_grid(self, condition, low, high, grid):
        """The same among the multiples of ``10**grid``; None also where they are too long to name."""
        return next((x for k in self.members(condition) for x in [self._on_grid_between(k, low, high, grid)] if x is not None), None)

    def _on_grid_between(self, k, low, high, grid):
        q = self._on_grid(k, grid)
        if q is None or max(low.order, q.order) - q.e > 2 * DIGITS:
            return None
        return self._within(k, q, low, high)

    def _grids(self, low, high):
        """Grids on which to look for a number: from coarse, where it has few digits, to fine enough for certain."""
        ends = [low.e, *(m.e for m in self.ms), 0]
        top = low.order + 1
        if high is not None:
            ends.append(high.e)
            top = high.order
        finest = min(ends) - 2
        return sorted({e - i for e in (top, *ends) for i in range(4) if e - i >= finest} | {finest}, reverse=True)

    def _within(self, k, q, low, high):
        """The first multiple of q strictly between that has exactly closed set k."""
        if high is not None and high.order < q.order:
            return None
        first = ratio(low, q) + 1
        last = first + (1 << len(self.ms))
        if high is not None and high.order <= max(low.order, q.order) + _LONG:      # else none of these gets so far
            last = min(last, ratio(high, q, up=True) - 1)
        for t in range(first, last + 1):
            x = Exact.scaled(t * q.c, q.e)
            if self.exactly(x) == 1 << k:
                return x
        return None

    # -------- conditions that do not need all divisors
    def essential(self, condition, universe):
        """The indexes of divisors that tell the members of a condition from the rest of a universe (a condition, too).

        Dropped one at a time: of 6, 10 and 15 any two imply the third.
        """
        js = (1 << len(self.ms)) - 1
        inside = list(self.members(universe))
        for j in range(len(self.ms)):
            less = js & ~(1 << j)
            seen = {}
            if all(seen.setdefault(self.closed[k] & less, condition >> k & 1) == condition >> k & 1 for k in inside):
                js = less
        return [j for j in range(len(self.ms)) if js >> j & 1]

    def project(self, condition, js):
        """The condition over the divisors `js` alone: ``(Divisors, condition)``."""
        small = divisors_of(tuple(self.ms[j] for j in js))
        mask = 0
        for k in self.members(condition):
            mask |= small._bit[sum(1 << i for i, j in enumerate(js) if self.closed[k] >> j & 1)]
        return small, mask

