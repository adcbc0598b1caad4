"""uniqueItems, and two items that are equal: against jsonschema-rs and by brute force."""
import itertools
import json
import random

import pytest
from schema_random import Maker
from schema_walk import Walk, accepts, build, events, prefixes, spelled
from test_schema_random import check

import llgcy
from llgcy.errors import GrammarError, LimitError, UnsatisfiableError
from llgcy.schema import states

jsonschema_rs = pytest.importorskip("jsonschema_rs")

SCALARS = [None, True, False, 0, 1, "a", "1"]


@pytest.mark.parametrize("seed", range(60))
def test_random_arrays_of_scalars(seed):
    r = random.Random(seed)

    def items():
        return r.choice([{"enum": r.sample(SCALARS, r.randint(1, 4))}, {"type": "boolean"}, {"type": ["null", "boolean"]}])
    schema = {"type": "array", "uniqueItems": True, "items": items()}
    for word, make in (("prefixItems", lambda: [items() for _ in range(r.randint(1, 2))]), ("minItems", lambda: r.randint(0, 3)),
                       ("maxItems", lambda: r.randint(0, 3)), ("allOf", lambda: [{"items": items()}]), ("contains", items)):
        if r.random() < .4:
            schema[word] = make()
    validator = jsonschema_rs.Draft202012Validator(schema)
    arrays = [list(x) for n in range(4) for x in itertools.product(SCALARS, repeat=n)]
    try:
        a = build(schema, property_order="any")
    except UnsatisfiableError:
        assert not any(map(validator.is_valid, arrays))
        return
    for x in arrays:
        assert accepts(a, x) == validator.is_valid(x), (schema, x)


@pytest.mark.parametrize("seed", range(30))
def test_every_prefix_has_an_ending(seed):
    """All arrays of up to four of these values: a prefix is alive just where one of them that is valid begins with it.

    So many values suffice: no schema here needs more items.
    """
    r = random.Random(f"prefix {seed}")
    values = r.sample([None, True, 1, "a", [], [1], [None], {}, {"a": 1}, {"a": None}], 4)

    def items():
        return {"enum": r.sample(values, r.randint(1, 4))}
    schema = {"type": "array", "items": items(), "maxItems": r.randint(2, 4), "minItems": r.randint(0, 3)}
    if r.random() < .5:
        schema["prefixItems"] = [items() for _ in range(r.randint(1, 3))]
    if r.random() < .4:
        schema["contains"], schema["minContains"] = items(), r.randint(1, 2)
    way = r.randrange(4)
    if way == 0:
        schema["not"] = {"uniqueItems": True}
    elif way == 1:
        schema["anyOf"] = [{"uniqueItems": True, "items": items()}, {"prefixItems": [items(), items()]}]
    elif way == 2:
        schema["if"], schema["then"] = {"contains": items()}, {"uniqueItems": True}
    else:
        schema["uniqueItems"] = True
    validator = jsonschema_rs.Draft202012Validator(schema)
    arrays = [list(x) for n in range(5) for x in itertools.product(values, repeat=n)]
    alive = {text for x in arrays if validator.is_valid(x) for _, text in prefixes(spelled(x))}
    try:
        a = build(schema, property_order="any")
    except UnsatisfiableError:
        assert not alive
        return
    for x in arrays:
        walk = Walk(a)
        for event, text in prefixes(spelled(x)):
            assert walk.feed(event) == (text in alive), (schema, text)
            if text not in alive:
                break
            if r.random() < .05:
                assert validator.is_valid(json.loads(walk.completion(text))), (schema, text)


@pytest.mark.parametrize("seed", range(30))
def test_random_schemas(seed):
    maker = Maker(random.Random(f"unique {seed}"), ("not", "if", "contains", "uniqueItems"))
    r = maker.random
    schema = {**maker.array(2), "uniqueItems": True, "$defs": {"x": maker.array(1)}}
    if r.random() < .4:
        schema[r.choice(["anyOf", "allOf", "oneOf"])] = [maker.array(1), maker.array(1)]
    for order in ("any", "schema"):
        try:
            check(schema, maker, order)
        except AssertionError as e:
            raise AssertionError(f"{e}\nproperty_order={order}\n{json.dumps(schema)}") from None


BOOLEANS = {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}       # seven of them


