"""What harnesses write around an outcome is no part of it, and what they say of a turn is said once, and briefly."""

from __future__ import annotations

import json

import pytest
from summed_up import ask
from told import ran, read, said

from trajcompress.compaction.text.line import bare_line, is_line, result_line
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Reading
from trajcompress.outcomes.steps import action_of, calls_of, label_of
from trajcompress.summarize.extractive import extract
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.trajectory import Turn


def turns_of(*texts):
    messages = [{"role": "assistant" if at % 2 else "user", "content": text} for at, text in enumerate(texts)]
    return read_trajectory({"messages": messages}, "row", FormatOptions()).turns


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (
            "You pick up the soapbar 2.\nAVAILABLE ACTIONS: examine soapbar 2, go to cabinet 1, inventory, look",
            "You pick up the soapbar 2.",
        ),
        ('Page 1 of 3\nAvailable Actions:\n{"clickables": ["next >", "b08r7c1qpx"]}', "Page 1 of 3"),
        ("The answer is 3.3\nThought:", "The answer is 3.3"),
        ("You open the window.\n\n>", "You open the window."),
        (
            (
                "\nNext speaker: runner\n\n>>>>>>>> EXECUTING CODE BLOCK 0 (inferred language is bash)...\n"
                f"runner (to manager):\n\nexitcode: 0 (execution succeeded)\nCode output: \n3 run\n\n\n{'-' * 80}\n"
            ),
            "3 run",
        ),
        (
            (
                "\n>>>>>>>> USING AUTO REPLY...\nproxy (to helper):\n\n"
                f"***** Response from calling function (find) *****\nNothing was found.\n{'*' * 48}\n\n{'-' * 80}\n"
            ),
            "Nothing was found.",
        ),
        ("Exit code: 0\nExecution output of [execute_bash]:\n[STDOUT]\n\n(10, 10)\n\n[STDERR]\n\n", "(10, 10)"),
        ("---------- FileSurfer ----------\nPath: downloads/besok.csv", "Path: downloads/besok.csv"),
        (
            (
                "b'\\xef'\n[Jupyter current working directory: /workspace]\n[Jupyter Python interpreter: /python]\n"
                "ENVIRONMENT REMINDER: You have 17 turns left to complete the task."
            ),
            "b'\\xef'",
        ),
        ("API output: Error: order not found", "Error: order not found"),
        (
            (
                "[browser_action for 'click'] Result:\nThe browser action has been executed. The console logs and "
                "screenshot have been captured for your analysis.\n\nConsole logs:\n(No new logs)\n\n"
                "(REMEMBER: if you need to proceed to using non-`browser_action` tools or launch a new browser, you "
                "MUST first close this browser. For example, you "
                "must first close the browser before you can use the write_to_file tool.)\n"
                "[Image]"
            ),
            "(No new logs)",
        ),
        (
            (
                "MySQL Database Output: [('county',), ('harbour',)]\nReward: 0.0\n"
                'Here is the query again: "How many?"\nTry something different to generate SQL command to get a '
                "reward of 1.\nDo not generate any output.\n"
            ),
            "[('county',), ('harbour',)] Reward: 0.0",
        ),
        (
            (
                "Observation:\n224\nYou have 1 steps left and 2 chances to propose solution left.\n"
                "You should take the last step to propose a solution.\n"
            ),
            "224",
        ),
        (
            (
                "Run 2 completed. Here are the results:\n{'val': {'acc_mean': 0.91, 'loss': 0.3, 'steps': 40}}\n\n"
                "Decide if you need to re-plan your experiments given the result (you often will not need to).\n\n"
                "Someone else will be using `notes.txt`.\n"
                "Then, implement the next thing on your list.\n"
                "If you are finished with experiments, respond with 'ALL_COMPLETED'."
            ),
            "acc_mean=0.91, loss=0.3, steps=40",
        ),
        (
            (
                "Observation: please analyze the attached screenshot and give the Thought and Action. I've provided "
                "the tag name of each element and the text it contains (if text exists). Please focus more on it.\n"
                '[4]: <button> "Ferries";\n'
            ),
            '[4]: <button> "Ferries";',
        ),
        (
            (
                "[execute_command for 'git clone h'] Result:\nCommand executed in terminal  within working directory "
                "'d:/dev'. Exit code: 0\nOutput:\nCloning into 'h'...\n"
            ),
            "Cloning into 'h'...",
        ),
        (
            (
                "EXECUTION RESULT of [execute_bash]:\n[Below is the output of the previous command.]\n\n"
                '[Your command "ls -l" is NOT executed. The previous command is still running - You CANNOT send new '
                "commands until it is completed.]"
            ),
            "NOT executed. The previous command is still running",
        ),
        ("Tromsø\nGive me one action.\n", "Tromsø"),
        ("menu File (70, 64)\n\nWhat's the next step that you will do to help with the task?", "menu File (70, 64)"),
        (
            (
                "[list_files for 'db'] Result:\n0001_init.sql\n\n<environment_details>\n# Current Mode\nACT MODE\n"
                "</environment_details>"
            ),
            "0001_init.sql",
        ),
        (
            (
                "Found 2 files\n/r/a.py\n/r/b.py\n\n<system-reminder>\nThe list of todos is empty. Use the tool."
                "\n</system-reminder>\n\n<system-reminder>\nThe file /r/c.py has changed.\n</system-reminder>\n"
            ),
            "Found 2 files /r/a.py /r/b.py",
        ),
        (
            "<system-reminder>The file is empty.</system-reminder>",
            "<system-reminder>The file is empty.</system-reminder>",
        ),
        (
            (
                "TOOL RESPONSE: \n---------------------\nAnswer: 34\n\nUSER'S INPUT\n--------------------\n\n"
                "Okay, so what is the response to my last comment? If using information obtained from the tools"
            ),
            "Answer: 34",
        ),
        (
            (
                "Please always provide EXACTLY ONE action in triple backticks, found 2 actions.\n\nPlease format it "
                "action in triple backticks as shown in <response_example>.\n\nHere are some thoughts about why"
            ),
            "Please always provide EXACTLY ONE action in triple backticks, found 2 actions.",
        ),
    ],
)
def test_what_a_harness_writes_around_an_outcome_is_no_part_of_it(printed, told):
    assert said(printed) == told


