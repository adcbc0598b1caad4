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


def test_servers(tmp_path, monkeypatch):
    """The block for servers runs as it stands, with a grammar, tokens and a draft put in."""
    monkeypatch.chdir(tmp_path)
    block = re.search(r"<!-- servers -->\n```python\n(.*?)```", README.read_text(), re.DOTALL)
    tokenizer = llgcy.Tokenizer.default()
    given = {"llgcy": llgcy, "tokenizer": tokenizer, "grammar": llgcy.Grammar.from_regex("a{3,9}"), "ids": tokenizer.encode(b"The word is "),
             "tokens": tokenizer.encode(b"a") * 64, "draft": tokenizer.encode(b"a")}
    exec(compile(block[1], str(README), "exec"), given)
    assert given["bitmask"].any() and given["compiled"].grammar.accepts("aaa") and all(matcher.steps == 1 for matcher in given["matchers"])
