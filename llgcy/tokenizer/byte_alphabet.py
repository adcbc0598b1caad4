"""The alphabet in which byte-level BPE models write bytes as printable characters (GPT-2's ``bytes_to_unicode``)."""
from __future__ import annotations

PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
"""Bytes that are written as the Latin-1 character of the same value; the others, in order, as U+0100, U+0101, ..."""


def byte_characters() -> list[str]:
    """The character that stands for each byte; index = byte."""
    others = iter(range(0x100, 0x200))
    printable = frozenset(PRINTABLE)
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


# Characters below U+0100 that stand for no byte go to U+FFFF, so that encoding the result as Latin-1 fails for them too.
_TO_BYTE = {code: 0xFFFF for code in range(256)} | {ord(char): byte for byte, char in enumerate(byte_characters())}


def to_bytes(token: str) -> bytes | None:
    """The bytes that a token of a byte-level model spells; None where a character isn't in the alphabet.

    Examples
    --------
    >>> to_bytes("Ġthe")
    b' the'
    """
    try:
        return token.translate(_TO_BYTE).encode("latin-1")
    except UnicodeEncodeError:
        return None
