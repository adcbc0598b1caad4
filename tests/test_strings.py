"""JSON strings and keys: random languages, views and used names against brute force over decoded texts in every spelling."""
import itertools
import json
import random
import re
import time

import pytest
from test_unescape import spellings

from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.core.strings import Strings
from llgcy.errors import LimitError

DEAD, ALIVE, CROSS = range(3)
NASTY = 'abxyz/"\\\n\x00\x7f\x80é€\ud7ff\ue000\U0001f600\U00010000\U0010ffff'


def make(size=1 << 26):
    budget = Budget(size, "the test")
    regexes = Regexes("chars", budget)
    return Strings(regexes, budget), regexes


def decoded(data):
    """The string that these bytes are as a JSON text, or None (json lets lone surrogates pass)."""
    try:
        value = json.loads(data.decode())
    except ValueError:
        return None
    return value if isinstance(value, str) and data.strip() == data and not re.search("[\ud800-\udfff]", value) else None


def words_over(alphabet, longest):
    return ["".join(w) for n in range(longest + 1) for w in itertools.product(alphabet, repeat=n)]


def spelt_from(prefix, word):
    """Is the prefix, quotes left out in front, the beginning of a spelling of the word and its closing quote?"""
    todo = [(prefix, 0)]
    while todo:
        rest, i = todo.pop()
        if not rest or i == len(word) and rest == b'"':
            return True
        if i < len(word):
            for spelt in spellings(ord(word[i])):
                if spelt.startswith(rest):
                    return True
                if rest.startswith(spelt):
                    todo.append((rest[len(spelt):], i + 1))
    return False


# -- random languages: a term and a predicate of Python's own ------------------------------------------------------------

def literal(regexes, text):
    return regexes.cat([regexes.chars([(ord(c), ord(c))]) for c in text])


def random_pattern(rng, regexes, alphabet, depth=2):
    kind = rng.randrange(9 if depth else 5)
    a, b = rng.choice(alphabet), rng.choice(alphabet)
    if kind == 0:
        words = rng.sample(words_over(alphabet, 2), rng.randint(1, 3))
        return regexes.words(words), lambda s: s in words
    if kind == 1:                   # a search
        return regexes.cat([regexes.all, literal(regexes, a + b), regexes.all]), lambda s: a + b in s
    if kind == 2:
        low, high = rng.choice([(0, 2), (1, 2), (2, 3), (1, None), (0, None)])
        term = regexes.repeat(regexes.chars([(ord(c), ord(c)) for c in {a, b}]), low, high)
        return term, lambda s: set(s) <= {a, b} and low <= len(s) and (high is None or len(s) <= high)
    if kind == 3:                   # periods
        return regexes.repeat(literal(regexes, a + b), 0, None), lambda s: s == (a + b) * (len(s) // 2)
    if kind == 4:
        low, high = sorted((ord(a), ord(b)))
        ranges = [(x, y) for x, y in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high)) if x <= y]
        return regexes.cat([regexes.chars(ranges), regexes.all]), lambda s: s != "" and low <= ord(s[0]) <= high
    one, in_one = random_pattern(rng, regexes, alphabet, depth - 1)
    two, in_two = random_pattern(rng, regexes, alphabet, depth - 1)
    if kind == 5:
        return regexes.both([one, two]), lambda s: in_one(s) and in_two(s)
    if kind == 6:
        return regexes.either([one, two]), lambda s: in_one(s) or in_two(s)
    return regexes.complement(one), lambda s: not in_one(s)


