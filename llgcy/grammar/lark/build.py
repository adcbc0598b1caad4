"""From the statements of a Lark grammar to the IR: imports, options, names, and what may stand where."""
import functools
import json
from dataclasses import replace

from llgcy.core.regex import Regexes
from llgcy.errors import GrammarError, UnsupportedKeywordError
from llgcy.grammar import ir, regex
from llgcy.grammar.lark.common import COMMON
from llgcy.grammar.lark.expand import Expander, rebuilt
from llgcy.grammar.lark.parser import Bound, Call, Change, Configure, Declare, Define, Guarded, Ignore, Import, Nested, parse
from llgcy.grammar.link import link
from llgcy.grammar.source import Source, near
from llgcy.grammar.terms import Terms

START = "start"
MOST_TEMPERATURE = 100
MOST_TOKENS = 1_000_000_000
ANYTHING = regex.parse("(?s:.)+", "rust")
LEXINGS = ("greedy", "exact")


def read(text, *, lexing=None, linked=True):
    """The IR of a grammar in the Lark dialect.

    Parameters
    ----------
    text : str
    lexing : "greedy" or "exact", optional
        Where given it wins over ``%llguidance {"lexing": ...}``; without either it is greedy.
    linked : bool
        False: references to other grammars stay, for `llgcy.grammar.link`. Otherwise those in braces become parts of this one, and
        there are no others.

    Raises
    ------
    GrammarError
        With line, column and an excerpt; `UnsupportedKeywordError` for what is known and not enforced.

    Examples
    --------
    >>> read('start: "a" INT\\n%import common.INT').rules["start"].body
    <("a" INT)>
    """
    if lexing is not None and lexing not in LEXINGS:
        raise ValueError(f"lexing is one of {', '.join(LEXINGS)}, not {lexing!r}")
    source = Source(text)
    grammar = _Builder(source, lexing).build(parse(source))
    return link(grammar) if linked else grammar


