"""Structural tags: free text in which tags stand, each with a grammar for what is inside of it; tool calls are written so.

Both forms of the JSON are read: the tree of formats of XGrammar and vLLM, and the older one with ``structures`` and ``triggers``.

Free text goes on to the first place where a trigger, or what ends the text, is complete. Where begins and ends of tags look like the names
of special tokens (``<tool_call>``), they may be written as such tokens, as far as the tokenizer has them, and as text.
"""
import re
from decimal import Decimal

from llgcy.content import json_text
from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.grammar import choices, gbnf, ir, named, regex
from llgcy.grammar.link import link
from llgcy.grammar.source import near

DEEPEST = 100                   # formats inside one another
START = "start"
_SPECIAL = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]")
_ANY = ir.Pattern(regex.parse("(?s:.)*", "rust"), "(?s:.)*")
_CHAR = ir.Pattern(regex.parse("(?s:.)", "rust"), "(?s:.)")


def read(source):
    """The IR of a structural tag.

    Parameters
    ----------
    source : str
        JSON text.

    Raises
    ------
    GrammarError
        It is malformed, with a JSON pointer to the place; `UnsupportedKeywordError`: a format of it is not enforced.

    Examples
    --------
    >>> read('{"type": "structural_tag", "format": {"type": "const_string", "value": "a"}}').rules["start"].body
    <"a">
    """
    source = named.loaded(source, "the structural tag")
    if not isinstance(source, dict) or source.get("type", "structural_tag") != "structural_tag":
        raise GrammarError('a structural tag is an object with "type": "structural_tag"')
    if "format" in source:
        form, path = source["format"], ("format",)
        _known(source, ("type", "format"), ())
    else:
        form, path = _triggered(source), ()
    reader = _Reader("tags" if "format" in source else "structures")
    reader.rules[START] = ir.Definition(START, reader.open(form, path))
    return link(ir.Grammar(reader.rules, reader.terminals, START, None, ir.Options(lexing="exact")))


def _triggered(source):
    """The older form as a format."""
    _known(source, ("type", "structures", "triggers"), ())
    structures = source.get("structures")
    if not isinstance(structures, list) or not structures or not all(isinstance(one, dict) for one in structures):
        raise GrammarError('a structural tag has a "format", or a list of objects as "structures"', pointer="/structures")
    tags = []
    for i, one in enumerate(structures):
        _known(one, ("begin", "schema", "end"), ("structures", i))
        schema = one.get("schema", True)
        tags.append({"type": "tag", "begin": one.get("begin"), "content": {"type": "json_schema", "json_schema": schema}, "end": one.get("end")})
    return {"type": "triggered_tags", "triggers": source.get("triggers"), "tags": tags}


def _known(form, fields, path):
    for name in form:
        if name not in fields:
            raise _error(f"unknown field {name!r}{near(str(name), fields)}; there are {', '.join(fields)}", path)


def _error(message, path, kind=GrammarError):
    return kind(message, pointer="".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path))


class _End:
    """What ends a tag: texts, or a token."""

    def __init__(self, texts=(), token=None):
        self.texts, self.token = texts, token

    def node(self):
        return self.token or _either([_written(text) for text in self.texts])


