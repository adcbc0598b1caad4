"""A JSON Schema as an automaton that the JSON machine drives: what may come next, and where it leads.

Values, open objects and open arrays are small ints, made on demand; every answer depends on the ids asked about alone.
"""
import functools
from typing import Any, NamedTuple, Optional

from llgcy.core.regex import Regexes
from llgcy.errors import LimitError, UnsatisfiableError
from llgcy.schema.arrays import Items
from llgcy.schema.empty import Emptiness
from llgcy.schema.endings import Endings
from llgcy.schema.formula import (ARRAY, FALSE, FALSE_LITERAL, NULL, NUMBER, OBJECT, STRING, TRUE_LITERAL, Formulas,
                                  spellable)
from llgcy.schema.hopeful import Hopeful
from llgcy.schema.notes import LENIENT, STRICT, Notes
from llgcy.schema.numbers import NumberLexeme
from llgcy.schema.objects import Keys
from llgcy.schema.options import Options
from llgcy.schema.places import Places
from llgcy.schema.order import Order
from llgcy.schema.read import read_json
from llgcy.schema.resolve import Resolver
from llgcy.schema.states import Arrays, ObjectKind
from llgcy.schema.strings import StringSpec, Texts
from llgcy.schema.translate import Translator
from llgcy.schema.values import Values


#: See `ArrayShape.possible`.
ANY_KIND = 0b11111
#: See `Automaton.watch`.
WATCHED, BESIDE = 1, 2


class ValueShape(NamedTuple):
    """What some values, alternatives side by side, may begin with. Index i is the i-th value asked about.

    Attributes
    ----------
    null, true, false : tuple of int
        The alternatives that allow the literal.
    string : StringSpec or None
        The strings that any of them allows.
    string_outcomes : list of tuple of int
        By outcome of `string`, the alternatives that allow the text.
    number : NumberLexeme or None
        Its formula i belongs to ``number_alternatives[i]``.
    number_alternatives : tuple of int
    object, array : tuple of (int, int)
        (id of the open container, alternative).
    """

    null: tuple
    true: tuple
    false: tuple
    string: Optional[StringSpec]
    string_outcomes: list
    number: Optional[NumberLexeme]
    number_alternatives: tuple
    object: tuple
    array: tuple


class ObjectShape(NamedTuple):
    """What may come inside ``{``.

    Attributes
    ----------
    keys : StringSpec
        All keys, with their outcomes; the same for all states of one object.
    allowed : int
        Set of the outcomes that may come now: bit o for outcome o.
    end : tuple of int
        The alternatives that may end here.
    extra : int
        Set of the outcomes that do not determine the name.
    """

    keys: StringSpec
    allowed: int
    end: tuple
    extra: int


class ArrayShape(NamedTuple):
    """What may come inside ``[``.

    Attributes
    ----------
    end : tuple of int
        The alternatives that may end here.
    items : tuple of (int, tuple of (int, int))
        Values that the next item may have, each with (id of the array after it, alternative); empty: no item may follow.
        The ids are those after the last item of the run.
    run : int
        So many items leave everything as it is: each has the same values and the same may follow. Only the item behind them
        leads to the ids in `items`. So a bound far away makes no ids on the way.
    loose, possible : int
        Where it matters which values the items have: what the next item may begin with whatever the item before it was (a set of
        1 << kind, of `formula`, and as `supply.Supply.beginnings` has it); and kinds of which it may be at all (bit 0: literals).
    """

    end: tuple
    items: tuple
    run: int
    loose: int
    possible: int


def placed(kind):
    """Gives a limit that an answer meets the place in the schema of the ids that are asked about: of values (None), objects or arrays."""
    def decorate(method):
        @functools.wraps(method)
        def answer(self, ids, *arguments, **named):
            try:
                return method(self, ids, *arguments, **named)
            except LimitError as e:
                raise self.located(e, kind, (ids,) if ids.__class__ is int else ids) from None
        return answer
    return decorate


