"""Endings: how many tokens a text still needs at most, and where each token leads. What Matcher.finish_within rests on."""
cimport cython
from libc.stdint cimport int32_t, int64_t
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Masks, Tokens, Work
from llgcy.core.state cimport State
from llgcy.core.trie cimport Trie, Vocabulary

cdef enum:
    NOWHERE = -1            # Reach.group: the token is not allowed as text
    UNCLEAR = -2            # ... its state needs names that are not read when the trie is walked: step it by itself

cdef int64_t NO_ENDING      # more tokens than anyone has

@cython.final
cdef class Reach:
    """The states that the tokens lead to from one state."""
    cdef State* states          # different ones, owned
    cdef int32_t n, room        # in use, allocated
    cdef int32_t* table         # open addressing: index of a state + 1, 0: free; owned
    cdef int32_t slots          # of it, a power of two, > 2 n
    cdef int32_t* group         # [vocabulary size] the state that a token leads to, NOWHERE or UNCLEAR; owned
    cdef int32_t last           # index of the state that was asked for last
    cdef bint units             # tokens that the grammar names have been put to it
    cdef int32_t note(self, const State* at) except -1 nogil
    cdef int _grow(self) except -1 nogil
    cdef int walk(self, Work work, Trie trie, const State* at) except -1 nogil

@cython.final
cdef class Endings:
    """Of one engine. Everything here is called with the GIL."""
    cdef Machine machine
    cdef Masks masks
    cdef Vocabulary vocabulary
    cdef Lock lock              # of the machine
    cdef dict texts             # bytes of a state: a short text that ends it; None: none is known; the class UnclearError: see there
    cdef dict spelled           # (text, EOS ids as int32s): its tokens as a tuple, None: they cannot spell it
    cdef dict worsts            # (bytes of a state, EOS ids): the most tokens that an ending needs after any one token, EOS included
    cdef dict reached           # bytes of a state: its Reach; a few
    # The tokens of a short ending, EOS left out; None: none is known. UnclearError: see Machine.completion.
    cdef tuple tokens(self, const State* at, bytes eos)
    cdef bytes _text(self, const State* at)
    cdef Reach reach(self, const State* at)
    cdef int remember_worst(self, tuple key, int64_t worst) except -1

@cython.final
cdef class Within:
    """A promise of a matcher: its text ends in time. A list; the first one that holds is the one."""
    cdef Within before          # what holds once more after a rollback to before this one was made
    cdef int64_t since          # steps when it was made
    cdef int64_t deadline       # steps by which EOS is taken; -1: there is no promise any more
    cdef tuple witness          # tokens that end the text from `since` on, EOS left out; None: those of a shortest ending known

# One more promise.
cdef Within within(Within before, int64_t since, int64_t deadline, tuple witness)
