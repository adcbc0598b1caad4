"""llama-cpp-python: its vocabularies, and constrained generation, with a small model of random weights that is made here."""
import ctypes
import gc
import itertools
import json
import pathlib
import re
import weakref

import numpy
import pytest

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is an optional host")
pytest.importorskip("gguf", reason="gguf writes the model for these tests")
import llgcy  # noqa: E402
import llgcy.cli as cli  # noqa: E402
import tiny_llama  # noqa: E402
from llgcy.integrations import llama_cpp as host  # noqa: E402
from llgcy.tokenizer import llama_cpp as reader  # noqa: E402

SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
          "required": ["name", "age"], "additionalProperties": False}
JSON = llgcy.Grammar.from_json_schema(SCHEMA, whitespace="compact")
WORDS = llgcy.Grammar.from_regex(r"(yes|no|not yet)( and (yes|no|not yet)){0,3}\.")
NESTED = llgcy.Grammar.from_lark('start: "(" (start | /[a-z]/){0,3} ")"')
README = pathlib.Path(__file__).parents[1] / "README.md"
VOCABULARIES = ["deepseek-llm", "falcon", "gpt-2", "llama-spm", "phi-3"]


def load(path, **options):
    return llama_cpp.Llama(str(path), verbose=False, **{"n_ctx": 256, "n_threads": 1, "n_threads_batch": 1, **options})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for seed in 1, 2:
        tiny_llama.write(folder / f"{seed}.gguf", seed)
    tiny_llama.write(folder / "space.gguf", 3, add_space=True)
    return folder


@pytest.fixture(scope="module")
def llm(files):
    model = load(files / "1.gguf")
    yield model
    model.close()


def valid(text):
    """Is it a document of the schema, by a judge that knows nothing of llgcy?"""
    document = json.loads(text)
    return list(document) == ["name", "age"] and len(document["name"]) <= 12 and type(document["age"]) is int and 0 <= document["age"] <= 150


def text_of(result):
    choice = result["choices"][0]
    return choice["text"] if "text" in choice else choice["message"]["content"]


def streamed(chunks):
    out = []
    for chunk in chunks:
        choice = chunk["choices"][0]
        out.append(choice["text"] if "text" in choice else choice["delta"].get("content") or "")
    return "".join(out)


# Vocabularies

def test_pieces_are_llama_cpps(llm, files):
    tokenizer = llgcy.Tokenizer.from_llama_cpp(llm)
    vocab, buffer = llm._model.vocab, ctypes.create_string_buffer(4096)
    assert tokenizer.vocab_size == llm.n_vocab()
    for id in range(tokenizer.vocab_size):
        length = llama_cpp.llama_token_to_piece(vocab, id, buffer, 4096, 0, True)
        special = llama_cpp.llama_vocab_get_attr(vocab, id) & (reader.UNKNOWN | reader.CONTROL) or llama_cpp.llama_vocab_is_eog(vocab, id)
        assert tokenizer.token_bytes(id) == (None if special else buffer.raw[:length])
    assert tokenizer.eos_token_ids == (2, tokenizer.specials["<end_of_turn>"])
    assert set(tokenizer.specials) == {"<unk>", "<s>", "</s>", "<tool>", "<end_of_turn>"}
    assert tokenizer.stats()["missing_bytes"] == []


def test_user_defined_tokens_are_text(llm):
    tokenizer = llgcy.Tokenizer.from_llama_cpp(llm)
    for tag in tiny_llama.TEXT_TAGS:
        assert tag.encode() in tokenizer.text_tokens()
        assert tokenizer.decode_bytes(tokenizer.encode(tag)) == tag.encode()
    ids = tokenizer.encode("<end_of_turn></s><tool>")            # names of special tokens in a text are text
    assert not set(ids) & set(tokenizer.specials.values()) and tokenizer.decode_bytes(ids) == b"<end_of_turn></s><tool>"


@pytest.mark.parametrize("text", ["", "the name", " the", "yes\nno", "\n", "a\x00b", "日本 é 🎉", b"\xff\xc3", "  "])
@pytest.mark.parametrize("name", ["1.gguf", "space.gguf"])
def test_encode_spells_the_text(files, name, text):
    with_vocabulary = load(files / name, vocab_only=True)
    tokenizer = llgcy.Tokenizer.from_llama_cpp(with_vocabulary)
    assert tokenizer.decode_bytes(tokenizer.encode(text)) == (text.encode() if isinstance(text, str) else text)
    if text and isinstance(text, str) and name == "1.gguf":      # which puts nothing before the text
        assert tokenizer.encode(text) == with_vocabulary.tokenize(text.encode(), add_bos=False, special=False)


