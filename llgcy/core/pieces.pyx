"""What the tokens of a llama.cpp vocabulary spell, asked of llama.cpp's own functions.

The functions come as addresses, so nothing of llama.cpp is needed to build this module, and the library that is loaded is the one that
is asked. A call from C takes some 40 ns, one through ctypes 2 µs, which for 262,144 tokens is the difference between 12 ms and a second.
"""
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, uintptr_t
from libc.stdlib cimport free, realloc

cdef extern from "<stdbool.h>":
    ctypedef bint c_bool "bool"

# The signatures in llama.h. llama.cpp's functions throw for no id within the vocabulary.
ctypedef int32_t (*TokenToPiece)(const void* vocab, int32_t token, char* piece, int32_t length, int32_t lstrip, c_bool special) noexcept nogil
ctypedef int32_t (*GetAttr)(const void* vocab, int32_t token) noexcept nogil
ctypedef c_bool (*IsEog)(const void* vocab, int32_t token) noexcept nogil


def read_pieces(uintptr_t vocab, int32_t count, uintptr_t token_to_piece, uintptr_t get_attr, uintptr_t is_eog):
    """All tokens of a vocabulary.

    Parameters
    ----------
    vocab : address of a ``struct llama_vocab``
    count : int
        Its number of tokens.
    token_to_piece, get_attr, is_eog : addresses
        Of ``llama_token_to_piece``, ``llama_vocab_get_attr`` and ``llama_vocab_is_eog``.

    Returns
    -------
    pieces : list of bytes
        What each token spells; for control tokens their names.
    attributes : list of int
        Bits of ``enum llama_token_attr``.
    ends : list of int
        The ids that end a generation, ascending.

    Raises
    ------
    MemoryError
    """
    cdef int32_t token, length, size = 0
    cdef char* buffer = NULL
    cdef char* larger
    cdef list pieces = [], attributes = [], ends = []
    if not (vocab and token_to_piece and get_attr and is_eog):
        raise ValueError("an address is zero")
    try:
        for token in range(count):
            length = (<TokenToPiece>token_to_piece)(<const void*>vocab, token, buffer, size, 0, True)
            if length < 0:                  # the room that it needs
                larger = <char*>realloc(buffer, -length)
                if larger == NULL:
                    raise MemoryError(f"no room for a piece of {-length} bytes")
                buffer, size = larger, -length
                length = (<TokenToPiece>token_to_piece)(<const void*>vocab, token, buffer, size, 0, True)
            pieces.append(PyBytes_FromStringAndSize(buffer, max(length, 0)))
            attributes.append((<GetAttr>get_attr)(<const void*>vocab, token))
            if (<IsEog>is_eog)(<const void*>vocab, token):
                ends.append(token)
    finally:
        free(buffer)
    return pieces, attributes, ends
