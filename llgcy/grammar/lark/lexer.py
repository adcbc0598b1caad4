"""The tokens of the Lark dialect.

Newlines are tokens, since they end a statement; comments and blanks are not. The JSON value behind ``%json``,
``%llguidance`` and ``%regex`` is one token.
"""
import json
import re
from typing import NamedTuple

from llgcy.errors import GrammarError, LimitError
from llgcy.grammar.source import near

KEYWORDS = ("%declare", "%extend", "%ignore", "%if", "%import", "%json", "%lark", "%llguidance", "%override", "%regex")
BEFORE_JSON = ("%json", "%llguidance", "%regex")

# Kinds of tokens, each with what an error calls it.
RULE, TERMINAL, STRING, REGEX, NUMBER, SPECIAL, REF, KEYWORD, OP, JSON, NEWLINE, END = (
    "a rule name", "a terminal name", "a string", "a regex", "a number", "a special token", "a grammar reference",
    "a keyword", "an operator", "a JSON value", "the end of the line", "the end of the grammar")


class Token(NamedTuple):
    """``text`` is the source text; ``value`` what it means where that differs (decoded string, flags, number)."""

    kind: str
    text: str
    offset: int
    value: object = None

    def describe(self):
        """The token as an error names it."""
        return self.kind if self.kind in (NEWLINE, END) else f"{self.text!r}" if len(self.text) < 40 else self.kind


_TOKEN = re.compile(r"""
    (?P<blank>   [ \t\f\r]+ | (?:\#|//)[^\n]* )
  | (?P<newline> \n )
  | (?P<name>    _*[A-Za-z] (?: [A-Za-z0-9_] | -(?!>) )* )
  | (?P<number>  0[xX][0-9a-fA-F]+ | [+-]?[0-9]+ (?: \.(?!\.)[0-9]+ )? (?: [eE][+-]?[0-9]+ )? )
  | (?P<string>  "(?: [^"\\\n] | \\. )*" i? )
  | (?P<regex>   / (?: [^/\\] | \\[\s\S] )+ / [a-z]* )
  | (?P<special> <[^<>\s]+> )
  | (?P<ref>     @[A-Za-z0-9_-]+ )
  | (?P<keyword> %[A-Za-z_]+ )
  | (?P<op>      -> | \.\. | :: | [][(){}|&~*+?!:.,=_] )
""", re.VERBOSE)
_ESCAPE = re.compile(r"""\\(?: (["\\/bfnrt]) | u([0-9a-fA-F]{4}) | x([0-9a-fA-F]{2}) | (.) )""", re.VERBOSE | re.DOTALL)
_SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_RULE_NAME, _TERMINAL_NAME = re.compile(r"_?[a-z][a-z0-9_-]*"), re.compile(r"_?[A-Z][A-Z0-9_-]*")


def tokens(source):
    """The tokens of a `llgcy.grammar.source.Source`, the last of kind END.

    Raises
    ------
    GrammarError
        With line and column, where no token of the dialect begins.
    """
    out, offset, text = [], 0, source.text
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if found is None:
            raise _no_token(source, offset)
        group, lexeme = found.lastgroup, found.group()
        if group != "blank":
            out.append(_READ[group](source, lexeme, offset))
        offset = found.end()
        if group == "keyword" and lexeme in BEFORE_JSON:
            value, offset = _json(source, offset, lexeme)
            out.append(value)
    out.append(Token(NEWLINE, "\n", offset))
    out.append(Token(END, "", offset))
    return out


def _name(source, lexeme, offset):
    for kind, pattern in (RULE, _RULE_NAME), (TERMINAL, _TERMINAL_NAME):
        if pattern.fullmatch(lexeme):
            return Token(kind, lexeme, offset)
    raise source.error(offset, f"the name {lexeme} is neither a rule's (all lower case) nor a terminal's (ALL UPPER "
                               "CASE), each after at most one underscore")


def _number(source, lexeme, offset):
    if re.fullmatch("[+-]?[0-9]+", lexeme):
        # Python refuses to convert thousands of digits; no number of the dialect is that long.
        return Token(NUMBER, lexeme, offset, int(lexeme) if len(lexeme) < 1000 else float("inf"))
    return Token(NUMBER, lexeme, offset)


