"""The grammar machine over bytes, against languages computed text by text and against a plain maximal munch."""
import ast
import collections
import random
import re

import pytest

from grammar_oracle import accepts_naively, language, random_rules, random_words, reads_greedily, tables_of, texts, with_skips
from llgcy.core.config import GrammarMachine
from llgcy.core.lexer import Lexer
from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.core.tables import GrammarTables
from llgcy.errors import GrammarError, UnsatisfiableError

SEVERAL = 3     # State.mode of a configuration of several members


def machine(rules, start, words, *args, **options):
    """None where the grammar derives nothing."""
    try:
        return GrammarMachine(tables_of(rules, start, words, *args, **options))
    except UnsatisfiableError:
        return None


def check_exact(g, truth, letters, size):
    """Every text of up to `size` letters: verdict, life, a shortest ending. `truth` goes one letter further. -> states of several members"""
    level, several = {b"": g.begin()}, 0
    for k in range(size + 1):
        for text, state in level.items():
            best = min((len(x) for x in truth if x.startswith(text)), default=None)
            if state is None:
                assert best is None, text
                continue
            several += state[0] == SEVERAL
            assert g.may_end(state) == (text in truth), text
            ending = g.completion(state)
            if best is None:
                assert len(text + ending) > size + 1 and g.accepts(text + ending), (text, ending)
            else:
                assert text + ending in truth and len(text + ending) == best, (text, ending)
        level = {text + bytes([c]): g.after(state, bytes([c])) for text, state in level.items() if state for c in letters}
    return several


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("letters, size", [(b"ab", 6), (b"abc", 4)])
def test_exact_lexing(letters, size, seed):
    rnd, several = random.Random(f"{letters}{seed}"), 0
    for _ in range(50):
        rules, words = random_rules(rnd, 3, .2, share=.5), random_words(rnd, letters, 3, empty=True)
        truth = language(rules, 3, words, size + 1)
        g = machine(rules, 3, words, lexing="exact")
        if g is None:
            assert not truth
            continue
        several += check_exact(g, truth, letters, size)
    assert several > 10                                               # or this test looks at the easy cases only


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("letters, size", [(b"ab", 5), (b"ab_", 4)])
def test_exact_lexing_with_skips(letters, size, seed):
    rnd = random.Random(f"{letters}{seed}")
    for _ in range(40):
        rules, words, skip = random_rules(rnd, 3, .2, share=.5), random_words(rnd, letters, 3), random_words(rnd, letters, 1, 2)[0]
        first, last = rnd.random() < .5, rnd.random() < .5
        truth = with_skips(rules, 3, words, skip, first, last, size + 1)
        g = machine(rules, 3, words, skip, skip_first=first, skip_last=last, lexing="exact")
        if g is None:
            assert not truth
        else:
            check_exact(g, truth, letters, size)


@pytest.mark.parametrize("seed", range(3))
def test_long_texts(seed):
    """Random walks far beyond what can be listed, against spans."""
    rnd = random.Random(seed)
    for _ in range(15):
        rules, words = random_rules(rnd, 3, .2, share=.4), random_words(rnd, b"ab", 3)
        g = machine(rules, 3, words, lexing="exact")
        if g is None:
            continue
        for _ in range(4):
            text, state = b"", g.begin()
            for _ in range(18):
                ways = [(c, g.after(state, c)) for c in (b"a", b"b")]
                assert g.may_end(state) == accepts_naively(rules, 3, words, text), (rules, words, text)
                whole = text + g.completion(state)
                if len(whole) < 40:
                    assert accepts_naively(rules, 3, words, whole), (rules, words, whole)
                ways = [(c, s) for c, s in ways if s]
                if not ways:
                    break
                c, state = rnd.choice(ways)
                text += c


def greedy_case(rnd, letters):
    """A random grammar: the arguments of `machine` and `reads_greedily`."""
    rules, words = random_rules(rnd, 3, .15, share=.45), random_words(rnd, letters, 3, rnd.choice([1, 2, 2, 3]))
    return (rules, 3, words, random_words(rnd, letters, 1, 1)[0] if rnd.random() < .5 else None,
            rnd.random() < .5, rnd.random() < .5)


