"""Hash-consed sequences of integers: equal content is the same handle."""
cimport cython
from libc.stdint cimport int32_t
from llgcy.core.store cimport Arena, Budget, Index

cdef struct List:
    const int32_t* items    # owned by the arena, never moves; NULL where count = 0
    int32_t count           # >= 0

@cython.final
cdef class Lists:
    cdef Arena heads        # List; the handle of a sequence is that of its head, in the order of their coming, from 0
    cdef Arena items        # int32
    cdef Index index
    cdef int32_t intern(self, const int32_t* items, int32_t count) except -1 nogil

    cdef inline const List* at(self, int32_t handle) noexcept nogil:
        return <const List*>self.heads.at(handle)

    cdef inline bint holds(self, int32_t handle, int32_t item) noexcept nogil:
        """Is the item in this sequence, which ascends?"""
        cdef const List* list = self.at(handle)
        cdef int32_t low = 0, high = list.count, middle
        while low < high:
            middle = (low + high) >> 1
            if list.items[middle] < item:
                low = middle + 1
            else:
                high = middle
        return low < list.count and list.items[low] == item
