"""Token masks: by a walk of the trie, by classification, by difference; see masks.pxd and the README's page on how it works."""
cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.classify cimport Classification, Crossing, classify, leaves_of
from llgcy.core.machine cimport Machine, Split
from llgcy.core.state cimport ALIVE, ASK, DEAD, Leaf, State
from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes
from llgcy.core.trie cimport GROUP, Node, Trie, Vocabulary

from llgcy.errors import LimitError

cdef enum:
    MERGE = 4           # crossings of at least so many subtrees are walked as one trie of remainders


cdef inline int put(Tokens* list_, int32_t token) except -1 nogil:
    cdef int32_t* more
    if list_.length == list_.room:
        more = <int32_t*>realloc(list_.ids, (2 * list_.room + 256) * sizeof(int32_t))
        if more == NULL:
            with gil:
                raise MemoryError()
        list_.ids = more
        list_.room = 2 * list_.room + 256
    list_.ids[list_.length] = token
    list_.length += 1
    return 0


cdef inline int put_group(Tokens* list_, Trie trie, uint32_t label) except -1 nogil:
    cdef int32_t t, g = <int32_t>(label & GROUP) - 1
    if g >= 0:
        for t in range(trie.starts[g], trie.starts[g + 1]):
            put(list_, trie.ids[t])
    return 0


cdef int put_subtree(Tokens* list_, Trie trie, int32_t node) except -1 nogil:
    cdef int32_t i
    for i in range(node, trie.nodes[node].end):
        put_group(list_, trie, trie.nodes[i].label)
    return 0


