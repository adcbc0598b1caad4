"""Tokenizers of Hugging Face: ``tokenizers.Tokenizer``, fast transformers tokenizers, ``tokenizer.json``.

What a token spells follows from the tokenizer's decoder. Two families spell bytes: byte-level models, whose tokens are written in
an alphabet of 256 characters, and SentencePiece-like ones, whose tokens are text with U+2581 for the space, and ``<0x0A>`` for a byte.
"""
from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import tokenizers

from llgcy.errors import TokenizerError
from llgcy.tokenizer import byte_alphabet, chat_template
from llgcy.tokenizer.vocabulary import Vocabulary

END_NAMES = ("</s>", "<|endoftext|>", "<|end_of_text|>", "<｜end▁of▁sentence｜>", "<eos>", "<|end|>")
"""Usual names of the end-of-sequence token, for a tokenizer about which nothing else is known."""

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def read(source: Any, find_eos: bool) -> Vocabulary:
    """The vocabulary of a tokenizer of Hugging Face.

    Parameters
    ----------
    source : tokenizers.Tokenizer, transformers tokenizer, str or path
    find_eos : bool
        Whether the end-of-sequence ids are wanted; False where the caller gives them.

    Raises
    ------
    TokenizerError
        As `llgcy.Tokenizer.from_huggingface` says.
    """
    end: tuple[int, ...] = ()
    template: str | None = None
    variables: dict[str, Any] = {}
    if isinstance(source, (str, os.PathLike)):
        file = os.fspath(source)
        if os.path.isdir(file):
            file = os.path.join(file, "tokenizer.json")
        tokenizer, name = _load(file), file
        if find_eos:
            folder = os.path.dirname(file)
            end = _end_beside(folder, tokenizer)
            template = chat_template.beside(folder)
            variables = {"bos_token": "", "eos_token": tokenizer.id_to_token(end[0]) if end else ""}
    elif isinstance(source, tokenizers.Tokenizer):
        tokenizer, name = source, "tokenizers.Tokenizer"
    elif isinstance(getattr(source, "backend_tokenizer", None), tokenizers.Tokenizer):
        tokenizer, name = source.backend_tokenizer, type(source).__name__
        if find_eos:
            folder = str(getattr(source, "name_or_path", ""))        # where it was loaded from; on the hub this is no folder
            end = (_ends_in(folder, "generation_config.json", "eos_token_id", tokenizer) if os.path.isdir(folder) else ()) or (
                () if source.eos_token_id is None else (source.eos_token_id,))
            template = chat_template.chosen(getattr(source, "chat_template", None))
            variables = dict(getattr(source, "special_tokens_map", {}))
    else:
        raise TokenizerError(f"from_huggingface takes a tokenizers.Tokenizer, a fast transformers tokenizer or a path, not {type(source).__name__}"
                             + (": a slow tokenizer has no backend; load it with use_fast=True" if hasattr(source, "convert_ids_to_tokens") else ""))

    spelling = _spelling(tokenizer)
    added = tokenizer.get_added_tokens_decoder()
    vocab = tokenizer.get_vocab(with_added_tokens=True)
    tokens: list[bytes | None] = [None] * (1 + max(vocab.values(), default=-1))
    for text, id in vocab.items():
        tokens[id] = spelling(text)
    for id, token in added.items():
        tokens[id] = token.content.encode()
    special = {token.content: id for id, token in added.items() if token.special}
    unknown = _unknown(tokenizer.model)
    if unknown in vocab:
        special[unknown] = vocab[unknown]
    if find_eos and not end:
        end = _end_by_name(special, name)
    if template is not None:
        turn = chat_template.end_token(template, (token.content for token in added.values()), variables)
        if turn is not None:
            end = tuple(dict.fromkeys((*end, vocab[turn])))
    return Vocabulary(tokens, special, end, _Encoder(tokenizer), name)


def _load(file: str) -> tokenizers.Tokenizer:
    try:
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
    except OSError as error:
        raise TokenizerError(f"{file}: {error.strerror}; a path names a tokenizer.json or the folder that holds one") from error
    try:
        return tokenizers.Tokenizer.from_str(text)
    except Exception as error:       # the library raises a plain Exception for whatever it can't read
        raise TokenizerError(f"{file}: not a tokenizer.json that tokenizers {tokenizers.__version__} reads: {error}") from error


def _unknown(model: Any) -> str | None:
    """The token that stands for whatever the model can't spell, and so for no text."""
    if isinstance(model, tokenizers.models.Unigram):
        state = json.loads(model.__getstate__())
        return None if state["unk_id"] is None else state["vocab"][state["unk_id"]][0]
    return getattr(model, "unk_token", None)


# The end-of-sequence ids

def _end_beside(folder: str, tokenizer: tokenizers.Tokenizer) -> tuple[int, ...]:
    """What the files beside a ``tokenizer.json`` say, the one that governs generation first; () where they say nothing."""
    for file, key in (("generation_config.json", "eos_token_id"), ("tokenizer_config.json", "eos_token"), ("special_tokens_map.json", "eos_token"),
                      ("config.json", "eos_token_id")):
        found = _ends_in(folder, file, key, tokenizer)
        if found:
            return found
    return ()


