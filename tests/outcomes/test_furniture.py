from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from trajcompress.outcomes.printed.furniture import NOTHING_REPEATED, Repeated, telling_lines
from trajcompress.outcomes.text import joined

LINES = ("ran 1", "ran  22", "ran ٣", "", "\x0c", "y" * 70, "y" * 80, "\n", "\r\n", "ran 1\r")
RESULTS = st.lists(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join), max_size=8)


@given(RESULTS)
def test_lines_that_differ_in_numbers_spaces_and_their_ends_are_one(results):
    often = Counter()
    for text in results:
        often.update({re.sub(r"\d+", "0", " ".join(line.split())[:60]) for line in text.splitlines()})
    assert Repeated(enumerate(results)).lines.keys() == {key for key, times in often.items() if times >= 3}


def test_lead_ins_menus_and_addresses_of_links_are_left_out():
    page = [
        "Command fetch returned:",
        "Contents of https://a.org/b:",
        "# [Fort Lee](https://a.org/lee)",
        "Home",
        "Log in",
        "About us",
        "Cookies",
    ]
    page += [f"It was built in 18{year} by the men of the river, and stands." for year in (47, 48, 49)]
    page += ["![](pic.png)", "Terms of use", "Contact"]
    assert telling_lines(page, NOTHING_REPEATED) == ["# Fort Lee", *page[7:10]]
    assert telling_lines(["def f(a):", "    return a", "main"], NOTHING_REPEATED) == ["def f(a):", "return a", "main"]


def test_of_a_directory_its_size_and_itself_tell_nothing():
    shown = ["total 71", "drwxr-xr-x 2 root root 560 Oct 31 20:13 .", "drwxr-xr-x 1 root root 80 Oct 31 20:13 .."]
    files = ["-rw-r--r-- 1 root root 12 Oct 31 20:13 setup.py", "drwxr-xr-x 4 root root 80 Oct 31 20:13 src"]
    assert telling_lines([*shown, *files], NOTHING_REPEATED) == files


def test_lines_of_code_are_joined_without_a_second_semicolon():
    assert (
        joined(["for (;;) {", "int most = 0;", "return most;", "Done"], 200)
        == "for (;;) { int most = 0; return most; Done"
    )
