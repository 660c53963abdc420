"""What the built-in summariser says is so: of made rows and real ones, whatever their format."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_rows import real_rows
from trajectories import Example, examples

from trajcompress.compaction.region import Protection, lay_out
from trajcompress.facts import facts_kept, facts_needed
from trajcompress.outcomes.steps import steps_of
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.fit import BRIEF_CHARS, fit
from trajcompress.summarize.extractive.record import write
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import ToolCall, Turn

LEFT_OUT = re.compile(
    r"… (?:\d+ more requests?(?:, |\Z))?(?:\d+ more steps?(?:: .+)?)?"
)  # several gaps may be of one size
SECTIONS = ("Before", "Requests", "Replies", "Notes", "Steps", "Files changed", "Needed later")
AT_END = SECTIONS[-2:]
WORD = re.compile(r"\w+")
OWN_WORDS = frozenset(
    [
        "exit",
        "code",
        "matches",
        "lines",
        "characters",
        "line",
        "total",
        "items",
        "more",
        "no",
        "output",
        "empty",
        "error",
        "failed",
        "true",
        "false",
        "with",
        "null",
        "none",
        "×",
    ]
)


def count(text: str) -> int:
    return len(text) // 4 + 1


def region_of(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    middle = lay_out(turns, Protection()).middle
    return turns[middle.start : middle.end]


def ask(turns: tuple[Turn, ...], budget: int, **more) -> SummaryRequest:
    return SummaryRequest("t", (), turns, budget, count, **more)


def sections_of(text: str) -> dict[str, list[str]]:
    """Read a summary: bullets by section."""
    assert text.startswith(SUMMARY_PREFIX)
    found: dict[str, list[str]] = {}
    headings: list[str] = []
    lines = text.removeprefix(SUMMARY_PREFIX).strip("\n").split("\n")
    for line in lines if lines != [""] else []:
        if line.startswith("- "):
            found[headings[-1]].append(line[2:])
        else:
            assert line.endswith(":"), line
            assert line[:-1] in SECTIONS
            found.setdefault(line[:-1], [])
            headings.append(line[:-1])
    assert all(one != other for one, other in pairwise(headings))
    at_end = [name for name in AT_END if name in headings]
    assert headings[len(headings) - len(at_end) :] == at_end
    assert not set(AT_END) & set(headings[: len(headings) - len(at_end)])
    return found


def bare(text: str) -> str:
    """A text without what a summary takes out of quotes: white space, marks and what is broken up."""
    return "".join(WORD.findall(text))


def assert_says_what_is_so(region: tuple[Turn, ...], text: str) -> None:
    told = sections_of(text)
    lines = [line for said in told.values() for line in said if not LEFT_OUT.fullmatch(line)]
    once = [line for line in lines if line not in told.get("Requests", ()) or len(line) > BRIEF_CHARS]
    assert len(once) == len(set(once))
    assert all(any(map(str.isalnum, line)) for line in lines)
    said = bare("\n".join(turn.text for turn in region if turn.role == "user"))
    for quote in told.get("Requests", []):
        assert LEFT_OUT.fullmatch(quote) or all(bare(piece) in said for piece in quote.split("…"))
    noted = bare("\n".join(turn.text for turn in region if turn.role == "assistant"))
    for quote in told.get("Notes", []):
        assert all(bare(piece) in noted for piece in quote.split("…"))
    assert_steps_are_their_own(region, told.get("Steps", []))
    for file in told.get("Files changed", []):
        name = re.sub(r" \(\d+ times\)$", "", file)
        touching = [step for step in steps_of(region) if step.result is not None and step.action]
        assert any(
            name in {*step.action.changes, *step.action.files} or step.action.edits_open_file for step in touching
        ), file


def assert_steps_are_their_own(region: tuple[Turn, ...], lines: list[str]) -> None:
    """Each line is of one call: its words are this call's, and those behind the arrow are of this call's result."""
    made = []
    for step in steps_of(region):
        if step.action is not None:
            turn = region[step.turn]
            asked = " ".join([turn.text, *(f"{call.name} {read_text(call.arguments)}" for call in turn.calls)])
            made.append((bare(plain(asked)), None if step.result is None else bare(plain(step.result))))
    files = bare(" ".join(file for step in steps_of(region) if step.action for file in step.action.files))
    for line in lines:
        if line.startswith("… "):
            continue
        left, arrow, right = re.sub(r" \(and \d+ more\)(?= → )", "", line).partition(" → ")
        named, came = WORD.findall(cut(plain(left))), WORD.findall(cut(plain(right)))
        own = [result for asked, result in made if all(word in asked or word in files for word in named)]
        assert own, line
        if arrow:
            came = [word for word in came if word.lower() not in OWN_WORDS and not word.isdigit()]
            assert any(result is not None and all(word in result for word in came) for result in own), line


def plain(text: str) -> str:
    return re.sub(r"\\+(?:u[0-9a-f]{4}|[a-z])?", " ", text)


def read_text(arguments: str) -> str:
    """Arguments as they are and as they read."""
    try:
        return f"{arguments} {json.dumps(json.loads(arguments, strict=False), ensure_ascii=False)}"
    except ValueError:
        return arguments


def cut(text: str) -> str:
    """A line without words beside an ellipsis, which may be cut, and without what counts and places it."""
    return re.sub(r"\w*…\w*", " ", re.sub(r" ×\d+|\(lines [^)]*\)|\(\+\d+ lines?\)| in \S+$", " ", text))


made = examples(max_steps=8, max_words=120)


@settings(max_examples=80)
@given(made, st.integers(0, 600))
def test_what_is_said_of_made_rows_is_so(example: Example, budget: int):
    text = extract(ask(example.turns, budget))
    assert text == SUMMARY_PREFIX or count(text) <= budget
    assert text == extract(ask(example.turns, budget))
    if "\n" in text:
        assert_says_what_is_so(example.turns, text)


@pytest.fixture(scope="module")
def rows() -> list[tuple[Turn, ...]]:
    return [region for row in real_rows()[::3] if len(region := region_of(row.turns)) > 2]


@pytest.mark.parametrize("budget", [250, 750])
def test_what_is_said_of_real_rows_is_so(rows, budget):
    for region in rows:
        text = extract(ask(region, budget))
        assert count(text) <= budget
        if "\n" in text:
            assert_says_what_is_so(region, text)


def test_facts_stand_in_summaries_of_real_rows_word_for_word(rows):
    needed = kept = 0
    for region in rows:
        half = len(region) // 2
        facts = facts_needed((), region[:half], region[half:])
        text = extract(ask(region[:half], 750, facts=facts))
        assert count(text) <= 750
        needed += len(facts)
        kept += len(facts_kept(facts, text))
    assert kept >= 0.95 * needed > 0


def test_steps_told_and_steps_counted_add_up(rows):
    for region in rows:
        record = write(ask(region, 300))
        text = fit(record, 300, count)
        if "\n" not in text or "Steps" not in (told := sections_of(text)):
            continue
        more = [line for line in told["Steps"] if line[0] == "…"]
        assert not re.search(r"^- … .+\n- … ", text, re.MULTILINE)  # a gap has one count
        counted = sum(map(int, re.findall(r"(\d+) more step", "\n".join(more))))
        shown = [line for line in told["Steps"] if line not in more]
        times = sum(int(again[1]) if (again := re.search(r" ×(\d+)(?= → |$)", line)) else 1 for line in shown)
        times += sum(int(more) for line in shown for more in re.findall(r" \(and (\d+) more\) → ", line))
        acted = [step for step in steps_of(region) if step.action is not None]
        thought = [step for step in acted if step.action.kind == "idle" and step.result == ""]
        assert counted + times == len(acted) - len(thought)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["asked", "ran", "replied"]), min_size=2, max_size=14), st.integers(30, 400))
def test_what_is_told_stands_in_the_order_in_which_it_happened_under_its_heading(kinds, budget):
    turns: list[Turn] = []
    for number, kind in enumerate(kinds):
        word = f"{kind}{number:02}"
        if kind == "ran":
            call = ToolCall(str(number), "look", json.dumps({"for": word}))
            turns.append(Turn("assistant", "", {}, calls=(call,)))
            turns.append(Turn("tool", f"It has {word} in it.", {}, answers=(str(number),)))
        else:
            role, said = ("user", "Please mind") if kind == "asked" else ("assistant", "What I found is")
            turns.append(Turn(role, f"{said} {word} all the time.", {}))
    text = extract(ask(tuple(turns), budget))
    numbers = [int(number) for number in re.findall(r"(?:asked|ran|replied)(\d\d)(?: →|(?= all))", text)]
    assert numbers == sorted(numbers)
    heading = ""
    for line in text.split("\n")[1:]:
        heading = heading if line.startswith("- ") else line
        for kind in re.findall(r"(asked|ran|replied)\d\d", line):
            assert heading == {"asked": "Requests:", "ran": "Steps:", "replied": "Replies:"}[kind]
    if heading:  # else one line was all that it had room for
        counted = sum(map(int, re.findall(r"(\d+) more request", text)))
        assert counted + len(re.findall(r"asked\d\d", text)) == kinds.count("asked")
    if budget == 400:  # for all of it; what is said before a call may be a plan
        assert {number for number, kind in enumerate(kinds) if kind != "replied"} <= set(numbers)


@settings(max_examples=60)
@given(made, made, st.integers(40, 500))
def test_an_update_tells_what_was_told_and_what_is_new_each_once(one: Example, two: Example, budget: int):
    first = extract(ask(one.turns, budget))
    both = extract(ask(two.turns, budget, previous=first))
    assert count(both) <= budget
    assert both.count(SUMMARY_PREFIX) == 1
    lines = [line for line in both.split("\n") if line.startswith("- ") and not LEFT_OUT.fullmatch(line[2:])]
    assert len(lines) == len(set(lines))
    again = extract(ask((), 4 * budget, previous=first))
    if "\n" in first and len(first) < 1600:
        assert set(first.split("\n")) <= set(again.split("\n"))


@settings(max_examples=60)
@given(
    st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12), min_size=1, max_size=12)
)
def test_a_summary_of_another_is_carried_over(words):
    written = f"{SUMMARY_PREFIX}\n## Überblick\n" + "\n".join(f"* punto {word} x" for word in words)
    text = extract(ask((Turn("assistant", "weiter", {}),), 4000, previous=written))
    told = sections_of(text)["Before"]
    assert len(told) == len(set(told)) <= len(set(words))
    for word in words:
        if word.isalnum():
            assert f"punto {word} x" in told


@settings(max_examples=150)
@given(st.lists(st.text("abcdefgh_é订", min_size=1, max_size=60), min_size=1, max_size=80), st.integers(60, 400))
def test_no_word_is_cut_in_the_middle_unless_it_is_long(words, budget):
    said = " ".join(words)
    turns = (
        Turn("user", f"Mind: {said}", {}),
        Turn("assistant", f"I found {said}", {}),
    )
    text = extract(ask(turns, budget))
    known = {"Mind", "I", "found", "Requests", "Replies", "CONTEXT", "SUMMARY", *words}
    for word in WORD.findall(text):
        assert word in known or any(len(long) > 39 and long.startswith(word) for long in words), word
