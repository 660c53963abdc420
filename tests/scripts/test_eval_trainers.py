"""The measure of what trainers see: what it says of made rows, and that pieces of a file find the rows that fail."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
CALL = {"type": "function", "function": {"name": "book", "arguments": '{"flight": "HAT 1", "seats": 2}'}}
ROW = {
    "messages": [
        {"role": "user", "content": "Book it."},
        {"role": "assistant", "content": "I book it now.", "tool_calls": [CALL]},
        {"role": "tool", "content": "done"},
        {"role": "assistant", "content": "It is booked."},
    ]
}
METRICS = {"compressed_tokens": 40, "still_over_limit": False, "was_compressed": False}
SEEN = 'I book it now. {"name": "book", "arguments": {"flight": "HAT 1", "seats": 2}}\nIt is booked.'


@pytest.fixture(scope="module")
def trainers():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        names = ("judge", "lines", "said")
        yield SimpleNamespace(**{name: importlib.import_module(f"trainers.{name}") for name in names})


def judged(trainers, trained=SEEN, tokens=40, metrics=METRICS, row=ROW, **loaded):
    line = {"loaded": True, "tokens": tokens, "trained": trained, "rendered": trained} | loaded
    return trainers.judge.judge(row, metrics, line, 50)


def test_a_row_that_is_trained_whole(trainers):
    found, faults = judged(trainers)
    assert not faults
    assert (found["tokens equal"], found["turns"], found["turns whole"]) == (1, 2, 2)
    assert (found["calls"], found["calls there"], found["values"], found["values there"]) == (1, 1, 2, 2)


def test_a_row_that_the_trainer_drops(trainers):
    found, faults = judged(trainers, loaded=False, error="no such column")
    assert (found["rows"], found["loaded"], found["dropped"]) == (1, 0, 1)
    assert faults == {"dropped": "no such column"}


@pytest.mark.parametrize(
    ("trained", "figure"),
    [
        (SEEN.replace("It is booked.", "It is"), "turns whole"),
        (SEEN.replace("I book it now.", ""), "turns whole"),
        (SEEN.replace("HAT 1", "HAT"), "values there"),
        (SEEN.replace("book", "buy"), "calls there"),
        (SEEN.replace("HAT 1", "HAT").replace("seats", "places"), "values there"),
    ],
)
def test_what_is_missing_is_named(trainers, trained, figure):
    assert figure in judged(trainers, trained)[1]


def test_arguments_that_are_a_string_within_json(trainers):
    arguments = CALL["function"]["arguments"]
    twice = "I book it now. " + json.dumps({"name": "book", "arguments": arguments}) + "\nIt is booked."
    found, faults = judged(trainers, twice)
    assert found["encoded twice"] == 1
    assert set(faults) == {"encoded twice"}  # the values do stand there


def test_a_word_counts_as_often_as_it_was_said(trainers):
    row = {"conversations": [{"from": "human", "value": "?"}, {"from": "gpt", "value": "go go go"}]}
    assert judged(trainers, "go go", row=row)[0]["words there"] == 2


def test_turns_that_a_summary_replaced_are_not_asked_for(trainers):
    metrics = METRICS | {"was_compressed": True, "region_start_idx": 1, "region_end_idx": 3}
    found, faults = judged(trainers, "[CONTEXT SUMMARY]: booked\nIt is booked.", metrics=metrics)
    assert not faults
    assert (found["turns"], found["calls"], found["summary in loss"]) == (1, 0, 1)


def test_a_row_over_the_target_that_is_said_to_be_under(trainers):
    found, faults = judged(trainers, tokens=51)
    assert (found["ours less"], found["hidden over"]) == (1, 1)
    assert faults["hidden over"] == "loaded 51, target 50"
    assert not judged(trainers, tokens=51, metrics=METRICS | {"still_over_limit": True})[0]["hidden over"]


def test_calls_of_sharegpt_and_of_the_older_api(trainers):
    call = {"name": "book", "arguments": {"flight": {"no": 1}}}
    rows = [
        {"conversations": [{"from": "function_call", "value": json.dumps(call)}]},
        {"messages": [{"role": "assistant", "content": None, "function_call": call}]},
    ]
    for row in rows:
        (turn,) = trainers.said.assistant_turns(row)
        assert (turn.words, turn.calls[0].name, turn.calls[0].values) == ((), "book", ("1",))


def test_pieces_find_the_rows_that_do_not_load(trainers, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps({"bad": number == 5}) + "\n" for number in range(9)))

    def load(path):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        if any(row["bad"] for row in rows):
            raise ValueError("a bad row")
        return [{"tokens": 1} for _ in rows]

    asked = SimpleNamespace(files=[file], output=tmp_path / "lines")
    trainers.lines.write_lines(asked, load)
    whole, *rows = [json.loads(line) for line in asked.output.read_text().splitlines()]
    assert (whole["loads"], whole["error"], whole["rows"]) == (False, "ValueError: a bad row", 9)
    assert [row["row"] for row in rows if not row["loaded"]] == [5]
