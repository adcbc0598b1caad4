"""Bitmasks as arrays: one row of int32 words for each sequence, bit i % 32 of word i // 32 for token i."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from llgcy.core.bits import refuse_columns

# Minus infinity, by the name of the type: IEEE 754 binary16, 32, 64, and bfloat16 (the upper half of a binary32).
_MINUS_INFINITY = {"float16": 0xFC00, "bfloat16": 0xFF80, "float32": 0xFF800000, "float64": 0xFFF0000000000000}


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


def apply_bitmask(logits: Any, bitmask: Any, rows: Sequence[int] | None = None) -> None:
    """Sets the logits of all tokens that are not allowed to minus infinity, in place.

    Parameters
    ----------
    logits : numpy.ndarray or torch.Tensor
        float16, float32, float64 or (torch) bfloat16; shape (columns,) or (n, columns); any device. Columns beyond the bitmask
        are refused too: a model's head may be wider than its vocabulary.
    bitmask : numpy.ndarray or torch.Tensor
        int32 or uint32, shape (words,) or (m, words).
    rows : sequence of int, optional
        Row k of the logits meets row rows[k] of the bitmask; by default row k.

    Raises
    ------
    TypeError
        Where the logits are of another type.
    ValueError
        Where shapes or rows do not fit; then nothing is changed.

    Examples
    --------
    >>> logits = numpy.zeros(4, dtype=numpy.float32)
    >>> apply_bitmask(logits, numpy.array([0b0101], dtype=numpy.int32))
    >>> logits.tolist()
    [0.0, -inf, 0.0, -inf]
    """
    dtype = str(getattr(logits, "dtype", type(logits).__name__)).removeprefix("torch.")
    if dtype not in _MINUS_INFINITY:
        raise TypeError(f"logits of type {dtype}; llgcy applies masks to {', '.join(_MINUS_INFINITY)}")
    if logits.ndim not in (1, 2) or bitmask.ndim not in (1, 2):
        raise ValueError(f"logits and bitmasks have one or two dimensions, not {logits.ndim} and {bitmask.ndim}")
    if logits.ndim == 1:
        logits = logits.reshape(1, -1) if isinstance(logits, numpy.ndarray) else logits.unsqueeze(0)
    if bitmask.ndim == 1:
        bitmask = bitmask.reshape(1, -1)
    which = list(range(len(logits)) if rows is None else rows)
    if len(which) != len(logits):
        raise ValueError(f"{len(which)} rows are named for {len(logits)} rows of logits")
    for row in which:
        if not 0 <= row < len(bitmask):
            raise ValueError(f"row {row} of a bitmask of {len(bitmask)} rows")
    if isinstance(logits, numpy.ndarray):
        _apply_here(logits, bitmask, which, _MINUS_INFINITY[dtype])
    elif logits.device.type == "cpu":
        import torch
        whole = {2: torch.int16, 4: torch.int32, 8: torch.int64}[logits.element_size()]
        _apply_here(logits.detach().view(whole).numpy(), bitmask, which, _MINUS_INFINITY[dtype])
    else:
        _apply_there(logits, bitmask, which)


def _apply_here(logits: numpy.ndarray, bitmask: Any, which: list[int], minus_infinity: int) -> None:
    if not isinstance(bitmask, numpy.ndarray):
        bitmask = bitmask.cpu().numpy()
    words = numpy.ascontiguousarray(bitmask).view(numpy.uint32)
    if not logits.flags.aligned or logits.strides[1] % logits.itemsize:       # a field of packed records
        for k, row in enumerate(which):
            allowed = numpy.unpackbits(words[row].view(numpy.uint8), bitorder="little", count=logits.shape[1]).view(bool)
            logits[k][~allowed] = -numpy.inf
        return
    for k, row in enumerate(which):
        refuse_columns(logits, k, words[row], minus_infinity)


def _apply_there(logits: Any, bitmask: Any, which: list[int]) -> None:
    """On whatever device the logits are, with its own operations."""
    import torch
    if isinstance(bitmask, numpy.ndarray):
        bitmask = torch.from_numpy(numpy.ascontiguousarray(bitmask).view(numpy.int32))
    words = bitmask.view(torch.int32).to(logits.device)[torch.as_tensor(which, device=logits.device)]
    bits = (words.unsqueeze(-1) >> torch.arange(32, device=logits.device, dtype=torch.int32)) & 1
    allowed = bits.reshape(len(which), -1)[:, :logits.shape[1]].to(torch.bool)
    logits[:, :allowed.shape[1]].masked_fill_(~allowed, float("-inf"))
    logits[:, allowed.shape[1]:] = float("-inf")
