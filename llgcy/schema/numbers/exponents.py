"""The digits of an exponent, where the exponents that are right are known as intervals of integers.

A *range list* is a sorted tuple of disjoint intervals ``(first, last)`` with gaps between them, ends included, maybe ±inf. Once a
digit other than 0 is read, a state says for each number k of digits still to come which of the ``10**k`` exponents are
right, as a range list from 0; past the longest finite end it is all or none of them.
"""
from llgcy.schema.numbers.residues import INFINITY

# Kinds of states, with the fields that follow.
E = 0           # ranges                just after the e
SIGN = 1        # ranges, all >= 0      after its sign
ZEROS = 2       # ranges, all >= 0      after zeros alone
DIGITS = 3      # blocks, rest          blocks: by k, a range list from 0; rest: whether all of longer ones are right

_DIGIT_0, _DIGIT_9, _PLUS, _MINUS = b"09+-"


def join(intervals):
    """The range list of some intervals, empty ones among them."""
    out = []
    for first, last in sorted(interval for interval in intervals if interval[0] <= interval[1]):
        if out and first <= out[-1][1] + 1:
            out[-1] = out[-1][0], max(out[-1][1], last)
        else:
            out.append((first, last))
    return tuple(out)


def step(state, byte):
    """The state after one more byte; None where no right exponent begins so."""
    kind = state[0]
    if kind == E and byte in (_PLUS, _MINUS):
        ranges = _magnitudes(state[1], byte == _MINUS)
        return (SIGN, ranges) if ranges else None
    if not _DIGIT_0 <= byte <= _DIGIT_9:
        return None
    digit = byte - _DIGIT_0
    if kind == DIGITS:
        _, blocks, rest = state
        return _digits([_part(block, digit, k) for k, block in enumerate(blocks[1:])], rest)
    ranges = _magnitudes(state[1], False)
    if not ranges:
        return None
    if digit == 0:
        return ZEROS, ranges
    finite = max((end for interval in ranges for end in interval if end < INFINITY), default=0)
    return _digits([_part(ranges, digit, k) for k in range(len(str(finite)) + 1)], ranges[-1][1] == INFINITY)


def accepts(state):
    """Whether the exponent may end here."""
    kind = state[0]
    if kind == DIGITS:
        return bool(state[1][0]) if state[1] else state[2]
    return kind == ZEROS and state[1][0][0] == 0


def shortest(state):
    """A shortest completion, as a str."""
    kind = state[0]
    if kind != DIGITS:
        return "" if accepts(state) else shortest_of(state[1], signed=kind == E)
    for k, block in enumerate(state[1]):
        if block:
            return str(block[0][0]).rjust(k, "0") if k else ""
    return "0" * len(state[1])


def shortest_of(ranges, signed):
    """The shortest spelling of an exponent in a range list, without a sign if not `signed`; None if there is none."""
    texts = [str(max(first, 0)) for first, last in ranges if last >= 0]
    if signed:
        texts += [str(last) for _, last in ranges if last < 0]
    return min(texts, key=len, default=None)


def _magnitudes(ranges, minus):
    """Those of one sign, as magnitudes; zero has both."""
    return join((max(first, 0), last) for first, last in (((-b, -a) for a, b in ranges) if minus else ranges))


def _part(ranges, digit, k):
    """The part of a range list in ``[digit * 10**k, (digit + 1) * 10**k)``, counted from there."""
    start, size = digit * 10 ** k, 10 ** k
    return tuple((max(first - start, 0), int(min(last - start, size - 1)))
                 for first, last in ranges if first < start + size and last >= start)


def _digits(blocks, rest):
    """The state in normal form: without the blocks at the end that are like the rest."""
    while blocks and blocks[-1] == (((0, 10 ** (len(blocks) - 1) - 1),) if rest else ()):
        blocks.pop()
    return (DIGITS, tuple(blocks), rest) if blocks or rest else None
