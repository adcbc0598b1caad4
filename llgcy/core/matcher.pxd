"""A compiled grammar, and one sequence under it."""
cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from llgcy.core.endings cimport Reach, Within
from llgcy.core.engine cimport Engine
from llgcy.core.history cimport Chunk
from llgcy.core.masks cimport Work
from llgcy.core.shelf cimport Mask
from llgcy.core.state cimport State
from llgcy.core.trie cimport Vocabulary

cdef enum:
    HEALING = -1            # State.mode: inside the text that the output has to repeat (Matcher.heal); gap bytes of it are read

cdef enum Ending:           # what becomes of an EOS
    NO_END = 0              # it is refused
    OVER = 1                # the text is over
    GOES_ON = 2             # the grammar names the token here, and the text need not end behind it

@cython.final
cdef class CompiledGrammar:
    cdef readonly object grammar            # the Grammar that it was compiled from
    cdef readonly object tokenizer          # the Tokenizer
    cdef readonly Vocabulary vocabulary
    cdef object make                        # () -> (Machine, its Budget): what an engine begins with
    cdef size_t mask_bytes                  # of each engine
    cdef bytes eos                          # the vocabulary's EOS ids, as int32s
    cdef const int32_t* eos_ids             # ... where they are
    cdef int32_t n_eos                      # how many
    cdef Engine engine                      # the current one
    cdef readonly int64_t renewals          # engines that took over from a full one
    cdef readonly object max_tokens         # of each matcher that is not told otherwise, None: no bound
    cdef Engine _renewed(self, Engine old)

