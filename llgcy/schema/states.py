"""States of an open object or array: the residual, and what of the text so far still matters to it.

A state holds the rules and components of `objects` (or `arrays`), the last name with a place in the order, the other names
used, and the number of members as far as it is told apart. Only states that can be finished are made, and equal ones are
one, so that few exist: in schema order one for each residual and last name.
"""
from llgcy.errors import LimitError, UnclearError
from llgcy.schema.derive import Leaves
from llgcy.schema.formula import FALSE, NOTHING, STRING, TRUE
from llgcy.schema.objects import bits
from llgcy.schema.supply import LEVELS

#: Items that are told apart in one array whose items must differ, but for strings of which there is no end.
SEEN = 4_000


class ObjectState:
    """A residual inside ``{``.

    Attributes
    ----------
    rules, components
        See `objects.Keys.normal`.
    last : int
        Outcome of the last name in the order, 0 for none, the number of them all once other names have come.
    used : int
        Set of the names without a place in the order that have come.
    count : int
        Number of members, clipped.
    """

    __slots__ = ("kind", "rules", "components", "last", "used", "count", "id", "allowed")

    def __init__(self, kind, rules, components, last, used, count, id):
        self.kind, self.rules, self.components, self.last, self.used, self.count = kind, rules, components, last, used, count
        self.id, self.allowed = id, None


