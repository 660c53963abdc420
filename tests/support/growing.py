"""Contexts of a running agent, which grow step by step."""

from __future__ import annotations

import json

from shared import tokenizer_folder

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.validity import violations

WINDOW = 4000
NEAR_FULL = 0.85 * WINDOW
TARGET = WINDOW // 2
TASK = "Find out why the build of the parser fails, and mend it."
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Look at a module. " * 20}}]
CHATML = str(tokenizer_folder("chatml"))
SMALL = {"context_window": WINDOW, "summary_target_tokens": 300, "tokenizer": CHATML}


def step(number, lines=6):
    """A call of a tool with its result."""
    call = {"name": "look", "arguments": json.dumps({"path": f"src/module_{number}.py"})}
    listing = "\n".join(
        f"{number}:{line}: def handle_{line}(node): raise ValueError({line})" for line in range(lines)
    )
    return [
        {
            "role": "assistant",
            "content": f"Step {number}: I look at module {number} next, as the last one named it.",
            "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"call_{number}", "content": listing},
    ]


def context(steps, system="You are a careful engineer.", task=TASK):
    opening = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    return opening + [message for number in range(steps) for message in step(number)]


def is_valid(messages):
    turns = read_trajectory({"messages": messages}, "x", FormatOptions()).turns
    return violations(turns, "openai") == ()


def grown(compactor, steps, requests=(), **given):
    """Let a conversation grow by steps, compacted before each; yield each result, and all that was said by then."""
    messages, said, summary = context(0), context(0), None
    for number in range(steps):
        if number in dict(requests):
            new = [
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": dict(requests)[number]},
            ]
            messages, said = messages + new, said + new
        done = compactor.compact_sync(messages, previous=summary, **given)
        yield done, said
        messages, summary = done.messages + step(number), done.summary
        said = said + step(number)
