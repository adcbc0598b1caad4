"""JSON numbers under exact conditions: see number.pxd for the layout.

What a lexeme must have (`llgcy.schema.numbers.NumberLexeme` is one; equal lexemes are one language):

    start() -> state or None    step(state, byte) -> state or None    accepts(state) -> frozenset    shortest(state) -> bytes
    split(state) -> (shape, code, size)     the state is number `code` of `size` that have this shape
    join(shape, code) -> state              the way back
    loop(shape) -> (modulus, zeros) or None whether digits stay in this shape, see Span.modulus

States are hashable. Most languages have a handful, and get a record each. Multiples of 123456789 have as many residues as that,
and nearly every token of a mask leads to another: their handles are computed from the residue, nothing is stored, and only a
table of fixed size remembers what was asked. So in plain spelling memory does not grow with the numbers that are written, nor
do answers depend on what was asked before.

What is left to the byte budget (LimitError): a state whose shape finds no room for its residues in an int32, as with divisors beyond
2**31 or with many places inside bounds of a large divisor; and spellings with exponents, whose shapes count the digits of the text where
bounds or divisors make them matter, so one record for each such count and residue class that occurs.
"""
cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from llgcy.core.lock cimport atomic_load, atomic_store
from llgcy.core.store cimport mix

from llgcy.errors import LimitError

cdef enum:
    UNKNOWN = 0
    NOWHERE = 1                 # in Single.next
    OTHER = BYTE_CLASSES        # class of the bytes that are in no number
    FEW = 4096                  # states of one shape up to this many get records
    ANSWERS = 1 << 14           # of the table, a power of two
    STATE_BYTES = 1024          # what a state costs as a Python object, in the dict and the list

cdef uint8_t CLASS[256]


cdef void fill_classes() noexcept:
    cdef int i
    cdef const char* others = b"-+.eE"
    for i in range(256):
        CLASS[i] = OTHER
    for i in range(10):
        CLASS[c'0' + i] = <uint8_t>i
    for i in range(5):
        CLASS[<uint8_t>others[i]] = <uint8_t>(10 + i)


fill_classes()
BYTES = b"0123456789-+.eE"      # by class


cdef inline int32_t after_digit(const Span* span, int32_t state, int32_t digit) noexcept nogil:
    """The state of the same Span after one more digit: residues.append and residues.reduce in 64 bits."""
    cdef int32_t code = state - span.base
    cdef int32_t z = code // span.modulus
    cdef uint64_t rho = code % span.modulus
    if digit:
        for _ in range(z + 1):
            rho = rho * 10 % <uint64_t>span.modulus
        rho = (rho + <uint64_t>digit) % <uint64_t>span.modulus
        z = 0
    elif z < span.zeros:
        z += 1
    else:
        rho = rho * 10 % <uint64_t>span.modulus
    return span.base + z * span.modulus + <int32_t>rho


cdef inline Answer* slot(Answer* answers, int32_t language, int32_t state, int32_t question) noexcept nogil:
    return &answers[mix((<uint64_t>language << 36) ^ (<uint64_t>state << 4) ^ <uint64_t>question) & (ANSWERS - 1)]


