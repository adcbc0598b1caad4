"""The automaton's answers on small schemas, one by one."""
import json

import jsonschema_rs
import pytest
from schema_walk import Walk, accepts, build, events, parse, spelled

from llgcy.errors import GrammarError, UnsatisfiableError, UnsupportedKeywordError
from llgcy.schema.strings import Texts

PERSON = {
    "type": "object",
    "properties": {"b": {"type": "integer"}, "a": {"type": "string"}, "c": {"enum": ["x", 1, None]}},
    "required": ["a"],
}


def test_schema_order_is_that_of_properties():
    a = build(PERSON)
    assert accepts(a, {"b": 1, "a": "s", "c": None, "other": [1]})
    assert accepts(a, {"a": "s"})
    assert not accepts(a, {"a": "s", "b": 1})
    assert not accepts(a, {"other": 1, "a": "s"})
    assert not accepts(a, {"b": 1})


def test_any_order():
    a = build(PERSON, property_order="any")
    assert accepts(a, {"other": 1, "c": 1, "a": "s", "b": 1})
    assert not accepts(a, {"other": 1, "c": 1})


@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_name_never_comes_twice(order):
    a = build(PERSON, property_order=order)
    for name in ("b", "a", "other"):
        walk = Walk(a)
        for event in ["{", ("key", "b"), ("scalar", parse("1")), ("key", "a"), ("scalar", "s"), ("key", "other"), ("scalar", None)]:
            assert walk.feed(event)
        assert not walk.feed(("key", name))


def test_required_only_names_come_after_properties():
    a = build({"required": ["z", "a"], "properties": {"a": {}, "m": {}}})
    assert accepts(a, {"a": 1, "m": 1, "z": 1, "b": 1})
    assert not accepts(a, {"a": 1, "z": 1, "m": 1})


def test_key_specs_are_one_for_all_states_of_an_object():
    a = build(PERSON)
    (start, _), = a.value_shape((a.start,)).object
    shape = a.object_shape((start,))
    (_, ((after, _),)), = a.object_step((start,), shape.keys.outcome("b", None))
    assert a.object_shape((after,)).keys is shape.keys
    assert hash(shape.keys) == hash(a.object_shape((after,)).keys)


def test_few_ids_in_schema_order():
    names = [f"p{i}" for i in range(60)]
    a = build({"properties": {n: {"type": "integer"} for n in names}, "additionalProperties": False})
    for step in (1, 2, 3, 7):
        assert accepts(a, {n: 1 for n in names[::step]})
    assert len(a.objects) <= 61


def test_long_arrays_share_ids():
    a = build({"type": "array", "items": {"type": "integer"}, "minItems": 2})
    assert accepts(a, [1] * 2000)
    assert len(a.arrays.states) <= 3


@pytest.mark.parametrize("order", ["schema", "any"])
def test_exhausted_classes_of_keys_are_seen(order):
    schema = {"type": "object", "patternProperties": {"^[ab]$": {}}, "additionalProperties": False, "minProperties": 2}
    a = build(schema, property_order=order)
    assert accepts(a, {"b": 1, "a": 1})
    assert not accepts(a, {"a": 1})
    with pytest.raises(UnsatisfiableError):
        build({**schema, "minProperties": 3})


def test_counts_of_members_never_dead_end():
    a = build({"properties": {n: {} for n in "abcd"}, "additionalProperties": False, "minProperties": 3, "maxProperties": 3})
    assert accepts(a, {"a": 1, "b": 1, "d": 1})
    walk = Walk(a)
    assert all(walk.feed(e) for e in ["{", ("key", "b"), ("scalar", None)])
    assert not walk.feed(("key", "d"))


@pytest.mark.parametrize("schema, ending", [
    (True, "0"),
    ({"type": "string", "minLength": 2}, '"aa"'),
    ({"type": "array", "items": {"const": 1}, "minItems": 2}, "[1,1]"),
    ({"required": ["b", "a"], "properties": {"a": {"const": "x"}}, "type": "object"}, '{"a":"x","b":0}'),
    ({"anyOf": [{"type": "object", "required": ["a"]}, {"const": True}]}, "true"),
])
def test_value_endings(schema, ending):
    a = build(schema)
    assert a.value_ending(a.start).decode() == ending


def test_object_endings_leave_out_used_names():
    a = build({"minProperties": 3, "type": "object"})
    walk = Walk(a)
    for event in ["{", ("key", "a"), ("scalar", None)]:
        assert walk.feed(event)
    done = walk.completion('{"a":null')
    assert len(json.loads(done)) == 3


