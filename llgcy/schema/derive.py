"""The next value of a container: which classes of values the residual tells apart, and what it becomes for each.

A *test* is a value formula V that facts of the residual ask about: they turn true where the value is in V, and where it is
not, those that ask about this one place only turn false. `Leaves` walks the tree of decisions over the tests, cut where a
class is empty, where the residual is false and where no test is left to ask. So disjoint constants give a chain, and
"exactly one" stops at the second hit.
"""
from llgcy.errors import LimitError
from llgcy.schema.formula import ARRAY, FALSE, NOTHING, NUMBER, OBJECT, STRING, TRUE

#: Decisions about the value of one name or item.
DECISIONS = 20_000
#: Tests that are no constants, of which each doubles the classes: more are too many to take one by one.
TESTS = 5


class Busy(Exception):
    """More decisions than the caller has patience for."""


class Test:
    """One question about a value.

    Attributes
    ----------
    value : int
        The value formula asked for.
    yes, no : dict
        What atoms become, by node number, where the value is in it, and where it is not.
    """

    __slots__ = ("value", "yes", "no")

    def __init__(self, value):
        self.value, self.yes, self.no = value, {}, {}


class Decided:
    """A formula under several sets of tests that hold, while all others fail.

    It is decided once, for the tests that hold `usually`; under another set only those of its parts are decided again that ask what
    is different. So the branches of a long disjunction, each with a constant of its own, cost a branch each, not a disjunction each.

    Parameters
    ----------
    formulas : Formulas
    formula : int
    tests : list of Test
    usually : int
        Set of tests: bit i for test i.
    """

    def __init__(self, formulas, formula, tests, usually):
        fs = self.formulas = formulas
        self.formula, self.tests, self.usually, self.truths = formula, tests, usually, {}
        for i, test in enumerate(tests):
            self.truths.update(test.yes if usually >> i & 1 else test.no)
        content, decided, asked = fs.nodes[formula >> 1], frozenset(self.truths), frozenset().union(*[test.yes for test in tests])
        self.parts = content[1] if content[0] == "and" else (formula & -2,)
        self.places, self.left = {}, {}         # of the parts, by atom; what is left of a part, by place
        for i, part in enumerate(self.parts):
            left = fs.assigned(part, self.truths, decided)
            if left != TRUE:
                self.left[i] = left
            for atom in asked & fs.support(part):
                self.places.setdefault(atom, []).append(i)

    def where(self, which):
        """The formula where just the tests of a set hold."""
        fs, changed, open_ = self.formulas, {}, []
        for i in bits(which ^ self.usually):
            test = self.tests[i]
            if which >> i & 1:
                changed.update(test.yes)
            else:
                changed.update(test.no)
                open_ += [atom for atom in test.yes if atom not in test.no]
        changed.update(dict.fromkeys(open_))    # None: they are open again
        about = {i for atom in changed for i in self.places.get(atom, ())}
        found = [left for i, left in self.left.items() if i not in about]
        for i in about:
            truths = {}
            for atom in fs.support(self.parts[i]):
                truth = changed[atom] if atom in changed else self.truths.get(atom)
                if truth is not None:
                    truths[atom] = truth
            found.append(fs.assign(self.parts[i], truths))
        return fs.all_of(found) ^ (self.formula & 1)