class _Builder:
    """``lexing``: wins over what the grammar says; so it does in grammars inside of it that say nothing."""

    def __init__(self, source, lexing):
        self.source, self.lexing = source, lexing
        self.rules, self.terminals, self.ignored, self.options = {}, {}, [], {}
        self.makers, self.tokens, self.lazy = {}, {}, {}    # makers: templates and parametric rules; lazy: see `attributed`

    def build(self, statements):
        """The IR. Every definition is checked, whether the start rule leads to it or not."""
        self.defines = {}                                   # name of a rule -> Define
        for statement in statements:
            if not isinstance(statement, Change):
                _STATEMENTS[type(statement)](self, statement)
        for statement in statements:
            if isinstance(statement, Change):
                self.change(statement)
        self.find_tokens()
        for maker in self.makers.values():
            self.check_names(maker)
        for terminal in self.terminals.values():
            if not terminal.name.startswith("common."):
                self.check_regular(terminal.body, f"the terminal {terminal.name}")
        for body in self.ignored:
            self.check_regular(body, "%ignore")
        self.check_cycles()
        self.write_out()
        for rule in self.rules.values():
            self.check_rule(rule.body)
        if START not in self.rules:
            raise self.no_start()
        options = self.options if self.lexing is None else {**self.options, "lexing": self.lexing}
        return ir.Grammar(self.shared_stops(), self.terminals, START, self.ignore(), ir.Options(**options))

    # -- statements -----------------------------------------------------------------------------------------------
    def define(self, statement):
        definition = statement.definition
        self.refuse_duplicate(definition.name, definition.at)
        if statement.terminal:
            self.terminals[definition.name] = definition
        else:
            self.defines[definition.name] = statement
            if statement.parameters is not None or statement.parametric:
                self.makers[definition.name] = statement

    def change(self, statement):
        new, how = statement.define.definition, "%extend" if statement.extends else "%override"
        terminal = statement.define.terminal
        if new.name in self.tokens:
            raise self.source.error_at(new.at, f"{new.name} is declared to be a token, which {how} cannot change")
        if new.name not in (self.terminals if terminal else self.defines):
            known = near(new.name, [name for name in (*self.defines, *self.terminals) if not name.startswith("common.")])
            raise self.source.error_at(new.at, f"{how} changes a definition, and {new.name} has none{known}")
        old = None if terminal else self.defines[new.name]
        if statement.extends:
            if not terminal and (statement.define.attributes or (old.parameters, old.parametric) != (statement.define.parameters, statement.define.parametric)):
                raise self.source.error_at(new.at, f"%extend adds alternatives alone: attributes and parameters of {new.name} are those of its definition")
            first = self.terminals[new.name] if terminal else old.definition
            new = replace(first, body=ir.Alternatives((first.body, new.body), at=first.body.at))
        if terminal:
            self.terminals[new.name] = new
            return
        self.defines[new.name] = old._replace(definition=new) if statement.extends else statement.define
        self.makers.pop(new.name, None)
        if self.defines[new.name].parameters is not None or self.defines[new.name].parametric:
            self.makers[new.name] = self.defines[new.name]

    def refuse_duplicate(self, name, at):
        known = self.terminals.get(name) or self.tokens.get(name) or name in self.defines and self.defines[name].definition
        if known:
            raise self.source.error_at(at, f"{name} is defined twice; first in line {known.at[0]}")

    def declare(self, statement):
        self.refuse_duplicate(statement.name, statement.at)
        self.tokens[statement.name] = ir.Tokens(statement.name, name=statement.name, loose=True, at=statement.at)

    def imports(self, statement):
        path, name, alias, at = statement
        if path != "common":
            raise self.source.error_at(at, f"the import of {path}.{name} is not supported: only %import common.NAME is",
                                       UnsupportedKeywordError)
        if name not in COMMON:
            raise self.source.error_at(at, f"common has no {name}{near(name, COMMON)}; it has {', '.join(sorted(COMMON))}")
        self.refuse_duplicate(alias, at)
        # Names with a dot cannot clash with names of the grammar. (The value of an import may have a rule's name.)
        self.terminals[alias] = ir.Definition(alias, ir.Reference(f"common.{name}", at=at), at)
        todo = [name]
        while todo:
            name = todo.pop()
            if f"common.{name}" not in self.terminals:
                body = _common(name)
                self.terminals[f"common.{name}"] = ir.Definition(f"common.{name}", body, at)
                todo += [node.name.removeprefix("common.") for node in ir.walk(body) if isinstance(node, ir.Reference)]

    def ignore_more(self, statement):
        self.ignored.append(statement.body)

    def configure(self, statement):
        options = json.loads(statement.text, parse_int=float)    # float: Python limits the digits of an int
        if not isinstance(options, dict):
            raise self.source.error_at(statement.at, "%llguidance needs a JSON object")
        for name, value in options.items():
            if name not in _OPTIONS:
                raise self.source.error_at(statement.at, f"unknown option {name!r} of %llguidance{near(name, _OPTIONS)}; "
                                                         f"it has {', '.join(_OPTIONS)}")
            field, values = _OPTIONS[name]
            if not any(value is allowed or value == allowed and isinstance(value, str) for allowed in values):
                raise self.source.error_at(statement.at, f"the option {name!r} of %llguidance is one of "
                                                         f"{', '.join(map(json.dumps, values))}, not {json.dumps(value)}")
            if field:
                self.options[field] = value

    # -- checks ---------------------------------------------------------------------------------------------------
    def check_names(self, maker):
        """Names in a template or parametric rule that may never be written out."""
        for node in ir.walk(maker.definition.body):
            if isinstance(node, ir.Reference) and not (node.name in self.defines or node.name in self.terminals or node.name in self.tokens
                                                       or node.name in (maker.parameters or ())):
                raise self.undefined(node)

    def check_rule(self, body):
        """Names, and what stands only in terminals."""
        todo = [body]
        while todo:
            node = todo.pop()
            if isinstance(node, ir.Both):
                raise self.source.error_at(node.at, "& stands only in terminals: give the expression a name in UPPER CASE")
            if isinstance(node, ir.Complement):
                self.check_regular(node.body, "a complement (~)")
                continue
            if isinstance(node, ir.Shortest):               # checked where its rule was read
                continue
            if isinstance(node, ir.Reference) and node.name not in self.rules and node.name not in self.terminals:
                raise self.undefined(node)
            todo.extend(reversed(node.children))

    def check_regular(self, body, where):
        """Every node is one of a regular expression. ``where``: how an error names the place."""
        for node in ir.walk(body):
            for kind, name in _ONLY_IN_RULES.items():
                if isinstance(node, kind):
                    raise self.source.error_at(node.at, f"{name} cannot stand in {where}")
            if not isinstance(node, ir.Reference) or node.name in self.terminals:
                continue
            if node.name in self.tokens:
                raise self.source.error_at(node.at, f"{node.name} is a token, not text, and cannot stand in {where}")
            if node.name in self.defines:
                raise self.source.error_at(node.at, f"{node.name} is a rule, and {where} can refer only to terminals: "
                                                    f"define it as {node.name.upper()}, if it is not recursive")
            raise self.undefined(node)

    def undefined(self, node):
        names = [name for name in (*self.defines, *self.terminals, *self.tokens) if not name.startswith("common.")]
        hint = near(node.name, names)
        if node.name in COMMON:
            hint = f": write %import common.{node.name}"
        kind = "terminal" if node.name.strip("_")[:1].isupper() else "rule"
        return self.source.error_at(node.at, f"there is no {kind} {node.name}{hint}")

    def check_cycles(self):
        """No terminal refers to itself, however many others lie between."""
        done, open_ = set(), {}                             # open_: name -> reference that led on from it
        for root in self.terminals:
            todo = [(root, None)]
            while todo:
                name, reference = todo.pop()
                if reference is END_OF_NAME:
                    del open_[name]
                    done.add(name)
                elif name in open_:
                    cycle = list(open_)[list(open_).index(name):]
                    raise self.source.error_at(
                        reference.at, f"the terminal {name} is recursive ({' -> '.join([*cycle, name])}): a terminal is "
                                      f"one regular expression; define it as a rule, {name.lower()}")
                elif name not in done:
                    open_[name] = reference
                    todo.append((name, END_OF_NAME))
                    todo.extend((node.name, node) for node in ir.walk(self.terminals[name].body)
                                if isinstance(node, ir.Reference))

    def no_start(self):
        names = [*self.defines, *(name for name in self.terminals if not name.startswith("common."))]
        alike = [name for name in names if name.strip("_").lower() == START]
        hint = f"rename {alike[0]}" if alike else f"rename {names[0]}, or add start: {names[0]}" if names else (
            "the grammar is empty")
        return GrammarError(f"the grammar has no rule named start, with which every text begins: {hint}", line=1, column=1)

    def ignore(self):
        bodies = self.ignored
        return None if not bodies else bodies[0] if len(bodies) == 1 else ir.Alternatives(tuple(bodies), at=bodies[0].at)

    # -- rules ----------------------------------------------------------------------------------------------------
    def find_tokens(self):
        """Terminals that stand for tokens, not for text: uses of them become what they stand for."""
        for name, terminal in list(self.terminals.items()):
            body = terminal.body
            if isinstance(body, ir.Tokens) or isinstance(body, ir.Alternatives) and body.options and all(
                    isinstance(option, ir.Tokens) for option in body.options):
                self.tokens[name] = body
                del self.terminals[name]

    def write_out(self):
        """Makes `rules`."""
        expander = Expander(self.source, set(self.defines) - set(self.makers), self.makers, self.tokens)
        for name, define in self.defines.items():
            if name not in self.makers:
                body = expander.written(self.nested(define.definition.body))
                self.rules[name] = self.attributed(define, define.definition.name, body, expander.written)
        for name, use in expander.due:                      # grows while it runs
            define = self.makers[use.name]
            body = expander.written(self.nested(define.definition.body), use)
            self.rules[name] = self.attributed(define, name, body, lambda node, use=use: expander.written(node, use))

    def nested(self, body):
        """The expression with grammars inside of it built."""
        def combine(node, below):
            if isinstance(node, Nested):
                return ir.Embedded(_Builder(self.source, self.lexing).build(node.statements), at=node.at)
            return rebuilt(node, below)
        return ir.fold(body, combine)

    def attributed(self, define, name, body, written):
        """The definition of a rule with what its attributes say. ``written``: writes out the values of attributes."""
        definition, attributes = define.definition, define.attributes
        get = {key: attribute.value for key, attribute in attributes.items()}

        def error(key, message, kind=GrammarError):
            return self.source.error_at(attributes[key].at, message, kind)
        if "stop" in get and "suffix" in get:
            raise error("suffix", "a rule has stop= or suffix=, not both")
        if "stop_capture" in get and not ("stop" in get or "suffix" in get):
            raise error("stop_capture", "stop_capture= records the text of stop= or suffix=, and the rule has neither")
        if "temperature" in get and not 0 <= get["temperature"] <= MOST_TEMPERATURE:
            raise error("temperature", f"a temperature lies between 0 and {MOST_TEMPERATURE}")
        if "max_tokens" in get and not (isinstance(get["max_tokens"], int) and get["max_tokens"] <= MOST_TOKENS):
            raise error("max_tokens", f"max_tokens= is a number of tokens, at most {MOST_TOKENS:,}")
        capture, ending = (get["capture"] or definition.name) if "capture" in get else None, None

        def limit(body):
            return self.limited(name, body, get["max_tokens"], attributes["max_tokens"].at) if "max_tokens" in get else body
        if "lazy" in get or "stop" in get or "suffix" in get:
            how = "stop" if "stop" in get else "suffix" if "suffix" in get else "lazy"
            self.check_regular(body, f"the lazy rule {definition.name}" if how == "lazy" else f"the rule {definition.name} with {how}=")
            stop = written(get[how]) if how != "lazy" else None
            if stop is not None:
                self.check_regular(stop, f"the value of {how}=")
            if stop is not None:
                ending = ir.Ending(body, None if how == "stop" and self.ends_the_text(stop) else stop, how == "stop")
            body = self.ended(body, how, stop, limit)
            if how == "stop" and "max_tokens" not in get and isinstance(stop, ir.Literal) and stop.text and not stop.fold:
                self.lazy[name] = stop.text
        else:
            for key in ("temperature", "max_tokens"):
                if key in get and not self.of_one_kind(body):
                    raise error(key, f"{key}= stands on rules that are one lexeme, or one text of another grammar (%json, %lark, @name)")
            body = limit(body)
        return ir.Definition(name, body, definition.at, 0, 0, capture, get.get("stop_capture"), get.get("temperature"), ending)

    def limited(self, name, body, most, at):
        """An expression in at most so many tokens; in none it is empty."""
        if not most:
            return ir.Sequence((), at=at)
        if isinstance(body, (ir.Json, ir.Embedded)):
            return ir.Limited(body, most, at=at)
        self.check_regular(body, f"the rule {name} with max_tokens=")
        return replace(ir.limited(name, body, self.terminals, most, body.at), at=at)

    def ended(self, body, how, stop, limit):
        """A lexeme that ends as soon as it can. ``limit``: makes a limited one of it."""
        at = body.at
        if stop is None or self.ends_the_text(stop):
            if how == "stop":                               # what ends a text ends this lexeme alone
                some = limit(self.lexeme_of(ir.Both((body, ir.Pattern(ANYTHING, "(?s:.)+", at=at)), at=at)))
                end = ir.Repetition(ir.Tokens("<the end>", end=True, at=at), 0, 1, at=at)
                return ir.Repetition(ir.Sequence((some, end), at=at), 0, 1, at=at) if self.may_be_empty(body) else ir.Sequence((some, end), at=at)
            return limit(ir.Shortest(body, at=at))
        return limit(ir.Shortest(ir.Sequence((body, stop), at=at), at=at))

    def ends_the_text(self, stop):
        return isinstance(stop, ir.Literal) and not stop.text

    def lexeme_of(self, body):
        """A terminal that no one has named."""
        name = f"{ir.show(body)}"
        self.terminals[name] = ir.Definition(name, body, body.at)
        return ir.Reference(name, at=body.at)

    def may_be_empty(self, body):
        regexes = Regexes("bytes")
        return regexes.accepts(Terms(ir.Grammar({}, self.terminals, START), regexes).regular(body))

    def of_one_kind(self, body):
        """One lexeme, or one text of another grammar."""
        if isinstance(body, (ir.Json, ir.Embedded)):
            return True
        return not any(isinstance(node, (ir.Json, ir.Embedded, ir.Tokens)) or isinstance(node, ir.Reference) and node.name in self.defines
                       for node in ir.walk(body))

    def shared_stops(self):
        """The rules, but where text that must begin with what has stopped a rule stands behind it, that is read once."""
        if not self.lazy:
            return self.rules

        rules = {}

        def combine(node, below):
            node = ir.rebuilt(node, below)
            if not isinstance(node, ir.Sequence):
                return node
            parts = list(node.parts)
            for i in range(len(parts) - 1):
                stop = isinstance(parts[i], ir.Reference) and self.lazy.get(parts[i].name)
                text = stop and self.literal(parts[i + 1])
                if text and text.startswith(stop):
                    rule = self.rules[parts[i].name]
                    parts[i] = replace(parts[i], name=f"{rule.name}#read")
                    rules[parts[i].name] = replace(rule, ending=replace(rule.ending, hidden=False))
                    parts[i + 1] = ir.Adjacent(ir.Literal(text[len(stop):], at=parts[i + 1].at), at=parts[i + 1].at)
            return replace(node, parts=tuple(parts))
        for name, rule in self.rules.items():
            rules[name] = replace(rule, body=ir.fold(rule.body, combine))
        return rules

    def literal(self, node):
        """The one text of an expression, None where it has not just one."""
        seen = set()
        while isinstance(node, ir.Reference) and node.name not in seen:
            seen.add(node.name)
            rule = self.rules.get(node.name)
            if rule and not rule.plain:
                return None
            node = (rule or self.terminals[node.name]).body
        return node.text if isinstance(node, ir.Literal) and not node.fold else None


