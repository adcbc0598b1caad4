"""Cuts a text into lexemes as the engine does, and puts what it finds on a chart.

Where a token is read as a unit and by its bytes, the text goes on in several *threads*. A thread has bases, which are nodes where a
lexeme may begin now, and what is being read: (lexeme, what is left of it) -> where it began. In greedy lexing what is being read goes
on as long as any of it can; only then those lexemes that may end there have ended. In exact lexing they may also have ended before.
"""
from typing import NamedTuple

from llgcy.core.tables import CUTTING

ANY_GAP = 0             # no text was skipped last, or any lexeme may follow
NO_SKIP_YET = -1        # before the first lexeme, where nothing is skipped
MOST_REMEMBERED = 10_000        # states of which is known whether they go on


class Thread(NamedTuple):
    """``bases``: (node, gap) pairs; a gap is 1 + the lexeme that was skipped last, or one of the above. ``reading``: (lexeme, state)
    -> list of (node, first)."""

    bases: tuple
    reading: dict


class Lexing:
    """What a `Lowered` grammar has for lexemes.

    Parameters
    ----------
    lowered : Lowered
    regexes : Regexes
        Its store.
    sources : list
        Per lexeme: None for a regex, a `Machine`, or ranges of token ids.
    """

    def __init__(self, lowered, regexes, sources):
        self.lowered, self.regexes, self.sources = lowered, regexes, sources
        options = lowered.grammar.options
        self.exact = options.lexing == "exact"
        self.first_gap = ANY_GAP if options.skip_first else NO_SKIP_YET
        self.before = [lowered.skips.get(lexeme.scope) for lexeme in lowered.lexemes]
        self.skips, behind = set(lowered.skips.values()), lowered.behind()
        solid = [i for i in range(len(sources)) if i not in self.skips]
        self.behind = behind if any(i not in behind[skip] for skip in self.skips for i in solid) else None
        self.once = lowered.once()
        self.ranks = [lexeme.rank for lexeme in lowered.lexemes]
        self.names_tokens = any(isinstance(source, tuple) or source is not None and source.names_tokens for source in sources)
        self.counts_tokens = any(getattr(source, "counts_tokens", False) for source in sources)
        self.steps, self.opens = {}, {}

    # -- lexemes --------------------------------------------------------------------------------------------------------
    def begin(self, lexeme):
        """The state before the first byte; None: it is read otherwise."""
        source = self.sources[lexeme]
        return self.lowered.lexemes[lexeme].language if source is None else None if isinstance(source, tuple) else source.begin()

    def step(self, lexeme, state, byte):
        """The state after a byte, None where there is none."""
        source = self.sources[lexeme]
        if source is not None:
            return source.after(state, bytes((byte,)))
        key = state, byte
        if key not in self.steps:
            to = self.regexes.step(state, byte)
            self.steps[key] = to if self.regexes.alive(to) else None
        return self.steps[key]

    def ended(self, lexeme, state):
        source = self.sources[lexeme]
        return self.regexes.accepts(state) if source is None else source.may_end(state)

    def goes_on(self, lexeme, state):
        """Does any byte or token go on in it?"""
        if (lexeme, state) not in self.opens:
            if len(self.opens) > MOST_REMEMBERED:
                self.opens.clear()
            source = self.sources[lexeme]
            self.opens[lexeme, state] = any(self.step(lexeme, state, byte) is not None for byte in range(256)) or bool(
                source is not None and source.names_tokens and source.tokens(state))
        return self.opens[lexeme, state]

    # -- threads --------------------------------------------------------------------------------------------------------
    def start(self):
        return [Thread(((0, self.first_gap),), {})]

    def byte(self, chart, thread, byte, at):
        """The thread after a byte, which ends at ``at``; None where there is none."""
        if self.exact:
            reading = self._read(self._with(thread.reading, self._starting(chart, thread.bases, at - 1)), byte)
            bases = self.over(chart, reading, at)
            return Thread(bases, reading) if bases or reading else None
        reading = self._cut(self._read(thread.reading, byte))
        if not reading:
            bases = self.all_bases(chart, thread, at - 1)
            reading = self._cut(self._read(self._starting(chart, bases, at - 1), byte))
        return Thread((), reading) if reading else None

    def unit(self, chart, thread, id, at, after):
        """The thread after a token that is read as a unit from one place to another; None where there is none."""
        edges, reading = [], {}
        for (lexeme, state), begins in thread.reading.items():
            if self.sources[lexeme] is not None and self.sources[lexeme].names_tokens:
                self._into(reading, lexeme, self.sources[lexeme].after_token(state, id), begins)
        for node, gap in self.all_bases(chart, thread, at):
            for lexeme in self._allowed(chart, node, gap):
                source = self.sources[lexeme]
                if isinstance(source, tuple):
                    if any(first <= id <= last for first, last in source):
                        edges.append((lexeme, node, at))
                elif source is not None and source.names_tokens:
                    self._into(reading, lexeme, source.after_token(source.begin(), id), [(node, at)])
        for (lexeme, state), begins in reading.items():
            if self.ended(lexeme, state) and (self.exact or not self.goes_on(lexeme, state)):
                edges += [(lexeme, *begin) for begin in begins]
        bases = ((chart.add(after, edges), ANY_GAP),) if edges else ()
        return Thread(bases, reading) if bases or reading else None

    def token_ended(self, chart, thread, at):
        """The thread at the end of a token; None where a limit leaves too few. What has spent its tokens is over."""
        reading, over = {}, {}
        for (lexeme, state), begins in thread.reading.items():
            if getattr(self.sources[lexeme], "counts_tokens", False):
                state = self.sources[lexeme].token_ended(state)
                if state is not None and self.ended(lexeme, state) and not self.goes_on(lexeme, state):
                    self._into(over, lexeme, state, begins)
                    continue
            self._into(reading, lexeme, state, begins)
        bases = thread.bases if self.exact else tuple(dict.fromkeys((*thread.bases, *self.over(chart, over, at))))
        return Thread(bases, reading) if bases or reading else None

    def joined(self, chart, threads, at):
        """The same threads, those where nothing goes on as one."""
        if len(threads) < 2:
            return threads
        bases, out = {}, []
        for thread in threads:
            if not any(self.goes_on(lexeme, state) for lexeme, state in thread.reading):
                thread = Thread(self.all_bases(chart, thread, at), {})
            if thread.reading or any(gap != ANY_GAP for _, gap in thread.bases):
                out.append(thread)
            else:
                bases.update(dict.fromkeys(thread.bases))
        return out + [Thread(tuple(bases), {})] if bases else out

    def all_bases(self, chart, thread, at):
        """The bases of a thread where nothing goes on."""
        if self.exact or not thread.reading:
            return thread.bases
        return tuple(dict.fromkeys((*thread.bases, *self.over(chart, thread.reading, at))))

    def over(self, chart, reading, at):
        """Bases behind the lexemes that have ended."""
        ended = [key for key in reading if self.ended(*key)]
        regular = [self.ranks[lexeme] for lexeme, _ in ended if self.sources[lexeme] is None]
        if regular and not self.exact:
            ended = [key for key in ended if self.sources[key[0]] is not None or self.ranks[key[0]] == max(regular)]
        bases, edges = {}, []
        for key in ended:
            for node, first in reading[key]:
                if key[0] in self.skips:
                    bases[node, key[0] + 1 if self.behind or self.once else ANY_GAP] = None
                else:
                    edges.append((key[0], node, first))
        if edges:
            bases[chart.add(at, edges), ANY_GAP] = None
        return tuple(bases)

    def _read(self, reading, byte):
        out = {}
        for (lexeme, state), begins in reading.items():
            self._into(out, lexeme, self.step(lexeme, state, byte), begins)
        return out

    def _into(self, reading, lexeme, state, begins):
        if state is not None:
            known = reading.get((lexeme, state))
            reading[lexeme, state] = begins if known is None else known + begins

    def _with(self, a, b):
        out = dict(a)
        for (lexeme, state), begins in b.items():
            self._into(out, lexeme, state, begins)
        return out

    def _cut(self, reading):
        """What is left where a lexeme that ends all others has ended."""
        cutting = {key for key in reading if self.ranks[key[0]] == CUTTING and self.ended(*key)}
        return {key: begins for key, begins in reading.items() if key in cutting or self.sources[key[0]] is not None} if cutting else reading

    def _starting(self, chart, bases, at):
        out = {}
        for node, gap in bases:
            for lexeme in self._allowed(chart, node, gap):
                self._into(out, lexeme, self.begin(lexeme), [(node, at)])
        return out

    def _allowed(self, chart, node, gap):
        """The lexemes that may begin at a base, among them what is skipped."""
        out = chart.lexemes(node)
        if gap > 0 and self.behind is not None:
            out = [lexeme for lexeme in out if lexeme in self.behind[gap - 1]]
        if gap != NO_SKIP_YET:
            out += sorted({self.before[lexeme] for lexeme in out} - {None} - ({gap - 1} & self.once))
        return out
