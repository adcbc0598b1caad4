"""Compiled grammars as files: what the grammar was made from, and the tokenizer's fingerprint.

A file is text. Its first line names the format and its version, the second one is the SHA-256 of the rest, and the rest is one JSON
object. Reading one runs nothing but the grammar's own reader, under the limits of the caller, so a file may come from anywhere. What
had been computed is not in it: most of it takes less time to compute than to read.
"""
from __future__ import annotations

import hashlib
import json
import os
import pathlib
from typing import Any

from llgcy import api
from llgcy.content import canonical
from llgcy.core.matcher import CompiledGrammar
from llgcy.errors import GrammarError, LimitError, LlgcyError, TokenizerError
from llgcy.limits import Limits
from llgcy.tokenizer import Tokenizer
from llgcy.version import __version__

FORMAT = b"llgcy compiled grammar 1"
MOST_BYTES = 1 << 28
"""The largest file that is read."""


def dumps(compiled: CompiledGrammar) -> bytes:
    """A compiled grammar as the bytes of a file.

    Raises
    ------
    TypeError
        It was made from parts that have no saved form.
    """
    body = canonical({"llgcy": __version__, "tokenizer": compiled.tokenizer.fingerprint, "grammar": compiled.grammar._content()})
    return b"\n".join([FORMAT, hashlib.sha256(body).hexdigest().encode(), body])


def loads(data: bytes, tokenizer: Tokenizer, limits: Limits | None = None) -> CompiledGrammar:
    """The compiled grammar in the bytes of a file.

    Parameters
    ----------
    data : bytes
        May come from anywhere.
    tokenizer : Tokenizer
        With the content of the one that the grammar was compiled for.
    limits : Limits, optional

    Raises
    ------
    GrammarError
        The data is damaged, of another version, or its grammar is refused.
    TokenizerError
        The grammar was compiled for another tokenizer.
    LimitError
    """
    if len(data) > MOST_BYTES:
        raise LimitError(f"a saved grammar of {len(data):,} bytes; the limit is {MOST_BYTES:,}")
    head, _, rest = data.partition(b"\n")
    check, _, body = rest.partition(b"\n")
    if head != FORMAT:
        shown = head[:40].decode("utf-8", "backslashreplace")
        raise GrammarError(f"not a grammar saved by this version of llgcy, which writes {FORMAT.decode()!r}: it begins with {shown!r}")
    if check != hashlib.sha256(body).hexdigest().encode():
        raise GrammarError("a saved grammar is damaged: its checksum is wrong")
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise GrammarError(f"a saved grammar is no JSON text: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("grammar"), dict):
        raise GrammarError("a saved grammar is an object with a 'grammar'")
    if document.get("tokenizer") != tokenizer.fingerprint:
        raise TokenizerError(f"the grammar was compiled for a tokenizer with the fingerprint {document.get('tokenizer')!r:.70}, "
                             f"not for {tokenizer!r} with {tokenizer.fingerprint!r}")
    try:
        grammar = api._from_content(document["grammar"])
    except LlgcyError:
        raise
    except (TypeError, ValueError) as error:        # an option that no caller could give
        raise GrammarError(f"a saved grammar cannot be made: {error}") from None
    return api.compile(grammar, tokenizer, limits)


def save(compiled: CompiledGrammar, path: str | os.PathLike[str]) -> None:
    """Writes a compiled grammar to a file, as a whole or not at all."""
    target = pathlib.Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(dumps(compiled))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], tokenizer: Tokenizer, limits: Limits | None = None) -> CompiledGrammar:
    """Reads a compiled grammar from a file; see `loads`."""
    with open(path, "rb") as file:
        return loads(file.read(MOST_BYTES + 1), tokenizer, limits)


def unpickle(data: bytes, tokenizer: Tokenizer, limits: Limits) -> CompiledGrammar:
    """The inverse of pickling a compiled grammar."""
    return loads(data, tokenizer, limits)
