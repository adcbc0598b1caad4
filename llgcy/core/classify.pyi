import builtins
from typing import final

@final
class Classification:
    paths: list[builtins.bytes]
    tokens: int
    count: int
    bytes: int
