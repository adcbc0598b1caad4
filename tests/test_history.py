"""Long histories, and engines that take over from full ones: every answer must be that of a matcher with room for all."""
import random

import numpy
import pytest

import llgcy
from llgcy.errors import LimitError

TOKENIZER = llgcy.Tokenizer.single_byte()
NESTED = llgcy.Grammar.from_lark('start: "(" start* ")" | "[" start* "]" | "{" start* "}"')
CLOSE = {b"("[0]: b")"[0], b"["[0]: b"]"[0], b"{"[0]: b"}"[0]}


def words(matcher):
    mask = numpy.zeros((1, 9), numpy.int32)
    matcher.fill_next_token_bitmask(mask)
    return mask.tobytes()


def nested_text(rng, length, deepest):
    """Tokens of a document that is opened and closed at random, at most so deep, without an end."""
    out, stack = [], []
    while len(out) < length:
        if not stack or len(stack) < deepest and rng.random() < 0.5 + 0.4 * (len(stack) < deepest // 2):
            stack.append(rng.choice(list(CLOSE)))
            out.append(stack[-1])
        elif len(stack) > 1:
            out.append(CLOSE[stack.pop()])
    return out


def test_engines_take_over():
    """Under a budget for a part of the rows of many sequences: masks, forks, rollback, idle matchers."""
    rng = random.Random(7)
    wide = llgcy.compile(NESTED, TOKENIZER)
    tight = llgcy.compile(NESTED, TOKENIZER, llgcy.Limits(grammar_bytes=400_000))
    pairs = [(wide.matcher(), tight.matcher())]
    for turn in range(60):
        plain, matcher = wide.matcher(), tight.matcher()
        tokens = nested_text(rng, 300, 40)
        for token in tokens:
            assert plain.accept_token(token) and matcher.accept_token(token)
        assert words(plain) == words(matcher)
        assert plain.completion() == matcher.completion() and plain.forced_bytes() == matcher.forced_bytes()
        assert matcher.validate_tokens(tokens[:1]) == 1
        pairs.append((plain.fork(), matcher.fork()))
        for a, b in rng.sample(pairs, min(3, len(pairs))):
            assert a.steps == b.steps and words(a) == words(b) and a.is_accepting() == b.is_accepting()
            n = rng.randint(0, min(a.steps, 80))
            a.rollback(n)
            b.rollback(n)
            assert words(a) == words(b)
            for token in nested_text(rng, 5, 3):
                assert a.accept_token(token) and b.accept_token(token)
            assert words(a) == words(b)
    assert tight.stats()["renewals"] > 3


def test_a_sequence_beyond_the_budget():
    """It says so, nothing changes, and it can go on elsewhere; others are not held up."""
    tight = llgcy.compile(NESTED, TOKENIZER, llgcy.Limits(grammar_bytes=300_000))
    matcher, other = tight.matcher(), tight.matcher()
    rng, taken = random.Random(3), 0
    assert other.accept_bytes(b"([")
    with pytest.raises(LimitError, match="the grammar needs more than its 300,000 bytes"):
        while taken < 100_000:
            assert matcher.accept_token(rng.choice(list(CLOSE)))
            taken += 1
    for _ in range(3):
        with pytest.raises(LimitError):         # never a wrong answer instead
            while True:
                assert matcher.accept_token(rng.choice(list(CLOSE)))
                taken += 1
        assert matcher.steps == taken
    assert other.accept_bytes(b"{}]") and other.completion() == b")"
    matcher.rollback(matcher.steps - 2)
    assert matcher.accept_bytes(b"(())") and matcher.steps == 3
    matcher.reset()
    assert matcher.accept_bytes(b"()") and matcher.is_complete()


def test_steps_of_every_kind_are_taken_again():
    """Bytes, tokens, EOS, healed prompts."""
    tight = llgcy.compile(NESTED, TOKENIZER, llgcy.Limits(grammar_bytes=400_000))
    done, healed, busy = tight.matcher(), tight.matcher(), tight.matcher()
    assert done.accept_bytes(b"([])") and done.accept_token(256)
    assert healed.accept_bytes(b"(") and healed.accept_bytes(b"") and healed.accept_bytes(b"{}")
    rng = random.Random(5)
    while tight.stats()["renewals"] < 2:
        busy.reset()
        busy.accept_tokens(nested_text(rng, 300, 40))
    assert done.is_terminated() and done.accept_token(256) and not done.accept_token(40) and done.steps == 2
    assert healed.steps == 2 and healed.completion() == b")"
    done.rollback(1)
    assert done.is_complete() and not done.is_terminated()
    healed.rollback(1)
    assert healed.completion() == b")" and healed.accept_bytes(b"[") and healed.completion() == b"])"


def test_states_of_old_chunks_are_made_again():
    """Rollback far behind the last few thousand steps, and small steps there."""
    matcher = llgcy.compile(llgcy.Grammar.from_regex("(abc|abd)*"), TOKENIZER).matcher()
    text = b"abcabdabc" * 1500
    assert matcher.accept_tokens(text) == len(text)
    forks = [matcher.fork() for _ in range(4)]
    at = len(text)
    rng = random.Random(1)
    while at > 600:
        n = rng.choice([1, 2, 63, 64, 65, 500, 4000])
        if n > at:
            continue
        at -= n
        matcher.rollback(n)
        assert matcher.steps == at and matcher.is_accepting() == (at % 3 == 0)
        assert matcher.accept_token(text[at]) and matcher.accept_token(text[at + 1])
        at += 2
    assert all(fork.is_accepting() and fork.steps == len(text) for fork in forks)
    forks[0].rollback(len(text) - 1)
    assert forks[0].forced_bytes() == b"b" and forks[0].accept_bytes(b"bc")
