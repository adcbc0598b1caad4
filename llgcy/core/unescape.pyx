"""From the bytes of a JSON string to code points: see unescape.pxd for the positions."""
from libc.stdint cimport int32_t, uint8_t, uint32_t


cdef inline int32_t hex_digit(uint8_t byte) noexcept nogil:
    if 0x30 <= byte <= 0x39:
        return byte - 0x30
    byte |= 0x20
    return byte - 0x61 + 10 if 0x61 <= byte <= 0x66 else -1


cdef inline int32_t short_escape(uint8_t byte) noexcept nogil:
    """The character of a two-byte escape, or -1."""
    if byte == 0x22 or byte == 0x5C or byte == 0x2F:    # " \ /
        return byte
    if byte == 0x62:
        return 0x08
    if byte == 0x66:
        return 0x0C
    if byte == 0x6E:
        return 0x0A
    if byte == 0x72:
        return 0x0D
    return 0x09 if byte == 0x74 else -1


cdef int32_t advance_within(int32_t pos, uint8_t byte, int32_t* after) noexcept nogil:
    cdef int32_t kind = pos & 7
    cdef int32_t n = (pos >> 3 & 7) - 1         # still to come after this byte
    cdef int32_t value = pos >> 6
    cdef int32_t digit
    after[0] = 0
    if kind == UTF8:
        if byte & 0xC0 != 0x80:
            return REFUSED
        # Only the byte behind E0, ED, F0 and F4 can make a form over-long, a surrogate or too large (RFC 3629, section 4).
        if n == 1 and (value == 0 and byte < 0xA0 or value == 0xD and byte > 0x9F):
            return REFUSED
        if n == 2 and (value == 0 and byte < 0x90 or value == 4 and byte > 0x8F):
            return REFUSED
        value = value << 6 | byte & 0x3F
        if n == 0:
            return value
        after[0] = UTF8 | n << 3 | value << 6
        return WITHIN
    if kind == ESCAPE:
        if byte == 0x75:
            after[0] = HEX | 4 << 3
            return WITHIN
        digit = short_escape(byte)
        return digit if digit >= 0 else REFUSED
    if kind == HIGH:
        if byte != (0x5C if n == 1 else 0x75):
            return REFUSED
        after[0] = HIGH | 1 << 3 | value << 6 if n == 1 else LOW | 4 << 3 | value << 18
        return WITHIN
    digit = hex_digit(byte)
    if digit < 0:
        return REFUSED
    if kind == HEX:
        if n == 2 and value == 0xD and digit >= 0xC:    # a low surrogate without a high one
            return REFUSED
        value = value << 4 | digit
        if n > 0:
            after[0] = HEX | n << 3 | value << 6
            return WITHIN
        if 0xD800 <= value <= 0xDBFF:
            after[0] = HIGH | 2 << 3 | (value & 0x3FF) << 6
            return WITHIN
        return value
    # LOW: the digits are DC00..DFFF
    if n == 3 and digit != 0xD or n == 2 and digit < 0xC:
        return REFUSED
    digit |= (value & 0xFFF) << 4
    if n > 0:
        after[0] = LOW | n << 3 | (value >> 12 << 12 | digit) << 6
        return WITHIN
    return 0x10000 + (value >> 12 << 10 | digit & 0x3FF)


cdef inline int add_range(Range* out, int count, uint32_t first, uint32_t last, uint32_t low, uint32_t high) noexcept nogil:
    """Append [first, last] cut to [low, high], if anything is left; the new count."""
    first, last = max(first, low), min(last, high)
    if first <= last:
        out[count].first, out[count].last = first, last
        count += 1
    return count


cdef const char* LETTERS = '"\\/bfnrtu'        # behind the backslash, by the bits of a set of escapes


cdef bint permitted(int32_t pos, int32_t escapes, uint8_t byte) noexcept nogil:
    cdef int32_t n = (pos >> 3 & 7) - 1
    cdef Range reach[MAX_RANGES]
    cdef int i
    if escapes == 0:
        return True
    if pos & 7 == ESCAPE:
        for i in range(9):
            if byte == <uint8_t>LETTERS[i]:
                return escapes >> i & 1
    if pos & 7 != HEX or not escapes & (CONTROLS | NEEDED):
        return True
    pos = pos >> 6 << 4 | hex_digit(byte)
    return by_u(escapes, pos << (4 * n), ((pos + 1) << (4 * n)) - 1, reach) > 0


