"""The build itself: complaints of Cython fail it, and nothing hides them. Runs setup.py on a package of one module."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
CLEAN = "def f(int x):\n    return x + 1\n"
HINT = "cdef void f() nogil:\n    pass\n\ndef g():\n    f()\n    with nogil:\n        f()\n"      # void without noexcept: the GIL after each call
WARNING = "cdef int f():\n    return 1\n    return 2\n"                                         # unreachable code


@pytest.fixture
def build(tmp_path):
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    (tmp_path / "llgcy").mkdir()
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "llgcy"\nversion = "0"\n[tool.setuptools]\npackages = ["llgcy"]\n')

    def run(source=None, **environment):
        if source is not None:
            (tmp_path / "llgcy" / "module.pyx").write_text(source)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LLGCY_")} | environment
        done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=tmp_path, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return done.returncode, done.stdout

    run.folder = tmp_path
    return run


def test_clean_module_is_built_once(build):
    code, log = build(CLEAN)
    assert code == 0, log
    assert list((build.folder / "llgcy").glob("module.*.so"))
    code, log = build()
    assert code == 0 and "Cythonizing" not in log and "building" not in log
    code, log = build(LLGCY_BUILD="debug")
    assert code == 0 and "Cythonizing" in log and "-O0" in log, "another way of building builds all again"
    code, log = build()
    assert code == 0 and "Cythonizing" in log and "-O0" not in log
    code, log = build(LLGCY_BUILD="fast")
    assert code != 0 and "not one of" in log


@pytest.mark.parametrize("source, message", [(HINT, "performance hint: "), (WARNING, "warning: ")], ids=["hint", "warning"])
def test_complaints_fail_the_build(build, source, message, tmp_path):
    for _ in range(2):           # the second time, too, though the source hasn't changed
        code, log = build(source, CYTHON_CACHE_DIR=str(tmp_path / "cache"))
        assert code != 0 and message in log and "LLGCY_WARNINGS" in log
    code, log = build(source, LLGCY_WARNINGS="tolerate")
    assert code == 0 and message in log
    code, log = build()
    assert code != 0 and message in log, "a tolerant build hides nothing from the next one"
