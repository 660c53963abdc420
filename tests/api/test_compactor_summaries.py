"""What stands for what a Compactor took away: its summary, updated as the context grows."""

from __future__ import annotations

import json
from dataclasses import asdict

from growing import SMALL, context, grown, step

from trajcompress import (
    Compactor,
    RunningSummary,
)
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX


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
