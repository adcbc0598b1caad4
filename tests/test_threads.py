"""Shared grammars under many threads and after a fork of the process; matchers that two threads use."""
import os
import random
import threading

import numpy
import pytest

import llgcy
from llgcy.core.matcher import CompiledGrammar
from llgcy.errors import StateError

from test_masks import EOS, TOKENS, TableMachine, Vocabulary

SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, "age": {"type": "integer", "minimum": 0},
                                           "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 3},
                                           "next": {"$ref": "#"}},
          "required": ["name"], "additionalProperties": {"type": "number"}}
RULES = """
start: item{2,5} "."
item: WORD | "(" start ")" | NUMBER ("+" NUMBER)*
WORD: /[a-z]+/
NUMBER: /[0-9]+(\\.[0-9]+)?/
%ignore /[ ]+/
"""
GRAMMARS = {"json": lambda: llgcy.Grammar.from_json_schema(SCHEMA), "rules": lambda: llgcy.Grammar.from_lark(RULES)}
TOKENIZER = llgcy.Tokenizer.default()


def allowed(matcher):
    """(the mask's words as bytes, the ids allowed)."""
    mask = llgcy.allocate_bitmask(1, TOKENIZER.vocab_size)
    matcher.fill_next_token_bitmask(mask)
    return mask.tobytes(), numpy.flatnonzero(numpy.unpackbits(mask.view(numpy.uint8), bitorder="little"))


def walk(compiled, seed, steps=25):
    """What one sequence sees that chooses tokens by a seed: masks, and answers of other calls."""
    rng, matcher, seen = random.Random(seed), compiled.matcher(), []
    for _ in range(steps):
        words, ids = allowed(matcher)
        seen.append(words)
        if matcher.is_terminated():
            break
        token = int(rng.choice(ids))
        assert matcher.validate_tokens([token]) == 1 and matcher.accept_token(token)
        seen.append((token, matcher.is_accepting(), matcher.forced_bytes()))
        if rng.random() < 0.2:
            other = matcher.fork()
            other.rollback(min(2, other.steps))
            seen.append(allowed(other)[0])
    return seen


def run_all(jobs):
    """Starts all at once; raises what any of them raised."""
    gate, failures = threading.Barrier(len(jobs)), []

    def one(job):
        try:
            gate.wait()
            job()
        except BaseException as error:      # noqa: BLE001 - handed on below
            failures.append(error)

    threads = [threading.Thread(target=one, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("kind", GRAMMARS)
def test_eight_threads_see_what_one_sees(kind):
    """On a cold grammar, and again on the warm one."""
    alone = llgcy.compile(GRAMMARS[kind](), TOKENIZER)
    want = {seed: walk(alone, seed) for seed in range(16)}
    shared, seen = llgcy.compile(GRAMMARS[kind](), TOKENIZER), {}
    for turn in range(2):
        def job(seeds):
            for seed in seeds:
                seen[turn, seed] = walk(shared, seed)
        run_all([lambda i=i: job([i, (i + 8 * turn + 3) % 16, 15 - i]) for i in range(8)])
        for (_, seed), found in seen.items():
            assert found == want[seed]


class Waits(dict):
    """The moves of a table machine; the first look-up of a key stops until it is let go on."""

    def __init__(self, moves):
        super().__init__(moves)
        self.inside, self.go_on = threading.Event(), threading.Event()

    def get(self, key, default=None):
        if not self.inside.is_set():
            self.inside.set()
            assert self.go_on.wait(30)
        return super().get(key, default)


def blocked(call):
    """A matcher in whose call another thread is, the moves that it waits in, and that thread."""
    moves = Waits({(None, 0, 97): (0, 0)})
    vocabulary = Vocabulary([*TOKENS, None, None], (EOS,))
    compiled = CompiledGrammar(None, None, vocabulary, lambda: (TableMachine(moves, {0}, set()), None), 1 << 20)
    matcher = compiled.matcher()
    thread = threading.Thread(target=call, args=(matcher,))
    thread.start()
    assert moves.inside.wait(30)
    return matcher, moves, thread


CALLS = {
    "accept_token": lambda m: m.accept_token(0), "accept_tokens": lambda m: m.accept_tokens([0]),
    "accept_bytes": lambda m: m.accept_bytes(b"a"), "validate_tokens": lambda m: m.validate_tokens([0]),
    "fill": lambda m: m.fill_next_token_bitmask(numpy.zeros((1, 3), numpy.int32)), "rollback": lambda m: m.rollback(0),
    "reset": lambda m: m.reset(), "fork": lambda m: m.fork(), "is_accepting": lambda m: m.is_accepting(),
    "is_complete": lambda m: m.is_complete(), "forced_bytes": lambda m: m.forced_bytes(), "completion": lambda m: m.completion(),
}


@pytest.mark.parametrize("first", ["accept_token", "fill"])
def test_a_matcher_has_one_owner(first):
    matcher, moves, thread = blocked(CALLS[first])
    try:
        for name, call in CALLS.items():
            with pytest.raises(StateError, match="one thread at a time"):
                call(matcher)
    finally:
        moves.go_on.set()
        thread.join()
    assert matcher.steps == (first == "accept_token")
    CALLS["accept_token"](matcher)          # free again


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_fork_while_other_threads_hold_locks():
    """The fork waits until no store is half written; the child has free locks, and none of the threads."""
    compiled = llgcy.compile(GRAMMARS["json"](), TOKENIZER)
    want = walk(llgcy.compile(GRAMMARS["json"](), TOKENIZER), 1)
    stop, children = threading.Event(), []

    def busy(seed):
        while not stop.is_set():
            seed += 10
            walk(compiled, seed)

    def forks():
        try:
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    try:
                        good = walk(compiled, 1) == want and walk(llgcy.compile(GRAMMARS["rules"](), TOKENIZER), 1)
                    finally:
                        os._exit(0 if good else 1)
                children.append(child)
                assert walk(compiled, 1) == want
        finally:
            stop.set()

    run_all([lambda: busy(1), lambda: busy(2), forks])
    assert len(children) == 5
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_claim_of_a_thread_that_the_child_does_not_have_is_void():
    """Another thread waits for the lock inside of a call while the process forks."""
    compiled = llgcy.compile(GRAMMARS["rules"](), TOKENIZER)
    matcher, moves, thread = blocked(CALLS["fill"])
    late = matcher.compiled.matcher()
    waits = threading.Thread(target=late.accept_token, args=(0,))
    waits.start()
    threading.Timer(0.2, moves.go_on.set).start()
    child = os.fork()           # waits for the fill
    if child == 0:
        good = False
        try:
            late.rollback(0)
            good = late.accept_token(0) and matcher.accept_token(0) and compiled.matcher().accept_bytes(b"a")
        finally:
            os._exit(0 if good else 1)
    thread.join()
    waits.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
