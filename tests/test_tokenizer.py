"""Tokenizers, against tokenizers and tiktoken themselves."""
import importlib.util
import json
import os
import sys
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tokenizers
from llgcy.errors import LimitError, TokenizerError
from llgcy.tokenizer import Tokenizer, byte_alphabet
from llgcy.tokenizer.longest_match import LongestMatch
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, trainers

TEXT = ["The quick brown fox jumps over the lazy dog, and the dog isn't amused: {\"a\": [1, 2, 30]}\n",
        "Größe und Übermut — ça va? 日本語の文字 🎉🎉 naïve café\n", "    def f(self, x):\n        return self.x + x\n"] * 5
SAMPLES = ["", "a", "the dog", " the  dog\n\n", "Größe 日本語 🎉", "<|end|>", "x<|end|>y <tool> z", "▁under▁score", "<0x0A>", "e\u0301 and ﬁ", "\x00\x7f"]


def byte_level(**options):
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(**options)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<|end|>", "<|pad|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.add_tokens(["<tool>", "café"])
    return tokenizer


def byte_fallback():
    """As Llama 2's: text tokens with U+2581 for the space, byte tokens for all else."""
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    tokenizer.train_from_iterator(TEXT[::3], trainer)
    state = json.loads(tokenizer.to_str())
    model, vocab = state["model"], state["model"]["vocab"]
    for byte in range(256):
        vocab.setdefault(f"<0x{byte:02X}>", len(vocab))
    model.update(byte_fallback=True, unk_token="<unk>", fuse_unk=True)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(state))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.add_tokens([AddedToken("<tool>", special=False, normalized=False)])
    return tokenizer


def unigram():
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(TEXT, trainers.UnigramTrainer(vocab_size=150, special_tokens=["</s>"], unk_token="<unk>", show_progress=False))
    return tokenizer


def spelled(tokenizer, ids):
    """What the library says that the ids spell, as bytes and without special tokens."""
    return tokenizer.decode(ids, skip_special_tokens=True)


# What tokens spell

def test_alphabet_is_the_librarys():
    assert sorted(byte_alphabet.byte_characters()) == sorted(pre_tokenizers.ByteLevel.alphabet())
    for byte in range(256):
        char = byte_alphabet.byte_characters()[byte]
        assert byte_alphabet.to_bytes(char) == bytes([byte])
        assert decoders.ByteLevel().decode([char]) == bytes([byte]).decode("utf-8", "replace")
    assert byte_alphabet.to_bytes(" ") is None and byte_alphabet.to_bytes("a\n") is None and byte_alphabet.to_bytes("日") is None


@pytest.mark.parametrize("options", [{"add_prefix_space": False}, {"add_prefix_space": True}])
def test_byte_level_tokens_spell_what_the_library_decodes(options):
    theirs = byte_level(**options)
    ours = Tokenizer.from_huggingface(theirs)
    assert ours.vocab_size == theirs.get_vocab_size() and ours.eos_token_ids == (0,) and ours.specials == {"<|end|>": 0, "<|pad|>": 1}
    assert ours.stats()["missing_bytes"] == []
    literal = theirs.token_to_id("café")     # text here; the library decodes it in the byte alphabet, and so not as it was written
    for id in range(ours.vocab_size):
        if id != literal:
            assert ours.decode_bytes([id]).decode("utf-8", "replace") == spelled(theirs, [id])
    assert ours.token_bytes(literal) == "café".encode() and ours.token_bytes(theirs.token_to_id("<tool>")) == b"<tool>"
    assert ours.text_tokens()[:2] == [None, None] and ours.token_bytes(0) is None


def test_byte_fallback_tokens_spell_what_the_library_decodes():
    theirs = byte_fallback()
    ours = Tokenizer.from_huggingface(theirs)
    assert ours.eos_token_ids == (2,) and ours.specials == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert ours.token_bytes(theirs.token_to_id("<0x0A>")) == b"\n" and ours.token_bytes(theirs.token_to_id("▁")) == b" "
    for id in range(3, ours.vocab_size):
        text = theirs.decode([theirs.token_to_id("d"), id])      # behind a letter, since the decoder strips a space at the very start
        assert text.startswith("d") and ours.token_bytes(id).decode("utf-8", "replace") == text[1:]
    assert ours.stats()["missing_bytes"] == []
    same = theirs.token_to_id("a"), theirs.token_to_id("<0x61>")
    assert None not in same and {ours.token_bytes(id) for id in same} == {b"a"}      # two ids, same bytes
    assert ours.stats()["distinct"] < ours.stats()["text"]


