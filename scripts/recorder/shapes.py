"""A record in other agents' shapes: text protocols, legacy calls, content parts, pictures."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from recorder.agent import RecordedCall, Step
from recorder.tools import TOOLS

Row = dict[str, Any]
Turns = Iterator[Row]

_COMMANDS = """\
list_dir PATH                      list a folder
read_file PATH START END           show lines of a file, numbered
search PATTERN PATH                find lines that match a Python regular expression
edit_file PATH <<'OLD' ... NEW     replace one exact piece of text
write_file PATH <<'EOF'            create or overwrite a file
run_tests TARGET                   run unittest on a dotted name
run_python <<'EOF'                 run a Python snippet"""


def command_of(call: RecordedCall) -> str:
    """A call as one command of a shell-like interface."""
    given = call.arguments
    match call.name:
        case "edit_file":
            return f"edit_file {given['path']} <<'OLD'\n{given['old']}\nOLD\n<<'NEW'\n{given['new']}\nNEW"
        case "write_file":
            return f"write_file {given['path']} <<'EOF'\n{given['content']}\nEOF"
        case "run_python":
            return f"run_python <<'EOF'\n{given['code']}\nEOF"
        case "search":
            return f"search '{given['pattern']}' {given.get('path', '.')}"
        case name:
            return " ".join([name, *map(str, given.values())])


def _one_by_one(steps: Sequence[Step]) -> Iterator[Step]:
    """Each call in a turn of its own: these protocols know no parallel ones."""
    for step in steps:
        if len(step.calls) < 2:  # noqa: PLR2004
            yield step
            continue
        for number, call in enumerate(step.calls):
            yield Step(step.role, step.text if number == 0 else "The next of these.", (call,))


def swe_agent(steps: Sequence[Step]) -> Turns:
    """SWE-agent: a discussion and one fenced command; the shell answers in a user turn and shows its prompt."""
    yield {
        "role": "system",
        "content": "SETTING: You are an autonomous programmer, and you work in the command line with a special "
        f"interface.\n\nCOMMANDS:\n{_COMMANDS}\n\nRESPONSE FORMAT:\nYour shell prompt is formatted as follows:\n"
        "(Open file: <path>) <cwd> $\n\nFirst a DISCUSSION, then exactly ONE command between triple backticks.",
    }
    is_first, opened = True, "n/a"
    for step in _one_by_one(steps):
        match step.role, step.calls:
            case "system", _:
                continue
            case "user", _:
                issue = f"We're currently solving the following issue within our repository.\nISSUE:\n{step.text}\n\n"
                hint = "INSTRUCTIONS:\nYou can only enter one command at a time, and always wait for feedback.\n"
                prompt = f"(Open file: {opened})\n(Current directory: /workspace)\nbash-$"
                yield {"role": "user", "content": f"{issue}{hint}{prompt}" if is_first else step.text}
                is_first = False
            case _, (call,):
                said = step.text or "I go on."
                yield {"role": "assistant", "content": f"DISCUSSION\n{said}\n```\n{command_of(call)}\n```"}
                opened = f"/workspace/{call.arguments['path']}" if call.name == "read_file" else opened
                prompt = f"(Open file: {opened})\n(Current directory: /workspace)\nbash-$"
                yield {"role": "user", "content": f"{call.result}\n{prompt}"}
            case _:
                yield {"role": "assistant", "content": step.text}


def mini_swe_agent(steps: Sequence[Step]) -> Turns:
    """mini-SWE-agent: a thought and a fenced command; return code and output come back in tags."""
    yield {
        "role": "system",
        "content": "You are a helpful assistant that can interact with a computer.\n\nYour response must contain "
        "exactly ONE bash code block with ONE command. Include a THOUGHT section before it.\n\nThese commands are "
        f"on the path:\n{_COMMANDS}\n\nTo finish, issue `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`.",
    }
    is_first = True
    for step in _one_by_one(steps):
        match step.role, step.calls:
            case "system", _:
                continue
            case "user", _:
                yield {"role": "user", "content": f"Please solve this issue: {step.text}" if is_first else step.text}
                is_first = False
            case _, (call,):
                thought = f"THOUGHT: {step.text or 'I go on.'}"
                yield {"role": "assistant", "content": f"{thought}\n\n```bash\n{command_of(call)}\n```"}
                code = (
                    int(call.result.rpartition("[exit code ")[2].rstrip("]") or 0)
                    if "[exit code" in call.result
                    else 0
                )
                output = call.result.rpartition("\n[exit code")[0] or call.result
                yield {"role": "user", "content": f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"}
            case _:
                yield {"role": "assistant", "content": step.text}


def react(steps: Sequence[Step]) -> Turns:
    """ReAct: numbered thoughts and actions, and observations in user turns."""
    yield {
        "role": "system",
        "content": "Solve each task with interleaved Thought and Action steps. Actions are ListDir, ReadFile, "
        "Search, EditFile, WriteFile, RunTests, RunPython and Finish; what they return comes back as an Observation.",
    }
    number = 0
    for step in _one_by_one(steps):
        match step.role, step.calls:
            case "system", _:
                continue
            case "user", _:
                number = 0
                yield {"role": "user", "content": step.text}
            case _, (call,):
                number += 1
                name = "".join(word.capitalize() for word in call.name.split("_"))
                given = ", ".join(map(str, call.arguments.values()))
                thought = f"Thought {number}: {step.text or 'I go on.'}"
                yield {"role": "assistant", "content": f"{thought}\nAction {number}: {name}[{given}]"}
                yield {"role": "user", "content": f"Observation {number}: {call.result}"}
            case _:
                number += 1
                thought = f"Thought {number}: I know enough."
                yield {"role": "assistant", "content": f"{thought}\nAction {number}: Finish[{step.text}]"}


def openhands(steps: Sequence[Step]) -> Turns:
    """OpenHands, exported as ShareGPT: calls as tags in text, results in human turns."""
    for step in _one_by_one(steps):
        match step.role, step.calls:
            case _, (call,):
                given = "\n".join(f"<parameter={key}>{value}</parameter>" for key, value in call.arguments.items())
                spoken = f"{step.text}\n\n" if step.text else ""
                yield {"from": "gpt", "value": f"{spoken}<function={call.name}>\n{given}\n</function>"}
                yield {"from": "human", "value": f"EXECUTION RESULT of [{call.name}]:\n{call.result}"}
            case role, _:
                yield {"from": {"system": "system", "user": "human"}.get(role, "gpt"), "value": step.text}


def tags_in_text(steps: Sequence[Step]) -> Turns:
    """Reasoning and calls as tags in the assistant's text, results as tags in user turns."""
    for step in steps:
        blocks = [
            "<tool_call>\n"
            + json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
            + "\n</tool_call>"
            for call in step.calls
        ]
        if not blocks:
            yield {"role": step.role, "content": step.text}
            continue
        thought = f"<think>\n{step.text or 'On with it.'}\n</think>"
        yield {"role": "assistant", "content": "\n".join([thought, *blocks])}
        results = [f"<tool_response>\n{call.result}\n</tool_response>" for call in step.calls]
        yield {"role": "user", "content": "\n".join(results)}


