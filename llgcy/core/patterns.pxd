"""Patterns side by side over code points, and the lengths of what they accept.

A *joint state* is one term per pattern (`Regexes("chars")`), hash-consed; its *accept* says which of the patterns the text
read so far is in. Patterns are never intersected, and a length is no pattern: the lengths of the texts that are left are, for
every state, an eventually periodic set, read off the sequence of the sets of states that 0, 1, 2, ... characters reach.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t
from llgcy.core.lists cimport Lists
from llgcy.core.regex cimport Edge, Regexes
from llgcy.core.store cimport Arena, Budget, Index

cdef enum:
    ASCII = 128
    NO_BOUND = 0x7FFFFFFF       # a length without upper bound
    UNKNOWN = -2

cdef struct Joint:
    const Edge* edges       # of joint states; cover every scalar value, in order, none spans the surrogates; NULL: not made
    int32_t* row            # target by ASCII character, NULL: not made
    int32_t count           # of edges
    int32_t accept          # handle of the sorted numbers of the patterns that accept, in `accepts`
    int32_t goal            # one remembered answer: the goal asked for last, -1 none ...
    int32_t near            # ... and how far it is, -1: out of reach
    uint32_t seen           # number of the last search that met the state
    int32_t place           # its place in that search's queue

cdef struct Near:           # shortest text from a joint state to a goal
    int32_t goal
    int32_t state
    int32_t length          # characters, -1: there is none
    int32_t farthest        # no state that can follow has a larger `length`; UNKNOWN, or -1: too many states to say

cdef struct Visit:          # of a search
    int32_t state
    int32_t parent          # place in the queue, -1 at the start
    int32_t depth           # characters read
    int32_t least           # characters of a text this way, at least
    int32_t next            # in the list of visits to come, -1: the last one

@cython.final
cdef class Patterns:
    cdef readonly object regexes        # the Regexes of the terms, or None: without patterns there is just state 0
    cdef Regexes terms
    cdef Lists vectors          # term ids of joint states; the handle of a vector is the state
    cdef Arena joints           # Joint, by state
    cdef Lists accepts          # sorted pattern numbers
    cdef Lists goals            # sorted handles of accepts
    cdef Lists sets             # sorted states
    cdef Arena following        # int32 by set: the set one character later, -1: not made
    cdef Arena arcs             # Edge
    cdef Arena rows             # ASCII int32
    cdef Arena nears            # Near
    cdef Index near_index       # (goal, state) -> Near
    cdef uint32_t search        # number of the last search
    cdef int64_t fuel           # left of the query under way; one unit is an edge or a set looked at
    cdef void* scratch          # owned, grows; valid until the next call that uses it
    cdef size_t scratch_room    # bytes

    cdef int32_t state_of(self, const int32_t* terms, int32_t count) except -1 nogil
    cdef int make_edges(self, int32_t state) except -1 nogil
    cdef int32_t find(self, int32_t state, uint32_t char) except -1 nogil
    cdef int32_t next_set(self, int32_t handle) except -1 nogil
    cdef int32_t set_of(self, const int32_t* states, int32_t count) except -1 nogil
    cdef int32_t set_after(self, int32_t state, int32_t length) except -1 nogil
    cdef int64_t scan(self, int32_t goal, int32_t* now) except -2 nogil
    cdef int32_t count(self, int32_t goal, int32_t state, int32_t low, int32_t high, int32_t need) except -1 nogil
    cdef bint set_meets(self, int32_t goal, int32_t handle) noexcept nogil
    cdef int nearest_path(self, int32_t goal, int32_t state, int32_t length, Edge* out) except -1 nogil
    cdef bint padded(self, int32_t goal, int32_t state) noexcept nogil
    cdef bint must_hold(self, int32_t goal) noexcept nogil
    cdef int32_t search_near(self, int32_t goal, int32_t state) except -2 nogil
    cdef int32_t at_least(self, int32_t goal, int32_t state) noexcept nogil
    cdef Near* remember(self, int32_t goal, int32_t state, int32_t length) except NULL nogil
    cdef Near* recall(self, int32_t goal, int32_t state) noexcept nogil
    cdef void* room(self, size_t bytes) except NULL nogil
    cdef int burn(self, int64_t fuel) except -1 nogil

    # The length >= low of a shortest text to the goal that is at least that long, -1: there is none.
    cdef int64_t fit(self, int32_t goal, int32_t state, int32_t low) except -2 nogil
    # How many texts to the goal have a length in [low, high]; more than `need` are need + 1.
    cdef int32_t texts(self, int32_t goal, int32_t state, int32_t low, int32_t high, int32_t need) except -1 nogil
    # A bound on the length of a shortest text to the goal, for all states that can follow from here and have one; -1: not known.
    cdef int32_t farthest(self, int32_t goal, int32_t state) except -2 nogil
    # Edges of a text to the goal of exactly this length, which exists: out[i] leads on from the text's i-th character.
    cdef int path(self, int32_t goal, int32_t state, int32_t length, Edge* out) except -1 nogil

    cdef inline Joint* joint(self, int32_t state) noexcept nogil:
        return <Joint*>self.joints.at(state)

    cdef inline int32_t edges(self, int32_t state, const Edge** out) except -1 nogil:
        """Number of edges; they stay where they are."""
        cdef const Joint* joint = self.joint(state)
        if joint.edges == NULL:
            self.make_edges(state)
        out[0] = joint.edges
        return joint.count

    cdef inline const Edge* edge_at(self, int32_t state, uint32_t char) except NULL nogil:
        """The edge by a scalar value."""
        cdef const Edge* edges
        cdef int32_t low = 0, high = self.edges(state, &edges) - 1, middle
        while low < high:
            middle = (low + high) >> 1
            if edges[middle].last < char:
                low = middle + 1
            else:
                high = middle
        return edges + low

    cdef inline int32_t step(self, int32_t state, uint32_t char) except -1 nogil:
        cdef const Joint* joint
        if state == 0:
            return 0
        joint = self.joint(state)
        if char < ASCII and joint.row != NULL:
            return joint.row[char]
        return self.find(state, char)

    cdef inline bint meets(self, int32_t goal, int32_t state) noexcept nogil:
        """May a text for this goal end in the state?"""
        return self.goals.holds(goal, self.joint(state).accept)

    cdef inline int32_t nearest(self, int32_t goal, int32_t state) except -2 nogil:
        """Characters of a shortest text to the goal, -1: there is none."""
        cdef const Joint* joint = self.joint(state)
        if joint.goal == goal:
            return joint.near
        return self.search_near(goal, state)
