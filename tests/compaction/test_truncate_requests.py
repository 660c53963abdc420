"""What was pasted into a long request loses its middle where nothing else makes the row fit, and only there."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

from compressing import POLICY, assert_adds_up, run
from msgspec.structs import replace
from pruning import call
from trajectories import read, result

from trajcompress.tokens.counter import TokenCounter

STRICT = replace(POLICY, fit="strict", clear_observations=True)
PASTED = "\n".join(
    f"row {number}: some words that tell {'little' if number % 7 == 3 else 'nothing'} of it" for number in range(800)
)
FIRST, LAST = "Which of these rows is the largest?", "Answer with its number only."
LONG_ASK = {"role": "user", "content": f"{FIRST}\n\n{PASTED}\n\n{LAST}"}
SYSTEM = {"role": "system", "content": "You read tables."}
SAY = {"role": "assistant", "content": "It is the last one."}
MARK = re.compile(r"\n\[… ([\d,]+) characters elided(?:, with ([^\n]*))? …\]\n")


def test_it_fits_with_what_was_asked_and_both_ends_of_what_was_pasted(counter: TokenCounter):
    trajectory = read([SYSTEM, LONG_ASK, SAY])
    turns, row = run(counter, trajectory, policy=STRICT)
    assert (row.outcome, row.reason, row.still_over_limit) == ("compressed", "request_truncated", False)
    assert (row.requests_truncated, row.turns_elided) == (1, 0)
    said = turns[1].text
    assert said.startswith(f"{FIRST}\n\nrow 0: some words that tell nothing of it\n")
    assert said.endswith(f"row 799: some words that tell nothing of it\n\n{LAST}")
    assert len(MARK.findall(said)) == 1
    assert (turns[0], turns[2]) == (trajectory.turns[0], trajectory.turns[2])
    assert 950 < row.compressed_tokens <= 1000  # no more than needed
    assert_adds_up(counter, trajectory, STRICT, turns, row)
    lenient = run(counter, trajectory, policy=replace(STRICT, fit="lenient"))[1]
    assert (lenient.outcome, lenient.requests_truncated) == ("unchanged", 0)


def test_results_are_cut_first_as_short_as_can_be(counter: TokenCounter):
    trajectory = read([SYSTEM, LONG_ASK, call(), result(text=PASTED), SAY])
    turns, row = run(counter, trajectory, policy=STRICT)
    assert (row.requests_truncated, row.turns_elided, row.still_over_limit) == (1, 1, False)
    assert len(turns[3].text) < 500 < len(turns[1].text)
    assert_adds_up(counter, trajectory, STRICT, turns, row)


def test_it_stays_where_anything_else_is_enough(counter: TokenCounter):
    shorter = {"role": "user", "content": f"{FIRST}\n\n{PASTED[:2600]}\n\n{LAST}"}
    trajectory = read([SYSTEM, shorter, call(), result(text=PASTED), SAY])
    assert counter.count(replace(trajectory, turns=trajectory.turns[:2])).tokens > 500  # it is a long one
    turns, row = run(counter, trajectory, policy=STRICT)
    assert (row.requests_truncated, row.turns_elided, row.still_over_limit) == (0, 1, False)
    assert turns[1] is trajectory.turns[1]


def test_requests_of_no_more_than_half_the_target_stay(counter: TokenCounter):
    asks = [{"role": "user", "content": f"{number}: {PASTED[:1900]}"} for number in range(4)]
    turns, row = run(counter, read(asks), policy=STRICT)
    assert (turns, row.still_over_limit, row.requests_truncated) == (None, True, 0)


def test_nothing_is_cut_where_that_is_not_enough(counter: TokenCounter):
    answer = {"role": "assistant", "content": PASTED}
    turns, row = run(counter, read([LONG_ASK, answer]), policy=STRICT)
    assert (turns, row.reason, row.requests_truncated) == (None, "single_turn", 0)


def test_around_a_summary(counter: TokenCounter):
    talk = [
        message
        for number in range(12)
        for message in (
            {"role": "assistant", "content": f"So, {number}. " * 25},
            {"role": "user", "content": f"And {number}?"},
        )
    ]
    trajectory = read([LONG_ASK, *talk, SAY])
    turns, row = run(counter, trajectory, policy=STRICT)
    assert (row.reason, row.requests_truncated, row.still_over_limit) == ("request_truncated", 1, False)
    assert row.region_turns > 0
    assert_adds_up(counter, trajectory, STRICT, turns, row)


def test_of_several_parts_only_the_longest_text_is_cut(counter: TokenCounter):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    parts = [
        {"type": "text", "text": FIRST},
        picture,
        {"type": "text", "text": PASTED},
        {"type": "text", "text": LAST},
    ]
    trajectory = read([{"role": "user", "content": parts}, SAY])
    rules = replace(STRICT, target_max_tokens=2500)
    turns, row = run(counter, trajectory, policy=rules)
    first, image, pasted, last = turns[0].raw["content"]
    assert (first, image, last) == (parts[0], parts[1], parts[3])
    assert MARK.search(pasted["text"])
    assert_adds_up(counter, trajectory, rules, turns, row)


def test_the_line_that_later_turns_use_stays(counter: TokenCounter):
    lines = PASTED.splitlines()
    lines[400] = "order 1Z999AA10123456784 was lost"
    ask = {"role": "user", "content": "\n".join((FIRST, *lines, LAST))}
    trajectory = read([ask, {"role": "assistant", "content": "I look for 1Z999AA10123456784."}])
    turns, row = run(counter, trajectory, policy=STRICT)
    assert "\norder 1Z999AA10123456784 was lost\n" in turns[0].text
    assert (row.facts_needed, row.facts_kept) == (1, 1)


def test_a_tighter_target_leaves_one_mark(counter: TokenCounter):
    once, _ = run(counter, read([LONG_ASK, SAY]), policy=replace(STRICT, target_max_tokens=1800))
    twice, row = run(counter, read([turn.raw for turn in once]), policy=STRICT)
    (mark,) = MARK.findall(twice[0].text)
    kept = len(twice[0].text) - len(MARK.search(twice[0].text)[0])
    assert int(mark[0].replace(",", "")) + kept == len(LONG_ASK["content"])
    assert row.requests_truncated == 1


def test_what_binds_stays_amid_what_was_pasted(counter: TokenCounter):
    half = len(PASTED) // 2
    bind = "You must never name a row that has the word nothing in it."
    ask = {"role": "user", "content": f"{FIRST}\n\n{PASTED[:half]}\n\n{bind}\n\n{PASTED[half:]}\n\n{LAST}"}
    turns, row = run(counter, read([SYSTEM, ask, SAY]), policy=STRICT)
    assert (row.requests_truncated, row.still_over_limit) == (1, False)
    assert f"\n{bind}\n" in turns[1].text
    assert len(MARK.findall(turns[1].text)) == 2


def test_what_is_encoded_in_it_goes_whole_as_half_of_it_is_no_use(counter: TokenCounter):
    encoded = b64encode(b"".join(sha256(bytes([n])).digest() for n in range(240))).decode()
    trajectory = read([SYSTEM, {"role": "user", "content": f"What does this image show?\n{encoded}"}, SAY])
    turns, row = run(counter, trajectory, policy=replace(STRICT, target_max_tokens=200))
    assert (row.reason, row.requests_truncated) == ("request_truncated", 1)
    assert turns[1].text == f"What does this image show?\n[… {len(encoded):,} encoded characters elided …]"
