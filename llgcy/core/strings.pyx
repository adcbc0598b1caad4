"""JSON strings and object keys: see strings.pxd for the states and the rules."""
from operator import itemgetter

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memcpy, memset

from llgcy.core.lists cimport List
from llgcy.core.machine cimport Alike, Split
from llgcy.core.names cimport NameNode, UsedNames, first_kid, kid, trie_build, trie_room
from llgcy.core.patterns cimport ASCII, NO_BOUND, Near, Patterns
from llgcy.core.regex cimport Edge, Regexes
from llgcy.core.state cimport ALIVE, CROSS, DEAD, Leaf
from llgcy.core.store cimport Arena, Budget, Index, Probe, hash_bytes, mix
from llgcy.core.unescape cimport MAX_RANGES, QUOTE, REFUSED, WITHIN, Range, advance, permitted, plain, targets

from llgcy.core.unescape import ending
from llgcy.errors import LimitError

cdef enum:
    SCALARS = 0x110000 - 0x800      # code points that are no surrogates
    MAX_OUTCOME = 1 << 24
    LONGEST_WRITTEN = 1 << 24       # characters of a text that shortest() writes
    ROOT = 0
    PLENTY = 1 << 20                # names that no document has
    TARGETS = 8                     # places that alike() looks at


cdef uint64_t LEADS = (<uint64_t>2 << (0xF4 - 0xC0)) - (<uint64_t>1 << (0xC2 - 0xC0))      # first bytes of characters beyond ASCII


cdef inline bint any_set(const uint64_t* bits, int32_t low, int32_t high) noexcept nogil:
    """Is a bit of [low, high) set? low < high."""
    cdef int32_t word = low >> 6
    cdef int32_t last = (high - 1) >> 6
    cdef uint64_t head = ~<uint64_t>0 << (low & 63)
    cdef uint64_t tail = ~<uint64_t>0 >> (63 - ((high - 1) & 63))
    if word == last:
        return bits[word] & head & tail != 0
    if bits[word] & head:
        return True
    word += 1
    while word < last:
        if bits[word]:
            return True
        word += 1
    return bits[last] & tail != 0


cdef inline bint within(uint32_t char, const Range* ranges, int count) noexcept nogil:
    cdef int i
    for i in range(count):
        if ranges[i].first <= char <= ranges[i].last:
            return True
    return False


cdef inline uint64_t hash_three(int32_t a, int32_t b, int32_t c) noexcept nogil:
    return mix((<uint64_t>a << 32 | <uint32_t>b) ^ mix(<uint64_t>c))


cdef inline uint8_t first_byte(uint32_t char) noexcept nogil:
    """Of its UTF-8 sequence (RFC 3629, section 3)."""
    if char < 0x80:
        return <uint8_t>char
    if char < 0x800:
        return <uint8_t>(0xC0 | char >> 6)
    return <uint8_t>(0xE0 | char >> 12) if char < 0x10000 else <uint8_t>(0xF0 | char >> 18)


cdef inline void put_kids(const View* view, int32_t d, uint64_t* out) noexcept nogil:
    """Puts the bytes that names go on with."""
    cdef const NameNode* node = view.nodes + d
    cdef int32_t i
    cdef uint8_t byte
    if d >= 0:
        for i in range(node.kids, node.kids + node.count):
            byte = first_byte(view.nodes[i].char)
            out[byte >> 6] |= <uint64_t>1 << (byte & 63)


cdef bint has_surrogate(str text) noexcept:
    cdef Py_UCS4 c
    for c in text:
        if 0xD800 <= c <= 0xDFFF:
            return True
    return False


cdef int add_outcome(bytearray mask, outcome) except -1:
    """Set the bit of an outcome."""
    if not 0 <= outcome <= MAX_OUTCOME:
        raise ValueError(f"outcomes are 0..{MAX_OUTCOME}, not {outcome}")
    if outcome >> 3 >= len(mask):
        mask.extend(bytes((outcome >> 3) + 1))
    mask[outcome >> 3] |= 1 << (outcome & 7)
    return 0


