"""Texts that end within a number of tokens: random grammars and vocabularies, every number, against brute force."""
import functools
import json
import pickle
import random
import re

import jsonschema_rs
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import llgcy
from llgcy.errors import GrammarError, LimitError

from schema_random import Maker

PIECES = [b"a", b"b", b"c", b"ab", b"bc", b"ca", b"aa", b"abc", b"cab", b"bbb", b"abca", b"cc"]
LARK = ['start: "a" start "b" | "c"', 'start: (x "b")* x\nx: "a" | "(" start ")"'.replace("(\"", '("').replace('"("', '"b"').replace('")"', '"c"'),
        'start: "a"{2,5} ("b" start)?', 'start: /[ab]{0,4}c/ start | "ab"', 'start: "c" | start "a" start "b"', 'start: W ("a" W)*\nW: /b+/ | /c{2,3}/']


def tokens_of(matcher, size):
    """The mask, as a list."""
    mask = llgcy.allocate_bitmask(1, size)
    matcher.fill_next_token_bitmask(mask)
    return numpy.flatnonzero(numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")).tolist()


@st.composite
def patterns(draw, depth=3):
    kind = draw(st.sampled_from("ctt|*+?{" if depth else "c"))
    if kind == "c":
        return draw(st.sampled_from(["a", "b", "c", "[ab]", "abca", "cab", "[ac]", "bbbc", "(ab|caab)c"]))
    inner = patterns(depth - 1)
    if kind == "t":
        return draw(inner) + draw(inner)
    if kind == "|":
        return f"({draw(inner)}|{draw(inner)})"
    if kind == "{":
        low = draw(st.integers(0, 3))
        return f"({draw(inner)}){{{low},{low + draw(st.integers(0, 3))}}}"
    return f"({draw(inner)}){kind}"


@functools.lru_cache(maxsize=None)
def words(length):
    """All texts over the letters up to a length."""
    out = [""]
    for word in out:
        if len(word) < length:
            out += [word + c for c in "abc"]
    return out


def vocabulary(draw, pieces):
    """Some pieces, the single bytes among them, twins too; EOS first."""
    chosen = draw(st.lists(st.sampled_from(pieces), max_size=8))
    return [None, *sorted({p[i:i + 1] for p in pieces for i in range(len(p))}), *chosen]


def fewest(tokens, text):
    """Tokens that spell a text at least."""
    best = [0]
    for end in range(1, len(text) + 1):
        best.append(min((best[begin] + 1 for begin in range(end) if text[begin:end] in tokens), default=10**9))
    return best[-1]


def run(matcher, n, tokens, rng, eos=(0,)):
    """Random tokens to the end: the text. Checks on the way that masks, steps and questions agree, and a rollback now and then."""
    size, text, trail = len(tokens), b"", []
    other = matcher.fork()
    while True:
        allowed = tokens_of(matcher, size)
        assert allowed and matcher.tokens_left == n - len(trail) > 0
        for token in range(size) if size < 40 else {*rng.choices(range(size), k=6), *rng.choices(allowed, k=4)}:
            good = token in allowed
            assert matcher.validate_tokens([token]) == good
            fork = matcher.fork()
            assert fork.accept_token(token) == good
            if good:
                assert fork.is_terminated() or tokens_of(fork, size)
        assert matcher.is_accepting() == bool(set(eos) & set(allowed))
        assert matcher.is_complete() == (set(allowed) <= set(eos))
        assert (matcher.stop_reason is None) == (not matcher.is_complete())
        ending = matcher.completion()
        assert fewest(tokens, ending) + 1 <= matcher.tokens_left
        assert matcher.fork().accept_bytes(ending)
        if trail and rng.random() < 0.2:
            back = rng.randint(1, len(trail))
            matcher.rollback(back)
            for token, before in trail[len(trail) - back:]:
                assert before == tokens_of(matcher, size)
                assert matcher.accept_token(token)
            continue
        token = rng.choice(allowed)
        assert matcher.accept_token(token)
        trail.append((token, allowed))
        if matcher.is_terminated():
            assert len(trail) <= n
            break
        text += tokens[token]
    assert other.accept_tokens([token for token, _ in trail]) == len(trail)
    return text


def every_number(compiled, tokens, check, rng, shortest=0, most=12, **options):
    """Numbers that are too small raise and change nothing; all others hold."""
    matcher = compiled.matcher(**options)
    with pytest.raises(LimitError) as caught:
        matcher.finish_within(0)
    found = re.search(r"needs ([\d,]+), EOS included", str(caught.value))
    if found is None:           # no ending is known at all
        return 0
    least = int(found[1].replace(",", ""))
    assert least >= shortest
    for n in range(least):
        with pytest.raises(LimitError):
            matcher.finish_within(n)
        with pytest.raises(LimitError):
            compiled.matcher(max_tokens=n, **options)
    assert matcher.tokens_left is None
    for n in range(least, least + most, rng.randint(1, 3)):
        matcher = compiled.matcher(**options)
        if rng.random() < 0.5:
            matcher.finish_within(n)
        else:
            matcher = compiled.matcher(max_tokens=n, **options)
        assert check(run(matcher, n, tokens, rng))
    return least


@settings(deadline=None, max_examples=60)
@given(st.data(), st.integers(0, 10**9))
def test_regexes(data, seed):
    rng = random.Random(seed)
    pattern = data.draw(patterns())
    tokens = vocabulary(data.draw, PIECES)
    compiled = llgcy.compile(llgcy.Grammar.from_regex(pattern), llgcy.Tokenizer.from_vocab(tokens, special={"<e>": 0}, eos_token_id=0))
    texts = [word.encode() for word in words(6) if re.fullmatch(pattern, word)]
    shortest = min([fewest(tokens, text) for text in texts], default=0) + 1
    every_number(compiled, tokens, lambda text: re.fullmatch(pattern, text.decode()), rng, shortest)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(LARK), st.data(), st.integers(0, 10**9))