def greedy_machine(rules, start, words, skip, first, last):
    return machine(rules, start, words, skip, skip_first=first, skip_last=last, lexing="greedy")


@pytest.mark.parametrize("seed", range(4))
def test_greedy_lexing(seed):
    """Against a plain maximal munch, and, where the grammar is separable, against its language."""
    rnd, kinds = random.Random(seed), collections.Counter()
    for _ in range(40):
        case = rules, start, words, skip, first, last = greedy_case(rnd, b"abc")
        try:
            g = greedy_machine(*case)
        except GrammarError:                                          # traps have a test of their own
            continue
        truth = with_skips(rules, start, words, skip or set(), first, last, 5)
        if g is None:
            assert not truth
            continue
        kinds["separable" if g.separable else "overlaps"] += 1
        for text in (t for n in range(5) for t in texts(b"abc", n)):
            state = g.after(g.begin(), text)
            if g.separable:
                assert (state is not None and g.may_end(state)) == (text in truth), (case, text)
                assert state is not None or not any(t.startswith(text) for t in truth)
            if rnd.random() < .1:
                assert {None: None, state: state and g.may_end(state)}[state] is reads_greedily(*case, text), (case, text)
            if state and not unsettled(g):
                whole = text + g.completion(state)
                assert g.accepts(whole)
                assert rnd.random() < .9 or len(whole) > 6 or reads_greedily(*case, whole), (case, whole)
    assert kinds["separable"] > 10 and kinds["overlaps"], kinds


def unsettled(g):
    """Warnings that the search for traps gave up; others tell of lexemes that overlap."""
    return [warning for warning in g.warnings if "no text can end" in warning]


def test_traps_are_refused():
    """The text that the error names can go on, and no text behind it ends."""
    rnd, traps = random.Random(3), 0
    for _ in range(3000):
        rules = [(3, (0, 3)), (3, (rnd.randint(1, 2), rnd.randint(1, 2)))]
        words = [{bytes(rnd.choice(b"ab") for _ in range(rnd.randint(1, 2))) for _ in range(rnd.randint(1, 3))} for _ in range(3)]
        case = rules, 3, words, None, False, False
        try:
            assert not unsettled(greedy_machine(*case))
        except GrammarError as error:
            trap = ast.literal_eval(re.search("behind (b'.*') no text", str(error))[1])
            if traps < 40:
                assert reads_greedily(*case, trap) is False, (case, trap)
                assert not any(reads_greedily(*case, trap + t) for n in range(1, 6) for t in texts(b"ab", n)), (case, trap)
            traps += 1
    assert traps > 40


def pattern_machine(rules, start, *lexemes, **options):
    """Lexemes: (lower-case letters, "+" or "") or bytes."""
    regexes = Regexes("bytes")
    word = regexes.repeat(regexes.chars([(97, 122)]), 1, None)
    terms = [word if x is None else regexes.words([x]) for x in lexemes]
    return GrammarMachine(GrammarTables(rules, start, terms, regexes, **options))


def test_a_lexeme_that_swallows_all_that_may_follow():
    with pytest.raises(GrammarError, match="never leave #0"):
        pattern_machine([(2, (0, 1))], 2, None, b"x")
    assert pattern_machine([(2, (0, 1))], 2, None, b"x", lexing="exact").accepts(b"abxx")
    assert pattern_machine([(2, (0, 1))], 2, None, b".").accepts(b"ab.")
    g = pattern_machine([(3, (0, 1))], 3, None, b"x", b" ", skip=2)   # with a space between, it can end
    assert not g.separable and not g.warnings
    assert g.accepts(b"ab x") and not g.accepts(b"abx") and g.completion(g.after(g.begin(), b"ab")) == b" x"


def test_unbounded_grammars_that_overlap_get_a_warning():
    """( ( ... listed ... ) ): that no bracket makes a trap cannot be found out by looking at states."""
    rules = [(5, (3, 5, 4)), (5, (0, 1)), (5, (2,))]
    words = [{b"list", b"listen"}, {b"ed", b"x"}, {b"y"}, {b"("}, {b")"}]
    g = machine(rules, 5, words)
    assert len(unsettled(g)) == 1 and "exact" in unsettled(g)[0]
    assert [warning for warning in g.warnings if warning not in unsettled(g)] == [
        "greedy lexing: where #0 ends, it goes on with 'e', and so may begin what follows; the longer one is read, and nothing else is tried"]
    assert not machine(rules, 5, words, lexing="exact").warnings
    at = g.after(g.begin(), b"((list")
    assert g.accepts(b"((list" + g.completion(at)) and g.completion(at) == b"x))"
    assert g.completion(g.after(g.begin(), b"((liste")) == b"nx))"