@cython.final
cdef class Numbers:
    """The number languages of one compiled grammar.

    Parameters
    ----------
    budget : Budget
        Pays for records; LimitError where it does not suffice.

    Examples
    --------
    >>> from llgcy.core.store import Budget
    >>> from llgcy.schema.numbers import NumberLexeme
    >>> numbers = Numbers(Budget(1 << 20, "the grammar"))
    >>> integers = numbers.language(NumberLexeme((("int",),)))
    >>> numbers.follow(integers, b"-12") > 0, numbers.follow(integers, b"1.")
    (True, 0)
    """

    def __cinit__(self, Budget budget not None):
        self.budget = budget
        self.languages = Arena(budget, sizeof(Language))
        self.singles = Arena(budget, sizeof(Single))
        self.spans = Arena(budget, sizeof(Span))
        self.singles.add(2)     # 0 and NOWHERE are no states
        self.lexemes, self.sets, self.states, self.shapes, self.known = [], [], [None, None], [], {}

    def __dealloc__(self):
        if self.answers != NULL:
            free(self.answers)
            self.budget.give(ANSWERS * sizeof(Answer))

    def language(self, lexeme not None):
        """The language of a lexeme, an int from 0. Equal lexemes are one language."""
        cdef int32_t language
        cdef Language* at
        found = self.known.get(lexeme)
        if found is not None:
            return found
        language = self.languages.add(1)
        at = <Language*>self.languages.at(language)
        at.spans = -1
        at.coded = FIRST_CODED
        self.lexemes.append(lexeme)
        self.sets.append([])
        state = lexeme.start()
        if state is not None:
            at.start = self.handle(language, state)
        self.known[lexeme] = language
        return language

    def outcomes(self, int32_t language):
        """The sets of alternatives met so far at the end of numbers, as frozensets of indexes; a list that grows at its end."""
        self.check_language(language)
        return self.sets[language]

    def follow(self, int32_t language, bytes text not None):
        """The state after a text, 0 where no number goes on so."""
        cdef int32_t state
        cdef uint8_t byte
        self.check_language(language)
        state = self.start(language)
        for byte in text:
            if state == 0:
                break
            state = self.step(language, state, byte)
        return state

    def ends(self, int32_t language, int32_t state):
        """The alternatives that a number which ends in this state meets; empty if none may."""
        cdef int32_t found
        self.check(language, state)
        found = self.outcome(language, state)
        return self.sets[language][found - 1] if found else frozenset()

    def shortest(self, int32_t language, int32_t state):
        """The bytes of a shortest completion."""
        self.check(language, state)
        return self.lexemes[language].shortest(self.state_of(language, state))

    def stats(self):
        """Counts: ``languages``, ``states`` with records, ``spans`` of states without."""
        return {"languages": len(self.lexemes), "states": len(self.states) - 2, "spans": len(self.shapes)}

    cdef int32_t start(self, int32_t language) except -1 nogil:
        return (<Language*>self.languages.at(language)).start

    cdef int32_t step(self, int32_t language, int32_t state, uint8_t byte) except -1 nogil:
        cdef int32_t byte_class = CLASS[byte]
        cdef int32_t known
        cdef const Span* span
        cdef Answer* answer
        if byte_class == OTHER:
            return 0
        if state < FIRST_CODED:
            known = (<Single*>self.singles.at(state)).next[byte_class]
            if known == UNKNOWN:
                with gil:
                    known = self.ask_step(language, state, byte_class)
                atomic_store(&(<Single*>self.singles.at(state)).next[byte_class], known if known else NOWHERE)
                return known
            return 0 if known == NOWHERE else known
        span = <const Span*>self.spans.at(self.span_of(language, state))
        if span.modulus > 0 and byte_class < 10:
            return after_digit(span, state, byte_class)
        answer = slot(self.answers, language, state, byte_class)
        if answer.language != language or answer.state != state or answer.question != byte_class:
            with gil:
                known = self.ask_step(language, state, byte_class)
            answer[0] = Answer(language, state, byte_class, known)
        return answer.answer

    cdef int32_t outcome(self, int32_t language, int32_t state) except -1 nogil:
        cdef int32_t known
        cdef Answer* answer
        if state < FIRST_CODED:
            known = (<Single*>self.singles.at(state)).outcome
            if known == UNKNOWN:
                with gil:
                    known = 1 + self.ask_outcome(language, state)
                atomic_store(&(<Single*>self.singles.at(state)).outcome, known)
            return known - 1
        answer = slot(self.answers, language, state, OTHER)
        if answer.language != language or answer.state != state or answer.question != OTHER:
            with gil:
                known = self.ask_outcome(language, state)
            answer[0] = Answer(language, state, OTHER, known)
        return answer.answer

    cdef int32_t ready_step(self, int32_t language, int32_t state, uint8_t byte) noexcept nogil:
        cdef int32_t byte_class = CLASS[byte], known
        if byte_class == OTHER:
            return 0
        if state >= FIRST_CODED:
            return -1
        known = atomic_load(&(<Single*>self.singles.at(state)).next[byte_class])
        return -1 if known == UNKNOWN else 0 if known == NOWHERE else known

    cdef int32_t ready_outcome(self, int32_t language, int32_t state) noexcept nogil:
        if state >= FIRST_CODED:
            return -1
        return atomic_load(&(<Single*>self.singles.at(state)).outcome) - 1

    cdef int32_t span_of(self, int32_t language, int32_t state) except -1 nogil:
        # a short list, the one with the highest handles first: large residues soon fill an int32
        cdef int32_t at = (<Language*>self.languages.at(language)).spans
        while at >= 0 and (<Span*>self.spans.at(at)).base > state:
            at = (<Span*>self.spans.at(at)).next
        if at < 0:
            with gil:
                raise ValueError(f"{state} is no state of number language {language}")
        return at

    cdef int32_t ask_step(self, int32_t language, int32_t state, int32_t byte_class) except -1:
        after = self.lexemes[language].step(self.state_of(language, state), BYTES[byte_class])
        return 0 if after is None else self.handle(language, after)

    cdef int32_t ask_outcome(self, int32_t language, int32_t state) except -1:
        met = self.lexemes[language].accepts(self.state_of(language, state))
        if not met:
            return 0
        found = self.known.get((language, met))
        if found is None:
            self.sets[language].append(met)
            found = self.known[language, met] = len(self.sets[language])
        return found

    cdef int32_t handle(self, int32_t language, object state) except -1:
        """The handle of a lexeme's state, made if there is none."""
        cdef int32_t made
        shape, code, size = self.lexemes[language].split(state)
        if size > FEW:
            made = self.coded(language, shape, code, size) if size < 1 << 31 else 0
            if made:
                return made
        found = self.known.get((language, state))
        if found is not None:
            return found
        if self.singles.length >= FIRST_CODED:
            raise LimitError(f"the numbers of one grammar have more than {FIRST_CODED:,} states")
        self.budget.take(STATE_BYTES)
        made = self.singles.add(1)
        (<Single*>self.singles.at(made)).language = language
        self.states.append(state)
        self.known[language, state] = made
        return made

    cdef int32_t coded(self, int32_t language, object shape, int32_t code, int32_t size) except -1:
        """The handle of a state without a record; 0 where int32 has no room for its shape."""
        cdef Language* at = <Language*>self.languages.at(language)
        cdef Span* span
        cdef int32_t made
        found = self.known.get((language, shape, None))
        if found is not None:
            return (<Span*>self.spans.at(found)).base + code
        if size > 0x7fffffff - at.coded:
            return 0
        if self.answers == NULL:
            self.budget.take(ANSWERS * sizeof(Answer))
            self.answers = <Answer*>malloc(ANSWERS * sizeof(Answer))
            if self.answers == NULL:
                self.budget.give(ANSWERS * sizeof(Answer))
                raise MemoryError()
            for i in range(ANSWERS):
                self.answers[i] = Answer(-1, 0, 0, 0)
        self.budget.take(STATE_BYTES)
        made = self.spans.add(1)
        span = <Span*>self.spans.at(made)
        span.language, span.base, span.size, span.next = language, at.coded, size, at.spans
        loop = self.lexemes[language].loop(shape)
        if loop is not None:
            span.modulus, span.zeros = loop
        self.shapes.append(shape)
        self.known[language, shape, None] = made
        at.coded += size
        at.spans = made
        return span.base + code

    cdef object state_of(self, int32_t language, int32_t state):
        cdef int32_t at
        if state < FIRST_CODED:
            return self.states[state]
        at = self.span_of(language, state)
        return self.lexemes[language].join(self.shapes[at], state - (<Span*>self.spans.at(at)).base)

    cdef int check_language(self, int32_t language) except -1:
        if not 0 <= language < len(self.lexemes):
            raise ValueError(f"{language} is no number language")
        return 0

    cdef int check(self, int32_t language, int32_t state) except -1:
        """Whether a state that Python passed in is one of the language."""
        self.check_language(language)
        if (not FIRST_CODED <= state < (<Language*>self.languages.at(language)).coded
                and not (NOWHERE < state < self.singles.length and (<Single*>self.singles.at(state)).language == language)):
            raise ValueError(f"{state} is no state of number language {language}")
        return 0
