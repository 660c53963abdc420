"""What is told of one result: the words of it that somebody goes on from."""

from __future__ import annotations

import json
import time

import pytest

from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.furniture import Repeated
from trajcompress.summarize.extractive.later import Later, LaterReader
from trajcompress.summarize.extractive.outcome import read
from trajcompress.summarize.extractive.steps import action_of, label_of
from trajcompress.summarize.extractive.structured import read_structured
from trajcompress.transcript.trajectory import ToolCall, Turn


def said(printed: str, did: Turn | None = None, limit: int = 150) -> str:
    """What is told of a result."""
    return read(printed, action_of(did, 0) if did else None, limit=limit).said


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


def test_what_a_script_marks_as_failed_is_told_with_what_stands_before():
    did = Turn("assistant", "", {}, calls=(ToolCall("c", "bash", '{"command": "python test_cases.py"}'),))
    case = "snake('{0}') = '{1}'\nExpected: '{2}'\n{3}\n\n"
    passed = "".join(case.format(f"A{n}", "a", "a", "✓ PASS") for n in range(40))
    printed = passed + case.format("Up", "up_", "up", "✗ FAIL") + passed + case.format("Go", "go_", "go", "✗ FAIL")
    told = read(printed, action_of(did, 0))
    assert told.failed
    assert told.said.startswith("2 × ✗ FAIL; snake('Up') = 'up_'; Expected: 'up' ✗ FAIL; snake('Go') = 'go_'")
    tap = read("ok 1 - reads\nnot ok 2 - writes the file\n" + "ok 3\n" * 40, action_of(did, 0))
    assert (tap.said, tap.failed) == ("not ok 2 - writes the file", True)
    assert not read(passed, action_of(did, 0)).failed


def test_of_what_nobody_can_read_only_the_size_is_told():
    told = read("\0" * 4096, None)
    assert (told.said, told.size) == ("", "4,096 characters")
    assert said("$ " * 100) != ""
    spaces = read("\u2003 " * 600, None)
    assert (spaces.said, spaces.size) == ("", "1,200 characters")
    assert said(" \n") == "no output"


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


def test_what_a_planner_notes_as_an_object_is_told_in_sentences():
    note = {"is_request_satisfied": {"reason": "We still lack the list of 2020.", "answer": False}, "next": "Surfer"}
    region = (Turn("assistant", f"Updated Ledger:\n{json.dumps(note, indent=1)}", {}),)
    text = extract(SummaryRequest("t", (), region, 400, len))
    assert '- "We still lack the list of 2020."' in text


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
    assert line.startswith("log=No step of build-3f failed. … It took 71 s.; ")


def later(**turns: str) -> Later:
    """What a call brings in."""
    acts = Turn("assistant", "", {}, calls=(ToolCall("c", "do", json.dumps(turns)),))
    return LaterReader([Turn("tool", "", {}, answers=("b",)), acts]).after(0)


def test_a_file_view_tells_the_lines_that_the_next_action_edits():
    shown = "\n".join(f"{number}: def helper_{number}(value):" for number in range(270, 300))
    shown += "\n300:     The keyword names of it.\n301:     keywords = [name for name in KeywordNames]"
    told = read(shown, None, later=later(old="keywords = [name for name in KeywordNames]", new="keywords = []")).said
    assert told == (
        "270: def helper_270(value):; 271: def helper_271(value): … 301: keywords = [name for name in KeywordNames]"
    )


def test_of_matches_those_are_told_that_the_next_action_opens():
    found = "\n".join(f"src/m{number}.py:{number}: import things_{number}" for number in range(10, 40))
    told = read(found, Action("", "grep things", "read"), later=later(path="src/m33.py")).said
    assert told == "30 matches: src/m33.py:33: import things_33"


def test_of_a_long_line_the_sentence_is_told_that_the_next_action_takes_up():
    prose = (
        "The house is a historic home. " * 8
        + "It stands above the bay of Hilo, Hawaii, on a hill. "
        + "It is old. " * 9
    )
    assert "Hilo, Hawaii" in read(prose, None, later=later(query="Hilo, Hawaii")).said


def test_an_error_does_not_hide_what_the_next_action_takes_up():
    printed = "to_snake gave server_error for serverError\n" + "checked\n" * 30 + "Error: wrong type for Foo\n"
    told = read(printed, None, later=later(text="server_error")).said
    assert told == "Error: wrong type for Foo; to_snake gave server_error for serverError"


