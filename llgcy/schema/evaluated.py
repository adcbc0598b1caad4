"""``unevaluatedProperties`` and ``unevaluatedItems`` as formulas.

A member or item is *evaluated* by keywords of the schema object itself and of all schemas that apply in place and hold. So for each
class of keys that the keywords tell apart: no member of the class is outside the unevaluated* schema, or one of the schemas
that evaluate the class holds. For items the same, by ranges of positions and by what ``contains`` tells apart. Sets of
branches are never enumerated.
"""
from llgcy.errors import LimitError
from llgcy.schema.formula import ANYTHING, ARRAY, NOTHING, OBJECT, TRUE
from llgcy.schema.read import escape
from llgcy.schema.resolve import Node
from llgcy.schema.vocabulary import REFERENCES, UNNAMED

#: Visits to schema objects in a search for what they evaluate.
VISITS = 200_000
#: Different schemas of ``contains`` beside one ``unevaluatedItems``: each doubles the classes of items.
CONTAINS = 8


class Evaluated:
    """What schema nodes evaluate.

    Parameters
    ----------
    translator : Translator
        Its formulas of the nodes that apply in place have been made where they are asked for here.
    """

    def __init__(self, translator):
        self.translator, self.formulas, self.texts = translator, translator.formulas, translator.texts
        self.memo = {}                  # by node and kind
        self.visits = 0

    def properties(self, node, child):
        """``unevaluatedProperties: child`` of a node: object formulas, all of which hold."""
        fs, texts = self.formulas, self.texts
        sets = self.own_keys(node, True)
        self.add_branches(node, OBJECT, sets, (node,))
        words, _, terms = texts.facts(sets)
        classes = [(fs.names((w,)), [c for keys, c in sets.items() if fs.holds_text(keys, w)]) for w in words]
        others = fs.names(words) ^ 1
        for bits, truths in texts.classes(sets, 0, terms):
            keys = fs.all_of([others, *[fs.atom("re", term) ^ (bits >> i & 1 ^ 1) for i, term in enumerate(terms)]])
            classes.append((keys, [c for c, truth in zip(sets.values(), truths) if truth == TRUE]))
        groups = {}
        for keys, conditions in classes:
            groups.setdefault(fs.any_of(conditions), []).append(keys)
        bad = self.translator.of(child) ^ 1
        return [fs.any_of([fs.some(fs.any_of(keys), bad) ^ 1, condition]) for condition, keys in groups.items() if condition != TRUE]

    def items(self, node, child):
        """``unevaluatedItems: child`` of a node: array formulas, all of which hold."""
        fs = self.formulas
        sets = self.own_items(node, True)
        self.add_branches(node, ARRAY, sets, (node,))
        lengths = {n: c for (what, n), c in sets.items() if what == "first"}
        tests = [(v, c) for (what, v), c in sets.items() if what == "in"]
        if len(tests) > CONTAINS:
            raise LimitError(f"more than {CONTAINS} schemas of contains beside one unevaluatedItems", pointer=node.pointer + "/unevaluatedItems")
        cuts = sorted({0, *lengths} - {None})
        made, bad = [], self.translator.of(child) ^ 1
        for first, end in zip(cuts, [*cuts[1:], None]):
            covered = fs.any_of([c for n, c in lengths.items() if n is None or end is not None and n >= end])
            classes = [(bad, covered)]
            for v, condition in tests:
                classes = [split for value, c in classes
                           for split in ((fs.both(value, v), fs.any_of([c, condition])), (fs.both(value, v ^ 1), c))]
                classes = [(value, c) for value, c in classes if value != NOTHING and c != TRUE]
            made += [fs.any_of([fs.item(first, end, value) ^ 1, c]) for value, c in classes if c != TRUE]
        return made

    # ------------------------------------------------------------------------------------------------ one schema object
    def own_keys(self, node, top):
        """The keys that the keywords of a node evaluate: {string formula: TRUE}; at the `top`, without unevaluatedProperties."""
        fs, sub = self.formulas, node.sub
        if "additionalProperties" in sub or "unevaluatedProperties" in sub and not top:
            return {TRUE: TRUE}
        named = [fs.names(sub["properties"])] if sub.get("properties") else []
        named += [self.translator.pattern_formula(node, text, "/patternProperties/" + escape(text)) for text in sub.get("patternProperties", ())]
        return dict.fromkeys(named, TRUE)

    def own_items(self, node, top):
        """The items that the keywords of a node evaluate: ("first", n or None) for positions, ("in", value formula) for contains."""
        sub, sets = node.sub, {}
        items = sub.get("items")
        if isinstance(items, list):
            length = None if "additionalItems" in sub else len(items)
        elif items is not None:
            length = None
        else:
            length = len(sub.get("prefixItems", ()))
        if "unevaluatedItems" in sub and not top:
            length = None
        if length != 0:
            sets["first", length] = TRUE
        if "contains" in sub and contains_evaluates(node):
            sets["in", self.translator.of(sub["contains"])] = TRUE
        return sets

    # ------------------------------------------------------------------------------------------------ schemas in place
    def add_branches(self, node, kind, sets, path):
        """Adds to `sets`, by what is evaluated, the condition under which schemas that apply in place do so.

        Returns whether all of them were visited: one that is on the `path` already adds nothing new below itself.
        """
        fs, whole = self.formulas, True
        for condition, child in self.branches(node):
            condition = fs.values[condition][kind]
            inner = self.memo.get((child, kind))
            if inner is None:
                if child in path:
                    whole = False
                    continue
                self.visits += 1
                if self.visits > VISITS:
                    raise LimitError(f"what is unevaluated depends on more than {VISITS} schemas", pointer=node.pointer)
                inner = self.own_keys(child, False) if kind == OBJECT else self.own_items(child, False)
                if self.add_branches(child, kind, inner, (*path, child)):
                    self.memo[child, kind] = inner
                else:
                    whole = False
            for what, c in inner.items():
                c = fs.all_of([condition, c])
                sets[what] = fs.any_of([sets[what], c]) if what in sets else c
        return whole

    def branches(self, node):
        """The nodes whose evaluations count for a node, each with the value formula under which they do."""
        fs, of, sub = self.formulas, self.translator.of, node.sub
        for word in sub:
            for name, child in in_place(node, word):
                condition = of(child)
                if word == "then":
                    condition = fs.both(condition, of(sub["if"]))
                elif word == "else":
                    condition = fs.both(condition, of(sub["if"]) ^ 1)
                elif name is not None:
                    condition = fs.both(condition, fs.value(object=fs.some(fs.names((name,)), ANYTHING)))
                yield condition, child


