"""What every reader of a tokenizer hands over: plain data, before any check."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Vocabulary(NamedTuple):
    """The content of a tokenizer.

    Attributes
    ----------
    tokens : sequence of bytes or None
        Index = id; the bytes that the token adds to the text, None where it adds none.
    special : mapping of str to int
        Names of the ids that stand for no text. They override ``tokens``.
    eos : tuple of int
        The ids that end a sequence; empty where the reader knows of none.
    encode : callable or None
        ``encode(text: str) -> list[int]``, without any special token added. A result that does not spell ``text``
        exactly (a normaliser changed it, a character is unknown) is not used; see `Tokenizer.encode`.
    source : str
        Where the vocabulary came from, for messages.
    """

    tokens: Sequence[bytes | None]
    special: Mapping[str, int]
    eos: tuple[int, ...]
    encode: Callable[[str], list[int]] | None
    source: str