@pytest.mark.parametrize("schema", [
    False,
    {"enum": []},
    {"type": "object", "required": ["a"], "properties": {"a": False}},
    {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
    {"type": "array", "minItems": 3, "maxItems": 2},
    {"type": "array", "items": [{}, False], "minItems": 2},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
    {"allOf": [{"type": "string"}, {"type": "number"}]},
    {"type": "object", "maxProperties": 1, "required": ["a", "b"]},
    {"not": {}},
])
def test_unsatisfiable(schema):
    with pytest.raises(UnsatisfiableError):
        build(schema)


@pytest.mark.parametrize("schema, error, pointer", [
    ({"properties": {"a": {"uniqueItems": 1}}}, GrammarError, "/properties/a/uniqueItems"),
    ({"allOf": [{"$ref": "#"}], "unevaluatedProperties": False}, UnsupportedKeywordError, "/unevaluatedProperties"),
    ({"unevaluatedItems": False, "contains": {"$ref": "#"}}, UnsupportedKeywordError, "/unevaluatedItems"),
    ({"items": {"type": "strnig"}}, GrammarError, "/items/type"),
    ({"properties": {"a/b": {"minimum": "3"}}}, GrammarError, "/properties/a~1b/minimum"),
    ({"$ref": "#/nowhere"}, GrammarError, "/$ref"),
    ({"$ref": "http://example.com/x"}, GrammarError, "/$ref"),
    ({"properties": {"a": 3}}, GrammarError, "/properties/a"),
    ({"required": True}, GrammarError, "/required"),
    ({"not": {"$ref": "#"}}, GrammarError, ""),
])
def test_errors_name_the_place(schema, error, pointer):
    with pytest.raises(error) as caught:
        build(schema)
    assert caught.value.pointer == pointer


def test_text_input_is_read_exactly():
    a = build('{"enum": [9007199254740993, 0.1, 1e400]}')
    assert accepts(a, 9007199254740993) and not accepts(a, 9007199254740992)
    assert accepts(a, 0.1) and not accepts(a, 0.1000000001)
    assert accepts(a, 10 ** 400)
    with pytest.raises(GrammarError, match="twice") as caught:
        build('{"properties": {"a": {"minimum": 1,\n "minimum": 2}}}')
    assert caught.value.pointer == "/properties/a" and "line 2, column 2" in str(caught.value)
    with pytest.raises(GrammarError) as caught:
        build('{"a": 1,}')
    assert (caught.value.line, caught.value.column) == (1, 9)


def test_alternatives_stay_apart_until_told():
    a = build({"anyOf": [{"properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k", "x"]},
                         {"properties": {"k": {"const": "b"}, "x": {"type": "string"}}, "required": ["k", "x"]}], "type": "object"})
    for value, ok in [({"k": "a", "x": 1}, True), ({"k": "a", "x": "1"}, False), ({"k": "b", "x": "1"}, True), ({"k": "c", "x": 1}, False)]:
        assert accepts(a, value) is ok
    walk = Walk(a)
    for event in events(spelled({"k": "a"})):
        if event != "}":
            walk.feed(event)
    assert len(walk.frames[-1].ids) == 1


@pytest.mark.parametrize("make", [
    lambda i: ("dependentRequired", {f"a{i}": [f"b{i}"]}),
    lambda i: ("allOf", [{"if": {"properties": {f"a{i}": {"const": 1}}, "required": [f"a{i}"]}, "then": {"properties": {f"b{i}": {"type": "integer"}}}}]),
], ids=["required", "if"])
def test_independent_conditions_do_not_multiply(make):
    """In schema order a condition is forgotten once its names are behind, so ids grow by a sum, not a product."""
    schema = {"type": "object", "properties": {n: {} for i in range(12) for n in (f"a{i}", f"b{i}")}}
    for i in range(12):
        word, value = make(i)
        if word == "allOf":
            schema.setdefault(word, []).extend(value)
        else:
            schema.setdefault(word, {}).update(value)
    a = build(schema)
    for bits in range(0, 4096, 7):
        assert accepts(a, {n: 1 for i in range(12) for n in ((f"a{i}", f"b{i}") if bits >> i & 1 else (f"b{i}",))})
    assert len(a.objects) <= 60


def test_long_chains_of_conditions():
    names = [f"n{i}" for i in range(60)]
    a = build({"type": "object", "dependentRequired": {x: [y] for x, y in zip(names, names[1:])}}, property_order="any")
    walk = Walk(a)
    assert walk.feed("{") and walk.feed(("key", "n30")) and walk.feed(("scalar", None))
    assert len(json.loads(walk.completion('{"n30":null'))) == 30


@pytest.mark.parametrize("schema, n", [({"minProperties": 6_000}, 6_000), ({"propertyNames": {"minLength": 2, "maxLength": 3}, "minProperties": 1_000}, 1_000),
                                       ({"propertyNames": {"pattern": "^a"}, "minProperties": 300, "required": ["aaa"]}, 300)])
def test_many_names_are_found_at_once(monkeypatch, schema, n):
    looks = []
    for method in (Texts.several, Texts.search):
        def look(self, *arguments, method=method):
            looks.append(method)
            return method(self, *arguments)
        monkeypatch.setattr(Texts, method.__name__, look)
    a = build({"type": "object", **schema})
    walk = Walk(a)
    for event in ["{", ("key", "aaa"), ("scalar", None)]:
        assert walk.feed(event)
    endings = [a.value_ending(a.start).decode(), walk.completion('{"aaa":null')]
    assert len(looks) < 20
    for ending in endings:
        pairs = json.loads(ending, object_pairs_hook=list)
        assert len(pairs) == n and len(dict(pairs)) == n
        assert jsonschema_rs.Draft202012Validator(schema).is_valid(dict(pairs))
