"""Masks and steps of many sequences at once, on a pool of threads that do not need the GIL."""
cimport cython
from cpython.pythread cimport PyThread_type_lock
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint32_t
from llgcy.core.engine cimport Engine
from llgcy.core.matcher cimport Matcher
from llgcy.core.shelf cimport Mask
from llgcy.core.state cimport State

cdef enum:
    MOST_THREADS = 64

cdef struct Job:
    void* matcher           # Matcher, whose claim the batch holds
    void* engine            # Engine that the state belongs to; the call has a reference
    void* work              # Work to compute with, which the call holds; NULL: none is needed
    State state             # whose mask is wanted; of a step: before, then after it
    uint32_t* out           # the row; NULL: a step is wanted
    const Mask* mask        # ready; NULL: to be computed
    int32_t token           # of a step
    int32_t index           # of the matcher in the call
    int32_t group           # of those that compute: number of the engine in the call
    int32_t place           # ... in the order in which they came up
    bint twin               # ... the mask is that of a job before it: nothing to do until that is remembered
    int32_t result          # of a mask: some token is not allowed; of a step: it was taken
    void* error             # exception, owned; NULL: none

cdef struct Task:           # jobs that one thread does, one after the other: those of one engine, which would wait for one another
    int32_t first, last     # [first, last)

cdef struct Batch:
    Job* jobs
    Task* tasks
    int32_t count           # tasks
    int32_t next            # task that no thread has begun; atomic
    int32_t working         # threads of the pool that are not done; atomic

@cython.final
cdef class Pool:
    cdef Batch* batch                               # under way
    cdef PyThread_type_lock go[MOST_THREADS]        # held; let go of to wake thread i
    cdef PyThread_type_lock done                    # held; let go of by the last thread of a batch
    cdef PyThread_type_lock turn                    # held while a batch is under way
    cdef int32_t threads                            # started
    cdef int start(self, int32_t threads) except -1
    cdef int run(self, Batch* batch, int32_t threads) except -1

@cython.final
cdef class _Call:
    cdef list claimed       # matchers
    cdef list held          # engines and shelves that jobs point to, in threes
    cdef list errors        # exceptions to raise when all is done
    cdef dict groups        # id of an engine: its number
    cdef Job* jobs          # [most] those that compute from the beginning on, those that are ready at the end; owned
    cdef Task* tasks        # [most] owned
    cdef int32_t most, cold, ready
    cdef Engine enter(self, Matcher matcher)
    cdef int leave(self) except -1
    cdef int hold(self, Engine engine) except -1
    cdef Job* add(self, Matcher matcher, Engine engine, const State* state, int32_t index, bint ready) except NULL
    cdef int want_mask(self, Matcher matcher, Engine engine, const State* state, uint32_t* out, Py_ssize_t index) except -1
    cdef int run(self, int32_t threads, size_t row_bytes) except -1
    cdef int _prepare(self, Job* job, dict seen) except -1
    cdef int _publish(self, int32_t first, int32_t last) except -1
    cdef object error(self, Job* job)
