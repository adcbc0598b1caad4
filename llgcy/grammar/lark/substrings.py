"""``%regex {"substring_words": ...}``: the parts of a text as one terminal."""
import json
import re

from llgcy.errors import GrammarError
from llgcy.grammar import ir
from llgcy.grammar.source import near

FORMS = ("substring_words", "substring_chars", "substring_chunks")


def substrings(text, at=None):
    """The node of a ``%regex`` value.

    Parameters
    ----------
    text : str
        JSON: an object with one key. ``substring_words`` cuts a text where white space, letters with digits and ``_``, and all
        other signs meet; ``substring_chars`` between any two characters; ``substring_chunks`` is a list of pieces.

    Raises
    ------
    GrammarError
        It is nothing of that kind.

    Examples
    --------
    >>> substrings('{"substring_words": "the quick fox"}').chunks
    ('the', ' ', 'quick', ' ', 'fox')
    """
    value = json.loads(text)
    if not isinstance(value, dict) or len(value) != 1:
        raise GrammarError(f"%regex takes an object with one key: {', '.join(FORMS)}")
    (form, source), = value.items()
    if form not in FORMS:
        raise GrammarError(f"%regex has no {form}{near(form, FORMS)}; it has {', '.join(FORMS)}")
    if form == "substring_chunks":
        if not isinstance(source, list) or not all(isinstance(chunk, str) for chunk in source):
            raise GrammarError(f"{form} takes a list of strings")
        chunks = source
    elif not isinstance(source, str):
        raise GrammarError(f"{form} takes a string")
    else:
        chunks = re.findall(r"\s+|\w+|[^\s\w]+", source) if form == "substring_words" else list(source)
    try:
        "".join(chunks).encode()
    except UnicodeEncodeError:
        raise GrammarError(f"the text of {form} has a lone surrogate, which is not a character") from None
    return ir.Runs(tuple(filter(None, chunks)), at=at)
