"""Picks one reading of a text from a chart.

Decisions are taken from the outside in. A rule takes the first of its alternatives that can have read its text; of an alternative each
part, from the left, takes as much as it can. Optional parts and repetitions are parts too: each copy takes as much as it can, and
none is empty unless the least number of them asks for it. No rule stands below itself with the same text.

Of a text that is not finished, what rules are still reading goes on to its end, and so is longer than all else.
"""
from llgcy.errors import LimitError

MOST_EMPTY = 10_000             # copies that are empty


class Choice:
    """The reading of what a chart holds.

    ``enter(symbol)``, ``leave(symbol)`` and ``lexeme(symbol, first, last node)`` of a visitor are called for the rules whose
    texts have ended, in the order of the text.
    """

    def __init__(self, chart, visitor):
        self.chart, self.rules, self.visitor = chart, chart.rules, visitor

    # -- texts that have ended ------------------------------------------------------------------------------------------
    def read(self, symbol, u, v):
        """Visits what a symbol has read between two nodes."""
        todo = [(symbol, u, v, frozenset())]
        while todo:
            symbol, u, v, above = todo.pop()
            if u is None:
                self.visitor.leave(symbol)
            elif symbol < self.rules.n_lexemes:
                if u != v:
                    self.visitor.lexeme(symbol, min(first for origin, first in self.chart.nodes[v].edges[symbol] if origin == u), v)
            else:
                self.visitor.enter(symbol)
                todo.append((symbol, None, None, above))
                todo += reversed(self._parts(symbol, u, v, above))

    def _parts(self, symbol, u, v, above):
        """The parts of a text, each with the symbols above it that have the same text and could stand below it."""
        above = above | ({symbol} & self.rules.named) if symbol in self.rules.circular else frozenset()
        for rule in self.rules.of[symbol]:
            parts = self._split(rule, u, v, lambda part: self._free(part, symbol, u, v, above))
            if parts is not None:
                return [(*part, above if part[1:] == (u, v) and self._same(part[0], symbol) else frozenset()) for part in parts]
        raise AssertionError("a text that was read has no reading")

    def _same(self, part, symbol):
        """Do two symbols stand on one circle?"""
        circular = self.rules.circular
        return symbol in circular and circular.get(part) == circular[symbol]

    def _free(self, part, symbol, u, v, above):
        """Can a part with the same text do without the symbols above?"""
        return not self._same(part, symbol) or part in self._solvable(symbol, u, v, above)

    def _solvable(self, symbol, u, v, above):
        """The symbols of a circle that have read a text without any of those above, or each other in turn."""
        out, size = set(), -1
        members = [x for x, number in self.rules.circular.items() if number == self.rules.circular[symbol] and x not in above]
        while size != len(out):
            size = len(out)
            for x in members:
                if x not in out and any(self._split(rule, u, v, lambda part: not self._same(part, symbol) or part in out) is not None
                                        for rule in self.rules.of[x]):
                    out.add(x)
        return out

    def _split(self, number, u, v, free):
        """How one rule falls into parts (symbol, from, to) over a text; None where it has not read it. ``free``: may a part have all of
        the text?"""
        rule = self.rules.rules[number]
        if rule.counted:
            ends = [dot for n, dot, origin in self.chart.nodes[v].items if n == number and origin == u and rule.final(dot)]
        else:
            ends = [len(rule.body)]
        found = self._found(number, u, [(dot, v) for dot in ends],
                            lambda part, first, last: (first, last) != (u, v) or free(part))
        if (0, u) not in found or u == v and rule.counted and rule.low and not free(rule.symbol):
            return None
        parts, dot = self._path(rule, found, (0, u), lambda here: here[1] == v if rule.counted else here[0] == len(rule.body))
        if rule.counted and dot < rule.low:                 # copies that may be empty
            if rule.low - dot > MOST_EMPTY:
                raise LimitError(f"more than {MOST_EMPTY:,} copies of nothing")
            parts += [(rule.symbol, v, v)] * (rule.low - dot)
        return parts

    def _found(self, number, u, ends, free):
        """The places (dot, node) of a rule that begins at `u` from which it comes to one of its ends -> where one part leads from there."""
        rule = self.rules.rules[number]
        found, todo = {end: [] for end in ends}, list(ends)
        for here in todo:                                   # grows while it runs
            for there, part in self._before(rule, number, u, here):
                if free(part, there[1], here[1]):
                    if there not in found:
                        found[there] = []
                        todo.append(there)
                    found[there].append(here)
            self.chart.spend(len(found[here]))
        self.chart.spend(len(found))
        return found

    def _before(self, rule, number, u, here):
        """The places from which one part leads to a place: ((dot, node), symbol)."""
        dot, node = here
        if rule.counted:
            for before in (dot - 1, dot) if rule.high is None and dot == rule.cap else (dot - 1,):
                for origin in self.chart.between((number, before, u), rule.symbol, node):
                    yield (before, origin), rule.symbol
        elif dot:
            symbol = rule.body[dot - 1]
            if symbol in self.rules.nullable and (number, dot - 1, u) in self.chart.nodes[node].items:
                yield (dot - 1, node), symbol
            for origin in self.chart.between((number, dot - 1, u), symbol, node):
                yield (dot - 1, origin), symbol

    def _path(self, rule, found, here, over):
        """The parts of a rule up to where it is over, each as long as can be, and the dot there."""
        out = []
        while not over(here):
            there = max(found[here], key=lambda to: (self.chart.nodes[to[1]].at, -to[1], to[0]))
            out.append((rule.next(here[0]), here[1], there[1]))
            here = there
        return out, here[0]

    # -- texts that go on -----------------------------------------------------------------------------------------------
    def read_open(self, bases, reading):
        """Visits what has ended in a text that goes on: at the nodes `bases`, or in lexemes (lexeme, node) that are being read."""
        self._find_open(bases, reading)
        symbol, u, above = self.rules.start, 0, frozenset()
        while symbol is not None and symbol >= self.rules.n_lexemes:
            above = above | ({symbol} & self.rules.named)
            parts, symbol, node = self._open_parts(symbol, u, above)
            for part in parts:
                self.read(*part)
            if node != u:
                u, above = node, frozenset()

    def _find_open(self, bases, reading):
        """Makes `open`: (rule, origin) -> (dot, node) -> is the symbol behind the dot being read there, or does the text end before it?"""
        self.open = {}
        nodes = self.chart.nodes
        todo = [(item, node, True) for lexeme, node in reading for item in nodes[node].waits.get(lexeme, ())]
        todo += [(item, node, False) for node in bases for items in nodes[node].waits.values() for item in items if item[2] != node]
        for (number, dot, origin), node, inside in todo:    # grows while it runs
            known = self.open.get((number, origin))
            if known is None:
                known = self.open[number, origin] = {}
                todo += [(item, origin, True) for item in nodes[origin].waits.get(self.rules.rules[number].head, ())]
            known[dot, node] = inside or known.get((dot, node), False)

    def _open_parts(self, symbol, u, above):
        """The parts of a rule's text so far, and the symbol that is being read with the node where it began; None: none is."""
        for number in self.rules.of[symbol]:
            rule = self.rules.rules[number]
            tips = {here: inside for here, inside in self.open.get((number, u), {}).items()
                    if not inside or here[1] != u or self._opens(rule.next(here[0]), u, above)}
            found = self._found(number, u, list(tips), lambda part, first, last: True)
            if (0, u) in found:
                parts, dot = self._path(rule, found, (0, u), tips.__contains__)
                node = parts[-1][2] if parts else u
                return parts, rule.next(dot) if tips[dot, node] else None, node
        return (), None, u

    def _opens(self, symbol, u, above):
        """Can a symbol that began at a node go on without any of those above?"""
        seen, todo = set(above), [symbol]
        while todo:
            symbol = todo.pop()
            if symbol < self.rules.n_lexemes:
                return True
            if symbol not in seen:
                seen.add(symbol)
                for number in self.rules.of[symbol]:
                    for (dot, node), inside in self.open.get((number, u), {}).items():
                        if not inside or node != u:
                            return True
                        todo.append(self.rules.rules[number].next(dot))
        return False
