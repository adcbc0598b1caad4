"""Objects: the classes of keys, and what a formula demands of the members.

`Keys` divides all texts into *outcomes*: each name that matters is one, and all other texts fall into classes, by the
patterns and lengths that they satisfy. A set of outcomes is an int with bit o for outcome o; outcome 0 is not used.

A residual is split into what no member changes, and the rest:

* `Rules` hold the demands NOT some(K, V) on the values of keys, the names that are required, and the bounds on the number of
  members. They are guards, which the side state decides, not state.
* *Components* are the other conjuncts, in groups that share no name. A member touches one of them at most.
"""
from llgcy.errors import LimitError
from llgcy.schema.derive import Test, bits
from llgcy.schema.formula import ANYTHING, FALSE, NOTHING, TRUE
from llgcy.schema.strings import Outcomes, StringSpec, fresh_word

#: Texts of a class of keys that are written out as names.
WRITTEN_OUT = 64
#: As many at most, where a class must have a member, or bounds on the number of members ask for more.
NAMES = 10_000


class Keys:
    """All keys of one kind of object, divided.

    Parameters
    ----------
    texts : Texts
    roots : tuple of int
        The object formulas that must be told apart.
    ordered : tuple of str
        Names that come first, in this order: outcomes 1 to m.
    quick : callable
        Whether a value formula is inhabited, where that is plain to see; else None.

    Attributes
    ----------
    roots : tuple of int
    names : list of str
        Outcome o is names[o - 1].
    ordered : int
        m, the number of names with a place in the order.
    few, many : int
        Sets of outcomes: the names, and the classes.
    examples : dict
        A text of each class.
    spec : StringSpec
    """

    def __init__(self, texts, roots, ordered, quick):
        self.texts, self.formulas, self.roots, self.quick = texts, texts.formulas, roots, quick
        fs = self.formulas
        names = dict.fromkeys(ordered)
        self.ordered = len(names)
        tests = {}
        for root in roots:
            for atom in sorted(fs.support(root)):
                content = fs.nodes[atom]
                if content[0] == "some":
                    name = fs.single.get(content[1])
                    if name is None:
                        tests[content[1]] = None
                    else:
                        names[name] = None
        words, lengths, terms = texts.facts(tests)
        names.update(words)
        most, wanted = WRITTEN_OUT, ()
        if terms:
            counts = [fs.nodes[a][1] for root in roots for a in fs.support(root) if fs.nodes[a][0] == "count"]
            most = max([most, *counts])
            if most > NAMES:
                raise LimitError(f"a number of members beyond {NAMES} beside patternProperties or propertyNames")
            wanted = {fs.nodes[a][1] for root in roots for a in fs.positive(root) if fs.nodes[a][0] == "some"}
        self.classes(tuple(tests), names, lengths, terms, most, wanted)
        self.names = list(names)
        self.numbers = {name: o for o, name in enumerate(self.names, 1)}
        self.few = (1 << len(self.names) + 1) - 2
        self.divide()
        self.masks = {}                 # set of outcomes by string formula
        self.asked = {}                 # by component: what it asks about each outcome
        self.alone = {}                 # by component: (set of one outcome, atom) of the atoms that ask about one name
        self.rules = {}                 # Rules by the formula that they stand for
        self.split = {}                 # see `parts`

    def classes(self, tests, names, lengths, terms, most, wanted):
        """Finds the classes of texts that are no names. Classes of few texts become names, so that it is known when they are used
        up. For the others it does not matter: with more than `most` texts used no number of members is left to reach, and no
        text uses up more than `NAMES` of a class of which a member is `wanted` (key sets). That last one is a limit."""
        texts = self.texts
        found = {}                      # truths of the tests: [(low, high, bits, term or None)]
        for low, high in texts.windows(lengths):
            if high == 0:
                # the only text of this length
                names.setdefault("")
                continue
            for combination, truths in texts.classes(tests, low, terms):
                found.setdefault(tuple(truths), []).append((low, high, combination))
        if terms:
            regexes, merged = texts.regexes, {}
            for truths, cells in found.items():
                parts = [self.cell(terms, *cell) for cell in cells]
                term = texts.minus(regexes.either(parts), names)
                if not regexes.alive(term):
                    continue
                words = texts.few_words(term, NAMES if any(t == TRUE and f in wanted for f, t in zip(tests, truths)) else most)
                if words is None:
                    merged[truths] = cells, texts.text_of(regexes.shortest(term))
                else:
                    names.update(dict.fromkeys(words))
            found = merged
        else:
            found = {truths: (cells, None) for truths, cells in found.items()}
        self.sets, self.found, self.terms = tests, found, terms

    def cell(self, terms, low, high, combination):
        """The texts of a window that just these patterns accept, as a term."""
        regexes = self.texts.regexes
        parts = [t if combination >> i & 1 else regexes.complement(t) for i, t in enumerate(terms)]
        if low or high is not None:
            parts.append(regexes.repeat(regexes.any, low, high))
        return regexes.both(parts)

    def divide(self):
        """Numbers the classes and makes the lexeme."""
        windows, self.examples, self.truths, self.many = {}, {}, {}, 0
        o = len(self.names)
        for truths, (cells, example) in self.found.items():
            o += 1
            self.many |= 1 << o
            self.truths[o] = dict(zip(self.sets, truths))
            if example is None:
                example = fresh_word(max(1, cells[0][0]), self.numbers)
            self.examples[o] = example
            for low, high, combination in cells:
                windows.setdefault((low, high), Outcomes())[combination] = o
        self.outcomes = o
        names = tuple((name, i) for i, name in enumerate(self.names, 1))
        ordered = sorted(windows.items())
        self.spec = StringSpec(names, self.terms if windows else (), tuple((low, high, t) for (low, high), t in ordered))
        del self.found

    def example(self, outcome, used=frozenset()):
        """A text of an outcome that is not used; None where all are."""
        if outcome <= len(self.names):
            return self.names[outcome - 1]
        if outcome in self.examples and self.examples[outcome] not in used:
            return self.examples[outcome]
        return self.texts.witness(self.formula(outcome), used | set(self.names))

    def several(self, outcome, copies, used):
        """As many texts of an outcome that are not used; fewer where there are no more."""
        if copies == 1 or outcome <= len(self.names):
            name = self.example(outcome, used)
            return [] if name is None else [name]
        taken = used.union(self.names)
        found = self.texts.several(self.formula(outcome), copies + len(taken))
        return [text for text in found if text not in taken][:copies]

    def formula(self, outcome):
        """The string formula of a class of keys, names aside."""
        return self.formulas.all_of([test if truth == TRUE else test ^ 1 for test, truth in self.truths[outcome].items()])

    def mask(self, keys):
        """The outcomes whose texts are in a string formula."""
        found = self.masks.get(keys)
        if found is None:
            fs, name = self.formulas, self.formulas.single.get(keys)
            if name is not None:
                found = 1 << self.numbers[name]
            else:
                found = 0
                holds = fs.holds_text
                for o, word in enumerate(self.names, 1):
                    if holds(keys, word):
                        found |= 1 << o
                for o, truths in self.truths.items():
                    if truths[keys] == TRUE if keys in truths else keys == TRUE:
                        found |= 1 << o
            self.masks[keys] = found
        return found

    # ------------------------------------------------------------------------------------------------ components
    def questions(self, component):
        """What a component asks: (set of outcomes it asks about, {outcome: atoms}, its atoms count(n))."""
        found = self.asked.get(component)
        if found is None:
            fs = self.formulas
            touched, by, counts = 0, {}, []
            for atom in sorted(fs.support(component)):
                content = fs.nodes[atom]
                if content[0] == "count":
                    counts.append(atom)
                    continue
                mask = self.mask(content[1])
                touched |= mask
                for o in bits(mask):
                    by.setdefault(o, []).append(atom)
            found = self.asked[component] = touched, by, counts
        return found

    def tests(self, component, outcome):
        """What a component asks about the value of a member: (component with the facts that any value shows, tests)."""
        fs, certain, tests = self.formulas, {}, {}
        for atom in self.questions(component)[1].get(outcome, ()):
            _, keys, value = fs.nodes[atom]
            if value == ANYTHING:
                certain[atom] = TRUE
                continue
            test = tests.get(value)
            if test is None:
                test = tests[value] = Test(value)
            test.yes[atom] = TRUE
            if keys in fs.single:
                test.no[atom] = FALSE
        if certain:
            component = fs.assign(component, certain)
        return component, list(tests.values())

    def without(self, component, outcomes):
        """The component where these names do not come any more."""
        fs = self.formulas
        alone = self.alone.get(component)
        if alone is None:
            alone = self.alone[component] = [(self.mask(fs.nodes[atom][1]), atom) for atom in fs.support(component)
                                             if fs.nodes[atom][0] == "some" and fs.nodes[atom][1] in fs.single]
        truths = {atom: FALSE for mask, atom in alone if mask & outcomes}
        return fs.assign(component, truths) if truths else component

    def parts(self, residual):
        """Splits a formula: (units that are rules, components). Components touch no name in common."""
        found = self.split.get(residual)
        if found is None:
            found = self.split[residual] = self.find_parts(residual)
        return found

    def find_parts(self, residual):
        fs, rules, rest = self.formulas, [], []
        for unit in fs.units(residual):
            content = fs.nodes[unit >> 1]
            if content[0] == "count" or content[0] == "some" and (unit & 1 or content[2] == ANYTHING and content[1] in fs.single):
                rules.append(unit)
            else:
                rest.append(unit)
        if len(rest) < 2:
            return tuple(rules), tuple(rest)
        groups = []                     # [touched, units]
        for unit in rest:
            touched, _, counts = self.questions(unit)
            if counts:
                return tuple(rules), (fs.all_of(rest),)
            units, apart = [unit], []
            for group in groups:
                if group[0] & touched:
                    touched |= group[0]
                    units = group[1] + units
                else:
                    apart.append(group)
            groups = apart + [[touched, units]]
        return tuple(rules), tuple(fs.all_of(units) for _, units in groups)

    def root(self, formula):
        """The rules and components of an object formula before any member."""
        return self.normal(None, formula)

    def rules_of(self, root, units):
        """The rules of `root` (None: none) with more units, a frozenset."""
        if root is not None and not units:
            return root
        key = root and root.id, units
        rules = self.rules.get(key)
        if rules is None:
            rules = self.rules[key] = Rules(self, root, units, len(self.rules))
        return rules

    def normal(self, rules, residual, others=()):
        """Rules and components of what a component became, beside other components; None where it is false."""
        if residual == FALSE:
            return None
        units, components = self.parts(residual)
        if rules is None:
            rules = self.rules_of(None, frozenset(units))
        elif units:
            rules = self.rules_of(rules.root or rules, rules.added.union(units))
        components = (*others, *components)
        if len(components) > 1:
            if self.counted(rules, components):
                components = (self.formulas.all_of(components),)
                return None if components[0] == FALSE else (rules, components)
            components = tuple(sorted(components))
        return rules, components

    def forgetting(self, rules, closed):
        """The rules without what was added about names that do not come any more, so that equal futures have equal rules."""
        fs = self.formulas
        if not rules.added:
            return rules
        about = [u for u in rules.added if fs.nodes[u >> 1][0] == "some" and fs.nodes[u >> 1][1] in fs.single
                 and closed & self.mask(fs.nodes[u >> 1][1])]
        # long lists shrink by halves, or the steps through an object would cost the square of its names
        if not about or len(rules.added) > 64 and len(about) < len(rules.added) // 2:
            return rules
        return self.rules_of(rules.root, rules.added.difference(about))

    def counted(self, rules, components):
        """Whether the number of members decides anything before the end, so that components depend on one another."""
        touched = 0
        for c in components:
            mask, _, counts = self.questions(c)
            if counts:
                return True
            touched |= mask
        return rules.high is not None or rules.low > 0 and not rules.free & ~touched


