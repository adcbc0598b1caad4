"""Terms against set semantics: every claim is checked by a matcher that tries all ways to cut a text."""
import itertools
import random

import pytest

from llgcy.core.regex import Automaton, Regexes
from llgcy.core.store import Budget
from llgcy.errors import GrammarError, LimitError

LETTERS = "abc"


def matches(node, text, i, j, end, memo):
    """Is text[i:j] in the language of the node, where look-ahead sees up to `end`?"""
    key = id(node), i, j, end
    if key in memo:
        return memo[key]
    memo[key] = False           # an empty copy inside a repetition adds nothing
    kind, *args = node
    if kind == "chars":
        found = j == i + 1 and any(a <= ord(text[i]) <= b for a, b in args)
    elif kind == "words":
        found = text[i:j] in args
    elif kind == "cat":
        if not args:
            found = i == j
        else:
            rest = node_of("cat", *args[1:])
            found = any(matches(args[0], text, i, k, end, memo) and matches(rest, text, k, j, end, memo) for k in range(i, j + 1))
    elif kind == "either":
        found = any(matches(x, text, i, j, end, memo) for x in args)
    elif kind == "both":
        found = all(matches(x, text, i, j, j, memo) for x in args)
    elif kind == "complement":
        found = not matches(args[0], text, i, j, j, memo)
    elif kind == "ahead":
        found = i == j and matches(args[0], text, i, end, end, memo)
    elif kind == "behind":
        found = i == j and matches(args[0], text, 0, i, i, memo)
    else:
        body, low, high = args
        reached, n, seen = {i}, 0, set()
        found = False
        while True:
            if n >= low and j in reached:
                found = True
                break
            state = (frozenset(reached), min(n, low))
            if n == high or state in seen:
                break
            seen.add(state)
            reached = {q for p in reached for q in range(p, j + 1) if matches(body, text, p, q, end, memo)}
            n += 1
    memo[key] = found
    return found


NODES = {}


def node_of(*content):
    """One object per content, so that its id can stand for it."""
    return NODES.setdefault(content, content)


def random_node(rng, depth, look, inner=False):
    """look: 0 = no look-around, 1 = both kinds. Inside & and ~ and look-around operands look-ahead is closed."""
    if depth == 0 or rng.random() < 0.15:
        a, b = sorted(rng.choices(range(3), k=2))
        return rng.choice([node_of("chars", (97 + a, 97 + b)), node_of("chars", (97 + a, 97 + a)), node_of("cat"),
                           node_of("words", "a", "ab", "abc", "bc", "c"), node_of("words", "", "aab", "cab")])
    kind = rng.choice(["cat", "cat", "either", "both", "complement", "repeat"] + ["ahead", "behind"] * look)
    inside = [random_node(rng, depth - 1, look) for _ in range(rng.randint(2, 3))]
    if kind in ("complement", "ahead"):
        return node_of(kind, inside[0])
    if kind == "behind":
        return node_of(kind, random_node(rng, depth - 1, 0))
    if kind == "repeat":
        low = rng.randint(0, 3)
        return node_of(kind, inside[0], low, rng.choice([None, low + rng.randint(0, 3)]))
    return node_of(kind, *inside)


def build(r, node):
    kind, *args = node
    if kind == "chars":
        return r.chars(args)
    if kind == "words":
        return r.words(args)
    if kind == "repeat":
        return r.repeat(build(r, args[0]), *args[1:])
    built = [build(r, x) for x in args]
    return getattr(r, kind)(*built) if kind in ("complement", "ahead", "behind") else getattr(r, kind)(built)


def in_language(node, text):
    return matches(node, text, 0, len(text), len(text), {})


def agree(r, start, node, longest):
    """Walk all texts: acceptance is right, dead means that no text goes on, alive has a witness."""
    told = {}
    for n in range(longest + 1):
        for letters in itertools.product(LETTERS, repeat=n):
            told["".join(letters)] = in_language(node, "".join(letters))
    going_on = {text[:i] for text, yes in told.items() if yes for i in range(len(text) + 1)}
    todo = [("", start)]
    while todo:
        text, state = todo.pop()
        assert r.accepts(state) == told[text], (node, text)
        for letter in LETTERS:
            if len(text) == longest:
                break
            after = r.step(state, ord(letter))
            if after == 0:
                assert text + letter not in going_on, (node, text + letter)
                continue
            todo.append((text + letter, after))
            if text + letter not in going_on:
                rest = "".join(map(chr, r.shortest(after)))
                assert len(text + letter + rest) > longest or set(rest) - set(LETTERS)
                if len(rest) < 12:
                    assert in_language(node, text + letter + rest), (node, text + letter, rest)


