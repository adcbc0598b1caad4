"""The token trie and the vocabulary: see trie.pxd for the layout."""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort, realloc
from libc.string cimport memcmp, memcpy

from collections import OrderedDict

from llgcy.core.unescape cimport REFUSED, advance

from llgcy.errors import TokenizerError

cdef size_t SHARED_BYTES = 64 << 20
cdef size_t SHARED_ENTRY = 3 << 10      # of an entry besides what it counts itself: contents, paths, tries, objects; measured on small patterns


cdef void* allocate(size_t n) except NULL:
    cdef void* out = calloc(n if n else 1, 1)
    if out == NULL:
        raise MemoryError(f"no {n:,} bytes")
    return out


cdef uint64_t head_of(const uint8_t* text, int32_t length) noexcept nogil:
    """The first eight bytes as a number that compares as they do; what is missing counts as zeros."""
    cdef uint64_t head = 0
    cdef int32_t i
    for i in range(8):
        head = head << 8 | (text[i] if i < length else 0)
    return head


cdef int by_text(const void* a, const void* b) noexcept nogil:
    cdef const Entry* x = <const Entry*>a
    cdef const Entry* y = <const Entry*>b
    cdef int order
    if x.head != y.head:        # at the first difference, a missing byte is the smaller one
        return -1 if x.head < y.head else 1
    order = memcmp(x.text, y.text, min(x.length, y.length))
    if order == 0:
        order = x.length - y.length
    return order if order else x.id - y.id


cdef void sort_entries(Entry* entries, int32_t n) noexcept nogil:
    cdef int32_t i
    for i in range(n):
        entries[i].head = head_of(entries[i].text, entries[i].length)
    qsort(entries, n, sizeof(Entry), by_text)


@cython.final
cdef class Trie:
    """A trie over sorted byte strings, nodes in depth-first order (a subtree is a run of nodes, and its tokens a run of ids)."""

    def __dealloc__(self):
        free(self.nodes)
        free(self.starts)
        free(self.ids)

    cdef int build(self, const Entry* entries, int32_t n) except -1:
        cdef size_t total = 0
        cdef int32_t i, j, depth = 0, common, at, group = 0, length
        cdef int32_t* path
        cdef const uint8_t* text
        cdef const uint8_t* before = NULL
        for i in range(n):
            total += entries[i].length
            if entries[i].length > self.longest:
                self.longest = entries[i].length
        if total >= 1 << 31 or n >= GROUP:
            raise TokenizerError(f"a vocabulary of {n:,} tokens and {total:,} bytes is beyond the limit of 2**24 tokens and 2**31 bytes")
        self.nodes = <Node*>allocate(total * sizeof(Node))
        self.starts = <int32_t*>allocate((n + 1) * sizeof(int32_t))
        self.ids = <int32_t*>allocate(n * sizeof(int32_t))
        path = <int32_t*>allocate((self.longest + 1) * sizeof(int32_t))
        for i in range(n):
            text, length = entries[i].text, entries[i].length
            self.ids[i] = entries[i].id
            common = 0
            while common < depth and common < length and text[common] == before[common]:
                common += 1
            if i and common == depth and common == length:      # the same bytes once more
                continue
            for j in range(common, depth):
                self.nodes[path[j]].end = self.size
            for j in range(common, length):
                at = self.size
                self.size += 1
                path[j] = at
                self.nodes[at].label = <uint32_t>text[j] << 24
            depth, before = length, text
            self.nodes[path[depth - 1]].label |= <uint32_t>(group + 1)
            self.starts[group] = i
            group += 1
        for j in range(depth):
            self.nodes[path[j]].end = self.size
        free(path)
        for i in range(256):
            self.roots[i] = -1
        i = 0
        while i < self.size:
            self.roots[self.nodes[i].label >> 24] = i
            i = self.nodes[i].end
        self.starts[group] = n
        self.groups, self.tokens = group, n
        if self.size:
            self.nodes = <Node*>realloc(self.nodes, self.size * sizeof(Node))       # shrinks; the estimate had no sharing
        return 0


