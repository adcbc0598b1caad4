"""Every operation of a matcher, legal or not, in any order, against a list of steps and a search over texts."""
import functools

import numpy
import pytest
import regex
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import llgcy
from llgcy.errors import LimitError, StateError

PATTERNS = ["(a|bc){1,3}c?", "(ab|c)*a", "a*(bc|b{3}a)?", "c(a{2,4}|(ba)+c)b?", "(a(b(c)?)?)?"]
TOKENS = [None, None, b"a", b"b", b"c", b"ab", b"bc", b"a", b"abc", b"ca", b"bbb", b"aa", None, b"\xff"]
SIZE, FAR = len(TOKENS), 30
TEXT = [i for i in range(SIZE) if TOKENS[i]]
TOKENIZER = llgcy.Tokenizer.from_vocab(TOKENS, special={"<e>": 0, "<f>": 1, "<x>": 12}, eos_token_id=[0, 1])


@functools.lru_cache(maxsize=None)
def lives(pattern, text):
    """Does any text of the pattern begin so?"""
    return regex.fullmatch(pattern.encode(), text, partial=True) is not None


@functools.lru_cache(maxsize=None)
def ends(pattern, text):
    return regex.fullmatch(pattern.encode(), text) is not None


@functools.lru_cache(maxsize=None)
def need(pattern, text, barred):
    """Tokens to the end at least, EOS included, none of them barred."""
    at, count = {text}, 1
    while not any(ends(pattern, t) for t in at):
        at, count = {t + TOKENS[i] for t in at for i in TEXT if i not in barred and lives(pattern, t + TOKENS[i])}, count + 1
    return count


class Model:
    """What has been taken: steps (bytes, tokens of a budget that they cost, is it the end), budgets ((since, deadline) each)."""

    def __init__(self, pattern, eos):
        self.pattern, self.eos, self.steps, self.budgets, self.made_with = pattern, eos, [], [], None

    def copy(self):
        other = Model(self.pattern, self.eos)
        other.steps, other.budgets, other.made_with = self.steps[:], self.budgets[:], self.made_with
        return other

    text = property(lambda self: b"".join(step[0] for step in self.steps))
    over = property(lambda self: bool(self.steps) and self.steps[-1][2])

    @property
    def left(self):
        if not self.budgets or self.budgets[-1][1] is None:
            return None
        since, tokens = self.budgets[-1]
        return tokens - sum(step[1] for step in self.steps[since:])

    def free(self, text, over):
        """The mask without a budget."""
        if over:
            return set(self.eos)
        return {i for i in TEXT if i not in self.eos and lives(self.pattern, text + TOKENS[i])} | (set(self.eos) if ends(self.pattern, text) else set())

    def forced(self):
        text, out = self.text, b""
        while not ends(self.pattern, text):
            bytes_ = [c for c in (b"a", b"b", b"c") if lives(self.pattern, text + c)]
            if len(bytes_) > 1:
                break
            out, text = out + bytes_[0], text + bytes_[0]
        return out

    def back(self, n):
        del self.steps[len(self.steps) - n:]
        while self.budgets and self.budgets[-1][0] > len(self.steps):
            self.budgets.pop()


tokens = st.integers(0, SIZE - 1)


