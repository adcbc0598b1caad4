r"""The formats of JSON Schema as regular expressions over the decoded characters of a string.

Each format is the set of strings that the document named in ``Format.source`` defines, as the official test suite of
JSON Schema reads it. The patterns are written in the subset that all regular expression languages share (groups
``(?:...)``, classes, quantifiers, alternation; no anchors, no look-around, no back-references, no class escapes such as
``\d``) and match the whole string, so that :func:`re.fullmatch` and the engine's derivatives decide the same. A format
may have several patterns: a string must match all of them. That keeps counting (the 64 characters before the ``@``) and
long-range relations (a leap second and the offset that makes it 23:59:60 UTC) out of the grammar of the text, where
they would multiply.

What the documents leave open is read so:

* A leap second exists only where the UTC time is 23:59:60; with a date, only at the end of 30 June or 31 December UTC,
  the months that RFC 3339, 5.7 names.
* A decimal byte of an IPv4 address has no leading zero. RFC 2673 would let one through; RFC 3986 does not, and readers
  disagree whether ``010`` is eight or ten (RFC 6943, 3.1.1).
* The letters of a duration and the tag ``IPv6:`` of an address literal have the case in which their RFC writes them. ABNF
  would free it; most readers do not.
* An IRI holds no bidirectional formatting characters (RFC 3987, 4.1).
* A relative JSON pointer has no index manipulation (``0+1#``): draft 7 does not know it.
* The size limits of RFC 5321, 4.5.3.1 hold: 64 octets before the ``@``, 254 in all, and of an ``idn-email`` 254 characters.
* A U-label of an ``idn-email`` is made of code points that IDNA 2008 takes wherever they stand (PVALID, RFC 5892). That it be
  its own normal form is not asked, as the test suite has it, nor are the bidirectional rules.

Three formats are not regular: ``regex`` (groups nest), ``hostname`` (an ``xn--`` label is valid where what it encodes is)
and ``idn-hostname`` (the same, and a label has as many octets as Punycode makes of it). They are enforced by a part of their language and ``exact`` is false: what matches is valid, but not all that is
valid matches.
"""
from typing import NamedTuple

from llgcy.schema import pvalid

__all__ = ["FORMATS", "Format"]


class Format(NamedTuple):
    """One format.

    Attributes
    ----------
    patterns : tuple of str
        Regular expressions. A string of the format matches each of them, from its first to its last character.
    max_length : int or None
        Greatest length in code points, a condition of its own; None where there is none.
    exact : bool
        Whether the strings described are all strings of the format. If not, they are some of them, never others.
    source : str
        The specification.
    local_octets : int or None
        Greatest length in UTF-8 of what stands before the last ``@``, likewise.

    Examples
    --------
    >>> import re
    >>> all(re.fullmatch(pattern, "2024-02-29") for pattern in FORMATS["date"].patterns)
    True
    """

    patterns: tuple[str, ...]
    max_length: int | None
    exact: bool
    source: str
    local_octets: int | None = None


def _either(*parts):
    return "(?:" + "|".join(parts) + ")"


# --- Dates and times: RFC 3339 -------------------------------------------------------------------------------------

# Years divisible by 4 but not by 100, or by 400; 0000 is one of them.
_LEAP_YEAR = "(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = _either(
    "[0-9]{4}-" + _either("(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
                          "(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
                          "02-(?:0[1-9]|1[0-9]|2[0-8])"),
    _LEAP_YEAR + "-02-29")
_HOUR = "(?:[01][0-9]|2[0-3])"
_MINUTE = "[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]+)?"
_TIME = f"{_HOUR}:{_MINUTE}:[0-5][0-9]{_FRACTION}(?:[Zz]|[+-]{_HOUR}:{_MINUTE})"

# In a leap second the local time is 23:59 plus the offset: 1,440 cases as one pattern. So three patterns relate the hours,
# the first and the last digit of the minutes to those of the offset, and each leaves free what the others say. An offset
# behind UTC is 23:59 less the local time, digit by digit 5 and 9 less it for the minutes. One ahead of UTC is the local
# time plus a minute: the last digit carries where it is 9, the first where the minute is 59; +00:00 is one of them.
_DIGIT, _PAIR = "[0-9]", "[0-9][0-9]"


