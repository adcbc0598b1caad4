"""Constrained decoding: which tokens may come next under a grammar, in microseconds, and never wrongly.

To import the package takes a moment; what a name needs is imported when the name is first used.
"""
from importlib import import_module
from typing import TYPE_CHECKING

from llgcy.errors import (GrammarError, InvalidInstanceError, LimitError, LlgcyError, StateError, TokenizerError, UnsatisfiableError,
                          UnsupportedKeywordError)
from llgcy.version import __version__

if TYPE_CHECKING:
    from llgcy.api import Grammar, compile
    from llgcy.bitmask import allocate_bitmask, apply_bitmask
    from llgcy.compiler import Compiler
    from llgcy.core.batch import accept_batch, fill_bitmasks, fill_draft_bitmasks
    from llgcy.core.matcher import CompiledGrammar, Matcher
    from llgcy.explain import Explanation
    from llgcy.limits import Limits
    from llgcy.sampler import Sampler
    from llgcy.schema.report import Report, check_schema
    from llgcy.tokenizer import Tokenizer
    from llgcy.tracing import trace
    from llgcy.validator import Validator, validate_json
else:
    _HOMES = {
        # Who makes a tokenizer has grammars to compile, the first of which should not have to wait for modules.
        "llgcy.api": ("Grammar", "Tokenizer", "compile"),
        "llgcy.bitmask": ("allocate_bitmask", "apply_bitmask"),
        "llgcy.compiler": ("Compiler",),
        "llgcy.core.batch": ("accept_batch", "fill_bitmasks", "fill_draft_bitmasks"),
        "llgcy.core.matcher": ("CompiledGrammar", "Matcher"),
        "llgcy.explain": ("Explanation",),
        "llgcy.limits": ("Limits",),
        "llgcy.sampler": ("Sampler",),
        "llgcy.schema.report": ("Report", "check_schema"),
        "llgcy.tracing": ("trace",),
        "llgcy.validator": ("Validator", "validate_json"),
    }
    _HOME = {name: home for home, names in _HOMES.items() for name in names}

    def __getattr__(name):
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(home), name)
        return found

    def __dir__():
        return sorted(globals().keys() | _HOME.keys())

__all__ = [
    "CompiledGrammar", "Compiler", "Explanation", "Grammar", "GrammarError", "InvalidInstanceError", "LimitError", "Limits", "LlgcyError",
    "Matcher", "Report", "Sampler", "StateError", "Tokenizer", "TokenizerError", "UnsatisfiableError", "UnsupportedKeywordError", "Validator",
    "__version__", "accept_batch", "allocate_bitmask", "apply_bitmask", "check_schema", "compile", "fill_bitmasks", "fill_draft_bitmasks", "trace", "validate_json",
]