class Matchers(RuleBasedStateMachine):
    """Matchers and their models."""

    @initialize(pattern=st.sampled_from(PATTERNS), mask_bytes=st.sampled_from([1, 1 << 20]))
    def begin(self, pattern, mask_bytes):
        limits = llgcy.Limits(mask_bytes=mask_bytes)
        self.compiled, self.pairs = llgcy.compile(llgcy.Grammar.from_regex(pattern), TOKENIZER, limits), []
        self.pattern = pattern
        self.start(None, None)

    @rule(eos=st.sampled_from([None, [1], [8, 0], 7]), most=st.none() | st.integers(0, 9))
    def start(self, eos, most):
        if len(self.pairs) > 4:
            return
        ids = (0, 1) if eos is None else tuple(eos) if isinstance(eos, list) else (eos,)
        model = Model(self.pattern, ids)
        if most is not None and most < need(self.pattern, b"", ids):
            with pytest.raises(LimitError):
                self.compiled.matcher(eos_token_ids=eos, max_tokens=most)
            return
        try:
            matcher = self.compiled.matcher(eos_token_ids=eos, max_tokens=most)
        except LimitError as error:         # the ending known is not the shortest
            assert most is not None and f"needs {most + 1}" <= str(error)
            return
        if most is not None:
            model.budgets, model.made_with = [(0, most)], most
        self.pairs.append((matcher, model))

    def pick(self, data):
        return self.pairs[data % len(self.pairs)]

    def mask(self, matcher):
        bitmask = numpy.full((2, 1), -1, numpy.int32)
        some = matcher.fill_next_token_bitmask(bitmask, 1)
        out = {i for i in range(SIZE) if bitmask[1, 0] >> i & 1}
        assert bitmask[0, 0] == -1 and bitmask[1, 0] >> SIZE == 0 and some == (len(out) < SIZE)
        return out

    def take(self, model, token):
        """Notes a token that is taken."""
        if model.over:
            return
        model.steps.append((b"", 1, True) if token in model.eos else (TOKENS[token], 1, False))

    @rule(at=st.integers(0, 9), token=tokens)
    def accept(self, at, token):
        matcher, model = self.pick(at)
        good = token in self.mask(matcher)
        assert matcher.validate_tokens([token]) == good
        assert matcher.accept_token(token) == good
        if good:
            self.take(model, token)

    @rule(at=st.integers(0, 9), choice=st.integers(0, 99))
    def accept_allowed(self, at, choice):
        matcher, model = self.pick(at)
        allowed = sorted(self.mask(matcher))
        assert matcher.accept_token(allowed[choice % len(allowed)])
        self.take(model, allowed[choice % len(allowed)])

    @rule(at=st.integers(0, 9), ids=st.lists(tokens, max_size=5), really=st.booleans())
    def accept_many(self, at, ids, really):
        matcher, model = self.pick(at)
        fork, count = matcher.fork(), 0
        while count < len(ids) and ids[count] in self.mask(fork) and fork.accept_token(ids[count]):
            count += 1
        assert matcher.validate_tokens(ids) == count
        if really:
            assert matcher.accept_tokens(ids) == count
            for token in ids[:count]:
                self.take(model, token)

    @rule(at=st.integers(0, 9), text=st.text("abcd", max_size=5))
    def accept_bytes(self, at, text):
        matcher, model = self.pick(at)
        text, left = text.encode(), model.left
        taken = matcher.accept_bytes(text)
        if not text or model.over:
            assert taken == (not text)
            return
        if not lives(self.pattern, model.text + text):
            assert not taken
        elif left is None:
            assert taken
        else:
            cost = self.cost(text, model.eos)
            assert not taken or cost + need(self.pattern, model.text + text, model.eos) <= left
        if taken:
            model.steps.append((text, self.cost(text, model.eos), False))

    def cost(self, text, eos):
        best = [0] + [99] * len(text)
        for i in range(len(text)):
            for token in TEXT:
                if token not in eos and text.startswith(TOKENS[token], i):
                    best[i + len(TOKENS[token])] = min(best[i + len(TOKENS[token])], best[i] + 1)
        return best[-1] if best[-1] < 99 else len(text)

    @rule(at=st.integers(0, 9), n=st.integers(-1, 12))
    def rollback(self, at, n):
        matcher, model = self.pick(at)
        if not 0 <= n <= len(model.steps):
            with pytest.raises(ValueError):
                matcher.rollback(n)
            return
        matcher.rollback(n)
        model.back(n)

    @rule(at=st.integers(0, 9))
    def reset(self, at):
        matcher, model = self.pick(at)
        matcher.reset()
        model.back(len(model.steps))
        model.budgets = [] if model.made_with is None else [(0, model.made_with)]

    @rule(at=st.integers(0, 9))
    def fork(self, at):
        if len(self.pairs) < 6:
            matcher, model = self.pick(at)
            self.pairs.append((matcher.fork(), model.copy()))

    @rule(at=st.integers(0, 9))
    def drop(self, at):
        if len(self.pairs) > 1:
            del self.pairs[at % len(self.pairs)]

    @rule(at=st.integers(0, 9), n=st.none() | st.integers(-1, 12) | st.just(FAR))
    def finish_within(self, at, n):
        matcher, model = self.pick(at)
        if n is None:
            matcher.finish_within(None)
            if model.budgets:
                model.budgets.append((len(model.steps), None))
        elif n < 0:
            with pytest.raises(ValueError):
                matcher.finish_within(n)
        else:
            least = 0 if model.over else need(self.pattern, model.text, model.eos)
            try:
                matcher.finish_within(n)
                assert n >= least
                model.budgets.append((len(model.steps), n))
            except LimitError as error:
                assert n < FAR and n < int(str(error).split("needs ")[1].split(",")[0])

    @rule(at=st.integers(0, 9), bad=st.sampled_from([-1, SIZE, 1 << 40]))
    def bad_ids(self, at, bad):
        matcher, _ = self.pick(at)
        for call in (matcher.accept_token, lambda token: matcher.accept_tokens([token]), lambda token: matcher.validate_tokens([0, token])):
            with pytest.raises((ValueError, OverflowError)):
                call(bad)

    @precondition(lambda self: len(self.pairs) > 1)
    @rule(choices=st.lists(st.integers(0, 99), min_size=6, max_size=6))
    def batch(self, choices):
        bitmask = llgcy.allocate_bitmask(len(self.pairs), SIZE)
        llgcy.fill_bitmasks([matcher for matcher, _ in self.pairs], bitmask)
        masks = [{i for i in range(SIZE) if row[0] >> i & 1} for row in bitmask]
        assert masks == [self.mask(matcher) for matcher, _ in self.pairs]
        ids = [choice % SIZE for choice, _ in zip(choices, self.pairs)]
        assert llgcy.accept_batch([matcher for matcher, _ in self.pairs], ids) == [token in mask for token, mask in zip(ids, masks)]
        for (_, model), token, mask in zip(self.pairs, ids, masks):
            if token in mask:
                self.take(model, token)
        with pytest.raises(StateError):
            llgcy.fill_bitmasks([self.pairs[0][0]] * 2, bitmask)

    @rule(at=st.integers(0, 9), nodes=st.lists(st.tuples(tokens, st.integers(-1, 4)), max_size=5))
    def draft(self, at, nodes):
        matcher, model = self.pick(at)
        ids, parents = [token for token, _ in nodes], [min(parent, i - 1) for i, (_, parent) in enumerate(nodes)]
        bitmask = llgcy.allocate_bitmask(len(nodes) + 1, SIZE)
        llgcy.fill_draft_bitmasks([matcher], [ids], [parents], bitmask, [0])
        forks = [matcher.fork()]
        for token, parent in zip(ids, parents):
            fork = forks[parent + 1] and forks[parent + 1].fork()
            forks.append(fork if fork and fork.accept_token(token) else None)
        assert [{i for i in range(SIZE) if row[0] >> i & 1} for row in bitmask] == [self.mask(fork) if fork else set() for fork in forks]

    @invariant()
    def agree(self):
        for matcher, model in self.pairs:
            text, over, left = model.text, model.over, model.left
            free, allowed = model.free(text, over), self.mask(matcher)
            assert matcher.steps == len(model.steps) and matcher.tokens_left == left and matcher.is_terminated() == over
            if left is None or over or left >= FAR:
                assert allowed == free
            else:
                assert allowed and allowed <= free
                for token in allowed - set(model.eos):
                    assert need(self.pattern, text + TOKENS[token], model.eos) <= left - 1
            assert matcher.is_accepting() == (over or ends(self.pattern, text))
            assert matcher.is_complete() == (over or allowed <= set(model.eos))
            alone = ends(self.pattern, text) and not any(lives(self.pattern, text + c) for c in (b"a", b"b", b"c"))
            assert matcher.stop_reason in ({"complete"} if alone else {None} if not over and not allowed <= set(model.eos) else {"eos", "budget"})
            if matcher.stop_reason == "budget":
                assert left is not None
            ending = matcher.completion()
            assert ending == b"" if over else ends(self.pattern, text + ending)
            if not over and left is None:
                assert matcher.forced_bytes() == model.forced()
                assert not any(ends(self.pattern, text + w) for w in short(len(ending) - 1))
            if not over and left is not None:
                assert self.cost(ending, model.eos) + 1 <= left


@functools.lru_cache(maxsize=None)
def short(length):
    """All texts of at most so many bytes."""
    out = [b""] if length >= 0 else []
    for word in out:
        if len(word) < length:
            out += [word + c for c in (b"a", b"b", b"c")]
    return out


Matchers.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestMatchers = Matchers.TestCase
