"""Rows to be judged: recorded ones, and drawn ones with and without mistakes."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from shared import SOURCES, rows_of
from trajectories import examples, read
from valid_rows import valid_messages

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.sources import find_sources
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.trajectory import Trajectory

LONGEST = 30  # turns: rules are local, and long rows take long to validate


@cache
def real_rows() -> list[Trajectory]:
    sources = find_sources([str(rows_of(source)) for source in SOURCES])
    rows = (read_trajectory(row.value, "x", FormatOptions()) for source in sources for row in read_rows(source))
    return [row for row in rows if len(row.turns) <= LONGEST]


_ids = st.sampled_from(["abcdefgh1", "abcdefgh2", "call_1", None])
_text = st.sampled_from(["hello", "", None])
_arguments = st.sampled_from(['{"path": "."}', '{"path"', {"path": "."}])


def _call(call_id: str | None, arguments: Any, name: str) -> dict[str, Any]:
    made = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return made if call_id is None else {"id": call_id, **made}


_calls = st.lists(st.builds(_call, _ids, _arguments, st.sampled_from(["ls", "ls", "list files"])), max_size=2)
_plain = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "system", "user", "assistant", "agent"])}
)
_message = st.one_of(
    st.builds(lambda head, content: head | {"content": content}, _plain, _text),
    st.builds(lambda role: {"role": role, "content": "hello"}, st.sampled_from(["user", "assistant"])),
    st.builds(lambda content, calls: {"role": "assistant", "content": content, "tool_calls": calls}, _text, _calls),
    st.builds(lambda calls: {"role": "assistant", "content": None, "tool_calls": calls}, _calls),
    st.builds(lambda call_id: {"role": "tool", "content": "a.txt", "tool_call_id": call_id}, _ids),
    st.just({"role": "user", "content": [{"type": "text", "text": "hello"}]}),
    st.just({"role": "user", "content": [{"type": "text"}]}),
)
wild_rows = st.lists(_message, min_size=1, max_size=7).map(read)


@st.composite
def near_rows(draw: st.DrawFn) -> Trajectory:
    """Draw a row that every target takes, with up to two mistakes in it."""
    rounds = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3))
    sharegpt = draw(st.booleans())
    messages = list(valid_messages(rounds, sharegpt=sharegpt))
    for _ in range(draw(st.integers(0, 2))):
        index = draw(st.integers(0, len(messages) - 1))
        match draw(st.sampled_from(["drop", "double", "swap", "insert"])):
            case "drop" if len(messages) > 1:
                del messages[index]
            case "double":
                messages.insert(index, messages[index])
            case "swap":
                messages[index], messages[0] = messages[0], messages[index]
            case _ if not sharegpt:
                messages.insert(index, draw(_message))
    return read(messages)


tame_rows = examples(max_steps=6, max_words=4).map(lambda example: example.trajectory)
made_rows = st.one_of(wild_rows, tame_rows, near_rows())

quick = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
