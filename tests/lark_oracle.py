"""A plain recogniser of the Lark dialect: what grammars mean, from trees that the tests' own generator makes beside their text.

It shares nothing with the engine and does not read the text of grammars. Terminals are regular expressions of `ir_oracle`, read by
derivatives; rules are read by Earley's algorithm over lexemes, with templates and parametric rules used where they stand. Between what
a grammar inside of another one begins with and what stands before it nothing is skipped, so items carry what may be skipped before their
next lexeme: a *mark*, until the grammar inside has read something.

Expressions are tuples. In terminals and rules: ("text", text, fold) ("range", first, last) ("regex", source, flags) ("name", name)
("set", ranges, negated) ("cat", parts) ("or", options) ("and", parts) ("not", x) ("repeat", x, low, high) ("run", chunks). Only in rules: ("json", regex)
("inside", Tree) ("at", name) ("tokens", ids) ("end",) ("call", template, arguments) ("bound", rule, function) ("if", x, condition).
"""
import dataclasses
import re
from typing import NamedTuple

from ir_oracle import EMPTY, alive, both, cat, chars, complement, derivative, either, nullable, pattern, repeat

ALPHABET = "abcABz_ \"~\né-[]\\\t\r"
SOME = cat(chars(ALPHABET), ("star", chars(ALPHABET)))
LAZY = 1 << 40                  # rank of lexemes that end as soon as they can


class Rule(NamedTuple):
    """``how``: None, "lazy", "stop" or "suffix"; ``end``: the value of the latter two. ``silent``: its text counts only as a whole."""

    body: tuple
    parameters: tuple = ()
    parametric: bool = False
    how: str | None = None
    end: tuple | None = None
    silent: bool = True


@dataclasses.dataclass(eq=False)
class Tree:
    """A grammar. ``terminals``: name -> (body, priority). ``tokens``: name -> ids."""

    rules: dict = dataclasses.field(default_factory=dict)
    terminals: dict = dataclasses.field(default_factory=dict)
    tokens: dict = dataclasses.field(default_factory=dict)
    ignore: list = dataclasses.field(default_factory=list)
    options: dict = dataclasses.field(default_factory=dict)

    @property
    def lexing(self):
        return self.options.get("lexing", "greedy")


class Lexeme(NamedTuple):
    """A regular expression, or ids of tokens, or a `Reader`. ``scope``: what is skipped before it; None: nothing."""

    language: object
    scope: int | None
    rank: int = 0


class Enter(NamedTuple):
    """Texts of a grammar inside. ``before``: scope of what is skipped before them, or None."""

    symbol: tuple
    before: int | None


class Tokens(NamedTuple):
    ids: frozenset


