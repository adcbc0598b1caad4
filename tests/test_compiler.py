"""Compilers, their caches and futures; saved and pickled grammars."""
import copy
import json
import multiprocessing
import pickle
import random
import re
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest

import llgcy
from llgcy import saved
from llgcy.content import json_text
from llgcy.errors import GrammarError, LimitError, LlgcyError, TokenizerError, UnsatisfiableError

from test_threads import RULES, SCHEMA, run_all

SINGLE = llgcy.Tokenizer.single_byte()
GRAMMARS = {
    "schema": lambda: llgcy.Grammar.from_json_schema(SCHEMA), "text": lambda: llgcy.Grammar.from_json_schema(json.dumps(SCHEMA, separators=(",", ":"))),
    "options": lambda: llgcy.Grammar.from_json_schema({"$ref": "urn:a"}, resources={"urn:a": {"enum": [1, "x"]}}, whitespace="compact",
                                                      surrounding_space=True, number_spelling="any", property_order="any"),
    "lark": lambda: llgcy.Grammar.from_lark(RULES), "exact": lambda: llgcy.Grammar.from_lark(RULES, lexing="exact"),
    "gbnf": lambda: llgcy.Grammar.from_gbnf('top ::= "a" [b-d]* top?', root="top"),
    "regex": lambda: llgcy.Grammar.from_regex("[a-z]+(?i:x)"), "compiled regex": lambda: llgcy.Grammar.from_regex(re.compile("a b | c", re.X | re.I)),
    "rust": lambda: llgcy.Grammar.from_regex("\\pL+", flavor="rust"), "choices": lambda: llgcy.Grammar.from_choices(["a", "bc", "\u00e9"]),
    "grammars": lambda: llgcy.Grammar.from_grammars([{"lark_grammar": 'start: "x" @n'}, {"name": "n", "json_schema": {"type": "integer"}}]),
    "constraint": lambda: llgcy.Grammar.from_constraint({"type": "choice", "value": ["yes", "no"]}),
    "document": lambda: llgcy.Grammar.from_lark('start: %json {"type": "integer"}'),
}


def masks(compiled, seed):
    """What a random walk sees."""
    rng, matcher, out = random.Random(seed), compiled.matcher(), []
    for _ in range(10):
        mask = llgcy.allocate_bitmask(1, 257)
        matcher.fill_next_token_bitmask(mask)
        ids = numpy.flatnonzero(numpy.unpackbits(mask.view(numpy.uint8), bitorder="little"))
        out.append(ids.tolist())
        matcher.accept_token(int(rng.choice(ids)))
    return out


# -- the cache -------------------------------------------------------------------------------------------------------------

def test_the_same_grammar_is_compiled_once():
    compiler = llgcy.Compiler(SINGLE)
    first = {name: compiler.compile(make()) for name, make in GRAMMARS.items()}
    assert all(compiler.compile(make()) is first[name] for name, make in GRAMMARS.items())
    stats = compiler.stats()
    assert len(set(map(id, first.values()))) == len(GRAMMARS) - 1       # a dict, and the text that json.dumps makes of it, are one
    assert stats["grammars"] == stats["misses"] == len(GRAMMARS) - 1 and stats["hits"] == len(GRAMMARS) + 1
    compiler.clear()
    assert compiler.compile(GRAMMARS["lark"]()) is not first["lark"]


def test_what_tells_grammars_apart():
    compiler = llgcy.Compiler(SINGLE)
    different = [
        llgcy.Grammar.from_json_schema({"properties": {"a": True, "b": True}}), llgcy.Grammar.from_json_schema({"properties": {"b": True, "a": True}}),
        llgcy.Grammar.from_json_schema({"properties": {"a": True, "b": True}}, property_order="any"),
        llgcy.Grammar.from_json_schema({"properties": {"a": True, "b": True}}, whitespace="compact"),
        llgcy.Grammar.from_json_schema({"const": 1}), llgcy.Grammar.from_json_schema({"const": "1"}), llgcy.Grammar.from_json_schema({"const": True}),
        llgcy.Grammar.from_regex("a.c"), llgcy.Grammar.from_regex(re.compile("a.c", re.S)), llgcy.Grammar.from_regex("a.c", flavor="ecma"),
        llgcy.Grammar.from_choices(["a.c"]), llgcy.Grammar.from_choices(["a", ".c"]), llgcy.Grammar.from_choices(["a.", "c"]),
    ]
    assert len({id(compiler.compile(grammar)) for grammar in different}) == len(different)
    grammar = different[0]
    assert compiler.compile(grammar, llgcy.Limits(grammar_bytes=1 << 24)) is not compiler.compile(grammar)
    assert compiler.compile(grammar, llgcy.Limits(grammar_bytes=1 << 24)) is compiler.compile(grammar, llgcy.Limits(grammar_bytes=1 << 24))


