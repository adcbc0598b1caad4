"""Classifications: see classify.pxd."""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.lock cimport Lock, atomic_store
from llgcy.core.machine cimport MISS, RUN, Alike, Machine
from llgcy.core.state cimport ALIVE, CROSS, DEAD, Leaf
from llgcy.core.store cimport hash_bytes
from llgcy.core.trie cimport BROKEN, CONTROL, GROUP, Entry, Node, Trie, Vocabulary, kind_of, sort_entries


cdef struct Memo:           # of the walk, about a leaf between two characters
    Leaf leaf
    Alike alike
    uint64_t[2] kinds       # all of whose characters lead to alike.to, see trie.kind_of
    int32_t run             # that many characters of these kinds, whichever, lead from one leaf to one other; 0: not counted yet

cdef enum:
    MEMOS = 256             # by hash of the leaf
    LONGEST_RUN = 48        # that is counted; a token of more bytes is looked at byte by byte until so many are left
    EVER = 1 << 30          # the run of a leaf that leads to itself


cdef int by_crossing(const void* a, const void* b) noexcept nogil:
    cdef const Record* x = <const Record*>a
    cdef const Record* y = <const Record*>b
    if x.leaf != y.leaf:
        return x.leaf - y.leaf
    if x.byte != y.byte:
        return x.byte - y.byte
    return x.node - y.node


cdef int by_node(const void* a, const void* b) noexcept nogil:
    return (<const Record*>a).node - (<const Record*>b).node


@cython.final
cdef class Classification:
    """Made by `classify`; see classify.pxd."""

    def __dealloc__(self):
        free(self.inside)
        free(self.counted)
        free(self.characters)
        free(self.crossings)
        free(self.records)

    cdef int merge(self, int32_t crossing) except -1:
        cdef Crossing* one = &self.crossings[crossing]
        cdef Trie trie, main = self.vocabulary.trie
        cdef Entry* rest = NULL
        cdef int32_t i, j, n = 0, low, high, length
        cdef Record* record
        if one.merged >= 0:
            return 0
        for i in range(one.first, one.first + one.count):
            subtree(main, self.records[i].node, &low, &high)
            n += high - low
        rest = <Entry*>malloc((n + 1) * sizeof(Entry))
        if rest == NULL:
            raise MemoryError()
        try:
            n = 0
            for i in range(one.first, one.first + one.count):
                record = &self.records[i]
                subtree(main, record.node, &low, &high)
                for j in range(low, high):
                    rest[n].id = main.ids[j]
                    rest[n].text = self.vocabulary.bytes_of(main.ids[j], &length) + record.depth
                    rest[n].length = length - record.depth
                    n += 1
            sort_entries(rest, n)
            trie = Trie()
            trie.build(rest, n)
        finally:
            free(rest)
        self.tries.append(trie)
        self.bytes += trie.size * sizeof(Node) + n * 8
        one.trie = <void*>trie
        atomic_store(&one.merged, <int32_t>len(self.tries) - 1)
        return 0

    cdef const uint32_t* up_to(self, int32_t most) except NULL:
        cdef uint32_t* words
        cdef int32_t i, low = 0, high = self.tokens
        cdef bytes dense
        if self.tokens == 0 or most >= self.characters[self.tokens - 1]:
            return self.inside
        dense = self.prefixes.get(most)
        if dense is None:
            dense = bytes(4 * self.vocabulary.words)
            words = <uint32_t*><char*>dense         # filled before anyone else sees it
            while low < high:                       # to the first token with more
                i = (low + high) >> 1
                if self.characters[i] <= most:
                    low = i + 1
                else:
                    high = i
            if low > self.tokens // 2:
                memcpy(words, self.inside, 4 * <size_t>self.vocabulary.words)
                for i in range(low, self.tokens):
                    words[self.counted[i] >> 5] &= ~(<uint32_t>1 << (self.counted[i] & 31))
            else:
                for i in range(low):
                    words[self.counted[i] >> 5] |= <uint32_t>1 << (self.counted[i] & 31)
            self.prefixes[most] = dense
            self.bytes += 4 * self.vocabulary.words
        return <const uint32_t*><char*>dense


