"""Grammars from every language, and what compiles them for a tokenizer."""
from __future__ import annotations

import functools
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from llgcy.bitmask import allocate_bitmask
from llgcy.content import Content, Kept, field, json_text
from llgcy.core.config import GrammarMachine
from llgcy.core.json import JsonMachine
from llgcy.core.limited import Limited, term_facts
from llgcy.core.machine import Machine
from llgcy.core.matcher import CompiledGrammar
from llgcy.core.regex import Regexes
from llgcy.core.store import Budget
from llgcy.core.trie import Vocabulary
from llgcy.errors import BudgetError, GrammarError, UnsatisfiableError, UnsupportedKeywordError
from llgcy.explain import Explanation, explain
from llgcy.grammar import choices, gbnf, ir, lark, named, structural
from llgcy.grammar.advice import advice
from llgcy.grammar.lower import lower
from llgcy.grammar.reading import Reader
from llgcy.grammar.route import route
from llgcy.grammar.to_lark import to_lark
from llgcy.grammar.token_sets import resolve
from llgcy.limits import Limits
from llgcy.schema.automaton import Automaton
from llgcy.schema.layout import Layout, guidance
from llgcy.schema.options import Options
from llgcy.schema.python_types import schema_of
from llgcy.schema.read import read_json
from llgcy.tokenizer import Tokenizer

class _Schema:
    """A JSON Schema, read and checked; makes machines for it."""

    validating = False      # see `llgcy.validator`
    captures = False

    def __init__(self, schema: Any, **options: Any):
        if not isinstance(schema, (dict, list, tuple, str, bytes, bytearray, int, float, type(None))):
            schema = schema_of(schema)
        given = schema
        if isinstance(schema, (str, bytes, bytearray)):
            schema = read_json(schema)
        options = {**guidance(schema), **options}
        of_layout = ("separators", *Layout._fields)
        self.layout = Layout.of(**{name: options.pop(name) for name in of_layout if name in options})
        self.options = Options.of(of_layout, **options)
        # Reading proves that some document is valid. The automaton belongs to one machine; the first takes this one.
        automaton = Automaton(schema, self.options, self.validating)
        self.ready = [automaton]
        self.warnings: tuple[str, ...] = tuple(automaton.warnings)
        # What is read again later must not have changed meanwhile.
        self.kept = Kept(given)
        self.options = self.options._replace(resources={uri: json_text(document) for uri, document in self.options.resources.items()})

    @property
    def schema(self) -> str:
        """The schema as JSON text."""
        return self.kept.text

    @property
    def content(self) -> Content | None:
        """See `llgcy.content`."""
        return {"kind": "json_schema", "schema": self.schema, **self.layout._asdict(), **self.options._asdict()}

    def machine(self, budget: Budget, horizon: int, tokens: _Tokens | None = None) -> Machine:
        try:
            automaton = self.ready.pop()        # at once, or two threads might share it
        except IndexError:
            automaton = Automaton(self.schema, self.options, self.validating)
        return JsonMachine(automaton, budget, horizon, **self.layout.machine_options())


