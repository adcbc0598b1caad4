"""The sampler's lifecycle: what is sampled through it is in the language, and after a failure nothing but the end may come."""
import gc
import io
import json
import logging
import subprocess
import sys
import weakref

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import llgcy
from llgcy import log

BYTES = llgcy.Tokenizer.single_byte()
END = 256
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0, "maximum": 99}, "b": {"enum": ["x", "y"]}},
          "required": ["a", "b"], "additionalProperties": False}


def sampler(grammar, on_error="raise", **limits):
    return llgcy.Sampler(llgcy.compile(grammar, BYTES, llgcy.Limits(**limits) if limits else None).matcher(), on_error)


def applied(sampler, width=257):
    """The ids that are left by `apply`."""
    logits = numpy.zeros(width, numpy.float32)
    sampler.apply(logits)
    return numpy.flatnonzero(logits == 0).tolist()


def expected(matcher):
    """The same, token by token through the matcher."""
    return [id for id in range(257) if matcher.validate_tokens([id])]


def closed(sampler, error):
    """Is nothing but the end left, and the error raised each time?"""
    for _ in range(2):
        logits = numpy.zeros(257, numpy.float32)
        with pytest.raises(type(error)) as raised:
            sampler.apply(logits)
        assert raised.value is error and numpy.flatnonzero(logits == 0).tolist() == [END]
        with pytest.raises(type(error)):
            sampler.accept(ord("{"))
    return sampler.is_terminated()


# What it is for

@given(st.integers(0, 2**32))
def test_what_is_sampled_is_in_the_language(seed):
    random = numpy.random.default_rng(seed)
    text, one = [], sampler(llgcy.Grammar.from_json_schema(SCHEMA, whitespace="compact"))
    while not one.is_terminated():
        logits = random.normal(size=257).astype(numpy.float32)
        before = logits.copy()
        one.apply(logits)
        assert ((logits == before) | numpy.isneginf(logits)).all()
        token = int(logits.argmax())
        if token == END:
            break
        one.accept(token)
        text.append(token)
    document = json.loads(bytes(text))
    assert list(document) == ["a", "b"] and 0 <= document["a"] <= 99 and document["b"] in ("x", "y")


def test_apply_agrees_with_the_matcher_through_clones_and_resets():
    random = numpy.random.default_rng(5)
    one = sampler(llgcy.Grammar.from_lark('start: "(" (start | /[a-z]/)* ")"'))
    for _ in range(100):
        choice = random.integers(12)
        if choice == 0:
            one.reset()
            assert one.matcher.steps == 0
        elif choice == 1:
            other, steps = one.clone(), one.matcher.steps
            for token in expected(other.matcher)[:1]:        # the clone moves, the original does not
                other.accept(token)
                assert one.matcher.steps == steps
            one = other if random.integers(2) else one
        allowed = expected(one.matcher)
        assert applied(one) == allowed
        if one.is_terminated():
            one.reset()
        else:
            one.accept(int(random.choice(allowed)))


def test_end_of_the_text():
    one = sampler(llgcy.Grammar.from_regex("ab"))
    assert not one.is_terminated()
    one.accept(ord("a"))
    one.accept(ord("b"))
    assert one.is_terminated() and not one.matcher.is_terminated() and applied(one) == [END]
    one.accept(END)
    assert one.is_terminated() and one.matcher.is_terminated() and applied(one) == [END]


def test_two_dimensions_and_wider_logits():
    one = sampler(llgcy.Grammar.from_regex("[ab]"))
    logits = numpy.zeros((1, 300), numpy.float16)
    one.apply(logits)
    assert numpy.flatnonzero(logits[0] == 0).tolist() == [97, 98]


# Failures

def test_refused_token():
    one = sampler(llgcy.Grammar.from_regex("[ab]+"))
    one.accept(ord("a"))
    with pytest.raises(llgcy.StateError, match=r"token 99 \(b'c'\) is not allowed here") as raised:
        one.accept(ord("c"))
    assert one.matcher.steps == 1 and one.error is raised.value
    assert closed(one, raised.value)
    clone = one.clone()
    assert closed(clone, raised.value)
    one.reset()
    assert one.error is None and applied(one) == [97, 98]
    assert clone.error is raised.value
    clone.reset()
    assert applied(clone) == [97, 98]


