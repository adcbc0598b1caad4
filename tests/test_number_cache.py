"""The compiled cache of number automata against the automata themselves."""
import random

import pytest

from llgcy.core.number import Numbers
from llgcy.core.store import Budget
from llgcy.errors import LimitError
from llgcy.schema.exact import Exact
from llgcy.schema.numbers import NumberLexeme

E = Exact.of
LARGE = ("and", ("int",), ("mult", E(123456789)))
FORMULAS = [
    (("int",),), (("true",),), (("and", ("ge", E("-1.5")), ("lt", E(77))),), (("mult", E("0.25")), ("int",), ("gt", E(9))),
    (LARGE,), (LARGE, ("le", E(5))), (("and", ("mult", E("0.00123456789")), ("ge", E(-7)), ("lt", E(10 ** 12))),),
    (("and", ("mult", E(2 ** 40)), ("int",)),), (("and", ("mult", E("100003e4")), ("le", E(10 ** 17))),),
    (("mult", E(2 ** 100 + 7)),), (("mult", E("1e30")), ("mult", E("1e-12"))), (("and", ("mult", E(10007)), ("mult", E("1000.09"))),),
]


def texts(rng, formula):
    """Numbers, multiples of the formula's divisors among them, and broken ones."""
    divisors, stack = [E(1)], list(formula)
    while stack:
        node = stack.pop()
        if node[0] == "mult":
            divisors.append(node[1])
        elif node[0] in ("and", "or", "not"):
            stack += node[1:]
    for _ in range(60):
        m = rng.choice(divisors)
        x = Exact.scaled(rng.choice([1, -1]) * m.c * rng.randrange(10 ** rng.randint(1, 14)), m.e + rng.choice([0, 0, 0, -1, 2]))
        text = x.text()
        if rng.random() < 0.3:
            text += rng.choice(["0", "00", ".0", "e", "e1", "-", "x", ".", "000000000"])
        yield text.encode()


@pytest.mark.parametrize("spelling", ["plain", "any"])
@pytest.mark.parametrize("index", range(len(FORMULAS)))
def test_equal_to_the_lexeme(index, spelling):
    rng = random.Random(index)
    lexeme = NumberLexeme(FORMULAS[index], spelling)
    numbers = Numbers(Budget(1 << 24, "a test"))
    language = numbers.language(lexeme)
    read = list(texts(rng, FORMULAS[index]))
    for _ in ("cold", "warm"):
        for text in read:
            state = lexeme.start()
            for k, byte in enumerate(text):
                state = lexeme.step(state, byte)
                handle = numbers.follow(language, text[:k + 1])
                assert (handle == 0) == (state is None), text[:k + 1]
                if state is None:
                    break
                assert numbers.ends(language, handle) == lexeme.accepts(state), text[:k + 1]
            if state is not None:
                assert lexeme.join(*lexeme.split(state)[:2]) == state
                tail = numbers.shortest(language, handle)
                assert len(tail) == len(lexeme.shortest(state)) and numbers.ends(language, numbers.follow(language, text + tail))


def test_equal_states_have_one_handle():
    numbers = Numbers(Budget(1 << 20, "a test"))
    language = numbers.language(NumberLexeme((LARGE,)))
    assert numbers.follow(language, b"7") == numbers.follow(language, b"123456796") != numbers.follow(language, b"8")
    small = numbers.language(NumberLexeme((("int",),)))
    assert numbers.follow(small, b"7") == numbers.follow(small, b"-8888")


def test_equal_lexemes_are_one_language():
    numbers = Numbers(Budget(1 << 20, "a test"))
    first = numbers.language(NumberLexeme((("int",),)))
    assert numbers.language(NumberLexeme((("int",),))) == first != numbers.language(NumberLexeme((("true",),)))


def test_memory_does_not_grow_with_the_numbers_read():
    numbers = Numbers(Budget(1 << 20, "a test"))
    language = numbers.language(NumberLexeme((LARGE,)))
    rng = random.Random(1)
    used = None
    for i in range(3000):
        x = rng.randrange(10 ** 30)
        state = numbers.follow(language, str(x).encode())
        assert (numbers.ends(language, state) == {0}) == (x % 123456789 == 0)
        if i == 100:
            used = numbers.budget.used
    assert numbers.budget.used == used and numbers.stats()["states"] < 10


def test_what_finds_no_room_takes_records_and_meets_the_budget():
    numbers = Numbers(Budget(1 << 20, "a test"))
    language = numbers.language(NumberLexeme((("mult", E(2 ** 100 + 7)),)))
    state = numbers.follow(language, b"1234567")
    assert state and numbers.stats()["spans"] == 0
    with pytest.raises(LimitError, match="a test"):
        for i in range(10 ** 6):
            numbers.follow(language, b"%d" % (10 ** 6 + i))
    assert numbers.follow(language, b"1234567") == state      # what is known still answers


def test_a_language_without_numbers():
    numbers = Numbers(Budget(1 << 20, "a test"))
    language = numbers.language(NumberLexeme((("and", ("int",), ("gt", E(1)), ("lt", E(2))),)))
    assert numbers.follow(language, b"") == 0 == numbers.follow(language, b"1")


def test_wrong_use():
    numbers = Numbers(Budget(1 << 20, "a test"))
    first, second = numbers.language(NumberLexeme((("int",),))), numbers.language(NumberLexeme((LARGE,)))
    state = numbers.follow(first, b"1")
    for language, wrong in [(2, state), (-1, state), (second, state), (first, 0), (first, 1), (first, -5), (first, 10 ** 6), (first, 1 << 24), (second, (1 << 24) + 1)]:
        with pytest.raises(ValueError):
            numbers.ends(language, wrong)
        with pytest.raises(ValueError):
            numbers.shortest(language, wrong)
    with pytest.raises(TypeError):
        numbers.language(None)
    with pytest.raises(TypeError):
        Numbers(None)


def test_bytes_that_are_in_no_number():
    numbers = Numbers(Budget(1 << 20, "a test"))
    language = numbers.language(NumberLexeme((("true",),)))
    for byte in set(range(256)) - set(b"0123456789+-.eE"):
        assert numbers.follow(language, bytes([byte])) == 0 == numbers.follow(language, bytes([49, byte]))
