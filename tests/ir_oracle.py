"""A slow, plain recogniser of the IR: what the engine's verdicts and masks are compared with.

It shares nothing with the engine but the IR. Terminals are regular expressions over a small alphabet of characters, read
by derivatives (the patterns by way of CPython's own regex parser); rules are plain rules whose repetitions are written
out, parsed by Earley's algorithm over sequences of lexemes. Only for small grammars and short texts.
"""
import functools
import re._constants as sre
import re._parser as sre_parser

from llgcy.grammar import ir

NONE, EMPTY = ("or", frozenset()), ("cat",)
SKIP = "%skip"


# -- regular expressions: ("chars", set) ("cat", a, ...) ("or", set) ("and", set) ("not", a) ("star", a) ---------------
def chars(members):
    return ("chars", frozenset(members)) if members else NONE


def cat(*parts):
    flat = []
    for part in parts:
        if part == NONE:
            return NONE
        flat.extend(part[1:] if part[0] == "cat" else [part])
    return flat[0] if len(flat) == 1 else ("cat", *flat)


def either(*parts):
    flat = frozenset(x for part in parts for x in (part[1] if part[0] == "or" else [part]))
    return next(iter(flat)) if len(flat) == 1 else ("or", flat)


def both(*parts):
    flat = frozenset(x for part in parts for x in (part[1] if part[0] == "and" else [part]))
    return NONE if NONE in flat else next(iter(flat)) if len(flat) == 1 else ("and", flat)


def complement(a):
    return a[1] if a[0] == "not" else ("not", a)


def repeat(a, low, high):
    out = ("star", a) if high is None else EMPTY
    for _ in range((high or low) - low):
        out = either(EMPTY, cat(a, out))
    return cat(*[a] * low, out)


@functools.lru_cache(maxsize=None)
def nullable(a):
    kind = a[0]
    return (kind == "star" or kind == "cat" and all(map(nullable, a[1:])) or kind == "or" and any(map(nullable, a[1]))
            or kind == "and" and all(map(nullable, a[1])) or kind == "not" and not nullable(a[1]))


@functools.lru_cache(maxsize=None)
def derivative(a, char):
    kind = a[0]
    if kind == "chars":
        return EMPTY if char in a[1] else NONE
    if kind == "cat":
        out, rest = NONE, a[1:]
        while rest:
            out = either(out, cat(derivative(rest[0], char), *rest[1:]))
            if not nullable(rest[0]):
                break
            rest = rest[1:]
        return out
    if kind == "star":
        return cat(derivative(a[1], char), a)
    if kind == "not":
        return complement(derivative(a[1], char))
    return (either if kind == "or" else both)(*[derivative(x, char) for x in a[1]])


@functools.lru_cache(maxsize=None)
def alive(a, alphabet):
    """Is some text over the alphabet in the language?"""
    seen, todo = {a}, [a]
    for x in todo:
        if nullable(x):
            return True
        new = {derivative(x, char) for char in alphabet} - seen
        seen |= new
        todo += new
    return False


def pattern(source, alphabet, flags=0):
    """The expression of a Python regex without look-around and anchors."""
    def of(items):
        return cat(*[one(op, value) for op, value in items])

    def folded(members):
        return {char for char in alphabet if {char, char.upper(), char.lower()} & members} if flags & sre.SRE_FLAG_IGNORECASE else members & set(alphabet)

    def one(op, value):
        if op is sre.LITERAL:
            return chars(folded({chr(value)}))
        if op is sre.NOT_LITERAL:
            return chars(set(alphabet) - folded({chr(value)}))
        if op is sre.ANY:
            return chars(set(alphabet) - (set() if flags & sre.SRE_FLAG_DOTALL else {"\n"}))
        if op is sre.IN:
            negated = value[0][0] is sre.NEGATE
            members = folded({char for char in alphabet if any(within(char, *item) for item in value[negated:])})
            return chars(set(alphabet) - members if negated else members)
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            low, high, body = value
            return repeat(of(body), low, None if high == sre.MAXREPEAT else high)
        if op is sre.SUBPATTERN:
            return of(value[3])
        if op is sre.BRANCH:
            return either(*map(of, value[1]))
        raise NotImplementedError(op)

    def within(char, op, value):
        if op is sre.LITERAL:
            return ord(char) == value
        if op is sre.RANGE:
            return value[0] <= ord(char) <= value[1]
        return {sre.CATEGORY_DIGIT: char.isdigit(), sre.CATEGORY_WORD: char.isalnum() or char == "_",
                sre.CATEGORY_SPACE: char.isspace()}[value]
    return of(sre_parser.parse(source, flags))


