"""Regular expressions: syntax trees, the syntaxes of Python, Rust and ECMA-262, and terms of the core.

>>> from llgcy.core.regex import Regexes
>>> store = Regexes("bytes")
>>> start = to_bytes(parse("[a-c]+", "rust"), store)
"""
import re

from llgcy.grammar.regex.ecma import Ecma
from llgcy.grammar.regex.lower import search, to_bytes, to_chars
from llgcy.grammar.regex.python import Python
from llgcy.grammar.regex.rust import Rust
from llgcy.grammar.regex.tree import (
    ANY, EMPTY, NOTHING, TEXT, Alternate, Anchor, Both, Bytes, Chars, Complement, Concat, Literal, Look, Repeat, alternate, chars, concat, literal,
    sees_around)
from llgcy.grammar.regex.unicode import UNICODE_VERSION

__all__ = ["ANY", "EMPTY", "NOTHING", "TEXT", "UNICODE_VERSION", "Alternate", "Anchor", "Both", "Bytes", "Chars", "Complement", "Concat",
           "Literal", "Look", "Repeat", "alternate", "chars", "concat", "literal", "parse", "search", "sees_around", "to_bytes", "to_chars"]

FLAVORS = {"python": Python, "rust": Rust, "ecma": Ecma}
RE_FLAGS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}


def parse(pattern, flavor="python", flags="", *, allow_invalid_utf8=False):
    """Read a regular expression.

    Parameters
    ----------
    pattern : str or re.Pattern
        A compiled pattern (of str) brings its flags along; its flavour is "python".
    flavor : "python", "rust" or "ecma"
        Python's `re` for str; Rust's `regex` crate; ECMA-262 with flag u.
    flags : str
        Letters of the flavour, such as "i" (case) or "s" (the dot matches all).
    allow_invalid_utf8 : bool
        "rust" only: let (?-u) match bytes that are no UTF-8.

    Returns
    -------
    syntax tree
        For `to_bytes`, `to_chars` or `search`.

    Raises
    ------
    GrammarError
        With the column: wrong syntax, or what no automaton can do (back-references, atomic groups).
    ValueError
        No such flavour, or a compiled pattern with another one.
    TypeError
        The pattern is no text.

    Notes
    -----
    Whether a repetition is greedy or lazy changes nothing about which texts match, and groups capture nothing.
    """
    if isinstance(pattern, re.Pattern):
        if flavor != "python" or flags:
            raise ValueError("a compiled pattern has its own flavour and flags")
        pattern, flags = pattern.pattern, "".join(letter for flag, letter in RE_FLAGS.items() if pattern.flags & flag)
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern is a str, not {type(pattern).__name__}")
    if flavor not in FLAVORS:
        raise ValueError(f"flavor is one of {', '.join(map(repr, FLAVORS))}, not {flavor!r}")
    if flavor == "rust":
        return Rust(pattern, flags, allow_invalid_utf8).parse()
    return FLAVORS[flavor](pattern, flags).parse()
