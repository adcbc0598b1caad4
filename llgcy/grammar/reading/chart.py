"""Earley's chart over the places where lexemes have ended.

An item is a tuple (rule, dot, origin): of a rule that begins at the node `origin`, so much is read. For ordinary rules the dot is the
number of symbols read, for counted ones the number of copies, as far as it matters. Symbols that may be empty are passed when an item
comes to them (Aycock and Horspool, Practical Earley parsing, The Computer Journal 45, 2002), so what is empty never completes. Right
recursion completes only its outermost rule, the others when they are asked for (J. Leo, A general context-free parsing algorithm
running in linear time on every LR(k) grammar, Theoretical Computer Science 82, 1991).
"""
from llgcy.errors import LimitError

MOST_STEPS = 2_000_000          # a few seconds
EDGE = 4                        # steps that an edge costs


class Rule:
    """One rule as an automaton over dots.

    Parameters
    ----------
    head : int
    body : tuple
        As in `llgcy.grammar.lower.Lowered`.
    nullable : set of int
    """

    def __init__(self, head, body, nullable):
        self.head, self.body = head, body
        self.counted = body[:1] == ("count",)
        if self.counted:
            _, self.symbol, self.low, self.high = body
            self.free = self.symbol in nullable             # copies may be empty
            self.cap = self.low if self.high is None else self.high

    def next(self, dot):
        """The symbol behind the dot; None at the end."""
        if self.counted:
            return self.symbol if self.high is None or dot < self.high else None
        return self.body[dot] if dot < len(self.body) else None

    def after(self, dot):
        """The dot behind that symbol."""
        return min(dot + 1, self.cap) if self.counted else dot + 1

    def final(self, dot):
        """May the rule end here?"""
        return self.free or dot >= self.low if self.counted else dot == len(self.body)


class Rules:
    """The rules of a `Lowered` grammar, without those that derive nothing.

    Attributes
    ----------
    of : dict of int to list of int
        Head -> its rules, in the order of the grammar.
    nullable : set of int
        Symbols that may be empty.
    named : set of int
        Those that are rules of the grammar, not parts of them.
    circular : dict of int to int
        Symbols that may derive nothing but themselves -> number of their circle.
    """

    def __init__(self, lowered, alive, empty):
        """``alive``: lexemes that have a text with at least one byte; ``empty``: lexemes that may be empty."""
        n = len(lowered.lexemes)
        self.start, self.n_lexemes, self.named = lowered.start, n, set(lowered.rule_of)
        good = _fixpoint(lowered.rules, set(alive) | set(empty))
        rules = [(head, body) for head, body in dict.fromkeys(lowered.rules) if all(x in good for x in _needed(body))
                 and not (body[:1] == ("count",) and body[1] not in good)]
        rules += [(head, ()) for head, body in dict.fromkeys(lowered.rules)     # no copy of what derives nothing
                  if body[:1] == ("count",) and body[1] not in good and body[2] == 0]
        self.nullable = _fixpoint(rules, set(empty))
        self.rules = [Rule(head, body, self.nullable) for head, body in rules]
        self.of = {}
        for i, rule in enumerate(self.rules):
            self.of.setdefault(rule.head, []).append(i)
        alone, last = {}, {}
        for rule in self.rules:
            if rule.counted:
                below = {rule.symbol} if rule.low <= 1 or rule.free else set()
            else:
                below = {x for i, x in enumerate(rule.body) if all(y in self.nullable for y in rule.body[:i] + rule.body[i + 1:])}
                last.setdefault(rule.head, set()).update(rule.body[-1:])
            alone.setdefault(rule.head, set()).update(below)
        self.circular = _circles(alone)
        self.right = _circles(last)                         # symbols that stand at the end of themselves


def _needed(body):
    """The symbols without which a rule has no text."""
    return body if body[:1] != ("count",) else body[1:2] if body[2] else ()


def _fixpoint(rules, out):
    """The symbols that derive a text over those of `out`."""
    waits, using, todo = [], {}, list(out)
    for i, (head, body) in enumerate(rules):
        needed = set(_needed(body))
        waits.append(len(needed))
        for x in needed:
            using.setdefault(x, []).append(i)
        if not needed and head not in out:
            out.add(head)
            todo.append(head)
    for x in todo:                                          # grows while it runs
        for i in using.get(x, ()):
            waits[i] -= 1
            if not waits[i] and rules[i][0] not in out:
                out.add(rules[i][0])
                todo.append(rules[i][0])
    return out


def _circles(graph):
    """Symbol -> number of its strongly connected component, for those that lead back to themselves. (Tarjan, without recursion.)"""
    number, low, component, open_, out = {}, {}, [], set(), {}
    for root in graph:
        todo = [(root, iter(sorted(graph[root])))] if root not in number else []
        while todo:
            x, below = todo[-1]
            if x not in number:
                number[x] = low[x] = len(number)
                component.append(x)
                open_.add(x)
            for y in below:
                if y in graph and y not in number:
                    todo.append((y, iter(sorted(graph[y]))))
                    break
                if y in open_:
                    low[x] = min(low[x], number[y])
            else:
                todo.pop()
                if todo:
                    low[todo[-1][0]] = min(low[todo[-1][0]], low[x])
                if low[x] == number[x]:
                    members = component[component.index(x):]
                    del component[component.index(x):]
                    open_.difference_update(members)
                    if len(members) > 1 or x in graph[x]:
                        out.update(dict.fromkeys(members, number[x]))
    return out


