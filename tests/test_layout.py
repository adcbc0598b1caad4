"""White space, separators and escapes: against json.dumps, a plain reader of gaps, and llguidance."""
import json
import random
import re

import pytest

import llgcy
from llgcy.core.unescape import advance_position, ending, escape_set, may_follow, position_targets
from llgcy.errors import GrammarError, UnsatisfiableError
from llgcy.schema.layout import Layout, guidance
from llgcy.standin import StandIn

SCHEMA = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {"type": "object"}, "c": {"type": "string"}}}
VALUES = [{}, {"a": []}, {"a": [1]}, {"a": [1, 20, -3], "b": {"x": {}, "y": [{"z": []}, None], "w\n": "\u00e9"}}, {"b": {"": {"": {"": 1}}}},
          {"c": 'q"\\/\n\x01\x7f\u20ac\U0001f600'}]
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def grammar(schema=SCHEMA, **options):
    return llgcy.Grammar.from_json_schema(schema, property_order="any", **options)


def gaps(text):
    """What stands between the tokens of a JSON text, commas and colons included, with what kind of gap it is."""
    found, at, kind, opened = [], 0, "around", []
    for match in TOKEN.finditer(text):
        token = match[0]
        if token in ",:":
            continue
        space = text[at:match.start()]
        close = token in "}]"
        if close:
            opened.pop()
        found.append(("first" if kind == "first" else "close" if close else "around" if kind == "around" else "name" if kind == "name" else "next", space))
        at = match.end()
        if token in "{[":
            opened.append(token)
            kind = "first"
        elif not opened:
            kind = "around"
        elif kind != "name" and opened[-1] == "{" and token[0] == '"' and text[at:].lstrip()[:1] == ":":
            kind = "name"
        else:
            kind = "next"
    found.append(("around", text[at:]))
    return found


def laid(text, white, item, key, surrounded):
    """Whether the gaps of a JSON text are what the patterns say."""
    white = f"(?:{white})?"
    patterns = {"first": white, "close": white, "next": f"{white}(?:{item}){white}", "name": f"{white}(?:{key}){white}", "around": white if surrounded else ""}
    return all(re.fullmatch(patterns[kind], space) for kind, space in gaps(text))


def spread(value, r, spaces):
    """A JSON text of a value with random white space."""
    return "".join(r.choice(spaces) + token + r.choice(spaces) for token in TOKEN.findall(json.dumps(value, ensure_ascii=False)))


