"""The vocabulary as a trie over bytes, flat and in depth-first order, so that a walk reads memory forwards."""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef struct Node:
    int32_t end         # index of the first node behind this one's subtree; children lie in (own index, end)
    uint32_t label      # byte << 24 | group + 1, where group is that of the tokens that end here; group + 1 = 0: none

cdef enum:
    GROUP = 0xFFFFFF

# Kinds of characters, by the first byte: an ASCII one that may stand in a JSON string is a kind of its own, with the byte as its number.
# Beyond ASCII those are one kind that patterns seldom tell apart: 2 to 14.
cdef enum:
    BROKEN = 0              # a byte that no character has there, if the text before it is whole
    CONTROL = 1             # below 0x20

cdef inline int kind_of(uint8_t byte) noexcept nogil:
    """The kind of a character with this first byte."""
    if byte < 0x80:
        return byte if byte >= 0x20 else CONTROL
    if byte < 0xE0:
        return byte - 0xC0 if byte == 0xC2 or byte == 0xC3 else byte - 0xCC if byte == 0xD0 or byte == 0xD1 else 6
    if byte < 0xE4:
        return 7 + byte - 0xE0
    if byte < 0xEF:
        return 11 if byte < 0xEA else 12
    return 13 if byte == 0xEF else 14

cdef struct Entry:          # a token to be sorted
    uint64_t head           # its first eight bytes, so that most comparisons end here; set by sort_entries
    const uint8_t* text     # not owned
    int32_t length          # bytes
    int32_t id

# Sorts by bytes, a text before all that begin with it; of equal ones the smaller id first.
cdef void sort_entries(Entry* entries, int32_t n) noexcept nogil

@cython.final
cdef class Trie:
    cdef Node* nodes            # [0, size), owned; there is no root node: the roots are the chains from node 0
    cdef int32_t[256] roots     # by byte: the node of the tokens that begin with it, -1: none does
    cdef int32_t* starts        # [0, groups]: ids of group g are ids[starts[g] .. starts[g + 1]), owned
    cdef int32_t* ids           # token ids in the order of the walk, owned
    cdef readonly int32_t size          # nodes
    cdef readonly int32_t groups        # different byte strings, < 2**24
    cdef readonly int32_t tokens        # ids
    cdef readonly int32_t longest       # bytes of the longest token
    # Builds from sorted tokens, none of them empty.
    cdef int build(self, const Entry* entries, int32_t n) except -1

@cython.final
cdef class Vocabulary:
    """What masks need of a tokenizer; shared by all grammars compiled for it."""
    cdef readonly Trie trie
    cdef uint64_t* kinds                        # by node of the trie, two words each: the set of the kinds of characters in its subtree, owned
    cdef int32_t* heights                       # ... and how many bytes its longest text has, owned
    cdef readonly int32_t size                  # ids, padding included
    cdef readonly int32_t words                 # 32-bit words of a mask
    cdef readonly tuple eos                     # ids that end the text, never text themselves
    cdef int32_t* eos_ids                       # the same, owned
    cdef int32_t n_eos                          # how many
    cdef uint8_t* text                          # bytes of all tokens, one after the other, owned
    cdef int32_t* offsets                       # [0, size]: token id is text[offsets[id] .. offsets[id + 1]), owned
    cdef int32_t* white                         # text tokens by falling number of leading JSON white space bytes, owned
    cdef int32_t* white_count                   # that number, for the same index, owned
    cdef readonly int32_t white_tokens          # length of both: tokens that begin with white space
    cdef readonly Trie behind_white             # of what they hold behind it; those that hold nothing more are in `blank`
    cdef int32_t* blank                         # tokens of nothing but white space, owned
    cdef int32_t n_blank                        # how many
    cdef readonly bytes missing                 # bytes for which there is no token of just that byte, ascending
    cdef readonly object shared                 # OrderedDict, by content: what depends on the vocabulary and that alone, with its bytes; oldest first
    cdef readonly size_t shared_bytes           # of all of it, at most SHARED_BYTES
    cdef int find_missing(self) except -1
    cdef int order_white(self) except -1
    cdef int strip_white(self) except -1
    cdef int sort_kinds(self) except -1
    cdef object recall(self, object content)
    cdef int remember(self, object content, object what, size_t size) except -1
    cdef inline const uint8_t* bytes_of(self, int32_t token, int32_t* length) noexcept nogil:
        length[0] = self.offsets[token + 1] - self.offsets[token]
        return self.text + self.offsets[token]
