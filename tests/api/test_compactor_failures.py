"""Compactors whose summaries fail, or save next to nothing: the context stays, and is left alone for a while."""

from __future__ import annotations

from growing import SMALL, context, step
from loopback import LoopbackServer
from loopback_replies import failed, hang, saying, server_error

from trajcompress import (
    Compactor,
    SummaryError,
)


def failing(given):
    raise SummaryError("no_words", "nothing came to mind")


def test_a_failure_leaves_the_messages_and_the_conversation_cools_down():
    messages, other = context(40), context(40, task="Another task.")
    with Compactor(**SMALL, summarizer=failing) as compactor:
        done = compactor.compact_sync(messages)
        assert (done.messages, done.changed, done.reason) == (messages, False, "no_words")
        assert "nothing came to mind" in done.error
        assert done.metrics.passes == 1
        more = messages + step(40)
        again = compactor.compact_sync(more)
        assert (again.messages, again.reason, again.metrics) == (more, "cooling_down", None)
        assert compactor.compact_sync(other).reason == "no_words", "another conversation is none of its business"
    with Compactor(**SMALL, summarizer=failing, cool_down=0) as compactor:
        assert [compactor.compact_sync(messages).reason for _ in range(2)] == ["no_words"] * 2
    with Compactor(**SMALL, summarizer=failing, on_failure="extractive") as compactor:
        assert compactor.compact_sync(messages).changed


def test_what_failed_for_long_is_asked_again():
    calls = []

    def writer(_):
        calls.append(1)
        if len(calls) <= 3:
            raise ValueError("not yet")
        return "All modules were looked at in order, and each of them raises for its case."

    with Compactor(**SMALL, summarizer=writer, cool_down=0, max_failures_in_a_row=2) as compactor:
        reasons = [compactor.compact_sync(context(40)).reason for _ in range(4)]
    assert reasons[:3] == ["summarizer_error"] * 3
    assert len(calls) == 4
    assert reasons[3] != "summarizer_error"


def test_a_server_that_was_down_is_asked_again(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with (
        LoopbackServer([server_error(503)] * 3) as server,
        Compactor(
            **SMALL, model="writer", base_url=server.base_url, cool_down=0, max_outage=0.1, max_retries=0
        ) as compactor,
    ):
        done = [compactor.compact_sync(context(40)) for _ in range(4)]
    assert done[0].reason == "every_call_fails"
    assert done[-1].changed


def test_a_refused_key_is_a_reason_and_no_error_and_passes(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    refusals = [failed(401, "Incorrect API key provided.", "invalid_api_key")]
    with (
        LoopbackServer(refusals) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url, cool_down=0) as compactor,
    ):
        refused, done = (compactor.compact_sync(context(40)) for _ in range(2))
    assert not refused.changed
    assert "Incorrect API key" in refused.error
    assert done.changed
    assert done.metrics.summarizer == "writer"


def test_a_server_that_hangs_holds_nobody_up(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    messages = context(40)
    with (
        LoopbackServer(lambda _: hang()) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url, per_trajectory_timeout=0.3) as compactor,
    ):
        done = compactor.compact_sync(messages)
    assert (done.messages, done.reason) == (messages, "trajectory_timeout")
    assert done.error == "no result within 0.3 s"


def test_compactions_that_save_next_to_nothing_stop_until_the_context_has_grown():
    """The system prompt alone takes most of the window."""
    messages, summary, tried = context(0, system="Heed each of these rules. " * 760), None, []
    with Compactor(**SMALL) as compactor:
        for number in range(60):
            done = compactor.compact_sync(messages, previous=summary)
            assert done.messages == messages or done.tokens_after < done.tokens_before
            if done.reason != "fits":
                tried.append((done.reason, done.tokens_before, done.tokens_after))
            messages, summary = done.messages + step(number, lines=1), done.summary
    stopped = [number for number, (reason, _, _) in enumerate(tried) if reason == "saves_too_little"]
    assert stopped
    first = stopped[0]
    assert all(before - after < 0.1 * before for _, before, after in tried[first - 2 : first])
    again = next(number for number in range(first, len(tried)) if tried[number][0] != "saves_too_little")
    assert tried[again][1] >= 1.1 * tried[first - 1][2] > tried[again - 1][1]


def test_answers_that_are_no_summaries_change_nothing(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    refusal = saying("I'm sorry, but I can't help with that.")
    messages = context(40)
    with (
        LoopbackServer(lambda _: refusal) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url, max_retries=0) as compactor,
    ):
        done = compactor.compact_sync(messages)
    assert (done.messages, done.changed) == (messages, False)
    assert done.metrics.non_summaries
