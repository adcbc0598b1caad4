"""Tokens that begin with a given text: what healing and canonical spelling ask of the vocabulary's trie.

A text has at least one byte. Everything here is called under the compiled grammar's lock.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t
from llgcy.core.machine cimport Machine
from llgcy.core.state cimport State
from llgcy.core.trie cimport Vocabulary

# Sets the bits of all tokens that spell a beginning of the text, or the text and then something that may come at `at`.
cdef int put_spellings(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at,
                       uint32_t* out) except -1 nogil
# Of these, those that spell all of the text at least. 0: there are none.
cdef int put_extensions(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at,
                        uint32_t* out) except -1 nogil
# Is there a token that spells the text and at least one byte more, all of which may come at `at`?
cdef int goes_on(Machine machine, Vocabulary vocabulary, const uint8_t* text, int32_t length, const State* at) except -1 nogil
# The fewest tokens that spell a text which may come at `at`, as a tuple, such that the limits of the grammar hold, none of them an EOS (ids as
# int32s side by side); `whole`: the text may end behind it. None: none are known.
cdef tuple spelled(Machine machine, Vocabulary vocabulary, const State* at, bytes text, bytes eos, bint whole)
# Steps one token: 0 where it is refused.
cdef bint takes(Machine machine, Vocabulary vocabulary, State* at, int32_t token) except -1
# The fewest tokens that spell a text, as a tuple, none of them an EOS (ids as int32s side by side); None: the vocabulary cannot spell it.
cdef tuple fewest(Vocabulary vocabulary, bytes text, bytes eos)
