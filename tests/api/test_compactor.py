"""Compactors: contexts of running agents, as they grow, fail to be summarised, and are given wrong."""

from __future__ import annotations

import asyncio
import json
import pickle
from dataclasses import FrozenInstanceError, asdict
from inspect import signature
from types import SimpleNamespace

import pytest
from loopback import LoopbackServer
from loopback_replies import failed, hang, saying, server_error
from shared import tokenizer_folder

from trajcompress import (
    Compactor,
    Compressor,
    InputError,
    RunningSummary,
    SettingsError,
    SummaryError,
    count_tokens,
)
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.settings.keywords import CompactOptions
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.validity import violations

WINDOW = 4000
NEAR_FULL = 0.85 * WINDOW
TARGET = WINDOW // 2
TASK = "Find out why the build of the parser fails, and mend it."
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Look at a module. " * 20}}]
CHATML = str(tokenizer_folder("chatml"))
SMALL = {"context_window": WINDOW, "summary_target_tokens": 300, "tokenizer": CHATML}


def step(number, lines=6):
    """A call of a tool with its result."""
    call = {"name": "look", "arguments": json.dumps({"path": f"src/module_{number}.py"})}
    listing = "\n".join(
        f"{number}:{line}: def handle_{line}(node): raise ValueError({line})" for line in range(lines)
    )
    return [
        {
            "role": "assistant",
            "content": f"Step {number}: I look at module {number} next, as the last one named it.",
            "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
        },
        {"role": "tool", "tool_call_id": f"call_{number}", "content": listing},
    ]


def context(steps, system="You are a careful engineer.", task=TASK):
    opening = [{"role": "system", "content": system}, {"role": "user", "content": task}]
    return opening + [message for number in range(steps) for message in step(number)]


def is_valid(messages):
    turns = read_trajectory({"messages": messages}, "x", FormatOptions()).turns
    return violations(turns, "openai") == ()


def grown(compactor, steps, requests=(), **given):
    """Let a conversation grow by steps, compacted before each; yield each result, and all that was said by then."""
    messages, said, summary = context(0), context(0), None
    for number in range(steps):
        if number in dict(requests):
            new = [
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": dict(requests)[number]},
            ]
            messages, said = messages + new, said + new
        done = compactor.compact_sync(messages, previous=summary, **given)
        yield done, said
        messages, summary = done.messages + step(number), done.summary
        said = said + step(number)


def test_below_85_percent_nothing_changes():
    with Compactor(**SMALL) as compactor:
        messages = context(3)
        done = compactor.compact_sync(messages)
        assert done.messages == messages
        assert (done.changed, done.reason, done.summary, done.metrics) == (False, "fits", None, None)
        assert done.tokens_before == done.tokens_after == count_tokens(messages, tokenizer=CHATML)
    with pytest.raises(FrozenInstanceError):
        done.changed = True


@pytest.mark.parametrize("tokenizer", ["unigram", "chatml", "llama3", "strict-roles"])
def test_a_context_that_grows_stays_in_its_window_valid_and_with_its_requests(tokenizer):
    name = str(tokenizer_folder(tokenizer))
    request = "Now do the same for the lexer. " * 8
    changes = 0
    with Compactor(**SMALL | {"tokenizer": name}) as compactor, Compressor(tokenizer=name) as counter:
        sent = []
        for number, (done, said) in enumerate(grown(compactor, 120, {40: request}, tools=TOOLS)):
            assert done.tokens_after == sent_tokens(counter, done.messages, has_template=tokenizer != "unigram")
            assert done.tokens_after < NEAR_FULL
            assert is_valid(done.messages) or number == 0
            asked = request if number >= 40 else TASK
            assert any(each["role"] == "user" and each["content"].endswith(asked) for each in done.messages)
            if done.changed:
                changes += 1
                assert done.tokens_before >= NEAR_FULL
                assert done.tokens_after <= TARGET
                assert done.messages[:3] == said[:3], "system prompt, task and first step as they were"
            else:
                assert bytes_of(done.messages).startswith(bytes_of(sent)), "what went before is found in a cache"
            sent = done.messages
    assert changes >= 5
    assert done.summary is not None


