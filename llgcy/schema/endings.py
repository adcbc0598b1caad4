"""Short JSON texts that finish what is open."""
import json
from collections import Counter

from llgcy.core.unescape import ending
from llgcy.errors import LimitError, UnclearError
from llgcy.schema.formula import NULL, TRUE_LITERAL

#: Bytes of one ending.
LENGTH = 1 << 20


class Endings:
    """Builds texts from the recipes of `Emptiness`, without recursion.

    Parameters
    ----------
    solver : Emptiness
    order : Order or None
    """

    def __init__(self, solver, order):
        self.solver, self.order, self.escapes = solver, order, 0        # the last one: of strings, as the machine has them
        self.scalars = {}               # texts by recipe

    def value(self, v, place):
        """A short text of the value formula `v`, which is inhabited, with its properties in order."""
        return self.written([(v, place)])

    def members(self, keys, members, place, used, first):
        """What comes inside ``{``: members ((outcome, value formula), ...) in this order, and ``}``."""
        return self.written([*self.object_pieces(self.named(keys, members, used), place, first), b"}"])

    def items(self, items, place, n, first):
        """What comes inside ``[``: items ((value formula, how many), ...) from position `n` on, and ``]``."""
        return self.written([*self.array_pieces(items, place, n, first), b"]"])

    def written(self, pieces):
        """The text of pieces: bytes, or (value formula, place)."""
        todo, text, length = pieces[::-1], [], 0
        while todo:
            piece = todo.pop()
            if isinstance(piece, bytes):
                text.append(piece)
                length += len(piece)
                continue
            if length + len(todo) > LENGTH:
                raise LimitError(f"the shortest ending known is longer than {LENGTH} bytes")
            todo.extend(reversed(self.pieces(*piece)))
        return b"".join(text)

    def pieces(self, v, place):
        """One value, one level deep."""
        recipe = self.solver.recipe(v)
        what = recipe[0]
        if what == "number" or what == "string":
            if recipe not in self.scalars:
                self.scalars[recipe] = self.scalar(*recipe)
            return [self.scalars[recipe]]
        if what == "literal":
            return [b"null" if recipe[1] & NULL else b"true" if recipe[1] & TRUE_LITERAL else b"false"]
        if what == "array":
            return [b"[", *self.array_pieces(recipe[1], place, 0, True), b"]"]
        _, keys, members = recipe
        members = self.named(keys, members, frozenset())
        if members and place is not None:
            # classes of keys may turn out to be names that the order has and the formula does not mention
            ranks = {name: i for i, name in enumerate(self.order.names(place))}
            members.sort(key=lambda member: ranks.get(member[0], len(ranks)))
        return [b"{", *self.object_pieces(members, place, True), b"}"]

    def scalar(self, what, formula):
        """The text of a number or string."""
        if what == "number":
            lexeme = self.solver.lexeme((formula,))
            return lexeme.shortest(lexeme.start())
        return self.quoted(self.solver.texts.witness(formula))

    def named(self, keys, members, used):
        """Members with names in place of outcomes, none of them in `used` (None: not known)."""
        if not members:
            return []
        if used is None:
            raise UnclearError("which names are free to end the object is not known")
        if keys is None:                # names stand for outcomes
            return list(members)
        # all names of an outcome at once: one by one, each would be looked for past those before it
        free = {outcome: iter(keys.several(outcome, copies, used)) for outcome, copies in Counter(o for o, _ in members).items()}
        named = []
        for outcome, value in members:
            name = next(free[outcome], None)
            if name is None:
                raise LimitError("a class of keys has no name left, which is not counted beyond 64 names")
            named.append((name, value))
        return named

    def object_pieces(self, members, place, first):
        pieces = []
        for name, value in members:
            pieces.append(self.quoted(name) + b":" if first else b"," + self.quoted(name) + b":")
            pieces.append((value, self.order.member(place, name) if place is not None else None))
            first = False
        return pieces

    def array_pieces(self, items, place, n, first):
        pieces = []
        if items.__class__ is not tuple:        # an `Apart`
            items = self.solver.run(self.solver.distinct.written(items))
        for value, copies in items:
            if copies + len(pieces) > LENGTH:
                raise LimitError(f"the shortest ending known has more than {LENGTH} items")
            for _ in range(copies):
                if not first:
                    pieces.append(b",")
                pieces.append((value, self.order.item(place, n) if place is not None else None))
                first = False
                n += 1
        return pieces

    def quoted(self, text):
        """A JSON string."""
        if not self.escapes:
            return json.dumps(text, ensure_ascii=False).encode("utf-8")
        return b'"' + b"".join(ending(0, ord(c), self.escapes) for c in text) + b'"'
