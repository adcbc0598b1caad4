"""The official test suite of JSON Schema, and real schemas with instances, where the data is at hand."""
import gzip
import json

import pytest
from schema_walk import Number, Walk, accepts, build, events

from llgcy.errors import GrammarError, LimitError, UnsatisfiableError

# Draft and folder: fewest groups whose every instance is judged right. What is not supported is refused, never misjudged.
SUITE = {"draft2020-12": 360, "draft2019-09": 349, "draft7": 236, "draft6": 219, "draft4": 150, "draft2020-12/optional": 47}


def json_text_numbers(value):
    """A parsed value with each number as the text that it had, near enough: floats keep their point."""
    if isinstance(value, dict):
        return {k: json_text_numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return [json_text_numbers(v) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Number(json.dumps(value))
    return value


def judged(automaton, value):
    walk = Walk(automaton)
    return all(walk.feed(e) for e in events(json_text_numbers(value))) and walk.done


@pytest.mark.parametrize("folder", SUITE)
def test_official_suite(shared, folder):
    root = shared / "json-schema-test-suite"
    resources = {"http://localhost:1234/" + str(p.relative_to(root / "remotes")): json.loads(p.read_text("utf-8"))
                 for p in (root / "remotes").rglob("*.json")}
    draft, exact, wrong = folder.partition("/")[0], 0, []
    for path in sorted((root / "tests" / folder).glob("*.json")):
        if path.stem == "format":
            continue                    # asks that formats be annotations
        for group in json.loads(path.read_text("utf-8")):
            where = f"{path.stem}: {group['description']}"
            try:
                a = build(group["schema"], draft=draft, property_order="any", number_spelling="any", resources=resources)
            except UnsatisfiableError:
                a = None
            except (GrammarError, LimitError):
                continue
            bad = [t["description"] for t in group["tests"] if (a is not None and judged(a, t["data"])) != t["valid"]]
            wrong += [f"{where}: {b}" for b in bad]
            exact += not bad
    assert not wrong
    assert exact >= SUITE[folder]


@pytest.mark.parametrize("part", range(3))
def test_real_schemas(shared, part):
    """A part of the real schemas: every instance judged right in any order; in schema order nothing invalid accepted."""
    wrong, refused, number = [], 0, 0
    with gzip.open(shared / "maskbench-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            if i % 60 != part * 20:
                continue
            entry = json.loads(line)
            number += 1
            try:
                a = build(entry["schema"], property_order="any", number_spelling="any")
                b = build(entry["schema"])
            except (GrammarError, LimitError):
                refused += 1
                continue
            for test in entry["tests"]:
                if judged(a, test["data"]) != test["valid"] or accepts(b, test["data"]) and not judged(a, test["data"]):
                    wrong.append(entry["id"])
            ending = json.loads(b.value_ending(b.start))
            if not judged(a, ending):
                wrong.append(entry["id"] + " (ending)")
    assert not wrong
    assert number > 40 and refused <= number * 6 // 100
