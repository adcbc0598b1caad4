"""Vocabularies of llama.cpp, read from a loaded model through llama-cpp-python.

A piece is what ``llama_token_to_piece`` gives: it turns SentencePiece's U+2581 and the byte-level alphabet into bytes. Only *control* and
*unknown* tokens are special; user-defined ones are text, whatever they look like (Gemma has HTML tags among them). The ids that end a
generation are special too, even those that would spell something, since llama.cpp ends at them wherever they come.
"""
from __future__ import annotations

import ctypes
import os
from typing import Any

from llgcy.core.pieces import read_pieces
from llgcy.errors import StateError, TokenizerError
from llgcy.tokenizer.vocabulary import Vocabulary

UNKNOWN, CONTROL = 1, 8
"""Bits of ``enum llama_token_attr`` (llama.h)."""

NO_VOCABULARY = 0
"""``LLAMA_VOCAB_TYPE_NONE``: asking such a vocabulary for a token ends the process."""


def read(source: Any) -> Vocabulary:
    """The vocabulary of a loaded model.

    Parameters
    ----------
    source : llama_cpp.Llama, llama_cpp._internals.LlamaModel, int or ctypes.c_void_p
        A number is the address of a ``struct llama_vocab``.

    Raises
    ------
    TokenizerError
        As `llgcy.Tokenizer.from_llama_cpp` says.
    StateError
        The model is closed.
    """
    library = _library()
    vocab = _Loaded(source)
    address = vocab.address()
    if library.llama_vocab_type(address) == NO_VOCABULARY:
        raise TokenizerError(f"{vocab.name}: the model has no vocabulary; read its tokenizer from elsewhere, such as with from_huggingface")
    count = library.llama_vocab_n_tokens(address)
    pieces, attributes, ends = read_pieces(address, count, *(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (
        library.llama_token_to_piece, library.llama_vocab_get_attr, library.llama_vocab_is_eog)))
    tokens: list[bytes | None] = list(pieces)
    special: dict[str, int] = {}
    for id, attribute in enumerate(attributes):
        if attribute & (UNKNOWN | CONTROL):
            tokens[id] = None
            special.setdefault(pieces[id].decode("utf-8", "backslashreplace"), id)      # ids of the same name are left without text all the same
    main = library.llama_vocab_eos(address)
    ends.sort(key=lambda id: (id != main, id))
    return Vocabulary(tokens, special, tuple(ends), _Encoder(vocab, pieces), vocab.name)


def _library() -> Any:
    try:
        import llama_cpp
    except ImportError as error:
        raise TokenizerError("from_llama_cpp needs the package llama-cpp-python, which is not installed: pip install 'llgcy[llama]'") from error
    if not hasattr(llama_cpp, "llama_vocab_n_tokens"):
        raise TokenizerError(f"llama-cpp-python {llama_cpp.__version__} is too old: its vocabularies have no functions of their own; 0.3.7 has")
    return llama_cpp


class _Loaded:
    """A vocabulary in memory, and what keeps it there."""

    def __init__(self, source: Any):
        model = getattr(source, "_model", source)           # of a Llama; the vocabulary in it is public in no version
        self._owner = source                                # a Llama closes its model when it goes
        if isinstance(source, ctypes.c_void_p):
            model = source.value
        if isinstance(model, int) and not isinstance(model, bool) and model:
            self._model, self._address = None, model
            self.name = "llama.cpp vocabulary"
        elif hasattr(model, "vocab") and hasattr(model, "model"):
            self._model, self._address = model, model.vocab
            self.name = f"llama.cpp model {os.path.basename(getattr(model, 'path_model', '')) or '?'}"
        else:
            raise TokenizerError(f"from_llama_cpp takes a llama_cpp.Llama, its model, or the address of a llama_vocab, not {type(source).__name__}")

    def address(self) -> int:
        """Where the ``struct llama_vocab`` is.

        Raises
        ------
        StateError
            The model has been closed, and with it the vocabulary.
        """
        if self._model is not None and self._model.model is None:
            raise StateError(f"{self.name} is closed, and its vocabulary with it")
        return self._address


class _Encoder:
    """Encodes a piece of text as it stands, by llama.cpp's own tokenizer."""

    def __init__(self, vocab: _Loaded, pieces: list[bytes]):
        self._vocab, self._pieces = vocab, pieces

    def __call__(self, text: str) -> list[int]:
        data = text.encode()
        ids = self._tokenize(data)
        if self._spelled(ids) == data:
            return ids
        # Some models put a space before a text. After the end of a line, with which nothing merges, they put none.
        marked = self._tokenize(b"\n" + data)
        for cut in range(1, min(3, len(marked) + 1)):
            if self._spelled(marked[:cut]) in (b"\n", b" \n"):
                return marked[cut:]
        return ids

    def _spelled(self, ids: list[int]) -> bytes:
        return b"".join([self._pieces[id] for id in ids])

    def _tokenize(self, data: bytes) -> list[int]:
        library, vocab = _library(), self._vocab.address()
        room = len(data) + 2
        while True:
            ids = (ctypes.c_int32 * room)()
            count = library.llama_tokenize(vocab, data, len(data), ids, room, False, False)
            if count >= 0:
                return ids[:count]
            if -count <= room:
                raise TokenizerError(f"{self._vocab.name}: llama_tokenize fails ({count}) on {data[:40]!r}")
            room = -count
