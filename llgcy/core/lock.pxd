"""The lock of a compiled grammar: any thread may wait for it, with or without the GIL, and it outlives a fork of the process."""
cimport cython
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    static inline int32_t llgcy_swap(int32_t *p, int32_t v) { return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL); }
    static inline int32_t llgcy_add(int32_t *p, int32_t v) { return __atomic_add_fetch(p, v, __ATOMIC_ACQ_REL); }
    static inline int32_t llgcy_look(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
    static inline void llgcy_set(int32_t *p, int32_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
    """
    int32_t atomic_swap "llgcy_swap"(int32_t* p, int32_t v) noexcept nogil         # the old value
    int32_t atomic_add "llgcy_add"(int32_t* p, int32_t v) noexcept nogil           # the new value
    int32_t atomic_load "llgcy_look"(const int32_t* p) noexcept nogil
    void atomic_store "llgcy_set"(int32_t* p, int32_t v) noexcept nogil

# How often this process is a child of a fork that knew this module, + 1; a mark left by a thread of the parent is not this number.
cdef int32_t generation() noexcept nogil

# Locks for the making of single things, by a hash of what they are. One thread may hold one of them, and only before it takes a Lock.
cdef void lock_stripe(uint64_t hash) noexcept nogil
cdef void unlock_stripe(uint64_t hash) noexcept nogil

@cython.final
cdef class Lock:
    cdef PyThread_type_lock lock    # owned
    cdef int32_t waiting            # threads that wait; atomic
    cdef int32_t turns              # times it was taken by a thread that had waited; atomic
    cdef object __weakref__
    # Waits without the GIL, whether the caller holds it or not. So whoever has the lock may ask for the GIL.
    cdef void acquire(self) noexcept nogil
    # 0 where another thread has it.
    cdef bint try_acquire(self) noexcept nogil
    cdef void release(self) noexcept nogil
    # The same; where a thread waits, returns once it has got it.
    cdef void pass_on(self) noexcept nogil
    # pass_on(), and takes it again. To be called now and then in long work.
    cdef void give_way(self) noexcept nogil
    cdef int _renew(self) except -1