def test_lark(source, data, seed):
    rng = random.Random(seed)
    tokens = vocabulary(data.draw, PIECES)
    grammar = llgcy.Grammar.from_lark(source)
    compiled = llgcy.compile(grammar, llgcy.Tokenizer.from_vocab(tokens, special={"<e>": 0}, eos_token_id=0))
    assert every_number(compiled, tokens, grammar.accepts, rng)


JSON_PIECES = [bytes([i]) for i in range(32, 127)] + [b'"a', b'"b":', b'a":1,"', b'":1,', b'{"', b'"}', b"}}", b"[[", b"]]", b"null", b'":"', b'",', b'{"a":{"b', b"10", b"-"]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**9))
def test_schemas(seed):
    rng = random.Random(seed)
    maker = Maker(rng, {"contains", "propertyNames"})
    schema = maker.document()
    if rng.random() < 0.4:      # names that are free, and members that are needed
        schema = {"type": "object", "minProperties": rng.randint(1, 4), "patternProperties": {"^b": {"enum": [1, "x"]}},
                  "additionalProperties": rng.choice([{"type": "boolean"}, {"type": "object", "minProperties": 1}])}
    tokens = [None, *JSON_PIECES]
    try:
        grammar = llgcy.Grammar.from_json_schema(schema, whitespace="compact")
        compiled = llgcy.compile(grammar, llgcy.Tokenizer.from_vocab(tokens, special={"<e>": 0}, eos_token_id=0))
    except (GrammarError, LimitError):
        return
    validator = jsonschema_rs.Draft202012Validator(schema)
    every_number(compiled, tokens, lambda text: validator.is_valid(json.loads(text)), rng, most=4)


def test_plenty_changes_nothing():
    """Masks are what they were until the end is near, and then a token that opens too much is missing."""
    schema = {"type": "object", "properties": {"large": {"type": "object", "required": [f"property {i}" for i in range(20)]},
                                               "b": {"type": "integer"}}, "additionalProperties": False}
    tokenizer = llgcy.Tokenizer.default()
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema), tokenizer)
    plain, bound = compiled.matcher(), compiled.matcher(max_tokens=400)
    for matcher in (plain, bound):
        assert matcher.accept_bytes(b'{"')
    size = tokenizer.vocab_size
    assert tokens_of(plain, size) == tokens_of(bound, size)
    bound.finish_within(20)
    missing = {tokenizer.token_bytes(token) for token in set(tokens_of(plain, size)) - set(tokens_of(bound, size))}
    assert missing and all(token.startswith(b"l") for token in missing)


def needed(matcher):
    """Tokens of the ending known, EOS included."""
    with pytest.raises(LimitError) as caught:
        matcher.finish_within(0)
    return int(re.search(r"needs ([\d,]+), EOS included", str(caught.value))[1].replace(",", ""))


