"""For tests, and nothing else: a machine from a plain table, and what a vocabulary's trie spells."""
cimport cython
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from llgcy.core.machine cimport Machine
from llgcy.core.state cimport ALIVE, CROSS, DEAD, Leaf, State
from llgcy.core.trie cimport GROUP, Trie, Vocabulary

cdef enum:
    OUTSIDE = 1         # State.mode: leaf.v is the state, and its moves depend on the row
    INSIDE = 2          # ... inside a lexeme, whose moves do not


@cython.final
cdef class TableMachine(Machine):
    """States 0 .. n-1 (start 0) and rows 0 .. m-1 (start 0).

    Parameters
    ----------
    moves : mapping
        (row or None, state, byte) to (row, state): None where the state is inside a lexeme and stays inside.
    inside : set of int
        States inside a lexeme.
    final : set of (int, int)
        (row, state) where the text may end.
    """

    cdef object moves           # a dict, or what answers get() like one
    cdef set final, lexeme

    def __cinit__(self, object moves not None, set inside not None, set final not None):
        self.moves, self.lexeme, self.final = moves, inside, final

    cdef int start(self, State* out) except -1 nogil:
        memset(out, 0, sizeof(State))
        with gil:
            out.mode = INSIDE if 0 in self.lexeme else OUTSIDE
        return ALIVE

    cdef int step(self, const State* at, uint8_t byte, bint grow, State* out) except -1 nogil:
        with gil:
            to = self.moves.get((None, at.leaf.v, byte))
            if to is not None:
                to = (at.row, to[1])
            else:
                to = self.moves.get((at.row, at.leaf.v, byte))
                if to is None:
                    return DEAD
            memset(out, 0, sizeof(State))
            out.row, out.leaf.v = to
            out.mode = INSIDE if out.leaf.v in self.lexeme else OUTSIDE
        return ALIVE

    cdef int accepting(self, const State* at) except -1 nogil:
        with gil:
            return (at.row, at.leaf.v) in self.final

    cdef int inside(self, const State* at) except -1 nogil:
        return at.mode == INSIDE

    cdef int leaf_step(self, const Leaf* at, uint8_t byte, Leaf* out) except -1 nogil:
        with gil:
            to = self.moves.get((None, at.v, byte))
            if to is None:
                return CROSS
            out[0] = at[0]
            out.v = to[1]
        return ALIVE


def spelled(Vocabulary vocabulary not None):
    """The texts of a vocabulary's trie in the order of its nodes, each with its ids, as a list of (bytes, list of int)."""
    cdef Trie trie = vocabulary.trie
    cdef int32_t i, group
    path, ends, out = bytearray(), [], []
    for i in range(trie.size):
        while ends and i >= ends[len(ends) - 1]:
            ends.pop()
            path.pop()
        ends.append(trie.nodes[i].end)
        path.append(trie.nodes[i].label >> 24)
        group = <int32_t>(trie.nodes[i].label & GROUP) - 1
        if group >= 0:
            out.append((bytes(path), [trie.ids[j] for j in range(trie.starts[group], trie.starts[group + 1])]))
    return out


def white(Vocabulary vocabulary not None):
    """The tokens that begin with white space in the order that masks read them in, as a list of (id, bytes of white space)."""
    return [(vocabulary.white[i], vocabulary.white_count[i]) for i in range(vocabulary.white_tokens)]
