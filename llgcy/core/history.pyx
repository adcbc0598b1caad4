"""History of a matcher as a persistent list: see history.pxd.

A fork shares all chunks. The first that grows at the tail writes there; another one, which finds the place taken, opens a
chunk of its own. So a fork costs nothing, whatever the length, and rolling back by n follows n / CHUNK links.

All of it is touched with the GIL in hand alone; forks on several threads may bring the same chunk into a new engine, and do it alike.
"""
cimport cython
from libc.stdlib cimport free, malloc

cdef enum:
    SWEEP = 16          # every so many chunks, those that are no longer recent let go of their states


@cython.final
@cython.trashcan(True)      # a history of a million steps is a chain of thousands of chunks
@cython.freelist(64)
cdef class Chunk:
    """A run of steps; see history.pxd."""

    def __dealloc__(self):
        free(self.states)

    cdef void adopt(self, const State* begin, int64_t engine) noexcept:
        if self.engine != engine:       # else another fork was faster
            self.drop_states()
            self.begin, self.engine = begin[0], engine

    cdef void keep(self, State* states, int64_t engine) noexcept:
        if self.states == NULL and self.engine == engine:
            self.states = states
        else:
            free(states)

    cdef void drop_states(self) noexcept:
        free(self.states)
        self.states = NULL

    cdef int32_t note(self, object text) except? -1:
        """What stands for these bytes in `tokens`."""
        if self.texts is None:
            self.texts = []
        self.texts.append(text)
        return ~<int32_t>(len(self.texts) - 1)


cdef State* new_states() except NULL:
    """Room for the states of one chunk."""
    cdef State* states = <State*>malloc(CHUNK * sizeof(State))
    if states == NULL:
        raise MemoryError()
    return states


cdef Chunk chunk_after(Chunk parent, int32_t parent_used, const State* begin, int64_t engine):
    cdef Chunk chunk = Chunk()
    cdef Chunk old = parent
    cdef int32_t i
    chunk.parent, chunk.parent_used, chunk.used, chunk.states = parent, parent_used, 0, NULL
    chunk.begin, chunk.engine = begin[0], engine
    chunk.states = new_states()
    if parent is not None:
        chunk.depth = parent.depth + 1
        if chunk.depth % SWEEP == 0 and chunk.depth >= RECENT:
            for i in range(RECENT - 1):
                old = old.parent
            for i in range(SWEEP):
                if old is None:
                    break
                old.drop_states()
                old = old.parent
    return chunk
