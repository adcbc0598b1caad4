"""Arrays whose items must differ, or two of which must be equal: can they be finished, and by what?

``uniqueItems`` is NOT repeat. An item must then not be among those before it, which is one more test on its value. Only where
items must still come does the number of values matter: a class of values is *scarce* where it has fewer of them than there are
items to come. Slots of scarce classes are matched with values (augmenting paths), and what the next item takes from a scarce
class may be what a later one needs. All other classes never run out.

Methods that say so are coroutines of `Emptiness`.
"""
from llgcy.errors import LimitError
from llgcy.schema.derive import Leaves
from llgcy.schema.formula import NOTHING, TRUE
from llgcy.schema.supply import LEVELS

#: Values of one class that are written out to see whether there are enough.
MOST = 2_000
#: Items that are written out while it is decided whether there are any; more are left for when they are needed.
EAGER = 16


class Apart:
    """Items that differ, not written out yet.

    Attributes
    ----------
    slots : tuple of (int, int)
        Value formula and how many, in order.
    taken : dict
        By value formula, the values for its slots, where it is scarce.
    seen : frozenset
        Values that come no more.
    """

    __slots__ = ("slots", "taken", "seen")

    def __init__(self, slots, taken, seen):
        self.slots, self.taken, self.seen = slots, taken, seen


