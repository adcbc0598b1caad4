"""Validation of whole JSON texts and Python values by a schema, on the machine that also makes the masks."""
from __future__ import annotations

import functools
from typing import Any

from llgcy import api
from llgcy.content import json_text
from llgcy.core.json import JsonMachine
from llgcy.core.matcher import CompiledGrammar
from llgcy.errors import InvalidInstanceError, LimitError
from llgcy.instance import text_of
from llgcy.refusal import limit_of, refusal
from llgcy.schema.layout import Layout

LONGEST = (1 << 31) - 1         # bytes of a text, and so of white space in it


class _Instances(api._Schema):
    """A schema for texts that are finished, in any order and spelling."""

    validating = True
    content = None

    def __init__(self, schema: Any, **options: Any):
        fixed = {"property_order", "number_spelling", "separators", *Layout._fields}.intersection(options)
        if fixed:
            raise TypeError(f"a validator has no option {min(fixed)!r}: it takes any order of properties, any spelling and any white space")
        super().__init__(schema, property_order="any", number_spelling="any", **options)
        self.layout = Layout(max_whitespace=LONGEST, surrounding_space=True)


class Validator:
    """A JSON Schema, compiled once, that tells whether documents are valid.

    Parameters
    ----------
    schema : dict, bool, str, bytes, type or function
        As for `Grammar.from_json_schema`. A schema that nothing satisfies, ``False`` for one, refuses every document.
    **options
        ``draft``, ``formats``, ``resources``, ``openapi``, ``lenient``: as for `Grammar.from_json_schema`. Formats are enforced by default.

    Attributes
    ----------
    warnings : tuple of str
        What the schema says in vain.

    Raises
    ------
    GrammarError
        The schema is malformed; `UnsupportedKeywordError`: it uses what llgcy cannot enforce.
    LimitError

    Notes
    -----
    *What is text?* As everywhere in llgcy, a str is JSON text, and so are bytes (UTF-8). All other objects are values. The methods
    with ``_value`` take every object for a value, a str for a string.

    A few formats are enforced by a part of their language (see `llgcy.schema.formats`), so that a valid text of them may be refused, a host
    name with ``xn--`` for one; ``warnings`` name them, ``formats="strict"`` refuses the schema, ``formats="annotation"`` leaves formats out.

    Members may come in any order, numbers in any spelling, characters in any escape, white space in any amount. A name that stands
    twice in one object makes a text invalid, since readers disagree on what it means. A text may be nested 2,000 levels deep and have
    2**31 - 1 bytes; beyond, `LimitError` is raised. One validator may be used by many threads.

    Examples
    --------
    >>> validator = Validator({"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]})
    >>> validator.is_valid('{"age": 1e1}'), validator.is_valid({"age": "ten"}), validator.is_valid_value("ten")
    (True, False, False)
    >>> validator.validate('{"age": "ten"}')
    Traceback (most recent call last):
    llgcy.errors.InvalidInstanceError: the string "ten" is not allowed (at /age, byte 8); expected a number, such as 0
    """

    def __init__(self, schema: Any, **options: Any):
        self._source, self._options = _Instances(schema, **options), options
        self.warnings: tuple[str, ...] = self._source.warnings
        self._compiled: CompiledGrammar = api.Grammar(self._source)._by_bytes

    def validate(self, document: Any) -> None:
        """Raises an error where a document is not valid.

        Parameters
        ----------
        document : str, bytes, or a Python value
            A str or bytes is JSON text.

        Raises
        ------
        InvalidInstanceError
            With the ``path`` in the document as a JSON pointer, the byte ``offset`` of the first byte that no valid text has there (None
            where the document is a Python value), and what was ``expected``.
        LimitError
            It is nested too deeply, or too long; or the schema has too many alternatives for what has been read.
        TypeError
            It is a Python object that stands for no JSON value.
        """
        if isinstance(document, (str, bytes, bytearray)):
            self._check(_encoded(document))
        else:
            self.validate_value(document)

    def is_valid(self, document: Any) -> bool:
        """Whether a document is valid; like `validate`, but for the `InvalidInstanceError`."""
        if not isinstance(document, (str, bytes, bytearray)):
            return self.is_valid_value(document)
        try:
            return self._accepts(_encoded(document))
        except InvalidInstanceError:
            return False

    def validate_value(self, value: Any) -> None:
        """The same as `validate`, where a str is a string and no JSON text."""
        try:
            self._check(text_of(value))
        except InvalidInstanceError as error:
            raise InvalidInstanceError(error.message, error.path, None, error.expected) from None

    def is_valid_value(self, value: Any) -> bool:
        """Whether a Python value is valid. A str is a string and no JSON text."""
        try:
            return self._accepts(text_of(value))
        except InvalidInstanceError:
            return False

    def _accepts(self, text: bytes) -> bool:
        matcher = self._compiled.matcher()
        if matcher.accept_bytes(text):
            return matcher.is_accepting()
        limit = limit_of(text, lambda: matcher.validate_tokens(text))
        if limit is not None:
            raise limit
        return False

    def _check(self, text: bytes) -> None:
        if self._accepts(text):
            return
        matcher = self._compiled.matcher()
        offset, json_offset = matcher.validate_tokens(text), _any()._compiled.matcher().validate_tokens(text)
        machine = self._compiled.machine
        assert isinstance(machine, JsonMachine)
        raise refusal(text, offset, matcher, json_offset > offset, machine.automaton.solver.sure)

    def __reduce__(self) -> tuple[Any, ...]:
        resources = {uri: json_text(document) for uri, document in self._options.get("resources", {}).items()}
        return _remade, (self._source.schema, {**self._options, "resources": resources})


def validate_json(text: str | bytes, schema: Any, **options: Any) -> None:
    """Raises an error where a JSON text is not valid by a schema; a `Validator` for one use.

    Parameters
    ----------
    text : str or bytes
    schema, **options
        As for `Validator`.

    Raises
    ------
    InvalidInstanceError
        The text is not valid.
    GrammarError, LimitError
        As `Validator` and `Validator.validate` do.
    TypeError
        The text is neither str nor bytes.

    Examples
    --------
    >>> validate_json("[1, 2", {"type": "array"})
    Traceback (most recent call last):
    llgcy.errors.InvalidInstanceError: the text ends too early (at /, byte 5); expected another item or the end of the array
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise TypeError(f"a JSON text is a str or bytes, not {type(text).__name__}")
    Validator(schema, **options).validate(text)


@functools.cache
def _any() -> Validator:
    """What is JSON at all."""
    return Validator(True)


def _encoded(text: str | bytes | bytearray) -> bytes:
    if isinstance(text, str):
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            offset = len(text[:error.start].encode())
            raise InvalidInstanceError("the text has a lone surrogate, which is no character", "", offset, "Unicode text") from None
    else:
        data = bytes(text)
    if len(data) > LONGEST:
        raise LimitError(f"a text of {len(data):,} bytes; the limit is {LONGEST:,}")
    return data


def _remade(schema: str, options: dict[str, Any]) -> Validator:
    return Validator(schema, **options)
