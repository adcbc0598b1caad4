from typing import final

@final
class Lock: ...