def functions_sharegpt(steps: Sequence[Step]) -> Turns:
    """ShareGPT as LLaMA-Factory reads it: a ``function_call`` turn and an ``observation`` turn for each call."""
    for step in _one_by_one(steps):
        if step.role == "system":
            continue
        if not step.calls:
            yield {"from": "human" if step.role == "user" else "gpt", "value": step.text}
        for call in step.calls:
            made = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
            yield {"from": "function_call", "value": made}
            yield {"from": "observation", "value": call.result}


def legacy_calls(steps: Sequence[Step]) -> Turns:
    """The older Chat Completions: one ``function_call`` a turn, answered by a ``function`` message."""
    for step in _one_by_one(steps):
        message: Row = {"role": step.role, "content": step.text}
        if step.calls:
            (call,) = step.calls
            given = json.dumps(call.arguments, ensure_ascii=False)
            message |= {"content": step.text or None, "function_call": {"name": call.name, "arguments": given}}
        yield message
        for call in step.calls:
            yield {"role": "function", "name": call.name, "content": call.result}


def calls_openai(steps: Sequence[Step]) -> Turns:
    """``tool_calls``, several at once where they were made at once, and ``tool`` messages."""
    for step in steps:
        message: Row = {"role": step.role, "content": step.text}
        if step.calls:
            message["content"] = step.text or None
            message["tool_calls"] = [_tool_call(call) for call in step.calls]
        yield message
        for call in step.calls:
            yield {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": call.result}


def _tool_call(call: RecordedCall) -> Row:
    given = json.dumps(call.arguments, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": given}}


def content_parts(steps: Sequence[Step]) -> Turns:
    """Content as lists of parts: text, ``tool_use`` and ``tool_result`` blocks; the instructions by a developer."""
    for step in steps:
        parts: list[Row] = [{"type": "text", "text": step.text}] if step.text else []
        parts += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in step.calls
        ]
        yield {"role": "developer" if step.role == "system" else step.role, "content": parts}
        if step.calls:
            yield {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": call.id,
                        "content": [{"type": "text", "text": call.result}],
                    }
                    for call in step.calls
                ],
            }


