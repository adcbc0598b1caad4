"""Endings of texts in tokens; see endings.pxd.

A token is worth allowing near the end of a budget if an ending that fits is known behind it. So the trie is walked once for a state, and of
the many tokens that lead to the same state one ending is asked for. What is found is remembered: for strings without bounds, where most of
the tokens are, the state stays the same from token to token.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memset

from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Masks, Work
from llgcy.core.spelling cimport fewest
from llgcy.core.state cimport ALIVE, ASK, State
from llgcy.core.store cimport hash_bytes
from llgcy.core.trie cimport GROUP, Node, Trie, Vocabulary

from llgcy.errors import BudgetError, LimitError, StateError, UnclearError

NO_ENDING = <int64_t>1 << 62

cdef enum:
    REMEMBERED = 4096       # entries of each memo; full, it begins anew
    REACHES = 4             # of them, which have an entry for each token


@cython.final
cdef class Reach:
    """Made by `Endings`; see endings.pxd.

    Parameters
    ----------
    size : int
        Of the vocabulary.
    """

    def __cinit__(self, int32_t size):
        self.slots, self.last = 64, -1
        self.table = <int32_t*>calloc(self.slots, sizeof(int32_t))
        self.group = <int32_t*>malloc((<size_t>size + 1) * sizeof(int32_t))
        if self.table == NULL or self.group == NULL:
            raise MemoryError()
        memset(self.group, 0xFF, <size_t>size * sizeof(int32_t))        # NOWHERE

    def __dealloc__(self):
        free(self.states)
        free(self.table)
        free(self.group)

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

    cdef int walk(self, Work work, Trie trie, const State* at) except -1 nogil:
        """Notes where each token leads as text."""
        cdef int32_t i = 0, depth = 0, k, t, group
        cdef Node* node
        cdef int r
        work.stack[0], work.ends[0] = at[0], trie.size
        while i < trie.size:
            while i >= work.ends[depth]:
                depth -= 1
            node = &trie.nodes[i]
            r = work.step(&work.stack[depth], node.label >> 24, &work.stack[depth + 1])
            if r == ALIVE:
                group = <int32_t>(node.label & GROUP) - 1
                if group >= 0:
                    k = self.note(&work.stack[depth + 1])
                    for t in range(trie.starts[group], trie.starts[group + 1]):
                        self.group[trie.ids[t]] = k
                depth += 1
                work.ends[depth] = node.end
                i += 1
                continue
            if r == ASK:
                for k in range(i, node.end):
                    group = <int32_t>(trie.nodes[k].label & GROUP) - 1
                    if group >= 0:
                        for t in range(trie.starts[group], trie.starts[group + 1]):
                            self.group[trie.ids[t]] = UNCLEAR
            i = node.end
        work.let_go()
        return 0


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

    cdef Reach reach(self, const State* at):
        cdef bytes key = (<const char*>at)[:sizeof(State)]
        cdef Reach reach = self.reached.get(key)
        cdef Work work
        if reach is None:
            reach = Reach(self.vocabulary.size)
            work = self.masks.begin()
            try:
                with nogil:
                    try:
                        reach.walk(work, self.vocabulary.trie, at)
                    finally:
                        work.let_go()
            finally:
                self.masks.end(work)
            if len(self.reached) >= REACHES:
                self.reached.clear()
            self.reached[key] = reach
        return reach

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