@cython.final
cdef class Masks:
    """The masks of one machine over one vocabulary.

    Parameters
    ----------
    machine : Machine
    vocabulary : Vocabulary
    budget : Budget
        For masks that are remembered; when it is spent, further masks are computed each time.
    """

    def __cinit__(self, Machine machine not None, Vocabulary vocabulary not None, Budget budget not None):
        self.machine, self.vocabulary, self.budget = machine, vocabulary, budget
        self.masks, self.ids, self.index = Arena(budget, sizeof(Mask)), Arena(budget, sizeof(int32_t)), Index(budget)
        self.own, self.dense = {}, []
        cdef size_t depth = vocabulary.trie.longest + 2
        self.stack = <State*>malloc(depth * sizeof(State))
        self.plain = <State*>malloc(depth * sizeof(State))
        self.ends = <int32_t*>malloc(depth * sizeof(int32_t))
        self.telling = <uint64_t*>malloc(depth * 4 * sizeof(uint64_t))
        self.marks = <uint32_t*>calloc(vocabulary.words + 1, 4)
        if self.stack == NULL or self.plain == NULL or self.ends == NULL or self.marks == NULL or self.telling == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.stack)
        free(self.plain)
        free(self.ends)
        free(self.sets.ids)
        free(self.clears.ids)
        free(self.asks.ids)
        free(self.adds.ids)
        free(self.marks)
        free(self.telling)

    def stats(self):
        """Counters of this grammar's masks, as a dict of int."""
        return {"masks": self.masks.length, "mask_bytes": self.budget.used, "walks": self.walks, "nodes_walked": self.walked,
                "classified": self.classified, "by_difference": self.differences, "classifications": len(self.own),
                "asked": self.asked, "not_remembered": self.forgotten}

    cdef const Mask* find(self, const State* key) noexcept nogil:
        cdef Probe probe
        cdef int32_t handle
        cdef Mask* mask
        self.index.begin(hash_bytes(key, sizeof(State)), &probe)
        while True:
            handle = self.index.next(&probe)
            if handle < 0:
                return NULL
            mask = <Mask*>self.masks.at(handle)
            if memcmp(&mask.key, key, sizeof(State)) == 0:
                return mask

    cdef const Mask* compute(self, const State* key) except NULL:
        cdef Mask mask
        cdef int accepting
        cdef int32_t token
        memset(&mask, 0, sizeof(Mask))
        mask.key = key[0]
        self.sets.length = self.clears.length = self.adds.length = self.asks.length = 0
        if not self._classified(key, &mask):
            self.walks += 1
            with nogil:
                self._walk(self.vocabulary.trie, 0, self.vocabulary.trie.size, key, &self.sets)
        with nogil:
            accepting = self.machine.accepting(key)
        if accepting:
            for token in self.vocabulary.eos:
                put(&self.sets, token)
        return self._keep(&mask)

    cdef int write(self, const Mask* mask, int32_t white_room, uint32_t* out) noexcept nogil:
        """Writes the mask's words; 1 where some token is not allowed, else 0."""
        cdef int32_t i, words = self.vocabulary.words
        cdef const int32_t* ids
        if mask.base == NULL:
            memset(out, 0, 4 * <size_t>words)
        else:
            memcpy(out, mask.base, 4 * <size_t>words)
        if mask.n_clears:
            ids = <const int32_t*>self.ids.at(mask.clears) if mask != &self.loose else self.clears.ids
            for i in range(mask.n_clears):
                out[ids[i] >> 5] &= ~(<uint32_t>1 << (ids[i] & 31))
        if mask.n_sets:
            ids = <const int32_t*>self.ids.at(mask.sets) if mask != &self.loose else self.sets.ids
            for i in range(mask.n_sets):
                out[ids[i] >> 5] |= <uint32_t>1 << (ids[i] & 31)
        if white_room >= 0:
            for i in range(self.vocabulary.white_tokens):
                if self.vocabulary.white_count[i] <= white_room:
                    break
                out[self.vocabulary.white[i] >> 5] &= ~(<uint32_t>1 << (self.vocabulary.white[i] & 31))
        for i in range(words - 1):
            if out[i] != 0xFFFFFFFFu:
                return 1
        return out[words - 1] != (0xFFFFFFFFu >> (32 * words - self.vocabulary.size)) if words else 0

    cdef int _walk(self, Trie trie, int32_t first, int32_t end, const State* at, Tokens* out) except -1 nogil:
        """Puts the tokens of the nodes [first, end) that the machine allows; subtrees it cannot answer for go to `asks`."""
        self.stack[0] = at[0]
        return self._descend(trie, first, end, 0, out)

    cdef int _descend(self, Trie trie, int32_t first, int32_t end, int32_t top, Tokens* out) except -1 nogil:
        """The walk itself, from stack[top]."""
        cdef int32_t i = first, depth = top
        cdef Node* node
        cdef int r
        self.ends[top] = end
        while i < end:
            while i >= self.ends[depth]:
                depth -= 1
            node = &trie.nodes[i]
            self.walked += 1
            r = self.machine.step(&self.stack[depth], node.label >> 24, False, &self.stack[depth + 1])
            if r == ALIVE:
                put_group(out, trie, node.label)
                depth += 1
                self.ends[depth] = node.end
                i += 1
                continue
            if r == ASK:
                put_subtree(&self.asks, trie, i)
            i = node.end
        return 0

    cdef int answer(self, const Mask* mask, const State* at, uint32_t* out) except -1 nogil:
        cdef int32_t i, j, length
        cdef const int32_t* ids = <const int32_t*>self.ids.at(mask.asks) if mask != &self.loose else self.asks.ids
        cdef const uint8_t* text
        cdef State state
        for i in range(mask.n_asks):
            self.asked += 1
            text = self.vocabulary.bytes_of(ids[i], &length)
            state = at[0]
            for j in range(length):
                if self.machine.step(&state, text[j], True, &state) != ALIVE:
                    break
            else:
                out[ids[i] >> 5] |= <uint32_t>1 << (ids[i] & 31)
        return 0

    cdef int _classified(self, const State* at, Mask* mask) except -1:
        """The mask from a classification; 0 where the state has none, and the trie must be walked."""
        cdef Split split
        cdef Classification by
        cdef State plain
        cdef int kind
        cdef int32_t i
        cdef bint counted = False
        cdef bytes leaves = None
        cdef const Leaf* ends = NULL
        with nogil:
            kind = self.machine.split(at, &split)
        if not kind:
            return 0
        if split.free:
            counted = split.least > 0 or split.most < self.vocabulary.trie.longest
            by = self._free(counted)
        else:
            by, leaves = self._classification(&split.plain)
            ends = <const Leaf*><const char*>leaves
        self.classified += 1
        mask.base = by.up_to(<int32_t>split.most) if counted and split.most < self.vocabulary.trie.longest else by.inside
        plain = at[0]
        for i in range(by.count):
            if split.free:
                if counted and by.crossings[i].characters > split.most:
                    continue
                with nogil:
                    self.machine.later(&split.plain, by.crossings[i].characters if counted else 0, &plain.leaf)
            else:
                plain.leaf = ends[by.crossings[i].end]
            self._cross(by, i, &plain)
        if split.apart:
            self.differences += 1
            plain.leaf = split.plain
            with nogil:
                self._difference(self.vocabulary.trie, at, &plain)
        return 1

    cdef int _cross(self, Classification by, int32_t crossing, const State* at) except -1:
        """Puts the tokens of one crossing that the machine allows from `at`, the state just before the byte that crosses."""
        cdef Crossing* one = &by.crossings[crossing]
        cdef State after
        cdef int r
        cdef int32_t i
        cdef Trie trie
        with nogil:
            r = self.machine.step(at, one.byte, False, &after)
        if r == DEAD:
            return 0
        if one.count >= MERGE:
            trie = by.remainders(crossing)
            with nogil:
                self._walk(trie, 0, trie.size, at, &self.sets)
            return 0
        trie = self.vocabulary.trie
        with nogil:
            for i in range(one.first, one.first + one.count):
                self._walk(trie, by.records[i].node, trie.nodes[by.records[i].node].end, at, &self.sets)
        return 0

    cdef int _difference(self, Trie trie, const State* at, const State* plain) except -1 nogil:
        """Corrects the plain state's mask wherever names tell `at` from it, and stops where the two have met."""
        cdef int32_t i = 0, depth = 0
        cdef Node* node
        cdef int new, old
        cdef State* a
        cdef State* b
        cdef uint64_t* telling = self.telling
        cdef uint8_t byte
        self.stack[0], self.plain[0], self.ends[0] = at[0], plain[0], trie.size
        self.machine.telling(at, telling)
        while i < trie.size:
            while i >= self.ends[depth]:
                depth -= 1
                telling -= 4
            node = &trie.nodes[i]
            byte = node.label >> 24
            a, b = &self.stack[depth], &self.plain[depth]
            if b.mode and not telling[byte >> 6] >> (byte & 63) & 1:
                i = node.end
                continue
            self.walked += 1
            new = self.machine.step(a, byte, False, a + 1)
            old = self.machine.step(b, byte, False, b + 1) if b.mode else DEAD
            if old != ALIVE:
                b[1].mode = 0
            if new == DEAD:
                if old != DEAD:
                    put_subtree(&self.clears, trie, i)
                i = node.end
                continue
            if new == ASK or a[1].mode != at.mode:          # the end of the name: what follows may be another row
                put_subtree(&self.clears, trie, i)
                if new == ASK:
                    put_subtree(&self.asks, trie, i)
                else:
                    put_group(&self.adds, trie, node.label)
                    self._descend(trie, i + 1, node.end, depth + 1, &self.adds)
                i = node.end
                continue
            if old != ALIVE or b[1].mode != at.mode:        # only a name goes on here
                put_group(&self.adds, trie, node.label)
                b[1].mode = 0
            elif a[1].leaf.d < 0 and a[1].leaf.u < 0:
                i = node.end
                continue
            depth += 1
            telling += 4
            self.machine.telling(a + 1, telling)
            self.ends[depth] = node.end
            i += 1
        return self._settle()

    cdef int _settle(self) except -1 nogil:
        """Takes the clears from the sets, then puts the adds to them."""
        cdef int32_t i, kept = 0, token
        for i in range(self.clears.length):
            token = self.clears.ids[i]
            self.marks[token >> 5] |= <uint32_t>1 << (token & 31)
        for i in range(self.sets.length):
            token = self.sets.ids[i]
            if not self.marks[token >> 5] >> (token & 31) & 1:
                self.sets.ids[kept] = token
                kept += 1
        self.sets.length = kept
        for i in range(self.clears.length):
            self.marks[self.clears.ids[i] >> 5] = 0
        for i in range(self.adds.length):
            put(&self.sets, self.adds.ids[i])
        return 0

    cdef tuple _classification(self, const Leaf* leaf):
        """The classification of a place, and where its paths lead in this grammar."""
        cdef bytes key = (<const char*>leaf)[:sizeof(Leaf)]
        cdef tuple known = self.own.get(key)
        cdef Classification by
        if known is None:
            content = self.machine.leaf_content(leaf)
            by = None if content is None else self.vocabulary.recall(content)
            if by is None:
                by = classify(self.machine, self.vocabulary, leaf, False)
                if content is not None:
                    self.vocabulary.remember(content, by, by.bytes)
            known = self.own[key] = (by, leaves_of(self.machine, leaf, by.paths))
        return known

    cdef Classification _free(self, bint counted):
        cdef Leaf leaf
        cdef Classification by = self.vocabulary.recall(("string", counted))
        if by is None:
            with nogil:
                self.machine.free_leaf(counted, &leaf)
            by = classify(self.machine, self.vocabulary, &leaf, counted)
            self.vocabulary.remember(("string", counted), by, by.bytes)
        return by

    cdef const Mask* _keep(self, Mask* mask) except NULL:
        """Stores the mask made of the scratch lists; where there is no room, it is good until the next computation."""
        cdef int32_t handle
        cdef bytes dense
        cdef uint32_t* words
        cdef int32_t i
        mask.n_sets, mask.n_clears, mask.n_asks = self.sets.length, self.clears.length, self.asks.length
        try:
            if mask.base == NULL and mask.n_sets > self.vocabulary.words:      # as dense words it is smaller
                self.budget.take(4 * <size_t>self.vocabulary.words)
                dense = bytes(4 * self.vocabulary.words)
                words = <uint32_t*><char*>dense
                for i in range(mask.n_sets):
                    words[self.sets.ids[i] >> 5] |= <uint32_t>1 << (self.sets.ids[i] & 31)
                self.dense.append(dense)
                mask.base, mask.n_sets = <const uint32_t*><char*>dense, 0
            if mask.n_clears:
                mask.clears = self.ids.add(mask.n_clears)
                memcpy(self.ids.at(mask.clears), self.clears.ids, mask.n_clears * sizeof(int32_t))
            if mask.n_sets:
                mask.sets = self.ids.add(mask.n_sets)
                memcpy(self.ids.at(mask.sets), self.sets.ids, mask.n_sets * sizeof(int32_t))
            if mask.n_asks:
                mask.asks = self.ids.add(mask.n_asks)
                memcpy(self.ids.at(mask.asks), self.asks.ids, mask.n_asks * sizeof(int32_t))
            handle = self.masks.add(1)
            (<Mask*>self.masks.at(handle))[0] = mask[0]
            self.index.add(hash_bytes(&mask.key, sizeof(State)), handle)
            return <const Mask*>self.masks.at(handle)
        except LimitError:
            self.forgotten += 1
            self.loose = mask[0]
            return &self.loose