@cython.final
cdef class Matcher:
    cdef readonly CompiledGrammar compiled
    cdef readonly tuple eos_token_ids
    cdef bytes eos                  # the same, as int32s
    cdef const int32_t* eos_ids     # ... where they are
    cdef int32_t n_eos              # how many
    cdef bint own_eos               # they differ from the vocabulary's
    cdef bint canonical             # masks allow forced tokens in their canonical spelling alone
    cdef bytes heal                 # text that the output has to begin with, before the grammar's own
    cdef const uint8_t* heal_text   # where it is
    cdef int32_t heal_length        # bytes of it
    cdef readonly int healed        # tokens of the prompt that `heal` stands for
    cdef Chunk tail                 # last chunk of the history, None before the first step
    cdef int32_t tail_used          # entries of `tail` that are this matcher's, > 0 where there is one
    cdef readonly int64_t steps     # accept calls that may be rolled back
    cdef State state                # where `engine` is the compiled grammar's: what the steps led to
    cdef int64_t engine             # number of the engine that `state` belongs to, 0: none, it must be made from the history
    cdef int64_t stuck              # number of an engine of whose budget this sequence alone takes more than half
    cdef int64_t stuck_at           # `steps` when that was found
    cdef Within within              # promises of finish_within(), the one in force first; None: there is none
    cdef int64_t max_tokens         # that reset() promises once more, -1: none
    cdef int64_t far                # `steps` where every token that the grammar allows is known to keep the promise, -1: not known
    cdef int32_t busy               # lock.generation() while a call is under way; atomic

    cdef void _point(self) noexcept
    # A call: claims the matcher for this thread, and returns the engine that its state belongs to. To be ended by _leave().
    cdef int _claim(self) except -1
    cdef Engine _enter(self)
    cdef void _leave(self) noexcept
    # Brings the state into an engine.
    cdef int _settle(self, Engine engine) except -1
    # The engine to try again with after a BudgetError, which is raised again where that cannot help.
    cdef Engine _again(self, Engine engine, object error)
    cdef void _begin(self, Engine engine, State* state) noexcept
    cdef int _restore(self, Engine engine, Chunk chunk) except -1
    cdef int _take(self, Engine engine, Chunk chunk, int32_t step, State* state) except -1
    cdef int _redo(self, Engine engine, object step, State* state) except -1
    # Looks for a shorter way to where the last chunk begins. 1: one was found, if only to some chunk before it.
    cdef int _shorten(self, Engine engine) except -1
    cdef int _push(self, Engine engine, int32_t token, object text, const State* state) except -1
    cdef bint _terminated(self) noexcept
    cdef bint _is_eos(self, int32_t token) noexcept nogil
    cdef int _run(self, Engine engine, const uint8_t* text, Py_ssize_t length, State* state) except -1 nogil
    cdef tuple _pieces(self, Engine engine, bytes text, const State* at)
    cdef int _run_pieces(self, Engine engine, tuple pieces, State* state) except -1
    cdef int _token(self, Engine engine, int32_t token, State* state) except -1 nogil
    cdef int _end(self, Engine engine, int32_t token, State* state) except -1 nogil
    cdef int _may_end(self, Engine engine, const State* state) except -1 nogil
    cdef int _checked(self, object token) except -1
    cdef int _accept(self, Engine engine, int32_t token) except -1
    cdef int _validate(self, Engine engine, list ids) except -1
    cdef bytes _forced(self, Engine engine, State* end)
    # Is there a promise to keep?
    cdef bint _bound(self) noexcept
    # Tokens left, where there is one.
    cdef int64_t _left(self) noexcept
    cdef int _promise(self, Engine engine, int64_t n) except -1
    cdef tuple _held(self)
    # The tokens of an ending, EOS left out; None: none is known.
    cdef tuple _ending(self, Engine engine, const State* at)
    # How many it has, EOS included.
    cdef int64_t _need(self, Engine engine, const State* at) except -1
    cdef int64_t _need_behind(self, Engine engine, int32_t token) except -1
    cdef int64_t _need_eos(self, Engine engine, int32_t token) except -1
    # Does the promise hold behind a token, with so many left then? None: no; (None,): yes; (tokens,): these end the text in time.
    cdef tuple _keeps(self, Engine engine, const State* before, int32_t token, const State* after, int64_t left, tuple held)
    cdef int _note(self, tuple kept) except -1
    cdef Reach _reach(self, Engine engine)
    # The need behind each of the states of a reach, -1 where it is not clear; a buffer of int64s.
    cdef bytes _needs(self, Engine engine, Reach reach)
    cdef list _unclear(self, Reach reach, const int64_t* needs)
    cdef bint _is_far(self, Engine engine) except -1
    cdef int _narrow(self, Engine engine, uint32_t* out) except -1
    cdef bint _only_eos(self, Engine engine) except -1
    cdef Matcher _copy(self)
    cdef list _history(self)
    cdef list _healed(self, list steps)
    cdef int _fill(self, Engine engine, uint32_t* out) except -1
    # The same without the promise.
    cdef int _fill_unbound(self, Engine engine, uint32_t* out) except -1
    cdef int _fill_retried(self, Engine engine, uint32_t* out) except -1
    # Its masks depend on more than the state.
    cdef bint _special(self) noexcept nogil
    # The same, promises included.
    cdef bint _alone(self, Engine engine) except -1
    # Only EOS.
    cdef void _fill_end(self, uint32_t* out) noexcept nogil
    # The mask of a state: from `mask` where that is not NULL, else computed with `work`.
    cdef int _fill_at(self, Engine engine, const State* at, const Mask* mask, Work work, uint32_t* out) except -1 nogil
    cdef int _fill_special(self, Engine engine, uint32_t* out) except -2
    cdef int _fill_healing(self, Engine engine, uint32_t* out) except -1
    cdef bytes _bytes(self, tuple tokens)
    cdef int _fill_forced(self, Engine engine, uint32_t* out) except -1
    cdef list _canonical(self, Engine engine, bytes text, const State* end)

cdef struct Rows:           # of a bitmask
    uint32_t* words         # the first one
    Py_ssize_t count        # rows
    Py_ssize_t width        # words of a row

# What stands behind a buffer that was asked for with BITMASK_FLAGS, all of it checked for a vocabulary of so many words.
cdef int read_rows(Py_buffer* view, int32_t words, Rows* out) except -1
# The buffer of a bitmask: a torch tensor's own, or the object itself.
cdef object buffer_of(object bitmask)
cdef int32_t checked_row(const Rows* rows, object row) except -1
cdef enum:
    BITMASK_FLAGS = PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_ND
