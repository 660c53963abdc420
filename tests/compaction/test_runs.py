"""Runs of lines that are equal are told once, and complaints about file after file counted."""

from __future__ import annotations

import json

import pytest
from compressing import POLICY, Writer, run, words
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pruning import LISTING, call
from shared import load_cached
from trajectories import read, result

from trajcompress.compaction.text.runs import without_runs
from trajcompress.tokens.counter import TokenCounter

WAITING = "Waiting for the server to come up …"


def never(_: str) -> bool:
    return False


def test_equal_lines_are_told_once_with_their_number():
    text = "\n".join(["start", *[WAITING] * 300, "up"])
    assert without_runs(text, never) == f"start\n{WAITING}\n[… the same line 299 times more …]\nup"


def test_lines_that_differ_in_numbers_stay_as_one_of_them_may_be_what_matters():
    text = "\n".join(f"worker {n:03}: queue 0 errors {412 if n == 77 else 0}" for n in range(150))
    assert without_runs(text, never) == text


def mark(lines: int, denied: int, broken: int) -> str:
    kinds = f"{denied} × Permission denied, {broken} × Input/output error"
    return f"[… {lines} more such lines of grep, with other files ({kinds}), elided …]"


def test_of_complaints_about_file_after_file_the_first_of_each_kind_and_those_that_are_said_stay():
    kinds = ("Permission denied", "Input/output error")
    lines = [f"grep: ./sys/module/m{chr(97 + n % 26)}/{n}/uevent: {kinds[n % 3 == 1]}" for n in range(90)]
    once = without_runs("\n".join(["searching", *lines, "3 found"]), lambda line: "/70/" in line)
    assert once.split("\n") == [
        "searching",
        *lines[:5],
        mark(65, 44, 21),
        lines[70],
        mark(19, 13, 6),
        "3 found",
    ]


def test_the_one_complaint_of_another_program_stays_and_what_goes_is_counted_by_what_it_says():
    lines = [f"grep: ./proc/{n}/mem: {'Permission denied' if n % 4 else 'Input/output error'}" for n in range(60)]
    other = "xargs: {}: No such file or directory"
    once = without_runs("\n".join([*lines[:30], other, *lines[30:]]), lambda _: False).split("\n")
    assert once[:2] == lines[:2]
    assert other in once
    assert once[-1] == mark(30, 23, 7)


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([WAITING] * 3),
        "\n".join(f"./src/m{number}/uevent: text of the line" for number in range(90)),
        "\n".join(["}"] * 20),
        "\n".join(f"{number}, {number * 3}" for number in range(99)),
        json.dumps([[0, 0, 0]] * 50, indent=1),
        LISTING,
    ],
)
def test_short_runs_figures_and_json_stay(text: str):
    assert without_runs(text, never) == text


def test_a_run_that_is_said_later_stays():
    text = "\n".join([WAITING] * 9)
    assert without_runs(text, {WAITING}.__contains__) == text


@given(
    st.lists(
        st.sampled_from([WAITING, f"{WAITING} 1", f"{WAITING} 22", "", "x", "}"]).flatmap(
            lambda line: st.integers(1, 30).map(lambda times: [line] * times)
        ),
        max_size=9,
    )
)
def test_what_is_told_once_is_not_shortened_again_and_never_longer(runs: list[list[str]]):
    text = "\n".join(line for lines in runs for line in lines)
    once = without_runs(text, never)
    assert without_runs(once, never) == once
    assert len(once) <= len(text)


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize("text", ["a" * 10**6, "\n" * 10**6, "equal\n" * 10**5, "7" * 10**6, "a1\nb2\n" * 10**5])
def test_hostile_texts_take_linear_time(text: str):
    without_runs(text, never)


def test_runs_go_before_any_observation_is_cleared():
    counter = TokenCounter(load_cached(None))
    log = "\n".join(["start", *[WAITING] * 400, "up"])
    asked = {"role": "user", "content": "Look."}
    steps = [
        message
        for number, text in enumerate([LISTING, log, f"{LISTING}\n"])
        for message in (call("show", f"c{number}", path=f"{number}.txt"), result(f"c{number}", text))
    ]
    trajectory = read([asked, *steps, {"role": "assistant", "content": "It is up."}])
    rules = replace(
        POLICY, clear_observations=True, fit="strict", target_max_tokens=counter.count(trajectory).tokens - 50
    )
    turns, row = run(counter, trajectory, Writer(lambda _: words(5)), rules)
    assert turns is not None
    assert row.reason == "pruned"
    assert [turn.text for turn in turns if turn.answers] == [
        LISTING,
        f"start\n{WAITING}\n[… the same line 399 times more …]\nup",
        f"{LISTING}\n",
    ]
