"""Schema objects as nodes, and where references lead (RFC 3986 URIs, RFC 6901 pointers, ``$id``, ``$anchor``).

Nothing here looks at the network: a document is the schema given, an entry of ``resources=``, a meta-schema of a draft, which come
with the package, or unknown.

*Dynamic scope.* What ``$dynamicRef`` and ``$recursiveRef`` lead to depends on the resources through which a schema was reached. So a
schema object is one node for each *scope*: for each name of a ``$dynamicAnchor``, the first resource on the way that has it.
"""
import re
from importlib.resources import files
from urllib.parse import unquote, urldefrag, urljoin

from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.schema import vocabulary
from llgcy.schema.notes import ENFORCED, IGNORED
from llgcy.schema.read import escape, read_json
from llgcy.schema.vocabulary import DEPENDENCIES, ITEMS, KEYWORDS, MAP, SCHEMA, SCHEMAS, UNNAMED, left_out


#: Key of ``$recursiveAnchor`` among the dynamic anchors, none of which is named so.
RECURSIVE = "#"
#: Schema objects under dynamic scopes: each counts once for each scope.
SCOPED = 100_000


class Resource:
    """A schema with a URI of its own: a document, or a part of one with ``$id``.

    Attributes
    ----------
    uri : str
        Without fragment; "" for a document that has none.
    root : dict or bool
    draft : int
        Number of its draft (`vocabulary.DRAFTS`).
    pointer : str
        Where it stands in its document.
    outer : Resource or None
        The resource around it, in the same document.
    anchors : dict or None
        Schema and pointer by plain-name fragment; None until the document is searched.
    dynamic : dict
        Those of ``$dynamicAnchor``, and by `RECURSIVE` the root where it has ``$recursiveAnchor``.
    ignored : frozenset of str
        Keywords that its meta-schema does not have.
    """

    __slots__ = ("uri", "root", "draft", "pointer", "outer", "anchors", "dynamic", "ignored")

    def __init__(self, uri, root, draft, pointer, outer=None, vocabulary=None):
        self.uri, self.root, self.draft, self.pointer, self.outer, self.anchors = uri, root, draft, pointer, outer, None
        self.dynamic = {}
        if vocabulary is not None:
            self.ignored = left_out(vocabulary)
        else:
            self.ignored = outer.ignored if outer is not None else frozenset()


class Node:
    """A schema object in its place.

    Attributes
    ----------
    schema : dict
    resource : Resource
        What references are relative to, and which draft holds.
    scope : tuple of (str, Resource)
        Where dynamic references lead, sorted by name; empty unless the schema has such references.
    parent, token
        The node around it and the tokens of the pointer from there, or None and the whole pointer.
    sub : dict
        The schemas inside, by keyword: a node (or the value formula of a schema that takes none), a list of them, or a dict.
    strict, loose : list of Node
        Nodes whose formula this one's is made of; nodes that it only mentions (schemas of members and items).
    value : int or None
        The value formula, once made.
    handle : int or None
        A name for the value formula that others use before it is made.
    """

    __slots__ = ("schema", "resource", "scope", "parent", "token", "sub", "strict", "loose", "value", "handle", "depth")

    def __init__(self, schema, resource, scope, parent, token):
        self.schema, self.resource, self.scope, self.parent, self.token = schema, resource, scope, parent, token
        self.sub, self.strict, self.loose, self.value, self.handle, self.depth = {}, [], [], None, None, 0

    @property
    def pointer(self):
        """JSON pointer into the document that it stands in."""
        return place(self.parent, self.token)

    @property
    def draft(self):
        return self.resource.draft


def place(parent, token):
    """JSON pointer of what stands at `token` below a node; see `Node`."""
    parts = []
    while parent is not None:
        parts += [escape(part) for part in reversed(token)]
        parent, token = parent.parent, parent.token
    return "/".join([token, *reversed(parts)])


def own_uri(schema, draft):
    """The ``$id`` of a schema object (``id`` in draft 4), or None."""
    uri = schema.get("id" if draft == 4 else "$id")
    if not isinstance(uri, str):
        return None
    if UNNAMED < draft <= 7 and "$ref" in schema:      # siblings of $ref mean nothing there
        return None
    return uri


