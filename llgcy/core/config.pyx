"""The grammar machine; see config.pxd for its states."""
cimport cython
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.machine cimport read_state, written
from llgcy.core.store cimport hash_bytes
from llgcy.core.tables cimport NO_SKIP, ending_of, may_follow
from llgcy.core.overlap import Overlaps
from llgcy.core.tables import ByToken
from llgcy.errors import GrammarError, LimitError, StateError

cdef enum:
    MAX_MACHINES = 256          # lexemes that are machines
    MAX_MEMBERS = 4096          # of one configuration
    MAX_STATES = 1024           # looked at for traps
    MAX_WORK = 1 << 20          # items of rows touched meanwhile
    MAX_SEARCH = 20_000         # looked at for an ending
    MOST_WARNINGS = 3           # that name places where lexemes overlap


cdef int by_row(const void* x, const void* y) noexcept nogil:
    cdef const Member* a = <const Member*>x
    cdef const Member* b = <const Member*>y
    return ((a.row > b.row) - (a.row < b.row) or (a.lexer > b.lexer) - (a.lexer < b.lexer)
            or (a.nested > b.nested) - (a.nested < b.nested))


cdef int by_lexer(const void* x, const void* y) noexcept nogil:
    cdef const Member* a = <const Member*>x
    cdef const Member* b = <const Member*>y
    return (a.lexer > b.lexer) - (a.lexer < b.lexer) or (a.row > b.row) - (a.row < b.row)


cdef int by_number(const void* x, const void* y) noexcept nogil:
    cdef int32_t a = (<const int32_t*>x)[0], b = (<const int32_t*>y)[0]
    return (a > b) - (a < b)


cdef inline void put(State* out, int32_t mode, int32_t row, int32_t lexer) noexcept nogil:
    memset(out, 0, sizeof(State))
    out.mode, out.row, out.leaf.v = mode, row, lexer


cdef inline void put_alone(State* out, const Member* m) noexcept nogil:
    """The state of one member that is not nested."""
    put(out, WITHIN if m.lexer > 0 else BETWEEN, m.row, m.lexer if m.lexer > 0 else 0)
    out.gap = -m.lexer if m.lexer < 0 else NO_GAP


cdef inline Member alone(const State* at) noexcept nogil:
    """The one member of a state; before the first lexeme nothing has been skipped."""
    return Member(at.row, at.leaf.v if at.mode == WITHIN else -at.gap, 0)