def endings(g, text):
    """What completion makes of beginnings of a text."""
    data = text.encode()
    for i in range(0, len(data) + 1, 1 + len(data) // 30):
        matcher = g._by_bytes.matcher()
        assert matcher.accept_bytes(data[:i])
        yield (data[:i] + matcher.completion()).decode()


# ---------------------------------------------------------------------------------------------------------- json.dumps

@pytest.mark.parametrize("indent", [0, 1, 3])
@pytest.mark.parametrize("value", VALUES[1:])
def test_indented_documents_are_what_json_dumps_writes(indent, value):
    g = grammar(whitespace=f"indent={indent}", escapes="needed")
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert g.accepts(text)
    for done in endings(g, text):
        assert json.dumps(json.loads(done), indent=indent, ensure_ascii=False) == done
    for i in range(len(text)):          # one character more or less is another layout or another document
        for other in (text[:i] + text[i + 1:], text[:i] + " " + text[i:], text[:i] + "\n" + text[i:]):
            try:
                same = json.dumps(json.loads(other), indent=indent, ensure_ascii=False) == other
            except ValueError:
                same = False
            assert g.accepts(other) == (same and llgcy.Validator(SCHEMA).is_valid(other)), other


@pytest.mark.parametrize("separators", [(", ", ": "), (" ,\n", " : ")])
@pytest.mark.parametrize("value", VALUES[1:])
def test_separators_are_those_of_json_dumps(separators, value):
    g = grammar(separators=separators, escapes="needed")
    text = json.dumps(value, separators=separators, ensure_ascii=False)
    assert g.accepts(text) and not g.accepts(text + " ") and not g.accepts(" " + text)
    for done in endings(g, text):
        assert json.dumps(json.loads(done), separators=separators, ensure_ascii=False) == done
    for other in [(",", ":"), (", ", ": "), (",", ": ")]:
        other = json.dumps(value, separators=other, ensure_ascii=False)
        assert g.accepts(other) == (other == text)


def test_indented_documents_may_have_white_space_around_them_by_option():
    g = grammar(whitespace="indent=2", surrounding_space=True)
    assert g.accepts('\n {\n  "c": ""\n} \n') and not g.accepts('{\n "c": ""\n}') and not g.accepts(" " * 129 + "{}")


# ---------------------------------------------------------------------------------------------------------- patterns

LAYOUTS = [dict(), dict(whitespace="compact"), dict(max_whitespace=1), dict(whitespace_pattern="[ ]{1,2}"), dict(whitespace_pattern=r"\n[ ]?|\t"),
           dict(item_separator=", ?"), dict(whitespace="compact", item_separator=r" , |,\n", key_separator=r":[ ]{0,2}"),
           dict(surrounding_space=True, whitespace_pattern="  ", key_separator="[ \\n]:"), dict(surrounding_space=True), dict(whitespace="compact", surrounding_space=True)]


def patterns_of(options):
    layout = Layout.of(**options)
    white = layout.whitespace_pattern or (r"[ \t\n\r]{0,%d}" % layout.max_whitespace if layout.whitespace == "flexible" else "")
    around = white if layout.whitespace != "compact" or not layout.surrounding_space else white
    return around, layout.item_separator, layout.key_separator, layout.surrounding_space


@pytest.mark.parametrize("options", LAYOUTS, ids=str)
def test_gaps_are_what_the_options_say(options):
    r, g, patterns = random.Random(str(options)), grammar(**options), patterns_of(options)
    accepted = 0
    for value in VALUES[:4]:
        texts = [spread(value, r, spaces) for spaces in (["", " "], ["", "", "", " "], [""], ["", "  "], ["\n", ""], ["", "\t", "\n ", " "]) for _ in range(4)]
        texts += [json.dumps(value, separators=s, ensure_ascii=False) for s in [(",", ":"), (", ", ": "), (" , ", ":"), (",\n", ":  "), (",", " :")]]
        for text in texts:
            expected = laid(text, *patterns)
            assert g.accepts(text) == expected, text
            accepted += expected
            if expected and len(text) < 30 and r.random() < .2:
                for done in endings(g, text):
                    assert laid(done, *patterns) and llgcy.Validator(SCHEMA).is_valid(done), done
    assert accepted > 3


def test_the_default_gap():
    assert grammar().accepts("{" + " " * 128 + "}") and not grammar().accepts("{" + " " * 129 + "}")
    assert grammar(max_whitespace=1000).accepts("{" + " " * 1000 + "}") and not grammar(max_whitespace=0).accepts("{ }")


@pytest.mark.parametrize("options", [dict(whitespace="indent=1"), dict(separators=(", ", ": ")), dict(whitespace_pattern="[ ]{0,3}", item_separator=", "),
                                     dict(whitespace="compact", item_separator=" , ")], ids=str)
@pytest.mark.parametrize("schema", [{"maxProperties": 0, "type": "object"}, {"maxItems": 0, "type": "array"}, {"type": "array", "minItems": 1, "items": {"const": 1}},
                                    {"type": "array", "maxItems": 1}, {"type": "array", "uniqueItems": True, "items": {"enum": [1, 10, "a"]}, "minItems": 2}, {"type": "object", "required": ["a"], "additionalProperties": False, "properties": {"a": {"const": []}}},
                                    {"const": {"a": [{}], "b": [[], 1]}}, {"type": "array", "minItems": 3, "maxItems": 3, "items": {"type": ["null", "integer"]}}], ids=str)
def test_no_white_space_leads_where_nothing_may_follow(options, schema):
    tokenizer = llgcy.Tokenizer.single_byte()
    g = grammar(schema, **options)
    compiled, mask = llgcy.compile(g, tokenizer), llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    seen, todo, steps = set(), [b""], 0
    while todo and steps < 60:
        text = todo.pop()
        matcher = compiled.matcher()
        assert matcher.accept_bytes(text)
        done = text + matcher.completion()
        assert g.accepts(done) and llgcy.Validator(schema).is_valid(done), done
        matcher.fill_next_token_bitmask(mask)
        allowed = [i for i in range(257) if mask[0, i // 32] >> i % 32 & 1]
        assert allowed
        for byte in b' \n\t{}[],:"a01n':
            assert matcher.validate_tokens([byte]) == (byte in allowed)
        steps += 1
        todo += [text + bytes([byte]) for byte in allowed if byte < 256 and byte in b' \n{}[],:"a10' and len(text) < 24]
    assert steps >= 3


@pytest.mark.parametrize("options", [dict(whitespace="indent=2"), dict(separators=(", ", ": "), escapes="needed"), dict(whitespace_pattern="[ ]{1,3}", escapes="short"),
                                     dict(escapes="needed", whitespace="indent=0", property_order="schema")], ids=str)
def test_masks_are_what_single_steps_say(options):
    tokenizer = llgcy.Tokenizer.default()
    schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, "tags": {"type": "array", "items": {"enum": ["t\n", "x", 1]}, "maxItems": 3},
                                               "more": {"type": "object"}, "text": {"pattern": "^[a-f\n]*$"}}, "required": ["name", "tags"]}
    g = llgcy.Grammar.from_json_schema(schema, **options)
    compiled, mask = llgcy.compile(g, tokenizer), llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    validator = llgcy.Validator(schema)
    for seed in range(3):
        matcher, model, ids = compiled.matcher(), StandIn(tokenizer, seed=seed), []
        while not matcher.is_terminated() and len(ids) < 40:
            matcher.fill_next_token_bitmask(mask)
            allowed = [i for i in range(tokenizer.vocab_size) if mask[0, i // 32] >> i % 32 & 1]
            assert allowed
            if len(ids) % 9 == seed:
                inside = set(allowed)
                for token in range(tokenizer.vocab_size):
                    assert (matcher.validate_tokens([token]) == 1) == (token in inside), (tokenizer.decode_bytes(ids), tokenizer.token_bytes(token))
            ids.append(model.choose(mask[0]))
            assert matcher.accept_token(ids[-1])
        text = tokenizer.decode_bytes(ids) + (b"" if matcher.is_terminated() else matcher.completion())
        assert validator.is_valid(text) and g.accepts(text)


@pytest.mark.parametrize("escapes", ["needed", "short", 'nu"\\'])
@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "string", "pattern": "b[cd]"}, {"type": "string", "minLength": 3, "maxLength": 20},
                                    {"type": "string", "not": {"pattern": "[\n/]"}}, {"enum": ["a\n", "tags", "x" * 30]}, {"type": "object", "maxProperties": 2}], ids=str)
