"""One generation of a compiled grammar: a machine with all that it has made, and the masks.

What a machine makes is never thrown away piece by piece: handles in states name it. When its budget is spent, a new engine takes
over, and every matcher comes along at its next call, by taking its tokens once more. The old one goes when its last call is over.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from llgcy.core.endings cimport Endings
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Masks
from llgcy.core.state cimport State
from llgcy.core.store cimport Budget

cdef enum:
    NO_BYTE = -1            # only_byte(): nothing may follow
    SEVERAL_BYTES = -2      # ... more than one may

@cython.final
cdef class Engine:
    cdef readonly Machine machine
    cdef readonly Masks masks
    cdef readonly Endings endings
    cdef Budget budget              # of the machine's stores; None: it has none that counts
    cdef Lock lock                  # held for all that may write to a store, and for all that reads what may be written meanwhile
    cdef State begin                # the state before the first byte
    cdef int64_t number             # > 0, of this engine alone

    # Takes bytes as really read, up to the first that is refused: 1 all taken, 0 not (then the state is of no use). Takes the lock
    # where something has to be made.
    cdef int run(self, const uint8_t* text, Py_ssize_t length, State* state) except -1 nogil
    # The same as far as all is ready; -1: it is not, and the state is of no use.
    cdef int run_ready(self, const uint8_t* text, Py_ssize_t length, State* state) noexcept nogil
    # run() from the first byte that is not ready.
    cdef int run_cold(self, const uint8_t* text, Py_ssize_t length, State* state) except -1 nogil
    # May the text end here? Takes the lock.
    cdef int accepting(self, const State* at) except -1 nogil
    # The one byte that may follow, NO_BYTE or SEVERAL_BYTES. Under the lock.
    cdef int only_byte(self, const State* at) except -3 nogil
    # Nothing may follow, no token that the grammar names either. Takes the lock.
    cdef bint only_end(self, const State* at) except -1 nogil
    # The state after a token as the unit that the grammar names; 0 where it names none here, and `out` is not written. Takes the lock.
    cdef bint unit(self, const State* at, int32_t token, State* out) except -1 nogil
    # The end of a token: 0 where a limit of the grammar leaves too few. Takes the lock, where there are limits.
    cdef bint tick(self, State* at) except -1 nogil
    # See spelling.spelled(). Takes the lock.
    cdef tuple spelled(self, const State* at, bytes text, bytes eos, bint whole)
    # The state that stands for both. Takes the lock.
    cdef int either(self, const State* a, const State* b, State* out) except -1 nogil
    # A short text that ends the output validly. Takes the lock.
    cdef bytes completion(self, const State* at)
