"""The promises on real trajectories: nothing is lost, the budget holds, what is kept is kept as it was."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import read_metrics, run_here
from reading import read_parts
from shared import OWN, SOURCES, rows_of, tokenizer_folder

TARGETS = {"made": 1200, "shared": 8000}
TOKENIZERS = {"made": "chatml", "shared": "qwen3"}
STANDARD_ROLES = {"system", "user", "assistant", "tool"}


@dataclass(frozen=True)
class Run:
    """A run's folder, its metrics, the rows of its dataset, and those that it was made from."""

    folder: Path
    inputs: list[Path]
    metrics: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    originals: list[dict[str, Any]]

    def paired(self, outcome=None):
        for metrics, row, original in zip(self.metrics, self.rows, self.originals, strict=True):
            if outcome in {None, metrics["outcome"]}:
                yield metrics, row, original


def make_run(folder: Path, inputs: list[Path], *options: str) -> Run:
    out = folder / "out"
    ran = run_here("compress", *inputs, *options, "-o", out, cwd=folder)
    assert ran.code == 0, ran.stderr
    rows = [row for file in inputs for row in read_parts(out, file.name.split(".")[0])]
    return Run(out, inputs, read_metrics(out), rows, [row for file in inputs for row in read_originals(file)])


def read_originals(file: Path) -> list[dict[str, Any]]:
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        return pq.read_table(file).to_pylist()
    if file.suffix == ".json":
        return json.loads(file.read_text())
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module", params=SOURCES)
def source(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def every(source, tmp_path_factory) -> Run:
    """A run over rows of every shape; short made ones go with long ones of our own."""
    folder = rows_of(source)
    inputs = [*sorted(folder.glob("*.jsonl")), *(sorted(OWN.glob("*.jsonl")) if source == "made" else [])]
    inputs += sorted(folder.glob("*.parquet"))
    options = ("--tokenizer", str(tokenizer_folder(TOKENIZERS[source])), "--target-max-tokens", str(TARGETS[source]))
    return make_run(tmp_path_factory.mktemp(source), inputs, *options)


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Run:
    inputs = sorted(file for file in OWN.iterdir() if file.suffix in {".jsonl", ".json"})
    return make_run(tmp_path_factory.mktemp("own"), inputs)


def test_our_own_data_is_what_it_should_be(own):
    assert len(own.metrics) == len(own.originals) >= 40
    assert sum(row["original_tokens"] > 15250 for row in own.metrics) > len(own.metrics) / 2
    assert {row["input_format"] for row in own.metrics} == {"sharegpt", "openai"}
    assert not any(row["still_over_limit"] for row in own.metrics)
    assert {row["outcome"] for row in own.metrics} == {"compressed", "skipped_under_target"}


def test_datasets_loads_it(every, own, tmp_path):
    import datasets

    datasets.disable_progress_bars()
    for run in (every, own):
        loaded = datasets.load_dataset(
            "parquet", data_files=str(run.folder / "data" / "*.parquet"), split="train", cache_dir=str(tmp_path)
        )
        assert len(loaded) == len(run.rows)
        messages = [row.get("messages") or row["conversations"] for row in loaded]
        assert Counter(map(len, messages)) == Counter(
            len(row.get("messages") or row["conversations"]) for row in run.rows
        )


def test_every_input_row_is_in_the_metrics_once_and_nothing_else_is(every):
    expected = Counter((file.as_posix(), row) for file in every.inputs for row in range(len(read_originals(file))))
    assert Counter((row["source_file"], row["source_row"]) for row in every.metrics) == expected


def test_no_row_is_rejected_and_order_is_kept(every):
    assert (every.folder / "rejected.jsonl").read_text() == ""
    assert len(every.rows) == len(every.originals) == len(every.metrics)
    for _, row, original in every.paired():
        assert row.get("id") == original.get("id")
        assert row.get("item_id") == original.get("item_id")


def test_rows_that_were_not_compressed_are_as_they_were(every, own):
    for run in (every, own):
        for metrics, row, original in run.paired():
            if not metrics["was_compressed"]:
                assert canonical(row, original) == canonical(original, original)


def test_all_that_a_summary_does_not_replace_is_as_it_was(every, own):
    for run in (every, own):
        for metrics, row, original in run.paired("compressed"):
            (field,) = [key for key in original if canonical(row[key]) != canonical(original[key])]
            before, after = original[field], row[field]
            is_summarised = metrics["region_start_idx"] is not None
            start, end = (metrics["region_start_idx"], metrics["region_end_idx"]) if is_summarised else (0, 0)
            same_head = [canonical(turn) for turn in after[:start]], [canonical(turn) for turn in before[:start]]
            kept_tail = len(before) - end
            tail = [canonical(turn) for turn in after[len(after) - kept_tail :]]
            expected_tail = [canonical(turn) for turn in before[end:]]
            # The notice changes one turn of the head, a folded summary one turn on either side of it; besides, old
            # observations are cleared, and long ones and long requests truncated.
            changed = sum(one != other for one, other in zip(*same_head, strict=True))
            changed += sum(one != other for one, other in zip(tail, expected_tail, strict=True))
            shortened = metrics["turns_pruned"] + metrics["turns_elided"] + metrics["requests_truncated"]
            assert changed <= is_summarised + (metrics["placement"] == "fold") + shortened
            assert len(after) == start + (metrics["placement"] == "human") + kept_tail
            assert not is_summarised or json.dumps(after).count("[CONTEXT SUMMARY]:") >= 1


def canonical(value: Any, like: dict[str, Any] | None = None) -> str:
    """JSON in one order of keys. Where ``like`` is given, without the null columns that other files' rows brought."""
    if like is not None:
        value = {key: item for key, item in value.items() if item is not None or key in like}
    return json.dumps(value, sort_keys=True, default=str)


def test_the_budget_holds_or_the_row_says_why_not(every, source):
    assert sum(row["was_compressed"] for row in every.metrics) > 100
    for row in every.metrics:
        assert row["still_over_limit"] == (row["compressed_tokens"] > TARGETS[source])
        assert row["compressed_tokens"] <= row["original_tokens"]
        if row["still_over_limit"]:
            assert row["reason"]
        if row["outcome"] == "compressed":
            assert row["tokens_saved"] > 0


def test_counts_are_those_of_the_trainer(every, source):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder(TOKENIZERS[source]))
    checked = 0
    for metrics, row, original in every.paired():
        messages = row.get("messages")
        if metrics["compressed_tokens"] > TARGETS[source] or not messages or not all(map(is_plain, messages)):
            continue
        if metrics["outcome"] != "compressed" and checked % 4:  # a quarter of these will do
            checked += 1
            continue
        if metrics["count_method"] != "template":
            continue
        tools = original.get("tools")
        rendered = tokenizer.apply_chat_template(
            messages, tools=json.loads(tools) if isinstance(tools, str) else tools or None, tokenize=False
        )
        ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
        assert len(ids) == metrics["compressed_tokens"], metrics["trajectory_id"]
        checked += 1
    assert checked > {"made": 20, "shared": 100}[source]


