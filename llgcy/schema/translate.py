"""Schemas to value formulas.

All schema objects that are reached from the root become nodes first, then formulas, inner ones before outer ones. Where schemas
contain each other, a *handle* stands for the formula that is not made yet. Handles are enough inside atoms (schemas of
members and items); schemas that apply in place are made first. A cycle of the latter kind alone has a meaning where it is
positive throughout (the greatest solution, as validators read ``allOf: [{"$ref": "#"}]``); through a complement it has none.
"""
from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.schema import format_tables, openapi
from llgcy.schema.evaluated import Evaluated, contained
from llgcy.schema.exact import ZERO, Exact
from llgcy.schema.formula import (ANYTHING, ARRAY, FALSE, FALSE_LITERAL, NOTHING, NULL, NUMBER, OBJECT, STRING, TRUE,
                                  TRUE_LITERAL)
from llgcy.schema.notes import ANNOTATION, ENFORCED, IGNORED
from llgcy.schema.read import escape, kind_of
from llgcy.schema.resolve import Node, place
from llgcy.schema.vocabulary import DEPENDENCIES, ITEMS, KEYWORDS, SCHEMA, SCHEMAS, UNNAMED, VALUE, Keyword, draft_name

#: Schemas of one kind in a cycle of references that apply in place.
CYCLE = 64
#: Levels of schemas that apply in place.
LEVELS = 96
#: Branches of a oneOf that are compared pair by pair.
PAIRS = 8

_SAYING = frozenset(KEYWORDS.keys() | {"$id", "id", "$schema", *openapi.WORDS})
#: What makes a schema object say more than a reference.
_BESIDE_REFERENCE = _SAYING - {"$ref"}
#: Keywords without schemas inside that all drafts have; and what makes a schema object say more than they do.
_PLAIN = frozenset(["type", "enum", "minLength", "maxLength", "pattern", "format", "minimum", "maximum", "multipleOf", "minItems", "maxItems",
                    "minProperties", "maxProperties"])
_MORE = _SAYING - _PLAIN
#: References that lead to references, one after the other, that are followed at once.
HOPS = 100
#: What `Translator.read` reads of a schema object; in definitions it looks only where references lead.
_OPENAPI = Keyword()
_READ = {word: keyword for word, keyword in KEYWORDS.items() if word not in ("$defs", "definitions")} | dict.fromkeys(openapi.WORDS, _OPENAPI)
_TYPES = {"null": NULL, "boolean": TRUE_LITERAL | FALSE_LITERAL, "number": NUMBER, "integer": NUMBER, "string": STRING,
          "object": OBJECT, "array": ARRAY}


class Parts:
    """The parts of one schema object's formula in the making: conjuncts by kind, and value formulas."""

    __slots__ = ("literals", "conjuncts", "values", "integer")

    def __init__(self):
        self.literals, self.conjuncts, self.values, self.integer = 7, [None, [], [], [], []], [], False


