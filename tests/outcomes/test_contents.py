"""What was read: its errors are somebody else's, its matches are counted, its definitions told."""

from __future__ import annotations

import pytest
from told import ran, read, result_line, said

from trajcompress.outcomes.action.actions import describe

SOURCE = '''"""Settings."""

import json


class Settings:
    """What is set."""

    def load(self, path, strict=False):
        """Load settings.

        Raises:
            ValueError: If the file holds an unknown key and strict is set.
            FileNotFoundError: If there is no file.
        """
        with open(path) as file:
            data = json.load(file)
        for key in data:
            if strict and key not in self.keys:
                raise ValueError(key)
        return data
'''
GUIDE = f"""# Server

How to run it.

    ERROR: cannot connect to server

says that it does not run: start it.

{"There is more to know of it. " * 10}
"""
QUESTION = f"""How do I import foo?

Traceback (most recent call last):
  File "/home/other/app.py", line 3, in <module>
    import foo
ImportError: No module named foo

Install foo-lib: the package has another name than its module.
{"Thanks! " * 30}
"""


def outcome(printed, name, **arguments):
    return read(printed, describe(name, arguments))


def line(printed, name, **arguments):
    return result_line(printed, name, describe(name, arguments))


@pytest.mark.parametrize(
    "command", ["cat src/settings.py", "sed -n 1,40p src/settings.py", "head -50 src/settings.py"]
)
def test_of_a_source_that_is_read_its_definitions_are_told_and_no_error_that_it_speaks_of(command):
    told = outcome(SOURCE, "bash", command=command)
    assert not told.failed
    assert "class Settings:" in told.said
    assert "def load(self, path, strict=False):" in told.said
    assert "FileNotFoundError" not in told.said


@pytest.mark.parametrize(
    ("printed", "name", "arguments"),
    [
        (GUIDE, "read_file", {"path": "README.md"}),
        (QUESTION, "read_url", {"url": "https://example.org/q/1"}),
        (QUESTION, "web_search", {"query": "import foo"}),
        ("step\n" * 90 + "Error: Process completed with exit code 1.", "bash", {"command": "cat build/ci.log"}),
    ],
)
def test_what_a_page_or_a_log_says_of_errors_is_no_failure_of_who_reads_it(printed, name, arguments):
    told = outcome(printed, name, **arguments)
    assert not told.failed
    assert not told.said.endswith("exit code 1")


def test_of_a_log_the_error_is_told():
    told = outcome("step\n" * 90 + "ERROR: disk is full\nbye", "bash", command="tail -100 build/ci.log")
    assert "ERROR: disk is full" in told.said


@pytest.mark.parametrize(
    ("printed", "command"),
    [
        ("cat: nope.py: No such file or directory", "cat nope.py"),
        ("Error: no such file\n" + "usage: view FILE\n" * 30, "cat nope.py"),
    ],
)
def test_what_could_not_be_read_is_told(printed, command):
    told = outcome(printed, "bash", command=command)
    assert told.said.startswith(("cat: nope.py: No such file or directory", "Error: no such file"))


HITS = "\n".join(f"src/a{number}.py:{number}: foo(bar)" for number in range(1, 31))


@pytest.mark.parametrize(
    ("printed", "count"),
    [
        (HITS, "30"),
        (f"Found 1,143 matches (showing first 30):\n{HITS}", "1,143"),
        (f"{HITS}\n(Results are truncated: showing first 30 of 412 matches)", "412"),
        ("\n--\n".join(f"a.py-{n - 1}- x\na.py:{n}: foo\na.py-{n + 1}- y" for n in range(10, 300, 10)), "29"),
    ],
)
def test_matches_are_counted_but_for_lines_around_them_or_as_the_search_counts_them(printed, count):
    assert line(printed, "grep", pattern="foo").startswith(f"[grep foo → {count} matches: ")


def test_a_match_that_is_told_in_full_is_not_begun_before_that():
    found = [f"{n}:        self.bounds = widen(outer[{n}], inner[{n}], by=margin)" for n in (12, 48, 175, 214, 260)]
    told = result_line(
        "\n".join(found),
        "grep",
        describe("grep", {"pattern": "bounds"}),
        needed=["outer[12]", "outer[175]"],
        shortest=True,
    )
    assert told.startswith("[grep bounds → 5 matches")
    assert told.count("12: self.bounds =") == 1


