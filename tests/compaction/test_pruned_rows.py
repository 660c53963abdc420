"""``--prune`` on whole rows: what is kept, what is asked for, what the figures say."""

from __future__ import annotations

import pytest
from compressing import POLICY, Writer, assert_adds_up, run, words
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pruning import LISTING, assert_kept, call
from trajectories import Example, examples, read, result

from trajcompress.compaction.measure import measure
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection
from trajcompress.compaction.text import ResultLines, prune, prune_steps
from trajcompress.run.build.components import build_policy
from trajcompress.settings import resolve
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

ALL = replace(POLICY, clear_observations=True, clear_read=True, keep_observations=2, target_max_tokens=900)
NOT_RESTORED = 99  # tokens of room at most that are too few to restore anything in
ASK = {"role": "user", "content": "Mend it."}
NAMED = "def parse_config(path):\n" + "    return nothing_of_note\n" * 80


def reads(*results: str, after: tuple[dict, ...] = (), end: str = "Done.") -> Trajectory:
    """A task, a short first step, a call for each result, and the four turns that are protected."""
    steps = [
        message
        for number, text in enumerate(results)
        for message in (call("read_file", f"c{number}", path=f"src/m{number}.py"), result(f"c{number}", text))
    ]
    last = [call("ls", "y"), result("y", "a.txt"), call("ls", "z"), result("z", end)]
    return read([ASK, call("ls", "x"), result("x", "a.txt"), *steps, *after, *last])


def fitting(counter: TokenCounter, trajectory: Trajectory, lines: int) -> Policy:
    """Return rules with a target that a row fits once so many of its results are lines, and none can be restored."""
    measured = measure(trajectory, counter.count(trajectory), counter, ALL)
    steps = prune_steps(ResultLines(trajectory.turns, measured.layout.middle), arguments=False)
    cleared = prune(trajectory.turns, list(steps)[:lines]).turns
    return replace(ALL, target_max_tokens=counter.count(replace(trajectory, turns=cleared)).tokens + NOT_RESTORED)


def nobody() -> Writer:
    return Writer(lambda _: words(50))


def test_a_row_that_fits_once_pruned_is_not_summarised(counter: TokenCounter):
    trajectory, writer = reads(LISTING, LISTING + "\n"), nobody()
    rules = fitting(counter, trajectory, lines=2)
    turns, row = run(counter, trajectory, writer, rules)
    assert writer.asked == []
    assert (row.outcome, row.reason, row.passes, row.summarizer, row.placement) == (
        "compressed",
        "pruned",
        0,
        None,
        None,
    )
    assert row.region_start_idx is row.region_end_idx is row.region_turns is None
    assert (row.turns_removed, row.turns_pruned, row.compressed_turns) == (0, 2, row.original_turns)
    assert row.assistant_tokens_kept == row.assistant_tokens_original
    assert turns[4].text == f"[read_file src/m0.py: 212 lines, {len(LISTING):,} characters]"
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_no_more_is_pruned_than_needed(counter: TokenCounter):
    trajectory = reads(LISTING, LISTING + "\n", "short")
    exact = counter.count(trajectory).tokens
    rules = replace(ALL, target_max_tokens=exact - 100)
    turns, row = run(counter, trajectory, nobody(), rules)
    assert row.turns_pruned == 1
    assert [turn is one for turn, one in zip(turns, trajectory.turns, strict=True)].count(False) == 1
    assert turns[6] is trajectory.turns[6]
    assert "characters elided" in turns[4].text  # there is room for more than a line
    assert rules.target_max_tokens - NOT_RESTORED <= row.compressed_tokens


@pytest.mark.parametrize("clear_read", [False, True])
def test_where_only_what_is_read_is_pruned_the_kept_turns_stay(counter: TokenCounter, clear_read: bool):
    trajectory, writer = reads(*[f"{number}\n{LISTING}" for number in range(5)]), nobody()
    rules = replace(POLICY, clear_read=clear_read, target_max_tokens=6000)
    turns, row = run(counter, trajectory, writer, rules)
    assert (row.outcome, row.reason, row.turns_pruned) == ("compressed", None, 0)
    assert all(turn in trajectory.turns for turn in (*turns[: row.region_start_idx], *turns[-4:]))
    shown = max(len(turn.text) for turn in writer.asked[0].region)
    assert (shown > 1000) == (not clear_read)
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_a_row_that_is_summarised_whole_has_no_reason_left_of_the_pruned_one(counter: TokenCounter):
    trajectory, writer = reads(LISTING, LISTING + "\n", LISTING + "\n\n"), Writer(lambda _: words(3))
    fits = fitting(counter, trajectory, lines=3)
    _, pruned = run(counter, trajectory, writer, fits)
    assert pruned.reason == "pruned"
    rules = replace(ALL, target_max_tokens=pruned.compressed_tokens - 30)
    turns, row = run(counter, trajectory, writer, rules)
    assert (row.outcome, row.reason, row.passes, row.still_over_limit) == ("compressed", None, 1, False)
    assert_adds_up(counter, trajectory, rules, turns, row)


@pytest.mark.parametrize("clear_observations", [False, True])
def test_what_later_turns_need_of_a_pruned_result_stands_in_its_line(counter: TokenCounter, clear_observations: bool):
    uses = ({"role": "assistant", "content": "I call parse_config next."},)
    trajectory, writer = reads(NAMED, LISTING, LISTING + "\n", after=uses), nobody()
    rules = fitting(counter, trajectory, lines=3)
    turns, row = run(counter, trajectory, writer, replace(rules, clear_observations=clear_observations))
    line = turns[4].text if clear_observations else writer.asked[0].region[1].text
    said = "def parse_config(path): return nothing_of_note"
    assert line == f"[read_file src/m0.py → {said}; 81 lines, {len(NAMED):,} characters]"
    if clear_observations:
        assert (row.facts_needed, row.facts_kept) == (1, 1)


