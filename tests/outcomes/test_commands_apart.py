"""Of commands that are typed at once each is told with what itself printed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from screens import outputs, reply, screen, typed, without_first
from summed_up import ask, section
from told import action, result_line
from trajectories import read

from trajcompress.compaction.text import ResultLines
from trajcompress.outcomes.commands_apart import parts_in
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.trajectory import Region, Turn

LIST = "ls -la dist"
TEST = "pytest -q tests"
WRITE = "cat > notes.txt <<'END'\nfirst\nsecond\nEND"
FOUND = "a-1.0.whl\na-1.0.tar.gz"
FAILED = "FAILED tests/test_a.py::test_sum - assert 3 == 4\n1 failed, 8 passed in 0.31s"
OMITTED = "[... output limited to 10000 bytes; 70 interior bytes omitted ...]"


def parts(shown: str, *keys: str) -> list[tuple[str, str | None]]:
    return outputs(parts_in(shown, typed(*keys)))


def test_each_command_stands_with_what_itself_printed():
    shown = screen((LIST, FOUND), (WRITE, ""), (TEST, FAILED))
    assert parts(shown, LIST, WRITE, TEST) == [(LIST, FOUND), ("cat > notes.txt <<'END'", ""), (TEST, FAILED)]
    line = result_line(f"New Terminal Output:\n\n{shown}", None, typed(LIST, WRITE, TEST))
    assert line.startswith("[ls -la dist → a-1.0.whl a-1.0.tar.gz; pytest -q tests → 1 failed, 8 passed in 0.31s; ")
    assert line.endswith("; 13 lines, 333 characters]")


def test_what_stands_above_the_first_prompt_is_of_the_last_command_before_it():
    shown = screen((LIST, FOUND), (WRITE, ""), (TEST, FAILED))
    assert parts(without_first(shown, 2), LIST, WRITE, TEST)[0] == (LIST, "a-1.0.tar.gz")
    assert parts(without_first(shown, 7), LIST, WRITE, TEST)[:2] == [(LIST, None), ("cat > notes.txt <<'END'", "")]
    earlier = f"still building\nbuilt 3 of 3\n{shown}"
    assert parts(earlier, LIST, WRITE, TEST)[0] == ("", "still building\nbuilt 3 of 3")
    assert result_line(earlier, None, typed(LIST, TEST)).startswith(
        "[… → still building built 3 of 3; ls -la dist → "
    )


def test_what_a_harness_says_of_the_reply_is_told_of_no_command():
    warned = (
        "Previous response had warnings:\nWARNINGS: - Extra text detected before JSON object\n- Extra text after it\n"
    )
    shown = f"{warned}\nNew Terminal Output:\n\n{screen((LIST, FOUND), (TEST, FAILED))}"
    assert parts(shown, LIST, TEST) == [(LIST, FOUND), (TEST, FAILED)]


def test_what_a_screen_shows_of_earlier_commands_is_not_told_again():
    shown = screen(("whoami", "ada"), (LIST, FOUND), (TEST, FAILED))
    assert parts(shown, LIST, TEST) == [(LIST, FOUND), (TEST, FAILED)]


def test_where_a_harness_left_out_a_command_what_stands_behind_the_gap_is_its_own():
    shown = screen((LIST, f"{FOUND}\n{OMITTED}\nof make"), (TEST, FAILED))
    assert parts(shown, LIST, "make", TEST) == [(LIST, f"{FOUND}\n{OMITTED}"), ("make", "of make"), (TEST, FAILED)]
    assert parts(shown, LIST, TEST)[0] == (LIST, f"{FOUND}\n{OMITTED}\nof make")
    shown = screen((LIST, f"{FOUND}\n{OMITTED}\nof which?"), waits=False)
    assert parts(shown, LIST, "make", TEST) == [
        *((LIST, f"{FOUND}\n{OMITTED}"), ("make", None), (TEST, None)),
        ("", "of which?"),
    ]


@pytest.mark.parametrize(
    ("shown", "keys"),
    [
        (screen((TEST, FAILED)), [TEST]),
        (screen((WRITE, "")), [WRITE]),
        (FAILED, [LIST, TEST]),
        ("", [LIST, TEST]),
        (f"{LIST}\n{TEST}\n", [LIST, TEST]),
        (screen(("make", FAILED)), [LIST, TEST]),
    ],
)
def test_what_cannot_be_told_apart_is_one(shown, keys):
    assert parts(shown, *keys) == []


def test_of_a_file_that_shows_a_terminal_nothing_is_told_apart():
    assert parts_in(screen((LIST, FOUND), (TEST, FAILED)), action("read_file", path="docs/use.txt")) == ()


def in_text(*turns: str):
    roles = ["user", *["assistant", "user"] * len(turns)]
    return read([{"role": role, "content": text} for role, text in zip(roles, turns, strict=False)])


def test_a_summary_has_a_step_for_each_command():
    task = "Mend the sums.\n\nCurrent terminal state:\nCurrent Terminal Screen:\n" + screen()
    mend = "cat > sums.py <<'END'\ndef total(a, b):\n    return a + b\nEND"
    first = f"New Terminal Output:\n\n{screen((LIST, FOUND), (TEST, FAILED))}\n"
    second = f"New Terminal Output:\n\n{screen((mend, ''), (TEST, '9 passed in 0.30s'))}\n"
    region = in_text(task, reply(LIST, TEST), first, reply(mend, TEST), second).turns[1:]
    text = extract(ask(list(region), budget=400))
    assert section(text, "Steps").strip().split("\n") == [
        "- ls -la dist → a-1.0.whl a-1.0.tar.gz",
        "- pytest -q tests → 1 failed, 8 passed in 0.31s; FAILED tests/test_a.py::test_sum - assert 3 == 4",
        "- cat > sums.py <<'END' «def total(a, b): return a + b» → no output",
        "- pytest -q tests → 9 passed in 0.30s",
    ]
    assert section(text, "Files changed").strip() == "- sums.py"


def in_calls(keys: Sequence[str], texts: Sequence[str]) -> tuple[Turn, ...]:
    """A turn that types keys in a call each, and what answers each of these."""
    calls: list[dict[str, Any]] = []
    for number, key in enumerate(keys):
        given = json.dumps({"keystrokes": f"{key}\n", "duration": 0.5})
        calls.append({"id": f"c{number}", "type": "function", "function": {"name": "run", "arguments": given}})
    results = [{"role": "tool", "tool_call_id": f"c{number}", "content": text} for number, text in enumerate(texts)]
    asked = {"role": "user", "content": "Mend the sums."}
    return read([asked, {"role": "assistant", "content": "", "tool_calls": calls}, *results]).turns


@pytest.mark.parametrize("at", [0, 1])
def test_of_a_turn_whose_calls_one_screen_answers_each_stands_with_what_itself_printed(at: int):
    shown = f"New Terminal Output:\n\n{screen((LIST, FOUND), (TEST, FAILED))}\n"
    turns = in_calls((LIST, TEST), [shown if number == at else "" for number in range(2)])
    assert section(extract(ask(list(turns[1:]), budget=400)), "Steps").strip().split("\n") == [
        "- ls -la dist → a-1.0.whl a-1.0.tar.gz",
        "- pytest -q tests → 1 failed, 8 passed in 0.31s; FAILED tests/test_a.py::test_sum - assert 3 == 4",
    ]


@pytest.mark.parametrize("at", [0, 1])
def test_a_screen_that_answers_several_calls_is_cleared_to_a_line_with_what_each_printed(at: int):
    shown = screen((LIST, "\n".join(f"wheel-{n}.whl" for n in range(60))), (TEST, FAILED))
    turns = in_calls((LIST, TEST), [shown if number == at else "" for number in range(2)])
    line = ResultLines(turns, Region(1, len(turns))).line(2 + at, 0, shown)
    assert line.startswith("[ls -la dist → wheel-0.whl")
    assert "; pytest -q tests → 1 failed, 8 passed in 0.31s" in line


def test_calls_with_a_result_each_are_told_one_by_one():
    turns = in_calls((LIST, TEST), (FOUND, FAILED))
    assert "- ls -la dist → a-1.0.whl a-1.0.tar.gz\n- pytest -q tests → 1 failed" in extract(ask(list(turns[1:])))


def test_what_was_typed_while_a_program_runs_that_reads_none_of_it_has_printed_nothing():
    shown = f"New Terminal Output:\n\n{LIST}\n{TEST}\n\n"
    record = extract(ask(list(in_calls((LIST, TEST), ("", shown))[1:])))
    assert section(record, "Steps").strip() == f"- {LIST}; {TEST} → no output"


WORDS = st.lists(st.sampled_from(["alpha", "beta 2", "gamma: 3", "  delta", "> epsilon"]), max_size=4)


@given(st.lists(WORDS, min_size=2, max_size=5), st.integers(0, 12), st.booleans())
def test_nothing_is_told_of_a_command_that_another_printed(printed, lost, waits):
    keys = [f"run_command_{number} --all" for number in range(len(printed))]
    own = ["\n".join(f"{line} of {number}" for line in lines) for number, lines in enumerate(printed)]
    shown = without_first(screen(*zip(keys, own, strict=True), waits=waits), lost)
    for target, output in parts(shown, *keys):
        number = keys.index(target)
        assert output is None or own[number].strip().endswith(output.strip())
