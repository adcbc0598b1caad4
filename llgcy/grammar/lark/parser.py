"""From the tokens of the Lark dialect to statements, whose expressions are nodes of the IR with names unresolved.

Expressions are read with a stack of open brackets of our own, so nesting is bounded by memory alone.
"""
import json
from dataclasses import dataclass
from typing import NamedTuple

from llgcy.core.regex import Regexes
from llgcy.errors import GrammarError, LimitError
from llgcy.grammar import ir, regex
from llgcy.grammar.lark import parameters
from llgcy.grammar.lark.lexer import (
    END, KEYWORD, NEWLINE, NUMBER, OP, REF, REGEX, RULE, SPECIAL, STRING, TERMINAL, tokens)
from llgcy.grammar.lark.substrings import substrings
from llgcy.grammar.source import near
from llgcy.grammar.token_sets import token_set

# What may follow each attribute.
TEXTS, NAME, NUMERAL, NOTHING = "a string, a regex or a terminal", "a string", "a number", "nothing"
ATTRIBUTES = {"capture": (NOTHING, NAME), "lazy": (NOTHING,), "max_tokens": (NUMERAL,), "stop": (TEXTS,), "stop_capture": (NAME,),
              "suffix": (TEXTS,), "temperature": (NUMERAL,)}
DEEPEST = 64                    # %lark { ... } inside one another
MOST_PRIORITY = 1 << 28


@dataclass(frozen=True, eq=False, repr=False)
class Call(ir.Node):
    """A use of a template, ``name{argument, ...}``. Templates are written out before anyone else sees the expression."""

    name: str
    arguments: tuple

    @property
    def children(self):
        return self.arguments


@dataclass(frozen=True, eq=False, repr=False)
class Bound(ir.Node):
    """A use of a parametric rule, ``name::value``. ``value``: see `parameters`. Written out like templates."""

    name: str
    value: tuple


@dataclass(frozen=True, eq=False, repr=False)
class Guarded(ir.Node):
    """An alternative with a condition, ``body %if condition``. Written out like templates."""

    body: ir.Node
    condition: tuple

    @property
    def children(self):
        return (self.body,)


@dataclass(frozen=True, eq=False, repr=False)
class Nested(ir.Node):
    """``%lark { ... }``: the statements of another grammar. It becomes an `ir.Embedded`."""

    statements: tuple


class Attribute(NamedTuple):
    """``name`` or ``name=value`` of a rule. ``value``: an expression (of stop and suffix), a str, a number; None: just the name."""

    value: object
    at: tuple


class Define(NamedTuple):
    """``name: body``.

    ``terminal``: an upper-case name. ``attributes``: by name. ``parameters``: names of those of a template, None: it is none.
    ``parametric``: the rule has a number, ``name::_``.
    """

    definition: ir.Definition
    terminal: bool
    attributes: dict
    parameters: tuple | None = None
    parametric: bool = False


class Change(NamedTuple):
    """``%override`` and ``%extend`` before a definition: it takes the place of another one, or adds alternatives to it."""

    define: Define
    extends: bool
    at: tuple


class Declare(NamedTuple):
    """``%declare NAME``."""

    name: str
    at: tuple


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
        With line and column.
    """
    return _Parser(source, tokens(source)).statements()


class _Frame:
    """An expression that is being read: alternatives of intersections of sequences. ``opened``: its bracket's token."""

    __slots__ = ("opened", "complement", "options", "both", "parts", "started")

    def __init__(self, opened, complement, started):
        self.opened, self.complement, self.started = opened, complement, started
        self.options, self.both, self.parts = [], [], []