@cython.final
cdef class Chain:
    """The machines that are lexemes of a grammar."""

    def __cinit__(self, machines):
        self.machine = machines[0]
        self.rest = Chain(machines[1:]) if len(machines) > 1 else None

    cdef int step(self, int32_t i, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        return self.rest.step(i - 1, at, byte, grow, out) if i else self.machine.step(at, byte, grow, out)

    cdef int accepting(self, int32_t i, const State* at) except -1 nogil:
        return self.rest.accepting(i - 1, at) if i else self.machine.accepting(at)

    cdef int inside(self, int32_t i, const State* at) except -1 nogil:
        return self.rest.inside(i - 1, at) if i else self.machine.inside(at)

    cdef int leaf_step(self, int32_t i, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        return self.rest.leaf_step(i - 1, at, byte, out) if i else self.machine.leaf_step(at, byte, out)

    cdef int mask_key(self, int32_t i, const State* at, State* out) except -1 nogil:
        return self.rest.mask_key(i - 1, at, out) if i else self.machine.mask_key(at, out)

    cdef int split(self, int32_t i, const State* at, Split* out) except -1 nogil:
        return self.rest.split(i - 1, at, out) if i else self.machine.split(at, out)

    cdef int telling(self, int32_t i, const State* at, uint64_t* out) except -1 nogil:
        return self.rest.telling(i - 1, at, out) if i else self.machine.telling(at, out)

    cdef int free_leaf(self, int32_t i, bint counted, Leaf* out) except -1 nogil:
        return self.rest.free_leaf(i - 1, counted, out) if i else self.machine.free_leaf(counted, out)

    cdef int later(self, int32_t i, const Leaf* at, int32_t n, Leaf* out) except -1 nogil:
        return self.rest.later(i - 1, at, n, out) if i else self.machine.later(at, n, out)

    cdef int32_t white_room(self, int32_t i, const State* at) noexcept nogil:
        return self.rest.white_room(i - 1, at) if i else self.machine.white_room(at)

    cdef bint names_tokens(self, int32_t i) noexcept nogil:
        return self.rest.names_tokens(i - 1) if i else self.machine.names_tokens

    cdef int step_token(self, int32_t i, const State* at, int32_t id, State* out) except -1 nogil:
        return self.rest.step_token(i - 1, at, id, out) if i else self.machine.step_token(at, id, out)

    cdef list tokens_allowed(self, int32_t i, const State* at):
        return self.rest.tokens_allowed(i - 1, at) if i else self.machine.tokens_allowed(at)

    cdef bint counts_tokens(self, int32_t i) noexcept nogil:
        return self.rest.counts_tokens(i - 1) if i else self.machine.counts_tokens

    cdef int tick(self, int32_t i, const State* at, State* out) except -1 nogil:
        return self.rest.tick(i - 1, at, out) if i else self.machine.tick(at, out)

    cdef bint counting(self, int32_t i, const State* at) noexcept nogil:
        return self.rest.counting(i - 1, at) if i else self.machine.counting(at)


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
    GrammarError
        Where greedy lexing would lead to places from which no text can end.
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
        self.lexer = Lexer(tables.lexemes, tables.regexes, self.budget, tables)
        self.skipping = len(tables.skips) > 0
        self.configurations, self.members = Arena(self.budget, sizeof(Configuration)), Arena(self.budget, sizeof(Member))
        self.nexts, self.index = Arena(self.budget, 256 * sizeof(int32_t)), Index(self.budget)
        self.warnings = []
        self.frames, self.nested = Arena(self.budget, sizeof(Frame)), Arena(self.budget, sizeof(State))
        self.frame_index, self.nested_index = Index(self.budget), Index(self.budget)
        self.gaps, self.gap_index = Arena(self.budget, sizeof(Start)), Index(self.budget)
        self.nexts.add(1)                                             # record 0: not made
        self.nested.add(1)                                            # number 0: no nested state
        self._find_machines()
        self._look_at_overlaps()

    def __dealloc__(self):
        free(self.place)
        free(self.starts)
        free(self.closed)
        free(self.going.data)
        free(self.ends.data)
        free(self.ended.data)
        free(self.groups.data)
        free(self.aside.data)
        free(self.between.data)

    def _find_machines(self):
        """Lexemes that are machines, or tokens."""
        cdef Machine machine
        lexemes = self.tables.lexemes
        self.machines = tuple(x for x in lexemes if isinstance(x, Machine))
        self.n_machines = len(self.machines)
        if self.n_machines > MAX_MACHINES:
            raise LimitError(f"a grammar has at most {MAX_MACHINES} JSON documents as lexemes, not {self.n_machines}")
        self.place = <int32_t*>calloc(len(lexemes) + 1, sizeof(int32_t))
        self.starts = <State*>calloc(self.n_machines + 1, sizeof(State))
        self.closed = <State*>calloc(self.n_machines + 1, sizeof(State))
        if self.place == NULL or self.starts == NULL or self.closed == NULL:
            raise MemoryError()
        n = 0
        for i, lexeme in enumerate(lexemes):
            self.place[i] = TOKENS if isinstance(lexeme, tuple) else REGEX
            self.names_tokens = self.names_tokens or isinstance(lexeme, tuple) and len(lexeme) > 0
            if isinstance(lexeme, Machine):
                self.place[i], machine = n, lexeme
                machine.start(&self.starts[n])
                self.names_tokens = self.names_tokens or machine.names_tokens
                self.counts_tokens = self.counts_tokens or machine.counts_tokens
                n += 1
        if n:
            self.chain = Chain(self.machines)

    def _look_at_overlaps(self):
        """Finds out how lexing has to go, and refuses greedy grammars that lead into traps."""
        cdef GrammarTables tables = self.tables
        overlaps = Overlaps(tables)
        self.separable = overlaps.settled and not overlaps.conflicts and not overlaps.hidden
        self.single = self.separable or tables.lexing == "greedy"
        self.parting = b""
        if self.separable or tables.lexing == "exact":
            return
        stuck = overlaps.stuck()
        if stuck:
            raise GrammarError(f"greedy lexing can never leave {tables.names[stuck[0]]}: whatever may follow goes on in it. Exclude "
                               "from it what it may be followed by, or use exact lexing")
        self.parting = overlaps.parting()
        if not self.parting:
            if all(getattr(machine, "judged", True) for machine in self.machines):      # else where a limit ends is not known
                self._look_for_traps()
            self._warn_of(overlaps)

    def _warn_of(self, overlaps):
        """Where a lexeme goes on with what may follow one that has ended, and nothing that is skipped can stand between."""
        skips = set(self.tables.skips)
        found = [(a, b, heads) for (a, b), heads in sorted(overlaps.conflicts.items()) if a not in skips and b not in skips]
        for a, b, heads in found[:MOST_WARNINGS]:
            names, byte = self.tables.names, (heads & -heads).bit_length() - 1
            shown = repr(chr(byte)) if 32 < byte < 127 else f"byte 0x{byte:02X}"
            self.warnings.append(f"greedy lexing: where {names[a]} ends, {'it' if a == b else names[b]} goes on with {shown}, and so may begin what follows; "
                                 "the longer one is read, and nothing else is tried")
        if len(found) > MOST_WARNINGS:
            self.warnings.append(f"greedy lexing: {len(found) - MOST_WARNINGS} more places of this kind")

    def _look_for_traps(self):
        """Walks the states of a greedy grammar as far as the fuel goes: is there one from which nothing can end?"""
        cdef State at, to
        cdef int byte
        states, number, parents, back, live = [self.begin()], {}, [None], [[]], []
        number[states[0]], looked = 0, 0
        for i, state in enumerate(states):                            # grows while it runs
            read_state(state, &at)
            if looked < i or i >= MAX_STATES or self.rows.work + self.rows.merge_work > MAX_WORK:
                live.append(i)                                        # not looked at: as far as anyone knows it can end
                continue
            looked = i + 1
            if self.accepting(&at):
                live.append(i)
            after = {}
            for byte in range(256):
                if self.step(&at, byte, True, &to) == ALIVE:
                    after.setdefault(written(&to), byte)
                    if self.counts_tokens and self.tick(&to, &to) == ALIVE:
                        after.setdefault(written(&to), byte)
            for token, _ in self.tokens_allowed(&at):
                if self.step_token(&at, token, &to) == ALIVE:
                    after.setdefault(written(&to), None)
            for new, first in after.items():
                if new not in number:
                    number[new] = len(states)
                    states.append(new)
                    parents.append((i, first))
                    back.append([])
                back[number[new]].append(i)
        can_end = set(live)
        for k in live:                                                # grows while it runs
            for i in back[k]:
                if i not in can_end:
                    can_end.add(i)
                    live.append(i)
        for k in range(looked):
            if k not in can_end:
                text = bytearray()
                while parents[k] is not None:
                    if parents[k][1] is not None:                     # a token has no text
                        text.append(parents[k][1])
                    k = parents[k][0]
                raise GrammarError(f"greedy lexing leads into a trap: behind {bytes(reversed(text))!r} no text of the grammar can end. "
                                   "Make lexemes end where what follows begins, or use exact lexing")
        if looked < len(states):
            self.warnings.append("greedy lexing may lead where no text can end: some lexemes may end where others go on with the first "
                                 f"byte of what follows, and {looked:,} states are not all; exact lexing has no such places")

    # -- moving ----------------------------------------------------------------------------------------------------------
    cdef int start(self, State* out) except -1 nogil:
        put(out, FRESH if self.skipping and not self.tables.skip_first else BETWEEN, self.rows.start, 0)
        return ALIVE

    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        cdef int32_t row = at.row, lexer = at.leaf.v, gap = NO_SKIP_YET if at.mode == FRESH else at.gap, to
        if at.mode == WITHIN:
            to = self.lexer.next(lexer, byte)
            if to & OPEN and (self.single or not lexer & ENDED):
                if out != at:
                    out[0] = at[0]
                out.leaf.v = to
                return ALIVE
            if not lexer & ENDED or (self.single and to != NOTHING):
                return DEAD if to == NOTHING else self.enter(row, to, out)
            if to != NOTHING or (self.tables.gaps and self.lexer.joint(lexer).n_ended > 1):
                return self.leave(row, lexer, byte, grow, out)
            row, gap = self.behind(row, lexer), self.gap_behind(lexer)
        elif at.mode >= NESTED:
            return self.step_nested(at, byte, grow, out)
        elif at.mode == SEVERAL:
            return self.several(row, byte, grow, out)
        elif at.mode == APART:
            return self.step_apart(row, byte, grow, out)
        return self.begin_lexeme(row, gap, byte, grow, out)

    cdef int ready_step(self, const State* at, uint8_t byte, State* out) noexcept nogil:
        cdef int32_t row = at.row, lexer = at.leaf.v, gap = NO_SKIP_YET if at.mode == FRESH else at.gap, to
        cdef const Configuration* c
        cdef const Member* m
        if at.mode == WITHIN:
            to = self.ready_next(lexer, byte)
            if to == 0 or (to != NOTHING and lexer & ENDED and not self.single):
                return MISS
            if to != NOTHING:
                return self.ready_enter(row, to, out)
            if not lexer & ENDED:
                return DEAD
            row, gap = self.ready_behind(row, lexer), self.gap_behind(lexer)
            if row == NO_ROW:
                return MISS
        elif at.mode == SEVERAL:
            c = <const Configuration*>self.configurations.at(row)
            to = atomic_load(&c.nexts)
            if to:
                to = atomic_load(<int32_t*>self.nexts.at(to) + byte)
            if to < 2:
                return DEAD if to else MISS
            c = <const Configuration*>self.configurations.at(to - 2)
            m = <const Member*>self.members.at(c.members)
            if c.n_members > 1:
                put(out, SEVERAL, to - 2, 0)
            else:
                put_alone(out, m)
            return ALIVE
        elif at.mode >= NESTED or at.mode == APART:
            return MISS
        if self.n_machines:
            return MISS
        lexer = self.ready_start(row, gap)
        if lexer == 0 or lexer == NOTHING:
            return DEAD if lexer else MISS
        to = self.ready_next(lexer, byte)
        if to == 0 or to == NOTHING:
            return DEAD if to else MISS
        return self.ready_enter(row, to, out)

    cdef int32_t ready_next(self, int32_t lexer, uint8_t byte) noexcept nogil:
        """Joint state after one byte, or NOTHING; 0: not known."""
        return atomic_load(<int32_t*>self.lexer.nexts.at(lexer >> NUMBER) + byte)

    cdef int ready_enter(self, int32_t row, int32_t lexer, State* out) noexcept nogil:
        """enter(), or MISS."""
        if lexer & OPEN:
            put(out, WITHIN, row, lexer)
            return ALIVE
        row = self.ready_behind(row, lexer)
        if row == NO_ROW:
            return MISS
        put(out, BETWEEN, row, 0)
        out.gap = self.gap_behind(lexer)
        return ALIVE

    cdef int32_t ready_behind(self, int32_t row, int32_t lexer) noexcept nogil:
        """The row behind the one lexeme that ends in a joint state; NO_ROW: not known."""
        cdef const Joint* j = self.lexer.joint(lexer)
        cdef int32_t lexeme
        if j.n_ended != 1:
            return NO_ROW
        lexeme = (<const int32_t*>self.lexer.ints.at(j.ended))[0]
        return row if self.tables.skipped[lexeme] else self.rows._known(row, lexeme)

    cdef int32_t ready_start(self, int32_t row, int32_t gap) noexcept nogil:
        """starting(); 0: not known."""
        cdef int32_t shape = self.rows.row(row).shape
        return atomic_load(&self.rows.shape(shape).lexer) if gap == NO_GAP else self.known_start(shape, gap)

    cdef int begin_lexeme(self, int32_t row, int32_t gap, uint8_t byte, bint grow, State* out) except -1 nogil:
        """The first byte of a lexeme."""
        cdef int32_t lexer, to, n_going = 0, n_ends = 0
        if self.n_machines:
            if self.start_all(row, gap, byte, grow, &n_going, &n_ends) == ASK:
                return ASK
            return self.settle(n_going, n_ends, out)
        lexer = self.starting(row, gap)
        to = NOTHING if lexer == NOTHING else self.lexer.next(lexer, byte)
        return DEAD if to == NOTHING else self.enter(row, to, out)

    cdef int enter(self, int32_t row, int32_t lexer, State* out) except -1 nogil:
        """The state of one member that has just read a byte: at once behind the lexeme where nothing goes on."""
        cdef int32_t n_ends = 0
        if lexer & OPEN:
            put(out, WITHIN, row, lexer)
        elif self.tables.gaps and self.lexer.joint(lexer).n_ended > 1:
            self.push_behind(row, lexer, &self.ends, &n_ends)
            return self.settle(0, n_ends, out)
        else:
            put(out, BETWEEN, self.behind(row, lexer), 0)
            out.gap = self.gap_behind(lexer)
        return ALIVE

    cdef int leave(self, int32_t row, int32_t lexer, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte where lexemes that began in `row` have ended: others go on with it, and the next ones begin."""
        cdef int32_t to = self.lexer.next(lexer, byte), i, n = 0, n_going = 0, n_ends = 0
        cdef Member m
        if to != NOTHING:
            self.add_read(row, to, &n_going, &n_ends)
        self.push_behind(row, lexer, &self.groups, &n)
        n = self.grouped(&self.groups, n)
        for i in range(n):
            m = (<Member*>self.groups.data)[i]
            if self.start_all(m.row, -m.lexer, byte, grow, &n_going, &n_ends) == ASK:
                return ASK
        return self.settle(n_going, n_ends, out)

    cdef int push_behind(self, int32_t row, int32_t lexer, Buffer* b, int32_t* n) except -1 nogil:
        cdef int32_t i, lexeme
        if not self.tables.gaps:
            push_member(b, n, self.behind(row, lexer), 0, 0)
            return 0
        for i in range(self.lexer.joint(lexer).n_ended):
            lexeme = (<const int32_t*>self.lexer.ints.at(self.lexer.joint(lexer).ended))[i]
            push_member(b, n, self.past(row, lexeme), -self.tables.skipped[lexeme], 0)
        return 0

    cdef int32_t grouped(self, Buffer* b, int32_t n) except -1 nogil:
        """Members without a lexeme, those with one gap made one; how many are left."""
        cdef Member* m = <Member*>b.data
        cdef int32_t i = 0, k = 0, n_rows
        if n > 1:
            qsort(m, n, sizeof(Member), by_lexer)
        while i < n:
            m[k], n_rows = m[i], 0
            while i < n and m[i].lexer == m[k].lexer:
                push(&self.ended, &n_rows, m[i].row)
                i += 1
            m[k].row = self.rows.union_of(<int32_t*>self.ended.data, n_rows)
            k += 1
        return k

    cdef int32_t gap_behind(self, int32_t lexer) noexcept nogil:
        cdef const Joint* j
        if not self.tables.gaps:
            return NO_GAP
        j = self.lexer.joint(lexer)
        return self.tables.skipped[(<int32_t*>self.lexer.ints.at(j.ended))[0]] if j.n_ended == 1 else NO_GAP

    cdef int32_t starting(self, int32_t row, int32_t gap) except -1 nogil:
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        if gap != NO_GAP:
            return self.starting_behind(shape, self.rows.row(row).shape, gap)
        if shape.lexer == 0:
            atomic_store(&shape.lexer, self.start_state(shape, NO_GAP))
        return shape.lexer

    cdef int32_t starting_behind(self, const Shape* shape, int32_t handle, int32_t gap) except -1 nogil:
        cdef Start key = Start(handle, gap, 0)
        cdef uint64_t hash = hash_bytes(&key, sizeof(Start))
        cdef int32_t at, known = self.known_start(handle, gap)
        if known == 0:
            at = self.gaps.add(1)
            known = key.lexer = self.start_state(shape, gap)
            (<Start*>self.gaps.at(at))[0] = key
            self.gap_index.add(hash, at)
        return known

    cdef int32_t known_start(self, int32_t shape, int32_t gap) noexcept nogil:
        """What starting_behind() has made; 0: nothing yet. Reads only."""
        cdef Start key = Start(shape, gap, 0)
        cdef Probe probe
        cdef const Start* known
        cdef int32_t at
        self.gap_index.begin(hash_bytes(&key, sizeof(Start)), &probe)
        while True:
            at = self.gap_index.next(&probe)
            if at < 0:
                return 0
            known = <const Start*>self.gaps.at(at)
            if known.shape == shape and known.gap == gap:
                return known.lexer

    cdef int32_t start_state(self, const Shape* shape, int32_t gap) except -1 nogil:
        """Text is skipped only where something may follow it."""
        cdef const int32_t* symbols = <const int32_t*>self.rows.ints.at(shape.symbols) if shape.n_lexemes else NULL
        cdef int32_t i, before
        self.lexer.begin()
        for i in range(shape.n_lexemes):
            if not may_follow(self.tables.follows, self.tables.n_lexemes, gap, symbols[i]):
                continue
            if self.place[symbols[i]] == REGEX:
                self.lexer.add(symbols[i], self.lexer.terms[symbols[i]])
            before = self.tables.before[symbols[i]]
            if gap != NO_SKIP_YET and before != NO_SKIP and not (gap == self.tables.skipped[before] and self.tables.once[gap - 1]):
                self.lexer.add(before, self.lexer.terms[before])
        if gap != NO_SKIP_YET and self.tables.skip_last and shape.accept and self.skipping:
            before = self.tables.before[0]                            # all have the same
            self.lexer.add(before, self.lexer.terms[before])
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
        return row if self.tables.skipped[lexeme] else self.rows.goto(row, lexeme)

    # -- several members -------------------------------------------------------------------------------------------------
    # While a byte is read, members are collected in `going` and rows behind lexemes that end, as members, in `ends`. Where lexing is
    # exact, a member means that its lexeme goes on, and the members without a lexeme, one for each gap, stand for all that have ended.
    # In greedy lexing members may have ended too, while another one goes on.
    cdef int branch(self, const Member* members, int32_t n, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte for each member, all of them alive side by side."""
        cdef int32_t i, to, n_going = 0, n_ends = 0
        cdef int result
        cdef State next
        for i in range(n):
            if members[i].nested:
                result = self.step_inner(<State*>self.nested.at(members[i].nested), byte, grow, &next)
                if result == ASK:
                    return ASK
                if result == ALIVE:
                    self.add_nested(&next, &n_going, &n_ends)
            elif members[i].lexer > 0:
                to = self.lexer.next(members[i].lexer, byte)
                if to != NOTHING:
                    self.add_read(members[i].row, to, &n_going, &n_ends)
            elif self.start_all(members[i].row, -members[i].lexer, byte, grow, &n_going, &n_ends) == ASK:
                return ASK
        return self.settle(n_going, n_ends, out)

    cdef int munch(self, const Member* members, int32_t n, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte where lexing is greedy: only where no member goes on, those that have ended are over."""
        cdef int32_t i, to, n_going = 0, n_ends = 0
        cdef int result
        cdef Member m
        cdef State next
        for i in range(n):
            if members[i].nested:
                result = self.step_inner(<State*>self.nested.at(members[i].nested), byte, grow, &next)
                if result == ASK:
                    return ASK
                if result == ALIVE:
                    self.add_nested(&next, &n_going, &n_ends)
            elif members[i].lexer > 0:
                to = self.lexer.next(members[i].lexer, byte)
                if to != NOTHING:
                    self.add_read(members[i].row, to, &n_going, &n_ends)
        if n_going or n_ends:
            return self.settle(n_going, n_ends, out)
        n = self.behind_all(members, n)
        for i in range(n):
            m = (<Member*>self.groups.data)[i]
            if self.start_all(m.row, -m.lexer, byte, grow, &n_going, &n_ends) == ASK:
                return ASK
        return self.settle(n_going, n_ends, out)

    cdef int32_t behind_all(self, const Member* members, int32_t n) except -1 nogil:
        """The rows behind all members of a configuration that have ended, as members in `groups`; how many they are."""
        cdef int32_t i, k = 0, row
        for i in range(n):
            if members[i].nested:
                row = self.behind_nested(<State*>self.nested.at(members[i].nested)) if self.single else 0
                if row:
                    push_member(&self.groups, &k, row, 0, 0)
            elif members[i].lexer <= 0:
                push_member(&self.groups, &k, members[i].row, members[i].lexer, 0)
            elif self.single and members[i].lexer & ENDED:
                self.push_behind(members[i].row, members[i].lexer, &self.groups, &k)
        return self.grouped(&self.groups, k)

    cdef int start_all(self, int32_t row, int32_t gap, uint8_t byte, bint grow, int32_t* n_going, int32_t* n_ends) except -1 nogil:
        """The first byte of every lexeme that may start in a row. ALIVE, or ASK."""
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        cdef const int32_t* symbols
        cdef int32_t lexer = self.starting(row, gap), to, i, k
        cdef int result
        cdef State next
        if lexer != NOTHING:
            to = self.lexer.next(lexer, byte)
            if to != NOTHING:
                self.add_read(row, to, n_going, n_ends)
        if self.n_machines and shape.n_lexemes:
            symbols = <const int32_t*>self.rows.ints.at(shape.symbols)
            for i in range(shape.n_lexemes):
                k = self.place[symbols[i]]
                if k >= 0 and may_follow(self.tables.follows, self.tables.n_lexemes, gap, symbols[i]):
                    result = self.chain.step(k, &self.starts[k], byte, grow, &next)
                    if result == ASK:
                        return ASK
                    if result == ALIVE:
                        self.fold(&next, row, symbols[i], &next)
                        self.add_nested(&next, n_going, n_ends)
        return ALIVE

    cdef int add_read(self, int32_t row, int32_t lexer, int32_t* n_going, int32_t* n_ends) except -1 nogil:
        """Lexemes that began in `row` have read a byte."""
        if lexer & ENDED and not (self.single and lexer & OPEN):
            self.push_behind(row, lexer, &self.ends, n_ends)
        if lexer & OPEN:
            push_member(&self.going, n_going, row, lexer, 0)
        return 0

    cdef int add_nested(self, const State* at, int32_t* n_going, int32_t* n_ends) except -1 nogil:
        """A machine has read a byte."""
        cdef int32_t row = self.behind_nested(at)
        cdef bint on = row == 0 or self.goes_on(at)
        if row and not (self.single and on):
            push_member(&self.ends, n_ends, row, 0, 0)
        if on:
            push_member(&self.going, n_going, 0, 0, self.keep_nested(at))
        return 0

    cdef int settle(self, int32_t n_going, int32_t n_ends, State* out) except -1 nogil:
        """The state of what was collected."""
        cdef const Member* m
        cdef int32_t i
        n_ends = self.grouped(&self.ends, n_ends)
        if n_going == 0:
            if n_ends == 1:
                put_alone(out, <Member*>self.ends.data)
            if n_ends < 2:
                return ALIVE if n_ends else DEAD
        else:
            if n_going > 1 or not self.implied(n_ends):
                n_going = self.join(n_going)
            if n_going == 1 and self.implied(n_ends):
                m = <Member*>self.going.data
                if m.nested:
                    out[0] = (<State*>self.nested.at(m.nested))[0]
                else:
                    put_alone(out, m)
                return ALIVE
        for i in range(n_ends):
            m = <Member*>self.ends.data + i
            push_member(&self.going, &n_going, m.row, m.lexer, 0)
        if n_going > MAX_MEMBERS:
            with gil:
                raise LimitError(f"the text can be cut into lexemes in more than {MAX_MEMBERS:,} ways at once; "
                                 "make what follows a lexeme start with a byte that cannot go on in it")
        put(out, SEVERAL, self.configuration(n_going), 0)
        return ALIVE

    cdef bint implied(self, int32_t n_ends) except -1 nogil:
        """Is what has ended just what the first member itself says has ended?"""
        cdef Member m = (<Member*>self.going.data)[0]
        cdef int32_t n = 0, row
        if not self.single and m.nested:
            row = self.behind_nested(<State*>self.nested.at(m.nested))
            if row:
                push_member(&self.groups, &n, row, 0, 0)
        elif not self.single and m.lexer & ENDED:
            self.push_behind(m.row, m.lexer, &self.groups, &n)
            n = self.grouped(&self.groups, n)
        return n == n_ends and (n == 0 or memcmp(self.groups.data, self.ends.data, n * sizeof(Member)) == 0)

    cdef int32_t join(self, int32_t n) except -1 nogil:
        """Members in one row join their lexer states, those in one lexer state their rows; how many are left. What has ended is
        counted already where lexing is exact, so only parts that go on are kept."""
        cdef Member* m = <Member*>self.going.data
        cdef int32_t i, k, n_rows
        if not self.single:
            for i in range(n):
                if m[i].lexer:
                    m[i].lexer = self.lexer.open_part(m[i].lexer)
        n = self.join_lexers(n)
        qsort(m, n, sizeof(Member), by_lexer)
        i = k = 0
        while i < n:
            m[k] = m[i]
            if m[k].nested:
                i += 1
            else:
                n_rows = 0
                while i < n and m[i].nested == 0 and m[i].lexer == m[k].lexer:
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
            if m[first].nested:
                while i < n and m[i].nested == m[first].nested:
                    i += 1
            elif i < n and m[i].row == m[first].row:
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

    cdef int several(self, int32_t configuration, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte for a configuration; the outcome is remembered where it can be."""
        cdef Configuration* c = <Configuration*>self.configurations.at(configuration)
        cdef int32_t n = 0, to
        cdef const Member* m = <const Member*>self.members.at(c.members)
        if self.single:
            return self.munch(m, c.n_members, byte, grow, out)
        if self.n_machines:                                           # what they answer depends on `grow`
            return self.branch(m, c.n_members, byte, grow, out)
        if c.nexts == 0:
            c.nexts = self.nexts.add(1)
        to = (<int32_t*>self.nexts.at(c.nexts))[byte]
        if to == 0:
            if self.branch(m, c.n_members, byte, grow, out) == DEAD:
                to = 1
            elif out.mode == SEVERAL:
                to = out.row + 2
            else:
                push_member(&self.going, &n, out.row, out.leaf.v if out.mode == WITHIN else -out.gap, 0)
                to = self.configuration(1) + 2
            atomic_store(<int32_t*>self.nexts.at(c.nexts) + byte, to)
        if to == 1:
            return DEAD
        c = <Configuration*>self.configurations.at(to - 2)
        m = <const Member*>self.members.at(c.members)
        if c.n_members > 1:
            put(out, SEVERAL, to - 2, 0)
        else:
            put_alone(out, m)
        return ALIVE

    # -- machines as lexemes ---------------------------------------------------------------------------------------------
    cdef int fold(self, const State* inner, int32_t row, int32_t lexeme, State* out) except -1 nogil:
        """The state of a machine that is lexeme `lexeme`, begun in `row`. Of the leaf, `lang` also tells the machine."""
        cdef Frame frame = Frame(row, lexeme, inner.row)
        cdef uint64_t hash = hash_bytes(&frame, sizeof(Frame))
        cdef Probe probe
        cdef int32_t at
        self.frame_index.begin(hash, &probe)
        while True:
            at = self.frame_index.next(&probe)
            if at < 0:
                at = self.frames.add(1)
                (<Frame*>self.frames.at(at))[0] = frame
                self.frame_index.add(hash, at)
                break
            if memcmp(self.frames.at(at), &frame, sizeof(Frame)) == 0:
                break
        if out != inner:
            out[0] = inner[0]
        out.mode, out.row = NESTED + inner.mode, at
        self.fold_leaf(self.place[lexeme], &inner.leaf, &out.leaf)
        return 0

    cdef Frame* unfold(self, const State* at, State* inner) noexcept nogil:
        """The machine's own state."""
        cdef Frame* frame = <Frame*>self.frames.at(at.row)
        inner[0] = at[0]
        inner.mode, inner.row = at.mode - NESTED, frame.inner
        self.unfold_leaf(&at.leaf, &inner.leaf)
        return frame

    cdef int fold_leaf(self, int32_t machine, const Leaf* inner, Leaf* out) noexcept nogil:
        if out != inner:
            out[0] = inner[0]
        out.lang = 1 + inner.lang * self.n_machines + machine         # 0: the lexer's
        return 0

    cdef int32_t unfold_leaf(self, const Leaf* at, Leaf* inner) noexcept nogil:
        """The machine's own leaf; the number of the machine."""
        cdef int32_t machine = (at.lang - 1) % self.n_machines
        inner[0] = at[0]
        inner.lang = (at.lang - 1) // self.n_machines
        return machine

    cdef int step_inner(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte inside a machine: DEAD, ALIVE or ASK."""
        cdef State inner
        cdef Frame* frame = self.unfold(at, &inner)
        cdef int result = self.chain.step(self.place[frame.lexeme], &inner, byte, grow, &inner)
        if result == ALIVE:
            self.fold(&inner, frame.row, frame.lexeme, out)
        return result

    cdef int step_nested(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte where a machine is the only member."""
        cdef int32_t row = self.behind_nested(at)
        cdef int result
        cdef State next
        cdef Member[2] both
        if row and not self.single:
            both[0], both[1] = Member(0, 0, self.keep_nested(at)), Member(row, 0, 0)
            return self.branch(both, 2, byte, grow, out)
        result = self.step_inner(at, byte, grow, &next)
        if result == DEAD and row:
            return self.begin_lexeme(row, NO_GAP, byte, grow, out)
        if result == ALIVE:
            row = self.behind_nested(&next)
            if row and not self.goes_on(&next):
                put(out, BETWEEN, row, 0)
            else:
                out[0] = next
        return result

    cdef int32_t behind_nested(self, const State* at) except -1 nogil:
        """The row behind a machine that may end here; 0 where it may not."""
        cdef State inner
        cdef Frame* frame = self.unfold(at, &inner)
        return self.rows.goto(frame.row, frame.lexeme) if self.chain.accepting(self.place[frame.lexeme], &inner) else 0

    cdef int goes_on(self, const State* at) except -1 nogil:
        """Does any byte go on in a machine that may end here?"""
        cdef State inner, next
        cdef int32_t k = self.place[self.unfold(at, &inner).lexeme], i
        if memcmp(&inner, &self.closed[k], sizeof(State)) == 0:
            return 0
        for i in range(256):
            if self.chain.step(k, &inner, (i + 0x30) & 0xFF, False, &next) != DEAD:     # digits first: numbers go on
                return 1
        if self.chain.names_tokens(k):
            with gil:
                if self.chain.tokens_allowed(k, &inner):
                    return 1
        self.closed[k] = inner
        return 0

    cdef int32_t keep_nested(self, const State* at) except -1 nogil:
        """Number of a nested state."""
        cdef uint64_t hash = hash_bytes(at, sizeof(State))
        cdef Probe probe
        cdef int32_t number
        self.nested_index.begin(hash, &probe)
        while True:
            number = self.nested_index.next(&probe)
            if number < 0:
                break
            if memcmp(self.nested.at(number), at, sizeof(State)) == 0:
                return number
        number = self.nested.add(1)
        (<State*>self.nested.at(number))[0] = at[0]
        self.nested_index.add(hash, number)
        return number

    # -- tokens as lexemes, states apart -----------------------------------------------------------------------------------
    cdef int step_token(self, const State* at, int32_t id, State* out) except -1 nogil:
        cdef const Configuration* c
        cdef int32_t i, n_going = 0, n_ends = 0
        cdef Member one
        cdef State next
        if at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.members, c.members + c.n_members):
                if self.step_token(<State*>self.nested.at((<const Member*>self.members.at(i)).nested), id, &next) == ALIVE:
                    self.add_apart(&next, &n_going, &n_ends)
            return self.settle_apart(n_going, n_ends, out)
        if at.mode == SEVERAL:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.members, c.members + c.n_members):
                self.token_member(<const Member*>self.members.at(i), id, &n_going, &n_ends)
        elif at.mode >= NESTED:
            self.token_nested(at, id, &n_going, &n_ends)
        else:
            one = alone(at)
            self.token_member(&one, id, &n_going, &n_ends)
        return self.settle(n_going, n_ends, out)

    cdef int token_member(self, const Member* m, int32_t id, int32_t* n_going, int32_t* n_ends) except -1 nogil:
        """One member reads a token as a unit, which begins where what was read before has ended."""
        cdef int32_t i, n = 0
        cdef Member behind
        if m.nested:
            self.token_nested(<State*>self.nested.at(m.nested), id, n_going, n_ends)
        elif m.lexer <= 0:
            self.token_rows(m.row, -m.lexer, id, n_going, n_ends)
        elif m.lexer & ENDED:
            self.push_behind(m.row, m.lexer, &self.groups, &n)
            for i in range(n):
                behind = (<Member*>self.groups.data)[i]
                self.token_rows(behind.row, -behind.lexer, id, n_going, n_ends)
        return 0

    cdef int token_nested(self, const State* at, int32_t id, int32_t* n_going, int32_t* n_ends) except -1 nogil:
        cdef State inner
        cdef Frame* frame = self.unfold(at, &inner)
        cdef int32_t row
        if self.chain.step_token(self.place[frame.lexeme], &inner, id, &inner) == ALIVE:
            self.fold(&inner, frame.row, frame.lexeme, &inner)
            self.add_nested(&inner, n_going, n_ends)
        row = self.behind_nested(at)
        if row:
            self.token_rows(row, NO_GAP, id, n_going, n_ends)
        return 0

    cdef int token_rows(self, int32_t row, int32_t gap, int32_t id, int32_t* n_going, int32_t* n_ends) except -1 nogil:
        """A token where a lexeme may start."""
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        cdef const int32_t* symbols = <const int32_t*>self.rows.ints.at(shape.symbols) if shape.n_lexemes else NULL
        cdef int32_t i, k
        cdef State next
        for i in range(shape.n_lexemes):
            k = self.place[symbols[i]]
            if not may_follow(self.tables.follows, self.tables.n_lexemes, gap, symbols[i]):
                continue
            if k == TOKENS:
                if self.tables.has_token(symbols[i], id):
                    push_member(&self.ends, n_ends, self.rows.goto(row, symbols[i]), 0, 0)
            elif k >= 0 and self.chain.step_token(k, &self.starts[k], id, &next) == ALIVE:
                self.fold(&next, row, symbols[i], &next)
                self.add_nested(&next, n_going, n_ends)
        return 0

    cdef list tokens_allowed(self, const State* at):
        cdef const Configuration* c
        cdef Member one
        cdef int32_t i
        out = []
        if not self.names_tokens:
            return out
        if at.mode == SEVERAL or at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.members, c.members + c.n_members):
                out += self._tokens_of(<const Member*>self.members.at(i))
            return out
        if at.mode >= NESTED:
            return self._tokens_in(at)
        one = alone(at)
        return self._tokens_of(&one)

    cdef list _tokens_of(self, const Member* m):
        cdef Member behind
        cdef int32_t i, n = 0
        if m.nested:
            return self.tokens_allowed(<State*>self.nested.at(m.nested))
        if m.lexer <= 0:
            return self._tokens_behind(m.row, -m.lexer)
        out = []
        if m.lexer & ENDED:
            self.push_behind(m.row, m.lexer, &self.groups, &n)
            for i in range(n):
                behind = (<Member*>self.groups.data)[i]
                out += self._tokens_behind(behind.row, -behind.lexer)
        return out

    cdef list _tokens_behind(self, int32_t row, int32_t gap):
        cdef Shape* shape
        cdef const int32_t* symbols
        cdef int32_t i, j, k
        out = []
        shape = self.rows.shape(self.rows.row(row).shape)
        symbols = <const int32_t*>self.rows.ints.at(shape.symbols) if shape.n_lexemes else NULL
        for i in range(shape.n_lexemes):
            k = self.place[symbols[i]]
            if not may_follow(self.tables.follows, self.tables.n_lexemes, gap, symbols[i]):
                continue
            if k == TOKENS:
                for j in range(self.tables.ids.first[symbols[i]], self.tables.ids.first[symbols[i] + 1], 2):
                    out.append((self.tables.ids.data[j], self.tables.ids.data[j + 1]))
            elif k >= 0:
                out += self.chain.tokens_allowed(k, &self.starts[k])
        return out

    cdef list _tokens_in(self, const State* at):
        cdef State inner
        cdef Frame* frame = self.unfold(at, &inner)
        cdef int32_t behind = self.behind_nested(at)
        return self.chain.tokens_allowed(self.place[frame.lexeme], &inner) + (self._tokens_behind(behind, NO_GAP) if behind else [])

    cdef int either(self, const State* a, const State* b, State* out) except -1 nogil:
        cdef int32_t n = 0, n_rows = 0
        self.add_apart(a, &n, &n_rows)
        self.add_apart(b, &n, &n_rows)
        self.settle_apart(n, n_rows, out)
        return 0

    cdef int add_apart(self, const State* at, int32_t* n, int32_t* n_rows) except -1 nogil:
        cdef const Configuration* c
        cdef int32_t i
        if at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.members, c.members + c.n_members):
                self.add_apart(<State*>self.nested.at((<const Member*>self.members.at(i)).nested), n, n_rows)
        elif at.mode == BETWEEN and at.gap == NO_GAP:
            push(&self.between, n_rows, at.row)
        else:
            push(&self.aside, n, self.keep_nested(at))
        return 0

    cdef int settle_apart(self, int32_t n, int32_t n_rows, State* out) except -1 nogil:
        """The state of the states set aside, and of the rows between lexemes, which are one."""
        cdef int32_t i, k = 0
        cdef int32_t* aside
        cdef State rows
        if n_rows:
            put(&rows, BETWEEN, self.rows.union_of(<int32_t*>self.between.data, n_rows), 0)
            push(&self.aside, &n, self.keep_nested(&rows))
        if n == 0:
            return DEAD
        aside = <int32_t*>self.aside.data
        qsort(aside, n, sizeof(int32_t), by_number)
        for i in range(n):
            if k == 0 or aside[i] != aside[k - 1]:
                aside[k] = aside[i]
                k += 1
        if k == 1:
            out[0] = (<State*>self.nested.at(aside[0]))[0]
            return ALIVE
        if k > MAX_MEMBERS:
            with gil:
                raise LimitError(f"the tokens can be read in more than {MAX_MEMBERS:,} ways at once, by their bytes and as units")
        n = 0
        for i in range(k):
            push_member(&self.going, &n, 0, 0, aside[i])
        put(out, APART, self.configuration(n), 0)
        return ALIVE

    cdef int step_apart(self, int32_t configuration, uint8_t byte, bint grow, State* out) except -1 nogil:
        cdef const Configuration* c = <const Configuration*>self.configurations.at(configuration)
        cdef int32_t i, n = 0, n_rows = 0
        cdef int result
        cdef State next
        for i in range(c.members, c.members + c.n_members):
            result = self.step(<State*>self.nested.at((<const Member*>self.members.at(i)).nested), byte, grow, &next)
            if result == ASK:
                return ASK
            if result == ALIVE:
                self.add_apart(&next, &n, &n_rows)
        return self.settle_apart(n, n_rows, out)

    # -- the end of a token ------------------------------------------------------------------------------------------------
    cdef int tick(self, const State* at, State* out) except -1 nogil:
        if self.counts_tokens:
            if at.mode >= NESTED:
                return self.tick_nested(at, out)
            if at.mode == SEVERAL:
                return self.tick_several(at.row, out)
            if at.mode == APART:
                return self.tick_apart(at.row, out)
        if out != at:
            out[0] = at[0]
        return ALIVE

    cdef int tick_nested(self, const State* at, State* out) except -1 nogil:
        """Where the tokens are spent, the machine has ended."""
        cdef State inner, next
        cdef Frame* frame = self.unfold(at, &inner)
        cdef int32_t k = self.place[frame.lexeme], row
        cdef int result
        if not self.chain.counts_tokens(k):
            if out != at:
                out[0] = at[0]
            return ALIVE
        result = self.chain.tick(k, &inner, &inner)
        if result != ALIVE:
            return result
        self.fold(&inner, frame.row, frame.lexeme, &next)
        row = self.behind_nested(&next)
        if row and not self.goes_on(&next):
            put(out, BETWEEN, row, 0)
        else:
            out[0] = next
        return ALIVE

    cdef int tick_several(self, int32_t configuration, State* out) except -1 nogil:
        cdef const Configuration* c = <const Configuration*>self.configurations.at(configuration)
        cdef const Member* m
        cdef int32_t i, n_going = 0, n_ends = 0
        cdef int result
        cdef State next
        for i in range(c.members, c.members + c.n_members):
            m = <const Member*>self.members.at(i)
            if m.nested:
                result = self.tick_nested(<State*>self.nested.at(m.nested), &next)
                if result == ASK:
                    return ASK
                if result == ALIVE and next.mode >= NESTED:
                    push_member(&self.going, &n_going, 0, 0, self.keep_nested(&next))
                elif result == ALIVE and self.single:                 # where lexing is exact its end is a member already
                    push_member(&self.ends, &n_ends, next.row, 0, 0)
            elif m.lexer > 0:
                push_member(&self.going, &n_going, m.row, m.lexer, 0)
            else:
                push_member(&self.ends, &n_ends, m.row, m.lexer, 0)
        return self.settle(n_going, n_ends, out)

    cdef int tick_apart(self, int32_t configuration, State* out) except -1 nogil:
        cdef const Configuration* c = <const Configuration*>self.configurations.at(configuration)
        cdef int32_t i, n = 0, n_rows = 0
        cdef int result
        cdef State next
        for i in range(c.members, c.members + c.n_members):
            result = self.tick(<State*>self.nested.at((<const Member*>self.members.at(i)).nested), &next)
            if result == ASK:
                return ASK
            if result == ALIVE:
                self.add_apart(&next, &n, &n_rows)
        return self.settle_apart(n, n_rows, out)

    cdef bint counting(self, const State* at) noexcept nogil:
        cdef const Configuration* c
        cdef State inner
        cdef int32_t i, number
        if not self.counts_tokens:
            return False
        if at.mode >= NESTED:
            i = self.place[self.unfold(at, &inner).lexeme]
            return self.chain.counting(i, &inner)
        if at.mode == SEVERAL or at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.members, c.members + c.n_members):
                number = (<const Member*>self.members.at(i)).nested
                if number and self.counting(<State*>self.nested.at(number)):
                    return True
        return False

    # -- asked by masks ----------------------------------------------------------------------------------------------------
    cdef int accepting(self, const State* at) except -1 nogil:
        cdef const Configuration* c
        cdef int32_t row
        if at.mode == WITHIN:
            row = self.behind(at.row, at.leaf.v) if at.leaf.v & ENDED else 0
        elif at.mode >= NESTED:
            row = self.behind_nested(at)
        elif at.mode == SEVERAL:
            c = <const Configuration*>self.configurations.at(at.row)
            for row in range(self.behind_all(<const Member*>self.members.at(c.members), c.n_members)):
                if self.rows.row((<Member*>self.groups.data)[row].row).accept:
                    return 1
            return 0
        elif at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            for row in range(c.members, c.members + c.n_members):
                if self.accepting(<State*>self.nested.at((<const Member*>self.members.at(row)).nested)):
                    return 1
            return 0
        else:
            row = at.row
        return row and self.rows.row(row).accept

    cdef int inside(self, const State* at) except -1 nogil:
        cdef State inner
        cdef Frame* frame
        if at.mode >= NESTED:
            frame = self.unfold(at, &inner)
            return self.chain.inside(self.place[frame.lexeme], &inner)
        return at.mode == WITHIN

    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        cdef int32_t to, machine
        cdef Leaf inner
        if at.lang:
            machine = self.unfold_leaf(at, &inner)
            to = self.chain.leaf_step(machine, &inner, byte, out)
            if to == ALIVE:
                self.fold_leaf(machine, out, out)
            return to
        to = self.lexer.next(at.v, byte)
        if at.v & ENDED and (to == NOTHING or not self.single):
            return CROSS
        if to == NOTHING:
            return DEAD
        memset(out, 0, sizeof(Leaf))
        out.v = to
        return ALIVE

    cdef int ready_leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) noexcept nogil:
        cdef int32_t to = 0 if at.lang else self.ready_next(at.v, byte)
        if to == 0:
            return MISS
        if at.v & ENDED and (to == NOTHING or not self.single):
            return CROSS
        if to == NOTHING:
            return DEAD
        memset(out, 0, sizeof(Leaf))
        out.v = to
        return ALIVE

    cdef int mask_key(self, const State* at, State* out) except -1 nogil:
        cdef State inner
        cdef Frame* frame
        cdef const Configuration* c
        cdef const Member* m
        cdef int32_t i, n = 0, number
        if out != at:
            out[0] = at[0]
        if at.mode >= NESTED:
            frame = self.unfold(at, &inner)
            self.chain.mask_key(self.place[frame.lexeme], &inner, &inner)
            self.fold(&inner, self.rows.view_of(frame.row), frame.lexeme, out)
        elif at.mode < SEVERAL or at.mode == FRESH:
            out.row = self.rows.view_of(at.row)
        elif at.mode == APART:
            pass                                                      # rare, so each is a key of its own
        elif self.tables.n_counts or self.counts_tokens:
            c = <const Configuration*>self.configurations.at(at.row)
            m = <const Member*>self.members.at(c.members)
            for i in range(c.n_members):
                number = m[i].nested
                if number and self.counts_tokens:
                    self.mask_key(<State*>self.nested.at(number), &inner)
                    number = self.keep_nested(&inner)
                push_member(&self.going, &n, self.rows.view_of(m[i].row) if m[i].row else 0, m[i].lexer, number)
            out.row = self.configuration(n)
        return 0

    cdef int ready_key(self, const State* at, State* out) noexcept nogil:
        cdef const Row* row
        if at.mode >= NESTED or at.mode == SEVERAL or at.mode == APART:
            return 0
        row = self.rows.row(at.row)
        if not row.plain and row.view == NO_ROW:
            return 0
        if out != at:
            out[0] = at[0]
        if not row.plain:
            out.row = row.view
        return 1

    cdef int split(self, const State* at, Split* out) except -1 nogil:
        cdef State inner
        cdef Frame* frame
        if at.mode < NESTED:
            return Machine.split(self, at, out)
        if not self.single and at.mode & (NESTED - 1) == WITHIN:
            return 0                                                  # a lexeme of a grammar inside: there it may be over before it is left
        frame = self.unfold(at, &inner)
        if not self.chain.split(self.place[frame.lexeme], &inner, out):
            return 0
        self.fold_leaf(self.place[frame.lexeme], &out.plain, &out.plain)
        return 1

    cdef int telling(self, const State* at, uint64_t* out) except -1 nogil:
        cdef State inner
        cdef Frame* frame = self.unfold(at, &inner)                   # only machines have states that are apart
        return self.chain.telling(self.place[frame.lexeme], &inner, out)

    cdef int free_leaf(self, bint counted, Leaf* out) except -1 nogil:
        cdef int32_t i
        for i in range(self.n_machines):
            if self.chain.free_leaf(i, counted, out):
                self.fold_leaf(i, out, out)
                return 1
        return 0

    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil:
        cdef Leaf inner
        cdef int32_t machine = self.unfold_leaf(at, &inner)           # only machines have free leaves
        self.chain.later(machine, &inner, n, out)
        self.fold_leaf(machine, out, out)
        return 0

    cdef int32_t white_room(self, const State* at) noexcept nogil:
        cdef State inner
        cdef Frame* frame
        if at.mode < NESTED:
            return -1
        frame = self.unfold(at, &inner)
        return self.chain.white_room(self.place[frame.lexeme], &inner)

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
        ways = []
        if at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            ends = [self.completion(written(<State*>self.nested.at((<Member*>self.members.at(i)).nested)))
                    for i in range(c.members, c.members + c.n_members)]
            return min(ends, key=len)
        if at.mode == SEVERAL:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.n_members):
                m = (<const Member*>self.members.at(c.members))[i]
                ways += self._nested_ways(<State*>self.nested.at(m.nested)) if m.nested else self._ways(m.row, m.lexer)
        elif at.mode >= NESTED:
            ways = self._nested_ways(&at)
        else:
            m = alone(&at)
            ways = self._ways(m.row, m.lexer)
        ways.sort(key=lambda way: (way[0], b"" if isinstance(way[1], ByToken) else way[1], way[2]))
        if isinstance(ways[0][1], ByToken):
            raise StateError("no bytes end the text from here: it needs a token that the grammar names")
        out = ways[0][1] + self.rows.ending(ways[0][2])
        if self.separable or not self.single or self._ends(&at, out):
            return out
        return self._parted(&at, ways) or self._searched(state)

    def _ways(self, int32_t row, int32_t lexer):
        """Ways on from a member: [(length of the whole ending, rest of the lexeme, row behind it)]."""
        cdef int32_t behind
        if lexer <= 0:
            return self._ways_behind(row, -lexer)
        out = []
        for lexeme, leaf in self.lexer.leaves(lexer):
            text = bytes(self.tables.regexes.shortest(leaf))
            for cost, more, behind in self._ways_behind(self.past(row, lexeme), self.tables.skipped[lexeme] if self.tables.gaps else NO_GAP):
                out.append((cost + len(text), more if isinstance(more, ByToken) else text + more, behind))
        return out

    def _ways_behind(self, int32_t row, int32_t gap):
        """The same between lexemes."""
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        cdef const int32_t* symbols = <const int32_t*>self.rows.ints.at(shape.symbols) if shape.n_lexemes else NULL
        cdef int32_t i, behind
        if gap == NO_GAP:
            return [(self.rows.row(row).cost, b"", row)]
        out = [(0, b"", row)] if shape.accept else []
        for i in range(shape.n_lexemes):
            text = self.tables.shortest[symbols[i]]
            if text is not None and may_follow(self.tables.follows, self.tables.n_lexemes, gap, symbols[i]):
                behind = self.past(row, symbols[i])
                out.append((self.rows.row(behind).cost + len(text), text, behind))
        return out

    cdef list _nested_ways(self, const State* at):
        cdef State inner
        cdef Frame* frame = self.unfold(at, &inner)
        cdef Machine machine = self.machines[self.place[frame.lexeme]]
        cdef int32_t behind = self.rows.goto(frame.row, frame.lexeme)
        text = ending_of(machine, &inner)
        return [(self.rows.row(behind).cost + len(text), text, behind)]

    cdef bint _ends(self, const State* at, bytes text) except -1:
        """Does the text lead to an end?"""
        cdef State to = at[0]
        cdef uint8_t byte
        for byte in text:
            if self.step(&to, byte, True, &to) != ALIVE:
                return False
        return self.accepting(&to)

    cdef bytes _parted(self, const State* at, ways):
        """An ending with the parting text between lexemes; empty where there is none."""
        if self.parting:
            for _, text, behind in ways:
                if isinstance(text, ByToken):
                    break
                rest = self.rows.ending_lexemes(behind)
                text += (self.parting + self.tables.join(rest, self.parting)) if rest else b""
                if self._ends(at, text):
                    return text
        return b""

    def _searched(self, state):
        """A shortest ending, found by breadth first search."""
        cdef State at, to
        cdef int byte
        # Where tokens are counted, each byte is one: so what is limited comes to its end.
        todo, seen = [(state, None, 0)], {state}
        for i, (state, _, _) in enumerate(todo):                      # grows while it runs
            read_state(state, &at)
            if self.accepting(&at):
                text = bytearray()
                while todo[i][1] is not None:
                    text.append(todo[i][2])
                    i = todo[i][1]
                return bytes(reversed(text))
            for byte in range(256):
                if self.step(&at, byte, True, &to) == ALIVE and self.tick(&to, &to) == ALIVE:
                    new = written(&to)
                    if new not in seen:
                        seen.add(new)
                        todo.append((new, i, byte))
            if len(todo) > MAX_SEARCH:
                break
        raise LimitError(f"no ending was found among {MAX_SEARCH:,} states; exact lexing always has one")

    # -- for Python --------------------------------------------------------------------------------------------------------
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

    def expected(self, bytes state not None):
        """See `Machine.expected`: lexemes by name, what is left of those that are being read, and what machines expect."""
        cdef State at
        cdef list met = []
        cdef dict out = {}
        read_state(state, &at)
        self._meet(&at, met)
        for row, lexeme, read, inner in met:
            rule = self._rule(row, lexeme)
            if inner is None:
                out[f"the rest of {self.tables.names[lexeme]}" if read else self.tables.names[lexeme], rule] = None
            else:
                for what, deeper in self.machines[self.place[lexeme]].expected(inner):
                    out[what, deeper or rule] = None
        return list(out)

    def temperature(self, bytes state not None):
        """See `Machine.temperature`."""
        cdef State at
        cdef list met = [], out = []
        temperatures = self.tables.temperatures
        if temperatures is None and self.n_machines == 0:
            return None
        read_state(state, &at)
        self._meet(&at, met)
        for _, lexeme, _, inner in met:
            own = temperatures[lexeme] if temperatures is not None else None
            if own is None and inner is not None:
                own = self.machines[self.place[lexeme]].temperature(inner)
            if own is not None:
                out.append(own)
        return max(out, default=None)

    cdef int _meet(self, const State* at, list out) except -1:
        """Adds the lexemes that are being read and those that may begin: (row, lexeme, whether it is being read, state of its machine or None)."""
        cdef const Configuration* c
        cdef const Member* m
        cdef Member one
        cdef State inner
        cdef Frame* frame
        cdef int32_t i
        if at.mode == SEVERAL or at.mode == APART:
            c = <const Configuration*>self.configurations.at(at.row)
            for i in range(c.members, c.members + c.n_members):
                m = <const Member*>self.members.at(i)
                if m.nested:
                    self._meet(<State*>self.nested.at(m.nested), out)
                else:
                    self._meet_in(m, out)
        elif at.mode >= NESTED:
            frame = self.unfold(at, &inner)
            out.append((frame.row, frame.lexeme, True, written(&inner)))
            i = self.behind_nested(at)
            if i:
                self._meet_behind(i, NO_GAP, out)
        else:
            one = alone(at)
            self._meet_in(&one, out)
        return 0

    cdef int _meet_in(self, const Member* m, list out) except -1:
        cdef Member behind
        cdef int32_t i, n = 0
        if m.lexer <= 0:
            return self._meet_behind(m.row, -m.lexer, out)
        for lexeme, leaf in self.lexer.leaves(m.lexer):
            if self.tables.regexes.edges(leaf):
                out.append((m.row, lexeme, True, None))
        if m.lexer & ENDED:
            self.push_behind(m.row, m.lexer, &self.groups, &n)
            for i in range(n):
                behind = (<Member*>self.groups.data)[i]
                self._meet_behind(behind.row, -behind.lexer, out)
        return 0

    cdef int _meet_behind(self, int32_t row, int32_t gap, list out) except -1:
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        cdef const int32_t* symbols = <const int32_t*>self.rows.ints.at(shape.symbols) if shape.n_lexemes else NULL
        cdef int32_t i, k
        for i in range(shape.n_lexemes):
            if may_follow(self.tables.follows, self.tables.n_lexemes, gap, symbols[i]):
                k = self.place[symbols[i]]
                out.append((row, symbols[i], False, self.machines[k].begin() if k >= 0 else None))
        return 0

    cdef object _rule(self, int32_t row, int32_t lexeme):
        """Name of a rule in which a lexeme stands that may come in `row`; None: it has no name."""
        cdef Shape* shape = self.rows.shape(self.rows.row(row).shape)
        cdef int32_t k = self.rows._wait(shape, lexeme), i
        cdef const int32_t* starts = <const int32_t*>self.rows.ints.at(shape.starts)
        if k < 0:
            return None                                               # what is skipped stands in no rule
        for i in range(starts[k], starts[k + 1]):
            for head in self.tables.heads((<const Wait*>self.rows.waits.at(shape.waits + i)).place):
                if not self.tables.names[head].startswith("#"):
                    return self.tables.names[head]
        return None

    def stats(self):
        """Counters of the stores: dict of str to int."""
        return {**self.rows.stats(), "lexer_states": self.lexer.states, "configurations": self.configurations.length,
                "grammar_bytes": self.budget.used}


cdef int push_member(Buffer* b, int32_t* n, int32_t row, int32_t lexer, int32_t nested) except -1 nogil:
    (<Member*>room(b, (n[0] + 1) * sizeof(Member)))[n[0]] = Member(row, lexer, nested)
    n[0] += 1
    return 0

