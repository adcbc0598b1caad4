"""Tries of declared and of used names: see names.pxd for the layout."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memset

from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes, mix, top_bit

cdef extern from *:
    int popcount "__builtin_popcountll"(uint64_t x) noexcept nogil

cdef enum:
    CONTENT = sizeof(SetNode)

cdef uint64_t WORDS = 0xAAAAAAAAAAAAAAAA        # the odd keys of a bitmap


cdef int64_t trie_room(const uint32_t* text, const int64_t* starts, int32_t count) noexcept nogil:
    cdef int64_t nodes = 1, common, length, before
    cdef int32_t i
    for i in range(count):
        length, common = starts[i + 1] - starts[i], 0
        if i:
            before = starts[i] - starts[i - 1]
            while common < before and common < length and text[starts[i - 1] + common] == text[starts[i] + common]:
                common += 1
        nodes += length - common
    return nodes


cdef void trie_build(const uint32_t* text, const int64_t* starts, int32_t count, NameNode* nodes) noexcept nogil:
    """Breadth first, so that children lie side by side; every name is looked at once per character."""
    cdef int32_t at = 0, made = 1, name, new
    cdef int32_t level_end = 1      # nodes before it lie at `depth` or above
    cdef int64_t depth = 0
    cdef NameNode* node
    memset(nodes, 0, sizeof(NameNode))
    nodes[0].high = count
    while at < made:
        if at == level_end:
            level_end = made
            depth += 1
        node = nodes + at
        name = node.low
        node.word = -1
        if name < node.high and starts[name] + depth == starts[name + 1]:      # the shortest name comes first
            node.word = name
            name += 1
        node.kids = made
        new = -1
        while name < node.high:
            if new < 0 or nodes[new].char != text[starts[name] + depth]:
                new = made
                made += 1
                memset(nodes + new, 0, sizeof(NameNode))
                nodes[new].char = text[starts[name] + depth]
                nodes[new].low = name
            name += 1
            nodes[new].high = name
        node.count = made - node.kids
        at += 1


@cython.final
cdef class UsedNames:
    """The names that documents use as extra keys, and sets of them; made by `Strings`.

    Parameters
    ----------
    budget : Budget
    """

    def __cinit__(self, Budget budget not None):
        self.nodes = Arena(budget, sizeof(UsedNode))
        self.kids = Index(budget)
        self.sets = Arena(budget, sizeof(SetNode))
        self.contents = Index(budget)
        cdef UsedNode* root = self.node(self.nodes.add(1))
        root.parent = root.kids = root.next = -1
        self.sets.add(1)

    cdef int32_t find(self, int32_t node, uint32_t char) noexcept nogil:
        cdef Probe probe
        cdef int32_t found
        self.kids.begin(mix(<uint64_t>node << 32 | char), &probe)
        while True:
            found = self.kids.next(&probe)
            if found < 0 or self.node(found).parent == node and self.node(found).char == char:
                return found

    cdef int32_t grow(self, int32_t node, uint32_t char) except -1 nogil:
        cdef int32_t new = self.find(node, char)
        cdef UsedNode* content
        if new >= 0:
            return new
        new = self.nodes.add(1)
        content = self.node(new)
        content.parent, content.char, content.kids = node, char, -1
        content.depth = self.node(node).depth + 1
        content.next = self.node(node).kids
        self.kids.add(mix(<uint64_t>node << 32 | char), new)
        self.node(node).kids = new
        return new

    cdef object text(self, int32_t node):
        cdef list chars = []
        while node > 0:
            chars.append(chr(self.node(node).char))
            node = self.node(node).parent
        return "".join(chars[::-1])

    cdef int32_t intern(self, SetNode* content) except -1 nogil:
        cdef Probe probe
        cdef uint64_t code = hash_bytes(content, CONTENT)
        cdef int32_t found
        self.contents.begin(code, &probe)
        while True:
            found = self.contents.next(&probe)
            if found < 0:
                break
            if memcmp(self.sets.at(found), content, CONTENT) == 0:
                return found
        found = self.sets.add(1)
        (<SetNode*>self.sets.at(found))[0] = content[0]
        self.contents.add(code, found)
        return found

    cdef int32_t branch(self, uint32_t mask, int32_t left, int32_t right) except -1 nogil:
        cdef SetNode content
        memset(&content, 0, CONTENT)
        content.bits = <uint64_t>left | <uint64_t>right << 32
        content.prefix = (<SetNode*>self.sets.at(left)).prefix & ~(mask | (mask - 1))
        content.mask = mask
        content.words = self.words(left) + self.words(right)
        return self.intern(&content)

    cdef int32_t union_keys(self, int32_t used, const uint32_t* keys, int32_t count) except -1 nogil:
        """The set with these ascending keys too. As deep as a key has bits."""
        cdef SetNode content
        cdef const SetNode* s = <const SetNode*>self.sets.at(used)
        cdef uint32_t apart, mask
        cdef int32_t i, middle = 0, left, right
        if count == 0:
            return used
        apart = (keys[0] ^ keys[count - 1]) >> 6
        if used:
            apart |= s.prefix ^ (keys[0] >> 6)
            if s.mask and apart < 2 * s.mask:       # all keys belong below this branch: its bit decides
                apart = s.mask
        if apart == 0:                              # one leaf
            memset(&content, 0, CONTENT)
            content.prefix = keys[0] >> 6
            if used:
                content.bits = s.bits
            for i in range(count):
                content.bits |= <uint64_t>1 << (keys[i] & 63)
            content.words = popcount(content.bits & WORDS)
            return self.intern(&content)
        mask = <uint32_t>1 << top_bit(apart)
        while middle < count and not keys[middle] >> 6 & mask:
            middle += 1
        if used == 0:
            left, right = 0, 0
        elif s.mask == mask:
            left, right = <int32_t><uint32_t>s.bits, <int32_t>(s.bits >> 32)
        elif s.prefix & mask:
            left, right = 0, used
        else:
            left, right = used, 0
        left = self.union_keys(left, keys, middle)
        right = self.union_keys(right, keys + middle, count - middle)
        return self.branch(mask, left, right)

    cdef int32_t add(self, int32_t used, int32_t node) except -1 nogil:
        cdef int32_t prefixes = 0, at = node, i, result
        cdef uint32_t* keys
        if self.contains(used, node):
            return used
        while at >= 0 and not self.begins(used, at):        # the prefixes of a prefix are in already
            prefixes += 1
            at = self.node(at).parent
        keys = <uint32_t*>malloc((<size_t>prefixes + 1) * sizeof(uint32_t))
        if keys == NULL:
            with gil:
                raise MemoryError()
        keys[prefixes] = 2 * <uint32_t>node + 1
        at = node
        for i in range(prefixes - 1, -1, -1):       # a parent's handle is smaller than its child's: ascending
            keys[i] = 2 * <uint32_t>at
            at = self.node(at).parent
        try:
            result = self.union_keys(used, keys, prefixes + 1)
        finally:
            free(keys)
        return result
