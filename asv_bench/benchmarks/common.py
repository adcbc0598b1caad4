"""Grammars, and a text of each. Append only: a case that changes has no history."""
import json

import llgcy

ADDRESS = {"type": "object", "properties": {"street": {"type": "string", "minLength": 1, "maxLength": 60}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
           "required": ["street", "zip"], "additionalProperties": False}
PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 150}, "home": ADDRESS,
                                           "tags": {"type": "array", "items": {"enum": ["new", "used", "broken"]}, "maxItems": 5}},
          "required": ["name", "age", "home", "tags"]}
WIDE = {"type": "object", "properties": {f"property_{number}": {"type": ["integer", "null"]} for number in range(100)}, "additionalProperties": False}
TREE = {"$defs": {"node": {"type": "object", "properties": {"value": {"type": "number"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                           "required": ["value", "children"], "additionalProperties": False}}, "$ref": "#/$defs/node"}

DATED = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}, "by": {"type": "string", "format": "email"},
                                          "page": {"type": "string", "format": "uri"}}, "required": ["at", "by", "page"], "additionalProperties": False}
SEARCHED = {"type": "object", "properties": {"path": {"type": "string", "pattern": "\\w+/(\\w+\\.)*\\w+\\.xml"}}, "required": ["path"]}
TOOLS = {"anyOf": [{"type": "object", "properties": {"name": {"const": f"tool_{number}"}, "arguments": {
    "type": "object", "properties": {f"a{number}": {"type": "string"}, "n": {"type": "integer"}}, "required": [f"a{number}", "n"],
    "additionalProperties": False}}, "required": ["name", "arguments"], "additionalProperties": False} for number in range(200)]}
WORDS = {"enum": [f"{number * 7919 % 10007} word {number}" for number in range(10000)]}


def tree(depth):
    return {"value": depth / 4, "children": [tree(depth - 1), tree(depth - 1)] if depth else []}


DOCUMENTS = {
    "person": (PERSON, {"name": "Zoë Q. Smith", "age": 42, "home": {"street": "12 Long Lane", "zip": "04109"}, "tags": ["new", "used"]}),
    "wide": (WIDE, {f"property_{number}": number or None for number in range(0, 100, 3)}),
    "tree": (TREE, tree(4)),
    "formats": (DATED, {"at": "2024-02-29T23:59:07Z", "by": "ann.miller@example.org", "page": "https://example.org/a?b=c#d"}),
    "searched": (SEARCHED, {"path": "folder/some.long.name.xml"}),
    "tools": (TOOLS, {"name": "tool_117", "arguments": {"a117": "x y", "n": 12}}),
    "enum": (WORDS, WORDS["enum"][777]),
    "any": (True, {"a": [1, 2.5, "x\n", None, {"b": [[], {}]}], "long": "lorem ipsum " * 20}),
}
LARK = {
    "right_recursion": ('start: item\nitem: "x" item | "x"', "x" * 3000),
    "ambiguous": ('start: e\ne: e "+" e | "1"', "1" + "+1" * 400),
    "list": ('start: "[" [item ("," item)*] "]"\nitem: /[0-9]+/ | start', "[1,[2,[3,[4,5],6]],7,[],[8,9]]" ),
}
REGEX = {
    "words": (r"([A-Z][a-z]+ )+[A-Z][a-z]+\.", "The Quick Brown Fox Jumps Over The Lazy Dog."),
    "counted": (r"(a|bc){10,200}", "abc" * 60),
    "everything": (r"(?s:.)*", "Whatever may come, all tokens that are UTF-8 may come next."),
    "date": (r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "2024-02-29"),
}
JSON_CASES, LARK_CASES, REGEX_CASES = list(DOCUMENTS), list(LARK), list(REGEX)


def grammar_and_text(case):
    """The grammar of a case, read anew, and a text that it accepts."""
    if case in DOCUMENTS:
        schema, document = DOCUMENTS[case]
        return llgcy.Grammar.from_json_schema(schema), json.dumps(document)
    if case in LARK:
        source, text = LARK[case]
        return llgcy.Grammar.from_lark(source), text
    pattern, text = REGEX[case]
    return llgcy.Grammar.from_regex(pattern), text


def replay(compiled, ids, bitmask):
    """Fill a mask and take the next token, to the end."""
    matcher = compiled.matcher()
    for id in ids:
        matcher.fill_next_token_bitmask(bitmask)
        if not matcher.accept_token(id):
            raise AssertionError(f"token {id} refused")
    if not matcher.is_accepting():
        raise AssertionError("the text isn't finished")
    return matcher
