"""What captures cost, where they are asked for: moved by ``llgcy/grammar/reading/``."""
import llgcy

GRAMMARS = {
    "repetition": 'start: (item ",")*\nitem[capture]: /[0-9]+/',
    "left recursion": 'start: list\nlist: list item "," | \nitem[capture]: /[0-9]+/',
    "right recursion": 'start: list\nlist: item "," list | \nitem[capture]: /[0-9]+/',
}


class Captures:
    """A thousand texts that are recorded."""

    params = list(GRAMMARS)
    param_names = ["grammar"]

    def setup(self, grammar):
        self.matcher = llgcy.compile(llgcy.Grammar.from_lark(GRAMMARS[grammar]), llgcy.Tokenizer.single_byte()).matcher()
        self.matcher.accept_bytes(b"12," * 1000)
        self.matcher.captures()

    def time_captures(self, grammar):
        self.matcher.captures()