class Case:
    """A random view with used names, and the outcome that its texts should have."""

    def __init__(self, rng, patterns=True):
        self.strings, regexes = make()
        self.alphabet = rng.sample(NASTY, rng.choice([2, 2, 3]))
        pool = words_over(self.alphabet, 2)
        names = rng.sample(pool, rng.randint(0, min(5, len(pool))))
        languages = [random_pattern(rng, regexes, self.alphabet) for _ in range(rng.randint(0, 3))] if patterns else []
        if patterns and rng.random() < 0.4:             # a few words that declared and used names nearly exhaust
            few = rng.sample(pool, min(len(pool), rng.randint(2, 4)))
            languages[:1] = [(regexes.words(few), lambda s: s in few)]
            pool = few + rng.sample(pool, 1)
            names = list(dict.fromkeys(names[:1] + few[:rng.randint(0, 2)]))
        self.predicates = [holds for _, holds in languages]
        self.names = {name: rng.choice([0, i + 1, i + 1, 1]) for i, name in enumerate(names)}
        self.windows, low = [], rng.choice([0, 0, 0, 1, 2])
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            high = rng.choice([low, low + 1, low + 2, None, None])
            outcomes = {bits: rng.choice([0, 10, 11, 12, 1]) for bits in range(1 << len(languages)) if rng.random() < 0.6}
            self.windows.append((low, high, outcomes))
            if high is None:
                break
            low = high + rng.choice([1, 1, 2])
        self.allowed = rng.choice([None, None, rng.getrandbits(13), 1 << 10, 0b111111])
        language = self.strings.language(list(self.names.items()), [term for term, _ in languages], self.windows)
        self.view = self.strings.view(language, self.allowed)
        # Names get into the set by being read somewhere: here in a view of all texts.
        everything = self.strings.view(self.strings.language((), (), [(0, None, {0: 1})]))
        self.used = set(rng.sample(pool, rng.randint(0, min(6, len(pool)))))
        self.handle = 0
        for name in sorted(self.used, key=lambda _: rng.random()):
            spelt = b"".join(rng.choice(spellings(ord(c))) for c in name)
            leaf = self.strings.feed(self.strings.begin(everything), spelt, 0, True)
            self.handle = self.strings.use_at(self.handle, leaf)

    def outcome(self, text):
        if text in self.names:
            got = self.names[text]
        elif text in self.used:
            return 0
        else:
            bits = sum(1 << i for i, holds in enumerate(self.predicates) if holds(text))
            got = next((outcomes.get(bits, 0) for low, high, outcomes in self.windows
                        if low <= len(text) and (high is None or len(text) <= high)), 0)
        return got if got and (self.allowed is None or self.allowed >> got & 1) else 0

    def run(self, data, grow=False):
        """(step code of the last byte, leaf) after these bytes, with the closing quote or without."""
        leaf = self.strings.begin(self.view, self.handle)
        code = DEAD if leaf is None else ALIVE
        for byte in data:
            if code != ALIVE:
                return DEAD, None
            code, leaf = self.strings.step_leaf(leaf, byte, self.handle, grow)
        return code, leaf


@pytest.mark.parametrize("seed", range(100))
def test_every_byte_of_every_spelling(seed):
    rng = random.Random(f"bytes {seed}")
    case = Case(rng, patterns=seed % 3 > 0)
    strings, used = case.strings, case.handle
    words = words_over(case.alphabet, 3)
    outcomes = {w: case.outcome(w) for w in words}
    good = [w for w in words if outcomes[w]]
    assert strings.begin(case.view, used) is not None or not good
    prefixes = set()
    for word in words:
        for _ in range(2):
            data = b"".join(rng.choice(spellings(ord(c))) for c in word)
            assert decoded(b'"' + data + b'"') == word
            for grow in (False, True):
                code, leaf = case.run(data + b'"', grow)
                assert (code == CROSS) == (outcomes[word] > 0), (word, data)
                if code == CROSS:
                    assert strings.outcome_at(leaf, used) == outcomes[word]
            prefixes.update(data[:i] for i in range(len(data) + 1))
    for prefix in rng.sample(sorted(prefixes), min(12, len(prefixes))):
        code, leaf = case.run(prefix)
        if code == DEAD:
            assert not any(spelt_from(prefix, w) for w in good), prefix
            continue
        starts = [w for w in good if spelt_from(prefix, w)]
        for byte in range(256):
            code, after = strings.step_leaf(leaf, byte, used)
            longer = prefix + bytes([byte])
            if code == DEAD:
                assert not any(spelt_from(longer, w) for w in starts), longer
            elif code == CROSS:
                assert case.outcome(decoded(b'"' + longer)) > 0
            else:
                word = decoded(b'"' + longer + strings.shortest(after, used))
                assert word is not None and case.outcome(word) > 0, (longer, word)
                assert all(len(word) <= len(w) for w in starts if spelt_from(longer, w)), (longer, word)
    for _ in range(20):             # longer than what is enumerated
        word = "".join(rng.choices(case.alphabet, k=rng.randint(4, 9)))
        data = b"".join(rng.choice(spellings(ord(c))) for c in word)
        assert (case.run(data + b'"')[0] == CROSS) == (case.outcome(word) > 0), word


