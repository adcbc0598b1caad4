"""Properties of characters by name, and simple case folding, from the generated tables (see UNICODE_VERSION)."""
import base64
import zlib
from functools import lru_cache

from llgcy.grammar.regex import charset
from llgcy.grammar.regex.unicode_tables import BINARY, CASES, CATEGORY, DATA, SCRIPT, UNICODE_VERSION

__all__ = ["UNICODE_VERSION", "binary", "case_variants", "category", "fold", "lookup", "numeric"]

# Categories that are unions of others (PropertyValueAliases.txt), by the letters their members begin with.
GROUPS = {"L Letter": "Lu Ll Lt Lm Lo", "LC Cased_Letter": "Lu Ll Lt", "M Mark Combining_Mark": "Mn Mc Me", "N Number": "Nd Nl No",
          "P Punctuation punct": "Pc Pd Ps Pe Pi Pf Po", "S Symbol": "Sm Sc Sk So", "Z Separator": "Zs Zl Zp", "C Other": "Cc Cf Cs Co Cn"}


def rows(names):
    return [row.split() for row in names.split("|")]


@lru_cache(None)
def _decoded(text):
    """The sets of one table: see `encoded` in make_unicode_tables.py."""
    numbers, n, shift = [], 0, 0
    for byte in zlib.decompress(base64.b85decode(text)):
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(n)
            n = shift = 0
    sets, at = [], 0
    while at < len(numbers):
        count, place, ranges = numbers[at], 0, []
        for i in range(at + 1, at + 1 + 2 * count, 2):
            first = place + numbers[i]
            place = first + numbers[i + 1]
            ranges.append((first, place))
        sets.append(tuple(ranges))
        at += 1 + 2 * count
    return sets


@lru_cache(None)
def _index():
    """(kind, name) -> set, for the kinds gc, sc, scx and binary, with the exact spelling of the names."""
    sets, index, at = _decoded(DATA), {}, 0
    for kind, names in (("gc", CATEGORY), ("binary", BINARY), ("sc", SCRIPT), ("scx", SCRIPT)):
        for row in rows(names):
            for name in row:
                index[kind, name] = sets[at]
            at += 1
    index["numeric", ""] = sets[at]
    for names, members in GROUPS.items():
        for name in names.split():
            index["gc", name] = charset.union(*(index["gc", member] for member in members.split()))
    index["binary", "Any"] = charset.ALL
    index["binary", "ASCII"] = ((0, 127),)
    index["binary", "Assigned"] = charset.complement(index["gc", "Cn"])
    return index


@lru_cache(None)
def _loose_index():
    return {(kind, _loose(name)): found for (kind, name), found in _index().items()}


def _loose(name):
    """Loose matching of names (UAX #44, LM3), without the prefix "is"."""
    name = "".join(c for c in name.lower() if c not in " _-")
    return name[2:] if name.startswith("is") and len(name) > 2 else name


KINDS = {"General_Category": "gc", "gc": "gc", "Script": "sc", "sc": "sc", "Script_Extensions": "scx", "scx": "scx"}
LOOSE_KINDS = {_loose(name): kind for name, kind in KINDS.items()}


def lookup(name, value=None, loose=False):
    """The characters with a property.

    Parameters
    ----------
    name : str
        With a value: General_Category, Script, Script_Extensions or their short names. Without: a category or a binary property,
        and, where loose, a script.
    loose : bool
        Case, spaces, hyphens and underscores do not count.

    Returns
    -------
    tuple of (int, int), or None where there is no such property.

    Examples
    --------
    >>> lookup("AHex")
    ((48, 57), (65, 70), (97, 102))
    """
    index = _loose_index() if loose else _index()
    if value is None:
        name = _loose(name) if loose else name
        for kind in ("gc", "binary", "sc") if loose else ("gc", "binary"):
            if (kind, name) in index:
                return index[kind, name]
        return None
    kind = LOOSE_KINDS.get(_loose(name)) if loose else KINDS.get(name)
    return index.get((kind, _loose(value) if loose else value)) if kind else None


def category(name):
    """The characters of a general category or a group of them, by its exact name."""
    return _index()["gc", name]


def binary(name):
    """The characters with a binary property, by its exact name."""
    return _index()["binary", name]


def numeric():
    """The characters that stand for a number (Numeric_Type is not None)."""
    return _index()["numeric", ""]


@lru_cache(None)
def _cases():
    """Code point -> all code points that simple case folding makes equal to it, itself included."""
    return {c: tuple(x for x, _ in row) for row in _decoded(CASES) for c, _ in row}


def case_variants(c):
    """The code points that are equal to c under simple case folding, c itself included."""
    return _cases().get(c, (c,))


def fold(ranges):
    """A set together with all case variants of its members."""
    if not ranges or ranges == charset.ALL:
        return ranges
    if sum(last - first for first, last in ranges) < 64:
        members = [c for first, last in ranges for c in range(first, last + 1)]
    else:
        members = _members(ranges)
    return charset.union(ranges, [(x, x) for c in members for x in case_variants(c)])


def _members(ranges):
    """The code points of a set that have case variants."""
    out, i = [], 0
    for c in _sorted_cased():
        while i < len(ranges) and ranges[i][1] < c:
            i += 1
        if i == len(ranges):
            break
        if ranges[i][0] <= c:
            out.append(c)
    return out


@lru_cache(None)
def _sorted_cased():
    return sorted(_cases())
