"""Masks and matchers over random tables, against brute force over the vocabulary."""
import itertools

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llgcy.core._testing import TableMachine
from llgcy.core.matcher import CompiledGrammar
from llgcy.core.trie import Vocabulary
from llgcy.errors import StateError

ALPHABET = b"abc"
TOKENS = [b"".join(w) for n in (1, 2, 3) for w in itertools.product([b"a", b"b", b"c"], repeat=n)]
TOKENS = [*TOKENS, b"a", b"abcabc", None, b"", b"cccc", b"z"]       # twins, longer ones, ids without text, a byte that never comes
EOS = len(TOKENS)


@st.composite
def tables(draw):
    """(moves, inside, final, plain): plain is the same machine as a dict over (row, state)."""
    states, rows = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    inside = draw(st.sets(st.integers(0, states - 1)))
    moves = {}
    for state in range(states):
        for byte in ALPHABET:
            if state in inside and draw(st.booleans()):
                to = draw(st.sampled_from(sorted(inside)))
                moves[None, state, byte] = (0, to)
                continue
            for row in range(rows):
                if draw(st.integers(0, 2)):
                    moves[row, state, byte] = (draw(st.integers(0, rows - 1)), draw(st.integers(0, states - 1)))
    final = {(r, s) for r in range(rows) for s in range(states) if draw(st.booleans())}
    return moves, inside, final


class Model:
    """The plain recogniser."""

    def __init__(self, moves, inside, final):
        self.moves, self.final = moves, final

    def step(self, at, byte):
        if (None, at[1], byte) in self.moves:
            return at[0], self.moves[None, at[1], byte][1]
        return self.moves.get((at[0], at[1], byte))

    def run(self, at, text):
        for byte in text or ():
            at = at and self.step(at, byte)
        return at if text else None

    def mask(self, at):
        out = {i for i, token in enumerate(TOKENS) if self.run(at, token)}
        return out | ({EOS} if at in self.final else set())


def compiled(table, mask_bytes=1 << 20):
    vocabulary = Vocabulary([*TOKENS, None, None], (EOS,))
    return CompiledGrammar(None, None, vocabulary, lambda: (TableMachine(*table), None), mask_bytes)


def bits(matcher):
    out = numpy.full((1, 3), -1, dtype=numpy.int32)
    matcher.fill_next_token_bitmask(out, 0)
    assert out[0, 2] == 0
    return set(numpy.flatnonzero(numpy.unpackbits(out.view(numpy.uint8), bitorder="little")).tolist())


@settings(max_examples=150, deadline=None)
@given(tables(), st.randoms(use_true_random=False), st.sampled_from([1 << 20, 20_000]))
def test_walks_with_rollback_and_fork(table, rng, mask_bytes):
    """Masks, accept and validate agree with the model, warm or cold, with room to remember masks or without."""
    model, matcher = Model(*table), compiled(table, mask_bytes).matcher()
    trail = [(0, 0)]
    for _ in range(25):
        at = trail[-1]
        choice = rng.random()
        if choice < 0.15:
            n = rng.randint(0, len(trail) - 1)
            matcher.rollback(n)
            del trail[len(trail) - n:]
            continue
        if choice < 0.25:
            other = matcher.fork()
            for token in rng.sample(range(len(TOKENS)), 5):
                other.accept_token(token)
            if rng.random() < 0.5:
                other.rollback(min(other.steps, len(trail) - 1))
            continue
        if at == "end":
            assert bits(matcher) == {EOS} and matcher.is_terminated() and matcher.is_complete()
            assert matcher.accept_token(EOS) and matcher.steps == len(trail) - 1
            assert not matcher.accept_token(0)
            continue
        want = model.mask(at)
        assert bits(matcher) == want
        assert matcher.is_accepting() == (at in model.final)
        token = rng.choice(sorted(want)) if want and rng.random() < 0.8 else rng.randrange(EOS + 2)
        assert matcher.validate_tokens([token]) == (token in want)
        assert matcher.accept_token(token) == (token in want)
        if token in want:
            trail.append("end" if token == EOS else model.run(at, TOKENS[token]))
    matcher.reset()
    assert bits(matcher) == model.mask((0, 0))


def test_long_history():
    """Rollback over many chunks, and forks that grow apart."""
    table = {(None, 0, 97): (0, 1), (None, 1, 97): (0, 0)}, {0, 1}, {(0, 1)}
    matcher = compiled(table).matcher()
    for i in range(1000):
        assert matcher.accept_token(TOKENS.index(b"a"))
        assert matcher.is_accepting() == (i % 2 == 0)
    forks = [matcher.fork() for _ in range(3)]
    for i, fork in enumerate(forks):
        fork.rollback(300 * i)
        for _ in range(i):
            fork.accept_token(TOKENS.index(b"a"))
        assert fork.is_accepting() == ((1000 - 300 * i + i) % 2 == 1)
    assert matcher.steps == 1000
    matcher.rollback(999)
    assert matcher.is_accepting() and matcher.steps == 1
    matcher.rollback(1)
    assert not matcher.is_accepting()
    with pytest.raises(ValueError, match="cannot roll back 1 of 0"):
        matcher.rollback(1)


def test_a_million_steps_are_freed_without_recursion():
    table = {(None, 0, 97): (0, 0)}, {0}, set()
    matcher = compiled(table).matcher()
    for _ in range(300_000):
        matcher.accept_token(0)
    del matcher


@pytest.mark.parametrize("buffer, error", [
    (numpy.zeros((1, 2), numpy.int64), ValueError), (numpy.zeros((1, 1), numpy.int32), ValueError),
    (numpy.zeros((1, 2, 2), numpy.int32), ValueError), (numpy.zeros((1, 2), numpy.float32), ValueError),
    (b"12345678", BufferError), (None, TypeError), ([0, 0], TypeError)])
def test_bad_bitmasks(buffer, error):
    matcher = compiled(({(0, 0, 97): (0, 0)}, set(), set())).matcher()
    with pytest.raises(error):
        matcher.fill_next_token_bitmask(buffer)


def test_bitmask_shapes():
    matcher = compiled(({(0, 0, 97): (0, 0)}, set(), set())).matcher()
    for dtype in (numpy.int32, numpy.uint32):
        flat, rows = numpy.ones(4, dtype), numpy.ones((3, 4), dtype)
        assert matcher.fill_next_token_bitmask(flat)
        matcher.fill_next_token_bitmask(rows, 2)
        assert (rows[2] == flat).all() and (rows[:2] == 1).all() and flat[0] != 1 and (flat[2:] == 0).all()
    with pytest.raises(ValueError, match="row 3 of a bitmask of 3 rows"):
        matcher.fill_next_token_bitmask(numpy.ones((3, 4), numpy.int32), 3)


def test_ids_outside_the_vocabulary():
    matcher = compiled(({(0, 0, 97): (0, 0)}, set(), set())).matcher()
    for bad in (-1, EOS + 2):
        with pytest.raises(ValueError, match="not an id of the vocabulary"):
            matcher.accept_token(bad)
        with pytest.raises(ValueError, match="not an id of the vocabulary"):
            matcher.validate_tokens([0, bad])
    assert not matcher.accept_token(EOS + 1)        # padding: refused, no error


def test_no_text_is_an_internal_error():
    from llgcy.core.machine import Machine
    with pytest.raises(StateError):
        CompiledGrammar(None, None, Vocabulary([b"a"], (1,)), lambda: (Machine(), None), 1 << 20)
