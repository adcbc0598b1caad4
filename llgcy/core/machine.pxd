"""What masks and matchers ask of a recogniser. Two kinds exist: grammars (config) and JSON documents (json)."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from llgcy.core.state cimport Leaf, State

cdef struct Split:          # how a mask inside a lexeme falls into a shared base and the rest
    Leaf plain          # the leaf under which the base is classified: `at` without names that need a look of their own
    bint apart          # names may still tell the state from the plain one: walk both and correct the difference
    bint free           # the plain leaf is "any characters of a JSON string": its classification belongs to the vocabulary
    int64_t least       # where free: fewest characters still to come
    int64_t most        # where free: most characters still to come

cdef struct Alike:          # characters after which a leaf is `to`, in UTF-8 as they stand in the text
    Leaf to
    uint64_t[2] ascii   # bit b & 63 of word b >> 6; control characters are none
    uint64_t leads      # all characters whose first byte is b, for bit b - 0xC0

cdef enum:
    MISS = 4            # only from what is named ready_: what comes next is not made yet; ask under the lock
    RUN = 64            # steps that a walk keeps the lock for, once it has found something that is not ready

cdef class Machine:
    # Every method may be called without the GIL, under the compiled grammar's lock; may_come(), white_room() and those named ready_
    # without it.
    cdef int start(self, State* out) except -1 nogil
    # The state after one byte: DEAD, ALIVE or ASK. `out` may be `at`. `grow`: the byte is really taken (accept,
    # validate), so names read may enter stores; false while a trie is walked for a mask, where ASK may be answered.
    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
    # The same for both values of `grow`, out of what is ready: reads only. MISS leaves `out` as it is.
    cdef int ready_step(self, const State* at, uint8_t byte, State* out) noexcept nogil
    # The bytes that may come (bit b & 63 of word b >> 6): step() refuses any other. As far as it is told at a glance, by default all.
    cdef void may_come(self, const State* at, uint64_t* out) noexcept nogil
    # May the text end here?
    cdef int accepting(self, const State* at) except -1 nogil
    # Is the state inside a lexeme whose tokens are worth sorting apart from what follows it?
    cdef int inside(self, const State* at) except -1 nogil
    # One byte inside the lexeme: DEAD, ALIVE or CROSS (the byte ends it). Depends on the leaf alone.
    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil
    # The same out of what is ready. MISS leaves `out` as it is.
    cdef int ready_leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) noexcept nogil
    # The representative under which masks are remembered: same future for any one token.
    cdef int mask_key(self, const State* at, State* out) except -1 nogil
    # The same out of what is ready: 1, or 0 where it is not.
    cdef int ready_key(self, const State* at, State* out) noexcept nogil
    # A state with the same future, endings included, in looks of any length. Not for bytes that are really taken: it may lack what these
    # note. By default the state itself. Reads only, also without the lock.
    cdef void looked(self, const State* at, State* out) noexcept nogil
    # 0: walk the trie. 1: classify, as `out` says. By default: inside() with the leaf as it is.
    cdef int split(self, const State* at, Split* out) except -1 nogil
    # The state after any number of JSON white space bytes, >= 1, as far as it decides what may come behind them: ALIVE, with the most
    # of such bytes that may come in `room`; DEAD where none may; MISS, the default, where no one state stands for all numbers.
    cdef int behind_white(self, const State* at, State* out, int32_t* room) except -1 nogil
    # The bytes after which a state that is apart from its plain one may still be so, or after which the lexeme has ended (bit b & 63
    # of word b >> 6); by default all.
    cdef int telling(self, const State* at, uint64_t* out) except -1 nogil
    # Characters that lead from a leaf between two of them to one and the same leaf, as many as are known. 0, the default:
    # the machine never knows any.
    cdef int leaf_alike(self, const Leaf* at, Alike* out) except -1 nogil
    # Is the leaf one that goes on after any characters of a JSON string? Then its tokens are sorted as those of a free string are, but for
    # what follows its end. By default none is known.
    cdef bint leaf_roams(self, const Leaf* at) noexcept nogil
    # Does the grammar name tokens by their ids? Otherwise nobody need ask for them.
    cdef readonly bint names_tokens
    # The state after a token as the unit that the grammar names, not as the bytes that it may spell: DEAD or ALIVE.
    cdef int step_token(self, const State* at, int32_t id, State* out) except -1 nogil
    # The tokens that may come so: list of ranges (first, last) of ids.
    cdef list tokens_allowed(self, const State* at)
    # Does the grammar limit the tokens of some of its parts? Otherwise nobody need call tick(), and states are what bytes alone make them.
    cdef readonly bint counts_tokens
    # The state at the end of a token, from the one behind its last byte: DEAD where a limit leaves too few tokens, ALIVE, or ASK as step()
    # has it where that was called without `grow`. `out` may be `at`. No state that ready_step() or ready_key() know is changed by it.
    cdef int tick(self, const State* at, State* out) except -1 nogil
    # Is a part being read whose tokens are limited?
    cdef bint counting(self, const State* at) noexcept nogil
    # The state that stands for both: what goes on from either.
    cdef int either(self, const State* a, const State* b, State* out) except -1 nogil
    # What the future of a leaf depends on, as a hashable object that is the same in every grammar; None: not known.
    cdef object leaf_content(self, const Leaf* at)
    # The leaf of an endless free string; counted: whose k counts characters. 0 where the machine knows no strings.
    cdef int free_leaf(self, bint counted, Leaf* out) except -1 nogil
    # The free leaf `at` after n more characters.
    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil
    # Bytes of white space that may still stand in the current gap, or -1 where no gap is limited here. mask_key() may leave
    # the gap out: tokens that begin with more white space are taken from the mask afterwards.
    cdef int32_t white_room(self, const State* at) noexcept nogil

# A state from its 40 bytes (ValueError: they are not that many), and back.
cdef int read_state(bytes data, State* out) except -1
cdef bytes written(const State* at)
