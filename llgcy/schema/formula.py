"""Hash-consed boolean formulas over positive facts about one JSON value.

A *formula* speaks of values of one kind. It is an int: twice the number of a node, plus one where negated; `TRUE` and
`FALSE` are 0 and 1. A node is a conjunction, ``("and", parts)``; ``("one", parts)``, exactly one of the parts (of objects and
arrays; written out, it would be as long as the square of the parts); or an *atom*, a positive fact: it holds from the moment the
text has shown it, and does not hold until then.

=========  ==============================================================================================
numbers    ``("int",)  ("ge", q)  ("gt", q)  ("mult", q)  ("value", frozenset of Exact)``;
           ``("digits",)``: an integer that is written as digits alone
strings    ``("in", frozenset of str)  ("len", n)``: at least n characters; ``("re", term)``: in a language
objects    ``("some", K, V)``: some member has its key in the string formula K and its value in the value formula V;
           ``("count", n)``: at least n members
arrays     ``("item", i, j, V, n)``: at least n of the items at positions i to j - 1 (j None: to the end) are in V;
           ``("size", n)``: at least n items; ``("repeat",)``: two items are equal
=========  ==============================================================================================

So ``properties`` is NOT some({k}, NOT S), ``required`` is some({k}, anything), ``items`` is NOT item(i, None, NOT S, 1), ``uniqueItems`` is
NOT repeat. A member or an item makes some facts true and leaves the others open; that is the whole derivative.

A *value formula* is an int too, even or odd with its complement. It stands for five parts (which literals, and a formula
each for numbers, strings, objects and arrays), since no value is of two kinds: AND, OR and NOT work part by part.

Depth is limited where nodes are made, so that functions over formulas may recurse.
"""
from llgcy.errors import LimitError
from llgcy.schema.exact import ONE, Exact

TRUE, FALSE = 0, 1
#: The value formulas of all values and of none.
ANYTHING, NOTHING = 0, 1
#: Bits of the literals in a value formula.
NULL, TRUE_LITERAL, FALSE_LITERAL = 1, 2, 4
NUMBER, STRING, OBJECT, ARRAY = 1, 2, 3, 4      # places of the other parts

#: Conjunctions and disjunctions inside each other.
DEPTH = 96
#: Members inside members of which it is looked whether they contradict each other, while a conjunction is made.
LOOKS = 8
#: Nodes of all formulas of one schema.
NODES = 2_000_000


