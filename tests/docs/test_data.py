"""What ``data/`` holds is what its README says: valid, long enough, in each format, and of nobody's machine."""

from __future__ import annotations

import gzip
import json
import re
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path

from shared import load_cached

ROOT = Path(__file__).resolve().parents[2]
TARGET = 15_250  # tokens, the default limit of the main job


def rows_of(folder):
    rows = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".md":
            continue
        text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
        rows += json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    return rows


def texts_of(row):
    for turn in row.get("messages") or row["conversations"]:
        yield turn.get("value") or turn.get("content") or ""
        for call in turn.get("tool_calls", ()):
            yield call["function"]["name"] + call["function"]["arguments"]


def check_messages(row):
    names = {tool["function"]["name"] for tool in row.get("tools", ())}
    messages = row["messages"]
    waiting = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            assert message["content"]
            continue
        assert not waiting
        assert message["content"] or message.get("tool_calls")
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert call["function"]["name"] in names
            waiting.append(call["id"])
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(ids) == len(set(ids))
    assert messages[-1]["role"] == "assistant"


def check_conversations(row):
    names = {tool["function"]["name"] for tool in json.loads(row["tools"])}
    turns = row["conversations"]
    for turn, following in pairwise(turns):
        calls = [
            json.loads(call) for call in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", turn["value"], re.DOTALL)
        ]
        assert {call["name"] for call in calls} <= names
        assert (following["from"] == "tool") == bool(calls)
        assert following["value"].count("<tool_response>\n") == len(calls)
        assert following["value"].count("\n</tool_response>") == len(calls)
    assert {turn["from"] for turn in turns} <= {"system", "human", "gpt", "tool"}
    assert turns[-1]["from"] == "gpt"


def check_rows(rows):
    assert len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        if "messages" in row:
            check_messages(row)
        else:
            check_conversations(row)
    whole = check_it_names_no_machine(rows)
    assert set(re.findall(r"Ran \d+ tests? in (\d[\d.]*s)", whole)) == {"0.000s"}


def check_it_names_no_machine(rows):
    prefixes = {sys.prefix, sysconfig.get_path("stdlib"), str(Path.home()), str(ROOT)} - {"/usr", "/usr/local", "/"}
    whole = json.dumps(rows, ensure_ascii=False)
    assert "record-agent-" not in whole
    assert not [prefix for prefix in prefixes if f"{prefix}/" in whole]
    assert not re.search(r'File \\*"/', whole)
    return whole


def test_what_data_holds_is_valid_long_enough_and_in_both_formats():
    rows = rows_of(ROOT / "data")
    assert len(rows) >= 40
    assert {"messages" in row for row in rows} == {True, False}
    check_rows(rows)
    engine = load_cached(None).engine
    lengths = [sum(engine.count(list(texts_of(row)))) for row in rows]
    assert sum(length > TARGET for length in lengths) > len(rows) / 2
    assert sum(path.stat().st_size for path in (ROOT / "data").iterdir()) < 5_000_000


def test_text_protocols_stand_in_turns_that_take_turns():
    rows = [row for row in rows_of(ROOT / "data") if "protocol" in row["meta"]]
    assert {row["meta"]["protocol"] for row in rows} == {"swe-agent", "mini-swe-agent", "react"}
    for row in rows:
        assert {frozenset(message) for message in row["messages"]} == {frozenset({"role", "content"})}
        system, *roles = [message["role"] for message in row["messages"]]
        assert (system, roles[0], roles[-1]) == ("system", "user", "assistant")
        assert all(
            {one, other} == {"user", "assistant"} or row["task"] == "questions" for one, other in pairwise(roles)
        )


def test_the_short_rows_of_each_shape_name_no_machine():
    check_it_names_no_machine(rows_of(ROOT / "tests" / "support" / "data" / "rows"))