def _ends_in(folder: str, file: str, key: str, tokenizer: tokenizers.Tokenizer) -> tuple[int, ...]:
    """What one of them says."""
    try:
        with open(os.path.join(folder, file), encoding="utf-8") as stream:
            value = json.load(stream).get(key)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, AttributeError) as error:
        raise TokenizerError(f"{os.path.join(folder, file)} can't be read ({error}); pass eos_token_id=") from error
    if isinstance(value, dict):          # an AddedToken, written out
        value = value.get("content")
    if isinstance(value, str):
        value = tokenizer.token_to_id(value)
    if isinstance(value, int):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(id, int) for id in value):
        return tuple(value)
    return ()


def _end_by_name(special: dict[str, int], source: str) -> tuple[int, ...]:
    found = [name for name in END_NAMES if name in special]
    if len(found) > 1:
        raise TokenizerError(f"{source}: any of the special tokens {', '.join(map(repr, found))} may be the end of sequence; pass eos_token_id=")
    return tuple(special[name] for name in found)


# What tokens spell

class _Decoder(NamedTuple):
    """What a chain of decoders does to one token."""

    replace: list[tuple[str, str]]       # in order
    byte_tokens: bool                    # <0x0A> is a byte
    byte_level: bool                     # the token is written in the byte alphabet


def _parts(state: Any, key: str) -> Iterator[dict[str, Any]]:
    """The steps of a decoder, normalizer or pre-tokenizer, sequences opened."""
    if state is None:
        return
    if state["type"] == "Sequence":
        for part in state[key]:
            yield from _parts(part, key)
    else:
        yield state


def _state(component: Any) -> Any:
    """A component of a tokenizer as JSON data, without the vocabulary."""
    return None if component is None else json.loads(component.__getstate__())


def _decoder(tokenizer: tokenizers.Tokenizer) -> _Decoder:
    for affix in "continuing_subword_prefix", "end_of_word_suffix":
        if getattr(tokenizer.model, affix, None):
            raise _unreadable(f"the model has {affix} {getattr(tokenizer.model, affix)!r}")
    replace: list[tuple[str, str]] = []
    byte_tokens = byte_level = fused = False
    parts = list(_parts(_state(tokenizer.decoder), "decoders"))
    if not parts:
        # Some byte-level files leave the decoder out; what reads such text is given by what wrote it.
        parts = [part for part in _parts(_state(tokenizer.pre_tokenizer), "pretokenizers") if part["type"] == "ByteLevel"]
    for part in parts:
        kind = part["type"]
        if kind == "ByteLevel":
            byte_level = True
        elif kind == "Replace" and "String" in part["pattern"] and not (byte_tokens or byte_level or fused):
            replace.append((part["pattern"]["String"], part["content"]))
        elif kind == "Metaspace" and not (byte_tokens or byte_level or fused):
            replace.append((part["replacement"], " "))
        elif kind == "ByteFallback":
            byte_tokens = True
        elif kind == "Fuse":
            fused = True
        elif not (kind == "Strip" and fused):       # strips the whole text, that is the space which the normaliser had put before it
            raise _unreadable(f"decoder {kind}")
    if not (replace or byte_tokens or byte_level):
        raise _unreadable("no decoder")
    return _Decoder(replace, byte_tokens, byte_level)


def _unreadable(reason: str) -> TokenizerError:
    return TokenizerError(f"the tokens of this tokenizer don't spell bytes that can be told one by one ({reason}); byte-level and "
                          "byte-fallback or metaspace decoders can be read; for another one list its bytes and use Tokenizer.from_vocab")


def _spelling(tokenizer: tokenizers.Tokenizer) -> Callable[[str], bytes]:
    """From a token as the model writes it to its bytes."""
    replace, byte_tokens, byte_level = _decoder(tokenizer)

    def spell(token: str) -> bytes:
        for old, new in replace:
            token = token.replace(old, new)
        if byte_tokens and (match := _BYTE_TOKEN.fullmatch(token)):
            return bytes([int(match[1], 16)])
        if byte_level and (data := byte_alphabet.to_bytes(token)) is not None:
            return data
        return token.encode()

    return spell


# From text to ids

class _Encoder:
    """Encodes a piece of text as it stands: nothing put before it, nothing normalised away, no special token read from it."""

    def __init__(self, tokenizer: tokenizers.Tokenizer):
        self._original = tokenizer

    @functools.cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        # A copy, since the original belongs to the caller. Made when first needed: it takes a second for a large vocabulary.
        state = json.loads(self._original.to_str())
        spaces = [part for part in _parts(state["normalizer"], "normalizers")
                  if part["type"] == "Replace" and part["pattern"] == {"String": " "}]
        state["normalizer"] = {"type": "Sequence", "normalizers": spaces} if spaces else None
        for part in _parts(state["pre_tokenizer"], "pretokenizers"):
            if part["type"] == "Metaspace":
                part["prepend_scheme"] = "never"
                part.pop("add_prefix_space", None)       # the older name of the same option
            elif part["type"] == "ByteLevel":
                part["add_prefix_space"] = False
        state["post_processor"] = state["truncation"] = state["padding"] = None
        copy = tokenizers.Tokenizer.from_str(json.dumps(state))
        copy.encode_special_tokens = True        # their names in a text are text
        return copy

    def __call__(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids
