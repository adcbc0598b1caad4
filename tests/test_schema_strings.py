"""String formulas, key classes and their lexemes, against plain Python."""
import heapq
import itertools
import random
import re

import pytest
from schema_walk import Walk, accepts, build, events, spelled

from llgcy.core.regex import Regexes
from llgcy.errors import LimitError
from llgcy.schema import strings
from llgcy.schema.formula import ANYTHING, FALSE, TRUE, Formulas
from llgcy.schema.objects import WRITTEN_OUT, Keys
from llgcy.schema.strings import Texts, fresh_word

PATTERNS = ["^a", "b$", "ab", "^[ab]*$", "^.{2}$", "^(?:a|ba)$"]


def store():
    texts = Texts(Regexes("chars"))
    texts.formulas = Formulas(texts.matches)
    return texts, texts.formulas


def term(texts, pattern):
    from llgcy.grammar import regex
    return regex.search(regex.parse(pattern, flavor="ecma"), texts.regexes)


def random_formula(r, texts, fs, depth=2):
    """A string formula and the same as a Python predicate."""
    if not depth or r.random() < .2:
        kind = r.randrange(3)
        if kind == 0:
            words = r.sample(["", "a", "b", "ab", "ba", "abb"], r.randint(1, 3))
            f, p = fs.names(words), lambda w: w in words
        elif kind == 1:
            n = r.randint(1, 3)
            f, p = fs.length(n), lambda w: len(w) >= n
        else:
            pattern = r.choice(PATTERNS)
            f, p = fs.atom("re", term(texts, pattern)), lambda w: re.search(pattern, w) is not None
        return (f ^ 1, lambda w: not p(w)) if r.random() < .4 else (f, p)
    kids = [random_formula(r, texts, fs, depth - 1) for _ in range(r.randint(2, 3))]
    how = r.choice([all, any])
    return (fs.all_of if how is all else fs.any_of)([f for f, _ in kids]), lambda w: how(p(w) for _, p in kids)


WORDS = ["".join(w) for n in range(5) for w in itertools.product("abc", repeat=n)]


@pytest.mark.parametrize("seed", range(40))
def test_specs_and_witnesses(seed):
    r, (texts, fs) = random.Random(seed), store()
    made = [random_formula(r, texts, fs) for _ in range(r.randint(1, 3))]
    spec, outcomes = texts.spec(tuple(f for f, _ in made))
    for word in WORDS:
        outcome = spec.outcome(word, texts.matches) if spec is not None else 0
        assert outcomes[outcome] == tuple(i for i, (_, p) in enumerate(made) if p(word)), word
    for f, p in made:
        excluded = set(r.sample(WORDS[:20], r.randint(0, 8)))
        for gone in (frozenset(), excluded):
            found = texts.witness(f, gone)
            if found is None:
                assert not any(p(w) and w not in gone for w in WORDS)
            else:
                assert p(found) and found not in gone
        assert texts.inhabited(f) == (texts.witness(f) is not None)


@pytest.mark.parametrize("seed", range(40))
def test_key_classes(seed):
    r, (texts, fs) = random.Random(seed), store()
    sets = [random_formula(r, texts, fs) for _ in range(r.randint(1, 3))]
    sets = [(f, p) for f, p in sets if f not in (TRUE, FALSE)]
    root = fs.all_of([fs.some(f, ANYTHING) ^ 1 for f, _ in sets])
    keys = Keys(texts, (root,), ("a", "zz"), lambda v: None)
    assert keys.names[:2] == ["a", "zz"] and len(set(keys.names)) == len(keys.names)
    for word in [*WORDS, "zz", "caaab", "bbbbbb", "accccc"]:
        o = keys.spec.outcome(word, texts.matches)
        assert 1 <= o <= keys.outcomes, word
        if word in keys.names:
            assert keys.names[o - 1] == word
        for f, p in sets:
            assert bool(keys.mask(f) >> o & 1) == p(word)
    for o in range(len(keys.names) + 1, keys.outcomes + 1):
        assert keys.spec.outcome(keys.example(o), texts.matches) == o
        # classes have many words
        used = set()
        for _ in range(20):
            word = keys.example(o, used)
            assert word not in used and keys.spec.outcome(word, texts.matches) == o
            used.add(word)


