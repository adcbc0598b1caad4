"""Batches; see batch.pxd.

What is ready is found and claimed with the GIL; then the threads of a pool and the calling one take tasks from one list, those that
have something to compute first. Masks of one grammar that are not ready are one task: threads that make them side by side would mostly wait
for the grammar's lock. Nobody asks for the GIL but for what is rare: a thread that waits for it, while another lets go of it and takes it again,
waits for milliseconds. So what a mask needs of Python is looked up before, and masks are remembered when all is done. An error in one job
holds up none of the others.
"""
cimport cython
from cpython.buffer cimport PyBuffer_Release, PyObject_GetBuffer
from cpython.pythread cimport (NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
                               PyThread_release_lock)
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memmove, memset

from llgcy.core.engine cimport Engine
from llgcy.core.history cimport Chunk
from llgcy.core.lock cimport atomic_add
from llgcy.core.masks cimport Work
from llgcy.core.matcher cimport BITMASK_FLAGS, GOES_ON, OVER, Matcher, Rows, buffer_of, checked_row, read_rows
from llgcy.core.shelf cimport Mask
from llgcy.core.state cimport State

import os
import threading

from llgcy.errors import BudgetError, LimitError

cdef enum:
    AT_ONCE = 64                # jobs that compute, each with memory of its own, before what they made is remembered
    COPIES = 16                 # ready masks that are a task
    WORTH_WAKING = 1 << 19      # bytes of ready masks to copy, from which on it pays to wake another thread (some 10 us)
    ENDED = -2                  # State.mode of a draft node behind EOS
    REFUSED = -3                # ... of one that is refused


ctypedef int (*Attempt)(Job*) noexcept nogil


cdef int by_group(const void* a, const void* b) noexcept nogil:
    cdef const Job* x = <const Job*>a
    cdef const Job* y = <const Job*>b
    return x.group - y.group if x.group != y.group else x.place - y.place


cdef void work_on(Batch* batch) noexcept nogil:
    """Takes tasks until none is left."""
    cdef int32_t i, j
    while True:
        i = atomic_add(&batch.next, 1) - 1
        if i >= batch.count:
            return
        for j in range(batch.tasks[i].first, batch.tasks[i].last):
            if batch.jobs[j].mask != NULL:
                copy(&batch.jobs[j])
            elif not batch.jobs[j].twin and batch.jobs[j].error == NULL:
                compute(&batch.jobs[j])


cdef void copy(Job* job) noexcept nogil:
    """A mask that is ready; nothing can fail."""
    job.result = (<Engine>job.engine).masks.write(job.mask, (<Engine>job.engine).machine.white_room(&job.state), job.out)


cdef void compute(Job* job) noexcept nogil:
    """A mask that is not, or a step."""
    if (<Attempt>attempt)(job) < 0:
        with gil:
            note(job)


cdef int attempt(Job* job) except -1 nogil:
    if job.out == NULL:
        job.result = (<Matcher>job.matcher)._token(<Engine>job.engine, job.token, &job.state)
    else:
        job.result = (<Matcher>job.matcher)._fill_at(<Engine>job.engine, &job.state, NULL, <Work>job.work, job.out)
    return 0


cdef int raised() except? -1:
    """To be called where an exception is set and nobody has raised it: raises it."""
    return -1


cdef void note(Job* job) noexcept:
    """The exception that is set is the job's."""
    try:
        raised()
    except BaseException as error:
        Py_INCREF(error)
        job.error = <void*>error


