"""A machine whose texts have a limit of tokens; see limited.pxd.

The tokens that end a text from a state are those of a plan: the first token of a shortest spelling of a shortest ending, and from there on
the plan of the state behind it. So a state with a plan of n tokens has a token behind which the plan has n - 1.
"""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

from llgcy.core.machine cimport Machine, Split, read_state, written
from llgcy.core.spelling cimport spelled, takes
from llgcy.core.state cimport ALIVE, ASK, DEAD, Leaf, State
from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes
from llgcy.core.trie cimport GROUP, Node, Vocabulary

from llgcy.errors import BudgetError, LimitError, StateError, UnclearError

cdef enum:
    LONGEST_PLAN = 1 << 20      # tokens
    MOST_EDGES = 100_000        # of an automaton, looked at for term_facts()


@cython.final
cdef class Limited(Machine):
    """Texts of a machine in at most so many tokens.

    Parameters
    ----------
    body : Machine
        Of whole texts.
    most : int
        Tokens, at least one.
    vocabulary : Vocabulary
        What can spell an ending.
    budget : Budget
        Of what is made meanwhile.
    greedy : bool
        The grammar around it is lexed so.
    judged : bool
        False: the vocabulary stands in for one that is not known, and nothing is counted.
    bound : int
        No state of the body needs more bytes than these to end, if the vocabulary has each byte; -1: not known.
    tail_bytes : bytes, optional
        Bytes that may go on where some text has ended.

    Attributes
    ----------
    body : Machine
    most : int
    judged : bool
    tail_bytes : bytes or None

    Examples
    --------
    >>> Limited(machine, 3, vocabulary, budget).least               # doctest: +SKIP
    1
    """

    def __cinit__(self, Machine body not None, int32_t most, Vocabulary vocabulary not None, Budget budget, *, bint greedy=True,
                  bint judged=True, int32_t bound=-1, tail_bytes=None):
        cdef size_t depth = vocabulary.trie.longest + 2
        if most < 1:
            raise ValueError(f"a limit of {most} tokens")
        budget = Budget(256 << 20, "the grammar") if budget is None else budget
        self.body, self.most, self.vocabulary, self.judged, self.tail_bytes = body, most, vocabulary, judged, tail_bytes
        self.greedy, self.bound = greedy, -1 if vocabulary.missing else bound
        self.counts_tokens, self.last = True, -1
        self.eos = (<const char*>vocabulary.eos_ids)[:vocabulary.n_eos * sizeof(int32_t)]
        self.counts, self.needs = Arena(budget, sizeof(Count)), Arena(budget, sizeof(Need))
        self.count_index, self.need_index = Index(budget), Index(budget)
        self.stack = <State*>malloc(depth * sizeof(State))
        self.ends = <int32_t*>malloc(depth * sizeof(int32_t))
        if self.stack == NULL or self.ends == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.stack)
        free(self.ends)

    @property
    def least(self):
        """Tokens in which a text is known to fit; None: none is known."""
        cdef State start
        cdef int32_t need
        self.body.start(&start)
        need = self.need(&start)
        return None if need == NEVER or need == ASKS else need

    # -- states ----------------------------------------------------------------------------------------------------------
    cdef int fold(self, const State* inner, int32_t left, int32_t open, State* out) except -1 nogil:
        cdef Count count = Count(inner.row, left, open)
        cdef uint64_t hash = hash_bytes(&count, sizeof(Count))
        cdef Probe probe
        cdef int32_t at
        self.count_index.begin(hash, &probe)
        while True:
            at = self.count_index.next(&probe)
            if at < 0:
                at = self.counts.add(1)
                (<Count*>self.counts.at(at))[0] = count
                self.count_index.add(hash, at)
                break
            if memcmp(self.counts.at(at), &count, sizeof(Count)) == 0:
                break
        if out != inner:
            out[0] = inner[0]
        out.row = at
        return 0

    cdef const Count* unfold(self, const State* at, State* inner) noexcept nogil:
        cdef const Count* count = <const Count*>self.counts.at(at.row)
        inner[0] = at[0]
        inner.row = count.row
        return count

    cdef int start(self, State* out) except -1 nogil:
        if self.body.start(out) != ALIVE:
            return DEAD
        self.fold(out, self.most if self.judged else <int32_t>FAR, 0, out)
        return ALIVE

    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        cdef State inner
        cdef const Count* count = self.unfold(at, &inner)
        cdef int result
        if count.left == 0 and not count.open:
            return DEAD
        result = self.body.step(&inner, byte, grow, &inner)
        if result == ALIVE:
            self.fold(&inner, count.left if count.open or count.left == FAR else count.left - 1, 1, out)
        return result

    cdef int tick(self, const State* at, State* out) except -1 nogil:
        cdef State inner
        cdef const Count* count = self.unfold(at, &inner)
        cdef int32_t need, left = count.left
        cdef int result
        if self.body.counts_tokens:
            result = self.body.tick(&inner, &inner)
            if result != ALIVE:
                return result
        if left != FAR:
            need = self.need(&inner)
            if need == ASKS:
                return ASK
            if need > left:
                return DEAD
            if self.greedy and need == 0 and not self.goes_on(&inner, left):
                left = 0
        self.fold(&inner, left, 0, out)
        return ALIVE

    cdef bint counting(self, const State* at) noexcept nogil:
        return True

    # -- asked by masks ----------------------------------------------------------------------------------------------------
    cdef int accepting(self, const State* at) except -1 nogil:
        cdef State inner
        self.unfold(at, &inner)
        return self.body.accepting(&inner)

    cdef int inside(self, const State* at) except -1 nogil:
        cdef State inner
        return self.unfold(at, &inner).left == FAR and self.body.inside(&inner)

    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        return self.body.leaf_step(at, byte, out)

    cdef int mask_key(self, const State* at, State* out) except -1 nogil:
        """How many tokens are left is of no matter where any token leaves enough."""
        cdef State inner, key
        cdef const Count* count = self.unfold(at, &inner)
        cdef int32_t left = count.left
        self.body.mask_key(&inner, &key)
        if left != FAR and self.is_far(&inner, left - 1):
            left = FAR
        self.fold(&key, left, count.open, out)
        return 0

    cdef int split(self, const State* at, Split* out) except -1 nogil:
        cdef State inner
        return self.body.split(&inner, out) if self.unfold(at, &inner).left == FAR else 0

    cdef int telling(self, const State* at, uint64_t* out) except -1 nogil:
        cdef State inner
        self.unfold(at, &inner)
        return self.body.telling(&inner, out)

    cdef int free_leaf(self, bint counted, Leaf* out) except -1 nogil:
        return self.body.free_leaf(counted, out)

    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil:
        return self.body.later(at, n, out)

    cdef int32_t white_room(self, const State* at) noexcept nogil:
        cdef State inner
        self.unfold(at, &inner)
        return self.body.white_room(&inner)

    # -- plans -------------------------------------------------------------------------------------------------------------
    cdef Need* need_of(self, const State* inner) except NULL nogil:
        cdef uint64_t hash
        cdef Probe probe
        cdef int32_t at
        cdef Need* new
        if self.last >= 0 and memcmp(&(<Need*>self.needs.at(self.last)).at, inner, sizeof(State)) == 0:
            return <Need*>self.needs.at(self.last)
        hash = hash_bytes(inner, sizeof(State))
        self.need_index.begin(hash, &probe)
        while True:
            at = self.need_index.next(&probe)
            if at < 0:
                at = self.needs.add(1)
                new = <Need*>self.needs.at(at)
                new.at, new.worst, new.on, new.off = inner[0], UNKNOWN, NEVER, 0
                new.least = 0 if self.body.accepting(inner) else <int32_t>UNKNOWN
                self.need_index.add(hash, at)
                break
            if memcmp(&(<Need*>self.needs.at(at)).at, inner, sizeof(State)) == 0:
                break
        self.last = at
        return <Need*>self.needs.at(at)

    cdef int32_t need(self, const State* inner) except -1 nogil:
        cdef Need* known = self.need_of(inner)
        if known.least == UNKNOWN:
            with gil:
                self.find(inner)
        return known.least

    cdef int find(self, const State* inner) except -1:
        """Makes the plan of a state, and of all those on its way."""
        cdef State at = inner[0]
        cdef Need* known = self.need_of(&at)
        cdef list way = []
        cdef tuple tokens
        cdef int32_t count = NEVER
        while known.least == UNKNOWN and len(way) < LONGEST_PLAN:
            way.append(written(&at))
            try:
                tokens = spelled(self.body, self.vocabulary, &at, self.body.completion(written(&at)), self.eos, True)
            except BudgetError:
                raise
            except UnclearError:
                if len(way) == 1:
                    known.least = ASKS
                    return 0
                tokens = None
            except (LimitError, StateError):                          # too long, or only a token that the grammar names leads on
                tokens = None
            if not tokens or not takes(self.body, self.vocabulary, &at, tokens[0]):
                break
            known = self.need_of(&at)
        else:
            count = NEVER if known.least < 0 else known.least
        for key in reversed(way):
            read_state(key, &at)
            count += count != NEVER
            self.need_of(&at).least = count
        return 0

    cdef bint is_far(self, const State* inner, int32_t left) except -1 nogil:
        if self.bound >= 0:
            return left >= self.bound
        return left >= 0 and self.worst(inner) <= left

    cdef bint goes_on(self, const State* inner, int32_t left) except -1 nogil:
        cdef Need* known = self.need_of(inner)
        cdef int found
        if left >= known.on or left <= known.off:
            return left >= known.on
        found = self.find_token(inner, left, False)
        if found == ASK:
            found = self.find_token(inner, left, True)
        if found != ALIVE:
            self.need_of(inner).off = left
        return found == ALIVE

    cdef int find_token(self, const State* inner, int32_t left, bint grow) except -1 nogil:
        """ALIVE: there is a token with which the text goes on in time; ASK: without `grow` that cannot be told."""
        cdef const Node* nodes = self.vocabulary.trie.nodes
        cdef State after
        cdef int32_t i = 0, size = self.vocabulary.trie.size, depth = 0, need
        cdef int r, told = DEAD
        self.stack[0], self.ends[0] = inner[0], size
        while i < size:
            while i >= self.ends[depth]:
                depth -= 1
            r = self.body.step(&self.stack[depth], nodes[i].label >> 24, grow, &self.stack[depth + 1])
            if r == ASK:
                told = ASK
            elif r == ALIVE and nodes[i].label & GROUP:
                need = self.body.tick(&self.stack[depth + 1], &after)
                need = self.need(&after) if need == ALIVE else ASKS if need == ASK else NEVER
                if need == ASKS:
                    told = ASK
                elif need < left:
                    self.need_of(inner).on = need + 1
                    return ALIVE
            depth += r == ALIVE
            if r == ALIVE:
                self.ends[depth] = nodes[i].end
            i = i + 1 if r == ALIVE else nodes[i].end
        return told

    cdef int32_t worst(self, const State* inner) except -1 nogil:
        """By a walk of all tokens."""
        cdef Need* known = self.need_of(inner)
        cdef const Node* nodes = self.vocabulary.trie.nodes
        cdef State after
        cdef int32_t i = 0, size = self.vocabulary.trie.size, depth = 0, worst = 0, need
        cdef int r
        if known.worst != UNKNOWN:
            return known.worst
        self.stack[0], self.ends[0] = inner[0], size
        while i < size and worst != NEVER:
            while i >= self.ends[depth]:
                depth -= 1
            r = self.body.step(&self.stack[depth], nodes[i].label >> 24, False, &self.stack[depth + 1])
            if r == ALIVE and nodes[i].label & GROUP:
                r = self.body.tick(&self.stack[depth + 1], &after)
                if r == ALIVE:
                    need = self.need(&after)
                    worst = NEVER if need == ASKS else max(worst, need)
                elif r == DEAD:
                    r = ALIVE                                         # the token ends too early; longer ones need not
            if r == ASK:
                worst = NEVER
            depth += r == ALIVE
            if r == ALIVE:
                self.ends[depth] = nodes[i].end
            i = i + 1 if r == ALIVE else nodes[i].end
        known.worst = worst
        return worst

    # -- for Python --------------------------------------------------------------------------------------------------------
    def completion(self, bytes state not None):
        """See `Machine.completion`."""
        return self.body.completion(self._inner(state))

    def expected(self, bytes state not None):
        """See `Machine.expected`."""
        return self.body.expected(self._inner(state))

    def temperature(self, bytes state not None):
        """See `Machine.temperature`."""
        return self.body.temperature(self._inner(state))

    def _inner(self, bytes state):
        cdef State at, inner
        read_state(state, &at)
        self.unfold(&at, &inner)
        return written(&inner)

    def stats(self):
        """Counters of the stores: dict of str to int."""
        return {**self.body.stats(), "counts": self.counts.length, "plans": self.needs.length}


def term_facts(regexes, int32_t term):
    """What is known of a regular language.

    Parameters
    ----------
    regexes : Regexes
    term : int

    Returns
    -------
    (int, bytes or None)
        The most bytes that any beginning of a text needs to end, and the bytes that may go on where a text has ended; -1 and None where
        the automaton is too large to look at.
    """
    todo, back, ends, edges, tail = [term], {term: []}, [], 0, set()
    for state in todo:                                                # grows while it runs
        steps = regexes.edges(state)
        edges += len(steps)
        if edges > MOST_EDGES:
            return -1, None
        accepts = regexes.accepts(state)
        if accepts:
            ends.append(state)
        for first, last, to in steps:
            if to not in back:
                back[to] = []
                todo.append(to)
            back[to].append(state)
            if accepts:
                tail.update(range(first, last + 1))
    distance = dict.fromkeys(ends, 0)
    for state in ends:                                                # grows while it runs
        for before in back[state]:
            if before not in distance:
                distance[before] = distance[state] + 1
                ends.append(before)
    return max(distance.values(), default=0), bytes(sorted(tail))