def test_encode_of_a_model_that_puts_a_space_before(files):
    spaced, plain = (llgcy.Tokenizer.from_llama_cpp(load(files / name, vocab_only=True)) for name in ("space.gguf", "1.gguf"))
    for text in "the name", "yes", " no", "Ann 12":
        assert spaced.encode(text) == plain.encode(text)


def test_sources(llm, files):
    want = llgcy.Tokenizer.from_llama_cpp(llm).fingerprint
    pointer = llama_cpp.llama_model_get_vocab(llm.model)
    for source in llm._model, pointer, ctypes.c_void_p(pointer), load(files / "2.gguf", vocab_only=True):
        tokenizer = llgcy.Tokenizer.from_llama_cpp(source)
        assert tokenizer.fingerprint == want and tokenizer.encode("the name") == llgcy.Tokenizer.from_llama_cpp(llm).encode("the name")
    for source in None, 0, True, "model.gguf", 1.5:
        with pytest.raises(llgcy.TokenizerError, match="from_llama_cpp takes"):
            llgcy.Tokenizer.from_llama_cpp(source)
    own = llgcy.Tokenizer.from_llama_cpp(llm, eos_token_id=368, vocab_size=400)
    assert own.eos_token_ids == (368,) and own.vocab_size == 400


def test_model_without_a_vocabulary(llm, monkeypatch):
    monkeypatch.setattr(llama_cpp, "llama_vocab_type", lambda vocab: reader.NO_VOCABULARY)
    with pytest.raises(llgcy.TokenizerError, match="tiny|1.gguf: the model has no vocabulary"):
        llgcy.Tokenizer.from_llama_cpp(llm)


def test_closed_model_has_no_vocabulary(files):
    model = load(files / "1.gguf", vocab_only=True)
    tokenizer = llgcy.Tokenizer.from_llama_cpp(model)
    model.close()
    with pytest.raises(llgcy.StateError, match="1.gguf is closed"):
        tokenizer.encode("the")
    with pytest.raises(llgcy.StateError, match="closed"):
        llgcy.Tokenizer.from_llama_cpp(model)
    assert tokenizer.decode_bytes([tokenizer.text_tokens().index(b" the")]) == b" the"


@pytest.mark.parametrize("name", VOCABULARIES)
def test_texts_and_ids_of_llama_cpps_own_tests(shared, name):
    """Its expected ids spell the texts, and `encode` finds the same ids."""
    path = shared / "vocabs" / f"ggml-vocab-{name}.gguf"
    model = load(path, vocab_only=True)
    tokenizer = llgcy.Tokenizer.from_llama_cpp(model)
    texts = (path.parent / f"{path.name}.inp").read_text(encoding="utf-8").split("\n__ggml_vocab_test__\n")[:-1]
    lines = (path.parent / f"{path.name}.out").read_text().split("\n")[:-1]
    assert len(texts) == len(lines) == 46
    before = " " if name in ("llama-spm", "phi-3") else ""        # these put a space before a text
    for text, line in zip(texts, lines):
        ids = [int(id) for id in line.split()]
        assert tokenizer.decode_bytes(ids) == (before + text if text else "").encode()
        assert tokenizer.decode_bytes(tokenizer.encode(text)) == text.encode()
        if text and not before:
            assert tokenizer.encode(text) == ids
        elif text[:1].isascii() and text[:1].isalnum():
            assert tokenizer.encode(before + text) == ids
    model.close()


# Generation

CALLS = {
    "completion": lambda llm, grammar, **options: text_of(host.create_completion(llm, grammar, "the name", **options)),
    "ids": lambda llm, grammar, **options: text_of(host.create_completion(llm, grammar, [1, 5, 300], **options)),
    "nothing": lambda llm, grammar, **options: text_of(host.create_completion(llm, grammar, "", **options)),
    "chat": lambda llm, grammar, **options: text_of(host.create_chat_completion(llm, grammar, [{"role": "user", "content": "the name"}], **options)),
    "stream": lambda llm, grammar, **options: streamed(host.create_completion(llm, grammar, "the name", stream=True, **options)),
    "chat stream": lambda llm, grammar, **options: streamed(host.create_chat_completion(llm, grammar, [{"role": "user", "content": "the name"}], stream=True, **options)),
}


