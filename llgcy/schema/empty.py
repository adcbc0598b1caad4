"""Whether any value satisfies a value formula: a witness, a proof that there is none, or `LimitError`.

The least fixpoint of the questions, depth first: a question met inside itself counts as "none", and an answer "none" that
leaned on a question still open is not kept. So ``{required: [a], properties: {a: {$ref: "#"}}}`` is proved empty, and
recursion through members or items is no difficulty.

Questions are coroutines on one explicit stack, so that depth costs memory, not stack frames. A coroutine yields what it
wants to know: a value formula (answered True or False), or a tuple (key, method, arguments), answered by what the method
returns, None for "none". What made an answer positive is kept as a *recipe*. A recipe leans on earlier recipes only, so
a value can be built from it.
"""
from llgcy.errors import LimitError
from llgcy.schema.derive import TESTS, Busy, Leaves, is_plain
from llgcy.schema.formula import ANYTHING, ARRAY, FALSE, NOTHING, OBJECT, TRUE
from llgcy.schema.objects import Keys, bits
from llgcy.schema.supply import Supply
from llgcy.schema.unique import Distinct

#: Decisions about the value of one name, in all and for each test, before the residual is split on another name.
PATIENCE, PATIENCE_EACH = 32, 4

#: Cases of the counts of one array that are looked through for the shortest way before a plain one is tried.
CASES = 64
#: Outcomes of which it is asked whether they have a value that settles parts of a component.
TRIES = 4

_KINDS = {"object": OBJECT, "array": ARRAY}     # of questions that name a formula of the schema
_UNKNOWN = object()
_NEVER = 1 << 60


