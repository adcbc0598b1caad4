from typing import final

@final
class Budget:
    limit: int
    used: int
    what: str
    def __new__(cls, limit: int, what: str) -> Budget: ...

@final
class Arena:
    length: int
    def __new__(cls, budget: Budget, size: int) -> Arena: ...

@final
class Index:
    length: int
    def __new__(cls, budget: Budget) -> Index: ...
