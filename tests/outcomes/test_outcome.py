"""What is told of one result: the words of it that somebody goes on from."""

from __future__ import annotations

import json

import pytest
from test_outcome_later import ran
from told import read, read_structured, said

from trajcompress.outcomes.action.actions import Action, describe
from trajcompress.outcomes.page import is_page, visible
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.steps import action_of, label_of
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_of_errors_that_led_to_one_another_the_last_comes_first():
    trace = 'Traceback (most recent call last):\n  File "a.py", line {}, in f\n    g()\n{}\n\n'
    printed = trace.format(3, "urllib3.exceptions.NewConnectionError: <object at 0x75>: " + "refused " * 20)
    printed += "During handling of the above exception, another exception occurred:\n\n"
    printed += trace.format(9, "botocore.exceptions.EndpointConnectionError: no endpoint")
    assert said(printed).startswith("botocore.exceptions.EndpointConnectionError: no endpoint (a.py:9); urllib3")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_test_run_that_failed_says_why(end):
    header = "=== test session starts ===\ncollected 1 item\n\n=== {} ===\n___ test_sum ___\n{}\n"
    summary = "=== short test summary info ===\n{}\n=== 1 {} in 0.05s ===\n"
    asserted = header.format(
        "FAILURES", "    def test_sum():\n>       assert total() == 3\nE       assert 4 == 3\nE        + where"
    )
    skipped = header.format("ERRORS", "Using pytest.skip outside of a test is not allowed.")
    runs = (
        (asserted + summary.format("", "failed"), "1 failed in 0.05s; assert 4 == 3"),
        (
            skipped + summary.format("ERROR test_sum.py", "error"),
            "1 error in 0.05s; Using pytest.skip outside of a test is not allowed.",
        ),
    )
    for printed, told in runs:
        assert said(printed.replace("\n", end)) == told


def test_a_list_of_tools_is_told_by_their_names():
    tool = "- server_name: datagov\n  tool_name: {}\n  tool_description: Search for packages\n  inputschema: '{{}}'\n"
    printed = "success: true\nmatched_tools:\n" + "".join(map(tool.format, ("package_search", "package_show")))
    assert said(printed) == "server_name: datagov, tool_name: package_search; datagov, package_show"


def test_furniture_is_no_outcome():
    meter = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"
    meter += "                                 Dload  Upload   Total   Spent    Left  Speed\n"
    meter += "100  1055    0   888  100   167   1000   188 --:--:-- --:--:-- --:--:--  1189\n"
    page = (
        "<html>\n<body>\n<p>Your name is test, and you are 123 years old</p>\n"
        + "<hr />\n" * 30
        + "</body>\n</html>\n"
    )
    assert said(meter + page) == "Your name is test, and you are 123 years old"


def test_a_page_is_told_by_what_it_shows():
    page = "<!DOCTYPE html>\n<html><head><title>Perl Examples</title><style>li {color: red}</style></head>\n"
    page += (
        '<body><ul><li><a href="/cgi-bin/hello.pl">Hello World</a></li><li><a class="x" href="/forms">Forms</a></li>'
    )
    page += "</ul><!-- left out --></body></html>"
    assert (
        said("<table><tr><td>Month</td><td>TVs</td></tr><tr><td>1</td><td>45</td></tr></table>") == "Month TVs 1 45"
    )
    assert said(page) == "Perl Examples /cgi-bin/hello.pl Hello World /forms Forms"


def test_the_frame_of_a_box_is_no_part_of_what_it_says():
    box = "Executable doesn't exist at /cache/shell\n╔════╗\n║ npx playwright install ║\n╚════╝. Please try again."
    told = said(f"Error: {box}\n" + "x " * 200)
    assert "═" not in told
    assert "Executable doesn't exist at /cache/shell" in told


def test_a_source_that_a_page_shows_keeps_the_tags_that_it_prints():
    page = (
        '<html>\n<body>\n<h1>Files</h1>\nuse CGI;<br />\nprint "$key = $ENV{$key}<br>\\n";<br />\n'
        "if ($a) { print '<hr />'; }<br />\n<b>Bold&nbsp;</b><br />\n</body></html>"
    )
    shown = visible(page)
    assert 'print "$key = $ENV{$key}<br>\\n";' in shown
    assert "print '<hr />'; }" in shown
    assert "<b>" not in shown
    assert "<br />" not in shown