def test_greedy_and_exact_differ_where_lexemes_overlap():
    words = [{b"a", b"ab", b"abb"}, {b"abc"}, {b"cd"}, {b"e"}]
    rules = [(4, (0, 2)), (4, (1, 3))]
    assert machine(rules, 4, words, lexing="exact").accepts(b"abcd")
    assert not machine(rules, 4, words).accepts(b"abcd")
    assert machine(rules, 4, words).accepts(b"abce") and machine(rules, 4, words).accepts(b"abbcd")


def test_a_lexeme_that_cannot_go_on_ends_at_once():
    g = machine([(2, (0, 1))], 2, [{b"ab"}, {b"c"}])
    state = g.after(g.begin(), b"ab")
    assert state == g.after(g.after(g.begin(), b"a"), b"b") and g.completion(state) == b"c"
    assert g.may_end(g.after(state, b"c"))


def test_skips_stand_where_something_may_follow():
    g = machine([(2, (0, 1))], 2, [{b"a"}, {b"b"}], {b" "})
    assert g.accepts(b"a   b") and not g.accepts(b" ab") and not g.accepts(b"ab ") and g.after(g.begin(), b"ab ") is None
    g = machine([(2, (0, 1))], 2, [{b"a"}, {b"b"}], {b" "}, skip_first=True, skip_last=True)
    assert g.accepts(b"  a b  ")
    g = machine([(2, ()), (2, (0, 2))], 2, [{b"a"}], {b" "})
    assert g.accepts(b"a a") and g.accepts(b"a ") and not g.accepts(b" a") and not g.accepts(b" ")


def test_equal_futures_are_equal_states():
    regexes = Regexes("bytes")
    word = regexes.repeat(regexes.chars([(97, 122)]), 1, None)
    g = GrammarMachine(GrammarTables([(2, (0,)), (2, (2, 1, 0))], 2, [word, regexes.words([","])], regexes))
    at = g.after(g.begin(), b"abc,")
    rows = g.stats()["rows"]
    assert g.after(at, b"d,efg,h,") == at == g.after(g.begin(), b"xyzzy,a,")
    assert g.after(at, b"d") == g.after(at, b"dozens")
    assert g.stats()["rows"] == rows


def test_a_fork_goes_the_same_way():
    """States are values: what else was read in between shows nowhere."""
    rnd = random.Random(5)
    for _ in range(30):
        rules, words = random_rules(rnd, 3, .2, share=.5), random_words(rnd, b"ab", 3)
        one, other = (machine(rules, 3, words, lexing="exact") for _ in range(2))
        if one is None:
            continue
        all_texts = [t for n in range(6) for t in texts(b"ab", n)]
        first = {t: one.after(one.begin(), t) for t in all_texts}
        rnd.shuffle(all_texts)
        for t in all_texts:
            assert one.after(one.begin(), t) == first[t]
            there = other.after(other.begin(), t)
            assert (there is None) == (first[t] is None)
            if there:
                assert other.completion(there) == one.completion(first[t]) and other.may_end(there) == one.may_end(first[t])


@pytest.mark.parametrize("seed", range(2))
def test_joint_states_of_the_lexer(seed):
    rnd, letters = random.Random(seed), b"abc"
    for _ in range(50):
        words = random_words(rnd, letters, 3)
        regexes = Regexes("bytes")
        lexer = Lexer([regexes.words(sorted(ws)) for ws in words], regexes, Budget(1 << 24, "a test"))
        start = lexer.start(range(3))
        for n in range(1, 4):
            for text in texts(letters, n):
                handle = lexer.after(start, text)
                live = [i for i, ws in enumerate(words) if any(w.startswith(text) for w in ws)]
                if not live:
                    assert handle == 1
                    continue
                assert [x for x, _ in lexer.leaves(handle)] == live
                assert lexer.ended(handle) == [i for i, ws in enumerate(words) if text in ws]
                assert bool(handle & 1) == any(text in ws for ws in words)
                assert bool(handle & 2) == any(w.startswith(text) and w != text for ws in words for w in ws)


