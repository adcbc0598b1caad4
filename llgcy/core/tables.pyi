from collections.abc import Iterable, Sequence
from typing import Any, Literal, final

@final
class GrammarTables:
    n_lexemes: int
    n_symbols: int
    n_places: int
    n_counts: int
    skip: int
    skip_first: bool
    skip_last: bool
    empty: bool
    lexing: Literal["greedy", "exact"]
    regexes: Any
    lexemes: tuple[Any, ...]
    shortest: tuple[bytes | None, ...]
    names: list[str]
    rules: list[tuple[int, tuple[Any, ...]]]
    def __init__(
        self,
        rules: Iterable[tuple[int, Sequence[Any]]],
        start: int,
        lexemes: Iterable[Any],
        regexes: Any = None,
        *,
        skip: int = -1,
        skip_first: bool = False,
        skip_last: bool = False,
        lexing: Literal["greedy", "exact"] = "greedy",
        names: Iterable[str] | None = None,
    ) -> None: ...
    def text(self, symbol: int) -> bytes: ...
