"""``max_tokens=`` of a rule: masks against a plain model of texts with budgets, dead ends, every other operation, and the peer."""
import functools
import pickle
import random

import numpy
import pytest
from test_matcher_model import ends, lives

import llgcy
from llgcy.errors import GrammarError, LimitError, UnsatisfiableError, UnsupportedKeywordError

EOS = 0


def tokenizer(texts):
    return llgcy.Tokenizer.from_vocab([None, *texts], special={"<e>": EOS}, eos_token_id=EOS)


def allowed(matcher):
    size = matcher.compiled.vocabulary.size
    bitmask = llgcy.allocate_bitmask(1, size)
    matcher.fill_next_token_bitmask(bitmask)
    return set(numpy.flatnonzero(numpy.unpackbits(bitmask.view(numpy.uint8), bitorder="little")[:size]).tolist())


# -- a model ----------------------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=None)
def rest(pattern, text):
    """Bytes that a text of the pattern needs more at least."""
    at, count = {text}, 0
    while not any(ends(pattern, t) for t in at):
        at, count = {t + bytes((c,)) for t in at for c in b"abc" if lives(pattern, t + bytes((c,)))}, count + 1
        assert at
    return count


class Model:
    """Parts (pattern, tokens or None) one after the other. A place is (part, what is read of it, tokens left, is the token counted); a state
    is a set of places. Greedy: a part goes on as long as it can."""

    def __init__(self, parts, texts, greedy):
        self.parts, self.texts, self.greedy = parts, texts, greedy
        self.start = self.closed(self.begin(0))
        self.memo = {}

    def begin(self, part):
        """The places where a part begins, or one behind parts that are empty."""
        if part == len(self.parts):
            return {(part, b"", None, False)}
        pattern, left = self.parts[part]
        return {(part, b"", left, False)} | (self.begin(part + 1) if ends(pattern, b"") else set())

    def behind(self, places):
        out = set()
        for part, text, _, _ in places:
            if text and ends(self.parts[part][0], text):
                out |= self.begin(part + 1)
        return out

    def closed(self, places):
        """What has ended stands side by side with what goes on; in greedy lexing it waits."""
        return frozenset(places if self.greedy else places | self.behind(places))

    def on(self, place, byte):
        part, text, left, open_ = place
        if part == len(self.parts) or left == 0 and not open_ or not lives(self.parts[part][0], text + byte):
            return None
        return (part, text + byte, left if left is None or open_ else left - 1, True)

    def byte(self, places, byte):
        out = {self.on(place, byte) for place in places} - {None}
        if self.greedy and not out:
            out = {self.on(place, byte) for place in self.behind(places)} - {None}
        return self.closed(out)

    def token(self, places, token, need):
        """The state behind a token, without the places that cannot come to their end in time; `need`: tokens that a part needs more."""
        text = self.texts[token - 1]
        for i in range(len(text)):
            places = self.byte(places, text[i:i + 1])
        return frozenset(self.ticked((part, read, left, open_)) for part, read, left, open_ in places if left is None or need(part, read) <= left)

    def ticked(self, place):
        """In greedy lexing, what has ended is over where no token can go on inside it in time."""
        part, text, left, _ = place
        if self.greedy and left and text and ends(self.parts[part][0], text) and not any(self.fits(part, text + t, left - 1) for t in self.texts):
            left = 0
        return part, text, left, False

    def fits(self, part, text, left):
        return lives(self.parts[part][0], text) and self.tokens(part, text) <= left

    @functools.lru_cache(maxsize=None)
    def tokens(self, part, text):
        """Tokens that a part needs more at least."""
        at, count = {text}, 0
        while not any(ends(self.parts[part][0], t) for t in at):
            at, count = {t + more for t in at for more in self.texts if lives(self.parts[part][0], t + more)}, count + 1
        return count

    def ended(self, places):
        return any(part == len(self.parts) for part, _, _, _ in places | self.behind(places))

    def bytes(self, part, text):
        return rest(self.parts[part][0], text)

    def mask(self, places, need):
        return {token for token in range(1, len(self.texts) + 1) if self.token(places, token, need)} | ({EOS} if self.ended(places) else set())

    @functools.lru_cache(maxsize=None)
    def spanning(self, part, text):
        """As tokens(), but the last one may go on behind the part."""
        at, count = {text}, 0
        while not any(ends(self.parts[part][0], t) for t in at):
            new = set()
            for t in at:
                for more in self.texts:
                    if any(ends(self.parts[part][0], t + more[:i]) for i in range(1, len(more) + 1)):
                        return count + 1
                    if lives(self.parts[part][0], t + more):
                        new.add(t + more)
            at, count = new, count + 1
        return count