END_OF_NAME = object()          # on the stack of check_cycles: everything below this name is done

# Options of %llguidance: field of ir.Options (None: without effect here, where nothing is ever forced), values.
_OPTIONS = {
    "lexing": ("lexing", LEXINGS),
    "no_forcing": (None, (True, False)),
    "allow_initial_skip": ("skip_first", (True, False)),
    "allow_invalid_utf8": (None, (True, False)),            # seen by the parser
    "allow_skip_before_nested": ("skip_outside", (True, False)),
    "ignore_once": ("skip_once", (True, False)),
}
_STATEMENTS = {Define: _Builder.define, Import: _Builder.imports, Ignore: _Builder.ignore_more,
               Configure: _Builder.configure, Declare: _Builder.declare}
_ONLY_IN_RULES = {ir.Json: "%json", Nested: "%lark", ir.Embedded: "another grammar (@name)", ir.Tokens: "a token", Call: "a template",
                  Bound: "a parametric rule", Guarded: "%if"}


@functools.lru_cache(maxsize=None)
def _common(name):
    """The expression of a terminal of ``common``; its references have the prefix ``common.``."""
    body = parse(Source(f"{name}: {COMMON[name]}"))[0].definition.body

    def combine(node, below):
        return ir.Reference(f"common.{node.name}", at=node.at) if isinstance(node, ir.Reference) else ir.rebuilt(node, below)
    return ir.fold(body, combine)
