"""From the statements of a Lark grammar to the IR: imports, options, names, and what may stand where."""
import functools
import json

from llgcy.errors import GrammarError, UnsupportedKeywordError
from llgcy.grammar import ir
from llgcy.grammar.lark.common import COMMON
from llgcy.grammar.lark.parser import Configure, Define, Ignore, Import, parse
from llgcy.grammar.source import Source, near

START = "start"
LEXINGS = ("greedy", "exact")


def read(text, *, lexing=None):
    """The IR of a grammar in the Lark dialect.

    Parameters
    ----------
    text : str
    lexing : "greedy" or "exact", optional
        Where given it wins over ``%llguidance {"lexing": ...}``; without either it is greedy.

    Raises
    ------
    GrammarError
        With line, column and an excerpt; `UnsupportedKeywordError` for what is known and not enforced yet.

    Examples
    --------
    >>> read('start: "a" INT\\n%import common.INT').rules["start"].body
    <("a" INT)>
    """
    if lexing is not None and lexing not in LEXINGS:
        raise ValueError(f"lexing is one of {', '.join(LEXINGS)}, not {lexing!r}")
    return _Builder(Source(text)).build(lexing)


class _Builder:
    def __init__(self, source):
        self.source, self.rules, self.terminals, self.ignored, self.options = source, {}, {}, [], {}

    def build(self, lexing):
        """The IR. Every definition is checked, whether the start rule leads to it or not."""
        for statement in parse(self.source):
            _STATEMENTS[type(statement)](self, statement)
        for rule in self.rules.values():
            self.check_rule(rule.body)
        for terminal in self.terminals.values():
            if not terminal.name.startswith("common."):
                self.check_regular(terminal.body, f"the terminal {terminal.name}")
        for body in self.ignored:
            self.check_regular(body, "%ignore")
        self.check_cycles()
        if START not in self.rules:
            raise self.no_start()
        options = self.options if lexing is None else {**self.options, "lexing": lexing}
        return ir.Grammar(self.rules, self.terminals, START, self.ignore(), ir.Options(**options))

    # -- statements -----------------------------------------------------------------------------------------------
    def define(self, statement):
        definition, names = statement.definition, self.terminals if statement.terminal else self.rules
        self.refuse_duplicate(definition.name, definition.at)
        names[definition.name] = definition

    def refuse_duplicate(self, name, at):
        known = self.terminals.get(name) or self.rules.get(name)
        if known:
            raise self.source.error_at(at, f"{name} is defined twice; first in line {known.at[0]}")

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
            if isinstance(node, ir.Reference) and node.name not in self.rules and node.name not in self.terminals:
                raise self.undefined(node)
            todo.extend(reversed(node.children))

    def check_regular(self, body, where):
        """Every node is one of a regular expression. ``where``: how an error names the place."""
        for node in ir.walk(body):
            if isinstance(node, ir.Json):
                raise self.source.error_at(node.at, f"%json cannot stand in {where}")
            if not isinstance(node, ir.Reference) or node.name in self.terminals:
                continue
            if node.name in self.rules:
                raise self.source.error_at(node.at, f"{node.name} is a rule, and {where} can refer only to terminals: "
                                                    f"define it as {node.name.upper()}, if it is not recursive")
            raise self.undefined(node)

    def undefined(self, node):
        names = [name for name in (*self.rules, *self.terminals) if not name.startswith("common.")]
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
        names = [*self.rules, *(name for name in self.terminals if not name.startswith("common."))]
        alike = [name for name in names if name.strip("_").lower() == START]
        hint = f"rename {alike[0]}" if alike else f"rename {names[0]}, or add start: {names[0]}" if names else (
            "the grammar is empty")
        return GrammarError(f"the grammar has no rule named start, with which every text begins: {hint}", line=1, column=1)

    def ignore(self):
        bodies = self.ignored
        return None if not bodies else bodies[0] if len(bodies) == 1 else ir.Alternatives(tuple(bodies), at=bodies[0].at)


END_OF_NAME = object()          # on the stack of check_cycles: everything below this name is done

# Options of %llguidance: field of ir.Options (None: without effect here, where nothing is ever forced), values.
_OPTIONS = {
    "lexing": ("lexing", LEXINGS),
    "no_forcing": (None, (True, False)),
    "allow_initial_skip": ("skip_first", (True, False)),
    "allow_invalid_utf8": ("any_bytes", (True, False)),
    "ignore_once": ("skip_once", (True, False)),
}
_STATEMENTS = {Define: _Builder.define, Import: _Builder.imports, Ignore: _Builder.ignore_more,
               Configure: _Builder.configure}


@functools.lru_cache(maxsize=None)
def _common(name):
    """The expression of a terminal of ``common``; its references have the prefix ``common.``."""
    body = parse(Source(f"{name}: {COMMON[name]}"))[0].definition.body

    def combine(node, below):
        match node:
            case ir.Reference():
                return ir.Reference(f"common.{node.name}", at=node.at)
            case ir.Sequence():
                return ir.Sequence(tuple(below), at=node.at)
            case ir.Alternatives():
                return ir.Alternatives(tuple(below), at=node.at)
            case ir.Repetition():
                return ir.Repetition(below[0], node.low, node.high, at=node.at)
        return node
    return ir.fold(body, combine)