def test_lines_that_begin_with_a_number_are_no_matches_where_nobody_searched():
    assert "matches" not in line(
        "\n".join(f"555-1{n:03} Ann {n}" for n in range(40)), "bash", command="cat phones.txt"
    )


def test_that_a_look_failed_is_told_though_its_reply_has_a_heading():
    reply = (
        "# Search Failed\n\nError searching for 'harbour': (sqlite3.OperationalError) no such table: notes\n\n"
        "## What to try\n" + "- **Other words**: those that stand in a title are found more often\n" * 9
    )
    told = outcome(reply, "search_notes", query="harbour")
    assert told.failed
    assert told.said == "Error searching for 'harbour': (sqlite3.OperationalError) no such table: notes"
    notes = "# Notes\n\nThe harbour was closed.\n\n## Errors\nError: no such ship\n" + "More of the notes.\n" * 30
    assert not outcome(notes, "read_note", path="notes.md").failed


@pytest.mark.parametrize(
    ("command", "lines", "told"),
    [
        (
            "search_file pad a.py",
            [f"Line {n}:    x_{n} = pad(y, {n})" for n in range(10, 400, 17)],
            "23 matches: Line 10: x_10 = pad(y, 10); Line 384: x_384 = pad(y, 384)",
        ),
        (
            "search_dir pad",
            [f"/r/lib/mod_{n}.py ({n % 5 + 1} matches)" for n in range(20)],
            "23 matches: /r/lib/mod_0.py (1 matches); /r/lib/mod_19.py (5 matches)",
        ),
        ("search_dir pad", ["/r/a.py (23 matches)"], "/r/a.py (23 matches)"),
    ],
)
def test_searches_of_swe_agent_tell_how_many_they_found_and_not_where_they_end(command, lines, told):
    framed = ['Found 23 matches for "pad" in /r:', *lines, 'End of matches for "pad" in /r']
    printed = "\n".join([*framed, "", "(Open file: n/a)", "(Current directory: /r)", "bash-$"])
    assert said("\n".join(framed), ran(command)) == told
    assert said(printed, ran(command)).startswith(told)


def test_an_answer_by_http_is_told_by_its_body_and_an_error_with_its_status():
    head = "HTTP/1.1 {}\r\nContent-Type: application/json\r\nX-Served-By: cache-7\r\nRetry-After: 120\r\n\r\n"
    body = '{"code": "quota", "message": "The quota of this hour is used up", "docs": "https://a.example/quota"}'
    command = "curl -si https://a.example/v1/rooms"
    told = outcome(head.format("429 Too Many Requests") + body, "bash", command=command)
    assert (told.failed, told.said.split(";")[0]) == (True, "429 Too Many Requests")
    assert "The quota of this hour is used up" in told.said
    rooms = outcome(f"{head.format('200 OK')}[{', '.join([body] * 9)}]", "bash", command=command)
    assert not rooms.failed
    assert rooms.said.startswith("[(")
    assert "X-Served-By: cache-7" in outcome(head.format("200 OK"), "bash", command="curl -I https://a.example").said


def test_of_answers_by_http_that_lead_to_each_other_the_last_is_told():
    moved = "HTTP/1.1 301 Moved Permanently\r\nLocation: /v2\r\n\r\n"
    last = "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno such room\n"
    for times in (1, 5_000):
        told = outcome(moved * times + last, "bash", command="curl -siL https://a.example/v1")
        assert (told.failed, told.said) == (True, "404 Not Found; no such room")


def test_of_a_file_that_is_none_of_text_the_lines_are_told_that_can_be_read():
    held = "".join(f"\x14\x00\x06\x08 U]{chr(600 + number)}\x01\x14iM\x1e^ data{number}\n" for number in range(40))
    said = read(f"sales.xlsx: 12 sheets\n{held}[read 49 lines]").said
    assert said == "sales.xlsx: 12 sheets [read 49 lines]"
