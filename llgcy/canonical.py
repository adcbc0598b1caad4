"""Canonical spelling: the tokens that a tokenizer itself gives a text, as far as nothing that may follow changes them.

A tokenizer reads ahead: the last tokens of a text may be others once more text follows. They are *unstable* where some token spells
the end of the text and at least one byte that may come next; llguidance withholds them by the same rule.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llgcy.tokenizer.tokenizer import Tokenizer

FARTHEST = 4
"""Tokens at the end of a text that what follows may change; merges over more of them are not looked for."""


def forced_tokens(tokenizer: Tokenizer, before: Sequence[int], text: bytes, rest: bytes, goes_on: Callable[[bytes], bool]) -> list[int]:
    """The tokens of a text that must follow, without the unstable ones at its end.

    Parameters
    ----------
    tokenizer : Tokenizer
        One that can encode.
    before : sequence of int
        The last tokens before the text; the first ones of the text depend on them.
    text : bytes
        What must follow.
    rest : bytes
        One way to go on behind it: tokens that it changes are withheld too.
    goes_on : callable
        Is there a token that spells these bytes, the end of `text`, and at least one byte more that may follow it?

    Returns
    -------
    list of int
        They spell a beginning of `text`, maybe an empty one.
    """
    ids = _behind(tokenizer, before, text)
    other = _behind(tokenizer, before, text + rest)
    stable = next((i for i, (a, b) in enumerate(zip(ids, other)) if a != b), min(len(ids), len(other)))
    lengths = [len(tokenizer.token_bytes(id) or b"") for id in ids]
    for place in range(sum(lengths[:-FARTHEST]), len(text)):
        if goes_on(text[place:]):
            break
    else:
        place = len(text)
    end, count = 0, 0
    while count < stable and end + lengths[count] <= place:
        end += lengths[count]
        count += 1
    return ids[:count]


def _behind(tokenizer: Tokenizer, before: Sequence[int], text: bytes) -> list[int]:
    """The text's tokens behind others; on its own where those are not canonical, or melt with it."""
    if before:
        ids = tokenizer.encode(tokenizer.decode_bytes(before) + text)
        if ids[:len(before)] == list(before):
            return ids[len(before):]
    return tokenizer.encode(text)


def healed(tokenizer: Tokenizer, prompt: Sequence[int], goes_on: Callable[[bytes], bool]) -> int:
    """How many tokens at the end of a prompt should be dropped, and their text left to the output to repeat.

    Parameters
    ----------
    tokenizer : Tokenizer
    prompt : sequence of int
    goes_on : callable
        Is there a token that spells these bytes and at least one more that the output may begin with?

    Returns
    -------
    int
        The most tokens, up to 4, that one token could replace; 0 where the prompt ends well, or in a special token.
    """
    tail, drop = b"", 0
    for count, id in enumerate(reversed(prompt[-FARTHEST:]), 1):
        token = tokenizer.token_bytes(id)
        if not token:           # special tokens, padding
            break
        tail = token + tail
        if goes_on(tail):
            drop = count
    return drop