def test_a_source_each_line_of_which_begins_with_a_break_keeps_its_tags_too():
    source = ["use CGI;", 'print "$key<br>\\n";', "print '</body></html>';"]
    page = "<html>\n<body>\n" + "".join(f"<br />{line}\n" for line in source) + "</body></html>"
    assert [line for line in visible(page).splitlines() if line.strip()] == source


def test_a_page_that_is_read_as_a_file_keeps_its_tags():
    page = '<html>\n<body>\n<form action="/pay"><input name="sum"></form>\n</body>\n</html>\n'
    did = Turn("assistant", "", {}, calls=(ToolCall("c", "bash", '{"command": "cat shop/pay.html"}'),))
    assert '<form action="/pay"><input name="sum"></form>' in read(page, action_of(did, 0)).said
    did = Turn("assistant", "", {}, calls=(ToolCall("c", "bash", '{"command": "curl -s localhost/pay.html"}'),))
    assert "<form" not in read(page, action_of(did, 0)).said


def test_what_a_script_marks_as_failed_is_told_with_what_stands_before():
    did = Turn("assistant", "", {}, calls=(ToolCall("c", "bash", '{"command": "python test_cases.py"}'),))
    case = "snake('{0}') = '{1}'\nExpected: '{2}'\n{3}\n\n"
    passed = "".join(case.format(f"A{n}", "a", "a", "✓ PASS") for n in range(40))
    printed = passed + case.format("Up", "up_", "up", "✗ FAIL") + passed + case.format("Go", "go_", "go", "✗ FAIL")
    told = read(printed, action_of(did, 0))
    assert told.failed
    assert told.said.startswith("2 × ✗ FAIL; snake('Up') = 'up_'; Expected: 'up'; snake('Go') = 'go_'; Expected")
    tap = read("ok 1 - reads\nnot ok 2 - writes the file\n" + "ok 3\n" * 40, action_of(did, 0))
    assert (tap.said, tap.failed) == ("not ok 2 - writes the file; 41 × ok", True)
    assert not read(passed, action_of(did, 0)).failed


def test_of_what_nobody_can_read_only_the_size_is_told():
    told = read("\0" * 4096, None)
    assert (told.said, told.size) == ("", "4,096 characters")
    assert said("$ " * 100) != ""
    spaces = read("\u2003 " * 600, None)
    assert (spaces.said, spaces.size) == ("", "1,200 characters")
    assert said(" \n") == "no output"


@pytest.mark.parametrize("echo", ["rm /srv/a/try.py", "$ rm /srv/a/try.py\n"])
def test_a_command_that_prints_no_more_than_itself_has_no_output(echo: str):
    assert said(echo, ran("cd /srv && rm /srv/a/try.py")) == "no output"
    assert said(f"{echo.strip()}\nrm: cannot remove it", ran("rm /srv/a/try.py")) == "rm: cannot remove it"
    assert said("rm", ran("echo rm")) == "rm"


def test_a_tool_that_is_no_terminal_and_gives_back_the_words_of_its_call_is_not_said_to_have_no_output():
    thought = Action("Self thinking", "'Work out the price of wool'", "idle")
    assert read("'Work out the price of wool'", thought).said == "the same words"
    assert read("Work out the price of wool and silk", thought).said == "Work out the price of wool and silk"


def test_a_list_of_things_to_do_that_comes_back_as_it_was_given_is_told_once():
    todos = [{"content": f"Check the {each} of it", "status": "pending"} for each in ("head", "body", "end")]
    did = describe("todowrite", {"todos": todos})
    assert read(json.dumps(todos, indent=2), did).said == "the same words"
    done = [{**todos[0], "status": "completed"}, *todos[1:]]
    assert "completed" in read(json.dumps(done), did).said


def test_the_last_line_of_a_run_is_told_though_each_run_ends_with_it():
    did = Turn("assistant", "", {}, calls=(ToolCall("c", "bash", '{"command": "python demo.py"}'),))
    runs = [
        f"Loading table {'abcd'[n] * 12}\n" + f"row {'wxyz'[n] * 9} read\n" * 30 + "2 of 3 cases agree\n"
        for n in range(4)
    ]
    same = Repeated(("demo", each) for each in runs)
    others = Repeated(enumerate(runs))
    assert "2 of 3 cases agree" in read(runs[3], action_of(did, 0), repeated=same).said
    assert "2 of 3 cases agree" not in read(runs[3], action_of(did, 0), repeated=others).said, "all of them end so"


