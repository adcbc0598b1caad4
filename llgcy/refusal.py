"""Why a text is refused, in words."""
from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from llgcy.bitmask import allocate_bitmask
from llgcy.core.matcher import Matcher
from llgcy.errors import InvalidInstanceError, LimitError
from llgcy.instance import DEPTH, Place, place_in, pointer, string_of

SHOWN = 60              # characters of a value or example in a message
RANGES = 12             # ranges of bytes that a message names at most
WHITE = set(b" \t\n\r")
END = 256               # the id that ends a text, among single bytes

_NUMBER = re.compile(rb"-?[0-9.eE+-]+")
_WHOLE_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(rb"[A-Za-z0-9_$.+-]+")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def allowed_after(matcher: Matcher) -> list[int]:
    """The bytes that may come next, and `END`; of a matcher over single bytes."""
    bitmask = allocate_bitmask(1, END + 1)
    matcher.fill_next_token_bitmask(bitmask)
    return [id for id in range(END + 1) if bitmask[0, id // 32] >> id % 32 & 1]


def ranges_of(ids: list[int]) -> str:
    """Bytes and the end as words, ranges of bytes as such."""
    ranges: list[list[int]] = []
    for byte in ids:
        if byte < END and ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    names = ["the end" if first == END else _byte(first) + (f" to {_byte(last)}" if last > first else "") for first, last in ranges]
    return ", ".join(names[:RANGES]) + (" or others" if len(names) > RANGES else "")


def _byte(byte: int) -> str:
    return repr(chr(byte)) if byte < 0x80 else f"byte 0x{byte:02X}"


def limit_of(text: bytes, offset: Callable[[], int]) -> LimitError | None:
    """The limit for which a text is refused at a byte, if it is one."""
    if text.count(b"{") + text.count(b"[") > DEPTH:
        at = offset()
        if text[at:at + 1] in (b"{", b"[") and place_in(text[:at]).depth == DEPTH:
            return LimitError(f"the text is nested more than {DEPTH:,} levels deep (byte {at})")
    return None


def refusal(text: bytes, offset: int, matcher: Matcher, is_json: bool, endings: bool) -> InvalidInstanceError:
    """The error for a text of which `offset` bytes are the beginning of a valid one, but no more.

    Parameters
    ----------
    text : bytes
    offset : int
    matcher : Matcher
        Of the schema over single bytes, at its start.
    is_json : bool
        May the byte at the offset follow in some JSON text?
    endings : bool
        Can the matcher tell endings?
    """
    read, place = text[:offset], place_in(text[:offset])
    matcher.accept_bytes(read)
    allowed = allowed_after(matcher)
    if place.state == "in number" and 0x20 in allowed:      # it is a number that may stand there
        place = place._replace(state="after" if place.depth else "end", lexeme=offset)
    if place.lexeme == offset:
        allowed = [id for id in allowed if id not in WHITE]
    where, fault = _fault(text, offset, place)
    name = _repeated(text, place)
    if name is not None:
        return InvalidInstanceError(f"the name {_cut(json.dumps(name, ensure_ascii=False))} stands twice in one object", pointer(where), offset,
                                    "a name that has not been used")
    if not allowed and not read.strip():
        return InvalidInstanceError("no value is valid by this schema", "", 0, "nothing")
    expected = _expected(place, allowed) or "something else before"
    if endings:
        try:
            example = _example(matcher, read, place, where, text[offset:offset + 1])
        except (LimitError, RecursionError):        # a document that the schema asks for may be large
            example = None
        if example is not None:
            expected = f"{expected} (a value such as {example})" if place.state == "in string" else f"{expected}, such as {example}"
    if offset == len(text) and not (place.state == "in number" and _WHOLE_NUMBER.fullmatch(text, place.lexeme)):
        message = "the text ends too early"
    elif not is_json and offset < len(text):
        message = f"the text is not JSON from {text[offset:offset + 1].decode('utf-8', 'backslashreplace')!r} on"
    else:
        message = fault
    return InvalidInstanceError(message, pointer(where), offset, expected)


def _fault(text: bytes, offset: int, place: Place) -> tuple[tuple[str | int, ...], str]:
    """The path of what is wrong, and a sentence about it."""
    state, path, byte = place.state, place.path, text[offset:offset + 1]
    inside = path if place.key is None else (*path, place.key)
    if state in ("in key", "key", "first key"):
        if byte in b"}" and state != "in key":
            return path, "the object ends too early"
        name = _match(_STRING, text, place.lexeme if state == "in key" else offset)
        return path, f"the property {_shown(name)} is not allowed"
    if state in ("value", "item", "in string", "in number", "in literal"):
        if state == "item" and byte == b"]":
            return path, "the array ends too early"
        value = _value(text, place.lexeme)
        what = "the string " if value[:1] == b'"' else "the number " if value[:1] in b"-0123456789" and value else ""
        kind = {b"{": "an object", b"[": "an array"}.get(value, what + _shown(value))
        return inside, f"{kind} is not allowed"
    if state == "after":
        if byte == b",":
            return path, "nothing more is allowed"
        return path, "the array ends too early" if byte == b"]" else "the object ends too early" if byte == b"}" else f"{_shown(byte)} is not allowed"
    return inside if state == "colon" else path, f"{_shown(byte)} is not allowed"


def _value(text: bytes, at: int) -> bytes:
    """The token of a value that begins at a place; of a container its bracket."""
    first = text[at:at + 1]
    if first == b'"':
        return _match(_STRING, text, at)
    if first in (b"{", b"["):
        return first
    return _match(_NUMBER, text, at) or _match(_WORD, text, at) or first


def _match(pattern: re.Pattern[bytes], text: bytes, at: int) -> bytes:
    found = pattern.match(text, at)
    return b"" if found is None else found[0]


def _repeated(text: bytes, place: Place) -> str | None:
    """The name that is read where the text breaks off, if the object has it already."""
    if place.state == "in key":
        token = _match(_STRING, text, place.lexeme)
        try:
            name = string_of(token)
        except ValueError:
            return None
        if name in place.names:
            return name
    return None


def _expected(place: Place, allowed: list[int]) -> str:
    """What may come next, in words."""
    state, bytes_allowed = place.state, set(allowed)
    if state in ("in string", "in literal"):
        return ranges_of(allowed)
    if state in ("in key", "in number"):
        return "another property" if state == "in key" else "another number"
    if state == "colon":
        return "':'"
    parts = []
    if state in ("value", "item"):
        for byte, words in ((0x22, "a string"), (0x30, "a number"), (0x7B, "an object"), (0x5B, "an array"), (0x74, "true"), (0x66, "false"),
                            (0x6E, "null"), (0x5D, "the end of the array")):
            if byte in bytes_allowed or byte == 0x30 and any(b in bytes_allowed for b in b"-0123456789"):
                parts.append(words)
    elif state in ("key", "first key"):
        parts = [words for byte, words in ((0x22, "a property"), (0x7D, "the end of the object")) if byte in bytes_allowed]
    else:
        more = "another item" if isinstance(place.key, int) else "another property"
        for byte, words in ((0x2C, more), (0x7D, "the end of the object"), (0x5D, "the end of the array"), (END, "the end of the text")):
            if byte in bytes_allowed:
                parts.append(words)
    return " or ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _example(matcher: Matcher, read: bytes, place: Place, where: tuple[str | int, ...], byte: bytes) -> str | None:
    """What could have stood there: a value, or the members that are missing."""
    matcher.reset()
    if place.state in ("value", "item", "in string", "in number", "in literal") and not (place.state == "item" and byte == b"]"):
        matcher.accept_bytes(read[:place.lexeme])
        text = matcher.completion().decode()
        if text.startswith("]"):
            return None
        return _cut(json.dumps(_first(text), ensure_ascii=False))
    matcher.accept_bytes(read[:place.lexeme])
    text = matcher.completion().decode().lstrip(", ")
    if place.state in ("key", "first key", "in key") or place.state == "after" and not isinstance(place.key, int):
        if not text.startswith('"') or place.state == "after" and byte != b"}":
            return None
        return " and ".join(json.dumps(name, ensure_ascii=False) for name in list(_first("{" + text))[:3])
    return None


def _first(text: str) -> Any:
    """The value with which a JSON text begins."""
    return json.JSONDecoder().raw_decode(text)[0]


def _shown(data: bytes) -> str:
    text = data.decode("utf-8", "backslashreplace")
    return _cut(text) if text[:1] in ('"', "-") or text.isalnum() else repr(text)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN - 3] + "..."
