from typing import final

from llgcy.core.endings import Endings
from llgcy.core.machine import Machine
from llgcy.core.masks import Masks
from llgcy.core.store import Budget
from llgcy.core.trie import Vocabulary

@final
class Engine:
    machine: Machine
    masks: Masks
    endings: Endings
    def __new__(cls, machine: Machine, budget: Budget | None, vocabulary: Vocabulary, mask_bytes: int) -> Engine: ...
    def stats(self) -> dict[str, int]: ...