@cython.final
cdef class Pool:
    """Threads that wait for batches; they hold the GIL only where a job needs it."""

    def __cinit__(self):
        self.done, self.turn = PyThread_allocate_lock(), PyThread_allocate_lock()
        if self.done == NULL or self.turn == NULL:
            raise MemoryError("no lock")
        PyThread_acquire_lock(self.done, NOWAIT_LOCK)

    cdef int start(self, int32_t threads) except -1:
        """Has at least so many threads, at most MOST_THREADS."""
        while self.threads < min(threads, <int32_t>MOST_THREADS):
            self.go[self.threads] = PyThread_allocate_lock()
            if self.go[self.threads] == NULL:
                raise MemoryError("no lock")
            PyThread_acquire_lock(self.go[self.threads], NOWAIT_LOCK)
            threading.Thread(target=self._serve, args=(self.threads,), name="llgcy", daemon=True).start()
            self.threads += 1
        return 0

    def _serve(self, int i):
        """The life of a thread."""
        with nogil:
            while True:
                PyThread_acquire_lock(self.go[i], WAIT_LOCK)
                work_on(self.batch)
                if atomic_add(&self.batch.working, -1) == 0:
                    PyThread_release_lock(self.done)

    cdef int run(self, Batch* batch, int32_t threads) except -1:
        """All jobs, by this thread and up to `threads` - 1 others."""
        cdef int32_t i, others = min(threads, batch.count) - 1
        if others > 0 and PyThread_acquire_lock(self.turn, NOWAIT_LOCK):        # else another batch has the pool
            try:
                self.start(others)
                others = min(others, self.threads)
                self.batch, batch.working = batch, others
                with nogil:
                    for i in range(others):
                        PyThread_release_lock(self.go[i])
                    work_on(batch)
                    for i in range(others):         # who has not even woken up need not
                        if PyThread_acquire_lock(self.go[i], NOWAIT_LOCK) and atomic_add(&batch.working, -1) == 0:
                            break
                    else:
                        PyThread_acquire_lock(self.done, WAIT_LOCK)
            finally:
                self.batch = NULL
                PyThread_release_lock(self.turn)
        else:
            with nogil:
                work_on(batch)
        return 0


cdef Pool pool = Pool()


def _in_child():
    """The threads are not there after a fork."""
    global pool
    pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


cdef int32_t thread_count(object threads) except -1:
    if threads is None:
        return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, MOST_THREADS)
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads must be a number from 1 on, not {threads!r}")
    return min(threads, MOST_THREADS)


@cython.final
cdef class _Call:
    """One call for several matchers: their claims, the jobs, and what keeps alive what the jobs point to."""

    def __cinit__(self, Py_ssize_t most):
        if most > 0x7FFFFFFF:
            raise ValueError(f"a batch of {most:,} masks")
        self.claimed, self.held, self.errors, self.groups, self.most = [], [], [], {}, <int32_t>most
        self.jobs = <Job*>calloc(most + 1, sizeof(Job))
        self.tasks = <Task*>calloc(most + 1, sizeof(Task))
        if self.jobs == NULL or self.tasks == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.jobs)
        free(self.tasks)

    cdef Engine enter(self, Matcher matcher):
        """Claims one more."""
        cdef Engine engine = matcher._enter()
        self.claimed.append(matcher)
        return engine

    cdef int leave(self) except -1:
        """Ends the claims."""
        cdef Matcher matcher
        for matcher in self.claimed:
            matcher._leave()
        self.claimed = []
        return 0

    cdef int hold(self, Engine engine) except -1:
        """Keeps what jobs of this engine point to."""
        if not self.held or self.held[len(self.held) - 2] is not engine.masks.young:
            self.held += (engine, engine.masks.young, engine.masks.old)
        return 0

    cdef Job* add(self, Matcher matcher, Engine engine, const State* state, int32_t index, bint ready) except NULL:
        """One more job. Those that compute something gather at the beginning, the others at the end."""
        cdef Job* job = &self.jobs[self.most - 1 - self.ready if ready else self.cold]
        memset(job, 0, sizeof(Job))
        job.matcher, job.engine, job.state, job.index = <void*>matcher, <void*>engine, state[0], index
        if ready:
            self.ready += 1
        else:
            job.group, job.place = self.groups.setdefault(id(engine), len(self.groups)), self.cold
            self.cold += 1
        return job

    cdef int want_mask(self, Matcher matcher, Engine engine, const State* state, uint32_t* out, Py_ssize_t index) except -1:
        """The mask of a state, from what is ready or computed."""
        cdef State key
        cdef const Mask* mask = NULL
        cdef Job* job
        self.hold(engine)
        if not matcher.own_eos and engine.machine.ready_key(state, &key):
            mask = engine.masks.find(&key)
            if mask != NULL and mask.n_asks:
                mask = NULL
        job = self.add(matcher, engine, state, <int32_t>index, mask != NULL)
        job.mask, job.out = mask, out
        return 0

    cdef int run(self, int32_t threads, size_t row_bytes) except -1:
        """Does all jobs."""
        cdef Batch batch
        cdef int32_t i, first = 0, last = 0, tasks
        cdef dict seen = {}
        memmove(self.jobs + self.cold, self.jobs + self.most - self.ready, self.ready * sizeof(Job))
        qsort(self.jobs, self.cold, sizeof(Job), by_group)
        batch.jobs, batch.tasks = self.jobs, self.tasks
        while True:
            batch.count = 0
            for i in range(first, min(self.cold, first + AT_ONCE)):
                if self._prepare(&self.jobs[i], seen):
                    if batch.count == 0 or self.jobs[i].group != self.jobs[i - 1].group:
                        self.tasks[batch.count] = Task(i, i)
                        batch.count += 1
                    self.tasks[batch.count - 1].last = i + 1
            last = min(self.cold, first + AT_ONCE)
            tasks = batch.count
            if first == 0:
                for i in range(self.cold, self.cold + self.ready, COPIES):
                    self.tasks[batch.count] = Task(i, min(i + COPIES, self.cold + self.ready))
                    batch.count += 1
            batch.next = 0
            try:
                pool.run(&batch, threads if tasks > 1 or first == 0 and self.ready * row_bytes >= WORTH_WAKING else 1)
            finally:
                self._publish(first, last)
            first = last
            if first >= self.cold:
                return 0

    cdef int _prepare(self, Job* job, dict seen) except -1:
        """Gets a job ready for any thread; 0 where it is not for one."""
        cdef Engine engine = <Engine>job.engine
        cdef Work work
        cdef State key
        if job.out == NULL:
            return 1
        work = engine.masks.begin()
        Py_INCREF(work)
        job.work = <void*>work
        try:
            if engine.masks.prepare(work, &job.state, &key) and not (<Matcher>job.matcher).own_eos:
                content = job.group, (<const char*>&key)[:sizeof(State)]
                job.twin = content in seen
                seen[content] = True
        except Exception as error:
            Py_INCREF(error)
            job.error = <void*>error
        return not job.twin

    cdef int _publish(self, int32_t first, int32_t last) except -1:
        """Remembers the masks that jobs have made; then twins find them."""
        cdef int32_t i
        cdef Job* job
        cdef Work work
        cdef Engine engine
        for i in range(first, last):
            job = &self.jobs[i]
            if job.work != NULL and not job.twin:
                engine, work = <Engine>job.engine, <Work>job.work
                if job.error == NULL:
                    engine.masks.publish(work)
                engine.masks.end(work)
                Py_DECREF(work)
                job.work = NULL
        for i in range(first, last):
            job = &self.jobs[i]
            if job.work != NULL:
                engine, work = <Engine>job.engine, <Work>job.work
                work.young, work.old, work.later = engine.masks.young, engine.masks.old, False
                compute(job)
                engine.masks.end(work)
                Py_DECREF(work)
                job.work = NULL
        return 0

    cdef object error(self, Job* job):
        """The exception of a job, or None."""
        if job.error == NULL:
            return None
        error = <object>job.error
        Py_DECREF(error)
        job.error = NULL
        return error