def test_schemas_that_change_later():
    schema = {"type": "array", "items": {"enum": [1, 2]}}
    grammar = llgcy.Grammar.from_json_schema(schema)
    schema["items"]["enum"].append(3)
    assert grammar.accepts("[1]") and not grammar.accepts("[3]")
    again = pickle.loads(pickle.dumps(grammar))
    assert again.accepts("[2]") and not again.accepts("[3]")


def test_many_threads_one_compilation():
    compiler, found = llgcy.Compiler(SINGLE), []
    run_all([lambda: found.append(compiler.compile(GRAMMARS["schema"]())) for _ in range(8)])
    stats = compiler.stats()
    assert len(set(map(id, found))) == 1 and stats["misses"] == 1 and stats["joined"] + stats["hits"] == 7


def test_errors_are_not_kept():
    compiler = llgcy.Compiler(SINGLE)
    nested = llgcy.Grammar.from_json_schema(SCHEMA)
    for _ in range(2):
        with pytest.raises(LimitError):
            compiler.compile(nested, llgcy.Limits(grammar_bytes=1000))
    with pytest.raises(LimitError):
        compiler.submit(nested, llgcy.Limits(grammar_bytes=1000)).result(30)
    assert compiler.stats()["failed"] == 3 and compiler.stats()["grammars"] == 0
    compiler.compile(nested)


def test_eviction():
    compiler = llgcy.Compiler(SINGLE, cache_bytes=2_000_000)
    kept = compiler.compile(llgcy.Grammar.from_regex("kept"))
    for i in range(60):
        compiled = compiler.compile(llgcy.Grammar.from_json_schema({"enum": [i, f"{i}"]}))
        assert compiler.stats()["bytes"] <= 2_000_000                           # later use may add to it, until the next one is compiled
        assert compiled.matcher().accept_bytes(str(i).encode())
        assert compiler.compile(llgcy.Grammar.from_regex("kept")) is kept       # asked for again and again
    stats = compiler.stats()
    assert stats["evicted"] > 5 and stats["grammars"] + stats["evicted"] == 61
    none = llgcy.Compiler(SINGLE, cache_bytes=0)
    assert none.compile(llgcy.Grammar.from_regex("a")) is not none.compile(llgcy.Grammar.from_regex("a"))


@pytest.mark.parametrize("bad", [{"cache_bytes": -1}, {"cache_bytes": 1.5}, {"threads": 0}, {"threads": None}])
def test_bad_arguments(bad):
    with pytest.raises(ValueError):
        llgcy.Compiler(SINGLE, **bad)


# -- futures ---------------------------------------------------------------------------------------------------------------

def test_submit():
    compiler = llgcy.Compiler(SINGLE, threads=2)
    futures = [compiler.submit(make()) for make in GRAMMARS.values() for _ in range(2)]
    for make, a, b in zip(GRAMMARS.values(), futures[::2], futures[1::2]):
        assert a.result(60) is b.result(60) is compiler.compile(make())
    assert compiler.submit(GRAMMARS["lark"]()).done()


def test_cancel():
    """What has not begun can be cancelled; another one that asked for the same gets it all the same."""
    compiler, begun, go_on = llgcy.Compiler(SINGLE), threading.Event(), threading.Event()

    class Slow:
        content = None

        def machine(self, budget, horizon, tokens):
            begun.set()
            assert go_on.wait(30)
            raise UnsatisfiableError("slow")

    slow = compiler.submit(llgcy.Grammar(Slow()))
    assert begun.wait(30)
    first, second = compiler.submit(GRAMMARS["regex"]()), compiler.submit(GRAMMARS["regex"]())
    assert not slow.cancel() and first.cancel()
    go_on.set()
    with pytest.raises(UnsatisfiableError):
        slow.result(30)
    assert second.result(30).matcher().accept_bytes(b"ax") and first.cancelled()
    assert compiler.stats()["cancelled"] == 1


