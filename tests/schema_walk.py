"""A slow, plain recogniser that drives an automaton of the schema layer event by event: the tests' stand-in for the JSON machine."""
import json

from llgcy.schema.automaton import BESIDE, Automaton
from llgcy.schema.exact import Exact
from llgcy.schema.options import Options


class Number(str):
    """The text of a number."""


def parse(text):
    """JSON with numbers as their texts."""
    return json.loads(text, parse_float=Number, parse_int=Number)


def spelled(value):
    """A Python value with numbers as texts: integers without a fraction, as plain spelling has them."""
    if isinstance(value, dict):
        return {k: spelled(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [spelled(v) for v in value]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return Number(Exact.of(value).text())


def events(value):
    """"{", ("key", k), "}", "[", "]", ("scalar", x) in the order of the text."""
    todo = [value]
    while todo:
        x = todo.pop()
        if isinstance(x, tuple):
            yield x if len(x) == 2 else x[0]
        elif isinstance(x, dict):
            yield "{"
            todo.append(("}",))
            for k, v in reversed(x.items()):
                todo += [v, ("key", k)]
        elif isinstance(x, list):
            yield "["
            todo.append(("]",))
            todo += reversed(x)
        else:
            yield "scalar", x


class Frame:
    """An open container: alternatives (ids) with the alternatives of the value around that each continues."""

    def __init__(self, kind, alternatives):
        self.kind, self.used, self.first, self.after, self.read = kind, set(), True, None, 0
        self.parts = []                 # names and values, or values: numbers of `items_seen`
        self.set(alternatives)

    def set(self, alternatives):
        self.ids = tuple(sorted(alternatives))
        self.links = [alternatives[i] for i in self.ids]


class Walk:
    """The state after some events. ``alive`` after each; ``done`` after a whole document."""

    def __init__(self, automaton):
        self.a = automaton
        self.frames, self.pending = [], ((automaton.start,), None)
        self.alive, self.done, self.most = True, False, 1

    def copy(self):
        other = Walk(self.a)
        other.pending, other.alive, other.done = self.pending, self.alive, self.done
        for f in self.frames:
            g = Frame(f.kind, dict(zip(f.ids, f.links)))
            g.used, g.first, g.after, g.read, g.parts = set(f.used), f.first, f.after, f.read, list(f.parts)
            other.frames.append(g)
        return other

    def feed(self, event):
        """Whether the text may still go on, or end, after the event."""
        if not self.alive or self.done:
            self.alive = False
            return False
        frame = self.frames[-1] if self.frames else None
        if event == "}" or event == "]":
            if self.pending is not None or frame is None or frame.kind != ("{" if event == "}" else "["):
                self.alive = False
                return False
            shape = self.a.object_shape(frame.ids) if event == "}" else self.a.array_shape(frame.ids)
            ended = set().union(*[frame.links[i] for i in shape.end])
            self.frames.pop()
            seen = self.a.items_seen
            value = seen.array(frame.parts) if event == "]" else seen.object(dict(zip(frame.parts[::2], frame.parts[1::2])))
            return self.finished(ended, frame.after, value)
        if event[0] == "key":
            return self.key(frame, event[1])
        if self.pending is None:
            if frame.kind != "[":
                self.alive = False
                return False
            shape = self.a.array_shape(frame.ids)
            if not shape.items:
                self.alive = False
                return False
            items = shape.items
            if frame.read < shape.run:      # an item of the run: the array stays what it is
                items = [(value, [(frame.ids[i], i) for _, i in after]) for value, after in items]
                frame.read += 1
            else:
                frame.read = 0
            self.expect(frame, items)
        return self.value(event)

    def expect(self, frame, moves):
        frame.first = False
        ids = [v for v, _ in moves]
        assert len(set(ids)) == len(ids), "value ids are distinct"
        order = sorted(range(len(ids)), key=ids.__getitem__)
        self.pending = tuple(ids[i] for i in order), [moves[i][1] for i in order]
        self.most = max(self.most, len(ids))

    def key(self, frame, name):
        if frame is None or self.pending is not None or frame.kind != "{":
            self.alive = False
            return False
        shape = self.a.object_shape(frame.ids)
        outcome = shape.keys.outcome(name, self.a.texts.matches)
        if not outcome or not shape.allowed >> outcome & 1 or name in frame.used:
            self.alive = False
            return False
        if shape.extra >> outcome & 1:
            frame.used.add(name)
        frame.parts.append(name)
        moves = self.a.object_step(frame.ids, outcome)
        assert moves, "an allowed outcome leads somewhere"
        self.expect(frame, moves)
        return True

    def value(self, event):
        values = self.pending[0]
        shape = self.a.value_shape(values)
        if event == "{" or event == "[":
            alternatives = {}
            for id, i in shape.object if event == "{" else shape.array:
                alternatives.setdefault(id, set()).add(i)
            if not alternatives:
                self.alive = False
                return False
            frame = Frame(event, alternatives)
            frame.after, self.pending = self.pending, None
            self.frames.append(frame)
            return True
        x = event[1]
        frame = self.frames[-1] if self.frames else None
        if isinstance(x, str) and not isinstance(x, Number) and self.beside(frame):
            if x in frame.used:
                self.alive = False
                return False
            frame.used.add(x)
        if x is None:
            found = shape.null
        elif x is True:
            found = shape.true
        elif x is False:
            found = shape.false
        elif isinstance(x, Number):
            found = ()
            if shape.number is not None:
                state = shape.number.start()
                for byte in x.encode():
                    state = shape.number.step(state, byte) if state is not None else None
                found = [shape.number_alternatives[i] for i in shape.number.accepts(state)] if state is not None else ()
        else:
            outcome = shape.string.outcome(x, self.a.texts.matches) if shape.string is not None else 0
            found = shape.string_outcomes[outcome]
        after, self.pending = self.pending, None
        return self.finished(set(found), after, self.a.items_seen.number(x) if isinstance(x, Number) else self.a.items_seen.scalar(x))

    def beside(self, frame):
        """Whether strings are kept beside an array."""
        return frame is not None and frame.kind == "[" and self.a.watch(frame.ids) & BESIDE

    def finished(self, found, after, value):
        """A value is over: which of its alternatives hold, and where they lead."""
        if not found:
            self.alive = False
        elif not self.frames:
            self.done = True
        else:
            frame, alternatives = self.frames[-1], {}
            for i in found:
                for id, alternative in after[1][i]:
                    if frame.kind == "[":
                        id = self.a.array_after(id, value)
                    alternatives.setdefault(id, set()).update(frame.links[alternative])
            frame.parts.append(value)
            frame.set(alternatives)
        return self.alive

    def completion(self, text):
        """A whole document that begins with the events of `text`, by the endings alone."""
        walk = self.copy()
        while not walk.done:
            if walk.pending is not None:
                beside = bool(walk.frames) and walk.beside(walk.frames[-1])
                piece = self.a.value_ending(walk.pending[0][0], frozenset(walk.frames[-1].used) if beside else frozenset()).decode()
                text += piece
                more = list(events(parse(piece)))
            else:
                frame = walk.frames[-1]
                if frame.kind == "{":
                    piece = self.a.object_ending(frame.ids[0], frozenset(frame.used), frame.first).decode()
                else:
                    strings = frozenset(frame.used) if walk.beside(frame) else frozenset()
                    piece = self.a.array_ending(frame.ids[0], frame.first, frame.read, strings).decode()
                text += piece
                assert piece[0] == "," or piece[0] == ("}" if frame.kind == "{" else "]") or frame.first
                more = list(events(parse(frame.kind + piece.removeprefix(","))))[1:]
            for event in more:
                assert walk.feed(event), f"the ending {piece} is refused at {event}"
        return text


def prefixes(value):
    """The text after each event of a value, with the event."""
    text, stack = "", []            # stack: [kind, members so far, expects a value]
    for event in events(value):
        if event in ("}", "]"):
            stack.pop()
            text += event
        else:
            if event[0] == "key":
                text += ("," if stack[-1][1] else "") + json.dumps(event[1]) + ":"
                stack[-1][1] += 1
                yield event, text
                continue
            if stack and stack[-1][0] == "[":
                text += "," if stack[-1][1] else ""
                stack[-1][1] += 1
            if event in ("{", "["):
                text += event
                stack.append([event, 0])
            else:
                x = event[1]
                text += x if isinstance(x, Number) else json.dumps(x)
        yield event, text


def accepts(automaton, value):
    """Whether the automaton accepts a Python value with its members in this order."""
    walk = Walk(automaton)
    return all(walk.feed(e) for e in events(spelled(value))) and walk.done


def in_order(a, value, place):
    """The value with its members in schema order."""
    if isinstance(value, list):
        return [in_order(a, x, a.order.item(place, i) if place is not None else None) for i, x in enumerate(value)]
    if not isinstance(value, dict):
        return value
    names = a.order.names(place) if place is not None else ()
    ordered = sorted(value, key=lambda k: names.index(k) if k in names else len(names))
    return {k: in_order(a, value[k], a.order.member(place, k) if place is not None else None) for k in ordered}


def build(schema, **options):
    return Automaton(schema, Options.of(**options))
