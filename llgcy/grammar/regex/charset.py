"""Sets of code points as ascending tuples of (first, last) with gaps between the ranges."""

LAST = 0x10FFFF
ALL = ((0, LAST),)


def of(ranges):
    """Put ranges in order and merge those that overlap or touch."""
    out = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            if last > out[-1][1]:
                out[-1] = out[-1][0], last
        else:
            out.append((first, last))
    return tuple(out)


def union(*sets):
    return of(r for one in sets for r in one)


def complement(ranges, last=LAST):
    out, at = [], 0
    for low, high in ranges:
        if at < low:
            out.append((at, low - 1))
        at = high + 1
    if at <= last:
        out.append((at, last))
    return tuple(out)


def intersection(a, b):
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        low, high = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if low <= high:
            out.append((low, high))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def difference(a, b):
    return intersection(a, complement(b))


def symmetric_difference(a, b):
    return union(difference(a, b), difference(b, a))


def single(text):
    """The set of the characters of a text."""
    return of((ord(c), ord(c)) for c in text)
