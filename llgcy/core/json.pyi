from typing import Any, final

from llgcy.core.machine import Machine
from llgcy.core.number import Numbers
from llgcy.core.store import Budget
from llgcy.core.strings import Strings

@final
class JsonMachine(Machine):
    automaton: Any
    strings: Strings
    numbers: Numbers
    asked: int
    def __new__(cls, automaton: Any, budget: Budget, horizon: int, gap: int = 128, surrounded: bool = False, *,
                escapes: int = 0, indent: int = -1, table: bytes | None = None) -> JsonMachine: ...
    @property
    def tail_bytes(self) -> bytes: ...
    def completion(self, state: bytes) -> bytes: ...
    def expected(self, state: bytes) -> list[tuple[str, str | None]]: ...
    def stats(self) -> dict[str, int]: ...