@pytest.mark.parametrize("seed", range(40))
def test_shortest_with_an_outcome(seed):
    rng = random.Random(f"shortest {seed}")
    case = Case(rng)
    words = words_over(case.alphabet, 3)
    for prefix in rng.sample(words, 6):
        data = b"".join(rng.choice(spellings(ord(c))) for c in prefix)
        data += rng.choice([b"", b"\\", b"\\u", b"\\u0", b"\\u00", b"\xc3", b"\xf0\x9f"])
        code, leaf = case.run(data)
        if code != ALIVE:
            continue
        for outcome in sorted({case.outcome(w) for w in words} - {0}):
            wanted = [w for w in words if case.outcome(w) == outcome and spelt_from(data, w)]
            try:
                rest = case.strings.shortest(leaf, case.handle, outcome)
            except ValueError:
                assert not wanted
                continue
            word = decoded(b'"' + data + rest)
            assert word is not None and case.outcome(word) == outcome
            assert all(len(word) <= len(w) for w in wanted)


@pytest.mark.parametrize("seed", range(60))
def test_growing_changes_no_answer_and_gives_sets(seed):
    rng = random.Random(f"grow {seed}")
    case = Case(rng)
    everything = case.strings.view(case.strings.language((), (), [(0, None, {0: 1})]))
    for _ in range(15):
        word = "".join(rng.choices(case.alphabet, k=rng.randint(0, 4)))
        data = b"".join(rng.choice(spellings(ord(c))) for c in word)
        codes = [[case.run(data[:i], grow)[0] for i in range(len(data) + 1)] for grow in (False, True, False)]
        assert codes[0] == codes[1] == codes[2]
        code, leaf = case.run(data, True)
        if code != ALIVE or not case.strings.outcome_at(leaf, case.handle):
            continue
        handle = case.strings.use_at(case.handle, leaf)
        if word in case.names:          # never looked up among the used ones
            assert handle == case.handle
        else:
            assert handle not in (case.handle, -2)
            other = case.strings.feed(case.strings.begin(everything, case.handle), word_data(word), case.handle, True)
            assert case.strings.use_at(case.handle, other) == handle
            start = case.strings.begin(case.view, handle)
            end = start and case.strings.feed(start, data, handle)
            assert end is None or case.strings.step_leaf(end, 0x22, handle)[0] == DEAD


def word_data(word):
    return json.dumps(word, ensure_ascii=False)[1:-1].encode()


@pytest.mark.parametrize("seed", range(60))
def test_representatives_have_the_same_future(seed):
    """For as many characters as asked, begun ones included, a leaf and its representative are refused by the same bytes and end alike."""
    rng = random.Random(f"mask {seed}")
    case = Case(rng)
    if seed % 2:                    # wider windows, so that something is far away
        regexes = case.strings.patterns.regexes
        pattern, holds = random_pattern(rng, regexes, case.alphabet)
        low = rng.choice([0, 0, 8, 12])
        case.predicates, case.names, case.allowed = [holds], {}, None
        case.windows = [(low, low + rng.choice([9, 14]), {0: 10, 1: 11} if rng.random() < 0.5 else {1: 11})]
        if rng.random() < 0.3:
            case.windows.append((40, 50, {1: 12}))
        case.view = case.strings.view(case.strings.language((), [pattern], case.windows))
    strings, used = case.strings, case.handle
    for _ in range(40):
        word = "".join(rng.choices(case.alphabet, k=rng.randint(0, 12 if seed % 2 else 3)))
        data = b"".join(rng.choice(spellings(ord(c))) for c in word)
        data = data[:rng.randint(0, len(data))]
        code, leaf = case.run(data)
        if code != ALIVE:
            continue
        horizon = rng.choice([0, 1, 2, 4])
        if rng.random() < 0.8:
            strings.split_at(case.run(b"")[1], used)        # makes known what representatives depend on
        other, matters = strings.mask_leaf_at(leaf, used, horizon)
        assert strings.mask_leaf_at(other, used, horizon) == (other, matters)
        for _ in range(12):
            a, b, chars = leaf, other, 0
            for byte in b"".join(rng.choice(spellings(ord(c))) for c in rng.choices(case.alphabet, k=horizon + 1))[rng.randint(0, 3):]:
                assert strings.outcome_at(a, used) == strings.outcome_at(b, used), (data, horizon)
                if chars == horizon:
                    break
                allowed = [[strings.step_leaf(x, y, used)[0] for y in range(256)] for x in (a, b)]
                assert allowed[0] == allowed[1], (data, horizon, chars)
                if allowed[0][byte] != ALIVE:
                    break
                a, b = strings.step_leaf(a, byte, used)[1], strings.step_leaf(b, byte, used)[1]
                chars += a[20:24] == bytes(4)
            if not matters:
                assert strings.mask_leaf_at(leaf, 0, horizon)[0] == other


