"""Batches, drafts and draft trees, against one call after the other."""
import os
import random
import subprocess
import sys

import numpy
import pytest

import llgcy
from llgcy.errors import LimitError, StateError

from test_threads import GRAMMARS, run_all

TOKENIZER = llgcy.Tokenizer.default()
TEXTS = TOKENIZER.text_tokens()
SINGLE = llgcy.Tokenizer.single_byte()
WORDS = (TOKENIZER.vocab_size + 31) // 32


def ids(row):
    return numpy.flatnonzero(numpy.unpackbits(row.view(numpy.uint8), bitorder="little"))


def crowd(rng, n, cold=False):
    """Matchers of several grammars and tokenizers at random places, some at their end, healing, canonical, or with EOS of their own."""
    compiled = [llgcy.compile(make(), TOKENIZER) for make in GRAMMARS.values()]
    compiled.append(llgcy.compile(llgcy.Grammar.from_choices(["the end", "the beginning"]), TOKENIZER))
    out, fresh = [], {}
    for _ in range(n):
        kind = rng.random()
        options = {}
        if kind < 0.1:
            options["prompt"] = TOKENIZER.encode("some text that th")
        elif kind < 0.2:
            options["tokens"] = "canonical"
        elif kind < 0.3:
            options["eos_token_ids"] = [5, 7]
        c = rng.choice(compiled)
        matcher = c.matcher(**options)
        tokens = walk(matcher, rng, rng.randint(0, 8))
        if cold:        # the same place in a grammar that has computed no mask
            matcher = fresh.setdefault(c, llgcy.compile(c.grammar, TOKENIZER)).matcher(**options)
            assert matcher.accept_tokens(tokens) == len(tokens)
        out.append(matcher)
    return out


def walk(matcher, rng, steps):
    """Takes random tokens, and returns them."""
    mask, tokens = llgcy.allocate_bitmask(1, TOKENIZER.vocab_size), []
    for _ in range(steps):
        matcher.fill_next_token_bitmask(mask)
        tokens.append(int(rng.choice(ids(mask))))
        matcher.accept_token(tokens[-1])
    return tokens


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_fill_bitmasks(threads):
    rng = random.Random(str(threads))
    for cold in (False, True):
        matchers = crowd(rng, 40, cold)
        rows = rng.sample(range(60), 40)
        mask = numpy.full((60, WORDS + 3), -1, numpy.int32)
        some = llgcy.fill_bitmasks(matchers, mask, rows, threads)
        want = numpy.full((60, WORDS + 3), -1, numpy.int32)
        assert some == [m.fill_next_token_bitmask(want, row) for m, row in zip(matchers, rows)]
        assert (mask == want).all()
        again = numpy.zeros((40, WORDS), numpy.int32)
        llgcy.fill_bitmasks(matchers, again, threads=threads)       # warm, row by row
        assert (again == want[rows, :WORDS]).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_accept_batch(threads):
    rng = random.Random(threads)
    matchers = crowd(rng, 40)
    for _ in range(12):
        mask = numpy.zeros((40, WORDS), numpy.int32)
        llgcy.fill_bitmasks(matchers, mask, threads=threads)
        tokens = [int(rng.choice(ids(row))) if rng.random() < 0.8 else rng.randrange(TOKENIZER.vocab_size) for row in mask]
        others = [m.fork() for m in matchers]
        want = [m.accept_token(token) for m, token in zip(others, tokens)]
        assert llgcy.accept_batch(matchers, tokens, threads) == want
        assert [m.steps for m in matchers] == [m.steps for m in others]
        a, b = mask.copy(), mask.copy()
        llgcy.fill_bitmasks(matchers, a, threads=threads)
        llgcy.fill_bitmasks(others, b, threads=threads)
        assert (a == b).all()


def drafts(rng, matchers, most):
    """Trees that mostly follow the masks: (tokens, parents) a matcher."""
    out = []
    mask = numpy.zeros((1, WORDS), numpy.int32)
    for matcher in matchers:
        nodes, tokens, parents = [matcher], [], []
        for _ in range(rng.randint(0, most)):
            parent = rng.randrange(len(nodes))
            token, at = rng.randrange(TOKENIZER.vocab_size), nodes[parent]
            if at is not None and rng.random() < 0.8:
                at.fill_next_token_bitmask(mask)
                token = int(rng.choice(ids(mask)))
            if at is not None:
                at = at.fork()
                if not at.accept_token(token):
                    at = None
            nodes.append(at)
            tokens.append(token)
            parents.append(parent - 1)
        out.append((tokens, parents, nodes))
    return out


