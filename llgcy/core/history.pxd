"""The states that a matcher has passed, shared between forks: a list of chunks that grows only at its tail."""
cimport cython
from libc.stdint cimport int32_t, int64_t
from llgcy.core.state cimport State

cdef enum:
    CHUNK = 64

@cython.final
cdef class Chunk:
    cdef Chunk parent               # the chunk before, None: the first
    cdef int32_t parent_used        # entries of the parent that lie before this chunk, in [0, CHUNK]
    cdef int32_t used               # entries in use by whichever fork is longest, in [0, CHUNK]
    cdef State states[CHUNK]        # the state after each step; never changed once written

cdef Chunk chunk_after(Chunk parent, int32_t parent_used)