def sent_tokens(counter, messages, *, has_template):
    """Count messages and tools; without a template turns alone are counted, so the tools come on top."""
    tokens = counter.count_tokens({"messages": messages, "tools": TOOLS})
    return tokens if has_template else tokens + counter.count_tokens([{"role": "user", "content": json.dumps(TOOLS)}])


def bytes_of(messages):
    return json.dumps(messages).removesuffix("]").encode()


def test_a_template_that_wants_roles_to_alternate():
    name = str(tokenizer_folder("alternating"))
    messages, summary = [], None
    with Compactor(**SMALL | {"tokenizer": name}) as compactor, Compressor(tokenizer=name) as counter:
        for number in range(60):
            messages += [{"role": "user", "content": f"Question {number}: " + "what of this? " * 10}]
            done = compactor.compact_sync(messages, previous=summary)
            assert done.tokens_after == counter.count_tokens(done.messages) < NEAR_FULL
            roles = [message["role"] for message in done.messages]
            assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
            assert done.messages[-1]["content"].endswith(messages[-1]["content"])
            messages, summary = done.messages, done.summary
            messages += [{"role": "assistant", "content": f"Answer {number}: " + "it is so, and so. " * 12}]
    assert summary is not None


def test_what_a_summary_covers_is_told_in_messages_of_the_whole_conversation():
    seen = set()
    with Compactor(**SMALL) as compactor:
        for done, said in grown(compactor, 120, {3: "One thing more.", 60: "And another."}):
            if done.summary is None:
                continue
            summary = done.summary
            seen.add(summary.kept)
            behind = done.messages[summary.message + 1 :]
            told = [(each["role"], each.get("tool_calls")) for each in behind]
            assert told == [(each["role"], each.get("tool_calls")) for each in said[summary.end :]]
            assert done.messages[: summary.start][:2] == said[:2]
            assert summary.text in done.messages[summary.message]["content"]
            assert sum(SUMMARY_PREFIX in str(each["content"]) for each in done.messages) == 1
    assert seen == {0, 1}, "with the last request among what is covered, and without"


def test_the_summary_before_is_updated_and_no_turn_and_nobody_looks_into_the_future():
    asked = []

    def writer(given):
        asked.append(given)
        return f"Summary {len(asked)} tells that modules up to {len(asked)} were looked at, and that all raise."

    with Compactor(**SMALL, summarizer=writer) as compactor:
        done = [done for done, _ in grown(compactor, 80) if done.changed and done.summary]
    assert len(asked) >= 3
    assert asked[0].previous is None
    for number, given in enumerate(asked[1:], 1):
        assert given.previous is not None
        assert f"Summary {number} tells" in given.previous
        assert f"Summary {number} tells" not in given.turns
        assert SUMMARY_PREFIX not in given.turns
    assert {given.facts for given in asked} == {()}
    assert done[-1].metrics.facts_needed is None


def test_a_summary_that_is_not_handed_in_is_known_by_its_mark():
    messages = context(0)
    with Compactor(**SMALL) as compactor:
        for number in range(80):
            done = compactor.compact_sync(messages)
            assert sum(SUMMARY_PREFIX in str(each["content"]) for each in done.messages) <= 1
            messages = done.messages + step(number)
    assert any(SUMMARY_PREFIX in str(each["content"]) for each in messages)


def test_a_summary_is_kept_as_json_and_handed_in_to_another_compactor():
    with Compactor(**SMALL) as compactor:
        done = [done for done, _ in grown(compactor, 40) if done.summary][-1]
    kept = RunningSummary(**json.loads(json.dumps(asdict(done.summary))))
    assert kept == done.summary
    more = done.messages + [message for number in range(40, 60) for message in step(number)]
    with Compactor(**SMALL) as compactor:
        again = compactor.compact_sync(more, previous=kept)
    assert again.changed
    assert again.summary.end > kept.end
    assert "module_" in again.summary.text


def test_the_latest_observation_stays_whole_before_old_turns_do():
    with Compactor(**SMALL) as compactor:
        for done, said in grown(compactor, 80):
            assert done.messages[-1] == said[-1]


