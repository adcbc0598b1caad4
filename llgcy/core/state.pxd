"""The state of a sequence: one small struct, equal by bytes exactly when the futures are the same object.

All handles name immutable, hash-consed objects in stores of the compiled grammar. So a state is copied, compared and
hashed as 40 bytes, whatever the length of the text behind it.
"""
from libc.stdint cimport int32_t

cdef enum Step:
    DEAD = 0        # no member of the language continues so
    ALIVE = 1       # the text goes on (in leaf_step: inside the same lexeme)
    CROSS = 2       # only from leaf_step: this byte ends the lexeme; ask step() of the whole state
    ASK = 3         # only where grow is false: the answer needs the name of an object's key just read

cdef struct Leaf:       # place inside one lexeme; all zero between lexemes
    int32_t lang    # language: string view, number language, ... (which store: the machine's mode tells), >= 0
    int32_t d       # node in the trie of declared names, -1: no declared name begins so
    int32_t u       # node in the trie of names used as extra keys, -1: none begins so
    int32_t v       # state of the patterns, of the number, or joint state of the lexer, >= 0
    int32_t k       # characters so far, clipped at the language's horizon, >= 0
    int32_t pos     # place inside an escape or a UTF-8 sequence, 0: between characters

cdef struct State:
    int32_t mode    # what comes next, by the machine's own enum; 0 only in a zeroed struct
    int32_t gap     # bytes of white space in the current gap, >= 0
    int32_t row     # handle: what may follow, for every derivation at once
    int32_t side    # handle: what the text alone decides (names used, ...)
    Leaf leaf
