"""Random grammars of the Lark dialect that use all of its constructs: as text, and as trees for the plain recogniser."""
import collections
import random

from ir_oracle import both, cat, chars, complement, either, repeat
from lark_oracle import Rule, Tree

# What a text of each JSON Schema looks like; its values begin and end as nothing else here does.
JSON = [('{"const": "a"}', cat(*map(chars, '"a"'))), ('{"enum": ["b", "", "ab"]}', either(*[cat(*map(chars, x)) for x in ('"b"', '""', '"ab"')])),
        ('{"type": "string", "pattern": "^[ab]*$", "maxLength": 2}', cat(chars('"'), repeat(chars("ab"), 0, 2), chars('"')))]
SPECIALS = {"<|tool|>": 257, "<end_of_turn>": 258}
EOS, VOCABULARY = 256, 260
SIGNS = "abcABz_ \"~\né"        # what the texts are made of


def low(n, a=0, b=64):
    return n >> a & (1 << b - a) - 1


# Values and conditions of parametric rules that lead to finitely many rules when one stands with the other.
COUNTING = [
    ("incr(_)", lambda n: min(n + 1, 2**64 - 1), "lt(_, 3)", lambda n: n < 3),
    ("incr([0:2])", lambda n: n & ~3 | min(low(n, 0, 2) + 1, 3), "ne([0:2], 3)", lambda n: low(n, 0, 2) != 3),
    ("decr(_)", lambda n: max(n - 1, 0), "gt(_, 1)", lambda n: n > 1),
    ("decr([0:1])", lambda n: n & ~1, "ge(_, 1)", lambda n: n >= 1),
    ("set_bit(2)", lambda n: n | 4, "bit_clear(2)", lambda n: not n & 4),
    ("clear_bit(0)", lambda n: n & ~1, "bit_set(0)", lambda n: bool(n & 1)),
    ("bit_and(0x2)", lambda n: n & 2, "bit_count_gt(_, 1)", lambda n: n.bit_count() > 1),
    ("bit_or(0x9)", lambda n: n | 9, "bit_count_lt([0:3], 2)", lambda n: low(n, 0, 3).bit_count() < 2),
    ("_", lambda n: n, "true", lambda n: True),
    ("0x5", lambda n: 5, "is_zeros(_)", lambda n: n == 0),
    ("2", lambda n: 2, "is_ones([0:1])", lambda n: bool(n & 1)),
    ("set_bit(3)", lambda n: n | 8, "and(le(_, 3), bit_count_le(_, 2))", lambda n: n <= 3 and n.bit_count() <= 2),
    ("clear_bit(1)", lambda n: n & ~2, "or(eq(_, 3), bit_count_eq(_, 1))", lambda n: n == 3 or n.bit_count() == 1),
    ("bit_and(1)", lambda n: n & 1, "not(bit_count_ne(_, 2))", lambda n: n.bit_count() == 2),
    ("incr([1:3])", lambda n: n & ~6 | min(low(n, 1, 3) + 1, 3) << 1, "bit_count_ge([0:2], 1)", lambda n: low(n, 0, 2).bit_count() >= 1),
]