def test_bounds_that_are_far_away_do_not_show():
    strings, regexes = make()
    pattern = regexes.repeat(regexes.either([literal(regexes, "abc"), literal(regexes, "b")]), 0, None)
    view = matching(strings, pattern, 0, 30)            # at most two characters from an end
    strings.split_at(strings.begin(view))
    for k in range(31):
        leaf = strings.feed(strings.begin(view), (b"b" * (k % 3) + b"abc" * 10)[:k])
        for horizon in range(8):
            other, matters = strings.mask_leaf_at(leaf, 0, horizon)
            assert not matters
            if k + horizon + 2 <= 30:
                assert other[16:20] == bytes(4)
            for text in ["".join(w) for w in itertools.product("abc", repeat=min(horizon, 4))] + [("bbb" + "abc" * 3)[12 - horizon:]]:
                ends = [strings.feed(x, text.encode()) for x in (leaf, other)]
                assert (ends[0] is None) == (ends[1] is None), (k, horizon, text)
                if ends[0]:
                    assert strings.outcome_at(ends[0]) == strings.outcome_at(ends[1])
    short = strings.view(strings.language((), (), [(5, 40, {0: 1})]))
    places = [strings.feed(strings.begin(short), b"x" * k) for k in range(41)]
    kinds = {h: len({strings.mask_leaf_at(leaf, 0, h)[0] for leaf in places}) for h in (0, 2, 10)}
    assert kinds[0] < kinds[2] < kinds[10] < 41 and kinds[2] < 12


@pytest.mark.parametrize("seed", range(60))
def test_split(seed):
    """The plain leaf is the place without names; where it is free, only the number of characters counts."""
    rng = random.Random(f"split {seed}")
    case = Case(rng)
    strings, used = case.strings, case.handle
    fewer = Case.__new__(Case)          # the same without used names
    fewer.__dict__.update(case.__dict__, handle=0, used=set())
    words = words_over(case.alphabet, 3)
    for prefix in words_over(case.alphabet, 2):
        code, leaf = case.run(word_data(prefix))
        if code != ALIVE:
            continue
        split = strings.split_at(leaf, used)
        others = [w for w in words if w.startswith(prefix) and w not in case.names and fewer.outcome(w)]
        if split is None:
            assert not others
            continue
        plain, apart, free = split
        for word in words:
            end = strings.feed(plain, word_data(word), used)
            whole = prefix + word
            expected = 0 if whole in case.names else fewer.outcome(whole)
            if whole not in case.names:
                assert (strings.outcome_at(end, used) if end else 0) == expected, (prefix, word)
            if not apart:
                after = strings.feed(leaf, word_data(word), used)
                assert (after is None) == (end is None)
                assert case.outcome(whole) == (strings.outcome_at(end, used) if end else 0)
            if free:
                least, most = free
                assert (end is not None) == (len(word) <= most)
                if end is not None:
                    assert (strings.outcome_at(end, used) > 0) == (least <= len(word))
                    assert strings.later_at(plain, len(word)) == end
    assert strings.split_at(strings.feed(everything_of(strings), b"\\u00")) is None


def everything_of(strings):
    return strings.begin(strings.view(strings.language((), (), [(0, None, {0: 1})])))


