"""``docs/live.md``: its agent works on a model of this machine, and every call of 200 is judged as it was sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from itertools import pairwise
from unittest import mock

import pytest
from agents import AgentModel
from commands import environment
from documented import ROOT, blocks, make_workspace
from openai import AsyncOpenAI
from shared import tokenizer_folder
from transformers import AutoTokenizer

from trajcompress import Compactor
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.validity import violations

PAGE = ROOT / "docs" / "live.md"
PATHS = [f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))]
READS = (60, 139)  # with an answer each: 201 calls
REQUESTS = ["Which pages tell of limits? " + "Name each, and say why. " * 10, "And which tell of secrets? Of all."]


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    return make_workspace(folder, PAGE)


def run_page(server, workspace):
    """Run all blocks as a reader does, with a server in the place of OpenAI's; return what they defined."""
    variables = {}
    where = environment({"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.base_url})
    with contextlib.chdir(workspace), mock.patch.dict(os.environ, where, clear=True):
        for block in blocks(PAGE, "python"):
            exec(compile(block.text, f"live.md:{block.line}", "exec"), variables)  # noqa: S102 - what the page says
    return variables


def test_every_block_runs(workspace, capsys):
    with AgentModel((20, 20), PATHS) as server:
        done = run_page(server, workspace)
    assert done["messages"][-1] == {"role": "assistant", "content": "I have read 41 pieces, and that is the answer."}
    assert server.summaries
    assert "of the window are taken" in capsys.readouterr().out


def test_200_calls_of_an_agent_are_each_within_the_window_valid_and_hold_the_request(workspace, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with AgentModel((1, 1), PATHS) as server:
        page = run_page(server, workspace)
    tokenizer = str(tokenizer_folder("chatml"))
    tools, window = page["TOOLS"], page["WINDOW"]
    with AgentModel(READS, PATHS) as server, contextlib.chdir(workspace):

        async def main():
            async with (
                AsyncOpenAI(base_url=server.base_url) as client,
                Compactor(
                    context_window=window, tokenizer=tokenizer, model="writer", base_url=server.base_url
                ) as compactor,
            ):
                return await page["agent"](REQUESTS, client, compactor)

        asyncio.run(main())
    assert len(server.sent) == sum(READS) + 2 > 200

    counted = AutoTokenizer.from_pretrained(tokenizer)
    for number, sent in enumerate(server.sent):
        parsed = [_with_parsed_arguments(message) for message in sent]
        rendered = counted.apply_chat_template(parsed, tools=tools, tokenize=False, add_generation_prompt=True)
        assert len(counted.encode(rendered, add_special_tokens=False)) <= window, number
        turns = read_trajectory({"messages": sent, "tools": tools}, "x", FormatOptions()).turns
        faults = [fault for fault in violations(turns, "openai") if fault.kind != "no_assistant_turn"]
        assert not faults, (number, faults)
        request = REQUESTS[number > READS[0]]
        last = next(
            message for message in reversed(sent) if message["role"] == "user" and request in message["content"]
        )
        assert last["content"].endswith(request), number

    changed = [
        number for number, (one, other) in enumerate(pairwise(server.sent)) if _text(other[: len(one)]) != _text(one)
    ]
    assert 3 <= len(changed) <= 50, "between compactions each call begins with the bytes of the last"
    assert server.summaries >= 3
    assert {_text(sent[:3]) for sent in server.sent[1:]} == {_text(server.sent[1][:3])}, "nor does the head change"


def _with_parsed_arguments(message):
    calls = message.get("tool_calls") or []
    parsed = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in calls
    ]
    return {**message, "tool_calls": parsed} if calls else message


def _text(messages):
    return json.dumps(messages)
