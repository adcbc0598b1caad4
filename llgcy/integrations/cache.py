"""What a host's model has cost already: its tokenizer, and the grammars that were compiled for it."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from llgcy.api import Grammar
from llgcy.compiler import Compiler
from llgcy.core.matcher import CompiledGrammar
from llgcy.tokenizer import Tokenizer


class ModelCache:
    """Tokenizers and compiled grammars by model; forgets a model when the model is gone.

    Parameters
    ----------
    read : callable
        Reads the tokenizer of a model.

    Notes
    -----
    Each model has a `llgcy.Compiler`, so that equal grammars are compiled once, and within its budget of bytes.
    """

    def __init__(self, read: Callable[[Any], Tokenizer]):
        self._read = read
        self._lock = threading.Lock()
        self._models: weakref.WeakKeyDictionary[Any, _Model] = weakref.WeakKeyDictionary()

    def tokenizer(self, model: Any) -> Tokenizer:
        """The tokenizer of the model."""
        return self._entry(model).tokenizer

    def compiled(self, grammar: Grammar | CompiledGrammar, model: Any) -> CompiledGrammar:
        """The grammar, ready for the model.

        Raises
        ------
        TypeError
            Neither a Grammar nor a CompiledGrammar.
        ValueError
            It was compiled for a vocabulary of another size.
        """
        entry = self._entry(model)
        if isinstance(grammar, CompiledGrammar):
            if grammar.tokenizer.vocab_size != entry.tokenizer.vocab_size:
                raise ValueError(f"the grammar is compiled for a vocabulary of {grammar.tokenizer.vocab_size:,} ids, the model has "
                                 f"{entry.tokenizer.vocab_size:,}")
            return grammar
        if not isinstance(grammar, Grammar):
            raise TypeError(f"expected a llgcy.Grammar or a compiled one, not {type(grammar).__name__}; Grammar.from_json_schema() takes schemas and types")
        return entry.compiler.compile(grammar)

    def _entry(self, model: Any) -> _Model:
        with self._lock:
            entry = self._models.get(model)
            if entry is None:
                entry = self._models[model] = _Model(self._read(model))
            return entry


class _Model:
    """What is known of one model."""

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer
        self.compiler = Compiler(tokenizer)
