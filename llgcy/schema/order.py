"""The order in which properties are written: an attribute of the path in the text, not of formulas.

A *place* is what applies positively there: a schema node, a constant, or a group of places, ``("all", parts)`` or ``("any", parts)``.
The names of "all" come as the first part mentions them, then what later parts add. The names of "any" come in one order that
agrees with every part, where there is one (a stable topological merge). First the names in ``properties``, in document order (a
schema's own, then its applicators where they stand, ``then`` and ``else`` after ``if``), then names that are only required.
None is the place where nothing declares an order.
"""
from heapq import heapify, heappop, heappush

from llgcy.schema.resolve import Node
from llgcy.schema.vocabulary import REFERENCES


class Group:
    """Places that apply together ("all") or as alternatives ("any"). One object for equal groups."""

    __slots__ = ("how", "parts")

    def __init__(self, how, parts):
        self.how, self.parts = how, parts


class Constant:
    """The place of a value in ``const`` or ``enum``: its members in their own order."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Order:
    """Places below a root, made on demand.

    Parameters
    ----------
    matches : callable
        ``matches(node, pattern, name)``: whether a pattern of ``patternProperties`` is found in a name.
    """

    def __init__(self, matches):
        self.matches = matches
        self.groups, self.constants, self.memo = {}, {}, {}

    # ------------------------------------------------------------------------------------------------ places
    def place(self, child):
        """The place of what `Node.sub` holds for a schema. References that stand alone are followed."""
        seen = 0
        while isinstance(child, Node):
            if len(child.sub) != 1 or "$ref" not in child.sub or seen > 100:
                return child if declares(child) else None
            child = child.sub["$ref"]
            seen += 1
        return None

    def group(self, how, parts):
        """One place for several; None stands for nothing declared."""
        flat = []
        for part in parts:
            if part is not None:
                flat += part.parts if isinstance(part, Group) and part.how == how else (part,)
        flat = tuple(dict.fromkeys(flat))
        if len(flat) < 2:
            return flat[0] if flat else None
        key = how, flat
        found = self.groups.get(key)
        if found is None:
            found = self.groups[key] = Group(how, flat)
        return found

    def constant(self, value):
        """The place of a constant."""
        if not isinstance(value, (dict, list, tuple)):
            return None
        found = self.constants.get(id(value))
        if found is None:
            found = self.constants[id(value)] = Constant(value)
        return found

    def fold(self, place, own, path=()):
        """The place made of what ``own`` says about each node and constant that applies in place, in document order."""
        if place is None or place in path:
            return None
        if isinstance(place, Group):
            return self.group(place.how, [self.fold(p, own, path) for p in place.parts])
        if isinstance(place, Constant):
            return own(place)
        sub = place.sub
        if not _IN_PLACE.isdisjoint(sub):
            path = (*path, place)
            parts = [] if "properties" in sub else [own(place)]
            for word, value in sub.items():
                if word == "properties":
                    parts.append(own(place))
                elif word == "allOf":
                    parts += [self.fold(self.place(c), own, path) for c in value]
                elif word == "anyOf" or word == "oneOf":
                    parts.append(self.group("any", [self.fold(self.place(c), own, path) for c in value]))
                elif word in REFERENCES:
                    parts.append(self.fold(self.place(value), own, path))
                elif word == "dependentSchemas" or word == "dependencies":
                    parts += [self.fold(self.place(c), own, path) for c in value.values()]
                elif word == "if":
                    yes = [self.fold(self.place(sub[w]), own, path) for w in ("if", "then") if w in sub]
                    no = self.fold(self.place(sub["else"]), own, path) if "else" in sub else None
                    parts.append(self.group("any", [self.group("all", yes), no]))
                elif word == "const":
                    parts.append(self.fold(self.constant(value), own, path))
                elif word == "enum":
                    parts.append(self.group("any", [self.fold(self.constant(x), own, path) for x in value]))
            return self.group("all", parts)
        return own(place)

    # ------------------------------------------------------------------------------------------------ questions
    def names(self, place):
        """The names with a place in the order, first one first."""
        key = "names", place
        found = self.memo.get(key)
        if found is None:
            listed = self.listing(place, lambda p: p.value if isinstance(p, Constant) and isinstance(p.value, dict)
                                  else p.sub.get("properties", ()) if isinstance(p, Node) else ())
            required = self.listing(place, lambda p: p.sub.get("required", ()) if isinstance(p, Node) else ())
            found = self.memo[key] = tuple(dict.fromkeys([*listed, *required]))
        return found

    def listing(self, place, own):
        """The merged names of what ``own`` lists."""
        if isinstance(place, Node) and _IN_PLACE.isdisjoint(place.sub):
            return list(own(place))
        lists = {}

        def leaf(p):
            names = tuple(own(p))
            return lists.setdefault(names, Constant(names)) if names else None

        def flat(p):
            if p is None:
                return []
            if isinstance(p, Constant):
                return list(p.value)
            parts = [flat(x) for x in p.parts]
            return list(dict.fromkeys(k for names in parts for k in names)) if p.how == "all" else merge(parts)
        return flat(self.fold(place, leaf))

    def member(self, place, name):
        """The place of the value of a member."""
        if place is None:
            return None
        key = place, name
        found = self.memo.get(key, place)
        if found is place:
            found = self.memo[key] = self.fold(place, lambda p: self.own_member(p, name))
        return found

    def own_member(self, place, name):
        if isinstance(place, Constant):
            return self.constant(place.value.get(name)) if isinstance(place.value, dict) else None
        sub = place.sub
        parts = [self.place(sub["properties"][name])] if name in sub.get("properties", ()) else []
        for text, child in sub.get("patternProperties", {}).items():
            if self.matches(place, text, name):
                parts.append(self.place(child))
        if not parts and "additionalProperties" in sub:
            parts.append(self.place(sub["additionalProperties"]))
        # unevaluatedProperties declares no order: which names it applies to is not settled by names
        return self.group("all", parts)

    def item(self, place, n):
        """The place of the item at position `n`."""
        if place is None:
            return None
        key = "item", place, n
        found = self.memo.get(key, place)
        if found is place:
            found = self.memo[key] = self.fold(place, lambda p: self.own_item(p, n))
        return found

    def own_item(self, place, n):
        if isinstance(place, Constant):
            return self.constant(place.value[n]) if not isinstance(place.value, dict) and n < len(place.value) else None
        sub = place.sub
        before, rest = sub.get("prefixItems", ()), sub.get("items")
        if isinstance(rest, list):
            before, rest = rest, sub.get("additionalItems")
        if rest is None:
            rest = sub.get("unevaluatedItems")
        parts = [self.place(before[n])] if n < len(before) else [self.place(rest)] if rest is not None else []
        if "contains" in sub:
            parts.append(self.place(sub["contains"]))
        return self.group("all", parts)


    def reach(self, place):
        """From this position on, a place says the same about all items of an array."""
        reach = 0

        def own(p):
            nonlocal reach
            if isinstance(p, Constant):
                reach = max(reach, 0 if isinstance(p.value, dict) else len(p.value))
            else:
                reach = max(reach, len(p.sub.get("prefixItems", ())))
                if isinstance(p.sub.get("items"), list):
                    reach = max(reach, len(p.sub["items"]))
        self.fold(place, own)
        return reach


_IN_PLACE = {"allOf", "anyOf", "oneOf", *REFERENCES, "dependentSchemas", "dependencies", "if", "const", "enum"}
_DECLARING = _IN_PLACE | {"properties", "patternProperties", "additionalProperties", "required", "items", "prefixItems", "contains",
                          "unevaluatedItems"}


def declares(node):
    """Whether a node can say anything about the order of a value or of something inside it."""
    return not _DECLARING.isdisjoint(node.sub)


def merge(lists):
    """One list in which each of the lists keeps its order, where that is possible; ties and cycles by first mention.

    >>> merge([["a", "c"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    lists = [names for names in lists if names]
    if len(lists) < 2:
        return lists[0] if lists else []
    waits, followers = {}, {}
    for names in lists:
        for k in names:
            waits.setdefault(k, set())
            followers.setdefault(k, [])
        for a, b in zip(names, names[1:]):
            if a not in waits[b]:
                waits[b].add(a)
                followers[a].append(b)
    ranks = {k: i for i, k in enumerate(waits)}
    ready, merged, left = [ranks[k] for k in waits if not waits[k]], [], dict.fromkeys(waits)
    names = list(waits)
    heapify(ready)
    while left:
        k = None
        while ready and k is None:
            k = names[heappop(ready)]
            k = k if k in left else None
        if k is None:
            k = next(iter(left))        # a cycle: the first mention breaks it
        merged.append(k)
        del left[k]
        for f in followers[k]:
            waits[f].discard(k)
            if not waits[f] and f in left:
                heappush(ready, ranks[f])
    return merged
