"""Tasks that Cline, Roo Code and Kilo Code export name their calls and results by signs of their own."""

from __future__ import annotations

import json

from summed_up import ask, section
from trajectories import read

from trajcompress.summarize.extractive import extract
from trajcompress.transcript.observations import is_request, request_text

EDITOR = "\n<environment_details>\n# VSCode Open Tabs\nsrc/a.py\n</environment_details>"
SAID = "Stop, and check the links of the report first."
MADE = '{"path":"notes/plan.md","operation":"created"}'
TASK = [("user", "<task>\nWrite a plan.\n</task>"), ("assistant", "I begin.\n\n[Tool Use: list_files]\nPath: notes")]
FOUND = ("user", f"[Tool]\nplan.txt\nlinks.txt{EDITOR}")


def turns(*more):
    return read([{"role": role, "content": text} for role, text in (*TASK, FOUND, *more)]).turns


def test_results_are_no_requests_but_for_what_a_person_says_in_them():
    denied = json.dumps({"status": "denied", "message": "The user denied this operation.", "feedback": SAID})
    write = ("assistant", "[Tool Use: write_to_file]\nPath: plan.md\nContent: # Plan")
    failed = f"[Tool (Error)]\nError: no room left{EDITOR}"
    row = turns(write, ("user", f"[Tool]\n{denied}{EDITOR}"), write, ("user", failed))
    assert [request_text(turn) for turn in row[2:] if is_request(turn)] == [SAID]
    record = extract(ask(row[1:]))
    assert section(record, "Requests").strip() == f'- "{SAID}"'
    assert "- write_to_file plan.md «# Plan» → denied by the user" in record
    assert "Files changed" not in record


def test_a_file_that_could_not_be_read_is_an_error():
    missing = "[Tool]\nFile: notes/plan.md\nError: Error reading file: File not found: /home/u/notes/plan.md"
    row = turns(("assistant", "[Tool Use: read_file]\nPath: notes/plan.md"), ("user", missing + EDITOR))
    assert "File not found" in section(extract(ask(row[1:])), "Steps")
