"""The sampler's lifecycle: apply, accept, reset, clone, close, as llama.cpp's sampler chains have it."""
from __future__ import annotations

import logging
import os
import time
from typing import Any

import numpy

from llgcy.bitmask import allocate_bitmask, apply_bitmask
from llgcy.core.matcher import Matcher
from llgcy.errors import LlgcyError, StateError

_log = logging.getLogger("llgcy")
if os.environ.get("LLGCY_LOG_LEVEL"):
    _log.setLevel(os.environ["LLGCY_LOG_LEVEL"].upper())


class Sampler:
    """Constrains the logits of one sequence.

    Parameters
    ----------
    matcher : Matcher
        Owned by the sampler from here on.
    on_error : "raise" or "stop"
        What happens where a token comes that the grammar refuses, or a limit is met. Raise: the exception goes to the caller.
        Stop: the error is kept in `error`, and from then on only EOS is allowed, so that text is never unconstrained.

    Examples
    --------
    >>> import llgcy, numpy
    >>> c = llgcy.compile(llgcy.Grammar.from_json_schema({"const": 7}), llgcy.Tokenizer.single_byte())
    >>> sampler, logits = Sampler(c.matcher()), numpy.zeros(257, dtype=numpy.float32)
    >>> sampler.apply(logits)
    >>> int(logits.argmax()) == ord("7")
    True
    """

    def __init__(self, matcher: Matcher, on_error: str = "raise"):
        if on_error not in ("raise", "stop"):
            raise ValueError(f"on_error must be 'raise' or 'stop', not {on_error!r}")
        self._matcher: Matcher | None = matcher
        self._mask = allocate_bitmask(1, matcher.compiled.tokenizer.vocab_size)
        self.on_error = on_error
        self.error: LlgcyError | None = None
        self._counts = {"tokens": 0, "masks": 0, "mask_seconds": 0.0, "accept_seconds": 0.0}

    @property
    def matcher(self) -> Matcher:
        """The sequence.

        Raises
        ------
        StateError
            After close().
        """
        if self._matcher is None:
            raise StateError("the sampler is closed")
        return self._matcher

    def apply(self, logits: Any) -> None:
        """Sets the logits of all tokens that may not come next to minus infinity, in place.

        Parameters
        ----------
        logits : numpy.ndarray or torch.Tensor
            Shape (columns,) or (1, columns); see `llgcy.apply_bitmask`.
        """
        begin = time.perf_counter()
        matcher = self.matcher
        if self.error is None:
            try:
                matcher.fill_next_token_bitmask(self._mask)
            except LlgcyError as error:
                self._fail(error)
        if self.error is not None:
            self._only_eos(matcher)
        apply_bitmask(logits, self._mask)
        self._counts["masks"] += 1
        self._counts["mask_seconds"] += time.perf_counter() - begin

    def accept(self, token: int) -> None:
        """Takes the token that was sampled.

        Raises
        ------
        StateError
            Where the grammar refuses it, and `on_error` is "raise".
        """
        begin = time.perf_counter()
        matcher = self.matcher
        if self.error is not None:
            return
        try:
            if not matcher.accept_token(token):
                raise StateError(f"token {token} ({matcher.compiled.tokenizer.token_bytes(token)!r}) is not allowed here; was it "
                                 "sampled from logits to which this sampler had been applied?")
        except LlgcyError as error:
            self._fail(error)
        self._counts["tokens"] += 1
        self._counts["accept_seconds"] += time.perf_counter() - begin

    def is_terminated(self) -> bool:
        """Is the text at its end: EOS was accepted, or nothing but EOS may come, or an error has stopped it?"""
        return self.error is not None or self.matcher.is_terminated() or self.matcher.is_complete()

    def reset(self) -> None:
        """Back to the beginning; an error is forgotten."""
        self.matcher.reset()
        self.error = None

    def clone(self) -> Sampler:
        """An independent sampler in the same state."""
        other = Sampler(self.matcher.fork(), self.on_error)
        other.error = self.error
        return other

    def close(self) -> None:
        """Lets go of the matcher; every later call but close() raises `StateError`."""
        self._matcher = None

    def stats(self) -> dict[str, float]:
        """Tokens, masks, and the seconds spent on them."""
        return dict(self._counts)

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _fail(self, error: LlgcyError) -> None:
        _log.warning("sampling stops: %s", error)
        if self.on_error == "raise":
            raise error
        self.error = error

    def _only_eos(self, matcher: Matcher) -> None:
        self._mask[:] = 0
        words = self._mask[0].view(numpy.uint32)
        for token in matcher.eos_token_ids:
            words[token >> 5] |= numpy.uint32(1 << (token & 31))
