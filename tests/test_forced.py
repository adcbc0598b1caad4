"""Forced tokens, token healing and canonical masks, against definitions over the whole vocabulary."""
import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import llgcy

TOKENIZER = llgcy.Tokenizer.default()
TEXTS = TOKENIZER.text_tokens()
GRAMMARS = {
    "person": llgcy.Grammar.from_json_schema({
        "type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "occupation": {"enum": ["baker", "butcher"]},
                                         "favourite colours": {"type": "array", "items": {"const": "green"}, "minItems": 2, "maxItems": 2}},
        "required": ["name", "occupation", "favourite colours"], "additionalProperties": False}, whitespace="compact"),
    "constant": llgcy.Grammar.from_choices(["the answer: [42, forty-two, None]"]),
    "rules": llgcy.Grammar.from_lark('start: "BEGIN TRANSACTION" " " WORD ("; SELECT * FROM " WORD)* "; COMMIT;"\nWORD: /[a-z]{1,8}/'),
    "spaces": llgcy.Grammar.from_regex("(  )+x( the end|\\n\\nthe end)"),
}
COMPILED = {name: llgcy.compile(grammar, TOKENIZER) for name, grammar in GRAMMARS.items()}


def allowed(matcher):
    return allowed_of(matcher, TOKENIZER.vocab_size)


def allowed_of(matcher, size):
    mask = llgcy.allocate_bitmask(1, size)
    matcher.fill_next_token_bitmask(mask)
    return numpy.flatnonzero(numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")).tolist()


def finish(matcher, rng, steps=40):
    """Random tokens, then a shortest ending: the text behind the matcher's."""
    out = b""
    for _ in range(steps):
        token = rng.choice(allowed(matcher))
        if token in TOKENIZER.eos_token_ids:
            return out
        matcher.accept_token(token)
        out += TEXTS[token]
    return out + matcher.completion()


@pytest.mark.parametrize("name", COMPILED)
def test_forced_tokens_are_those_of_the_whole_text(name):
    """Where text so far is canonical, the tokenizer gives the forced tokens whatever comes behind them."""
    found = 0
    for seed in range(12):
        rng, matcher, ids = random.Random(seed), COMPILED[name].matcher(), []
        for _ in range(12):
            if matcher.is_terminated():
                break
            forced, text = matcher.forced_tokens(), matcher.forced_bytes()
            assert text.startswith(TOKENIZER.decode_bytes(forced))
            assert matcher.validate_tokens(forced) == len(forced)
            for _ in range(3):
                whole = TOKENIZER.decode_bytes(ids) + finish(matcher.fork(), rng)
                again = TOKENIZER.encode(whole)
                if again[:len(ids)] == ids:
                    assert again[:len(ids) + len(forced)] == ids + forced, (whole, forced)
                    found += len(forced)
            if forced:
                assert matcher.accept_tokens(forced) == len(forced)
                ids += forced
                assert matcher.forced_tokens() == [] or len(TOKENIZER.decode_bytes(matcher.forced_tokens())) < len(text)
            # one step of a canonical text, so that the next look is worth something
            rest = TOKENIZER.encode(TOKENIZER.decode_bytes(ids) + finish(matcher.fork(), rng))
            if rest[:len(ids)] != ids or len(rest) == len(ids):
                break
            assert matcher.accept_token(rest[len(ids)])
            ids.append(rest[len(ids)])
    assert found


def test_a_finished_text_is_forced_as_a_whole():
    """Nothing may follow it, so nothing is withheld."""
    matcher = COMPILED["constant"].matcher()
    text = b"the answer: [42, forty-two, None]"
    assert matcher.forced_bytes() == text
    assert matcher.forced_tokens() == TOKENIZER.encode(text)
    assert matcher.accept_tokens(matcher.forced_tokens()) and matcher.is_complete()
    assert matcher.forced_tokens() == []


def test_without_an_encoder_nothing_is_forced():
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"b", None], eos_token_id=2)
    matcher = llgcy.compile(llgcy.Grammar.from_regex("ab"), tokenizer).matcher(tokens="canonical")
    assert matcher.forced_bytes() == b"ab" and matcher.forced_tokens() == []
    mask = llgcy.allocate_bitmask(1, 3)
    matcher.fill_next_token_bitmask(mask)
    assert mask[0, 0] == 0b001


@pytest.mark.parametrize("name", COMPILED)
def test_canonical_masks(name):
    """A part of the mask, never empty; the forced token alone where there is one, else no token that stops inside the forced text
    where there are others. Other tokens are accepted as ever."""
    for seed in range(4):
        rng, matcher = random.Random(seed), COMPILED[name].matcher(tokens="canonical")
        plain = COMPILED[name].matcher()
        for _ in range(40):
            narrow, wide = allowed(matcher), allowed(plain)
            assert narrow and set(narrow) <= set(wide)
            forced, text = plain.forced_tokens(), plain.forced_bytes()
            if forced:
                assert narrow == forced[:1]
            elif text:
                reaching = [i for i in wide if len(TEXTS[i]) >= len(text)]
                assert narrow == (reaching or wide)
            else:
                assert narrow == wide
            token = rng.choice(wide)
            assert matcher.fork().accept_token(token)
            token = rng.choice(narrow)
            assert matcher.accept_token(token) and plain.accept_token(token)
            if matcher.is_terminated():
                break


