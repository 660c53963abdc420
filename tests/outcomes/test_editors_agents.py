"""What Roo Code and its kin say in XML, or JSON, of files that they read and wrote."""

from __future__ import annotations

import json

import pytest
from observing import recorded
from summed_up import section

from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.text_protocols.elements import answered_elements

STATE = "\n<environment_details>\n# Open tabs\nsrc/a.py\n</environment_details>"
NOTICE = "<notice>\n<i>You do not need to re-read the file, as you have seen all changes</i>\n</notice>\n"
MORE = "\n\n<notice>Making multiple related changes in a single apply_diff is more efficient. Do so.</notice>"
PROBLEMS = """<problems>

New problems detected after saving the file:
src/a.py
- [basedpyright Error] 26 |     x = y : &quot;None&quot; is not assignable to &quot;str&quot;
- [basedpyright Error] 35 |     z = y : Type is wrong</problems>
"""


def writes(path="src/a.py", text="x = None\n"):
    given = f"<path>{path}</path>\n<content>{text}</content>\n<line_count>1</line_count>"
    return f"<write_to_file>\n{given}\n</write_to_file>"


def written(how, path="src/a.py", problems=""):
    inner = f"<path>{path}</path>\n<operation>{how}</operation>\n{problems}{NOTICE}"
    return f"[write_to_file for '{path}'] Result:\n<file_write_result>\n{inner}</file_write_result>{MORE}{STATE}"


def reads(*files):
    inner = "".join(f"  <file>\n    {file}\n  </file>\n" for file in files)
    return f"I read.\n\n<read_file>\n<args>\n{inner}</args>\n</read_file>"


def steps(*turns):
    return section(recorded("Do it.", *turns, "Done.", "Thanks."), "Steps").splitlines()


def test_a_file_that_was_written_is_told_with_how_and_nothing_twice():
    text = recorded("Do it.", writes(), written("created"), writes(text="x = 1"), written("modified"), "Done.")
    first, second = section(text, "Steps").splitlines()
    assert first == "- write_to_file src/a.py «x = None» → created"
    assert second.endswith("→ modified")
    assert section(text, "Files changed") == "- src/a.py (2 times)"


def test_new_problems_are_told_and_the_file_is_changed_all_the_same():
    text = recorded("Do it.", writes(), written("modified", problems=PROBLEMS), "Done.")
    (step,) = section(text, "Steps").splitlines()
    assert 'modified, 2 new problems: [basedpyright Error] 26 | x = y : "None" is not assignable to "str"' in step
    assert section(text, "Files changed") == "- src/a.py"


def test_json_says_the_same():
    said = {"path": "src/a.py", "operation": "created", "notice": "You do not need to re-read the file"}
    (step,) = steps(writes(), f"[Tool]\n{json.dumps(said)}")
    assert step.endswith(" → created")
    other = {"path": "src/a.py", "operation": "created", "lines": 3}
    (step,) = steps(writes(), f"[Tool]\n{json.dumps(other)}")
    assert "lines=3" in step


def test_files_that_are_read_stand_by_their_paths_and_lines():
    one = reads("<path>src/a.py</path>\n    <line_range>1-70</line_range>")
    empty = "[read_file for 'src/a.py'] Result:\n<files>\n<file><path>src/a.py</path>\n<content/>"
    empty += f"<notice>File is empty</notice>\n</file>\n</files>{STATE}"
    assert steps(one, empty) == ["- read_file src/a.py (lines 1-70) → File is empty"]
    two = reads("<path>src/a.py</path>", "<path>b.md</path>")
    text = (
        '[read_file for 2 files] Result:\n<files>\n<file><path>src/a.py</path>\n<content lines="1-1">\n 1 | x = 1\n'
    )
    text += "</content>\n</file>\n<file><path>b.md</path>\n<error>No such file</error>\n</file>\n</files>"
    (step,) = steps(two, text)
    assert step.startswith("- read_file src/a.py; b.md → ")
    assert "<" not in step
    (step,) = steps("[Tool Use: read_file]\nPath: a/b.md", "[Tool]\nFile: a/b.md\nError: File not found: /c/a/b.md")
    assert step.endswith("→ Error: File not found: /c/a/b.md")


