"""What compressors in Python refuse: what is no rows and no batch, and options of others, each by its argument."""

from __future__ import annotations

from types import MappingProxyType

import datasets
import pandas as pd
import pyarrow as pa
import pytest
from commands import TARGET, conversation
from transformers import AutoTokenizer

from trajcompress import Compressor, InputError, SettingsError, count_tokens

OF_RUNS = {"num_workers": 8, "engine": "ray", "ray_address": "a:1", "retry_failed": True, "part_size": "1GB"}


@pytest.fixture
def options(make_tokenizer):
    return {"tokenizer": make_tokenizer(), "target_max_tokens": TARGET, "summary_target_tokens": 300}


@pytest.mark.parametrize(
    "wrong",
    [
        {"messages": []},
        conversation(0)["messages"],
        tuple(map(MappingProxyType, conversation(0)["messages"])),
        "rows",
        5,
        None,
        pd.DataFrame({"messages": [[]]}),
        pa.RecordBatch.from_pylist([conversation(0)]),
    ],
)
def test_one_row_is_not_many(options, wrong):
    with Compressor(**options) as compressor, pytest.raises(InputError, match="argument rows"):
        compressor.compress_many(wrong)


def test_lists_of_messages_are_many_rows(options):
    with Compressor(**options) as compressor:
        done = list(compressor.compress_many([conversation(number, 2)["messages"] for number in range(2)]))
    assert [each.metrics.outcome for each in done] == ["skipped_under_target"] * 2


def test_a_batch_of_a_data_set_in_another_format_says_how_to_map_it(options):
    data = datasets.Dataset.from_list([conversation(0)]).with_format("pandas")
    with Compressor(**options) as compressor, pytest.raises(InputError, match=r"with_format\(None\)\.map"):
        data.map(lambda batch: compressor.compress_batch(batch).columns, batched=True)


@pytest.mark.parametrize("wrong", [0, -1, True, "8"])
def test_wrong_concurrency(options, wrong):
    with Compressor(**options) as compressor, pytest.raises(SettingsError, match="argument concurrency"):
        compressor.compress_many([], concurrency=wrong)


@pytest.mark.parametrize("columns", [{"messages": [[]], "id": ["a", "b"]}, {"messages": 5}, [[]]])
def test_wrong_batches(options, columns):
    with Compressor(**options) as compressor, pytest.raises(InputError, match="argument columns"):
        compressor.compress_batch(columns)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"limit": 3}, "argument limit: is an option of compress_dataset, not of Compressor"),
        ({"overwrite": True}, "argument overwrite: is an option of compress_dataset"),
        *(
            ({name: value}, f"argument {name}: is an option of compress_dataset, not of Compressor")
            for name, value in OF_RUNS.items()
        ),
        (
            {"target_max_tokens": [1]},
            "argument target_max_tokens: compression.target_max_tokens should be a valid integer",
        ),
        ({"target_max_tokens": 0}, "argument target_max_tokens"),
        ({"summary_target_tokens": 9000}, "argument target_max_tokens, argument summary_target_tokens"),
        ({"for": "trl"}, "is called target"),
        ({"facts": "perhaps"}, "argument facts"),
        ({"rpm": 0.5}, "argument rpm"),
        ({"price_in": 1.0, "model": "m", "base_url": "http://127.0.0.1:1/v1"}, "give both price_in and price_out"),
        ({"count": "template"}, r"\(tokenizer\), or leave count=\"template\" out"),
    ],
)
def test_errors_name_the_argument(options, wrong, words):
    if "count" in wrong:
        options = {}
    with pytest.raises(SettingsError, match=words) as raised:
        Compressor(**{**options, **wrong})
    assert "command line" not in str(raised.value)
    assert "--" not in str(raised.value)


def test_counting_takes_the_options_of_counting():
    with pytest.raises(SettingsError, match="argument model: is an option of Compressor, not of count_tokens"):
        count_tokens({"messages": []}, model="m")


def test_a_tokenizer_itself_is_told_by_its_name(make_tokenizer):
    folder = make_tokenizer()
    with pytest.raises(SettingsError) as raised:
        Compressor(tokenizer=AutoTokenizer.from_pretrained(folder))
    assert str(raised.value).endswith(f"; give its folder or hub name, {str(folder)!r}")
    assert len(str(raised.value)) < 200 + len(str(folder))


def test_a_long_value_is_told_in_brief():
    with pytest.raises(SettingsError) as raised:
        Compressor(tokenizer=list(range(10_000)))
    assert len(str(raised.value)) < 600
