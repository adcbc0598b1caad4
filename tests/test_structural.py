"""Structural tags against a plain reading of them; special tokens; errors; routes."""
import itertools
import json
import pickle
import random
import re

import pytest

import llgcy
from llgcy.errors import GrammarError, UnsupportedKeywordError


class Plain:
    """Reads a text by trying: ``ends(form, i, stop)`` are the places where a format that begins at i may end; ``stop``: the texts of
    which the first one that comes ends free text, None: nothing does. They are read, too."""

    def __init__(self, text):
        self.text = text

    def behind(self, places, stop):
        return {i + len(text) for i in places for text in stop if self.text.startswith(text, i)} if stop else places

    def ends(self, form, i, stop=None):
        kind = form["type"]
        if kind in ("any_text", "triggered_tags"):
            return getattr(self, kind)(form, i, stop)
        if kind == "sequence":
            places = {i}
            for k, one in enumerate(form["elements"]):
                last = k == len(form["elements"]) - 1
                places = {b for a in places for b in self.ends(one, a, stop if last else None)}
            return places
        if kind == "or":
            return {b for one in form["elements"] for b in self.ends(one, i, stop)}
        if kind == "optional":
            return self.ends(form["content"], i, stop) | self.behind({i}, stop)
        if kind == "const_string":
            out = self.behind({i}, [form["value"]])
        elif kind == "regex":
            out = {j for j in range(i, len(self.text) + 1) if re.fullmatch(form["pattern"], self.text[i:j])}
        elif kind in ("star", "plus", "repeat"):
            low, high = {"star": (0, -1), "plus": (1, -1)}.get(kind) or (form["min"], form["max"])
            out, places = set(), {i}
            for k in range(len(self.text) + 2 if high < 0 else high + 1):
                out |= places if k >= low else set()
                places = {b for a in places for b in self.ends(form["content"], a)}
        elif kind == "tags_with_separator":
            tag = {"type": "or", "elements": form["tags"]}
            out, places = set() if form.get("at_least_one") else {i}, self.ends(tag, i)
            while places:
                out |= places
                places = {b for a in places for b in self.ends({"type": "sequence", "elements": [
                    {"type": "const_string", "value": form["separator"]}, tag]}, a)} - out if not form.get("stop_after_first") else set()
        else:
            assert kind == "tag"
            end = [form["end"]] if isinstance(form["end"], str) else form["end"]
            out = {b for a in self.behind({i}, [form["begin"]]) for b in self.ends(form["content"], a, end)}
        return self.behind(out, stop)

    def any_text(self, form, i, stop):
        out = set()
        for j in range(i, len(self.text) + 1):
            if stop and any(self.text.endswith(text, i, j) for text in stop):
                for text in stop:
                    if self.text.endswith(text, i, j) and self.allowed(form, i, j - len(text)):
                        out.add(j)
                return out
            if not stop and self.allowed(form, i, j):
                out.add(j)
        return out

    def allowed(self, form, i, j):
        return not any(text in self.text[i:j] for text in form.get("excludes", ())) and j - i <= form.get("max_chars", 99)

    def triggered_tags(self, form, i, stop, first=True):
        out, watched = set(), [*form["triggers"], *(stop or ())]
        ready = not first or not form.get("at_least_one")   # the text may end
        for j in range(i, len(self.text) + 1):
            found = [text for text in watched if self.text.endswith(text, i, j)]
            for text in found:
                if not self.allowed(form, i, j - len(text)):
                    continue
                if stop and text in stop and ready:
                    out.add(j)
                if text not in form["triggers"]:
                    continue
                for tag in form["tags"]:
                    if tag["begin"].startswith(text):
                        for k in self.ends({"type": "tag", **tag}, j - len(text)):
                            if form.get("stop_after_first"):
                                out |= self.behind({k}, stop)
                            else:
                                out |= self.triggered_tags(form, k, stop, False)
            if found:
                return out
            if not stop and ready and self.allowed(form, i, j):
                out.add(j)
        return out


