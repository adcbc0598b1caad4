"""The grammar machine: rows and joint states of the lexer make the state of a sequence.

A *member* is a row and a joint state of lexemes that began there. Mostly a state is one member. A member whose lexer state has
ENDED stands for two things at once: the lexeme goes on, or it has ended and the next one starts in the row behind it. Greedy
lexing tries the second only where the first fails, and so does exact lexing in a grammar where never both are possible
(separable). Else a byte may leave several members: then those in one row join their lexer states, those in one lexer state their
rows, and all lexemes that end at one byte make one row. Text to skip leads back to the row where it began.

A lexeme may be a whole machine (a JSON document). Alone, its state is the state of the sequence, but for a *frame* in the place of
its row; beside other lexemes it is one more member.

A lexeme may be a set of tokens, each of them read as a unit where lexemes have ended and one may start. A token that may be read so and
also by its bytes leaves two states *apart*, which go on each for itself.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from llgcy.core.lexer cimport ENDED, NOTHING, NUMBER, OPEN, Joint, Lexer
from llgcy.core.lock cimport atomic_load, atomic_store
from llgcy.core.machine cimport MISS, Machine, Split
from llgcy.core.rows cimport NO_ROW, Buffer, Row, Rows, Shape, Wait, push, room
from llgcy.core.state cimport ALIVE, ASK, CROSS, DEAD, Leaf, State
from llgcy.core.store cimport Arena, Budget, Index, Probe
from llgcy.core.tables cimport GrammarTables

cdef enum Mode:             # State.mode. State.row is a row, in SEVERAL a configuration; the leaf's v is a joint state or 0
    BETWEEN = 1             # a lexeme may start. State.gap: see GrammarMachine.gap_behind
    WITHIN = 2              # inside lexemes that began in one row
    SEVERAL = 3             # more than one member
    FRESH = 4               # before the first lexeme, where skipping is not allowed yet
    APART = 5               # states that know nothing of each other. State.row is a configuration of nested members
    NESTED = 16             # inside a machine: NESTED + its mode. Its gap, side and leaf (see `fold`); State.row is a frame

cdef enum Kind:             # of a lexeme that is no machine
    REGEX = -1
    TOKENS = -2

cdef struct Member:
    int32_t row             # where the lexemes began
    int32_t lexer           # joint state, > 0; else none has begun, and it is minus the gap (see GrammarMachine.gap_behind)
    int32_t nested          # number of a kept state; 0: none. Then row and lexer are 0

cdef struct Configuration:  # members that live side by side
    int32_t members         # handle of `n_members` Members, ascending
    int32_t n_members       # >= 1; one only where it is the outcome of a configuration
    int32_t nexts           # record of outcomes; 0: not made yet

cdef enum:
    NO_GAP = 0              # no text was skipped last, or any lexeme may follow
    NO_SKIP_YET = -1        # before the first lexeme, where nothing is skipped

cdef struct Start:          # the lexemes that may start in rows of one shape behind a gap
    int32_t shape
    int32_t gap             # != NO_GAP
    int32_t lexer           # joint state or NOTHING

cdef struct Frame:          # where a machine stands
    int32_t row             # row where its lexeme began
    int32_t lexeme
    int32_t inner           # State.row of the machine

@cython.final
cdef class Chain:
    """Machine number i of those that are lexemes. A linked list, since an array of objects cannot be read without the GIL."""
    cdef Machine machine
    cdef Chain rest
    cdef int step(self, int32_t i, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int accepting(self, int32_t i, const State* at) except -1 nogil
    cdef int inside(self, int32_t i, const State* at) except -1 nogil
    cdef int leaf_step(self, int32_t i, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil
    cdef int mask_key(self, int32_t i, const State* at, State* out) except -1 nogil
    cdef int split(self, int32_t i, const State* at, Split* out) except -1 nogil
    cdef int telling(self, int32_t i, const State* at, uint64_t* out) except -1 nogil
    cdef int free_leaf(self, int32_t i, bint counted, Leaf* out) except -1 nogil
    cdef int later(self, int32_t i, const Leaf* at, int32_t n, Leaf* out) except -1 nogil
    cdef int32_t white_room(self, int32_t i, const State* at) noexcept nogil
    cdef bint names_tokens(self, int32_t i) noexcept nogil
    cdef int step_token(self, int32_t i, const State* at, int32_t id, State* out) except -1 nogil
    cdef list tokens_allowed(self, int32_t i, const State* at)
    cdef bint counts_tokens(self, int32_t i) noexcept nogil
    cdef int tick(self, int32_t i, const State* at, State* out) except -1 nogil
    cdef bint counting(self, int32_t i, const State* at) noexcept nogil

@cython.final
cdef class GrammarMachine(Machine):
    cdef readonly GrammarTables tables
    cdef readonly Budget budget
    cdef readonly Rows rows
    cdef readonly Lexer lexer
    cdef readonly bint separable    # known: no byte both goes on in a lexeme and begins what follows one that has ended there
    cdef readonly list warnings     # str
    cdef bint skipping              # there is something to skip
    cdef bint single                # a lexeme that has ended is over only where none goes on
    cdef bytes parting              # text to skip that parts any two lexemes; empty: none is known, or none is needed
    cdef int32_t n_machines         # lexemes that are machines
    cdef tuple machines             # the same, in the order of the lexemes
    cdef Chain chain                # the same
    cdef int32_t* place             # [n_lexemes] index among them, or a Kind; owned
    cdef State* starts              # [n_machines] their first states; owned
    cdef State* closed              # [n_machines] a state that may end and cannot go on, zeroed: none is known; owned
    cdef Arena configurations       # Configuration
    cdef Arena members              # Member
    cdef Arena nexts                # 256 int32 a record: handle of the configuration after that byte + 2, 1: none, 0: not known
    cdef Arena gaps                 # Start
    cdef Arena frames               # Frame
    cdef Arena nested               # State: inside a machine, or one of those that are apart
    cdef Index index, frame_index, nested_index, gap_index
    # Scratch, in elements of the type named.
    cdef Buffer going               # Member: in the making
    cdef Buffer ends                # Member: rows behind lexemes that end
    cdef Buffer ended               # int32: rows to be made one
    cdef Buffer groups              # Member: rows where lexemes may start now
    cdef Buffer aside               # int32: numbers of states that are to be apart
    cdef Buffer between             # int32: rows of those where a lexeme may start

    # Joint state of the lexemes that may start in a row, or NOTHING.
    cdef int32_t starting(self, int32_t row, int32_t gap) except -1 nogil
    cdef int32_t starting_behind(self, const Shape* shape, int32_t handle, int32_t gap) except -1 nogil
    cdef int32_t known_start(self, int32_t shape, int32_t gap) noexcept nogil
    # The gap behind the one lexeme that ends in a joint state: the number of the skip that it is, where that matters; else NO_GAP.
    cdef int32_t gap_behind(self, int32_t lexer) noexcept nogil
    # The row behind the lexemes that end in a joint state, which began in `row`.
    cdef int32_t behind(self, int32_t row, int32_t lexer) except -1 nogil
    # Adds the rows behind the lexemes that end in a joint state, which began in `row`, with their gaps, to the `n` Members in a buffer.
    cdef int push_behind(self, int32_t row, int32_t lexer, Buffer* b, int32_t* n) except -1 nogil
    cdef int32_t grouped(self, Buffer* b, int32_t n) except -1 nogil
    cdef int leave(self, int32_t row, int32_t lexer, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int enter(self, int32_t row, int32_t lexer, State* out) except -1 nogil
    cdef int32_t ready_next(self, int32_t lexer, uint8_t byte) noexcept nogil
    cdef int ready_enter(self, int32_t row, int32_t lexer, State* out) noexcept nogil
    cdef int32_t ready_behind(self, int32_t row, int32_t lexer) noexcept nogil
    cdef int32_t ready_start(self, int32_t row, int32_t gap) noexcept nogil
    cdef int begin_lexeme(self, int32_t row, int32_t gap, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int32_t past(self, int32_t row, int32_t lexeme) except -1 nogil
    cdef int32_t start_state(self, const Shape* shape, int32_t gap) except -1 nogil
    # Several members.
    cdef int branch(self, const Member* members, int32_t n, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int munch(self, const Member* members, int32_t n, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int start_all(self, int32_t row, int32_t gap, uint8_t byte, bint grow, int32_t* n_going, int32_t* n_ends) except -1 nogil
    cdef int add_read(self, int32_t row, int32_t lexer, int32_t* n_going, int32_t* n_ends) except -1 nogil
    cdef int add_nested(self, const State* at, int32_t* n_going, int32_t* n_ends) except -1 nogil
    cdef int settle(self, int32_t n_going, int32_t n_ends, State* out) except -1 nogil
    cdef bint implied(self, int32_t n_ends) except -1 nogil
    cdef int32_t behind_all(self, const Member* members, int32_t n) except -1 nogil
    cdef int32_t join(self, int32_t n) except -1 nogil
    cdef int32_t join_lexers(self, int32_t n) except -1 nogil
    cdef int32_t configuration(self, int32_t n) except -1 nogil
    cdef int several(self, int32_t configuration, uint8_t byte, bint grow, State* out) except -1 nogil
    # Machines as lexemes.
    cdef int fold(self, const State* inner, int32_t row, int32_t lexeme, State* out) except -1 nogil
    cdef Frame* unfold(self, const State* at, State* inner) noexcept nogil
    cdef int fold_leaf(self, int32_t machine, const Leaf* inner, Leaf* out) noexcept nogil
    cdef int32_t unfold_leaf(self, const Leaf* at, Leaf* inner) noexcept nogil
    cdef int step_inner(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int step_nested(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int32_t behind_nested(self, const State* at) except -1 nogil
    cdef int goes_on(self, const State* at) except -1 nogil
    cdef int32_t keep_nested(self, const State* at) except -1 nogil
    # Tokens as lexemes, states apart.
    cdef int token_rows(self, int32_t row, int32_t gap, int32_t id, int32_t* n_going, int32_t* n_ends) except -1 nogil
    cdef int token_member(self, const Member* m, int32_t id, int32_t* n_going, int32_t* n_ends) except -1 nogil
    cdef int token_nested(self, const State* at, int32_t id, int32_t* n_going, int32_t* n_ends) except -1 nogil
    cdef list _tokens_of(self, const Member* m)
    cdef list _tokens_behind(self, int32_t row, int32_t gap)
    cdef list _tokens_in(self, const State* at)
    # The end of a token, where some machine counts tokens.
    cdef int tick_nested(self, const State* at, State* out) except -1 nogil
    cdef int tick_several(self, int32_t configuration, State* out) except -1 nogil
    cdef int tick_apart(self, int32_t configuration, State* out) except -1 nogil
    cdef int add_apart(self, const State* at, int32_t* n, int32_t* n_rows) except -1 nogil
    cdef int settle_apart(self, int32_t n, int32_t n_rows, State* out) except -1 nogil
    cdef int step_apart(self, int32_t configuration, uint8_t byte, bint grow, State* out) except -1 nogil

    cdef int _meet(self, const State* at, list out) except -1
    cdef int _meet_in(self, const Member* m, list out) except -1
    cdef int _meet_behind(self, int32_t row, int32_t gap, list out) except -1
    cdef object _rule(self, int32_t row, int32_t lexeme)
    cdef list _nested_ways(self, const State* at)
    cdef bint _ends(self, const State* at, bytes text) except -1
    cdef bytes _parted(self, const State* at, ways)