class Automaton:
    """A schema, compiled as far as its reading goes; the rest is worked out where it is first asked for.

    Parameters
    ----------
    schema : dict, bool, str or bytes
        The schema, or its JSON text.
    options : Options, optional
    validating : bool
        For texts that are finished: no proof that any value is valid, and where the search for one is too long, texts go on and
        are refused at their end.
    notes : Notes, optional
        Where reading puts what is worth telling; by default, such as tolerate what the options say.

    Attributes
    ----------
    start : int
        Id of the whole document's value.
    regexes : Regexes
        Over "chars"; the patterns of string specs are its terms.
    warnings : list of str
        What the schema says in vain: unknown formats, keywords of other drafts.

    Raises
    ------
    GrammarError
        The schema is malformed, or a reference leads nowhere.
    UnsupportedKeywordError
        It has a keyword or format that is not enforced.
    UnsatisfiableError
        No value is valid (not where ``validating``).
    LimitError

    Examples
    --------
    >>> a = Automaton({"type": "array", "items": {"const": 1}, "minItems": 2})
    >>> a.value_ending(a.start)
    b'[1,1]'
    """

    def __init__(self, schema: Any, options: Options = Options(), validating: bool = False, notes: Optional[Notes] = None):
        if isinstance(schema, (str, bytes, bytearray)):
            schema = read_json(schema)
        self.options, self.notes = options, notes or Notes(LENIENT if options.lenient else STRICT)
        self.regexes = Regexes("chars")
        self.texts = Texts(self.regexes)
        self.formulas = self.texts.formulas = Formulas(self.texts.matches)
        self.places = Places(self.formulas)
        self.resolver = Resolver(schema, options, self.notes)
        translator = Translator(self.resolver, self.formulas, self.texts, options, self.notes, self.places)
        top = translator.translate(schema)
        self.patterns = translator.patterns
        self.lexemes = {}
        items = Items(self.formulas)
        self.items_seen = Values(self.formulas)
        self.solver = (Hopeful if validating else Emptiness)(self.formulas, self.texts, items, self.lexeme, self.items_seen, self.places)
        self.order = Order(self._matches) if options.property_order == "schema" else None
        self.arrays = Arrays(items, self.solver, self.order, self.items_seen)
        self.endings = Endings(self.solver, self.order)
        self.objects, self.kinds, self.keys, self.specs = [], {}, {}, {}
        self.values, self.numbers = [], {}
        value = top if isinstance(top, int) else top.value
        if not validating:
            self.prove(value)
        self.start = self._value(value, self.order.place(top) if self.order is not None else None)
        self.warnings = self.notes.warnings

    def prove(self, value):
        """Raises an error where no value is valid, or where it is too hard to tell."""
        try:
            inhabited = self.solver.inhabited(value)
        except LimitError as e:
            raise LimitError(e.message, pointer=e.pointer or "") from None
        if not inhabited:
            raise UnsatisfiableError("no value is valid by this schema", pointer="")

    # ------------------------------------------------------------------------------------------------ ids
    def _matches(self, node, text, name):
        return self.formulas.holds_text(self.patterns[text], name)

    def lexeme(self, formulas):
        """The lexeme of some number formulas, in the spelling asked for."""
        found = self.lexemes.get(formulas)
        if found is None:
            fs, spelling = self.formulas, self.options.number_spelling
            if any(fs.nodes[a][0] == "digits" for f in formulas for a in fs.support(f)):
                # the integers of draft 4, which digits alone spell; plain spelling takes those of other drafts to be the same
                spelling = "digits" if spelling == "any" else spelling
            found = self.lexemes[formulas] = NumberLexeme(tuple(fs.number_tuple(f, spelling == "digits") for f in formulas), spelling)
        return found

    def located(self, error, kind, ids):
        """A `LimitError` about values (`kind` None), objects or arrays with these ids, with their place in the schema; see `Places.located`."""
        if kind is None:
            questions = [self.values[i][0] for i in ids]
        elif kind == OBJECT:
            questions = [(OBJECT, self.objects[i].kind.keys.roots) for i in ids]
        else:
            states = [self.arrays.states[i] for i in ids]
            questions = [(ARRAY, (*state.rules.units, state.residual)) for state in states]
        return self.places.located(error, questions)

    def _value(self, v, place):
        v = self.formulas.aliases.get(v, v)
        _, _, _, object, array = self.formulas.values[v]
        if object == FALSE and array == FALSE:
            place = None
        key = v, place
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.values)
            self.values.append(key)
        return found

    def _grouped(self, moves):
        """Moves (value formula, place, state, alternative) as the shapes give them."""
        found = {}
        for v, place, state, i in moves:
            found.setdefault(self._value(v, place), []).append((state.id, i))
        return tuple((value, tuple(after)) for value, after in found.items())

    # ------------------------------------------------------------------------------------------------ values
    @placed(None)
    def value_shape(self, values):
        """What the values with these ids may begin with: a `ValueShape`."""
        fs = self.formulas
        entries = [self.values[i] for i in values]
        rows = [fs.values[v] for v, _ in entries]
        place = entries[0][1]
        literals = [tuple(i for i, row in enumerate(rows) if row[0] & bit) for bit in (NULL, TRUE_LITERAL, FALSE_LITERAL)]
        string, outcomes = self._string(tuple(row[STRING] for row in rows))
        numbers = [(i, row[NUMBER]) for i, row in enumerate(rows) if self.solver.some_number(row[NUMBER])]
        number = self.lexeme(tuple(f for _, f in numbers)) if numbers else None
        objects, arrays = [], []
        for i, row in enumerate(rows):
            if row[OBJECT] != FALSE and self.solver.inhabited(fs.value(object=row[OBJECT])):
                objects.append((i, row[OBJECT]))
            if row[ARRAY] != FALSE and self.solver.inhabited(fs.value(array=row[ARRAY])):
                arrays.append((i, row[ARRAY]))
        if objects:
            place = next((p for _, p in entries if p is not None), None)
            kind = self._object_kind(tuple(dict.fromkeys(f for _, f in objects)), place)
            objects = [(kind.start(f).id, i) for i, f in objects]
        beside = all(self.arrays.may_be_beside(f) for _, f in arrays)
        arrays = [(self.arrays.start(f, entries[i][1], beside).id, i) for i, f in arrays]
        return ValueShape(*literals, string, outcomes, number, tuple(i for i, _ in numbers), tuple(objects), tuple(arrays))

    def _string(self, formulas):
        found = self.specs.get(formulas)
        if found is None:
            found = self.specs[formulas] = self.texts.spec(formulas) if any(f != FALSE for f in formulas) else (None, [()])
        return found

    def _object_kind(self, roots, place):
        key = roots, place
        found = self.kinds.get(key)
        if found is None:
            names = () if place is None else tuple(n for n in self.order.names(place) if spellable(n))
            keys = self.keys.get((roots, names))
            if keys is None:
                keys = self.keys[roots, names] = Keys(self.texts, roots, names, self.solver.quick)
            found = self.kinds[key] = ObjectKind(keys, place, self.solver, self.objects)
        return found

    # ------------------------------------------------------------------------------------------------ containers
    @placed(OBJECT)
    def object_shape(self, objects):
        """What may come inside ``{`` under these residuals of one object: an `ObjectShape`."""
        states = [self.objects[i] for i in objects]
        allowed = 0
        for state in states:
            allowed |= state.kind.allowed(state)
        keys = states[0].kind.keys
        return ObjectShape(keys.spec, allowed, tuple(i for i, s in enumerate(states) if s.kind.may_end(s)), keys.many)

    @placed(OBJECT)
    def object_step(self, objects, outcome):
        """After a key with this outcome: ((value id, ((id of the object after the value, alternative), ...)), ...)."""
        moves, place = [], None
        for i, id in enumerate(objects):
            state = self.objects[id]
            kind = state.kind
            if kind.allowed(state) >> outcome & 1:
                if kind.place is not None:
                    place = self.order.member(kind.place, kind.keys.example(outcome))
                moves += [(v, place, after, i) for v, after in kind.moves(state, outcome)]
        return self._grouped(moves)

    @placed(ARRAY)
    def array_shape(self, arrays):
        """What may come inside ``[`` under these residuals of one array: an `ArrayShape`."""
        states = [self.arrays.states[i] for i in arrays]
        ends = tuple(i for i, s in enumerate(states) if self.arrays.may_end(s))
        runs = [r for r in map(self.arrays.run, states) if r is not None]
        run = min(runs) if runs else 0      # without a change ahead a state is its own successor
        states = [self.arrays.later(s, run) for s in states]
        moves, loose, possible = [], 0, 0
        for i, state in enumerate(states):
            place = self.order.item(state.place, state.n) if state.place is not None else None
            found = self.arrays.moves(state)
            moves += [(v, place, after, i) for v, after in found]
            loose |= self.arrays.loose(state, found)
            if self.arrays.watches(state) and not state.rules.apart:
                possible |= ANY_KIND    # what the item before was may be what another one must equal
            for v, _ in found:
                literals, *parts = self.formulas.values[v]
                possible |= (literals != 0) + sum(1 << kind for kind, part in enumerate(parts, NUMBER) if part != FALSE)
        return ArrayShape(ends, self._grouped(moves), run, loose, possible)

    def watch(self, arrays):
        """Whether it matters which values the items of these arrays have: 0, `WATCHED`, or also `BESIDE`.

        Where it matters, `array_after` is to be asked after each item. With `BESIDE` not after strings: whoever reads the text keeps
        the strings that were items of the array, and lets none of them come again.
        """
        states = [self.arrays.states[i] for i in arrays]
        if not any(map(self.arrays.watches, states)):
            return 0
        return WATCHED | (BESIDE if states[0].beside else 0)

    @placed(ARRAY)
    def array_after(self, array, value):
        """The id of an array whose last item had this value, a number of `items_seen`."""
        return self.arrays.after(self.arrays.states[array], value).id

    # ------------------------------------------------------------------------------------------------ endings
    @placed(None)
    def value_ending(self, value, strings=frozenset()):
        """A short JSON text of the value, its properties in order; none of these strings."""
        v, place = self.values[value]
        if strings:
            v = self.formulas.both(v, self.formulas.value(string=self.formulas.names(strings)) ^ 1)
            self.solver.inhabited(v)
        return self.endings.value(v, place)

    @placed(OBJECT)
    def object_ending(self, object, used=frozenset(), first=True):
        """What can follow inside ``{`` up to ``}``: `used` are names that may not come again (None: not known), `first` where none has come."""
        state = self.objects[object]
        kind = state.kind
        return self.endings.members(kind.keys, kind.ending(state), kind.place, used, first)

    @placed(ARRAY)
    def array_ending(self, array, first=True, read=0, strings=frozenset()):
        """What can follow inside ``[`` up to ``]``; `first` where no item has come, `read`: items of its run that have come.

        `strings` are those that have come (None: not known) where they are kept beside.
        """
        state = self.arrays.later(self.arrays.states[array], read)
        return self.endings.items(self.arrays.ending(state, strings), state.place, state.n, first)