def test_values_that_are_needed_stand_with_their_record():
    days = range(20, 29)
    flights = [{"flight": f"HAT1{day}", "origin": "MSP", "date": f"2024-05-{day}", "seats": [9] * 30} for day in days]
    told, _, _ = read_structured({"flights": flights}, dict.fromkeys(("2024-05-21", "2024-05-25"), 4.0), 150, 200)
    assert told.startswith("(flight=HAT121, date=2024-05-21); (HAT125, 2024-05-25)")
    cards = {"gift_1": {"source": "gift", "amount": 280}, "card_2": {"source": "card", "last_four": "3848"}}
    told, _, _ = read_structured(
        {"payment_methods": cards, "note": "x" * 300}, dict.fromkeys(("280", "3848"), 4.0), 150, 200
    )
    assert told.startswith("(gift_1, amount=280); (card_2, last_four=3848)")


def test_of_few_records_all_are_told_and_of_a_short_list_all_items():
    legs = [{"flight": f"HAT{number}", "date": f"2024-05-2{number % 10}", "seats": [9] * 90} for number in (208, 303)]
    told, _, _ = read_structured(
        {"flights": legs, "ids": ["NM1VX1", "S61CZX"], "note": "x" * 300}, {"HAT208": 4.0, "S61CZX": 4.0}, 150, 900
    )
    assert "(flight=HAT208); (HAT303)" in told
    assert "ids=[NM1VX1; S61CZX]" in told


def test_why_each_of_some_records_failed_is_told_once():
    failed = {
        "results": [
            {"source": f"/srv/{name}.pdf", "success": False, "error": "Absolute paths are not allowed."}
            for name in "abc"
        ]
    }
    assert read_structured(failed, {}, 150, 150) == ("error: Absolute paths are not allowed.", "", True)


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


def test_what_later_turns_take_is_told_in_whole_sentences_behind_the_outcome():
    page = "The archive of the fort.\n" + "".join(f"Nothing is known of it in 17{year}.\n" for year in range(10, 30))
    page += "There is [no evidence](https://example.org/a) that Lee was at Buena Vista in 1847. It closed.\n"
    page += "".join(f"It is so in 18{year}.\n" for year in range(50, 70))
    told = read(page, None, taken={"Buena": 1.5, "1847": 2.0}, most=900).said
    assert told.endswith("; There is no evidence that Lee was at Buena Vista in 1847.")
    address = {"https://example.org/a": 4.0, "1847": 2.0}
    assert "[no evidence](https://example.org/a)" in read(page, None, taken=address, most=900).said


def ran(command: str) -> Turn:
    return Turn("assistant", "", {}, calls=(ToolCall("c", "bash", json.dumps({"command": command})),))


def test_of_a_list_of_files_that_one_is_told_that_is_opened_by_another_root():
    found = "\n".join(f"./pkg/part_{number}/checker.py" for number in range(40))
    told = said_before(found, json.dumps({"path": "/repo/pkg/part_23/checker.py"}), ran("find . -name checker.py"))
    assert "./pkg/part_23/checker.py" in told


def said_before(printed: str, arguments: str, did: Turn, words: str = "") -> str:
    """What is told of a result before another call."""
    acts = Turn("assistant", words, {}, calls=(ToolCall("c", "view", arguments),))
    ahead = LaterReader([did, Turn("tool", "", {}, answers=("c",)), acts]).after(1)
    return read(printed, action_of(did, 0), later=ahead).said


def test_what_the_next_turn_says_is_taken_up_as_what_it_passes_to_a_tool_is():
    found = "\n".join(f"{number}: if key.freq_{number} is None:" for number in range(6000, 6090, 3))
    told = said_before(found, '{"view_range": [6070, 6090]}', ran("grep -n freq base.py"), "Let us see line 6078:")
    assert told.startswith("30 matches: 6078: if key.freq_6078 is None:")


def test_a_name_that_stands_in_several_lines_is_told_in_one_of_them():
    shown = "".join(f"{number}\tvalue_{number} = {number}\n" for number in range(10, 60))
    shown = shown.replace("value_30", "rc_params").replace("value_40", "rc_params")
    told = said_before(shown, '{"query": "rc_params"}', ran("cat -n settings.py"))
    assert "30 rc_params = 30" in told


def test_lines_of_a_listing_stand_in_their_order_with_their_numbers_and_none_is_a_number_alone():
    shown = "".join(f"{number:6}\tx_{number} = f({number})\n" for number in range(1, 80))
    shown = shown.replace("    20\tx_20 = f(20)", "    20\t")
    shown = shown.replace("x_30 = f(30)", "def last():").replace("x_5 = f(5)", "class Reader:")
    words = {"x_40": 4.0, "20": 4.0, "x_7": 4.0}
    told = read(shown, None, later={"x_7": 2.0}, taken=words, most=900).said
    assert told == "5 class Reader: … 7 x_7 = f(7) … 30 def last(): … 40 x_40 = f(40)"


