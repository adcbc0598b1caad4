"""Build of the compiled modules; everything else about the package is in pyproject.toml.

Environment switches:

``LLGCY_BUILD=debug``     bounds checks and assertions on, no optimisation.
``LLGCY_BUILD=sanitize``  AddressSanitizer and UndefinedBehaviorSanitizer; stores poison what is not in use.
"""
import glob
import os

from Cython.Build import cythonize
from setuptools import Extension, setup

BUILD = os.environ.get("LLGCY_BUILD", "release")
FLAGS = {
    "release": ["-O3", "-DNDEBUG", "-fvisibility=hidden"],
    "debug": ["-O0", "-g"],
    "sanitize": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                 "-fno-sanitize-recover=undefined", "-DLLGCY_POISON"],
}[BUILD]
LINK = ["-fsanitize=address,undefined"] if BUILD == "sanitize" else []

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": BUILD != "release",
    "wraparound": False,
    "initializedcheck": BUILD != "release",
    "nonecheck": BUILD != "release",
    "cdivision": True,
    "auto_pickle": False,
    "embedsignature": True,
    "embedsignature.format": "python",
    "freethreading_compatible": False,
}


def extensions():
    """One extension for each ``.pyx`` under ``llgcy/``."""
    for path in sorted(glob.glob("llgcy/**/*.pyx", recursive=True)):
        yield Extension(path[:-4].replace(os.sep, "."), [path], extra_compile_args=FLAGS, extra_link_args=LINK)


setup(ext_modules=cythonize(list(extensions()), compiler_directives=DIRECTIVES, nthreads=2,
                            force=BUILD != "release", emit_linenums=BUILD == "sanitize"))
