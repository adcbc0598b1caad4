"""Masks of llguidance (its forced tokens switched off) on real schemas, bit for bit; every difference has one of the reasons listed here."""
import collections
import gzip
import importlib.util
import json
import pathlib

import numpy
import pytest

import llgcy

SCHEMAS, TOKENS = 40, 120       # schemas that both read, tokens of each instance
SPACE = b" \t\r\n"


def escape(case):
    """We take every escape of RFC 8259 whose text is valid Unicode, llguidance its short list (behaviour of 1.9.1)."""
    return case.ours and (b"\\" in case.token or case.before.endswith(b"\\"))


def delete(case):
    """U+007F stands raw in a JSON string; RFC 8259 excludes U+0000 to U+001F alone."""
    return case.ours and b"\x7f" in case.token


def long_gap(case):
    """White space between two tokens of the text ends after 128 bytes."""
    text = case.before + case.token
    lead = len(case.before) - len(case.before.rstrip(SPACE)) + len(case.token) - len(case.token.lstrip(SPACE))
    return not case.ours and lead > 128 and text.strip(SPACE) != b""


def ecma_space(case):
    r"""\s is white space as ECMA-262 has it: with U+FEFF, without U+0085; llguidance has Unicode's property."""
    return "\\\\s" in case.schema.lower() and (b"\xef\xbb\xbf" in case.token if not case.ours else b"\xc2\x85" in case.token)


def ecma_dot(case):
    """. does not match carriage returns and the line separators of ECMA-262; llguidance excludes line feeds alone."""
    return not case.ours and '"pattern' in case.schema and (b"\\r" in case.token or b"\xe2\x80\xa8" in case.token or b"\xe2\x80\xa9" in case.token)


def ip_future(case):
    """The v of an IPvFuture in a URI has any case (RFC 5234, section 2.3: strings are case-insensitive)."""
    return case.ours and '"uri"' in case.schema and b"[V" in case.token


REASONS = (escape, delete, long_gap, ecma_space, ecma_dot, ip_future)
Case = collections.namedtuple("Case", "schema before token ours")


@pytest.fixture(scope="module")
def vocabulary():
    tiktoken = pytest.importorskip("tiktoken", reason="reads the Llama 3 vocabulary")
    found = importlib.util.find_spec("llama_models")
    if found is None:
        pytest.skip("the package llama-models, which has the Llama 3 vocabulary, is not installed")
    from tiktoken.load import load_tiktoken_bpe
    ranks = load_tiktoken_bpe(str(pathlib.Path(found.origin).parent / "llama3" / "tokenizer.model"))
    encoding = tiktoken.Encoding("llama3", pat_str=r"\p{L}+|\p{N}{1,3}|\s+|[^\s\p{L}\p{N}]+", mergeable_ranks=ranks,
                                 special_tokens={"<|end|>": len(ranks)})
    return encoding, len(ranks)


def test_masks_on_real_schemas(shared, vocabulary, capsys):
    llguidance = pytest.importorskip("llguidance", reason="the peer")
    import llguidance.numpy
    import llguidance.tiktoken
    encoding, eos = vocabulary
    theirs = llguidance.tiktoken.lltokenizer_from_encoding(encoding, n_vocab=eos + 1, eos_token=eos)
    tokenizer = llgcy.Tokenizer.from_tiktoken(encoding, eos_token_id=eos)
    ours_mask, their_mask = (llgcy.allocate_bitmask(1, eos + 1) for _ in range(2))
    counts, unexplained, schemas, masks = collections.Counter(), [], 0, 0
    with gzip.open(shared / "maskbench-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % 41 or schemas == SCHEMAS:
                continue
            document = json.loads(line)
            text = json.dumps(document["schema"])
            peer = llguidance.LLMatcher(theirs, '%llguidance {"no_forcing": true}\nstart: %json ' + text + "\n", log_level=0)
            try:
                compiled = llgcy.compile(llgcy.Grammar.from_json_schema(document["schema"]), tokenizer)
            except (llgcy.GrammarError, llgcy.LimitError):
                continue
            if peer.is_error():
                continue
            schemas += 1
            for test in document["tests"]:
                a, b, before = compiled.matcher(), peer.deep_copy(), b""
                for token in encoding.encode(json.dumps(test["data"], ensure_ascii=False), disallowed_special=())[:TOKENS]:
                    a.fill_next_token_bitmask(ours_mask)
                    llguidance.numpy.fill_next_token_bitmask(b, their_mask, 0)
                    if b.is_error():            # a limit of its own; its mask is then EOS alone
                        counts["the peer gave up"] += 1
                        break
                    masks += 1
                    for other in numpy.flatnonzero(numpy.unpackbits((ours_mask ^ their_mask).view(numpy.uint8), bitorder="little")).tolist():
                        case = Case(text, before, tokenizer.token_bytes(other) or b"", bool(ours_mask[0, other >> 5] >> (other & 31) & 1))
                        reason = next((r.__name__ for r in REASONS if r(case)), None)
                        counts[reason] += 1
                        if reason is None:
                            unexplained.append((document["id"], before[-30:], case.token, "we allow" if case.ours else "they allow"))
                    if not (a.accept_token(token) and b.consume_token(token)):
                        break
                    before += tokenizer.token_bytes(token)
    with capsys.disabled():
        print(f"\n{schemas} schemas, {masks} masks; bits that differ, by reason: {dict(counts)}")
    assert not unexplained, unexplained[:20]
    assert schemas == SCHEMAS and masks > 3000
