"""The default ladder: what is cleared, truncated, summarised and restored, and in which order."""

from __future__ import annotations

import re

import pytest
from clearing import FIRST, measured
from compressing import Writer, assert_adds_up, run, words
from msgspec.structs import replace
from pruning import call
from trajectories import agent_run, read, result

from trajcompress.compaction.order import recent_observations, truncation_order
from trajcompress.compaction.over_limit import truncated
from trajcompress.compaction.policy import Policy, Skip, Strategy
from trajcompress.compaction.region import Protection
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import clear_observations, leave_shortest_lines
from trajcompress.compaction.strategies.leave_bare_lines import leave_bare_lines
from trajcompress.compaction.text.line import is_line
from trajcompress.run.build.components import build_policy
from trajcompress.settings import resolve
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn

MARK = re.compile(r"\[… [\d,]+ characters elided")
SAY = {"role": "assistant", "content": "I go on with this for a while. " * 12}


def observing(*sizes: int, say: bool = False, ask: str = "Mend it.") -> Trajectory:
    """A task, and a call with an observation of about so many tokens for each size."""
    steps = [
        message
        for number, size in enumerate(sizes)
        for message in (
            call("read_file", f"c{number}", path=f"m{number}.py"),
            result(f"c{number}", " ".join(f"w{number}" for _ in range(size // 2))),
            *([SAY] if say else []),
        )
    ]
    return read([{"role": "user", "content": ask}, *steps, {"role": "assistant", "content": "Done."}])


def observations(turns: tuple[Turn, ...]) -> list[str]:
    """Say of each observation what became of it."""
    return [
        "line" if is_line(turn.text) else "cut" if MARK.search(turn.text) else "whole"
        for turn in turns
        if turn.answers
    ]


def with_target(counter: TokenCounter, trajectory: Trajectory, less: int, **changes) -> Policy:
    """Return rules whose target is so many tokens less than the row."""
    return replace(FIRST, target_max_tokens=counter.count(trajectory).tokens - less, **changes)


def applied(strategy: Strategy, state: State, policy: Policy) -> State:
    """Apply a strategy that asks for no summary; the same state where there is nothing for it to do."""
    try:
        next(strategy(state, policy))
    except StopIteration as done:
        return state if isinstance(done.value, Skip) else done.value
    raise AssertionError


# The order


@pytest.mark.parametrize(
    ("less", "expected"),
    [(300, ["whole", "line", *["whole"] * 6]), (600, ["whole", "line", "line", *["whole"] * 5])],
)
def test_old_observations_are_cleared_before_the_first_is_truncated(
    counter: TokenCounter, less: int, expected: list[str]
):
    trajectory = observing(*[500] * 8)
    rules = with_target(counter, trajectory, less, keep_observations=3)
    writer = Writer(lambda _: words(50))
    turns, row = run(counter, trajectory, writer, rules)
    got = observations(turns)
    assert (writer.asked, row.still_over_limit) == ([], False)
    assert [want if have != "cut" or want == "cut" else "line" for have, want in zip(got, expected, strict=True)] == (
        expected
    )
    assert set(got[3:]) == {"whole"}
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_turns_are_summarised_before_the_latest_observations_are_truncated(counter: TokenCounter):
    trajectory = observing(*[120] * 20, 280, 280, say=True)
    rules = replace(FIRST, target_max_tokens=2600, keep_observations=2)
    writer = Writer(lambda _: words(50))
    turns, row = run(counter, trajectory, writer, rules)
    assert len(writer.asked) == 1
    assert observations(turns)[-2:] == ["cut", "whole"]
    assert not row.still_over_limit
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_no_turn_is_summarised_where_an_eighth_of_the_target_is_enough_for_the_last_observations(
    counter: TokenCounter,
):
    trajectory = observing(*[60] * 20, 500, 120, say=True)
    rules = with_target(counter, trajectory, 150, keep_observations=2)
    state = measured(counter, trajectory, rules)
    recent = recent_observations(state, rules)
    assert (len(recent.whole), len(recent.latest)) == (2, 1)
    writer = Writer(lambda _: words(50))
    turns, row = run(counter, trajectory, writer, rules)
    assert (writer.asked, observations(turns)[-2:]) == ([], ["cut", "whole"])
    assert row.reason == "elided"
    assert not row.still_over_limit
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_the_last_observations_are_truncated_oldest_first_where_nothing_else_helps(counter: TokenCounter):
    trajectory = observing(80, 80, 600, 600, ask="please " * 5000)
    rules = with_target(counter, trajectory, 300, keep_observations=2, protection=Protection(last_n_turns=99))
    assert recent_observations(measured(counter, trajectory, rules), rules).whole == {6, 8}
    turns, row = run(counter, trajectory, Writer(lambda _: words(50)), rules)
    assert observations(turns) == ["whole", "whole", "cut", "whole"]
    assert (row.reason, row.still_over_limit) == ("elided", False)
    assert_adds_up(counter, trajectory, rules, turns, row)


# The last observations


@pytest.mark.parametrize(("keep", "last"), [(0, set()), (2, {8, 10}), (5, {2, 4, 6, 8, 10}), (9, {2, 4, 6, 8, 10})])
def test_the_last_observations_are_those_of_the_number_asked_for(counter: TokenCounter, keep: int, last: set[int]):
    trajectory = observing(*[100] * 5)
    rules = replace(FIRST, keep_observations=keep, target_max_tokens=8000)
    recent = recent_observations(measured(counter, trajectory, rules), rules)
    assert recent.last == recent.whole == last


def test_they_stay_whole_up_to_a_quarter_of_the_target_from_the_newest_backwards(counter: TokenCounter):
    trajectory = observing(100, 100, 900, 100, 100)
    rules = replace(FIRST, target_max_tokens=2000)
    state = measured(counter, trajectory, rules)
    recent = recent_observations(state, rules)
    assert recent.last == {2, 4, 6, 8, 10}
    assert recent.whole == {8, 10}
    assert sum(state.sizes[index] for index in recent.whole) <= 500
    assert list(truncation_order(state, rules, with_last=False)) == [2, 4, 6]
    assert list(truncation_order(state, rules)) == [2, 4, 6, 8, 10]


@pytest.mark.parametrize("last_n_turns", [0, 4, 8])
def test_none_of_them_is_cleared_wherever_the_tail_begins(counter: TokenCounter, last_n_turns: int):
    trajectory = observing(*[400] * 8)
    rules = with_target(
        counter, trajectory, 1000, keep_observations=4, protection=Protection(last_n_turns=last_n_turns)
    )
    turns, row = run(counter, trajectory, Writer(lambda _: words(50)), rules)
    assert "line" not in observations(turns)[4:]
    assert not row.still_over_limit
    assert row.turns_pruned >= 1


def test_what_cannot_stay_whole_is_cut_before_others_are_cleared(counter: TokenCounter):
    trajectory = observing(9000, *[300] * 5)  # the first is protected, and the others would be cleared before it
    rules = replace(FIRST, target_max_tokens=2500, keep_observations=1)
    turns, row = run(counter, trajectory, policy=rules)
    assert observations(turns) == ["cut", *["whole"] * 5]
    assert (row.reason, row.turns_pruned, row.turns_elided, row.still_over_limit) == ("elided", 0, 1, False)
    crowded = observing(9000, *[450] * 5)  # it would be left with less than a quarter of the target
    assert run(counter, crowded, policy=rules)[1].turns_pruned > 0


@pytest.mark.parametrize("place", range(6))
def test_a_giant_observation_is_cut_to_the_room_there_is(counter: TokenCounter, place: int):
    sizes = [120] * 6
    sizes[place] = 9000
    trajectory, writer = observing(*sizes), Writer(lambda _: words(13))
    rules = replace(FIRST, target_max_tokens=2000)
    turns, row = run(counter, trajectory, writer, rules)
    assert (writer.asked, row.still_over_limit, len(turns)) == ([], False, len(trajectory.turns))
    assert [at for at, became in enumerate(observations(turns)) if became != "whole"] == [place]
    assert observations(turns)[place] == "cut"
    assert row.compressed_tokens > 0.9 * rules.target_max_tokens
    assert_adds_up(counter, trajectory, rules, turns, row)


# Restoring


def test_what_room_is_left_is_filled_with_the_latest_that_were_cleared(counter: TokenCounter):
    trajectory = observing(400, 800, 300, 2000, 100, 100, 100, 100, 100)
    rules = with_target(counter, trajectory, 2200)
    turns, row = run(counter, trajectory, Writer(lambda _: words(50)), rules)
    assert observations(turns) == ["whole", "line", "whole", "cut", *["whole"] * 5]  # a short one is cleared last
    assert (row.reason, row.turns_pruned, row.turns_elided) == ("pruned", 2, 0)
    assert rules.target_max_tokens - 100 <= row.compressed_tokens <= rules.target_max_tokens
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_around_a_summary_too(counter: TokenCounter):
    trajectory = observing(*[300] * 10, say=True)
    rules = replace(FIRST, target_max_tokens=2000, keep_observations=2)
    turns, row = run(counter, trajectory, Writer(lambda _: words(20)), rules)
    assert row.summarizer == "writer"
    assert rules.target_max_tokens - 200 <= row.compressed_tokens <= rules.target_max_tokens
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_a_result_that_comes_again_is_restored_last(counter: TokenCounter):
    same = "the same again " * 150
    reads = [("a", "other " * 500), ("b", "older " * 500), ("c", same), ("d", same)]
    steps = [message for key, text in reads for message in (call("read_file", key, path=key), result(key, text))]
    small = [message for number in range(5) for message in (call("ls", f"{number}"), result(f"{number}"))]
    ask = {"role": "user", "content": "Mend it. " * 1_000}  # so that none takes a quarter of the target
    trajectory = read([ask, *steps, *small])
    rules = with_target(counter, trajectory, 750)
    turns, row = run(counter, trajectory, Writer(lambda _: words(50)), rules)
    assert observations(turns)[2:4] == ["line", "whole"]
    assert turns[6].text.startswith("[read_file c → the same again")
    assert row.reason == "pruned"


def test_a_row_that_can_be_cut_to_fit_is_even_where_that_frees_tokens_in_steps(counter: TokenCounter):
    kept = {"protection": Protection(last_n_turns=0), "keep_observations": 0}
    rules = replace(FIRST, target_max_tokens=721, summary_size=20, **kept)
    trajectory = agent_run(6, "openai", 128)
    turns, row = run(counter, trajectory, Writer(lambda _: words(18)), rules)
    assert (row.still_over_limit, row.reason) == (False, "elided")
    assert_adds_up(counter, trajectory, rules, turns, row)


def without_results(counter: TokenCounter, trajectory: Trajectory, more: int) -> Policy:
    """Return rules whose target is so many tokens more than the row has besides its old results."""
    rules = replace(FIRST, target_max_tokens=1, keep_observations=1, latest_share=1)
    state = measured(counter, trajectory, rules)
    *old, _last = [size for turn, size in zip(state.turns, state.sizes, strict=True) if turn.answers]
    return replace(rules, target_max_tokens=state.tokens - sum(old) + more)


def test_lines_are_the_shortest_at_once_where_even_without_results_the_row_would_not_fit(counter: TokenCounter):
    trajectory = observing(*[400] * 20, say=True)
    enough, tight = (without_results(counter, trajectory, more) for more in (1, -1))
    state = measured(counter, trajectory, enough)
    in_two_steps = applied(leave_shortest_lines, applied(clear_observations, state, enough), enough)
    at_once = applied(clear_observations, state, tight)
    assert (at_once.turns, at_once.cleared) == (in_two_steps.turns, in_two_steps.cleared)
    assert applied(leave_shortest_lines, at_once, tight) is at_once


def test_lines_get_as_short_as_they_can_before_any_turn_is_summarised(counter: TokenCounter):
    trajectory = observing(*[400] * 20, say=True)
    tight = without_results(counter, trajectory, 20 * 15)
    cleared = applied(clear_observations, measured(counter, trajectory, tight), tight)
    shortest = applied(leave_shortest_lines, cleared, tight)
    assert len(shortest.cleared) > 10
    assert shortest.tokens < cleared.tokens
    assert all(is_line(shortest.turns[index].text) for index in shortest.cleared)
    rules = replace(tight, target_max_tokens=(shortest.tokens + cleared.tokens) // 2)
    writer = Writer(lambda _: words(50))
    turns, row = run(counter, trajectory, writer, rules)
    assert (writer.asked, row.reason, row.still_over_limit) == ([], "pruned", False)
    assert [turn for turn in turns if turn.role == "assistant"] == [
        turn for turn in trajectory.turns if turn.role == "assistant"
    ]
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_bare_lines_are_left_where_a_summary_would_take_much_and_no_turn_goes_then(counter: TokenCounter):
    trajectory = observing(*[400] * 20)
    tight = replace(without_results(counter, trajectory, 1), keep_observations=0)
    state = measured(counter, trajectory, tight)
    for strategy in (clear_observations, leave_shortest_lines):
        state = applied(strategy, state, tight)
    state = truncated(state, truncation_order(state, tight))

    def bare(target: int) -> State:
        return applied(leave_bare_lines, state, replace(tight, target_max_tokens=target))

    assert bare(state.tokens - 1) is state  # for so little few turns go
    target = next(less for less in range(state.tokens, 0, -10) if bare(less) is not state)
    assert bare(target // 4) is state  # turns would go all the same
    writer, rules = Writer(lambda _: words(50)), replace(tight, target_max_tokens=target)
    turns, row = run(counter, trajectory, writer, rules)
    assert (writer.asked, row.still_over_limit) == ([], False)
    assert [turn for turn in turns if turn.role == "assistant"] == [
        turn for turn in trajectory.turns if turn.role == "assistant"
    ]
    assert_adds_up(counter, trajectory, rules, turns, row)
    lines = [turn.text.endswith(" …]") for turn in turns if turn.answers and is_line(turn.text)]
    assert sum(lines) > 0
    assert lines == sorted(lines, reverse=True)  # the oldest first


# The settings


def policy_of(**settings_: object) -> Policy:
    return build_policy(
        resolve(
            {key.replace("__", "."): value for key, value in settings_.items()}, None, environ={}, dotenv=None
        ).settings
    )


def test_clearing_first_is_the_default_and_the_old_ladder_can_be_had():
    default, old = policy_of(), policy_of(compression__prune="off", compression__fit="lenient")
    assert (default.clear_observations, default.fit, default.keep_observations) == (True, "strict", 5)
    assert [strategy.__name__ for strategy in default.strategies] == [
        "drop_bulk",
        "truncate_giants",
        "clear_observations",
        "truncate_older",
        "cut_beside_requests",
        "leave_shortest_lines",
        "truncate_older",
        "leave_bare_lines",
        "summarize_region",
        "trim_summary",
        "truncate_observations",
        "truncate_requests",
        "name_facts",
    ]
    assert [strategy.__name__ for strategy in default.finishing] == ["restore_observations"]
    assert [strategy.__name__ for strategy in old.strategies] == ["summarize_region", "trim_summary", "name_facts"]
    assert old.finishing == ()


def test_rows_that_fit_are_pruned_only_where_pruning_was_asked_for(tmp_path):
    config = tmp_path / "my.yaml"
    for text, spares in [
        ("processing: {skip_under_target: false}", True),
        ("processing: {skip_under_target: false}\ncompression: {prune: all}", False),
    ]:
        config.write_text(text, encoding="utf-8")
        resolved = resolve({}, config, environ={}, dotenv=None)
        assert build_policy(resolved.settings).skip_under_target is spares
    named = {"TRAJCOMPRESS_COMPRESSION__PRUNE": "all", "TRAJCOMPRESS_PROCESSING__SKIP_UNDER_TARGET": "false"}
    assert not build_policy(resolve({}, None, environ=named, dotenv=None).settings).skip_under_target
