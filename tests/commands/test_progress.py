"""What a person, and a log, see of a run that goes on: a pure line for each width, and the real thing in a pipe."""

from __future__ import annotations

import re

import commands
import pytest
from loopback import LoopbackServer
from loopback_replies import Reply

from trajcompress.cli.progress_text import bar_line, log_line
from trajcompress.run.progress.counts import Counts

MB = 1_000_000


class Price:
    def cost(self, sent, written, *, cached_tokens):
        return (sent - cached_tokens / 2 + 10 * written) / MB


def running(*, rpm=60, price=True):
    """Ten seconds of a run: half of the input is read, eight rows, of which two are done; of six calls one failed."""
    counts = Counts(100.0, 16 * MB, rpm=rpm, price_of=lambda _: Price() if price else None)
    counts.read_to(0)
    for row in range(8):
        counts.take("taken", {"source_file": "a", "source_row": row, "size": MB, "bytes_read": (row + 1) * MB}, 100.0)
        counts.take("planned", {"source_file": "a", "source_row": row}, 100.5)
    for call in range(6):
        counts.take("sent", {}, 101.0 + call)
    for result in ("answered", "answered", "rate_limited"):
        tokens = {"prompt_tokens": 1000, "completion_tokens": 100} if result == "answered" else {}
        counts.take("called", {"model": "m", "result": result, **tokens}, 105.0)
    for row in (4, 6):  # not the first ones
        counts.take("done", {"source_file": "a", "source_row": row, "passes": 1, "bytes_read": 8 * MB}, 106.0)
    return counts


def test_the_time_that_is_left_is_that_of_calls_where_any_are_made():
    counts = running(rpm=None)
    assert counts.seconds_left(110.0) == pytest.approx(14 * 5), "of 16 summaries two were had, one five seconds ago"
    assert running(rpm=6).seconds_left(110.0) == pytest.approx(14 * 10)
    counts.take("planned", {"source_file": "a", "source_row": 7}, 110.0)  # its second
    assert 14 * 5 < counts.seconds_left(110.0) < 20 * 5


@pytest.mark.parametrize("summaries", [1, 2])
@pytest.mark.parametrize("in_flight", [100, 40])
def test_the_time_that_is_left_falls_from_the_first_answers_on(in_flight, summaries):
    """A call a second, first come first served, so that rows are done late and many at once."""
    rows = 100
    counts, waiting, calls, taken = Counts(0.0, rows * MB), [], 0, 0
    counts.read_to(0)

    def take(now):
        nonlocal taken
        at = {"source_file": "a", "source_row": taken}
        taken += 1
        counts.take("taken", at | {"size": MB, "bytes_read": taken * MB}, now)
        counts.take("planned", at, now)
        waiting.append((at, 1))

    left = []
    for _ in range(in_flight):
        take(0.0)
    while waiting:
        at, had = waiting.pop(0)
        counts.take("sent", {}, float(calls))
        calls += 1
        counts.take("called", {"model": "m", "result": "answered"}, float(calls))
        if had < summaries:
            counts.take("planned", at, float(calls))
            waiting.append((at, had + 1))
        else:
            counts.take("done", at | {"passes": summaries, "bytes_read": taken * MB}, float(calls))
            if taken < rows:
                take(float(calls))
        left.append(counts.seconds_left(float(calls)))
    for second, seconds in list(enumerate(left, start=1))[summaries * 20 :: 5]:
        really = rows * summaries - second
        assert 0.6 * really - 5 <= seconds <= 2 * really + 5, second


