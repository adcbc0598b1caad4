"""Tries of names by code point: those that a grammar declares, and those that documents use.

Declared names never change: one `NameNode` array per language. Used names grow with the documents read: one global trie,
and sets of its words that are persistent and hash-consed, so that a set is one integer and equal sets are equal integers.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from llgcy.core.store cimport Arena, Budget, Index

cdef struct NameNode:
    int32_t kids        # first child; the children lie side by side, sorted by `char`
    int32_t count       # of children, >= 0
    int32_t low         # the names at or below the node are [low, high) in the order of their code points
    int32_t high        # > low, except in a trie without names
    uint32_t char       # code point that leads here; 0 at the root
    int32_t word        # `low` where a name ends here, else -1

# A trie of `count` different words, sorted: word i is text[starts[i] .. starts[i + 1]). The root is node 0. In `nodes` lie
# room(...) nodes, owned by the caller.
cdef int64_t trie_room(const uint32_t* text, const int64_t* starts, int32_t count) noexcept nogil
cdef void trie_build(const uint32_t* text, const int64_t* starts, int32_t count, NameNode* nodes) noexcept nogil

cdef inline int32_t first_kid(const NameNode* nodes, int32_t node, uint32_t char) noexcept nogil:
    """Index of the first child whose character is at least `char`, counted from the first child (`count`: none)."""
    cdef const NameNode* kids = nodes + nodes[node].kids
    cdef int32_t low = 0, high = nodes[node].count, middle
    while low < high:
        middle = (low + high) >> 1
        if kids[middle].char < char:
            low = middle + 1
        else:
            high = middle
    return low

cdef inline int32_t kid(const NameNode* nodes, int32_t node, uint32_t char) noexcept nogil:
    """The child by this character, or -1."""
    cdef int32_t at = first_kid(nodes, node, char)
    return nodes[node].kids + at if at < nodes[node].count and nodes[nodes[node].kids + at].char == char else -1


cdef struct UsedNode:       # of the global trie; node 0 is its root
    int32_t parent      # smaller handle; -1 at the root
    int32_t kids        # newest child, -1: none
    int32_t next        # next older child of the same parent, -1: none
    int32_t depth       # characters from the root
    uint32_t char       # code point that leads here

cdef struct SetNode:        # big-endian Patricia tree (Okasaki, Gill: Fast Mergeable Integer Maps, 1998) over bitmaps
    uint64_t bits       # leaf: the keys 64 * prefix + i, not 0; branch: left | right << 32, both handles > 0
    uint32_t prefix     # leaf: key >> 6; branch: its bits above `mask`, the others 0
    uint32_t mask       # branch: the bit of key >> 6 that decides (0: left); leaf: 0
    int32_t words       # number of words (odd keys) in it
    int32_t unused      # 0, so that contents compare as bytes

@cython.final
cdef class UsedNames:
    """Words that may not come again. A set holds the key 2 * node + 1 for a word and 2 * node for every prefix of one."""
    cdef Arena nodes            # UsedNode
    cdef Index kids             # (parent, char) -> node
    cdef Arena sets             # SetNode; handle 0 is the empty set
    cdef Index contents         # SetNode content -> handle
    cdef int32_t find(self, int32_t node, uint32_t char) noexcept nogil          # the child, or -1
    cdef int32_t grow(self, int32_t node, uint32_t char) except -1 nogil         # the child, made where there is none
    cdef object text(self, int32_t node)                                         # what leads to the node, as a str
    cdef int32_t add(self, int32_t used, int32_t node) except -1 nogil           # the set with the word that ends at node
    cdef int32_t branch(self, uint32_t mask, int32_t left, int32_t right) except -1 nogil
    cdef int32_t intern(self, SetNode* content) except -1 nogil
    cdef int32_t union_keys(self, int32_t used, const uint32_t* keys, int32_t count) except -1 nogil

    cdef inline UsedNode* node(self, int32_t handle) noexcept nogil:
        return <UsedNode*>self.nodes.at(handle)

    cdef inline int32_t words(self, int32_t used) noexcept nogil:
        """How many words the set has."""
        return (<SetNode*>self.sets.at(used)).words

    cdef inline bint has_key(self, int32_t used, uint32_t key) noexcept nogil:
        cdef const SetNode* s
        if used == 0:
            return False
        s = <const SetNode*>self.sets.at(used)
        while s.mask:
            s = <const SetNode*>self.sets.at(<int32_t>(s.bits >> 32) if key >> 6 & s.mask else <int32_t><uint32_t>s.bits)
        return s.prefix == key >> 6 and s.bits >> (key & 63) & 1

    cdef inline bint begins(self, int32_t used, int32_t node) noexcept nogil:
        """Is the node a prefix of a word of the set?"""
        return self.has_key(used, 2 * <uint32_t>node)

    cdef inline bint contains(self, int32_t used, int32_t node) noexcept nogil:
        """Is the node a word of the set?"""
        return self.has_key(used, 2 * <uint32_t>node + 1)
