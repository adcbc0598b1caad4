from collections import OrderedDict
from typing import final

@final
class Trie:
    size: int
    groups: int
    tokens: int
    longest: int

@final
class Vocabulary:
    trie: Trie
    size: int
    words: int
    eos: tuple[int, ...]
    white_tokens: int
    behind_white: Trie
    missing: bytes
    shared: OrderedDict[object, tuple[object, int]]
    shared_bytes: int
    def __new__(cls, tokens: list[bytes | None], eos: tuple[int, ...]) -> Vocabulary: ...
