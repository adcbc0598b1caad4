"""String formulas: whether any text satisfies one, and how a lexeme tells several of them apart.

A formula of fixed words and lengths is decided by counting. One with patterns becomes one term of the store of regexes,
whose derivatives decide emptiness exactly (intersections and complements are terms like any other).
"""
import itertools
from heapq import heappop, heappush
from typing import NamedTuple

from llgcy.errors import LimitError
from llgcy.schema.formula import FALSE, TRUE

#: Combinations of patterns on one string that are told apart one by one.
COMBINATIONS = 256
#: Alternatives for one string that are a pattern each.
ALTERNATIVES = 14
#: Steps that counting the words of one class may take.
COUNTING = 20_000
#: Characters of a text that is written out.
LONGEST_WITNESS = 1 << 24


class Outcomes(dict):
    """A dict that is not changed once made, so that it may be hashed."""

    def __hash__(self):
        return hash(frozenset(self.items()))


class StringSpec(NamedTuple):
    """A language of texts whose members have outcomes, as ``core.strings.Strings.language`` takes it.

    Attributes
    ----------
    names : tuple of (str, int)
        Different texts with their outcomes; 0: refused.
    patterns : tuple of int
        Terms of the regexes over characters.
    windows : tuple of (int, int or None, Outcomes)
        For texts that are no names: lengths from low to high, both included (None: no bound), and the outcome by which
        patterns accept the text (bit i: pattern i). What is not there is refused.
    """

    names: tuple
    patterns: tuple
    windows: tuple

    def outcome(self, text, accepts):
        """The outcome of a text (0: refused); ``accepts(term, text)`` decides patterns. Slow: for tests and examples."""
        for name, outcome in self.names:
            if name == text:
                return outcome
        for low, high, outcomes in self.windows:
            if low <= len(text) and (high is None or len(text) <= high):
                bits = sum(1 << i for i, term in enumerate(self.patterns) if accepts(term, text))
                return outcomes.get(bits, 0)
        return 0


class _Many(Exception):
    """More than `COMBINATIONS`."""