class _Rules:
    """A grammar of rules over lexemes; makes machines for it."""

    def __init__(self, grammar: ir.Grammar, content: Content | None):
        self.grammar, self.content = grammar, content
        self.schemas = {node: _Schema(node.schema, **dict(node.options)) for node in grammar.sources(ir.Json)}
        self.warnings: tuple[str, ...] = (*advice(grammar), *(warning for schema in self.schemas.values() for warning in schema.warnings))
        self.captures = grammar.captures

    def machine(self, budget: Budget, horizon: int, tokens: _Tokens) -> Machine:
        return self._machine(self.grammar, budget, horizon, tokens)

    def reader(self, budget: Budget, tokens: _Tokens) -> Reader:
        """What finds captures."""
        return self._reader(self.grammar, budget, tokens)

    def _machine(self, grammar: ir.Grammar, budget: Budget, horizon: int, tokens: _Tokens) -> Machine:
        regexes = Regexes("bytes", budget)
        tables = lower(grammar, regexes).tables(regexes, self._make(grammar, budget, horizon, tokens))
        machine = GrammarMachine(tables, budget, horizon=horizon)
        self.warnings = tuple(dict.fromkeys((*self.warnings, *machine.warnings)))
        return machine

    def _reader(self, grammar: ir.Grammar, budget: Budget, tokens: _Tokens) -> Reader:
        return Reader(grammar, budget, self._make(grammar, budget, 1, tokens), lambda inner: self._reader(inner, budget, tokens))

    def _make(self, grammar: ir.Grammar, budget: Budget, horizon: int, tokens: _Tokens) -> Callable[[ir.Node], Any]:
        """What a lexeme of a grammar that is no regex is read with."""
        def make(source: ir.Node) -> Any:
            if isinstance(source, ir.Json):
                return self.schemas[source].machine(budget, horizon)
            if isinstance(source, ir.Tokens):
                return tokens.ids(source)
            if isinstance(source, ir.Limited):
                return self._limited(source, make(source.body), grammar.options.lexing == "greedy", budget, tokens)
            assert isinstance(source, ir.Embedded) and isinstance(source.grammar, ir.Grammar), "names are linked before"
            return self._machine(source.grammar, budget, horizon, tokens)
        return make

    def _limited(self, source: ir.Limited, body: Machine, greedy: bool, budget: Budget, tokens: _Tokens) -> Limited:
        line, column = source.at or (None, None)
        if body.names_tokens:           # how many such tokens an ending needs is not known
            raise UnsupportedKeywordError("max_tokens= stands on a text that names tokens, which is not supported: limit the parts between them, "
                                          "or all of the text by CompiledGrammar.matcher(max_tokens=)", line=line, column=column)
        bound, tail = -1, getattr(body, "tail_bytes", None)
        if isinstance(body, GrammarMachine) and len(body.tables.lexemes) == len(body.tables.rules) == 1 and isinstance(body.tables.lexemes[0], int):
            bound, tail = term_facts(body.tables.regexes, body.tables.lexemes[0])
        machine = Limited(body, source.most, tokens.tokenizer.vocabulary, budget, greedy=greedy, judged=tokens.known,
                          bound=bound, tail_bytes=tail)
        least = machine.least
        if not machine.judged:
            return machine
        if least is None:
            raise UnsupportedKeywordError("no ending of a text with max_tokens= is known that the vocabulary can spell", line=line, column=column)
        if least > source.most:
            raise UnsatisfiableError(f"max_tokens={source.most} is too few: the shortest text known needs {least:,} tokens", line=line, column=column)
        return machine


class _Tokens:
    """The tokenizer, as grammars see it that name or count tokens. ``known``: False where it stands in for one that is not known yet."""

    def __init__(self, tokenizer: Tokenizer, known: bool):
        self.tokenizer, self.known = tokenizer, known

    def ids(self, node: ir.Tokens) -> tuple[tuple[int, int], ...]:
        return resolve(node, self.tokenizer, self.known)


def _rules(grammar: ir.Grammar, content: Content | None = None) -> _Rules | _Schema:
    """A grammar that is nothing but a JSON document is one for the JSON machine."""
    document = grammar.document
    return _Rules(grammar, content) if document is None else _Schema(document.schema, **dict(document.options))


