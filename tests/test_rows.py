"""Rows against languages computed text by text: verdicts, life, shortest endings, identity, views, constant numbers."""
import random

import pytest

from grammar_oracle import language, random_rules, tables_of, texts
from llgcy.core.regex import Regexes
from llgcy.core.rows import Rows
from llgcy.core.store import Budget
from llgcy.core.tables import GrammarTables
from llgcy.errors import LimitError, UnsatisfiableError


def rows_of(rules, letters, horizon=128, start=None):
    """Rows where lexeme i reads letter i."""
    words = [{bytes([c])} for c in letters]
    return Rows(tables_of(rules, len(letters) if start is None else start, words), Budget(1 << 28, "a test"), horizon)


def reachable(rows, roots):
    """The rows and all that they are linked to."""
    seen, todo = set(roots), list(roots)
    for row in todo:
        for _, ret, _, _ in rows.content(row)[1]:
            if ret not in seen:
                seen.add(ret)
                todo.append(ret)
    return seen


def classes(rows, some):
    """How many classes of bisimilar rows there are among some that are closed under links."""
    contents = {r: rows.content(r) for r in some}
    colour, n = dict.fromkeys(some, 0), 0
    while True:
        ids, new = {}, {}
        for r, (accept, items) in contents.items():
            look = accept, frozenset((place, low, high, colour[ret]) for place, ret, low, high in items)
            new[r] = ids.setdefault(look, len(ids))
        colour = new
        if len(ids) == n:
            return n
        n = len(ids)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("letters, size, counts", [(b"ab", 6, 0), (b"ab", 6, .35), (b"a", 12, .35)])
def test_random_grammars(letters, size, counts, seed):
    rnd = random.Random(f"{letters}{counts}{seed}")
    for _ in range(60):
        rules = random_rules(rnd, len(letters), counts, lows=range(8) if len(letters) == 1 else (0, 0, 1, 2, 2, 3))
        truth = language(rules, len(letters), [{bytes([c])} for c in letters], size + 2)
        try:
            rows = rows_of(rules, letters)
        except UnsatisfiableError:
            assert not truth
            continue
        made, level = {rows.start}, {b"": rows.start}
        for _ in range(size + 1):
            for text, row in level.items():
                best = min((len(x) for x in truth if x.startswith(text)), default=None)
                if row == 0:
                    assert best is None, (rules, text)
                    continue
                ending = rows.ending(row)
                assert rows.accepts(row) == (text in truth), (rules, text)
                assert len(ending) == rows.cost(row)
                if best is None:                                      # longer than all in `truth`: read it
                    assert len(text + ending) > size + 2
                    assert rows.accepts(rows.follow(row, map(letters.index, ending))), (rules, text, ending)
                else:
                    assert text + ending in truth and len(text + ending) == best, (rules, text, ending)
            level = {text + letters[i:i + 1]: rows.follow(row, [i]) for text, row in level.items() if row
                     for i in range(len(letters))}
            made |= set(level.values()) - {0}
        made = reachable(rows, made)
        assert classes(rows, made) == len(made), rules


@pytest.mark.parametrize("seed", range(3))
def test_views_look_alike_for_the_horizon(seed):
    rnd, others, horizon = random.Random(seed), 0, 2
    for _ in range(100):
        rules = []
        for left, body in random_rules(rnd, 2, .4):
            if body and body[0] == "count":
                low = rnd.choice([0, 1, 4, 6])
                body = ("count", body[1], low, rnd.choice([low + rnd.randint(0, 9), None]))
            rules.append((left, body))
        try:
            rows = rows_of(rules, b"ab", horizon)
        except UnsatisfiableError:
            continue
        row = rows.start
        for _ in range(14):
            others += rows.view(row) != row
            assert rows.view(rows.view(row)) == rows.view(row)
            todo = [(row, rows.view(row), 0)]
            while todo:
                a, b, depth = todo.pop()
                assert (a == 0) == (b == 0), rules
                if a:
                    assert rows.accepts(a) == rows.accepts(b) and rows.allowed(a) == rows.allowed(b), rules
                    if depth < horizon:
                        todo += [(rows.follow(a, [x]), rows.follow(b, [x]), depth + 1) for x in (0, 1)]
            if not rows.allowed(row):
                break
            row = rows.follow(row, [rnd.choice(rows.allowed(row))])
    assert others > 100


