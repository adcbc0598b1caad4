"""How the text of a JSON document is laid out: white space, separators, escapes; and ``x-guidance``, llguidance's way to say so.

Between its tokens a document is read by a small automaton over white space, the comma and the colon: `table` makes it.
"""
import re
from array import array
from functools import lru_cache
from typing import NamedTuple, Optional

from llgcy.core.regex import Regexes
from llgcy.core.unescape import escape_set
from llgcy.errors import GrammarError
from llgcy.grammar import regex

#: Bytes of white space between two tokens, unless an option says otherwise.
LONGEST_GAP = 128
#: States of the automaton that separators and a pattern of white space make.
STATES = 4096
#: Most spaces of one level of indentation.
INDENT = 64

WHITE = b" \t\n\r"
# In the last two columns of the table: may the next token begin, may a bracket close?
NEVER, NOW, LATER = 0, 1, 2

_NAMED_ESCAPES = {"any": 0, "needed": escape_set('"\\bfnrtu', "needed"), "short": escape_set('"\\bfnrtu', "controls")}


class Layout(NamedTuple):
    """Options of the layout. Make one by `Layout.of`.

    Attributes
    ----------
    whitespace : str
        "flexible": as much as `max_whitespace` between two tokens. "compact": none but what the separators have. "indent=N": exactly what
        ``json.dumps(indent=N)`` writes.
    max_whitespace : int
        Most bytes of white space between two tokens, where it is flexible and no pattern says more.
    whitespace_pattern : str or None
        A regular expression (Rust's syntax) for the white space between two tokens, where it is flexible; there may also be none.
    item_separator, key_separator : str
        Regular expressions for what stands between members or items, and between a name and its value: a comma or colon, and white space.
        Flexible white space may stand before and after it.
    surrounding_space : bool
        May white space stand before and after the document?
    escapes : str
        "any"; "needed": none where a character can be written as it is, and the shortest where not; "short": llguidance's, two bytes or
        ``\\u00XX`` for control characters. Or the letters that may stand behind a backslash, out of ``"\\/bfnrtuU``, with ``u`` for control
        characters alone and ``U`` for ``u`` and any character; the quote, the backslash, and ``u`` or ``U`` must be among them.
    """

    whitespace: str = "flexible"
    max_whitespace: int = LONGEST_GAP
    whitespace_pattern: Optional[str] = None
    item_separator: str = ","
    key_separator: str = ":"
    surrounding_space: bool = False
    escapes: str = "any"

    @classmethod
    def of(cls, separators=None, **given):
        """A layout from keyword arguments.

        Parameters
        ----------
        separators : (str, str), optional
            Item and key separator as they stand, as for ``json.dumps``; then white space is compact, unless said otherwise.

        Raises
        ------
        ValueError
            An option has no such value, or two do not go together.
        GrammarError
            A regular expression is malformed, or is not for separators or white space.
        """
        if separators is not None:
            if not isinstance(separators, (list, tuple)) or len(separators) != 2 or not all(isinstance(s, str) for s in separators):
                raise ValueError(f"separators must be a pair of strings, not {separators!r}")
            if "item_separator" in given or "key_separator" in given:
                raise ValueError("separators are item_separator and key_separator at once, so give one or the other")
            given = {"whitespace": "compact", **given, "item_separator": re.escape(separators[0]), "key_separator": re.escape(separators[1])}
        layout = cls(**given)
        layout.machine_options()
        return layout

    def machine_options(self):
        """What `JsonMachine` is told: keyword arguments."""
        for name in ("whitespace", "item_separator", "key_separator", "escapes"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"{name} must be a string, not {getattr(self, name)!r}")
        if not isinstance(self.max_whitespace, int) or not 0 <= self.max_whitespace < 1 << 31:
            raise ValueError(f"max_whitespace must be an int >= 0, not {self.max_whitespace!r}")
        indent = re.fullmatch("indent=([0-9]{1,3})", self.whitespace)
        if not indent and self.whitespace not in ("flexible", "compact") or indent and int(indent[1]) > INDENT:
            raise ValueError(f"whitespace must be 'flexible', 'compact' or 'indent=N' with N up to {INDENT}, not {self.whitespace!r}")
        plain = (self.item_separator, self.key_separator) == (",", ":")
        if self.whitespace != "flexible" and self.whitespace_pattern is not None or indent and not plain:
            raise ValueError(f"whitespace={self.whitespace!r} has its own white space" + (" and separators" if indent else ""))
        made = {"gap": self.max_whitespace if self.whitespace == "flexible" else 0, "surrounded": bool(self.surrounding_space),
                "escapes": escapes(self.escapes)}
        if indent:
            made["indent"] = int(indent[1])
        elif not plain or self.whitespace_pattern is not None:
            white = "" if self.whitespace == "compact" else self.whitespace_pattern
            if white is None:
                white = f"[ \\t\\n\\r]{{0,{self.max_whitespace}}}"
            made["table"] = table(white, self.item_separator, self.key_separator, made["surrounded"])
        return made


