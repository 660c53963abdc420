"""The package as Python programs use it."""

from __future__ import annotations

import asyncio
import copy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import UnionType
from typing import Annotated, Union, get_args, get_origin, get_type_hints

import pytest
from commands import TARGET, conversation, files_of, make_desk, read_metrics, read_rows, write_rows
from loopback import LoopbackServer

import trajcompress
from trajcompress import Compressor, compress_dataset, count_tokens
from trajcompress.api import counting
from trajcompress.errors import InputError, OutputError, RowError, SettingsError, TokenizerError
from trajcompress.settings import KEYWORDS, SETTINGS
from trajcompress.settings.keywords import DatasetOptions
from trajcompress.summarizers import Summarizer, SummarizerFunction

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def desk(tmp_path, make_tokenizer, monkeypatch):
    desk = make_desk(tmp_path, make_tokenizer)
    monkeypatch.chdir(desk.folder)
    return desk


@pytest.fixture
def options(desk):
    return {"tokenizer": desk.tokenizer, "target_max_tokens": TARGET, "summary_target_tokens": 300}


def test_one_trajectory(options):
    row = conversation(0, sharegpt=True, reward=1.5)
    given = copy.deepcopy(row)
    with Compressor(**options) as compressor:
        compressed = compressor.compress(row)
        assert compressor.count_tokens(compressed.row) == compressed.metrics.compressed_tokens <= TARGET
        assert compressor.count_tokens(row) == compressed.metrics.original_tokens > TARGET
    assert row == given, "the row that was given is not changed"
    assert compressed.metrics.outcome == "compressed"
    assert compressed.row["reward"] == 1.5
    assert sum("[CONTEXT SUMMARY]:" in turn["value"] for turn in compressed.row["conversations"]) == 1


def test_what_comes_back_is_shown_in_a_line(options):
    row, broken = conversation(0), {"note": "none"}
    with Compressor(**options) as compressor:
        shown = [repr(each) for each in compressor.compress_many([row, broken, row["messages"]])]
    assert shown[0].startswith("<CompressedRow compressed, ")
    assert shown[0].endswith(f" tokens; row: {', '.join(row)}>")
    assert shown[1] == "<CompressedRow rejected, no_messages; row: note>"
    assert shown[2].startswith("<CompressedMessages compressed, ")
    assert max(map(len, shown)) < 200


def test_a_trajectory_that_fits_is_given_back(options):
    row = conversation(0, 2)
    with Compressor(**options) as compressor:
        compressed = compressor.compress(row)
    assert compressed.row == row
    assert compressed.metrics.outcome == "skipped_under_target"