@pytest.mark.parametrize("seed", range(2))
def test_unions_are_unions(seed):
    rnd = random.Random(seed)
    for _ in range(60):
        rules = random_rules(rnd, 2, .3)
        try:
            rows = rows_of(rules, b"ab")
        except UnsatisfiableError:
            continue
        made = {rows.follow(rows.start, t) for n in range(4) for t in texts((0, 1), n)} - {0}
        for _ in range(5):
            some = [rnd.choice(sorted(made)) for _ in range(rnd.randint(1, 3))]
            one = rows.joined(some)
            assert one == rows.joined(some[::-1] + some)
            for n in range(4):
                for t in texts((0, 1), n):
                    ends = [rows.follow(r, t) for r in some]
                    end = rows.follow(one, t)
                    assert bool(end) == any(ends), rules
                    if end:
                        assert rows.accepts(end) == any(rows.accepts(e) for e in ends if e), rules


def test_the_order_of_work_shows_nowhere():
    rnd = random.Random(1)
    for _ in range(60):
        rules, seen = random_rules(rnd, 2, .25), []
        strings = list(texts((0, 1), 5))
        for _ in range(2):
            rnd.shuffle(strings)
            try:
                rows = rows_of(rules, b"ab")
            except UnsatisfiableError:
                break
            out = {}
            for t in strings:
                row = rows.start
                for i, x in enumerate(t):
                    row = row and rows.follow(row, [x])
                    if row:
                        accept, items = rows.content(row)
                        out[t[:i + 1]] = accept, [(place, low, high) for place, _, low, high in items], rows.ending(row)
                    else:
                        out[t[:i + 1]] = None
            seen.append(out)
        assert len(seen) < 2 or seen[0] == seen[1], rules


N, COMMA, OPEN, CLOSE, PLUS, TIMES = range(6)
S, L, M = 6, 7, 8
ONE = (OPEN, N, COMMA, N, CLOSE)