def escapes(option):
    """The set of escapes that the option allows, as `llgcy.core.unescape.escape_set` has it."""
    named = _NAMED_ESCAPES.get(option)
    if named is not None:
        return named
    return escape_set(option.replace("U", "u"), "any" if "U" in option else "controls")


@lru_cache(32)
def table(white, item, key, surrounded):
    """The automaton between tokens, as the bytes of an array of int32 with eight columns.

    Each row is a state: the row after each of the bytes space, tab, line feed, carriage return, comma and colon (-1: it may not come), and
    `NEVER`, `NOW` or `LATER` for the next token and for a closing bracket. Row 0 is not used; gaps begin in row 1 around the document, in 2
    behind an opening bracket, in 3 behind a member or item, in 4 behind a name.

    Raises
    ------
    GrammarError
        A pattern is malformed, or matches what is no white space or separator; or the automaton has more than `STATES` states.
    """
    store = Regexes("bytes")
    white = f"(?:{white})?"
    for name, pattern, sign in (("whitespace_pattern", white, None), ("item_separator", item, ","), ("key_separator", key, ":")):
        check(store, name, pattern, sign)
    around = white if surrounded else ""
    starts = [None, (around, around), (white, white), (f"{white}(?:{item}){white}", white), (f"{white}(?:{key}){white}", None)]
    numbers, todo = {None: 0}, []

    def number(go, close):
        if not go and not close:
            return -1
        if (go, close) not in numbers:
            numbers[go, close] = len(todo) + 1
            todo.append((go, close))
            if len(todo) > STATES:
                raise GrammarError(f"separators and white space make more than {STATES} states; simpler patterns do not")
        return numbers[go, close]

    def begin(start):
        return tuple(0 if pattern is None else term_of(store, pattern) for pattern in start)
    # Gaps of two kinds may begin in equal states; each has a row of its own all the same.
    todo += [begin(start) for start in starts[1:]]
    rows = [[0] * 8]
    for go, close in todo:
        row = []
        for byte in b" \t\n\r,:":
            after = store.step(go, byte) if go else 0
            closed = store.step(close, byte) if close else 0
            row.append(number(after if after and store.alive(after) else 0, closed if closed and store.alive(closed) else 0))
        rows.append([*row, *[NEVER if not term else NOW if store.accepts(term) else LATER for term in (go, close)]])
    return array("i", [cell for row in rows for cell in row]).tobytes()


def term_of(store, pattern):
    """The texts of a pattern, in the store."""
    return regex.to_bytes(regex.parse(pattern, "rust"), store)


def check(store, name, pattern, sign):
    """Raises an error where a pattern matches more than white space with one sign (None: without any) in it."""
    try:
        todo = [(term_of(store, pattern), sign is None)]
    except GrammarError as e:
        raise GrammarError(f"{name}: {e}") from None
    what = "white space" if sign is None else f"one {sign!r} with white space beside it"
    seen = set(todo)
    for term, done in todo:
        if store.accepts(term) and not done:
            raise GrammarError(f"{name} must match {what} alone")
        for first, last, after in store.edges(term):
            for byte in range(first, last + 1):
                is_sign = sign is not None and byte == ord(sign) and not done
                if not is_sign and byte not in WHITE:
                    raise GrammarError(f"{name} must match {what} alone, and not {chr(byte)!r}")
                if (after, done or is_sign) not in seen:
                    seen.add((after, done or is_sign))
                    todo.append((after, done or is_sign))
        if len(seen) > STATES:
            raise GrammarError(f"{name} has more than {STATES} states; a simpler pattern has not")


def guidance(schema):
    """What ``x-guidance`` at the top of a schema says, as keyword arguments of `Grammar.from_json_schema`.

    Raises
    ------
    GrammarError
        It has a field that llguidance does not know, or of another type.
    """
    said = schema.get("x-guidance") if isinstance(schema, dict) else None
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise GrammarError("x-guidance must be an object", pointer="/x-guidance")
    for name, value in said.items():
        kind = _GUIDANCE.get(name)
        if kind is None:
            raise GrammarError(f"x-guidance has no option {name!r}; its options are {', '.join(_GUIDANCE)}", pointer="/x-guidance")
        if type(value) is not kind and not (name == "whitespace_pattern" and value is None):
            raise GrammarError(f"{name} must be a {kind.__name__}, not {value!r:.40}", pointer=f"/x-guidance/{name}")
    made = {name: said[name] for name in ("item_separator", "key_separator", "lenient") if name in said}
    if said.get("whitespace_flexible", True) is False:
        made["whitespace"] = "compact"
    elif said.get("whitespace_pattern") is not None:
        made["whitespace_pattern"] = said["whitespace_pattern"]
    if "json_allowed_escapes" in said or said.get("json_allow_general_unicode_escapes"):
        letters = said.get("json_allowed_escapes", 'nrbtf\\"u')
        made["escapes"] = letters.replace("u", "U") if said.get("json_allow_general_unicode_escapes") else letters
    return made


_GUIDANCE = {"item_separator": str, "key_separator": str, "whitespace_flexible": bool, "whitespace_pattern": str, "coerce_one_of": bool, "lenient": bool,
             "json_allowed_escapes": str, "json_allow_general_unicode_escapes": bool}
