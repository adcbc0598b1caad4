"""Many sequences at once: moved by ``llgcy/core/batch.pyx``, ``masks.pyx`` and ``lock.pyx``."""
import llgcy

from .common import grammar_and_text

ROWS = 256


def spread(compiled, ids):
    """Sequences that stand at different places of one text."""
    matchers = []
    for row in range(ROWS):
        matcher = compiled.matcher()
        matcher.accept_tokens(ids[:row % len(ids)])
        matchers.append(matcher)
    return matchers


class Ready:
    """256 sequences of one grammar, all of whose masks are remembered."""

    params = [1, 2]
    param_names = ["threads"]

    def setup(self, threads):
        tokenizer = llgcy.Tokenizer.default()
        grammar, text = grammar_and_text("person")
        ids = tokenizer.encode(text)
        self.matchers = spread(llgcy.compile(grammar, tokenizer), ids)
        self.tokens = [ids[row % len(ids)] for row in range(ROWS)]
        self.bitmask = llgcy.allocate_bitmask(ROWS, tokenizer.vocab_size)
        llgcy.fill_bitmasks(self.matchers, self.bitmask)

    def time_fill(self, threads):
        llgcy.fill_bitmasks(self.matchers, self.bitmask, threads=threads)

    def time_accept_and_rollback(self, threads):
        llgcy.accept_batch(self.matchers, self.tokens, threads)
        for matcher in self.matchers:
            matcher.rollback(1)


class Cold:
    """Grammars that have computed no mask: 256 sequences of one, and one sequence each of 64."""

    params = [["one", "64"], [1, 2]]
    param_names = ["grammars", "threads"]
    number, repeat, rounds = 1, 10, 2

    def setup(self, grammars, threads):
        tokenizer = llgcy.Tokenizer.default()
        if grammars == "one":
            grammar, text = grammar_and_text("person")
            self.matchers = spread(llgcy.compile(grammar, tokenizer), tokenizer.encode(text))
        else:
            self.matchers = []
            for i in range(64):
                source = f'start: "k{i}" (item ",")*\nitem: /[a-z]+x{i}/ | "(" item ")" | /[0-9]{{1,{i + 3}}}/'
                self.matchers.append(llgcy.compile(llgcy.Grammar.from_lark(source), tokenizer).matcher())
                self.matchers[i].accept_bytes(b"k%d" % i)
        self.bitmask = llgcy.allocate_bitmask(len(self.matchers), tokenizer.vocab_size)

    def time_fill(self, grammars, threads):
        llgcy.fill_bitmasks(self.matchers, self.bitmask, threads=threads)


class Drafts:
    """A chain of 8 tokens, and a tree of 31 nodes, behind each of 16 sequences."""

    params = ["chain", "tree"]
    param_names = ["draft"]

    def setup(self, draft):
        tokenizer = llgcy.Tokenizer.default()
        grammar, text = grammar_and_text("any")
        ids = tokenizer.encode(text)
        self.matchers = spread(llgcy.compile(grammar, tokenizer), ids[:20])[:16]
        size = 8 if draft == "chain" else 31
        self.parents = [None if draft == "chain" else [(j - 1) // 2 for j in range(size)]] * 16
        self.tokens = [[ids[(row + j) % len(ids)] for j in range(size)] for row in range(16)]
        self.rows = [row * (size + 1) for row in range(16)]
        self.bitmask = llgcy.allocate_bitmask(16 * (size + 1), tokenizer.vocab_size)

    def time_fill(self, draft):
        llgcy.fill_draft_bitmasks(self.matchers, self.tokens, self.parents, self.bitmask, self.rows)
