"""What masks take, in counts: the counters of asv_bench against bounds that were recorded. Times are noise, counts are not.

After a change that needs less, or more for a reason: ``LLGCY_RECORD=1 python -m pytest tests/test_counters.py`` records anew.
"""
import importlib
import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1] / "asv_bench"
BOUNDS = ROOT / "bounds.json"
SLACK = 1.1         # that a counter may exceed what was recorded; half of it, and the bound is out of date
BYTES_SLACK = 1.5   # bytes also count what the tokenizer shares between grammars, of which other tests may have made more


@pytest.fixture(scope="module")
def masks():
    sys.path.insert(0, str(ROOT))
    try:
        yield importlib.import_module("benchmarks.masks")
    finally:
        sys.path.remove(str(ROOT))


def counted(masks):
    """Every track_ of the counters, by case."""
    counters = masks.Counters()
    cache = counters.setup_cache()
    return {case: {name[len("track_"):]: getattr(counters, name)(cache, case) for name in sorted(dir(counters)) if name.startswith("track_")}
            for case in counters.params}


def test_counters_are_within_their_bounds(masks):
    found = counted(masks)
    if os.environ.get("LLGCY_RECORD") == "1":
        BOUNDS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    bounds = json.loads(BOUNDS.read_text())
    assert found.keys() == bounds.keys(), "a case without bounds, or bounds without a case"
    wrong = []
    for case, counts in found.items():
        assert counts.keys() == bounds[case].keys()
        for name, count in counts.items():
            bound = bounds[case][name]
            if name == "hits":
                good = bound <= count <= counts["tokens"]           # the more, the better
            else:
                good = bound / 2 <= count <= bound * (BYTES_SLACK if "bytes" in name else SLACK) + 2
            if not good:
                wrong.append(f"{case}: {name} is {count}, recorded {bound}")
    assert not wrong, "\n".join(wrong)


def test_a_text_read_again_finds_its_masks_ready(masks):
    """Whatever the grammar: the second time no mask is computed."""
    for case in masks.Counters.params:
        text = masks.Warm()
        text.setup(case)
        before = text.compiled.stats()
        masks.replay(text.compiled, text.ids, text.bitmask)
        after = text.compiled.stats()
        assert (after["walks"], after["classified"], after["masks"]) == (before["walks"], before["classified"], before["masks"]), case
        assert after["hits"] > before["hits"]


def test_searched_patterns_are_classified_by_free_strings(masks):
    text = masks.Warm()
    text.setup("searched")
    assert text.compiled.stats()["roaming"] + text.compiled.stats()["shared"] > 0