class Resolver:
    """All nodes and resources that are reached from one schema.

    Parameters
    ----------
    root : dict or bool
        The schema.
    options : Options
    notes : Notes
        Where warnings go.
    """

    def __init__(self, root, options, notes):
        self.options, self.notes = options, notes
        self.draft = vocabulary.DRAFTS.get(options.draft, UNNAMED)
        self.dynamic = False        # whether nodes are told apart by dynamic scope
        self.nodes = {}             # Node by id() of its schema object and scope
        self.inner = {}             # Resource by id() of a schema object with an identifier
        self.resources = {}         # Resource by URI
        self.searched = set()       # id() of the documents whose identifiers are known
        self.top = self.document(root, "")

    def document(self, root, uri):
        """The resource of a whole document."""
        draft = self.named_draft(root, self.draft, "")
        own = own_uri(root, draft) if isinstance(root, dict) else None
        resource = Resource(urldefrag(urljoin(uri, own))[0] if own else uri, root, draft, "", None, self.vocabulary(root))
        self.resources.setdefault(uri, resource)
        self.resources.setdefault(resource.uri, resource)
        return resource

    def named_draft(self, schema, draft, pointer):
        """The draft that ``$schema`` names, or `draft`."""
        uri = schema.get("$schema") if isinstance(schema, dict) else None
        if not isinstance(uri, str):
            return draft
        number = vocabulary.draft_of(uri)
        if number == 3:
            raise UnsupportedKeywordError("$schema: draft 3 is not supported; write the schema in draft 4 or later",
                                          pointer=pointer + "/$schema")
        if number is None and self.vocabulary(schema) is None:
            self.notes.add(pointer + "/$schema", "$schema", IGNORED, f"{uri!r} is no draft known here, so it is read as {vocabulary.draft_name(draft)}")
        return draft if number is None or number == UNNAMED else number

    def vocabulary(self, schema):
        """The ``$vocabulary`` of the meta-schema that ``$schema`` names among the resources, or None."""
        uri = schema.get("$schema") if isinstance(schema, dict) else None
        meta = self.options.resources.get(uri) if isinstance(uri, str) else None
        vocabulary = meta.get("$vocabulary") if isinstance(meta, dict) else None
        return vocabulary if isinstance(vocabulary, dict) else None

    def node(self, schema, resource, scope, parent, token):
        """The node of a schema object that stands at `token` below `parent` and is reached through `scope`."""
        if ("$id" in schema or "id" in schema or "$schema" in schema) and schema is not resource.root:
            inner = self.inner.get(id(schema))
            if inner is None:
                inner = self.inner[id(schema)] = self.embedded(schema, resource, place(parent, token))
            resource = inner
        if self.dynamic:
            scope = self.scope_in(scope, resource)
        node = self.nodes.get((id(schema), scope))
        if node is None:
            node = self.nodes[id(schema), scope] = Node(schema, resource, scope, parent, token)
            if scope and len(self.nodes) > SCOPED:
                raise LimitError(f"$dynamicRef gives more than {SCOPED} schema objects a meaning of their own", pointer=node.pointer)
        return node

    def scope_in(self, scope, resource):
        """The dynamic scope after a resource is entered: the first one with a name stays."""
        if resource.anchors is None:
            self.search(resource)
        added = resource.dynamic.keys() - {name for name, _ in scope}
        return tuple(sorted([*scope, *[(name, resource) for name in added]], key=lambda x: x[0])) if added else scope

    def dynamic_target(self, node, reference, keyword):
        """Where ``$dynamicRef`` or ``$recursiveRef`` leads from a node: like `target`, or further out where a dynamic anchor says so.

        Raises
        ------
        GrammarError
            Nowhere.
        """
        found = self.target(node, reference, keyword)
        resource = found[1]
        self.search(resource)
        name = unquote(urldefrag(reference)[1]) if keyword == "$dynamicRef" else RECURSIVE
        anchored = resource.dynamic.get(name)
        if anchored is None or anchored[0] is not found[0]:
            return found                # no dynamic anchor stands there: a plain reference
        return next((outer.dynamic[name] for key, outer in node.scope if key == name), found)

    def embedded(self, schema, resource, pointer):
        """The resource of a schema object inside `resource`: a new one where it has an identifier."""
        draft = self.named_draft(schema, resource.draft, pointer)
        uri = own_uri(schema, draft)
        if uri is None or uri.startswith("#"):
            return resource
        uri = urldefrag(urljoin(resource.uri, uri))[0]
        known = self.resources.get(uri)
        if known is not None and known.root is schema:
            return known
        inner = Resource(uri, schema, draft, pointer, resource, self.vocabulary(schema))
        self.resources.setdefault(uri, inner)
        return inner

    def target(self, node, reference, keyword="$ref"):
        """Where a reference leads: (schema, resource, pointer).

        Raises
        ------
        GrammarError
            Nowhere.
        """
        where = node.pointer + "/" + keyword
        if not isinstance(reference, str):
            raise GrammarError(f"{keyword} must be a string", pointer=where)
        if reference.startswith("#"):
            uri, fragment, resource = node.resource.uri, reference[1:], node.resource
        else:
            uri, fragment = urldefrag(urljoin(node.resource.uri, reference))
            resource = node.resource if uri == node.resource.uri else self.find(uri, node)
        if resource is None:
            raise GrammarError(f"{keyword}: the document {uri!r} is not known; give it by resources={{{uri!r}: ...}}", pointer=where)
        found = self.within(resource, fragment)
        while found is None and reference.startswith("#/") and resource.outer is not None:
            # many schemas have identifiers inside, and mean the whole document all the same
            resource = resource.outer
            found = self.within(resource, fragment)
            if found is not None:
                self.notes.add(where, keyword, ENFORCED, f"{reference!r} leads nowhere in {uri!r}, so it is read in the schema around that")
        if found is None:
            raise GrammarError(f"{keyword}: nothing stands at {reference!r}", pointer=where)
        if not isinstance(found[0], (dict, bool)):
            raise GrammarError(f"{keyword}: what stands at {reference!r} is no schema", pointer=where)
        return found

    def find(self, uri, node):
        """The resource with this URI, or None. Identifiers inside the documents at hand are looked for first."""
        if uri not in self.resources:
            for resource in list(self.resources.values()):
                self.search(resource)
        if uri not in self.resources:
            document = self.options.resources.get(uri, self.options.resources.get(uri + "#"))
            if document is None:
                document = meta_schema(uri)
            if document is None:
                return None
            if isinstance(document, (str, bytes)):
                document = read_json(document)
            self.document(document, uri)
        return self.resources[uri]

    def within(self, resource, fragment):
        """What a fragment of a URI names in a resource: (schema, resource, pointer), or None."""
        fragment = unquote(fragment)
        if fragment == "":
            return resource.root, resource, resource.pointer
        return self.follow(resource, fragment) if fragment.startswith("/") else self.anchor(resource, fragment)

    def follow(self, resource, fragment):
        """The schema at a JSON pointer into a resource, with the resource that it belongs to."""
        at, pointer, shape = resource.root, resource.pointer, SCHEMA
        for token in fragment[1:].split("/"):
            token = token.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and token in at:
                at = at[token]
            elif isinstance(at, (list, tuple)) and token.isdecimal() and token.isascii() and int(token) < len(at):
                at = at[int(token)]
            else:
                return None
            pointer += "/" + escape(token)
            shape = shape_inside(shape, token, at)
            if shape == SCHEMA and isinstance(at, dict) and at is not resource.root:
                resource = self.embedded(at, resource, pointer)
        return at, resource, pointer

    def anchor(self, resource, name):
        """The schema with this plain name in a resource."""
        self.search(resource)
        return (resource.anchors or {}).get(name)

    def search(self, resource):
        """Finds all identifiers in a document, wherever a schema may stand."""
        if id(resource.root) in self.searched:
            return
        todo = [(resource.root, resource, resource.pointer, SCHEMA)]
        while todo:
            at, inside, pointer, shape = todo.pop()
            if shape == SCHEMA and isinstance(at, dict):
                if at is not inside.root:
                    inside = self.embedded(at, inside, pointer)
                if at is inside.root:
                    if id(at) in self.searched:
                        continue
                    self.searched.add(id(at))
                    inside.anchors = inside.anchors or {}
                for name in anchors_of(at, inside.draft):
                    inside.anchors.setdefault(name, (at, inside, pointer))
                name = dynamic_anchor_of(at, inside)
                if name is not None:
                    inside.dynamic.setdefault(name, (at, inside, pointer))
            if isinstance(at, dict):
                for key, value in at.items():
                    inner = shape_inside(shape, key, value)
                    if inner is not None:
                        todo.append((value, inside, pointer + "/" + escape(key), inner))
            elif isinstance(at, (list, tuple)) and shape == SCHEMAS:
                todo.extend((value, inside, f"{pointer}/{i}", SCHEMA) for i, value in enumerate(at))


