from typing import final

from llgcy.core.lock import Lock
from llgcy.core.machine import Machine
from llgcy.core.trie import Vocabulary

@final
class Work:
    def __new__(cls, machine: Machine, vocabulary: Vocabulary, lock: Lock) -> Work: ...

@final
class Masks:
    machine: Machine
    vocabulary: Vocabulary
    hits: int
    shared: int
    roaming: int
    walks: int
    walked: int
    classified: int
    differences: int
    asked: int
    forgotten: int
    turns: int
    def __new__(cls, machine: Machine, vocabulary: Vocabulary, lock: Lock, size: int) -> Masks: ...
    def stats(self) -> dict[str, int]: ...
