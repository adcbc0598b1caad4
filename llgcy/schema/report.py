"""What llgcy makes of a schema, keyword by keyword."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llgcy.errors import GrammarError, LimitError
from llgcy.schema.automaton import Automaton
from llgcy.schema.notes import ALL, REFUSED, Entry, Notes
from llgcy.schema.options import Options
from llgcy.schema.profiles import PROFILE, PROFILES, check_profile
from llgcy.schema.python_types import schema_of
from llgcy.schema.read import read_json

WIDTH = 48          # characters of a pointer in the table, beyond which it is not padded


@dataclass(frozen=True)
class Report:
    """What becomes of each keyword of a schema.

    Attributes
    ----------
    entries : tuple of Entry
        ``(pointer, keyword, status, reason)`` of each keyword, outer ones first. The status is "enforced", "annotation", "ignored", "refused", or
        "profile": see `llgcy.schema.notes.Entry`.
    """

    entries: tuple[Entry, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is refused, neither by llgcy nor by the profile asked for."""
        return not any(entry.status in (REFUSED, PROFILE) for entry in self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __str__(self) -> str:
        """A table: status, pointer, reason."""
        width = min(max((len(entry.pointer) for entry in self.entries), default=0), WIDTH)
        return "\n".join(f"{entry.status:10}  {entry.pointer or '/':{width}}  {entry.reason}".rstrip() for entry in self.entries)


def check_schema(schema: Any, profile: str | None = None, **options: Any) -> Report:
    """Reports what llgcy makes of each keyword of a schema: all that it refuses, not just the first.

    Parameters
    ----------
    schema : dict, bool, str, bytes, type or function
        As for `Grammar.from_json_schema`.
    profile : str, optional
        "openai-strict", "anthropic-strict", "gemini" (its ``responseJsonSchema``) or "gemini-openapi" (its ``responseSchema``): say also what that
        hosted service would refuse or ignore, as far as is known.
    **options
        See `llgcy.schema.options.Options`.

    Returns
    -------
    Report
        Of the schema objects that references and keywords lead to. What stands in definitions that nothing leads to is not read.

    Raises
    ------
    GrammarError
        The text is not JSON.
    TypeError, ValueError
        An option or a profile that does not exist.

    Examples
    --------
    >>> print(check_schema({"type": "array", "title": "Pair", "pattern": "(a)\\\\1"}, number_spelling="any"))
    enforced    /type
    annotation  /title
    refused     /pattern  pattern '(a)\\\\1': a back-reference (what a group matched is not kept by an automaton) in ECMA-262 regular expression (line 1, column 4)
    """
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(map(repr, PROFILES))}, not {profile!r}")
    if not isinstance(schema, (dict, list, tuple, str, bytes, bytearray, int, float, type(None))):
        schema = schema_of(schema)
    if isinstance(schema, (str, bytes, bytearray)):
        schema = read_json(schema)
    notes = Notes(ALL)
    try:
        Automaton(schema, Options.of(**options), notes=notes)
    except (GrammarError, LimitError) as error:         # about the schema as a whole
        notes.add(error.pointer or "", "", REFUSED, error.message)
    entries = notes.entries()
    if profile is not None:
        entries += check_profile(schema, profile)
    return Report(tuple(entries))
