from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from told import ran, read, said

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.repeated import NOTHING_REPEATED, Repeated
from trajcompress.outcomes.text import joined

LINES = ("ran 1", "ran  22", "ran ٣", "", "\x0c", "y" * 70, "y" * 80, "\n", "\r\n", "ran 1\r")
RESULTS = st.lists(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join), max_size=8)


@given(RESULTS)
def test_lines_that_differ_in_numbers_spaces_and_their_ends_are_one(results):
    often = Counter()
    for text in results:
        often.update({re.sub(r"\d+", "0", " ".join(line.split())[:60]) for line in text.splitlines()})
    assert Repeated(enumerate(results)).lines.keys() == {key for key, times in often.items() if times >= 3}


def test_menus_and_addresses_of_links_are_left_out():
    page = [
        "# [Fort Lee](https://a.org/lee)",
        "Home",
        "Log in",
        "About us",
        "Cookies",
    ]
    page += [f"It was built in 18{year} by the men of the river, and stands." for year in (47, 48, 49)]
    page += ["![](pic.png)", "Terms of use", "Contact"]
    assert telling_lines(page, NOTHING_REPEATED) == ["# Fort Lee", *page[5:8]]
    assert telling_lines(["def f(a):", "    return a", "main"], NOTHING_REPEATED) == ["def f(a):", "return a", "main"]


@pytest.mark.parametrize(
    "row",
    [
        "-rw-r--r--+ 1 root wheel {size} Oct {day} 20:13 {name}",
        "-rw-r--r-- 1 me me {size} 2024-10-{day} 20:13 {name}",
    ],
)
def test_of_the_files_of_a_directory_the_names_are_told(row):
    names = [f"part_{number}.py" for number in range(10, 40)]
    shown = [row.format(size=number, day=10 + number % 20, name=name) for number, name in enumerate(names)]
    text = "\n".join(["total 71", "drwxr-xr-x 2 root root 560 Oct 31 20:13 .", *shown])
    ran = describe("bash", {"command": "ls -la"})
    said = read(text, ran, later={"part_23.py": 2.0}).said
    assert said == "part_10.py; part_11.py; part_12.py; … part_23.py; … part_39.py"
    taken = read(text, ran, later={"part_23.py": 2.0}, taken={"part_31.py": 2.0}, most=900).said
    assert "part_31.py" in taken
    assert "root" not in taken


def test_lines_of_code_are_joined_without_a_second_semicolon():
    assert (
        joined(["for (;;) {", "int most = 0;", "return most;", "Done"], 200)
        == "for (;;) { int most = 0; return most; Done"
    )


def test_a_heading_between_rules_is_no_outcome_and_what_stands_below_is():
    shown = [
        "-------SERVER RESPONSE-------",
        "Would you like your own capsule? (Y/n)",
        "-------END OF RESPONSE-------",
    ]
    assert telling_lines(shown, NOTHING_REPEATED) == shown[1:2]
    runs = ["===== 2 failed, 3 passed in 0.2s =====", "--- FAIL: TestOpen", "____ test_opens ____"]
    assert telling_lines(runs, NOTHING_REPEATED) == runs


def test_what_finds_no_terminal_and_the_steps_of_a_build_are_no_outcome():
    chatter = [
        "Warning: _curses.error: setupterm: could not find terminfo database",
        "Terminal features will not be available.  Consider setting TERM variable to your terminal name.",
        "tput: No value for $TERM and no -T specified",
        "'xterm-kitty': unknown terminal type.",
        "+ /opt/env/bin/ninja",
        "[... output limited to 10000 bytes; 70 interior bytes omitted ...]",
        "[1/1] Generating write_version_file with a custom command",
    ]
    printed = ["[0] Got number: 4", "[3/3] Linking target app", "tput is not installed"]
    assert telling_lines([*chatter, *printed], NOTHING_REPEATED) == printed


def test_a_rule_is_not_told():
    rule = "=" * 70
    printed = f"{rule}\nANALYST TEST\n{rule}\n\nABORTED: no credits remaining"
    assert said(printed, ran("python test_analyst.py")) == "ANALYST TEST; ABORTED: no credits remaining"
    assert said("*\n" + "*" * 12, ran("python stars.py")) == "* ************"  # what it was run for


def test_empty_cells_are_told_once_and_rows_of_nothing_else_not_at_all():
    table = "\n".join(
        [
            "Rows of Task:",
            *(f"Row {n}: None\tNone\tNone\tNone" for n in range(10, 40)),
            "Row 41: Scale\t2019\tNone\tNone\tNone",
        ]
    )
    told = said(table)
    assert "Row 41: Scale 2019 None …" in told
    assert "Row 13" not in told
