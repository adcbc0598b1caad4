"""Reads sequences of tokens and bytes once more, and records what rules have read."""
from llgcy.core.regex import Regexes
from llgcy.grammar import ir
from llgcy.grammar.lower import lower
from llgcy.grammar.reading.chart import Chart, Rules
from llgcy.grammar.reading.choice import Choice
from llgcy.grammar.reading.lexing import Lexing
from llgcy.grammar.terms import Terms


class Reader:
    """Finds the texts that the rules of a grammar record, by the reading that `choice` describes.

    Parameters
    ----------
    grammar : ir.Grammar
        Linked.
    budget : Budget
        Of what is made meanwhile.
    make : callable
        Of the source of a lexeme: its `Machine`, or the ranges of its token ids.
    inner : callable
        Of an `ir.Grammar` that is a lexeme: its `Reader`.
    """

    def __init__(self, grammar, budget, make, inner):
        regexes = Regexes("bytes", budget)
        self.make_inner, self.readers, self.regexes = inner, {}, regexes
        self.lowered = lower(grammar, regexes, merge=False)
        lexemes = self.lowered.lexemes
        sources = [None if lexeme.source is None else make(lexeme.source) for lexeme in lexemes]
        self.lexing = Lexing(self.lowered, regexes, sources)
        solid = regexes.cat([regexes.any, regexes.all])
        alive = {i for i, lexeme in enumerate(lexemes)
                 if lexeme.language is None or not regexes.is_empty(regexes.both([lexeme.language, solid]))}
        self.rules = Rules(self.lowered, alive, {i for i, lexeme in enumerate(lexemes) if self._may_be_empty(lexeme, sources[i])})
        terms = Terms(grammar, regexes)
        self.endings = {}                                   # id of a rule's `ir.Ending` -> (term of its body, term of its stop)
        for rule in grammar.rules.values():
            if rule.ending and rule.ending.stop is not None:
                self.endings[id(rule.ending)] = terms.regular(rule.ending.body), terms.regular(rule.ending.stop)

    def _may_be_empty(self, lexeme, source):
        if lexeme.language is not None:
            return self.regexes.accepts(lexeme.language)
        return not isinstance(source, tuple) and source.may_end(source.begin())

    def captures(self, steps, end=None):
        """What is recorded of a text; of one that may not end where it does, only what rules have read that have ended.

        Parameters
        ----------
        steps : list of (int, bytes)
            Id and text of each token; -1: text alone, which counts as a token; an id without text: a token that is only read as the unit that it is.
        end : int, optional
            The token that has ended the text; the grammar may name it, too.

        Returns
        -------
        list of (str, bytes)
            By the ends of the rules, inner ones first.
        """
        atoms, units = [], []
        chart, threads = Chart(self.rules), self.lexing.start()
        for id, text in steps:
            threads = self._step(chart, threads, atoms, units, id, text)
        recorder = _Recorder(self, chart, atoms, units)
        choice, bases, ends = Choice(chart, recorder), self._bases(chart, threads, atoms), []
        if end is not None:
            ends = [node for node in self._bases(chart, self._step(chart, threads, atoms, units, end, b""), atoms) if chart.accepts(node)]
        ends = ends or [node for node in bases if chart.accepts(node)]
        if ends:
            choice.read(self.rules.start, 0, ends[0])
        else:
            choice.read_open(bases, {(lexeme, node): None for thread in threads for (lexeme, state), begins in thread.reading.items()
                                     if lexeme not in self.lexing.skips and self.lexing.goes_on(lexeme, state) for node, _ in begins})
        return recorder.out

    def inner(self, grammar):
        """The reader of a grammar that is a lexeme."""
        if id(grammar) not in self.readers:
            self.readers[id(grammar)] = self.make_inner(grammar)
        return self.readers[id(grammar)]

    def split(self, ending, text):
        """How many bytes of a lexeme are the rule's own: as many as can be."""
        body, stop = self.endings[id(ending)]
        step, accepts, alive = self.regexes.step, self.regexes.accepts, self.regexes.alive
        stops = {}                                          # what is left of the stop -> where the latest one began that has come there
        for at in range(len(text) + 1):
            if accepts(body):
                stops[stop] = at
            if at < len(text):
                body = step(body, text[at])
                after = {}
                for left, begun in stops.items():
                    left = step(left, text[at])
                    if alive(left):
                        after[left] = max(begun, after.get(left, 0))
                stops = after
        return max(begun for left, begun in stops.items() if accepts(left))

    def _bases(self, chart, threads, atoms):
        return sorted({node for thread in threads for node, _ in self.lexing.all_bases(chart, thread, len(atoms))})

    def _step(self, chart, threads, atoms, units, id, text):
        lexing, at = self.lexing, len(atoms)
        if not text and id < 0:
            return threads
        atoms += [bytes((byte,)) for byte in text] or [b""]
        units += [(id, at, len(atoms))] * (len(atoms) - at)
        whole = [lexing.unit(chart, thread, id, at, len(atoms)) for thread in threads] if id >= 0 and lexing.names_tokens else []
        for i, byte in enumerate(text):
            threads = [new for thread in threads if (new := lexing.byte(chart, thread, byte, at + i + 1))]
            threads = lexing.joined(chart, threads, at + i + 1)
        threads = (threads if text else []) + [thread for thread in whole if thread]
        if lexing.counts_tokens:
            threads = [new for thread in threads if (new := lexing.token_ended(chart, thread, len(atoms)))]
        return lexing.joined(chart, threads, len(atoms))


