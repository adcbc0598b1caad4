"""Some hundred random grammars of the Lark dialect, which use all of its constructs, against a plain recogniser: texts accepted and refused,
what may come next, tokens as units, greedy and exact lexing, grammars inside of grammars; and masks."""
import collections
import random

import pytest
from lark_oracle import Reader
from lark_random import EOS, SIGNS, SPECIALS, grammars

import llgcy
from llgcy.core.config import GrammarMachine
from llgcy.errors import GrammarError, UnsatisfiableError

GRAMMARS, WALKS, LONGEST = 270, 3, 7
LONGER = [b"ab", b"a ", b" b", b"bb", b"z_", b"_ ", b"~z", b'"a"', b'b"', b"aba ", b"zab", b"AB"]        # tokens of several characters
CONSTRUCTS = """
%declare|%extend|%override|%ignore|%ignore of a terminal|%import|%import of a list|%import with an alias|%json|%lark|%lark of another lexing|%regex substring_chars
%regex substring_chunks|%regex substring_words|&|? or ! before a rule|@name|@name of a regex|[...]|a name with a hyphen|a name with an underscore
a parametric rule|a range of characters|a regex|a rule's priority|a simple escape|a string|a template|a terminal in a terminal|a terminal's priority
a token by name|a use of a parametric rule|a use of a template|all tokens but some|an alias|an empty alternative|any token|attribute lazy
attribute stop|attribute stop nothing|attribute stop_capture|attribute suffix|attribute temperature|capture|comment #|comment //
condition and|condition bit_clear|condition bit_count_eq|condition bit_count_ge|condition bit_count_gt|condition bit_count_le|condition bit_count_lt
condition bit_count_ne|condition bit_set|condition eq|condition ge|condition gt|condition is_ones|condition is_zeros|condition le|condition lt
condition ne|condition not|condition or|condition true|escape \\u|escape \\x|i behind a string|option allow_initial_skip|option allow_invalid_utf8
option allow_skip_before_nested|option ignore_once|option lexing|option no_forcing|regex flag i|regex flag m|regex flag s|regex flag u|regex flag x
repetition *|repetition +|repetition ?|repetition {,2}|repetition {1,2}|repetition {1,}|repetition {2}|repetition ~ 1..2|repetition ~ 2|several %ignore
stop= of a regex|stop= of a string|stop= of a terminal|suffix= of a regex|suffix= of a string|suffix= of a terminal|terminal of tokens
the empty string|tokens by id|value _|value bit_and|value bit_or|value clear_bit|value decr|value incr|value number|value set_bit
| on a line of its own|~|~ in a rule
"""


def constructs():
    out = set()
    for line in CONSTRUCTS.strip().split("\n"):
        if line.startswith("| "):                           # the sign that parts the others
            out.add("| on a line of its own")
            line = line.removeprefix("| on a line of its own|")
        out.update(line.split("|"))
    return out


@pytest.fixture(scope="module")
def tokenizer():
    return llgcy.Tokenizer.from_vocab([bytes([i]) for i in range(256)] + [None] * 4 + LONGER, special={**SPECIALS, "<eos>": EOS, "<other>": 259}, eos_token_id=EOS)


def compiled(sources, reader, tokenizer):
    """A list of grammars, compiled; None where the engine is right to refuse it, or has a machine for JSON alone."""
    try:
        found = llgcy.compile(llgcy.Grammar.from_grammars(sources), tokenizer)
    except UnsatisfiableError:
        assert not reader.productive, sources
        return None
    except GrammarError as error:
        assert reader.lexing == "greedy" and "greedy lexing" in str(error), (sources, error)
        return None
    return found if isinstance(found.machine, GrammarMachine) else None


