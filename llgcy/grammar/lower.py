"""From the IR to what the tables of the parser are made of: numbered symbols, plain rules, counted rules, lexemes.

Symbols are numbered in the order in which they come in the grammar: first the lexemes, then the nonterminals. Equal
lexemes are one; one that matches nothing is not made. Repetition becomes one counted rule, whatever its bounds. Rules to
which the start rule does not lead are left out.

Where every lexeme may end anywhere (exact lexing) and nothing is ignored between lexemes, how a text is cut into
lexemes makes no difference. There whole regular parts of rules become single lexemes, as long as no large count would
have to be written into the states of one. In general only lexemes that are alternatives of one another become one: they
begin at the same place and lead to the same place, so neither kind of lexing can tell.
"""
from typing import NamedTuple

from llgcy.core.tables import GrammarTables
from llgcy.errors import UnsatisfiableError, UnsupportedKeywordError
from llgcy.grammar import ir
from llgcy.grammar.terms import Terms

LIFTED_COPIES = 64              # most copies of one part that repetitions inside one another may give to a lexeme
LIFTED_LENGTH = 10_000          # most pieces of a concatenation that may become part of a lexeme
SPLICED = 16                    # symbols or options up to which a nested group is written into what surrounds it
EMPTY = 1                       # term of the empty text in every store of regexes
LONGEST_NAME = 60               # characters of a lexeme's name


class Lexeme(NamedTuple):
    """What a lexeme symbol reads: a regular language, or a JSON document.

    ``language``: id of a term in the store of regexes, or None; ``json``: the IR node then, else None. ``name``: what
    messages call it.
    """

    name: str
    language: int | None
    json: ir.Json | None = None


class Lowered(NamedTuple):
    """A grammar over numbered symbols: 0 .. len(lexemes) - 1 are the lexemes, above them the nonterminals.

    ``rules``: (head, body) pairs, a body a tuple of symbols or ``("count", symbol, low, high)``. ``names[i]``: name of
    the nonterminal ``len(lexemes) + i``; those that no one named are called after the rule in which they stand.
    ``skip``: the lexeme that may stand between others and is in no rule, or None. ``grammar``: where it came from.
    """

    rules: list
    start: int
    lexemes: list
    names: list
    skip: int | None
    grammar: ir.Grammar

    def tables(self, regexes, machine=None):
        """The frozen tables.

        Parameters
        ----------
        regexes : Regexes
            The store in which the terms were made.
        machine : callable, optional
            Makes the `Machine` of an `ir.Json`.

        Raises
        ------
        UnsatisfiableError
            No text can be derived from the start rule.
        """
        lexemes = [lexeme.language if lexeme.json is None else machine(lexeme.json) for lexeme in self.lexemes]
        options = self.grammar.options
        try:
            return GrammarTables(self.rules, self.start, lexemes, regexes, skip=-1 if self.skip is None else self.skip,
                                 skip_first=options.skip_first, lexing=options.lexing,
                                 names=[lexeme.name for lexeme in self.lexemes] + self.names)
        except UnsatisfiableError:
            start = self.grammar.rules[self.grammar.start]
            line, column = start.at or (None, None)
            raise UnsatisfiableError(f"no finite text can be derived from {start.name}: each of its alternatives needs "
                                     "itself again, or a terminal that matches nothing", line=line, column=column) from None


def lower(grammar, regexes):
    """`Lowered` of an `ir.Grammar`, its terms made in `regexes`, a store over bytes.

    Raises
    ------
    UnsupportedKeywordError
        The grammar holds a construct that is not enforced yet.
    """
    if grammar.options.skip_once and grammar.ignore is not None:
        raise UnsupportedKeywordError("the option ignore_once is not supported yet; without it what is ignored may stand "
                                      "any number of times in one place")
    return _Lowering(grammar, regexes).run()


class _Term(NamedTuple):
    """Value of an expression that one lexeme can read. ``copies``: product of the bounds of nested repetitions."""

    id: int
    node: ir.Node
    copies: int


class _Count(NamedTuple):
    """Body of a rule: ``low`` to ``high`` copies of a symbol; ``high`` None: any number."""

    symbol: object
    low: int
    high: int | None


class _Symbol(NamedTuple):
    """A symbol while rules are made: lexemes and nonterminals are numbered apart until their counts are known."""

    lexeme: bool
    index: int


