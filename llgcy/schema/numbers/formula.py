"""Boolean formulas over one exact number, compiled once to postfix programs.

A formula is a nested tuple, as the schema layer builds it:

    ("true",)  ("int",)  ("ge", q)  ("gt", q)  ("le", q)  ("lt", q)  ("mult", m)  ("in", (q, ...))
    ("not", F)  ("and", F, ...)  ("or", F, ...)

with `Exact` numbers ``q`` and ``m > 0``. ``("and",)`` is true and ``("or",)`` is false. ``int`` says "an integer", as
``mult 1`` does; they differ in plain spelling only (see `llgcy.schema.numbers.lexeme`).
"""
import functools
from typing import NamedTuple

from llgcy.errors import LimitError
from llgcy.schema.exact import ONE, ZERO, Exact

#: Most operators and atoms of one formula.
NODES = 100_000
#: Formulas up to this size are remembered in great number.
SHORT = 100
#: Deepest nesting of ``and``, ``or`` and ``not`` in it.
NESTING = 1_000

CONNECTIVES = frozenset(("and", "or", "not"))
COMPARISONS = frozenset(("ge", "gt", "le", "lt"))
_TRUTH_OF_ORDER = {"ge": (0, 1), "gt": (1,), "le": (-1, 0), "lt": (-1,)}


class Program(NamedTuple):
    """A formula in postfix order.

    Attributes
    ----------
    operations : tuple of (str, operand)
        ``true``; ``int`` (operand: whether it stands under an even number of ``not``); the comparisons and ``mult``
        (an Exact); ``in`` (a frozenset of Exact); ``not``; ``and``, ``or`` (the number of parts).
    values : frozenset of Exact
        The bounds and listed values: between two neighbours among them only divisibility matters.
    multiples : frozenset of Exact
        The divisors, 1 for ``int``.
    asks_integer : bool
        Whether some ``int`` stands under an even number of ``not``.
    """

    operations: tuple
    values: frozenset
    multiples: frozenset
    asks_integer: bool


def compile_formula(formula):
    """The program of a formula. Raises ValueError or TypeError where it is none, LimitError beyond `NODES`."""
    operations, values, multiples, asks_integer = [], set(), set(), False
    # Prefix order with the parts reversed, read backwards, is postfix; an explicit stack, since nesting has no limit.
    stack = [(formula, True)]
    while stack:
        node, positive = stack.pop()
        op, parts = node[0], node[1:]
        if op in ("and", "or"):
            if op == ("or" if positive else "and"):
                parts = _join_lists(parts, positive)
            operations.append((op, len(parts)))
            stack.extend((part, positive) for part in parts)
        elif op == "not":
            operations.append((op, None))
            stack.append((*parts, not positive))
        elif op == "int":
            operations.append((op, positive))
            multiples.add(ONE)
            asks_integer |= positive
        elif op == "in":
            (listed,) = parts
            listed = frozenset(map(_exact, listed))
            operations.append((op, listed))
            values |= listed
        elif op == "mult":
            (m,) = parts
            if _exact(m) <= ZERO:
                raise ValueError(f"multiples of {m} are not defined: a divisor is positive")
            operations.append((op, m))
            multiples.add(m)
        elif op in COMPARISONS:
            (q,) = parts
            operations.append((op, _exact(q)))
            values.add(q)
        elif op == "true":
            operations.append((op, None))
        else:
            raise ValueError(f"{op!r} is no operator of a number formula")
        if len(operations) + len(stack) > NODES:
            raise LimitError(f"a condition on one number has more than {NODES} parts")
    operations.reverse()
    return Program(tuple(operations), frozenset(values), frozenset(multiples), asks_integer)


def _join_lists(parts, positive):
    """The same alternatives with all lists of values in one: 10,000 constants are one list, not 10,000 passes."""
    listed, count, others = set(), 0, []
    for part in parts:
        inner = part if positive else part[1] if part[0] == "not" else part
        if inner[0] == "in" and (positive or inner is not part):
            listed.update(inner[1])
            count += 1
        else:
            others.append(part)
    if count < 2:
        return parts
    joined = ("in", tuple(listed))
    return [*others, joined if positive else ("not", joined)]


def _exact(q):
    if not isinstance(q, Exact):
        raise TypeError(f"a number formula holds Exact numbers, not {type(q).__name__}")
    return q


def size_of(formula):
    """Nodes and listed values of a formula; refuses deep ones, which must not be hashed (that is a recursion in C)."""
    layer, depth, size = [formula], 0, 0
    while layer:
        size += sum(len(node[1]) if node[0] == "in" else 1 for node in layer)
        layer = [part for node in layer if node[0] in CONNECTIVES for part in node[1:]]
        depth += 1
        if depth > NESTING:
            raise LimitError(f"a condition on one number is nested more than {NESTING} deep")
    return size


def remembered(function):
    """Remember what a function of a formula (and more) answered last: for many short formulas, for a few long ones."""
    small, large = functools.lru_cache(1024)(function), functools.lru_cache(8)(function)

    @functools.wraps(function)
    def answer(formula, *others):
        return (small if size_of(formula) <= SHORT else large)(formula, *others)

    return answer


program_of = remembered(compile_formula)


def holds(formula, x):
    """Whether the number `x` (an Exact) satisfies the formula, in the mathematical sense: ``1.0`` is an integer.

    >>> holds(("and", ("int",), ("ge", Exact.of(0)), ("not", ("mult", Exact.of(3)))), Exact.of("7.0"))
    True
    """
    stack = []
    for op, operand in program_of(formula).operations:
        if op in COMPARISONS:
            stack.append(x.compare(operand) in _TRUTH_OF_ORDER[op])
        elif op == "int":
            stack.append(x.is_integer)
        elif op == "mult":
            stack.append(operand.divides(x))
        elif op == "in":
            stack.append(x in operand)
        elif op == "true":
            stack.append(True)
        elif op == "not":
            stack.append(not stack.pop())
        else:
            parts = [stack.pop() for _ in range(operand)]
            stack.append(all(parts) if op == "and" else any(parts))
    return stack.pop()