def test_the_text_of_a_step_by_its_type_is_the_outcome():
    page = "RootWebArea Depot\n  heading Lamps\n  BID:a9 link Order"
    step = {"kind": "page_observation", "text": page, "current_page": 1, "error": ""}
    assert read(json.dumps(step), None) == read(page, None)


def test_a_menu_alone_is_what_came():
    assert said("Available actions: north, south") == "Available actions: north, south"


def test_the_line_that_a_terminal_echoes_is_no_outcome():
    action = Action("", "apt-get install -y zstd", "run")
    printed = "root@0f3a:/app# apt-get install -y zstd; tmux wait -S done\nSetting up zstd (1.4.8)\nroot@0f3a:/app#"
    assert read(printed, action).said == "Setting up zstd (1.4.8)"


def test_an_editors_refusal_that_names_a_needed_file_is_told_once():
    printed = (
        "No replacement was performed, old_str `    jar[(a,b)] = morsel` did not appear verbatim in /t/cookies.py."
    )
    action = Action("str_replace_editor", "str_replace /t/cookies.py", "change")
    assert read(printed, action, ["/t/cookies.py"]).said.count("No replacement") == 1


def test_why_an_edit_was_refused_is_told_once():
    printed = "Your proposed edit has introduced new syntax error(s). Please understand the fixes.\n\nERRORS:\n"
    printed += "- E999 IndentationError: unindent does not match any outer indentation level\n\nThis is how it looked"
    told = read(printed, Action("", "edit 40:43", "change")).said
    why = "E999 IndentationError: unindent does not match any outer indentation level"
    assert told == f"{why}; Your proposed edit has introduced new syntax error(s)"


def test_a_nag_that_no_action_asked_for_is_no_reply():
    row = turns_of(
        "Fix it.",
        "<function=bash>\n<parameter=command>ls src</parameter>\n</function>",
        "OBSERVATION:\na.py",
        "It is fixed, I think.",
        "Please continue working on the task on whatever approach you think is suitable.",
        "<function=bash>\n<parameter=command>cat src/a.py</parameter>\n</function>",
        "OBSERVATION:\nprint(1)",
    )
    summary = extract(ask(row[1:], 2_000))
    assert "Please continue" not in summary
    assert "ls src" in summary


