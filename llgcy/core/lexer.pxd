"""Lexemes read side by side: joint states, hash-consed, with a row of next states that is filled when first needed.

A joint state is a sorted set of (lexeme, state of its regex). Its *handle* carries what every step asks in its two low bits, so
that a step inside a lexeme is one read.
"""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t

from llgcy.core.regex cimport Edge, Regexes
from llgcy.core.store cimport Arena, Budget, Index, Probe
from llgcy.core.tables cimport GrammarTables

cdef enum:
    NOTHING = 1             # instead of a handle: no lexeme goes on so
    ENDED = 1               # bit of a handle: some lexeme may end here
    OPEN = 2                # bit of a handle: some lexeme goes on
    NUMBER = 2              # handle >> NUMBER is the number of the joint state, from 1; 0 is no handle

cdef struct Part:
    int32_t lexeme
    int32_t leaf            # term id of what is left of it

cdef struct Joint:
    int32_t parts           # handle of `n_parts` Parts, ascending, none of them dead
    int32_t n_parts
    int32_t ended           # handle in ints of `n_ended` lexemes that may end here, ascending
    int32_t n_ended
    int32_t handle          # number << NUMBER, and the bits
    int32_t open            # handle of the state of those parts that go on; 0: not made yet, or OPEN is not set

@cython.final
cdef class Lexer:
    cdef readonly Regexes regexes
    cdef readonly int32_t n_lexemes
    cdef int32_t* terms             # [n_lexemes] term id of the lexeme, 0: it is no regex; owned
    cdef GrammarTables tables       # its ranks count; None: there are none
    cdef readonly int32_t states    # joint states made
    cdef Arena joints               # Joint, by number
    cdef Arena nexts                # 256 int32 a record, by number: handles, or NOTHING
    cdef Arena parts                # Part
    cdef Arena ints
    cdef Index index
    cdef Part* scratch              # parts of the state in the making; owned
    cdef int32_t room               # of it
    cdef int32_t length             # in use

    cdef inline Joint* joint(self, int32_t handle) noexcept nogil:
        return <Joint*>self.joints.at(handle >> NUMBER)

    # The state after one byte, or NOTHING.
    cdef inline int32_t next(self, int32_t handle, uint8_t byte) except -1 nogil:
        cdef int32_t to = (<int32_t*>self.nexts.at(handle >> NUMBER))[byte]
        if to == 0:
            self.fill(handle)
            to = (<int32_t*>self.nexts.at(handle >> NUMBER))[byte]
        return to

    # Fills the row of next states.
    cdef int fill(self, int32_t handle) except -1 nogil
    # A state in the making: begin(), add() any number of parts, made(): its handle, or NOTHING. Where the tables have ranks, only
    # the highest of the parts that end is kept as ended, and where that one cuts, nothing else is left.
    cdef void begin(self) noexcept nogil
    cdef int add(self, int32_t lexeme, int32_t leaf) except -1 nogil
    cdef int add_all(self, int32_t handle) except -1 nogil
    cdef int32_t made(self) except -1 nogil
    cdef bint ends(self, int32_t i, int32_t rank) except -1 nogil
    cdef int32_t ranked(self, int32_t n, int32_t* rank) except -1 nogil
    # The state of those parts that go on; handle & OPEN.
    cdef int32_t open_part(self, int32_t handle) except -1 nogil
    cdef int32_t checked(self, int32_t handle) except -1