cdef list as_matchers(object matchers):
    cdef list out = list(matchers)
    for matcher in out:
        if not isinstance(matcher, Matcher):
            raise TypeError(f"a batch is of matchers, not of {type(matcher).__name__}")
    return out


cdef int32_t words_of(list matchers) except -1:
    """Words of the largest vocabulary."""
    cdef int32_t out = 0
    cdef Matcher matcher
    for matcher in matchers:
        out = max(out, matcher.compiled.vocabulary.words)
    return out


cdef list places(list matchers, object rows, const Rows* bitmask, list lengths):
    """The first row of each matcher, after a check that all rows are there, and belong to one matcher."""
    cdef list out = list(range(len(matchers)) if rows is None else rows)
    cdef int32_t row
    cdef Py_ssize_t i
    cdef object before = None
    if len(out) != len(matchers):
        raise ValueError(f"{len(out)} rows for {len(matchers)} matchers")
    for i in range(len(out)):
        out[i] = checked_row(bitmask, out[i])
        checked_row(bitmask, out[i] + lengths[i])
    for row, length in sorted(zip(out, lengths)):
        if before is not None and row <= before:
            raise ValueError(f"row {row} of the bitmask is asked for twice")
        before = row + length
    return out


cdef inline uint32_t* row_at(const Rows* rows, int32_t row, int32_t words) noexcept:
    """A row, its words beyond the vocabulary zeroed."""
    cdef uint32_t* out = rows.words + row * rows.width
    if rows.width > words:
        memset(out + words, 0, 4 * (rows.width - words))
    return out


