"""Masks along a text: moved by ``llgcy/core/masks.pyx``, ``classify.pyx`` and the machines under them."""
import llgcy

from .common import JSON_CASES, LARK_CASES, REGEX_CASES, grammar_and_text, replay


class _Text:
    params = JSON_CASES + LARK_CASES + REGEX_CASES
    param_names = ["case"]
    number = 1               # so that setup comes before each sample
    warmup_time = 0

    def setup(self, case):
        tokenizer = llgcy.Tokenizer.default()
        grammar, text = grammar_and_text(case)
        self.ids = tokenizer.encode(text)
        self.bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
        replay(llgcy.compile(grammar, tokenizer), self.ids, self.bitmask)
        self.compiled = llgcy.compile(grammar, tokenizer)


class Cold(_Text):
    """Each mask for the first time in a compiled grammar. What belongs to the tokenizer (its trie, its classes of tokens) is ready, as in a server."""

    def time_text(self, case):
        replay(self.compiled, self.ids, self.bitmask)


class Warm(_Text):
    """The same masks when the grammar has met them before."""

    number = 10

    def setup(self, case):
        super().setup(case)
        replay(self.compiled, self.ids, self.bitmask)

    def time_text(self, case):
        replay(self.compiled, self.ids, self.bitmask)


class Counters(_Text):
    """What the text took, from cold."""

    def setup(self, case):
        super().setup(case)
        replay(self.compiled, self.ids, self.bitmask)
        self.counters = self.compiled.stats()

    def track_tokens(self, case):
        return len(self.ids)

    def track_walks(self, case):
        return self.counters["walks"]

    def track_nodes_walked(self, case):
        return self.counters["nodes_walked"]

    def track_masks(self, case):
        return self.counters["masks"]

    def track_mask_bytes(self, case):
        return self.counters["mask_bytes"]

    def track_classified(self, case):
        return self.counters["classified"]

    def track_by_difference(self, case):
        return self.counters["by_difference"]

    def track_hits(self, case):
        """Masks found ready when the text is read once more."""
        before = self.counters["hits"]
        replay(self.compiled, self.ids, self.bitmask)
        return self.compiled.stats()["hits"] - before

    def track_states(self, case):
        return self.counters.get("rows", 0) + self.counters.get("sides", 0)

    def track_bytes(self, case):
        return self.compiled.size

    track_classified.unit, track_by_difference.unit, track_hits.unit, track_states.unit, track_bytes.unit = "masks", "masks", "masks", "states", "bytes"
    track_tokens.unit, track_walks.unit, track_nodes_walked.unit, track_masks.unit, track_mask_bytes.unit = "tokens", "walks", "nodes", "masks", "bytes"