PLACES = [
    ({"type": "string"}, ['"', '"ab\\', '"é', '"a\\u00']),
    ({"type": "string", "maxLength": 9, "minLength": 3}, ['"', '"ab', '"abcdefgh']),
    ({"type": "string", "maxLength": 300, "minLength": 3}, ['"ab', '"abc', '"' + "a" * 200, '"' + "é" * 280, '"' + "a" * 297, '"' + "a" * 300]),
    ({"anyOf": [{"type": "string", "maxLength": 50}, {"type": "string", "minLength": 160}]}, ['"abc', '"' + "a" * 45, '"' + "a" * 70, '"' + "a" * 159]),
    ({"type": "string", "pattern": "^[a-z]*[0-9]{2}$"}, ['"', '"ab', '"ab1']),
    ({"type": "string", "pattern": "x.*(yes|no)"}, ['"', '"x', '"xy']),
    ({"type": "object", "minProperties": 3}, ["{", '{"a":"', '{"a":{"a":"b', '{"a":1,"b":1,"c']),
    ({"type": "object", "additionalProperties": {"type": "object", "required": ["one", "two"]}}, ['{"', '{"a":{"', '{"a":{"o', '{"two":{"one":"']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string"}, "minItems": 2}, ["[", '["a","', '["a","ab']),
    ({"type": "array", "items": {"type": "number", "multipleOf": 0.25}}, ["[", "[1", "[1.", "[1,-"]),
]


@pytest.mark.parametrize("schema, beginnings", PLACES, ids=[json.dumps(schema) for schema, _ in PLACES])
def test_masks_hold_what_still_ends_in_time(schema, beginnings):
    """Every token of a vocabulary of thousands: it is allowed if the promise for one token less can be given behind it."""
    tokenizer = llgcy.Tokenizer.default()
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema, whitespace="compact"), tokenizer)
    for beginning in beginnings:
        plain = compiled.matcher()
        assert plain.accept_bytes(beginning.encode())
        needs = {}
        for token in tokens_of(plain, tokenizer.vocab_size):
            after = plain.fork()
            assert after.accept_token(token)
            needs[token] = 0 if after.is_terminated() else needed(after)
        least = needed(plain)
        for left in least, least + 1, least + 2, least + 4, max(needs.values()) + 1, least:
            bound = plain.fork()
            bound.finish_within(left)
            held = {token for token in needs if plain.completion().startswith(tokenizer.token_bytes(token) or b"\0")}
            allowed = set(tokens_of(bound, tokenizer.vocab_size))
            assert allowed - held == {token for token, need in needs.items() if need < left} - held and allowed & held


@functools.lru_cache(maxsize=None)
def texts_of(tokenizer):
    return frozenset(map(tokenizer.token_bytes, range(tokenizer.vocab_size)))


@pytest.mark.parametrize("schema, beginnings", [
    ({"type": "object", "minProperties": 3}, ['{"', '{"a":1,"', '{"a":[{"x":1,"']),
    ({"type": "array", "uniqueItems": True, "items": {"type": "string"}, "minItems": 3}, ['["', '["a","']),
], ids=["names", "items"])
def test_where_endings_depend_on_names(schema, beginnings):
    """There each token is asked for by itself while plenty is left; near the end what is not known to fit is left out, and never all."""
    tokenizer = llgcy.Tokenizer.default()
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema, whitespace="compact"), tokenizer)
    for beginning in beginnings:
        plain = compiled.matcher()
        assert plain.accept_bytes(beginning.encode())
        bound = plain.fork()
        bound.finish_within(1000)
        assert tokens_of(bound, tokenizer.vocab_size) == tokens_of(plain, tokenizer.vocab_size)
        least = needed(plain)
        for left in least, least + 5, 60:
            bound = plain.fork()
            bound.finish_within(left)
            allowed = tokens_of(bound, tokenizer.vocab_size)
            assert any(plain.completion().startswith(tokenizer.token_bytes(token)) for token in allowed)
            for token in random.Random(left).sample(allowed, min(len(allowed), 50)):
                after = bound.fork()
                assert after.accept_token(token)
                assert fewest(texts_of(tokenizer), after.completion()) < left - 1 and tokens_of(after, tokenizer.vocab_size)


def test_the_promise_moves_with_the_matcher():
    tokenizer = llgcy.Tokenizer.single_byte()
    compiled = llgcy.compile(llgcy.Grammar.from_regex("[a-z]*"), tokenizer)
    matcher = compiled.matcher()
    assert matcher.accept_tokens(b"abc") == 3 and matcher.tokens_left is None
    matcher.finish_within(3)
    fork = matcher.fork()
    assert matcher.accept_tokens(b"defg") == 2 and matcher.tokens_left == 1 and matcher.is_complete() and matcher.stop_reason == "budget"
    assert fork.tokens_left == 3 and fork.accept_tokens(b"xy") == 2
    assert matcher.accept_token(256) and matcher.stop_reason == "budget" and matcher.tokens_left == 0
    matcher.rollback(3)
    assert matcher.tokens_left == 3 and matcher.stop_reason is None
    matcher.rollback(1)                                 # to before the call
    assert matcher.tokens_left is None and matcher.accept_tokens(b"x" * 50) == 50
    matcher.finish_within(5)
    matcher.finish_within(None)
    assert matcher.tokens_left is None and matcher.accept_tokens(b"x" * 50) == 50
    matcher.reset()
    assert matcher.tokens_left is None
    matcher = compiled.matcher(max_tokens=2)
    matcher.finish_within(9)
    assert matcher.accept_tokens(b"abcd") == 4 and matcher.tokens_left == 5
    matcher.reset()
    assert matcher.tokens_left == 2 and matcher.accept_tokens(b"ab") == 1


