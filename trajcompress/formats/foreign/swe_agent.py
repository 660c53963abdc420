"""SWE-agent's ``.traj`` files: ``trajectory``, a list of steps, and mostly ``history``, the messages themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, objects, rest_of
from trajcompress.formats.content import json_text
from trajcompress.transcript.trajectory import Message

_STEP = frozenset({"action", "observation"})
_READ = ("response", "observation", "tool_calls", "tool_call_ids", "query", "messages")


def _find(row: Row, lists: Lists) -> tuple[str, ...]:
    steps = lists.get("trajectory")
    if row.get("messages") is not None:  # as in what this was made into
        return ()
    if steps is None:
        is_empty = row.get("trajectory") == [] and "history" in row and isinstance(row.get("info"), dict)
        return ("history",) if is_empty else ()
    if not steps[0].keys() >= _STEP or {"role", "from"} & steps[0].keys():
        return ()
    return ("history",) if lists.get("history") else ("trajectory",)


def _read(_: Row, lists: Lists, columns: tuple[str, ...]) -> Made:
    if columns == ("history",):
        history = objects(lists.get("history"), "turn")
        return Made([said for index, message in enumerate(history) for said in _said(message, index)])
    steps = objects(lists["trajectory"], "step")
    asked = steps[0].get("query") or steps[0].get("messages") or []
    asked = asked if isinstance(asked, list) else []
    before = [message for message in asked if isinstance(message, dict) and isinstance(message.get("role"), str)]
    # What was asked again at each step is left out: it is what the steps before it say.
    return Made([*before, *(message for step in steps for message in _done(step))])


def _said(message: Mapping[str, Any], index: int) -> Iterator[Message]:
    """Yield a message of the history; the calls that a result answers under the name that OpenAI has for one."""
    if not isinstance(message.get("role"), str):
        raise RowError("turn_without_role", f"turn {index} of 'history' has no role")
    said = {key: value for key, value in message.items() if value is not None or key == "content"}
    ids = _ids(message)
    if message["role"] == "tool" and ids:
        yield from _answers({key: value for key, value in said.items() if key != "tool_call_ids"}, ids)
    else:
        yield said


def _done(step: Mapping[str, Any]) -> Iterator[Message]:
    """Yield what the agent did in one step, and what its environment answered."""
    said = step.get("response")
    if said is None:
        said = "\n".join(json_text(step[key]) for key in ("thought", "action") if step.get(key))
    calls, ids = step.get("tool_calls"), _ids(step)
    yield {"role": "assistant", "content": said} | ({"tool_calls": calls} if calls else {}) | rest_of(step, *_READ)
    observed = step.get("observation") or ""
    if calls and ids:
        yield from _answers({"role": "tool", "content": observed}, ids)
    else:
        yield {"role": "user", "content": observed}


def _ids(holder: Mapping[str, Any]) -> list[Any]:
    ids = holder.get("tool_call_ids")
    return ids if isinstance(ids, list) else []


def _answers(answer: Message, ids: Sequence[Any]) -> Iterator[Message]:
    """Yield what answers the calls of a step: its one observation, as SWE-agent tells it, for the first of them."""
    yield answer | {"tool_call_id": ids[0]}
    yield from ({"role": "tool", "content": "", "tool_call_id": call_id} for call_id in ids[1:])


ADAPTER = Adapter("swe-agent", _find, _read)
