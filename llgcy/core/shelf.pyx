"""Remembered masks; see shelf.pxd."""
cimport cython
from libc.stdint cimport int32_t, uint32_t
from libc.string cimport memcmp, memcpy

from llgcy.core.classify cimport Classification
from llgcy.core.state cimport State
from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes

cdef enum:
    PLACE_BYTES = 400       # of an entry of `places` besides what it names: tuple, keys, the dict's own


@cython.final
cdef class Shelf:
    """Masks of one age; made by `Masks`.

    Parameters
    ----------
    size : int
        Bytes of all that may be kept.
    """

    def __cinit__(self, size_t size):
        self.budget = Budget(size, "the masks")
        self.masks, self.ids, self.index = Arena(self.budget, sizeof(Mask)), Arena(self.budget, sizeof(int32_t)), Index(self.budget)
        self.owners, self.places = {}, {}

    cdef const Mask* find(self, const State* key) noexcept nogil:
        cdef Probe probe
        cdef int32_t handle
        cdef Mask* mask
        self.index.begin(hash_bytes(key, sizeof(State)), &probe)
        while True:
            handle = self.index.next(&probe)
            if handle < 0:
                return NULL
            mask = <Mask*>self.masks.at(handle)
            if memcmp(&mask.key, key, sizeof(State)) == 0:
                return mask

    cdef const Mask* keep(self, const Mask* mask) except NULL:
        cdef Mask copy = mask[0]
        cdef int32_t handle
        cdef object owner
        if mask.owner != NULL:
            owner = <object>mask.owner
            self.own(owner, (<Classification>owner).bytes if isinstance(owner, Classification) else len(owner))
        copy.clears = self._copied(mask.clears, mask.n_clears)
        copy.sets = self._copied(mask.sets, mask.n_sets)
        copy.asks = self._copied(mask.asks, mask.n_asks)
        handle = self.masks.add(1)
        (<Mask*>self.masks.at(handle))[0] = copy
        self.index.add(hash_bytes(&mask.key, sizeof(State)), handle)
        return <const Mask*>self.masks.at(handle)

    cdef const int32_t* _copied(self, const int32_t* ids, int32_t n) except? NULL:
        cdef int32_t* copy
        if n == 0:
            return NULL
        copy = <int32_t*>self.ids.at(self.ids.add(n))
        memcpy(copy, ids, n * sizeof(int32_t))
        return copy

    cdef int own(self, object owner, size_t size) except -1:
        """Keeps an object that masks have their base in."""
        if id(owner) not in self.owners:
            self.budget.take(size)
            self.owners[id(owner)] = owner
        return 0

    def add_place(self, bytes leaf not None, tuple place not None):
        """Keeps the classification of a place inside a lexeme: (Classification, bytes of the leaves at the end of its paths).

        Raises
        ------
        BudgetError
            Where there is no room.
        """
        cdef Classification by = place[0]
        self.own(by, by.bytes)
        self.budget.take(PLACE_BYTES + len(leaf) + len(place[1]))
        self.places[leaf] = place

    @property
    def length(self):
        """Masks on it."""
        return self.masks.length

    @property
    def used(self):
        """Bytes taken."""
        return self.budget.used