cdef int by_u(int32_t escapes, uint32_t first, uint32_t last, Range* out) noexcept nogil:
    """The characters from first to last that an escape by u may stand for, where not all may."""
    cdef int count
    if escapes & NEEDED:
        count = add_range(out, 0, first, last, 0, 7)
        count = add_range(out, count, first, last, 0xB, 0xB)
        return add_range(out, count, first, last, 0xE, 0x1F)
    count = add_range(out, 0, first, last, 0, 0x1F)
    return add_range(out, count, first, last, 0x7F, 0x7F)


cdef int behind_backslash(int32_t escapes, Range* out) noexcept nogil:
    """The characters that the allowed escapes stand for, where one by u does not stand for all."""
    cdef Range found[MAX_RANGES + 3]
    cdef Range key
    cdef int i, j, count = by_u(escapes, 0, 0x10FFFF, found) if escapes >> BY_U & 1 else 0, kept = 0
    for i in range(8):
        if escapes >> i & 1:
            found[count].first = found[count].last = <uint32_t>short_escape(<uint8_t>LETTERS[i])
            count += 1
    for i in range(1, count):           # in order
        key, j = found[i], i
        while j > 0 and found[j - 1].first > key.first:
            found[j] = found[j - 1]
            j -= 1
        found[j] = key
    for i in range(count):              # ... and joined where they touch
        if kept and found[i].first <= out[kept - 1].last + 1:
            out[kept - 1].last = max(out[kept - 1].last, found[i].last)
        else:
            out[kept] = found[i]
            kept += 1
    return kept


cdef int targets(int32_t pos, int32_t escapes, Range* out) noexcept nogil:
    cdef int32_t kind = pos & 7
    cdef int32_t n = pos >> 3 & 7
    cdef uint32_t value = <uint32_t>pos >> 6
    cdef uint32_t first, last, least = 0, base
    cdef int count = 0
    if escapes and kind == ESCAPE and not (escapes >> BY_U & 1 and not escapes & (CONTROLS | NEEDED)):
        return behind_backslash(escapes, out)
    if kind == HEX and escapes & (CONTROLS | NEEDED):
        return by_u(escapes, value << (4 * n), ((value + 1) << (4 * n)) - 1, out)
    if kind == HIGH or kind == LOW:
        base = 0x10000 + ((value if kind == HIGH else value >> 12) << 10)
        first, last = 0, 0x3FF
        if kind == LOW and n < 4:
            value &= 0xFFF
            first, last = max(value << (4 * n), <uint32_t>0xDC00) - 0xDC00, min((value + 1) << (4 * n), <uint32_t>0xE000) - 0xDC01
        out[0].first, out[0].last = base + first, base + last
        return 1
    first, last = 0, 0x10FFFF
    if kind == UTF8:
        least = 0x800 if n == 2 and value == 0 else 0x10000 if n == 3 and value == 0 else 0
        first, last = value << (6 * n), ((value + 1) << (6 * n)) - 1
    elif kind == HEX and n < 4:
        first, last = value << (4 * n), ((value + 1) << (4 * n)) - 1
    count = add_range(out, count, max(first, least), last, 0, 0xD7FF)
    count = add_range(out, count, max(first, least), last, 0xE000, 0x10FFFF)
    if kind == HEX and n < 4 and max(first, <uint32_t>0xD800) <= min(last, <uint32_t>0xDBFF):       # the first half of a pair
        out[count].first = 0x10000 + ((max(first, <uint32_t>0xD800) - 0xD800) << 10)
        out[count].last = 0x103FF + ((min(last, <uint32_t>0xDBFF) - 0xD800) << 10)
        count += 1
    return count


cdef int32_t plain(int32_t pos, int32_t escapes) noexcept nogil:
    cdef int32_t kind = pos & 7
    cdef int32_t n = pos >> 3 & 7
    cdef int32_t value = pos >> 6
    if kind == HEX and escapes & (CONTROLS | NEEDED):
        return pos
    if kind == HEX and n < 4:
        if n == 3:
            value = 0xD if value == 0xD else 0
        elif value >> (8 - 4 * n) >= 0xD8 and value >> (8 - 4 * n) <= 0xDB:
            value = 0xD8 << (8 - 4 * n)
        else:
            value = 0
    elif kind == HIGH:
        value = 0
    elif kind == LOW:
        value = 0 if n == 4 else 0xDC0 >> (4 * (n - 1))
    elif kind == UTF8:
        if n == 1:
            value = 2
        elif value != 0 and value != (0xD if n == 2 else 4):
            value = 1
    return kind | n << 3 | value << 6


