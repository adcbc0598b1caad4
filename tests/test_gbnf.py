"""GBNF: what texts are read as, what the grammars mean, and the errors."""
import itertools
import json
import pathlib
import random

import pytest
from ir_oracle import Oracle
from test_lark_engine import machine

import llgcy
from llgcy.errors import GrammarError, LimitError, UnsatisfiableError, UnsupportedKeywordError
from llgcy.grammar import gbnf, ir

GRAMMARS = pathlib.Path(__file__).parents[1] / "grammars"


def shape(body):
    return ir.show(gbnf.read(f'root ::= {body}\na ::= "1"\nb-2_C ::= "2"').rules["root"].body)


@pytest.mark.parametrize("body, expected", [
    ('"a"', '"a"'), ('""', '""'), ("a b-2_C", "(a b-2_C)"), ("a | b-2_C", "(a | b-2_C)"), ("| a", '("" | a)'),
    ("(a |)", '(a | "")'), ("()", '""'), ("((a))", "a"), ("(a | a) a", "((a | a) a)"),
    ("a*", "a*"), ("a+", "a+"), ("a ?", "a?"), ("a{2}", "a{2}"), ("a{2,}", "a{2,}"), ("a { 2 , 3 }", "a{2,3}"), ("a{0,0}", "a{0}"),
    ("a{007,1000000000}", "a{7,1000000000}"),
    # a repetition takes the whole literal, and may be repeated itself
    ('"ab"*', '"ab"*'), ("a+?", "a+?"), ("a{2}*", "a{2}*"), ("(a a)* a", "((a a)* a)"),
    # blanks, comments, newlines
    ("a#x\n", "a"), ("\n\n  a", "a"), ("a | # x\n\n a", "(a | a)"), ("( # ) x\n a\n\ta )", "(a a)"), ("(a\n|\na)\t a", "((a | a) a)"),
    ("((a)\na)", "(a a)"), ("(a\n*)", "a*"), ("a\r\n", "a"), ("a|a", "(a | a)"), ('"a"a', '("a" a)'),
    # classes
    ("[abc]", "[a-c]"), ("[a-c0-9_]", "[0-9_a-c]"), ("[a-]", "[-a]"), ("[-a]", "[-a]"), ("[a-c-e]", "[-a-ce]"),
    (r"[\n\t]", r"[\t-\n]"),
    ("[^a]", r"[\x00-`b-\U0010ffff]"), ("[^^]", r"[\x00-]_-\U0010ffff]"), ("[^a-z0-9]", r"[\x00-/:-`{-\U0010ffff]"),
    ("[\u3041-\u309f]", "[\u3041-\u309f]"), (r"[\u3041-\U0000309F]", "[\u3041-\u309f]"), ("[.*]", "[*.]"), ("[a\n#]", r"[\n#a]"),
    (".", r"[\x00-\U0010ffff]"),
])
def test_expressions(body, expected):
    assert shape(body) == expected


@pytest.mark.parametrize("source, text", [
    (r'"\"\\\[\]\-\n\r\t"', '"\\[]-\n\r\t'), (r'"\x41\u0042\U0001F600"', "AB\U0001f600"), ('"é\n#|"', "é\n#|"), (r'"\x00"', "\0"),
])
def test_literals(source, text):
    body = gbnf.read("root ::= " + source).rules["root"].body
    assert isinstance(body, ir.Literal) and body.text == text


def test_class_escapes():
    assert gbnf.read(r'root ::= [\]\[\\\-\"]').rules["root"].body.ranges == tuple((ord(c), ord(c)) for c in '"-') + ((91, 93),)


def test_rules_in_any_order_with_any_root():
    text = '# first\n  x ::= "a" y\n\ny::=x|"b"\r\n1-2 \t ::=\n  # here a newline may stand\n y'
    grammar = gbnf.read(text, root="y")
    assert grammar.start == "y" and list(grammar.rules) == ["x", "y", "1-2"] and grammar.options.lexing == "exact"
    assert [rule.at for rule in grammar.rules.values()] == [(2, 3), (4, 1), (5, 1)]


