"""A compiled grammar, and one sequence under it."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from llgcy.core.history cimport Chunk
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Mask, Masks
from llgcy.core.state cimport State
from llgcy.core.trie cimport Vocabulary

cdef enum:
    TERMINATED = -1         # State.mode once EOS was accepted

@cython.final
cdef class CompiledGrammar:
    cdef readonly object grammar            # the Grammar that it was compiled from
    cdef readonly object tokenizer          # the Tokenizer
    cdef readonly Vocabulary vocabulary
    cdef readonly Machine machine
    cdef Masks masks
    cdef State begin                        # the state before the first byte
    cdef Lock lock                          # held for all that may write to a store

@cython.final
cdef class Matcher:
    cdef readonly CompiledGrammar compiled
    cdef readonly tuple eos_token_ids
    cdef Chunk tail                 # last chunk of the history, None before the first step
    cdef int32_t tail_used          # entries of `tail` that are this matcher's
    cdef readonly int64_t steps     # accept calls that may be rolled back
    cdef State state
    cdef int32_t busy               # lock.generation() while a call is under way; atomic
    cdef bint own_eos               # eos_token_ids differ from the vocabulary's
    cdef int _claim(self) except -1
    cdef int _enter(self) except -1
    cdef int _push(self, const State* state) except -1
    cdef int _run(self, const uint8_t* text, Py_ssize_t length, State* state) except -1
    cdef int _token(self, int32_t token, State* state) except -1
    cdef int _accepting(self) except -1
    cdef void _leave(self) noexcept
    cdef int _checked(self, object token) except -1
    cdef int _only_byte(self, const State* at) except -3
    cdef int _fill(self, uint32_t* out) except -1
