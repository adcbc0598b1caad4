"""Masks of llguidance (its forced tokens switched off) on random grammars that it reads, too: every difference has one of the reasons listed
here. And faults of llguidance 1.9.1 in grammars, each of which we do not have."""
import collections
import random
import re

import pytest
from lark_oracle import Reader
from lark_random import SIGNS, Random

import llgcy
from llgcy.core.config import GrammarMachine
from llgcy.errors import GrammarError

llguidance = pytest.importorskip("llguidance", reason="the peer")
from test_lark_engine import Peer  # noqa: E402  (it imports the peer itself)

END = 256
Case = collections.namedtuple("Case", "text before token ours ignored")      # ignored: what the grammar ignores, as a regex of Python


class Shared(Random):
    shared = True


def escape(case):
    """In a JSON string we take every escape of RFC 8259 whose text is valid Unicode; llguidance has a short list of its own."""
    return case.ours and "%json" in case.text and (case.token == ord("\\") or b"\\" in case.before)


def complement_of_bytes(case):
    """A complement is one of texts; llguidance's holds bytes that are no UTF-8 too, and so all that may lead there."""
    return not case.ours and "~(" in case.text and "[^ab]" in case.text


def skip_at_the_beginning(case):
    """Nothing is skipped before the first lexeme; llguidance does where that may be empty."""
    return not case.ours and not case.before.strip(b" _~") and "initial_skip" not in case.text and case.ignored and re.match(
        case.ignored, (case.before + bytes([case.token])).decode("latin-1")) is not None


def skip_before_a_grammar_inside(case):
    """Nothing is skipped before a text of another grammar; llguidance does where a lexeme of the grammar itself could stand there, too."""
    return not case.ours and ("%json" in case.text or "%lark" in case.text) and (case.before[-1:] in (b" ", b"_", b"~") or case.token in b" _~\t\n\r")


def skip_of_the_grammar_around(case):
    """What the grammar around ignores may be skipped where its own lexeme may come; llguidance refuses it while the one inside could go on."""
    return case.ours and "%lark" in case.text and (case.token in b" _~" or case.before[-1:] in (b" ", b"_", b"~"))


def numbers_mixed_up(case):
    """In left recursion it takes the end of a parametric rule for one of the same rule with another number."""
    return not case.ours and re.search(r'n::_: "." \| n::', case.text) is not None


REASONS = (escape, complement_of_bytes, skip_at_the_beginning, skip_before_a_grammar_inside, skip_of_the_grammar_around, numbers_mixed_up)


def ignored(text):
    return "|".join({'" "': " ", "/[ _]/": "[ _]", "/_ ?/": "_ ?", '" "+': " +", '"~" | " "': "[~ ]"}[found] for found in re.findall(
        r"^(?:%ignore|SKIP\d+:) (\".*|/.*/)$", text.split("%lark")[0], re.MULTILINE))


def test_masks_agree(capsys):
    counts, reasons, unexplained = collections.Counter(), collections.Counter(), []
    for seed in range(220):
        made, choose = Shared(seed), random.Random(seed)
        text = made.text
        try:
            engine = llgcy.compile(llgcy.Grammar.from_lark(text), llgcy.Tokenizer.single_byte()).machine
        except GrammarError:                                # it derives nothing, or greedy lexing leads into traps
            continue
        if not isinstance(engine, GrammarMachine):
            continue
        try:
            Peer(text)
        except AssertionError as error:                     # it panics, or does not know ? before an underscore
            assert "panic: " in str(error) or 'at "?"' in str(error)
            counts["the peer gives up"] += 1
            continue
        plain = Reader(made.tree)
        if any(not bodies for bodies in plain.bodies.values()):
            continue                                        # its masks let rules begin that derive nothing
        counts["grammars"] += 1
        for _ in range(2):
            state, peer, word = engine.begin(), Peer(text), b""
            for _ in range(7):
                after = {byte: new for byte in range(256) if (new := engine.after(state, bytes([byte])))}
                ours, theirs = set(after) | ({END} if engine.may_end(state) else set()), peer.mask()
                counts["masks"] += 1
                for token in ours ^ theirs:
                    case = Case(text, word, token if token < END else 0, token in ours, ignored(text))
                    reason = next((reason.__name__ for reason in REASONS if reason(case)), None)
                    reasons[reason] += 1
                    if reason is None:
                        unexplained.append((seed, word, chr(token), "we allow" if token in ours else "they allow", text))
                both = [byte for byte in after if byte in theirs and (byte < 128 and chr(byte) in SIGNS or byte > 128)]
                if not both:
                    break
                byte = choose.choice(both)
                word, state = word + bytes([byte]), after[byte]
                assert peer.matcher.consume_token(byte)
    with capsys.disabled():
        print(f"\n{dict(counts)}; bits that differ from llguidance's, by reason: {dict(reasons)}")
    assert not unexplained, "\n\n".join(f"{seed} {word} {char!r} {who}\n{text}" for seed, word, char, who, text in unexplained[:20])
    assert set(reasons) == {reason.__name__ for reason in REASONS}, "a reason that explains nothing"
    assert counts["grammars"] > 120 and counts["masks"] > 700


