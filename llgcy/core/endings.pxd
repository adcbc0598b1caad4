"""Endings: how many tokens a text still needs at most, and where each token leads. What Matcher.finish_within rests on."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from llgcy.core.lock cimport Lock
from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Masks, Work
from llgcy.core.state cimport State
from llgcy.core.trie cimport Trie, Vocabulary

cdef enum:
    UNCLEAR = -1            # Found.state: it needs names that are not read when the trie is walked: step the token by itself

cdef struct Found:          # a token that is allowed
    int32_t token
    int32_t state           # index of the one that it leads to, or UNCLEAR

cdef int64_t NO_ENDING      # more tokens than anyone has

@cython.final
cdef class Reach:
    """The states that the tokens lead to from one state. Filled by `walk` and, where tokens are named, by hand; then sealed."""
    cdef int32_t size           # of the vocabulary
    cdef State* states          # different ones, owned
    cdef int32_t n, room        # in use, allocated
    cdef int32_t* table         # open addressing: index of a state + 1, 0: free; owned, NULL once it is sealed
    cdef int32_t slots          # of it, a power of two, > 2 n
    cdef Found* found           # each token once, owned, NULL once it is sealed
    cdef int32_t count, space   # in use, allocated
    cdef int32_t last           # index of the state that was asked for last
    cdef int32_t most           # the state that most tokens lead to, -1: there is no state
    cdef uint32_t* rest         # its tokens, a mask; owned
    cdef int32_t* starts        # [n + 2] those of state k are tokens[starts[k] .. starts[k + 1]), of `most` none; k = n: UNCLEAR; owned
    cdef int32_t* tokens        # by state; owned
    cdef size_t bytes           # of all that, once it is sealed
    cdef dict needs             # EOS ids as int32s: bytes of an int64 for each state, how many tokens end its text then, -1: not clear
    cdef int32_t note(self, const State* at) except -1 nogil
    cdef int _grow(self) except -1 nogil
    # Tokens that end in a state: with what the grammar counts at the end of a token.
    cdef int end(self, Work work, const int32_t* ids, int32_t n, const State* at) except -1 nogil
    # `kinds`: Vocabulary.kinds.
    cdef int walk(self, Work work, Trie trie, const uint64_t* kinds, const State* at) except -1 nogil
    # Tokens that lead to a state; those of a range of ids lead nowhere, or elsewhere.
    cdef int add(self, const int32_t* ids, int32_t n, int32_t k) except -1 nogil
    cdef int forget(self, int32_t first, int32_t last) noexcept nogil
    cdef int seal(self) except -1
    # The tokens of a state, or of UNCLEAR.
    cdef list tokens_of(self, int32_t k)
    # Takes from a mask the tokens that lead to states with greater needs than what is left, and all that are not clear, if `unclear`;
    # 1 where there are any.
    cdef int narrow(self, const int64_t* needs, int64_t left, bint unclear, uint32_t* mask) noexcept nogil

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
    cdef dict reached           # bytes of a state: its Reach, sealed; the one that was used last comes last
    cdef size_t bytes           # of all these, at most REACHES but for the last one
    # The tokens of a short ending, EOS left out; None: none is known. UnclearError: see Machine.completion.
    cdef tuple tokens(self, const State* at, bytes eos)
    cdef bytes _text(self, const State* at)
    # That of a state, if it is still known; a new one, to be kept when all is noted in it.
    cdef Reach known(self, const State* at)
    cdef Reach reach(self, const State* at)
    cdef int keep(self, const State* at, Reach reach) except -1
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
