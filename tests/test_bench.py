"""`llgcy bench`: what it reads, measures and writes."""
import gzip
import json
import xml.etree.ElementTree
from array import array

import pytest

import llgcy
from llgcy.bench import cases, engines, measure, plot, report
from llgcy.cli import main
from llgcy.errors import GrammarError

SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "minimum": 0}, "s": {"type": "string", "maxLength": 9}}, "required": ["n", "s"],
          "additionalProperties": False}
TEST = {"id": "one", "schema": SCHEMA, "tests": [{"valid": True, "data": {"n": 1, "s": "x"}}, {"valid": False, "data": {"n": -1, "s": "x"}}]}


def test_files_folders_and_lines(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "b.jsonl").write_text(json.dumps(TEST) + "\n\n" + json.dumps(True) + "\n")
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps(TEST).encode()))
    (tmp_path / "notes.txt").write_text("no schema")
    found = list(cases.read([str(tmp_path)]))
    assert [case.name for case in found] == ["a", "one", "b.jsonl:3", "one"]
    assert found[1].texts == ('{"n": 1, "s": "x"}',) and found[1].schema == SCHEMA
    assert len(list(cases.read([str(tmp_path)], limit=2))) == 2
    grammar = llgcy.Grammar.from_json_schema(SCHEMA)
    assert found[0].texts and all(grammar.accepts(text) for text in found[0].texts)
    (tmp_path / "b.jsonl").write_text("{}\n{")
    with pytest.raises(GrammarError, match="b.jsonl, line 2"):
        list(cases.read([str(tmp_path)]))


@pytest.mark.parametrize("name", cases.BUILTIN)
def test_made_up_texts_are_valid_and_the_same_again(name):
    grammar = llgcy.Grammar.from_json_schema(cases.BUILTIN[name])
    texts = list(cases.made_up(cases.BUILTIN[name], 3))
    assert len(texts) == 3 and all(grammar.accepts(text) for text in texts)
    assert texts == list(cases.made_up(cases.BUILTIN[name], 3))


def test_refused_schemas_have_no_texts():
    assert list(cases.made_up({"type": "string", "pattern": "(a)\\1"})) == []


class Fake:
    """An engine that takes what it is told to take."""

    def __init__(self, name, refuses=(), stops=()):
        self.name, self.refuses, self.stops = name, refuses, stops

    def compile(self, schema):
        if schema in self.refuses:
            raise engines.Refused("no")
        return schema

    def start(self, compiled):
        return compiled

    def mask(self, state):
        pass

    def accept(self, state, token):
        return state not in self.stops


def test_outcomes():
    some = [cases.Case("a", "A", ("xy",)), cases.Case("b", "B", ("xyz",)), cases.Case("c", "C", ("x",)), cases.Case("none", "D", ())]
    told = []
    found = measure.measure([Fake("one", refuses="B"), Fake("two", stops="C")], some, llgcy.Tokenizer.single_byte(), 3, lambda *at: told.append(at))
    assert {name: [run.status for run in runs.values()] for name, runs in found.items()} == {
        "one": ["passed", "refused", "passed"], "two": ["passed", "passed", "stopped"]}
    assert report.passed_by_all(found) == ["0: a"] and told[-1] == (3, "none")
    assert len(found["two"]["1: b"].masks) == 2 and found["two"]["1: b"].first > 0
    text = report.table(found)
    assert "| one | 2 | 1 | 0 |" in text and "| two | 2 | 0 | 1 |" in text and "1 schemas that all engines pass: 1 masks" in text


def test_figures():
    run = measure.Run("passed", 2_000_000, array("q", [1000] * 98 + [50_000, 3_000_000]))
    found = {"engine": {"case": run}}
    row = report.table(found).splitlines()[2]
    assert row == "| engine | 1 | 0 | 0 | 31.5 µs | 1.0 µs | 3.0 ms | 3.0 ms | 3.0 ms | 2.0 ms | 2.0 ms | 2.0 ms |"


def test_plot_is_xml_with_a_line_for_each_engine():
    found = {name: {"case": measure.Run("passed", 5, array("q", times))} for name, times in
             (("<fast>", [500, 600, 700, 90_000]), ("slow", range(1000, 2_000_000, 999)))}
    root = xml.etree.ElementTree.fromstring(plot.plot(found))
    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    for line in lines:
        points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        assert all(x <= after_x and y <= after_y for (x, y), (after_x, after_y) in zip(points, points[1:])), "the longer, the fewer"
        assert all(0 <= x <= plot.WIDTH and 0 <= y <= plot.HEIGHT for x, y in points)
    assert "<fast>" in "".join(root.itertext())
    assert "No masks" in plot.plot({"engine": {}})


def test_the_command(tmp_path, capsys):
    (tmp_path / "schemas.jsonl").write_text(json.dumps(TEST) + "\n")
    table, picture = tmp_path / "t.md", tmp_path / "p.svg"
    assert main(["bench", str(tmp_path / "schemas.jsonl"), "--engines", "llgcy", "--rounds", "2", "--table", str(table), "--plot", str(picture)]) == 0
    out = capsys.readouterr().out
    assert out == table.read_text(encoding="utf-8") and f"| llgcy {llgcy.__version__} | 1 | 0 | 0 |" in out
    assert picture.read_text().startswith("<svg")
    assert main(["bench", "--engines", "nobody"]) == 2
    assert "none of llgcy" in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in engines.ENGINES if name != "llgcy"])
def test_peers_take_the_same_texts(name):
    pytest.importorskip(name)
    tokenizer = llgcy.Tokenizer.default()
    try:
        engine = engines.made(name, tokenizer)
    except ImportError:
        pytest.skip("it lacks what it needs itself")
    case = cases.Case("small", SCHEMA, ('{"n":1.5,"s":"ab"}',))
    assert measure.replay(engine, case, [tokenizer.encode(text) for text in case.texts]).status == "passed"
    wrong = cases.Case("small", SCHEMA, ('["n"]',))         # not all of them enforce bounds
    assert measure.replay(engine, wrong, [tokenizer.encode(text) for text in wrong.texts]).status == "stopped"