class Translator:
    """Makes the value formulas of all schemas that are reached from a root.

    Parameters
    ----------
    resolver : Resolver
    formulas : Formulas
    texts : Texts
    options : Options
    notes : Notes
        Where warnings go, and errors that are tolerated.
    places : Places
        Is told which value formula belongs to which node.
    """

    def __init__(self, resolver, formulas, texts, options, notes, places):
        self.resolver, self.formulas, self.texts, self.options, self.notes, self.places = resolver, formulas, texts, options, notes, places
        self.preorder, self.references = notes.nodes, False
        self.evaluated = Evaluated(self)
        self.patterns = {}              # string formula by pattern text
        self.formats = {}               # string formula by name of the format
        self.keys = {}                  # string formula by name of a property
        self.plains = {}                # value formula by draft, and keywords with their values
        self.referred = {}              # what `refer` finds, by id() of the resource and text

    def translate(self, root):
        """The value formula of a schema, or the node with it: what `Node.sub` would hold.

        Raises
        ------
        GrammarError
            A keyword with a value that it cannot have, a reference that leads nowhere, a cycle without meaning.
        UnsupportedKeywordError, LimitError
        """
        top = self.enter(root, self.resolver.top, (), None, "")
        if top.__class__ is int:
            return top
        self.read_all([top])
        if self.resolver.dynamic:       # once more, now with dynamic scopes
            self.resolver.nodes.clear()
            self.preorder.clear()
            top = self.enter(root, self.resolver.top, (), None, "")
            self.read_all([top])
        for node in self.preorder:
            if node.sub.get("unevaluatedItems", ANYTHING) != ANYTHING:
                node.strict += contained(node)
        if self.references:
            for component in components(self.preorder):
                self.make_component(component)
        else:
            for node in reversed(self.preorder):
                node.value = self.make(node)
                self.check_depth(node)
        return top

    # ------------------------------------------------------------------------------------------------ schemas to nodes
    def enter(self, schema, resource, scope, parent, token):
        """The node of a schema, or the value formula of one that takes none: a boolean, or no more than plain keywords."""
        if schema is True:
            return ANYTHING
        if schema is False:
            return NOTHING
        if not isinstance(schema, dict):
            raise GrammarError(f"a schema is an object or a boolean, not {shown(schema)}", pointer=place(parent, token))
        if "$ref" in schema and _BESIDE_REFERENCE.isdisjoint(schema):
            found = self.refer(schema["$ref"], resource, scope)
            if found is not None:
                return found
        elif _MORE.isdisjoint(schema) and not resource.ignored and not self.notes.all_nodes:
            found = self.plain(schema, resource, parent, token)
            if found is not None:
                return found
        return self.resolver.node(schema, resource, scope, parent, token)

    def plain(self, schema, resource, parent, token):
        """The value formula of a schema object with plain keywords alone, of which most schemas have many that are equal.

        None where it takes a node to read it: values are compared here, and of numbers 1, 1.0 and true are equal.
        """
        key, sub = [resource.draft], {}
        for word, value in schema.items():
            if word in _PLAIN:
                sub[word] = value
                kind = value.__class__
                if kind is list:
                    if not all([x.__class__ is str for x in value]):
                        return None
                    value = tuple(value)
                elif kind is not str and kind is not int:
                    return None
                key.append(word)
                key.append(value)
        key = tuple(key)
        found = self.plains.get(key)
        if found is None:
            notes, node = len(self.notes.found), Node(schema, resource, (), parent, token)
            node.sub = sub
            found = self.make(node)
            if len(self.notes.found) == notes:      # else each place has a note of its own
                self.plains[key] = found
        return found

    def refer(self, reference, resource, scope):
        """The node or value formula that a schema object which is nothing but a reference stands for.

        None where it needs a node of its own: to say what is wrong with the reference, to be told of in a report, for its dynamic scope, or
        as one of a circle of references.
        """
        if self.resolver.dynamic or self.notes.all_nodes or reference.__class__ is not str:
            return None
        key = id(resource), reference
        found = self.referred.get(key)
        if found is None:
            schema, pointer = {"$ref": reference}, None
            for _ in range(HOPS):
                reference = schema["$ref"]
                if reference.__class__ is not str or not reference.startswith("#"):
                    return None
                target = self.resolver.within(resource, reference[1:])
                if target is None or not isinstance(target[0], (dict, bool)):
                    return None
                schema, resource, pointer = target
                if isinstance(schema, bool) or "$ref" not in schema or not _BESIDE_REFERENCE.isdisjoint(schema):
                    break
            else:
                return None
            self.references = True
            found = self.referred[key] = self.enter(schema, resource, scope, None, pointer)
        return found

    def read_all(self, todo):
        """Finds the schemas inside of nodes, and inside of those, in depth-first preorder."""
        seen = set()
        while todo:
            node = todo.pop()
            if node in seen:
                self.references = True      # one Python object in two places does what a reference does
                continue
            seen.add(node)
            self.preorder.append(node)
            inner = self.read(node)
            inner.reverse()
            todo.extend(inner)

    def read(self, node):
        """Fills in `sub`, `strict` and `loose` of a node. Returns the nodes inside."""
        schema, draft, inner = node.schema, node.resource.draft, []
        ignored = UNNAMED < draft <= 7 and "$ref" in schema
        for word, value in schema.items():
            keyword = _READ.get(word)
            if keyword is None or word in node.resource.ignored:
                continue
            if keyword is _OPENAPI:
                if not ignored:
                    try:
                        openapi.read(self, node, word, value)
                    except GrammarError as e:
                        self.notes.refuse(e, f"{node.pointer}/{word}", word)
                continue
            if draft != UNNAMED:
                if not keyword.in_draft(draft):
                    self.say_nothing(node, word, f"no keyword of {draft_name(draft)}, so it says nothing")
                    continue
                if ignored and word != "$ref":
                    self.say_nothing(node, word, f"beside $ref it says nothing in {draft_name(draft)}")
                    continue
            if keyword.shape == VALUE and not keyword.in_place:     # no reference
                node.sub[word] = value
                continue
            try:
                found = self.read_keyword(node, word, value)
            except (GrammarError, LimitError) as e:
                self.notes.refuse(e, f"{node.pointer}/{word}", word)
                node.sub.pop(word, None)
                continue
            edges = node.strict if keyword.in_place or word == "propertyNames" else node.loose
            for child in found:
                if child.__class__ is not int:
                    edges.append(child)
                    inner.append(child)
        return inner

    def say_nothing(self, node, word, reason):
        """Notes that a keyword is ignored."""
        self.notes.add(f"{node.pointer}/{word}", word, IGNORED, reason)

    def read_keyword(self, node, word, value):
        """Fills in `sub` for one keyword. Returns what stands inside: nodes and value formulas."""
        shape = KEYWORDS[word].shape
        if shape == VALUE:              # a reference
            self.references = True
            if word == "$ref":
                target, resource, pointer = self.resolver.target(node, value)
            else:
                self.resolver.dynamic = True
                target, resource, pointer = self.resolver.dynamic_target(node, value, word)
            node.sub[word] = self.enter(target, resource, node.scope, None, pointer)
            return [node.sub[word]]
        if shape == ITEMS:
            shape = SCHEMAS if isinstance(value, (list, tuple)) else SCHEMA
            if shape == SCHEMAS and node.resource.draft == 2020:
                raise GrammarError("items: a list of schemas is called prefixItems in draft 2020-12", pointer=f"{node.pointer}/items")
        if shape == SCHEMA:
            node.sub[word] = self.child(node, word, value, (word,))
            return [node.sub[word]]
        if shape == SCHEMAS:
            if not isinstance(value, (list, tuple)):
                raise GrammarError(f"{word} must be a list of schemas", pointer=f"{node.pointer}/{word}")
            node.sub[word] = [self.child(node, word, x, (word, i)) for i, x in enumerate(value)]
            return node.sub[word]
        if not isinstance(value, dict):
            raise GrammarError(f"{word} must be an object", pointer=f"{node.pointer}/{word}")
        found, sub = [], {}
        for name, x in value.items():
            if not isinstance(name, str):
                raise GrammarError(f"{word}: a name must be a string, not {shown(name)}", pointer=f"{node.pointer}/{word}")
            if shape == DEPENDENCIES and not isinstance(x, (dict, bool)):
                sub[name] = [x] if isinstance(x, str) else x
                continue
            sub[name] = self.child(node, word, x, (word, name))
            found.append(sub[name])
        node.sub[word] = sub
        return found

    def child(self, node, word, schema, token):
        """The node or value formula of a schema inside a keyword of a node."""
        try:
            return self.enter(schema, node.resource, node.scope, node, token)
        except (GrammarError, LimitError) as e:
            self.notes.refuse(e, place(node, token), word)
            return ANYTHING

    # ------------------------------------------------------------------------------------------------ nodes to formulas
    def make_component(self, component):
        """The formulas of nodes that contain each other (or of one node)."""
        if len(component) == 1:
            node = component[0]
            if node in node.strict:
                self.make_cycle([node])
            else:
                node.value = self.make(node)
        else:
            inside = set(component)
            for part in components(component, lambda node: [n for n in node.strict if n in inside]):
                if len(part) == 1 and part[0] not in part[0].strict:
                    part[0].value = self.make(part[0])
                else:
                    self.make_cycle(part)
        for node in component:
            self.check_depth(node)
            if node.handle is not None:
                self.formulas.define(node.handle, node.value)

    def check_depth(self, node):
        """Limits the levels of schemas that apply in place, so that functions over them may recurse."""
        if node.strict:
            node.depth = 1 + max(child.depth for child in node.strict)
            if node.depth > LEVELS:
                raise LimitError(f"more than {LEVELS} levels of schemas apply to one value (allOf, anyOf, $ref, ...)", pointer=node.pointer)

    def make_cycle(self, nodes):
        """Nodes that apply each other in place: from "everything" down until nothing changes."""
        inside = set(nodes)
        for node in nodes:
            node.value = ANYTHING
            for word in ("unevaluatedProperties", "unevaluatedItems"):
                if node.sub.get(word, ANYTHING) != ANYTHING:
                    pointer = f"{node.pointer}/{word}"
                    self.notes.refuse(UnsupportedKeywordError(f"{word} is not supported in a schema that applies itself in place, or to its items by "
                                                              "contains", pointer=pointer), pointer, word)
                    del node.sub[word]
        for node in nodes:
            if any(child in inside for child in complemented(node)):
                self.notes.refuse(GrammarError("the schema applies itself in place, through a complement (not, if, oneOf, propertyNames), which has "
                                               "no meaning", pointer=node.pointer), node.pointer, "")
                return
        if len(nodes) > CYCLE:
            pointer = nodes[0].pointer
            self.notes.refuse(LimitError(f"{len(nodes)} schemas apply each other in a cycle; the limit is {CYCLE}", pointer=pointer), pointer, "")
            return
        # each part grows with each other part, so as many rounds as nodes settle all
        for _ in range(len(nodes) + 1):
            made = [self.make(node) for node in nodes]
            if made == [node.value for node in nodes]:
                break
            for node, value in zip(nodes, made):
                node.value = value

    def of(self, child):
        """The value formula of what `sub` holds for a schema."""
        if child.__class__ is int:
            return child
        if child.value is not None:
            return child.value
        if child.handle is None:
            child.handle = self.formulas.reserve()
        return child.handle

    def make(self, node):
        """The value formula of a node."""
        fs, parts = self.formulas, Parts()
        kinds = [None, TRUE, TRUE, TRUE, TRUE]
        for word, value in node.sub.items():
            handler = _HANDLERS.get(word)
            if handler is None and word != "type":
                continue
            try:
                if word == "type":
                    kinds, parts.literals = self.kinds(self.types_of(node), node.draft)
                    if node.sub.get("nullable"):
                        parts.literals |= NULL
                else:
                    handler(self, node, value, parts)
            except (GrammarError, LimitError) as e:
                self.refuse(e, node, word)
        try:
            for k, conjuncts in enumerate(parts.conjuncts):
                if conjuncts and kinds[k] != FALSE:
                    kinds[k] = fs.all_of([kinds[k], *conjuncts])
            made = fs.value(parts.literals, *kinds[1:])
            for value in parts.values:
                made = fs.both(made, value)
        except LimitError as e:
            self.refuse(e, node, "")
            made = ANYTHING
        self.places.note(made, node)
        return made

    def refuse(self, error, node, word):
        """Notes an error, or raises it, with a place."""
        pointer = node.pointer + (f"/{word}" if word else "")
        if isinstance(error, LimitError) and error.pointer is None:
            error = LimitError(error.message, pointer=pointer)
        self.notes.refuse(error, pointer, word)

    # -- any kind
    def types_of(self, node):
        """The names in ``type``, checked."""
        types = node.sub["type"]
        types = [types] if isinstance(types, str) else types
        if not isinstance(types, (list, tuple)):
            raise GrammarError("type must be a string or a list of strings", pointer=node.pointer + "/type")
        for t in types:
            if not isinstance(t, str) or t not in _TYPES:
                raise GrammarError(f"type: {shown(t)} is no type; the types are {', '.join(_TYPES)}", pointer=node.pointer + "/type")
        return types

    def kinds(self, types, draft):
        """What names of types say: (formulas by kind, literals)."""
        literals, kinds = 0, [None, FALSE, FALSE, FALSE, FALSE]
        for t in types:
            where = _TYPES[t]
            if t == "null" or t == "boolean":
                literals |= where
            elif t == "integer":
                if kinds[NUMBER] == FALSE:
                    # in draft 4 the number 1.0 is no integer
                    kinds[NUMBER] = self.formulas.atom("digits" if draft == 4 else "int")
            else:
                kinds[where] = TRUE
        return kinds, literals

    def enum(self, node, value, parts):
        if not isinstance(value, (list, tuple)):
            raise GrammarError("enum must be a list", pointer=node.pointer + "/enum")
        parts.values.append(self.constants(node, "enum", value))

    def const(self, node, value, parts):
        parts.values.append(self.constants(node, "const", (value,)))

    def constants(self, node, word, values):
        try:
            return self.formulas.constants(values)
        except (TypeError, ValueError, AttributeError) as e:
            raise GrammarError(f"{word}: not a JSON value: {e}", pointer=f"{node.pointer}/{word}") from None

    def reference(self, node, child, parts):
        parts.values.append(self.of(child))

    def all_of(self, node, children, parts):
        parts.values.extend(self.of(c) for c in children)

    def any_of(self, node, children, parts):
        if "discriminator" in node.sub:
            parts.values.append(self.formulas.union(openapi.tagged(self, node, "anyOf", children)))
            return
        parts.values.append(self.formulas.union([self.of(c) for c in children]))

    def one_of(self, node, children, parts):
        if "discriminator" in node.sub:
            parts.values.append(self.formulas.union(openapi.tagged(self, node, "oneOf", children)))     # tags exclude each other
            return
        parts.values.append(self.exactly_one([self.of(c) for c in children]))

    def not_(self, node, child, parts):
        parts.values.append(self.of(child) ^ 1)

    def if_(self, node, child, parts):
        fs, condition = self.formulas, self.of(child)
        if "then" in node.sub:
            parts.values.append(fs.either(condition ^ 1, self.of(node.sub["then"])))
        if "else" in node.sub:
            parts.values.append(fs.either(condition, self.of(node.sub["else"])))

    def exactly_one(self, branches):
        """One of the branches and no other, kind by kind; simply any of them where they are plainly disjoint."""
        fs = self.formulas
        rows = [fs.values[v] for v in branches]
        once = twice = 0
        for row in rows:
            twice |= once & row[0]
            once |= row[0]
        made = []
        for k in (NUMBER, STRING, OBJECT, ARRAY):
            left = [row[k] for row in rows if row[k] != FALSE]
            if k == OBJECT and len(left) > PAIRS and self.told_apart(left):
                made.append(fs.any_of(left))
                continue
            pairs = [(f, g) for i, f in enumerate(left) for g in left[:i]] if len(left) <= PAIRS or k < OBJECT else None
            if pairs is not None and all(fs.all_of(pair) == FALSE for pair in pairs):
                made.append(fs.any_of(left))
            elif k < OBJECT:
                made.append(fs.any_of([fs.all_of([f, *[g ^ 1 for j, g in enumerate(left) if j != i]]) for i, f in enumerate(left)]))
            else:
                made.append(fs.one_of(left))
        return fs.value(once & ~twice, *made)

    def told_apart(self, branches):
        """Whether a name that all these object formulas require has different constants in each."""
        fs, seen = self.formulas, None
        for f in branches:
            required, demands = set(), {}
            for unit in fs.units(f):
                content = fs.nodes[unit >> 1]
                name = fs.single.get(content[1]) if content[0] == "some" else None
                if name is None:
                    continue
                if not unit & 1:
                    required.add(name)
                elif fs.values[content[2]] is not None:
                    literals, number, string, object, array = fs.values[content[2] ^ 1]
                    sets = [fs.nodes[n >> 1] for n in (number, string) if n != FALSE]
                    finite = not any(n & 1 for n in (number, string) if n != FALSE) and all(c[0] in ("in", "value") for c in sets)
                    if object == FALSE == array and finite:
                        demands[name] = {("literal", b) for b in (1, 2, 4) if literals & b}.union(*[c[1] for c in sets])
            mine = {name: demands[name] for name in required & demands.keys()}
            if seen is None:
                seen = mine
                continue
            both = {}
            for name in seen.keys() & mine.keys():
                if seen[name].isdisjoint(mine[name]):
                    both[name] = seen[name] | mine[name]
            if not both:
                return False
            seen = both
        return True

    # -- numbers
    def number(self, node, word, value):
        if isinstance(value, bool) or kind_of(value) != "number":
            raise GrammarError(f"{word} must be a number, not {shown(value)}", pointer=f"{node.pointer}/{word}")
        try:
            return Exact.of(value)
        except (TypeError, ValueError) as e:
            raise GrammarError(f"{word}: {e}", pointer=f"{node.pointer}/{word}") from None

    def minimum(self, node, value, parts):
        strict = node.sub.get("exclusiveMinimum") is True
        parts.conjuncts[NUMBER].append(self.formulas.atom("gt" if strict else "ge", self.number(node, "minimum", value)))

    def maximum(self, node, value, parts):
        strict = node.sub.get("exclusiveMaximum") is True
        parts.conjuncts[NUMBER].append(self.formulas.atom("ge" if strict else "gt", self.number(node, "maximum", value)) ^ 1)

    def exclusive_minimum(self, node, value, parts):
        if not isinstance(value, bool):         # the boolean of draft 4 belongs to minimum
            parts.conjuncts[NUMBER].append(self.formulas.atom("gt", self.number(node, "exclusiveMinimum", value)))

    def exclusive_maximum(self, node, value, parts):
        if not isinstance(value, bool):
            parts.conjuncts[NUMBER].append(self.formulas.atom("ge", self.number(node, "exclusiveMaximum", value)) ^ 1)

    def multiple_of(self, node, value, parts):
        factor = self.number(node, "multipleOf", value)
        if factor <= ZERO:
            raise GrammarError(f"multipleOf must be greater than 0, not {factor.text()}", pointer=node.pointer + "/multipleOf")
        parts.conjuncts[NUMBER].append(self.formulas.atom("mult", factor))

    # -- strings
    def bound(self, node, word, value):
        """A keyword whose value is a number of things."""
        number = self.number(node, word, value)
        if not number.is_integer or number < ZERO:
            raise GrammarError(f"{word} must be an integer >= 0, not {number.text()}", pointer=f"{node.pointer}/{word}")
        return int(number)

    def min_length(self, node, value, parts):
        parts.conjuncts[STRING].append(self.formulas.length(self.bound(node, "minLength", value)))

    def max_length(self, node, value, parts):
        parts.conjuncts[STRING].append(self.formulas.length(self.bound(node, "maxLength", value) + 1) ^ 1)

    def pattern(self, node, value, parts):
        parts.conjuncts[STRING].append(self.pattern_formula(node, value, "/pattern"))

    def pattern_formula(self, node, text, token):
        """The texts in which a pattern is found."""
        if not isinstance(text, str):
            raise GrammarError(f"a pattern must be a string, not {shown(text)}", pointer=node.pointer + token)
        found = self.patterns.get(text)
        if found is None:
            from llgcy.grammar import regex
            try:
                term = regex.search(regex.parse(text, flavor="ecma"), self.texts.regexes)
            except (GrammarError, LimitError) as e:
                kind = type(e)
                raise kind(f"pattern {text!r}: {e}", pointer=node.pointer + token) from None
            found = self.patterns[text] = self.language(term)
        return found

    def language(self, term):
        """The string formula of a term."""
        if term == self.texts.regexes.all:
            return TRUE
        return self.formulas.atom("re", term) if term else FALSE

    def format(self, node, value, parts):
        if not isinstance(value, str):
            raise GrammarError(f"format must be a string, not {shown(value)}", pointer=node.pointer + "/format")
        if self.options.formats == "annotation":
            self.notes.add(node.pointer + "/format", "format", ANNOTATION, "")
            return
        form = format_tables.form(value)
        if form is None:
            self.notes.add(node.pointer + "/format", "format", ANNOTATION, f"{value!r} is not known, so it says nothing")
            return
        if self.options.formats == "strict" and not form.exact:
            raise UnsupportedKeywordError(f"the format {value!r} is only enforced by a part of its language, which formats=\"strict\" refuses",
                                          pointer=node.pointer + "/format")
        if not form.exact:
            self.notes.add(node.pointer + "/format", "format", ENFORCED, f"{value!r} by a part of its language: what matches is valid, but not all that is "
                                                                         "valid matches")
        found = self.formats.get(value)
        if found is None:
            regexes, fs = self.texts.regexes, self.formulas
            made = [self.language(regexes.take_over(automaton)) for automaton in form.automata]
            if form.max_length is not None:
                made.append(fs.length(form.max_length + 1) ^ 1)
            if form.local_octets is not None:
                rest = regexes.repeat(regexes.chars([(0, 0x3F), (0x41, 0x10FFFF)]), 0, None)
                made.append(self.language(regexes.cat([within_octets(regexes, form.local_octets), regexes.words(["@"]), rest])))
            found = self.formats[value] = fs.all_of(made)
            self.texts.lives[found] = True      # every format has strings; found by a search, they would cost as much as all else
        parts.conjuncts[STRING].append(found)

    # -- objects
    def key(self, name):
        """The string formula of one name."""
        found = self.keys.get(name)
        if found is None:
            found = self.keys[name] = self.formulas.name(name)
        return found

    def name_list(self, node, word, value):
        if not isinstance(value, (list, tuple)) or not all(isinstance(x, str) for x in value):
            raise GrammarError(f"{word} must be a list of names, not {shown(value)}", pointer=f"{node.pointer}/{word}")
        return value

    def properties(self, node, children, parts):
        some, key, conjuncts = self.formulas.some, self.key, parts.conjuncts[OBJECT]
        for name, child in children.items():
            value = child if child.__class__ is int else self.of(child)
            if value != ANYTHING:
                conjuncts.append(some(key(name), value ^ 1) ^ 1)

    def pattern_properties(self, node, children, parts):
        for text, child in children.items():
            keys = self.pattern_formula(node, text, "/patternProperties/" + escape(text))
            parts.conjuncts[OBJECT].append(self.formulas.some(keys, self.of(child) ^ 1) ^ 1)

    def additional_properties(self, node, child, parts):
        if child == ANYTHING:
            return
        fs = self.formulas
        others = []
        if node.sub.get("properties"):
            others.append(fs.names(node.sub["properties"]) ^ 1)
        for text in node.sub.get("patternProperties", ()):
            others.append(self.pattern_formula(node, text, "/patternProperties/" + escape(text)) ^ 1)
        parts.conjuncts[OBJECT].append(fs.some(fs.all_of(others), self.of(child) ^ 1) ^ 1)

    def property_names(self, node, child, parts):
        if child == ANYTHING:
            return
        names = self.formulas.values[self.of(child)][STRING]
        parts.conjuncts[OBJECT].append(self.formulas.some(names ^ 1, ANYTHING) ^ 1)

    def required(self, node, value, parts):
        some = self.formulas.some
        names = self.name_list(node, "required", value)
        parts.conjuncts[OBJECT].extend(some(self.key(name), ANYTHING) for name in names)

    def min_properties(self, node, value, parts):
        parts.conjuncts[OBJECT].append(self.formulas.count(self.bound(node, "minProperties", value)))

    def max_properties(self, node, value, parts):
        parts.conjuncts[OBJECT].append(self.formulas.count(self.bound(node, "maxProperties", value) + 1) ^ 1)

    def dependent_required(self, node, value, parts):
        if not isinstance(value, dict):
            raise GrammarError("dependentRequired must be an object", pointer=node.pointer + "/dependentRequired")
        for name, names in value.items():
            self.dependent_names(node, name, self.name_list(node, "dependentRequired/" + escape(name), names), parts)

    def dependent_names(self, node, name, names, parts):
        fs = self.formulas
        wanted = fs.all_of([fs.some(self.key(n), ANYTHING) for n in names])
        parts.conjuncts[OBJECT].append(fs.any_of([fs.some(self.key(name), ANYTHING) ^ 1, wanted]))

    def dependent_schemas(self, node, children, parts):
        fs = self.formulas
        for name, child in children.items():
            if isinstance(child, (list, tuple)):
                self.dependent_names(node, name, self.name_list(node, "dependencies/" + escape(name), child), parts)
                continue
            if isinstance(child, int) or hasattr(child, "schema"):
                absent = fs.value(7, TRUE, TRUE, fs.some(self.key(name), ANYTHING) ^ 1, TRUE)
                parts.values.append(fs.either(absent, self.of(child)))
                continue
            raise GrammarError("dependencies: a schema or a list of names, not " + shown(child),
                               pointer=f"{node.pointer}/dependencies/{escape(name)}")

    # -- arrays
    def item(self, first, end, child, parts):
        fs = self.formulas
        parts.conjuncts[ARRAY].append(fs.item(first, end, self.of(child) ^ 1) ^ 1)

    def prefix_items(self, node, children, parts):
        if node.draft == UNNAMED and isinstance(node.sub.get("items"), list):
            return                      # the older keyword of the two; see `items`
        for i, child in enumerate(children):
            self.item(i, i + 1, child, parts)

    def items(self, node, child, parts):
        if isinstance(child, list):
            for i, c in enumerate(child):
                self.item(i, i + 1, c, parts)
        else:
            self.item(len(node.sub.get("prefixItems", ())), None, child, parts)

    def additional_items(self, node, child, parts):
        before = node.sub.get("items")
        if isinstance(before, list):    # beside one schema for all items it says nothing
            self.item(len(before), None, child, parts)

    def min_items(self, node, value, parts):
        parts.conjuncts[ARRAY].append(self.formulas.size(self.bound(node, "minItems", value)))

    def max_items(self, node, value, parts):
        parts.conjuncts[ARRAY].append(self.formulas.size(self.bound(node, "maxItems", value) + 1) ^ 1)

    def contains(self, node, child, parts):
        fs, value = self.formulas, self.of(child)
        low = self.bound(node, "minContains", node.sub["minContains"]) if "minContains" in node.sub else 1
        parts.conjuncts[ARRAY].append(fs.item(0, None, value, low))
        if "maxContains" in node.sub:
            high = self.bound(node, "maxContains", node.sub["maxContains"])
            parts.conjuncts[ARRAY].append(fs.item(0, None, value, high + 1) ^ 1)

    def unique_items(self, node, value, parts):
        if not isinstance(value, bool):
            raise GrammarError(f"uniqueItems must be true or false, not {shown(value)}", pointer=node.pointer + "/uniqueItems")
        if value:
            parts.conjuncts[ARRAY].append(self.formulas.repeat() ^ 1)

    # -- what no other keyword has looked at
    def unevaluated_properties(self, node, child, parts):
        if child != ANYTHING:
            parts.conjuncts[OBJECT].extend(self.evaluated.properties(node, child))

    def unevaluated_items(self, node, child, parts):
        if child != ANYTHING:
            parts.conjuncts[ARRAY].extend(self.evaluated.items(node, child))


