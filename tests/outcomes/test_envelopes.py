"""What Gemini CLI, Codex CLI and OpenCode write around a tool's words, and the objects of MCP around them."""

from __future__ import annotations

import json
import time

import pytest
from told import read, said

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Reading
from trajcompress.outcomes.unwrap import unwrap

WARNED = "a.lean:1:0: error: unknown package 'Mathlib'\na.lean:4:28: error: expected ':='"
BEHIND = "Signal: {}\nBackground PIDs: {}\nProcess Group PGID: 1132"
MANY = "\n".join(f"{number}:PHASE {number}" for number in range(3, 66, 7))


def reported(printed, code=0, error="(none)", signal="(none)", jobs="(none)"):
    """What Gemini CLI says of a command, printed on the line of its label."""
    behind = BEHIND.format(signal, jobs)
    return f"Command: lean a.lean\nDirectory: (root)\n{printed}\nError: {error}\nExit Code: {code}\n{behind}"


def chunk(printed, ended="Process exited with code 0"):
    """What Codex CLI says of a command that may go on."""
    return f"Chunk ID: a1b2c3\nWall time: 1.0012 seconds\n{ended}\nOriginal token count: 12\nOutput:\n{printed}"


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (reported(f"Output: {WARNED}", 1), f"{WARNED}\nexit code: 1"),
        (reported("Output: (empty)"), ""),
        (reported("Output: (empty)", 2), "no output\nexit code: 2"),
        (reported("Stdout: built\n\nStderr: 1 warning"), "built\n1 warning"),
        (reported("Stdout: (empty)\nStderr: no such file", 1), "no such file\nexit code: 1"),
        (reported("Stdout: (empty)\nStderr: (empty)", "(none)", signal="SIGTERM"), "Signal: SIGTERM"),
        (reported("Output: (empty)", "(none)", "spawn bash ENOENT"), "Error: spawn bash ENOENT"),
        (reported("Output: served on 80", jobs="41, 42", signal="0"), "Background PIDs: 41, 42\nserved on 80"),
        ("Command: ls\nDirectory: (root)\nOutput: a\nb\n...(truncated)", "a\nb\n...(truncated)"),
        ("Output: a\nb\nProcess Group PGID: 7", "a\nb"),
        (" succeeded in 21ms:\nbuilt", "built"),
        ("succeeded in 1.2s:", ""),
        ("Output: (empty)\nExit Code: 1\nProcess Group PGID: 7", "no output\nexit code: 1"),
        ("<untrusted_context>\nOutput: a\nProcess Group PGID: 7\n</untrusted_context>", "a"),
        ("Exit code: 0\nWall time: 1.3 seconds\nOutput:\n", ""),
        ("Exit code: 1\nWall time: 4.8 seconds\nOutput:", "no output\nexit code: 1"),
        ("Exit code: 0\nWall time: 12 seconds\nTotal output lines: 300\nOutput:\nLICENSE\n", "LICENSE"),
        (chunk("b.py\n"), "b.py"),
        (chunk("no such file\n", "Process exited with code 2"), "no such file\nexit code: 2"),
        (chunk("5/7\n", "Process running with session ID 5"), "Process running with session ID 5\n5/7"),
        (chunk("Warning: truncated output (original token count: 9)\nTotal output lines: 4\n\na\nb"), "a\nb"),
        (json.dumps({"output": "Total output lines: 4\n\na\nb", "metadata": {"exit_code": 1}}), "a\nb\nexit code: 1"),
    ],
)
def test_of_a_command_what_it_printed_is_left_and_how_it_failed(printed, told):
    assert unwrap(printed) == told


@pytest.mark.parametrize(
    "text",
    [
        "The report has these lines:\nOutput: a\nExit Code: 1",
        "Output: a\nError: (none)",
        "Command: ls\nOutput: a\nExit Code: 0",
        "Command: the word\nstands above\nDirectory: a\nOutput: the file",
        "It took a while.\nExit code: 0\nWall time: 1.3 seconds\nOutput:\nthe file",
        "Wall time: 1.3 seconds, all told\nOutput:\nthe file",
        "Its answer begins with <path>a</path>\n<type>file</type>\n<content>1: a</content>",
        '{"type":"text","text":"a","size":3}',
        '[{"type":"text","text":"a"},{"type":"table","rows":3}]',
        '{"content":[{"type":"text","text":"a"}],"isError":true}',
    ],
)
def test_a_text_that_has_some_of_these_words_stays(text):
    assert unwrap(text).splitlines()[-1] == text.splitlines()[-1]
    assert text.splitlines()[0].removeprefix("Output: ") in unwrap(text)


