"""Languages of small grammars by fixpoint over sets of texts, and random grammars. Shares nothing with the engine."""
import itertools

from llgcy.core.regex import Regexes
from llgcy.core.tables import GrammarTables


def is_count(body):
    return bool(body) and body[0] == "count"


def joined(a, b, size):
    return {x + y for x in a for y in b if len(x) + len(y) <= size}


def language(rules, start, words, size):
    """All texts up to `size` bytes that `start` derives; `words[i]`: the texts of lexeme i."""
    texts = {i: {w for w in ws if len(w) <= size} for i, ws in enumerate(words)}
    for left, _ in rules:
        texts.setdefault(left, set())
    changed = True
    while changed:
        changed = False
        for left, body in rules:
            if is_count(body):
                _, symbol, low, high = body
                one, power, new = texts.get(symbol, set()), {b""}, set()
                if b"" in one:
                    low = min(low, size)
                most = max(low, size) if high is None else min(high, max(low, size))
                if low <= size:
                    for k in range(most + 1):
                        if k >= low:
                            new |= power
                        power = joined(power, one, size)
            else:
                new = {b""}
                for x in body:
                    new = joined(new, texts.get(x, set()), size)
            if not new <= texts[left]:
                texts[left] |= new
                changed = True
    return texts[start]


def sequences(rules, start, n_lexemes, size):
    """All sequences of at most `size` lexemes, as bytes of lexeme numbers."""
    return language(rules, start, [{bytes([i])} for i in range(n_lexemes)], size)


def with_skips(rules, start, words, skip, first, last, size):
    """Texts with skips before any lexeme (before the first one only if `first`). A text that may end may also be followed by skips, if
    some reading of it may be followed by a lexeme, or if `last`. Lexemes have at least one byte here."""
    gaps, one, plain, known = {b""}, {b""}, unrolled(rules), {}
    while one:
        one = joined(one, skip, size) - gaps
        gaps |= one
    out = set()
    for seq in sequences(rules, start, len(words), size):
        texts = gaps if first and seq else {b""}
        for i, x in enumerate(seq):
            texts = joined(joined(texts, gaps, size) if i else texts, words[x], size)
        out |= texts

    def goes_on(text):
        todo = [(0, ())]
        for at, seq in todo:                                          # grows while it runs
            if at == len(text):
                if seq not in known:
                    may = may_follow(plain, start, len(words), [{x} for x in seq])
                    known[seq] = may is not None and bool(may[0])
                if known[seq]:
                    return True
            todo += [(at + len(w), (*seq, x)) for x, ws in enumerate(words) for w in ws if text.startswith(w, at)]
            todo += [(at + len(w), seq) for w in skip if (at or first) and text.startswith(w, at)]
        return False
    todo = list(out) if skip else []
    for text in todo:                                                 # grows while it runs
        if (text or first) and (last or goes_on(text)):
            new = {text + w for w in skip if len(text + w) <= size} - out
            out |= new
            todo += new
    return out


def random_rules(rnd, n_lexemes, counts=0.0, share=0.6, lows=(0, 0, 1, 2, 2, 3)):
    """Rules of one to four symbols from `n_lexemes` on."""
    heads = range(n_lexemes, n_lexemes + rnd.randint(1, 4))

    def pick():
        return rnd.choice(heads) if rnd.random() < share else rnd.randrange(n_lexemes)
    rules = []
    for left in heads:
        for _ in range(rnd.randint(1, 3)):
            if rnd.random() < counts:
                low = rnd.choice(lows)
                rules.append((left, ("count", pick(), low, rnd.choice([low, low + 1, low + 2, low + 4, None, None, 10 ** 9]))))
            else:
                rules.append((left, tuple(pick() for _ in range(rnd.choice([0, 1, 1, 2, 2, 3])))))
    return rules


def random_words(rnd, letters, n, longest=3, empty=False):
    """`n` sets of one to three words."""
    return [{bytes(rnd.choice(letters) for _ in range(rnd.randint(0 if empty and rnd.random() < .2 else 1, longest)))
             for _ in range(rnd.randint(1, 3))} for _ in range(n)]


def tables_of(rules, start, words, skip=None, **options):
    """Frozen: lexeme i reads words[i]; the lexeme to skip comes behind them, and all other symbols one later."""
    regexes = Regexes("bytes")
    n = len(words)
    lexemes = [regexes.words(sorted(ws)) for ws in words]
    if skip is None:
        return GrammarTables(rules, start, lexemes, regexes, **options)
    up = {x: x if x < n else x + 1 for left, body in rules for x in (left, *(body[1:2] if is_count(body) else body))}
    rules = [(up[left], ("count", up[body[1]], *body[2:]) if is_count(body) else tuple(up[x] for x in body))
             for left, body in rules]
    return GrammarTables(rules, start if start < n else start + 1, [*lexemes, regexes.words(sorted(skip))], regexes, skip=n, **options)


def texts(letters, size):
    """All texts of exactly `size` letters."""
    return (bytes(t) for t in itertools.product(letters, repeat=size))


