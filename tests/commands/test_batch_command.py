"""``compress --batch``: it sends what rows ask for, ends, and goes on with what came back."""

from __future__ import annotations

import pytest
from batch_server import BatchServer
from commands import conversation, make_desk, read_metrics
from loopback_replies import Reply

KEY = {"OPENAI_API_KEY": "sk-test-000000000000"}
PRICES = ("--price-in", "1", "--price-out", "10")


def batch_options(server):
    return ("--model", "m", "--base-url", server.base_url, "--prune", "off", "--fit", "lenient", "--batch")


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    return make_desk(tmp_path, make_tokenizer)


@pytest.fixture
def rows(desk):
    return desk.write("rows.jsonl", [conversation(number) for number in range(6)])


def test_it_ends_while_batches_are_under_way_and_goes_on_when_they_have_ended(desk, rows):
    status = None
    with BatchServer(ends=lambda _batch, _number: status) as server:
        command = ("rows.jsonl", "-o", "out", *batch_options(server), *PRICES)
        ran = desk.compress(*command, env=KEY)
        assert ran.code == 75
        assert "batch batch_0: 5 requests sent" in ran.stderr
        assert "run the same command again later" in ran.stderr
        ran = desk.compress(*command, env=KEY)
        assert ran.code == 75
        assert "waiting: 5 requests sent, in batch batch_0" in ran.stderr
        assert "0 rows" not in ran.stderr
        assert "rejected" not in ran.stderr
        assert len(server.batches) == 1
        status = "completed"
        ran = desk.compress(*command, env=KEY)
        assert ran.code == 0
        assert "5 of 5 requests answered" in ran.stderr
        metrics = read_metrics(desk.path("out"))
        assert [row["outcome"] for row in metrics] == ["compressed"] * 6
        assert len(server.seen) == 1
        assert sum(row["summarization_api_calls"] for row in metrics) == 6
        tokens = [(seen.prompt_tokens, seen.completion_tokens) for seen in (*server.seen, *server.lines)]
        whole = [sent / 1e6 + 10 * written / 1e6 for sent, written in tokens]
        assert sum(row["cost_usd"] for row in metrics) == pytest.approx(whole[0] + sum(whole[1:]) / 2)
        assert desk.compress(*command, env=KEY).code == 0
        assert len(server.batches) == 1


def test_waiting_rounds_and_single_calls_for_what_batches_leave(desk, rows):
    with BatchServer(ends=lambda _batch, number: "expired" if number < 2 else "completed") as server:
        command = ("rows.jsonl", "-o", "out", *batch_options(server), "--batch-wait", "--batch-fallback")
        ran = desk.compress(*command, env=KEY)
        assert ran.code == 0
        assert [row["outcome"] for row in read_metrics(desk.path("out"))] == ["compressed"] * 6
        assert [len(batch.asked) for batch in server.batches] == [5, 3]
        assert len(server.seen) == 3
        plain = desk.compress("rows.jsonl", "-o", "plain", *batch_options(server)[:-1], env=KEY)
        assert plain.code == 0
        assert (
            desk.path("plain/data/rows-00000.jsonl").read_bytes()
            == desk.path("out/data/rows-00000.jsonl").read_bytes()
        )


def test_segments_take_a_round_for_each_running_summary(desk):
    desk.write("long.jsonl", [conversation(number, 24) for number in range(3)])
    with BatchServer() as server:
        options = ("long.jsonl", *batch_options(server)[:4], "--mode", "segments")
        ran = desk.compress(*options, "-o", "out", "--batch", "--batch-wait", env=KEY)
        assert ran.code == 0, ran.stderr
        metrics = read_metrics(desk.path("out"))
        most = max(row["rows_written"] for row in metrics)
        assert most > 2
        assert len(server.batches) in {most - 1, most}
        assert len(server.lines) + len(server.seen) == sum(row["rows_written"] - 1 for row in metrics)
        assert desk.compress(*options, "-o", "plain", env=KEY).code == 0
    written = [desk.path(f"{name}/data/long-00000.jsonl").read_bytes() for name in ("out", "plain")]
    assert written[0] == written[1]


