"""JSON values as numbers: equal ones (JSON Schema core 2020-12, section 4.2.2) are one number, whatever their spelling."""
from llgcy.schema.exact import Exact
from llgcy.schema.formula import NOTHING

#: The numbers of null, true and false.
NULL_VALUE, TRUE_VALUE, FALSE_VALUE = 0, 1, 2
#: What has been read of a container: nothing.
EMPTY = 1


class Values:
    """All values that were read as items of arrays whose items must differ, or tried as such.

    Parameters
    ----------
    formulas : Formulas

    Examples
    --------
    >>> from llgcy.schema.formula import Formulas
    >>> values = Values(Formulas(None))
    >>> values.of({"a": 1, "b": [None]}) == values.of({"b": [None], "a": Exact.of("10e-1")})
    True
    """

    def __init__(self, formulas):
        self.formulas = formulas
        self.trees = [None, True, False]
        self.ids = {("literal", None): NULL_VALUE, ("literal", True): TRUE_VALUE, ("literal", False): FALSE_VALUE}
        self.singles = {}               # value formula by value
        self.unions = {frozenset(): NOTHING}
        self.chains = [None, ()]        # (chain without its last part, the part) by number
        self.chain_ids = {}

    # ------------------------------------------------------------------------------------------------ values
    def known(self, key, tree):
        found = self.ids.get(key)
        if found is None:
            found = self.ids[key] = len(self.trees)
            self.trees.append(tree)
        return found

    def string(self, text):
        """The value of a string."""
        return self.known(("string", text), text)

    def number(self, text):
        """The value of a number, of which `text` is the JSON text (or an `Exact`, an int)."""
        number = Exact.read(text) if isinstance(text, str) else Exact.of(text)
        return self.known(("number", number), number)

    def scalar(self, x):
        """The value of a scalar as `read_json` gives it."""
        if isinstance(x, str):
            return self.string(x)
        return self.number(x) if x is not None and not isinstance(x, bool) else self.ids["literal", x]

    def array(self, items):
        """The value of an array of these values."""
        items = tuple(items)
        return self.known(("array", items), [self.trees[i] for i in items])

    def object(self, members):
        """The value of an object: {name: value}."""
        key = "object", frozenset(members.items())
        return self.known(key, {name: self.trees[i] for name, i in members.items()})

    def of(self, tree):
        """The value of a tree as `read_json` gives it; without recursion."""
        todo, made = [(tree, False)], []
        while todo:
            x, ready = todo.pop()
            if isinstance(x, Exact) or not isinstance(x, (dict, list, tuple)):
                made.append(self.scalar(x))
            elif not ready:
                todo.append((x, True))
                todo.extend((y, False) for y in reversed(x.values() if isinstance(x, dict) else x))
            else:
                inner = made[len(made) - len(x):]
                del made[len(made) - len(x):]
                made.append(self.object(dict(zip(x, inner))) if isinstance(x, dict) else self.array(inner))
        return made[0]

    # ------------------------------------------------------------------------------------------------ what is read
    def chain(self, before, part):
        """What has been read of a container, with one part more: items, or names and values in turn (all of them values)."""
        key = before, part
        found = self.chain_ids.get(key)
        if found is None:
            found = self.chain_ids[key] = len(self.chains)
            self.chains.append(key)
        return found

    def closed(self, chain, is_object):
        """The value of a container of which all is read."""
        parts = []
        while chain != EMPTY:
            chain, part = self.chains[chain]
            parts.append(part)
        parts.reverse()
        if is_object:
            return self.object(dict(zip([self.trees[p] for p in parts[::2]], parts[1::2])))
        return self.array(parts)

    # ------------------------------------------------------------------------------------------------ formulas
    def formula(self, value):
        """The value formula of just this value."""
        found = self.singles.get(value)
        if found is None:
            found = self.singles[value] = self.formulas.constant(self.trees[value])
        return found

    def union(self, values):
        """The value formula of these values, a frozenset."""
        found = self.unions.get(values)
        if found is None:
            found = self.unions[values] = self.formulas.union([self.formula(v) for v in sorted(values)])
        return found
