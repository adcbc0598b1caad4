"""The text of a grammar, and errors that show where in it they arose."""
import bisect
import difflib
import re

from llgcy.errors import GrammarError

SHOWN = 100                     # characters of a line that an error shows at most


class Source:
    """A grammar's text with the places of its lines.

    >>> Source("a: 1").error(3, "expected an expression, found a number")
    GrammarError('expected an expression, found a number\\n  a: 1\\n     ^ (line 1, column 4)')
    """

    def __init__(self, text):
        if not isinstance(text, str):
            raise TypeError(f"a grammar must be a str, not {type(text).__name__}")
        self.text = text
        self._lines = [0]                                   # offset of the first character of every line
        self._lines.extend(found.end() for found in re.finditer("\n", text))
        try:
            text.encode()
        except UnicodeEncodeError as e:
            raise self.error(e.start, "a lone surrogate is not a character") from None

    def place(self, offset):
        """(line, column) of a character, both from 1."""
        line = bisect.bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def error(self, offset, message, kind=GrammarError):
        """An exception of `kind` whose text ends in the line in question and a caret below the place."""
        line, column = self.place(offset)
        return kind(message + "\n" + excerpt(self.text, offset), line=line, column=column)

    def error_at(self, at, message, kind=GrammarError):
        """The same for a (line, column)."""
        return self.error(self._lines[at[0] - 1] + at[1] - 1, message, kind)


def excerpt(text, offset):
    """The line around a character and a caret below it; of a long line the part around the character."""
    first = text.rfind("\n", 0, offset) + 1
    last = text.find("\n", offset)
    last = len(text) if last < 0 else last
    left = max(first, offset - SHOWN // 2)
    right = min(last, left + SHOWN)
    before = "".join("\t" if char == "\t" else " " for char in text[left:offset])
    dots, more = ("..." if left > first else ""), ("..." if right < last else "")
    line = text[left:right].rstrip("\r")
    return f"  {dots}{line}{more}\n  {' ' * len(dots)}{before}^"


def near(name, names):
    """`` (did you mean "x"?)`` where names look alike, else an empty text."""
    found = difflib.get_close_matches(name, sorted(names), n=2, cutoff=0.6)
    folded = [other for other in sorted(names) if other != name and other.lower() == name.lower()]
    found = (folded + [other for other in found if other not in folded])[:2]
    return f" (did you mean {' or '.join(found)}?)" if found else ""
