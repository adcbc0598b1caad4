from collections.abc import Iterator
from typing import final

from llgcy.core.tables import GrammarTables

def bits(mask: int) -> Iterator[int]: ...
@final
class Overlaps:
    tables: GrammarTables
    settled: bool
    hidden: bool
    conflicts: dict[tuple[int, int], int]
    def __new__(cls, tables: GrammarTables, fuel: int = 1_000_000) -> Overlaps: ...
    def stuck(self) -> list[int]: ...
    def parting(self) -> bytes: ...