class Random:
    def __init__(self, seed):
        self.choose = random.Random(seed)

    def word(self, longest=2):
        return "".join(self.choose.choices("xyz", k=self.choose.randint(1, longest)))

    def tag(self, depth, begin=None):
        end = self.word() if self.choose.random() < .8 else [self.word(), self.word()]
        return {"begin": begin or self.word(), "content": self.format(depth), "end": end}

    def format(self, depth, free=True):
        choose = self.choose
        kinds = ["const_string", "regex"]
        if free:
            kinds += ["any_text"] + ["triggered_tags"] * (3 if depth else 0)
        if depth:
            kinds += ["sequence", "or", "optional", "star", "plus", "repeat", "tag", "tags_with_separator"]
        kind = choose.choice(kinds)
        form = {"type": kind}
        if kind == "const_string":
            form["value"] = self.word()
        elif kind == "regex":
            form["pattern"] = choose.choice(["[xy]+", "x?", "y|zz", "(xy)*"])
        elif kind in ("sequence", "or"):
            form["elements"] = [self.format(depth - 1, free) for _ in range(choose.randint(1, 3))]
        elif kind in ("optional", "star", "plus", "repeat"):
            form["content"] = self.format(depth - 1, free and kind == "optional")
            if kind == "repeat":
                form["min"], form["max"] = choose.choice([(0, 2), (1, -1), (2, 2)])
        elif kind == "tag":
            form |= self.tag(depth - 1)
        elif kind == "tags_with_separator":
            form |= {"tags": [{"type": "tag", **self.tag(depth - 1)}], "separator": self.word(1)}
        elif kind == "triggered_tags":
            triggers = list(dict.fromkeys(self.word() for _ in range(choose.randint(1, 2))))
            form |= {"triggers": triggers, "tags": [self.tag(depth - 1, trigger + choose.choice(["", "x", "y"])) for trigger in triggers]}
        if kind in ("triggered_tags", "tags_with_separator"):
            form |= {name: True for name in ("at_least_one", "stop_after_first") if choose.random() < .3}
        if kind in ("triggered_tags", "any_text") and choose.random() < .3:
            form["excludes"] = [self.word()]
        if kind == "any_text" and choose.random() < .3:
            form["max_chars"] = choose.randint(0, 3)
        return form


TEXTS = ["".join(chars) for n in range(6) for chars in itertools.product("xyz", repeat=n)]


@pytest.mark.parametrize("block", range(2))
def test_random_formats(block):
    accepted = refused = 0
    for seed in range(block * 60, block * 60 + 60):
        form = Random(seed).format(3)
        try:
            grammar = llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": form})
            grammar.accepts("")
        except llgcy.UnsatisfiableError:
            assert not any(len(text) in Plain(text).ends(form, 0) for text in TEXTS)
            continue
        for text in TEXTS:
            want = len(text) in Plain(text).ends(form, 0)
            assert grammar.accepts(text) == want, (form, text)
            accepted, refused = accepted + want, refused + (not want)
    assert accepted > 500 and refused > 500


TOOL = {"begin": "<tool_call>", "schema": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": False},
        "end": "</tool_call>"}
OLD = {"type": "structural_tag", "structures": [TOOL], "triggers": ["<tool_"]}
CALL = 'So: <tool_call>{"x": 1}</tool_call>'


