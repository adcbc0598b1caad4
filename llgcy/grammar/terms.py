"""Terms of the regular expressions of a grammar: terminals, and the parts of rules that become lexemes."""
from llgcy.errors import LimitError
from llgcy.grammar import ir, regex

LONGEST = 1_000_000             # pieces of one concatenation, references written out
EMPTY = 1                       # term of the empty text in every store of regexes


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
            case ir.Runs(chunks=chunks):
                length = sum(map(len, chunks))
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
            case ir.Runs(chunks=chunks):
                return self.runs(chunks)
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
                return other if node.any_bytes else regexes.both([self.text(), other])
            case ir.Shortest():
                return self.shortest(below[0])
            case ir.Adjacent():
                return below[0]
        raise TypeError(f"not regular: {type(node).__name__}")

    def runs(self, chunks):
        """Term id of all runs of consecutive chunks: the states of a suffix automaton over chunks, each of them accepting.

        Source: A. Blumer et al., The smallest automaton recognizing the subwords of a text, Theoretical Computer Science 40, 1985.
        """
        links, lengths, edges, last = [-1], [0], [{}], 0
        for chunk in chunks:
            new, at = len(links), last
            links.append(0)
            lengths.append(lengths[last] + 1)
            edges.append({})
            while at >= 0 and chunk not in edges[at]:
                edges[at][chunk] = new
                at = links[at]
            if at >= 0:
                to = edges[at][chunk]
                if lengths[to] > lengths[at] + 1:           # the texts of `to` are of two lengths: part them
                    links.append(links[to])
                    lengths.append(lengths[at] + 1)
                    edges.append(dict(edges[to]))
                    old, to = to, len(links) - 1
                    links[old] = to
                    while at >= 0 and edges[at].get(chunk) == old:
                        edges[at][chunk] = to
                        at = links[at]
                links[new] = to
            last = new
        terms = {}
        for state in sorted(range(len(links)), key=lambda state: -lengths[state]):     # edges lead to longer ones
            terms[state] = self.regexes.either([EMPTY, *(self.regexes.cat([self.regexes.words([chunk.encode()]), terms[to]])
                                                         for chunk, to in edges[state].items())])
        return terms[0]

    def shortest(self, term):
        """Term id of those texts of a term of which no beginning but the empty one is one too."""
        regexes = self.regexes
        some = regexes.cat([regexes.any, regexes.all])
        solid = regexes.both([term, some]) if regexes.accepts(term) else term
        out = regexes.both([solid, regexes.complement(regexes.cat([solid, some]))])
        return regexes.either([EMPTY, out]) if regexes.accepts(term) else out

    def text(self):
        """Term id of all texts in UTF-8."""
        if self._text is None:
            self._text = regex.to_bytes(regex.TEXT, self.regexes)
        return self._text
