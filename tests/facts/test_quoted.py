"""Blocks of lines that later calls quote from results, and what is left of such a result."""

from __future__ import annotations

import pytest
from compressing import POLICY, Writer, run, words
from msgspec.structs import replace
from pruning import LISTING, call
from shared import load_cached
from trajectories import read, result

from trajcompress.compaction.region import Compress, Layout, plan_region
from trajcompress.compaction.text.excerpt import excerpt
from trajcompress.facts.ledger import FactLedger
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Region, Trajectory

CODE = [
    line
    for number in range(40)
    for line in (f"def handle_{number}(event, state):", f"    seen = state.get({number})", "    return seen", "")
]
VIEW = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(CODE, 1))
OLD = "\n".join(CODE[60:67])
NEW = "def handle_15(event, state):\n    return None"
SEARCHES = [
    f"<<<<<<< SEARCH\n{OLD}\n=======\n{NEW}\n>>>>>>> REPLACE",
    f"------- SEARCH\n{OLD}\n=======\n{NEW}\n+++++++ REPLACE",
    f"<<<<<<< SEARCH\n:start_line:61\n-------\n{OLD}\n=======\n{NEW}\n>>>>>>> REPLACE\n",
]
SCRIPT = f'text = open("a.py").read()\nold = """{OLD}"""\nnew = """{NEW}"""\n'
SCRIPT += 'open("a.py", "w").write(text.replace(old, new))'
SCRIPTS = [SCRIPT, SCRIPT.replace(OLD, OLD.replace("\n", "\\n"))]
PATCH = "\n".join(["@@ -61,3 +61,3 @@", *(f" {line}" for line in CODE[60:62]), f"-{CODE[62]}", "+    return None"])


def edits(value: str, view: str = VIEW) -> Trajectory:
    """A file is shown, something else is, and an edit of the file quotes what it replaces."""
    return read(
        [
            {"role": "user", "content": "Mend it."},
            call("ls", "x"),
            result("x", "a.py"),
            call("view", "v", path="a.py"),
            result("v", view),
            *(
                m
                for n in range(3)
                for m in (call("view", f"o{n}", path=f"b{n}.py"), result(f"o{n}", f"{n}\n{LISTING}"))
            ),
            call("edit", "e", path="a.py", old=value, new="pass"),
            result("e", "The file was edited."),
            {"role": "assistant", "content": "Done."},
        ]
    )


@pytest.mark.parametrize("value", [OLD, f"\n{OLD}\n\n", OLD.replace("    ", "\t"), PATCH, *SEARCHES, *SCRIPTS])
def test_a_block_is_found_whatever_its_indentation_and_the_numbers_of_the_view(value: str):
    (block,) = FactLedger(edits(value).turns).quoted(4)
    assert block.startswith("    61\tdef handle_15(event, state):")
    assert block.count("\n") == (2 if value is PATCH else 6)


@pytest.mark.parametrize(
    "value",
    [
        "    return seen",  # stands everywhere
        "def handle_15(event",  # half a line
        "def other(event):\n    return 1",
        f"{CODE[60]}\n    x = 1\n    y = 2\n    z = 3",
    ],
)
def test_half_a_line_and_what_stands_nowhere_are_no_block(value: str):
    assert FactLedger(edits(value).turns).quoted(4) == {}


def test_a_line_alone_is_quoted_where_the_call_says_what_replaces_it():
    (block,) = FactLedger(edits("def handle_15(event, state):").turns).quoted(4)
    assert block == "    61\tdef handle_15(event, state):"


def test_a_hunk_of_a_patch_may_replace_a_line_alone():
    hunks = "\n".join(f"@@\n-def handle_{number}(event, state):\n+def handle(event):" for number in (15, 30))
    quoted = FactLedger(edits(f"*** Begin Patch\n*** Update File: a.py\n{hunks}\n*** End Patch").turns).quoted(4)
    assert {*quoted} == {"    61\tdef handle_15(event, state):", "   121\tdef handle_30(event, state):"}


def test_a_cleared_view_keeps_what_an_edit_quotes_as_it_stands():
    counter = TokenCounter(load_cached(None))
    trajectory = edits(OLD)
    rules = replace(
        POLICY,
        clear_observations=True,
        fit="strict",
        keep_observations=1,
        target_max_tokens=counter.count(trajectory).tokens // 4,
    )
    turns, row = run(counter, trajectory, Writer(lambda _: words(5)), rules)
    assert turns is not None
    assert not row.still_over_limit
    assert "\n".join(VIEW.split("\n")[60:67]) in turns[4].text
    assert len(turns[4].text) < len(VIEW) / 3
    assert turns[4].text.count("characters elided") == 2


TWICE = "try:\n    value = read(event)\nexcept KeyError:\n    raise StateError(event, value)"


def test_a_block_is_whole_from_its_short_first_line_on_and_the_place_that_has_all_of_it_counts():
    view = "\n".join(
        [*CODE[:20], "except KeyError:", "    raise StateError(event, value)", *CODE[20:40], TWICE, *CODE[40:]]
    )
    assert list(FactLedger(edits(TWICE, view).turns).quoted(4)) == [TWICE]


def test_a_line_that_gets_shorter_keeps_blocks_that_are_no_longer_than_it_may_be():
    short, long = "\n".join(CODE[60:63]), "\n".join(CODE[60:123])
    text = "\n".join(CODE)
    assert short in excerpt(text, {short: 9.0}, (), most=800, ends=0)
    assert excerpt(text, {long: 9.0}, (), most=800, ends=0) == ""
    assert long in excerpt(text, {long: 9.0}, ())
    many = {"\n".join(CODE[at : at + 3]): 9.0 for at in range(60, 120, 4)}
    cut = excerpt(text, many, (), most=800, ends=0)
    assert [block in cut for block in many] == [True] * 5 + [False] * 10


def test_no_region_ends_between_a_quote_and_what_it_quotes_shortly_before():
    near = FactLedger(read(NEAR).turns).parting()
    assert near == {5}
    layout = Layout(Region(1, 9), (True,) * 10)
    plans = [plan_region([10] * 9, layout, 30, 5, parting=each) for each in ({4, 5}, {4}, {5, 6, 7, 8, 9})]
    assert plans == [Compress(Region(1, 6), 50, 5), *[Compress(Region(1, 5), 40, 5)] * 2]  # no more than a few turns


NEAR = [
    {"role": "user", "content": "Mend it."},
    call("ls", "x"),
    result("x", "a.py"),
    call("view", "v", path="a.py"),
    result("v", VIEW),
    call("edit", "e", path="a.py", old=OLD, new="pass"),
    result("e", "The file was edited."),
    {"role": "assistant", "content": "Done."},
]
