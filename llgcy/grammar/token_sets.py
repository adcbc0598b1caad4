"""Tokens that a grammar names as units: ``<|eot|>``, ``<[12,20-30]>``, ``<[^12]>``, ``<[*]>``."""
import re

from llgcy.errors import GrammarError
from llgcy.grammar import ir
from llgcy.grammar.source import near

LARGEST = (1 << 31) - 1         # ids fit an int32
LISTED = 20                     # special tokens that an error names at most

_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


def token_set(text, *, others=False, at=None):
    """The node of a reference to tokens.

    Parameters
    ----------
    text : str
        With its angle brackets. In square brackets inside of them stand ids and ranges of ids, ``^`` before them means all
        others, ``*`` any token. Everything else is the text of one token, brackets included.
    others : bool
        All tokens but these (GBNF's ``!``).

    Raises
    ------
    GrammarError
        The ids are malformed.
    """
    written = "!" * others + text
    if not (text.startswith("<[") and text.endswith("]>")):
        return ir.Tokens(written, name=text, others=others, at=at)
    body = text[2:-2]
    if body == "*":
        if others:
            raise GrammarError("no token is left where all are excluded")
        return ir.Tokens(written, others=True, at=at)
    if body.startswith("^"):
        if body[1:] == "*":
            raise GrammarError("no token is left where all are excluded: <[^*]>")
        others, body = not others, body[1:]
    ranges = []
    for part in body.split(","):
        found = _RANGE.fullmatch(part)
        if not found:
            raise GrammarError(f"token ids are written <[1]>, <[1,5-7]>, <[^1]> or <[*]>, without blanks, not {text}")
        first, last = int(found[1]), int(found[2] or found[1])
        if not first <= last <= LARGEST:
            raise GrammarError(f"no such token ids: {part}")
        ranges.append((first, last))
    return ir.Tokens(written, ids=tuple(ranges), others=others, at=at)


def resolve(node, tokenizer, known=True):
    """The ids that a node names: ascending, disjoint ranges (first, last).

    Parameters
    ----------
    node : ir.Tokens
    tokenizer : Tokenizer
    known : bool
        False: the tokenizer only stands in for one that is not known yet. Then a token that it does not have is one that never comes.

    Raises
    ------
    GrammarError
        The tokenizer has no such token.
    """
    def error(message):
        line, column = node.at or (None, None)
        return GrammarError(message, line=line, column=column)
    size = tokenizer.vocab_size
    if node.optional:
        return tuple((id, id) for name, id in tokenizer.specials.items() if name == node.name)
    if node.end:
        ids = sorted(tokenizer.eos_token_ids)
    elif node.name is not None:
        ids = _named(node, tokenizer, error, known)
    else:
        ids = []
        for first, last in node.ids:
            if last >= size and known:
                raise error(f"{node.text}: there is no token {last}; the vocabulary has {size:,}")
            ids += range(first, min(last + 1, size))
    if node.others:
        left = set(range(size)) - set(ids)
        ids = [id for id in left if tokenizer.token_bytes(id) != b""]         # padding is never a token
    if not ids:
        if known:
            raise error(f"{node.text} names no token of the vocabulary")
        return ((LARGEST, LARGEST),)
    return _ranges(sorted(ids))


def _named(node, tokenizer, error, known):
    specials = tokenizer.specials
    if node.name in specials:
        return [specials[node.name]]
    if node.loose:
        found = [name for name in specials if re.sub(r"\W", "", name).lower() == re.sub(r"\W", "", node.name).lower()]
        if len(found) == 1:
            return [specials[found[0]]]
        if found:
            raise error(f"{node.text} may be any of the special tokens {', '.join(sorted(found))}: write one of them instead")
    else:
        text = node.name.encode()
        plain = [id for id, token in enumerate(tokenizer.text_tokens()) if token == text]
        if plain:
            return plain
    if known:
        names = sorted(specials)
        raise error(f"the tokenizer has no special token {node.name}{near(node.name, names)}; it has "
                    + (", ".join(names[:LISTED]) + (" and others" if len(names) > LISTED else "") if names else "none"))
    return []


def _ranges(ids):
    out = []
    for id in ids:
        if out and out[-1][1] >= id - 1:
            out[-1][1] = id
        else:
            out.append([id, id])
    return tuple(map(tuple, out))
