"""Masks of grammar machines, token by token against the machine's own bytes (test_lexing.py holds those against languages)."""
import random

import numpy
import pytest

from grammar_oracle import random_rules, random_words, tables_of
from llgcy.core.config import GrammarMachine
from llgcy.core.json import JsonMachine
from llgcy.core.matcher import CompiledGrammar
from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.core.tables import GrammarTables
from llgcy.core.trie import Vocabulary
from llgcy.errors import GrammarError
from llgcy.schema.automaton import Automaton
from llgcy.schema.options import Options
from test_lexing import with_machines


def allowed(matcher, tokens):
    """Ids that the mask allows."""
    mask = numpy.zeros((len(tokens) + 31) // 32, dtype=numpy.uint32)
    matcher.fill_next_token_bitmask(mask)
    return {i for i in range(len(tokens)) if mask[i // 32] >> numpy.uint32(i % 32) & numpy.uint32(1)}


def walk(machine, tokens, rnd, steps):
    """A random walk: at every step the whole mask is checked against bytes. Token 0 is the end."""
    vocabulary = Vocabulary(tokens, (0,))
    matcher = CompiledGrammar(None, None, vocabulary, lambda: (machine, None), 1 << 26).matcher()
    state = machine.begin()
    for _ in range(steps):
        truth = {i for i, token in enumerate(tokens) if token is not None and machine.after(state, token)}
        if machine.may_end(state):
            truth.add(0)
        assert allowed(matcher, tokens) == truth and truth
        token = rnd.choice(sorted(truth))
        assert matcher.accept_token(token)
        if token == 0:
            return
        state = machine.after(state, tokens[token])


@pytest.mark.parametrize("lexing", ["exact", "greedy"])
@pytest.mark.parametrize("machines", [False, True])
def test_random_grammars(lexing, machines):
    rnd, n = random.Random(f"{lexing}{machines}"), 0
    tokens = [None] + sorted({bytes(rnd.choice(b"ab ") for _ in range(rnd.randint(1, 5))) for _ in range(80)} | {b"a", b"b", b" "})
    while n < 40:
        rules, words = random_rules(rnd, 3, .3, share=.5), random_words(rnd, b"ab ", 3)
        try:
            if machines:
                g = with_machines(rnd, rules, words, lexing=lexing)
            else:
                g = GrammarMachine(tables_of(rules, 3, words, random_words(rnd, b"ab ", 1, 2)[0], lexing=lexing), horizon=5)
        except GrammarError:
            continue
        n += 1
        for _ in range(2):
            walk(g, tokens, rnd, 12)


def json_machine(schema, surrounded=False):
    return JsonMachine(Automaton(schema, Options()), Budget(1 << 26, "a test"), 16, 8, surrounded)


@pytest.mark.parametrize("lexing", ["exact", "greedy"])
def test_documents_inside_a_grammar(lexing):
    """Names, extra names, lengths and white space inside documents; two documents side by side; one beside a regex."""
    schema = {"type": "object", "properties": {"aa": {"type": "integer"}, "ab": {"type": "string", "maxLength": 3}},
              "patternProperties": {"^b": {"enum": [1, 12, "x"]}}, "additionalProperties": {"type": "boolean"}}
    rnd = random.Random(7)
    pieces = [bytes([c]) for c in range(256)]                         # the vocabulary can spell every document
    pieces += [b"rue", b'{"', b'":', b'": ', b'","', b'",', b'"}', b"}!", b"  ", b"12", b"aa", b'ab"', b'"aa":1,"', b'c":true', b"!{", b"1!"]
    tokens = [None] + pieces + sorted({bytes(rnd.choice(b'ab"1:,{}! ') for _ in range(rnd.randint(2, 4))) for _ in range(150)} - set(pieces))
    regexes = Regexes("bytes")
    end, hexadecimal = regexes.words(["!"]), regexes.repeat(regexes.chars([(48, 57), (97, 99)]), 1, None)
    for lexemes, rules in (
            ([json_machine(schema), end], [(2, ("count", 3, 0, None)), (3, (0, 1))]),
            ([json_machine(schema), json_machine({"properties": {"aa": {"const": "x"}}, "type": ["object", "integer"]}), end],
             [(3, (0, 2, 3)), (3, (1, 2)), (3, (1,))]),
            ([json_machine({"type": "integer"}), hexadecimal, end], [(3, ("count", 4, 1, 3)), (4, (0, 2)), (4, (1, 2, 2))])):
        g = GrammarMachine(GrammarTables(rules, len(lexemes), lexemes, regexes, lexing=lexing), horizon=16)
        for _ in range(6):
            walk(g, tokens, rnd, 25)
        for _ in range(20):
            state = g.begin()
            for _ in range(rnd.randint(0, 12)):
                ways = [s for s in (g.after(state, t) for t in tokens[1:]) if s]
                state = rnd.choice(ways) if ways else state
            assert g.may_end(g.after(state, g.completion(state)))