def test_a_background_compilation_does_not_stop_ready_masks():
    """Each waits for the interpreter at most a few switches long. The bound is far above what is seen, since machines are busy."""
    compiled = llgcy.compile(GRAMMARS["schema"](), SINGLE)
    matcher, mask = compiled.matcher(), llgcy.allocate_bitmask(1, 257)
    matcher.fill_next_token_bitmask(mask)
    compiler, times = llgcy.Compiler(SINGLE, cache_bytes=0), []
    future = compiler.submit(llgcy.Grammar.from_json_schema({"anyOf": [{"properties": {f"{i}": {"const": i}}, "required": [f"{i}"]}
                                                                      for i in range(40)]}))
    while not future.done() and len(times) < 300:
        begin = time.perf_counter()
        matcher.fill_next_token_bitmask(mask)
        times.append(time.perf_counter() - begin)
        time.sleep(0.001)
    future.result(60)
    assert sorted(times)[int(len(times) * 0.9)] < 0.1


# -- files -----------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", GRAMMARS)
def test_saved_grammars(name, tmp_path):
    compiled = llgcy.compile(GRAMMARS[name](), SINGLE)
    compiled.save(tmp_path / "grammar")
    again = llgcy.CompiledGrammar.load(tmp_path / "grammar", llgcy.Tokenizer.single_byte())
    assert [masks(compiled, seed) for seed in range(5)] == [masks(again, seed) for seed in range(5)]
    assert saved.dumps(again) == saved.dumps(compiled)
    assert [path.name for path in tmp_path.iterdir()] == ["grammar"]


def test_another_tokenizer():
    data = saved.dumps(llgcy.compile(GRAMMARS["lark"](), SINGLE))
    other = llgcy.Tokenizer.from_vocab([bytes([b]) for b in range(256)], special={"<end>": 256}, eos_token_id=256)
    for tokenizer in (other, llgcy.Tokenizer.single_byte(vocab_size=300)):
        with pytest.raises(TokenizerError, match="compiled for a tokenizer with the fingerprint"):
            saved.loads(data, tokenizer)


def test_damage():
    """Every cut and every changed byte is noticed."""
    data = saved.dumps(llgcy.compile(llgcy.Grammar.from_regex("a+"), SINGLE))
    for i in range(len(data)):
        with pytest.raises(GrammarError):
            saved.loads(data[:i], SINGLE)
        with pytest.raises(GrammarError):
            saved.loads(data[:i] + bytes([data[i] ^ 1]) + data[i + 1:], SINGLE)
    with pytest.raises(GrammarError, match="not a grammar saved by this version"):
        saved.loads(data.replace(b"grammar 1", b"grammar 2"), SINGLE)


def forged(document):
    """With a proper checksum."""
    import hashlib

    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return b"\n".join([saved.FORMAT, hashlib.sha256(body).hexdigest().encode(), body])


@pytest.mark.parametrize("grammar", [
    None, [], {}, {"kind": 1}, {"kind": "pickle", "data": "cos\nsystem"}, {"kind": "lark"}, {"kind": "lark", "text": 5, "lexing": None},
    {"kind": "lark", "text": "start: \"a\"", "lexing": "lazy"}, {"kind": "lark", "text": "start: b", "lexing": None},
    {"kind": "gbnf", "text": "root ::= ", "root": None}, {"kind": "regex", "pattern": "(", "flags": 0, "flavor": "python"},
    {"kind": "regex", "pattern": "(", "flags": 2, "flavor": "python"}, {"kind": "regex", "pattern": "a", "flags": 1 << 70, "flavor": "python"},
    {"kind": "regex", "pattern": "a", "flags": 0, "flavor": "perl"}, {"kind": "regex", "pattern": "a", "flags": True, "flavor": "python"},
    {"kind": "choices", "texts": "ab"}, {"kind": "choices", "texts": [1]}, {"kind": "choices", "texts": []},
    {"kind": "json_schema", "schema": {}}, {"kind": "json_schema", "schema": "{}"},
    {"kind": "json_schema", "schema": "{", "whitespace": "compact", "surrounding_space": False, "draft": None, "property_order": "any",
     "number_spelling": "any", "formats": "enforce", "resources": {}},
    {"kind": "json_schema", "schema": "{}", "whitespace": "tabs", "surrounding_space": False, "draft": None, "property_order": "any",
     "number_spelling": "any", "formats": "enforce", "resources": {}},
    {"kind": "json_schema", "schema": "{}", "whitespace": "compact", "surrounding_space": False, "draft": "9", "property_order": "any",
     "number_spelling": "any", "formats": "enforce", "resources": {}},
    {"kind": "json_schema", "schema": "{}", "whitespace": "compact", "surrounding_space": False, "draft": None, "property_order": "any",
     "number_spelling": "any", "formats": "enforce", "resources": {"a": {}}},
    {"kind": "json_schema", "schema": "{}", "whitespace": "compact", "surrounding_space": False, "draft": None, "property_order": "any",
     "number_spelling": "any", "formats": "enforce", "resources": None},
])
def test_forged_grammars(grammar):
    with pytest.raises(LlgcyError):
        saved.loads(forged({"llgcy": "0", "tokenizer": SINGLE.fingerprint, "grammar": grammar}), SINGLE)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff", b"1" * 10_000, b"[]", b"null", b'{"grammar": {}}', b'{"tokenizer": [1], "grammar": {}}'])
