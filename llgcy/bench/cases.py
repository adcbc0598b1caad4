"""What is measured: schemas with texts that they allow, read from files, or those that come with the package."""
from __future__ import annotations

import gzip
import json
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import llgcy
from llgcy.errors import GrammarError, LimitError, LlgcyError
from llgcy.schema.read import read_json
from llgcy.standin import StandIn

LONGEST = 400       # tokens of a text that is made up, before its ending
_STRING_OR_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[,:]')
SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")

_STREET = {"type": "object", "properties": {"street": {"type": "string", "minLength": 1, "maxLength": 60}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
           "required": ["street", "zip"], "additionalProperties": False}
_TOOLS: list[tuple[str, dict[str, Any]]] = [("search", {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}}),
          ("send_mail", {"to": {"type": "string", "format": "email"}, "subject": {"type": "string", "maxLength": 80}, "body": {"type": "string"}}),
          ("set_alarm", {"at": {"type": "string", "format": "date-time"}, "label": {"type": "string"}}),
          ("convert", {"amount": {"type": "number", "minimum": 0}, "unit": {"enum": ["m", "km", "mile", "yard"]}})]

#: Schemas that are measured where none are given.
BUILTIN: dict[str, Any] = {
    "person": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150}, "home": _STREET,
                                                "tags": {"type": "array", "items": {"enum": ["new", "used", "broken"]}, "maxItems": 5}},
               "required": ["name", "age", "home", "tags"], "additionalProperties": False},
    "tool call": {"anyOf": [{"type": "object", "properties": {"name": {"const": name},
                                                              "arguments": {"type": "object", "properties": arguments, "required": list(arguments),
                                                                            "additionalProperties": False}},
                             "required": ["name", "arguments"], "additionalProperties": False} for name, arguments in _TOOLS]},
    "tree": {"$defs": {"node": {"type": "object", "properties": {"value": {"type": "number"}, "children": {"type": "array", "maxItems": 2,
                                                                                                        "items": {"$ref": "#/$defs/node"}}},
                                "required": ["value", "children"], "additionalProperties": False}}, "$ref": "#/$defs/node"},
    "many optional": {"type": "object", "properties": {f"property_{number}": {"type": ["integer", "null"]} for number in range(100)},
                      "additionalProperties": False},
    "free": {"type": "object", "properties": {"title": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["title"]},
}


class Case(NamedTuple):
    """One schema, and texts that are valid by it.

    Attributes
    ----------
    name : str
    schema : dict or bool
    texts : tuple of str
        JSON, in the order of the schema's properties.
    """

    name: str
    schema: Any
    texts: tuple[str, ...]


def read(paths: Sequence[str], seed: int = 0, limit: int | None = None) -> Iterator[Case]:
    """The cases of some files, one by one; those of the package where there are none.

    Parameters
    ----------
    paths : sequence of str
        Each a JSON Schema, a file of JSON lines, or a folder of such; gzipped where the name ends in ``.gz``. A document or line
        may also be ``{"schema": ..., "tests": [{"data": ..., "valid": true}, ...]}``: then the valid instances are replayed.
        For other schemas texts are made up.
    seed : int
        Of texts that are made up.
    limit : int, optional
        So many of them.

    Raises
    ------
    GrammarError
        A file is not JSON.
    OSError
    """
    documents: Iterator[tuple[str, Any]] = iter(BUILTIN.items()) if not paths else (found for path in paths for found in _documents(pathlib.Path(path)))
    for number, (name, document) in enumerate(documents):
        if number == limit:
            return
        tests = document.get("tests") if isinstance(document, dict) and "schema" in document else None
        if isinstance(tests, list):
            schema = document["schema"]
            texts = tuple(json.dumps(test["data"], ensure_ascii=False) for test in tests if isinstance(test, dict) and test.get("valid", True))
        else:
            schema, texts = document, ()
        yield Case(name, schema, texts or tuple(made_up(schema, seed)))


def _documents(path: pathlib.Path) -> Iterator[tuple[str, Any]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.name.endswith(SUFFIXES):
                yield from _documents(file)
        return
    data = path.read_bytes()
    if path.name.endswith(".gz"):
        data = gzip.decompress(data)
    if ".jsonl" not in path.name:
        yield path.stem, _plain(read_json(data), data)
        return
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            try:
                document = _plain(read_json(line), line)
            except GrammarError as error:
                raise GrammarError(f"{path.name}, line {number}: {error.message}") from None
            yield str(document.get("id", f"{path.name}:{number}") if isinstance(document, dict) else f"{path.name}:{number}"), document


def _plain(checked: Any, text: bytes) -> Any:
    """The document as all engines can take it: numbers as Python's. ``checked``: it has been read without a complaint."""
    return json.loads(text)


def made_up(schema: Any, seed: int = 0, texts: int = 3) -> Iterator[str]:
    """Texts that a schema allows, written by random logits under llgcy's byte-by-byte mask; none where llgcy refuses it."""
    tokenizer = llgcy.Tokenizer.default()
    try:
        compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema, whitespace="compact"), tokenizer)
    except (LlgcyError, ValueError, TypeError):
        return
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    for number in range(texts):
        model, matcher, out = StandIn(tokenizer, seed + number), compiled.matcher(), bytearray()
        try:
            while not matcher.is_complete() and len(out) < LONGEST * 8:
                matcher.fill_next_token_bitmask(bitmask)
                token = model.choose(bitmask[0])
                matcher.accept_token(token)
                if matcher.is_terminated():
                    break
                out += tokenizer.token_bytes(token) or b""
                if len(out) > LONGEST * 4:
                    out += matcher.completion()
                    break
        except LimitError:
            continue
        yield _respelled(bytes(out))


def _respelled(text: bytes) -> str:
    """With spaces where models write them: behind commas and colons outside of strings. Numbers stay as they are spelled."""
    return _STRING_OR_MARK.sub(lambda found: found[0] + (" " if found[0] in ",:" else ""), text.decode())