def _string(source, lexeme, offset):
    fold = lexeme.endswith("i")
    inner = lexeme[1:-2] if fold else lexeme[1:-1]
    for found in re.finditer(r"[\x00-\x1f\x7f]", inner):
        raise source.error(offset + 1 + found.start(),
                           f"a raw control character in a string: write \\x{ord(found.group()):02x}")

    def unescape(found):
        simple, unicode, hexadecimal, wrong = found.groups()
        if wrong:
            raise source.error(offset + 1 + found.start(), _wrong_escape(wrong))
        return _SIMPLE[simple] if simple else chr(int(unicode or hexadecimal, 16))
    # Two \u escapes may be the halves of one character, as in JSON.
    value = _ESCAPE.sub(unescape, inner).encode("utf-16-le", "surrogatepass")
    try:
        return Token(STRING, lexeme, offset, (value.decode("utf-16-le"), fold))
    except UnicodeDecodeError:
        raise source.error(offset, "the string has a lone surrogate, which is not a character") from None


def _wrong_escape(char):
    if char in "ux":
        return f"\\{char} needs {'four' if char == 'u' else 'two'} hexadecimal digits behind it"
    hint = {"U": r": write a character beyond U+FFFF as itself, or as two \u escapes"}.get(
        char, ": for a regex escape write /.../ instead of a string" if char in "dDwWsSpP" else "")
    return rf'\{char} is not an escape of a string; these are: \" \\ \/ \b \f \n \r \t \uXXXX \xHH{hint}'


def _regex(source, lexeme, offset):
    end = lexeme.rindex("/")
    flags = lexeme[end + 1:]
    for place, flag in enumerate(flags):
        if flag not in "imsux":
            raise source.error(offset + end + 1 + place, f"the regex flag {flag!r} is not one of i, m, s, u, x")
    return Token(REGEX, lexeme, offset, (lexeme[1:end], flags))


def _keyword(source, lexeme, offset):
    if lexeme not in KEYWORDS:
        raise source.error(offset, f"unknown statement {lexeme}{near(lexeme, KEYWORDS)}")
    return Token(KEYWORD, lexeme, offset)


_READ = {
    "name": _name, "number": _number, "string": _string, "regex": _regex, "keyword": _keyword,
    "newline": lambda source, lexeme, offset: Token(NEWLINE, lexeme, offset),
    "special": lambda source, lexeme, offset: Token(SPECIAL, lexeme, offset),
    "ref": lambda source, lexeme, offset: Token(REF, lexeme, offset),
    "op": lambda source, lexeme, offset: Token(OP, lexeme, offset),
}


def _no_token(source, offset):
    text = source.text
    char, line = text[offset], text[offset:].split("\n", 1)[0]
    if char in "'\u2018\u2019\u201c\u201d`":
        return source.error(offset, 'a string stands between double quotes: "..."')
    if char == '"':
        return source.error(offset, "the string has no closing quote on its line")
    if char == "/":
        return source.error(offset, "the regex has no closing slash (a slash inside it is written \\/)")
    if char == "<":
        return source.error(offset, "a special token is written <name>, without blanks")
    if char == ";":
        return source.error(offset, "a statement ends with its line, without a semicolon")
    if line.startswith("^") or line.startswith("$"):
        return source.error(offset, f"{char!r} has a meaning only inside a regex, /.../; a terminal always matches "
                                    "as a whole")
    return source.error(offset, f"{char!r} begins nothing of the Lark dialect")


_JSON_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]|[^"\[\]{}]+', re.DOTALL)
_JSON_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s\[\]{}(),"|?*+&]+', re.DOTALL)


def _json(source, offset, keyword):
    """(token, offset behind it) of the JSON value that follows a keyword."""
    text = source.text
    start = offset + len(re.compile(r"\s*").match(text, offset).group())
    end, depth = start, 0
    if text[start:start + 1] in ("{", "["):
        for part in _JSON_PART.finditer(text, start):
            depth += part.group() in "[{" if len(part.group()) == 1 else 0
            depth -= part.group() in "]}" if len(part.group()) == 1 else 0
            end = part.end()
            if not depth:
                break
    else:
        scalar = _JSON_SCALAR.match(text, start)
        end = scalar.end() if scalar else start
    if end == start or depth:
        raise source.error(start if depth else offset, f"{keyword} needs a JSON value behind it" if not depth
                           else f"the JSON value behind {keyword} is not closed")
    value = text[start:end]
    try:
        json.loads(value, parse_int=str, parse_float=str, parse_constant=_no_constant)
    except RecursionError:
        raise LimitError(f"the JSON value behind {keyword} is nested too deeply "
                         "(line {}, column {})".format(*source.place(start))) from None
    except json.JSONDecodeError as e:
        raise source.error(start + e.pos, f"not JSON: {e.msg}") from None
    except GrammarError as e:
        raise source.error(start, e.message) from None
    return Token(JSON, value, start), end


def _no_constant(name):
    raise GrammarError(f"not JSON: {name}")
