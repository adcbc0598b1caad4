"""The logits processor of transformers, with a small model of random weights.

The oracle is transformers' own ``prefix_allowed_tokens_fn`` over a matcher that replays each row from its first token: slow, and without
any state to go wrong.
"""
import json
import pathlib
import re

import pytest

torch = pytest.importorskip("torch", reason="torch is an optional host")
transformers = pytest.importorskip("transformers", reason="transformers is an optional host")
import tokenizers  # noqa: E402

import llgcy  # noqa: E402
from llgcy.integrations.transformers import LogitsProcessor  # noqa: E402
from llgcy.tokenizer import default  # noqa: E402

FILE = pathlib.Path(default.__file__).parent / default.FILE
README = pathlib.Path(__file__).parents[1] / "README.md"
LOGITS = 16400          # of the model: more than the tokenizer has ids
SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
                                           "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "minItems": 1, "maxItems": 3}},
          "required": ["name", "age", "tags"], "additionalProperties": False}
GRAMMARS = {
    "schema": llgcy.Grammar.from_json_schema(SCHEMA, whitespace="compact"),
    "regex": llgcy.Grammar.from_regex(r"[A-Z][a-z]{1,9}( [a-z]{1,9}){0,3}\."),
    "choices": llgcy.Grammar.from_choices(["yes", "no", "not yet", "nobody knows"]),
    "lark": llgcy.Grammar.from_lark('start: "(" (start | /[a-z]/){0,3} ")"'),
}


def causal(seed, layers=2):
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(vocab_size=LOGITS, hidden_size=32, intermediate_size=32, num_hidden_layers=layers, num_attention_heads=2,
                                      num_key_value_heads=1, max_position_embeddings=256, bos_token_id=None, eos_token_id=0, pad_token_id=0)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        model.lm_head.weight.mul_(30)           # random weights are nearly undecided; these know what they want
    return model


@pytest.fixture(scope="module")
def model():
    return causal(1)


@pytest.fixture(scope="module")
def tokenizer():
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer.from_file(str(FILE)), eos_token="<|end|>", padding_side="left")
    made.pad_token_id = made.eos_token_id
    assert made.eos_token_id == 0
    return made


@pytest.fixture(scope="module")
def prompts(tokenizer):
    """A batch with prompts of three lengths."""
    return tokenizer(["Name a person:", "A", "Here is a list of people and of what they have been doing since:"], return_tensors="pt", padding=True,
                     return_token_type_ids=False)


def allowed(compiled, prompt):
    """As ``prefix_allowed_tokens_fn`` has it."""
    size = compiled.tokenizer.vocab_size

    def ids(_, row):
        matcher, bitmask = compiled.matcher(), llgcy.allocate_bitmask(1, size)
        for token in row[prompt:].tolist():
            if matcher.is_terminated():
                break
            assert matcher.accept_token(token)
        matcher.fill_next_token_bitmask(bitmask)
        return [32 * word + bit for word, bits in enumerate(bitmask[0].tolist()) if bits for bit in range(32) if bits >> bit & 1]

    return ids


def judged(name, texts):
    """Are they texts of the grammar, by judges that know nothing of llgcy?"""
    for text in texts:
        if name == "schema":
            document = json.loads(text)
            assert list(document) == ["name", "age", "tags"] and len(document["name"]) <= 12 and 0 <= document["age"] <= 150
            assert 1 <= len(document["tags"]) <= 3 and set(document["tags"]) <= {"red", "green", "blue"}
        elif name == "regex":
            assert re.fullmatch(r"[A-Z][a-z]{1,9}( [a-z]{1,9}){0,3}\.", text)
        elif name == "choices":
            assert text in ("yes", "no", "not yet", "nobody knows")
        else:
            while (shorter := re.sub(r"\([a-z#]{0,3}\)", "#", text)) != text:        # a group is one thing in the group around it
                text = shorter
            assert text == "#"


