"""Which lines of a request bind."""

from __future__ import annotations

import pytest

from trajcompress.compaction.text.middle import cut_text
from trajcompress.facts.instructions import instructions, outline

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


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
def test_instructions_are_read_in_linear_time():
    for text in ("must " * 100_000, "a\n" * 200_000, " " * 400_000, "1. " * 100_000, "<issue>\n" * 50_000):
        instructions(text, 4.0)


REVIEW = """Thank you. Please follow the steps below to review your changes.

1. If you changed anything, please run your script again.
2. Remove your script (if you have not done so already).
3. Run the submit command again to confirm.

<diff>
diff --git a/src/frame.py b/src/frame.py
-old
+new
diff --git a/try.py b/try.py
+print("all done")
</diff>"""


def test_a_result_has_an_outline_of_steps_for_the_agent_and_files_of_a_change():
    assert list(outline(REVIEW, 2.0)) == [
        "1. If you changed anything, please run your script again.",
        "2. Remove your script (if you have not done so already).",
        "3. Run the submit command again to confirm.",
        "diff --git a/src/frame.py b/src/frame.py",
        "diff --git a/try.py b/try.py",
    ]
    assert not outline("1. Paris is large.\n2. Lyon is not.\ndiff --git a/x b/x\n+1", 2.0)


def test_the_outline_of_a_result_stays_where_it_is_cut():
    listing = "\n".join(f"+line {number} of what nobody asked for" for number in range(200))
    text = REVIEW.replace("+print", f"{listing}\n+print")
    cut = cut_text(text, 1_200, outline(text, 4.0))
    assert "2. Remove your script" in cut
    assert "diff --git a/try.py b/try.py" in cut


def test_long_steps_stay_beside_short_ones():
    long = "1. If you changed anything after you ran your script, please run it again, and see that nothing fails."
    text = REVIEW.replace("1. If you changed anything, please run your script again.", long)
    listing = "\n".join(f"+line {number} of what nobody asked for" for number in range(200))
    text = text.replace("+print", f"{listing}\n+print")
    taken_up = {f"line {number} of": 3.0 for number in range(40, 60)}
    kept = cut_text(f"{PASTED}{text}", 800, {**taken_up, **outline(text, 4.0)})
    assert long in kept
    assert "2. Remove your script" in kept


def test_what_is_to_be_done_stays_before_rules_where_tags_say_so():
    task = "A value that is not set should be read as empty. This way nobody has to name each of them."
    rules = "\n".join(f"{number}. You must do what rule number {number} of the house says." for number in range(20))
    text = f"<pr_description>\n{PASTED}\n{task}\n</pr_description>\n\n{rules}\n{PASTED}"
    kept = cut_text(text, 1_400, instructions(text, 4.0))
    assert task in kept
    assert "rule number 3" in kept
    untagged = text.replace("<pr_description>", "").replace("</pr_description>", "")
    assert task not in cut_text(untagged, 1_400, instructions(text[:200], 4.0))
