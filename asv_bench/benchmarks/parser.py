"""Rows along texts: moved by ``llgcy/core/rows.pyx`` and ``config.pyx``.

Right recursion and ambiguity must take a constant number of rows, whatever the length.
"""
import llgcy

from .common import LARK_CASES, grammar_and_text


class Read:
    params = LARK_CASES
    param_names = ["case"]

    def setup(self, case):
        grammar, text = grammar_and_text(case)
        self.text = text.encode()
        self.compiled = llgcy.compile(grammar, llgcy.Tokenizer.single_byte())
        if not self.compiled.matcher().accept_bytes(self.text):
            raise AssertionError("refused")

    def time_accept_bytes(self, case):
        self.compiled.matcher().accept_bytes(self.text)

    def track_rows(self, case):
        return self.compiled.stats()["rows"]

    def track_shapes(self, case):
        return self.compiled.stats()["shapes"]

    track_rows.unit, track_shapes.unit = "rows", "shapes"


class Growth:
    """The same grammars on texts of growing length: the rows must not grow."""

    params = [["right_recursion", "ambiguous"], [100, 1000, 10000]]
    param_names = ["case", "bytes"]

    def setup(self, case, length):
        grammar, text = grammar_and_text(case)
        unit = text[-2:]
        self.text = (text[:1] + unit * (length // 2)).encode()
        self.compiled = llgcy.compile(grammar, llgcy.Tokenizer.single_byte())

    def track_rows(self, case, length):
        if not self.compiled.matcher().accept_bytes(self.text):
            raise AssertionError("refused")
        return self.compiled.stats()["rows"]

    track_rows.unit = "rows"