def refused_by_peer(text):
    matcher = llguidance.LLMatcher(Peer.tokenizer, text, log_level=0)
    return matcher.get_error() if matcher.is_error() else None


# -- faults of llguidance that we do not have --------------------------------------------------------------------------
def test_a_text_that_only_the_end_ends():
    """With stop="" its mask allows the token that ends the lexeme, which validate_tokens denies."""
    text = 'start: a "X"\na[stop=""]: /[a-z]+/\n'
    peer = Peer(text)
    assert peer.matcher.consume_token(ord("a"))
    assert END in peer.mask() and peer.matcher.validate_tokens([peer.tokenizer.eos_token]) == 0
    assert peer.matcher.consume_token(peer.tokenizer.eos_token)
    matcher = llgcy.compile(llgcy.Grammar.from_lark(text), llgcy.Tokenizer.single_byte()).matcher()
    bitmask = llgcy.allocate_bitmask(1, 257)
    assert matcher.accept_token(ord("a"))
    matcher.fill_next_token_bitmask(bitmask)
    assert bitmask[0, 8] & 1 and matcher.validate_tokens([256, ord("X"), 256]) == 3 and matcher.accept_tokens([256, ord("X")]) == 2
    assert matcher.is_accepting()


def test_thousands_of_alternatives():
    """It reads them, and fails at the first token."""
    text = "start: " + " | ".join(f'"a" "{i}" "b"' for i in range(3000)) + "\n"
    matcher = llguidance.LLMatcher(Peer.tokenizer, llguidance.LLMatcher.grammar_from_lark(text), log_level=0)
    assert matcher.is_error() or not matcher.consume_token(ord("a")) or matcher.is_error()
    grammar = llgcy.Grammar.from_lark(text)
    assert grammar.accepts("a2999b") and not grammar.accepts("a3000b")


def test_hundreds_of_grammars_inside():
    """It panics where more than 255 have something of their own to ignore."""
    text = "start: " + " | ".join(f'"{i}" %lark {{\nstart: "a" "b"\n%ignore "{"x" * (i + 1)}"\n}}' for i in range(300)) + "\n"
    assert refused_by_peer(llguidance.LLMatcher.grammar_from_lark(text))
    grammar = llgcy.Grammar.from_lark(text)
    assert grammar.accepts("0axxb") and grammar.accepts("1axxb") and not grammar.accepts("1axb") and grammar.accepts("299ab")


def test_unknown_options():
    text = '%llguidance {"lexer_backtrackin": true}\nstart: "a"\n'
    assert refused_by_peer(text) is None
    with pytest.raises(GrammarError, match="unknown option"):
        llgcy.Grammar.from_lark(text)


def test_unused_rules():
    text = 'start: "a"\nunused: nowhere\n'
    assert refused_by_peer(text) is None
    with pytest.raises(GrammarError, match="there is no rule nowhere"):
        llgcy.Grammar.from_lark(text)


def test_escapes_of_gbnf():
    from llguidance.gbnf_to_lark import any_to_lark
    text = r'root ::= "\u0042" "\U0001F600"'
    assert refused_by_peer(any_to_lark(text))
    assert llgcy.Grammar.from_gbnf(text).accepts("B\U0001f600")


def test_the_condition_true_as_its_documentation_has_it():
    text = 'start: p::0\np::_: "a" %if true()\n'
    assert refused_by_peer(text)
    assert llgcy.Grammar.from_lark(text).accepts("a")


def test_an_id_that_does_not_exist():
    """Asked whether it is valid, its matcher is an error ever after."""
    peer = Peer('start: "a"\n')
    peer.matcher.validate_tokens([100_000])
    assert peer.matcher.is_error() or not peer.matcher.consume_token(ord("a"))
    matcher = llgcy.compile(llgcy.Grammar.from_lark('start: "a"'), llgcy.Tokenizer.single_byte()).matcher()
    with pytest.raises(ValueError):
        matcher.validate_tokens([100_000])
    assert matcher.accept_token(ord("a"))


def test_numbers_of_parametric_rules():
    text = 'start: n::0\nn::_: "b" | n::incr(_) "z" %if lt(_, 2)\n'
    peer, grammar = Peer(text), llgcy.Grammar.from_lark(text)
    assert peer.matcher.try_consume_tokens(list(b"bzzzz")) == 5
    assert grammar.accepts("bzz") and not grammar.accepts("bzzz")


def test_shorter_matches():
    """The text that a greedy lexer follows into a dead end; exact lexing reads it."""
    text = 'start: STEM SUFFIX\nSTEM: "list" | "listen"\nSUFFIX: "ed"\n'
    peer = Peer(text)
    assert peer.matcher.try_consume_tokens(list(b"listed")) < 6
    assert llgcy.Grammar.from_lark(text, lexing="exact").accepts("listed") and not llgcy.Grammar.from_lark(text).accepts("listed")