def task_of(number):
    return next(turn["content"] for turn in conversation(number)["messages"] if turn["role"] == "user")


@pytest.mark.parametrize("waits", [True, False])
def test_what_is_asked_again_costs_what_the_server_counted_row_by_row(desk, rows, waits):
    """Row 2 is answered at the second time, row 4 when it is tried again by single calls."""
    refused, willing = Reply(text="I'm sorry, but I can't help with that."), False

    def script(seen):
        if task_of(4) in seen.text:
            return None if willing else refused
        asked = [each for each in (*server.seen, *server.lines) if task_of(2) in each.text]
        return refused if task_of(2) in seen.text and len(asked) == 1 else None

    with BatchServer(script) as server:
        more = ("--batch-wait",) if waits else ()
        command = ("rows.jsonl", "-o", "out", *batch_options(server), *PRICES, "--max-failed", "1", *more)
        ran = desk.compress(*command, env=KEY)
        for _ in range(0 if waits else 9):
            if ran.code != 75:
                break
            ran = desk.compress(*command, env=KEY)
        assert ran.code == 0, ran.stderr
        metrics = read_metrics(desk.path("out"))
        assert [row["outcome"] for row in metrics] == [*["compressed"] * 4, "failed", "compressed"]
        assert metrics[2]["summarization_api_calls"] == 2
        for number, row in enumerate(metrics):
            single, batched = (
                [each for each in of if task_of(number) in each.text] for of in (server.seen, server.lines)
            )
            tokens = [
                [sum(getattr(each, name) for each in of) for name in ("prompt_tokens", "completion_tokens")]
                for of in (single, batched)
            ]
            assert row["summarization_api_calls"] == len(single) + len(batched)
            assert [row["prompt_tokens"], row["completion_tokens"]] == [
                sum(each) for each in zip(*tokens, strict=True)
            ]
            whole, half = (sent + 10 * written for sent, written in tokens)
            assert row["cost_usd"] == pytest.approx((whole + half / 2) / 1e6)
        before = metrics[4]
        asked = len(server.seen)
        willing = True
        plain = [part for part in command if part not in {"--batch", "--batch-wait"}]
        ran = desk.compress(*plain, "--retry-failed", env=KEY)
        assert ran.code == 0, ran.stderr
        (again,) = server.seen[asked:]
        row = read_metrics(desk.path("out"))[4]
        assert (row["outcome"], row["summarization_api_calls"]) == ("compressed", 3)
        cost = (again.prompt_tokens + 10 * again.completion_tokens) / 1e6
        assert row["cost_usd"] == pytest.approx(before["cost_usd"] + cost)


def test_summaries_of_the_folder_are_found_by_what_is_asked_when_it_is_written_anew(desk, rows):
    with BatchServer() as server:
        options = batch_options(server)[:-1]
        assert desk.compress("rows.jsonl", "-o", "out", *options, env=KEY).code == 0
        assert len(server.seen) == 6
        more = desk.write("a_new.jsonl", [conversation(99)])
        command = (more, "rows.jsonl", "-o", "out", *options)
        ran = desk.compress(*command, env=KEY)
        assert ran.code == 2
        assert "a_new.jsonl is a new input" in ran.stderr
        assert "reuses what it can of the 6 summaries" in ran.stderr
        assert desk.compress(*command, "--overwrite", env=KEY).code == 0
        assert len(server.seen) == 7
        metrics = read_metrics(desk.path("out"))
        assert sum(row["cache_hits"] for row in metrics) == 6
        assert sum(row["summarization_api_calls"] for row in metrics) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("--batch",), "name one with --model"), (("--batch", "--model", "m", "-"), "a pipe cannot be")],
)
def test_what_cannot_go_with_batches_is_refused(desk, rows, arguments, words):
    ran = desk.compress("rows.jsonl", "-o", "out", *arguments, env=KEY)
    assert ran.code == 2
    assert words in ran.stderr
