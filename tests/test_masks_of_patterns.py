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