class _Reader:
    """Makes ``rules`` and ``terminals``. ``field``: where tags stand in the JSON."""

    def __init__(self, field):
        self.rules, self.terminals, self.field = {}, {}, field

    # -- formats --------------------------------------------------------------------------------------------------------
    def open(self, form, path):
        """The expression of a format."""
        return self.read(form, None, path)

    def read(self, form, end, path):
        """The expression of a format, and of what ends it, where that is given."""
        if len(path) > 3 * DEEPEST:
            raise LimitError(f"formats stand more than {DEEPEST} deep inside one another")
        if not isinstance(form, dict) or not isinstance(form.get("type"), str):
            raise _error('a format is an object with a "type"', path)
        kind = form["type"]
        if kind in _UNSUPPORTED:
            raise _error(f"the format {kind} is not supported: {_UNSUPPORTED[kind]}", path, UnsupportedKeywordError)
        if kind not in _FORMATS:
            raise _error(f"there is no format {kind!r}{near(kind, _FORMATS)}; there are {', '.join(_FORMATS)}", path)
        method, fields, ending = _FORMATS[kind]
        _known(form, ("type", *fields), path)
        if ending:                                          # it looks after its end
            return method(self, form, end, path)
        body = method(self, form, path)
        return body if end is None else ir.Sequence((body, end.node()))

    def text(self, form, path):
        return ir.Literal(self.string(form, "value", path))

    def schema(self, form, path):
        if form.get("style", "json") != "json":
            raise _error(f"the style {form['style']!r} of JSON Schemas is not supported: only json is", (*path, "style"), UnsupportedKeywordError)
        if "json_schema" not in form:
            raise _error("json_schema is missing", path)
        options = {}
        if form.get("any_order"):
            options["property_order"] = "any"
        schema = form["json_schema"]
        return ir.Json(schema if isinstance(schema, str) else json_text(schema), tuple(options.items()))

    def grammar(self, form, path):
        return self.made(gbnf.read, self.string(form, "grammar", path), (*path, "grammar"))

    def regex(self, form, path):
        return self.made(lambda text: choices.from_regex(text, "rust"), self.string(form, "pattern", path), (*path, "pattern"))

    def made(self, make, text, path):
        try:
            return ir.Embedded(make(text))
        except GrammarError as e:
            raise _error(e.message, path, type(e)) from None

    def any_text(self, form, end, path):
        """Text up to the first place where it ends."""
        free = _without(self.strings(form, "excludes", path, some=False))
        if form.get("max_chars") is not None:
            free = _both(free, ir.Repetition(_CHAR, 0, self.number(form, "max_chars", path)))
        if form.get("max_tokens") is not None:
            return self.limited(free, end, self.number(form, "max_tokens", path))
        return _either(self.up_to(end, free, end.texts)) if end else self.terminal("text", free)

    def limited(self, free, end, most):
        """Text in at most so many tokens, and what ends it, which is read apart from it."""
        if end is None:
            return self.within(free, most)
        if end.token:
            return ir.Sequence((self.within(free, most), end.token))
        ways = []
        for text in end.texts:
            body, found = _before(text, free, end.texts, False), _SPECIAL.search(text)
            if body is not None:
                ways.append(ir.Sequence((self.within(body, most), ir.Literal(text))))
            body = found and _before(text[:found.start()], free, end.texts, True)
            if body is not None:
                ways.append(ir.Sequence((self.within(body, most), ir.Literal(text[:found.start()]), _token(found[0]), _written(text[found.end():]))))
        return _either(ways)

    def within(self, free, most):
        return ir.limited("text", free, {}, most) if most else ir.Sequence(())

    def up_to(self, end, free, stops):
        """The ways in which free text comes to its end, as far as nothing of `stops` comes before."""
        if end.token:
            return [ir.Sequence((self.quiet("", free, stops), end.token))]
        return [self.first(text, free, stops) for text in end.texts] + [way for text in end.texts for way in self.by_token(text, free, stops)]

    def any_tokens(self, form, path):
        most = None if form.get("max_tokens") is None else self.number(form, "max_tokens", path)
        excluded = form.get("excludes") or ()
        return ir.Repetition(self.tokens(excluded, (*path, "excludes"), others=True), 0, most)

    def sequence(self, form, end, path):
        elements = self.list(form, "elements", path)
        last = len(elements) - 1
        return ir.Sequence(tuple(self.read(one, end if i == last else None, (*path, "elements", i)) for i, one in enumerate(elements)))

    def choice(self, form, end, path):
        return _either([self.read(one, end, (*path, "elements", i)) for i, one in enumerate(self.list(form, "elements", path))])

    def optional(self, form, end, path):
        body = self.read(form.get("content"), end, (*path, "content"))
        return ir.Repetition(body, 0, 1) if end is None else _either([body, end.node()])

    def repeated(self, form, path):
        low, high = {"plus": (1, None), "star": (0, None)}.get(form["type"]) or (self.number(form, "min", path), self.number(form, "max", path, least=-1))
        high = None if high == -1 else high
        if high is not None and low > high:
            raise _error(f"min {low} is above max {high}", path)
        self.check_limited(form.get("content"), (*path, "content"))
        return ir.Repetition(self.open(form.get("content"), (*path, "content")), low, high)

    def check_limited(self, form, path):
        """Free text cannot be repeated: nobody could say where one copy ends."""
        todo = [form]
        while todo:
            form = todo.pop()
            kind = form.get("type") if isinstance(form, dict) else None
            if kind in ("any_text", "any_tokens", "triggered_tags", "token_triggered_tags"):
                raise _error("free text cannot be repeated, as nothing ends a copy: put it into a tag with an end", path)
            below = form.get("elements") if kind in ("sequence", "or") else [form.get("content")] if kind == "optional" else None
            if isinstance(below, list):
                todo += below[-1:] if kind == "sequence" else below

    def tag(self, form, path, begin=None):
        """``begin``: what is read of the begin; by default all of it."""
        if begin is None:
            begin = self.token(form["begin"], (*path, "begin")) if isinstance(form.get("begin"), dict) else _written(self.string(form, "begin", path))
        end = form.get("end")
        if isinstance(end, dict):
            end = _End(token=self.token(end, (*path, "end")))
        else:
            texts = self.strings({"end": [end] if isinstance(end, str) else end}, "end", path)
            end = _End(tuple(texts)) if "" not in texts else None
        return ir.Sequence((begin, self.read(form.get("content"), end, (*path, "content"))))

    def triggered(self, form, end, path):
        triggers = self.strings(form, "triggers", path)
        free, stops = _without(self.strings(form, "excludes", path, some=False)), tuple(triggers) + (end.texts if end else ())
        ways, used = [], set()
        for i, tag in enumerate(self.list(form, "tags", path)):
            place = (*path, self.field, i)
            begin = self.string(self.tag_of(tag, place), "begin", place)
            found = [trigger for trigger in triggers if begin.startswith(trigger)]
            if not found:
                raise _error(f"no trigger begins the tag {ir.quote(begin)}, so it could never come", (*place, "begin"))
            used.update(found)
            begins = [ir.Sequence((self.first(trigger, free, stops), _written(begin[len(trigger):]))) for trigger in found]
            special = _SPECIAL.search(begin)
            if special and any(len(trigger) > special.start() for trigger in found):
                begins += self.by_token(begin, free, stops)
            ways.append(self.rule(f"tag {ir.quote(begin)}", self.tag(tag, place, _either(begins))))
        for trigger in triggers:
            if trigger not in used:
                raise _error(f"no tag begins with the trigger {ir.quote(trigger)}, so no text could go on behind it", (*path, "triggers"))
        return self.between(form, end, path, ways, self.up_to(end, free, stops) if end else [self.quiet("", free, stops)])

    def token_triggered(self, form, end, path):
        triggers = self.list(form, "trigger_tokens" if "trigger_tokens" in form else "triggers", path)
        free, ways = _without(self.strings(form, "excludes", path, some=False)), []
        text = self.terminal("text", free)
        known = {ir.show(self.token(one, path)) for one in triggers}
        for i, tag in enumerate(self.list(form, "tags", path)):
            place = (*path, "tags", i)
            begin = self.token(self.tag_of(tag, place).get("begin"), (*place, "begin"))
            if ir.show(begin) not in known:
                raise _error(f"{ir.show(begin)} is none of the triggers", (*place, "begin"))
            ways.append(self.rule(f"tag {ir.show(begin)}", self.tag(tag, place, ir.Sequence((text, begin)))))
        return self.between(form, end, path, ways, self.up_to(end, free, end.texts) if end else [text])

    def between(self, form, end, path, ways, endings):
        """Tags in free text. ``ways``: a tag with the text before it; ``endings``: the text behind the last one, with the end."""
        least, once = self.flag(form, "at_least_one", path), self.flag(form, "stop_after_first", path)
        tag, ending = _either(ways), _either(endings)
        if not once:
            return ir.Sequence((ir.Repetition(tag, int(least), None), ending))
        one = tag if end is None else ir.Sequence((tag, end.node()))
        return one if least else _either([one, ending])

    def separated(self, form, path):
        tags = [self.rule("tag", self.tag(self.tag_of(tag, (*path, "tags", i)), (*path, "tags", i))) for i, tag in enumerate(self.list(form, "tags", path))]
        tag, separator = _either(tags), _written(self.string(form, "separator", path))
        if not self.flag(form, "stop_after_first", path):
            tag = ir.Sequence((tag, ir.Repetition(ir.Sequence((separator, tag)), 0, None)))
        return tag if self.flag(form, "at_least_one", path) else ir.Repetition(tag, 0, 1)

    def one_token(self, form, path):
        return self.token(form, path)

    def other_token(self, form, path):
        return self.tokens([form.get("token")], (*path, "token"), others=True)

    # -- fields ---------------------------------------------------------------------------------------------------------
    def first(self, text, free, stops):
        """Free text and a text behind it, which is the first one of `stops` to be complete."""
        body = ir.Both((ir.Shortest(ir.Sequence((_ANY, ir.Words(tuple(stops))))), ir.Sequence((free, ir.Literal(text)))))
        return self.terminal(f"text up to {ir.quote(text)}", body)

    def by_token(self, text, free, stops):
        """The ways in which free text comes to a text of which the part that looks like a special token is one."""
        found = _SPECIAL.search(text)
        return [ir.Sequence((self.quiet(text[:found.start()], free, stops), _token(found[0]), _written(text[found.end():])))] if found else []

    def quiet(self, text, free, stops):
        """Free text and a text behind it, in which none of `stops` is complete."""
        body = ir.Sequence((free, ir.Literal(text))) if text else free
        return self.terminal(f"text up to {ir.quote(text)}" if text else "text", _both(body, _without(stops)))

    def terminal(self, name, body):
        return _defined(self.terminals, name, body)

    def rule(self, name, body):
        return _defined(self.rules, name, body)

    def tag_of(self, tag, path):
        if not isinstance(tag, dict) or tag.get("type", "tag") != "tag":
            raise _error('a tag is an object with "begin", "content" and "end"', path)
        _known(tag, ("type", "begin", "content", "end"), path)
        return tag

    def token(self, form, path):
        """The node of a token: an id, a name, or an object that holds either as ``token``."""
        if isinstance(form, dict):
            _known(form, ("type", "token"), path)
            form = form.get("token")
        return self.tokens([form], path)

    def tokens(self, tokens, path, others=False):
        if not isinstance(tokens, (list, tuple)):
            raise _error("tokens are a list of ids or names", path)
        if all(isinstance(one, Decimal) and 0 <= one < 1 << 31 and one == int(one) for one in tokens):
            ids = sorted({int(one) for one in tokens})
            shown = f"<[{'^' * (others and bool(ids))}{','.join(map(str, ids)) or '*'}]>"
            return ir.Tokens(shown, ids=tuple((id, id) for id in ids), others=others)
        if len(tokens) == 1 and isinstance(tokens[0], str) and tokens[0]:
            return ir.Tokens("!" * others + tokens[0], name=tokens[0], others=others)
        raise _error("a token is an id or a name" + "; of several that are excluded say the ids" * others, path)

    def string(self, form, name, path):
        if not isinstance(form.get(name), str):
            raise _error(f"{name} must be a text", (*path, name))
        return form[name]

    def strings(self, form, name, path, some=True):
        texts = form.get(name)
        if texts is None and not some:
            return []
        if not isinstance(texts, list) or some and not texts or not all(isinstance(text, str) and (text or name == "end") for text in texts):
            raise _error(f"{name} must be a list of texts", (*path, name))
        return list(dict.fromkeys(texts))

    def list(self, form, name, path):
        if not isinstance(form.get(name), list) or not form[name]:
            raise _error(f"{name} must be a list of at least one", (*path, name))
        return form[name]

    def number(self, form, name, path, least=0):
        number = form.get(name)
        if not isinstance(number, Decimal) or not least <= number <= ir.MOST_COPIES or number != int(number):
            raise _error(f"{name} must be a number from {least} to {ir.MOST_COPIES:,}", (*path, name))
        return int(number)

    def flag(self, form, name, path):
        if not isinstance(form.get(name, False), bool):
            raise _error(f"{name} must be true or false", (*path, name))
        return form.get(name, False)


