"""Writes the automata of the formats; run it after a change of their patterns.

Run as ``python -m llgcy.schema.make_formats``.
"""
import json
import pathlib

from llgcy.core.regex import Regexes
from llgcy.grammar import regex
from llgcy.schema.format_tables import FILE, packed
from llgcy.schema.formats import FORMATS

MOST_STATES = 10_000
"""Of one pattern."""


def automaton(pattern):
    """The automaton of a pattern of `FORMATS`."""
    regexes = Regexes("chars")
    return regexes.automaton(regex.to_chars(regex.parse(pattern, flavor="python"), regexes), MOST_STATES)


def tables():
    """The content of the file."""
    return {name: {"max_length": form.max_length, "exact": form.exact, "local_octets": form.local_octets,
                   "automata": [packed(automaton(pattern)) for pattern in form.patterns]} for name, form in FORMATS.items()}


if __name__ == "__main__":
    (pathlib.Path(__file__).parent / FILE).write_text(json.dumps(tables(), indent=1) + "\n")
