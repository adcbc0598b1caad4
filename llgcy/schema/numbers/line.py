"""A formula as a set of numbers: the line, cut at the formula's values into points and open cells.

Between two neighbours among the values every comparison is constant, so a cell is described by a condition on
divisibility (see `divisors`), and a formula is evaluated for all points and cells at once.
"""
from llgcy.errors import LimitError
from llgcy.schema.exact import ONE, ZERO
from llgcy.schema.numbers.divisors import divisors_of
from llgcy.schema.numbers.formula import COMPARISONS, program_of

#: Most (operator, point or cell) pairs that one formula may cost.
WORK = 20_000_000
#: Most looks at single multiples that its cells may cost, at worst: closed sets of r divisors * 2**r * values.
SCANS = 1 << 20


class Line:
    """The numbers that satisfy a formula.

    Parameters
    ----------
    program : Program
    with_integers : bool
        Whether 1 is among the divisors even if the formula does not speak of integers.
    strict : bool
        Make every ``int`` under an even number of ``not`` false: what remains may be written with a fraction.

    Attributes
    ----------
    divisors : Divisors
    values : list of Exact
        The points, ascending; zero is among them.
    conditions : list of int
        Of the cell below ``values[0]``, of ``values[0]``, of the cell above it, and so on: ``2 * len(values) + 1``. A point's
        is 0 or `divisors.full`.
    """

    def __init__(self, program, *, with_integers=False, strict=False):
        ms = program.multiples | {ONE} if with_integers else program.multiples
        self.divisors = divisors_of(tuple(sorted(ms)))
        self.values = sorted(program.values | {ZERO})
        if len(program.operations) * len(self.values) > WORK:
            raise LimitError(f"a condition on one number has {len(program.operations)} parts and {len(self.values)} values; "
                             f"the product may be {WORK // 2}")
        if len(ms) and (len(self.divisors.closed) << len(ms)) * len(self.values) > SCANS:
            raise LimitError(f"a condition on one number has {len(ms)} divisors and {len(self.values)} values; "
                             f"with so many divisors the limit is {SCANS // (len(self.divisors.closed) << len(ms))} values")
        self.conditions = self._evaluate(program, strict)

    def _evaluate(self, program, strict):
        values, full = self.values, self.divisors.full
        index = {q: 2 * i + 1 for i, q in enumerate(values)}
        size = 2 * len(values) + 1
        has = dict(zip(self.divisors.ms, self.divisors.has))
        stack = []
        for op, operand in program.operations:
            if op in COMPARISONS:
                at = index[operand]
                if op[0] == "g":
                    at += op == "gt"
                    row = [0] * at + [full] * (size - at)
                else:
                    at += op == "le"
                    row = [full] * at + [0] * (size - at)
            elif op == "mult" or op == "int" and not (strict and operand):
                m = ONE if op == "int" else operand
                row = [has[m]] * size
                row[1::2] = [full if m.divides(q) else 0 for q in values]
            elif op == "in":
                row = [0] * size
                for q in operand:
                    row[index[q]] = full
            elif op == "int":
                row = [0] * size
            elif op == "true":
                row = [full] * size
            elif op == "not":
                row = [full ^ c for c in stack.pop()]
            elif operand == 0:
                row = [full if op == "and" else 0] * size
            else:
                row = stack.pop()
                for _ in range(operand - 1):
                    other = stack.pop()
                    row = [a & b for a, b in zip(row, other)] if op == "and" else [a | b for a, b in zip(row, other)]
            stack.append(row)
        return stack.pop()

    @property
    def contains_zero(self):
        """Whether zero is in the set."""
        return self.conditions[2 * self.values.index(ZERO) + 1] != 0

    def half(self, negative):
        """The magnitudes of one sign: ``(values, point conditions, cell conditions)``, from zero upwards, each cell above its
        point."""
        zero = self.values.index(ZERO)
        if not negative:
            conditions = self.conditions[2 * zero + 1:]
            return self.values[zero:], conditions[0::2], conditions[1::2]
        conditions = self.conditions[2 * zero + 1::-1]
        return [abs(q) for q in self.values[zero::-1]], conditions[0::2], conditions[1::2]


def witness(formula):
    """Some number that satisfies the formula in the mathematical sense, with few digits; None where there is none.

    Raises
    ------
    LimitError
        A limit of formulas is exceeded, or every number of the set has too many digits to be written.

    Examples
    --------
    >>> from llgcy.schema.exact import Exact
    >>> witness(("and", ("mult", Exact.of(3)), ("gt", Exact.of(4)), ("lt", Exact.of("6.5")))).text()
    '6'
    >>> witness(("and", ("int",), ("gt", Exact.of(4)), ("lt", Exact.of(5)))) is None
    True
    """
    line = Line(program_of(formula))
    halves = [(negative, *line.half(negative)) for negative in (False, True)]
    for negative, values, points, _ in halves:
        for q, member in zip(values, points):
            if member:
                return -q if negative else q
    beyond = None
    for negative, values, _, cells in halves:
        for q, above, condition in zip(values, values[1:] + [None], cells):
            try:
                x = condition and line.divisors.find_between(condition, q, above)
            except LimitError as error:
                beyond = error
                continue
            if x:
                return -x if negative else x
    if beyond is not None:
        raise beyond
    return None


def is_empty(formula):
    """Whether no number satisfies the formula in the mathematical sense. Exact, also where no member can be written.

    >>> from llgcy.schema.exact import Exact
    >>> is_empty(("and", ("ge", Exact.of(1)), ("lt", Exact.of("1.0"))))
    True
    """
    line = Line(program_of(formula))
    for negative in (False, True):
        values, points, cells = line.half(negative)
        if any(points) or any(condition and line.divisors.some_between(condition, q, above)
                              for q, above, condition in zip(values, values[1:] + [None], cells)):
            return False
    return True