@pytest.mark.parametrize("seed", range(80))
def test_lengths_with_periods(seed):
    """Texts of one letter: a text is its length, and all lengths below a common period are enumerated."""
    rng = random.Random(f"lengths {seed}")
    strings, regexes = make()
    a = literal(regexes, "a")

    def random_lengths(depth=2):
        if depth == 0 or rng.random() < 0.4:
            period, first = rng.randint(1, 5), rng.randint(0, 6)
            copies = rng.choice([None, None, 0, 1, 4])
            term = regexes.cat([regexes.repeat(a, first, first), regexes.repeat(regexes.repeat(a, period, period), 0, copies)])
            return term, {n for n in range(first, 400) if (n - first) % period == 0 and (copies is None or n - first <= period * copies)}
        (one, lengths), (two, others) = random_lengths(depth - 1), random_lengths(depth - 1)
        if rng.random() < 0.5:
            return regexes.both([one, two]), lengths & others
        return regexes.either([one, two]), lengths | others

    parts = [random_lengths() for _ in range(rng.randint(1, 2))]
    only = regexes.repeat(a, 0, None)
    low = rng.choice([0, 0, 3, 20, 61])
    windows = [(low, rng.choice([None, low, low + 2, low + 30]), {bits: 1 for bits in range(4) if rng.random() < 0.6})]
    if windows[0][1] is not None and rng.random() < 0.5:
        windows.append((windows[0][1] + 1, None, {bits: 2 for bits in range(4) if rng.random() < 0.4}))
    windows = [(x, y, {bits | 1 << len(parts): o for bits, o in outcomes.items()}) for x, y, outcomes in windows]
    fits = {}
    for n in range(400):
        bits = sum((n in lengths) << i for i, (_, lengths) in enumerate(parts)) | 1 << len(parts)
        fits[n] = any(x <= n and (y is None or n <= y) and outcomes.get(bits) for x, y, outcomes in windows)
    names = rng.sample(range(30), rng.randint(0, 8))
    view = strings.view(strings.language([("a" * n, 0) for n in names], [term for term, _ in parts] + [only], windows))
    used, everything = 0, everything_of(strings)
    taken = rng.sample(range(30), rng.randint(0, 8)) if rng.random() < 0.7 else [n for n in fits if fits[n]][:rng.randint(0, 12)]
    for n in taken:
        used = strings.use_at(used, strings.feed(everything, b"a" * n, used, True))
    good = [n for n in fits if fits[n] and n not in names and n not in taken]
    leaf = strings.begin(view, used)
    for n in range(150):
        left = [m for m in good if m >= n]
        assert (leaf is not None) == bool(left), n
        if leaf is None:
            break
        assert len(strings.shortest(leaf, used)) == left[0] - n + 1
        assert (strings.outcome_at(leaf, used) > 0) == (left[0] == n)
        assert strings.feed(leaf, b"b", used) is None
        leaf = strings.feed(leaf, rng.choice([b"a", b"\\u0061"]), used)


def test_any_bytes_against_json():
    rng = random.Random(3)
    strings, _ = make()
    view = strings.view(strings.language((), (), [(0, None, {0: 1})]))
    pieces = [bytes([b]) for b in range(256)] + [
        b"\\u", b"\\ud83d", b"\\ude00", b"\\uDBFF\\uDFFF", b"\xf0\x9f\x98\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80", b"00e9",
        b"\\\\", b'\\"', b"\xf4\x8f\xbf\xbf", b"\xf4\x90", b"\\uD7", b"ff"]
    weights = [1] * 256 + [30] * (len(pieces) - 256)
    for _ in range(20000):
        inner = b"".join(rng.choices(pieces, weights, k=rng.randint(0, 4)))
        leaf = strings.feed(strings.begin(view), inner)
        assert (leaf is not None and strings.outcome_at(leaf) == 1) == (decoded(b'"' + inner + b'"') is not None), inner


# -- named cases --------------------------------------------------------------------------------------------------------

def alive(strings, view, texts, used=0):
    start = strings.begin(view, used)
    return [start is not None and strings.feed(start, text, used) is not None for text in texts]


def matching(strings, term, low=0, high=None):
    return strings.view(strings.language((), [term], [(low, high, {1: 1})]))


def test_lengths_that_a_pattern_cannot_have():
    strings, regexes = make()
    abc = regexes.repeat(literal(regexes, "abc"), 0, None)
    bounds = [(4, 5), (4, 6), (10**9, 10**9 + 1), (10**9 - 2, 10**9 + 2), (2, None), (2**31 - 3, None)]
    assert [strings.begin(matching(strings, abc, *b)) is not None for b in bounds] == [False, True, False, True, True, True]
    many = regexes.repeat(regexes.chars([(97, 122)]), 0, 9000)
    view = matching(strings, many, 8990, 10**9)
    assert strings.begin(view) is not None
    assert len(strings.shortest(strings.begin(view))) == 8991
    assert strings.begin(matching(strings, many, 9001, None)) is None
    leaf = strings.feed(strings.begin(view), b"a" * 9000)
    assert strings.feed(leaf, b"a") is None and strings.outcome_at(leaf) == 1


