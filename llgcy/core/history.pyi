from typing import final

@final
class Chunk: ...
