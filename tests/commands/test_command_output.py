"""Where ``trajcompress compress`` writes, what stands there, and what it says meanwhile."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from commands import (
    ROWS,
    TARGET,
    files_of,
    read_rows,
    run_command,
    run_here,
    run_on_terminal,
)


def ids(folder) -> list[str]:
    return [row["id"] for row in read_rows(folder)]


def test_a_row_that_cannot_be_counted_is_not_advised_to_be_made_shorter(desk):
    desk.write("a.jsonl", [{"messages": [{"role": "user", "content": "a\ud800"}]}])
    ran = desk.compress("a.jsonl", "-o", "out")
    assert "1 × uncountable_text" in ran.stderr
    assert "still too long" not in ran.stderr
    assert "--last-n-turns" not in ran.stderr
    assert "repair it in the input" in ran.stderr
    shown = run_here("show", "out", "0", cwd=desk.folder).stdout
    assert "repair it in the input" in shown
    assert "--last-n-turns" not in shown


def test_a_row_that_cannot_be_counted_is_said_to_be_of_unknown_length(desk):
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    desk.write("a.jsonl", [{"messages": [{"role": "user", "content": "a\ud800"}]}, {"messages": messages}])
    ran = desk.compress("a.jsonl", "-o", "out")
    planned = run_here("plan", "a.jsonl", *desk.options[:4], cwd=desk.folder)
    for shown in (ran.stderr, planned.stdout):
        figures = {name.strip(): value for name, _, value in (line.rpartition(" ") for line in shown.splitlines())}
        (unknown,) = (value for name, value in figures.items() if name.startswith("of these of unknown length"))
        assert (figures["still over the target"], unknown) == ("1", "1")
    assert "To protect less" not in planned.stdout
    assert "1 × uncountable_text" in planned.stdout
    assert json.loads(desk.path("out/summary.json").read_text())["still_over_limit"] == 1  # as in the metrics


@pytest.mark.parametrize(
    ("given", "expected"),
    [("in/a.jsonl", "in/a_compressed"), ("in", "in_compressed"), ("in/b.jsonl.gz", "in/b_compressed")],
)
def test_without_output_the_folder_stands_beside_the_input(desk, given, expected):
    desk.path("in").mkdir()
    desk.write("in/a.jsonl", ROWS[:1])
    desk.path("in/b.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROWS[1]).encode()))
    ran = desk.compress(given)
    assert ran.code == 0
    assert desk.path(f"{expected}/metrics.parquet").is_file()
    assert f"{expected}/" in ran.stderr


def test_a_run_folder_holds_what_the_design_names(desk):
    desk.write("a.jsonl", ROWS)
    desk.compress("a.jsonl", "-o", "out")
    names = files_of(desk.path("out"))
    assert set(names) == {
        "README.md",
        "data/a-00000.jsonl",
        "metrics.parquet",
        "rejected.jsonl",
        "run.json",
        "summary.json",
    }
    run = json.loads(names["run.json"])
    assert run["state"] == "complete"
    assert run["settings"]["compression.target_max_tokens"] == TARGET
    assert "| rows read | 4 |" in names["README.md"].decode()


def test_the_same_command_again_changes_nothing(desk):
    desk.write("a.jsonl", ROWS)
    first = desk.compress("a.jsonl", "-o", "out", "--json")
    before = files_of(desk.path("out"))
    again = desk.compress("a.jsonl", "-o", "out", "--json")
    assert (again.code, again.json) == (0, first.json)
    assert "complete already" in again.stderr
    assert files_of(desk.path("out")) == before


def test_other_settings_or_inputs_need_overwrite(desk):
    desk.write("a.jsonl", ROWS)
    desk.compress("a.jsonl", "-o", "out")
    before = files_of(desk.path("out"))
    other = desk.compress("a.jsonl", "-o", "out", "--target-max-tokens", "1900")
    assert other.code == 2
    assert "compression.target_max_tokens was 2000, is 1900" in other.stderr
    assert "--overwrite" in other.stderr
    desk.write("a.jsonl", ROWS[:3])
    assert desk.compress("a.jsonl", "-o", "out").code == 2
    assert files_of(desk.path("out")) == before
    assert desk.compress("a.jsonl", "-o", "out", "--overwrite").code == 0
    assert ids(desk.path("out")) == ["row-0", "row-1", "row-2"]


def test_json_is_alone_on_stdout_and_the_rest_on_stderr(desk):
    desk.write("a.jsonl", ROWS)
    ran = run_command("compress", "a.jsonl", *desk.options, "--json", "-o", "out", cwd=desk.folder, fresh=True)
    assert ran.code == 0
    assert ran.json["output"] == "out"
    assert ran.json["state"] == "complete"
    assert ran.stderr.splitlines() == [
        "a.jsonl: several formats: openai 3 rows, sharegpt 1",
    ]


def test_in_a_pipe_there_is_a_table_and_neither_bar_nor_colour(desk):
    desk.write("a.jsonl", ROWS)
    ran = run_command("compress", "a.jsonl", *desk.options, "-o", "out", cwd=desk.folder)
    assert (ran.code, ran.stdout) == (0, "")
    for words in ("4 rows", "compressed", "still over the target", "out/"):
        assert words in ran.stderr
    for mark in ("\x1b", "\r", "%|"):
        assert mark not in ran.stderr


def test_the_table_names_a_tokenizer_of_any_name(desk):
    desk.write("a.jsonl", ROWS)
    odd = desk.path("a [red]\nname")
    shutil.copytree(desk.tokenizer, odd)
    ran = desk.compress("a.jsonl", "-o", "out", "--tokenizer", odd)
    assert ran.code == 0
    assert "\n4 rows; target 2,000 tokens of a [red]\\nname\n" in ran.stderr


def test_quiet_says_nothing(desk):
    desk.write("a.jsonl", ROWS)
    ran = desk.compress("a.jsonl", "-o", "out", "--quiet")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "", "")
    on_terminal = run_on_terminal("compress", "a.jsonl", *desk.options, "-o", "two", "-q", cwd=desk.folder)
    assert (on_terminal.code, on_terminal.stdout) == (0, "")


@pytest.mark.parametrize("closed", ["0", "1", "2", "012"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_closed_standard_streams_do_not_stop_a_run(desk, closed, workers):
    desk.write("a.jsonl", ROWS)
    shell = "exec " + " ".join(f"{number}>&-" for number in closed) + '; exec "$@"'
    command = [sys.executable, "-m", "trajcompress", "compress", *desk.options, "a.jsonl", "-o", "out"]
    ended = subprocess.run(
        ["/bin/sh", "-c", shell, "sh", *command, "--num-workers", workers], cwd=desk.folder, check=False
    )
    assert ended.returncode == 0
    assert ids(desk.path("out")) == ["row-0", "row-1", "row-2", "row-3"]


def test_standard_input_that_is_closed_holds_no_row(desk):
    command = [sys.executable, "-m", "trajcompress", "plan", *desk.options[:4], "-"]
    closing = ["/bin/sh", "-c", 'exec 0<&-; exec "$@"', "sh", *command]
    ended = subprocess.run(closing, cwd=desk.folder, capture_output=True, check=False)
    assert b"there was no row in -" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_on_a_terminal_there_is_a_bar_and_no_colour_where_none_is_wanted(desk):
    desk.write("a.jsonl", ROWS)
    ran = run_on_terminal(
        "compress", "a.jsonl", *desk.options, "-o", "out", cwd=desk.folder, env={"NO_COLOR": "1"}, fresh=True
    )
    assert ran.code == 0
    assert re.search(r"compress +0% .+ · 0 rows", ran.stdout)
    colours = {f"\x1b[{code}m" for code in itertools.chain(range(30, 38), range(90, 98))}
    assert not any(colour in ran.stdout for colour in colours)


def test_help_names_every_option_and_its_default(tmp_path):
    from trajcompress.settings import OPTIONS

    ran = run_command("compress", "--help", cwd=tmp_path, fresh=True)
    assert (ran.code, ran.stderr) == (0, "")
    words = ran.stdout.split()
    for option in [*OPTIONS, "--config", "--quiet", "--json", "--debug", "-o,", "-c,", "-q,", "-h,"]:
        assert option in {word.rstrip(",") for word in words} | set(words)
    for default in ("15250", "750", "OPENAI_API_KEY", "parquet; jsonl for llama-factory, openai and mistral"):
        assert f"[default: {default}]" in " ".join(words)
    assert run_command("--help", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        ("--help", {}),
        ("compress --help", {}),
        ("", {"_TRAJCOMPRESS_COMPLETE": "complete_bash", "COMP_WORDS": "trajcompress plan a.jsonl --prune "}),
    ],
    ids=["help", "compress-help", "completion"],
)
def test_help_and_completion_import_nothing_heavy(tmp_path, arguments, variables):
    script = """
import contextlib, io, sys
from trajcompress.cli import app
with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
    app(sys.argv[1:], prog_name="trajcompress")
heavy = {"transformers", "datasets", "openai", "pyarrow", "numpy", "aiohttp", "pydantic", "duckdb", "yaml", "rich"}
print(len(shown.getvalue()) > 10, *sorted(heavy & sys.modules.keys()))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments.split()],
        env={**os.environ, **variables, "COMP_CWORD": "4"},
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout.strip() == "True"


def test_version(tmp_path):
    from importlib.metadata import version

    assert run_here("--version", cwd=tmp_path).stdout == f"trajcompress {version('trajcompress-cli')}\n"
