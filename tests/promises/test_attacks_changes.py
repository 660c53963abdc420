"""An input that changes while it is read: named, its rows marked, and nothing built on it."""

from __future__ import annotations

import json
import shutil
from unittest import mock

import commands
import pytest
import runs
from inputs import (
    AT,
    ROWS,
    amid,
    append,
    append_and_rewrite,
    command,
    cut,
    empty,
    part_of,
    remove,
    replace,
    replace_and_set_the_time_back,
    rewrite,
    rewrite_and_set_the_time_back,
    rewrite_and_undo,
    rows_of,
    write,
)

from trajcompress.dataset.readers import read_rows
from trajcompress.errors import InputError
from trajcompress.run.workers.coordinator import PartCoordinator


def touch_otherwise(path):
    path.chmod(0o600)
    path.with_name("link").hardlink_to(path)


CHANGES = [
    ("a.jsonl", cut, "was cut from "),
    ("a.jsonl", empty, "to 0 bytes"),
    ("a.jsonl", rewrite, "was written to"),
    ("a.jsonl", rewrite_and_set_the_time_back, "was written to"),
    ("a.jsonl", rewrite_and_undo, "was written to"),
    ("a.jsonl", replace, "was replaced"),
    ("a.jsonl", replace_and_set_the_time_back, "replaced"),
    ("a.jsonl", remove, "was removed"),
    ("a.jsonl", append_and_rewrite, "was written to"),
    ("a.json", cut, "was cut from "),
    ("a.json", rewrite, "was written to"),
    ("a.jsonl.gz", cut, "was cut from "),
    ("a.jsonl.bz2", rewrite, "was written to"),
    ("a.jsonl.xz", replace, "was replaced"),
    ("a.jsonl.zst", cut, "was cut from "),
    ("a.parquet", cut, "was cut from "),
    ("a.parquet", rewrite, "was written to"),
    ("a.parquet.gz", replace, "was replaced"),
    ("a.saved", cut, "was cut from "),
    ("a.saved", rewrite, "was written to"),
]


@pytest.mark.parametrize(("name", "change", "says"), CHANGES)
def test_an_input_that_changes_is_named_and_its_rows_are_marked(desk, name, change, says):
    path = write(desk.path(name), rows_of(name))
    write(desk.path("b.jsonl"), rows_of("b", 20))
    with amid(name, lambda: change(part_of(path))):
        ran = command(desk, name, "b.jsonl", "-o", "out")
    assert ran.code == 1
    assert f"error: {name} " in ran.stderr
    assert says in ran.stderr
    assert "--overwrite" in ran.stderr
    record, summary = (json.loads(desk.path(f"out/{file}.json").read_text()) for file in ("run", "summary"))
    assert record["state"] == "input_changed"
    assert record["changed_inputs"].keys() == summary["changed_inputs"].keys() == {name}
    marks = {(row["source_file"], row["input_changed"]) for row in commands.read_metrics(desk.path("out"))}
    assert marks == {(name, True), ("b.jsonl", False)}


MODES = [
    ("--limit", "300"),
    ("--sample-percent", "50"),
    ("--sample-count", "50"),
    ("--shard", "1/2"),
    ("--max-in-flight", "2"),
    ("--max-failed", "50%"),
    ("--output-format", "parquet"),
]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode[0])
def test_however_it_is_read(desk, mode):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    with amid("a.jsonl", lambda: cut(path)):
        ran = command(desk, "a.jsonl", "-o", "out", *mode)
    assert ran.code == 1
    assert "error: a.jsonl was cut from " in ran.stderr
    assert all(row["input_changed"] for row in commands.read_metrics(desk.path("out")))


def test_while_several_processes_read_it(desk, monkeypatch):
    monkeypatch.setattr("trajcompress.run.workers.work_in_workers._WORTH_BYTES", 1000)
    path, commit = write(desk.path("a.jsonl"), rows_of("a")), PartCoordinator._commit

    def cut_and_commit(*given):
        cut(path) if path.stat().st_size == size else None
        commit(*given)

    size = path.stat().st_size
    with mock.patch.object(PartCoordinator, "_commit", cut_and_commit):
        ran = command(desk, "a.jsonl", "-o", "out", "--num-workers", "2", "--part-size", "50KB")
    assert ran.code == 1
    assert "in 2 processes" in ran.stderr
    assert "error: a.jsonl was cut from " in ran.stderr
    rows = commands.read_metrics(desk.path("out"))
    assert 0 < len(rows) < ROWS
    assert all(row["input_changed"] for row in rows)


def test_what_changes_behind_the_last_row_that_is_wanted_is_no_matter(desk):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    write(desk.path("b.jsonl"), rows_of("b"))
    with amid("b.jsonl", lambda: cut(path)):  # it has been read by then
        assert command(desk, "a.jsonl", "b.jsonl", "-o", "out", "--limit", "500").code == 0


@pytest.mark.parametrize("verb", ["plan", "check"])
def test_plan_and_check_say_so_too(desk, verb):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    if verb == "plan":
        with amid("a.jsonl", lambda: cut(path)):
            ran = command(desk, "a.jsonl", verb="plan")
    else:

        def reading(source):
            for read in read_rows(source):
                if read.index == AT:
                    cut(path)
                yield read

        with mock.patch("trajcompress.results.check.rows.read_rows", reading):
            ran = commands.run_here("check", "a.jsonl", cwd=desk.folder)
    assert ran.code == 1
    assert "error: a.jsonl was cut from " in ran.stderr


