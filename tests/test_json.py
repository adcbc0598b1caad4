"""JSON documents under schemas, byte by byte and token by token: verdicts of jsonschema-rs, masks by brute force."""
import json
import random

import numpy
import pytest

import llgcy

jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="the judge of what is valid")

ANY = {"property_order": "any", "number_spelling": "any"}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
                   "tags": {"type": "array", "items": {"enum": ["red", "blue", "a\"b"]}, "maxItems": 3},
                   "home": {"$ref": "#/$defs/place"}},
    "required": ["name", "age"], "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"street": {"type": "string"}, "next": {"$ref": "#/$defs/place"}},
                        "required": ["street"]}}}
SCHEMAS = {
    "anything": True,
    "person": PERSON,
    "map of integers": {"type": "object", "additionalProperties": {"type": "integer"}},
    "few keys": {"type": "object", "patternProperties": {"^[ab]$": {"type": "null"}}, "additionalProperties": False,
                 "minProperties": 1},
    "patterns that overlap": {"type": "object", "properties": {"ab": {"type": "string"}},
                              "patternProperties": {"^a": {"maxLength": 2}, "b$": {"minLength": 2}}},
    "counted": {"type": "object", "minProperties": 2, "maxProperties": 3, "properties": {"a": {}, "b": {}}},
    "union of objects": {"anyOf": [
        {"type": "object", "properties": {"kind": {"const": "x"}, "v": {"type": "integer"}}, "required": ["kind", "v"]},
        {"type": "object", "properties": {"kind": {"const": "y"}, "v": {"type": "string"}}, "required": ["kind"]}]},
    "union of kinds": {"type": ["integer", "string", "null", "array"], "maxLength": 3, "items": {"type": "boolean"}},
    "numbers": {"type": "array", "items": {"type": "number", "minimum": -1.5, "exclusiveMaximum": 20, "multipleOf": 0.5}},
    "tuple": {"prefixItems": [{"const": 1}, {"type": "string"}], "items": False, "minItems": 1},
    "long strings": {"type": "array", "items": {"type": "string", "minLength": 3, "maxLength": 5}},
    "bounds on items": {"type": "array", "items": {"enum": [1, 2]}, "minItems": 2, "maxItems": 5},
    "bounds on tuples": {"prefixItems": [{"type": "integer"}, {"type": "null"}], "items": {"type": "array", "maxItems": 2}, "minItems": 4, "maxItems": 6},
    "unions of bounds": {"anyOf": [{"type": "array", "maxItems": 3, "items": {"type": "integer"}},
                                   {"type": "array", "minItems": 2, "maxItems": 7, "items": {"type": ["integer", "null"]}}]},
    "a pattern": {"type": "string", "pattern": "^[a-z]{2,4}(-[0-9]+)?$"},
    "nested": {"type": "array", "items": {"type": "array", "items": {"type": "array", "maxItems": 2}, "minItems": 1}},
    "different strings": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "different strings of few kinds": {"type": "array", "items": {"pattern": "^(a|b.*|[x-z]{0,2})$"}, "uniqueItems": True},
    "different scalars": {"type": "array", "items": {"type": ["string", "integer", "boolean"], "minimum": 0, "maximum": 12, "maxLength": 2},
                          "uniqueItems": True, "minItems": 2},
    "different constants": {"type": "array", "items": {"enum": ["a", "ab", 1, 12, [1], {"a": 1}]}, "uniqueItems": True, "minItems": 3},
    "different objects": {"type": "array", "uniqueItems": True, "items": {
        "type": "object", "properties": {"a": {"enum": [1, 12]}, "b": {"type": "string", "maxLength": 1}}, "additionalProperties": False}},
    "different anything": {"type": "array", "items": {"anyOf": [{"type": "object", "items": False}, {"type": "array"}, {"type": "integer"}]},
                           "uniqueItems": True},
    "different lists": {"type": "array", "uniqueItems": True, "minItems": 3, "items": {
        "type": "array", "items": {"enum": [True, False, 1]}, "maxItems": 2, "uniqueItems": True}},
    "different in one branch": {"type": "array", "anyOf": [{"items": {"type": "string"}, "uniqueItems": True}, {"items": {"type": ["string", "null"]}}]},
    "different in turn": {"type": "array", "prefixItems": [True, {"const": None}, {"enum": [1, "a"]}], "maxItems": 4, "uniqueItems": True},
    "a pair": {"type": "array", "maxItems": 2, "not": {"uniqueItems": True},
               "items": {"type": ["string", "array", "object", "boolean"], "items": {"type": ["string", "null"]}, "additionalProperties": {"type": "null"}}},
    "two are equal": {"type": "array", "not": {"uniqueItems": True}, "items": {
        "type": ["string", "integer", "object"], "maxLength": 2, "minimum": -12, "maximum": 12, "additionalProperties": {"type": "string"}}},
    "different members": {"type": "object", "additionalProperties": {"type": "array", "uniqueItems": True, "contains": {"const": "a"}}},
    "names of all sorts": {"type": "object", "additionalProperties": False,
                           "properties": {"a": True, "a\"b": True, "\\": {"enum": ["é", "\u00e9\U0001f600", "日本", "日", "a\tb"]}, "aé": {"type": "null"}, "\U0001f600": True}},
    "constants": {"enum": [1, "a", None, [1, {"x": "y"}], {"b": 1, "a": [True]}, 1.5, "a\nb"]},
}
VALUES = ["", "a", "ab", "abc", "abcdef", "a\"b", "red", "blue", "x", "y", "aé", "\U0001f600", "ab-12", "abcd", "a\nb", 0, 1, -1, 1.5, 19.5, 20,
          3.25, 150, 151, 1e3, None, True, False]