class _Lowering:
    """Values of expressions are either a `_Term` or a list of options, each a tuple of symbols."""

    def __init__(self, grammar, regexes):
        self.grammar, self.regexes = grammar, regexes
        self.terms = Terms(grammar, regexes)
        self.lexemes, self.lexeme_of = [], {}               # lexeme_of: term id, or JSON schema and options -> symbol
        self.names, self.heads = [], {}                     # heads: a rule's name, or shared content -> nonterminal
        self.rules = []                                     # (nonterminal, body)
        self.lift = grammar.options.lexing == "exact" and grammar.ignore is None
        self.lifted = {}                                    # name of a rule that is one lexeme -> its _Term
        self.current = None                                 # name of the rule whose body is read

    def run(self):
        names = self.reached()
        if self.lift:
            self.lift_rules(names)
        start = self.grammar.start
        names = [name for name in names if name not in self.lifted or name == start]
        for name in names:
            self.heads[name] = self.nonterminal(name)
        for name in names:
            self.current = name
            value = self.lifted.get(name) or self.value(self.grammar.rules[name].body)
            self.rules += [(self.heads[name], body) for body in self.options(value)]
        return self.numbered()

    def reached(self):
        """Names of the rules to which the start rule leads, in the order of the grammar."""
        rules, start = self.grammar.rules, self.grammar.start
        seen, todo = {start}, [start]
        while todo:
            for name in self.callees(todo.pop()):
                if name not in seen:
                    seen.add(name)
                    todo.append(name)
        return [name for name in rules if name in seen]

    def callees(self, name):
        rules = self.grammar.rules
        return {node.name: None for node in ir.walk(rules[name].body)
                if isinstance(node, ir.Reference) and node.name in rules}

    def lift_rules(self, names):
        """Fill `lifted`, callees first: the rules whose whole body is regular. A rule in a cycle never gets its turn."""
        callees = {name: self.callees(name) for name in names}
        callers = {name: [] for name in names}
        for name in names:
            for callee in callees[name]:
                callers[callee].append(name)
        waits = {name: len(callees[name]) for name in names}
        todo = [name for name in reversed(names) if not waits[name]]
        while todo:
            name = todo.pop()
            value = ir.fold(self.grammar.rules[name].body, self.lift_node)
            if value is None:
                continue
            self.lifted[name] = value._replace(node=ir.Reference(name))
            for caller in callers[name]:
                waits[caller] -= 1
                if not waits[caller]:
                    todo.append(caller)

    def lift_node(self, node, below):
        """The `_Term` of a node, None where it is not to be one lexeme."""
        if None in below or isinstance(node, (ir.Json, ir.Token)):
            return None
        if isinstance(node, ir.Reference) and node.name in self.grammar.rules:
            return self.lifted[node.name]
        return self.term(node, below)

    def term(self, node, below=()):
        """The `_Term` of a node whose children have such values; None where one lexeme would become too large."""
        copies = max([value.copies for value in below], default=1)
        if isinstance(node, ir.Repetition):
            copies *= max(node.low, node.high or 1)
            if copies > LIFTED_COPIES:
                return None
        if isinstance(node, ir.Sequence) and sum(self.terms.length[value.id] for value in below) > LIFTED_LENGTH:
            return None
        return _Term(self.terms.combine(node, [value.id for value in below]), node, copies)

    # -- expressions ----------------------------------------------------------------------------------------------
    def value(self, body):
        """The value of an expression of a rule."""
        return ir.fold(body, self.combine, lambda node: () if isinstance(node, (ir.Both, ir.Complement)) else node.children)

    def combine(self, node, below):
        """The value of a node, from those of its children."""
        match node:
            case ir.Json():
                return [(self.json(node),)]
            case ir.Token():
                line, column = node.at or (None, None)
                raise UnsupportedKeywordError(f"the special token {node.text} is not supported yet",
                                              line=line, column=column)
            case ir.Reference(name=name) if name in self.grammar.rules:
                return self.lifted.get(name) or [(self.heads[name],)]
            case ir.Sequence():
                return self.sequence(node, below)
            case ir.Alternatives():
                return self.alternatives(node, below)
            case ir.Repetition():
                return self.repetition(node, below[0])
        return _Term(self.terms.regular(node), node, 1)

    def sequence(self, node, below):
        if self.lift:
            below = self.joined(node, below)
        if len(below) == 1:
            return below[0]
        out = []
        for value in below:
            symbols = self.symbols(value)
            if symbols is None:
                return []
            out.extend(symbols)
        return [tuple(out)]

    def joined(self, node, below):
        """The values of a sequence's parts, with neighbours that are terms made one."""
        out, run = [], []
        for part, value in (*zip(node.parts, below), (None, None)):
            if isinstance(value, _Term):
                run.append((part, value))
                continue
            if run:
                parts, values = zip(*run)
                term = self.term(ir.Sequence(parts, at=parts[0].at), values) if len(run) > 1 else values[0]
                out += values if term is None else [term]
            run = []
            if part is not None:
                out.append(value)
        return out

    def alternatives(self, node, below):
        terms = [(part, value) for part, value in zip(node.options, below) if isinstance(value, _Term)]
        if len(terms) > 1:
            parts, values = zip(*terms)
            joint = self.term(ir.Alternatives(parts, at=node.at), values)
            if len(terms) == len(below):
                return joint
            first = next(i for i, value in enumerate(below) if isinstance(value, _Term))
            below = [joint if i == first else value for i, value in enumerate(below)
                     if i == first or not isinstance(value, _Term)]
        out = {}
        for value in below:
            options = self.options(value)
            out.update(dict.fromkeys(options if len(options) <= SPLICED else [(self.shared(tuple(options)),)]))
        return list(out)

    def repetition(self, node, value):
        low, high = node.low, node.high
        if self.lift and isinstance(value, _Term):
            term = self.term(node, [value])
            if term is not None:
                return term
        if (low, high) == (1, 1):
            return value
        if (low, high) == (0, 1):
            return list(dict.fromkeys([*self.options(value), ()]))
        symbols = self.symbols(value) if high != 0 else ()
        if not symbols:
            return [] if symbols is None and low else [()]
        symbol = symbols[0] if len(symbols) == 1 else self.shared((symbols,))
        return [(self.shared((_Count(symbol, low, high),)),)]

    def options(self, value):
        """A value as options. (The tables know which lexemes may be empty.)"""
        if not isinstance(value, _Term):
            return value
        if value.id == EMPTY:
            return [()]
        return [(self.lexeme(value),)] if self.regexes.alive(value.id) else []

    def symbols(self, value):
        """A value as one tuple of symbols; None where it derives nothing."""
        options = self.options(value)
        if not options:
            return None
        if len(options) == 1 and len(options[0]) <= SPLICED:
            return options[0]
        return (self.shared(tuple(options)),)

    # -- symbols --------------------------------------------------------------------------------------------------
    def lexeme(self, value):
        """The symbol of a term."""
        if value.id not in self.lexeme_of:
            name = ir.show(value.node)
            self.lexeme_of[value.id] = _Symbol(True, len(self.lexemes))
            self.lexemes.append(Lexeme(name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "...", value.id))
        return self.lexeme_of[value.id]

    def json(self, node):
        key = node.schema, node.options
        if key not in self.lexeme_of:
            self.lexeme_of[key] = _Symbol(True, len(self.lexemes))
            self.lexemes.append(Lexeme("%json", None, node))
        return self.lexeme_of[key]

    def nonterminal(self, name):
        self.names.append(name)
        return _Symbol(False, len(self.names) - 1)

    def shared(self, bodies):
        """The nonterminal, made on demand, that has just these bodies."""
        if bodies not in self.heads:
            self.heads[bodies] = self.nonterminal(self.current)
            self.rules += [(self.heads[bodies], body) for body in bodies]
        return self.heads[bodies]

    def numbered(self):
        """`Lowered`: lexemes before nonterminals. What is ignored is a lexeme of its own, also where rules have it."""
        skip = None
        if self.grammar.ignore is not None:
            skip = len(self.lexemes)
            self.lexemes.append(Lexeme("%ignore", self.terms.regular(self.grammar.ignore)))
        base = len(self.lexemes)

        def number(symbol):
            return symbol.index if symbol.lexeme else base + symbol.index
        rules = [(number(head), ("count", number(body.symbol), body.low, body.high) if isinstance(body, _Count)
                  else tuple(map(number, body))) for head, body in self.rules]
        return Lowered(rules, number(self.heads[self.grammar.start]), self.lexemes, self.names, skip, self.grammar)
