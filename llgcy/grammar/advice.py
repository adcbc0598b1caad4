"""What deserves a look in a grammar of rules, although it has a meaning."""
from llgcy.grammar import ir
from llgcy.grammar.regex import tree


def advice(grammar):
    """Warnings about a grammar, as a tuple of str.

    Parameters
    ----------
    grammar : ir.Grammar

    Notes
    -----
    A repetition of lexemes of one character each: where lexemes count, each character is parsed on its own, and what is ignored may stand
    between two of them. Nearly always a repetition inside of a terminal was meant.
    """
    if grammar.options.lexing == "exact" and grammar.ignore is None:
        return ()
    out = {}
    for rule in grammar.rules.values():
        for node in ir.walk(rule.body):
            if isinstance(node, ir.Repetition) and node.high is None and _is_a_character(node.body, grammar.terminals):
                where = " (line {}, column {})".format(*node.at) if node.at else ""
                between = ", and what is ignored may stand between two of them" if grammar.ignore is not None else ""
                out[f"each character of {ir.show(node)} is a lexeme of its own{between}; put the repetition into a terminal or a regex{where}"] = None
    return tuple(out)


def _is_a_character(node, terminals):
    """Is every text of a lexeme, and of no rule, one character?"""
    todo, seen = [node], set()
    while todo:
        top = todo.pop()
        match top:
            case ir.Reference(name=name) if name in terminals:
                if name not in seen:
                    seen.add(name)
                    todo.append(terminals[name].body)
            case ir.Alternatives(options=options) if options:
                todo += options
            case ir.Chars():
                pass
            case ir.Pattern(tree=tree.Chars()):
                pass
            case _:
                return False
    return True