class Texts:
    """Questions about string formulas.

    Parameters
    ----------
    regexes : llgcy.core.regex.Regexes
        Over "chars".
    """

    def __init__(self, regexes):
        self.regexes = regexes
        self.formulas = None            # set by whoever makes both
        self.accepted = {}              # (term, text): bool
        self.terms = {}                 # term by formula
        self.witnesses = {}             # a text by formula
        self.lives = {}                 # whether there is a text, by formula

    def matches(self, term, text):
        """Whether a text is in the language of a term."""
        key = term, text
        found = self.accepted.get(key)
        if found is None:
            state, step = term, self.regexes.step
            for c in text:
                state = step(state, ord(c))
                if not state:
                    break
            found = self.accepted[key] = bool(state) and self.regexes.accepts(state)
        return found

    # ------------------------------------------------------------------------------------------------ facts of a formula
    def facts(self, formulas):
        """The atoms of some formulas, sorted out: (words in order of mention, lengths ascending, terms)."""
        words, lengths, terms, nodes = {}, set(), {}, self.formulas.nodes
        for f in formulas:
            for atom in sorted(self.formulas.support(f)):
                content = nodes[atom]
                if content[0] == "in":
                    words.update(dict.fromkeys(sorted(content[1])))
                elif content[0] == "len":
                    lengths.add(content[1])
                elif content[0] == "re":
                    terms[content[1]] = None
        return words, sorted(lengths), tuple(terms)

    def without_words(self, f):
        """The formula as it reads for all texts that it does not mention."""
        nodes = self.formulas.nodes
        return self.formulas.assign(f, {a: FALSE for a in self.formulas.support(f) if nodes[a][0] == "in"})

    def term(self, f):
        """The texts of a formula as a term."""
        found = self.terms.get(f)
        if found is None:
            regexes, content = self.regexes, self.formulas.nodes[f >> 1]
            op = content[0]
            if f & 1:
                found = regexes.complement(self.term(f ^ 1))
            elif op == "and":
                found = regexes.both([self.term(c) for c in content[1]])
            elif op == "in":
                found = regexes.words(content[1])
            elif op == "len":
                found = regexes.repeat(regexes.any, content[1], None)
            elif op == "re":
                found = content[1]
            else:
                found = regexes.all
            self.terms[f] = found
        return found

    def minus(self, term, words):
        """A term without some words."""
        return self.regexes.both([term, self.regexes.complement(self.regexes.words(words))]) if words else term

    # ------------------------------------------------------------------------------------------------ a text
    def witness(self, f, excluded=frozenset()):
        """A short text of the formula that is not excluded, or None where there is none.

        Parameters
        ----------
        f : int
            A string formula.
        excluded : set of str
        """
        if f == FALSE:
            return None
        if f == TRUE and "" not in excluded:
            return ""
        if not excluded and f in self.witnesses:
            return self.witnesses[f]
        found = self.search(f, excluded)
        if not excluded:
            self.witnesses[f] = found
        return found

    def inhabited(self, f):
        """Whether any text satisfies the formula."""
        if f == FALSE:
            return False
        found = self.lives.get(f)
        if found is None:
            content = self.formulas.nodes[f >> 1]
            if f == TRUE or content[0] == "in" or content[0] == "len" and not f & 1:
                found = True
            elif content[0] == "re" and not f & 1:
                found = self.regexes.alive(content[1])
            else:
                words, lengths, terms = self.facts((f,))
                general = self.without_words(f)
                if not terms and general != FALSE and any(n and self.holds_length(general, n) for n in self.cuts(lengths)):
                    found = True        # there are texts of this length, however long they are
                elif not terms or words or general == FALSE:
                    found = self.witness(f) is not None
                else:
                    found = self.regexes.alive(self.term(f))
            self.lives[f] = found
        return found

    def search(self, f, excluded):
        words, lengths, terms = self.facts((f,))
        content = self.formulas.nodes[f >> 1]
        if content[0] == "in" and not f & 1:
            return min((w for w in content[1] if w not in excluded), key=lambda w: (len(w), w), default=None)
        for word in words:
            if word not in excluded and self.formulas.holds_text(f, word):
                return word
        general = self.without_words(f)
        if general == FALSE:
            return None
        if not terms:
            return self.plain_witness(general, lengths, words.keys() | excluded)
        term = self.term(general)
        if not self.regexes.alive(term):
            return None
        word = self.text_of(self.regexes.shortest(term))
        if word in words or word in excluded:
            # most often it is free, and leaving out a long list of words is what costs
            term = self.minus(term, words.keys() | excluded)
            if not self.regexes.alive(term):
                return None
            word = self.text_of(self.regexes.shortest(term))
        return word

    def plain_witness(self, general, lengths, excluded):
        """A text for a formula of lengths alone."""
        for n in self.cuts(lengths):
            if self.holds_length(general, n):
                if n > LONGEST_WITNESS:
                    raise LimitError(f"the shortest text has {n:,} characters; the limit is {LONGEST_WITNESS:,}")
                word = fresh_word(n, excluded)
                if word is not None:
                    return word
        return None

    @staticmethod
    def cuts(lengths):
        """Lengths of which one holds a formula of these bounds, if any does."""
        return sorted({0, 1, *lengths, *[n + 1 for n in lengths]})

    def several(self, f, most):
        """Texts of a formula, at most `most`; all of them, where they are fewer."""
        if f == FALSE or most < 1:
            return []
        words, lengths, terms = self.facts((f,))
        found = [w for w in words if self.formulas.holds_text(f, w)][:most]
        general = self.without_words(f)
        if general == FALSE:
            return found
        if terms:
            term = self.minus(self.term(general), words)
            return found + self.some_words(term, most - len(found))
        for n in self.cuts(lengths):
            if len(found) < most and self.holds_length(general, n):
                if n * most > LONGEST_WITNESS:
                    raise LimitError(f"{most:,} texts of {n:,} characters; together they may have {LONGEST_WITNESS:,}")
                free = (w for w in words_of_length(n) if w not in words)
                found += itertools.islice(free, most - len(found))
        return found

    def some_words(self, term, most):
        """Words of a term, short ones first; at most `most`."""
        regexes, found, far = self.regexes, [], {}

        def distance(state):
            if state not in far:
                far[state] = len(regexes.shortest(state))
            return far[state]
        heap = []                       # (length of the shortest word, -length so far, word before, next character, last one, state behind it)

        def enter(word, state):
            if regexes.accepts(state):
                found.append(word)
            for first, last, target in regexes.edges(state):        # to live states only
                heappush(heap, (len(word) + 1 + distance(target), -len(word), word, first, last, target))
        if most > 0 and regexes.alive(term):
            enter("", term)
        while heap and len(found) < most:
            whole, depth, word, c, last, state = heappop(heap)
            if c < last:
                heappush(heap, (whole, depth, word, c + 1, last, state))
            enter(word + chr(c), state)
        return found

    def holds_length(self, f, n):
        """Whether a formula of lengths holds of texts of `n` characters."""
        content = self.formulas.nodes[f >> 1]
        if content[0] == "and":
            truth = all(self.holds_length(c, n) for c in content[1])
        else:
            truth = content[0] == "true" or n >= content[1]
        return truth != (f & 1)

    @staticmethod
    def text_of(symbols):
        return "".join(map(chr, symbols))

    # ------------------------------------------------------------------------------------------------ outcomes
    def windows(self, lengths):
        """The windows that some thresholds cut the lengths into: (low, high or None)."""
        cuts = [0, *lengths]
        return [(low, high - 1 if high is not None else None) for low, high in zip(cuts, [*cuts[1:], None])]

    def leaves(self, formulas, low, terms, prune):
        """Which patterns can accept a text that no formula mentions, of a length in the window that starts at `low`.

        Yields (bits, formulas): each formula is TRUE or FALSE. Combinations where all are FALSE are left out; with
        `prune`, those that no text has, too.
        """
        fs, nodes = self.formulas, self.formulas.nodes
        start = []
        for f in formulas:
            f = self.without_words(f)
            start.append(fs.assign(f, {a: TRUE if low >= nodes[a][1] else FALSE for a in fs.support(f) if nodes[a][0] == "len"}))
        atoms = [fs.atom("re", t) >> 1 for t in terms]
        todo, made = [(0, 0, tuple(start), ())], 0
        while todo:
            i, bits, left, chosen = todo.pop()
            if not prune and all(f == FALSE for f in left):
                continue
            if i == len(atoms):
                yield bits, left
                continue
            made += 1
            if made > COMBINATIONS:
                raise _Many
            for truth in (0, 1):
                term = terms[i] if truth else self.regexes.complement(terms[i])
                if prune:
                    both = self.regexes.both([*chosen, term])
                    if not self.regexes.alive(both):
                        continue
                    now = (both,)
                else:
                    now = ()
                todo.append((i + 1, bits | truth << i, tuple(fs.assign(f, {atoms[i]: TRUE if truth else FALSE}) for f in left), now))

    def classes(self, formulas, low, terms):
        """The combinations of patterns that some text in the window from `low` on has: see `leaves`."""
        try:
            return list(self.leaves(formulas, low, terms, True))
        except _Many:
            raise LimitError(f"the keys of one object fall into more than {COMBINATIONS} classes by {len(terms)} patterns") from None

    def spec(self, formulas):
        """A lexeme for several formulas side by side.

        Returns
        -------
        spec : StringSpec or None
            None where no text is in any.
        outcomes : list of tuple of int
            By outcome, which formulas hold. Outcome 0 is not used.
        """
        outcomes, numbers = [()], {}

        def outcome(truths):
            """The number of a set of formulas that hold: bit i for formula i."""
            if not truths:
                return 0
            if truths not in numbers:
                numbers[truths] = len(outcomes)
                outcomes.append(tuple(i for i in range(len(formulas)) if truths >> i & 1))
            return numbers[truths]
        words, lengths, terms = self.facts(formulas)
        holds, nodes = self.formulas.holds_text, self.formulas.nodes
        # what lists of words say is read off the lists, or many formulas about many words would cost their product
        always, listed, others = 0, dict.fromkeys(words, 0), []
        for i, f in enumerate(formulas):
            content = nodes[f >> 1]
            if content[0] != "in" and f > FALSE:
                others.append((i, f))
                continue
            if f & 1 if content[0] == "in" else f == TRUE:
                always |= 1 << i
            for word in content[1] if content[0] == "in" else ():
                listed[word] |= 1 << i
        if others:
            for word in listed:
                listed[word] |= sum(1 << i for i, f in others if holds(f, word))
        names = tuple((word, outcome(always ^ which)) for word, which in listed.items())
        windows = []
        try:
            for low, high in self.windows(lengths):
                table = Outcomes()
                for bits, truths in self.leaves(formulas, low, terms, False):
                    number = outcome(sum(1 << i for i, f in enumerate(truths) if f == TRUE))
                    if number:
                        table[bits] = number
                if table:
                    if windows and windows[-1][1] == low - 1 and windows[-1][2] == table:
                        low = windows.pop()[0]
                    windows.append((low, high, table))
        except _Many:
            # each formula is one pattern, lengths and all
            whole = [self.term(self.without_words(f)) for f in formulas]
            terms, table = tuple(dict.fromkeys(whole)), Outcomes()
            if len(terms) > ALTERNATIVES:
                raise LimitError(f"{len(terms)} alternatives for one string, each with patterns; the limit is {ALTERNATIVES}") from None
            for bits in range(1, 1 << len(terms)):
                table[bits] = outcome(sum(1 << i for i, t in enumerate(whole) if bits >> terms.index(t) & 1))
            windows = [(0, None, table)]
        if len(outcomes) == 1:
            return None, outcomes
        if not windows:
            names, terms = tuple((w, k) for w, k in names if k), ()
        return StringSpec(names, terms, tuple(windows)), outcomes

    # ------------------------------------------------------------------------------------------------ how many texts
    def few_words(self, term, most):
        """All texts of a term where they are `most` or fewer, else None.

        Raises
        ------
        LimitError
            They could not be counted within `COUNTING` steps.
        """
        regexes, layer, total, steps = self.regexes, {term: 1}, 0, 0
        while layer:
            following = {}
            for state, ways in layer.items():
                if regexes.accepts(state):
                    total += ways
                for first, last, target in regexes.edges(state):
                    steps += 1
                    following[target] = following.get(target, 0) + ways * (last - first + 1)
            # edges lead to live states only, so each way ends in a text of its own
            if total + sum(following.values()) > most:
                return None
            if steps > COUNTING:
                raise LimitError(f"whether a class of keys has more than {most} texts takes more than {COUNTING} steps to see")
            layer = following
        found, todo = [], [(term, "")]
        while todo:
            state, text = todo.pop()
            if regexes.accepts(state):
                found.append(text)
            for first, last, target in regexes.edges(state):
                todo.extend((target, text + chr(c)) for c in range(first, last + 1))
        return sorted(found, key=lambda w: (len(w), w))


def words_of_length(n):
    """Texts of `n` characters, those of letters first; all of them where `n` is 0 or 1."""
    if n == 0:
        return iter(("",))
    letters = "abcdefghijklmnopqrstuvwxyz"
    padding = "a" * (n - min(n, 4))
    words = map("".join, itertools.product([padding], *[letters] * min(n, 4)))
    others = (chr(c) * n for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and chr(c) not in letters)
    return itertools.chain(words, others)


def fresh_word(n, excluded):
    """A text of `n` characters that is not excluded; None where all are (only the empty text can run out)."""
    if n == 0:
        return None if "" in excluded else ""
    letters = "abcdefghijklmnopqrstuvwxyz"
    number = 0
    while True:
        rest, digits = number, []
        for _ in range(min(n, 8)):
            rest, digit = divmod(rest, 26)
            digits.append(letters[digit])
        if rest:
            break
        word = "a" * (n - len(digits)) + "".join(reversed(digits))
        if word not in excluded:
            return word
        number += 1
    for c in range(0x7B, 0x110000):     # a few characters, and all words of letters excluded
        if not 0xD800 <= c <= 0xDFFF and (word := chr(c) * n) not in excluded:
            return word
    return None
