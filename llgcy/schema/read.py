"""JSON texts read exactly: numbers by their digits, no duplicate keys, errors with a place."""
import json
import re

from llgcy.errors import GrammarError, LimitError
from llgcy.schema.exact import Exact

KINDS = ("null", "boolean", "number", "string", "array", "object")


def kind_of(value):
    """Which JSON type a Python value stands for, or None."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, Exact):        # a tuple, too
        return "number"
    if isinstance(value, (list, tuple)):
        return "array"
    if hasattr(value, "as_integer_ratio"):      # int, float, Decimal, Fraction, and what numpy has
        return "number"
    return None


def escape(token):
    """One token of a JSON pointer, escaped (RFC 6901)."""
    return str(token).replace("~", "~0").replace("/", "~1")


class _Duplicate(Exception):
    pass


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Duplicate
    return members


def _constant(name):
    raise ValueError(f"{name} is no JSON value")


def read_json(text):
    """The value of a JSON text, with numbers that are not integers as `Exact`.

    Parameters
    ----------
    text : str or bytes
        UTF-8 where bytes.

    Raises
    ------
    GrammarError
        Not JSON, or an object with two members of one name; with line and column.
    LimitError
        Nested too deeply, or a number beyond the limits of `Exact`.
    """
    if isinstance(text, (bytes, bytearray)):
        try:
            text = bytes(text).decode("utf-8")
        except UnicodeDecodeError as e:
            raise GrammarError(f"the schema is not UTF-8: {e.reason} at byte {e.start}") from None
    try:
        try:
            return json.loads(text, object_pairs_hook=_members, parse_float=Exact.of, parse_constant=_constant)
        except json.JSONDecodeError:
            raise
        except ValueError as e:
            if "NaN" in str(e) or "Infinity" in str(e):
                raise GrammarError(f"the schema is not JSON: {e}") from None
            # an integer longer than CPython converts
            return json.loads(text, object_pairs_hook=_members, parse_float=Exact.of, parse_int=Exact.of)
    except json.JSONDecodeError as e:
        raise GrammarError(f"the schema is not JSON: {e.msg}", line=e.lineno, column=e.colno) from None
    except _Duplicate:
        raise _duplicate_error(text) from None
    except RecursionError:
        raise LimitError("the schema is nested too deeply to be read; the limit is about 900 levels of JSON") from None


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


def _duplicate_error(text):
    """Walks the tokens of a text that is JSON but for duplicate names, to say where the first one stands."""
    open_ones, expects_name = [], False      # per container: names of an object with the last one, or the index in an array
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "{":
            open_ones.append([{}, None])
            expects_name = True
        elif token == "[":
            open_ones.append([0])
            expects_name = False
        elif token in "}]":
            open_ones.pop()
            expects_name = False
        elif token == ",":
            expects_name = len(open_ones[-1]) == 2
            if not expects_name:
                open_ones[-1][0] += 1
        elif token != ":" and expects_name:
            name, names = json.loads(token), open_ones[-1][0]
            if name in names:
                pointer = "".join("/" + escape(x[-1]) for x in open_ones[:-1])
                line = text.count("\n", 0, match.start()) + 1
                column = match.start() - text.rfind("\n", 0, match.start())
                return GrammarError(f"the name {name!r} stands twice in one object (line {line}, column {column})", pointer=pointer)
            names[name] = True
            open_ones[-1][1] = name
            expects_name = False
    raise AssertionError("no duplicate name found")
