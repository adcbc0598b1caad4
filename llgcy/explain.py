"""Why a text is no text of a grammar: how far it goes, and what was expected there, in the terms of the grammar."""
from __future__ import annotations

from dataclasses import dataclass

from llgcy.core.machine import Machine

MOST = 12            # things expected that a message names
NEAR = 20            # bytes before the place that a message shows
END = "the end of the text"


@dataclass(frozen=True)
class Explanation:
    """How a machine read a text.

    Parameters
    ----------
    accepted : bool
        The whole text is in the language.
    offset : int
        Bytes of the text that some text of the language begins with, up to the beginning of a character.
    line, column : int
        The same place, both from 1; columns count characters.
    expected : list of str
        What could come there, by the names that the grammar has for it.
    rule : str or None
        The rule in which the first of these stands, where rules have names.
    before, found : str
        The text before the place, as far as it is near, and the character there; empty at the end of the text.
    ending : str or None
        A shortest text that would end it, where it is unfinished.
    """

    accepted: bool
    offset: int
    line: int
    column: int
    expected: list[str]
    rule: str | None
    before: str
    found: str
    ending: str | None

    def __str__(self) -> str:
        if self.accepted:
            return "the text is accepted"
        names = self.expected[:MOST] + (["others"] if len(self.expected) > MOST else [])
        expected = f"expected {' or '.join(filter(None, (', '.join(names[:-1]), *names[-1:])))}" if names else "nothing may come here"
        place = f"byte {self.offset} (line {self.line}, column {self.column})"
        where = f", in {self.rule}" if self.rule is not None else ""
        if self.found:
            return f"at {place}: {self.found!r} after {self.before!r}; {expected}{where}"
        ending = f"; a shortest ending is {self.ending!r}" if self.ending is not None else ""
        return f"at its end, {place}: after {self.before!r} something is missing; {expected}{where}{ending}"


def explain(machine: Machine, text: bytes, state: bytes | None = None, offset: int = 0, sign: str = "") -> Explanation:
    """Reads a text from the beginning.

    Parameters
    ----------
    machine : Machine
        No other thread may use it meanwhile.
    text : bytes
    state : bytes, optional
        The state behind the first ``offset`` bytes, where the rest is to be read from.
    offset : int
    sign : str
        What comes behind the text and is no text, such as a special token.

    Raises
    ------
    LimitError
        The text needs more than the machine's budget.
    """
    if state is None:
        state = machine.begin()
    character = state, offset                # the state where the last character begins
    for offset in range(offset, len(text)):
        if text[offset] & 0xC0 != 0x80:
            character = state, offset
        after = machine.after(state, text[offset:offset + 1])
        if after is None:
            return explained(machine, character[0], text, character[1])
        state = after
    return explained(machine, state, text, len(text), sign)


def expected(machine: Machine, state: bytes) -> list[str]:
    """What may come in a state, the end of the text included."""
    return list(dict.fromkeys(what for what, _ in machine.expected(state))) + [END] * machine.may_end(state)


def explained(machine: Machine, state: bytes, text: bytes, offset: int, sign: str = "") -> Explanation:
    """The explanation of a text of which ``offset`` bytes led to a state.

    Parameters
    ----------
    machine : Machine
    state : bytes
        Its 40 bytes.
    text : bytes
        All of it; byte ``offset`` is refused there, or is its end.
    offset : int
    sign : str
        What is refused at its end, where that is no text.
    """
    accepted = machine.may_end(state) and offset == len(text) and not sign
    ending = None
    if offset == len(text) and not accepted and not sign:
        try:
            ending = machine.completion(state).decode("utf-8", "replace")
        except Exception:            # no ending that bytes spell, or none found in time: the explanation does without
            ending = None
    rule = next((rule for _, rule in machine.expected(state) if rule is not None), None)
    return refused(text, offset, expected(machine, state), rule=rule, sign=sign, accepted=accepted, ending=ending)


def refused(text: bytes, offset: int, expected: list[str], *, rule: str | None = None, sign: str = "", accepted: bool = False,
            ending: str | None = None) -> Explanation:
    """The explanation of a text that is refused at an offset, as far as no machine is asked."""
    lines = text[:offset].decode("utf-8", "replace").split("\n")
    found = _shown(_character(text[offset:offset + 4])) if offset < len(text) else sign
    return Explanation(accepted, offset, len(lines), len(lines[-1]) + 1, expected, rule, _shown(text[max(0, offset - NEAR):offset]), found, ending)


def _character(data: bytes) -> bytes:
    """The first character of some bytes; the first byte where they begin with none."""
    return next((data[:n] for n in range(1, len(data) + 1) if _is_text(data[:n])), data[:1])


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
