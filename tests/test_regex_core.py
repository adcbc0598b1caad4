"""Terms against set semantics: every claim is checked by a matcher that tries all ways to cut a text."""
import itertools
import random

import pytest

from llgcy.core.regex import Regexes
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
