"""Exact decimal numbers: the values of JSON numbers, whatever their size, without ever writing out a power of ten.

A value is ``±c * 10**e`` with ``c`` not divisible by 10, so every value has one representation: equality and hashes go
by value (``1``, ``1.0`` and ``10e-1`` are one number), and ``1e1000000000`` costs as much as ``1``.
"""
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from llgcy.errors import LimitError

#: Most significant digits of one number (zeros at either end do not count).
DIGITS = 4096
#: Greatest power of ten, up or down; a sum of it and the length of any text fits 64 bits.
EXPONENT = 10 ** 15

# CPython refuses to convert more than 4,300 digits between int and str unless a process-wide setting says otherwise (it
# can be set as low as 640). That setting belongs to the application, so long numbers are converted in blocks.
_BLOCK = 512
_TEN_BLOCK = 10 ** _BLOCK
# Beyond this an int has more than DIGITS digits, or so many zeros at its end that taking them off is work in itself.
_INT_BITS = 1 << 17

_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?")


def digits_of(n):
    """The decimal digits of an int >= 0, as a str, whatever CPython's limit on such conversions.

    >>> digits_of(10 ** 5000) == "1" + "0" * 5000
    True
    """
    if n < _TEN_BLOCK:
        return str(n)
    blocks = []
    while n >= _TEN_BLOCK:
        n, low = divmod(n, _TEN_BLOCK)
        blocks.append(str(low).zfill(_BLOCK))
    blocks.append(str(n))
    return "".join(reversed(blocks))


def int_of(digits):
    """The int that a str of decimal digits (maybe none) spells, whatever CPython's limit on such conversions.

    >>> int_of("0" * 5000 + "12")
    12
    """
    if len(digits) <= _BLOCK:
        return int(digits or "0")
    first = len(digits) % _BLOCK
    n = int(digits[:first] or "0")
    for i in range(first, len(digits), _BLOCK):
        n = n * _TEN_BLOCK + int(digits[i:i + _BLOCK])
    return n