@pytest.mark.parametrize("size", [1, 3])
def test_a_huge_observation_is_cut_and_the_request_is_not(size):
    request = "Tell me what this says: " + "these words stay as they are, " * 60
    messages = [*context(2), {"role": "assistant", "content": "Done."}, {"role": "user", "content": request}]
    messages += step(9, lines=size * 400)
    with Compactor(**SMALL) as compactor:
        done = compactor.compact_sync(messages)
    assert done.tokens_before > WINDOW
    assert done.tokens_after < NEAR_FULL
    assert is_valid(done.messages)
    assert any(message["content"].endswith(request) for message in done.messages)


def test_a_first_step_that_takes_most_of_the_window_goes():
    messages = context(0)
    first = step(0)
    first[0]["content"] += " That is a long plan." * 600
    with Compactor(**SMALL) as compactor:
        done = compactor.compact_sync([*messages, *first, *(message for n in range(1, 6) for message in step(n))])
    assert done.tokens_before > NEAR_FULL
    assert done.tokens_after <= TARGET
    assert is_valid(done.messages)
    assert done.messages[0] == messages[0]
    assert TASK in done.messages[1]["content"]


def test_a_request_that_is_larger_than_the_window_stays_and_it_says_why():
    messages = context(3, task="Mend what is wrong in this: " + "some words of code " * 1200)
    with Compactor(**SMALL) as compactor:
        done = compactor.compact_sync(messages)
    assert not done.changed
    assert done.messages == messages
    assert done.reason in {"single_turn", "head"}


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


def test_pressure_is_the_share_of_the_window_and_warns_at_85_percent():
    heard = []
    with Compactor(**SMALL, on_event=lambda event, **figures: heard.append((event, figures))) as compactor:
        low, high = context(3), context(40)
        assert compactor.pressure(low) == count_tokens(low, tokenizer=CHATML) / WINDOW
        assert compactor.pressure(low, tools=TOOLS) > compactor.pressure(low)
        assert heard == []
        assert compactor.pressure(high) > 0.85
        tokens = count_tokens(high, tokenizer=CHATML)
        assert heard == [("pressure", {"tokens": tokens, "window": WINDOW, "share": round(tokens / WINDOW, 4)})]
        compactor.compact_sync(high)
    assert "planned" in [event for event, _ in heard]


def test_many_conversations_beside_a_loop_share_the_limits(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    async def all_of_them(compactor):
        inside = compactor.compact_sync(context(40, task="The first."))
        contexts = [context(40, task=f"Task {number}.") for number in range(6)]
        return [inside, *await asyncio.gather(*map(compactor.compact, contexts))]

    with (
        LoopbackServer(latency=0.05) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url, max_concurrent_requests=2) as compactor,
    ):
        done = asyncio.run(all_of_them(compactor))
    assert server.most_at_once == 2
    assert [each.messages[1]["content"] for each in done] == ["The first."] + [f"Task {n}." for n in range(6)]
    assert all(each.changed and each.metrics.summarizer == "writer" for each in done)


