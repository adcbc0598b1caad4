"""Exact decimals against Fraction, and their limits."""
import json
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llgcy.errors import LimitError
from llgcy.schema.exact import DIGITS, EXPONENT, ZERO, Exact, digits_of, int_of

decimals = st.tuples(st.one_of(st.integers(-10 ** 4, 10 ** 4), st.integers(-10 ** 30, 10 ** 30)), st.integers(-40, 40))


def fraction(x):
    value = Fraction(x.c) * Fraction(10) ** x.e
    return -value if x.negative else value


@given(decimals)
def test_every_way_in_gives_one_value(pair):
    c, e = pair
    value = Fraction(c) * Fraction(10) ** e
    x = Exact.of(f"{c}e{e}")
    assert fraction(x) == value
    assert x == Exact.of(value) == Exact.of(Decimal(f"{c}e{e}")) == Exact.scaled(c, e) == Exact.of(f"{c}.000E{e}")
    assert hash(x) == hash(Exact.of(value))
    assert x.c % 10 != 0 or x == ZERO
    if value.denominator == 1:
        assert x == Exact.of(int(value)) and int(x) == value and x.is_integer
    else:
        assert not x.is_integer
        with pytest.raises(ValueError):
            int(x)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_shortest_repr(value):
    assert Exact.of(value) == Exact.of(Decimal(repr(value)))
    assert Exact.of(json.dumps(value)) == Exact.of(value)


def test_one_tenth_is_not_its_binary_float():
    assert Exact.of(0.1) == Exact.of(Fraction(1, 10)) != Exact.of(Fraction(0.1))
    assert Exact.of(-0.0) == ZERO == Exact.of("-0.000e-7") == Exact.of("0e99999999999999999999999")


@given(decimals, decimals)
@settings(max_examples=300)
def test_order_and_divisibility(first, second):
    x, y = Exact.scaled(*first), Exact.scaled(*second)
    a, b = fraction(x), fraction(y)
    assert (x < y, x <= y, x > y, x >= y, x == y) == (a < b, a <= b, a > b, a >= b, a == b)
    assert x.compare(y) == (a > b) - (a < b)
    assert fraction(-x) == -a and fraction(abs(x)) == abs(a) and bool(x) == bool(a)
    assert x.divides(y) == (b % a == 0 if a else b == 0)
    product = Exact.of(a * b)
    assert x.divides(Exact.of(a * math.floor(b)))
    assert product.divides(ZERO)


@given(decimals)
def test_text_is_json_and_reads_back(pair):
    x = Exact.scaled(*pair)
    text = x.text()
    assert Exact.of(text) == x and "e" not in text
    assert Fraction(text) == fraction(x) and json.loads(text, parse_float=Fraction) == fraction(x)
    assert str(x) == text if len(text) <= 40 else len(str(x)) < 60


@given(decimals)
def test_order_counts_integer_digits(pair):
    x = Exact.scaled(*pair)
    if x:
        assert Fraction(10) ** (x.order - 1) <= abs(fraction(x)) < Fraction(10) ** x.order


def test_far_powers_of_ten_cost_nothing():
    huge, tiny = Exact.of("1e1000000000"), Exact.of("-1e-1000000000")
    assert tiny < ZERO < Exact.of("1e-1000000000") < Exact.of(1) < huge < Exact.of("1.0000001e1000000000")
    assert Exact.of("7e3").divides(Exact.of("14e999999999")) and not Exact.of("7e3").divides(huge)
    assert abs(tiny).divides(huge) and not huge.divides(Exact.of("1e999999999"))
    assert huge.text() == "1e1000000000" and tiny.text() == "-1e-1000000000"
    assert Exact.of(huge.text()) == huge
    with pytest.raises(LimitError):
        int(huge)


@pytest.mark.parametrize("text", ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "0x10", "NaN", "Infinity", "1 ", "١", "1_0", "--1", "1\n"])
def test_other_texts_are_no_numbers(text):
    with pytest.raises(ValueError):
        Exact.of(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("-Infinity"), Fraction(1, 3)])
def test_other_values_are_no_numbers(value):
    with pytest.raises(ValueError):
        Exact.of(value)


@pytest.mark.parametrize("value", [True, None, b"1", [1]])
def test_other_types_are_no_numbers(value):
    with pytest.raises(TypeError):
        Exact.of(value)


@pytest.mark.parametrize("value", ["7" * (DIGITS + 1), "0." + "0" * 50 + "3" * (DIGITS + 1), f"1e{EXPONENT + 1}", "1e-9999999999999999999999",
                                   f"0.1e-{EXPONENT}", 10 ** 60000, 10 ** DIGITS + 1, Fraction(1, 2 ** 20000), Fraction(1, 2 ** 200000)], ids=range(9))
def test_limits(value):
    with pytest.raises(LimitError):
        Exact.of(value)


def test_within_the_limits():
    assert Exact.of("7" * DIGITS).order == DIGITS
    assert Exact.of(f"1e{EXPONENT}").e == EXPONENT and Exact.of(f"1e-{EXPONENT}").e == -EXPONENT
    assert Exact.of("1" + "0" * 6000) == Exact.of(10 ** 6000) == Exact.of("1e6000")
    assert Exact.of("0." + "0" * 6000 + "1").e == -6001
    assert Exact.of("1e+0007") == Exact.of(10 ** 7)


@given(st.integers(0, 10 ** 40), st.integers(0, 6000), st.integers(0, 10 ** 9))
@settings(max_examples=60)
def test_digits_of_any_length(head, zeros, tail):
    n = head * 10 ** zeros + tail
    text = digits_of(n)
    assert int_of(text) == n == int_of("000" + text)
    assert (text[0] != "0" or n == 0) and 10 ** (len(text) - 1) <= max(n, 1) < 10 ** len(text)


def test_the_process_wide_digit_limit_is_not_in_the_way():
    code = ("from llgcy.schema.exact import Exact; x = Exact.of('123456789' * 400); "
            "assert x.text() == '123456789' * 400 and x.order == 3600; assert Exact.of(x.text() + '.5') > x; print('ok')")
    done = subprocess.run([sys.executable, "-X", "int_max_str_digits=640", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ok\n"
