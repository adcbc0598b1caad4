"""The transducer from the bytes of a JSON string (RFC 8259, section 7; UTF-8 by RFC 3629) to code points.

One for all languages: it knows nothing of what may be said. A position says where in a character the text is:

    0                      between characters
    kind | n << 3 | value << 6, where n bytes or digits of this part of the character are still to come:
    ESCAPE                 behind a backslash (n and value 0)
    HEX                    n = 4..1 digits of \\uXXXX to come, value = the digits read
    HIGH                   behind a high surrogate, value = its low ten bits; n = 2: a backslash comes, 1: a `u`
    LOW                    n = 4..1 digits of the low surrogate to come, value = high's ten bits << 12 | the digits read
    UTF8                   n = 3..1 bytes to come, value = the bits read

No position is dead: a byte that no character can follow (over-long forms, lone surrogates, beyond U+10FFFF) is refused
when it comes.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t

cdef enum Kind:
    ESCAPE = 1
    HEX = 2
    HIGH = 3
    LOW = 4
    UTF8 = 5

cdef enum:      # what advance() returns besides a code point
    WITHIN = -1         # the character goes on
    QUOTE = -2          # the closing quote, between characters
    REFUSED = -3        # no JSON string has this byte here

cdef enum:              # which escapes are allowed: a set; 0: all are
    ESCAPED = 0x1FF     # the characters behind the backslash, bit i for the i-th of "\\/bfnrtu
    BY_U = 8            # bit of the u
    CONTROLS = 1 << 9   # \uXXXX for U+0000 to U+001F and U+007F alone
    NEEDED = 1 << 10    # \uXXXX for the control characters that have no escape of two bytes, and must be escaped

cdef enum:
    MAX_RANGES = 9      # of one position; 3 where all escapes are allowed

cdef struct Range:      # of code points, first <= last, both included
    uint32_t first
    uint32_t last

# The position after `byte` inside a character; `pos` is not 0. As advance().
cdef int32_t advance_within(int32_t pos, uint8_t byte, int32_t* after) noexcept nogil

# The code points that the character begun at `pos` may still become: 1..MAX_RANGES sorted, disjoint ranges without
# surrogates. Nothing else of a position matters to what the text may become. Returns their number.
cdef int targets(int32_t pos, int32_t escapes, Range* out) noexcept nogil

# May `byte` come behind `pos`, as far as the allowed escapes go? Both are possible in JSON.
cdef bint permitted(int32_t pos, int32_t escapes, uint8_t byte) noexcept nogil

# A position with the same continuations, byte for byte, up to the identity of the character: what may follow where all
# characters have one fate.
cdef int32_t plain(int32_t pos, int32_t escapes) noexcept nogil


cdef inline int32_t advance(int32_t pos, uint8_t byte, int32_t* after) noexcept nogil:
    """The code point that this byte completes, or WITHIN, QUOTE, REFUSED. `after` is the position behind it."""
    if pos != 0:
        return advance_within(pos, byte, after)
    after[0] = 0
    if byte >= 0x80:
        if byte < 0xC2 or byte > 0xF4:      # a continuation, over-long, or beyond U+10FFFF
            return REFUSED
        if byte < 0xE0:
            after[0] = UTF8 | 1 << 3 | (byte & 0x1F) << 6
        elif byte < 0xF0:
            after[0] = UTF8 | 2 << 3 | (byte & 0x0F) << 6
        else:
            after[0] = UTF8 | 3 << 3 | (byte & 0x07) << 6
        return WITHIN
    if byte == 0x5C:
        after[0] = ESCAPE
        return WITHIN
    if byte == 0x22:
        return QUOTE
    if byte < 0x20:
        return REFUSED
    return byte