def test_both_forms():
    tag = {"type": "tag", "begin": TOOL["begin"], "content": {"type": "json_schema", "json_schema": TOOL["schema"]}, "end": TOOL["end"]}
    new = {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<tool_"], "tags": [tag]}}
    for source in OLD, new, json.dumps(OLD), json.dumps(new):
        grammar = llgcy.Grammar.from_structural_tag(source)
        for text, want in [(CALL, True), (CALL + CALL + "!", True), ("", True), ("no <tool call", True), ("<tool_", False), ("<tool_x", False),
                           (CALL.replace("1", "1.5"), False), (CALL[:-1], False)]:
            assert grammar.accepts(text) == want, text
    assert grammar.explain("a <tool_call>[").expected == ["an object"]


def test_numbers_of_schemas_stay_exact():
    for number in "12345678901234567890.5", "0.1", "3":
        tag = json.dumps({"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"const": 7}}}).replace("7", number)
        grammar = llgcy.Grammar.from_structural_tag(tag)
        assert grammar.accepts(number) and not grammar.accepts(number[:-1] + "4")
        grammar = llgcy.Grammar.from_grammars(json.dumps([{"json_schema": {"const": 7}}]).replace("7", number))
        assert grammar.accepts(number) and not grammar.accepts(number[:-1] + "4")


def test_special_tokens():
    """What looks like a special token is one, where there is one, or text; other tokens never stand in free text."""
    text = ["S", "o", "<", "t", "l", "_", "c", "a", ">", "/", "{", "}", '"', "x", ":", "1", " "]
    names = {"<tool_call>": 20, "</tool_call>": 21, "<other>": 22, "<end>": 23}
    tokenizer = llgcy.Tokenizer.from_vocab([*(char.encode() for char in text), b"<tool", b"call>", b"</tool_call>", *[None] * 4], special=names,
                                           eos_token_id=23)
    assert tokenizer.token_bytes(19) == b"</tool_call>"
    compiled = llgcy.compile(llgcy.Grammar.from_structural_tag(OLD), tokenizer)

    def ids(*parts):
        return [one for part in parts for one in ([part] if isinstance(part, int) else [text.index(char) for char in part])]
    call = '{"x":1}'
    for tokens in [ids("So", 20, call, 21, 23), ids("So", 17, "_", 18, call, 21, 23), ids(20, call, 19, "So", 20, call, "</tool_call>", 23), ids(17, 23)]:
        assert compiled.matcher().accept_tokens(tokens) == len(tokens), tokens
    for tokens, most in [(ids("So", 22), 2), (ids(20, 20), 1), (ids(20, call, 23), 8), (ids(17, "_", 23), 2), (ids(17, 20), 2)]:
        assert compiled.matcher().accept_tokens(tokens) == most
    matcher, bitmask = compiled.matcher(), llgcy.allocate_bitmask(1, tokenizer.vocab_size)
    matcher.fill_next_token_bitmask(bitmask)
    assert bitmask[0, 0] == (1 << 24) - 1 - (1 << 21) - (1 << 22)           # all text, a begin, the end
    assert llgcy.compile(llgcy.Grammar.from_structural_tag(OLD), llgcy.Tokenizer.single_byte()).matcher().accept_bytes(CALL.encode())


def test_special_tokens_behind_text():
    """Begins and ends of which a part is a special token."""
    vocabulary = [b"x", b"\n", b"f", b"<", b"i", b">", b"/", None, None, None]
    tokenizer = llgcy.Tokenizer.from_vocab(vocabulary, special={"<i>": 7, "</i>": 8, "<end>": 9}, eos_token_id=9)
    tag = {"begin": "\n<i>f", "content": {"type": "any_text"}, "end": ["\n</i>", "/f"]}
    for triggers in ["\n<i>"], ["\n<i>f"], ["\n<"]:
        form = {"type": "triggered_tags", "triggers": triggers, "tags": [tag]}
        compiled = llgcy.compile(llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": form}), tokenizer)
        begin, text, end = [1, 7, 2], [0, 1, 0], [1, 8]
        for tokens in [*begin, *end], [0, *begin, *text, *end, 0], [1, 3, 4, 5, 2, *text, 1, 3, 6, 4, 5], [*begin, *text, 6, 2, *begin, *end], [0, 0]:
            assert compiled.matcher().accept_tokens([*tokens, 9]) == len(tokens) + 1, (triggers, tokens)
        for tokens, most in [([0, 7], 1), ([*begin, 0, 8], 4), ([1, 7, 0], 2), ([*begin, *text, *end, 8], 8), ([*begin, 9], 3)]:
            assert compiled.matcher().accept_tokens(tokens) == most, (triggers, tokens)


def test_formats_of_tokens():
    tokenizer = llgcy.Tokenizer.from_vocab([b"a", b"b", None, None, None, None], special={"<t>": 2, "</t>": 3, "<u>": 4, "<end>": 5}, eos_token_id=5)
    begin, end = {"type": "token", "token": "<t>"}, {"type": "token", "token": 3}
    tag = {"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": end}

    def taken(form, *tokens):
        return llgcy.compile(llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": form}), tokenizer).matcher().accept_tokens(tokens)
    assert taken(tag, 2, 0, 1, 3, 5) == 5 and taken(tag, 2, 0, 2) == 2
    triggered = {"type": "token_triggered_tags", "triggers": ["<t>"], "tags": [tag]}
    assert taken(triggered, 0, 2, 1, 3, 1, 2, 3, 5) == 8 and taken(triggered, 0, 4) == 1 and taken(triggered, 0, 2, 5) == 2
    assert taken({**triggered, "at_least_one": True}, 0, 5) == 1 and taken({**triggered, "stop_after_first": True}, 2, 3, 0) == 2
    assert taken({"type": "exclude_token", "token": "<u>"}, 4) == 0 and taken({"type": "exclude_token", "token": "<u>"}, 3, 5) == 2
    assert taken({"type": "any_tokens", "excludes": [1, 2]}, 0, 3, 4, 1) == 3
    assert taken({"type": "tag", "begin": "a", "content": {"type": "any_tokens", "excludes": [3]}, "end": end}, 0, 1, 4, 3, 5) == 5
    with pytest.raises(GrammarError, match="no special token <x>"):
        taken({"type": "token", "token": "<x>"})


def test_grammars_inside():
    form = {"type": "sequence", "elements": [
        {"type": "tag", "begin": "[", "content": {"type": "grammar", "grammar": 'root ::= "a" root | "b"'}, "end": "]"},
        {"type": "regex", "pattern": r"\d+"}]}
    grammar = llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": form})
    assert grammar.accepts("[aab]12") and not grammar.accepts("[aa]1")


def test_routes(tmp_path):
    assert llgcy.Grammar.from_text(json.dumps(OLD)).accepts(CALL)
    grammar = llgcy.Grammar.from_constraint({"type": "structural_tag", "value": OLD})
    assert pickle.loads(pickle.dumps(grammar)).accepts(CALL)
    llgcy.compile(grammar, llgcy.Tokenizer.single_byte()).save(tmp_path / "saved")
    matcher = llgcy.CompiledGrammar.load(tmp_path / "saved", llgcy.Tokenizer.single_byte()).matcher()
    assert matcher.accept_bytes(CALL.encode()) and matcher.is_accepting()


TAG = {"begin": "<a", "content": {"type": "any_text"}, "end": "b"}


@pytest.mark.parametrize("source, message, pointer", [
    ({"type": "structural_tag"}, "structures", "/structures"),
    ({"type": "structural_tag", "structures": [TOOL], "triggers": ["x"]}, "no trigger begins the tag", "/structures/0/begin"),
    ({"type": "structural_tag", "structures": [TOOL], "triggers": ["<t", "x"]}, "no tag begins with the trigger", "/triggers"),
    ({"type": "structural_tag", "structures": [TOOL], "triggers": []}, "triggers must be a list of texts", "/triggers"),
    ({"type": "structural_tag", "structures": [{**TOOL, "ends": ""}], "triggers": ["<t"]}, "unknown field 'ends'", "/structures/0"),
    ({"type": "structural_tag", "format": {"type": "any_txt"}}, "no format 'any_txt'.*any_text", "/format"),
    ({"type": "structural_tag", "format": {"type": "dispatch"}}, "dispatch is not supported", "/format"),
    ({"type": "structural_tag", "format": {"type": "any_text", "max_tokens": 0.5}}, "max_tokens must be", "/format/max_tokens"),
    ({"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {}, "style": "qwen_xml"}}, "style", "/format/style"),
    ({"type": "structural_tag", "format": {"type": "star", "content": {"type": "any_text"}}}, "cannot be repeated", "/format/content"),
    ({"type": "structural_tag", "format": {"type": "plus", "content": {"type": "or", "elements": [{"type": "any_text"}]}}}, "cannot be repeated", "/format/content"),
    ({"type": "structural_tag", "format": {"type": "repeat", "content": {"type": "const_string", "value": "a"}, "min": 2, "max": 1}}, "above max", "/format"),
    ({"type": "structural_tag", "format": {"type": "repeat", "content": {"type": "const_string", "value": "a"}, "min": 0.5, "max": 1}}, "min must be", "/format/min"),
    ({"type": "structural_tag", "format": {"type": "tag", **TAG, "end": 3}}, "end must be", "/format/end"),
    ({"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<a"], "tags": [{**TAG, "content": 1}]}}, '"type"',
     "/format/tags/0/content"),
    ({"type": "structural_tag", "format": {"type": "regex", "pattern": "("}}, ".", "/format/pattern"),
    ({"type": "structural_tag", "format": {"type": "grammar", "grammar": "root ::= ("}}, ".", "/format/grammar"),
    ([], "is an object", None),
    ("{", "not JSON", None),
])
def test_errors(source, message, pointer):
    with pytest.raises(GrammarError, match=message) as caught:
        llgcy.Grammar.from_structural_tag(source)
    assert pointer is None or caught.value.pointer == pointer
    assert isinstance(caught.value, UnsupportedKeywordError) == ("not supported" in str(caught.value))


def test_hostile():
    form = {"type": "const_string", "value": "a"}
    for _ in range(300):
        form = {"type": "star", "content": {"type": "optional", "content": form}}
    with pytest.raises(llgcy.LimitError):
        llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": form})
    with pytest.raises(llgcy.LimitError):
        llgcy.Grammar.from_structural_tag('{"format":' * 100_000)
    tags = [{"begin": f"<f={i}>", "schema": {"type": "object"}, "end": "</f>"} for i in range(300)]
    grammar = llgcy.Grammar.from_structural_tag({"type": "structural_tag", "structures": tags, "triggers": ["<f="]})
    assert grammar.accepts("a <f=299>{}</f><f=7>{}</f>") and not grammar.accepts("<f=300>{}</f>")