def fill_bitmasks(matchers, bitmask, rows=None, threads=None):
    """Writes which tokens may come next, for many sequences.

    Masks that must be computed are, side by side and without the GIL; an error of one sequence is raised when all others are done.

    Parameters
    ----------
    matchers : sequence of Matcher
        All different; of any grammars and tokenizers.
    bitmask : writable buffer of int32 or uint32, 1-D or 2-D
        As for `Matcher.fill_next_token_bitmask`.
    rows : sequence of int, optional
        Matcher k fills row rows[k]; by default row k.
    threads : int, optional
        At most so many work at the same time, by default as many as there are processors.

    Returns
    -------
    list of bool
        For each matcher; False: every token is allowed.

    Raises
    ------
    ValueError
        Rows that are not there, or twice.
    StateError
        A matcher that is in use, or twice.

    Examples
    --------
    >>> import llgcy
    >>> c = llgcy.compile(llgcy.Grammar.from_regex("[ab]+"), llgcy.Tokenizer.single_byte())
    >>> llgcy.fill_bitmasks([c.matcher(), c.matcher()], llgcy.allocate_bitmask(2, 257))
    [True, True]
    """
    cdef list all_ = as_matchers(matchers)
    cdef int32_t count = thread_count(threads), i
    cdef Py_buffer view
    cdef Rows where
    cdef Matcher matcher
    cdef Engine engine
    cdef _Call call
    cdef list out = [True] * len(all_)
    PyObject_GetBuffer(buffer_of(bitmask), &view, BITMASK_FLAGS)
    try:
        read_rows(&view, words_of(all_), &where)
        at = places(all_, rows, &where, [0] * len(all_))
        call = _Call(len(all_))
        try:
            for i in range(call.most):
                matcher = all_[i]
                engine = call.enter(matcher)
                if matcher._terminated() or matcher._alone(engine):
                    fill_alone(call, matcher, engine, row_at(&where, at[i], matcher.compiled.vocabulary.words), out, i)
                else:
                    call.want_mask(matcher, engine, &matcher.state, row_at(&where, at[i], matcher.compiled.vocabulary.words), i)
            call.run(count, 4 * where.width)
            for i in range(call.cold + call.ready):
                finish(call, &call.jobs[i], out)
        finally:
            call.leave()
        if call.errors:
            raise call.errors[0]
        return out
    finally:
        PyBuffer_Release(&view)


cdef int fill_alone(_Call call, Matcher matcher, Engine engine, uint32_t* out, list results, int32_t index) except -1:
    """One mask, here and now."""
    try:
        results[index] = bool(matcher._fill_retried(engine, out))
    except Exception as error:
        call.errors.append(error)
    return 0


cdef int finish(_Call call, Job* job, list results) except -1:
    """Notes the outcome of a job; where the budget was spent, the mask is computed with a new engine."""
    cdef Matcher matcher = <Matcher>job.matcher
    error = call.error(job)
    if error is None:
        results[job.index] = bool(job.result)
    elif isinstance(error, BudgetError):
        try:
            results[job.index] = bool(matcher._fill(matcher._again(<Engine>job.engine, error), job.out))
        except Exception as other:
            call.errors.append(other)
    else:
        call.errors.append(error)
    return 0


