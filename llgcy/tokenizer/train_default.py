"""Trains the tokenizer that comes with the package: ``python -m llgcy.tokenizer.train_default [FILE]``.

The text is what every Python installation has: the sources of the standard library, its prose (docstrings and the topics of
``help()``), and JSON documents made up from a fixed seed. The same Python and the same version of tokenizers give the same file; the
file in the package was made with CPython 3.11.7 and tokenizers 0.23.3. No test depends on which tokens it has, only on its properties.
"""
from __future__ import annotations

import ast
import json
import pathlib
import random
import sys
import sysconfig
from collections.abc import Iterator
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

VOCAB_SIZE = 16384
END = "<|end|>"
LONGEST = 24
"""No token is longer than this many bytes: it keeps ruler lines and the like out of the vocabulary."""

PIECES = r" ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""Merges stay inside these pieces of a text: words, up to three digits, punctuation with the line ends after it, white space."""


def sources() -> Iterator[str]:
    """The modules of the standard library, without its tests and without what is installed beside it."""
    root = pathlib.Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        if not {"test", "tests", "idle_test", "site-packages", "__pycache__"} & set(path.relative_to(root).parts):
            yield path.read_text(encoding="utf-8", errors="replace")


def prose(source: str) -> Iterator[str]:
    """The docstrings of a module and of all that it defines."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):        # templates, and files that are wrong on purpose
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield text


def topics() -> Iterator[str]:
    """The chapters of the language reference that ``help()`` shows."""
    from pydoc_data.topics import topics as chapters

    yield from (chapters[name] for name in sorted(chapters))


def documents(words: list[str], count: int, seed: int = 0) -> Iterator[str]:
    """JSON texts of many shapes and spellings, compact and indented, with the given words in them."""
    chance = random.Random(seed)

    def phrase(low: int, high: int) -> str:
        return " ".join(chance.choices(words, k=chance.randint(low, high)))

    def scalar() -> Any:
        return chance.choice([
            lambda: phrase(1, 6), lambda: phrase(1, 1), lambda: chance.randint(0, 9), lambda: chance.randint(-1000, 100000),
            lambda: round(chance.uniform(-1000, 1000), chance.randint(1, 4)), lambda: chance.choice([True, False, None]),
            lambda: f"20{chance.randint(10, 39)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T{chance.randint(0, 23):02}:{chance.randint(0, 59):02}:00Z",
            lambda: f"{phrase(1, 1).lower()}@example.com", lambda: f"https://example.com/{phrase(1, 1).lower()}/{chance.randint(1, 99)}",
            lambda: f"{chance.getrandbits(32):08x}-{chance.getrandbits(16):04x}",
        ])()

    def value(depth: int) -> Any:
        kind = chance.random()
        if depth == 0 or kind < 0.45:
            return scalar()
        if kind < 0.65:
            return [value(depth - 1) for _ in range(chance.randint(0, 5))]
        return {chance.choice([str.lower, str.title])(phrase(1, 2)).replace(" ", chance.choice(["_", "", "-"])): value(depth - 1)
                for _ in range(chance.randint(0, 7))}

    for _ in range(count):
        document = {phrase(1, 1).lower(): value(3) for _ in range(chance.randint(1, 6))}
        style: dict[str, Any] = chance.choice([{"separators": (",", ":")}, {}, {"indent": 2}, {"indent": 4}])
        yield json.dumps(document, ensure_ascii=chance.random() < 0.5, **style)


def corpus() -> Iterator[str]:
    """All the text, in a fixed order."""
    modules = list(sources())
    yield from modules
    docstrings = [text for module in modules for text in prose(module)]
    yield from docstrings
    yield from topics()
    words = sorted({word for text in docstrings for word in text.split() if word.isalpha()})
    yield from documents(words, 12000)


def train(texts: Iterator[str], vocab_size: int = VOCAB_SIZE) -> Tokenizer:
    """A byte-level BPE of these texts, with all 256 bytes in its alphabet and `END` as its only special token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(PIECES), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), max_token_length=LONGEST, show_progress=False))
    return tokenizer


def main() -> None:
    """Train and write the file."""
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "data" / "default.json"
    tokenizer = train(corpus())
    target.write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
    print(f"{target}: {tokenizer.get_vocab_size()} tokens, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