_META = re.compile(r"https?://json-schema\.org/draft(?:-0([467])/schema|/(2019-09|2020-12)/(schema|meta/[a-z-]+))")


def meta_schema(uri):
    """The text of a draft's meta-schema or of one of its vocabularies, or None."""
    match = _META.fullmatch(uri)
    if match is None:
        return None
    name = f"draft{match[1]}.json" if match[1] else f"draft{match[2]}/{match[3]}.json"
    path = files("llgcy.schema").joinpath("metaschemas", *name.split("/"))
    return path.read_bytes() if path.is_file() else None


def shape_inside(shape, token, value):
    """How to read what stands at `token` in something of this shape; None where no schema can stand there."""
    if shape == MAP or shape == SCHEMAS:
        return SCHEMA
    if shape == SCHEMA:
        keyword = KEYWORDS.get(token)
        if keyword is None:
            return None
        if keyword.shape == ITEMS:
            return SCHEMAS if isinstance(value, (list, tuple)) else SCHEMA
        if keyword.shape == DEPENDENCIES:
            return MAP
        return keyword.shape or None
    return None


def anchors_of(schema, draft):
    """The plain names that a schema object has in its resource."""
    for keyword, since in (("$anchor", 2019), ("$dynamicAnchor", 2020)):
        if isinstance(schema.get(keyword), str) and (draft == UNNAMED or draft >= since):
            yield schema[keyword]
    uri = schema.get("id" if draft == 4 else "$id")
    if isinstance(uri, str) and uri.startswith("#") and len(uri) > 1 and draft < 2019:
        yield uri[1:]


def dynamic_anchor_of(schema, resource):
    """The name by which dynamic references find a schema object, or None."""
    draft = resource.draft
    name = schema.get("$dynamicAnchor")
    if isinstance(name, str) and (draft == UNNAMED or draft >= 2020):
        return name
    if schema.get("$recursiveAnchor") is True and schema is resource.root and draft in (UNNAMED, 2019):
        return RECURSIVE
    return None
