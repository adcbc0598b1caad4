"""Lists of named grammars that refer to each other, as JSON: the form of llguidance and mistral.rs."""
import json
from decimal import Decimal

from llgcy.content import json_text
from llgcy.errors import GrammarError, LimitError
from llgcy.grammar import choices, gbnf, ir, lark
from llgcy.grammar.link import link
from llgcy.grammar.source import near

FORMS = {
    "lark_grammar": lambda text: lark.read(text, linked=False),
    "gbnf": gbnf.read,
    "regex": lambda text: choices.from_regex(text, "rust"),
    "choice": choices.from_choices,
    "json_schema": None,
}
_FIELDS = ("grammars", "max_tokens")


def read(source):
    """The IR of the first grammar of a list, with all that it refers to.

    Parameters
    ----------
    source : list, dict or str
        A list of grammars, an object with it as ``grammars``, or the JSON text of either. A grammar is an object with an optional
        ``name`` and one of ``lark_grammar``, ``gbnf``, ``regex`` (Rust's syntax), ``choice`` (a list of texts) and ``json_schema``.
        In Lark, ``@name`` stands for a text of another one.

    Raises
    ------
    GrammarError
        A grammar is malformed; the message names it.

    Examples
    --------
    >>> read([{"lark_grammar": 'start: "x" @n'}, {"name": "n", "regex": "[0-9]+"}]).rules["start"].body
    <("x" /[0-9]+/)>
    """
    source = loaded(source)
    if isinstance(source, dict):
        for field in source:
            if field not in _FIELDS:
                raise GrammarError(f"a list of grammars has no field {field!r}{near(str(field), _FIELDS)}; it has {', '.join(_FIELDS)}")
        source = source.get("grammars")
    if not isinstance(source, (list, tuple)):
        raise GrammarError("named grammars are a list of objects, or an object with such a list as grammars")
    if not source:
        raise GrammarError("a list of grammars needs at least one, the first of which is wanted")
    grammars, names = [], {}
    for place, entry in enumerate(source):
        name, grammar = _entry(place, entry)
        if name in names:
            raise GrammarError(f"two grammars have the name {name}")
        if name is not None:
            names[name] = grammar
        grammars.append(grammar)
    return link(grammars[0], names)


def max_tokens(source):
    """How many tokens a text may have, EOS included; None where the list of grammars does not say.

    Parameters
    ----------
    source : list, dict or str
        As for `read`.

    Raises
    ------
    GrammarError
        It is no number of tokens.
    """
    source = loaded(source)
    number = source.get("max_tokens") if isinstance(source, dict) else None
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, (int, float, Decimal)) or not 0 <= number < 1 << 53 or number != int(number):
        raise GrammarError(f"max_tokens of a list of grammars must be a number of tokens or null, not {number if isinstance(number, Decimal) else repr(number)}")
    return int(number)


def loaded(source, what="the list of grammars"):
    """JSON text as Python values, numbers as Decimals; other values as they are."""
    if not isinstance(source, (str, bytes)):
        return source
    try:
        # Decimals, so that the numbers of schemas stay exact.
        return json.loads(source, parse_float=Decimal, parse_int=Decimal, parse_constant=_no_number)
    except RecursionError:
        raise LimitError("the JSON text is nested too deeply") from None
    except ValueError as e:
        raise GrammarError(f"{what} is not JSON: {e}") from None


def _no_number(text):
    raise ValueError(f"{text} is not a JSON number")


def _entry(place, entry):
    if not isinstance(entry, dict):
        raise GrammarError(f"grammar {place} of the list is no object")
    name = entry.get("name")
    if name is not None and not isinstance(name, str):
        raise GrammarError(f"the name of grammar {place} is no string")
    called = f"@{name}" if name is not None else f"grammar {place}"
    forms = [key for key in entry if key != "name" and entry[key] is not None]
    for form in forms:
        if form not in FORMS:
            raise GrammarError(f"{called} has no form {form!r}{near(form, FORMS)}; it has one of {', '.join(FORMS)}")
    if len(forms) != 1:
        raise GrammarError(f"{called} has {'none' if not forms else 'more than one'} of {', '.join(FORMS)}")
    form = forms[0]
    value = entry[form]
    if form == "json_schema":
        return name, ir.Json(value if isinstance(value, str) else json_text(value))
    try:
        return name, FORMS[form](value)
    except TypeError as e:
        raise GrammarError(f"{called}: {e}") from None
    except GrammarError as e:
        raise type(e)(f"{called}: {e.message}", line=e.line, column=e.column, pointer=e.pointer) from None
