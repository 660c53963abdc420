from __future__ import annotations

import asyncio
import copy
import json
from dataclasses import replace

import pytest
from compressing import POLICY, Writer, assert_adds_up, raising, run, words
from msgspec import structs
from trajectories import DIALECTS, Dialect, agent_run, call, openai, read, result

from trajcompress.compaction.region import Protection
from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.summarize.base import Summary, SummaryRequest, Usage
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import LoadedTokenizer, load_tokenizer
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory

ALTERNATING = """
{%- set ns = namespace(users=0, plain=0) -%}
{%- for m in messages -%}
  {%- if m.role == 'user' or (m.role == 'assistant' and not m.tool_calls) -%}
    {%- if (m.role == 'user') != (ns.users == ns.plain) -%}{{ raise_exception('roles must alternate') }}{%- endif -%}
    {%- if m.role == 'user' -%}{%- set ns.users = ns.users + 1 -%}{%- else -%}
    {%- set ns.plain = ns.plain + 1 -%}{%- endif -%}
  {%- endif -%}
  [{{ m.role }}] {{ m.content or '' }} {{ m.tool_calls | tojson if m.tool_calls else '' }}
{%- endfor -%}
{{- tools | tojson if tools else '' -}}
"""


class Sleeper(Writer):
    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        await super().summarize(request, usage)
        await asyncio.sleep(3600)
        raise AssertionError


@pytest.fixture(scope="module")
def tokenizer() -> LoadedTokenizer:
    return load_tokenizer()


@pytest.fixture(scope="module")
def counter(tokenizer: LoadedTokenizer) -> TokenCounter:
    return TokenCounter(tokenizer)


@pytest.fixture(scope="module")
def strict_counter(tokenizer: LoadedTokenizer) -> TokenCounter:
    strict = copy.copy(tokenizer.hf)
    strict.chat_template = ALTERNATING
    return TokenCounter(structs.replace(tokenizer, hf=strict))


def long_turns(*sizes: tuple[str, int]) -> Trajectory:
    return openai(*((role, "word " * size) for role, size in sizes))


def test_a_row_within_the_target_is_skipped_and_costs_no_call(counter: TokenCounter):
    writer = Writer(lambda _: words(1))
    trajectory = agent_run(3)
    exactly = structs.replace(POLICY, target_max_tokens=counter.count(trajectory).tokens)
    turns, row = run(counter, trajectory, writer, exactly)
    assert turns is None
    assert (row.outcome, row.skipped_under_target, row.still_over_limit, row.reason) == (
        "skipped_under_target",
        True,
        False,
        None,
    )
    assert writer.asked == []
    assert_adds_up(counter, trajectory, exactly, turns, row)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_long_run_is_compressed_into_the_target(counter: TokenCounter, dialect: Dialect):
    trajectory = agent_run(30, dialect)
    turns, row = run(counter, trajectory)
    assert turns is not None
    assert row.outcome == "compressed"
    assert row.compressed_tokens <= 1000 < row.original_tokens
    assert row.summarizer == "extractive"
    assert 0 < row.summary_tokens <= 100
    assert row.passes in {1, 2}, "where a summary is shorter than it might be, another leaves more turns in the row"
    assert (row.summarization_api_calls, row.trajectory_id) == (0, "t")
    assert (row.input_format, row.count_method, row.count_engine) == (
        trajectory.format,
        "content",
        counter.engine,
    )
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_what_was_compressed_is_left_alone_the_next_time(counter: TokenCounter):
    trajectory = agent_run(30)
    turns, _ = run(counter, trajectory, policy=structs.replace(POLICY, notice="Summarised."))
    again = read_trajectory(replace_turns(trajectory, turns), "row:0", FormatOptions())
    assert run(counter, again)[1].outcome == "skipped_under_target"


def test_the_summariser_gets_the_region_the_head_and_the_budget(counter: TokenCounter):
    trajectory = agent_run(36)
    writer = Writer(lambda _: words(20))
    _, row = run(counter, trajectory, writer)
    asked, again = writer.asked
    assert again == replace(asked, answer=words(20))  # it left out facts
    assert asked.head == trajectory.turns[: row.region_start_idx]
    assert asked.region == trajectory.turns[row.region_start_idx : row.region_end_idx]
    assert asked.target_tokens == 100
    assert asked.count("word word") == counter.count_text("word word")
    assert (row.summarizer, row.summarization_api_calls, row.prompt_tokens, row.latency_s) == ("writer", 2, 100, 0.5)


