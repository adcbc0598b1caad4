"""The integers of draft 4, in every spelling of all other numbers: against the definition, text by text."""
import itertools
import random
import re
from fractions import Fraction

import pytest

from llgcy.schema.exact import Exact
from llgcy.schema.numbers import NumberLexeme

JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def holds(formula, text):
    op, parts = formula[0], formula[1:]
    x = Fraction(text)
    if op == "int":
        return not set(text) & set(".eE")
    if op in ("and", "or"):
        return (all if op == "and" else any)(holds(part, text) for part in parts)
    if op == "not":
        return not holds(parts[0], text)
    if op == "in":
        return any(Fraction(q.text()) == x for q in parts[0])
    bound = Fraction(parts[0].text())
    if op == "mult":
        return (x / bound).denominator == 1
    return {"ge": x >= bound, "gt": x > bound, "le": x <= bound, "lt": x < bound}[op]


def random_formula(r, depth=2):
    kind = r.choice(["int", "int", "ge", "le", "gt", "lt", "mult", "in"] + ["and", "or", "not"] * 2 * (depth > 0))
    if kind == "int":
        return ("int",)
    if kind in ("and", "or"):
        return (kind, *[random_formula(r, depth - 1) for _ in range(2)])
    if kind == "not":
        return ("not", random_formula(r, depth - 1))
    values = [Exact.of(q) for q in ("-3", "-0.5", "0", "1", "2", "2.5", "10", "12")]
    if kind == "in":
        return ("in", tuple(r.sample(values, 2)))
    return (kind, Exact.of(r.choice(["2", "0.5", "3"])) if kind == "mult" else r.choice(values))


def run(lexeme, text):
    state = lexeme.start()
    for byte in text.encode():
        state = state and lexeme.step(state, byte)
    return state


@pytest.mark.parametrize("seed", range(16))
def test_random_formulas(seed):
    r = random.Random(seed)
    formula = random_formula(r)
    lexeme = NumberLexeme((formula,), "digits")
    texts = ["".join(t) for n in range(5) for t in itertools.product("-0125.e", repeat=n)]
    accepted = {t for t in texts if JSON_NUMBER.fullmatch(t) and holds(formula, t)}
    begun = {t[:i] for t in accepted for i in range(len(t) + 1)}
    for text in texts:
        state = run(lexeme, text)
        assert bool(state and lexeme.accepts(state)) == (text in accepted), (formula, text)
        assert state is not None or text not in begun, (formula, text)
        if state is not None and len(text) < 4:
            whole = text + lexeme.shortest(state).decode()
            assert JSON_NUMBER.fullmatch(whole) and holds(formula, whole), (formula, text, whole)
            shape, code, size = lexeme.split(state)
            assert 0 <= code < size and lexeme.join(shape, code) == state


def test_alternatives_are_told_apart_by_spelling():
    lexeme = NumberLexeme((("int",), ("ge", Exact.of("5.5"))), "digits")
    for text, met in {"7": {0, 1}, "7.0": {1}, "1e1": {1}, "-0": {0}, "5": {0}}.items():
        assert lexeme.accepts(run(lexeme, text)) == met
    assert not lexeme.accepts(run(lexeme, "5.0"))           # 5.01 goes on
