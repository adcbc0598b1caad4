"""Token masks: by a walk of the trie, by classification, by difference; see masks.pxd and the README's page on how it works."""
cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from llgcy.core.classify cimport Classification, Crossing, classify, classify_roaming, leaves_of
from llgcy.core.lock cimport Lock, atomic_load, lock_stripe, unlock_stripe
from llgcy.core.machine cimport Machine, Split
from llgcy.core.shelf cimport Mask, Shelf
from llgcy.core.state cimport ALIVE, ASK, DEAD, Leaf, State
from llgcy.core.store cimport hash_bytes
from llgcy.core.trie cimport GROUP, Node, Trie, Vocabulary

from llgcy.errors import BudgetError, TokenizerError

cdef enum:
    SMALLEST = 1 << 12  # bytes of a shelf, whatever the limit is: it begins with a table
    IDLE = 64           # computations that are kept for the next ones
    MERGE = 4           # crossings of at least so many subtrees are walked as one trie of remainders


cdef uint64_t WHITE = <uint64_t>1 << 0x20 | 1 << 0x09 | 1 << 0x0A | 1 << 0x0D      # of JSON: RFC 8259, section 2

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
cdef class Work:
    """The scratch memory of one computation, and its hold on the lock; made by `Masks`."""

    def __cinit__(self, Machine machine not None, Vocabulary vocabulary not None, Lock lock not None):
        cdef size_t depth = vocabulary.trie.longest + 2
        self.machine, self.vocabulary, self.lock = machine, vocabulary, lock
        self.stack = <State*>malloc(depth * sizeof(State))
        self.plain = <State*>malloc(depth * sizeof(State))
        self.ends = <int32_t*>malloc(depth * sizeof(int32_t))
        self.telling = <uint64_t*>malloc(depth * 4 * sizeof(uint64_t))
        self.coming = <uint64_t*>malloc(depth * 4 * sizeof(uint64_t))
        self.marks = <uint32_t*>calloc(vocabulary.words + 1, 4)
        if self.stack == NULL or self.plain == NULL or self.ends == NULL or self.marks == NULL or self.telling == NULL or \
                self.coming == NULL:
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
        free(self.coming)

    cdef int put_ended(self, Trie trie, Tokens* list_, uint32_t label, const State* at) except -1 nogil:
        cdef State after
        cdef int r
        if label & GROUP:
            r = self.ticked(at, &after)
            if r != DEAD:
                put_group(list_ if r == ALIVE else &self.asks, trie, label)
        return 0

    cdef int walk(self, Trie trie, const State* at, bint white, Tokens* out) except -1 nogil:
        """Puts the tokens of a trie that the machine allows, those that begin with white space only if `white`."""
        cdef uint64_t coming[4]
        cdef int32_t byte, root
        self.stack[0] = at[0]
        self.machine.may_come(at, coming)
        if not white:
            coming[0] &= ~WHITE
        for byte in range(256):
            if coming[byte >> 6] >> (byte & 63) & 1:
                root = trie.roots[byte]
                if root >= 0:
                    self.descend(trie, root, trie.nodes[root].end, 0, out)
        return 0

    cdef int walk_all(self, const State* at) except -1 nogil:
        """Puts the tokens of the whole vocabulary. White space before a token is no part of the walk where it decides nothing."""
        cdef State behind
        cdef int32_t i, room = 0
        cdef int white
        self.hold()
        white = self.machine.behind_white(at, &behind, &room)
        self.walk(self.vocabulary.trie, at, white == MISS, &self.sets)
        if white == MISS or white == DEAD:
            return 0
        for i in range(self.vocabulary.n_blank):
            put(&self.sets, self.vocabulary.blank[i])
        self.walk(self.vocabulary.behind_white, &behind, True, &self.sets)
        for i in range(self.vocabulary.white_tokens):      # those with the most white space come first
            if self.vocabulary.white_count[i] <= room:
                break
            put(&self.clears, self.vocabulary.white[i])
        if self.clears.length:
            self.settle()
            self.clears.length = 0
        return 0

    cdef int descend(self, Trie trie, int32_t first, int32_t end, int32_t top, Tokens* out) except -1 nogil:
        """The walk itself: of the nodes [first, end) from stack[top]; subtrees that the machine cannot answer for go to `asks`."""
        cdef int32_t i = first, depth = top
        cdef uint64_t* coming = self.coming + 4 * top
        cdef Node* node
        cdef uint8_t byte
        cdef int r
        self.ends[top] = end
        self.machine.may_come(&self.stack[top], coming)
        while i < end:
            while i >= self.ends[depth]:
                depth -= 1
                coming -= 4
            node = &trie.nodes[i]
            byte = node.label >> 24
            if not coming[byte >> 6] >> (byte & 63) & 1:
                i = node.end
                continue
            self.walked += 1
            r = self.step(&self.stack[depth], byte, &self.stack[depth + 1])
            if r == ALIVE:
                if self.machine.counts_tokens:
                    self.put_ended(trie, out, node.label, &self.stack[depth + 1])
                else:
                    put_group(out, trie, node.label)
                i += 1
                if i < node.end:
                    depth += 1
                    coming += 4
                    self.ends[depth] = node.end
                    self.machine.may_come(&self.stack[depth], coming)
                continue
            if r == ASK:
                put_subtree(&self.asks, trie, i)
            i = node.end
        return 0

    cdef int cross(self, int32_t crossing, const State* at) except -1 nogil:
        """Puts the tokens of one crossing that the machine allows from `at`, the state just before the byte that crosses."""
        cdef const Crossing* one = &self.by.crossings[crossing]
        cdef State after
        cdef int32_t i, node
        if self.step(at, one.byte, &after) == DEAD:
            return 0
        if one.count >= MERGE:
            if atomic_load(&one.merged) < 0:
                with gil:
                    self.by.merge(crossing)
            return self.walk(<Trie>one.trie, at, True, &self.sets)
        self.stack[0] = at[0]
        for i in range(one.first, one.first + one.count):
            node = self.by.records[i].node
            self.descend(self.vocabulary.trie, node, self.vocabulary.trie.nodes[node].end, 0, &self.sets)
        return 0

    cdef int difference(self, const State* at, const State* plain) except -1 nogil:
        """Corrects the plain state's mask wherever names tell `at` from it, and stops where the two have met."""
        cdef uint64_t telling[4]
        cdef int32_t byte, root
        self.stack[0], self.plain[0] = at[0], plain[0]
        self.hold()
        self.machine.telling(at, telling)
        for byte in range(256):
            if telling[byte >> 6] >> (byte & 63) & 1:
                root = self.vocabulary.trie.roots[byte]
                if root >= 0:
                    self.differ(self.vocabulary.trie, root)
        return self.settle()

    cdef int differ(self, Trie trie, int32_t first) except -1 nogil:
        """The same for the subtree of a root, as `clears` and `adds`."""
        cdef int32_t i = first, depth = 0
        cdef Node* node
        cdef int new, old
        cdef State* a
        cdef State* b
        cdef uint64_t* telling = self.telling
        cdef uint8_t byte
        self.ends[0] = trie.nodes[first].end
        telling[0] = telling[1] = telling[2] = telling[3] = ~<uint64_t>0
        while i < trie.nodes[first].end:
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
            new = self.step(a, byte, a + 1)
            old = self.step(b, byte, b + 1) if b.mode else DEAD
            if old != ALIVE:
                b[1].mode = 0
            if new == DEAD:
                if old != DEAD:
                    put_subtree(&self.clears, trie, i)
                i = node.end
                continue
            if new == ASK or a[1].mode != self.stack[0].mode:       # the end of the name: what follows may be another row
                put_subtree(&self.clears, trie, i)
                if new == ASK:
                    put_subtree(&self.asks, trie, i)
                else:
                    self.put_ended(trie, &self.adds, node.label, a + 1)
                    self.descend(trie, i + 1, node.end, depth + 1, &self.adds)
                i = node.end
                continue
            if old != ALIVE or b[1].mode != self.stack[0].mode:     # only a name goes on here
                self.put_ended(trie, &self.adds, node.label, a + 1)
                b[1].mode = 0
            elif a[1].leaf.d < 0 and a[1].leaf.u < 0:
                i = node.end
                continue
            depth += 1
            telling += 4
            self.hold()
            self.machine.telling(a + 1, telling)
            self.ends[depth] = node.end
            i += 1
        return 0

    cdef int settle(self) except -1 nogil:
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


