"""Hash-consed sequences of integers: see lists.pxd."""
cimport cython
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcmp, memcpy

from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes


@cython.final
cdef class Lists:
    """Hash-consed sequences of integers; made by the stores that need them.

    Parameters
    ----------
    budget : Budget
    """

    def __cinit__(self, Budget budget not None):
        self.heads = Arena(budget, sizeof(List))
        self.items = Arena(budget, sizeof(int32_t))
        self.index = Index(budget)

    cdef int32_t intern(self, const int32_t* items, int32_t count) except -1 nogil:
        cdef Probe probe
        cdef uint64_t code = hash_bytes(items, <size_t>count * sizeof(int32_t))
        cdef int32_t found
        cdef int32_t* copy = NULL
        cdef List* head
        self.index.begin(code, &probe)
        while True:
            found = self.index.next(&probe)
            if found < 0:
                break
            if self.at(found).count == count and (
                    count == 0 or memcmp(self.at(found).items, items, <size_t>count * sizeof(int32_t)) == 0):
                return found
        if count:
            copy = <int32_t*>self.items.at(self.items.add(count))
            memcpy(copy, items, <size_t>count * sizeof(int32_t))
        found = self.heads.add(1)
        head = <List*>self.heads.at(found)
        head.items, head.count = copy, count
        self.index.add(code, found)
        return found
