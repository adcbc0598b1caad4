"""The tokenizer that comes with the package, for trying things out and for tests without any download.

A byte-level BPE of 16,384 tokens, small enough to ship and rich enough to be like those of real models: it has words with their
space, runs of spaces, punctuation of JSON and of programs (``":"``, ``"},``), numbers of up to three digits, all single bytes, and
parts of characters. `llgcy.tokenizer.train_default` made it.
"""
from __future__ import annotations

import functools
from importlib import resources

import tokenizers

from llgcy.tokenizer import huggingface
from llgcy.tokenizer.tokenizer import Tokenizer

FILE = "data/default.json"
"""The trained tokenizer, beside this module."""


@functools.cache
def tokenizer() -> Tokenizer:
    """The default tokenizer; one object for the whole process, since it is immutable."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    vocabulary = huggingface.read(tokenizers.Tokenizer.from_str(text), find_eos=True)
    return Tokenizer(vocabulary._replace(source="default"))