def test_forged_bodies(body):
    with pytest.raises(LlgcyError):
        saved.loads(forged(body), SINGLE)


# -- pickles ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", GRAMMARS)
def test_pickled_grammars(name):
    compiled = llgcy.compile(GRAMMARS[name](), SINGLE, llgcy.Limits(mask_bytes=1 << 20))
    again = pickle.loads(pickle.dumps(compiled))
    assert masks(again, 1) == masks(compiled, 1)
    assert copy.deepcopy(compiled.grammar).accepts(compiled.matcher().completion())


def _work_elsewhere(compiled, token):
    matcher = compiled.matcher()
    return matcher.accept_token(token), matcher.completion()


def test_another_process():
    compiled = llgcy.compile(llgcy.Grammar.from_choices(["abc"]), llgcy.Tokenizer.default())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_work_elsewhere, (compiled, llgcy.Tokenizer.default().encode("ab")[0])) in [(True, b"c"), (True, b"bc")]


def test_pickled_tokenizers_and_compilers():
    for tokenizer in (SINGLE, llgcy.Tokenizer.default()):
        again = pickle.loads(pickle.dumps(tokenizer))
        assert again.fingerprint == tokenizer.fingerprint and again.encode("h\u00e9llo w") == tokenizer.encode("h\u00e9llo w")
    compiler = pickle.loads(pickle.dumps(llgcy.Compiler(SINGLE, cache_bytes=5)))
    assert compiler.cache_bytes == 5 and compiler.compile(GRAMMARS["gbnf"]())


def test_what_cannot_be_pickled():
    local = llgcy.Tokenizer.from_vocab([b"a", None], eos_token_id=1, encode=lambda text: [0] * len(text))
    compiled = llgcy.compile(GRAMMARS["regex"](), SINGLE)
    for what in (local, compiled.matcher(), llgcy.Grammar(type("Parts", (), {"content": None})())):
        with pytest.raises(TypeError, match="can.?n?.t be pickled|has no saved form|have no saved form"):
            pickle.dumps(what)


# -- contents --------------------------------------------------------------------------------------------------------------

def test_json_text():
    value = {"a": [1, -0.5, 1e-7, True, None, "\U0001f600\"\\", []], "b": {}, "c": {"d": Decimal("0.10"), "e": Fraction(1, 4), "f": 10**30}}
    text = json_text(value)
    assert json.loads(text) == {"a": [1, -0.5, 1e-7, True, None, "\U0001f600\"\\", []], "b": {}, "c": {"d": 0.1, "e": 0.25, "f": 10**30}}
    assert '"d":0.1,' in text and json_text(json.loads(text)) == text
    assert json_text(b'{"x": 1.50}') == '{"x": 1.50}'
    assert json_text(json.loads(text)["a"]) == json_text(value["a"])          # one spelling, whatever stands beside it
    with pytest.raises(ValueError, match="nan|Out of range"):
        json_text({"default": float("nan")})
    endless = {"type": "array"}
    endless["items"] = endless
    with pytest.raises(llgcy.GrammarError, match="holds itself"):
        json_text(endless)
    deep = []
    for _ in range(50_000):
        deep = [deep]
    assert json_text(deep) == "[" * 50_001 + "]" * 50_001
