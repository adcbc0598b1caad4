"""Earley rows whose items carry the row to go on with: what may still be read, for every derivation at once.

A *row* is a set of unfinished items and an accept flag. An item does not name the row where its rule began; it names the row to
go on with when the rule ends, its *return row*. So there is one operation, goto(row, symbol): over a lexeme it is the next row,
over a symbol with rules it is a return row. Rows are closed (what may be empty is passed, ended rules are replaced by the items
of their return rows), immutable and hash-consed, so two rows that behave alike link by link are one row; repetition, right
recursion and ambiguous operators run in a constant number of rows.

What does not depend on the links is computed once per *shape*: the places of a row in the order of the grammar, and the accept
flag. Slot i of a row holds what it has at place i of its shape.

A row is linked to older rows, or to rows of its own *component* (left recursion): rows made together, with neighbouring handles.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from llgcy.core.store cimport Arena, Budget, Index, Probe
from llgcy.core.tables cimport Count, GrammarTables, Place

cdef enum:
    NO_ROW = 0              # handle of the row that does not exist: nothing may be read
    END_ROW = 1             # the text ends here

cdef struct Item:
    int32_t place           # where it stands
    int32_t ret             # row to go on with behind the rule; while rows are being made ~i: variable i of the system
    int32_t low             # of a counted place: copies read, any number of low .. high; else 0
    int32_t high

cdef struct Row:
    int32_t shape           # handle
    int32_t first           # handle of its first item; sorted by place, low, high, ret
    int32_t length          # items
    int32_t component       # first row of its component
    int32_t together        # rows in its component
    int32_t view            # row that stands for it where only `horizon` lexemes matter; NO_ROW: not made yet
    int32_t parts           # handle in ints: older rows that it contains as a whole
    int32_t n_parts
    uint8_t accept          # the text may end here
    uint8_t cyclic          # linked with itself
    uint8_t plain           # it is its own view
    uint8_t met             # by the search for rows whose views are missing, on the first row of a component; else 0
    int64_t cost            # bytes of a shortest ending; 0 where accept
    int64_t cost_on         # bytes of a shortest ending with at least one lexeme; FAR: nothing follows

cdef struct Wait:           # an item or a predicted item, as a shape sees it
    int32_t place
    int32_t source          # slot whose links it has; ~symbol: it is predicted, and goes on with what `symbol` leads to

cdef struct Template:       # goto over one symbol for all rows of one shape
    int32_t fresh           # handle of `n_fresh` Waits: places where items will stand
    int32_t n_fresh
    int32_t copies          # handle of `n_copies` Waits: counted places of which one copy is read
    int32_t n_copies
    int32_t pops            # handle in ints of `n_pops` slots whose rules end
    int32_t n_pops

cdef struct Shape:
    int32_t places          # handle in ints of `n_places` places, ascending
    int32_t n_places
    int32_t symbols         # handle in ints of `n_symbols` symbols that are waited for, ascending: lexemes come first
    int32_t n_symbols
    int32_t n_lexemes       # of these
    int32_t starts          # handle in ints: n_symbols + 1 offsets into `waits`
    int32_t waits           # handle of the Waits, by symbol
    int32_t templates       # handle in ints of n_symbols Template handles + 1; 0: not made yet
    int32_t lexer           # joint state of the lexer where a lexeme starts; 0: not made yet. Written by the lexer's owner
    uint8_t accept

cdef struct Goto:
    int32_t row
    int32_t symbol
    int32_t to

cdef struct Union:          # rows taken together, or a component looked up by its content
    int32_t key             # handle in ints
    int32_t n_key
    int32_t rows            # handle in ints: the one row, or the row of each colour
    int32_t n_rows

cdef struct Variable:       # a row in the making
    int32_t symbol
    int32_t first           # of its items in the scratch buffer
    int32_t length
    int32_t parts           # of the rows it contains, in the scratch buffer
    int32_t n_parts
    int32_t row             # when solved
    int32_t order           # Tarjan's index, from 1; 0: not visited
    int32_t low             # Tarjan's low link
    int32_t at              # next item to look at
    int32_t colour          # class of bisimilar variables of its component
    int32_t rank            # the next colour
    int32_t copy            # first of its items with colours in the scratch buffer
    int32_t n_copy
    uint8_t accept
    uint8_t stacked         # on Tarjan's stack

cdef struct Link:           # a link inside a component
    int32_t row             # the row that has it
    int32_t item            # handle of the item

cdef struct Due:            # a row that is reached at some cost
    int64_t cost            # bytes
    int32_t row

cdef struct Buffer:         # scratch memory; grows, is never shrunk, never holds anything between calls
    char* data
    size_t room             # bytes

# The buffer's memory with at least `bytes`; what it holds stays, but may move.
cdef void* room(Buffer* b, size_t bytes) except NULL nogil
# Puts x behind the n[0] numbers in the buffer.
cdef int push(Buffer* b, int32_t* n, int32_t x) except -1 nogil

@cython.final
cdef class Rows:
    cdef readonly GrammarTables tables
    cdef readonly Budget budget
    cdef readonly int32_t horizon       # lexemes ahead that a view is exact for, >= 1
    cdef readonly int32_t start         # row before the first lexeme
    cdef readonly int64_t work          # items and rows touched so far
    cdef readonly int64_t merge_work    # of these, touched to compare components
    cdef readonly int64_t n_rows        # real rows: without what stores skip
    cdef Arena rows, items, shapes, waits, templates, gotos, unions, ints
    cdef Index row_index, shape_index, goto_index, union_index, cycle_index
    cdef int32_t* variable_of           # [n_symbols] while a system is made: number + 1 of the symbol's variable; else 0; owned
    cdef uint8_t* marked                # [n_symbols] while a shape is made: met; else 0; owned
    # Scratch, in elements of the type named. The system in the making: variables, their items, and rows contained in them.
    cdef Buffer variables               # Variable
    cdef int32_t n_variables
    cdef Buffer system                  # Item
    cdef int32_t n_system
    cdef Buffer contained               # int32
    cdef int32_t n_contained
    cdef Buffer copies                  # Item: of a component, with colours for variables
    cdef Buffer key                     # int32: content of a shape
    cdef Buffer form                    # int32: content of a component
    cdef Buffer list                    # int32: rows
    cdef Buffer path                    # int32: variables on the way of the search for components
    cdef Buffer stack                   # int32: variables met and not solved
    cdef Buffer group                   # int32: variables of a component; symbols of a template; rows that need not be added
    cdef Buffer leaders                 # int32: per colour one variable
    cdef Buffer matched                 # int32: per colour its row
    cdef Buffer candidates              # int32: rows that may be bisimilar to a leader, ascending
    cdef Buffer related                 # char per (colour, candidate): not known to differ
    cdef Buffer views                   # int32: components
    cdef Buffer fresh                   # Wait
    cdef Buffer counted                 # Wait
    cdef Buffer popped                  # int32
    cdef Buffer links                   # Link: backwards, by row
    cdef Buffer heap                    # Due

    cdef inline Row* row(self, int32_t row) noexcept nogil:
        return <Row*>self.rows.at(row)

    cdef inline Shape* shape(self, int32_t shape) noexcept nogil:
        return <Shape*>self.shapes.at(shape)

    # The row after `symbol`; NO_ROW where it is not waited for.
    cdef int32_t goto(self, int32_t row, int32_t symbol) except -1 nogil
    # All of `n` rows at once; `rows` is sorted by it. n >= 1, none of them NO_ROW.
    cdef int32_t union_of(self, int32_t* rows, int32_t n) except -1 nogil
    # The row that stands for `row` where only the next `horizon` lexemes matter.
    cdef int32_t view_of(self, int32_t row) except -1 nogil

    # Everything below is the store's own.
    cdef int _begin(self) except -1
    cdef void _clear(self) noexcept nogil
    cdef int _variable(self, int32_t symbol) except -1 nogil
    cdef int _item(self, int32_t place, int32_t ret, int32_t low, int32_t high) except -1 nogil
    cdef int _close(self, int32_t variable, bint accept) except -1 nogil
    cdef int32_t _known(self, int32_t row, int32_t symbol) noexcept nogil
    cdef int32_t _wait(self, const Shape* shape, int32_t symbol) noexcept nogil
    cdef int32_t _goto(self, int32_t row, int32_t symbol) except -1 nogil
    cdef int _refer(self, int32_t row, int32_t symbol, int32_t* out) except -1 nogil
    cdef int _substitute(self, int32_t row, int32_t variable) except -1 nogil
    cdef int32_t _slot(self, const Row* r, const Shape* shape, int32_t slot, int32_t* end) noexcept nogil
    cdef int _copy(self, int32_t place, int32_t ret, int32_t low, int32_t high) except -1 nogil
    cdef int _contain(self, int32_t n, int32_t variable) except -1 nogil
    cdef Union* _union(self, Index index, uint64_t hash, const int32_t* key, int32_t n) noexcept nogil
    cdef int _remember(self, Index index, uint64_t hash, const int32_t* key, int32_t n, const int32_t* rows,
                       int32_t n_rows) except -1 nogil
    cdef int32_t _keep(self, const int32_t* data, int32_t n) except -1 nogil
    cdef int32_t _shape(self, const Item* items, int32_t n, bint accept) except -1 nogil
    cdef int _predict(self, Shape* shape) except -1 nogil
    cdef Template* _template(self, Shape* shape, int32_t k) except NULL nogil
    cdef int32_t _keep_waits(self, const Buffer* b, int32_t n) except -1 nogil
    cdef int _solve(self) except -1 nogil
    cdef int _component(self, int32_t n) except -1 nogil
    cdef int32_t _normal(self, Item* items, int32_t n) noexcept nogil
    cdef int32_t _undominated(self, Item* items, int32_t n) noexcept nogil
    cdef int32_t _row(self, const Item* items, int32_t n, bint accept, const int32_t* parts, int32_t n_parts) except -1 nogil
    cdef uint64_t _hash(self, const Item* items, int32_t n, bint accept) noexcept nogil
    cdef int _write(self, int32_t at, const Item* items, int32_t n, bint accept) except -1 nogil
    cdef int _cycle(self, int32_t n) except -1 nogil
    cdef int _layer(self, int32_t* group, int32_t n) except -1 nogil
    cdef int32_t _refine(self, int32_t* group, int32_t n) except -1 nogil
    cdef int _compare(self, int32_t a, int32_t b) noexcept nogil
    cdef int _sort_group(self, int32_t* group, int32_t n) except -1 nogil
    cdef int _unrolled(self, int32_t classes) except -1 nogil
    cdef bint _alike(self, const Variable* v, const Row* r) noexcept nogil
    cdef bint _bisimilar(self, const Variable* v, const Row* r, int32_t n_rows) noexcept nogil
    cdef bint _partners(self, const Item* a, const Item* b, int32_t n_rows) noexcept nogil
    cdef int _new_component(self, int32_t classes) except -1 nogil
    cdef int64_t _rest(self, const Item* it) noexcept nogil
    cdef int32_t _copies(self, const Item* it) noexcept nogil
    cdef int _summarise(self, int32_t first, int32_t n) except -1 nogil
    cdef int _spread(self, int32_t first, int32_t n, int32_t n_links) except -1 nogil
    cdef void _look_far(self, const Item* it, Item* out) noexcept nogil
    cdef bint _is_far(self, const Item* it) noexcept nogil
    cdef int32_t _gather(self, int32_t component, int32_t* n) except -1 nogil
    cdef int _view(self, int32_t first) except -1 nogil
    cdef Row* _checked(self, int32_t row) except NULL
