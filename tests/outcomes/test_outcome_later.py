"""What is told of a result where later turns take something of it up."""

from __future__ import annotations

import json
import re

import pytest
from told import later, ran, read, said

from trajcompress.compaction.text.line import result_line
from trajcompress.facts.next_turns import LaterReader
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Reading
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.steps import action_of
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_a_file_view_tells_the_lines_that_the_next_action_edits():
    shown = "\n".join(f"{number}: def helper_{number}(value):" for number in range(270, 300))
    shown += "\n300:     The keyword names of it.\n301:     keywords = [name for name in KeywordNames]"
    told = read(shown, None, later=later(old="keywords = [name for name in KeywordNames]", new="keywords = []")).said
    assert told == "301: keywords = [name for name in KeywordNames]"


def test_of_matches_those_are_told_that_the_next_action_opens():
    found = "\n".join(f"src/m{number}.py:{number}: import things_{number}" for number in range(10, 40))
    told = read(found, Action("", "grep things", "read"), later=later(path="src/m33.py")).said
    assert told == "30 matches: src/m33.py:33: import things_33"
    numbered = "\n".join(f"{number}: seen = counts(first, second)" for number in range(2060, 2099, 3))
    numbered += "\n2110: total = counts(n_width, n_height)\n2113: rest = counts(n_depth, n_weight)"
    words = "Let us look around line 2084, where n_width, n_height, n_depth and n_weight come from."
    assert said_before(numbered, "{}", ran("grep -n counts a.py"), words).startswith("15 matches: 2084: seen = ")


def test_what_stands_around_a_match_is_told_beside_it_and_not_as_one():
    shown = ["20-}", "22:export interface Fields {", "23-  [x: string]: Part;", "26-export type Multipart = Value;"]
    shown += ["--", "35-  mimetype: string;", "36:  fields: Fields;", "37-}", "39-export interface Value {"]
    shown += [f"{number}-  size_{number}: number;" for number in range(40, 70)]
    told = read("\n".join(shown), Action("Grep", "Fields", "read"), later={"Multipart": 2.0}).said
    assert told == "2 matches: 22:export interface Fields { beside: 26-export type Multipart = Value;"


def test_of_a_long_line_the_sentence_is_told_that_the_next_action_takes_up():
    prose = (
        "The house is a historic home. " * 8
        + "It stands above the bay of Hilo, Hawaii, on a hill. "
        + "It is old. " * 9
    )
    assert "Hilo, Hawaii" in read(prose, None, later=later(query="Hilo, Hawaii")).said


def test_a_sentence_is_not_begun_within_its_brackets():
    printed = "Ann Lee (; born October 26, 1973) is a writer and a singer. " + "She wrote songs; she sang them. " * 9
    assert read(printed, None, later={"writer": 2.0}).said.startswith("Ann Lee (; born October 26, 1973) is a writer")


def test_a_sentence_that_is_taken_up_is_told_whole_before_paragraphs_are_begun():
    first = "Ann Lee is a writer, a singer, a painter and, since the second of her many long journeys, a baker. "
    page = f"{first}She was born at sea. \n" + "\n".join(
        f"In {year} she {'went on and ' * 20}rested." for year in (1, 2)
    )
    assert read(page, None, later={"baker": 2.0}).said == f"{first}She was born at sea."


def test_an_error_does_not_hide_what_the_next_action_takes_up():
    printed = "to_snake gave server_error for serverError\n" + "checked\n" * 30 + "Error: wrong type for Foo\n"
    told = read(printed, None, later=later(text="server_error")).said
    assert told == "Error: wrong type for Foo; to_snake gave server_error for serverError"


def test_what_later_turns_take_is_told_in_whole_sentences_among_what_the_result_shows():
    page = "The archive of the fort.\n" + "".join(f"Nothing is known of it in 17{year}.\n" for year in range(10, 30))
    page += "There is [no evidence](https://example.org/a) that Lee was at Buena Vista in 1847. It closed.\n"
    page += "".join(f"It is so in 18{year}.\n" for year in range(50, 70))
    told = read(page, None, taken={"Buena": 1.5, "1847": 2.0}, most=900).said
    assert " … There is no evidence that Lee was at Buena Vista in 1847. … It is so in 1869." in told
    address = {"https://example.org/a": 4.0, "1847": 2.0}
    assert "[no evidence](https://example.org/a)" in read(page, None, taken=address, most=900).said


def test_of_a_list_of_files_that_one_is_told_that_is_opened_by_another_root():
    found = "\n".join(f"./pkg/part_{number}/checker.py" for number in range(40))
    told = said_before(found, json.dumps({"path": "/repo/pkg/part_23/checker.py"}), ran("find . -name checker.py"))
    assert "./pkg/part_23/checker.py" in told


