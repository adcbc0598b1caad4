"""From the tokens of the Lark dialect to statements, whose expressions are nodes of the IR with names unresolved.

Expressions are read with a stack of open brackets of our own, so nesting is bounded by memory alone.
"""
import json
from typing import NamedTuple

from llgcy.core.regex import Regexes
from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.grammar import ir, regex
from llgcy.grammar.lark.lexer import (
    END, JSON, KEYWORD, NEWLINE, NUMBER, OP, REF, REGEX, RULE, SPECIAL, STRING, TERMINAL, tokens)
from llgcy.grammar.source import near

ATTRIBUTES = ("capture", "lazy", "max_tokens", "stop", "stop_capture", "suffix", "temperature")


class Define(NamedTuple):
    """``name: body``; ``terminal``: an upper-case name."""

    definition: ir.Definition
    terminal: bool


class Import(NamedTuple):
    """``%import path.name -> alias``; ``path`` as written, such as ``common`` or ``.file``."""

    path: str
    name: str
    alias: str
    at: tuple


class Ignore(NamedTuple):
    """``%ignore body``."""

    body: ir.Node
    at: tuple


class Configure(NamedTuple):
    """``%llguidance {...}``; ``text``: the JSON value."""

    text: str
    at: tuple


def parse(source):
    """The statements of a grammar, in order.

    Raises
    ------
    GrammarError
        With line and column; `UnsupportedKeywordError` for what the dialect has and llgcy does not enforce yet.
    """
    return _Parser(source).statements()


class _Frame:
    """An expression that is being read: alternatives of intersections of sequences. ``opened``: its bracket's token."""

    __slots__ = ("opened", "complement", "options", "both", "parts", "started")

    def __init__(self, opened, complement, started):
        self.opened, self.complement, self.started = opened, complement, started
        self.options, self.both, self.parts = [], [], []


