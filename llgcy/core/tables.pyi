from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, final

CUTTING: int

class ByToken:
    def __len__(self) -> int: ...

@final
class GrammarTables:
    n_lexemes: int
    n_symbols: int
    n_places: int
    n_counts: int
    skips: tuple[int, ...]
    gaps: bool
    skip_first: bool
    skip_last: bool
    empty: bool
    lexing: Literal["greedy", "exact"]
    regexes: Any
    lexemes: tuple[Any, ...]
    shortest: tuple[bytes | ByToken | None, ...]
    names: list[str]
    temperatures: tuple[float | None, ...] | None
    rules: list[tuple[int, tuple[Any, ...]]]
    def __init__(
        self,
        rules: Iterable[tuple[int, Sequence[Any]]],
        start: int,
        lexemes: Iterable[Any],
        regexes: Any = None,
        *,
        skip: int = -1,
        skips: Sequence[int] | None = None,
        behind: Mapping[int, Collection[int]] | None = None,
        once: Collection[int] = (),
        skip_first: bool = False,
        skip_last: bool = False,
        lexing: Literal["greedy", "exact"] = "greedy",
        ranks: Sequence[int] | None = None,
        names: Iterable[str] | None = None,
        temperatures: Iterable[float | None] | None = None,
    ) -> None: ...
    def join(self, lexemes: Iterable[int], between: bytes = b"") -> bytes: ...
    def text(self, symbol: int) -> bytes: ...
