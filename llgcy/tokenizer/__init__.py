"""Tokenizers: what each token id spells, which ids are special, and how text becomes ids."""
from llgcy.tokenizer.tokenizer import Tokenizer

__all__ = ["Tokenizer"]
