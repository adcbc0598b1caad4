"""uniqueItems of finitely many scalars, against jsonschema-rs."""
import itertools
import random

import pytest
from schema_walk import accepts, build

from llgcy.errors import GrammarError, UnsatisfiableError, UnsupportedKeywordError

jsonschema_rs = pytest.importorskip("jsonschema_rs")

SCALARS = [None, True, False, 0, 1, "a", "1"]


@pytest.mark.parametrize("seed", range(60))
def test_random_arrays(seed):
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


@pytest.mark.parametrize("schema", [{}, {"items": {"type": "string"}}, {"items": {"enum": [[1], 2]}}, {"prefixItems": [{"const": 1}]},
                                    {"items": {"enum": list(range(65))}}, {"items": {"enum": list(range(9))}, "minItems": 2},
                                    {"items": {"$ref": "#"}}])
def test_what_is_not_finite_is_refused(schema):
    with pytest.raises(UnsupportedKeywordError) as e:
        build({**schema, "uniqueItems": True})
    assert e.value.pointer == "/uniqueItems"


def test_value_of_the_keyword():
    with pytest.raises(GrammarError):
        build({"uniqueItems": 1})


def test_many_values():
    a = build({"type": "array", "uniqueItems": True, "items": {"enum": list(range(64))}})
    assert accepts(a, list(range(64)))
    assert not accepts(a, [*range(64), 5])
