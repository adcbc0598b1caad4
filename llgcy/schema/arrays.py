"""Arrays: what a formula demands of the items.

As for objects, a residual is split into rules, which no item changes (NOT item(i, j, V, 1), the bounds on the number of
items), and one formula for the rest (counts of ``contains``, alternatives). Positions are clipped where nothing tells them
apart any more, so that long arrays do not make states.
"""
from llgcy.schema.derive import Test
from llgcy.schema.formula import ANYTHING, FALSE, NOTHING, TRUE


class Items:
    """All that is known about arrays of one schema."""

    def __init__(self, formulas):
        self.formulas = formulas
        self.repeat = formulas.repeat() >> 1
        self.rules = {}                 # ItemRules by root and units
        self.split = {}                 # (units that are rules, the rest) by formula
        self.caps = {}                  # last position that a formula tells from the next, by formula

    def root(self, formula):
        """Rules and residual of an array formula before any item; None where it is false."""
        return self.normal(None, formula, 0)

    def rules_of(self, root, units):
        """The rules of `root` (None: none) with more units, a frozenset."""
        if root is not None and not units:
            return root
        key = root and root.id, units
        rules = self.rules.get(key)
        if rules is None:
            rules = self.rules[key] = ItemRules(self, root, units, len(self.rules))
        return rules

    def normal(self, rules, residual, n):
        """Rules and residual of what a formula became once `n` items are read; None where it is false."""
        residual = self.settled(residual, n)
        if residual == FALSE:
            return None
        found = self.split.get(residual)
        if found is None:
            fs, units, rest = self.formulas, [], []
            for unit in fs.units(residual):
                content = fs.nodes[unit >> 1]
                if content[0] == "size" or unit & 1 and (content[0] == "repeat" or content[0] == "item" and content[4] == 1):
                    units.append(unit)
                else:
                    rest.append(unit)
            found = self.split[residual] = units, fs.all_of(rest)
        units, residual = found
        if rules is None:
            rules = self.rules_of(None, frozenset(units))
        elif units or rules.added:
            # what was added about items that are read is over, so that equal futures have equal rules
            added = [u for u in rules.added.union(units) if not self.over(u, n)]
            rules = self.rules_of(rules.root or rules, frozenset(added))
        if rules.apart and self.repeat in self.formulas.support(residual):
            return self.normal(rules, self.formulas.assign(residual, {self.repeat: FALSE}), n)
        return rules, residual

    def apart(self, rules, residual, n):
        """`normal` where no two items are equal; None where it is false."""
        found = self.normal(rules, self.formulas.assign(residual, {self.repeat: FALSE}), n)
        return found and (self.rules_of(found[0].root or found[0], found[0].added | {self.repeat << 1 | 1}), found[1])

    def over(self, unit, n):
        """Whether a unit of rules says nothing any more once `n` items are read."""
        content = self.formulas.nodes[unit >> 1]
        if content[0] == "size":
            return not unit & 1 and content[1] <= n
        return content[0] == "item" and content[2] is not None and content[2] <= n

    def settled(self, residual, n):
        """The formula after `n` items, with what the number of items decides."""
        fs, truths = self.formulas, {}
        for atom in fs.support(residual):
            content = fs.nodes[atom]
            if content[0] == "size":
                if content[1] <= n:
                    truths[atom] = TRUE
            elif content[0] == "item" and content[2] is not None and content[2] - max(content[1], n) < content[4]:
                truths[atom] = FALSE
        return fs.assign(residual, truths) if truths else residual

    def tests(self, residual, n, seen=NOTHING):
        """What a formula asks about the item at position `n`: (formula with the facts that any item shows, tests).

        `seen` is the value formula of the items before, as far as equal items matter.
        """
        fs, certain, tests = self.formulas, {}, {}
        for atom in sorted(fs.support(residual)):
            content = fs.nodes[atom]
            if content[0] == "repeat" and seen != NOTHING:
                tests.setdefault(seen, Test(seen)).yes[atom] = TRUE
            if content[0] != "item":
                continue
            _, first, end, value, wanted = content
            if n < first or end is not None and n >= end:
                continue
            yes = fs.item(first, end, value, wanted - 1)
            if value == ANYTHING:
                certain[atom] = yes
                continue
            test = tests.get(value)
            if test is None:
                test = tests[value] = Test(value)
            test.yes[atom] = yes
            if end is not None and end - (n + 1) < wanted:
                test.no[atom] = FALSE
        if certain:
            residual = fs.assign(residual, certain)
        return residual, list(tests.values())

    def cap(self, rules, residual):
        """From this position on, positions are alike."""
        found = self.caps.get(residual)
        if found is None:
            found = 0
            for atom in self.formulas.support(residual):
                content = self.formulas.nodes[atom]
                found = max(found, 0, *[c for c in (content[1:3] if content[0] == "item" else content[1:]) if c])
            self.caps[residual] = found
        return max(found, rules.cap)


class ItemRules:
    """What no item changes.

    Attributes
    ----------
    root : ItemRules or None
        What held before any item; None: this does.
    units : frozenset of int
        Those that hold from before any item on.
    added : frozenset of int
        Units beside those of the root.
    low, high : int, int or None
        Bounds on the number of items.
    apart : bool
        All items differ.
    cuts : tuple of int
        Positions where the demands change, ascending, the first one 0.
    cap : int
        From this position on, nothing changes.
    """

    __slots__ = ("items", "root", "units", "added", "id", "low", "high", "apart", "demands", "cuts", "cap", "made")

    def __init__(self, items, root, units, id):
        self.items, self.root, self.id = items, root, id
        self.units, self.added = (root.units, units) if root is not None else (units, frozenset())
        self.low, self.high = (root.low, root.high) if root is not None else (0, None)
        self.apart = root is not None and root.apart
        self.demands = list(root.demands) if root is not None else []       # (first, end or None, value formula)
        nodes = items.formulas.nodes
        for unit in units:
            content = nodes[unit >> 1]
            if content[0] == "item":
                self.demands.append((content[1], content[2], content[3] ^ 1))
            elif content[0] == "repeat":
                self.apart = True
            elif unit & 1:
                self.high = content[1] - 1 if self.high is None else min(self.high, content[1] - 1)
            else:
                self.low = max(self.low, content[1])
        cuts = {0}
        for first, end, _ in self.demands:
            cuts.add(first)
            if end is not None:
                cuts.add(end)
        self.cuts = tuple(sorted(cuts))
        self.cap = max(self.cuts[-1], self.low, self.high or 0)
        self.made = {}                  # demand by the start of its segment

    def segment(self, n):
        """Where the stretch of equal demands that holds position `n` starts."""
        cuts, low, high = self.cuts, 0, len(self.cuts)
        while high - low > 1:
            middle = (low + high) // 2
            if cuts[middle] <= n:
                low = middle
            else:
                high = middle
        return cuts[low]

    def demand(self, n):
        """The value formula that the item at position `n` must satisfy."""
        start = self.segment(n)
        found = self.made.get(start)
        if found is None:
            found, both = ANYTHING, self.items.formulas.both
            for first, end, value in self.demands:
                if first <= start and (end is None or start < end):
                    found = both(found, value)
            self.made[start] = found
        return found

    def needed(self, n):
        """Starts of the segments that hold the items which must still come after `n`."""
        if n < self.low:
            start = self.segment(n)
            yield start
            for cut in self.cuts:
                if start < cut < self.low:
                    yield cut