def said_before(printed: str, arguments: str, did: Turn, words: str = "") -> str:
    """What is told of a result before another call."""
    acts = Turn("assistant", words, {}, calls=(ToolCall("c", "view", arguments),))
    ahead = LaterReader([did, Turn("tool", printed, {}, answers=("c",)), acts]).after(1)
    return read(printed, action_of(did, 0), later=ahead).said


def test_what_the_next_turn_says_is_taken_up_as_what_it_passes_to_a_tool_is():
    found = "\n".join(f"{number}: if key.freq_{number} is None:" for number in range(6000, 6090, 3))
    told = said_before(found, '{"view_range": [6070, 6090]}', ran("grep -n freq base.py"), "Let us see line 6078:")
    assert told.startswith("30 matches: 6078: if key.freq_6078 is None:")


@pytest.mark.parametrize(
    ("asked", "said"),
    [("The match is in line 6077, so I look there.", "Let us see."), ("I look.", "It fails in lines 6076-6078.")],
)
def test_lines_that_are_named_by_number_before_a_view_or_behind_it_are_told(asked: str, said: str):
    shown = "".join(f"  {number}\t        keep_{number % 7} = key\n" for number in range(6000, 6090))
    did = Turn("assistant", asked, {}, calls=(ToolCall("b", "view", '{"path": "base.py"}'),))
    assert "6077 keep_1 = key" in said_before(shown, '{"path": "index.py"}', did, said)


def test_a_name_that_stands_in_several_lines_is_told_in_one_of_them():
    shown = "".join(f"{number}\tvalue_{number} = {number}\n" for number in range(10, 60))
    shown = shown.replace("value_30", "rc_params").replace("value_40", "rc_params")
    told = said_before(shown, '{"query": "rc_params"}', ran("cat -n settings.py"))
    assert "30 rc_params = 30" in told


@pytest.mark.parametrize("behind", ["\t", "→", " | ", "| "])  # cat, Claude Code, Roo Code, opencode
def test_lines_of_a_listing_stand_in_their_order_with_their_numbers_and_none_is_a_number_alone(behind):
    shown = "".join(f"{number:6}{behind}x_{number} = f({number})\n" for number in range(1, 80))
    shown = shown.replace(f"    20{behind}x_20 = f(20)", f"    20{behind}")
    shown = shown.replace("x_30 = f(30)", "def last():").replace("x_5 = f(5)", "class Reader:")
    words = {"x_40": 4.0, "20": 4.0, "x_7": 4.0}
    told = read(shown, None, later={"x_7": 2.0}, taken=words, most=900).said
    listed = "7 x_7 = f(7) … 40 x_40 = f(40)"
    assert re.sub(rf"(\d){re.escape(behind.expandtabs(1))}(?=[a-z])", r"\1 ", told) == listed


def test_that_an_edit_was_made_is_told_once():
    edit = json.dumps({"command": "str_replace", "path": "/r/a.py", "old_str": "x", "new_str": "y"})
    did = action_of(Turn("assistant", "", {}, calls=(ToolCall("c", "str_replace_editor", edit),)), 0)
    printed = "The file /r/a.py has been edited. Here is a snippet:\n   50\tseen = load_all()\n" + "   51\tx\n" * 30
    told = read(printed, did, taken={"/r/a.py": 4.0, "load_all": 4.0}, most=900).said
    assert told == "The file /r/a.py has been edited … 50 seen = load_all()"


def test_of_the_lines_around_an_edit_only_those_are_told_that_later_turns_rely_on():
    edit = json.dumps({"command": "str_replace", "path": "/r/a.py", "old_str": "x", "new_str": "y"})
    did = action_of(Turn("assistant", "", {}, calls=(ToolCall("c", "str_replace_editor", edit),)), 0)
    around = ["def load_all(path):", "# as http://forge.test/issues/15188", "return read_rows(path)", "y"]
    printed = "The file /r/a.py has been edited. Here is a snippet:\n" + "".join(
        f"{number:6}\t{line}\n" for number, line in enumerate(around * 9, 50)
    )
    taken = {"load_all": 2.0, "read_rows": 2.0}
    assert read(printed, did, taken=taken, most=900).said == "The file /r/a.py has been edited"
    page = "forge.test/issues/15188"
    assert page in read(printed.replace(page, "", 8), did, taken={**taken, page: 2.0}, most=900).said
    needed = read(printed, did, ["read_rows"], taken=taken, most=900).said
    assert needed == "The file /r/a.py has been edited … 52 return read_rows(path)"


def test_what_is_told_in_full_is_not_begun_before_that():
    listing = "\n".join(f"[FILE] The {name} of the long and winding papers, volume 7.pdf" for name in ("Art", "Bee"))
    told = read(listing, None, taken={"Art": 4.0, "Bee": 4.0}, most=900).said
    assert told.count("[FILE]") == 2
    assert "…" not in told