cdef inline bint is_white(uint8_t byte) noexcept nogil:
    """JSON white space: RFC 8259, section 2."""
    return byte == 0x20 or byte == 0x0A or byte == 0x0D or byte == 0x09


cdef int32_t leading_white(const uint8_t* text, int32_t length) noexcept nogil:
    """Bytes of JSON white space at the beginning."""
    cdef int32_t i = 0
    while i < length and is_white(text[i]):
        i += 1
    return i


@cython.final
cdef class Vocabulary:
    """The tokens of a tokenizer, as masks need them.

    Parameters
    ----------
    tokens : list of bytes or None
        By id; None or empty for ids that text never produces (special tokens, padding).
    eos : tuple of int
        Ids that end the text.

    Raises
    ------
    TokenizerError
        Where the vocabulary is beyond 2**24 tokens.

    Examples
    --------
    >>> Vocabulary([b"a", b"ab", None], (2,)).trie.size
    2
    """

    def __cinit__(self, list tokens not None, tuple eos not None):
        cdef int32_t i, n = <int32_t>len(tokens), count = 0
        cdef size_t total = 0, length
        cdef Entry* entries = NULL
        self.size, self.words, self.eos, self.shared = n, (n + 31) // 32, eos, OrderedDict()
        self.eos_ids, self.n_eos = <int32_t*>allocate(len(eos) * sizeof(int32_t)), <int32_t>len(eos)
        for i in range(self.n_eos):
            self.eos_ids[i] = eos[i]
        for i in range(n):
            if tokens[i] is not None:
                total += len(<bytes?>tokens[i])
        if total >= 1 << 31:
            raise TokenizerError(f"the tokens have {total:,} bytes; the limit is 2**31")
        self.text = <uint8_t*>allocate(total)
        self.offsets = <int32_t*>allocate((<size_t>n + 1) * sizeof(int32_t))
        total = 0
        for i in range(n):
            self.offsets[i] = <int32_t>total
            if tokens[i] is not None:
                length = len(<bytes>tokens[i])
                memcpy(self.text + total, <const char*><bytes>tokens[i], length)
                total += length
                count += length > 0
        self.offsets[n] = <int32_t>total
        self.trie = Trie()
        entries = <Entry*>allocate((<size_t>count + 1) * sizeof(Entry))      # one that is not filled
        try:
            count = 0
            for i in range(n):
                entries[count].id, entries[count].text = i, self.bytes_of(i, &entries[count].length)
                count += entries[count].length > 0
            sort_entries(entries, count)
            self.trie.build(entries, count)
        finally:
            free(entries)
        self.find_missing()
        self.order_white()
        self.strip_white()
        self.sort_kinds()

    cdef int find_missing(self) except -1:
        cdef int32_t i
        single = set()
        for i in range(self.size):
            if self.offsets[i + 1] - self.offsets[i] == 1:
                single.add(self.text[self.offsets[i]])
        self.missing = bytes(b for b in range(256) if b not in single)
        return 0

    cdef int order_white(self) except -1:
        """Sorts the tokens that begin with white space by how much of it they have: a count of each number, then a place for each token."""
        cdef int32_t i, lead, longest = self.trie.longest, at = 0
        cdef int32_t* places = <int32_t*>allocate((<size_t>longest + 1) * sizeof(int32_t))     # how many, then where the next one goes
        cdef int32_t* leads = NULL
        try:
            leads = <int32_t*>allocate(self.size * sizeof(int32_t))
            for i in range(self.size):
                leads[i] = leading_white(self.text + self.offsets[i], self.offsets[i + 1] - self.offsets[i])
                places[leads[i]] += 1
            for lead in range(longest, 0, -1):
                at += places[lead]
                places[lead] = at - places[lead]
            self.white_tokens = at
            self.white = <int32_t*>allocate(at * sizeof(int32_t))
            self.white_count = <int32_t*>allocate(at * sizeof(int32_t))
            for i in range(self.size):
                if leads[i]:
                    at = places[leads[i]]
                    places[leads[i]] += 1
                    self.white[at], self.white_count[at] = i, leads[i]
        finally:
            free(places)
            free(leads)
        return 0

    cdef int strip_white(self) except -1:
        """What is behind the white space of the tokens that begin with it."""
        cdef int32_t i, count = 0
        cdef Entry* entry
        cdef Entry* entries = <Entry*>allocate((<size_t>self.white_tokens + 1) * sizeof(Entry))
        try:
            self.blank = <int32_t*>allocate(self.white_tokens * sizeof(int32_t))
            for i in range(self.white_tokens):
                entry = entries + count
                entry.id, entry.text = self.white[i], self.bytes_of(self.white[i], &entry.length)
                entry.text += self.white_count[i]
                entry.length -= self.white_count[i]
                if entry.length:
                    count += 1
                else:
                    self.blank[self.n_blank] = entry.id
                    self.n_blank += 1
            sort_entries(entries, count)
            self.behind_white = Trie()
            self.behind_white.build(entries, count)
        finally:
            free(entries)
        return 0

    cdef int sort_kinds(self) except -1:
        """Fills `kinds` and `heights`: what each node adds on the way down, then what its children have."""
        cdef int32_t i, j, kind, depth = 0, size = self.trie.size
        cdef uint8_t byte
        cdef int32_t* places = NULL         # in a character, by depth; -1: behind a broken one
        cdef int32_t* ends = NULL
        self.kinds = <uint64_t*>allocate(2 * <size_t>size * sizeof(uint64_t))
        self.heights = <int32_t*>allocate(size * sizeof(int32_t))
        try:
            places = <int32_t*>allocate((<size_t>self.trie.longest + 2) * sizeof(int32_t))
            ends = <int32_t*>allocate((<size_t>self.trie.longest + 2) * sizeof(int32_t))
            ends[0] = size
            for i in range(size):
                while i >= ends[depth]:
                    depth -= 1
                byte = self.trie.nodes[i].label >> 24
                if places[depth] == 0:
                    kind = kind_of(byte)
                    self.kinds[2 * i + (kind >> 6)] |= <uint64_t>1 << (kind & 63)
                if places[depth] == 0 and byte < 0x80:
                    places[depth + 1] = 0
                elif places[depth] < 0 or advance(places[depth], byte, &places[depth + 1]) == REFUSED:
                    places[depth + 1] = -1
                    self.kinds[2 * i] |= <uint64_t>1 << BROKEN
                depth += 1
                ends[depth] = self.trie.nodes[i].end
            for i in range(size - 1, -1, -1):
                j = i + 1
                while j < self.trie.nodes[i].end:
                    self.kinds[2 * i] |= self.kinds[2 * j]
                    self.kinds[2 * i + 1] |= self.kinds[2 * j + 1]
                    self.heights[i] = max(self.heights[i], self.heights[j])
                    j = self.trie.nodes[j].end
                self.heights[i] += 1
        finally:
            free(places)
            free(ends)
        return 0

    cdef object recall(self, object content):
        """What is remembered under a content, or None. Needs the GIL, and nothing else."""
        known = self.shared.get(content)
        if known is None:
            return None
        self.shared.move_to_end(content)
        return known[0]

    cdef int remember(self, object content, object what, size_t size) except -1:
        """Keeps it for all grammars; the ones not asked for the longest go where there is no room."""
        if content in self.shared:
            return 0
        size += SHARED_ENTRY
        self.shared[content] = (what, size)
        self.shared_bytes += size
        while self.shared_bytes > SHARED_BYTES and len(self.shared) > 1:
            self.shared_bytes -= self.shared.popitem(last=False)[1][1]
        return 0

    def __dealloc__(self):
        free(self.text)
        free(self.offsets)
        free(self.white)
        free(self.white_count)
        free(self.blank)
        free(self.kinds)
        free(self.heights)
        free(self.eos_ids)