@pytest.mark.parametrize(
    ("trajectory", "reason"),
    [
        (long_turns(("user", 600), ("user", 600)), "no_middle"),
        (long_turns(("user", 600), ("assistant", 600), ("user", 600)), "head"),
        (
            long_turns(("user", 10), ("assistant", 10), ("user", 40), ("assistant", 40), ("user", 1200)),
            "single_turn",
        ),
        (
            long_turns(("user", 10), ("assistant", 10), ("user", 40), ("assistant", 40), ("user", 930)),
            "tail",
        ),
    ],
)
def test_a_row_that_cannot_gain_is_unchanged_and_costs_no_call(
    counter: TokenCounter, trajectory: Trajectory, reason: str
):
    writer = Writer(lambda _: words(1))
    rules = structs.replace(POLICY, protection=Protection(last_n_turns=1))
    turns, row = run(counter, trajectory, writer, rules)
    assert turns is None
    assert (row.outcome, row.reason, row.still_over_limit, row.error) == ("unchanged", reason, True, None)
    assert writer.asked == []
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_a_failed_summary_keeps_the_original_and_says_what_it_cost(counter: TokenCounter):
    trajectory = agent_run(30)
    turns, row = run(counter, trajectory, raising(SummaryError("empty_answer", "the model said nothing")))
    assert turns is None
    assert (row.outcome, row.reason) == ("failed", "empty_answer")
    assert row.error == "empty_answer: the model said nothing"
    assert (row.summarization_api_calls, row.prompt_tokens, row.passes) == (1, 50, 1)
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_a_summary_that_fails_the_second_time_has_cost_both(counter: TokenCounter):
    def write(request: SummaryRequest) -> str:
        if len(writer.asked) == 1:
            return words(400)
        raise SummaryError("overloaded")

    writer = Writer(write)
    turns, row = run(counter, agent_run(60), writer)
    assert turns is None
    assert (row.outcome, row.reason, row.summarization_api_calls, row.passes) == ("failed", "overloaded", 2, 2)
    assert row.compressed_tokens == row.original_tokens


def test_an_unusable_summariser_stops_the_run(counter: TokenCounter):
    writer = raising(SummarizerUnusableError("bad_key"))
    with pytest.raises(SummarizerUnusableError):
        run(counter, agent_run(30), writer)
    assert len(writer.asked) == 1


def test_a_row_that_takes_too_long_fails_and_says_what_it_cost(counter: TokenCounter):
    trajectory = agent_run(30)
    rules = structs.replace(POLICY, timeout_s=0.2)
    turns, row = run(counter, trajectory, Sleeper(lambda _: words(1)), rules)
    assert turns is None
    assert (row.outcome, row.reason, row.summarization_api_calls) == ("failed", "trajectory_timeout", 1)
    assert "0.2 s" in row.error
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_time_spent_in_a_queue_does_not_count(counter: TokenCounter):
    class Queued(Writer):
        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            for _ in range(3):
                with request.waiting(), request.waiting():
                    await asyncio.sleep(0.7)
            return await super().summarize(request, usage)

    rules = structs.replace(POLICY, timeout_s=2)
    assert run(counter, agent_run(30), Queued(lambda _: words(20)), rules)[1].outcome == "compressed"


def test_after_a_queue_the_time_out_goes_on(counter: TokenCounter):
    class Queued(Sleeper):
        async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
            with request.waiting():
                await asyncio.sleep(0)
            return await super().summarize(request, usage)

    row = run(counter, agent_run(30), Queued(lambda _: words(20)), structs.replace(POLICY, timeout_s=0.2))[1]
    assert row.reason == "trajectory_timeout"


def test_a_summary_as_long_as_what_it_replaces_is_not_taken(counter: TokenCounter):
    trajectory = long_turns(("user", 1), ("assistant", 1), *[("assistant", 100)] * 5, ("user", 1200))
    turns, row = run(counter, trajectory, Writer(lambda _: words(20_000)))
    assert turns is None
    assert (row.outcome, row.reason) == ("unchanged", "single_turn")
    assert row.summarization_api_calls == row.passes >= 1
    assert_adds_up(counter, trajectory, POLICY, turns, row)


@pytest.mark.parametrize(
    ("turns", "summary_words", "passes", "reason"),
    [
        ([("user", 600), ("assistant", 600)] + [("assistant", 100)] * 5 + [("user", 1)], 50, 3, "head"),
        ([("user", 600), ("assistant", 1)] + [("assistant", 100)] * 5 + [("user", 500)], 50, 3, "head"),
        ([("user", 500), ("assistant", 1)] + [("assistant", 100)] * 5 + [("user", 600)], 50, 3, "tail"),
        ([("user", 1), ("assistant", 1)] + [("assistant", 100)] * 5 + [("user", 1200)], 50, 3, "single_turn"),
    ],
)
def test_a_row_that_stays_over_the_limit_says_why(
    counter: TokenCounter, turns: list[tuple[str, int]], summary_words: int, passes: int, reason: str
):
    rules = structs.replace(POLICY, protection=Protection(last_n_turns=1), max_passes=passes)
    trajectory = long_turns(*turns)
    made, row = run(counter, trajectory, Writer(lambda _: words(summary_words)), rules)
    assert (row.outcome, row.still_over_limit, row.reason) == ("compressed", True, reason)
    assert_adds_up(counter, trajectory, rules, made, row)


