"""What hosted services take of JSON Schema, as far as their documentation and their users tell.

A profile looks at a schema as it is written, references and definitions that nothing leads to included, since that is what the services do.
"""
import re
from typing import NamedTuple

from llgcy.schema.notes import Entry
from llgcy.schema.read import escape, kind_of
from llgcy.schema.resolve import shape_inside
from llgcy.schema.vocabulary import SCHEMA

PROFILE = "profile"         # the status of an entry

_ABOUT = frozenset(["title", "description"])
_FORMATS = frozenset(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"])


class Profile(NamedTuple):
    """What one service takes.

    Attributes
    ----------
    words : frozenset of str
        The keywords that it has.
    otherwise : str
        What becomes of all others.
    check : callable
        ``check(found, pointer, schema)`` adds to `found`, an instance of `_Found`, what else is wrong with a schema object.
    whole : callable
        ``whole(found, root, schemas)`` likewise for all of them, [(pointer, schema object)], together.
    """

    words: frozenset
    otherwise: str
    check: object
    whole: object


class _Found:
    """The entries of one check."""

    def __init__(self, name):
        self.name, self.entries = name, []

    def add(self, pointer, word, reason):
        self.entries.append(Entry(pointer + (f"/{escape(word)}" if word else ""), word, PROFILE, f"{self.name}: {reason}"))


def check_profile(schema, name):
    """What a hosted service would refuse of a schema, or ignore.

    Parameters
    ----------
    schema : dict or bool
    name : str
        One of `PROFILES`.

    Returns
    -------
    list of Entry
        Their status is "profile".

    Raises
    ------
    ValueError
        There is no such profile.

    Examples
    --------
    >>> check_profile({"type": "object", "properties": {}, "additionalProperties": False, "not": {}}, "openai-strict")[0].pointer
    '/not'
    """
    profile = PROFILES.get(name)
    if profile is None:
        raise ValueError(f"profile must be one of {', '.join(map(repr, PROFILES))}, not {name!r}")
    found, schemas = _Found(name), list(schema_objects(schema))
    if not isinstance(schema, dict):
        found.add("", "", "the schema must be an object")
    for pointer, part in schemas:
        for word in part:
            if word not in profile.words:
                found.add(pointer, word, profile.otherwise)
        profile.check(found, pointer, part)
    profile.whole(found, schema, schemas)
    return found.entries


def schema_objects(schema):
    """All schema objects inside a schema, as (pointer, object), outer ones first."""
    todo = [("", schema, SCHEMA)]
    while todo:
        pointer, value, shape = todo.pop()
        if isinstance(value, dict):
            if shape == SCHEMA:
                yield pointer, value
            inner = [(f"{pointer}/{escape(token)}", x, shape_inside(shape, token, x)) for token, x in value.items() if isinstance(token, str)]
        elif isinstance(value, (list, tuple)) and kind_of(value) == "array":
            inner = [(f"{pointer}/{i}", x, shape_inside(shape, i, x)) for i, x in enumerate(value)]
        else:
            continue
        todo.extend(reversed([part for part in inner if part[2] is not None]))


def _types(schema):
    types = schema.get("type")
    return types if isinstance(types, (list, tuple)) else [types]


def _is_object(schema):
    return "object" in _types(schema) or "properties" in schema


def _external(reference):
    return isinstance(reference, str) and not reference.startswith("#")


def _closed(found, pointer, schema):
    if _is_object(schema) and schema.get("additionalProperties") is not False:
        word = "additionalProperties" if "additionalProperties" in schema else ""
        found.add(pointer, word, "an object must say additionalProperties: false")


def _no_more(found, root, schemas):
    """None but what the schema objects say one by one."""


# --- OpenAI, strict mode ------------------------------------------------------------------------------------------------

def _openai(found, pointer, schema):
    _closed(found, pointer, schema)
    properties, required = schema.get("properties"), schema.get("required", ())
    if isinstance(properties, dict):
        missing = [name for name in properties if not isinstance(required, (list, tuple)) or name not in required]
        if missing:
            found.add(pointer, "properties", f"every property must be required; {missing[0]!r} is not (a union with null makes it optional)")
    if _external(schema.get("$ref")):
        found.add(pointer, "$ref", "a reference must lead into the schema itself")
    if isinstance(schema.get("format"), str) and schema["format"] not in _FORMATS:
        found.add(pointer, "format", f"{schema['format']!r} is none of its formats: {', '.join(sorted(_FORMATS))}")
    branches, seen = schema.get("anyOf"), {}
    if isinstance(branches, (list, tuple)):
        for i, branch in enumerate(branches):
            first = next(iter(branch["properties"]), None) if isinstance(branch, dict) and isinstance(branch.get("properties"), dict) else None
            if first is not None and first in seen:
                found.add(pointer, "anyOf", f"branches {seen[first]} and {i} are objects with the same first property {first!r}, which was refused")
            seen.setdefault(first, i)
    for word in ("minLength", "maxLength"):
        if word in schema:
            found.add(pointer, word, "only some of its documentation lists it")
    strings = [x for x in schema.get("enum", ()) if isinstance(x, str)] if isinstance(schema.get("enum"), (list, tuple)) else []
    if len(strings) > 250 and sum(map(len, strings)) > 15_000:
        found.add(pointer, "enum", "more than 250 strings may have 15,000 characters in all")


def _openai_whole(found, root, schemas):
    if isinstance(root, dict) and ("anyOf" in root or _types(root) != ["object"]):
        found.add("", "anyOf" if "anyOf" in root else "type" if "type" in root else "", "the schema itself must be one object, and no anyOf")
    properties = sum(len(s["properties"]) for _, s in schemas if isinstance(s.get("properties"), dict))
    values = sum(len(s["enum"]) for _, s in schemas if isinstance(s.get("enum"), (list, tuple)))
    if properties > 5000:
        found.add("", "", f"{properties} properties in all; the limit is 5,000 (100 in older documentation)")
    if values > 1000:
        found.add("", "", f"{values} values of enum in all; the limit is 1,000 (500 in older documentation)")
    characters = 0
    for _, schema in schemas:
        for word in ("properties", "$defs", "definitions"):
            characters += sum(map(len, schema[word])) if isinstance(schema.get(word), dict) else 0
        values = schema.get("enum") if isinstance(schema.get("enum"), (list, tuple)) else []
        characters += sum(len(x) for x in (*values, schema.get("const")) if isinstance(x, str))
    if characters > 120_000:
        found.add("", "", f"names and constants have {characters} characters in all; the limit is 120,000 (15,000 in older documentation)")
    depth = max((1 + _levels(pointer) for pointer, _ in schemas), default=0)
    if depth > 10:
        found.add("", "", f"{depth} levels of nesting; the limit is 10 (5 in older documentation)")


def _levels(pointer):
    """Levels of objects and arrays around a place."""
    tokens, levels, at = pointer.split("/")[1:], 0, 0
    while at < len(tokens):
        word = tokens[at]
        levels += word in ("properties", "items")
        at += 1 if word == "items" else 2
    return levels


# --- Anthropic, strict tools and structured outputs ---------------------------------------------------------------------

def _anthropic(found, pointer, schema):
    _closed(found, pointer, schema)
    if schema.get("minItems", 0) not in (0, 1):
        found.add(pointer, "minItems", "only 0 and 1 are taken")
    if _external(schema.get("$ref")):
        found.add(pointer, "$ref", "a reference must lead into the schema itself")
    if isinstance(schema.get("format"), str) and schema["format"] not in _FORMATS | {"uri"}:
        found.add(pointer, "format", f"{schema['format']!r} is none of its formats: {', '.join(sorted(_FORMATS | {'uri'}))}")
    if isinstance(schema.get("enum"), (list, tuple)) and any(kind_of(x) in ("object", "array") for x in schema["enum"]):
        found.add(pointer, "enum", "only strings, numbers, booleans and null are taken")
    if isinstance(schema.get("allOf"), (list, tuple)) and any(isinstance(x, dict) and "$ref" in x for x in schema["allOf"]):
        found.add(pointer, "allOf", "no $ref is taken inside")
    if isinstance(schema.get("pattern"), str):
        for part in dict.fromkeys(_hard_parts(schema["pattern"])):
            found.add(pointer, "pattern", f"no {part} is taken")


def _hard_parts(pattern):
    """What makes a pattern more than a plain regular expression."""
    for match in re.finditer(r"\\(.)|\(\?<?[=!]", pattern, re.DOTALL):
        if match[1] is None:
            yield "look-around"
        elif match[1] in "bB":
            yield "word boundary"
        elif match[1] in "123456789k":
            yield "back-reference"


def _anthropic_whole(found, root, schemas):
    optional = unions = 0
    for pointer, schema in schemas:
        properties, required = schema.get("properties"), schema.get("required", ())
        if isinstance(properties, dict) and isinstance(required, (list, tuple)):
            optional += sum(name not in required for name in properties)
        unions += "anyOf" in schema or len(_types(schema)) > 1
        reference = schema.get("$ref")
        if isinstance(reference, str) and _leads_around(reference, pointer, schemas):
            found.add(pointer, "$ref", "no recursion is taken")
    if optional > 24:
        found.add("", "", f"{optional} optional properties; the limit for all tools of a request is 24")
    if unions > 16:
        found.add("", "", f"{unions} unions; the limit for all tools of a request is 16")


def _leads_around(reference, pointer, schemas):
    """Whether a reference into the schema can lead back to itself."""
    references = [(at, schema["$ref"][1:]) for at, schema in schemas if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#")]
    todo, seen = [reference[1:]], set()
    while todo:
        target = todo.pop()
        if target in seen or target.startswith("#"):
            continue
        seen.add(target)
        if pointer == target or pointer.startswith(target + "/"):
            return True
        todo += [further for at, further in references if at == target or at.startswith(target + "/")]
    return False


# --- Gemini -------------------------------------------------------------------------------------------------------------

def _gemini(found, pointer, schema):
    if isinstance(schema.get("enum"), (list, tuple)) and any(kind_of(x) not in ("string", "number") for x in schema["enum"]):
        found.add(pointer, "enum", "only strings and numbers are taken")
    if "oneOf" in schema:
        found.add(pointer, "oneOf", "it is read as anyOf")
    others = [word for word in schema if word != "$ref" and not word.startswith("$")]
    if "$ref" in schema and others:
        found.add(pointer, others[0], "beside $ref nothing may stand")


def _gemini_whole(found, root, schemas):
    for pointer, schema in schemas:
        reference = schema.get("$ref")
        if isinstance(reference, str) and _leads_around(reference, pointer, schemas):
            found.add(pointer, "$ref", "recursion is unrolled to a limited depth, and must lead through properties that are not required")


def _gemini_openapi(found, pointer, schema):
    if len(_types(schema)) > 1:
        found.add(pointer, "type", "only one type is taken; nullable: true adds null")
    if isinstance(schema.get("enum"), (list, tuple)) and any(kind_of(x) != "string" for x in schema["enum"]):
        found.add(pointer, "enum", "only strings are taken")


_LEFT_OUT = "it is not in the subset, and may be ignored without a word"
_ALL_ABOUT = _ABOUT | {"default", "example"}

#: Profiles by name.
PROFILES = {
    "openai-strict": Profile(
        _ABOUT | {"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "$ref", "$defs", "definitions", "pattern", "format",
                  "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "minLength", "maxLength", "$schema"},
        "it is refused", _openai, _openai_whole),
    "anthropic-strict": Profile(
        _ABOUT | {"type", "properties", "required", "additionalProperties", "items", "minItems", "enum", "const", "anyOf", "allOf", "$ref", "$defs",
                  "definitions", "pattern", "format", "default", "$schema"},
        "it is not taken", _anthropic, _anthropic_whole),
    "gemini": Profile(
        _ABOUT | {"type", "properties", "required", "additionalProperties", "propertyOrdering", "items", "prefixItems", "minItems", "maxItems", "enum", "format",
                  "minimum", "maximum", "anyOf", "oneOf", "$ref", "$defs", "$id", "$anchor", "$schema"},
        _LEFT_OUT, _gemini, _gemini_whole),
    "gemini-openapi": Profile(
        _ALL_ABOUT | {"type", "nullable", "properties", "required", "minProperties", "maxProperties", "propertyOrdering", "items", "minItems", "maxItems", "enum",
                      "format", "minLength", "maxLength", "pattern", "minimum", "maximum", "anyOf"},
        _LEFT_OUT, _gemini_openapi, _no_more),
}
