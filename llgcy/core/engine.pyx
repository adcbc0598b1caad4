"""One generation of a compiled grammar; see engine.pxd."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from llgcy.core.endings cimport Endings
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport MISS, Machine
from llgcy.core.masks cimport Masks
from llgcy.core.spelling cimport spelled
from llgcy.core.state cimport ALIVE, ASK, DEAD, State
from llgcy.core.store cimport Budget
from llgcy.core.trie cimport Vocabulary

from llgcy.errors import StateError

cdef int64_t engines = 0


@cython.final
cdef class Engine:
    """A machine with all that it has made, and its masks; made by `CompiledGrammar`.

    Parameters
    ----------
    machine : Machine
    budget : Budget or None
        What the machine's stores share.
    vocabulary : Vocabulary
    mask_bytes : int
        For remembered masks.
    """

    def __cinit__(self, Machine machine not None, Budget budget, Vocabulary vocabulary not None, size_t mask_bytes):
        global engines
        cdef int alive
        self.machine, self.budget, self.lock = machine, budget, Lock()
        self.masks = Masks(machine, vocabulary, self.lock, mask_bytes)
        self.endings = Endings(machine, self.masks, vocabulary)
        memset(&self.begin, 0, sizeof(State))
        with nogil:
            alive = machine.start(&self.begin)
        if alive != ALIVE:
            raise StateError("a machine without any text must be refused before it gets here")
        engines += 1
        self.number = engines

    cdef int run(self, const uint8_t* text, Py_ssize_t length, State* state) except -1 nogil:
        cdef Py_ssize_t i
        cdef int r
        for i in range(length):
            r = self.machine.ready_step(state, text[i], state)
            if r == MISS:
                return self.run_cold(text + i, length - i, state)
            if r != ALIVE:
                return 0
        return 1

    cdef int run_ready(self, const uint8_t* text, Py_ssize_t length, State* state) noexcept nogil:
        cdef Py_ssize_t i
        cdef int r
        for i in range(length):
            r = self.machine.ready_step(state, text[i], state)
            if r != ALIVE:
                return -1 if r == MISS else 0
        return 1

    cdef int run_cold(self, const uint8_t* text, Py_ssize_t length, State* state) except -1 nogil:
        cdef Py_ssize_t i
        self.lock.acquire()
        try:
            for i in range(length):
                if self.machine.step(state, text[i], True, state) != ALIVE:
                    return 0
            return 1
        finally:
            self.lock.release()

    cdef int accepting(self, const State* at) except -1 nogil:
        self.lock.acquire()
        try:
            return self.machine.accepting(at)
        finally:
            self.lock.release()

    cdef int only_byte(self, const State* at) except -3 nogil:
        cdef int byte, r, found = NO_BYTE
        cdef State after
        for byte in range(256):
            r = self.machine.step(at, <uint8_t>byte, False, &after)
            if r == ASK:
                r = self.machine.step(at, <uint8_t>byte, True, &after)
            if r != DEAD:
                if found >= 0:
                    return SEVERAL_BYTES
                found = byte
        return found

    cdef bint only_end(self, const State* at) except -1 nogil:
        self.lock.acquire()
        try:
            if not self.machine.accepting(at) or self.only_byte(at) != NO_BYTE:
                return False
            if not self.machine.names_tokens:
                return True
            with gil:
                return not self.machine.tokens_allowed(at)
        finally:
            self.lock.release()

    cdef bint unit(self, const State* at, int32_t token, State* out) except -1 nogil:
        cdef State to
        if not self.machine.names_tokens or at.mode < 0:              # below 0: not the machine's
            return False
        self.lock.acquire()
        try:
            if self.machine.step_token(at, token, &to) != ALIVE or self.machine.tick(&to, &to) != ALIVE:
                return False
            out[0] = to
            return True
        finally:
            self.lock.release()

    cdef bint tick(self, State* at) except -1 nogil:
        if not self.machine.counts_tokens or at.mode < 0:             # below 0: not the machine's
            return True
        self.lock.acquire()
        try:
            return self.machine.tick(at, at) == ALIVE
        finally:
            self.lock.release()

    cdef tuple spelled(self, const State* at, bytes text, bytes eos, bint whole):
        self.lock.acquire()
        try:
            return spelled(self.machine, self.masks.vocabulary, at, text, eos, whole)
        finally:
            self.lock.release()

    cdef int either(self, const State* a, const State* b, State* out) except -1 nogil:
        self.lock.acquire()
        try:
            return self.machine.either(a, b, out)
        finally:
            self.lock.release()

    cdef bytes completion(self, const State* at):
        self.lock.acquire()
        try:
            return self.machine.completion((<const char*>at)[:sizeof(State)])
        finally:
            self.lock.release()

    def stats(self):
        """Counters, as a dict of int: states, masks by kind, bytes."""
        return {**self.machine.stats(), **self.masks.stats()}