@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
@pytest.mark.parametrize("seed", range(60))
def test_terms_mean_what_sets_mean(alphabet, seed):
    rng = random.Random(seed)
    r = Regexes(alphabet)
    node = random_node(rng, 3, 0)
    agree(r, build(r, node), node, 4)


@pytest.mark.parametrize("seed", range(250))
def test_look_around(seed):
    rng = random.Random(1000 + seed)
    r = Regexes("chars")
    node = random_node(rng, 3, 1)
    try:
        start = build(r, node)
    except GrammarError as error:
        assert "inside of a look-behind" in str(error)
        return
    agree(r, start, node, 4)


@pytest.mark.parametrize("seed", range(80))
def test_edges_say_what_step_says(seed):
    rng = random.Random(5000 + seed)
    r = Regexes(rng.choice(["bytes", "chars"]))
    todo, met = [build(r, random_node(rng, 3, 0))], set()
    while todo and len(met) < 60:
        state = todo.pop()
        if state in met:
            continue
        met.add(state)
        edges, probes = r.edges(state), [0, 96, 97, 98, 99, 100, 127, 128, 255]
        assert all(a <= b and after for a, b, after in edges)
        assert all(b < a for (_, b, _), (a, _, _) in zip(edges, edges[1:]))
        probes += [x for a, b, _ in edges for x in (a, b)]
        for c in probes:
            expected = next((after for a, b, after in edges if a <= c <= b), 0)
            assert r.step(state, c) == expected
        todo += [after for _, _, after in edges]


def test_words_are_a_minimal_automaton():
    rng = random.Random(3)
    for alphabet in ("bytes", "chars"):
        words = {"".join(rng.choices("abé\U0001F600", k=rng.randint(0, 7))) for _ in range(400)}
        r = Regexes(alphabet)
        start = r.words(words)
        assert start == r.words(sorted(words, reverse=True))
        spelt = {w.encode() if alphabet == "bytes" else tuple(map(ord, w)): True for w in words}
        found, todo = set(), [((), start)]
        while todo:
            word, state = todo.pop()
            if r.accepts(state):
                found.add(word)
            for a, b, after in r.edges(state):
                todo += [((*word, c), after) for c in range(a, b + 1)]
        assert found == set(map(tuple, spelt))
        # Minimal: no two states reached have the same right language.
        languages = {}

        def language(state):
            if state not in languages:
                languages[state] = r.accepts(state), tuple((c, language(after)) for a, b, after in r.edges(state) for c in range(a, b + 1))
            return languages[state]
        language(start)
        assert len(set(languages.values())) == len(languages)


def test_surrogates_are_in_no_language():
    r = Regexes("chars")
    assert [e[:2] for e in r.edges(r.all)] == [(0, 0xD7FF), (0xE000, 0x10FFFF)]
    assert [e[:2] for e in r.edges(r.complement(r.words(["a"])))][-2:] == [(98, 0xD7FF), (0xE000, 0x10FFFF)]
    assert r.chars([(0xD800, 0xDFFF)]) == 0 == r.words(["a\ud800"])
    assert r.chars([(0xD700, 0xE001)]) == r.either([r.chars([(0xD700, 0xD7FF)]), r.chars([(0xE000, 0xE001)])])
    assert r.step(r.all, 0xDABC) == 0


def test_counts_are_never_unrolled():
    r = Regexes("bytes")
    ab = r.words([b"ab"])
    state = r.repeat(ab, 2, 10**9)
    before = r.stats()["terms"]
    for _ in range(50):
        state = r.step(r.step(state, 97), 98)
    assert r.accepts(state) and r.stats()["terms"] - before < 300
    dots = r.repeat(r.any, 0, 9000)
    for _ in range(9000):
        dots = r.step(dots, 120)
    assert r.accepts(dots) and r.step(dots, 120) == 0


def test_ambiguous_counts_stay_small():
    r = Regexes("bytes")
    state = r.repeat(r.words(["a", "aa"]), 500, 1000)
    for n in range(1, 2001):
        state = r.step(state, 97)
        assert r.accepts(state) == (n >= 500)
    assert r.step(state, 97) == 0 and r.stats()["terms"] < 20_000


