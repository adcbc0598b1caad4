"""Sets of code points as automata over UTF-8 bytes.

A set is cut by the length of the encoding, and then digit by digit: the lead byte and each continuation byte are one digit
in base 64 (K. Thompson's construction, as told in R. Cox, "Regular Expression Matching in the Wild", 2010). Blocks that
are wholly in the set share one state for each number of bytes that are left.
"""

# First and last code point, bits of the lead byte, continuation bytes
LENGTHS = ((0x80, 0x7FF, 0xC0, 1), (0x800, 0xFFFF, 0xE0, 2), (0x10000, 0x10FFFF, 0xF0, 3))


def utf8(regexes, ranges):
    """The term over bytes of one character of a set.

    Parameters
    ----------
    regexes : Regexes("bytes")
    ranges : ascending ranges of code points; surrogates are left out, since no UTF-8 spells them.
    """
    edges = [(first, min(last, 0x7F), 1) for first, last in ranges if first <= 0x7F]
    memo = {}
    for low, high, lead, count in LENGTHS:
        inside = [(max(first, low), min(last, high)) for first, last in ranges if first <= high and last >= low]
        if count == 2:
            inside = [piece for first, last in inside for piece in ((first, min(last, 0xD7FF)), (max(first, 0xE000), last))
                      if piece[0] <= piece[1]]
        edges += _edges(regexes, inside, count, lead, memo)
    return regexes.fan(edges)


def _edges(regexes, ranges, count, base, memo):
    """The edges of a state that reads a digit worth 64**count, added to base, and `count` more."""
    shift, digits = 6 * count, {}
    whole = ((0, (1 << shift) - 1),)
    runs = []               # (first digit, last digit, what may follow)
    for first, last in ranges:
        top, bottom = first >> shift, last >> shift
        for digit in {top, bottom}:
            start = first - (digit << shift) if digit == top else 0
            end = last - (digit << shift) if digit == bottom else whole[0][1]
            digits.setdefault(digit, []).append((start, end))
        if top + 1 < bottom:
            runs.append((top + 1, bottom - 1, whole))
    runs += [(digit, digit, tuple(rest)) for digit, rest in digits.items()]
    return [(base + first, base + last, _state(regexes, rest, count, memo)) for first, last, rest in sorted(runs)]


def _state(regexes, ranges, count, memo):
    """The term of `count` continuation bytes whose digits make a number of the set."""
    if count == 0:
        return 1
    key = ranges, count
    if key not in memo:
        memo[key] = regexes.fan(_edges(regexes, ranges, count - 1, 0x80, memo))
    return memo[key]
