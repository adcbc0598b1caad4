"""Compiled grammars and matchers: the public objects of the runtime."""
cimport cython
from cpython.buffer cimport PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memset

from llgcy.core.endings cimport NO_ENDING, UNCLEAR, Reach, Within, within
from llgcy.core.engine cimport Engine
from llgcy.core.history cimport CHUNK, END, RECENT, Chunk, chunk_after, new_states
from llgcy.core.lock cimport atomic_store, atomic_swap, generation
from llgcy.core.masks cimport Work
from llgcy.core.shelf cimport Mask, Shelf
from llgcy.core.spelling cimport fewest, goes_on, put_extensions, put_spellings
from llgcy.core.state cimport State
from llgcy.core.trie cimport Vocabulary

from llgcy import canonical
from llgcy.errors import BudgetError, LimitError, StateError, TokenizerError, UnclearError

cdef enum:
    MOST_FORCED = 1 << 20       # bytes that forced_bytes() looks ahead
    NEARBY = 16                 # chunks: where a rollback to a place before the last one begins
    NEAR = 64                   # tokens left, EOS included, where more than MANY tokens with names that matter are not asked for one by one,
    MANY = 256                  # but left out: each costs some microseconds


@cython.final
cdef class CompiledGrammar:
    """A grammar made ready for one tokenizer; made by `llgcy.compile`.

    Immutable to its users: any number of matchers and threads may share it.

    Parameters
    ----------
    grammar : Grammar
    tokenizer : Tokenizer
    vocabulary : Vocabulary
    make : callable
        Without arguments: (a new Machine, the Budget of all that it makes, or None). Called again whenever that budget is spent.
    mask_bytes : int
        For remembered masks.
    max_tokens : int, optional
        Of matchers that are not told otherwise.

    Attributes
    ----------
    grammar : Grammar
    tokenizer : Tokenizer
    max_tokens : int or None
        What the grammar says about the number of tokens.
    renewals : int
        How often what had been made was thrown away, because the budget was spent.

    Examples
    --------
    >>> import llgcy
    >>> c = llgcy.compile(llgcy.Grammar.from_regex("[ab]+"), llgcy.Tokenizer.single_byte())
    >>> c.matcher().accept_bytes(b"ab")
    True
    """

    def __cinit__(self, object grammar, object tokenizer, Vocabulary vocabulary not None, object make not None, size_t mask_bytes,
                  object max_tokens=None):
        self.grammar, self.tokenizer, self.vocabulary, self.make, self.mask_bytes = grammar, tokenizer, vocabulary, make, mask_bytes
        self.engine, self.eos = Engine(*make(), vocabulary, mask_bytes), as_ids(vocabulary.eos)
        self.eos_ids, self.n_eos = <const int32_t*><const char*>self.eos, <int32_t>len(vocabulary.eos)
        self.max_tokens = max_tokens

    cdef Engine _renewed(self, Engine old):
        """An engine in place of a full one."""
        cdef Engine new
        if self.engine is old:
            new = Engine(*self.make(), self.vocabulary, self.mask_bytes)
            if self.engine is old:          # else another thread was faster
                self.engine = new
                self.renewals += 1
        return self.engine

    def matcher(self, prompt=None, *, eos_token_ids=None, tokens="any", max_tokens=None):
        """A new sequence.

        Parameters
        ----------
        prompt : sequence of int, optional
            The tokens before the output. Its last ones may stand for less than the model would have chosen, had it seen what
            follows; `Matcher.healed` says how many to drop, and the output then repeats their text.
        eos_token_ids : int or sequence of int, optional
            Instead of the tokenizer's.
        tokens : "any" or "canonical"
            Any: masks allow every token. Canonical: where text is forced, they allow only the tokens that the tokenizer itself
            would spell it with. Which tokens are accepted does not depend on it.
        max_tokens : int, optional
            The text ends within so many tokens, EOS included, as by `Matcher.finish_within`, also after `Matcher.reset`. By default
            as many as the grammar says, see `Grammar.from_grammars`.

        Returns
        -------
        Matcher

        Raises
        ------
        ValueError
            An id is not in the vocabulary.
        LimitError
            No text is known that ends within max_tokens.
        """
        if tokens not in ("any", "canonical"):
            raise ValueError(f"tokens must be 'any' or 'canonical', not {tokens!r}")
        return Matcher(self, eos_token_ids, prompt, tokens == "canonical", self.max_tokens if max_tokens is None else max_tokens)

    def save(self, path):
        """Writes what the grammar was made from, and the tokenizer's fingerprint, to a file; see `llgcy.saved`.

        Raises
        ------
        TypeError
            It was made from parts that have no saved form.
        """
        from llgcy import saved         # a layer above, which only this shortcut knows

        saved.save(self, path)

    @staticmethod
    def load(path, tokenizer, limits=None):
        """Reads a compiled grammar from a file, which may come from anywhere.

        Parameters
        ----------
        path : str or path
        tokenizer : Tokenizer
            With the content of the one that the grammar was compiled for.
        limits : Limits, optional

        Returns
        -------
        CompiledGrammar

        Raises
        ------
        GrammarError
            The file is damaged, of another version, or its grammar is refused.
        TokenizerError
            The grammar was compiled for another tokenizer.
        """
        from llgcy import saved         # see save()

        return saved.load(path, tokenizer, limits)

    def __reduce__(self):
        from llgcy import saved         # see save()

        return saved.unpickle, (saved.dumps(self), self.tokenizer, self.make.limits)

    @property
    def machine(self):
        """The recogniser in use."""
        return self.engine.machine

    @property
    def size(self):
        """Bytes of all that it has made, as far as they are counted."""
        cdef Engine engine = self.engine
        return (0 if engine.budget is None else engine.budget.used) + engine.masks.young.budget.used + engine.masks.old.budget.used

    def stats(self):
        """Counters, as a dict of int: states, masks by kind, bytes, ``renewals``."""
        return {**self.engine.stats(), "renewals": self.renewals}


cdef tuple checked_eos(object ids, int32_t size):
    cdef tuple out = (ids,) if isinstance(ids, int) else tuple(ids)
    for i in out:
        if not isinstance(i, int) or not 0 <= i < size:
            raise ValueError(f"eos_token_ids: {i!r} is not an id of the vocabulary of {size:,}")
    if not out:
        raise ValueError("eos_token_ids must name at least one id")
    return out


cdef bytes as_ids(tuple ids):
    """As int32s side by side."""
    cdef bytes out = bytes(len(ids) * sizeof(int32_t))
    cdef int32_t* to = <int32_t*><char*>out         # filled before anyone else sees it
    cdef Py_ssize_t i
    for i in range(len(ids)):
        to[i] = ids[i]
    return out


