"""A progress bar."""
from __future__ import annotations

from typing import TextIO

WIDTH = 40           # characters of the bar


class Bar:
    """A progress bar, where there is a terminal to show it and more than one step to wait for."""

    def __init__(self, steps: int, stream: TextIO):
        self.steps, self.stream, self.shown = steps, stream, steps > 1 and stream.isatty()

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def show(self, done: int) -> None:
        if self.shown:
            full = WIDTH * done // self.steps
            self._write(f"\r[{'#' * full}{'.' * (WIDTH - full)}] {done}/{self.steps}")

    def clear(self) -> None:
        """Wipe it, so that output may go to the same terminal."""
        if self.shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
