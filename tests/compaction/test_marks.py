"""What a summary leaves beside itself: a key for the trainer on its turn, and a record in a column of the row."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import get_args

import commands
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from compressing import POLICY, compact, run
from hypothesis import given, settings
from msgspec.structs import replace
from shared import tokenizer_folder
from trajectories import agent_run, examples, openai

from trajcompress.compaction.ladder import with_standard_ladder
from trajcompress.compaction.provenance import PROVENANCE_COLUMN, provenance_in, with_provenance
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.targets import form_for
from trajcompress.settings.choices import Target
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import NOTES


def small() -> list[str | Path]:
    """Return options for short rows, with a tokenizer that loads at once."""
    sizes = ["--target-max-tokens", "1000", "--summary-target-tokens", "120"]
    return ["--tokenizer", tokenizer_folder("wordpiece"), *sizes]


@cache
def shared_counter() -> TokenCounter:
    return TokenCounter(load_tokenizer())


@pytest.fixture
def counter() -> TokenCounter:
    return shared_counter()


def again(counter: TokenCounter, trajectory, rules):
    """Compress, and read the row that it makes, with its record."""
    last = compact(counter, trajectory, ExtractiveSummarizer(), with_standard_ladder(rules)).happened.last
    made = with_provenance(replace_turns(trajectory, last.written), trajectory, last, wanted=True)
    return read_trajectory(json.loads(json.dumps(made)), "row:0", FormatOptions()), last.replaced


@pytest.mark.parametrize(
    ("marks", "target", "key"),
    [
        ("none", "axolotl", {}),
        ("train", "template", {"train": False}),
        ("loss-mask", "template", {"loss_mask": 0}),
        ("weight", "template", {"weight": 0}),
        ("auto", "axolotl", {"train": False}),
        ("auto", "openai", {"weight": 0}),
        ("auto", "trl", {}),
    ],
)
def test_the_turn_of_a_summary_has_the_key_that_was_asked_for_and_no_other_turn_has_it(
    counter: TokenCounter, marks, target, key
):
    trajectory = agent_run(30)
    turns, _ = run(counter, trajectory, policy=replace(POLICY, marks=marks, target=target, placement="human"))
    (summary,) = [turn.raw for turn in turns if turn.text.startswith(SUMMARY_PREFIX)]
    assert {name: value for name, value in summary.items() if name not in {"role", "content"}} == key
    assert all(turn.raw in [old.raw for old in trajectory.turns] for turn in turns if turn.raw is not summary)


@pytest.mark.parametrize("placement", ["human", "fold"])
def test_the_record_says_what_was_replaced_and_where_the_summary_stands_also_after_an_update(
    counter: TokenCounter, placement
):
    trajectory = agent_run(60)
    rules = replace(POLICY, placement=placement, target_max_tokens=2000)
    once, first = again(counter, trajectory, rules)
    record = once.row[PROVENANCE_COLUMN]
    assert SUMMARY_PREFIX in once.turns[record["turn"]].text
    assert (record["start"], record["end"]) == (first.start, first.end)
    assert (record["placement"], record["summarizer"], record["prompt"]) == (placement, "extractive", "")
    twice, _ = again(counter, once, replace(rules, target_max_tokens=1000))
    later = twice.row[PROVENANCE_COLUMN]
    assert (later["start"], later["updates"], record["updates"]) == (record["start"], 1, 0)
    assert later["digest"] != record["digest"]
    gone = len(trajectory.turns) - len(twice.turns) + (placement == "human")
    assert later["end"] - later["start"] == gone
    assert twice.turns[-1].raw == trajectory.turns[-1].raw


def test_a_column_of_somebody_else_is_left_alone():
    record = {"turn": 1, "start": 1, "end": 2, "digest": "", "placement": "human", "summarizer": "m"}
    record |= {"prompt": "", "updates": 0, "form": ""}
    assert provenance_in({}) == provenance_in({PROVENANCE_COLUMN: None}) == (PROVENANCE_COLUMN, None)
    assert provenance_in({PROVENANCE_COLUMN: "mine"}) == (f"{PROVENANCE_COLUMN}_2", None)
    assert provenance_in({PROVENANCE_COLUMN: {"a": 1}, f"{PROVENANCE_COLUMN}_2": record}) == (
        f"{PROVENANCE_COLUMN}_2",
        record,
    )
    assert provenance_in({PROVENANCE_COLUMN: record}) == (PROVENANCE_COLUMN, record)
    for odd in (dict.fromkeys(record), record | {"turn": None}, record | {"end": "2"}, record | {"updates": True}):
        assert provenance_in({PROVENANCE_COLUMN: odd}) == (f"{PROVENANCE_COLUMN}_2", None)


def test_a_record_of_the_first_version_is_known_and_one_of_a_form_alone():
    record = {"turn": 1, "start": 1, "end": 2, "digest": "", "placement": "human", "summarizer": "m"}
    record |= {"prompt": "", "updates": 0}
    assert provenance_in({PROVENANCE_COLUMN: record}) == (PROVENANCE_COLUMN, record | {"form": ""})
    formed = dict.fromkeys(record) | {"form": "column, roles"}
    assert provenance_in({PROVENANCE_COLUMN: formed}) == (PROVENANCE_COLUMN, formed)
    assert provenance_in({PROVENANCE_COLUMN: formed | {"form": None}}) == (f"{PROVENANCE_COLUMN}_2", None)


def test_parquet_has_the_column_of_one_type_and_json_lines_have_it_on_request(tmp_path: Path):
    rows = [commands.conversation(i, steps=12 if i % 2 else 2) for i in range(4)]
    source = commands.write_rows(tmp_path / "a.jsonl", rows)

    def compressed(name: str, *more: str) -> Path:
        ran = commands.run_here("compress", source, "-o", name, *small(), *more, cwd=tmp_path)
        assert ran.code == 0, ran
        return tmp_path / name

    (part,) = (compressed("parquet") / "data").iterdir()
    column = pq.read_table(part).column(PROVENANCE_COLUMN)
    assert [value is None for value in column.to_pylist()] == [True, False, True, False]
    (nothing,) = (compressed("all", "--target-max-tokens", "90000") / "data").iterdir()
    assert pq.read_schema(nothing).field(PROVENANCE_COLUMN).type == column.type
    assert column.type.field("turn").type == pa.int64()
    (without,) = (compressed("none", "--no-record") / "data").iterdir()
    assert PROVENANCE_COLUMN not in pq.read_schema(without).names
    lines = source.read_bytes().splitlines()
    assert all(
        PROVENANCE_COLUMN not in row for row in commands.read_rows(compressed("lines", "--output-format", "jsonl"))
    )
    asked_for = compressed("asked", "--output-format", "jsonl", "--record")
    assert [PROVENANCE_COLUMN in row for row in commands.read_rows(asked_for)] == [False, True, False, True]
    assert commands.read_lines(asked_for)[::2] == lines[::2]


def test_a_second_run_over_a_parquet_dataset_updates_column_and_summary(tmp_path: Path):
    source = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(i, steps=40) for i in range(3)])
    commands.run_here("compress", source, "-o", "one", *small(), "--target-max-tokens", "2500", cwd=tmp_path)
    ran = commands.run_here("compress", "one/data", "-o", "two", *small(), cwd=tmp_path)
    assert ran.code == 0, ran
    (part,) = (tmp_path / "two" / "data").iterdir()
    for row in pq.read_table(part).to_pylist():
        assert row[PROVENANCE_COLUMN]["updates"] == 1
        assert sum(SUMMARY_PREFIX in message["content"] for message in row["messages"]) == 1
        assert SUMMARY_PREFIX in row["messages"][row[PROVENANCE_COLUMN]["turn"]]["content"]


def test_a_row_that_the_target_would_refuse_is_flagged(counter: TokenCounter):
    wrong = openai(("user", "a"), ("user", "b"), ("assistant", "c"))
    assert run(counter, wrong)[1].input_invalid is False
    assert run(counter, wrong, policy=replace(POLICY, target="llama-factory"))[1].input_invalid is True
    joined = run(counter, wrong, policy=replace(POLICY, target="mistral"))[1]
    assert (joined.input_invalid, joined.input_faults) == (False, None)  # of turns in a row there is a note alone


def test_faults_are_named_as_read_and_as_written_by_the_rules_of_the_version(counter: TokenCounter):
    mistral = replace(POLICY, target="mistral")
    silent = openai(("user", "a"), ("assistant", "b"), ("assistant", ""))
    row = run(counter, silent, policy=mistral)[1]
    assert (row.input_faults, row.output_faults, row.new_faults) == ("empty_assistant", "empty_assistant", None)
    later = run(counter, silent, policy=replace(mistral, mistral="v7"))[1]
    assert (later.input_invalid, later.input_faults) == (False, None)


def test_what_a_form_mends_is_a_fault_of_the_input_alone(counter: TokenCounter):
    wrong = openai(("user", "a"), ("user", "b"), ("assistant", "c"))
    formed = form_for("llama-factory", FormatOptions()).of(wrong)
    row = run(counter, formed, policy=replace(POLICY, target="llama-factory"))[1]
    assert (row.formed, row.input_invalid, row.input_faults) == (True, True, "parity")
    assert (row.output_faults, row.new_faults) == (None, None)


def test_a_fault_that_a_setting_brings_in_is_new(counter: TokenCounter):
    steps = [turn for _ in range(30) for turn in (("assistant", "step " * 20), ("user", "well " * 20))]
    row_ = openai(("user", "task"), *steps, ("assistant", "done"))
    forced = replace(POLICY, target="llama-factory", placement="human", target_max_tokens=800)
    row = run(counter, row_, policy=forced)[1]
    assert row.outcome == "compressed"
    assert (row.input_faults, row.new_faults) == (None, row.output_faults)
    assert row.new_faults is not None


@given(example=examples(max_words=30))
@settings(max_examples=15, deadline=None)
def test_no_row_that_was_valid_is_invalid_afterwards(example):
    counter = shared_counter()
    for target in get_args(Target):
        turns, row = run(counter, example.trajectory, policy=replace(POLICY, target_max_tokens=200, target=target))
        if turns is not None and not row.input_invalid:
            assert [each for each in violations(turns, target) if each.kind not in NOTES] == []