def test_metaspace_without_byte_tokens():
    theirs = unigram()
    ours = Tokenizer.from_huggingface(theirs)
    assert "<unk>" in ours.specials and ours.stats()["missing_bytes"] != []
    ids = theirs.encode("the dog isn't amused").ids
    assert ours.decode_bytes(ids) == b" the dog isn't amused"
    assert ours.decode_bytes(ours.encode("the dog")) == b"the dog"
    with pytest.raises(TokenizerError, match="0x00"):
        ours.encode("the \x00 dog")


def test_added_tokens_are_text_unless_special():
    theirs = byte_level(add_prefix_space=False)
    ours = Tokenizer.from_huggingface(theirs)
    tool, end = theirs.token_to_id("<tool>"), 0
    assert theirs.encode("a<|end|>b<tool>").ids.count(end) == 1, "the library reads special tokens from text"
    ids = ours.encode("a<|end|>b<tool>")
    assert end not in ids and tool in ids


@pytest.mark.parametrize("decoder", [decoders.WordPiece(), decoders.CTC(), decoders.BPEDecoder(), None, decoders.Sequence([decoders.Strip(" ", 1, 0)])])
def test_unreadable_decoder_is_refused(decoder):
    theirs = tokenizers.Tokenizer(models.WordLevel({"a": 0, "</s>": 1}, unk_token="</s>"))
    if decoder is not None:
        theirs.decoder = decoder
    with pytest.raises(TokenizerError, match="from_vocab"):
        Tokenizer.from_huggingface(theirs, eos_token_id=1)


def test_word_suffix_is_refused():
    theirs = tokenizers.Tokenizer(models.BPE({"a": 0, "a</w>": 1}, [], end_of_word_suffix="</w>"))
    theirs.decoder = decoders.ByteLevel()
    with pytest.raises(TokenizerError, match="end_of_word_suffix"):
        Tokenizer.from_huggingface(theirs, eos_token_id=1)


def test_byte_level_by_its_pre_tokenizer():
    theirs = byte_level(add_prefix_space=False)
    state = json.loads(theirs.to_str()) | {"decoder": None}
    ours = Tokenizer.from_huggingface(tokenizers.Tokenizer.from_str(json.dumps(state)))
    assert ours.text_tokens() == Tokenizer.from_huggingface(theirs).text_tokens()


# Encoding

@pytest.mark.parametrize("make", [lambda: byte_level(add_prefix_space=False), lambda: byte_level(add_prefix_space=True), byte_fallback],
                         ids=["byte-level", "byte-level with prefix space", "byte-fallback"])
def test_encode_spells_the_text(make):
    theirs = make()
    theirs.enable_truncation(2)
    theirs.enable_padding(length=50)
    ours = Tokenizer.from_huggingface(theirs)

    @given(st.text() | st.sampled_from(SAMPLES) | st.binary())
    @example("\U0010ffff")
    @example(b"\xff\xf0\x9f\x8e\xf0\x9f\x8e\x89\x80")
    def check(text):
        ids = ours.encode(text)
        assert ours.decode_bytes(ids) == (text.encode() if isinstance(text, str) else text)
        assert not set(ids) & set(ours.specials.values())

    check()
    for text in SAMPLES:
        assert ours.decode_bytes(ours.encode(text)) == text.encode()
    assert theirs.truncation is not None and theirs.padding is not None, "the caller's tokenizer was changed"


