"""The lock of a compiled grammar; see lock.pxd.

A fork copies the memory of all threads, but only the thread that calls it. So before a fork all locks are taken, which means that no
store is half written; the parent then lets go of them, and the child makes them anew.
"""
cimport cython
from cpython.pythread cimport (NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
                               PyThread_release_lock)
from libc.stdint cimport int32_t, uint64_t

import os
import weakref

cdef extern from *:
    """
    #ifdef _WIN32
    #include <windows.h>
    #define llgcy_yield() ((void)SwitchToThread())
    #else
    #include <sched.h>
    #define llgcy_yield() ((void)sched_yield())
    #endif
    static void llgcy_wait(PyThread_type_lock lock) {
        if (PyGILState_Check()) {
            PyThreadState *state = PyEval_SaveThread();
            PyThread_acquire_lock(lock, WAIT_LOCK);
            PyEval_RestoreThread(state);
        } else {
            PyThread_acquire_lock(lock, WAIT_LOCK);
        }
    }
    """
    void wait "llgcy_wait"(void* lock) noexcept nogil
    void yield_ "llgcy_yield"() noexcept nogil

cdef enum:
    STRIPES = 64
    PATIENCE = 1000         # times that pass_on() yields to a waiting thread, before it goes on

cdef int32_t forks = 1
cdef object locks = weakref.WeakSet()
cdef list held = []         # by a fork under way


cdef PyThread_type_lock stripes[STRIPES]


cdef int renew_stripes() except -1:
    cdef int i
    for i in range(STRIPES):
        stripes[i] = PyThread_allocate_lock()
        if stripes[i] == NULL:
            raise MemoryError("no lock")
    return 0


renew_stripes()


cdef int32_t generation() noexcept nogil:
    return forks


cdef void lock_stripe(uint64_t hash) noexcept nogil:
    if not PyThread_acquire_lock(stripes[hash % STRIPES], NOWAIT_LOCK):
        wait(stripes[hash % STRIPES])


cdef void unlock_stripe(uint64_t hash) noexcept nogil:
    PyThread_release_lock(stripes[hash % STRIPES])


@cython.final
cdef class Lock:
    """A lock that threads take with and without the GIL; made by those who own one."""

    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError("no lock")

    def __init__(self):
        locks.add(self)

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef void acquire(self) noexcept nogil:
        if PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            return
        atomic_add(&self.waiting, 1)
        wait(self.lock)
        atomic_add(&self.waiting, -1)
        atomic_add(&self.turns, 1)

    cdef bint try_acquire(self) noexcept nogil:
        return PyThread_acquire_lock(self.lock, NOWAIT_LOCK)

    cdef void release(self) noexcept nogil:
        PyThread_release_lock(self.lock)

    cdef void pass_on(self) noexcept nogil:
        cdef int32_t i, turns = atomic_load(&self.turns)
        PyThread_release_lock(self.lock)
        for i in range(PATIENCE):
            if atomic_load(&self.waiting) == 0 or atomic_load(&self.turns) != turns:
                break
            yield_()

    cdef void give_way(self) noexcept nogil:
        if atomic_load(&self.waiting):
            self.pass_on()
            self.acquire()

    cdef int _renew(self) except -1:
        """In the child of a fork: the waiting threads are not there any more."""
        cdef PyThread_type_lock new = PyThread_allocate_lock()
        if new == NULL:
            raise MemoryError("no lock")
        PyThread_free_lock(self.lock)
        self.lock, self.waiting = new, 0
        return 0


def _before():
    cdef Lock lock
    cdef int i
    for i in range(STRIPES):        # in the order in which all threads take locks
        lock_stripe(i)
    for lock in list(locks):
        lock.acquire()
        held.append(lock)


def _in_parent():
    cdef Lock lock
    cdef int i
    while held:
        lock = held.pop()
        lock.release()
    for i in range(STRIPES):
        unlock_stripe(i)


def _in_child():
    global forks
    cdef Lock lock
    forks += 1
    while held:
        lock = held.pop()
        lock.release()
        lock._renew()
    renew_stripes()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
