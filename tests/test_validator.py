"""Validators: verdicts against jsonschema-rs, and where and why a document is refused."""
import gzip
import json
import pickle
import random
import threading
from decimal import Decimal
from fractions import Fraction

import pytest
from schema_random import Maker

import llgcy
from llgcy import InvalidInstanceError, Validator, validate_json
from llgcy.errors import GrammarError, LimitError
from llgcy.instance import place_in, text_of
from llgcy.schema import hopeful

PERSON = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}, "age": {"type": "integer", "maximum": 150}},
          "required": ["name", "age"], "additionalProperties": False}


def written(value, r):
    """A JSON text of a value, in a random spelling."""
    def gap():
        return "".join(r.choices(" \t\n\r", k=r.choice([0, 0, 0, 1, 2])))

    def string(text):
        return '"' + "".join(json.dumps(c)[1:-1] if r.random() < .7 or ord(c) > 0xFFFF else rf"\u{ord(c):04{r.choice('xX')}}" for c in text) + '"'

    def number(x):
        if r.random() < .6:
            return json.dumps(x)
        sign, digits, exponent = Decimal(str(x)).as_tuple()
        zeros = r.choice([0, 1, 3]) if x else 0
        return "-" * sign + "".join(map(str, digits)).lstrip("0").rjust(1, "0") + "0" * zeros + f"{r.choice('eE')}{exponent - zeros}"

    def text(value):
        if isinstance(value, str):
            out = string(value)
        elif isinstance(value, dict):
            members = [f"{gap()}{string(name)}{gap()}:{text(member)}" for name, member in r.sample(sorted(value.items()), len(value))]
            out = "{" + (",".join(members) or gap()) + "}"
        elif isinstance(value, list):
            out = "[" + (",".join(map(text, value)) or gap()) + "]"
        else:
            out = json.dumps(value) if value is None or isinstance(value, bool) else number(value)
        return gap() + out + gap()
    return text(value)


def led_by(pointer, value):
    """Where a JSON pointer leads in a value."""
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


# ---------------------------------------------------------------------------------------------------------- verdicts

def check_random(seed):
    """Whether the validator agrees with jsonschema-rs about values and texts; the number of documents looked at."""
    rs = pytest.importorskip("jsonschema_rs")
    r = random.Random(seed)
    maker = Maker(r, ("not", "if", "contains", "propertyNames", "dependent", "unevaluated"))
    schema = maker.document()
    try:
        validator = Validator(schema)
    except GrammarError as error:
        assert "itself" in str(error)
        return 0
    oracle = rs.Draft202012Validator(schema)
    pool = [maker.value() for _ in range(40)]
    pool += [maker.near(v) for v in pool if oracle.is_valid(v) for _ in range(2)]
    for value in pool:
        text = written(value, r)
        expected = oracle.is_valid(value)
        assert validator.is_valid(text) == validator.is_valid_value(value) == expected, (schema, text)
        if not expected:
            with pytest.raises(InvalidInstanceError) as caught:
                validator.validate(text.encode())
            error = caught.value
            led_by(error.path, value)
            assert 0 <= error.offset <= len(text.encode()) and error.expected, (schema, text, error)
    return len(pool)


@pytest.mark.parametrize("seed", range(80))
def test_random_schemas(seed):
    check_random(seed)


UNIQUE = [{}, {"items": {"type": "string"}}, {"minItems": 2, "items": {"enum": [1, 2, "a"]}}, {"contains": {"const": 1}}, {"items": {"type": "array", "uniqueItems": True}},
          {"items": {"type": "object", "required": ["a"]}}]


@pytest.mark.parametrize("schema", [{**s, "uniqueItems": True} for s in UNIQUE] + [
    {"items": {"uniqueItems": True}}, {"not": {"uniqueItems": True}}, {"anyOf": [{"uniqueItems": True}, {"maxItems": 2}]},
    {"oneOf": [{"uniqueItems": True}, {"items": {"type": "integer"}}]}], ids=str)