def test_encode_is_the_librarys_where_that_spells_the_text():
    theirs = byte_level(add_prefix_space=False)
    ours = Tokenizer.from_huggingface(theirs)
    for text in TEXT + ["no special tokens here", " 日本"]:
        assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids
    fallback = byte_fallback()
    ours = Tokenizer.from_huggingface(fallback)
    assert ours.encode(" the dog") == fallback.encode("the dog", add_special_tokens=False).ids
    assert ours.token_bytes(ours.encode("the dog")[0])[:1] == b"t"


def test_normaliser_does_not_change_the_text():
    theirs = byte_level(add_prefix_space=False)
    theirs.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    ours = Tokenizer.from_huggingface(theirs)
    text = "CAFE\u0301 and café"
    assert ours.decode_bytes(ours.encode(text)) == text.encode()


def test_encode_refuses_lone_surrogates():
    with pytest.raises(UnicodeEncodeError):
        Tokenizer.single_byte().encode("a\ud800")
    with pytest.raises(TypeError):
        Tokenizer.single_byte().encode(5)


@given(st.lists(st.binary(max_size=4), max_size=8), st.binary(max_size=12))
def test_longest_match_takes_the_longest_token(tokens, data):
    def expected(rest):
        if not rest:
            return []
        fitting = [token for token in tokens if token and rest.startswith(token)]
        if not fitting:
            return None
        best = max(fitting, key=len)
        tail = expected(rest[len(best):])
        return None if tail is None else [tokens.index(best), *tail]

    if expected(data) is None:
        with pytest.raises(TokenizerError):
            LongestMatch(tokens).encode(data)
    else:
        assert LongestMatch(tokens).encode(data) == expected(data)


# Where the end of sequence is known from

def test_unknown_end_is_refused_with_the_way_out():
    theirs = byte_level()
    state = json.loads(theirs.to_str().replace("<|end|>", "<|stop|>"))
    with pytest.raises(TokenizerError, match=r"eos_token_id=.*<\|stop\|>"):
        Tokenizer.from_huggingface(tokenizers.Tokenizer.from_str(json.dumps(state)))
    with pytest.raises(TokenizerError, match="eos_token_id="):
        Tokenizer.from_vocab([b"a"])


def test_ambiguous_end_is_refused():
    theirs = byte_level()
    theirs.add_special_tokens(["</s>"])
    with pytest.raises(TokenizerError, match="may be the end"):
        Tokenizer.from_huggingface(theirs)
    assert Tokenizer.from_huggingface(theirs, eos_token_id=[theirs.token_to_id("</s>"), 0, 0]).eos_token_ids == (theirs.token_to_id("</s>"), 0)


@pytest.mark.parametrize("files, expected", [
    ({}, (0,)),
    ({"tokenizer_config.json": {"eos_token": "<|pad|>"}}, (1,)),
    ({"tokenizer_config.json": {"eos_token": {"content": "<|pad|>"}}}, (1,)),
    ({"tokenizer_config.json": {"eos_token": None}}, (0,)),
    ({"generation_config.json": {"eos_token_id": [1, 0]}, "tokenizer_config.json": {"eos_token": "<|end|>"}}, (1, 0)),
    ({"config.json": {"eos_token_id": 1}}, (1,)),
])
def test_end_from_the_files_beside(tmp_path, files, expected):
    byte_level().save(str(tmp_path / "tokenizer.json"))
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    for path in tmp_path, str(tmp_path / "tokenizer.json"):
        assert Tokenizer.from_huggingface(path).eos_token_ids == expected
    assert Tokenizer.from_huggingface(tmp_path, eos_token_id=5).eos_token_ids == (5,)


def test_unreadable_config(tmp_path):
    byte_level().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text("{")
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": 1}')
    with pytest.raises(TokenizerError, match="tokenizer_config.json can't be read"):
        Tokenizer.from_huggingface(tmp_path)


TURNS = """{% for message in messages %}{% if message['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}
{{- '<|turn|>' + message['role'] + '\n' }}{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] | trim }}{% endgeneration %}
{%- else %}{{ message['content'] | tojson }}{% endif %}{{ END }}
{% endfor %}{% if add_generation_prompt %}{{ '<|turn|>assistant' }}{% endif %}"""