def test_the_first_error_is_told_and_nothing_that_there_is_none():
    told = read(reported(f"Output: {WARNED}", 1), describe("run_shell_command", {"command": "lean a.lean"}))
    assert told.failed
    assert told.said == f"{WARNED.replace(chr(10), '; ')}; exit code 1"


def test_a_command_that_printed_nothing_and_failed_says_both():
    told = read("Exit code: 1\nWall time: 4.8 seconds\nOutput:", describe("sh", {"command": "rg -n nowhere ."}))
    assert told.said == "no output; exit code 1"


@pytest.mark.parametrize(
    ("mark", "count"),
    [
        ("", "9"),
        ("\n92:PH\n...(truncated)", "10+"),
        ("\n\n[... omitted 5 of 14 lines ...]\n", "9+"),
        ("…8 tokens truncated…", "9+"),
        ("\n\n(Results are truncated. Consider a more specific path.)", "9+"),
    ],
)
def test_matches_that_were_cut_off_are_not_all(mark, count):
    told = read(
        f"Exit code: 0\nWall time: 1 seconds\nOutput:\n{MANY}{mark}",
        describe("sh", {"command": "rg PHASE"}),
        limit=40,
    )
    assert told.said.startswith(f"{count} matches: 3:PHASE 3")


def part(text, **others):
    return {"type": "text", "text": text, "annotations": None, "meta": None, **others}


@pytest.mark.parametrize(
    "wrapped",
    [
        part('{"number": 28, "state": "open"}'),
        [part('{"number": 28, "state": "open"}')],
        [
            part('{"number": 28, "state": "open"}', _meta={"a": 1}),
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        ],
        {"meta": None, "content": [part('{"number": 28, "state": "open"}')], "isError": False},
    ],
)
def test_json_in_an_object_of_mcp_is_read_as_json(wrapped):
    assert said(json.dumps(wrapped)) == "number=28, state=open"


def test_the_words_of_several_parts_stand_one_below_the_other_and_no_words_are_no_output():
    assert unwrap(json.dumps([part("created"), part("done")])) == "created\ndone"
    assert said(json.dumps(part(""))) == "no output"


def test_a_part_that_was_cut_off_is_told_as_far_as_it_goes():
    whole = json.dumps(part(json.dumps({"number": 28, "state": "open", "body": "words of it " * 90})))
    assert "number=28, state=open" in said(whole[:400])


@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("<path>/r/ci.yml</path>\n<type>file</type>\n<content>", "\n\n(End of file - total 3 lines)\n</content>"),
        ("<path>/r/ci.yml</path>\n<type>file</type>\n<content>\n", "\n</content>"),
        ("<path>/r/ci.yml</path>\n<type>file</type>\n<content>\n", ""),
    ],
)
def test_of_a_file_that_opencode_read_the_lines_are_left(opened, closed):
    note = "\n\n<system-reminder>\nRead AGENTS.md first.\n</system-reminder>" if closed else ""
    assert unwrap(f"{opened}1: name: x\n2: \n3: on: push{closed}{note}") == "1: name: x\n2: \n3: on: push"


def test_what_opencode_read_before_and_of_a_directory():
    older = "<file>\n00001| name: x\n00002| on: push\n\n(File has more lines)\n</file>"
    assert unwrap(older).startswith("00001| name: x\n00002| on: push\n")
    listed = "<path>/r</path>\n<type>directory</type>\n<entries>\na.py\nb/\n\n(2 entries)\n</entries>"
    assert unwrap(listed) == "a.py\nb/\n\n(2 entries)"
    empty = "<path>/r/a</path>\n<type>file</type>\n<content>\n\n\n(End of file - total 0 lines)\n</content>"
    assert unwrap(empty).strip() == "(End of file - total 0 lines)"


@pytest.mark.parametrize(
    "hostile",
    [
        "Command: x" + "\nDirectory: " * 60_000,
        "Output: " + "\nStderr: Exit Code: 1" * 40_000 + "\nProcess Group PGID: 1",
        '{"type":"text","text":"' + '{\\"' * 100_000,
        "<path>" + "</path>\n<type>" * 60_000,
        "..." * 200_000,
    ],
)
def test_a_long_text_takes_no_longer_than_it_is_long(hostile):
    begin = time.perf_counter()
    read(hostile, describe("sh", {"command": "grep -n a b"}))
    assert time.perf_counter() - begin < 5


POWERSHELL = """
    Directory: C:\\work\\tracker

Mode                 LastWriteTime         Length Name
----                 -------------         ------ ----
d----          15-04-2026  7:40 PM                .agents
d--h-          15-04-2026  7:42 PM                .git
-a---          15-04-2026  7:41 PM           2382 .gitignore
-a---          15-04-2026  7:40 PM         153317 guide to all phases.txt
-a---          15-04-2026  7:40 PM           1092 LICENSE"""
DIR = """ Volume in drive C has no label.
 Volume Serial Number is 1A2B-3C4D

 Directory of C:\\work\\tracker

04/15/2026  07:40 PM    <DIR>          .agents
04/15/2026  07:42 PM    <DIR>          .git
04/15/2026  07:41 PM             2,382 .gitignore
04/15/2026  07:40 PM           153,317 guide to all phases.txt
04/15/2026  07:40 PM             1,092 LICENSE"""


