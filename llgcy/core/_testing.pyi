from collections.abc import Mapping
from typing import final

from llgcy.core.machine import Machine

@final
class TableMachine(Machine):
    def __new__(cls, moves: Mapping[tuple[int | None, int, int], tuple[int, int]], inside: set[int], final: set[tuple[int, int]]) -> TableMachine: ...