BODIES = ["[abc]*", "[ab]*", "a*", "(ab)*", "a(b|cc)*", "[ab]{1,3}", "(abc|b)+", "(a|bca)*c", "a?b?c?", "[bc]+a"]
OTHERS = ["a", "b", "c", "ab", "ca", "a|b", "[abc]", "bb"]


def random_case(chance):
    parts, singles = [], [b"a", b"b", b"c"]
    for i in range(chance.randint(1, 3)):
        if chance.random() < 0.4:
            parts.append((chance.choice(OTHERS), None))
        body = chance.choice(BODIES)
        parts.append((body, chance.randint(max(1, rest(body, b"")), 5)))
    if chance.random() < 0.7:
        parts.append((chance.choice(OTHERS), None))
    texts = singles + list({bytes(chance.choice(b"abc") for _ in range(chance.randint(2, 4))) for _ in range(chance.randint(0, 6))})
    return parts, texts


def grammar_of(parts, lexing):
    lines = ["start: " + " ".join(f"p{i}" for i in range(len(parts)))]
    lines += [f"p{i}{'' if most is None else f'[max_tokens={most}]'}: /{pattern}/" for i, (pattern, most) in enumerate(parts)]
    return llgcy.Grammar.from_lark("\n".join(lines), lexing=lexing)


@pytest.mark.parametrize("lexing", ["exact", "greedy"])
@pytest.mark.parametrize("seed", range(60))
def test_masks_are_those_of_texts_with_budgets(seed, lexing):
    chance = random.Random(f"{seed} {lexing}")
    parts, texts = random_case(chance)
    model = Model(parts, texts, lexing == "greedy")
    try:
        compiled = llgcy.compile(grammar_of(parts, lexing), tokenizer(texts))
    except GrammarError as error:
        assert lexing == "greedy" and "greedy lexing" in str(error)
        return
    for _ in range(6):
        # What is allowed lies between what ends in time byte by byte, and what does token by token.
        matcher, least, most, taken = compiled.matcher(), model.start, model.start, []
        for _ in range(10):
            mask = allowed(matcher)
            assert model.mask(least, model.bytes) <= mask <= model.mask(most, model.spanning), (parts, texts, taken)
            assert mask and mask == {token for token in range(len(texts) + 1) if matcher.validate_tokens([token])}, (parts, texts, taken)
            token = chance.choice(sorted(mask))
            if token == EOS and len(mask) > 1:
                token = chance.choice(sorted(mask - {EOS}))
            assert matcher.accept_token(token)
            if token == EOS:
                break
            least, most = model.token(least, token, model.bytes), model.token(most, token, model.spanning)
            taken.append(texts[token - 1])
            if lexing == "greedy" and least != most:        # what goes on hides what has ended
                break


# -- every other operation ----------------------------------------------------------------------------------------------
TEXTS = [b"a", b"b", b"c", b"x", b"z", b"ab", b"bc", b"zz", b"xa", b"cz", b'"', b"{", b"}", b":", b"[", b"]", b",", b"0", b"1", b"2", b'"a"', b'":', b"[[", b"]]", b"12", b'{"']
GRAMMARS = [
    'start: a "z"\na[max_tokens=2]: /[abc]*/',
    'start: "x" a "z"\na[max_tokens=3, lazy]: /[abz]*c/',
    'start: (a | "b") "z" | a a\na[max_tokens=2, capture]: /[ab]+/',
    'start: a "z"\na[max_tokens=5]: %json {"type": "array", "items": {"type": "integer"}}',
    'start: "x" a b?\na[max_tokens=6]: %json {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}\nb: "z"',
    'start: a "z"\na[max_tokens=12]: %json {"type": "object", "minProperties": 2, "additionalProperties": {"type": "integer"}}',
    'start: a b?\na[max_tokens=9]: %json {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "minItems": 2}\nb: "z"',
    'start: a "z"\na[max_tokens=4]: %lark {\n  start: "a" start "b" | "c"\n}',
    'start: (a ",")+ \na[max_tokens=1]: /[abc]+/\n%ignore /x/',
    'start: a <[3]> "z"\na[max_tokens=2, temperature=0.5]: /[ab]*/',
    'start: a "z"\na[max_tokens=3, suffix="c", capture="t", stop_capture="s"]: /[ab]*/',
]