@pytest.mark.parametrize("listing", [POWERSHELL, DIR])
def test_of_a_folder_of_windows_the_names_are_told(listing):
    assert Reading(listing, Asked(None, ())).told(120, 120, {}).said == ".agents; .git; .gitignore; … LICENSE"


@pytest.mark.parametrize(
    ("logged", "told"),
    [
        ("INFO     [tools] Saved a.json\nINFO     [Agent] \n\nINFO     [Agent] 📍 Step 7:\n", "Saved a.json"),
        ("ERROR    [tools] No element 5\nINFO     [tools] Tried again", "ERROR: No element 5\nTried again"),
        ("WARNING:root:2 of 3 ports\nINFO:tides.read:Brest: 4.5 m", "WARNING: 2 of 3 ports\nBrest: 4.5 m"),
        ("The door is open.\n\n## Step 12", "The door is open."),
        ("The door is open.\n\n### turn 12\n\n  detector: repeated call", "The door is open."),
        (
            "Open.\n\n### turn 12\n\nThe office says that it is shut.",
            "Open.\n\n### turn 12\n\nThe office says that it is shut.",
        ),
        ("INFORMATION: closed\nStep 1: read", "INFORMATION: closed\nStep 1: read"),
    ],
)
def test_messages_of_a_log_are_told_without_their_loggers_and_the_heading_of_the_next_step(logged, told):
    assert unwrap(logged) == told


def test_a_result_that_is_fenced_behind_its_label_is_told_without_the_state_above_it():
    state = 'Parsed: `True`\n\nState before:\n```json\n{"recent": ["go north"]}\n```\n\n'
    seen = f"{state}Result:\n```text\nYou open the drawer.\n```\n\n## Step 3\n\nObservation:\n```text\nAgain.\n```"
    assert unwrap(seen) == "You open the drawer."
    assert unwrap(seen.replace("`True`", "`False`")) == "Parsed: `False`\nYou open the drawer."
    assert unwrap("Result:\n```\n4.5\n```\nIt is in metres.") == "4.5\nIt is in metres."
    begin = time.process_time()
    unwrap("\nResult:\n```\n" * 100_000)
    assert time.process_time() - begin < 1


def test_a_command_that_a_shell_is_given_is_told_without_the_shell():
    ran = describe("exec", {"command": "/bin/bash -lc 'grep -rn \"tide\" src/a.py'"})
    assert (ran.target, ran.kind) == ('grep -rn "tide" src/a.py', "read")
    assert describe("exec", {"command": "bash -c 'ls' && cat 'b'"}).target == "bash -c 'ls' && cat 'b'"


def observed(text, kind="TerminalObservation", **more):
    """What OpenHands' SDK says of a call."""
    content = [{"cache_prompt": False, "type": "text", "text": text}]
    return json.dumps({"content": content, "is_error": False, "command": "ls", **more, "kind": kind})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (observed("a.py\nb.py", exit_code=0, metadata={"exit_code": 0, "pid": -1}), "a.py\nb.py"),
        (observed("no such file", exit_code=2), "no such file\nexit code: 2"),
        (observed("", exit_code=0), ""),
        (
            observed("The file has been edited.", "FileEditorObservation", prev_exist=True),
            "The file has been edited.",
        ),
        (observed("a", "Reading"), observed("a", "Reading")),
    ],
)
def test_of_an_observation_of_openhands_its_words_are_left_and_how_it_failed(text, told):
    assert unwrap(text) == told


def test_of_what_an_agent_found_for_another_it_is_not_told_that_it_has_looked():
    found = "The key is read in auth.py, and nowhere else."
    looked = "Perfect! Now I have all the information I need. Let me compile a summary of what I found.\n\n"
    assert said(looked + found) == said(found)
    assert unwrap("I have a clear preference for tabs") == "I have a clear preference for tabs"


def test_of_a_long_listing_names_are_told_though_all_of_it_has_room():
    files = "\n".join(f"-rw-r--r-- 1 root root {n}687 Jul  2 05:41 part{n}.py" for n in range(1, 4))
    assert (
        said(f"total 28\ndrwxr-xr-x 2 root root 105 Jul  2 05:41 .\n{files}", limit=400)
        == "part1.py; part2.py; part3.py"
    )
    assert "1687" in said(files.partition("\n")[0], limit=400)
