"""Where in a schema its formulas come from, so that a limit that is met while one is looked at can name the place.

Nothing is kept but the first schema object of each value formula. What a formula that came out of others has to do with them is
worked out when an error asks.
"""
from llgcy.errors import LimitError
from llgcy.schema.formula import ARRAY, FALSE, NUMBER, OBJECT, STRING, TRUE


class Places:
    """The places of one schema's formulas.

    Parameters
    ----------
    formulas : Formulas
    """

    def __init__(self, formulas):
        self.formulas = formulas
        self.nodes = {}                 # Node by value formula

    def note(self, v, node):
        """Says that a value formula is that of a node."""
        self.nodes.setdefault(v, node)

    def located(self, error, questions):
        """A `LimitError` with a place.

        Parameters
        ----------
        error : LimitError
        questions : iterable
            What was being worked at, the innermost first: value formulas, or (kind, formulas) for the formulas of a value of this kind.
            The first that has a place counts.

        Returns
        -------
        LimitError
            The error itself where it has a place, is no limit on a schema, or nothing is known.
        """
        if type(error) is not LimitError or error.pointer is not None:
            return error
        for question in questions:
            pointer = self.pointer(question)
            if pointer is not None:
                return LimitError(error.message, pointer=pointer)
        return error

    def pointer(self, question):
        """The JSON pointer of the schema object that a formula is, or of the one around all those that its parts come from; or None."""
        fs = self.formulas
        if question.__class__ is int:
            v = fs.aliases.get(question, question)
            node = self.nodes.get(v) or self.nodes.get(v ^ 1)
            if node is not None:
                return node.pointer
            if fs.values[v] is None:
                return None
            parts = [part for part in enumerate(fs.values[v]) if part[0]]
        else:
            parts = [(question[0], formula) for formula in question[1]]
        index, found = self.index(), []
        for kind, formula in parts:
            if formula == TRUE or formula == FALSE:
                continue
            node = index.get((kind, formula & -2))
            nodes = [node] if node is not None else [index.get((kind, unit & -2)) for unit in fs.units(formula)]
            found += [node for node in nodes if node is not None]
        return around(found) if found else None

    def index(self):
        """The first node by (kind, formula) of the parts of its value formula and of their parts, their signs aside."""
        fs, index = self.formulas, {}
        for v, node in self.nodes.items():
            for kind in (NUMBER, STRING, OBJECT, ARRAY):
                formula = fs.values[v][kind]
                for part in (formula, *fs.units(formula)):
                    index.setdefault((kind, part & -2), node)
        return index


def around(nodes):
    """The pointer of the innermost schema object that has all these nodes inside."""
    pointers, at = [node.pointer + "/" for node in nodes], nodes[0]
    while at is not None:
        if all(pointer.startswith(at.pointer + "/") for pointer in pointers):
            return at.pointer
        at = at.parent
    return ""
