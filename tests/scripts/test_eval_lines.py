"""The measure of lines: it runs the command itself, and knows a line that tells from one that does not."""

from __future__ import annotations

import json
import subprocess
import sys

from measures import SCRIPTS

MEASURE = "eval_lines"


def test_a_line_lacks_what_it_does_not_tell_and_says_what_it_must_not(measure):
    item = {"must": [["TestSplit"], ["expected 3", "got  4"]], "must_not": ["all passed"]}
    assert measure.judge(item, "[go test → TestSplit: got 4]") == ([], [])
    assert measure.judge(item, "[go test → all passed]") == (item["must"], ["all passed"])


def test_what_ought_to_be_told_stands_in_the_results(measure):
    found = [item for _, item in measure.items()]
    assert len({item["id"] for item in found}) == len(found)
    for item in found:
        result = measure.plain(item["result"])
        for group in item["must"]:
            assert any(measure.plain(each) in result for each in group), (item["id"], group)


def test_it_measures_lines_that_the_command_makes(tmp_path):
    command = [sys.executable, SCRIPTS / "eval_lines.py", "--list", "1", "--json", tmp_path / "lines.json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "seen   line: groups" in done.stdout
    lines = json.loads((tmp_path / "lines.json").read_text("utf-8"))
    assert {each["half"] for each in lines} == {"seen", "aside"}
    assert all(each["missing"] or each["wrong"] for each in lines)
    assert sum(each["line"].startswith("[") for each in lines) > len(lines) * 3 // 4
