"""Grammars of the Lark dialect in the engine: verdicts of the plain recogniser, masks of llguidance, the example grammars."""
import itertools
import json
import pathlib
import random

import llguidance
import numpy as np
import pytest
from ir_oracle import Oracle
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask
from test_lower import Richer

import llgcy
from llgcy.core.config import GrammarMachine
from llgcy.core.regex import Regexes
from llgcy.errors import GrammarError, UnsatisfiableError
from llgcy.grammar.choices import from_choices, from_regex
from llgcy.grammar.lark import read
from llgcy.grammar.lower import lower

GRAMMARS = pathlib.Path(__file__).parents[1] / "grammars"
WORDS = ["".join(word) for n in range(5) for word in itertools.product("ab", repeat=n)]


def machine(grammar):
    regexes = Regexes("bytes")
    return GrammarMachine(lower(grammar, regexes).tables(regexes))


def compiled(grammar, plain):
    """The machine of a random grammar, None where the engine is right to refuse it."""
    try:
        return machine(grammar)
    except UnsatisfiableError:
        assert not plain.rules[grammar.start]
    except GrammarError as error:                           # places from which no text of the grammar can end
        assert grammar.options.lexing == "greedy" and "greedy lexing" in str(error)
    return None


def with_blanks(word, choose):
    return "".join(" " * choose.choice([0, 0, 0, 1, 2]) + char for char in word)


@pytest.mark.parametrize("lexing", ["greedy", "exact"])
@pytest.mark.parametrize("ignoring", [False, True])
@pytest.mark.parametrize("block", range(2))
def test_verdicts(block, ignoring, lexing):
    accepted = refused = 0
    for seed in range(block * 60, block * 60 + 60):
        text = Richer(seed + 3000).text()
        grammar, choose = read(text, lexing=lexing), random.Random(seed)
        if (grammar.ignore is not None) != ignoring:
            continue
        plain = Oracle(grammar, "abAB ")
        engine = compiled(grammar, plain)
        if engine is None:
            continue
        for word in WORDS:
            for variant in {word, with_blanks(word, choose) if ignoring else word}:
                wanted = plain.accepts(variant)
                assert engine.accepts(variant.encode()) == wanted, (text, variant)
                accepted, refused = accepted + wanted, refused + (not wanted)
    assert accepted > 20 and refused > 20


def test_a_grammar_that_derives_nothing_names_its_start():
    for text in ('x: "y"\nstart: start "a"\n', 'x: "y"\nstart: "a" NONE\nNONE: "b" & "c"\n'):
        with pytest.raises(UnsatisfiableError, match="no finite text can be derived from start") as caught:
            machine(read(text))
        assert (caught.value.line, caught.value.column) == (2, 1)


class Peer:
    """llguidance over single bytes, its forced tokens switched off."""

    tokenizer = llguidance.LLTokenizer("byte")

    def __init__(self, text):
        text = '%llguidance {"no_forcing": true}\n' + text
        self.matcher = llguidance.LLMatcher(self.tokenizer, llguidance.LLMatcher.grammar_from_lark(text), log_level=0)
        assert not self.matcher.is_error(), self.matcher.get_error()

    def mask(self):
        """Bytes that may come next; 256: the text may end."""
        bits = allocate_token_bitmask(1, self.tokenizer.vocab_size)
        fill_next_token_bitmask(self.matcher, bits, 0)
        return {min(int(i), 256) for i in np.nonzero(np.unpackbits(bits[0].view(np.uint8), bitorder="little"))[0]}


class Shared(Richer):
    """What llguidance reads, without what it gets wrong or leaves open.

    It skips before a first lexeme that is empty, prefers what is ignored to a lexeme of the same text, and does not read
    every repetition by `~`; its masks let a rule begin that derives nothing.
    """

    def text(self):
        text = super(Richer, self).text()
        for bounds in "2", "0..2", "1..2", "1..3":
            text = text.replace("~" + bounds, "{%s}" % bounds.replace("..", ","))
        return text


@pytest.mark.parametrize("ignored", ["", "%ignore /[ ]+/\n"])
def test_masks_agree_with_llguidance(ignored):
    masks = 0
    for seed in range(40):
        text = Shared(seed).text() + ignored
        grammar = read(text)
        plain = Oracle(grammar, "abAB ")
        engine = compiled(grammar, plain)
        if engine is None or not all(plain.rules[name] for name in grammar.rules):
            continue                                        # some rule derives nothing
        choose = random.Random(seed)
        for _ in range(4):
            state, peer = engine.begin(), Peer(text)
            for _ in range(8):
                nexts = {byte: after for byte in range(256) if (after := engine.after(state, bytes([byte])))}
                assert set(nexts) | ({256} if engine.may_end(state) else set()) == peer.mask(), text
                masks += 1
                if not nexts:
                    break
                byte = choose.choice(sorted(nexts))
                state = nexts[byte]
                assert peer.matcher.consume_token(byte)
    assert masks > 400


@pytest.mark.parametrize("lexing", [None, "exact"])
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem)
                                  for path in sorted(GRAMMARS.glob("*.lark"))])
def test_examples(path, lexing):
    samples, engine = json.loads(path.with_suffix(".samples.json").read_text()), machine(read(path.read_text(), lexing=lexing))
    assert [text for text in samples["accepted"] if not engine.accepts(text.encode())] == []
    assert [text for text in samples["refused"] if engine.accepts(text.encode())] == []


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.lark")), ids=lambda path: path.stem)
def test_examples_have_no_greedy_traps(path):
    assert machine(read(path.read_text())).warnings == []


def test_large_counts():
    engine = machine(read('start: "a"{1,1000000000} "b" | ("cd" "e"?){3}'))
    assert engine.accepts(b"a" * 5000 + b"b") and not engine.accepts(b"b")
    assert engine.accepts(b"cdecdcde") and not engine.accepts(b"cdcd")


def test_choices():
    engine = machine(from_choices(["", "yes", "no", "no way", "naïve", "yes"]))
    assert all(engine.accepts(text.encode()) for text in ("", "yes", "no", "no way", "naïve"))
    assert not any(engine.accepts(text.encode()) for text in ("y", "now", "no ", "nai"))
    many = machine(from_choices(f"choice {i}" for i in range(100_000)))
    assert many.accepts(b"choice 4711") and not many.accepts(b"choice 100000") and not many.accepts(b"choice ")


def test_regexes():
    engine = machine(from_regex(r"^(A fruit\nVery nice|A root\nLess nice)$"))
    assert engine.accepts(b"A fruit\nVery nice") and not engine.accepts(b"A fruit\nLess nice") and not engine.accepts(b"A fruit")
    assert machine(from_regex(r"\d+(?=b)b")).accepts("12\u0663b".encode())


def test_json_inside_a_grammar():
    """Documents between text of the grammar; each valid by its own schema, wherever it stands."""
    grammar = llgcy.Grammar.from_lark('''
        start: "Reasoning: " /[^\\n]+/ "\\nJSON: " %json {"type": "object", "properties": {"n": {"type": "integer"}},
                                                          "required": ["n"], "additionalProperties": false} more*
        more: "; " (%json {"enum": [true, 12]} | "none")
        ''')
    assert grammar.accepts('Reasoning: a { b\nJSON: {"n": 12}; true; none; 12')
    for text in ('Reasoning: a\nJSON: {"n": 1.5}', 'Reasoning: a\nJSON: {"n": 1}; 1', "Reasoning: a\nJSON: {}", 'Reasoning: a\n{"n": 1}'):
        assert not grammar.accepts(text), text
