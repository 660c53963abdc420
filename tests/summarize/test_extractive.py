"""The built-in summariser: what a reader who goes on from its record relies on."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec.structs import replace
from summed_up import REGION, UNITTEST, ask, call, result, say, section
from test_extractive_bounds import MARKUP
from trajectories import read

from trajcompress.summarize.base import Usage
from trajcompress.summarize.extractive import ExtractiveSummarizer, extract
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_record_of_a_coding_agent_holds_what_the_rest_needs():
    region = (say("user", "Mind the style guide, never more than 79 columns."), *REGION)
    text = extract(ask(region, head=()))
    assert section(text, "Requests") == '- "Mind the style guide, never more than 79 columns."\n'
    assert section(text, "Replies") == '- "Next, I need to update test_trailing_comma in tests/test_decode.py."\n'
    steps = section(text, "Steps")
    assert "- read_file src/json/decoder.py (lines 1-120) → " in steps
    assert "120 lines\n" in steps
    assert "- grep -rn raw_decode src → src/json/decoder.py:341: obj, end = self.raw_decode(s)" in steps
    assert "- run_tests tests → Ran 5 tests, FAILED (failures=1)" in steps
    assert "if s[end] == ']': break" in steps
    assert "JSONDecodeError: Expecting value: line 1 column 1 (char 0) (/repo/src/json/decoder.py:355)" in steps
    assert "budget=1250.5" in steps
    assert section(text, "Files changed") == "- src/json/decoder.py"


def test_of_a_request_what_the_harness_says_around_it_is_not_quoted():
    context = "<system-reminder>\nNotes of the project: never more than 79 columns.\n</system-reminder>"
    opened = "<environment_details>\n# Open tabs\nsrc/json/decoder.py\n</environment_details>"
    said = [f"{context}\n{context}\nFix the decoder.", f"Now the <encoder>, too.\n\n{opened}", context, "Go on."]
    text = extract(ask([say("user", each) for each in said], head=()))
    assert text == f'{SUMMARY_PREFIX}\nRequests:\n- "Fix the decoder."\n- "Now the <encoder>, too."\n- "Go on."'


def test_steps_stand_in_the_order_in_which_they_happened():
    steps = section(extract(ask()), "Steps")
    places = [
        steps.index(word) for word in ("read_file", "grep", "tests/run.py", "str_replace", "run_tests", "get_ticket")
    ]
    assert places == sorted(places)


def test_empty_sections_are_left_out():
    text = extract(ask([say("assistant", "The total is 42 euros for order AB-1234.")], head=()))
    assert text == f'{SUMMARY_PREFIX}\nReplies:\n- "The total is 42 euros for order AB-1234."'
    assert extract(ask([])) == extract(ask([say("user", "")])) == SUMMARY_PREFIX


def test_the_same_step_made_again_is_one_with_a_count():
    region = [turn for n in range(4) for turn in (call(n, "bash", command="make build"), result(n, "ok"))]
    assert section(extract(ask(region)), "Steps") == "- make build ×4 → ok"


def test_a_step_that_reads_the_same_later_is_told_the_last_time_and_counted():
    region = []
    for n in range(3):
        region += [call(f"{n}a", "bash", command="make test"), result(f"{n}a", "3 failed, 1 passed in 2.0s")]
        region += [call(f"{n}b", "bash", command=f"sed -i s/{n}/x/ a.py"), result(f"{n}b", "")]
    steps = section(extract(ask(region)), "Steps")
    assert steps.startswith("- … 1 more step: make (failed)\n- sed -i s/0/")
    assert steps.count("… 1 more step: make (failed)\n") == 2
    assert steps.index("sed -i s/0/") < steps.rindex("… 1 more step: make (failed)\n") < steps.index("sed -i s/1/")
    assert steps.count("make test → 3 failed") == 1
    assert steps.index("sed -i s/1/") < steps.index("make test") < steps.index("sed -i s/2/")


def test_steps_that_are_left_out_are_counted_and_the_telling_ones_stay():
    region = []
    for n in range(60):
        region += [call(n, "bash", command=f"ls folder_{n}/of/some/project"), result(n, "a.py\nb.py")]
    region += [call(99, "bash", command="python deploy.py"), result(99, "exit code: 3")]
    steps = section(extract(ask(region, budget=150)), "Steps")
    assert "- python deploy.py → exit code 3" in steps
    shown = steps.count("- ls folder_")
    assert f"- … {60 - shown} more steps: {60 - shown} × ls\n" in steps


def test_of_agents_that_were_asked_in_sentences_steps_that_are_left_out_are_counted_alone():
    asked = ("Please open the page {} of the tides.", "Look for the harbour {} there.")
    messages = [{"role": "user", "content": "When is high water?"}]
    for n in range(30):
        messages.append({"role": "Orchestrator (-> WebSurfer)", "content": asked[n % 2].format(f"number-{n}")})
        messages.append({"role": "WebSurfer", "content": f"I clicked 'Page {n}'. It shows the harbour of Port-{n}."})
    turns = read(messages).turns
    steps = section(extract(ask(turns[1:], budget=150)), "Steps")
    assert " more steps\n" in steps
    assert "Please," not in steps
    assert "× " not in steps


@pytest.mark.parametrize(
    ("assistant", "answer", "expected"),
    [
        ('<think>hm</think><tool_call>\n{"name": "search", "arguments": {"query": "tide tables"}}\n</tool_call>',
         "<tool_response>\nhigh water 04:12\n</tool_response>", "search tide tables → high water 04:12"),
        ("I run it.\n```bash\npython check.py\n```", "ValueError: bad id 17\n(Current directory: /x)\nbash-$",
         "python check.py → ValueError"),
        ("Thought: look\nAction: lookup[tide]\n", "Observation: 04:12", "lookup tide → 04:12"),
        ('Action: lookup\nAction Input: {"place": "Cuxhaven"}', "Observation: 04:12", "lookup Cuxhaven → 04:12"),
        ("SELECT name FROM city", "[('Oslo',), ('Bergen',)]", "SELECT name FROM city → [('Oslo',), ('Bergen',)]"),
        ("<function=bash>\n<parameter=command>make</parameter>\n</function>", "OBSERVATION:\nexit code: 2",
         "make → exit code 2"),
    ],
    ids=["tool_call", "fenced", "react-brackets", "react-input", "bare", "xml"],
)  # fmt: skip
def test_calls_written_into_the_text_are_steps(assistant, answer, expected):
    rows = [{"from": "human", "value": "go"}]
    for number in range(2):
        rows += [{"from": "gpt", "value": assistant}, {"from": "human", "value": f"{answer}{' ' * number}"}]
    text = extract(ask(read([*rows, {"from": "gpt", "value": assistant}]).turns[1:-1], head=()))
    assert all(part in section(text, "Steps") for part in expected.split(" → "))
    assert not MARKUP.search(text)


@pytest.mark.parametrize(
    ("printed", "phrase"),
    [
        ("===== 2 failed, 31 passed, 1 skipped in 4.20s =====", "2 failed, 31 passed, 1 skipped in 4.20s"),
        ("test result: FAILED. 3 passed; 1 failed; 0 ignored", "test result: FAILED. 3 passed; 1 failed"),
        ("Ran 12 tests in 0.5s\n\nOK (skipped=2)", "Ran 12 tests, OK (skipped=2)"),
        ("Process exited with code 137", "exit code 137"),
        ("bash: foo: command not found", "command not found"),
        ('{"status": "error", "message": "seat 12A is taken"}', "seat 12A is taken"),
        ('{"error": "no such user", "response": ""}', "no such user"),
    ],
)
def test_outcomes_of_tools_are_kept_in_their_words(printed, phrase):
    assert phrase in extract(ask([call(1, "run", command="x"), result(1, printed)]))


def test_results_go_to_the_calls_they_answer():
    both = say(
        "assistant",
        "",
        calls=(ToolCall("a", "weather", '{"city": "Oslo"}'), ToolCall("b", "weather", '{"city": "Rome"}')),
    )
    region = [both, say("tool", "31 degrees", answers=("b",)), say("tool", "4 degrees", answers=("a",))]
    text = extract(ask(region))
    assert "Oslo → 4 degrees" in text
    assert "Rome → 31 degrees" in text


def test_results_in_one_turn_go_to_their_calls_also_beside_words_of_a_person_and_secrets():
    places = ("Oslo", "Rome")
    uses = [{"type": "tool_use", "id": p, "name": "weather", "input": {"city": p}} for p in places]
    shown = [{"type": "tool_result", "tool_use_id": p, "content": f"{p} is mild"} for p in reversed(places)]
    asks = {"type": "text", "text": "And now Bonn, please."}
    turns = read([{"role": "assistant", "content": uses}, {"role": "user", "content": [*shown, asks]}]).turns
    assert section(extract(ask(turns)), "Steps") == "- weather Oslo → Oslo is mild\n- weather Rome → Rome is mild"
    cleaned = Turn("user", "Rome is mild\n[SECRET]\nAnd now Bonn, please.", turns[1].raw, answers=turns[1].answers)
    # What was taken out of the text is not read off the message; whose the rest is stays known.
    assert section(extract(ask((turns[0], cleaned))), "Steps") == "- weather Oslo\n- weather Rome → Rome is mild"


def test_arguments_in_tags_with_line_breaks_are_read_as_what_they_say():
    asked = (
        "I look.\n<function=str_replace_editor>\n<parameter=command>\nview\n</parameter>\n"
        "<parameter=path>\n/repo/a.py\n</parameter>\n</function>"
    )
    answer = "OBSERVATION:\nHere's the result of running `cat -n` on /repo/a.py:\n     1\tx = 1\n     2\ty = 2"
    rows = [{"from": "human", "value": "go"}] + [
        {"from": "gpt", "value": asked},
        {"from": "human", "value": answer},
    ] * 2
    text = extract(ask(read(rows).turns[1:], head=()))
    assert "- str_replace_editor view /repo/a.py" in section(text, "Steps")
    assert "Files changed" not in text


def test_a_file_is_one_whether_its_folder_is_said_or_not():
    shown = "[File: /repo/printenv.pl ({} lines total)]\n1:{}\n(Open file: /repo/printenv.pl)\nbash-$"
    steps = (
        ("create printenv.pl", shown.format(1, "")),
        ("edit 1:1\nprint 1;\nend_of_edit", "File updated.\n" + shown.format(1, "print 1;")),
        ("ls", "printenv.pl\n(Open file: /repo/printenv.pl)\nbash-$"),
    )
    rows = [{"from": "human", "value": "go"}]
    for ran, came in steps:
        rows += [{"from": "gpt", "value": f"Next.\n```\n{ran}\n```"}, {"from": "human", "value": came}]
    text = extract(ask(read(rows).turns[1:], head=()))
    assert section(text, "Files changed") == "- /repo/printenv.pl (2 times)"


@pytest.mark.parametrize(
    "answer",
    ["Error: no such file", "No replacement was performed, old_str did not appear verbatim", "a.py: not found",
     '{"success": false}', '{"success": "false"}', '{"ok": false}', '{"error": "read only"}',
     "Permission denied", "The edit was refused by the user.", None,
     "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
     "Found 3 matches of the string to replace, but replace_all is false.", "Your edit was reverted.",
     "File has been modified since read, either by the user or by a linter. Read it again.", "Aborted.",
     "Multiple occurrences of old_str `x = 1` in lines [3, 9]. Please ensure it is unique.", "0 replacements made",
     "write a.py: no space left on device", "Read-only file system", "Dry run: would write 3 files",
     "Operation cancelled by user", "The request timed out."],
)  # fmt: skip
def test_a_change_that_failed_or_may_have_changed_no_file(answer):
    edit = call(1, "str_replace", path="a.py", old_str="a", new_str="b")
    assert "Files changed" not in extract(ask([edit] if answer is None else [edit, result(1, answer)]))
    done = extract(ask([edit, result(1, "The file a.py has been edited.")] * 2))
    assert section(done, "Files changed") in {"- a.py", "- a.py (2 times)"}


def test_chinese_is_split_quoted_and_kept():
    region = [
        say("user", "请查询订单A-7731的状态。顺便告诉我价格。"),
        call(1, "查询订单", 订单号="A-7731"),
        result(1, json.dumps({"状态": "已发货", "价格": 256}, ensure_ascii=False)),
        say("assistant", "订单A-7731已经发货，价格是256元。因此无法再取消订单。您还需要退货吗？"),
    ]
    text = extract(ask(region, head=()))
    assert section(text, "Requests") == '- "请查询订单A-7731的状态。顺便告诉我价格。"\n'
    assert section(text, "Steps") == "- 查询订单 A-7731 → 状态=已发货, 价格=256\n"
    assert "因此无法再取消订单。您还需要退货吗？" in section(text, "Replies")
    long = say("user", "这是一段没有任何要求的背景说明文字。" * 60 + "预算不能超过800元。")
    assert '预算不能超过800元。"' in extract(ask([long], budget=400))


def test_summarizer_names_itself_and_costs_nothing():
    usage = Usage()
    summarizer = ExtractiveSummarizer()
    summary = asyncio.run(summarizer.summarize(ask(), usage))
    asyncio.run(summarizer.aclose())
    assert (summary.summarizer, summarizer.name, usage) == ("extractive", "extractive", Usage())
    assert summary.text == extract(ask())


def test_a_call_that_was_given_up_takes_no_result_of_a_later_one():
    given_up, asked = (
        say("assistant", "", calls=(ToolCall(None, name, "{}"),)) for name in ("list_dir", "run_tests")
    )
    ran = say("tool", UNITTEST, answers=(None,))
    text = extract(ask([given_up, say("user", "No, run the tests."), asked, ran]))
    assert section(text, "Steps") == "- list_dir\n- run_tests → Ran 5 tests, FAILED (failures=1)"


def test_a_call_in_tags_counts_once():
    written = [
        f'<tool_call>\n{{"name": "{name}", "arguments": {{}}}}\n</tool_call>' for name in ("list_dir", "run_tests")
    ]
    xml = "<tool_call>\n<function=run_tests>\n<parameter=path>tests</parameter>\n</function>\n</tool_call>"
    answer = {"from": "human", "value": f"<tool_response>\n{UNITTEST}\n</tool_response>"}
    for asked, told in (("".join(written), "- list_dir → Ran 5 tests"), (xml, "- run_tests tests → Ran 5 tests")):
        turns = read([{"from": "human", "value": "go"}, {"from": "gpt", "value": f"I look.\n{asked}"}, answer]).turns
        steps = section(extract(ask(turns, head=())), "Steps")
        assert steps.startswith(told)
        assert steps.count("run_tests") == 1


def test_steps_that_came_to_the_same_one_after_the_other_are_told_once():
    region = []
    for n in range(4):
        region += [call(n, "search_code", words=f"word_{n}"), result(n, "The following matches were found: none")]
    region += [call(9, "make", target="all"), result(9, "The following matches were found: none")]
    steps = section(extract(ask(region)), "Steps").splitlines()
    assert steps == [
        "- search_code word_3 (and 3 more) → The following matches were found: none",
        "- make all → The following matches were found: none",
    ]


def test_a_reply_is_quoted_in_whole_sentences_or_not_at_all():
    said = (
        "The file holds the totals of 2020. "
        + "They were read from a table with many columns, one of them empty. " * 9
    )
    text = extract(ask((Turn("assistant", said, {}), Turn("assistant", "x y z " * 90, {}))))
    (reply,) = section(text, "Replies").splitlines()
    assert reply.startswith('- "The file holds the totals of 2020. They were read')
    quoted = reply.removeprefix('- "').removesuffix('"').removesuffix(" …").split(" … ")
    assert all(piece in said and piece.endswith(("2020.", "empty.")) for piece in quoted)


@pytest.mark.parametrize(
    ("handed_over", "told"),
    [
        ('{"name": "respond", "arguments": {"content": "Your order number, please?"}}', "Your order number, please?"),
        ("Finish[It is 42 in all, as both say.]", "It is 42 in all, as both say."),
        ("search[the number of the order]", None),
    ],
)
def test_of_a_reply_that_a_call_hands_over_only_the_reply_is_quoted(handed_over, told):
    said = f"Thought: I know all that I need now.\nAction: {handed_over}"
    (reply,) = section(extract(ask((say("user", "Go on."), Turn("assistant", said, {})))), "Replies").splitlines()
    assert reply == f'- "{told}"' if told else reply.startswith('- "Thought: I know')


def test_a_short_step_of_an_edit_says_what_it_brought_in_and_no_half_lines():
    region = []
    for n in range(9):
        edit = call(
            n, "edit", command="str_replace", path=f"/repo/src/module_{n}.py", old_str="a = 1", new_str=f"b = {n}"
        )
        told = (
            f"The file /repo/src/module_{n}.py has been edited.\n{n}\tdef parse_the_whole_of_it(text):\n12\tb = {n}\n"
        )
        region += [edit, result(n, told * 6)]
    steps = section(extract(ask(region, budget=190)), "Steps")
    assert "module_7.py «b = 7» → has been edited" in steps


def test_a_short_step_of_many_records_does_not_read_as_if_there_was_but_one():
    region = []
    for n in range(9):
        orders = [{"order_id": f"#W{n}{i}", "total": 20.5 + i, "address": f"{i} Long Road"} for i in range(9)]
        region += [call(n, "list_orders", user=f"mia_{n}"), result(n, json.dumps({"orders": orders}))]
    steps = section(extract(ask(region, budget=190)), "Steps")
    assert "[(order_id=#W80, total=20.5, address=0 Long Road); … 8 more]" in steps


def test_a_short_step_tells_of_data_what_the_next_turns_take_up():
    region = []
    for n in range(9):
        user = {
            "user_id": f"mia_{n}",
            "address": {"street": f"{n} Long Road", "city": "Denver", "zip": f"80{n}43"},
            "dob": "1963-01-22",
            "payment_methods": {f"credit_card_{n}{i}": {"brand": "visa", "last_four": f"11{i}7"} for i in range(6)},
            "membership": "gold",
            "reservations": [f"SDZ{n}QK", f"4OG{n}T3"],
        }
        region += [call(n, "get_user", user_id=f"mia_{n}"), result(n, json.dumps(user))]
        region += [call(f"{n}r", "get_reservation", id=f"4OG{n}T3"), result(f"{n}r", "cabin: economy")]
    steps = section(extract(ask(region, budget=240)), "Steps")
    assert "- get_user mia_8 → dob=1963-01-22, membership=gold, reservations=[SDZ8QK; 4OG8T3], …\n" in steps


def test_what_colleagues_say_to_an_agent_that_acts_is_quoted_as_theirs():
    asked = replace(say("user", "Task 3: rank the employees by the orders they handled."), name="product_manager")
    region = [
        asked,
        call(1, "sql", query="SELECT 1"),
        result(1, "1"),
        say("assistant", "Here is the ranking of all."),
    ]
    text = extract(ask(region))
    assert '- product_manager: "Task 3: rank the employees by the orders they handled."\n' in section(text, "Replies")
    assert section(text, "Requests") == ""
