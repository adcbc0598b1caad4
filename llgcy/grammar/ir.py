"""The one form to which every grammar language is brought: rules over expressions, before any table is made.

An expression is a tree of small immutable nodes. Rules are context-free. A terminal is one lexeme: its expression is
regular, so it refers to no rule, and only there `Both` and `Complement` may stand. Counted repetition is kept as it
is, never written out. Each node knows where it came from: ``at`` is (line, column), both from 1, or None where no text
was read.

Nodes are compared by identity, since a comparison by content would recurse through trees as deep as their author
liked; `show` gives a text that tests and messages can compare.
"""
from dataclasses import dataclass, field, replace
from typing import NamedTuple

MOST_COPIES = 1_000_000_000     # largest bound of a counted repetition that front ends let through


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """Base of all expressions."""

    at: tuple | None = field(default=None, kw_only=True)

    @property
    def children(self):
        """The expressions directly below, as a tuple."""
        return ()

    def __repr__(self):
        return f"<{show(self)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Literal(Node):
    """One text. ``fold``: whatever its case, by simple Unicode case folding."""

    text: str
    fold: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Words(Node):
    """Any one of these texts, as one lexeme."""

    texts: tuple


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Node):
    """Any run of these pieces of a text, one after the other as they stand there; also the empty text."""

    chunks: tuple


@dataclass(frozen=True, eq=False, repr=False)
class Chars(Node):
    """One character of sorted, disjoint ranges of code points (first, last), both included."""

    ranges: tuple


@dataclass(frozen=True, eq=False, repr=False)
class Pattern(Node):
    """A regex. ``tree``: what `llgcy.grammar.regex.parse` made of ``source``.

    ``alone``: it is the whole grammar, so its anchors and look-around see the edges of the text. Elsewhere they would
    have to see into other lexemes, and front ends refuse them but for anchors at the edges, which mean nothing there.
    """

    tree: object
    source: str
    alone: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Reference(Node):
    """What a rule or terminal of that name stands for."""

    name: str


@dataclass(frozen=True, eq=False, repr=False)
class Sequence(Node):
    """One part after the other; without parts the empty text."""

    parts: tuple

    @property
    def children(self):
        return self.parts


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives(Node):
    """Any one of the options; without options nothing at all."""

    options: tuple

    @property
    def children(self):
        return self.options


@dataclass(frozen=True, eq=False, repr=False)
class Repetition(Node):
    """``low`` to ``high`` copies in a row; ``high`` None: any number of them."""

    body: Node
    low: int
    high: int | None

    @property
    def children(self):
        return (self.body,)


@dataclass(frozen=True, eq=False, repr=False)
class Both(Node):
    """The texts that belong to every part (only in terminals)."""

    parts: tuple

    @property
    def children(self):
        return self.parts


@dataclass(frozen=True, eq=False, repr=False)
class Complement(Node):
    """The texts that do not belong to the body (only in terminals). ``any_bytes``: also what is no UTF-8."""

    body: Node
    any_bytes: bool = False

    @property
    def children(self):
        return (self.body,)


@dataclass(frozen=True, eq=False, repr=False)
class Shortest(Node):
    """A lexeme that ends as soon as it can: the texts of a regular body of which no beginning but the empty one is one too.

    If the body may be empty, so may this. In greedy lexing it also ends every other lexeme that is being read.
    """

    body: Node

    @property
    def children(self):
        return (self.body,)


@dataclass(frozen=True, eq=False, repr=False)
class Adjacent(Node):
    """A lexeme of a regular body before which nothing is skipped (only in rules)."""

    body: Node

    @property
    def children(self):
        return (self.body,)


@dataclass(frozen=True, eq=False, repr=False)
class Json(Node):
    """A JSON document that is valid by a schema. ``schema``: JSON text, so that its numbers stay exact."""

    schema: str
    options: tuple = ()         # (name, value) pairs of the options of Grammar.from_json_schema


@dataclass(frozen=True, eq=False, repr=False)
class Embedded(Node):
    """A text of another grammar: its `Grammar`, or the name under which it is known. `llgcy.grammar.link` resolves them."""

    grammar: object


@dataclass(frozen=True, eq=False, repr=False)
class Limited(Node):
    """A text of a body in at most so many tokens, as one lexeme.

    Parameters
    ----------
    body : Json or Embedded
    most : int
        Tokens, at least one.
    skipped : bool
        What is ignored may stand before it, as before any lexeme.
    """

    body: Node
    most: int
    skipped: bool = False

    @property
    def children(self):
        return (self.body,)


