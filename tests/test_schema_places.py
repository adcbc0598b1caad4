"""Limits that are met while a schema is proved to have a value, or later, name the place in the schema."""
import pytest

import llgcy
from llgcy.errors import LimitError
from llgcy.schema import derive
from llgcy.schema.empty import Emptiness

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23)
MANY = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "uniqueItems": True,
        "minItems": 5_000}


def inside(schema, **beside):
    """A schema that reaches another one at ``/$defs/it`` and nowhere else, where every value needs it."""
    return {"$defs": {"it": schema, **beside}, "type": "object", "properties": {"x": {"type": "integer"}, "y": {"$ref": "#/$defs/it"}}, "required": ["x", "y"]}


def pointer_of(schema, what=lambda compiled: None, **options):
    """Where the schema, or what is done with its grammar, meets a limit."""
    with pytest.raises(LimitError) as caught:
        what(llgcy.compile(llgcy.Grammar.from_json_schema(schema, **options), llgcy.Tokenizer.single_byte()))
    assert f"(at {caught.value.pointer or '/'})" in str(caught.value)
    return caught.value.pointer


def after(text):
    """Fills the mask behind a text."""
    def fill(compiled):
        matcher = compiled.matcher()
        assert matcher.accept_bytes(text)
        matcher.fill_next_token_bitmask(llgcy.allocate_bitmask(1, 257))
    return fill


def ending(text):
    """Asks for the completion of a text."""
    def complete(compiled):
        matcher = compiled.matcher()
        assert matcher.accept_bytes(text)
        matcher.completion()
    return complete


@pytest.mark.parametrize("schema", [
    {"type": "array", "maxItems": 1_999, "allOf": [{"contains": {"type": t}, "minContains": 1_000} for t in ("integer", "string")]},
    {"type": "object", "minProperties": 10_001, "patternProperties": {"^a": {}}, "additionalProperties": False},
    {"type": "object", "propertyNames": {"allOf": [{"pattern": chr(97 + i)} for i in range(12)]}, "minProperties": 20_000},
    {"allOf": [{"type": "number"}, *[{"multipleOf": p} for p in PRIMES]]},
])
def test_limits_met_while_proving_that_a_value_exists(schema):
    pointer = pointer_of(inside(schema))
    assert pointer is not None and (pointer + "/").startswith("/$defs/it/"), pointer


def test_what_a_conjunction_cannot_do_is_told_of_the_schema_around_it():
    parts = [{"multipleOf": p} for p in PRIMES]
    assert pointer_of({"type": "object", "properties": {"a": {"allOf": [{"type": "number"}, *parts]}}, "required": ["a"]}) == "/properties/a"
    assert pointer_of({"type": "object", "allOf": [{"properties": {"a": {"type": "number", "allOf": parts[:5]}}}, {"properties": {"a": {"allOf": parts[5:]}}, "required": ["a"]}]}) == ""


def test_steps_of_one_question(monkeypatch):
    monkeypatch.setattr(Emptiness, "FUEL", 3)
    chain = {"$ref": "#/$defs/b"}
    links = {c: {"type": "object", "properties": {"a": {"$ref": f"#/$defs/{d}"}}, "required": ["a"]} for c, d in zip("bcdefg", "cdefgh")}
    schema = inside(chain, h={"type": "object", "required": ["z"]}, **links)
    assert pointer_of(schema).startswith("/$defs/")


def test_decisions_about_one_value(monkeypatch):
    monkeypatch.setattr(derive, "DECISIONS", 2)
    branches = [{"properties": {"a": {"minimum": i}, "b": {"maximum": i}}, "required": ["a", "b"]} for i in range(5)]
    assert pointer_of(inside({"type": "object", "oneOf": branches}), after(b'{"x":1,"y":{"a":1,"b":')) == "/$defs/it"


def test_items_told_apart():
    assert pointer_of(inside(MANY), after(b'{"x":1,"y":')) == "/$defs/it"


def test_limits_met_by_masks():
    numbers = {"anyOf": [{"type": "number", "multipleOf": p, "minimum": p} for p in PRIMES]}
    schema = {"properties": {"a": {"properties": {"b": numbers}}}}
    pointer = pointer_of(schema, after(b'{"a":{"b":'))
    assert pointer == "/properties/a/properties/b"


@pytest.mark.parametrize("schema, text", [
    ({"type": "array", "minItems": 2 ** 21}, b'{"x":1,"y":'),
    ({"type": "array", "minItems": 2 ** 21}, b'{"x":1,"y":[[],'),
    ({"type": "string", "minLength": 2 ** 30}, b'{"x":1,"y":'),
])
def test_limits_met_by_endings(schema, text):
    assert pointer_of(inside(schema), ending(text)) in ("/$defs/it", "")


def test_a_limit_that_is_no_matter_of_the_schema_has_no_place():
    grammar = llgcy.Grammar.from_json_schema({"type": "array", "items": {"enum": [f"v{i}" for i in range(9_000)]}})
    with pytest.raises(LimitError) as caught:
        after(b"[")(llgcy.compile(grammar, llgcy.Tokenizer.single_byte(), llgcy.Limits(grammar_bytes=1 << 16)))
    assert caught.value.pointer is None
