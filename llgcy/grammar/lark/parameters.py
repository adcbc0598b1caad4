"""The numbers of parametric rules: values such as ``incr(_)``, conditions such as ``%if bit_clear(3)``.

Such a rule has one number of 64 bits, without sign. A value says which number a rule is used with, a condition whether an
alternative is there at all. Both are kept as tuples, their name first.
"""
from llgcy.errors import GrammarError, LimitError

BITS = 64
MOST = (1 << BITS) - 1
DEEPEST = 100                   # conditions inside one another

_STEPS, _BITS, _MASKS = ("incr", "decr"), ("set_bit", "clear_bit"), ("bit_and", "bit_or")
_COMPARED = {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}
_COUNTED = {f"bit_count_{name}": compare for name, compare in _COMPARED.items()}
_CONDITIONS = ("true", *_COMPARED, *_COUNTED, "bit_set", "bit_clear", "is_ones", "is_zeros", "and", "or", "not")


# -- reading: `parser` is a _Parser of the dialect, at the first token -------------------------------------------------
def value(parser):
    """What stands behind ``name::``."""
    if parser.take_op("_"):
        return ("self",)
    token = parser.token
    if token.text in (*_STEPS, *_BITS, *_MASKS):
        parser.index += 1
        parser.expect_op("(")
        arguments = _range(parser) if token.text in _STEPS else (_bit(parser) if token.text in _BITS else _number(parser),)
        parser.expect_op(")")
        return (token.text, *arguments)
    if token.kind == "a number":
        return "number", _number(parser)
    raise parser.expected(f"a number, _, {', '.join((*_STEPS, *_BITS, *_MASKS))}")


def condition(parser, depth=0):
    """What stands behind ``%if``."""
    token = parser.token
    if token.text not in _CONDITIONS:
        raise parser.expected(f"a condition: {', '.join(_CONDITIONS)}")
    if depth > DEEPEST:
        raise LimitError("more than {} conditions inside one another (line {}, column {})".format(DEEPEST, *parser.at(token)))
    name = token.text
    parser.index += 1
    if name == "true":
        if parser.take_op("("):
            parser.expect_op(")")
        return (name,)
    parser.expect_op("(")
    if name in _COMPARED or name in _COUNTED:
        arguments = _range(parser)
        parser.expect_op(",")
        arguments += (_number(parser),)
    elif name in ("bit_set", "bit_clear"):
        arguments = (_bit(parser),)
    elif name in ("is_ones", "is_zeros"):
        arguments = _range(parser)
    else:
        arguments = (condition(parser, depth + 1),)
        if name != "not":
            parser.expect_op(",")
            arguments += (condition(parser, depth + 1),)
    parser.expect_op(")")
    return (name, *arguments)


def _range(parser):
    """``_`` or ``[low:high]``: bits low .. high - 1."""
    if parser.take_op("_"):
        return 0, BITS
    at = parser.token
    parser.expect_op("[", "bits are written [low:high], all of them _")
    low = _number(parser)
    parser.expect_op(":")
    high = _number(parser)
    parser.expect_op("]")
    if not low < high <= BITS:
        raise parser.error(f"no such bits: [{low}:{high}]; low is less than high, which is at most {BITS}", at)
    return low, high


def _bit(parser):
    at, bit = parser.token, _number(parser)
    if bit >= BITS:
        raise parser.error(f"there is no bit {bit}: the last is {BITS - 1}", at)
    return bit


def _number(parser):
    token = parser.token
    if token.kind != "a number":
        raise parser.expected("a number")
    number = token.value
    if number is None and token.text[:2] in ("0x", "0X"):
        number = int(token.text, 16)
    if number is None or not 0 <= number <= MOST:
        raise parser.error(f"a parameter is a whole number of {BITS} bits, not {token.text[:40]}")
    parser.index += 1
    return number


# -- meaning -----------------------------------------------------------------------------------------------------------
def evaluate(value, own):
    """The number that a value stands for, in a rule whose own number is `own` (None: it has none).

    Raises
    ------
    GrammarError
        The value needs the rule's own number, and it has none.
    """
    match value:
        case ("number", number):
            return number
        case _ if own is None:
            raise GrammarError("the rule has no number of its own: it would have to be defined as name::_")
        case ("self",):
            return own
        case ("incr" | "decr" as step, low, high):
            mask = (1 << high) - (1 << low)
            bits = (own & mask) >> low
            bits = min(bits + 1, mask >> low) if step == "incr" else max(bits - 1, 0)
            return own & ~mask | bits << low
        case ("set_bit", bit):
            return own | 1 << bit
        case ("clear_bit", bit):
            return own & ~(1 << bit)
        case ("bit_and", mask):
            return own & mask
        case ("bit_or", mask):
            return own | mask
    raise TypeError(value)


def holds(condition, own):
    """Whether a condition is true of a rule's number.

    Raises
    ------
    GrammarError
        As for `evaluate`.
    """
    match condition:
        case ("true",):
            return True
        case ("and", one, other):
            return holds(one, own) and holds(other, own)
        case ("or", one, other):
            return holds(one, own) or holds(other, own)
        case ("not", one):
            return not holds(one, own)
        case _ if own is None:
            raise GrammarError("the condition asks for the rule's number, and it has none: it would have to be defined as name::_")
        case ("bit_set", bit):
            return bool(own >> bit & 1)
        case ("bit_clear", bit):
            return not own >> bit & 1
        case (name, low, high, *rest):
            bits = own >> low & (1 << high - low) - 1
            if name in _COMPARED:
                return _COMPARED[name](bits, rest[0])
            if name in _COUNTED:
                return _COUNTED[name](bits.bit_count(), rest[0])
            return bits == (0 if name == "is_zeros" else (1 << high - low) - 1)
    raise TypeError(condition)
