"""Bitmasks as arrays: one row of int32 words for each sequence, bit i % 32 of word i // 32 for token i."""
from __future__ import annotations

import numpy


def allocate_bitmask(rows: int, vocab_size: int) -> numpy.ndarray:
    """A bitmask for `Matcher.fill_next_token_bitmask`, zeroed.

    Parameters
    ----------
    rows : int
        Sequences.
    vocab_size : int
        Ids of the vocabulary, padding included.

    Returns
    -------
    numpy.ndarray
        int32, shape (rows, ceil(vocab_size / 32)).

    Examples
    --------
    >>> allocate_bitmask(2, 100).shape
    (2, 4)
    """
    return numpy.zeros((rows, (vocab_size + 31) // 32), dtype=numpy.int32)
