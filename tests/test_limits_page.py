"""The README's table of limits says what the code has."""
import pathlib
import re

import llgcy
from llgcy import saved
from llgcy.core.regex import Regexes
from llgcy.grammar.lark import expand
from llgcy.schema import formula, translate
from llgcy.schema.empty import Emptiness

TABLE = (pathlib.Path(__file__).parent.parent / "README.md").read_text().partition("### Untrusted grammars")[2].partition("\n###")[0]
GIB, MIB = 1 << 30, 1 << 20


def shown(row):
    """The default that the row beginning so shows."""
    return re.search(rf"^\| {re.escape(row)}[^|]*\| ([^|]*) \|", TABLE, re.MULTILINE).group(1)


def test_defaults():
    limits = llgcy.Limits()
    assert shown("states of one compiled grammar") == f"{limits.grammar_bytes // GIB} GiB" and limits.grammar_bytes % GIB == 0
    assert shown("its remembered masks") == f"{limits.mask_bytes // MIB} MiB" and limits.mask_bytes % MIB == 0
    assert shown("all compiled grammars of a `Compiler`") == f"{llgcy.Compiler(llgcy.Tokenizer.single_byte()).cache_bytes // GIB} GiB"
    assert shown("one question about a regex") == f"{Regexes('bytes').fuel:,} edges"
    assert shown("one question about a schema") == f"{Emptiness.FUEL:,} steps"
    assert shown("schemas inside one another") == str(translate.LEVELS) == str(formula.DEPTH)
    assert shown("rules that templates") == f"{expand.MOST:,}"
    assert shown("a saved file") == f"{saved.MOST_BYTES // MIB} MiB"


def deep(levels):
    text = "[" * levels + "]" * levels
    return llgcy.Grammar.any_json().accepts(text)


def test_containers_open_at_once():
    most = int(shown("containers open at once").replace(",", ""))
    assert deep(most) and not deep(most + 1)