cdef void subtree(Trie trie, int32_t node, int32_t* low, int32_t* high) noexcept nogil:
    """The run of ids of the tokens at or below a node (groups are numbered in the order of the nodes)."""
    cdef int32_t i = node
    while i < trie.nodes[node].end and not trie.nodes[i].label & GROUP:
        i += 1
    low[0] = trie.starts[(trie.nodes[i].label & GROUP) - 1]         # every subtree ends in tokens
    i = trie.nodes[node].end - 1                                    # the last node of a subtree is a leaf, so a token ends there
    high[0] = trie.starts[trie.nodes[i].label & GROUP]


cdef Classification classify(Machine machine, Vocabulary vocabulary, Lock lock, const Leaf* leaf, bint counted):
    """Sorts the vocabulary by what `leaf_step` says of each token. `counted`: also by characters (leaf.k, from leaf's own on)."""
    cdef Classification out = Classification()
    cdef Trie trie = vocabulary.trie
    cdef Leaf* stack = NULL
    cdef int32_t* ends = NULL
    cdef int32_t* first = NULL
    cdef int32_t* counts = NULL
    cdef Gathered gathered
    cdef int32_t i = 0, depth = 0, g, t, k, highest = 0
    cdef int r
    cdef int32_t held = 0           # nodes for which the lock is still kept; 0: it is not held
    cdef Node* node
    cdef uint8_t byte
    cdef Leaf* here
    cdef Memo* memo = NULL
    cdef Memo memos[MEMOS]
    cdef bint knows = False         # may `memos` say anything?
    memset(memos, 0xFF, sizeof(memos))      # no leaf: lang is negative
    memset(&gathered, 0, sizeof(Gathered))
    out.vocabulary, out.tries, out.prefixes, out.paths = vocabulary, [], {}, []
    out.inside = <uint32_t*>calloc(vocabulary.words + 1, 4)
    stack = <Leaf*>malloc((trie.longest + 2) * sizeof(Leaf))
    ends = <int32_t*>malloc((trie.longest + 2) * sizeof(int32_t))
    if counted:
        first = <int32_t*>malloc((trie.tokens + 1) * sizeof(int32_t))
        counts = <int32_t*>malloc((trie.longest + 2) * sizeof(int32_t))
        out.counted = <int32_t*>malloc((trie.tokens + 1) * sizeof(int32_t))
        out.characters = <int32_t*>malloc((trie.tokens + 1) * sizeof(int32_t))
    try:
        if out.inside == NULL or stack == NULL or ends == NULL or (
                counted and (first == NULL or counts == NULL or out.counted == NULL or out.characters == NULL)):
            raise MemoryError()
        with nogil:
            stack[0], ends[0] = leaf[0], trie.size
            lock.acquire()
            held = RUN
            knows = machine.leaf_alike(leaf, &memos[0].alike)
            while i < trie.size:
                while i >= ends[depth]:
                    depth -= 1
                if held:
                    held -= 1
                    if held == 0:
                        lock.pass_on()
                node = &trie.nodes[i]
                byte = node.label >> 24
                here = &stack[depth]
                r = CROSS
                if knows and here.pos == 0:
                    if memo == NULL or memcmp(&memo.leaf, here, sizeof(Leaf)):      # else it is that of the node before, as often
                        memo = memo_of(memos, here, machine, lock, &held)
                    if has_all(memo.kinds, &vocabulary.kinds[2 * i]):
                        if memo.run == 0:
                            t = run_of(memos, here, machine, lock, &held)
                            memo = memo_of(memos, here, machine, lock, &held)
                            memo.run = t
                        if vocabulary.heights[i] <= memo.run:
                            if counted:
                                k = count_inside(out, trie, i, here.k - leaf.k, first, ends + depth + 1, counts)
                                highest = k if k > highest else highest
                            else:
                                put_inside(out, trie, i)
                            i = node.end
                            continue
                    if byte < 0x80 and memo.alike.ascii[byte >> 6] >> (byte & 63) & 1:
                        here[1] = memo.alike.to
                        r = ALIVE
                if r != ALIVE:
                    r = MISS if held else machine.ready_leaf_step(here, byte, here + 1)
                if r == MISS:
                    if held == 0:
                        lock.acquire()
                        held = RUN
                    r = machine.leaf_step(here, byte, here + 1)
                if r == ALIVE:
                    if node.label & GROUP:
                        g = (node.label & GROUP) - 1
                        for t in range(trie.starts[g], trie.starts[g + 1]):
                            out.inside[trie.ids[t] >> 5] |= <uint32_t>1 << (trie.ids[t] & 31)
                            if counted:
                                k = stack[depth + 1].k - leaf.k + (stack[depth + 1].pos != 0)
                                first[out.tokens], out.counted[out.tokens] = k, trie.ids[t]
                                highest = k if k > highest else highest
                            out.tokens += 1
                    depth += 1
                    ends[depth] = node.end
                    i += 1
                    continue
                if r == CROSS and note(out, &gathered, here, byte, i, depth):
                    with gil:
                        out.paths.append(path_to(trie, i, depth))
                i = node.end
        if counted:
            sort_by_count(out, first, highest)
        make_crossings(out, &gathered, leaf)
    finally:
        if held:
            lock.release()
        free(stack)
        free(ends)
        free(first)
        free(counts)
        free(gathered.leaves)
    if counted:
        out.bytes += 8 * out.tokens
    return out


