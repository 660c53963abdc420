"""Tables of text: they fit a width, words stay whole, and names keep their ends."""

from __future__ import annotations

import pytest

from trajcompress.results.text_table import Columns, lines_of, shortened

COLUMNS = Columns(("row", "tokens before", "what helps"), texts=frozenset({"what helps"}), names=frozenset({"row"}))
HELP = "protect less: a smaller --last-n-turns, or first_tool: false in protected_turns of the YAML"
ROWS = [(f"/data/of/many/agents/file-{at}.jsonl:{at}", "1,234,567", HELP) for at in range(12)]


def test_without_a_width_each_row_is_one_whole_line():
    header, *lines = lines_of(COLUMNS, ROWS, None)
    assert header.split() == ["row", "tokens", "before", "what", "helps"]
    assert [line.split(maxsplit=2) for line in lines] == [list(row) for row in ROWS]


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_lines_fit_and_break_no_word(width):
    lines = lines_of(COLUMNS, ROWS, width, indent="  ")
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    known = {*HELP.split(), "row", "tokens", "before", "what", "helps", "1,234,567"}
    assert known <= words
    assert len(words - known) == len(ROWS), "what is left are the names"


def test_names_lose_the_folder_they_share_before_anything_else():
    lines = lines_of(COLUMNS, ROWS, 80)
    assert all(any(f" file-{at}.jsonl:{at} " in f" {line} " for line in lines) for at in range(12))
    assert "/data" not in "".join(lines)


def test_the_middle_of_a_long_name_goes():
    assert shortened("replay__marshmallow-1867__default", 12) == "repl…default"
    assert len(shortened("x" * 99, 30)) == 30
    assert shortened("short", 30) == "short"


def test_names_that_do_not_fit_stand_above_the_rest_of_their_row():
    columns = Columns(
        ("row", "id", "tokens", "largest"), texts=frozenset({"largest"}), names=frozenset({"row", "id"})
    )
    rows = [
        ("a-long-name-of-a-file.jsonl:line 12", f"an-id-{at}-as-long", "12,345", "turn 3, tool") for at in range(2)
    ]
    wide = lines_of(columns, rows, 80)
    assert wide[1].split("  ")[:2] == ["a-long-name-of-a-file.jsonl:line 12", "an-id-0-as-long"]
    lines = lines_of(columns, rows, 56, indent="  ")
    assert lines[0].split() == ["tokens", "largest"]
    assert lines[1] == "  a-long-name-of-a-file.jsonl:line 12  an-id-0-as-long"
    assert lines[2].split() == ["12,345", "turn", "3,", "tool"]
    narrow = lines_of(columns, rows, 40)
    assert narrow[1:3] == ["a-long-name-of-a-file.jsonl:line 12", "an-id-0-as-long"]
    assert max(map(len, narrow)) <= 40
