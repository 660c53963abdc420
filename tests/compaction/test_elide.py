from __future__ import annotations

import json
import re

from hypothesis import given
from hypothesis import strategies as st
from pruning import (
    ASK,
    END,
    LISTING,
    assert_kept,
    assert_outline,
    call,
    json_styles,
    json_values,
    real_rows,
    tokens,
)
from trajectories import Example, examples, read, result

from trajcompress.compaction.text import elide_results
from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.middle import LEAST_CUT, cut_text, name_in_mark
from trajcompress.compaction.text.result_lines import all_lines
from trajcompress.facts.ledger import FactLedger


def elided(*messages, excess, indexes=None):
    turns = read(list(messages)).turns
    return turns, elide_results(turns, range(len(turns)) if indexes is None else indexes, excess, tokens)


def size(turns):
    return sum(tokens(turn.text) for turn in turns)


def test_the_oldest_result_is_cut_first_and_no_more_than_needed():
    words_ = " ".join(f"word{number}" for number in range(2000))
    before, after = elided(ASK, call(), result(text=words_), call(), result(text=words_), excess=1500)
    assert after[4] is before[4]
    assert 1500 <= size(before) - size(after) < 1600
    assert re.search(r"\n\[… [\d,]+ characters elided …\]\n", after[2].text)
    assert after[2].text.startswith("word0 word1 ")
    assert after[2].text.endswith(" word1999")


def test_where_one_is_not_enough_the_next_is_cut_too_and_words_never_are():
    long = "many words " * 500
    last = {"role": "user", "content": long}
    before, after = elided(ASK, {**call(), "content": long}, result(text=long), result(text=long), last, excess=10**6)
    assert [turn is one for turn, one in zip(after, before, strict=True)] == [True, True, False, False, True]
    assert max(len(turn.text) for turn in after[2:4]) <= 400


def test_only_what_may_be_cut_is():
    before, after = elided(ASK, call(), result(text=LISTING), call(), result(text=LISTING), excess=50, indexes=[4])
    assert after[2] is before[2]
    assert len(after[4].text) < len(LISTING)


def test_nothing_is_cut_without_an_excess():
    before, after = elided(ASK, call(), result(text=LISTING), excess=0)
    assert all(turn is one for turn, one in zip(after, before, strict=True))


def test_the_last_request_stays_and_results_after_it_in_a_users_turn_do_not():
    tagged = {"role": "user", "content": f"<tool_response>{LISTING}</tool_response>"}
    asked = {"role": "user", "content": f"<tool_response>{LISTING}</tool_response>\nAnd then?"}
    before, after = elided(tagged, END, asked, END, tagged, END, excess=10**6)
    assert [turn is one for turn, one in zip(after, before, strict=True)] == [False, True, True, True, False, True]


def test_json_results_stay_json():
    rows = [{"id": number, "price": 1.50, "name": f"room {number}"} for number in range(500)]
    text = json.dumps({"count": 500, "note": "quite long " * 300, "rows": rows})
    _, after = elided(ASK, call(), result(text=text), excess=4000)
    data = json.loads(after[2].text)
    assert list(data) == ["count", "note", "rows"]
    assert data["rows"][0] == rows[0]
    assert data["rows"][-1] == rows[-1]
    (mark,) = [item for item in data["rows"] if isinstance(item, str)]
    assert mark == f"… {500 - len(data['rows']) + 1} items elided …"


