"""Trajectories for tests: built from rows by the real adapter, in the dialects that real files hold."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

from hypothesis import strategies as st

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.trajectory import Message, Trajectory, Turn

Dialect: TypeAlias = Literal["openai", "openai_reused_ids", "openai_no_ids", "sharegpt", "sharegpt_tags"]
Step: TypeAlias = tuple[Literal["system", "user", "say", "tools"], int]
"""What happens: ``say`` is an assistant turn without calls, ``tools`` one with that many calls and their results."""

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
_SOURCE = json.dumps(json.__doc__ * 20)  # real text, with quotes and line breaks, longer than any turn here


@dataclass(frozen=True)
class Example:
    """A trajectory, and which call turn each result turn answers: pairs of positions, known from its making."""

    trajectory: Trajectory
    answered: tuple[tuple[int, int], ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.trajectory.turns


def read(messages: list[Message], **columns: Any) -> Trajectory:
    """Read messages of either format as a row of a file."""
    field = "messages" if "role" in messages[0] else "conversations"
    return read_trajectory({"id": "t", field: messages, **columns}, "row:0", FormatOptions())


def openai(*turns: tuple[str, Any], **columns: Any) -> Trajectory:
    return read([{"role": role, "content": content} for role, content in turns], **columns)


def sharegpt(*turns: tuple[str, str], **columns: Any) -> Trajectory:
    return read([{"from": role, "value": value} for role, value in turns], **columns)


def call(call_id: str | None = "a", name: str = "ls") -> Message:
    """Make an OpenAI assistant message with one call."""
    return {"role": "assistant", "content": None, "tool_calls": [_call(name, call_id)]}


def result(call_id: str | None = "a", text: str = "a.txt") -> Message:
    """Make an OpenAI tool message."""
    return {"role": "tool", "content": text} | ({} if call_id is None else {"tool_call_id": call_id})


def agent_run(steps: int, dialect: Dialect = "openai", words: int = 40) -> Trajectory:
    """A task, then ``steps`` calls with a result of about ``words`` words each, then an answer."""
    tools: list[Step] = [("tools", 1)] * steps
    plan: list[Step] = [("system", 1), ("user", 1), *tools, ("say", 1)]
    return make(plan, dialect, random.Random(steps), max_words=words).trajectory  # noqa: S311  no secret


def speech(rng: random.Random, words: int) -> str:
    """Real text of about ``words`` words, which a person says."""
    length = words * 6
    start = rng.randrange(max(1, len(_SOURCE) - length))
    return f"My {rng.randrange(10**6)}: {_SOURCE[start : start + length]}"


def make(steps: list[Step], dialect: Dialect, rng: random.Random, max_words: int = 12) -> Example:
    """Write the steps as messages of a dialect and read them back."""
    messages: list[Message] = []
    answered: list[tuple[int, int]] = []
    for number, (kind, calls) in enumerate(steps):
        text = speech(rng, rng.randint(1, max_words))
        if kind != "tools":
            messages.append(_message(kind, text, dialect))
            continue
        caller = len(messages)
        results = [speech(rng, rng.randint(1, max_words)) for _ in range(calls)]
        written = _tool_step(dialect, number, text, results, rng)
        messages += written
        answered += [(caller, caller + i) for i in range(1, len(written))]
    return Example(read(messages), tuple(answered))


def _message(kind: str, text: str, dialect: Dialect) -> Message:
    if dialect.startswith("openai"):
        return {"role": {"say": "assistant"}.get(kind, kind), "content": text}
    return {"from": {"say": "gpt", "user": "human"}.get(kind, kind), "value": text}


def _tool_step(dialect: Dialect, number: int, text: str, results: list[str], rng: random.Random) -> list[Message]:
    names = [f"tool_{i}" for i in range(len(results))]
    if dialect == "sharegpt":
        written = [{"name": name, "arguments": {"path": text[:20]}} for name in names]
        value = json.dumps(written[0] if len(written) == 1 else written)
        return [
            {"from": "function_call", "value": value},
            *({"from": "observation", "value": one} for one in results),
        ]
    if dialect == "sharegpt_tags":
        asked = "\n".join(f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>' for name in names)
        given = "\n".join(f"<tool_response>\n{one}\n</tool_response>" for one in results)
        return [
            {"from": "gpt", "value": f"{text}\n{asked}"},
            {"from": rng.choice(["human", "tool"]), "value": given},
        ]
    ids: list[str | None] = [
        {"openai": f"{number}-{i}", "openai_reused_ids": f"call_{i}"}.get(dialect) for i in range(len(names))
    ]
    answers = [result(call_id, one) for call_id, one in zip(ids, results, strict=True)]
    rng.shuffle(answers)
    asked_for = [_call(name, call_id) for name, call_id in zip(names, ids, strict=True)]
    return [{"role": "assistant", "content": rng.choice([None, text]), "tool_calls": asked_for}, *answers]


def _call(name: str, call_id: str | None) -> Message:
    made: Message = {"type": "function", "function": {"name": name, "arguments": '{"path": "."}'}}
    return made if call_id is None else {"id": call_id, **made}


def users_in_a_row(turns: tuple[Turn, ...]) -> int:
    return sum(one.role == other.role == "user" for one, other in pairwise(turns))


_OPENING: list[list[Step]] = [[], [("system", 1)], [("system", 1), ("system", 1)]]
_step: st.SearchStrategy[Step] = st.one_of(
    st.just(("user", 1)), st.just(("say", 1)), st.tuples(st.just("tools"), st.integers(1, 3))
)


@st.composite
def examples(draw: st.DrawFn, max_steps: int = 12, max_words: int = 12) -> Example:
    """Any conversation: users in a row, assistants in a row, no user at all, parallel calls, in any dialect."""
    steps = draw(st.sampled_from(_OPENING)) + draw(st.lists(_step, min_size=1, max_size=max_steps))
    rng = random.Random(draw(st.integers(0, 2**16)))  # noqa: S311  text only, and a draw per word would be slow
    return make(steps, draw(st.sampled_from(DIALECTS)), rng, max_words)


def results_without_call(turns: tuple[Turn, ...]) -> int:
    """Count the results whose id no turn before them has called, or that follow neither a call nor a result."""
    called: set[str | None] = set()
    follows = False
    lost = 0
    for turn in turns:
        called |= {made.id for made in turn.calls}
        lost += sum(answer not in called if answer else not follows for answer in turn.answers)
        follows = bool(turn.calls or turn.answers)
    return lost


def calls_without_result(turns: tuple[Turn, ...]) -> int:
    """Count the calls with an id that no turn answers, and the calls without one that no result follows."""
    answered = {answer for turn in turns for answer in turn.answers}
    followed = False
    lost = 0
    for turn in reversed(turns):
        lost += sum(made.id not in answered if made.id else not followed for made in turn.calls)
        followed = bool(turn.answers)
    return lost
