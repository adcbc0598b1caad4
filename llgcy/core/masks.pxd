"""Token masks: how they are computed, and where they are remembered."""
cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp
from llgcy.core.classify cimport Classification
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport MISS, RUN, Machine, Split
from llgcy.core.shelf cimport Mask, Shelf
from llgcy.core.state cimport ALIVE, DEAD, Leaf, State
from llgcy.core.trie cimport Trie, Vocabulary

cdef struct Tokens:         # a list that grows
    int32_t* ids            # owned
    int32_t length
    int32_t room

@cython.final
cdef class Work:
    """One computation: its scratch memory, and its hold on the lock. At one time it is one thread's."""
    cdef Machine machine
    cdef Vocabulary vocabulary
    cdef Lock lock                  # of the machine
    cdef int32_t held               # steps for which the lock is still kept; 0: it is not held
    cdef Mask mask                  # in the making; its lists are those below
    cdef Tokens sets, clears, asks
    cdef Tokens adds                # tokens to put that came up while clears were collected
    cdef uint32_t* marks            # a dense set of tokens, zero between uses; owned
    cdef State* stack               # of the walk, one state a byte of the longest token; owned
    cdef State* plain               # of the walk by difference; owned
    cdef uint64_t* telling          # of the walk by difference: at each depth the bytes that matter, four words; owned
    cdef uint64_t* coming           # of the walk: at each depth the bytes that may come, four words; owned
    cdef int32_t* ends              # where the subtree at each depth ends; owned
    cdef Classification by          # that the mask is made from
    cdef bytes leaves               # at the end of its paths; None: it is that of free strings
    cdef const Leaf* ends_of        # the same as an array
    cdef object owner               # what the mask's base stands in
    cdef Split split                # how the lexeme is sorted out
    cdef int kind                   # what Machine.split() said; -1: it was not asked yet
    cdef bint sorted                # `by`, `leaves`, `owner` and the mask's base are those of `split`
    cdef bint later                 # the mask is not to be remembered by the thread that makes it
    cdef bint made                  # ... and it has been made: Masks.publish() is to be called
    cdef Shelf young, old           # where masks are looked up
    cdef Shelf shelf                # where this one was put
    cdef State ending, ended        # of ticked(): the state that was asked for last, and the one at the end of the token
    cdef int end                    # ... what it said, DEAD: nothing that is kept
    cdef int64_t walks, walked, classified, differences, asked      # counters, see Masks.stats()

    # Takes the lock, where it is not held, for RUN steps.
    cdef inline void hold(self) noexcept nogil:
        if self.held == 0:
            self.lock.acquire()
            self.held = RUN

    cdef inline void let_go(self) noexcept nogil:
        if self.held:
            self.held = 0
            self.lock.release()

    # A byte that is only looked at.
    cdef inline int step(self, const State* at, uint8_t byte, State* out) except -1 nogil:
        cdef int r
        if self.held == 0:
            r = self.machine.ready_step(at, byte, out)
            if r != MISS:
                return r
            self.hold()
        r = self.machine.step(at, byte, False, out)
        self.held -= 1
        if self.held == 0:
            self.lock.pass_on()
        return r

    # The end of a token, from the state behind its last byte.
    cdef inline int ticked(self, const State* at, State* out) except -1 nogil:
        cdef int r
        if not self.machine.counts_tokens:
            out[0] = at[0]
            return ALIVE
        if self.end != DEAD and memcmp(at, &self.ending, sizeof(State)) == 0:       # most tokens end where the one before ended
            out[0] = self.ended
            return self.end
        self.end = DEAD
        self.hold()
        r = self.machine.tick(at, &self.ended)
        self.held -= 1
        if self.held == 0:
            self.lock.pass_on()
        self.ending, self.end, out[0] = at[0], r, self.ended
        return r

    # Puts the tokens that end at a node, which led to `at`.
    cdef int put_ended(self, Trie trie, Tokens* list_, uint32_t label, const State* at) except -1 nogil
    cdef int walk(self, Trie trie, const State* at, bint white, Tokens* out) except -1 nogil
    cdef int walk_all(self, const State* at) except -1 nogil
    cdef int descend(self, Trie trie, int32_t first, int32_t end, int32_t top, Tokens* out) except -1 nogil
    cdef int cross(self, int32_t crossing, const State* at) except -1 nogil
    cdef int difference(self, const State* at, const State* plain) except -1 nogil
    cdef int differ(self, Trie trie, int32_t first) except -1 nogil
    cdef int settle(self) except -1 nogil

@cython.final
cdef class Masks:
    cdef readonly Machine machine
    cdef readonly Vocabulary vocabulary
    cdef Lock lock                  # of the machine
    cdef size_t size                # bytes of a shelf
    cdef Shelf young                # where new masks are put
    cdef Shelf old                  # a full one, still read
    cdef list idle                  # of Work
    cdef readonly int64_t hits              # masks found ready
    cdef readonly int64_t shared, roaming   # classifications that another grammar of the vocabulary has made; made by that of free strings
    cdef readonly int64_t walks, walked, classified, differences, asked, forgotten, turns
    # With the GIL, which keeps what is found as long as it is not let go.
    cdef const Mask* find(self, const State* key)
    cdef Work begin(self)
    cdef int end(self, Work work) except -1
    # With the GIL: looks up what the making of a state's mask will want, so that it can do without. Then fill() with this work
    # leaves the mask to publish(), which is to be called before end().
    cdef int prepare(self, Work work, const State* at, State* key) except -1
    cdef int publish(self, Work work) except -1
    # Writes the mask of a state, computes it first where it has to. 1 where some token is not allowed, else 0.
    cdef int fill(self, Work work, const State* at, uint32_t* out) except -1 nogil
    cdef int write(self, const Mask* mask, int32_t white_room, uint32_t* out) noexcept nogil
    cdef int _compute(self, Work work, const State* key) except -1 nogil
    cdef int _nothing(self, const State* key) except -1
    cdef int _classified(self, Work work, const State* at) except -1 nogil
    cdef bint _counted(self, const Split* split) noexcept nogil
    cdef int _sort_out(self, Work work) except -1
    cdef int _classify(self, Work work, const Leaf* leaf) except -1
    cdef Classification _classify_like_free(self, Work work, const Leaf* leaf)
    cdef int _classify_free(self, Work work, bint counted) except -1
    cdef int _answer(self, Work work, const Mask* mask, const State* at, uint32_t* out) except -1 nogil
    cdef void _lay_out(self, Work work) noexcept nogil
    cdef const Mask* _keep(self, Work work) except NULL
    cdef const Mask* _put(self, Work work) except NULL
    cdef int _turn(self) except -1
