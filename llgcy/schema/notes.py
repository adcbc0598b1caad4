"""What is worth telling about a schema while it is read: what says nothing, and what is refused."""
from typing import NamedTuple

from llgcy.errors import GrammarError, LimitError, UnsupportedKeywordError
from llgcy.schema.read import escape
from llgcy.schema.vocabulary import KEYWORDS, PLACES

# The status of a keyword in a report.
ENFORCED, ANNOTATION, IGNORED, REFUSED = "enforced", "annotation", "ignored", "refused"

#: What reading may go on after: nothing; what llgcy cannot enforce; all errors of the schema.
STRICT, LENIENT, ALL = (), (UnsupportedKeywordError, LimitError), (GrammarError, LimitError)

_BESIDE = {"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains"}


class Entry(NamedTuple):
    """One keyword in its place.

    Attributes
    ----------
    pointer : str
        JSON pointer of the keyword, behind the URI of its document and a ``#`` where that is not the schema itself.
    keyword : str
        "" where it is about the whole schema at the pointer.
    status : str
        "enforced"; "annotation": it says nothing about what is valid; "ignored": it would, but not in this draft or beside these keywords;
        "refused": llgcy cannot enforce it, or it is malformed; "profile": a hosted service would not take it.
    reason : str
        Why, if there is more to say.
    """

    pointer: str
    keyword: str
    status: str
    reason: str


class Notes:
    """Collects notes.

    Parameters
    ----------
    tolerated : tuple of exception classes
        Errors that are noted instead of raised; see `STRICT`, `LENIENT`, `ALL`. The keyword is then left out.

    Attributes
    ----------
    nodes : list of Node
        The schema objects that were read, outer ones before inner ones.
    all_nodes : bool
        Whether schema objects that say no more than plain keywords or a reference are among them.
    """

    def __init__(self, tolerated=STRICT):
        self.tolerated, self.found, self.nodes, self.all_nodes = tolerated, {}, [], tolerated is ALL

    def add(self, pointer, keyword, status, reason):
        """Notes what a keyword at a pointer comes to; the first note about it counts."""
        self.found.setdefault((pointer, keyword), (status, reason))

    def refuse(self, error, pointer, keyword):
        """Notes an error of a keyword at a pointer; raises it where it is not tolerated."""
        if not isinstance(error, self.tolerated):
            raise error
        self.add(error.pointer if error.pointer is not None else pointer, keyword, REFUSED, error.message)

    @property
    def warnings(self):
        """Sentences about what is not as it seems."""
        out = []
        for (pointer, keyword), (status, reason) in self.found.items():
            if not reason:
                continue
            how = ", so it is left out" if status == REFUSED else ""
            out.append(f"{keyword or 'schema'}: {reason}{how} (at {pointer or '/'})")
        return out

    def entries(self):
        """An `Entry` for each keyword that was read, and for each note."""
        found, out, top = dict(self.found), {}, document_of(self.nodes[0]) if self.nodes else None
        for node in self.nodes:
            base, document = node.pointer, document_of(node)
            where = "" if document is top else document.uri + "#"
            for word in node.schema:
                key = f"{base}/{escape(word)}", word
                status, reason = found.pop(key, (None, ""))
                if status is None:
                    status, reason = self.plain(node, word)
                out.setdefault(where + key[0], Entry(where + key[0], word, status, reason))
        out = list(out.values())
        return out + [Entry(pointer, keyword, status, reason) for (pointer, keyword), (status, reason) in found.items()]

    @staticmethod
    def plain(node, word):
        """What a keyword comes to about which there is no note."""
        schema = node.schema
        if word in node.resource.ignored:
            return IGNORED, "the meta-schema does not have its vocabulary"
        if word in _BESIDE and _BESIDE[word] not in schema:
            return IGNORED, f"without {_BESIDE[word]} it says nothing"
        if word == "additionalItems" and not isinstance(schema.get("items"), (list, tuple)):
            return IGNORED, "it says nothing but beside a list of items"
        if word == "prefixItems" and isinstance(schema.get("items"), (list, tuple)):
            return IGNORED, "beside a list of items it says nothing"
        if word in KEYWORDS or word in PLACES or word == "x-guidance" and node.pointer == "":
            return ENFORCED, ""
        return ANNOTATION, ""


def document_of(node):
    """The resource that is the whole document in which a node stands."""
    resource = node.resource
    while resource.outer is not None:
        resource = resource.outer
    return resource
