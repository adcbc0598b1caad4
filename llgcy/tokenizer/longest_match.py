"""Tokenisation without merge rules: always the longest token that fits."""
from __future__ import annotations

from collections.abc import Sequence

from llgcy.errors import TokenizerError


class LongestMatch:
    """Spells any bytes with the tokens of a vocabulary, the longest token at each place.

    The result is a valid tokenisation, in general not the one that the tokenizer itself would choose.

    Parameters
    ----------
    text_tokens : sequence of bytes or None
        Index = id; None where the id can't be used. Of several ids with the same bytes the lowest is used.
    """

    def __init__(self, text_tokens: Sequence[bytes | None]):
        self._ids: dict[bytes, int] = {}
        longest = [0] * 256
        for id, token in enumerate(text_tokens):
            if token and token not in self._ids:
                self._ids[token] = id
                if len(token) > longest[token[0]]:
                    longest[token[0]] = len(token)
        self._longest = longest      # longest token for each first byte: bounds the search at a place

    def encode(self, data: bytes) -> list[int]:
        """Ids that spell ``data``.

        Raises
        ------
        TokenizerError
            No token spells the next byte.
        """
        ids: list[int] = []
        place = 0
        while place < len(data):
            for length in range(min(self._longest[data[place]], len(data) - place), 0, -1):
                id = self._ids.get(data[place:place + length])
                if id is not None:
                    break
            else:
                raise TokenizerError(f"the vocabulary has no token for byte 0x{data[place]:02X} at offset {place} "
                                     f"of {data[max(0, place - 10):place + 10]!r}")
            ids.append(id)
            place += length
        return ids