cdef Memo* memo_of(Memo* memos, const Leaf* leaf, Machine machine, Lock lock, int32_t* held) except NULL nogil:
    """What is known of a leaf; until another one is asked for."""
    cdef Memo* memo = &memos[hash_bytes(leaf, sizeof(Leaf)) % MEMOS]
    if memcmp(&memo.leaf, leaf, sizeof(Leaf)) == 0:
        return memo
    if held[0] == 0:
        lock.acquire()
        held[0] = RUN
    memo.leaf.lang = -1             # nothing is known where this fails
    machine.leaf_alike(leaf, &memo.alike)
    kinds_alike(&memo.alike, memo.kinds)
    memo.leaf = leaf[0]
    memo.run = EVER if memcmp(&memo.alike.to, leaf, sizeof(Leaf)) == 0 else 0
    return memo


cdef void kinds_alike(const Alike* alike, uint64_t* kinds) noexcept nogil:
    """The kinds of characters all of which are among those."""
    cdef int byte
    kinds[0] = alike.ascii[0] | <uint32_t>~(1 << BROKEN | 1 << CONTROL)
    kinds[1] = alike.ascii[1]
    for byte in range(0xC2, 0xF5):
        if not alike.leads >> (byte - 0xC0) & 1:
            kinds[0] &= ~(<uint64_t>1 << kind_of(<uint8_t>byte))


cdef int kinds_kept(Machine machine, const Leaf* leaf, uint64_t* kinds) except -1 nogil:
    cdef Alike alike
    kinds[0] = kinds[1] = 0
    if machine.leaf_alike(leaf, &alike) and memcmp(&alike.to, leaf, sizeof(Leaf)) == 0:
        kinds_alike(&alike, kinds)
    return 0


cdef int32_t run_of(Memo* memos, const Leaf* leaf, Machine machine, Lock lock, int32_t* held) except -1 nogil:
    """Memo.run of a leaf; another memo may have taken the place of its own."""
    cdef const Memo* memo = memo_of(memos, leaf, machine, lock, held)
    cdef uint64_t[2] kinds = [memo.kinds[0], memo.kinds[1]]
    cdef Leaf at
    cdef int32_t i
    for i in range(1, LONGEST_RUN):
        at = memo.alike.to
        memo = memo_of(memos, &at, machine, lock, held)
        if not has_all(memo.kinds, kinds):
            return i
        if memo.run:
            return min(i + memo.run, <int32_t>EVER)
    return LONGEST_RUN


cdef void put_inside(Classification out, Trie trie, int32_t node) noexcept nogil:
    """All tokens of a subtree stay inside."""
    cdef int32_t t, low, high
    subtree(trie, node, &low, &high)
    for t in range(low, high):
        out.inside[trie.ids[t] >> 5] |= <uint32_t>1 << (trie.ids[t] & 31)
    out.tokens += high - low


