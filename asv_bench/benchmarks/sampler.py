"""Applying masks to logits: moved by ``llgcy/core/bits.pyx`` and ``llgcy/bitmask.py``."""
import numpy

import llgcy


class Apply:
    """A row of 262,144 logits, as numpy and torch keep them and as llama.cpp keeps its candidates; `share` of the tokens is allowed, at random."""

    params = [["contiguous", "records"], [0.0, 0.5, 1.0]]
    param_names = ["layout", "share"]

    def setup(self, layout, share):
        size, random = 1 << 18, numpy.random.default_rng(1)
        records = numpy.zeros(size, dtype=[("id", "i4"), ("logit", "f4"), ("p", "f4")])
        self.logits = records["logit"] if layout == "records" else numpy.zeros(size, numpy.float32)
        self.bitmask = numpy.packbits(random.random(size) < share, bitorder="little").view(numpy.int32)

    def time_apply(self, layout, share):
        llgcy.apply_bitmask(self.logits, self.bitmask)


class Step:
    """A token through a sampler, mask and logits included, in the middle of a string."""

    def setup(self):
        tokenizer = llgcy.Tokenizer.default()
        self.sampler = llgcy.Sampler(llgcy.compile(llgcy.Grammar.from_json_schema({"type": "string"}), tokenizer).matcher())
        self.logits = numpy.zeros(tokenizer.vocab_size, numpy.float32)
        self.sampler.matcher.accept_bytes(b'"lorem')
        self.token = tokenizer.encode(" ipsum")[0]

    def time_step(self):
        self.sampler.apply(self.logits)
        self.sampler.accept(self.token)
        self.sampler.matcher.rollback(1)
