"""llama-cpp-python: constrained completions, chat completions and streams, through its logits processors.

`create_completion` and `create_chat_completion` are ``Llama``'s own, with a grammar: what they return is in the grammar's language, or they
raise. `LogitsProcessor` is what they are made of, for callers that want to call ``Llama`` themselves.

A logits processor is a callback of C, in which llama-cpp-python loses every exception and then goes on as if there were no processor. So
nothing is raised there: the error is kept, only end-of-generation tokens are left, and the error is raised where Python is above again.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from llgcy.api import Grammar
from llgcy.core.matcher import CompiledGrammar, Matcher
from llgcy.errors import StateError
from llgcy.integrations.cache import ModelCache
from llgcy.integrations.steering import steer
from llgcy.sampler import Sampler
from llgcy.tokenizer import Tokenizer
from llgcy.tokenizer import llama_cpp as vocabularies

LONGEST_PIECE = 32
"""Bytes of the buffer in which llama-cpp-python turns a token into text; it loses what a longer one spells (as of 0.3.36)."""

_OTHER_CONSTRAINTS = {
    "response_format": "the grammar says what the response looks like; Grammar.from_json_schema() takes the schema",
    "tools": "llama-cpp-python may constrain the text to a tool's arguments by itself", "tool_choice": "as tools",
    "functions": "as tools", "function_call": "as tools",
    "logit_bias": "beside a logits processor llama-cpp-python drops both; write the bias as a logits processor of your own",
    "echo": "the text would begin with the prompt, which is not the grammar's", "suffix": "the text would end with what is not the grammar's",
}
"""Options that don't go with a grammar, and why."""


def tokenizer(llm: Any) -> Tokenizer:
    """The vocabulary of a model, read once, without the tokens whose text llama-cpp-python loses on the way to the caller.

    Parameters
    ----------
    llm : llama_cpp.Llama

    Raises
    ------
    StateError
        The model is closed.
    """
    _check_open(llm)
    return _CACHE.tokenizer(llm)


def load(path: str | os.PathLike[str], **options: Any) -> Any:
    """A model from a GGUF file: ``llama_cpp.Llama(path, ...)``, but for a fault of llama.cpp on some processors.

    Where llama.cpp is compiled for a processor with AMX by gcc 12, the first prompt ends the process (ggml-org/llama.cpp#20824): the
    compiler drops part of what the instructions are set up with. Without the extra buffer types those kernels are not used.

    Parameters
    ----------
    path : str or path
    **options
        Of ``llama_cpp.Llama``.
    """
    import llama_cpp

    if not _has_amx():
        return llama_cpp.Llama(os.fspath(path), **options)
    library = llama_cpp.llama_cpp            # whose defaults Llama takes: it has no option for this one
    defaults = library.llama_model_default_params

    def without_extra_buffers() -> Any:
        parameters = defaults()
        parameters.use_extra_bufts = False
        return parameters

    with _DEFAULTS:
        library.llama_model_default_params = without_extra_buffers
        try:
            return llama_cpp.Llama(os.fspath(path), **options)
        finally:
            library.llama_model_default_params = defaults


def _has_amx() -> bool:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as stream:
            return " amx_tile" in stream.read()
    except OSError:
        return False


def compile(grammar: Grammar | CompiledGrammar, llm: Any) -> CompiledGrammar:
    """The grammar, ready for a model; remembered for it, so that the same `Grammar` is compiled once.

    Raises
    ------
    TokenizerError, LimitError
        It cannot be compiled.
    StateError
        The model is closed.
    """
    _check_open(llm)
    return _CACHE.compiled(grammar, llm)