@cython.final
cdef class Strings:
    """Languages of JSON strings and keys, their views, and the names that documents have used.

    Parameters
    ----------
    chars : Regexes or None
        The store of the patterns, over code points; None: languages without patterns only.
    budget : Budget
        Bytes for all that is stored.
    escapes : int
        The set of those that are allowed, see `llgcy.core.unescape.escape_set`.

    Notes
    -----
    Every byte is decided exactly: a prefix is alive if and only if some text of the view that is not used goes on so, in any
    spelling of RFC 8259 (escapes, surrogate pairs, valid UTF-8). The sets of used names are numbers; 0 is the empty set.

    Examples
    --------
    >>> strings = Strings(None, Budget(1 << 20, "example"))
    >>> language = strings.language([("a", 1), ("b", 2)], (), [(0, 3, {0: 3})])
    >>> view = strings.view(language)
    >>> leaf = strings.feed(strings.begin(view), b"\\\\u0061")
    >>> strings.outcome_at(leaf)
    1
    """

    def __cinit__(self, Regexes chars, Budget budget not None, int32_t escapes=0):
        self.budget, self.escapes = budget, escapes
        self.patterns = Patterns(chars, budget)
        self.used_names = UsedNames(budget)
        self.languages = Arena(budget, sizeof(Language))
        self.views = Arena(budget, sizeof(View))
        self.nodes = Arena(budget, sizeof(NameNode))
        self.numbers = Arena(budget, sizeof(int32_t))
        self.bits = Arena(budget, sizeof(uint64_t))
        self.windows = Arena(budget, sizeof(Window))
        self.counts = Arena(budget, sizeof(Count))
        self.count_index = Index(budget)
        self.verdicts = Arena(budget, sizeof(Verdict))
        self.verdict_index = Index(budget)
        self.specs, self.language_ids, self.names_ids, self.names_met = [], {}, {}, {}
        self.view_ids, self.others_ids = {}, {}

    def __dealloc__(self):
        free(self.stack)

    # -- languages ------------------------------------------------------------------------------------------------------

    def language(self, names, patterns, windows):
        """Register a language of decoded texts.

        Parameters
        ----------
        names : iterable of (str, int)
            Different texts, each with its outcome: 1 to 2**24, or 0 where the text is refused. The same tuple of tuples again
            costs no time.
        patterns : iterable of int
            Terms of the store of regexes.
        windows : iterable of (int, int or None, dict of int to int)
            For all texts that are no names: lengths in code points from low to high (None: no bound), both included, different
            windows without a length in common; from the patterns that accept (bit i: pattern i) to the outcome. What is not
            there is refused.

        Returns
        -------
        int
            The language, for `view`; equal ones are one number.

        Raises
        ------
        ValueError
            A text twice, overlapping windows, an outcome out of range.
        LimitError
            A lower bound of 2**31 - 2 or more, or the budget.
        """
        cdef tuple terms = tuple(patterns)
        cdef list ordered = sorted(windows, key=itemgetter(0))
        content, number = self.names_number(names)
        key = number, terms, tuple([(low, high, frozenset(table.items())) for low, high, table in ordered])
        known = self.language_ids.get(key)
        if known is None:
            known = self.language_ids[key] = self._new_language(content, terms, ordered)
        return known

    cdef tuple names_number(self, names):
        """``(names as tuples, number)``; equal names have one number. A tuple of tuples met before is known by its identity."""
        known = self.names_met.get(id(names))
        if known is None:
            fixed = type(names) is tuple and all([type(name) is tuple for name in names])
            content = names if fixed else tuple([tuple(name) for name in names])
            known = content, self.names_ids.setdefault(content, len(self.names_ids))
            if fixed:
                self.names_met[id(names)] = known
        return known

    cdef _new_language(self, tuple names, tuple terms, list ordered):
        cdef Language language
        # A text with a lone surrogate has no spelling.
        cdef list known = sorted([(text, outcome) for text, outcome in names if not has_surrogate(text)])
        cdef list texts = [text for text, _ in known]
        cdef bytearray mask = bytearray()
        cdef bytes flat
        cdef int32_t count = <int32_t>len(texts), i, pairs
        cdef int64_t room, last = -1
        cdef int64_t* starts
        cdef int32_t* numbers
        cdef NameNode* nodes
        if count > PLENTY:
            raise LimitError(f"{count:,} names in one object or enum; the limit is {PLENTY:,}")
        if len(set(texts)) != count:
            raise ValueError("the same name twice")
        for _, outcome in known:
            add_outcome(mask, outcome)
        for low, high, outcomes in ordered:
            if low <= last or high is not None and high < low:
                raise ValueError("windows must not overlap, and go upwards")
            if low >= NO_BOUND - 1:
                raise LimitError(f"a text of at least {low:,} characters is beyond the limit of 2**31 - 3")
            last = NO_BOUND if high is None or high >= NO_BOUND - 1 else high
            for outcome in outcomes.values():
                add_outcome(mask, outcome)
        memset(&language, 0, sizeof(Language))
        language.names = count
        language.v = self.patterns.start(terms)
        language.windows = <int32_t>len(ordered)
        flat = "".join(texts).encode("utf-32-le")
        starts = <int64_t*>realloc(NULL, (<size_t>count + 1) * sizeof(int64_t))
        if starts == NULL:
            raise MemoryError()
        try:
            starts[0] = 0
            for i in range(count):
                starts[i + 1] = starts[i] + <int64_t>len(texts[i])
            room = trie_room(<const uint32_t*><const char*>flat, starts, count)
            if room >= NO_BOUND:
                raise LimitError(f"the names of one object or enum have {room:,} characters; the limit is 2**31 - 2")
            nodes = <NameNode*>self.nodes.at(self.nodes.add(<int32_t>room))
            trie_build(<const uint32_t*><const char*>flat, starts, count, nodes)
        finally:
            free(starts)
        language.nodes = nodes
        if count:
            numbers = <int32_t*>self.numbers.at(self.numbers.add(count))
            for i in range(count):
                numbers[i] = known[i][1]
            language.outcomes = numbers
        tables = [sorted((self.patterns.accept(bits), outcome) for bits, outcome in outcomes.items() if outcome)
                  for _, _, outcomes in ordered]
        numbers = <int32_t*>self.numbers.at(self.numbers.add(language.windows + 1))
        language.ends = numbers
        pairs = 0
        for i in range(language.windows):
            pairs += <int32_t>len(tables[i])
            numbers[i + 1] = pairs
        if pairs:
            numbers = <int32_t*>self.numbers.at(self.numbers.add(2 * pairs))
            language.outcomes_of = numbers
            for table in tables:
                for accept, outcome in table:
                    numbers[0], numbers[1] = accept, outcome
                    numbers += 2
        i = self.languages.add(1)
        (<Language*>self.languages.at(i))[0] = language
        limits = [(low, NO_BOUND if high is None or high >= NO_BOUND - 1 else high) for low, high, _ in ordered]
        self.specs.append((texts, limits, tables, int.from_bytes(mask, "little") & ~1))
        return i

    def view(self, int language, allowed=None):
        """The language under what may come now.

        Parameters
        ----------
        language : int
        allowed : int, optional
            Bit o: outcome o may come. None: all may.

        Returns
        -------
        int
            The view; equal ones are one number.
        """
        if not 0 <= language < self.languages.length:
            raise ValueError(f"there is no language {language}")
        texts, limits, tables, mask = self.specs[language]
        if allowed is not None:
            mask &= allowed
        known = self.view_ids.get((language, mask))
        if known is not None:
            return known
        cdef const Language* l = <const Language*>self.languages.at(language)
        cdef View view
        cdef bytes wanted = mask.to_bytes(mask.bit_length() // 8 + 1, "little")
        cdef const uint8_t* outcomes = wanted
        cdef int32_t limit = <int32_t>len(wanted), i, o
        cdef uint64_t* bits
        cdef Window* windows
        cdef bint some = False
        memset(&view, 0, sizeof(View))
        view.nodes, view.language, view.names, view.v = l.nodes, language, l.names, l.v
        if l.names:
            bits = <uint64_t*>self.bits.at(self.bits.add((l.names + 63) >> 6))
            for i in range(l.names):
                o = l.outcomes[i]
                if o >> 3 < limit and outcomes[o >> 3] >> (o & 7) & 1:
                    bits[i >> 6] |= <uint64_t>1 << (i & 63)
                    some = True
            if some:
                view.allowed = bits
        content, besides = [], 0
        for i in range(l.windows):
            accepts = [accept for accept, outcome in tables[i] if mask >> outcome & 1]
            if accepts:
                content.append((*limits[i], self.patterns.goal(accepts), i))
                for _, outcome in tables[i]:
                    besides |= 1 << outcome
        besides &= mask
        view.plain = -1 if besides == mask else self.view(language, besides)
        view.count = <int32_t>len(content)
        if view.count:
            windows = <Window*>self.windows.at(self.windows.add(view.count))
            for i in range(view.count):
                windows[i].low, windows[i].high, windows[i].goal, windows[i].number = content[i]
                view.horizon = max(view.horizon, windows[i].low)
                if windows[i].high != NO_BOUND:
                    view.horizon = max(view.horizon, windows[i].high + 1)
            view.windows = windows
            view.free = self.escapes == 0 and l.names == 0 and l.v == 0 and windows[0].low == 0 and windows[0].high == NO_BOUND
        view.others = self.others_ids.setdefault(tuple([window[:3] for window in content]), len(self.others_ids))
        i = self.views.add(1)
        if view.plain < 0:
            view.plain = i
        (<View*>self.views.at(i))[0] = view
        self.view_ids[language, mask] = i
        return i

    # -- steps ------------------------------------------------------------------------------------------------------------

    cdef int start(self, int32_t view, int32_t used, Leaf* out) except -1 nogil:
        cdef const View* w = <const View*>self.views.at(view)
        out.lang, out.v, out.k, out.pos = view, w.v, 0, 0
        out.d = ROOT if w.names else -1
        out.u = ROOT if w.count else -1         # used names are looked up among the other texts only
        return self.alive_between(w, used, out)

    cdef int step_any(self, const Leaf* at, int32_t used, uint8_t byte, bint grow, Leaf* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef Leaf new = at[0]
        cdef int32_t char = advance(at.pos, byte, &new.pos)
        if char == REFUSED or self.escapes and at.pos and not permitted(at.pos, self.escapes, byte):
            return DEAD
        if char == QUOTE:
            if self.outcome(at, used) == 0:
                return DEAD
            out[0] = at[0]
            return CROSS
        if char == WITHIN:
            if not used and not grow:
                new.u = -1
            if not view.free and not self.alive_within(view, used, &new):
                return DEAD
            out[0] = new
            return ALIVE
        if at.d >= 0:
            new.d = kid(view.nodes, at.d, char)
        if at.u >= 0:
            new.u = self.used_names.find(at.u, char) if used or grow else -1
        new.v = self.patterns.step(at.v, char)
        if new.k < view.horizon:
            new.k += 1
        if not self.alive_between(view, used, &new):
            return DEAD
        if grow and new.u < 0 and at.u >= 0:
            new.u = self.used_names.grow(at.u, char)
        out[0] = new
        return ALIVE

    cdef int32_t outcome(self, const Leaf* end, int32_t used) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(end.lang)
        cdef const Language* language = <const Language*>self.languages.at(view.language)
        cdef const Window* window
        cdef int32_t word, i, accept, low, high, middle
        if end.pos != 0:
            return 0
        if end.d >= 0:
            word = view.nodes[end.d].word
            if word >= 0:
                return language.outcomes[word] if view.allowed != NULL and any_set(view.allowed, word, word + 1) else 0
        if end.u >= 0 and self.used_names.contains(used, end.u):
            return 0
        for i in range(view.count):
            window = view.windows + i
            if window.low <= end.k <= window.high:
                if not self.patterns.meets(window.goal, end.v):
                    return 0
                accept = self.patterns.joint(end.v).accept
                low, high = language.ends[window.number], language.ends[window.number + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if language.outcomes_of[2 * middle] < accept:
                        low = middle + 1
                    else:
                        high = middle
                return language.outcomes_of[2 * low + 1]
        return 0

    cdef int32_t use(self, int32_t used, const Leaf* end) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(end.lang)
        if end.d >= 0 and view.nodes[end.d].word >= 0:
            return used
        if end.u < 0:
            return UNKNOWN_SET
        return self.used_names.add(used, end.u)

    # -- liveness -----------------------------------------------------------------------------------------------------------
    #
    # Something is left if an allowed name goes on from here, or if more other texts do than are taken: by names that the
    # language declares (they are no other texts) or by used ones. The number of texts is compared with a cheap upper bound of
    # the number taken first; nearly always there are more.

    cdef int alive(self, const View* view, int32_t used, const Leaf* at) except -1 nogil:
        return self.alive_between(view, used, at) if at.pos == 0 else self.alive_within(view, used, at)

    cdef int alive_between(self, const View* view, int32_t used, const Leaf* at) except -1 nogil:
        cdef int64_t taken = 0
        cdef int32_t need
        cdef const NameNode* node
        if at.d >= 0:
            node = view.nodes + at.d
            if view.allowed != NULL and any_set(view.allowed, node.low, node.high):
                return 1
            taken = node.high - node.low
        if view.count == 0:
            return 0
        if at.u >= 0:
            taken += self.used_names.words(used)
        need = <int32_t>min(taken, <int64_t>MANY - 1)
        if self.others(view, at.v, at.k, need) > need:
            return 1
        return self.search(view, used, at) if need else 0

    cdef int alive_within(self, const View* view, int32_t used, const Leaf* at) except -1 nogil:
        cdef Range ranges[MAX_RANGES]
        cdef int count = targets(at.pos, self.escapes, ranges), i
        cdef int64_t taken = 0
        cdef int32_t need, low, high
        cdef const NameNode* kids
        if at.d >= 0:
            kids = view.nodes + view.nodes[at.d].kids
            for i in range(count):
                low = first_kid(view.nodes, at.d, ranges[i].first)
                high = first_kid(view.nodes, at.d, ranges[i].last + 1)
                if low < high:
                    if view.allowed != NULL and any_set(view.allowed, kids[low].low, kids[high - 1].high):
                        return 1
                    taken += kids[high - 1].high - kids[low].low
        if view.count == 0:
            return 0
        if at.u >= 0:
            taken += self.used_names.words(used)
        need = <int32_t>min(taken, <int64_t>MANY - 1)
        if at.v == 0:
            if self.others_through(view, at, ranges, count, need) > need:
                return 1
            if need == 0:
                return 0
        elif need == 0 and self.others(view, self.patterns.edge_at(at.v, ranges[0].first).next, min(at.k + 1, view.horizon), 0):
            return 1                # one character is enough, and mostly the first one will do
        return self.search(view, used, at)

    cdef int64_t others_through(self, const View* view, const Leaf* at, const Range* ranges, int count, int32_t need) except -1 nogil:
        """How many other texts go on by a character of these ranges; more than `need` are any number more."""
        cdef const Edge* edges
        cdef int32_t edge_count, i, k = min(at.k + 1, view.horizon)
        cdef int64_t first, last, total = 0
        cdef int j = 0
        edge_count = self.patterns.edges(at.v, &edges)
        for i in range(edge_count):
            while j < count and ranges[j].last < edges[i].first:
                j += 1
            while j < count and ranges[j].first <= edges[i].last:
                first, last = max(ranges[j].first, edges[i].first), min(ranges[j].last, edges[i].last)
                # at most 2**21 times 2**31, added to less than 2**31
                total += (last - first + 1) * self.others(view, edges[i].next, k, need)
                if total > need:
                    return total
                if ranges[j].last > edges[i].last:
                    break
                j += 1
        return total

    cdef int32_t others(self, const View* view, int32_t v, int32_t k, int32_t need) except -1 nogil:
        """How many texts besides the names go on from (v, k), with those that are taken; more than `need` are any number more."""
        cdef const Window* window
        cdef int64_t total = 0
        cdef int32_t i, near
        cdef uint64_t code
        cdef Probe probe
        cdef int32_t found
        cdef Count* memo = NULL
        if v == 0:
            for i in range(view.count):
                window = view.windows + i
                if window.high - k >= 2:        # SCALARS ** 2 texts
                    return MANY
                if window.high >= k:
                    total += (window.low <= k) + (<int64_t>SCALARS if window.high > k else 0)
            return <int32_t>total
        if need == 0:
            for i in range(view.count):
                window = view.windows + i
                if window.low <= k <= window.high:
                    near = self.patterns.nearest(window.goal, v)
                    if near >= 0 and (window.high == NO_BOUND or near <= window.high - k):
                        return 1
        code = hash_three(view.others, v, k)
        self.count_index.begin(code, &probe)
        while True:
            found = self.count_index.next(&probe)
            if found < 0:
                break
            memo = <Count*>self.counts.at(found)
            if memo.others == view.others and memo.v == v and memo.k == k:
                if memo.exact or memo.known > need:
                    return memo.known
                break
        for i in range(view.count):
            window = view.windows + i
            if window.high >= k:
                total += self.patterns.texts(window.goal, v, max(window.low - k, 0),
                                             NO_BOUND if window.high == NO_BOUND else window.high - k, need)
                if total > need:
                    break
        if found < 0:
            found = self.counts.add(1)
            memo = <Count*>self.counts.at(found)
            memo.others, memo.v, memo.k = view.others, v, k
            self.count_index.add(code, found)
        memo.known, memo.exact = <int32_t>min(total, <int64_t>MANY), total <= need
        return memo.known

    cdef bint may_end(self, const View* view, int32_t v, int32_t k) noexcept nogil:
        """Is a text that ends in (v, k), if it is no name, in the language?"""
        cdef int32_t i
        for i in range(view.count):
            if view.windows[i].low <= k <= view.windows[i].high:
                return self.patterns.meets(view.windows[i].goal, v)
        return False

    cdef int search(self, const View* view, int32_t used, const Leaf* at) except -1 nogil:
        """Liveness where few other texts are left, or in the middle of a character of a pattern. Allowed names are ruled out."""
        cdef Range ranges[MAX_RANGES]
        cdef int count = 0
        cdef Verdict verdict
        cdef Probe probe
        cdef uint64_t code
        cdef int32_t found, need
        cdef int64_t taken
        memset(&verdict, 0, sizeof(Verdict))
        verdict.leaf = at[0]
        if at.u >= 0 and self.used_names.begins(used, at.u):
            verdict.used = used
        else:
            verdict.leaf.u = -1
        code = hash_bytes(&verdict, sizeof(Leaf) + sizeof(int32_t))
        self.verdict_index.begin(code, &probe)
        while True:
            found = self.verdict_index.next(&probe)
            if found < 0:
                break
            if memcmp(self.verdicts.at(found), &verdict, sizeof(Leaf) + sizeof(int32_t)) == 0:
                return (<Verdict*>self.verdicts.at(found)).alive
        if at.pos:
            count = targets(at.pos, self.escapes, ranges)
        taken = self.taken(view, used, &verdict.leaf, ranges, count)
        need = <int32_t>min(taken, <int64_t>MANY - 1)
        if at.pos:
            verdict.alive = self.others_through(view, at, ranges, count, need) > need
        else:
            verdict.alive = self.others(view, at.v, at.k, need) > need
        found = self.verdicts.add(1)
        (<Verdict*>self.verdicts.at(found))[0] = verdict
        self.verdict_index.add(code, found)
        return verdict.alive

    cdef int push(self, size_t* length, int32_t d, int32_t u, int32_t v, int32_t k) except -1 nogil:
        cdef Leaf* larger
        if length[0] == self.stack_room:
            larger = <Leaf*>realloc(self.stack, (2 * length[0] + 64) * sizeof(Leaf))
            if larger == NULL:
                with gil:
                    raise MemoryError()
            self.stack, self.stack_room = larger, 2 * length[0] + 64
        larger = self.stack + length[0]
        larger.d, larger.u, larger.v, larger.k = d, u, v, k
        length[0] += 1
        return 0

    cdef int64_t taken(self, const View* view, int32_t used, const Leaf* at, const Range* ranges, int count) except -1 nogil:
        """How many names, declared or used, would be other texts; a name that is both counts once.

        `count` = 0: all that begin as `at`; else those that go on by a character of the ranges.
        """
        cdef size_t length = 0
        cdef int64_t total = 0
        cdef Leaf now
        cdef const NameNode* node
        cdef int32_t i, child, u
        cdef uint32_t char
        cdef bint top = True
        self.push(&length, at.d, at.u, at.v, at.k)
        while length:
            length -= 1
            now = self.stack[length]
            if not top or count == 0:
                if (now.d >= 0 and view.nodes[now.d].word >= 0 or now.u >= 0 and self.used_names.contains(used, now.u)) and \
                        self.may_end(view, now.v, now.k):
                    total += 1
            now.k = min(now.k + 1, view.horizon)
            if now.d >= 0:
                node = view.nodes + now.d
                for child in range(node.kids, node.kids + node.count):
                    char = view.nodes[child].char
                    if not top or count == 0 or within(char, ranges, count):
                        u = self.used_names.find(now.u, char) if now.u >= 0 else -1
                        if u >= 0 and not self.used_names.begins(used, u):
                            u = -1
                        self.push(&length, child, u, self.patterns.step(now.v, char), now.k)
            if now.u >= 0:
                u = self.used_names.node(now.u).kids
                while u >= 0:
                    char = self.used_names.node(u).char
                    if self.used_names.begins(used, u) and (now.d < 0 or kid(view.nodes, now.d, char) < 0) and \
                            (not top or count == 0 or within(char, ranges, count)):
                        self.push(&length, -1, u, self.patterns.step(now.v, char), now.k)
                    u = self.used_names.node(u).next
            top = False
        return total

    cdef bint plenty(self, int32_t view) except -1 nogil:
        cdef View* w = <View*>self.views.at(view)
        cdef int32_t need = PLENTY + w.names
        if w.plenty == NOT_KNOWN:
            with gil:
                try:
                    w.plenty = YES if self.others(w, w.v, 0, need) > need else NO
                except LimitError:          # too hard to count: nobody relies on a no
                    w.plenty = NO
        return w.plenty == YES

    cdef bint endless(self, int32_t view) noexcept nogil:
        cdef const View* w = <const View*>self.views.at(view)
        return w.v == 0 and w.count > 0 and w.windows[w.count - 1].high == NO_BOUND

    cdef object text(self, const Leaf* end):
        cdef const View* view
        if end.u >= 0:
            return self.used_names.text(end.u)
        view = <const View*>self.views.at(end.lang)
        if end.d < 0 or view.nodes[end.d].word < 0:
            return None
        return self.specs[view.language][0][view.nodes[end.d].word]

    # -- masks --------------------------------------------------------------------------------------------------------------

    cdef int mask_leaf(self, const Leaf* at, int32_t used, int32_t horizon, Leaf* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef const Window* window
        cdef const Near* near
        cdef int64_t far = 2        # SCALARS ** 2 texts, more than any number of names
        cdef int32_t i, low = 0
        out[0] = at[0]
        if at.u >= 0 and not self.used_names.begins(used, at.u):
            out.u = -1
        if view.v == 0 and at.d < 0 and out.u < 0:
            out.pos = plain(at.pos, self.escapes)
        if at.k >= view.horizon:
            return out.u >= 0
        for i in range(view.count):
            window = view.windows + i
            if at.k < window.low:
                # Before the window. Without patterns its distance alone counts; with them, which lengths fit.
                if view.v == 0 and far + at.k + horizon <= window.low:
                    out.k = low
                break
            if at.k <= window.high:
                if view.v:          # no end of any state that can follow is so far that the bound cuts it off
                    near = self.patterns.recall(window.goal, at.v)
                    if near == NULL or near.farthest < 0 or at.d >= 0 or out.u >= 0 or i + 1 < view.count:
                        break
                    far = near.farthest
                if far + at.k + horizon <= window.high:
                    out.k = window.low
                break
            low = window.high + 1
        return out.u >= 0

    cdef void looked(self, const Leaf* at, int32_t used, int32_t horizon, Leaf* out) noexcept nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef int32_t i
        out[0] = at[0]
        if at.u >= 0 and not self.used_names.begins(used, at.u):
            out.u = -1
        if view.v or at.pos or at.d >= 0 or out.u >= 0:
            return
        for i in range(view.count):
            if view.windows[i].low <= at.k <= view.windows[i].high:         # it may end here, and after each token while its bound is far
                self.mask_leaf(at, used, horizon, out)                      # it reads only

    cdef int split(self, const Leaf* at, int32_t used, Split* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef const Window* window
        cdef const Edge* edges
        cdef int32_t i
        cdef int64_t low = -1, high = -1        # of the lengths that may come, as far as they are one interval
        if at.pos != 0 or self.others(view, at.v, at.k, 0) == 0:
            return 0
        out.plain = at[0]
        out.plain.d = out.plain.u = -1
        out.plain.lang = view.plain
        out.apart = at.d >= 0 or at.u >= 0 and (used != 0 and self.used_names.begins(used, at.u))
        # No character leads to another state: what the patterns say is settled.
        out.free = self.escapes == 0 and self.patterns.edges(at.v, &edges) == 2 and edges[0].next == at.v and edges[1].next == at.v
        out.least, out.most = 0, 0
        for i in range(view.count):
            window = view.windows + i
            if window.high < at.k:
                continue
            if view.v and window.high != NO_BOUND:
                self.patterns.farthest(window.goal, at.v)       # mask_leaf() asks for it
            if out.free and self.patterns.meets(window.goal, at.v):
                if high >= 0 and window.low != high + 1:
                    out.free = False
                if low < 0:
                    low = window.low
                high = window.high
        if out.free:
            out.least = max(low - at.k, 0)
            out.most = <int64_t>1 << 40 if high == NO_BOUND else high - at.k
        return 1

    cdef int alike(self, const Leaf* at, Alike* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef const Edge* edges
        cdef int32_t target[TARGETS]            # different ones, of ASCII characters
        cdef int32_t many[TARGETS]              # how many characters lead there
        cdef int32_t byte, v, i, n = 0, most = 0, count, low, high
        cdef Leaf new = at[0]
        out.to, out.ascii[0], out.ascii[1], out.leads = at[0], 0, 0, 0
        if at.pos != 0 or at.d >= 0 or at.u >= 0:
            return 1
        new.k += new.k < view.horizon
        for byte in range(0x20, ASCII):
            if byte != 0x22 and byte != 0x5C:
                v, i = self.patterns.step(at.v, byte), 0
                while i < n and target[i] != v:
                    i += 1
                if i == n:
                    if n == TARGETS:
                        continue
                    target[i], many[i] = v, 0
                    n += 1
                many[i] += 1
        for i in range(n):
            new.v = target[i]
            if many[i] > most and self.alive_between(view, 0, &new):
                most, out.to = many[i], new
        if most == 0:
            return 1
        for byte in range(0x20, ASCII):
            if byte != 0x22 and byte != 0x5C and self.patterns.step(at.v, byte) == out.to.v:
                out.ascii[byte >> 6] |= <uint64_t>1 << (byte & 63)
        out.leads = LEADS
        count = self.patterns.edges(at.v, &edges)
        for i in range(count):
            if edges[i].last >= ASCII and edges[i].next != out.to.v:
                low = first_byte(max(edges[i].first, <uint32_t>ASCII)) - 0xC0
                high = first_byte(edges[i].last) - 0xC0
                out.leads &= ~((<uint64_t>2 << high) - (<uint64_t>1 << low))
        return 1

    cdef bint roams(self, const Leaf* at) noexcept nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef const List* vector
        if self.escapes or at.pos != 0 or at.d >= 0 or at.u >= 0 or at.v == 0 or view.count != 1 or view.windows.high != NO_BOUND:
            return False
        vector = self.patterns.vectors.at(at.v)
        return vector.count == 1 and self.patterns.must_hold(view.windows.goal) and self.patterns.terms.term(vector.items[0]).roams

    cdef object content(self, const Leaf* at):
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef const Window* window
        cdef const List* vector
        cdef const List* goal
        cdef const List* accept
        cdef int32_t i, j, k
        cdef list windows = [], accepts, digests = []
        if at.pos != 0 or at.d >= 0 or at.u >= 0:
            return None
        if at.v:
            vector = self.patterns.vectors.at(at.v)
            digests = [self.patterns.regexes.digest(vector.items[i]) for i in range(vector.count)]
        for i in range(view.count):
            window = view.windows + i
            if window.high < at.k:
                continue
            goal = self.patterns.goals.at(window.goal)
            accepts = []
            for j in range(goal.count):
                accept = self.patterns.accepts.at(goal.items[j])
                accepts.append(tuple([accept.items[k] for k in range(accept.count)]))
            accepts.sort()
            windows.append((max(window.low - at.k, 0), None if window.high == NO_BOUND else window.high - at.k, tuple(accepts)))
        return tuple(digests), tuple(windows), self.escapes

    cdef int telling(self, const Leaf* at, uint64_t* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        cdef int32_t i
        cdef uint8_t byte
        if at.pos != 0:
            for i in range(4):
                out[i] = ~<uint64_t>0
            return 0
        out[0], out[1], out[2], out[3] = <uint64_t>1 << 0x22, <uint64_t>1 << (0x5C - 64), 0, 0
        put_kids(view, at.d, out)
        i = self.used_names.node(at.u).kids if at.u >= 0 else -1
        while i >= 0:
            byte = first_byte(self.used_names.node(i).char)
            out[byte >> 6] |= <uint64_t>1 << (byte & 63)
            i = self.used_names.node(i).next
        return 0

    cdef void may_come(self, const Leaf* at, uint64_t* out) noexcept nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        if at.pos != 0 or view.count or at.d < 0:
            out[0] = out[1] = out[2] = out[3] = ~<uint64_t>0
            return
        out[0], out[1], out[2], out[3] = 0, <uint64_t>1 << (0x5C - 64), 0, 0
        if view.nodes[at.d].word >= 0:
            out[0] = <uint64_t>1 << 0x22
        put_kids(view, at.d, out)

    cdef int later(self, const Leaf* at, int32_t n, Leaf* out) except -1 nogil:
        cdef const View* view = <const View*>self.views.at(at.lang)
        out[0] = at[0]
        out.k = <int32_t>min(<int64_t>at.k + n, <int64_t>view.horizon)
        return 0

    # -- from Python --------------------------------------------------------------------------------------------------------

    cdef int read(self, bytes leaf, Leaf* out) except -1:
        """A leaf as Python holds it, checked as far as memory safety needs it."""
        cdef const View* view
        if len(leaf) != sizeof(Leaf):
            raise ValueError(f"a leaf has {sizeof(Leaf)} bytes, not {len(leaf)}")
        memcpy(out, <const char*>leaf, sizeof(Leaf))
        if 0 <= out.lang < self.views.length:
            view = <const View*>self.views.at(out.lang)
            if -1 <= out.d and (out.d < 0 or view.names) and -1 <= out.u < self.used_names.nodes.length and \
                    0 <= out.v < self.patterns.joints.length and 0 <= out.k <= view.horizon and out.pos >= 0:
                return 0
        raise ValueError("no leaf of this store")

    cdef int check_used(self, int used) except -1:
        if not 0 <= used < self.used_names.sets.length:
            raise ValueError(f"there is no set of used names {used}")
        return 0

    def begin(self, int view, int used=0):
        """The leaf just behind the opening quote of a string, or None where no text is left.

        Parameters
        ----------
        view : int
        used : int
            A set of used names; 0: none.
        """
        cdef Leaf leaf
        self.check_used(used)
        if not 0 <= view < self.views.length:
            raise ValueError(f"there is no view {view}")
        return (<char*>&leaf)[:sizeof(Leaf)] if self.start(view, used, &leaf) else None

    def step_leaf(self, bytes leaf not None, int byte, int used=0, bint grow=False):
        """One byte: ``(0, None)`` dead, ``(1, leaf)`` alive, ``(2, leaf)`` the closing quote of a text of the view."""
        cdef Leaf at
        cdef int step
        self.read(leaf, &at)
        self.check_used(used)
        if not 0 <= byte <= 255:
            raise ValueError(f"a byte is 0..255, not {byte}")
        step = self.step(&at, used, <uint8_t>byte, grow, &at)
        return step, (<char*>&at)[:sizeof(Leaf)] if step != DEAD else None

    def feed(self, bytes leaf not None, bytes data not None, int used=0, bint grow=False):
        """The leaf after these bytes, all of them inside the string; None where they lead to no text."""
        cdef Leaf at
        cdef uint8_t byte
        self.read(leaf, &at)
        self.check_used(used)
        for byte in data:
            if self.step(&at, used, byte, grow, &at) != ALIVE:
                return None
        return (<char*>&at)[:sizeof(Leaf)]

    def outcome_at(self, bytes leaf not None, int used=0):
        """The outcome if the string ends here, > 0; 0 where it may not."""
        cdef Leaf at
        self.read(leaf, &at)
        self.check_used(used)
        return self.outcome(&at, used)

    def use_at(self, int used, bytes leaf not None):
        """The set with the text that ends here; -2 where it was read without ``grow``."""
        cdef Leaf at
        self.read(leaf, &at)
        self.check_used(used)
        return self.use(used, &at)

    def names_used(self, int used):
        """The texts of a set of used names, as a list of str.

        Examples
        --------
        >>> Strings(None, Budget(1 << 20, "example")).names_used(0)
        []
        """
        cdef int32_t node, at
        cdef list out = [], todo = [0]
        self.check_used(used)
        while todo:
            node = todo.pop()
            if self.used_names.contains(used, node):
                out.append(self.used_names.text(node))
            node = self.used_names.node(node).kids
            while node >= 0:
                if self.used_names.begins(used, node):
                    todo.append(node)
                node = self.used_names.node(node).next
        return out

    def mask_leaf_at(self, bytes leaf not None, int used, int horizon):
        """``(leaf, matters)``: the representative for the next ``horizon`` characters; may used names still matter?"""
        cdef Leaf at
        self.read(leaf, &at)
        self.check_used(used)
        matters = self.mask_leaf(&at, used, horizon, &at)
        return (<char*>&at)[:sizeof(Leaf)], bool(matters)

    def split_at(self, bytes leaf not None, int used=0):
        """``(plain leaf, names tell it apart, (fewest, most characters to come) or None)``; None: walk the trie. See `split`."""
        cdef Leaf at
        cdef Split split
        self.read(leaf, &at)
        self.check_used(used)
        if not self.split(&at, used, &split):
            return None
        return ((<char*>&split.plain)[:sizeof(Leaf)], bool(split.apart), (split.least, split.most) if split.free else None)

    def has_plenty(self, int view):
        """Are there more texts besides the names than any document can use up? False where it is too hard to tell, too."""
        if not 0 <= view < self.views.length:
            raise ValueError(f"there is no view {view}")
        return bool(self.plenty(view))

    def later_at(self, bytes leaf not None, int characters):
        """The leaf after so many more characters, where they do not matter but by their number."""
        cdef Leaf at
        self.read(leaf, &at)
        self.later(&at, characters, &at)
        return (<char*>&at)[:sizeof(Leaf)]

    # -- endings ------------------------------------------------------------------------------------------------------------

    def shortest(self, bytes leaf not None, int used=0, outcome=None):
        """The rest of a string with the fewest characters, closing quote included.

        Parameters
        ----------
        leaf : bytes
            An alive place inside a string.
        used : int
            A set of used names.
        outcome : int, optional
            End with this outcome.

        Returns
        -------
        bytes
            JSON text. Among equally short ones, one that is easy to read.

        Raises
        ------
        ValueError
            There is none.
        LimitError
            It has more than 2**24 characters.
        """
        cdef Leaf at
        cdef const View* view
        self.read(leaf, &at)
        self.check_used(used)
        view = <const View*>self.views.at(at.lang)
        if outcome is not None:
            at.lang = self.view(view.language, 1 << outcome)
            view = <const View*>self.views.at(at.lang)
            at.k = min(at.k, view.horizon)
        if not self.alive(view, used, &at):
            raise ValueError("no text is left")
        name = self.nearest_name(view, &at)
        other = self.nearest_other(view, used, &at, -1 if name is None else <int64_t>len(name))
        text = name if other is None else other
        if at.pos:
            out = [ending(at.pos, ord(text[0]), self.escapes)]
            text = text[1:]
        else:
            out = []
        return b"".join(out + [ending(0, ord(c), self.escapes) for c in text] + [b'"'])

    cdef nearest_name(self, const View* view, const Leaf* at):
        """The rest of the shortest allowed name that begins so, or None."""
        cdef Range ranges[MAX_RANGES]
        cdef int count = targets(at.pos, self.escapes, ranges) if at.pos else 0
        cdef int32_t i, depth = 0, node = ROOT, best = -1
        if at.d < 0 or view.allowed == NULL:
            return None
        texts = self.specs[view.language][0]
        first = texts[view.nodes[at.d].low]
        while node != at.d:
            node = kid(view.nodes, node, ord(first[depth]))
            depth += 1
        for i in range(view.nodes[at.d].low, view.nodes[at.d].high):
            if view.allowed[i >> 6] >> (i & 63) & 1 and (best < 0 or len(texts[i]) < len(texts[best])):
                if count == 0 or len(texts[i]) > depth and within(ord(texts[i][depth]), ranges, count):
                    best = i
        return None if best < 0 else texts[best][depth:]

    cdef nearest_other(self, const View* view, int32_t used, const Leaf* at, int64_t limit):
        """The rest of the shortest text that is no name, if it has fewer characters than `limit` (-1: any number)."""
        cdef Range ranges[MAX_RANGES]
        cdef int count = targets(at.pos, self.escapes, ranges) if at.pos else 0
        cdef int32_t d, u, v, k, child, edge_count, i
        cdef const Edge* edges
        cdef int64_t best = limit, rest
        cdef uint32_t char
        cdef list queue = [(at.d, at.u if used else -1, at.v, at.k, -1, 0)]    # state, the place it came from, its depth
        cdef list chars = [None]
        cdef set seen = set()
        cdef Py_ssize_t place = 0
        found = None
        if view.count == 0:
            return None
        while place < len(queue):
            d, u, v, k, _, depth = queue[place]
            if 0 <= best <= depth:
                break
            top = place == 0 and count > 0
            special = {}
            if d >= 0:
                for child in range(view.nodes[d].kids, view.nodes[d].kids + view.nodes[d].count):
                    special[view.nodes[child].char] = child, -1
            if u >= 0:
                child = self.used_names.node(u).kids
                while child >= 0:
                    if self.used_names.begins(used, child):
                        char = self.used_names.node(child).char
                        special[char] = special.get(char, (-1, -1))[0], child
                    child = self.used_names.node(child).next
            if not top and self.may_end(view, v, k) and not (d >= 0 and view.nodes[d].word >= 0) and \
                    not (u >= 0 and self.used_names.contains(used, u)):
                best, found = depth, (place, None, 0, 0, 0)
                break
            k = min(k + 1, view.horizon)
            edge_count = self.patterns.edges(v, &edges)
            for i in range(edge_count):
                rest = self.rest_of_others(view, edges[i].next, k)
                if rest >= 0 and (best < 0 or depth + 1 + rest < best):
                    c = easiest([(edges[i].first, edges[i].last)] if not top else
                                [(max(edges[i].first, ranges[j].first), min(edges[i].last, ranges[j].last)) for j in range(count)],
                                special)
                    if c is not None:
                        best, found = depth + 1 + rest, (place, c, edges[i].next, k, rest)
            for char, (d, u) in special.items():
                if not top or within(char, ranges, count):
                    v = self.patterns.step(queue[place][2], char)
                    if (d, u, v, k) not in seen:
                        seen.add((d, u, v, k))
                        queue.append((d, u, v, k, place, depth + 1))
                        chars.append(char)
            place += 1
        if found is None:
            return None
        place, c, v, k, rest = found
        tail = [] if c is None else [c] + self.rest_text(view, v, k, rest)
        head = []
        while place > 0:
            head.append(chars[place])
            place = queue[place][4]
        return "".join(map(chr, head[::-1] + tail))

    cdef int64_t rest_of_others(self, const View* view, int32_t v, int32_t k) except -2:
        """Characters of a shortest text, names left out of account; -1: none."""
        cdef const Window* window
        cdef int64_t rest, best = -1
        cdef int32_t i
        for i in range(view.count):
            window = view.windows + i
            if window.high >= k:
                rest = self.patterns.fit(window.goal, v, max(window.low - k, 0))
                if rest >= 0 and (window.high == NO_BOUND or rest <= window.high - k) and (best < 0 or rest < best):
                    best = rest
        return best

    cdef list rest_text(self, const View* view, int32_t v, int32_t k, int64_t length):
        """The characters of such a text of this length."""
        cdef Edge* edges
        cdef int32_t i
        cdef list out = []
        if length > LONGEST_WRITTEN:
            raise LimitError(f"the shortest ending of a string has {length:,} characters; the limit is {LONGEST_WRITTEN:,}")
        if v == 0:
            return [ord("a")] * length
        edges = <Edge*>realloc(NULL, (<size_t>length + 1) * sizeof(Edge))
        if edges == NULL:
            raise MemoryError()
        try:
            for i in range(view.count):
                if view.windows[i].low <= k + length <= view.windows[i].high and \
                        self.patterns.fit(view.windows[i].goal, v, <int32_t>length) == length:
                    self.patterns.path(view.windows[i].goal, v, <int32_t>length, edges)
                    for i in range(<int32_t>length):
                        out.append(easiest([(edges[i].first, edges[i].last)], {}))
                    break
        finally:
            free(edges)
        return out


cdef object EASY = [(0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0x80, 0x10FFFF), (0, 0x7F)]


cdef object easiest(ranges, special):
    """A character of the ranges that is not special, one that is easy to read and short to write; None: there is none."""
    for low, high in EASY:
        for first, last in ranges:
            for c in range(max(low, first), min(high, last) + 1):
                if c not in special:
                    return c
    return None
