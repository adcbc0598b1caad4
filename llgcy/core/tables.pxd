"""A frozen grammar: what the rows are made from. Written once by GrammarTables, read without a lock ever after.

A *place* is where an item of a row stands. It is the suffix of the rule behind the dot, not (rule, dot): the left side of an
item that names the row to go on with means nothing any more. A counted rule `x{low,high}` has three places, one for each
outcome of its next copy.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t

from llgcy.core.machine cimport Machine
from llgcy.core.state cimport State

cdef enum:
    NO_PLACE = -1           # tail of the last symbol of a rule
    NO_SKIP = -1            # nothing may be skipped before the lexeme
    CUTS = 1 << 30          # rank of a lexeme that, where it ends, ends all others too
    ENDLESS = 0x7FFFFFFF    # high of a repetition without upper bound

cdef extern from *:
    """
    #define LLGCY_FAR ((int64_t)1 << 60)
    """
    const int64_t FAR "LLGCY_FAR"       # bytes: lengths saturate here

cdef enum Guard:            # what the next copy of a counted symbol leads to
    MORE = 0                # still fewer than `low`: it cannot stop there
    MAY = 1                 # it may stop there, or go on
    LAST = 2                # it must stop there

cdef struct Place:
    int32_t symbol          # what is waited for
    int32_t tail            # place behind the symbol, NO_PLACE: the rule ends; of a counted place NO_PLACE
    int32_t count           # index into counts, -1: an ordinary place
    int32_t guard           # of a counted place
    int64_t rest            # bytes of a shortest text, not empty, from here to the end of the rule; counted: of one copy

cdef struct Count:          # symbol{low,high}, never unrolled
    int32_t symbol
    int32_t low             # >= 0; 0 where the symbol may be empty
    int32_t high            # >= 1, or ENDLESS
    int32_t place           # of guard MORE; MAY and LAST follow

cdef struct Table:          # rows of varying length in one array
    int32_t* first          # first[i] .. first[i + 1] - 1 are the indexes of row i; owned by GrammarTables
    int32_t* data

@cython.final
cdef class GrammarTables:
    cdef readonly int32_t n_lexemes     # symbols below are lexemes
    cdef readonly int32_t n_symbols     # all symbols, the start rule's own left side included
    cdef readonly int32_t n_places
    cdef readonly int32_t n_counts
    cdef readonly tuple skips           # lexemes that are skipped: they stand where certain others may follow, and in no rule
    cdef readonly bint skip_first       # ... before the first lexeme too
    cdef readonly bint skip_last        # ... where no lexeme may follow: the first of them
    cdef readonly bint empty            # the empty text is in the language
    cdef readonly str lexing            # "greedy" or "exact"
    cdef readonly object regexes        # Regexes("bytes"), which holds the terms of the lexemes; None where there are none
    cdef readonly tuple lexemes         # per lexeme: a term id, a Machine, or ranges of token ids
    cdef readonly tuple shortest        # per lexeme: bytes of a shortest text that is not empty; ByToken; None: there is none
    cdef readonly list names            # per symbol: str, for messages
    cdef readonly tuple temperatures    # per lexeme: float, or None; None: none has one
    cdef readonly list rules            # (left side, body) that are left, by left side; body as in the constructor
    cdef Place* places                  # [n_places], owned
    cdef Count* counts                  # [n_counts], owned
    cdef uint8_t* nullable              # [n_symbols]: the symbol may be empty; owned
    cdef int32_t* before                # [n_lexemes]: lexeme that may be skipped before this one, NO_SKIP: none; owned
    cdef int32_t* skipped               # [n_lexemes]: 1 + its index in `skips`, 0: it is none of them; owned
    cdef readonly bint gaps             # what was skipped last matters for what may come: `follows` is there, or some skip stands once
    cdef uint8_t* once                  # [len(skips)]: it may not be skipped twice in a row; owned
    cdef uint8_t* follows               # [n_lexemes * len(skips)]: the lexeme may stand behind what is skipped; NULL: any may; owned
    cdef int32_t* ranks                 # [n_lexemes], or NULL: all the same. Of greedy lexemes that end together the highest count; owned
    cdef Table ids                      # lexeme -> first and last id of each of its ranges of tokens
    cdef Table starts                   # symbol -> places where its rules start
    cdef Table entries                  # place -> places where an item stands that comes to it with a link
    cdef uint8_t* ends                  # [n_places]: all from here to the end of the rule may be empty; owned
    cdef Table first                    # places of the items of the first row: one row of the table
    cdef dict _lengths                  # symbol -> bytes of a shortest text
    cdef dict _how                      # symbol -> body of a shortest text
    cdef dict _lengths_on               # symbol -> bytes of a shortest text that is not empty
    cdef dict _how_on                   # symbol that may be empty -> (body, index of what is not empty in it)
    cdef dict _heads                    # place -> left sides of the rules in which it stands; None: not made yet
    cdef tuple heads(self, int32_t place)
    cdef list spell(self, int32_t place, int32_t copies)    # lexemes of the text that `rest` is about; of a counted place `copies` times
    cdef bint has_token(self, int32_t lexeme, int32_t id) noexcept nogil     # Is the token one of the lexeme?

# May a lexeme stand behind skip number `gap` (from 1)?
cdef inline bint may_follow(const uint8_t* follows, int32_t n_lexemes, int32_t gap, int32_t lexeme) noexcept nogil:
    return follows == NULL or gap <= 0 or follows[(gap - 1) * n_lexemes + lexeme]

# The guard of a counted symbol of which `k` copies have been read.
cdef inline int32_t guard_of(const Count* c, int32_t k) noexcept nogil:
    return LAST if c.high != ENDLESS and k + 1 >= c.high else MAY if k + 1 >= c.low else MORE

# Lengths add up to FAR at most.
cdef inline int64_t longer(int64_t a, int64_t b) noexcept nogil:
    return a + b if a + b < FAR else FAR

# A shortest text that ends what a machine reads, or a ByToken.
cdef object ending_of(Machine machine, const State* at)
