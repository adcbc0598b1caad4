"""The figures of a measurement as a table."""
from __future__ import annotations

from collections.abc import Iterable

from llgcy.bench.measure import Run

Found = dict[str, dict[str, Run]]
COLUMNS = ("mask, mean", "median", "p99", "p99.9", "worst", "first mask, median", "p99", "worst")


def passed_by_all(found: Found) -> list[str]:
    """The cases that every engine passed: what is compared."""
    engines = list(found.values())
    return [case for case in engines[0] if all(engine[case].status == "passed" for engine in engines)] if engines else []


def mask_times(runs: dict[str, Run], cases: Iterable[str]) -> list[int]:
    """All times of masks, ascending, in nanoseconds."""
    return sorted(time for case in cases for time in runs[case].masks)


def quantile(ordered: list[int], share: float) -> float:
    """The value below which this share of the values lies; NaN of none."""
    return float(ordered[min(len(ordered) - 1, int(len(ordered) * share))]) if ordered else float("nan")


def shown(nanoseconds: float) -> str:
    """A time for people.

    >>> shown(1234), shown(12345678)
    ('1.2 µs', '12.3 ms')
    """
    if nanoseconds != nanoseconds:
        return ""
    value, unit = nanoseconds / 1e3, "µs"
    if value >= 1e6:
        value, unit = value / 1e6, "s"
    elif value >= 1e3:
        value, unit = value / 1e3, "ms"
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.1f} {unit}"


def table(found: Found) -> str:
    """A table in Markdown: an engine a row. Times are of the cases that all of them pass."""
    cases = passed_by_all(found)
    lines = ["| | passed | refused | stopped | " + " | ".join(COLUMNS) + " |", "|---" * (4 + len(COLUMNS)) + "|"]
    for name, runs in found.items():
        counts = [sum(run.status == status for run in runs.values()) for status in ("passed", "refused", "stopped")]
        masks, firsts = mask_times(runs, cases), sorted(runs[case].first for case in cases)
        mean = sum(masks) / len(masks) if masks else float("nan")
        times = [mean, *(quantile(masks, share) for share in (.5, .99, .999, 1)), *(quantile(firsts, share) for share in (.5, .99, 1))]
        lines.append(f"| {name} | " + " | ".join([*map(str, counts), *map(shown, times)]) + " |")
    total = sum(len(found[name][case].masks) for name in list(found)[:1] for case in cases)
    lines += ["", f"Times of the {len(cases)} schemas that all engines pass: {total} masks, each with its token taken."]
    return "\n".join(lines) + "\n"
