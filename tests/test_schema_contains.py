"""Counts of contains: large ones are met by as many items, and what cannot be looked through meets a limit at once."""
import itertools
import json
import random

import pytest
from schema_walk import Walk, build, prefixes, spelled

from llgcy.errors import LimitError, UnsatisfiableError
from llgcy.schema import empty

jsonschema_rs = pytest.importorskip("jsonschema_rs")

A, B = {"const": "a"}, {"const": "b"}
VALUES = [0, 1, 2, "a", None]


@pytest.mark.parametrize("seed", range(60))
def test_plain_ways_by_brute_force(seed, monkeypatch):
    """The way for large counts, tried first for small ones: verdicts, emptiness and endings stay right."""
    monkeypatch.setattr(empty, "CASES", 0)
    r = random.Random(seed)

    def contained():
        return r.choice([{"enum": r.sample(VALUES, r.randint(1, 3))}, {"type": "integer"}, {"minimum": 1}, {"type": "string"}])
    schema = {"type": "array", "items": {"enum": VALUES}, "allOf": [
        {"contains": contained(), "minContains": r.randint(0, 3), **({"maxContains": r.randint(0, 3)} if r.random() < .5 else {})}
        for _ in range(r.randint(1, 3))]}
    for word, chance in (("maxItems", .5), ("minItems", .3)):
        if r.random() < chance:
            schema[word] = r.randint(1, 5)
    validator = jsonschema_rs.Draft202012Validator(schema)
    arrays = [list(x) for n in range(5) for x in itertools.product(VALUES, repeat=n)]
    try:
        a = build(schema)
    except UnsatisfiableError:
        assert not any(map(validator.is_valid, arrays)), schema
        return
    assert validator.is_valid(json.loads(a.value_ending(a.start))), schema
    for x in r.sample(arrays, 60):
        walk, alive = Walk(a), True
        for event, text in prefixes(spelled(x)):
            alive = walk.feed(event)
            if not alive:
                break
            if r.random() < .3:
                assert validator.is_valid(json.loads(walk.completion(text))), (schema, text)
        assert (alive and walk.done) == validator.is_valid(x), (schema, x)


@pytest.mark.parametrize("schema, length", [
    ({"contains": A, "minContains": 10**5}, 10**5), ({"contains": A, "minContains": 1000, "maxContains": 2000}, 1000),
    ({"allOf": [{"contains": A, "minContains": 500}, {"contains": B, "minContains": 700, "maxContains": 900}]}, 1200),
    ({"allOf": [{"contains": {"type": "string"}, "minContains": 500}, {"contains": A, "minContains": 700}]}, 700)])
def test_large_counts(schema, length):
    a = build({"type": "array", **schema})
    ending = json.loads(a.value_ending(a.start))
    assert len(ending) == length and jsonschema_rs.Draft202012Validator(schema).is_valid(ending)


def test_more_than_fit():
    with pytest.raises(UnsatisfiableError):
        build({"type": "array", "contains": A, "minContains": 10**6, "maxItems": 10**6 - 1})


def test_cases_beyond_the_limit():
    with pytest.raises(LimitError, match="cases of counts"):
        build({"type": "array", "allOf": [{"contains": A, "minContains": 1000}, {"contains": B, "minContains": 1000}], "maxItems": 1999})