def walk(matcher, chance, steps):
    taken = []
    for _ in range(steps):
        mask = allowed(matcher)
        assert mask == {token for token in range(matcher.compiled.vocabulary.size) if matcher.validate_tokens([token])}
        assert mask
        token = chance.choice(sorted(mask))
        assert matcher.accept_token(token)
        taken.append((token, mask))
        if token == EOS:
            break
    return taken


@pytest.mark.parametrize("text", GRAMMARS)
@pytest.mark.parametrize("lexing", ["greedy", "exact"])
def test_operations(text, lexing):
    chance = random.Random(text + lexing)
    compiled = llgcy.compile(llgcy.Grammar.from_lark(text, lexing=lexing), tokenizer(TEXTS))
    for _ in range(15):
        matcher = compiled.matcher()
        steps = walk(matcher, chance, 12)
        ids = [token for token, _ in steps]
        again = compiled.matcher()
        assert again.validate_tokens(ids) == len(ids)
        # rollback and fork, bit for bit
        back = chance.randint(0, len(ids))
        fork = matcher.fork()
        fork.rollback(back)
        for token, mask in steps[len(ids) - back:]:
            assert allowed(fork) == mask
            assert fork.accept_token(token)
        matcher.reset()
        assert allowed(matcher) == steps[0][1]
        # drafts and batches
        bitmask = llgcy.allocate_bitmask(len(ids) + 1, compiled.vocabulary.size)
        llgcy.fill_draft_bitmasks([matcher], [ids], None, bitmask, [0])
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), axis=1, bitorder="little")[:, :compiled.vocabulary.size]
        for row, (_, mask) in zip(bits, steps):
            assert set(numpy.flatnonzero(row).tolist()) == mask
        pair = [matcher, compiled.matcher()]
        for token, mask in steps:
            bitmask = llgcy.allocate_bitmask(2, compiled.vocabulary.size)
            llgcy.fill_bitmasks(pair, bitmask)
            assert (bitmask[0] == bitmask[1]).all() and allowed(pair[0]) == mask
            assert llgcy.core.batch.accept_batch(pair, [token, token]) == [True, True]


@pytest.mark.parametrize("text", [text for text in GRAMMARS if "<[3]>" not in text])        # bytes alone end no text that needs a token
@pytest.mark.parametrize("lexing", ["greedy", "exact"])
def test_every_walk_can_end(text, lexing):
    """What finish_within says is feasible is, from every place: so there are no dead ends."""
    chance = random.Random(text + lexing)
    compiled = llgcy.compile(llgcy.Grammar.from_lark(text, lexing=lexing), tokenizer(TEXTS))
    for _ in range(10):
        matcher = compiled.matcher()
        for _ in range(chance.randint(0, 6)):
            mask = sorted(allowed(matcher) - {EOS})
            if not mask:
                break
            matcher.accept_token(chance.choice(mask))
        least = next(n for n in range(60) if feasible(matcher, n))
        for n in range(least, least + 3):
            fork = matcher.fork()
            fork.finish_within(n)
            steps = walk(fork, chance, n)
            assert steps[-1][0] == EOS


def feasible(matcher, n):
    try:
        matcher.fork().finish_within(n)
    except LimitError:
        return False
    return True


def test_bytes_count_as_the_fewest_tokens_and_are_replayed():
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: a "z"\na[max_tokens=2, capture]: /[abc]*/'), tokenizer(TEXTS))
    matcher = compiled.matcher()
    assert matcher.accept_bytes(b"abbc") and allowed(matcher) == {TEXTS.index(b"z") + 1}
    assert not matcher.accept_bytes(b"a") and matcher.accept_bytes(b"z") and matcher.is_complete()
    assert matcher.captures() == [("a", b"abbc")]
    matcher.rollback(1)
    assert matcher.fork().accept_bytes(b"z") and not matcher.accept_bytes(b"c")