def test_a_task_that_is_cancelled_ends_the_call(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")

    async def cancelled(compactor):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(compactor.compact(context(40)), 0.5)
        return await compactor.compact(context(40))

    with (
        LoopbackServer([hang()]) as server,
        Compactor(**SMALL, model="writer", base_url=server.base_url) as compactor,
    ):
        assert asyncio.run(cancelled(compactor)).changed


def test_secrets_stay_here_and_paid_summaries_are_found(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    secret = "sk-" + "a1B2c3D4" * 6
    messages = context(40)
    messages[9]["content"] += f"\napi_key={secret}"
    with LoopbackServer() as server:
        for _ in range(2):
            with Compactor(**SMALL, model="writer", base_url=server.base_url, cache=str(tmp_path)) as compactor:
                done = compactor.compact_sync(messages)
    assert done.metrics.cache_hits == len(server.seen) == 1
    assert secret not in server.seen[0].text
    assert secret not in str(done.messages)


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


def test_closed_and_pickled():
    async def cell():
        async with Compactor(**SMALL) as compactor:
            return compactor, await compactor.compact(context(40))

    compactor, done = asyncio.run(cell())
    with pytest.raises(RuntimeError, match="this Compactor is closed"):
        compactor.compact_sync(context(1))
    with pytest.raises(RuntimeError, match="closed"):
        compactor.pressure(context(1))
    with pickle.loads(pickle.dumps(compactor)) as other:  # noqa: S301 - our own
        assert other.compact_sync(context(40)) == done


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"messages": "text"}, "argument messages: should be a list of messages, not str"),
        ({"messages": 5}, "argument messages: should be a list of messages, not int"),
        ({"messages": {"messages": []}}, "argument messages: should be a list of messages, not dict"),
        ({"messages": []}, "argument messages"),
        ({"messages": [5]}, "argument messages: message 0 should be a mapping, not int"),
        ({"messages": [{"content": "x"}]}, "argument messages"),
        ({"messages": [{"role": "user", "content": "\ud800"}]}, "argument messages"),
        ({"tools": "look"}, "argument tools: should be a list of tools"),
        ({"tools": ["look"]}, "argument tools: should be a list of tools"),
        (
            {"previous": "the summary"},
            "argument previous: should be the summary of the last result, or None, not str",
        ),
        ({"previous": RunningSummary("x", 1, 1, 5)}, "argument previous: its summary does not stand in message 1"),
        ({"previous": RunningSummary("x", 99, 1, 5)}, "argument previous: its summary does not stand in message 99"),
        ({"previous": RunningSummary("x", "1", 1, 5)}, "argument previous: its summary does not stand in message 1"),
    ],
)
def test_wrong_arguments_are_named(given, words):
    with Compactor(**SMALL) as compactor, pytest.raises(InputError, match=words):
        compactor.compact_sync(**{"messages": context(2), **given})


def test_an_object_of_a_client_is_refused_with_what_to_do():
    message = SimpleNamespace(role="assistant", content="x", model_dump=dict)
    with Compactor(**SMALL) as compactor, pytest.raises(InputError, match=r"give message\.model_dump"):
        compactor.compact_sync([*context(0), message])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"context_window": "4000"}, "argument context_window: should be a number of tokens, not '4000'"),
        ({"context_window": True}, "argument context_window"),
        ({"context_window": -1}, "argument context_window"),
        ({"context_window": 300}, "argument context_window.*summary_target_tokens"),
        (
            {"target_max_tokens": 3900},
            "argument target_max_tokens, argument context_window: 3900 should be below 85%",
        ),
        ({"cool_down": -1}, "argument cool_down"),
        ({"cool_down": float("nan")}, "argument cool_down"),
        ({"cool_down": None}, "argument cool_down"),
        ({"on_event": "print"}, "argument on_event"),
        ({"last_n_turns": 3}, "argument last_n_turns: is an option of Compressor, not of Compactor"),
        ({"limit": 3}, "argument limit: is an option of compress_dataset, not of Compactor"),
        ({"target_max_token": 3}, "did you mean target_max_tokens"),
        ({"placement": "middle"}, "argument placement"),
    ],
)
def test_wrong_options_are_named(wrong, words):
    with pytest.raises(SettingsError, match=words):
        Compactor(**{**SMALL, **wrong})


def test_one_of_window_and_target_is_enough_and_what_is_of_data_sets_means_nothing(tmp_path):
    config = tmp_path / "c.yaml"
    settings = "{target_max_tokens: 2000, summary_target_tokens: 300, mode: segments}"
    config.write_text(f"compression: {settings}\noutput: {{marks: train}}\n")
    with (
        Compactor(**SMALL) as by_window,
        Compactor(target_max_tokens=TARGET, summary_target_tokens=300, tokenizer=CHATML) as by_target,
        Compactor(config, tokenizer=CHATML) as by_file,
    ):
        done = [each.compact_sync(context(40)) for each in (by_window, by_target, by_file)]
    assert done[0].changed
    assert done[0] == done[1] == done[2]


def test_help_lists_the_options():
    for name in CompactOptions.__annotations__:
        assert f"    {name}: " in Compactor.__doc__
        assert name in signature(Compactor).parameters