cdef int32_t count_inside(
        Classification out, Trie trie, int32_t node, int32_t characters, int32_t* first, int32_t* ends, int32_t* counts) noexcept nogil:
    """The same, with the characters of each, begun ones too, of which there are some before the node. The most that any has."""
    cdef int32_t i, t, g, depth = 0, most = 0
    ends[0], counts[0] = trie.nodes[node].end, characters
    for i in range(node, trie.nodes[node].end):
        while i >= ends[depth]:
            depth -= 1
        counts[depth + 1] = counts[depth] + ((trie.nodes[i].label >> 24 & 0xC0) != 0x80)
        depth += 1
        ends[depth] = trie.nodes[i].end
        g = <int32_t>(trie.nodes[i].label & GROUP) - 1
        if g >= 0:
            most = max(most, counts[depth])
            for t in range(trie.starts[g], trie.starts[g + 1]):
                out.inside[trie.ids[t] >> 5] |= <uint32_t>1 << (trie.ids[t] & 31)
                first[out.tokens], out.counted[out.tokens] = counts[depth], trie.ids[t]
                out.tokens += 1
    return most


cdef Classification classify_roaming(Machine machine, Vocabulary vocabulary, Lock lock, const Leaf* leaf, Classification free_):
    cdef Classification out = Classification()
    cdef Trie trie = vocabulary.trie
    cdef Leaf* stack = NULL
    cdef Record* records = NULL
    cdef Gathered gathered
    cdef Leaf after
    cdef const uint8_t* text = NULL
    cdef const uint8_t* before = NULL
    cdef int32_t n = 0, i, j, depth = 0, common, low, high, length, held = RUN
    cdef bint stayed = True
    memset(&gathered, 0, sizeof(Gathered))
    if free_.count:
        n = free_.crossings[free_.count - 1].first + free_.crossings[free_.count - 1].count
    out.vocabulary, out.tries, out.prefixes, out.paths, out.tokens = vocabulary, [], {}, [], free_.tokens
    out.inside = <uint32_t*>calloc(vocabulary.words + 1, 4)
    stack = <Leaf*>malloc((trie.longest + 2) * sizeof(Leaf))
    records = <Record*>malloc((n + 1) * sizeof(Record))
    try:
        if out.inside == NULL or stack == NULL or records == NULL:
            raise MemoryError()
        memcpy(out.inside, free_.inside, 4 * <size_t>vocabulary.words)
        if n:
            memcpy(records, free_.records, n * sizeof(Record))
        qsort(records, n, sizeof(Record), by_node)
        stack[0] = leaf[0]
        with nogil:
            lock.acquire()
            try:
                for i in range(n):
                    # neighbours among the nodes have most of their path in common
                    subtree(trie, records[i].node, &low, &high)
                    text = vocabulary.bytes_of(trie.ids[low], &length)
                    common = 0
                    while common < depth and common < records[i].depth and text[common] == before[common]:
                        common += 1
                    before, depth = text, records[i].depth
                    for j in range(common, depth):
                        stayed = stayed and machine.leaf_step(&stack[j], text[j], &stack[j + 1]) == ALIVE
                    if not stayed:
                        break
                    held -= depth - common + 1
                    if held <= 0:
                        lock.pass_on()
                        held = RUN
                    if machine.leaf_step(&stack[depth], <uint8_t>records[i].byte, &after) != CROSS:
                        continue
                    if note(out, &gathered, &stack[depth], <uint8_t>records[i].byte, records[i].node, depth):
                        with gil:
                            out.paths.append(text[:depth])
            finally:
                lock.release()
        if not stayed:
            return None
        make_crossings(out, &gathered, leaf)
    finally:
        free(stack)
        free(records)
        free(gathered.leaves)
    return out