class _Parser:
    """``depth``: braces of ``%lark`` around it."""

    def __init__(self, source, tokens, index=0, depth=0):
        self.source, self.tokens, self.index, self.depth = source, tokens, index, depth
        self.any_bytes = self.allows_any_bytes()

    def allows_any_bytes(self):
        """The one option that changes how regexes are read, wherever in the grammar it stands. Its value is checked later."""
        depth = 0
        for i in range(self.index, len(self.tokens) - 1):
            token, following = self.tokens[i], self.tokens[i + 1]
            if token.kind is OP and token.text in "{}":
                depth += 1 if token.text == "{" else -1
                if depth < 0:
                    return False
            elif (token.kind is KEYWORD and token.text == "%llguidance" and depth == 0 and "allow_invalid_utf8" in following.text):
                options = json.loads(following.text, parse_int=float)
                if isinstance(options, dict) and options.get("allow_invalid_utf8") is True:
                    return True
        return False

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

    def expect_op(self, text, hint=""):
        if not self.take_op(text):
            raise self.expected(repr(text), hint)

    def end_statement(self):
        if self.token.kind is NEWLINE:
            self.index += 1
        elif not (self.depth and self.is_op("}")):
            raise self.expected("the end of the line", self.hint())

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
    def statements(self, opened=None):
        """Up to the end, or up to the brace that closes the one `opened`."""
        out = []
        while not (self.token.kind is END or opened and self.is_op("}")):
            if self.token.kind is NEWLINE:
                self.index += 1
            elif self.token.kind is KEYWORD:
                out.extend(self.directive())
            else:
                out.append(self.definition())
        if opened and self.token.kind is END:
            raise self.expected("'}}' for the {{ of line {}, column {}".format(*self.at(opened)))
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
        parametric = self.take_op("::")
        if parametric:
            if name.kind is TERMINAL:
                raise self.error("only rules have parameters, and this is a terminal", name)
            self.expect_op("_", "a parametric rule is defined as name::_")
        names = self.template_parameters(name) if self.is_op("{") else None
        priority = self.priority() if self.is_op(".") else 0
        attributes = self.attributes(name) if self.is_op("[") else {}
        priority = self.priority() if self.is_op(".") else priority
        self.expect_op(":", "a rule is written name: expression")
        body = self.expression()
        self.end_statement()
        terminal = name.kind is TERMINAL
        definition = ir.Definition(name.text, body, self.at(name), priority if terminal else 0)     # a rule's chooses among parses only
        return Define(definition, terminal, attributes, names, parametric)

    def template_parameters(self, name):
        if name.kind is TERMINAL:
            raise self.error("only rules can be templates, and this is a terminal", name)
        names = {}
        while True:
            self.index += 1
            parameter = self.token
            if parameter.kind not in (RULE, TERMINAL) or parameter.text in names:
                raise self.expected("the name of another parameter")
            names[parameter.text] = None
            self.index += 1
            if not self.is_op(","):
                break
        self.expect_op("}")
        return tuple(names)

    def priority(self):
        self.index += 1
        token = self.next()
        if token.kind is not NUMBER or token.value is None or abs(token.value) > MOST_PRIORITY:
            self.index -= 1
            raise self.expected("a whole number as priority")
        return token.value

    def attributes(self, name):
        if name.kind is TERMINAL:
            raise self.error("attributes stand only on rules, and this is a terminal")
        out = {}
        while True:
            self.index += 1
            key = self.token
            if key.kind is not RULE:
                raise self.expected("an attribute")
            if key.text not in ATTRIBUTES:
                raise self.error(f"unknown attribute {key.text}{near(key.text, ATTRIBUTES)}; there are {', '.join(ATTRIBUTES)}")
            if key.text in out:
                raise self.error(f"the attribute {key.text} stands twice")
            self.index += 1
            out[key.text] = Attribute(self.attribute_value(key), self.at(key))
            if not self.is_op(","):
                break
        self.expect_op("]")
        return out

    def attribute_value(self, key):
        kinds = ATTRIBUTES[key.text]
        if not self.take_op("="):
            if NOTHING in kinds:
                return None
            raise self.expected(f"'=' and {kinds[0]}, the value of {key.text}")
        token = self.token
        if TEXTS in kinds and token.kind in (STRING, REGEX, TERMINAL):
            self.index += 1
            return _ATOMS[token.kind](self, token)
        if NAME in kinds and token.kind is STRING:
            self.index += 1
            return token.value[0]
        if NUMERAL in kinds and token.kind is NUMBER:
            self.index += 1
            return float(token.text) if token.value is None else token.value
        raise self.expected(kinds[-1] + f", the value of {key.text}" if kinds != (NOTHING,) else f"no value behind {key.text}")

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
        if keyword.text == "%declare":
            return self.declare()
        if keyword.text in ("%override", "%extend"):
            return [Change(self.definition(), keyword.text == "%extend", at)]
        raise self.error(f"{keyword.text} is part of an expression and cannot begin a statement", keyword)

    def declare(self):
        out = []
        while self.token.kind is TERMINAL:
            token = self.next()
            out.append(Declare(token.text, self.at(token)))
        if not out:
            raise self.expected("the name of a terminal, which is to be a special token")
        self.end_statement()
        return out

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
                frame.parts.append(self.postfix(self.complemented(value, complement)))
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
                self.index += 1
                self.condition(frame, token)
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
                stack[-1].parts.append(self.postfix(self.complemented(value, frame.complement)))

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

    def complemented(self, value, at):
        return value if at is None else ir.Complement(value, self.any_bytes, at=at)

    def condition(self, frame, keyword):
        """``%if condition`` at the end of an alternative."""
        if frame.both:
            raise self.error("%if stands only in rules, and & only in terminals", keyword)
        condition = parameters.condition(self)
        if not (self.token.kind is NEWLINE or self.is_op("|", ")", "]", "->")):
            raise self.expected("the end of the alternative behind its condition")
        frame.parts = [Guarded(self.sequence(frame), condition, at=self.at(keyword))]

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
        if self.take_op("::"):
            return Bound(token.text, parameters.value(self), at=self.at(token))
        if self.is_op("{") and self.tokens[self.index + 1].kind is not NUMBER and self.tokens[self.index + 1].text != ",":
            return self.call(token)
        return ir.Reference(token.text, at=self.at(token))

    def call(self, name):
        """The arguments of a template: names, strings, regexes, ranges, other templates."""
        stack = [(name, [])]                                # templates that are open, with their arguments so far
        while True:
            self.index += 1
            token = self.token
            if token.kind not in (RULE, TERMINAL, STRING, REGEX):
                raise self.expected("an argument of the template: a name, a string or a regex")
            self.index += 1
            if self.is_op("{") and token.kind is RULE:
                stack.append((token, []))
                continue
            stack[-1][1].append(_ATOMS[token.kind](self, token))
            while self.is_op("}"):
                self.index += 1
                opened, arguments = stack.pop()
                value = Call(opened.text, tuple(arguments), at=self.at(opened))
                if not stack:
                    return value
                stack[-1][1].append(value)
            if not self.is_op(","):
                raise self.expected("',' or '}'")

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
            if regex.sees_around(tree):
                regex.to_bytes(tree, Regexes("bytes"), look_around=False)       # is it more than an anchor at an edge?
        except GrammarError as e:
            offset = token.offset + 1
            if e.line:
                offset += sum(len(line) + 1 for line in pattern.split("\n")[:e.line - 1]) + e.column - 1
            hint = "; a slash inside a regex is written \\/" if self.is_op("]") else ""
            raise self.source.error(offset, e.message + hint, type(e)) from None
        return ir.Pattern(tree, pattern, at=self.at(token))

    def special(self, token):
        try:
            return token_set(token.text, at=self.at(token))
        except GrammarError as e:
            raise self.error(e.message, token) from None

    def reference(self, token):
        if token.text[1:].isdigit():
            raise self.error("a grammar is referred to by its name, not by a number", token)
        return ir.Embedded(token.text[1:], at=self.at(token))

    def embedded(self, keyword):
        if keyword.text == "%lark":
            return self.nested(keyword)
        value = self.next()
        if keyword.text == "%regex":
            try:
                return substrings(value.text, at=self.at(keyword))
            except GrammarError as e:
                raise self.error(e.message, value) from None
        if value.text[0] not in "{tf":
            raise self.error("a JSON Schema is an object, true or false", value)
        return ir.Json(value.text, at=self.at(keyword))

    def nested(self, keyword):
        """``%lark { statements }``: the statements, to be built as a grammar of their own."""
        opened = self.token
        self.expect_op("{", "a nested grammar is written %lark { ... }")
        if self.depth == DEEPEST:
            raise LimitError("more than {} grammars inside one another (line {}, column {})".format(DEEPEST, *self.at(keyword)))
        inner = _Parser(self.source, self.tokens, self.index, self.depth + 1)
        statements = inner.statements(opened)
        self.index = inner.index + 1
        return Nested(tuple(statements), at=self.at(keyword))

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


_ATOMS = {RULE: _Parser.name, TERMINAL: _Parser.name, STRING: _Parser.string, REGEX: _Parser.regex,
          SPECIAL: _Parser.special, REF: _Parser.reference}
