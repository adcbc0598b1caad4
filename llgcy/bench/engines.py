"""The engines, behind one set of calls. Peers are imported where they are asked for; none is needed."""
from __future__ import annotations

import importlib.util
import json
from typing import Any, Protocol

import numpy
import numpy.typing as npt

import llgcy
from llgcy.errors import LlgcyError
from llgcy.tokenizer import Tokenizer


class Refused(Exception):
    """The engine does not take the schema."""


class Engine(Protocol):
    """What an engine must do.

    Attributes
    ----------
    bits : int32 array
        Where `mask` writes: bit i % 32 of word i // 32.
    """

    name: str
    bits: npt.NDArray[numpy.int32]

    def compile(self, schema: Any) -> Any:
        """A schema made ready. Raises Refused."""

    def start(self, compiled: Any) -> Any:
        """The state before the first token."""

    def mask(self, state: Any) -> None:
        """Which tokens may come next, in `bits`."""

    def accept(self, state: Any, token: int) -> bool:
        """Takes a token; whether it may come."""


class _Llgcy:
    def __init__(self, tokenizer: Tokenizer):
        self.name, self.tokenizer = f"llgcy {llgcy.__version__}", tokenizer
        self.row = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
        self.bits = self.row[0]
        llgcy.compile(llgcy.Grammar.from_json_schema(True), tokenizer)      # sorts the vocabulary, as the others do when they are made

    def compile(self, schema: Any) -> Any:
        try:
            return llgcy.compile(llgcy.Grammar.from_json_schema(schema), self.tokenizer)
        except LlgcyError as error:
            raise Refused(str(error)) from None

    def start(self, compiled: Any) -> Any:
        return compiled.matcher()

    def mask(self, state: Any) -> None:
        state.fill_next_token_bitmask(self.row, 0)

    def accept(self, state: Any, token: int) -> bool:
        return bool(state.accept_token(token))


class _Llguidance:
    def __init__(self, tokenizer: Tokenizer):
        import llguidance

        class Wrapped:
            eos_token_id, bos_token_id = tokenizer.eos_token_ids[0], None
            tokens = [token or b"" for token in _spelled(tokenizer)]
            special_token_ids = [id for id, token in enumerate(tokenizer.text_tokens()) if not token]

            def __call__(self, text: Any) -> list[int]:
                return list(tokenizer.encode(text))
        self.module, self.name = llguidance, f"llguidance {llguidance.__version__}"
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Wrapped()), n_vocab=tokenizer.vocab_size)
        self.bits = numpy.zeros((tokenizer.vocab_size + 31) // 32, dtype=numpy.int32)
        self.pointer, self.size = self.bits.ctypes.data, self.bits.nbytes

    def compile(self, schema: Any) -> Any:
        matcher = self.module.LLMatcher(self.tokenizer, json.dumps({"grammars": [{"json_schema": schema}]}), log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher

    def start(self, compiled: Any) -> Any:
        return compiled.deep_copy()

    def mask(self, state: Any) -> None:
        state.unsafe_compute_mask_ptr(self.pointer, self.size)

    def accept(self, state: Any, token: int) -> bool:
        return _allowed(self.bits, token) and bool(state.consume_token(token))


class _XGrammar:
    def __init__(self, tokenizer: Tokenizer):
        import xgrammar

        self.module, self.name = xgrammar, f"xgrammar {getattr(xgrammar, '__version__', '')}".strip()
        info = xgrammar.TokenizerInfo(_spelled(tokenizer), xgrammar.VocabType.RAW, vocab_size=tokenizer.vocab_size,
                                      stop_token_ids=list(tokenizer.eos_token_ids))
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.row = xgrammar.allocate_token_bitmask(1, tokenizer.vocab_size)
        self.bits = self.row.numpy()[0]

    def compile(self, schema: Any) -> Any:
        try:
            return self.compiler.compile_json_schema(json.dumps(schema), any_whitespace=True, strict_mode=False)
        except RuntimeError as error:
            raise Refused(str(error)) from None

    def start(self, compiled: Any) -> Any:
        return self.module.GrammarMatcher(compiled)

    def mask(self, state: Any) -> None:
        if not state.fill_next_token_bitmask(self.row):     # all are allowed, and the row is left as it was
            self.row.fill_(-1)

    def accept(self, state: Any, token: int) -> bool:
        return _allowed(self.bits, token) and bool(state.accept_token(token))


class _OutlinesCore:
    def __init__(self, tokenizer: Tokenizer):
        import outlines_core
        from outlines_core import Guide, Index, Vocabulary
        from outlines_core.json_schema import build_regex_from_schema

        self.guide, self.index, self.regex = Guide, Index, build_regex_from_schema
        self.name = f"outlines_core {getattr(outlines_core, '__version__', '')}".strip()
        ids: dict[bytes, list[int]] = {}
        for id, token in enumerate(tokenizer.text_tokens()):
            if token:
                ids.setdefault(token, []).append(id)
        self.vocabulary = Vocabulary(tokenizer.eos_token_ids[0], ids)
        self.bits = numpy.zeros((tokenizer.vocab_size + 31) // 32, dtype=numpy.int32)

    def compile(self, schema: Any) -> Any:
        try:
            return self.index(self.regex(json.dumps(schema)), self.vocabulary)
        except Exception as error:      # noqa: BLE001 - it raises all kinds
            raise Refused(str(error)) from None

    def start(self, compiled: Any) -> Any:
        return self.guide(compiled)

    def mask(self, state: Any) -> None:
        state.write_mask_into(self.bits.ctypes.data, self.bits.size, self.bits.itemsize)

    def accept(self, state: Any, token: int) -> bool:
        if not _allowed(self.bits, token):
            return False
        state.advance(token, return_tokens=False)
        return True


def _spelled(tokenizer: Tokenizer) -> list[bytes]:
    """What ids spell, as peers take it: special ones by a text that nothing else has."""
    return [token or f"<|special_{id}|>".encode() for id, token in enumerate(tokenizer.text_tokens())]


def _allowed(bits: npt.NDArray[numpy.int32], token: int) -> bool:
    return bool(int(bits[token >> 5]) >> (token & 31) & 1)


#: By the name of the module that they need.
ENGINES: dict[str, Any] = {"llgcy": _Llgcy, "llguidance": _Llguidance, "xgrammar": _XGrammar, "outlines_core": _OutlinesCore}


def available() -> list[str]:
    """The engines that are installed."""
    return [name for name in ENGINES if importlib.util.find_spec(name) is not None]


def made(name: str, tokenizer: Tokenizer) -> Engine:
    """An engine, ready for a tokenizer.

    Raises
    ------
    ImportError
        It is not installed, or lacks what it needs itself.
    """
    engine: Engine = ENGINES[name](tokenizer)
    return engine
