"""Freezes a grammar: removes what can never matter, finds shortest texts, numbers the places; see tables.pxd."""
import heapq
from collections import defaultdict

cimport cython
from libc.stdlib cimport calloc, free

from llgcy.core.machine cimport Machine
from llgcy.core.state cimport State, ALIVE
from llgcy.errors import LimitError, StateError, UnsatisfiableError

cdef enum:
    MAX_RULES = 1 << 20             # rules; symbols in all their bodies times 4
    MAX_ENTRIES = 1 << 22           # places over all entries: they grow with the square of a run of symbols that may be empty
    MAX_COPIES = 0x7FFFFFFE         # bounds of a repetition
    MAX_TEXT = 1 << 24              # bytes of a completion that is spelled out

CUTTING = CUTS                      # rank of a lexeme that, where it ends, ends all others too


class ByToken:
    """Stands for the text of a lexeme that only tokens can be, whatever they spell. As long as no text is where another way is open."""

    def __len__(self):
        return 1 << 16


@cython.final
cdef class GrammarTables:
    """A context-free grammar over lexemes, frozen.

    Parameters
    ----------
    rules : sequence of (int, body)
        Left side and body. A body is a tuple of symbols, or ``("count", symbol, low, high)`` for ``low`` to ``high`` copies of one
        symbol, ``high=None`` without upper bound. Symbols ``0 .. len(lexemes) - 1`` are the lexemes, all others have rules.
    start : int
        The symbol to derive.
    lexemes : sequence
        For each lexeme a term id of `regexes`; or a :class:`Machine` (its whole language is one lexeme); or a tuple of ranges
        (first, last) of token ids, ascending and disjoint: any of these tokens, as a unit. A lexeme whose language holds the empty
        text is optional wherever it stands; as a lexeme it has at least one byte.
    regexes : Regexes, optional
        The store over bytes that the terms belong to.
    skip : int
        Lexeme that may stand wherever a lexeme may follow, but not before the first one, any number of times. It occurs in no
        rule. -1: none.
    skips : sequence of int, optional
        Instead of `skip`, where parts of the grammar skip different things: for each lexeme the one that may stand where it may
        follow, or -1.
    behind : mapping of int to set of int, optional
        For a skip the lexemes that may follow it. By default all that may stand there.
    once : collection of int
        Of the skips those that do not stand twice in a row.
    skip_first, skip_last : bool
        May it stand before the first lexeme, and where no lexeme may follow? (The latter only with `skip`.)
    ranks : sequence of int, optional
        For each lexeme; has a meaning in greedy lexing alone. Of lexemes that end at one byte only those of the highest rank are
        read. One of rank `CUTTING` also ends all others, whether they go on or not. By default all are 0.
    lexing : str
        ``"greedy"``: a lexeme ends where no allowed lexeme goes on. ``"exact"``: every way to cut the text counts.
    names : sequence of str, optional
        Of the symbols, for messages.
    temperatures : sequence of float or None, optional
        For each lexeme what the sampler is asked for while it is read. It has no meaning for the language.

    Raises
    ------
    UnsatisfiableError
        Where no finite text can be derived from `start`.
    LimitError
        Where the grammar is too large.
    ValueError
        Where the arguments are no grammar.

    Notes
    -----
    Shortest texts are found by Knuth's generalisation of Dijkstra's algorithm (A generalization of Dijkstra's algorithm,
    Information Processing Letters 6, 1977).
    """

    def __init__(self, rules, start, lexemes, regexes=None, *, int32_t skip=-1, skips=None, behind=None, once=(), bint skip_first=False, bint skip_last=False,
                 lexing="greedy", ranks=None, names=None, temperatures=None):
        if self.places != NULL:
            raise ValueError("frozen already")
        if lexing not in ("greedy", "exact"):
            raise ValueError(f"lexing is 'greedy' or 'exact', not {lexing!r}")
        self.lexing, self.regexes, self.lexemes = lexing, regexes, tuple(lexemes)
        self.n_lexemes = len(self.lexemes)
        if skips is None:
            skips = (skip,) * self.n_lexemes
        self._set_skips(skips, behind, once)
        self.skip_first, self.skip_last = skip_first, skip_last
        self._set_ranks(ranks)
        temperatures = tuple(temperatures or ())
        self.temperatures = temperatures if any(x is not None for x in temperatures) else None
        _fill(&self.ids, [[i for pair in x for i in pair] if isinstance(x, tuple) else () for x in self.lexemes])
        bodies = self._checked(rules, start)
        self.names = list(names or ())
        self.names += [f"#{i}" for i in range(len(self.names), self.n_symbols)]
        facts = [_lexeme_facts(x, regexes) for x in self.lexemes]
        self.shortest = tuple(text for _, text in facts)
        self._measure(bodies, facts)
        if start not in self._lengths:
            raise UnsatisfiableError(f"{self.names[start]} derives no finite text")
        self._clean(bodies, start, {i for i, (_, text) in enumerate(facts) if text is not None})
        self._measure_on(self.rules, facts)
        self._lay_out()

    def __dealloc__(self):
        free(self.places)
        free(self.counts)
        free(self.nullable)
        free(self.before)
        free(self.skipped)
        free(self.follows)
        free(self.once)
        free(self.ranks)
        free(self.ids.first)
        free(self.ids.data)
        free(self.ends)
        free(self.starts.first)
        free(self.starts.data)
        free(self.entries.first)
        free(self.entries.data)
        free(self.first.first)
        free(self.first.data)

    # -- preparation, in Python objects -------------------------------------------------------------------------------
    def _set_skips(self, skips, behind, once):
        skips = tuple(skips)
        if len(skips) != self.n_lexemes or any(not -1 <= x < self.n_lexemes for x in skips):
            raise ValueError("the lexeme to skip does not exist")
        self.skips = tuple(dict.fromkeys(x for x in skips if x >= 0))
        self.before = <int32_t*>_block(self.n_lexemes, sizeof(int32_t))
        self.skipped = <int32_t*>_block(self.n_lexemes, sizeof(int32_t))
        for i, x in enumerate(skips):
            self.before[i] = x
        for i, x in enumerate(self.skips):
            if not isinstance(self.lexemes[x], int):
                raise ValueError("what is skipped is a regular expression")
            self.skipped[x] = i + 1
        if behind is not None and any(i not in behind[x] for x in self.skips for i in range(self.n_lexemes) if not self.skipped[i]):
            self.follows = <uint8_t*>_block(len(self.skips) * self.n_lexemes, 1)
            for k, x in enumerate(self.skips):
                for i in behind[x]:
                    self.follows[k * self.n_lexemes + i] = 1
        self.once = <uint8_t*>_block(len(self.skips), 1)
        for k, x in enumerate(self.skips):
            self.once[k] = x in once
        self.gaps = self.follows != NULL or any(x in once for x in self.skips)

    def _set_ranks(self, ranks):
        if ranks is None or self.lexing != "greedy" or len(set(ranks)) < 2 and CUTS not in ranks:
            return
        if len(ranks) != self.n_lexemes or any(not -CUTS < x <= CUTS for x in ranks):
            raise ValueError("each lexeme has a rank of 30 bits")
        self.ranks = <int32_t*>_block(self.n_lexemes, sizeof(int32_t))
        for i, x in enumerate(ranks):
            self.ranks[i] = x

    cdef bint has_token(self, int32_t lexeme, int32_t id) noexcept nogil:
        cdef int32_t i
        for i in range(self.ids.first[lexeme], self.ids.first[lexeme + 1], 2):
            if self.ids.data[i] <= id <= self.ids.data[i + 1]:
                return True
        return False

    def _checked(self, rules, start):
        """The rules with the start rule before them, after every symbol and bound has been looked at."""
        out, size, top = [], 0, self.n_lexemes
        heads = set()
        for left, body in rules:
            body = tuple(body)
            if body and body[0] == "count":
                _, symbol, low, high = body
                if low < 0 or high is not None and (high < low or high < 0):
                    raise ValueError(f"no such repetition: {{{low},{high}}}")
                if max(low, high or 0) > MAX_COPIES:
                    raise LimitError(f"repetition {{{low},{'' if high is None else high}}}: at most {MAX_COPIES:,} copies can be counted")
                symbols = (symbol,)
            else:
                symbols = body
            if left < self.n_lexemes:
                raise ValueError(f"{left} is a lexeme and cannot have a rule")
            heads.add(left)
            out.append((left, body))
            size += len(symbols) + 1
            top = max(top, left + 1, *(x + 1 for x in symbols))
            if len(out) > MAX_RULES or size > 4 * MAX_RULES or top > 4 * MAX_RULES:
                raise LimitError(f"a grammar has at most {MAX_RULES:,} rules with {4 * MAX_RULES:,} symbols in all")
            if any(x < self.n_lexemes and self.skipped[x] for x in symbols if x >= 0):
                raise ValueError("the lexeme to skip stands in a rule")
            if any(x < 0 for x in symbols):
                raise ValueError("symbols are not negative")
        if start < 0:
            raise ValueError("the start symbol does not exist")
        top = max(top, start + 1)
        self.n_symbols = top + 1
        return [(top, (start,)), *out]

    def _measure(self, bodies, facts):
        """Lengths of shortest texts, and how they come about."""
        lengths, how, heap, using, missing = {}, {}, [], defaultdict(list), []
        for symbol, (nullable, text) in enumerate(facts):
            if nullable or text is not None:
                heapq.heappush(heap, (0 if nullable else len(text), symbol, -1))
        for i, (left, body) in enumerate(bodies):
            symbols = () if body and body[0] == "count" and body[2] == 0 else _symbols(body)
            missing.append(len(symbols))
            for x in symbols:
                using[x].append(i)
            if not symbols:
                heapq.heappush(heap, (0, left, -1))
        while heap:
            length, symbol, rule = heapq.heappop(heap)
            if symbol in lengths:
                continue
            lengths[symbol], how[symbol] = length, bodies[rule][1] if rule >= 0 else ()
            for i in using[symbol]:
                missing[i] -= 1
                if missing[i] == 0 and bodies[i][0] not in lengths:
                    left, body = bodies[i]
                    total = lengths[body[1]] * body[2] if body[0] == "count" else sum(lengths[x] for x in body)
                    heapq.heappush(heap, (min(total, FAR), left, i))
        self._lengths, self._how = lengths, how

    def _measure_on(self, bodies, facts):
        """The same for texts that are not empty; `bodies` are clean."""
        lengths, on, how, using, heap, ways = self._lengths, {}, {}, defaultdict(list), [], [None]
        for symbol, (nullable, text) in enumerate(facts):
            if text is not None:
                heapq.heappush(heap, (len(text), symbol, 0))
        for left, body in bodies:
            if lengths[left]:
                on[left] = lengths[left]
            for x in dict.fromkeys(_symbols(body)):
                using[x].append((left, body))
        for left in list(on):
            heapq.heappush(heap, (on.pop(left), left, 0))
        while heap:
            length, symbol, way = heapq.heappop(heap)
            if symbol in on:
                continue
            on[symbol] = length
            if way:
                how[symbol] = ways[way]
            for left, body in using[symbol]:
                if left not in on and lengths[left] == 0:
                    if body[0] == "count":
                        total = length + lengths[symbol] * (max(body[2], 1) - 1)
                    else:
                        total = length - lengths[symbol] + sum(lengths[x] for x in body)
                    heapq.heappush(heap, (min(total, FAR), left, len(ways)))
                    ways.append((body, body.index(symbol) if body[0] != "count" else 0))
        self._lengths_on, self._how_on = on, how

    def _clean(self, bodies, start, solid):
        """Drops rules that derive nothing or are out of reach, and symbols that are always empty."""
        lengths = self._lengths
        bodies = [(left, body) for left, body in bodies if all(x in lengths for x in _symbols(body)) or (
            body[0] == "count" and body[2] == 0)]
        using, todo = defaultdict(list), list(solid)                  # solid: has some text that is not empty
        for left, body in bodies:
            if not (body and body[0] == "count" and body[3] == 0):
                for x in _symbols(body):
                    if x in lengths:
                        using[x].append(left)
        solid = set(todo)
        for x in todo:                                                # grows while it runs
            for left in using[x]:
                if left not in solid:
                    solid.add(left)
                    todo.append(left)
        self.rules, by, seen = [], defaultdict(list), set()
        for left, body in bodies:
            if body and body[0] == "count":
                _, x, low, high = body
                low = 0 if lengths.get(x) == 0 else low               # copies that may be empty may all be empty
                body = ("count", x, low, high) if x in solid and high != 0 else ()
                if body and low <= 1 == high:
                    body = (x,)                                       # one copy; that there may be none is known of `left`
            else:
                body = tuple(x for x in body if x in solid)
            if body and (left, body) not in seen and body != (left,):
                seen.add((left, body))
                by[left].append(body)
        top = self.n_symbols - 1
        reached, todo = {top}, [top]
        for left in todo:
            for body in by[left]:
                for x in _symbols(body):
                    if x not in reached:
                        reached.add(x)
                        todo.append(x)
        order = {left: None for left, _ in bodies if left in reached}
        self.rules = [(left, body) for left in order for body in by[left]]
        self.empty = lengths[start] == 0

    def _lay_out(self):
        """Numbers the places and writes the arrays."""
        cdef int32_t i, j, k
        cdef int64_t rest, on
        lengths, lengths_on = self._lengths, self._lengths_on
        places, counts, index, starts = [], [], {}, [[] for _ in range(self.n_symbols)]
        for left, body in self.rules:
            if body[0] == "count":
                _, x, low, high = body
                at = index.get(body)
                if at is None:
                    index[body] = at = len(counts)
                    counts.append((x, low, ENDLESS if high is None else high, len(places)))
                    places += [(x, NO_PLACE, at, guard, 0) for guard in (MORE, MAY, LAST)]
                guard = LAST if high is not None and high <= 1 else MAY if low <= 1 else MORE
                starts[left].append(counts[at][3] + guard)
            else:
                tail, rest, on = NO_PLACE, 0, FAR         # on: of a text that is not empty
                for x in reversed(body):
                    on = min(longer(on, lengths[x]), longer(rest, lengths_on[x]))
                    rest = longer(rest, lengths[x])
                    at = index.get((x, tail))
                    if at is None:
                        index[x, tail] = at = len(places)
                        places.append((x, tail, -1, 0, on))
                    tail = at
                starts[left].append(tail)
        self.n_places, self.n_counts = len(places), len(counts)
        self.places = <Place*>_block(self.n_places, sizeof(Place))
        self.counts = <Count*>_block(self.n_counts, sizeof(Count))
        self.nullable = <uint8_t*>_block(self.n_symbols, 1)
        self.ends = <uint8_t*>_block(self.n_places, 1)
        for i in range(self.n_symbols):
            self.nullable[i] = lengths.get(i) == 0
        for i in range(self.n_counts):
            x, low, high, at = counts[i]
            self.counts[i] = Count(x, low, high, at)
        for i in range(self.n_places):
            x, tail, at, guard, length = places[i]
            self.places[i] = Place(x, tail, at, guard, length if at < 0 else lengths_on[x])
            # the tail of a place comes before it
            self.ends[i] = at < 0 and self.nullable[self.places[i].symbol] and (tail < 0 or self.ends[self.places[i].tail])
        _fill(&self.starts, starts)
        _fill(&self.entries, self._entries(starts))
        top = self.n_symbols - 1
        first = set()
        for at in starts[top]:
            first.update(self.entries.data[j] for j in range(self.entries.first[at], self.entries.first[at + 1]))
        _fill(&self.first, [sorted(first)])

    def _entries(self, starts):
        """For each place, where an item with a link stands that comes to it. A last symbol with one rule is entered instead of
        called, so that `x: a more`, `more: b*` and the inside of `more` share places; what may be empty is passed."""
        cdef int32_t at, tail, symbol
        called = list(range(self.n_places))                           # where entering leads
        for first in range(self.n_places):
            at, chain = first, []
            while called[at] == at and self.places[at].count < 0 and self.places[at].tail == NO_PLACE and (
                    len(starts[self.places[at].symbol]) == 1):
                chain.append(at)                                      # ends: a circle of such rules would derive nothing
                at = starts[self.places[at].symbol][0]
            for x in chain:
                called[x] = called[at]
        out, size = [], 0
        for first in range(self.n_places):
            seen, todo, stand = {called[first]}, [called[first]], []
            for at in todo:                                           # grows while it runs
                stand.append(at)
                symbol, tail = self.places[at].symbol, self.places[at].tail
                if self.places[at].count < 0 and tail != NO_PLACE and self.nullable[symbol] and called[tail] not in seen:
                    seen.add(called[tail])
                    todo.append(called[tail])
            size += len(stand)
            if size > MAX_ENTRIES:
                raise LimitError("too many symbols in a row that may be empty")
            out.append(sorted(stand))
        return out

    cdef tuple heads(self, int32_t place):
        cdef int32_t i
        if self._heads is None:
            index, heads = {}, {}
            for i in range(self.n_places):
                if self.places[i].count < 0:
                    index[self.places[i].symbol, self.places[i].tail] = i
            counts = {(self.counts[i].symbol, self.counts[i].low, self.counts[i].high): self.counts[i].place for i in range(self.n_counts)}
            for left, body in self.rules:
                if body[0] == "count":
                    at = counts[body[1], body[2], ENDLESS if body[3] is None else body[3]]
                    stands = (at + MORE, at + MAY, at + LAST)
                else:
                    stands, tail = [], NO_PLACE
                    for x in reversed(body):
                        tail = index[x, tail]
                        stands.append(tail)
                for at in stands:
                    heads.setdefault(at, {})[left] = None
            self._heads = {at: tuple(lefts) for at, lefts in heads.items()}
        return self._heads[place]

    # -- shortest texts -----------------------------------------------------------------------------------------------
    cdef list spell(self, int32_t place, int32_t copies):
        cdef int32_t at
        if self.places[place].count >= 0:
            return self._spelled([(self.places[place].symbol, copies - 1, False), (self.places[place].symbol, 1, True)])
        body, at = [], place
        while at != NO_PLACE:
            body.append(self.places[at].symbol)
            at = self.places[at].tail
        on = -1                                                       # what is not to be empty, where all may be
        if all(self._lengths[x] == 0 for x in body):
            on = min(range(len(body)), key=lambda i: self._lengths_on[body[i]])
        return self._spelled([(x, 1, i == on) for i, x in reversed(list(enumerate(body)))])

    def _spelled(self, todo):
        """Lexemes of the shortest text of [(symbol, copies, not empty?)], the last first; `todo` is used up."""
        out, spelled = [], 0
        while todo:
            symbol, copies, on = todo.pop()
            length = (self._lengths_on if on else self._lengths)[symbol] * copies
            if length == 0:
                continue
            if spelled + length > MAX_TEXT:
                raise LimitError(f"the shortest ending has more than {MAX_TEXT:,} bytes")
            if copies > 1:
                todo.append((symbol, copies - 1, on))
            if symbol < self.n_lexemes:
                out.append(symbol)
                spelled += len(self.shortest[symbol])
            elif on and symbol in self._how_on:
                body, i = self._how_on[symbol]
                if body[0] == "count":
                    todo += [(body[1], max(body[2], 1) - 1, False), (body[1], 1, True)]
                else:
                    todo += [(x, 1, j == i) for j, x in reversed(list(enumerate(body)))]
            else:
                body = self._how[symbol]
                todo += [(body[1], body[2], False)] if body[0] == "count" else [(x, 1, False) for x in reversed(body)]
        return out

    def join(self, lexemes, bytes between=b""):
        """Shortest texts of some lexemes, one after the other.

        Raises
        ------
        StateError
            Where one of them is a token, which no bytes spell.
        """
        texts = [self.shortest[x] for x in lexemes]
        for lexeme, text in zip(lexemes, texts):
            if isinstance(text, ByToken):
                raise StateError(f"no bytes end the text from here: it needs the token {self.names[lexeme]}")
        return between.join(texts)

    def text(self, int32_t symbol):
        """A shortest text that `symbol` derives.

        Parameters
        ----------
        symbol : int
            A symbol that derives some text.

        Returns
        -------
        bytes

        Raises
        ------
        LimitError
            Where it is longer than 16 MiB.
        """
        return self.join(self._spelled([(symbol, 1, False)]))


