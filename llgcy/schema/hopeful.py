"""Emptiness where an answer is only wanted, not needed: validators read texts that are finished, and look ahead to refuse early."""
from llgcy.errors import LimitError
from llgcy.schema.empty import Emptiness

#: Questions that may run out of fuel. From then on what is not plain to see counts as inhabited.
PATIENCE = 4


class Hopeful(Emptiness):
    """Answers like `Emptiness`, but what cannot be decided is taken for inhabited.

    Where a container may end, and what a value is, is exact all the same: neither takes a search.
    """

    FUEL = 20_000

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.patience = PATIENCE

    @property
    def sure(self):
        """Whether all answers so far are known to be right, so that endings can be built from them."""
        return self.patience == PATIENCE

    def inhabited(self, v):
        answer = self.quick(v)
        if answer is None:
            answer = self.known.get(v)
        return self.answered(v, v) if answer is None else answer

    def run(self, question):
        if isinstance(question, (int, tuple)):
            return super().run(question)
        self.fuel, send = self.FUEL, None
        while True:                     # what it asks is answered one by one, so that no question costs it another one's fuel
            try:
                asked = question.send(send)
            except StopIteration as stop:
                return stop.value
            if asked.__class__ is int:
                send = self.inhabited(asked)
            else:
                send = self.known[asked[0]] if asked[0] in self.known else self.answered(asked[0], asked)

    def can(self, question):
        try:
            return super().can(question)
        except LimitError:
            self.patience -= 1
            return True

    def found(self, question, most):
        try:
            return super().found(question, most)
        except LimitError:
            self.patience -= 1
            return most

    def answered(self, key, question):
        """The answer to a question that is not known yet, or one that says yes where it is too hard to find."""
        if self.patience > 0:
            try:
                return super().run(question)
            except LimitError:
                self.patience -= 1
                self.fuel = self.FUEL
        hope = self.known[key] = True if question.__class__ is int else ()
        return hope
