"""Regular expressions as hash-consed terms. The states of their automata are terms too, made by derivatives on demand.

A term has one id (int32) for the life of its store; ids 0 and 1 are NONE and EMPTY. Whatever makes terms, rows or edges
needs the lock of the compiled grammar. `next` where it finds its row entry and `accepts` read records that never move.
"""
cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport UINT32_MAX as ENDLESS      # no upper bound of a repetition
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from llgcy.core.store cimport FIRST_BITS, Arena, Budget, Index, top_bit

cdef enum:
    NONE = 0                # the language without any text
    EMPTY = 1               # the language of the empty text alone

cdef enum:
    MOST_SYMBOLS = 0x7FFFFFFF

cdef enum Kind:
    K_NONE
    K_EMPTY
    K_CHARS                 # one symbol; payload: b pairs (first, last), ascending, with gaps between them
    K_FAN                   # the empty text where low = 1, or a symbol of an edge and then its term; payload: b Edges
    K_CAT                   # a, then b; a is no K_CAT
    K_OR                    # payload: b >= 2 ids, ascending, no K_OR among them
    K_AND                   # payload: b >= 2 ids, ascending, no K_AND among them
    K_NOT                   # the texts that are not in a; ~~x stands only where x is OPEN, which it closes
    K_REPEAT                # low to high copies of a; never {1,1}, and {0,1} is a K_OR with EMPTY
    K_AHEAD                 # reads nothing; what is left of the text (or of the operand of & or ~ it is in) is in a
    K_BEHIND                # reads nothing; the text before this place was in a, as a stood at the start of the text
    K_STATE                 # what state b of the automaton with number a in `tables` accepts; neither EMPTY nor every text

cdef enum Flag:
    NULLABLE = 1            # the empty text is in the language
    POSITIVE = 2            # no &, ~ or look-around inside: not empty, since no constructor lets NONE stand in a term
    LOCATED = 4             # K_BEHIND inside: the term changes with every symbol read before it
    OPEN = 8                # K_AHEAD inside, outside of & and ~: the language depends on what follows
    LIVE = 16               # known to be not empty; set at creation or by a search
    DEAD = 32               # known to be empty, found by a search
    SETTLED = 64            # all targets of its edges are LIVE
    PADDED = 128            # known at creation: a text of the language with any symbols behind it is in the language

cdef struct Edge:
    uint32_t first          # symbols, both ends included
    uint32_t last
    int32_t next            # the term after any of them

cdef struct Term:
    uint8_t kind            # Kind
    uint8_t flags           # set of Flag
    uint8_t roams           # known at creation: every text of symbols is the beginning of a text of the language
    int32_t edge_count      # -1: edges not made yet
    int32_t a               # child, or handle of the payload in `cells`
    int32_t b               # second child, or number of elements of the payload
    uint32_t low            # K_REPEAT: fewest copies; K_FAN: see there
    uint32_t high           # K_REPEAT: most copies, or ENDLESS
    Edge* edges             # the derivatives, ascending and disjoint, NONE left out; owner `cells`
    int32_t* row            # NULL or row_length targets: >= 0 final, ~target where its life is not known; owner `rows`
    Edge* shifts            # LOCATED only: the term after one more symbol before it, for all symbols; owner `cells`
    int32_t shift_count     # -1: shifts not made yet
    int32_t unfolded        # OPEN heads: the same language without one, -1: not made yet
    uint32_t least          # symbols of a shortest text, at most MOST_SYMBOLS; where not POSITIVE a lower bound
    uint32_t most           # an upper bound on the symbols of any text, MOST_SYMBOLS: none is known
    uint32_t seen           # number of the last search that met the term
    int32_t parent          # where that search came from, -1: its start

cdef enum Acceptance:
    REFUSES = 0
    ACCEPTS = 1
    ACCEPTS_ALL = 2         # whatever follows

cdef struct Table:          # an automaton as stores read it; owner: the Automaton
    const int32_t* first    # states + 1: the edges of state s are edges[first[s] .. first[s + 1])
    const Edge* edges       # ascending and disjoint for each state; next is a state
    const uint8_t* accepts  # Acceptance, by state
    const uint32_t* least   # symbols of a shortest text, by state, exact
    const uint32_t* most    # an upper bound on the symbols of any text, by state, as in Term

@cython.final
cdef class Automaton:
    """All states of a term, none of them dead. It belongs to no store, never changes, and may be read by any thread."""
    cdef readonly int32_t states
    cdef readonly str alphabet
    cdef readonly bytes digest      # of its content
    cdef Table table
    cdef int32_t* first             # the memory behind the table, owned
    cdef Edge* edges
    cdef uint8_t* accepts
    cdef uint32_t* least
    cdef uint32_t* most
    # Makes room; what fills it calls seal(), which makes the digest and shows the table.
    cdef int allocate(self, int32_t states, int32_t edges, str alphabet) except -1
    cdef int seal(self) except -1

cdef struct Event:          # an edge of one of the lists that are swept together
    uint32_t first
    uint32_t last
    int32_t next
    int32_t source          # which list, >= 0

cdef struct Vector:         # scratch memory of the store, in int32; empty at every entry
    int32_t* data
    size_t length
    size_t room