def accept_batch(matchers, tokens, threads=None):
    """Takes one token for each of many sequences, as `Matcher.accept_token` does.

    Parameters
    ----------
    matchers : sequence of Matcher
        All different.
    tokens : sequence of int
        Token k is for matcher k.
    threads : int, optional
        At most so many work at the same time, by default as many as there are processors.

    Returns
    -------
    list of bool
        For each matcher; False: refused, and it has not changed.

    Raises
    ------
    ValueError
        An id that is not in the vocabulary; then nothing has changed. Or there are not as many tokens as matchers.
    StateError
        A matcher that is in use, or twice; then nothing has changed.
    LimitError
        A budget is spent; then all other tokens have been taken.
    """
    cdef list all_ = as_matchers(matchers), ids = list(tokens), out = [False] * len(all_)
    cdef int32_t count = thread_count(threads), i, length
    cdef const uint8_t* text
    cdef Matcher matcher
    cdef Engine engine
    cdef State state
    cdef Job* job
    cdef int taken
    cdef _Call call = _Call(len(all_))
    if len(ids) != len(all_):
        raise ValueError(f"{len(ids)} tokens for {len(all_)} matchers")
    for i in range(call.most):
        ids[i] = (<Matcher>all_[i])._checked(ids[i])
    try:
        engines = [call.enter(matcher) for matcher in all_]
        for i in range(call.most):
            matcher, engine, taken = all_[i], engines[i], -1
            if not matcher._special() and not matcher._bound() and not matcher._terminated() and not matcher._is_eos(ids[i]):
                text = matcher.compiled.vocabulary.bytes_of(ids[i], &length)
                state = matcher.state
                taken = engine.run_ready(text, length, &state) if length else 0
                if taken < 0:
                    call.hold(engine)
                    job = call.add(matcher, engine, &matcher.state, i, False)
                    job.token = ids[i]
                    continue
                if taken:
                    matcher._push(engine, ids[i], None, &state)
                out[i] = bool(taken)
            else:
                accept_alone(call, matcher, engine, out, ids, i)
        call.run(count, 0)
        for i in range(call.cold):
            job = &call.jobs[i]
            matcher = <Matcher>job.matcher
            error = call.error(job)
            if error is not None:
                accept_again(call, matcher, <Engine>job.engine, error, out, ids, job.index)
            elif job.result:
                matcher._push(<Engine>job.engine, job.token, None, &job.state)
                out[job.index] = True
    finally:
        call.leave()
    if call.errors:
        raise call.errors[0]
    return out


cdef int accept_alone(_Call call, Matcher matcher, Engine engine, list results, list ids, int32_t index) except -1:
    try:
        results[index] = bool(matcher._accept(engine, ids[index]))
    except Exception as error:
        accept_again(call, matcher, engine, error, results, ids, index)
    return 0


cdef int accept_again(_Call call, Matcher matcher, Engine engine, object error, list results, list ids, int32_t index) except -1:
    """Where the budget was spent, with a new engine."""
    if isinstance(error, BudgetError):
        try:
            results[index] = bool(matcher._accept(matcher._again(engine, error), ids[index]))
            return 0
        except Exception as other:
            error = other
    call.errors.append(error)
    return 0


def fill_draft_bitmasks(matchers, tokens, parents, bitmask, rows, threads=None):
    """Writes the masks along drafts of speculative decoding; no matcher changes.

    The state of matcher i fills row rows[i]. Node j of its draft is the token tokens[i][j] behind node parents[i][j], or behind the
    state itself where that is -1; what may come after it fills row rows[i] + 1 + j. Where the grammar refuses a node, its row and the
    rows of all nodes below it are empty.

    Parameters
    ----------
    matchers : sequence of Matcher
        All different.
    tokens : sequence of sequences of int
    parents : sequence of sequences of int, or None
        Parents come before their nodes. None, for all or for one matcher: a chain, each node behind the one before.
    bitmask : writable buffer of int32 or uint32, 2-D
    rows : sequence of int
    threads : int, optional
        At most so many work at the same time, by default as many as there are processors.

    Raises
    ------
    ValueError
        Rows that are not there or belong to two matchers, ids that are not in the vocabulary, parents that do not come before.
        Then nothing is written.
    StateError
        A matcher that is in use, or twice.

    Examples
    --------
    >>> import llgcy
    >>> m = llgcy.compile(llgcy.Grammar.from_regex("a+b"), llgcy.Tokenizer.single_byte()).matcher()
    >>> mask = llgcy.allocate_bitmask(4, 257)
    >>> llgcy.fill_draft_bitmasks([m], [[97, 98, 99]], [[-1, 0, 0]], mask, [0])     # "a", and "b" or "c" behind it
    >>> mask.any(axis=1).tolist()
    [True, True, True, False]
    """
    cdef list all_ = as_matchers(matchers), drafts = [], trees = []
    cdef int32_t count = thread_count(threads), i
    cdef Py_ssize_t most = len(all_)
    cdef Py_buffer view
    cdef Rows where
    cdef Matcher matcher
    cdef Engine engine
    cdef _Call call
    tokens, parents = list(tokens), [None] * len(all_) if parents is None else list(parents)
    if len(tokens) != len(all_) or len(parents) != len(all_):
        raise ValueError(f"{len(tokens)} drafts and {len(parents)} lists of parents for {len(all_)} matchers")
    for matcher, draft, above in zip(all_, tokens, parents):
        drafts.append([matcher._checked(token) for token in draft])
        trees.append(checked_parents(above, len(drafts[len(drafts) - 1])))
        most += len(drafts[len(drafts) - 1])
    PyObject_GetBuffer(buffer_of(bitmask), &view, BITMASK_FLAGS)
    try:
        read_rows(&view, words_of(all_), &where)
        at = places(all_, rows, &where, [len(draft) for draft in drafts])
        call = _Call(most)
        try:
            for i in range(<int32_t>len(all_)):
                matcher = all_[i]
                engine = call.enter(matcher)
                if matcher._special() or matcher._bound():
                    fill_forks(call, matcher, drafts[i], trees[i], &where, at[i])
                    continue
                try:
                    fill_tree(call, matcher, engine, drafts[i], trees[i], &where, at[i])
                except LimitError:          # with new engines, or an error that is raised when all others are done
                    fill_forks(call, matcher, drafts[i], trees[i], &where, at[i])
            call.run(count, 4 * where.width)
            failed = set()
            for i in range(call.cold + call.ready):
                if call.error(&call.jobs[i]) is not None:
                    failed.add(call.jobs[i].index)
            for i in sorted(failed):
                fill_forks(call, <Matcher>all_[i], drafts[i], trees[i], &where, at[i])
        finally:
            call.leave()
        if call.errors:
            raise call.errors[0]
    finally:
        PyBuffer_Release(&view)


