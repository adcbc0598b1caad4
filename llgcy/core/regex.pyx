"""Regular expressions with & and ~, matched by derivatives.

A language is a term; reading a symbol turns a term into its derivative, the term of what may follow (J. A. Brzozowski,
"Derivatives of regular expressions", JACM 1964; S. Owens, J. Reppy, A. Turon, "Regular-expression derivatives
re-examined", JFP 2009). Terms are hash-consed under the similarity rules that keep the number of derivatives finite: `or`
and `and` are sorted sets, concatenations nest to the right, NONE and "every text" absorb. All derivatives of a term are
made at once, as a list of edges: intervals of symbols with the term behind them, swept from the lists of its children.

Repetitions are nodes with counts and are never unrolled. Two alternatives that differ in the counts of one repetition merge,
so that a bounded repetition of an ambiguous body stays small.

Look-around needs two kinds of nodes. A K_AHEAD in the head of a concatenation is an intersection with all that follows:
(?=A)B = A.* & B; `unfold` moves it there when the term is about to be read. A K_BEHIND holds the state of its pattern after the text so
far: each symbol read advances all of them ("shifts"), also those in parts that are not reached yet; it is passed where that state accepts.
"""
cimport cython
from libc.stdint cimport UINT32_MAX as ENDLESS
from libc.stdlib cimport calloc, free, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.store cimport Probe, hash_bytes, mix

import hashlib
import heapq

from llgcy.errors import GrammarError, LimitError

cdef enum:
    FEW = 2                     # terms with no more edges than that are searched without a row
    MOST_COPIES = 2147483646    # largest finite count of a repetition
    MOST_EVENTS = 1 << 22       # edges of the children that one term may sweep together
    DEEPEST_DIVE = 1 << 16      # symbols of a text that is looked for without looking aside
    DEEPEST = 500               # nesting of look-around and what is around it
    CONDITIONAL_COPIES = 32     # of a body that may read nothing under a condition
    FEW_OPERANDS = 32           # of a union, each of which is compared with each other one
    FARTHEST_REST = 64          # parts that may be empty, behind which the rest of a concatenation is looked for among other alternatives
    LARGEST = 0x10FFFF          # code point

cdef struct Run:        # an alternative that is head · body{low,high} · tail
    int32_t head        # EMPTY: none
    int32_t body
    int32_t tail        # EMPTY: none
    uint32_t low
    uint32_t high
    int32_t at          # its place among the operands

cdef enum:              # int32 in a struct of that name
    WIDTH_EDGE = 3
    WIDTH_EVENT = 4
    WIDTH_RUN = 6


cdef int reserve(Vector* v, size_t n) except -1 nogil:
    """Make room for n more int32."""
    cdef size_t room
    cdef int32_t* data
    if v.length + n > v.room:
        room = 2 * v.room + n + 16
        data = <int32_t*>realloc(v.data, room * sizeof(int32_t))
        if data == NULL:
            with gil:
                raise MemoryError()
        v.data, v.room = data, room
    return 0


cdef inline int push(Vector* v, int32_t x) except -1 nogil:
    if v.length == v.room:
        reserve(v, 1)
    v.data[v.length] = x
    v.length += 1
    return 0


cdef int push_edge(Vector* v, uint32_t first, uint32_t last, int32_t next) except -1 nogil:
    reserve(v, WIDTH_EDGE)
    cdef Edge* e = <Edge*>(v.data + v.length)
    e.first, e.last, e.next = first, last, next
    v.length += WIDTH_EDGE
    return 0


cdef int by_value(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*>a)[0], y = (<const int32_t*>b)[0]
    return (x > y) - (x < y)


cdef int by_first(const void* a, const void* b) noexcept nogil:
    cdef uint32_t x = (<const uint32_t*>a)[0], y = (<const uint32_t*>b)[0]
    return (x > y) - (x < y)


cdef int by_run(const void* a, const void* b) noexcept nogil:
    cdef const Run* x = <const Run*>a
    cdef const Run* y = <const Run*>b
    if x.head != y.head:
        return 1 if x.head > y.head else -1
    if x.body != y.body:
        return 1 if x.body > y.body else -1
    if x.tail != y.tail:
        return 1 if x.tail > y.tail else -1
    return (x.low > y.low) - (x.low < y.low)


cdef void sort(int32_t* data, size_t n) noexcept nogil:
    """Ascending. Operand lists are short nearly always."""
    cdef size_t i, j
    cdef int32_t x
    if n > 24:
        qsort(data, n, sizeof(int32_t), by_value)
        return
    for i in range(1, n):
        x = data[i]
        j = i
        while j > 0 and data[j - 1] > x:
            data[j] = data[j - 1]
            j -= 1
        data[j] = x


