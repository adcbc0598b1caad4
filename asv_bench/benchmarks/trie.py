"""The token trie: moved by ``llgcy/core/trie.pyx``."""
import llgcy
from llgcy.core.trie import Vocabulary
from llgcy.tokenizer import Tokenizer

from .tokenizer import large


class Build:
    params = ["default", "large"]
    param_names = ["vocabulary"]

    def setup(self, vocabulary):
        self.tokens = Tokenizer.default().text_tokens() if vocabulary == "default" else large()

    def time_build(self, vocabulary):
        Vocabulary(self.tokens, (0,))

    def track_nodes(self, vocabulary):
        return Vocabulary(self.tokens, (0,)).trie.size

    track_nodes.unit = "nodes"


class Walk:
    """The first mask of a grammar in which nearly every token may come next: the whole trie is walked."""

    number = 1
    warmup_time = 0

    def setup(self):
        tokenizer = llgcy.Tokenizer.from_vocab(large(), eos_token_id=0)
        grammar = llgcy.Grammar.from_regex(r"(?s:.)*")
        self.bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
        llgcy.compile(grammar, tokenizer).matcher().fill_next_token_bitmask(self.bitmask)
        self.compiled = llgcy.compile(grammar, tokenizer)

    def time_first_mask(self):
        self.compiled.matcher().fill_next_token_bitmask(self.bitmask)

    def track_nodes_walked(self):
        self.compiled.matcher().fill_next_token_bitmask(self.bitmask)
        return self.compiled.stats()["nodes_walked"]

    track_nodes_walked.unit = "nodes"