WAYS = {
    "greedy": {},
    "sampling": {"do_sample": True, "temperature": 1.5, "top_k": 40, "top_p": 0.95},
    "several": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 4, "num_return_sequences": 2},
    "many beams": {"num_beams": 7, "num_return_sequences": 7, "early_stopping": True, "length_penalty": 0.5},
    "no repetition": {"no_repeat_ngram_size": 2, "num_beams": 2},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GRAMMARS)
def test_as_with_a_matcher_that_replays_each_row(model, tokenizer, prompts, name, way):
    options = {"max_new_tokens": 30, **WAYS[way]}
    processor = LogitsProcessor(GRAMMARS[name], tokenizer, model=model)
    width = prompts["input_ids"].shape[1]
    transformers.set_seed(3)
    want = model.generate(**prompts, prefix_allowed_tokens_fn=allowed(processor.compiled, width), **options)
    transformers.set_seed(3)
    ids = model.generate(**prompts, logits_processor=[processor], **options)
    assert ids.tolist() == want.tolist()
    if way != "no repetition":                   # which may leave no token at all, in either way
        texts = processor.texts(ids)
        assert len(texts) == 3 * options.get("num_return_sequences", 1)
        judged(name, texts)


def test_greedy_text_of_a_loop_by_hand(model, tokenizer, prompts):
    """Row by row, without padding, cache or generate()."""
    processor = LogitsProcessor(GRAMMARS["schema"], tokenizer, model=model)
    texts = processor.texts(model.generate(**prompts, logits_processor=[processor], max_new_tokens=60))
    for row, attention, text in zip(prompts["input_ids"], prompts["attention_mask"], texts):
        ids = row[attention.bool()].tolist()
        sampler = llgcy.Sampler(processor.compiled.matcher())
        out = []
        while not sampler.is_terminated() and len(out) < 60:
            with torch.no_grad():
                logits = model(torch.tensor([ids + out])).logits[0, -1].clone()
            sampler.apply(logits)
            out.append(int(logits.argmax()))
            sampler.accept(out[-1])
        assert (processor.compiled.tokenizer.decode_bytes(out) + sampler.matcher.completion()).decode() == text


@pytest.mark.parametrize("options", [{}, {"do_sample": True}, {"num_assistant_tokens": 9}])
@pytest.mark.parametrize("name", GRAMMARS)
def test_assisted_decoding(model, tokenizer, prompts, name, options):
    """The assistant shares the processor, and most of what it proposes is taken back."""
    processor = LogitsProcessor(GRAMMARS[name], tokenizer, model=model)
    for layers, assistant in (2, causal(1)), (1, causal(2, 1)):
        processor.reset()
        assistant.generation_config.num_assistant_tokens = options.get("num_assistant_tokens", 5)
        prompt = {name: value[2:] for name, value in prompts.items()}
        plain = {key: value for key, value in options.items() if key != "num_assistant_tokens"}
        transformers.set_seed(1)
        ids = model.generate(**prompt, logits_processor=[processor], assistant_model=assistant, max_new_tokens=30, **plain)
        judged(name, processor.texts(ids))
        if not options.get("do_sample"):
            processor.reset()
            assert ids.tolist() == model.generate(**prompt, logits_processor=[processor], max_new_tokens=30).tolist()


@pytest.mark.parametrize("name", GRAMMARS)
def test_beams_that_are_sampled(model, tokenizer, prompts, name):
    """Where the grammar leaves fewer candidates than beams, beam search goes on with tokens of probability zero; such rows die out."""
    for seed in range(3):
        transformers.set_seed(seed)
        processor = LogitsProcessor(GRAMMARS[name], tokenizer, model=model)
        judged(name, processor.texts(model.generate(**prompts, logits_processor=[processor], num_beams=4, do_sample=True, max_new_tokens=30)))


