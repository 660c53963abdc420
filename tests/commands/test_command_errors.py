"""What the command says when something is wrong: one line with a remedy, exit code 2, and nothing written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from commands import (
    conversation,
    environment,
    files_of,
    make_desk,
    read_metrics,
    read_rejected,
    read_rows,
    run_command,
    run_here,
)

ROWS = [conversation(0), conversation(1, 2), conversation(2, 2)]
NOT_ROWS = ['{"messages": [', "[1, 2]", '{"messages": []}', '{"x": 1}', '{"messages": "hello"}']


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.path("in").mkdir()
    desk.write("in/a.jsonl", ROWS)
    desk.path("empty").mkdir()
    desk.path("foreign").mkdir()
    desk.path("foreign/thesis.txt").write_text("years of work")
    desk.path("file").write_text("a file")
    desk.path("no_tokenizer").mkdir()
    desk.path("odd.txt").write_text("x")
    for name, text in {
        "unknown_key": "compression: {target_max_token: 9}",
        "wrong_type": "compression: {target_max_tokens: many}",
        "unknown_section": "compresion: {target_max_tokens: 9}",
        "no_yaml": "compression: [",
    }.items():
        desk.path(f"{name}.yaml").write_text(text)
    return desk


WRONG = {
    "no input": ([], ["--dataset"]),
    "negative target": (["in", "--target-max-tokens", "-5"], ["--target-max-tokens", "-5"]),
    "summary above target": (["in", "--target-max-tokens", "200"], ["summary_target_tokens", "(300)", "(200)"]),
    "no rows": (["in", "--limit", "0"], ["--limit"]),
    "no sample": (["in", "--sample-percent", "101"], ["--sample-percent"]),
    "no workers": (["in", "--num-workers", "-1"], ["--num-workers"]),
    "no rate": (["in", "--rpm", "0"], ["--rpm"]),
    "max failed": (["in", "--max-failed", "half"], ["--max-failed", "5%"]),
    "role map": (["in", "--role-map", "agent"], ["--role-map", "agent=assistant"]),
    "role": (["in", "--role-map", "agent=boss"], ["--role-map", "'assistant'"]),
    "missing config": (["in", "-c", "nope.yaml"], ["nope.yaml"]),
    "unknown key": (["in", "-c", "unknown_key.yaml"], ["unknown_key.yaml", "compression.target_max_tokens?"]),
    "unknown section": (["in", "-c", "unknown_section.yaml"], ["compresion", "compression?"]),
    "wrong type": (["in", "-c", "wrong_type.yaml"], ["compression.target_max_tokens", "'many'"]),
    "no yaml": (["in", "-c", "no_yaml.yaml"], ["no_yaml.yaml"]),
    "missing input": (["in/b.jsonl"], ["in/b.jsonl", "in/a.jsonl?"]),
    "unknown kind": (["odd.txt"], ["odd.txt", ".jsonl"]),
    "empty folder": (["empty"], ["empty"]),
    "empty glob": (["in/*.parquet"], ["in/*.parquet", "matches nothing"]),
    "files and a dataset": (["in", "--dataset", "x"], ["--dataset", "not both"]),
    "missing tokenizer": (["in", "--tokenizer", "./nope"], ["./nope"]),
    "unknown tokenizer": (["in", "--tokenizer", "nobody/nothing"], ["nobody/nothing", "folder"]),
    "folder without tokenizer": (
        ["in", "--tokenizer", "no_tokenizer"],
        ["no_tokenizer: cannot be loaded: no file of a tokenizer is there", "tokenizer.json"],
    ),
    "no file": (["zz/zz"], ["there is no zz; check the path (a dataset of the hub is named with --dataset)"]),
    "no key": (["in", "--model", "m"], ["OPENAI_API_KEY", "--api-key-env"]),
    "other key": (["in", "--model", "m", "--api-key-env", "MY_KEY"], ["MY_KEY is not set"]),
    "no url": (["in", "--model", "m", "--base-url", "localhost"], ["--base-url", "http://"]),
    "small context": (
        ["in", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--summarizer-context", "500"],
        ["--summarizer-context", "at least", "--summary-target-tokens"],
    ),
    "fallback alone": (["in", "--fallback-model", "m"], ["--fallback-model"]),
    "unknown dataset": (["--dataset", "nobody/nothing"], ["nobody/nothing", "check the name"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_usage(desk, case):
    arguments, mentioned = WRONG[case]
    ran = desk.compress(*arguments, "-o", "out")
    assert_refused(ran, mentioned)
    assert not desk.path("out").exists()


def test_a_mistake_is_told_before_a_folder_is_compared_with_the_settings(desk):
    assert desk.compress("in", "-o", "out").code == 0
    before = files_of(desk.path("out"))
    for case, (arguments, mentioned) in WRONG.items():
        if case == "unknown dataset":
            continue  # only who fetches its rows finds out
        ran = desk.compress(*arguments, "-o", "out")
        assert_refused(ran, mentioned)
        assert "other settings" not in ran.stderr
    assert files_of(desk.path("out")) == before
    assert "seed was 42, is 7" in desk.compress("in", "-o", "out", "--sample-count", "2", "--seed", "7").stderr


USELESS = {
    "nothing to keep": (["--prune", "off", "--keep-observations", "3"], "--keep-observations: of no effect"),
    "nothing to keep whole": (["--prune", "safe", "--keep-observations", "3"], "as it is of --prune all"),
    "nothing to trim": (["--trim-end"], "--trim-end: of no effect, as it is of --form target, which --for implies"),
    "trim of rows as read": (["--for", "trl", "--form", "as-read", "--trim-end"], "--trim-end: of no effect"),
    "no Mistral": (["--mistral-version", "v7"], "--mistral-version: of no effect, as it is of --for mistral"),
    "other than Mistral": (["--for", "trl", "--mistral-version", "v7"], "--mistral-version: of no effect"),
    "seed of no sample": (["--seed", "42"], "--seed: of no effect, as it says which rows --sample-percent"),
}


@pytest.mark.parametrize("case", USELESS)
def test_options_of_no_effect_are_told(desk, case):
    options, told = USELESS[case]
    for ran in (desk.compress("in", *options, "-o", "out"), run_here("plan", "in", *options, cwd=desk.folder)):
        assert ran.code == 0
        assert ran.stderr.count("of no effect") == 1
        assert told in ran.stderr


def test_options_are_of_an_effect_where_one_way_has_it(desk):
    compared = run_here("plan", "in", "--compare", "--keep-observations", "3", cwd=desk.folder)
    assert (compared.code, compared.stderr.count("of no effect")) == (0, 0), "one of the ways clears observations"
    checked = run_here("check", "in", "--mistral-version", "v7", cwd=desk.folder)
    assert "--mistral-version: of no effect" in checked.stderr


def test_of_settings_of_a_file_or_a_variable_nothing_is_told(desk):
    desk.path("all.yaml").write_text(
        "compression: {prune: 'off', keep_observations: 3, trim_end: true, mistral_version: v7}\n"
        "input: {seed: 7}\nprocessing: {retry_failed: true}\n"
    )
    ran = [
        desk.compress("in", "-o", "yaml", "-c", "all.yaml"),
        desk.compress("in", "-o", "variable", env={"TRAJCOMPRESS_SEED": "7"}),
        desk.compress("in", "-o", "both", "-c", "all.yaml", "--prune", "all", "--keep-observations", "2"),
    ]
    useful = ("--form", "target", "--trim-end"), ("--no-trim-end",), ("--for", "mistral", "--mistral-version", "v7")
    ran += [desk.compress("in", "-o", f"out-{len(options)}", *options) for options in useful]
    assert [(each.code, "of no effect" in each.stderr) for each in ran] == [(0, False)] * len(ran)


def test_nothing_to_try_again_is_told(desk):
    told = "--retry-failed: of no use, as out held no run whose rows could have failed"
    first = desk.compress("in", "-o", "out", "--retry-failed")
    assert (first.code, first.stderr.splitlines().count(told)) == (0, 1)
    assert told not in desk.compress("in", "-o", "out", "--retry-failed").stderr
    assert told in desk.compress("in", "-o", "out", "--retry-failed", "--overwrite").stderr
    desk.path("again.yaml").write_text("processing: {retry_failed: true}\n")
    assert "of no use" not in desk.compress("in", "-o", "other", "-c", "again.yaml").stderr


@pytest.mark.parametrize(
    ("arguments", "mentioned"),
    [
        (["--targt-max-tokens", "9"], ["--targt-max-tokens", "--target-max-tokens"]),
        (["--output-format", "csv"], ["--output-format", "csv", "parquet"]),
        (["--target-max-tokens", "8k"], ["'--target-max-tokens': should be a valid integer, not '8k'"]),
        (["--for", "lamafactory"], ["'--for': 'lamafactory' is not one of", "Did you mean llama-factory?"]),
        (["--progress", "xyz"], ["'--progress': 'xyz' is not one of 'auto', 'bar', 'lines', 'off'."]),
        (["--dry-run"], ["No such option: --dry-run. Did you mean the command 'plan'?"]),
        (["--run"], ["No such option: --run (Possible options: "]),
        (["--target", "9"], ["--target (Possible options: --target-max-tokens)"]),
    ],
)
def test_what_the_parser_refuses(desk, arguments, mentioned):
    ran = desk.compress("in", *arguments, "-o", "out")
    assert (ran.code, ran.stdout) == (2, "")
    last = ran.stderr.splitlines()[-1]
    for words in mentioned:
        assert words in last
    assert "Traceback" not in ran.stderr
    assert not desk.path("out").exists()


@pytest.mark.parametrize(
    ("given", "output", "mentioned"),
    [
        ("in", "in", ["in", "another -o"]),
        ("in", "in/out", ["in/out", "another -o"]),
        ("in/a.jsonl", "in/a.jsonl", ["in/a.jsonl"]),
        ("in/a.jsonl", "in", ["hold the input in/a.jsonl"]),
        ("in", ".", ["hold the input in"]),
        ("in", "file", ["file: "]),
        ("in", "file/out", ["file/out", "another -o"]),
        ("in", "foreign", ["foreign", "no trajcompress run"]),
    ],
)
def test_wrong_output(desk, given, output, mentioned):
    before = sorted(desk.folder.rglob("*"))
    for more in ([], ["--overwrite"]):
        assert_refused(desk.compress(given, "-o", output, *more), mentioned)
    assert sorted(desk.folder.rglob("*")) == before
    assert desk.path("foreign/thesis.txt").read_text() == "years of work"


def assert_refused(ran, mentioned):
    assert ran.code == 2, ran
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert line.startswith("error: ")
    for words in mentioned:
        assert words in line


def test_options_of_calls_without_a_model_are_told(desk):
    told = "--base-url, --rpm: of no use, as the built-in summariser calls nobody; to call a model: --model NAME"
    more = ("-o", "out", "--rpm", "9", "--base-url", "http://127.0.0.1:9/v1")
    ran = desk.compress("in", *more)
    assert ran.code == 0, ran.stderr
    assert ran.stderr.splitlines().count(told) == 1
    assert "of no use" not in desk.compress("in", "-o", "other", env={"TRAJCOMPRESS_RPM": "9"}).stderr


@pytest.mark.parametrize(
    ("given", "meant"),
    [("stats", "audit"), ("Validate", "check"), ("estimate", "plan"), ("diff", "compare"), ("cmpress", "compress")],
)
def test_a_command_of_another_name_is_suggested_by_what_it_does(desk, given, meant):
    ran = run_here(given, "out", cwd=desk.folder)
    assert (ran.code, f"No such command '{given}'. Did you mean '{meant}'" in ran.stderr) == (2, True)


def test_what_is_no_command_of_a_group_suggests_none_of_another(desk):
    assert run_here("config", "stats", cwd=desk.folder).stderr.endswith("No such command 'stats'.\n")


def test_an_option_that_a_command_has_not_is_not_advised(desk):
    ran = run_here("check", "zz.jsonl", cwd=desk.folder)
    assert (ran.code, ran.stderr) == (2, "error: zz.jsonl: no such file or folder; check the path\n")


def test_the_installed_command_refuses_likewise(desk):
    ran = run_command("compress", "nope.jsonl", cwd=desk.folder)
    assert_refused(ran, ["nope.jsonl"])


def test_debug_shows_the_traceback(desk):
    ran = run_command("compress", "nope.jsonl", "--debug", cwd=desk.folder)
    assert ran.code == 2
    assert "Traceback (most recent call last)" in ran.stderr
    assert "InputError: nope.jsonl" in ran.stderr


def write_with_bad_rows(desk):
    good = [json.dumps(row) for row in ROWS]
    lines = [good[0], *NOT_ROWS[:3], "", *good[1:], *NOT_ROWS[3:]]
    desk.path("bad.jsonl").write_text("\n".join(lines) + "\n")


def test_what_is_no_trajectory_is_set_aside_with_its_line_and_reason(desk):
    write_with_bad_rows(desk)
    ran = desk.compress("bad.jsonl", "-o", "out")
    assert ran.code == 1
    rejected = read_rejected(desk.path("out"))
    assert [(line["source"], line["line"]) for line in rejected] == [("bad.jsonl", n) for n in (2, 3, 4, 8, 9)]
    assert [line["raw"] for line in rejected] == NOT_ROWS
    metrics = read_metrics(desk.path("out"))
    assert len(metrics) == 8
    reasons = [row["reason"] for row in metrics if row["outcome"] == "rejected"]
    assert reasons == [line["reason"] for line in rejected]
    assert len(set(reasons)) >= 4
    assert [row["id"] for row in read_rows(desk.path("out"))] == ["row-0", "row-1", "row-2"]
    for reason in reasons:
        assert reason in ran.stderr


@pytest.mark.parametrize(("allowed", "code"), [("5", 0), ("63%", 0), ("62%", 1), ("0", 1)])
def test_some_rows_may_fail(desk, allowed, code):
    write_with_bad_rows(desk)
    ran = desk.compress("bad.jsonl", "-o", "out", "--max-failed", allowed)
    assert ran.code == code


def test_exit_code_1_is_explained_even_when_quiet(desk):
    write_with_bad_rows(desk)
    ran = desk.compress("bad.jsonl", "-o", "out", "-q")
    assert ran.code == 1
    assert "rejected.jsonl" in ran.stderr


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl.gz", "a.json"])
def test_a_file_that_is_broken_is_set_aside_and_the_others_are_read(desk, name):
    desk.path(name).write_bytes(b"\x1f\x8b not what its name says")
    ran = desk.compress(name, "in", "-o", "out")
    assert ran.code == 1
    (rejected,) = read_rejected(desk.path("out"))
    assert rejected["source"] == name
    assert len(read_rows(desk.path("out"))) == 3


def test_a_run_folder_within_the_input_is_not_read_as_input(desk):
    assert desk.compress("in/a.jsonl").code == 0
    assert desk.path("in/a_compressed/metrics.parquet").is_file()
    ran = desk.compress("in", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"]) == (0, 3)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_a_redirection_is_one_line(desk):
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "trajcompress", "check", "in"],
            cwd=desk.folder,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (process.returncode, process.stderr) == (2, "error: No space left on device\n")


def test_a_working_folder_that_was_deleted_is_named(desk):
    gone = desk.path("gone")
    gone.mkdir()
    deleting = ["/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", sys.executable, "-m", "trajcompress"]
    command = [*deleting, "compress", desk.write("a.jsonl", ROWS), "-o", desk.path("out")]
    ended = subprocess.run(command, cwd=gone, capture_output=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.endswith(b"error: the working folder was deleted; go to one that exists\n")
