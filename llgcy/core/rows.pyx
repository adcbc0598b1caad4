"""The store of rows; see rows.pxd for what they are.

Rows that are made together form a *system*: variables with items, which may be linked to variables. Its strongly connected
components (Tarjan, SIAM Journal on Computing 1, 1972) are solved bottom-up. A component without a cycle is one look-up. A cyclic one is
brought to the form of a minimal automaton by refining classes of its variables, and looked up by that. A copy of a component that it is
itself linked to (an unrolled loop) has another form; it is compared with such components by the greatest fixpoint over pairs.

That is enough: let a new strongly connected component C have a variable that is bisimilar to an old row w. Bisimilarity maps every path of
C to a path from w, so all of C has images, which are mutually linked: they lie in one old component S. Either S has no other rows, then
the minimal forms are equal. Or it has, and a link of C leads to a row of S, so that S is among the candidates.
"""
cimport cython
from libc.stdlib cimport calloc, free, qsort, realloc
from libc.string cimport memcmp, memcpy

from libc.stdint cimport uint32_t
from llgcy.core.store cimport hash_bytes, mix
from llgcy.core.tables cimport ENDLESS, FAR, LAST, MORE, NO_PLACE, guard_of, longer
from llgcy.errors import LimitError

cdef enum:
    MAX_SYSTEM = 1 << 20        # items of the rows made by one goto
    MAX_MERGE = 1 << 25         # items compared to bring one component to its minimal form
    MAX_PAIRS = 1 << 22         # (variable, candidate) compared for one component
    MAX_COVER = 256             # rows put together of which those contained in others are left out
    MAX_TEXT = 1 << 24          # bytes of an ending that is spelled out


# -- scratch memory ------------------------------------------------------------------------------------------------------
cdef void* room(Buffer* b, size_t bytes) except NULL nogil:
    """The buffer's memory with at least `bytes`; what it holds stays, but moves."""
    cdef void* data
    if bytes > b.room or b.data == NULL:
        bytes = bytes + bytes // 2 + 256
        data = realloc(b.data, bytes)
        if data == NULL:
            with gil:
                raise MemoryError(f"no {bytes:,} bytes")
        b.data, b.room = <char*>data, bytes
    return b.data


cdef int push(Buffer* b, int32_t* n, int32_t x) except -1 nogil:
    (<int32_t*>room(b, (n[0] + 1) * sizeof(int32_t)))[n[0]] = x
    n[0] += 1
    return 0


cdef int push_wait(Buffer* b, int32_t* n, int32_t place, int32_t source) except -1 nogil:
    (<Wait*>room(b, (n[0] + 1) * sizeof(Wait)))[n[0]] = Wait(place, source)
    n[0] += 1
    return 0


cdef int push_due(Buffer* b, int32_t* n, Due due) except -1 nogil:
    """Puts one into a binary heap."""
    cdef Due* heap = <Due*>room(b, (n[0] + 1) * sizeof(Due))
    cdef int32_t i = n[0]
    while i and heap[(i - 1) >> 1].cost > due.cost:
        heap[i] = heap[(i - 1) >> 1]
        i = (i - 1) >> 1
    heap[i] = due
    n[0] += 1
    return 0


cdef Due pop_due(Due* heap, int32_t* n) noexcept nogil:
    """Takes the least from a binary heap that is not empty."""
    cdef Due out = heap[0]
    cdef Due last
    cdef int32_t i = 0, k = 1
    n[0] -= 1
    last = heap[n[0]]
    while k < n[0]:
        k += k + 1 < n[0] and heap[k + 1].cost < heap[k].cost
        if heap[k].cost >= last.cost:
            break
        heap[i] = heap[k]
        i, k = k, 2 * k + 1
    heap[i] = last
    return out


# -- order ---------------------------------------------------------------------------------------------------------------
cdef inline int compare_items(const Item* a, const Item* b) noexcept nogil:
    if a.place != b.place:
        return 1 if a.place > b.place else -1
    if a.low != b.low:
        return 1 if a.low > b.low else -1
    if a.high != b.high:
        return 1 if a.high > b.high else -1
    return (a.ret > b.ret) - (a.ret < b.ret)


cdef int by_item(const void* a, const void* b) noexcept nogil:
    return compare_items(<const Item*>a, <const Item*>b)


cdef int by_ret(const void* x, const void* y) noexcept nogil:
    cdef const Item* a = <const Item*>x
    cdef const Item* b = <const Item*>y
    return (a.ret > b.ret) - (a.ret < b.ret) or compare_items(a, b)


cdef int by_int(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*>a)[0]
    cdef int32_t y = (<const int32_t*>b)[0]
    return (x > y) - (x < y)


cdef int by_int_down(const void* a, const void* b) noexcept nogil:
    return by_int(b, a)


cdef int by_wait(const void* x, const void* y) noexcept nogil:
    cdef const Wait* a = <const Wait*>x
    cdef const Wait* b = <const Wait*>y
    return (a.place > b.place) - (a.place < b.place) or (a.source > b.source) - (a.source < b.source)


cdef int32_t unique_ints(int32_t* data, int32_t n) noexcept nogil:
    """Drops repetitions from sorted numbers; how many are left."""
    cdef int32_t i, k = 0
    for i in range(n):
        if k == 0 or data[i] != data[k - 1]:
            data[k] = data[i]
            k += 1
    return k


cdef int32_t sorted_waits(Buffer* b, int32_t n) noexcept nogil:
    """Sorts and drops repetitions; how many are left."""
    cdef Wait* data = <Wait*>b.data
    cdef int32_t i, k = 0
    if n > 1:
        qsort(data, n, sizeof(Wait), by_wait)
    for i in range(n):
        if k == 0 or by_wait(&data[i], &data[k - 1]):
            data[k] = data[i]
            k += 1
    return k


cdef void sort_items(Item* items, int32_t n) noexcept nogil:
    cdef int32_t i, k
    cdef Item one
    if n > 24:
        qsort(items, n, sizeof(Item), by_item)
        return
    for i in range(1, n):
        one, k = items[i], i
        while k > 0 and compare_items(&one, &items[k - 1]) < 0:
            items[k] = items[k - 1]
            k -= 1
        items[k] = one


