"""The vocabulary as a trie over bytes, flat and in depth-first order, so that a walk reads memory forwards."""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef struct Node:
    int32_t end         # index of the first node behind this one's subtree; children lie in (own index, end)
    uint32_t label      # byte << 24 | group + 1, where group is that of the tokens that end here; group + 1 = 0: none

cdef enum:
    GROUP = 0xFFFFFF

# First bytes of characters that patterns seldom tell apart are of one kind: decimal digits, letters up to f and beyond in either case, control
# characters; beyond ASCII, those that begin no white space. Every other one is a kind of its own.
cdef enum:
    DIGIT = 0
    HEX_SMALL = 1           # a to f
    SMALL = 2               # g to z
    HEX_CAPITAL = 3
    CAPITAL = 4
    CONTROL = 5
    OWN = 6                 # the first of the kinds of one byte, of which there are 34
    LEAD = 40               # C2, E1, E2, E3, EF
    LEAD_OF_TWO = 45        # C3 to DF
    LEAD_OF_MORE = 46       # E0, E4 to EE, F0 to F4
    BROKEN = 63             # a byte that no character has there, if the text before it is whole

cdef inline int kind_of(uint8_t byte) noexcept nogil:
    """The kind of the first byte of a character."""
    if byte >= 0x80:
        if byte == 0xC2:
            return LEAD
        if 0xE1 <= byte <= 0xE3:
            return LEAD + 1 + byte - 0xE1
        if byte == 0xEF:
            return LEAD + 4
        return LEAD_OF_TWO if byte < 0xE0 else LEAD_OF_MORE
    if byte < 0x20:
        return CONTROL
    if byte < 0x30:
        return OWN + byte - 0x20
    if byte < 0x3A:
        return DIGIT
    if byte < 0x41:
        return OWN + 16 + byte - 0x3A
    if byte < 0x5B:
        return HEX_CAPITAL if byte < 0x47 else CAPITAL
    if byte < 0x61:
        return OWN + 23 + byte - 0x5B
    if byte < 0x7B:
        return HEX_SMALL if byte < 0x67 else SMALL
    return OWN + 29 + byte - 0x7B

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
    cdef uint64_t* kinds                        # by node of the trie: the set of the kinds of characters in its subtree, owned
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
    cdef int32_t[5] run_first                   # the trie without the subtrees of white space: nodes [run_first[i], run_end[i])
    cdef int32_t[5] run_end
    cdef int32_t runs                           # how many, there are four white bytes
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