@pytest.mark.parametrize("call", CALLS)
def test_texts_are_of_the_grammar(llm, call):
    for seed, temperature in itertools.product(range(3), (0.0, 0.8, 3.0)):
        assert valid(CALLS[call](llm, JSON, seed=seed, temperature=temperature))
        assert re.fullmatch(r"(yes|no|not yet)( and (yes|no|not yet)){0,3}\.", CALLS[call](llm, WORDS, seed=seed, temperature=temperature))
        nested = CALLS[call](llm, NESTED, seed=seed, temperature=temperature, max_tokens=30)
        while (shorter := re.sub(r"\([a-z#]{0,3}\)", "#", nested)) != nested:
            nested = shorter
        assert nested == "#"


@pytest.mark.parametrize("options", [{"top_k": 1}, {"top_p": 0.1, "min_p": 0.5}, {"mirostat_mode": 1}, {"mirostat_mode": 2}, {"repeat_penalty": 1.5, "presence_penalty": 2.0},
                                     {"typical_p": 0.2}, {"temperature": -1.0}])
def test_other_samplers_of_the_chain(llm, options):
    for seed in range(3):
        assert valid(CALLS["completion"](llm, JSON, seed=seed, **options))


@pytest.mark.parametrize("call", CALLS)
def test_past_the_budget_comes_the_shortest_ending(llm, call):
    for budget in range(1, 20):
        assert valid(CALLS[call](llm, JSON, seed=1, max_tokens=budget))
    cut = CALLS[call](llm, JSON, seed=1, max_tokens=4, complete=False)
    assert CALLS[call](llm, JSON, seed=1, max_tokens=4).startswith(cut) and not cut.endswith("}")


ENDLESS = re.compile(r"[a-z]{2,9}( [a-z]{2,9})*[.]")


@pytest.mark.parametrize("budget", [20, 100, 1000, 0])
def test_texts_end_by_themselves_near_the_budget(llm, budget):
    """That of the context, too: it has 256 tokens, prompt included."""
    grammar, whole = llgcy.Grammar.from_regex(ENDLESS.pattern), []
    for seed in range(6):
        texts = []
        for steered in True, False:
            with host.LogitsProcessor(grammar, llm, max_tokens=budget if steered else None) as processor:
                texts.append(text_of(llm.create_completion("the name", max_tokens=budget or None, temperature=1.0, seed=seed, logits_processor=[processor],
                                                           stopping_criteria=processor.stop)))
        assert ENDLESS.fullmatch(texts[0]), texts
        whole.append(bool(ENDLESS.fullmatch(texts[1])))
    assert not all(whole)                # otherwise this shows nothing


@pytest.mark.parametrize("call", CALLS)
def test_what_a_budget_has_room_for_gets_no_ending(llm, call, monkeypatch):
    monkeypatch.setattr(host._Text, "ending", lambda self: "")
    for budget in 30, 60, 0:
        for seed in range(3):
            assert ENDLESS.fullmatch(CALLS[call](llm, llgcy.Grammar.from_regex(ENDLESS.pattern), seed=seed, max_tokens=budget, temperature=1.0))


@pytest.mark.parametrize("grammar, budget", [(JSON, 60), (WORDS, 40), (NESTED, 20)])
def test_greedy_text_of_a_loop_by_hand(llm, grammar, budget):
    compiled = host.compile(grammar, llm)
    sampler, out = llgcy.Sampler(compiled.matcher()), []
    llm.reset()
    llm.eval(llm.tokenize(b"the name"))
    while len(out) < budget:
        logits = numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(llm.ctx, -1), shape=(llm.n_vocab(),)).copy()
        sampler.apply(logits)
        token = int(logits.argmax())
        if token in compiled.tokenizer.eos_token_ids:
            break
        sampler.accept(token)
        out.append(token)
        llm.eval([token])
    want = (compiled.tokenizer.decode_bytes(out) + sampler.matcher.completion()).decode()
    for call in "completion", "stream":
        assert CALLS[call](llm, grammar, temperature=0.0, max_tokens=budget) == want


