"""Where a lexeme may end although another one, which may stand there too, could go on.

A grammar is *separable* where no byte that goes on in any lexeme of an allowed set can begin what follows one that ends there. Then
greedy lexing reads the language exactly, and one member is always enough. The check looks at pairs of lexemes that may be allowed
together, and at pairs of their states that one text reaches; both are more than can really occur, so a grammar may be separable without
being found so.

Sets of lexemes, and of bytes, are integers used as bit sets.
"""
from collections import deque

cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from llgcy.core.machine cimport Machine
from llgcy.core.regex cimport Edge, Regexes
from llgcy.core.state cimport DEAD, State
from llgcy.core.tables cimport CUTS, GrammarTables


cdef enum:
    OPERANDS = 16               # of a union or intersection: what they cost together is what an edge costs


cdef object bit(object i):
    """The set of one number; sets are wider than any C integer."""
    return 1 << i


def bits(mask):
    """Numbers of the bits that are set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _machine_heads(Machine machine not None):
    """Bytes that the texts of a machine may begin with."""
    cdef State start, next
    cdef int byte
    out = 0
    machine.start(&start)
    for byte in range(256):
        if machine.step(&start, byte, False, &next) != DEAD:
            out |= bit(byte)
    return out


def _may_be_token(lexeme):
    return isinstance(lexeme, tuple) or isinstance(lexeme, Machine) and lexeme.names_tokens


def _share_token(x, y):
    """May one token be either lexeme? (Of a machine as far as anyone knows.)"""
    if isinstance(x, tuple) and isinstance(y, tuple):
        return any(a <= d and c <= b for a, b in x for c, d in y)
    return _may_be_token(x) and _may_be_token(y)


@cython.final
cdef class Overlaps:
    """Which lexemes get in each other's way.

    Parameters
    ----------
    tables : GrammarTables
    fuel : int
        Edges of automata and pairs of lexemes that may be looked at.

    Attributes
    ----------
    settled : bool
        The fuel was enough. Otherwise there may be more conflicts than are known.
    conflicts : dict
        (lexeme, rival) to the bytes that go on in the rival where the lexeme may end, and may also begin what follows it.
        Empty and settled, and nothing hidden: the grammar is separable. Where lexing is exact, not all of them.
    hidden : bool
        Some lexeme of higher rank takes away where another one ends or goes on.
    """
    cdef readonly GrammarTables tables
    cdef readonly bint settled
    cdef readonly bint hidden
    cdef readonly dict conflicts
    cdef Regexes regexes
    cdef int64_t fuel
    cdef int end                # bit of "the text ends here" in sets of what follows
    cdef list heads             # per lexeme: bytes that it may begin with
    cdef dict goes_on           # term -> bytes
    cdef dict begins            # set of lexemes -> bytes that they may begin with
    cdef dict pairs             # (lexeme, lexeme) -> (do they share a text, bytes that go on in the second where the first ends)
    cdef list rivals            # per lexeme: those that may begin with the same byte, or be the same token
    cdef list beside            # per lexeme: those that may be allowed where it is
    cdef list first, follow     # per symbol: lexemes that may begin it, that may come behind it

    def __cinit__(self, GrammarTables tables not None, int64_t fuel=1_000_000):
        self.tables, self.regexes, self.fuel = tables, tables.regexes, fuel
        self.settled, self.end = True, tables.n_lexemes
        self.goes_on, self.begins, self.pairs, self.conflicts = {}, {}, {}, {}
        self.heads = [self._goes_on(x) if isinstance(x, int) else 0 if isinstance(x, tuple) else _machine_heads(x)
                      for x in tables.lexemes]
        self._follow()
        self._beside()
        self._conflicts()

    # -- what comes behind what ------------------------------------------------------------------------------------------
    def _follow(self):
        """FIRST and FOLLOW sets, as least solutions of inclusions."""
        tables = self.tables
        n = tables.n_symbols
        wider = [[] for _ in range(2 * n)]                            # set -> sets that include it; FOLLOW of x is n + x
        sets = [bit(x) if x < tables.n_lexemes else 0 for x in range(n)] + [0] * n
        for left, body in tables.rules:
            if body[0] == "count":
                symbols = body[1:2]
                if body[3] is None or body[3] > 1:
                    wider[body[1]].append(n + body[1])
            else:
                symbols = body
            for x in symbols:
                wider[x].append(left)
                if not self._nullable(x):
                    break
            wider[n + left].append(n + symbols[len(symbols) - 1])
            for i in range(len(symbols) - 1):
                for k in range(i + 1, len(symbols)):
                    wider[symbols[k]].append(n + symbols[i])
                    if not self._nullable(symbols[k]):
                        break
                else:
                    wider[n + left].append(n + symbols[i])
        sets[2 * n - 1] = bit(self.end)
        todo = deque(i for i in range(2 * n) if sets[i])              # first in, first out: what grows often is passed on seldom
        waits = [bool(s) for s in sets]
        while todo:
            i = todo.popleft()
            waits[i] = False
            for k in wider[i]:
                if sets[i] & ~sets[k]:
                    sets[k] |= sets[i]
                    if not waits[k]:
                        waits[k] = True
                        todo.append(k)
        self.first, self.follow = sets[:n], sets[n:]

    cdef bint _nullable(self, int32_t symbol):
        return self.tables.nullable[symbol]

    def _beside(self):
        """Closes the pairs of lexemes that may be allowed together: at the start, and behind lexemes that share a text."""
        by_byte, n = [0] * 256, self.tables.n_lexemes
        for a in range(n):
            for byte in bits(self.heads[a]):
                by_byte[byte] |= bit(a)
        self.rivals = [0] * n
        for a in range(n):
            for byte in bits(self.heads[a]):
                self.rivals[a] |= by_byte[byte]
        tokens = sum(bit(a) for a, lexeme in enumerate(self.tables.lexemes) if _may_be_token(lexeme))
        for a in bits(tokens):                                        # they need no byte
            self.rivals[a] |= tokens
        self.beside = [0] * n
        groups = [self.first[self.tables.n_symbols - 1]]
        seen = set(groups)
        for group in groups:                                          # grows while it runs
            group &= ~bit(self.end)
            for a in bits(group):
                new = group & ~self.beside[a]
                self.beside[a] |= new
                for b in bits(new & self.rivals[a]):
                    if self._spend(1):
                        return
                    if a == b or self._pair(a, b)[0]:
                        behind = self.follow[a] | self.follow[b]
                        if behind not in seen:
                            seen.add(behind)
                            groups.append(behind)

    def _conflicts(self):
        skips = sum(bit(skip) for skip in self.tables.skips)
        some = sum(bit(a) for a in range(self.tables.n_lexemes) if self.beside[a])
        for a in bits(some):
            begin = self._begin(self.follow[a] | skips)
            for b in bits((self.beside[a] | skips) & self.rivals[a]):
                self._conflict(a, b, begin)
                self._rank(a, b)
            if self.conflicts and self.tables.lexing == "exact":
                return                                                # greedy lexing alone asks what they are
        for skip in self.tables.skips:
            for b in bits(some & self.rivals[skip]):
                self._conflict(skip, b, self._begin(self.beside[b] | skips))
                self._rank(skip, b)
            for other in self.tables.skips:
                rest = skips & ~bit(skip) if other == skip and self._joins(skip) else skips
                self._conflict(skip, other, self._begin(some | rest))

    def _conflict(self, a, b, begin):
        if not self._spend(1):
            found = self._pair(a, b)[1] & begin
            if found:
                self.conflicts[a, b] = self.conflicts.get((a, b), 0) | found

    def _rank(self, a, b):
        """Notes whether a takes something from b."""
        cdef const int32_t* ranks = self.tables.ranks
        if ranks != NULL and not self.hidden and (ranks[a] > ranks[b] or ranks[a] == CUTS):
            shared, on = self._pair(a, b)
            self.hidden = bool(ranks[a] > ranks[b] and shared or ranks[a] == CUTS and on)

    def _begin(self, lexemes):
        """Bytes that some lexemes may begin with."""
        out = self.begins.get(lexemes)
        if out is None:
            out = 0
            for x in bits(lexemes & ~bit(self.end)):
                out |= self.heads[x]
            self.begins[lexemes] = out
        return out

    # -- pairs of automata -----------------------------------------------------------------------------------------------
    cdef bint _spend(self, int64_t n) except -1:
        """Is the fuel used up?"""
        self.fuel -= n
        if self.fuel < 0:
            self.settled = False
        return self.fuel < 0

    cdef int32_t _edges(self, int32_t term, const Edge** out) except -1:
        """The edges of a term, and how many. To find them may take more than to look at them."""
        cdef size_t before = self.regexes.combined
        cdef int32_t n = self.regexes.edges_at(term, out)
        self._spend(n + <int64_t>((self.regexes.combined - before) // OPERANDS))
        return n

    cdef object _goes_on(self, int32_t term):
        """Bytes that go on in a term."""
        cdef const Edge* edges = NULL
        cdef int32_t i, n
        out = self.goes_on.get(term)
        if out is None:
            out = 0
            n = self._edges(term, &edges)
            for i in range(n):
                out |= bit(edges[i].last + 1) - bit(edges[i].first)
            self.goes_on[term] = out
        return out

    def _pair(self, a, b):
        """(may the lexemes share a text, bytes that may go on in b where a ends)."""
        if (a, b) not in self.pairs:
            x, y = self.tables.lexemes[a], self.tables.lexemes[b]
            if not self.heads[a] & self.heads[b]:
                self.pairs[a, b] = self.pairs[b, a] = _share_token(x, y), 0
            elif isinstance(x, int) and isinstance(y, int):
                self._explore(a, b, x, y)
            else:                                                     # the states of a machine cannot be listed
                self.pairs[a, b], self.pairs[b, a] = (True, self._last(y)), (True, self._last(x))
        return self.pairs[a, b]

    def _last(self, lexeme):
        """Bytes that may go on in a lexeme where some text of it has ended: all, as far as anyone knows, or what a machine says."""
        known = None if isinstance(lexeme, int) else getattr(lexeme, "tail_bytes", None)
        return bit(256) - 1 if known is None else sum(bit(byte) for byte in known)

    def _explore(self, a, b, int32_t x, int32_t y):
        """Walks the pairs of states that some text reaches; only behind at least one byte is an end an end."""
        cdef int32_t s, t
        cdef int64_t steps = 0
        shared, in_b, in_a, todo = False, 0, 0, self._beyond(x, y)
        seen = set(todo)
        while todo:
            s, t = todo.pop()
            ends = self.regexes.accepts(s), self.regexes.accepts(t)
            shared = shared or all(ends)
            if ends[0]:
                in_b |= self._goes_on(t)
            if ends[1]:
                in_a |= self._goes_on(s)
            for pair in self._beyond(s, t):
                if pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
            if self._spend(1):
                shared = True                                         # as far as anyone knows
                break
        self.pairs[a, b], self.pairs[b, a] = (shared, in_b), (shared, in_a)

    def _beyond(self, int32_t s, int32_t t):
        """The pairs of states that one more byte leads to."""
        cdef const Edge* x = NULL
        cdef const Edge* y = NULL
        cdef int32_t i = 0, k = 0, n = self._edges(s, &x), m = self._edges(t, &y)
        out = []
        while i < n and k < m:
            if x[i].last < y[k].first:
                i += 1
            elif y[k].last < x[i].first:
                k += 1
            else:
                out.append((x[i].next, y[k].next))
                if x[i].last < y[k].last:
                    i += 1
                else:
                    k += 1
        return out

    def _joins(self, lexeme):
        """Is every text of two such lexemes one of them, and reads as one on the way?"""
        start = self.tables.lexemes[lexeme]
        ends, todo = [], [start]
        seen = {start}
        while todo:
            s = todo.pop()
            for _, _, t in self.regexes.edges(s):
                if t not in seen and not self._spend(1):
                    seen.add(t)
                    todo.append(t)
                    if self.regexes.accepts(t):
                        ends.append(t)
        todo = [(s, start) for s in ends]
        seen = set(todo)
        while todo:
            s, t = todo.pop()
            if self._spend(1) or self._goes_on(t) & ~self._goes_on(s):
                return False
            for x, y in self._beyond(s, t):
                if self.regexes.accepts(y) and not self.regexes.accepts(x):
                    return False
                if (x, y) not in seen:
                    seen.add((x, y))
                    todo.append((x, y))
        return True

    # -- what greedy lexing makes of it ----------------------------------------------------------------------------------
    def stuck(self):
        """Lexemes that greedy lexing can never leave: all that may follow goes on in them, wherever they may end."""
        out, lexemes = [], self.tables.lexemes
        tokens = sum(bit(a) for a, lexeme in enumerate(lexemes) if isinstance(lexeme, tuple))      # they end whatever may end
        skips = sum(bit(skip) for skip in self.tables.skips)
        for a in range(self.tables.n_lexemes):
            behind = self.follow[a]
            if self.tables.skipped[a] or not self.beside[a] or behind & (tokens | bit(self.end)) or not isinstance(lexemes[a], int):
                continue
            behind |= skips
            if self._swallows(self.tables.lexemes[a], self._begin(behind)):
                out.append(a)
        return out

    def _swallows(self, int32_t term, begin):
        """Do all of these bytes go on in the lexeme wherever it may end? False where the fuel is out."""
        todo = [t for _, _, t in self.regexes.edges(term)]
        seen = set(todo)
        while todo:
            s = todo.pop()
            if self._spend(1) or self.regexes.accepts(s) and begin & ~self._goes_on(s):
                return False
            for _, _, t in self.regexes.edges(s):
                if t not in seen:
                    seen.add(t)
                    todo.append(t)
        return True

    def parting(self):
        """A text to skip of one byte that ends whatever lexeme may end, and that whatever may come next ends: with it between all
        lexemes, greedy lexing reads any sequence that the grammar allows. Empty where there is none, or none is known."""
        if len(self.tables.skips) != 1 or not self.settled or self.hidden or not all(
                self.tables.skipped[a] or self.tables.before[a] == self.tables.skips[0] for a in range(self.tables.n_lexemes)):
            return b""
        skip = self.tables.skips[0]
        taken, begin = 0, 0
        for (a, _), found in self.conflicts.items():
            taken |= 0 if a == skip else found
        for a in range(self.tables.n_lexemes):
            if self.beside[a]:
                begin |= self.heads[a]
        for byte in bits(self.heads[skip] & ~taken):
            after = self.regexes.step(self.tables.lexemes[skip], byte)
            if self.regexes.accepts(after) and not self._goes_on(after) & begin and not begin & bit(byte):
                return bytes([byte])
        return b""