class ObjectKind:
    """All states of the objects that begin at one place under the same formulas.

    Parameters
    ----------
    keys : Keys
    place
        Of `order`; None where no order is declared.
    solver : Emptiness
    states : list
        Of all objects; the position of a state is its id.
    """

    def __init__(self, keys, place, solver, states):
        self.keys, self.place, self.solver, self.states = keys, place, solver, states
        self.made = {}
        m = keys.ordered
        self.tail = keys.few & ~((1 << m + 1) - 1)      # names without a place

    def state(self, rules, components, last, used, count):
        key = rules.id, components, last, used, count
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = ObjectState(self, rules, components, last, used, count, len(self.states))
            self.states.append(found)
        return found

    def start(self, formula):
        """The state after ``{`` of an object formula that is inhabited."""
        rules, components = self.keys.root(formula)
        return self.state(rules, components, 0, 0, 0)

    def available(self, last, used):
        """The names that may still come."""
        return self.keys.few & ~((1 << last + 1) - 1) & ~used

    # ------------------------------------------------------------------------------------------------ what may come
    def allowed(self, state):
        """The set of outcomes that may come now; each of them leaves a state that can be finished."""
        if state.allowed is None:
            state.allowed = self.find_allowed(state)
        return state.allowed

    def find_allowed(self, state):
        keys, rules = self.keys, state.rules
        open_names = self.available(state.last, state.used)
        live = rules.live(self.solver.inhabited)
        required = rules.required & open_names
        ordered = open_names & ~self.tail
        next_required = required & ~self.tail
        if next_required:               # nothing beyond it before it
            first = next_required & -next_required
            allowed = ordered & (2 * first - 1)
        else:
            allowed = ordered | open_names & self.tail | keys.many
        allowed &= live
        if not state.components:
            return self.within_bounds(state, allowed, live, required) if rules.low or rules.high is not None else allowed
        found, group, gap, solver = 0, True, 0, self.solver
        touched, owner, counted = 0, {}, keys.counted(rules, state.components)
        for c in state.components:
            mask, by, _ = keys.questions(c)
            touched |= mask
            owner.update(dict.fromkeys(by, c))
        if not counted:
            found = allowed & self.before_settling(state)
        for o in bits(allowed & ~found):
            bit, passed = 1 << o, self.skipped(state.last, o) & touched
            if counted or passed and touched & bit or not keys.few & bit:
                possible = self.possible(state, o)
            elif touched & bit:         # nothing is left behind: only the component that asks can die of it
                available = self.available(*self.after(state, o)[:2]) | bit
                possible = solver.can(solver.complete(keys, rules, (owner[o],), available, rules.low, bit))
            else:                       # all names between two that components ask about have one answer
                if passed != gap:
                    gap, group = passed, self.possible(state, o)
                possible = group
            if possible:
                found |= bit
            elif passed and self.closed(rules, state.components, self.skipped(state.last, o)) is None:
                break                       # names left behind were needed, and whoever comes later leaves them behind too
        return found

    def before_settling(self, state):
        """The outcomes after which a member can come that makes each component true."""
        possible, available = -1, self.available(state.last, state.used)
        for c in state.components:
            settling = self.solver.found(self.solver.settling(self.keys, state.rules, c, available), None)
            if not settling or settling[2] != TRUE:
                return 0
            if settling[0] <= self.keys.ordered:
                possible &= (2 << settling[0]) - 1
        return possible

    def within_bounds(self, state, allowed, live, required):
        """The outcomes among `allowed` after which the number of members can be met, where no component is left."""
        rules, keys, count = state.rules, self.keys, state.count + 1
        least = count + required.bit_count()
        if rules.high is not None and least > rules.high:
            allowed &= required         # there is room for those alone
        if count >= rules.low or live & keys.many:
            return allowed
        left = self.available(state.last, state.used) & live
        # names without a place stay open whatever comes, but for the one that comes
        if count - 1 + (left & self.tail).bit_count() < rules.low:
            allowed &= ~self.tail
        # the further in the order, the fewer names are left: search for the last one with enough behind it
        low, high = state.last, keys.ordered
        while low < high:
            middle = (low + high + 1) // 2
            if count + (left >> middle + 1).bit_count() >= rules.low:
                low = middle
            else:
                high = middle - 1
        return allowed & (self.tail | (2 << low) - 1)

    def skipped(self, last, o):
        """The names in the order that outcome `o` leaves behind."""
        end = min(o, self.keys.ordered + 1)
        return (1 << end) - (2 << last) if end > last else 0

    def closed(self, rules, components, names):
        """Rules and components after some names have been left out; None where false."""
        keys = self.keys
        if not names:
            return rules, components
        others, changed = [], []
        for c in components:
            if keys.questions(c)[0] & names:
                left = keys.without(c, names)
                if left != c:
                    changed.append(left)
                    continue
            others.append(c)
        if not changed:
            return rules, components
        return keys.normal(rules, self.solver.formulas.all_of(changed), tuple(others))

    def after(self, state, o):
        """(last, used, count) after outcome `o`."""
        m = self.keys.ordered
        if o <= m:
            return o, state.used, state.count + 1
        return m, state.used | 1 << o & self.keys.few, state.count + 1

    def finishable(self, rules, components, last, used, count):
        """Whether members can follow that finish the object."""
        solver = self.solver
        if not components:
            available, live = self.available(last, used), rules.live(solver.inhabited)
            required = rules.required & available
            if required & ~live or rules.high is not None and max(rules.low, count + required.bit_count()) > rules.high:
                return False
            return bool(live & self.keys.many) or count + (available & live).bit_count() >= rules.low
        return solver.can(solver.complete(self.keys, rules, components, self.available(last, used), count))

    # ------------------------------------------------------------------------------------------------ steps
    def asked(self, state, o):
        """What concerns a member with outcome `o`: (rules, the component that asks about it or None, the others); None if dead."""
        found = self.closed(state.rules, state.components, self.skipped(state.last, o))
        if found is None:
            return None
        return found[0], *self.concerned(found[1], o)

    def concerned(self, components, o):
        """The component that asks about outcome `o` (None: none does), and the others."""
        others, asking = [], None
        for c in components:
            mask, _, counts = self.keys.questions(c)
            if mask >> o & 1 or counts:
                asking = c
            else:
                others.append(c)
        return asking, tuple(others)

    def possible(self, state, o):
        """Whether a member with outcome `o` leaves a state that can be finished."""
        asked = self.asked(state, o)
        if asked is None:
            return False
        rules, asking, others = asked
        last, used, count = self.after(state, o)
        solver, keys = self.solver, self.keys
        available = self.available(last, used)
        components = others if asking is None else (*others, asking)
        if keys.counted(rules, components):
            components = (solver.formulas.all_of(components),) if components else ()
            others = ()
        elif rules is state.rules:
            # components that neither the member nor a name left out concerns are as alive as they were
            gone, before = self.skipped(state.last, o), set(state.components)
            others = tuple(c for c in others if c not in before or keys.questions(c)[0] & gone)
            components = others if asking is None else (*others, asking)
        if keys.few >> o & 1:
            # whether the object can be finished with this name in it: what else decides, may be decided first
            return solver.can(solver.complete(keys, rules, components, available | 1 << o, state.count, 1 << o))
        if asking is None:
            if not solver.inhabited(rules.demand(o)):
                return False
            return solver.can(solver.complete(keys, rules, components, available, count))
        return solver.can(solver.find_member(keys, rules, asking, others, o, available, count))

    def moves(self, state, o):
        """The alternatives after a member with outcome `o`: [(value formula of its value, state), ...], all of them alive.

        Their values are disjoint, but where the residual had to be split on another name first: then the states exclude
        each other.
        """
        keys, solver = self.keys, self.solver
        last, used, count = self.after(state, o)
        if not state.components:        # the rules alone decide, as in most objects
            demand = state.rules.demand(o)
            return self.alive([(demand, state.rules, ())], last, used, count) if demand != NOTHING and solver.inhabited(demand) else []
        asked = self.asked(state, o)
        if asked is None:
            return []
        available, todo, ways = self.available(last, used), [asked], []
        while todo:
            rules, asking, others = todo.pop()
            demand = rules.demand(o)
            if asking is None:
                if demand != NOTHING and solver.inhabited(demand):
                    ways.append((demand, rules, others))
                continue
            classes, parts = solver.run(solver.divided(keys, rules, asking, o, available, count))
            for left, values in classes.items():
                after = keys.normal(rules, left, others)
                if after is not None:
                    ways.append((solver.formulas.union(values), *after))
            for part in parts:
                after = keys.normal(rules, part, others)
                if after is not None:
                    todo.append((after[0], *self.concerned(after[1], o)))
        return self.alive(ways, last, used, count)

    def alive(self, ways, last, used, count):
        """The states of those ways that can be finished. Equal states are one way."""
        found, closed = {}, self.keys.few & ~self.available(last, used)
        for value, rules, components in ways:
            if not self.finishable(rules, components, last, used, count):
                continue
            rules = self.keys.forgetting(rules, closed)
            clipped = min(count, self.solver.cap(self.keys, rules, components[0] if components else TRUE))
            state = self.state(rules, components, last, used, clipped)
            found.setdefault(state, []).append(value)
        return [(self.solver.formulas.union(values), state) for state, values in found.items()]

    def may_end(self, state):
        """Whether ``}`` may come now."""
        rules = state.rules
        if rules.required & self.available(state.last, state.used) or state.count < rules.low:
            return False
        return all(map(self.solver.formulas.zero, state.components))

    def ending(self, state):
        """Members that finish the object: ((outcome, value formula), ...) in the order in which they may be written."""
        available = self.available(state.last, state.used)
        members = self.solver.run(self.solver.complete(self.keys, state.rules, state.components, available, state.count))
        return sorted(members, key=lambda member: member[0])


