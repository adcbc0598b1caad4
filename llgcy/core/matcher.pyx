"""Compiled grammars and matchers: the public objects of the runtime."""
cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from llgcy.core.history cimport CHUNK, Chunk, chunk_after
from llgcy.core.lock cimport Lock, atomic_store, atomic_swap, generation
from llgcy.core.machine cimport Machine
from llgcy.core.masks cimport Mask, Masks
from llgcy.core.state cimport ALIVE, DEAD, State
from llgcy.core.store cimport Budget
from llgcy.core.trie cimport Vocabulary

from llgcy.errors import StateError


@cython.final
cdef class CompiledGrammar:
    """A grammar made ready for one tokenizer; made by `llgcy.compile`.

    Immutable to its users: any number of matchers and threads may share it.

    Attributes
    ----------
    grammar : Grammar
    tokenizer : Tokenizer

    Examples
    --------
    >>> import llgcy
    >>> c = llgcy.compile(llgcy.Grammar.from_regex("[ab]+"), llgcy.Tokenizer.single_byte())
    >>> c.matcher().accept_bytes(b"ab")
    True
    """

    def __cinit__(self, object grammar, object tokenizer, Vocabulary vocabulary not None, Machine machine not None,
                  Budget mask_budget not None):
        self.grammar, self.tokenizer, self.vocabulary, self.machine = grammar, tokenizer, vocabulary, machine
        self.masks = Masks(machine, vocabulary, mask_budget)
        self.lock = Lock()
        memset(&self.begin, 0, sizeof(State))
        cdef int alive
        with nogil:
            alive = machine.start(&self.begin)
        if alive != ALIVE:
            raise StateError("a machine without any text must be refused before it gets here")

    def matcher(self, prompt=None, *, eos_token_ids=None):
        """A new sequence.

        Parameters
        ----------
        eos_token_ids : int or sequence of int, optional
            Instead of the tokenizer's.

        Returns
        -------
        Matcher
        """
        if prompt is not None:
            raise TypeError("prompt= (token healing) is not supported yet; begin the matcher at a token boundary")
        return Matcher(self, eos_token_ids)

    def stats(self):
        """Counters, as a dict of int: states, masks by kind, bytes."""
        out = dict(self.machine.stats())
        out.update(self.masks.stats())
        return out


cdef tuple checked_eos(object ids, int32_t size):
    cdef tuple out = (ids,) if isinstance(ids, int) else tuple(ids)
    for i in out:
        if not isinstance(i, int) or not 0 <= i < size:
            raise ValueError(f"eos_token_ids: {i!r} is not an id of the vocabulary of {size:,}")
    if not out:
        raise ValueError("eos_token_ids must name at least one id")
    return out