def bits(mask):
    """The members of a set that is an int, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Leaves:
    """The classes of one value, one at a time.

    Parameters
    ----------
    formulas : Formulas
    residual : int
        Formula of the container.
    tests : list of Test
        With pairwise different value formulas.
    value : int
        What is demanded of the value anyhow.

    ``next()`` is a coroutine: it yields value formulas to be told whether they are inhabited, and returns a pair (value
    formula, residual), or None where there are no more. The value formulas are disjoint and inhabited; several may lead
    to the same residual. Of two ways the one comes first that can only make more of the residual true, so the first
    leaf is often one that can be completed.
    """

    def __init__(self, formulas, residual, tests, value):
        self.formulas, self.todo, self.steps, self.limit, self.tests = formulas, [], 0, None, len(tests)
        self.first = residual, tests, value

    def hard(self):
        """Whether there are so many tests that other names had better be decided first."""
        return sum(not is_plain(self.formulas, t.value) for t in self.first[1]) > TESTS

    def begin(self):
        """Takes all tests for constants at once."""
        fs = self.formulas
        residual, tests, value = self.first
        self.first = None
        if residual == FALSE or not (yield value):
            return
        plain = [t for t in tests if is_plain(fs, t.value)] if len(tests) > 2 else ()
        if len(plain) < 3:
            self.todo.append((residual, value, tests, True))
            return
        rest = [t for t in tests if t not in plain]
        cells = self.cells(plain)
        decided = Decided(fs, residual, plain, max((which for which, _ in cells), key=int.bit_count))
        for which, cell in cells:
            cell = fs.both(value, cell)
            if cell == NOTHING:
                continue
            left = decided.where(which)
            if left != FALSE and (yield cell):
                self.todo.append((left, cell, rest, True))
        self.todo.sort(key=lambda way: fs.zero(way[0]))

    def forced(self, residual, value, tests):
        """Takes at once the tests whose one answer makes the residual false."""
        fs, truths, rest = self.formulas, {}, []
        for test in tests:
            if fs.assign(residual, test.yes) == FALSE:
                value = fs.both(value, test.value ^ 1)
                truths.update(test.no)
            elif test.no and fs.assign(residual, test.no) == FALSE:
                value = fs.both(value, test.value)
                truths.update(test.yes)
            else:
                rest.append(test)
        return fs.assign(residual, truths), value, rest

    def cells(self, tests):
        """The classes of values that plain tests tell apart: (set of the tests that hold, value formula), in one pass.

        All constants in one class are one cell, so a hundred tests for a hundred constants are a hundred cells at once.
        """
        fs, groups = self.formulas, {}

        def add(which, **parts):
            groups.setdefault(which, []).append(fs.value(**parts))
        rows = [fs.values[t.value] for t in tests]
        for bit in (1, 2, 4):
            add(sum(1 << i for i, row in enumerate(rows) if row[0] & bit), literals=bit)
        for k, name in ((NUMBER, "number"), (STRING, "string")):
            others, flips = 0, {}
            for i, row in enumerate(rows):
                f = row[k]
                if f == TRUE or f > FALSE and f & 1:
                    others |= 1 << i
                if f > FALSE:
                    for x in fs.nodes[f >> 1][1]:
                        flips[x] = flips.get(x, 0) ^ 1 << i
            op = "value" if k == NUMBER else "in"
            by = {}
            for x, flip in flips.items():
                by.setdefault(others ^ flip, []).append(x)
            for which, members in by.items():
                add(which, **{name: fs.names(members) if op == "in" else fs.atom(op, frozenset(members))})
            rest = TRUE
            if flips:
                rest = (fs.names(flips) if op == "in" else fs.atom(op, frozenset(flips))) ^ 1
            add(others, **{name: rest})
        for k, name in ((OBJECT, "object"), (ARRAY, "array")):
            add(sum(1 << i for i, row in enumerate(rows) if row[k] == TRUE), **{name: TRUE})
        return [(which, fs.union(cells)) for which, cells in groups.items()]

    def next(self):
        fs = self.formulas
        if self.first is not None:
            yield from self.begin()
        while self.todo:
            residual, value, tests, fresh = self.todo.pop()
            self.steps += 1
            if self.limit is not None and self.steps > self.limit:
                raise Busy
            if self.steps > DECISIONS:
                raise LimitError(f"telling the values of one member or item apart takes more than {DECISIONS} decisions")
            support = fs.support(residual)
            tests = [t for t in tests if not support.isdisjoint(t.yes)]
            if fresh and tests:
                residual, demanded, tests = self.forced(residual, value, tests)
                if residual == FALSE or demanded != value and not (yield demanded):
                    continue
                value = demanded
                support = fs.support(residual)
                tests = [t for t in tests if not support.isdisjoint(t.yes)]
            if not tests:
                return value, residual
            test, tests = tests[0], tests[1:]
            into, past = fs.assign(residual, test.yes), fs.assign(residual, test.no)
            inside, outside = fs.both(value, test.value), fs.both(value, test.value ^ 1)
            ways = []
            if past != FALSE and (inside == NOTHING or (yield outside)):
                ways.append((past, value if inside == NOTHING else outside, tests, False))
            if into != FALSE and (outside == NOTHING or (yield inside)):
                ways.append((into, value if outside == NOTHING else inside, tests, False))
            if len(ways) == 2 and self.hopeful(residual, test):
                ways.reverse()
            self.todo += ways
        return None

    def hopeful(self, residual, test):
        """Whether the facts of the test only do harm: each part that holds one holds where all its facts fail."""
        fs = self.formulas
        return fs.zero(residual) or all(fs.zero(u) for u in fs.units(residual) if not fs.support(u).isdisjoint(test.yes))

    def all(self, limit=None):
        """Coroutine: all leaves, as {residual: value formulas}; `Busy` after `limit` decisions."""
        groups, self.limit = {}, limit
        while True:
            leaf = yield from self.next()
            if leaf is None:
                return groups
            value, residual = leaf
            groups.setdefault(residual, []).append(value)


def is_plain(formulas, v):
    """Whether a value formula is finite sets of scalars, their complements, and whole kinds."""
    _, number, string, object, array = formulas.values[v]
    if object > FALSE or array > FALSE:
        return False
    return all(f <= FALSE or formulas.nodes[f >> 1][0] in ("in", "value") for f in (number, string))