def in_place(node, word):
    """The nodes in a keyword of a node whose evaluations count for it, as (name that must be present or None, node)."""
    value = node.sub[word]
    if word in REFERENCES or word == "if" or word in ("then", "else") and "if" in node.sub:
        found = [(None, value)]
    elif word in ("allOf", "anyOf", "oneOf"):
        found = [(None, child) for child in value]
    elif word in ("dependentSchemas", "dependencies"):
        found = value.items()
    else:
        found = ()
    return [(name, child) for name, child in found if isinstance(child, Node)]


def contains_evaluates(node):
    """Whether ``contains`` evaluates the items that it finds: from draft 2020-12 on."""
    return node.draft in (UNNAMED, 2020)


def contained(node):
    """The nodes whose formulas ``unevaluatedItems`` of a node takes apart: those of ``contains`` in place, and its own schema."""
    found, seen, todo = [], {node}, [node]
    while todo:
        at = todo.pop()
        if "contains" in at.sub and contains_evaluates(at):
            found.append(at.sub["contains"])
        for word in at.sub:
            for _, child in in_place(at, word):
                if child not in seen:
                    seen.add(child)
                    todo.append(child)
    if found:
        found.append(node.sub["unevaluatedItems"])
    return [child for child in found if isinstance(child, Node)]
