"""The vocabulary sorted by one place inside a lexeme: tokens that stay inside, and tokens that cross its end.

It says nothing of what follows the lexeme, so every row that reads the lexeme uses the same classification: its mask is the
tokens inside plus, for each crossing, a walk over the small trie of what the tokens hold behind the end. Nor does it depend on
the grammar, but for the leaves where tokens cross: another grammar that has the same place finds its own leaves by stepping the
paths to them.
"""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport Machine
from llgcy.core.state cimport Leaf
from llgcy.core.trie cimport Trie, Vocabulary

cdef struct Crossing:
    int32_t end         # index of the leaf before the byte that ends the lexeme, among the paths
    int32_t characters  # of the path to it, where counted
    uint8_t byte        # the byte that ends the lexeme
    int32_t first       # its records: records[first .. first + count), each a subtree of the vocabulary's trie
    int32_t count
    void* trie          # the Trie of remainders (`byte` included), which stands in `tries`
    int32_t merged      # its index there, -1: not made; atomic, written last

cdef struct Gathered:   # records in the making
    Leaf* leaves        # different ones before the bytes that cross, owned
    int32_t n_leaves
    int32_t room_leaves
    int32_t n_records   # in Classification.records
    int32_t room_records

cdef struct Record:     # one crossing found by the walk
    int32_t leaf        # index in leaves
    int32_t byte
    int32_t node
    int32_t depth       # bytes before the crossing one

@cython.final
cdef class Classification:
    cdef Vocabulary vocabulary
    cdef uint32_t* inside           # dense mask of the tokens that stay inside, owned
    cdef int32_t* counted           # tokens inside by rising number of characters, owned; only where counted
    cdef int32_t* characters        # that number, for the same index, owned
    cdef readonly int32_t tokens    # inside
    cdef Crossing* crossings        # owned
    cdef readonly int32_t count     # crossings
    cdef Record* records            # sorted by (leaf, byte), owned
    cdef list tries                 # of Trie: merged remainders
    cdef readonly list paths        # of bytes: texts that lead from the place to each leaf where tokens cross
    cdef dict prefixes              # number of characters: bytes, the dense mask of tokens inside with at most so many
    cdef readonly size_t bytes
    # Makes the trie of remainders of one crossing, where it is not there.
    cdef int merge(self, int32_t crossing) except -1
    # The dense mask of the tokens inside with at most `most` characters; lives as long as the classification.
    cdef const uint32_t* up_to(self, int32_t most) except NULL

# The leaves at the end of the paths, in this grammar: one Leaf after the other. Under the lock.
cdef bytes leaves_of(Machine machine, const Leaf* leaf, list paths)
# The classification of a leaf that roams (see Machine.leaf_roams), by that of a free string: what stays inside is the same, and only the
# paths to where tokens cross are stepped. None where one of them leads out after all. Takes the machine's lock.
cdef Classification classify_roaming(Machine machine, Vocabulary vocabulary, Lock lock, const Leaf* leaf, Classification free_)
# Takes the machine's lock where something is not ready.
cdef Classification classify(Machine machine, Vocabulary vocabulary, Lock lock, const Leaf* leaf, bint counted)

# The kinds of characters (see trie.kind_of) all of which leave a leaf as it is, as far as they are known. Under the lock.
cdef int kinds_kept(Machine machine, const Leaf* leaf, uint64_t* kinds) except -1 nogil
cdef inline bint has_all(const uint64_t* kinds, const uint64_t* some) noexcept nogil:
    """Are all kinds of the second set in the first one?"""
    return some[0] & ~kinds[0] == 0 and some[1] & ~kinds[1] == 0
# The token ids of a subtree of the trie are ids[low[0] .. high[0]).
cdef void subtree(Trie trie, int32_t node, int32_t* low, int32_t* high) noexcept nogil
