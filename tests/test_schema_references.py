"""References by dynamic scope and to the meta-schemas, against jsonschema-rs."""
import json
import random

import pytest
from schema_walk import accepts, build

from llgcy.errors import GrammarError, UnsatisfiableError
from llgcy.schema.resolve import meta_schema

jsonschema_rs = pytest.importorskip("jsonschema_rs")

TREE = {"$id": "http://x.test/tree", "$dynamicAnchor": "node", "type": "object",
        "properties": {"data": {}, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}}}
STRICT = {"$id": "http://x.test/strict", "$dynamicAnchor": "node", "$ref": "tree", "required": ["data"], "$defs": {"tree": TREE}}
RECURSIVE = {"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "http://x.test/strict", "$recursiveAnchor": True,
             "required": ["data"], "$ref": "tree", "$defs": {"tree": {
                 "$id": "tree", "$recursiveAnchor": True, "type": "object",
                 "properties": {"children": {"type": "array", "items": {"$recursiveRef": "#"}}}}}}


@pytest.mark.parametrize("schema", [STRICT, RECURSIVE], ids=["dynamic", "recursive"])
def test_extended_tree(schema):
    a = build(schema, property_order="any")
    assert accepts(a, {"data": 1, "children": [{"data": 2, "children": []}]})
    assert not accepts(a, {"data": 1, "children": [{"children": []}]})
    assert not accepts(a, {"children": []})


def test_one_schema_in_two_scopes():
    list_of = {"$id": "http://x.test/list", "type": "array", "items": {"$dynamicRef": "#item"}, "$defs": {"any": {"$dynamicAnchor": "item"}}}

    def of(name, kind):
        return {"$id": f"http://x.test/{name}", "$ref": "list", "$defs": {"item": {"$dynamicAnchor": "item", "type": kind}}}
    a = build({"properties": {"n": {"$ref": "http://x.test/numbers"}, "s": {"$ref": "http://x.test/strings"}, "l": {"$ref": "http://x.test/list"}},
               "$defs": {"l": list_of, "n": of("numbers", "number"), "s": of("strings", "string")}}, property_order="any")
    assert accepts(a, {"n": [1], "s": ["x"], "l": [1, "x"]})
    assert not accepts(a, {"n": ["x"]})
    assert not accepts(a, {"s": [1]})


def test_properties_behind_a_dynamic_reference_have_an_order():
    a = build({"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "properties": {"b": {}, "a": {}}}}})
    assert accepts(a, {"b": 1, "a": 1})
    assert not accepts(a, {"a": 1, "b": 1})


@pytest.mark.parametrize("reference", ["#nowhere", "http://x.test/unknown#node", 5])
def test_dynamic_reference_to_nowhere(reference):
    with pytest.raises(GrammarError) as e:
        build({"properties": {"a": {"$dynamicRef": reference}}})
    assert e.value.pointer == "/properties/a/$dynamicRef"


def random_document(r):
    """A few resources with dynamic anchors that refer to each other."""
    names, anchors, numbers = ["p", "q", "r", "s"], ["t", "u"], iter(range(100))

    def sub(depth):
        kind = r.randrange(6 if depth else 3)
        if kind == 0:
            return {"type": r.choice(["integer", "string", "object", "array"])}
        if kind == 1:
            return {"$ref": r.choice(names)}
        if kind == 2:
            return {"$dynamicRef": r.choice(["", r.choice(names)]) + "#" + r.choice(anchors)}
        if kind == 3:
            return {"properties": {n: sub(depth - 1) for n in r.sample("abc", 2)}}
        if kind == 4:
            return {"items": sub(depth - 1)}
        return {"allOf": [sub(depth - 1), sub(depth - 1)]}

    def anchored():
        # every name is there, so that no reference leads nowhere; some are plain
        return {f"{next(numbers)}": {r.choice(["$anchor", "$dynamicAnchor", "$dynamicAnchor"]): a, **sub(1)} for a in anchors}
    return {"$id": "http://x.test/root", **sub(2), "$defs": {**anchored(), **{n: {"$id": n, **sub(2), "$defs": anchored()} for n in names}}}


def value(r, depth=3):
    kind = r.choice("nsaoo" if depth else "ns")
    if kind == "a":
        return [value(r, depth - 1) for _ in range(r.randrange(3))]
    if kind == "o":
        return {n: value(r, depth - 1) for n in r.sample("abc", r.randrange(4))}
    return 1 if kind == "n" else "x"


@pytest.mark.parametrize("seed", range(150))
def test_random_dynamic_references(seed):
    r = random.Random(seed)
    schema = random_document(r)
    try:
        a = build(schema, property_order="any")
    except UnsatisfiableError:
        a = None
    validator = jsonschema_rs.Draft202012Validator(schema)
    for v in [value(r) for _ in range(40)]:
        assert (a is not None and accepts(a, v)) == validator.is_valid(v), json.dumps([schema, v])


@pytest.mark.parametrize("uri", ["http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema",
                                 "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema",
                                 "https://json-schema.org/draft/2019-09/meta/applicator",
                                 "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/meta/format-assertion"])
def test_meta_schemas_are_at_hand(uri):
    document = json.loads(meta_schema(uri))
    assert document.get("$id", document.get("id")).rstrip("#") == uri


@pytest.mark.parametrize("uri", ["http://json-schema.org/draft-03/schema", "https://json-schema.org/draft/2020-12/meta/unknown",
                                 "https://json-schema.org/draft/2020-12/../schema", ""])
def test_no_other_document_is(uri):
    assert meta_schema(uri) is None


@pytest.mark.parametrize("pointer, valid, invalid", [("#/definitions/simpleTypes", ["array", "null"], ["x", 1]),
                                                     ("#/definitions/nonNegativeIntegerDefault0", [0, 5], [-1, "x"])])
def test_reference_into_a_meta_schema(pointer, valid, invalid):
    a = build({"$ref": "http://json-schema.org/draft-07/schema" + pointer})
    assert all(accepts(a, v) for v in valid) and not any(accepts(a, v) for v in invalid)