KEYS = ["name", "age", "tags", "home", "street", "next", "a", "b", "ab", "c", "kind", "v", "x"]


def value(rng, depth=3):
    kind = rng.randrange(6 if depth else 4)
    if kind == 4:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 5:
        return {key: value(rng, depth - 1) for key in rng.sample(KEYS, rng.randrange(5))}
    return rng.choice(VALUES)


def spelt(rng, v):
    """A JSON text of the value: any white space, any order, escapes."""
    space = rng.choice(["", "", " ", "\n  "])
    if isinstance(v, list):
        return "[" + space + ("," + space).join(spelt(rng, x) for x in v) + "]"
    if isinstance(v, dict):
        members = [spelt(rng, k) + space + ":" + spelt(rng, x) for k, x in v.items()]
        rng.shuffle(members)
        return "{" + ",".join(members) + space + "}"
    if isinstance(v, str) and rng.random() < 0.3:
        units = v.encode("utf-16-be")
        return '"' + "".join(rng.choice(["\\u%04x", "\\u%04X"]) % int.from_bytes(units[i:i + 2], "big") for i in range(0, len(units), 2)) + '"'
    return json.dumps(v, ensure_ascii=rng.random() < 0.5)


def near(rng, valid, v):
    """A value like this one, changed in one place."""
    if isinstance(v, list) and v and rng.random() < 0.8:
        v = list(v)
        v[rng.randrange(len(v))] = near(rng, valid, v[rng.randrange(len(v))])
        return v
    if isinstance(v, dict) and v and rng.random() < 0.8:
        v = dict(v)
        key = rng.choice(list(v))
        if rng.random() < 0.3:
            del v[key]
        else:
            v[rng.choice([key, rng.choice(KEYS)])] = near(rng, valid, v[key])
        return v
    return value(rng, 1)