def test_dead_rows(bytewise):
    """A refused token among log-probabilities: that row is dead, and no other."""
    a, b, c, d, end = 97, 98, 99, 100, 256
    even = torch.full((2, 400), 1 / 400).log()

    def left(*ids):
        return [torch.nonzero(torch.isfinite(row)).flatten().tolist() for row in bytewise(torch.tensor(ids), even)]

    assert left([1], [1]) == [[a, c], [a, c]]
    assert left([1, a], [1, d]) == [[b], [end]]
    assert left([1, d, d], [1, a, b]) == [[end], [end]]
    assert left([1, a], [1, c]) == [[b], [d, end]]                  # neither is what it was
    assert left([1, d, 5], [1, c, d]) == [[end], [end]]
    assert left([1, c], [1, d]) == [[d, end], [end]]
    with pytest.raises(llgcy.StateError, match="token 100"):
        bytewise.texts(torch.tensor([[1, c, d], [1, d, end]]))
    with pytest.raises(llgcy.StateError, match=r"token 100 \(b'd'\) is not allowed after b''"):
        bytewise(torch.tensor([[1, c, d], [1, d, 5]]), even + 1)


def test_prompt_lookup(model, tokenizer):
    processor = LogitsProcessor(GRAMMARS["schema"], tokenizer, model=model)
    prompt = tokenizer('{"name":"Ann","age":30,"tags":["red","blue"]} {"name":"Bob","age":30,"tags":["red","blue"]}', return_tensors="pt", return_token_type_ids=False)
    ids = model.generate(**prompt, logits_processor=[processor], prompt_lookup_num_tokens=5, max_new_tokens=40)
    judged("schema", processor.texts(ids))
    processor.reset()
    assert ids.tolist() == model.generate(**prompt, logits_processor=[processor], max_new_tokens=40).tolist()


# What a processor is told, and what it makes of it

def rows(processor, *ids, logits=LOGITS):
    """The ids that it leaves, for each row."""
    scores = torch.zeros(len(ids), logits)
    out = processor(torch.tensor(ids).reshape(len(ids), -1), scores)
    assert torch.equal(scores, torch.zeros_like(scores))           # they are the caller's
    return [torch.nonzero(row == 0).flatten().tolist() for row in out]


@pytest.fixture
def bytewise():
    return LogitsProcessor(llgcy.Grammar.from_regex("ab|cd?"), llgcy.Tokenizer.single_byte())


def test_rows_follow_their_tokens(bytewise):
    a, b, c, d, end = 97, 98, 99, 100, 256
    assert rows(bytewise, [1], [1]) == [[a, c], [a, c]]
    assert rows(bytewise, [1, a], [1, c]) == [[b], [d, end]]
    assert rows(bytewise, [1, c, d], [1, a, b]) == [[end], [end]]           # the rows have changed places
    assert rows(bytewise, [1, a], [1, a]) == [[b], [b]]                     # back, and both of one
    assert rows(bytewise, [1, c], [1, c]) == [[d, end], [d, end]]           # none of which was there a call ago
    assert rows(bytewise, [1, c, end], [1, c, d]) == [[end], [end]]
    assert rows(bytewise, [1, c, end, 5], [1, c, d, end]) == [[end], [end]]         # padding, whatever it is
    assert rows(bytewise, [1], [1]) == [[a, c], [a, c]]                     # the same prompts again


def test_finished_rows_stay_finished(model, tokenizer, prompts):
    """Texts of different lengths in one batch; what comes after an end is padding."""
    processor = LogitsProcessor(llgcy.Grammar.from_choices(["a", "b" * 20, "c c c"]), tokenizer, model=model)
    transformers.set_seed(0)
    ids = model.generate(**prompts, logits_processor=[processor], do_sample=True, num_return_sequences=8, max_new_tokens=40)
    texts = processor.texts(ids)
    assert len(set(texts)) > 1 and set(texts) <= {"a", "b" * 20, "c c c"}, texts
    for row in ids[:, prompts["input_ids"].shape[1]:].tolist():
        end = row.index(0)
        assert set(row[end:]) == {0}


