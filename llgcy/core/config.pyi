from collections.abc import Sequence
from typing import final

from llgcy.core.lexer import Lexer
from llgcy.core.machine import Machine
from llgcy.core.rows import Rows
from llgcy.core.store import Budget
from llgcy.core.tables import GrammarTables

@final
class Chain:
    def __new__(cls, machines: Sequence[Machine]) -> Chain: ...

@final
class GrammarMachine(Machine):
    tables: GrammarTables
    budget: Budget
    rows: Rows
    lexer: Lexer
    separable: bool
    warnings: list[str]
    def __new__(cls, tables: GrammarTables, budget: Budget | None = None, *, horizon: int = 128) -> GrammarMachine: ...
    def key(self, state: bytes) -> bytes: ...
    def accepts(self, text: bytes) -> bool: ...
    def completion(self, state: bytes) -> bytes: ...
    def expected(self, state: bytes) -> list[tuple[str, str | None]]: ...
    def temperature(self, state: bytes) -> float | None: ...
    def stats(self) -> dict[str, int]: ...