@cython.final
cdef class Regexes:
    cdef readonly Budget budget
    cdef readonly str alphabet      # "bytes" or "chars"
    cdef readonly int32_t any       # any one symbol
    cdef readonly int32_t all       # any text
    cdef readonly size_t fuel       # edges that one search for a text may look at
    cdef readonly size_t searches   # searches made so far
    cdef size_t combined            # operands of unions and intersections put in order so far
    cdef readonly size_t visited    # edges looked at by all of them
    cdef Arena terms                # of Term
    cdef Arena cells                # of int32: payloads, edges, shifts
    cdef Arena rows                 # of row_length int32
    cdef Arena tables               # of Table
    cdef dict automata              # by digest: (number in `tables`, the Automaton)
    cdef Index index                # from the content of a term to its id
    cdef uint32_t row_length        # symbols that rows cover: 256, or 128 (ASCII) for chars
    cdef uint32_t top               # largest symbol
    cdef uint32_t stamp             # number of the last search
    cdef Vector items               # stack of operands
    cdef Vector spine               # stack of the parts of a concatenation
    cdef Vector work                # stack of terms whose edges are wanted
    cdef Vector queue               # of a search
    cdef Vector found               # Edges in the making
    cdef Vector events              # of Event
    cdef Vector active              # indexes into events
    cdef Vector ranges              # pairs (first, last)
    cdef Vector runs                # of Run: repetitions that might merge
    cdef dict digests               # term id: its digest, where it was asked for

    cdef inline Term* term(self, int32_t id) noexcept nogil:
        cdef uint64_t x = <uint64_t>id + (1 << FIRST_BITS)
        cdef int bit = top_bit(x)
        return <Term*>self.terms.chunks[bit - FIRST_BITS] + (x - (<uint64_t>1 << bit))

    # The derivative of a term, unchecked: NONE exactly where no text of the language goes on so.
    cdef inline int32_t next(self, int32_t state, uint32_t symbol) except -1 nogil:
        cdef int32_t* row = self.term(state).row
        if row != NULL and symbol < self.row_length and row[symbol] >= 0:
            return row[symbol]
        return self.find(state, symbol)

    cpdef int32_t step(self, int32_t state, uint32_t symbol) except -1 nogil        # `next`, with the id checked
    cpdef bint accepts(self, int32_t state) except -1 nogil
    cpdef bint alive(self, int32_t state) except -1 nogil
    # The live derivatives: how many, and where they are; the array stays as it is for the life of the store.
    cdef int32_t edges_at(self, int32_t state, const Edge** out) except -1 nogil

    cdef int check(self, int32_t id) except -1 nogil
    cdef void enter(self) noexcept nogil
    cdef int32_t intern(self, Kind kind, int32_t a, int32_t b, uint32_t low, uint32_t high, const int32_t* payload, int32_t n) except -1 nogil
    cdef uint8_t flags_of(self, const Term* t) noexcept nogil
    cdef bint padded(self, const Term* t) noexcept nogil
    cdef bint roaming(self, const Term* t) noexcept nogil
    cdef bint dive(self, int32_t id) except -1 nogil
    cdef list nearest_text(self, int32_t state)
    cdef uint32_t least_of(self, const Term* t) noexcept nogil
    cdef uint32_t most_of(self, const Term* t) noexcept nogil
    cdef int32_t chars_from(self) except -1 nogil
    cdef int32_t fan_from(self, size_t base, bint final) except -1 nogil
    cdef int32_t either_from(self, size_t base) except -1 nogil
    cdef int32_t either_two(self, int32_t a, int32_t b) except -1 nogil
    cdef int32_t both_from(self, size_t base) except -1 nogil
    cdef int32_t both_two(self, int32_t a, int32_t b) except -1 nogil
    cdef int32_t negate(self, int32_t a) except -1 nogil
    cdef int32_t join(self, int32_t a, int32_t b) except -1 nogil
    cdef int32_t link(self, int32_t a, int32_t b) except -1 nogil
    cdef bint copies(self, int32_t a, int32_t* body, uint64_t* low, uint64_t* high) noexcept nogil
    cdef int32_t times(self, int32_t a, uint32_t low, uint32_t high) except -1 nogil
    cdef int32_t look(self, Kind kind, int32_t a) except -1 nogil
    cdef int flatten(self, size_t base, Kind kind) except -1 nogil
    cdef size_t tidy(self, size_t base) noexcept nogil
    cdef bint opposed(self, size_t base) noexcept nogil
    cdef size_t absorb(self, size_t base) except 0 nogil
    cdef bint has_fewer(self, int32_t a, int32_t b) noexcept nogil
    cdef bint merge_runs(self, size_t base, int form) except -1 nogil
    cdef int32_t still(self, int32_t a, int depth) except -1 nogil
    cdef int32_t moving(self, int32_t a, int depth) except -1 nogil
    cdef int32_t unfold(self, int32_t a, int32_t rest, int depth) except -1 nogil
    cdef int derive(self, int32_t id) except -1 nogil
    cdef int want(self, int32_t task) except -1 nogil
    cdef bint request(self, int32_t id, bint shifts) except -1 nogil
    cdef int make_edges(self, int32_t id) except -1 nogil
    cdef int32_t state_of(self, int32_t table, int32_t state) except -1 nogil
    cdef int fill_all(self, uint32_t first, uint32_t last) except -1 nogil
    cdef int make_shifts(self, int32_t id) except -1 nogil
    cdef int gather(self, const Edge* edges, int32_t n, int32_t source) except -1 nogil
    cdef int sweep(self, const Term* t, bint shift) except -1 nogil
    cdef int32_t combine(self, const Term* t, bint shift) except -1 nogil
    cdef int emit(self, uint32_t first, uint32_t last, int32_t next, bint none_too) except -1 nogil
    cdef Edge* keep(self, int32_t* count) except? NULL nogil
    cdef bint live(self, int32_t id) except -1 nogil
    cdef int32_t find(self, int32_t state, uint32_t symbol) except -1 nogil
    cdef int take(self, ids) except -1
    cdef int close(self, Vector* path, Vector* starts) except -1
    cdef int32_t symbol_at(self, const uint8_t* raw, Py_ssize_t i) noexcept nogil
    cdef object symbols(self, word)
    cdef Automaton automaton_at(self, int32_t number)