@pytest.mark.parametrize("threads", [1, 4])
def test_draft_trees(threads):
    rng = random.Random(threads)
    matchers = crowd(rng, 25)
    plans = drafts(rng, [m.fork() for m in matchers], 9)
    rows, row = [], 2
    for tokens, _, _ in plans:
        rows.append(row)
        row += len(tokens) + 1 + rng.randint(0, 1)
    order = rng.sample(range(25), 25)
    mask = numpy.full((row + 1, WORDS + 1), 7, numpy.int32)
    before = [(m.steps, m.is_terminated(), m.forced_bytes()) for m in matchers]
    llgcy.fill_draft_bitmasks([matchers[i] for i in order], [plans[i][0] for i in order], [plans[i][1] for i in order], mask,
                              [rows[i] for i in order], threads)
    want = numpy.full_like(mask, 7)
    for (_, _, nodes), first in zip(plans, rows):
        for j, node in enumerate(nodes):
            if node is None:
                want[first + j] = 0
            else:
                node.fill_next_token_bitmask(want, first + j)
    assert (mask == want).all()
    assert [(m.steps, m.is_terminated(), m.forced_bytes()) for m in matchers] == before
    assert any(node is None for _, _, nodes in plans for node in nodes)


def test_draft_chains():
    """parents=None; behind EOS only EOS; drafts of a matcher at its end."""
    compiled = llgcy.compile(llgcy.Grammar.from_regex("ab*"), SINGLE)
    first, second = compiled.matcher(), compiled.matcher()
    second.accept_tokens([97, 256])
    mask = numpy.full((12, 9), -1, numpy.int32)
    llgcy.fill_draft_bitmasks([first, second], [[97, 98, 256, 256, 98, 98], [256, 97]], None, mask, [0, 8])
    got = [ids(row).tolist() for row in mask]
    assert got[:7] == [[97], [98, 256], [98, 256], [256], [256], [], []]
    assert got[8:11] == [[256], [256], []]
    assert (mask[[7, 11]] == -1).all() and first.steps == 0 and second.steps == 2
    llgcy.fill_draft_bitmasks([first], [[]], [None], mask, [11])
    assert ids(mask[11]).tolist() == [97]


def test_bounds():
    matchers = [llgcy.compile(llgcy.Grammar.from_regex("a+"), SINGLE).matcher() for _ in range(2)]
    mask = numpy.full((4, 9), -1, numpy.int32)
    for call in [
        lambda: llgcy.fill_bitmasks(matchers, mask, [0, 4]), lambda: llgcy.fill_bitmasks(matchers, mask, [-1, 0]),
        lambda: llgcy.fill_bitmasks(matchers, mask, [1, 1]), lambda: llgcy.fill_bitmasks(matchers, mask, [1]),
        lambda: llgcy.fill_bitmasks(matchers, mask[:1]), lambda: llgcy.fill_bitmasks(matchers, numpy.zeros((4, 8), numpy.int32)),
        lambda: llgcy.fill_bitmasks(matchers, mask, threads=0), lambda: llgcy.fill_bitmasks(matchers, mask, threads=True),
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97] * 3, []], None, mask, [1, 0]),        # beyond the last row
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97], [97]], None, mask, [0, 1]),          # over each other
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97], [97]], None, mask, [2, 1]),
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97], [97]], [[0], [-1]], mask, [0, 2]),   # its own parent
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97], [97]], [[-2], [-1]], mask, [0, 2]),
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97], [97]], [[-1, 0], [-1]], mask, [0, 2]),
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97], [257]], None, mask, [0, 2]),
        lambda: llgcy.fill_draft_bitmasks(matchers, [[97]], None, mask, [0, 2]),
        lambda: llgcy.accept_batch(matchers, [97]), lambda: llgcy.accept_batch(matchers, [97, -1]),
    ]:
        with pytest.raises(ValueError):
            call()
    for call in [lambda: llgcy.fill_bitmasks([None], mask), lambda: llgcy.fill_bitmasks(matchers, None),
                 lambda: llgcy.fill_draft_bitmasks(matchers, [["a"], []], None, mask, [0, 2]), lambda: llgcy.accept_batch(matchers, [97, None])]:
        with pytest.raises(TypeError):
            call()
    for call in [lambda: llgcy.fill_bitmasks(matchers[:1] * 2, mask), lambda: llgcy.accept_batch(matchers[:1] * 2, [97, 97]),
                 lambda: llgcy.fill_draft_bitmasks(matchers[:1] * 2, [[], []], None, mask, [0, 1])]:
        with pytest.raises(StateError):
            call()
    assert (mask == -1).all() and [m.steps for m in matchers] == [0, 0]
    assert llgcy.accept_batch(matchers, [97, 98]) == [True, False]       # claims were given back
    assert llgcy.fill_bitmasks([], mask) == [] and llgcy.accept_batch([], []) == []