def is_plain(message: dict[str, Any]) -> bool:
    return (
        message.get("role") in STANDARD_ROLES
        and isinstance(message.get("content"), str)
        and not message.get("function_call")
    )


TWO_COLUMNS = {
    "made": ("two-columns.parquet", "loss-sharegpt.parquet"),
    "shared": ("openmanus-rl-webshop__val.parquet", "openmanus-rl-sciworld__val.parquet"),
}


def test_a_row_with_two_columns_of_messages_says_which_was_taken(source, tmp_path):
    given = rows_of(source) / TWO_COLUMNS[source][0]
    ran = run_here("compress", given, "--tokenizer", tokenizer_folder("chatml"), "-o", "out", cwd=tmp_path)
    assert ran.code == 0
    assert "column conversations" in ran.stderr
    assert "more than prompt" in ran.stderr


def test_parquet_columns_keep_their_types(source, tmp_path):
    import pyarrow.parquet as pq

    given = rows_of(source) / TWO_COLUMNS[source][1]
    run_here("compress", given, "--tokenizer", tokenizer_folder("chatml"), "-o", "out", cwd=tmp_path)
    (part,) = (tmp_path / "out" / "data").glob("*.parquet")
    before, after = pq.read_schema(given), pq.read_schema(part)
    assert after.names == [*before.names, "trajcompress"]
    unchanged = [name for name in before.names if name != "conversations"]
    assert [after.field(name).type for name in unchanged] == [before.field(name).type for name in unchanged]