def _leap_last_digits():
    """``m:60`` and an offset, for each last digit of the local minute."""
    for digit in range(10):
        utc = "|[Zz]" if digit == 9 else ""
        yield rf"{digit}:60{_FRACTION}(?:\+{_PAIR}:{_DIGIT}{(digit + 1) % 10}|-{_PAIR}:{_DIGIT}{9 - digit}{utc})"


def _leap_first_digits():
    """``mm:60`` and an offset, for each first digit of the local minute, without and with a carry from the last one."""
    for digit in range(6):
        behind = f"-{_PAIR}:{5 - digit}{_DIGIT}"
        utc = "|[Zz]" if digit == 5 else ""
        yield rf"{digit}[0-8]:60{_FRACTION}(?:\+{_PAIR}:{digit}{_DIGIT}|{behind})"
        yield rf"{digit}9:60{_FRACTION}(?:\+{_PAIR}:{(digit + 1) % 6}{_DIGIT}|{behind}{utc})"


def _leap_same_day():
    """``hh:mm:60`` and an offset, for each local hour, where the local date is that of UTC."""
    for hour in range(24):
        utc = rf"|59:60{_FRACTION}(?:\+00:00|[Zz])" if hour == 23 else ""
        yield f"{hour:02}:(?:{_PAIR}:60{_FRACTION}-{23 - hour:02}:{_PAIR}{utc})"


def _leap_next_day():
    """The same where the local date is the next day."""
    for hour in range(24):
        carried = rf"|59:60{_FRACTION}\+{hour + 1:02}:{_PAIR}" if hour < 23 else ""
        yield rf"{hour:02}:(?:(?:[0-4]{_DIGIT}|5[0-8]):60{_FRACTION}\+{hour:02}:{_PAIR}{carried})"


_LEAP_LAST_DIGITS = f"{_PAIR}:{_DIGIT}{_either(*_leap_last_digits())}"
_LEAP_FIRST_DIGITS = f"{_PAIR}:{_either(*_leap_first_digits())}"
_SAME_DAY, _NEXT_DAY = _either(*_leap_same_day()), _either(*_leap_next_day())
_TIMES = (_either(_TIME, _LEAP_LAST_DIGITS), _either(_TIME, _LEAP_FIRST_DIGITS), _either(_TIME, _SAME_DAY, _NEXT_DAY))
_DATE_TIMES = (
    _either(f"{_DATE}[Tt]{_TIME}", f"[0-9-]{{10}}[Tt]{_LEAP_LAST_DIGITS}"),
    f"[0-9-]{{10}}[Tt]{_either(_TIME, _LEAP_FIRST_DIGITS)}",
    _either(f"[0-9-]{{10}}[Tt]{_TIME}",
            f"[0-9]{{4}}-(?:06-30|12-31)[Tt]{_SAME_DAY}",
            f"[0-9]{{4}}-(?:07-01|01-01)[Tt]{_NEXT_DAY}"))

# RFC 3339, appendix A: units descend without a gap, weeks stand alone.
_DAYS = "[0-9]+D"
_MONTHS = f"[0-9]+M(?:{_DAYS})?"
_YEARS = f"[0-9]+Y(?:{_MONTHS})?"
_SECONDS = "[0-9]+S"
_MINUTES = f"[0-9]+M(?:{_SECONDS})?"
_HOURS = f"[0-9]+H(?:{_MINUTES})?"
_TIME_UNITS = "T" + _either(_HOURS, _MINUTES, _SECONDS)
_DURATION = "P" + _either(f"{_either(_YEARS, _MONTHS, _DAYS)}(?:{_TIME_UNITS})?", _TIME_UNITS, "[0-9]+W")

# --- Addresses: RFC 2673, 4291, 3986 -------------------------------------------------------------------------------

_HEX = "[0-9A-Fa-f]"
_BYTE = "(?:[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_GROUP = _HEX + "{1,4}"


def _groups(count):
    """So many groups of an IPv6 address, with colons between them."""
    return "" if count == 0 else _GROUP if count == 1 else f"{_GROUP}(?::{_GROUP}){{{count - 1}}}"


def _up_to(count):
    """At most so many groups, with colons between them."""
    return "" if count == 0 else f"(?:{_GROUP})?" if count == 1 else f"(?:{_GROUP}(?::{_GROUP}){{0,{count - 1}}})?"


