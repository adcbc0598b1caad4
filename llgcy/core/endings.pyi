from typing import final

from llgcy.core.machine import Machine
from llgcy.core.masks import Masks
from llgcy.core.trie import Vocabulary

@final
class Reach:
    def __new__(cls, size: int) -> Reach: ...

@final
class Endings:
    def __new__(cls, machine: Machine, masks: Masks, vocabulary: Vocabulary) -> Endings: ...

@final
class Within: ...