def test_what_a_provider_had_in_its_cache_costs_what_it_costs():
    counts, tokens = running(), {"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 1000}
    paid = counts.usd
    counts.take("called", {"model": "m", "result": "answered", **tokens}, 105.0)
    assert counts.usd == pytest.approx(paid * 1.5 - 1000 / 2 / MB)


def test_nobody_can_tell_how_long_it_takes_until_a_call_was_answered():
    counts = Counts(0.0, 16 * MB)
    for row, event in ((0, "taken"), (1, "taken"), (1, "done")):  # the first waits for its summary
        counts.take(event, {"source_file": "a", "source_row": row, "size": MB, "bytes_read": (row + 1) * MB}, 1.0)
    assert counts.seconds_left(10.0) is not None
    for row in (0, 1):
        counts.take("planned", {"source_file": "a", "source_row": row}, 1.0)
    counts.take("sent", {}, 1.0)
    counts.take("called", {"model": "m", "result": "server_error"}, 2.0)
    assert counts.seconds_left(10.0) is None
    counts.take("called", {"model": "m", "result": "answered"}, 3.0)  # alone: others go out now, and many at once
    assert counts.seconds_left(10.0) is None
    counts.take("done", {"source_file": "a", "source_row": 0, "passes": 2, "bytes_read": 2 * MB}, 4.0)
    assert counts.seconds_left(10.0) is not None, "what else there was to have is had"


def test_work_moves_with_rows_and_calls_in_any_order_and_never_back():
    counts = running(rpm=None)
    before = counts.share_done(110.0)
    assert 0 < before < 0.5
    assert counts.share_done(150.0) == before, "the clock alone does nothing"
    for row in (0, 1, 2, 3, 5, 7):
        counts.take("done", {"source_file": "a", "source_row": row, "passes": 1, "bytes_read": 8 * MB}, 111.0)
    assert counts.share_done(112.0) > before


def test_an_answer_that_is_no_summary_fails_and_is_paid_for():
    counts, paid = running(), running().usd
    figures = {"model": "m", "result": "refused_answer", "prompt_tokens": 1000, "completion_tokens": 100}
    counts.take("called", figures, 105.0)
    assert (counts.failed, counts.usd) == (2, pytest.approx(1.5 * paid))


def test_what_an_earlier_session_did_counts():
    counts = Counts(0.0, 10 * MB)
    counts.read_to(5 * MB)
    assert counts.share_done(0.5) == 0.5


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 200])
def test_a_line_fits_its_terminal_and_tells_more_on_a_wider_one(width):
    counts = running()
    counts.take("paused", {"seconds": 20, "reason": "rate_limited", "detail": "m: HTTP 429: slow down"}, 109.5)
    line = bar_line(counts, "compress", 110.0, width)
    assert len(line) < width
    assert "paused 20 s (429)" in line
    assert re.search(r"0:10, \d:\d\d left", line)
    told = {"2 rows": 80, "3 calls, 3 open, 1 failed": 100, "$0.00": 120, "6/60 rpm": 120}
    for words, least in told.items():
        assert words in line or width < least, words


def test_a_pause_shows_until_it_is_over_and_an_answer_has_come():
    counts = running()
    counts.take("paused", {"seconds": 5, "reason": "connection", "detail": "nobody there"}, 110.0)
    answered = {"model": "m", "result": "answered"}
    counts.take("called", answered, 111.0)  # it was under way
    assert "paused 3 s (connection)" in log_line(counts, "compress", 112.0)
    assert "trying again (connection)" in log_line(counts, "compress", 116.0)
    counts.take("called", answered, 117.0)
    assert "connection" not in log_line(counts, "compress", 118.0)


def test_without_a_size_there_is_no_share_and_no_price_no_dollars():
    counts = Counts(0.0, None)
    counts.take("taken", {"source_file": "-", "source_row": 0, "size": 10}, 1.0)
    assert counts.share_done(5.0) is None
    line = bar_line(counts, "plan", 65.0, 80)
    assert line == "plan 1:05 · 0 rows"
    assert "$" not in log_line(running(price=False), "compress", 110.0)


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    return commands.make_desk(tmp_path, make_tokenizer)


def test_in_a_pipe_it_is_lines_and_with_off_none(desk, monkeypatch):
    monkeypatch.setattr("trajcompress.cli.progress._LINE_S", 0.2)
    desk.write("a.jsonl", map(commands.conversation, range(6)))
    model = ["--model", "m", "--price-in", "1", "--price-out", "2", "--max-concurrent-requests", "2"]
    with LoopbackServer(lambda _: Reply(delay=0.3)) as server:
        model += ["--base-url", server.base_url]
        key = {"OPENAI_API_KEY": "sk-test"}
        ran = desk.compress("a.jsonl", "-o", "out", *model, env=key)
        none = desk.compress("a.jsonl", "-o", "none", "--progress", "off", *model, env=key)
    lines = [line for line in ran.stderr.splitlines() if line.startswith("compress: ")]
    assert len(lines) >= 2
    assert all(re.match(r"compress: \d+% · \d:\d\d", line) for line in lines)
    assert any(re.search(r"· \d calls?, [12] open", line) for line in lines)
    assert re.match(r"compress: 100% · .* · 6 calls · \$0\.0\d", lines[-1]), "the last line tells of the end"
    assert "\r" not in ran.stderr
    assert "compress: " not in none.stderr
    assert none.code == 0


def test_on_a_terminal_it_is_a_bar_that_goes_away(desk):
    desk.write("a.jsonl", map(commands.conversation, range(4)))
    arguments = ["compress", "a.jsonl", "-o", "out", *desk.options]
    ran = commands.run_on_terminal(*arguments, cwd=desk.folder, columns=80)
    assert "\r\x1b[Kcompress " in ran.stdout
    assert ran.stdout.rstrip().endswith("out/\x1b[0m")
    assert (
        "\r\x1b[Kcompress "
        not in commands.run_on_terminal(*arguments, "--overwrite", "--progress", "lines", cwd=desk.folder).stdout
    )
