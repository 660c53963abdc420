"""Compactors: contexts that grow stay in their window, valid and with what must stay in them."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest
from growing import CHATML, NEAR_FULL, SMALL, TARGET, TASK, TOOLS, WINDOW, context, grown, is_valid, step
from shared import tokenizer_folder

from trajcompress import (
    Compactor,
    Compressor,
    count_tokens,
)


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


def test_what_a_listener_raises_is_logged_and_changes_nothing(caplog):
    def listen(event, **_figures):
        raise ValueError(f"no place for {event}")

    messages = context(40)
    with Compactor(**SMALL) as alone, Compactor(**SMALL, on_event=listen) as compactor:
        assert compactor.pressure(messages) > 0.85
        done = compactor.compact_sync(messages)
        assert (done.changed, done.messages) == (True, alone.compact_sync(messages).messages)
    said = set(caplog.messages)
    assert {"on_event failed at the event 'pressure'", "on_event failed at the event 'planned'"} <= said
    assert {record.name for record in caplog.records} == {"trajcompress"}
    assert "no place for planned" in caplog.text


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
