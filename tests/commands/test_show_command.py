from __future__ import annotations

import json
import shlex

import commands
import pytest

from trajcompress.cli.printing import print_paged


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    import runs

    folder = tmp_path_factory.mktemp("show")
    desk = commands.Desk(folder, runs.small_tokenizer())
    desk.write("in.jsonl", [commands.conversation(0), commands.conversation(1, steps=2)])
    assert desk.compress("in.jsonl", "-o", "out", "-q").code == 0
    return desk


def show(desk, *arguments, env=None):
    return commands.run_here("show", *arguments, cwd=desk.folder, env=env)


def test_a_row_is_shown_as_plain_text_in_a_pipe(desk):
    ran = show(desk, "out", "row-0", env={"COLUMNS": "90"})
    assert (ran.code, ran.stderr) == (0, "")
    assert "\x1b" not in ran.stdout
    assert ran.stdout.startswith("row-0 (in.jsonl:line 1)\n")
    assert "[CONTEXT SUMMARY]:" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 90


def test_full_turns_are_whole(desk):
    last_line = "raise ValueError('case 2 of 1')"
    assert last_line not in show(desk, "out", "1").stdout
    assert last_line in show(desk, "out", "1", "--full", env={"COLUMNS": "300"}).stdout


def test_json_has_both_rows_the_metrics_and_the_turns(desk):
    (before, _), (after, _) = (
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in (desk.path("in.jsonl"), desk.path("out/data/in-00000.jsonl"))
    )
    found = show(desk, "out", "in.jsonl:0", "--json").json
    assert (found["before"], found["after"]) == (before, after)
    assert found["metrics"] == commands.read_metrics(desk.path("out"))[0]
    indexes = [turn["index_before"] for turn in found["turns"] if turn["index_before"] is not None]
    assert indexes == list(range(len(before["messages"])))
    assert found["summary"]["text"] == after["messages"][found["summary"]["turn"]]["content"]
    assert found["why"] is found["raw"] is None


def test_a_page_is_written_to_a_file_or_to_standard_output(desk):
    ran = show(desk, "out", "0", "--web", "row.html")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "", "row.html\n")
    page = desk.path("row.html").read_text()
    assert page.startswith("<!doctype html>")
    assert show(desk, "out", "0", "--web", "-").stdout == page


def test_whoever_is_told_of_a_line_is_told_how_to_look_at_it(desk):
    good = json.dumps(commands.conversation(0))
    desk.path("bad.jsonl").write_text(f"{good}\n\n{{broken\n{good}\n")
    ran = desk.compress("bad.jsonl", "-o", "bad out")
    assert ran.code == 1
    assert "; to look at one: trajcompress show 'bad out' 'bad.jsonl:line 3'\n" in ran.stderr
    told = commands.run_here("status", "bad out", cwd=desk.folder).stdout
    (last,) = [line for line in told.splitlines() if "rejected: invalid_json" in line]
    assert last.endswith("  bad.jsonl:line 3")
    assert "to look at one: trajcompress show 'bad out' 'bad.jsonl:line 3'" in told.splitlines()
    shown = show(desk, "bad out", "bad.jsonl:line 3").stdout
    assert shown.startswith("bad.jsonl:line 3\n")
    assert "{broken" in shown
    wrong = show(desk, "bad out", "bad.jsonl:4")
    assert wrong.code == 2
    assert "FILE:ROW, counted from 0" in wrong.stderr
    assert "'FILE:line N', counted from 1" in wrong.stderr


def test_a_row_of_standard_input_can_be_looked_at_as_is_said(desk):
    given = json.dumps(commands.conversation(0)) + '\n{"of": 1}\n'
    ran = commands.run_command("compress", *desk.options, "-", "-o", "piped", cwd=desk.folder, stdin=given.encode())
    assert ran.code == 1
    assert "to look at one: trajcompress show piped -- -:1\n" in ran.stderr
    told = commands.run_here("status", "piped", cwd=desk.folder).stdout
    (line,) = [line for line in told.splitlines() if line.startswith("to look at one: ")]
    look = shlex.split(line.removeprefix("to look at one: trajcompress show"))
    assert '{"of": 1}' in show(desk, *look).stdout
    assert '{"of": 1}' in show(desk, "piped", "1").stdout


def test_errors_are_one_line(desk, tmp_path):
    for arguments, words in (
        (("out", "row-9"), "the nearest ids: row-"),
        (("nowhere", "0"), "no such folder"),
        ((str(tmp_path), "0"), "holds no run.json"),
        (("out", "0", "--json", "--web", "-"), "choose one"),
        (("out", "0", "--web", "no/such/row.html"), "there is no folder no/such"),
    ):
        ran = show(desk, *arguments)
        assert (ran.code, ran.stdout) == (2, "")
        assert words in ran.stderr
        assert ran.stderr.count("\n") == 1


def test_what_is_longer_than_the_terminal_goes_through_the_pager(desk, tmp_path):
    pager = tmp_path / "pager"
    pager.write_text(f"#!/bin/sh\necho paging with $1\ncat > {tmp_path}/seen\n")
    pager.chmod(0o755)
    env = {"PAGER": f"{pager} --option"}
    ran = commands.run_on_terminal("show", "out", "row-0", cwd=desk.folder, env=env)
    assert ran.stdout == "paging with --option\r\n"
    assert "\x1b[" in (tmp_path / "seen").read_text()
    ran = commands.run_on_terminal("show", "out", "row-1", cwd=desk.folder, env={**env, "NO_COLOR": "1"})
    assert "row-1 (in.jsonl:line 2)" in ran.stdout  # short enough
    assert "\x1b" not in ran.stdout


@pytest.mark.parametrize("pager", ["no-such-pager", "", "'", "cat"])
def test_without_a_pager_it_is_printed(monkeypatch, capsys, pager):
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setenv("TERM", "xterm")
    print_paged("line\n" * 300, page=True)
    assert capsys.readouterr().out == "line\n" * 300


def test_no_pager_means_none(desk):
    ran = commands.run_on_terminal("show", "out", "row-0", "--no-pager", cwd=desk.folder, env={"PAGER": "false"})
    assert "[CONTEXT SUMMARY]:" in ran.stdout


def test_a_page_replaces_a_page_and_no_other_file(desk):
    kept = (desk.folder / "out" / "metrics.parquet").read_bytes()
    notes = desk.folder / "notes.html"
    notes.write_text("<!doctype html>\n<title>notes</title>\n")
    for file in ("out/metrics.parquet", "notes.html", "no/such/folder/row.html"):
        ran = show(desk, "out", "0", "--web", file)
        assert (ran.code, ran.stdout) == (2, "")
        assert ran.stderr.startswith(f"error: {file}: ")
        assert ran.stderr.endswith("choose another --web\n")
    assert (desk.folder / "out" / "metrics.parquet").read_bytes() == kept
    assert "notes" in notes.read_text()
    (desk.folder / "again.html").touch()  # as mktemp does
    for _ in range(2):
        assert show(desk, "out", "0", "--web", "again.html").code == 0
