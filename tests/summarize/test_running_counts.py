"""Summaries that are updated again and again: what they count of the steps that they leave out is true, and they name
no value without what it is of."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from summed_up import HEAD, call, result

from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Turn

KINDS = (
    ("list_dir", {"path": "src"}),
    ("read_file", {"path": "src/a_{}.py", "start": 1}),
    ("read_file", {"path": "src/b_{}.py", "start": 1}),
    ("search", {"pattern": "name_{}"}),
    ("str_replace_editor", {"command": "view", "path": "src/c_{}.py"}),
    ("bash", {"command": "wc -l src/a_{}.py"}),
    ("bash", {"command": "wc -l src/d.py"}),
    ("fetch", {"url": "https://example.com/{}"}),
)


def step(number: int) -> tuple[Turn, Turn]:
    name, given = KINDS[(number * 7 + number // 5) % len(KINDS)]
    arguments = {key: str(value).format(number) for key, value in given.items()}
    return call(number, name, **arguments), result(number, f"{number} of these were found in it by {name}, no more")


def update(previous: str | None, *region: Turn, budget: int = 200, facts: tuple[str, ...] = ()) -> str:
    count = lambda text: len(text) // 4  # noqa: E731
    return extract(SummaryRequest("row", HEAD, region, budget, count, facts=facts, previous=previous))


def counted(text: str) -> tuple[Counter[str], int]:
    """Return how often each tool ran as a summary says, and how many steps it tells or counts."""
    tools: Counter[str] = Counter()
    total = 0
    for line in text.split("Steps:\n", 1)[1].splitlines():
        if found := re.fullmatch(r"- … (\d+) more steps?(?:: (.+))?", re.sub(r" \([^)]*\)", "", line)):
            total += int(found[1])
            for times, tool in re.findall(r"(\d+) × ([^,]+)", found[2] or ""):
                tools[tool] += int(times)
            if found[1] == "1" and found[2]:
                tools[found[2]] += 1
        elif line.startswith("- "):
            times = re.search(r" ×(\d+)$", line.partition(" → ")[0])
            more = int(times[1]) if times else 1 + sum(map(int, re.findall(r"\(and (\d+) more\)", line)))
            total += more
            words = line.removeprefix("- ").split(" ")
            tools["view" if words[1] == "view" else words[0]] += more
    return tools, total


@pytest.mark.parametrize("size", [3, 5, 8])
@pytest.mark.parametrize("budget", [90, 150, 300])
def test_steps_that_are_left_out_later_are_counted_under_what_they_called(size, budget):
    text, ran = None, Counter[str]()
    for begin in range(0, 60, size):
        turns = [turn for number in range(begin, begin + size) for turn in step(number)]
        text = update(text, *turns, budget=budget)
        for turn in turns[::2]:
            name = turn.calls[0].name
            ran[{"str_replace_editor": "view", "bash": "wc"}.get(name, name)] += 1
        tools, total = counted(text)
        assert total == begin + size
        assert all(tools[tool] <= ran[tool] for tool in tools)
        if " …\n" not in f"{text}\n":
            assert tools == ran


def test_a_number_of_one_gap_is_not_told_for_both_where_the_other_may_hold_more():
    left = "- … 9 more steps: 4 × grep, 2 × cat, 1 × find, …\n- … 5 more steps: 3 × make, 2 × grep"
    text = update(f"{SUMMARY_PREFIX}\nSteps:\n- … 3 more steps\n- ls → a.py\n{left}\n- pytest → 3 failed")
    assert "- … 3 more steps\n- ls → a.py\n- … 14 more steps: 6 × grep, 2 × cat, 1 × find, …\n- pytest" in text


def test_steps_that_a_model_told_in_its_own_words_are_counted_alone():
    told = "\n".join(f"- The agent ran part {number} of the tests → 3 failed in {number} s" for number in range(30))
    text = update(f"{SUMMARY_PREFIX}\n## Steps\n{told}", *step(3))
    assert re.search(r"^- … \d+ more steps$", text, re.MULTILINE)
    assert "× The" not in text


def test_a_line_that_tells_several_steps_counts_them_all_once_it_is_left_out():
    told = ["grep a src ×3 → none", "ls . (and 4 more) → b.py"]
    text = update("\n- ".join([f"{SUMMARY_PREFIX}\nSteps:", *told]), *step(1), *step(2), *step(3), budget=50)
    assert counted(text)[1] == 3 + 5 + 3


def test_the_number_of_an_empty_line_is_told_as_what_a_call_was_given():
    lines = "\n".join(f"  {number}\t{'pass  # of it' if number % 2 else ''}" for number in range(270, 300))
    read = call(1, "read_file", path="src/a.py", start=272, end=300)
    text = update(None, read, result(1, lines), facts=("272",), budget=400)
    assert "- 272\n" not in f"{text}\n"
    assert "start = 272" in text
    again = update(text, *step(2), facts=("272",), budget=400)
    assert "- 272\n" not in f"{again}\n"
    assert "start = 272" in again
