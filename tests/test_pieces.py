"""Reading a vocabulary through C functions, here ctypes callbacks that play llama.cpp."""
import ctypes
import random

import pytest

from llgcy.core.pieces import read_pieces

TOKEN_TO_PIECE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_bool)
GET_ATTR = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32)
IS_EOG = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_int32)


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def read(pieces, attributes, ends, vocab=0x1234):
    """`read_pieces` of a vocabulary with this content."""
    seen = []

    @TOKEN_TO_PIECE
    def token_to_piece(at, token, buffer, length, lstrip, special):
        seen.append((at, lstrip, special))
        piece = pieces[token]
        if len(piece) > length:
            return -len(piece)
        if piece:
            ctypes.memmove(buffer, piece, len(piece))
        return len(piece)

    get_attr, is_eog = GET_ATTR(lambda at, token: attributes[token]), IS_EOG(lambda at, token: token in ends)
    out = read_pieces(vocab, len(pieces), address(token_to_piece), address(get_attr), address(is_eog))
    assert set(seen) <= {(vocab, 0, True)}
    return out


@pytest.mark.parametrize("seed", range(5))
def test_pieces_of_any_length(seed):
    chance = random.Random(seed)
    pieces = [chance.randbytes(chance.choice([0, 1, 2, 3, 33, 500, 5000])) for _ in range(200)]
    attributes = [chance.randrange(1 << 10) for _ in pieces]
    ends = sorted(chance.sample(range(200), 5))
    assert read(pieces, attributes, ends) == (pieces, attributes, ends)


def test_empty_vocabulary():
    assert read([], [], []) == ([], [], [])


@pytest.mark.parametrize("zero", range(4))
def test_no_address(zero):
    addresses = [1, 1, 1, 1]
    addresses[zero] = 0
    with pytest.raises(ValueError, match="an address is zero"):
        read_pieces(addresses[0], 1, *addresses[1:])
