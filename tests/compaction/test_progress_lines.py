"""What programs print while they work gives way to a mark, before anything that says what came of it."""

from __future__ import annotations

import json

import pytest
from clearing import FIRST
from compressing import run
from msgspec import structs
from shared import load_cached
from trajectories import read

from trajcompress.compaction.text.progress import without_progress
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.observations import read_observations

PIP = "\n".join(
    [
        "Obtaining file:///repo",
        "  Installing build dependencies ... done",
        "  Getting requirements to build editable ... done",
        *(f"Requirement already satisfied: package{n}>=2 in /env/lib/python3.9/site-packages" for n in range(30)),
        "Collecting tornado",
        "  Downloading tornado-6.1-cp39-cp39-manylinux1_x86_64.whl (427 kB)",
        "     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 427.8/427.8 kB 5.1 MB/s eta 0:00:00",
    ]
)
CURL = """  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current
                                 Dload  Upload   Total   Spent    Left  Speed

  0     0    0     0    0     0      0      0 --:--:-- --:--:-- --:--:--     0
100  5504  100  5504    0     0   6708      0  0:00:01  0:00:01 --:--:--  7051"""
APT = """Get:1 http://deb.debian.org/debian bookworm/main amd64 jq amd64 1.6 [64.9 kB]
Selecting previously unselected package jq.
(Reading database ... 14391 files and directories currently installed.)
Preparing to unpack .../jq_1.6_amd64.deb ...
Unpacking jq (1.6) ...
Setting up jq (1.6) ..."""
TQDM = "\r".join(f"Downloading: {n}%|{'█' * (n // 10):10}| {n}/100 [00:01<00:01, 9.9it/s]" for n in range(0, 101, 10))


VERBS = ("Collecting", "Downloading", "Unpacking", "Setting up")


def never(_: str) -> bool:
    return False


@pytest.mark.parametrize("progress", [PIP, CURL, APT, TQDM, CURL.replace("\n", "\r\n")])
@pytest.mark.parametrize(
    "came", ["Successfully installed repo-1.0", "ERROR: No matching distribution found for tornado"]
)
def test_progress_gives_way_to_a_mark_and_what_came_of_it_stays(progress: str, came: str):
    text = without_progress(f"{progress}\n{came}\n$ ", never)
    assert text == f"[… {len(progress.rstrip()):,} characters elided …]\n{came}\n$ "


def test_a_line_that_is_said_later_stays_and_so_do_a_few_lines_and_json():
    lines = PIP.split("\n")
    text = without_progress(PIP, lambda line: "package9>" in line)
    assert lines[12] in text.split("\n")
    assert text.count("characters elided") == 2
    few = "\n".join([*lines[:2], "done"])
    assert without_progress(few, never) == few
    held = json.dumps({"out": PIP}, indent=1)
    assert without_progress(held, never) == held


def test_what_only_looks_like_progress_stays():
    text = (
        "Collecting stamps is fun\nHe wrote: 80% of it\nUnpacking is dull\n\nSetting up a tent takes an hour or more"
    )
    assert without_progress(text, never) == text
    words = "\n".join(f"The {name} is 5%| of it all, as far as anybody knows" for name in ("first", "second"))
    assert without_progress(words, never) == words


@pytest.mark.cpu_seconds(5)
def test_long_lines_take_time_in_proportion():
    for piece in ("% Total ", "0 0 0 ", "5% ", "\r1%|", "Collecting a\n", "━━━ "):
        without_progress(f"%|{piece * 400_000}", never)


def test_of_a_demonstration_it_goes_too():
    counter = TokenCounter(load_cached(None))
    shown = f"$ pip install -e .\n{PIP}\nSuccessfully installed demo-1.0\n$ python demo.py\n345"
    example = {
        "role": "user",
        "content": f"Here is a demonstration of this task.\n{shown}\n" + "Then it is done. " * 40,
    }
    step = [
        {"role": "assistant", "content": "Thought: I look.\nAction: ls"},
        {"role": "user", "content": "Observation: a.py"},
    ]
    row = read([example, {"role": "user", "content": "Mend a.py."}, *step, *step])
    row = structs.replace(row, turns=read_observations(row.turns))
    assert row.turns[0].example
    rules = structs.replace(FIRST, target_max_tokens=counter.count(row).tokens - 100)
    turns, _ = run(counter, row, policy=rules)
    assert "Requirement already satisfied" not in turns[0].text
    assert all(kept in turns[0].text for kept in ("Successfully installed demo-1.0", "345", "Then it is done."))
