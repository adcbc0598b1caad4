"""The exceptions of llgcy. Every class has a stable ``code``; this module imports nothing."""


class LlgcyError(Exception):
    """Base of all errors that llgcy raises on purpose."""

    code = "llgcy"


class GrammarError(LlgcyError, ValueError):
    """A grammar, schema or regex that cannot be used as it stands.

    Parameters
    ----------
    message : str
        What is wrong and, where there is one, the way out.
    line, column : int, optional
        Place in the text of the grammar, both from 1.
    pointer : str, optional
        JSON pointer into the schema, such as ``/properties/a``.
    """

    code = "grammar"

    def __init__(self, message, *, line=None, column=None, pointer=None):
        self.message, self.line, self.column, self.pointer = message, line, column, pointer
        where = f" (at {pointer or '/'})" if pointer is not None else f" (line {line}, column {column})" if line else ""
        super().__init__(message + where)


class UnsupportedKeywordError(GrammarError):
    """A keyword, format or construct that llgcy knows and does not enforce, so that it refuses it."""

    code = "unsupported-keyword"


class UnsatisfiableError(GrammarError):
    """No finite text satisfies the grammar or schema."""

    code = "unsatisfiable"


class LimitError(LlgcyError):
    """A documented limit is exceeded; the message says which one and by how much.

    Parameters
    ----------
    message : str
        Which limit, its value, and what to do.
    pointer : str, optional
        JSON pointer into the schema, where the limit is one on a part of it.
    """

    code = "limit"

    def __init__(self, message, *, pointer=None):
        self.message, self.pointer = message, pointer
        super().__init__(message + (f" (at {pointer or '/'})" if pointer is not None else ""))


class BudgetError(LimitError):
    """What a grammar makes while it is used has filled its budget. Matchers answer with a fresh start where that can help."""


class UnclearError(LlgcyError):
    """A question about a state of a look-ahead that depends on names which a look-ahead does not note. For the engine itself."""


class TokenizerError(LlgcyError):
    """A tokenizer that cannot be read, or that cannot spell what the grammar needs."""

    code = "tokenizer"


class InvalidInstanceError(LlgcyError, ValueError):
    """A JSON document that is not valid by its schema.

    Parameters
    ----------
    message : str
        What is wrong.
    path : str
        JSON pointer into the document.
    offset : int or None
        Of the first byte that no valid text has there, or the length of a text that ends too early. None: the document was no text.
    expected : str
        What could have stood there.
    """

    code = "invalid-instance"

    def __init__(self, message, path, offset, expected):
        self.message, self.path, self.offset, self.expected = message, path, offset, expected
        place = "" if offset is None else f", byte {offset}"
        super().__init__(f"{message} (at {path or '/'}{place}); expected {expected}")

    def __reduce__(self):
        return type(self), (self.message, self.path, self.offset, self.expected)


class StateError(LlgcyError):
    """An object used in a state in which it cannot answer: two threads on one matcher, a closed sampler, ..."""

    code = "state"