@cython.final
cdef class Masks:
    """The masks of one machine over one vocabulary.

    Parameters
    ----------
    machine : Machine
    vocabulary : Vocabulary
    lock : Lock
        Of the machine.
    size : int
        Bytes of all masks that are remembered, some KB in any case. Beyond it, those that were not asked for the longest go, in two
        lots.
    """

    def __cinit__(self, Machine machine not None, Vocabulary vocabulary not None, Lock lock not None, size_t size):
        self.machine, self.vocabulary, self.lock, self.size, self.idle = machine, vocabulary, lock, max(size // 2, <size_t>SMALLEST), []
        self.young, self.old = Shelf(self.size), Shelf(self.size)

    def stats(self):
        """Counters of this grammar's masks, as a dict of int."""
        return {"masks": self.young.masks.length + self.old.masks.length, "mask_bytes": self.young.budget.used + self.old.budget.used,
                "walks": self.walks, "nodes_walked": self.walked, "classified": self.classified, "by_difference": self.differences,
                "classifications": len(self.young.places) + len(self.old.places), "asked": self.asked,
                "not_remembered": self.forgotten, "turns": self.turns, "hits": self.hits, "shared": self.shared, "roaming": self.roaming}

    cdef const Mask* find(self, const State* key):
        cdef const Mask* mask = self.young.find(key)
        if mask == NULL and self.turns:
            mask = self.old.find(key)
            # What is still asked for moves on, unless that would mean to wait.
            if mask != NULL and self.lock.try_acquire():
                try:
                    mask = self.young.keep(mask)
                except BudgetError:
                    pass            # the next mask that is computed turns the shelves
                finally:
                    self.lock.release()
        self.hits += mask != NULL
        return mask

    cdef Work begin(self):
        """Scratch memory for a computation."""
        cdef Work work = self.idle.pop() if self.idle else Work(self.machine, self.vocabulary, self.lock)
        work.young, work.old = self.young, self.old
        memset(&work.mask, 0, sizeof(Mask))
        work.kind, work.sorted, work.later, work.made = -1, False, False, False
        return work

    cdef int end(self, Work work) except -1:
        """Takes it back, and notes what was done."""
        self.walks += work.walks
        self.walked += work.walked
        self.classified += work.classified
        self.differences += work.differences
        self.asked += work.asked
        work.walks = work.walked = work.classified = work.differences = work.asked = 0
        work.by = work.leaves = work.owner = work.young = work.old = work.shelf = None
        if len(self.idle) < IDLE:
            self.idle.append(work)
        return 0

    cdef int prepare(self, Work work, const State* at, State* key) except -1:
        """1: a mask must be made. 0: it is there."""
        cdef bytes leaf
        work.later = True
        work.hold()
        try:
            self.machine.mask_key(at, key)
            if work.young.find(key) != NULL or work.old.find(key) != NULL:
                return 0
            work.kind = self.machine.split(key, &work.split)
        finally:
            work.let_go()
        if work.kind:
            # What takes long to find is left to the thread that makes the mask.
            leaf = (<const char*>&work.split.plain)[:sizeof(Leaf)]
            if ("string", self._counted(&work.split)) in self.vocabulary.shared if work.split.free else leaf in self.young.places:
                self._sort_out(work)
        return 1

    cdef int publish(self, Work work) except -1:
        if work.made:
            work.made = False
            self._keep(work)
        return 0

    cdef int fill(self, Work work, const State* at, uint32_t* out) except -1 nogil:
        cdef State key
        cdef const Mask* mask
        cdef uint64_t stripe
        cdef int some
        work.hold()
        try:
            self.machine.mask_key(at, &key)
        finally:
            work.let_go()
        mask = work.young.find(&key)
        if mask == NULL:
            mask = work.old.find(&key)
        if mask == NULL:
            # Of several threads that want it, one computes it.
            stripe = hash_bytes(&key, sizeof(State)) ^ <uint64_t><size_t><void*>work.lock.lock
            lock_stripe(stripe)
            try:
                mask = work.young.find(&key)
                if mask == NULL:
                    self._compute(work, &key)
                    self._lay_out(work)
                    if work.later:
                        mask, work.made = &work.mask, True
                    else:
                        with gil:
                            mask = self._keep(work)
            finally:
                unlock_stripe(stripe)
        some = self.write(mask, self.machine.white_room(at), out)
        if mask.n_asks:
            self._answer(work, mask, at, out)
        return some

    cdef int _compute(self, Work work, const State* key) except -1 nogil:
        """Makes the lists and the base of a mask."""
        cdef int accepting
        cdef int32_t i
        cdef State after
        work.mask.key = key[0]
        work.sets.length = work.clears.length = work.adds.length = work.asks.length = 0
        try:
            if not self._classified(work, key):
                work.walks += 1
                work.walk_all(key)
            work.hold()
            accepting = self.machine.accepting(key)
            if self.machine.names_tokens:
                with gil:
                    for first, last in self.machine.tokens_allowed(key):
                        for token in range(first, last + 1):
                            if not self.machine.counts_tokens or (self.machine.step_token(key, token, &after) == ALIVE
                                                                  and self.machine.tick(&after, &after) == ALIVE):
                                put(&work.sets, token)
        finally:
            work.let_go()
        if accepting:
            for i in range(self.vocabulary.n_eos):
                put(&work.sets, self.vocabulary.eos_ids[i])
        elif (work.mask.base == NULL or work.by.tokens == 0) and work.sets.length == 0 and work.asks.length == 0:
            with gil:
                self._nothing(key)
        return 0

    cdef int _nothing(self, const State* key) except -1:
        """No token is left and the text may not end: an error where that is the vocabulary's fault."""
        cdef State after
        cdef list wanted = [byte for byte in self.vocabulary.missing if self.machine.step(key, byte, False, &after) != DEAD]
        if wanted:
            shown = ", ".join(f"0x{byte:02X}" + (f" ({chr(byte)!r})" if 0x20 < byte < 0x7F else "") for byte in wanted[:8])
            raise TokenizerError(f"the grammar needs one of the bytes {shown} here, for which the vocabulary has no token of their own; take a "
                                 "tokenizer with all 256 bytes, or a grammar that does without")
        return 0

    cdef int write(self, const Mask* mask, int32_t white_room, uint32_t* out) noexcept nogil:
        """Writes the mask's words; 1 where some token is not allowed, else 0."""
        cdef int32_t i, words = self.vocabulary.words
        cdef const int32_t* ids
        if mask.base == NULL:
            memset(out, 0, 4 * <size_t>words)
        else:
            memcpy(out, mask.base, 4 * <size_t>words)
        if mask.n_clears:
            ids = mask.clears
            for i in range(mask.n_clears):
                out[ids[i] >> 5] &= ~(<uint32_t>1 << (ids[i] & 31))
        if mask.n_sets:
            ids = mask.sets
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

    cdef int _answer(self, Work work, const Mask* mask, const State* at, uint32_t* out) except -1 nogil:
        """Puts those of the mask's `asks` that the state itself allows."""
        cdef int32_t i, j, length
        cdef const uint8_t* text
        cdef State state
        self.lock.acquire()
        try:
            for i in range(mask.n_asks):
                work.asked += 1
                text = self.vocabulary.bytes_of(mask.asks[i], &length)
                state = at[0]
                for j in range(length):
                    if self.machine.step(&state, text[j], True, &state) != ALIVE:
                        break
                else:
                    if self.machine.tick(&state, &state) == ALIVE:
                        out[mask.asks[i] >> 5] |= <uint32_t>1 << (mask.asks[i] & 31)
        finally:
            self.lock.release()
        return 0

    cdef int _classified(self, Work work, const State* at) except -1 nogil:
        """The mask from a classification; 0 where the state has none, and the trie must be walked."""
        cdef const Split* split = &work.split
        cdef State plain
        cdef int32_t i
        cdef bint counted
        if work.kind < 0:
            work.hold()
            work.kind = self.machine.split(at, &work.split)
        if not work.kind:
            return 0
        counted = split.free and self._counted(split)
        if not work.sorted:
            with gil:
                self._sort_out(work)
        work.classified += 1
        plain = at[0]
        for i in range(work.by.count):
            if split.free:
                if counted and work.by.crossings[i].characters > split.most:
                    continue
                work.hold()
                self.machine.later(&split.plain, work.by.crossings[i].characters if counted else 0, &plain.leaf)
            else:
                plain.leaf = work.ends_of[work.by.crossings[i].end]
            work.cross(i, &plain)
        if split.apart:
            work.differences += 1
            plain.leaf = split.plain
            work.difference(at, &plain)
        return 1

    cdef bint _counted(self, const Split* split) noexcept nogil:
        """Does the number of characters matter?"""
        return split.least > 0 or split.most < self.vocabulary.trie.longest

    cdef int _sort_out(self, Work work) except -1:
        """Finds or makes the classification that the split asks for, and the base of the mask."""
        cdef const Split* split = &work.split
        cdef bint counted = split.free and self._counted(split)
        if split.free:
            self._classify_free(work, counted)
        else:
            self._classify(work, &split.plain)
            work.ends_of = <const Leaf*><const char*>work.leaves
        work.owner, work.mask.base = work.by, work.by.inside
        if counted and split.most < self.vocabulary.trie.longest:
            work.mask.base = work.by.up_to(<int32_t>split.most)
        work.sorted = True
        return 0

    cdef int _classify(self, Work work, const Leaf* leaf) except -1:
        """The classification of a place, and where its paths lead in this grammar."""
        cdef bytes key = (<const char*>leaf)[:sizeof(Leaf)]
        cdef Classification by = None
        known = self.young.places.get(key)
        if known is None:
            known = self.old.places.get(key)
            if known is None:
                work.hold()
                content = self.machine.leaf_content(leaf)
                work.let_go()
                if content is not None:
                    by = self.vocabulary.recall(content)
                self.shared += by is not None
                if by is None:
                    by = self._classify_like_free(work, leaf)
                    self.roaming += by is not None
                    if by is None:
                        by = classify(self.machine, self.vocabulary, self.lock, leaf, False)
                    if content is not None:
                        self.vocabulary.remember(content, by, by.bytes)
                work.hold()
                known = (by, leaves_of(self.machine, leaf, by.paths))
            work.hold()
            try:
                self.young.add_place(key, known)
            except BudgetError:
                self._turn()
        work.by, work.leaves = known
        return 0

    cdef Classification _classify_like_free(self, Work work, const Leaf* leaf):
        """The classification of a place where whatever characters come, the lexeme goes on; None: it is no such place."""
        if not self.machine.leaf_roams(leaf):
            return None
        self._classify_free(work, False)
        return classify_roaming(self.machine, self.vocabulary, self.lock, leaf, work.by)

    cdef int _classify_free(self, Work work, bint counted) except -1:
        """The classification of free strings, which all grammars of a vocabulary share."""
        cdef Leaf leaf
        cdef Classification by = self.vocabulary.recall(("string", counted))
        if by is None:
            work.hold()
            self.machine.free_leaf(counted, &leaf)
            work.let_go()
            by = classify(self.machine, self.vocabulary, self.lock, &leaf, counted)
            self.vocabulary.remember(("string", counted), by, by.bytes)
        work.by, work.leaves = by, None
        return 0

    cdef void _lay_out(self, Work work) noexcept nogil:
        """The mask is made of the lists as they are now."""
        work.mask.clears, work.mask.n_clears = work.clears.ids, work.clears.length
        work.mask.sets, work.mask.n_sets = work.sets.ids, work.sets.length
        work.mask.asks, work.mask.n_asks = work.asks.ids, work.asks.length

    cdef const Mask* _keep(self, Work work) except NULL:
        """Remembers the mask made; where there is no room, it is good until the work goes on."""
        cdef bytes dense
        cdef uint32_t* words
        cdef int32_t i
        if work.mask.base == NULL and work.sets.length > self.vocabulary.words:      # as dense words it is smaller
            dense = bytes(4 * self.vocabulary.words)
            words = <uint32_t*><char*>dense             # filled before anyone else sees it
            for i in range(work.sets.length):
                words[work.sets.ids[i] >> 5] |= <uint32_t>1 << (work.sets.ids[i] & 31)
            work.owner, work.mask.base, work.sets.length = dense, words, 0
        work.mask.owner = <void*>work.owner if work.mask.base != NULL else NULL
        self._lay_out(work)
        self.lock.acquire()
        try:
            return self._put(work)
        finally:
            self.lock.release()

    cdef const Mask* _put(self, Work work) except NULL:
        work.shelf = self.young
        try:
            return self.young.keep(&work.mask)
        except BudgetError:
            self._turn()
        work.shelf = self.young
        try:
            return self.young.keep(&work.mask)
        except BudgetError:
            self.forgotten += 1
            return &work.mask

    cdef int _turn(self) except -1:
        """A new shelf for a full one; the one before goes."""
        self.old, self.young = self.young, Shelf(self.size)
        self.turns += 1
        return 0