def test_equal_counts_have_equal_ids():
    r = Regexes("bytes")
    a = r.chars([(97, 97)])
    some = r.repeat(a, 1, None)
    assert r.repeat(some, 0, None) == r.repeat(r.repeat(a, 0, 1), 0, None) == r.repeat(a, 0, None)
    assert r.cat([r.repeat(a, 1, 2), r.repeat(a, 3, 5)]) == r.repeat(a, 4, 7)
    assert r.repeat(r.repeat(a, 0, 9), 0, 9) == r.repeat(a, 0, 81)
    assert r.repeat(r.repeat(a, 3, 3), 0, 5) != r.repeat(a, 0, 15)
    assert r.either([r.repeat(a, 2, 4), r.repeat(a, 5, 9)]) == r.repeat(a, 2, 9)


def test_life_is_exact_without_a_search_where_terms_are_positive():
    r = Regexes("bytes")
    r.step(r.words(["foo", "bar"]), 102)
    assert r.stats()["searches"] == 0
    foo = r.cat([r.all, r.words(["foo"]), r.all])
    assert r.is_empty(r.both([r.cat([r.all, r.words(["foo"])]), r.complement(foo)]))
    assert not r.is_empty(r.both([foo, r.complement(r.cat([r.all, r.words(["foo"])]))]))


def test_operands_may_be_made_on_the_way():
    r = Regexes("bytes")
    assert r.either(r.words([w]) for w in ("ab", "cd")) == r.either([r.words(["ab"]), r.words(["cd"])])
    assert r.cat(r.repeat(r.chars((c, c) for c in (97, 99)), n, n) for n in (2, 3)) == r.repeat(r.chars([(97, 97), (99, 99)]), 5, 5)
    assert r.fan((c, c, r.words([chr(c)])) for c in (97, 98)) == r.words(["aa", "bb"])


@pytest.mark.parametrize("copies", [24, 60, 3000])
def test_automata_of_exponential_size_are_not_explored(copies):
    """The n-th symbol from the end decides: 2**n states in all, a handful on the way of one text."""
    r = Regexes("chars", fuel=200_000)
    a, ab = r.chars([(97, 97)]), r.chars([(97, 98)])
    late = r.cat([r.repeat(ab, 0, None), a, r.repeat(ab, copies, copies)])
    assert r.alive(late) and len(r.shortest(late)) == copies + 1
    long_enough = r.both([late, r.repeat(r.any, copies + 50, copies + 60)])
    assert r.alive(long_enough) and not r.alive(r.both([late, r.repeat(r.any, 0, copies)]))


def test_limits():
    rng = random.Random(1)
    small = Regexes("bytes", Budget(100_000, "the test"))
    with pytest.raises(LimitError, match="the test"):
        small.words(rng.randbytes(8) for _ in range(10_000))
    assert small.words([b"a"]) == small.words([b"a"])       # still of use
    r = Regexes("chars", fuel=1000)
    a = r.chars([(97, 97)])
    with pytest.raises(LimitError, match="1,000 steps"):
        r.alive(r.both([r.repeat(r.cat([a, r.any]), 5000, 5000), r.complement(r.cat([r.all, r.words(["b"]), r.all]))]))
    with pytest.raises(LimitError):
        r.repeat(a, 0, 1 << 40)
    with pytest.raises(ValueError):
        r.repeat(a, 3, 2)
    with pytest.raises(ValueError):
        r.step(10**6, 97)
    with pytest.raises(ValueError):
        r.chars([(5, 4)])
    with pytest.raises(ValueError):
        r.shortest(0)


def test_deep_terms_need_no_deep_stack():
    r = Regexes("chars")
    a, b = r.chars([(97, 97)]), r.chars([(98, 98)])
    x = a
    for i in range(20_000):
        x = r.complement(r.cat([b, x])) if i % 3 else r.either([a, r.cat([r.repeat(x, 0, None), b])])
    assert r.accepts(r.step(x, 98)) in (True, False)


def test_shortest_prefers_readable_text():
    r = Regexes("chars")
    assert "".join(map(chr, r.shortest(r.repeat(r.any, 3, 5)))) == "aaa"
    assert r.shortest(r.cat([r.chars([(0, 47)]), r.chars([(0x80, 0x90), (60, 70)])])) == [32, 65]
    assert r.shortest(1) == []