class Exact(NamedTuple):
    """An exact decimal ``±c * 10**e``. Make one by `Exact.of` or `Exact.scaled`, which keep the form unique.

    Attributes
    ----------
    negative : bool
        The sign; False for zero.
    c : int
        The significant digits, >= 0, not divisible by 10 unless zero.
    e : int
        The power of ten; 0 for zero.

    Examples
    --------
    >>> Exact.of("0.10") == Exact.of(0.1), Exact.of(1) == Exact.of("10e-1"), Exact.of("1e1000000000") > Exact.of(7)
    (True, True, True)
    """

    negative: bool
    c: int
    e: int

    @classmethod
    def of(cls, value):
        """Read a number exactly.

        Parameters
        ----------
        value : int, float, str, Decimal, Fraction or Exact
            A float stands for its shortest repr, so ``0.1`` is one tenth. A str is the text of a JSON number (RFC 8259,
            section 6). A Fraction must have a finite decimal expansion.

        Raises
        ------
        ValueError
            Not a number of that kind: NaN, infinity, other text, one third.
        TypeError
            Another type; bool is no number.
        LimitError
            More than `DIGITS` significant digits, or a power of ten beyond ±`EXPONENT`.
        """
        if isinstance(value, Exact):
            return value
        if isinstance(value, bool):
            raise TypeError("a bool is not a number")
        if isinstance(value, int):
            if value.bit_length() > _INT_BITS:
                raise LimitError(f"an integer of {value.bit_length()} bits; numbers have at most {DIGITS} significant digits")
            return cls.scaled(value)._within_limits()
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"{value!r} is not a JSON number")
            # float.__repr__, since a subclass (numpy's float64) may have a repr of its own
            return cls._of_text(float.__repr__(value).replace("e+", "e"))
        if isinstance(value, str):
            return cls._of_text(value)
        if isinstance(value, Decimal):
            sign, digits, exponent = value.as_tuple()
            if not isinstance(exponent, int):
                raise ValueError(f"{value} is not a JSON number")
            return cls._of_parts(bool(sign), "".join(map(str, digits)), exponent)
        if isinstance(value, Fraction):
            return cls._of_fraction(value)
        raise TypeError(f"a number is an int, float, Decimal, Fraction or JSON text, not {type(value).__name__}")

    @classmethod
    def scaled(cls, c, e=0):
        """``c * 10**e`` for ints `c` and `e`. Nothing is limited here: it serves arithmetic, whose operands were.

        >>> Exact.scaled(-1200, -1)
        Exact(negative=True, c=12, e=1)
        """
        if not c:
            return ZERO
        negative, c = c < 0, abs(c)
        if c % 10 == 0:
            if c < _TEN_BLOCK:
                while c % 10 == 0:
                    c //= 10
                    e += 1
            else:
                text = digits_of(c)
                bare = text.rstrip("0")
                c, e = int_of(bare), e + len(text) - len(bare)
        return cls(negative, c, e)

    @classmethod
    def _of_text(cls, text):
        match = _NUMBER.fullmatch(text)
        if match is None:
            shown = text if len(text) <= 40 else text[:40] + "..."
            raise ValueError(f"{shown!r} is not the text of a JSON number")
        minus, whole, fraction, sign, power = match.groups("")
        digits = whole + fraction
        if not digits.strip("0"):
            return ZERO
        power = power.lstrip("0")
        if len(power) > 18:
            raise LimitError(f"the exponent of a number has {len(power)} digits; powers of ten go to ±10^15")
        exponent = -int(power or 0) if sign == "-" else int(power or 0)
        return cls._of_parts(minus == "-", digits, exponent - len(fraction))

    @classmethod
    def read(cls, text):
        """The number of a JSON text, whatever its size: for numbers that are compared and no more.

        >>> Exact.read("1e99999999999999999999999") > Exact.read("-0.1e-7")
        True
        """
        minus, whole, fraction, sign, power = _NUMBER.fullmatch(text).groups("")
        c, e = int_of(whole + fraction), int_of(power)
        return cls.scaled(-c if minus else c, (-e if sign == "-" else e) - len(fraction))

    @classmethod
    def _of_parts(cls, negative, digits, e):
        bare = digits.rstrip("0")
        e += len(digits) - len(bare)
        bare = bare.lstrip("0")
        if not bare:
            return ZERO
        if len(bare) > DIGITS:
            raise LimitError(f"a number of {len(bare)} significant digits; the limit is {DIGITS}")
        return cls(negative, int_of(bare), e)._within_limits()

    @classmethod
    def _of_fraction(cls, value):
        rest, twos, fives = value.denominator, 0, 0
        if rest.bit_length() > _INT_BITS or value.numerator.bit_length() > _INT_BITS:
            raise LimitError(f"a fraction of that size; numbers have at most {DIGITS} significant digits")
        while rest % 2 == 0:
            rest, twos = rest >> 1, twos + 1
        while rest % 5 == 0:
            rest, fives = rest // 5, fives + 1
        if rest != 1:
            raise ValueError(f"{value} has no finite decimal expansion")
        places = max(twos, fives)
        return cls.scaled(value.numerator * 2 ** (places - twos) * 5 ** (places - fives), -places)._within_limits()

    def _within_limits(self):
        # 10**DIGITS has more than 3.32 * DIGITS bits: only long numbers are counted digit by digit
        if self.c.bit_length() > 3 * DIGITS and len(digits_of(self.c)) > DIGITS:
            raise LimitError(f"a number of {len(digits_of(self.c))} significant digits; the limit is {DIGITS}")
        if abs(self.e) > EXPONENT:
            raise LimitError(f"a number with the power of ten {self.e}; powers of ten go to ±10^15")
        return self

    @property
    def digits(self):
        """The significant digits as a str, without zeros at either end; empty for zero."""
        return digits_of(self.c) if self.c else ""

    @property
    def order(self):
        """Digits before the decimal point: ``10**(order-1) <= abs(x) < 10**order``; 0 for zero."""
        return len(digits_of(self.c)) + self.e if self.c else 0

    @property
    def is_integer(self):
        """Whether the value is an integer."""
        return self.e >= 0

    def __neg__(self):
        return Exact(not self.negative, self.c, self.e) if self.c else self

    def __abs__(self):
        return Exact(False, self.c, self.e)

    def __bool__(self):
        return self.c != 0

    def __int__(self):
        """The value as an int.

        Raises
        ------
        ValueError
            The value is not an integer.
        LimitError
            It has more than `DIGITS` digits written out.
        """
        if self.e < 0:
            raise ValueError(f"{self.text()} is not an integer")
        if self.order > DIGITS:
            raise LimitError(f"an integer of {self.order} digits; the limit is {DIGITS}")
        n = self.c * 10 ** self.e
        return -n if self.negative else n

    def compare(self, other):
        """-1, 0 or 1 as the value is less than, equal to or greater than `other`."""
        if self == other:
            return 0
        if self.negative != other.negative:
            return -1 if self.negative else 1
        # of one sign and different: compare magnitudes; zero is less than any positive
        if not self.c or not other.c:
            less = not self.c
        elif self.e == other.e:
            less = self.c < other.c
        else:
            p, q = self.order, other.order
            if p != q:
                less = p < q
            elif self.e > other.e:      # of one order, so e differs by no more than the digits
                less = self.c * 10 ** (self.e - other.e) < other.c
            else:
                less = self.c < other.c * 10 ** (other.e - self.e)
        return -1 if less != self.negative else 1

    def __lt__(self, other):
        return self.compare(other) < 0

    def __le__(self, other):
        return self.compare(other) <= 0

    def __gt__(self, other):
        return self.compare(other) > 0

    def __ge__(self, other):
        return self.compare(other) >= 0

    def divides(self, other):
        """Whether `other` is an integer times this number (so zero divides only zero).

        >>> Exact.of("0.01").divides(Exact.of("19.99")), Exact.of(3).divides(Exact.of("1e1000000000"))
        (True, False)
        """
        if not self.c:
            return not other.c
        if not other.c:
            return True
        # other.c has no factor 10, so it cannot make up for a greater power of ten
        return other.e >= self.e and other.c * pow(10, other.e - self.e, self.c) % self.c == 0

    def text(self):
        """The number as JSON text: plain digits where at most `DIGITS` are needed on each side of the point, else with
        an exponent.

        >>> Exact.of("1.50e1").text(), Exact.of("-0.050").text(), Exact.of("12e1000000000").text()
        ('15', '-0.05', '12e1000000000')
        """
        if not self.c:
            return "0"
        sign, digits, e = "-" if self.negative else "", digits_of(self.c), self.e
        if len(digits) + e > DIGITS or e < -DIGITS:
            return f"{sign}{digits}e{e}"
        if e >= 0:
            return sign + digits + "0" * e
        digits = digits.rjust(1 - e, "0")
        return f"{sign}{digits[:e]}.{digits[e:]}"

    def __str__(self):
        """The text, cut short where it is long: for messages."""
        text = self.text()
        return text if len(text) <= 40 else f"{text[:25]}... ({len(text)} characters)"


ZERO = Exact(False, 0, 0)
ONE = Exact(False, 1, 0)
