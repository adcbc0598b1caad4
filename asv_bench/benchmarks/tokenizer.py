"""Reading tokenizers: moved by ``llgcy/tokenizer/``."""
from llgcy.tokenizer import Tokenizer, default

SIZE = 128_000


def large():
    """As many distinct tokens as a large model has."""
    return [bytes([byte]) for byte in range(256)] + [b" %d" % number for number in range(256, SIZE)]


class Load:
    def setup(self):
        self.tokens = large()
        self.tokenizer = Tokenizer.from_vocab(self.tokens, eos_token_id=SIZE, vocab_size=SIZE + 256)

    def time_default(self):
        default.tokenizer.__wrapped__()

    def time_from_vocab(self):
        Tokenizer.from_vocab(self.tokens, eos_token_id=SIZE, vocab_size=SIZE + 256)

    def time_text_tokens(self):
        self.tokenizer.text_tokens()

    def time_fingerprint(self):
        Tokenizer.fingerprint.func(self.tokenizer)


class Encode:
    def setup(self):
        self.tokenizer = Tokenizer.default()
        self.text = '{"name": "Alice", "tags": ["a", "b"], "n": 12.5, "note": "Größe — 日本語"}\n' * 20
        self.ids = self.tokenizer.encode(self.text)

    def time_encode(self):
        self.tokenizer.encode(self.text)

    def time_decode(self):
        self.tokenizer.decode_bytes(self.ids)

    def time_longest_match(self):
        self.tokenizer._longest_match.encode(self.text.encode())

    def track_tokens(self):
        return len(self.ids)

    track_tokens.unit = "tokens"
