"""From the IR to what the tables of the parser are made of: numbered symbols, plain rules, counted rules, lexemes.

Symbols are numbered in the order in which they come in the grammar: first the lexemes, then the nonterminals. Equal
lexemes are one; one that matches nothing is not made. Repetition becomes one counted rule, whatever its bounds. Rules to
which the start rule does not lead are left out.

Where every lexeme may end anywhere (exact lexing) and nothing is ignored between lexemes, how a text is cut into
lexemes makes no difference. There whole regular parts of rules become single lexemes, as long as no large count would
have to be written into the states of one. In general only lexemes that are alternatives of one another become one: they
begin at the same place and lead to the same place, so neither kind of lexing can tell.

What is ignored stands between lexemes of one grammar. Of a grammar that has become a part of another one, and ignores
something, the rules by which a text begins are made twice: in the second form nothing is skipped before the first lexeme.
"""
from typing import NamedTuple

from llgcy.core.tables import CUTTING, GrammarTables
from llgcy.errors import UnsatisfiableError
from llgcy.grammar import ir
from llgcy.grammar.terms import EMPTY, Terms

LIFTED_COPIES = 64              # most copies of one part that repetitions inside one another may give to a lexeme
LIFTED_LENGTH = 10_000          # most pieces of a concatenation that may become part of a lexeme
SPLICED = 16                    # symbols or options up to which a nested group is written into what surrounds it
LONGEST_NAME = 60               # characters of a lexeme's name


class Lexeme(NamedTuple):
    """What a lexeme symbol reads: a regular language, a text of another kind of grammar, a token.

    Parameters
    ----------
    name : str
        What messages call it.
    language : int or None
        Id of a term in the store of regexes.
    source : ir.Json, ir.Embedded, ir.Limited or ir.Tokens, optional
        Instead of a term.
    rank : int
        As `GrammarTables` has it: `CUTTING`; else twice the priority, so that what is ignored, of rank 1, comes before lexemes without one.
    scope : int, optional
        The grammar (see `ir.Definition`) between two lexemes of which it stands; None: nothing is skipped before it.
    temperature : float, optional
        While it is read.
    """

    name: str
    language: int | None
    source: ir.Node | None = None
    rank: int = 0
    scope: int | None = None
    temperature: float | None = None


class Lowered(NamedTuple):
    """A grammar over numbered symbols: 0 .. len(lexemes) - 1 are the lexemes, above them the nonterminals.

    ``rules``: (head, body) pairs, a body a tuple of symbols or ``("count", symbol, low, high)``. ``names[i]``: name of
    the nonterminal ``len(lexemes) + i``; those that no one named are called after the rule in which they stand.
    ``skips``: scope -> the lexeme that may stand between its others and is in no rule. ``rule_of``: nonterminal -> the
    `ir.Definition` whose text it is. ``grammar``: where all came from.
    """

    rules: list
    start: int
    lexemes: list
    names: list
    skips: dict
    rule_of: dict
    grammar: ir.Grammar

    def tables(self, regexes, make=None):
        """The frozen tables.

        Parameters
        ----------
        regexes : Regexes
            The store in which the terms were made.
        make : callable, optional
            Of the source of a lexeme: its `Machine`, or the ranges of its token ids.

        Raises
        ------
        UnsatisfiableError
            No text can be derived from the start rule.
        """
        lexemes = [lexeme.language if lexeme.source is None else make(lexeme.source) for lexeme in self.lexemes]
        options = self.grammar.options
        try:
            return GrammarTables(self.rules, self.start, lexemes, regexes,
                                 skips=[self.skips.get(lexeme.scope, -1) for lexeme in self.lexemes], behind=self.behind(),
                                 once=self.once(),
                                 skip_first=options.skip_first, lexing=options.lexing,
                                 ranks=[lexeme.rank for lexeme in self.lexemes],
                                 names=[lexeme.name for lexeme in self.lexemes] + self.names,
                                 temperatures=[lexeme.temperature for lexeme in self.lexemes])
        except UnsatisfiableError:
            start = self.grammar.rules[self.grammar.start]
            line, column = start.at or (None, None)
            raise UnsatisfiableError(f"no finite text can be derived from {start.name}: each of its alternatives needs "
                                     "itself again, or a terminal that matches nothing", line=line, column=column) from None

    def once(self):
        """The lexemes that are skipped only once in one place."""
        return {skip for scope, skip in self.skips.items() if self.grammar.parts[scope].options.skip_once}

    def behind(self):
        """For each lexeme that is skipped: those that may follow it, which are of its own grammar or of one around that."""
        users = {}                                          # scope -> scopes in which it is used
        for rule in self.grammar.rules.values():
            for node in ir.walk(rule.body):
                if isinstance(node, (ir.Entry, ir.Reference)) and node.name in self.grammar.rules:
                    users.setdefault(self.grammar.rules[node.name].scope, set()).add(rule.scope)
        out = {}
        for scope, skip in self.skips.items():
            seen = [scope]
            for inner in seen:                              # grows while it runs
                seen += sorted(users.get(inner, set()) - set(seen))
            out[skip] = {i for i, lexeme in enumerate(self.lexemes) if lexeme.scope in seen}
        return out


