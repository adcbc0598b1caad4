"""JSON numbers under exact conditions: a C cache over the automata of the schema layer, which count in Python's integers.

Needs the lock of the compiled grammar, but for what is named ready_. A transition that is not known yet takes the GIL and asks the lexeme.
"""
cimport cython
from libc.stdint cimport int32_t, uint8_t

from llgcy.core.store cimport Arena, Budget

cdef enum:
    BYTE_CLASSES = 15           # ten digits, "-", "+", ".", "e" and "E"; no other byte is in any number
    FIRST_CODED = 1 << 24       # handles from here on are computed, see Span

cdef struct Language:
    int32_t start               # state before the first byte, 0: no number is in the language
    int32_t spans               # the last Span made, -1: none
    int32_t coded               # handles from here on are not given to a Span yet

cdef struct Single:             # a state with a record of its own; its handle is the number of the record, >= 2
    int32_t language
    int32_t next[BYTE_CLASSES]  # 0: not asked yet, 1: no number goes on so, else the state after that byte
    int32_t outcome             # 0: not asked yet, else 1 + what outcome() answers

cdef struct Span:               # states that differ in a residue alone; they have no records
    int32_t language
    int32_t base                # handle of the first one, >= FIRST_CODED
    int32_t size                # states
    int32_t next                # the Span made before in the same language, -1: none
    int32_t modulus             # > 0: after any digit all states are alive and in the same Span, and residue r stands for the
    int32_t zeros               #      digits rho * 10**z, r = z * modulus + rho (see llgcy.schema.numbers.residues); 0: ask

cdef struct Answer:             # a remembered transition or outcome of a state in a Span
    int32_t language            # -1: empty
    int32_t state
    int32_t question            # class of the byte, or BYTE_CLASSES for the outcome
    int32_t answer

@cython.final
cdef class Numbers:
    cdef readonly Budget budget
    cdef Arena languages        # of Language
    cdef Arena singles          # of Single
    cdef Arena spans            # of Span
    cdef Answer* answers        # direct-mapped, NULL until there is a Span; owned
    cdef list lexemes           # by language
    cdef list sets              # by language: the list behind outcomes()
    cdef list states            # by Single: state of the lexeme
    cdef list shapes            # by Span: what its states have in common
    cdef dict known             # lexeme: language; (language, state): Single; (language, shape, None): Span; (language, set): outcome

    cdef int32_t start(self, int32_t language) except -1 nogil
    # The state after one byte, 0: no number of the language goes on so.
    cdef int32_t step(self, int32_t language, int32_t state, uint8_t byte) except -1 nogil
    # 0: the number may not end here; else 1 + index into outcomes(language)
    cdef int32_t outcome(self, int32_t language, int32_t state) except -1 nogil

    # The same two without the lock: out of what is known, -1: it is not.
    cdef int32_t ready_step(self, int32_t language, int32_t state, uint8_t byte) noexcept nogil
    cdef int32_t ready_outcome(self, int32_t language, int32_t state) noexcept nogil

    cdef int32_t span_of(self, int32_t language, int32_t state) except -1 nogil
    cdef int32_t ask_step(self, int32_t language, int32_t state, int32_t byte_class) except -1
    cdef int32_t ask_outcome(self, int32_t language, int32_t state) except -1
    cdef int32_t handle(self, int32_t language, object state) except -1
    cdef int32_t coded(self, int32_t language, object shape, int32_t code, int32_t size) except -1
    cdef object state_of(self, int32_t language, int32_t state)      # the lexeme's
    cdef int check_language(self, int32_t language) except -1
    cdef int check(self, int32_t language, int32_t state) except -1
