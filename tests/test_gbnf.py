"""GBNF: what texts are read as, what the grammars mean, and the errors."""
import collections
import json
import pathlib
import random

import pytest
from lark_oracle import ALPHABET, Reader, Rule, Tree
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


ESCAPES = {'"': '\\"', "\\": "\\\\", "[": "\\[", "]": "\\]", "-": "\\-", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
CLASSES = [("a class", "[ab]", ("set", (("a", "b"),), False)), ("a range in a class", "[a-b]", ("set", (("a", "b"),), False)),
           ("several ranges in a class", "[a-bA-B_]", ("set", (("a", "b"), ("A", "B"), ("_", "_")), False)), ("a negated class", "[^a]", ("set", (("a", "a"),), True)),
           ("a negated class", "[^a-zA-Z\\n]", ("set", (("a", "z"), ("A", "Z"), ("\n", "\n")), True)), ("- at the end of a class", "[a-]", ("set", (("a", "a"), ("-", "-")), False)),
           ("- at the beginning of a class", "[^-~]", ("set", (("-", "-"), ("~", "~")), True)), ("an escape in a class", r"[\x61\-\]\"]", ("set", tuple(zip('a-]"', 'a-]"')), False)),
           ("a character of several bytes", "[é-ë]", ("set", (("é", "ë"),), False)), ("the dot", ".", ("set", (), True))]
TOKENS = [("a token by its text", "<|tool|>", {257}), ("a token by its id", "<[258]>", {258}), ("all tokens but one", "!<|tool|>", {256, 258, 259}),
          ("all tokens but one by its id", "!<[259]>", {256, 257, 258})]
MARKS = [("?", 0, 1), ("*", 0, None), ("+", 1, None), ("{2}", 2, 2), ("{0,2}", 0, 2), ("{1,}", 1, None), ("{ 1 , 2 }", 1, 2)]
CONSTRUCTS = {"a literal", "the empty literal", *(f"escape {x}" for x in (*ESCAPES.values(), "\\x", "\\u", "\\U")), *(x for x, _, _ in CLASSES), *(x for x, _, _ in TOKENS),
              *(f"repetition {x}" for x, _, _ in MARKS), "a repetition of a repetition", "a group", "a group in a group", "a newline in a group", "an alternative", "an empty alternative",
              "a newline behind |", "a comment", "a rule that refers to itself", "left recursion", "a name with - or _", "a name with digits", "a root of another name"}


class Random:
    """A random grammar: its text, with blanks, comments and spellings at random, and its tree for the plain recogniser, made beside it."""

    def __init__(self, seed, counts):
        self.random, self.counts = random.Random(seed), counts
        self.root = self.random.choice(["root", "root", "root", "Main_2"])
        self.names = [self.root, *["x", "Y-1", "2", "a_b"][:self.random.randrange(4)]]
        self.use(*["a root of another name"] * (self.root != "root"))
        self.tree = Tree(options={"lexing": "exact"})
        texts = {}
        for self.name in self.names:
            self.use(*["a name with - or _"] * bool(set("-_") & set(self.name)), *["a name with digits"] * bool(set("12") & set(self.name)))
            texts[self.name], body = self.alternatives(2)
            self.tree.rules[self.name] = Rule(body)
        self.tree.rules["start"] = Rule(("name", self.root))
        order = list(texts)
        self.random.shuffle(order)
        self.text = "\n".join(f"{name}{self.gap(False)}::={self.gap(True)}{texts[name]}" for name in order)

    def use(self, *constructs):
        self.counts.update(constructs)

    def gap(self, newlines, what=None):
        out = self.random.choice(["", " ", "  ", "\t"] + ["\n", " # | x\n ", "\r\n"] * newlines)
        self.use(*["a comment"] * ("#" in out), *[what] * (what is not None and "\n" in out))
        return out

    def alternatives(self, depth, nested=False):
        made = [self.sequence(depth, nested, first=i == 0) for i in range(self.random.choice([1, 1, 2, 3]))]
        self.use(*["an alternative"] * (len(made) > 1))
        text = made[0][0]
        for more, _ in made[1:]:
            text += "|" + self.gap(True, "a newline behind |") + more
        return text, ("or", tuple(body for _, body in made))

    def sequence(self, depth, nested, first):
        made = [self.item(depth, nested) for _ in range(self.random.choice([0, 1, 1, 2, 2, 3]))]
        if not made:
            self.use("an empty alternative")
            return ("" if nested else '""'), ("cat", ())    # behind nothing at all a rule would go on in the next line
        if made[0][1] == ("name", self.name):
            self.use("left recursion")
        return "".join(text + " " + self.gap(nested, "a newline in a group") for text, _ in made), ("cat", tuple(body for _, body in made))

    def item(self, depth, nested):
        choose = self.random.choice
        kind = choose(["literal", "literal", "class", "class", "name", "group", "token"] if depth else ["literal", "class"])
        if kind == "literal":
            text, body = self.literal(choose(["a", "b", "ab", "ba", "", "é", "a ", *ESCAPES]))
        elif kind == "class":
            what, text, body = choose(CLASSES)
            self.use(what)
        elif kind == "token":
            what, text, ids = choose(TOKENS)
            self.use(what)
            body = ("tokens", ids)
        elif kind == "name":
            text = choose(self.names)
            self.use(*["a rule that refers to itself"] * (text == self.name))
            body = ("name", text)
        else:
            text, body = self.alternatives(depth - 1, True)
            text = "(" + self.gap(True) + text + ")"
            self.use("a group", *["a group in a group"] * nested)
        for times in range(2):
            if self.random.random() < (.4, .15)[times]:
                mark, low, high = choose(MARKS)
                self.use(f"repetition {mark}", *["a repetition of a repetition"] * times)
                text, body = text + choose(["", " "]) + mark, ("repeat", body, low, high)
            else:
                break
        return text, body

    def literal(self, word):
        self.use("a literal" if word else "the empty literal")
        text = ""
        for char in word:
            forms = [char] if char not in '"\\' else []
            forms += [f"\\x{ord(char):02X}", f"\\u{ord(char):04x}", f"\\U{ord(char):08X}", *[ESCAPES.get(char)] * 3 * (char in ESCAPES)]
            form = self.random.choice(forms)
            self.use(*[f"escape {form if char in ESCAPES and form == ESCAPES[char] else form[:2]}"] * (len(form) > 1))
            text += form
        return f'"{text}"', ("text", word, False)


def test_random_grammars(capsys):
    """What the plain recogniser says of random texts, and of what may come next on the way."""
    tokenizer = llgcy.Tokenizer.from_vocab([bytes([i]) for i in range(256)] + [None] * 4,
                                           special={"<eos>": 256, "<|tool|>": 257, "<x>": 258, "<y>": 259}, eos_token_id=256)
    counts, seen = collections.Counter(), collections.Counter()
    for seed in range(180):
        used, choose = collections.Counter(), random.Random(seed)
        made = Random(seed, used)
        plain = Reader(made.tree)
        try:
            engine = llgcy.compile(llgcy.Grammar.from_gbnf(made.text, root=made.root), tokenizer).machine
        except UnsatisfiableError:
            assert not plain.productive, made.text
            continue
        counts.update(used)
        for _ in range(3):
            config, state, word = plain.start(), engine.begin(), []
            for _ in range(7):
                after = {char: (plain.step(config, char), engine.after(state, char.encode())) for char in choose.sample(ALPHABET, 8)}
                after |= {id: (plain.unit(config, id), engine.after_token(state, id)) for id in choose.sample(range(256, 260), 2)}
                assert [x for x, (mine, _) in after.items() if mine] == [x for x, (_, theirs) in after.items() if theirs is not None], (made.text, word)
                assert plain.accepting(config) == engine.may_end(state), (made.text, word)
                seen["ends" if engine.may_end(state) else "others"] += 1
                ways = [x for x, (mine, _) in after.items() if mine]
                if not ways:
                    break
                word.append(choose.choice(ways))
                config, state = after[word[-1]]
    with capsys.disabled():
        print(f"\n{dict(seen)} states of GBNF grammars; uses of constructs: " + ", ".join(f"{name} {counts[name]}" for name in sorted(counts)))
    assert set(counts) == CONSTRUCTS and min(counts.values()) >= 5, [name for name in CONSTRUCTS if counts[name] < 5]
    assert min(seen.values()) > 500


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


# -- XGrammar's EBNF --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("text, accepted, refused", [
    # a rule goes on in the next lines, until another one begins
    ('root ::= "a"\n  | "b"\n  x\n\n  x\nx ::=\n "c"\n', ["a", "bcc"], ["b", "c"]),
    ('root ::= a.b "x" # a comment\na.b ::= "y" | .z\n.z ::= "w"', ["yx", "wx"], ["x"]),
    # escapes of C, in literals and classes; those of regexes in classes
    (r'root ::= "\a\b\f\v\0\e\'\?\/" [\^\$\.\*\+\?\(\)\{\}\|\/\-\]]+', ["\a\b\f\v\0\x1b'?/^$.*+?(){}|/-]"], ["\a\b\f\v\0\x1b'?/a", "^"]),
    (r'root ::= [\d] [\w]+ [\S] | [^\d\s]', ["1a_Z9", "x", "-"], ["1", "a1", "2", " ", "é1"]),
    (r'root ::= [\s-a]+ [a-c\D]', [" -a\tb", " x"], [" 1", "x"]),
    (r'root ::= "\x41" "\u0042" "\xe9g"', ["AB\u00e9g"], ["AB"]),
    # what is the same in GBNF
    ('root ::= ("a" | [b-d]){2,3} x?\nx ::= "" | "!" x', ["ab", "bcd!!"], ["a", "abcd"]),
    ('main ::= "m"\nroot ::= main', ["m"], ["r"]),
])
def test_ebnf(text, accepted, refused):
    grammar = llgcy.Grammar.from_ebnf(text)
    assert [word for word in accepted + refused if grammar.accepts(word)] == accepted


@pytest.mark.parametrize("text, message, place", [
    ('root ::= "a" (= "b")', "look-ahead", (1, 14)),
    ("root ::= TagDispatch((\"a\", b))\nb ::= \"b\"", "the macro TagDispatch", (1, 10)),
    ('root[max_tokens=3] ::= "a"', "attributes of a rule", (1, 5)),
    (r'root ::= "\x41f"', "all digits that follow", (1, 11)),
    ('root ::= "a" x ::= "b"', "a line of its own|expected the end of the line", (1, 14)),
    ('root ::= "a"{,2}', "at most n copies are", (1, 13)),
    (r'root ::= "\d"', "no escape", (1, 11)),
    ('root ::= x\n  y', "no rule x", (1, 10)),
])
def test_what_is_no_ebnf_that_we_read(text, message, place):
    with pytest.raises(GrammarError, match=message) as caught:
        llgcy.Grammar.from_ebnf(text)
    assert (caught.value.line, caught.value.column) == place


def test_gbnf_stays_what_it_is():
    for text in 'root ::= "a"\n "b"', r'root ::= "\a"', r'root ::= [\d]', 'root ::= a.b\na ::= "x"':
        with pytest.raises(GrammarError):
            llgcy.Grammar.from_gbnf(text)