class LogitsProcessor:
    """Constrains one generation of ``Llama.create_completion``, ``create_chat_completion`` or ``generate``.

    Pass it as ``logits_processor=[processor]``, the last one if there are several, and where there is such a parameter
    ``stopping_criteria=processor.stop``, which ends a text that is complete and raises what went wrong. Without that, call `check` afterwards, or use the
    processor as a context manager. A processor serves one text; `reset` makes it ready for another.

    Parameters
    ----------
    grammar : Grammar or CompiledGrammar
    llm : llama_cpp.Llama
    max_tokens : int, optional
        The number that the host is given, 0: as many as the context has room for. Near it the text is steered so that it ends there by
        itself; only where no text is so short, or by what the host does, is it cut off.

    Raises
    ------
    StateError
        The model is closed, or drafts tokens (``draft_model=``): then llama-cpp-python doesn't tell a processor which token it is about.
    TokenizerError, LimitError
        The grammar can't be compiled for the model.

    Examples
    --------
    >>> with LogitsProcessor(llgcy.Grammar.from_regex("yes|no"), llm) as processor:                             # doctest: +SKIP
    ...     llm.create_completion(prompt, logits_processor=[processor], stopping_criteria=processor.stop)
    """

    def __init__(self, grammar: Grammar | CompiledGrammar, llm: Any, *, max_tokens: int | None = None):
        self.compiled = compile(grammar, llm)
        if getattr(llm, "draft_model", None) is not None:
            raise StateError("with draft_model= a logits processor of llama-cpp-python isn't told which token it is about; load the model without")
        self._sampler = Sampler(self.compiled.matcher(), on_error="stop")
        self._max_tokens = max_tokens
        self._context: int = llm.n_ctx()
        self._most: int | None = None                # ids that there are at the end of the text, the prompt's among them; None: not steered
        self._ids = numpy.empty(0, numpy.intc)       # as of the last call: the prompt and what was generated
        self._count = 0                              # ids that are in use; 0 before the first call

    @property
    def error(self) -> BaseException | None:
        """What has stopped the text."""
        return self._sampler.error

    def __call__(self, input_ids: numpy.ndarray, scores: numpy.ndarray) -> numpy.ndarray:
        """Called by llama-cpp-python once for each token; never raises."""
        try:
            self._follow(input_ids)
            if self._most is not None and self._sampler.error is None:
                steer(self._sampler.matcher, self._most - self._count)
        except BaseException as error:
            self._sampler.fail(error)
        try:
            self._sampler.apply(scores)
        except BaseException as error:      # closed, or no logits of this model
            self._sampler.fail(error)
            scores[:] = -numpy.inf
            scores[[token for token in self.compiled.tokenizer.eos_token_ids if token < len(scores)]] = 0
        return scores

    def stop(self, input_ids: Any = None, logits: Any = None) -> bool:
        """The stopping criterion: is the text complete?

        Raises
        ------
        LlgcyError, or any other exception
            What has stopped the text.
        """
        self.check()
        return self._sampler.is_terminated()

    def check(self) -> None:
        """Raises what has stopped the text, if anything has."""
        if self._sampler.error is not None:
            raise self._sampler.error

    def reset(self) -> None:
        """Makes the processor ready for another text."""
        self._sampler.reset()
        self._count = 0

    def close(self) -> None:
        """Lets go of the matcher. A generation that still uses the processor can only end."""
        self._sampler.close()

    def stats(self) -> dict[str, int | float]:
        """Counters, see `llgcy.Sampler.stats`."""
        return self._sampler.stats()

    def __enter__(self) -> LogitsProcessor:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        self.close()
        if kind is None:
            self.check()

    def _follow(self, input_ids: numpy.ndarray) -> None:
        """Takes the token that was chosen since the last call."""
        count = len(input_ids)
        if self._count and count - self._count in (0, 1) and numpy.array_equal(input_ids[:self._count], self._ids[:self._count]):
            if count > self._count:
                self._sampler.accept(int(input_ids[-1]))
        elif self._count:
            raise StateError("these tokens do not continue those of the last call; a processor serves one text: make another, or reset() it")
        elif self._max_tokens is not None:
            self._most = min(count + self._max_tokens, self._context) if self._max_tokens > 0 else self._context
        if count > len(self._ids):
            self._ids = numpy.resize(self._ids, 2 * count)
        self._ids[self._count:count] = input_ids[self._count:]
        self._count = count


def create_completion(llm: Any, grammar: Grammar | CompiledGrammar, prompt: str | list[int], *, complete: bool = True,
                      max_tokens: int | None = None, **options: Any) -> Any:
    """``llm.create_completion`` under a grammar.

    Parameters
    ----------
    llm : llama_cpp.Llama
    grammar : Grammar or CompiledGrammar
    prompt : str or list of int
    complete : bool
        Whether the text is whole: near ``max_tokens``, or the end of the context, the model is steered so that the text ends there, and what
        is cut off all the same (by a stop string, or since no text is so short) gets a shortest ending. Else it is a beginning of a text.
    max_tokens : int, optional
        By default what the context has room for.
    **options
        Of ``llm.create_completion``: stream, temperature, seed, ...

    Returns
    -------
    dict, or iterator of dict with ``stream=True``
        As ``llm.create_completion``; ``finish_reason`` is "length" where ``max_tokens`` are used up, though the text is whole.

    Raises
    ------
    TypeError
        An option that does not go with a grammar.
    TokenizerError, LimitError
        Before anything is generated, and also with ``stream=True`` at once: the grammar can't be compiled.
    StateError
        The model is closed, or the text is not what it should be; with ``stream=True`` while iterating.
    """
    _check_open(llm)
    if prompt == "" and llm.token_bos() != -1:
        prompt = [llm.token_bos()]           # what the host makes of it, only that then it would strip a space from the text
    own = options.pop("stopping_criteria", None)

    def call(processor: LogitsProcessor, **options: Any) -> Any:
        def stop(input_ids: Any, logits: Any) -> bool:
            return processor.stop() or own is not None and own(input_ids, logits)
        return llm.create_completion(prompt, max_tokens=max_tokens, stopping_criteria=stop, **options)

    return _constrained(llm, grammar, call, lambda choice: (choice, "text"), complete, max_tokens, options)


