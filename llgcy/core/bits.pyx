"""Bitset operations on whole masks: applying one to a row of logits."""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint16_t, uint32_t, uint64_t, uintptr_t

ctypedef fused Pattern:
    uint16_t
    uint32_t
    uint64_t

cdef extern from *:
    """
    static inline int llgcy_low_bit(uint32_t x) { return __builtin_ctz(x); }
    """
    int low_bit "llgcy_low_bit"(uint32_t x) noexcept nogil        # x > 0


cdef void refuse(Pattern* logits, Py_ssize_t step, Py_ssize_t columns, const uint32_t* mask, Py_ssize_t words, Pattern refused) noexcept nogil:
    """Writes `refused` into every column whose bit is 0, and into those behind the mask; columns are `step` items apart."""
    cdef Py_ssize_t word, column, whole = columns // 32
    cdef uint32_t zeros
    cdef Pattern* at
    if whole > words:
        whole = words
    for word in range(whole):
        zeros = ~mask[word]
        at = logits + 32 * word * step
        if zeros == 0xFFFFFFFFu:
            if step == 1:
                for column in range(32):        # one or two vector stores
                    at[column] = refused
            else:
                for column in range(32):
                    at[column * step] = refused
            continue
        while zeros:
            at[low_bit(zeros) * step] = refused
            zeros &= zeros - 1
    for column in range(32 * whole, columns):
        if column >= 32 * words or not mask[column >> 5] >> (column & 31) & 1:
            logits[column * step] = refused


def refuse_columns(object logits not None, Py_ssize_t row, const uint32_t[::1] mask not None, uint64_t refused):
    """Writes a bit pattern over the logits that a mask refuses, in place.

    Parameters
    ----------
    logits : writable 2-D buffer of 2, 4 or 8 byte items
        Rows and columns may be apart by any number of items, such as the field of records in which llama.cpp keeps its candidates.
    row : int
    mask : buffer of uint32
        One row of a bitmask.
    refused : int
        The bit pattern of minus infinity in the items' format.

    Raises
    ------
    ValueError
        Where the buffer has another layout.
    """
    cdef Py_buffer view
    cdef char* at
    cdef Py_ssize_t step
    PyObject_GetBuffer(logits, &view, PyBUF_WRITABLE | PyBUF_STRIDES | PyBUF_FORMAT)
    try:
        if view.ndim != 2 or view.itemsize not in (2, 4, 8) or (view.shape[1] > 1 and view.strides[1] % view.itemsize):
            raise ValueError("logits have two dimensions, items of 2, 4 or 8 bytes, and columns that are whole items apart")
        if not 0 <= row < view.shape[0]:
            raise ValueError(f"row {row} of logits with {view.shape[0]} rows")
        at = <char*>view.buf + row * view.strides[0]
        if <uintptr_t>at % <size_t>view.itemsize:
            raise ValueError("logits must be aligned")
        step = view.strides[1] // view.itemsize
        with nogil:
            if view.itemsize == 2:
                refuse(<uint16_t*>at, step, view.shape[1], &mask[0], mask.shape[0], <uint16_t>refused)
            elif view.itemsize == 4:
                refuse(<uint32_t*>at, step, view.shape[1], &mask[0], mask.shape[0], <uint32_t>refused)
            else:
                refuse(<uint64_t*>at, step, view.shape[1], &mask[0], mask.shape[0], refused)
    finally:
        PyBuffer_Release(&view)