_HANDLERS = {
    "$ref": Translator.reference, "$dynamicRef": Translator.reference, "$recursiveRef": Translator.reference,
    "enum": Translator.enum, "const": Translator.const,
    "allOf": Translator.all_of, "anyOf": Translator.any_of, "oneOf": Translator.one_of, "not": Translator.not_, "if": Translator.if_,
    "minimum": Translator.minimum, "maximum": Translator.maximum, "multipleOf": Translator.multiple_of,
    "exclusiveMinimum": Translator.exclusive_minimum, "exclusiveMaximum": Translator.exclusive_maximum,
    "minLength": Translator.min_length, "maxLength": Translator.max_length, "pattern": Translator.pattern, "format": Translator.format,
    "properties": Translator.properties, "patternProperties": Translator.pattern_properties,
    "additionalProperties": Translator.additional_properties, "propertyNames": Translator.property_names,
    "required": Translator.required, "minProperties": Translator.min_properties, "maxProperties": Translator.max_properties,
    "dependentRequired": Translator.dependent_required, "dependentSchemas": Translator.dependent_schemas,
    "dependencies": Translator.dependent_schemas,
    "prefixItems": Translator.prefix_items, "items": Translator.items, "additionalItems": Translator.additional_items,
    "minItems": Translator.min_items, "maxItems": Translator.max_items, "contains": Translator.contains,
    "uniqueItems": Translator.unique_items,
    "unevaluatedProperties": Translator.unevaluated_properties, "unevaluatedItems": Translator.unevaluated_items,
}


