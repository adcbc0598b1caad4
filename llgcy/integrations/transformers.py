"""Hugging Face transformers: a logits processor for ``model.generate``.

``generate`` tells a processor no more than the ids so far, one row for each sequence, and moves rows about as it likes: beam search
reorders them, assisted decoding goes back and forth, finished ones are padded. So nothing here hangs on the index of a row. A row is
what its tokens say: its state is that of the row of the call before whose tokens it continues, or else of the one with which it has most in common.

Sources: ``transformers.generation.utils`` (``_sample``, ``_beam_search``, ``_assisted_decoding``) of transformers 5.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
import torch

import transformers
from llgcy.api import Grammar, compile
from llgcy.bitmask import allocate_bitmask, apply_bitmask
from llgcy.core.batch import fill_bitmasks
from llgcy.core.matcher import CompiledGrammar, Matcher
from llgcy.errors import StateError
from llgcy.integrations.cache import ModelCache
from llgcy.integrations.steering import steer
from llgcy.sampler import set_only
from llgcy.tokenizer import Tokenizer

_CACHE = ModelCache(Tokenizer.from_huggingface)


class _Row(NamedTuple):
    """The state of a row."""

    matcher: Matcher            # after all its tokens, but those behind EOS and those from `refused` on
    refused: int | None         # the place of a token that was not allowed: the row is dead


class LogitsProcessor(transformers.LogitsProcessor):       # type: ignore[misc]
    """Constrains all rows of one ``generate`` call: ``model.generate(..., logits_processor=[processor])``.

    Right for batches with left padding, sampling, beam search, ``num_return_sequences`` and assisted decoding (with an assistant of the
    same vocabulary). Scores are never changed in place.

    Parameters
    ----------
    grammar : Grammar or CompiledGrammar
    tokenizer : transformers tokenizer or llgcy.Tokenizer, optional
        What a Grammar is compiled for. With a transformers tokenizer the result is remembered, so that the same grammar is compiled once.
    model : transformers model, optional
        Its generation config says which ids end a sequence. Without it they are the tokenizer's.
    eos_token_id : int or sequence of int, optional
        Instead: what is passed to ``generate`` under that name.
    max_new_tokens : int, optional
        What is passed to ``generate`` under that name. Near it the texts are steered so that they end there by themselves.

    Raises
    ------
    TokenizerError, LimitError
        The grammar cannot be compiled for the tokenizer.

    Examples
    --------
    >>> grammar = llgcy.Grammar.from_regex("yes|no")                                        # doctest: +SKIP
    >>> processor = LogitsProcessor(grammar, tokenizer, model=model)                        # doctest: +SKIP
    >>> ids = model.generate(**inputs, logits_processor=[processor], max_new_tokens=5)      # doctest: +SKIP
    >>> processor.texts(ids)                                                                # doctest: +SKIP
    ['yes']
    """

    supports_continuous_batching = False        # there rows have no identity at all

    def __init__(self, grammar: Grammar | CompiledGrammar, tokenizer: Any = None, *, model: Any = None,
                 eos_token_id: int | Sequence[int] | None = None, max_new_tokens: int | None = None):
        if isinstance(grammar, CompiledGrammar):
            self.compiled = grammar
        elif tokenizer is None:
            raise TypeError("a Grammar needs a tokenizer to be compiled for; pass tokenizer=, or a compiled grammar")
        elif isinstance(tokenizer, Tokenizer):
            self.compiled = compile(grammar, tokenizer)
        else:
            self.compiled = _CACHE.compiled(grammar, tokenizer)
        if eos_token_id is None and model is not None:
            eos_token_id = model.generation_config.eos_token_id
        self._begin = self.compiled.matcher(eos_token_ids=eos_token_id)
        self._max_new_tokens = max_new_tokens
        self._size = self.compiled.tokenizer.vocab_size
        self.reset()

    def reset(self) -> None:
        """Makes the processor ready for another prompt. Without it, using it for one is an error."""
        self._error: BaseException | None = None
        self._prompt: torch.Tensor | None = None
        self._longest = 0                        # columns of ids, prompt included, that were seen at most
        self._ids = numpy.empty((0, 0), numpy.int64)        # what was generated, as of the last call
        self._rows: list[_Row] = []              # the state of each of its rows

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores with minus infinity for all that may not come next.

        Raises
        ------
        StateError
            A row holds a token that was not allowed; or the rows are not those of the ``generate`` call that began.
        LlgcyError
            What the matcher raises, such as `LimitError`. After any failure all later calls raise it again, until `reset`.
        """
        if self._error is not None:
            raise self._error
        try:
            self._follow(input_ids)
            alive = [index for index, row in enumerate(self._rows) if row.refused is None]
            if len(alive) < len(self._rows) and not _are_log_probabilities(scores):
                index, place = next((index, row.refused) for index, row in enumerate(self._rows) if row.refused is not None)
                raise self._refused(self._ids[index].tolist(), place)
            if self._max_new_tokens is not None:
                for index in alive:
                    steer(self._rows[index].matcher, self._max_new_tokens - self._ids.shape[1])
            bitmask = allocate_bitmask(len(self._rows), self._size)
            fill_bitmasks([self._rows[index].matcher for index in alive], bitmask, alive)
            for index in set(range(len(self._rows))).difference(alive):
                set_only(bitmask[index], self._begin.eos_token_ids)
            if scores.shape[-1] < self._size:
                self._check_width(bitmask, scores.shape[-1])
        except BaseException as error:       # some rows have moved and others have not
            self._error = error
            raise
        scores = scores.clone()
        apply_bitmask(scores, torch.from_numpy(bitmask))
        return scores

    def texts(self, sequences: Any, *, complete: bool = True) -> list[str]:
        """The generated texts.

        Parameters
        ----------
        sequences : Tensor
            What ``generate`` has returned, prompts included; or its ``.sequences``.
        complete : bool
            Whether a text that was cut off by the length gets a shortest ending; else it is given as it is.

        Returns
        -------
        list of str

        Raises
        ------
        StateError
            A text is not one of the grammar's, nor the beginning of one.
        """
        if self._prompt is None:
            raise StateError("nothing has been generated with this processor")
        out = []
        for row in getattr(sequences, "sequences", sequences)[:, self._prompt.shape[1]:].tolist():
            matcher = self._begin.fork()
            taken = 0
            for token in row:
                if not (0 <= token < self._size and matcher.accept_token(token)):
                    raise self._refused(row, taken)
                if matcher.is_terminated():
                    break
                taken += 1
            data = self.compiled.tokenizer.decode_bytes(row[:taken])
            out.append((data + matcher.completion()).decode() if complete else data.decode("utf-8", "ignore"))
        return out

    # From one call to the next

    def _follow(self, input_ids: torch.Tensor) -> None:
        """Brings the rows' states to the given ids."""
        columns = input_ids.shape[1]
        if self._prompt is None:
            self._prompt = input_ids.clone()
            self._longest = columns
            self._ids, self._rows = numpy.empty((len(input_ids), 0), numpy.int64), [_Row(self._begin.fork(), None) for _ in range(len(input_ids))]
            return
        prompt = self._prompt.shape[1]
        if columns > self._longest + 1 or not torch.equal(input_ids[:, :prompt], self._prompt):      # unequal, too, where shapes are
            raise StateError("these rows do not continue those of the last call; a processor serves one generate() call: make another, or reset() it")
        ids = input_ids[:, prompt:].cpu().numpy()
        if self._ids.shape == (len(ids), ids.shape[1] - 1) and numpy.array_equal(ids[:, :-1], self._ids):      # by far the most frequent
            self._rows = [self._moved(state, ids[row], ids.shape[1] - 1) for row, state in enumerate(self._rows)]
        else:
            self._rows = self._found(ids)
        self._ids, self._longest = ids.copy(), max(self._longest, columns)

    def _found(self, ids: numpy.ndarray) -> list[_Row]:
        """The states of rows that may have moved, grown or shrunk."""
        width = ids.shape[1]
        parents = {row.tobytes(): index for index, row in enumerate(self._ids)} if self._ids.shape[1] == width - 1 else {}
        out = []
        for row in ids:
            parent = parents.get(row[:-1].tobytes())
            common = width - 1
            if parent is None:
                parent, common = self._nearest(row)
            known = self._rows[parent]
            matcher = known.matcher.fork()
            if matcher.steps > common:
                matcher.rollback(matcher.steps - common)
            refused = known.refused if known.refused is not None and known.refused < common else None
            out.append(self._moved(_Row(matcher, refused), row, common if refused is not None else min(common, matcher.steps)))
        return out

    def _nearest(self, row: numpy.ndarray) -> tuple[int, int]:
        """The known row with the longest beginning in common, and its length."""
        width = min(len(row), self._ids.shape[1])
        equal = numpy.logical_and.accumulate(self._ids[:, :width] == row[:width], axis=1).sum(axis=1)
        best = int(equal.argmax())
        return best, int(equal[best])

    def _moved(self, state: _Row, row: numpy.ndarray, place: int) -> _Row:
        """The state after the row's tokens from a place on; its matcher moves."""
        matcher = state.matcher
        for place in range(place, len(row)):
            # A finished row gets padding, of which nothing is to be thought; its mask leaves it EOS, so that no sum over it is undefined.
            if state.refused is not None or matcher.is_terminated():
                break
            token = int(row[place])
            if not (0 <= token < self._size and matcher.accept_token(token)):
                return _Row(matcher, place)
        return state

    def _refused(self, row: list[int], place: int) -> StateError:
        token, tokenizer = row[place], self.compiled.tokenizer
        spelled = tokenizer.token_bytes(token) if 0 <= token < self._size else b""
        before = tokenizer.decode_bytes(id for id in row[:place] if 0 <= id < self._size)
        return StateError(f"token {token} ({'a special token' if spelled is None else spelled!r}) is not allowed after {before[-40:]!r}; something else "
                          "has chosen or allowed it: a logits processor after this one, forced tokens, another tokenizer")

    def _check_width(self, bitmask: numpy.ndarray, columns: int) -> None:
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), axis=1, bitorder="little")
        if not bits[:, :columns].any(axis=1).all():
            raise StateError(f"the model has {columns} logits, the tokenizer {self._size} ids, and all that may come next are beyond the logits")


def _are_log_probabilities(scores: torch.Tensor) -> bool:
    """Is this beam search, which alone works with them?

    Where it finds fewer candidates than it wants (mostly when it samples), it fills up with some of probability zero, among them tokens
    that were refused. Such a row is dead, and is let go when others have been found; elsewhere a refused token is part of the text.
    """
    return bool((torch.logsumexp(scores.float(), dim=-1).abs() < 0.01).all())
