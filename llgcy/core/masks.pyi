from typing import final

from llgcy.core.machine import Machine
from llgcy.core.store import Budget
from llgcy.core.trie import Vocabulary

@final
class Masks:
    machine: Machine
    vocabulary: Vocabulary
    walks: int
    walked: int
    classified: int
    differences: int
    asked: int
    forgotten: int
    def __new__(cls, machine: Machine, vocabulary: Vocabulary, budget: Budget) -> Masks: ...
    def stats(self) -> dict[str, int]: ...