def test_stop_reasons():
    tokenizer = llgcy.Tokenizer.single_byte()
    matcher = llgcy.compile(llgcy.Grammar.from_regex("ab|abc+"), tokenizer).matcher()
    assert matcher.stop_reason is None
    assert matcher.accept_tokens(b"ab") == 2 and matcher.stop_reason is None
    assert matcher.accept_token(256) and matcher.stop_reason == "eos"
    matcher = llgcy.compile(llgcy.Grammar.from_regex("ab"), tokenizer).matcher()
    assert matcher.accept_tokens(b"ab") == 2 and matcher.stop_reason == "complete"
    assert matcher.accept_token(256) and matcher.stop_reason == "complete"
    matcher = llgcy.compile(llgcy.Grammar.from_regex("ab|abc+"), tokenizer).matcher(max_tokens=4)
    assert matcher.accept_tokens(b"ab") == 2 and matcher.accept_token(256) and matcher.stop_reason == "eos"


def test_bytes_take_tokens():
    """As many as spell them at least, and none where there are no bytes."""
    tokenizer = llgcy.Tokenizer.from_vocab([None, b"a", b"aaa"], special={"<e>": 0}, eos_token_id=0)
    matcher = llgcy.compile(llgcy.Grammar.from_regex("a{9}"), tokenizer).matcher(max_tokens=5)
    assert matcher.accept_bytes(b"") and matcher.steps == 0
    assert matcher.accept_bytes(b"aaaa") is False and matcher.accept_bytes(b"aaa") and matcher.tokens_left == 4
    assert not matcher.accept_token(1)
    matcher.rollback(1)
    assert matcher.tokens_left == 5 and not matcher.accept_token(1) and matcher.accept_tokens([2, 2]) == 2
    assert matcher.completion() == b"aaa"


@pytest.mark.parametrize("bad, error", [(-1, ValueError), ("3", TypeError), (2.0, TypeError), (True, TypeError)])
def test_bad_numbers(bad, error):
    matcher = llgcy.compile(llgcy.Grammar.from_regex("a*"), llgcy.Tokenizer.single_byte()).matcher()
    with pytest.raises(error):
        matcher.finish_within(bad)
    assert matcher.accept_token(97) and matcher.tokens_left is None


def test_lists_of_grammars_say_how_many():
    source = {"grammars": [{"lark_grammar": 'start: "<" @a* ">"'}, {"name": "a", "regex": "[ab]c"}], "max_tokens": 7}
    tokenizer = llgcy.Tokenizer.single_byte()
    for text in (source, json.dumps(source)):
        grammar = llgcy.Grammar.from_grammars(text)
        assert grammar.max_tokens == 7 and grammar.accepts("<acacacacac>")
        compiled = llgcy.compile(grammar, tokenizer)
        matcher = compiled.matcher()
        assert matcher.tokens_left == 7 and matcher.accept_tokens(b"<acacac>") == 5
        assert tokens_of(matcher, 257) == [ord(">")]
        assert compiled.matcher(max_tokens=5).tokens_left == 5 and pickle.loads(pickle.dumps(compiled)).max_tokens == 7
    with pytest.raises(LimitError, match="needs 3, EOS included"):
        llgcy.compile(llgcy.Grammar.from_grammars({**source, "max_tokens": 2}), tokenizer)
    assert llgcy.Grammar.from_grammars({**source, "max_tokens": None}).max_tokens is None
    for bad in (-1, 1.5, "7", True, [1]):
        with pytest.raises(GrammarError, match="max_tokens"):
            llgcy.Grammar.from_grammars({**source, "max_tokens": bad})


