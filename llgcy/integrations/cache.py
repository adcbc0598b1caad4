"""What a host's model has cost already: its tokenizer, and the grammars that were compiled for it."""
from __future__ import annotations

import collections
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

from llgcy.api import Grammar, compile
from llgcy.core.matcher import CompiledGrammar
from llgcy.log import LOGGER
from llgcy.tokenizer import Tokenizer

REMEMBERED = 32
"""Compiled grammars that are kept for each model, the least recently used dropped first."""


class ModelCache:
    """Tokenizers and compiled grammars by model; forgets a model when the model is gone.

    Parameters
    ----------
    read : callable
        Reads the tokenizer of a model.

    Notes
    -----
    Grammars are told apart by identity: the same object is compiled once, an equal one again.
    """

    def __init__(self, read: Callable[[Any], Tokenizer]):
        self._read = read
        self._lock = threading.RLock()
        self._models: weakref.WeakKeyDictionary[Any, tuple[Tokenizer, collections.OrderedDict[int, CompiledGrammar]]] = weakref.WeakKeyDictionary()

    def tokenizer(self, model: Any) -> Tokenizer:
        """The tokenizer of the model."""
        return self._entry(model)[0]

    def compiled(self, grammar: Grammar | CompiledGrammar, model: Any) -> CompiledGrammar:
        """The grammar, ready for the model.

        Raises
        ------
        TypeError
            Neither a Grammar nor a CompiledGrammar.
        ValueError
            It was compiled for a vocabulary of another size.
        """
        tokenizer, grammars = self._entry(model)
        if isinstance(grammar, CompiledGrammar):
            if grammar.tokenizer.vocab_size != tokenizer.vocab_size:
                raise ValueError(f"the grammar is compiled for a vocabulary of {grammar.tokenizer.vocab_size:,} ids, the model has {tokenizer.vocab_size:,}")
            return grammar
        if not isinstance(grammar, Grammar):
            raise TypeError(f"expected a llgcy.Grammar or a compiled one, not {type(grammar).__name__}; Grammar.from_json_schema() takes schemas and types")
        with self._lock:
            found = grammars.get(id(grammar))        # which is alive as long as the compiled grammar, and so its id is its own
            if found is None:
                begin = time.perf_counter()
                found = grammars[id(grammar)] = compile(grammar, tokenizer)
                LOGGER.info("a grammar compiled for %s in %.1f ms", tokenizer.source, 1000 * (time.perf_counter() - begin))
            grammars.move_to_end(id(grammar))
            while len(grammars) > REMEMBERED:
                grammars.popitem(last=False)
            return found

    def _entry(self, model: Any) -> tuple[Tokenizer, collections.OrderedDict[int, CompiledGrammar]]:
        with self._lock:
            entry = self._models.get(model)
            if entry is None:
                entry = self._models[model] = (self._read(model), collections.OrderedDict())
            return entry
