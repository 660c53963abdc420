"""The dataset card: what the hub, ``datasets`` and a reader make of it."""

from __future__ import annotations

import re
import socket
from collections import Counter
from pathlib import Path

import commands
import pyarrow.parquet as pq
import pytest
import runs
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.metrics.row import metrics_schema
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.card import dataset_card, length_bars
from trajcompress.settings import Settings


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def compress(place, *more, out="out"):
    runs.finish(place, place.offline(runs.write_inputs(place.folder, 12), out, *more))
    return place.folder / out


def card_of(folder):
    return (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_the_hub_and_datasets_take_the_folder_as_it_is(place, output_format, tmp_path):
    from datasets import load_dataset
    from huggingface_hub import DatasetCard

    rows = commands.write_rows(place.folder / "a.jsonl", [commands.conversation(i, i * 6) for i in range(3)])
    folder = place.folder / "out"
    runs.finish(place, place.offline([rows], "out", "--output-format", output_format))
    metrics = commands.read_metrics(folder)
    data = DatasetCard(card_of(folder)).data
    assert data.size_categories == ["n<1K"]
    assert "trajcompress" in data.tags
    cache = str(tmp_path / "cache")
    assert len(load_dataset(str(folder), split="train", cache_dir=cache)) == sum(row["in_dataset"] for row in metrics)
    if output_format == "parquet":  # a repository has one builder for all its configurations
        assert len(load_dataset(str(folder), "metrics", split="train", cache_dir=cache)) == len(metrics)


def test_runs_in_folders_of_one_name_are_not_taken_for_each_other(place):
    from datasets import load_dataset

    rows = [
        commands.write_rows(place.folder / f"{count}.jsonl", map(commands.conversation, range(count)))
        for count in (2, 3)
    ]
    for number, path in enumerate(rows):
        runs.finish(place, place.offline([path], f"{number}/out"))
        folder, cache = (str(place.folder / name) for name in (f"{number}/out", "cache"))
        assert len(load_dataset(folder, split="train", cache_dir=cache)) == number + 2


def test_the_code_in_the_card_runs_beside_it(place, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(place.folder / "cache"))
    folder = compress(place)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", card_of(folder), re.DOTALL):
        exec(code.replace("OWNER/NAME", str(folder)), names)  # noqa: S102 - what a reader of the card would do
    compressed = sum(row["was_compressed"] for row in commands.read_metrics(folder))
    assert len(names["whole"]) == len(names["dataset"]) - compressed > 0


def test_the_card_tells_nothing_of_the_machine(place):
    card = card_of(compress(place))
    for private in (str(place.folder), Path.home().name, socket.gethostname()):
        assert private not in card
    assert f"`{Path(place.tokenizer).name}`" in card


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("gpt-5-mini", "gpt-5-mini"),
        ("/home/ann/models/qwen", "qwen"),
        ("../models/qwen", "qwen"),
        ("~/qwen", "qwen"),
        ("home/ann/qwen", "qwen"),
        (r"C:\Users\ann\qwen", "qwen"),
        (r"models\qwen", "qwen"),
    ],
)
def test_of_a_path_only_its_last_part_is_named(tmp_path, name, public):
    metrics = tmp_path / "metrics.parquet"
    pq.write_table(metrics_schema().empty_table(), metrics)
    record = {
        "settings": Settings().flat(),
        "inputs": [],
        "versions": {"trajcompress-cli": "1"},
        "tokenizer": {"name": name},
    }
    card = dataset_card(record, Totals(summarizers=Counter({name: 2})), metrics)
    assert f"| tokenizer | `{public}` |" in card
    assert f"| summarised by `{public}` | 2 rows |" in card


def test_figures_reasons_and_selection_are_those_of_the_run(place):
    folder = compress(place, "--limit", "9", "--last-n-turns", "60")
    card = card_of(folder)
    assert "| rows read | 9 |" in card
    reasons = Counter(row["reason"] for row in commands.read_metrics(folder) if row["reason"])
    assert len(reasons) > 1
    for reason, rows in reasons.items():
        assert f"| `{reason}` | {rows} |" in card
    assert "| `limit` | 9 |" in card
    assert "the last 60 turns" in card


lengths = st.lists(st.integers(0, 10**6), max_size=50)


@given(before=lengths, after=lengths, target=st.integers(1, 10**6))
def test_bars_hold_every_row_on_its_side_of_the_target(before, after, target):
    lines = length_bars(Counter(before), Counter(after), target).splitlines()
    (at,) = [place for place, line in enumerate(lines) if "target" in line]
    for part, where in ((lines[1:at], target.__ge__), (lines[at + 1 :], target.__lt__)):
        counts = [re.findall(r" {2,}([\d,]+)(?= |$)", re.sub(r"^.{19}", "", line)) for line in part]
        sums = [sum(int(count.replace(",", "")) for count in column) for column in zip(*counts, strict=True)]
        assert sums == [sum(map(where, before)), sum(map(where, after))]
        for line, (first, second) in zip(part, counts, strict=True):
            assert bool(re.search("[█-▏]", line)) == (first != "0" or second != "0")


def test_bars_of_one_table_have_one_scale():
    bars = length_bars({100: 8}, {100: 4}, 100)
    assert re.search(r"8 █{20}\s+4 █{10}$", bars, re.MULTILINE)
