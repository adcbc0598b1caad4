"""The package's logger, ``logging.getLogger("llgcy")``, and the environment variable ``LLGCY_LOG_LEVEL``.

Without the variable llgcy logs as any library does: to whatever the application has set up. With it, messages from that level on are
also shown where the application has set up nothing.
"""
from __future__ import annotations

import logging
import os
import warnings

VARIABLE = "LLGCY_LOG_LEVEL"
"""Names the level: debug, info, warning, error or critical."""

LOGGER = logging.getLogger("llgcy")


class _Fallback(logging.StreamHandler):       # type: ignore[type-arg]
    """Writes to standard error, unless the application has handlers of its own, which get the record in any case."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            super().emit(record)


def set_level(name: str | None) -> None:
    """Sets the level by its name; None leaves everything to the application.

    An unknown name is a RuntimeWarning, since importing a package should not fail for its log.
    """
    if not name:
        return
    level = logging.getLevelName(name.upper())
    if not isinstance(level, int):
        warnings.warn(f"{VARIABLE}={name}: not one of debug, info, warning, error, critical", RuntimeWarning, stacklevel=2)
        return
    LOGGER.setLevel(level)
    if not any(isinstance(handler, _Fallback) for handler in LOGGER.handlers):
        handler = _Fallback()
        handler.setFormatter(logging.Formatter("%(name)s %(levelname)s: %(message)s"))
        LOGGER.addHandler(handler)


set_level(os.environ.get(VARIABLE))