def test_a_line_that_the_next_turn_takes_up_is_told_though_other_results_have_it():
    found = [f"./pkg/m{number}.py" for number in range(30)]
    lists = ["\n".join([*found, f"./own_{number}.py", f"./lib_{number}.py"]) for number in range(3)]
    repeated = Repeated((number, each) for number, each in enumerate(lists))
    told = read(lists[0], action_of(ran("find ."), 0), repeated=repeated, later={"pkg/m17.py": 2.0}).said
    assert "./pkg/m17.py" in told


def test_what_most_results_have_tells_of_none_whoever_uses_its_words():
    goal = "GOAL: Write goat.md in Markor, and send all that stands in it to the first of the contacts by a message"
    names = ["Open", "Save", "Share", "Delete", "Copy", "Paste", "Undo", "Redo"]
    rows = [f"{goal}\n\nHISTORY:\n{name} was executed\n\n[1] Button {name} (clickable)" for name in names]
    repeated = Repeated(enumerate(rows))
    told = read(rows[3], action_of(ran("click 3"), 0), repeated=repeated, later={"goat.md": 2.0}).said
    assert "goat.md" not in told
    assert "Button Delete" in told


def test_of_a_long_line_the_part_that_is_taken_up_stands_behind_what_it_begins_with():
    line = "Your fix did not target all lines. " + "Here is a template of it. " * 8 + "Put line_numbers 33, 37 below."
    told = read(line, None, later={"line_numbers": 2.0, "37": 2.0}).said
    assert told == "Your fix did not target all lines. … Put line_numbers 33, 37 below."


def test_of_one_function_that_is_shown_what_it_comes_to_is_told():
    shown = "\n".join(
        f"{number:6}\t{line}"
        for number, line in enumerate(
            [
                "    def to_python(self) -> Series:",
                '        """Convert the values."""',
                *(f"        total_{n} = total_{n - 1} + {n}  # one more step of the sum" for n in range(20)),
                '            raise ValueError("cannot be called with a date")',
                "        return Series(data)",
            ],
            2911,
        )
    )
    told = said(f"Here's the result of running `cat -n` on a.py:\n{shown}")
    assert told == (
        "2911 def to_python(self) -> Series: … "
        '2933 raise ValueError("cannot be called with a date"); 2934 return Series(data)'
    )


def test_what_is_needed_is_told_with_its_line_before_all_else_that_is_taken():
    shown = "\n".join(f"step {number}: Pallas_{number} with Vesta_{number}" for number in range(90))
    shown = f"{shown}\nthe run is {'kept ' * 9}as 7f31-ac\n"
    taken = {f"{name}_{number}": 2.0 for number in range(90) for name in ("Pallas", "Vesta")}
    assert "kept as 7f31-ac" in read(shown, None, ["7f31-ac"], taken=taken, most=600).said


def test_words_that_the_next_turn_says_as_they_stand_there_are_told():
    shown = (
        "You see a bed 1, a cabinet 6, a cabinet 5, a countertop 1, a fridge 1, a microwave 1, and a sinkbasin 1. "
    )
    prose = "".join(f"Number {n} of the ships went out to sea, and nobody saw it again. " for n in range(9))
    prose += "Waves of harbours are removed by a running median of seven readings. "
    said = said_before(shown * 3, "{}", ran("look"), "The milk may be cooled: go to fridge 1.")
    assert "fridge 1" in said
    said = said_before(prose, "{}", ran("waves"), "We need a running median of seven readings, too.")
    assert "Waves of harbours are removed by a running median of seven readings." in said


def test_code_that_the_next_turn_quotes_is_told_though_it_writes_it_with_other_spaces():
    shown = "\n".join(f"{number}:    x{number} = compute(x{number - 1})" for number in range(1, 60))
    shown += "\n60:    e = 5\n61:    n = p * q\n62:    phi = (p - 1) * (q - 1)\n63:    done()"
    words = "With `e = 5` and a modulus `n`, which is `n = p*q`, the inverse is of `phi = (p-1)*(q-1)`."
    for did in (ran("cat rsa.py"), ran("python rsa.py")):
        told = said_before(shown, "{}", did, words)
        assert "n = p * q" in told
        assert "phi = (p - 1) * (q - 1)" in told or "e = 5" in told


def test_code_that_the_next_turn_quotes_is_told_though_it_writes_it_with_other_quotes():
    each = ("is_on", "is_off", "as_key", "as_name")
    shown = "\n".join(f"{name}('{word}') = {word == 'x'}" for word in ("a", "b", "x", "y", "z") for name in each)
    words = 'All is well: `as_key("x")` comes to what it should.'
    assert "as_key('x') = True" in said_before(shown, "{}", ran("python cases.py"), words)


