"""Which language a text is taken to be in, and grammars that are lists or regexes."""
import re

import pytest

import llgcy
from llgcy.errors import GrammarError, LimitError
from llgcy.grammar import ir
from llgcy.grammar.choices import from_choices, from_regex
from llgcy.grammar.route import route


@pytest.mark.parametrize("text, kind", [
    ('{"grammars": [{"lark_grammar": "start: /a/"}]}', "grammars"),
    ('{"grammars": {"type": "object"}}', "json_schema"),
    ('{"type": "object", "description": "root ::= start: "}', "json_schema"),
    ("{}", "json_schema"), (" true\n", "json_schema"), ("false", "json_schema"),
    ('%llguidance {}\nroot: "::="', "lark"),
    ('\n  %llguidance {"lexing": "exact"}\nstart: "a"', "lark"),
    ('root ::= "a"', "gbnf"), ('# start: x\nroot::="start: " [^"] # "', "gbnf"), ('root ::=\n  [a"] x\nx ::= "b"', "gbnf"),
    ('root ::= "start:"\n', "gbnf"),
    ('start: "a"', "lark"), ('?start: "::=" | x\nx: /::=/ | /"/', "lark"), ('A: "a"\n  !start: A', "lark"),
    ('// x ::= y\nstart : "a" # z ::= "b"', "lark"), ('start.2: "a"', "lark"), ('start{x}: x', "lark"), ('start[lazy]: /a/', "lark"),
])
def test_route(text, kind):
    assert route(text) == (kind, text)


@pytest.mark.parametrize("text", ["", "hello", "[1]", '"::="', 'root: "a"', "1", "null", "# start: x", 'x: "\nstart" : "a"'[:4]])
def test_texts_that_look_like_nothing(text):
    with pytest.raises(GrammarError, match="tell by its looks"):
        route(text)


def test_broken_json_is_not_taken_for_something_else():
    with pytest.raises(GrammarError, match="not JSON") as caught:
        route('{"type":\n  object}')
    assert (caught.value.line, caught.value.column) == (2, 3)
    with pytest.raises(LimitError):
        route('{"a":' * 100_000)
    with pytest.raises(TypeError):
        route(b"{}")


def test_choices():
    grammar = from_choices(["b", "a", "b"])
    assert ir.show(grammar.rules["start"].body) == '("b" | "a")'
    for wrong in ("ab", b"ab", ["a", 1], [b"a"], [None]):
        with pytest.raises(TypeError):
            from_choices(wrong)
    with pytest.raises(GrammarError, match="at least one"):
        from_choices([])
    with pytest.raises(GrammarError, match="surrogate"):
        from_choices(["a", "\ud800"])


def test_regex_arguments():
    assert from_regex("a|b").rules["start"].body.source == "a|b"
    assert from_regex(re.compile("a b", re.X | re.I | re.S | re.M | re.A)).rules["start"].body.source == "a b"
    with pytest.raises(GrammarError):
        from_regex("(")
    with pytest.raises(ValueError):
        from_regex("a", "perl")
    with pytest.raises(ValueError):
        from_regex(re.compile("a"), "ecma")
    with pytest.raises(TypeError):
        from_regex(re.compile(b"a"))
    with pytest.raises(TypeError):
        from_regex(b"a")


@pytest.mark.parametrize("entry, message", [
    ('{"json_schema": {}, "regexp": "a"}', "has no form 'regexp'"),
    ('{"regexp": "a"}', "has no form 'regexp'"),
    ('{"json_schema": {}, "regex": "a"}', "has more than one of"),
    ('{"name": "a"}', "has none of"),
])
def test_forms_of_grammars_in_lists(entry, message):
    with pytest.raises(GrammarError, match=message):
        llgcy.Grammar.from_text('{"grammars": [%s]}' % entry)
