"""Why matchers refuse tokens and bytes, what they expect, and the protocol of a sequence."""
import io
import sys

import pytest

import llgcy
from llgcy.cli import main

SCHEMA = '{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}'


def test_explain_bytes():
    matcher = llgcy.compile(llgcy.Grammar.from_lark('start: a ";" b\na: /[0-9]+/\nb: "on" | "off"'), llgcy.Tokenizer.single_byte()).matcher()
    assert matcher.expected() == ["/[0-9]+/"]
    assert matcher.explain_bytes(b"12;") is None and matcher.steps == 0
    assert matcher.accept_bytes(b"12\n") is False and matcher.accept_bytes(b"12;")
    why = matcher.explain_bytes(b"oz")
    assert (why.offset, why.line, why.column, why.found, why.accepted) == (4, 1, 5, "z", False)
    assert why.before == "12;o" and str(why).startswith("at byte 4 (line 1, column 5): 'z' after '12;o'; expected the rest of")
    assert matcher.accept_bytes(b"off") and matcher.expected() == ["the end of the text"]
    assert matcher.explain_bytes(b"x").expected == ["the end of the text"]
    assert matcher.accept_token(256) and matcher.explain_token(256) is None
    why = matcher.explain_token(ord("o"))
    assert why.expected == ["the end of the text"] and (why.offset, why.found) == (6, "o")
    matcher.rollback(3)
    assert matcher.explain_bytes(b"12;on") is None


def test_explain_token():
    """How far the bytes of a token go; tokens without text by their names; an end that comes too early."""
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"ab", b"abc", None, None, b"\xc3"], special={"<tool>": 3, "<end>": 4}, eos_token_id=4,
                                           vocab_size=7)
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: "a" "bd" | "a" "b" <tool>'), tokenizer)
    matcher = compiled.matcher()
    why = matcher.explain_token(2)
    assert (why.offset, why.found) == (2, "c") and len(why.expected) == 2
    assert matcher.explain_token(3).found == "<tool>" and matcher.explain_token(6).found == "token 6"
    assert matcher.explain_token(5).found == "\\xc3"
    why = matcher.explain_token(4)
    assert why.found == "" and why.offset == 0 and "something is missing" in str(why)
    assert matcher.accept_token(1) and matcher.explain_token(3) is None
    assert matcher.accept_token(3) and matcher.explain_token(3).found == "<tool>" and matcher.explain_token(4) is None
    with pytest.raises(ValueError):
        matcher.explain_token(7)


def test_what_is_refused_and_why_agree():
    """Of every token at every step: explained if and only if refused, by the mask too."""
    tokenizer = llgcy.Tokenizer.default()
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(SCHEMA), tokenizer)
    matcher, bitmask = compiled.matcher(), llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    for token in tokenizer.encode('{"name": "x\\n"}'):
        matcher.fill_next_token_bitmask(bitmask)
        for other in [*range(0, tokenizer.vocab_size, 37), token, *tokenizer.eos_token_ids]:
            allowed = bitmask[0, other // 32] >> other % 32 & 1
            assert (matcher.explain_token(other) is None) == bool(allowed)
        assert matcher.accept_token(token)


def test_prompt_and_budget():
    tokenizer = llgcy.Tokenizer.from_vocab([b" ", b"1", b" 1", b"2", None, b"0"], special={"<end>": 4}, eos_token_id=4, encode=lambda text: [])
    compiled = llgcy.compile(llgcy.Grammar.from_lark("start: /[0-9]+/"), tokenizer)
    matcher = compiled.matcher(prompt=[3, 0])
    assert matcher.healed == 1 and matcher.expected() == ["' '"]
    assert matcher.explain_token(3).expected == ["' '"] and matcher.explain_token(2) is None
    assert matcher.explain_bytes(b" x").found == "x"
    matcher = compiled.matcher(max_tokens=2)
    assert matcher.accept_token(1)
    assert matcher.explain_token(3).expected == ["an ending within 1 token"] and matcher.explain_token(4) is None
    assert matcher.explain_bytes(b"12").expected == ["an ending within 1 token"]


def test_trace():
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(SCHEMA), llgcy.Tokenizer.single_byte())
    lines = []
    assert llgcy.trace(compiled.matcher(), b'{"na]', lines.append) == 4
    assert len(lines) == 6 and lines[0].startswith("0: '{' taken; 1 token allowed: '{'; expected")
    assert lines[4].startswith("4: ']' refused; ") and lines[5].startswith("at byte 4 (line 1, column 5): ']' after '{\"na'")
    matcher = compiled.matcher()
    assert llgcy.trace(matcher, [], lines.append) == 0 and len(lines) == 6
    assert llgcy.trace(matcher, [*b'{"name":""}', 256], lines.append) == 12 and matcher.is_terminated()


def test_command(tmp_path, capsys, monkeypatch):
    (tmp_path / "s.json").write_text(SCHEMA)
    (tmp_path / "g.lark").write_text('start: "a" | b\nb: "b"+')
    assert main(["explain", "--schema", str(tmp_path / "s.json"), '{"name": "x"}']) == 0
    assert capsys.readouterr().out == "the text is accepted\n"
    assert main(["explain", "--schema", str(tmp_path / "s.json"), '{"name": 1}']) == 1
    assert "at byte 9 (line 1, column 10): '1' after '{\"name\": '; expected a string" in capsys.readouterr().out
    assert main(["explain", "--lark", str(tmp_path / "g.lark"), "bbc"]) == 1
    assert "in b" in capsys.readouterr().out
    assert main(["explain", "--regex", "[0-9]+", "--trace", "12"]) == 0
    out = capsys.readouterr().out.split("\n")
    assert out[0].startswith("0: ") and " taken; " in out[0] and out[-2] == "the text is accepted"
    assert main(["explain", "--regex", "[0-9]+", "--trace", "1x"]) == 1
    assert "refused" in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'start: "a')))
    assert main(["explain", "--lark", "-", "a"]) == 1
    assert capsys.readouterr().err.startswith("-:1:8: ")
    assert main(["explain", "--lark", str(tmp_path / "none"), "a"]) == 2
