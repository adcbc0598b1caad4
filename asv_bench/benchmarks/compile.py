"""From the text of a grammar to a matcher: moved by ``llgcy/schema/``, ``llgcy/grammar/`` and ``llgcy/api.py``."""
import llgcy

from .common import JSON_CASES, LARK_CASES, REGEX_CASES, grammar_and_text


class Compile:
    params = JSON_CASES + LARK_CASES + REGEX_CASES
    param_names = ["case"]

    def setup(self, case):
        self.tokenizer = llgcy.Tokenizer.default()
        llgcy.compile(grammar_and_text(case)[0], self.tokenizer)

    def time_read(self, case):
        grammar_and_text(case)

    def time_read_and_compile(self, case):
        llgcy.compile(grammar_and_text(case)[0], self.tokenizer)

    def time_first_mask(self, case):
        matcher = llgcy.compile(grammar_and_text(case)[0], self.tokenizer).matcher()
        matcher.fill_next_token_bitmask(llgcy.allocate_bitmask(1, self.tokenizer.vocab_size))

    def track_bytes(self, case):
        compiled = llgcy.compile(grammar_and_text(case)[0], self.tokenizer)
        return sum(value for name, value in compiled.stats().items() if name in ("bytes", "grammar_bytes"))

    track_bytes.unit = "bytes"