def _compressed(most):
    """Addresses with a ``::`` and at most ``most`` groups beside it, an IPv4 address at the end counting as two."""
    for before in range(most + 1):
        tails = [_up_to(most - before)]
        if most - before >= 2:
            tails.append((f"(?:{_GROUP}:){{0,{most - before - 2}}}" if most - before > 2 else "") + _IPV4)
        yield f"{_groups(before)}::{_either(*tails)}"


_IPV6 = _either(_groups(8), f"{_groups(6)}:{_IPV4}", *_compressed(7))

# --- Host names: RFC 1123 and 5890 ---------------------------------------------------------------------------------

_ALNUM = "[0-9A-Za-z]"
_LDH = "[0-9A-Za-z-]"


def _label_end(most):
    """What may follow a letter or digit in a label: at most ``most`` characters, the last one no hyphen."""
    return f"(?:{_LDH}{{0,{most - 1}}}{_ALNUM})?"


_LABEL = _ALNUM + _label_end(62)
# Labels with hyphens at their third and fourth place are reserved (RFC 5890, 2.3.1). "xn--" is one of them; the others
# are no A-labels and never valid.
_PLAIN_LABEL = _either(
    f"{_ALNUM}(?:-?{_ALNUM})?",
    f"{_ALNUM}{_LDH}{_ALNUM}{_label_end(60)}",
    f"{_ALNUM}{_LDH}-{_ALNUM}{_label_end(59)}")
_HOSTNAME = rf"{_PLAIN_LABEL}(?:\.{_PLAIN_LABEL})*"

# Letters of left-to-right scripts that are PVALID by RFC 5892 without a contextual rule, are their own normal form (NFC)
# and combine with nothing, with the longest label for which the A-label, "xn--" and what Punycode makes of the label, has
# at most 60 octets: one such label and three of 63 fit into 253. By RFC 3492 the first delta takes at most 5 digits; a
# later one is below range * (length + 1) + length and takes 3 digits up to 2,885 and 5 up to 288,885 whatever the bias.
_SCRIPTS = (("\u00df-\u00f6\u00f8-\u00ff", 18), ("\u03ac-\u03ce", 18), ("\u0430-\u045f", 18), ("\u3041-\u3096", 18),
            ("\u30a1-\u30fa\u30fc", 18), ("\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fa5", 9), ("\uac00-\ud7a3", 11))
_U_LABEL = _either(*(f"[{letters}0-9a-z]{{1,{most}}}" for letters, most in _SCRIPTS))
_IDN_LABEL = _either(_PLAIN_LABEL, _U_LABEL)
_DOT = "[.\u3002\uff0e\uff61]"  # RFC 3490, 3.1
_IDN_HOSTNAME = _either(f"{_PLAIN_LABEL}(?:{_DOT}{_PLAIN_LABEL})*", f"{_IDN_LABEL}(?:{_DOT}{_IDN_LABEL}){{0,3}}")

# --- Mail addresses: RFC 5321, 4.1.2, and RFC 6531, 3.3 --------------------------------------------------------------

# RFC 5321, 4.1.3 has a grammar of its own for IPv6, where "::" stands for at least two groups.
_MAIL_LITERAL = rf"\[(?:{_IPV4}|IPv6:{_either(_groups(8), f'{_groups(6)}:{_IPV4}', *_compressed(6))})\]"


def _local_part(letters):
    """What stands before the ``@``, with ``letters`` beside the ASCII ones."""
    atom = rf"[0-9A-Za-z!#$%&'*+\-/=?^_`{{|}}~{letters}]+"
    return _either(rf"{atom}(?:\.{atom})*", rf'"(?:[ !#-\[\]-~{letters}]|\\[ -~])*"')


def _short_local_part(letters, octets):
    """At most 64 octets before the ``@``, where each of the ``letters`` has up to ``octets``."""
    return rf'(?:[!#-?A-~{letters}]{{1,{64 // octets}}}|"[ -~{letters}]{{0,{62 // octets}}}")'


_DOMAIN = rf"{_LABEL}(?:\.{_LABEL})*"
_EMAIL = (f"{_local_part('')}@{_either(_DOMAIN, _MAIL_LITERAL)}", _short_local_part("", 1) + '@[^"@]*')
_BEYOND_ASCII = "\u0080-\ud7ff\ue000-\U0010ffff"


