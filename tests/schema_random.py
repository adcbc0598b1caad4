"""Random schemas and values over few names and scalars, so that they meet."""


class Maker:
    """Random schemas, values, and values that nearly are others.

    Parameters
    ----------
    random : random.Random
    words : set of str
        Keywords that schemas may use beyond the plain ones: "not", "if", "contains", "propertyNames", "dependent", "unevaluated",
        "uniqueItems".
    """

    NAMES = ["a", "b", "c", "bb"]
    TEXTS = ["", "a", "b", "bb", "abb", "ca", "\u00e9"]
    NUMBERS = [-2, 0, 0.25, 1, 1.5, 2, 4, 10]
    PATTERNS = ["^b", "a$", "b", "^[ab]*$", "^(?:a|c)$", "^.b?$", "^[a-c]$"]

    def __init__(self, random, words=()):
        self.random, self.words = random, set(words)

    def value(self, depth=2):
        r = self.random
        kind = r.choice("lnnssaaooo" if depth else "lnnss")
        if kind == "l":
            return r.choice([None, True, False])
        if kind == "n":
            return r.choice(self.NUMBERS)
        if kind == "s":
            return r.choice(self.TEXTS)
        if kind == "a":
            return [self.value(depth - 1) for _ in range(r.choice([0, 1, 2, 2, 3]))]
        names = r.sample([*self.NAMES, "d"], r.choice([0, 1, 1, 2, 2, 3, 4]))
        return {n: self.value(depth - 1) for n in names}

    def near(self, value):
        """A value that differs in one place."""
        r = self.random
        if isinstance(value, dict):
            out, k = dict(value), r.choice([*value, *self.NAMES])
            if k in out and r.random() < .35:
                del out[k]
            else:
                out[k] = self.near(out[k]) if k in out and r.random() < .6 else self.value(1)
            return out
        if isinstance(value, list):
            out = list(value)
            at = r.randrange(len(out) + 1)
            if at == len(out) or r.random() < .3:
                out.insert(at, self.value(1))
            elif r.random() < .4:
                del out[at]
            else:
                out[at] = self.near(out[at])
            return out
        return self.value(1)

    def shuffled(self, value):
        """The same value with members in another order."""
        if isinstance(value, list):
            return [self.shuffled(x) for x in value]
        if not isinstance(value, dict):
            return value
        names = list(value)
        self.random.shuffle(names)
        return {k: self.shuffled(value[k]) for k in names}

    # ------------------------------------------------------------------------------------------------ schemas
    def document(self):
        schema = self.schema(3)
        if isinstance(schema, dict):
            schema["$defs"] = {"x": self.schema(2)}
        return schema

    def schema(self, depth):
        r = self.random
        if r.random() < (.03 if depth == 3 else .1):
            return r.random() < .7
        out, makers = {}, [self.scalar]
        if depth:
            makers += [self.object, self.object, self.array, self.array, self.logic, self.tagged]
        for make in r.sample(makers, r.choice([1, 1, 2, 2, 3]) if depth else 1):
            out.update(make(depth))
        if "unevaluated" in self.words and depth and r.random() < .5:
            out[r.choice(["unevaluatedProperties", "unevaluatedItems"])] = r.choice([False, self.schema(depth - 1)])
        words = list(out)
        r.shuffle(words)
        return {w: out[w] for w in words}

    def names(self, most=2):
        return self.random.sample(self.NAMES, self.random.randint(1, most))

    def scalar(self, depth):
        r, out = self.random, {}
        for _ in range(r.choice([1, 1, 2])):
            kind = r.randrange(9)
            if kind < 3:
                out["type"] = r.choice(["null", "boolean", "integer", "number", "string", "array", "object", ["integer", "string"],
                                        ["object", "array"], ["number", "null"]])
            elif kind == 3:
                out["enum"] = [self.value(1) for _ in range(r.randint(1, 4))]
            elif kind == 4:
                out["const"] = self.value(1)
            elif kind == 5:
                out[r.choice(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"])] = r.choice(self.NUMBERS)
            elif kind == 6:
                out["multipleOf"] = r.choice([.5, 1, 2, 3, 0.25])
            elif kind == 7:
                out[r.choice(["minLength", "maxLength"])] = r.randint(0, 3)
            else:
                out["pattern"] = r.choice(self.PATTERNS)
        return out

    def object(self, depth):
        r, out = self.random, {}
        kinds = ["properties", "properties", "patternProperties", "additionalProperties", "required", "minProperties", "maxProperties"]
        kinds += ["propertyNames"] * ("propertyNames" in self.words) + ["dependentRequired", "dependentSchemas"] * ("dependent" in self.words)
        for kind in r.sample(kinds, r.randint(1, 4)):
            if kind == "properties":
                out[kind] = {n: self.schema(depth - 1) for n in self.names(4)}
            elif kind == "patternProperties":
                out[kind] = {p: self.schema(depth - 1) for p in r.sample(self.PATTERNS, r.randint(1, 2))}
            elif kind == "additionalProperties":
                out[kind] = r.choice([False, self.schema(depth - 1)])
            elif kind == "required":
                out[kind] = self.names()
            elif kind in ("minProperties", "maxProperties"):
                out[kind] = r.randint(0, 3)
            elif kind == "propertyNames":
                out[kind] = r.choice([{"pattern": r.choice(self.PATTERNS)}, {"enum": self.names(3)}, {"maxLength": r.randint(0, 1)},
                                      {"not": {"const": "a"}}, {"minLength": 2}])
            elif kind == "dependentRequired":
                out[kind] = {n: self.names() for n in self.names()}
            else:
                out[kind] = {n: self.schema(depth - 1) for n in self.names(1)}
        return out

    def array(self, depth):
        r, out = self.random, {}
        for kind in r.sample(["prefixItems", "items", "minItems", "maxItems"] + [w for w in ("contains", "uniqueItems") if w in self.words],
                             r.randint(1, 3)):
            if kind == "prefixItems":
                out[kind] = [self.schema(depth - 1) for _ in range(r.randint(1, 3))]
            elif kind == "items":
                out[kind] = self.schema(depth - 1)
            elif kind == "uniqueItems":
                out[kind] = True
            elif kind == "contains":
                out[kind] = self.schema(depth - 1)
                if r.random() < .5:
                    out["minContains"] = r.randint(0, 2)
                if r.random() < .5:
                    out["maxContains"] = r.randint(0, 2)
            else:
                out[kind] = r.randint(0, 3)
        return out

    def logic(self, depth):
        r, out = self.random, {}
        kinds = ["anyOf", "allOf", "oneOf", "$ref"] + [w for w in ("not", "if") if w in self.words]
        for kind in r.sample(kinds, r.randint(1, 2)):
            if kind == "$ref":
                out[kind] = r.choice(["#", "#/$defs/x"])
            elif kind == "not":
                out[kind] = self.schema(depth - 1)
            elif kind == "if":
                out.update({w: self.schema(depth - 1) for w in ("if", *r.sample(["then", "else"], r.randint(1, 2)))})
            else:
                out[kind] = [self.schema(depth - 1) for _ in range(r.randint(1, 3))]
        return out

    def tagged(self, depth):
        """Branches that one or two names tell apart."""
        r, branches = self.random, []
        tags, kind = r.sample(self.NAMES, r.choice([1, 1, 2])), r.choice(["anyOf", "oneOf"] + ["allOf"] * ("if" in self.words))
        for _ in range(r.randint(2, 4)):
            tag = r.choice(tags)
            head = {"properties": {tag: {"enum": r.sample([1, 2, "a", "b", None], r.choice([1, 1, 2]))}}}
            if r.random() < .6:
                head["required"] = [tag]
            more = {n: self.schema(depth - 1) for n in self.names()}
            if kind == "allOf":
                branches.append({"if": head, "then": {"properties": more}})
            else:
                branches.append({**head, "properties": {**more, **head["properties"]}})
        return {kind: branches, **({"type": "object"} if r.random() < .7 else {})}