def test_digests_tell_terms_apart_and_not_stores():
    """Equal terms of two stores have one digest, whatever was made in them before; different terms have different ones."""
    def terms(r):
        a, b, any_ = r.chars([(97, 97)]), r.chars([(98, 100)]), r.any
        yield from (0, 1, a, b, any_, r.cat([a, b]), r.cat([b, a]), r.either([a, r.cat([b, a])]), r.both([r.repeat(b, 2, None), r.complement(a)]),
                    r.repeat(a, 0, 3), r.repeat(a, 1, 3), r.repeat(a, 1, None), r.complement(r.cat([a, b])), r.words(["ab", "ad", "b"]),
                    r.words(["ab", "ad"]), r.cat([r.ahead(a), r.all]))
    first, second = Regexes("chars"), Regexes("chars")
    second.words(["zz", "a", "qq"])
    second.cat([second.chars([(100, 120)]), second.chars([(97, 97)])])
    one = [first.digest(t) for t in terms(first)]
    assert one == [second.digest(t) for t in terms(second)]
    assert len(set(one)) == len(one) and {len(d) for d in one} == {16}


@pytest.mark.parametrize("alphabet", ["bytes", "chars"])
@pytest.mark.parametrize("seed", range(40))
def test_automata_are_taken_over_as_they_are(alphabet, seed):
    """A table means what its term means, alone and as a part of other terms, in a store that knows the term by its table alone."""
    rng = random.Random(7000 + seed)
    node, other = random_node(rng, 3, 0), random_node(rng, 2, 0)
    source, r = Regexes(alphabet), Regexes(alphabet)
    term = build(source, node)
    if not source.alive(term):
        with pytest.raises(ValueError, match="empty"):
            source.automaton(term, 10)
        return
    table = Automaton.load(source.automaton(term, 10_000).dump(), alphabet)
    taken = r.take_over(table)
    assert taken == r.take_over(source.automaton(term, 10_000))
    agree(r, taken, node, 4)
    assert len(r.shortest(taken)) == len(source.shortest(term))
    agree(r, r.cat([taken, build(r, other)]), node_of("cat", node, other), 4)
    agree(r, r.both([taken, r.complement(build(r, other))]), node_of("both", node, node_of("complement", other)), 4)
    agree(r, r.repeat(taken, 1, 2), node_of("repeat", node, 1, 2), 4)


def test_automata_have_limits_and_one_digest():
    r = Regexes("chars")
    many = r.repeat(r.chars([(97, 98)]), 5, 5)
    with pytest.raises(LimitError, match="more than 5 states"):
        r.automaton(many, 5)
    table = r.automaton(many, 6)
    assert table.states == 6
    with pytest.raises(ValueError, match="no automaton over 'bytes'"):
        Regexes("bytes").take_over(table)
    one, two = Regexes("chars"), Regexes("chars")
    two.words(["zz", "a"])
    assert one.digest(one.take_over(table)) == two.digest(two.take_over(table)) != one.digest(one.step(one.take_over(table), 97))
    assert one.show(one.take_over(table))[:2] == ("state", 0)
    everything = r.automaton(r.all, 1)
    assert one.take_over(everything) == one.all


def test_damaged_tables_are_refused_or_read_safely():
    r = Regexes("chars")
    data = r.automaton(r.either([r.words(["Größe", "a"]), r.repeat(r.chars([(48, 57)]), 1, 300)]), 1000).dump()
    assert Automaton.load(data, "chars").dump() == data
    for cut in range(len(data)):
        with pytest.raises(ValueError):
            Automaton.load(data[:cut], "chars")
    for bad in data + b"\0", b"", b"\x00\x00", b"\xff" * 40:
        with pytest.raises(ValueError):
            Automaton.load(bad, "chars")
    with pytest.raises(ValueError, match="no alphabet"):
        Automaton.load(data, "words")
    rng, read = random.Random(5), 0
    for _ in range(3000):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] = rng.randrange(256)
        try:
            table = Automaton.load(bytes(damaged), "chars")
        except ValueError:
            continue
        read += 1
        assert table.dump() == bytes(damaged) or len(table.dump()) < len(damaged)       # the same number may have been written longer
    assert read
    with pytest.raises(ValueError, match="without states"):
        Automaton().dump()
