"""How a grammar reads a text: which rule has read which part of it.

The engine knows what may follow, for all readings at once, and forgets them on the way. Where one is asked for, the text is read
again by a plain parser: `lexing` cuts it into lexemes as the engine does, `chart` keeps what rules they make, and `choice` picks one
of the readings.
"""
from llgcy.grammar.reading.reader import Reader

__all__ = ["Reader"]