def test_inside_characters():
    strings, regexes = make()
    smile = regexes.cat([literal(regexes, "\U0001f600"), regexes.repeat(literal(regexes, "é"), 0, 1)])
    texts = [b"\\ud83d", b"\\ud83D\\uDe", b"\\ud83d\\udf", b"\\ud83e", b"\\u0", b"\xf0\x9f\x98", b"\xf0\x9e", b"\xc3",
             b"\xf0\x9f\x98\x80\xc3\xa9", b"\\n"]
    assert alive(strings, matching(strings, smile), texts) == [True, True, False, False, False, True, False, False, True, False]
    view = strings.view(strings.language((), (), [(0, 1, {0: 1})]))
    texts = [b"a", b"a\\", b"a\xc3", b"\\ud83d\\ude00", b"\x7f", b"\x1f", b"\\udc00", b"\\ud83dx", b"\xed\xa0", b"\xc0"]
    assert alive(strings, view, texts) == [True, False, False, True, True, False, False, False, False, False]


def test_used_names_in_other_spellings():
    strings, regexes = make()
    x_or_y = regexes.either([literal(regexes, "x"), regexes.cat([literal(regexes, "y"), regexes.repeat(regexes.chars([(97, 122)]), 0, None)])])
    view = matching(strings, x_or_y)
    used = strings.use_at(0, strings.feed(strings.begin(view), b"\\u0078", 0, True))
    texts = [b"", b"x", b"y", b"\\u0078", b"\\u0079", b"\\u007", b"\\/"]
    assert alive(strings, view, texts, used) == [True, False, True, False, True, True, False]
    two = matching(strings, regexes.words(["a", "b"]))
    used = strings.use_at(0, strings.feed(strings.begin(two), b"a", 0, True))
    assert alive(strings, two, [b"", b"a", b"b", b"\\u006", b"\\u0061"], used) == [True, False, True, True, False]
    used = strings.use_at(used, strings.feed(strings.begin(two, used), b"\\u0062", used, True))
    assert strings.begin(two, used) is None
    assert strings.feed(strings.begin(two), b"a") is not None
    assert strings.use_at(0, strings.feed(strings.begin(view), b"yyy")) == -2


def test_sets_do_not_depend_on_the_order_of_their_names():
    rng = random.Random(1)
    strings, _ = make()
    view = strings.view(strings.language((), (), [(0, None, {0: 1})]))
    names = sorted({"".join(rng.choices("abc", k=rng.randint(0, 6))) for _ in range(200)})

    def read(order):
        used, handles = 0, [0]
        for name in order:
            leaf = strings.feed(strings.begin(view, used), name.encode(), used, True)
            assert strings.outcome_at(leaf, used) == 1
            used = strings.use_at(used, leaf)
            assert strings.use_at(used, leaf) == used and strings.outcome_at(leaf, used) == 0
            handles.append(used)
        return handles

    first, second = read(names), read(rng.sample(names, len(names)))
    assert first[-1] == second[-1] and len(set(first)) == len(names) + 1
    for i in rng.sample(range(len(names)), 20):
        inside = set(names[:i])
        assert sorted(strings.names_used(first[i])) == names[:i]
        for name in rng.sample(names, 20):
            leaf = strings.feed(strings.begin(view, first[i]), name.encode(), first[i])
            assert strings.outcome_at(leaf, first[i]) == (name not in inside)
            assert strings.mask_leaf_at(leaf, first[i], 9)[1] == any(n.startswith(name) for n in inside)


def test_a_name_is_no_other_text_even_where_it_may_not_come():
    strings, _ = make()
    language = strings.language([("a", 1), ("b", 0)], (), [(0, 1, {0: 2})])
    view = strings.view(language, 1 << 2)
    assert [strings.outcome_at(strings.begin(view))] == [2]
    assert alive(strings, view, [b"a", b"b", b"c", b"\\u0061"]) == [False, False, True, False]
    assert alive(strings, strings.view(language), [b"a", b"b", b"c"]) == [True, False, True]


