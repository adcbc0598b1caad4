"""Long histories, and engines that take over from full ones: every answer must be that of a matcher with room for all."""
import json
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


def json_text(rng, length, deepest):
    """A beginning of an array of random values; each byte is a token."""
    def value(depth):
        kind = rng.choice("nsta" if depth else "nst")
        if kind == "a":
            return rng.choice([[value(depth - 1) for _ in range(rng.randint(0, 3))], {"".join(rng.choices("abcdef", k=8)): value(depth - 1), "d": value(depth - 1)}])
        return rng.randint(-99, 99) if kind == "n" else rng.choice(["", "text", "\u00e9\n"]) if kind == "s" else rng.choice([True, None])

    out = b"["
    while len(out) < length:
        out += json.dumps(value(deepest)).encode() + b","
    return list(out)


LIVING = {"brackets": (NESTED, lambda rng: nested_text(rng, 25_000, 30), 400_000),
          "json": (llgcy.Grammar.from_json_schema({"$defs": {"x": {"anyOf": [{"type": ["number", "string", "boolean", "null"]}, {"type": "array", "items": {"$ref": "#/$defs/x"}},
                                                                     {"type": "object", "additionalProperties": {"$ref": "#/$defs/x"}}]}}, "$ref": "#/$defs/x"}),
                   lambda rng: json_text(rng, 25_000, 6), 250_000)}


@pytest.mark.parametrize("name", LIVING)
def test_a_sequence_lives_for_ever(name):
    """Within a budget for a part of it, as long as what is open is small; rollback and forks go wherever they like."""
    grammar, make, size = LIVING[name]
    wide, tight = llgcy.compile(grammar, TOKENIZER), llgcy.compile(grammar, TOKENIZER, llgcy.Limits(grammar_bytes=size))
    rng = random.Random(name)
    plain, matcher, tokens, at, idle = wide.matcher(), tight.matcher(), make(rng), 0, []
    while at < len(tokens):
        if rng.random() < 0.1 and at:
            back = rng.randint(1, min(at, rng.choice([3, 100, 3000])))
            plain.rollback(back)
            matcher.rollback(back)
            at -= back
        else:
            step = rng.randint(1, 600)
            assert plain.accept_tokens(tokens[at:at + step]) == matcher.accept_tokens(tokens[at:at + step]) > 0
            at = min(at + step, len(tokens))
        assert plain.steps == matcher.steps == at
        assert words(plain) == words(matcher) and plain.completion() == matcher.completion()
        if rng.random() < 0.1:
            idle.append((plain.fork(), matcher.fork()))
    assert tight.stats()["renewals"] >= 3
    for a, b in idle:
        assert words(a) == words(b) and a.steps == b.steps
        back = rng.randint(1, min(200, a.steps))
        a.rollback(back)
        b.rollback(back)
        assert words(a) == words(b)


def test_hardly_any_mask_is_remembered():
    grammar, make, _ = LIVING["json"]
    wide, tight = llgcy.compile(grammar, TOKENIZER).matcher(), llgcy.compile(grammar, TOKENIZER, llgcy.Limits(mask_bytes=1)).matcher()
    for token in make(random.Random(1))[:400]:
        assert words(wide) == words(tight)
        assert wide.accept_token(token) and tight.accept_token(token)
    assert tight.compiled.stats()["mask_bytes"] < 20_000