class Node:
    """A place where lexemes have ended, all that is known there.

    Attributes
    ----------
    at : int
        Place in the text.
    items : set of (rule, dot, origin)
    waits : dict of int to list of items
        Symbol -> items that wait for it.
    edges : dict of int to list of (origin, first)
        Lexeme -> the nodes from which it leads here, and where its own text begins, behind what was skipped.
    """

    __slots__ = ("at", "edges", "items", "waits", "done", "skipped", "shown")

    def __init__(self, at):
        self.at, self.edges, self.items, self.waits = at, {}, set(), {}
        self.done, self.skipped, self.shown = {}, [], set()


class Chart:
    """Nodes in the order of the text; the first one is its beginning."""

    def __init__(self, rules):
        self.rules, self.nodes, self.work = rules, [], 0
        self.places = {}                                    # item -> the nodes where it is
        self.tops = {}                                      # (head, origin) -> the outermost item that its end ends
        self.nodes.append(Node(0))
        self._close(0, [(rule, 0, 0) for rule in rules.of.get(rules.start, ())])

    def add(self, at, edges):
        """A node behind lexemes (lexeme, origin, first) that end at one place; its number."""
        node, v, todo = Node(at), len(self.nodes), []
        self.nodes.append(node)
        for lexeme, origin, first in edges:
            node.edges.setdefault(lexeme, []).append((origin, first))
        for lexeme, origin in dict.fromkeys((lexeme, origin) for lexeme, origin, _ in edges):
            todo += [(rule, self.rules.rules[rule].after(dot), begin) for rule, dot, begin in self.nodes[origin].waits.get(lexeme, ())]
        self._close(v, todo)
        return v

    def lexemes(self, v):
        """The lexemes that may come at a node."""
        return [symbol for symbol in self.nodes[v].waits if symbol < self.rules.n_lexemes]

    def accepts(self, v):
        """Is what is read up to a node a whole text?"""
        return self.ends(self.rules.start, 0, v)

    def ends(self, symbol, u, v):
        """Has the symbol a text between two nodes?"""
        if u == v:
            return symbol in self.rules.nullable
        return u in self.origins(symbol, v)

    def origins(self, symbol, v):
        """The nodes from which a symbol leads to a node, by texts that are not empty."""
        node = self.nodes[v]
        if symbol < self.rules.n_lexemes:
            return dict(node.edges.get(symbol, ()))
        if node.skipped:
            self._show(v)
        return node.done.get(symbol, ())

    def between(self, item, symbol, v):
        """The nodes with an item from which a symbol leads to a node, by texts that are not empty."""
        places, origins = self.places.get(item, ()), self.origins(symbol, v)
        return [u for u in places if u in origins] if len(places) < len(origins) else [u for u in origins if item in self.nodes[u].items]

    def _close(self, v, todo):
        rules, nullable, node = self.rules.rules, self.rules.nullable, self.nodes[v]
        items, waits = node.items, node.waits
        for item in todo:                                   # grows while it runs
            if item in items:
                continue
            items.add(item)
            self.places.setdefault(item, []).append(v)
            number, dot, origin = item
            rule = rules[number]
            if origin != v and rule.final(dot):
                self._complete(rule.head, origin, v, todo)
            symbol = rule.next(dot)
            if symbol is None:
                continue
            if symbol in waits:
                waits[symbol].append(item)
            else:
                waits[symbol] = [item]
                todo += [(other, 0, v) for other in self.rules.of.get(symbol, ())]
            if symbol in nullable and not rule.counted:
                todo.append((number, dot + 1, origin))
        self.spend(len(todo) + EDGE * sum(map(len, node.edges.values())))

    def spend(self, steps):
        """Counts steps.

        Raises
        ------
        LimitError
            There are too many.
        """
        self.work += steps
        if self.work > MOST_STEPS:
            raise LimitError(f"captures: the text can be read in too many ways; to find the first one takes more than {MOST_STEPS:,} steps")

    def _complete(self, head, origin, v, todo):
        done = self.nodes[v].done.setdefault(head, set())
        if origin in done:
            return
        done.add(origin)
        lone = self._lone(head, origin)
        if lone is None:
            todo += [(rule, self.rules.rules[rule].after(dot), begin) for rule, dot, begin in self.nodes[origin].waits.get(head, ())]
            return
        self.nodes[v].skipped.append((head, origin))
        path = []
        while (top := self.tops.get((head, origin))) is None:
            path.append((head, origin))
            rule, dot, begin = lone
            head, origin = self.rules.rules[rule].head, begin
            lone = self._lone(head, origin)
            if lone is None:
                top = rule, dot + 1, begin
                break
        self.tops.update(dict.fromkeys(path, top))
        todo.append(top)

    def _lone(self, symbol, u):
        """The one item that waits for a symbol at a node, where that ends a rule that is recursive on the right."""
        right, waits = self.rules.right, self.nodes[u].waits.get(symbol, ())
        if symbol not in right or len(waits) != 1:
            return None
        rule, dot, begin = item = waits[0]
        rule = self.rules.rules[rule]
        return item if begin != u and not rule.counted and dot + 1 == len(rule.body) and right.get(rule.head) == right[symbol] else None

    def _show(self, v):
        """Completes what right recursion has left out at a node."""
        node = self.nodes[v]
        for head, origin in node.skipped:
            while (head, origin) not in node.shown:
                node.shown.add((head, origin))
                lone = self._lone(head, origin)
                if lone is None:
                    break
                rule, _, origin = lone
                head = self.rules.rules[rule].head
                node.done.setdefault(head, set()).add(origin)
        node.skipped = []
