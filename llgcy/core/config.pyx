"""The grammar machine; see config.pxd for its states."""
cimport cython
from libc.stdlib cimport free, qsort
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.store cimport hash_bytes
from llgcy.errors import LimitError

cdef enum:
    MAX_MEMBERS = 4096          # of one configuration


cdef int by_row(const void* x, const void* y) noexcept nogil:
    cdef const Member* a = <const Member*>x
    cdef const Member* b = <const Member*>y
    return (a.row > b.row) - (a.row < b.row) or (a.lexer > b.lexer) - (a.lexer < b.lexer)


cdef int by_lexer(const void* x, const void* y) noexcept nogil:
    cdef const Member* a = <const Member*>x
    cdef const Member* b = <const Member*>y
    return (a.lexer > b.lexer) - (a.lexer < b.lexer) or (a.row > b.row) - (a.row < b.row)


cdef inline void put(State* out, int32_t mode, int32_t row, int32_t lexer) noexcept nogil:
    memset(out, 0, sizeof(State))
    out.mode, out.row, out.leaf.v = mode, row, lexer


@cython.final
cdef class GrammarMachine(Machine):
    """Recognises the texts of a frozen grammar.

    Parameters
    ----------
    tables : GrammarTables
    budget : Budget, optional
        Of rows, joint states and configurations; 256 MiB of its own where None.
    horizon : int
        Lexemes that one token can complete at most: that many bytes at least as the longest token has.

    Raises
    ------
    LimitError
        Where the grammar needs more than a documented limit.

    Examples
    --------
    >>> regexes = Regexes("bytes")                                              # doctest: +SKIP
    >>> tables = GrammarTables([(1, (0,))], 1, [regexes.words(["ab"])], regexes)   # doctest: +SKIP
    >>> GrammarMachine(tables).accepts(b"ab")                                   # doctest: +SKIP
    True
    """

    def __cinit__(self, GrammarTables tables not None, Budget budget=None, *, int32_t horizon=128):
        self.tables = tables
        self.budget = Budget(256 << 20, "the grammar") if budget is None else budget
        self.rows = Rows(tables, self.budget, horizon)
        self.lexer = Lexer(tables.lexemes, tables.regexes, self.budget)
        self.configurations, self.members = Arena(self.budget, sizeof(Configuration)), Arena(self.budget, sizeof(Member))
        self.nexts, self.index = Arena(self.budget, 256 * sizeof(int32_t)), Index(self.budget)
        self.warnings = []
        self.separable = tables.lexing == "greedy"

        self.nexts.add(1)                                             # record 0: not made

    def __dealloc__(self):
        free(self.going.data)
        free(self.ends.data)
        free(self.ended.data)

    # -- moving ----------------------------------------------------------------------------------------------------------
    cdef int start(self, State* out) except -1 nogil:
        put(out, FRESH if self.tables.skip >= 0 and not self.tables.skip_first else BETWEEN, self.rows.start, 0)
        return ALIVE

    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        cdef int32_t row = at.row, lexer = at.leaf.v, to
        cdef Member[2] both
        if at.mode == WITHIN:
            to = self.lexer.next(lexer, byte)
            if not lexer & ENDED or (self.separable and to != NOTHING):
                return DEAD if to == NOTHING else self.enter(row, to, out)
            if to != NOTHING:
                both[0] = Member(row, lexer)
                both[1] = Member(self.behind(row, lexer), 0)
                return self.branch(both, 2, byte, out)
            row = self.behind(row, lexer)
        elif at.mode == SEVERAL:
            return self.several(row, byte, out)
        if at.mode == FRESH:
            if self.fresh == 0:
                self.fresh = self.start_state(self.rows.shape(self.rows.row(row).shape), False)
            lexer = self.fresh
        else:
            lexer = self.starting(row)
        to = NOTHING if lexer == NOTHING else self.lexer.next(lexer, byte)
        return DEAD if to == NOTHING else self.enter(row, to, out)

    cdef int enter(self, int32_t row, int32_t lexer, State* out) except -1 nogil:
        """The state of one member that has just read a byte: at once behind the lexeme where nothing goes on."""
        if lexer & OPEN:
            put(out, WITHIN, row, lexer)
        else:
            put(out, BETWEEN, self.behind(row, lexer), 0)
        return ALIVE

    cdef int32_t starting(self, int32_t row) except -1 nogil:
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        if shape.lexer == 0:
            shape.lexer = self.start_state(shape, True)
        return shape.lexer

    cdef int32_t start_state(self, const Shape* shape, bint skipping) except -1 nogil:
        """Text is skipped only where something may follow it."""
        cdef const int32_t* symbols = <const int32_t*>self.rows.ints.at(shape.symbols) if shape.n_lexemes else NULL
        cdef int32_t i
        self.lexer.begin()
        for i in range(shape.n_lexemes):
            self.lexer.add(symbols[i], self.lexer.terms[symbols[i]])
        if skipping and self.tables.skip >= 0 and (shape.n_places or self.tables.skip_last and shape.accept):
            self.lexer.add(self.tables.skip, self.lexer.terms[self.tables.skip])
        return self.lexer.made()

    cdef int32_t behind(self, int32_t row, int32_t lexer) except -1 nogil:
        cdef const Joint* j = self.lexer.joint(lexer)
        cdef const int32_t* ended = <const int32_t*>self.lexer.ints.at(j.ended)
        cdef int32_t n = 0, i
        if j.n_ended == 1:
            return self.past(row, ended[0])
        for i in range(j.n_ended):
            push(&self.ended, &n, self.past(row, ended[i]))
        return self.rows.union_of(<int32_t*>self.ended.data, n)

    cdef int32_t past(self, int32_t row, int32_t lexeme) except -1 nogil:
        """The row behind one lexeme that may come in `row`."""
        if lexeme == self.tables.skip:
            return row if self.tables.skip_last else self.rows.unaccepting(row)
        return self.rows.goto(row, lexeme)

    # -- several members -------------------------------------------------------------------------------------------------
    cdef int branch(self, const Member* members, int32_t n, uint8_t byte, State* out) except -1 nogil:
        """One byte for each member."""
        cdef int32_t i, row, lexer, to, alive = 0, n_inside = 0, n_ends = 0, only = 0, only_row = 0
        for i in range(n):
            row, lexer = members[i].row, members[i].lexer
            if lexer == 0:
                lexer = self.starting(row)
            to = NOTHING if lexer == NOTHING else self.lexer.next(lexer, byte)
            if to == NOTHING:
                continue
            alive, only, only_row = alive + 1, to, row
            if to & ENDED:
                push(&self.ends, &n_ends, self.behind(row, to))
            if to & OPEN:
                push_member(&self.going, &n_inside, row, self.lexer.open_part(to))
        if alive == 0:
            return DEAD
        if alive == 1:
            return self.enter(only_row, only, out)
        if n_inside > 1:
            n_inside = self.join(n_inside)
        row = self.rows.union_of(<int32_t*>self.ends.data, n_ends) if n_ends else 0
        if n_inside == 0:
            put(out, BETWEEN, row, 0)
            return ALIVE
        only, only_row = (<Member*>self.going.data).lexer, (<Member*>self.going.data).row
        if n_inside == 1 and row == (self.behind(only_row, only) if only & ENDED else 0):
            put(out, WITHIN, only_row, only)
            return ALIVE
        if row:
            push_member(&self.going, &n_inside, row, 0)
        if n_inside > MAX_MEMBERS:
            with gil:
                raise LimitError(f"the text can be cut into lexemes in more than {MAX_MEMBERS:,} ways at once; "
                                 "make what follows a lexeme start with a byte that cannot go on in it")
        put(out, SEVERAL, self.configuration(n_inside), 0)
        return ALIVE

    cdef int32_t join(self, int32_t n) except -1 nogil:
        """Members in one row join their lexer states, those in one lexer state their rows; how many are left."""
        cdef Member* m = <Member*>self.going.data
        cdef int32_t i, k, n_rows
        n = self.join_lexers(n)
        qsort(m, n, sizeof(Member), by_lexer)
        i = k = 0
        while i < n:
            n_rows = 0
            m[k] = m[i]
            while i < n and m[i].lexer == m[k].lexer:
                push(&self.ended, &n_rows, m[i].row)
                i += 1
            m[k].row = self.rows.union_of(<int32_t*>self.ended.data, n_rows)
            k += 1
        return self.join_lexers(k) if k < n else k

    cdef int32_t join_lexers(self, int32_t n) except -1 nogil:
        cdef Member* m = <Member*>self.going.data
        cdef int32_t i = 0, k = 0, first
        qsort(m, n, sizeof(Member), by_row)
        while i < n:
            first = i
            m[k] = m[i]
            i += 1
            if i < n and m[i].row == m[k].row:
                self.lexer.begin()
                self.lexer.add_all(m[first].lexer)
                while i < n and m[i].row == m[first].row:
                    self.lexer.add_all(m[i].lexer)
                    i += 1
                m[k].lexer = self.lexer.made()
            k += 1
        return k

    cdef int32_t configuration(self, int32_t n) except -1 nogil:
        """Handle of the configuration of the `n` members in the making."""
        cdef Member* m = <Member*>self.going.data
        cdef uint64_t hash
        cdef Probe probe
        cdef int32_t at
        cdef Configuration* c
        qsort(m, n, sizeof(Member), by_row)
        hash = hash_bytes(m, n * sizeof(Member))
        self.index.begin(hash, &probe)
        while True:
            at = self.index.next(&probe)
            if at < 0:
                break
            c = <Configuration*>self.configurations.at(at)
            if c.n_members == n and memcmp(self.members.at(c.members), m, n * sizeof(Member)) == 0:
                return at
        at = self.configurations.add(1)
        c = <Configuration*>self.configurations.at(at)
        c.n_members, c.members = n, self.members.add(n)
        memcpy(self.members.at(c.members), m, n * sizeof(Member))
        self.index.add(hash, at)
        return at

    cdef int several(self, int32_t configuration, uint8_t byte, State* out) except -1 nogil:
        """One byte for a configuration; the outcome is remembered."""
        cdef Configuration* c = <Configuration*>self.configurations.at(configuration)
        cdef int32_t n = 0, to
        cdef const Member* m
        if c.nexts == 0:
            c.nexts = self.nexts.add(1)
        to = (<int32_t*>self.nexts.at(c.nexts))[byte]
        if to == 0:
            if self.branch(<const Member*>self.members.at(c.members), c.n_members, byte, out) == DEAD:
                to = 1
            elif out.mode == SEVERAL:
                to = out.row + 2
            else:
                push_member(&self.going, &n, out.row, out.leaf.v)
                to = self.configuration(1) + 2
            (<int32_t*>self.nexts.at(c.nexts))[byte] = to
        if to == 1:
            return DEAD
        c = <Configuration*>self.configurations.at(to - 2)
        m = <const Member*>self.members.at(c.members)
        if c.n_members > 1:
            put(out, SEVERAL, to - 2, 0)
        else:
            put(out, WITHIN if m.lexer else BETWEEN, m.row, m.lexer)
        return ALIVE

    # -- asked by masks ----------------------------------------------------------------------------------------------------
    cdef int accepting(self, const State* at) except -1 nogil:
        cdef const Configuration* c
        cdef const Member* m
        cdef int32_t i
        if at.mode == WITHIN:
            return at.leaf.v & ENDED and self.rows.row(self.behind(at.row, at.leaf.v)).accept
        if at.mode != SEVERAL:
            return self.rows.row(at.row).accept
        c = <const Configuration*>self.configurations.at(at.row)
        m = <const Member*>self.members.at(c.members)
        for i in range(c.n_members):
            if m[i].lexer == 0 and self.rows.row(m[i].row).accept:
                return 1
        return 0

    cdef int inside(self, const State* at) except -1 nogil:
        return at.mode == WITHIN

    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        cdef int32_t to = self.lexer.next(at.v, byte)
        if at.v & ENDED and (to == NOTHING or not self.separable):
            return CROSS
        if to == NOTHING:
            return DEAD
        memset(out, 0, sizeof(Leaf))
        out.v = to
        return ALIVE

    cdef int mask_key(self, const State* at, State* out) except -1 nogil:
        cdef const Configuration* c
        cdef const Member* m
        cdef int32_t i, n = 0
        out[0] = at[0]
        if self.tables.n_counts == 0:
            return 0
        if at.mode != SEVERAL:
            out.row = self.rows.view_of(at.row)
            return 0
        c = <const Configuration*>self.configurations.at(at.row)
        m = <const Member*>self.members.at(c.members)
        for i in range(c.n_members):
            push_member(&self.going, &n, self.rows.view_of(m[i].row), m[i].lexer)
        out.row = self.configuration(n)
        return 0

    # -- endings -----------------------------------------------------------------------------------------------------------
    def completion(self, bytes state not None):
        """A shortest text that ends the document from a state.

        Parameters
        ----------
        state : bytes
            The 40 bytes of the state.

        Returns
        -------
        bytes

        Raises
        ------
        LimitError
            Where it is longer than 16 MiB, or, in a greedy grammar that is not separable, where none is found in a bounded
            number of steps.
        """
        cdef State at
        cdef const Configuration* c
        read_state(state, &at)
        best = None
        if at.mode == SEVERAL:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.n_members):
                m = (<const Member*>self.members.at(c.members))[i]
                best = self._shorter(best, m.row, m.lexer)
        else:
            best = self._shorter(best, at.row, at.leaf.v)
        return best[1] + self.rows.ending(best[2])

    def _shorter(self, best, int32_t row, int32_t lexer):
        """The better of `best` and the shortest way on from a member; a way: (length in all, text of the lexeme, row behind)."""
        cdef int32_t behind
        cdef int64_t cost
        if lexer == 0:
            ways = [(b"", row)]
        else:
            ways = []
            for lexeme, leaf in self.lexer.leaves(lexer):
                behind = self.past(row, lexeme)
                ways.append((bytes(self.tables.regexes.shortest(leaf)), behind))
        for text, behind in ways:
            cost = self.rows.row(behind).cost + len(text)
            if best is None or (cost, text) < best[:2]:
                best = cost, text, behind
        return best

    # -- for Python --------------------------------------------------------------------------------------------------------
    def begin(self):
        """The state before the first byte, as 40 bytes."""
        cdef State at
        self.start(&at)
        return written(&at)

    def after(self, bytes state not None, bytes text not None):
        """The state after some bytes; None where the text leaves the language."""
        cdef State at
        cdef uint8_t byte
        read_state(state, &at)
        for byte in text:
            if self.step(&at, byte, True, &at) != ALIVE:
                return None
        return written(&at)

    def may_end(self, bytes state not None):
        """May the text end in a state?"""
        cdef State at
        read_state(state, &at)
        return bool(self.accepting(&at))

    def key(self, bytes state not None):
        """The state under which masks of this one are remembered."""
        cdef State at
        read_state(state, &at)
        self.mask_key(&at, &at)
        return written(&at)

    def accepts(self, bytes text not None):
        """Is the text in the language?"""
        state = self.after(self.begin(), text)
        return state is not None and self.may_end(state)

    def stats(self):
        """Counters of the stores: dict of str to int."""
        return {**self.rows.stats(), "lexer_states": self.lexer.states, "configurations": self.configurations.length,
                "grammar_bytes": self.budget.used}


cdef int read_state(bytes data, State* out) except -1:
    if len(data) != sizeof(State):
        raise ValueError(f"a state has {sizeof(State)} bytes, not {len(data)}")
    memcpy(out, <const char*>data, sizeof(State))
    return 0


cdef bytes written(const State* at):
    return (<const char*>at)[:sizeof(State)]


cdef int push_member(Buffer* b, int32_t* n, int32_t row, int32_t lexer) except -1 nogil:
    (<Member*>room(b, (n[0] + 1) * sizeof(Member)))[n[0]] = Member(row, lexer)
    n[0] += 1
    return 0
