"""The command line: ``llgcy generate`` writes texts under a grammar, ``llgcy check`` says whether grammars compile.

Exit status: 0 where all went well; 1 where a grammar, a tokenizer or the sample is refused; 2 where the command can't be understood or
a file can't be read.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

import llgcy
from llgcy.errors import GrammarError, LlgcyError, TokenizerError
from llgcy.standin import StandIn
from llgcy.version import __version__

WIDTH = 40           # characters of the progress bar
EXPECTED = 12        # ranges of bytes that a message names at most
NEAR = 20            # bytes of the sample that a message shows before the place


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the name of the program; by default those of the process.

    Returns
    -------
    int
        The exit status. Wrong usage raises SystemExit, as argparse does.
    """
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except OSError as error:
        if isinstance(error, BrokenPipeError):       # whoever read the output has enough of it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"llgcy: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="llgcy", description="Constrained decoding: texts and token masks from grammars.")
    parser.add_argument("--version", action="version", version=f"llgcy {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    generate = commands.add_parser("generate", help="write texts under a grammar, with random logits in place of a model",
                                   description="Write texts under a grammar, with random logits in place of a model. Each text is complete: past "
                                               "the budget of tokens it gets a shortest ending.")
    grammar = generate.add_mutually_exclusive_group(required=True)
    grammar.add_argument("--schema", metavar="FILE", help="a JSON Schema; - reads standard input")
    grammar.add_argument("--lark", metavar="FILE", help="a Lark grammar; - reads standard input")
    grammar.add_argument("--regex", metavar="R", help="a regular expression, which the whole text matches")
    generate.add_argument("--tokenizer", metavar="PATH", help="a tokenizer.json or the folder that holds one; by default the one in the package")
    generate.add_argument("--eos-token-id", metavar="ID", type=_natural, action="append",
                          help="the id that ends a sequence, where the tokenizer doesn't say; may be repeated")
    generate.add_argument("--seed", metavar="N", type=_natural, default=0, help="seed of the random logits (default 0)")
    generate.add_argument("-n", metavar="COUNT", type=_natural, default=1, help="how many texts (default 1)")
    generate.add_argument("--max-tokens", metavar="N", type=_natural, default=200, help="tokens per text, before its ending (default 200)")
    generate.set_defaults(run=_generate)

    check = commands.add_parser("check", help="say whether grammars compile, and whether they accept a text",
                                description="Say of each file whether it compiles, and whether it accepts the sample; if not, why and where. "
                                            ".json is a JSON Schema, .lark a Lark grammar, .gbnf a GBNF grammar; what another file is follows from its text.")
    check.add_argument("files", metavar="FILE", nargs="+")
    check.add_argument("--text", metavar="SAMPLE", help="a text that each grammar must accept as a whole")
    check.set_defaults(run=_check)
    return parser


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def _read(path: str) -> str:
    data = sys.stdin.buffer.read() if path == "-" else pathlib.Path(path).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise GrammarError(f"not UTF-8 at byte {error.start}") from error


# generate

def _generate(options: argparse.Namespace) -> int:
    source = options.schema or options.lark or "--regex"
    text = options.regex
    try:
        if options.schema is not None:
            text = _read(options.schema)
            grammar = llgcy.Grammar.from_json_schema(text)
        elif options.lark is not None:
            text = _read(options.lark)
            grammar = llgcy.Grammar.from_lark(text)
        else:
            grammar = llgcy.Grammar.from_regex(text)
        _warn(source, grammar)
        if options.tokenizer is not None:
            tokenizer = llgcy.Tokenizer.from_huggingface(options.tokenizer, eos_token_id=options.eos_token_id)
        else:
            tokenizer = llgcy.Tokenizer.default()
        compiled = llgcy.compile(grammar, tokenizer)
        model = StandIn(tokenizer, options.seed)
        with _Bar(options.n, sys.stderr) as bar:
            for done in range(options.n):
                bar.show(done)
                output = b"".join(_text(compiled, tokenizer, model, options.max_tokens))
                bar.clear()
                sys.stdout.buffer.write(output + b"\n")
                sys.stdout.buffer.flush()
    except LlgcyError as error:
        _report(options.tokenizer or source if isinstance(error, TokenizerError) else source, error, text, sys.stderr)
        return 1
    return 0


def _text(compiled: llgcy.CompiledGrammar, tokenizer: llgcy.Tokenizer, model: StandIn, max_tokens: int) -> Iterator[bytes]:
    """The pieces of one text: what the model writes within its budget, and an ending if it needs one."""
    matcher = compiled.matcher()
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    for _ in range(max_tokens):
        matcher.fill_next_token_bitmask(bitmask)
        token = model.choose(bitmask[0])
        matcher.accept_token(token)
        if matcher.is_terminated():
            return
        yield tokenizer.token_bytes(token) or b""
    yield matcher.completion()


