"""Patterns against other engines (`re`, `regex`) and against cases worked out from the standards."""
import itertools
import random
import re
import time

import pytest

from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.errors import GrammarError, LimitError
from llgcy.grammar.regex import Complement, Both, alternate, charset, chars, concat, ecma, literal, parse, search, to_bytes, to_chars, unicode

regex = pytest.importorskip("regex")


def run(store, state, text):
    for symbol in text.encode() if store.alphabet == "bytes" else map(ord, text):
        state = store.step(state, symbol)
        if state == 0:
            return False
    return store.accepts(state)


def whole(pattern, flavor, text, flags="", alphabet="bytes"):
    store = Regexes(alphabet)
    tree = parse(pattern, flavor, flags)
    return run(store, (to_bytes if alphabet == "bytes" else to_chars)(tree, store), text)


def found(pattern, text, flags=""):
    store = Regexes("chars")
    return run(store, search(parse(pattern, "ecma", flags), store), text)


def column(pattern, flavor, flags=""):
    with pytest.raises(GrammarError) as caught:
        parse(pattern, flavor, flags)
    return caught.value.column


# -- Python -----------------------------------------------------------------------------------------------------------
def random_pattern(rng, depth, look):
    """A pattern that `re` and `regex` and ECMA-262 read alike."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(["a", "b", "c", ".", "[ab]", "[^a]", "[^\\n]", r"\w", r"\W", "ab", "", r"\n", r"\d"]
                          + ["^", "$", r"\b", r"\B"] * look)
    kind = rng.randrange(8 if look else 5)
    inner = [random_pattern(rng, depth - 1, look) for _ in range(2)]
    if kind < 2:
        return "".join(inner)
    if kind == 2:
        return f"(?:{inner[0]}|{inner[1]})"
    if kind in (3, 4):
        return f"(?:{inner[0]}){rng.choice(['*', '+', '?', '{2}', '{1,2}', '{2,}', '*?'])}"
    sign = "=" if rng.random() < 0.5 else "!"
    if kind == 7:
        return f"(?<{sign}{inner[0]}){inner[1]}"
    return f"(?{sign}{inner[0]}){inner[1]}"


TEXTS = ["".join(letters) for n in range(5) for letters in itertools.product("ab\n", repeat=n)] + ["-a-", "a-b", "é", "éa", "a b", "bé\n"]


@pytest.mark.parametrize("seed", range(120))
def test_python_against_re(seed):
    rng = random.Random(seed)
    pattern = random_pattern(rng, 3, 0)
    flags = rng.choice(["", "s", "i", "a", "m"])
    oracle = re.compile(f"(?{flags}){pattern}" if flags else pattern)
    for alphabet in ("bytes", "chars"):
        store = Regexes(alphabet)
        state = (to_bytes if alphabet == "bytes" else to_chars)(parse(pattern, "python", flags), store)
        for text in TEXTS:
            assert run(store, state, text) == bool(oracle.fullmatch(text)), (pattern, flags, text)


def outcome(pattern, flags, text):
    """What the `regex` module finds; it takes look-behind of any length."""
    return bool(regex.search(pattern, text, flags))


@pytest.mark.parametrize("seed", range(250))
def test_look_around_anywhere(seed):
    """Search with anchors, word boundaries and look-around inside of repetitions and alternatives."""
    rng = random.Random(7000 + seed)
    pattern = random_pattern(rng, 3, 1).replace("$", r"\Z").replace(r"\d", "[0-9]")
    store = Regexes("chars")
    try:
        state = search(parse(pattern, "python", "a"), store)
    except GrammarError as error:
        assert "inside of a look-behind" in error.message
        return
    for text in TEXTS:
        assert run(store, state, text) == outcome(pattern, regex.ASCII, text), (pattern, text)


@pytest.mark.filterwarnings("ignore:Possible nested set")
@pytest.mark.parametrize("pattern", [
    r"[]a]+", r"[^]a]+", r"[a\-z]+", r"[a-]+", r"[\x61-c]+", r"\141\060", r"\0", r"a{,2}", r"a{2,}", r"a{,}", r"a{x}", r"a{", r"[\b]", r"\N{DIGIT ONE}",
    r"(?P<x>a)b", r"a(?#comment)b", r"(?:a|b)+?c", r"(?i:A)b", r"(?x: a b # no" "\n )c", r"(?s).", r".", r"\Aab\Z", r"ab$", r"(?m)^a$\nb", r"a\.b", "é+", r"\u00e9",
    r"[[a]+", r"(?i)k", r"(?i)\u017f", r"(?i)ß", r"(?i)i", r"(?ia)k", r"(?i)[^k]", r"(?-i:a)", r"(?i)[h-j]", r"\s+", r"\w+", r"\d+", r"(?a)\s", r"()", r"a||b"])
def test_python_constructs(pattern):
    oracle = re.compile(pattern)
    texts = ["", "a", "b", "ab", "aa", "aaa", "]", "-", "a-", "b]", "a{x}", "a{", "\b", "1", "abc", "bc", "aac", "\n", "a\nb", "ab\n", "a.b", "é", "éé", "[a", "k", "K", "\u212a", "s",
             "ſ", "S", "ß", "ẞ", "ss", "SS", "i", "I", "ı", "İ", "h", "\x1c", "\x85", "\xa0", "\u3000", "\u180e", "_", "²", "٣", "Ⅷ", "a0", "\0", "Ab", "A", "a b", "ab c"]
    for alphabet in ("bytes", "chars"):
        for text in texts:
            assert whole(pattern, "python", text, alphabet=alphabet) == bool(oracle.fullmatch(text)), (pattern, text)


def test_case_folding_is_that_of_re():
    """Every character against every cased one; 14.0 is the Unicode version of the oldest Python here."""
    import unicodedata

    from llgcy.grammar.regex import unicode
    cased = [c for row in (unicode.case_variants(c) for c in range(0x20000)) if len(row) > 1 for c in row]
    cased = sorted({c for c in cased if unicodedata.category(chr(c)) != "Cn"} | {0x130, 0x131})
    text, wrong = "".join(map(chr, cased)), []
    from llgcy.grammar.regex.python import Python
    for c in cased:
        expected = set(re.findall(re.escape(chr(c)), text, re.I))
        tree = Python(re.escape(chr(c)), "i").parse()
        got = {chr(x) for first, last in getattr(tree, "ranges", ((c, c),)) for x in range(first, last + 1)} & set(text)
        if got != expected:
            wrong.append((hex(c), sorted(got ^ expected)))
    assert not wrong


def test_named_classes_are_those_of_str():
    import unicodedata

    from llgcy.grammar.regex.python import Python
    reader = Python("", "")
    for letter, test in (("d", str.isdecimal), ("s", str.isspace), ("w", lambda c: c.isalnum() or c == "_")):
        members = {c for first, last in reader.named_class(letter) for c in range(first, last + 1)}
        assigned = [c for c in range(0x110000) if unicodedata.category(chr(c)) != "Cn"]
        assert [c for c in assigned if (c in members) != test(chr(c))] == []


@pytest.mark.parametrize("pattern, place", [
    (r"(a)\1", 4), (r"(?P<x>a)(?P=x)", 9), (r"(?>a)", 1), (r"a++", 2), (r"(?(1)a)", 1), ("a\n(", 1), ("a)", 2), ("[a", 3), (r"\q", 1), ("*", 1), ("a**", 3), ("a{3,2}", 2),
    ("(?", 3), ("[b-a]", 2), (r"\x4", 1), ("a(?i)", 2), ("\\", 2), (r"\N{NO SUCH}", 1), (r"(?P<1>a)", 1), (r"[\w-a]", 2), (r"\400", 1), (r"(?au)a", 1), (r"^*", 2)])
def test_python_errors(pattern, place):
    assert column(pattern, "python") == place
    automaton_cannot = {r"(a)\1", r"(?P<x>a)(?P=x)", r"(?>a)", r"a++"}
    if pattern not in automaton_cannot:
        with pytest.raises((re.error, ValueError)):
            re.compile(pattern)


# -- Rust -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("pattern, yes, no", [
    (r"[a-z&&[^aeiou]]+", "xyz", "xaz"),
    (r"[a-z--[aeiou]]+", "xyz", "xaz"),
    (r"[a-g~~b-z]+", "ahz", "b"),
    (r"[[:alpha:]_]+", "aZ_", "1"),
    (r"[[:^alpha:]]", "1", "a"),
    (r"[a[b-d[x]]]+", "abdx", "e"),
    (r"[^a[b]]", "c", "b"),
    (r"[]a]+", "]a", "b"),
    (r"[^]a]", "b", "]"),
    (r"[-a]+", "-a", "b"),
    (r"[a-]+", "a-", "b"),
    (r"[\w&&\d]", "٣", "a"),
    (r"[a-c&&b-d&&c]", "c", "b"),
    (r"\d", "٣", "a"),
    (r"(?-u)\d", "3", "٣"),
    (r"\w+", "naïve\u0301", "-"),
    (r"\s", "\u3000", "\x1c"),
    (r"\pL+", "aé", "1"),
    (r"\p{Greek}+", "αβ", "a"),
    (r"\p{sc=Greek}", "α", "a"),
    (r"\p{scx:Greek}", "α", "a"),
    (r"\p{gc!=Lu}", "a", "A"),
    (r"\P{upper case letter}", "a", "A"),
    (r"\p{isAlphabetic}", "a", "1"),
    (r"\x41\x{1F600}\u0042\u{43}\U00000044", "A\U0001F600BCD", "A"),
    (r"(?i)straße", "STRAẞE", "STRASSE"),
    (r"(?i)k", "\u212a", "j"),
    (r"(?i)[^k]", "j", "\u212a"),
    (r"(?i)\p{Lu}", "a", "1"),
    (r"(?i)\P{Lu}", "1", "a"),
    (r"(?i)[\P{Ll}]", "1", "A"),
    (r"(?i)[[:^alpha:]]", "1", "\u212a"),
    (r"(?i-u)k", "K", "\u212a"),
    (r"(?s)a.b", "a\nb", "ab"),
    (r"a.b", "a\rb", "a\nb"),
    (r"(?x) a b # comment" "\n c [ d e ]", "abce", "abc "),
    (r"(?U)a+", "aa", ""),
    (r"a(?i)b|c", "C", "A"),
    (r"a(?i:b)c", "aBc", "aBC"),
    (r"(?P<name>a)(?<other>b)", "ab", "a"),
    (r"\Aab\z", "ab", "ab\n"),
    (r"^ab$", "ab", "ab\n"),
    (r"(?m)a$\n^b", "a\nb", "ab"),
    (r"a\b-\B-\bc", "a--c", "a-c"),
    (r"a\b{end}-\b{start}b", "a-b", "ab"),
    (r"\<a\>", "a", "b"),
    (r"a++", "aaa", ""),
    (r"a{2}{3}", "aaaaaa", "aaaaa"),
    (r"\-\#\ \&\~\%", "-# &~%", "-"),
    (r"}]", "}]", "}"),
    (r"[\]\[\-\\]+", "][-\\", "a"),
    (r"[\x00-\x7f--\n]", "\t", "\n"),
    (r"|a", "", "b"),
    (r"[[a-z]&&[^b]]", "a", "b"),
    (r"[a&&b]|c", "c", "a"),
])
def test_rust(pattern, yes, no):
    for alphabet in ("bytes", "chars"):
        assert whole(pattern, "rust", yes, alphabet=alphabet)
        assert not whole(pattern, "rust", no, alphabet=alphabet)


@pytest.mark.parametrize("pattern, place", [
    (r"(a)\1", 4), (r"(?=a)", 1), (r"(?<!a)", 1), (r"\Z", 1), (r"\h", 1), ("a{,3}", 2), ("a{", 2), ("{", 1), ("[a-\\d]", 2), ("[z-a]", 2), ("[a", 3), ("(", 1), (")", 1), ("*", 1),
    (r"\p{Nonsense}", 1), (r"\xZ", 1), (r"(?-u:\xff)", 6), (r"(?-u:.)", 6), (r"(?-u)\pL", 6), (r"(?-u)[é]", 7), ("(?z)", 1), (r"\x{110000}", 1), (r"\u{d800}", 1), (r"[\b]", 2), (r"\0", 1),
    ("(?P<1a>b)", 1), ("(?i-)a", 1), ("a(?i)*", 6)])
def test_rust_errors(pattern, place):
    assert column(pattern, "rust") == place


def test_bytes_that_are_no_utf8():
    store = Regexes("bytes")
    state = to_bytes(parse(r"(?-u:\xff[\x80-\x90]a)", "rust", allow_invalid_utf8=True), store)
    for byte in b"\xff\x85a":
        state = store.step(state, byte)
    assert store.accepts(state)
    with pytest.raises(GrammarError):
        to_chars(parse(r"(?-u:\xff)", "rust", allow_invalid_utf8=True), Regexes("chars"))


# -- ECMA-262 ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("pattern, yes, no", [
    ("a", "xax", "xbx"),
    ("^a", "ab", "ba"),
    ("a$", "ba", "a\n"),
    ("^a|b$", "xb", "xa"),
    ("^(?:a|b)$", "b", "ab"),
    ("", "", None),
    (r"^.$", "\x85", "\u2028"),
    (r"^\s$", "\ufeff", "\u180e"),
    (r"^\S$", "\u200b", "\u00a0"),
    (r"^\d$", "7", "٣"),
    (r"^\w$", "_", "é"),
    (r"^\p{Lu}+$", "AÉ", "a"),
    (r"^\p{General_Category=Uppercase_Letter}$", "A", "a"),
    (r"^\p{Script=Greek}$", "α", "a"),
    (r"^\p{scx=Grek}$", "α", "a"),
    (r"^\P{ASCII}$", "é", "e"),
    (r"^[\p{L}\d]+$", "aé1", "-"),
    (r"^\u{1F600}$", "\U0001F600", "a"),
    (r"^\ud83d\ude00$", "\U0001F600", "a"),
    (r"^.$", "\U0001F600", "ab"),
    (r"^\cJ$", "\n", "J"),
    (r"^\x41\u0042\0$", "AB\0", "AB"),
    (r"^[\b]$", "\b", "b"),
    (r"^(?<year>\d{4})-(?<month>\d\d)$", "2024-05", "24-05"),
    (r"^(?=.*\d)(?=.*[a-z]).{4,8}$", "abc1", "abcd"),
    (r"^(?!.*foo).*$", "bar", "a foo"),
    (r"^((?!foo).)*$", "barfo", "afoo"),
    (r"(?<=\$)\d+", "cost $5", "cost 5"),
    (r"(?<!\$)\b\d+", "cost 5", "cost $5"),
    (r"(?<=a{2,4}|b)c", "aac", "ac"),
    (r"\bcat\b", "a cat", "concat"),
    (r"\Bcat", "concat", "a cat"),
    (r"^\B$", "", "a"),
    (r"a\/b", "a/b", "ab"),
    (r"^[\w-.]+$", "a-.b", "a b"),
    (r"^[\w\-]+$", "a-b", "a b"),
    (r"^\-\_\"\@\!$", "-_\"@!", "a"),
    (r"^{a}]$", "{a}]", "a"),
    (r"^x{2,3}?$", "xx", "x"),
    (r"^[^]$", "\n", ""),
    (r"^(?i:AB)c$", "abc", "abC"),
    (r"^(?s:.)$", "\n", "ab"),
    (r"(?m:^b$)", "a\nb\u2028c", "a b"),
    (r"a(?=b)", "ab", "ac"),
    (r"a(?!b)", "ac", "ab"),
    (r"(?:a(?=b|$)b?)+$", "xaba", "xac"),
    (r"^(?:(?=a)a|b)*$", "abab", "ac"),
    (r"(?=a)*b", "b", "a"),
    (r"(?:(?<=a))+b", "ab", "b"),
    (r"^(?:^)*a", "a", "ba"),
    (r"^[^\d\s]+$", "ab", "a1"),
])
def test_ecma(pattern, yes, no):
    assert found(pattern, yes)
    assert no is None or not found(pattern, no)


@pytest.mark.parametrize("flags, pattern, yes, no", [
    ("i", "^k$", "\u212a", "j"), ("i", r"^\w$", "\u017f", "é"), ("i", "^ß$", "ẞ", "ss"), ("i", "^[^k]$", "j", "\u212a"), ("s", "^.$", "\n", ""),
    ("i", r"^\P{Lu}$", "A", "ab"), ("m", "^a$", "b\na", "ba"), ("u", "a", "a", "b")])
def test_ecma_flags(flags, pattern, yes, no):
    assert found(pattern, yes, flags)
    assert not found(pattern, no, flags)


@pytest.mark.parametrize("pattern, place", [
    (r"(a)\1", 4), (r"(?<x>a)\k<x>", 8), (r"\A", 1), (r"\Z", 1), (r"\a", 1), (r"\01", 1), (r"\c1", 1), (r"\p{lu}", 1), (r"\p{Script=greek}", 1), (r"\pL", 1), (r"(?>a)", 1), (r"(?P<x>a)", 1),
    ("a**", 3), ("a{,3}", 2), ("[b-a]", 2), (r"[\1]", 2), ("(", 1), (")", 1), ("[", 2), ("+", 1), (r"\u{110000}", 1), ("(?<1>a)", 1), ("(?ii:a)", 1), ("(?<=a)*", 7), (r"[\p{L}-z]", 7), (r"\x1", 1), (r"\u12", 1)])
def test_ecma_errors(pattern, place):
    assert column(pattern, "ecma") == place


def test_a_lone_surrogate_is_in_no_text():
    store = Regexes("chars")
    assert store.is_empty(search(parse(r"\ud800", "ecma"), store))
    assert not store.is_empty(search(parse(r"[\ud800a]", "ecma"), store))


# -- all flavours -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ranges", [[(0, 0x10FFFF)], [(0x80, 0x80)], [(0x7F, 0x800)], [(0xD000, 0xE500)], [(0xFFFF, 0x10000), (0x10FFFF, 0x10FFFF)], [(5, 5), (0x3042, 0x30FF), (0x20000, 0x2A6DF)]])
def test_utf8_of_a_set(ranges):
    store = Regexes("bytes")
    state = to_bytes(chars(ranges), store)
    borders = {p + d for a, b in ranges for p in (a, b) for d in (-2, -1, 0, 1, 2)} | {0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0xD7FF, 0xE000}
    rng = random.Random(1)
    for c in borders | {rng.randrange(0x110000) for _ in range(300)}:
        if 0 <= c <= 0x10FFFF and not 0xD800 <= c <= 0xDFFF:
            assert run(store, state, chr(c)) == any(a <= c <= b for a, b in ranges), hex(c)
    # whatever is accepted is one character in strict UTF-8
    todo = [(b"", state)]
    while todo:
        text, at = todo.pop()
        if store.accepts(at):
            assert len(text.decode("utf-8")) == 1
        for first, last, after in store.edges(at):
            todo += [(text + bytes([byte]), after) for byte in {first, last}]


def test_complement_is_of_texts():
    store = Regexes("bytes")
    state = to_bytes(Complement(literal("é")), store)
    assert run(store, state, "") and run(store, state, "e") and run(store, state, "éé") and not run(store, state, "é")
    assert store.step(state, 0xFF) == 0
    both = to_bytes(Both((parse("[a-z]+"), Complement(parse("if|else")))), store)
    assert run(store, both, "iff") and not run(store, both, "if") and not run(store, both, "")


def test_built_by_hand():
    store = Regexes("bytes")
    tree = concat([literal("ab"), alternate([literal("Stra\u00dfe", ignore_case=True), chars([(48, 57)])])])
    state = to_bytes(tree, store)
    assert run(store, state, "abSTRA\u1e9eE") and run(store, state, "ab7") and not run(store, state, "ABstrasse")


def test_lexemes_do_not_look_around():
    store = Regexes("bytes")
    assert run(store, to_bytes(parse("^ab$", "rust"), store, look_around=False), "ab")
    for pattern in (r"a\b", "a^b", "(?m)^a", "(a$)b"):
        with pytest.raises(GrammarError) as caught:
            to_bytes(parse(pattern, "rust"), store, look_around=False)
        assert caught.value.column


@pytest.mark.parametrize("flavor", ["python", "rust", "ecma"])
def test_depth_and_length_meet_no_recursion(flavor):
    deep = 20_000
    store = Regexes("bytes", Budget(64 << 20, "the test"))
    assert run(store, to_bytes(parse("(" * deep + "a" + ")" * deep, flavor), store), "a")
    for pattern in ("(?:a|" * deep + "b" + ")*" * deep, "(?:b" * deep + ")?" * deep, "(?:(?=a)" * deep + ")?" * deep):
        try:
            assert run(store, to_bytes(parse(pattern, flavor if "=" not in pattern else "python"), store), "b" * (pattern[3] != "("))
        except LimitError:
            pass            # every state is as large as the pattern
    for pattern in ("(" * deep, ")", "a{" + "9" * 5000 + "}", "(?:" * deep + "a" + "){9}" * deep):
        with pytest.raises((GrammarError, LimitError)):
            to_bytes(parse(pattern, flavor), store)


def test_big_alternations_are_quick():
    rng = random.Random(5)
    names = ["".join(rng.choices("abcdefghij", k=8)) for _ in range(10_000)]
    began = time.perf_counter()
    store = Regexes("bytes")
    state = to_bytes(parse("|".join(names), "rust"), store)
    assert run(store, state, names[77]) and not run(store, state, "zz")
    assert time.perf_counter() - began < 5        # quadratic work takes minutes


def test_compiled_patterns_keep_their_flags():
    store = Regexes("bytes")
    state = to_bytes(parse(re.compile("a b # and a number" "\n" r"\d", re.I | re.X | re.A)), store)
    assert run(store, state, "AB7") and not run(store, state, "ab\u0663")
    with pytest.raises(TypeError):
        parse(re.compile(b"a"))
    with pytest.raises(ValueError):
        parse(re.compile("a"), "rust")


def test_unknown_names():
    with pytest.raises(ValueError):
        parse("a", "perl")
    with pytest.raises(GrammarError):
        parse("a", "rust", "q")
    with pytest.raises(ValueError):
        to_bytes(parse("a"), Regexes("chars"))


def test_white_space_of_ecma():
    """ECMA-262: TAB, VT, FF, ZWNBSP and USP, all of the category Zs; and the line terminators."""
    assert ecma.SPACE == charset.union(unicode.category("Zs"), charset.single("\t\v\f\ufeff\n\r\u2028\u2029"))
