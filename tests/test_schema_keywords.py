"""Every keyword that is enforced: values that it allows and values that it does not, in both property orders."""
import json

import pytest
from schema_walk import Walk, accepts, build, in_order, prefixes, spelled

CASES = [
    # schema, valid, invalid
    (True, [1, None, {"a": [1]}], []),
    ({}, [1, "x", [], {}], []),
    ({"type": "null"}, [None], [0, False, "", [], {}]),
    ({"type": "boolean"}, [True, False], [0, 1, "true", None]),
    ({"type": "integer"}, [0, -7, 10 ** 30], [0.5, "1", None]),
    ({"type": "number"}, [0, 0.5, -1.25], ["1", True]),
    ({"type": ["string", "null"]}, ["", None], [0, []]),
    ({"enum": ["a", 1, None, [1, {"x": 2}], {"k": [1]}]}, ["a", 1, None, [1, {"x": 2}], {"k": [1]}],
     ["b", 2, False, [1], [1, {"x": 3}], [1, {"x": 2}, 3], {"k": [1, 1]}, {"k": [1], "l": 1}, {}]),
    ({"const": {"a": 1, "b": {"c": None}}}, [{"a": 1, "b": {"c": None}}], [{"a": 1}, {"a": 1, "b": {}}, {"a": 1, "b": {"c": None}, "d": 0}]),
    ({"const": []}, [[]], [[1], {}, None]),
    ({"const": {}}, [{}], [{"a": 1}, []]),
    ({"const": 1}, [1], [True, "1", 1.5]),
    ({"minimum": 2}, [2, 2.5, "x"], [1, 1.99]),
    ({"exclusiveMinimum": 2}, [2.01, 3], [2, 1]),
    ({"maximum": 2}, [2, -5, []], [2.01, 3]),
    ({"exclusiveMaximum": 2}, [1.99], [2, 3]),
    ({"multipleOf": 0.1}, [0, 0.3, 19.9, "x"], [0.35]),
    ({"multipleOf": 4, "minimum": 3, "maximum": 9}, [4, 8], [0, 6, 12]),
    ({"minLength": 2}, ["ab", "\U0001f600\U0001f600", 1], ["", "\U0001f600"]),
    ({"maxLength": 1}, ["", "\U0001f600", []], ["ab"]),
    ({"pattern": "a+b"}, ["ab", "xaabx", 5], ["ba", ""]),
    ({"pattern": "^x$", "enum": ["x", "y", 3]}, ["x", 3], ["y"]),
    ({"format": "ipv4"}, ["127.0.0.1", 7], ["1.2.3", "256.1.1.1"]),
    ({"properties": {"a": {"type": "integer"}}}, [{}, {"a": 1}, {"b": "x"}, 5], [{"a": "x"}]),
    ({"properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
    ({"required": ["a", "b"]}, [{"a": 1, "b": 2}, "x"], [{}, {"a": 1}, {"b": 1}]),
    ({"additionalProperties": False, "properties": {"a": {}}}, [{}, {"a": 1}], [{"b": 1}]),
    ({"additionalProperties": {"type": "integer"}, "properties": {"a": {"type": "string"}}}, [{"a": "x", "b": 1}], [{"a": 1}, {"b": "x"}]),
    ({"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 5}}}, [{"a": 1, "b": 5, "ab": 6, "c": "x"}], [{"a": "x"}, {"b": 4}, {"ab": 4}, {"ab": "x"}]),
    ({"patternProperties": {"^a": {}}, "properties": {"x": {}}, "additionalProperties": False}, [{"x": 1, "ab": 2}], [{"ba": 1}]),
    ({"minProperties": 2}, [{"a": 1, "b": 2}, []], [{}, {"a": 1}]),
    ({"maxProperties": 1}, [{}, {"a": 1}], [{"a": 1, "b": 1}]),
    ({"minProperties": 1, "maxProperties": 2, "properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": False},
     [{"a": 1}, {"b": 1, "c": 1}], [{}, {"a": 1, "b": 1, "c": 1}, {"d": 1}]),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}, {}], [{"abc": 1}]),
    ({"propertyNames": {"enum": ["a", "b"]}, "minProperties": 2}, [{"b": 1, "a": 1}], [{"a": 1}, {"a": 1, "c": 1}]),
    ({"propertyNames": False}, [{}, 3], [{"a": 1}]),
    ({"dependentRequired": {"a": ["b", "c"]}}, [{}, {"b": 1}, {"a": 1, "b": 1, "c": 1}], [{"a": 1}, {"a": 1, "b": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"], "properties": {"b": {"type": "integer"}}}}}, [{}, {"b": "x"}, {"a": 1, "b": 1}], [{"a": 1}, {"a": 1, "b": "x"}]),
    ({"dependencies": {"a": ["b"], "c": {"minProperties": 3}}}, [{"a": 1, "b": 1}, {"c": 1, "d": 1, "e": 1}], [{"a": 1}, {"c": 1, "d": 1}]),
    ({"items": {"type": "integer"}}, [[], [1, 2], {"a": 1}], [["x"], [1, "x"]]),
    ({"items": False}, [[]], [[1]]),
    ({"prefixItems": [{"type": "integer"}, {"type": "string"}]}, [[], [1], [1, "x", None]], [["x"], [1, 1]]),
    ({"prefixItems": [{"type": "integer"}], "items": {"type": "string"}}, [[1, "x", "y"]], [[1, 1], ["x"]]),
    ({"items": [{"type": "integer"}], "additionalItems": False}, [[], [1]], [[1, 1], ["x"]]),
    ({"items": {"type": "integer"}, "additionalItems": False}, [[1, 2, 3]], [["x"]]),
    ({"minItems": 2}, [[1, 2], "x"], [[], [1]]),
    ({"maxItems": 1}, [[], [1]], [[1, 2]]),
    ({"contains": {"const": 1}}, [[1], [2, 1, 2], "x"], [[], [2]]),
    ({"contains": {"const": 1}, "minContains": 2, "maxContains": 2}, [[1, 1], [1, 2, 1]], [[1], [1, 1, 1]]),
    ({"contains": {"type": "integer"}, "minContains": 0}, [[], ["x"]], []),
    ({"contains": {"const": 1}, "maxItems": 2, "prefixItems": [{"const": 2}]}, [[2, 1]], [[2], [2, 2], [2, 2, 1]]),
    ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, [1, 3, "x"], [0, 4]),
    ({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["x", 5, None], [4]),
    ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, [2, 3, 4, 9], [6, 1, 0, "x"]),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}], "type": "object"}, [{"a": 1}, {"c": 1, "x": 1}], [{}, {"a": 1, "b": 1}, {"a": 1, "b": 1, "c": 1}]),
    ({"oneOf": [{"properties": {"a": {"minimum": i}}} for i in range(10)], "type": "object", "required": ["a"]}, [{"a": 0}, {"a": 0.5}], [{"a": 1}, {"a": -1}, {"a": "x"}]),
    ({"not": {"type": "integer"}}, ["x", 0.5], [1]),
    ({"not": {"required": ["a"]}, "type": "object"}, [{}, {"b": 1}], [{"a": 1}]),
    ({"not": {"properties": {"a": {"type": "integer"}}}}, [{"a": "x"}], [{}, {"a": 1}, 3]),
    ({"if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["x"]}, "else": {"required": ["y"]}},
     [{"k": 1, "x": 0}, {"y": 0}, {"k": 2, "y": 0}], [{"k": 1}, {"k": 1, "y": 0}, {}, {"k": 2}]),
    ({"if": {"type": "string"}, "then": {"minLength": 1}}, ["a", 1], [""]),
    ({"then": False, "else": False}, [1, "x"], []),
    ({"$ref": "#/$defs/a", "maximum": 5, "$defs": {"a": {"type": "integer"}}}, [5], [6, "x"]),
    ({"properties": {"n": {"$ref": "#"}, "v": {"type": "integer"}}, "additionalProperties": False}, [{"n": {"n": {"v": 1}}}], [{"n": {"n": {"v": "x"}}}, {"n": {"q": 1}}]),
    ({"unevaluatedProperties": False, "properties": {"a": {}}, "patternProperties": {"^p": {}}, "allOf": [{"properties": {"b": {"type": "integer"}}}]},
     [{}, {"a": 1, "p1": 1, "b": 1}, 5], [{"c": 1}, {"b": "x"}]),
    ({"unevaluatedProperties": {"type": "integer"}, "if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"properties": {"x": {}}},
      "else": {"properties": {"k": {}, "y": {}}}}, [{"k": 1, "x": "s"}, {"k": "s", "y": "s"}, {"z": 1}], [{"k": 1, "y": "s"}, {"k": 2, "x": "s"}, {"z": "s"}]),
    ({"unevaluatedProperties": False, "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {}}}]},
     [{"a": 1, "b": 1}, {"b": 1}, {"a": 1}], [{"a": 2}, {"a": 1, "c": 1}]),
    ({"unevaluatedProperties": False, "not": {"not": {"properties": {"a": {}}}}}, [{}], [{"a": 1}]),
    ({"unevaluatedProperties": False, "dependentSchemas": {"a": {"properties": {"a": {}, "b": {}}}}}, [{}, {"a": 1, "b": 1}], [{"b": 1}, {"a": 1, "c": 1}]),
    ({"unevaluatedProperties": False, "allOf": [{"additionalProperties": {"type": "integer"}}]}, [{"a": 1}], [{"a": "x"}]),
    ({"unevaluatedProperties": False, "allOf": [{"unevaluatedProperties": True}]}, [{"a": 1}], []),
    ({"unevaluatedItems": False, "prefixItems": [{}], "allOf": [{"prefixItems": [{}, {"type": "integer"}]}]}, [[], [1, 2], "x"], [[1, "x"], [1, 2, 3]]),
    ({"unevaluatedItems": {"type": "string"}, "anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [{}, {"const": 2}]}]},
     [[1, "x"], ["x", 2], [9, 2, "x"], [1, 2], [9]], [[1, 3], [9, "x"], [1, 2, 3]]),
    ({"unevaluatedItems": False, "contains": {"type": "integer"}}, [[1], [1, 2]], [[], ["x"], [1, "x"]]),
    ({"unevaluatedItems": {"type": "null"}, "allOf": [{"contains": {"multipleOf": 2}}, {"contains": {"multipleOf": 3}}]}, [[2, 3], [6, None]], [[2, 3, 5], [2]]),
    ({"unevaluatedItems": False, "items": [{"type": "integer"}]}, [[], [1]], [[1, 1]]),
    ({"uniqueItems": True, "items": {"enum": ["a", 1, None, True]}}, [[], ["a", 1], [1, None, "a", True], 5, "x"], [["a", "a"], [1, None, 1], [1, 1.0], [2]]),
    ({"uniqueItems": True, "maxItems": 1}, [[], [1], [{}]], [[1, 1], [1, 2]]),
    ({"uniqueItems": True, "prefixItems": [{"type": "boolean"}, {"type": "boolean"}], "items": False}, [[], [True, False], [False]], [[True, True], [False, False]]),
    ({"uniqueItems": True, "items": {"$ref": "#/$defs/e"}, "allOf": [{"minItems": 2}], "$defs": {"e": {"enum": ["x", "y", "z"]}}},
     [["x", "y"], ["z", "x", "y"]], [["x"], ["x", "x"], ["x", "y", "x"]]),
    ({"uniqueItems": True, "type": "object"}, [{}], [[]]),
    ({"uniqueItems": True, "items": {"type": ["null", "boolean"]}, "minItems": 3}, [[None, True, False]], [[True, False], [True, True, None]]),
]


@pytest.mark.parametrize("order", ["any", "schema"])
@pytest.mark.parametrize("schema, valid, invalid", CASES, ids=lambda x: json.dumps(x)[:60] if isinstance(x, (dict, bool)) else "")
def test_keyword(schema, valid, invalid, order):
    a = build(schema, property_order=order)
    if order == "schema":
        place = a.values[a.start][1]
        valid, invalid = [in_order(a, v, place) for v in valid], [in_order(a, v, place) for v in invalid]
    for value in valid:
        assert accepts(a, value), value
    for value in invalid:
        assert not accepts(a, value), value
    for value in [*valid, *invalid]:
        walk = Walk(a)
        for event, text in prefixes(spelled(value)):
            if not walk.feed(event):
                break
            # what is called alive can be finished by its endings alone
            assert accepts(a, json.loads(walk.completion(text)))