@pytest.mark.parametrize("items, count", [
    ({"type": "boolean"}, 2), ({"enum": [1, 1.0, 10e-1, "1", True]}, 3), (BOOLEANS, 7), ({**BOOLEANS, "uniqueItems": True}, 5),
    ({"type": "string", "maxLength": 0}, 1), ({"pattern": "^[ab]{0,2}$", "type": "string"}, 7), ({"type": "integer", "minimum": 1, "maximum": 40}, 40),
    ({"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.125}, 9),
    ({"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"const": 1}}, "additionalProperties": False}, 6),
    ({"type": "object", "propertyNames": {"enum": ["x", "y"]}, "additionalProperties": {"type": "null"}, "minProperties": 1}, 3),
    ({"enum": [[1, {"a": [2]}], [1.0, {"a": [2e0]}], [1, {"a": [2, 2]}]]}, 2)])
def test_there_are_just_so_many(items, count):
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": count}
    a = build(schema, property_order="any")
    ending = json.loads(a.value_ending(a.start))
    assert len(ending) == count and jsonschema_rs.Draft202012Validator(schema).is_valid(ending)
    assert accepts(a, ending) and not accepts(a, [*ending, ending[0]])
    with pytest.raises(UnsatisfiableError):
        build({**schema, "minItems": count + 1}, property_order="any")


def test_later_items_keep_what_they_need():
    """Slots with few values, each of which another one could take."""
    schema = {"prefixItems": [{"enum": [1, 2, 3]}, {"enum": [1, 2]}, {"enum": [1, 2]}], "minItems": 3, "items": False, "type": "array",
              "uniqueItems": True}
    a = build(schema)
    assert a.value_ending(a.start) in (b"[3,1,2]", b"[3,2,1]")
    for first in (1, 2, 3):
        assert Walk(a).feed("[") and accepts(a, [first, 2, 1]) == (first == 3)
    walk = Walk(a)
    assert walk.feed("[") and not walk.feed(next(events(spelled(1))))


def test_recursive_items():
    a = build({"type": "array", "items": {"$ref": "#"}, "uniqueItems": True, "minItems": 0})
    assert accepts(a, [[], [[]], [[], [[]]]]) and not accepts(a, [[[], [[]]], [[], [[]]]])
    with pytest.raises(UnsatisfiableError):     # a list needs another one that is not itself
        build({"type": "array", "items": {"$ref": "#"}, "uniqueItems": True, "minItems": 1})
    a = build({"type": ["array", "null"], "items": {"$ref": "#"}, "uniqueItems": True, "maxItems": 2})
    assert accepts(a, [None, [None]]) and not accepts(a, [[None], [None]])


@pytest.mark.parametrize("number", ["1", "1.0", "10e-1", "1E0", "0.1e1"])
def test_equal_numbers_in_any_spelling(number):
    grammar = llgcy.Grammar.from_json_schema({"type": "array", "uniqueItems": True}, number_spelling="any", property_order="any")
    assert not grammar.accepts(f"[1,{number}]") and not grammar.accepts(f'[{{"a":[{number}]}},{{"a":[1]}}]')
    assert grammar.accepts(f"[-1,{number}]") and grammar.accepts(f'["{number}",{number}]')


@pytest.mark.parametrize("text, ok", [
    (r'["a","\u0061"]', False), (r'["a","A"]', True), ('[{"a":1,"b":2},{"b":2,"a":1}]', False), ('[{"a":1},{"a":1,"b":2}]', True),
    ("[[1,2],[2,1]]", True), ("[[1,2],[1,2]]", False), ("[0,-0]", False), ("[0,false]", True), ("[1e400,10e399]", False),
    ("[1e99999999999999999999,10e99999999999999999998]", False), ('[[],{}]', True), ('[[[]],[[]]]', False), (r'["\ud83d\ude00","😀"]', False)])
def test_equality(text, ok):
    grammar = llgcy.Grammar.from_json_schema({"type": "array", "uniqueItems": True}, number_spelling="any", property_order="any")
    assert grammar.accepts(text) == ok
    negated = llgcy.Grammar.from_json_schema({"type": "array", "not": {"uniqueItems": True}}, number_spelling="any", property_order="any")
    assert negated.accepts(text) != ok


def test_value_of_the_keyword():
    with pytest.raises(GrammarError):
        build({"uniqueItems": 1})


def test_many_values():
    a = build({"type": "array", "uniqueItems": True, "items": {"enum": list(range(64))}})
    assert accepts(a, list(range(64)))
    assert not accepts(a, [*range(64), 5])


@pytest.mark.parametrize("items", [{"type": "string"}, {"type": "integer"}, {"type": "object", "properties": {"id": {"type": "integer"}, "name": {}},
                                                                                "required": ["id"], "additionalProperties": False}])
def test_masks_of_many_items(items):
    """Each of a few hundred items is in the mask, and one that has come is not."""
    if items["type"] == "string":
        values = [f"w{i}" for i in range(300)]
    else:
        values = [7 * i for i in range(60)] if items["type"] == "integer" else [{"id": i, "name": [i]} for i in range(40)]
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "array", "items": items, "uniqueItems": True}), llgcy.Tokenizer.default())
    m, mask = compiled.matcher(), llgcy.allocate_bitmask(1, compiled.tokenizer.vocab_size)
    text = json.dumps(values, separators=(",", ":"))
    for token in compiled.tokenizer.encode(text):
        m.fill_next_token_bitmask(mask)
        assert mask[0, token >> 5] >> (token & 31) & 1 and m.accept_token(token)
    m.rollback(1)
    assert m.accept_bytes(b",") and not m.accept_bytes(json.dumps(values[5], separators=(",", ":")).encode() + b"]")


def test_items_beyond_the_limit(monkeypatch):
    """The mask loses the comma before an item too many; where that item must come, there is an error."""
    monkeypatch.setattr(states, "SEEN", 5)
    vocabulary = [bytes([b]) for b in range(256)] + [b",-", b", ", b"7,", b"],", None]
    tokenizer = llgcy.Tokenizer.from_vocab(vocabulary, eos_token_id=len(vocabulary) - 1)
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True}), tokenizer)
    m, mask = compiled.matcher(), llgcy.allocate_bitmask(1, len(vocabulary))
    for byte in b"[1,2,3,4,5]":
        m.fill_next_token_bitmask(mask)
        for token in range(len(vocabulary) - 1):
            assert (mask[0, token >> 5] >> (token & 31) & 1) == m.validate_tokens([token])
        assert m.accept_token(byte)
    m.rollback(1)
    assert not m.accept_bytes(b",") and m.completion() == b"]"
    with pytest.raises(LimitError):
        a = build({"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 6})
        Walk(a).feed("[")


def test_too_many_to_count():
    with pytest.raises(LimitError):
        build({"type": "array", "items": {"type": "object", "maxProperties": 1, "propertyNames": {"maxLength": 1},
                                          "additionalProperties": {"type": "boolean"}}, "uniqueItems": True, "minItems": 5000})
