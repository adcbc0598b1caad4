"""Schemas of Python types. The judge is pydantic, which validates what is written under the grammar, and writes what the grammar must accept."""
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import json
import typing
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, Optional, TypeVar, Union

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is optional, and the judge of these tests")
annotated_types = pytest.importorskip("annotated_types")
import typing_extensions  # noqa: E402

import llgcy  # noqa: E402
from llgcy.schema.python_types import schema_of  # noqa: E402
from llgcy.standin import StandIn  # noqa: E402

T = TypeVar("T")


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


@dataclasses.dataclass
class Tree:
    name: str
    children: list["Tree"] = dataclasses.field(default_factory=list)
    hidden: int = dataclasses.field(default=1, init=False)


@dataclasses.dataclass
class Box(Generic[T]):
    value: T
    more: dict[str, T] | None = None


@dataclasses.dataclass(kw_only=True)
class Shape:
    color: Color
    corners: tuple[Point, Point]
    path: tuple[int, ...] = ()
    seed: dataclasses.InitVar[int] = 0
    kind: typing.ClassVar[str] = "shape"


class Movie(typing_extensions.TypedDict):
    title: str
    year: Annotated[int, annotated_types.Interval(ge=1888, lt=2100)]
    rating: typing_extensions.NotRequired[float]


class Partial(Movie, total=False):
    note: Optional[str]
    level: "typing_extensions.Required[Level]"


class Pair(NamedTuple):
    left: int
    right: str = "x"


class Address(pydantic.BaseModel):
    street: str = pydantic.Field(min_length=1, max_length=20, description="with the number")
    code: Annotated[str, pydantic.Field(pattern="^[0-9]{5}$")]


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = pydantic.Field(ge=0, le=9)


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    good: bool


class Person(pydantic.BaseModel):
    name: str
    age: Annotated[int, pydantic.Field(ge=0, le=150)]
    address: Address | None = None
    pets: list[Annotated[Union[Cat, Dog], pydantic.Field(discriminator="kind")]] = []
    friend: Optional["Person"] = None