@pytest.mark.parametrize("text, message, place", [
    ("", "no rule root", (1, 1)),
    ('rot ::= "a"', "did you mean rot?", (1, 1)),
    ('root ::= x\ny ::= "a"', "there is no rule x", (1, 10)),
    ('root ::= iteem\nitem ::= "a"', "did you mean item?", (1, 10)),
    ('root ::= "a"\nunused ::= "b" nothing', "there is no rule nothing", (2, 16)),
    ('root ::= "a"i', "ignore case", (1, 13)),
    ('root ::= "a"\nroot ::= "b"', "defined twice; first in line 1", (2, 1)),
    ('root : "a"', "this is how Lark", (1, 6)),
    ('root = "a"', "expected ::=", (1, 6)),
    ('root\n::= "a"', "expected ::=", (1, 5)),
    ('root ::= "a"\n | "b"', "only behind '|'", (2, 2)),
    ('root ::= "a"\n"b"', "only behind '|'", (2, 1)),
    ('root ::= "a" x ::= "b"\nx ::= "c"', "a line of its own", (1, 16)),
    ('root ::= "a" )', "expected the end of the line, found ')'", (1, 14)),
    ('root ::= ("a"', "expected ')' for the ( of line 1, column 10, found the end of the grammar", (1, 14)),
    ('root ::= ("a" ]', "found ']'", (1, 15)),
    ("root ::= 'a'", "double quotes", (1, 10)),
    ('root ::= "a', "no closing quote", (1, 10)),
    ("root ::= [a", "no closing bracket", (1, 10)),
    ("root ::= [a-", "no closing bracket", (1, 10)),
    ("root ::= []", "class is empty", (1, 10)),
    ("root ::= [^]", "class is empty", (1, 10)),
    ("root ::= [az-a]", "ends before it begins", (1, 12)),
    (r'root ::= "a\d"', r"\d is no escape", (1, 12)),
    (r'root ::= [a\^]', r"\^ is no escape", (1, 12)),
    (r'root ::= "\u12"', "4 hexadecimal digits", (1, 11)),
    (r'root ::= "\U00110000"', "U+110000 is no character", (1, 11)),
    ("root ::= *", "needs something before it", (1, 10)),
    ('root ::= "a" | +', "needs something before it", (1, 16)),
    ('root ::= "a"{,3}', "at most n copies are {0,n}", (1, 13)),
    ('root ::= "a"{}', "is written {m}", (1, 13)),
    ('root ::= "a"{2', "is written {m}", (1, 13)),
    ('root ::= "a"{3,2}', "3 > 2", (1, 13)),
    ("root ::= <think", "a token is written", (1, 10)),
    ("root ::= \ud800", "lone surrogate", (1, 10)),
])
def test_errors_name_the_place(text, message, place):
    with pytest.raises(GrammarError) as caught:
        gbnf.read(text)
    assert message in str(caught.value) and not isinstance(caught.value, UnsupportedKeywordError)
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize("token, wanted", [
    ("<think>", dict(name="<think>")), ("<[1000]>", dict(ids=((1000, 1000),))), ("!<think>", dict(name="<think>", others=True)),
    ("!<[7]>", dict(ids=((7, 7),), others=True)), ("<|a b|>", dict(name="<|a b|>")),
])
def test_tokens(token, wanted):
    body = gbnf.read(f'root ::= x\nx ::= {token}*').rules["x"].body
    got = body.body
    assert (body.low, body.high, got.text) == (0, None, token)
    assert (got.name, got.ids, got.others) == (wanted.get("name"), wanted.get("ids", ()), wanted.get("others", False))


def test_tokens_in_the_engine():
    tokenizer = llgcy.Tokenizer.from_vocab([bytes([i]) for i in range(256)], special={"<think>": 256, "</think>": 257, "<end>": 258}, eos_token_id=258)
    compiled = llgcy.compile(llgcy.Grammar.from_gbnf('root ::= <think> !</think>* </think> ("a" | !<[97]> "b")'), tokenizer)

    def reads(*ids):
        matcher = compiled.matcher()
        return matcher.accept_tokens(ids) == len(ids) and matcher.is_accepting()
    assert reads(256, 257, 97) and reads(256, 97, 256, 0, 258, 257, 97)
    assert reads(256, 257, 98, 98) and reads(256, 257, 256, 98) and not reads(256, 257, 97, 98) and not reads(256, 257, 98)
    assert not reads(*b"<think>", 257, 97) and not reads(256, 257)


def test_hostile_texts():
    depth = 20_000
    assert shape("(" * depth + "a" + ")" * depth) == "a"
    nested = gbnf.read("root ::= " + '("a" ' * depth + ")" * depth + "*")
    assert machine(nested).accepts(b"a" * depth)
    with pytest.raises(GrammarError, match="expected '\\)'"):
        gbnf.read("root ::= " + "(" * depth)
    with pytest.raises(LimitError, match="copies"):
        gbnf.read('root ::= "a"{1' + "0" * 9000 + "}")
    assert shape("a{" + "0" * 9000 + "}") == "a{0}"
    with pytest.raises(UnsatisfiableError):
        machine(gbnf.read('root ::= "a" root'))
    with pytest.raises(UnsatisfiableError):
        machine(gbnf.read(r'root ::= "\ud800"'))