def advance_position(int pos, int byte):
    """One byte of a JSON string: ``(position behind it, code point completed or None)``.

    Parameters
    ----------
    pos : int
        0 between characters, else a position that this function returned.
    byte : int
        0..255

    Returns
    -------
    tuple of (int, int or None), or None
        None where no JSON string has this byte; ``(-1, None)`` behind the closing quote.

    Examples
    --------
    >>> advance_position(0, ord("a"))
    (0, 97)
    """
    cdef int32_t after
    if not 0 <= byte <= 255:
        raise ValueError(f"a byte is 0..255, not {byte}")
    cdef int32_t got = advance(pos, byte, &after)
    if got == REFUSED:
        return None
    return (-1, None) if got == QUOTE else (after, None if got == WITHIN else got)


def position_targets(int pos, int escapes=0):
    """The code points that the character begun at ``pos`` may still become, as a list of ranges ``(first, last)``."""
    cdef Range out[MAX_RANGES]
    return [(out[i].first, out[i].last) for i in range(targets(pos, escapes, out))]


def may_follow(int pos, int escapes, int byte):
    """Whether the allowed escapes let a byte come behind a position; JSON lets it."""
    return bool(permitted(pos, escapes, <uint8_t>byte))


def plain_position(int pos, int escapes=0):
    """The representative of ``pos`` where it does not matter which character comes."""
    return plain(pos, escapes)


def escape_set(str letters, str by_u="any"):
    """A set of allowed escapes, as `Strings` take it.

    Parameters
    ----------
    letters : str
        Those that may come behind a backslash, out of ``"\\/bfnrtu``.
    by_u : "any", "controls" or "needed"
        What ``u`` and four digits may stand for: any character; U+0000 to U+001F and U+007F; those below U+0020 without another escape.

    Raises
    ------
    ValueError
        With these, some character could not be written; or an escape does not exist.

    Examples
    --------
    >>> escape_set('"\\\\/bfnrtu')
    0
    """
    cdef int found = 0, i
    for letter in letters:
        if letter not in '"\\/bfnrtu' or len(letter) != 1:
            raise ValueError(f"there is no escape \\{letter}")
        found |= 1 << '"\\/bfnrtu'.index(letter)
    if found == ESCAPED and by_u == "any":
        return 0
    if not (found & 1 and found >> 1 & 1 and found >> BY_U & 1):
        raise ValueError('the escapes \\" and \\\\ and \\u must be among those allowed, or strings could not hold every character')
    return found | (CONTROLS if by_u == "controls" else NEEDED if by_u == "needed" else 0)


_SHORT = {0x22: b'\\"', 0x5C: b"\\\\", 0x08: b"\\b", 0x0C: b"\\f", 0x0A: b"\\n", 0x0D: b"\\r", 0x09: b"\\t"}


def ending(int pos, int character, int escapes=0):
    """The shortest bytes that make the character begun at ``pos`` this one.

    Parameters
    ----------
    pos : int
        A position; 0: the whole character.
    character : int
        A code point among ``position_targets(pos, escapes)``.
    escapes : int
        The set of those that are allowed, see `escape_set`.

    Returns
    -------
    bytes

    Examples
    --------
    >>> ending(0, 0xE9)
    b'\\xc3\\xa9'
    """
    cdef int32_t kind = pos & 7
    cdef int32_t n = pos >> 3 & 7
    cdef object short = _SHORT.get(character, b"\\/" if character == 0x2F and pos else None)
    if short is not None and not permitted(ESCAPE, escapes, <uint8_t>short[1]):
        short = None
    if pos == 0:
        if short is not None:
            return short
        return b"\\u%04x" % character if character < 0x20 else chr(character).encode()
    if kind == UTF8:
        return chr(character).encode()[-n:]
    if kind == ESCAPE and short is not None:
        return short[1:]
    units = [character] if character < 0x10000 else [0xD800 + (character - 0x10000 >> 10), 0xDC00 + (character & 0x3FF)]
    spelling = b"".join(b"\\u%04x" % unit for unit in units)
    read = {ESCAPE: 1, HEX: 6 - n, HIGH: 8 - n, LOW: 12 - n}
    return spelling[read[kind]:]
