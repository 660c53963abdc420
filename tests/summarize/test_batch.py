"""Summaries through the Batch API: what is sent, what comes back, and what becomes of what does not."""

from __future__ import annotations

import asyncio
import json

import pytest
from asking import KEY, ask, summarizer
from batch_server import BatchServer
from loopback_replies import failed, no_max_tokens, no_quota, no_temperature, overlong, server_error, unknown_model

from trajcompress.errors import AwaitsBatchError, SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Usage
from trajcompress.summarize.endpoint.batch.api import BatchApi, Ending
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.summarize.endpoint.priced import Price


@pytest.fixture
def store(tmp_path):
    store = BatchStore(tmp_path / "batches.sqlite")
    yield store
    store.close()


def asked(server, store, *numbers, usage=None, **more):
    """Ask for summaries, and return them; None for those that await a batch."""

    async def ask_all():
        one = summarizer(server, batches=store, **more)
        try:
            return [await _one(one, number, usage or Usage()) for number in numbers]
        finally:
            await one.aclose()

    return asyncio.run(ask_all())


async def _one(one, number, usage):
    try:
        return await one.summarize(ask(number), usage)
    except AwaitsBatchError:
        return None


def sent_and_fetched(server, store, folder):
    """Send what is wanted, and fetch what has ended."""
    api = BatchApi(server.base_url, KEY, store)
    try:
        for batch in api.form_batches():
            if batch.id is None:
                api.submit(batch, folder)
        return [api.fetch(batch) for batch in store.open_batches()]
    finally:
        api.close()


def test_only_the_first_request_goes_out_by_itself_and_the_others_come_with_a_batch(store, tmp_path):
    usage = Usage()
    with BatchServer() as server:
        first, *others = asked(server, store, 0, 1, 2)
        assert first is not None
        assert others == [None, None]
        assert sent_and_fetched(server, store, tmp_path) == [Ending("completed", 0, "")]
        summaries = asked(server, store, 0, 1, 2, usage=usage)
    assert len(server.seen) == 1
    assert len(server.lines) == 2
    assert ["module_0" in summaries[0].text, "module_1" in summaries[1].text, "module_2" in summaries[2].text] == [
        True
    ] * 3
    assert usage.api_calls == 3
    assert usage.errors == 0
    assert usage.batched_prompt_tokens == sum(seen.prompt_tokens for seen in server.lines)
    assert list(tmp_path.glob("*.jsonl")) == []


def test_what_goes_with_batches_costs_half_and_what_the_provider_had_cached_its_own_price():
    usage = Usage()
    usage.add_tokens(1_000_000, 100_000, 400_000)
    assert Price(1.0, 10.0, 0.1).cost_of(usage) == pytest.approx(0.6 + 0.04 + 1.0)
    assert Price(1.0, 10.0).cost_of(usage) == pytest.approx(2.0)
    usage.add_tokens(1_000_000, 100_000, None, batched=True)
    assert Price(1.0, 10.0).cost_of(usage) == pytest.approx(2.0 + 1.0)


def test_of_a_batch_that_expired_the_answers_are_kept_and_the_rest_is_sent_once_more(store, tmp_path):
    ends = ["expired", "expired"]
    with BatchServer(ends=lambda _batch, number: ends[number]) as server:
        asked(server, store, *range(5))
        (ending,) = sent_and_fetched(server, store, tmp_path)
        assert (ending.status, ending.missing) == ("expired", 2)
        again = asked(server, store, *range(5))
        assert again.count(None) == 2
        (ending,) = sent_and_fetched(server, store, tmp_path)
        assert ending.missing == 1
        assert [len(batch.asked) for batch in server.batches] == [4, 2]
        with pytest.raises(SummaryError, match=r"batch_unanswered.*--batch-fallback"):
            asked(server, store, *range(5))
        assert len(server.seen) == 1
        done = asked(server, store, *range(5), sends_single=True)
        assert None not in done
        assert len(server.seen) == 2


@pytest.mark.parametrize("refused", [no_max_tokens, no_temperature])
def test_a_parameter_that_the_model_refuses_shows_at_the_first_request_and_is_remembered(store, tmp_path, refused):
    parameter = "max_tokens" if refused is no_max_tokens else "temperature"
    with BatchServer(lambda seen: refused() if parameter in seen.body else None) as server:
        assert asked(server, store, 0, 1)[1] is None
        assert asked(server, store, 2) == [None]  # in another process it is known, too
        (ending,) = sent_and_fetched(server, store, tmp_path)
        assert ending.missing == 0
        assert None not in asked(server, store, 0, 1, 2)
    assert all(parameter not in seen.body for seen in server.lines)