def test_a_fact_is_told_by_the_last_step_that_has_it_and_once():
    def step(number: int) -> tuple[Turn, Turn]:
        call = ToolCall(f"c{number}", "fetch", json.dumps({"url": f"https://example.com/{number}"}))
        body = (
            f"Page {number} of the table. " + "Nothing of interest. " * 20 + "The order number is ZX-40917-B today."
        )
        return Turn("assistant", "", {}, calls=(call,)), Turn("tool", body, {}, answers=(f"c{number}",))

    region = tuple(turn for number in range(4) for turn in step(number))
    text = extract(SummaryRequest("t", (), region, 2_000, len, facts=("ZX-40917-B",)))
    assert text.count("ZX-40917-B") == 1
    assert "ZX-40917-B" in next(line for line in text.splitlines() if "example.com/3" in line)


def test_tags_in_a_call_take_no_room_of_its_label():
    query = (
        "<tool_assistant>\nserver: a text editor or a file system\ntool: read what a file holds\n</tool_assistant>"
    )
    call = Turn("assistant", "", {}, calls=(ToolCall("c", "route", json.dumps({"query": query})),))
    label = label_of(action_of(call, 0), "", 60)
    assert label.startswith("route server: a text editor")
    assert label.endswith("tool: read…")
    assert "<" not in label


def test_of_a_page_the_line_that_says_what_was_asked_is_told():
    asked = Turn("assistant", "", {}, calls=(ToolCall("c", "search", '{"query": "year company went public"}'),))
    filler = "".join(f"A link to something else, number {n}\n" for n in range(60))
    printed = f"Results\n{filler}The company went public in the year 2020.\n{filler}"
    assert "The company went public in the year 2020." in said(printed, asked)


def test_records_are_told_with_their_keys_once():
    flights = [{"origin": "MSP", "flight": f"HAT{n}"} for n in range(100, 103)]
    assert said(json.dumps(flights)) == "[(origin=MSP, flight=HAT100); MSP, HAT101; MSP, HAT102]"


def test_what_is_said_again_and_again_is_no_reply():
    speaks = [Turn("assistant", "Next speaker: the web surfer", {}), Turn("assistant", "It opened in 1912.", {})]
    text = extract(SummaryRequest("t", (), (speaks[0], speaks[1], speaks[0]), 400, len))
    assert "It opened in 1912." in text
    assert "Next speaker" not in text


def test_plans_of_agents_that_call_each_other_are_no_replies_and_what_a_person_is_told_is_one():
    plan = Turn("assistant", "Stalled. I have to plan anew, as the page is gone.", {}, own_role="Planner (thought)")
    asks = Turn("assistant", "Please open the list of 2020.", {}, own_role="Planner (-> Surfer)")
    answer = Turn("tool", "It has 12 names.", {}, answers=(None,), own_role="Surfer")
    reply = Turn("assistant", "The list has 12 names.", {}, own_role="Planner")
    region = (plan, asks, answer, reply, Turn("user", "Which?", {}), plan, asks, answer, plan)
    text = extract(SummaryRequest("t", (), region, 400, len))
    assert '- "The list has 12 names."' in text
    assert "Stalled" not in text


def test_a_header_alone_is_no_outcome():
    printed = "The result of executing that last command is:\nCommand write_fix returned: it does not compile\n" * 6
    assert said(printed).startswith("it does not compile; ")
    assert said("The result of the command is:\nno match") == "no match"
    assert said("Usage:\n") == "Usage:"


def test_of_an_edit_the_editor_says_that_it_was_made_and_not_the_code():
    edit = json.dumps({"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"})
    did = Turn("assistant", "", {}, calls=(ToolCall("c", "str_replace_editor", edit),))
    printed = "The file a.py has been edited. Here is a snippet:\n   50\tprint('Successfully created it')\n"
    assert said(printed, did) == "The file a.py has been edited"


def test_of_a_long_value_the_sentences_are_told_that_later_turns_use():
    data = {
        "log": "Build starts. No step of build-3f failed. Pages were sent. " * 9 + "It took 71 s.",
        "more": "x" * 400,
    }
    line, *_ = read_structured(data, {"build-3f": 4.0, "71": 4.0}, 150, 900)
    assert line.startswith("log=No step of build-3f failed. … It took 71 s., ")


def test_why_each_of_some_records_failed_is_told_once():
    failed = {
        "results": [
            {"source": f"/srv/{name}.pdf", "success": False, "error": "Absolute paths are not allowed."}
            for name in "abc"
        ]
    }
    assert read_structured(failed, {}, 150, 150) == ("error: Absolute paths are not allowed.", "", True)