def create_chat_completion(llm: Any, grammar: Grammar | CompiledGrammar, messages: list[Any], *, complete: bool = True,
                           max_tokens: int | None = None, **options: Any) -> Any:
    """``llm.create_chat_completion`` under a grammar, which is that of the message's content.

    Parameters, returns and raises as `create_completion`, with messages in place of a prompt.
    """
    def call(processor: LogitsProcessor, **options: Any) -> Any:
        return llm.create_chat_completion(messages, max_tokens=max_tokens, **options)

    return _constrained(llm, grammar, call, lambda choice: (choice["delta"] if "delta" in choice else choice["message"], "content"), complete, max_tokens,
                        options)


def _constrained(llm: Any, grammar: Grammar | CompiledGrammar, call: Callable[..., Any], place: Callable[[dict[str, Any]], tuple[dict[str, Any], str]],
                 complete: bool, max_tokens: int | None, options: dict[str, Any]) -> Any:
    """Calls the host with a processor, and checks and completes what it returns; ``place`` says where the text stands in a choice."""
    for name in options:
        if name in _OTHER_CONSTRAINTS and options[name]:
            raise TypeError(f"{name}= does not go with a grammar: {_OTHER_CONSTRAINTS[name]}")
    processor = LogitsProcessor(grammar, llm, max_tokens=(max_tokens or 0) if complete else None)
    options["logits_processor"] = [*(options.get("logits_processor") or ()), processor]
    text = _Text(processor.compiled)
    if options.get("stream"):
        return _streamed(llm, processor, call(processor, **options), place, text, complete)
    with processor:
        result = call(processor, **options)
    choice = result["choices"][0]
    holder, key = place(choice)
    text.add(holder[key] or "")
    if complete:
        holder[key] = (holder[key] or "") + text.ending()
    return result


def _streamed(llm: Any, processor: LogitsProcessor, chunks: Iterator[Any], place: Callable[[dict[str, Any]], tuple[dict[str, Any], str]],
              text: _Text, complete: bool) -> Iterator[Any]:
    with processor:
        while True:
            _check_open(llm)                 # the host would ask a model that is no longer in memory
            chunk = next(chunks, None)
            if chunk is None:
                return
            processor.check()
            choice = chunk["choices"][0]
            holder, key = place(choice)
            text.add(holder.get(key) or "")
            if choice["finish_reason"] is not None and complete:
                ending = text.ending()
                if ending:
                    holder[key] = (holder.get(key) or "") + ending
            yield chunk


class _Text:
    """A text that the host returns, piece by piece: is it the beginning of one of the grammar's, and how does it end?

    This hears of the last token, which no processor does, and of text that the host may lose.
    """

    def __init__(self, compiled: CompiledGrammar):
        self._matcher: Matcher = compiled.matcher()
        self._length = 0

    def add(self, piece: str) -> None:
        """The next piece.

        Raises
        ------
        StateError
            The grammar has no text that goes on so.
        """
        if not self._matcher.accept_bytes(piece.encode()):
            raise StateError(f"after {self._length} characters the text that llama-cpp-python returns, {piece[:40]!r}, is not what the grammar allows; "
                             "was it changed by a chat handler, or by a logits processor after this one?")
        self._length += len(piece)

    def ending(self) -> str:
        """A shortest ending."""
        return self._matcher.completion().decode()


def _check_open(llm: Any) -> None:
    if llm.model is None:
        raise StateError("the model is closed")


def _read(llm: Any) -> Tokenizer:
    vocabulary = vocabularies.read(llm._model)       # not llm itself, which the vocabulary would keep alive, and with it its place in the cache
    kept = [None if token is not None and len(token) > LONGEST_PIECE and llm.detokenize([id]) != token else token
            for id, token in enumerate(vocabulary.tokens)]
    return Tokenizer(vocabulary._replace(tokens=kept))


_CACHE = ModelCache(_read)
_DEFAULTS = threading.Lock()         # of llama.cpp's default parameters