cdef list checked_parents(object parents, Py_ssize_t n):
    cdef list out = list(range(-1, n - 1) if parents is None else parents)
    cdef Py_ssize_t i, parent
    if len(out) != n:
        raise ValueError(f"{len(out)} parents for {n} draft tokens")
    for i in range(n):
        parent = out[i]
        if not -1 <= parent < i:
            raise ValueError(f"the parent of draft token {i} is {parent}; it must be one before, or -1 for the root")
    return out


cdef int fill_tree(_Call call, Matcher matcher, Engine engine, list draft, list parents, const Rows* where, int32_t row) except -1:
    """Jobs for the state and all nodes; no step is noted anywhere."""
    cdef Py_ssize_t j, n = len(draft)
    cdef int how
    cdef int32_t words = matcher.compiled.vocabulary.words
    cdef uint32_t* out
    cdef State* at
    cdef State* states = <State*>calloc(n + 1, sizeof(State))
    if states == NULL:
        raise MemoryError()
    try:
        states[0] = matcher.state
        if matcher._terminated():
            states[0].mode = ENDED
        for j in range(n):
            at = &states[j + 1]
            at[0] = states[<Py_ssize_t>parents[j] + 1]
            if at.mode == REFUSED:
                continue
            if matcher._is_eos(draft[j]):
                how = OVER if at.mode == ENDED else matcher._end(engine, draft[j], at)
                if how != GOES_ON:
                    at.mode = ENDED if how == OVER else REFUSED
            elif at.mode == ENDED or not matcher._token(engine, draft[j], at):
                at.mode = REFUSED
        for j in range(n + 1):
            out = row_at(where, row + <int32_t>j, words)
            if states[j].mode == REFUSED:
                memset(out, 0, 4 * <size_t>words)
            elif states[j].mode == ENDED:
                matcher._fill_end(out)
            else:
                call.want_mask(matcher, engine, &states[j], out, len(call.claimed) - 1)
        return 0
    finally:
        free(states)


cdef int fill_forks(_Call call, Matcher matcher, list draft, list parents, const Rows* where, int32_t row) except -1:
    """The state and all nodes one by one, each as a matcher of its own."""
    cdef Py_ssize_t j
    cdef int32_t words = matcher.compiled.vocabulary.words
    cdef Matcher fork
    cdef list forks = [matcher._copy()]
    cdef Chunk tail = matcher.tail
    cdef bint last = tail is not None and tail.used == matcher.tail_used
    try:
        for j in range(len(draft)):
            fork = forks[<Py_ssize_t>parents[j] + 1]
            if fork is not None:
                fork = fork._copy()
                if not fork.accept_token(draft[j]):
                    fork = None
            forks.append(fork)
        for j in range(len(forks)):
            fork = forks[j]
            if fork is None:
                memset(row_at(where, row + <int32_t>j, words), 0, 4 * <size_t>words)
            else:
                fork._fill_retried(fork._enter(), row_at(where, row + <int32_t>j, words))
                fork._leave()
    except LimitError as error:
        call.errors.append(error)
    finally:
        del forks, fork
        if last:            # the place behind the matcher's last step is free again
            tail.used = matcher.tail_used
    return 0
