"""What one compiled grammar may take; imports nothing."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one compiled grammar. Work is counted in bytes and steps, never in seconds, so a limit is met in the same place each time.

    Parameters
    ----------
    grammar_bytes : int
        For the stores of the grammar: rows, lexer states, strings, numbers. Beyond it: `LimitError`.
    mask_bytes : int
        For remembered masks; beyond it masks are computed anew each time. Some KB are taken in any case.

    Beside that, each tokenizer keeps up to 64 MB of what masks of several grammars have in common.
    """

    grammar_bytes: int = 1 << 30
    mask_bytes: int = 1 << 28

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"{name} must be a positive int, not {value!r}")
