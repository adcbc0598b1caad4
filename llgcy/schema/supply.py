"""How many values a formula has: some of them written out, or a proof that they have no end.

Methods that say so are coroutines of `Emptiness`.
"""
from fractions import Fraction

from llgcy.errors import LimitError
from llgcy.schema.endings import Endings
from llgcy.schema.exact import Exact
from llgcy.schema.formula import ANYTHING, ARRAY, FALSE, NOTHING, NUMBER, OBJECT, STRING, TRUE
from llgcy.schema.read import read_json

#: Texts of a pattern that no document uses up.
PLENTY = 1 << 20
#: See `Supply.beginnings`: negative numbers, numbers that begin with any digit but 0, arrays that begin with a string.
MINUS, DIGIT, TEXTS = 1 << 5, 1 << 6, 1 << 7
#: Levels of containers into which a class is followed to see that it has no end.
LEVELS = 6


class Supply:
    """Questions about the number of values of one schema's formulas.

    Parameters
    ----------
    solver : Emptiness
    values : Values
    """

    def __init__(self, solver, values):
        self.solver, self.values = solver, values
        self.formulas, self.texts, self.items = solver.formulas, solver.texts, solver.items
        self.endings = Endings(solver, None)
        self.found = {}                 # by value formula: values of it in the order found
        self.rest = {}                  # and the formula of its containers that are not among them
        self.unbounded = {}             # by value formula, whether it is seen to have no end of values

    def choices(self, v, most):
        """Coroutine: values of `v`, at most `most`; all of them, where they are fewer."""
        fs, solver = self.formulas, self.solver
        v = fs.aliases.get(v, v)
        found = self.found.get(v)
        literals, number, string, object, array = fs.values[v]
        if found is None or len(found) <= most and not found[0]:
            enough = max(most, 16)
            scalars = [self.values.scalar(x) for bit, x in ((1, None), (2, True), (4, False)) if literals & bit]
            scalars += [self.values.string(x) for x in self.texts.several(string, enough)]
            scalars += [self.values.number(x) for x in self.numbers(number, enough)]
            # the first says whether that is all there is
            found = self.found[v] = [len(scalars) < enough, *scalars]
            self.rest[v] = fs.value(object=object, array=array)
        while len(found) <= most and found[0]:
            rest = self.rest[v]
            if rest == NOTHING or not (yield rest):
                break
            solver.burn()
            x = self.values.of(read_json(self.endings.value(rest, None)))
            found.append(x)
            self.rest[v] = fs.both(rest, self.values.formula(x) ^ 1)
        return found[1:most + 1]

    def numbers(self, f, most):
        """Numbers of a formula, at most `most`; all of them, where they are fewer."""
        fs, solver = self.formulas, self.solver
        if f == FALSE:
            return []
        content = fs.nodes[f >> 1]
        if content[0] == "value" and not f & 1:
            return [q for q in sorted(content[1]) if solver.some_number(fs.atom("value", frozenset((q,))))]
        bases, steps, found = {Exact.of(0)}, {Exact.of(1)}, {}
        for atom in fs.support(f):
            op, *rest = fs.nodes[atom]
            if op == "mult":
                steps.add(rest[0])
            elif op == "ge" or op == "gt":
                bases.add(rest[0])
        for step in sorted(steps):
            for base in sorted(bases):
                if not all(-20 <= q.e and q.order <= 20 for q in (base, step)):
                    continue
                middle = fraction(base) // fraction(step)
                for k in range(-most - 1, most + 2):
                    q = Exact.of(fraction(step) * (middle + k))
                    if fs.holds_number(f, q):
                        found[q] = None
                    if len(found) >= most:
                        return list(found)
        while len(found) < most:
            left = fs.all_of((f, fs.atom("value", frozenset(found)) ^ 1)) if found else f
            if left == FALSE or not solver.some_number(left):
                break
            solver.burn(10)
            lexeme = solver.lexeme((left,))
            found[Exact.of(lexeme.shortest(lexeme.start()).decode())] = None
        return list(found)

    def endless(self, v, levels):
        """Coroutine: whether a value formula is seen to have more values than any document. False is no answer."""
        fs = self.formulas
        v = fs.aliases.get(v, v)
        found = self.unbounded.get(v)
        if found is None:
            found = False
            for kind in (NUMBER, STRING, ARRAY, OBJECT):
                if (yield from self.endless_part(kind, fs.values[v][kind], levels)):
                    found = True
                    break
            if found or levels == LEVELS:
                self.unbounded[v] = found
        return found

    def beginnings(self, v):
        """Coroutine: kinds of which a value formula has no end of values, as a set of 1 << kind, and `MINUS`, `DIGIT`, `TEXTS`."""
        fs, found = self.formulas, 0
        row = fs.values[v]
        for kind in (NUMBER, STRING, OBJECT, ARRAY):
            if (yield from self.endless_part(kind, row[kind], LEVELS)):
                found |= 1 << kind
        if found >> NUMBER & 1:
            zero = fs.atom("ge", Exact.of(0))
            if self.endless_numbers(fs.all_of((row[NUMBER], zero ^ 1))):
                found |= MINUS
            if not any(u & 1 and fs.nodes[u >> 1][0] in ("ge", "gt") for u in fs.units(row[NUMBER])):
                found |= DIGIT          # without an upper bound any first digit does
        if found >> ARRAY & 1:
            other = fs.value(7, TRUE, FALSE, TRUE, TRUE)
            if (yield from self.endless_part(ARRAY, fs.all_of((row[ARRAY], fs.size(1), fs.item(0, 1, other) ^ 1)), LEVELS)):
                found |= TEXTS
        return found

    def endless_part(self, kind, f, levels):
        """Coroutine: the same for one part of a value formula."""
        if f <= FALSE:
            return f == TRUE
        if kind == NUMBER:
            return self.endless_numbers(f)
        if kind == STRING:
            return self.endless_texts(f)
        if levels == 0:
            return False
        return (yield from (self.endless_arrays if kind == ARRAY else self.endless_objects)(f, levels - 1))

    def endless_numbers(self, f):
        """Whether small numbers, or all from a bound on, are in a formula but for finitely many."""
        if f <= FALSE:
            return f == TRUE
        low = high = None
        dense = True
        for unit in self.formulas.units(f):
            op, *rest = self.formulas.nodes[unit >> 1]
            if op in ("ge", "gt", "mult") and not (-100 < rest[0].e and rest[0].order < 100):
                return False
            if op == "value" and unit & 1:
                continue
            if op in ("int", "digits", "mult") and not unit & 1:
                dense = False
            elif op in ("ge", "gt") and unit & 1:
                high = rest[0] if high is None else min(high, rest[0])
            elif op in ("ge", "gt"):
                low = rest[0] if low is None else max(low, rest[0])
            else:
                return False
        return low is None or high is None or dense and low < high

    def endless_texts(self, f):
        """Whether a string formula has more texts than any document."""
        _, lengths, terms = self.texts.facts((f,))
        general = self.texts.without_words(f)
        if general == FALSE:
            return False
        if not terms:
            return any(self.texts.holds_length(general, n) for n in {2, *lengths, *[n + 1 for n in lengths]} if n > 1)
        try:
            return self.texts.few_words(self.texts.term(general), PLENTY) is None
        except LimitError:
            return False

    def endless_arrays(self, f, levels):
        """Coroutine: whether arrays may be of any length, or have an item of which there is no end, where only rules are left."""
        root = self.items.root(f)
        if root is None or root[1] != TRUE or not (yield self.formulas.value(array=f)):
            return False
        rules = root[0]
        for start in rules.cuts:
            if rules.high is not None and start >= rules.high or rules.apart and start > max(rules.low - 1, 0):
                return False
            if (yield from self.endless(rules.demand(start), levels)):
                return True
            if not (yield rules.demand(start)):
                return False
        return rules.high is None and not rules.apart and (yield rules.demand(rules.cap))

    def endless_objects(self, f, levels):
        """Coroutine: whether objects may have other names, or a member of which there is no end and that only rules are about."""
        fs, required, own, general, touched, high = self.formulas, set(), {}, {}, [], None
        if not (yield fs.value(object=f)):
            return False
        for unit in fs.units(f):
            op, *rest = fs.nodes[unit >> 1]
            if op == "count":
                if unit & 1:
                    high = rest[0] - 1 if high is None else min(high, rest[0] - 1)
            elif op == "some" and unit & 1:
                name = fs.single.get(rest[0])
                if name is None:
                    general[rest[0]] = fs.both(general.get(rest[0], ANYTHING), rest[1] ^ 1)
                else:
                    own[name] = fs.both(own.get(name, ANYTHING), rest[1] ^ 1)
            elif op == "some" and rest[0] in fs.single and rest[1] == ANYTHING:
                required.add(fs.single[rest[0]])
            else:
                for atom in fs.support(unit):
                    if fs.nodes[atom][0] == "count":
                        return False
                    touched.append(fs.nodes[atom][1])
        full = high is not None and (high <= len(required) or touched)
        for name in sorted(required | own.keys()):
            if full and name not in required or any(fs.holds_text(keys, name) for keys in touched):
                continue
            value = own.get(name, ANYTHING)
            for keys, v in general.items():
                if fs.holds_text(keys, name):
                    value = fs.both(value, v)
            if (yield from self.endless(value, levels)):
                return True
        if full:
            return False
        others = [fs.names(own.keys() | required) ^ 1 if own or required else TRUE, *[keys ^ 1 for keys in touched]]
        for keys, v in [*general.items(), (None, ANYTHING)]:
            # names that this one rule is about, or none
            keys = fs.all_of([*others, TRUE if keys is None else keys, *[k ^ 1 for k in general if k != keys]])
            if keys != FALSE and (keys == TRUE or self.endless_texts(keys)) and (yield v):
                return True
        return False


def fraction(q):
    return Fraction(int(q)) if q.e >= 0 else Fraction(-q.c if q.negative else q.c, 10 ** -q.e)
