"""Syntax trees to terms: over bytes or characters, as a match of the whole text or anywhere in it."""
from llgcy.errors import GrammarError

from llgcy.grammar.regex.tree import (
    EMPTY, TEXT, Alternate, Anchor, Both, Bytes, Chars, Complement, Concat, Literal, Look, Repeat)
from llgcy.grammar.regex.utf8 import utf8


def to_bytes(tree, regexes, *, look_around=True):
    """The term over UTF-8 bytes of the texts that a tree matches as a whole.

    Parameters
    ----------
    tree : syntax tree
    regexes : Regexes("bytes")
    look_around : bool
        False where the text goes on around the match, as in a lexeme: anchors at the edges of the tree are taken to hold, any other
        anchor, word boundary or look-around is refused.

    Returns
    -------
    int

    Raises
    ------
    GrammarError
        See `look_around`; look-ahead inside of a look-behind.
    LimitError
        The budget of the store.
    """
    if regexes.alphabet != "bytes":
        raise ValueError("to_bytes needs Regexes('bytes')")
    return _lower(tree if look_around else _without_edges(tree), regexes, look_around)


def to_chars(tree, regexes, *, look_around=True):
    """The term over characters of the texts that a tree matches as a whole; as `to_bytes` otherwise."""
    if regexes.alphabet != "chars":
        raise ValueError("to_chars needs Regexes('chars')")
    return _lower(tree if look_around else _without_edges(tree), regexes, look_around)


def search(tree, regexes):
    """The term of the texts in which a tree matches somewhere, as `pattern` of JSON Schema does.

    Parameters
    ----------
    tree : syntax tree
    regexes : Regexes of either alphabet

    Returns
    -------
    int
    """
    found = []
    for part in tree.parts if isinstance(tree, Alternate) else (tree,):
        part, at_start = _edge(part, True)
        part, at_end = _edge(part, False)
        found.append(Concat((EMPTY if at_start else TEXT, part, EMPTY if at_end else TEXT)))
    return _lower(Alternate(tuple(found)), regexes, True)


def _edge(tree, start):
    """The tree without the anchors at this edge; were there any?

    They hold or fail with the edge of the whole text, so that the search for a place to match becomes unnecessary.
    """
    parts = list(tree.parts) if isinstance(tree, Concat) else [tree]
    found = False
    while parts and isinstance(parts[0 if start else -1], Anchor) and parts[0 if start else -1].start == start:
        parts.pop(0 if start else -1)
        found = True
    return (Concat(tuple(parts)) if found else tree), found


def _without_edges(tree):
    return _edge(_edge(tree, True)[0], False)[0]


def _children(tree):
    """The subtrees that become terms of their own; literals in an alternation become one automaton together."""
    if isinstance(tree, Alternate):
        return [part for part in tree.parts if not isinstance(part, Literal)]
    if isinstance(tree, (Concat, Both)):
        return tree.parts
    return (tree.part,) if isinstance(tree, (Complement, Repeat, Look)) else ()


def _lower(tree, regexes, look_around):
    """Post-order with a stack of our own; equal subtrees (one object) are done once."""
    done, stack = {}, [tree]
    memo = {}
    while stack:
        node = stack[-1]
        if id(node) in done:
            stack.pop()
            continue
        waiting = [child for child in _children(node) if id(child) not in done]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if not look_around and isinstance(node, (Look, Anchor)):
            kind = "an anchor inside of the expression" if isinstance(node, Anchor) else "look-around or a word boundary"
            raise GrammarError(f"{kind} cannot be used here: a lexeme does not see the text around it",
                               line=1 if node.column else None, column=node.column)
        done[id(node)] = _term(node, [done[id(child)] for child in _children(node)], regexes, memo)
    return regexes.both([done[id(tree)]])      # look-ahead sees to the end of the text, whatever the term becomes part of


def _term(node, parts, r, memo):
    """The term of one node from those of its children."""
    if isinstance(node, Literal):
        return r.words([node.text])
    if isinstance(node, Chars):
        if r.alphabet == "chars":
            return r.chars(node.ranges)
        if node.ranges not in memo:
            memo[node.ranges] = utf8(r, node.ranges)
        return memo[node.ranges]
    if isinstance(node, Bytes):
        if r.alphabet == "chars":
            raise GrammarError("single bytes cannot be matched in text of characters")
        return r.chars(node.ranges)
    if isinstance(node, Concat):
        return r.cat(parts)
    if isinstance(node, Alternate):
        return r.either([*parts, r.words([child.text for child in node.parts if isinstance(child, Literal)])])
    if isinstance(node, Both):
        return r.both(parts)
    if isinstance(node, Complement):
        return r.both([r.complement(parts[0]), _term(TEXT, [_any(r, memo)], r, memo)])
    if isinstance(node, Repeat):
        return r.repeat(parts[0], node.low, node.high)
    if isinstance(node, Anchor):
        return r.behind(1) if node.start else r.ahead(1)
    if not node.ahead and r.looks_ahead(parts[0]):
        raise GrammarError("look-ahead (or $ or a word boundary) inside of a look-behind is not supported",
                           line=1 if node.column else None, column=node.column)
    around = r.cat([parts[0], r.all] if node.ahead else [r.all, parts[0]])
    if node.negated:
        around = r.complement(around)
    return r.ahead(around) if node.ahead else r.behind(around)


def _any(r, memo):
    return _term(TEXT.part, (), r, memo)