class Emptiness:
    """Answers questions about one schema's formulas, and remembers.

    Parameters
    ----------
    formulas : Formulas
    texts : Texts
    items : Items
    lexeme : callable
        ``lexeme((number formula,))``: the `NumberLexeme` in the spelling asked for.
    values : Values
    places : Places
    """

    #: Steps that one question may take.
    FUEL = 200_000

    def __init__(self, formulas, texts, items, lexeme, values, places):
        self.formulas, self.texts, self.items, self.lexeme, self.places = formulas, texts, items, lexeme, places
        self.known = {}                 # answer by question
        self.recipes = {}               # by value formula
        self.keys = {}                  # Keys without an order, by object formula
        self.supply = Supply(self, values)
        self.distinct = Distinct(self, values)
        self.fuel = self.FUEL

    # ------------------------------------------------------------------------------------------------ the driver
    def quick(self, v):
        """Whether a value formula is inhabited where its form shows it, else None."""
        literals, number, string, object, array = self.formulas.values[v]
        if literals or number == TRUE or string == TRUE:
            return True
        zero = self.formulas.zero
        if zero(object) or zero(array):
            return True                 # {} or []
        return False if v == NOTHING else None

    def inhabited(self, v):
        """Whether any value satisfies the value formula `v`.

        Raises
        ------
        LimitError
            Neither a witness nor a proof within `Emptiness.FUEL` steps.
        """
        answer = self.quick(v)
        if answer is None:
            answer = self.known.get(v)
            if answer is None:
                answer = self.run(v)
        return answer

    def burn(self, steps=1):
        """Counts work."""
        self.fuel -= steps
        if self.fuel < 0:
            raise LimitError(f"whether some value is valid takes more than {self.FUEL} steps to decide")

    def run(self, question):
        """The answer to a question, or the value of a coroutine that asks some."""
        known = self.known
        if question.__class__ is tuple and question[0] in known:
            return known[question[0]]
        self.fuel, keys = self.FUEL, []
        try:
            return self.search(question, keys)
        except LimitError as e:
            raise self.places.located(e, self.questions(keys)) from None

    def search(self, question, keys):
        """The answer to a question that is not known. `keys` holds those of the questions that are open, the outermost first."""
        known, stack, lows, active = self.known, [], [], {}
        key, coroutine = self.opened(question)
        stack.append(coroutine)
        keys.append(key)
        lows.append(_NEVER)
        active[key] = 0
        send = None
        while True:
            try:
                asked = stack[-1].send(send)
            except StopIteration as stop:
                answer, depth = stop.value, len(stack) - 1
                stack.pop()
                key, low = keys.pop(), lows.pop()
                del active[key]
                positive = answer is not None and answer is not False
                if positive or low >= depth:
                    if key is not None:
                        known[key] = answer
                elif stack and low < lows[-1]:
                    lows[-1] = low
                if not stack:
                    return answer
                send = answer
                continue
            if asked.__class__ is int:
                send = self.quick(asked)
                if send is not None:
                    continue
                key, nothing = asked, False
            else:
                key, nothing = asked[0], None
            send = known.get(key, _UNKNOWN)
            if send is not _UNKNOWN:
                continue
            depth = active.get(key)
            if depth is not None:
                if depth < lows[-1]:
                    lows[-1] = depth
                send = nothing
                continue
            self.burn()
            key, coroutine = self.opened(asked)
            active[key] = len(stack)
            stack.append(coroutine)
            keys.append(key)
            lows.append(_NEVER)
            send = None

    @staticmethod
    def questions(keys):
        """The questions that are open, the innermost first, as `Places` knows them."""
        for key in reversed(keys):
            if key.__class__ is int:
                yield key
            elif key is not None and key[0] in _KINDS:
                yield _KINDS[key[0]], key[1:]

    def opened(self, question):
        if question.__class__ is int:
            return question, self.find(question)
        if question.__class__ is tuple:
            key, method, arguments = question
            return key, method(*arguments)
        return None, question

    def can(self, question):
        """Whether a coroutine finds anything."""
        return self.run(question) is not None

    def found(self, question, most):
        """What a question finds; `most` is what may be taken for it where it is too hard (see `Hopeful`)."""
        return self.run(question)

    # ------------------------------------------------------------------------------------------------ values
    def find(self, v):
        """Coroutine: whether `v` is inhabited; its recipe is kept."""
        fs = self.formulas
        literals, number, string, object, array = fs.values[v]
        recipe = None
        if number != FALSE and self.some_number(number):
            recipe = ("number", number)
        elif literals:
            recipe = ("literal", literals)
        elif fs.zero(array):
            recipe = ("array", ())
        elif fs.zero(object):
            recipe = ("object", None, ())
        elif self.texts.inhabited(string):
            recipe = ("string", string)
        else:
            if array != FALSE:
                found = yield self.array(array)
                if found is not None:
                    recipe = ("array", found)
            if recipe is None and object != FALSE:
                found = yield self.object(object)
                if found is not None:
                    recipe = ("object", self.keys.get(object), found)
        if recipe is None:
            return False
        self.recipes[v] = recipe
        return True

    def recipe(self, v):
        """How to build a value of `v`, which is inhabited.

        ``("literal", literals)``, ``("number", formula)``, ``("string", formula)``, ``("array", value formulas)``, or
        ``("object", keys, ((outcome, value formula), ...))``; where keys is None, names stand for outcomes.
        """
        if v not in self.recipes:
            v = self.formulas.aliases.get(v, v)
        if v not in self.recipes:
            self.known.pop(v, None)     # known by its form alone
            fuel = self.fuel            # the question that asks for it may be under way
            self.run(v)
            self.fuel = fuel
        return self.recipes[v]

    def some_number(self, number):
        """Whether any number satisfies a number formula, in the spelling asked for."""
        if number <= FALSE:
            return number == TRUE
        key = "number", number
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = self.plainly_some(number) or not self.lexeme((number,)).empty
        return found

    def plainly_some(self, number):
        """Whether small bounds on one side, or with an integer between them, are all that a number formula says."""
        low = high = None
        for unit in self.formulas.units(number):
            content = self.formulas.nodes[unit >> 1]
            op = content[0]
            if op == "int" or op == "digits":
                if unit & 1:
                    return False
                continue
            if op == "value" and not unit & 1:
                return any(abs(q.e) < 15 and q.order < 15 for q in content[1])      # the only part, if there is one
            if op != "ge" and op != "gt" or content[1].order > 15 or content[1].e < -15:
                return False
            bound = content[1].c * 10.0 ** content[1].e
            bound = -bound if content[1].negative else bound
            if unit & 1:
                high = bound if high is None else min(high, bound)
            else:
                low = bound if low is None else max(low, bound)
        return low is None or high is None or high - low > 2

    # ------------------------------------------------------------------------------------------------ objects
    def object(self, formula):
        """The question whether an object formula is inhabited."""
        return ("object", formula), self.find_object, (formula,)

    def find_object(self, formula):
        """Coroutine: members of an object that satisfies the formula, or None."""
        demands = self.plain_demands(formula)
        if demands is not None:
            for _, value in demands:
                if not (yield value):
                    return None
            return demands
        keys = self.keys.get(formula)
        if keys is None:
            keys = self.keys[formula] = Keys(self.texts, (formula,), (), self.quick)
        found = keys.root(formula)
        if found is None:
            return None
        return (yield from self.complete(keys, *found, keys.few, 0))

    def plain_demands(self, formula):
        """The required names with what their values must satisfy, where a formula has nothing but such names and demands
        on members: then it is inhabited where they are. Else None."""
        fs, required, own, general = self.formulas, {}, {}, []
        for unit in fs.units(formula):
            content = fs.nodes[unit >> 1]
            if content[0] != "some":
                return None
            name = fs.single.get(content[1])
            if not unit & 1:
                if name is None or content[2] != ANYTHING:
                    return None
                required[name] = None
            elif name is None:
                general.append(content)
            else:
                own.setdefault(name, []).append(content[2] ^ 1)
        demands = []
        for name in required:
            value = ANYTHING
            for v in own.get(name, ()):
                value = fs.both(value, v)
            for _, keys, v in general:
                if fs.holds_text(keys, name):
                    value = fs.both(value, v ^ 1)
            demands.append((name, value))
        return tuple(demands)

    def complete(self, keys, rules, components, available, count, wanted=0):
        """Coroutine: members ((outcome, value formula), ...) that finish an object, or None.

        Parameters
        ----------
        rules, components
            The residual, as `Keys.normal` gives it.
        available : int
            Set of the names that may still come.
        count : int
            Members so far.
        wanted : int
            Set of names that must come beside those that the rules require.
        """
        if keys.counted(rules, components):
            residual = components[0] if components else TRUE
            cap = self.cap(keys, rules, residual)
            count = min(count, cap)
            return (yield (("count", keys, rules.id, residual, available, count, wanted), self.find_counted,
                           (keys, rules, residual, available, count, wanted)))
        required, found, touched = (rules.required | wanted) & available, (), 0
        for component in components:
            mask = keys.questions(component)[0]
            touched |= mask
            mask &= available
            if self.formulas.zero(component) and not required & mask:
                continue
            part = yield self.component(keys, rules, component, mask, wanted)
            if part is None:
                return None
            found += part
        rest = required & ~touched
        for o in bits(rest & ~rules.proved):
            if not (yield rules.demand(o)):
                return None
            rules.proved |= 1 << o      # False would have been final; True always is
        found += tuple((o, rules.demand(o)) for o in bits(rest))
        if rules.low:
            missing = rules.low - count - len(found)
            if missing > 0:
                o = next(bits(rules.free & ~touched))
                found += ((o, rules.demand(o)),) * missing
        return found

    def component(self, keys, rules, component, available, wanted):
        """The question whether members satisfy one component; names outside of `available` do not come."""
        required = (rules.required | wanted) & available
        asked = keys.questions(component)[0] & (available | keys.many)
        if asked.bit_count() > 16:
            what = rules.id
        else:       # other components change the rules too, but not what is demanded here
            what = tuple([rules.demand(o) for o in bits(asked)])
        key = "component", keys, what, component, available, required
        return key, self.find_component, (keys, rules, component, available, required)

    def find_component(self, keys, rules, component, available, required):
        """Coroutine: decides name after name, those that are required and those with most questions first; then classes."""
        fs = self.formulas
        if not required and fs.zero(component):
            return ()
        asked = keys.questions(component)[1]
        settling = yield self.settling(keys, rules, component, available)
        if settling:
            o, value, rest = settling
            found = yield from self.onward(keys, rules, rest, available & ~(1 << o), required & ~(1 << o))
            return None if found is None else ((o, value), *found)
        names = [o for o in asked if available >> o & 1]
        if names:
            o = self.easiest(keys, component, names, required)
            bit = 1 << o
            if not required & bit:
                found = yield from self.onward(keys, rules, keys.without(component, bit), available & ~bit, required)
                if found is not None:
                    return found
            residual, tests = keys.tests(component, o)
            leaves = Leaves(fs, residual, tests, rules.demand(o))
            while True:
                leaf = yield from leaves.next()
                if leaf is None:
                    return None
                self.burn()
                found = yield from self.onward(keys, rules, leaf[1], available & ~bit, required & ~bit)
                if found is not None:
                    return ((o, leaf[0]), *found)
        for o in asked:
            if not keys.many >> o & 1:
                continue
            residual, tests = keys.tests(component, o)
            leaves = Leaves(fs, residual, tests, rules.demand(o))
            while True:
                leaf = yield from leaves.next()
                if leaf is None:
                    break
                self.burn()
                if leaf[1] == component:
                    continue
                found = yield from self.onward(keys, rules, leaf[1], available, required)
                if found is not None:
                    return ((o, leaf[0]), *found)
        return None

    def settling(self, keys, rules, component, available):
        """The question for one member that makes parts of a component true, whatever other members come, and no other part asks about.

        The answer is (outcome, value formula, the other parts), or None where a look at a few outcomes finds none. What an object
        must differ from is such parts, most often all of them.
        """
        available &= keys.questions(component)[0]
        return ("settling", keys, rules.id, component, available), self.find_settling, (keys, rules, component, available)

    def find_settling(self, keys, rules, component, available):
        """Coroutine: see `settling`. The classes first, then the last names, so that most others can come before."""
        fs, nodes, asked = self.formulas, self.formulas.nodes, keys.questions(component)[1]
        units, tries = fs.units(component), TRIES
        for o in sorted(asked, reverse=True):
            if not (available | keys.many) >> o & 1:
                continue
            true = frozenset(2 * atom + 1 for atom in asked[o])
            rest = [u for u in units if not u & 1 or nodes[u >> 1][0] != "and" or true.isdisjoint(nodes[u >> 1][1])]
            if len(rest) == len(units) or any(keys.questions(u)[0] >> o & 1 for u in rest):
                continue
            value = rules.demand(o)
            for v in {nodes[atom][2] for atom in asked[o]}:
                value = fs.both(value, v)
            if value != NOTHING and (yield value):
                return o, value, fs.all_of(rest)
            tries -= 1
            if not tries:
                break
        return None

    def easiest(self, keys, component, names, required):
        """Which name to decide first: one that is required and asked most about, but last of all those with hard tests."""
        fs, asked = self.formulas, keys.questions(component)[1]

        names = sorted(names, key=lambda o: (not required >> o & 1, -len(asked[o]), o))
        for o in names:
            if len(asked[o]) <= TESTS or sum(not is_plain(fs, fs.nodes[a][2]) for a in asked[o]) <= TESTS:
                return o
        return names[0]

    def divided(self, keys, rules, component, outcome, available, count):
        """Coroutine: the classes of a member's value, {residual: value formulas}, and formulas to be asked instead (see `split`).

        One of the two is empty.
        """
        leaves = self.leaves(keys, rules, component, outcome, count)
        if not leaves.hard():
            try:
                return (yield from leaves.all(PATIENCE + PATIENCE_EACH * leaves.tests)), ()
            except Busy:
                pass
        parts = yield from self.split(keys, rules, component, outcome, available)
        if parts is not None:
            return {}, parts
        return (yield from self.leaves(keys, rules, component, outcome, count).all()), ()

    def split(self, keys, rules, component, outcome, available):
        """Coroutine: formulas that exclude each other and together say `component`, by what another name will be; or None.

        The name is the one that leaves the fewest tests on the value of `outcome`. Classes of its values that leave the same
        tests stay together, so values that do not matter cost nothing; its absence is one more.
        """
        fs, asked, best = self.formulas, keys.questions(component)[1], None
        many = len(asked.get(outcome, ()))
        names = [o for o in asked if available >> o & 1 and o != outcome]
        for o in sorted(names, key=lambda o: (-len(asked[o]), o))[:4]:
            leaves = self.leaves(keys, rules, component, o, 0)
            if leaves.hard():
                continue
            try:
                groups = yield from leaves.all(PATIENCE + PATIENCE_EACH * leaves.tests)
            except Busy:
                continue
            alike = {}
            for left, values in groups.items():
                atoms = fs.support(left)
                alike.setdefault(frozenset(a for a in asked[outcome] if a in atoms), []).extend(values)
            absent = FALSE if rules.required >> o & 1 else keys.without(component, 1 << o)
            left = [len(atoms) for atoms in alike]
            if absent != FALSE:
                left.append(sum(a in fs.support(absent) for a in asked[outcome]))
            cost = max(left, default=0), sum(left)
            if cost[0] < many and (best is None or cost < best[0]):
                best = cost, o, list(alike.values()), absent
            if cost[0] <= 2:
                break
        if best is None:
            return None
        _, o, unions, absent = best
        key = fs.names((keys.names[o - 1],))
        parts = []
        for values in unions:
            parts.append((yield from self.coming(keys, component, o, key, fs.union(values))))
        if absent != FALSE:
            parts.append(fs.all_of((absent, fs.some(key, ANYTHING) ^ 1)))
        return [p for p in parts if p != FALSE]

    def coming(self, keys, component, outcome, key, value):
        """Coroutine: the formula where a name comes with a value in `value`."""
        fs, truths = self.formulas, {}
        for atom in keys.questions(component)[1][outcome]:
            _, asked, wanted = fs.nodes[atom]
            if not (yield fs.both(value, wanted ^ 1)):
                truths[atom] = TRUE
            elif asked == key and not (yield fs.both(value, wanted)):
                truths[atom] = FALSE
        return fs.all_of((fs.assign(component, truths), fs.some(key, ANYTHING), fs.some(key, value ^ 1) ^ 1))

    def leaves(self, keys, rules, component, outcome, count):
        """The classes of the value of a member, which is the `count`-th."""
        residual, tests = keys.tests(component, outcome)
        return Leaves(self.formulas, self.counted_on(keys, residual, count), tests, rules.demand(outcome))

    def find_member(self, keys, rules, component, others, outcome, available, count):
        """Coroutine: members that come after such a member, or None."""
        leaves = self.leaves(keys, rules, component, outcome, count)
        while True:
            leaf = yield from leaves.next()
            if leaf is None:
                return None
            after = keys.normal(rules, leaf[1], others)
            if after is not None:
                found = yield from self.complete(keys, *after, available, count)
                if found is not None:
                    return found

    def onward(self, keys, rules, residual, available, wanted):
        """Coroutine: `complete` for what a component became."""
        found = keys.normal(rules, residual)
        if found is None:
            return None
        # whoever completes the whole object adds the members that only the bounds ask for
        return (yield from self.complete(keys, *found, available, rules.low, wanted))

    # where the number of members decides
    def cap(self, keys, rules, residual):
        """From this number of members on, numbers are alike."""
        counts = [self.formulas.nodes[a][1] for a in keys.questions(residual)[2]]
        return max([rules.low, 0 if rules.high is None else rules.high + 1, *counts])

    def find_counted(self, keys, rules, residual, available, count, wanted):
        """Coroutine: as `complete`, with one component and a count that matters."""
        fs = self.formulas
        touched, asked, counts = keys.questions(residual)
        required = (rules.required | wanted) & available
        least = count + required.bit_count()
        if rules.high is not None and least > rules.high:
            return None
        if not required & touched:
            found = yield from self.filled(keys, rules, residual, available, count, required)
            if found is not None:
                return found
        names = [o for o in asked if available >> o & 1]
        if names:
            o = self.easiest(keys, residual, names, required)
            bit = 1 << o
            if not required & bit:
                found = yield from self.onward_counted(keys, rules, keys.without(residual, bit), available & ~bit, count, wanted)
                if found is not None:
                    return found
            outcomes = [o]
        else:
            bit = 0
            outcomes = [o for o in asked if keys.many >> o & 1]
        if rules.high is not None and count >= rules.high:
            return None
        cap = self.cap(keys, rules, residual)
        for o in outcomes:
            after, tests = keys.tests(residual, o)
            after = self.counted_on(keys, after, count + 1)
            leaves = Leaves(fs, after, tests, rules.demand(o))
            while True:
                leaf = yield from leaves.next()
                if leaf is None:
                    break
                self.burn()
                if not bit and leaf[1] == residual and count >= cap:
                    continue
                found = yield from self.onward_counted(keys, rules, leaf[1], available & ~bit, count + 1, wanted & ~bit)
                if found is not None:
                    return ((o, leaf[0]), *found)
        return None

    def counted_on(self, keys, residual, count):
        """The formula once there are `count` members."""
        nodes = self.formulas.nodes
        truths = {a: TRUE for a in keys.questions(residual)[2] if nodes[a][1] <= count}
        return self.formulas.assign(residual, truths) if truths else residual

    def onward_counted(self, keys, rules, residual, available, count, wanted):
        found = keys.normal(rules, residual)
        if found is None:
            return None
        return (yield from self.complete(keys, *found, available, count, wanted))

    def filled(self, keys, rules, residual, available, count, required):
        """Coroutine: the object is finished by required names and members that nothing asks about."""
        fs = self.formulas
        touched, _, counts = keys.questions(residual)
        left = fs.assign(residual, {a: FALSE for a in fs.support(residual) if a not in counts})
        if left == FALSE:
            return None
        least = count + required.bit_count()
        goal = None
        for n in sorted({max(least, rules.low), *[fs.nodes[a][1] for a in counts]}):
            if n < max(least, rules.low) or rules.high is not None and n > rules.high:
                continue
            if fs.zero(fs.assign(left, {a: TRUE for a in counts if fs.nodes[a][1] <= n})):
                goal = n
                break
        if goal is None:
            return None
        found = []
        for o in bits(required):
            if not (yield rules.demand(o)):
                return None
            found.append((o, rules.demand(o)))
        missing = goal - least
        for o in bits((available | keys.many) & ~required & ~touched):
            if missing <= 0:
                break
            demand = rules.demand(o)
            if demand == ANYTHING or (yield demand):
                copies = missing if keys.many >> o & 1 else 1
                found += [(o, demand)] * copies
                missing -= copies
        return tuple(found) if missing <= 0 else None

    # ------------------------------------------------------------------------------------------------ arrays
    def array(self, formula):
        """The question whether an array formula is inhabited."""
        return ("array", formula), self.find_array, (formula,)

    def find_array(self, formula):
        """Coroutine: value formulas of the items of an array that satisfies the formula, or None."""
        found = self.items.root(formula)
        if found is None:
            return None
        return (yield from self.complete_items(*found, 0))

    def complete_items(self, rules, residual, n, seen=frozenset()):
        """Coroutine: items that finish an array of which `n` are read, or None: pairs (value formula, how many), or an `Apart`.

        `seen` are the items so far, where it matters which they were (see `Distinct.watches`).
        """
        if self.distinct.watches(rules, residual):
            return (yield from self.distinct.complete(rules, residual, n, seen))
        if residual == TRUE:
            return (yield from self.plain_items(rules, n))
        return (yield (("items", rules.id, residual, n), self.find_items, (rules, residual, n)))

    def plain_items(self, rules, n):
        """Coroutine: the items that bounds ask for."""
        if rules.high is not None and max(n, rules.low) > rules.high:
            return None
        found = []
        starts = list(rules.needed(n))
        for start, end in zip(starts, [*starts[1:], rules.low]):
            demand = rules.demand(start)
            if not (yield demand):
                return None
            found.append((demand, end - max(start, n)))
        return tuple(found)

    def many_items(self, rules, residual, n):
        """Coroutine: items for large counts, where as many equal ones as are asked for are enough; None where this finds none."""
        fs = self.formulas
        atoms = {a: fs.nodes[a] for a in fs.support(residual)}
        wanted = {u >> 1: fs.nodes[u >> 1] for u in fs.units(residual) if not u & 1 and fs.nodes[u >> 1][0] == "item"}
        if not wanted or n < rules.cuts[-1] or any(c[0] != "item" or c[1] > n or c[2] is not None for c in atoms.values()):
            return None
        if not fs.zero(fs.assign(residual, dict.fromkeys(wanted, TRUE))):
            return None
        for groups in ([list(wanted)], [[a] for a in wanted]):      # one value for all counts, or one for each
            found, total = [], sum(max(wanted[a][4] for a in group) for group in groups)
            for group in groups:
                value, copies, asked = rules.demand(n), max(wanted[a][4] for a in group), {wanted[a][3] for a in group}
                for a, content in atoms.items():
                    if a in group:
                        value = fs.both(value, content[3])
                    elif content[3] not in asked or content[4] <= copies:       # else it counts these alone, and they are too few
                        value = fs.both(value, content[3] ^ 1)
                if value == NOTHING or not (yield value):
                    break
                found.append((value, copies))
            else:
                if n + total >= rules.low and (rules.high is None or n + total <= rules.high):
                    return tuple(found)
        return None

    def find_items(self, rules, residual, n):
        """Coroutine: breadth first over (residual, position), so the shortest array comes first."""
        fs, items, cases = self.formulas, self.items, 1
        for unit in fs.units(residual):
            content = fs.nodes[unit >> 1]
            if not unit & 1 and content[0] == "item" and rules.high is not None and content[4] > rules.high - n:
                return None
        for atom in fs.support(residual):
            cases *= 1 + fs.nodes[atom][4] if fs.nodes[atom][0] == "item" else 1
        if cases > CASES:
            found = yield from self.many_items(rules, residual, n)
            if found is not None:
                return found
            if cases > self.FUEL:
                raise LimitError(f"{cases:,} cases of counts by contains in one array; the limit is {self.FUEL:,}")
        start = rules, residual, n
        seen, queue = {(rules.id, residual, n)}, [(start, None)]
        for (rules, residual, n), path in queue:        # grows on the way
            self.burn()
            if residual == TRUE or fs.zero(residual) and n >= rules.low:
                rest = yield from self.plain_items(rules, n)
                if rest is not None:
                    return (*unwound(path), *rest)
                if residual == TRUE:
                    continue
            if rules.high is not None and n >= rules.high:
                continue
            after, tests = items.tests(residual, n)
            leaves = Leaves(fs, after, tests, rules.demand(n))
            while True:
                leaf = yield from leaves.next()
                if leaf is None:
                    break
                value, left = leaf
                found = items.normal(rules, left, n + 1)
                if found is None:
                    continue
                after_rules, left = found
                m = min(n + 1, items.cap(after_rules, left))
                key = after_rules.id, left, m
                if key not in seen:
                    seen.add(key)
                    queue.append(((after_rules, left, m), (path, value)))
        return None


def unwound(path):
    """The values on a path ((..., value), value), first one first, each once."""
    found = []
    while path is not None:
        path, value = path
        found.append((value, 1))
    found.reverse()
    return tuple(found)
