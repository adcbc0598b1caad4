"""Ends of texts near the limit of a host."""
import json
import random

import pytest

import llgcy
from llgcy.integrations.steering import NEAR, steer

GRAMMARS = {
    "words": llgcy.Grammar.from_regex(r"[a-z]+( [a-z]+)*\."),
    "nested": llgcy.Grammar.from_lark('start: "(" start* ")"'),
    "schema": llgcy.Grammar.from_json_schema({"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}},
                                                                         "required": ["a", "b"], "additionalProperties": False}}),
}


@pytest.fixture(scope="module", params=GRAMMARS)
def compiled(request):
    return llgcy.compile(GRAMMARS[request.param], llgcy.Tokenizer.single_byte())


def written(compiled, limit, seed):
    """A text that a model without any wish to end writes, as far as the limit; whether it has ended by itself."""
    chance, matcher, out, words = random.Random(seed), compiled.matcher(), [], llgcy.allocate_bitmask(1, 257)
    while len(out) < limit:
        steer(matcher, limit - len(out))
        matcher.fill_next_token_bitmask(words)
        allowed = [token for token in range(256) if words[0, token >> 5] >> (token & 31) & 1]
        if not allowed:
            break
        out.append(chance.choice([token for token in allowed if chr(token) not in '.)]}"'] or allowed))
        assert matcher.accept_token(out[-1])
    return bytes(out), matcher.is_accepting()


@pytest.mark.parametrize("limit", [30, NEAR, NEAR + 1, 127, 128, 300])
def test_a_text_ends_within_the_limit(compiled, limit):
    for seed in range(5):
        text, ended = written(compiled, limit, seed)
        assert ended and compiled.grammar.accepts(text), text


def test_no_promise_is_asked_for_while_the_limit_is_far(compiled):
    matcher = compiled.matcher()
    for left in range(100 * NEAR, 2 * NEAR, -1):
        steer(matcher, left)
        assert matcher.tokens_left is None
    steer(matcher, NEAR)
    assert matcher.tokens_left == NEAR + 1          # EOS, too


def test_an_ending_that_needs_more_is_planned_for_earlier():
    names = [f"name{i}" for i in range(60)]
    schema = {"type": "object", "properties": dict.fromkeys(names, {"type": "string"}), "required": names, "additionalProperties": False}
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema, whitespace="compact"), llgcy.Tokenizer.single_byte())
    shortest = len(compiled.matcher().completion())
    for limit in shortest, 2 * shortest - 1, 4 * shortest:
        text, ended = written(compiled, limit, limit)
        assert ended and list(json.loads(text)) == names


def test_a_promise_of_the_grammar_itself_stays(compiled):
    matcher = compiled.matcher(max_tokens=20)
    steer(matcher, 40)
    assert matcher.tokens_left == 20
    steer(matcher, 18)
    assert matcher.tokens_left == 19


def test_where_no_text_is_so_short_nothing_is_steered():
    matcher = llgcy.compile(llgcy.Grammar.from_regex("a{50}"), llgcy.Tokenizer.single_byte()).matcher()
    for left in 40, 0, -1:
        steer(matcher, left)
        assert matcher.tokens_left is None
