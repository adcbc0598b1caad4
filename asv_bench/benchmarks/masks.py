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


def counters_of(case):
    """What the text of a case took from cold, and the masks found ready when it is read once more."""
    text = _Text()
    text.setup(case)
    replay(text.compiled, text.ids, text.bitmask)
    stats = text.compiled.stats()
    found = {name: stats[name] for name in ("walks", "nodes_walked", "masks", "mask_bytes", "classified", "by_difference")}
    found["tokens"], found["bytes"], found["states"] = len(text.ids), text.compiled.size, stats.get("rows", 0) + stats.get("sides", 0)
    replay(text.compiled, text.ids, text.bitmask)
    found["hits"] = text.compiled.stats()["hits"] - stats["hits"]
    return found


class Counters:
    """What the text took, from cold."""

    params, param_names = _Text.params, _Text.param_names

    def setup_cache(self):
        """The counters of all cases, by case: one process for all of them, where asv has one for each figure."""
        return {case: counters_of(case) for case in self.params}

    def track_tokens(self, found, case):
        return found[case]["tokens"]

    def track_walks(self, found, case):
        return found[case]["walks"]

    def track_nodes_walked(self, found, case):
        return found[case]["nodes_walked"]

    def track_masks(self, found, case):
        return found[case]["masks"]

    def track_mask_bytes(self, found, case):
        return found[case]["mask_bytes"]

    def track_classified(self, found, case):
        return found[case]["classified"]

    def track_by_difference(self, found, case):
        return found[case]["by_difference"]

    def track_hits(self, found, case):
        return found[case]["hits"]

    def track_states(self, found, case):
        return found[case]["states"]

    def track_bytes(self, found, case):
        return found[case]["bytes"]

    track_classified.unit, track_by_difference.unit, track_hits.unit, track_states.unit, track_bytes.unit = "masks", "masks", "masks", "states", "bytes"
    track_tokens.unit, track_walks.unit, track_nodes_walked.unit, track_masks.unit, track_mask_bytes.unit = "tokens", "walks", "nodes", "masks", "bytes"
