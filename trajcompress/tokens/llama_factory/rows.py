"""A row as LLaMA-Factory's converters hand it to a template: turns of text, calls read out of the text of their turn.

Of a ``function_call`` it keeps what stands around the first ``<tool_call>``, or a thought before the call; the rest
is a call, or several, in JSON. Rows with ``role`` and ``content`` go through another converter, which drops what is
said beside ``tool_calls``; or through the first one with other names for keys, which drops the calls. So there are
two ways to read such a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from trajcompress.formats.turns import RESULTS_JOINT, keys_of
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.roles import CALL_ROLES
from trajcompress.transcript.trajectory import Trajectory, Turn

Message: TypeAlias = dict[str, Any]
"""``role`` and ``content`` and, where these are calls, ``calls`` and the ``thought`` beside them."""

_NO_THINKING = "detailed thinking off"
_CALL = late_re(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_THOUGHT = late_re(r"<think>\n(.*?)\n</think>\n\n", re.DOTALL)
_ROLES = {"system": "system", "user": "user", "assistant": "assistant", "tool": "observation"}


class Aligned(NamedTuple):
    """What a template is given; ``has_tools`` also where the column of tools is an empty list."""

    messages: list[Message]
    system: str
    tools: list[dict[str, Any]]
    has_tools: bool


def align(trajectory: Trajectory, *, words_in_calls: bool) -> list[Aligned]:
    """Return what the template is given of a row, in each way in which it may be read.

    ``words_in_calls`` says whether the template looks for words around a call.
    """
    turns, system = trajectory.turns, trajectory.system or ""
    if turns and turns[0].role == "system":
        turns, system = turns[1:], _content(turns[0])
    tools, has_tools = trajectory.tools or [], bool(trajectory.tools or trajectory.row.get("tools"))
    as_text = [_with_calls(_aligned(turn), words_in_calls=words_in_calls) for turn in turns]
    if trajectory.format == "sharegpt":
        return [Aligned(as_text, system, tools, has_tools)]
    as_calls = [_with_calls(each, words_in_calls=words_in_calls) for each in _by_the_other(turns)]
    prompt = system + ("\n" if system and has_tools else "")
    if not has_tools and _NO_THINKING not in system and "detailed thinking on" not in system:
        prompt = f"{system}\n{_NO_THINKING}" if system else _NO_THINKING
    ways = [Aligned(as_calls, prompt, tools, has_tools)]
    return [*ways, Aligned(as_text, system, tools, has_tools)] if any(turn.calls for turn in turns) else ways


def _aligned(turn: Turn) -> Message:
    is_call = turn.own_role.lower() in CALL_ROLES
    return {"role": "function" if is_call else _ROLES[turn.role], "content": _content(turn)}


def _by_the_other(turns: Sequence[Turn]) -> Iterator[Message]:
    """Yield turns as the converter for OpenAI's format does: calls alone, and results side by side as one."""
    results: list[str] = []
    for turn in turns:
        if turn.role == "tool":
            results.append(_content(turn))
            continue
        if results:
            yield {"role": "observation", "content": RESULTS_JOINT.join(results)}
            results = []
        own = turn.raw.get("tool_calls")
        calls = own if isinstance(own, list) else []
        functions = [call.get("function", call) for call in calls if isinstance(call, dict)]
        as_call = {"role": "function", "content": json.dumps(functions, ensure_ascii=False)}
        yield as_call if functions else _aligned(turn)
    if results:
        yield {"role": "observation", "content": RESULTS_JOINT.join(results)}


def _content(turn: Turn) -> str:
    content = turn.raw.get(keys_of(turn.raw).content)
    return content if isinstance(content, str) else turn.text


def _with_calls(message: Message, *, words_in_calls: bool) -> Message:
    """Read the calls of a turn that is some; one that cannot be read stays text, which is what fails there."""
    if message["role"] != "function":
        return message
    text: str = message["content"]
    thought, body = "", text
    if words_in_calls and (call := _CALL.search(text)):
        thought, body = text.replace(call[0], ""), call[1]
    elif words_in_calls and (found := _THOUGHT.search(text)):
        thought, body = found[0], text.replace(found[0], "")
    try:
        read = json.loads(body)
        calls = [
            {"name": call["name"], "arguments": call["arguments"]}
            for call in (read if isinstance(read, list) else [read])
        ]
    except (ValueError, RecursionError, KeyError, TypeError):
        return message
    return {**message, "thought": thought, "calls": calls}
