"""Python values as JSON text, and the places in a JSON text that is not finished."""
from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from llgcy.content import SHORT, json_text
from llgcy.errors import InvalidInstanceError, LimitError
from llgcy.schema.exact import Exact
from llgcy.schema.read import escape

DEPTH = 2000            # containers open at once, as the JSON machine counts them


def text_of(value: Any) -> bytes:
    """A Python value as compact JSON text, numbers of every type exactly.

    Parameters
    ----------
    value : None, bool, int, float, Decimal, Fraction, str, list, tuple or dict

    Raises
    ------
    TypeError
        Something in it is no JSON value, or a name is no str.
    InvalidInstanceError
        A number that is not finite, or a str that is no Unicode text.
    LimitError
        Nested more than 2,000 levels deep, which a value is that contains itself.

    Examples
    --------
    >>> text_of({"a": [1, 0.5, None]})
    b'{"a":[1,0.5,null]}'
    """
    out: list[str] = []
    path: list[Any] = []            # what is open: names and indexes
    todo: list[Iterator[tuple[Any, Any]]] = [iter((("", value),))]   # for each open container: what is left of it; the first one stands for the document
    ends = [""]
    while todo:
        for key, item in todo[-1]:
            if len(todo) > 1:
                if path[-1] is not None:
                    out.append(",")
                if ends[-1] == "}":
                    if not isinstance(key, str):
                        raise TypeError(f"the name of a property is a str, not {key!r} (at {pointer(path[:-1]) or '/'})")
                    out.append(encode_basestring(key) + ":")
                path[-1] = key
            if item is None or item is True or item is False:
                out.append("null" if item is None else "true" if item else "false")
            elif isinstance(item, str):
                out.append(encode_basestring(item))
            elif isinstance(item, (dict, list, tuple)) and not isinstance(item, Exact):
                if len(todo) > DEPTH:
                    raise LimitError(f"the value is nested more than {DEPTH:,} levels deep, or contains itself")
                pairs = isinstance(item, dict)
                out.append("{" if pairs else "[")
                ends.append("}" if pairs else "]")
                todo.append(iter(item.items() if isinstance(item, dict) else enumerate(item)))
                path.append(None)
                break
            else:
                out.append(_number(item, path))
        else:
            out.append(ends.pop())
            todo.pop()
            if path:
                path.pop()
    text = "".join(out)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInstanceError("a str has a lone surrogate, which is no character", "", None, "Unicode text") from error


def _number(value: Any, path: list[Any]) -> str:
    if type(value) is int and value.bit_length() < SHORT:
        return str(value)
    if not (isinstance(value, Exact) or hasattr(value, "as_integer_ratio")):
        raise TypeError(f"no JSON value: {value!r} (at {pointer(path) or '/'})")
    if type(value) is float and math.isfinite(value):
        return repr(value)
    try:
        return json_text([value])[1:-1]
    except (ValueError, OverflowError) as error:
        raise InvalidInstanceError(f"no JSON value: {value!r}", pointer(path), None, "a finite number") from error


def pointer(path: Iterable[str | int]) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + escape(token) for token in path)


_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]:,]|[^ \t\n\r{}\[\]:,"]+', re.DOTALL)


class Place(NamedTuple):
    """Where a JSON text that is not finished breaks off.

    Attributes
    ----------
    depth : int
        Containers that are open.
    path : tuple of str or int
        Of the innermost container, name by name and index by index.
    key : str, int or None
        The property or item of that container which is being read, was read last, or comes next; None in an object that has none yet.
    state : str
        "value": a value comes, "item": a value or ``]``, "key": a name, "first key": a name or ``}``, "colon", "after": a value has ended,
        "end": the document has ended; or inside of a lexeme: "in key", "in string", "in number", "in literal".
    lexeme : int
        Where the open lexeme begins; the end of the text where none is open.
    names : frozenset of str
        Those of the innermost container, if it is an object.
    """

    depth: int
    path: tuple[str | int, ...]
    key: str | int | None
    state: str
    lexeme: int
    names: frozenset[str]


class _Open:
    """An open container."""

    def __init__(self, is_object: bool):
        self.is_object = is_object
        self.key: str | int | None = None if is_object else 0
        self.names: set[str] = set()


def place_in(text: bytes) -> Place:
    """The place where a text breaks off that is the beginning of a JSON text.

    Examples
    --------
    >>> place_in(b'{"a": [1, "x')
    Place(depth=2, path=('a',), key=1, state='in string', lexeme=10, names=frozenset())
    """
    stack: list[_Open] = []
    state, lexeme = "value", len(text)
    for match in _TOKEN.finditer(text):
        token, first = match[0], match[0][:1]
        ends = match.end() == len(text)
        if first in b"{[":
            stack.append(_Open(first == b"{"))
            state = "first key" if first == b"{" else "item"
        elif first in b"}]":
            stack.pop()
            state = "after" if stack else "end"
        elif first == b",":
            top = stack[-1]
            if top.is_object:
                state = "key"
            else:
                assert isinstance(top.key, int)
                top.key += 1
                state = "value"
        elif first == b":":
            state = "value"
        elif first == b'"' and state in ("key", "first key"):
            if ends and not _closed(token):
                state, lexeme = "in key", match.start()
            else:
                stack[-1].key = string_of(token)
                stack[-1].names.add(string_of(token))
                state = "colon"
        elif ends and (first != b'"' or not _closed(token)) and token not in (b"null", b"true", b"false"):
            state = "in string" if first == b'"' else "in number" if first in b"-0123456789" else "in literal"
            lexeme = match.start()
        else:
            state = "after" if stack else "end"
    path = []
    for container in stack[:-1]:
        assert container.key is not None
        path.append(container.key)
    top_key, names = (stack[-1].key, frozenset(stack[-1].names)) if stack else (None, frozenset())
    return Place(len(stack), tuple(path), top_key, state, lexeme, names)


def _closed(token: bytes) -> bool:
    """Does a string token have its closing quote?"""
    return len(token) > 1 and token.endswith(b'"') and (len(token) - len(token[:-1].rstrip(b"\\"))) % 2 == 1


def string_of(token: bytes) -> str:
    """The text of a string token that is JSON."""
    found = json.loads(token)
    assert isinstance(found, str)
    return found
