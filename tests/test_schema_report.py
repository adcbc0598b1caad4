"""Reports of schemas: every keyword has a status, all that is refused is told, and profiles of hosted services."""
import json

import pytest

import llgcy
from llgcy.cli import main
from llgcy.errors import GrammarError, UnsupportedKeywordError
from llgcy.schema.profiles import PROFILES, schema_objects
from llgcy.schema.vocabulary import KEYWORDS

BACK = r"(a)\1"         # no automaton can do this


def statuses(schema, **options):
    return {entry.pointer: entry.status for entry in llgcy.check_schema(schema, **options)}


def test_every_keyword_of_every_schema_object_has_an_entry():
    schema = {"$id": "urn:x", "title": "t", "type": "object", "properties": {"a/b": {"minimum": 1, "default": 2}, "~": {"items": {"anyOf": [{}, {"const": 1}]}}},
              "patternProperties": {"^x": {"maxLength": 3}}, "$defs": {"d": {"not": {"enum": [1]}}}, "allOf": [{"$ref": "#/$defs/d"}], "x-own": {"type": 3}}
    report = llgcy.check_schema(schema)
    expected = {f"{pointer}/{word.replace('~', '~0').replace('/', '~1')}" for pointer, part in schema_objects(schema) for word in part}
    assert {entry.pointer for entry in report} == expected and len(report.entries) == len(expected)
    assert report.ok
    assert {entry.pointer for entry in report if entry.status == "annotation"} == {"/title", "/x-own", "/properties/a~1b/default"}
    assert all(entry.status == "enforced" for entry in report if entry.keyword in KEYWORDS)


def test_all_refusals_are_told_not_just_the_first():
    schema = {"properties": {"a": {"pattern": BACK, "type": "text"}, "b": 3, "c": {"$ref": "#/nowhere"}, "d": {"minLength": -1, "maxLength": 2},
                             "e": {"allOf": {}, "multipleOf": 0}, "f": {"required": "x"}, "g": {"pattern": "("}, "h": {"enum": [float("nan")]}},
              "items": {"not": {"format": 5}}}
    report = llgcy.check_schema(schema)
    refused = {entry.pointer for entry in report if entry.status == "refused"}
    assert refused == {"/properties/a/pattern", "/properties/a/type", "/properties/b", "/properties/c/$ref", "/properties/d/minLength", "/properties/e/allOf",
                       "/properties/e/multipleOf", "/properties/f/required", "/properties/g/pattern", "/properties/h/enum", "/items/not/format"}
    assert not report.ok and all(entry.reason for entry in report if entry.status == "refused")
    assert statuses(schema)["/properties/d/maxLength"] == "enforced"
    text = str(report)
    assert text.count("\n") == len(report.entries) - 1 and "/properties/a/pattern" in text
    with pytest.raises(GrammarError) as caught:         # without a report the first one is raised
        llgcy.Grammar.from_json_schema(schema)
    assert caught.value.pointer in refused


@pytest.mark.parametrize("schema", [False, {"type": "string", "minLength": 2, "maxLength": 1}, {"allOf": [{"type": "null"}, {"type": "array"}]}])
def test_schemas_that_nothing_satisfies(schema):
    report = llgcy.check_schema(schema)
    assert [(e.pointer, e.status) for e in report if e.status == "refused"] == [("", "refused")] and "no value is valid" in str(report)


def test_schemas_without_meaning_and_beyond_limits():
    assert not llgcy.check_schema({"not": {"$ref": "#"}}).ok
    deep = {"type": "null"}
    for _ in range(120):
        deep = {"allOf": [deep]}
    assert "levels" in str(llgcy.check_schema(deep)) and not llgcy.check_schema(deep).ok
    cyclic = {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}], "unevaluatedProperties": False}}}
    assert statuses(cyclic)["/$defs/a/unevaluatedProperties"] == "refused"


@pytest.mark.parametrize("draft, schema, ignored", [
    ("draft7", {"$ref": "#/definitions/a", "minimum": 3, "definitions": {"a": {}}}, ["/minimum"]),
    ("draft7", {"dependentRequired": {}, "prefixItems": [], "unevaluatedItems": False, "minContains": 1}, None),
    ("draft4", {"const": 1, "if": True, "then": False, "propertyNames": False, "contains": False}, None),
    ("draft2020-12", {"additionalItems": False, "$recursiveRef": "#"}, None),
    (None, {"then": False, "else": False, "minContains": 3, "maxContains": 1, "additionalItems": False}, None),
])
def test_what_a_draft_ignores_is_told(draft, schema, ignored):
    found = [pointer for pointer, status in statuses(schema, draft=draft).items() if status == "ignored"]
    assert sorted(found) == sorted(ignored if ignored is not None else ["/" + word for word in schema])
    uri = {"draft7": "http://json-schema.org/draft-07/schema#", "draft4": "http://json-schema.org/draft-04/schema#",
           "draft2020-12": "https://json-schema.org/draft/2020-12/schema"}.get(draft)
    if uri is not None:
        assert [p for p, status in statuses({"$schema": uri, **schema}).items() if status == "ignored"] == found


