"""What a person sees of an outage, what a Python program catches, and whether promised times are kept."""

from __future__ import annotations

import json
import re
import shlex
import time

import commands
import pytest
import runs
from loopback import LoopbackServer
from loopback_replies import Reply, failed, hang, server_error

from trajcompress import Compressor, compress_dataset
from trajcompress.cli.progress import TerminalReporter
from trajcompress.errors import SummarizerUnusableError

QUICK = "summarization: {retry_delay: 0.02, timeout: 5, max_outage: 1, max_failures_in_a_row: 4}"
KEY = {"OPENAI_API_KEY": "sk-test-0123456789abcdef"}


@pytest.fixture
def calling(desk):
    desk.write("a.jsonl", map(commands.conversation, range(8)))
    desk.path("quick.yaml").write_text(QUICK)

    def arguments(server, *more):
        return [
            "compress",
            *desk.options,
            "a.jsonl",
            "-o",
            "out",
            "--model",
            "m",
            "--base-url",
            server.base_url,
            *more,
        ]

    return arguments


def test_a_terminal_shows_what_the_server_says_while_calls_pause(desk, calling):
    with LoopbackServer(lambda _: server_error() if 3 < len(server.seen) < 9 else None) as server:
        command = calling(server, "-c", "quick.yaml", "--max-outage", "30", "--max-in-flight", "4")
        ran = commands.run_on_terminal(*command, cwd=desk.folder, env=KEY)
    assert ran.code == 0
    lines = [line.removeprefix("\x1b[K") for line in re.split(r"[\r\n]", ran.stdout)]
    paused = "paused: m: HTTP 500: The server had an error"
    assert any(line.startswith(paused) and "next try in" in line for line in lines), "a line of its own"
    assert any(re.match(r"compress .*(paused \d+ s|trying again) \(500\)", line) for line in lines), "in the bar"
    assert any(line.startswith("calls are answered again") for line in lines)
    assert "paused" not in lines[-2], "and no longer"


def test_a_pipe_gets_a_line_at_its_begin_and_one_at_its_end(desk, calling):
    with LoopbackServer(lambda _: server_error() if 3 < len(server.seen) < 9 else None) as server:
        ran = commands.run_here(*calling(server, "-c", "quick.yaml", "--max-outage", "30"), cwd=desk.folder, env=KEY)
    assert ran.code == 0
    assert ran.stderr.count("paused: m: HTTP 500") == 1
    assert ran.stderr.count("calls are answered again") == 1


def test_a_slow_first_answer_is_waited_for_and_that_is_said(desk, calling):
    desk.path("quick.yaml").write_text(QUICK.replace("timeout: 5", "timeout: 3"))
    with LoopbackServer(lambda _: Reply(delay=2.0 if len(server.seen) == 1 else 0.1)) as server:
        ran = commands.run_here(*calling(server, "-c", "quick.yaml"), cwd=desk.folder, env=KEY)
    assert ran.code == 0
    assert f"no answer yet from {server.base_url}; a call may take 3 s" in ran.stderr
    assert server.most_at_once > 1, "once it is there, the others follow"


def test_lines_about_one_thing_are_a_minute_apart(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    reporter = TerminalReporter(quiet=False)
    for now in range(0, 150, 5):
        reporter.status("paused: HTTP 500" if now % 10 else None)
    assert capsys.readouterr().err.count("paused: HTTP 500") == 3


def test_python_programs_get_the_same_words_as_an_exception(tmp_path):
    rows = commands.write_rows(tmp_path / "a.jsonl", map(commands.conversation, range(4)))
    config = tmp_path / "quick.yaml"
    config.write_text(QUICK)
    options = {"config": config, "tokenizer": runs.small_tokenizer(), "target_max_tokens": 2000, "model": "m"}
    down, options["summary_target_tokens"] = failed(503, "no GPU today"), 300
    with LoopbackServer(lambda _: down) as server:
        options["base_url"] = server.base_url
        with pytest.raises(SummarizerUnusableError, match="HTTP 503: no GPU today") as caught:
            compress_dataset(rows, tmp_path / "out", **options)
        assert (caught.value.has_answered, caught.value.exit_code) == (False, 2)
        with (
            Compressor(**options) as compressor,
            pytest.raises(SummarizerUnusableError, match="HTTP 503: no GPU today"),
        ):
            compressor.compress(commands.conversation(0))
        down = None
        assert compress_dataset(rows, tmp_path / "out", **options).totals.outcomes["compressed"] == 4
        with Compressor(**options) as compressor:
            compressor.compress(commands.conversation(0))
            down = failed(401, "it was revoked")
            with pytest.raises(SummarizerUnusableError, match="HTTP 401: it was revoked") as caught:
                compressor.compress(commands.conversation(1))
            assert (caught.value.has_answered, caught.value.exit_code) == (True, 1)
            down = None
            assert compressor.compress(commands.conversation(1)).metrics.outcome == "compressed", "it can be used on"


def test_a_run_that_is_killed_goes_on_at_another_port_and_pays_for_nothing_again(tmp_path, make_tokenizer):
    place = runs.Place(tmp_path, make_tokenizer())
    inputs = runs.write_inputs(tmp_path, 40)
    with LoopbackServer(lambda _: hang() if len(server.seen) > 16 else None) as server:
        process = runs.start(*place.calling(server.base_url, inputs, "out"), cwd=tmp_path)
        runs.wait_for(lambda: len(server.seen) > 16, process)
        runs.kill(process)
        paid = runs.recorded(tmp_path / "out")
    assert len(paid) >= 10
    with LoopbackServer() as moved:
        assert moved.base_url != server.base_url
        command = place.calling(moved.base_url, inputs, "out")
        runs.finish(place, command)
        assert not paid & set(map(runs.prompt_digest, moved.seen))
        runs.assert_same_as_whole(place, command)


@pytest.mark.slow
@pytest.mark.parametrize(("status", "most_s"), [(500, 60), (404, 15)])
def test_with_usual_settings_an_endpoint_that_is_wrong_is_told_in_time(desk, calling, status, most_s):
    with LoopbackServer(lambda _: failed(status, "no")) as server:
        command = calling(server, "--log-file", "log.jsonl")
        ran = commands.run_here(*command, cwd=desk.folder, env=KEY)
    assert ran.code == 2
    assert "HTTP 500: no" in ran.stderr if status == 500 else "HTTP 404: no" in ran.stderr
    assert shlex.join(["trajcompress", *map(str, command)]) in ran.stderr
    assert len(server.seen) < 20
    assert server.seen[-1].time - server.seen[0].time < most_s
    assert json.loads(desk.path("log.jsonl").read_text().splitlines()[-1])["event"] == "stopped"
