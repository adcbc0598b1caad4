"""The base class of recognisers; see machine.pxd for the contract of each method."""
from libc.string cimport memcpy

from llgcy.core.state cimport ALIVE, DEAD


cdef class Machine:
    """A deterministic recogniser over bytes, whose states are `State` structs."""

    cdef int start(self, State* out) except -1 nogil:
        return DEAD

    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        return DEAD

    cdef int ready_step(self, const State* at, uint8_t byte, State* out) noexcept nogil:
        return MISS

    cdef void may_come(self, const State* at, uint64_t* out) noexcept nogil:
        out[0] = out[1] = out[2] = out[3] = ~<uint64_t>0

    cdef int accepting(self, const State* at) except -1 nogil:
        return 0

    cdef int inside(self, const State* at) except -1 nogil:
        return 0

    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        return DEAD

    cdef int ready_leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) noexcept nogil:
        return MISS

    cdef int mask_key(self, const State* at, State* out) except -1 nogil:
        out[0] = at[0]
        return 0

    cdef int ready_key(self, const State* at, State* out) noexcept nogil:
        return 0

    cdef int split(self, const State* at, Split* out) except -1 nogil:
        if not self.inside(at):
            return 0
        out.plain, out.apart, out.free, out.least, out.most = at.leaf, False, False, 0, 0
        return 1

    cdef void looked(self, const State* at, State* out) noexcept nogil:
        out[0] = at[0]

    cdef int behind_white(self, const State* at, State* out, int32_t* room) except -1 nogil:
        return MISS

    cdef int telling(self, const State* at, uint64_t* out) except -1 nogil:
        out[0] = out[1] = out[2] = out[3] = ~<uint64_t>0
        return 0

    cdef int leaf_alike(self, const Leaf* at, Alike* out) except -1 nogil:
        out.to, out.ascii[0], out.ascii[1], out.leads = at[0], 0, 0, 0
        return 0

    cdef bint leaf_roams(self, const Leaf* at) noexcept nogil:
        return False

    cdef int step_token(self, const State* at, int32_t id, State* out) except -1 nogil:
        return DEAD

    cdef list tokens_allowed(self, const State* at):
        return []

    cdef int tick(self, const State* at, State* out) except -1 nogil:
        out[0] = at[0]
        return ALIVE

    cdef bint counting(self, const State* at) noexcept nogil:
        return False

    cdef int either(self, const State* a, const State* b, State* out) except -1 nogil:
        out[0] = a[0]                                                 # nobody asks a machine that names no tokens
        return 0

    cdef object leaf_content(self, const Leaf* at):
        return None

    cdef int free_leaf(self, bint counted, Leaf* out) except -1 nogil:
        return 0

    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil:
        out[0] = at[0]
        return 0

    cdef int32_t white_room(self, const State* at) noexcept nogil:
        return -1

    # -- for Python: states are their 40 bytes -------------------------------------------------------------------------
    def begin(self):
        """The state before the first byte, as 40 bytes."""
        cdef State at
        self.start(&at)
        return written(&at)

    def after(self, bytes state not None, bytes text not None):
        """The state after some bytes; None where the text leaves the language."""
        cdef State at
        cdef uint8_t byte
        read_state(state, &at)
        for byte in text:
            if self.step(&at, byte, True, &at) != ALIVE:
                return None
        return written(&at)

    def may_end(self, bytes state not None):
        """May the text end in a state?"""
        cdef State at
        read_state(state, &at)
        return bool(self.accepting(&at))

    def after_token(self, bytes state not None, int32_t id):
        """The state after a token that is read as the unit that the grammar names; None where it names none here."""
        cdef State at
        read_state(state, &at)
        return written(&at) if self.step_token(&at, id, &at) == ALIVE else None

    def token_ended(self, bytes state not None):
        """The state at the end of a token, from the one behind its last byte; None where a limit leaves too few tokens."""
        cdef State at
        read_state(state, &at)
        return written(&at) if self.tick(&at, &at) == ALIVE else None

    def tokens(self, bytes state not None):
        """The tokens that may be read as units: list of ranges (first, last) of ids."""
        cdef State at
        read_state(state, &at)
        return self.tokens_allowed(&at)

    def expected(self, bytes state not None):
        """What may come next, in the terms of the grammar.

        Returns
        -------
        list of (str, str or None)
            What it is, and the rule in which it stands. The end of the text is not among them.
        """
        return []

    def temperature(self, bytes state not None):
        """The highest temperature that is asked for what may come next; None: none is."""
        return None

    def completion(self, bytes state not None):
        """A shortest text that ends the document from the given state (its 40 bytes)."""
        raise NotImplementedError

    def stats(self):
        """Counters of the stores, as a dict of int."""
        return {}


cdef int read_state(bytes data, State* out) except -1:
    if len(data) != sizeof(State):
        raise ValueError(f"a state has {sizeof(State)} bytes, not {len(data)}")
    memcpy(out, <const char*>data, sizeof(State))
    return 0


cdef bytes written(const State* at):
    return (<const char*>at)[:sizeof(State)]
