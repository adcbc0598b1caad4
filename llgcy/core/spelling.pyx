"""Tokens that begin with a given text; see spelling.pxd."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from llgcy.core.machine cimport Machine, read_state, written
from llgcy.core.state cimport ALIVE, ASK, State
from llgcy.core.trie cimport GROUP, Trie, Vocabulary

cdef enum:
    MOST_PLACES = 1 << 15       # looked at for a spelling that keeps limits


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


cdef bint holds(Machine machine, State* stack, const uint8_t* path, size_t depth) except -1 nogil:
    """Does every limit hold where a token ends with the last of depth + 1 bytes?"""
    cdef State after
    cdef size_t k
    cdef int r
    if not machine.counts_tokens:
        return True
    r = machine.tick(&stack[depth + 1], &after)
    if r == ASK:                # as in walk()
        for k in range(depth + 1):
            machine.step(&stack[k], path[k], True, &stack[k + 1])
        r = machine.tick(&stack[depth + 1], &after)
    return r == ALIVE


cdef int walk(Machine machine, Trie trie, int32_t top, const State* at, uint32_t* out) except -1 nogil:
    """Do tokens below a node go on as the machine allows? Puts all of them to `out`, or stops at the first where that is NULL."""
    cdef size_t depth = 0, room = trie.longest + 2, k
    cdef State* stack = <State*>malloc(room * sizeof(State))
    cdef int32_t* ends = <int32_t*>malloc(room * sizeof(int32_t))
    cdef uint8_t* path = <uint8_t*>malloc(room)
    cdef int32_t i = top + 1
    cdef int r, found = 0
    cdef uint8_t byte
    try:
        if stack == NULL or ends == NULL or path == NULL:
            with gil:
                raise MemoryError()
        stack[0], ends[0] = at[0], trie.nodes[top].end
        while i < ends[0]:
            while i >= ends[depth]:
                depth -= 1
            path[depth] = byte = trie.nodes[i].label >> 24
            r = machine.step(&stack[depth], byte, False, &stack[depth + 1])
            if r == ASK:        # it needs a name that the walk has not noted: once more, from the top
                for k in range(depth + 1):
                    r = machine.step(&stack[k], path[k], True, &stack[k + 1])
            if r != ALIVE:
                i = trie.nodes[i].end
                continue
            if trie.nodes[i].label & GROUP and holds(machine, stack, path, depth):
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
        free(path)


cdef int put_spellings(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at,
                       uint32_t* out) except -1 nogil:
    cdef int32_t node = descend(vocabulary.trie, text, length, out)
    return 0 if node < 0 else walk(machine, vocabulary.trie, node, at, out)


cdef int put_extensions(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at,
                        uint32_t* out) except -1 nogil:
    cdef int32_t node = descend(vocabulary.trie, text, length, NULL)
    cdef State after
    cdef int found = 0
    if node < 0:
        return 0
    if vocabulary.trie.nodes[node].label & GROUP and machine.tick(at, &after) == ALIVE:
        put_group(vocabulary.trie, node, out)
        found = 1
    return walk(machine, vocabulary.trie, node, at, out) or found


cdef int goes_on(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at) except -1 nogil:
    cdef int32_t node = descend(vocabulary.trie, text, length, NULL)
    return 0 if node < 0 else walk(machine, vocabulary.trie, node, at, NULL)


cdef tuple fewest(Vocabulary vocabulary, bytes text, bytes eos):
    cdef Py_ssize_t i, n = len(text)
    cdef int32_t* tokens = <int32_t*>malloc((n + 1) * sizeof(int32_t))      # the first token from each place on, -1: there is none
    cdef int32_t* counts = <int32_t*>malloc((n + 1) * sizeof(int32_t))      # how many tokens from there to the end
    cdef int32_t* lengths = <int32_t*>malloc((n + 1) * sizeof(int32_t))     # bytes of the first one
    cdef const uint8_t* data = <const uint8_t*><const char*>text
    cdef list out = []
    try:
        if tokens == NULL or counts == NULL or lengths == NULL:
            raise MemoryError()
        counts[n], tokens[n] = 0, 0
        spell(vocabulary.trie, data, n, <const int32_t*><const char*>eos, <int32_t>(len(eos) // sizeof(int32_t)), tokens, counts, lengths)
        if tokens[0] < 0:
            return None
        i = 0
        while i < n:
            out.append(tokens[i])
            i += lengths[i]
        return tuple(out)
    finally:
        free(tokens)
        free(counts)
        free(lengths)


cdef bint takes(Machine machine, Vocabulary vocabulary, State* at, int32_t token) except -1:
    """Steps one token."""
    cdef int32_t i, length
    cdef const uint8_t* text = vocabulary.bytes_of(token, &length)
    for i in range(length):
        if machine.step(at, text[i], True, at) != ALIVE:
            return False
    return machine.tick(at, at) == ALIVE


cdef tuple spelled(Machine machine, Vocabulary vocabulary, const State* at, bytes text, bytes eos, bint whole):
    cdef tuple out = fewest(vocabulary, text, eos)
    cdef State state = at[0]
    if out is None or not machine.counts_tokens:
        return out
    for token in out:
        if not takes(machine, vocabulary, &state, token):
            return searched(machine, vocabulary, at, text, eos, whole)
    return out if not whole or machine.accepting(&state) else searched(machine, vocabulary, at, text, eos, whole)


cdef tuple searched(Machine machine, Vocabulary vocabulary, const State* at, bytes text, bytes eos, bint whole):
    """Breadth first, over places in the text and states."""
    cdef Trie trie = vocabulary.trie
    cdef const int32_t* ids = <const int32_t*><const char*>eos
    cdef int32_t n_eos = <int32_t>(len(eos) // sizeof(int32_t)), node, end, token
    cdef Py_ssize_t i, k, place, length = len(text)
    cdef const uint8_t* data = <const uint8_t*><const char*>text
    cdef State state, after
    cdef list todo = [(0, written(at), 0, -1)], out = []        # (place, state, which one it came from, by which token)
    cdef set seen = {(0, written(at))}
    for i, (place, key, _, _) in enumerate(todo):               # grows while it runs
        read_state(key, &state)
        if place == length and (not whole or machine.accepting(&state)):
            while todo[i][3] >= 0:
                out.append(todo[i][3])
                i = todo[i][2]
            return tuple(reversed(out))
        node, end = 0, trie.size
        for k in range(place, length):
            while node < end and trie.nodes[node].label >> 24 != data[k]:
                node = trie.nodes[node].end
            if node >= end or machine.step(&state, data[k], True, &state) != ALIVE:
                break
            token = allowed(trie, node, ids, n_eos)
            if token >= 0 and machine.tick(&state, &after) == ALIVE:
                new = k + 1, written(&after)
                if new not in seen:
                    seen.add(new)
                    todo.append((*new, i, token))
            end, node = trie.nodes[node].end, node + 1
        if len(todo) > MOST_PLACES:
            break
    return None


cdef void spell(Trie trie, const uint8_t* text, Py_ssize_t length, const int32_t* eos, int32_t n_eos, int32_t* tokens, int32_t* counts,
                int32_t* lengths) noexcept nogil:
    """From the end to the beginning, the fewest tokens from each place on; of equally few, the longest first."""
    cdef int32_t[256] roots
    cdef int32_t node = 0, end, depth, token
    cdef Py_ssize_t i
    memset(roots, 0xFF, sizeof(roots))
    while node < trie.size:
        roots[trie.nodes[node].label >> 24] = node
        node = trie.nodes[node].end
    for i in range(length - 1, -1, -1):
        tokens[i], counts[i], lengths[i] = -1, 0x7FFFFFFF, 0
        node, depth = roots[text[i]], 1
        while node >= 0:
            token = allowed(trie, node, eos, n_eos)
            if token >= 0 and tokens[i + depth] >= 0 and counts[i + depth] + 1 <= counts[i]:
                tokens[i], counts[i], lengths[i] = token, counts[i + depth] + 1, depth
            if i + depth == length:
                break
            end, node = trie.nodes[node].end, node + 1
            while node < end and trie.nodes[node].label >> 24 != text[i + depth]:
                node = trie.nodes[node].end
            if node >= end:
                break
            depth += 1


cdef int32_t allowed(Trie trie, int32_t node, const int32_t* eos, int32_t n_eos) noexcept nogil:
    """The first token that ends at a node and does not end the text, -1: there is none."""
    cdef int32_t i, j, group = <int32_t>(trie.nodes[node].label & GROUP) - 1
    if group >= 0:
        for i in range(trie.starts[group], trie.starts[group + 1]):
            for j in range(n_eos):
                if eos[j] == trie.ids[i]:
                    break
            else:
                return trie.ids[i]
    return -1