@cython.final
cdef class Matcher:
    """One sequence under a compiled grammar: what may come next, and what has come.

    A matcher has one owner; a call while another thread is inside one raises `StateError`. Made by `CompiledGrammar.matcher`.

    Attributes
    ----------
    compiled : CompiledGrammar
    eos_token_ids : tuple of int
    healed : int
        How many of the prompt's last tokens to drop; the output repeats their text.
    steps : int
        Accept calls that may be rolled back.

    Examples
    --------
    >>> import llgcy, numpy
    >>> m = llgcy.compile(llgcy.Grammar.from_regex("ab?"), llgcy.Tokenizer.single_byte()).matcher()
    >>> m.accept_token(ord("a")), m.is_accepting(), m.forced_bytes()
    (True, True, b'')
    """

    def __cinit__(self, CompiledGrammar compiled not None, object eos_token_ids=None, object prompt=None, bint canonical=False,
                  object max_tokens=None):
        self.compiled, self.canonical, self.heal = compiled, canonical, b""
        self.eos_token_ids, self.eos = compiled.vocabulary.eos, compiled.eos
        if eos_token_ids is not None:
            self.eos_token_ids = checked_eos(eos_token_ids, compiled.vocabulary.size)
            self.own_eos = self.eos_token_ids != compiled.vocabulary.eos
            self.eos = as_ids(self.eos_token_ids)
        self.max_tokens = self.far = -1
        self._point()
        if prompt is not None:
            self._heal([self._checked(token) for token in prompt])
        if max_tokens is not None:
            self.finish_within(max_tokens)
            self.max_tokens = max_tokens

    def _heal(self, list prompt):
        """Finds out how many tokens at the end of the prompt to drop."""
        cdef Engine engine = self.compiled.engine
        tokenizer = self.compiled.tokenizer
        self.healed = canonical.healed(tokenizer, prompt, lambda text: self._goes_on(engine, text, (<const char*>&engine.begin)[:sizeof(State)]))
        self.heal = tokenizer.decode_bytes(prompt[len(prompt) - self.healed:])
        self._point()

    cdef void _point(self) noexcept:
        """Sets the pointers to what stands in bytes objects, so that it is read without the GIL."""
        self.eos_ids, self.n_eos = <const int32_t*><const char*>self.eos, <int32_t>(len(self.eos) // sizeof(int32_t))
        self.heal_text, self.heal_length = <const uint8_t*><const char*>self.heal, <int32_t>len(self.heal)

    # -- calls ----------------------------------------------------------------------------------------------------------

    cdef int _claim(self) except -1:
        """From here to `atomic_store(&self.busy, 0)` the matcher is this thread's. A claim made before a fork, by a thread that
        the child does not have, is void."""
        if atomic_swap(&self.busy, generation()) == generation():
            raise StateError("a matcher belongs to one thread at a time; fork() it, or wait")
        return 0

    cdef Engine _enter(self):
        cdef Engine engine = self.compiled.engine
        self._claim()
        if self.engine != engine.number:
            try:
                self._settle(engine)
            except BudgetError as error:
                try:
                    engine = self._again(engine, error)
                except:
                    self._leave()
                    raise
            except:
                self._leave()
                raise
        return engine

    cdef void _leave(self) noexcept:
        atomic_store(&self.busy, 0)

    cdef Engine _again(self, Engine engine, object error):
        cdef Engine new
        cdef int shorter
        if engine.budget is None or self.stuck == engine.number and self.steps < self.stuck_at + CHUNK:
            raise error         # it would get nowhere
        while True:
            shorter = self._shorten(engine)
            new = self.compiled._renewed(engine)
            try:
                self._settle(new)
                break
            except BudgetError:
                if not shorter:
                    raise
                engine = new
        if new.budget.used > new.budget.limit // 2:
            self.stuck, self.stuck_at = new.number, self.steps
        return new

    cdef int _settle(self, Engine engine) except -1:
        cdef list chunks = []
        cdef Chunk chunk = self.tail
        cdef int32_t used = self.tail_used, i
        cdef State state
        self.engine = 0
        cdef tuple way = None
        while chunk is not None and chunk.engine != engine.number and way is None:
            chunks.append(chunk)
            way = chunk.way
            used, chunk = chunk.parent_used, chunk.parent
        if chunk is None or way is not None:
            self._begin(engine, &state)
            for step in way or ():
                self._redo(engine, step, &state)
        elif chunk.states != NULL:
            state = chunk.states[used - 1]
        else:
            state = chunk.begin
            for i in range(used):
                self._take(engine, chunk, i, &state)
        while chunks:
            chunk = <Chunk>chunks.pop()
            used = (<Chunk>chunks[len(chunks) - 1]).parent_used if chunks else self.tail_used
            chunk.adopt(&state, engine.number)
            if len(chunks) < RECENT:
                self._restore(engine, chunk)
            for i in range(used if chunk.states == NULL else 0):
                self._take(engine, chunk, i, &state)
            if chunk.states != NULL:
                state = chunk.states[used - 1]
        self.state, self.engine = state, engine.number
        return 0

    cdef void _begin(self, Engine engine, State* state) noexcept:
        """The state before the first step."""
        state[0] = engine.begin
        if self.heal_length:
            memset(state, 0, sizeof(State))
            state.mode = HEALING

    cdef int _shorten(self, Engine engine) except -1:
        """Between two places with the same state nothing needs to be taken again: what is left are the steps that have brought the
        sequence where it is, such as the brackets that are open, however long the text is."""
        cdef list chunks = [], way, keys
        cdef dict places = {}
        cdef Chunk chunk = self.tail, below
        cdef int32_t i, used
        cdef Py_ssize_t place
        cdef State state
        cdef bytes key
        cdef Chunk earlier = None       # on the way, the last one with a way of its own
        cdef int found = 0
        while chunk is not None:
            chunks.append(chunk)
            if chunk.way is not None:
                break
            chunk = chunk.parent
        if len(chunks) < 2:
            return 0
        way = [] if chunk is None else list(chunk.way)
        try:
            self._begin(engine, &state)
            keys = [(<const char*>&state)[:sizeof(State)]]
            places[keys[0]] = 0
            for place in range(len(way)):
                self._redo(engine, way[place], &state)
                keys.append((<const char*>&state)[:sizeof(State)])
                places[keys[place + 1]] = place + 1
            while len(chunks) > 1:
                chunk, below = <Chunk>chunks.pop(), <Chunk>chunks[len(chunks) - 1]
                for i in range(below.parent_used):
                    self._take(engine, chunk, i, &state)
                    key = (<const char*>&state)[:sizeof(State)]
                    place = places.get(key, -1)
                    if place < 0:
                        places[key] = len(keys)
                        keys.append(key)
                        way.append(chunk.texts[~chunk.tokens[i]] if chunk.tokens[i] < 0 else chunk.tokens[i])
                    else:
                        for key in keys[place + 1:]:
                            del places[key]
                        del keys[place + 1:], way[place:]
                if len(way) <= below.depth * (CHUNK // 2) and (len(chunks) == 1 or len(chunks) % NEARBY == 0):
                    below.way = tuple(way)
                    found = 1
                    # Of the ways on the way, the last one is enough: for a rollback.
                    if earlier is not None and len(chunks) > 1:
                        earlier.way = None
                    earlier = below if len(chunks) > 1 else earlier
        except BudgetError:
            pass
        return found

    cdef int _restore(self, Engine engine, Chunk chunk) except -1:
        """Makes the states of a chunk again, for all steps that any fork has taken there."""
        cdef State state = chunk.begin
        cdef State* states = new_states()
        cdef int32_t i
        try:
            for i in range(chunk.used):
                self._take(engine, chunk, i, &state)
                states[i] = state
        except:
            free(states)
            raise
        chunk.keep(states, engine.number)
        return 0

    cdef int _take(self, Engine engine, Chunk chunk, int32_t step, State* state) except -1:
        """Takes a step of the history once more."""
        cdef int32_t token = chunk.tokens[step]
        return self._redo(engine, chunk.texts[~token] if token < 0 else token, state)

    cdef int _redo(self, Engine engine, object step, State* state) except -1:
        """Takes bytes, pieces of bytes or a token once more, END added where it has ended the text."""
        cdef int32_t token
        cdef bytes text
        cdef int taken = 1
        if type(step) is bytes:
            text = step
            taken = self._run(engine, <const uint8_t*><const char*>text, len(text), state)
        elif type(step) is tuple:
            taken = self._run_pieces(engine, step, state)
        else:
            token = step
            if not token & END:
                taken = self._token(engine, token, state)
        if not taken:
            raise AssertionError("a step that was taken before is refused")
        return 0

    cdef int _push(self, Engine engine, int32_t token, object text, const State* state) except -1:
        cdef Chunk tail = self.tail
        if tail is None or self.tail_used == CHUNK or tail.used != self.tail_used or tail.states == NULL:
            tail = self.tail = chunk_after(tail, self.tail_used, &self.state, engine.number)
            self.tail_used = 0
        tail.tokens[self.tail_used] = tail.note(text) if token < 0 else token
        tail.states[self.tail_used] = state[0]
        self.tail_used += 1
        tail.used = self.tail_used
        self.steps += 1
        self.state = state[0]
        return 0

    cdef bint _terminated(self) noexcept:
        cdef int32_t token
        if self.tail is None:
            return False
        token = self.tail.tokens[self.tail_used - 1]
        return token >= 0 and token & END

    cdef bint _is_eos(self, int32_t token) noexcept nogil:
        cdef int32_t i
        for i in range(self.n_eos):
            if self.eos_ids[i] == token:
                return True
        return False

    cdef int _run(self, Engine engine, const uint8_t* text, Py_ssize_t length, State* state) except -1 nogil:
        cdef Py_ssize_t n
        if state.mode == HEALING:
            n = min(length, <Py_ssize_t>(self.heal_length - state.gap))
            if memcmp(text, self.heal_text + state.gap, n):
                return 0
            state.gap += <int32_t>n
            if state.gap < self.heal_length:
                return 1
            state[0] = engine.begin
            text += n
            length -= n
        return engine.run(text, length, state)

    cdef tuple _pieces(self, Engine engine, bytes text, const State* at):
        """Bytes as the tokens that spell them, where the grammar counts tokens: the fewest that it takes, or each byte as one."""
        cdef Py_ssize_t healing = self.heal_length - at.gap if at.mode == HEALING else 0, i
        cdef tuple tokens, first
        if len(text) <= healing:
            return text,
        first = (text[:healing],) if healing else ()
        if healing:
            at = &engine.begin
        tokens = engine.spelled(at, text[healing:], self.eos, False)
        if tokens is None:
            return first + tuple([text[i:i + 1] for i in range(healing, len(text))])
        return first + tuple([self._bytes((token,)) for token in tokens])

    cdef int _run_pieces(self, Engine engine, tuple pieces, State* state) except -1:
        cdef bytes piece
        for piece in pieces:
            if not self._run(engine, <const uint8_t*><const char*>piece, len(piece), state) or not engine.tick(state):
                return 0
        return 1

    cdef int _token(self, Engine engine, int32_t token, State* state) except -1 nogil:
        """Steps a token that does not end the text; 0 where it is refused."""
        cdef int32_t length
        cdef const uint8_t* text = self.compiled.vocabulary.bytes_of(token, &length)
        cdef State unit
        if not engine.machine.names_tokens:
            return length and self._run(engine, text, length, state) and (not engine.machine.counts_tokens or engine.tick(state))
        cdef bint named = engine.unit(state, token, &unit)
        if length and not self._is_eos(token) and self._run(engine, text, length, state) and engine.tick(state):
            if named:
                engine.either(state, &unit, state)
            return 1
        if named:
            state[0] = unit
        return named

    cdef int _end(self, Engine engine, int32_t token, State* state) except -1 nogil:
        """Steps an EOS: NO_END, OVER or GOES_ON."""
        if engine.unit(state, token, state):
            return OVER if engine.only_end(state) else GOES_ON
        return OVER if self._may_end(engine, state) else NO_END

    cdef int _may_end(self, Engine engine, const State* state) except -1 nogil:
        return 0 if state.mode == HEALING else engine.accepting(state)

    cdef int _checked(self, object token) except -1:
        cdef Py_ssize_t id_ = token
        if not 0 <= id_ < self.compiled.vocabulary.size:
            raise ValueError(f"{token!r} is not an id of the vocabulary of {self.compiled.vocabulary.size:,}")
        return <int>id_

    # -- taking ---------------------------------------------------------------------------------------------------------

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
        LimitError
            Where the sequence needs more than the grammar's budget; nothing has changed.
        """
        cdef int32_t id_ = self._checked(token)
        cdef Engine engine = self._enter()
        try:
            try:
                return bool(self._accept(engine, id_))
            except BudgetError as error:
                return bool(self._accept(self._again(engine, error), id_))
        finally:
            self._leave()

    cdef int _accept(self, Engine engine, int32_t token) except -1:
        cdef State state = self.state
        cdef int how = GOES_ON
        cdef bint bound = self._bound()
        cdef tuple kept = None
        if self._is_eos(token):
            if self._terminated():
                return 1
            how = self._end(engine, token, &state)
            if how == NO_END:
                return 0
        elif self._terminated() or not self._token(engine, token, &state):
            return 0
        if bound and how == GOES_ON:
            kept = self._keeps(engine, &self.state, token, &state, self._left() - 1, self._held())
            if kept is None:
                return 0
        self._push(engine, token | END if how == OVER else token, None, &state)
        if kept is not None:
            self._note(kept)
        return 1

    def accept_tokens(self, tokens, /):
        """Takes tokens up to the first that is refused; how many were taken."""
        cdef int taken = 0
        for token in tokens:
            if not self.accept_token(token):
                break
            taken += 1
        return taken

    def accept_bytes(self, bytes text not None, /):
        """Takes bytes, as one step for `rollback`; no bytes are no step. False: refused, and nothing has changed.

        Of a budget (`finish_within`), and of ``max_tokens`` of a rule, they take as many tokens as spell them at least."""
        cdef Engine engine = self._enter()
        try:
            try:
                return self._accept_bytes(engine, text)
            except BudgetError as error:
                return self._accept_bytes(self._again(engine, error), text)
        finally:
            self._leave()

    def _accept_bytes(self, Engine engine, bytes text):
        cdef State state = self.state
        cdef int taken
        cdef const uint8_t* data = <const uint8_t*><const char*>text
        cdef Py_ssize_t length = len(text), count = length
        cdef Within before = self.within
        cdef object step = text
        if self._terminated() or not text:
            return not text
        if engine.machine.counts_tokens:
            step = self._pieces(engine, text, &state)
            taken = self._run_pieces(engine, step, &state)
        else:
            with nogil:
                taken = self._run(engine, data, length, &state)
        if not taken:
            return False
        if self._bound():
            tokens = step if engine.machine.counts_tokens else fewest(self.compiled.vocabulary, text, self.eos)
            count = length if tokens is None else len(tokens)
            if self._need(engine, &state) > self._left() - count:
                return False
        self._push(engine, -1, step, &state)
        if self._bound():
            self.within = within(before, self.steps, before.deadline - (count - 1), None)
        return True

    def validate_tokens(self, tokens, /):
        """How many of these tokens could be accepted one after the other; nothing changes.

        Raises
        ------
        ValueError
            Where one of them is not an id of the vocabulary.
        """
        cdef list ids = [self._checked(token) for token in tokens]
        cdef Engine engine = self._enter()
        try:
            try:
                return self._validate(engine, ids)
            except BudgetError as error:
                return self._validate(self._again(engine, error), ids)
        finally:
            self._leave()

    cdef int _validate(self, Engine engine, list ids) except -1:
        cdef State state = self.state, before
        cdef bint terminated = self._terminated(), bound = self._bound()
        cdef int64_t left = self._left() if bound else 0
        cdef tuple held = self._held() if bound else None, kept
        cdef int32_t id_
        cdef int count = 0, how
        for id_ in ids:
            before = state
            if self._is_eos(id_):
                how = OVER if terminated else self._end(engine, id_, &state)
                if how == NO_END:
                    break
                terminated = how == OVER
            elif terminated or not self._token(engine, id_, &state):
                break
            if bound and not terminated:
                left -= 1
                kept = self._keeps(engine, &before, id_, &state, left, held)
                if kept is None:
                    break
                held = kept[0]
            count += 1
        return count

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
        if left:
            self.steps -= left
            while left:
                if left < self.tail_used:
                    self.tail_used -= <int32_t>left
                    break
                left -= self.tail_used
                self.tail_used = self.tail.parent_used
                self.tail = self.tail.parent
            if self.tail is not None and self.tail.engine == self.engine and self.tail.states != NULL:
                self.state = self.tail.states[self.tail_used - 1]
            else:
                self.engine = 0         # the next call makes it from the history
            self.stuck = 0
            self.far = -1
            while self.within is not None and self.within.since > self.steps:
                self.within = self.within.before
        self._leave()

    def reset(self):
        """Takes back everything, a budget (`finish_within`) included; the one that the matcher was made with holds again."""
        self.rollback(self.steps)
        self._claim()
        self.within = None if self.max_tokens < 0 else within(None, 0, self.max_tokens, None)
        self.far = -1
        self._leave()

    def fork(self):
        """An independent matcher in the same state, with the same history.

        Returns
        -------
        Matcher
        """
        cdef Matcher other
        self._claim()
        other = self._copy()
        self._leave()
        return other

    cdef Matcher _copy(self):
        """fork(), under the caller's claim."""
        cdef Matcher other = Matcher.__new__(Matcher, self.compiled)
        other.eos_token_ids, other.eos, other.own_eos = self.eos_token_ids, self.eos, self.own_eos
        other.canonical, other.heal, other.healed = self.canonical, self.heal, self.healed
        other._point()
        other.tail, other.tail_used, other.steps = self.tail, self.tail_used, self.steps
        other.state, other.engine, other.stuck = self.state, self.engine, self.stuck
        other.stuck_at = self.stuck_at
        other.within, other.max_tokens, other.far = self.within, self.max_tokens, self.far
        return other

    # -- budgets --------------------------------------------------------------------------------------------------------

    def finish_within(self, n, /):
        """From here on the text ends validly within n tokens, EOS included.

        Masks allow, and `accept_token` takes, only tokens after which an ending is known that fits: that of `completion`, in the
        fewest tokens that spell it. So no mask is ever empty, and no text is cut off. As long as plenty is left the masks are what they
        were; near the end they may be narrower than need be, since an ending that is known need not be the shortest, and since many tokens
        whose endings depend on the names before them are not asked for one by one there.

        Each accept call takes one token of the budget, `accept_bytes` as many as spell its bytes at least, and `rollback` gives them back;
        a rollback to before this call takes back the call. A fork keeps the promise, too. `reset` forgets it.

        Parameters
        ----------
        n : int or None
            None: there is no budget any more.

        Raises
        ------
        LimitError
            No ending is known that fits; the message says how many tokens the shortest one known needs. Nothing has changed.
        ValueError
            n is negative.

        Examples
        --------
        >>> import llgcy
        >>> m = llgcy.compile(llgcy.Grammar.from_regex("[a-z]+!"), llgcy.Tokenizer.single_byte()).matcher()
        >>> m.finish_within(4)                          # "ab!" and EOS
        >>> m.accept_tokens(b"abc"), m.completion()
        (2, b'!')
        """
        cdef int64_t count
        if n is None:
            self._claim()
            if self.within is not None:
                self.within = within(self.within, self.steps, -1, None)
            self._leave()
            return
        if isinstance(n, bool) or not isinstance(n, int):
            raise TypeError(f"a number of tokens is an int, not {type(n).__name__}")
        if n < 0:
            raise ValueError(f"a number of tokens is not negative, as {n} is")
        count = min(n, <int64_t>1 << 60)
        self._retried(lambda engine: self._promise(engine, count))

    cdef int _promise(self, Engine engine, int64_t n) except -1:
        cdef tuple held = self._held() if self._bound() else None
        cdef int64_t need = 0 if self._terminated() else self._need(engine, &self.state)
        if n >= need:
            held = None
        elif held is None or n <= len(held):
            if need >= NO_ENDING:
                raise LimitError("no ending of the text is known that the vocabulary can spell")
            raise LimitError(f"the text cannot end within {n:,} tokens: the shortest ending known needs "
                             f"{need if held is None else min(need, len(held) + 1):,}, EOS included")
        self.within = within(self.within, self.steps, self.steps + n, held)
        self.far = -1
        return 0

    @property
    def tokens_left(self):
        """Tokens of the budget that are left, EOS included; None: there is no budget."""
        return self._left() if self._bound() else None

    cdef bint _bound(self) noexcept:
        return self.within is not None and self.within.deadline >= 0

    cdef int64_t _left(self) noexcept:
        return self.within.deadline - self.steps

    cdef tuple _held(self):
        """Tokens that end the text, where it is those of a longer ending that keep the promise; None: those of `_ending` do."""
        return None if self.within.witness is None else self.within.witness[self.steps - self.within.since:]

    cdef tuple _ending(self, Engine engine, const State* at):
        cdef tuple out, rest
        cdef State state = at[0]
        cdef int32_t token
        if at.mode == HEALING:
            out, rest = fewest(self.compiled.vocabulary, self.heal[at.gap:], self.eos), self._ending(engine, &engine.begin)
            return None if out is None or rest is None else out + rest
        out = engine.endings.tokens(at, self.eos)
        if out is not None and engine.machine.counts_tokens:        # the fewest need not keep what limits the tokens of a part
            out = engine.spelled(at, self._bytes(out), self.eos, True)
        if out is not None and engine.machine.names_tokens:         # there tokens may mean more than what they spell
            for token in out:
                if not self._token(engine, token, &state):
                    return None
            if self._end(engine, self.eos_ids[0], &state) != OVER:
                return None
        return out

    cdef int64_t _need(self, Engine engine, const State* at) except -1:
        cdef tuple ending = self._ending(engine, at)
        return NO_ENDING if ending is None else <int64_t>len(ending) + 1

    cdef int64_t _need_behind(self, Engine engine, int32_t token) except -1:
        """Of the text with one token more; NO_ENDING also where the token is refused."""
        cdef State state = self.state
        if self._is_eos(token):
            return self._need_eos(engine, token)
        return self._need(engine, &state) if self._token(engine, token, &state) else NO_ENDING

    cdef int64_t _need_eos(self, Engine engine, int32_t token) except -1:
        """The same for an EOS that may come: 0 where it ends the text."""
        cdef State state = self.state
        return 0 if self._end(engine, token, &state) == OVER else self._need(engine, &state)

    cdef tuple _keeps(self, Engine engine, const State* before, int32_t token, const State* after, int64_t left, tuple held):
        if left + 1 == self._left() and self.far == self.steps or self._need(engine, after) <= left:
            return None,
        if held is None:
            held = self._ending(engine, before)
        return (held[1:],) if held and held[0] == token else None

    cdef int _note(self, tuple kept) except -1:
        """Keeps the ending that the step just taken rests on."""
        if (kept[0] is None) != (self.within.witness is None):
            self.within = within(self.within, self.steps, self.within.deadline, kept[0])
        return 0

    cdef Reach _reach(self, Engine engine):
        """Where each token leads; tokens that the grammar names are read as what it names."""
        cdef int32_t token, first, last
        cdef State state, looked
        cdef Reach reach
        engine.machine.looked(&self.state, &looked)
        reach = engine.endings.known(&looked)
        if reach is not None:
            return reach
        reach = engine.endings.reach(&looked)
        if engine.machine.names_tokens:
            engine.lock.acquire()
            try:
                named = engine.machine.tokens_allowed(&self.state)
            finally:
                engine.lock.release()
            for first, last in named:
                reach.forget(first, last)
                with nogil:
                    for token in range(first, last + 1):
                        state = self.state
                        if self._is_eos(token):         # of this matcher, not of all that use what is found here
                            reach.add(&token, 1, UNCLEAR)
                        elif self._token(engine, token, &state):
                            reach.add(&token, 1, reach.note(&state))
        engine.endings.keep(&looked, reach)
        return reach

    cdef bytes _needs(self, Engine engine, Reach reach):
        cdef int32_t i
        cdef bytes out = reach.needs.get(self.eos)
        cdef int64_t* needs
        if out is None:
            out = bytes(reach.n * sizeof(int64_t))
            needs = <int64_t*><char*>out            # filled before anyone else sees it
            for i in range(reach.n):
                try:
                    needs[i] = self._need(engine, &reach.states[i])
                except UnclearError:
                    needs[i] = -1
            reach.needs[self.eos] = out
        return out

    cdef list _unclear(self, Reach reach, const int64_t* needs):
        """The tokens that have to be asked for one by one; None: they are too many for that, near the end."""
        cdef int32_t k
        cdef list out = reach.tokens_of(UNCLEAR)
        for k in range(reach.n):
            if needs[k] < 0:
                out += reach.tokens_of(k)
        return None if len(out) > MANY and self._left() <= NEAR else out

    cdef bint _is_far(self, Engine engine) except -1:
        """Does every token that the grammar allows keep the promise?"""
        cdef State state
        cdef Reach reach
        cdef bytes found
        cdef const int64_t* needs
        cdef int64_t worst = 0, need
        cdef int32_t token, k
        cdef list asked
        if self.far == self.steps:
            return True
        if self.state.mode == HEALING or self._terminated():
            return False
        engine.machine.looked(&self.state, &state)
        key = (<const char*>&state)[:sizeof(State)], self.eos
        known = engine.endings.worsts.get(key)
        if known is None:
            reach = self._reach(engine)
            found = self._needs(engine, reach)
            needs = <const int64_t*><const char*>found
            asked = self._unclear(reach, needs)
            if asked is None:
                return False
            for k in range(reach.n):
                worst = max(worst, needs[k])
            for token in asked:
                need = self._need_behind(engine, token)
                if need != NO_ENDING:
                    worst = max(worst, need)
            engine.endings.remember_worst(key, worst)
        else:
            worst = known
        if worst > self._left() - 1:
            return False
        self.far = self.steps
        return True

    cdef int _narrow(self, Engine engine, uint32_t* out) except -1:
        """Takes from a mask the tokens that do not keep the promise; 1 where there are any."""
        cdef Reach reach
        cdef bytes found
        cdef const int64_t* needs
        cdef int64_t left = self._left() - 1
        cdef int32_t token
        cdef int some = 0
        cdef list asked
        cdef tuple witness
        if self._is_far(engine):
            return 0
        ends = {token for token in self.eos_ids[:self.n_eos] if out[token >> 5] >> (token & 31) & 1}
        if self.state.mode == HEALING:
            asked = [token for token in range(self.compiled.vocabulary.size) if out[token >> 5] >> (token & 31) & 1]
        else:
            reach = self._reach(engine)
            found = self._needs(engine, reach)
            needs = <const int64_t*><const char*>found
            asked = self._unclear(reach, needs)
            with nogil:
                some = reach.narrow(needs, left, asked is None, out)
            if asked is None:
                asked = []
        for token in asked:
            if out[token >> 5] >> (token & 31) & 1 and token not in ends and self._need_behind(engine, token) > left:
                out[token >> 5] &= ~(<uint32_t>1 << (token & 31))
                some = 1
        for token in ends:              # as text such a token leads elsewhere
            if self._need_eos(engine, token) > left:
                out[token >> 5] &= ~(<uint32_t>1 << (token & 31))
                some = 1
            else:
                out[token >> 5] |= <uint32_t>1 << (token & 31)
        witness = self._held()
        if witness is None:
            witness = self._ending(engine, &self.state)
        if witness:
            token = witness[0]
            out[token >> 5] |= <uint32_t>1 << (token & 31)
        return some

    cdef bint _only_eos(self, Engine engine) except -1:
        """Is EOS all that the mask allows?"""
        cdef int32_t token, i, words = self.compiled.vocabulary.words
        cdef bytearray mask = bytearray(4 * words)
        cdef uint32_t* out = <uint32_t*><char*>mask
        self._fill(engine, out)
        for token in self.eos_ids[:self.n_eos]:
            out[token >> 5] &= ~(<uint32_t>1 << (token & 31))
        for i in range(words):
            if out[i]:
                return False
        return True

    # -- asking ---------------------------------------------------------------------------------------------------------

    def _retried(self, question):
        """Asks with the engine; again with a new one, where the budget of the first is spent."""
        cdef Engine engine = self._enter()
        try:
            try:
                return question(engine)
            except BudgetError as error:
                return question(self._again(engine, error))
        finally:
            self._leave()

    def is_accepting(self):
        """May the text end here? Then EOS is allowed."""
        cdef Engine engine = self._enter()
        try:
            if self._terminated():
                return True
            try:
                return bool(self._may_end(engine, &self.state))
            except BudgetError as error:
                return bool(self._may_end(self._again(engine, error), &self.state))
        finally:
            self._leave()

    def is_complete(self):
        """Must the text end here? True right after the last byte of a finite language, where a budget leaves nothing but EOS, and once
        terminated."""
        return self._retried(self._complete)

    def _complete(self, Engine engine):
        if self._terminated() or self.state.mode != HEALING and engine.only_end(&self.state):
            return True
        return self._bound() and bool(self._may_end(engine, &self.state)) and bool(self._only_eos(engine))

    def is_terminated(self):
        """Was EOS accepted?"""
        return self._terminated()

    @property
    def stop_reason(self):
        """Why the text has stopped, a str; None while it may go on.

        ``"complete"``: the grammar allows nothing more, whether EOS has come or not. ``"budget"``: it would, but the budget of
        `finish_within` leaves nothing but EOS. ``"eos"``: EOS was accepted where the text could have gone on.
        """
        return self._retried(self._stop_reason)

    def _stop_reason(self, Engine engine):
        cdef bint over = self._terminated()
        cdef Matcher before
        if self.state.mode != HEALING and engine.only_end(&self.state):
            return "complete"
        if over and self._bound():
            before = self._copy()
            before.rollback(1)
            return "budget" if before.is_complete() else "eos"
        return "eos" if over else "budget" if self._complete(engine) else None

    @property
    def temperature(self):
        """The highest temperature that the grammar asks for what may come next, by the attribute ``temperature``; None: none."""
        return self._retried(self._temperature)

    def _temperature(self, Engine engine):
        if self._terminated() or self.state.mode == HEALING:
            return None
        engine.lock.acquire()
        try:
            return engine.machine.temperature((<const char*>&self.state)[:sizeof(State)])
        finally:
            engine.lock.release()

    cdef bytes _forced(self, Engine engine, State* end):
        """The bytes that must follow, and the state behind them."""
        cdef bytearray out = bytearray()
        cdef int byte
        end[0] = self.state
        if self._terminated():
            return b""
        if end.mode == HEALING:
            out += self.heal[end.gap:]
            end[0] = engine.begin
        engine.lock.acquire()
        try:
            while len(out) < MOST_FORCED:
                with nogil:
                    byte = -1 if engine.machine.accepting(end) else engine.only_byte(end)
                if byte < 0 or engine.machine.tokens_allowed(end) or engine.machine.counting(end):
                    break                   # what is limited may end where its tokens are spent
                out.append(byte)
                with nogil:
                    engine.machine.step(end, <uint8_t>byte, True, end)
        finally:
            engine.lock.release()
        return bytes(out)

    def forced_bytes(self):
        """The bytes that must follow: up to the first choice, or the first place where the text may end; at most a megabyte.

        Returns
        -------
        bytes
        """
        return self._retried(self._forced_bytes)

    def _forced_bytes(self, Engine engine):
        cdef State end
        return self._forced(engine, &end)

    def forced_tokens(self):
        """The tokens that must follow, as the tokenizer itself would spell the forced text.

        The last ones of the forced text are left out where what may follow it could change them. So a model may skip the calls for
        these tokens without ever seeing text spelled in a way it does not know.

        Returns
        -------
        list of int
            Always accepted. Empty where the tokenizer cannot encode.
        """
        return self._retried(self._forced_tokens)

    def _forced_tokens(self, Engine engine):
        cdef State end
        cdef bytes text
        tokenizer = self.compiled.tokenizer
        if tokenizer is None or not tokenizer.can_encode:
            return []
        text = self._forced(engine, &end)
        ids = self._canonical(engine, text, &end) if text else []
        if self._bound() or engine.machine.counts_tokens:       # a budget may have no room for the tokenizer's own way
            return ids[:self._validate(engine, ids)]
        return ids

    cdef list _canonical(self, Engine engine, bytes text, const State* end):
        """The tokens of a forced text, without those at its end that what follows may change."""
        cdef bytes state = (<const char*>end)[:sizeof(State)]
        return canonical.forced_tokens(self.compiled.tokenizer, self._last_tokens(canonical.FARTHEST), text, engine.completion(end),
                                       lambda tail: self._goes_on(engine, tail, state))

    def _goes_on(self, Engine engine, bytes text, bytes state):
        """Is there a token that spells the text and at least one byte more that may come in the state?"""
        cdef int found
        cdef const uint8_t* data = <const uint8_t*><const char*>text
        cdef int32_t length = <int32_t>len(text)
        cdef const State* at = <const State*><const char*>state
        engine.lock.acquire()
        try:
            with nogil:
                found = goes_on(engine.machine, self.compiled.vocabulary, data, length, at)
        finally:
            engine.lock.release()
        return bool(found)

    def _last_tokens(self, int most):
        """The last tokens taken, as far as there are only such."""
        cdef Chunk chunk = self.tail
        cdef int32_t used = self.tail_used
        cdef list out = []
        while chunk is not None and len(out) < most:
            if used == 0:
                used, chunk = chunk.parent_used, chunk.parent
                continue
            used -= 1
            if chunk.tokens[used] < 0 or chunk.tokens[used] & END:
                break
            out.append(chunk.tokens[used])
        return out[::-1]

    def captures(self):
        """The texts of rules with the attribute ``capture`` or ``stop_capture``.

        The text so far is read as the grammar's first reading of it has it, decided from the outside in: a rule takes the first of its
        alternatives that fits, of an alternative each part takes from the left as much as it can. Where the text may end, it is taken
        for a whole one; elsewhere what is still being read goes on to its end, and only rules that have ended are listed. Each call
        reads all of the text again, by a parser that is slower than the engine by far: call it where captures are needed.

        Returns
        -------
        list of (str, bytes)
            Name and text, one for each time that a rule was used, in the order in which they end, inner ones first.

        Raises
        ------
        LimitError
            The text can be read in too many ways at once.
        """
        cdef list steps
        cdef object end
        if not self.compiled.make.records:
            return []
        self._claim()
        steps = self._history()
        end = steps.pop() if self._terminated() else None
        self._leave()
        return self.compiled.make.captures(self._healed(steps), end)

    cdef list _history(self):
        """(id, text) of all steps, as the grammar sees them; -1: text alone; the id alone, last, of a token that ended the text."""
        cdef Chunk chunk = self.tail
        cdef int32_t used = self.tail_used, i, token, length
        cdef const uint8_t* text
        cdef list out = []
        while chunk is not None:
            for i in range(used - 1, -1, -1):
                token = chunk.tokens[i]
                if token < 0:
                    step = chunk.texts[~token]
                    out += [(-1, step)] if type(step) is bytes else [(-1, piece) for piece in reversed(step)]
                elif token & END:
                    out.append(token & ~END)
                else:
                    text = self.compiled.vocabulary.bytes_of(token, &length)
                    out.append((token, b"" if self._is_eos(token) else text[:length]))
            used, chunk = chunk.parent_used, chunk.parent
        return out[::-1]

    cdef list _healed(self, list steps):
        """Without the text of the prompt that the output repeats."""
        cdef Py_ssize_t left = self.heal_length, i = 0
        while left and i < len(steps):
            text = steps[i][1]
            if len(text) > left:
                return [(-1, text[left:])] + steps[i + 1:]
            left -= len(text)
            i += 1
        return steps[i:]

    def expected(self):
        """What may come next, in the terms of the grammar.

        Returns
        -------
        list of str
        """
        return self._retried(self._expected)

    def _expected(self, Engine engine):
        from llgcy import explain       # see CompiledGrammar.save()

        if self._terminated():
            return [explain.END]
        if self.state.mode == HEALING:
            return [repr(self.heal[self.state.gap:].decode("utf-8", "backslashreplace"))]
        engine.lock.acquire()
        try:
            return explain.expected(engine.machine, (<const char*>&self.state)[:sizeof(State)])
        finally:
            engine.lock.release()

    def explain_bytes(self, bytes text not None, /):
        """Why `accept_bytes` refuses a text here: how far it goes, and what was expected there. Nothing changes.

        Returns
        -------
        Explanation or None
            Its places are those in all of the text so far. None: it is not refused.
        """
        return self._retried(lambda engine: None if self._copy()._accept_bytes(engine, text) else self._why(engine, text, ""))

    def explain_token(self, token, /):
        """Why `accept_token` refuses a token here; as `explain_bytes`.

        Raises
        ------
        ValueError
            Where it is not an id of the vocabulary.
        """
        cdef int32_t id_ = self._checked(token), length
        cdef const uint8_t* data = self.compiled.vocabulary.bytes_of(id_, &length)
        cdef bytes text = b"" if self._is_eos(id_) else data[:length]
        names = {} if self.compiled.tokenizer is None else {i: name for name, i in self.compiled.tokenizer.specials.items()}
        sign = "" if text or self._is_eos(id_) else names.get(id_, f"token {id_}")
        return self._retried(lambda engine: None if self._validate(engine, [id_]) else self._why(engine, text, sign))

    def _why(self, Engine engine, bytes text, str sign):
        """The `Explanation` of what is refused."""
        from llgcy import explain       # see CompiledGrammar.save()

        cdef State at = self.state
        cdef list steps = self._history()
        cdef bytes before, rest
        if self._terminated():
            steps.pop()
        before = b"".join([step[1] for step in self._healed(steps)])
        if self._terminated():
            return explain.refused(before + text, len(before), [explain.END], sign=sign)
        if at.mode == HEALING:
            before, rest, at = self.heal[:at.gap], self.heal[at.gap:], engine.begin
            if not text.startswith(rest):
                same = next((i for i in range(len(text)) if text[i] != rest[i]), len(text))
                return explain.refused(before + text, len(before) + same, [repr(rest[same:].decode("utf-8", "backslashreplace"))], sign=sign)
            before, text = b"", text[len(rest):]
        engine.lock.acquire()
        try:
            out = explain.explain(engine.machine, before + text, (<const char*>&at)[:sizeof(State)], len(before), sign)
        finally:
            engine.lock.release()
        if self._bound() and (text or sign) and not out.found:     # the grammar takes it
            expected = "an ending within 1 token" if self._left() == 1 else f"an ending within {self._left():,} tokens"
            return explain.refused(before + text, len(before), [expected], sign=sign)
        if engine.machine.counts_tokens and (text or sign) and not out.found:
            return explain.refused(before + text, len(before), ["a token that leaves enough of what max_tokens= of a rule allows"], sign=sign)
        return out

    def completion(self):
        """A short text that ends the output validly from here; under a budget, in time.

        Returns
        -------
        bytes
        """
        return self._retried(self._completion)

    def _completion(self, Engine engine):
        cdef State state = self.state
        cdef bytes first = b""
        if self._terminated():
            return b""
        if self._bound() and self.within.witness is not None:
            return self._bytes(self._held())
        if state.mode == HEALING:
            first, state = self.heal[state.gap:], engine.begin
        return first + engine.completion(&state)

    cdef bytes _bytes(self, tuple tokens):
        """What tokens spell."""
        cdef int32_t length
        cdef const uint8_t* text
        cdef bytearray out = bytearray()
        for token in tokens:
            text = self.compiled.vocabulary.bytes_of(token, &length)
            out += text[:length]
        return bytes(out)

    # -- masks ----------------------------------------------------------------------------------------------------------

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
        LimitError
            Where the mask needs more than the grammar's budget. The matcher stays as it is.
        """
        cdef Py_buffer view
        cdef Rows rows
        cdef uint32_t* out
        cdef int some
        cdef int32_t words = self.compiled.vocabulary.words
        cdef Engine engine
        PyObject_GetBuffer(buffer_of(bitmask), &view, BITMASK_FLAGS)
        try:
            read_rows(&view, words, &rows)
            out = rows.words + checked_row(&rows, row) * rows.width
            engine = self._enter()
            try:
                some = self._fill_retried(engine, out)
            finally:
                self._leave()
            if rows.width > words:
                memset(out + words, 0, 4 * (rows.width - words))
            return bool(some)
        finally:
            PyBuffer_Release(&view)

    cdef int _fill_retried(self, Engine engine, uint32_t* out) except -1:
        try:
            return self._fill(engine, out)
        except BudgetError as error:
            return self._fill(self._again(engine, error), out)

    cdef int _fill(self, Engine engine, uint32_t* out) except -1:
        """Writes the mask's words; 1 where some token is not allowed."""
        cdef int some = self._fill_unbound(engine, out)
        return self._narrow(engine, out) or some if self._bound() and not self._terminated() else some

    cdef int _fill_unbound(self, Engine engine, uint32_t* out) except -1:
        cdef State key
        cdef const Mask* mask
        cdef Shelf young = engine.masks.young, old = engine.masks.old       # so that what is found there stays
        cdef Work work
        cdef int some
        if self._terminated():
            self._fill_end(out)
            return 1
        if self._special():
            some = self._fill_special(engine, out)
            if some >= 0:
                return some
        mask = engine.masks.find(&key) if engine.machine.ready_key(&self.state, &key) else NULL
        if mask != NULL and mask.n_asks == 0:
            return self._fill_at(engine, &self.state, mask, None, out)
        work = engine.masks.begin()
        try:
            with nogil:
                some = self._fill_at(engine, &self.state, NULL, work, out)
        finally:
            engine.masks.end(work)
        return some

    cdef bint _special(self) noexcept nogil:
        return self.canonical or self.state.mode == HEALING

    cdef bint _alone(self, Engine engine) except -1:
        return self._special() or self._bound() and not self._is_far(engine)

    cdef int _fill_special(self, Engine engine, uint32_t* out) except -2:
        """-1: nothing is special here."""
        if self.state.mode == HEALING:
            return self._fill_healing(engine, out)
        return 1 if self._fill_forced(engine, out) else -1

    cdef void _fill_end(self, uint32_t* out) noexcept nogil:
        cdef int32_t i
        memset(out, 0, 4 * <size_t>self.compiled.vocabulary.words)
        for i in range(self.n_eos):
            out[self.eos_ids[i] >> 5] |= <uint32_t>1 << (self.eos_ids[i] & 31)

    cdef int _fill_at(self, Engine engine, const State* at, const Mask* mask, Work work, uint32_t* out) except -1 nogil:
        cdef int some, ends
        cdef int32_t i, token
        cdef State unit
        if mask != NULL:
            some = engine.masks.write(mask, engine.machine.white_room(at), out)
        else:
            some = engine.masks.fill(work, at, out)
        if self.own_eos:
            for i in range(self.compiled.n_eos):
                token = self.compiled.eos_ids[i]
                if not engine.unit(at, token, &unit):       # the grammar does not name it here
                    out[token >> 5] &= ~(<uint32_t>1 << (token & 31))
            ends = engine.accepting(at)
            for i in range(self.n_eos):
                token = self.eos_ids[i]
                if ends:
                    out[token >> 5] |= <uint32_t>1 << (token & 31)
                elif not engine.unit(at, token, &unit):     # it ends the text, whatever it spells
                    out[token >> 5] &= ~(<uint32_t>1 << (token & 31))
            for i in range(self.compiled.vocabulary.words):
                if out[i]:
                    return some
            with gil:
                raise TokenizerError(f"the grammar needs what only the ids {self.eos_token_ids} spell, and they end the text (eos_token_ids=); "
                                     "take them out, or a tokenizer with all 256 bytes beside them")
        return some

    cdef int _fill_healing(self, Engine engine, uint32_t* out) except -1:
        """The mask inside the text that the output has to repeat. Seen once by a sequence, so it is not remembered."""
        cdef const uint8_t* text = self.heal_text + self.state.gap
        cdef int32_t length = self.heal_length - self.state.gap
        memset(out, 0, 4 * <size_t>self.compiled.vocabulary.words)
        engine.lock.acquire()
        try:
            with nogil:
                put_spellings(engine.machine, self.compiled.vocabulary, text, length, &engine.begin, out)
        finally:
            engine.lock.release()
        return 1

    cdef int _fill_forced(self, Engine engine, uint32_t* out) except -1:
        """Where text is forced: the first of its canonical tokens; where all of those may still change, the tokens that spell all
        of the text at least. 0: there are none, and nothing is written."""
        cdef State end
        cdef bytes text = self._forced(engine, &end)
        cdef const uint8_t* data = <const uint8_t*><const char*>text
        cdef int32_t token, length = <int32_t>len(text)
        cdef list forced
        cdef int some
        if length == 0 or not self.compiled.tokenizer.can_encode:
            return 0
        forced = self._canonical(engine, text, &end)
        if forced and engine.machine.counts_tokens and not self._validate(engine, forced[:1]):
            return 0
        memset(out, 0, 4 * <size_t>self.compiled.vocabulary.words)
        if forced:
            token = forced[0]
            out[token >> 5] |= <uint32_t>1 << (token & 31)
            return 1
        engine.lock.acquire()
        try:
            with nogil:
                some = put_extensions(engine.machine, self.compiled.vocabulary, data, length, &end, out)
        finally:
            engine.lock.release()
        return some

    def __reduce__(self):
        raise TypeError("a matcher cannot be pickled; pickle its CompiledGrammar, and let a new matcher accept the tokens so far")

    def stats(self):
        """Counters of this sequence, as a dict."""
        return {"steps": self.steps}


cdef object buffer_of(object bitmask):
    if hasattr(bitmask, "data_ptr") and hasattr(bitmask, "numpy"):      # a torch tensor
        return bitmask.numpy()
    return bitmask


cdef int read_rows(Py_buffer* view, int32_t words, Rows* out) except -1:
    cdef bytes format_ = view.format if view.format != NULL else b"B"
    if view.itemsize != 4 or format_.lstrip(b"@=<") not in (b"i", b"I", b"l", b"L"):
        raise ValueError(f"a bitmask has int32 or uint32 words, not items of {view.itemsize} bytes and format {format_.decode()!r}")
    if view.ndim not in (1, 2):
        raise ValueError(f"a bitmask has one or two dimensions, not {view.ndim}")
    out.words, out.width, out.count = <uint32_t*>view.buf, view.shape[view.ndim - 1], view.shape[0] if view.ndim == 2 else 1
    if out.width < words:
        raise ValueError(f"a row of {out.width} words is too short: the vocabulary needs {words}")
    return 0


cdef int32_t checked_row(const Rows* rows, object row) except -1:
    cdef Py_ssize_t at = row
    if not 0 <= at < rows.count:
        raise ValueError(f"row {row} of a bitmask of {rows.count} rows")
    return <int32_t>at
