"""Bulk goes before any observation is cleared: encoded data, long addresses, results that were given before."""

from __future__ import annotations

import base64
import json
import random

import pytest
from compressing import POLICY, Writer, assert_adds_up, run, words
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pruning import LISTING, call
from trajectories import openai, read, result

from trajcompress.compaction.text.bulk import without_bulk
from trajcompress.compaction.text.line import is_line, repeat_line
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Reading
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn

FIRST = replace(POLICY, clear_observations=True, fit="strict")
DATA = base64.b64encode(random.Random(1).randbytes(3_000)).decode()  # noqa: S311 - it protects nothing
HEX = random.Random(2).randbytes(600).hex()  # noqa: S311
ADDRESS = f"https://img.example.com/uu/api/{'a1B2-' * 30}/photo.jpg"
TITLED = (
    "https://www.papers.example/publication/390351355_Effects_of_early_Physiotherapy_on_Recovery_2024_and_the_Quality-of_"
    "Life_of_Patients_after_Surgery_A_Controlled_Trial_in_12_Hospitals_of_the_North_and_9_of_the_South_Volume_XVII_Part_b"
)
ASK = {"role": "user", "content": f"Look at this: {DATA}"}
TABLE = "\n".join(f"{number:04} | a row of the table that nobody reads" for number in range(60))


def never(_: str) -> bool:
    return False


def looks(*results: str, between: str = "I go on.", end: str = "Done.") -> Trajectory:
    """A request, the same call again and again with these results, and an answer."""
    steps = [
        message
        for number, text in enumerate(results)
        for message in (
            {**call("show", f"c{number}", path="table.txt"), "content": between * bool(number)},
            result(f"c{number}", text),
        )
    ]
    return read([ASK, *steps, {"role": "assistant", "content": end}])


def texts(turns: tuple[Turn, ...]) -> list[str]:
    return [turn.text for turn in turns if turn.answers]


def dropped(counter: TokenCounter, trajectory: Trajectory, less: int) -> tuple[list[str], int]:
    """Compress to so many tokens less, and return what the observations say then, and how many changed."""
    rules = replace(FIRST, target_max_tokens=counter.count(trajectory).tokens - less)
    turns, row = run(counter, trajectory, Writer(lambda _: words(5)), rules)
    assert_adds_up(counter, trajectory, rules, turns, row)
    assert turns is not None
    assert (row.reason, row.still_over_limit, row.turns_elided) == ("pruned", False, 0)
    assert (row.facts_needed, row.facts_kept) == (
        0,
        0,
    )  # what later turns say stays
    assert turns[0] is trajectory.turns[0]
    return texts(turns), row.turns_pruned


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'{{"data": "{DATA}"}}', '{"data": "[… 4,000 encoded characters elided …]"}'),
        (
            f"data:image/png;base64,{DATA} and more",
            "data:image/png;base64,[… 4,000 encoded characters elided …] and more",
        ),
        (f"before\n{HEX}\nafter", "before\n[… 1,200 encoded characters elided …]\nafter"),
        (f"see {ADDRESS}.", f"see https://img.example.com/[… {len(ADDRESS) - 24} characters elided …]."),
        (f"{TITLED}?session={'a1B2' * 20} now", f"{TITLED}?[… 88 characters elided …] now"),
        ("a" + "\0" * 4_096 + "\n", "a[… 4,096 NUL characters elided …]\n"),
        (r'{"data": "' + r"\u0000" * 300 + '"}', '{"data": "[… 300 NUL characters elided …]"}'),
    ],
)
def test_encoded_data_and_long_addresses_become_marks(text: str, expected: str):
    assert without_bulk(text, never) == expected
    assert without_bulk(expected, never) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a_long_name_in_words_" * 40,
        f"({TITLED})",
        "Report_2024_Of-the_Second/" * 30,
        "/usr/lib/python3/dist-packages/" * 30,
        "=" * 900,
        "0" * 900,
        "01" * 450,
        "1234567890" * 90,
        DATA[:190],
        LISTING,
        "https://example.com/docs/guide/index.html?page=2#part",
        " ".join(HEX[at : at + 64] for at in range(0, 1_200, 64)),
    ],
)
def test_names_rules_digests_and_short_data_stay(text: str):
    assert without_bulk(text, never) == text


def test_what_a_later_turn_quotes_stays():
    for text in (DATA, HEX, ADDRESS):
        said = f"I open {text} next."
        assert without_bulk(f"({text})", said.__contains__) == f"({text})"


@given(st.lists(st.sampled_from(["a b\n", '"', DATA, DATA[:450], HEX, ADDRESS, "\n", "é", "\x7f", "://", "x" * 130])))
@settings(max_examples=60, deadline=None)
def test_json_stays_json_and_what_was_dropped_is_not_dropped_again(pieces: list[str]):
    text = "".join(pieces)
    once = without_bulk(text, never)
    assert without_bulk(once, never) == once
    assert len(once) <= len(text)
    assert set(json.loads(without_bulk(json.dumps({"a": text}), never))) == {"a"}


