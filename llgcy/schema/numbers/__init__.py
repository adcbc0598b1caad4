"""JSON numbers under exact conditions: formulas, their sets, and the lexemes that enforce them byte by byte."""
from llgcy.schema.numbers.formula import holds
from llgcy.schema.numbers.lexeme import NumberLexeme
from llgcy.schema.numbers.line import is_empty, witness

__all__ = ["NumberLexeme", "holds", "is_empty", "witness"]