@dataclass(frozen=True, eq=False, repr=False)
class Entry(Node):
    """The start rule, of this name, of a grammar that has become a part of this one."""

    name: str


@dataclass(frozen=True, eq=False, repr=False)
class Tokens(Node):
    """One token of the tokenizer, as a unit: of certain ids, or any.

    Parameters
    ----------
    text : str
        As it was written.
    name : str, optional
        The text of the token, such as ``<|eot|>``.
    ids : tuple of (first, last), optional
        Instead of `name`.
    loose : bool
        The name is that of a special token but for its case, and for signs that are no letters, digits or underscores.
    end : bool
        Instead of a name and ids: the tokens that end a text.
    others : bool
        All tokens but these; without any: all tokens.
    optional : bool
        A special token of this name, if the tokenizer has one.
    """

    text: str
    name: str | None = None
    ids: tuple = ()
    loose: bool = False
    end: bool = False
    others: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Ending:
    """How the text of a lexeme falls into a rule's own text and what has ended it.

    Parameters
    ----------
    body, stop : Node
        The lexeme reads the one and then the other, of which the body is as long as it can be. ``stop`` None: what has ended it is a
        token behind the lexeme.
    hidden : bool
        What has ended it is no part of the text of rules around it either, as nothing that follows reads it.
    """

    body: Node
    stop: Node | None
    hidden: bool


@dataclass(frozen=True)
class Definition:
    """A named rule or terminal.

    Parameters
    ----------
    at : (line, column), optional
        Where its name stands.
    priority : int
        Of a terminal: of several that end at the same place greedy lexing reads those of the highest priority.
    scope : int
        Of a rule: 0, or 1 + the index into `Grammar.inner` of what is skipped between its lexemes.
    capture, stop_capture : str, optional
        Of a rule: names under which its text and the text that ended it are recorded.
    temperature : float, optional
        Of a rule: what the sampler is asked for while its lexemes are read.
    ending : Ending, optional
        Of a rule that is one lexeme ended by something.
    """

    name: str
    body: Node
    at: tuple | None = None
    priority: int = 0
    scope: int = 0
    capture: str | None = None
    stop_capture: str | None = None
    temperature: float | None = None
    ending: Ending | None = None

    @property
    def captures(self):
        """Is anything recorded of it? What is hidden is hidden from what rules around it record."""
        return bool(self.capture or self.stop_capture or self.ending and self.ending.hidden)

    @property
    def plain(self):
        """It is nothing but its body, which may stand in its place."""
        return not self.captures and self.temperature is None


@dataclass(frozen=True)
class Options:
    """What a grammar says of itself as a whole.

    Parameters
    ----------
    lexing : "greedy" or "exact"
        Greedy: a lexeme ends where no lexeme that is allowed there goes on. Exact: it may end wherever the grammar
        can go on, so the lexemes do not matter for what the grammar means.
    skip_first : bool
        The ignored text may also stand before the first lexeme.
    skip_once : bool
        It may stand only once in one place.
    skip_outside : bool
        The ignored text may also stand before texts of other grammars inside of this one.
    """

    lexing: str = "greedy"
    skip_first: bool = False
    skip_once: bool = False
    skip_outside: bool = False


class Part(NamedTuple):
    """Of a grammar that has become a part of another one: what may stand between two lexemes of its rules, or None, and its options."""

    ignore: Node | None
    options: Options


@dataclass(frozen=True)
class Grammar:
    """Rules and terminals by name, in the order of the text; names of the two kinds differ.

    ``ignore``: regular expression of what may stand between two lexemes, or None. ``inner``: the `Part` of each grammar that has
    become a part of this one.
    """

    rules: dict
    terminals: dict
    start: str
    ignore: Node | None = None
    options: Options = Options()
    inner: tuple = ()

    @property
    def parts(self):
        """The `Part` of each scope (see `Definition`)."""
        return (Part(self.ignore, self.options), *self.inner)

    def sources(self, kind):
        """The nodes of a kind, such as `Json`, that its rules and those of grammars inside of it hold."""
        out, todo = [], [self]
        for grammar in todo:                                # grows while it runs
            for rule in grammar.rules.values():
                for node in walk(rule.body):
                    if isinstance(node, kind):
                        out.append(node)
                    if isinstance(node, Embedded):
                        todo.append(node.grammar)
        return out

    @property
    def captures(self):
        """Does any rule, or one of a grammar inside of it, record its text?"""
        return any(rule.capture or rule.stop_capture for rule in self.rules.values()) or any(
            node.grammar.captures for node in self.sources(Embedded))

    @property
    def document(self):
        """The `Json` that is all of this grammar, or None. What is ignored makes no difference then."""
        name, seen = self.start, set()
        while name in self.rules and name not in seen and self.rules[name].plain:
            seen.add(name)
            body = self.rules[name].body
            if isinstance(body, Json):
                return body
            name = body.name if isinstance(body, Reference) else None
        return None


