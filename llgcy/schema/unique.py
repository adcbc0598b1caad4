"""``uniqueItems`` where the items are from a finite set of scalars: each of them comes at most once."""
from llgcy.schema.formula import ANYTHING, FALSE, NOTHING, NUMBER, STRING

#: Scalars that may come more than once by all else. Which ones have come is part of the state.
VALUES = 64
#: The same where two or more items are required: whether enough values are left is found by trying.
VALUES_REQUIRED = 8


def distinct(formulas, array):
    """The part of an array formula whose items are all different.

    Parameters
    ----------
    formulas : Formulas
    array : int
        Array formula: all else that holds.

    Returns
    -------
    int or None
        None where the values that items may have are too many to be told apart one by one, or not scalars.

    Examples
    --------
    >>> from llgcy.schema.formula import Formulas
    >>> fs = Formulas(None)
    >>> few = fs.all_of([fs.item(0, None, fs.constants(["a", None]) ^ 1) ^ 1])
    >>> len(fs.units(distinct(fs, few)))
    3
    """
    low, high, demands = 0, None, []    # bounds on the number of items; (first, end, what is in no item there)
    for unit in formulas.units(array):
        content = formulas.nodes[unit >> 1]
        if content[0] == "size" and not unit & 1:
            low = max(low, content[1])
        elif content[0] == "size":
            high = content[1] - 1 if high is None else min(high, content[1] - 1)
        elif unit & 1 and content[0] == "item" and content[4] == 1:
            demands.append(content[1:4])
    if array == FALSE or high is not None and high < 2:
        return array
    cuts = sorted({0, high, *[c for first, end, _ in demands for c in (first, end)]} - {None})
    places = {}                         # by scalar, positions at which it may stand (counted up to 2)
    for first, end in zip(cuts, [*cuts[1:], None]):
        if high is not None and first >= high:
            break
        value = ANYTHING
        for start, stop, excluded in demands:
            if start <= first and (stop is None or end is not None and end <= stop):
                if formulas.values[excluded] is None:       # its schema is being read
                    return None
                value = formulas.both(value, excluded ^ 1)
        if value == NOTHING:            # no item comes here, and so none behind
            break
        scalars = scalars_of(formulas, value)
        if scalars is None:
            return None
        for scalar in scalars:
            places[scalar] = places.get(scalar, 0) + (2 if end is None else end - first)
    twice = [scalar for scalar, count in places.items() if count > 1]
    if len(twice) > (VALUES if low < 2 else VALUES_REQUIRED):
        return None
    return formulas.all_of([array, *[formulas.item(0, None, scalar, 2) ^ 1 for scalar in twice]])


def scalars_of(formulas, value):
    """The value formulas of single scalars that make up a value formula, or None where they are not finitely many scalars."""
    literals, number, string, object, array = formulas.values[value]
    if object != FALSE or array != FALSE:
        return None
    found = [formulas.value(bit) for bit in (1, 2, 4) if literals & bit]
    for part, where in ((number, NUMBER), (string, STRING)):
        if part == FALSE:
            continue
        content = formulas.nodes[part >> 1]
        if part & 1 or content[0] not in ("value", "in"):
            return None
        for member in sorted(content[1]):
            if where == NUMBER:
                found.append(formulas.value(number=formulas.atom("value", frozenset((member,)))))
            else:
                found.append(formulas.value(string=formulas.names((member,))))
    return found
