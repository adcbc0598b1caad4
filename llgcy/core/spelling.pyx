"""Tokens that begin with a given text; see spelling.pxd."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from llgcy.core.machine cimport Machine
from llgcy.core.state cimport ALIVE, ASK, State
from llgcy.core.trie cimport GROUP, Trie, Vocabulary


cdef void put_group(Trie trie, int32_t node, uint32_t* out) noexcept nogil:
    """The tokens that end at a node."""
    cdef int32_t i, group = <int32_t>(trie.nodes[node].label & GROUP) - 1
    if group >= 0:
        for i in range(trie.starts[group], trie.starts[group + 1]):
            out[trie.ids[i] >> 5] |= <uint32_t>1 << (trie.ids[i] & 31)


cdef int32_t descend(Trie trie, const uint8_t* text, int32_t length, uint32_t* out) noexcept nogil:
    """The node behind the text, -1: no token begins so. `out`: gets the tokens on the way, unless NULL."""
    cdef int32_t i = 0, end = trie.size, depth = 0
    while i < end:
        if trie.nodes[i].label >> 24 != text[depth]:
            i = trie.nodes[i].end
            continue
        if out != NULL:
            put_group(trie, i, out)
        depth += 1
        if depth == length:
            return i
        end = trie.nodes[i].end
        i += 1
    return -1


cdef int walk(Machine machine, Trie trie, int32_t top, const State* at, uint32_t* out) except -1 nogil:
    """Do tokens below a node go on as the machine allows? Puts all of them to `out`, or stops at the first where that is NULL."""
    cdef size_t depth = 0, room = trie.longest + 2
    cdef State* stack = <State*>malloc(room * sizeof(State))
    cdef int32_t* ends = <int32_t*>malloc(room * sizeof(int32_t))
    cdef int32_t i = top + 1
    cdef int r, found = 0
    cdef uint8_t byte
    try:
        if stack == NULL or ends == NULL:
            with gil:
                raise MemoryError()
        stack[0], ends[0] = at[0], trie.nodes[top].end
        while i < ends[0]:
            while i >= ends[depth]:
                depth -= 1
            byte = trie.nodes[i].label >> 24
            r = machine.step(&stack[depth], byte, False, &stack[depth + 1])
            if r == ASK:
                r = machine.step(&stack[depth], byte, True, &stack[depth + 1])
            if r != ALIVE:
                i = trie.nodes[i].end
                continue
            if trie.nodes[i].label & GROUP:
                found = 1
                if out == NULL:
                    break
                put_group(trie, i, out)
            depth += 1
            ends[depth] = trie.nodes[i].end
            i += 1
        return found
    finally:
        free(stack)
        free(ends)


cdef int put_spellings(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at,
                       uint32_t* out) except -1 nogil:
    cdef int32_t node = descend(vocabulary.trie, text, length, out)
    return 0 if node < 0 else walk(machine, vocabulary.trie, node, at, out)


cdef int put_extensions(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at,
                        uint32_t* out) except -1 nogil:
    cdef int32_t node = descend(vocabulary.trie, text, length, NULL)
    if node < 0:
        return 0
    put_group(vocabulary.trie, node, out)
    return walk(machine, vocabulary.trie, node, at, out) or vocabulary.trie.nodes[node].label & GROUP != 0


cdef int goes_on(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at) except -1 nogil:
    cdef int32_t node = descend(vocabulary.trie, text, length, NULL)
    return 0 if node < 0 else walk(machine, vocabulary.trie, node, at, NULL)