@pytest.mark.parametrize("seed", range(20))
def test_names_run_out(seed):
    """One store, one key after the other, until nothing is left; several orders, and old sets stay what they are."""
    rng = random.Random(f"run out {seed}")
    strings, regexes = make()
    pool = words_over("abé", 3)
    words, longer = rng.sample(pool, 25), rng.sample(words_over("ab", 5), 10)
    names = {name: rng.choice([0, 3]) for name in rng.sample(pool, 5)}
    windows = [(0, 2, {1: 1, 3: 2}), (3, None, {1: 1, 2: 2, 3: 2})]
    view = strings.view(strings.language(list(names.items()), [regexes.words(words), regexes.words(longer)], windows))

    def expected(text):
        if text in names:
            return names[text]
        bits = (text in words) + 2 * (text in longer)
        return windows[len(text) >= 3][2].get(bits, 0)

    texts = [w for w in {*words, *longer, *names} if expected(w)]
    for _ in range(3):
        used, left = 0, [w for w in texts if w not in names]
        history = []
        rng.shuffle(left)
        while left:
            history.append((used, list(left)))
            leaf = strings.feed(strings.begin(view, used), word_data(left.pop()), used, True)
            used = strings.use_at(used, leaf)
        history.append((used, []))
        for used, left in history + rng.sample(history, len(history)):
            alive_words = left + [name for name in names if names[name]]
            assert (strings.begin(view, used) is not None) == bool(alive_words)
            if alive_words:
                for text in rng.sample(pool, 8) + rng.sample(longer, 2):
                    leaf = strings.feed(strings.begin(view, used), word_data(text), used)
                    assert (leaf is not None) == any(w.startswith(text) for w in alive_words), text
                    assert bool(leaf and strings.outcome_at(leaf, used)) == (text in alive_words)


def test_plenty_of_other_texts():
    strings, regexes = make()
    letters, five = regexes.chars([(97, 122)]), regexes.repeat(literal(regexes, "abcde"), 0, None)
    few = [regexes.words(["a", "b"]), regexes.repeat(letters, 4, 4), regexes.repeat(literal(regexes, "a"), 0, 9000), regexes.all]
    assert [strings.has_plenty(matching(strings, term)) for term in few] == [False, False, False, True]
    many = [regexes.repeat(letters, 5, 5), five, regexes.complement(five)]
    assert [strings.has_plenty(matching(strings, term)) for term in many] == [True, True, True]
    assert [strings.has_plenty(matching(strings, term, 0, 10**6)) for term in many] == [True, False, True]
    plain = [strings.view(strings.language([("a", 2)], (), [(0, high, {0: 1})])) for high in (0, 1, 2, None)]
    assert [strings.has_plenty(view) for view in plain] == [False, True, True, True]
    assert not strings.has_plenty(strings.view(strings.language([("a", 2)], (), [])))
    # The lengths have a period of 9,699,690 characters, but there is a text of nearly every length.
    primes = regexes.either([regexes.repeat(regexes.repeat(regexes.any, p, p), 1, None) for p in (2, 3, 5, 7, 11, 13, 17, 19)])
    names = [(chr(0x4E00 + i) * 2, 0) for i in range(300)]
    assert strings.begin(strings.view(strings.language(names, [primes], [(0, None, {1: 1})]))) is not None


def test_views_are_interned():
    strings, _ = make()
    language = strings.language([("a", 1), ("b", 2)], (), [(0, None, {0: 3})])
    assert strings.view(language) == strings.view(language, 0b1110) == strings.view(language, 0b110001110)
    assert strings.view(language, 0b10) != strings.view(language, 0b100)
    assert strings.begin(strings.view(language, 0)) is None
    names = (("a", 1), ("b", 2))
    assert [strings.language(x, [], ((0, None, {0: 3}),)) for x in (names, names, list(names), iter([["a", 1], ["b", 2]]))] == 4 * [language]
    assert strings.language(names, [], ((0, None, {0: 2}),)) != language != strings.language(names[:1], [], ((0, None, {0: 3}),))