def test_eos_of_the_generation_config(model, tokenizer, prompts):
    """Another end than the tokenizer's, so that generate() stops."""
    other = tokenizer.convert_tokens_to_ids("!")
    model.generation_config.eos_token_id = [other]
    try:
        processor = LogitsProcessor(GRAMMARS["choices"], tokenizer, model=model)
        ids = model.generate(**prompts, logits_processor=[processor], max_new_tokens=30)
        judged("choices", processor.texts(ids, complete=False))
        assert other in ids[0].tolist()
    finally:
        model.generation_config.eos_token_id = 0
    chosen = LogitsProcessor(GRAMMARS["choices"], tokenizer, model=model, eos_token_id=other)
    assert other in model.generate(**prompts, logits_processor=[chosen], max_new_tokens=30, eos_token_id=other)[0].tolist()


def test_texts_past_the_length(model, tokenizer, prompts):
    processor = LogitsProcessor(GRAMMARS["schema"], tokenizer, model=model)
    for length in range(1, 12):
        processor.reset()
        ids = model.generate(**prompts, logits_processor=[processor], max_new_tokens=length)
        judged("schema", processor.texts(ids))
        for text, cut in zip(processor.texts(ids), processor.texts(ids, complete=False)):
            assert text.startswith(cut)
    out = model.generate(**prompts, logits_processor=[LogitsProcessor(GRAMMARS["schema"], tokenizer)], max_new_tokens=5, return_dict_in_generate=True)
    assert processor.texts(out)


@pytest.mark.parametrize("options", [{"do_sample": True, "num_return_sequences": 2}, {"num_beams": 3, "num_return_sequences": 3}], ids=["sampling", "beams"])
@pytest.mark.parametrize("length", [12, 40, 90])
def test_texts_end_by_themselves_near_the_length(model, tokenizer, prompts, length, options):
    endless, whole = re.compile(r"[a-z]{2,9}( [a-z]{2,9})*[.]"), []
    for steered in length, None:
        torch.manual_seed(length)
        processor = LogitsProcessor(llgcy.Grammar.from_regex(endless.pattern), tokenizer, model=model, max_new_tokens=steered)
        ids = model.generate(**prompts, logits_processor=[processor], max_new_tokens=length, **options)
        whole.append([bool(endless.fullmatch(text)) for text in processor.texts(ids, complete=False)])
    assert all(whole[0]) and not all(whole[1])


def test_scores_of_the_host_are_left_alone(model, tokenizer, prompts):
    out = model.generate(**prompts, logits_processor=[LogitsProcessor(GRAMMARS["regex"], tokenizer)], max_new_tokens=5, output_logits=True,
                         output_scores=True, return_dict_in_generate=True)
    assert all(torch.isfinite(logits).all() for logits in out.logits) and not any(torch.isfinite(scores).all() for scores in out.scores)


# What must not go unnoticed

def test_refused_token(bytewise):
    rows(bytewise, [1], [1])
    with pytest.raises(llgcy.StateError, match=r"token 100 \(b'd'\) is not allowed after b''"):
        rows(bytewise, [1, 97], [1, 100])
    with pytest.raises(llgcy.StateError, match="token 100"):
        rows(bytewise, [1, 97], [1, 97])
    bytewise.reset()
    assert rows(bytewise, [1], [1]) == [[97, 99]] * 2
    with pytest.raises(llgcy.StateError, match="token 9999 .* is not allowed"):
        rows(bytewise, [1, 97], [1, 9999])


@pytest.mark.parametrize("ids", [([2],), ([1], [1]), ([2, 97],), ([1, 97, 98],), ([1, 97, 98, 256],)])
def test_other_rows_are_refused(bytewise, ids):
    """Another prompt, another batch, a prompt that continues the text by more than a token: another generate() call."""
    rows(bytewise, [1])
    with pytest.raises(llgcy.StateError, match="make another, or reset"):
        rows(bytewise, *ids)


def test_second_turn_with_the_same_processor(model, tokenizer, prompts):
    processor = LogitsProcessor(GRAMMARS["choices"], tokenizer, model=model)
    prompt = {name: value[2:] for name, value in prompts.items()}
    ids = model.generate(**prompt, logits_processor=[processor], max_new_tokens=30)
    more = torch.cat([ids, prompt["input_ids"]], dim=1)
    with pytest.raises(llgcy.StateError, match="reset"):
        model.generate(more, attention_mask=torch.ones_like(more), logits_processor=[processor], max_new_tokens=30)
    processor.reset()
    again = model.generate(more, attention_mask=torch.ones_like(more), logits_processor=[processor], max_new_tokens=30)
    judged("choices", processor.texts(again))