def test_bulk_goes_before_any_observation_is_cleared(counter: TokenCounter):
    found, changed = dropped(counter, looks(LISTING, f'{{"image": "{DATA}"}}', LISTING + "\n"), less=100)
    assert found == [LISTING, '{"image": "[… 4,000 encoded characters elided …]"}', LISTING + "\n"]
    assert changed == 1


def test_a_result_that_came_before_becomes_a_line_that_says_so(counter: TokenCounter):
    size = counter.count_text(TABLE)
    found, changed = dropped(counter, looks(TABLE, TABLE, LISTING, TABLE, LISTING + "\n"), less=size + 100)
    just, line = (
        f"[show table.txt → the same result as {of} before; 60 lines, {len(TABLE):,} characters]"
        for of in ("the call", "this call gave")
    )
    assert found == [TABLE, just, LISTING, line, LISTING + "\n"]
    assert is_line(line)
    assert is_line(just)
    assert changed == 2


def test_what_the_last_step_answers_stays_though_it_came_before(counter: TokenCounter):
    found, changed = dropped(counter, looks(TABLE, LISTING, TABLE, TABLE), less=100)
    assert found[0] == found[3] == TABLE
    assert is_line(found[2])
    assert changed == 1


def test_no_more_of_what_is_repeated_goes_than_must_the_oldest_first(counter: TokenCounter):
    found, changed = dropped(counter, looks(TABLE, TABLE, TABLE, LISTING, TABLE), less=100)
    assert [text == TABLE for text in found] == [True, False, True, False, True]
    assert changed == 1


def test_of_a_short_result_that_came_before_the_line_says_what_it_was(counter: TokenCounter):
    refused = json.dumps({"error": "no table of that name is loaded", "asked": [f"row {n}" for n in range(50)]})
    found, changed = dropped(counter, looks(refused, LISTING, refused, TABLE), less=20)
    assert found[0] == refused
    why = "fails as before: error: no table of that name is loaded"
    assert found[2] == f"[show table.txt → {why}; {len(refused)} characters]"
    assert changed == 1


def test_that_a_call_with_many_arguments_failed_as_another_did_is_told_in_words(counter: TokenCounter):
    why = "no presentation of that name is loaded, or it was closed"
    refused = json.dumps({"error": why, "asked": [f"row {n}" for n in range(40)]})
    about = {"topic": "Rivers of the north", "slides": 8, "kind": "creative", "colours": "dark", "pictures": True}
    calls = [{"deck": "a"}, {"deck": "the second presentation", **about}]
    steps = [
        message
        for n, arguments in enumerate(calls)
        for message in (call("generate_presentation", f"c{n}", **arguments), result(f"c{n}", refused))
    ]
    told = ({**call("show", "c2", path="table.txt"), "content": "Then the table."}, result("c2", TABLE))
    found, _ = dropped(counter, read([ASK, *steps, *told, {"role": "assistant", "content": "Done."}]), less=20)
    assert found[0] == refused
    assert f"error: {why}" in found[1]
    assert "the same result" not in found[1]


def test_of_old_results_that_are_the_same_the_first_and_the_last_stay(counter: TokenCounter):
    others = [f"{LISTING}\n{number}" for number in range(FIRST.keep_observations)]
    size = counter.count_text(TABLE)
    found, changed = dropped(counter, looks(TABLE, TABLE, TABLE, TABLE, *others), less=size + 100)
    line = f"[show table.txt → the same result as the call before; 60 lines, {len(TABLE):,} characters]"
    assert found[:4] == [TABLE, line, line, TABLE]
    assert changed == 2


def test_the_same_result_of_another_call_is_not_said_to_be_of_this_one():
    action = Action("write_fix", "project=Math", "run")
    result = Reading("a\nb", Asked(action))
    same, other = (repeat_line(result, "write_fix", action, is_same=is_same) for is_same in (True, False))
    assert "as this call gave before" in same
    assert "as a call like this gave before" in other
    assert is_line(other)
    last = repeat_line(result, "write_fix", action, is_same=True, when="last")
    assert "as this call gave the time before; " in last
    assert is_line(last)


def test_what_failed_again_says_why(counter: TokenCounter):
    shown = "".join(f"{number}: value_{number} = read({number})\n" for number in range(40))
    failed = f"Traceback (most recent call last):\n{shown}SyntaxError: unmatched ')' (shop.py, line 7)"
    ran = [m for n in range(4) for m in (call("bash", f"c{n}", command="python shop.py"), result(f"c{n}", failed))]
    found, _ = dropped(counter, read([ASK, *ran, {"role": "assistant", "content": "Done."}]), less=400)
    assert found[0] == found[3] == failed
    assert found[1] == found[2]
    assert found[1].startswith("[python shop.py → fails as before: SyntaxError: unmatched ')' (shop.py, line 7); 42 ")
    assert is_line(found[1])