def test_tokens_that_the_grammar_names():
    """An ending that needs one is none; tokens that lead to such places are left out."""
    tokenizer = llgcy.Tokenizer.from_vocab([None, b"a", b"b", None], special={"<e>": 0, "<|x|>": 3}, eos_token_id=0)
    matcher = llgcy.compile(llgcy.Grammar.from_lark('start: "a"* ("b" <|x|>)?'), tokenizer).matcher()
    matcher.finish_within(3)
    assert tokens_of(matcher, 4) == [0, 1]
    with pytest.raises(LimitError, match="no ending"):
        llgcy.compile(llgcy.Grammar.from_lark('start: "a"* <|x|>'), tokenizer).matcher(max_tokens=100)
    matcher = llgcy.compile(llgcy.Grammar.from_lark('start: (<|x|> "a" | "b")* "aa"?'), tokenizer).matcher(max_tokens=3)
    assert tokens_of(matcher, 4) == [0, 1, 2, 3] and matcher.accept_token(3) and tokens_of(matcher, 4) == [1] and matcher.accept_token(1)
    assert tokens_of(matcher, 4) == [0] and matcher.is_complete()


@pytest.mark.parametrize("options", [{"tokens": "canonical"}, {"eos_token_ids": [5, 9]}, {"prompt": "the name is Wa"}])
def test_with_other_options(options):
    """Canonical masks, EOS ids of the matcher's own, and a prompt that is healed."""
    tokenizer = llgcy.Tokenizer.default()
    grammar = llgcy.Grammar.from_json_schema({"type": "object", "properties": {"favourite": {"enum": ["Washington", "Lima"]}, "name": {"type": "string"}},
                                              "required": ["favourite"]})
    grammar = llgcy.Grammar.from_regex("[A-Za-z ]+ has come to Washington( and more)?!") if "prompt" in options else grammar
    compiled, rng = llgcy.compile(grammar, tokenizer), random.Random(3)
    if "prompt" in options:
        options = {"prompt": tokenizer.encode(options["prompt"])}
    found = re.search(r"needs (\d+)", str(pytest.raises(LimitError, compiled.matcher, max_tokens=1, **options).value))
    for n in range(int(found[1]), int(found[1]) + 12, 2):
        matcher, ids = compiled.matcher(max_tokens=n, **options), []
        while not matcher.is_terminated():
            allowed = tokens_of(matcher, tokenizer.vocab_size)
            assert matcher.validate_tokens(matcher.forced_tokens()) == len(matcher.forced_tokens())
            for token in [*rng.choices(allowed, k=5), *rng.choices(range(tokenizer.vocab_size), k=5)]:
                taken = matcher.fork().accept_token(token)
                assert taken or token not in allowed
                assert not taken or token in allowed or "tokens" in options
            ids.append(rng.choice(allowed))
            assert matcher.accept_token(ids[-1])
        assert len(ids) <= n and ids[-1] in matcher.eos_token_ids
        text = tokenizer.decode_bytes(ids[:-1])
        healed = tokenizer.decode_bytes(options["prompt"][len(options["prompt"]) - matcher.healed:]) if matcher.healed else b""
        assert text.startswith(healed) and grammar.accepts(text[len(healed):])


def test_batches_and_drafts():
    """The same masks and steps as one by one."""
    tokenizer, rng = llgcy.Tokenizer.default(), random.Random(5)
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "array", "items": {"enum": ["x", [[1]], 12, True]}}), tokenizer)
    size, most = tokenizer.vocab_size, 9
    for _ in range(6):
        matchers = [compiled.matcher(max_tokens=rng.choice([3, 5, 8, 60, None])) for _ in range(12)]
        for _ in range(most):
            bitmask = llgcy.allocate_bitmask(12, size)
            llgcy.fill_bitmasks(matchers, bitmask)
            for row, matcher in enumerate(matchers):
                assert tokens_of(matcher, size) == numpy.flatnonzero(numpy.unpackbits(bitmask[row].view(numpy.uint8), bitorder="little")).tolist()
            drafts = llgcy.allocate_bitmask(36, size)
            tokens = [[rng.choice(tokens_of(matcher, size)), rng.randrange(size)] for matcher in matchers]
            llgcy.fill_draft_bitmasks(matchers, tokens, [[-1, 0]] * 12, drafts, range(0, 36, 3))
            for row, (matcher, draft) in enumerate(zip(matchers, tokens)):
                for j in range(3):
                    fork, bits = matcher.fork(), numpy.unpackbits(drafts[3 * row + j].view(numpy.uint8), bitorder="little")
                    want = tokens_of(fork, size) if fork.accept_tokens(draft[:j]) == j else []
                    assert numpy.flatnonzero(bits).tolist() == want
            forks = [matcher.fork() for matcher in matchers]
            chosen = [rng.choice([draft[0], draft[1]]) for draft in tokens]
            assert llgcy.accept_batch(matchers, chosen) == [fork.accept_token(token) for fork, token in zip(forks, chosen)]
