"""A JSON document under a schema, byte by byte.

JSON is deterministic, so its stack needs no chart: a row is a set of alternatives of the innermost container (or value), each
linked to the row of the container around it; what they have in common, the text itself decides. What an alternative allows is
asked of the schema's automaton, once per set of alternatives, and remembered as moves between rows.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from llgcy.core.machine cimport MISS, Machine, Split
from llgcy.core.number cimport Numbers
from llgcy.core.state cimport Leaf, State
from llgcy.core.store cimport Arena, Budget, Index
from llgcy.core.strings cimport Strings, View

cdef enum Mode:         # State.mode: what comes next
    START = 1           # the document's value
    VALUE = 2           # a value inside a container
    FIRST_ITEM = 3      # after "[": a value or "]"
    FIRST_KEY = 4       # after "{": a key or "}"
    NEXT_KEY = 5        # after "," in an object
    KEY = 6             # inside a key; leaf is of Strings
    COLON = 7           # after a key
    STRING = 8          # inside a string; leaf is of Strings. gap 1: it may not be one of those in Side.used, which were not known
    NUMBER = 9          # inside a number; leaf.lang and leaf.v are of Numbers
    LITERAL = 10        # inside null, true or false: leaf.v says which, leaf.k bytes read
    AFTER = 11          # after a value inside a container: "," or the end of the container
    END = 12            # after the document
    LOOSE = 13          # as AFTER in an array, but the row does not know the item: nobody took note of it. leaf.k: Stage, leaf.v: 1 in an array. Only where
                        # grow is false; most of what follows is answered by ASK

cdef enum Stage:        # how far one has come since such an item
    BEHIND = 0          # a comma or the end of the array comes next
    AHEAD = 1           # after the comma
    OPENED = 2          # after "{" or "["
    BEGUN = 3           # after the first byte of another value, or a quote after OPENED: nothing more can be said

cdef enum Watch:        # Row.watch: of an ARRAY row, and of the rows of its items. As in llgcy.schema.automaton
    WATCHED = 1         # which values the items have decides what may follow: each is told to the row by a move SEEN ...
    BESIDE = 2          # ... but for strings: those are kept in Side.used, and none of them may come again

cdef enum Kind:         # Row.kind
    DOCUMENT = 0        # row 0: around the document; it has no alternatives
    ANY_VALUE = 1       # ids are values of the automaton; links: the container rows after the value
    OBJECT = 2          # ids are objects; links: the rows after the object (around it)
    ARRAY = 3           # ids are arrays

cdef enum Event:        # what a move reads
    NULL_ = 0
    TRUE_ = 1
    FALSE_ = 2
    TEXT = 3            # a string; argument: its outcome
    NUMERAL = 4         # a number; argument: its outcome
    OPEN_OBJECT = 5
    OPEN_ARRAY = 6
    NAME = 7            # a key; argument: its outcome
    ITEM = 8            # on to the item behind a run
    ITEM_OF_RUN = 9     # on to an item of the run: the array stays what it is
    CLOSE = 10
    SEEN = 11           # on to the same array, the last item of which had this value; argument: its number in automaton.items_seen

cdef struct Alternative:
    int32_t id          # of the automaton, by the row's kind
    int32_t link        # row, older than this one

cdef struct Row:
    int32_t kind        # Kind
    int32_t first       # handle in alternatives
    int32_t count       # alternatives, ids rising and distinct, >= 1 but for row 0
    int32_t strings     # ANY_VALUE: view of its strings; OBJECT: view of its keys; -1: not asked yet, -2: none
    int32_t number      # ANY_VALUE: language of its numbers; -1: not asked yet, -2: none. ARRAY: items of its run; -1: not asked yet
    int32_t watch       # set of Watch
    int32_t loose       # ARRAY: ArrayShape.loose | possible << 8; -1: not asked yet

cdef struct Move:
    int32_t row         # from
    int32_t event       # Event
    int32_t argument    # outcome, or 0
    int32_t to          # row, -1: not allowed
    int32_t extra       # NAME: 1 where the name must be remembered, since the outcome does not determine it

cdef struct Side:       # what the text alone decides, one record for each open container; side 0 is around the document
    int32_t parent      # of the container around this one
    int32_t used        # set of names in Strings: extra keys of this object so far; BESIDE: strings of this array so far
    int32_t depth       # containers open, >= 0
    int32_t read        # of an array: items of the run that its row stands in (see ArrayShape.run)
    int32_t content     # 0: its value does not matter. Else it is (in) an item of a WATCHED array, and this is what has been read
                        # of it, in automaton.items_seen; UNKNOWN_CONTENT: nobody took note of some part
    int32_t near        # the same with the names of the containers around it erased (used = UNKNOWN_NAMES where there are any)
    int32_t far         # ... and its own too. Masks are remembered under these: nearly no token reads a whole further key. In
                        # both, runs that no token can finish are at their beginning, and contents are unknown

@cython.final
cdef class JsonMachine(Machine):
    cdef readonly object automaton      # llgcy.schema.automaton.Automaton
    cdef readonly Strings strings
    cdef readonly Numbers numbers
    cdef Budget budget
    cdef Arena rows, alternatives, moves, sides
    cdef Index row_index, move_index, side_index
    cdef int32_t begin                  # row of the document's value
    cdef int32_t gap                    # most bytes of white space between two tokens
    cdef bint surrounded                # white space may stand around the document
    cdef bint laid                      # white space is laid out by rule: State.gap is what _gap() makes of it, and gap counts for nothing
    cdef int32_t indent                 # spaces for each level of an indented document, else -1
    cdef bytes table                    # the automaton between tokens, or None ...
    cdef const int32_t* gaps            # ... where it is: 8 columns, see llgcy.schema.layout
    cdef int32_t horizon                # bytes of the longest token
    cdef Leaf free_string, counted_string       # see Machine.free_leaf
    cdef dict languages                 # id of a StringSpec: (its language in strings, the spec, so that the id stays its own)
    cdef dict shapes                    # (kind, ids): the automaton's shape
    cdef dict parts                     # (mode, row, items of the run): what ends the container or value, None: names used decide; MOST_RESTS at most
    cdef dict rests                     # endings known: of states between the tokens of the text, by their bytes; MOST_RESTS at most
    cdef readonly int64_t asked         # moves that the automaton was asked for
    cdef int32_t _row(self, int32_t kind, list alternatives) except -1
    cdef int32_t _union(self, list rows) except -1
    cdef int32_t _side(self, int32_t parent, int32_t used, int32_t depth, int32_t read, int32_t content, int32_t left) except -1 nogil
    cdef int32_t _side_with(self, int32_t side, int32_t row, int32_t used, int32_t content) except -1 nogil
    cdef int32_t _watch(self, int32_t kind, list content) except -1
    cdef int32_t _loose(self, int32_t row) except -1 nogil
    cdef int32_t _loose_of(self, int32_t row) except -1
    cdef int _loosely(self, const State* at, uint8_t byte, State* out) except -1 nogil
    cdef int _string(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int _number_end(self, const State* at, State* out) except -1 nogil
    cdef int _finished(self, int32_t row, int32_t side, int32_t value, bint beside, State* out) except -1 nogil
    cdef int32_t _content_with(self, int32_t content, int32_t value) except -3 nogil
    cdef int32_t _strings_used(self, const State* at) noexcept nogil
    cdef int32_t _text_value(self, const Leaf* end) except -2 nogil
    cdef int32_t _run_of(self, int32_t row) except -1
    cdef int32_t _run(self, int32_t row) except -1 nogil
    cdef int _item(self, const State* at, State* out) except -1 nogil
    cdef int _has_key(self, int32_t row, int32_t used) except -1 nogil
    cdef int32_t _language(self, object spec) except -1
    cdef const Move* _move(self, int32_t row, int32_t event, int32_t argument) except NULL nogil
    cdef const Move* _known(self, int32_t row, int32_t event, int32_t argument) noexcept nogil
    cdef int _ready_move(self, const State* at, int32_t event, int32_t argument, State* out) noexcept nogil
    cdef const Move* _publish(self, const Move* move) except NULL nogil
    cdef int _ask(self, Move* move) except -1
    cdef int _ask_begin(self, Move* move, list content, object shape) except -1
    cdef int32_t _beyond(self, list content, object which) except -2
    cdef int32_t _inside(self, int32_t kind, list content, object opened, bint stay) except -2
    cdef int32_t _strings(self, int32_t row) except -3 nogil
    cdef int32_t _view_of(self, int32_t row) except -3
    cdef int32_t _language_of(self, int32_t row) except -3
    cdef int32_t _number(self, int32_t row) except -3 nogil
    cdef int _value(self, const State* at, int32_t row, uint8_t byte, bint grow, State* out) except -1 nogil
    cdef int _after(self, const State* at, int32_t row, int32_t side, State* out) except -1 nogil
    cdef int _close(self, const State* at, State* out) except -1 nogil
    cdef int _behind(self, const State* at, uint8_t byte, State* out) except -1 nogil
    cdef int _open_key(self, const State* at, State* out) except -1 nogil
    cdef bytes _key_of(self, int32_t kind, list content)
    cdef list _alternatives(self, int32_t handle)
    cdef object _shape(self, int32_t kind, tuple ids)
    cdef bytes _feed(self, State* at, bytes text)
    cdef bytes _white(self, State* at, uint8_t byte)
    cdef int32_t _gap(self, const State* at, uint8_t byte) noexcept nogil
    cdef int _ways(self, int32_t mode, int32_t gap) noexcept nogil
    cdef int _leads_on(self, const State* at, int32_t gap) except -1 nogil
    cdef bytes _next_part(self, const State* at)
    cdef bytes _part(self, const State* at, int32_t row, object names)
    cdef str _such_as(self, const State* at, str before)
    cdef int _key(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil
