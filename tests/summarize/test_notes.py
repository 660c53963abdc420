"""What an agent says to itself beside a call: the last time near the end of a region it is quoted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from summed_up import ask, call, result, say, section

from trajcompress.summarize.extractive import extract
from trajcompress.transcript.observations import read_observations

CAUSE = (
    "Perfect! I see why it fails now. The class of points has no method for a number that stands before it; Python "
    "asks the number, which knows nothing of points, and gives up. I add that method, and run the script again then."
)
READ = (call(1, "read_file", path="points.py"), result(1, "class Point:"))


def thinking(words: str, number: int = 2):
    return (say("assistant", words, calls=call(number, "run", command="make").calls), result(number, "built"))


def test_what_is_found_to_be_the_cause_is_quoted_where_it_was_said():
    text = extract(ask([*READ, *thinking(CAUSE), *READ]))
    assert text.splitlines()[1:] == [
        "Steps:",
        "- … 1 more step: read_file (points.py)",
        "Notes:",
        f'- "{CAUSE.removeprefix("Perfect! ")}"',
        "Steps:",
        "- make → built",
        "- read_file points.py → class Point:",
    ]


def test_of_a_text_protocol_what_stands_before_the_action_is_quoted_and_no_code():
    said = say("assistant", f"{CAUSE}\n\n```python\nprint(Point(1, 2))\n```\n\n<execute_bash>\nmake\n</execute_bash>")
    row = read_observations([say("user", "Mend it."), said, say("user", "EXECUTION RESULT of [bash]:\nbuilt")])
    assert section(extract(ask(row[1:])), "Notes") == f'- "{CAUSE.removeprefix("Perfect! ")}"\n'


@pytest.mark.parametrize("words", ["I read it again.", "", "```\n" + "x = 1\n" * 80 + "```", "| a | b |\n" * 80])
def test_few_words_code_and_tables_are_no_note(words: str):
    assert "Notes:" not in extract(ask([*READ, *thinking(words), *READ]))


def test_the_last_note_alone_is_told_and_only_near_the_end():
    later = CAUSE.replace("points", "lines")
    text = extract(ask([*thinking(CAUSE), *READ, *thinking(later, 3)]))
    assert text.count("Notes:") == 1
    assert "lines" in section(text, "Notes")
    assert "Notes:" not in extract(ask([*thinking(CAUSE), *(READ * 20)]))


def test_a_long_note_is_quoted_in_whole_sentences_as_far_as_there_is_room():
    long = CAUSE + " I look at each file of the folder in turn, and at what its tests say of it." * 40
    note = section(extract(ask([*READ, *thinking(long)])), "Notes")
    assert 200 < len(note) < 560
    assert note.endswith(('…"\n', '."\n'))


def test_a_summary_that_is_updated_tells_its_note_again_as_one():
    first = extract(ask([*READ, *thinking(CAUSE)]))
    text = extract(replace(ask([*READ]), previous=first))
    assert section(text, "Notes") == section(first, "Notes") != ""