def test_formats():
    schema = {"properties": {"a": {"format": "date"}, "b": {"format": "hostname"}, "c": {"format": "unheard-of"}}}
    assert list(statuses(schema).values()) == ["enforced", "enforced", "enforced", "annotation"]
    assert [e.pointer for e in llgcy.check_schema(schema) if e.reason] == ["/properties/b/format", "/properties/c/format"]
    assert statuses(schema, formats="strict")["/properties/b/format"] == "refused"
    assert set(list(statuses(schema, formats="annotation").values())[1:]) == {"annotation"}


def test_other_documents_are_named():
    report = llgcy.check_schema({"$ref": "urn:other#/$defs/x"}, resources={"urn:other": {"$defs": {"x": {"type": "text", "title": "t"}}}})
    assert {e.pointer: e.status for e in report} == {"/$ref": "enforced", "urn:other#/$defs/x/type": "refused", "urn:other#/$defs/x/title": "annotation"}


def test_schemas_as_text_and_types_and_wrong_arguments():
    assert llgcy.check_schema('{"minimum": 1e400}').ok and llgcy.check_schema(list[int]).ok
    with pytest.raises(GrammarError):
        llgcy.check_schema("{")
    with pytest.raises(ValueError, match="openai-strict"):
        llgcy.check_schema({}, profile="openai")
    with pytest.raises(TypeError, match="draught"):
        llgcy.check_schema({}, draught="draft7")


# ---------------------------------------------------------------------------------------------------------- lenient

def test_lenient_leaves_out_what_cannot_be_enforced_and_tells_it():
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": BACK, "maxLength": 2}, "b": {"format": "hostname"}}, "required": ["a"],
              "additionalProperties": False}
    with pytest.raises(UnsupportedKeywordError):
        llgcy.Grammar.from_json_schema(schema)
    grammar = llgcy.Grammar.from_json_schema(schema, lenient=True, formats="strict")
    assert grammar.accepts('{"a":"xy"}') and not grammar.accepts('{"a":"xyz"}') and grammar.accepts('{"a":"","b":"!"}')
    told = sorted((w for w in grammar.warnings if "left out" in w), key=lambda w: "format" in w)
    assert len(told) == 2 and "/properties/a/pattern" in told[0] and "/properties/b/format" in told[1]
    assert llgcy.Validator(schema, lenient=True).warnings
    assert [e.pointer for e in llgcy.check_schema(schema, lenient=True) if e.status == "refused"] == ["/properties/a/pattern"]


def test_lenient_takes_no_malformed_schema():
    for schema in ({"type": "text"}, {"pattern": "("}, {"$ref": "#/nowhere"}, {"properties": 3}):
        with pytest.raises(GrammarError):
            llgcy.Grammar.from_json_schema(schema, lenient=True)
    assert llgcy.Grammar.from_json_schema({"type": "null"}, lenient=True).warnings == ()


# ---------------------------------------------------------------------------------------------------------- OpenAPI

def test_nullable():
    schema = {"properties": {"a": {"type": "string", "nullable": True}, "b": {"type": ["integer"], "nullable": False}, "c": {"nullable": True, "minimum": 3}}}
    plain, openapi = llgcy.Validator(schema), llgcy.Validator(schema, openapi=True)
    assert openapi.is_valid({"a": None, "c": None}) and openapi.is_valid({"a": "x"}) and not openapi.is_valid({"b": None}) and not openapi.is_valid({"a": 1})
    assert not plain.is_valid({"a": None}) and plain.is_valid({"a": "x"})
    assert any("openapi=True" in w and "/properties/a/nullable" in w for w in plain.warnings)
    assert [w for w in openapi.warnings if "without type" in w]
    assert not llgcy.Validator({"type": "string", "enum": ["a"], "nullable": True}, openapi=True).is_valid("null")      # enum says so
    with pytest.raises(GrammarError) as caught:
        llgcy.Grammar.from_json_schema({"type": "string", "nullable": "yes"}, openapi=True)
    assert caught.value.pointer == "/nullable"