def _characters(runs):
    """The characters of a table of `pvalid`, for a class."""
    out, at, numbers = [], 0, [int(n, 16) for n in runs.split()]
    for gap, length in zip(numbers[::2], numbers[1::2]):
        at += gap + length
        out.append(chr(at - 1) if length == 1 else f"{chr(at - length)}-{chr(at - 1)}")
    return "".join(out)


# A U-label has no more than 59 characters, since its A-label has "xn--" and at least one octet for each; no two hyphens stand at its third
# and fourth place. That is a pattern of its own, without the long classes.
_STARTER, _INNER = f"[0-9A-Za-z{_characters(pvalid.STARTERS)}]", f"[0-9A-Za-z{_characters(pvalid.PVALID)}]"
_IDN_MAIL_LABEL = f"{_STARTER}(?:-*{_INNER})*"
_BETWEEN_DOTS, _OR_HYPHEN = "[^.@A-Z-]", "[^.@A-Z]"
_LABEL_SHAPE = _either(_LABEL, f"{_BETWEEN_DOTS}(?:-?{_BETWEEN_DOTS})?",
                       *(f"{_BETWEEN_DOTS}{_OR_HYPHEN}{third}{_BETWEEN_DOTS}(?:{_OR_HYPHEN}{{0,{most}}}{_BETWEEN_DOTS})?" for third, most in (("", 55), ("-", 54))))
_UP_TO_BRACKET = r"[^@]*\]"
_IDN_EMAIL = (
    f"{_local_part(_BEYOND_ASCII)}@{_either(rf'{_IDN_MAIL_LABEL}(?:[.]{_IDN_MAIL_LABEL})*', _MAIL_LITERAL)}",
    f"[\0-\ud7ff\ue000-\U0010ffff]*@{_either(f'{_LABEL_SHAPE}(?:[.]{_LABEL_SHAPE})*', _UP_TO_BRACKET)}")

# --- URIs and IRIs: RFC 3986 and 3987; URI templates: RFC 6570 -------------------------------------------------------

_ESCAPED = f"%{_HEX}{_HEX}"
_UNRESERVED = r"0-9A-Za-z\-._~"
_DELIMITERS = "!$&'()*+,;="
_PLANES = ("\uf900-\ufdcf\ufdf0-\uffef"
           + "".join(f"{chr(plane << 16)}-{chr((plane << 16) + 0xfffd)}" for plane in range(1, 14))
           + "\U000e1000-\U000efffd")
_UCS = "\u00a0-\ud7ff" + _PLANES
_IRI_UCS = "\u00a0-\u200d\u2010-\u2029\u202f-\ud7ff" + _PLANES  # without the marks U+200E, U+200F, U+202A to U+202E
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"


def _uri_and_reference(letters, private):
    """A URI and a URI reference, with ``letters`` beside the unreserved characters, and ``private`` in queries."""

    def run(characters):
        return f"(?:[{_UNRESERVED}{_DELIMITERS}{letters}{characters}]|{_ESCAPED})"

    future = rf"[Vv]{_HEX}+\.[{_UNRESERVED}{_DELIMITERS}:]+"
    authority = rf"(?:{run(':')}*@)?(?:{run('')}*|\[(?:{_IPV6}|{future})\])(?::[0-9]*)?"
    segments = f"(?:/{run(':@')}*)*"
    rooted = f"//{authority}{segments}|/(?:{run(':@')}+{segments})?"
    tail = rf"(?:\?{run(':@/?' + private)}*)?(?:#{run(':@/?')}*)?"
    scheme = r"[A-Za-z][0-9A-Za-z+\-.]*:"
    rootless = f"{run(':@')}+{segments}"
    return (f"{scheme}(?:{rooted}|{rootless})?{tail}",
            f"(?:(?:{scheme})?(?:{rooted})?|{scheme}{rootless}|{run('@')}+{segments}){tail}")


_URI, _URI_REFERENCE = _uri_and_reference("", "")
_IRI, _IRI_REFERENCE = _uri_and_reference(_IRI_UCS, _PRIVATE)

