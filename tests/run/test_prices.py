"""What calls cost: in the metrics, in the totals, and whatever else stays as it was."""

from __future__ import annotations

import loopback_replies as replies
import pytest
from commands import conversation, make_desk, read_metrics
from loopback import LoopbackServer

from trajcompress.errors import SettingsError
from trajcompress.run.build.prices import listed_price, price_of
from trajcompress.settings import resolve
from trajcompress.summarize.endpoint.priced import Price

PRICED = ("--price-in", "2", "--price-out", "8")


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    desk = make_desk(tmp_path, make_tokenizer)
    desk.path("quick.yaml").write_text("summarization: {retry_delay: 0.01, timeout: 5, max_retries: 1}")
    desk.write("a.jsonl", [conversation(0), conversation(1, 2), conversation(2)])
    return desk


def compress(desk, server, *arguments, out="out"):
    model = ("--model", "writer", "--base-url", server.base_url, "-c", "quick.yaml", "--json")
    return desk.compress("a.jsonl", "-o", out, *model, *arguments)


def test_each_row_has_its_cost_and_the_totals_the_sum(desk):
    with LoopbackServer() as server:
        ran = compress(desk, server, *PRICED)
    costs = [
        (2 * row["prompt_tokens"] + 8 * row["completion_tokens"]) / 1e6 for row in read_metrics(desk.path("out"))
    ]
    assert [row["cost_usd"] for row in read_metrics(desk.path("out"))] == pytest.approx(costs)
    assert costs[1] == 0 < costs[0]
    assert ran.json["cost_usd"] == pytest.approx(sum(costs))


def test_without_a_price_a_call_has_no_cost(desk):
    with LoopbackServer() as server:
        ran = compress(desk, server)
    assert [row["cost_usd"] for row in read_metrics(desk.path("out"))] == [None, 0, None]
    assert ran.json["cost_usd"] is None


def test_where_a_server_counts_only_what_it_was_sent_nobody_knows_the_cost(desk):
    text = "## Results\n- The modules of the build were looked at one by one, and the failing one was found."
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    body = {"id": "c", "object": "chat.completion", "choices": choices, "usage": {"prompt_tokens": 900}}
    with LoopbackServer(lambda _: replies.Reply(body=body)) as server:
        ran = compress(desk, server, *PRICED)
    assert [row["cost_usd"] for row in read_metrics(desk.path("out"))] == [None, 0, None]
    assert (ran.json["cost_usd"], ran.json["prompt_tokens"] > 0) == (None, True)


def test_the_built_in_summariser_costs_nothing(desk):
    ran = desk.compress("a.jsonl", "-o", "out", "--json")
    assert ran.json["cost_usd"] == 0
    assert {row["cost_usd"] for row in read_metrics(desk.path("out"))} == {0}


def test_what_the_fallback_costs_is_not_guessed_from_the_first_price(desk):
    def script(seen):
        return replies.server_error() if seen.model == "writer" else None

    with LoopbackServer(script) as server:
        unknown = compress(desk, server, *PRICED, "--fallback-model", "other", out="one")
        listed = compress(desk, server, *PRICED, "--fallback-model", "gpt-5-mini", out="two")
    assert unknown.json["cost_usd"] is None
    price = listed_price("gpt-5-mini")
    assert price is not None
    expected = price.cost(listed.json["prompt_tokens"], listed.json["completion_tokens"])
    assert listed.json["cost_usd"] == pytest.approx(expected)


def test_another_price_is_no_other_run(desk):
    with LoopbackServer() as server:
        compress(desk, server, *PRICED)
        calls = len(server.seen)
        again = compress(desk, server, "--price-in", "1", "--price-out", "1")
    assert (again.code, len(server.seen)) == (0, calls)


def test_the_table_goes_by_whole_names_and_settings_are_stronger():
    def settings(**given):
        cli = {f"summarization.{key}": value for key, value in given.items()}
        return resolve(cli, None, environ={}, dotenv=None).settings

    assert price_of(settings(model="gpt-5-mini")) == listed_price("gpt-5-mini") != listed_price("gpt-5")
    assert price_of(settings(model="gpt-5-mini-mine")) is None
    assert price_of(settings(model="gpt-5-mini", price_in=1, price_out=2)) == Price(1, 2)
    assert price_of(settings()) is None
    with pytest.raises(SettingsError, match="--price-out"):
        price_of(settings(price_in=1))
