"""History of a matcher as a persistent list: see history.pxd.

A fork shares all chunks. The first that grows at the tail writes there; another one, which finds the place taken, opens a
chunk of its own. So a fork costs nothing, whatever the length, and rolling back by n follows n / CHUNK links.
"""
cimport cython


@cython.final
@cython.trashcan(True)      # a history of a million steps is a chain of thousands of chunks
@cython.freelist(64)
cdef class Chunk:
    """A run of states; see history.pxd."""


cdef Chunk chunk_after(Chunk parent, int32_t parent_used):
    cdef Chunk chunk = Chunk()
    chunk.parent, chunk.parent_used, chunk.used = parent, parent_used, 0
    return chunk