def test_an_element_that_the_harness_cut_off_is_read_and_one_of_many_tags():
    cut = (
        writes().partition("</content>")[0] + "\n\n\n[Response interrupted by a tool use result. Only one tool may.]"
    )
    call = find_actions(cut).calls[0]
    assert (call.name, json.loads(call.arguments)) == ("write_to_file", {"path": "src/a.py", "content": "x = None"})
    page = writes("a.html", "<div><p>a</p></div>\n" * 60)
    assert json.loads(find_actions(page).calls[0].arguments)["path"] == "a.html"


@pytest.mark.parametrize(
    "text", ["<operation>created</operation>", "<files>", "File: a\nError: b\nc", '{"path": "a", "operation": 3}']
)
def test_other_results_stay_as_they_are(text):
    (step,) = steps("<bash>cat a</bash>", f"<output>{text}</output>")
    assert step.partition(" → ")[2]


CLINE = """[write_to_file for 'src/main.ts'] Result:
The content was successfully saved to src/main.ts.

Here is the full, updated content of the file that was saved:

<final_file_content path="src/main.ts">
x = 1

</final_file_content>"""
SINCE = """

New problems detected after saving the file:
src/main.ts
- [ts Error] Line 3: Property 'gpu' does not exist.
- [ts Error] Line 9: Type is wrong."""


def test_what_is_wrong_since_a_file_was_saved_is_told():
    steps = section(recorded("Do it.", writes("src/main.ts"), f"{CLINE}{SINCE}{STATE}", "Next."), "Steps")
    assert "→ saved, 2 new problems: [ts Error] Line 3: Property 'gpu' does not exist." in steps
    steps = section(recorded("Do it.", writes("src/main.ts"), f"{CLINE}{STATE}", "Next."), "Steps")
    assert "→ The content was successfully saved to …/main.ts" in steps


def test_blocks_to_search_and_replace_are_edits_whatever_is_said_behind_them():
    edit = "app/x.py\n```python\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n```"
    stats = "> Tokens: 3,120 sent, 87 received. Cost: $0.01 message, $0.02 session.\n> Applied edit to app/x.py\n"
    undo = "> You can use /undo to undo and discard each aider commit."
    record = recorded("Mend it.", f"I mend it.\n\n{edit}\n\nThat is all.", f"{stats}{undo}", "Good.")
    steps = section(record, "Steps").splitlines()
    assert len(steps) == 1
    assert "«a = 2»" in steps[0]
    assert steps[0].endswith("→ Applied edit to …/x.py")
    assert "- app/x.py" in section(record, "Files changed").splitlines()


def test_what_aider_committed_is_told_and_which_of_several_files_it_edited():
    edits = "\n\n".join(
        f"{name}\n```\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n```" for name in ("x.py", "y.py", "z")
    )
    said = [
        "> Tokens: 3.1k sent, 87 received. Cost: $0.01 message, $0.02 session.  ",
        "> y.py  ",
        "> Create new file? (Y)es/(N)o [Yes]: y  ",
        "> Committing x.py before applying edits.  ",
        "> Commit 0a1b2c3 chore: what was there  ",
        "> Applied edit to x.py  ",
        "> Applied edit to y.py  ",
        "> Commit 4d5e6f7 fix: begin to count at two  ",
        "> You can use /undo to undo and discard each aider commit.",
    ]
    record = recorded("Mend it.", f"I mend all three.\n\n{edits}", "\n".join(said), "Good.")
    step = section(record, "Steps")
    assert "→ Commit 4d5e6f7 fix: begin to count at two" in step
    assert not any(left in step for left in ("0a1b2c3", "Tokens", "(Y)es", "/undo"))
    assert section(record, "Files changed").splitlines() == ["- x.py", "- y.py"]