class Loose(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    a: int


@dataclasses.dataclass
class Mixed:
    """A standard dataclass with pydantic models in it, among them one of the name of a type here."""
    person: Person
    point: Point
    boxes: list[Box[int]]
    box: Box[str]


Identifier = typing.NewType("Identifier", int)

TYPES = {
    "str": (str, ["", "é\n", "a" * 50]), "int": (int, [0, -5, 10**12]), "float": (float, [1.5, -0.25, 3]), "bool": (bool, [True, False]), "null": (type(None), [None]),
    "list": (list[int], [[], [1, 2]]), "nested": (list[list[Union[int, str]]], [[[1, "a"], []]]), "bare": (list, [[1, "x", None]]),
    "sequence": (collections.abc.Sequence[bool], [[True]]),
    "tuple": (tuple[int, str], [[1, "a"]]), "longer": (tuple[int, ...], [[], [1, 2, 3]]), "empty": (tuple[()], [[]]), "any tuple": (tuple, [[1, "a"]]),
    "dict": (dict[str, int], [{}, {"a": 1}]), "any dict": (dict, [{"a": [1]}]), "keys": (dict[Literal["a", "b"], int], [{"a": 1}, {"a": 1, "b": 2}]),
    "integer keys": (dict[int, bool], [{"0": True, "-12": False}]), "enum keys": (dict[Color, int], [{"red": 1}]),
    "mapping": (collections.abc.Mapping[str, list[int]], [{"a": [1]}]),
    "constrained keys": (dict[Annotated[str, annotated_types.MaxLen(2)], int], [{"ab": 1}]),
    "optional": (Optional[int], [None, 5]), "union": (Union[int, str, None], [1, "1", None]), "bar": (int | bool | list[str], [1, True, ["a"]]),
    "same": (Union[Annotated[int, "one"], int], [1]), "literal": (Literal["a", 1, True, None], ["a", 1, True, None]), "enum": (Color, ["red"]), "int enum": (Level, [1, 3]),
    "bounds": (Annotated[int, annotated_types.Gt(3), annotated_types.Le(7)], [4, 7]), "multiple": (Annotated[int, annotated_types.MultipleOf(3)], [0, 9]),
    "length": (Annotated[str, annotated_types.Len(2, 4)], ["ab", "abcd"]), "items": (Annotated[list[int], annotated_types.MinLen(1)], [[1]]),
    "length of union": (Annotated[Union[str, list[int], None], annotated_types.MaxLen(2)], ["ab", [1, 2], None]), "field": (Annotated[float, pydantic.Field(gt=0, lt=1)], [0.5]),
    "pattern": (Annotated[str, pydantic.Field(pattern="^a+$")], ["aa"]), "properties": (Annotated[dict[str, int], annotated_types.Len(1, 2)], [{"a": 1}]),
    "annotated twice": (Annotated[Annotated[int, annotated_types.Ge(0)], annotated_types.Lt(5)], [0, 4]),
    "date": (datetime.date, ["2025-02-28"]), "time": (datetime.time, ["10:20:30Z"]), "moment": (datetime.datetime, ["2025-02-28T10:20:30Z"]),
    "uuid": (uuid.UUID, [str(uuid.UUID(int=5))]), "decimal": (decimal.Decimal, [1.5]), "any": (Any, [None, {"a": []}]), "object": (object, [1]), "new": (Identifier, [5]),
    "dataclass": (Point, [{"x": 1, "y": 2.5}, {"x": 1}]), "recursive": (Tree, [{"name": "a", "children": [{"name": "b"}]}]),
    "generic": (Box[int], [{"value": 1, "more": {"a": 2}}, {"value": 2, "more": None}]), "open generic": (Box, [{"value": [1]}]), "generic of generic": (Box[Box[bool]], [{"value": {"value": True}}]),
    "keywords only": (Shape, [{"color": "red", "corners": [{"x": 1}, {"x": 2, "y": 0}], "path": [1], "seed": 3}]),
    "typed dict": (Movie, [{"title": "M", "year": 1931}, {"title": "M", "year": 1931, "rating": 8.3}]), "partial": (Partial, [{"title": "M", "year": 1931, "level": 1}]),
    "named tuple": (Pair, [[1], [1, "b"]]), "model": (Person, [{"name": "Ann", "age": 3, "pets": [{"kind": "cat", "lives": 9}], "friend": {"name": "Bob", "age": 4}}]),
    "loose model": (Loose, [{"a": 1, "zzz": [1]}]), "list of models": (list[Address], [[{"street": "x", "code": "12345"}]]),
    "mixed": (Mixed, [{"person": {"name": "Ann", "age": 3}, "point": {"x": 1}, "boxes": [{"value": 1}], "box": {"value": "a"}}]),
    "email": (dict[str, pydantic.PositiveInt], [{"a": 1}]),
}


def written(grammar, count, tokens=60):
    """Texts under the grammar, from random logits."""
    tokenizer = llgcy.Tokenizer.default()
    compiled, model = llgcy.compile(grammar, tokenizer), StandIn(tokenizer, seed=1)
    for _ in range(count):
        matcher, bitmask, out = compiled.matcher(), llgcy.allocate_bitmask(1, tokenizer.vocab_size), b""
        while not matcher.is_terminated() and matcher.steps < tokens:
            matcher.fill_next_token_bitmask(bitmask)
            token = model.choose(bitmask[0])
            matcher.accept_token(token)
            out += tokenizer.token_bytes(token) or b""
        yield (out + matcher.completion()).decode()


@pytest.mark.parametrize("name", TYPES)
def test_as_pydantic_has_it(name):
    type_, documents = TYPES[name]
    adapter = pydantic.TypeAdapter(type_)
    grammar = llgcy.Grammar.from_json_schema(type_)
    assert not grammar.warnings
    for document in documents:
        text = json.dumps(document)
        adapter.validate_json(text)
        assert grammar.accepts(text), text
    for text in written(grammar, 8):
        adapter.validate_json(text)


WRONG = {
    "int": (int, ["1.5", "null", '"1"']), "bounds": (Annotated[int, annotated_types.Gt(3), annotated_types.Le(7)], ["3", "8"]),
    "tuple": (tuple[int, str], ["[1]", '[1,"a",2]']), "empty": (tuple[()], ["[1]"]), "literal": (Literal["a", 1], ['"b"', "2", "true"]),
    "one of two": (Literal[True, 0], ["1", "false"]), "enum": (Level, ["2"]), "keys": (dict[Literal["a"], int], ['{"b":1}']), "integer keys": (dict[int, int], ['{"a":1}', '{"01":1}']),
    "dataclass": (Point, ["{}", '{"x":1,"z":2}', '{"x":"1"}']), "recursive": (Tree, ['{"name":"a","children":[{}]}', '{"name":"a","hidden":1}']),
    "keywords only": (Shape, ['{"color":"blue","corners":[{"x":1},{"x":1}]}', '{"color":"red","corners":[{"x":1},{"x":1}],"kind":"a"}']),
    "typed dict": (Movie, ['{"title":"M"}', '{"title":"M","year":1}']), "partial": (Partial, ['{"title":"M","year":1931}']),
    "named tuple": (Pair, ["[]", '[1,"a",1]']), "generic": (Box[int], ['{"value":"a"}', '{"value":1,"more":{"a":"b"}}']),
    "model": (Person, ['{"name":"Ann"}', '{"name":"Ann","age":151}', '{"name":"Ann","age":1,"pets":[{"kind":"cat"}]}', '{"name":"Ann","age":1,"extra":2}']),
    "models of two": (list[Address], ['[{"street":"","code":"12345"}]', '[{"street":"a","code":"1234"}]']),
    "mixed": (Mixed, ['{"person":{"name":"Ann","age":3},"point":{"x":1},"boxes":[{"value":"a"}],"box":{"value":"a"}}']),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused(name):
    type_, texts = WRONG[name]
    grammar = llgcy.Grammar.from_json_schema(type_)
    for text in texts:
        assert not grammar.accepts(text)


@pytest.mark.parametrize("type_, right, wrong", [(set[int], ["[]", "[1,2]"], ["[1,1]", '["a"]']), (frozenset[Color], ['["red","green"]'], ['["red","red"]'])])
def test_sets(type_, right, wrong):
    assert schema_of(type_) == {"type": "array", "uniqueItems": True, "items": schema_of(typing.get_args(type_)[0])}
    try:
        grammar = llgcy.Grammar.from_json_schema(type_)
    except llgcy.UnsupportedKeywordError as error:
        assert "uniqueItems" in str(error)
        pytest.skip("uniqueItems is not supported yet")
    assert all(map(grammar.accepts, right)) and not any(map(grammar.accepts, wrong))


def test_literals_may_name_members_of_enums():
    assert schema_of(Literal[Color.RED, "x", Level.HIGH]) == pydantic.TypeAdapter(Literal[Color.RED, "x", Level.HIGH]).json_schema()


# Functions

def search(query: str, limit: Annotated[int, annotated_types.Interval(ge=1, le=50)] = 10, *, exact: bool, tags: "list[Color] | None" = None, **more: int) -> list[str]:
    return [query, limit, exact, tags, more]


class Tool:
    def call(self, where: Point, words: list[str]) -> None:
        return where, words

    @classmethod
    def make(cls, a: int):
        return a

    @staticmethod
    def plain(a: int):
        return a


def test_functions():
    grammar = llgcy.Grammar.from_json_schema(search)
    assert grammar.accepts('{"query":"a","exact":true}') and grammar.accepts('{"query":"a","limit":5,"exact":true,"tags":["red"],"zz":5}')
    for text in '{"query":"a"}', '{"query":"a","limit":51,"exact":true}', '{"query":"a","exact":true,"zz":"a"}':
        assert not grammar.accepts(text)
    for text in written(grammar, 10):
        document = json.loads(text)
        assert search(**document)[0] == document["query"] and 1 <= document.get("limit", 1) <= 50
    for text in written(llgcy.Grammar.from_json_schema(Tool().call), 3):
        document = json.loads(text)
        pydantic.TypeAdapter(Point).validate_python(document["where"])
        Tool().call(**document)
    for function in Tool.make, Tool.plain, Tool().plain:
        assert llgcy.Grammar.from_json_schema(function).accepts('{"a":1}')
    assert llgcy.Grammar.from_json_schema(functools.partial(search, exact=True)).accepts('{"query":"a"}')
    assert llgcy.Grammar.from_json_schema(lambda: 1).accepts("{}")


def test_type_adapter_and_options():
    grammar = llgcy.Grammar.from_json_schema(pydantic.TypeAdapter(list[Cat]), whitespace="compact")
    assert grammar.accepts('[{"kind":"cat","lives":9}]') and not grammar.accepts('[ {"kind":"cat","lives":9}]')
    with pytest.raises(TypeError, match="unknown option"):
        llgcy.Grammar.from_json_schema(Point, nonsense=1)


def test_schemas_are_documents():
    """They can be written down, and shown to a model."""
    for type_, _ in TYPES.values():
        assert json.loads(json.dumps(schema_of(type_))) == schema_of(type_)
    schema = schema_of(Mixed)
    assert set(schema) == {"$ref", "$defs"} and {"Mixed", "Point", "Box", "Box2"} <= set(schema["$defs"])
    assert schema_of(Annotated[int, "how many"]) == {"type": "integer", "description": "how many"}
    assert schema_of(Annotated[str, {"format": "ipv4"}]) == {"type": "string", "format": "ipv4"}
    assert schema_of(Annotated[str, typing_extensions.Doc("a name")]) == {"type": "string", "description": "a name"}


# What cannot be described

def no_annotation(a): ...
def positional(a: int, /): ...
def starred(*a: int): ...
def unknown(a: "Nowhere"): ...  # noqa: F821


class Flags(enum.Flag):
    A = 1


class MyInt(int): ...


@dataclasses.dataclass
class Bad:
    fine: int
    part: list[complex]


@pytest.mark.parametrize("described, message", [
    (Bad, r"Bad\.part: complex has no JSON form"), (bytes, "bytes has no JSON form"), (dict[float, int], "the names of a JSON object are strings"),
    (dict[tuple[int, int], int], "names of a JSON object"), (Flags, "its values are sums"), (MyInt, "MyInt has no JSON form"), (Literal[b"a"], "value of Literal or Enum"),
    (no_annotation, "the parameter a has no annotation"), (positional, "cannot be given by name"), (starred, "cannot be given by name"), (unknown, "names what is not there"),
    (Annotated[int, annotated_types.Len(1)], "the length of what has none"), (Annotated[int, annotated_types.Predicate(bool)], "a constraint that a schema cannot state"),
    (typing.Callable[[int], int], "has no JSON form"), (type, "has no JSON form"), (dict.fromkeys, "has no annotation|has no signature"), (max, "has no signature"),
])
def test_what_has_no_json_form(described, message):
    with pytest.raises(llgcy.GrammarError, match=message):
        llgcy.Grammar.from_json_schema(described)


@pytest.mark.parametrize("value", [set(), 5j, object(), iter([])])
def test_what_is_no_type(value):
    with pytest.raises(TypeError, match="a schema is a dict, a bool, JSON text, a type or a function"):
        llgcy.Grammar.from_json_schema(value)
