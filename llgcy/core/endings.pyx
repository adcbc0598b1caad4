"""Endings of texts in tokens; see endings.pxd.

A token is worth allowing near the end of a budget if an ending that fits is known behind it. So the trie is walked once for a state, and of
the many tokens that lead to the same state one ending is asked for. What is found is remembered: for strings without bounds, where most of
the tokens are, the state stays the same from token to token. There most tokens lead to one state, too, so the tokens of that one are a
mask, and those of the others are lists: a mask is narrowed by as many tokens as it loses, or by words.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memset

from llgcy.core.classify cimport has_all, kinds_kept, subtree
from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Masks, Work
from llgcy.core.spelling cimport fewest
from llgcy.core.state cimport ALIVE, ASK, DEAD, Leaf, State
from llgcy.core.store cimport hash_bytes
from llgcy.core.trie cimport GROUP, Node, Trie, Vocabulary

from llgcy.errors import BudgetError, LimitError, StateError, UnclearError

NO_ENDING = <int64_t>1 << 62

cdef enum:
    REMEMBERED = 4096       # entries of each memo; full, it begins anew
    REACHES = 1 << 22       # bytes of all reaches together


@cython.final
cdef class Reach:
    """Made by `Endings`; see endings.pxd.

    Parameters
    ----------
    size : int
        Of the vocabulary.
    """

    def __cinit__(self, int32_t size):
        self.size, self.slots, self.last, self.most = size, 64, -1, -1
        self.needs = {}
        self.table = <int32_t*>calloc(self.slots, sizeof(int32_t))
        if self.table == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.states)
        free(self.table)
        free(self.found)
        free(self.starts)
        free(self.tokens)
        free(self.rest)

    cdef int32_t note(self, const State* at) except -1 nogil:
        """The index of a state."""
        cdef int32_t i, slot
        if self.last >= 0 and memcmp(&self.states[self.last], at, sizeof(State)) == 0:
            return self.last
        if self.n == self.room or 2 * self.n + 2 > self.slots:
            self._grow()
        slot = <int32_t>(hash_bytes(at, sizeof(State)) & <unsigned>(self.slots - 1))
        while self.table[slot]:
            i = self.table[slot] - 1
            if memcmp(&self.states[i], at, sizeof(State)) == 0:
                self.last = i
                return i
            slot = (slot + 1) & (self.slots - 1)
        self.states[self.n] = at[0]
        self.last = self.n
        self.n += 1
        self.table[slot] = self.n
        return self.last

    cdef int _grow(self) except -1 nogil:
        cdef int32_t i, slot, room = 2 * self.room + 32, slots = 4 * room
        cdef State* states = <State*>realloc(self.states, room * sizeof(State))
        cdef int32_t* table
        while slots & (slots - 1):
            slots += slots & -slots
        if states != NULL:
            self.states = states
        table = <int32_t*>calloc(slots, sizeof(int32_t))
        if states == NULL or table == NULL:
            free(table)
            with gil:
                raise MemoryError()
        for i in range(self.n):
            slot = <int32_t>(hash_bytes(&states[i], sizeof(State)) & <unsigned>(slots - 1))
            while table[slot]:
                slot = (slot + 1) & (slots - 1)
            table[slot] = i + 1
        free(self.table)
        self.table, self.slots, self.room = table, slots, room
        return 0

    cdef int add(self, const int32_t* ids, int32_t n, int32_t k) except -1 nogil:
        cdef int32_t i
        cdef Found* found
        if self.count + n > self.space:
            self.space = max(2 * self.space, self.count + n + 64)
            found = <Found*>realloc(self.found, self.space * sizeof(Found))
            if found == NULL:
                with gil:
                    raise MemoryError()
            self.found = found
        for i in range(n):
            self.found[self.count].token, self.found[self.count].state = ids[i], k
            self.count += 1
        return 0

    cdef int forget(self, int32_t first, int32_t last) noexcept nogil:
        cdef int32_t i, kept = 0
        for i in range(self.count):
            if not first <= self.found[i].token <= last:
                self.found[kept] = self.found[i]
                kept += 1
        self.count = kept
        return 0

    cdef int end(self, Work work, const int32_t* ids, int32_t n, const State* at) except -1 nogil:
        cdef State after
        cdef int r = work.ticked(at, &after)
        if r != DEAD:
            self.add(ids, n, self.note(&after) if r == ALIVE else UNCLEAR)
        return 0

    cdef int walk(self, Work work, Trie trie, const uint64_t* kinds, const State* at) except -1 nogil:
        """Notes where each token leads as text."""
        cdef State* here
        cdef Leaf leaf                  # one of which it is known what leaves it as it is
        cdef uint64_t[2] kept
        cdef int32_t i = 0, depth = 0, low, high, group
        cdef Node* node
        cdef int r
        memset(&leaf, 0xFF, sizeof(Leaf))       # none: lang is negative
        work.stack[0], work.ends[0] = at[0], trie.size
        while i < trie.size:
            while i >= work.ends[depth]:
                depth -= 1
            node, here = &trie.nodes[i], &work.stack[depth]
            r = work.step(here, node.label >> 24, here + 1)
            if r == ALIVE:
                if memcmp(here, here + 1, sizeof(State)) == 0:          # do all texts that go on from here leave the state as it is?
                    if memcmp(&here.leaf, &leaf, sizeof(Leaf)):
                        leaf = here.leaf
                        work.hold()
                        kinds_kept(work.machine, &leaf, kept)
                    if has_all(kept, &kinds[2 * i]):
                        subtree(trie, i, &low, &high)
                        self.end(work, trie.ids + low, high - low, here)
                        i = node.end
                        continue
                group = <int32_t>(node.label & GROUP) - 1
                if group >= 0:
                    self.end(work, trie.ids + trie.starts[group], trie.starts[group + 1] - trie.starts[group], here + 1)
                depth += 1
                work.ends[depth] = node.end
                i += 1
                continue
            if r == ASK:
                subtree(trie, i, &low, &high)
                self.add(trie.ids + low, high - low, UNCLEAR)
            i = node.end
        work.let_go()
        return 0

    cdef int seal(self) except -1:
        """Sorts the tokens by where they lead."""
        cdef int32_t k, i, j, listed
        cdef Found* found = self.found
        cdef int32_t* starts = <int32_t*>calloc(<size_t>self.n + 3, sizeof(int32_t))        # two ahead, until the tokens are in their places
        self.starts = starts
        self.rest = <uint32_t*>calloc(<size_t>self.size // 32 + 1, sizeof(uint32_t))
        if starts == NULL or self.rest == NULL:
            raise MemoryError()
        for i in range(self.count):
            if found[i].state == UNCLEAR:
                found[i].state = self.n
            starts[found[i].state + 2] += 1
        for k in range(self.n):
            if self.most < 0 or starts[k + 2] > starts[self.most + 2]:
                self.most = k
        if self.most >= 0:
            starts[self.most + 2] = 0
        for k in range(self.n + 1):
            starts[k + 2] += starts[k + 1]
        listed = starts[self.n + 2]
        self.tokens = <int32_t*>malloc((<size_t>listed + 1) * sizeof(int32_t))
        if self.tokens == NULL:
            raise MemoryError()
        for i in range(self.count):
            if found[i].state == self.most:
                self.rest[found[i].token >> 5] |= <uint32_t>1 << (found[i].token & 31)
                continue
            j = found[i].state + 1
            self.tokens[starts[j]] = found[i].token
            starts[j] += 1
        free(self.found)
        free(self.table)
        self.found, self.table = NULL, NULL
        self.bytes = (<size_t>self.room * sizeof(State) + <size_t>self.n * sizeof(int64_t) + (<size_t>self.n + 4 + listed) * sizeof(int32_t)
                      + <size_t>self.size // 8)
        return 0

    cdef list tokens_of(self, int32_t k):
        """In the order of the walk, or of the ids."""
        cdef int32_t i, token
        if k == self.most and k >= 0:
            return [token for token in range(self.size) if self.rest[token >> 5] >> (token & 31) & 1]
        if k == UNCLEAR:
            k = self.n
        return [self.tokens[i] for i in range(self.starts[k], self.starts[k + 1])]

    cdef int narrow(self, const int64_t* needs, int64_t left, bint unclear, uint32_t* mask) noexcept nogil:
        cdef int32_t k, i, token
        cdef uint32_t lost
        cdef int some = 0
        for k in range(self.n + unclear):
            if k < self.n and needs[k] <= left and not (unclear and needs[k] < 0):
                continue
            if k == self.most:
                for i in range(self.size // 32 + (self.size % 32 != 0)):
                    lost = mask[i] & self.rest[i]
                    mask[i] ^= lost
                    some |= lost != 0
                continue
            for i in range(self.starts[k], self.starts[k + 1]):
                token = self.tokens[i]
                lost = mask[token >> 5] & <uint32_t>1 << (token & 31)
                mask[token >> 5] ^= lost
                some |= lost != 0
        return some


@cython.final
cdef class Endings:
    """Endings of the states of one engine, as far as they were asked for; made by `Engine`.

    Parameters
    ----------
    machine : Machine
    masks : Masks
    vocabulary : Vocabulary
    """

    def __cinit__(self, Machine machine not None, Masks masks not None, Vocabulary vocabulary not None):
        self.machine, self.masks, self.vocabulary, self.lock = machine, masks, vocabulary, masks.lock
        self.texts, self.spelled, self.worsts, self.reached = {}, {}, {}, {}

    cdef bytes _text(self, const State* at):
        cdef bytes key = (<const char*>at)[:sizeof(State)]
        text = self.texts.get(key, self)
        if text is self:
            self.lock.acquire()
            try:
                text = self.machine.completion(key)
            except BudgetError:
                raise
            except UnclearError:
                text = UnclearError
            except (LimitError, StateError):        # too long, or only a token that the grammar names leads on
                text = None
            finally:
                self.lock.release()
            remember(self.texts, key, text)
        if text is UnclearError:
            raise UnclearError("the state is one of a look-ahead")
        return text

    cdef tuple tokens(self, const State* at, bytes eos):
        cdef bytes text = self._text(at)
        if text is None:
            return None
        key = text, eos
        tokens = self.spelled.get(key, self)
        if tokens is self:
            tokens = fewest(self.vocabulary, text, eos)
            remember(self.spelled, key, tokens)
        return tokens

    cdef Reach known(self, const State* at):
        cdef bytes key = (<const char*>at)[:sizeof(State)]
        cdef Reach reach = self.reached.pop(key, None)
        if reach is not None:
            self.reached[key] = reach           # the youngest now
        return reach

    cdef Reach reach(self, const State* at):
        cdef Reach reach = Reach(self.vocabulary.size)
        cdef Work work = self.masks.begin()
        try:
            with nogil:
                try:
                    reach.walk(work, self.vocabulary.trie, self.vocabulary.kinds, at)
                finally:
                    work.let_go()
        finally:
            self.masks.end(work)
        return reach

    cdef int keep(self, const State* at, Reach reach) except -1:
        cdef Reach old
        reach.seal()
        self.reached[(<const char*>at)[:sizeof(State)]] = reach
        self.bytes += reach.bytes
        while self.bytes > REACHES and len(self.reached) > 1:
            old = self.reached.pop(next(iter(self.reached)))
            self.bytes -= old.bytes
        return 0

    cdef int remember_worst(self, tuple key, int64_t worst) except -1:
        return remember(self.worsts, key, worst)


cdef int remember(dict memo, object key, object value) except -1:
    if len(memo) >= REMEMBERED:
        memo.clear()
    memo[key] = value
    return 0


@cython.final
@cython.trashcan(True)
cdef class Within:
    """A promise of a matcher; see endings.pxd."""


cdef Within within(Within before, int64_t since, int64_t deadline, tuple witness):
    cdef Within new = Within()
    new.before, new.since, new.deadline, new.witness = before, since, deadline, witness
    return new