class Distinct:
    """Questions about equal items of one schema.

    Parameters
    ----------
    solver : Emptiness
    values : Values
    """

    def __init__(self, solver, values):
        self.solver, self.values = solver, values
        self.formulas, self.items = solver.formulas, solver.items
        self.supply = solver.supply
        self.repeat = self.formulas.repeat() >> 1

    def watches(self, rules, residual):
        """Whether it matters which items have come."""
        return rules.apart or self.repeat in self.formulas.support(residual)

    # ------------------------------------------------------------------------------------------------ completions
    def complete(self, rules, residual, n, seen):
        """Coroutine: items that finish an array of which `n` are read, those in `seen`, or None: see `Emptiness.complete_items`."""
        return (yield (("apart", rules.id, residual, n, seen), self.find, (rules, residual, n, seen)))

    def find(self, rules, residual, n, seen):
        """Coroutine: the same, unremembered."""
        if rules.apart:
            if residual == TRUE:
                return (yield from self.plain(rules, n, seen))
            return (yield from self.differing(rules, residual, n, seen))
        after = self.items.apart(rules, residual, n)
        if after is not None:
            found = yield from self.complete(*after, n, seen)
            if found is not None:
                return found
        after = self.items.normal(rules, self.formulas.assign(residual, {self.repeat: TRUE}), n)
        return (yield from self.repeating(*after, n, seen)) if after is not None else None

    def plain(self, rules, n, seen):
        """Coroutine: where the rules are all there is."""
        if rules.high is not None and max(n, rules.low) > rules.high:
            return None
        slots, starts = [], list(rules.needed(n))
        for start, end in zip(starts, [*starts[1:], rules.low]):
            slots.append((rules.demand(start), end - max(start, n)))
        return (yield from self.filled(slots, seen))

    def filled(self, slots, seen):
        """Coroutine: different values for slots (value formula, how many) that are not in `seen`, or None."""
        room, taken, classes = sum(copies for _, copies in slots), {}, {}
        for v, copies in slots:
            if not (yield v):
                return None
            classes[v] = classes.get(v, 0) + copies
        scarce, match = {}, {}
        for v, copies in classes.items():
            few = yield from self.scarce(v, room, seen)
            if few is None:
                continue
            if len(few) < copies:
                return None
            scarce[v] = few
            for _ in range(copies):
                match = matched(v, match, scarce)
                if match is None:
                    return None
        for x, v in match.items():
            taken.setdefault(v, []).append(x)
        items = Apart(tuple(slots), taken, seen)
        return (yield from self.written(items)) if room <= EAGER else items

    def written(self, items):
        """Coroutine: the items of an `Apart`, each as the value formula of one value."""
        taken, made = {v: list(values) for v, values in items.taken.items()}, []
        gone = set(items.seen).union(*taken.values())
        room = len(gone) + sum(copies for _, copies in items.slots)
        for v, copies in items.slots:
            if v in taken:
                own = [taken[v].pop() for _ in range(copies)]
            else:
                own = [x for x in (yield from self.supply.choices(v, room)) if x not in gone][:copies]
                gone.update(own)
            made += [(self.values.formula(x), 1) for x in own]
        return tuple(made)

    def differing(self, rules, residual, n, seen):
        """Coroutine: `plain` where counts and alternatives are left. Breadth first over what is left, the position, and how many
        slots of each scarce class are taken."""
        fs, room = self.formulas, self.room(rules, residual, n)
        scarce, start = {}, (rules, residual, n)
        met, queue = {(rules.id, residual, n, frozenset())}, [(start, {}, {}, None)]
        for (rules, residual, n), counts, match, path in queue:
            self.solver.burn()
            if residual == TRUE or fs.zero(residual) and n >= rules.low:
                slots = [(v, 1) for v in unwound(path)]
                if n < rules.low:
                    starts = list(rules.needed(n))
                    slots += [(rules.demand(s), e - max(s, n)) for s, e in zip(starts, [*starts[1:], rules.low])]
                if rules.high is None or max(n, rules.low) <= rules.high:
                    found = yield from self.filled(slots, seen)
                    if found is not None:
                        return found
                if residual == TRUE:
                    continue
            for value, *after in (yield from self.moves(rules, residual, n)):
                if value not in scarce:
                    scarce[value] = yield from self.scarce(value, room, seen)
                now, counted = match, counts
                if scarce[value] is not None:
                    now, counted = matched(value, match, scarce), {**counts, value: counts.get(value, 0) + 1}
                    if now is None:
                        continue
                key = after[0].id, after[1], after[2], frozenset(counted.items())
                if key not in met:
                    met.add(key)
                    queue.append((tuple(after), counted, now, (path, value)))
        return None

    def repeating(self, rules, residual, n, seen):
        """Coroutine: two items must be equal, or one and an item in `seen`; what else there is, `residual` says.

        A state says whether that has happened (True), or of which class the item is that a later one will equal, or neither (None).
        """
        fs, taken = self.formulas, self.values.union(seen)
        met, queue = {(rules.id, residual, n, None)}, [((rules, residual, n), None, None)]
        for (rules, residual, n), equal, path in queue:
            self.solver.burn()
            if equal is True and (residual == TRUE or fs.zero(residual) and n >= rules.low):
                rest = yield from self.solver.plain_items(rules, n)
                if rest is not None:
                    return (*(yield from self.paired(unwound(path))), *rest)
                if residual == TRUE:
                    continue
            for value, *after in (yield from self.moves(rules, residual, n)):
                ways = [(equal, value)]
                if equal is None:
                    ways += [((value,), value), (True, fs.both(value, taken))]
                elif equal is not True:
                    ways.append((True, fs.both(value, equal[0])))
                for e, v in ways:
                    key = after[0].id, after[1], after[2], e
                    if key not in met and v != NOTHING and (yield v):
                        met.add(key)
                        queue.append((tuple(after), e, (path, (e, v))))
        return None

    def paired(self, path):
        """Coroutine: the items of a path of `repeating`: the one marked as repeated gets the value of the one that repeats it."""
        items, mark = [(v, 1) for _, v in path], None
        for i, (e, v) in enumerate(path):
            if isinstance(e, tuple) and mark is None:
                mark = i
            if e is True:
                if mark is not None:
                    x, = yield from self.supply.choices(v, 1)
                    items[mark] = items[i] = self.values.formula(x), 1
                break
        return items

    def moves(self, rules, residual, n):
        """Coroutine: the classes of the item at position `n`, whatever items have come, with what they lead to:
        [(value formula, rules, residual, position), ...]."""
        if rules.high is not None and n >= rules.high:
            return []
        after, tests = self.items.tests(residual, n)
        leaves, found = Leaves(self.formulas, after, tests, rules.demand(n)), []
        while True:
            leaf = yield from leaves.next()
            if leaf is None:
                return found
            after = self.items.normal(rules, leaf[1], n + 1)
            if after is not None:
                found.append((leaf[0], *after, min(n + 1, self.items.cap(*after))))

    def room(self, rules, residual, n):
        """No completion needs more items: those up to the last position that matters, and one for each count still open."""
        nodes = self.formulas.nodes
        counts = sum(nodes[a][4] for a in self.formulas.support(residual) if nodes[a][0] == "item")
        return counts + max(0, self.items.cap(rules, residual) - n) + 2

    # ------------------------------------------------------------------------------------------------ the next item
    def allowed(self, value, rules, residual, n, seen):
        """Coroutine: the part of `value` whose members the item before position `n` may have, so that others can follow that
        finish the array. `rules` and `residual` are what it leaves behind; `seen` are the items before it."""
        if not self.watches(rules, residual):
            found = yield from self.solver.complete_items(rules, residual, n)
            return value if found is not None else NOTHING
        if n >= rules.low and self.formulas.zero(residual) and (rules.high is None or n <= rules.high):
            return value
        if rules.apart:
            return (yield from self.allowed_apart(value, rules, residual, n, seen))
        parts = []
        after = self.items.normal(rules, self.formulas.assign(residual, {self.repeat: TRUE}), n)
        if after is not None:
            if (yield from self.repeating(*after, n, seen)) is not None:
                return value
            for later in (yield from self.later(*after, n)):    # or the item itself is the one that will be repeated
                parts.append(self.formulas.both(value, later))
        after = self.items.apart(rules, residual, n)
        if after is not None:
            parts.append((yield from self.allowed_apart(value, *after, n, seen)))
        return self.formulas.union(parts)

    def allowed_apart(self, value, rules, residual, n, seen):
        """Coroutine: `allowed` where all items must differ."""
        fs, room, special = self.formulas, self.room(rules, residual, n), {}
        for later in (yield from self.later(rules, residual, n)):
            for x in (yield from self.scarce(later, room, seen)) or ():
                special.setdefault(x, []).append(later)
        parts, alike = [], {}
        for x, classes in special.items():
            alike.setdefault(tuple(classes), []).append(x)
        rest = fs.both(value, self.values.union(frozenset(special)) ^ 1)
        if rest != NOTHING and (yield from self.complete(rules, residual, n, seen)) is not None:
            parts.append(rest)
        for xs in alike.values():       # it only matters which scarce classes a value is taken from
            mine = fs.both(value, self.values.union(frozenset(xs)))
            if mine != NOTHING and (yield from self.complete(rules, residual, n, seen | {xs[0]})) is not None:
                parts.append(mine)
        return fs.union(parts)

    def later(self, rules, residual, n):
        """Coroutine: the classes of items from position `n` on after which an array can be finished."""
        if residual == TRUE and rules.apart:
            return dict.fromkeys(rules.demand(s) for s in rules.needed(n))
        fs, start = self.formulas, (rules, residual, min(n, self.items.cap(rules, residual)))
        todo, edges, before = [start], {start: []}, {}
        while todo:
            self.solver.burn()
            state = todo.pop()
            for value, *after in (yield from self.moves(*state)):
                after = tuple(after)
                edges[state].append((value, after))
                before.setdefault(after, []).append(state)
                if after not in edges:
                    edges[after] = []
                    todo.append(after)
        live = {s for s in edges if fs.zero(s[1]) and s[2] >= s[0].low and (s[0].high is None or s[2] <= s[0].high)}
        todo = list(live)
        while todo:
            for state in before.get(todo.pop(), ()):
                if state not in live:
                    live.add(state)
                    todo.append(state)
        return dict.fromkeys(value for ways in edges.values() for value, after in ways if after in live)

    # ------------------------------------------------------------------------------------------------ how many values
    def scarce(self, v, room, seen):
        """Coroutine: the values of `v` that are not in `seen`, where they may run out before `room` items have come, else None."""
        if (yield from self.supply.endless(v, LEVELS)):
            return None
        if room > MOST:
            raise LimitError(f"whether {room:,} different items exist is counted up to {MOST:,} of them")
        values = yield from self.supply.choices(v, room + len(seen) + 1)
        left = [x for x in values if x not in seen]
        return left if len(left) <= room else None


def matched(v, match, scarce):
    """One more slot of the scarce class `v` gets a value, by an augmenting path: the new {value: class}, or None."""
    todo, came = [v], {v: None}
    for w in todo:
        for x in scarce[w]:
            other = match.get(x)
            if other is None:
                new = dict(match)
                while True:
                    new[x] = w
                    if came[w] is None:
                        return new
                    w, x = came[w]
            if other not in came:
                came[other] = w, x      # x of `other` could go to w
                todo.append(other)
    return None


def unwound(path):
    """What is on a path ((..., a), b), first one first."""
    found = []
    while path is not None:
        path, x = path
        found.append(x)
    found.reverse()
    return found