@pytest.mark.parametrize("name, rules, text, most", [
    ("right recursion", [(S, (OPEN, L, CLOSE)), (L, (N,)), (L, (N, COMMA, L))], [OPEN] + [N, COMMA] * 3000, 8),
    ("left recursion", [(S, (OPEN, L, CLOSE)), (L, (N,)), (L, (L, COMMA, N))], [OPEN] + [N, COMMA] * 3000, 8),
    ("ambiguous operator", [(S, (S, PLUS, S)), (S, (N,))], [N, PLUS] * 400, 8),
    ("two ambiguous operators", [(S, (S, PLUS, S)), (S, (S, TIMES, S)), (S, (N,)), (S, (OPEN, S, CLOSE))],
     [N, PLUS, N, TIMES] * 200, 10),
    ("sequence", [(S, (S, S)), (S, (N,))], [N] * 400, 6),
    ("repetition", [(S, (OPEN, L, CLOSE)), (L, ("count", M, 0, None)), (M, ONE)], [OPEN, *ONE * 1000], 20),
])
def test_a_constant_number_of_rows(name, rules, text, most):
    rows = rows_of(rules, b"n,()+*", start=S)
    half = rows.follow(rows.start, text[:len(text) // 2 // 4 * 4])
    before = rows.stats()["rows"]
    assert rows.follow(half, text[len(text) // 2 // 4 * 4:])
    assert rows.stats()["rows"] == before <= most


def test_few_views_of_many_numbers():
    rows = rows_of([(S, (OPEN, L, CLOSE)), (L, ("count", M, 0, 1_000_000)), (M, ONE)], b"n,()+*", horizon=20, start=S)
    row, views = rows.follow(rows.start, [OPEN]), set()
    for _ in range(500):
        for x in ONE:
            row = rows.follow(row, [x])
            views.add(rows.view(row))
    assert rows.stats()["rows"] > 2500 and len(views) == 5


def test_counts_are_never_unrolled():
    rows = rows_of([(S, (L, CLOSE)), (L, ("count", N, 1_000_000_000, 2_000_000_000))], b"n,()+*", start=S)
    assert rows.cost(rows.start) == 1_000_000_001
    assert rows.stats()["rows"] < 10
    with pytest.raises(LimitError, match="16,777,216"):
        rows.ending(rows.start)


def test_sharing_of_nested_documents():
    """Stacks that differ have different futures, and nothing else makes rows."""
    value, members, more = 6, 7, 8
    rules = [(value, (N,)), (value, (OPEN, members, CLOSE)), (members, ()), (members, (value, more)),
             (more, ("count", 9, 0, None)), (9, (COMMA, value))]
    rows = rows_of(rules, b"n,()+*", start=value)
    row = rows.follow(rows.start, [OPEN] * 50 + [N])
    first = rows.stats()["rows"]
    assert rows.follow(row, ([CLOSE, COMMA, OPEN, N] * 200 + [CLOSE] * 50)) == rows.follow(rows.start, [N])
    assert rows.stats()["rows"] < first + 200


def test_what_derives_nothing_is_refused():
    regexes = Regexes("bytes")
    a = regexes.words(["a"])
    for rules, lexemes in (([(1, (0, 1))], [a]), ([(1, (0,))], [0]), ([(1, (2,))], [a]), ([(1, ("count", 2, 3, None)), (2, (2,))], [a]),
                           ([], [a])):
        with pytest.raises(UnsatisfiableError):
            GrammarTables(rules, 1, lexemes, regexes)


def test_what_is_no_grammar_is_refused():
    regexes = Regexes("bytes")
    a = regexes.words(["a"])
    for rules, options in (([(0, (0,))], {}), ([(1, (-1,))], {}), ([(1, ("count", 0, 3, 2))], {}), ([(1, (0,))], {"skip": 0}),
                           ([(1, (0,))], {"skip": 1}), ([(1, (0,))], {"lexing": "lazy"})):
        with pytest.raises(ValueError):
            GrammarTables(rules, 1, [a], regexes, **options)
    with pytest.raises(LimitError):
        GrammarTables([(1, ("count", 0, 0, 1 << 31))], 1, [a], regexes)


def test_long_chains_need_no_recursion():
    regexes = Regexes("bytes")
    n = 20_000
    rules = [(i, (i + 1,)) for i in range(1, n)] + [(n, (0, n + 1)), (n + 1, ())]
    rows = Rows(GrammarTables(rules, 1, [regexes.words(["a"])], regexes), Budget(1 << 28, "a test"))
    assert rows.ending(rows.start) == b"a"
    deep = [(i, (i + 1, 0)) for i in range(1, n)] + [(n, (0,)), (n, (1, 0))]
    rows = Rows(GrammarTables(deep, 1, [regexes.words(["a"])], regexes), Budget(1 << 28, "a test"))
    assert rows.cost(rows.start) == n
    row = rows.follow(rows.start, [0] * 3)
    assert rows.allowed(row) == [0]


def test_the_budget_is_a_limit():
    rules = [(6, (OPEN, 6, CLOSE)), (6, (N,))]
    words = [{bytes([c])} for c in b"n,()+*"]
    rows = Rows(tables_of(rules, 6, words), Budget(1 << 16, "a small test"), 16)
    with pytest.raises(LimitError, match="a small test"):
        for _ in range(1000):
            rows.follow(rows.start, [OPEN] * 5000)