# With erratum 6937: the apostrophe is a literal.
_NAME_CHAR = f"(?:[0-9A-Za-z_]|{_ESCAPED})"
_VARIABLE = rf"{_NAME_CHAR}(?:\.?{_NAME_CHAR})*(?:\*|:[1-9][0-9]{{0,3}})?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}}"
_URI_TEMPLATE = rf"(?:[!#$&-;=?-\[\]_a-z~{_UCS}{_PRIVATE}]|{_ESCAPED}|{_EXPRESSION})*"

# --- JSON pointers and UUIDs: RFC 6901, 4122 -------------------------------------------------------------------------

_POINTER = "(?:/(?:[^/~]|~[01])*)*"
_UUID = f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"

# --- Regular expressions: ECMA-262, what is valid with and without the flag u, and groups nested three deep -----------

_ESCAPE = r"\\(?:[DSWdfnrstvw^$\\.*+?()\[\]{}|/]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})"
# A range must not be empty.
_RANGE = _either(*(f"{first}-[{first}-{letters[-1]}]"
                   for letters in ("0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
                   for first in letters))
_CLASS = rf"\[\^?-?(?:[^\\\]-]|{_ESCAPE}|{_RANGE})*-?\]"
# Counts up to 999, the second no smaller than the first: it has more digits, or the first is 0 or 1.
_COUNT = r"\{(?:[0-9]{1,3},?|0,[0-9]{1,3}|1,[1-9][0-9]{0,2}|[0-9],[1-9][0-9]{1,2}|[1-9][0-9],[1-9][0-9]{2})\}"
_REPEAT = rf"(?:(?:[*+?]|{_COUNT})\??)?"
_ATOM = rf"(?:[^\^$\\.*+?()\[\]{{}}|]|\.|{_ESCAPE}|{_CLASS}){_REPEAT}"
_ASSERTION = r"[\^$]|\\[Bb]"


def _disjunction(depth):
    """A pattern with groups nested at most ``depth`` deep; look-around holds no groups, and is not repeated."""
    flat = f"{_ATOM}|{_ASSERTION}|[|]"
    text = f"(?:{flat})*"
    for level in range(depth):
        around = rf"|\(\?<?[=!](?:{flat})*\)" if level == depth - 1 else ""
        text = rf"(?:{flat}|\((?:\?:)?{text}\){_REPEAT}{around})*"
    return text


def _exact(source, *patterns, max_length=None, local_octets=None):
    return Format(patterns, max_length, True, source, local_octets)


def _part(source, *patterns, max_length=None):
    return Format(patterns, max_length, False, source)


#: The formats of drafts 4 to 2020-12 by name.
FORMATS: dict[str, Format] = {
    "date": _exact("RFC 3339, 5.6 full-date", _DATE),
    "time": _exact("RFC 3339, 5.6 full-time", *_TIMES),
    "date-time": _exact("RFC 3339, 5.6 date-time", *_DATE_TIMES),
    "duration": _exact("RFC 3339, appendix A", _DURATION),
    "email": _exact("RFC 5321, 4.1.2 Mailbox", *_EMAIL, max_length=254),
    "idn-email": _exact("RFC 6531, 3.3", *_IDN_EMAIL, max_length=254, local_octets=64),
    "hostname": _part("RFC 1123, 2.1; RFC 5890, 2.3", _HOSTNAME, max_length=253),
    "idn-hostname": _part("RFC 5890, 2.3.2.3", _IDN_HOSTNAME, max_length=253),
    "ipv4": _exact("RFC 2673, 3.2", _IPV4),
    "ipv6": _exact("RFC 4291, 2.2", _IPV6),
    "uri": _exact("RFC 3986, 3", _URI),
    "uri-reference": _exact("RFC 3986, 4.1", _URI_REFERENCE),
    "iri": _exact("RFC 3987, 2.2", _IRI),
    "iri-reference": _exact("RFC 3987, 2.2", _IRI_REFERENCE),
    "uri-template": _exact("RFC 6570, 2", _URI_TEMPLATE),
    "uuid": _exact("RFC 4122, 3", _UUID),
    "json-pointer": _exact("RFC 6901, 3", _POINTER),
    "relative-json-pointer": _exact("draft-handrews-relative-json-pointer-01, 3", f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})"),
    "regex": _part("ECMA-262, 22.2.1", _disjunction(3)),
}