def limited(name, body, terminals, most, at=None):
    """A regular expression in at most so many tokens. ``terminals``: of the grammar in which it stands."""
    inner = Grammar({name: Definition(name, body, at)}, terminals, name, None, Options(lexing="exact"))
    return Limited(Embedded(inner, at=at), most, True, at=at)


def fold(node, combine, below=lambda node: node.children):
    """The value of an expression, bottom-up: ``combine(node, values of its children)``, without recursion.

    A node that stands in several places is asked for once. ``below``: the nodes whose values `combine` needs.
    """
    values, todo = {}, [node]
    while todo:
        top = todo[-1]
        missing = [child for child in below(top) if id(child) not in values]
        if missing:
            todo.extend(reversed(missing))
            continue
        todo.pop()
        if id(top) not in values:
            values[id(top)] = combine(top, [values[id(child)] for child in below(top)])
    return values[id(node)]


def rebuilt(node, below):
    """The node with other children."""
    match node:
        case Sequence():
            return replace(node, parts=tuple(below))
        case Alternatives():
            return replace(node, options=tuple(below))
        case Both():
            return replace(node, parts=tuple(below))
        case Repetition() | Complement() | Shortest() | Adjacent() | Limited():
            return replace(node, body=below[0])
    return node


def walk(node):
    """Every node of an expression once, parents before children, left to right."""
    seen, todo = set(), [node]
    while todo:
        top = todo.pop()
        if id(top) not in seen:
            seen.add(id(top))
            yield top
            todo.extend(reversed(top.children))


def show(node):
    """An expression as one line of text, for tests and messages: ``("a" | INT{2,3} | /[x]/)``."""
    def combine(node, below):
        match node:
            case Literal():
                return quote(node.text) + "i" * node.fold
            case Words():
                return "(" + " | ".join(map(quote, node.texts)) + ")"
            case Runs():
                return "run(" + " ".join(map(quote, node.chunks)) + ")"
            case Chars():
                return "[" + "".join(_range(*pair) for pair in node.ranges) + "]"
            case Pattern():
                return f"/{node.source}/"
            case Reference():
                return node.name
            case Sequence():
                return '""' if not below else "(" + " ".join(below) + ")"
            case Alternatives():
                return "(" + " | ".join(below) + ")"
            case Repetition():
                low, high = node.low, node.high
                mark = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((low, high))
                return below[0] + (mark or "{%s}" % (low if low == high else f"{low},{'' if high is None else high}"))
            case Both():
                return "(" + " & ".join(below) + ")"
            case Complement():
                return "~" + below[0]
            case Shortest():
                return f"lazy({below[0]})"
            case Adjacent():
                return below[0]
            case Json():
                return f"%json {node.schema}"
            case Embedded():
                return f"@{node.grammar}" if isinstance(node.grammar, str) else "%lark {...}"
            case Limited():
                return f"{below[0]}[max_tokens={node.most}]"
            case Entry():
                return f"@{node.name}"
            case Tokens():
                return node.text
        raise TypeError(f"not an expression: {type(node).__name__}")
    return fold(node, combine)


def quote(text):
    """A text in double quotes, with what cannot be seen written as escapes."""
    out = []
    for char in text:
        if char in '"\\':
            out.append("\\" + char)
        elif char.isprintable():
            out.append(char)
        else:
            escape = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
            out.append(escape or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
                                  if ord(char) < 65536 else f"\\U{ord(char):08x}"))
    return '"' + "".join(out) + '"'


def _range(first, last):
    low, high = (quote(chr(point))[1:-1] for point in (first, last))
    return low if first == last else f"{low}-{high}"
