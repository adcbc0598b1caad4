"""JSON Schemas of Python types: what ``json.loads`` gives for a value of the type, and a keyword call ``f(**document)`` takes.

A type that pydantic knows how to describe (a model, its dataclasses, its own types) is described by pydantic; all else is read here, and
needs nothing but the standard library. Types with a name are definitions, so they may refer to themselves.

Objects are closed: a model that may write members which nobody asked for does. Where a type says that it takes more (a function with
``**kwargs``, a pydantic model with ``extra="allow"``), they may be there.
"""
from __future__ import annotations

import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import ipaddress
import pathlib
import types
import typing
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from llgcy.errors import GrammarError

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"}, int: {"type": "integer"}, bool: {"type": "boolean"}, float: {"type": "number"}, type(None): {"type": "null"},
    decimal.Decimal: {"type": "number"}, pathlib.Path: {"type": "string"}, pathlib.PurePath: {"type": "string"},
    datetime.datetime: {"type": "string", "format": "date-time"}, datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"}, datetime.timedelta: {"type": "string", "format": "duration"},
    uuid.UUID: {"type": "string", "format": "uuid"}, ipaddress.IPv4Address: {"type": "string", "format": "ipv4"},
    ipaddress.IPv6Address: {"type": "string", "format": "ipv6"},
}
_ARRAYS = (list, collections.deque, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, frozenset, collections.abc.Set, collections.abc.MutableSet)
_OBJECTS = (dict, collections.OrderedDict, collections.defaultdict, collections.abc.Mapping, collections.abc.MutableMapping)
_INTEGER_KEY = "^(0|-?[1-9][0-9]*)$"        # of an object: JSON has no other keys than strings

