"""``llgcy bench``, from its options to its files."""
from __future__ import annotations

import argparse
import pathlib
import sys
from collections.abc import Callable

import llgcy
from llgcy.bench import cases, engines, measure, plot, report
from llgcy.errors import LlgcyError
from llgcy.progress import Bar


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser], natural: Callable[[str], int]) -> None:
    """The subcommand and its options."""
    parser = commands.add_parser("bench", help="measure engines on schemas of your own",
                                 description="Measure llgcy, and whichever of llguidance, xgrammar and outlines_core are installed, on schemas: the time from the "
                                             "schema to the first mask, and of each mask with its token. All engines get the same tokens.")
    parser.add_argument("files", metavar="PATH", nargs="*", help="a JSON Schema, a file of JSON lines, or a folder of such, gzipped or not; a document may "
                        "also be {\"schema\": ..., \"tests\": [{\"data\": ..., \"valid\": true}]}. Without tests texts are made up; without a path "
                        "some examples are measured")
    parser.add_argument("--engines", metavar="NAMES", help="which of them, by commas; by default all that are installed")
    parser.add_argument("--tokenizer", metavar="PATH", help="a tokenizer.json or the folder that holds one; by default the one in the package")
    parser.add_argument("--limit", metavar="N", type=natural, help="the first N schemas")
    parser.add_argument("--rounds", metavar="N", type=natural, default=1, help="measure each schema so often; the fastest round counts (default 1)")
    parser.add_argument("--seed", metavar="N", type=natural, default=0, help="seed of made-up texts (default 0)")
    parser.add_argument("--table", metavar="FILE", help="write the table there, as Markdown, too")
    parser.add_argument("--plot", metavar="FILE", help="write a plot of the distribution of mask times there, as SVG")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measures and writes. The exit status of the command line."""
    names = options.engines.split(",") if options.engines is not None else engines.available()
    unknown = [name for name in names if name not in engines.ENGINES]
    if unknown or not names:
        print(f"llgcy bench: {unknown[0] if unknown else ''!r} is none of {', '.join(engines.ENGINES)}", file=sys.stderr)
        return 2
    try:
        tokenizer = llgcy.Tokenizer.default() if options.tokenizer is None else llgcy.Tokenizer.from_huggingface(options.tokenizer)
        some = list(cases.read(options.files, options.seed, options.limit))
        ready = [engines.made(name, tokenizer) for name in names]
    except (LlgcyError, ImportError) as error:
        print(f"llgcy bench: {error}", file=sys.stderr)
        return 1
    with Bar(len(some), sys.stderr) as bar:
        found = measure.measure(ready, some, tokenizer, max(1, options.rounds), lambda done, name: bar.show(done))
    text = report.table(found)
    sys.stdout.write(text)
    if options.table is not None:
        pathlib.Path(options.table).write_text(text, encoding="utf-8")
    if options.plot is not None:
        pathlib.Path(options.plot).write_text(plot.plot(found), encoding="utf-8")
    return 0