class Grammar:
    """What a text must look like; no tokenizer is needed yet. Made by the ``from_...`` constructors.

    Attributes
    ----------
    max_tokens : int or None
        Within so many tokens, EOS included, a text ends, where the grammar says so. It is kept by matchers, not by `accepts`.

    Examples
    --------
    >>> Grammar.from_json_schema({"type": "integer"}).accepts("12")
    True
    """

    def __init__(self, source: Any, max_tokens: int | None = None):
        self._source = source
        self._reading = threading.Lock()        # held while the machine of explain() is in use
        self.max_tokens = max_tokens

    @property
    def warnings(self) -> tuple[str, ...]:
        """What deserves a look: unknown formats, places that greedy lexing may not leave. Those of rules are known once compiled."""
        return self._source.warnings

    @classmethod
    def from_json_schema(cls, schema: Any, **options: Any) -> Grammar:
        """JSON documents that are valid by a schema.

        Parameters
        ----------
        schema : dict, bool, str, type or function
            A str (or bytes) is JSON text. A type is a pydantic model, dataclass, TypedDict, Enum, or an expression such as ``Literal["a", "b"]``
            or ``list[int]``; of a function the annotated parameters count. See `llgcy.schema.python_types`.
        **options
            How the text is laid out, see `llgcy.schema.layout.Layout`: whitespace, max_whitespace, whitespace_pattern, separators (or
            item_separator and key_separator), surrounding_space, escapes.

            And what the schema means, see `llgcy.schema.options.Options`: draft, property_order, number_spelling, formats, resources, openapi, lenient.

        Raises
        ------
        GrammarError
            The schema is malformed; `UnsupportedKeywordError`: it uses what llgcy cannot enforce; `UnsatisfiableError`: no
            document is valid. All have a ``pointer``.
        TypeError, ValueError
            An option is unknown, or has no such value.

        Notes
        -----
        What the schema says by ``x-guidance`` are defaults of these options, as llguidance has them.
        """
        return cls(_Schema(schema, **options))

    @classmethod
    def any_json(cls, **options: Any) -> Grammar:
        """Any JSON document; options as for `from_json_schema`."""
        return cls.from_json_schema(True, **options)

    @classmethod
    def from_lark(cls, text: str, *, lexing: str | None = None) -> Grammar:
        """A grammar in the Lark dialect.

        Parameters
        ----------
        text : str
        lexing : "greedy" or "exact", optional
            Where a lexeme ends: at the longest match, or wherever the grammar can go on. By default what the grammar says by
            ``%llguidance {"lexing": ...}``, else greedy.

        Raises
        ------
        GrammarError
            With ``line`` and ``column``.
        """
        return cls(_rules(lark.read(text, lexing=lexing), {"kind": "lark", "text": text, "lexing": lexing}))

    @classmethod
    def from_gbnf(cls, text: str, *, root: str = "root") -> Grammar:
        """A grammar in llama.cpp's GBNF, with the meaning that llama.cpp gives it, character by character.

        Parameters
        ----------
        text : str
        root : str
            The rule that the whole text must match.

        Raises
        ------
        GrammarError
            With ``line`` and ``column``.
        """
        return cls(_rules(gbnf.read(text, root), {"kind": "gbnf", "text": text, "root": root}))

    @classmethod
    def from_ebnf(cls, text: str, *, root: str = "root") -> Grammar:
        """A grammar in XGrammar's EBNF, as far as it is GBNF in other spellings; the README lists them. Anything else is an error.

        Parameters
        ----------
        text : str
        root : str
            The rule that the whole text must match.

        Raises
        ------
        GrammarError
            With ``line`` and ``column``.
        """
        return cls(_rules(gbnf.read(text, root, ebnf=True), {"kind": "ebnf", "text": text, "root": root}))

    @classmethod
    def from_regex(cls, pattern: str | re.Pattern[str], *, flavor: str = "python") -> Grammar:
        """The texts that a regular expression matches as a whole.

        Parameters
        ----------
        pattern : str or re.Pattern
        flavor : "python", "rust" or "ecma"

        Raises
        ------
        GrammarError
            With the column, where it is malformed or needs what no automaton can do (back-references).
        """
        source, flags = (pattern.pattern, pattern.flags) if isinstance(pattern, re.Pattern) else (pattern, 0)
        return cls(_rules(choices.from_regex(pattern, flavor), {"kind": "regex", "pattern": source, "flags": flags, "flavor": flavor}))

    @classmethod
    def from_choices(cls, texts: Iterable[str]) -> Grammar:
        """Exactly these texts; a hundred thousand of them are one lexeme."""
        texts = list(texts) if not isinstance(texts, (str, bytes)) else texts
        return cls(_rules(choices.from_choices(texts), {"kind": "choices", "texts": texts}))

    @classmethod
    def from_grammars(cls, source: list[Any] | dict[str, Any] | str) -> Grammar:
        """The first of several grammars of any kinds, which may refer to the others by name.

        Parameters
        ----------
        source : list, dict or str
            ``[{"name": ..., "lark_grammar": ...}, ...]``, an object with that list as ``grammars``, or the JSON text of either. Instead
            of ``lark_grammar``: ``gbnf``, ``regex`` (Rust's syntax), ``choice`` (a list of texts) or ``json_schema``. In Lark, ``@name``
            stands for a text of another one. An object may have ``max_tokens``, too: every text ends validly within so many tokens,
            EOS included, see `Matcher.finish_within` (llguidance stops there, wherever the text stands).

        Raises
        ------
        GrammarError
            One of them is malformed; the message says which.

        Examples
        --------
        >>> g = Grammar.from_grammars([{"lark_grammar": 'start: "JSON: " @n'}, {"name": "n", "json_schema": {"type": "integer"}}])
        >>> g.accepts("JSON: 12")
        True
        """
        return cls(_rules(named.read(source), {"kind": "grammars", "source": json_text(source)}), named.max_tokens(source))

    @classmethod
    def from_structural_tag(cls, source: dict[str, Any] | str) -> Grammar:
        """Text in which tags stand, such as calls of tools, each with a grammar for what is inside of it.

        Parameters
        ----------
        source : dict or str
            An object, or its JSON text: ``{"type": "structural_tag", "format": ...}`` with a tree of formats as XGrammar and vLLM have it, or
            the older ``{"type": "structural_tag", "structures": [{"begin", "schema", "end"}, ...], "triggers": [...]}``. Free text goes on
            to the first place where a trigger is complete; then one of the tags that begin with it must follow. Begins and ends that look
            like special tokens (``<tool_call>``) may be written as such, where the tokenizer has them, and as text.

        Raises
        ------
        GrammarError
            It is malformed, with the ``pointer`` of the place; `UnsupportedKeywordError`: a format of it is not enforced.

        Examples
        --------
        >>> tag = {"begin": "<f>", "schema": {"type": "integer"}, "end": "</f>"}
        >>> g = Grammar.from_structural_tag({"type": "structural_tag", "structures": [tag], "triggers": ["<f"]})
        >>> g.accepts("Let me see: <f>12</f>."), g.accepts("<f>x</f>")
        (True, False)
        """
        text = json_text(source)
        return cls(_rules(structural.read(text), {"kind": "structural_tag", "source": text}))

    @classmethod
    def from_constraint(cls, constraint: dict[str, Any] | None) -> Grammar:
        """A grammar of one kind.

        Parameters
        ----------
        constraint : dict or None
            ``{"type": kind, "value": value}`` with kind ``lark``, ``gbnf``, ``regex`` (Rust's syntax), ``choice``, ``json_schema``,
            ``llguidance`` (named grammars), ``structural_tag``. None, or kind ``none``: any text.

        Raises
        ------
        GrammarError
            The value is malformed, or the kind is none of these.

        Examples
        --------
        >>> Grammar.from_constraint({"type": "choice", "value": ["yes", "no"]}).accepts("no")
        True
        """
        if constraint is None:
            constraint = {"type": "none"}
        if not isinstance(constraint, dict) or set(constraint) - {"type", "value"}:
            raise GrammarError('a constraint is an object {"type": ..., "value": ...}')
        kinds: dict[Any, Callable[[Any], Grammar]] = {
            "lark": cls.from_lark, "gbnf": cls.from_gbnf, "regex": lambda value: cls.from_regex(value, flavor="rust"),
            "choice": cls.from_choices, "json_schema": cls.from_json_schema, "llguidance": cls.from_grammars,
            "structural_tag": cls.from_structural_tag,
            "none": lambda value: cls.from_regex(r"(?s).*")}
        kind = constraint.get("type")
        if kind not in kinds:
            raise GrammarError(f"the type of a constraint is one of {', '.join(kinds)}, not {kind!r}")
        if kind != "none" and "value" not in constraint:
            raise GrammarError(f"the constraint of type {kind} has no value")
        return kinds[kind](constraint.get("value"))

    @classmethod
    def from_text(cls, text: str) -> Grammar:
        """A grammar in whichever language the text is written.

        A whole JSON text is a list of named grammars, if it is an object with a list ``grammars``, else a JSON Schema; text that begins
        with ``%llguidance`` is a Lark grammar, text with ``::=`` a GBNF grammar, text with a rule ``start`` a Lark grammar.

        Raises
        ------
        GrammarError
            It is none of these.
        """
        kind = route(text).kind
        if kind == "json_schema":
            return cls.from_json_schema(text)
        if kind == "lark":
            return cls.from_lark(text)
        if kind == "gbnf":
            return cls.from_gbnf(text)
        if kind == "structural_tag":
            return cls.from_structural_tag(text)
        return cls.from_grammars(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_content, (self._content(),)

    def _content(self) -> Content:
        """What it was made from, see `llgcy.content`."""
        content: Content | None = self._source.content
        if content is None:
            raise TypeError("this grammar was made from parts that have no saved form")
        return content

    def to_lark(self) -> str:
        """A readable grammar of the Lark dialect with the same language.

        Raises
        ------
        UnsupportedKeywordError
            The dialect cannot say it: regexes that look around, tokens excluded by their text, options of a schema, lists of named grammars.

        Examples
        --------
        >>> print(Grammar.from_gbnf('root ::= [a-z]+ ("," [a-z]+)*').to_lark(), end="")
        %llguidance {"lexing": "exact"}
        start: /[a-z]/+ ("," /[a-z]/+)*
        """
        content = self._content()
        if content["kind"] == "lark":
            lexing = content["lexing"]
            return content["text"] if lexing is None else f'{content["text"]}\n%llguidance {{"lexing": "{lexing}"}}\n'
        if content["kind"] == "json_schema":
            if content != Grammar.from_json_schema(content["schema"])._content():
                raise UnsupportedKeywordError("options of a JSON Schema have no form in the Lark dialect")
            return f"start: %json {content['schema']}\n"
        if content["kind"] == "grammars":
            raise UnsupportedKeywordError("a list of named grammars is no single grammar of the Lark dialect")
        return to_lark(self._source.grammar)

    def accepts(self, text: str | bytes) -> bool:
        """Is the whole text in the language? Without a tokenizer no tokens are counted: it is read as if rules had no ``max_tokens``, but for 0."""
        matcher = self._by_bytes.matcher()
        return matcher.accept_bytes(text.encode() if isinstance(text, str) else text) and matcher.is_accepting()

    def explain(self, text: str | bytes) -> Explanation:
        """How far a text goes, and what was expected there, in the terms of the grammar. As for `accepts`, no tokens are counted.

        Parameters
        ----------
        text : str or bytes

        Returns
        -------
        Explanation
            ``accepted``, ``offset``, ``line``, ``column``, ``expected``, ``rule``; its str is a message.

        Raises
        ------
        LimitError
            The text needs more than the limits of a grammar.

        Examples
        --------
        >>> print(Grammar.from_lark('start: "on" | "off"').explain("of"))
        at its end, byte 2 (line 1, column 3): after 'of' something is missing; expected the rest of ("on" | "off"), in start; a shortest ending is 'f'
        """
        with self._reading:
            return explain(self._machine, text.encode() if isinstance(text, str) else text)

    @functools.cached_property
    def _machine(self) -> Machine:
        """A machine of its own for `explain`, under whose lock it is used."""
        tokenizer, limits = Tokenizer.single_byte(), Limits()
        machine, _ = _Making(self, tokenizer.vocabulary, _Tokens(tokenizer, False), limits)()
        return machine

    @functools.cached_property
    def _by_bytes(self) -> CompiledGrammar:
        return _compile(self, Tokenizer.single_byte(), known=False)


def _from_content(content: Content) -> Grammar:
    """The grammar that was made from a content, which may come from outside.

    Raises
    ------
    GrammarError
        It is no content, or no grammar can be made from it.
    """
    kind = content.get("kind")
    if kind == "json_schema":
        options = {name: field(content, name, str, bool, int, dict, type(None)) for name in (*Layout._fields, *Options._fields)}
        for document in options["resources"].values() if isinstance(options["resources"], dict) else [None]:
            if type(document) is not str:
                raise GrammarError("the resources of a saved schema must be JSON texts by URI")
        return Grammar.from_json_schema(field(content, "schema", str), **options)
    if kind == "lark":
        return Grammar.from_lark(field(content, "text", str), lexing=field(content, "lexing", str, type(None)))
    if kind == "ebnf":
        return Grammar.from_ebnf(field(content, "text", str), root=field(content, "root", str))
    if kind == "gbnf":
        return Grammar.from_gbnf(field(content, "text", str), root=field(content, "root", str))
    if kind == "regex":
        pattern, flags, flavor = field(content, "pattern", str), field(content, "flags", int), field(content, "flavor", str)
        if flags:
            try:
                return Grammar.from_regex(re.compile(pattern, flags), flavor=flavor)
            except (re.error, ValueError, OverflowError, RecursionError) as error:
                raise GrammarError(f"a saved regular expression: {error}") from None
        return Grammar.from_regex(pattern, flavor=flavor)
    if kind == "choices":
        return Grammar.from_choices(field(content, "texts", list))
    if kind == "grammars":
        return Grammar.from_grammars(field(content, "source", str))
    if kind == "structural_tag":
        return Grammar.from_structural_tag(field(content, "source", str))
    raise GrammarError(f"{kind!r} is no kind of saved grammar that this version knows")


class _Making:
    """What a compiled grammar is made from, as often as it is made."""

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary, tokens: _Tokens, limits: Limits):
        self.grammar, self.vocabulary, self.tokens, self.limits = grammar, vocabulary, tokens, limits
        self.readers: list[Reader] = []         # those that no one uses

    def __call__(self) -> tuple[Machine, Budget]:
        """A new machine, and the budget of all that it makes."""
        budget = Budget(self.limits.grammar_bytes, "the grammar")
        return self.grammar._source.machine(budget, max(1, self.vocabulary.trie.longest), self.tokens), budget

    @property
    def records(self) -> bool:
        """Does the grammar record anything?"""
        return bool(self.grammar._source.captures)

    def captures(self, steps: list[tuple[int, bytes]], end: int | None) -> list[tuple[str, bytes]]:
        """See `Reader.captures`."""
        while True:
            try:
                reader, fresh = self.readers.pop(), False       # at once, or two threads might share it
            except IndexError:
                reader, fresh = self.grammar._source.reader(Budget(self.limits.grammar_bytes, "the grammar"), self.tokens), True
            try:
                found = reader.captures(steps, end)
            except BudgetError:
                if fresh:
                    raise
                continue                                        # its budget is spent
            self.readers.append(reader)
            return found


