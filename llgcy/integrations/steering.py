"""Ends of texts near the limit of a generation, for hosts that cut a text off there.

`Matcher.finish_within` promises an end, and so has to look at every token that may come, which costs milliseconds at each new place of a
grammar. Most texts end long before their limit, so a host need not ask for the promise while the limit is far: while so much is left that
a text which opens a bracket with each of its tokens can still close them all when it is looked at the next time. Where one token asks for
much more than that, a text may be cut off, and gets its ending appended.
"""
from __future__ import annotations

from llgcy.core.matcher import Matcher
from llgcy.errors import LimitError, StateError
from llgcy.log import LOGGER

NEAR = 64
"""Tokens that are left where a limit is near, however short an ending is."""

_LOOKS = frozenset(int(NEAR * (4 / 3) ** i) for i in range(80))
"""Tokens that are left where a text is looked at. From one to the next a quarter of them goes, so half of them may be needed here."""


def steer(matcher: Matcher, left: int) -> None:
    """To be called before each mask of a text; has the text end by itself within the tokens that are left, where it can.

    Parameters
    ----------
    matcher : Matcher
    left : int
        Tokens that the host still writes, but for EOS.

    Examples
    --------
    >>> import llgcy
    >>> m = llgcy.compile(llgcy.Grammar.from_regex("[a-z]+!"), llgcy.Tokenizer.single_byte()).matcher()
    >>> steer(m, 1000)
    >>> m.tokens_left is None, m.accept_tokens(b"abcde")
    (True, 5)
    >>> steer(m, 3)
    >>> m.accept_tokens(b"fgh"), m.completion()
    (2, b'!')
    """
    promised = matcher.tokens_left
    if promised is not None and promised <= left + 1 or left > NEAR and left not in _LOOKS and matcher.steps:
        return
    try:
        if left <= NEAR or 2 * len(matcher.completion()) >= left - NEAR:        # a token has a byte or more
            matcher.finish_within(max(left, 0) + 1)
    except (LimitError, StateError) as error:       # no text is so short, or only tokens that have no bytes end it
        LOGGER.debug("the text may be cut off: %s", error)