@pytest.mark.parametrize("pattern, count", [("^[ab]$", 2), ("^[ab]{2,3}$", 12), ("^$", 1), ("^a?b?c?$", 8), ("^[a-z]$", 26), (f"^a{{0,{WRITTEN_OUT - 1}}}$", WRITTEN_OUT),
                                            (f"^a{{0,{WRITTEN_OUT}}}$", None), ("^[ab]*$", None), ("a", None), ("^.$", None), ("^x{40}y*$", None)])
def test_few_words(pattern, count):
    texts, _ = store()
    words = texts.few_words(term(texts, pattern), WRITTEN_OUT)
    assert (words is None) == (count is None)
    if words is not None:
        assert len(set(words)) == count and all(re.search(pattern, w) for w in words)


def test_counting_words_is_limited():
    texts, _ = store()
    with pytest.raises(LimitError):
        texts.few_words(term(texts, "^a{30000}$"), WRITTEN_OUT)


def test_classes_that_can_be_used_up():
    """A member is wanted, and its key must be one of few, of some, or of endlessly many texts."""
    schema = {"type": "object", "propertyNames": {"pattern": "^[ab]$"}, "not": {"additionalProperties": {"type": "number"}}}
    a = build(schema, property_order="any")
    assert accepts(a, {"a": 1, "b": "x"}) and not accepts(a, {"a": 1, "b": 2})
    walk = Walk(a)
    assert all(walk.feed(e) for e in events(spelled({"a": 1})) if e != "}")
    assert walk.feed(("key", "b")) and a.value_shape(walk.pending[0]).number is None
    a = build({**schema, "propertyNames": {"pattern": "^[0-9]{2}$"}}, property_order="any")
    walk = Walk(a)
    assert all(walk.feed(e) for e in events(spelled({f"{i:02}": 1 for i in range(99)})) if e != "}")
    assert walk.feed(("key", "99")) and a.value_shape(walk.pending[0]).number is None
    assert accepts(build({**schema, "propertyNames": {"pattern": "^[0-9]"}}), {"1": "x"})
    many = {"type": "object", "propertyNames": {"pattern": "^[0-9]{2}$"}, "minProperties": 100}
    assert build(many).value_ending(0).count(b":") == 100
    with pytest.raises(ValueError):
        build({**many, "minProperties": 101})


def test_fresh_words():
    for n in (1, 2, 5):
        used = set()
        for _ in range(300):
            word = fresh_word(n, used)
            assert len(word) == n and word not in used
            used.add(word)
    assert fresh_word(0, {""}) is None


def test_many_patterns_on_one_string():
    patterns = [f"{a}{b}" for a in "abcd" for b in "abcd"]
    a = build({"type": "string", "anyOf": [{"pattern": p} for p in patterns], "minLength": 2, "maxLength": 3})
    for word in ("ab", "xab", "dd"):
        assert accepts(a, word)
    for word in ("ax", "a", "xabx", "xyz"):
        assert not accepts(a, word)


def test_lone_surrogates_are_in_no_text():
    a = build({"properties": {"\ud800": False, "a": {}}, "enum": ["\udc00", {"a": 1}], "type": ["object", "string"]})
    assert a.value_ending(a.start) == b'{"a":1}'
    with pytest.raises(ValueError):
        build({"type": "object", "required": ["\ud800"]})


@pytest.mark.parametrize("pattern", ["a[bc]*", "(?:ab|b)+", "[a-c]{2,3}", "a|bb|ccc|c", "", "(?:a|b)(?:c|)", "[abc]*b[abc]"])
def test_some_words_are_the_shortest(pattern):
    texts, _ = store()
    words = ["".join(w) for n in range(7) for w in itertools.product("abc", repeat=n) if re.fullmatch(pattern, "".join(w))]
    for most in (0, 1, 3, 20):
        found = texts.some_words(term(texts, f"^(?:{pattern})$"), most)
        assert len(set(found)) == len(found) == min(most, len(words))
        assert set(found) <= set(words) and [len(w) for w in found] == [len(w) for w in words[:most]]


def test_many_words_take_room_for_each_once(monkeypatch):
    texts, _ = store()
    sizes = []
    monkeypatch.setattr(strings, "heappush", lambda heap, item: (heapq.heappush(heap, item), sizes.append(len(heap))))
    assert len(texts.some_words(term(texts, "^a"), 3_000)) == 3_000
    assert max(sizes) < 10_000
