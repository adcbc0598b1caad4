"""The Lark dialect's syntax: what a text is read as, and the errors for what is none. No language is decided here."""
import pytest

from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.grammar import ir
from llgcy.grammar.lark import read


def rules(text, **options):
    """Name -> expression as text, of the rules and then the terminals that the grammar itself defines."""
    grammar = read(text, **options)
    return {name: ir.show(definition.body) for name, definition in (*grammar.rules.items(), *grammar.terminals.items())
            if not name.startswith("common.")}


def start(body):
    return rules(f'start: {body}\na: "1"\nb: "2"\nA: "3"\nB: "4"\n')["start"]


@pytest.mark.parametrize("body, shape", [
    ('"a"', '"a"'),
    ("", '""'),
    ('""', '""'),
    ("a b", "(a b)"),
    ("a | b", "(a | b)"),
    ("| a", '("" | a)'),
    ("a | ", '(a | "")'),
    ("a b | b", "((a b) | b)"),
    ("(a)", "a"),
    ("((a | b)) a", "((a | b) a)"),
    ("( a | )", '(a | "")'),
    ("[a]", "a?"),
    ("[a | b] a", "((a | b)? a)"),
    ("a?", "a?"), ("a*", "a*"), ("a+", "a+"),
    ("a{2}", "a{2}"), ("a {2, 3}", "a{2,3}"), ("a{,3}", "a{0,3}"), ("a{2,}", "a{2,}"),
    ("a ~ 2", "a{2}"), ("a~2..3", "a{2,3}"), ("a ~0..1 b", "(a? b)"), ("a~0", "a{0}"),
    ("a{1,1000000000}", "a{1,1000000000}"),
    ("(a b)+", "(a b)+"),
    ("~A", "~A"), ("~A*", "~A*"), ("~(A | B)", "~(A | B)"), ("A ~A", "(A ~A)"), ("A ~ 3", "A{3}"),
    ("~[A]", "~A?"),
    ('"a".."z"', "[a-z]"), ('"a".."z"+', "[a-z]+"), (r'"\u00e9".."\u00ff"', "[é-ÿ]"), ('"a".."a"', "[a]"),
    ('"a"i', '"a"i'),
    ("a -> name", "a"), ("a -> x | b -> y", "(a | b)"), ("(a -> x | b) a", "((a | b) a)"), ("a->x", "a"),
    ("/a|b/", "/a|b/"), (r"/a\/b/", r"/a\/b/"), ("/a b/x", "/a b/"),
    ("/[(]/ /[)]/", "(/[(]/ /[)]/)"), ("/a\nb/", "/a\nb/"),
    ("a # | b", "a"), ("a // | b", "a"), ('"#" "//"', '("#" "//")'),
    ("a\n  | b", "(a | b)"), ("a\n\n\n | b\n|a", "(a | b | a)"), ("(a\n | b)", "(a | b)"), ("a # x\n  // y\n | b", "(a | b)"),
    ("a\r\n | b", "(a | b)"),
    ('%json {"a": [1, "}"]} a', '(%json {"a": [1, "}"]} a)'), ("%json true", "%json true"),
    ('%json\n{"a":\n{}} a', '(%json {"a":\n{}} a)'),
])
def test_expressions(body, shape):
    assert start(body) == shape


