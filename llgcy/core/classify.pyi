from typing import final

@final
class Classification:
    tokens: int
    count: int
    bytes: int
