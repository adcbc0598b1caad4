"""Terms of the regular expressions of a grammar: terminals, and the parts of rules that become lexemes."""
from llgcy.errors import LimitError
from llgcy.grammar import ir, regex

LONGEST = 1_000_000             # pieces of one concatenation, references written out


class Terms:
    """Makes terms in `regexes`, a store over bytes, for the terminals of an `ir.Grammar`; each terminal once.

    `length`: term id -> pieces of its concatenation, at least as many as there are. A concatenation is flat, so a chain
    of terminals that each refer twice to the next would grow as the powers of two; it meets the limit `LONGEST`.
    """

    def __init__(self, grammar, regexes):
        self.grammar, self.regexes = grammar, regexes
        self.length = {}
        self._of_terminal, self._text = {}, None

    def terminal(self, name):
        """Term id of a terminal."""
        todo = [name]
        while todo:
            name = todo[-1]
            if name not in self._of_terminal:
                body = self.grammar.terminals[name].body
                missing = [node.name for node in ir.walk(body)
                           if isinstance(node, ir.Reference) and node.name not in self._of_terminal]
                if missing:
                    todo += missing
                    continue
                self._of_terminal[name] = self.regular(body)
            todo.pop()
        return self._of_terminal[name]

    def regular(self, body):
        """Term id of an expression whose references are to terminals."""
        return ir.fold(body, self.combine)

    def combine(self, node, below):
        """Term id of a node, from those of its children.

        Raises
        ------
        LimitError
            A concatenation has more than `LONGEST` pieces.
        """
        match node:
            case ir.Literal(text=text):
                length = len(text)
            case ir.Pattern(source=source):
                length = len(source)
            case ir.Sequence():
                length = sum(self.length[term] for term in below)
            case _:
                length = self.length[below[0]] if len(below) == 1 else 1
        if length > LONGEST:
            place = " (line {}, column {})".format(*node.at) if node.at else ""
            raise LimitError(f"a lexeme is a concatenation of more than {LONGEST:,} pieces{place}")
        term = self._term(node, below)
        self.length[term] = max(self.length.get(term, 1), length)
        return term

    def _term(self, node, below):
        regexes = self.regexes
        match node:
            case ir.Literal(text=text, fold=fold):
                return regex.to_bytes(regex.literal(text, fold), regexes)
            case ir.Words(texts=texts):
                return regexes.words([text.encode() for text in texts])
            case ir.Chars(ranges=ranges):
                return regex.to_bytes(regex.chars(ranges), regexes)
            case ir.Pattern(tree=tree, alone=alone):
                return regex.to_bytes(tree, regexes, look_around=alone)
            case ir.Reference(name=name):
                return self.terminal(name)
            case ir.Sequence():
                return regexes.cat(below)
            case ir.Alternatives():
                return regexes.either(below)
            case ir.Repetition(low=low, high=high):
                return regexes.repeat(below[0], low, high)
            case ir.Both():
                return regexes.both(below)
            case ir.Complement():
                other = regexes.complement(below[0])
                return other if self.grammar.options.any_bytes else regexes.both([self.text(), other])
        raise TypeError(f"not regular: {type(node).__name__}")

    def text(self):
        """Term id of all texts in UTF-8."""
        if self._text is None:
            self._text = regex.to_bytes(regex.TEXT, self.regexes)
        return self._text