def spellable(text):
    """Whether a text can be written as UTF-8: it has no lone surrogates."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


class Formulas:
    """All formulas made for one schema.

    Parameters
    ----------
    matches : callable
        ``matches(term, text)``: whether a text is in the language of an ``("re", term)``.
    """

    def __init__(self, matches):
        self.matches = matches
        self.nodes = [("true",)]        # content by node number
        self.index = {}                 # node number by content
        self.zeros = [True]             # by node: whether it holds where no fact does
        self.depths = [0]
        self.supports = {}              # atoms by node, frozenset of node numbers
        self.values = [(7, TRUE, TRUE, TRUE, TRUE), (0, FALSE, FALSE, FALSE, FALSE)]
        self.value_index = {self.values[0]: ANYTHING, self.values[1]: NOTHING}
        self.aliases = {}               # value formula by the handle that was made before it
        self.looks = 0                  # see LOOKS
        self.pairs = {}                 # conjunctions of two value formulas
        self.single = {}                # the name, by string formula that says "this name"

    # ------------------------------------------------------------------------------------------------ nodes
    def node(self, content, zero, depth):
        number = self.index.get(content)
        return self.added(content, zero, depth) if number is None else number << 1

    def added(self, content, zero, depth):
        number = len(self.nodes)
        if number > NODES:
            raise LimitError(f"the schema needs more than {NODES} formulas")
        if depth > DEPTH:
            raise LimitError(f"the schema nests more than {DEPTH} levels of allOf, anyOf, oneOf, not and if at one place")
        self.index[content] = number
        self.nodes.append(content)
        self.zeros.append(zero)
        self.depths.append(depth)
        return number << 1

    def atom(self, *content):
        """The formula that is just this fact."""
        number = self.index.get(content)
        return self.added(content, False, 0) if number is None else number << 1

    def zero(self, f):
        """Whether `f` holds where none of its atoms does: of an empty object or array, or at the end of one."""
        return self.zeros[f >> 1] != (f & 1)

    def support(self, f):
        """The node numbers of the atoms of a formula."""
        number = f >> 1
        found = self.supports.get(number)
        if found is None:
            content = self.nodes[number]
            if content[0] == "and" or content[0] == "one":
                found = frozenset().union(*[self.support(c) for c in content[1]])
            else:
                found = frozenset((number,)) if number else frozenset()
            self.supports[number] = found
        return found

    def positive(self, f):
        """The node numbers of the atoms that can make a formula true by being true."""
        found, seen, todo = set(), set(), [f]
        while todo:
            g = todo.pop()
            if g in seen:
                continue
            seen.add(g)
            content = self.nodes[g >> 1]
            if content[0] == "and":
                todo += [c ^ (g & 1) for c in content[1]]
            elif content[0] == "one":
                todo += content[1]
                todo += [c ^ 1 for c in content[1]]
            elif not g & 1:
                found.add(g >> 1)
        return found

    def units(self, f):
        """The parts of a conjunction; another formula is its only part."""
        content = self.nodes[f >> 1]
        return content[1] if content[0] == "and" and not f & 1 else () if f == TRUE else (f,)

    # ------------------------------------------------------------------------------------------------ atoms
    def names(self, words):
        """The string formula of these texts. Lone surrogates are in no text, so such words drop out."""
        words = frozenset(words)
        if not all(map(spellable, words)):
            words = frozenset(filter(spellable, words))
        if len(words) == 1:
            return self.name(*words)
        return self.atom("in", words) if words else FALSE

    def name(self, word):
        """The string formula of one text."""
        if not spellable(word):
            return FALSE
        f = self.atom("in", frozenset((word,)))
        self.single[f] = word
        return f

    def some(self, keys, value):
        """Objects with a member whose key is in `keys` and whose value is in `value`."""
        if keys == FALSE or value == NOTHING:
            return FALSE
        content = "some", keys, value
        number = self.index.get(content)
        return self.added(content, False, 0) if number is None else number << 1

    def count(self, n):
        """Objects with at least `n` members."""
        return self.atom("count", n) if n > 0 else TRUE

    def size(self, n):
        """Arrays with at least `n` items."""
        return self.atom("size", n) if n > 0 else TRUE

    def length(self, n):
        """Strings of at least `n` characters."""
        return self.atom("len", n) if n > 0 else TRUE

    def item(self, first, end, value, n=1):
        """Arrays with at least `n` of the items at `first` to `end` - 1 (None: to the last) in `value`."""
        if n <= 0:
            return TRUE
        if value == NOTHING or (end is not None and end - first < n):
            return FALSE
        return self.atom("item", first, end, value, n)

    def repeat(self):
        """Arrays of which two items are equal."""
        return self.atom("repeat")

    # ------------------------------------------------------------------------------------------------ boolean operations
    def any_of(self, formulas):
        """The disjunction."""
        return self.all_of([f ^ 1 for f in formulas]) ^ 1

    def all_of(self, formulas):
        """The conjunction: flat, without what its other parts decide one level down, and with the cheap tests of the kind.

        Examples
        --------
        >>> fs = Formulas(None)
        >>> a, b = fs.length(1), fs.length(2)
        >>> fs.all_of([a, fs.all_of([b, a ^ 1])]) == FALSE
        True
        """
        nodes, parts, stack, alternatives = self.nodes, {}, list(formulas), 0
        stack.reverse()
        while stack:
            f = stack.pop()
            if f == TRUE or f in parts:
                continue
            if f ^ 1 in parts or f == FALSE:
                return FALSE
            content = nodes[f >> 1]
            if content[0] == "and":
                if not f & 1:
                    stack.extend(reversed(content[1]))
                    continue
                alternatives += 1
            parts[f] = None
        if len(parts) < 2:
            return next(iter(parts)) if parts else TRUE
        if alternatives:
            changed = self.propagate(parts)
            if changed is not None:
                return changed
        return self.tidied(parts)

    def one_of(self, formulas):
        """Exactly one of some object or array formulas."""
        parts, twice, certain = [], [], 0
        for f in formulas:
            if f == TRUE:
                certain += 1
            elif f in parts:
                twice.append(f)
            elif f != FALSE:
                parts.append(f)
        if certain > 1:
            return FALSE
        if certain:
            return self.all_of([f ^ 1 for f in parts])
        if twice:                       # whichever is given twice is not the one
            return self.all_of([*[f ^ 1 for f in twice], self.one_of([f for f in parts if f not in twice])])
        if len(parts) < 2:
            return parts[0] if parts else FALSE
        depth = 1 + max(self.depths[f >> 1] for f in parts)
        return self.node(("one", tuple(sorted(parts))), sum(map(self.zero, parts)) == 1, depth)

    def propagate(self, parts):
        """Simplifies the negated conjunctions among `parts` by the parts beside them; None where nothing changes.

        What is left of one alone is one more part, and so on: linear in the size of all, by an index from the formulas to the
        conjunctions that hold them or their complements (unit propagation).
        """
        nodes, clauses, index, queue, changed = self.nodes, [], None, [], False
        for f in parts:
            content = nodes[f >> 1]
            if content[0] != "and":
                continue
            left = []
            for c in content[1]:
                if c in parts:
                    continue
                if c ^ 1 in parts:
                    left = None
                    break
                left.append(c)
            if left is None:
                changed = True
            elif not left:
                return FALSE
            elif len(left) == 1:
                queue.append(left[0] ^ 1)
            else:
                clauses.append((f, left))
                changed = changed or len(left) < len(content[1])
        if not changed and not queue:
            return None
        known = {f: None for f in parts if nodes[f >> 1][0] != "and"}
        lefts = [dict.fromkeys(left) for _, left in clauses]
        while queue:
            unit = queue.pop()
            if unit == TRUE or unit in known:
                continue
            if unit == FALSE or unit ^ 1 in known:
                return FALSE
            content = nodes[unit >> 1]
            if content[0] == "and" and not unit & 1:
                queue.extend(content[1])
                continue
            known[unit] = None
            if index is None:
                index = {}
                for i, left in enumerate(lefts):
                    for c in left:
                        index.setdefault(c >> 1, []).append(i)
            for i in index.get(unit >> 1, ()):
                left = lefts[i]
                if left is None:
                    continue
                if unit ^ 1 in left:
                    lefts[i] = None
                elif unit in left:
                    del left[unit]
                    if len(left) == 1:
                        queue.append(next(iter(left)) ^ 1)
                        lefts[i] = None
        again = list(known)
        for (f, whole), left in zip(clauses, lefts):
            if left is not None:
                again.append(f if len(left) == len(nodes[f >> 1][1]) else self.all_of(left) ^ 1)
        return self.all_of(again)

    def tidied(self, parts):
        """The conjunction of flat parts, after the tests that each kind has."""
        nodes = self.nodes
        sets, lows, highs = [], {}, {}
        members = False
        for f in parts:
            content = nodes[f >> 1]
            op = content[0]
            if op == "in" or op == "value":
                if not f & 1:
                    return self.filtered(f, parts)
                sets.append(f)
            elif op == "len" or op == "count" or op == "size":
                bounds = highs if f & 1 else lows
                bounds.setdefault(op, []).append(f)
            elif op == "some" and not f & 1:
                members = True
        if len(sets) > 1:
            union = frozenset().union(*[nodes[f >> 1][1] for f in sets])
            for f in sets:
                del parts[f]
            f = self.atom(nodes[sets[0] >> 1][0], union) ^ 1
            if f ^ 1 in parts:
                return FALSE
            parts[f] = None
        for op, bounds in lows.items():
            strongest = max(bounds, key=lambda f: nodes[f >> 1][1])
            if any(nodes[f >> 1][1] <= nodes[strongest >> 1][1] for f in highs.get(op, ())):
                return FALSE
            for f in bounds:
                if f != strongest:
                    del parts[f]
        for bounds in highs.values():
            strongest = min(bounds, key=lambda f: nodes[f >> 1][1])
            for f in bounds:
                if f != strongest:
                    del parts[f]
        if members and self.looks < LOOKS:      # by recursive schemas this would go on for ever
            self.looks += 1
            try:
                if self.contradictory(parts):
                    return FALSE
            finally:
                self.looks -= 1
        if len(parts) == 1:
            return next(iter(parts))
        return self.conjunction(tuple(sorted(parts)))

    def conjunction(self, parts):
        """The node of parts that are sorted and tidy."""
        zero, depth = True, 0
        zeros, depths = self.zeros, self.depths
        for f in parts:
            number = f >> 1
            if zeros[number] == (f & 1):
                zero = False
            if depths[number] > depth:
                depth = depths[number]
        return self.node(("and", parts), zero, depth + 1)

    def filtered(self, f, parts):
        """A finite set of scalars AND `parts`: every member of the set decides them."""
        op, members = self.nodes[f >> 1]
        others = [g for g in parts if g != f]
        holds = self.holds_text if op == "in" else self.holds_number
        left = [m for m in members if all(holds(g, m) for g in others)]
        if len(left) == len(members):
            return f
        return FALSE if not left else self.names(left) if op == "in" else self.atom(op, frozenset(left))

    def contradictory(self, parts):
        """Whether a required name is seen to have no value left: what tells apart the branches of most oneOf."""
        nodes, single = self.nodes, self.single
        bans, general, wanted = {}, [], []
        for f in parts:
            content = nodes[f >> 1]
            if content[0] == "some":
                name = single.get(content[1])
                if not f & 1:
                    if name is not None:
                        wanted.append((name, content[2]))
                elif name is None:
                    general.append(content)
                else:
                    bans.setdefault(name, []).append(content[2])
        values = self.values
        for name, value in wanted:
            excluded = list(bans.get(name, ()))
            excluded += [c[2] for c in general if self.holds_text(c[1], name)]
            for v in excluded:
                if values[v] is None or values[value] is None:      # its schema is being read
                    break
                value = self.both(value, v ^ 1)
                if value == NOTHING:
                    return True
        return False

    def assign(self, f, truths):
        """The formula where some atoms are decided: `truths` gives TRUE or FALSE (or a formula) by node number."""
        return self.assigned(f, truths, frozenset(truths)) if truths else f

    def assigned(self, f, truths, atoms):
        """`assign`, with the atoms as a set: two sets are compared by the smaller one."""
        if self.support(f).isdisjoint(atoms):
            return f
        content = self.nodes[f >> 1]
        if content[0] == "one":
            return self.one_of([self.assigned(c, truths, atoms) for c in content[1]]) ^ (f & 1)
        if content[0] != "and":
            return truths[f >> 1] ^ (f & 1)
        new, changed = [], False
        for c in content[1]:
            r = self.assigned(c, truths, atoms)
            if r == FALSE:
                return TRUE if f & 1 else FALSE
            if r != c:
                changed = True
                if r == TRUE:
                    continue
            new.append(r)
        if not changed:
            return f
        if len(new) < 2:
            return (new[0] if new else TRUE) ^ (f & 1)
        return self.all_of(new) ^ (f & 1)

    # ------------------------------------------------------------------------------------------------ meaning
    def holds_text(self, f, text):
        """Whether a string formula holds of a text."""
        content = self.nodes[f >> 1]
        op = content[0]
        if op == "in":
            truth = text in content[1]
        elif op == "and":
            truth = True
            for c in content[1]:
                if not self.holds_text(c, text):
                    truth = False
                    break
        elif op == "len":
            truth = len(text) >= content[1]
        elif op == "re":
            truth = self.matches(content[1], text)
        else:
            truth = True
        return truth != (f & 1)

    def holds_number(self, f, number):
        """Whether a number formula holds of an `Exact`."""
        content = self.nodes[f >> 1]
        op = content[0]
        if op == "value":
            truth = number in content[1]
        elif op == "and":
            truth = True
            for c in content[1]:
                if not self.holds_number(c, number):
                    truth = False
                    break
        elif op == "int" or op == "digits":
            truth = number.is_integer
        elif op == "ge":
            truth = number >= content[1]
        elif op == "gt":
            truth = number > content[1]
        elif op == "mult":
            truth = content[1].divides(number)
        else:
            truth = True
        return truth != (f & 1)

    def number_tuple(self, f, by_digits=False):
        """A number formula as the nested tuples of `llgcy.schema.numbers`; ``by_digits``: where ``int`` is a matter of spelling."""
        content = self.nodes[f >> 1]
        op = content[0]
        if op == "and":
            t = ("and", *[self.number_tuple(c, by_digits) for c in content[1]])
        elif op == "value":
            t = ("in", tuple(sorted(content[1])))
        else:
            t = ("int",) if op == "digits" else ("mult", ONE) if op == "int" and by_digits else content
        return ("not", t) if f & 1 else t

    # ------------------------------------------------------------------------------------------------ value formulas
    def value(self, literals=0, number=FALSE, string=FALSE, object=FALSE, array=FALSE):
        """The value formula with these parts."""
        parts = (literals, number, string, object, array)
        v = self.value_index.get(parts)
        if v is None:
            v = len(self.values)
            opposite = (7 ^ literals, number ^ 1, string ^ 1, object ^ 1, array ^ 1)
            self.values += (parts, opposite)
            self.value_index[parts] = v
            self.value_index[opposite] = v + 1
        return v

    def reserve(self):
        """A handle: a value formula that is defined later. Until then it may only stand in atoms."""
        v = len(self.values)
        self.values += (None, None)
        return v

    def define(self, handle, v):
        """Says what a handle stands for."""
        for sign in (0, 1):
            self.values[handle ^ sign] = self.values[v ^ sign]
            self.aliases[handle ^ sign] = v ^ sign

    def both(self, v, w):
        """The conjunction of two value formulas."""
        if v in self.aliases:
            v = self.aliases[v]
        if w in self.aliases:
            w = self.aliases[w]
        if v == w or w == ANYTHING:
            return v
        if v == ANYTHING:
            return w
        if v == NOTHING or w == NOTHING or v ^ 1 == w:
            return NOTHING
        key = (v, w) if v < w else (w, v)
        found = self.pairs.get(key)
        if found is None:
            a, b = self.values[v], self.values[w]
            parts = [a[0] & b[0]]
            for x, y in zip(a[1:], b[1:]):
                if x == y or y == TRUE:
                    parts.append(x)
                elif x == TRUE:
                    parts.append(y)
                elif x == FALSE or y == FALSE:
                    parts.append(FALSE)
                else:
                    parts.append(self.all_of((x, y)))
            found = self.pairs[key] = self.value(*parts)
        return found

    def either(self, v, w):
        """The disjunction of two value formulas."""
        return self.both(v ^ 1, w ^ 1) ^ 1

    def union(self, values):
        """The disjunction of value formulas, part by part at once."""
        values = list(dict.fromkeys(values))
        if len(values) < 2:
            return values[0] if values else NOTHING
        rows = [self.values[v] for v in values]
        literals = 0
        for row in rows:
            literals |= row[0]
        return self.value(literals, *[self.any_of([row[i] for row in rows]) for i in range(1, 5)])

    def constant(self, value):
        """The value formula of one JSON value given as `read.kind_of` knows it."""
        return self.constants((value,))

    def constants(self, values):
        """The value formula of some JSON values: scalars of one kind are one atom.

        Raises
        ------
        LimitError
            Nested too deeply.
        """
        return _Constants(self).of(values)


class _Constants:
    """Builds the formulas of JSON values without recursion: the inner ones first."""

    def __init__(self, formulas):
        self.formulas = formulas

    def of(self, values):
        if all([v.__class__ is str for v in values]):       # as most are
            return self.formulas.value(string=self.formulas.names(values))
        made = {}                       # value formula of containers, by id()
        todo = [(v, False) for v in values]
        opened = 0
        while todo:
            value, ready = todo.pop()
            if isinstance(value, Exact) or not isinstance(value, (dict, list, tuple)) or (not ready and id(value) in made):
                continue
            inner = value.values() if isinstance(value, dict) else value
            if ready:
                opened -= 1
                made[id(value)] = self.container(value, made)
                continue
            opened += 1
            if opened > 1000:
                raise LimitError("a value in enum or const is nested more than 1,000 levels")
            todo.append((value, True))
            todo.extend((x, False) for x in inner)
        return self.union(values, made)

    def union(self, values, made):
        literals, numbers, words, others = 0, set(), [], []
        for value in values:
            if isinstance(value, str):
                words.append(value)
            elif value is None:
                literals |= NULL
            elif isinstance(value, bool):
                literals |= TRUE_LITERAL if value else FALSE_LITERAL
            elif id(value) in made:
                others.append(made[id(value)])
            else:
                numbers.add(Exact.of(value))
        fs = self.formulas
        number = fs.atom("value", frozenset(numbers)) if numbers else FALSE
        v = fs.value(literals, number, fs.names(words) if words else FALSE)
        return fs.union([v, *others]) if others else v

    def container(self, value, made):
        fs = self.formulas
        if isinstance(value, dict):
            keys = fs.names(value) if value else FALSE
            parts = [fs.some(keys ^ 1, ANYTHING) ^ 1]
            for name, x in value.items():
                key = fs.names((name,))
                parts.append(fs.some(key, ANYTHING))
                parts.append(fs.some(key, self.union((x,), made) ^ 1) ^ 1)
            return fs.value(object=fs.all_of(parts))
        parts = [fs.size(len(value)), fs.size(len(value) + 1) ^ 1]
        parts += [fs.item(i, i + 1, self.union((x,), made) ^ 1) ^ 1 for i, x in enumerate(value)]
        return fs.value(array=fs.all_of(parts))
