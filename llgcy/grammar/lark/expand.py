"""Writes out templates and parametric rules: each use with other arguments, or another number, becomes a rule of its own.

Only what the other rules lead to is written out. The numbers of a parametric rule are therefore those that can really come;
n flags make up to two to the power of n rules, which meets the limit `MOST` rather than to go on for ever.
"""
from dataclasses import replace
from typing import NamedTuple

from llgcy.errors import GrammarError, LimitError
from llgcy.grammar import ir
from llgcy.grammar.lark import parameters
from llgcy.grammar.lark.parser import Bound, Call, Guarded
from llgcy.grammar.source import near

MOST = 20_000                   # rules written out
MOST_NODES = 2_000_000          # of all their expressions
LONGEST_NAME = 60               # characters of a written out rule's name


class Use(NamedTuple):
    """A template or parametric rule with what it is used with. ``arguments``: name of a parameter -> expression."""

    name: str
    arguments: dict
    number: int | None


class Expander:
    """Writes out the bodies of rules.

    Parameters
    ----------
    source : Source
    plain : set of str
        Names of rules without parameters.
    makers : dict of str to Define
        Templates and parametric rules.
    tokens : dict of str to ir.Node
        Terminals that stand for tokens; a use of one becomes its expression.

    Attributes
    ----------
    due : list of (str, Use)
        Rules that are used and not written out yet, by name.
    """

    def __init__(self, source, plain, makers, tokens):
        self.source, self.plain, self.makers, self.tokens = source, plain, makers, tokens
        self.due, self.names, self.nodes = [], {}, 0

    def written(self, body, use=None):
        """An expression of a rule, or of the use of one, in which nothing is left to write out."""
        arguments, number = (use.arguments, use.number) if use else ({}, None)

        def combine(node, below):
            self.nodes += 1
            if self.nodes > MOST_NODES:
                raise LimitError(f"templates and parametric rules write out to more than {MOST_NODES:,} expressions"
                                 + " (line {}, column {})".format(*node.at))
            match node:
                case ir.Reference(name=name):
                    return arguments.get(name) or self.tokens.get(name) or self.plain_reference(node)
                case Call():
                    return self.call(node, below)
                case Bound():
                    return self.bound(node, number)
                case Guarded():
                    return below[0] if below else ir.Alternatives((), at=node.at)
            return rebuilt(node, below)

        def there(node):
            """What is not there is not written out either: counters would never end."""
            absent = isinstance(node, Guarded) and not self.asked(node, parameters.holds, node.condition, number)
            return () if absent else node.children
        return ir.fold(body, combine, there)

    def plain_reference(self, node):
        maker = self.makers.get(node.name)
        if maker is not None:
            how = f"{node.name}{{{', '.join(maker.parameters)}}}" if maker.parameters else f"{node.name}::NUMBER"
            raise self.source.error_at(node.at, f"{node.name} is used without its parameters: write {how}")
        return node

    def call(self, node, arguments):
        maker = self.makers.get(node.name)
        if maker is None or not maker.parameters:
            if maker is None and node.name not in self.plain:
                raise self.source.error_at(node.at, f"there is no template {node.name}{near(node.name, self.makers)}")
            raise self.source.error_at(node.at, f"{node.name} is no template: it would have to be defined as {node.name}{{...}}")
        if len(arguments) != len(maker.parameters):
            raise self.source.error_at(node.at, f"the template {node.name} has {len(maker.parameters)} parameters, not {len(arguments)}")
        shown = ",".join(map(ir.show, arguments))
        return self.use(node, (node.name, shown), f"{node.name}{{{shown}}}", Use(node.name, dict(zip(maker.parameters, arguments)), None))

    def bound(self, node, own):
        maker = self.makers.get(node.name)
        if maker is None or not maker.parametric:
            if maker is None and node.name not in self.plain:
                raise self.source.error_at(node.at, f"there is no parametric rule {node.name}{near(node.name, self.makers)}")
            raise self.source.error_at(node.at, f"{node.name} has no parameter: it would have to be defined as {node.name}::_")
        number = self.asked(node, parameters.evaluate, node.value, own)
        return self.use(node, (node.name, number), f"{node.name}::{number}", Use(node.name, {}, number))

    def use(self, node, key, name, use):
        if key not in self.names:
            if len(self.names) >= MOST:
                raise LimitError(f"templates and parametric rules write out to more than {MOST:,} rules; a parameter with fewer values, "
                                 "or lists without memory, would do with fewer (line {}, column {})".format(*node.at))
            if len(name) > LONGEST_NAME:
                name = f"{name[:LONGEST_NAME]}...#{len(self.names)}"
            self.names[key] = name
            self.due.append((name, use))
        return ir.Reference(self.names[key], at=node.at)

    def asked(self, node, question, what, own):
        try:
            return question(what, own)
        except GrammarError as e:
            raise self.source.error_at(node.at, e.message) from None


def rebuilt(node, below):
    """The node with other children; itself where they are the same."""
    if all(new is old for new, old in zip(below, node.children)):
        return node
    return replace(node, arguments=tuple(below)) if isinstance(node, Call) else ir.rebuilt(node, below)
