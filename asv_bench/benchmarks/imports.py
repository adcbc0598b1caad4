"""Import time: moved by what ``llgcy/__init__.py`` imports."""


def timeraw_import():
    return "import llgcy"


def timeraw_numpy():
    """For comparison: the dependency that is imported with it."""
    return "import numpy"