def test_that_an_edit_was_made_is_told_once():
    edit = json.dumps({"command": "str_replace", "path": "/r/a.py", "old_str": "x", "new_str": "y"})
    did = action_of(Turn("assistant", "", {}, calls=(ToolCall("c", "str_replace_editor", edit),)), 0)
    printed = "The file /r/a.py has been edited. Here is a snippet:\n   50\tseen = load_all()\n" + "   51\tx\n" * 30
    told = read(printed, did, taken={"/r/a.py": 4.0, "load_all": 4.0}, most=900).said
    assert told == "The file /r/a.py has been edited; 50 seen = load_all()"


def test_what_is_told_in_full_is_not_begun_before_that():
    listing = "\n".join(f"[FILE] The {name} of the long and winding papers, volume 7.pdf" for name in ("Art", "Bee"))
    told = read(listing, None, taken={"Art": 4.0, "Bee": 4.0}, most=900).said
    assert told.count("[FILE]") == 2
    assert "…" not in told


def test_what_ran_on_behind_an_error_is_told_with_it():
    printed = "checked\n" * 30 + "Error with A: no such field\n  detail of it\n" + "Successfully made B\n"
    assert said(printed, ran("python check.py")) == "Error with A: no such field; Successfully made B"


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


@pytest.mark.parametrize("unit", ["a", "\n", " ", "1: ", "Traceback (most recent call last):\n", "x.y/z "])
def test_a_hostile_result_is_read_in_linear_time(unit):
    before = time.perf_counter()
    read(unit * (1_000_000 // len(unit)), action_of(ran("x y"), 0), later={"abc": 2.0, "x.y": 2.0}, taken={"z": 2.0})
    assert time.perf_counter() - before < 5


def test_of_a_page_in_a_browser_it_is_told_where_the_click_led():
    screen = (
        "I clicked 'CSV'.\n\nHere is a screenshot of [Savings | Data](https://data.org/savings?tab=1). The viewport "
        'shows 35% of the webpage.\nThe following metadata was extracted from the webpage:\n\n{\n    "meta": {\n'
        '        "og:type": "website"\n    }\n}\n\nAutomatic OCR of the page screenshot has detected the following '
        "text:\n\nGross savings were 35 percent in 2010\n" + "Menu\nLog in\n" * 9
    )
    told = said(screen, ran("get the data"))
    assert told.startswith("I clicked 'CSV'.; Savings | Data (https://data.org/savings); ")
    assert "OCR" not in told
    assert "meta" not in told
    assert "Gross savings were 35 percent in 2010" in told


def test_a_page_that_other_results_show_as_well_is_not_named_again():
    page = (
        "I scrolled down one page.\n\nHere is a screenshot of [A | B](https://b.org/a).\n{}\n" + "Menu\nLog in\n" * 20
    )
    pages = [page.format(fruit) for fruit in ("Apples", "Pears", "Plums")]
    repeated = Repeated((number, each) for number, each in enumerate(pages))
    assert read(pages[1], action_of(ran("go on"), 0), repeated=repeated).said == "Pears"


def test_a_line_that_the_next_turn_takes_up_is_told_though_other_results_have_it():
    found = [f"./pkg/m{number}.py" for number in range(30)]
    lists = ["\n".join([*found, f"./own_{number}.py", f"./lib_{number}.py"]) for number in range(3)]
    repeated = Repeated((number, each) for number, each in enumerate(lists))
    told = read(lists[0], action_of(ran("find ."), 0), repeated=repeated, later={"pkg/m17.py": 2.0}).said
    assert "./pkg/m17.py" in told


def test_of_a_long_line_the_part_that_is_taken_up_stands_behind_what_it_begins_with():
    line = "Your fix did not target all lines. " + "Here is a template of it. " * 8 + "Put line_numbers 33, 37 below."
    told = read(line, None, later={"line_numbers": 2.0, "37": 2.0}).said
    assert told == "Your fix did not target all lines. … Put line_numbers 33, 37 below."


def test_records_that_failed_alike_are_told_once():
    records = [
        {"path": f"a{number}.pdf", "error": f"Failed to prepare the source a{number}.pdf"} for number in range(3)
    ]
    assert said(json.dumps({"results": records})) == "error: Failed to prepare the source a0.pdf (and 2 more)"


def test_a_note_of_a_planner_is_quoted_though_words_stand_behind_it():
    note = {"satisfied": {"reason": "We still lack the list of 2020.", "answer": False}}
    text = extract(
        SummaryRequest("t", (), (Turn("assistant", f"Ledger:\n{json.dumps(note)}\n/x.py:3: a", {}),), 400, len)
    )
    assert '- "We still lack the list of 2020."' in text
