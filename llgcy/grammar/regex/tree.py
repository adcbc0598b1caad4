"""Syntax trees of regular expressions. Front ends build them, `lower` turns them into terms.

Trees can be as deep as their text is long: nothing here walks them recursively.
"""
from dataclasses import dataclass

from llgcy.grammar.regex import charset, unicode


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """Exactly this text."""
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Chars:
    """One character of a set: ascending ranges of code points with gaps between them (see `chars`)."""
    ranges: tuple


@dataclass(frozen=True, slots=True, eq=False)
class Bytes:
    """One byte of a set, whatever it is of UTF-8: ascending ranges of 0 to 255."""
    ranges: tuple


@dataclass(frozen=True, slots=True, eq=False)
class Concat:
    """The parts one after the other."""
    parts: tuple


@dataclass(frozen=True, slots=True, eq=False)
class Alternate:
    """One of the parts; without parts, no text at all."""
    parts: tuple


@dataclass(frozen=True, slots=True, eq=False)
class Both:
    """The texts that all parts share. Look-ahead in a part sees no further than the text of the part."""
    parts: tuple


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """The texts (sequences of characters) that the part does not match."""
    part: object


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """low to high copies of the part; high is None: no upper bound."""
    part: object
    low: int
    high: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """The start of the text, or its end."""
    start: bool
    column: int | None = None       # in the pattern, from 1


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The part matches (or, negated, does not match) right after this place, or right before it; nothing is read."""
    part: object
    ahead: bool
    negated: bool
    column: int | None = None


EMPTY = Literal("")
NOTHING = Alternate(())
ANY = Chars(charset.ALL)            # surrogates are in no language
TEXT = Repeat(ANY, 0, None)


def literal(text, ignore_case=False):
    """A text, or the texts that simple case folding makes equal to it.

    Parameters
    ----------
    text : str
    ignore_case : bool

    Examples
    --------
    >>> literal("k", ignore_case=True).ranges       # with the Kelvin sign
    ((75, 75), (107, 107), (8490, 8490))
    """
    if not ignore_case:
        return Literal(text)
    parts, plain = [], ""
    for c in text:
        variants = unicode.case_variants(ord(c))
        if len(variants) == 1:
            plain += c
            continue
        if plain:
            parts.append(Literal(plain))
        plain = ""
        parts.append(chars((v, v) for v in variants))
    if plain:
        parts.append(Literal(plain))
    return concat(parts)


def chars(ranges):
    """One character of any of the ranges (pairs of code points, any order)."""
    return Chars(charset.of(ranges))


def concat(parts):
    """The parts one after the other; neighbouring literals become one."""
    out, texts = [], []
    for part in parts:
        if isinstance(part, Literal):
            texts.append(part.text)
            continue
        if any(texts):
            out.append(Literal("".join(texts)))
        texts = []
        out.append(part)
    if any(texts):
        out.append(Literal("".join(texts)))
    return out[0] if len(out) == 1 else Concat(tuple(out)) if out else EMPTY


def alternate(parts):
    """One of the parts."""
    parts = tuple(parts)
    return parts[0] if len(parts) == 1 else Alternate(parts)


def word_boundary(word, negated, column=None):
    """Between a character of the set and none, or the start or end of the text; negated: at any other place."""
    part = Chars(word)
    before, after = Look(part, False, False, column), Look(part, True, False, column)
    not_before, not_after = Look(part, False, True, column), Look(part, True, True, column)
    pairs = ((before, after), (not_before, not_after)) if negated else ((before, not_after), (not_before, after))
    return Alternate(tuple(map(Concat, pairs)))


def line_start(terminators, column=None):
    """The start of the text, or behind one of the terminators (a set of characters)."""
    return Alternate((Anchor(True, column), Look(Chars(terminators), False, False, column)))


def line_end(terminators, column=None):
    """The end of the text, or before one of the terminators."""
    return Alternate((Anchor(False, column), Look(Chars(terminators), True, False, column)))


def sees_around(tree):
    """Is there an anchor or look-around in it?"""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, (Look, Anchor)):
            return True
        todo.extend(getattr(node, "parts", ()))
        todo.extend([node.part] if hasattr(node, "part") else ())
    return False
