"""Which lines of a request bind."""

from __future__ import annotations

from time import process_time

import pytest

from trajcompress.facts.instructions import instructions

PASTED = "some words of it\n" * 40


@pytest.mark.parametrize(
    "line",
    [
        "1. Read the file and tell what it does",
        "- 2) Write a test for each of them",
        "You must not change the tests.",
        "Never use more than one loop.",
        "Answer with at most three words.",
        "Don't install anything.",
    ],
)
def test_a_line_that_binds_stays(line: str):
    assert list(instructions(f"{PASTED}\n{line}\n{PASTED}", 4.0)) == [line]


@pytest.mark.parametrize(
    "text",
    [
        "Here is what I have.",
        "```\nyou must not\n```",
        "x = only(1, 2, 3) * [5]; y == 6",
        f"only {'a ' * 300}",
    ],
)
def test_what_binds_nobody_does_not(text: str):
    assert not instructions(f"{PASTED}\n{text}\n{PASTED}", 4.0)


def test_much_that_binds_is_pasted():
    kept = instructions("\n".join(f"You must do what rule {number} says." for number in range(1000)), 4.0)
    assert sum(map(len, kept)) <= 1_200


def test_instructions_are_read_in_linear_time():
    begin = process_time()
    for text in ("must " * 100_000, "a\n" * 200_000, " " * 400_000, "1. " * 100_000):
        instructions(text, 4.0)
    assert process_time() - begin < 3
