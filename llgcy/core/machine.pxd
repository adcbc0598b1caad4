"""What masks and matchers ask of a recogniser. Two kinds exist: grammars (config) and JSON documents (json)."""
from libc.stdint cimport int32_t, uint8_t
from llgcy.core.state cimport Leaf, State

cdef class Machine:
    # Every method may be called without the GIL, under the compiled grammar's lock.
    cdef int start(self, State* out) except -1 nogil
    # The state after one byte: DEAD, ALIVE or ASK. `out` may be `at`. `grow`: the byte is really taken (accept,
    # validate), so names read may enter stores; false while a trie is walked for a mask, where ASK may be answered.
    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
    # May the text end here?
    cdef int accepting(self, const State* at) except -1 nogil
    # Is the state inside a lexeme whose tokens are worth sorting apart from what follows it?
    cdef int inside(self, const State* at) except -1 nogil
    # One byte inside the lexeme: DEAD, ALIVE or CROSS (the byte ends it). Depends on the leaf alone.
    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil
    # The representative under which masks are remembered: same future for any one token.
    cdef int mask_key(self, const State* at, State* out) except -1 nogil
