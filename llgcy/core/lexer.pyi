from collections.abc import Iterable
from typing import Any, final

from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.core.tables import GrammarTables

@final
class Lexer:
    regexes: Regexes | None
    n_lexemes: int
    states: int
    def __new__(cls, lexemes: Iterable[Any], regexes: Regexes | None, budget: Budget, tables: GrammarTables | None = None) -> Lexer: ...
    def start(self, lexemes: Iterable[int]) -> int: ...
    def after(self, handle: int, text: bytes) -> int: ...
    def ended(self, handle: int) -> list[int]: ...
    def leaves(self, handle: int) -> list[tuple[int, int]]: ...