@pytest.mark.parametrize(
    ("reply", "reason"), [(unknown_model(), "unknown_model"), (failed(401, "no such key"), "unauthorized")]
)
def test_what_is_wrong_with_all_requests_shows_before_a_batch_is_sent(store, reply, reason):
    with BatchServer(lambda _: reply) as server, pytest.raises(SummarizerUnusableError) as stopped:
        asked(server, store, 0, 1)
    assert stopped.value.reason == reason
    assert server.batches == []


def test_errors_of_requests_are_theirs_alone_and_an_answer_that_is_no_use_is_asked_for_again(store, tmp_path):
    def answer(seen):
        if "module_1" in seen.text:
            return failed(400, "maximum context length is 8192 tokens", "context_length_exceeded")
        if "module_2" in seen.text:
            return server_error() if sum("module_2" in each.text for each in server.lines) == 1 else None
        return overlong() if "module_3" in seen.text and "could not be used" not in seen.text else None

    with BatchServer(answer) as server:
        asked(server, store, *range(5))
        (ending,) = sent_and_fetched(server, store, tmp_path)
        assert ending.missing == 1
        assert "HTTP 500" in ending.words
        with pytest.raises(SummaryError, match="context_length_exceeded"):
            asked(server, store, 1)
        usage = Usage()
        assert asked(server, store, 2, 3, 4, usage=usage)[:2] == [None, None]
        sent_and_fetched(server, store, tmp_path)
        assert None not in asked(server, store, 2, 3, 4)
        assert sorted(len(batch.asked) for batch in server.batches) == [2, 4]


def test_a_batch_that_the_account_cannot_pay_stops_the_run_and_can_be_sent_again(store, tmp_path):
    poor = True
    with BatchServer(lambda seen: no_quota() if poor and "module_0" not in seen.text else None) as server:
        asked(server, store, 0, 1, 2)
        for _ in range(3):  # as often as one likes: no try is lost by it
            with pytest.raises(SummarizerUnusableError, match="insufficient_quota"):
                sent_and_fetched(server, store, tmp_path)
        poor = False
        sent_and_fetched(server, store, tmp_path)
        assert None not in asked(server, store, 0, 1, 2)


def test_a_batch_that_was_made_just_before_a_kill_is_found_and_not_made_again(store, tmp_path):
    with BatchServer(ends=lambda _batch, _number: None) as server:
        asked(server, store, 0, 1, 2)
        api = BatchApi(server.base_url, KEY, store)
        (batch,) = api.form_batches()
        api.submit(batch, tmp_path)
        with store._using() as db:
            db.execute("UPDATE batches SET id = NULL")  # as if killed before it was noted
        (batch,) = store.open_batches()
        assert api.submit(batch, tmp_path) == "batch_0"
        assert len(server.batches) == 1
        server.ends = lambda _batch, _number: "completed"
        assert api.fetch(store.open_batches()[0]).missing == 0
        api.close()


def test_batches_are_of_one_model_and_of_bounded_size(store):
    for number in range(7):
        store.want(f"n{number}", "row", "a" if number < 5 else "b", b"x" * 100)
    sizes = [batch.requests for batch in store.form_batches(3, 10_000, overhead=0)]
    assert sizes == [3, 2, 2]
    store.want("n8", "row", "b", b"x" * 100)
    store.want("n9", "row", "b", b"x" * 100)
    assert [batch.requests for batch in store.form_batches(3, 250, overhead=50)] == [3, 2, 2, 1, 1]


@pytest.mark.parametrize(
    "body", [b"", b"nonsense\n", b'{"custom_id": 3}\n', b"[" * 99_999 + b"\n", b'\xff\xfe{"a"\n']
)
def test_lines_that_are_no_replies_are_passed_over(store, tmp_path, body):
    with BatchServer(ends=lambda _batch, _number: None) as server:
        asked(server, store, 0, 1)
        sent_and_fetched(server, store, tmp_path)
        batch = server.batches[0]
        foreign = json.dumps({"custom_id": "of nobody", "response": {"status_code": 200, "body": {"choices": []}}})
        server.files["odd"] = body + foreign.encode() + b"\n"
        batch.status, batch.output = "completed", "odd"
        (ending,) = sent_and_fetched(server, store, tmp_path)
    assert ending.missing == 1


def test_an_endpoint_without_the_api_is_told_of_by_name(store, tmp_path):
    from loopback import LoopbackServer

    with LoopbackServer() as server:
        asked(server, store, 0, 1)
        with pytest.raises(SummarizerUnusableError, match=r"cannot send a batch .*404.*Files and Batches APIs"):
            sent_and_fetched(server, store, tmp_path)


def test_summaries_of_several_rows_are_asked_for_at_once(store):
    with BatchServer() as server:

        async def all_at_once():
            one = summarizer(server, batches=store)
            results = await asyncio.gather(*(_one(one, number, Usage()) for number in range(20)))
            await one.aclose()
            return results

        results = asyncio.run(all_at_once())
    assert sum(result is not None for result in results) == 1
    assert len(server.seen) == 1
