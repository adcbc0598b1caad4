"""Constrained decoding: which tokens may come next under a grammar, in microseconds, and never wrongly."""
from llgcy.api import Grammar, compile
from llgcy.bitmask import allocate_bitmask, apply_bitmask
from llgcy.compiler import Compiler
from llgcy.core.batch import accept_batch, fill_bitmasks, fill_draft_bitmasks
from llgcy.core.matcher import CompiledGrammar, Matcher
from llgcy.errors import (GrammarError, InvalidInstanceError, LimitError, LlgcyError, StateError, TokenizerError, UnsatisfiableError,
                          UnsupportedKeywordError)
from llgcy.explain import Explanation
from llgcy.limits import Limits
from llgcy.sampler import Sampler
from llgcy.schema.report import Report, check_schema
from llgcy.tokenizer import Tokenizer
from llgcy.trace import trace
from llgcy.validator import Validator, validate_json
from llgcy.version import __version__

__all__ = [
    "CompiledGrammar", "Compiler", "Explanation", "Grammar", "GrammarError", "InvalidInstanceError", "LimitError", "Limits", "LlgcyError",
    "Matcher", "Report", "Sampler", "StateError", "Tokenizer", "TokenizerError", "UnsatisfiableError", "UnsupportedKeywordError", "Validator",
    "__version__", "accept_batch", "allocate_bitmask", "apply_bitmask", "check_schema", "compile", "fill_bitmasks", "fill_draft_bitmasks", "trace", "validate_json",
]
