"""What a grammar was made from, as plain data: the key of caches, and what is saved.

A content is a dict of JSON values: ``kind``, and what the constructor of that kind was given. Schemas stand in it as JSON text, which
keeps numbers exact and does not change when the caller's dict does.
"""
from __future__ import annotations

import functools
import hashlib
import json
import marshal
from typing import Any

from llgcy.errors import GrammarError
from llgcy.schema.exact import Exact

Content = dict[str, Any]

SHORT = 10_000          # bits of an int that CPython always converts


def json_text(value: Any) -> str:
    """A JSON value as text, numbers of every type exactly, at any depth.

    Parameters
    ----------
    value : None, bool, int, float, Decimal, Fraction, str, list, tuple or dict; or JSON text as str or bytes at the top
        Floats count as their shortest decimal spelling.

    Examples
    --------
    >>> json_text({"multipleOf": 0.1})
    '{"multipleOf":0.1}'
    """
    if isinstance(value, (bytes, bytearray)):
        return value.decode()
    if isinstance(value, str):
        return value
    try:
        marshal.dumps(value)        # refuses all but the plain types, subclasses of which might have another meaning
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        if "Circular" in str(error):
            raise GrammarError("the value holds itself, so it has no JSON text; say by $ref what recurs") from None
    return _written_out(value)


class Kept:
    """A JSON value as it stands now, whatever becomes of its lists and dicts later. Its text is written when somebody asks for it.

    To copy a schema takes a tenth of the time that its text takes, which nobody needs who compiles it once.

    Parameters
    ----------
    value
        As for `json_text`, which says what it may be, now or when the text is asked for.

    Examples
    --------
    >>> schema = {"enum": [1]}
    >>> kept = Kept(schema)
    >>> schema["enum"].append(2)
    >>> kept.text
    '{"enum":[1]}'
    """

    def __init__(self, value: Any):
        try:
            self._copy = marshal.dumps(value, 2)        # the last version that refuses what holds itself
        except ValueError:
            self.text = json_text(value)

    @functools.cached_property
    def text(self) -> str:
        return json_text(marshal.loads(self._copy))


def _written_out(value: Any) -> str:
    """The same for numbers of other types, and at any depth."""
    out: list[str] = []
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if type(item) is _Raw:
            out.append(item)
        elif isinstance(item, dict):
            todo.append(_Raw("}"))
            for i, (key, member) in enumerate(reversed(item.items())):
                todo += [member, _Raw(("" if i == len(item) - 1 else ",") + json.dumps(key) + ":")]
            out.append("{")
        elif isinstance(item, (list, tuple)) and not isinstance(item, Exact):
            todo.append(_Raw("]"))
            for i, element in enumerate(reversed(item)):
                todo += [element] if i == len(item) - 1 else [element, _Raw(",")]
            out.append("[")
        elif item is None or isinstance(item, (bool, str)) or type(item) is float or type(item) is int and item.bit_length() < SHORT:
            out.append(json.dumps(item, allow_nan=False))
        else:
            out.append(Exact.of(item).text())
    return "".join(out)


class _Raw(str):
    """Text to be written as it stands."""


def canonical(content: Content) -> bytes:
    """The same bytes for the same content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def digest(content: Content) -> str:
    """SHA-256 of a content, in hexadecimal."""
    return hashlib.sha256(canonical(content)).hexdigest()


def field(content: Content, name: str, *types: type) -> Any:
    """A field of a content that comes from outside, checked.

    Raises
    ------
    GrammarError
        It is missing or of another type.
    """
    value = content.get(name)
    if type(value) not in types:
        raise GrammarError(f"a saved grammar of kind {content.get('kind')!r} has no proper {name!r}")
    return value