class Random:
    """A random grammar over a and b: its text, with blanks, comments and spellings at random, and its IR, made apart."""

    def __init__(self, seed):
        self.random, self.nested = random.Random(seed), False
        self.names = ["root", *["x", "Y-1", "2"][:self.random.randrange(4)]]
        rules = {name: self.alternatives(2) for name in self.names}
        self.grammar = ir.Grammar({name: ir.Definition(name, body) for name, (_, body) in rules.items()}, {}, "root", None,
                                  ir.Options(lexing="exact"))
        order = list(rules)
        self.random.shuffle(order)
        self.text = "\n".join(f"{name}{self.gap(False)}::={self.gap(True)}{rules[name][0]}" for name in order)

    def gap(self, newlines):
        return self.random.choice(["", " ", "  ", "\t"] + ["\n", " # | x\n ", "\r\n"] * newlines)

    def alternatives(self, depth, nested=False):
        made = [self.sequence(depth, nested) for _ in range(self.random.choice([1, 1, 2, 3]))]
        return ("|" + self.gap(True)).join(text for text, _ in made), ir.Alternatives(tuple(body for _, body in made))

    def sequence(self, depth, nested):
        made = [self.item(depth, nested) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
        if not made and not nested:                         # behind nothing at all a rule would go on in the next line
            return '""', ir.Sequence(())
        return "".join(text + " " + self.gap(nested) for text, _ in made), ir.Sequence(tuple(body for _, body in made))

    def item(self, depth, nested):
        choose = self.random.choice
        kind = choose(["literal", "class", "name", "group"] if depth else ["literal", "class"])
        if kind == "literal":
            word = choose(["a", "b", "ab", "ba", ""])
            text = '"' + "".join(choose([char, f"\\x{ord(char):02X}", f"\\u{ord(char):04x}", f"\\U{ord(char):08X}"])
                                 for char in word) + '"'
            body = ir.Literal(word)
        elif kind == "class":
            text, ranges = choose([("[ab]", ((97, 98),)), ("[^a]", ((0, 96), (98, 0x10FFFF))), ("[a-b]", ((97, 98),)),
                                   (r"[\x62-]", ((45, 45), (98, 98))), (".", ((0, 0x10FFFF),)), ("[^-b]", ((0, 44), (46, 97), (99, 0x10FFFF)))])
            body = ir.Chars(ranges)
        elif kind == "name":
            text = choose(self.names)
            return text, ir.Reference(text)
        else:
            text, body = self.alternatives(depth - 1, True)
            text = "(" + self.gap(True) + text + ")"
        if self.random.random() < .5:
            return text, body
        mark, low, high = choose([("?", 0, 1), ("*", 0, None), ("+", 1, None), ("{2}", 2, 2), ("{0,2}", 0, 2), ("{1,}", 1, None)])
        return text + choose(["", " "]) + mark, ir.Repetition(body, low, high)


@pytest.mark.parametrize("block", range(8))
def test_the_engine_reads_what_the_grammar_means(block):
    words = ["".join(word) for n in range(5) for word in itertools.product("ab", repeat=n)] + ["-", "a-b", "é", "bé"]
    accepted = refused = 0
    for seed in range(block * 8, block * 8 + 8):
        made = Random(seed)
        plain = Oracle(made.grammar, "ab-é")
        try:
            engine = machine(gbnf.read(made.text))
        except UnsatisfiableError:
            assert not plain.rules["root"]
            continue
        for word in words:
            wanted = plain.accepts(word)
            assert engine.accepts(word.encode()) == wanted, (made.text, word)
            accepted, refused = accepted + wanted, refused + (not wanted)
    assert accepted >= 10 and refused >= 10


def test_characters_of_several_bytes_are_characters():
    engine = machine(gbnf.read('root ::= [a-z\u4e00-\u9fa5]{2} [^\u4e00] "\U0001f600"?'))
    for text in "a\u9fa5b", "\u4e00z\u9fa6\U0001f600", "aa\U0001f600\U0001f600":
        assert engine.accepts(text.encode())
    for text in "a\u9fa6b", "aa\u4e00", "a\u4e00", "aaa\U0001f601":
        assert not engine.accepts(text.encode())
    assert not engine.accepts("aa".encode() + b"\xff")


def test_left_recursion_and_ambiguous_repetition_stay_linear():
    engine = machine(gbnf.read('root ::= root "+" root | [0-9]+ | "(" root ")"'))
    assert engine.accepts(b"1+" * 400 + b"22") and not engine.accepts(b"1+" * 400)
    engine = machine(gbnf.read('root ::= ("a" | "a" x)* "b"\nx ::= "a"* | "a" x "c" x'))
    assert engine.accepts(b"a" * 500 + b"b") and not engine.accepts(b"a" * 500)


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.gbnf")), ids=lambda path: path.stem)
def test_examples(path):
    samples, engine = json.loads(path.with_suffix(".samples.json").read_text()), machine(gbnf.read(path.read_text()))
    assert len(samples["accepted"]) >= 3 and len(samples["refused"]) >= 5
    assert [text for text in samples["accepted"] if not engine.accepts(text.encode())] == []
    assert [text for text in samples["refused"] if engine.accepts(text.encode())] == []
