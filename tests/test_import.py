"""To import the package imports little; all that it has is there when asked for."""
import ast
import importlib
import inspect
import subprocess
import sys

import pytest

import llgcy


def told(code):
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_the_package_alone_imports_nothing_heavy():
    before = set(told("import sys, importlib, typing; print(*sys.modules)"))
    modules = set(told("import sys, llgcy; print(*sys.modules)")) - before
    assert modules == {"llgcy", "llgcy.errors", "llgcy.version"}


@pytest.mark.parametrize("name", llgcy.__all__)
def test_each_name_is_the_first_to_be_used(name):
    """No name needs another one to be there, and the module of the same name does not stand in for a function."""
    kind = "str" if name == "__version__" else "type" if name[0].isupper() else "callable"
    test = {"str": "type(x) is str", "type": "isinstance(x, type)", "callable": "callable(x)"}[kind]
    assert told(f"import llgcy; x = llgcy.{name}; print({test}, x is llgcy.{name}, {name!r} in vars(llgcy))") == ["True"] * 3


def test_names_for_people_and_for_type_checkers():
    assert set(llgcy.__all__) <= set(dir(llgcy))
    (checking,) = [node for node in ast.parse(inspect.getsource(llgcy)).body if isinstance(node, ast.If)]
    seen = {name.name: part.module for part in checking.body for name in part.names}
    assert seen.keys() == llgcy._HOME.keys()
    assert all(getattr(importlib.import_module(home), name) is getattr(llgcy, name) for name, home in seen.items())
    assert set(llgcy.__all__) == seen.keys() | {name for name in vars(llgcy.errors) if name in llgcy.__all__} | {"__version__"}


def test_a_first_grammar_waits_for_no_module():
    code = ("import sys, llgcy; t = llgcy.Tokenizer.single_byte(); before = set(sys.modules); g = llgcy.Grammar.from_json_schema({'type': 'object'}); "
            "m = llgcy.compile(g, t).matcher(); m.fill_next_token_bitmask(llgcy.allocate_bitmask(1, 257)); print(*sys.modules.keys() - before)")
    assert [name for name in told(code) if not name.startswith("encodings.")] == []


def test_star_and_unknown_names():
    assert told("from llgcy import *; print(Grammar.from_choices(['a']).accepts('a'), trace.__module__)") == ["True", "llgcy.tracing"]
    with pytest.raises(AttributeError, match="'llgcy' has no attribute 'Gramma'"):
        llgcy.Gramma