SMALL = [b"a", b"b", b"c", b"ab", b"abc", b"ca", b"cab", b"bb", b"bca", b"aa", b"aab", b"", None]
SPECIAL = 12


@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 9, 11, SPECIAL]), max_size=8),
       st.sampled_from(["[abc]*", "a(b|c)*", "b+a?", "(ab|ca)+", "cab"]), st.randoms(use_true_random=False))
def test_healing(prompt, pattern, rng):
    """Against the definition, byte by byte."""
    tokenizer = llgcy.Tokenizer.from_vocab(SMALL, special={"<end>": SPECIAL}, eos_token_id=SPECIAL)
    compiled = llgcy.compile(llgcy.Grammar.from_regex(pattern), tokenizer)

    def fits(text):         # a beginning of a text of the grammar
        return compiled.matcher().accept_bytes(text)

    def goes_on(tail):
        return any(t and t.startswith(tail) and len(t) > len(tail) and fits(t[len(tail):]) for t in SMALL)

    matcher = compiled.matcher(prompt=prompt)
    want, tail = 0, b""
    for count, id in enumerate(prompt[::-1][:4], 1):
        if not SMALL[id]:
            break
        tail = SMALL[id] + tail
        if goes_on(tail):
            want = count
    assert matcher.healed == want
    heal, read = b"".join(SMALL[i] for i in prompt[len(prompt) - want:]), b""
    trail = []
    for _ in range(12):
        def legal(token):
            text = read + (SMALL[token] or b"")
            return bool(SMALL[token]) and (heal.startswith(text) or text.startswith(heal) and fits(text[len(heal):]))

        mask = numpy.zeros((1, 1), numpy.int32)
        some = matcher.fill_next_token_bitmask(mask)
        tokens = [i for i in range(len(SMALL)) if mask[0, 0] >> i & 1]
        may_end = read.startswith(heal) and llgcy.Grammar.accepts(compiled.grammar, read[len(heal):])
        assert tokens == [i for i in range(len(SMALL) - 1) if legal(i)] + [SPECIAL] * may_end
        assert some and matcher.is_accepting() == may_end
        assert heal[len(read):] == matcher.forced_bytes()[:max(0, len(heal) - len(read))]
        assert fits((read + matcher.completion())[len(heal):]) and (read + matcher.completion()).startswith(heal)
        if rng.random() < 0.2:
            n = rng.randint(0, len(trail))
            matcher = matcher.fork()
            matcher.rollback(n)
            for text in trail[len(trail) - n:][::-1]:
                read = read[:len(read) - len(text)]
            del trail[len(trail) - n:]
            continue
        token = rng.choice(range(len(SMALL) - 1))
        assert matcher.validate_tokens([token]) == legal(token)
        assert matcher.accept_token(token) == legal(token)
        if legal(token):
            read += SMALL[token]
            trail.append(SMALL[token])


def test_healing_in_a_real_vocabulary():
    """A prompt that ends inside of what the tokenizer would have made one token."""
    compiled = llgcy.compile(llgcy.Grammar.from_regex("su(e|bclass) [0-9]+"), TOKENIZER)
    matcher = compiled.matcher(prompt=TOKENIZER.encode("The answer is"))
    assert matcher.healed == 1 and matcher.forced_bytes() == b" issu"
    assert {b" is", b" issu", b" issue", b" issubclass"} <= {TEXTS[i] for i in allowed(matcher)}
    assert matcher.accept_token(TEXTS.index(b" issubclass")) and matcher.accept_bytes(b" 12") and matcher.is_accepting()
    assert compiled.matcher(prompt=TOKENIZER.encode("The answer")).healed == 0


def test_healing_reads_names():
    """A token that goes on into an object, with names that may be all there are."""
    tokens = [None, b"T", b"{", *[b'T{"' + rest for rest in (b"a", b'a":1,', b'a":1,"', b'a":1,"a', b'a":1,"b', b'a":1,"b":', b'a":1,"b":1,', b'a":1,"b":1}',
                                                          b'b":1,"b', b'c":1,"d":1,', b'a":{"a":1,"b":1},"b', b'a":{"a":1,"b":1,')]]
    schema = {"$defs": {"x": {"type": "object", "patternProperties": {"^[ab]$": {"anyOf": [{"const": 1}, {"$ref": "#/$defs/x"}]}},
                              "additionalProperties": False}}, "$ref": "#/$defs/x"}
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema), llgcy.Tokenizer.from_vocab(tokens, eos_token_id=0, special={"<e>": 0}))
    matcher = compiled.matcher(prompt=[1])
    assert matcher.healed == 1
    assert [tokens[i] for i in range(1, len(tokens)) if matcher.validate_tokens([i])] == [tokens[i] for i in allowed_of(matcher, len(tokens))]
    assert len(allowed_of(matcher, len(tokens))) == 8


@pytest.mark.parametrize("bad, error", [({"prompt": [99999999]}, ValueError), ({"prompt": [-1]}, ValueError), ({"prompt": ["a"]}, TypeError),
                                        ({"tokens": "all"}, ValueError), ({"eos_token_ids": []}, ValueError)])
def test_bad_arguments(bad, error):
    with pytest.raises(error):
        COMPILED["rules"].matcher(**bad)