def test_a_finished_grammar_ends_the_generation(llm):
    result = host.create_completion(llm, llgcy.Grammar.from_choices(["yes", "no"]), "the name", max_tokens=100)
    assert text_of(result) in ("yes", "no") and result["choices"][0]["finish_reason"] == "stop" and result["usage"]["completion_tokens"] <= 3
    chat = host.create_chat_completion(llm, llgcy.Grammar.from_choices(["yes", "no"]), [{"role": "user", "content": "the name"}])
    assert text_of(chat) in ("yes", "no") and chat["choices"][0]["finish_reason"] == "stop"
    cut = host.create_completion(llm, llgcy.Grammar.from_regex("[ab]{50}"), "the name", max_tokens=5)
    assert re.fullmatch("[ab]{50}", text_of(cut)) and cut["choices"][0]["finish_reason"] == "length"


def test_a_space_at_the_beginning_is_kept(llm):
    for call in CALLS:
        assert CALLS[call](llm, llgcy.Grammar.from_choices([" the", " no"])) in (" the", " no")


@pytest.mark.parametrize("call", CALLS)
def test_stop_strings(llm, call):
    """A text that is cut by one gets its ending, too."""
    text = CALLS[call](llm, JSON, seed=1, stop=["age", '":'])
    assert valid(text)
    assert CALLS[call](llm, JSON, seed=1, stop=['":'], complete=False) in ('{"name', '{"nam\\u0065', '{"\\u006Eame')


def test_processors_and_criteria_of_the_caller(llm):
    """They come before, and are heard."""
    calls = []

    def ban_o(ids, scores):
        calls.append(len(ids))
        for token, spelled in enumerate(host.tokenizer(llm).text_tokens()):
            if spelled and b"o" in spelled:
                scores[token] = -numpy.inf
        return scores

    text = text_of(host.create_completion(llm, llgcy.Grammar.from_regex("(yes|oh)( yes| oh){5}"), "the name", logits_processor=[ban_o]))
    assert text == "yes yes yes yes yes yes" and calls
    heard = []
    result = host.create_completion(llm, JSON, "the name", stopping_criteria=lambda ids, logits: heard.append(ids) or len(heard) >= 5, complete=False)
    assert result["usage"]["completion_tokens"] == 4 and text_of(result)[0] == "{"


def test_raw_processor(llm):
    with host.LogitsProcessor(JSON, llm) as processor:
        result = llm.create_completion("the name", max_tokens=100, logits_processor=[processor], stopping_criteria=processor.stop)
        assert valid(text_of(result)) and result["choices"][0]["finish_reason"] == "stop"
        processor.reset()
        assert valid(text_of(llm.create_completion("no", max_tokens=100, logits_processor=[processor])))        # without the criterion
    assert processor.stats()["errors"] == 0 and processor.stats()["tokens"] > 5


def test_pieces_that_the_host_loses(llm):
    """llama-cpp-python turns tokens of more than 32 bytes into nothing."""
    grammar = llgcy.Grammar.from_regex("a{40}")
    long = llgcy.Tokenizer.from_llama_cpp(llm).text_tokens().index(tiny_llama.LONG.encode())

    def prefer(ids, scores):
        scores[long] += 1000
        return scores

    assert text_of(host.create_completion(llm, grammar, "the name", logits_processor=[prefer])) == "a" * 40
    with_it = llgcy.compile(grammar, llgcy.Tokenizer.from_llama_cpp(llm))
    if llm.detokenize([long]) != tiny_llama.LONG.encode():
        result = host.create_completion(llm, with_it, "the name", logits_processor=[prefer], complete=False)
        assert text_of(result) == ""
        with pytest.raises(llgcy.StateError, match="is not what the grammar allows"):
            host.create_completion(llm, llgcy.compile(llgcy.Grammar.from_regex("a{40}b"), llgcy.Tokenizer.from_llama_cpp(llm)), "the name", logits_processor=[prefer])


# What must go wrong loudly, and before anything is generated where it can

@pytest.mark.parametrize("call", CALLS)
def test_bad_grammars_raise_before_generation(llm, call, monkeypatch):
    monkeypatch.setattr(llm, "create_completion", None)          # which would be called else
    monkeypatch.setattr(llm, "create_chat_completion", None)
    other = llgcy.compile(WORDS, llgcy.Tokenizer.single_byte())
    for grammar, error in (("[a-z]+", TypeError), (SCHEMA, TypeError), (other, ValueError)):
        with pytest.raises(error):
            CALLS[call](llm, grammar)