cdef bint contains(const int32_t* data, size_t n, int32_t x) noexcept nogil:
    """Binary search in an ascending list."""
    cdef size_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if data[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low < n and data[low] == x


cdef bint read_number(const uint8_t** text, const uint8_t* end, uint64_t* out) noexcept nogil:
    """Reads a number as `Automaton.dump` writes it; False where there is none, or one of more than 63 bits."""
    cdef int shift = 0
    cdef uint8_t byte = 128
    out[0] = 0
    while byte > 127:
        if text[0] == end or shift > 56:
            return False
        byte = text[0][0]
        out[0] |= <uint64_t>(byte & 127) << shift
        shift += 7
        text[0] += 1
    return True


@cython.final
cdef class Automaton:
    """All states of a term as a table, for other stores to take over. Made by `Regexes.automaton`.

    Attributes
    ----------
    states : int
    alphabet : "bytes" or "chars"
    digest : bytes
        The same for equal tables.
    """

    def __cinit__(self):
        memset(&self.table, 0, sizeof(Table))

    def __dealloc__(self):
        free(self.first)
        free(self.edges)
        free(self.accepts)
        free(self.least)
        free(self.most)

    cdef int allocate(self, int32_t states, int32_t edges, str alphabet) except -1:
        self.states, self.alphabet = states, alphabet
        self.first = <int32_t*>calloc(<size_t>states + 1, sizeof(int32_t))
        self.edges = <Edge*>calloc(<size_t>edges + 1, sizeof(Edge))
        self.accepts = <uint8_t*>calloc(states, 1)
        self.least, self.most = <uint32_t*>calloc(states, sizeof(uint32_t)), <uint32_t*>calloc(states, sizeof(uint32_t))
        if self.first == NULL or self.edges == NULL or self.accepts == NULL or self.least == NULL or self.most == NULL:
            raise MemoryError()
        return 0

    cdef int seal(self) except -1:
        content = hashlib.blake2b(self.alphabet.encode(), digest_size=16)
        content.update((<char*>self.first)[:(<size_t>self.states + 1) * sizeof(int32_t)])
        content.update((<char*>self.edges)[:self.first[self.states] * sizeof(Edge)])
        content.update((<char*>self.accepts)[:self.states])
        self.digest = content.digest()
        self.table.first, self.table.edges, self.table.accepts = self.first, self.edges, self.accepts
        self.table.least, self.table.most = self.least, self.most
        return 0

    def dump(self):
        """The table as bytes, for `load`: numbers of seven bits a byte, the lower ones first, a set eighth bit where more follow.

        They are the number of states and of edges; then for each state its acceptance, least and most, the number of its edges, and of
        each edge how many symbols are left out before it, how many more than one it has, and the next state.
        """
        cdef int32_t i, j, at
        cdef Edge* e
        if self.table.first == NULL:
            raise ValueError("an automaton without states")
        numbers = [self.states, self.first[self.states]]
        for i in range(self.states):
            numbers += [self.accepts[i], self.least[i], self.most[i], self.first[i + 1] - self.first[i]]
            at = 0
            for j in range(self.first[i], self.first[i + 1]):
                e = &self.edges[j]
                numbers += [e.first - at, e.last - e.first, e.next]
                at = <int32_t>e.last + 1
        out = bytearray()
        for number in numbers:
            while number > 127:
                out.append(number & 127 | 128)
                number >>= 7
            out.append(number)
        return bytes(out)

    @staticmethod
    def load(bytes data not None, str alphabet not None):
        """The automaton that `dump` wrote.

        Parameters
        ----------
        data : bytes
        alphabet : "bytes" or "chars"

        Raises
        ------
        ValueError
            The data is no table of states: it is cut off, or an edge leads nowhere.
        """
        cdef Automaton out = Automaton()
        cdef const uint8_t* text = <const uint8_t*><const char*>data
        cdef const uint8_t* end = text + len(data)
        cdef uint32_t top = 255 if alphabet == "bytes" else LARGEST
        cdef uint64_t states, edges, accepts, least, most, count, first, last, next, at
        cdef int32_t i, total = 0
        cdef int read = read_number(&text, end, &states) & read_number(&text, end, &edges)
        if alphabet not in ("bytes", "chars"):
            raise ValueError(f"no alphabet: {alphabet!r}")
        if not read or states == 0 or states > len(data) or edges > len(data):
            raise ValueError("no table of an automaton")
        out.allocate(<int32_t>states, <int32_t>edges, alphabet)
        for i in range(out.states):
            read = (read_number(&text, end, &accepts) & read_number(&text, end, &least) & read_number(&text, end, &most)
                    & read_number(&text, end, &count))
            if not read or accepts > ACCEPTS_ALL or least > ENDLESS or most > ENDLESS or total + count > edges:
                raise ValueError("a state of an automaton is damaged")
            out.first[i], out.accepts[i], out.least[i], out.most[i] = total, <uint8_t>accepts, <uint32_t>least, <uint32_t>most
            at = 0
            while count:
                count -= 1
                read = read_number(&text, end, &first) & read_number(&text, end, &last) & read_number(&text, end, &next)
                if not read or first > top or last > top or at + first + last > top or next >= states:
                    raise ValueError("an edge of an automaton is damaged")
                out.edges[total] = Edge(<uint32_t>(at + first), <uint32_t>(at + first + last), <int32_t>next)
                at += first + last + 1
                total += 1
        if total != <int32_t>edges or text != end:
            raise ValueError("an automaton has more than its table says")
        out.first[out.states] = total
        out.seal()
        return out


@cython.final
cdef class Regexes:
    """A store of regular languages over one alphabet.

    Parameters
    ----------
    alphabet : "bytes" or "chars"
        Symbols 0 to 255, or Unicode scalar values. Surrogates are in no language over "chars".
    budget : Budget, optional
        What the terms, edges and rows are charged to; 256 MiB of its own by default.
    fuel : int
        Edges that one search for a live text may look at, before it raises LimitError.

    Terms are plain ints. NONE is 0, EMPTY is 1; equal terms have equal ids, equal languages need not. Anchors are no symbols:
    they are look-around (`behind(1)` is the start of the text, `ahead(1)` its end), so `accepts` and `step` know all about them.
    The fuel that a search takes depends on what earlier ones have found out.

    Raises
    ------
    LimitError
        From any method that makes terms, when the budget or the fuel is spent. The store stays usable.

    Examples
    --------
    >>> r = Regexes("bytes")
    >>> digits = r.repeat(r.chars([(48, 57)]), 1, None)
    >>> state = r.step(digits, ord("7"))
    >>> r.accepts(state), r.step(state, ord("x"))
    (True, 0)
    """

    def __cinit__(self, str alphabet not None, Budget budget=None, *, size_t fuel=4_000_000):
        if alphabet not in ("bytes", "chars"):
            raise ValueError(f"alphabet is 'bytes' or 'chars', not {alphabet!r}")
        self.alphabet, self.fuel, self.digests = alphabet, fuel, {}
        self.budget = Budget(256 << 20, "regular expressions") if budget is None else budget
        self.row_length = 256 if alphabet == "bytes" else 128
        self.top = 255 if alphabet == "bytes" else LARGEST
        self.terms = Arena(self.budget, sizeof(Term))
        self.cells = Arena(self.budget, sizeof(int32_t))
        self.rows = Arena(self.budget, self.row_length * sizeof(int32_t))
        self.tables, self.automata = Arena(self.budget, sizeof(Table)), {}
        self.index = Index(self.budget)
        self.intern(K_NONE, 0, 0, 0, 0, NULL, 0)
        self.intern(K_EMPTY, 0, 0, 0, 0, NULL, 0)
        push(&self.ranges, 0)
        push(&self.ranges, <int32_t>self.top)
        self.any = self.chars_from()
        self.all = self.times(self.any, 0, ENDLESS)

    def __dealloc__(self):
        free(self.items.data)
        free(self.spine.data)
        free(self.work.data)
        free(self.queue.data)
        free(self.found.data)
        free(self.events.data)
        free(self.active.data)
        free(self.ranges.data)
        free(self.runs.data)

    # -- terms ----------------------------------------------------------------------------------------------------------
    cdef void enter(self) noexcept nogil:
        """Forget what an exception may have left on the stacks."""
        self.items.length = self.spine.length = self.work.length = self.ranges.length = self.found.length = 0

    cdef int check(self, int32_t id) except -1 nogil:
        if id < 0 or id >= self.terms.length:
            with gil:
                raise ValueError(f"{id} is no term of this store")
        return 0

    cdef int32_t intern(self, Kind kind, int32_t a, int32_t b, uint32_t low, uint32_t high,
                        const int32_t* payload, int32_t n) except -1 nogil:
        """The id of the term with this content. Payload kinds: n int32 at payload, and b elements of it."""
        cdef uint32_t key[5]
        cdef uint64_t hash
        cdef Probe probe
        cdef int32_t id
        cdef Term* t
        key[0], key[1], key[2], key[3], key[4] = kind, a, b, low, high
        hash = hash_bytes(key, sizeof(key))
        if payload != NULL:
            hash = mix(hash ^ hash_bytes(payload, n * sizeof(int32_t)))
        self.index.begin(hash, &probe)
        while True:
            id = self.index.next(&probe)
            if id < 0:
                break
            t = self.term(id)
            if t.kind != kind or t.b != b or t.low != low or t.high != high:
                continue
            if payload == NULL:
                if t.a == a:
                    return id
            elif memcmp(self.cells.at(t.a), payload, n * sizeof(int32_t)) == 0:
                return id
        if payload != NULL:
            a = self.cells.add(n)
            memcpy(self.cells.at(a), payload, n * sizeof(int32_t))
        id = self.terms.add(1)
        t = self.term(id)
        t.kind, t.a, t.b, t.low, t.high = kind, a, b, low, high
        t.edge_count = t.shift_count = t.unfolded = -1
        if kind == K_FAN:
            t.edges, t.edge_count = <Edge*>self.cells.at(a), b
        t.flags, t.least, t.most = self.flags_of(t), self.least_of(t), self.most_of(t)
        if self.padded(t):
            t.flags |= PADDED
        t.roams = self.roaming(t)
        self.index.add(hash, id)
        return id

    cdef bint padded(self, const Term* t) noexcept nogil:
        """See PADDED; where look-around is inside, nothing is said."""
        cdef int32_t i
        cdef const int32_t* ids
        if t.flags & (LOCATED | OPEN):
            return False
        if t.kind == K_REPEAT:
            return t.a == self.any and t.low == 0 and t.high == ENDLESS
        if t.kind == K_CAT:
            return self.term(t.b).flags & PADDED != 0
        if t.kind == K_OR or t.kind == K_AND:
            ids = <const int32_t*>self.cells.at(t.a)
            for i in range(t.b):
                if not self.term(ids[i]).flags & PADDED:
                    return False
            return True
        return False

    cdef bint roaming(self, const Term* t) noexcept nogil:
        """See Term.roams: a pattern that is searched for in a text, and all its derivatives."""
        cdef int32_t i
        cdef const int32_t* ids
        if t.flags & (LOCATED | OPEN):
            return False
        if t.kind == K_REPEAT:
            return t.a == self.any and t.high == ENDLESS
        if t.kind == K_CAT:
            return self.term(t.a).roams and self.term(t.b).flags & (POSITIVE | LIVE) != 0
        if t.kind == K_OR:
            ids = <const int32_t*>self.cells.at(t.a)
            for i in range(t.b):
                if self.term(ids[i]).roams:
                    return True
        return False

    cdef uint32_t least_of(self, const Term* t) noexcept nogil:
        """See Term.least: exact for positive terms, since none of their parts is empty."""
        cdef uint64_t least = MOST_SYMBOLS
        cdef int32_t i
        cdef const int32_t* ids
        if t.kind == K_CHARS:
            return 1
        if t.kind == K_STATE:
            return (<const Table*>self.tables.at(t.a)).least[t.b]
        if t.kind == K_CAT:
            least = <uint64_t>self.term(t.a).least + self.term(t.b).least
        elif t.kind == K_REPEAT:
            least = <uint64_t>self.term(t.a).least * t.low
        elif t.kind == K_FAN:
            if t.low:
                return 0
            for i in range(t.b):
                least = min(least, <uint64_t>self.term(t.edges[i].next).least + 1)
        elif t.kind == K_OR:
            ids = <const int32_t*>self.cells.at(t.a)
            for i in range(t.b):
                least = min(least, <uint64_t>self.term(ids[i]).least)
        elif t.kind == K_AND:
            ids, least = <const int32_t*>self.cells.at(t.a), 0
            for i in range(t.b):
                least = max(least, <uint64_t>self.term(ids[i]).least)
        else:
            return 0
        return <uint32_t>min(least, <uint64_t>MOST_SYMBOLS)

    cdef uint32_t most_of(self, const Term* t) noexcept nogil:
        cdef uint64_t most = 0
        cdef int32_t i
        cdef const int32_t* ids
        if t.kind == K_CHARS:
            return 1
        if t.kind == K_STATE:
            return (<const Table*>self.tables.at(t.a)).most[t.b]
        if t.kind == K_CAT:
            most = <uint64_t>self.term(t.a).most + self.term(t.b).most
        elif t.kind == K_REPEAT:
            most = MOST_SYMBOLS if t.high == ENDLESS else <uint64_t>self.term(t.a).most * t.high
        elif t.kind == K_FAN:
            for i in range(t.b):
                most = max(most, <uint64_t>self.term(t.edges[i].next).most + 1)
        elif t.kind == K_OR:
            ids = <const int32_t*>self.cells.at(t.a)
            for i in range(t.b):
                most = max(most, <uint64_t>self.term(ids[i]).most)
        elif t.kind == K_AND:
            ids, most = <const int32_t*>self.cells.at(t.a), MOST_SYMBOLS
            for i in range(t.b):
                most = min(most, <uint64_t>self.term(ids[i]).most)
        elif t.kind == K_NOT:
            most = MOST_SYMBOLS
        return <uint32_t>min(most, <uint64_t>MOST_SYMBOLS)

    cdef uint8_t flags_of(self, const Term* t) noexcept nogil:
        cdef uint8_t f, g
        cdef int32_t i
        cdef const int32_t* ids
        if t.kind == K_NONE:
            return SETTLED
        elif t.kind == K_EMPTY:
            f = NULLABLE | POSITIVE
        elif t.kind == K_CHARS:
            f = POSITIVE
        elif t.kind == K_STATE:
            f = POSITIVE | (NULLABLE if (<const Table*>self.tables.at(t.a)).accepts[t.b] else 0)
        elif t.kind == K_FAN:
            f = POSITIVE | (NULLABLE if t.low else 0)
            for i in range(t.b):
                g = self.term(t.edges[i].next).flags
                f = (f & (g | ~POSITIVE)) | (g & LIVE)
        elif t.kind == K_CAT:
            f, g = self.term(t.a).flags, self.term(t.b).flags
            f = (f & g & (NULLABLE | POSITIVE)) | ((f | g) & (LOCATED | OPEN)) | (
                0 if f & OPEN or g & LOCATED else f & g & LIVE)
        elif t.kind == K_OR or t.kind == K_AND:
            ids = <const int32_t*>self.cells.at(t.a)
            f = self.term(ids[0]).flags
            for i in range(1, t.b):
                g = self.term(ids[i]).flags
                if t.kind == K_OR:
                    f = ((f | g) & (NULLABLE | LOCATED | OPEN | LIVE)) | (f & g & POSITIVE)
                else:
                    f = ((f | g) & LOCATED) | (f & g & NULLABLE)
            f &= (NULLABLE | LOCATED | OPEN | LIVE | POSITIVE) if t.kind == K_OR else (LOCATED | NULLABLE)
        elif t.kind == K_NOT:
            f = (self.term(t.a).flags & (LOCATED | NULLABLE)) ^ NULLABLE
        elif t.kind == K_REPEAT:
            f = self.term(t.a).flags
            f = (f & (NULLABLE | POSITIVE | LOCATED | OPEN)) | (0 if f & (LOCATED | OPEN) else f & LIVE) | (
                NULLABLE if t.low == 0 else 0)
        else:
            f = (self.term(t.a).flags & (NULLABLE | LOCATED)) | (OPEN if t.kind == K_AHEAD else LOCATED)
        return f | LIVE if f & (NULLABLE | POSITIVE) else f

    cdef int32_t chars_from(self) except -1 nogil:
        """One symbol of the pairs in `ranges`, which are taken from there. What is outside the alphabet does not count."""
        cdef size_t i, n = 0, last
        cdef uint32_t first, end
        cdef uint32_t* r
        if self.top == LARGEST:         # cut the surrogates out
            last = self.ranges.length
            i = 0
            while i < last:
                first, end = <uint32_t>self.ranges.data[i], <uint32_t>self.ranges.data[i + 1]
                if first < 0xE000 and end > 0xD7FF:
                    self.ranges.data[i + 1] = 0xD7FF                # empty where first is a surrogate
                    push(&self.ranges, 0xE000)
                    push(&self.ranges, <int32_t>end)                # empty where end is one
                i += 2
        r = <uint32_t*>self.ranges.data
        qsort(r, self.ranges.length // 2, 2 * sizeof(uint32_t), by_first)
        for i in range(self.ranges.length // 2):
            first, end = r[2 * i], min(r[2 * i + 1], self.top)
            if first > end:
                continue
            if n and first <= r[2 * n - 1] + 1:
                r[2 * n - 1] = max(r[2 * n - 1], end)
            else:
                r[2 * n], r[2 * n + 1] = first, end
                n += 1
        self.ranges.length = 0
        return self.intern(K_CHARS, 0, <int32_t>n, 0, 0, self.ranges.data, <int32_t>(2 * n)) if n else NONE

    cdef int32_t fan_from(self, size_t base, bint final) except -1 nogil:
        """A state of a given automaton: its edges are taken from `found` at base."""
        cdef int32_t n = <int32_t>((self.found.length - base) // WIDTH_EDGE), i, chars
        cdef Edge* e = <Edge*>(self.found.data + base)
        cdef bint one = not final
        self.found.length = base
        if n == 0:
            return EMPTY if final else NONE
        for i in range(1, n):
            one = one and e[i].next == e[0].next
        if not one:
            return self.intern(K_FAN, 0, n, final, 0, <int32_t*>e, n * WIDTH_EDGE)
        self.ranges.length = 0
        for i in range(n):
            push(&self.ranges, <int32_t>e[i].first)
            push(&self.ranges, <int32_t>e[i].last)
        # The edges are in order and apart, as K_CHARS wants its pairs.
        chars = self.intern(K_CHARS, 0, n, 0, 0, self.ranges.data, 2 * n)
        return self.join(chars, e[0].next)

    cdef int flatten(self, size_t base, Kind kind) except -1 nogil:
        """Replace operands of this kind by their own operands."""
        cdef size_t i, n = self.items.length
        cdef Term* t
        for i in range(base, n):
            t = self.term(self.items.data[i])
            if t.kind == kind:
                reserve(&self.items, t.b)
                memcpy(self.items.data + self.items.length, self.cells.at(t.a), t.b * sizeof(int32_t))
                self.items.length += t.b
                self.items.data[i] = NONE if kind == K_OR else self.all
        return 0

    cdef size_t tidy(self, size_t base) noexcept nogil:
        """Sort the operands, drop doubles; how many are left."""
        cdef int32_t* x = self.items.data + base
        cdef size_t i, n = self.items.length - base, m = 0
        sort(x, n)
        for i in range(n):
            if m == 0 or x[m - 1] != x[i]:
                x[m] = x[i]
                m += 1
        self.items.length = base + m
        return m

    cdef bint opposed(self, size_t base) noexcept nogil:
        """Are a term and its complement among the (sorted) operands? With look-ahead they are no complements."""
        cdef size_t i, n = self.items.length - base
        cdef Term* t
        for i in range(n):
            t = self.term(self.items.data[base + i])
            if t.kind == K_NOT and not self.term(t.a).flags & OPEN and contains(self.items.data + base, n, t.a):
                return True
        return False

    cdef int32_t either_from(self, size_t base) except -1 nogil:
        """The union of the operands at base, which are taken from the stack."""
        cdef size_t i, n, m, classes
        cdef int32_t x, one = NONE
        cdef bint nullable, empty
        cdef Term* t
        if self.items.length == base + 2 and self.items.data[base] == self.items.data[base + 1]:
            self.items.length = base + 1
        while self.items.length > base + 1:
            self.flatten(base, K_OR)
            self.combined += self.items.length - base
            nullable = empty = False
            m, classes = base, 0
            self.ranges.length = 0
            for i in range(base, self.items.length):
                x = self.items.data[i]
                if x == self.all:
                    self.items.length = base
                    return self.all
                if x == EMPTY:
                    empty = True
                    continue
                t = self.term(x)
                if t.kind == K_CHARS:
                    classes, one = classes + 1, x
                    reserve(&self.ranges, 2 * t.b)
                    memcpy(self.ranges.data + self.ranges.length, self.cells.at(t.a), 2 * t.b * sizeof(int32_t))
                    self.ranges.length += 2 * t.b
                elif x != NONE:
                    nullable |= t.flags & (NULLABLE | LOCATED | OPEN) == NULLABLE
                    self.items.data[m] = x
                    m += 1
            self.items.length = m
            if classes:
                push(&self.items, one if classes == 1 else self.chars_from())
            if empty and not nullable:
                push(&self.items, EMPTY)
            n = self.tidy(base)
            if n > 1 and self.opposed(base):
                self.items.length = base
                return self.all
            if n < 2 or self.absorb(base) < 2 or not (self.merge_runs(base, 0) or self.merge_runs(base, 1)):
                break
        n = self.items.length - base
        self.items.length = base
        if n == 0:
            return NONE
        if n == 1:
            return self.items.data[base]
        return self.intern(K_OR, 0, <int32_t>n, 0, 0, self.items.data + base, <int32_t>n)

    cdef size_t absorb(self, size_t base) except 0 nogil:
        """Drop the (sorted) operands that are the rest of another one behind what may be empty; how many are left.

        Without it a chain of optional parts has a state for each set of places in it, as large as the chain.
        """
        cdef size_t i, k, n = self.items.length - base, m = base, dropped = self.spine.length
        cdef int32_t* x = self.items.data + base
        cdef const int32_t* operands
        cdef int32_t rest, step
        cdef Term* t
        for i in range(n):
            rest = x[i]
            for step in range(FARTHEST_REST):
                t = self.term(rest)
                if t.kind != K_CAT or self.term(t.a).flags & (NULLABLE | LOCATED | OPEN) != NULLABLE:
                    break
                rest = t.b
                if contains(x, n, rest):
                    push(&self.spine, rest)
                t = self.term(rest)
                if t.kind == K_OR and <size_t>t.b <= n + 1:
                    operands = <const int32_t*>self.cells.at(t.a)
                    for k in range(t.b):
                        if contains(x, n, operands[k]):
                            push(&self.spine, operands[k])
                if n <= FEW_OPERANDS:
                    for k in range(n):
                        if k != i and self.has_fewer(x[k], rest):
                            push(&self.spine, x[k])
        if self.spine.length > dropped:
            sort(self.spine.data + dropped, self.spine.length - dropped)
            for i in range(n):
                if not contains(self.spine.data + dropped, self.spine.length - dropped, x[i]):
                    self.items.data[m] = x[i]
                    m += 1
            self.spine.length = dropped
            self.items.length = m
        return self.items.length - base

    cdef bint has_fewer(self, int32_t a, int32_t b) noexcept nogil:
        """Are both of the form body{..} rest, the same but for the counts, and those of a within those of b?"""
        cdef Term* t = self.term(a)
        cdef Term* u = self.term(b)
        cdef int32_t one, other
        cdef uint64_t low, high, least, most
        if (t.b if t.kind == K_CAT else EMPTY) != (u.b if u.kind == K_CAT else EMPTY):
            return False
        self.copies(t.a if t.kind == K_CAT else a, &one, &low, &high)
        self.copies(u.a if u.kind == K_CAT else b, &other, &least, &most)
        return one == other and least <= low and high <= most and not self.term(one).flags & OPEN

    cdef bint merge_runs(self, size_t base, int form) except -1 nogil:
        """Merge alternatives that differ only in the counts of one repetition, where the counts leave no gap.

        Form 0: body{..} tail; form 1: head body{..} tail. Merged operands become NONE; were there any?
        """
        cdef size_t i, n = 0
        cdef int32_t x, r
        cdef Run run
        cdef Run* runs
        cdef Run* now
        cdef Term* t
        cdef bint merged = False, changed
        self.runs.length = 0
        for i in range(base, self.items.length):
            x = self.items.data[i]
            run.head = run.tail = EMPTY
            t = self.term(x)
            if form == 1:
                if t.kind != K_CAT:
                    continue
                run.head = t.a
                x = t.b
                t = self.term(x)
            if t.kind == K_CAT:
                run.tail = t.b
                x = t.a
                t = self.term(x)
            if t.kind != K_REPEAT or t.flags & OPEN:
                continue
            run.body, run.low, run.high, run.at = t.a, t.low, t.high, <int32_t>i
            reserve(&self.runs, WIDTH_RUN)
            memcpy(self.runs.data + self.runs.length, &run, sizeof(Run))
            self.runs.length += WIDTH_RUN
            n += 1
        if n == 0:
            return False
        runs = <Run*>self.runs.data
        if form == 0 and self.items.data[base] == EMPTY:        # nothing, or one copy and more
            for i in range(n):
                if runs[i].tail == EMPTY and runs[i].low == 1:
                    self.items.data[base] = NONE
                    self.items.data[runs[i].at] = self.times(runs[i].body, 0, runs[i].high)
                    return True
        if n == 1:
            return False
        qsort(runs, n, sizeof(Run), by_run)
        now = &runs[0]
        changed = False
        for i in range(1, n + 1):
            if i < n and runs[i].head == now.head and runs[i].body == now.body and runs[i].tail == now.tail and (
                    now.high == ENDLESS or runs[i].low <= now.high + 1):
                now.high = max(now.high, runs[i].high)
                self.items.data[runs[i].at] = NONE
                changed = merged = True
                continue
            if changed:
                r = self.times(now.body, now.low, now.high)
                r = self.join(r, now.tail)
                self.items.data[now.at] = self.join(now.head, r)
            if i < n:
                now = &runs[i]
                changed = False
        return merged

    cdef int32_t either_two(self, int32_t a, int32_t b) except -1 nogil:
        cdef size_t base = self.items.length
        if a == NONE or a == b:
            return b
        if b == NONE:
            return a
        push(&self.items, a)
        push(&self.items, b)
        return self.either_from(base)

    cdef int32_t both_from(self, size_t base) except -1 nogil:
        """The intersection of the operands at base, which are taken from the stack."""
        cdef size_t i, j, n, m, nots
        cdef int32_t x, y
        cdef uint8_t any_flags, all_flags
        cdef Term* t
        cdef Term* u
        cdef const uint32_t* p
        cdef const uint32_t* q
        cdef int32_t at, bt
        cdef uint32_t least, most
        while self.items.length > base + 1:
            self.flatten(base, K_AND)
            self.combined += self.items.length - base
            m, nots, any_flags, all_flags = base, 0, 0, NULLABLE
            for i in range(base, self.items.length):
                x = self.items.data[i]
                if x == NONE:
                    self.items.length = base
                    return NONE
                if x == self.all:
                    continue
                any_flags |= self.term(x).flags
                all_flags &= self.term(x).flags
                nots += self.term(x).kind == K_NOT
                self.items.data[m] = x
                m += 1
            self.items.length = m
            n = self.tidy(base)
            if n < 2:
                break
            if self.items.data[base] == EMPTY and not any_flags & LOCATED:
                self.items.length = base
                return EMPTY if all_flags & NULLABLE else NONE
            if self.opposed(base):
                self.items.length = base
                return NONE
            if nots > 1:                    # ~a & ~b = ~(a | b)
                m, j = base, self.items.length
                for i in range(base, j):
                    t = self.term(self.items.data[i])
                    if t.kind == K_NOT:
                        push(&self.items, t.a)
                    else:
                        self.items.data[m] = self.items.data[i]
                        m += 1
                x = self.either_from(j)
                x = self.negate(x)
                self.items.length = m
                push(&self.items, x)
                continue
            # Two classes of symbols, or two repetitions of one class: their intersection is of the same kind.
            x = NONE
            for i in range(base, self.items.length):
                t = self.term(self.items.data[i])
                if t.kind != K_CHARS and (t.kind != K_REPEAT or self.term(t.a).kind != K_CHARS):
                    continue
                for j in range(i + 1, self.items.length):
                    u = self.term(self.items.data[j])
                    if u.kind != t.kind or t.kind == K_REPEAT and u.a != t.a:
                        continue
                    if t.kind == K_REPEAT:
                        if max(t.low, u.low) > min(t.high, u.high):
                            self.items.length = base
                            return NONE
                        y = self.times(t.a, max(t.low, u.low), min(t.high, u.high))
                    else:
                        p, q = <const uint32_t*>self.cells.at(t.a), <const uint32_t*>self.cells.at(u.a)
                        at = bt = 0
                        self.ranges.length = 0
                        while at < t.b and bt < u.b:
                            if max(p[2 * at], q[2 * bt]) <= min(p[2 * at + 1], q[2 * bt + 1]):
                                push(&self.ranges, <int32_t>max(p[2 * at], q[2 * bt]))
                                push(&self.ranges, <int32_t>min(p[2 * at + 1], q[2 * bt + 1]))
                            if p[2 * at + 1] < q[2 * bt + 1]:
                                at += 1
                            else:
                                bt += 1
                        y = self.chars_from()
                    self.items.data[i], self.items.data[j] = y, self.all
                    x = EMPTY
                    break
                if x:
                    break
            if not x:
                break
        n = self.items.length - base
        self.items.length = base
        if n == 0:
            return self.all
        if n == 1:                          # a look-ahead in it sees no further: ~~x is more than x
            x = self.items.data[base]
            return self.negate(self.negate(x)) if self.term(x).flags & OPEN else x
        least, most = 0, MOST_SYMBOLS
        for i in range(base, base + n):
            t = self.term(self.items.data[i])
            least, most = max(least, t.least), min(most, t.most)
        if least > most:                    # one of them has only texts too long for another
            return NONE
        return self.intern(K_AND, 0, <int32_t>n, 0, 0, self.items.data + base, <int32_t>n)

    cdef int32_t both_two(self, int32_t a, int32_t b) except -1 nogil:
        cdef size_t base = self.items.length
        push(&self.items, a)
        push(&self.items, b)
        return self.both_from(base)

    cdef int32_t negate(self, int32_t a) except -1 nogil:
        cdef Term* t = self.term(a)
        if a == NONE:
            return self.all
        if a == self.all:
            return NONE
        if t.kind == K_NOT and not self.term(t.a).flags & OPEN:
            return t.a
        if a == EMPTY:                      # what is left of the bounds on a length is a bound, and positive
            return self.times(self.any, 1, ENDLESS)
        if t.kind == K_REPEAT and t.a == self.any:
            if t.high == ENDLESS:
                return self.times(self.any, 0, t.low - 1)
            if t.low == 0 and t.high < MOST_COPIES:
                return self.times(self.any, t.high + 1, ENDLESS)
        return self.intern(K_NOT, a, 0, 0, 0, NULL, 0)

    cdef int32_t join(self, int32_t a, int32_t b) except -1 nogil:
        """a, then b."""
        cdef size_t base
        cdef Term* t = self.term(a)
        if a == NONE or b == NONE:
            return NONE
        if a == EMPTY:
            return b
        if b == EMPTY:
            return a
        if t.kind != K_CAT:
            return self.link(a, b)
        base = self.spine.length
        while t.kind == K_CAT:
            push(&self.spine, t.a)
            a = t.b
            t = self.term(a)
        b = self.link(a, b)
        while self.spine.length > base:
            self.spine.length -= 1
            b = self.link(self.spine.data[self.spine.length], b)
        return b

    cdef int32_t link(self, int32_t a, int32_t b) except -1 nogil:
        """a, then b, where a is no concatenation. Neighbouring copies of one body are counted together."""
        cdef int32_t rest = EMPTY, next = b, body, other
        cdef uint64_t low, high, fewest, most
        if self.term(b).kind == K_CAT:
            rest, next = self.term(b).b, self.term(b).a
        if not self.term(next).flags & OPEN and self.copies(next, &other, &fewest, &most):
            self.copies(a, &body, &low, &high)
            if body == other:
                low += fewest
                high = ENDLESS if high == ENDLESS or most == ENDLESS else high + most
                if low <= MOST_COPIES and (high <= MOST_COPIES or high == ENDLESS):
                    a, b = self.times(body, <uint32_t>low, <uint32_t>high), rest
                    if b == EMPTY:
                        return a
        return self.intern(K_CAT, a, b, 0, 0, NULL, 0)

    cdef bint copies(self, int32_t a, int32_t* body, uint64_t* low, uint64_t* high) noexcept nogil:
        """What a repetition repeats, and how often, an optional term among them; false: it is none, so one copy of itself."""
        cdef Term* t = self.term(a)
        cdef const int32_t* operands
        body[0], low[0], high[0] = a, 1, 1
        if t.kind == K_REPEAT:
            body[0], low[0], high[0] = t.a, t.low, t.high
            return True
        if t.kind == K_OR and t.b == 2:
            operands = <const int32_t*>self.cells.at(t.a)
            if operands[0] == EMPTY:
                body[0], low[0] = operands[1], 0
                return True
        return False

    cdef int32_t times(self, int32_t a, uint32_t low, uint32_t high) except -1 nogil:
        """low to high copies of a."""
        cdef Term* t = self.term(a)
        cdef size_t base
        cdef uint64_t fewest, most
        cdef int32_t x
        cdef uint32_t i
        if high == 0:
            return EMPTY
        if a == NONE:
            return NONE if low else EMPTY
        if a == EMPTY or low == 1 and high == 1:
            return a
        if t.kind == K_OR and (<int32_t*>self.cells.at(t.a))[0] == EMPTY:
            low = 0
            if high > 1:        # (|a){0,n} = a{0,n}
                base = self.items.length
                reserve(&self.items, t.b)
                memcpy(self.items.data + base, (<int32_t*>self.cells.at(t.a)) + 1, (t.b - 1) * sizeof(int32_t))
                self.items.length += t.b - 1
                a = self.either_from(base)
                t = self.term(a)
        if t.flags & (NULLABLE | LOCATED | OPEN) == NULLABLE:
            low = 0
        if high == 1:
            return self.either_two(EMPTY, a)
        if t.kind == K_REPEAT and not t.flags & OPEN:
            # (b{m,n}){low,high} is one run of counts where m(k+1) <= nk + 1 for k = low, and so for all k above.
            if low == high or t.high == ENDLESS and (low > 0 or t.low <= 1) or (
                    t.high != ENDLESS and <uint64_t>t.low * (<uint64_t>low + 1) <= <uint64_t>t.high * low + 1):
                fewest = <uint64_t>t.low * low
                most = ENDLESS if t.high == ENDLESS or high == ENDLESS else <uint64_t>t.high * high
                if fewest <= MOST_COPIES and (most == ENDLESS or most <= MOST_COPIES):
                    return self.times(t.a, <uint32_t>fewest, <uint32_t>most)
        if t.flags & OPEN and low > 0:
            # A copy that may read nothing, if something holds around it, does not count; such copies are written out.
            x = self.still(a, 0)
            if x != NONE:
                if low > CONDITIONAL_COPIES:
                    with gil:
                        raise LimitError(f"more than {CONDITIONAL_COPIES} required copies of a look-ahead that may read nothing")
                x = self.times(a, 0, high if high == ENDLESS else high - low)
                for i in range(low):
                    x = self.join(a, x)
                return x
        return self.intern(K_REPEAT, a, 0, low, high, NULL, 0)

    cdef int32_t look(self, Kind kind, int32_t a) except -1 nogil:
        return NONE if a == NONE else EMPTY if a == self.all else self.intern(kind, a, 0, 0, 0, NULL, 0)

    # -- look-ahead -----------------------------------------------------------------------------------------------------
    cdef int32_t still(self, int32_t a, int depth) except -1 nogil:
        """The ways to read nothing in a: NONE, EMPTY or conditions."""
        cdef Term* t = self.term(a)
        cdef size_t base
        cdef int32_t i, x, y
        if depth > DEEPEST:
            with gil:
                raise LimitError(f"look-around nested deeper than {DEEPEST}")
        if not t.flags & (LOCATED | OPEN):
            return EMPTY if t.flags & NULLABLE else NONE
        if t.kind == K_CAT:
            x = self.still(t.a, depth + 1)
            if x == NONE:
                return NONE
            y = self.still(t.b, depth + 1)
            return self.join(x, y)
        if t.kind == K_OR:
            base = self.items.length
            for i in range(t.b):
                x = self.still((<int32_t*>self.cells.at(t.a))[i], depth + 1)
                push(&self.items, x)
            return self.either_from(base)
        if t.kind == K_REPEAT:
            return EMPTY if t.low == 0 else self.still(t.a, depth + 1)
        if t.kind == K_AHEAD or t.kind == K_BEHIND:
            return a
        return self.both_two(EMPTY, a)

    cdef int32_t moving(self, int32_t a, int depth) except -1 nogil:
        """The part of a that reads something."""
        cdef Term* t = self.term(a)
        cdef size_t base
        cdef int32_t i, x, y
        if depth > DEEPEST:
            with gil:
                raise LimitError(f"look-around nested deeper than {DEEPEST}")
        if not t.flags & (LOCATED | OPEN | NULLABLE):
            return a
        if t.kind == K_EMPTY or t.kind == K_AHEAD or t.kind == K_BEHIND:
            return NONE
        if t.kind == K_CAT:
            x = self.moving(t.a, depth + 1)
            x = self.join(x, t.b)
            y = self.still(t.a, depth + 1)
            if y != NONE:
                y = self.join(y, self.moving(t.b, depth + 1))
            return self.either_two(x, y)
        if t.kind == K_OR:
            base = self.items.length
            for i in range(t.b):
                x = self.moving((<int32_t*>self.cells.at(t.a))[i], depth + 1)
                push(&self.items, x)
            return self.either_from(base)
        if t.kind == K_REPEAT:
            if self.still(t.a, depth + 1) == NONE:
                if t.low > 0:
                    return a
                x = self.times(t.a, 0, t.high if t.high == ENDLESS else t.high - 1)
                return self.join(t.a, x)
            x = self.times(t.a, 0 if t.low < 2 else t.low - 1, t.high if t.high == ENDLESS else t.high - 1)
            y = self.moving(t.a, depth + 1)
            x = self.join(y, x)
            if t.low > 1:       # copies before the first that reads something
                y = self.join(self.still(t.a, depth + 1), y)
                y = self.join(y, self.times(t.a, 0, t.high if t.high == ENDLESS else t.high - 2))
                x = self.either_two(x, y)
            return x
        return self.both_two(a, self.join(self.any, self.all))

    cdef int32_t unfold(self, int32_t a, int32_t rest, int depth) except -1 nogil:
        """a, then rest, which is all that follows, without a look-ahead in its head."""
        cdef Term* t = self.term(a)
        cdef size_t base
        cdef int32_t i, x, y
        if depth > DEEPEST:
            with gil:
                raise LimitError(f"look-around nested deeper than {DEEPEST}")
        if not t.flags & OPEN:
            return self.join(a, rest)
        if t.kind == K_AHEAD:
            return self.both_two(t.a, rest)
        if t.kind == K_CAT:
            return self.unfold(t.a, self.join(t.b, rest), depth + 1)
        if t.kind == K_OR:
            base = self.items.length
            for i in range(t.b):
                x = self.unfold((<int32_t*>self.cells.at(t.a))[i], rest, depth + 1)
                push(&self.items, x)
            return self.either_from(base)
        # K_REPEAT. An optional copy that reads nothing adds nothing; a required one always reads (see `times`).
        x = self.times(t.a, 0 if t.low == 0 else t.low - 1, t.high if t.high == ENDLESS else t.high - 1)
        y = self.moving(t.a, depth + 1)
        y = self.unfold(y, self.join(x, rest), depth + 1)
        return self.either_two(rest, y) if t.low == 0 else y

    # -- derivatives ----------------------------------------------------------------------------------------------------
    cdef int derive(self, int32_t id) except -1 nogil:
        """See to it that the term has its edges; children first, on a stack of our own."""
        cdef size_t base = self.work.length
        cdef int32_t task
        if self.term(id).edge_count >= 0:
            return 0
        push(&self.work, id)
        while self.work.length > base:
            task = self.work.data[self.work.length - 1]
            if self.want(task):
                continue
            self.work.length -= 1
            if task >= 0:
                if self.term(task).edge_count < 0:
                    self.make_edges(task)
            elif self.term(~task).shift_count < 0:
                self.make_shifts(~task)
        return 0

    cdef bint request(self, int32_t id, bint shifts) except -1 nogil:
        """Put a missing list on the stack; was it missing?"""
        cdef Term* t = self.term(id)
        if shifts:
            if not t.flags & LOCATED or t.shift_count >= 0:
                return False
            push(&self.work, ~id)
        else:
            if t.edge_count >= 0:
                return False
            push(&self.work, id)
        return True

    cdef int want(self, int32_t task) except -1 nogil:
        """Request all lists that a list is made of: edges of a term (task = id) or its shifts (task = ~id)."""
        cdef bint shifts = task < 0
        cdef Term* t = self.term(~task if shifts else task)
        cdef Term* head
        cdef bint more = False
        cdef int32_t i
        cdef const int32_t* ids
        if (t.shift_count if shifts else t.edge_count) >= 0:
            return False
        if t.kind == K_OR or t.kind == K_AND:
            ids = <const int32_t*>self.cells.at(t.a)
            for i in range(t.b):
                more |= self.request(ids[i], shifts)
        elif shifts:
            if t.kind == K_BEHIND:
                return self.request(t.a, False)
            more = self.request(t.a, True)
            if t.kind == K_CAT:
                more |= self.request(t.b, True)
        elif t.kind == K_CAT or t.kind == K_REPEAT:
            head = self.term(t.a)
            if head.flags & OPEN:
                if t.unfolded < 0:
                    i = self.unfold(t.a, t.b, 0) if t.kind == K_CAT else self.unfold(task, EMPTY, 0)
                    if i == task:
                        with gil:
                            raise GrammarError("a look-ahead repeated in this way cannot be decided")
                    t.unfolded = i
                return self.request(t.unfolded, False)
            more = self.request(t.a, False)
            if t.kind == K_CAT:
                more |= self.request(t.b, True)
                if head.flags & NULLABLE:
                    more |= self.request(t.b, False)
            elif t.flags & LOCATED:
                more |= self.request(self.times(t.a, 0 if head.flags & NULLABLE or t.low == 0 else t.low - 1,
                                                t.high if t.high == ENDLESS else t.high - 1), True)
        elif t.kind == K_NOT:
            more = self.request(t.a, False)
        return more

    cdef Edge* keep(self, int32_t* count) except? NULL nogil:
        """Move the edges in `found` to where they stay."""
        cdef int32_t n = <int32_t>self.found.length, handle
        count[0] = n // WIDTH_EDGE
        if n == 0:
            return NULL
        handle = self.cells.add(n)
        memcpy(self.cells.at(handle), self.found.data, n * sizeof(int32_t))
        self.found.length = 0
        return <Edge*>self.cells.at(handle)

    cdef int emit(self, uint32_t first, uint32_t last, int32_t next, bint none_too) except -1 nogil:
        """Add an edge behind the others, one to NONE only where it is wanted."""
        cdef Edge* e
        if next == NONE and not none_too:
            return 0
        if self.found.length:
            e = <Edge*>(self.found.data + self.found.length) - 1
            if e.next == next and e.last + 1 == first:
                e.last = last
                return 0
        return push_edge(&self.found, first, last, next)

    cdef int gather(self, const Edge* edges, int32_t n, int32_t source) except -1 nogil:
        cdef int32_t i
        cdef Event* e
        if self.events.length // WIDTH_EVENT + n > MOST_EVENTS:
            with gil:
                raise LimitError(f"a state of a regular expression would need more than {MOST_EVENTS:,} edges")
        reserve(&self.events, <size_t>n * WIDTH_EVENT)
        e = <Event*>(self.events.data + self.events.length)
        for i in range(n):
            e[i].first, e[i].last, e[i].next, e[i].source = edges[i].first, edges[i].last, edges[i].next, source
        self.events.length += <size_t>n * WIDTH_EVENT
        return 0

    cdef int sweep(self, const Term* t, bint shift) except -1 nogil:
        """Cut the alphabet where any of the gathered edges begins or ends; combine the targets of each piece."""
        cdef size_t n = self.events.length // WIDTH_EVENT, i = 0, k, m
        cdef Event* e = <Event*>self.events.data
        cdef uint32_t at = 0, end
        cdef int32_t next
        self.active.length = 0
        if n and e[0].source != e[n - 1].source:
            qsort(e, n, sizeof(Event), by_first)
        while i < n or self.active.length:
            if self.active.length == 0:
                at = e[i].first
            while i < n and e[i].first == at:
                push(&self.active, <int32_t>i)
                i += 1
            end = e[i].first - 1 if i < n else self.top
            for k in range(self.active.length):
                end = min(end, e[self.active.data[k]].last)
            next = self.combine(t, shift)
            self.emit(at, end, next, shift)
            m = 0
            for k in range(self.active.length):
                if e[self.active.data[k]].last > end:
                    self.active.data[m] = self.active.data[k]
                    m += 1
            self.active.length = m
            at = end + 1
        return 0

    cdef int32_t combine(self, const Term* t, bint shift) except -1 nogil:
        """The term behind one piece of the alphabet, from the targets of the active edges."""
        cdef Event* events = <Event*>self.events.data
        cdef Event* e
        cdef size_t k, base
        cdef int32_t slot[3]
        cdef int32_t x, i
        cdef const int32_t* ids
        if t.kind == K_OR or t.kind == K_AND:
            if not shift and t.kind == K_AND and self.active.length < <size_t>t.b:
                return NONE
            base = self.items.length
            for k in range(self.active.length):
                push(&self.items, events[self.active.data[k]].next)
            if shift:
                ids = <const int32_t*>self.cells.at(t.a)
                for i in range(t.b):
                    if not self.term(ids[i]).flags & LOCATED:
                        push(&self.items, ids[i])
            return self.either_from(base) if t.kind == K_OR else self.both_from(base)
        slot[0] = slot[1] = slot[2] = -1
        for k in range(self.active.length):
            e = &events[self.active.data[k]]
            slot[e.source] = e.next
        if t.kind == K_CAT:
            if shift:
                return self.join(t.a if slot[0] < 0 else slot[0], t.b if slot[1] < 0 else slot[1])
            x = NONE if slot[0] < 0 else self.join(slot[0], t.b if slot[1] < 0 else slot[1])
            return x if slot[2] < 0 else self.either_two(x, slot[2])
        if t.kind == K_REPEAT:
            if shift:
                return self.times(slot[0], t.low, t.high)
            if slot[0] < 0:
                return NONE
            if slot[1] < 0:
                slot[1] = self.times(t.a, 0 if t.low == 0 or self.term(t.a).flags & NULLABLE else t.low - 1,
                                     t.high if t.high == ENDLESS else t.high - 1)
            return self.join(slot[0], slot[1])
        return self.negate(slot[0]) if t.kind == K_NOT else self.look(<Kind>t.kind, slot[0])

    cdef int make_edges(self, int32_t id) except -1 nogil:
        """All edges of a term whose children have theirs."""
        cdef Term* t = self.term(id)
        cdef Term* a
        cdef Term* b
        cdef int32_t i, n, rest
        cdef uint32_t at
        cdef Edge* e
        cdef const Table* table
        cdef const uint32_t* ranges
        cdef const int32_t* ids
        self.found.length = self.events.length = 0
        if t.unfolded >= 0:
            a = self.term(t.unfolded)
            t.edges, t.edge_count = a.edges, a.edge_count
            return 0
        if t.kind == K_CHARS:
            ranges = <const uint32_t*>self.cells.at(t.a)
            for i in range(t.b):
                push_edge(&self.found, ranges[2 * i], ranges[2 * i + 1], EMPTY)
        elif t.kind == K_STATE:
            table = <const Table*>self.tables.at(t.a)
            for i in range(table.first[t.b], table.first[t.b + 1]):
                n = self.state_of(t.a, table.edges[i].next)
                self.emit(table.edges[i].first, table.edges[i].last, n, False)
        elif t.kind == K_OR or t.kind == K_AND:
            ids = <const int32_t*>self.cells.at(t.a)
            for i in range(t.b):
                a = self.term(ids[i])
                self.gather(a.edges, a.edge_count, i)
            self.sweep(t, False)
        elif t.kind == K_CAT:
            a, b = self.term(t.a), self.term(t.b)
            self.gather(a.edges, a.edge_count, 0)
            if b.flags & LOCATED and a.edge_count:
                self.gather(b.shifts, b.shift_count, 1)
            if a.flags & NULLABLE:
                self.gather(b.edges, b.edge_count, 2)
            self.sweep(t, False)
        elif t.kind == K_REPEAT:
            a = self.term(t.a)
            self.gather(a.edges, a.edge_count, 0)
            if t.flags & LOCATED and a.edge_count:
                rest = self.times(t.a, 0 if a.flags & NULLABLE or t.low == 0 else t.low - 1,
                                  t.high if t.high == ENDLESS else t.high - 1)
                b = self.term(rest)
                self.gather(b.shifts, b.shift_count, 1)
            self.sweep(t, False)
        elif t.kind == K_NOT:
            a = self.term(t.a)
            at = 0
            for i in range(a.edge_count):
                e = &a.edges[i]
                if at < e.first:
                    self.fill_all(at, e.first - 1)
                n = self.negate(e.next)
                self.emit(e.first, e.last, n, False)
                at = e.last + 1
            if at <= self.top:
                self.fill_all(at, self.top)
        t.edges = self.keep(&n)
        t.edge_count = n
        return 0

    cdef int32_t state_of(self, int32_t table, int32_t state) except -1 nogil:
        """The term of a state of a table."""
        cdef const Table* t = <const Table*>self.tables.at(table)
        if t.accepts[state] == ACCEPTS_ALL:
            return self.all
        if t.first[state] == t.first[state + 1]:        # no state is dead
            return EMPTY
        return self.intern(K_STATE, table, state, 0, 0, NULL, 0)

    cdef int fill_all(self, uint32_t first, uint32_t last) except -1 nogil:
        """Edges to "every text" for the symbols of an interval; none for surrogates."""
        if self.top == 255 or last < 0xD800 or first > 0xDFFF:
            return self.emit(first, last, self.all, False)
        if first < 0xD800:
            self.emit(first, 0xD7FF, self.all, False)
        if last > 0xDFFF:
            self.emit(0xE000, last, self.all, False)
        return 0

    cdef int make_shifts(self, int32_t id) except -1 nogil:
        """What a term with look-behind is after one more symbol in front of it, for all symbols."""
        cdef Term* t = self.term(id)
        cdef Term* a
        cdef int32_t i, n, x
        cdef uint32_t at = 0
        cdef const int32_t* ids
        self.found.length = self.events.length = 0
        if t.kind == K_BEHIND:
            a = self.term(t.a)
            for i in range(a.edge_count):
                if at < a.edges[i].first:
                    self.emit(at, a.edges[i].first - 1, NONE, True)
                x = self.look(K_BEHIND, a.edges[i].next)
                self.emit(a.edges[i].first, a.edges[i].last, x, True)
                at = a.edges[i].last + 1
            if at <= self.top:
                self.emit(at, self.top, NONE, True)
        else:
            if t.kind == K_OR or t.kind == K_AND:
                ids = <const int32_t*>self.cells.at(t.a)
                for i in range(t.b):
                    a = self.term(ids[i])
                    if a.flags & LOCATED:
                        self.gather(a.shifts, a.shift_count, i)
            else:
                a = self.term(t.a)
                if a.flags & LOCATED:
                    self.gather(a.shifts, a.shift_count, 0)
                if t.kind == K_CAT:
                    a = self.term(t.b)
                    if a.flags & LOCATED:
                        self.gather(a.shifts, a.shift_count, 1)
            self.sweep(t, True)
        t.shifts = self.keep(&n)
        t.shift_count = n
        return 0

    # -- life -----------------------------------------------------------------------------------------------------------
    cdef bint live(self, int32_t id) except -1 nogil:
        """Is the language not empty? Breadth first through the derivatives; both answers are remembered.

        A text that is found makes all terms on the way to it LIVE; if there is none, every term that was met is DEAD.
        """
        cdef Term* t = self.term(id)
        cdef size_t head = 0, spent = 0
        cdef int32_t i, at
        cdef Term* u
        if t.flags & LIVE:
            return True
        if id == NONE or t.flags & DEAD:
            return False
        if self.dive(id):
            return True
        self.stamp += 1
        self.searches += 1
        self.queue.length = 0
        push(&self.queue, id)
        t.seen, t.parent = self.stamp, -1
        while head < self.queue.length:
            at = self.queue.data[head]
            head += 1
            self.derive(at)
            t = self.term(at)
            spent += 1 + t.edge_count
            self.visited += 1 + t.edge_count
            if spent > self.fuel:
                with gil:
                    raise LimitError(f"it takes more than {self.fuel:,} steps to find out whether any text matches; "
                                     "simplify the & and ~ or look-around of the expression or raise the limit")
            for i in range(t.edge_count):
                u = self.term(t.edges[i].next)
                if u.flags & LIVE:
                    while at >= 0:
                        t = self.term(at)
                        t.flags |= LIVE
                        at = t.parent
                    return True
                if u.flags & DEAD or u.seen == self.stamp:
                    continue
                u.seen, u.parent = self.stamp, at
                push(&self.queue, t.edges[i].next)
        for head in range(self.queue.length):
            self.term(self.queue.data[head]).flags |= DEAD
        return False

    cdef bint dive(self, int32_t id) except -1 nogil:
        """Looks for a text by always taking the derivative that may have the shortest one: mostly there is one on that way."""
        cdef Term* t = self.term(id)
        cdef int32_t i, at = id, next
        cdef size_t left = min(<size_t>2 * t.least + 16, min(<size_t>DEEPEST_DIVE, self.fuel))
        self.stamp += 1
        self.searches += 1
        t.parent = -1
        while left:
            left -= 1
            t = self.term(at)
            t.seen = self.stamp
            self.derive(at)
            self.visited += 1 + t.edge_count
            next = -1
            for i in range(t.edge_count):
                if not self.term(t.edges[i].next).flags & DEAD and (next < 0 or self.term(t.edges[i].next).least < self.term(next).least):
                    next = t.edges[i].next
            if next < 0 or self.term(next).seen == self.stamp:
                return False
            if self.term(next).flags & LIVE:
                while at >= 0:
                    t = self.term(at)
                    t.flags |= LIVE
                    at = t.parent
                return True
            self.term(next).parent = at
            at = next
        return False

    cdef int32_t find(self, int32_t state, uint32_t symbol) except -1 nogil:
        """`next` where the row has no final answer."""
        cdef Term* t = self.term(state)
        cdef int32_t i, next, low, high, handle
        cdef uint32_t c
        self.enter()
        self.derive(state)
        if t.row == NULL and t.edge_count > FEW and symbol < self.row_length:
            handle = self.rows.add(1)
            for i in range(t.edge_count):
                next = t.edges[i].next
                if not self.term(next).flags & LIVE:
                    next = ~next
                for c in range(t.edges[i].first, min(t.edges[i].last + 1, self.row_length)):
                    (<int32_t*>self.rows.at(handle))[c] = next
            t.row = <int32_t*>self.rows.at(handle)
        if t.row != NULL and symbol < self.row_length:
            next = t.row[symbol]
            if next < 0:
                next = ~next if self.live(~next) else NONE
                t.row[symbol] = next
            return next
        low, high = 0, t.edge_count
        while low < high:
            i = (low + high) // 2
            if t.edges[i].last < symbol:
                low = i + 1
            else:
                high = i
        if low == t.edge_count or t.edges[low].first > symbol:
            return NONE
        next = t.edges[low].next
        return next if self.live(next) else NONE

    cdef int32_t edges_at(self, int32_t state, const Edge** out) except -1 nogil:
        cdef Term* t = self.term(state)
        cdef int32_t i, n
        cdef bint dead = False
        self.enter()
        self.derive(state)
        if not t.flags & SETTLED:
            for i in range(t.edge_count):
                dead |= not self.live(t.edges[i].next)
            if dead:
                self.found.length = 0
                for i in range(t.edge_count):
                    if self.live(t.edges[i].next):
                        push_edge(&self.found, t.edges[i].first, t.edges[i].last, t.edges[i].next)
                t.edges = self.keep(&n)
                t.edge_count = n
            t.flags |= SETTLED
        out[0] = t.edges
        return t.edge_count

    cpdef int32_t step(self, int32_t state, uint32_t symbol) except -1 nogil:
        """The state after one more symbol: 0 exactly where no text of the language goes on so."""
        self.check(state)
        return self.next(state, symbol)

    cpdef bint accepts(self, int32_t state) except -1 nogil:
        """May the text end here?"""
        self.check(state)
        return self.term(state).flags & NULLABLE

    cpdef bint alive(self, int32_t state) except -1 nogil:
        """Is there any text in the language?"""
        self.check(state)
        self.enter()
        return self.live(state)

    # -- for Python -----------------------------------------------------------------------------------------------------
    def chars(self, ranges not None):
        """One symbol of any of the ranges.

        Parameters
        ----------
        ranges : iterable of (int, int)
            First and last symbol, both included, in any order; surrogates are left out over "chars".

        Raises
        ------
        ValueError
            A range that is empty or leaves the alphabet.
        """
        cdef uint32_t first, last
        cdef list given = list(ranges)
        self.enter()
        for first, last in given:
            if first > last or last > self.top:
                raise ValueError(f"{first}-{last} is no range of symbols from 0 to {self.top}")
            push(&self.ranges, <int32_t>first)
            push(&self.ranges, <int32_t>last)
        return self.chars_from()

    cdef int take(self, ids) except -1:
        """Put operands on the empty stack."""
        cdef int32_t id
        cdef list given = list(ids)         # before the stack is in use: the iterable may call this store
        self.enter()
        for id in given:
            self.check(id)
            push(&self.items, id)
        return 0

    def cat(self, ids not None):
        """The terms one after the other; EMPTY where there are none."""
        cdef int32_t x = EMPTY
        self.take(ids)
        while self.items.length:
            self.items.length -= 1
            x = self.join(self.items.data[self.items.length], x)
        return x

    def either(self, ids not None):
        """The texts of any of the terms; NONE where there are none."""
        self.take(ids)
        return self.either_from(0) if self.items.length else NONE

    def both(self, ids not None):
        """The texts that all terms share; every text where there are none."""
        self.take(ids)
        return self.both_from(0)

    def complement(self, int32_t id):
        """The texts that are not in the term."""
        self.check(id)
        self.enter()
        return self.negate(id)

    def repeat(self, int32_t id, low, high):
        """low to high copies of a term; high = None: no upper bound.

        Raises
        ------
        ValueError
            Where 0 <= low <= high does not hold.
        LimitError
            A count beyond 2,147,483,646.
        """
        self.check(id)
        self.enter()
        if low < 0 or high is not None and high < low:
            raise ValueError(f"no counts: {low} to {high}")
        if max(low, high or 0) > MOST_COPIES:
            raise LimitError(f"{max(low, high or 0):,} copies; at most {MOST_COPIES:,} can be counted")
        return self.times(id, low, ENDLESS if high is None else high)

    def ahead(self, int32_t id):
        """Reads nothing: what is left of the text, up to its end or that of the operand of both or complement, is in the term.

        ``(?=A)`` is ``ahead(cat([A, all]))`` and ``(?!A)`` is ``ahead(complement(cat([A, all])))``.
        """
        self.check(id)
        self.enter()
        return self.look(K_AHEAD, id)

    def looks_ahead(self, int32_t id):
        """Does the language depend on what follows? Inside of both and complement look-ahead sees no further than the operand."""
        self.check(id)
        return bool(self.term(id).flags & OPEN)

    def behind(self, int32_t id):
        """Reads nothing: all of the text before this place is in the term.

        ``(?<=A)`` is ``behind(cat([all, A]))`` and ``(?<!A)`` is ``behind(complement(cat([all, A])))``.

        Raises
        ------
        GrammarError
            A look-ahead in the term: it would look beyond this place.
        """
        self.check(id)
        self.enter()
        if self.term(id).flags & OPEN:
            raise GrammarError("a look-ahead inside of a look-behind is not supported")
        return self.look(K_BEHIND, id)

    def fan(self, edges not None, bint final=False):
        """A state of a given automaton: a symbol of an edge and then its term, or the empty text where final.

        Parameters
        ----------
        edges : iterable of (int, int, int)
            First symbol, last symbol, term; ascending and disjoint. The terms are free of look-around.
        """
        cdef uint32_t first, last
        cdef int32_t next
        cdef list given = list(edges)        # before anything is on the stacks: the iterable may call this store
        self.enter()
        for first, last, next in given:
            self.check(next)
            if first > last or last > self.top or self.found.length and (
                    <Edge*>(self.found.data + self.found.length) - 1).last >= first:
                raise ValueError("edges are ascending and disjoint")
            if self.top == LARGEST and first <= 0xDFFF and last >= 0xD800:
                raise ValueError("surrogates are in no language")
            if self.term(next).flags & (LOCATED | OPEN):
                raise ValueError("no look-around behind the edges of a fan")
            self.emit(first, last, next, False)
        return self.fan_from(0, final)

    def words(self, words not None):
        """The texts of a finite set, as a minimal acyclic automaton.

        Built from the sorted words in one pass (J. Daciuk et al., "Incremental construction of minimal acyclic finite-state
        automata", Computational Linguistics 2000); hash-consing makes it minimal.

        Parameters
        ----------
        words : iterable of str, bytes or sequences of int
            A str stands for its code points, over "bytes" for its UTF-8. Words with surrogates are in no language.
        """
        cdef Vector path, starts
        cdef const uint8_t* raw
        cdef Py_ssize_t i, n, shared
        cdef bytes code
        cdef list unique = sorted({self.symbols(word) for word in words} - {None})
        if not unique:
            return NONE
        self.enter()
        path.data = starts.data = NULL
        path.length = path.room = starts.length = starts.room = 0
        try:
            # starts[2d], starts[2d+1]: where the edges of the node at depth d begin in `found`, and whether a word ends there
            push(&starts, 0)
            push(&starts, 0)
            for word in unique:
                code = word if self.top == 255 else (<str>word).encode("utf-32-le")
                raw, n = code, len(code) if self.top == 255 else len(code) // 4
                shared = 0
                while shared < min(n, <Py_ssize_t>path.length) and path.data[shared] == self.symbol_at(raw, shared):
                    shared += 1
                while <Py_ssize_t>path.length > shared:
                    self.close(&path, &starts)
                for i in range(shared, n):
                    push(&path, self.symbol_at(raw, i))
                    push(&starts, <int32_t>self.found.length)
                    push(&starts, 0)
                starts.data[starts.length - 1] = True
            while path.length:
                self.close(&path, &starts)
            return self.fan_from(0, starts.data[1])
        finally:
            free(path.data)
            free(starts.data)

    cdef int32_t symbol_at(self, const uint8_t* raw, Py_ssize_t i) noexcept nogil:
        """Symbol i of a word in bytes, or in UTF-32."""
        return raw[i] if self.top == 255 else raw[4 * i] | raw[4 * i + 1] << 8 | raw[4 * i + 2] << 16

    cdef int close(self, Vector* path, Vector* starts) except -1:
        """Make a term of the deepest open node of a trie, and an edge to it."""
        cdef int32_t id = self.fan_from(starts.data[starts.length - 2], starts.data[starts.length - 1])
        cdef uint32_t c = <uint32_t>path.data[path.length - 1]
        cdef Edge* e
        path.length -= 1
        starts.length -= 2
        if self.found.length > <size_t>starts.data[starts.length - 2]:
            e = <Edge*>(self.found.data + self.found.length) - 1
            if e.next == id and e.last + 1 == c:
                e.last = c
                return 0
        return push_edge(&self.found, c, c, id)

    cdef object symbols(self, word):
        """A word as bytes, over "chars" as a str; None where it is in no language."""
        if self.top == 255:
            try:
                return word.encode() if isinstance(word, str) else bytes(word)
            except UnicodeEncodeError:      # a surrogate
                return None
        if not isinstance(word, str):
            word = "".join(map(chr, word))
        return word if word.isascii() or not any(0xD800 <= ord(c) <= 0xDFFF for c in word) else None

    def automaton(self, int32_t id, int32_t most):
        """All states of a term as a table, by which other stores need not find them again.

        Parameters
        ----------
        id : int
            A term with at least one text.
        most : int
            States.

        Raises
        ------
        ValueError
            The language is empty.
        LimitError
            There are more states.
        """
        cdef Automaton out = Automaton()
        cdef dict numbers = {id: 0}
        cdef list order = [id], heads, below
        cdef const Edge* e = NULL
        cdef int32_t state, i, n, total = 0
        if not self.alive(id):
            raise ValueError("the language is empty")
        for state in order:             # which grows meanwhile
            n = self.edges_at(state, &e)
            for i in range(n):
                if e[i].next not in numbers:
                    numbers[e[i].next] = len(order)
                    order.append(e[i].next)
            total += n
            if len(order) > most:
                raise LimitError(f"the automaton has more than {most:,} states")
        out.allocate(<int32_t>len(order), total, self.alphabet)
        heads, total = [[] for _ in order], 0
        for i, state in enumerate(order):
            out.first[i] = total
            out.accepts[i] = ACCEPTS_ALL if state == self.all else ACCEPTS if self.term(state).flags & NULLABLE else REFUSES
            out.most[i] = self.term(state).most
            for first, last, next in self.edges(state):
                next = numbers[next]
                out.edges[total].first, out.edges[total].last, out.edges[total].next = first, last, next
                (<list>heads[next]).append(i)
                total += 1
        out.first[out.states] = total
        # shortest texts: from the states that accept, against the edges
        below = [i for i in range(out.states) if out.accepts[i]]
        seen = set(below)
        for i in below:                 # which grows meanwhile
            for head in heads[i]:
                if head not in seen:
                    seen.add(head)
                    below.append(head)
                    out.least[<int32_t>head] = out.least[i] + 1
        out.seal()
        return out

    def take_over(self, Automaton automaton not None):
        """The term of the first state of a table. Its derivatives are there already: they are looked up."""
        cdef int32_t number
        if automaton.table.first == NULL or automaton.alphabet != self.alphabet:
            raise ValueError(f"no automaton over {self.alphabet!r}")
        known = self.automata.get(automaton.digest)
        if known is None:
            number = self.tables.add(1)
            (<Table*>self.tables.at(number))[0] = automaton.table
            known = self.automata[automaton.digest] = number, automaton
        self.enter()
        return self.state_of(known[0], 0)

    cdef Automaton automaton_at(self, int32_t number):
        for known, automaton in self.automata.values():
            if known == number:
                return automaton
        raise AssertionError(f"there is no automaton {number}")

    def edges(self, int32_t state):
        """All ways to go on: a list of (first symbol, last symbol, next state), ascending, disjoint, none of them dead."""
        cdef const Edge* e = NULL
        cdef int32_t i, n
        self.check(state)
        n = self.edges_at(state, &e)
        return [(e[i].first, e[i].last, e[i].next) for i in range(n)]

    def is_empty(self, int32_t id):
        """Is no text in the language? LimitError where the search takes more than the fuel."""
        return not self.alive(id)

    cdef list nearest_text(self, int32_t state):
        """A shortest text of a positive term: each symbol leads to a term whose shortest text is one symbol shorter."""
        cdef list word = []
        cdef uint32_t least = self.term(state).least
        if least > self.fuel:
            raise LimitError(f"a shortest text has {least:,} symbols; the limit is {self.fuel:,}")
        while least:
            least -= 1
            _, symbol, state = min((plainness(first, last), nicest(first, last), next) for first, last, next in self.edges(state)
                                   if self.term(next).least == least)
            word.append(symbol)
        return word

    def shortest(self, int32_t state):
        """A shortest text of the language as a list of symbols, of letters and printable ASCII where there is a choice.

        Raises
        ------
        ValueError
            There is no text.
        LimitError
            The search takes more than the fuel.
        """
        cdef size_t spent = 0
        self.check(state)
        if not self.alive(state):
            raise ValueError("the language is empty")
        if self.term(state).flags & POSITIVE:
            return self.nearest_text(state)
        # A* (Hart, Nilsson, Raphael 1968): `least` never promises more symbols than there are.
        came, cost, heap = {}, {state: 0}, [(self.term(state).least, 0, 0, state)]
        while True:
            _, depth, _, at = heapq.heappop(heap)
            depth = -depth
            if depth > cost[at]:
                continue
            if self.accepts(at):
                word = []
                while at in came:
                    at, symbol = came[at]
                    word.append(symbol)
                return word[::-1]
            edges = self.edges(at)
            spent += len(edges) + 1
            if spent > self.fuel:
                raise LimitError(f"a shortest text takes more than {self.fuel:,} steps to find")
            for taste, symbol, next in sorted((plainness(first, last), nicest(first, last), next) for first, last, next in edges):
                if depth + 1 < cost.get(next, MOST_SYMBOLS):
                    came[next], cost[next] = (at, symbol), depth + 1
                    heapq.heappush(heap, (depth + 1 + self.term(next).least, -depth - 1, taste, next))

    def stats(self):
        """Counters: terms, states with rows, bytes taken from the budget, searches for a text, edges that they looked at."""
        return {"terms": self.terms.length, "rows": self.rows.length, "bytes": self.budget.used,
                "searches": self.searches, "visited": self.visited}

    def digest(self, int32_t id):
        """What the term is, whatever the store: 16 bytes (BLAKE2b, RFC 7693), the same for equal terms of any two stores.

        Cost: once for each term below it.
        """
        cdef Term* t
        cdef list todo = [id], below, own
        cdef int32_t top, i
        self.check(id)
        while todo:
            top = todo[len(todo) - 1]
            if top in self.digests:
                todo.pop()
                continue
            t = self.term(top)
            own, below = [], []
            if t.kind == K_CHARS:
                own = [(first, last) for first, last, _ in self.edges(top)]
            elif t.kind == K_FAN:
                own = [(e.first, e.last) for e in t.edges[:t.b]]
                below = [e.next for e in t.edges[:t.b]]
            elif t.kind == K_OR or t.kind == K_AND:
                below = [i for i in (<int32_t*>self.cells.at(t.a))[:t.b]]
            elif t.kind == K_CAT:
                below = [t.a, t.b]
            elif t.kind == K_STATE:
                own = [self.automaton_at(t.a).digest, t.b]
            elif t.kind != K_NONE and t.kind != K_EMPTY:
                below = [t.a]
            missing = [i for i in below if i not in self.digests]
            if missing:
                todo += missing
                continue
            todo.pop()
            parts = [self.digests[i] for i in below]
            if t.kind == K_OR or t.kind == K_AND:       # their order is that of the ids
                parts.sort()
            text = repr((t.kind, t.low, t.high, own)).encode() + b"".join(parts)
            self.digests[top] = hashlib.blake2b(text, digest_size=16).digest()
        return self.digests[id]

    def show(self, int32_t id, int depth=20):
        """A term as nested tuples, for people: ("cat", ...), ("repeat", term, low, high), ...; "..." below the depth."""
        cdef Term* t
        cdef int32_t i
        self.check(id)
        if depth <= 0:
            return "..."
        t = self.term(id)
        if t.kind == K_NONE or t.kind == K_EMPTY:
            return ("none" if t.kind == K_NONE else "empty",)
        if t.kind == K_CHARS:
            return ("chars", *((first, last) for first, last, _ in self.edges(id)))
        if t.kind == K_FAN:
            return ("fan", bool(t.low), *((e.first, e.last, self.show(e.next, depth - 1)) for e in t.edges[:t.b]))
        if t.kind == K_OR or t.kind == K_AND:
            return ("either" if t.kind == K_OR else "both", *(self.show(i, depth - 1) for i in (<int32_t*>self.cells.at(t.a))[:t.b]))
        if t.kind == K_CAT:
            return ("cat", self.show(t.a, depth - 1), self.show(t.b, depth - 1))
        if t.kind == K_REPEAT:
            return ("repeat", self.show(t.a, depth - 1), t.low, None if t.high == ENDLESS else t.high)
        if t.kind == K_STATE:
            return ("state", t.b, "of", self.automaton_at(t.a).digest.hex())
        return ({K_NOT: "complement", K_AHEAD: "ahead", K_BEHIND: "behind"}[t.kind], self.show(t.a, depth - 1))


NICE = [(0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x20, 0x7E)]


def nicest(first, last):
    """The symbol to show of an interval."""
    for low, high in NICE:
        if first <= high and last >= low:
            return max(first, low)
    return first


def plainness(first, last):
    """Rank of an interval by the nicest symbol in it, 0 = a small letter."""
    for rank, (low, high) in enumerate(NICE):
        if first <= high and last >= low:
            return rank
    return len(NICE)