# -- the grammar ------------------------------------------------------------------------------------------------------
class Oracle:
    """``start()``, ``step(config, char)``, ``accepting(config)``; a config that is empty is dead.

    A config is (Earley's item sets, one for each place where some lexeme ended; bases: (index of a set, was a skip read
    since) where a lexeme may begin now; reading: (index of a set, skip read, lexeme, what is left of it)). In greedy
    lexing the bases are those from which all that is being read began, in exact lexing the places that end here.
    """

    def __init__(self, grammar, alphabet):
        self.grammar, self.alphabet = grammar, "".join(sorted(set(alphabet)))
        self.options, self.first, self.rules, self.made = grammar.options, grammar.start, {}, {}
        for name, rule in grammar.rules.items():
            self.rules[name] = [(self.symbol(rule.body),)]
        self.skip = grammar.ignore and self.regular(grammar.ignore)
        self._drop_unproductive()

    def regular(self, node):
        """The expression of a terminal's body."""
        below = [self.regular(child) for child in node.children]
        match node:
            case ir.Literal(text=text, fold=fold):
                return cat(*[chars({char, *(char.upper() + char.lower() if fold else "")} & set(self.alphabet))
                             for char in text])
            case ir.Words(texts=texts):
                return either(*[cat(*map(chars, text)) for text in texts])
            case ir.Chars(ranges=ranges):
                return chars({char for char in self.alphabet if any(a <= ord(char) <= b for a, b in ranges)})
            case ir.Pattern(source=source):
                return pattern(source, self.alphabet)
            case ir.Reference(name=name):
                return self.regular(self.grammar.terminals[name].body)
            case ir.Sequence():
                return cat(*below)
            case ir.Alternatives():
                return either(*below)
            case ir.Repetition(low=low, high=high):
                return repeat(below[0], low, high)
            case ir.Both():
                return both(*below)
            case ir.Complement():
                return complement(below[0])
        raise TypeError(node)

    def symbol(self, node):
        """A nonterminal (str) or a lexeme (its expression) for an expression of a rule."""
        match node:
            case ir.Reference(name=name) if name in self.grammar.rules:
                return name
            case ir.Sequence(parts=parts):
                return self.define(node, [tuple(map(self.symbol, parts))])
            case ir.Alternatives(options=options):
                return self.define(node, [(self.symbol(option),) for option in options])
            case ir.Repetition(body=body, low=low, high=high):
                one = self.symbol(body)
                name = self.define(node, [(one,) * n for n in range(low, (low if high is None else high) + 1)])
                if high is None:
                    self.rules[name].append((name, one))
                return name
        lexeme = self.regular(node)
        options = [(lexeme,)] if alive(both(lexeme, complement(EMPTY)), self.alphabet) else []
        return self.define(node, options + [()] * nullable(lexeme))

    def define(self, node, bodies):
        name = f"#{len(self.made)}"
        self.made[name] = node
        self.rules[name] = list(bodies)
        return name

    def _drop_unproductive(self):
        good, size = set(), -1
        while size != len(good):
            size = len(good)
            good |= {name for name, bodies in self.rules.items()
                     if any(all(type(x) is tuple or x in good for x in body) for body in bodies)}
        self.rules = {name: [body for body in bodies if all(type(x) is tuple or x in good for x in body)]
                      for name, bodies in self.rules.items()}

    # What lexemes are; a subclass may have others.
    nullable, derivative = staticmethod(nullable), staticmethod(derivative)

    def alive(self, rest):
        return alive(rest, self.alphabet)

    def is_lexeme(self, symbol):
        return type(symbol) is tuple

    def begin(self, lexeme):
        """What is to be read of a lexeme, or of SKIP, at its start."""
        return self.skip if lexeme == SKIP else lexeme

    def closed(self, sets, items):
        """One more item set: with what `items`, which end here, complete and predict."""
        items, here, size = dict.fromkeys(items), len(sets), -1
        while size != len(items):                           # until nothing new: nullable rules complete where they begin
            size = len(items)
            for head, body, dot, origin in list(items):
                if dot == len(body):
                    for other in list(items) if origin == here else sets[origin]:
                        if other[2] < len(other[1]) and other[1][other[2]] == head:
                            items[(*other[:2], other[2] + 1, other[3])] = None
                elif not self.is_lexeme(body[dot]):
                    items.update(dict.fromkeys((body[dot], new, 0, here) for new in self.rules[body[dot]]))
        return (*sets, frozenset(items))

    def allowed(self, sets, base):
        """Lexemes that may begin at a base, SKIP among them: only where a lexeme may follow it."""
        index, skipped = base
        found = {body[dot] for _, body, dot, _ in sets[index] if dot < len(body) and self.is_lexeme(body[dot])}
        if self.skip and found and (index or self.options.skip_first) and not (skipped and self.options.skip_once):
            found.add(SKIP)
        return found

    def ended(self, sets, ended):
        """(sets, bases) behind lexemes, given as (index, skipped, lexeme), that end at one place. In greedy lexing what is ignored
        comes first."""
        if self.options.lexing == "greedy" and any(lexeme == SKIP for _, _, lexeme in ended):
            ended = [one for one in ended if one[2] == SKIP]
        scanned = [(head, body, dot + 1, origin) for index, _, lexeme in ended for head, body, dot, origin in sets[index]
                   if dot < len(body) and body[dot] == lexeme]
        bases = {(index, True) for index, _, lexeme in ended if lexeme == SKIP}
        if scanned:
            bases.add((len(sets), False))
            sets = self.closed(sets, scanned)
        return sets, frozenset(bases)

    def start(self):
        return self.closed((), [("", (self.first,), 0, 0)]), frozenset({(0, False)}), frozenset()

    def step(self, config, char):
        sets, bases, reading = config
        if self.options.lexing == "exact":
            reading = self._read(reading | self._beginning(sets, bases), char)
            sets, bases = self.ended(sets, [(index, skipped, lexeme) for index, skipped, lexeme, rest in reading
                                            if self.nullable(rest)])
            return (sets, bases, reading) if bases or reading else ()
        on = self._read(reading, char)
        if not on:
            sets, bases = self._munch(config)
            on = self._read(self._beginning(sets, bases), char)
        return (sets, bases, on) if on else ()

    def accepting(self, config):
        if not config:
            return False
        sets, bases = self._munch(config) if self.options.lexing == "greedy" else config[:2]
        return any(("", (self.first,), 1, 0) in sets[index] for index, _ in bases)

    def accepts(self, text):
        config = self.start()
        for char in text:
            config = self.step(config, char)
            if not config:
                return False
        return self.accepting(config)

    def _read(self, reading, char):
        return frozenset((index, skipped, lexeme, rest) for index, skipped, lexeme, old in reading
                         if self.alive(rest := self.derivative(old, char)))

    def _beginning(self, sets, bases):
        return frozenset((*base, lexeme, self.begin(lexeme))
                         for base in bases for lexeme in self.allowed(sets, base))

    def _munch(self, config):
        """What greedy lexing makes of the end of what is being read."""
        sets, bases, reading = config
        if not reading:
            return sets, bases
        return self.ended(sets, [(index, skipped, lexeme) for index, skipped, lexeme, rest in reading if self.nullable(rest)])
