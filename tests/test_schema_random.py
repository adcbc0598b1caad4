"""Random schemas against jsonschema-rs: verdicts, emptiness, and a valid ending for every prefix that is called alive."""
import json
import random

import pytest
from schema_random import Maker
from schema_walk import Walk, build, in_order, prefixes, spelled

from llgcy.errors import GrammarError, LimitError, UnsatisfiableError

jsonschema_rs = pytest.importorskip("jsonschema_rs")

EVERYTHING = ("not", "if", "contains", "propertyNames", "dependent")


def check(schema, maker, order):
    """Compares one schema with the validator; returns how many events were read, or None where the schema is refused."""
    validator = jsonschema_rs.Draft202012Validator(schema)
    pool = [maker.value() for _ in range(60)]
    try:
        a = build(schema, property_order=order)
    except UnsatisfiableError:
        assert not any(validator.is_valid(v) for v in pool + [maker.value() for _ in range(200)]), "said to be empty"
        return 0
    except LimitError:
        return None
    except GrammarError as e:
        assert "itself" in str(e)
        return None
    ending = json.loads(a.value_ending(a.start))
    assert validator.is_valid(ending), f"the ending {ending} is not valid"
    valid = [v for v in pool if validator.is_valid(v)] + [ending]
    near = [maker.near(maker.random.choice(valid)) for _ in range(40)]
    read = 0
    for value in pool[:20] + near + [ending]:
        value = maker.shuffled(value) if order == "any" else in_order(a, value, a.values[a.start][1])
        walk, alive = Walk(a), True
        for event, text in prefixes(spelled(value)):
            alive = walk.feed(event)
            if not alive:
                break
            read += 1
            if maker.random.random() < .25:
                done = walk.completion(text)
                assert done.startswith(text)
                assert validator.is_valid(json.loads(done)), f"{text} was completed to {done}"
        assert (alive and walk.done) == validator.is_valid(value), f"verdict on {json.dumps(value)}"
    return read


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("words", [(), EVERYTHING, (*EVERYTHING, "unevaluated")], ids=["plain", "everything", "unevaluated"])
def test_random_schemas(seed, words):
    maker = Maker(random.Random(f"{seed} {len(words)}"), words)
    schema = maker.document()
    for order in ("any", "schema"):
        try:
            check(schema, maker, order)
        except AssertionError as e:
            raise AssertionError(f"{e}\nproperty_order={order}\n{json.dumps(schema)}") from None


def test_the_checks_look_at_something():
    read = refused = 0
    for seed in range(40):
        maker = Maker(random.Random(seed), EVERYTHING)
        found = check(maker.document(), maker, "any")
        refused += found is None
        read += found or 0
    assert read > 5000 and refused < 6
