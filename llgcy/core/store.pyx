"""Budget, arenas and indexes: see store.pxd for the layout and the rules."""
cimport cython
from libc.stdlib cimport calloc, free

from llgcy.errors import BudgetError, LimitError

cdef enum:
    FIRST_SLOTS = 64        # of an index; a power of two


@cython.final
cdef class Budget:
    """Bytes that the stores of one owner may take together.

    Parameters
    ----------
    limit : int
        In bytes.
    what : str
        Whose budget it is, for the text of the error.

    Examples
    --------
    >>> Budget(1 << 20, "the grammar").used
    0
    """

    def __cinit__(self, size_t limit, str what not None):
        self.limit, self.what = limit, what

    cdef int take(self, size_t n) except -1 nogil:
        if n > self.limit - self.used:
            with gil:
                raise BudgetError(f"{self.what} needs more than its {self.limit:,} bytes: {n:,} more on top of {self.used:,}; "
                                  "simplify the grammar or raise the limit")
        self.used += n
        return 0

    cdef void give(self, size_t n) noexcept nogil:
        self.used -= n


@cython.final
cdef class Arena:
    """Records of one size that never move; made by the stores, not by users."""

    def __cinit__(self, Budget budget not None, size_t size):
        if size == 0:
            raise ValueError("a record has at least one byte")
        self.budget, self.size = budget, size

    def __dealloc__(self):
        cdef int i
        for i in range(CHUNKS):
            if self.chunks[i] != NULL:
                unpoison(self.chunks[i], self.size << (FIRST_BITS + i))
                free(self.chunks[i])
                if self.budget is not None:
                    self.budget.give(self.size << (FIRST_BITS + i))

    cdef int32_t add(self, int32_t n) except -1 nogil:
        cdef uint64_t x = <uint64_t>self.length + (1 << FIRST_BITS)
        cdef int bit = top_bit(x)
        cdef size_t room
        if n < 1 or <uint64_t>n + x >= <uint64_t>1 << 31:
            with gil:
                raise LimitError(f"a store of {self.length:,} records cannot take {n:,} more")
        while x + n > <uint64_t>1 << (bit + 1):         # does not fit into the chunk: start the next one
            bit += 1
            x = <uint64_t>1 << bit
        if self.chunks[bit - FIRST_BITS] == NULL:
            room = self.size << bit
            self.budget.take(room)
            self.chunks[bit - FIRST_BITS] = <char*>calloc(room, 1)
            if self.chunks[bit - FIRST_BITS] == NULL:
                self.budget.give(room)
                with gil:
                    raise MemoryError(f"no {room:,} bytes")
            poison(self.chunks[bit - FIRST_BITS], room)
        unpoison(self.chunks[bit - FIRST_BITS] + (x - (<uint64_t>1 << bit)) * self.size, self.size * n)
        self.length = <int32_t>(x - (1 << FIRST_BITS) + n)
        return <int32_t>(x - (1 << FIRST_BITS))


cdef void place(uint64_t* table, uint64_t slot) noexcept nogil:
    cdef uint64_t at = (slot >> 32) & table[0]
    while table[1 + at]:
        at = (at + 1) & table[0]
    publish(&table[1 + at], slot)


@cython.final
cdef class Index:
    """From the hash of a content to handles; made by the stores, not by users."""

    def __cinit__(self, Budget budget not None):
        self.budget = budget
        budget.take(8 * (FIRST_SLOTS + 2))
        self.table = calloc(FIRST_SLOTS + 2, 8)
        if self.table == NULL:
            budget.give(8 * (FIRST_SLOTS + 2))
            raise MemoryError()
        (<uint64_t*>self.table)[0] = FIRST_SLOTS - 1

    def __dealloc__(self):
        cdef uint64_t* table = <uint64_t*>self.table
        cdef void* older
        while table != NULL:        # the word behind the slots links the older tables
            older = <void*>table[table[0] + 2]
            if self.budget is not None:
                self.budget.give(8 * (table[0] + 3))
            free(table)
            table = <uint64_t*>older

    cdef int add(self, uint64_t hash, int32_t handle) except -1 nogil:
        cdef uint64_t* old = <uint64_t*>self.table
        cdef uint64_t* new
        cdef uint64_t slots = old[0] + 1
        cdef uint64_t i
        if <uint64_t>(self.length + 1) * 4 > slots * 3:
            self.budget.take(8 * (2 * slots + 2))
            new = <uint64_t*>calloc(2 * slots + 2, 8)
            if new == NULL:
                self.budget.give(8 * (2 * slots + 2))
                with gil:
                    raise MemoryError()
            new[0] = 2 * slots - 1
            new[2 * slots + 1] = <uint64_t>old
            for i in range(slots):
                if old[1 + i]:
                    place(new, old[1 + i])
            publish_pointer(&self.table, new)
            old = new
        place(old, (hash >> 32) << 32 | <uint32_t>(handle + 1))
        self.length += 1
        return 0