@cython.final
cdef class Rows:
    """All rows and shapes of one grammar.

    Parameters
    ----------
    tables : GrammarTables
    budget : Budget
        Pays for all rows.
    horizon : int
        Numbers of copies further than that from every bound look alike in views. At least the lexemes that one token can
        complete.

    Examples
    --------
    >>> rows = Rows(tables, Budget(1 << 26, "the grammar"))     # doctest: +SKIP
    >>> rows.follow(rows.start, [0, 1])                         # the row after two lexemes, 0 = refused  # doctest: +SKIP
    """

    def __cinit__(self, GrammarTables tables not None, Budget budget not None, int32_t horizon=128):
        if horizon < 1:
            raise ValueError("the horizon is at least one lexeme")
        if tables.places == NULL:
            raise ValueError("the tables have not been made")
        self.tables, self.budget, self.horizon = tables, budget, horizon
        self.rows, self.items = Arena(budget, sizeof(Row)), Arena(budget, sizeof(Item))
        self.shapes, self.waits = Arena(budget, sizeof(Shape)), Arena(budget, sizeof(Wait))
        self.templates, self.gotos = Arena(budget, sizeof(Template)), Arena(budget, sizeof(Goto))
        self.unions, self.ints = Arena(budget, sizeof(Union)), Arena(budget, sizeof(int32_t))
        self.row_index, self.shape_index, self.goto_index = Index(budget), Index(budget), Index(budget)
        self.union_index, self.cycle_index = Index(budget), Index(budget)
        self.variable_of = <int32_t*>calloc(tables.n_symbols + 1, sizeof(int32_t))
        self.marked = <uint8_t*>calloc(tables.n_symbols + 1, 1)
        if self.variable_of == NULL or self.marked == NULL:
            raise MemoryError()
        self.rows.add(1)                                              # NO_ROW
        self._begin()

    def __dealloc__(self):
        free(self.variable_of)
        free(self.marked)
        free(self.variables.data)
        free(self.system.data)
        free(self.contained.data)
        free(self.copies.data)
        free(self.key.data)
        free(self.form.data)
        free(self.list.data)
        free(self.path.data)
        free(self.stack.data)
        free(self.group.data)
        free(self.leaders.data)
        free(self.matched.data)
        free(self.candidates.data)
        free(self.related.data)
        free(self.views.data)
        free(self.fresh.data)
        free(self.counted.data)
        free(self.popped.data)
        free(self.links.data)
        free(self.heap.data)

    cdef int _begin(self) except -1:
        """The last row and the first one."""
        cdef int32_t i
        cdef GrammarTables t = self.tables
        self._row(NULL, 0, True, NULL, 0)
        self._clear()
        self._variable(-1)
        for i in range(t.first.first[0], t.first.first[1]):
            self._item(t.first.data[i], END_ROW, 0, 0)
        self._close(0, t.empty)
        self._solve()
        self.start = (<Variable*>self.variables.data)[0].row
        return 0

    # -- a system in the making ------------------------------------------------------------------------------------------
    cdef void _clear(self) noexcept nogil:
        self.n_variables = self.n_system = self.n_contained = 0

    cdef int _variable(self, int32_t symbol) except -1 nogil:
        """A new variable; its items are those added before it is closed."""
        cdef Variable* v = <Variable*>room(&self.variables, (self.n_variables + 1) * sizeof(Variable))
        cdef Variable blank
        blank = Variable(symbol=symbol, first=0, length=0, parts=0, n_parts=0, row=NO_ROW, order=0, low=0, at=0, colour=0, rank=0,
                         copy=0, n_copy=0, accept=0, stacked=0)
        v[self.n_variables] = blank
        self.n_variables += 1
        return 0

    cdef int _item(self, int32_t place, int32_t ret, int32_t low, int32_t high) except -1 nogil:
        if self.n_system >= MAX_SYSTEM:
            with gil:
                raise LimitError(f"the grammar is too ambiguous: more than {MAX_SYSTEM:,} items in one place")
        (<Item*>room(&self.system, (self.n_system + 1) * sizeof(Item)))[self.n_system] = Item(place, ret, low, high)
        self.n_system += 1
        self.work += 1
        return 0

    cdef int _close(self, int32_t variable, bint accept) except -1 nogil:
        """All items since the variable before have been added to this one."""
        cdef Variable* v = <Variable*>self.variables.data + variable
        v.first = 0 if variable == 0 else (v - 1).first + (v - 1).length
        v.length, v.accept = self.n_system - v.first, accept
        return 0

    # -- moving ----------------------------------------------------------------------------------------------------------
    cdef int32_t goto(self, int32_t row, int32_t symbol) except -1 nogil:
        cdef int32_t to = self._known(row, symbol)
        if to == NO_ROW and self._wait(self.shape(self.row(row).shape), symbol) >= 0:
            to = self._goto(row, symbol)
        return to

    cdef int32_t _known(self, int32_t row, int32_t symbol) noexcept nogil:
        cdef Probe probe
        cdef int32_t at
        cdef Goto* g
        self.goto_index.begin(mix(<uint64_t>row << 32 | <uint32_t>symbol), &probe)
        while True:
            at = self.goto_index.next(&probe)
            if at < 0:
                return NO_ROW
            g = <Goto*>self.gotos.at(at)
            if g.row == row and g.symbol == symbol:
                return g.to

    cdef int32_t _wait(self, const Shape* shape, int32_t symbol) noexcept nogil:
        """Index of the symbol among those that the shape waits for, or -1."""
        cdef const int32_t* symbols
        cdef int32_t low = 0, high = shape.n_symbols, middle
        if high == 0:
            return -1
        symbols = <const int32_t*>self.ints.at(shape.symbols)
        while low < high:
            middle = (low + high) >> 1
            if symbols[middle] < symbol:
                low = middle + 1
            else:
                high = middle
        return low if low < shape.n_symbols and symbols[low] == symbol else -1

    cdef int32_t _goto(self, int32_t row, int32_t symbol) except -1 nogil:
        cdef int32_t i = 0, at, to
        cdef Variable* v
        cdef Goto* g
        self._clear()
        try:
            self._refer(row, symbol, &to)
            while i < self.n_variables:                               # grows while it runs
                self._substitute(row, i)
                i += 1
        finally:
            v = <Variable*>self.variables.data
            for i in range(self.n_variables):
                self.variable_of[v[i].symbol] = 0
        self._solve()
        for i in range(self.n_variables):
            v = <Variable*>self.variables.data + i
            at = self.gotos.add(1)
            g = <Goto*>self.gotos.at(at)
            g.row, g.symbol, g.to = row, v.symbol, v.row
            self.goto_index.add(mix(<uint64_t>row << 32 | <uint32_t>v.symbol), at)
        return (<Variable*>self.variables.data).row

    cdef int _refer(self, int32_t row, int32_t symbol, int32_t* out) except -1 nogil:
        """The row after `symbol` where it is known, else ~(its variable)."""
        out[0] = self._known(row, symbol)
        if out[0] == NO_ROW:
            if self.variable_of[symbol] == 0:
                self._variable(symbol)
                self.variable_of[symbol] = self.n_variables
            out[0] = ~(self.variable_of[symbol] - 1)
        return 0

    cdef int _substitute(self, int32_t row, int32_t variable) except -1 nogil:
        """The shape's template with this row's slots put in."""
        cdef Row* r = self.row(row)
        cdef Shape* shape = self.shape(r.shape)
        cdef int32_t symbol = (<Variable*>self.variables.data + variable).symbol
        cdef Template* t = self._template(shape, self._wait(shape, symbol))
        cdef const Item* items = <const Item*>self.items.at(r.first) if r.length else NULL
        cdef const Wait* w = <const Wait*>self.waits.at(t.fresh) if t.n_fresh else NULL
        cdef int32_t i, k, end = 0, n = 0, ret = 0
        cdef bint accept = False
        for i in range(t.n_fresh):
            if w[i].source < 0:
                self._refer(row, ~w[i].source, &ret)
                self._item(w[i].place, ret, 0, 0)
            else:
                k = self._slot(r, shape, w[i].source, &end)
                for k in range(k, end):
                    self._item(w[i].place, items[k].ret, 0, 0)
        w = <const Wait*>self.waits.at(t.copies) if t.n_copies else NULL
        for i in range(t.n_copies):
            if w[i].source < 0:
                self._refer(row, ~w[i].source, &ret)
                self._copy(w[i].place, ret, 0, 0)
            else:
                k = self._slot(r, shape, w[i].source, &end)
                for k in range(k, end):
                    self._copy(w[i].place, items[k].ret, items[k].low, items[k].high)
        for i in range(t.n_pops):
            k = self._slot(r, shape, (<const int32_t*>self.ints.at(t.pops))[i], &end)
            for k in range(k, end):
                push(&self.list, &n, items[k].ret)
        if n:
            accept = self._contain(n, variable)
        return self._close(variable, accept)

    cdef int32_t _slot(self, const Row* r, const Shape* shape, int32_t slot, int32_t* end) noexcept nogil:
        """The items of a row in one slot: the first, and where they end."""
        cdef const Item* items
        cdef int32_t low = 0, high = r.length, middle, place
        if r.length == shape.n_places:
            end[0] = slot + 1
            return slot
        items = <const Item*>self.items.at(r.first)
        place = (<const int32_t*>self.ints.at(shape.places))[slot]
        while low < high:
            middle = (low + high) >> 1
            if items[middle].place < place:
                low = middle + 1
            else:
                high = middle
        high = low
        while high < r.length and items[high].place == place:
            high += 1
        end[0] = high
        return low

    cdef int _copy(self, int32_t place, int32_t ret, int32_t low, int32_t high) except -1 nogil:
        """One copy more of a counted symbol. From `low` - 1 copies on only the fewest matter, and without an upper bound
        they do not matter at all."""
        cdef const Count* c = &self.tables.counts[self.tables.places[place].count]
        cdef int32_t enough = c.low - 1, k
        if low + 1 < enough:
            self._item(c.place + MORE, ret, low + 1, min(high + 1, enough - 1))
        if high + 1 >= enough:
            k = max(low + 1, enough)
            if c.high == ENDLESS:
                k = max(enough, 0)
            self._item(c.place + guard_of(c, k), ret, k, k)
        return 0

    cdef int _contain(self, int32_t n, int32_t variable) except -1 nogil:
        """Adds the items of the `n` rows in the list to the variable; may the text end in one of them? Rows that are known to
        be contained in another one add nothing."""
        cdef Variable* v = <Variable*>self.variables.data + variable
        cdef int32_t* rows = <int32_t*>self.list.data
        cdef const int32_t* parts
        cdef const Item* items
        cdef Row* r
        cdef int32_t i, k, m, n_covered = 0
        cdef bint accept = False
        if n > 1:
            qsort(rows, n, sizeof(int32_t), by_int_down)              # parts are older
            n = unique_ints(rows, n)
        v.parts = self.n_contained
        for i in range(n):
            rows = <int32_t*>self.list.data
            r = self.row(rows[i])
            if 1 < n <= MAX_COVER:
                self.work += 1
                m = 0
                for k in range(n_covered):
                    m |= (<int32_t*>self.group.data)[k] == rows[i]
                parts = <const int32_t*>self.ints.at(r.parts) if r.n_parts else NULL
                for k in range(r.n_parts):
                    push(&self.group, &n_covered, parts[k])
                if m:
                    continue
            push(&self.contained, &self.n_contained, rows[i])
            accept |= r.accept
            items = <const Item*>self.items.at(r.first) if r.length else NULL
            for k in range(r.length):
                self._item(items[k].place, items[k].ret, items[k].low, items[k].high)
        (<Variable*>self.variables.data + variable).n_parts = self.n_contained - v.parts
        return accept

    cdef int32_t union_of(self, int32_t* rows, int32_t n) except -1 nogil:
        cdef int32_t i, at
        cdef uint64_t hash
        cdef Union* u
        if n > 1:
            qsort(rows, n, sizeof(int32_t), by_int)
            n = unique_ints(rows, n)
        if n == 1:
            return rows[0]
        hash = hash_bytes(rows, n * sizeof(int32_t))
        u = self._union(self.union_index, hash, rows, n)
        if u != NULL:
            return (<int32_t*>self.ints.at(u.rows))[0]
        self._clear()
        self._variable(-1)
        i = 0
        for at in range(n):
            push(&self.list, &i, rows[at])
        self._close(0, self._contain(n, 0))
        self._solve()
        i = (<Variable*>self.variables.data).row
        self._remember(self.union_index, hash, rows, n, &i, 1)
        return i

    cdef Union* _union(self, Index index, uint64_t hash, const int32_t* key, int32_t n) noexcept nogil:
        """What is remembered under `n` numbers, or NULL."""
        cdef Probe probe
        cdef int32_t at
        cdef Union* u
        index.begin(hash, &probe)
        while True:
            at = index.next(&probe)
            if at < 0:
                return NULL
            u = <Union*>self.unions.at(at)
            if u.n_key == n and memcmp(self.ints.at(u.key), key, n * sizeof(int32_t)) == 0:
                return u

    cdef int _remember(self, Index index, uint64_t hash, const int32_t* key, int32_t n, const int32_t* rows,
                       int32_t n_rows) except -1 nogil:
        cdef int32_t at = self.unions.add(1)
        cdef Union* u = <Union*>self.unions.at(at)
        u.n_key, u.n_rows = n, n_rows
        u.key, u.rows = self._keep(key, n), self._keep(rows, n_rows)
        return index.add(hash, at)

    cdef int32_t _keep(self, const int32_t* data, int32_t n) except -1 nogil:
        """Handle of a lasting copy of `n` numbers."""
        cdef int32_t at = 0
        if n:
            at = self.ints.add(n)
            memcpy(self.ints.at(at), data, n * sizeof(int32_t))
        return at

    # -- shapes ----------------------------------------------------------------------------------------------------------
    cdef int32_t _shape(self, const Item* items, int32_t n, bint accept) except -1 nogil:
        """The shape of a row with these sorted items."""
        cdef int32_t i, m = 0, at
        cdef uint64_t hash
        cdef Probe probe
        cdef Shape* shape
        for i in range(n):
            if i == 0 or items[i].place != items[i - 1].place:
                push(&self.key, &m, items[i].place)
        room(&self.key, 1)
        hash = mix(hash_bytes(self.key.data, m * sizeof(int32_t)) + accept)
        self.shape_index.begin(hash, &probe)
        while True:
            at = self.shape_index.next(&probe)
            if at < 0:
                break
            shape = self.shape(at)
            if shape.accept == accept and shape.n_places == m and (
                    m == 0 or memcmp(self.ints.at(shape.places), self.key.data, m * sizeof(int32_t)) == 0):
                return at
        at = self.shapes.add(1)
        shape = self.shape(at)
        shape.accept, shape.n_places = accept, m
        shape.places = self._keep(<int32_t*>self.key.data, m)
        self._predict(shape)
        self.shape_index.add(hash, at)
        return at

    cdef int _predict(self, Shape* shape) except -1 nogil:
        """Fills in what the shape waits for."""
        cdef const int32_t* places = <const int32_t*>self.ints.at(shape.places) if shape.n_places else NULL
        cdef int32_t n = 0, n_symbols = 0, i, k, symbol, tail, source
        cdef Wait* w
        cdef int32_t* starts
        for i in range(shape.n_places):
            push_wait(&self.fresh, &n, places[i], i)
        i = 0
        try:
            while i < n:                                              # grows while it runs
                w = <Wait*>self.fresh.data + i
                i += 1
                symbol, source, tail = self.tables.places[w.place].symbol, w.source, self.tables.places[w.place].tail
                if source < 0 and tail != NO_PLACE and self.tables.nullable[symbol]:
                    push_wait(&self.fresh, &n, tail, source)
                if not self.marked[symbol]:
                    push(&self.key, &n_symbols, symbol)
                    self.marked[symbol] = 1
                    for k in range(self.tables.starts.first[symbol], self.tables.starts.first[symbol + 1]):
                        push_wait(&self.fresh, &n, self.tables.starts.data[k], ~symbol)
        finally:
            for i in range(n_symbols):
                self.marked[(<int32_t*>self.key.data)[i]] = 0
        n = sorted_waits(&self.fresh, n)
        self.work += n
        shape.n_symbols = n_symbols
        if n_symbols == 0:
            return 0
        qsort(self.key.data, n_symbols, sizeof(int32_t), by_int)
        shape.symbols = self._keep(<int32_t*>self.key.data, n_symbols)
        shape.n_lexemes = 0
        while shape.n_lexemes < n_symbols and (<int32_t*>self.key.data)[shape.n_lexemes] < self.tables.n_lexemes:
            shape.n_lexemes += 1
        # counting sort of the waits by symbol, stable: within one symbol by place and source
        shape.templates = self.ints.add(n_symbols)
        shape.starts = self.ints.add(n_symbols + 1)
        shape.waits = self.waits.add(n)
        starts = <int32_t*>self.ints.at(shape.starts)
        for i in range(n):
            starts[self._wait(shape, self.tables.places[(<Wait*>self.fresh.data)[i].place].symbol) + 1] += 1
        for i in range(n_symbols):
            starts[i + 1] += starts[i]
        for i in range(n_symbols):
            (<int32_t*>self.key.data)[i] = starts[i]
        for i in range(n):
            k = self._wait(shape, self.tables.places[(<Wait*>self.fresh.data)[i].place].symbol)
            (<Wait*>self.waits.at(shape.waits))[(<int32_t*>self.key.data)[k]] = (<Wait*>self.fresh.data)[i]
            (<int32_t*>self.key.data)[k] += 1
        return 0

    cdef Template* _template(self, Shape* shape, int32_t k) except NULL nogil:
        """goto over the shape's symbol number `k`."""
        cdef int32_t* known = <int32_t*>self.ints.at(shape.templates) + k
        cdef const int32_t* symbols = <const int32_t*>self.ints.at(shape.symbols)
        cdef const int32_t* starts = <const int32_t*>self.ints.at(shape.starts)
        cdef const Wait* waits = <const Wait*>self.waits.at(shape.waits)
        cdef const Place* place
        cdef int32_t n_fresh = 0, n_counted = 0, n_popped = 0, n_symbols = 0, i = 0, j, e, at
        cdef bint ends
        cdef Template* out
        if known[0]:
            return <Template*>self.templates.at(known[0] - 1)
        push(&self.group, &n_symbols, k)
        try:
            self.marked[symbols[k]] = 1
            while i < n_symbols:                                      # symbols whose items move on; grows while it runs
                k = (<int32_t*>self.group.data)[i]
                i += 1
                for j in range(starts[k], starts[k + 1]):
                    self.work += 1
                    place = &self.tables.places[waits[j].place]
                    if place.count >= 0:
                        ends = place.guard != MORE
                        if place.guard != LAST:
                            push_wait(&self.counted, &n_counted, waits[j].place, waits[j].source)
                    elif place.tail == NO_PLACE:
                        ends = True
                    else:
                        ends = self.tables.ends[place.tail]
                        for e in range(self.tables.entries.first[place.tail], self.tables.entries.first[place.tail + 1]):
                            push_wait(&self.fresh, &n_fresh, self.tables.entries.data[e], waits[j].source)
                    if ends and waits[j].source >= 0:
                        push(&self.popped, &n_popped, waits[j].source)
                    elif ends and not self.marked[~waits[j].source]:
                        push(&self.group, &n_symbols, self._wait(shape, ~waits[j].source))
                        self.marked[~waits[j].source] = 1
        finally:
            for i in range(n_symbols):
                self.marked[symbols[(<int32_t*>self.group.data)[i]]] = 0
        n_fresh, n_counted = sorted_waits(&self.fresh, n_fresh), sorted_waits(&self.counted, n_counted)
        if n_popped:
            qsort(self.popped.data, n_popped, sizeof(int32_t), by_int)
            n_popped = unique_ints(<int32_t*>self.popped.data, n_popped)
        at = self.templates.add(1)
        out = <Template*>self.templates.at(at)
        out.n_fresh, out.n_copies, out.n_pops = n_fresh, n_counted, n_popped
        out.fresh, out.copies = self._keep_waits(&self.fresh, n_fresh), self._keep_waits(&self.counted, n_counted)
        out.pops = self._keep(<int32_t*>self.popped.data, n_popped)
        known[0] = at + 1
        return out

    cdef int32_t _keep_waits(self, const Buffer* b, int32_t n) except -1 nogil:
        cdef int32_t at = 0
        if n:
            at = self.waits.add(n)
            memcpy(self.waits.at(at), b.data, n * sizeof(Wait))
        return at

    # -- identity --------------------------------------------------------------------------------------------------------
    cdef int _solve(self) except -1 nogil:
        """Gives every variable of the system its row."""
        cdef int32_t i, j, k, n_stack = 0, n_path = 0, order = 0, n_group
        cdef Variable* v
        cdef Variable* all = <Variable*>self.variables.data
        cdef const Item* items
        if self.n_system == 0:
            room(&self.system, 1)
        items = <const Item*>self.system.data
        for i in range(self.n_variables):
            if all[i].order:
                continue
            j = i
            push(&self.path, &n_path, j)
            while n_path:
                j = (<int32_t*>self.path.data)[n_path - 1]
                v = &all[j]
                if v.order == 0:
                    order += 1
                    v.order = v.low = order
                    push(&self.stack, &n_stack, j)
                    v.stacked, v.at = True, v.first
                while v.at < v.first + v.length:
                    k = items[v.at].ret
                    if k < 0:
                        if all[~k].order == 0:
                            push(&self.path, &n_path, ~k)
                            break
                        if all[~k].stacked:
                            v.low = min(v.low, all[~k].low)
                    v.at += 1
                else:
                    n_path -= 1
                    if v.low == v.order:
                        n_group = 0
                        while True:
                            n_stack -= 1
                            k = (<int32_t*>self.stack.data)[n_stack]
                            all[k].stacked = False
                            push(&self.group, &n_group, k)
                            if k == j:
                                break
                        self._component(n_group)
                        items = <const Item*>self.system.data
        return 0

    cdef int _component(self, int32_t n) except -1 nogil:
        """Rows for the variables in the group: they are strongly connected, what else they are linked to is solved."""
        cdef Variable* all = <Variable*>self.variables.data
        cdef Variable* v = &all[(<int32_t*>self.group.data)[0]]
        cdef Item* items = <Item*>self.system.data
        cdef int32_t i, k
        cdef bint cyclic = False
        for i in range(n):
            v = &all[(<int32_t*>self.group.data)[i]]
            for k in range(v.first, v.first + v.length):
                if items[k].ret < 0:
                    if all[~items[k].ret].row != NO_ROW:
                        items[k].ret = all[~items[k].ret].row
                    else:
                        cyclic = True
        if cyclic:
            return self._cycle(n)
        v.length = self._normal(items + v.first, v.length)
        v.row = self._row(items + v.first, v.length, v.accept, <int32_t*>self.contained.data + v.parts if v.n_parts else NULL,
                          v.n_parts)
        return 0

    cdef int32_t _normal(self, Item* items, int32_t n) noexcept nogil:
        """Sorts items, drops repetitions and what is dominated; how many are left."""
        cdef int32_t i, j, k = 0, m, count
        sort_items(items, n)
        for i in range(n):
            if k == 0 or compare_items(&items[i], &items[k - 1]):
                items[k] = items[i]
                k += 1
        if self.tables.n_counts == 0:
            return k
        n, k, i = k, 0, 0
        while i < n:
            count, j = self.tables.places[items[i].place].count, i + 1
            if count >= 0:
                while j < n and self.tables.places[items[j].place].count == count:
                    j += 1
            m = self._undominated(items + i, j - i) if j - i > 1 else 1
            while m:
                items[k] = items[i]
                k, i, m = k + 1, i + 1, m - 1
            i = j
        return k

    cdef int32_t _undominated(self, Item* items, int32_t n) noexcept nogil:
        """Of items of one counted rule with one link: below `low` - 1 copies ranges are joined, from there on fewer are better,
        since what more copies may do fewer may do too."""
        cdef int32_t i, k = 0
        cdef Item* last = NULL
        qsort(items, n, sizeof(Item), by_ret)                         # within one link: MORE first, then by number
        for i in range(n):
            if last != NULL and last.ret == items[i].ret:
                if self.tables.places[last.place].guard != MORE:
                    continue
                if self.tables.places[items[i].place].guard == MORE and items[i].low <= last.high + 1:
                    last.high = max(last.high, items[i].high)
                    continue
            items[k] = items[i]
            last = &items[k]
            k += 1
        sort_items(items, k)
        return k

    cdef int32_t _row(self, const Item* items, int32_t n, bint accept, const int32_t* parts, int32_t n_parts) except -1 nogil:
        """The row with these normal items, all of whose links are rows."""
        cdef uint64_t hash = self._hash(items, n, accept)
        cdef Probe probe
        cdef int32_t at
        cdef Row* r
        self.row_index.begin(hash, &probe)
        while True:
            at = self.row_index.next(&probe)
            if at < 0:
                break
            r = self.row(at)
            if r.length == n and r.accept == accept and (n == 0 or memcmp(self.items.at(r.first), items, n * sizeof(Item)) == 0):
                return at
        at = self.rows.add(1)
        self._write(at, items, n, accept)
        r = self.row(at)
        r.component, r.together = at, 1
        r.parts, r.n_parts = self._keep(parts, n_parts), n_parts      # all of them are older
        self._summarise(at, 1)
        self.row_index.add(hash, at)
        self.n_rows += 1
        return at

    cdef uint64_t _hash(self, const Item* items, int32_t n, bint accept) noexcept nogil:
        return mix(hash_bytes(items, n * sizeof(Item)) + accept)

    cdef int _write(self, int32_t at, const Item* items, int32_t n, bint accept) except -1 nogil:
        cdef Row* r = self.row(at)
        r.shape = self._shape(items, n, accept)
        r.length, r.accept = n, accept
        if n:
            r.first = self.items.add(n)
            memcpy(self.items.at(r.first), items, n * sizeof(Item))
        return 0

    cdef int _cycle(self, int32_t n) except -1 nogil:
        """Rows for the cyclic component in the group: its minimal form is looked up, or new."""
        cdef Variable* all = <Variable*>self.variables.data
        cdef int32_t* group = <int32_t*>self.group.data
        cdef int32_t* leaders
        cdef int32_t i, classes = 0, found, n_key = 0
        cdef uint64_t hash
        cdef Union* known
        cdef Variable* v
        cdef int64_t before = self.merge_work
        self._layer(group, n)
        while True:
            found = self._refine(group, n)
            if self.merge_work - before > MAX_MERGE:
                with gil:
                    raise LimitError(f"left recursion through {n:,} symbols takes more than {MAX_MERGE:,} steps to sort out")
            if found == classes:
                break
            classes = found
            for i in range(n):
                all[group[i]].colour = all[group[i]].rank
        leaders = <int32_t*>room(&self.leaders, classes * sizeof(int32_t))
        for i in range(n):
            leaders[all[group[i]].colour] = group[i]
        for i in range(classes):
            v = &all[leaders[i]]
            push(&self.form, &n_key, v.accept)
            push(&self.form, &n_key, v.n_copy)
            room(&self.form, (n_key + 4 * v.n_copy) * sizeof(int32_t))
            memcpy(<int32_t*>self.form.data + n_key, <Item*>self.copies.data + v.copy, v.n_copy * sizeof(Item))
            n_key += 4 * v.n_copy
        hash = hash_bytes(self.form.data, n_key * sizeof(int32_t))
        known = self._union(self.cycle_index, hash, <int32_t*>self.form.data, n_key)
        if known == NULL:
            if not self._unrolled(classes):
                self._new_component(classes)
            self._remember(self.cycle_index, hash, <int32_t*>self.form.data, n_key, <int32_t*>self.matched.data, classes)
            known = self._union(self.cycle_index, hash, <int32_t*>self.form.data, n_key)
        for i in range(n):
            v = &all[group[i]]
            v.row = (<int32_t*>self.ints.at(known.rows))[v.colour]
        return 0

    cdef int _layer(self, int32_t* group, int32_t n) except -1 nogil:
        """First colours: links on the shortest way out of the component. Without them a ring of n symbols takes n rounds."""
        cdef Variable* all = <Variable*>self.variables.data
        cdef const Item* items = <const Item*>self.system.data
        cdef int32_t* first = <int32_t*>room(&self.candidates, (n + 2) * sizeof(int32_t))   # who is linked to whom, backwards
        cdef int32_t* links
        cdef int32_t i = 0, k, n_links = 0, n_queue = 0
        cdef Variable* v
        for k in range(n + 2):
            first[k] = 0
        for k in range(n):
            all[group[k]].rank, all[group[k]].colour = k, -1
        for k in range(n):
            v = &all[group[k]]
            for i in range(v.first, v.first + v.length):
                if items[i].ret < 0:
                    first[all[~items[i].ret].rank + 2] += 1
                    n_links += 1
                else:
                    v.colour = 0
            if v.accept:
                v.colour = 0
            if v.colour == 0:
                push(&self.list, &n_queue, group[k])
        for k in range(n):
            first[k + 2] += first[k + 1]
        links = <int32_t*>room(&self.matched, (n_links + 1) * sizeof(int32_t))
        for k in range(n):
            v = &all[group[k]]
            for i in range(v.first, v.first + v.length):
                if items[i].ret < 0:
                    links[first[all[~items[i].ret].rank + 1]] = group[k]
                    first[all[~items[i].ret].rank + 1] += 1
        i = 0
        while i < n_queue:                                            # grows while it runs
            v = &all[(<int32_t*>self.list.data)[i]]
            i += 1
            for k in range(first[v.rank], first[v.rank + 1]):
                if all[links[k]].colour < 0:
                    all[links[k]].colour = v.colour + 1
                    push(&self.list, &n_queue, links[k])
        self.merge_work += n_links
        return 0

    cdef int32_t _refine(self, int32_t* group, int32_t n) except -1 nogil:
        """Copies the items with colours for variables, sorts the group by that content, ranks it; the number of ranks. What is
        dominated under coarse colours may not be under finer ones, never the other way round, so classes only split."""
        cdef Variable* all = <Variable*>self.variables.data
        cdef const Item* items = <const Item*>self.system.data
        cdef Variable* v
        cdef Item* to
        cdef int32_t i, k, n_copies = 0
        for i in range(n):
            v = &all[group[i]]
            to = <Item*>room(&self.copies, (n_copies + v.length) * sizeof(Item)) + n_copies
            for k in range(v.length):
                to[k] = items[v.first + k]
                if to[k].ret < 0:
                    to[k].ret = ~all[~to[k].ret].colour
            v.copy, v.n_copy = n_copies, self._normal(to, v.length)
            n_copies += v.n_copy
            self.merge_work += v.length
        self._sort_group(group, n)
        all[group[0]].rank = k = 0
        for i in range(1, n):
            k += self._compare(group[i - 1], group[i]) != 0
            all[group[i]].rank = k
        return k + 1

    cdef int _compare(self, int32_t a, int32_t b) noexcept nogil:
        """Order of two variables by accept flag and copied items."""
        cdef const Variable* v = <const Variable*>self.variables.data + a
        cdef const Variable* w = <const Variable*>self.variables.data + b
        cdef const Item* x = <const Item*>self.copies.data + v.copy
        cdef const Item* y = <const Item*>self.copies.data + w.copy
        cdef int32_t i
        cdef int order = <int>v.accept - <int>w.accept or (v.n_copy > w.n_copy) - (v.n_copy < w.n_copy)
        for i in range(v.n_copy):
            if order:
                break
            order = compare_items(&x[i], &y[i])
        return order

    cdef int _sort_group(self, int32_t* group, int32_t n) except -1 nogil:
        """Merge sort, bottom up."""
        cdef int32_t* spare = <int32_t*>room(&self.list, n * sizeof(int32_t))
        cdef int32_t width = 1, low, middle, high, i, j, k
        while width < n:
            low = 0
            while low < n:
                middle, high = min(low + width, n), min(low + 2 * width, n)
                i, j = low, middle
                for k in range(low, high):
                    if i < middle and (j >= high or self._compare(group[i], group[j]) <= 0):
                        spare[k] = group[i]
                        i += 1
                    else:
                        spare[k] = group[j]
                        j += 1
                low = high
            memcpy(group, spare, n * sizeof(int32_t))
            width *= 2
        return 0

    cdef int _unrolled(self, int32_t classes) except -1 nogil:
        """Is there a component that is bisimilar to the leaders? Then `matched` has its rows, by colour."""
        cdef const Variable* all = <const Variable*>self.variables.data
        cdef const int32_t* leaders = <const int32_t*>self.leaders.data
        cdef const Item* copies = <const Item*>self.copies.data
        cdef const Variable* v
        cdef const Row* r
        cdef int32_t i, k, n_pool = 0, n_rows = 0, row
        cdef char* related
        cdef int32_t* matched
        cdef bint changed = True, some
        cdef int64_t before = self.merge_work
        for i in range(classes):
            v = &all[leaders[i]]
            for k in range(v.n_copy):
                if copies[v.copy + k].ret >= 0:
                    r = self.row(copies[v.copy + k].ret)
                    if r.cyclic:
                        push(&self.list, &n_pool, r.component)
        if n_pool == 0:
            return False
        qsort(self.list.data, n_pool, sizeof(int32_t), by_int)
        n_pool = unique_ints(<int32_t*>self.list.data, n_pool)
        k = 0
        for i in range(n_pool):                                       # candidates are numbered through all components
            row = (<int32_t*>self.list.data)[i]
            for k in range(self.row(row).together):
                push(&self.candidates, &n_rows, row + k)
        if <int64_t>n_rows * classes > MAX_PAIRS:
            with gil:
                raise LimitError(f"left recursion is too ambiguous: {n_rows:,} rows to compare {classes:,} with")
        related = <char*>room(&self.related, <size_t>n_rows * classes)
        for i in range(classes):
            v = &all[leaders[i]]
            for k in range(n_rows):
                related[<size_t>i * n_rows + k] = self._alike(v, self.row((<int32_t*>self.candidates.data)[k]))
        while changed:
            changed = False
            if self.merge_work - before > MAX_MERGE:
                with gil:
                    raise LimitError(f"left recursion is too ambiguous: more than {MAX_MERGE:,} steps to compare {classes:,} rows")
            for i in range(classes):
                some = False
                for k in range(n_rows):
                    if related[<size_t>i * n_rows + k]:
                        if self._bisimilar(&all[leaders[i]], self.row((<int32_t*>self.candidates.data)[k]), n_rows):
                            some = True
                        else:
                            related[<size_t>i * n_rows + k] = 0
                            changed = True
                if not some:
                    return False
        matched = <int32_t*>room(&self.matched, classes * sizeof(int32_t))
        for i in range(classes):
            for k in range(n_rows):
                if related[<size_t>i * n_rows + k]:
                    matched[i] = (<int32_t*>self.candidates.data)[k]   # just one: no two rows are bisimilar
        return True

    cdef bint _alike(self, const Variable* v, const Row* r) noexcept nogil:
        """The same but for links?"""
        cdef const Item* a = <const Item*>self.copies.data + v.copy
        cdef const Item* b
        cdef int32_t i = 0, k = 0
        if v.accept != r.accept or not v.n_copy or not r.length:
            return False
        b = <const Item*>self.items.at(r.first)
        while i < v.n_copy and k < r.length and a[i].place == b[k].place and a[i].low == b[k].low and a[i].high == b[k].high:
            i, k = i + 1, k + 1
            while i < v.n_copy and a[i].place == a[i - 1].place and a[i].low == a[i - 1].low and a[i].high == a[i - 1].high:
                i += 1
            while k < r.length and b[k].place == b[k - 1].place and b[k].low == b[k - 1].low and b[k].high == b[k - 1].high:
                k += 1
        return i == v.n_copy and k == r.length

    cdef bint _bisimilar(self, const Variable* v, const Row* r, int32_t n_rows) noexcept nogil:
        """Has every item of one a partner in the other, as far as `related` goes?"""
        cdef const Item* a = <const Item*>self.copies.data + v.copy
        cdef const Item* b = <const Item*>self.items.at(r.first)
        cdef int32_t i, k
        for i in range(v.n_copy):
            for k in range(r.length):
                if self._partners(&a[i], &b[k], n_rows):
                    break
            else:
                return False
        for k in range(r.length):
            for i in range(v.n_copy):
                if self._partners(&a[i], &b[k], n_rows):
                    break
            else:
                return False
        return True

    cdef bint _partners(self, const Item* a, const Item* b, int32_t n_rows) noexcept nogil:
        cdef const int32_t* rows = <const int32_t*>self.candidates.data
        cdef int32_t low = 0, high = n_rows, middle
        self.merge_work += 1
        if a.place != b.place or a.low != b.low or a.high != b.high:
            return False
        if a.ret >= 0:
            return a.ret == b.ret
        while low < high:
            middle = (low + high) >> 1
            if rows[middle] < b.ret:
                low = middle + 1
            else:
                high = middle
        return low < n_rows and rows[low] == b.ret and self.related.data[<size_t>(~a.ret) * n_rows + low] != 0

    cdef int _new_component(self, int32_t classes) except -1 nogil:
        """Rows for the leaders, one of each colour."""
        cdef const Variable* all = <const Variable*>self.variables.data
        cdef int32_t* matched = <int32_t*>room(&self.matched, classes * sizeof(int32_t))
        cdef int32_t first = self.rows.add(classes), i, k
        cdef const Variable* v
        cdef Item* items
        cdef Row* r
        for i in range(classes):
            v = &all[(<int32_t*>self.leaders.data)[i]]
            items = <Item*>self.copies.data + v.copy
            for k in range(v.n_copy):
                if items[k].ret < 0:
                    items[k].ret = first + ~items[k].ret
            sort_items(items, v.n_copy)
            self._write(first + i, items, v.n_copy, v.accept)
            r = self.row(first + i)
            r.component, r.together, r.cyclic = first, classes, True
            if v.n_parts:
                r.parts = self._keep(<int32_t*>self.contained.data + v.parts, v.n_parts)
                r.n_parts = v.n_parts
            matched[i] = first + i
        self._summarise(first, classes)
        for i in range(classes):
            r = self.row(first + i)
            self.row_index.add(self._hash(<Item*>self.items.at(r.first), r.length, r.accept), first + i)
        self.n_rows += classes
        return 0

    # -- what is known of a row at once ------------------------------------------------------------------------------------
    cdef int64_t _rest(self, const Item* it) noexcept nogil:
        """Bytes of a shortest text, not empty, from the item to the end of its rule."""
        cdef int64_t rest = self.tables.places[it.place].rest, copies = self._copies(it)
        return copies * rest if rest <= FAR // copies else FAR

    cdef int32_t _copies(self, const Item* it) noexcept nogil:
        """Copies that must still be read at least, one of them in any case; 1 at an ordinary place."""
        cdef int32_t count = self.tables.places[it.place].count
        return max(self.tables.counts[count].low - it.high, 1) if count >= 0 else 1

    cdef int _summarise(self, int32_t first, int32_t n) except -1 nogil:
        """Costs of a new component, and whether it is plain: links lead to older rows or into it, so nothing is ever redone."""
        cdef int32_t i, k, n_links = 0
        cdef Row* r
        cdef const Item* it
        cdef bint plain = True
        for i in range(n):
            r = self.row(first + i)
            r.cost_on = FAR
            for k in range(r.length):
                it = <const Item*>self.items.at(r.first) + k
                if first <= it.ret < first + n:
                    n_links += 1
                else:
                    r.cost_on = min(r.cost_on, longer(self._rest(it), self.row(it.ret).cost))
                    plain = plain and self.row(it.ret).plain
                plain = plain and self._is_far(it)
            r.cost = 0 if r.accept else r.cost_on
            self.work += r.length
        for i in range(n):
            self.row(first + i).plain = plain
        if n_links:
            self._spread(first, n, n_links)
        return 0

    cdef int _spread(self, int32_t first, int32_t n, int32_t n_links) except -1 nogil:
        """Dijkstra's algorithm over the links inside a component, backwards."""
        cdef int32_t* starts = <int32_t*>room(&self.list, (n + 2) * sizeof(int32_t))
        cdef Link* links = <Link*>room(&self.links, n_links * sizeof(Link))
        cdef int32_t i, k, n_heap = 0
        cdef Row* r
        cdef const Item* it
        cdef Due due
        cdef int64_t cost
        for i in range(n + 2):
            starts[i] = 0
        for i in range(n):
            r = self.row(first + i)
            for k in range(r.first, r.first + r.length):
                it = <const Item*>self.items.at(k)
                if first <= it.ret < first + n:
                    starts[it.ret - first + 2] += 1
            if r.cost < FAR:
                push_due(&self.heap, &n_heap, Due(r.cost, first + i))
        for i in range(n):
            starts[i + 2] += starts[i + 1]
        for i in range(n):
            r = self.row(first + i)
            for k in range(r.first, r.first + r.length):
                it = <const Item*>self.items.at(k)
                if first <= it.ret < first + n:
                    links[starts[it.ret - first + 1]] = Link(first + i, k)
                    starts[it.ret - first + 1] += 1
        while n_heap:
            due = pop_due(<Due*>self.heap.data, &n_heap)
            if due.cost != self.row(due.row).cost:
                continue                                              # a shorter way was found meanwhile
            for k in range(starts[due.row - first], starts[due.row - first + 1]):
                r = self.row(links[k].row)
                cost = longer(self._rest(<const Item*>self.items.at(links[k].item)), due.cost)
                self.work += 1
                if cost < r.cost_on:
                    r.cost_on = cost
                    if cost < r.cost:
                        r.cost = cost
                        push_due(&self.heap, &n_heap, Due(cost, links[k].row))
        return 0

    # -- views ---------------------------------------------------------------------------------------------------------------
    cdef void _look_far(self, const Item* it, Item* out) noexcept nogil:
        """The item with the number that stands for its own when only the next `horizon` lexemes matter."""
        cdef int32_t count = self.tables.places[it.place].count, enough
        cdef const Count* c
        out[0] = it[0]
        if count < 0:
            return
        c = &self.tables.counts[count]
        enough = c.low - 1
        if it.high < enough:
            out.low, out.high = max(it.low, enough - self.horizon - 1), max(it.high, enough - self.horizon - 1)
        elif c.high - it.low > self.horizon:
            out.low = out.high = max(enough, 0)
        out.place = c.place + guard_of(c, out.high)

    cdef bint _is_far(self, const Item* it) noexcept nogil:
        cdef Item far
        self._look_far(it, &far)
        return far.low == it.low and far.high == it.high

    cdef int32_t view_of(self, int32_t row) except -1 nogil:
        cdef int32_t n = 0, i
        cdef Row* r = self.row(row)
        if r.plain:
            return row
        if r.view == NO_ROW:
            try:
                n = self._gather(r.component, &n)
                qsort(self.views.data, n, sizeof(int32_t), by_int)    # links lead to older components
                for i in range(n):
                    self._view((<int32_t*>self.views.data)[i])
            finally:
                for i in range(n):
                    self.row((<int32_t*>self.views.data)[i]).met = False
        return r.view

    cdef int32_t _gather(self, int32_t component, int32_t* n) except -1 nogil:
        """Lists the components without views that this one is linked to, itself included."""
        cdef int32_t i = 0, k, m, first
        cdef const Row* r
        cdef Row* other
        push(&self.views, n, component)
        self.row(component).met = True
        while i < n[0]:                                               # grows while it runs
            first = (<int32_t*>self.views.data)[i]
            i += 1
            for k in range(self.row(first).together):
                r = self.row(first + k)
                for m in range(r.length):
                    other = self.row((<const Item*>self.items.at(r.first))[m].ret)
                    if not other.plain and other.view == NO_ROW and not self.row(other.component).met:
                        push(&self.views, n, other.component)
                        self.row(other.component).met = True
        return n[0]

    cdef int _view(self, int32_t first) except -1 nogil:
        """Views of one component; those that it is linked to have theirs."""
        cdef int32_t n = self.row(first).together, k, m
        cdef Row* r
        cdef Item far
        self._clear()
        for k in range(n):
            self._variable(-1)
            r = self.row(first + k)
            for m in range(r.length):
                self._look_far(<const Item*>self.items.at(r.first) + m, &far)
                if first <= far.ret < first + n:
                    far.ret = ~(far.ret - first)
                elif not self.row(far.ret).plain:
                    far.ret = self.row(far.ret).view
                self._item(far.place, far.ret, far.low, far.high)
            self._close(k, r.accept)
        self._solve()
        for k in range(n):
            self.row(first + k).view = (<Variable*>self.variables.data)[k].row
        return 0

    # -- for Python ------------------------------------------------------------------------------------------------------------
    cdef Row* _checked(self, int32_t row) except NULL:
        if not 0 < row < self.rows.length:
            raise ValueError(f"there is no row {row}")
        return self.row(row)

    def follow(self, int32_t row, symbols):
        """The row after some symbols.

        Parameters
        ----------
        row : int
        symbols : iterable of int

        Returns
        -------
        int
            0 where one of the symbols may not come.
        """
        for symbol in symbols:
            self._checked(row)
            row = self.goto(row, symbol)
            if row == NO_ROW:
                break
        return row

    def joined(self, rows):
        """The row that may do what any of `rows` may do (a non-empty sequence)."""
        cdef Buffer b = Buffer(NULL, 0)
        cdef int32_t n = 0
        try:
            for row in rows:
                self._checked(row)
                push(&b, &n, row)
            return self.union_of(<int32_t*>b.data, n)
        finally:
            free(b.data)

    def view(self, int32_t row):
        """The row that stands for `row` where only the next `horizon` lexemes matter."""
        self._checked(row)
        return self.view_of(row)

    def accepts(self, int32_t row):
        """May the text end at `row`?"""
        return bool(self._checked(row).accept)

    def allowed(self, int32_t row):
        """Lexemes that may come next, ascending."""
        cdef Shape* shape = self.shape(self._checked(row).shape)
        return [(<int32_t*>self.ints.at(shape.symbols))[i] for i in range(shape.n_lexemes)]

    def cost(self, int32_t row):
        """Bytes of a shortest ending, lexemes at their shortest."""
        return self._checked(row).cost

    def content(self, int32_t row):
        """What makes the row: (accept flag, [(place, return row, low, high)])."""
        cdef Row* r = self._checked(row)
        out = []
        for i in range(r.length):
            it = (<Item*>self.items.at(r.first))[i]
            out.append((it.place, it.ret, it.low, it.high))
        return bool(r.accept), out

    def ending_lexemes(self, int32_t row):
        """The lexemes of a shortest text from `row` to the end, each of them at its shortest.

        Raises
        ------
        LimitError
            Where it is longer than 16 MiB.
        """
        cdef Row* r = self._checked(row)
        cdef const Item* it = NULL
        cdef int32_t k
        out = []
        if r.cost > MAX_TEXT:
            raise LimitError(f"the shortest ending has {r.cost:,} bytes, more than {MAX_TEXT:,}")
        while not r.accept:
            for k in range(r.length):
                it = <const Item*>self.items.at(r.first) + k
                if longer(self._rest(it), self.row(it.ret).cost) == r.cost_on:
                    break
            out += self.tables.spell(it.place, self._copies(it))
            r = self.row(it.ret)
        return out

    def ending(self, int32_t row):
        """A shortest text from `row` to the end, as :meth:`ending_lexemes`."""
        return self.tables.join(self.ending_lexemes(row))

    def stats(self):
        """Counters: dict of str to int."""
        return {"rows": self.n_rows, "shapes": self.shapes.length, "gotos": self.gotos.length, "items": self.items.length,
                "row_work": self.work, "merge_work": self.merge_work}
