"""The sampler's lifecycle: apply, accept, reset, clone, close, as llama.cpp's sampler chains have it."""
from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy

from llgcy.bitmask import allocate_bitmask, apply_bitmask
from llgcy.core.matcher import Matcher
from llgcy.errors import StateError
from llgcy.log import LOGGER


class Sampler:
    """Constrains the logits of one sequence, and fails closed.

    After a failure (a token that the grammar refuses, a limit that is met, whatever else is raised inside) the text can no longer be
    one of the grammar's, so it must not go on: until `reset` every `apply` leaves nothing but EOS, also where it raises. So a host
    that swallows exceptions, as callbacks of C libraries do, gets a text that ends, never one without a constraint.

    Parameters
    ----------
    matcher : Matcher
        Owned by the sampler from here on.
    on_error : "raise" or "stop"
        Raise: `apply` and `accept` raise the error, at first and ever after. Stop: they don't, and the caller looks at `error`.

    Attributes
    ----------
    error : Exception or None
        What has stopped the text.

    Examples
    --------
    >>> import llgcy, numpy
    >>> c = llgcy.compile(llgcy.Grammar.from_regex("7"), llgcy.Tokenizer.single_byte())
    >>> sampler, logits = Sampler(c.matcher()), numpy.zeros(257, dtype=numpy.float32)
    >>> sampler.apply(logits)
    >>> int(logits.argmax()) == ord("7")
    True
    >>> sampler.accept(ord("7"))
    >>> sampler.is_terminated()
    True
    """

    def __init__(self, matcher: Matcher, on_error: str = "raise"):
        if on_error not in ("raise", "stop"):
            raise ValueError(f"on_error must be 'raise' or 'stop', not {on_error!r}")
        self.on_error = on_error
        self.error: BaseException | None = None
        self._matcher: Matcher | None = matcher
        self._size = matcher.compiled.tokenizer.vocab_size
        self._eos = matcher.eos_token_ids
        self._mask = allocate_bitmask(1, self._size)
        self._counts: dict[str, int | float] = {"tokens": 0, "masks": 0, "errors": 0, "mask_seconds": 0.0, "apply_seconds": 0.0, "accept_seconds": 0.0}

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

        Raises
        ------
        StateError
            After close(); where all tokens that may come have ids beyond the logits; or for an earlier failure. The logits leave
            nothing but EOS all the same.
        LlgcyError
            What the matcher raises, such as `LimitError`; likewise.
        TypeError, ValueError
            The logits are of no type or shape that a mask can be applied to. They are unchanged, so this is raised whatever `on_error` is.
        """
        begin = time.perf_counter()
        if self.error is None and self._matcher is not None:
            try:
                self._matcher.fill_next_token_bitmask(self._mask)
                self._check_width(logits)
            except BaseException as error:       # all that is above may be a callback of C, so an interrupt is no exception to the rule
                self.fail(error)
        if self.error is not None or self._matcher is None:
            set_only(self._mask[0], self._eos)
        filled = time.perf_counter()
        try:
            apply_bitmask(logits, self._mask)
        except BaseException as error:
            self.fail(error)
            raise                                # also where on_error is "stop": these logits are without a constraint
        end = time.perf_counter()
        self._counts["masks"] += 1
        self._counts["mask_seconds"] += filled - begin
        self._counts["apply_seconds"] += end - filled
        self._raise()

    def accept(self, token: int) -> None:
        """Takes the token that was sampled.

        Raises
        ------
        StateError
            The grammar refuses it, or it is no id of the vocabulary; after close(); or for an earlier failure. Not where `on_error` is
            "stop", but for close().
        """
        begin = time.perf_counter()
        if self.error is None and self._matcher is not None:
            try:
                self._accept(self._matcher, token)
            except BaseException as error:
                self.fail(error)
        self._counts["tokens"] += 1
        self._counts["accept_seconds"] += time.perf_counter() - begin
        self._raise()

    def fail(self, error: BaseException) -> None:
        """Stops the text: from now on, until `reset`, only EOS may come. For hosts that find out by themselves that something is wrong.

        Parameters
        ----------
        error : BaseException
            Kept in `error`, unless an earlier one is there.
        """
        if self.error is None:
            self.error = error
            self._counts["errors"] += 1
            LOGGER.warning("a constrained text is stopped: %s", error)

    def is_terminated(self) -> bool:
        """Is the text at its end: EOS was accepted, or nothing but EOS may come, or an error has stopped it?"""
        return self.error is not None or self.matcher.is_terminated() or self.matcher.is_complete()

    def reset(self) -> None:
        """Back to the beginning; an error is forgotten."""
        self.matcher.reset()
        self.error = None

    def clone(self) -> Sampler:
        """An independent sampler in the same state, with counts of its own."""
        other = Sampler(self.matcher.fork(), self.on_error)
        other.error = self.error
        return other

    def close(self) -> None:
        """Lets go of the matcher. Every later call but close() raises `StateError`; apply() leaves nothing but EOS first."""
        self._matcher = None

    def stats(self) -> dict[str, int | float]:
        """Counters since the sampler was made: ``tokens``, ``masks``, ``errors``, and the seconds spent: ``mask_seconds`` to find the
        masks, ``apply_seconds`` to apply them, ``accept_seconds``."""
        return dict(self._counts)

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _raise(self) -> None:
        if self._matcher is None:
            raise StateError("the sampler is closed")
        if self.error is not None and self.on_error == "raise":
            raise self.error

    def _accept(self, matcher: Matcher, token: int) -> None:
        tokenizer = matcher.compiled.tokenizer
        if not 0 <= token < tokenizer.vocab_size:
            raise StateError(f"token {token} is not an id of the vocabulary, which has {tokenizer.vocab_size} ids; is the grammar compiled for this model?")
        if not matcher.accept_token(token):
            spelled = tokenizer.token_bytes(token)
            raise StateError(f"token {token} ({'a special token' if spelled is None else spelled!r}) is not allowed here; was it sampled from "
                             "logits to which this sampler had been applied?")
        LOGGER.debug("token %d", token)

    def _check_width(self, logits: Any) -> None:
        """A model may have fewer logits than the tokenizer ids; then no token that it can choose may be left."""
        columns = logits.shape[-1] if getattr(logits, "ndim", 0) else self._size
        if columns < self._size:
            bits = numpy.unpackbits(self._mask[0].view(numpy.uint8), bitorder="little")
            if not bits[:columns].any():
                raise StateError(f"the model has {columns} logits, the tokenizer {self._size} ids, and all that may come next are beyond the logits")


def set_only(row: numpy.ndarray, tokens: Iterable[int]) -> None:
    """Writes a mask that allows these tokens alone.

    Parameters
    ----------
    row : int32 or uint32 array
        One row of a bitmask.
    tokens : iterable of int
    """
    row[:] = 0
    words = row.view(numpy.uint32)
    for token in tokens:
        words[token >> 5] |= numpy.uint32(1 << (token & 31))
