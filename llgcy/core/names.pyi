from typing import final

from llgcy.core.store import Budget

@final
class UsedNames:
    def __new__(cls, budget: Budget) -> UsedNames: ...
