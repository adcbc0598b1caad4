"""The token trie: moved by ``llgcy/core/trie.pyx``."""
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