def accepts_naively(rules, start, words, text):
    """A recogniser by spans: which symbols derive text[i:j], to a fixpoint. Counts are unrolled by the text's length."""
    n = len(text)
    known = {(x, i, j) for x, ws in enumerate(words) for i in range(n + 1) for j in range(i, n + 1) if text[i:j] in ws}

    def spans(symbols, i):
        ends = {i}
        for x in symbols:
            ends = {j for k in ends for j in range(k, n + 1) if (x, k, j) in known}
        return ends
    changed = True
    while changed:
        changed = False
        for left, body in rules:
            for i in range(n + 1):
                if is_count(body):
                    _, x, low, high = body
                    ends, at, k = set(), {i}, 0
                    seen = []
                    while at and (high is None or k <= high) and (k <= low or (at, k >= low) not in seen):
                        seen.append((at, k >= low))
                        if k >= low:
                            ends |= at
                        at, k = {j for m in at for j in range(m, n + 1) if (x, m, j) in known}, k + 1
                else:
                    ends = spans(body, i)
                new = {(left, i, j) for j in ends} - known
                known |= new
                changed |= bool(new)
    return (start, 0, n) in known


def unrolled(rules):
    """Counted rules as ordinary ones. Upper bounds from 20 on are as good as none for texts of a few letters."""
    out, top = [], max((x for left, _ in rules for x in (left,)), default=0) + 1000
    for left, body in rules:
        if not is_count(body):
            out.append((left, body))
            continue
        _, x, low, high = body
        if high is None or high > 20:
            top += 1
            out += [(left, (x,) * low + (top,)), (top, ()), (top, (x, top))]
        else:
            out += [(left, (x,) * k) for k in range(low, high + 1)]
    return out


def may_follow(rules, start, n_lexemes, history):
    """Earley's recogniser as in the book: (lexemes that may come, may it end?) after a list of sets of lexemes, any of each; None
    where it is over. No counts."""
    heads, usable, before = {left for left, _ in rules}, set(), -1
    while before != len(usable):                                      # rules that derive something
        before = len(usable)
        usable |= {i for i, (_, body) in enumerate(rules) if all(
            x < n_lexemes or any(rules[j][0] == x for j in usable) for x in body)}
    rules, columns = [rule for i, rule in enumerate(rules) if i in usable], []
    for n in range(len(history) + 1):
        if n == 0:
            column = {(i, 0, 0) for i, (left, _) in enumerate(rules) if left == start}
        else:
            column = {(i, dot + 1, origin) for i, dot, origin in columns[-1]
                      if dot < len(rules[i][1]) and rules[i][1][dot] in history[n - 1]}
        columns.append(column)
        before = -1
        while before != len(column):
            before = len(column)
            for i, dot, origin in list(column):
                left, body = rules[i]
                if dot == len(body):
                    column |= {(j, d + 1, o) for j, d, o in columns[origin] if d < len(rules[j][1]) and rules[j][1][d] == left}
                elif body[dot] in heads:
                    column |= {(j, 0, n) for j, (other, _) in enumerate(rules) if other == body[dot]}
        if not column:
            return None
    return ({rules[i][1][dot] for i, dot, _ in column if dot < len(rules[i][1]) and rules[i][1][dot] < n_lexemes},
            any(rules[i][0] == start and dot == len(rules[i][1]) and origin == 0 for i, dot, origin in column))


def reads_greedily(rules, start, words, skip, first, last, text):
    """Maximal munch over sets of words, without a way back: is the whole text read? None: nor any text that goes on from it.
    Skips are lexeme number len(words)."""
    rules, gap = unrolled(rules), len(words)
    lexicon = [*words, skip or set()]

    def allowed(history, state):
        may = may_follow(rules, start, gap, history)
        if may is None:
            return set()
        lexemes, ends = may
        return lexemes | ({gap} if skip and (first or state != "first") and (lexemes or last and ends) else set())
    bases, at, going_on = [([], "first")], 0, False
    while at < len(text):
        options = [allowed(*base) for base in bases]
        some, n = set().union(*options), 0
        while at + n < len(text) and any(w.startswith(text[at:at + n + 1]) for x in some for w in lexicon[x]):
            n += 1
        hit, new = {x for x in some if n and text[at:at + n] in lexicon[x]}, []
        for (history, _), option in zip(bases, options):
            if hit & option - {gap}:
                new.append((history + [hit & option - {gap}], "read"))
            if gap in hit:                                            # it may follow some reading of the text, see `with_skips`
                new.append((history, "read"))
        if not new:
            return False if n and at + n == len(text) else None
        going_on = at + n == len(text) and any(
            w.startswith(text[at:]) and w != text[at:] for x in some for w in lexicon[x])
        bases, at = new, at + n
    if any((may_follow(rules, start, gap, history) or (0, False))[1] for history, _ in bases):
        return True
    return False if going_on or any(allowed(*base) for base in bases) else None
