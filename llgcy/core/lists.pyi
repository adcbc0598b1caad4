from typing import final

from llgcy.core.store import Budget

@final
class Lists:
    def __new__(cls, budget: Budget) -> Lists: ...