@pytest.mark.parametrize("end, expected", [
    ("'<|pad|>'", (0, 1)), ("eos_token", (0,)), ("'\n <|pad|>\n'", (0, 1)), ("'text'", (0,)), ("''", (0,)), ("'<|pad|>x'", (0, 1)), ("raise_exception('no')", (0,)),
    ("1/0", (0,)), ("(", (0,)),
])
def test_end_of_the_chat_templates_turn(tmp_path, end, expected):
    pytest.importorskip("jinja2", reason="Jinja reads chat templates")
    byte_level().save(str(tmp_path / "tokenizer.json"))
    template = TURNS.replace("END", end)

    class Fast:
        backend_tokenizer, eos_token_id, chat_template, special_tokens_map = byte_level(), 0, template, {"eos_token": "<|end|>"}

    assert Tokenizer.from_huggingface(Fast()).eos_token_ids == expected
    for config in {"chat_template": template}, {"chat_template": [{"name": "tool", "template": "x"}, {"name": "default", "template": template}]}:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|end|>", **config}))
        assert Tokenizer.from_huggingface(tmp_path).eos_token_ids == expected
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|end|>", "chat_template": "broken {{"}))
    (tmp_path / "chat_template.jinja").write_text(template)              # which goes before
    assert Tokenizer.from_huggingface(tmp_path).eos_token_ids == expected
    assert Tokenizer.from_huggingface(tmp_path, eos_token_id=5).eos_token_ids == (5,)


def test_end_of_a_turn_that_is_an_added_token(tmp_path):
    """Text for the tokenizer, an end for the model; the longest name counts."""
    pytest.importorskip("jinja2", reason="Jinja reads chat templates")
    theirs = byte_level()
    theirs.add_tokens(["<tool>more"])
    theirs.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "chat_template.jinja").write_text("{{ messages[1].content }}<tool>more<tool>")
    tokenizer = Tokenizer.from_huggingface(tmp_path)
    assert tokenizer.eos_token_ids == (0, theirs.token_to_id("<tool>more")) and tokenizer.token_bytes(theirs.token_to_id("<tool>more")) is None


def test_chat_template_as_transformers_runs_it(tmp_path):
    """The token after the answer, by transformers' own rendering."""
    transformers = pytest.importorskip("transformers", reason="transformers is an optional host")
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), eos_token="<|end|>", chat_template=TURNS.replace("END", "'<|pad|>'"))
    text = theirs.apply_chat_template([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], tokenize=False)
    assert text.endswith("b<|pad|>\n")
    assert Tokenizer.from_huggingface(theirs).eos_token_ids == (0, 1)
    theirs.save_pretrained(tmp_path)
    assert Tokenizer.from_huggingface(tmp_path).eos_token_ids == (0, 1)
    loaded = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert Tokenizer.from_huggingface(loaded).eos_token_ids == (0, 1)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [5, 0]}')
    for source in loaded, tmp_path:
        assert Tokenizer.from_huggingface(source).eos_token_ids == (5, 0, 1)


def test_chat_template_without_jinja(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setitem(sys.modules, "jinja2.exceptions", None)
    byte_level().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "chat_template.jinja").write_text("{{ messages[1].content }}<|pad|>")
    assert Tokenizer.from_huggingface(tmp_path).eos_token_ids == (0,) and "jinja2" in caplog.text


def test_path_in_the_working_directory(tmp_path, monkeypatch):
    byte_level().save(str(tmp_path / "tokenizer.json"))
    monkeypatch.chdir(tmp_path)
    assert Tokenizer.from_huggingface("tokenizer.json").eos_token_ids == Tokenizer.from_huggingface(".").eos_token_ids == (0,)


def test_unreadable_files(tmp_path):
    with pytest.raises(TokenizerError, match="tokenizer.json"):
        Tokenizer.from_huggingface(tmp_path / "missing")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(TokenizerError, match="not a tokenizer.json"):
        Tokenizer.from_huggingface(tmp_path)
    byte_level().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "generation_config.json").write_text("[")
    with pytest.raises(TokenizerError, match="generation_config.json"):
        Tokenizer.from_huggingface(tmp_path)


