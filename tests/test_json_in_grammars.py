"""JSON documents as lexemes of a grammar: accepted texts, outputs judged part by part, masks by brute force."""
import json
import random

import numpy
import pytest

import llgcy

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="the judge of what is valid")

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"items": {"enum": ["x", 1.5]}, "type": "array"}}, "required": ["a"]}
GRAMMAR = 'start: ("call: " %json ' + json.dumps(SCHEMA) + ' "!")+\n'


@pytest.mark.parametrize("text, ok", [
    ('call: {"a":1}!', True), ('call: {"a": 1, "b": ["x"]}!call: {"\\u0061":2,"c":{}}!', True), ('call: {"a":1}', False), ('call: {}!', False),
    ('call: {"a":1}!!', False), ('call: {"a":1,"a":2}!', False), ('call:  {"a":1}!', False), ('call: {"a":"!"}!', False)])
@pytest.mark.parametrize("lexing", ["greedy", "exact"])
def test_texts(text, ok, lexing):
    assert llgcy.Grammar.from_lark(GRAMMAR, lexing=lexing).accepts(text) == ok


def test_a_number_ends_where_the_grammar_goes_on():
    """A document that may end here and may also go on."""
    g = llgcy.Grammar.from_lark('start: %json {"type": "integer"} "-" /[0-9]+/')
    assert g.accepts("12-3") and g.accepts("-1-0") and not g.accepts("12") and not g.accepts("1.0-3")


@pytest.mark.parametrize("lexing", ["greedy", "exact"])
def test_outputs_and_masks(lexing):
    rng, judge = random.Random(lexing), jsonschema_rs.validator_for(SCHEMA)
    vocabulary = [bytes([b]) for b in range(256)] + [b'call: {"', b'{"a":', b'"a"', b'}!', b'!call', b'1}!call: {"a":', b'": ', b'","', b'"x"]}', b"1.5", None]
    tokenizer = llgcy.Tokenizer.from_vocab(vocabulary, eos_token_id=len(vocabulary) - 1)
    grammar = llgcy.Grammar.from_lark(GRAMMAR, lexing=lexing)
    compiled, bytewise = (llgcy.compile(grammar, t) for t in (tokenizer, llgcy.Tokenizer.single_byte()))
    mask = llgcy.allocate_bitmask(1, len(vocabulary))
    for _ in range(15):
        m, plain, out = compiled.matcher(), bytewise.matcher(), b""
        for _ in range(40):
            m.fill_next_token_bitmask(mask)
            allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")
            for token, text in enumerate(vocabulary[:-1]):
                ok = plain.accept_bytes(text)
                assert allowed[token] == ok, (out, text)
                if ok:
                    plain.rollback(1)
            assert allowed[len(vocabulary) - 1] == plain.is_accepting()
            ids = numpy.flatnonzero(allowed[:len(vocabulary) - 1]).tolist()
            token = rng.choice([i for i in ids if i > 255] or ids) if rng.random() < 0.5 else rng.choice(ids)
            assert m.accept_token(token) and plain.accept_bytes(vocabulary[token])
            out += vocabulary[token]
        ending = m.completion()
        assert m.accept_bytes(ending) and m.is_accepting()
        for part in (out + ending).decode().removesuffix("!").split("!call: "):
            assert judge.is_valid(json.loads(part.removeprefix("call: "))), out + ending


def test_documents_that_end_by_themselves_are_separable():
    """An object ends with its brace; a number may go on where what follows it starts with a digit."""
    machine = lambda text: llgcy.compile(llgcy.Grammar.from_lark(text), llgcy.Tokenizer.single_byte()).machine     # noqa: E731
    assert machine(GRAMMAR).separable
    assert machine('start: %json {"type": "integer"} "x"').separable
    assert not machine('start: %json {"type": "integer"} ("1" | "x")').separable
