"""What a sequence costs beside its masks: moved by ``llgcy/core/matcher.pyx`` and ``history.pyx``."""
import llgcy

from .common import grammar_and_text


class Moves:
    """After texts of different lengths, which must make no difference to a fork and little to a rollback."""

    params = [10, 1000, 100000]
    param_names = ["length"]

    def setup(self, length):
        self.matcher = llgcy.compile(llgcy.Grammar.from_json_schema({"type": "string"}), llgcy.Tokenizer.single_byte()).matcher()
        self.matcher.accept_tokens(b'"' + b"a" * (length - 1))

    def time_fork(self, length):
        self.matcher.fork()

    def time_accept_and_rollback_1(self, length):
        self.matcher.accept_token(97)
        self.matcher.rollback(1)

    def time_accept_and_rollback_9(self, length):
        self.matcher.accept_tokens(b"aaaaaaaaa")
        self.matcher.rollback(9)


class Ask:
    def setup(self):
        tokenizer = llgcy.Tokenizer.default()
        grammar, text = grammar_and_text("person")
        self.matcher = llgcy.compile(grammar, tokenizer).matcher()
        self.matcher.accept_bytes(b'{"na')
        self.rest = tokenizer.encode('me": "a"')
        self.bitmask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
        self.matcher.fill_next_token_bitmask(self.bitmask)

    def time_fill_ready_mask(self):
        self.matcher.fill_next_token_bitmask(self.bitmask)

    def time_validate(self):
        self.matcher.validate_tokens(self.rest)

    def time_forced_bytes(self):
        self.matcher.forced_bytes()

    def time_completion(self):
        self.matcher.completion()

    def time_forced_tokens(self):
        self.matcher.forced_tokens()


class Within:
    """A text under a budget, mask by mask: by a grammar that has seen no budget yet, and by one that has; `left`: tokens beside those of the text."""

    params = [[2, 1000], [False, True]]
    param_names = ["left", "seen"]
    number, repeat, rounds = 1, 5, 2

    def setup(self, left, seen):
        self.tokenizer = llgcy.Tokenizer.default()
        grammar, text = grammar_and_text("person")
        self.ids, self.compiled = self.tokenizer.encode(text), llgcy.compile(grammar, self.tokenizer)
        self.bitmask = llgcy.allocate_bitmask(1, self.tokenizer.vocab_size)
        self.write(self.compiled.matcher())
        if seen:
            self.time_text(left, seen)

    def write(self, matcher):
        for id in self.ids:
            matcher.fill_next_token_bitmask(self.bitmask)
            if not matcher.accept_token(id):
                raise AssertionError(f"token {id} refused")

    def time_text(self, left, seen):
        self.write(self.compiled.matcher(max_tokens=len(self.ids) + left))
