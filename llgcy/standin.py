"""A stand-in for a language model: random logits from a seed, so that everything can be tried, tested and timed offline."""
from __future__ import annotations

import numpy as np
import numpy.typing as npt

from llgcy.bitmask import apply_bitmask
from llgcy.tokenizer import Tokenizer


RARE = 7        # white space and backslashes are less likely by e to this power


class StandIn:
    """Logits of a model that knows nothing but how often tokens occur.

    Its distribution is the same at every step: Zipf's law over the ids, since trained vocabularies list frequent tokens first, with
    the EOS tokens as likely as the most frequent one; only white space and backslashes are made rare, since many grammars offer them
    everywhere (JSON between any two tokens, and to spell any character), and text would be little else. `next_logits` adds Gumbel noise to the log-probabilities, so the *largest* allowed
    logit is a sample from the allowed part of the distribution (the Gumbel-max trick), and greedy decoding gives varied text.

    Parameters
    ----------
    tokenizer : Tokenizer
    seed : int
        The same seed gives the same logits.

    Examples
    --------
    >>> model = StandIn(Tokenizer.single_byte(), seed=1)
    >>> model.next_logits().shape
    (257,)
    """

    def __init__(self, tokenizer: Tokenizer, seed: int = 0):
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._prior = -np.log(np.arange(1, tokenizer.vocab_size + 1, dtype=np.float32))
        self._prior[list(tokenizer.eos_token_ids)] = 0
        rare = [id for id, token in enumerate(tokenizer.text_tokens()) if token and (token.isspace() or b"\\" in token)]
        self._prior[rare] -= RARE

    def next_logits(self) -> npt.NDArray[np.float32]:
        """The logits of the next step: a new array of length ``vocab_size``, all finite."""
        uniform = self._random.random(self._prior.size, dtype=np.float32)
        tiny = np.finfo(np.float32).tiny         # the generator may give 0, whose logarithm is infinite
        return self._prior - np.log(-np.log(np.maximum(uniform, tiny)))

    def choose(self, bitmask: npt.NDArray[np.int32]) -> int:
        """Takes the next step: the allowed id with the largest logit.

        Parameters
        ----------
        bitmask : int32 array of shape (ceil(vocab_size / 32),)
            One row of a bitmask; bit i % 32 of word i // 32 set: id i is allowed.

        Raises
        ------
        ValueError
            Nothing is allowed.
        """
        logits = self.next_logits()
        apply_bitmask(logits, bitmask)
        best = int(logits.argmax())
        if logits[best] == -np.inf:
            raise ValueError("the mask allows no token")
        return best