@pytest.mark.parametrize("change", [cut, rewrite, remove])
def test_merge_refuses_an_input_that_changes(desk, change):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    for shard in (1, 2):
        assert command(desk, "a.jsonl", "-o", f"shard-{shard}", "--shard", f"{shard}/2").code == 0
    with amid("a.jsonl", lambda: change(path)):
        ran = commands.run_here("merge", "shard-1", "shard-2", "-o", "out", cwd=desk.folder)
    assert (ran.code, "error: a.jsonl was " in ran.stderr) == (2, True)
    assert json.loads(desk.path("out/run.json").read_text())["state"] == "interrupted"
    path.with_name("other.jsonl").write_bytes(b"{}")
    again = commands.run_here("merge", "shard-1", "shard-2", "-o", "out", "--overwrite", cwd=desk.folder)
    assert (again.code, "a.jsonl" in again.stderr) == (2, True)


def test_who_goes_on_with_such_a_run_is_told(desk):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    before = path.read_bytes()
    with amid("a.jsonl", lambda: cut(path)):
        command(desk, "a.jsonl", "-o", "out")
    path.write_bytes(before)  # as it was, but not all of it was read
    again = command(desk, "a.jsonl", "-o", "out")
    assert (again.code, again.stderr.count("\n")) == (2, 1)
    assert "a.jsonl was cut from " in again.stderr
    audit = commands.run_here("audit", "out", cwd=desk.folder)
    assert (audit.code, "--overwrite" in audit.stderr) == (2, True)
    marked = commands.run_here("audit", "out/metrics.parquet", "--where", "input_changed", cwd=desk.folder)
    assert (marked.code, marked.stdout.split()[0]) == (0, str(len(commands.read_metrics(desk.path("out")))))
    assert "its file changed while it was read" in commands.run_here("show", "out", "0", cwd=desk.folder).stdout
    assert commands.run_here("report", "out", cwd=desk.folder).code == 0
    assert "Inputs that changed while they were read" in desk.path("out/report.html").read_text()
    assert command(desk, "a.jsonl", "-o", "out", "--overwrite").code == 0
    assert len(commands.read_metrics(desk.path("out"))) == ROWS


@pytest.mark.parametrize("change", [cut, rewrite, replace, append, remove])
def test_a_run_that_goes_on_after_a_change_names_the_file(desk, change):
    write(desk.path("a.jsonl"), rows_of("a"))
    write(desk.path("b.jsonl"), rows_of("b", 20))

    def stop():
        raise InputError("a.jsonl: cannot be read")

    with amid("a.jsonl", stop, at=200):
        assert command(desk, "b.jsonl", "a.jsonl", "-o", "out", "--max-in-flight", "4").code == 2
    assert any(desk.path("out/.state/metrics").iterdir())
    change(desk.path("a.jsonl"))
    ran = command(desk, "b.jsonl", "a.jsonl", "-o", "out")
    assert ran.code == 2
    assert "a.jsonl" in ran.stderr
    assert "b.jsonl has" not in ran.stderr


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json"])
def test_of_what_only_grew_what_stood_there_at_first_is_read(desk, name):
    path = write(desk.path(name), rows_of(name))
    size = path.stat().st_size
    with amid(name, lambda: append(path)):
        ran = command(desk, name, "-o", "out")
    assert ran.code == 0
    assert ran.stderr.count(f"{name}: grew from {size:,} to ") == 1
    assert len(commands.read_metrics(desk.path("out"))) == ROWS
    record = json.loads(desk.path("out/run.json").read_text())
    assert (record["state"], *record["grown_inputs"]) == ("complete", name)


def test_another_link_or_other_permissions_are_no_change(desk):
    path = write(desk.path("a.jsonl"), rows_of("a"))
    with amid("a.jsonl", lambda: touch_otherwise(path)):
        ran = command(desk, "a.jsonl", "-o", "out", "--json")
    assert (ran.code, ran.json["state"], ran.json["changed_inputs"]) == (0, "complete", {})


def test_a_file_that_grows_while_it_is_found(desk):
    """Between its size and the first look at it there is a moment."""
    path = write(desk.path("a.jsonl"), rows_of("a", 20))
    from trajcompress.dataset import standing

    first = standing.Standing

    def later(source):
        append(path)
        return first(source)

    with mock.patch("trajcompress.dataset.standing.Standing", later):
        ran = command(desk, "a.jsonl", "-o", "out", "--json")
    assert (ran.code, ran.json["rows"], ran.json["state"]) == (0, 20, "complete")
    assert "a.jsonl: grew from " in ran.stderr


def test_summaries_that_were_paid_for_are_kept_where_the_input_changed(desk, tmp_path):
    place = runs.Place(tmp_path, desk.tokenizer)
    from loopback import LoopbackServer

    source = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(i) for i in range(8)])
    before = source.read_bytes()
    with LoopbackServer() as server:
        order = place.calling(server.base_url, [source], "out")
        with amid(str(source), lambda: append_and_rewrite(source), at=7):
            assert commands.run_here(*order, cwd=tmp_path).code == 1
        paid = len(server.seen)
        source.write_bytes(before)
        assert commands.run_here(*order, "--overwrite", cwd=tmp_path).code == 0
        assert len(server.seen) - paid <= 2  # those of rows that are others now
    shutil.rmtree(tmp_path / "out")
