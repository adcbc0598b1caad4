"""The grammar machine: rows and joint states of the lexer make the state of a sequence.

A *member* is a row and a joint state of lexemes that began there. Mostly a state is one member. A member whose lexer state has
ENDED stands for two things at once: the lexeme goes on, or it has ended and the next one starts in the row behind it. Greedy
lexing tries the second only where the first fails, and so does exact lexing in a grammar where never both are possible
(separable). Else a byte may leave several members: then those in one row join their lexer states, those in one lexer state their
rows, and all lexemes that end at one byte make one row.

Text to skip leads back to the row where it began, without its accept flag where the text may not end behind a skip.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from llgcy.core.lexer cimport ENDED, NOTHING, OPEN, Joint, Lexer
from llgcy.core.machine cimport Machine
from llgcy.core.rows cimport Buffer, Row, Rows, Shape, push, room
from llgcy.core.state cimport ALIVE, CROSS, DEAD, Leaf, State
from llgcy.core.store cimport Arena, Budget, Index, Probe
from llgcy.core.tables cimport GrammarTables

cdef enum Mode:             # State.mode. State.row is a row, in SEVERAL a configuration; the leaf's v is a joint state or 0
    BETWEEN = 1             # a lexeme may start
    WITHIN = 2              # inside lexemes that began in one row
    SEVERAL = 3             # more than one member
    FRESH = 4               # before the first lexeme, where skipping is not allowed yet

cdef struct Member:
    int32_t row             # where the lexemes began
    int32_t lexer           # joint state; 0: none has begun. Of several members: those parts that go on

cdef struct Configuration:  # members that live side by side
    int32_t members         # handle of `n_members` Members, ascending by row
    int32_t n_members       # >= 1; one only where it is the outcome of a configuration
    int32_t nexts           # record of outcomes; 0: not made yet

@cython.final
cdef class GrammarMachine(Machine):
    cdef readonly GrammarTables tables
    cdef readonly Budget budget
    cdef readonly Rows rows
    cdef readonly Lexer lexer
    cdef readonly bint separable    # a lexeme that has ended is over where none goes on: one member is enough
    cdef readonly list warnings     # str
    cdef int32_t fresh              # joint state of FRESH, 0: not made
    cdef Arena configurations       # Configuration
    cdef Arena members              # Member
    cdef Arena nexts                # 256 int32 a record: handle of the configuration after that byte + 2, 1: none, 0: not known
    cdef Index index
    # Scratch, in elements of the type named.
    cdef Buffer going               # Member: in the making
    cdef Buffer ends                # int32: rows behind lexemes that end
    cdef Buffer ended               # int32: of these, those of one member

    # Joint state of the lexemes that may start in a row, or NOTHING.
    cdef int32_t starting(self, int32_t row) except -1 nogil
    # The row behind the lexemes that end in a joint state, which began in `row`.
    cdef int32_t behind(self, int32_t row, int32_t lexer) except -1 nogil
    cdef int enter(self, int32_t row, int32_t lexer, State* out) except -1 nogil
    cdef int32_t past(self, int32_t row, int32_t lexeme) except -1 nogil
    cdef int32_t start_state(self, const Shape* shape, bint skipping) except -1 nogil
    cdef int branch(self, const Member* members, int32_t n, uint8_t byte, State* out) except -1 nogil
    cdef int32_t join(self, int32_t n) except -1 nogil
    cdef int32_t join_lexers(self, int32_t n) except -1 nogil
    cdef int32_t configuration(self, int32_t n) except -1 nogil
    cdef int several(self, int32_t configuration, uint8_t byte, State* out) except -1 nogil