def _symbols(body):
    return (body[1],) if body and body[0] == "count" else body


cdef void* _block(size_t n, size_t size) except NULL:
    cdef void* out = calloc(n + 1, size)
    if out == NULL:
        raise MemoryError(f"no {n * size:,} bytes")
    return out


cdef int _fill(Table* table, list rows) except -1:
    cdef int32_t at = 0
    table.first = <int32_t*>_block(len(rows) + 1, sizeof(int32_t))
    table.data = <int32_t*>_block(sum(map(len, rows)), sizeof(int32_t))
    for i, row in enumerate(rows):
        for x in row:
            table.data[at] = x
            at += 1
        table.first[i + 1] = at
    return 0


def _lexeme_facts(lexeme, regexes):
    """(may it be empty, a shortest text that is not empty or None) of one lexeme."""
    if isinstance(lexeme, tuple):
        return False, ByToken() if lexeme else None
    if isinstance(lexeme, Machine):
        return _machine_facts(lexeme)
    nullable = bool(regexes.accepts(lexeme))
    if not nullable:
        text = bytes(regexes.shortest(lexeme)) if regexes.alive(lexeme) else None
        return False, text
    best = None
    for first, _, target in regexes.edges(lexeme):                    # the shortest text that is not empty
        text = bytes([first, *regexes.shortest(target)])
        if best is None or len(text) < len(best):
            best = text
    return True, best


cdef object ending_of(Machine machine, const State* at):
    """A shortest text that ends what a machine reads, or `ByToken`."""
    try:
        return machine.completion((<const char*>at)[:sizeof(State)])
    except StateError:
        return ByToken()


cdef tuple _machine_facts(Machine machine):
    cdef State start, next
    cdef int byte
    if machine.start(&start) != ALIVE:
        return False, None
    if not machine.accepting(&start):
        return False, ending_of(machine, &start)
    best = ByToken() if machine.names_tokens and machine.tokens_allowed(&start) else None
    for byte in range(256):
        if machine.step(&start, byte, True, &next) == ALIVE:
            text = ending_of(machine, &next)
            text = text if isinstance(text, ByToken) else bytes([byte]) + text
            if best is None or len(text) < len(best):
                best = text
    return True, best