class ArrayState:
    """A residual inside ``[``.

    Attributes
    ----------
    rules, residual
        See `arrays.Items.normal`.
    n : int
        The position, clipped.
    place
        Of `order`.
    seen : frozenset of int
        The items so far, numbers of `values`, as far as it matters which they were.
    beside : bool
        Strings are not among them: whoever reads the text keeps the strings that have come, and lets none come again.
    """

    __slots__ = ("rules", "residual", "n", "place", "seen", "beside", "id")

    def __init__(self, rules, residual, n, place, seen, beside, id):
        self.rules, self.residual, self.n, self.place, self.seen, self.beside, self.id = rules, residual, n, place, seen, beside, id


class Arrays:
    """All states of arrays.

    Parameters
    ----------
    items : Items
    solver : Emptiness
    order : Order or None
    values : Values
    """

    def __init__(self, items, solver, order, values):
        self.items, self.solver, self.order, self.values = items, solver, order, values
        self.distinct = solver.distinct
        self.states, self.made, self.spans, self.aside = [], {}, {}, {}

    def state(self, rules, residual, n, place, seen=frozenset(), beside=False):
        cap = self.items.cap(rules, residual)
        if place is not None:
            cap = max(cap, self.span(place))
        key = rules.id, residual, min(n, cap), place, seen, beside
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = ArrayState(rules, residual, min(n, cap), place, seen, beside, len(self.states))
            self.states.append(found)
        return found

    def watches(self, state):
        """Whether it matters which items come."""
        return self.distinct.watches(state.rules, state.residual)

    def after(self, state, value):
        """The state where the last item was this value (a number of `values`)."""
        if not self.watches(state) or state.beside and isinstance(self.values.trees[value], str):
            return state
        if state.rules.high is not None and state.n >= state.rules.high:
            return state                # no item comes any more
        return self.state(state.rules, state.residual, state.n, state.place, state.seen | {value}, state.beside)

    def may_be_beside(self, formula):
        """Whether the strings among the items of an array need not be among what its states have seen.

        So it is where all items must differ, no string is told from another one, and there are more than any document has.
        """
        found = self.aside.get(formula)
        if found is None:
            rules, residual = self.items.root(formula)
            found = rules.apart and all(self.plenty(rules.demand(cut)) for cut in rules.cuts)
            nodes = self.solver.formulas.nodes
            for atom in self.solver.formulas.support(residual):
                if nodes[atom][0] == "item" and self.string(nodes[atom][3]) > FALSE:
                    found = False
            self.aside[formula] = found
        return found

    def string(self, value):
        fs = self.solver.formulas
        return fs.values[value][STRING]

    def plenty(self, value):
        """Whether a value formula has no strings, or any number and tells none from another by what it says."""
        f, texts = self.string(value), self.solver.texts
        return f == FALSE or not texts.facts((f,))[0] and self.solver.supply.endless_texts(f)

    def span(self, place):
        """From this position on, a place says the same about all items."""
        found = self.spans.get(place)
        if found is None:
            found = self.spans[place] = self.order.reach(place)
        return found

    def start(self, formula, place, beside):
        """The state after ``[`` of an array formula that is inhabited."""
        rules, residual = self.items.root(formula)
        if rules.apart and rules.low > SEEN:
            starts = list(rules.needed(0))
            told = sum(end - start for start, end in zip(starts, [*starts[1:], rules.low])
                       if not beside or self.string(rules.demand(start)) == FALSE)
            if told > SEEN:
                raise LimitError(f"minItems asks for {told:,} different items; the limit is {SEEN:,}, but for strings that no constant tells apart")
        return self.state(rules, residual, 0, place, frozenset(), beside)

    def moves(self, state):
        """The alternatives for the next item: [(value formula, state), ...], all of them alive; none where nothing may follow.

        Where `watches`, the states have yet to be told which value the item had (`after`).
        """
        rules, residual, n, solver, seen = state.rules, state.residual, state.n, self.solver, state.seen
        if rules.high is not None and n >= rules.high:
            return []
        fs, demand, taken = solver.formulas, rules.demand(n), self.values.union(seen)
        if len(seen) >= SEEN:           # a limit: but for strings, no items come any more
            if not self.may_end(state) and (not state.beside or self.string(demand) == FALSE):
                raise LimitError(f"more than {SEEN:,} items that must be told apart, and more must come")
            demand = fs.both(demand, fs.value(string=TRUE)) if state.beside else NOTHING
        if rules.apart:
            demand = fs.both(demand, taken ^ 1)
        if residual == TRUE:
            ways = [(demand, rules, residual)] if demand != NOTHING and solver.inhabited(demand) else []
        else:
            after, tests = self.items.tests(residual, n, taken)
            groups = solver.run(Leaves(fs, after, tests, demand).all())
            ways = []
            for left, values in groups.items():
                found = self.items.normal(rules, left, n + 1)
                if found is not None:
                    ways.append((fs.union(values), *found))
        found = {}
        for value, rules, residual in ways:
            value = solver.found(self.distinct.allowed(value, rules, residual, n + 1, seen), value)
            if value != NOTHING and solver.inhabited(value):
                after = self.state(rules, residual, n + 1, state.place, seen if self.distinct.watches(rules, residual) else frozenset(),
                                   state.beside)
                found.setdefault(after, []).append(value)
        return [(fs.union(values), state) for state, values in found.items()]

    def loose(self, state, moves):
        """What the next item may begin with whatever the item before it was, of which nobody has taken note.

        A set as `Supply.beginnings` gives it; it may leave some out. `moves` are those of the state.
        """
        rules, n, run = state.rules, state.n, self.solver.run
        if not self.watches(state) or len(state.seen) + 1 >= SEEN:
            return 0
        if rules.apart and moves and state.residual == TRUE and all([run(self.solver.supply.endless(rules.demand(s), LEVELS)) for s in rules.needed(n)]):
            values = [rules.demand(n)]
        else:                           # the array may end behind the next item
            values = [value for value, after in moves if self.may_end(after)]
        found = 0
        for value in values:
            found |= run(self.solver.supply.beginnings(value))
        return found

    def run(self, state):
        """How many items may come without a change in what may follow; None: any number.

        Only where the rules alone decide. A state that can be finished stays so while its items are of one kind, and the same
        may follow each of them until the number of items meets a bound or a position where the demands or the order change.
        """
        if state.residual != TRUE or state.rules.apart and (
                not state.beside or state.n < state.rules.low and self.string(state.rules.demand(state.n)) == FALSE):
            return 0
        rules, n = state.rules, state.n
        changes = [c for c in (*rules.cuts, rules.low, rules.high) if c is not None and c > n]
        if state.place is not None and self.span(state.place) > n:
            changes.append(n + 1)
        return min(changes) - 1 - n if changes else None

    def later(self, state, items):
        """The state after so many more items, at most `run`."""
        if not items:
            return state
        return self.state(state.rules, state.residual, state.n + items, state.place, state.seen, state.beside)

    def may_end(self, state):
        """Whether ``]`` may come now."""
        return state.n >= state.rules.low and self.solver.formulas.zero(state.residual)

    def ending(self, state, strings):
        """Items that finish the array, as `Emptiness.complete_items` gives them; none of the `strings` (None: not known) where they are
        kept beside."""
        if strings is None and not self.may_end(state):
            raise UnclearError("which strings are free to end the array is not known")
        seen = state.seen.union(map(self.values.string, strings or ())) if state.beside else state.seen
        return self.solver.run(self.solver.complete_items(state.rules, state.residual, state.n, seen))