@pytest.mark.parametrize("token, message", [(257, "not an id of the vocabulary"), (-1, "not an id"), (END, "special token")])
def test_token_that_is_no_text(token, message):
    one = sampler(llgcy.Grammar.from_regex("[ab]+"))
    with pytest.raises(llgcy.StateError, match=message) as raised:
        one.accept(token)
    assert closed(one, raised.value)


def test_stop_keeps_the_error_and_ends_the_text():
    one = sampler(llgcy.Grammar.from_regex("[ab]+"), "stop")
    one.accept(ord("c"))
    assert isinstance(one.error, llgcy.StateError) and one.is_terminated() and applied(one) == [END]
    first = one.error
    one.accept(END)
    one.accept(ord("c"))
    assert one.error is first and applied(one) == [END] and one.stats()["errors"] == 1


@pytest.mark.parametrize("on_error", ["raise", "stop"])
def test_limit_that_is_met_inside(on_error):
    """A grammar whose states grow with the text, and a budget that ends in the middle."""
    grammar = llgcy.Grammar.from_lark('start: "(" start ")" | "x"')
    one = sampler(grammar, on_error, grammar_bytes=1 << 18)
    try:
        for _ in range(1 << 20):
            assert applied(one) == [ord("("), ord("x")] or one.error is not None
            if one.error is not None:
                break
            one.accept(ord("("))
    except llgcy.LimitError as error:
        assert on_error == "raise" and one.error is error
    assert isinstance(one.error, llgcy.LimitError)
    if on_error == "raise":
        assert closed(one, one.error)
    else:
        assert applied(one) == [END]


class Broken:
    """A matcher in which something breaks that is not an error of llgcy's own."""

    def __init__(self, matcher, error):
        self.compiled, self.eos_token_ids, self.error = matcher.compiled, matcher.eos_token_ids, error

    def fill_next_token_bitmask(self, bitmask):
        bitmask[:] = -1
        raise self.error

    def accept_token(self, token):
        raise self.error


@pytest.mark.parametrize("error", [MemoryError("none left"), KeyboardInterrupt(), ZeroDivisionError("a bug")])
def test_exception_inside(error):
    compiled = llgcy.compile(llgcy.Grammar.from_regex("[ab]+"), BYTES)
    assert closed(llgcy.Sampler(Broken(compiled.matcher(), error)), error)
    one = llgcy.Sampler(Broken(compiled.matcher(), error), "stop")
    one.accept(97)
    assert one.error is error and applied(one) == [END]


def test_failure_that_the_host_finds():
    one, error = sampler(llgcy.Grammar.from_regex("[ab]+")), RuntimeError("the host")
    one.fail(error)
    one.fail(RuntimeError("a later one"))
    assert closed(one, error)


def test_logits_that_no_mask_fits():
    for on_error in "raise", "stop":
        one = sampler(llgcy.Grammar.from_regex("[ab]+"), on_error)
        for logits in numpy.zeros(257, numpy.int32), [0.0] * 257, numpy.zeros((2, 257), numpy.float32):
            with pytest.raises((TypeError, ValueError)):
                one.apply(logits)
        assert one.error is not None and (on_error == "raise" or applied(one) == [END])


def test_narrow_logits():
    """A model with fewer logits than the tokenizer has ids: all right while some token that it has may come."""
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"</s>", b"b", b"ab"], eos_token_id=1)
    one = llgcy.Sampler(llgcy.compile(llgcy.Grammar.from_regex("ab"), tokenizer).matcher())
    assert applied(one, 3) == [0]
    one.accept(0)
    logits = numpy.zeros(2, numpy.float32)
    with pytest.raises(llgcy.StateError, match="the model has 2 logits, the tokenizer 4 ids"):
        one.apply(logits)
    assert numpy.flatnonzero(logits == 0).tolist() == [1]