def compile(grammar: Grammar, tokenizer: Tokenizer, limits: Limits | None = None) -> CompiledGrammar:
    """Makes a grammar ready for a tokenizer.

    Parameters
    ----------
    grammar : Grammar
    tokenizer : Tokenizer
    limits : Limits, optional

    Returns
    -------
    CompiledGrammar

    Raises
    ------
    TokenizerError
        The vocabulary cannot spell what the grammar needs.
    LimitError
        The grammar is too large for the limits, or no text is known that ends within its `max_tokens`.
    """
    return _compile(grammar, tokenizer, limits)


def _compile(grammar: Grammar, tokenizer: Tokenizer, limits: Limits | None = None, known: bool = True) -> CompiledGrammar:
    """``known``: False where the tokenizer stands in for one that is not known yet; tokens that it does not have never come then."""
    limits = limits or Limits()
    vocabulary = tokenizer.vocabulary
    making = _Making(grammar, vocabulary, _Tokens(tokenizer, known), limits)
    compiled = CompiledGrammar(grammar, tokenizer, vocabulary, making, limits.mask_bytes, grammar.max_tokens if known else None)
    if compiled.max_tokens is not None:
        compiled.matcher()      # a number that is too small is an error at once
    if vocabulary.missing:      # what no text can do without is missed at once; the rest when a text comes to it
        compiled.matcher().fill_next_token_bitmask(allocate_bitmask(1, tokenizer.vocab_size))
    return compiled