class _Bar:
    """A progress bar, where there is a terminal to show it and more than one step to wait for."""

    def __init__(self, steps: int, stream: TextIO):
        self.steps, self.stream, self.shown = steps, stream, steps > 1 and stream.isatty()

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()

    def show(self, done: int) -> None:
        if self.shown:
            full = WIDTH * done // self.steps
            self._write(f"\r[{'#' * full}{'.' * (WIDTH - full)}] {done}/{self.steps}")

    def clear(self) -> None:
        """Wipe it, so that output may go to the same terminal."""
        if self.shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


# check

def _check(options: argparse.Namespace) -> int:
    sample = None if options.text is None else os.fsencode(options.text)
    refused = False
    for path in options.files:
        text = None
        try:
            text = _read(path)
            grammar = _grammar(path, text)
            compiled = llgcy.compile(grammar, llgcy.Tokenizer.single_byte())
            _warn(path, grammar)
            wrong = sample is not None and _refusal(compiled, sample)
        except LlgcyError as error:
            _report(path, error, text, sys.stdout)
            refused = True
            continue
        if wrong:
            print(f"{path}: compiles, but refuses the sample {wrong}")
            refused = True
        else:
            print(f"{path}: compiles" + ("" if sample is None else " and accepts the sample"))
    return int(refused)


def _grammar(path: str, text: str) -> llgcy.Grammar:
    suffix = pathlib.Path(path).suffix
    if suffix == ".json":
        return llgcy.Grammar.from_json_schema(text)
    if suffix == ".lark":
        return llgcy.Grammar.from_lark(text)
    if suffix == ".gbnf":
        return llgcy.Grammar.from_gbnf(text)
    return llgcy.Grammar.from_text(text)


def _refusal(compiled: llgcy.CompiledGrammar, sample: bytes) -> str | None:
    """Why and where the grammar, compiled for single bytes, refuses the sample; None where it accepts."""
    matcher = compiled.matcher()
    for offset, byte in enumerate(sample):
        if not matcher.accept_token(byte):
            read = sample[:offset]
            lines = read.decode("utf-8", "replace").split("\n")
            place = f"byte {offset} (line {len(lines)}, column {len(lines[-1]) + 1})"
            return f"at {place}: {_shown(sample[offset:offset + 1])} after {_shown(read[-NEAR:])}; expected {_expected(matcher)}"
    if not matcher.is_accepting():
        return (f"at its end: after {_shown(sample[-NEAR:])} something is missing; expected {_expected(matcher)}; "
                f"a shortest ending is {_shown(matcher.completion())}")
    return None


def _shown(data: bytes) -> str:
    return repr(data.decode("utf-8", "backslashreplace"))


def _expected(matcher: llgcy.Matcher) -> str:
    """What may come next: ranges of bytes, and the end."""
    bitmask = llgcy.allocate_bitmask(1, 257)
    matcher.fill_next_token_bitmask(bitmask)
    allowed = [id for id in range(257) if bitmask[0, id // 32] >> id % 32 & 1]
    ranges: list[list[int]] = []
    for byte in allowed:
        if byte < 256 and ranges and ranges[-1][1] == byte - 1:
            ranges[-1][1] = byte
        else:
            ranges.append([byte, byte])
    names = ["the end" if first == 256 else _byte(first) + (f" to {_byte(last)}" if last > first else "") for first, last in ranges]
    return ", ".join(names[:EXPECTED]) + (" or others" if len(names) > EXPECTED else "")


def _byte(byte: int) -> str:
    return repr(chr(byte)) if byte < 0x80 else f"byte 0x{byte:02X}"


# Messages

def _warn(path: str, grammar: llgcy.Grammar) -> None:
    for warning in grammar.warnings:
        print(f"{path}: warning: {warning}", file=sys.stderr)


def _report(path: str, error: LlgcyError, text: str | None, stream: TextIO) -> None:
    """Print an error; with the line it is about and a mark below the column, where it has those."""
    if not isinstance(error, GrammarError) or error.line is None or error.column is None or text is None:
        print(f"{path}: {error}", file=stream)
        return
    print(f"{path}:{error.line}:{error.column}: {error.message}", file=stream)
    lines = text.split("\n")
    if error.line <= len(lines):
        shown = lines[error.line - 1].rstrip("\r").replace("\t", " ")
        print(f"    {shown}\n    {' ' * (error.column - 1)}^", file=stream)
