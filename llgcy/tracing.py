"""A protocol of what a matcher allows and takes, token by token."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy

from llgcy.bitmask import allocate_bitmask
from llgcy.core.matcher import Matcher

SHOWN = 5            # allowed tokens that a line names


def trace(matcher: Matcher, tokens: Iterable[int], write: Callable[[str], Any] = print) -> int:
    """Lets a matcher take tokens, and writes for each of them what was allowed there, what was expected, and what was taken.

    Parameters
    ----------
    matcher : Matcher
    tokens : iterable of int
        Up to the first that is refused, of which the reason is written.
    write : callable
        Called with each line.

    Returns
    -------
    int
        How many tokens were taken.

    Raises
    ------
    ValueError
        One of them is not an id of the vocabulary.

    Examples
    --------
    >>> import llgcy
    >>> compiled = llgcy.compile(llgcy.Grammar.from_choices(["on", "off"]), llgcy.Tokenizer.single_byte())
    >>> trace(compiled.matcher(), b"oof")
    0: 'o' taken; 1 token allowed: 'o'; expected ("on" | "off")
    1: 'o' refused; 2 tokens allowed: 'f' 'n'; expected the rest of ("on" | "off")
    at byte 1 (line 1, column 2): 'o' after 'o'; expected the rest of ("on" | "off"), in start
    1
    """
    tokenizer = matcher.compiled.tokenizer
    names = {id: name for name, id in tokenizer.specials.items()}
    bitmask = allocate_bitmask(1, tokenizer.vocab_size)

    def shown(id: int) -> str:
        text = tokenizer.token_bytes(id)
        if text is None:
            return names.get(id, "the end" if id in matcher.eos_token_ids else f"<[{id}]>")
        try:
            return repr(text.decode())
        except UnicodeDecodeError:
            return repr(text)

    taken = 0
    for token in tokens:
        matcher.fill_next_token_bitmask(bitmask)
        allowed = numpy.flatnonzero(numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little")).tolist()
        expected = matcher.expected()
        why = matcher.explain_token(token)
        some = " ".join(map(shown, allowed[:SHOWN])) + " ..." * (len(allowed) > SHOWN)
        write(f"{taken}: {shown(token)} {'taken' if why is None else 'refused'}; {len(allowed):,} token{'s' * (len(allowed) != 1)} allowed: {some}; "
              f"expected {', '.join(expected)}")
        if why is not None:
            write(str(why))
            break
        matcher.accept_token(token)
        taken += 1
    return taken
