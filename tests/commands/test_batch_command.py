"""``compress --batch``: it sends what rows ask for, ends, and goes on with what came back."""

from __future__ import annotations

import pytest
from batch_server import BatchServer
from commands import conversation, make_desk, read_metrics

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
        assert desk.compress(*command, env=KEY).code == 75
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
