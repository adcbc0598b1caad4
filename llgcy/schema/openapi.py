"""OpenAPI's words beside JSON Schema: ``nullable`` (3.0) and ``discriminator``, by the option ``openapi``."""
from urllib.parse import unquote

from llgcy.errors import GrammarError, UnsupportedKeywordError
from llgcy.schema.formula import ANYTHING
from llgcy.schema.notes import ANNOTATION, ENFORCED, IGNORED

WORDS = ("nullable", "discriminator")


def read(translator, node, word, value):
    """Reads one of the words of a schema object into `Node.sub`, or notes that it says nothing."""
    pointer, notes = f"{node.pointer}/{word}", translator.notes
    if not translator.options.openapi:
        # A discriminator only names the branch that an instance takes anyhow; without nullable, null is missing.
        reason = "a word of OpenAPI, which has its meaning by openapi=True alone" if word == "nullable" and value is True else ""
        notes.add(pointer, word, ANNOTATION, reason)
    elif word == "nullable":
        if not isinstance(value, bool):
            raise GrammarError(f"nullable must be true or false, not {value!r:.40}", pointer=pointer)
        if value and "type" not in node.schema:
            notes.add(pointer, word, IGNORED, "without type it says nothing")
        else:
            notes.add(pointer, word, ENFORCED, "")
            node.sub[word] = value
    else:
        name = value.get("propertyName") if isinstance(value, dict) else None
        mapping = value.get("mapping", {}) if isinstance(value, dict) else None
        if not isinstance(name, str) or not isinstance(mapping, dict) or not all(isinstance(x, str) for x in mapping.values()):
            raise GrammarError("discriminator must be an object with a propertyName, and a mapping of names to references if any", pointer=pointer)
        if "oneOf" in node.schema or "anyOf" in node.schema:
            notes.add(pointer, word, ENFORCED, "")
            node.sub[word] = name, mapping
        else:
            notes.add(pointer, word, IGNORED, "without oneOf or anyOf it says nothing")


def tagged(translator, node, word, children):
    """The value formulas of the branches of ``oneOf`` or ``anyOf``, each under the names by which the discriminator leads to it.

    These are the keys that the mapping has for it, or else the last part of its reference.
    """
    fs, (name, mapping) = translator.formulas, node.sub["discriminator"]
    key, made = translator.key(name), []
    for i, child in enumerate(children):
        schema = node.schema[word][i]
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            raise UnsupportedKeywordError(f"the discriminator of {word} needs a $ref in each branch, whose name it is",
                                          pointer=f"{node.pointer}/{word}/{i}")
        own = unquote(reference).rpartition("/")[2]
        names = [tag for tag, target in mapping.items() if target in (reference, own)] or [own]
        tag = fs.all_of([fs.some(key, ANYTHING), fs.some(key, fs.constants(names) ^ 1) ^ 1])
        made.append(fs.both(translator.of(child), fs.value(object=tag)))
    return made
