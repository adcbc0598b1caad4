"""Joint states of lexemes; see lexer.pxd."""
cimport cython
from libc.stdlib cimport calloc, free, qsort, realloc
from libc.string cimport memcmp, memcpy

from llgcy.core.lock cimport atomic_store
from llgcy.core.regex cimport EMPTY
from llgcy.core.store cimport hash_bytes
from llgcy.core.tables cimport CUTS
from llgcy.errors import LimitError

cdef enum:
    MAX_PARTS = 1 << 20         # of one joint state
    NO_RANK = -CUTS - 1         # instead of a rank: all the same


cdef int by_part(const void* x, const void* y) noexcept nogil:
    cdef const Part* a = <const Part*>x
    cdef const Part* b = <const Part*>y
    return (a.lexeme > b.lexeme) - (a.lexeme < b.lexeme) or (a.leaf > b.leaf) - (a.leaf < b.leaf)


@cython.final
cdef class Lexer:
    """The joint states of the lexemes of one grammar.

    Parameters
    ----------
    lexemes : sequence
        Their term ids in `regexes`; what is no int is read by something else.
    regexes : Regexes, optional
        Over bytes. None where no lexeme is a regex.
    budget : Budget
        Pays for the joint states.
    tables : GrammarTables, optional
        Where the lexemes come from and have ranks.
    """

    def __cinit__(self, lexemes, Regexes regexes, Budget budget not None, GrammarTables tables=None):
        self.regexes, self.n_lexemes, self.tables = regexes, len(lexemes), tables
        self.terms = <int32_t*>calloc(self.n_lexemes + 1, sizeof(int32_t))
        if self.terms == NULL:
            raise MemoryError()
        for i, lexeme in enumerate(lexemes):
            if isinstance(lexeme, int):
                if tables is not None and tables.ranks != NULL and tables.ranks[i] == CUTS and regexes.accepts(lexeme):
                    lexeme = regexes.both([lexeme, regexes.cat([regexes.any, regexes.all])])      # nothing ends before it has begun
                self.terms[i] = lexeme
        self.joints, self.nexts = Arena(budget, sizeof(Joint)), Arena(budget, 256 * sizeof(int32_t))
        self.parts, self.ints = Arena(budget, sizeof(Part)), Arena(budget, sizeof(int32_t))
        self.index = Index(budget)
        self.joints.add(1)                                            # number 0 is no state
        self.nexts.add(1)

    def __dealloc__(self):
        free(self.scratch)
        free(self.terms)

    cdef void begin(self) noexcept nogil:
        self.length = 0

    cdef int add(self, int32_t lexeme, int32_t leaf) except -1 nogil:
        cdef Part* data
        cdef int32_t room
        if self.length == self.room:
            if self.length >= MAX_PARTS:
                with gil:
                    raise LimitError(f"more than {MAX_PARTS:,} ways to read one text as lexemes")
            room = 2 * self.room + 16
            data = <Part*>realloc(self.scratch, room * sizeof(Part))
            if data == NULL:
                with gil:
                    raise MemoryError()
            self.scratch, self.room = data, room
        self.scratch[self.length] = Part(lexeme, leaf)
        self.length += 1
        return 0

    cdef int add_all(self, int32_t handle) except -1 nogil:
        cdef const Joint* j = self.joint(handle)
        cdef const Part* parts = <const Part*>self.parts.at(j.parts)
        cdef int32_t i
        for i in range(j.n_parts):
            self.add(parts[i].lexeme, parts[i].leaf)
        return 0

    cdef int32_t made(self) except -1 nogil:
        cdef int32_t i, n = 0, at, ended = 0, rank = NO_RANK
        cdef bint open = False
        cdef uint64_t hash
        cdef Probe probe
        cdef Joint* j
        cdef const Edge* edges = NULL
        if self.length == 0:
            return NOTHING
        qsort(self.scratch, self.length, sizeof(Part), by_part)
        for i in range(self.length):
            if n == 0 or by_part(&self.scratch[i], &self.scratch[n - 1]):
                self.scratch[n] = self.scratch[i]
                n += 1
        if self.tables is not None and self.tables.ranks != NULL:
            n = self.ranked(n, &rank)
        hash = hash_bytes(self.scratch, n * sizeof(Part))
        self.index.begin(hash, &probe)
        while True:
            at = self.index.next(&probe)
            if at < 0:
                break
            j = <Joint*>self.joints.at(at)
            if j.n_parts == n and memcmp(self.parts.at(j.parts), self.scratch, n * sizeof(Part)) == 0:
                return j.handle
        for i in range(n):
            ended += self.ends(i, rank)
            open = open or self.regexes.edges_at(self.scratch[i].leaf, &edges) > 0
        at = self.joints.add(1)
        while self.nexts.length <= at:                                # once, unless the budget failed in between before
            self.nexts.add(1)
        j = <Joint*>self.joints.at(at)
        j.n_parts, j.parts = n, self.parts.add(n)
        memcpy(self.parts.at(j.parts), self.scratch, n * sizeof(Part))
        if ended:
            j.ended = self.ints.add(ended)
            for i in range(n):
                if self.ends(i, rank):
                    if j.n_ended == 0 or (<int32_t*>self.ints.at(j.ended))[j.n_ended - 1] != self.scratch[i].lexeme:
                        (<int32_t*>self.ints.at(j.ended))[j.n_ended] = self.scratch[i].lexeme
                        j.n_ended += 1
        j.handle = at << NUMBER | (ENDED if ended else 0) | (OPEN if open else 0)
        self.index.add(hash, at)
        self.states += 1
        return j.handle

    cdef inline bint ends(self, int32_t i, int32_t rank) except -1 nogil:
        """Does part i of the scratch end, as far as ranks below `rank` do not count?"""
        return self.regexes.accepts(self.scratch[i].leaf) and (rank == NO_RANK or self.tables.ranks[self.scratch[i].lexeme] == rank)

    cdef int32_t ranked(self, int32_t n, int32_t* rank) except -1 nogil:
        """The highest rank of the parts that end, NO_RANK where none does; how many parts are left."""
        cdef int32_t i, k = 0, one
        for i in range(n):
            if self.regexes.accepts(self.scratch[i].leaf):
                one = self.tables.ranks[self.scratch[i].lexeme]
                if rank[0] == NO_RANK or one > rank[0]:
                    rank[0] = one
        if rank[0] != CUTS:
            return n
        for i in range(n):
            if self.ends(i, CUTS) and (k == 0 or self.scratch[k - 1].lexeme != self.scratch[i].lexeme):
                self.scratch[k] = Part(self.scratch[i].lexeme, EMPTY)
                k += 1
        return k

    cdef int fill(self, int32_t handle) except -1 nogil:
        cdef Joint* j = self.joint(handle)
        cdef const Part* parts = <const Part*>self.parts.at(j.parts)
        cdef int32_t* row = <int32_t*>self.nexts.at(handle >> NUMBER)
        cdef uint8_t cut[257]                                         # 1: another range of bytes begins
        cdef const Edge* edges = NULL
        cdef int32_t i, k, n, byte, leaf, to = NOTHING
        for byte in range(257):
            cut[byte] = byte == 0
        for i in range(j.n_parts):
            n = self.regexes.edges_at(parts[i].leaf, &edges)
            for k in range(n):
                cut[edges[k].first] = cut[edges[k].last + 1] = 1
        for byte in range(256):
            if cut[byte]:
                self.begin()
                for i in range(j.n_parts):
                    leaf = self.regexes.next(parts[i].leaf, byte)
                    if leaf:
                        self.add(parts[i].lexeme, leaf)
                to = self.made()
            atomic_store(&row[byte], to)         # readers without the lock find all of `to` made
        return 0

    cdef int32_t open_part(self, int32_t handle) except -1 nogil:
        cdef Joint* j = self.joint(handle)
        cdef const Part* parts = <const Part*>self.parts.at(j.parts)
        cdef const Edge* edges = NULL
        cdef int32_t i
        if j.open == 0:
            self.begin()
            for i in range(j.n_parts):
                if self.regexes.edges_at(parts[i].leaf, &edges) > 0:
                    self.add(parts[i].lexeme, parts[i].leaf)
            j.open = self.made()
        return j.open

    # -- for Python ----------------------------------------------------------------------------------------------------------
    def start(self, lexemes):
        """The state where any of some lexemes may start; 1 where no text is left."""
        self.begin()
        for lexeme in lexemes:
            if not 0 <= lexeme < self.n_lexemes or self.terms[lexeme] == 0:
                raise ValueError(f"there is no lexeme {lexeme}")
            self.add(lexeme, self.terms[lexeme])
        return self.made()

    def after(self, int32_t handle, bytes text not None):
        """The state after some bytes; 1 where no lexeme goes on so."""
        cdef uint8_t byte
        for byte in text:
            if handle == NOTHING:
                break
            handle = self.next(self.checked(handle), byte)
        return handle

    def ended(self, int32_t handle):
        """Lexemes that may end in a state."""
        cdef Joint* j = self.joint(self.checked(handle))
        return [(<int32_t*>self.ints.at(j.ended))[i] for i in range(j.n_ended)]

    def leaves(self, int32_t handle):
        """[(lexeme, term id of what is left of it)] of a state."""
        cdef Joint* j = self.joint(self.checked(handle))
        out = []
        for i in range(j.n_parts):
            part = (<Part*>self.parts.at(j.parts))[i]
            out.append((part.lexeme, part.leaf))
        return out

    cdef int32_t checked(self, int32_t handle) except -1:
        if not 0 < handle >> NUMBER < self.joints.length or self.joint(handle).handle != handle:
            raise ValueError(f"there is no state {handle}")
        return handle
