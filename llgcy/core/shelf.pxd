"""Masks that are remembered, by state: a dense base, tokens taken from it, tokens put to it.

A shelf is filled, read for a while longer when it is full, and then goes as a whole. Whoever reads from it without the GIL has a
reference to it.
"""
cimport cython
from libc.stdint cimport int32_t, uint32_t
from llgcy.core.state cimport State
from llgcy.core.store cimport Arena, Budget, Index

cdef struct Mask:
    State key               # what it was computed for (Machine.mask_key)
    const uint32_t* base    # dense words that it starts from, NULL: zeros; they stand in `owner`
    void* owner             # the Python object that keeps the base, NULL: there is none
    const int32_t* clears   # tokens to take from the base; read before the sets
    int32_t n_clears
    int32_t n_sets
    const int32_t* sets     # tokens to put to it
    const int32_t* asks     # tokens that depend on more than the key tells; each is stepped at every fill
    int32_t n_asks

@cython.final
cdef class Shelf:
    cdef Budget budget              # bytes of all that is kept, owners included
    cdef Arena masks                # of Mask
    cdef Arena ids                  # of int32
    cdef Index index                # State to mask
    cdef dict owners                # id of an owner: the owner
    cdef readonly dict places       # bytes of a leaf: its Classification, and the leaves at the end of its paths in this grammar
    cdef const Mask* find(self, const State* key) noexcept nogil        # NULL: not here; needs no lock
    # A copy of the mask and its lists; BudgetError where there is no room. Under the lock of the compiled grammar.
    cdef const Mask* keep(self, const Mask* mask) except NULL
    cdef const int32_t* _copied(self, const int32_t* ids, int32_t n) except? NULL
    cdef int own(self, object owner, size_t size) except -1
