"""Where hash-consed objects live: a byte budget, arenas with integer handles, an index from content to handle.

Nothing that a handle names ever moves, so a reader needs no lock: an arena grows by chunks of doubling size under a directory
of fixed length, and an index that grows keeps its old table until it dies (together no more than the new one). Writers hold the
compiled grammar's lock: they build a record fully, then publish its handle in an index.
"""
cimport cython
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <stddef.h>
    #include <string.h>
    #ifdef LLGCY_POISON
    #include <sanitizer/asan_interface.h>
    #define llgcy_poison(p, n) ASAN_POISON_MEMORY_REGION((p), (n))
    #define llgcy_unpoison(p, n) ASAN_UNPOISON_MEMORY_REGION((p), (n))
    #else
    #define llgcy_poison(p, n) ((void)(p), (void)(n))
    #define llgcy_unpoison(p, n) ((void)(p), (void)(n))
    #endif
    static inline int llgcy_top_bit(uint64_t x) { return 63 - __builtin_clzll(x); }
    static inline uint64_t llgcy_load(const uint64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
    static inline void llgcy_publish(uint64_t *p, uint64_t v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
    static inline void *llgcy_load_pointer(void *const *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
    static inline void llgcy_publish_pointer(void **p, void *v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
    static inline uint64_t llgcy_mix(uint64_t h) {
        h ^= h >> 32; h *= 0xd6e8feb86659fd93ULL; h ^= h >> 32; h *= 0xd6e8feb86659fd93ULL; return h ^ (h >> 32);
    }
    static inline uint64_t llgcy_hash(const void *data, size_t n) {
        const unsigned char *p = (const unsigned char *)data; uint64_t h = 0x9e3779b97f4a7c15ULL ^ n, w;
        for (; n >= 8; n -= 8, p += 8) { memcpy(&w, p, 8); h = (h ^ w) * 0x9fb21c651e98df25ULL; h ^= h >> 29; }
        if (n) { w = 0; memcpy(&w, p, n); h = (h ^ w) * 0x9fb21c651e98df25ULL; }
        return llgcy_mix(h);
    }
    """
    void poison "llgcy_poison"(void* p, size_t n) noexcept nogil
    void unpoison "llgcy_unpoison"(void* p, size_t n) noexcept nogil
    int top_bit "llgcy_top_bit"(uint64_t x) noexcept nogil                 # index of the highest set bit; x > 0
    uint64_t load "llgcy_load"(const uint64_t* p) noexcept nogil           # acquire
    void publish "llgcy_publish"(uint64_t* p, uint64_t v) noexcept nogil   # release
    void* load_pointer "llgcy_load_pointer"(void* const* p) noexcept nogil
    void publish_pointer "llgcy_publish_pointer"(void** p, void* v) noexcept nogil
    uint64_t mix "llgcy_mix"(uint64_t h) noexcept nogil
    uint64_t hash_bytes "llgcy_hash"(const void* data, size_t n) noexcept nogil     # well mixed, not keyed

cdef enum:
    FIRST_BITS = 4          # the first chunk of an arena holds 1 << FIRST_BITS records
    CHUNKS = 28             # ... and the last one 1 << 31: handles fill an int32

@cython.final
cdef class Budget:
    """Bytes that the stores of one owner may take together."""
    cdef readonly size_t limit      # bytes
    cdef readonly size_t used       # bytes, <= limit
    cdef readonly str what          # named in the LimitError
    cdef int take(self, size_t n) except -1 nogil        # LimitError where it would exceed the limit; then nothing is taken
    cdef void give(self, size_t n) noexcept nogil

@cython.final
cdef class Arena:
    """Records of one size; handle = number of the record, from 0."""
    cdef Budget budget
    cdef char* chunks[CHUNKS]       # chunk i: records [16 * (2**i - 1), 16 * (2**(i+1) - 1)); NULL: not made yet
    cdef size_t size                # bytes of a record, > 0
    cdef readonly int32_t length    # records in use or skipped at the end of a chunk
    cdef int32_t add(self, int32_t n) except -1 nogil        # n neighbours, zeroed, which lie side by side in memory; the first handle

    cdef inline void* at(self, int32_t handle) noexcept nogil:
        cdef uint64_t x = <uint64_t>handle + (1 << FIRST_BITS)
        cdef int bit = top_bit(x)
        return self.chunks[bit - FIRST_BITS] + (x - (<uint64_t>1 << bit)) * self.size

cdef struct Probe:      # a look-up under way
    uint64_t* table     # table[0] = slots - 1, then the slots; a slot = tag << 32 | handle + 1, 0 = empty
    uint64_t at         # slot to look at next
    uint64_t tag        # upper 32 bits of the hash

@cython.final
cdef class Index:
    """From the hash of a content to the handles that may have it. Readers need no lock, writers one for all."""
    cdef Budget budget
    cdef void* table                # see Probe.table
    cdef void* retired              # list of older tables, linked through their first slot, freed with the index
    cdef readonly int32_t length    # entries
    cdef int add(self, uint64_t hash, int32_t handle) except -1 nogil        # the record must be complete

    cdef inline void begin(self, uint64_t hash, Probe* probe) noexcept nogil:
        probe.table = <uint64_t*>load_pointer(&self.table)
        probe.tag = hash >> 32
        probe.at = probe.tag & probe.table[0]        # the tag alone decides, so a table can be rebuilt from its slots

    cdef inline int32_t next(self, Probe* probe) noexcept nogil:
        """The next handle whose hash has the same tag, or -1. The caller compares the contents."""
        cdef uint64_t slot
        while True:
            slot = load(&probe.table[1 + probe.at])
            if slot == 0:
                return -1
            probe.at = (probe.at + 1) & probe.table[0]
            if slot >> 32 == probe.tag:
                return <int32_t>(<uint32_t>slot - 1u)
