"""What a matcher has taken, shared between forks: a list of chunks that grows only at its tail.

The tokens are kept for ever, since all else can be made from them again. The states that they led to are kept for the last few
thousand steps, where a rollback finds them ready, and at the beginning of each chunk.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t
from llgcy.core.state cimport State

cdef enum:
    CHUNK = 64
    RECENT = 64             # chunks whose states are kept
    END = 1 << 30           # added to the id of a token that ended the text

@cython.final
cdef class Chunk:
    cdef Chunk parent               # the chunk before, None: the first
    cdef int32_t parent_used        # entries of the parent that lie before this chunk, in [0, CHUNK]
    cdef int32_t used               # entries in use by whichever fork is longest, in [0, CHUNK]
    cdef int32_t depth              # chunks before this one
    cdef int32_t tokens[CHUNK]      # what each step took: a token id, END + an id, or ~i: texts[i]; never changed once written
    cdef list texts                 # of steps that were no tokens: bytes, or the tuple of pieces that count as tokens; None: there are none
    cdef int64_t engine             # number of the engine that begin and states belong to
    cdef State begin                # the state before the first step
    cdef tuple way                  # token ids, END + ids and bytes that lead from the beginning of the text to where this chunk begins, by
                                    # a shorter way than the chunks before; None: there is none, or nobody has looked
    cdef State* states              # [CHUNK] the state after each step, owned; NULL: to be made again from the tokens
    # Makes it one of an engine, whose state before the first step is `begin`.
    cdef void adopt(self, const State* begin, int64_t engine) noexcept
    # Takes the states after all its steps, an array that it owns from here on.
    cdef void keep(self, State* states, int64_t engine) noexcept
    cdef void drop_states(self) noexcept
    cdef int32_t note(self, object text) except? -1

cdef State* new_states() except NULL
cdef Chunk chunk_after(Chunk parent, int32_t parent_used, const State* begin, int64_t engine)
