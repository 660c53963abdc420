"""Which entry of a list a place belongs to."""

from __future__ import annotations

import pytest
from told import read, result_line

from trajcompress.compaction.text.cut import cut
from trajcompress.facts.entries import entries, entry_at
from trajcompress.facts.parts import parts_with

PEOPLE = [("Anna Berg", "Engineer at Initech"), ("Bo Lind", "Chemist at Globex"), ("Cara Diaz", "Pilot at Umbrella")]
MARKS = ["{}. ", "{}) ", "[{}] ", "### {}. ", "**{}. ", "Title: ", "Result {}: "]
ABOUT = "That is all that this page says of the person, who is not known to be anybody else. " * 3


def page(mark: str, newline: str = "\n") -> str:
    found = [
        newline.join(
            (
                f"{mark.format(number)}{name}",
                f"https://people.example/{number}",
                f"{name.split()[1]} is {does}. {ABOUT}",
                "",
            )
        )
        for number, (name, does) in enumerate(PEOPLE, 1)
    ]
    return newline.join(["Found 3 people", "", *found])


def test_what_one_of_several_files_says_is_told_under_its_name():
    files = {
        name: f"{name.title()}\n\n1. Terms\n2. Total\n{total}\n{ABOUT}" for name, total in (("a", 401), ("b", 896))
    }
    text = "\n".join(f"==> /srv/{name}.txt <==\n{said}\n" for name, said in files.items())
    assert [text[start:][:18] for start in entries(text)] == ["==> /srv/a.txt <==", "==> /srv/b.txt <=="]
    kept = cut(text, 500, {"896": 4.0})
    assert kept.index("==> /srv/b.txt <==") < kept.index("896")


def test_what_an_entry_says_is_not_kept_without_the_line_that_says_of_whom():
    text = page("{}. ")
    assert parts_with(text, {"Pilot at Umbrella": 4.0}, 45, cost=10) == []
    assert len(parts_with(text, {"Pilot at Umbrella": 4.0}, 90, cost=10)) == 2


@pytest.mark.parametrize("newline", ["\n", "\\n"])
@pytest.mark.parametrize("mark", MARKS)
def test_of_an_entry_that_is_used_its_first_line_stays_before_what_is_used(mark, newline):
    text = page(mark, newline)
    for name, does in PEOPLE:
        shown = text[entry_at(text, text.index(does)) :]
        assert shown.startswith((mark.format(1), mark.format(2), mark.format(3)))
        assert shown[:40].partition(newline)[0].endswith(name)
        kept = [text[start:end] for start, end in parts_with(text, {does: 4.0}, 2_000)]
        assert [name in kept[0], does in kept[-1], len(kept)] == [True, True, 2]


@pytest.mark.parametrize("mark", MARKS)
def test_what_is_told_of_a_page_is_told_of_its_owner(mark):
    for name, does in PEOPLE[1:]:
        told = result_line(page(mark), "search", None, later={does.split()[-1]: 4.0})
        assert told.index(name) < told.index(does)
        between = told[told.index(name) : told.index(does)]
        assert not any(other in between for other, _ in PEOPLE if other != name)
    last = read(page(mark), None, limit=300).said
    assert "Cara Diaz" in last or "Pilot" not in last


def test_of_a_tool_of_a_list_its_parameters_stand_under_its_name():
    names = [("npx_fetch", "fetch_json"), ("npx_fetch", "fetch_txt"), ("fetch", "fetch"), ("files", "read_file")]
    tools = "\n".join(
        f"- server_name: {server}\n  tool_name: {tool}\n  tool_description: It is for {tool}.\n  inputschema:\n"
        f"    url: (string) The address for {tool} of {server}\n    of_{number}: (Optional, integer) Most characters"
        for number, (server, tool) in enumerate(names)
    )
    kept = [tools[start:end] for start, end in parts_with(tools, {"of_2": 4.0}, 500)]
    assert kept == ["- server_name: fetch\n  tool_name: fetch", "of_2: (Optional, integer) Most characters"]


@pytest.mark.parametrize(
    "text",
    [
        "1. only one of them\nand more",
        "2020. A year\n7. A day\n3. No list\n",
        "key: a\nother: b\nkey2: c",
        "a: 1\nb: 2",
    ],
)
def test_a_number_alone_and_other_keys_begin_no_entry(text):
    assert entries(text) == ()


@pytest.mark.cpu_seconds(5)  # quadratic time would take minutes
@pytest.mark.parametrize("text", ["1. a\n2. b\n" * 15_000, "Title: x\n" * 20_000, "\n1." * 60_000, "[1" * 90_000])
def test_long_lists_are_read_in_linear_time(text):
    read(text, None, later={"b": 4.0}, taken={"b": 4.0}, most=2_000)
    entry_at(text, len(text) - 1)
