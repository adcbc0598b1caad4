"""Build of the compiled modules; everything else about the package is in pyproject.toml.

Environment switches:

``LLGCY_BUILD=debug``         bounds checks and assertions on, no optimisation.
``LLGCY_BUILD=sanitize``      AddressSanitizer and UndefinedBehaviorSanitizer; stores poison what is not in use.
``LLGCY_BUILD=threads``       ThreadSanitizer.
``LLGCY_WARNINGS=tolerate``   Cython's warnings and performance hints are shown, but do not fail a release build, as they else do.
"""
import contextlib
import glob
import hashlib
import os
import re
import sys
import tempfile

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

BUILD = os.environ.get("LLGCY_BUILD", "release")
TOLERATE = os.environ.get("LLGCY_WARNINGS") == "tolerate" or BUILD != "release"      # checks that are on get hints to switch them off
COMPILE = {
    "release": ["-O3", "-g1", "-DNDEBUG", "-fvisibility=hidden"],
    "debug": ["-O0", "-g", "-UNDEBUG"],
    "sanitize": ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                 "-fno-sanitize-recover=undefined", "-DLLGCY_POISON"],
    "threads": ["-O1", "-g", "-UNDEBUG", "-fno-omit-frame-pointer", "-fsanitize=thread"],
}
COMPILE_MSVC = {"release": ["/O2", "/DNDEBUG"], "debug": ["/Od", "/Zi"]}
LINK = {"sanitize": ["-fsanitize=address,undefined"], "threads": ["-fsanitize=thread"]}
if BUILD not in COMPILE:
    sys.exit(f"LLGCY_BUILD={BUILD} is not one of {', '.join(COMPILE)}")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": BUILD != "release",
    "wraparound": False,
    "initializedcheck": BUILD != "release",
    "nonecheck": False,          # its check takes the GIL, so that nogil code could not be compiled
    "cdivision": True,
    "auto_pickle": False,
    "embedsignature": True,
    "embedsignature.format": "python",
    "freethreading_compatible": False,
}
COMPLAINT = re.compile(r"^(warning|performance hint): ", re.MULTILINE)      # how Cython's log marks them


def extensions():
    """One extension for each ``.pyx`` under ``llgcy/``."""
    return [Extension(path[:-4].replace(os.sep, "."), [path]) for path in sorted(glob.glob("llgcy/**/*.pyx", recursive=True))]


def modification_times():
    """Of all generated C files: path to nanoseconds."""
    return {path: os.stat(path).st_mtime_ns for path in glob.glob("llgcy/**/*.c", recursive=True)}


@contextlib.contextmanager
def logged():
    """What this process and its children print meanwhile: yields a list, which holds the text afterwards; prints it then, too."""
    text = []
    with tempfile.TemporaryFile() as log:
        sys.stdout.flush()
        sys.stderr.flush()
        saved = os.dup(1), os.dup(2)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            yield text
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in zip((1, 2), saved):
                os.dup2(copy, number)
                os.close(copy)
            log.seek(0)
            text.append(log.read().decode(errors="replace"))
            sys.stdout.write(text[0])
            sys.stdout.flush()


class BuildExtensions(build_ext):
    """Runs Cython, lets none of its complaints pass, and rebuilds all when the way of building has changed.

    Cython and setuptools compare the times of files, and so notice no change of directives, flags or Cython itself.
    """

    def run(self):
        stamp = os.path.join("build", "llgcy.stamp")
        how = hashlib.sha256(repr((BUILD, TOLERATE, COMPILE[BUILD], DIRECTIVES, Cython.__version__)).encode()).hexdigest()
        try:
            with open(stamp) as file:
                changed = file.read() != how
        except FileNotFoundError:
            changed = True
        if changed:
            self.force = True
            with contextlib.suppress(FileNotFoundError):
                os.remove(stamp)          # until this build is complete, files of both kinds may lie about
        self.parallel = self.parallel or True
        self.translate()
        super().run()
        os.makedirs("build", exist_ok=True)
        with open(stamp, "w") as file:
            file.write(how)

    def translate(self):
        """From ``.pyx`` to C."""
        before = modification_times()
        with logged() as text:
            # Processes need fork: this file can't be imported a second time. No cache: it would keep complaints back.
            translated = cythonize(self.extensions, compiler_directives=DIRECTIVES, force=bool(self.force), cache=False,
                                   nthreads=os.cpu_count() if sys.platform == "linux" else 0, emit_linenums=BUILD == "sanitize")
        if COMPLAINT.search(text[0]) and not TOLERATE:
            for path, time in modification_times().items():
                if before.get(path) != time:
                    os.remove(path)       # else the next build finds it up to date, and no complaint
            sys.exit("Cython has warnings or performance hints, see above; LLGCY_WARNINGS=tolerate builds all the same")
        for extension, done in zip(self.extensions, translated):
            extension.sources, extension.depends = done.sources, done.depends

    def build_extensions(self):
        flags = COMPILE_MSVC if self.compiler.compiler_type == "msvc" else COMPILE
        for extension in self.extensions:
            extension.extra_compile_args = flags[BUILD]
            extension.extra_link_args = LINK.get(BUILD, [])
        super().build_extensions()


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildExtensions})