@pytest.mark.parametrize("name", SCHEMAS)
def test_verdicts(name):
    """Any order and spelling: accepted exactly where the judge says so. Seeds come from our own outputs, judged again."""
    rng, schema = random.Random(name), SCHEMAS[name]
    judge, grammar = jsonschema_rs.validator_for(schema), llgcy.Grammar.from_json_schema(schema, **ANY)
    compiled = llgcy.compile(grammar, llgcy.Tokenizer.single_byte())
    pool = [value(rng) for _ in range(150)] + [json.loads(text) for text in outputs(compiled, rng, 20)]
    pool += [near(rng, pool, rng.choice(pool[-20:])) for _ in range(200)]
    counts = {True: 0, False: 0}
    for v in pool:
        if "Infinity" in json.dumps(v):         # an exponent that Python's floats, and so the judge, cannot hold
            continue
        text, m = spelt(rng, v), compiled.matcher()
        want = judge.is_valid(v)
        assert (m.accept_bytes(text.encode()) and m.is_accepting()) == want, (name, text)
        counts[want] += 1
    assert counts[True] > 5 and (counts[False] > 5 or schema is True)


def outputs(compiled, rng, count, most=80):
    """Random walks under the masks, ended by completion(); checks on the way that the mask is never empty."""
    mask = numpy.zeros((1, (compiled.tokenizer.vocab_size + 31) // 32), numpy.int32)
    punctuation = [i for i in range(compiled.tokenizer.vocab_size) if compiled.tokenizer.token_bytes(i) in (b'"', b"}", b"]", b":", b",")]
    for _ in range(count):
        m, out = compiled.matcher(), b""
        for _ in range(rng.randrange(most)):
            m.fill_next_token_bitmask(mask)
            allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little").view(bool)
            assert allowed.any(), out
            allowed[m.eos_token_ids] = False
            ids = numpy.flatnonzero(allowed)
            if not len(ids):
                break
            marks = [i for i in punctuation if allowed[i]] if rng.random() < 0.4 else ()
            token = rng.choice(marks) if marks else int(rng.choice(ids))
            assert m.accept_token(token)
            out += compiled.tokenizer.token_bytes(token)
        ending = m.completion()
        assert m.accept_bytes(ending) and m.is_accepting(), (out, ending)
        yield out + ending


@pytest.mark.parametrize("options", [{}, ANY], ids=["schema order", "any order"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_outputs_are_valid(name, options):
    rng, judge = random.Random(name), jsonschema_rs.validator_for(SCHEMAS[name])
    for tokenizer in (llgcy.Tokenizer.single_byte(), llgcy.Tokenizer.default()):
        compiled = llgcy.compile(llgcy.Grammar.from_json_schema(SCHEMAS[name], **options), tokenizer)
        for text in outputs(compiled, rng, 25):
            seen = []
            v = json.loads(text, object_pairs_hook=lambda pairs: seen.append(len(pairs) == len(dict(pairs))) or dict(pairs))
            assert all(seen), text
            if "Infinity" not in json.dumps(v):
                assert judge.is_valid(v), text


TOKENS = ['"', '"a', 'a"', '":', '": ', '":"', '","', '", "', '":1', '":1,', '":1,"', '":1,"a', '":1,"a":', '1,"', '1,"b":', "{", '{"', '{"a":', '{"ab": "', "}",
          "}}", '"}', '"},{"', "},", "[", "[[", "]]", "],[", "]}", '["', '"]', "1", "12", "1.", ".5", "1.5", "-", "-1", "e", "0", "15", "150", ",", ", ",
          "\n", "  ", " \n ", ":", "true", "tr", "ue", "null", "nul", "l,", "false}", "a", "b", "ab", "abc", "name", '"name":', 'ame"', "\\", '\\"', "\\u",
          "0061", "\\u00", "61", "é", "a\\nb", "kind", '"kind":"x","v":', "-12", "red", '"red"', "x", "y", "v", " ", "street", "age", "next", "tags", "home", "blue"]


@pytest.mark.parametrize("options", [{}, ANY], ids=["schema order", "any order"])
@pytest.mark.parametrize("name", SCHEMAS)
def test_masks_by_brute_force(name, options):
    """Every bit of the mask equals what the bytes of the token say, one by one, along random walks with rollback."""
    rng = random.Random(name)
    vocabulary = [bytes([b]) for b in range(256)] + [t.encode() for t in TOKENS] + [b"\xc3", b"\xf0\x9f", b"\x98\x80", b'\xa9"', None]
    tokenizer = llgcy.Tokenizer.from_vocab(vocabulary, eos_token_id=len(vocabulary) - 1)
    bytewise = llgcy.compile(llgcy.Grammar.from_json_schema(SCHEMAS[name], **options), llgcy.Tokenizer.single_byte())
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(SCHEMAS[name], **options), tokenizer)
    mask = numpy.zeros((1, (len(vocabulary) + 31) // 32), numpy.int32)
    for _ in range(12):
        m, plain = compiled.matcher(), bytewise.matcher()
        for _ in range(30):
            m.fill_next_token_bitmask(mask)
            allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")[:len(vocabulary)].astype(bool).tolist()
            for token, text in enumerate(vocabulary[:-1]):
                ok = plain.accept_bytes(text)
                assert allowed[token] == ok, (name, text, m.steps)
                if ok:
                    plain.rollback(1)
            assert allowed[-1] == plain.is_accepting() == m.is_accepting()
            ids = [i for i, ok in enumerate(allowed[:-1]) if ok]
            if not ids:
                break
            token = rng.choice([i for i in ids if i >= 256] or ids) if rng.random() < 0.7 else rng.choice(ids)
            assert m.accept_token(token) and plain.accept_bytes(vocabulary[token])
            if rng.random() < 0.2:
                n = rng.randrange(1, m.steps + 1)
                m.rollback(n)
                plain.rollback(n)


def test_white_space_is_bounded():
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "array"}), llgcy.Tokenizer.single_byte())
    m = compiled.matcher()
    assert not m.accept_bytes(b" ") and m.accept_bytes(b"[" + b" " * 128)
    assert not m.accept_bytes(b" ") and m.accept_bytes(b"1" + b"\n" * 128 + b"]") and not m.accept_bytes(b" ") and m.is_complete()


def test_white_space_at_the_bound_in_masks():
    vocabulary = [bytes([b]) for b in range(256)] + [b" " * n for n in (2, 5, 100, 128, 129)] + [b" " * 60 + b"1", None]
    tokenizer = llgcy.Tokenizer.from_vocab(vocabulary, eos_token_id=len(vocabulary) - 1)
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "array", "minItems": 1}), tokenizer)
    mask = numpy.zeros((1, (len(vocabulary) + 31) // 32), numpy.int32)
    m = compiled.matcher()
    m.accept_bytes(b"[")
    for gap in range(129):
        m.fill_next_token_bitmask(mask)
        allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")
        for token in range(256, len(vocabulary) - 1):
            lead = len(vocabulary[token]) - len(vocabulary[token].lstrip(b" "))
            assert allowed[token] == (gap + lead <= 128), (gap, vocabulary[token])
        m.accept_bytes(b" ")


WHITE = [white + rest for white in (b" ", b"\n  ", b"\t\r\n", b" " * 20, b" " * 128, b"\n" * 129, b" " * 300)
         for rest in (b"", b"1", b"-", b'"', b'"a', b"{", b"}", b"]", b":", b",", b", 2", b'{ "a" :', b"tru", b"x", b"],\n[")]


@pytest.mark.parametrize("options", [{}, {"surrounding_space": True}, {"whitespace": "compact"}, {"whitespace": "indent=2"}])
@pytest.mark.parametrize("schema", [True, {"type": "number", "minimum": 1}, {"type": "array", "uniqueItems": True},
                                    {"type": "object", "properties": {"a": {"type": ["integer", "object"]}}, "maxProperties": 2},
                                    {"type": "array", "items": {"type": ["number", "array"]}, "maxItems": 2}])
def test_white_space_in_front_of_tokens(schema, options):
    """Tokens that begin with white space, against the same tokens taken byte by byte."""
    tokens = [*WHITE, *(bytes([b]) for b in range(256))]
    tokenizer = llgcy.Tokenizer.from_vocab([*tokens, None], eos_token_id=len(tokens))
    matcher = llgcy.compile(llgcy.Grammar.from_json_schema(schema, **options), tokenizer).matcher()
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    rng = random.Random(repr((schema, options)))
    for _ in range(120):
        matcher.fill_next_token_bitmask(bitmask)
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little").tolist()
        for id, token in enumerate(tokens):
            fork = matcher.fork()
            assert bits[id] == fork.accept_bytes(token), token
        allowed = [id for id in range(len(tokens)) if bits[id]]
        led = [id for id in allowed if id < len(WHITE)]
        if not allowed:
            break
        matcher.accept_token(rng.choice(led if led and rng.random() < 0.5 else allowed))


@pytest.mark.parametrize("whitespace, text, ok", [("compact", '{"a":[1,2]}', True), ("compact", '{"a": [1,2]}', False),
                                                  ("flexible", '{ "a" :\t[1 ,\r\n2] }', True), ("flexible", ' {}', False)])
def test_white_space_options(whitespace, text, ok):
    assert llgcy.Grammar.from_json_schema({"type": "object"}, whitespace=whitespace).accepts(text) == ok


def test_surrounding_space():
    g = llgcy.Grammar.from_json_schema({"type": "object"}, surrounding_space=True)
    assert g.accepts(" {} \n") and g.accepts("{}") and not g.accepts(" ")


def test_nesting_is_limited():
    m = llgcy.compile(llgcy.Grammar.any_json(), llgcy.Tokenizer.single_byte()).matcher()
    assert m.accept_bytes(b"[" * 2000) and not m.accept_bytes(b"[") and not m.accept_bytes(b'{')
    assert m.completion() == b"]" * 2000


@pytest.mark.parametrize("bounds", [{}, {"maxItems": 10**9}, {"minItems": 10**6, "maxItems": 10**7}])
def test_an_array_of_many_items_makes_few_rows(bounds):
    schema = {"type": "array", "items": PERSON, "$defs": PERSON["$defs"], **bounds}
    compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema), llgcy.Tokenizer.single_byte())
    m, item = compiled.matcher(), b'{"name":"x","age":1,"home":{"street":"s"}}'
    m.accept_bytes(b"[" + item)
    m.accept_bytes(b"," + item)
    before = compiled.stats()["rows"]
    assert m.accept_bytes((b"," + item) * 3000) and compiled.stats()["rows"] == before


