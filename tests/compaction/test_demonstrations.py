"""A demonstration before the task stays, loses its end, or goes but for its heading: pieces of it show nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from clearing import FIRST
from compressing import run
from msgspec.structs import replace
from pruning import tokens
from trajectories import read

from trajcompress.compaction.text import elide_results
from trajcompress.compaction.text.truncate import name_in_marks
from trajcompress.metrics.row import RowMetrics
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.observations import demonstration_heading, example_within, read_observations
from trajcompress.transcript.trajectory import Trajectory, Turn

HEADING = "Here is a demonstration of how to accomplish this task."
STEPS = "\n".join(f"I open file_{number}.py now.\n```\nopen file_{number}.py\n```" for number in range(200))
MARK = re.compile(r"\n\[… ([\d,]+) characters elided …\]\n")
WANTED = {f"file_{number}.py": 4.0 for number in (40, 90, 140)}


EXAMPLE = "\n".join(f"ASSISTANT: I look at part_{number}.\nUSER: It is there." for number in range(80))
FRAMED = f"---------- START OF EXAMPLE ----------\n\n{EXAMPLE}\n\n---------- END OF EXAMPLE ----------"


def row(example: str) -> tuple[Turn, ...]:
    """The turns of a text-protocol agent with an example before its task."""
    step = [
        {"role": "assistant", "content": "Thought: I look.\nAction: ls"},
        {"role": "user", "content": "Observation: a.py"},
    ]
    task = {"role": "user", "content": "Mend a.py."}
    return read_observations(read([{"role": "user", "content": example}, task, *step, *step]).turns)


def cut(example: str, excess: int) -> Turn:
    turns = row(example)
    assert turns[0].example
    after = elide_results(turns, [0], excess, tokens, lambda _: WANTED)
    assert after[1:] == turns[1:]
    assert read_observations(read([dict(turn.raw) for turn in after]).turns)[0].example
    return after[0]


def test_where_most_of_it_must_go_only_its_heading_stays():
    whole = f"{HEADING}\n{STEPS}"
    assert cut(whole, tokens(whole) * 2 // 3).text == f"{HEADING}\n[… {len(STEPS) + 1:,} characters elided …]\n"


def test_its_mark_names_nothing_of_it_as_that_of_a_manual_does():
    for heading, named in ((HEADING, []), ("Here are examples of calls from the API manual.", ["file_40.py"])):
        turns = row(f"{heading}\n{STEPS}")
        after = elide_results(turns, [0], 10**6, tokens)
        marked = name_in_marks(after, turns, {0: ["file_40.py"]}, str)[0].text
        assert [fact for fact in ["file_40.py"] if fact in marked] == named


def test_else_its_end_goes_so_that_no_steps_join_that_never_met():
    whole = f"{HEADING}\n{STEPS}"
    shorter = cut(whole, tokens(whole) // 4).text
    begins, (mark,) = MARK.split(shorter)[0], list(MARK.finditer(shorter))
    assert whole.startswith(begins)
    assert mark.end() == len(shorter)
    assert int(mark[1].replace(",", "")) == len(whole) - len(begins)
    assert tokens(whole) // 4 <= tokens(whole) - tokens(shorter) < tokens(whole) // 3


def test_where_tokens_are_spread_unevenly_it_still_ends_within_its_beginning():
    dense, sparse = "\n".join("§ " * 60 for _ in range(12)), "\n".join(["internationalization" * 40] * 40)
    whole = f"{HEADING}\n{dense}\n{sparse}"
    for share in (3, 4, 6):
        shorter = cut(whole, tokens(whole) // share).text
        (begins, *_), marks = MARK.split(shorter), MARK.findall(shorter)
        assert whole.startswith(begins)
        assert begins.startswith(HEADING)
        assert marks == [f"{len(whole) - len(begins):,}"]
        assert tokens(whole) - tokens(shorter) >= tokens(whole) // share


@pytest.mark.parametrize(("opens", "closes"), [("--- DEMONSTRATION ---", "--- END ---"), ("<example>", "</example>")])
def test_what_is_said_of_it_and_what_it_stands_between_stays(opens, closes):
    said = f"{HEADING}\nYou do not need to follow it exactly.\n\n{opens}"
    whole = f"{said}\n{STEPS}\n{closes}"
    for excess in (tokens(whole) // 4, tokens(whole) * 2 // 3):
        shorter = cut(whole, excess).text
        assert shorter.startswith(said)
        assert shorter.endswith(f" elided …]\n{closes}")
        (gone,) = MARK.findall(shorter)
        assert int(gone.replace(",", "")) == len(whole) - len(MARK.sub("\n", shorter))
    assert cut(shorter, 10).text == shorter


def test_what_is_cut_behind_its_heading_counts_what_was_cut_before():
    once = cut(f"{HEADING}\n{STEPS}", 300).text
    (gone,) = MARK.findall(cut(once, 10**6).text)
    assert int(gone.replace(",", "")) == len(STEPS) + 1


def test_of_a_manual_what_later_turns_use_stays():
    whole = f"Here are examples of calls from the API manual.\n{STEPS}"
    shorter = cut(whole, tokens(whole) * 2 // 3).text
    assert all(word in shorter for word in WANTED)


def test_a_heading_is_a_line_near_the_beginning():
    assert demonstration_heading(f"{HEADING}\nrest") == len(HEADING)
    assert demonstration_heading(HEADING) == 0
    assert demonstration_heading(f"{'x ' * 300}\n{HEADING}\nrest") == 0
    assert demonstration_heading("The API manual, with examples of calls.\nrest") == 0


def in_request(example: str, steps: int = 6) -> Trajectory:
    """A text-protocol agent whose first request holds an example, and results of which none can be cut."""
    turns = [f"This is how it is done.\n\n{example}\n\nDo NOT think that all is the same.\n\nMend a.py."]
    for number in range(steps):
        turns += [f"Thought: I look at a{number}.\nAction: ls a{number}", f"Observation: b{number}.py"]
    turns.append("Thought: It is done.\nAction: finish")
    roles = ("user", "assistant")
    return read([{"role": roles[at % 2], "content": text} for at, text in enumerate(turns)])


def compressed(counter: TokenCounter, trajectory: Trajectory, **changes: Any) -> tuple[Sequence[Turn], RowMetrics]:
    """What becomes of a row that is 200 tokens over its target."""
    rules = replace(FIRST, target_max_tokens=counter.count(trajectory).tokens - 200, **changes)
    turns, row = run(counter, trajectory, None, rules)
    return turns or trajectory.turns, row


def test_one_that_stands_in_a_request_goes_before_any_turn_of_the_assistant(counter: TokenCounter):
    trajectory = in_request(FRAMED)
    turns, row = compressed(counter, trajectory)
    assert (row.reason, row.passes, row.turns_elided, row.still_over_limit) == ("elided", 0, 1, False)
    begins, ends = turns[0].text.split("[… ")
    assert begins == "This is how it is done.\n\n---------- START OF EXAMPLE ----------\n"
    assert ends.endswith("---------- END OF EXAMPLE ----------\n\nDo NOT think that all is the same.\n\nMend a.py.")
    assert [turn.text for turn in turns[1:]] == [turn.text for turn in trajectory.turns[1:]]


@pytest.mark.parametrize(
    "example", [EXAMPLE, FRAMED.replace("END OF EXAMPLE", "END"), FRAMED.replace("EXAMPLE", "IT")]
)
def test_a_request_that_marks_none_is_cut_as_others_are(counter: TokenCounter, example: str):
    trajectory = in_request(example)
    assert example_within(trajectory.turns[0].text) == (0, 0)
    assert compressed(counter, trajectory)[1].reason == "request_truncated"


def test_a_running_example_ends_where_the_request_says_that_it_did(counter: TokenCounter):
    shown = f"Here's a running example of how to use the tools.\n\n---\n\n{EXAMPLE}\n\n---\n\n"
    behind = "Do NOT assume the environment is the same as in the example above.\n\n---\n\nMend a.py."
    turns = [dict(turn.raw) for turn in in_request(FRAMED).turns]
    trajectory = read([{"role": "user", "content": f"{shown}{behind}"}, *turns[1:]])
    cut, row = compressed(counter, trajectory)
    assert row.reason == "elided"
    assert cut[0].text.endswith(behind)
    assert example_within(cut[0].text)[1]


@pytest.mark.parametrize("told_anew", [True, False])
def test_what_an_editor_has_open_goes_from_a_request_where_a_later_turn_tells_it_anew(
    counter: TokenCounter, *, told_anew: bool
):
    listed = "".join(f"src/part{number}/page{number}.ts\n" for number in range(150))
    task = (
        f"<task>\nMend src/part7/page7.ts.\n</task>\n<environment_details>\n# Files\n{listed}</environment_details>"
    )
    opened = "\n<environment_details>\n# Open tabs\nsrc/part7/page7.ts\n</environment_details>" if told_anew else ""
    turns = [dict(turn.raw) for turn in in_request(FRAMED).turns[1:]]
    turns[1]["content"] += opened
    cut, row = compressed(counter, read([{"role": "user", "content": task}, *turns]))
    if told_anew:
        assert row.reason == "elided"
        begin, _, rest = cut[0].text.partition("<environment_details>")
        assert begin == "<task>\nMend src/part7/page7.ts.\n</task>\n"
        assert rest.startswith("[… ")
        assert rest.endswith(" characters elided …]</environment_details>")
    else:
        assert "src/part0/page0.ts" in cut[0].text


def test_it_is_read_as_it_was_once_it_is_cut(counter: TokenCounter):
    trajectory = in_request(FRAMED)
    again = read([dict(turn.raw) for turn in compressed(counter, trajectory)[0]])
    assert [bool(turn.answers) for turn in again.turns] == [bool(turn.answers) for turn in trajectory.turns]
    assert example_within(again.turns[0].text)[1]


def test_with_lenient_fit_it_stays(counter: TokenCounter):
    trajectory = in_request(FRAMED)
    assert compressed(counter, trajectory, fit="lenient")[0][0].text == trajectory.turns[0].text
