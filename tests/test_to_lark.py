"""Grammars of other languages as Lark grammars: readable, and with the same texts."""
import collections
import json
import pathlib
import random

import pytest
from lark_oracle import ALPHABET, Reader
from test_gbnf import Random

import llgcy
from llgcy.errors import GrammarError, UnsatisfiableError, UnsupportedKeywordError

GRAMMARS = pathlib.Path(__file__).parents[1] / "grammars"


@pytest.mark.parametrize("text, lark", [
    ('root ::= "a" [0-9]+ (x | y-2)*\nx ::= root | ""\ny-2 ::= [^"\\\\\\n]{2,3}',
     'start: "a" /[0-9]/+ (x | y_2)*\nx: start | ""\ny_2: /[^\\n"\\\\]/{2,3}\n'),
    ('root ::= start | Start | 1 | camelCase\nstart ::= "s"\nStart ::= "S"\n1 ::= "é\\t\\x01"\ncamelCase ::= "\\"/" .',
     'start: start_2 | start_3 | rule_1 | camel_case\nstart_2: "s"\nstart_3: "S"\nrule_1: "é\\t\\x01"\ncamel_case: "\\"/" /(?s:.)/\n'),
    ("root ::= <|tool|> <[1-3]> !<[5]> a?*\na ::= [/.^\\]-]", "start: <|tool|> <[1-3]> <[^5]> (a?)*\na: /[\\--\\/\\]\\^]/\n"),
    ("root ::= " + " | ".join(f'"a long word {i}"' for i in range(8)), "start: " + "\n    | ".join(f'"a long word {i}"' for i in range(8)) + "\n"),
    ('root ::= ("a" | "b"){2} ("a"){0} | [\\ud800-\\udfff]', 'start: ("a" | "b"){2} "" | NOTHING\nNOTHING: "a" & "b"\n'),
])
def test_gbnf_as_lark(text, lark):
    assert llgcy.Grammar.from_gbnf(text).to_lark() == '%llguidance {"lexing": "exact"}\n' + lark


def texts(grammar, choose):
    """Some of the texts that a plain recogniser walks along, accepted or not."""
    config, text = grammar.start(), ""
    yield text
    for _ in range(8):
        after = {char: new for char in choose.sample(ALPHABET, 8) if (new := grammar.step(config, char))}
        yield text + choose.choice(ALPHABET)
        if not after:
            return
        char = choose.choice(sorted(after))
        config, text = after[char], text + char
        yield text


def test_random_grammars():
    """Original and converted grammar accept the same texts, and both what the plain recogniser accepts."""
    seen = collections.Counter()
    for seed in range(120):
        made, choose = Random(seed, collections.Counter()), random.Random(seed)
        if "!<|" in made.text:
            with pytest.raises(UnsupportedKeywordError, match="by their ids"):
                llgcy.Grammar.from_gbnf(made.text, root=made.root).to_lark()
            continue
        plain, grammar = Reader(made.tree), llgcy.Grammar.from_gbnf(made.text, root=made.root)
        converted = llgcy.Grammar.from_lark(grammar.to_lark())
        if not plain.productive:
            with pytest.raises(UnsatisfiableError):
                converted.accepts("")
            continue
        for _ in range(3):
            for text in texts(plain, choose):
                wanted = plain.accepts(text)
                assert converted.accepts(text) == grammar.accepts(text) == wanted, (made.text, text)
                seen[wanted] += 1
    assert min(seen.values()) > 150


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.gbnf")), ids=lambda path: path.stem)
def test_examples(path, tmp_path, capsys):
    from llgcy.cli import main
    samples = json.loads(path.with_suffix(".samples.json").read_text())
    assert main(["convert", str(path), "--to", "lark"]) == 0
    text = capsys.readouterr().out
    (tmp_path / "converted.lark").write_text(text)
    grammar = llgcy.Grammar.from_lark(text)
    assert [text for text in samples["accepted"] if not grammar.accepts(text)] == [text for text in samples["refused"] if grammar.accepts(text)] == []
    assert main(["check", str(tmp_path / "converted.lark"), "--text", samples["accepted"][0]]) == 0


