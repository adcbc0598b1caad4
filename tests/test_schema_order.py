"""The order of properties: documented cases, and that merging keeps what can be kept."""
import random

import pytest
from schema_walk import accepts, build

from llgcy.schema.order import merge


def order_of(schema):
    a = build(schema)
    place = a.values[a.start][1]
    return list(a.order.names(place)) if place is not None else []


@pytest.mark.parametrize("schema, names", [
    ({"properties": {"b": {}, "a": {}}, "required": ["c", "a"]}, "bac"),
    ({"allOf": [{"properties": {"x": {}}}], "properties": {"a": {}}}, "xa"),
    ({"properties": {"a": {}}, "allOf": [{"properties": {"x": {}, "a": {}}}]}, "ax"),
    ({"required": ["z"], "allOf": [{"properties": {"y": {}}, "required": ["q"]}]}, "yzq"),
    ({"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}, "c": {}}}, {"properties": {"d": {}, "c": {}}}]}, "abdc"),
    ({"$ref": "#/$defs/x", "properties": {"b": {}}, "$defs": {"x": {"properties": {"a": {}}}}}, "ab"),
    ({"if": {"properties": {"k": {}}}, "then": {"properties": {"t": {}}}, "else": {"properties": {"e": {}}}}, "kte"),
    ({"const": {"q": 1, "a": 2}}, "qa"),
    ({"enum": [{"b": 1, "a": 1}, {"c": 1, "a": 2}, 3]}, "bca"),
    ({"dependentSchemas": {"a": {"properties": {"x": {}}}}, "properties": {"a": {}}}, "xa"),
    ({"not": {"properties": {"n": {"const": 1}}}, "properties": {"a": {}}}, "a"),
    ({"allOf": [{"$ref": "#"}], "properties": {"a": {}}}, "a"),
])
def test_names(schema, names):
    assert order_of(schema) == list(names)


def test_order_goes_by_the_path_not_by_the_branch():
    schema = {"properties": {"in": {"anyOf": [{"properties": {"b": {"const": 1}, "a": {}}, "required": ["b"]},
                                              {"properties": {"b": {"const": 2}, "c": {}, "a": {}}, "required": ["b"]}]}}}
    a = build(schema)
    assert accepts(a, {"in": {"b": 2, "c": 1, "a": 1}}) and accepts(a, {"in": {"b": 1, "a": 1}})
    assert not accepts(a, {"in": {"a": 1, "b": 1}})


def test_order_below_items_and_other_members():
    inner = {"type": "object", "properties": {"y": {}, "x": {}}}
    a = build({"items": inner, "additionalProperties": inner, "patternProperties": {"^p": {"properties": {"q": {}, "y": {}}}}})
    assert accepts(a, [{"y": 1, "x": 1}]) and not accepts(a, [{"x": 1, "y": 1}])
    assert accepts(a, {"k": {"y": 1, "x": 1}}) and not accepts(a, {"k": {"x": 1, "y": 1}})
    assert accepts(a, {"p": {"q": 1, "y": 1}}) and not accepts(a, {"p": {"y": 1, "q": 1}})


def test_recursion_comes_back_to_the_same_place():
    a = build({"$defs": {"n": {"properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}}, "required": ["v"]}}, "$ref": "#/$defs/n"})
    value = {"v": 1}
    for _ in range(60):
        value = {"v": 1, "next": value}
    assert accepts(a, value)
    assert len(a.values) < 8 and len(a.objects) < 8


def test_endings_respect_the_order():
    a = build({"required": ["a", "b"], "type": "object",
               "properties": {"b": {"type": "object", "properties": {"y": {}, "x": {}}, "required": ["x", "y"]}, "a": {"const": 0}}})
    assert a.value_ending(a.start) == b'{"b":{"y":0,"x":0},"a":0}'


@pytest.mark.parametrize("seed", range(30))
def test_merge_keeps_every_order_that_agrees(seed):
    r = random.Random(seed)
    whole = list(range(12))
    r.shuffle(whole)
    lists = [[x for x in whole if r.random() < .5] for _ in range(4)]
    merged = merge(lists)
    assert sorted(merged) == sorted({x for names in lists for x in names})
    for names in lists:
        assert [x for x in merged if x in names] == names


def test_merge_of_contradicting_orders_has_each_name_once():
    assert merge([["a", "b"], ["b", "a"], ["c", "a"]]) in (["c", "a", "b"], ["a", "b", "c"], ["a", "c", "b"])
    assert sorted(merge([["a", "b", "c"], ["c", "a"], ["b", "d", "a"]])) == list("abcd")
