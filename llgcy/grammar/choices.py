"""Grammars that are one lexeme: a list of texts, or a regular expression."""
import re

from llgcy.errors import GrammarError
from llgcy.grammar import ir, regex

START = "start"


def from_choices(choices):
    """The grammar of exactly these texts.

    Parameters
    ----------
    choices : iterable of str
        At least one; the same text twice counts once. A hundred thousand of them are one lexeme, a trie.

    Raises
    ------
    GrammarError
        There is none, or one holds a lone surrogate.
    TypeError
        One is not a str, or `choices` is itself a str.
    """
    if isinstance(choices, (str, bytes)):
        raise TypeError(f"choices must be a list of texts, not one {type(choices).__name__}")
    texts = tuple(dict.fromkeys(choices))
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a choice must be a str, not {type(text).__name__}")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise GrammarError(f"the choice {ir.quote(text)} has a lone surrogate, which is not a character") from None
    if not texts:
        raise GrammarError("a list of choices needs at least one text")
    return _one_lexeme(ir.Words(texts))


def from_regex(pattern, flavor="python"):
    """The grammar of the texts that a regex matches as a whole.

    Parameters
    ----------
    pattern : str or re.Pattern
        A compiled pattern brings its flags with it and is always read as ``python``.
    flavor : "python", "rust" or "ecma"

    Raises
    ------
    GrammarError
        With line and column in the pattern.
    """
    flags = ""
    if isinstance(pattern, re.Pattern):
        if flavor != "python":
            raise ValueError(f"a compiled pattern is a Python regex, not one of flavor {flavor!r}")
        flags = "".join(letter for letter, flag in _FLAGS if pattern.flags & flag)
        pattern = pattern.pattern
    if not isinstance(pattern, str):
        raise TypeError(f"a regex must be a str or a re.Pattern of one, not {type(pattern).__name__}")
    return _one_lexeme(ir.Pattern(regex.parse(pattern, flavor, flags), pattern, alone=True, at=(1, 1)))


_FLAGS = (("a", re.ASCII), ("i", re.IGNORECASE), ("m", re.MULTILINE), ("s", re.DOTALL), ("x", re.VERBOSE))


def _one_lexeme(body):
    # With a single lexeme greedy and exact lexing agree; exact is what the parser proves no dead ends for.
    return ir.Grammar({START: ir.Definition(START, body)}, {}, START, None, ir.Options(lexing="exact"))