def test_a_line_for_what_came_before_holds_no_secret_and_no_half_of_one(counter: TokenCounter):
    key = "aB3dE6gH9j" * 12
    shown = "".join(f"{number}: value_{number} = read({number})\n" for number in range(40))
    for words_before in range(0, 80, 4):
        why = f"{'no ' * words_before}key -----BEGIN PRIVATE KEY-----{key}-----END PRIVATE KEY-----"
        failed = f"Traceback (most recent call last):\n{shown}ValueError: {why}"
        ran = [m for n in range(3) for m in (call("bash", f"c{n}", command="python a.py"), result(f"c{n}", failed))]
        found, _ = dropped(counter, read([ASK, *ran, {"role": "assistant", "content": "Done."}]), less=400)
        assert is_line(found[1])
        assert key[:10] not in found[1]
    made = json.dumps({"password": "hunter2Secret99", "pages": [f"page {n}" for n in range(90)]})
    steps = [m for n in range(3) for m in (call("new", f"c{n}", title="Rivers"), result(f"c{n}", made))]
    ends = {"role": "assistant", "content": "It is hunter2Secret99."}
    told = ({**call("show", "c4", path="table.txt"), "content": "Then hunter2Secret99."}, result("c4", TABLE))
    found, _ = dropped(counter, read([ASK, *steps, *told, ends]), less=500)
    assert [is_line(text) for text in found[:3]] == [False, True, True]
    assert not any("hunter2Secret99" in text for text in found[1:])


def test_what_the_next_call_uses_of_a_result_that_came_before_is_named(counter: TokenCounter):
    made = json.dumps({"deck": "deck_4417", "pages": [f"page {n} of the deck" for n in range(60)]})
    ends = {"role": "assistant", "content": "I fill deck_4417 now."}
    steps = [m for n in range(3) for m in (call("new_deck", f"c{n}", title="Rivers"), result(f"c{n}", made))]
    told = ({**call("show", "c4", path="table.txt"), "content": "Then deck_4417."}, result("c4", TABLE))
    found, _ = dropped(counter, read([ASK, *steps, *told, ends]), less=500)
    assert found[0] == made
    assert found[1].startswith("[new_deck Rivers → the same result as the call before; ")
    assert found[2].startswith("[new_deck Rivers → the same result as the call before; with deck_4417; ")
    assert is_line(found[2])


def test_a_reply_that_no_call_got_is_not_said_to_be_what_a_call_gave(counter: TokenCounter):
    reply = f"Observation: Invalid Action. Give one of these.\n{TABLE}"
    steps = [("Action: search[tables]", f"Observation: {LISTING}"), *[("I wonder what to do.", reply)] * 3] * 2
    said = [turn for thought, came in steps for turn in (("assistant", thought), ("user", came))]
    trajectory = openai(("user", "Look at the tables."), *said, ("assistant", "Done."))
    turns, _ = run(counter, trajectory, Writer(lambda _: words(5)), replace(FIRST, target_max_tokens=5_000))
    assert turns is not None
    assert [turn.text for turn in turns].count(reply) > 1
    assert not any("this call gave" in turn.text for turn in turns)


def test_nothing_points_to_a_result_that_may_be_cleared(counter: TokenCounter):
    others = [f"{LISTING}\n{number}" for number in range(FIRST.keep_observations - 1)]
    found, _ = dropped(counter, looks(LISTING, TABLE, *others, TABLE), less=100)
    assert found[-1] == TABLE
    assert not any("the same result" in text for text in found)


def test_what_a_browser_says_of_the_metadata_of_a_page_goes_unless_it_is_quoted():
    metadata = '{\n    "meta_tags": {\n        "og:description": "All of the trains",\n' + (
        '        "og:image:width": "600",\n' * 20 + '        "author": "Ann Example"\n    }\n}'
    )
    screen = (
        "I clicked 'A'.\n\nHere is a screenshot of [A](https://b.org/a). The viewport shows 9%.\n"
        f"The following metadata was extracted from the webpage:\n\n{metadata}\n\nTrains of today"
    )
    thin = without_bulk(screen, lambda _: False)
    assert "og:" not in thin
    assert f"[… {len(metadata)} characters elided …]\n\nTrains of today" in thin
    assert without_bulk(screen, lambda value: value == "Ann Example") == screen


def test_what_an_editor_had_open_goes_but_for_the_last_time(counter: TokenCounter):
    tabs = [[f"src/part_{number}_{tab}.py, opened at nine" for tab in range(12)] for number in range(3)]
    told = ["\n# Open tabs\n" + "\n".join(each) for each in tabs]
    states = [f"<environment_details>{each}</environment_details>" for each in told]
    done = ["saved", "saved as well", "all saved"]
    trajectory = looks(*(f"{said}\n{state}" for said, state in zip(done, states, strict=True)))
    shown, changed = dropped(counter, trajectory, 60)
    mark = f"[… {len(told[0]):,} characters elided …]"
    assert shown[0] == f"saved\n<environment_details>{mark}</environment_details>"
    assert shown[1].startswith("saved as well\n<environment_details>[… ")
    assert shown[2] == f"all saved\n{states[2]}"
    assert changed == 2
