"""Which user turns are read as observations: chats keep every request, agents of many protocols are recognised."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import labelled
import pytest
from chats import made_chats, real_chats, real_rows_with_calls, written_chats
from labelled import LabelledRow
from protocol_rows import protocol_of, protocol_rows, read_labelled
from protocols import PROTOCOLS, in_protocol, interrupted
from shared import HAS_SHARED, SHARED, SOURCES, rows_of
from steps import calls_tools

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.observations import (
    Observations,
    is_request,
    read_observations,
    read_rule,
    request_text,
    said_beside,
)
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX, is_cleared_line
from trajcompress.transcript.text_protocols.actions import find_actions, shown_code
from trajcompress.transcript.text_protocols.bare_commands import terse_action
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.text_protocols.printed import printed
from trajcompress.transcript.trajectory import Turn


def _read(row: LabelledRow | dict[str, Any], observations: Observations = "auto") -> tuple[Turn, ...]:
    written = row.row if isinstance(row, LabelledRow) else row
    return read_trajectory(written, "row", FormatOptions(observations=observations)).turns


@dataclass
class Judged:
    """How labelled rows were read."""

    count: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, row: LabelledRow) -> None:
        for at, (turn, truth) in enumerate(zip(_read(row), row.truth, strict=True)):
            self.count[truth.kind] += 1
            if (truth.kind == "observation") != bool(turn.answers):
                self.count[f"wrong {truth.kind}"] += 1
                self.wrong.append(f"{row.name} turn {at}: {turn.text[:80]!r}")
            if truth.asks:
                self.count["asks"] += 1
                self.count["heard"] += is_request(turn)

    @property
    def recognised(self) -> float:
        return 1 - self.count["wrong observation"] / self.count["observation"]


def _judge(rows: Iterable[LabelledRow]) -> Judged:
    judged = Judged()
    for row in rows:
        judged.add(row)
    return judged


_CHATS = {"written": written_chats, "made": made_chats, "made again": lambda: made_chats(400, 7)}
_CHATS |= {"real": real_chats} if HAS_SHARED else {}


@pytest.mark.parametrize("chats", _CHATS.values(), ids=_CHATS)
def test_no_request_of_a_chat_becomes_an_observation(chats):
    judged = _judge(chats())
    assert judged.count["request"] > 200
    assert not judged.wrong


_MADE = ("calls-openai", "legacy-calls", "functions-sharegpt", "content-parts")


def _rows_for(protocol: str, source: str) -> list[dict[str, Any]]:
    """Return rows to write in a protocol: of the real ones, which are many, each stands in one of three."""
    rows = _rows(source)
    return rows[list(PROTOCOLS).index(protocol) % 3 :: 3] if source == "shared" else rows


@cache
def _rows(source: str) -> list[dict[str, Any]]:
    if source == "shared":
        return list(real_rows_with_calls())
    paths = [rows_of(source) / f"{name}.jsonl" for name in _MADE]
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return list(filter(calls_tools, rows))


@pytest.mark.parametrize("parallel", ["each", "joined"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_rows_with_calls_are_recognised_in_every_protocol(source, protocol, parallel):
    judged = _judge(in_protocol(row, protocol, parallel) for row in _rows_for(protocol, source))
    assert judged.count["observation"] > 10
    assert judged.recognised >= 0.98, judged.wrong[:5]
    assert judged.count["wrong request"] <= judged.count["request"] / 1000, judged.wrong[:5]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_person_who_speaks_between_results_stays_a_person(source, protocol):
    judged = _judge(in_protocol(interrupted(row), protocol) for row in _rows_for(protocol, source))
    assert judged.count["request"] > judged.count["system"]
    assert judged.recognised >= 0.98, judged.wrong[:5]
    assert judged.count["wrong request"] <= judged.count["request"] / 1000, judged.wrong[:5]


_HEARD = {"react": 0.8, "function": 0.8, "bare": 0.7}
"""Where nothing ends an observation, short words behind one may be its own."""


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_a_person_is_heard_in_the_turn_of_an_observation(source, protocol):
    judged = _judge(in_protocol(interrupted(row), protocol, person="same") for row in _rows_for(protocol, source))
    assert judged.count["asks"] >= 5
    # A turn that is not taken for an observation is a request as a whole.
    assert judged.count["heard"] >= _HEARD.get(protocol.partition("/")[0], 0.95) * judged.count["asks"]
    assert judged.recognised >= (0.9 if protocol == "bare" else 0.98), judged.wrong[:5]
    assert judged.count["wrong request"] <= judged.count["request"] / 1000, judged.wrong[:5]


def test_further_protocols_are_recognised():
    judged = _judge(protocol_rows())
    assert judged.recognised >= 0.95, judged.wrong
    assert judged.count["wrong request"] == 0, judged.wrong
    assert judged.count["heard"] >= 0.8 * judged.count["asks"]


@pytest.mark.parametrize("protocol", sorted(set(map(protocol_of, protocol_rows()))))
def test_each_further_protocol_is_recognised_by_and_large(protocol):
    judged = _judge(row for row in protocol_rows() if protocol_of(row) == protocol)
    assert judged.recognised >= 0.8, judged.wrong


def test_actions_that_end_a_turn_and_marks_of_harnesses_are_read_each_time():
    judged = _judge(row for row in protocol_rows() if protocol_of(row) == "harness-marks")
    assert not judged.wrong


def _questions(source: str) -> Iterator[tuple[LabelledRow | dict[str, Any], Sequence[str]]]:
    """Yield rows in which questions are answered with a search, each with what its turns are."""
    if source == "made":
        text = (Path(labelled.__file__).parent / "data" / "labelled" / "questions.txt").read_text(encoding="utf-8")
        yield from ((row, row.kinds) for row in read_labelled(text))
        return
    text = (SHARED / "text-protocols" / "react-hotpotqa.jsonl").read_text(encoding="utf-8")
    yield from ((row, row["meta"]["kinds"]) for row in map(json.loads, text.splitlines()))


@pytest.mark.parametrize("source", SOURCES)
def test_questions_answered_with_a_search_are_read_turn_by_turn(source):
    for row, kinds in _questions(source):
        read = ["observation" if turn.answers else "action" if turn.calls else None for turn in _read(row)]
        assert read == [kind if kind in {"observation", "action"} else None for kind in kinds]


def test_with_tool_none_is_recognised():
    for row in protocol_rows():
        structured = sum(bool(turn.answers) for turn in _read(row, "tool"))
        assert structured == sum("<tool_response>" in turn["content"] for turn in row.messages)


def test_a_pattern_says_which_user_turns_are_observations_too():
    row = {
        "messages": [
            {"role": "user", "content": "LOG what do you do?"},
            {"role": "assistant", "content": "I look.\n```bash\nls\n```"},
            {"role": "user", "content": "LOG a.txt"},
            {"role": "assistant", "content": "There is one file."},
            {"role": "user", "content": "Thanks. Is it in the LOG?"},
            {"role": "assistant", "content": "No."},
        ]
    }
    turns = _read(row, read_rule("^LOG "))
    assert [bool(turn.answers) for turn in turns] == [False, False, True, False, False, False]
    assert [call.arguments for call in turns[1].calls] == ['{"command": "ls"}']
    assert _read(row, read_rule("^NONE")) == _read(row), "a row in which it is found nowhere is read as any other"
    with pytest.raises(re.error):
        read_rule("(")


def test_words_behind_an_observation_are_the_persons_and_the_rest_is_not():
    row = next(row for row in protocol_rows() if row.name == "swe-agent/2")
    turn = _read(row)[8]
    assert turn.answers
    assert said_beside(turn) == request_text(turn)
    assert request_text(turn).startswith("Thanks, that looks right to me.")
    start, end, said = in_observation(turn.text)
    assert turn.text[start:end].endswith("make sure they are correct.")
    assert said == request_text(turn)


def test_a_summary_in_the_turn_of_an_observation_is_nobodys_words():
    row = next(row for row in protocol_rows() if row.name == "autogen/2")
    messages = [dict(message) for message in row.messages]
    messages[2]["content"] += f'\n\n{SUMMARY_PREFIX}\nRequests:\n- "Could you sum them?"\n{SUMMARY_END}'
    turn = _read({"messages": messages})[2]
    assert turn.answers
    assert request_text(turn) == "And now without sympy."
    messages[2]["content"] = messages[2]["content"].replace("And now without sympy.\n\n", "")
    turn = _read({"messages": messages})[2]
    assert turn.answers
    assert not is_request(turn)


_ATTACKS = (
    *("<function=", "<function=a><parameter=b>", "<parameter=b>", '<invoke name="a">', "<bash>", "<a_b>", "<a></a>"),
    *("```", "```\n", "```a\n", "Action:", "Action: a\n", "\nAction Input:", "\nAction:\nObservation:\n", "<think>"),
    *(
        "Observation:",
        "\nQuestion:",
        "\n\nTask:",
        "bash-$\n",
        "[Command]\n",
        "(Open file: a)\n",
        "(Current directory: ",
    ),
    *(
        "<output>",
        "</output>",
        "{",
        '{"a":',
        "[[",
        "a(",
        "\n",
        "\n\n",
        " ",
        "\t",
        "good. please ",
        "you ",
        "A a.\n\n",
    ),
    *("<|python_tag|>", "[TOOL_CALLS]a", "<|tool_call_begin|>a\n", "<|a|> ", "<result>\n", "Tool: a\nInput: "),
    *("interact with a ", "observation ", "a_", "--a ", "x= ", "> a\n", "GET /a\n", "请", "'", "\\", "0"),
)
_AROUND = (
    ("", ""),
    ("<output>\n", "\n```"),
    ("Action: a", "]"),
    ("{", "}"),
    ("<a_b>", "</a_b>"),
    ("x", "\n\nok then"),
)
_CHARS = 200_000


def _readers() -> Iterator[Callable[[str], object]]:
    yield from (find_actions, terse_action, shown_code, printed, in_observation)
    yield lambda text: read_observations(
        [
            Turn(role, text + end, {})
            for role, end in (
                ("user", ""),
                ("assistant", "\n```\nls\n```"),
                ("user", ""),
                ("assistant", ""),
                ("user", ""),
            )
        ]
    )


@pytest.mark.cpu_seconds(30)  # quadratic work would take minutes
@pytest.mark.parametrize("piece", _ATTACKS)
def test_hostile_texts_take_linear_time(piece):
    for before, after in _AROUND:
        for read in _readers():
            read(before + piece * (_CHARS // len(piece)) + after)


@pytest.mark.cpu_seconds(30)  # as above
@pytest.mark.parametrize("said", ["Observation: x", "Hello there"])
def test_rows_of_many_turns_take_linear_time(said):
    turns = [Turn("user", said, {}) for _ in range(60_000)]
    assert read_observations(turns) == tuple(turns)  # nobody acted
    for at in range(1, 60_000, 4):
        turns[at] = Turn("assistant", "Action: f[x]" if at > 1 else "Ready.", {})
    assert read_observations(turns)[6].answers == (None,)


@pytest.mark.filterwarnings("error")
def test_escapes_in_code_that_is_read_warn_nobody():
    (call,) = find_actions("```python\ngrep(pattern='\\d+', path='a\\n.py')\n```").calls
    assert (call.name, json.loads(call.arguments)) == ("grep", {"pattern": "\\d+", "path": "a\n.py"})


@pytest.mark.cpu_seconds(10)  # it was cubic
def test_what_only_begins_like_a_line_of_ours_is_read_in_no_time():
    assert not is_cleared_line("[" + "a → b; 1 lines; with " * 5_000 + "x")
    assert is_cleared_line("[ls → a.py; 12 lines]")
    assert is_cleared_line("[ls → a.py; 12 lines, 900 characters; with b.py]")