def test_masks_inside_of_strings_with_fewer_escapes(schema, escapes):
    tokenizer = llgcy.Tokenizer.default()
    compiled, mask = llgcy.compile(grammar(schema, escapes=escapes), tokenizer), llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    for text in (b'"', b'"ab', b'"abc', b'"\\', b'"a\\u00', b'"x' + b"y" * 12, b'{"', b'{"a\\', b'{"a":{"'):
        matcher = compiled.matcher()
        if matcher.accept_bytes(text):
            matcher.fill_next_token_bitmask(mask)
            for token in range(tokenizer.vocab_size):
                allowed = mask[0, token // 32] >> token % 32 & 1
                assert matcher.validate_tokens([token]) == allowed, (text, tokenizer.token_bytes(token))


# ---------------------------------------------------------------------------------------------------------- escapes

SPELLINGS = {"any": lambda c, s: True,
             "needed": lambda c, s: s == json.dumps(c, ensure_ascii=False)[1:-1] or ord(c) < 32 and len(s) == 6 and s.lower() == json.dumps(c)[1:-1],
             "short": lambda c, s: len(s) < 6 and s != r"\/" or len(s) == 6 and (ord(c) < 32 or ord(c) == 127),
             'nr"\\U': lambda c, s: len(s) in (6, 12) or s[0] != "\\" or s[1] in 'nr"\\',
             'tu"\\': lambda c, s: s[0] != "\\" or s[1] in 't"\\' or len(s) == 6 and (ord(c) < 32 or ord(c) == 127)}


def spellings(char):
    """All JSON spellings of a character."""
    units = char.encode("utf-16-be").hex()
    hexes = ["".join(rf"\u{units[i:i + 4]}" for i in range(0, len(units), 4))]
    hexes.append(hexes[0][:2] + hexes[0][2:].upper().replace("\\U", "\\u"))
    raw = [char] if ord(char) >= 32 and char not in '"\\' else []
    short = [rf"\{x}" for x, c in zip('"\\/bfnrt', '"\\/\b\f\n\r\t') if c == char]
    return list(dict.fromkeys(raw + short + hexes))


@pytest.mark.parametrize("escapes", SPELLINGS)
def test_each_escape_is_allowed_or_not_wherever_it_stands(escapes):
    allowed = SPELLINGS[escapes]
    for char in ["t", '"', "\\", "/", "\b", "\n", "\t", "\0", "\x0b", "\x1f", "\x7f", "\u00e9", "\U0001f600"]:
        free, name, constant = (grammar(s, escapes=escapes) for s in (
            {"type": "string"}, {"properties": {"t" + char: {"const": 1}}, "additionalProperties": False}, {"enum": [char + "x", 1]}))
        pattern = grammar({"type": "string", "pattern": f"^{re.escape(char) if char in '/' else '[' + chr(92) + 'u{' + format(ord(char), 'x') + '}]'}x?$"}, escapes=escapes)
        for spelling in spellings(char):
            expected = bool(allowed(char, spelling))
            assert free.accepts(f'"{spelling}"') == expected, (char, spelling)
            assert free.accepts(f'"ab{spelling}cd"') == expected
            assert name.accepts(f'{{"t{spelling}":1}}') == expected
            assert constant.accepts(f'"{spelling}x"') == expected
            assert pattern.accepts(f'"{spelling}x"') == expected, (char, spelling)
        for g in (free, name, constant, pattern):
            for text in (b'{"', b'{"t\\', b'"\\', b'"\\u00', b'"', b'"ab\\u'):
                matcher = g._by_bytes.matcher()
                if matcher.accept_bytes(text):
                    assert g.accepts(text + matcher.completion())


def test_escapes_that_lead_nowhere_are_refused_at_once():
    g = grammar({"type": "string", "pattern": "^[a-z]+$"}, escapes="needed")
    matcher = g._by_bytes.matcher()
    assert matcher.accept_bytes(b'"abc') and not matcher.accept_bytes(b"\\")
    g = grammar({"properties": {"tags": {}}, "additionalProperties": False}, escapes="short")
    matcher = g._by_bytes.matcher()
    assert matcher.accept_bytes(b'{"t') and not matcher.accept_bytes(b"\\")
    matcher = grammar({"enum": ["\x01", "\x0f"]}, escapes="needed")._by_bytes.matcher()
    assert matcher.accept_bytes(rb'"\u00') and not matcher.accept_bytes(b"1") and matcher.accept_bytes(b"0")
    assert not matcher.accept_bytes(b"2") and matcher.accept_bytes(b'1"')


@pytest.mark.parametrize("letters, by_u", [('"\\/bfnrtu', "controls"), ('"\\bfnrtu', "needed"), ('"\\u', "any"), ('"\\nu', "controls")])
def test_positions_know_what_may_still_come(letters, by_u):
    allowed, controls = escape_set(letters, by_u), {"any": range(0x110000), "controls": [*range(32), 127], "needed": [*range(8), 11, *range(14, 32)]}[by_u]
    short = {c for x, c in zip('"\\/bfnrt', b'"\\/\b\f\n\r\t') if x in letters}
    position, _ = advance_position(0, ord("\\"))
    targets = {c for low, high in position_targets(position, allowed) for c in range(low, high + 1)}
    assert targets == {c for c in {*controls, *short} if not 0xD800 <= c < 0xE000}
    for char in sorted(targets)[:200]:
        spelling, at, done = b"\\" + ending(position, char, allowed), 0, None
        for byte in spelling:
            assert at == 0 or may_follow(at, allowed, byte), (char, spelling)
            at, done = advance_position(at, byte)
        assert done == char


# ---------------------------------------------------------------------------------------------------------- options

@pytest.mark.parametrize("options", [dict(whitespace="loose"), dict(whitespace="indent=65"), dict(whitespace="indent=x"), dict(whitespace=3), dict(max_whitespace=-1),
                                     dict(max_whitespace="3"), dict(separators=","), dict(separators=(",", ":"), item_separator=","), dict(escapes="x"), dict(escapes='"n'),
                                     dict(whitespace="compact", whitespace_pattern=" "), dict(whitespace="indent=2", item_separator=", "),
                                     dict(item_separator=";"), dict(item_separator=",,"), dict(item_separator=""), dict(item_separator="(,"), dict(key_separator=","),
                                     dict(key_separator=":?"), dict(whitespace_pattern="x"), dict(whitespace_pattern="[^ ]"), dict(whitespace_pattern="[ ]{0,9999}"), dict(separators=(", x", ":"))])
def test_options_that_make_no_sense(options):
    with pytest.raises(ValueError):
        grammar(**options)


def test_layouts_are_saved_and_compared():
    import pickle
    for options in (dict(whitespace="indent=2"), dict(separators=(", ", ": "), escapes="needed"), dict(max_whitespace=3, surrounding_space=True)):
        g = grammar(**options)
        again = pickle.loads(pickle.dumps(g))
        assert again._content() == g._content()
        for text in ('{\n  "c": ""\n}', '{"c": ""}', '   {"c":""}', '{    "c":""}'):
            assert again.accepts(text) == g.accepts(text)
    assert grammar(separators=(", ", ": "))._content() != grammar()._content()


# ---------------------------------------------------------------------------------------------------------- x-guidance

def test_what_x_guidance_says():
    said = {"item_separator": ", ?", "key_separator": ":", "whitespace_flexible": False, "coerce_one_of": True, "lenient": True, "json_allowed_escapes": 'nu"\\',
            "json_allow_general_unicode_escapes": True}
    assert guidance({"x-guidance": said}) == {"item_separator": ", ?", "key_separator": ":", "whitespace": "compact", "lenient": True, "escapes": 'nU"\\'}
    assert guidance({}) == guidance(True) == guidance({"x-guidance": {"coerce_one_of": True, "whitespace_pattern": None}}) == {}
    for wrong in ({"unheard_of": 1}, {"lenient": 1}, {"item_separator": None}, 3, []):
        with pytest.raises(GrammarError) as caught:
            llgcy.Grammar.from_json_schema({"x-guidance": wrong})
        assert caught.value.pointer.startswith("/x-guidance")
    g = llgcy.Grammar.from_json_schema(json.dumps({**SCHEMA, "x-guidance": {"whitespace_flexible": False}}))
    assert g.accepts('{"a":[1]}') and not g.accepts('{"a": [1]}')
    g = llgcy.Grammar.from_json_schema({**SCHEMA, "x-guidance": {"whitespace_flexible": False}}, whitespace="flexible")      # the caller has the last word
    assert g.accepts('{"a": [1]}')
    g = llgcy.Grammar.from_json_schema({"pattern": r"(a)\1", "x-guidance": {"lenient": True}})
    assert g.warnings and g.accepts('"b"')
    assert llgcy.Validator({"type": "null", "x-guidance": {"whitespace_flexible": False}}).is_valid(" null ")
    one_of = {"oneOf": [{"minimum": 1}, {"minimum": 5}], "type": "integer", "x-guidance": {"coerce_one_of": True}}
    assert llgcy.Grammar.from_json_schema(one_of).accepts("3") and not llgcy.Grammar.from_json_schema(one_of).accepts("7")
    assert {e.pointer: e.status for e in llgcy.check_schema({"x-guidance": {"lenient": True}})} == {"/x-guidance": "enforced"}
    with pytest.raises(UnsatisfiableError):
        llgcy.Grammar.from_json_schema({"not": {}, "x-guidance": {}})


@pytest.mark.parametrize("said", [{}, {"whitespace_flexible": False}, {"whitespace_pattern": "[ ]{0,2}"}, {"whitespace_pattern": r"\n?[ ]?"}, {"item_separator": ", ?"},
                                  {"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}, {"key_separator": "[ ]?:", "whitespace_pattern": "\n"},
                                  {"json_allowed_escapes": 'u"\\'}, {"json_allowed_escapes": 'nbtu"\\', "json_allow_general_unicode_escapes": True},
                                  {"json_allow_general_unicode_escapes": True}], ids=str)
def test_x_guidance_means_what_llguidance_takes_it_for(said):
    llguidance = pytest.importorskip("llguidance")
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "c": {"type": "string"}}, "additionalProperties": False,
              "x-guidance": said}
    tokenizer = llguidance.LLTokenizer("byte")
    made = llguidance.LLMatcher(tokenizer, json.dumps({"grammars": [{"json_schema": schema}]}), log_level=0)
    assert not made.is_error(), made.get_error()
    options = {} if any("escapes" in name for name in said) else {"escapes": "short"}     # llguidance's default is not ours
    g, r = llgcy.Grammar.from_json_schema(schema, **options), random.Random(str(said))
    texts = [spread(v, r, spaces) for v in VALUES[:3] + [{"a": [1, 2], "c": "x"}] for spaces in ([""], ["", " "], ["", "", "", " "], ["", "\n", " "], ["", "  "])
             for _ in range(10)]
    texts += [json.dumps(v, separators=s) for v in VALUES[:3] + [{"a": [1, 2, 3], "c": "x"}] for s in ((", ", ": "), (",", " :"), (",", ":"))]
    texts += ['{"c":"%s"}' % s for c in 'a"\\\b\n\t\x01\u00e9\U0001f600' for s in spellings(c)]
    agreed = 0
    for text in texts:
        matcher = made.deep_copy()
        tokens = tokenizer.tokenize_str(text)
        theirs = matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()
        assert g.accepts(text) == theirs, text
        agreed += theirs
    assert agreed > 3


def test_an_unknown_option_is_answered_with_all_that_there_are():
    """What the message names is an option, and every option of a JSON Schema is named."""
    names = {"draft", "property_order", "number_spelling", "formats", "resources", "openapi", "lenient", "whitespace", "max_whitespace",
             "whitespace_pattern", "separators", "item_separator", "key_separator", "surrounding_space", "escapes"}
    with pytest.raises(TypeError, match="unknown option 'white_space'; the options are ") as raised:
        llgcy.Grammar.from_json_schema({}, white_space="compact")
    assert set(str(raised.value).partition("the options are ")[2].split(", ")) == names
