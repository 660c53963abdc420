"""``--log-file``: what happens in a run, a JSON line each, whole at any time, and without a word of a row."""

from __future__ import annotations

import json
from collections import Counter

import commands
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import failed, hang, rate_limited

from trajcompress.run.progress.event_log import EventLog

KEY = "sk-live-0123456789abcdef0123"


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def compress(place, command):
    return commands.run_here(*command, "--log-file", "log.jsonl", cwd=place.folder, env={"OPENAI_API_KEY": KEY})


def events(folder, *names):
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] in names] if names else lines


def where(line):
    return line["source_file"], line["source_row"]


def test_every_planned_row_every_call_and_every_part_has_its_line(place):
    inputs = runs.write_inputs(place.folder, 12)
    with LoopbackServer([rate_limited("0.01"), failed(500, "overloaded"), None]) as server:
        ran = compress(place, place.calling(server.base_url, inputs, "out"))
    assert ran.code == 0, ran.stderr
    metrics = commands.read_metrics(place.folder / "out")
    told = events(place.folder)
    assert [line["event"] for line in (told[0], told[-1])] == ["started", "finished"]
    assert told[0]["summarizer"] == "loopback"
    compressed = {where(row): row for row in metrics if row["passes"]}
    assert Counter(map(where, events(place.folder, "planned"))) == Counter(
        {place: row["passes"] for place, row in compressed.items()}
    )
    calls = events(place.folder, "called")
    assert Counter(map(where, calls)) == Counter(
        {place: row["summarization_api_calls"] for place, row in compressed.items()}
    )
    assert sum(call.get("prompt_tokens", 0) for call in calls) == sum(row["prompt_tokens"] for row in metrics)
    assert Counter(call["result"] for call in calls) == {
        "answered": len(server.seen) - 2,
        "rate_limited": 1,
        "server_error": 1,
    }
    assert {line["reason"] for line in events(place.folder, "retried")} == {"rate_limited", "server_error"}
    paused = events(place.folder, "paused")
    assert [line["reason"] for line in paused] == ["rate_limited", "server_error"]
    assert [line["detail"] for line in paused] == [
        "loopback: HTTP 429: Rate limit reached for requests.",
        "loopback: HTTP 500: overloaded",
    ]
    assert len(events(place.folder, "answered")) == 1
    committed = events(place.folder, "committed")
    assert sum(line["rows"] for line in committed) == len(metrics) == told[-1]["rows"]
    assert {line["data_file"] for line in committed} == {path.name for path in (place.folder / "out/data").iterdir()}


def test_the_log_holds_no_key_no_prompt_and_no_answer(place):
    inputs = runs.write_inputs(place.folder, 8)
    with LoopbackServer([failed(400, f"your key {KEY} sent: Find out why build 0 fails")]) as server:
        compress(place, place.calling(server.base_url, inputs, "out"))
    log = (place.folder / "log.jsonl").read_text()
    assert '"bad_request"' in log
    for text in (KEY, "Find out why", "handle_", "CONTEXT SUMMARY", "127.0.0.1"):
        assert text not in log


def test_a_call_that_is_cut_off_by_the_time_limit_is_told_of(place):
    rows = commands.write_rows(place.folder / "a.jsonl", [commands.conversation(0)])
    with LoopbackServer([hang()]) as server:
        compress(place, place.calling(server.base_url, [rows], "out", "--per-trajectory-timeout", "0.2"))
    assert events(place.folder, "called")[0]["result"] == "cancelled"


def test_a_pause_of_all_calls_and_an_early_end_are_told_of(place):
    rows = commands.write_rows(place.folder / "a.jsonl", map(commands.conversation, range(40)))
    with LoopbackServer(lambda _: failed(500, "down")) as server:
        ran = compress(place, place.calling(server.base_url, [rows], "out"))
    assert ran.code == 2
    assert any(line["reason"] == "server_error" for line in events(place.folder, "paused"))
    assert events(place.folder)[-1]["event"] == "stopped"


def test_a_killed_and_resumed_run_appends_whole_lines(place):
    inputs = runs.write_inputs(place.folder, 40)
    command = [*place.offline(inputs, "out"), "--log-file", "log.jsonl"]
    process = runs.start(*command, cwd=place.folder)
    log = place.folder / "log.jsonl"
    runs.wait_for(lambda: log.exists() and b'"committed"' in log.read_bytes(), process)
    runs.kill(process)
    assert events(place.folder)[-1]["event"] not in {"finished", "interrupted"}
    runs.finish(place, command)
    (resumed,) = events(place.folder, "resumed")
    assert resumed["rows_so_far"] > 0
    parts = [line["part"] for line in events(place.folder, "committed")]
    assert sorted(set(parts)) == list(range(len(set(parts))))
    assert events(place.folder)[-1]["event"] == "finished"


def test_a_run_may_go_on_with_another_log_or_none(place):
    rows = commands.write_rows(place.folder / "a.jsonl", [commands.conversation(0)])
    runs.finish(place, [*place.offline([rows], "out"), "--log-file", "log.jsonl"])
    runs.finish(place, place.offline([rows], "out"))


@pytest.mark.parametrize(
    "log", ["in", "in/log.jsonl", "in/a.jsonl", "missing/log.jsonl", "out/run.json", "out/data/a.jsonl"]
)
def test_a_log_that_cannot_be_or_would_be_input_is_refused(place, log):
    inputs = place.folder / "in"
    inputs.mkdir()
    rows = commands.write_rows(inputs / "a.jsonl", [commands.conversation(0)])
    before = rows.read_bytes()
    ran = commands.run_here(*place.offline(["in"], "out"), "--log-file", log, cwd=place.folder)
    assert ran.code == 2
    assert ran.stderr.startswith(f"error: {log}: ")
    assert "choose another --log-file" in ran.stderr
    assert ran.stderr.count("\n") == 1
    assert rows.read_bytes() == before


def test_a_log_on_a_full_disk_ends_and_the_run_goes_on(tmp_path):
    notes = []
    with EventLog(tmp_path.joinpath("/dev/full"), notes.append) as emit:
        emit("started")
        emit("finished")
    assert notes == ["/dev/full: the log ends here: No space left on device; the run goes on without it"]
