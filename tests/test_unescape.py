"""The transducer from JSON string bytes to code points, against `json`, Python's UTF-8 decoder, and itself byte by byte."""
import functools
import itertools
import json
import random

import pytest

from llgcy.core.unescape import advance_position, ending, plain_position, position_targets

SCALARS = [(0, 0xD7FF), (0xE000, 0x10FFFF)]
EDGES = sorted({c + d for c in (0, 0x20, 0x22, 0x2F, 0x5C, 0x7F, 0x80, 0x800, 0xD800, 0xE000, 0xFFFF, 0x10000, 0x103FF, 0x10400, 0xFFFFF, 0x10FFFF)
                for d in (-2, -1, 0, 1) if 0 <= c + d <= 0x10FFFF and not 0xD800 <= c + d <= 0xDFFF})


def run(data, pos=0):
    """(position, code points completed), or None where a byte is refused."""
    out = []
    for byte in data:
        moved = advance_position(pos, byte)
        if moved is None or moved[0] < 0:
            return None
        pos, char = moved
        if char is not None:
            out.append(char)
    return pos, out


@functools.cache
def spellings(c):
    """Every way to write a character in a JSON string, from RFC 8259."""
    out = [chr(c).encode()] if c > 0x1F and c not in (0x22, 0x5C) else []
    out += [b"\\" + letter for letter, value in zip((b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t"), b'"\\/\b\f\n\r\t') if value == c]
    units = [c] if c < 0x10000 else [0xD800 + (c - 0x10000 >> 10), 0xDC00 + (c - 0x10000 & 0x3FF)]
    digits = [sorted({d, d.upper()}) for unit in units for d in f"{unit:04x}"]
    out += ["".join("\\u" * (i % 4 == 0) + d for i, d in enumerate(spelt)).encode() for spelt in itertools.product(*digits)]
    return out


def sample():
    rng = random.Random(5)
    return EDGES + [rng.choice([rng.randint(0, 0xD7FF), rng.randint(0xE000, 0x10FFFF)]) for _ in range(150)]


def positions():
    """Positions inside characters that spellings of many characters go through."""
    found = {}
    for c in sample():
        for spelt in spellings(c):
            for cut in range(1, len(spelt)):
                found.setdefault(run(spelt[:cut])[0], set()).add(c)
    return found


def test_every_spelling_gives_its_character_and_targets_contain_it():
    for c in sample():
        for spelt in spellings(c):
            assert run(spelt) == (0, [c]), spelt
            for cut in range(1, len(spelt)):
                pos, done = run(spelt[:cut])
                assert not done
                assert any(first <= c <= last for first, last in position_targets(pos)), (spelt, cut)


def test_targets_are_exact():
    """The ends of every range can be reached, by the ending that is given; just outside of them nothing can."""
    for pos in random.Random(6).sample(sorted(positions()), 250):
        ranges = position_targets(pos)
        assert ranges == sorted(ranges)
        for first, last in ranges:
            assert 0 <= first <= last <= 0x10FFFF and not (first <= 0xDFFF and last >= 0xD800)
            for c in {first, last, (first + last) // 2}:
                assert run(ending(pos, c), pos) == (0, [c])
        reached = set()
        todo = [pos]
        seen = set()
        while todo and len(seen) < 3000:        # what the bytes themselves lead to
            at = todo.pop()
            for byte in range(256):
                moved = advance_position(at, byte)
                if moved is None:
                    continue
                if moved[1] is not None:
                    reached.add(moved[1])
                elif moved[0] not in seen:
                    seen.add(moved[0])
                    todo.append(moved[0])
        assert all(any(first <= c <= last for first, last in ranges) for c in reached)


def test_between_characters_everything_can_come():
    assert position_targets(0) == SCALARS
    assert position_targets(run(b"\\")[0]) == SCALARS
    assert position_targets(run(b"\\u")[0]) == SCALARS


def test_utf8_is_refused_at_the_first_byte_that_no_character_has():
    encoded = [chr(c).encode() for c in range(0x80, 0x110000, 1) if (c < 0x10000 or c % 64 == 0) and not 0xD800 <= c <= 0xDFFF]
    whole = {text for text in encoded if len(text) < 4}
    begun = {text[:i] for text in encoded for i in range(1, len(text))}
    todo, looked = [b""], 0
    while todo:
        prefix = todo.pop()
        for byte in range(0x80, 0x100):
            text = prefix + bytes([byte])
            looked += 1
            if text in whole:
                assert run(text) == (0, [ord(text.decode())])
            elif text in begun:
                assert run(text) is not None and run(text)[1] == [], text
                if len(text) < 3:
                    todo.append(text)
            else:
                assert run(text) is None, text
    assert looked > 100_000


def test_all_escapes_of_four_digits():
    for value in range(0x10000):
        text = b"\\u%04x" % value
        if 0xDC00 <= value <= 0xDFFF:
            assert run(text) is None and run(text[:3]) is not None and run(text[:4]) is None
        elif 0xD800 <= value <= 0xDBFF:
            pos, done = run(text)
            assert pos and not done and run(text + b"x") is None and run(text + b"\\n") is None and run(text + b"\\u00") is None
            assert run(text + b"\\uDfFf") == (0, [ord(json.loads(b'"' + text + b'\\uDfFf"'))])
        else:
            assert run(text) == (0, [value])


def test_single_bytes():
    for byte in range(256):
        try:
            good = byte == 0x22 or len(json.loads((b'"' + bytes([byte]) + b'"').decode())) == 1
        except ValueError:
            good = byte == 0x5C or 0xC2 <= byte <= 0xF4
        assert (advance_position(0, byte) is not None) == good, byte
    assert advance_position(0, 0x22) == (-1, None)


def test_plain_positions_continue_alike():
    """The representative is refused by the same bytes, and leads to representatives: one step of a bisimulation."""
    for pos in positions():
        other = plain_position(pos)
        assert plain_position(other) == other
        for byte in range(256):
            a, b = advance_position(pos, byte), advance_position(other, byte)
            assert (a is None) == (b is None), (pos, byte)
            if a is not None:
                assert (a[1] is None) == (b[1] is None) and plain_position(a[0]) == plain_position(b[0])


def test_bytes_out_of_range():
    with pytest.raises(ValueError):
        advance_position(0, 256)
