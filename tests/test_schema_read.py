"""Reading schemas: JSON text, references, identifiers, drafts."""
import pytest
from schema_walk import accepts, build

from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.schema.exact import Exact
from llgcy.schema.read import read_json


def test_numbers_are_exact():
    assert read_json('[1, 0.1, 1e2, -0.0]') == [1, Exact.of("0.1"), Exact.of(100), Exact.of(0)]
    assert read_json("9" * 4000) == 10 ** 4000 - 1
    assert read_json("1" + "0" * 5000) == Exact.of("1e5000")


@pytest.mark.parametrize("text, line, column", [('{"a": }', 1, 7), ('[1,\n 2,, 3]', 2, 4), ("", 1, 1), ('{"a": 1} x', 1, 10)])
def test_syntax_errors_have_a_place(text, line, column):
    with pytest.raises(GrammarError) as caught:
        read_json(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize("text, pointer, place", [
    ('{"a": 1, "a": 2}', "", "line 1, column 10"),
    ('{"a": [1, {"b": 1, "c": 2,\n "\\u0062": 3}]}', "/a/1", "line 2, column 2"),
    ('{"a": {"x": 1}, "b": {"x": 1, "y/z": {"q": 1, "q": 1}}}', "/b/y~1z", "line 1, column 47"),
    ('[{"a": "{\\"a\\": 1", "b": [], "a": 1}]', "/0", "line 1, column 30"),
])
def test_duplicate_names_have_a_place(text, pointer, place):
    with pytest.raises(GrammarError, match="twice") as caught:
        read_json(text)
    assert caught.value.pointer == pointer and place in str(caught.value)


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[-Infinity]"])
def test_what_is_no_json_number(text):
    with pytest.raises(GrammarError):
        read_json(text)


def test_hostile_nesting_meets_a_limit():
    with pytest.raises(LimitError):
        read_json("[" * 200_000 + "]" * 200_000)
    schema = {"type": "integer"}
    for _ in range(400):
        schema = {"anyOf": [schema, {"minLength": 1}]}
    with pytest.raises(LimitError) as caught:
        build(schema)
    assert caught.value.pointer.startswith("/anyOf/0")


@pytest.mark.parametrize("wrap", [
    lambda s: {"type": "object", "properties": {"a": s}, "required": ["a"]},
    lambda s: {"type": "array", "items": s, "minItems": 1},
    lambda s: {"additionalProperties": s, "type": "object", "minProperties": 1},
    lambda s: {"allOf": [{"type": "object", "required": ["a"]}, {"properties": {"a": s}}]},
], ids=["members", "items", "others", "allOf"])
def test_deep_schemas(wrap):
    schema = {"const": 7}
    for _ in range(300):
        schema = wrap(schema)
    a = build(schema)
    assert a.value_ending(a.start).count(b"7") == 1


def test_pointers():
    schema = {"$defs": {"a/b": {"const": 1}, "c~d": {"const": 2}, "e%f": {"const": 3}, "list": [{"const": 4}]},
              "prefixItems": [{"$ref": "#/$defs/a~1b"}, {"$ref": "#/$defs/c~0d"}, {"$ref": "#/$defs/e%25f"}, {"$ref": "#/$defs/list/0"}]}
    a = build(schema)
    assert accepts(a, [1, 2, 3, 4])
    for i in range(4):
        assert not accepts(a, [*[1, 2, 3, 4][:i], 9])


@pytest.mark.parametrize("reference", ["#/$defs/list/01", "#/$defs/list/-1", "#/$defs/list/1", "#/$defs/nothing", "#nowhere", "other.json#/a"])
def test_references_that_lead_nowhere(reference):
    with pytest.raises(GrammarError) as caught:
        build({"$defs": {"list": [{}]}, "items": {"$ref": reference}})
    assert caught.value.pointer == "/items/$ref"


def test_identifiers_and_anchors():
    schema = {
        "$id": "http://example.com/root.json",
        "$defs": {
            "inner": {"$id": "folder/inner.json", "$defs": {"x": {"$anchor": "here", "type": "string"}}, "items": {"$ref": "#here"}},
            "anchored": {"$anchor": "mine", "type": "integer"},
        },
        "prefixItems": [{"$ref": "#mine"}, {"$ref": "folder/inner.json"}, {"$ref": "http://example.com/folder/inner.json#here"},
                        {"$ref": "#/$defs/inner/$defs/x"}],
    }
    a = build(schema)
    assert accepts(a, [1, ["s"], "s", "s"])
    assert not accepts(a, ["s"]) and not accepts(a, [1, [1]]) and not accepts(a, [1, [], 1]) and not accepts(a, [1, [], "s", 1])


def test_resources_are_read_when_needed():
    read = []

    class Documents(dict):
        def get(self, key, default=None):
            read.append(key)
            return super().get(key, default)
    documents = Documents({"http://example.com/a.json": '{"$defs": {"x": {"multipleOf": 0.1}}, "$ref": "b.json"}',
                           "http://example.com/b.json": {"type": "number"}, "http://example.com/c.json": "not JSON"})
    a = build({"items": {"allOf": [{"$ref": "http://example.com/a.json"}, {"$ref": "http://example.com/a.json#/$defs/x"}]}}, resources=documents)
    assert accepts(a, [0.3]) and not accepts(a, [0.35]) and not accepts(a, ["x"])
    assert "http://example.com/c.json" not in read


def test_identifiers_in_constants_are_none():
    schema = {"enum": [{"$id": "http://example.com/x", "type": "integer"}], "$defs": {"x": {"$id": "http://example.com/x", "type": "string"}},
              "anyOf": [{"$ref": "http://example.com/x"}, {}]}
    assert build(schema).value_ending(0).startswith(b"{")


def test_siblings_of_references_by_draft():
    schema = {"$ref": "#/definitions/a", "minimum": 3, "definitions": {"a": {"type": "integer"}}}
    assert not accepts(build(schema), 1)
    assert not accepts(build({**schema, "$schema": "https://json-schema.org/draft/2019-09/schema"}), 1)
    a = build({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
    assert accepts(a, 1) and any("/minimum" in w for w in a.warnings)


def test_older_keywords_keep_their_meaning_without_a_draft():
    assert not accepts(build({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}), {"a": 1})
    assert not accepts(build({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}), {"c": 1})
    a = build({"items": [{"type": "integer"}], "additionalItems": {"type": "string"}})
    assert accepts(a, [1, "x"]) and not accepts(a, [1, 1]) and not accepts(a, ["x"])
    a = build({"minimum": 1, "exclusiveMinimum": True, "maximum": 3, "exclusiveMaximum": False})
    assert accepts(a, 3) and not accepts(a, 1)


@pytest.mark.parametrize("draft, keyword, value", [("draft4", "const", 1), ("draft6", "if", {}), ("draft7", "minContains", 1),
                                                   ("draft2019-09", "prefixItems", [{"const": 1}]), ("draft2020-12", "additionalItems", {"type": "string"})])
def test_keywords_of_other_drafts_say_nothing_and_are_reported(draft, keyword, value):
    a = build({keyword: value, "then": False} if keyword == "if" else {keyword: value}, draft=draft)
    assert any(w.startswith(keyword) for w in a.warnings)
    assert accepts(a, 5) and accepts(a, [5, 5])


def test_draft_of_an_embedded_resource():
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema",
              "prefixItems": [{"$id": "old", "$schema": "http://json-schema.org/draft-04/schema#", "id": "old", "const": 1, "exclusiveMinimum": True, "minimum": 2}]}
    a = build(schema)
    assert accepts(a, [3]) and not accepts(a, [2])


def test_draft_4_integers_have_no_fraction():
    from schema_walk import Number, Walk
    for draft, ok in (("draft4", False), ("draft6", True)):
        a = build({"type": "integer"}, draft=draft, number_spelling="any")
        assert Walk(a).feed(("scalar", Number("1.0"))) is ok
        assert Walk(a).feed(("scalar", Number("10")))


@pytest.mark.parametrize("schema, pointer", [
    ({"$schema": "http://json-schema.org/draft-03/schema#"}, "/$schema"),
    ({"$defs": {"a": {"$dynamicRef": "#x"}}, "$ref": "#/$defs/a"}, "/$defs/a/$dynamicRef"),
    ({"pattern": "(a)\\1"}, "/pattern"),
])
def test_what_is_not_supported(schema, pointer):
    with pytest.raises(GrammarError) as caught:
        build(schema)
    assert caught.value.pointer == pointer


def test_what_is_not_reached_is_not_read():
    assert accepts(build({"$defs": {"unused": {"uniqueItems": True}}, "type": "integer"}), 1)


def test_a_keyword_that_says_nothing_is_fine():
    a = build({"uniqueItems": False, "unevaluatedProperties": True, "title": "t", "x-vendor": {"type": 3}, "$comment": "c", "default": {"a": 1}})
    assert accepts(a, [1, 1]) and not a.warnings


def test_formats():
    a = build({"format": "date"})
    assert accepts(a, "2024-02-29") and not accepts(a, "2023-02-29") and accepts(a, 5)
    a = build({"format": "no-such-format"})
    assert accepts(a, "x") and "no-such-format" in a.warnings[0]
    assert accepts(build({"format": "date"}, formats="annotation"), "x")
    with pytest.raises(UnsupportedKeywordError):
        build({"format": "hostname"}, formats="strict")


def test_options_are_checked():
    with pytest.raises(TypeError):
        build({}, property_ordre="any")
    with pytest.raises(ValueError):
        build({}, property_order="alphabetical")


def test_cycles_in_place():
    assert accepts(build({"allOf": [{"$ref": "#"}], "type": "integer"}), 1)
    assert not accepts(build({"anyOf": [{"$ref": "#"}, {"type": "string"}], "maximum": 3}), 4)
    a = build({"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}, {"minimum": 1}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"maximum": 9}]}}, "$ref": "#/$defs/a"})
    assert accepts(a, 5) and not accepts(a, 0)
    for bad in ({"not": {"$ref": "#"}}, {"oneOf": [{"$ref": "#"}, {}]}, {"if": {"$ref": "#"}, "then": {}}, {"propertyNames": {"$ref": "#"}}):
        with pytest.raises(GrammarError, match="itself"):
            build(bad)


def test_one_python_object_in_two_places():
    shared = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    a = build({"properties": {"a": {"properties": {"b": shared}}, "c": shared}})
    assert accepts(a, {"a": {"b": {"n": 1}}, "c": {"n": 1}}) and not accepts(a, {"c": {"n": "x"}}) and not accepts(a, {"a": {"b": {}}})