def _defined(definitions, name, body):
    """A reference to a new definition."""
    key = name if name not in definitions else f"{name} ({len(definitions)})"
    definitions[key] = ir.Definition(key, body)
    return ir.Reference(key)


def _either(options):
    return options[0] if len(options) == 1 else ir.Alternatives(tuple(options))


def _both(a, b):
    return b if a is _ANY else a if b is _ANY else ir.Both((a, b))


def _without(texts):
    """Any text that holds none of some texts."""
    return ir.Complement(ir.Sequence((_ANY, ir.Words(tuple(texts)), _ANY))) if texts else _ANY


def _before(text, free, stops, last):
    """Free text such that, with this text behind it, none of `stops` is complete before its end, `last`: nor there. None: there is none."""
    parts = {stop[:-k] for stop in stops for k in range(1, len(text) + last) if stop.endswith(text[:k])}
    if "" in parts:
        return None
    ended = ir.Complement(ir.Sequence((_ANY, ir.Words(tuple(sorted(parts)))))) if parts else _ANY
    return _both(_both(free, _without(stops)), ended)


def _token(name):
    return ir.Tokens(name, name=name, optional=True)


def _written(text):
    """A text whose parts may be special tokens, where the tokenizer has them."""
    parts, at = [], 0
    for found in _SPECIAL.finditer(text):
        if found.start() > at:
            parts.append(ir.Literal(text[at:found.start()]))
        parts.append(_either([ir.Literal(found[0]), _token(found[0])]))
        at = found.end()
    if at < len(text) or not parts:
        parts.append(ir.Literal(text[at:]))
    return parts[0] if len(parts) == 1 else ir.Sequence(tuple(parts))


