"""Which of the grammar languages a text is written in."""
import json
import re
from typing import NamedTuple

from llgcy.errors import GrammarError, LimitError


class Route(NamedTuple):
    """``kind``: "grammars", "structural_tag", "json_schema", "lark" or "gbnf"; ``text``: the text."""

    kind: str
    text: str


# Strings, character classes, regexes and comments of both languages, in which "::=" and "start:" mean nothing.
_HIDDEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)*\]|#[^\n]*|//[^\n]*|/(?:[^/\\\n]|\\.)+/')
_GBNF = re.compile(r"[A-Za-z0-9_-]\s*::=")
_LARK = re.compile(r"^[ \t]*[?!]*start[ \t]*(?:\.[0-9]+[ \t]*)?[:{[]", re.MULTILINE)


def route(text):
    """The language of a text, by the first rule that applies.

    A whole JSON text: an object with a list ``grammars`` is a list of named grammars, one whose ``type`` is structural_tag a
    structural tag, any other object, or a boolean, a JSON Schema. Then ``%llguidance`` at the beginning: Lark. ``::=`` outside strings: GBNF. A rule ``start``: Lark.

    Raises
    ------
    GrammarError
        No rule applies.

    Examples
    --------
    >>> route('root ::= "a"').kind
    'gbnf'
    """
    if not isinstance(text, str):
        raise TypeError(f"a grammar must be a str, not {type(text).__name__}")
    body = text.strip()
    if body[:1] == "{" or body in ("true", "false"):
        return Route(_json(body), text)
    if body.startswith("%llguidance"):
        return Route("lark", text)
    plain = _HIDDEN.sub(lambda found: '""' if found.group()[0] in '"[/' and found.group()[:2] != "//" else "", text)
    if _GBNF.search(plain):
        return Route("gbnf", text)
    if _LARK.search(plain) or _LARK.search(text):
        return Route("lark", text)
    raise GrammarError("the text is no grammar that llgcy can tell by its looks: a JSON Schema is a JSON object, a GBNF "
                       "grammar has rules with ::=, a Lark grammar has a rule start: (or begins with %llguidance)")


def _json(text):
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
    except RecursionError:
        raise LimitError("the JSON text is nested too deeply") from None
    except json.JSONDecodeError as e:
        raise GrammarError(f"the text begins as a JSON object does, but is not JSON: {e.msg}",
                           line=e.lineno, column=e.colno) from None
    if isinstance(value, dict) and isinstance(value.get("grammars"), list):
        return "grammars"
    return "structural_tag" if isinstance(value, dict) and value.get("type") == "structural_tag" else "json_schema"
