"""Vocabularies of tiktoken."""
from __future__ import annotations

from typing import Any

from llgcy.errors import TokenizerError
from llgcy.tokenizer.vocabulary import Vocabulary

END_OF_TEXT = "<|endoftext|>"


def read(encoding: Any) -> Vocabulary:
    """The vocabulary of a ``tiktoken.Encoding``.

    Its ids may have gaps (cl100k_base has); those become empty ids.
    """
    try:
        special = {name: encoding.encode_single_token(name) for name in encoding.special_tokens_set}
        tokens: list[bytes | None] = [None] * encoding.n_vocab
        # The merge table is at hand and maps bytes to ids; the public way asks once per token and takes ten times as long.
        ranks = getattr(encoding, "_mergeable_ranks", None)
        for token, id in ranks.items() if ranks else ((token, encoding.encode_single_token(token)) for token in encoding.token_byte_values()):
            tokens[id] = token
    except AttributeError as error:
        raise TokenizerError(f"from_tiktoken takes a tiktoken.Encoding, not {type(encoding).__name__}") from error
    eos = (special[END_OF_TEXT],) if END_OF_TEXT in special else ()
    return Vocabulary(tokens, special, eos, encoding.encode_ordinary, f"tiktoken {encoding.name}")
