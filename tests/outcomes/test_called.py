"""What is said to have run: of an editor's call, of arguments, of what is typed, and of code that is one call."""

from __future__ import annotations

import json

import pytest

from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.action.scripts import called_in
from trajcompress.outcomes.steps import action_of, calls_of, label_of
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.trajectory import ToolCall, Turn

WINDOWS = r"C:\Users\someone\OneDrive\Documents\A_Project_With_A_Long_Name\analyst.py"


def label(name: str, arguments: object, limit: int = 60) -> str:
    return label_of(describe(name, arguments), "", limit)


def labels(*codes: str, limit: int = 60) -> list[str]:
    calls = [ToolCall(None, "python", json.dumps({"code": code})) for code in codes]
    turns = [Turn("assistant", "", {}, calls=(call,)) for call in calls]
    known = calls_of(turns)
    return [label_of(action_of(turn, 0, known), "", limit) for turn in turns]


def test_a_switch_that_is_off_is_nothing_that_an_edit_is_about():
    edit = {"replace_all": False, "file_path": WINDOWS, "old_string": "total = 1", "new_string": "total = 2"}
    assert label("Edit", edit) == r"Edit …\analyst.py «total = 2»"
    assert label("Edit", {**edit, "replace_all": True}) == r"Edit …\analyst.py replace_all=true «total = 2»"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ({"offset": 21, "limit": 20}, " (lines 21-40)"),
        ({"offset": 0, "limit": 20}, " (lines 1-20)"),
        ({"offset": 21}, " (lines 21-)"),
        ({"start_line": 3, "end_line": 9, "limit": 100}, " (lines 3-9)"),
        ({"limit": 20}, " limit=20"),
    ],
)
def test_how_many_lines_are_read_says_where_they_end(lines, said):
    assert label("Read", {"file_path": WINDOWS, **lines}) == rf"Read …\analyst.py{said}"


def test_of_arguments_those_tell_most_that_say_what_runs():
    query = "SELECT name, sum(price) AS total FROM orders GROUP BY name"
    given = {"next_step": "the analyst is to review what comes of it", "purpose": "Test it.", "query": query}
    assert label("run_sql", given, 90) == f"run_sql query={query}, …"
    page = {
        "url": "data:text/html,<p>A page long enough to be shown</p>" * 2,
        "width": 1200,
        "headless": True,
    }
    assert label("navigate", page) == "navigate width=1200, headless=true, …"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"keystrokes": "", "duration": 20.0}, "wait 20 s"),
        ({"keystrokes": "\n"}, "wait"),
        ({"keystrokes": "ls -la\n", "duration": 0.2}, "ls -la"),
        ({"duration": 20.0}, "duration=20.0"),
    ],
)
def test_what_is_typed_is_no_number(typed, said):
    assert label("bash_command", typed) == said


def test_a_batch_of_which_nothing_is_typed_waits():
    acted = find_actions(json.dumps({"analysis": "It runs.", "commands": [{"keystrokes": "", "duration": 20.0}]}))
    assert acted is not None
    assert label(acted.calls[0].name, json.loads(acted.calls[0].arguments)) == "wait 20 s"


def test_of_code_the_call_is_told_and_of_that_what_tells_it_from_others():
    asked = "# I look it up.\nprint(apis.api_docs.show_api_doc(app_name='simple_note', api_name='{}'))"
    assert labels(asked.format("login"), asked.format("search_notes")) == [
        "python …api_docs.show_api_doc(api_name='login', …)",
        "python …api_docs.show_api_doc(api_name='search_notes', …)",
    ]
    token = "access_token = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9'\n"
    searched = "found = apis.simple_note.search_notes(access_token=access_token, page_limit=20)\nprint(found)"
    assert labels(token + searched) == ["python …search_notes(page_limit=20, …) …"]


@pytest.mark.parametrize(
    "code",
    [
        "for n in range(3):\n    print(look(n))",
        "a = look(1)\nb = look(2)",
        "def look():\n    return 1",
        "print('\\d' + look(1))",
        "frame.groupby('a').sum()",
        "look(1",
        "(" * 900,
    ],
)
def test_other_code_is_told_by_its_lines(code):
    assert called_in(code) is None


def test_a_secret_goes_before_a_call_is_cut():
    half = {"a": "x" * 40, "token": "ghp_" + "a1B2" * 9}
    turn = Turn("assistant", "", {}, calls=(ToolCall(None, "send", json.dumps(half)),))
    known = calls_of([turn], lambda text: text.replace("ghp_" + "a1B2" * 9, "[REDACTED:github]"))
    assert "ghp" not in label_of(action_of(turn, 0, known), "", 70)
    assert "[REDACTED:github]" in label_of(action_of(turn, 0, known), "", 90)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("python", {"code": "{}"}, "y1 = call(1, 'an argument of some length') (+101 lines)"),
        (
            "bash",
            {"command": "python - <<'EOF'\n{}\nEOF\nls"},
            "x = 1; y0 = call(0, 'an argument of some length') (+101 lines)",
        ),
        (
            "bash",
            {"command": "cat > a.py <<'EOF'\n{}\nEOF"},
            "x = 1; y0 = call(0, 'an argument of some length') (+101 lines)",
        ),
    ],
)
def test_all_lines_of_a_long_script_are_counted_and_what_sets_it_up_is_told_last(name: str, given: dict, told: str):
    code = "\n".join(
        (
            "import os",
            "sys.path.insert(0, '.')",
            "x = 1",
            *(f"y{n} = call({n}, 'an argument of some length')" for n in range(100)),
        )
    )
    action = describe(name, {key: value.format(code) for key, value in given.items()})
    assert (action.target + action.change).endswith(told)