@pytest.mark.parametrize("option, value", [("response_format", {"type": "json_object"}), ("tools", [{}]), ("tool_choice", "auto"), ("functions", [{}]),
                                           ("function_call", "auto"), ("logit_bias", {5: 1.0}), ("echo", True), ("suffix", "x")])
def test_options_that_do_not_go_with_a_grammar(llm, option, value):
    for stream in False, True:
        with pytest.raises(TypeError, match=f"^{option}= does not go with a grammar"):
            host.create_completion(llm, JSON, "the name", stream=stream, **{option: value})
        with pytest.raises(TypeError, match=f"^{option}= does not go with a grammar"):
            host.create_chat_completion(llm, JSON, [], stream=stream, **{option: value})


def test_draft_models_are_refused(llm, monkeypatch):
    monkeypatch.setattr(llm, "draft_model", object())
    with pytest.raises(llgcy.StateError, match="draft_model"):
        host.create_completion(llm, JSON, "the name")


def opened(ids, scores):
    """A processor that allows everything again, and likes what the grammars here refuse."""
    scores[:] = 0
    scores[ord("!") + 3] = 1000
    return scores


def test_refused_token(llm):
    processor = host.LogitsProcessor(JSON, llm)
    with pytest.raises(llgcy.StateError, match="is not allowed here"):
        llm.create_completion("the name", max_tokens=20, logits_processor=[processor, opened], stopping_criteria=processor.stop)
    assert processor.error is not None
    with pytest.raises(llgcy.StateError, match="is not allowed here"):
        with host.LogitsProcessor(JSON, llm) as processor:
            llm.create_completion("the name", max_tokens=20, logits_processor=[processor, opened])
    with pytest.raises(llgcy.StateError):
        processor.check()
    assert valid(CALLS["completion"](llm, JSON))


@pytest.mark.parametrize("call", CALLS)
def test_last_token_of_all(llm, call, monkeypatch):
    """Of which no processor hears, so that the text itself has to be looked at."""
    inner = host.LogitsProcessor.__call__

    def call_and_open(self, ids, scores):
        return opened(ids, inner(self, ids, scores))

    monkeypatch.setattr(host.LogitsProcessor, "__call__", call_and_open)
    with pytest.raises(llgcy.StateError, match="'!', is not what the grammar allows"):
        CALLS[call](llm, JSON, max_tokens=1)


@pytest.mark.parametrize("call", CALLS)
def test_limit_that_is_met_inside(llm, call):
    """Nesting without end, and a budget of bytes for it."""
    grammar = None
    for limit in range(1 << 12, 1 << 20, 1 << 11):               # the first that is enough to begin with
        try:
            grammar = llgcy.compile(llgcy.Grammar.from_lark('start: "(" start ")" | "."'), host.tokenizer(llm), llgcy.Limits(grammar_bytes=limit))
            break
        except llgcy.LimitError:
            pass
    token = host.tokenizer(llm).text_tokens().index(b"(")

    def prefer(ids, scores):
        scores[token] += 1000
        return scores

    with pytest.raises(llgcy.LimitError):
        CALLS[call](llm, grammar, logits_processor=[prefer], max_tokens=200)
    assert valid(CALLS[call](llm, JSON))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError(), RuntimeError("inside")])
@pytest.mark.parametrize("call", CALLS)
def test_exception_inside(llm, call, error, monkeypatch):
    inner = host.LogitsProcessor._follow

    def follow(self, ids):
        inner(self, ids)
        if self._sampler.matcher.steps == 3:
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(host.LogitsProcessor, "_follow", follow)
        with pytest.raises(type(error)) as raised:
            CALLS[call](llm, JSON, max_tokens=50)
        assert raised.value is error
    assert valid(CALLS[call](llm, JSON))


def test_a_processor_serves_one_text(llm):
    processor = host.LogitsProcessor(JSON, llm)
    for prompt, fails in (("the name", False), ("no", True), ("no", True)):
        if fails:
            with pytest.raises(llgcy.StateError, match="make another, or reset"):
                llm.create_completion(prompt, max_tokens=20, logits_processor=[processor], stopping_criteria=processor.stop)
        else:
            llm.create_completion(prompt, max_tokens=20, logits_processor=[processor], stopping_criteria=processor.stop)
    processor.reset()
    assert valid(text_of(llm.create_completion("no", max_tokens=100, logits_processor=[processor], stopping_criteria=processor.stop)))


