"""The tokenizer that grammars are compiled for."""
from __future__ import annotations

import functools
import hashlib
import operator
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from llgcy.core import trie
from llgcy.errors import LimitError, TokenizerError
from llgcy.tokenizer.longest_match import LongestMatch
from llgcy.tokenizer.vocabulary import Vocabulary

MAX_VOCAB_SIZE = 1 << 24
"""The largest number of ids; the largest vocabularies in use have about 2^18."""

_UNDECODABLE = re.compile("([\udc80-\udcff]+)")      # bytes that are not UTF-8, as `surrogateescape` shows them


class Tokenizer:
    """What each token id spells, which ids are special, and how text becomes ids. Immutable, shared freely.

    Make one with `default`, `from_huggingface`, `from_tiktoken`, `from_llama_cpp`, `from_vocab` or `single_byte`. Each of these takes

    - ``eos_token_id``, an int or a sequence of ints: the ids that end a sequence. Where it is left out the tokenizer must
      know it, else TokenizerError is raised.
    - ``vocab_size``: the length of the model's logits, where that is larger than the vocabulary. The ids added are
      padding and never allowed.

    Every id is exactly one of

    - a *text* token, which adds its bytes to the text. Several ids may have the same bytes, and the bytes may be part of a
      UTF-8 character;
    - a *special* token, which text never produces, whatever its name looks like. All EOS ids are special;
    - *empty*: an id of the vocabulary without bytes; or *padding*. Neither is ever allowed.

    Attributes
    ----------
    vocab_size : int
        Number of ids, padding included.
    eos_token_ids : tuple of int
        At least one, without repetition, in the order given.
    specials : mapping of str to int
        Name to id of the special tokens. An EOS id that came without a name or bytes isn't in it.
    can_encode : bool
        Whether `encode` is available.
    vocabulary : llgcy.core.trie.Vocabulary
        The text tokens as masks need them.

    Examples
    --------
    >>> tokenizer = Tokenizer.from_vocab([b"a", b"ab", b"</s>"], eos_token_id=2)
    >>> tokenizer.decode_bytes([0, 1, 2])
    b'aab'
    """

    def __init__(self, vocabulary: Vocabulary, eos_token_id: int | Iterable[int] | None = None, vocab_size: int | None = None):
        special = {_name(name): _id(id, f"special token {name!r}") for name, id in vocabulary.special.items()}
        eos = tuple(dict.fromkeys(vocabulary.eos if eos_token_id is None else _ids(eos_token_id)))
        size = max(len(vocabulary.tokens), 1 + max(special.values(), default=-1))
        if vocab_size is not None:
            if operator.index(vocab_size) < size:
                raise TokenizerError(f"vocab_size={vocab_size} is smaller than the vocabulary, which has {size} ids")
            size = operator.index(vocab_size)
        if size > MAX_VOCAB_SIZE:
            raise LimitError(f"a vocabulary of {size} ids; the limit is {MAX_VOCAB_SIZE}")
        if not eos:
            raise TokenizerError(f"{vocabulary.source}: no end-of-sequence token is known; pass eos_token_id=, an id or a list of ids"
                                 + (f" (special tokens: {_some(special)})" if special else ""))
        for id in eos:
            if id >= size:
                raise TokenizerError(f"eos_token_id={id} is not an id of the vocabulary, which has {size} ids; name it in special=, "
                                     "or pass vocab_size=, if the model has more logits")

        tokens: list[bytes | None] = list(vocabulary.tokens)
        for id, token in enumerate(tokens):
            if token is not None and type(token) is not bytes:
                raise TypeError(f"token {id} is {type(token).__name__}, expected bytes or None")
        self._read = len(tokens)
        tokens += [None] * (size - len(tokens))
        for id in eos:
            token = tokens[id]
            if token and id not in special.values():
                special.setdefault(token.decode("utf-8", "backslashreplace"), id)
        self._special_ids = frozenset(special.values()) | frozenset(eos)
        for id in self._special_ids:
            tokens[id] = None
        self._tokens = [token or None for token in tokens]       # None: special, empty or padding
        self.vocabulary = trie.Vocabulary(self._tokens, eos)     # sorted here, not while a first grammar is waited for
        self._encode = vocabulary.encode
        self.source = vocabulary.source
        self.vocab_size = size
        self.eos_token_ids = eos
        self.specials = special
        self.can_encode = vocabulary.encode is not None

    # Makers

    @classmethod
    def default(cls) -> Tokenizer:
        """The tokenizer that comes with the package: a byte-level BPE for trying things out offline."""
        from llgcy.tokenizer import default

        return default.tokenizer()

    @classmethod
    def from_huggingface(cls, tokenizer: Any, *, eos_token_id: int | Iterable[int] | None = None,
                         vocab_size: int | None = None) -> Tokenizer:
        """Read a tokenizer of Hugging Face.

        Parameters
        ----------
        tokenizer : tokenizers.Tokenizer, transformers tokenizer, str or path
            A path names a ``tokenizer.json`` or the folder that holds one. Byte-level models and SentencePiece-like ones
            (byte fallback, metaspace) can be read; slow (pure Python) transformers tokenizers can't.
        eos_token_id : int or iterable of int, optional
            By default the ids of ``generation_config.json`` in the folder; else what the tokenizer says (beside a file
            ``tokenizer_config.json`` or ``config.json``); else the one special token with a usual name. Where there is a chat template,
            the token with which it ends the assistant's turn is one more. For a model from the hub, pass ``model.generation_config.eos_token_id``.
        vocab_size : int, optional
            Pads; usually ``model.config.vocab_size``.

        Notes
        -----
        Added tokens that are flagged special never come from text; the others are text, spelled as their content.

        Raises
        ------
        TokenizerError
            No EOS is known, a file can't be read, or the decoder isn't one whose tokens spell bytes.
        """
        from llgcy.tokenizer import huggingface

        return cls(huggingface.read(tokenizer, find_eos=eos_token_id is None), eos_token_id, vocab_size)

    @classmethod
    def from_tiktoken(cls, encoding: Any, *, eos_token_id: int | Iterable[int] | None = None,
                      vocab_size: int | None = None) -> Tokenizer:
        """Read a ``tiktoken.Encoding``.

        Parameters
        ----------
        encoding : tiktoken.Encoding
        eos_token_id : int or iterable of int, optional
            By default the id of ``<|endoftext|>``, where the encoding has that.
        vocab_size : int, optional
            Pads.

        Raises
        ------
        TokenizerError
            No EOS is known.
        """
        from llgcy.tokenizer import tiktoken

        return cls(tiktoken.read(encoding), eos_token_id, vocab_size)

    @classmethod
    def from_llama_cpp(cls, model: Any, *, eos_token_id: int | Iterable[int] | None = None, vocab_size: int | None = None) -> Tokenizer:
        """Read the vocabulary of a model that llama-cpp-python has loaded.

        Parameters
        ----------
        model : llama_cpp.Llama, llama_cpp.LlamaModel, int or ctypes.c_void_p
            For a file alone: ``llama_cpp.Llama(path, vocab_only=True)``. A number is the address of a vocabulary, as
            ``llama_model_get_vocab`` gives it; whoever passes one keeps the model loaded as long as `encode` is used.
        eos_token_id : int or iterable of int, optional
            By default all ids at which llama.cpp ends a generation, the end-of-sequence token first.
        vocab_size : int, optional
            Pads.

        Notes
        -----
        Control and unknown tokens are special, all other ids are text.

        Raises
        ------
        TokenizerError
            llama-cpp-python is missing or too old, the model has no vocabulary, or nothing ends a generation.
        StateError
            The model is closed; later from `encode` too.
        """
        from llgcy.tokenizer import llama_cpp

        return cls(llama_cpp.read(model), eos_token_id, vocab_size)

    @classmethod
    def from_vocab(cls, tokens: Sequence[bytes | None], *, special: Mapping[str, int] | None = None,
                   eos_token_id: int | Iterable[int] | None = None, encode: Callable[[str], Iterable[int]] | None = None,
                   vocab_size: int | None = None) -> Tokenizer:
        """A tokenizer from a plain list.

        Parameters
        ----------
        tokens : sequence of bytes or None
            Index = id: the bytes of each token; None or ``b""`` where an id has none.
        special : mapping of str to int, optional
            Names of special tokens; their entries in ``tokens`` are not text. Ids beyond the list extend the vocabulary.
        eos_token_id : int or iterable of int
        encode : callable, optional
            From str to the ids of that text, and nothing more: no BOS. Without it `encode` raises.
        vocab_size : int, optional
            Pads.

        Raises
        ------
        TokenizerError
            No EOS is given, or an id is outside the vocabulary.
        TypeError
            A token is neither bytes nor None.
        """
        tokenizer = cls(Vocabulary(tokens, special or {}, (), None, "from_vocab"), eos_token_id, vocab_size)
        if encode is not None:
            tokenizer._encode = functools.partial(_call, encode, tokenizer._special_ids)
            tokenizer.can_encode = True
        return tokenizer

    @classmethod
    def single_byte(cls, *, vocab_size: int | None = None) -> Tokenizer:
        """The 256 bytes, id = byte, and the EOS token ``<|end|>`` with id 256.

        Examples
        --------
        >>> Tokenizer.single_byte().encode("hé")
        [104, 195, 169]
        """
        tokens = [bytes([byte]) for byte in range(256)]
        return cls(Vocabulary(tokens, {"<|end|>": 256}, (256,), _utf8, "single_byte"), None, vocab_size)

    # Ids and bytes

    def text_tokens(self) -> list[bytes | None]:
        """The bytes of every id that text can produce, None for all other ids (a new list; index = id)."""
        return self._tokens.copy()

    def token_bytes(self, id: int) -> bytes | None:
        """What the id adds to the text: its bytes; ``b""`` for an empty or padding id; None for a special token.

        Raises
        ------
        ValueError
            Not an id of the vocabulary.
        """
        token = self._tokens[self._checked(id)]
        if token is None and id not in self._special_ids:
            return b""
        return token

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The text that the ids spell, as bytes: it may begin or end inside a character. Special tokens add nothing.

        Raises
        ------
        ValueError
            Not an id of the vocabulary.
        """
        tokens, size = self._tokens, self.vocab_size
        return b"".join([tokens[id if 0 <= id < size else self._checked(id)] or b"" for id in ids])

    def encode(self, text: str | bytes) -> list[int]:
        """Ids that spell exactly this text: ``decode_bytes(encode(text))`` gives it back.

        No BOS is added, text that looks like a special token stays text, and nothing is normalised: where the tokenizer
        itself would change the text or drop something, and for bytes that aren't UTF-8, the longest token is taken at each
        place instead.

        Raises
        ------
        TokenizerError
            The tokenizer was made without ``encode=``, or the vocabulary can't spell the text.
        UnicodeEncodeError
            A str with lone surrogates, which has no bytes.
        """
        if self._encode is None:
            raise TokenizerError("this tokenizer can't encode: it was made by from_vocab without encode=")
        if isinstance(text, str):
            text.encode()        # refuses lone surrogates
        elif isinstance(text, (bytes, bytearray, memoryview)):
            text = bytes(text).decode("utf-8", "surrogateescape")
        else:
            raise TypeError(f"encode takes str or bytes, not {type(text).__name__}")
        ids: list[int] = []
        for place, piece in enumerate(_UNDECODABLE.split(text)):     # odd places: what is not UTF-8
            data = piece.encode("utf-8", "surrogateescape")
            found = self._encode(piece) if piece and place % 2 == 0 else []
            ids += found if self._spells(found, data) else self._longest_match.encode(data)
        return ids

    def _spells(self, ids: list[int], data: bytes) -> bool:
        tokens = [self._tokens[id] if 0 <= id < self.vocab_size else None for id in ids]
        return None not in tokens and b"".join(tokens) == data      # type: ignore[arg-type]

    @functools.cached_property
    def _longest_match(self) -> LongestMatch:
        return LongestMatch(self._tokens)

    # About the whole

    @functools.cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of the content: token bytes, special tokens, EOS ids and size. Not of how text is encoded."""
        lengths = [0 if token is None else len(token) for token in self._tokens]
        digest = hashlib.sha256()
        digest.update(struct.pack(f"<Q{len(lengths)}I", len(lengths), *lengths))
        digest.update(b"".join(filter(None, self._tokens)))
        digest.update(struct.pack(f"<Q{len(self.eos_token_ids)}I", len(self.eos_token_ids), *self.eos_token_ids))
        for name, id in sorted(self.specials.items()):
            data = name.encode("utf-8", "surrogatepass")
            digest.update(struct.pack("<II", id, len(data)) + data)
        return digest.hexdigest()

    def stats(self) -> dict[str, Any]:
        """Figures about the vocabulary.

        Returns
        -------
        dict
            ``source``; ``vocab_size``; ``text``, ``special``, ``empty`` and ``padding``: number of ids of each kind;
            ``distinct``: different byte strings among the text tokens; ``bytes``: their total length, of all ids;
            ``longest``: the longest token in bytes; ``missing_bytes``: bytes that no token of one byte spells, as a list of ints.
        """
        text = [token for token in self._tokens if token is not None]
        distinct = set(text)
        special = len(self._special_ids)
        padding = sum(id not in self._special_ids for id in range(self._read, self.vocab_size))
        return {
            "source": self.source, "vocab_size": self.vocab_size, "text": len(text), "special": special,
            "empty": self.vocab_size - len(text) - special - padding, "padding": padding, "distinct": len(distinct),
            "bytes": sum(map(len, text)), "longest": max(map(len, text), default=0),
            "missing_bytes": [byte for byte in range(256) if bytes([byte]) not in distinct],
        }

    def __getstate__(self) -> dict[str, Any]:
        function = self._encode.args[0] if isinstance(self._encode, functools.partial) else self._encode
        if "<" in getattr(function, "__qualname__", ""):        # a lambda, or a function inside of one
            raise TypeError("a tokenizer whose encode= is a lambda or a local function can't be pickled; give it one that a module has")
        return {name: value for name, value in vars(self).items() if name not in ("_longest_match", "vocabulary")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.vocabulary = trie.Vocabulary(self._tokens, self.eos_token_ids)

    def __repr__(self) -> str:
        return f"<llgcy.Tokenizer {self.source}: {self.vocab_size} ids, eos {', '.join(map(str, self.eos_token_ids))}>"

    def _checked(self, id: int) -> int:
        if not 0 <= id < self.vocab_size:
            raise ValueError(f"{id} is not an id of the vocabulary, which has {self.vocab_size} ids")
        return id


def _utf8(text: str) -> list[int]:
    return list(text.encode())


def _call(encode: Callable[[str], Iterable[int]], special_ids: frozenset[int], text: str) -> list[int]:
    """Call the caller's own encoder. Special tokens in its answer would go unseen, since they spell nothing."""
    ids = [operator.index(id) for id in encode(text)]
    for id in ids:
        if id in special_ids:
            raise TokenizerError(f"encode= put the special token {id} into the ids of {text[:40]!r}; it must give the ids of the text alone, "
                                 "without BOS or EOS (such as add_special_tokens=False)")
    return ids


def _id(value: int, what: str) -> int:
    id = operator.index(value)
    if id < 0:
        raise TokenizerError(f"{what}: {id} is not an id")
    return id


def _ids(value: int | Iterable[int]) -> Iterable[int]:
    return [_id(id, "eos_token_id") for id in (value if isinstance(value, Iterable) else [value])]


def _name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a special token is {type(name).__name__}, expected str")
    return name


def _some(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
