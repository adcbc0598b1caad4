"""The order of properties: documented cases, and that merging keeps what can be kept."""
import itertools
import json
import random

import jsonschema_rs
import pytest
from schema_walk import accepts, build

import llgcy
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


@pytest.mark.parametrize("seed", range(60))
def test_names_left_behind_in_alternatives(seed):
    """Objects in the declared order, all of them, against a validator; and each key that may begin leads to an end."""
    rng = random.Random(seed)
    names, values = "abcde"[:rng.randint(3, 5)], [0, 1]
    branches = []
    for _ in range(rng.randint(2, 6)):
        some = [n for n in names if rng.random() < 0.7]
        branches.append({"properties": {n: rng.choice([{"const": rng.choice(values)}, {"type": "integer"}]) for n in some},
                         "required": [n for n in some if rng.random() < 0.6],
                         **rng.choice([{}, {"additionalProperties": False}, {"maxProperties": 2}])})
    schema = {"type": "object", "properties": {n: {"enum": values} for n in names}, "additionalProperties": False, rng.choice(["anyOf", "oneOf"]): branches}
    validator = jsonschema_rs.validator_for(schema)
    wanted = set()
    for members in itertools.product([None, *values], repeat=len(names)):
        instance = {n: v for n, v in zip(names, members) if v is not None}
        if validator.is_valid(instance):
            wanted.add(json.dumps(instance, separators=(",", ":")))
    if not wanted:
        return
    tokenizer = llgcy.Tokenizer.from_vocab([*(bytes([b]) for b in range(128)), None], eos_token_id=128)
    matcher = llgcy.compile(llgcy.Grammar.from_json_schema(schema, whitespace="compact"), tokenizer).matcher()
    alphabet = sorted(set(b"".join([n.encode() for n in names]) + b'01":,{}'))
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    found, todo = set(), [""]
    while todo:                         # what the masks spell with these characters, not `0.0`
        text = todo.pop()
        matcher.reset()
        assert matcher.accept_bytes(text.encode())
        if matcher.is_accepting():
            found.add(text)
        matcher.fill_next_token_bitmask(bitmask)
        todo += [text + chr(b) for b in alphabet if bitmask[0, b >> 5] >> (b & 31) & 1]
    assert found == wanted