@pytest.mark.parametrize("bounds", [{}, {"maxLength": 100}, {"minLength": 40, "maxLength": 100}])
@pytest.mark.parametrize("pattern, valid", [("a.{24}b", "xa" + "y" * 24 + "b" + "z" * 44), ("(a|b)*a(a|b){60}$", "ba" * 40),
                                            (r"\d\w{15}-", "1" + "w" * 15 + "-" * 60)])
def test_patterns_of_exponential_size_are_not_explored(pattern, valid, bounds):
    """Life and endings take steps in proportion to the text, whatever the size of the pattern's automaton."""
    schema = {"type": "string", "pattern": pattern, **bounds}
    judge, compiled = jsonschema_rs.validator_for(schema), llgcy.compile(llgcy.Grammar.from_json_schema(schema), llgcy.Tokenizer.default())
    mask, m, text = llgcy.allocate_bitmask(1, compiled.tokenizer.vocab_size), compiled.matcher(), json.dumps(valid)
    for cut in range(0, len(text), 7):
        m.reset()
        assert m.accept_bytes(text[:cut].encode()) and m.fill_next_token_bitmask(mask)
        assert judge.is_valid(json.loads(text[:cut].encode() + m.completion()))
    assert compiled.grammar.accepts(text)


def test_classifications_are_shared_between_grammars():
    """A second grammar with the same pattern at another place finds the vocabulary sorted already, and its masks are right."""
    vocabulary = [bytes([b]) for b in range(256)] + [t.encode() for t in TOKENS] + [None]
    tokenizer = llgcy.Tokenizer.from_vocab(vocabulary, eos_token_id=len(vocabulary) - 1)
    pattern = {"type": "string", "pattern": "^[a-z]+(-[0-9]+)*$", "maxLength": 300}
    one = {"type": "object", "properties": {"x": {"pattern": "^b?$"}, "a": pattern}, "required": ["a"], "additionalProperties": False}
    two = {"type": "array", "items": pattern}
    mask, text = numpy.zeros((1, (len(vocabulary) + 31) // 32), numpy.int32), b"ab-12-1"
    shared = []
    for schema, before in ((one, b'{"a":"'), (two, b'["')):
        compiled = llgcy.compile(llgcy.Grammar.from_json_schema(schema), tokenizer)
        plain = llgcy.compile(llgcy.Grammar.from_json_schema(schema), llgcy.Tokenizer.single_byte()).matcher()
        m = compiled.matcher()
        assert m.accept_bytes(before) and plain.accept_bytes(before)
        for byte in text:
            m.fill_next_token_bitmask(mask)
            allowed = numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")
            for token, data in enumerate(vocabulary[:-1]):
                ok = plain.accept_bytes(data)
                assert allowed[token] == ok, (before, data)
                if ok:
                    plain.rollback(1)
            assert m.accept_token(byte) and plain.accept_token(byte)
        shared.append(len(compiled.vocabulary.shared))
    assert shared[0] == shared[1] > 1


NAMES = ["minProperties", "patternProperties", "additionalProperties", "propertyNames", "properties"]


@pytest.mark.parametrize("seed", range(30))
def test_endings_where_names_are_used_up(seed):
    """Members that are still needed get names that are free: at every place of random texts, whatever masks were computed before."""
    rng = random.Random(seed)
    inner = rng.choice([{"type": "integer"}, {"enum": [1, "x"]}, {"type": "object", "minProperties": 2, "additionalProperties": {"type": "boolean"}}])
    made = {"minProperties": rng.randint(1, 4), "patternProperties": {rng.choice(["^b", "^[ab]{1,2}$", "a$"]): inner},
            "additionalProperties": rng.choice([{"type": "integer"}, True, {"type": "object", "minProperties": 1}]),
            "propertyNames": rng.choice([{"maxLength": 1}, {"pattern": "^[a-c]{1,2}$"}, True]), "properties": {"b": {"type": "integer"}, "a": True}}
    schema = {"type": "object", **{word: made[word] for word in rng.sample(NAMES, rng.randint(2, 5))}}
    schema = rng.choice([schema, {"type": "array", "items": schema, "minItems": 2}])
    pieces = [b'"a', b'a":', b'b":1,"', b'":1,', b'":1,"b":', b'":{"', b'"}', b'c":1}', b"},{", b'":"x","']
    tokens = [None, *pieces, *(bytes([i]) for i in range(32, 127))]
    grammar = llgcy.Grammar.from_json_schema(schema, property_order=rng.choice(["any", "schema"]), whitespace="compact")
    compiled = llgcy.compile(grammar, llgcy.Tokenizer.from_vocab(tokens, special={"<e>": 0}, eos_token_id=0))
    validator, mask = jsonschema_rs.Draft202012Validator(schema), llgcy.allocate_bitmask(1, len(tokens))
    for _ in range(5):
        matcher, text = compiled.matcher(), b""
        for _ in range(30):
            assert validator.is_valid(json.loads(text + matcher.completion())), text
            assert matcher.fork().accept_bytes(matcher.completion())
            assert matcher.fork().accept_bytes(matcher.forced_bytes())
            matcher.fill_next_token_bitmask(mask)
            allowed = numpy.flatnonzero(numpy.unpackbits(mask.view(numpy.uint8), bitorder="little")).tolist()
            token = rng.choice([i for i in allowed if 0 < i <= len(pieces)] * (rng.random() < 0.8) or allowed)
            assert matcher.accept_token(token)
            if matcher.is_terminated():
                break
            text += tokens[token]
