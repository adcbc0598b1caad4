"""The Lark dialect: Lark's grammar language as constrained decoding uses it, with intersection, complement and JSON.

Rules are context-free, terminals are regular, each one lexeme. A newline ends a definition unless the next line begins
with ``|``.
"""
from llgcy.grammar.lark.build import read

__all__ = ["read"]
