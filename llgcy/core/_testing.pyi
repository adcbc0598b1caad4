from collections.abc import Mapping
from typing import final

from llgcy.core.machine import Machine
from llgcy.core.trie import Vocabulary

@final
class TableMachine(Machine):
    def __new__(cls, moves: Mapping[tuple[int | None, int, int], tuple[int, int]], inside: set[int], final: set[tuple[int, int]]) -> TableMachine: ...

def spelled(vocabulary: Vocabulary) -> list[tuple[bytes, list[int]]]: ...
def white(vocabulary: Vocabulary) -> list[tuple[int, int]]: ...