PETS = {"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"dog": "#/components/schemas/Dog", "hound": "Dog"}},
        "components": {"schemas": {"Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}},
                                   "Dog": {"type": "object", "properties": {"kind": {"type": "string"}, "bark": {"type": "boolean"}}}}}}


@pytest.mark.parametrize("value, valid", [
    ({"kind": "Cat", "lives": 9}, True), ({"kind": "dog", "bark": True}, True), ({"bark": True, "kind": "hound"}, True), ({"kind": "Dog"}, False),
    ({"kind": "Cat", "lives": "9"}, False), ({"kind": "dog", "lives": "9"}, True), ({"kind": "cow"}, False), ({"lives": 9}, False), ("Cat", False), ([], False)])
def test_discriminator(value, valid):
    for word in ("oneOf", "anyOf"):
        schema = {**{k: v for k, v in PETS.items() if k != "oneOf"}, word: PETS["oneOf"]}
        assert llgcy.Validator(schema, openapi=True).is_valid_value(value) is valid
    grammar = llgcy.Grammar.from_json_schema(PETS, openapi=True, property_order="any")
    assert grammar.accepts(json.dumps(value)) is valid


def test_discriminators_without_branches_names_or_sense():
    assert statuses({"discriminator": {"propertyName": "x"}}, openapi=True) == {"/discriminator": "ignored"}
    with pytest.raises(UnsupportedKeywordError) as caught:
        llgcy.Grammar.from_json_schema({"anyOf": [{"type": "object"}], "discriminator": {"propertyName": "x"}}, openapi=True)
    assert caught.value.pointer == "/anyOf/0"
    for wrong in ("x", {}, {"propertyName": 1}, {"propertyName": "x", "mapping": {"a": 1}}):
        with pytest.raises(GrammarError):
            llgcy.Grammar.from_json_schema({"anyOf": [], "discriminator": wrong}, openapi=True)


# ---------------------------------------------------------------------------------------------------------- profiles

CLOSED = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def profiled(schema, profile):
    return {(e.pointer, e.keyword) for e in llgcy.check_schema(schema, profile=profile) if e.status == "profile"}


def within(schema):
    return {**CLOSED, "properties": {"a": schema}, "required": ["a"]}


