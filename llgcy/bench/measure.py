"""Replays texts through engines and takes the times."""
from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Callable, Iterable
from typing import NamedTuple

from llgcy.bench.cases import Case
from llgcy.bench.engines import Engine, Refused
from llgcy.tokenizer import Tokenizer


class Run(NamedTuple):
    """What one engine did with one case.

    Attributes
    ----------
    status : str
        "passed"; "refused": it does not take the schema; "stopped": it does not take one of the texts.
    first : int
        Nanoseconds from the schema to the first mask and its token.
    masks : array of int
        Nanoseconds of each other mask with its token.
    """

    status: str
    first: int
    masks: array[int]


def replay(engine: Engine, case: Case, tokens: list[list[int]]) -> Run:
    """Compiles the case's schema, and asks for a mask before each token of each text."""
    clock, masks, first = time.perf_counter_ns, array("q"), -1
    begin = clock()
    try:
        compiled = engine.compile(case.schema)
    except Refused:
        return Run("refused", 0, masks)
    for ids in tokens:
        state = engine.start(compiled)
        for id in ids:
            before = clock()
            engine.mask(state)
            taken = engine.accept(state, id)
            after = clock()
            if not taken:
                return Run("stopped", max(first, 0), masks)
            if first < 0:
                first = after - begin
            else:
                masks.append(after - before)
    return Run("passed", max(first, 0), masks)


def measure(engines: list[Engine], cases: Iterable[Case], tokenizer: Tokenizer, rounds: int = 1,
            progress: Callable[[int, str], None] = lambda done, name: None) -> dict[str, dict[str, Run]]:
    """Runs by engine and case. All engines do a case before any does the next one; of several rounds the fastest counts, since what
    disturbs a measurement only makes it longer.

    Cases without a text are left out.
    """
    found: dict[str, dict[str, Run]] = {engine.name: {} for engine in engines}
    gc.collect()
    gc.freeze()         # what has been made so far is none of theirs
    try:
        for number, case in enumerate(cases):
            progress(number, case.name)
            tokens = [tokenizer.encode(text) for text in case.texts]
            if not any(tokens):
                continue
            runs: dict[str, list[Run]] = {engine.name: [] for engine in engines}
            for _ in range(rounds):
                for engine in engines:
                    runs[engine.name].append(replay(engine, case, tokens))
            for name, some in runs.items():
                found[name][f"{number}: {case.name}"] = sorted(some, key=lambda run: (run.status, run.first + sum(run.masks)))[0]
    finally:
        gc.unfreeze()
    return found