def test_of_a_block_that_an_editor_did_not_find_the_quote_ends_and_it_is_told_what_became_of_it():
    printed = (
        "ERROR:\nNo replacement was performed, old_str `    a = 1\n    b = 2` did not appear verbatim in /r/a.py.\n"
    )
    edit = Action("edit", "/r/a.py", "change")
    assert read(printed, edit).said == (
        "No replacement was performed, old_str ` a = 1 …` did not appear verbatim in /r/a.py."
    )


def test_what_a_validator_writes_below_its_error_is_told():
    printed = (
        "Error executing tool: 1 validation error for Design\ncontent\n  Input should be a valid list [type=list]\n"
    )
    assert "; content Input should be a valid list" in read(printed, None).said


def test_tags_and_entities_of_a_page_in_a_value_are_left_out():
    found = [
        {"title": f"T{number}", "text": f"<b>Sparrow</b> &amp; no. {number} {'word ' * 30}"} for number in range(6)
    ]
    told, _, _ = read_structured(found, {"4": 4.0, "Sparrow": 2.0}, 150, 900)
    assert "Sparrow & no." in told
    assert "<b>" not in told


def test_what_ran_on_behind_an_error_is_told_with_it():
    printed = "checked\n" * 30 + "Error with A: no such field\n  detail of it\n" + "Successfully made B\n"
    assert said(printed, ran("python check.py")) == "Error with A: no such field; checked; Successfully made B"


def test_what_a_script_of_the_agent_printed_besides_an_error_is_told_where_that_is_short():
    frames = '  File "try.py", line 9, in <module>\n    main(of=3)\n' * 4
    printed = (
        f"Trying:\nsnake('HttpOne') = 'http_one'\nwanted 'http_one'\nTraceback (most recent call last):\n{frames}"
    )
    told = said(f"{printed}ValueError: no such name\n", ran("python try.py"))
    assert told == "ValueError: no such name (try.py:9); snake('HttpOne') = 'http_one'; wanted 'http_one'"


def test_what_passed_is_counted():
    printed = "".join(f"tests/test_a.py::test_{number} PASSED [{number}%]\n" for number in range(30))
    assert said(f"{printed}all of them ran\n", ran("python -m pytest -v")).startswith("30 × PASSED")


def test_what_autogpt_says_before_a_result_is_no_part_of_it():
    printed = "The result of executing that last command is:\n Command read_range returned: Error: no such file"
    assert read(printed, None).said == "Error: no such file"
    assert read(printed, None).failed


def test_a_label_quotes_within_its_quotes_and_ends_with_no_half_tag():
    edit = {
        "path": "/r/a_long_name_of_a_module.py",
        "old_str": "x",
        "new_str": "# Skip what is not to be checked here, or there",
    }
    call = ToolCall("c", "str_replace", json.dumps(edit))
    label = label_of(action_of(Turn("assistant", "", {}, calls=(call,)), 0), "", 80)
    assert label == "str_replace …/a_long_name_of_a_module.py «# Skip what is not to be checked…»"
    assert "«" not in label_of(action_of(Turn("assistant", "", {}, calls=(call,)), 0), "", 60)
    query = "<assistant> " + "find a tool that converts " * 5 + "PDF</assistant>"
    call = ToolCall("c", "route", json.dumps({"query": query}))
    assert "<" not in label_of(action_of(Turn("assistant", "", {}, calls=(call,)), 0), "")


@pytest.mark.cpu_seconds(20)  # quadratic time would take minutes
@pytest.mark.parametrize("unit", ["a", "\n", " ", "1: ", "Traceback (most recent call last):\n", "x.y/z "])
def test_a_hostile_result_is_read_in_linear_time(unit):
    read(unit * (1_000_000 // len(unit)), action_of(ran("x y"), 0), later={"abc": 2.0, "x.y": 2.0}, taken={"z": 2.0})


def test_records_that_failed_alike_are_told_once():
    records = [
        {"path": f"a{number}.pdf", "error": f"Failed to prepare the source a{number}.pdf"} for number in range(3)
    ]
    assert said(json.dumps({"results": records})) == "error: Failed to prepare the source a0.pdf (and 2 more)"


def test_code_that_prints_a_page_keeps_its_tags():
    code = 'use CGI;\nprint "<html><body>";\nprint "$key = $value<br>\\n";\nprint "</body></html>";\n'
    assert not is_page(code)
    assert is_page("  % Total\n100  72\n\n<html>\n<body>Hello</body>")
    assert is_page('<?xml version="1.0"?><html><body>Hello</body></html>')
