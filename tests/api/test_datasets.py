"""Data sets in Python: every kind comes back as it was given, or becomes a run folder."""

from __future__ import annotations

import json
from pathlib import Path

import datasets
import pandas as pd
import pyarrow as pa
import pytest
from commands import TARGET, conversation, read_metrics, read_rows
from own_summarizers import meeting

from trajcompress import CompressedDataset, InputError, SettingsError, SummarizerUnusableError, compress_dataset
from trajcompress.api.compressor import MOST_AHEAD

ROWS = [conversation(0, score=1.5), {"note": "none"}, conversation(1, 2), conversation(2, score=0.5)]
OUTCOMES = ["compressed", "rejected", "skipped_under_target", "compressed"]


@pytest.fixture
def options(make_tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return {"tokenizer": make_tokenizer(), "target_max_tokens": TARGET, "summary_target_tokens": 300}


@pytest.fixture
def dataset():
    return datasets.Dataset.from_list([{**row, "messages": row.get("messages", [])} for row in ROWS])


class Notes:
    """A reporter that keeps what it hears."""

    def __init__(self):
        self.heard = []

    def note(self, text):
        self.heard.append(text)

    def started(self, total_bytes): ...

    def advanced(self, _bytes_read, progress):
        self.heard.append(progress.rows)


def outcomes(done):
    return [each.outcome for each in done.metrics]


@pytest.mark.parametrize("kind", ["Dataset", "IterableDataset"])
@pytest.mark.parametrize("named", [{}, {"messages_field": "data.messages"}])
def test_a_data_set_of_one_column(options, kind, named):
    """Without its only column a data set has no rows."""
    messages = [conversation(number, steps)["messages"] for number, steps in ((0, 12), (1, 2))]
    rows = [{"data": {"messages": each}} if named else {"messages": each} for each in messages]
    given = datasets.Dataset.from_list(rows)
    done = compress_dataset(given if kind == "Dataset" else given.to_iterable_dataset(), **options, **named)
    compressed, untouched = done.rows
    assert compressed.keys() == untouched.keys() == {"messages"}
    assert [each["content"] for each in untouched["messages"]] == [each["content"] for each in messages[1]]
    assert outcomes(done) == ["compressed", "skipped_under_target"]


def test_a_list(options):
    done = compress_dataset(ROWS, **options)
    assert isinstance(done, CompressedDataset)
    assert [row["id"] for row in done.rows] == ["row-0", "row-1", "row-2"]
    assert done.rows[1] == ROWS[2]
    assert done.rejected == [ROWS[1]]
    assert outcomes(done) == OUTCOMES
    assert [each.source_row for each in done.metrics] == [0, 1, 2, 3]
    assert (done.totals.rows, done.totals.outcomes["compressed"]) == (4, 2)


def test_a_list_of_bare_messages(options):
    done = compress_dataset([ROWS[0]["messages"], ROWS[2]["messages"]], **options)
    assert done.rows[0] == compress_dataset(ROWS, **options).rows[0]["messages"]
    assert done.rows[1] == ROWS[2]["messages"]


def test_a_generator_is_compressed_as_it_is_taken(options):
    taken = []

    def rows():
        for row in ROWS * 100:
            taken.append(row)
            yield row

    done = compress_dataset(rows(), **options, max_concurrent_requests=4)
    assert (taken, done.metrics) == ([], [])
    assert next(done.rows)["id"] == "row-0"
    assert 0 < len(taken) <= MOST_AHEAD < len(ROWS * 100)
    assert outcomes(done) == OUTCOMES[:1]
    done.rows.close()


def test_a_dataset_keeps_its_columns_and_types(options, dataset):
    given = dataset.cast_column("score", datasets.Value("float32")).with_format("numpy", dtype="float32")
    done = compress_dataset(given, **options)
    assert isinstance(done.rows, datasets.Dataset)
    assert done.rows.features == given.features
    assert done.rows.column_names == given.column_names
    assert done.rows.format == given.format
    plain = done.rows.with_format(None)
    assert plain["score"][:] == [1.5, None, 0.5]
    assert list(plain["messages"]) == [row["messages"] for row in compress_dataset(ROWS, **options).rows]
    assert outcomes(done) == OUTCOMES
    assert len(done.rejected) == 1


def test_a_dataset_in_another_form(options, dataset):
    done = compress_dataset(dataset, **options, target="llama-factory", record=True)
    assert "messages" not in done.rows.column_names
    assert set(done.rows[0]["conversations"][0]) == {"from", "value"}
    assert done.rows[0]["trajcompress"]
    assert done.rows[1]["trajcompress"]["turn"] is None


def test_a_dataset_dict(options, dataset):
    done = compress_dataset(datasets.DatasetDict(train=dataset, test=dataset.select([2, 3])), **options)
    assert isinstance(done.rows, datasets.DatasetDict)
    assert {name: len(split) for name, split in done.rows.items()} == {"train": 3, "test": 2}
    assert [(each.source_file, each.source_row) for each in done.metrics] == [
        *(("train", place) for place in range(4)),
        *(("test", place) for place in range(2)),
    ]


def test_an_iterable_dataset_is_compressed_as_it_is_taken(options, dataset):
    done = compress_dataset(dataset.to_iterable_dataset(), **options)
    assert isinstance(done.rows, datasets.IterableDataset)
    assert done.metrics == []
    rows = list(done.rows)
    assert [row["id"] for row in rows] == ["row-0", "row-1", "row-2"]
    assert rows[0]["messages"] == compress_dataset(ROWS, **options).rows[0]["messages"]
    assert outcomes(done) == OUTCOMES
    assert len(done.rejected) == 1


def test_figures_of_an_iterable_dataset_are_those_of_its_last_pass(options, dataset):
    done = compress_dataset(dataset.to_iterable_dataset(), **options)
    first, *others = [(list(done.rows), list(done.metrics), list(done.rejected), done.totals) for _ in range(3)]
    for other in others:
        assert other[0] == first[0]
        assert [each.source_row for each in other[1]] == [0, 1, 2, 3]
        assert (len(other[2]), other[3].rows, other[3].tokens_saved) == (1, 4, first[3].tokens_saved)
    next(iter(done.rows))
    assert outcomes(done) == OUTCOMES


@pytest.mark.parametrize("kind", ["list", "generator", "Dataset", "DatasetDict", "IterableDataset"])
def test_into_a_run_folder_that_can_be_gone_on_with(options, dataset, kind, capsys):
    def given():
        return {
            "list": ROWS,
            "generator": iter(ROWS),
            "Dataset": dataset,
            "DatasetDict": datasets.DatasetDict(train=dataset),
            "IterableDataset": dataset.to_iterable_dataset(),
        }[kind]

    run = compress_dataset(given(), "out", **options, output_format="jsonl")
    assert (run.state, run.totals.outcomes["compressed"], run.totals.rows) == ("complete", 2, 4)
    assert [row["id"] for row in read_rows(Path("out"))] == ["row-0", "row-1", "row-2"]
    assert Path(read_metrics(Path("out"))[0]["source_file"]).parts[0] == "out-input"
    notes = Notes()
    assert (
        compress_dataset(given(), Path("out"), **options, output_format="jsonl", reporter=notes).state == "complete"
    )
    assert "out: this run is complete already" in notes.heard
    assert capsys.readouterr() == ("", "")


def test_half_an_emoji_reaches_a_run(options):
    row = {"messages": [{"role": "user", "content": "half \ud83d"}]}
    run = compress_dataset([row], "out", **options)
    assert json.loads(Path("out-input/rows.jsonl").read_text()) == row
    assert run.totals.rows == 1


def test_a_reporter_hears_of_rows(options):
    notes = Notes()
    compress_dataset(ROWS, **options, reporter=notes)
    assert notes.heard == [1, 2, 3, 4]


def test_rows_of_an_iterable_data_set_that_take_no_call_hold_up_none(options):
    most = 3
    short = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}
    messages = [{"messages": row["messages"]} for row in map(conversation, range(most))]
    rows = datasets.IterableDataset.from_generator(
        lambda: (each for row in messages for each in (row, *[short] * most))
    )
    limits = {"max_concurrent_requests": most, "per_trajectory_timeout": 20}
    done = compress_dataset(rows, **options, summarizer=meeting(most), **limits)
    assert len(list(done.rows)) == most * (most + 1)
    assert [each.outcome for each in done.metrics].count("compressed") == most


