"""The token trie and the vocabulary: see trie.pxd for the layout."""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy

from collections import OrderedDict

from llgcy.errors import TokenizerError

cdef size_t SHARED_BYTES = 64 << 20
cdef size_t SHARED_ENTRY = 3 << 10      # of an entry besides what it counts itself: contents, paths, tries, objects; measured on small patterns


cdef void* allocate(size_t n) except NULL:
    cdef void* out = calloc(n if n else 1, 1)
    if out == NULL:
        raise MemoryError(f"no {n:,} bytes")
    return out


@cython.final
cdef class Trie:
    """A trie over sorted byte strings, nodes in depth-first order (a subtree is a run of nodes, and its tokens a run of ids)."""

    def __dealloc__(self):
        free(self.nodes)
        free(self.starts)
        free(self.ids)

    cdef int build(self, const uint8_t** texts, const int32_t* lengths, const int32_t* ids, int32_t n) except -1:
        cdef size_t total = 0
        cdef int32_t i, j, depth = 0, common, at, group = 0
        cdef int32_t* path
        for i in range(n):
            total += lengths[i]
            if lengths[i] > self.longest:
                self.longest = lengths[i]
        if total >= 1 << 31 or n >= GROUP:
            raise TokenizerError(f"a vocabulary of {n:,} tokens and {total:,} bytes is beyond the limit of 2**24 tokens and 2**31 bytes")
        self.nodes = <Node*>allocate(total * sizeof(Node))
        self.starts = <int32_t*>allocate((n + 1) * sizeof(int32_t))
        self.ids = <int32_t*>allocate(n * sizeof(int32_t))
        path = <int32_t*>allocate((self.longest + 1) * sizeof(int32_t))
        for i in range(n):
            if i and lengths[i] == lengths[i - 1] and memcmp(texts[i], texts[i - 1], lengths[i]) == 0:
                self.ids[i] = ids[i]
                continue
            common = 0
            while i and common < depth and common < lengths[i] and texts[i][common] == texts[i - 1][common]:
                common += 1
            for j in range(common, depth):
                self.nodes[path[j]].end = self.size
            for j in range(common, lengths[i]):
                at = self.size
                self.size += 1
                path[j] = at
                self.nodes[at].label = <uint32_t>texts[i][j] << 24
            depth = lengths[i]
            self.nodes[path[depth - 1]].label |= <uint32_t>(group + 1)
            self.starts[group] = i
            self.ids[i] = ids[i]
            group += 1
        for j in range(depth):
            self.nodes[path[j]].end = self.size
        free(path)
        self.starts[group] = n
        self.groups, self.tokens = group, n
        if self.size:
            self.nodes = <Node*>realloc(self.nodes, self.size * sizeof(Node))       # shrinks; the estimate had no sharing
        return 0


cdef int32_t leading_white(const uint8_t* text, int32_t length) noexcept nogil:
    """Bytes of JSON white space (RFC 8259, section 2) at the beginning."""
    cdef int32_t i = 0
    while i < length and (text[i] == 0x20 or text[i] == 0x0A or text[i] == 0x0D or text[i] == 0x09):
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
        cdef int32_t i, n = <int32_t>len(tokens), length, count = 0, lead
        cdef bytes token
        cdef const uint8_t** texts = NULL
        cdef int32_t* lengths = NULL
        cdef int32_t* ids = NULL
        cdef size_t total = 0
        self.size, self.words, self.eos, self.shared = n, (n + 31) // 32, eos, OrderedDict()
        self.eos_ids, self.n_eos = <int32_t*>allocate(len(eos) * sizeof(int32_t)), <int32_t>len(eos)
        for i in range(self.n_eos):
            self.eos_ids[i] = eos[i]
        cdef list order = [i for i in range(n) if tokens[i]]
        for i in order:
            total += len(<bytes?>tokens[i])
        if total >= 1 << 31:
            raise TokenizerError(f"the tokens have {total:,} bytes; the limit is 2**31")
        order.sort(key=tokens.__getitem__)
        self.text = <uint8_t*>allocate(total)
        self.offsets = <int32_t*>allocate((<size_t>n + 1) * sizeof(int32_t))
        single = set()
        total = 0
        for i in range(n):
            self.offsets[i] = <int32_t>total
            token = tokens[i] or b""
            length = <int32_t>len(token)
            if length == 1:
                single.add(token[0])
            memcpy(self.text + total, <const char*>token, length)
            total += length
        self.offsets[n] = <int32_t>total
        self.missing = bytes(b for b in range(256) if b not in single)
        self.trie = Trie()
        count = <int32_t>len(order)
        try:
            texts = <const uint8_t**>allocate(count * sizeof(void*))
            lengths = <int32_t*>allocate(count * sizeof(int32_t))
            ids = <int32_t*>allocate(count * sizeof(int32_t))
            for i in range(count):
                ids[i] = order[i]
                texts[i] = self.bytes_of(ids[i], &lengths[i])
            self.trie.build(texts, lengths, ids, count)
        finally:
            free(texts)
            free(lengths)
            free(ids)
        white = []
        for i in order:
            lead = leading_white(self.text + self.offsets[i], self.offsets[i + 1] - self.offsets[i])
            if lead:
                white.append((-lead, i))
        white.sort()
        self.white_tokens = <int32_t>len(white)
        self.white = <int32_t*>allocate(self.white_tokens * sizeof(int32_t))
        self.white_count = <int32_t*>allocate(self.white_tokens * sizeof(int32_t))
        for i in range(self.white_tokens):
            self.white_count[i], self.white[i] = -white[i][0], white[i][1]

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
        free(self.eos_ids)
