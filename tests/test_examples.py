"""The examples in docstrings and in README.md do what they show."""
import doctest
import importlib
import json
import pathlib
import pkgutil
import re

import pytest

import llgcy
from llgcy.core.store import Budget

README = pathlib.Path(__file__).parents[1] / "README.md"
GIVEN = {"llgcy": llgcy, "Budget": Budget}       # what examples take for granted
HOSTS = {"llgcy.integrations.llama_cpp": "llama_cpp", "llgcy.integrations.transformers": "torch"}
MODULES = sorted(module.name for module in pkgutil.walk_packages(llgcy.__path__, "llgcy.") if not module.name.endswith("__main__"))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name in HOSTS:
        pytest.importorskip(HOSTS[name], reason="the host is optional")
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, extraglobs=GIVEN, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert failed == 0


def test_readme(capsys):
    """The first block of Python, the tour, is run as it stands and prints a document of its schema."""
    block = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    exec(compile(block[1], str(README), "exec"), {})
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document["name"], str) and set(document["tags"]) <= {"new", "used"} and len(document["tags"]) <= 3
