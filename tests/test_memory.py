"""Processes that live long: resident memory levels off. ``python tests/test_memory.py 20000`` shows it at length."""
import os
import subprocess
import sys

import pytest

SCRIPT = '''
import gc, json, random, sys
import llgcy

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def schema(rng, n):
    """A schema that no other is like."""
    names = [f"property {n} {i}" for i in range(rng.randint(1, 6))]
    return {"type": "object", "additionalProperties": False, "required": names[:2], "properties": {name: rng.choice([
        {"type": "string", "maxLength": rng.randint(1, 40)}, {"type": "string", "pattern": f"^[a-z]{{1,{rng.randint(2, 9)}}}{n}$"},
        {"type": "integer", "minimum": n, "maximum": 2 * n + 5}, {"enum": [f"value {n}", n]}, {"type": "array", "items": {"type": "number"}, "maxItems": n % 7 + 1},
        {"anyOf": [{"type": "object", "properties": {f"inner {n}": {"type": "boolean"}}}, {"type": "null"}]}]) for name in names}}

count, every = int(sys.argv[1]), max(1, int(sys.argv[1]) // 10)
tokenizer, rng = llgcy.Tokenizer.default(), random.Random(1)
compiler = llgcy.Compiler(tokenizer, cache_bytes=8 << 20)
mask = llgcy.allocate_bitmask(1, tokenizer.vocab_size)
for n in range(count):
    matcher = compiler.compile(llgcy.Grammar.from_json_schema(schema(rng, n))).matcher()
    for token in tokenizer.encode(matcher.completion())[:20]:
        matcher.fill_next_token_bitmask(mask)
        if not matcher.accept_token(token):
            raise AssertionError(token)
    if n % every == every - 1:
        print(n + 1, resident(), compiler.stats()["evicted"], flush=True)
'''


def figures(count):
    """(schemas compiled and used so far, resident bytes, schemas evicted) at ten places."""
    out = subprocess.run([sys.executable, "-c", SCRIPT, str(count)], capture_output=True, text=True, check=True).stdout
    return [tuple(map(int, line.split())) for line in out.splitlines()]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_many_schemas():
    """Beyond the cache's size, another 350 schemas take no more than a few hundred KB."""
    lines = figures(500)
    assert lines[2][2] > 0          # full from here on
    assert lines[9][1] - lines[2][1] < 4 << 20


if __name__ == "__main__":
    for line in figures(int(sys.argv[1])):
        print("{:,} schemas: {:,} bytes resident, {:,} evicted".format(*line))