class _Parser:
    def __init__(self, source):
        self.source, self.tokens, self.index = source, tokens(source), 0
        # The one option that changes how regexes are read, wherever in the text it stands. Its value is checked later.
        self.any_bytes = any(token.kind is JSON and before.text == "%llguidance" and "allow_invalid_utf8" in token.text
                             and json.loads(token.text, parse_int=float).get("allow_invalid_utf8") is True
                             for before, token in zip(self.tokens, self.tokens[1:]))

    # -- tokens ---------------------------------------------------------------------------------------------------
    @property
    def token(self):
        return self.tokens[self.index]

    def next(self):
        token = self.token
        self.index += 1
        return token

    def at(self, token):
        return self.source.place(token.offset)

    def is_op(self, *texts):
        return self.token.kind is OP and self.token.text in texts

    def take_op(self, text):
        """Whether the next token was this operator, which is then consumed."""
        if self.is_op(text):
            self.index += 1
            return True
        return False

    def error(self, message, token=None):
        return self.source.error((token or self.token).offset, message)

    def expected(self, what, hint=""):
        found = self.token.describe()
        return self.error(f"expected {what}, found {found}{': ' + hint if hint else ''}")

    def unsupported(self, what, token=None, hint=""):
        return self.source.error((token or self.token).offset, f"{what} not supported yet{hint}",
                                 UnsupportedKeywordError)

    def expect_op(self, text, hint=""):
        if not self.take_op(text):
            raise self.expected(repr(text), hint)

    def end_statement(self):
        if self.token.kind is not NEWLINE:
            raise self.expected("the end of the line", self.hint())
        self.index += 1

    def hint(self):
        """What most likely went wrong where the next token cannot stand."""
        token = self.token
        if token.kind is OP and token.text in "*+?{" and self.tokens[self.index - 1].text in ("*", "+", "?", "}"):
            return "an expression takes one repetition; put it in parentheses to repeat it again"
        if token.kind is OP and token.text in ("?", "!"):
            return "? and ! stand before the name where a rule is defined, nowhere else"
        if token.kind is OP and token.text == "=":
            return "a rule is written name: expression"
        if token.kind is OP and token.text == ":":
            return "a definition starts a line of its own"
        if token.kind is NEWLINE:
            return "a rule goes on in the next line only where that begins with '|'"
        if token.kind is OP and token.text in ")]}":
            return "nothing is open that it could close"
        return ""

    # -- statements -----------------------------------------------------------------------------------------------
    def statements(self):
        out = []
        while self.token.kind is not END:
            if self.token.kind is NEWLINE:
                self.index += 1
            elif self.token.kind is KEYWORD:
                out.extend(self.directive())
            else:
                out.append(self.definition())
        return out

    def definition(self):
        start = self.token
        while self.is_op("?", "!"):             # Lark's hints for the shape of a syntax tree, which nobody asks for here
            self.index += 1
        name = self.next()
        if name.kind not in (RULE, TERMINAL):
            self.index -= 1
            raise self.expected("a rule, a terminal or a statement", "a rule goes on only on a line that begins with '|'"
                                if name.kind in (STRING, REGEX, SPECIAL, REF) else self.hint())
        if start is not name and name.kind is TERMINAL:
            raise self.error(f"{start.text} stands only before the name of a rule", start)
        self.refuse_extras(name)
        self.expect_op(":", "a rule is written name: expression")
        body = self.expression()
        self.end_statement()
        return Define(ir.Definition(name.text, body, self.at(name)), name.kind is TERMINAL)

    def refuse_extras(self, name):
        """What may stand between a name and its colon."""
        if self.is_op("{"):
            raise self.unsupported(f"templates ({name.text}{{...}}: ...) are")
        if self.is_op("::"):
            raise self.unsupported(f"parametric rules ({name.text}::_) are")
        if self.is_op("."):
            raise self.unsupported(f"priorities ({name.text}.N: ...) are")
        if self.is_op("["):
            if name.kind is TERMINAL:
                raise self.error("attributes stand only on rules, and this is a terminal")
            self.index += 1
            attribute = self.token
            if attribute.kind is not RULE:
                raise self.expected("an attribute")
            if attribute.text not in ATTRIBUTES:
                raise self.error(f"unknown attribute {attribute.text}{near(attribute.text, ATTRIBUTES)}; "
                                 f"there are {', '.join(ATTRIBUTES)}")
            raise self.unsupported(f"the attribute {attribute.text} is")

    def directive(self):
        keyword = self.next()
        at = self.at(keyword)
        if keyword.text == "%import":
            return self.imports(at)
        if keyword.text == "%ignore":
            body = self.expression()
            self.end_statement()
            return [Ignore(body, at)]
        if keyword.text == "%llguidance":
            value = self.next()
            self.end_statement()
            return [Configure(value.text, self.at(value))]
        if keyword.text in ("%declare", "%override"):
            raise self.unsupported(f"the statement {keyword.text} is", keyword)
        raise self.error(f"{keyword.text} is part of an expression and cannot begin a statement", keyword)

    def imports(self, at):
        path, name = self.token.text if self.is_op(".", "..") else "", None
        self.index += bool(path)
        while True:
            name = self.next()
            if name.kind not in (RULE, TERMINAL):
                self.index -= 1
                raise self.expected("a name to import, such as common.INT")
            if not self.take_op("."):
                break
            path += name.text + "."
        path = path.rstrip(".") if path.strip(".") else path
        if self.is_op("("):
            path = f"{path}.{name.text}" if path.strip(".") else path + name.text
            return self.import_list(path)
        if not path:
            raise self.error("an import names a module and what to take from it, such as common.INT", name)
        alias = name
        if self.take_op("->"):
            alias = self.next()
            if alias.kind not in (RULE, TERMINAL):
                self.index -= 1
                raise self.expected("the name that the import is to have here")
        self.end_statement()
        return [Import(path, name.text, alias.text, at)]

    def import_list(self, path):
        self.index += 1
        out = []
        while True:
            name = self.next()
            if name.kind not in (RULE, TERMINAL):
                self.index -= 1
                raise self.expected("a name to import")
            out.append(Import(path, name.text, name.text, self.at(name)))
            if not self.take_op(","):
                break
        self.expect_op(")")
        self.end_statement()
        return out

    # -- expressions ----------------------------------------------------------------------------------------------
    def expression(self):
        """Alternatives up to the end of the statement."""
        stack = [_Frame(None, None, self.at(self.token))]
        while True:
            frame, token = stack[-1], self.token
            if self.token.kind is NEWLINE and self.continues():
                continue
            complement = self.complement()
            if self.is_op("(", "["):
                stack.append(_Frame(self.next(), complement, self.at(token)))
            elif (value := self.atom()) is not None:
                frame.parts.append(self.postfix(_complement(value, complement)))
            elif complement is not None:
                raise self.expected("what ~ is the complement of")
            elif self.is_op("|"):
                self.index += 1
                self.end_option(frame)
            elif self.is_op("&"):
                self.index += 1
                frame.both.append(self.sequence(frame))
            elif self.is_op("->"):
                self.alias()
            elif token.kind is KEYWORD and token.text == "%if":
                raise self.unsupported("conditions of parametric rules (%if) are")
            elif frame.opened is None:
                return self.close(frame)
            else:
                closing = ")" if frame.opened.text == "(" else "]"
                if not self.take_op(closing):
                    raise self.expected(repr(closing) + " for the {} of line {}, column {}".format(
                        frame.opened.text, *self.at(frame.opened)), self.hint())
                stack.pop()
                value = self.close(frame)
                if closing == "]":
                    value = ir.Repetition(value, 0, 1, at=frame.started)
                stack[-1].parts.append(self.postfix(_complement(value, frame.complement)))

    def continues(self):
        """Whether the newlines here are followed by a line that begins with ``|``; then they are consumed."""
        index = self.index
        while self.tokens[index].kind is NEWLINE:
            index += 1
        if self.tokens[index].kind is not OP or self.tokens[index].text != "|":
            return False
        self.index = index
        return True

    def complement(self):
        """The place of a prefix ``~``, or None."""
        return self.at(self.next()) if self.is_op("~") else None

    def alias(self):
        """``-> name`` names a branch of a syntax tree, which nobody asks for here."""
        self.index += 1
        if self.next().kind is not RULE:
            self.index -= 1
            raise self.expected("an alias (a name in lower case)")
        if not (self.token.kind is NEWLINE or self.is_op("|", ")", "]")):
            raise self.expected("the end of the alternative behind its alias")

    def sequence(self, frame):
        parts, frame.parts = frame.parts, []
        return parts[0] if len(parts) == 1 else ir.Sequence(tuple(parts), at=parts[0].at if parts else frame.started)

    def end_option(self, frame):
        last = self.sequence(frame)
        both, frame.both = frame.both, []
        frame.options.append(ir.Both((*both, last), at=both[0].at) if both else last)

    def close(self, frame):
        self.end_option(frame)
        options = frame.options
        return options[0] if len(options) == 1 else ir.Alternatives(tuple(options), at=frame.started)

    def atom(self):
        """The node of one name or value; None where no atom stands."""
        token = self.token
        read = _ATOMS.get(token.kind)
        if read is None and not (token.kind is KEYWORD and token.text in ("%json", "%lark", "%regex")):
            return None
        self.index += 1
        return read(self, token) if read else self.embedded(token)

    def name(self, token):
        if self.is_op("::"):
            raise self.unsupported(f"parametric rules ({token.text}::...) are")
        if self.is_op("{") and self.tokens[self.index + 1].kind not in (NUMBER, OP):
            raise self.unsupported(f"templates ({token.text}{{...}}) are")
        return ir.Reference(token.text, at=self.at(token))

    def string(self, token):
        text, fold = token.value
        if not self.take_op(".."):
            return ir.Literal(text, fold, at=self.at(token))
        last = self.token
        if last.kind is not STRING:
            raise self.expected('the last character of the range, as in "a".."z"')
        self.index += 1
        for end in token, last:
            if end.value[1]:
                raise self.error("an end of a range takes no flag", end)
            if len(end.value[0]) != 1:
                raise self.error("an end of a range is a single character", end)
        if last.value[0] < text:
            raise self.error("the range ends before it begins", token)
        return ir.Chars(((ord(text), ord(last.value[0])),), at=self.at(token))

    def regex(self, token):
        pattern, flags = token.value
        try:
            tree = regex.parse(pattern, "rust", flags, allow_invalid_utf8=self.any_bytes)
            if _sees_around(tree):
                regex.to_bytes(tree, Regexes("bytes"), look_around=False)       # is it more than an anchor at an edge?
        except GrammarError as e:
            offset = token.offset + 1
            if e.line:
                offset += sum(len(line) + 1 for line in pattern.split("\n")[:e.line - 1]) + e.column - 1
            hint = "; a slash inside a regex is written \\/" if self.is_op("]") else ""
            raise self.source.error(offset, e.message + hint, type(e)) from None
        return ir.Pattern(tree, pattern, at=self.at(token))

    def special(self, token):
        raise self.unsupported(f"special tokens ({token.text}) are", token)

    def reference(self, token):
        raise self.unsupported(f"references to other grammars ({token.text}) are", token)

    def embedded(self, keyword):
        if keyword.text != "%json":
            raise self.unsupported(f"{keyword.text} is", keyword)
        value = self.next()
        if value.text[0] not in "{tf":
            raise self.error("a JSON Schema is an object, true or false", value)
        return ir.Json(value.text, at=self.at(keyword))

    def postfix(self, body):
        """`body` with the repetition that follows it, if one does."""
        token = self.token
        if self.is_op("?", "*", "+"):
            self.index += 1
            if token.text == "?" and self.token.kind is RULE and self.token.offset == token.offset + 1:
                raise self.error("Lark reads ?name as a name; put a blank behind the ?", token)
            low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[token.text]
        elif self.is_op("~") and self.tokens[self.index + 1].kind is NUMBER:
            self.index += 1
            low = high = self.number()
            if self.take_op(".."):
                high = self.number()
        elif self.take_op("{"):
            low, high = self.braces()
            if high == 0:
                raise self.error("the upper bound of a repetition cannot be 0", token)
        else:
            return body
        if high is not None and high < low:
            raise self.error(f"the repetition ends before it begins: {low} > {high}", token)
        return ir.Repetition(body, low, high, at=body.at)

    def braces(self):
        if self.take_op(","):
            low, high = 0, self.number()
        else:
            low = high = self.number()
            if self.take_op(","):
                high = None if self.is_op("}") else self.number()
        self.expect_op("}")
        return low, high

    def number(self):
        token = self.token
        if token.kind is not NUMBER:
            raise self.expected("a number")
        if token.value is None or token.text[0] in "+-":
            raise self.error(f"the number of copies must be a whole number without a sign, not {token.text}")
        if token.value > ir.MOST_COPIES:
            raise LimitError("a repetition of more than {:,} copies (line {}, column {})".format(
                ir.MOST_COPIES, *self.at(token)))
        self.index += 1
        return token.value


def _sees_around(tree):
    """Whether there is an anchor or look-around in the syntax tree of a regex."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, (regex.Look, regex.Anchor)):
            return True
        todo.extend(getattr(node, "parts", ()))
        todo.extend([node.part] if hasattr(node, "part") else ())
    return False


def _complement(value, at):
    return value if at is None else ir.Complement(value, at=at)


_ATOMS = {RULE: _Parser.name, TERMINAL: _Parser.name, STRING: _Parser.string, REGEX: _Parser.regex,
          SPECIAL: _Parser.special, REF: _Parser.reference}
