"""Applying a bitmask, against numpy's own unpacking of bits."""
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import llgcy.bitmask as bitmask


def expected(logits, masks, rows):
    out = logits.astype(numpy.float64)
    for k, row in enumerate(rows):
        for column in range(logits.shape[1]):
            if column >= 32 * masks.shape[1] or not int(masks[row, column // 32]) >> (column % 32) & 1:
                out[k, column] = -numpy.inf
    return out


@given(st.data(), st.sampled_from(["float16", "float32", "float64"]), st.integers(0, 100), st.integers(1, 4))
def test_as_numpy(data, dtype, columns, words):
    masks = data.draw(hnp.arrays(numpy.uint32, (3, words), elements=st.sampled_from([0, 0xFFFFFFFF, 0x80000001, 0x12345678])))
    rows = data.draw(st.lists(st.integers(0, 2), min_size=2, max_size=2))
    logits = numpy.arange(2 * columns, dtype=dtype).reshape(2, columns)
    want = expected(logits, masks, rows)
    bitmask.apply_bitmask(logits, masks.view(numpy.int32), rows)
    assert (logits == want).all()


@pytest.mark.parametrize("fields", [
    [("id", "i4"), ("logit", "f4"), ("p", "f4")],                           # as llama.cpp keeps its candidates
    [("id", "i4"), ("logit", "f8"), ("p", "f2")], [("id", "i1"), ("logit", "f4")], [("id", "i2"), ("logit", "f2"), ("p", "f4")],
])
@pytest.mark.parametrize("columns", [1, 31, 32, 40, 100])
def test_strided_logits(fields, columns):
    records, masks = numpy.zeros((2, columns), dtype=fields), numpy.array([[0xFFFFFFFF, 0], [0x80000001, 0x00FF00F0]], numpy.uint32)
    records["id"] = 7
    want = expected(records["logit"], masks, [1, 0])
    bitmask.apply_bitmask(records["logit"], masks, [1, 0])
    assert (records["logit"] == want).all() and (records["id"] == 7).all()
    backwards = numpy.zeros((2, columns), numpy.float32)[:, ::-1]
    bitmask.apply_bitmask(backwards, masks, [1, 0])
    assert (backwards == want).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("contiguous", [True, False])
def test_as_torch(dtype, contiguous):
    torch = pytest.importorskip("torch", reason="torch is an optional host")
    logits = torch.arange(2 * 70, dtype=getattr(torch, dtype)).reshape(2, 70)
    if not contiguous:
        logits = torch.arange(70 * 2, dtype=getattr(torch, dtype)).reshape(70, 2).T
    masks = numpy.array([[0x0000FFFF, 0xF0F0F0F0], [0xFFFFFFFF, 1]], numpy.uint32).view(numpy.int32)
    want, elsewhere = expected(logits.to(torch.float64).numpy(), masks.view(numpy.uint32), [1, 0]), logits.clone()
    bitmask.apply_bitmask(logits, torch.from_numpy(masks), [1, 0])
    assert (logits.to(torch.float64).numpy() == want).all()
    bitmask._apply_there(elsewhere, masks, [1, 0])          # the way of devices that numpy can't see, here on the CPU
    assert (elsewhere.to(torch.float64).numpy() == want).all()


def test_torch_logits_of_one_row_and_rows_of_a_larger_bitmask():
    torch = pytest.importorskip("torch", reason="torch is an optional host")
    masks = torch.zeros(4, 2, dtype=torch.int32)
    masks[2, 0] = 0b1010
    logits = torch.zeros(40, requires_grad=True)
    with torch.no_grad():
        bitmask.apply_bitmask(logits, masks, [2])
    assert torch.nonzero(logits == 0).flatten().tolist() == [1, 3]
    with torch.inference_mode():
        logits = torch.zeros(3, 40)
        bitmask.apply_bitmask(logits, masks, [2, 0, 2])
    assert torch.nonzero(logits == 0).tolist() == [[0, 1], [0, 3], [2, 1], [2, 3]]
    with pytest.raises(TypeError, match="int64"):
        bitmask.apply_bitmask(torch.zeros(3, 40, dtype=torch.int64), masks)
    with pytest.raises(ValueError, match="row 4 of a bitmask of 4 rows"):
        bitmask.apply_bitmask(torch.zeros(1, 40), masks, [4])


def test_refusals():
    logits, masks = numpy.zeros((2, 32), numpy.float32), numpy.zeros((2, 1), numpy.int32)
    with pytest.raises(TypeError, match="int64"):
        bitmask.apply_bitmask(logits.astype(numpy.int64), masks)
    with pytest.raises(ValueError, match="row 2 of a bitmask of 2 rows"):
        bitmask.apply_bitmask(logits, masks, [0, 2])
    with pytest.raises(ValueError, match="1 rows are named for 2"):
        bitmask.apply_bitmask(logits, masks, [0])
    assert (logits == 0).all()


def test_allocate():
    for size, words in ((1, 1), (32, 1), (33, 2), (128256, 4008)):
        mask = bitmask.allocate_bitmask(3, size)
        assert mask.shape == (3, words) and mask.dtype == numpy.int32 and not mask.any()