def test_items_that_an_earlier_cut_left_outlive_its_marks():
    """Only the marks of the first cut were left of a list of flights: three in a row, and no flight."""
    flight = {"flight": "HAT110", "origin": "ATL", "remarks": "none of any kind " * 9}
    for left in ([flight], [flight, flight], [flight, flight, flight]):
        text = json.dumps(["… 3 items elided …", *left, "… 4 items elided …"])
        data = json.loads(cut(text, len(text) // 2))
        assert data[0] == "… 3 items elided …"
        assert data[1]["flight"] == "HAT110"
        assert "elided" in data[-1]


def test_marks_of_one_item_are_known_in_their_form_of_now_and_before():
    flights = [{"flight": f"F{n}0", "note": "economy and business " * 14} for n in range(6)]
    for mark in ("… 1 item elided …", "… 1 items elided …"):
        for text in (json.dumps([mark, *flights]), json.dumps([mark, *flights], ensure_ascii=False)):
            data = json.loads(cut(text, 800))
            left = sum(isinstance(each, dict) for each in data)
            assert 0 < left < len(flights)
            assert sum(int(each.split()[1]) for each in data if isinstance(each, str)) == 1 + len(flights) - left


def test_json_within_json_stays_json():
    text = json.dumps([{"type": "text", "text": json.dumps(list(range(3000)))}])
    assert json.loads(json.loads(cut(text, 600))[0]["text"])[:2] == [0, 1]


@given(examples(max_steps=6, max_words=300), st.integers(0, 2000))
def test_nothing_but_results_is_ever_elided(example: Example, excess: int):
    turns = example.turns
    after = elide_results(turns, range(len(turns)), excess, tokens)
    assert_kept(turns, after)
    assert [turn.calls for turn in after] == [turn.calls for turn in turns]
    everything = elide_results(turns, range(len(turns)), 10**6, tokens)
    assert elide_results(everything, range(len(turns)), 10**6, tokens) == everything


@given(json_values.filter(lambda value: isinstance(value, dict | list)), json_styles, st.integers(0, 500))
def test_json_that_is_cut_keeps_its_outline(value, style, limit):
    text = json.dumps(value, **style)
    shorter = cut(text, limit)
    assert len(shorter) <= len(text)
    assert_outline(json.loads(shorter), json.loads(text), lists=False)


_facts = st.lists(st.sampled_from(["src/a.py", "n=3"]), max_size=2)


@given(st.text(min_size=200, max_size=900), st.integers(100, 600), st.integers(100, 600), _facts)
def test_what_is_cut_twice_counts_everything_that_went(text, first, second, facts):
    once = cut_text(text, first)
    assert len(once) < first + LEAST_CUT
    twice = cut_text(name_in_mark(once, dict.fromkeys(facts, "?")), second)
    mark = r"\n\[… (\d+) characters elided(?:, with [\w./=; ]+)? …\]\n"
    gone = sum(int(number) for number in re.findall(mark, twice))
    assert len(re.sub(mark, "", twice)) + gone == len(text)


@given(st.integers(0, 600), st.integers(0, 40), st.integers(100, 900))
def test_no_mark_stands_for_a_few_words(between: int, first: int, limit: int):
    lines = [f"row {number} is nothing special" for number in range(80)]
    lines[first] = "port of gate_b: 8081"
    lines.insert(first + 1, "y" * between)
    lines.insert(first + 2, "port of gate_c: 8082")
    short = cut("\n".join(lines), limit, {"8081": 4.0, "8082": 4.0})
    gone = [int(number.replace(",", "")) for number in re.findall(r"\n\[… ([\d,]+) characters elided …\]\n", short)]
    assert gone
    assert min(gone) >= LEAST_CUT


def test_a_result_of_which_little_would_go_stays_and_another_is_cut():
    short, long = "a word or two " * 36, "a word or two " * 400
    asked = call("show", "c0", path="a.txt")
    turns = read([{"role": "user", "content": "Look."}, asked, result("c0", short), asked, result("c0", long)]).turns
    after = elide_results(turns, range(len(turns)), 20, tokens)
    assert after[2] is turns[2]
    assert len(after[4].text) <= len(long) - LEAST_CUT


@given(st.text(), _facts)
def test_a_text_without_a_mark_names_nothing(text, facts):
    assert name_in_mark(text, dict.fromkeys(facts, "?")) == text


def test_an_array_that_is_cut_twice_counts_every_item():
    twice = json.loads(cut(cut(json.dumps(list(range(1000))), 600), 200))
    (mark,) = [item for item in twice if isinstance(item, str)]
    assert int(re.search(r"\d+", mark)[0]) + len(twice) - 1 == 1000


def test_deep_and_long_json_is_cut_in_linear_time():
    assert json.loads(cut("[" * 900 + '"' + "x" * 2000 + '"' + "]" * 900, 200))
    assert len(cut(json.dumps(["a b" * 50] * 50_000), 10_000)) <= 10_000


def test_real_rows_are_only_cut_in_their_results(rows_folder):
    for turns in real_rows(rows_folder):
        assert_kept(turns, elide_results(turns, range(len(turns)), 2000, tokens))


def test_what_is_to_be_kept_stays_in_whole_lines_between_marks_and_no_escape_is_cut():
    lines = [f"row {number} is nothing special" for number in range(400)]
    lines[150], lines[260] = "  port of gate_b: 8081", "no record of HAT12 was found"
    short = cut("\n".join(lines), 600, {"8081": 4.0, "HAT12": 4.0})
    assert len(short) <= 600
    assert "\n  port of gate_b: 8081\n" in short.replace("\n port", "\n  port").replace("\nport", "\n  port")
    assert "]\nno record of HAT12 was found\n[" in short
    escaped = "\\n".join(lines)
    for limit in range(200, 260):
        for piece in re.split(r"\n\[… [\d,]+ characters elided …\]\n", cut_text(escaped, limit)):
            assert not piece.endswith("\\")
            assert not piece.startswith(("nrow", "n  port", "nno"))


@given(st.lists(st.integers(0, 120), min_size=20, max_size=60), st.integers(150, 2_000))
def test_both_ends_of_what_is_cut_are_whole_lines(sizes: list[int], limit: int):
    lines = ["x" * size for size in sizes]
    short = cut_text("\n".join(lines), limit)
    assert len(short) < limit + LEAST_CUT
    assert set(re.split(r"\n\[… [\d,]+ characters elided …\]\n|\n", short)) <= {*lines, ""} or limit < 528


def test_what_is_needed_is_named_in_the_mark_that_stands_for_it():
    told = {40: " Answer42", 60: " port=8081"}
    whole = "\n".join(f"{number} {'x' * 60}{told.get(number, '')}" for number in range(100))
    cut = cut_text(whole, 900, {"Answer42": 9.0})
    first, second = "\n[… ", " …]\n"
    assert cut.count(first) == 2
    named = name_in_mark(cut, {"the port is 8081": "8081", "elsewhere": "elsewhere"}, whole)
    marks = [part.partition(second)[0] for part in named.split(first)[1:]]
    assert marks[0].endswith(", with elsewhere")
    assert marks[1].endswith(", with the port is 8081")


def test_json_behind_a_label_and_before_a_line_stays_json():
    records = [{"name": f"record {n}", "ok": n % 3 > 0, "log": "one\ntwo\n" * 40} for n in range(9)]
    for before, behind in (("Results: ", ""), ("OBSERVATION:\n", "\n(done)")):
        shorter = cut(f"{before}{json.dumps(records)}{behind}", 900, {"record 4": 4.0})
        held = json.loads(shorter.removeprefix(before).removesuffix(behind))
        assert records[4] in held
        assert shorter.startswith(before)
        assert len(shorter) <= 1_200
    lines = "[INFO] began\n" + "[INFO] step\n" * 90
    assert cut(lines, 400) == cut_text(lines, 400)


def test_of_two_records_the_one_that_is_used_stays():
    flights = [{"flight": f"F{n}0", "note": "economy and business " * 14, "price": 100 + n} for n in (1, 2)]
    shorter = cut(json.dumps(flights), 400, {"F20": 2.0, "102": 4.0})
    assert json.loads(shorter) == ["… 1 item elided …", flights[1]]


def test_what_is_cut_around_a_line_that_is_used_begins_as_it_did():
    text = "The file /repo/a.py has been edited.\nHere is a part of it:\n" + "".join(
        f"{n} x = {n}\n" for n in range(400)
    )
    shorter = cut_text(text, 400, {"300 x = 300": 6.0})
    assert shorter.startswith("The file /repo/a.py has been edited.\n")
    assert "300 x = 300" in shorter
    assert len(shorter) < 700


def test_a_line_in_the_place_of_json_gets_shorter_and_no_mark_stands_amid_it():
    flights = [
        {"number": f"HAT{n}", "from": "JFK", "to": "SEA", "price": 100 + n, "seats": n} for n in range(100, 160)
    ]
    uses = " ".join(f"HAT{number} for {100 + number} dollars," for number in range(100, 130))
    ask = {"role": "user", "content": "Which flights are there?"}
    turns = read([ask, call(), result(text=json.dumps(flights)), {"role": "assistant", "content": uses}]).turns
    ledger = FactLedger(turns)
    lines = all_lines(ledger, {}, str)
    long = lines.line_of_data(2, 0, "full")
    cleared = read([ask, call(), result(text=long), {"role": "assistant", "content": uses}]).turns
    for keep in (ledger.wanted, None):
        cut_short = elide_results(cleared, [2], tokens(long) // 2, tokens, keep, lines=lambda: lines)[2].text
        assert len(cut_short) < len(long) * 0.7
        assert cut_short.startswith(long.partition(" → ")[0])
        assert cut_short.endswith("]")
        assert "elided" not in cut_short


def test_of_an_item_that_holds_what_is_used_some_stays_where_the_whole_has_no_room():
    pages = [{"page": f"a line of page {number}\n" * 4} for number in range(6)]
    long = "\n".join([*["a line of the list"] * 80, "the limit is 4711 of them", *["a line of the list"] * 80])
    text = json.dumps([*pages[:3], {"page": long}, *pages[3:]])
    shorter = cut(text, 900, {"4711": 4.0, "limit": 2.0})
    assert "the limit is 4711 of them" in shorter
    assert len(json.loads(shorter)) > 1
    assert len(shorter) <= 1_000
