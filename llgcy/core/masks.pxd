"""Token masks, remembered by state: a dense base, tokens taken from it, tokens put to it."""
cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from llgcy.core.classify cimport Classification
from llgcy.core.machine cimport Machine
from llgcy.core.state cimport Leaf, State
from llgcy.core.store cimport Arena, Budget, Index
from llgcy.core.trie cimport Trie, Vocabulary

cdef struct Mask:
    State key               # what it was computed for (Machine.mask_key)
    const uint32_t* base    # dense words that it starts from, NULL: zeros; owned by a classification or by `dense`
    int32_t clears          # handle in ids: tokens to take from the base; read before the sets
    int32_t n_clears
    int32_t sets            # handle in ids: tokens to put to it
    int32_t n_sets
    int32_t asks            # handle in ids: tokens that depend on more than the key tells; each is stepped at every fill
    int32_t n_asks

cdef struct Tokens:         # a list that grows; scratch of one computation
    int32_t* ids            # owned
    int32_t length
    int32_t room

@cython.final
cdef class Masks:
    cdef readonly Machine machine
    cdef readonly Vocabulary vocabulary
    cdef Budget budget              # of remembered masks and classifications, bytes
    cdef Arena masks                # of Mask
    cdef Arena ids                  # of int32
    cdef Index index                # State to mask
    cdef dict own                   # bytes of a leaf: its Classification, and the leaves at the end of its paths in this grammar
    cdef list dense                 # bytes objects that masks start from
    cdef Tokens sets, clears, adds, asks    # scratch; adds: tokens to put that came up while clears were collected
    cdef uint32_t* marks            # scratch: a dense set of tokens, zero between uses
    cdef State* stack               # scratch of the walk, one state a byte of the longest token
    cdef State* plain               # scratch of the walk by difference
    cdef uint64_t* telling          # scratch of the walk by difference: at each depth the bytes that matter, four words
    cdef int32_t* ends              # scratch: where the subtree at each depth ends
    cdef Mask loose                 # a mask that there was no room to remember; valid until the next computation
    cdef readonly int64_t walks, walked, classified, differences, asked, forgotten      # counters: masks walked, trie nodes entered, ...
    cdef const Mask* find(self, const State* key) noexcept nogil            # NULL: not remembered; needs no lock
    cdef const Mask* compute(self, const State* key) except NULL            # under the lock
    cdef int write(self, const Mask* mask, int32_t white_room, uint32_t* out) noexcept nogil
    # Puts those of the mask's `asks` that the state itself allows; under the lock.
    cdef int answer(self, const Mask* mask, const State* at, uint32_t* out) except -1 nogil
    cdef int _walk(self, Trie trie, int32_t first, int32_t end, const State* at, Tokens* out) except -1 nogil
    cdef int _descend(self, Trie trie, int32_t first, int32_t end, int32_t top, Tokens* out) except -1 nogil
    cdef int _difference(self, Trie trie, const State* at, const State* plain) except -1 nogil
    cdef int _classified(self, const State* at, Mask* mask) except -1
    cdef tuple _classification(self, const Leaf* leaf)
    cdef Classification _free(self, bint counted)
    cdef int _cross(self, Classification by, int32_t crossing, const State* at) except -1
    cdef int _settle(self) except -1 nogil
    cdef const Mask* _keep(self, Mask* mask) except NULL