# Type of a format: what reads it, its fields, does it look after its end?
_FORMATS = {
    "const_string": (_Reader.text, ("value",), False),
    "json_schema": (_Reader.schema, ("json_schema", "style", "any_order"), False),
    "grammar": (_Reader.grammar, ("grammar",), False),
    "regex": (_Reader.regex, ("pattern",), False),
    "any_text": (_Reader.any_text, ("excludes", "max_tokens", "max_chars"), True),
    "any_tokens": (_Reader.any_tokens, ("excludes", "max_tokens"), False),
    "sequence": (_Reader.sequence, ("elements",), True),
    "or": (_Reader.choice, ("elements",), True),
    "optional": (_Reader.optional, ("content",), True),
    "plus": (_Reader.repeated, ("content",), False),
    "star": (_Reader.repeated, ("content",), False),
    "repeat": (_Reader.repeated, ("content", "min", "max"), False),
    "tag": (_Reader.tag, ("begin", "content", "end"), False),
    "triggered_tags": (_Reader.triggered, ("triggers", "tags", "at_least_one", "stop_after_first", "excludes"), True),
    "token_triggered_tags": (_Reader.token_triggered, ("triggers", "trigger_tokens", "tags", "at_least_one", "stop_after_first", "excludes"), True),
    "tags_with_separator": (_Reader.separated, ("tags", "separator", "at_least_one", "stop_after_first"), False),
    "token": (_Reader.one_token, ("token",), False),
    "exclude_token": (_Reader.other_token, ("token",), False),
}
_UNSUPPORTED = dict.fromkeys(("dispatch", "token_dispatch"), "write the rules as triggered_tags")