def test_an_error_holds_up_none_of_the_others():
    """A budget that is too small for one sequence."""
    nested = llgcy.Grammar.from_lark('start: "(" start* ")" | "[" start* "]"')
    tight, wide = llgcy.compile(nested, SINGLE, llgcy.Limits(grammar_bytes=300_000)), llgcy.compile(nested, SINGLE)
    big, small = tight.matcher(), [wide.matcher(), tight.matcher()]
    rng = random.Random(1)
    with pytest.raises(LimitError):
        while True:
            llgcy.accept_batch([big, small[0]], [rng.choice(b"(["), 40])
    steps = big.steps
    assert small[0].steps == steps + 1          # it was taken for the other one
    with pytest.raises(LimitError):
        while True:
            llgcy.accept_batch([big, small[1]], [rng.choice(b"(["), 40])
    mask = numpy.zeros((3, 9), numpy.int32)
    llgcy.fill_bitmasks([small[0], small[1]], mask)
    assert all(ids(row).tolist() == [40, 41, 91] for row in mask[:2])


def test_batches_of_many_threads():
    """Each gets what it asked for, with the pool or without; shared grammars, cold and warm."""
    compiled = {kind: llgcy.compile(make(), TOKENIZER) for kind, make in GRAMMARS.items()}

    def job(seed):
        rng = random.Random(seed)
        matchers = [compiled[rng.choice(list(compiled))].matcher() for _ in range(6)]
        others = [llgcy.compile(m.compiled.grammar, TOKENIZER).matcher() for m in matchers[:2]]
        for _ in range(6):
            mask = numpy.zeros((6, WORDS), numpy.int32)
            llgcy.fill_bitmasks(matchers, mask, threads=3)
            want = numpy.zeros((2, WORDS), numpy.int32)
            llgcy.fill_bitmasks(others, want, threads=1)
            assert (mask[:2] == want).all()
            tokens = [int(rng.choice(ids(row))) for row in mask]
            assert all(llgcy.accept_batch(matchers, tokens)) and all(llgcy.accept_batch(others, tokens[:2]))

    run_all([lambda i=i: job(i) for i in range(4)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_the_pool_after_a_fork():
    matchers = crowd(random.Random(2), 10)
    mask = numpy.zeros((10, WORDS), numpy.int32)
    llgcy.fill_bitmasks(matchers, mask, threads=4)
    child = os.fork()
    if child == 0:
        good = False
        try:
            again = numpy.zeros((10, WORDS), numpy.int32)
            fresh = [llgcy.compile(m.compiled.grammar, TOKENIZER).matcher() for m in matchers]
            llgcy.fill_bitmasks(fresh, again, threads=4)
            llgcy.fill_bitmasks(matchers, again, threads=4)
            good = (again == mask).all()
        finally:
            os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_exit_with_a_pool():
    """Threads that wait for work do not keep the process from ending, and say nothing."""
    code = ("import llgcy\n"
            "c = [llgcy.compile(llgcy.Grammar.from_regex(f'[a-{z}]+x'), llgcy.Tokenizer.single_byte()) for z in 'bcdefgh']\n"
            "ms = [x.matcher() for x in c]\n"
            "llgcy.fill_bitmasks(ms, llgcy.allocate_bitmask(7, 257), threads=4)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, cwd=os.path.dirname(os.path.dirname(llgcy.__file__)))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