def test_names_with_lone_surrogates_can_not_come():
    strings, _ = make()
    view = strings.view(strings.language([("\ud800", 1), ("a\udfff", 2)], (), []))
    assert strings.begin(view) is None
    view = strings.view(strings.language([("a\udfff", 2), ("ab", 3)], (), []))
    assert strings.outcome_at(strings.feed(strings.begin(view), b"ab")) == 3


def test_more_patterns_than_bits_of_a_word():
    strings, regexes = make()
    patterns = [regexes.cat([regexes.chars([(0x4E00 + i, 0x4EFF)]), regexes.all]) for i in range(100)]      # bits 0..i by the first character
    language = strings.language((), patterns, [(0, None, {(1 << 100) - 1: 7, 1: 1, 0: 2})])
    view = strings.view(language)
    ends = [strings.feed(strings.begin(view), chr(0x4E00 + i).encode() + b"-") for i in (-1, 0, 1, 98, 99, 200)]
    assert [end and strings.outcome_at(end) for end in ends] == [2, 1, None, None, 7, 7]
    assert strings.shortest(strings.begin(view), 0, 7) == chr(0x4E00 + 99).encode() + b'"'


def test_many_names_are_read_in_every_spelling_and_built_fast():
    rng = random.Random(7)
    names = [f"name_{i}_{rng.getrandbits(40):x}" for i in range(10000)]
    strings, _ = make()
    started = time.perf_counter()
    language = strings.language([(name, i + 1) for i, name in enumerate(names)], (), [])
    assert time.perf_counter() - started < 1        # some ten milliseconds; the limit is there against quadratic growth
    view = strings.view(language)
    for i in rng.sample(range(10000), 200):
        data = b"".join(rng.choice(spellings(ord(c))) for c in names[i])
        assert strings.outcome_at(strings.feed(strings.begin(view), data)) == i + 1
        only = strings.view(language, 1 << i + 1)
        assert strings.shortest(strings.begin(only)) == names[i].encode() + b'"'
        assert strings.feed(strings.begin(only), names[i - 1].encode()) is None
        assert strings.feed(strings.begin(view), data + b"x") is None


def test_limits():
    strings, regexes = make()
    with pytest.raises(LimitError, match="2\\*\\*31"):
        strings.language((), (), [(2**31, None, {0: 1})])
    language = strings.language((), (), [(0, 10**15, {0: 1})])      # no text is that long
    assert strings.begin(strings.view(language)) is not None
    view = strings.view(strings.language((), (), [(10**9, None, {0: 1})]))
    with pytest.raises(LimitError, match="shortest ending"):
        strings.shortest(strings.begin(view))
    # The lengths of the second pattern have a period of 2*3*5*7*11*13*17*19 characters.
    primes = regexes.both([regexes.repeat(regexes.repeat(regexes.any, p, p), 0, None) for p in (2, 3, 5, 7, 11, 13, 17, 19)])
    with pytest.raises(LimitError):
        strings.begin(matching(strings, primes, 1, None))
    small = Strings(None, Budget(200_000, "a small one"))
    view = small.view(small.language((), (), [(0, None, {0: 1})]))
    with pytest.raises(LimitError, match="a small one"):
        small.feed(small.begin(view), b"abcdefgh" * 10000, 0, True)


def test_wrong_arguments():
    strings, _ = make()
    with pytest.raises(ValueError, match="twice"):
        strings.language([("a", 1), ("a", 2)], (), [])
    with pytest.raises(ValueError, match="overlap"):
        strings.language((), (), [(0, 3, {0: 1}), (3, 4, {0: 1})])
    with pytest.raises(ValueError, match="outcomes"):
        strings.language([("a", -1)], (), [])
    with pytest.raises(ValueError, match="no view"):
        strings.begin(0)
    with pytest.raises(ValueError, match="no language"):
        strings.view(0)
    view = strings.view(strings.language((), (), [(0, 3, {0: 1})]))
    leaf = strings.begin(view)
    with pytest.raises(ValueError, match="no set"):
        strings.feed(leaf, b"a", 99)
    with pytest.raises(ValueError, match="leaf"):
        strings.feed(leaf[:-1], b"a")
    with pytest.raises(ValueError, match="leaf"):
        strings.feed(b"\xff" * 24, b"a")
    with pytest.raises(ValueError, match="patterns need"):
        Strings(None, Budget(1 << 20, "t")).language((), (1,), [])
    with pytest.raises(TypeError):
        strings.feed(None, b"a")