def test_turns_that_the_template_shortens_do_not_end_the_search(tokenizer: LoadedTokenizer):
    talk_only = copy.copy(tokenizer.hf)
    talk_only.chat_template = "{% for m in messages %}[{{ m.role }}] {{ m.content or '' }} {% endfor %}"
    counter = TokenCounter(structs.replace(tokenizer, hf=talk_only))
    asked = call()
    asked["tool_calls"][0]["function"]["arguments"] = json.dumps({"text": "word " * 150})
    trajectory = read([{"role": "user", "content": "go"}, *[asked, result("a", "word " * 60)] * 40])
    made, row = run(counter, trajectory)
    assert row.count_method == "template"
    assert row.compressed_tokens <= 1000
    assert_adds_up(counter, trajectory, POLICY, made, row)


def test_tool_definitions_may_be_what_keeps_a_row_over_the_limit(strict_counter: TokenCounter):
    tools = [{"type": "function", "function": {"name": f"tool_{i}", "description": "does it"}} for i in range(60)]
    trajectory = structs.replace(agent_run(10), tools=tools)
    made, row = run(strict_counter, trajectory)
    assert (row.outcome, row.still_over_limit, row.reason) == ("compressed", True, "tools_schema")
    assert_adds_up(strict_counter, trajectory, POLICY, made, row)


def test_a_text_that_cannot_be_counted_keeps_the_row_and_counts_as_over(counter: TokenCounter):
    writer = Writer(lambda _: words(1))
    turns, row = run(counter, openai(("user", "half a pair: \ud83d"), ("assistant", "words")), writer)
    assert turns is None
    assert (row.outcome, row.reason, row.still_over_limit) == ("unchanged", "uncountable_text", True)
    assert row.original_tokens is row.compressed_tokens is row.tokens_saved is None
    assert "surrogate" in row.error
    assert writer.asked == []


def test_a_summary_that_cannot_be_counted_is_a_failed_summary(counter: TokenCounter):
    trajectory = agent_run(30)
    turns, row = run(counter, trajectory, Writer(lambda _: f"{SUMMARY_PREFIX} \ud83d"))
    assert turns is None
    assert (row.outcome, row.reason, row.summarization_api_calls) == ("failed", "uncountable_summary", 1)
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_a_template_that_takes_no_user_after_a_result_gets_the_summary_folded(strict_counter: TokenCounter):
    trajectory = agent_run(30)
    turns, row = run(strict_counter, trajectory)
    assert (row.outcome, row.count_method, row.placement) == ("compressed", "template", "fold")
    assert strict_counter.count(structs.replace(trajectory, turns=turns)).method == "template"
    assert_adds_up(strict_counter, trajectory, POLICY, turns, row)


def test_a_result_that_the_template_refuses_is_not_written(strict_counter: TokenCounter):
    trajectory = agent_run(30)
    rules = structs.replace(POLICY, placement="human")
    turns, row = run(strict_counter, trajectory, policy=rules)
    assert turns is None
    assert (row.outcome, row.reason, row.still_over_limit) == ("unchanged", "template_refuses_summary", True)
    assert_adds_up(strict_counter, trajectory, rules, turns, row)


def test_a_row_that_the_template_refuses_already_is_compressed_by_its_content(strict_counter: TokenCounter):
    said = [{"role": role, "content": "word " * 50} for role in ("assistant", "assistant", "user", "assistant")]
    trajectory = read([*said, *[call(), result()] * 60, *said])
    turns, row = run(strict_counter, trajectory)
    assert (row.outcome, row.count_method) == ("compressed", "content_template_refused")
    assert "alternate" in row.count_note
    assert_adds_up(strict_counter, trajectory, POLICY, turns, row)


def test_where_little_room_is_left_the_summary_is_asked_for_that_short(counter: TokenCounter):
    trajectory = long_turns(("user", 10), ("assistant", 10), *[("assistant", 100)] * 10, ("user", 800))
    rules = structs.replace(POLICY, summary_size=500, protection=Protection(last_n_turns=1))
    turns, row = run(counter, trajectory, policy=rules)
    assert row.compressed_tokens <= 1000
    assert (row.outcome, row.still_over_limit, row.reason) == ("compressed", False, None)
    assert 100 <= rules.target_max_tokens - 820 < 500
    assert_adds_up(counter, trajectory, rules, turns, row)