@pytest.mark.parametrize("text, value", [
    (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
    (r'"\u0041\xe9\x00"', "A\u00e9\x00"),
    (r'"\ud83d\ude00"', "\U0001f600"),
    ('"\U0001f600é"', "\U0001f600é"),
    (r'"\u0022"', '"'),
])
def test_string_escapes(text, value):
    body = read("start: " + text).rules["start"].body
    assert isinstance(body, ir.Literal) and body.text == value and not body.fold


def test_intersection_stands_between_alternatives_and_sequences():
    assert rules('start: T\nT: "a" | "b" "c" & ~"d" & /x/ | "e"')["T"] == '("a" | (("b" "c") & ~"d" & /x/) | "e")'
    assert rules('start: T\nT: ("a" & "b") "c"')["T"] == '(("a" & "b") "c")'


def test_names():
    assert rules('?start: _a-b x1\n!_a-b: "1"\n!?x1: T_2\nT_2: _U-V\n_U-V: "u"') == {
        "start": "(_a-b x1)", "_a-b": '"1"', "x1": "T_2", "T_2": "_U-V", "_U-V": '"u"'}


def test_a_definition_may_follow_its_use_and_imports_may_come_last():
    assert rules("start: INT WORD num\n%import common.INT\n%import common (WORD, WS)\n"
                 "%import common.NUMBER -> num\n%ignore WS") == {
        "start": "(INT WORD num)", "INT": "common.INT", "WORD": "common.WORD", "WS": "common.WS", "num": "common.NUMBER"}


def test_several_ignores_are_alternatives():
    assert ir.show(read('start: "a"\n%ignore " "\n%ignore "x" | /y+/').ignore) == '(" " | ("x" | /y+/))'
    assert read('start: "a"').ignore is None


def test_places():
    grammar = read('start: "a" b\n\nb: ( T\n  | /x/ )\nT: "é" "f"')
    assert grammar.rules["start"].at == (1, 1) and grammar.rules["b"].at == (3, 1)
    literal, reference = grammar.rules["start"].body.parts
    assert literal.at == (1, 8) and reference.at == (1, 12)
    assert [node.at for node in grammar.rules["b"].body.options] == [(3, 6), (4, 5)]
    assert [node.at for node in grammar.terminals["T"].body.parts] == [(5, 4), (5, 8)]


def test_options():
    options = read('start: "a"').options
    assert options == ir.Options("greedy", False, False, False)
    assert read('start: "a"', lexing="exact").options.lexing == "exact"
    text = '%llguidance {"lexing": "exact", "no_forcing": true}\nstart: "a"\n%llguidance {"allow_initial_skip": true}'
    assert read(text).options == ir.Options("exact", skip_first=True)
    assert read(text, lexing="greedy").options.lexing == "greedy"
    assert read('start: "a"\n%llguidance {\n "ignore_once": true,\n "allow_skip_before_nested": true}').options == ir.Options(
        skip_once=True, skip_outside=True)
    nested = 'start: ~A %lark {\nstart: ~B\nB: "b"\n%llguidance {"allow_invalid_utf8": true}\n}\nA: "a"'
    assert [node.any_bytes for rule in read(nested).rules.values() for node in ir.walk(rule.body) if isinstance(node, ir.Complement)] == [
        False, True]
    with pytest.raises(ValueError, match="greedy, exact"):
        read('start: "a"', lexing="lazy")
    with pytest.raises(TypeError):
        read(b'start: "a"')


@pytest.mark.parametrize("text, shape", [
    ('start[lazy]: "a"', 'lazy("a")'),
    ('start[suffix="b"]: "a"', 'lazy(("a" "b"))'),
    ('start[suffix=""]: "a"', 'lazy("a")'),
    ('start[stop=/b+/, capture]: A\nA: "a"', "lazy((A /b+/))"),
    ('start[stop=A]: ""\nA: "a"', 'lazy(("" A))'),
    ('start[capture="x", temperature=0.5]: "a"', '"a"'),
    ('start.7: "a"', '"a"'),
    ("start: <|eot|>", "<|eot|>"),
    ("start: <[1-7,9]> <[^3]> <[*]>", "(<[1-7,9]> <[^3]> <[*]>)"),
    ("start: A B\nA: <x>\n%declare B", "(<x> B)"),
    ("start: A\nA: <x> | <y>", "(<x> | <y>)"),
    ('start: %regex {"substring_words": "a b"}', 'run("a" " " "b")'),
    ('start: %regex {"substring_chars": "ab"}', 'run("a" "b")'),
    ('start: %regex {"substring_chunks": ["ab", "", "c"]}', 'run("ab" "c")'),
    ('start: sep{"a"}\nsep{x}: x', 'sep{"a"}'),
    ("start: sep{a, sep{/b/, \"x\"..\"z\"}}\na: \"a\"\nsep{x, y}: x y", "sep{a,sep{/b/,[x-z]}}"),
    ("start: p::3\np::_: \"a\"", "p::3"),
    ("start: p::0xff\np::_: \"a\"", "p::255"),
    ('start: "a" %if true | "b" %if true()', '("a" | "b")'),
    ('start: ("a" %if not(true) | "b")', '(() | "b")'),
    ('start: "a" %lark {\n start: "b"\n} "c"', '("a" @@%lark#1.start "c")'),
    ('start: %lark { start: "b" }', "@@%lark#1.start"),
])
def test_what_lark_has_beyond_plain_rules(text, shape):
    assert rules(text)["start"] == shape


def test_attributes_are_kept():
    grammar = read('start: a b\na[capture, suffix="x", stop_capture="s"]: "a"\nb[capture="n", temperature=1]: "b"\nB.3: "b"\nC.-1: "c"')
    a, b = grammar.rules["a"], grammar.rules["b"]
    assert (a.capture, a.stop_capture, a.temperature) == ("a", "s", None) and (b.capture, b.stop_capture, b.temperature) == ("n", None, 1)
    assert [terminal.priority for terminal in grammar.terminals.values()] == [3, -1]


def test_templates_and_parametric_rules_are_written_out():
    text = 'start: list{"a", ","} | list{b, ","}\nlist{x, s}: x | list{x, s} s x\nb: "b"\n'
    assert rules(text) == {"start": '(list{"a",","} | list{b,","})', "b": '"b"', 'list{"a",","}': '("a" | (list{"a",","} "," "a"))',
                           'list{b,","}': '(b | (list{b,","} "," b))'}
    text = 'start: up::0\nup::_: "a" up::incr([0:2]) %if lt(_, 2) | ""\n'
    assert rules(text) == {"start": "up::0", "up::0": '(("a" up::1) | "")', "up::1": '(("a" up::2) | "")', "up::2": '(() | "")'}


@pytest.mark.parametrize("value, number", [
    ("7", 7), ("0x1F", 31), ("_", 0b1010), ("incr(_)", 0b1011), ("decr(_)", 0b1001), ("incr([0:2])", 0b1011), ("incr([1:4])", 0b1100),
    ("incr([3:4])", 0b1010), ("decr([0:1])", 0b1010), ("decr([1:4])", 0b1000), ("set_bit(0)", 0b1011), ("set_bit(1)", 0b1010),
    ("clear_bit(1)", 0b1000), ("clear_bit(63)", 0b1010), ("bit_and(6)", 0b10), ("bit_or(5)", 0b1111),
])
def test_values_of_parameters(value, number):
    assert f"p::{number}" in read(f"start: q::10\nq::_: p::{value}\np::_: \"x\"").rules


@pytest.mark.parametrize("condition, true", [
    ("true", 1), ("not(true)", 0), ("eq(_, 10)", 1), ("ne(_, 10)", 0), ("lt(_, 10)", 0), ("le(_, 10)", 1), ("gt(_, 9)", 1),
    ("ge(_, 11)", 0), ("eq([1:4], 5)", 1), ("eq([0:3], 2)", 1), ("gt([2:64], 2)", 0), ("bit_count_eq(_, 2)", 1), ("bit_count_ne([0:2], 1)", 0),
    ("bit_count_lt(_, 2)", 0), ("bit_count_le(_, 2)", 1), ("bit_count_gt([0:2], 0)", 1), ("bit_count_ge(_, 3)", 0), ("bit_set(1)", 1), ("bit_set(0)", 0), ("bit_clear(2)", 1),
    ("bit_clear(3)", 0), ("is_ones([3:4])", 1), ("is_ones(_)", 0), ("is_zeros([4:64])", 1), ("is_zeros([0:2])", 0),
    ("and(bit_set(1), bit_set(3))", 1), ("and(true, bit_set(0))", 0), ("or(bit_set(0), bit_set(3))", 1), ("or(bit_set(0), not(true))", 0),
])
def test_conditions(condition, true):
    assert rules(f'start: p::10\np::_: "x" %if {condition}')["p::10"] == ('"x"' if true else "()")


# message: a part of it; place: (line, column)
@pytest.mark.parametrize("text, message, place", [
    ("", "no rule named start", (1, 1)),
    ('root: "a"', "rename root", (1, 1)),
    ('START: "a"', "rename START", (1, 1)),
    ('_start: "a"', "rename _start", (1, 1)),
    ("start: 'a'", "double quotes", (1, 8)),
    ("start: \u201ca\u201d", "double quotes", (1, 8)),
    ('start: "a', "no closing quote", (1, 8)),
    ('start: "a\n"', "no closing quote", (1, 8)),
    ('start: "a" /b', "no closing slash", (1, 12)),
    ("start: /[/]/]/", "a slash inside a regex is written \\/", (1, 10)),
    ('start: /a\\b/', "lexeme does not see the text around it", (1, 10)),
    ('start: /a\n(?=b)/', "", (2, 1)),
    ('start: "a"\nunused: /a$b/', "", (2, 9)),
    ('start: "a" $', "only inside a regex", (1, 12)),
    ('start: "a";', "without a semicolon", (1, 11)),
    ('start: "a" \\', "begins nothing", (1, 12)),
    ('start: "\\d"', "/.../ instead", (1, 9)),
    ('start: "ab\\U0001f600"', "not an escape", (1, 11)),
    ('start: "\\u12"', "four hexadecimal digits", (1, 9)),
    ('start: "\\xg0"', "two hexadecimal digits", (1, 9)),
    ('start: "a\tb"', "\\x09", (1, 10)),
    ('start: "\\ud83d"', "lone surrogate", (1, 8)),
    ('start: "\ud83d"', "lone surrogate", (1, 9)),
    ("start: /a/l", "flag 'l'", (1, 11)),
    ('start: Foo', "all lower case", (1, 8)),
    ('start: __a', "at most one underscore", (1, 8)),
    ('start: "a"\nstart: "b"', "defined twice; first in line 1", (2, 1)),
    ('start: A\nA: "a"\n\nA: "b"', "defined twice; first in line 2", (4, 1)),
    ('start: INT\nINT: "a"\n%import common.INT', "defined twice", (3, 1)),
    ('start: exprr\nexpr: "a"', "did you mean expr?", (1, 8)),
    ('start: expr\nEXPR: "a"', "did you mean EXPR?", (1, 8)),
    ("start: INT", "%import common.INT", (1, 8)),
    ('start: "a"\nunused: nothing', "no rule nothing", (2, 9)),
    ('start: "a"\nUNUSED: NOTHING', "no terminal NOTHING", (2, 9)),
    ('start: A\nA: "x" b\nb: "a"', "define it as B", (2, 8)),
    ('start: ~b\nb: "a"', "define it as B", (1, 9)),
    ('start: "a"\n%ignore b\nb: "a"', "define it as B", (2, 9)),
    ('start: A\nA: "a" A?', "recursive (A -> A)", (2, 8)),
    ('start: A\nA: "a" B\nB: "b" | C\nC: A', "recursive (A -> B -> C -> A)", (4, 4)),
    ('start: "a"\nA: B\nB: A', "recursive", (3, 4)),
    ('start: "a" & "b"', "give the expression a name in UPPER CASE", (1, 8)),
    ('start: A\nA: %json {}', "%json cannot stand in the terminal A", (2, 4)),
    ('start: "ab".."z"', "single character", (1, 8)),
    ('start: "a".."zz"', "single character", (1, 13)),
    ('start: "a".."z"i', "no flag", (1, 13)),
    ('start: "z".."a"', "ends before it begins", (1, 8)),
    ('start: "a"..', "last character of the range", (1, 13)),
    ('start: "a"{3,2}', "3 > 2", (1, 11)),
    ('start: "a"{0}', "cannot be 0", (1, 11)),
    ('start: "a"{0,0}', "cannot be 0", (1, 11)),
    ('start: "a"{-1}', "without a sign", (1, 12)),
    ('start: "a"{1.5}', "whole number", (1, 12)),
    ('start: "a"{0x2}', "whole number", (1, 12)),
    ('start: "a"{}', "expected a number, found '}'", (1, 12)),
    ('start: "a"{2,3', "expected '}', found the end of the line", (1, 15)),
    ('start: "a"+?', "takes one repetition", (1, 12)),
    ('start: "a"{2}{3}', "takes one repetition", (1, 14)),
    ('start: "a" ?b\nb: "b"', "blank behind the ?", (1, 12)),
    ('start: ("a"', "expected ')' for the ( of line 1, column 8, found the end of the line", (1, 12)),
    ('start: ("a"\n"b")', "only where that begins with '|'", (1, 12)),
    ('start: ["a")', "expected ']' for the [ of line 1, column 8, found ')'", (1, 12)),
    ('start: "a")', "nothing is open", (1, 11)),
    ('start: "a" |\n  "b"', "begins with '|'", (2, 3)),
    ('start: "a"\n  "b"', "begins with '|'", (2, 3)),
    ('start: "a" b: "c"', "starts a line of its own", (1, 13)),
    ('start = "a"', "name: expression", (1, 7)),
    ('start\n : "a"', "name: expression", (1, 6)),
    ('start: "a" ~', "complement of", (1, 13)),
    ('start: ~~A\nA: "a"', "complement of, found '~'", (1, 9)),
    ('start: "a" -> B', "alias", (1, 15)),
    ('start: "a" -> b "c"', "end of the alternative", (1, 17)),
    ('?START: "a"', "before the name of a rule", (1, 1)),
    ('start: "a"\nA[lazy]: "a"', "attributes stand only on rules", (2, 2)),
    ('start: "a"\na[lasy]: "a"', "did you mean lazy?", (2, 3)),
    ('start: "a"\na[lazy, lazy]: "a"', "stands twice", (2, 9)),
    ('start: "a"\na[lazy=1]: "a"', "no value behind lazy", (2, 8)),
    ('start: "a"\na[stop]: "a"', "the value of stop", (2, 7)),
    ('start: "a"\na[stop=3]: "a"', "the value of stop", (2, 8)),
    ('start: "a"\na[stop=b]: "a"', "the value of stop", (2, 8)),
    ('start: "a"\na[temperature="x"]: "a"', "a number", (2, 15)),
    ('start: "a"\na[temperature=-1]: "a"', "between 0 and 100", (2, 3)),
    ('start: "a"\na[stop="x", suffix="y"]: "a"', "not both", (2, 13)),
    ('start: "a"\na[stop_capture="x"]: "a"', "has neither", (2, 3)),
    ('start: "a"\na[lazy: "a"', "expected ']'", (2, 7)),
    ('start: a\na[lazy]: "a" b\nb: "c"', "the lazy rule a can refer only to terminals", (2, 14)),
    ('start: a\na[suffix=X]: "a"', "there is no terminal X", (2, 10)),
    ('start: a\na[temperature=1]: "a" b\nb: "c"', "one lexeme, or one text of another grammar", (2, 3)),
    ('start: a "b"\na[lazy]: <x>', "a token cannot stand in the lazy rule a", (2, 10)),
    # tokens
    ("start: <[]>", "token ids are written", (1, 8)),
    ("start: <[1-]>", "token ids are written", (1, 8)),
    ("start: <[7-3]>", "no such token ids", (1, 8)),
    ("start: <[^*]>", "no token is left", (1, 8)),
    ("start: A\nA: \"a\" <x>", "a token cannot stand in the terminal A", (2, 8)),
    ('start: A\nA: "a" B\nB: <x>', "B is a token, not text", (2, 8)),
    ('start: "a"\n%declare', "the name of a terminal", (2, 9)),
    ('start: "a"\n%declare b', "the name of a terminal", (2, 10)),
    ('start: "a"\nA: "a"\n%declare A', "defined twice", (3, 10)),
    # other grammars
    ("start: @other", "there is no grammar @other", (1, 8)),
    ("start: @3", "by its name, not by a number", (1, 8)),
    ("start: A\nA: @other", "another grammar (@name) cannot stand in the terminal A", (2, 4)),
    ('start: %lark {\n start: "a"\n', "expected '}' for the { of line 1, column 14", (3, 1)),
    ('start: %lark "a"', "%lark { ... }", (1, 14)),
    ('start: %lark {\n begin: "a"\n}', "no rule named start", (1, 1)),
    ('start: a %lark {\n start: "a"\n a: "b"\n}', "there is no rule a", (1, 8)),
    # pieces of a text
    ('start: %regex {}', "an object with one key", (1, 15)),
    ('start: %regex {"substring_words": "a", "substring_chars": "a"}', "an object with one key", (1, 15)),
    ('start: %regex {"substring_word": "a"}', "did you mean substring_words", (1, 15)),
    ('start: %regex {"substring_chunks": "a"}', "a list of strings", (1, 15)),
    ('start: %regex {"substring_chars": ["a"]}', "takes a string", (1, 15)),
    # templates
    ('start: sep{a}\na: "a"', "there is no template sep", (1, 8)),
    ('start: a{b}\na: "a"\nb: "b"', "a is no template", (1, 8)),
    ('start: sep{"a"}\nsep{x, y}: x y', "has 2 parameters, not 1", (1, 8)),
    ('start: sep\nsep{x, y}: x y', "write sep{x, y}", (1, 8)),
    ('start: "a"\nsep{x}: x yy', "there is no rule yy", (2, 11)),
    ('start: "a"\nsep{x, x}: x', "the name of another parameter", (2, 8)),
    ('start: "a"\nA{x}: x', "only rules can be templates", (2, 1)),
    ('start: sep{("a")}\nsep{x}: x', "an argument of the template", (1, 12)),
    ('start: sep{"a"\nsep{x}: x', "expected ',' or '}'", (1, 15)),
    # parameters
    ('start: a::1\na: "a"', "a has no parameter", (1, 8)),
    ('start: b::1\na: "a"', "there is no parametric rule b", (1, 8)),
    ('start: a\na::_: "a"', "write a::NUMBER", (1, 8)),
    ('start: a::_\na::_: "a"', "no number of its own", (1, 8)),
    ('start: "a" %if bit_set(1)', "no number of its own|it has none", (1, 12)),
    ('start: a::incr([3:3])\na::_: "a"', "no such bits", (1, 16)),
    ('start: a::set_bit(64)\na::_: "a"', "there is no bit 64", (1, 19)),
    ('start: a::18446744073709551616\na::_: "a"', "64 bits", (1, 11)),
    ('start: a::twice(_)\na::_: "a"', "expected a number, _, incr", (1, 11)),
    ('start: "a" %if maybe', "expected a condition", (1, 16)),
    ('start: "a" %if true "b"', "the end of the alternative", (1, 21)),
    ('start: "a"\nA::_: "a"', "only rules have parameters", (2, 1)),
    # priorities
    ('start: A\nA.x: "a"', "a whole number as priority", (2, 3)),
    ('start: A\nA.1.5: "a"', "a whole number as priority", (2, 3)),
    ('start: "a"\n%import common.WSS', "did you mean WS?", (2, 1)),
    ('start: "a"\n%import', "a name to import", (2, 8)),
    ('start: "a"\n%import WS', "a module and what to take from it", (2, 9)),
    ('start: "a"\n%override stat: "b"', "%override changes a definition, and stat has none (did you mean start?)", (2, 11)),
    ('start: "a"\n%extend B: "b"', "B has none", (2, 9)),
    ('start: "a"\n%extend start[lazy]: "b"', "%extend adds alternatives alone", (2, 9)),
    ('start: "a"\n%extend start{x}: x', "%extend adds alternatives alone", (2, 9)),
    ('start: A\n%declare A\n%override A: "b"', "declared to be a token", (3, 11)),
    ('start: "a"\n%override %ignore " "', "expected a rule", (2, 11)),
    ('start: "a"\n%ignor "b"', "did you mean %ignore", (2, 1)),
    ('start: "a"\n%json {}', "cannot begin a statement", (2, 1)),
    ('start: "a" %ignore " "', "expected the end of the line, found '%ignore'", (1, 12)),
    ('start: %json', "needs a JSON value", (1, 13)),
    ('start: %json {"a": ', "not closed", (1, 14)),
    ('start: %json {"a" 1}', "not JSON", (1, 19)),
    ('start: %json {"a": NaN}', "not JSON: NaN", (1, 14)),
    ('start: %json 12', "object, true or false", (1, 14)),
    ('start: "a"\n%llguidance {"lexin": "exact"}', "did you mean lexing?", (2, 13)),
    ('start: "a"\n%llguidance {"lexing": "lazy"}', '"greedy", "exact", not "lazy"', (2, 13)),
    ('start: "a"\n%llguidance {"ignore_once": 1}', "true, false, not 1.0", (2, 13)),
    ('start: "a"\n%llguidance true', "needs a JSON object", (2, 13)),
    ('start: "a"\n  /[z-a]/', "begins with '|'", (2, 3)),
    ('start: "a" /[z-a]/', "", (1, 13)),
    ('start: "a"\nB: /(/', "", (2, 5)),
])
def test_errors_name_the_place(text, message, place):
    with pytest.raises(GrammarError) as caught:
        read(text)
    error = caught.value
    assert any(part in str(error) for part in message.split("|"))
    assert not isinstance(error, UnsupportedKeywordError)
    if not message:                                         # the regex says itself where; here only that it is inside
        assert error.line == place[0] and error.column >= place[1]
    else:
        assert (error.line, error.column) == place


def test_an_error_shows_the_line_with_a_caret():
    with pytest.raises(GrammarError) as caught:
        read('start: "a" b\n\tb: "x" ; "y"\n')
    assert str(caught.value).splitlines()[1:] == ['  \tb: "x" ; "y"', "  \t       ^ (line 2, column 9)"]
    with pytest.raises(GrammarError) as caught:
        read('start: ' + '"a" ' * 1000 + "; " + '"b" ' * 1000)
    _, line, caret = str(caught.value).splitlines()
    assert len(line) < 120 and line[caret.index("^")] == ";" and line.startswith("  ...") and line.endswith("...")


@pytest.mark.parametrize("text, name, place", [
    ('start: "a"\n%import .file.X', ".file.X", (2, 1)),
    ('start: "a"\n%import python.NAME', "python.NAME", (2, 1)),
])
def test_what_is_not_enforced_is_refused_by_name(text, name, place):
    with pytest.raises(UnsupportedKeywordError) as caught:
        read(text)
    assert name in str(caught.value) and (caught.value.line, caught.value.column) == place


def test_hostile_texts_end_in_an_answer_or_an_error():
    deep = 20_000
    assert start("(" * deep + "a" + ")" * deep) == "a"
    body = read("start: " + '("a" ' * deep + ")" * deep).rules["start"].body
    assert sum(isinstance(node, ir.Literal) for node in ir.walk(body)) == deep
    assert start("[" * 100 + "a" + "]" * 100) == "a" + "?" * 100
    with pytest.raises(GrammarError, match="expected '\\)'"):
        read("start: " + "(" * deep)
    with pytest.raises(LimitError, match="1,000,000,000 copies .*line 1, column 12"):
        read('start: "a"{1000000001}')
    with pytest.raises(LimitError, match="copies"):
        read('start: "a"{1' + "0" * 5000 + "}")
    with pytest.raises(LimitError, match="nested too deeply"):
        read("start: %json " + '{"a":' * 100_000 + "1" + "}" * 100_000)
    with pytest.raises(GrammarError, match="is one of"):
        read('start: "a"\n%llguidance {"lexing": ' + "1" * 5000 + "}")
    with pytest.raises(LimitError, match="20,000 rules"):
        read('start: t{"a"}\nt{x}: t{t{x}}')
    with pytest.raises(LimitError, match="20,000 rules"):
        read("start: p::0\np::_: " + " | ".join(f"p::set_bit({i})" for i in range(40)))
    with pytest.raises(LimitError, match="100 conditions"):
        read('start: "a" %if ' + "not(" * 5000)
    with pytest.raises(LimitError, match="64 grammars"):
        read("start: " + "%lark { start: " * 5000)
    assert start("sep{" * 100 + '"a"' + "}" * 100 + "\nsep{x}: x").startswith("sep{sep{")
    chain = "\n".join(f"A{i}: A{i + 1} A{i + 1}" for i in range(2000))
    assert len(read(f'start: A0\n{chain}\nA2000: "a"').terminals) == 2001
    with pytest.raises(GrammarError, match="recursive"):
        read(f"start: A0\n{chain}\nA2000: A0")