def test_reset_and_clone_in_the_middle(llm):
    """A text that is begun again in the middle of a generation is not followed; a clone goes its own way."""
    processor, chunks = host.LogitsProcessor(JSON, llm), 0
    with pytest.raises(llgcy.StateError):
        for chunks, _ in enumerate(llm.create_completion("the name", max_tokens=60, stream=True, logits_processor=[processor], stopping_criteria=processor.stop)):
            if chunks == 2:
                clone = processor._sampler.clone()
                processor._sampler.reset()
    assert clone.error is None and clone.matcher.steps == 2          # the third token is not known to it yet
    logits = numpy.zeros(llm.n_vocab(), numpy.float32)
    clone.apply(logits)
    assert numpy.isneginf(logits).any() and (logits == 0).any()
    assert valid(CALLS["completion"](llm, JSON))


def test_closed_processor_can_only_end(llm):
    processor = host.LogitsProcessor(JSON, llm)
    processor.close()
    assert text_of(llm.create_completion("the name", max_tokens=20, logits_processor=[processor])) == ""
    with pytest.raises(llgcy.StateError, match="closed"):
        processor.check()


def test_closed_model(files):
    model = load(files / "1.gguf")
    chunks = host.create_completion(model, JSON, "the name", stream=True, temperature=0.0)
    next(chunks)
    processor = host.LogitsProcessor(JSON, model)
    model.close()
    with pytest.raises(llgcy.StateError, match="the model is closed"):
        next(chunks)
    for call in CALLS.values():
        with pytest.raises(llgcy.StateError, match="closed"):
            call(model, JSON)
    for call in (lambda: host.compile(JSON, model), lambda: host.tokenizer(model), lambda: host.LogitsProcessor(JSON, model)):
        with pytest.raises(llgcy.StateError, match="closed"):
            call()
    assert processor.stats()["tokens"] == 0


def test_two_models_at_once(llm, files):
    other = load(files / "2.gguf")
    want = [CALLS["completion"](model, JSON, temperature=0.0) for model in (llm, other)]
    assert want[0] != want[1] and host.compile(JSON, llm) is not host.compile(JSON, other)
    streams = [host.create_completion(model, JSON, "the name", stream=True, temperature=0.0) for model in (llm, other)]
    texts = ["", ""]
    for pair in itertools.zip_longest(*streams):
        for i, chunk in enumerate(pair):
            texts[i] += chunk["choices"][0]["text"] if chunk else ""
    assert texts == want
    other.close()


