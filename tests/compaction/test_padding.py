"""What pads a result goes before any of its rows do, and what the call above it says is not told again."""

from __future__ import annotations

import json

from clearing import FIRST
from compressing import run
from msgspec import structs
from trajectories import read, result

from trajcompress.compaction.text.padding import without_padding
from trajcompress.compaction.text.tails import constant_tails, without_tail
from trajcompress.tokens.counter import TokenCounter

ROW = "{n:<6}{year:>24}{value:>16}" + "             NaN" * 6
TABLE = "\n".join(ROW.format(n=n, year=1970 + n, value=n * 1.5) for n in range(40))
SCRIPT = "\n".join(f"sheet['H{n}'] = total({n}) / population({n})  # of the region" for n in range(60))


def never(_: str) -> bool:
    return False


def ran(code: str, printed: str) -> list[dict]:
    given = {"name": "run", "arguments": json.dumps({"code": code})}
    asked = {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": given}]}
    return [asked, result("a", printed)]


def test_cells_stand_two_spaces_apart_and_empty_ones_are_told_once():
    narrow = without_padding(TABLE, never).split("\n")
    assert narrow[5] == "5  1975  7.5  NaN …"
    assert [line.split()[:3] for line in narrow] == [line.split()[:3] for line in TABLE.split("\n")]


def test_what_is_no_table_stays_and_so_does_a_row_that_is_said_later():
    code = "def f():\n        return  {'a':   1,  'b': 2}\n"
    assert without_padding(code, never) == code
    data = repr('{\n    "path": [\n        "timeout"\n    ],\n    "code": 3\n}')
    assert without_padding(data, never) == data
    row = TABLE.split("\n")[7]
    assert row in without_padding(TABLE, lambda line: line == row).split("\n")


def test_of_rows_side_by_side_that_hold_nothing_the_first_stays():
    rows = [f"Row {n}: None\tNone\tNone\tNone" for n in range(9)]
    shorter = without_padding("\n".join([*rows, "Row 9: Scale\t2019\tNone\tNone\tNone"]), never)
    assert shorter == "Row 0: None …\n[… 111 characters elided …]\nRow 9: Scale\t2019\tNone …"
    code = "values = (None, None, None)\nif a is None:"
    assert without_padding(code, never) == code


def test_many_empty_lines_are_one():
    assert without_padding("ready\n\n\n\n \n\n\nnow\n\nend", never) == "ready\n\nnow\n\nend"


def test_all_rows_of_a_table_stay_where_they_have_room_without_its_padding(counter: TokenCounter):
    ask, end = {"role": "user", "content": "Read it."}, {"role": "assistant", "content": "It is read."}
    turns, row = run(
        counter, read([ask, *ran("show()", TABLE), end]), policy=structs.replace(FIRST, target_max_tokens=600)
    )
    assert row.original_tokens > 800
    assert all(f"  {1970 + n}  " in turns[2].text for n in range(40))


def test_what_the_call_says_is_not_told_again(counter: TokenCounter):
    ask, end = {"role": "user", "content": "Fill it."}, {"role": "assistant", "content": "It is filled."}
    printed = f"Command: python -c\n{SCRIPT}\nOutput: 60 cells written\nExit Code: 0"
    target = counter.count(read([ask, *ran(SCRIPT, ""), end])).tokens + 90
    turns, row = run(
        counter, read([ask, *ran(SCRIPT, printed), end]), policy=structs.replace(FIRST, target_max_tokens=target)
    )
    assert not row.still_over_limit
    mark = f"[… as in the call, {len(SCRIPT):,} characters elided …]"
    assert turns[2].text == f"Command: python -c\n{mark}\nOutput: 60 cells written\nExit Code: 0"


REMINDER = (
    f"<system-reminder>\n{'Mind that you only look at this file, and do not mend it. ' * 5}\n</system-reminder>"
)


def test_a_note_below_result_after_result_stands_below_the_last_alone():
    read_ = [(n, f"line {n} of it\n\n{REMINDER}") for n in range(3)]
    tails = constant_tails([*read_, *((n, f"{n} files changed") for n in range(3, 9))])
    assert tails == {0: len(REMINDER), 1: len(REMINDER)}
    mark = f"[… {len(REMINDER)} characters elided …]"
    assert without_tail(read_[0][1], tails[0]) == f"line 0 of it\n\n{mark}"


def test_what_some_results_end_with_may_be_what_came_of_them():
    failed = (
        "Your changes were not applied: mend your edit, and try again.\n" + "Do not send the same edit again. " * 6
    )
    edits = [(n, f"{n}: error\n{failed}") for n in range(3)]
    assert constant_tails([*edits, *((n, f"{n} files changed") for n in range(3, 9))]) == {}
    assert constant_tails(edits).keys() == {0, 1}
    assert constant_tails([(n, failed) for n in range(9)]) == {}  # that is all they say
