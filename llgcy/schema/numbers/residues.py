"""What divisibility needs to know of the digits read so far.

The digits D of a text are ``rho * 10**z``: z counts the zeros at the end of D as far as they matter, and rho is D / 10**z
modulo what matters of the divisors' digits. Ten thousand needs five residues so, not ten thousand.
"""
import functools
import math

INFINITY = float("inf")
_MOST_TENS = 127     # no divisor's digits (below 2**127) have a factor 2 or 5 more often


@functools.lru_cache(4096)
def moduli(ms, f):
    """``(modulus, zeros)`` within which ``(rho, z)`` count for the divisors `ms`, with D in units of ``10**-f``.

    Where a divisor reaches below the unit, digits still to come contribute powers of ten, so less of it matters.
    """
    return (math.lcm(*(m.c // math.gcd(m.c, 10 ** min(max(-m.e - f, 0), _MOST_TENS)) for m in ms)),
            max((m.e + f for m in ms if m.e + f > 0), default=0))


def reduce(rho, z, modulus, zeros):
    """The residue within these moduli; ``D = 0`` is ``(0, zeros)``."""
    if z > zeros:
        rho, z = rho * pow(10, z - zeros, modulus), zeros
    return rho % modulus, z


def append(rho, z, digit):
    """The residue of ``10 * D + digit``, not reduced."""
    return (rho * 10 ** (z + 1) + digit, 0) if digit else (rho, z + 1)


def value_modulo(rho, z, modulus):
    """D itself modulo `modulus`."""
    return rho * pow(10, z, modulus) % modulus


def merge_residues(integer_conditions, fraction_conditions, ms):
    """``{(rho, z): the first residue with the same future}`` of an integer part, for texts that may end as digits alone
    under some conditions and with a fraction under others (Moore's refinement of the automaton over residues)."""
    places = max((-m.e for m in ms if m.e < 0), default=0) if any(c.mask for c in fraction_conditions) else 0

    def all_residues(f):
        modulus, zeros = moduli(ms, f)
        return [(rho, z) for z in range(zeros + 1) for rho in range(modulus)]

    def successors(r, f):
        return [reduce(*append(*r, digit), *moduli(ms, f)) for digit in range(10)]

    def numbered(kinds):
        ids = {}
        return {r: ids.setdefault(kind, len(ids)) for r, kind in kinds.items()}

    # fractions, from the last place that matters backwards: after it only "zeros so far" or "anything" are left
    after = None
    for f in range(places, -1, -1):
        here = {r: tuple(meets(c, *r, -f) for c in fraction_conditions) for r in all_residues(f)}
        after = numbered({r: (here[r], *(after[s] for s in successors(r, f + 1))) if after else here[r] for r in here})
    kinds = numbered({r: (after[r], *(meets(c, *r, 0) for c in integer_conditions)) for r in after})
    steps = {r: successors(r, 0) for r in kinds}
    while True:
        refined = numbered({r: (kind, *(kinds[s] for s in steps[r])) for r, kind in kinds.items()})
        if max(refined.values()) == max(kinds.values()):
            break
        kinds = refined
    first = {}
    return {r: first.setdefault(kind, r) for r, kind in kinds.items()}


def meets(condition, rho, z, n):
    """Whether ``D * 10**n`` meets a condition."""
    return bool(condition.divisors.exactly_residue(rho, z, n) & condition.mask)


def some_in_block(condition, rho, z, n):
    """Whether a number that meets the condition lies in the open interval ``(D, D+1) * 10**n``."""
    divisors = condition.divisors
    return divisors.some_in_block(condition.mask, value_modulo(rho, z, divisors.modulus), n)


def reachable(condition, rho, z, first, last):
    """Whether for some n from `first` to `last` (which may be infinite) ``D * 10**n`` or a number of ``(D, D+1) * 10**n`` meets the
    condition."""
    divisors = condition.divisors
    near = sorted({*divisors.turns(z), *divisors.scales(condition.mask)}) or [0]
    # far above and far below nothing changes, and the way up is the way to most multiples
    candidates = (last, first, near[-1] + 1, near[0] - 1, *near)
    return any(meets(condition, rho, z, n) or some_in_block(condition, rho, z, n)
               for n in candidates if first <= n <= last and -INFINITY < n < INFINITY)