def mask_of(matcher, tokenizer):
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    return {id for id in range(tokenizer.vocab_size) if bitmask[0, id // 32] >> id % 32 & 1}


def compare(compiled, reader, choose, sources):
    """Random walks with a look around at each step; (states where the text may end, others)."""
    seen, engine, tokenizer = [0, 0], compiled.machine, compiled.tokenizer
    texts = {id: tokenizer.token_bytes(id) for id in (*map(ord, SIGNS[:-1]), *range(260, tokenizer.vocab_size))}
    for _ in range(WALKS):
        config, state, word, matcher = reader.start(), engine.begin(), [], compiled.matcher()
        for _ in range(LONGEST):
            after = {}
            for char in choose.sample(SIGNS, 6):
                mine, theirs = reader.step(config, char), engine.after(state, char.encode())
                assert bool(mine) == (theirs is not None), (sources, word, char)
                after[char] = mine, theirs
            tokens = {i for first, last in engine.tokens(state) for i in range(first, last + 1)}
            for id in choose.sample(range(256, 260), 2):
                mine, theirs = reader.unit(config, id), engine.after_token(state, id)
                assert bool(mine) == (theirs is not None) == (id in tokens), (sources, word, id)
                after[id] = mine, theirs
            assert reader.accepting(config) == engine.may_end(state), (sources, word)
            allowed = {id for id, text in texts.items() if engine.after(state, text) is not None or engine.after_token(state, id) is not None}
            assert mask_of(matcher, tokenizer) & set(texts) == allowed, (sources, word)
            seen[not reader.accepting(config)] += 1
            ways = [char for char, (mine, _) in after.items() if mine]
            if not ways:
                break
            word.append(choose.choice(ways))
            config, state = after[word[-1]]
            assert matcher.accept_bytes(word[-1].encode()) if isinstance(word[-1], str) else matcher.accept_token(word[-1])
            if word[-1] == EOS:
                break
    return seen


def test_random_grammars(tokenizer, capsys):
    counts, seen, read = collections.Counter(), collections.Counter(), collections.Counter()
    for seed in range(GRAMMARS):
        used = collections.Counter()
        sources, tree, others = grammars(seed, used)
        reader = Reader(tree, others, EOS)
        made = compiled(sources, reader, tokenizer)
        if made is None:
            continue
        ends, others = compare(made, reader, random.Random(seed), sources)
        counts.update(used)
        read[tree.lexing] += 1
        seen.update(ends=ends, others=others)
    with capsys.disabled():
        print(f"\n{dict(read)} grammars of the Lark dialect, {dict(seen)}; uses of constructs: "
              + ", ".join(f"{name} {counts[name]}" for name in sorted(counts)))
    assert set(counts) == constructs()
    assert min(counts.values()) >= 5, [name for name in counts if counts[name] < 5]
    assert min(read["greedy"], read["exact"]) > 100 and min(seen.values()) > 1000


@pytest.mark.parametrize("text, accepted, refused", [
    # definitions that change others
    ('start: a B\na: "x"\nB: "y"\n%extend a: "z" | a a\n%override B: "b"\n%extend B: "c"i', ["xb", "zxC", "xb"], ["xy", "b"]),
    ('start: INT t{INT}\n%import common.INT\n%extend INT: "x"\nt{a}: a\n%override t{b}: "-" b', ["1-x", "x-12"], ["1x", "12"]),
    # the skip of a grammar inside, its own again, and that of what stands around
    ('start: "a" %lark {\nstart: "b"+\n%ignore "_"\n} "z"\n%ignore " "', ["abz", "ab_bz", "ab_z", "ab z", "ab_ z"], ["a bz", "a_bz", "ab _bz", "ab bz", "ab _z"]),
    # where lexemes end in several ways, each keeps what it has skipped
    ('start: "a" (%lark {\nstart: "b" "c"*\n%ignore "_"\n} | %lark {\nstart: "b" "d"*\n%ignore /[_ ]/\n})', ["ab_c", "ab_d", "ab__d", "ab d"], ["ab c", "ab_ c", "ab _c"]),
    # the same grammar by a name, and one that is nothing but a regex
    ('start: "a" b "a"\nb: %lark {\nstart: /b+/\n}\n%ignore " "', ["aba", "abba", "ab a"], ["a ba", "a b a"]),
    # options of the grammar inside are its own
    ('start: "a" %lark {\nstart: "b" "c"\n%ignore "_"\n%llguidance {"ignore_once": true}\n}\n%ignore " "', ["abc", "ab_c"], ["ab__c", "a bc"]),
    ('start: "a" "c" %lark {\nstart: "b" "c"\n%ignore "_"\n}\n%ignore " "\n%llguidance {"ignore_once": true}', ["a cbc", "acb__c"], ["a  cbc"]),
    ('start: "a" %lark {\nstart: "b" "c"\n%ignore "_"\n%llguidance {"allow_initial_skip": true}\n}\n%ignore " "', ["a_b_c", "abc"], ["a bc", "_abc"]),
    ('start: "a" %lark {\nstart: "b" %json true\n%ignore "_"\n}\n%ignore " "\n%llguidance {"allow_skip_before_nested": true}', ["a b1", "ab1"], ["ab_1", "ab 1", "a_b1"]),
    ('start: "a" %lark {\nstart: "b" %json true\n%ignore "_"\n%llguidance {"allow_skip_before_nested": true}\n}\n%ignore " "', ["ab_1", "ab1"], ["a b1", "ab 1"]),
    # what is ignored comes before a lexeme of the same text, unless that has a priority; exact lexing reads both
    ('start: "a" W? "b"\nW: /[ _]/\n%ignore " "', ["ab", "a b", "a_b", "a _b", "a_ b"], ["a__b"]),
    ('start: "a" (W "b" | "c")\nW.1: " "\n%ignore " "', ["ac", "a b", "a  b"], ["ab", "a c"]),
    ('%llguidance {"lexing": "exact"}\nstart: "a" " " "b"\n%ignore " "', ["a b", "a   b"], ["ab"]),
])
def test_skips(text, accepted, refused):
    for lexing in {None, None if "lexing" in text or "W" in text else "exact"}:
        grammar = llgcy.Grammar.from_lark(text, lexing=lexing)
        assert [word for word in accepted + refused if grammar.accepts(word)] == accepted, lexing


def test_text_that_only_what_is_ignored_reads():
    with pytest.raises(GrammarError, match="greedy lexing"):
        llgcy.Grammar.from_lark('start: "a" " " "b"\n%ignore " "').accepts("a b")


@pytest.mark.parametrize("text, word", [
    ('start: <[257]> q "a" "c"\nq[temperature=1]: /[ab]*/', "bbac"), ('start: x q "a" "c"\nq[temperature=1]: /[ab]*/\nx: <[256-257]> "x"* | <[257]>', "abac"),
])
def test_lexemes_that_overlap_behind_a_token(text, word, tokenizer):
    """That tokens have no bytes does not hide what stands behind them from the look at overlaps."""
    engine = llgcy.compile(llgcy.Grammar.from_lark(text, lexing="exact"), tokenizer).machine
    assert not engine.separable
    state = engine.after(engine.after_token(engine.begin(), 257), word.encode())
    assert state is not None and engine.may_end(state)


def test_endings_behind_something_skipped():
    """A shortest ending does not begin with what may not follow the skip that was read last."""
    text = 'start: "a" %lark {\nstart: "b" "longer"?\n%ignore "_"\n} %lark {\nstart: "c" "x"\n}\n%ignore " "'
    for lexing in "greedy", "exact":
        matcher = llgcy.compile(llgcy.Grammar.from_lark(text.replace("start: \"b\"", f'%llguidance {{"lexing": "{lexing}"}}\nstart: "b"'), lexing=lexing),
                                llgcy.Tokenizer.single_byte()).matcher()
        assert matcher.accept_bytes(b"ab_") and matcher.completion() == b"longercx"