def test_the_cut_ends_greedy_text():
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: a "z"\na[max_tokens=2, capture]: /.*/'), tokenizer(TEXTS))
    a, z = TEXTS.index(b"a") + 1, TEXTS.index(b"z") + 1
    matcher = compiled.matcher()
    assert matcher.accept_tokens([a, z, a]) == 2 and allowed(matcher) == {z} and matcher.forced_bytes() == b"z"
    assert "expected \"z\"" in str(matcher.explain_token(a))
    assert matcher.accept_token(z) and matcher.captures() == [("a", b"az")]


def test_far_limits_share_masks():
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: a "z"\na[max_tokens=1000]: /[abc]*/'), tokenizer(TEXTS))
    matcher = compiled.matcher()
    for _ in range(900):
        allowed(matcher)
        assert matcher.accept_token(1)
    assert compiled.stats()["masks"] <= 3


def test_saved_and_pickled(tmp_path):
    compiled = llgcy.compile(llgcy.Grammar.from_lark(GRAMMARS[0]), tokenizer(TEXTS))
    compiled.save(tmp_path / "g")
    for other in (llgcy.CompiledGrammar.load(tmp_path / "g", compiled.tokenizer), pickle.loads(pickle.dumps(compiled))):
        assert other.matcher().accept_tokens([1, 1, 1]) == 2


@pytest.mark.parametrize("text, kind, place", [
    ('start: a\na[max_tokens=1]: "ac"', UnsatisfiableError, (2, 3)),
    ('start: a\na[max_tokens=1]: %json {"const": [1, 2, 1]}', UnsatisfiableError, (2, 3)),
    ('start: a\na[max_tokens=1]: b\nb: "a"', GrammarError, (2, 3)),
    ('start: a\na[max_tokens=1.5]: "a"', GrammarError, (2, 3)),
    ('start: a\na[max_tokens=2]: <[3]>', GrammarError, (2, 3)),
    ('start: a\na[max_tokens=9]: %lark {\n  start: "a" | "b" <[3]> "c"\n}', UnsupportedKeywordError, (2, 3)),
])
def test_errors(text, kind, place):
    with pytest.raises(kind) as caught:
        llgcy.compile(llgcy.Grammar.from_lark(text), tokenizer(TEXTS))
    assert (caught.value.line, caught.value.column) == place


def test_no_tokens_are_the_empty_text_and_no_tokenizer_no_limit():
    grammar = llgcy.Grammar.from_lark('start: a b\na[max_tokens=0]: "a"\nb[max_tokens=1]: /a+b/')
    assert grammar.accepts("aaab") and not grammar.accepts("aab" "a") and not grammar.explain("aaab").found


def test_structural_tags():
    tag = {"type": "tag", "begin": "x", "content": {"type": "any_text", "max_tokens": 2}, "end": "zz"}
    compiled = llgcy.compile(llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": tag}), tokenizer(TEXTS))
    a, x, z, zz = (TEXTS.index(one) + 1 for one in (b"a", b"x", b"z", b"zz"))
    assert compiled.matcher().accept_tokens([x, a, a, a]) == 3
    assert compiled.matcher().accept_tokens([x, a, zz, EOS]) == 4 and compiled.matcher().accept_tokens([x, z, z, EOS]) == 4
    assert compiled.matcher().accept_tokens([x, a, zz, z]) == 3, "the first place where the end is complete"
    whole = llgcy.Grammar.from_structural_tag({"type": "structural_tag", "format": {"type": "any_tokens", "max_tokens": 2}})
    assert llgcy.compile(whole, tokenizer(TEXTS)).matcher().accept_tokens([a, a, a]) == 2


def test_the_peer_agrees():
    """Where the body begins the text: behind other text the peer counts a token more."""
    peer = pytest.importorskip("llguidance")
    vocabulary = peer.LLTokenizer("byte")
    for text, words in (('start: a "z"\na[max_tokens=2]: /.*/', [b"aaz", b"aaa", b"azz", b"zzz"]), ('start: a "y"\na[max_tokens=3]: /[ab]+/', [b"abay", b"aaaa", b"y", b"ay"])):
        compiled = llgcy.compile(llgcy.Grammar.from_lark(text), llgcy.Tokenizer.single_byte())
        for word in words:
            other = peer.LLMatcher(vocabulary, "%llguidance {\"no_forcing\": true}\n" + text)
            taken = 0
            while taken < len(word) and other.try_consume_tokens([word[taken]]):
                taken += 1
            assert compiled.matcher().accept_tokens(word) == taken, (text, word)