class _Recorder:
    """Visits a reading, and records texts. ``atoms``: the text as bytes, and tokens without text; ``units``: for each of them the token
    (its id, where it begins, place behind it)."""

    def __init__(self, reader, chart, atoms, units):
        self.reader, self.chart, self.atoms, self.units = reader, chart, atoms, units
        self.out, self.leaves, self.hidden, self.open = [], [], [], []

    def enter(self, symbol):
        self.open.append((len(self.leaves), len(self.hidden)))

    def leave(self, symbol):
        leaf, hidden = self.open.pop()
        rule = self.reader.lowered.rule_of.get(symbol)
        if rule is None or not rule.captures:
            return
        leaves = self.leaves[leaf:]
        first, last = (leaves[0][0], leaves[-1][1]) if leaves else (0, 0)
        stop = None
        if rule.ending and leaves:
            if rule.ending.stop is not None:
                stop = first + self.reader.split(rule.ending, b"".join(self.atoms[first:last])), last
            elif isinstance(self.reader.lowered.lexemes[leaves[-1][2]].source, ir.Tokens):
                stop = leaves[-1][:2]
        if rule.capture:
            self.out.append((rule.capture, self.text(first, stop[0] if stop else last, hidden)))
        if stop:
            if rule.stop_capture:
                self.out.append((rule.stop_capture, self.text(*stop, len(self.hidden))))
            if rule.ending.hidden:
                self.hidden.append(stop)

    def lexeme(self, symbol, first, node):
        last = self.chart.nodes[node].at
        self.leaves.append((first, last, symbol))
        source = self.reader.lowered.lexemes[symbol].source
        if isinstance(source, ir.Limited):
            source = source.body
        if isinstance(source, ir.Embedded) and source.grammar.captures:
            self.out += self.reader.inner(source.grammar).captures(self.steps(first, last))

    def text(self, first, last, hidden):
        """The text between two places, without what is hidden there."""
        out = []
        for begin, end in self.hidden[hidden:]:
            out += self.atoms[first:begin]
            first = end
        return b"".join(out + self.atoms[first:last])

    def steps(self, first, last):
        """The tokens between two places; of those that are there in part the bytes."""
        out = []
        while first < last:
            id, begin, end = self.units[first]
            whole = begin == first and end <= last
            end = min(end, last)
            out.append((id if whole else -1, b"".join(self.atoms[first:end])))
            first = end
        return out