class Rules:
    """What no member changes. See the module.

    Attributes
    ----------
    root : Rules or None
        What held before any member; None: this does.
    added : frozenset of int
        Units beside those of the root.
    required : int
        Set of outcomes, names all of them.
    low, high : int, int or None
        Bounds on the number of members.
    """

    __slots__ = ("keys", "root", "added", "id", "required", "low", "high", "open", "own", "general", "demands", "proved", "living")

    def __init__(self, keys, root, units, id):
        self.keys, self.root, self.id = keys, root, id
        self.added = units if root is not None else frozenset()
        self.required, self.low, self.high = (root.required, root.low, root.high) if root is not None else (0, 0, None)
        self.own, self.general = {}, []         # demands beside those of the root: by outcome, and (outcomes, value formula)
        fs = keys.formulas
        for unit in units:
            content = fs.nodes[unit >> 1]
            if content[0] == "count":
                if unit & 1:
                    self.high = content[1] - 1 if self.high is None else min(self.high, content[1] - 1)
                else:
                    self.low = max(self.low, content[1])
            elif not unit & 1:
                self.required |= keys.mask(content[1])
            elif content[1] in fs.single:
                self.own.setdefault(keys.numbers[fs.single[content[1]]], []).append(content[2] ^ 1)
            else:
                self.general.append((keys.mask(content[1]), content[2] ^ 1))
        self.demands = {}               # value formula by outcome, all demands together
        self.open = None                # see `free`
        self.proved = 0                 # names known to have a value
        self.living = None              # see `live`

    def demand(self, outcome):
        """The value formula that all values of an outcome must satisfy."""
        found = self.demands.get(outcome)
        if found is None:
            both = self.keys.formulas.both
            found = self.root.demand(outcome) if self.root is not None else ANYTHING
            for value in self.own.get(outcome, ()):
                found = both(found, value)
            for mask, value in self.general:
                if mask >> outcome & 1:
                    found = both(found, value)
            self.demands[outcome] = found
        return found

    @property
    def free(self):
        """Set of the classes whose members are seen to have a value: there are always more of them."""
        if self.open is None:
            self.open = sum(1 << o for o in bits(self.keys.many) if self.keys.quick(self.demand(o)))
        return self.open

    def live(self, inhabited):
        """The outcomes for which some value satisfies the demand."""
        if self.living is None:
            if self.root is None:
                mask, asked = 0, (self.keys.few | self.keys.many)
            else:                       # only what was added can have changed an answer
                asked = sum(1 << o for o in self.own)
                for changed, _ in self.general:
                    asked |= changed
                asked &= self.root.live(inhabited)
                mask = self.root.living & ~asked
            for o in bits(asked):
                v = self.demand(o)
                if v == ANYTHING or v != NOTHING and inhabited(v):
                    mask |= 1 << o
            self.living = mask
        return self.living
