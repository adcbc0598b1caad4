"""The README's table of what the grammar languages have: just the constructs that random grammars of the tests use, each of them five times at least."""
import pathlib
import re

import pytest
import test_gbnf
import test_lark_constructs
import test_regex_constructs

README = pathlib.Path(__file__).parents[1] / "README.md"
TESTED = {
    "Lark dialect": test_lark_constructs.constructs(), "GBNF": test_gbnf.CONSTRUCTS,
    **{f"regex, `{flavor}`": test_regex_constructs.constructs(flavor) for flavor in ("python", "rust", "ecma")},
}
# Kinds of constructs of which the table has one word.
SUMS = {"repetition": "repetitions", "escape": "escapes", "regex flag": "flags of regexes", "flag": "flags", "condition": "conditions", "value": "values of parameters",
        "stop= of a": "attribute stop", "suffix= of a": "attribute suffix"}


def shown(construct):
    """The item of the table that stands for a construct."""
    for kind, item in SUMS.items():
        if construct.startswith(kind + " "):
            return item
    plain = re.fullmatch(r"[A-Za-z0-9 ,.'-]+", construct)
    return construct if plain else "`" + construct.replace("|", "\\|") + "`"


def cell(constructs):
    return ", ".join(sorted(set(map(shown, constructs)), key=lambda item: (item.startswith("`"), item)))


@pytest.mark.parametrize("language", TESTED)
def test_the_table_has_what_is_tested(language):
    rows = [line for line in README.read_text(encoding="utf-8").split("\n") if line.startswith(f"| {language} | ")]
    assert rows == [f"| {language} | {cell(TESTED[language])} |"]


def test_the_version_of_unicode():
    from llgcy.grammar.regex import UNICODE_VERSION
    assert f"those of Unicode {UNICODE_VERSION.removesuffix('.0')}." in README.read_text(encoding="utf-8")
