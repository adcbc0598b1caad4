"""The formats ready to be used: the automata of the patterns in `formats.py`, made beforehand by `make_formats.py`."""
from __future__ import annotations

import base64
import json
import os
import zlib
from functools import cache
from typing import Any, NamedTuple

from llgcy.core.regex import Automaton

FILE = "data/formats.json"
"""By name: the fields of `formats.Format` that are no patterns, and the ``automata``, each a table (`Automaton.dump`), packed."""


class Form(NamedTuple):
    """What a format is made of; all must hold.

    Attributes
    ----------
    automata : tuple of Automaton
        Over the characters of the whole string.
    max_length, exact, local_octets
        As in `formats.Format`.
    """

    automata: tuple[Automaton, ...]
    max_length: int | None
    exact: bool
    local_octets: int | None


@cache
def _tables() -> dict[str, dict[str, Any]]:
    with open(os.path.join(os.path.dirname(__file__), FILE), encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)
    return found


@cache
def form(name: str) -> Form | None:
    """The format of a name; None where there is none.

    Examples
    --------
    >>> form("hostname").max_length
    253
    """
    table = _tables().get(name)
    if table is None:
        return None
    return Form(tuple(unpacked(text) for text in table["automata"]), table["max_length"], table["exact"], table["local_octets"])


def packed(automaton: Automaton) -> str:
    """An automaton as text."""
    return base64.b64encode(zlib.compress(automaton.dump(), 9)).decode()


def unpacked(text: str) -> Automaton:
    """The automaton of a text."""
    return Automaton.load(zlib.decompress(base64.b64decode(text)), "chars")