def test_of_matches_those_are_told_that_stand_in_the_lines_that_are_opened():
    found = "\n".join(f"{number}:    values_{number} = []" for number in range(1000, 1900, 30))
    for opens in ('{"view_range": [1325, 1340]}', '{"cmd": "sed -n \'1325,1340p\' a.py"}'):
        assert "1330:    values_1330" in said_before(found, opens, ran("grep -n values a.py")).replace(
            ": v", ":    v"
        )


def test_beside_an_error_the_lines_are_told_that_the_next_turn_speaks_of():
    printed = "Testing names:\nto_snake('HTTPResponse') = 'http_response'\n" + "Nothing else to say here.\n" * 20
    printed += "Error with HTTPResponseCode: 1 validation error\nMade it: http_response_code=200\n"
    told = said_before(printed, "{}", ran("python check.py"), "`to_snake` gives http_response now, but not the code.")
    assert told.startswith("Error with HTTPResponseCode: 1 validation error")
    assert "to_snake('HTTPResponse') = 'http_response'" in told


@pytest.mark.cpu_seconds(20)
def test_what_a_long_result_and_a_long_turn_share_is_found_in_linear_time():
    quotes = "".join(f"`q{number} = a` " for number in range(2_000))
    for text in ("ab 12 " * 200_000, "a " * 500_000, "a.b:" * 200_000):
        said_before(text, "{}", ran("waves"), text)
        said_before(text, "{}", ran("waves"), quotes)


def test_what_the_last_turn_reports_in_the_same_words_is_told_of_a_result_long_before():
    page = "".join(f"Nothing is known of the year 17{year}.\n" for year in range(10, 60))
    page += "The old lighthouse was sold to a painter from Lisbon.\n" + "It rained a lot.\n" * 9
    looks = [Turn("assistant", "I look on.", {}, calls=(ToolCall(f"{n}", "look", "{}"),)) for n in range(5)]
    shown = [Turn("tool", page if n == 1 else "Nothing.", {}, answers=(f"{n}",)) for n in range(5)]
    turns = [turn for pair in zip(looks, shown, strict=True) for turn in pair]
    report = Turn("assistant", "In the end the old lighthouse was sold to an artist.", {})
    (words,) = set(LaterReader([*turns, report]).after(3)) - set(LaterReader(turns).after(3))
    assert "lighthouse was sold to" in words


def test_a_line_that_ends_with_a_semicolon_is_followed_by_no_second_one():
    printed = "".join(f"print $handle_{number};\n" for number in range(60))
    told = result_line(Reading(printed, Asked(needed=["$handle_7", "$handle_50"])), "cat")
    assert "$handle_50" in told
    assert ";;" not in told


def test_frames_of_a_traceback_are_not_told_for_a_file_that_the_error_names_already():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/srv/shop/check_totals.py", line 59, in <module>\n    passed = check_all_totals()\n'
        '  File "/srv/shop/check_totals.py", line 36, in check_all_totals\n    answer = total_of(basket)\n'
        '  File "/usr/lib/python3/site-packages/sums/client.py", line 7, in total_of\n    raise SumError(basket)\n'
        f"sums.SumError: no price{' of any kind' * 20}\n"
    )
    run, taken = Action("", "python check_totals.py", "run"), {"check_all_totals()": 2.0}
    named, numbered = (Reading(text, Asked(run, (need,))) for need in ("/srv/shop/check_totals.py", "line 59"))
    said = named.told(300, 1_400, taken).said
    assert "(/srv/shop/check_totals.py:36)" in said
    assert 'File "' not in said
    assert 'File "/srv/shop/check_totals.py", line 59' in numbered.told(300, 1_400, taken).said


@pytest.mark.parametrize("form", ["{:6}→{}", "{:3} | {}", "{:6}\t{}", "{}:{}"])
def test_a_figure_of_the_next_turn_is_no_number_of_a_line_but_where_it_names_lines(form: str):
    lines = ["package state", *(f"\tstep({at * 7 + 1000})" for at in range(70))]
    lines[39], lines[50] = "type other struct", "\tlimit = 40"
    shown = "\n".join(form.format(number, line) for number, line in enumerate(lines, 1))
    view = Action("Read", "a.go", "read")
    told = read(shown, view, later=later(command="tail -40 a.log")).said
    assert "limit = 40" in told
    assert "other" not in told
    assert "type other struct" in read(shown, view, later=later(words="See line 40.")).said


def test_numbers_of_records_are_values():
    table = " id | name\n----+-------\n" + "\n".join(f" {number:2} | user {number * 7}" for number in range(10, 70))
    assert "40 | user 280" in read(table, None, later=later(user="40")).said
    plan = "\n".join(f"{hour}:30 Walk number {hour * 7}" for hour in range(10, 24)) + "\nAll are free. " * 9
    assert "15:30 Walk number 105" in read(plan, None, later=later(hour="15")).said