@cython.final
cdef class Matcher:
    """One sequence under a compiled grammar: what may come next, and what has come.

    A matcher has one owner; a call while another thread is inside one raises `StateError`. Made by `CompiledGrammar.matcher`.

    Examples
    --------
    >>> import llgcy, numpy
    >>> m = llgcy.compile(llgcy.Grammar.from_regex("ab?"), llgcy.Tokenizer.single_byte()).matcher()
    >>> m.accept_token(ord("a")), m.is_accepting(), m.forced_bytes()
    (True, True, b'')
    """

    def __cinit__(self, CompiledGrammar compiled not None, object eos_token_ids=None):
        self.compiled, self.state = compiled, compiled.begin
        self.eos_token_ids = compiled.vocabulary.eos
        if eos_token_ids is not None:
            self.eos_token_ids = checked_eos(eos_token_ids, compiled.vocabulary.size)
            self.own_eos = self.eos_token_ids != compiled.vocabulary.eos

    cdef int _claim(self) except -1:
        """From here to `atomic_store(&self.busy, 0)` the matcher is this thread's. A claim made before a fork, by a thread that the child
        does not have, is void."""
        if atomic_swap(&self.busy, generation()) == generation():
            raise StateError("a matcher belongs to one thread at a time; fork() it, or wait")
        return 0

    cdef int _enter(self) except -1:
        self._claim()
        self.compiled.lock.acquire()
        return 0

    cdef void _leave(self) noexcept:
        self.compiled.lock.release()
        atomic_store(&self.busy, 0)

    cdef int _push(self, const State* state) except -1:
        if self.tail is None or self.tail_used == CHUNK or self.tail.used != self.tail_used:
            self.tail = chunk_after(self.tail, self.tail_used)
            self.tail_used = 0
        self.tail.states[self.tail_used] = state[0]
        self.tail_used += 1
        self.tail.used = self.tail_used
        self.steps += 1
        self.state = state[0]
        return 0

    cdef int _run(self, const uint8_t* text, Py_ssize_t length, State* state) except -1:
        cdef Py_ssize_t i
        with nogil:
            for i in range(length):
                if self.compiled.machine.step(state, text[i], True, state) != ALIVE:
                    return 0
        return 1

    cdef int _token(self, int32_t token, State* state) except -1:
        """Steps a token that is no EOS; 0 where it is refused."""
        cdef int32_t length
        cdef const uint8_t* text = self.compiled.vocabulary.bytes_of(token, &length)
        return self._run(text, length, state) if length else 0

    cdef int _accepting(self) except -1:
        cdef int out
        if self.state.mode == TERMINATED:
            return 1
        with nogil:
            out = self.compiled.machine.accepting(&self.state)
        return out

    cdef int _checked(self, object token) except -1:
        cdef Py_ssize_t id_ = token
        if not 0 <= id_ < self.compiled.vocabulary.size:
            raise ValueError(f"{token!r} is not an id of the vocabulary of {self.compiled.vocabulary.size:,}")
        return <int>id_

    def accept_token(self, token, /):
        """Takes one token.

        Parameters
        ----------
        token : int

        Returns
        -------
        bool
            False: the grammar refuses it, and nothing has changed.

        Raises
        ------
        ValueError
            Where it is not an id of the vocabulary.
        """
        cdef int32_t id_ = self._checked(token)
        cdef State state
        self._enter()
        try:
            if id_ in self.eos_token_ids:
                if self.state.mode == TERMINATED:
                    return True
                if not self._accepting():
                    return False
                state = self.state
                state.mode = TERMINATED
                self._push(&state)
                return True
            if self.state.mode == TERMINATED:
                return False
            state = self.state
            if not self._token(id_, &state):
                return False
            self._push(&state)
            return True
        finally:
            self._leave()

    def accept_tokens(self, tokens, /):
        """Takes tokens up to the first that is refused; how many were taken."""
        cdef int taken = 0
        for token in tokens:
            if not self.accept_token(token):
                break
            taken += 1
        return taken

    def accept_bytes(self, bytes text not None, /):
        """Takes bytes, as one step for `rollback`; False: refused, and nothing has changed."""
        cdef State state
        self._enter()
        try:
            if self.state.mode == TERMINATED:
                return not text
            state = self.state
            if not self._run(<const uint8_t*><const char*>text, len(text), &state):
                return False
            self._push(&state)
            return True
        finally:
            self._leave()

    def validate_tokens(self, tokens, /):
        """How many of these tokens could be accepted one after the other; nothing changes.

        Raises
        ------
        ValueError
            Where one of them is not an id of the vocabulary.
        """
        cdef list ids = [self._checked(token) for token in tokens]
        cdef int32_t id_
        cdef int count = 0, accepting
        cdef State state
        self._enter()
        try:
            state = self.state
            for id_ in ids:
                if id_ in self.eos_token_ids:
                    if state.mode != TERMINATED:
                        with nogil:
                            accepting = self.compiled.machine.accepting(&state)
                        if not accepting:
                            break
                        state.mode = TERMINATED
                elif state.mode == TERMINATED or not self._token(id_, &state):
                    break
                count += 1
            return count
        finally:
            self._leave()

    def rollback(self, n, /):
        """Takes back the last n accept calls.

        Raises
        ------
        ValueError
            Where n is negative or more than the calls since the start; then nothing changes.
        """
        cdef int64_t left = n
        if not 0 <= left <= self.steps:
            raise ValueError(f"cannot roll back {n} of {self.steps} steps")
        self._claim()
        self.steps -= left
        while left:
            if left < self.tail_used:
                self.tail_used -= <int32_t>left
                left = 0
            else:
                left -= self.tail_used
                self.tail_used = self.tail.parent_used
                self.tail = self.tail.parent
        self.state = self.compiled.begin if self.tail is None else self.tail.states[self.tail_used - 1]
        atomic_store(&self.busy, 0)

    def reset(self):
        """Takes back everything."""
        self.rollback(self.steps)

    def fork(self):
        """An independent matcher in the same state, with the same history.

        Returns
        -------
        Matcher
        """
        cdef Matcher other = Matcher.__new__(Matcher, self.compiled)
        self._claim()
        other.eos_token_ids, other.own_eos = self.eos_token_ids, self.own_eos
        other.tail, other.tail_used, other.steps, other.state = self.tail, self.tail_used, self.steps, self.state
        atomic_store(&self.busy, 0)
        return other

    def is_accepting(self):
        """May the text end here? Then EOS is allowed."""
        self._enter()
        try:
            return bool(self._accepting())
        finally:
            self._leave()

    def is_complete(self):
        """Must the text end here? True right after the last byte of a finite language, and once terminated."""
        self._enter()
        try:
            if self.state.mode == TERMINATED:
                return True
            return bool(self._accepting()) and self._only_byte(&self.state) == -1
        finally:
            self._leave()

    def is_terminated(self):
        """Was EOS accepted?"""
        return self.state.mode == TERMINATED

    @property
    def stop_reason(self):
        """None while the text goes on, "eos" once EOS was accepted."""
        return "eos" if self.state.mode == TERMINATED else None

    @property
    def temperature(self):
        """The temperature that the grammar asks for here, or None."""
        return None

    cdef int _only_byte(self, const State* at) except -3:
        """The one byte that may follow, -1: none may, -2: several."""
        cdef int byte, found = -1
        cdef State after
        with nogil:
            for byte in range(256):
                if self.compiled.machine.step(at, <uint8_t>byte, False, &after) != DEAD:
                    if found >= 0:
                        return -2
                    found = byte
        return found

    def forced_bytes(self):
        """The bytes that must follow: up to the first choice, or the first place where the text may end.

        Returns
        -------
        bytes
        """
        cdef State state
        cdef int byte, accepting
        cdef bytearray out = bytearray()
        self._enter()
        try:
            state = self.state
            while state.mode != TERMINATED:
                with nogil:
                    accepting = self.compiled.machine.accepting(&state)
                byte = -1 if accepting else self._only_byte(&state)
                if byte < 0:
                    break
                out.append(byte)
                with nogil:
                    self.compiled.machine.step(&state, <uint8_t>byte, True, &state)
            return bytes(out)
        finally:
            self._leave()

    def completion(self):
        """A short text that ends the output validly from here.

        Returns
        -------
        bytes
        """
        self._enter()
        try:
            if self.state.mode == TERMINATED:
                return b""
            return self.compiled.machine.completion((<const char*>&self.state)[:sizeof(State)])
        finally:
            self._leave()

    def fill_next_token_bitmask(self, bitmask, row=0, /):
        """Writes which tokens may come next.

        Parameters
        ----------
        bitmask : writable buffer of int32 or uint32, 1-D or 2-D
            numpy array, torch tensor on the CPU, ...; bit i % 32 of word i // 32 is 1 where token i is allowed. Words beyond the
            vocabulary become 0.
        row : int
            Of a 2-D buffer.

        Returns
        -------
        bool
            False: every token is allowed (the bits are written all the same).

        Raises
        ------
        ValueError
            Where the buffer is too small or not int32.
        TypeError
            Where it is no buffer.
        """
        cdef Py_buffer view
        cdef uint32_t* out
        cdef Py_ssize_t words
        cdef int some
        if hasattr(bitmask, "numpy") and hasattr(bitmask, "data_ptr"):      # a torch tensor
            bitmask = bitmask.numpy()
        PyObject_GetBuffer(bitmask, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | PyBUF_ND)
        try:
            out = row_of(&view, row, self.compiled.vocabulary.words, &words)
            self._claim()
            try:
                some = self._fill(out)
            finally:
                atomic_store(&self.busy, 0)
            if words > self.compiled.vocabulary.words:
                memset(out + self.compiled.vocabulary.words, 0, 4 * (words - self.compiled.vocabulary.words))
            return bool(some)
        finally:
            PyBuffer_Release(&view)

    cdef int _fill(self, uint32_t* out) except -1:
        """Writes the mask's words; 1 where some token is not allowed."""
        cdef CompiledGrammar compiled = self.compiled
        cdef State key
        cdef const Mask* mask
        cdef int some
        cdef int32_t token
        if self.state.mode == TERMINATED:
            memset(out, 0, 4 * <size_t>compiled.vocabulary.words)
            for token in self.eos_token_ids:
                out[token >> 5] |= <uint32_t>1 << (token & 31)
            return 1
        mask = compiled.masks.find(&key) if compiled.machine.ready_key(&self.state, &key) else NULL
        if mask != NULL and mask.n_asks == 0:
            some = compiled.masks.write(mask, compiled.machine.white_room(&self.state), out)
        else:
            compiled.lock.acquire()
            try:
                compiled.machine.mask_key(&self.state, &key)
                mask = compiled.masks.find(&key)        # another thread may have been faster
                if mask == NULL:
                    mask = compiled.masks.compute(&key)
                some = compiled.masks.write(mask, compiled.machine.white_room(&self.state), out)
                if mask.n_asks:
                    with nogil:
                        compiled.masks.answer(mask, &self.state, out)
            finally:
                compiled.lock.release()
        if self.own_eos:
            for token in compiled.vocabulary.eos:
                out[token >> 5] &= ~(<uint32_t>1 << (token & 31))
            if self._accepting():
                for token in self.eos_token_ids:
                    out[token >> 5] |= <uint32_t>1 << (token & 31)
        return some

    def stats(self):
        """Counters of this sequence, as a dict."""
        return {"steps": self.steps}


cdef uint32_t* row_of(Py_buffer* view, object row, int32_t words, Py_ssize_t* width) except NULL:
    """The first word of a row of the mask, all of it checked."""
    cdef Py_ssize_t at = row
    cdef bytes format_ = view.format if view.format != NULL else b"B"
    if view.itemsize != 4 or format_.lstrip(b"@=<") not in (b"i", b"I", b"l", b"L"):
        raise ValueError(f"a bitmask has int32 or uint32 words, not items of {view.itemsize} bytes and format {format_.decode()!r}")
    if view.ndim not in (1, 2):
        raise ValueError(f"a bitmask has one or two dimensions, not {view.ndim}")
    width[0] = view.shape[view.ndim - 1]
    if width[0] < words:
        raise ValueError(f"a row of {width[0]} words is too short: the vocabulary needs {words}")
    if not 0 <= at < (view.shape[0] if view.ndim == 2 else 1):
        raise ValueError(f"row {row} of a bitmask of {view.shape[0] if view.ndim == 2 else 1} rows")
    return <uint32_t*>view.buf + at * width[0]
