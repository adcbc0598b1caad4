from collections.abc import Iterable, Sequence
from typing import Any, final

from llgcy.core.matcher import Matcher

@final
class Pool:
    def __new__(cls) -> Pool: ...

def fill_bitmasks(matchers: Iterable[Matcher], bitmask: Any, rows: Iterable[int] | None = None, threads: int | None = None) -> list[bool]: ...
def accept_batch(matchers: Iterable[Matcher], tokens: Iterable[int], threads: int | None = None) -> list[bool]: ...
def fill_draft_bitmasks(matchers: Iterable[Matcher], tokens: Iterable[Iterable[int]],
                        parents: Iterable[Sequence[int] | None] | None, bitmask: Any, rows: Iterable[int],
                        threads: int | None = None) -> None: ...
