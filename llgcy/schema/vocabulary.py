"""The keywords of JSON Schema: which drafts have them and where schemas stand inside them."""
from typing import NamedTuple

#: Names of the drafts, with numbers that compare by age.
DRAFTS = {"draft4": 4, "draft6": 6, "draft7": 7, "draft2019-09": 2019, "draft2020-12": 2020}
#: The draft of a document that names none: 2020-12, and older keywords keep their meaning.
UNNAMED = 0

_URIS = {
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": 2020,
    "json-schema.org/schema": UNNAMED,
    "json-schema.org/draft-03/schema": 3,
}


def draft_of(uri):
    """The number of the draft that a ``$schema`` names: 3 (not supported) to 2020, `UNNAMED`, or None where unknown."""
    return _URIS.get(uri.removesuffix("#").removeprefix("http://").removeprefix("https://"))


def draft_name(number):
    """The name of a draft, for messages."""
    return next((name for name, n in DRAFTS.items() if n == number), "JSON Schema")


# Where the schemas stand in the value of a keyword.
VALUE, SCHEMA, SCHEMAS, MAP, ITEMS, DEPENDENCIES = range(6)


class Keyword(NamedTuple):
    """One keyword.

    Attributes
    ----------
    shape : int
        VALUE: no schemas inside. SCHEMA: is one. SCHEMAS: a list of them. MAP: an object whose values are schemas. ITEMS: a
        schema or a list. DEPENDENCIES: an object whose values are schemas or lists of names.
    since, until : int
        First and last draft that has it.
    in_place : bool
        Its schemas apply to the same instance, not to members or items.
    """

    shape: int = VALUE
    since: int = 4
    until: int = 2020
    in_place: bool = False

    def in_draft(self, draft):
        """Whether the draft has the keyword."""
        return draft == UNNAMED or self.since <= draft <= self.until


#: Keywords of the vocabularies that a meta-schema may leave out; all others are always there.
VOCABULARIES = {
    "applicator": frozenset(["prefixItems", "items", "contains", "additionalProperties", "properties", "patternProperties", "dependentSchemas",
                             "propertyNames", "if", "then", "else", "allOf", "anyOf", "oneOf", "not", "additionalItems"]),
    "validation": frozenset(["type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum",
                             "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains",
                             "maxProperties", "minProperties", "required", "dependentRequired"]),
    "unevaluated": frozenset(["unevaluatedItems", "unevaluatedProperties"]),
}


def left_out(vocabulary):
    """The keywords that say nothing under a meta-schema with this ``$vocabulary``."""
    named = {str(uri).rpartition("/")[2] for uri in vocabulary}
    names = [name for name in VOCABULARIES if name not in named]
    return frozenset().union(*[VOCABULARIES[name] for name in names])


#: Keywords that assert something or hold schemas.
KEYWORDS = {
    "$ref": Keyword(in_place=True),
    "$dynamicRef": Keyword(since=2020, in_place=True),
    "$recursiveRef": Keyword(since=2019, until=2019, in_place=True),
    "$defs": Keyword(MAP, since=2019),
    "definitions": Keyword(MAP),
    "type": Keyword(),
    "enum": Keyword(),
    "const": Keyword(since=6),
    "minimum": Keyword(),
    "maximum": Keyword(),
    "exclusiveMinimum": Keyword(),
    "exclusiveMaximum": Keyword(),
    "multipleOf": Keyword(),
    "minLength": Keyword(),
    "maxLength": Keyword(),
    "pattern": Keyword(),
    "format": Keyword(),
    "properties": Keyword(MAP),
    "patternProperties": Keyword(MAP),
    "additionalProperties": Keyword(SCHEMA),
    "propertyNames": Keyword(SCHEMA, since=6),
    "required": Keyword(),
    "minProperties": Keyword(),
    "maxProperties": Keyword(),
    "dependencies": Keyword(DEPENDENCIES, in_place=True),     # later drafts keep its meaning for old schemas
    "dependentRequired": Keyword(since=2019),
    "dependentSchemas": Keyword(MAP, since=2019, in_place=True),
    "unevaluatedProperties": Keyword(SCHEMA, since=2019),
    "prefixItems": Keyword(SCHEMAS, since=2020),
    "items": Keyword(ITEMS),
    "additionalItems": Keyword(SCHEMA, until=2019),
    "contains": Keyword(SCHEMA, since=6),
    "minContains": Keyword(since=2019),
    "maxContains": Keyword(since=2019),
    "minItems": Keyword(),
    "maxItems": Keyword(),
    "uniqueItems": Keyword(),
    "unevaluatedItems": Keyword(SCHEMA, since=2019),
    "allOf": Keyword(SCHEMAS, in_place=True),
    "anyOf": Keyword(SCHEMAS, in_place=True),
    "oneOf": Keyword(SCHEMAS, in_place=True),
    "not": Keyword(SCHEMA, in_place=True),
    "if": Keyword(SCHEMA, since=7, in_place=True),
    "then": Keyword(SCHEMA, since=7, in_place=True),
    "else": Keyword(SCHEMA, since=7, in_place=True),
}
#: Keywords that say what a schema object is or where it is found.
PLACES = frozenset(["$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"])
#: Keywords whose value leads to a schema that applies in place.
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