class Random:
    """``text`` and ``tree`` of one grammar; ``counts`` says how often each construct was used.

    ``others``: names of further grammars, each a `Tree` or a regular expression. ``depth``: grammars around this one.
    """

    shared = False              # only what llguidance reads, too

    def __init__(self, seed, counts=None, others=None, depth=0, lexing=None):
        self.random = seed if isinstance(seed, random.Random) else random.Random(seed)
        self.counts = collections.Counter() if counts is None else counts
        self.others, self.depth = others or {}, depth
        self.tree, self.lines = Tree(), []
        choose = self.random.choice
        self.rules = ["start", *choose([[], ["p"], ["_q"], ["p", "q-r"]])]
        self.terminals = choose([[], ["T"], ["_U"], ["T", "V-W"]])
        self.templates = {} if self.shared else {"list": ("x",)} if self.random.random() < .25 else {"pair": ("x", "y")} if self.random.random() < .2 else {}
        self.parametric = "n" if self.maybe(.35) else None
        self.options(lexing)
        self.make()
        self.text = "".join(line + "\n" for line in self.lines)

    def use(self, *constructs):
        self.counts.update(constructs)

    def maybe(self, chance):
        return self.random.random() < chance

    # -- statements -------------------------------------------------------------------------------------------------------
    def options(self, lexing):
        options = {"lexing": lexing} if lexing else {}
        for name, chance in ("allow_initial_skip", .15), ("ignore_once", .15), ("allow_skip_before_nested", .15), ("no_forcing", .1), ("allow_invalid_utf8", .1):
            if self.maybe(chance) and not (self.shared and "nested" in name):
                options[name] = self.maybe(.9)
        for name, value in options.items():
            self.use(f"option {name}")
            self.lines.append(f'%llguidance {{"{name}": {str(value).lower() if value in (True, False) else chr(34) + value + chr(34)}}}')
        self.tree.options = options

    def make(self):
        self.ignored()
        self.declared()
        for name in self.rules:
            self.define(name, *self.alternatives(2 if not self.depth else 1))
        for name in self.terminals:
            self.terminal(name)
        for name, parameters in self.templates.items():
            self.template(name, parameters)
        if self.parametric:
            self.counter(self.parametric)
        if self.maybe(.2):
            self.imports()
        self.random.shuffle(self.lines)
        if self.maybe(.2):
            self.use("comment //")
            self.lines.insert(0, "// a comment: \"x\" /y/")
        if self.maybe(.2):
            self.use("comment #")
            self.lines[-1] += "  # another one"

    def ignored(self):
        if not self.maybe(.6):
            return
        kinds = [('" "', ("text", " ", False)), ("/[ _]/", ("regex", "[ _]", "")), ("/_ ?/", ("regex", "_ ?", "")), ('" "+', ("repeat", ("text", " ", False), 1, None)),
                 ('"~" | " "', ("or", (("text", "~", False), ("text", " ", False))))]
        for text, node in self.random.sample(kinds, 1 if self.maybe(.7) else 2):
            if self.maybe(.2):
                self.lines.append(f"SKIP{len(self.lines)}: {text}")
                text = f"SKIP{len(self.lines) - 1}"
                self.tree.terminals[text] = node, 0
                self.use("%ignore of a terminal")
            self.tree.ignore.append(node)
            self.lines.append(f"%ignore {text}")
        self.use("%ignore", *["several %ignore"] * (len(self.tree.ignore) > 1))

    def declared(self):
        if self.shared:
            return
        if self.maybe(.2):
            self.use("%declare")
            self.lines.append("%declare TOOL")
            self.tree.tokens["TOOL"] = {257}
        if self.maybe(.15):
            self.use("terminal of tokens")
            self.lines.append("TURNS: <end_of_turn> | <[257]>")
            self.tree.tokens["TURNS"] = {257, 258}

    def imports(self):
        self.use("%import")
        if self.maybe(.5):
            self.use("%import with an alias")
            self.lines.append("%import common.LCASE_LETTER -> LETTER_X")
            names = {"LETTER_X": ("range", "a", "z")}
        else:
            self.use("%import of a list")
            self.lines.append("%import common (WS_INLINE, UCASE_LETTER)")
            names = {"WS_INLINE": ("repeat", ("text", " ", False), 1, None), "UCASE_LETTER": ("range", "A", "Z")}
        for name, node in names.items():
            self.tree.terminals[name] = node, 0
        name = self.random.choice(sorted(names))
        self.lines.append(f"imported: {name}")
        self.tree.rules["imported"] = Rule(("name", name))

    def define(self, name, text, node):
        choose, prefix, attributes, rule = self.random.choice, "", "", Rule(node)
        if self.maybe(.15):
            prefix = choose(["?", "!", "?!"][:3 - self.shared])
            self.use("? or ! before a rule")
        if name.startswith("_"):
            self.use("a name with an underscore")
        if "-" in name:
            self.use("a name with a hyphen")
        if name != "start" and self.maybe(.35):
            attributes, text, rule = self.attributed()
        elif self.maybe(.15):
            self.use("capture")
            attributes, rule = choose(["[capture]", '[capture="x y"]']), rule._replace(silent=False)
        name_text = name
        if self.maybe(.1) and not self.shared:
            name_text = f"{name}.{choose([1, 2])}"
            self.use("a rule's priority")
        self.tree.rules[name] = rule
        if self.shared:
            pass
        elif rule == Rule(node) and not attributes and self.maybe(.1):
            more, other = self.alternatives(1)
            self.use("%extend")
            self.tree.rules[name] = rule._replace(body=("or", (node, other)))
            self.lines.append(f"%extend {name}: {more}")
        elif self.maybe(.1):
            self.use("%override")
            self.lines.append(f"{name}: name{{\"a\"}} never")
            prefix = "%override " + prefix
        self.lines.append(f"{prefix}{name_text}{attributes}: {text}")

    def attributed(self):
        """A rule that is one lexeme."""
        text, node = self.random.choice([("/[ab]*/", ("regex", "[ab]*", "")), ('"a"+', ("repeat", ("text", "a", False), 1, None)), ("/[abz]+b/", ("regex", "[abz]+b", "")),
                                         *([(self.terminals[0], ("name", self.terminals[0]))] if self.terminals else [])])
        ends = [('"b"', ("text", "b", False)), ("/b|z+/", ("regex", "b|z+", "")), ('"z_"', ("text", "z_", False)),
                *([(self.terminals[-1], ("name", self.terminals[-1]))] if self.terminals else [])]
        how = self.random.choice(["lazy", "stop", "suffix", "temperature", "stop nothing"][:5 - self.shared])
        self.use(f"attribute {how}")
        if how == "temperature":
            return "[temperature=0.5]", text, Rule(node, silent=False)
        if how == "lazy":
            return "[lazy]", text, Rule(node, how="lazy")
        if how == "stop nothing":
            return '[stop=""]', text, Rule(node, how="stop", end=("text", "", False))
        end_text, end = self.random.choice(ends)
        self.use(f"{how}= of a {({'text': 'string', 'regex': 'regex', 'name': 'terminal'})[end[0]]}")
        more = self.random.choice(["", ', stop_capture="s"', ", capture"])
        if "stop_capture" in more:
            self.use("attribute stop_capture")
        return f"[{how}={end_text}{more}]", text, Rule(node, how=how, end=end, silent=not more)

    def terminal(self, name):
        text, node = self.terminal_alternatives(1)
        priority = self.random.choice([0, 0, 0, 1, 2, -1][:3 if self.shared else 6])
        if priority:
            self.use("a terminal's priority")
        self.tree.terminals[name] = node, priority
        self.lines.append(f"{name}{f'.{priority}' if priority else ''}: {text}")

    def template(self, name, parameters):
        self.use("a template")
        text, body = self.random.choice({
            "list": [('x ("~" x)*', ("cat", (("name", "x"), ("repeat", ("cat", (("text", "~", False), ("name", "x"))), 0, None)))),
                     ('x | "~" list{x}', ("or", (("name", "x"), ("cat", (("text", "~", False), ("call", "list", (("name", "x"),)))))))],
            "pair": [('x "z"? y', ("cat", (("name", "x"), ("repeat", ("text", "z", False), 0, 1), ("name", "y")))),
                     ("y x | x", ("or", (("cat", (("name", "y"), ("name", "x"))), ("name", "x"))))]}[name])
        self.tree.rules[name] = Rule(body, parameters)
        self.lines.append(f"{name}{{{', '.join(parameters)}}}: {text}")

    def counter(self, name):
        self.use("a parametric rule")
        value, to, condition, holds = self.random.choice(COUNTING)
        self.use(f"value {value.split('(')[0]}" if value[0] not in "025" else "value number", *[f"condition {word}" for word in (
            condition.replace("(", " ").replace(",", " ").split()) if word[0].isalpha()])
        letter, end = self.random.sample(["a", "b", "z"], 2)
        one, again, stop = ("text", letter, False), ("bound", name, to), ("text", end, False)
        if self.maybe(.5):
            text, body = f'"{letter}" {name}::{value} %if {condition} | "{end}"', ("or", (("if", ("cat", (one, again)), holds), stop))
        else:
            text, body = f'"{end}" | {name}::{value} "{letter}" %if {condition}', ("or", (stop, ("if", ("cat", (again, one)), holds)))
        self.tree.rules[name] = Rule(body, (), True)
        self.lines.append(f"{name}::_: {text}")

    # -- terminals --------------------------------------------------------------------------------------------------------
    def terminal_alternatives(self, depth):
        options = [self.conjunction(depth) for _ in range(self.random.choice([1, 1, 2]))]
        return joined(" | ", "or", options)

    def conjunction(self, depth):
        if self.maybe(.15):
            self.use("&")
            first, (text, node) = self.terminal_sequence(depth), self.terminal_item(0)
            if self.maybe(.6):
                self.use("~")
                text, node = f"~({text})", ("not", node)
            return f"{first[0]} & {text}", ("and", (first[1], node))
        return self.terminal_sequence(depth)

    def terminal_sequence(self, depth):
        return joined(" ", "cat", [self.terminal_item(depth) for _ in range(self.random.choice([1, 1, 2, 2]))])

    def terminal_item(self, depth):
        kind = self.random.choice(["text", "regex", "range", "group", "optional", "name"][:6 if depth else 3])
        if kind == "group":
            text, node = self.terminal_alternatives(depth - 1)
            return self.repeated(f"({text})", node)
        if kind == "optional":
            text, node = self.terminal_alternatives(depth - 1)
            self.use("[...]")
            return f"[{text}]", ("repeat", node, 0, 1)
        if kind == "name":
            later = [name for name in self.terminals if name not in self.tree.terminals]       # so that none refers to itself
            if later[1:]:
                self.use("a terminal in a terminal")
                return later[-1], ("name", later[-1])
        return self.repeated(*self.lexical(kind))

    def lexical(self, kind):
        """A string, a regex, a range."""
        choose = self.random.choice
        if kind == "regex":
            source, flags = choose([("[ab]", ""), ("a|bb?", ""), ("b+", ""), ("A", "i"), ("a b", "x"), (".", "s"), ("[^a]", ""), ("(?:ab)?z", "m"), ("[az]{1,2}", "u"), ("z", "is")])
            self.use("a regex", *[f"regex flag {flag}" for flag in flags])
            return f"/{source}/{flags}", ("regex", source, flags)
        if kind == "range":
            first, last = choose([("a", "b"), ("a", "z"), ("A", "B")])
            self.use("a range of characters")
            return f'"{first}".."{last}"', ("range", first, last)
        text = choose(["a", "b", "ab", "ba", "z", "", "a z", '"', "\n", "B"])
        fold = self.maybe(.15) and bool(text)
        self.use("a string", *["the empty string"] * (not text), *["i behind a string"] * fold)
        spelled = text.replace('"', '\\"').replace("\n", "\\n")
        if text and text[0].isalpha() and self.maybe(.2):
            form = choose(["\\x%02x", "\\u%04x"])
            self.use("escape " + form[:2])
            spelled = form % ord(text[0]) + spelled[1:]
        elif text and spelled != text:
            self.use("a simple escape")
        return f'"{spelled}"' + "i" * fold, ("text", text, fold)

    def repeated(self, text, node):
        spelled, least, most = self.random.choice([("", 1, 1)] * 6 + [("?", 0, 1), ("*", 0, None), ("+", 1, None), ("{2}", 2, 2), ("{1,2}", 1, 2), ("{,2}", 0, 2), ("{1,}", 1, None),
                                                                      (" ~ 2", 2, 2), (" ~ 1..2", 1, 2)])
        if not spelled or "~" in spelled and self.shared or text.endswith("..") or ".." in text and spelled.startswith(" ~"):
            return text, node
        self.use(f"repetition {spelled.strip()}")
        return text + spelled, ("repeat", node, least, most)

    # -- rules ------------------------------------------------------------------------------------------------------------
    def alternatives(self, depth):
        options = [self.sequence(depth) for _ in range(self.random.choice([1, 1, 2, 3]))]
        between = " | "
        if depth and not self.depth and len(options) > 1 and self.maybe(.3):
            between = "\n   | "
            self.use("| on a line of its own")
        if self.maybe(.1):
            options = [(f"{text} -> name{i}", node) for i, (text, node) in enumerate(options)]
            self.use("an alias")
        return joined(between, "or", options)

    def sequence(self, depth):
        n = self.random.choice([0, 1, 1, 2, 2, 3])
        if n == 0:
            self.use("an empty alternative")
        return joined(" ", "cat", [self.item(depth) for _ in range(n)])

    def item(self, depth):
        choose = self.random.choice
        kind = choose(["text", "text", "regex", "range", "name", "name", "name", "group", "optional", "token", "run", "not", "inside", "json", "other"][:15 if depth else 7])
        if kind in ("text", "regex", "range"):
            return self.repeated(*self.lexical(kind))
        if kind == "name":
            return self.named()
        if kind == "group":
            text, node = self.alternatives(depth - 1)
            return self.repeated(f"({text})".replace("\n   ", " "), node)
        if kind == "optional":
            text, node = self.alternatives(depth - 1)
            self.use("[...]")
            return f"[{text}]".replace("\n   ", " "), ("repeat", node, 0, 1)
        if kind == "token" and not self.shared:
            return self.token()
        if kind == "run":
            form, value, chunks = choose([("substring_words", '"ab z"', ("ab", " ", "z")), ("substring_chars", '"aba"', tuple("aba")), ("substring_chunks", '["ab", "a", "z"]', ("ab", "a", "z"))])
            self.use(f"%regex {form}")
            return f'%regex {{"{form}": {value}}}', ("run", chunks)
        if kind == "not" and not self.tree.options.get("allow_invalid_utf8"):      # else it holds what is no text, too
            self.use("~ in a rule")
            return '~(/(?s:.)*[^ab](?s:.)*/ | "ab")', ("not", ("or", (("regex", ".*[^ab].*", "s"), ("text", "ab", False))))
        if kind == "json":
            schema, language = choose(JSON)
            self.use("%json")
            return f"%json {schema}", ("json", language)
        if kind == "other" and self.others:
            name = choose(sorted(self.others))
            self.use("@name of a regex" if not isinstance(self.others[name], Tree) else "@name")
            return f"@{name}", ("at", name)
        if kind == "inside" and self.depth < 1:
            lexing = None if self.shared else self.tree.lexing if self.maybe(.8) else choose(["greedy", "exact"])
            inner = type(self)(self.random, self.counts, None, self.depth + 1, lexing)
            self.use("%lark", *["%lark of another lexing"] * (inner.tree.lexing != self.tree.lexing))
            if inner.tree.lexing != self.tree.lexing and without_tokens(inner.text) != inner.text:
                return self.named()
            return "%lark {\n" + inner.text + "}", ("inside", inner.tree)
        return self.named()

    def token(self):
        text, ids = self.random.choice([("<|tool|>", {257}), ("<[258]>", {258}), ("<[257,259]>", {257, 259}), ("<[256-258]>", {256, 257, 258}),
                                        ("<[^0-257]>", {258, 259}), ("<[*]>", set(range(VOCABULARY)))])
        self.use({"<|": "a token by name", "<[^": "all tokens but some", "<[*": "any token"}.get(text[:3] if text[:3] in ("<[^", "<[*") else text[:2], "tokens by id"))
        return text, ("tokens", ids)

    def named(self):
        choose = self.random.choice
        names = [*self.rules, *self.terminals, *self.terminals, *self.tree.tokens]
        if self.templates and self.maybe(.4):
            name, parameters = choose(sorted(self.templates.items()))
            arguments = [choose([('"a"', ("text", "a", False)), ("/b+/", ("regex", "b+", "")), *([(self.terminals[0], ("name", self.terminals[0]))] if self.terminals else []),
                                 (self.rules[-1], ("name", self.rules[-1]))]) for _ in parameters]
            self.use("a use of a template")
            return f"{name}{{{', '.join(text for text, _ in arguments)}}}", ("call", name, tuple(node for _, node in arguments))
        if self.parametric and self.maybe(.5):
            number = choose([0, 1, 2, 3, 7])
            self.use("a use of a parametric rule")
            return f"{self.parametric}::{number}", ("bound", self.parametric, lambda n: number)
        name = choose(names)
        if name in self.rules:
            return name, ("name", name)
        return self.repeated(name, ("name", name))


def without_tokens(text):
    return "" if "<" in text or "TOOL" in text or "stop=\"\"" in text else text


def joined(between, kind, parts):
    if len(parts) == 1:
        return parts[0]
    return between.join(text for text, _ in parts), (kind, tuple(node for _, node in parts))


def grammars(seed, counts):
    """A list of named grammars, as `Grammar.from_grammars` takes them, and the trees of the first and of the others."""
    choose = random.Random(seed)
    lexing = choose.choice(["greedy", "exact"])
    inner = Random(choose, counts, None, 1, lexing)
    numbers = cat(chars("z"), repeat(chars("ab"), 1, None))
    others = {"other": inner.tree, "regular": both(numbers, complement(cat(*map(chars, "zab"))))}
    others["regular"] = numbers
    outer = Random(choose, counts, others, 0, lexing)
    return ([{"lark_grammar": outer.text}, {"name": "other", "lark_grammar": inner.text}, {"name": "regular", "regex": "z[ab]+"}], outer.tree, others)