@pytest.mark.parametrize("kind", ["stream", "chat stream"])
def test_stream_that_is_abandoned(llm, kind, monkeypatch):
    made = []
    inner = host.LogitsProcessor.__init__

    def remembered(self, *arguments, **options):
        inner(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(host.LogitsProcessor, "__init__", remembered)
    want = CALLS[kind](llm, JSON, temperature=0.0)
    call = {"stream": lambda: host.create_completion(llm, JSON, "the name", stream=True, temperature=0.0),
            "chat stream": lambda: host.create_chat_completion(llm, JSON, [{"role": "user", "content": "the name"}], stream=True, temperature=0.0)}[kind]
    for stop in range(5):
        chunks = call()
        for _ in range(stop):
            next(chunks)
        del chunks
        gc.collect()
        assert stop == 0 or made[-1]._sampler._matcher is None           # closed
        assert CALLS[kind](llm, JSON, temperature=0.0) == want


def test_compiled_once_for_each_model(llm, files):
    assert host.compile(JSON, llm) is host.compile(JSON, llm) and host.tokenizer(llm) is host.tokenizer(llm)
    compiled = host.compile(JSON, llm)
    assert host.compile(compiled, llm) is compiled
    assert host.compile(llgcy.Grammar.from_regex("ab*"), llm) is host.compile(llgcy.Grammar.from_regex("ab*"), llm)      # equal, not the same object
    assert host.compile(llgcy.Grammar.from_regex("a*b"), llm) is not host.compile(llgcy.Grammar.from_regex("ab*"), llm)


def test_a_model_is_forgotten_with_its_last_user(files):
    model = load(files / "2.gguf")
    assert valid(CALLS["completion"](model, JSON))
    gone = weakref.ref(model)
    model.close()
    del model
    gc.collect()
    assert gone() is None


# Loading, and the command line

def test_load_where_the_processor_has_amx(files, monkeypatch):
    """The extra buffer types are off while the model is loaded, and only then."""
    seen = []
    defaults = llama_cpp.llama_cpp.llama_model_default_params
    inner = llama_cpp.Llama.__init__

    def init(self, *arguments, **options):
        seen.append(llama_cpp.llama_cpp.llama_model_default_params().use_extra_bufts)
        inner(self, *arguments, **options)

    monkeypatch.setattr(llama_cpp.Llama, "__init__", init)
    for amx, expected in (True, False), (False, defaults().use_extra_bufts):
        monkeypatch.setattr(host, "_has_amx", lambda amx=amx: amx)
        model = host.load(files / "1.gguf", n_ctx=128, n_threads=1, n_threads_batch=1, verbose=False)
        assert seen[-1] == expected and valid(CALLS["completion"](model, JSON))
        model.close()
    monkeypatch.setattr(host, "_has_amx", lambda: True)
    with pytest.raises(ValueError):
        host.load(files / "missing.gguf", verbose=False)
    assert llama_cpp.llama_cpp.llama_model_default_params is defaults


@pytest.fixture
def command(capfd):
    def run(*arguments):
        code = cli.main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


def test_generate(command, files, tmp_path):
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    for options in [], ["--temperature", 0], ["--max-tokens", 3], ["--max-tokens", 0]:
        code, out, _ = command("generate", "--model", files / "1.gguf", "--prompt", "the name", "--schema", tmp_path / "schema.json", "-n", 3, *options)
        assert code == 0
        decoder, place = json.JSONDecoder(), 0
        for _ in range(3):
            document, end = decoder.raw_decode(out, place)
            assert valid(json.dumps(document))
            place = end + len(out[end:]) - len(out[end:].lstrip())
        assert place == len(out)
    again = [command("generate", "--model", files / "1.gguf", "--schema", tmp_path / "schema.json", "--seed", seed)[1] for seed in (1, 1, 2)]
    assert again[0] == again[1] != again[2]


def test_generate_refuses(command, files, tmp_path):
    code, out, err = command("generate", "--model", files / "1.gguf", "--regex", "a", "--tokenizer", "x")
    assert (code, out) == (2, "") and "own tokenizer" in err
    code, out, err = command("generate", "--model", tmp_path / "missing.gguf", "--regex", "a")
    assert (code, out) == (2, "") and "missing.gguf: No such file" in err
    (tmp_path / "bad.gguf").write_text("GGUF?")
    code, out, err = command("generate", "--model", tmp_path / "bad.gguf", "--regex", "a")
    assert (code, out) == (1, "") and "bad.gguf: llama.cpp does not load it" in err
    code, out, err = command("generate", "--model", files / "1.gguf", "--regex", "a(")
    assert (code, out) == (1, "") and "--regex" in err


def test_demo(command, files):
    """Every constrained line is of its grammar; rates and shares are printed."""
    code, out, _ = command("demo", "--model", files / "1.gguf", "--max-tokens", 12)
    found = re.findall(r"constrained: (.*)", out)
    assert code == 0 and len(found) == 4 and len(re.findall(r"[0-9.]+ tokens/s constrained \(\d+ tokens.*\), [0-9.]+ free", out)) == 4
    person = json.loads(found[0])
    assert list(person) == ["name", "age", "address", "languages"] and re.fullmatch("[0-9]{5}", person["address"]["zip"])
    assert json.loads(found[1]) in ("positive", "neutral", "negative") and re.fullmatch(r"\d{4}-\d\d-\d\d", found[2])
    assert re.fullmatch(r"[0-9()+-]+=\d{1,3}", found[3]) and found[3].count("(") == found[3].count(")")
    assert re.search(r"median of a token: [0-9.]+ ms for the model, [0-9.]+ ms for the constraint", out)


def test_readme(files):
    """The block for this host, as it stands but for the model."""
    block = re.search(r"<!-- llama-cpp-python -->\n```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    names = {}
    exec(compile(block.replace("model.gguf", str(files / "1.gguf")), str(README), "exec"), names)
    assert type(names["person"]).__name__ == "Person" and 1 <= len(names["person"].name) <= 40 and 0 <= names["person"].age <= 120