def test_a_secret_is_in_no_line_and_in_nothing_that_is_sent(counter: TokenCounter):
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 4
    asks = call("run", "s", command=f"export OPENAI_API_KEY={key}; python src/m.py", note="x " * 500 + key)
    after = (asks, result("s", f"OPENAI_API_KEY={key}\n" + "a line of output\n" * 200))
    trajectory, writer = reads(*[f"{number}\n{LISTING}" for number in range(9)], after=after), nobody()
    for clear_observations in (False, True):
        turns, row = run(
            counter, trajectory, writer, replace(ALL, clear_observations=clear_observations, target_max_tokens=500)
        )
        assert row.redactions > 0
        told = [text for turn in writer.asked[-1].region for text in (turn.text, *(c.arguments for c in turn.calls))]
        assert not any(key[:20] in text for text in told)
        assert turns is not None


def test_a_secret_that_is_known_by_what_stands_around_it_is_not_named_bare_in_a_line(counter: TokenCounter):
    password = "Tr0ub4dor_and_3x"
    said = f"DATABASE_URL=postgres://admin:{password}@db.internal:5432/shop\n" + LISTING
    bare = {"role": "assistant", "content": f"The password is {password}, I keep that in mind."}
    trajectory = reads(said, LISTING, after=(bare,))
    turns, row = run(counter, trajectory, nobody(), fitting(counter, trajectory, lines=2))
    assert row.reason == "pruned"
    lines = [turn.text for turn in turns if turn.role == "tool" and turn.text.startswith("[")]
    assert lines
    assert not any(password in line for line in lines)


@pytest.mark.parametrize("fit", ["lenient", "strict"])
def test_arguments_are_never_cut(counter: TokenCounter, fit: str):
    writes = call("write", "w", path="a.py", text="word " * 600)
    trajectory, writer = reads(LISTING, after=(writes, result("w", "ok"))), nobody()
    rules = replace(ALL, fit=fit, clear_read=False)
    for target in (500, 700, 1300):
        turns, row = run(counter, trajectory, writer, replace(rules, target_max_tokens=target))
        assert (row.outcome, row.still_over_limit) == ("compressed", False)
        assert all(turn in trajectory.turns for turn in turns if turn.role == "assistant")
    assert all(
        "word word" in turn.calls[0].arguments
        for turn in writer.asked[0].region
        if turn.role == "assistant" and turn.calls[0].name == "write"
    )


def test_rows_under_the_target_are_pruned_on_request(counter: TokenCounter):
    writes = (call("write", "w", text="word " * 600), result("w", "ok"))
    trajectory = reads(LISTING, after=writes)
    rules = replace(ALL, target_max_tokens=10**6, keep_observations=3)
    assert run(counter, trajectory, policy=rules)[1].outcome == "skipped_under_target"
    on_request = replace(rules, skip_under_target=False)
    turns, row = run(counter, trajectory, policy=on_request)
    assert (row.outcome, row.reason, row.skipped_under_target) == ("compressed", "pruned", False)
    assert turns[5] is trajectory.turns[5]
    assert_adds_up(counter, trajectory, on_request, turns, row)
    for other in (
        replace(on_request, clear_observations=False),
        replace(on_request, protection=Protection(last_n_turns=99)),
        replace(on_request, keep_observations=4),
    ):
        assert run(counter, trajectory, policy=other)[1].outcome == "skipped_under_target"


@pytest.mark.parametrize(
    ("prune", "kept", "read"),
    [("off", False, False), ("safe", False, True), ("all", True, False), (None, True, False)],
)
def test_what_a_model_reads_is_pruned_and_not_what_the_built_in_summariser_reads(
    prune: str | None, kept: bool, read: bool
):
    given_ = {"compression.prune": prune}
    free = build_policy(resolve(given_, None, environ={}, dotenv=None).settings)
    paid = build_policy(resolve({**given_, "summarization.model": "m"}, None, environ={}, dotenv=None).settings)
    assert (free.clear_observations, free.clear_read) == (kept, False)
    assert (paid.clear_observations, paid.clear_read) == (kept, read)


_rules = st.builds(
    lambda last, **fields: replace(POLICY, protection=Protection(last_n_turns=last), **fields),
    last=st.integers(0, 4),
    target_max_tokens=st.integers(50, 1500),
    summary_size=st.integers(5, 60),
    clear_observations=st.booleans(),
    clear_read=st.booleans(),
    keep_observations=st.integers(0, 6),
    fit=st.sampled_from(["lenient", "strict"]),
    skip_under_target=st.booleans(),
    placement=st.sampled_from(["auto", "human", "fold"]),
)


@settings(max_examples=80, deadline=None)
@given(examples(max_steps=8, max_words=120), _rules, st.integers(0, 80))
def test_whatever_is_pruned_the_figures_add_up_and_words_stay(
    counter: TokenCounter, example: Example, rules, summary_words: int
):
    writer, trajectory = Writer(lambda _: words(summary_words)), example.trajectory
    turns, row = run(counter, trajectory, writer, rules)
    assert_adds_up(counter, trajectory, rules, turns, row)
    if row.reason == "pruned":
        assert writer.asked == []
        assert_kept(trajectory.turns, turns)
        assert row.facts_kept == row.facts_needed
    if row.outcome == "unchanged" or not rules.clear_observations:
        assert row.turns_pruned == 0
