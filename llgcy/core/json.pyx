"""The JSON machine: see json.pxd for its state and its rows."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.lock cimport atomic_load, atomic_store
from llgcy.core.machine cimport MISS, Alike, Machine, Split, read_state
from llgcy.core.number cimport Numbers
from llgcy.core.state cimport ALIVE, ASK, CROSS, DEAD, Leaf, State
from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes, mix
from llgcy.core.strings cimport Strings, View
from llgcy.core.unescape cimport QUOTE, REFUSED, WITHIN, advance

from llgcy.errors import LimitError, UnclearError

cdef enum:
    DEPTH = 2000            # containers open at once; the mask loses the token that would open one more
    UNKNOWN_NAMES = -2      # Strings: a name was read of which nobody took note
    UNKNOWN_CONTENT = -2    # Side.content
    EMPTY = 1               # Side.content, as in llgcy.schema.values
    UNKNOWN_VALUE = -1      # a value was read of which nobody took note
    MANY_ITEMS = 1 << 30    # more items than any text has
    MOST_AROUND = 128       # bytes of white space around an indented document
    SPACE_DUE = 1 << 30     # State.gap behind a colon, where the layout indents: a space must come; one more: it has
    NOW = 1                 # in the last two columns of the table: so it is; else it may become so
    INTO = 1
    OUT = 2
    AROUND_ROW = 1          # rows of the table where gaps begin, see llgcy.schema.layout
    FIRST_ROW = 2
    AFTER_ROW = 3
    BEHIND_NAME_ROW = 4
    SIDE_KEY = 5            # leading fields of a Side that are its key

cdef enum:              # kinds of values, as in llgcy.schema.formula, and the bits of llgcy.schema.supply
    LITERAL_KIND = 0
    NUMBER_KIND = 1
    STRING_KIND = 2
    OBJECT_KIND = 3
    ARRAY_KIND = 4
    MINUS_BIT = 5
    DIGIT_BIT = 6
    TEXTS_BIT = 7
    POSSIBLE = 8            # Row.loose: from this bit on the kinds that are possible at all

cdef const char** WORDS = ["null", "true", "false"]

cdef struct RowKey:         # hashed as bytes, followed by the alternatives
    int32_t kind
    int32_t count

# What begins so, for messages.
cdef dict SIGNS = {0x7B: "an object", 0x5B: "an array", 0x5D: "']'", 0x7D: "'}'", 0x2C: "','", 0x3A: "':'", 0x6E: "null", 0x74: "true", 0x66: "false"}
cdef enum:
    LONGEST_EXAMPLE = 60    # bytes
    MOST_RESTS = 1024       # endings that are remembered; full, the memory begins anew
    FIRST_RESTS = 8         # ... of the places on one way to the end
    LONGEST_REST = 1024     # bytes of one


cdef inline bint is_white(uint8_t byte) noexcept nogil:
    """White space of RFC 8259, section 2."""
    return byte == 0x20 or byte == 0x0A or byte == 0x0D or byte == 0x09


cdef inline void put_bytes(uint64_t* set_, const char* bytes_, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        set_[<uint8_t>bytes_[i] >> 6] |= <uint64_t>1 << (<uint8_t>bytes_[i] & 63)


@cython.final
cdef class JsonMachine(Machine):
    """Recognises the JSON texts that an automaton of the schema layer accepts.

    Parameters
    ----------
    automaton : llgcy.schema.automaton.Automaton
        What the schema allows; asked lazily.
    budget : Budget
        For rows, strings and numbers, bytes.
    horizon : int
        Bytes of the longest token.
    gap : int
        Most bytes of white space between two tokens of the text.
    surrounded : bool
        May white space stand before and after the document?
    escapes : int
        The set of escapes that strings may have, see `llgcy.core.unescape.escape_set`.
    indent : int
        Spaces for each level, as ``json.dumps(indent=)`` writes them; -1: white space is free.
    table : bytes or None
        White space and separators, see `llgcy.schema.layout.table`; then `gap` and `surrounded` count for nothing.
    """

    def __cinit__(self, object automaton not None, Budget budget not None, int32_t horizon, int32_t gap=128, bint surrounded=False, *,
                  int32_t escapes=0, int32_t indent=-1, bytes table=None):
        self.automaton, self.budget, self.horizon, self.gap, self.surrounded = automaton, budget, horizon, gap, surrounded
        self.indent, self.table, self.laid = indent, table, indent >= 0 or table is not None
        if table is not None:
            self.gaps = <const int32_t*><const char*>table
        automaton.endings.escapes = escapes
        self.strings = Strings(automaton.regexes, budget, escapes)
        self.numbers = Numbers(budget)
        self.rows, self.alternatives = Arena(budget, sizeof(Row)), Arena(budget, sizeof(Alternative))
        self.moves, self.sides = Arena(budget, sizeof(Move)), Arena(budget, sizeof(Side))
        self.row_index, self.move_index, self.side_index = Index(budget), Index(budget), Index(budget)
        self.shapes, self.languages, self.rests, self.parts = {}, {}, {}, {}
        self.rows.add(1)                # row 0: around the document
        self.sides.add(1)               # side 0 likewise
        self.begin = self._row(ANY_VALUE, [(automaton.start, 0)])
        cdef int32_t view = self.strings.view(self.strings.language((), (), ((0, None, {0: 1}),)))
        self.strings.start(view, 0, &self.free_string)
        view = self.strings.view(self.strings.language((), (), ((0, 1 << 20, {0: 1}),)))
        self.strings.start(view, 0, &self.counted_string)

    @property
    def tail_bytes(self):
        """The bytes that may go on where the document may end: those of a number, white space where it may stand around."""
        number = self._number(self.begin) >= 0
        return (b"0123456789.eE+-" if number else b"") + (b" \t\n\r" if self.surrounded else b"")

    def stats(self):
        """Counters, as a dict of int."""
        return {"rows": self.rows.length, "moves": self.moves.length, "moves_asked": self.asked, "sides": self.sides.length,
                "bytes": self.budget.used}

    # -- rows -----------------------------------------------------------------------------------------------------------

    cdef int32_t _row(self, int32_t kind, list alternatives) except -1:
        """The row of these (id, link); alternatives that differ in the link alone become one."""
        cdef dict merged = {}
        cdef int32_t i, handle, count
        cdef Row* row
        cdef Probe probe
        cdef Alternative* alternative
        for id_, link in alternatives:
            if id_ in merged and merged[id_] != link:
                merged[id_] = self._union([merged[id_], link])
            else:
                merged[id_] = link
        cdef list content = sorted(merged.items())
        count = <int32_t>len(content)
        cdef bytes key = self._key_of(kind, content)
        cdef size_t hash_ = hash_bytes(<const char*>key, len(key))
        self.row_index.begin(hash_, &probe)
        while True:
            handle = self.row_index.next(&probe)
            if handle < 0:
                break
            row = <Row*>self.rows.at(handle)
            if row.kind == kind and row.count == count and memcmp(
                    self.alternatives.at(row.first), <const char*>key + sizeof(RowKey), count * sizeof(Alternative)) == 0:
                return handle
        i = self.alternatives.add(count)
        memcpy(self.alternatives.at(i), <const char*>key + sizeof(RowKey), count * sizeof(Alternative))
        handle = self.rows.add(1)
        row = <Row*>self.rows.at(handle)
        row.kind, row.first, row.count, row.strings, row.number, row.loose = kind, i, count, -1, -1, -1
        row.watch = self._watch(kind, content)
        self.row_index.add(hash_, handle)
        return handle

    cdef int32_t _watch(self, int32_t kind, list content) except -1:
        """`Row.watch` of these alternatives."""
        cdef int32_t watch = 0
        if kind == ARRAY:
            return self.automaton.watch([id_ for id_, _ in content])
        if kind == ANY_VALUE:
            for _, link in content:
                if (<Row*>self.rows.at(link)).kind == ARRAY:
                    watch |= (<Row*>self.rows.at(link)).watch
        return watch

    cdef bytes _key_of(self, int32_t kind, list content):
        cdef bytearray key = bytearray(sizeof(RowKey) + len(content) * sizeof(Alternative))
        cdef char* at = key
        cdef RowKey* head = <RowKey*>at
        cdef Alternative* alternative = <Alternative*>(at + sizeof(RowKey))
        cdef Py_ssize_t i
        head.kind, head.count = kind, <int32_t>len(content)
        for i in range(len(content)):
            alternative[i].id, alternative[i].link = content[i]
        return bytes(key)

    cdef list _alternatives(self, int32_t handle):
        """[(id, link)] of a row."""
        cdef Row* row = <Row*>self.rows.at(handle)
        cdef Alternative* alternative = <Alternative*>self.alternatives.at(row.first)
        cdef int32_t i
        return [(alternative[i].id, alternative[i].link) for i in range(row.count)]

    cdef int32_t _union(self, list rows) except -1:
        """All of them at once. They are rows of one kind, since the text has opened the same containers for all."""
        cdef set different = set(rows)
        cdef list content = []
        if len(different) == 1:
            return rows[0]
        for row in different:
            content += self._alternatives(row)
        return self._row((<Row*>self.rows.at(rows[0])).kind, content)

    cdef int32_t _side(self, int32_t parent, int32_t used, int32_t depth, int32_t read, int32_t content, int32_t left) except -1 nogil:
        """A side; `left`: items until its run is over."""
        cdef Side side
        cdef Probe probe
        cdef int32_t handle, around
        cdef size_t hash_
        side.parent, side.used, side.depth, side.read, side.content = parent, used, depth, read, content
        hash_ = hash_bytes(&side, SIDE_KEY * sizeof(int32_t))
        self.side_index.begin(hash_, &probe)
        while True:
            handle = self.side_index.next(&probe)
            if handle < 0:
                break
            if memcmp(self.sides.at(handle), &side, SIDE_KEY * sizeof(int32_t)) == 0:
                return handle
        handle = self.sides.add(1)
        around = (<Side*>self.sides.at(parent)).far
        if left > self.horizon:         # no token has so many items: as if the run had just begun
            read = 0
        if content:
            content = UNKNOWN_CONTENT
        if around == parent and read == side.read and content == side.content:
            side.near = handle
        else:
            side.near = self._side(around, used, depth, read, content, 0)
        side.far = side.near if used == 0 or used == UNKNOWN_NAMES else self._side(around, UNKNOWN_NAMES, depth, read, content, 0)
        (<Side*>self.sides.at(handle))[0] = side
        self.side_index.add(hash_, handle)
        return handle

    cdef int32_t _side_with(self, int32_t side, int32_t row, int32_t used, int32_t content) except -1 nogil:
        """The side of the container `row` with other names used and another content."""
        cdef const Side* old = <const Side*>self.sides.at(side)
        if used == old.used and content == old.content:
            return side
        return self._side(old.parent, used, old.depth, old.read, content, self._run(row) - old.read if old.read else 0)

    # -- the values of items --------------------------------------------------------------------------------------------

    cdef int32_t _content_with(self, int32_t content, int32_t value) except -3 nogil:
        """A content with one part more; 0 where it does not matter."""
        if content == 0:
            return 0
        if content == UNKNOWN_CONTENT or value == UNKNOWN_VALUE:
            return UNKNOWN_CONTENT
        with gil:
            return self.automaton.items_seen.chain(content, value)

    cdef int32_t _text_value(self, const Leaf* end) except -2 nogil:
        """The value of a string that ends here; UNKNOWN_VALUE where nobody took note."""
        with gil:
            text = self.strings.text(end)
            return UNKNOWN_VALUE if text is None else self.automaton.items_seen.string(text)

    cdef int _finished(self, int32_t row, int32_t side, int32_t value, bint beside, State* out) except -1 nogil:
        """The state after a value whose container (or the document) goes on with `row`, and has `side`.

        `value`: its number in automaton.items_seen, or UNKNOWN_VALUE; `beside`: a string that `side` has taken note of already.
        """
        cdef const Side* old
        if row < 0:
            return DEAD
        if row:
            old = <const Side*>self.sides.at(side)
            if old.content:
                side = self._side_with(side, row, old.used, self._content_with(old.content, value))
            if (<const Row*>self.rows.at(row)).watch and not beside:
                if value == UNKNOWN_VALUE:
                    memset(out, 0, sizeof(State))
                    out.mode, out.row, out.side, out.leaf.k = LOOSE, row, side, BEHIND
                    return ALIVE
                row = self._move(row, SEEN, value).to
        memset(out, 0, sizeof(State))
        out.mode, out.row, out.side = AFTER if row else END, row, side
        return ALIVE

    cdef int _string(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        """One byte of a string whose value matters."""
        cdef const Side* side = <const Side*>self.sides.at(at.side)
        cdef bint beside = (<const Row*>self.rows.at(at.row)).watch & BESIDE
        cdef int32_t used = side.used if beside else 0, row = at.row, around = at.side, value = UNKNOWN_VALUE, to
        cdef bint unknown = at.gap
        cdef int r
        if at != out:
            out[0] = at[0]
        if used == UNKNOWN_NAMES:       # if it has begun when they were known, it is none of them, or it would be near them
            used = 0
        r = self.strings.step(&at.leaf, used, byte, grow, &out.leaf)
        if unknown and (r == CROSS or r == ALIVE and not self.strings.endless(out.leaf.lang)):
            return ASK
        if r != CROSS:
            return r
        to = self._move(row, TEXT, self.strings.outcome(&out.leaf, used)).to
        if to < 0:
            return DEAD
        if grow and (side.content or not beside):
            value = self._text_value(&out.leaf)
        if beside:
            used = UNKNOWN_NAMES if out.leaf.u < 0 or side.used == UNKNOWN_NAMES else self.strings.use(used, &out.leaf)
            around = self._side_with(around, to, used, side.content)
        return self._finished(to, around, value, beside, out)

    cdef int _number_end(self, const State* at, State* out) except -1 nogil:
        """The state after a number that may end here."""
        cdef int32_t value = UNKNOWN_VALUE, to = self._move(at.row, NUMERAL, self.numbers.outcome(at.leaf.lang, at.leaf.v)).to
        if at.leaf.u > 0:
            with gil:
                value = self.automaton.items_seen.number(self.strings.text(&at.leaf))
        return self._finished(to, at.side, value, False, out)

    cdef int32_t _loose(self, int32_t row) except -1 nogil:
        """Kinds of values that may begin after an item of which nobody took note."""
        cdef Row* at = <Row*>self.rows.at(row)
        if at.loose < 0:
            with gil:
                at.loose = self._loose_of(row)
        return at.loose

    cdef int32_t _loose_of(self, int32_t row) except -1:
        shape = self._shape(ARRAY, tuple([id_ for id_, _ in self._alternatives(row)]))
        return shape.loose | shape.possible << POSSIBLE

    cdef int _loosely(self, const State* at, uint8_t byte, State* out) except -1 nogil:
        """One byte after an item of which nobody took note."""
        cdef int32_t stage = at.leaf.k, kinds, kind, bit
        cdef State new = at[0]
        if stage == BEGUN:
            return ASK
        if is_white(byte):
            if at.gap >= self.gap:
                return DEAD
            new.gap += 1
            out[0] = new
            return ALIVE
        new.gap = 0
        if stage == BEHIND:
            if byte == 0x5D:
                return self._close(at, out)
            if byte != 0x2C:
                return DEAD
            kinds = self._loose(at.row)
            if kinds == 0:
                return DEAD
            if kinds & ((1 << POSSIBLE) - 1) == 0:
                return ASK
            new.leaf.k = AHEAD
        elif stage == OPENED:
            if byte != 0x22 or at.leaf.v and not self._loose(at.row) >> TEXTS_BIT & 1:
                return ASK
            new.leaf.k = BEGUN
        else:
            kinds = self._loose(at.row)
            kind = bit = (STRING_KIND if byte == 0x22 else OBJECT_KIND if byte == 0x7B else ARRAY_KIND if byte == 0x5B
                          else LITERAL_KIND if byte in (0x6E, 0x74, 0x66) else NUMBER_KIND)
            if kind == NUMBER_KIND:
                if byte != 0x2D and not 0x30 <= byte <= 0x39:
                    return DEAD
                bit = MINUS_BIT if byte == 0x2D else DIGIT_BIT
            if not kinds >> POSSIBLE >> kind & 1:
                return DEAD
            if kind == LITERAL_KIND or byte == 0x30 or not kinds >> bit & 1:
                return ASK
            if kind >= OBJECT_KIND and (<Side*>self.sides.at(at.side)).depth >= DEPTH:
                return DEAD
            new.leaf.k = OPENED if kind >= OBJECT_KIND else BEGUN
            new.leaf.v = kind == ARRAY_KIND
        out[0] = new
        return ALIVE

    # -- moves ----------------------------------------------------------------------------------------------------------

    cdef const Move* _move(self, int32_t row, int32_t event, int32_t argument) except NULL nogil:
        """The move, remembered; the automaton is asked for it once."""
        cdef const Move* known = self._known(row, event, argument)
        cdef Move move
        if known != NULL:
            return known
        move.row, move.event, move.argument = row, event, argument
        with gil:
            self._ask(&move)
        return self._publish(&move)

    cdef const Move* _known(self, int32_t row, int32_t event, int32_t argument) noexcept nogil:
        """The move if it is remembered, else NULL. Needs no lock."""
        cdef int32_t[3] content = [row, event, argument]
        cdef const Move* move
        cdef Probe probe
        cdef int32_t handle
        self.move_index.begin(hash_bytes(content, sizeof(content)), &probe)
        while True:
            handle = self.move_index.next(&probe)
            if handle < 0:
                return NULL
            move = <const Move*>self.moves.at(handle)
            if move.row == row and move.event == event and move.argument == argument:
                return move

    cdef const Move* _publish(self, const Move* move) except NULL nogil:
        cdef int32_t handle = self.moves.add(1)
        (<Move*>self.moves.at(handle))[0] = move[0]
        self.move_index.add(hash_bytes(move, 3 * sizeof(int32_t)), handle)
        return <const Move*>self.moves.at(handle)

    cdef object _shape(self, int32_t kind, tuple ids):
        shape = self.shapes.get((kind, ids))
        if shape is None:
            ask = (self.automaton.value_shape if kind == ANY_VALUE else self.automaton.object_shape if kind == OBJECT
                   else self.automaton.array_shape)
            shape = self.shapes[kind, ids] = ask(ids)
        return shape

    cdef int _ask(self, Move* move) except -1:
        """Completes a move: `to` and `extra`."""
        cdef int32_t kind = (<Row*>self.rows.at(move.row)).kind
        cdef list content = self._alternatives(move.row)
        cdef tuple ids = tuple([id_ for id_, _ in content])
        cdef object shape = self._shape(kind, ids)
        self.asked += 1
        move.to, move.extra = -1, 0
        if kind == ANY_VALUE:
            if move.event == TEXT:
                move.to = self._beyond(content, shape.string_outcomes[move.argument])
            elif move.event == NUMERAL:
                move.to = self._beyond(content, [shape.number_alternatives[i] for i in
                                                 self.numbers.outcomes((<Row*>self.rows.at(move.row)).number)[move.argument - 1]])
            else:
                self._ask_begin(move, content, shape)
        elif move.event == CLOSE:
            move.to = self._beyond(content, shape.end)
        elif move.event == SEEN:
            move.to = self._row(ARRAY, [(self.automaton.array_after(id_, move.argument), link) for id_, link in content])
        elif move.event == NAME:
            move.to = self._inside(kind, content, self.automaton.object_step(ids, move.argument), False)
            move.extra = bool(shape.extra >> move.argument & 1)
        else:
            move.to = self._inside(kind, content, shape.items, move.event == ITEM_OF_RUN)
        return 0

    cdef int _ask_begin(self, Move* move, list content, object shape) except -1:
        """The moves by the first byte of a value that need no lexeme: all at once, since a mask asks for all."""
        cdef Move other = move[0]
        cdef int32_t event
        for event in range(NULL_, OPEN_ARRAY + 1):
            if event == TEXT or event == NUMERAL:
                continue
            if event >= OPEN_OBJECT:
                opened = shape.object if event == OPEN_OBJECT else shape.array
                other.to = self._row(OBJECT if event == OPEN_OBJECT else ARRAY, [(id_, content[i][1]) for id_, i in opened]) if opened else -1
            else:
                other.to = self._beyond(content, shape.null if event == NULL_ else shape.true if event == TRUE_ else shape.false)
            if event == move.event:
                move.to = other.to
            else:
                other.event = event
                self._publish(&other)
        return 0

    cdef int32_t _beyond(self, list content, object which) except -2:
        """The row behind these alternatives, -1: there is none."""
        if not which:
            return -1
        return self._union([content[i][1] for i in which])

    cdef int32_t _inside(self, int32_t kind, list content, object opened, bint stay) except -2:
        """The row of the values in `opened`, whose containers go on as it says, or (`stay`) as what they are; -1: there are none."""
        if not opened:
            return -1
        return self._row(ANY_VALUE, [(value, self._row(kind, [(content[i][0] if stay else after, content[i][1]) for after, i in conts]))
                                     for value, conts in opened])

    cdef int32_t _strings(self, int32_t row) except -3 nogil:
        """The view of a row's strings or keys, -2: it has none."""
        cdef Row* at = <Row*>self.rows.at(row)
        if at.strings == -1:
            with gil:
                atomic_store(&at.strings, self._view_of(row))
        return at.strings

    cdef int32_t _view_of(self, int32_t row) except -3:
        cdef int32_t kind = (<Row*>self.rows.at(row)).kind
        cdef tuple ids = tuple([id_ for id_, _ in self._alternatives(row)])
        shape = self._shape(kind, ids)
        try:
            if kind == OBJECT:
                return self.strings.view(self._language(shape.keys), shape.allowed)
            return -2 if shape.string is None else self.strings.view(self._language(shape.string))
        except LimitError as error:
            raise self.automaton.located(error, OBJECT_KIND if kind == OBJECT else None, ids) from None

    cdef int32_t _language(self, object spec) except -1:
        # By identity: all states of one object have one spec, and its content may be thousands of names.
        cdef object known = self.languages.get(id(spec))
        if known is None:
            known = self.languages[id(spec)] = (self.strings.language(*spec), spec)
        return known[0]

    cdef int32_t _number(self, int32_t row) except -3 nogil:
        """The language of a value row's numbers, -2: it has none."""
        cdef Row* at = <Row*>self.rows.at(row)
        if at.number == -1:
            with gil:
                at.number = self._language_of(row)
        return at.number

    cdef int32_t _language_of(self, int32_t row) except -3:
        cdef tuple ids = tuple([id_ for id_, _ in self._alternatives(row)])
        shape = self._shape(ANY_VALUE, ids)
        try:
            return -2 if shape.number is None else self.numbers.language(shape.number)
        except LimitError as error:
            raise self.automaton.located(error, None, ids) from None

    cdef int32_t _run(self, int32_t row) except -1 nogil:
        """Items of an array row's run."""
        cdef Row* at = <Row*>self.rows.at(row)
        if at.number == -1:
            with gil:
                at.number = self._run_of(row)
        return at.number

    cdef int32_t _run_of(self, int32_t row) except -1:
        return min(self._shape(ARRAY, tuple([id_ for id_, _ in self._alternatives(row)])).run, MANY_ITEMS)

    # -- bytes ----------------------------------------------------------------------------------------------------------

    cdef int start(self, State* out) except -1 nogil:
        memset(out, 0, sizeof(State))
        out.mode, out.row = START, self.begin
        return ALIVE

    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        cdef State from_
        cdef int r
        cdef int32_t v, mode = at.mode
        if mode == STRING:
            if (<const Row*>self.rows.at(at.row)).watch or (<const Side*>self.sides.at(at.side)).content:
                return self._string(at, byte, grow, out)
            if at != out:
                out[0] = at[0]
            r = self.strings.step(&at.leaf, 0, byte, False, &out.leaf)
            if r != CROSS:
                return r
            v = self.strings.outcome(&out.leaf, 0)
            return self._after(out, self._move(at.row, TEXT, v).to, at.side, out)
        if mode == KEY:
            return self._key(at, byte, grow, out)
        if mode == NUMBER:
            v = self.numbers.step(at.leaf.lang, at.leaf.v, byte)
            if v:
                if at != out:
                    out[0] = at[0]
                out.leaf.v = v
                if at.leaf.u > 0:
                    out.leaf.u = self.strings.used_names.grow(at.leaf.u, byte) if grow else -1
                return ALIVE
            if self.numbers.outcome(at.leaf.lang, at.leaf.v) == 0 or self._number_end(at, &from_) != ALIVE:
                return DEAD
            if self.laid or from_.mode == LOOSE:
                return self.step(&from_, byte, grow, out)
            return self._behind(&from_, byte, out)
        if mode == LITERAL:
            if byte != <uint8_t>WORDS[at.leaf.v][at.leaf.k]:
                return DEAD
            if WORDS[at.leaf.v][at.leaf.k + 1] == 0:
                return self._finished(self._move(at.row, at.leaf.v, 0).to, at.side, at.leaf.v if grow else UNKNOWN_VALUE, False, out)
            if at != out:
                out[0] = at[0]
            out.leaf.k += 1
            return ALIVE
        if mode == LOOSE:
            return ASK if self.laid else self._loosely(at, byte, out)
        if self.laid:
            v = self._gap(at, byte)
            if v < 0:
                return DEAD
            if is_white(byte):
                r = self._leads_on(at, v)
                if r != ALIVE:
                    return r
                if at != out:
                    out[0] = at[0]
                out.gap = v
                return ALIVE
        elif is_white(byte):
            if mode == START or mode == END:
                if not self.surrounded:
                    return DEAD
            if at.gap >= self.gap:
                return DEAD
            if at != out:
                out[0] = at[0]
            out.gap += 1
            return ALIVE
        if mode == VALUE or mode == START:
            return self._value(at, at.row, byte, grow, out)
        if mode == COLON:
            if byte != 0x3A:        # ":"
                return DEAD
            if at != out:
                out[0] = at[0]
            out.mode, out.gap = VALUE, v if self.laid else 0
            return ALIVE
        if mode == AFTER:
            return self._behind(at, byte, out)
        if mode == FIRST_KEY or mode == NEXT_KEY:
            if byte == 0x22:        # quote
                return self._open_key(at, out)
            return self._close(at, out) if byte == 0x7D and mode == FIRST_KEY else DEAD
        if mode == FIRST_ITEM:
            if byte == 0x5D:        # "]"
                return self._close(at, out)
            if self._item(at, &from_) != ALIVE:
                return DEAD
            return self._value(&from_, from_.row, byte, grow, out)
        return DEAD

    cdef int ready_step(self, const State* at, uint8_t byte, State* out) noexcept nogil:
        cdef State new = at[0]
        cdef const View* view
        cdef const Row* row
        cdef int r
        cdef int32_t v, mode = at.mode
        if mode == STRING:
            view = <const View*>self.strings.views.at(at.leaf.lang)
            if not view.free:           # names and patterns have memos, which change under the lock
                return MISS
            if at.leaf.u >= 0 and ((<const Row*>self.rows.at(at.row)).watch or (<const Side*>self.sides.at(at.side)).content):
                return MISS             # note is taken of it
            v = advance(at.leaf.pos, byte, &new.leaf.pos)
            if v == QUOTE:
                v = self.strings.outcome(&at.leaf, 0)
                return self._ready_move(at, TEXT, v, out) if v else DEAD
            if v == REFUSED:
                return DEAD
            new.leaf.u = -1
            out[0] = new
            return ALIVE
        if mode == LITERAL:
            if byte != <uint8_t>WORDS[at.leaf.v][at.leaf.k]:
                return DEAD
            if WORDS[at.leaf.v][at.leaf.k + 1] == 0:
                return self._ready_move(at, at.leaf.v, 0, out)
            new.leaf.k += 1
            out[0] = new
            return ALIVE
        if mode == LOOSE:
            return MISS
        if mode == NUMBER:
            if at.leaf.u > 0:
                return MISS
            v = self.numbers.ready_step(at.leaf.lang, at.leaf.v, byte)
            if v > 0:
                new.leaf.v = v
                out[0] = new
                return ALIVE
            if v < 0:
                return MISS
            v = self.numbers.ready_outcome(at.leaf.lang, at.leaf.v)
            if v <= 0:
                return MISS if v else DEAD
            r = self._ready_move(at, NUMERAL, v, &new)
            if r != ALIVE:
                return r
            mode = new.mode
        elif mode == KEY:
            return MISS
        if self.laid:
            return MISS
        if is_white(byte):
            if new.gap >= self.gap or ((mode == START or mode == END) and not self.surrounded):
                return DEAD
            new.gap += 1
            out[0] = new
            return ALIVE
        if mode == END:
            return DEAD
        if mode == COLON:
            if byte != 0x3A:
                return DEAD
            new.mode, new.gap = VALUE, 0
            out[0] = new
            return ALIVE
        row = <const Row*>self.rows.at(new.row)
        if mode == AFTER:
            if byte == (0x7D if row.kind == OBJECT else 0x5D):
                return self._ready_move(&new, CLOSE, 0, out)
            return MISS if byte == 0x2C else DEAD
        if (mode == FIRST_KEY and byte == 0x7D) or (mode == FIRST_ITEM and byte == 0x5D):
            return self._ready_move(&new, CLOSE, 0, out)
        if mode != VALUE and mode != START:
            return MISS
        if byte == 0x22:
            v = atomic_load(&row.strings)
            if v < 0:
                return MISS if v == -1 else DEAD
            if row.watch & BESIDE:
                return MISS
            if not (<const View*>self.strings.views.at(v)).free:
                return MISS
            self.strings.start(v, 0, &new.leaf)
            new.mode, new.gap = STRING, 0
            out[0] = new
            return ALIVE
        if byte in (0x7B, 0x5B, 0x2D, 0x6E, 0x74, 0x66) or 0x30 <= byte <= 0x39:
            return MISS
        return DEAD

    cdef int _ready_move(self, const State* at, int32_t event, int32_t argument, State* out) noexcept nogil:
        """The state behind a value or a container, or MISS."""
        cdef const Move* move
        cdef int32_t side = at.side
        if (<const Side*>self.sides.at(side)).content or event != CLOSE and (<const Row*>self.rows.at(at.row)).watch:
            return MISS
        move = self._known(at.row, event, argument)
        if move == NULL:
            return MISS
        if event == CLOSE:
            side = (<const Side*>self.sides.at(side)).parent
        return self._after(at, move.to, side, out)

    cdef int _item(self, const State* at, State* out) except -1 nogil:
        """From inside an array to the value of its next item."""
        cdef const Side* side = <Side*>self.sides.at(at.side)
        cdef int32_t run = self._run(at.row), read = 0
        cdef int32_t to
        if side.read < run:
            to = self._move(at.row, ITEM_OF_RUN, 0).to
            read = side.read + 1
        else:
            to = self._move(at.row, ITEM, 0).to
        if to < 0:
            return DEAD
        if at != out:
            out[0] = at[0]
        if read != side.read:
            out.side = self._side(side.parent, side.used, side.depth, read, side.content, run - read if read else 0)
        out.mode, out.gap, out.row = VALUE, 0, to
        return ALIVE

    cdef int _open_key(self, const State* at, State* out) except -1 nogil:
        cdef int32_t used = (<Side*>self.sides.at(at.side)).used
        cdef Leaf leaf
        if self.strings.start(self._strings(at.row), 0 if used == UNKNOWN_NAMES else used, &leaf) != ALIVE:
            return DEAD
        if at != out:
            out[0] = at[0]
        out.mode, out.gap, out.leaf = KEY, 0, leaf
        return ALIVE

    cdef int _has_key(self, int32_t row, int32_t used) except -1 nogil:
        """May one more key come? ASK where the names used are not known and might be all there are."""
        cdef Leaf leaf
        cdef int32_t view = self._strings(row)
        if used != UNKNOWN_NAMES:
            return self.strings.start(view, used, &leaf)
        if self.strings.plenty(view):
            return ALIVE
        return ASK if self.strings.start(view, 0, &leaf) == ALIVE else DEAD

    cdef int _key(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        cdef Side* side = <Side*>self.sides.at(at.side)
        cdef int32_t used = side.used, outcome, content = UNKNOWN_VALUE
        cdef bint known = used != UNKNOWN_NAMES
        cdef const Move* move
        cdef int r
        if not known:
            used = 0
        if at != out:
            out[0] = at[0]
        r = self.strings.step(&at.leaf, used, byte, grow, &out.leaf)
        if not known and r == ALIVE and not self.strings.endless(out.leaf.lang):
            return ASK
        if r != CROSS:
            return r
        outcome = self.strings.outcome(&out.leaf, used)
        move = self._move(at.row, NAME, outcome)
        if move.to < 0:
            return DEAD
        if move.extra:
            if not known:
                return ASK
            used = UNKNOWN_NAMES if out.leaf.u < 0 else self.strings.use(used, &out.leaf)
        elif not known:
            used = UNKNOWN_NAMES
        if side.content and grow:
            content = self._text_value(&out.leaf)
        content = self._content_with(side.content, content)
        out.side = self._side_with(at.side, at.row, used, content)
        out.mode, out.gap, out.row = COLON, 0, move.to
        memset(&out.leaf, 0, sizeof(Leaf))
        return ALIVE

    cdef int _value(self, const State* at, int32_t row, uint8_t byte, bint grow, State* out) except -1 nogil:
        """The first byte of a value."""
        cdef State new
        cdef Side* side = <Side*>self.sides.at(at.side)
        cdef int32_t language, content = 0
        cdef int32_t watch = (<Row*>self.rows.at(row)).watch
        if watch or side.content:
            content = EMPTY if grow else UNKNOWN_CONTENT
        new = at[0]
        new.row, new.gap = row, 0
        if byte == 0x22:
            language = self._strings(row)
            if language < 0 or self.strings.start(language, side.used if watch & BESIDE and side.used > 0 else 0, &new.leaf) != ALIVE:
                return DEAD
            new.mode, new.gap = STRING, watch & BESIDE and side.used == UNKNOWN_NAMES
        elif byte == 0x7B or byte == 0x5B:
            if side.depth >= DEPTH:
                return DEAD
            new.row = self._move(row, OPEN_OBJECT if byte == 0x7B else OPEN_ARRAY, 0).to
            if new.row < 0:
                return DEAD
            new.side = self._side(at.side, 0, side.depth + 1, 0, content, 0)
            new.mode = FIRST_KEY if byte == 0x7B else FIRST_ITEM
        elif byte == 0x2D or (0x30 <= byte <= 0x39):
            language = self._number(row)
            if language < 0:
                return DEAD
            new.leaf.lang = language
            new.leaf.v = self.numbers.start(language)
            if new.leaf.v:
                new.leaf.v = self.numbers.step(language, new.leaf.v, byte)
            if new.leaf.v == 0:
                return DEAD
            if content:
                new.leaf.u = self.strings.used_names.grow(0, byte) if grow else -1
            new.mode = NUMBER
        elif byte == 0x6E or byte == 0x74 or byte == 0x66:
            new.leaf.v = NULL_ if byte == 0x6E else TRUE_ if byte == 0x74 else FALSE_
            if self._move(row, new.leaf.v, 0).to < 0:
                return DEAD
            new.mode, new.leaf.k = LITERAL, 1
        else:
            return DEAD
        out[0] = new
        return ALIVE

    cdef int _after(self, const State* at, int32_t row, int32_t side, State* out) except -1 nogil:
        """The state after a value whose container (or the document) goes on with `row`."""
        if row < 0:
            return DEAD
        memset(out, 0, sizeof(State))
        out.mode, out.row, out.side = AFTER if row else END, row, side
        return ALIVE

    cdef int _close(self, const State* at, State* out) except -1 nogil:
        cdef const Side* side = <const Side*>self.sides.at(at.side)
        cdef int32_t value = UNKNOWN_VALUE
        if side.content > 0:
            with gil:
                value = self.automaton.items_seen.closed(side.content, (<Row*>self.rows.at(at.row)).kind == OBJECT)
        return self._finished(self._move(at.row, CLOSE, 0).to, side.parent, value, False, out)

    cdef int _behind(self, const State* at, uint8_t byte, State* out) except -1 nogil:
        """One byte after a value: white space, a comma, or the end of the container."""
        cdef Row* row = <Row*>self.rows.at(at.row)
        cdef int r
        cdef int32_t gap = 0
        if self.laid:
            gap = self._gap(at, byte)       # which is allowed, and no white space: step() has seen to that
        elif is_white(byte):
            if at.gap >= self.gap or (at.mode == END and not self.surrounded):
                return DEAD
            if at != out:
                out[0] = at[0]
            out.gap += 1
            return ALIVE
        if at.mode == END:
            return DEAD
        if byte == (0x7D if row.kind == OBJECT else 0x5D):
            return self._close(at, out)
        if byte != 0x2C:
            return DEAD
        if row.kind == ARRAY:
            r = self._item(at, out)
            if r == ALIVE:
                out.gap = gap
            return r
        r = self._has_key(at.row, (<Side*>self.sides.at(at.side)).used)
        if r != ALIVE:
            return r
        if at != out:
            out[0] = at[0]
        out.mode, out.gap = NEXT_KEY, gap
        return ALIVE

    cdef int32_t _gap(self, const State* at, uint8_t byte) noexcept nogil:
        """The gap after a byte between two tokens, where white space is laid out by rule; -1: the byte may not come there."""
        cdef int32_t row = at.gap, need, depth
        cdef int32_t mode = at.mode
        if self.indent >= 0:
            depth = (<const Side*>self.sides.at(at.side)).depth
            if mode == START or mode == END:
                return 0 if not is_white(byte) else row + 1 if self.surrounded and row < MOST_AROUND else -1
            if mode == COLON:
                return SPACE_DUE if byte == 0x3A else -1
            if row >= SPACE_DUE:            # behind a colon
                return row + 1 if byte == 0x20 and row == SPACE_DUE else -1 if row == SPACE_DUE or is_white(byte) else 0
            if mode == AFTER and row == 0 and byte == 0x2C or (mode == FIRST_KEY and byte == 0x7D or mode == FIRST_ITEM and byte == 0x5D) and row == 0:
                return 0
            need = 1 + self.indent * (depth - (mode == AFTER))
            if row < need:
                return row + 1 if byte == (0x0A if row == 0 else 0x20) else -1
            # A whole line break: what follows it is a token, and behind a member or item a bracket.
            return -1 if is_white(byte) or (byte == 0x7D or byte == 0x5D) != (mode == AFTER) else 0
        if row == 0:
            row = (AROUND_ROW if mode == START or mode == END else FIRST_ROW if mode == FIRST_KEY or mode == FIRST_ITEM else
                   AFTER_ROW if mode == AFTER else BEHIND_NAME_ROW)
        if byte == 0x20 or byte == 0x09 or byte == 0x0A or byte == 0x0D:
            return self.gaps[8 * row + (0 if byte == 0x20 else 1 if byte == 0x09 else 2 if byte == 0x0A else 3)]
        if byte == 0x2C or byte == 0x3A:
            return self.gaps[8 * row + (4 if byte == 0x2C else 5)]
        return 0 if self.gaps[8 * row + (7 if byte == 0x7D or byte == 0x5D else 6)] & NOW else -1

    cdef int _ways(self, int32_t mode, int32_t gap) noexcept nogil:
        """What may come behind a gap that has begun, by the layout: INTO a token, or a bracket that goes OUT of the container."""
        if self.indent >= 0:
            return OUT if mode == AFTER else INTO
        return (INTO if self.gaps[8 * gap + 6] else 0) | (OUT if self.gaps[8 * gap + 7] else 0)

    cdef int _leads_on(self, const State* at, int32_t gap) except -1 nogil:
        """Does white space in a container leave a way that the schema has, too? ALIVE, DEAD or ASK."""
        cdef State to
        cdef int ways
        if at.mode != FIRST_KEY and at.mode != FIRST_ITEM and at.mode != AFTER:
            return ALIVE
        ways = self._ways(at.mode, gap)
        if ways == INTO | OUT or ways & OUT and self._move(at.row, CLOSE, 0).to >= 0:
            return ALIVE
        if not ways & INTO:
            return DEAD
        if (<Row*>self.rows.at(at.row)).kind == OBJECT:
            return self._has_key(at.row, (<Side*>self.sides.at(at.side)).used)
        return self._item(at, &to)

    cdef int accepting(self, const State* at) except -1 nogil:
        cdef int32_t outcome
        if at.mode != NUMBER:
            return at.mode == END and (self.table is None or at.gap == 0 or self.gaps[8 * at.gap + 6] & NOW)
        outcome = self.numbers.outcome(at.leaf.lang, at.leaf.v)
        return outcome > 0 and self._move(at.row, NUMERAL, outcome).to == 0

    # -- masks ----------------------------------------------------------------------------------------------------------

    cdef int mask_key(self, const State* at, State* out) except -1 nogil:
        cdef Side* side = <Side*>self.sides.at(at.side)
        out[0] = at[0]
        if not self.laid:
            out.gap = 0
        out.side = side.near if at.mode == KEY or at.mode == NEXT_KEY else side.far
        if at.mode == STRING:
            if self.strings.mask_leaf(&at.leaf, self._strings_used(at), self.horizon, &out.leaf):
                out.side = side.near
        elif at.mode == KEY:
            self.strings.mask_leaf(&at.leaf, side.used, self.horizon, &out.leaf)
        elif at.mode == NUMBER and at.leaf.u > 0:
            out.leaf.u = -1
        return 0

    cdef void looked(self, const State* at, State* out) noexcept nogil:
        out[0] = at[0]
        if at.mode == STRING:
            self.strings.looked(&at.leaf, self._strings_used(at), self.horizon, &out.leaf)
        elif at.mode == KEY:
            self.strings.looked(&at.leaf, max((<const Side*>self.sides.at(at.side)).used, 0), self.horizon, &out.leaf)
        elif at.mode == NUMBER and at.leaf.u > 0:
            out.leaf.u = -1

    cdef int32_t _strings_used(self, const State* at) noexcept nogil:
        """Inside a string: those that may not come again, as far as they are known."""
        cdef int32_t used = (<const Side*>self.sides.at(at.side)).used
        return used if used > 0 and (<const Row*>self.rows.at(at.row)).watch & BESIDE else 0

    cdef int ready_key(self, const State* at, State* out) noexcept nogil:
        self.mask_key(at, out)          # it reads only
        return 1

    cdef int32_t white_room(self, const State* at) noexcept nogil:
        return self.gap - at.gap if at.gap and not self.laid else -1

    cdef int behind_white(self, const State* at, State* out, int32_t* room) except -1 nogil:
        cdef int r
        if self.laid or at.mode == STRING or at.mode == KEY:
            return MISS
        r = self.step(at, 0x20, False, out)     # all four bytes are alike
        if r == ALIVE:
            room[0] = self.gap - out.gap + 1
            out.gap = 0
        return MISS if r == ASK else r

    cdef void may_come(self, const State* at, uint64_t* out) noexcept nogil:
        cdef int32_t mode = at.mode
        if mode == STRING or mode == KEY:
            self.strings.may_come(&at.leaf, out)
            return
        if mode == LOOSE:
            Machine.may_come(self, at, out)
            return
        out[0] = out[1] = out[2] = out[3] = 0
        if mode == LITERAL:
            put_bytes(out, &WORDS[at.leaf.v][at.leaf.k], 1)
            return
        put_bytes(out, b" \t\n\r", 4)
        if mode == NUMBER:
            put_bytes(out, b"0123456789-+.eE,]}", 18)
        elif mode == START or mode == VALUE or mode == FIRST_ITEM:
            put_bytes(out, b"\"{[-0123456789ntf]", 18 if mode == FIRST_ITEM else 17)
        elif mode == FIRST_KEY or mode == NEXT_KEY:
            put_bytes(out, b"\"}", 2)
        elif mode == COLON:
            put_bytes(out, b":", 1)
        elif mode == AFTER:
            put_bytes(out, b",}]", 3)

    cdef int split(self, const State* at, Split* out) except -1 nogil:
        if at.mode == STRING:
            return self.strings.split(&at.leaf, self._strings_used(at), out)
        if at.mode == KEY:
            return self.strings.split(&at.leaf, (<Side*>self.sides.at(at.side)).used, out)
        return 0

    cdef int telling(self, const State* at, uint64_t* out) except -1 nogil:
        return self.strings.telling(&at.leaf, out)

    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        return self.strings.step(at, 0, byte, False, out)

    cdef int leaf_alike(self, const Leaf* at, Alike* out) except -1 nogil:
        return self.strings.alike(at, out)

    cdef bint leaf_roams(self, const Leaf* at) noexcept nogil:
        return self.strings.roams(at)

    cdef int ready_leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) noexcept nogil:
        cdef const View* view = <const View*>self.strings.views.at(at.lang)
        cdef Leaf new = at[0]
        cdef int32_t v
        # Nothing but the number of characters matters at most.
        if not view.free and (self.strings.escapes or view.names or view.v or view.count != 1):
            return MISS
        v = advance(at.pos, byte, &new.pos)
        if v == QUOTE or v == REFUSED:
            return MISS if v == QUOTE else DEAD
        new.u = -1
        if not view.free:
            if at.k >= view.windows.high:
                return MISS
            new.k += v != WITHIN and at.k < view.horizon
        out[0] = new
        return ALIVE

    cdef object leaf_content(self, const Leaf* at):
        return self.strings.content(at)

    cdef int free_leaf(self, bint counted, Leaf* out) except -1 nogil:
        out[0] = self.counted_string if counted else self.free_string
        return 1

    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil:
        return self.strings.later(at, n, out)

    # -- what may come ---------------------------------------------------------------------------------------------------

    def expected(self, bytes state not None):
        """See `Machine.expected`: kinds of values, names, signs. JSON has no rules."""
        cdef State at, to
        cdef int byte, r
        read_state(state, &at)
        out = {}
        if at.mode == STRING or at.mode == KEY:
            out[("the rest of a string" if at.mode == STRING else "the rest of a property name") + self._such_as(&at, "")] = None
        elif at.mode == LITERAL:
            out["the rest of " + (<bytes>WORDS[at.leaf.v]).decode()] = None
        else:
            for byte in range(33, 127):                               # signs that no string holds here, and no white space
                r = self.step(&at, byte, False, &to)
                if r == DEAD or r == ASK and self.step(&at, byte, True, &to) == DEAD:
                    continue
                if to.mode == STRING or to.mode == KEY:
                    out[("a string" if to.mode == STRING else "a property name") + self._such_as(&to, '"')] = None
                elif to.mode == NUMBER:
                    out["the rest of a number" if at.mode == NUMBER else "a number"] = None
                else:
                    out[SIGNS[byte]] = None
        return [(what, None) for what in out]

    cdef str _such_as(self, const State* at, str before):
        """An example of what is left of a string, unless it is just the end of one."""
        text = self._next_part(at).decode("utf-8", "replace")
        return f" such as {before}{text}" if text != '"' and len(text) <= LONGEST_EXAMPLE else ""

    # -- endings --------------------------------------------------------------------------------------------------------

    def completion(self, bytes state not None):
        """A short text that ends the document from a state: the open lexeme, then container after container, outwards.

        Raises
        ------
        UnclearError
            The state is one of a look-ahead, and the ending depends on names which that did not note.
        LimitError
            It is too long.
        """
        cdef State at
        cdef bytes key
        cdef bytearray out = bytearray()
        cdef list places = []           # between tokens: (state, bytes before it)
        read_state(state, &at)
        while at.mode != END:
            if at.mode != STRING and at.mode != KEY and at.mode != NUMBER and at.mode != LITERAL:
                key = (<const char*>&at)[:sizeof(State)]
                rest = self.rests.get(key)
                if rest is not None:
                    out += rest
                    break
                places.append((key, len(out)))
            if at.mode == NUMBER:
                out += self._feed(&at, self.numbers.shortest(at.leaf.lang, at.leaf.v))
                self._number_end(&at, &at)
                continue
            out += self._feed(&at, self._next_part(&at))
        if len(out) <= LONGEST_REST:
            if len(self.rests) >= MOST_RESTS:
                self.rests.clear()
            for key, before in places[:FIRST_RESTS]:
                self.rests[key] = bytes(out[before:])
        return bytes(out)

    cdef bytes _feed(self, State* at, bytes text):
        """Reads an ending, with the white space between its tokens that the layout asks for. Returns what is read."""
        cdef uint8_t byte
        cdef bytearray out = bytearray()
        for byte in text:
            if self.laid and at.mode != STRING and at.mode != KEY:
                out += self._white(at, byte)
            if self.step(at, byte, True, at) != ALIVE:
                raise AssertionError(f"an ending that the grammar refuses: {text!r}")
            out.append(byte)
        return bytes(out)

    cdef bytes _white(self, State* at, uint8_t byte):
        """Reads the shortest white space behind which a byte may come, if there is any."""
        cdef State now, to
        cdef uint8_t white
        cdef list queue = [((<const char*>at)[:sizeof(State)], b"")]
        cdef set seen = set()
        for state, text in queue:
            memcpy(&now, <const char*>state, sizeof(State))
            if self.step(&now, byte, True, &to) == ALIVE:
                at[0] = now
                return text
            for white in b" \t\n\r":
                if self.step(&now, white, True, &to) == ALIVE and (to.mode, to.gap) not in seen:
                    seen.add((to.mode, to.gap))
                    queue.append(((<const char*>&to)[:sizeof(State)], text + bytes([white])))
        return b""

    cdef bytes _next_part(self, const State* at):
        """Bytes that lead from a state to the end of the lexeme, value or container that is open, or to the next such place."""
        cdef int32_t used, row
        cdef State to
        if at.mode == STRING:
            if at.gap:
                raise UnclearError("which strings are free is not known")
            return self.strings.shortest((<const char*>&at.leaf)[:sizeof(Leaf)], self._strings_used(at))
        if at.mode == LITERAL:
            return (<bytes>WORDS[at.leaf.v])[at.leaf.k:]
        used = (<Side*>self.sides.at(at.side)).used
        if at.mode == KEY:
            if used == UNKNOWN_NAMES:
                raise UnclearError("which names are free to end the key is not known")
            return self.strings.shortest((<const char*>&at.leaf)[:sizeof(Leaf)], used)
        if at.mode == NEXT_KEY:
            return b'"'
        if at.mode == COLON:
            return b":"
        if at.mode == LOOSE and (self.laid or at.leaf.k != BEHIND):
            raise UnclearError("which values are free is not known")
        row = at.row
        if self.laid and at.gap and at.mode != START and at.mode != VALUE and not self._ways(at.mode, at.gap) & OUT:
            if at.mode != FIRST_ITEM:       # a member or item must come before the end
                return b'"' if at.mode == FIRST_KEY else b","
            self._item(at, &to)
            row = to.row
        if at.mode == LOOSE or used == UNKNOWN_NAMES:
            return self._part(at, row, None)
        key = at.mode, row, (<Side*>self.sides.at(at.side)).read
        part = self.parts.get(key, self)
        if part is self:
            try:
                part = self._part(at, row, None)
            except UnclearError:                        # it depends on the names
                part = None
            if len(self.parts) >= MOST_RESTS:
                self.parts.clear()
            self.parts[key] = part
        return self._part(at, row, frozenset(self.strings.names_used(used)) if used else frozenset()) if part is None else part

    cdef bytes _part(self, const State* at, int32_t row, object names):
        """The same from a place where something begins or goes on; names: those that may not come again, None where they are not known."""
        ids = [id_ for id_, _ in self._alternatives(row)]
        if at.mode == START or at.mode == VALUE or row != at.row:
            beside = (<Row*>self.rows.at(row)).watch & BESIDE
            if beside and names is None:
                raise UnclearError("which strings are free is not known")
            endings = [self.automaton.value_ending(id_, names if beside else frozenset()) for id_ in ids]
        elif at.mode == FIRST_ITEM or (<Row*>self.rows.at(at.row)).kind == ARRAY:
            endings = [self.automaton.array_ending(id_, at.mode == FIRST_ITEM, (<Side*>self.sides.at(at.side)).read, names) for id_ in ids]
        else:
            endings = [self.automaton.object_ending(id_, names, at.mode == FIRST_KEY) for id_ in ids]
        return min(endings, key=len)