@pytest.mark.parametrize("decided", [True, False])
def test_items_that_must_differ(schema, decided, monkeypatch):
    rs = pytest.importorskip("jsonschema_rs")
    if not decided:
        monkeypatch.setattr(hopeful, "PATIENCE", 1)
        monkeypatch.setattr(hopeful.Hopeful, "FUEL", 3)
    r, validator, oracle = random.Random(str(schema)), Validator(schema), rs.Draft202012Validator(schema)
    pool = [None, True, False, 0, 1, 1.0, 2, 0.25, "", "a", "b", [], [1], [1.0], {}, {"a": 1}, {"a": 1.0}, {"b": 1, "a": 2}, {"a": 2, "b": 1}]
    for _ in range(80):
        value = r.choices(pool, k=r.randint(0, 4))
        text = written(value if r.random() < .7 else [value, r.choices(pool, k=2)], r)
        expected = oracle.is_valid(json.loads(text))
        assert validator.is_valid(text) == validator.is_valid_value(json.loads(text)) == expected, text


def test_random_schemas_where_nothing_can_be_decided_ahead(monkeypatch):
    monkeypatch.setattr(hopeful, "PATIENCE", 1)
    monkeypatch.setattr(hopeful.Hopeful, "FUEL", 3)
    assert sum(check_random(seed) for seed in range(80, 130)) > 2000


SUITE = {"draft2020-12": 364, "draft2019-09": 353, "draft7": 240, "draft6": 223, "draft4": 154}       # groups, all of them


@pytest.mark.parametrize("draft", SUITE)
def test_official_suite(shared, draft):
    root = shared / "json-schema-test-suite"
    resources = {"http://localhost:1234/" + str(p.relative_to(root / "remotes")): json.loads(p.read_text("utf-8"))
                 for p in (root / "remotes").rglob("*.json")}
    judged = 0
    for path in sorted((root / "tests" / draft).glob("*.json")):
        if path.stem == "format":
            continue                    # asks that formats be annotations
        for group in json.loads(path.read_text("utf-8")):
            validator = Validator(group["schema"], draft=draft, resources=resources)
            for test in group["tests"]:
                assert validator.is_valid(json.dumps(test["data"])) == test["valid"], (path.stem, group["description"], test["description"])
                assert validator.is_valid_value(test["data"]) == test["valid"]
            judged += 1
    assert judged == SUITE[draft]


def test_real_schemas(shared):
    """Each 40th: the labels of the data, which jsonschema-rs shares but where it knows a format less well."""
    rs = pytest.importorskip("jsonschema_rs")
    documents = 0
    with gzip.open(shared / "maskbench-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for i, line in enumerate(lines):
            if i % 40 != 7:
                continue
            entry = json.loads(line)
            validator = Validator(entry["schema"])
            oracle = rs.validator_for(entry["schema"], validate_formats=True)
            for test in entry["tests"]:
                text = json.dumps(test["data"])
                assert validator.is_valid(text) == test["valid"] == oracle.is_valid(test["data"]), (entry["id"], text)
                if not test["valid"]:
                    with pytest.raises(InvalidInstanceError) as caught:
                        validator.validate(text)
                    led_by(caught.value.path, test["data"])
                documents += 1
    assert documents > 200


@pytest.mark.parametrize("text, valid", [
    ("10", True), ("-0", True), ("10.0", False), ("1e1", False), ("5e0", False), ("6e0", True), ("6.0", True), ("5.50", True), ("5.49", False)])
def test_integers_of_draft_4_are_digits_and_other_numbers_any_spelling(text, valid):
    schema = {"$schema": "http://json-schema.org/draft-04/schema#",
              "anyOf": [{"type": "integer", "minimum": -7, "maximum": 100}, {"type": "number", "minimum": 5.5, "maximum": 7}]}
    assert Validator(schema).is_valid(text) is valid


@pytest.mark.parametrize("schema", [False, {"not": {}}, {"type": "string", "minLength": 2, "maxLength": 1}, {"enum": []},
                                    {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}])
def test_schemas_that_nothing_satisfies_refuse_every_document(schema):
    validator = Validator(schema)
    for document in ("null", "{}", "[]", '"ab"', "1", "", '{"a": {"a": 1}}', None, {}, 1.5):
        assert not validator.is_valid(document)
    with pytest.raises(InvalidInstanceError, match="no value is valid"):
        validator.validate("1")


# ---------------------------------------------------------------------------------------------------------- documents

def test_str_and_bytes_are_texts_and_all_else_is_a_value():
    validator = Validator({"type": ["string", "integer"]})
    assert validator.is_valid("12") and validator.is_valid(b'"x"') and validator.is_valid(bytearray(b"12")) and validator.is_valid(12)
    assert not validator.is_valid("x") and validator.is_valid_value("x")
    assert not validator.is_valid(1.5) and validator.is_valid(1.0) and validator.is_valid(Decimal("12.00")) and validator.is_valid(Fraction(24, 2))
    validator.validate(12)
    validator.validate("12")
    validator.validate_value("x")
    with pytest.raises(InvalidInstanceError):
        validator.validate("x")
    with pytest.raises(InvalidInstanceError) as caught:
        validator.validate_value([1])
    assert caught.value.offset is None and caught.value.path == ""


@pytest.mark.parametrize("value", [{"a": [1, -2.5, None, True, False, "\u00e9\"\\\n", {}, []], "": {"b": {"c": [[]]}}}, "text", 0, [], {"x": 1e300},
                                   -(1 << 70), 5e-324])
def test_texts_of_values_are_json(value):
    text = text_of(value)
    assert json.loads(text) == value and b" " not in text.replace(b'"text"', b"")


def test_integers_with_more_digits_than_python_converts():
    text = text_of([10 ** 5000])
    assert text in (b"[1" + b"0" * 5000 + b"]", b"[1e5000]") and Validator({"items": {"const": 10 ** 5000}}).is_valid(text)


def test_numbers_of_values_are_exact():
    assert text_of([Decimal("0.10"), Decimal("9007199254740993"), 0.1]) in (b"[0.10,9007199254740993,0.1]", b"[0.1,9007199254740993,0.1]")
    assert Validator({"const": Decimal("0.1")}).is_valid(0.1) and not Validator({"const": 0.1}).is_valid(Decimal("0.1000000000000000055511151231257827"))


@pytest.mark.parametrize("value", [{1, 2}, {"a": object()}, {1: 2}, {"a": {None: 2}}, b"x", 1j])
def test_what_is_no_json_value_is_a_type_error(value):
    with pytest.raises(TypeError):
        Validator(True).validate_value(value)
    with pytest.raises(TypeError):
        Validator(True).is_valid_value(value)


@pytest.mark.parametrize("value, path", [(float("nan"), ""), ({"a": [0, float("-inf")]}, "/a/1"), ([Decimal("NaN")], "/0"), ("\ud800", "")])
def test_numbers_and_texts_that_json_does_not_have(value, path):
    assert not Validator(True).is_valid_value(value)
    with pytest.raises(InvalidInstanceError) as caught:
        Validator(True).validate_value(value)
    assert caught.value.path == path


def test_any_white_space_and_no_byte_order_mark():
    gap = " \t\r\n" * 5000
    text = gap + "{" + gap + '"a"' + gap + ":" + gap + "[" + gap + "1" + gap + "," + gap + "2" + gap + "]" + gap + "}" + gap
    assert Validator({"type": "object"}).is_valid(text)
    assert not Validator(True).is_valid("\ufeff1") and not Validator(True).is_valid("1\x0b") and not Validator(True).is_valid("\u00a01")


def test_the_limit_on_nesting_is_an_error_and_no_verdict():
    validator = Validator({"type": ["array", "object"], "items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}})
    assert validator.is_valid("[" * 2000 + "]" * 2000) and not validator.is_valid("[" * 2000 + "1" + "]" * 2000)
    deep = []
    for _ in range(1999):
        deep = [deep]
    assert validator.is_valid(deep)
    for check in (validator.is_valid, validator.validate):
        for document in ("[" * 2001 + "]" * 2001, '{"a":' * 2001, [deep]):
            with pytest.raises(LimitError, match="2,000"):
                check(document)
    loop = []
    loop.append(loop)
    with pytest.raises(LimitError):
        validator.is_valid(loop)
    assert not validator.is_valid("[]" * 2001)              # many brackets are not deep
    assert validator.is_valid("[" + "[]," * 3000 + "[]]")


def test_repeated_names_are_refused_whatever_their_spelling():
    for schema in (True, {"properties": {"a": True}}, {"patternProperties": {"a": True}}, {"required": ["a"]}):
        for text in ('{"a": 1, "a": 1}', r'{"a": 1, "b": 2, "\u0061": 1}', '{"x": {"a": 0, "a": 0}, "a": 1}'):
            with pytest.raises(InvalidInstanceError, match='"a" stands twice'):
                validate_json(text, schema)
    validate_json('{"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}', True)


# ---------------------------------------------------------------------------------------------------------- errors

@pytest.mark.parametrize("schema, text, path, offset, message, expected", [
    (PERSON, '{"name": "Anna-Lena", "age": 1}', "/name", 15, 'the string "Anna-Lena"', "'\"'"),
    (PERSON, '{"name": "Ann"}', "", 14, "the object ends too early", '"age"'),
    (PERSON, '{}', "", 1, "the object ends too early", '"name" and "age"'),
    (PERSON, '{"name": "Ann", "age": 200}', "/age", 26, "the number 200", "another number"),
    (PERSON, '{"name": "Ann", "age": "x"}', "/age", 23, 'the string "x"', "a number"),
    (PERSON, '{"name": "Ann", "x": 1}', "", 17, 'the property "x"', '"age"'),
    (PERSON, '{"name": "Ann", "age": 1', "", 24, "ends too early", "the end of the object"),
    (PERSON, '{"name": "Ann", "age": 1} {', "", 26, "not JSON", "the end of the text"),
    (PERSON, '{"name": "Ann",}', "", 15, "not JSON", "a property"),
    (PERSON, "[]", "", 0, "an array", "an object"),
    (PERSON, "", "", 0, "ends too early", "an object"),
    ({"items": {"items": {"minimum": 3}}}, "[[3, 4], [5, 2]]", "/1/1", 14, "the number 2", "another number"),
    ({"items": {"items": {"minimum": 3}}}, "[[3, 4], [5, -2]]", "/1/1", 13, "the number -2", "a number"),
    ({"items": {"enum": ["a/b", 1]}, "minItems": 2}, '["a/b"]', "", 6, "the array ends too early", "another item"),
    ({"items": {"enum": ["a/b", 1]}, "maxItems": 1}, '[1, "a/b"]', "", 2, "nothing more", "the end of the array"),
    ({"items": False}, "[1]", "/0", 1, "the number 1", "the end of the array"),
    ({"additionalProperties": {"type": "null"}}, '{"a/~": {"b": 1}}', "/a~1~0", 8, "an object", "null"),
    ({"additionalProperties": {"type": "null"}}, r'{"\u0062\n": tru}', "/b\n", 13, "tru", "null"),
    ({"maxProperties": 1}, '{"a": 1, "b": 2}', "", 7, "nothing more", "the end of the object"),
    ({"type": "string", "pattern": "^[a-c]*$"}, '"abcd"', "", 4, 'the string "abcd"', "'a' to 'c'"),
    ({"type": "number", "minimum": 10}, "5", "", 1, "the number 5", "10"),
    (True, "[1, 2,]", "/2", 6, "not JSON", "a string"),
    (True, "[nul]", "/0", 4, "not JSON", "'l'"),
    (True, b"\xff", "", 0, "not JSON", "a string"),
    (True, '"a\nb"', "", 2, "not JSON", "' ' to "),
    (True, r'"\ud800x"', "", 7, "not JSON", ""),
])
def test_errors_say_where_and_what(schema, text, path, offset, message, expected):
    validator = Validator(schema)
    assert not validator.is_valid(text)
    with pytest.raises(InvalidInstanceError) as caught:
        validator.validate(text)
    error = caught.value
    assert (error.path, error.offset, error.code) == (path, offset, "invalid-instance")
    assert message in error.message and expected in error.expected and str(offset) in str(error)
    assert isinstance(error, llgcy.LlgcyError) and isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (again.path, again.offset, again.expected, str(again)) == (error.path, error.offset, error.expected, str(error))


def test_examples_that_are_too_large_are_left_out():
    defs = {f"d{i}": {"type": "object", "required": ["a", "b"], "properties": dict.fromkeys("ab", {"$ref": f"#/$defs/d{i + 1}"})} for i in range(60)}
    deep = {"$ref": "#/$defs/d0", "$defs": {**defs, "d60": {"type": "integer"}}}        # 2**60 integers
    chain = {"const": 1}
    for _ in range(900):
        chain = {"type": "array", "minItems": 1, "items": chain}
    for schema in (deep, chain, {"type": "array", "minItems": 10 ** 9}, {"type": "string", "minLength": 10 ** 9}):
        with pytest.raises(InvalidInstanceError) as caught:
            validate_json("true", schema)
        assert caught.value.path == "" and caught.value.offset == 0 and len(str(caught.value)) < 400


def test_the_offset_is_where_no_valid_text_goes_on():
    grammar = llgcy.Grammar.from_json_schema(PERSON, property_order="any", number_spelling="any")
    for text in ('{"name":"Annabelle","age":1}', '{"age":151}', '{"age":"x"}', '{"nam":1}', '{"name":"a","age":1,"name":"b"}'):
        with pytest.raises(InvalidInstanceError) as caught:
            validate_json(text, PERSON)
        matcher = grammar._by_bytes.matcher()
        assert matcher.validate_tokens(text.encode()) == caught.value.offset


@pytest.mark.parametrize("text, path, key, state", [
    ("", (), None, "value"), ("[", (), 0, "item"), ("[1,", (), 1, "value"), ("[1", (), 0, "in number"), ("[1 ", (), 0, "after"), ("{", (), None, "first key"),
    ('{"a', (), None, "in key"), ('{"a"', (), "a", "colon"), ('{"a":', (), "a", "value"), ('{"a":"', (), "a", "in string"), ('{"a":"\\"', (), "a", "in string"),
    ('{"a":"\\\\"', (), "a", "after"), ('{"a":tr', (), "a", "in literal"), ('{"a":true', (), "a", "after"), ('{"a":[{},', ("a",), 1, "value"),
    ('{"a":[{}],"b', (), "a", "in key"), ('{"a":[{"b":1}', ("a",), 0, "after"), ('{"a":1,', (), "a", "key"), ('"a\\', (), None, "in string"),
    ('"a"', (), None, "end"), ("[[[]", (0,), 0, "after"), ("-", (), None, "in number"), ('{"a":"}{', (), "a", "in string")])
def test_places(text, path, key, state):
    found = place_in(text.encode())
    assert (found.path, found.key, found.state) == (path, key, state)


# ---------------------------------------------------------------------------------------------------------- the object

def test_options_and_schemas():
    assert Validator({"format": "date"}).is_valid('"2024-02-29"') and not Validator({"format": "date"}).is_valid('"2023-02-29"')
    assert Validator({"format": "date"}, formats="annotation").is_valid('"x"')
    assert Validator('{"minimum": 1e400}').is_valid("1e401") and not Validator(b'{"minimum": 1e400}').is_valid("1e399")
    assert Validator({"$ref": "urn:x"}, resources={"urn:x": {"type": "null"}}).is_valid("null")
    assert Validator({"format": "unheard-of"}).warnings
    assert Validator(list[int]).is_valid([1, 2])
    for name in ("property_order", "number_spelling", "whitespace", "surrounding_space", "unheard_of"):
        with pytest.raises(TypeError, match=name):
            Validator(True, **{name: "any"})
    with pytest.raises(TypeError):
        validate_json({"a": 1}, True)
    with pytest.raises(GrammarError) as caught:
        Validator({"properties": {"a": {"type": "text"}}})
    assert caught.value.pointer == "/properties/a/type"


def test_pickled_and_changed_schemas():
    schema = {"properties": {"a": {"$ref": "urn:x"}}}
    resources = {"urn:x": {"type": "null"}}
    validator = Validator(schema, resources=resources)
    data = pickle.dumps(validator)
    schema["properties"]["a"] = resources["urn:x"] = False
    for one in (validator, pickle.loads(data)):
        assert one.is_valid('{"a": null}') and not one.is_valid('{"a": 1}')


def test_threads_share_a_validator():
    validator = Validator({"items": {"properties": {"a": {"pattern": "^x*y$"}}, "additionalProperties": {"type": "integer"}}})
    texts = [(json.dumps([{"a": "x" * n + "y", f"k{n}": n}]), True) for n in range(60)] + [(json.dumps([{"a": "x" * n}]), False) for n in range(60)]
    wrong = []

    def work(seed):
        for text, valid in random.Random(seed).sample(texts, len(texts)):
            if validator.is_valid(text) != valid:
                wrong.append(text)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