def test_a_refusal_of_a_reply_is_not_named_as_the_result_of_a_tool():
    refused = "[ERROR] You did not use a tool in your previous response! Please retry with a tool use.\n\n# Reminder"
    reading = Reading(refused + "\nTools are called by tags." * 9, Asked(None))
    for line in (result_line(reading, None), bare_line(reading, None)):
        assert line.startswith("[reply refused → [ERROR] You did not use a tool in your previous")
        assert is_line(line)


def test_elements_in_an_elements_tag_are_arguments():
    acted = find_actions(
        "Dump it.\n<execute_command>\n<command>pg_dump -s shop > /tmp/a.sql</command>\n</execute_command>"
    )
    assert acted is not None
    assert acted.calls[0].arguments == '{"command": "pg_dump -s shop > /tmp/a.sql"}'


def test_edits_between_marks_name_their_file_and_what_is_new():
    acted = find_actions(
        "The bracket.\n\ncart/total.py\n```python\n<<<<<<< SEARCH\n    return a\n=======\n    return b\n"
        ">>>>>>> REPLACE\n```"
    )
    assert acted is not None
    turn = Turn("assistant", "", {}, calls=acted.calls)
    assert label_of(action_of(turn, 0, calls_of([turn])), "").startswith("edit cart/total.py «return b»")


def test_what_a_person_says_in_a_tag_is_said_without_it():
    denied = "The user denied this operation and provided the following feedback:"
    text = f"{denied}\n<feedback>\nfirst dump it!\n</feedback>\nCost: 0.03"
    assert in_observation(text).said == "first dump it!"


def test_a_shops_page_is_told_by_its_products_and_not_by_the_task():
    task = "Instruction: [SEP] i need a curtain, price lower than 40.00 dollars [SEP] Back to Search [SEP] "
    found = f'"{task}Page 1 (Total results: 50) [SEP] Next > [SEP] B08R7C1QPX [SEP] Linen Curtains [SEP] $28.99"'
    assert said(f'{found}\n\nAvailable Actions:\n{{"clickables": ["next >"]}}') == "B08R7C1QPX Linen Curtains $28.99"
    shown = f"{task}< Prev [SEP] color [SEP] sage [SEP] Linen Curtains [SEP] Price: $28.99 [SEP] Buy Now [SEP] x"
    assert said(shown, limit=60) == "Linen Curtains, Price: $28.99"


def test_a_command_that_was_killed_is_told_as_that():
    printed = "The last command <command>./runtests.py utils</command> timed out and has been killed.\n"
    printed += "The output of the command was:\n<output>\nTesting against utils with up to 8 processes\n</output>\n"
    told = read(f"{printed}Please try another command.", Action("", "./runtests.py utils", "run"))
    assert told.said.startswith("timed out and has been killed")
    assert told.failed


def test_what_follows_a_line_that_looks_like_a_question_is_of_the_result():
    printed = (
        f"{'=' * 70}\nTEST\n{'=' * 70}\n\nQuestion: who leads it?\n\nRunning...\n\nABORTED: no credits remaining"
    )
    assert said(printed, ran("python test_analyst.py")).endswith("ABORTED: no credits remaining")


def test_what_a_shell_printed_stands_alone():
    action = Action("execute_command", "npm run build", "run")
    assert read("Command executed.\nOutput:\n⠙⠹⠸ added 2 packages in 2s ⠧", action).said == "added 2 packages in 2s"
    warned = "WARNING: Running pip as the 'root' user can break permissions.\nSuccessfully installed pytz-2025.2"
    assert (
        read(warned, Action("", "pip install pytz -q", "run"), limit=60).said == "Successfully installed pytz-2025.2"
    )


def test_what_stands_in_a_fence_before_more_comes_first():
    text = '```text\nYou pick up the pan 1.\n```\n\nReconstructed state:\n```json\n{\n  "inventory": "pan 1"\n}\n```'
    assert read(text, Action("action", "take pan 1", "run")).said == "You pick up the pan 1."
    text = "```text\nYou pick up the pan 1.\n```\n\nIt is heavy."
    assert read(text, Action("action", "take pan 1", "run")).said == "You pick up the pan 1. It is heavy."


def test_of_code_that_failed_the_reason_comes_first():
    printed = "Execution logs:\n{'start': 1}\nCode execution failed at line 'd1 = last['start']\nprint(d1)' due to: "
    why = "InterpreterError: Could not index {'a': 1} with 'start': TypeError: string indices must be integers"
    told = read(f"{printed}{why}", Action("python", "d1 = last['start']", "run"))
    assert told.failed
    assert told.said.startswith(why)