def lower(grammar, regexes, merge=True):
    """`Lowered` of an `ir.Grammar`, its terms made in `regexes`, a store over bytes.

    ``merge``: neighbours and alternatives may become one lexeme. Without it each part of a rule keeps its place among the others.
    """
    return _Lowering(grammar, regexes, merge).run()


class _Term(NamedTuple):
    """Value of an expression that one lexeme can read. ``copies``: product of the bounds of nested repetitions. ``adjacent``:
    nothing is skipped before it."""

    id: int
    node: ir.Node
    copies: int
    rank: int = 0
    adjacent: bool = False


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

    def __init__(self, grammar, regexes, merge):
        self.grammar, self.regexes, self.merge = grammar, regexes, merge
        self.terms = Terms(grammar, regexes)
        self.lexemes, self.lexeme_of = [], {}               # lexeme_of: what tells lexemes apart -> symbol
        self.names, self.heads = [], {}                     # heads: a rule's name, or shared content -> nonterminal
        self.rules = []                                     # (nonterminal, body)
        self.copied = {}                                    # nonterminal that begins in another way -> the one it was made from
        self.entries = {}                                   # (name of a start rule, scope to skip before it) -> nonterminal
        self.ignored = {scope: part.ignore for scope, part in enumerate(grammar.parts) if part.ignore is not None}
        self.exact = grammar.options.lexing == "exact"
        self.lift = self.exact and not self.ignored
        self.lifted = {}                                    # name of a rule that is one lexeme -> its _Term
        self.current = None                                 # the rule whose body is read

    def run(self):
        names = self.reached()
        if self.lift:
            self.lift_rules(names)
        start = self.grammar.start
        names = [name for name in names if name not in self.lifted or name == start]
        for name in names:
            self.heads[name] = self.nonterminal(self.grammar.rules[name].name)
        for name in names:
            self.current = self.grammar.rules[name]
            value = self.lifted[name]._replace(node=self.current.body) if name in self.lifted else self.value(self.current.body)
            self.rules += [(self.heads[name], body) for body in self.options(value)]
        if self.entries:
            _Entries(self).make()
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
                if isinstance(node, (ir.Reference, ir.Entry)) and node.name in rules}

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
            rule = self.grammar.rules[name]
            value = ir.fold(rule.body, self.lift_node)
            if value is None or not rule.plain:
                continue
            self.lifted[name] = value._replace(node=ir.Reference(name))
            for caller in callers[name]:
                waits[caller] -= 1
                if not waits[caller]:
                    todo.append(caller)

    def lift_node(self, node, below):
        """The `_Term` of a node, None where it is not to be one lexeme."""
        if None in below or isinstance(node, (ir.Json, ir.Embedded, ir.Limited, ir.Tokens)):
            return None
        if isinstance(node, (ir.Reference, ir.Entry)) and node.name in self.grammar.rules:
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
        return ir.fold(body, self.combine, lambda node: () if isinstance(node, _LEXEMES) else node.children)

    def combine(self, node, below):
        """The value of a node, from those of its children."""
        match node:
            case ir.Json() | ir.Embedded():
                return [(self.other(node, self.outside()),)]
            case ir.Limited(skipped=skipped):
                return [(self.other(node, self.scope() if skipped else self.outside()),)]
            case ir.Tokens():
                return [(self.other(node, self.scope()),)]
            case ir.Entry(name=name):
                return self.lifted.get(name) or [(self.entry(name),)]
            case ir.Reference(name=name) if name in self.grammar.rules:
                return self.lifted.get(name) or [(self.heads[name],)]
            case ir.Reference(name=name):
                return _Term(self.terms.terminal(name), node, 1, 0 if self.exact else 2 * self.grammar.terminals[name].priority)
            case ir.Adjacent():
                return _Term(self.terms.regular(node), node, 1, adjacent=bool(self.ignored))
            case ir.Shortest():
                return _Term(self.terms.regular(node), node, 1, 0 if self.exact else CUTTING)
            case ir.Sequence():
                return self.sequence(node, below)
            case ir.Alternatives():
                return self.alternatives(node, below)
            case ir.Repetition():
                return self.repetition(node, below[0])
        return _Term(self.terms.regular(node), node, 1)

    def sequence(self, node, below):
        if self.lift and self.merge:
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
        alike = [isinstance(value, _Term) and not value.rank and not value.adjacent for value in below]
        terms = [(part, value) for part, value, plain in zip(node.options, below, alike) if plain]
        if len(terms) > 1 and self.merge:
            parts, values = zip(*terms)
            joint = self.term(ir.Alternatives(parts, at=node.at), values)
            if len(terms) == len(below):
                return joint
            first = alike.index(True)
            below = [joint if i == first else value for i, value in enumerate(below) if i == first or not alike[i]]
        out = {}
        for value in below:
            options = self.options(value)
            out.update(dict.fromkeys(options if len(options) <= SPLICED else [(self.shared(tuple(options)),)]))
        return list(out)

    def repetition(self, node, value):
        low, high = node.low, node.high
        if self.lift and self.merge and isinstance(value, _Term):
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
        if len(options) == 1 and (len(options[0]) <= SPLICED or not self.merge):
            return options[0]
        return (self.shared(tuple(options)),)

    # -- symbols --------------------------------------------------------------------------------------------------
    def scope(self):
        """The scope of lexemes of the current rule; None: nothing is skipped anywhere."""
        return self.current.scope if self.ignored else None

    def outside(self):
        """The same before a text of another grammar."""
        return self.scope() if self.grammar.parts[self.current.scope].options.skip_outside else None

    def symbol(self, key, lexeme):
        """The symbol of a lexeme, by what tells it from others."""
        if key not in self.lexeme_of:
            self.lexeme_of[key] = _Symbol(True, len(self.lexemes))
            self.lexemes.append(lexeme)
        return self.lexeme_of[key]

    def lexeme(self, value):
        """The symbol of a term."""
        scope, temperature = None if value.adjacent else self.scope(), self.current.temperature
        name = ir.show(value.node) if (key := (value.id, value.rank, scope, temperature)) not in self.lexeme_of else ""
        name = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "..."
        return self.symbol(key, Lexeme(name, value.id, None, value.rank, scope, temperature))

    def other(self, node, scope):
        """The symbol of a lexeme that is not regular."""
        temperature = self.current.temperature
        match node:
            case ir.Json():
                key, name = _source(node), "%json"
            case ir.Embedded(grammar=grammar):
                key, name = _source(node), grammar.start
            case ir.Limited(body=body, most=most):
                key, name = ("limited", _source(body), most), f"{'%json' if isinstance(body, ir.Json) else body.grammar.start}[max_tokens={most}]"
            case ir.Tokens(text=text, optional=optional):
                key, name = (text, optional), text
        return self.symbol((key, scope, temperature), Lexeme(name, None, node, 0, scope, temperature))

    def entry(self, name):
        """The nonterminal of the texts of another grammar, whose start rule has this name."""
        key = name, self.outside()
        if not self.ignored:
            return self.heads[name]
        if key not in self.entries:
            self.entries[key] = self.nonterminal(name)
        return self.entries[key]

    def nonterminal(self, name):
        self.names.append(name)
        return _Symbol(False, len(self.names) - 1)

    def shared(self, bodies):
        """The nonterminal, made on demand, that has just these bodies; unless all is merged, one for each rule."""
        key = bodies if self.merge else (self.current, bodies)
        if key not in self.heads:
            self.heads[key] = self.nonterminal(self.current.name)
            self.rules += [(self.heads[key], body) for body in bodies]
        return self.heads[key]

    def numbered(self):
        """`Lowered`: lexemes before nonterminals. What is ignored is a lexeme of its own, also where rules have it."""
        skips = {}
        for scope in sorted({lexeme.scope for lexeme in self.lexemes} & set(self.ignored)):
            skips[scope] = len(self.lexemes)
            self.lexemes.append(Lexeme("%ignore", self.terms.regular(self.ignored[scope]), None, 1))
        base = len(self.lexemes)

        def number(symbol):
            return symbol.index if symbol.lexeme else base + symbol.index
        rules = [(number(head), ("count", number(body.symbol), body.low, body.high) if isinstance(body, _Count)
                  else tuple(map(number, body))) for head, body in self.rules]
        rule_of = {number(self.heads[name]): rule for name, rule in self.grammar.rules.items() if name in self.heads}
        rule_of |= {number(copy): rule_of[number(symbol)] for copy, symbol in self.copied.items() if number(symbol) in rule_of}
        return Lowered(rules, number(self.heads[self.grammar.start]), self.lexemes, self.names, skips, rule_of, self.grammar)


