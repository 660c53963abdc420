"""Summaries that take the place of earlier ones: passes, pieces of a long middle; a topic, and marks of a chat."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import pytest
from asking import summarizer
from compressing import POLICY, Closing, Writer, assert_adds_up, run, words
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import LoopbackServer
from loopback_replies import saying, some_words
from trajectories import agent_run, examples

from trajcompress.errors import SummaryError
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.chunks import ChunkingSummarizer, least_context
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.prompt import build_prompt
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.transcript.markup import break_markup, find_markup
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import ToolCall, Turn

PREVIOUS = f"""{SUMMARY_PREFIX}
Goal:
- mend the lexer
Actions:
- read_file: src/a.py; src/b.py
- pytest → 3 failed
- … 4 more actions
Results and values:
- port 8081 is in use
- also seen: tok_17, Lexer.next
Files touched:
- src/parser.py (read)
Open ends:
- now run the tests
Also needed later: zz_99"""


def count(text: str) -> int:
    return len(text) // 4


def ask_model(one: Summarizer, request: SummaryRequest, usage: Usage | None = None) -> Summary:
    async def asked() -> Summary:
        try:
            return await one.summarize(request, usage or Usage())
        finally:
            await one.aclose()

    return asyncio.run(asked())


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter(load_tokenizer())


def ask(*region: Turn, target: int = 400, **more) -> SummaryRequest:
    return SummaryRequest("t", (Turn("user", "Mend the lexer.", {}),), region, target, count, **more)


def call(name: str, **arguments: str) -> Turn:
    return Turn("assistant", "", {}, calls=(ToolCall("1", name, json.dumps(arguments)),))


def edit(path: str) -> Turn:
    return call("str_replace_editor", path=path, old_str="a", new_str="b = 1")


def result(text: str) -> Turn:
    return Turn("tool", text, {}, answers=("1",))


def test_a_second_pass_reads_only_what_is_new_and_updates_the_first_summary(counter: TokenCounter):
    trajectory = agent_run(60)
    # The first answer is too long by more than a shorter one would free: the row's estimate is off.
    sizes = iter([300, 300, 60])
    writer = Writer(lambda _: words(next(sizes)))
    turns, row = run(counter, trajectory, writer)
    first, shorter, second = writer.asked
    assert (first.previous, first.answer) == (None, None)
    assert shorter == replace(first, answer=words(300))
    assert (second.previous, second.answer) == (words(300), None)
    assert first.region + second.region == trajectory.turns[row.region_start_idx : row.region_end_idx]
    assert row.compressed_tokens <= 1000
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_a_shorter_answer_is_taken_where_it_is_enough(counter: TokenCounter):
    sizes = iter([250, 60])
    _, row = run(counter, agent_run(60), Writer(lambda _: words(next(sizes))))
    assert (row.passes, row.compressed_tokens <= 1000, row.summary_tokens < 250) == (2, True, True)


def test_an_endpoint_that_writes_twice_as_much_as_asked_costs_few_calls_and_no_budget(counter: TokenCounter):
    trajectory = agent_run(60)
    with LoopbackServer(lambda _: saying(some_words(200))) as server:
        one = summarizer(server)
        turns, row = run(counter, trajectory, Closing(lambda _: "", inner=one))
    assert (row.outcome, row.still_over_limit) == ("compressed", False)
    assert row.summarization_api_calls == len(server.seen) <= POLICY.max_passes
    assert "it had 20" in server.seen[1].text
    assert "The summary so far" not in server.seen[0].text
    assert "The summary so far" in server.seen[2].text
    assert_adds_up(counter, trajectory, POLICY, turns, row)


def test_the_answer_that_was_too_long_and_the_shorter_one_are_kept_under_keys_of_their_own():
    with LoopbackServer() as server:
        one = summarizer(server)
    request = ask(result("x"))
    keys = {
        one.request_key(each)
        for each in (request, replace(request, answer="word " * 900), replace(request, focus="a"))
    }
    keys |= {one.request_key(replace(request, previous=PREVIOUS))}
    assert len(keys) == 4


def test_the_prompt_holds_the_summary_so_far_and_the_topic_as_data():
    prompt = build_prompt(ask(result("x"), previous=PREVIOUS, focus="the lexer {{goal}}")).user
    fence = re.findall(r"^=====TURNS-\w+=====$", prompt, re.MULTILINE)
    assert (len(set(fence)), len(fence)) == (1, 8)
    assert SUMMARY_PREFIX not in prompt
    assert "port 8081 is in use" in prompt
    assert "the lexer {{goal}}" in prompt


def test_the_built_in_summariser_joins_what_was_told_with_what_is_new():
    text = extract(ask(edit("src/parser.py"), result("The file src/parser.py has been edited."), previous=PREVIOUS))
    assert text.count(SUMMARY_PREFIX) == 1
    headings = re.findall(r"^\S.*:$", text, re.MULTILINE)
    assert headings == [SUMMARY_PREFIX, "Requests:", "Steps:", "Before:", "Steps:", "Files changed:"]
    assert text.endswith("Files changed:\n- src/parser.py")
    assert "- port 8081 is in use\n" in text
    assert text.index("pytest → 3 failed") < text.index("str_replace_editor src/parser.py")
    assert "- … 4 more steps\n" in text
    assert "tok_17" in text
    assert "zz_99" not in text  # nobody needs it any more
    assert "zz_99" in extract(ask(result("x"), previous=PREVIOUS, facts=("zz_99",)))


def test_gaps_of_an_earlier_summary_stay_where_they_are_though_they_read_the_same():
    previous = f"{SUMMARY_PREFIX}\nSteps:\n- … 2 more steps\n- ls → a.py\n- … 2 more steps\n- pytest → 3 failed"
    assert extract(ask(previous=previous)) == previous


@pytest.mark.parametrize("requests", ["", "3 more requests, "])
def test_what_was_left_out_is_counted_and_named_by_an_update_too(requests):
    left = f"- … {requests}9 more steps: 4 × grep, 2 × cat, 1 × find, …\n- ls → a.py\n- … 1 more step: make"
    previous = f"{SUMMARY_PREFIX}\nSteps:\n{left}\n- pytest → 3 failed"
    assert extract(ask(previous=previous)) == previous


def test_the_built_in_summariser_reads_what_a_model_wrote():
    written = (
        f"{SUMMARY_PREFIX}\n## Ziel\n- den Parser heilen\n\n**Errors:**\n1. KeyError: 'x'\n\n## Open ends\nlast line"
    )
    text = extract(ask(previous=written))
    assert text == f"{SUMMARY_PREFIX}\nBefore:\n- den Parser heilen\n- KeyError: 'x'\n- last line"


def test_steps_told_together_are_told_once_and_counted_where_an_update_tells_them_again():
    listed = (call("ls", path="."), result("a.py"), call("ls", path="."), result("b.py"))
    text = extract(ask(*listed))
    assert text.endswith("\nSteps:\n- ls . (and 1 more) → b.py")
    again = extract(ask(*listed, previous=f"{text}\n- pytest → 3 failed"))
    assert again.endswith("\nSteps:\n- … 2 more steps: 2 × ls\n- pytest → 3 failed\n- ls . (and 1 more) → b.py")


@given(example=examples(max_words=30), target=st.integers(5, 300), passes=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_updating_over_and_over_stays_in_budget_and_tells_nothing_twice(example, target, passes):
    text = None
    for _ in range(passes):
        request = ask(*example.turns, target=target, previous=text)
        text = extract(request)
        assert text == extract(request)
        assert count(text) <= target or text == SUMMARY_PREFIX
        assert text.count(SUMMARY_PREFIX) == 1
        points = [line for line in text.splitlines() if line.startswith("- ") and not line.startswith("- … ")]
        assert len(points) == len(set(points))


def test_a_topic_gets_the_larger_share_of_a_small_record():
    said = [Turn("assistant", f"The cache at /srv/cache_{n} is full because job_{n} failed.", {}) for n in range(20)]
    said[10] = Turn("assistant", "The billing service charges invoice_77 twice because of a retry.", {})
    assert "invoice_77" not in extract(ask(*said, target=80))
    assert "invoice_77" in extract(ask(*said, target=80, focus="billing"))


SPECIAL = ("<s>", "[CLS]", "<file_sep>")


@pytest.mark.parametrize(
    "mark",
    [
        "<|im_start|>",
        "<tool_call>",
        '<tool_call name="x">',
        "[INST]",
        "[/INST]",
        "<start_of_turn>",
        "<｜User｜>",
        "<s>",
    ],
)
def test_an_answer_with_marks_of_a_chat_is_refused_and_asked_for_again(mark):
    usage = Usage()
    request = ask(result("x"), special_tokens=SPECIAL)
    with LoopbackServer([saying(f"## Goal\n- {mark} go on"), None]) as server:
        summary = ask_model(summarizer(server), request, usage)
    assert (usage.api_calls, usage.errors) == (2, 1)
    assert not find_markup(summary.text, SPECIAL)
    assert "describe such marks in words" in server.seen[1].text


def test_marks_that_the_model_was_given_to_read_are_broken_when_it_insists():
    request = ask(result("the template writes <|im_start|>user"), special_tokens=SPECIAL)
    with LoopbackServer(lambda _: saying("- it writes <|im_start|>user")) as server:
        summary = ask_model(summarizer(server), request)
        assert summary.text == f"{SUMMARY_PREFIX}\n- it writes < |im_start|>user"
        with pytest.raises(SummaryError, match="marked_answer"):
            ask_model(summarizer(server, max_retries=2), replace(request, region=()))
    assert len(server.seen) == 5


@given(st.lists(st.sampled_from(["<", "|", "im_end", ">", "<s", "[", "INST", "]", "tool_call", "/", " ", "a"])))
def test_broken_marks_are_no_marks_and_nothing_else_changes(pieces):
    text = "".join(pieces)
    broken = break_markup(text, SPECIAL)
    assert not find_markup(broken, SPECIAL)
    assert broken.replace(" ", "") == text.replace(" ", "")
    assert break_markup(broken, SPECIAL) == broken


def test_the_built_in_summariser_writes_no_special_token_of_the_target_and_no_end_marker():
    text = f"It prints <file_sep> and [CLS] for src/lexer.py because of {SUMMARY_END} in it."
    summary = extract(ask(Turn("assistant", text, {}), special_tokens=SPECIAL))
    assert not find_markup(summary, SPECIAL)
    assert SUMMARY_END not in summary
    assert "src/lexer.py" in summary


def long_region(steps: int) -> tuple[Turn, ...]:
    return agent_run(steps, words=300).turns[2:-1]


def test_a_long_middle_is_summarised_in_order_and_each_step_updates_the_last():
    region = long_region(12)
    usage = Usage()
    window = 4000
    with LoopbackServer(lambda _: saying(f"- step {len(server.seen)}")) as server:
        one = ChunkingSummarizer(summarizer(server), window)
        summary = ask_model(one, ask(*region, target=200), usage)
    assert summary.text == f"{SUMMARY_PREFIX}\n- step {len(server.seen)}"
    assert usage.api_calls == len(server.seen) > 2
    for number, seen in enumerate(server.seen):
        assert count(seen.text) + seen.body["max_tokens"] <= window
        assert ("The summary so far" in seen.text) == (number > 0)
        assert number == 0 or f"- step {number}\n" in seen.text
    read = "\n".join(str(seen.messages[1]["content"]) for seen in server.seen)
    places = [read.index(turn.text.strip()) for turn in region if turn.text]
    assert places == sorted(places)
    assert "elided" not in read
    for seen in server.seen:  # whole tool groups: each piece begins with a call and ends with its result
        assert "[1] assistant" in seen.text


def test_what_fits_at_once_is_one_request_and_a_turn_beyond_the_window_is_elided_and_counted():
    request = ask(result("x" * 2_900), target=200)
    with LoopbackServer() as server:
        ask_model(ChunkingSummarizer(summarizer(server), 20_000), request)
        assert "elided …]\n" not in server.seen[0].text
        ask_model(ChunkingSummarizer(summarizer(server), 2800), request)
    assert len(server.seen) == 2
    assert "characters elided …]\n" in server.seen[1].text
    assert count(server.seen[1].text) + server.seen[1].body["max_tokens"] <= 2800


def test_a_row_without_room_for_turns_in_the_window_fails_and_says_how_large_it_should_be():
    request = ask(*long_region(12), target=200)
    with LoopbackServer() as server:
        with pytest.raises(SummaryError, match=r"should be \d+ tokens at least") as error:
            ask_model(ChunkingSummarizer(summarizer(server), 1000), request)
        enough = int(re.findall(r"should be (\d+)", str(error.value))[0])
        assert least_context(200, count) < enough
        ask_model(ChunkingSummarizer(summarizer(server), enough), request)


def test_a_topic_reaches_what_is_new_where_an_earlier_summary_only_counts_steps():
    previous = f"{SUMMARY_PREFIX}\nSteps:\n- … besides 3 × read\n- ls → a.py"
    said = (Turn("user", "Look at b.py, not at a.py.", {}), Turn("assistant", "I do.", {}))
    text = extract(SummaryRequest("row", (), said, 500, count, previous=previous, focus="b.py"))
    assert "… 3 more steps" in text
    assert '"Look at b.py, not at a.py."' in text