class Reader:
    """``start()``, ``step(config, char)``, ``unit(config, id)``, ``accepting(config)``; a config that is empty is dead.

    A config is (item sets, one for each place where some lexeme ended; bases: (index of a set, scope of what was skipped since, or
    None) where a lexeme may begin now; reading: (index, scope skipped, what, what is left of it)).
    """

    def __init__(self, tree, others=None, eos=256):
        self.others, self.eos, self.lexing = others or {}, eos, tree.lexing
        self.trees, self.scopes, self.users = [], {}, {}            # trees: by scope
        self.bodies, self.readers = {}, {}
        self.top = self.scope_of(tree, ())
        self.first = self.rule(self.top, "start", (), None)
        self.skips = {scope: either(*[self.regular(tree, x) for x in tree.ignore]) if tree.ignore else None for scope, tree in enumerate(self.trees)}
        self.outward = {scope: self.around(scope) for scope in self.skips}
        self.drop_unproductive()

    # -- from trees to rules ----------------------------------------------------------------------------------------------
    def scope_of(self, tree, key):
        key = id(tree), key
        if key not in self.scopes:
            self.scopes[key] = len(self.trees)
            self.trees.append(tree)
        return self.scopes[key]

    def around(self, scope):
        out = [scope]
        for inner in out:
            out += [x for x in sorted(self.users.get(inner, ())) if x not in out]
        return set(out)

    def regular(self, tree, node):
        kind, *rest = node
        if kind == "text":
            return cat(*[chars({char, *((char.upper(), char.lower()) if rest[1] else ())} & set(ALPHABET)) for char in rest[0]])
        if kind == "range":
            return chars({char for char in ALPHABET if rest[0] <= char <= rest[1]})
        if kind == "set":
            return chars({char for char in ALPHABET if any(first <= char <= last for first, last in rest[0]) != rest[1]})
        if kind == "regex":
            source, flags = rest
            known = {"i": re.I, "s": re.S, "x": re.X, "m": re.M, "u": re.U}
            return pattern(source, ALPHABET, sum(known[flag] for flag in flags))
        if kind == "name":
            return self.regular(tree, tree.terminals[rest[0]][0])
        if kind == "run":
            chunks = rest[0]
            return either(*[cat(*[cat(*map(chars, chunk)) for chunk in chunks[i:k]]) for i in range(len(chunks) + 1) for k in range(i, len(chunks) + 1)])
        if kind == "repeat":
            return repeat(self.regular(tree, rest[0]), rest[1], rest[2])
        if kind == "not":
            return both(("star", chars(ALPHABET)), complement(self.regular(tree, rest[0])))
        parts = [self.regular(tree, part) for part in rest[0]]
        return {"cat": cat, "or": either, "and": both}[kind](*parts)

    def define(self, key, bodies):
        self.bodies[key] = bodies
        return key

    def lexeme(self, language, scope, rank=0):
        """A symbol of an optional lexeme or of a lexeme."""
        key = "lexeme", language, scope, rank
        if key not in self.bodies:
            solid = both(language, SOME)
            bodies = [(Lexeme(language, scope, rank),)] if alive(solid, ALPHABET) else []
            self.define(key, bodies + [()] * nullable(language))
        return key

    def rule(self, scope, name, arguments, number):
        key = "rule", scope, name, arguments, number
        if key in self.bodies:
            return key
        self.define(key, [])
        tree = self.trees[scope]
        rule = tree.rules[name]
        given = dict(zip(rule.parameters, arguments))
        if rule.how is None:
            body = self.symbol(scope, rule.body, given, number)
        else:
            language = self.regular(tree, rule.body)
            if rule.how == "stop" and rule.end == ("text", "", False):
                some = self.define((*key, "some"), [(self.lexeme(both(language, SOME), scope), self.end(scope))])
                body = self.define((*key, "end"), [(some,)] + [()] * nullable(language))
            else:
                body = self.lexeme(language if rule.how == "lazy" else cat(language, self.regular(tree, rule.end)), scope, LAZY)
        self.bodies[key] = [(body,)]
        return key

    def end(self, scope):
        return self.define(("end", scope), [(Lexeme(Tokens(frozenset({self.eos})), scope),), ()])

    def symbol(self, scope, node, given, number):
        tree, (kind, *rest) = self.trees[scope], node
        key = "node", scope, id(node), tuple(given.items()), number, repr(node) if kind in ("text", "name") else None
        if kind == "name" and rest[0] in given:
            return given[rest[0]]
        if kind == "name" and rest[0] in tree.rules:
            return self.rule(scope, rest[0], (), None)
        if kind == "name" and rest[0] in tree.tokens:
            kind, rest = "tokens", [tree.tokens[rest[0]]]
        if kind == "tokens":
            return self.define(key, [(Lexeme(Tokens(frozenset(rest[0])), scope),)])
        if kind == "end":
            return self.end(scope)
        if kind == "json":
            return self.define(key, [(Lexeme(rest[0], self.outside(scope)),)])
        if kind in ("inside", "at"):
            return self.inside(scope, rest[0] if kind == "inside" else self.others[rest[0]], key if kind == "inside" else ())
        if kind == "call":
            return self.rule(scope, rest[0], tuple(self.symbol(scope, x, given, number) for x in rest[1]), None)
        if kind == "bound":
            return self.rule(scope, rest[0], (), rest[1](number))
        if kind == "if":
            return self.symbol(scope, rest[0], given, number) if rest[1](number) else self.define((*key, "never"), [])
        if kind == "cat":
            parts = [self.symbol(scope, part, given, number) for part in rest[0]]
            for i in range(1, len(parts)):                            # text that has stopped a rule is not there twice
                stop, text = self.stop_of(tree, rest[0][i - 1]), self.text_of(tree, rest[0][i])
                if stop and text and text.startswith(stop):
                    parts[i] = self.lexeme(cat(*map(chars, text[len(stop):])), None)
            return self.define((*key, "cat", *parts), [tuple(parts)])
        if kind == "or":
            options = [self.symbol(scope, x, given, number) for x in rest[0]]
            return self.define((*key, "or", *options), [(x,) for x in options])
        if kind == "repeat":
            one, low, high = self.symbol(scope, rest[0], given, number), *rest[1:]
            key = (*key, "repeat", one)
            self.define(key, [(one,) * n for n in range(low, (low if high is None else high) + 1)])
            if high is None:
                self.bodies[key].append((key, one))
            return key
        rank = 2 * tree.terminals[rest[0]][1] if kind == "name" and self.lexing == "greedy" else 0
        return self.lexeme(self.regular(tree, node), scope, rank)

    def outside(self, scope):
        return scope if self.trees[scope].options.get("allow_skip_before_nested") else None

    def inside(self, scope, tree, key):
        if not isinstance(tree, Tree):                                # a regex, or a list of texts
            return self.lexeme(tree, self.outside(scope))
        if tree.lexing != self.lexing:
            if id(tree) not in self.readers:
                self.readers[id(tree)] = Reader(tree, self.others, self.eos)
            return self.define(("reader", id(tree), scope), [(Lexeme(self.readers[id(tree)], self.outside(scope)),)] + [()] * self.readers[id(tree)].accepts(""))
        new = self.scope_of(tree, key)
        self.users.setdefault(new, set()).add(scope)
        start = self.rule(new, "start", (), None)
        if tree.options.get("allow_initial_skip"):
            return start
        return self.define(("enter", start, self.outside(scope)), [(Enter(start, self.outside(scope)),)])

    def stop_of(self, tree, node):
        rule = tree.rules.get(node[1]) if node[0] == "name" else None
        return rule.end[1] if rule and rule.how == "stop" and rule.end[0] == "text" and not rule.end[2] else None

    def text_of(self, tree, node):
        seen = set()
        while node[0] == "name" and node[1] not in seen:
            seen.add(node[1])
            rule = tree.rules.get(node[1])
            if rule and (rule.how or not rule.silent) or not rule and node[1] not in tree.terminals:
                return None
            node = rule.body if rule else tree.terminals[node[1]][0]
        return node[1] if node[0] == "text" and not node[2] else None

    def drop_unproductive(self):
        good, size = set(), -1

        def lives(x):
            if isinstance(x, Enter):
                return x.symbol in good
            if isinstance(x, Lexeme):
                return bool(x.language.bodies[x.language.first]) if isinstance(x.language, Reader) else True
            return x in good
        while size != len(good):
            size = len(good)
            good |= {key for key, bodies in self.bodies.items() if any(all(map(lives, body)) for body in bodies)}
        self.bodies = {key: [body for body in bodies if all(map(lives, body))] for key, bodies in self.bodies.items()}

    @property
    def productive(self):
        return bool(self.bodies[self.first])

    # -- reading ----------------------------------------------------------------------------------------------------------
    def closed(self, sets, items):
        """One more set, with what the items complete and predict here.

        An item is (head, body, dot, origin, mark where it began, mark now); a mark is () or (scope,).
        """
        items, here, size = dict.fromkeys(items), len(sets), -1
        while size != len(items):
            size = len(items)
            for head, body, dot, origin, began, mark in list(items):
                if dot == len(body):
                    for other in list(items) if origin == here else sets[origin]:
                        if other[2] < len(other[1]) and other[1][other[2]] == head and self.entered(head, other[5]) == began:
                            items[(*other[:2], other[2] + 1, *other[3:5], other[5] if origin == here else ())] = None
                elif not isinstance(body[dot], Lexeme):
                    mark = self.entered(body[dot], mark)
                    bodies = [(body[dot].symbol,)] if isinstance(body[dot], Enter) else self.bodies[body[dot]]
                    items.update(dict.fromkeys((body[dot], new, 0, here, mark, mark) for new in bodies))
        return (*sets, frozenset(items))

    def entered(self, symbol, mark):
        """The mark that a symbol begins with, where an item of this mark waits for it."""
        return mark or (symbol.before,) if isinstance(symbol, Enter) else mark

    def waiting(self, sets, base):
        """(lexeme, scope of what is skipped before it) that may begin at a base."""
        index, gap = base
        for _, body, dot, _, _, mark in sets[index]:
            if dot < len(body) and isinstance(body[dot], Lexeme):
                scope = mark[0] if mark else body[dot].scope
                if gap is None or scope is not None and scope in self.outward[gap]:
                    yield body[dot], scope

    def beginning(self, sets, bases):
        out = set()
        for index, gap in bases:
            for lexeme, scope in set(self.waiting(sets, (index, gap))):
                language = lexeme.language
                if not isinstance(language, Tokens):
                    out.add((index, gap, (lexeme, scope), (language, language.start()) if isinstance(language, Reader) else language))
                skip = None if scope is None else self.skips[scope]
                if skip is not None and (index or self.trees[self.top].options.get("allow_initial_skip")):
                    if not (gap == scope and self.trees[scope].options.get("ignore_once")):
                        out.add((index, gap, ("skip", scope), skip))
        return out

    def rank(self, what):
        return 1 if what[0] == "skip" else what[0].rank

    def accepted(self, rest):
        """May what is being read end here? (Something has been read of it.)"""
        return rest[0].accepting(rest[1]) if isinstance(rest[0], Reader) else nullable(rest)

    def read(self, reading, char):
        """What goes on with one more character, and lives."""
        out = set()
        for index, gap, what, rest in reading:
            if what[0] != "skip" and isinstance(what[0].language, Reader):
                new = rest[0].step(rest[1], char)
                if new:
                    out.add((index, gap, what, (rest[0], new)))
                continue
            new = derivative(rest, char)
            if alive(new, ALPHABET):
                if self.rank(what) == LAZY and nullable(new):
                    new = EMPTY
                out.add((index, gap, what, new))
        return out

    def ended(self, sets, ended):
        """(sets, bases) behind what ends at one place: entries of `reading`."""
        if self.lexing == "greedy" and ended:
            best = max(self.rank(what) for _, _, what, _ in ended)
            ended = [one for one in ended if self.rank(one[2]) == best]
        scanned = {(head, body, dot + 1, origin, began, ()) for index, _, what, _ in ended for head, body, dot, origin, began, mark in sets[index]
                   if what[0] != "skip" and dot < len(body) and body[dot] == what[0] and (mark[0] if mark else what[0].scope) == what[1]}
        bases = {(index, what[1]) for index, _, what, _ in ended if what[0] == "skip"}
        if scanned:
            bases.add((len(sets), None))
            sets = self.closed(sets, scanned)
        return sets, frozenset(bases)

    def start(self):
        return self.closed((), [("", (self.first,), 0, 0, (), ())]), frozenset({(0, None)}), frozenset()

    def step(self, config, char):
        sets, bases, reading = config
        if self.lexing == "exact":
            reading = self.read(reading | self.beginning(sets, bases), char)
            sets, bases = self.ended(sets, [one for one in reading if self.accepted(one[3])])
            return (sets, bases, frozenset(reading)) if bases or reading else ()
        on = self.read(reading, char)
        if not on:
            sets, bases = self.munch(config)
            on = self.read(self.beginning(sets, bases), char)
        lazy = {one for one in on if self.rank(one[2]) == LAZY and self.accepted(one[3])}
        on = lazy or on
        return (sets, bases, frozenset(on)) if on else ()

    def munch(self, config):
        """(sets, bases) where lexemes may begin, if none goes on."""
        sets, bases, reading = config
        if not reading or self.lexing == "exact":
            return sets, bases
        return self.ended(sets, [one for one in reading if self.accepted(one[3])])

    def unit(self, config, id):
        """A token, as the unit that it is. (Not inside of grammars that are read by a `Reader` of their own.)"""
        sets, bases = self.munch(config)
        ended = [(*base, (lexeme, scope), None) for base in bases for lexeme, scope in set(self.waiting(sets, base))
                 if isinstance(lexeme.language, Tokens) and id in lexeme.language.ids]
        sets, bases = self.ended(sets, ended)
        return (sets, bases, frozenset()) if bases else ()

    def accepting(self, config):
        if not config:
            return False
        sets, bases = self.munch(config)
        return any(head == "" and dot == 1 for index, _ in bases for head, _, dot, *_ in sets[index])

    def accepts(self, text):
        config = self.start()
        for char in text:
            config = self.step(config, char)
            if not config:
                return False
        return self.accepting(config)