def _source(node):
    """What tells a text of another kind of grammar from others."""
    return ("json", node.schema, node.options) if isinstance(node, ir.Json) else ("grammar", id(node.grammar))


BLANK = object()                # instead of a scope: the texts that are empty
_LEXEMES = ir.Both, ir.Complement, ir.Shortest, ir.Adjacent, ir.Limited      # one lexeme each, where they stand in a rule


class _Entries:
    """Makes the rules by which texts of other grammars begin: their first lexeme has something else before it.

    ``first(x)`` is the symbol of the texts of x that are not empty, with their first lexeme changed so.
    """

    def __init__(self, lowering):
        self.lowering, self.made = lowering, {}             # made: (symbol, scope) -> symbol
        self.bodies, self.todo = {}, []
        for head, body in lowering.rules:
            self.bodies.setdefault(head, []).append(body)
        self.begins = {entry: (lowering.heads[name], scope) for (name, scope), entry in lowering.entries.items()}
        self.bodies |= {entry: [(start,)] for entry, (start, _) in self.begins.items()}
        self.empty = self.may_be_empty()

    def may_be_empty(self):
        """The symbols that derive the empty text."""
        regexes, lexemes = self.lowering.regexes, self.lowering.lexemes
        todo = [_Symbol(True, i) for i, lexeme in enumerate(lexemes) if lexeme.language is not None and regexes.accepts(lexeme.language)]
        waits, using = {}, {}                               # waits: (head, index of its body) -> symbols not known to be empty
        for head, bodies in self.bodies.items():
            for i, body in enumerate(bodies):
                symbols = set(body) if not isinstance(body, _Count) else {body.symbol} if body.low else set()
                waits[head, i] = len(symbols)
                for symbol in symbols:
                    using.setdefault(symbol, []).append((head, i))
                if not symbols:
                    todo.append(head)
        out = set()
        while todo:
            symbol = todo.pop()
            if symbol not in out:
                out.add(symbol)
                for key in using.get(symbol, ()):
                    waits[key] -= 1
                    if not waits[key]:
                        todo.append(key[0])
        return out

    def make(self):
        lowering = self.lowering
        for entry, (start, scope) in self.begins.items():
            lowering.rules.append((entry, (self.first(start, scope),)))
            if start in self.empty:
                lowering.rules.append((entry, self.blank((start,))))
        while self.todo:
            symbol, scope = self.todo.pop()
            for body in self.bodies.get(symbol, ()):
                new = self.blanks(body) if scope is BLANK else self.beginnings(body, scope)
                lowering.rules += [(self.made[symbol, scope], body) for body in new]

    def blank(self, symbols):
        """What stands for symbols that are empty: nothing, or, where each part keeps its place, symbols that derive nothing else."""
        out = []
        for symbol in () if self.lowering.merge else symbols:
            if not symbol.lexeme:
                key = symbol, BLANK
                if key not in self.made:
                    self.made[key] = self.lowering.nonterminal(self.lowering.names[symbol.index])
                    self.lowering.copied[self.made[key]] = symbol
                    self.todo.append(key)
                out.append(self.made[key])
        return tuple(out)

    def blanks(self, body):
        """The bodies of such a symbol's rule."""
        if isinstance(body, _Count):
            if body.low and body.symbol not in self.empty:
                return []
            return [(self.counted(_Count(one, body.low, body.low)),) for one in self.blank((body.symbol,)) if body.low] or [()]
        return [self.blank(body)] if all(symbol in self.empty for symbol in body) else []

    def first(self, symbol, scope):
        """The symbol of the texts of another one, as above."""
        if symbol in self.begins:                           # before a text of a third grammar there is what stands before this one
            symbol = self.begins[symbol][0]
        key = symbol, scope
        if key not in self.made:
            if symbol.lexeme:
                self.made[key] = self.lexeme(symbol, scope)
            else:
                self.made[key] = self.lowering.nonterminal(self.lowering.names[symbol.index])
                self.lowering.copied[self.made[key]] = symbol
                self.todo.append(key)
        return self.made[key]

    def lexeme(self, symbol, scope):
        lowering, regexes = self.lowering, self.lowering.regexes
        lexeme = lowering.lexemes[symbol.index]._replace(scope=scope)
        if lexeme.language is None:
            return lowering.symbol((symbol, scope), lexeme)
        if symbol in self.empty:
            solid = regexes.both([lexeme.language, regexes.cat([regexes.any, regexes.all])])
            lexeme = lexeme._replace(language=solid)
        return lowering.symbol((lexeme.language, lexeme.rank, scope, lexeme.temperature), lexeme)

    def beginnings(self, body, scope):
        """The bodies of the changed rule: each symbol before which all may be empty is the first one in turn."""
        if isinstance(body, _Count):
            if body.high != 0:
                low = 0 if body.symbol in self.empty and self.lowering.merge else max(body.low - 1, 0)
                rest = _Count(body.symbol, low, None if body.high is None else body.high - 1)
                more = () if rest.high == 0 else (self.counted(rest),)
                yield (self.first(body.symbol, scope), *more)
            return
        for i, symbol in enumerate(body):
            yield (*self.blank(body[:i]), self.first(symbol, scope), *body[i + 1:])
            if symbol not in self.empty:
                break

    def counted(self, count):
        heads = self.lowering.heads
        if (count,) not in heads:
            heads[count,] = self.lowering.nonterminal(self.lowering.names[count.symbol.index] if not count.symbol.lexeme
                                                      else self.lowering.lexemes[count.symbol.index].name)
            self.lowering.rules.append((heads[count,], count))
        return heads[count,]