def test_many_trajectories_with_one_client(options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with (
        LoopbackServer() as server,
        Compressor(**options, model="writer", base_url=server.base_url) as compressor,
    ):
        results = [compressor.compress(conversation(number)) for number in range(3)]
    assert [result.metrics.summarizer for result in results] == ["writer"] * 3
    assert [result.metrics.summarization_api_calls for result in results] == [1, 1, 1]
    assert server.connections == 1


def test_no_trajectory(options):
    with Compressor(**options) as compressor, pytest.raises(RowError, match="no_messages"):
        compressor.compress({"text": "hello"})


def test_counting(desk):
    row = conversation(0, 2)
    tokens = count_tokens(row, tokenizer=desk.tokenizer)
    assert 0 < tokens < TARGET
    assert count_tokens(conversation(0, 4), tokenizer=desk.tokenizer) > tokens


def test_a_tokenizer_that_counted_stays_loaded_until_its_files_change(desk, monkeypatch):
    row, loads = conversation(0, 2), []
    build = counting.build_counter
    monkeypatch.setattr(counting, "build_counter", lambda *given, **more: loads.append(1) or build(*given, **more))
    tokens = [count_tokens(row, tokenizer=desk.tokenizer) for _ in range(3)]
    assert (len(set(tokens)), len(loads)) == (1, 1)
    count_tokens(row, tokenizer=desk.tokenizer, count="content")
    assert len(loads) == 2
    (Path(desk.tokenizer) / "chat_template.jinja").write_text("{{ messages[0].content }}")
    assert count_tokens(row, tokenizer=desk.tokenizer) < tokens[0]
    assert len(loads) == 3


def test_counting_with_the_built_in_tokenizer(builtin_tokenizer):
    row = {"messages": [{"role": "user", "content": "Hello, world! " * 10}]}
    assert count_tokens(row, count="content") == len(
        builtin_tokenizer.hf.encode(row["messages"][0]["content"], add_special_tokens=False)
    )


def test_a_dataset_is_compressed_as_by_the_command(desk, options):
    desk.write("a.jsonl", [conversation(0), conversation(1, 2), {"x": 1}])
    result = compress_dataset("a.jsonl", "by_python", **options, output_format="jsonl")
    assert desk.compress("a.jsonl", "-o", "by_command").code == 1
    assert result.state == "complete"
    assert result.folder == Path("by_python")
    assert (result.totals.rows, result.totals.outcomes["compressed"], result.totals.not_handled) == (3, 1, 1)
    assert read_rows(desk.path("by_python")) == read_rows(desk.path("by_command"))
    assert read_metrics(desk.path("by_python")) == read_metrics(desk.path("by_command"))
    ours, theirs = files_of(desk.path("by_python")), files_of(desk.path("by_command"))
    del ours["run.json"], theirs["run.json"]  # these name their folder
    assert ours == theirs


def test_a_dataset_says_nothing_unless_there_is_a_reporter(desk, options, capsys):
    desk.write("a.jsonl", [conversation(0, 2)])
    heard = []

    class Reporter:
        def note(self, text):
            heard.append(text)

        def started(self, total_bytes):
            heard.append(total_bytes)

        def advanced(self, bytes_read, totals):
            heard.append((bytes_read, totals.rows))

    compress_dataset(["a.jsonl"], "quiet", **options)
    assert capsys.readouterr() == ("", "")
    compress_dataset([Path("a.jsonl")], "heard", **options, reporter=Reporter())
    size = Path("a.jsonl").stat().st_size
    assert heard == [size, heard[1], (size, 1)]
    assert "openai" in heard[1]


def test_a_config_file_and_options_over_it(desk):
    Path("c.yaml").write_text(
        f"tokenizer: {{name: {desk.tokenizer}}}\n"
        f"compression: {{target_max_tokens: {TARGET}, summary_target_tokens: 300}}"
    )
    with Compressor("c.yaml") as compressor:
        assert compressor.compress(conversation(0)).metrics.was_compressed
    with Compressor("c.yaml", target_max_tokens=10 * TARGET) as compressor:
        assert not compressor.compress(conversation(0)).metrics.was_compressed


def test_the_environment_shapes_nothing(desk, options, monkeypatch):
    monkeypatch.setenv("TRAJCOMPRESS_TARGET_MAX_TOKENS", "10")
    monkeypatch.setenv("TRAJCOMPRESS_MODEL", "writer")
    with Compressor(**options) as compressor:
        assert compressor.compress(conversation(0)).metrics.summarizer == "extractive"


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"target_max_token": 9}, SettingsError, "did you mean target_max_tokens"),
        ({"target_max_tokens": -1}, SettingsError, "target_max_tokens"),
        ({"placement": "middle"}, SettingsError, "placement"),
        ({"tokenizer": "./nope"}, TokenizerError, "nope"),
        ({"config": "nope.yaml"}, SettingsError, "nope.yaml"),
    ],
)
def test_wrong_options(options, given, error, words):
    with pytest.raises(error, match=words):
        Compressor(**(options | given))


def test_a_model_without_a_key(options, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        Compressor(**options, model="writer")


def test_wrong_input_or_output(desk, options):
    desk.write("a.jsonl", [conversation(0, 2)])
    with pytest.raises(InputError, match=r"nope\.jsonl"):
        compress_dataset("nope.jsonl", "out", **options)
    with pytest.raises(OutputError):
        compress_dataset("a.jsonl", "a.jsonl", **options)
    assert not Path("out").exists()


def test_what_is_exported_is_there():
    for name in trajcompress.__all__:
        assert getattr(trajcompress, name) is not None
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = trajcompress.no_such_thing
    assert set(trajcompress.__all__) <= set(dir(trajcompress))


def test_uses_of_the_facade_are_among_what_mypy_checks_strictly():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert "tests/support/typing_api.py" in told["files"]
    assert told["strict"]


@pytest.mark.slow  # mypy looks through all that is imported; .ci/run does so in any case
def test_uses_of_the_facade_type_check():
    command = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "tests/support/typing_api.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_within_a_running_event_loop_as_in_a_notebook(options, tmp_path):
    write_rows(tmp_path / "rows.jsonl", [conversation(number) for number in range(3)])

    async def cell():
        with Compressor(**options) as compressor:
            one = compressor.compress(conversation(0))
        return one, compress_dataset(tmp_path / "rows.jsonl", tmp_path / "out", **options)

    one, run = asyncio.run(cell())
    assert one.metrics.outcome == "compressed"
    assert run.totals.outcomes["compressed"] == 3


def test_a_type_checker_knows_every_option_of_the_command_line_with_its_type():
    own = str | SummarizerFunction | Summarizer | type[Summarizer]
    parsed = {"max_failed": int | str, "part_size": int | str, "shard": str, "summarizer": own}
    declared = {name: parsed.get(name, SETTINGS[key].type) for name, key in KEYWORDS.items() if name != "output"}
    known = get_type_hints(DatasetOptions)
    assert known.keys() == declared.keys()
    for name, kind in declared.items():
        assert values_of(known[name]) == values_of(kind), name


def values_of(kind):
    """What a type takes, without bounds."""
    parts = get_args(kind) if isinstance(kind, UnionType) or get_origin(kind) is Union else (kind,)
    return {get_args(part)[0] if get_origin(part) is Annotated else part for part in parts}
