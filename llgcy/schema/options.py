"""What a caller may choose when a JSON Schema is compiled."""
from typing import Any, Mapping, NamedTuple, Optional

from llgcy.schema.vocabulary import DRAFTS

_CHOICES = {
    "draft": (None, *DRAFTS),
    "property_order": ("schema", "any"),
    "number_spelling": ("plain", "any"),
    "formats": ("enforce", "strict", "annotation"),
    "openapi": (False, True),
    "lenient": (False, True),
}


class Options(NamedTuple):
    """Options of the schema layer. Make one by `Options.of`, which checks the values.

    Attributes
    ----------
    draft : str or None
        The draft of documents that name none by ``$schema``: "draft4", "draft6", "draft7", "draft2019-09" or
        "draft2020-12". None: 2020-12, in which keywords of older drafts keep their meaning.
    property_order : str
        "schema": properties come in the order in which the schema declares them, then those only required, then all
        others. "any": in any order.
    number_spelling : str
        "plain" (no exponents under bounds, integers as digits) or "any" (every JSON spelling).
    formats : str
        "enforce"; "strict", which refuses formats that are enforced by a part of their language only; "annotation", which
        enforces none.
    resources : mapping
        Documents that references may lead to, by URI.
    openapi : bool
        OpenAPI's ``nullable`` adds null to the ``type`` beside it. Its ``discriminator`` beside ``oneOf`` or ``anyOf`` names a property
        whose value decides for a branch: one of the keys that the mapping has for it, or the last part of its ``$ref`` if it has none.
    lenient : bool
        What llgcy cannot enforce is left out of the schema, and told in the warnings, instead of being refused. Malformed schemas
        are errors all the same.

    Examples
    --------
    >>> Options.of(property_order="any").number_spelling
    'plain'
    """

    draft: Optional[str] = None
    property_order: str = "schema"
    number_spelling: str = "plain"
    formats: str = "enforce"
    resources: Mapping[str, Any] = {}
    openapi: bool = False
    lenient: bool = False

    @classmethod
    def of(cls, beside=(), /, **given):
        """Options from keyword arguments.

        Parameters
        ----------
        beside : iterable of str
            Options that the caller has besides these; an error names them too.
        **given
            Fields of `Options`.

        Raises
        ------
        TypeError
            An option of that name does not exist.
        ValueError
            An option has no such value.
        """
        unknown = given.keys() - set(cls._fields)
        if unknown:
            raise TypeError(f"unknown option {sorted(unknown)[0]!r}; the options are {', '.join([*cls._fields, *beside])}")
        for name, values in _CHOICES.items():
            if name in given and given[name] not in values:
                shown = ", ".join(map(repr, values))
                raise ValueError(f"{name} must be one of {shown}, not {given[name]!r}")
        return cls(**given)