def test_transformers_tokenizers_are_read_by_their_backend():
    class Fast:
        backend_tokenizer, eos_token_id = byte_level(), 1

    class Slow:
        def convert_ids_to_tokens(self, ids): ...

    assert Tokenizer.from_huggingface(Fast()).eos_token_ids == (1,)
    with pytest.raises(TokenizerError, match="slow"):
        Tokenizer.from_huggingface(Slow())
    with pytest.raises(TokenizerError, match="takes a"):
        Tokenizer.from_huggingface(3)


# Plain lists

def test_kinds_of_ids():
    tokenizer = Tokenizer.from_vocab([b"a", b"", None, b"</s>", b"a", b"\xf0\x9f", b"<s>"], special={"<s>": 6, "<tool>": 7}, eos_token_id=[3, 7], vocab_size=10)
    assert tokenizer.vocab_size == 10 and tokenizer.eos_token_ids == (3, 7)
    assert tokenizer.text_tokens() == [b"a", None, None, None, b"a", b"\xf0\x9f", None, None, None, None]
    assert tokenizer.specials == {"<s>": 6, "<tool>": 7, "</s>": 3}
    assert [tokenizer.token_bytes(id) for id in range(10)] == [b"a", b"", b"", None, b"a", b"\xf0\x9f", None, None, b"", b""]
    assert tokenizer.decode_bytes([6, 0, 5, 1, 9, 3]) == b"a\xf0\x9f"
    stats = tokenizer.stats()
    assert (stats["text"], stats["special"], stats["empty"], stats["padding"], stats["distinct"], stats["longest"], stats["bytes"]) == (3, 3, 2, 2, 2, 2, 4)
    assert len(stats["missing_bytes"]) == 255 and 97 not in stats["missing_bytes"]
    for id in -1, 10:
        with pytest.raises(ValueError):
            tokenizer.token_bytes(id)
        with pytest.raises(ValueError):
            tokenizer.decode_bytes([id])


def test_text_tokens_belong_to_the_caller():
    tokenizer = Tokenizer.single_byte()
    tokenizer.text_tokens()[0] = None
    assert tokenizer.text_tokens()[0] == b"\0"


def test_wrong_arguments():
    for wrong in ({"eos_token_id": 2}, {"eos_token_id": -1}, {"eos_token_id": []}, {"eos_token_id": 0, "special": {"x": -1}},
                  {"eos_token_id": 0, "vocab_size": 1}):
        with pytest.raises(TokenizerError):
            Tokenizer.from_vocab([b"a", b"b"], **wrong)
    for wrong in ({"eos_token_id": "0"}, {"eos_token_id": 0.0}, {"eos_token_id": 0, "special": {3: 1}}, {"eos_token_id": 0, "vocab_size": "2"}):
        with pytest.raises(TypeError):
            Tokenizer.from_vocab([b"a", b"b"], **wrong)
    with pytest.raises(TypeError, match="token 1 is str"):
        Tokenizer.from_vocab([b"a", "b"], eos_token_id=0)
    for wrong in ({"vocab_size": 10**15}, {"special": {"x": 10**15}}):
        with pytest.raises(LimitError):
            Tokenizer.from_vocab([b"a"], eos_token_id=0, **wrong)
    assert Tokenizer.from_vocab([b"a"], eos_token_id=1, vocab_size=2).text_tokens() == [b"a", None]


def test_encode_of_a_plain_list():
    tokens = [b"a", b"b", b"ab", b"</s>"]
    with pytest.raises(TokenizerError, match="encode="):
        Tokenizer.from_vocab(tokens, eos_token_id=3).encode("ab")
    assert not Tokenizer.from_vocab(tokens, eos_token_id=3).can_encode
    letters = Tokenizer.from_vocab(tokens, eos_token_id=3, encode=lambda text: ["ab".index(char) for char in text])
    assert letters.can_encode and letters.encode("abab") == [0, 1, 0, 1] and letters.encode(b"ba") == [1, 0]
    changes = Tokenizer.from_vocab(tokens, eos_token_id=3, encode=lambda text: [0])
    assert changes.encode("abab") == [2, 2], "not the text: longest match instead"
    adds = Tokenizer.from_vocab(tokens, eos_token_id=3, encode=lambda text: [3, *["ab".index(char) for char in text]])
    with pytest.raises(TokenizerError, match="special"):
        adds.encode("ab")


