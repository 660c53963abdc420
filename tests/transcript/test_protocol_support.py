"""What judges the recognition of observations is itself well made."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from chats import REAL_DIALOGUES, made_chats, real_dialogues, requests_of, without_tools, written_chats
from labelled import ROLE_OF, LabelledRow
from protocol_rows import protocol_of, protocol_rows
from protocols import PROTOCOLS, in_protocol, interrupted
from shared import SOURCES, rows_of
from steps import calls_tools, messages_of

_FILES = {"made": ("calls-openai", "legacy-calls", "functions-sharegpt", "content-parts")}
_FILES["shared"] = (
    "tau-bench-airline",
    "livemcpbench",
    "toolbench",
    "llamafactory-toolcall",
    "pydantic-ai-cassettes",
)


@cache
def _rows(source: str) -> list[dict]:
    paths = [rows_of(source) / f"{name}.jsonl" for name in _FILES[source]]
    read = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in read if calls_tools(row)]


def _well_made(row: LabelledRow) -> None:
    assert len(row.messages) == len(row.truth)
    for message, truth in zip(row.messages, row.truth, strict=True):
        assert message.keys() == {"role", "content"}
        assert message["role"] == ROLE_OF[truth.kind]
        assert isinstance(message["content"], str)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_turn_is_written_in_every_protocol(source, protocol):
    rows = _rows(source)
    assert len(rows) >= 5
    for row in rows:
        for parallel in ("each", "joined"):
            written = in_protocol(row, protocol, parallel)
            _well_made(written)
            assert {at for truth in written.truth for at in truth.sources} == set(range(len(messages_of(row))))
            assert "action" in written.kinds


def _parallel() -> dict:
    call = {"type": "function", "function": {"name": "bash", "arguments": '{"command": "ls -a"}'}}
    other = {"type": "function", "function": {"name": "look-up", "arguments": '{"word": "été d\'or", "n": 2}'}}
    return {
        "id": "r",
        "messages": [
            {"role": "user", "content": "Do it."},
            {"role": "assistant", "content": "Both.", "tool_calls": [call | {"id": "a"}, other | {"id": "b"}]},
            {"role": "tool", "tool_call_id": "b", "content": "second"},
            {"role": "tool", "tool_call_id": "a", "content": "first"},
            {"role": "assistant", "content": "Done."},
        ],
    }


def test_parallel_calls_are_an_action_each_or_one():
    each = in_protocol(_parallel(), "bare")
    assert [message["content"] for message in each.messages] == [
        "Do it.",
        "ls -a",
        "first",
        "look-up --word 'été d'\\''or' --n 2",
        "second",
        "Done.",
    ]
    assert [truth.sources for truth in each.truth] == [(0,), (1,), (3,), (1,), (2,), (4,)]
    joined = in_protocol(_parallel(), "tags", "joined")
    assert joined.kinds == ("request", "action", "observation", "reply")
    assert joined.messages[1]["content"].count("<tool_call>") == 2
    assert joined.messages[2]["content"].count("<tool_response>") == 2


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_words_of_a_person_stand_alone_or_after_the_observation(protocol):
    row = interrupted(_parallel(), ["And be quick."], every=1)
    alone = in_protocol(row, protocol)
    assert alone.kinds == ("request", "action", "observation", "action", "observation", "request", "reply")
    same = in_protocol(row, protocol, person="same")
    assert same.kinds == ("request", "action", "observation", "action", "observation", "reply")
    assert [truth.asks for truth in same.truth] == [False] * 4 + [True, False]
    assert same.messages[4]["content"].endswith("\n\nAnd be quick.")
    assert same.truth[4].sources == (2, 4)


def test_parts_of_vendors_are_calls_and_results():
    asks = {"text": "And quickly."}
    row = {
        "messages": [
            {"role": "user", "content": [{"text": "Weather?"}]},
            {"role": "assistant", "content": [{"toolUse": {"name": "w", "input": {"at": "x"}, "toolUseId": "1"}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "1", "content": [{"text": "sun"}]}}, asks]},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "w", "input": {"at": "y"}, "id": "2"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "2", "content": "rain"}]},
        ]
    }
    written = in_protocol(row, "function")
    assert written.kinds == ("request", "action", "observation", "request", "action", "observation")
    assert written.messages[2]["content"] == "EXECUTION RESULT of [w]:\nsun"
    assert requests_of(row) == (0, 2)


def test_sharegpt_rows_are_interrupted_in_their_own_form():
    row = {
        "conversations": [
            {"from": "human", "value": "Do it."},
            {"from": "function_call", "value": '{"name": "ls", "arguments": {}}'},
            {"from": "observation", "value": "a.txt"},
            {"from": "gpt", "value": "Done."},
        ]
    }
    written = in_protocol(interrupted(row, every=1), "bare")
    assert written.kinds == ("request", "action", "observation", "request", "reply")
    assert written.messages[1]["content"] == "ls"


def test_rows_of_further_protocols_are_labelled_turn_by_turn():
    rows = protocol_rows()
    counts = Counter(map(protocol_of, rows))
    assert len(counts) >= 16
    assert min(counts.values()) >= 3
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        _well_made(row)
        assert 6 <= len(row.messages) <= 20
        assert {"request", "action", "observation"} <= set(row.kinds)


def test_a_person_speaks_between_observations_and_in_their_turns():
    rows = protocol_rows()
    both = [row for row in rows if any(truth.asks for truth in row.truth)]
    alone = [row for row in rows if ("observation", "request") in set(pairwise(row.kinds))]
    assert len({protocol_of(row) for row in both}) >= 16
    assert len({protocol_of(row) for row in alone}) >= 8


def test_chats_hold_a_persons_words_alone():
    written, made = written_chats(), made_chats()
    assert len(written) >= 40
    assert len(made) >= 120
    assert len({json.dumps(row.messages) for row in (*written, *made)}) == len(written) + len(made)
    for row in (*written, *made):
        _well_made(row)
        assert 4 <= len(row.messages) <= 30
        assert set(row.kinds) <= {"system", "request", "reply"}
        assert row.kinds.count("request") >= 2


def test_made_chats_are_those_of_their_seed():
    assert made_chats(5, 1) == made_chats.__wrapped__(5, 1)
    assert made_chats(5, 1) != made_chats(5, 2)


@pytest.mark.parametrize("source", SOURCES)
def test_rows_without_their_tools_keep_every_request(source):
    for row in (
        _rows(source) if source == "made" else (row for name in REAL_DIALOGUES for row in real_dialogues(name))
    ):
        chat = without_tools(row)
        _well_made(chat)
        assert set(chat.kinds) <= {"system", "request", "reply"}
        asked = [at for truth in chat.truth if truth.kind == "request" for at in truth.sources]
        assert tuple(asked) == requests_of(row)
        assert asked