def test_several_edits_of_one_file_are_counted():
    block = "<<<<<<< SEARCH\na = {0}\n=======\na = {0}{0}\n>>>>>>> REPLACE"
    edits = "\n\n".join(f"x.py\n```\n{block.format(n)}\n```" for n in (1, 2, 3))
    record = recorded("Mend it.", f"I mend it.\n\n{edits}", "> Applied edit to x.py", "Good.")
    assert "- edit x.py (3 times) → Applied edit to x.py" in section(record, "Steps")


NOT_EXECUTED = (
    "\nTool [read_file] was not executed because a tool has already been used in this message. Only one tool may be "
    "used per message. You must assess the first tool's result before proceeding to use the next tool."
)


def test_of_several_calls_in_one_turn_those_ran_that_the_result_names():
    asked = "<read_file>\n<path>pkg/package.json</path>\n</read_file>"
    said = f"I write it.\n\n{writes('compose.yaml', 'services:')}\n\nNow the rest.\n\n{writes('b.yaml')}\n\n{asked}"
    done = "[write_to_file for 'compose.yaml'] Result:\nThe content was successfully saved to compose.yaml."
    record = recorded("Set it up.", said, f"{done}{NOT_EXECUTED}{STATE}", "Good.")
    assert "- write_to_file compose.yaml «services:» → The content was" in section(record, "Steps")
    assert "package.json" not in record
    assert section(record, "Files changed") == "- compose.yaml"
    both = f"{done}\n\n[write_to_file for 'b.yaml'] Result:\nThe content was successfully saved to b.yaml.{STATE}"
    assert section(recorded("Set it up.", said, both, "Good."), "Files changed") == "- compose.yaml\n- b.yaml"


@pytest.mark.parametrize("unit", ["<read_file>\n", "<read_file>\n<path>a</path>\n</read_file>\n", "<read_file><a>"])
def test_hostile_elements_and_headers_take_linear_time(unit):
    text = f"{unit * 100_000}</read_file>"
    assert not answered_elements(text, "[read_file for 'x'] Result:\n" * 100_000)


def test_what_aider_reports_is_read_as_it_stands_on_the_screen_too():
    edit = "x.py\n```\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n```"
    stats = "Tokens: 3.1k sent, 87 received. Cost: $0.01 message, $0.02 session."
    missed = (
        f"{stats}\nThe LLM did not conform to the edit format.\n# 1 SEARCH/REPLACE block failed to match!\n\n"
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in x.py\n"
        "<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n\n"
        "The SEARCH section must exactly match an existing block of lines"
    )
    done = f"{stats}\nApplied edit to x.py\nCommit 4d5e6f7 fix: count\nYou can use /undo to revert it."
    done += "\n\nnow y, too\n\n\n^C again to exit"
    record = recorded("Mend it.", edit, missed, f"Once more.\n\n{edit}", done, "Good.")
    steps = section(record, "Steps")
    assert "→ 1 SEARCH/REPLACE block failed to match!" in steps
    assert "→ Commit 4d5e6f7 fix: count" in steps
    assert "Tokens" not in steps
    assert section(record, "Requests").strip() == '- "now y, too"'
    assert section(record, "Files changed").splitlines() == ["- x.py"]


def test_an_edit_that_a_person_has_aider_undo_changed_no_file():
    edit = "x.py\n```\n<<<<<<< SEARCH\na = 1\n=======\na = 2\n>>>>>>> REPLACE\n```"
    done = "> Applied edit to x.py\n> Commit 4d5e6f7 fix: count"
    undone = f"{done}\n\n#### /undo\n\n> Removed: 4d5e6f7 fix: count\n> Now at: 1a2b3c4 begin\n\n#### once more"
    record = recorded("Mend it.", edit, undone, f"Again.\n\n{edit.replace('2', '3')}", done.replace("4d5", "9d5"))
    first, second = section(record, "Steps").strip().splitlines()
    assert "→ undone: Commit 4d5e6f7 fix: count" in first
    assert "→ Commit 9d5e6f7 fix: count" in second
    assert section(record, "Files changed").strip() == "- x.py"
    assert "Files changed" not in recorded("Mend it.", edit, undone, "So I wait.")