@pytest.mark.parametrize("name, rules, words, text, most", [
    ("two members", [(5, (0, 5, 2)), (5, (1, 5, 3)), (5, (4,))],
     [{b"a", b"aa"}, {b"aa", b"aaa"}, {b"x"}, {b"y"}, {b"z"}], b"a" * 60, 400),
    ("words on words", [(1, ("count", 0, 0, None))], [{b"a", b"ab", b"b", b"ba", b"abab"}], b"ab" * 500, 12),
])
def test_exact_lexing_stays_small(name, rules, words, text, most):
    g = machine(rules, len(words), words, lexing="exact")
    assert g.after(g.begin(), text)
    assert g.stats()["rows"] < most and g.stats()["configurations"] < most


def test_keys_of_masks_forget_far_numbers():
    regexes = Regexes("bytes")
    rules = [(3, (0, 4, 1)), (4, ("count", 2, 0, 1_000_000))]
    lexemes = [regexes.words([x]) for x in ("[", "]", "ab")]
    g = GrammarMachine(GrammarTables(rules, 3, lexemes, regexes), horizon=10)
    state, keys, states = g.after(g.begin(), b"["), set(), set()
    for _ in range(400):
        state = g.after(state, b"ab")
        keys.add(g.key(state))
        states.add(state)
    assert len(states) == 400 and len(keys) == 1


def test_bad_states_are_refused():
    g = machine([(1, (0,))], 1, [{b"a"}])
    with pytest.raises(ValueError):
        g.after(b"short", b"a")


def with_machines(rnd, rules, words, **options):
    """The same language, but some lexemes are machines: exact grammars of their own, which cut the words into pieces."""
    regexes, lexemes, n = Regexes("bytes"), [], 0
    for ws in words:
        if rnd.random() < .6 or not n and len(lexemes) == 2:
            parts = sorted({w[:i] for w in ws for i in range(1, len(w) + 1)} | {w[i:] for w in ws for i in range(len(w))})
            number = {w: i for i, w in enumerate(parts)}
            inner = [(len(parts), (number[w[:i]], number[w[i:]]) if 0 < i < len(w) else (number[w],))
                     for w in ws for i in [rnd.randrange(len(w))]]
            lexemes.append(machine(inner, len(parts), [{w} for w in parts], lexing="exact"))
            n += 1
        else:
            lexemes.append(regexes.words(sorted(ws)))
    return GrammarMachine(GrammarTables(rules, len(words), lexemes, regexes, **options))


@pytest.mark.parametrize("seed", range(3))
def test_machines_as_lexemes(seed):
    rnd, several, nested = random.Random(seed), 0, 0
    for _ in range(60):
        rules, words = random_rules(rnd, 3, .2, share=.5), random_words(rnd, b"ab", 3)
        try:
            g = with_machines(rnd, rules, words, lexing="exact")
        except UnsatisfiableError:
            continue
        several += check_exact(g, language(rules, 3, words, 6), b"ab", 5)
        nested += any(s and s[0] >= 16 for t in texts(b"ab", 1) for s in [g.after(g.begin(), t)])
    assert several > 20 and nested > 5


@pytest.mark.parametrize("seed", range(3))
def test_machines_as_greedy_lexemes(seed):
    rnd = random.Random(seed)
    for _ in range(30):
        rules, words = random_rules(rnd, 3, .15, share=.45), random_words(rnd, b"ab", 3)
        try:
            g = with_machines(rnd, rules, words)
        except GrammarError:
            continue
        for text in (t for n in range(6) for t in texts(b"ab", n)):
            if rnd.random() < .3:
                state = g.after(g.begin(), text)
                truth = reads_greedily(rules, 3, words, None, False, False, text)
                assert (None if state is None else g.may_end(state)) is truth, (rules, words, text)
                if state and not unsettled(g):
                    assert g.accepts(text + g.completion(state))
                if state:
                    assert g.may_end(g.key(state)) == g.may_end(state)