def test_single_byte():
    tokenizer = Tokenizer.single_byte()
    assert tokenizer.vocab_size == 257 and tokenizer.eos_token_ids == (256,)
    data = bytes(range(256))
    assert tokenizer.encode(data) == list(data) and tokenizer.decode_bytes(range(257)) == data
    assert Tokenizer.single_byte(vocab_size=300).text_tokens()[257:] == [None] * 43


def test_fingerprint_is_of_the_content():
    base = dict(tokens=[b"a", b"bc", None], special={"<s>": 2}, eos_token_id=2)

    def of(**changes):
        arguments = base | changes
        return Tokenizer.from_vocab(arguments.pop("tokens"), **arguments).fingerprint

    same = of(), of(special={"<s>": 2}, tokens=[b"a", b"bc", b"<s>"]), of(encode=lambda text: [])
    assert len(set(same)) == 1 and len(same[0]) == 64
    others = [of(tokens=[b"ab", b"c", None]), of(vocab_size=4), of(special={"<t>": 2}), of(eos_token_id=[2, 0]), of(special={"<s>": 2, "<t>": 0}),
              of(tokens=[b"bc", b"a", None])]
    assert len({*others, same[0]}) == len(others) + 1


# tiktoken

def test_tiktoken_spells_what_tiktoken_decodes():
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257, b" the": 259}       # 258 is a gap
    encoding = tiktoken.Encoding("small", pat_str=r" ?\w+|\s+|[^\w\s]+", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 261, "<|x|>": 260})
    ours = Tokenizer.from_tiktoken(encoding)
    assert ours.vocab_size == 262 and ours.eos_token_ids == (261,) and ours.specials == {"<|endoftext|>": 261, "<|x|>": 260}
    assert ours.text_tokens() == [encoding.decode_single_token_bytes(id) for id in range(258)] + [None, b" the", None, None]
    text = "the the <|endoftext|> ü"
    assert ours.encode(text) == encoding.encode(text, disallowed_special=()) and ours.decode_bytes(ours.encode(text)) == text.encode()

    class Public:
        """The documented part of an encoding, without the tables behind it."""

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return getattr(encoding, name)

    assert Tokenizer.from_tiktoken(Public()).fingerprint == ours.fingerprint
    without = tiktoken.Encoding("bare", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(TokenizerError, match="eos_token_id="):
        Tokenizer.from_tiktoken(without)
    with pytest.raises(TokenizerError, match="tiktoken.Encoding"):
        Tokenizer.from_tiktoken("cl100k_base")


@pytest.fixture(scope="module")
def llama3():
    tiktoken = pytest.importorskip("tiktoken")
    spec = importlib.util.find_spec("llama_models")
    if spec is None:
        pytest.skip("needs: pip install --no-deps llama-models")
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(os.path.join(os.path.dirname(spec.origin), "llama3", "tokenizer.model"))
    special = {f"<|special_{id}|>": id for id in range(128000, 128256)}
    return tiktoken.Encoding("llama3", pat_str=r" ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+", mergeable_ranks=ranks, special_tokens=special)


@pytest.mark.shared
def test_llama3(llama3):
    times = []
    for _ in range(5):           # of the processor, and the best of them: the machine may be busy
        start = time.process_time()
        ours = Tokenizer.from_tiktoken(llama3, eos_token_id=[128001, 128009])
        ours.text_tokens()
        times.append(time.process_time() - start)
    assert min(times) < 0.3
    assert ours.vocab_size == 128256 and ours.stats()["missing_bytes"] == [] and ours.stats()["text"] == 128000
    assert ours.text_tokens()[:128000:37] == [llama3.decode_single_token_bytes(id) for id in range(0, 128000, 37)]
    assert ours.text_tokens()[128000:] == [None] * 256
    for text in TEXT[:3]:
        assert ours.encode(text) == llama3.encode_ordinary(text)
