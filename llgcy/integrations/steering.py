"""Ends of texts near the limit of a generation, for hosts that cut a text off there.

`Matcher.finish_within` promises an end, and so has to look at every token that may come, which costs milliseconds at each new place of a
grammar. Most texts end long before their limit, so a host need not ask for the promise while more is left than an ending needs, and than
one token may add to it. Where a single token asks for more than that, as one that opens an object of dozens of required members may, a
text is cut off, and gets its ending appended.
"""
from __future__ import annotations

from llgcy.core.matcher import Matcher
from llgcy.errors import LimitError, StateError
from llgcy.log import LOGGER

NEAR = 24
"""Tokens beyond those of an ending that are left where the promise is asked for: what one token may add to the ending."""

CLOSE = 4 * NEAR
"""Tokens that are left where a text is looked at before each token."""

_LOOKS = frozenset(int(CLOSE * (4 / 3) ** i) for i in range(80))
"""Tokens that are left where it is looked at before. From one to the next a quarter of them goes, so half of them may be needed here."""


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
    if promised is not None and promised <= left + 1 or left > CLOSE and left not in _LOOKS and matcher.steps:
        return
    try:
        needed = 0 if left <= NEAR else len(matcher.completion())       # in bytes: a token has one or more
        if needed + (NEAR if left <= CLOSE else left // 2) >= left:
            matcher.finish_within(max(left, 0) + 1)
    except (LimitError, StateError) as error:       # no text is so short, or only tokens that have no bytes end it
        LOGGER.debug("the text may be cut off: %s", error)