def test_nobody_answers(options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    options |= {"model": "m", "base_url": "http://127.0.0.1:9/v1", "max_outage": 0.2, "max_retries": 0}
    with pytest.raises(SummarizerUnusableError):
        compress_dataset(ROWS, **options)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (ROWS[0], "a mapping is one row"),
        ([], "is empty"),
        (["a.jsonl", ROWS[0]], "holds names of files and rows"),
        (5, "should be files, rows or a data set of the package datasets, not int"),
        (None, "not NoneType"),
        (b"rows", "not bytes"),
        (pd.DataFrame(ROWS), r"is a DataFrame; give its rows: \.to_dict\('records'\)"),
        (pa.Table.from_pylist([ROWS[0]]), r"is a Table of pyarrow; give its rows: \.to_pylist\(\)"),
        (
            ROWS[0]["messages"],
            r"is a list of messages, which is one row; give \[messages\], or the messages to Compr",
        ),
        ([{"messages": {1}}], "row 0 cannot be written as JSON"),
        (
            [{}, {"at": pd.Timestamp(0)}],
            r"row 1 cannot be written as JSON \(column 'at': a value is of type Timest",
        ),
        (datasets.IterableDatasetDict(), "IterableDatasetDict is not known; give its splits"),
    ],
)
def test_wrong_inputs(options, inputs, words):
    with pytest.raises(InputError, match=words):
        compress_dataset(inputs, "out", **options)
    assert not Path("out").exists()


def test_rows_are_not_written_beside_a_bucket(options):
    with pytest.raises(InputError, match=r"argument output: .* s3://bucket/out"):
        compress_dataset(ROWS, "s3://bucket/out", **options)
    assert not Path("s3:").exists()


def test_files_need_a_folder_and_so_do_options_of_files(options):
    with pytest.raises(SettingsError, match="argument output: files are compressed into a folder"):
        compress_dataset("a.jsonl", **options)
    of_runs = {"limit": 3, "num_workers": 8, "engine": "ray", "retry_failed": True, "part_size": "5MB"}
    for name, value in of_runs.items():
        with pytest.raises(SettingsError, match=f"argument {name}: has a meaning with an output folder alone"):
            compress_dataset(ROWS, **options, **{name: value})
    with pytest.raises(SettingsError, match="did you mean focus"):
        compress_dataset(ROWS, **options, fokus="x")
