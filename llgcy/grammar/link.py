"""Puts grammars that refer to each other together, so that one is left.

A grammar that is used in another one becomes a part of it: its rules and terminals under longer names, what it ignores beside
what others ignore. So grammars may use each other in circles. One that is lexed in another way, whose regex looks around itself, or
whose tokens are limited, cannot become a part; it stays a grammar of its own, whose texts are lexemes of the one that uses it.
"""
from dataclasses import replace

from llgcy.errors import GrammarError, LimitError
from llgcy.grammar import ir, regex
from llgcy.grammar.source import near

DEEPEST = 64                    # grammars inside one another that cannot become parts
MOST = 10_000                   # grammars put together


def link(grammar, others=None):
    """One grammar, without references to others.

    Parameters
    ----------
    grammar : ir.Grammar or ir.Json
        The one whose texts are wanted.
    others : dict of str to ir.Grammar or ir.Json, optional
        By the names that `ir.Embedded` nodes use.

    Raises
    ------
    GrammarError
        A name is not known, or grammars that cannot become parts of one another stand in a circle.
    """
    if isinstance(grammar, ir.Json):
        start = ir.Definition("start", grammar)
        return ir.Grammar({"start": start}, {}, "start")
    return _Linker(others or {}, ()).link(grammar)


class _Linker:
    """``around``: the grammars in which this one stands as a lexeme, innermost last."""

    def __init__(self, others, around):
        self.others, self.around = others, around
        self.rules, self.terminals, self.inner = {}, {}, []
        self.prefixes, self.todo = {}, []                   # prefixes: (id of a grammar, temperature) -> (prefix, scope)
        self.alone = {}                                     # id of a grammar -> the same linked, where it stays one of its own

    def link(self, grammar):
        if any(outer is grammar for outer in self.around):
            raise GrammarError("grammars of which one is lexed greedily and one exactly, or that stand in a rule with max_tokens=, refer to each "
                               "other in a circle: give all of them the same option lexing, and limit no text that may hold itself")
        if len(self.around) >= DEEPEST:
            raise LimitError(f"more than {DEEPEST} grammars inside one another that are lexed in different ways, or limited")
        self.outer = grammar
        self.prefixes[id(grammar), None] = "", 0
        self.add(grammar, "", 0, None)
        while self.todo:
            self.add(*self.todo.pop())
        return replace(grammar, rules=self.rules, terminals=self.terminals, inner=tuple(self.inner))

    def add(self, grammar, prefix, scope, temperature):
        """Makes the definitions of a grammar ours."""
        for name, rule in grammar.rules.items():
            heat = rule.temperature if temperature is None else temperature
            body, ending = self.moved(rule.body, grammar, prefix, heat), rule.ending
            if ending is not None:
                ending = replace(ending, body=self.moved(ending.body, grammar, prefix, None),
                                 stop=ending.stop and self.moved(ending.stop, grammar, prefix, None))
            self.rules[prefix + name] = replace(rule, name=prefix + rule.name, body=body, scope=scope, temperature=heat, ending=ending)
        for name, terminal in grammar.terminals.items():
            body = self.moved(terminal.body, grammar, prefix, None)
            self.terminals[prefix + name] = replace(terminal, name=prefix + name, body=body)
        if scope and grammar.ignore is not None:
            self.inner[scope - 1] = ir.Part(self.moved(grammar.ignore, grammar, prefix, None), grammar.options)

    def moved(self, body, grammar, prefix, temperature):
        def combine(node, below):
            if isinstance(node, ir.Reference):
                return replace(node, name=prefix + node.name) if prefix else node
            if isinstance(node, ir.Embedded):
                return self.use(node, temperature, grammar.options.skip_outside)
            if isinstance(node, ir.Limited):                # stays one of its own
                return replace(node, body=self.whole(node.body))
            return ir.rebuilt(node, below) if any(a is not b for a, b in zip(below, node.children)) else node
        return ir.fold(body, combine, lambda node: () if isinstance(node, ir.Limited) else node.children)

    def whole(self, node):
        """A text of another grammar, or a JSON document, that becomes no part of this one."""
        target = node if isinstance(node, ir.Json) else self.found(node)
        if isinstance(target, ir.Json):
            return replace(target, at=node.at)
        if id(target) not in self.alone:
            self.alone[id(target)] = _Linker(self.others, (*self.around, self.outer)).link(target)
        return ir.Embedded(self.alone[id(target)], at=node.at)

    def use(self, node, temperature, skipped):
        """What stands for a text of another grammar. ``skipped``: what its surroundings ignore may stand before it."""
        target = self.found(node)
        if isinstance(target, ir.Json):
            return replace(target, at=node.at)
        start = target.rules[target.start]
        only = start.body
        around = isinstance(only, ir.Pattern) and regex.sees_around(only.tree)
        if start.plain and isinstance(only, (ir.Pattern, ir.Words)) and not around:
            only = replace(only, at=node.at, **({"alone": False} if isinstance(only, ir.Pattern) else {}))
            return only if skipped else ir.Adjacent(only, at=node.at)
        if target.options.lexing != self.outer.options.lexing or around:
            return self.whole(node)
        key = id(target), temperature
        if key not in self.prefixes:
            if len(self.prefixes) >= MOST:
                raise LimitError(f"more than {MOST:,} grammars inside one another")
            label = node.grammar if isinstance(node.grammar, str) else "%lark"
            prefix = f"@{label}#{len(self.prefixes)}." if isinstance(node.grammar, ir.Grammar) or temperature is not None else f"@{label}."
            self.inner.append(ir.Part(None, target.options))
            self.prefixes[key] = prefix, len(self.inner)
            self.todo.append((target, prefix, len(self.inner), temperature))
        prefix, _ = self.prefixes[key]
        kind = ir.Reference if target.options.skip_first else ir.Entry
        return kind(prefix + target.start, at=node.at)

    def found(self, node):
        if not isinstance(node.grammar, str):
            return node.grammar
        if node.grammar not in self.others:
            line, column = node.at or (None, None)
            hint = near(node.grammar, self.others) or (
                f"; there are {', '.join(sorted(self.others))}" if self.others else ": it is no part of a list of named grammars")
            raise GrammarError(f"there is no grammar @{node.grammar}{hint}", line=line, column=column)
        return self.others[node.grammar]