def images(steps: Sequence[Step]) -> Turns:
    """``tool_calls``; the request shows a picture, and so does one tool result."""
    shown = 0
    for message in calls_openai(steps):
        text = message["content"] or ""
        if message["role"] in {"user", "tool"} and shown < 2:  # noqa: PLR2004
            url = f"data:image/png;base64,{base64.b64encode(_bars(text)).decode()}"
            detail = {"detail": "low"} if shown else {}
            picture = {"type": "image_url", "image_url": {"url": url, **detail}}
            message["content"] = [{"type": "text", "text": text}, picture]
            shown += 1
        yield message


def _bars(text: str) -> bytes:
    """A PNG of how long the first lines of a text are."""
    rows = [bytes([0]) + bytes([0] * min(32, len(line) // 3) + [255] * (32 - min(32, len(line) // 3)))
            for line in [*text.split("\n"), *[""] * 16][:16]]  # fmt: skip

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 32, 16, 8, 0, 0, 0, 0)
    data = zlib.compress(b"".join(rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def speakers(steps: Sequence[Step]) -> Turns:
    """Agents that call agents by name; people's turns stand side by side."""
    for step in steps:
        if step.role == "user":
            yield {"role": "human", "content": step.text}
            yield {"role": "human", "content": "Please say how you checked it."}
        elif not step.calls:
            yield {"role": "Orchestrator (thought)", "content": step.text} if step.role == "assistant" else {
                "role": "system", "content": step.text}  # fmt: skip
        for call in step.calls:
            wish = f"{step.text or 'Next:'}\n{command_of(call)}"
            yield {"role": "Orchestrator (-> Workspace)", "content": wish}
            yield {"role": "Workspace", "content": call.result}


SHAPES: dict[str, tuple[str, Callable[[Sequence[Step]], Turns]]] = {
    "swe-agent": ("messages", swe_agent),
    "mini-swe-agent": ("messages", mini_swe_agent),
    "react": ("messages", react),
    "openhands-sharegpt": ("conversations", openhands),
    "tags-in-text": ("messages", tags_in_text),
    "functions-sharegpt": ("conversations", functions_sharegpt),
    "legacy-calls": ("messages", legacy_calls),
    "calls-openai": ("messages", calls_openai),
    "content-parts": ("messages", content_parts),
    "images": ("messages", images),
    "speakers": ("messages", speakers),
    "languages": ("messages", calls_openai),
}


def shaped(shape: str, number: int, scenario: str, steps: Sequence[Step], meta: Row) -> Row:
    """A record as a row of one shape, with the columns that go with it."""
    column, turns_of = SHAPES[shape]
    row: Row = {"id": f"{shape}-{number}", "task": scenario, column: list(turns_of(steps)), "meta": meta}
    match shape:
        case "calls-openai" | "images" | "languages":
            row["tools"] = TOOLS
        case "legacy-calls":
            row["functions"] = [tool["function"] for tool in TOOLS]
        case "functions-sharegpt":
            row["tools"] = json.dumps([tool["function"] for tool in TOOLS], ensure_ascii=False)
            row["system"] = next((step.text for step in steps if step.role == "system"), "")
    return row


def shortened(steps: Sequence[Step], limit: int, calls: int) -> list[Step]:
    """The first calls, the middle of each long result left out as a harness does it, and the closing report."""
    kept: list[Step] = []
    for step in steps:
        calls -= len(step.calls)
        if calls < 0:
            break
        kept.append(replace(step, calls=tuple(_clipped(call, limit) for call in step.calls)))
    closing = [step for step in steps if step.role == "assistant" and not step.calls]
    return kept if kept[-1].role == "assistant" and not kept[-1].calls else [*kept, closing[-1]]


def _clipped(call: RecordedCall, limit: int) -> RecordedCall:
    if len(call.result) <= limit:
        return call
    head, tail = call.result[: limit * 2 // 3], call.result[-limit // 3 :]
    return replace(call, result=f"{head}\n[... {len(call.result) - limit} characters cut ...]\n{tail}")