def test_wrong_policy():
    with pytest.raises(ValueError, match="'raise' or 'stop', not 'ignore'"):
        sampler(llgcy.Grammar.from_regex("a"), "ignore")


# The end of its life

@pytest.mark.parametrize("on_error", ["raise", "stop"])
def test_close(on_error):
    with sampler(llgcy.Grammar.from_regex("[ab]+"), on_error) as one:
        assert applied(one) == [97, 98]
    logits = numpy.zeros(257, numpy.float32)
    with pytest.raises(llgcy.StateError, match="closed"):
        one.apply(logits)
    assert numpy.flatnonzero(logits == 0).tolist() == [END]
    for call in (lambda: one.accept(97), one.reset, one.clone, one.is_terminated, lambda: one.matcher):
        with pytest.raises(llgcy.StateError, match="closed"):
            call()
    one.close()
    assert one.stats()["masks"] == 2


def test_clone_outlives_the_original():
    one = sampler(llgcy.Grammar.from_regex("a+b"))
    one.accept(97)
    other = one.clone()
    one.close()
    assert applied(other) == [97, 98]


def test_nothing_is_kept_alive():
    compiled = llgcy.compile(llgcy.Grammar.from_regex("a+b"), BYTES)
    one = llgcy.Sampler(compiled.matcher())
    one.accept(97)
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_stats_are_a_plain_dict():
    one = sampler(llgcy.Grammar.from_regex("[ab]+"))
    applied(one)
    one.accept(97)
    stats = one.stats()
    assert type(stats) is dict and (stats["tokens"], stats["masks"], stats["errors"]) == (1, 1, 0)
    assert 0 < stats["mask_seconds"] < 60 and 0 < stats["apply_seconds"] < 60 and 0 < stats["accept_seconds"] < 60
    stats["tokens"] = 7
    assert one.stats()["tokens"] == 1 and one.clone().stats()["tokens"] == 0


# The log

def test_failures_are_logged(caplog):
    one = sampler(llgcy.Grammar.from_regex("[ab]+"), "stop")
    one.accept(ord("c"))
    one.accept(ord("c"))
    assert [(record.name, record.levelname) for record in caplog.records] == [("llgcy", "WARNING")] and "token 99" in caplog.text


PROGRAM = """
import logging, numpy, llgcy
{setup}
one = llgcy.Sampler(llgcy.compile(llgcy.Grammar.from_regex("[ab]+"), llgcy.Tokenizer.single_byte()).matcher(), "stop")
one.accept(97)
one.accept(99)
"""


@pytest.mark.parametrize("level, setup, expected", [
    ("debug", "", ["llgcy DEBUG: token 97", "llgcy WARNING: "]),
    ("WARNING", "", ["llgcy WARNING: "]),
    ("critical", "", []),
    ("debug", "logging.basicConfig(format='%(message)s!')", ["token 97!", "a constrained text"]),        # once, by the application's handler
    ("loud", "", ["RuntimeWarning: LLGCY_LOG_LEVEL=loud: not one of debug, info", "a constrained text"]),
])
def test_level_from_the_environment(level, setup, expected, monkeypatch):
    monkeypatch.setenv(log.VARIABLE, level)
    process = subprocess.run([sys.executable, "-c", PROGRAM.format(setup=setup)], capture_output=True, text=True, timeout=120)
    lines = [line for line in process.stderr.splitlines() if not line.startswith(" ")]
    assert process.returncode == 0 and len(lines) == len(expected), process.stderr
    assert all(part in line for part, line in zip(expected, lines))


def test_level_is_set_once(monkeypatch):
    before = log.LOGGER.handlers[:], log.LOGGER.level
    try:
        stream = io.StringIO()
        monkeypatch.setattr(sys, "stderr", stream)
        log.set_level("info")
        log.set_level("error")
        log.set_level(None)
        assert log.LOGGER.level == logging.ERROR and len(log.LOGGER.handlers) <= len(before[0]) + 1
    finally:
        log.LOGGER.handlers[:], log.LOGGER.level = before[0], before[1]
