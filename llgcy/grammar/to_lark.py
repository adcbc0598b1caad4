"""From the IR to a readable grammar of the Lark dialect that means the same.

Names that the dialect does not have are changed: GBNF's may begin with digits and mix upper and lower case. What the dialect cannot say is
refused: regexes that look around, and tokens excluded by their text.
"""
import re

from llgcy.errors import UnsupportedKeywordError
from llgcy.grammar import ir
from llgcy.grammar.regex import charset, tree

WIDE = 100                      # characters of a rule from which its alternatives stand on lines of their own
NOTHING = "NOTHING"             # name of the terminal that matches nothing
LAST, SURROGATES = 0x10FFFF, ((0xD800, 0xDFFF),)

# How tightly a text binds: alternatives, sequence, one repetition, an atom.
LOOSE, ROW, REPEATED, ATOM = range(4)


def to_lark(grammar):
    """The text of a grammar in the Lark dialect.

    Parameters
    ----------
    grammar : ir.Grammar
        Without grammars inside it, attributes and parts of other grammars: what GBNF, regexes and lists of choices become.

    Raises
    ------
    UnsupportedKeywordError
        The dialect cannot say it.

    Examples
    --------
    >>> from llgcy.grammar import gbnf
    >>> print(to_lark(gbnf.read('root ::= [0-9]+ ("," root)?')), end="")
    %llguidance {"lexing": "exact"}
    start: /[0-9]/+ ("," start)?
    """
    return _Writer(grammar).text()


class _Writer:
    def __init__(self, grammar):
        self.grammar, self.names, self.nothing = grammar, {}, False
        taken = set()
        for name in (grammar.start, *(name for name in grammar.rules if name != grammar.start)):
            base = "start" if name == grammar.start else _rule_name(name)
            new, number = base, 2
            while new in taken:
                new, number = f"{base}_{number}", number + 1
            taken.add(new)
            self.names[name] = new

    def text(self):
        lines = [f'%llguidance {{"lexing": "{self.grammar.options.lexing}"}}']
        for name, rule in self.grammar.rules.items():
            options = rule.body.options if isinstance(rule.body, ir.Alternatives) else (rule.body,)
            texts = [self.written(option, ROW) for option in options] or [self.none()]
            line = f"{self.names[name]}: " + " | ".join(texts)
            lines.append(line if len(line) <= WIDE or len(texts) == 1 else f"{self.names[name]}: " + "\n    | ".join(texts))
        if self.nothing:
            lines.append(f'{NOTHING}: "a" & "b"')
        return "\n".join(lines) + "\n"

    def none(self):
        self.nothing = True
        return NOTHING

    def written(self, node, least):
        """An expression, in parentheses where it binds less tightly than what it stands in."""
        text, binds = ir.fold(node, self.combine)
        return text if binds >= least else f"({text})"

    def combine(self, node, below):
        match node:
            case ir.Literal(text=text, fold=fold):
                return _string(text) + "i" * fold, ATOM
            case ir.Words(texts=texts):
                return " | ".join(map(_string, texts)), LOOSE if len(texts) > 1 else ATOM
            case ir.Chars(ranges=ranges):
                return (f"/{_class(ranges)}/" if charset.difference(ranges, SURROGATES) else self.none()), ATOM
            case ir.Pattern(tree=root):
                return f"/{_regex(root, node.at)}/", ATOM
            case ir.Reference(name=name):
                return (self.names[name], ATOM) if name in self.names else ir.fold(self.grammar.terminals[name].body, self.combine)
            case ir.Tokens():
                return _tokens(node), ATOM
            case ir.Sequence():
                if len(below) < 2:
                    return below[0] if below else ('""', ATOM)
                return " ".join(text if binds >= ROW else f"({text})" for text, binds in below), ROW
            case ir.Alternatives():
                if len(below) < 2:
                    return below[0] if below else (self.none(), ATOM)
                return " | ".join(text for text, _ in below), LOOSE
            case ir.Repetition(low=low, high=high):
                if high == 0:
                    return '""', ATOM
                text, binds = below[0]
                return (text if binds == ATOM else f"({text})") + _mark(low, high), REPEATED
        raise UnsupportedKeywordError(f"{ir.show(node)} is nothing that is converted", **_place(node.at))


def _place(at):
    return {} if at is None else {"line": at[0], "column": at[1]}


def _rule_name(name):
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    name = re.sub(r"[^a-z0-9_]", "_", name.lower()).lstrip("_") or "rule"
    return name if name[0].isalpha() else "rule_" + name


def _mark(low, high):
    known = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((low, high))
    return known or "{%s}" % (low if low == high else f"{low},{'' if high is None else high}")


def _string(text):
    """A string with the escapes that the dialect has: those of JSON, and \\xHH."""
    out = []
    for char in text:
        simple = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
        out.append(simple or (char if char.isprintable() or ord(char) > 0xFFFF else f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"))
    return '"' + "".join(out) + '"'


def _tokens(node):
    if node.name is not None and node.others:
        raise UnsupportedKeywordError(f"{node.text}: the Lark dialect excludes tokens by their ids alone, <[^...]>", **_place(node.at))
    return node.text if not node.text.startswith("!") else f"<[^{node.text[3:-2]}]>"


# -- regexes, in Rust's syntax ----------------------------------------------------------------------------------------
def _class(ranges):
    """One character of a set, as a class."""
    ranges = charset.difference(ranges, SURROGATES)
    others = charset.difference(charset.complement(ranges), SURROGATES)
    if not others:
        return "(?s:.)"
    negated = len(others) < len(ranges)
    return "[" + "^" * negated + "".join(_point(a) + (f"-{_point(b)}" if b > a + 1 else _point(b) if b > a else "")
                                         for a, b in (others if negated else ranges)) + "]"


def _point(point):
    char = chr(point)
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    if char in "\\[]^-&~/#.+*?(){}|$ ":
        return char if char == " " else "\\" + char
    return char if char.isprintable() else f"\\x{{{point:x}}}"


def _regex(root, at):
    """A tree of a regex that looks nowhere."""
    out, todo = {}, [root]
    while todo:
        node = todo[-1]
        below = node.parts if hasattr(node, "parts") else (node.part,) if hasattr(node, "part") else ()
        missing = [part for part in below if id(part) not in out]
        if missing:
            todo += missing
            continue
        todo.pop()
        out[id(node)] = _piece(node, [out[id(part)] for part in below], at)
    return out[id(root)][0] or "(?:)"


def _piece(node, below, at):
    """(text, how tightly it binds) of one node of a regex."""
    match node:
        case tree.Literal(text=text):
            return "".join(map(_point, map(ord, text))), ATOM if len(text) == 1 else ROW
        case tree.Chars(ranges=ranges):
            if not charset.difference(ranges, SURROGATES):
                return "[^\\x{0}-\\x{10ffff}]", ATOM
            return _class(ranges), ATOM
        case tree.Concat():
            return "".join(text if binds >= ROW else f"(?:{text})" for text, binds in below), ROW
        case tree.Alternate():
            return ("|".join(text for text, _ in below), LOOSE) if below else ("[^\\x{0}-\\x{10ffff}]", ATOM)
        case tree.Repeat(low=low, high=high):
            text, binds = below[0]
            return (text if binds == ATOM else f"(?:{text})") + _mark(low, high), REPEATED
    raise UnsupportedKeywordError("a regex that looks around, or is an intersection or complement, is not converted to Lark", **_place(at))
