"""Lexer states along texts: moved by ``llgcy/core/lexer.pyx`` and ``regex.pyx``."""
import llgcy

from .common import REGEX_CASES, grammar_and_text


class Read:
    params = REGEX_CASES
    param_names = ["case"]

    def setup(self, case):
        grammar, text = grammar_and_text(case)
        self.grammar, self.text = grammar, text.encode() * (20 if case == "everything" else 1)
        self.compiled = llgcy.compile(grammar, llgcy.Tokenizer.single_byte())
        if not self.compiled.matcher().accept_bytes(self.text):
            raise AssertionError("refused")

    def time_accept_bytes(self, case):
        self.compiled.matcher().accept_bytes(self.text)

    def track_states(self, case):
        return self.compiled.stats()["lexer_states"]

    track_states.unit = "states"


class Cold(Read):
    """With no state at hand."""

    def time_accept_bytes(self, case):
        llgcy.compile(self.grammar, llgcy.Tokenizer.single_byte()).matcher().accept_bytes(self.text)