@pytest.mark.parametrize("grammar, accepted, refused", [
    (llgcy.Grammar.from_regex(r"(?i:ab)+|[^a-z\n]{2,3}(x|yz)*?/?\.|\u212a\Z"), ["AbaB", "12x.", "1 3yzx/."], ["a", "12", "\u212ax"]),
    (llgcy.Grammar.from_regex(r"\p{Lu}\w*--[[:alpha:]&&[^a]]", flavor="rust"), ["Éa1--b"], ["éa--b", "E--a"]),
    (llgcy.Grammar.from_regex("a??b{3}(?:)(?:c|)", flavor="ecma"), ["abbb", "bbbc"], ["bb", "abbbcc"]),
    (llgcy.Grammar.from_choices(['say "x"', "back\\slash", "two\nlines", "é", "\U000e0001"]), ['say "x"', "back\\slash", "two\nlines", "é", "\U000e0001"], ["", "e"]),
    (llgcy.Grammar.from_choices([""]), [""], ["a"]),
    (llgcy.Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}}), ["[1, 2]"], ["[a]", "1"]),
    (llgcy.Grammar.from_ebnf('root ::= "\\a"\n  [\\d]*'), ["\a12"], ["a"]),
    (llgcy.Grammar.from_lark('start: "list" "ed"\n', lexing="exact"), ["listed"], ["list"]),
])
def test_other_languages(grammar, accepted, refused):
    try:
        converted = llgcy.Grammar.from_lark(grammar.to_lark())
    except UnsupportedKeywordError:
        assert "\\Z" in grammar._content()["pattern"]
        return
    assert [text for text in accepted + refused if converted.accepts(text)] == accepted
    assert [text for text in accepted + refused if grammar.accepts(text)] == accepted


@pytest.mark.parametrize("grammar, what", [
    (llgcy.Grammar.from_regex(r"a(?=b)b"), "looks around"), (llgcy.Grammar.from_json_schema({"type": "integer"}, property_order="any"), "options of a JSON Schema"),
    (llgcy.Grammar.from_grammars([{"lark_grammar": 'start: "a"'}]), "list of named grammars"), (llgcy.Grammar.from_gbnf("root ::= !<|x|>"), "by their ids"),
])
def test_what_lark_cannot_say(grammar, what):
    with pytest.raises(UnsupportedKeywordError, match=what):
        grammar.to_lark()


def test_refusals_of_the_command_line(tmp_path, capsys):
    from llgcy.cli import main
    (tmp_path / "x.gbnf").write_text("root ::= a")
    assert main(["convert", str(tmp_path / "x.gbnf")]) == 1 and "no rule a" in capsys.readouterr().err


def test_depth():
    grammar = llgcy.Grammar.from_gbnf("root ::= " + '("a" ' * 20_000 + ")" * 20_000)
    with pytest.raises(GrammarError):
        llgcy.Grammar.from_lark(grammar.to_lark() + "x")
    assert llgcy.Grammar.from_lark(grammar.to_lark()).accepts("a" * 20_000)


def test_terminals_of_structural_tags_stand_where_they_are_used():
    grammar = llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": {"type": "any_text"}})
    assert llgcy.Grammar.from_lark(grammar.to_lark()).accepts("any text\n, <at all>")
    for content in {"type": "any_text"}, {"type": "any_text", "max_tokens": 3}, {"type": "any_text", "max_chars": 9}:
        tag = {"type": "tag", "begin": "<a>", "content": content, "end": "</a>"}
        grammar = llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": tag})
        with pytest.raises(UnsupportedKeywordError, match="nothing that is converted"):
            grammar.to_lark()
