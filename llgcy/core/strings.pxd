"""JSON strings and object keys, byte by byte: languages of decoded texts behind the unescape transducer.

A *language* has names (each text with an outcome) and, for all other texts, patterns and windows of lengths. A *view* is a
language under what may come now: the outcomes that are allowed. A state inside a string is a `Leaf` and a set of used names:

    lang   the view, >= 0
    d      node in the trie of the language's names; -1: none begins so
    u      node in the global trie of used names; -1: no name in it begins so, or it does not matter
    v      joint state of the patterns, 0 where there are none
    k      characters so far, clipped at the view's horizon (beyond all its bounds)
    pos    position of the transducer (unescape.pxd), 0: between characters

Everything but mask_leaf() needs the compiled grammar's lock.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from llgcy.core.machine cimport Alike, Split
from llgcy.core.names cimport NameNode, UsedNames
from llgcy.core.patterns cimport NO_BOUND, Joint, Patterns
from llgcy.core.state cimport ALIVE, DEAD, Leaf
from llgcy.core.store cimport Arena, Budget, Index
from llgcy.core.unescape cimport Range

cdef enum:
    UNKNOWN_SET = -2            # use(): the name was read without growing the trie
    MANY = 1 << 30              # a count that no number of names reaches

cdef enum Known:
    NOT_KNOWN = 0
    YES = 1
    NO = 2

cdef struct Window:             # lengths and where a text of such a length may end
    int32_t low                 # characters, both included
    int32_t high                # or NO_BOUND
    int32_t goal                # of Patterns
    int32_t number              # of the language's window

cdef struct Language:
    const NameNode* nodes       # trie of the names, root 0; owner `nodes`
    const int32_t* outcomes     # by name, in the order of the trie, >= 0; owner `numbers`
    int32_t names               # how many, >= 0
    int32_t v                   # start state of the patterns, 0: there are none
    int32_t windows             # how many; window w decides by (accept, outcome) pairs, see `ends`
    const int32_t* ends         # windows + 1 places in `outcomes_of`; owner `numbers`
    const int32_t* outcomes_of  # pairs (accept, outcome), ascending in each window; owner `numbers`

cdef struct View:
    const NameNode* nodes       # of the language
    const uint64_t* allowed     # bit i: the i-th name in the order of the trie may come; NULL: none may; owner `bits`
    const Window* windows       # with an allowed outcome, ascending in length; owner `windows`
    int32_t count               # of windows; 0: only names
    int32_t language
    int32_t names               # of the language
    int32_t v                   # start state of the patterns
    int32_t horizon             # k is clipped at it: the largest low or high + 1
    int32_t plain               # the view that lets the outcomes of these windows come alone: what can be said without names is
                                # remembered under it, for all views of the language with the same windows
    int32_t others              # handle of the content of `windows`: what is known of lengths is shared by it
    int32_t plenty              # Known: are there more texts besides the names than documents can use up?
    bint free                   # all texts may come, in all escapes: no names, no patterns, no bounds

cdef struct Count:              # a memo: texts besides the names, from (others, v, k)
    int32_t others
    int32_t v
    int32_t k
    int32_t known               # at least so many, <= MANY
    int32_t exact               # 1: not more

cdef struct Verdict:            # a memo: liveness where it took a search
    Leaf leaf                   # u = -1 where no used name begins so
    int32_t used
    int32_t alive

@cython.final
cdef class Strings:
    cdef readonly Budget budget
    cdef readonly int32_t escapes       # the set of those that are allowed, 0: all
    cdef readonly Patterns patterns
    cdef readonly UsedNames used_names
    cdef Arena languages        # Language
    cdef Arena views            # View
    cdef Arena nodes            # NameNode
    cdef Arena numbers          # int32
    cdef Arena bits             # uint64
    cdef Arena windows          # Window
    cdef Arena counts           # Count
    cdef Index count_index
    cdef Arena verdicts         # Verdict
    cdef Index verdict_index
    cdef list specs             # by language: (names in the order of the trie, bounds and tables of the windows, mask of all outcomes)
    cdef dict language_ids      # (number of the names, patterns, windows) -> language
    cdef dict names_ids         # names -> their number
    cdef dict names_met         # identity of names, which are kept so that it stays theirs -> (names, number)
    cdef dict view_ids          # (language, mask) -> view
    cdef dict others_ids        # content of windows -> handle
    cdef Leaf* stack            # scratch of a search, owned
    cdef size_t stack_room      # leaves

    # Just behind the opening quote: DEAD or ALIVE.
    cdef int start(self, int32_t view, int32_t used, Leaf* out) except -1 nogil
    # At the closing quote: the outcome, > 0; 0: the text is not in the language or used.
    cdef int32_t outcome(self, const Leaf* end, int32_t used) except -1 nogil
    # The set with the text that ends here; UNKNOWN_SET. A declared name is never looked up, so it changes nothing.
    cdef int32_t use(self, int32_t used, const Leaf* end) except -1 nogil
    # A representative with the same future for the next `horizon` characters, those only begun included (so for a token of
    # `horizon` bytes). 1: used names may still matter, 0: not. Reads only, and needs no lock.
    cdef int mask_leaf(self, const Leaf* at, int32_t used, int32_t horizon, Leaf* out) except -1 nogil
    # The leaf that stands for `at` in looks ahead, endings included; see Machine.looked.
    cdef void looked(self, const Leaf* at, int32_t used, int32_t horizon, Leaf* out) noexcept nogil

    # How a mask falls into a base without names and their difference from it. 0: walk the trie, in the middle of a character
    # or where nothing but names goes on.
    cdef int split(self, const Leaf* at, int32_t used, Split* out) except -1 nogil
    # The characters that lead to one leaf from a leaf without names, see Machine.leaf_alike.
    cdef int alike(self, const Leaf* at, Alike* out) except -1 nogil
    # Does a leaf without names stay inside whatever characters come, all of them in one and the same way as in a free string?
    cdef bint roams(self, const Leaf* at) noexcept nogil
    # What the future of a leaf without names depends on, the same in every grammar: a hashable object; None inside a character.
    cdef object content(self, const Leaf* at)
    # The bytes between two characters after which names may still tell a state apart, or that end the text: bit b & 63 of word
    # b >> 6. All, inside a character.
    cdef int telling(self, const Leaf* at, uint64_t* out) except -1 nogil
    # The bytes that may come, see Machine.may_come: where nothing but names is left, those that they go on with. Needs no lock.
    cdef void may_come(self, const Leaf* at, uint64_t* out) noexcept nogil
    # The leaf after n more characters of a free rest, see Split.free.
    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil

    # Are there more texts besides the names than any document can use up? True is exact; false where it is too hard to tell, too.
    cdef bint plenty(self, int32_t view) except -1 nogil

    # Has every text of the view that has begun any number of ends, besides the names?
    cdef bint endless(self, int32_t view) noexcept nogil
    # The text that ends at a leaf, as a str; also that of a number. None where it was read without `grow`.
    cdef object text(self, const Leaf* end)

    cdef int step_any(self, const Leaf* at, int32_t used, uint8_t byte, bint grow, Leaf* out) except -1 nogil
    cdef int alive(self, const View* view, int32_t used, const Leaf* at) except -1 nogil
    cdef int alive_between(self, const View* view, int32_t used, const Leaf* at) except -1 nogil
    cdef int alive_within(self, const View* view, int32_t used, const Leaf* at) except -1 nogil
    cdef int64_t others_through(self, const View* view, const Leaf* at, const Range* ranges, int count, int32_t need) except -1 nogil
    cdef int32_t others(self, const View* view, int32_t v, int32_t k, int32_t need) except -1 nogil
    cdef bint may_end(self, const View* view, int32_t v, int32_t k) noexcept nogil
    cdef int search(self, const View* view, int32_t used, const Leaf* at) except -1 nogil
    cdef int64_t taken(self, const View* view, int32_t used, const Leaf* at, const Range* ranges, int count) except -1 nogil
    cdef int push(self, size_t* length, int32_t d, int32_t u, int32_t v, int32_t k) except -1 nogil

    cdef int read(self, bytes leaf, Leaf* out) except -1
    cdef tuple names_number(self, names)
    cdef _new_language(self, tuple names, tuple terms, list ordered)
    cdef int check_used(self, int used) except -1
    cdef nearest_name(self, const View* view, const Leaf* at)
    cdef nearest_other(self, const View* view, int32_t used, const Leaf* at, int64_t limit)
    cdef int64_t rest_of_others(self, const View* view, int32_t v, int32_t k) except -2
    cdef list rest_text(self, const View* view, int32_t v, int32_t k, int64_t length)

    # DEAD, ALIVE, or CROSS: this byte is the closing quote and the text is in the language. With `grow` the trie of used names
    # grows along, where a text besides the names may come. `out` may be `at`.
    cdef inline int step(self, const Leaf* at, int32_t used, uint8_t byte, bint grow, Leaf* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef const Window* window
        cdef const Joint* joint
        cdef int32_t v, k
        # What masks walk over most: a character of one byte, and no name near.
        if at.pos == 0 and 0x20 <= byte < 0x80 and byte != 0x22 and byte != 0x5C and at.d < 0 and (
                at.u < 0 or used == 0 and not grow):
            if view.free:
                out[0] = at[0]
                out.u = -1
                return ALIVE
            joint = self.patterns.joint(at.v)
            if view.count == 1 and joint.row != NULL:
                window = view.windows
                v = joint.row[byte]
                k = at.k + (at.k < view.horizon)
                joint = self.patterns.joint(v)
                if joint.goal == window.goal and window.low <= k:
                    if joint.near < 0 or window.high != NO_BOUND and joint.near > window.high - k:
                        return DEAD
                    out.lang, out.d, out.u, out.v, out.k, out.pos = at.lang, -1, -1, v, k, 0
                    return ALIVE
        return self.step_any(at, used, byte, grow, out)