# What metadata of Annotated may say: the attributes of annotated_types' classes, which pydantic.Field spells the same. By keyword: for
# strings, arrays, objects.
_BOUNDS = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum", "multiple_of": "multipleOf", "pattern": "pattern"}
_LENGTHS = {"min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
            "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}}

_UNIONS = (typing.Union, types.UnionType)
_FIELD_QUALIFIERS = {"Required", "NotRequired", "ReadOnly"}     # compared by name: typing and typing_extensions each have their own before 3.11 and 3.13


def schema_of(described: Any) -> Any:
    """The JSON Schema (draft 2020-12) of a type, or of a function's arguments.

    Parameters
    ----------
    described : type, function or pydantic.TypeAdapter
        A class (pydantic model, dataclass, TypedDict, NamedTuple, Enum, ...), a type expression (Union, Literal, Annotated, ``list[int]``, ...), or
        a callable whose parameters are annotated: then the schema is that of an object with the parameters as members.

    Returns
    -------
    dict or bool

    Raises
    ------
    TypeError
        It is none of these.
    GrammarError
        A part of it has no JSON form, or no annotation.

    Examples
    --------
    >>> schema_of(typing.Literal["yes", "no"])
    {'enum': ['yes', 'no']}
    """
    reader = _Reader()
    if inspect.isroutine(described) or isinstance(described, functools.partial):
        schema = reader.arguments(described, described, getattr(described, "__name__", "function"), {})
    elif _is_type(described):
        schema = reader.read(described, getattr(described, "__name__", None) or str(described), {})
    elif callable(getattr(described, "json_schema", None)):
        schema = reader.by_pydantic(described.json_schema)
    else:
        raise TypeError(f"a schema is a dict, a bool, JSON text, a type or a function, not {type(described).__name__}")
    if reader.definitions:
        schema = {**(schema if isinstance(schema, dict) else {}), "$defs": reader.definitions}
    return schema


def _is_type(value: Any) -> bool:
    return (isinstance(value, (type, typing.TypeVar)) or typing.get_origin(value) is not None or hasattr(value, "__supertype__")
            or value is Any or value is None or _is_alias(value))


def _is_alias(value: Any) -> bool:
    """Is it a ``type X = ...``?"""
    return type(value).__name__ == "TypeAliasType"


class _Reader:
    """Reads types, and collects definitions.

    Attributes
    ----------
    definitions : dict
        Of ``$defs``, by name.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self._names: dict[Any, str] = {}

    def read(self, type_: Any, place: str, variables: dict[Any, Any]) -> Any:
        """The schema of a type.

        Parameters
        ----------
        type_ : type or type expression
        place : str
            Where it stands, for messages.
        variables : dict
            What type variables stand for here.
        """
        if type_ is Any or type_ is object:
            return True
        if type_ is None:
            type_ = type(None)
        if isinstance(type_, type) and type_ in _SCALARS:
            return dict(_SCALARS[type_])
        if isinstance(type_, typing.TypeVar):
            return self.read(variables.get(type_) or type_.__bound__ or (typing.Union[type_.__constraints__] if type_.__constraints__ else Any), place, variables)
        if hasattr(type_, "__supertype__"):             # a NewType
            return self.read(type_.__supertype__, place, variables)
        origin, arguments = typing.get_origin(type_), typing.get_args(type_)
        if getattr(origin, "_name", None) in _FIELD_QUALIFIERS:
            return self.read(arguments[0], place, variables)
        if origin is typing.Annotated:
            return self._annotated(self.read(arguments[0], place, variables), type_.__metadata__, place)
        if origin in _UNIONS:
            return _any_of([self.read(argument, place, variables) for argument in arguments])
        if origin is typing.Literal:
            return {"enum": [self._value(value, place) for value in arguments]}
        if _is_alias(type_) or _is_alias(origin):
            return self._defined(type_, place, lambda own: self.read((origin or type_).__value__, place, own), variables)
        if _pydantic_describes(type_, origin):
            return self.by_pydantic(lambda **options: _adapter(type_, place).json_schema(**options))
        if isinstance(type_, type) and issubclass(type_, enum.Enum):
            if issubclass(type_, enum.Flag):
                raise self._refused(place, type_, "its values are sums; name those that may come with Literal")
            return {"enum": [self._value(member, place) for member in type_]}
        return self._container(type_, origin or type_, arguments, place, variables)

    def arguments(self, function: Callable[..., Any], hinted: Any, place: str, variables: dict[Any, Any]) -> dict[str, Any]:
        """The schema of an object with which the function can be called; also of a dataclass, by its constructor."""
        hints = _hints(hinted, place)
        properties: dict[str, Any] = {}
        required: list[str] = []
        more: Any = False
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError) as error:
            raise GrammarError(f"{place} has no signature that could be read; write a function with annotations around it") from error
        for name, parameter in parameters.items():
            if name not in hints:
                raise GrammarError(f"{place}: the parameter {name} has no annotation; say what it may be, if only typing.Any")
            hint = hints[name].type if isinstance(hints[name], dataclasses.InitVar) else hints[name]
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                raise GrammarError(f"{place}: the parameter {name} cannot be given by name, and the members of an object are names")
            if parameter.kind is parameter.VAR_KEYWORD:
                more = self.read(hint, f"{place}.{name}", variables)
                continue
            properties[name] = self.read(hint, f"{place}.{name}", variables)
            if parameter.default is parameter.empty:
                required.append(name)
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": more}

    def by_pydantic(self, json_schema: Callable[..., Any]) -> Any:
        """What pydantic says, its definitions moved to ours."""
        prefix = f"pydantic{len(self.definitions)}." if self.definitions else ""
        schema = json_schema(ref_template=f"#/$defs/{prefix}{{model}}")
        for name, definition in schema.pop("$defs", {}).items():
            self.definitions[prefix + name] = _closed(definition)
        return _closed(schema)

    def _defined(self, type_: Any, place: str, read: Callable[[dict[Any, Any]], Any], variables: dict[Any, Any]) -> dict[str, Any]:
        """A reference to the definition of a type that has a name; ``read`` is called with what its own type variables stand for."""
        origin = typing.get_origin(type_) or type_
        parameters: tuple[Any, ...] = getattr(origin, "__type_params__", ()) or getattr(origin, "__parameters__", ())
        own = dict(zip(parameters, [variables.get(argument, argument) if isinstance(argument, typing.TypeVar) else argument for argument in typing.get_args(type_)]))
        key = (origin, repr(list(own.values())))         # as text, since Annotated may hold what has no hash
        if key not in self._names:
            base = getattr(origin, "__name__", "type")
            name = next(name for name in [base] + [f"{base}{i}" for i in range(2, len(self.definitions) + 3)] if name not in self.definitions)
            self._names[key] = name
            self.definitions[name] = True            # its place is taken while it is read
            self.definitions[name] = read(own)
        return {"$ref": f"#/$defs/{self._names[key]}"}

    def _container(self, type_: Any, origin: Any, arguments: tuple[Any, ...], place: str, variables: dict[Any, Any]) -> Any:
        if isinstance(origin, type) and dataclasses.is_dataclass(origin):
            return self._defined(type_, place, lambda own: self.arguments(origin, origin, origin.__name__, own), variables)
        if _is_typed_dict(origin):
            return self._defined(type_, place, lambda own: self._typed_dict(origin, own), variables)
        if isinstance(origin, type) and issubclass(origin, tuple) and hasattr(origin, "_fields"):
            return self._defined(type_, place, lambda own: self._named_tuple(origin, own), variables)
        if origin is tuple:
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return {"type": "array", "items": self.read(arguments[0], place, variables)}
            if not arguments and type_ is not typing.Tuple and typing.get_origin(type_) is None:
                return {"type": "array"}
            items = [] if arguments == ((),) else [self.read(argument, f"{place}[{i}]", variables) for i, argument in enumerate(arguments)]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)} if items else {"type": "array", "maxItems": 0}
        if origin in _ARRAYS:
            return {"type": "array", "items": self.read(arguments[0], place, variables)} if arguments else {"type": "array"}
        if origin in _SETS:
            return {"type": "array", "uniqueItems": True, **({"items": self.read(arguments[0], place, variables)} if arguments else {})}
        if origin in _OBJECTS:
            return self._mapping(*arguments, place=place, variables=variables) if arguments else {"type": "object"}
        if isinstance(origin, type) and issubclass(origin, tuple(_SCALARS)):
            raise self._refused(place, type_, "what its constructor takes is not known; use the type that it is made of, with Annotated for what it asks")
        raise self._refused(place, type_, "see llgcy.schema.python_types for the types that have")

    def _mapping(self, keys: Any, values: Any, *, place: str, variables: dict[Any, Any]) -> dict[str, Any]:
        names = self.read(keys, f"{place} (keys)", variables)
        if names == _SCALARS[int]:
            names = {"pattern": _INTEGER_KEY}
        elif not (isinstance(names, dict) and (names.get("type") == "string" or "enum" in names and all(isinstance(name, str) for name in names["enum"]))):
            raise self._refused(place, keys, "the names of a JSON object are strings")
        out = {"type": "object", "additionalProperties": self.read(values, place, variables)}
        return out if names == _SCALARS[str] else {**out, "propertyNames": names}

    def _typed_dict(self, type_: Any, variables: dict[Any, Any]) -> dict[str, Any]:
        hints, required = _hints(type_, type_.__name__), []
        for name, hint in hints.items():
            # The class decides without having resolved annotations that are text, so what they say goes first.
            qualifiers = set()
            while getattr(typing.get_origin(hint), "_name", None) in _FIELD_QUALIFIERS or typing.get_origin(hint) is typing.Annotated:
                qualifiers.add(getattr(typing.get_origin(hint), "_name", None))
                hint = typing.get_args(hint)[0]
            if "Required" in qualifiers or name in type_.__required_keys__ and "NotRequired" not in qualifiers:
                required.append(name)
        return {"type": "object", "properties": {name: self.read(hint, f"{type_.__name__}.{name}", variables) for name, hint in hints.items()},
                "required": required, "additionalProperties": False}

    def _named_tuple(self, type_: Any, variables: dict[Any, Any]) -> dict[str, Any]:
        hints = _hints(type_, type_.__name__)
        items = [self.read(hints.get(name, Any), f"{type_.__name__}.{name}", variables) for name in type_._fields]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items) - len(type_._field_defaults)}

    def _annotated(self, schema: Any, metadata: Iterable[Any], place: str) -> Any:
        """The schema with what an Annotated says."""
        said: dict[str, Any] = {}
        kinds = self._kinds(schema)
        for datum in metadata:
            if isinstance(datum, str):
                said["description"] = datum
            elif isinstance(datum, dict):
                said.update(datum)
            else:
                self._constraints(datum, kinds, said, place)
        return {**schema, **said} if isinstance(schema, dict) else said or schema

    def _kinds(self, schema: Any) -> set[str]:
        """The JSON types that a schema made here speaks of."""
        if not isinstance(schema, dict):
            return {"string", "array", "object"}
        if "$ref" in schema:
            return self._kinds(self.definitions.get(schema["$ref"].rpartition("/")[2], {}))
        if "enum" in schema:
            return {"string"} if any(isinstance(value, str) for value in schema["enum"]) else set()
        return {schema["type"]} if "type" in schema else set().union(*map(self._kinds, schema.get("anyOf", [])))

    def _constraints(self, datum: Any, kinds: set[str], said: dict[str, Any], place: str) -> None:
        known = False
        for attribute, keyword in _BOUNDS.items():
            if getattr(datum, attribute, None) is not None:
                said[keyword], known = getattr(datum, attribute), True
        for attribute, keywords in _LENGTHS.items():
            length = getattr(datum, attribute, None)
            if length is not None:
                if not kinds & keywords.keys():
                    raise GrammarError(f"{place}: {datum!r} is about the length of what has none")
                said.update({keywords[kind]: length for kind in keywords if kind in kinds})
                known = True
        for part in getattr(datum, "metadata", ()):          # of pydantic's Field
            self._constraints(part, kinds, said, place)
            known = True
        for attribute in "description", "documentation":
            if isinstance(getattr(datum, attribute, None), str):
                said["description"], known = getattr(datum, attribute), True
        # Metadata that is not known belongs to others (PEP 593); but a constraint is enforced or refused.
        if not known and type(datum).__module__.partition(".")[0] == "annotated_types" and type(datum).__name__ != "Interval":
            raise GrammarError(f"{place}: {datum!r} is a constraint that a schema cannot state; leave it to the code that takes the value")

    def _value(self, value: Any, place: str) -> Any:
        if isinstance(value, enum.Enum):
            value = value.value
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        raise self._refused(place, value, "a value of Literal or Enum is a str, int, float, bool or None")

    @staticmethod
    def _refused(place: str, what: Any, why: str) -> GrammarError:
        return GrammarError(f"{place}: {getattr(what, '__name__', repr(what))} has no JSON form: {why}")


def _any_of(schemas: list[Any]) -> Any:
    distinct: list[Any] = []
    for schema in schemas:
        if not any(repr(schema) == repr(other) for other in distinct):       # as text: 1 == True
            distinct.append(schema)
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _hints(described: Any, place: str) -> dict[str, Any]:
    """The annotations, resolved where they are text."""
    while isinstance(described, functools.partial):
        described = described.func
    try:
        return typing.get_type_hints(described, include_extras=True)
    except NameError as error:
        raise GrammarError(f"{place}: an annotation names what is not there ({error}); define it at the top of its module") from error
    except TypeError as error:
        raise GrammarError(f"{place}: the annotations cannot be read ({error})") from error


def _is_typed_dict(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, dict) and hasattr(type_, "__required_keys__") and hasattr(type_, "__total__")


def _pydantic_describes(type_: Any, origin: Any) -> bool:
    """Is it a type of pydantic's own, or one made for it?"""
    return any(hasattr(part, "__get_pydantic_core_schema__") or hasattr(part, "__pydantic_core_schema__") for part in (type_, origin) if isinstance(part, type))


def _adapter(type_: Any, place: str) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError as error:
        raise GrammarError(f"{place}: {type_!r} is described by pydantic 2, which is not installed") from error
    return TypeAdapter(type_)


def _closed(schema: Any) -> Any:
    """A schema of pydantic's with its objects closed where it leaves them open by saying nothing."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in ("properties", "patternProperties", "$defs", "dependentSchemas"):
            out[keyword] = {name: _closed(part) for name, part in value.items()}
        elif keyword in ("items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"):
            out[keyword] = _closed(value)
        else:
            out[keyword] = value
    if out.get("type") == "object" and "properties" in out:
        out.setdefault("additionalProperties", False)
    return out
