"""A machine whose texts have a limit of tokens.

A token counts if a byte of it belongs to the text; so one in which the text begins or ends counts too. At the end of
each token the text must have ended, or what is known to end it must fit into the tokens that are left: so a limit makes no dead end. In
greedy lexing a text goes on as long as it can; so, where it may end, and no token can go on inside it within those that are left, they are spent.
"""
cimport cython
from libc.stdint cimport int32_t
from llgcy.core.machine cimport Machine
from llgcy.core.state cimport State
from llgcy.core.store cimport Arena, Budget, Index
from llgcy.core.trie cimport Vocabulary

cdef enum:
    FAR = 0x7FFFFFFF        # Count.left: more than matter to any one token; tokens are not counted

cdef struct Count:          # what State.row stands for
    int32_t row             # State.row of the machine inside
    int32_t left            # tokens that may still begin to read the text, >= 0, or FAR
    int32_t open            # 1: the token that is being read is counted already; 0: a token begins

cdef enum:
    UNKNOWN = -2            # Need.least, Need.worst: not found out yet
    ASKS = -3               # Need.least: the state is one of a look-ahead, from which nothing can be known
    NEVER = 0x7FFFFFFF      # no ending is known

cdef struct Need:
    State at                # of the machine inside
    int32_t least           # tokens that are known to end the text from here, or as above
    int32_t worst           # the most that are needed behind any one token that may come here
    int32_t on              # with so many tokens left some token can go on with the text; NEVER: not found out yet
    int32_t off             # ... with so many there is none

@cython.final
cdef class Limited(Machine):
    cdef readonly Machine body
    cdef readonly int32_t most      # tokens, > 0
    cdef readonly bint judged       # False: the tokenizer is not known, so nothing is counted
    cdef readonly object tail_bytes # bytes that may go on where some text has ended; None: not known
    cdef bint greedy                # the grammar around it is lexed so
    cdef int32_t bound              # no state needs more tokens than these, -1: not known
    cdef Vocabulary vocabulary
    cdef bytes eos                  # its EOS ids, as int32s
    cdef Arena counts               # Count
    cdef Arena needs                # Need
    cdef Index count_index, need_index
    cdef int32_t last               # handle of the Need that was asked for last, -1: none
    cdef State* stack               # of a walk of all tokens: one state a byte of the longest; owned
    cdef int32_t* ends              # ... where the subtree at each depth ends; owned

    cdef int fold(self, const State* inner, int32_t left, int32_t open, State* out) except -1 nogil
    cdef const Count* unfold(self, const State* at, State* inner) noexcept nogil
    cdef Need* need_of(self, const State* inner) except NULL nogil
    # Tokens that end the text from a state of the machine inside: 0 where it may end, NEVER, or ASKS.
    cdef int32_t need(self, const State* inner) except -1 nogil
    cdef int find(self, const State* inner) except -1
    cdef int32_t worst(self, const State* inner) except -1 nogil
    # With so many tokens left, is there a token that ends inside the text, and leaves enough?
    cdef bint goes_on(self, const State* inner, int32_t left) except -1 nogil
    cdef int find_token(self, const State* inner, int32_t left, bint grow) except -1 nogil
    # Would any token that the machine inside allows leave enough of `left`?
    cdef bint is_far(self, const State* inner, int32_t left) except -1 nogil
