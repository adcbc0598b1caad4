"""Masks inside of strings that must hold a pattern somewhere."""
import random

import numpy
import pytest

import llgcy


@pytest.mark.parametrize("options", [{}, {"escapes": '"\\u'}])
@pytest.mark.parametrize("pattern", [r"a\d{3}b", "(foo|bar)+", r"x\\", "é.*z", r"\w+/(\w+\.)*\w+\.xml"])
@pytest.mark.parametrize("bounds", [{}, {"minLength": 9}, {"maxLength": 14}])
def test_masks_of_patterns_that_are_searched_for(pattern, options, bounds):
    """Masks made from those of free strings say of every token what taking it says; with fewer escapes they are not free."""
    tokenizer = llgcy.Tokenizer.default()
    grammar = llgcy.Grammar.from_json_schema({"type": "string", "pattern": pattern, **bounds}, **options)
    compiled = llgcy.compile(grammar, tokenizer)
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    rng = random.Random(pattern)
    matcher = compiled.matcher()
    assert matcher.accept_bytes(b'"')
    for part in (b"a1", b"23", b"b fo", b"obar/", "xé".encode(), b"z.x"):
        matcher.fill_next_token_bitmask(bitmask)
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little")[:tokenizer.vocab_size]
        allowed = set(numpy.flatnonzero(bits).tolist())
        quoted = [id for id, token in enumerate(tokenizer.text_tokens()) if token and b'"' in token]
        for id in {*rng.sample(range(tokenizer.vocab_size), 300), *rng.sample(sorted(allowed), min(50, len(allowed))),
                   *rng.sample(quoted, min(300, len(quoted)))}:
            assert (id in allowed) == (matcher.validate_tokens([id]) == 1), (tokenizer.token_bytes(id), part)
        if not matcher.accept_bytes(part):
            break
    assert not options or compiled.stats()["roaming"] == 0


#: Classes of characters, with what is beyond ASCII and without, repeated without end and with.
CLASSES = [r"\w", r"[^/]", r"\S", "[a-z0-9-]", "[^a-f]", "[0-5]", "[A-Za-zé]", r"[\s\S]", "[^\u00e9]", "[€-\U0010ffff]", "[!-~]", "[ -~]"]


@pytest.mark.parametrize("seed", range(40))
def test_masks_of_patterns_that_treat_characters_alike(seed):
    """Every token of a mask, against the tokens taken one by one."""
    rng = random.Random(seed)
    tokenizer = llgcy.Tokenizer.default()
    counts = ["+", "*", "{1,3}", "{2,40}", "{1,300}", "{7}"]
    pattern = "^" + "".join(rng.choice(CLASSES) + rng.choice(counts) + rng.choice(["", "-", "=é", ","]) for _ in range(rng.randint(1, 3))) + "$"
    bounds = rng.choice([{}, {}, {"minLength": 5}, {"maxLength": 9}, {"minLength": 3, "maxLength": 60}])
    schema = {"type": "string", "pattern": pattern, **bounds}
    if rng.random() < 0.3:
        schema = {"type": "object", "patternProperties": {pattern: {"type": "integer"}}, "properties": {"ab": {}, "a-b": {}},
                  "additionalProperties": False}
    try:
        compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema, **rng.choice([{}, {}, {"escapes": '"\\u'}])), tokenizer)
    except llgcy.UnsatisfiableError:
        return
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    ids = [id for id, token in enumerate(tokenizer.text_tokens()) if token]
    matcher = compiled.matcher()
    matcher.accept_bytes(b'{"' if schema["type"] == "object" else b'"')
    for _ in range(6):
        matcher.fill_next_token_bitmask(bitmask)
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little")[:tokenizer.vocab_size]
        wrong = [tokenizer.token_bytes(id) for id in ids if bits[id] != (matcher.validate_tokens([id]) == 1)]
        assert not wrong, (pattern, bounds)
        allowed = [id for id in ids if bits[id] and b'"' not in tokenizer.token_bytes(id)]
        if not allowed:
            break
        matcher.accept_token(rng.choice(allowed))


@pytest.mark.parametrize("bounds", [(0, 3), (2, 9), (0, 40), (7, 8)])
def test_masks_by_the_number_of_characters(bounds):
    """Every token of a mask, against the tokens taken one by one; escapes and begun characters count as well."""
    tokenizer = llgcy.Tokenizer.default()
    schema = {"type": "string", "minLength": bounds[0], "maxLength": bounds[1]}
    matcher = llgcy.compile(llgcy.Grammar.from_json_schema(schema), tokenizer).matcher()
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    ids = [id for id, token in enumerate(tokenizer.text_tokens()) if token]
    for part in (b'"', "é".encode(), b"\\n", "漢".encode(), b"ab", b"\\ud83d\\ude00", b"c", b"defghijk" * 4):
        if not matcher.accept_bytes(part):
            break
        matcher.fill_next_token_bitmask(bitmask)
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little")[:tokenizer.vocab_size]
        assert not [tokenizer.token_bytes(id) for id in ids if bits[id] != (matcher.validate_tokens([id]) == 1)], part
