"""The lexeme of a JSON number: several conditions side by side, in one of three spellings."""
from llgcy.schema.numbers.digits import DigitsLexeme
from llgcy.schema.numbers.formula import program_of, remembered, size_of
from llgcy.schema.numbers.line import Line
from llgcy.schema.numbers.plain import PlainLexeme
from llgcy.schema.numbers.sides import map_cells
from llgcy.schema.numbers.signed import SignedLexeme
from llgcy.schema.numbers.spelled import SpelledLexeme

SPELLINGS = ("plain", "any", "digits")


class NumberLexeme:
    """The texts of JSON numbers that meet at least one of several formulas, as an automaton over bytes.

    Parameters
    ----------
    formulas : tuple
        Formulas of one exact number (see `llgcy.schema.numbers.formula`), the alternatives.
    spelling : {"plain", "any", "digits"}
        ``any``: every spelling of RFC 8259, section 6. ``plain``: digits, with a fraction where no ``int`` is asked for
        (the formula must hold with every ``int`` under an even number of ``not`` made false); exponents and ``-0`` only
        where nothing but the sign of the number is constrained. ``digits``: every spelling, where ``int`` holds of digits alone.

    Raises
    ------
    LimitError
        A documented limit of numbers: `exact.DIGITS`, `exact.EXPONENT`, `divisors.DIVISORS`, `divisors.MODULUS`,
        `formula.NODES`, `formula.NESTING`, `line.WORK`, `line.SCANS`.

    Notes
    -----
    Equal by content (formulas and spelling), so lexemes may be keys. States are tuples, equal only if their futures are.
    Every answer is a pure function of the state. No text is limited in length.

    Examples
    --------
    >>> from llgcy.schema.exact import Exact
    >>> lexeme = NumberLexeme((("and", ("int",), ("le", Exact.of(12))), ("mult", Exact.of("0.5"))))
    >>> state = lexeme.start()
    >>> for byte in b"12":
    ...     state = lexeme.step(state, byte)
    >>> lexeme.accepts(state) == {0, 1}, lexeme.shortest(lexeme.step(state, ord(".")))
    (True, b'0')
    """

    def __init__(self, formulas, spelling="plain"):
        if spelling not in SPELLINGS:
            raise ValueError(f"number spelling {spelling!r}: it is one of {', '.join(SPELLINGS)}")
        self.formulas, self.spelling = tuple(formulas), spelling
        for formula in self.formulas:
            size_of(formula)    # refuses what must not be hashed
        # equal formulas share one automaton, which stands for all of their indexes
        self._indexes = {}
        for i, formula in enumerate(self.formulas):
            self._indexes.setdefault(formula, []).append(i)
        self._parts = [part_of(formula, spelling) for formula in self._indexes]
        self._sets = [frozenset(indexes) for indexes in self._indexes.values()]
        self._hash = hash((self.formulas, spelling))

    def __eq__(self, other):
        return isinstance(other, NumberLexeme) and (self.formulas, self.spelling) == (other.formulas, other.spelling)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"NumberLexeme({self.formulas!r}, {self.spelling!r})"

    @property
    def empty(self):
        """Whether no number meets any of the formulas in this spelling."""
        return all(part.empty for part in self._parts)

    def start(self):
        """The state before the first byte; None if the lexeme is empty."""
        return tuple((k, part.start()) for k, part in enumerate(self._parts) if not part.empty) or None

    def step(self, state, byte):
        """The state after one more byte (0 to 255); None exactly where no text that meets a formula goes on so."""
        out = []
        for k, inner in state:
            inner = self._parts[k].step(inner, byte)
            if inner is not None:
                out.append((k, inner))
        return tuple(out) or None

    def accepts(self, state):
        """The indexes of the formulas that the text read so far meets, as a frozenset; empty if it may not end here."""
        met = [self._sets[k] for k, inner in state if self._parts[k].accepts(inner)]
        return met[0] if len(met) == 1 else frozenset().union(*met)

    def shortest(self, state):
        """A shortest completion of the text read so far, as bytes."""
        return min((self._parts[k].shortest(inner) for k, inner in state), key=len)


    # -------- for caches of states (see llgcy/core/number.pyx)
    def split(self, state):
        """``(shape, code, size)``: the state is number `code` of `size` states that differ in residues alone."""
        shapes, code, size = [], 0, 1
        for k, inner in state:
            shape, inner_code, inner_size = self._parts[k].split(inner)
            shapes.append((k, shape, inner_size))
            code, size = code * inner_size + inner_code, size * inner_size
        return tuple(shapes), code, size

    def join(self, shape, code):
        """The state of a shape and a code: the way back from `split`."""
        state = []
        for k, inner, size in reversed(shape):
            code, inner_code = divmod(code, size)
            state.append((k, self._parts[k].join(inner, inner_code)))
        return tuple(reversed(state))

    def loop(self, shape):
        """``(modulus, zeros)`` if after any digit all states of a shape are alive and in it, the code ``z * modulus + rho`` moving
        as `residues.append` and `residues.reduce` say; else None."""
        return self._parts[shape[0][0]].loop(shape[0][1]) if len(shape) == 1 else None


@remembered
def part_of(formula, spelling):
    """The automaton of one formula, shared by all lexemes: ``integer`` and ``number`` are in nearly every schema."""
    program = program_of(formula)
    if spelling == "digits":
        return DigitsLexeme(formula)
    plain = spelling == "plain"
    fractional = Line(program, with_integers=plain, strict=plain)
    digits_only = Line(program, with_integers=True) if plain and program.asks_integer else fractional
    signs = only_signs(fractional)
    if signs is not None and (any(signs) or not plain) and (digits_only is fractional or only_signs(digits_only) == signs):
        negative, positive = signs
        return SignedLexeme(negative, fractional.contains_zero, positive, digits_only.contains_zero)
    return PlainLexeme(digits_only, fractional) if plain else SpelledLexeme(fractional)


def only_signs(line):
    """``(all negative numbers are in the set, all positive numbers are)`` where the numbers of one sign are all in or all
    out, else None."""
    found = []
    for negative in (True, False):
        points, members, cells = line.half(negative)
        verdicts = {*members[1:], *map_cells(line.divisors, points, cells, line.divisors.full)}
        if len(verdicts) > 1 or not verdicts <= {0, line.divisors.full}:
            return None
        found.append(verdicts != {0})
    return tuple(found)