@pytest.mark.parametrize("profile, schema, words", [
    ("openai-strict", {"type": ["string", "null"], "pattern": "a", "format": "date", "enum": ["a"]}, []),
    ("openai-strict", {"type": "integer", "multipleOf": 2, "exclusiveMinimum": 1}, []),
    ("openai-strict", {"type": "array", "items": {"type": "null"}, "minItems": 3, "maxItems": 4}, []),
    ("openai-strict", {"oneOf": [], "not": {}, "if": {}, "dependentRequired": {}}, ["oneOf", "not", "if", "dependentRequired"]),
    ("openai-strict", {"type": "object", "properties": {"x": {"type": "null"}}, "additionalProperties": False}, ["properties"]),
    ("openai-strict", {**CLOSED, "patternProperties": {}}, ["patternProperties"]),
    ("openai-strict", {"type": "string", "default": "x", "format": "uri", "examples": []}, ["default", "format", "examples"]),
    ("openai-strict", {"$ref": "https://example.com/x"}, ["$ref"]),
    ("openai-strict", {"type": "array", "uniqueItems": True, "contains": {}}, ["uniqueItems", "contains"]),
    ("anthropic-strict", {"type": "array", "minItems": 1, "items": {"type": ["string", "null"]}}, []),
    ("anthropic-strict", {"type": "array", "minItems": 2, "maxItems": 3, "uniqueItems": True}, ["minItems", "maxItems", "uniqueItems"]),
    ("anthropic-strict", {"minimum": 1, "maximum": 1, "multipleOf": 1, "minLength": 1, "maxLength": 1},
     ["minimum", "maximum", "multipleOf", "minLength", "maxLength"]),
    ("anthropic-strict", {"enum": [1, None, "a"], "allOf": [{"type": "null"}]}, []),
    ("anthropic-strict", {"enum": [[1]], "allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {}}}, ["enum", "allOf"]),
    ("anthropic-strict", {"type": "string", "pattern": r"\\b[0-9]+"}, []),
    ("anthropic-strict", {"type": "string", "pattern": r"\b(?=a)"}, ["pattern"]),
    ("gemini", {"type": ["string", "null"], "enum": ["a", 1], "format": "date", "anyOf": []}, []),
    ("gemini", {"prefixItems": [{}], "minItems": 1, "propertyOrdering": [], "minimum": 2}, []),
    ("gemini", {"pattern": "x", "const": 1, "oneOf": [], "not": {}, "minLength": 1}, ["pattern", "const", "oneOf", "not", "minLength"]),
    ("gemini", {"enum": [True]}, ["enum"]),
    ("gemini", {"$ref": "#/$defs/x", "$defs": {"x": {}}, "title": "t"}, ["title"]),
    ("gemini-openapi", {"type": "string", "nullable": True, "minLength": 1, "pattern": "x", "enum": ["a"], "default": 1}, []),
    ("gemini-openapi", {"type": ["string", "null"], "enum": [1], "prefixItems": [], "$ref": "#", "const": 1}, ["type", "enum", "prefixItems", "$ref", "const"]),
])
def test_profiles(profile, schema, words):
    wrapped = within(schema)
    base = profiled(within({"type": "null"}), profile)
    assert base == ({("/additionalProperties", "additionalProperties")} if profile == "gemini-openapi" else set())
    assert {word for pointer, word in profiled(wrapped, profile) - base} == set(words)
    assert all(pointer.startswith("/properties/a") for pointer, _ in profiled(wrapped, profile) - base)


def test_profiles_of_whole_schemas():
    assert ("/anyOf", "anyOf") in profiled({"anyOf": [CLOSED]}, "openai-strict")
    assert ("/type", "type") in profiled({"type": "array", "items": {"type": "null"}}, "openai-strict")
    assert ("", "") in profiled({"type": "object", "properties": {}}, "openai-strict")
    nested = {"type": "null"}
    for depth in range(12):
        assert (("", "") in profiled(nested, "openai-strict")) == (depth > 9)
        nested = within(nested)
    many = {**CLOSED, "properties": {f"p{i}": {"enum": [str(j) for j in range(11)]} for i in range(100)}, "required": [f"p{i}" for i in range(100)]}
    assert profiled(many, "openai-strict") == {("", "")} and "1,000" in str(llgcy.check_schema(many, profile="openai-strict"))
    loose = {**CLOSED, "properties": {f"p{i}": {"type": ["null", "string"]} for i in range(25)}}
    reasons = [e.reason for e in llgcy.check_schema(loose, profile="anthropic-strict") if e.status == "profile"]
    assert len(reasons) == 2 and "25 optional" in reasons[0] and "25 unions" in reasons[1]
    twins = within({"anyOf": [within({"type": "null"}), within({"type": "string"})]})
    assert profiled(twins, "openai-strict") == {("/properties/a/anyOf", "anyOf")}


def test_profiles_and_recursion():
    tree = {**CLOSED, "properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}}, "required": ["next"],
            "$defs": {"node": {**CLOSED, "properties": {"left": {"$ref": "#/$defs/leaf"}, "right": {"$ref": "#/$defs/node"}}, "required": ["left", "right"]},
                      "leaf": {"type": "null"}}}
    assert profiled(tree, "openai-strict") == set()
    assert profiled(tree, "anthropic-strict") == {("/$defs/node/properties/right/$ref", "$ref")} == profiled(tree, "gemini")
    assert ("/properties/a/$ref", "$ref") in profiled(within({"$ref": "#"}), "anthropic-strict")


@pytest.mark.parametrize("profile", PROFILES)
def test_profiles_take_any_json_value(profile):
    for odd in (True, {"properties": 3, "enum": 5, "required": None, "anyOf": {"a": 1}, "allOf": 1, "$ref": 7, "format": [], "pattern": 3, "type": {"a": 1},
                       "minItems": "x", "$defs": []}):
        llgcy.check_schema(odd, profile=profile)


def test_the_command_line(tmp_path, capsys):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({**CLOSED, "properties": {"a": {"oneOf": [{"type": "null"}]}}, "title": "T"}))
    assert main(["check", str(path), "--report"]) == 0
    out = capsys.readouterr().out
    assert "nothing is refused" in out and "annotation  /title" in out and "enforced    /properties/a/oneOf" in out
    assert main(["check", str(path), "--profile", "openai-strict"]) == 1
    out = capsys.readouterr().out
    assert "/properties/a/oneOf" in out and "/title" not in out
    assert main(["check", str(path), "--report", "--text", "x"]) == 2
    path.write_text("{")
    assert main(["check", str(path), "--report"]) == 1