cdef bint note(Classification out, Gathered* gathered, const Leaf* at, uint8_t byte, int32_t node, int32_t depth) except -1 nogil:
    """Adds a record; whether its leaf is new."""
    cdef int32_t j = gathered.n_leaves - 1
    cdef bint fresh
    cdef Record* record
    while j >= 0 and memcmp(&gathered.leaves[j], at, sizeof(Leaf)):
        j -= 1
    fresh = j < 0
    if fresh:
        if gathered.n_leaves == gathered.room_leaves:
            gathered.leaves = <Leaf*>grown(gathered.leaves, (2 * gathered.room_leaves + 16) * sizeof(Leaf))
            gathered.room_leaves = 2 * gathered.room_leaves + 16
        j = gathered.n_leaves
        gathered.leaves[j] = at[0]
        gathered.n_leaves += 1
    if gathered.n_records == gathered.room_records:
        out.records = <Record*>grown(out.records, (2 * gathered.room_records + 256) * sizeof(Record))
        gathered.room_records = 2 * gathered.room_records + 256
    record = &out.records[gathered.n_records]
    record.leaf, record.byte, record.node, record.depth = j, byte, node, depth
    gathered.n_records += 1
    return fresh


cdef int make_crossings(Classification out, const Gathered* gathered, const Leaf* leaf) except -1:
    """Sorts the records gathered from `leaf` on into crossings."""
    cdef int32_t i, j, last, n = gathered.n_records
    cdef Crossing* crossing
    if n:
        qsort(out.records, n, sizeof(Record), by_crossing)          # without records there is no list
    out.crossings = <Crossing*>calloc(n + 1, sizeof(Crossing))
    if out.crossings == NULL:
        raise MemoryError()
    for i in range(n):
        if i == 0 or out.records[i].leaf != out.records[i - 1].leaf or out.records[i].byte != out.records[i - 1].byte:
            last = out.count
            j = out.records[i].leaf
            crossing = &out.crossings[last]
            crossing.end, crossing.byte, crossing.characters = j, <uint8_t>out.records[i].byte, gathered.leaves[j].k - leaf.k
            crossing.first, crossing.merged = i, -1
            out.count += 1
        out.crossings[out.count - 1].count += 1
    out.bytes = 4 * out.vocabulary.words + n * (sizeof(Record) + sizeof(Crossing))
    return 0


cdef bytes path_to(Trie trie, int32_t node, int32_t depth):
    """The bytes above a node: of the nodes before it, those whose subtree it lies in."""
    cdef bytearray out = bytearray(depth)
    cdef int32_t i = node - 1
    while depth:
        if trie.nodes[i].end > node:
            depth -= 1
            out[depth] = trie.nodes[i].label >> 24
        i -= 1
    return bytes(out)


cdef bytes leaves_of(Machine machine, const Leaf* leaf, list paths):
    cdef bytearray out = bytearray(len(paths) * sizeof(Leaf))
    cdef char* data = out
    cdef Leaf* to = <Leaf*>data
    cdef bytes path
    cdef uint8_t byte
    for path in paths:
        to[0] = leaf[0]
        for byte in path:
            if machine.leaf_step(to, byte, to) != ALIVE:
                raise AssertionError(f"two places of one content differ at {path!r}")
        to += 1
    return bytes(out)


cdef void* grown(void* old, size_t n) except NULL nogil:
    """realloc that leaves the old block to its owner where it fails."""
    cdef void* new = realloc(old, n)
    if new == NULL:
        with gil:
            raise MemoryError(f"no {n:,} bytes")
    return new


cdef int sort_by_count(Classification out, const int32_t* count, int32_t highest) except -1:
    """A counting sort: few different numbers of characters, many tokens."""
    cdef int32_t* at = <int32_t*>calloc(highest + 2, sizeof(int32_t))
    cdef int32_t* sorted_ids = <int32_t*>malloc((out.tokens + 1) * sizeof(int32_t))
    cdef int32_t i, t
    if at == NULL or sorted_ids == NULL:
        free(at)
        free(sorted_ids)
        raise MemoryError()
    for i in range(out.tokens):
        at[count[i] + 1] += 1
    for i in range(highest + 1):
        at[i + 1] += at[i]
    for i in range(out.tokens):
        t = at[count[i]]
        at[count[i]] += 1
        sorted_ids[t], out.characters[t] = out.counted[i], count[i]
    free(at)
    free(out.counted)
    out.counted = sorted_ids
    return 0
