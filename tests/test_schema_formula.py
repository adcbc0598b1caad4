"""Boolean formulas against plain evaluation."""
import itertools
import random

import pytest

from llgcy.errors import LimitError
from llgcy.schema.exact import Exact
from llgcy.schema.formula import ANYTHING, DEPTH, FALSE, NOTHING, TRUE, Formulas


def evaluate(fs, f, true_atoms):
    """The truth of a formula where just these atoms hold."""
    content = fs.nodes[f >> 1]
    if content[0] == "and":
        truth = all(evaluate(fs, c, true_atoms) for c in content[1])
    elif content[0] == "one":
        truth = sum(evaluate(fs, c, true_atoms) for c in content[1]) == 1
    else:
        truth = f >> 1 == 0 or f >> 1 in true_atoms
    return truth != bool(f & 1)


def random_formula(fs, atoms, r, depth, truths):
    """A formula built by the store, and its truth table computed beside it."""
    if depth == 0 or r.random() < .2:
        a = r.choice(atoms)
        sign = r.randrange(2)
        return a ^ sign, tuple((a in world) != bool(sign) for world in truths)
    kids = [random_formula(fs, atoms, r, depth - 1, truths) for _ in range(r.randint(1, 4))]
    how = r.choice(["all", "any", "one"])
    columns = zip(*[t for _, t in kids])
    made = [f for f, _ in kids]
    if how == "all":
        return fs.all_of(made), tuple(map(all, columns))
    if how == "any":
        return fs.any_of(made), tuple(map(any, columns))
    return fs.one_of(made), tuple(sum(c) == 1 for c in columns)


@pytest.mark.parametrize("seed", range(40))
def test_operations_keep_the_meaning(seed):
    r, fs = random.Random(seed), Formulas(None)
    # members with values of different kinds, so that no cheap test ties the atoms together
    atoms = [fs.some(fs.names([name]), fs.value(literals=1)) for name in "abcde"]
    worlds = [frozenset(w) for n in range(6) for w in itertools.combinations(atoms, n)]
    for _ in range(30):
        f, table = random_formula(fs, atoms, r, 3, worlds)
        assert tuple(evaluate(fs, f, {a >> 1 for a in w}) for w in worlds) == table
        assert fs.zero(f) == table[0]
        assert set(fs.support(f)) <= {a >> 1 for a in atoms}
        chosen = r.sample(atoms, 2)
        fixed = {a >> 1: r.choice([TRUE, FALSE]) for a in chosen}
        g = fs.assign(f, fixed)
        assert not set(fs.support(g)) & set(fixed)
        for w in worlds:
            forced = {a >> 1 for a in w if a >> 1 not in fixed} | {a for a, t in fixed.items() if t == TRUE}
            assert evaluate(fs, g, forced) == evaluate(fs, f, forced)


@pytest.mark.parametrize("seed", range(20))
def test_scalar_formulas_decide_every_scalar(seed):
    r, fs = random.Random(seed), Formulas(lambda term, text: text.startswith("ab"[term]))
    words = ["", "a", "b", "ab", "ba", "abc"]
    numbers = [Exact.of(x) for x in (-3, 0, 0.5, 1, 2, 6)]
    strings = [fs.names(r.sample(words, 2)) for _ in range(3)] + [fs.length(1), fs.length(2), fs.atom("re", 0), fs.atom("re", 1)]
    numeric = [fs.atom("value", frozenset(r.sample(numbers, 2))) for _ in range(3)]
    numeric += [fs.atom("ge", Exact.of(0)), fs.atom("gt", Exact.of(1)), fs.atom("mult", Exact.of(2)), fs.atom("int")]
    for atoms, holds, domain in ((strings, fs.holds_text, words), (numeric, fs.holds_number, numbers)):
        def grow(depth):
            if not depth or r.random() < .2:
                f = r.choice(atoms) ^ r.randrange(2)
                return f, [holds(f, x) for x in domain]
            kids = [grow(depth - 1) for _ in range(r.randint(1, 3))]
            how = r.choice([all, any])
            made = [f for f, _ in kids]
            return (fs.all_of if how is all else fs.any_of)(made), [how(c) for c in zip(*[t for _, t in kids])]
        for _ in range(40):
            f, table = grow(3)
            assert [holds(f, x) for x in domain] == table


def test_equal_formulas_are_one():
    fs = Formulas(None)
    a, b, c = (fs.count(n) ^ 1 if n == 3 else fs.some(fs.names([str(n)]), ANYTHING) for n in (1, 2, 3))
    assert fs.all_of([a, b, c]) == fs.all_of([c, fs.all_of([b, a]), a])
    assert fs.any_of([a ^ 1, b ^ 1]) == fs.all_of([a, b]) ^ 1


def test_contradictions_of_required_names_are_seen_at_once():
    fs = Formulas(None)
    key = fs.names(["k"])

    def demands(value):
        return fs.some(key, fs.constant(value) ^ 1) ^ 1
    has = fs.some(key, ANYTHING)
    assert fs.all_of([has, demands("a"), demands("b")]) == FALSE
    assert fs.all_of([demands("a"), demands("b")]) != FALSE
    assert fs.all_of([has, fs.some(fs.names(["j"]) ^ 1, ANYTHING) ^ 1]) == FALSE
    assert fs.all_of([fs.count(3), fs.count(2) ^ 1]) == FALSE
    assert fs.all_of([fs.size(3), fs.size(4) ^ 1]) != FALSE


def test_value_formulas_are_kind_by_kind():
    fs = Formulas(None)
    text, number = fs.value(string=TRUE), fs.value(number=TRUE)
    assert fs.both(text, number) == NOTHING
    assert fs.either(text, text ^ 1) == ANYTHING
    assert fs.both(fs.either(text, number), text ^ 1) == number
    assert fs.union([text, number]) == fs.either(text, number)
    assert fs.constants([1, 1.0, "a"]) == fs.constants(["a", 1])
    assert fs.constant(True) != fs.constant(1)


def test_depth_is_limited():
    fs = Formulas(None)
    atoms = [fs.some(fs.names([f"a{i}"]), ANYTHING) for i in range(2 * DEPTH + 4)]
    f = atoms[0]
    with pytest.raises(LimitError):
        for i, a in enumerate(atoms[1:]):
            f = fs.all_of([f, a]) if i % 2 else fs.any_of([f, a])
