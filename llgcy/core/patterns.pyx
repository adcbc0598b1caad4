"""Patterns side by side and the lengths of what they accept: see patterns.pxd."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memset

from llgcy.core.lists cimport List, Lists
from llgcy.core.regex cimport NONE, PADDED, POSITIVE, Edge, Regexes
from llgcy.core.store cimport Arena, Budget, Index, Probe, mix

from llgcy.errors import LimitError

cdef enum:
    FUEL = 4_000_000            # edges and sets that one query may look at
    FOLLOWING = 1_000           # states that farthest() looks at
    SURROGATES = 0xD800
    BEHIND_SURROGATES = 0xE000
    LAST = 0x10FFFF


cdef int compare(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*>a)[0]
    cdef int32_t y = (<const int32_t*>b)[0]
    return (x > y) - (x < y)


@cython.final
cdef class Patterns:
    """Patterns side by side; made by `Strings`.

    Parameters
    ----------
    regexes : Regexes or None
        The store of the terms, over code points.
    budget : Budget
    """

    def __cinit__(self, Regexes regexes, Budget budget not None):
        self.regexes = self.terms = regexes
        self.vectors, self.accepts, self.goals, self.sets = Lists(budget), Lists(budget), Lists(budget), Lists(budget)
        self.joints = Arena(budget, sizeof(Joint))
        self.following = Arena(budget, sizeof(int32_t))
        self.arcs = Arena(budget, sizeof(Edge))
        self.rows = Arena(budget, ASCII * sizeof(int32_t))
        self.nears = Arena(budget, sizeof(Near))
        self.near_index = Index(budget)
        self.accepts.intern(NULL, 0)
        self.state_of(NULL, 0)          # state 0: no patterns

    def __dealloc__(self):
        free(self.scratch)

    cdef void* room(self, size_t bytes) except NULL nogil:
        """Scratch memory; what lies in it stays."""
        cdef void* larger
        if bytes > self.scratch_room:
            bytes = max(bytes, 2 * self.scratch_room, <size_t>4096)
            larger = realloc(self.scratch, bytes)
            if larger == NULL:
                with gil:
                    raise MemoryError(f"no {bytes:,} bytes")
            self.scratch, self.scratch_room = larger, bytes
        return self.scratch

    cdef int burn(self, int64_t fuel) except -1 nogil:
        self.fuel -= fuel
        if self.fuel < 0:
            with gil:
                raise LimitError(f"the lengths of the texts of a pattern take more than {FUEL:,} steps to find out; "
                                 "give the pattern fewer states, or bounds on the length that are closer to its own")
        return 0

    # -- states ---------------------------------------------------------------------------------------------------------

    cdef int32_t state_of(self, const int32_t* terms, int32_t count) except -1 nogil:
        cdef int32_t known = self.joints.length
        cdef int32_t state, i, accepting = 0
        cdef Joint* joint
        cdef int32_t* numbers
        state = self.vectors.intern(terms, count)
        if state < known:
            return state
        joint = self.joint(self.joints.add(1))
        joint.goal = -1
        if count:
            numbers = <int32_t*>malloc(<size_t>count * sizeof(int32_t))
            if numbers == NULL:
                with gil:
                    raise MemoryError()
            try:
                for i in range(count):
                    if self.terms.accepts(terms[i]):
                        numbers[accepting] = i
                        accepting += 1
                joint.accept = self.accepts.intern(numbers, accepting)
            finally:
                free(numbers)
        return state

    cdef int make_edges(self, int32_t state) except -1 nogil:
        """One sweep over the edges of all patterns; where a pattern has none, its text is lost and its term NONE."""
        cdef const List* vector = self.vectors.at(state)
        cdef int32_t n = vector.count, i, half, target, made = 0
        cdef int64_t first, last, end
        cdef size_t size = <size_t>n * (sizeof(Edge*) + 3 * sizeof(int32_t)) + 8
        cdef size_t room = 16
        cdef void* block = malloc(size)
        cdef Edge* out = <Edge*>malloc(room * sizeof(Edge))
        cdef Edge* larger
        cdef const Edge** lists = <const Edge**>block
        cdef int32_t* counts = <int32_t*>(lists + n)
        cdef int32_t* at = counts + n
        cdef int32_t* terms = at + n
        cdef Joint* joint
        cdef Edge* kept
        try:
            if block == NULL or out == NULL:
                with gil:
                    raise MemoryError()
            for i in range(n):
                counts[i], at[i] = self.terms.edges_at(vector.items[i], &lists[i]), 0
            for half in range(2):
                first = 0 if half == 0 else BEHIND_SURROGATES
                end = SURROGATES - 1 if half == 0 else LAST
                while first <= end:
                    last = end
                    for i in range(n):
                        while at[i] < counts[i] and lists[i][at[i]].last < first:
                            at[i] += 1
                        terms[i] = 0
                        if at[i] < counts[i]:
                            if lists[i][at[i]].first <= first:
                                terms[i] = lists[i][at[i]].next
                                last = min(last, <int64_t>lists[i][at[i]].last)
                            else:
                                last = min(last, <int64_t>lists[i][at[i]].first - 1)
                    target = self.state_of(terms, n)
                    if made and out[made - 1].next == target and out[made - 1].last + 1 == first:
                        out[made - 1].last = <uint32_t>last
                    else:
                        if <size_t>made == room:
                            room *= 2
                            larger = <Edge*>realloc(out, room * sizeof(Edge))
                            if larger == NULL:
                                with gil:
                                    raise MemoryError()
                            out = larger
                        out[made].first, out[made].last, out[made].next = <uint32_t>first, <uint32_t>last, target
                        made += 1
                    first = last + 1
            kept = <Edge*>self.arcs.at(self.arcs.add(made))
            for i in range(made):
                kept[i] = out[i]
        finally:
            free(block)
            free(out)
        joint = self.joint(state)
        joint.count = made
        joint.edges = kept
        return 0

    cdef int32_t find(self, int32_t state, uint32_t char) except -1 nogil:
        """The target by a character; an ASCII one makes the row of its state."""
        cdef const Edge* edges
        cdef int32_t at = 0, c
        cdef int32_t* row
        if char >= ASCII:
            return self.edge_at(state, char).next
        self.edges(state, &edges)
        row = <int32_t*>self.rows.at(self.rows.add(1))
        for c in range(ASCII):
            while edges[at].last < <uint32_t>c:
                at += 1
            row[c] = edges[at].next
        self.joint(state).row = row
        return row[char]

    # -- the nearest end ------------------------------------------------------------------------------------------------

    cdef Near* recall(self, int32_t goal, int32_t state) noexcept nogil:
        cdef Probe probe
        cdef int32_t found
        cdef Near* near
        self.near_index.begin(mix(<uint64_t>goal << 32 | <uint32_t>state), &probe)
        while True:
            found = self.near_index.next(&probe)
            if found < 0:
                return NULL
            near = <Near*>self.nears.at(found)
            if near.goal == goal and near.state == state:
                return near

    cdef Near* remember(self, int32_t goal, int32_t state, int32_t length) except NULL nogil:
        cdef Near* near = self.recall(goal, state)
        cdef int32_t handle
        if near == NULL:
            handle = self.nears.add(1)
            near = <Near*>self.nears.at(handle)
            near.goal, near.state, near.length, near.farthest = goal, state, length, UNKNOWN
            self.near_index.add(mix(<uint64_t>goal << 32 | <uint32_t>state), handle)
        self.joint(state).goal, self.joint(state).near = goal, length
        return near

    cdef int32_t search_near(self, int32_t goal, int32_t state) except -2 nogil:
        """A* (Hart, Nilsson, Raphael 1968), the deepest of equals first: each pattern promises how many characters it takes at least.

        Remembers the answer for the states on the way to the goal, or for all states met where there is none.
        """
        cdef Near* near = self.recall(goal, state)
        cdef Visit* queue
        cdef int32_t at = 0, length = 1, best = -1, best_at = -1, rest, count, i, target, term, step, level
        cdef int32_t now = 0, later = -1        # lists of visits to come: with texts of `level` characters, and longer ones
        cdef const Edge* edges
        if near != NULL:
            self.joint(state).goal, self.joint(state).near = goal, near.length
            return near.length
        term = self.vectors.at(state).items[0] if self.vectors.at(state).count == 1 else 0
        if term and self.terms.term(term).flags & POSITIVE and self.must_hold(goal):
            best = <int32_t>self.terms.term(term).least         # nothing to search, however many states follow
            self.remember(goal, state, best)
            return best
        self.fuel = FUEL
        self.search += 1
        queue = <Visit*>self.room(sizeof(Visit))
        queue[0].state, queue[0].parent, queue[0].depth, queue[0].next = state, -1, 0, -1
        queue[0].least = level = self.at_least(goal, state)
        if level == NO_BOUND:
            self.remember(goal, state, -1)
            return -1
        while best < 0 or level < best:
            if now < 0:                 # on to the longer texts
                level, at, later = NO_BOUND, later, -1
                step = at
                while step >= 0:
                    level = min(level, queue[step].least)
                    step = queue[step].next
                if at < 0:
                    break
                while at >= 0:
                    step = queue[at].next
                    if queue[at].least == level:
                        queue[at].next, now = now, at
                    else:
                        queue[at].next, later = later, at
                    at = step
                continue
            at, now = now, queue[now].next
            target = queue[at].state
            if self.joint(target).seen == self.search:
                continue
            self.joint(target).seen = self.search
            rest = 0
            if not self.meets(goal, target):
                near = self.recall(goal, target)
                rest = UNKNOWN if near == NULL else near.length
            if rest >= 0 and (best < 0 or queue[at].depth + rest < best):
                best, best_at = queue[at].depth + rest, at
            if rest == UNKNOWN:
                count = self.edges(target, &edges)
                self.burn(count)
                for i in range(count):
                    target = edges[i].next
                    if self.joint(target).seen == self.search:
                        continue
                    step = self.at_least(goal, target)
                    if step == NO_BOUND:
                        continue
                    queue = <Visit*>self.room((<size_t>length + 1) * sizeof(Visit))
                    queue[length].state, queue[length].parent, queue[length].depth = target, at, queue[at].depth + 1
                    queue[length].least = <int32_t>min(<int64_t>queue[at].depth + 1 + step, <int64_t>NO_BOUND - 1)
                    if queue[length].least <= level:
                        queue[length].next, now = now, length
                    else:
                        queue[length].next, later = later, length
                    length += 1
        if best < 0:
            for i in range(length):
                if self.recall(goal, queue[i].state) == NULL:
                    self.remember(goal, queue[i].state, -1)
        else:
            at = best_at
            while at >= 0:
                if self.recall(goal, queue[at].state) == NULL:
                    self.remember(goal, queue[at].state, best - queue[at].depth)
                at = queue[at].parent
        return best

    cdef int32_t at_least(self, int32_t goal, int32_t state) noexcept nogil:
        """Characters that every text to the goal has at least; NO_BOUND: there is none, as is plain to see."""
        cdef const List* vector = self.vectors.at(state)
        cdef const List* accepts = self.goals.at(goal)
        cdef const List* wanted
        cdef int32_t i, j, least = NO_BOUND, most, term
        for i in range(accepts.count):
            wanted, most = self.accepts.at(accepts.items[i]), 0
            for j in range(wanted.count):
                term = vector.items[wanted.items[j]]
                if term == NONE:
                    most = NO_BOUND
                    break
                most = max(most, <int32_t>min(self.terms.term(term).least, <uint32_t>NO_BOUND - 1))
            least = min(least, most)
        return least

    cdef bint padded(self, int32_t goal, int32_t state) noexcept nogil:
        """Is every text to the goal still one with more characters behind it?"""
        cdef const List* vector = self.vectors.at(state)
        return vector.count == 1 and self.must_hold(goal) and self.terms.term(vector.items[0]).flags & PADDED != 0

    cdef bint must_hold(self, int32_t goal) noexcept nogil:
        """Is a text for this goal one that the pattern with number 0 accepts, and that alone?"""
        cdef const List* accepts = self.goals.at(goal)
        return accepts.count == 1 and self.accepts.at(accepts.items[0]).count == 1

    cdef int32_t farthest(self, int32_t goal, int32_t state) except -2 nogil:
        cdef Near* near
        cdef int32_t states[FOLLOWING]
        cdef int32_t length = 1, at = 0, largest = 0, rest, count, i, target
        cdef const Edge* edges
        self.nearest(goal, state)
        near = self.recall(goal, state)
        if near.farthest != UNKNOWN:
            return near.farthest
        states[0] = state
        while at < length and largest >= 0:
            rest = self.nearest(goal, states[at])       # a search of its own: what this one has met is told by `place`
            largest = max(largest, rest)
            if rest >= 0:
                count = self.edges(states[at], &edges)
                for i in range(count):
                    target = edges[i].next
                    if self.joint(target).place < length and states[self.joint(target).place] == target:
                        continue
                    if length == FOLLOWING:
                        largest = -1
                        break
                    self.joint(target).place = length
                    states[length] = target
                    length += 1
            at += 1
        near.farthest = largest
        # What follows them follows from here: the bound holds for them too. Where there is none, nearly as many states follow most of them.
        for i in range(1, length):
            near = self.recall(goal, states[i])
            if near != NULL and near.farthest == UNKNOWN:
                near.farthest = largest
        return largest

    # -- lengths --------------------------------------------------------------------------------------------------------

    cdef int32_t next_set(self, int32_t handle) except -1 nogil:
        """The set of states one character later."""
        cdef int32_t* found = <int32_t*>self.following.at(handle)
        cdef const List* old
        cdef const Edge* edges
        cdef int32_t* out = NULL
        cdef int32_t i, j, count, length = 0, new
        self.burn(1)
        if found[0] >= 0:
            return found[0]
        old = self.sets.at(handle)
        self.search += 1
        for i in range(old.count):
            count = self.edges(old.items[i], &edges)
            self.burn(count)
            out = <int32_t*>self.room((<size_t>length + count) * sizeof(int32_t))
            for j in range(count):
                if self.joint(edges[j].next).seen != self.search:
                    self.joint(edges[j].next).seen = self.search
                    out[length] = edges[j].next
                    length += 1
        qsort(out, length, sizeof(int32_t), compare)
        new = self.set_of(out, length)
        found[0] = new
        return new

    cdef int32_t set_of(self, const int32_t* states, int32_t count) except -1 nogil:
        cdef int32_t new = self.sets.intern(states, count)
        if new == self.following.length:
            (<int32_t*>self.following.at(self.following.add(1)))[0] = -1
        return new

    cdef bint set_meets(self, int32_t goal, int32_t handle) noexcept nogil:
        cdef const List* states = self.sets.at(handle)
        cdef int32_t i
        for i in range(states.count):
            if self.meets(goal, states.items[i]):
                return True
        return False

    cdef int32_t set_after(self, int32_t state, int32_t length) except -1 nogil:
        """The set that exactly `length` characters reach. Sets repeat; where they do, whole rounds are skipped (Brent 1980)."""
        cdef int32_t now = self.set_of(&state, 1), mark = now
        cdef int64_t left = length, since = 0, limit = 1
        while left > 0:
            now = self.next_set(now)
            left -= 1
            since += 1
            if now == mark:
                left %= since
                while left > 0:
                    now = self.next_set(now)
                    left -= 1
            elif since == limit:
                mark, since, limit = now, 0, 2 * limit
        return now

    cdef int64_t scan(self, int32_t goal, int32_t* now) except -2 nogil:
        """Characters from a set to the first set, itself included, that meets the goal; -1: none does. Moves `now` there."""
        cdef int32_t mark = now[0]
        cdef int64_t steps = 0, since = 0, limit = 1
        while not self.set_meets(goal, now[0]):
            now[0] = self.next_set(now[0])
            steps += 1
            since += 1
            if now[0] == mark:
                return -1
            if since == limit:
                mark, since, limit = now[0], 0, 2 * limit
        return steps

    cdef int64_t fit(self, int32_t goal, int32_t state, int32_t low) except -2 nogil:
        cdef int32_t now
        cdef int64_t steps
        cdef int32_t near = self.nearest(goal, state)
        if near < 0 or near >= low:
            return near
        if self.padded(goal, state):
            return low
        self.fuel = FUEL
        now = self.set_after(state, low)
        steps = self.scan(goal, &now)
        return steps if steps < 0 else low + steps

    cdef int32_t texts(self, int32_t goal, int32_t state, int32_t low, int32_t high, int32_t need) except -1 nogil:
        cdef int32_t now, mark = -1, fits = 0
        cdef int64_t length, steps, longest = 0
        if low > high or self.nearest(goal, state) < 0:
            return 0
        if need == 0:
            length = self.fit(goal, state, low)
            return 0 <= length <= high
        self.fuel = FUEL
        now = self.set_after(state, low)
        length = low
        while True:             # every length with a text counts one
            steps = self.scan(goal, &now)
            if steps < 0 or length + steps > high:
                break
            length += steps
            fits += 1
            longest = length
            if fits > need or high == NO_BOUND and now == mark:        # sets that come back do so for ever
                return need + 1
            if fits & (fits - 1) == 0:
                mark = now
            now = self.next_set(now)
            length += 1
        return self.count(goal, state, low, <int32_t>longest, need) if fits else 0

    cdef int32_t count(self, int32_t goal, int32_t state, int32_t low, int32_t high, int32_t need) except -1 nogil:
        """texts() where `high` is finite: how many texts lead to each state, character by character."""
        cdef int32_t now = self.set_of(&state, 1), after, i, j, edges_count
        cdef int64_t* counts = NULL
        cdef int64_t* next_counts = NULL
        cdef const List* states
        cdef const List* targets
        cdef const Edge* edges
        cdef int64_t total = 0, limit = <int64_t>need + 1, length
        cdef int32_t place
        counts = <int64_t*>malloc(sizeof(int64_t))
        try:
            if counts == NULL:
                with gil:
                    raise MemoryError()
            counts[0] = 1
            for length in range(<int64_t>high + 1):
                states = self.sets.at(now)
                if length >= low:
                    for i in range(states.count):
                        if self.meets(goal, states.items[i]):
                            total += counts[i]
                    if total >= limit:
                        return need + 1
                if length == high:
                    break
                after = self.next_set(now)
                targets = self.sets.at(after)
                next_counts = <int64_t*>malloc(<size_t>targets.count * sizeof(int64_t))
                if next_counts == NULL:
                    with gil:
                        raise MemoryError()
                memset(next_counts, 0, <size_t>targets.count * sizeof(int64_t))
                for i in range(targets.count):
                    self.joint(targets.items[i]).place = i
                for i in range(states.count):
                    edges_count = self.edges(states.items[i], &edges)
                    self.burn(edges_count)
                    for j in range(edges_count):
                        place = self.joint(edges[j].next).place
                        # at most 2**31 * 2**21 added to less than 2**31
                        next_counts[place] = min(limit, next_counts[place] + counts[i] * (<int64_t>edges[j].last - edges[j].first + 1))
                free(counts)
                counts, next_counts = next_counts, NULL
                now = after
        finally:
            free(counts)
            free(next_counts)
        return <int32_t>total

    cdef int path(self, int32_t goal, int32_t state, int32_t length, Edge* out) except -1 nogil:
        cdef int32_t* sets
        cdef const List* states
        cdef const Edge* edges
        cdef int32_t i, j, place, count, target = -1, source, score, best
        if self.nearest(goal, state) == length or self.padded(goal, state):
            return self.nearest_path(goal, state, length, out)
        sets = <int32_t*>malloc((<size_t>length + 1) * sizeof(int32_t))
        self.fuel = FUEL + length
        try:
            if sets == NULL:
                with gil:
                    raise MemoryError()
            sets[0] = self.set_of(&state, 1)
            for i in range(length):
                sets[i + 1] = self.next_set(sets[i])
            states = self.sets.at(sets[length])
            for place in range(states.count):
                if self.meets(goal, states.items[place]):
                    target = states.items[place]
                    break
            for i in range(length - 1, -1, -1):
                states = self.sets.at(sets[i])
                best, source = -1, -1
                for place in range(states.count):
                    count = self.edges(states.items[place], &edges)
                    self.burn(count)
                    for j in range(count):
                        score = taste(&edges[j])
                        if edges[j].next == target and score > best:
                            best, source, out[i] = score, states.items[place], edges[j]
                target = source
        finally:
            free(sets)
        return 0

    cdef int nearest_path(self, int32_t goal, int32_t state, int32_t length, Edge* out) except -1 nogil:
        """A text each of whose characters leaves no more than the rest of the length; of a goal that more characters do not miss."""
        cdef const Edge* edges
        cdef int32_t i, j, count, score, best, near
        for i in range(length):
            count, best = self.edges(state, &edges), -1
            for j in range(count):
                score = taste(&edges[j])
                if score > best:
                    near = self.nearest(goal, edges[j].next)
                    if 0 <= near <= length - 1 - i:
                        best, out[i] = score, edges[j]
            state = out[i].next
        return 0

    # -- for the languages of strings -------------------------------------------------------------------------------------

    def start(self, tuple ids not None):
        """The state before any character of the patterns with these term ids."""
        cdef int32_t count = <int32_t>len(ids), i
        cdef int32_t* terms
        if count == 0:
            return 0
        if self.terms is None:
            raise ValueError("patterns need a store of regexes")
        terms = <int32_t*>malloc(<size_t>count * sizeof(int32_t))
        if terms == NULL:
            raise MemoryError()
        try:
            for i in range(count):
                terms[i] = ids[i]
                self.terms.alive(terms[i])      # also refuses ids of another store
            return self.state_of(terms, count)
        finally:
            free(terms)

    def accept(self, bits):
        """The handle of the patterns whose bits are set."""
        return self._intern(self.accepts, [i for i in range(bits.bit_length()) if bits >> i & 1])

    def goal(self, accepts):
        """The handle of a set of accepts: where a text may end."""
        return self._intern(self.goals, sorted(set(accepts)))

    def _intern(self, Lists store not None, list numbers not None):
        cdef int32_t count = <int32_t>len(numbers), i
        cdef int32_t* items = <int32_t*>malloc(<size_t>max(count, 1) * sizeof(int32_t))
        if items == NULL:
            raise MemoryError()
        try:
            for i in range(count):
                items[i] = numbers[i]
            return store.intern(items, count)
        finally:
            free(items)


cdef int32_t taste(const Edge* edge) noexcept nogil:
    """How well a range of characters reads: letters, then other printable ASCII, then what has short UTF-8."""
    if edge.first <= 0x7A and edge.last >= 0x61:
        return 4
    if edge.first <= 0x7E and edge.last >= 0x20:
        return 3
    return 2 if edge.first < 0x800 else 1 if edge.first < 0x10000 else 0
