from typing import final

from llgcy.core.machine import Machine
from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.core.trie import Vocabulary

@final
class Limited(Machine):
    body: Machine
    most: int
    judged: bool
    tail_bytes: bytes | None
    @property
    def least(self) -> int | None: ...
    def __new__(cls, body: Machine, most: int, vocabulary: Vocabulary, budget: Budget | None, *, greedy: bool = True, judged: bool = True,
                bound: int = -1, tail_bytes: bytes | None = None) -> Limited: ...

def term_facts(regexes: Regexes, term: int) -> tuple[int, bytes | None]: ...