def test_a_processor_that_allows_what_was_refused(model, tokenizer, prompts):
    """Errors leave generate()."""
    class Open(transformers.LogitsProcessor):
        def __call__(self, input_ids, scores):
            scores = torch.zeros_like(scores)
            scores[:, tokenizer.convert_tokens_to_ids("!")] = 1
            return scores

    processor = LogitsProcessor(GRAMMARS["schema"], tokenizer, model=model)
    with pytest.raises(llgcy.StateError, match="a logits processor after this one"):
        model.generate(**prompts, logits_processor=[processor, Open()], max_new_tokens=5)
    processor.reset()
    with pytest.raises(llgcy.StateError, match="is not allowed after"):        # at the last token too, of which no processor hears
        ids = model.generate(**prompts, logits_processor=[processor, Open()], max_new_tokens=1)
        processor.texts(ids)


def test_limit_inside_generate(model, tokenizer, prompts):
    compiled = llgcy.compile(llgcy.Grammar.from_lark('start: "(" start ")" | "x"'), llgcy.Tokenizer.from_huggingface(tokenizer),
                             llgcy.Limits(grammar_bytes=1 << 18))
    processor = LogitsProcessor(compiled)
    ids = torch.full((1, 1), 5)
    opening = tokenizer.convert_tokens_to_ids("(")
    with pytest.raises(llgcy.LimitError) as raised:
        for _ in range(1 << 16):
            processor(ids, torch.zeros(1, LOGITS))
            ids = torch.cat([ids, torch.tensor([[opening]])], dim=1)
    with pytest.raises(llgcy.LimitError) as again:
        processor(ids, torch.zeros(1, LOGITS))
    assert again.value is raised.value


def test_wrong_arguments(model, tokenizer):
    with pytest.raises(TypeError, match="needs a tokenizer"):
        LogitsProcessor(GRAMMARS["regex"])
    with pytest.raises(TypeError, match="expected a llgcy.Grammar"):
        LogitsProcessor("[a-z]+", tokenizer)
    with pytest.raises(ValueError, match="eos_token_ids"):
        LogitsProcessor(GRAMMARS["regex"], tokenizer, eos_token_id=10 ** 9)
    with pytest.raises(llgcy.StateError, match="nothing has been generated"):
        LogitsProcessor(GRAMMARS["regex"], tokenizer).texts(torch.zeros(1, 3))
    with pytest.raises(llgcy.GrammarError):
        llgcy.Grammar.from_regex("a(")


def test_compiled_once_for_each_tokenizer(tokenizer):
    first, second = LogitsProcessor(GRAMMARS["regex"], tokenizer), LogitsProcessor(GRAMMARS["regex"], tokenizer)
    assert first.compiled is second.compiled and first.compiled is not LogitsProcessor(GRAMMARS["lark"], tokenizer).compiled
    assert LogitsProcessor(first.compiled).compiled is first.compiled


def test_narrow_model(bytewise):
    assert rows(bytewise, [1], logits=98) == [[97]]
    with pytest.raises(llgcy.StateError, match="the model has 98 logits, the tokenizer 257 ids"):
        rows(bytewise, [1, 97], logits=98)


def test_readme(model, tokenizer, tmp_path):
    """The block for this host, as it stands but for the model, after the class of the block before."""
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    text = README.read_text()
    names = {}
    exec(re.search(r"import llama_cpp, (pydantic).*?\n(class Person.*?\n)\n", text, re.DOTALL).expand(r"import \1\n\2"), names)
    block = re.search(r"<!-- transformers -->\n```python\n(.*?)```", text, re.DOTALL)[1]
    exec(compile(block.replace("path/to/model", str(tmp_path)), str(README), "exec"), names)
    assert type(names["person"]).__name__ == "Person" and 1 <= len(names["person"].name) <= 40 and 0 <= names["person"].age <= 120