def within_octets(regexes, most):
    """The texts of at most so many octets in UTF-8, as a term."""
    left = [regexes.fan([], final=True)]
    for _ in range(most):
        edges = [(first, last, left[-octets]) for first, last, octets in _OCTETS if octets <= len(left)]
        left.append(regexes.fan(edges, final=True))
    return left[-1]


_OCTETS = [(0, 0x7F, 1), (0x80, 0x7FF, 2), (0x800, 0xD7FF, 3), (0xE000, 0xFFFF, 3), (0x10000, 0x10FFFF, 4)]


def complemented(node):
    """The schemas that apply in place and whose complement is needed, too."""
    for word in ("not", "if", "propertyNames"):
        if word in node.sub:
            yield node.sub[word]
    if len(node.sub.get("oneOf", ())) > 1:
        yield from node.sub["oneOf"]


def components(nodes, edges=lambda node: node.strict + node.loose):
    """The strongly connected components of a graph, inner ones first (Tarjan 1972, on an explicit stack)."""
    numbers, lows, on_stack, stack = {}, {}, set(), []
    for root in nodes:
        if root in numbers:
            continue
        todo = [(root, None)]
        while todo:
            node, rest = todo.pop()
            if rest is None:
                numbers[node] = lows[node] = len(numbers)
                stack.append(node)
                on_stack.add(node)
                rest = iter(edges(node))
            for child in rest:
                if child not in numbers:
                    todo.append((node, rest))
                    todo.append((child, None))
                    break
                if child in on_stack and numbers[child] < lows[node]:
                    lows[node] = numbers[child]
            else:
                if lows[node] == numbers[node]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member is node:
                            break
                    component.reverse()
                    yield component
                if todo:
                    parent = todo[-1][0]
                    if lows[node] < lows[parent]:
                        lows[parent] = lows[node]


def shown(value):
    """A value for a message, cut short."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
