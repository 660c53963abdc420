"""``docs/endpoints.md``: every command line, run against a server on this machine in place of the one it names."""

from __future__ import annotations

import re

import pytest
from commands import conversation, make_desk, read_metrics, run_here
from documented import ROOT, blocks, commands_in
from loopback import LoopbackServer
from loopback_replies import no_max_tokens, no_temperature

PAGE = ROOT / "docs" / "endpoints.md"
LINES = [
    arguments
    for block in blocks(PAGE, "sh")
    for arguments in commands_in(block.text)
    if "--model" in arguments
    and "--batch" not in arguments  # for which there are tests/commands/test_batch_command.py
]
KEY = "sk-of-nobody"


def value_of(arguments, option, default=None):
    return arguments[arguments.index(option) + 1] if option in arguments else default


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.path("runs").mkdir()
    desk.write("runs/rows.jsonl", [conversation(0)])
    return desk


def asked(desk, arguments, server):
    """Run a line of the page on small things: its address, its tokenizer and its target are ours."""
    placed = [*arguments, "--target-max-tokens", "2000", "--summary-target-tokens", "300"]
    for option, value in (("--base-url", server.base_url), ("--tokenizer", desk.tokenizer)):
        if option not in placed:
            placed += [option, value]
        placed[placed.index(option) + 1] = value
    return run_here(*placed, cwd=desk.folder, env={value_of(arguments, "--api-key-env", "OPENAI_API_KEY"): KEY})


@pytest.mark.parametrize("arguments", LINES, ids=lambda arguments: value_of(arguments, "--model"))
def test_the_line_gets_a_summary(desk, arguments):
    with LoopbackServer() as server:
        ran = asked(desk, arguments, server)
    assert ran.code == 0, ran
    (row,) = read_metrics(desk.path(value_of(arguments, "--output").rstrip("/")))
    assert (row["outcome"], row["summarizer"]) == ("compressed", value_of(arguments, "--model"))
    assert row["cost_usd"] is not None or "--price-in" not in arguments
    assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}


def test_a_model_that_thinks_costs_two_more_calls_once(desk):
    line = next(arguments for arguments in LINES if "gpt-5-mini" in arguments)
    with LoopbackServer(script=[no_max_tokens(), no_temperature()]) as server:
        assert asked(desk, line, server).code == 0
    sent = [seen.body.keys() & {"temperature", "max_tokens", "max_completion_tokens"} for seen in server.seen]
    assert sent == [
        {"temperature", "max_tokens"},
        {"temperature", "max_completion_tokens"},
        {"max_completion_tokens"},
    ]


def test_every_endpoint_has_a_line():
    headings = re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE)
    batches, *endpoints = headings
    assert batches.endswith("batches")
    assert endpoints == ["vLLM", "Ollama", "llama.cpp", "OpenRouter", "OpenAI"]
    assert len(LINES) == len(endpoints) + 1
