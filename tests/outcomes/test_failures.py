"""Why something failed, and what has not failed though it speaks of it."""

from __future__ import annotations

import json

import pytest
from test_outcome_later import ran
from told import read, said

from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.steps import action_of


@pytest.mark.parametrize(
    "text",
    [
        "Execution output of [make]:\nExit code: 2\nExecution output:\nmake: nothing matches the target\n",
        "<returncode>2</returncode>\n<output>\nmake: nothing matches the target\n</output>",
        "gcc part.c -o part.o\n" * 90 + "make: nothing matches the target\nexit code: 2",
    ],
)
def test_a_failure_whose_words_no_rule_knows_is_told_by_its_last_lines_and_its_code(text):
    assert said(text).endswith("make: nothing matches the target; exit code 2")


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (
            "main.c:14:9: error: 'foo' undeclared\n   14 |   foo();\nmake: *** [Makefile:3] Error 1",
            "'foo' undeclared",
        ),
        ("src/app.ts(10,5): error TS2322: Not a number.\ninfo Visit https://yarnpkg.com for more", "TS2322"),
        (
            "│ Error: creating Instance: InsufficientCapacity\n│\n│   on main.tf line 12\n│   12: {",
            "InsufficientCapacity",
        ),
        (" ! [rejected] main -> main (non-fast-forward)\nhint: pull first\nhint: See the 'Note'", "non-fast-forward"),
        ("Step 2: quota exceeded for acme-prod\nCleaning up\nBye", "quota exceeded for acme-prod"),
        ("epoch 4: loss is nan, aborting\nwandb: View run at https://x/y\nwandb: Find logs", "loss is nan"),
        (
            "  1) should b:\n\n  AssertionError [ERR_ASSERTION]: -1 == 0\n  + expected - actual\n  at a.js:9",
            "-1 == 0",
        ),
        (
            "CMake Error at CMakeLists.txt:5 (find_package):\n  By not providing it\n\n\nSee log.",
            "By not providing it",
        ),
        (
            f"psql: connection to {'x' * 60} (10.1.2.3), port 5432 failed: password authentication failed",
            "password auth",
        ),
    ],
)
def test_why_a_command_failed_is_told_and_neither_advice_nor_what_a_harness_adds(printed, reason):
    footer = "[Current working directory: /app]\n[Python interpreter: /usr/bin/python]"
    told = said(f"{printed}\n{footer}\n[Command finished with exit code 2]", ran("make all"))
    assert reason in told
    assert told.endswith("; exit code 2")
    assert not any(
        each in told for each in ("hint:", "wandb", "Bye", "directory", "interpreter", "Visit", "+ expected")
    )


def test_why_a_command_fails_is_told_however_often_it_does():
    turns = [f"Quota exceeded for acme-prod\nTrace id {n * 7919:x}\nexit code: 1" for n in range(6)]
    often = Repeated((f"deploy {n}", text) for n, text in enumerate(turns))
    assert read(turns[0], None, repeated=often).said == "Quota exceeded for acme-prod; exit code 1"


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\nif ! test -f a; then\n  exit 2\nfi\necho done\n",
        "commit abc\n  Make CLI return code 3 on timeouts\ncommit def\n",
        "a.sh:3:exit 1\nb.sh:9:exit 1",
        "warning: exit code 3 ignored\nBuild finished\n",
        "attempt 2: command failed, exit code: 1\nattempt 3: ok\nDeployed v9",
        "ok 1 starts\nok 2 returns an exit code: 2",
        "Return code: 0000\nMessage: approved\nAuth: 77123",
        "src/a.py:12: error = read(x)\ndocs/b.md:3: error codes and what they mean\n",
        "Name: web-7\nStatus: Running\nLast State:\n  Reason: OOMKilled\n  Exit Code: 137\n" + "  Ready: True\n" * 9,
    ],
)
def test_a_text_that_speaks_of_an_exit_or_an_error_has_not_failed(text):
    assert not read(text, action_of(ran("cat a"), 0)).failed


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (
            {"stdout": "", "stderr": "cp: cannot stat 'a': No such file\n", "exit_code": 1},
            "cannot stat 'a': No such file; exit code 1",
        ),
        (
            {"stdout": "built\n" * 90 + "Error: no space left\n", "stderr": "", "exitCode": 2},
            "no space left; exit code 2",
        ),
        ({"output": "step\n" * 90 + "Saved to out/m.bin\n", "metadata": {"exit_code": 0}}, "Saved to out/m.bin"),
        ({"success": False, "stdout": "", "stderr": "", "error": "Timed out after 30 s"}, "Timed out after 30 s"),
        ({"stdout": "", "stderr": "", "interrupted": False}, "no output"),
        ({"stdout": '{"rows": 4}', "stderr": "", "returncode": 0}, "4"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_shell_that_answers_in_json_is_read_as_what_was_printed(result, told, indent):
    assert said(json.dumps(result, indent=indent), ran("make all")).endswith(told)


def test_an_object_with_an_output_of_its_own_is_none():
    record = {"output": "device 3", "power": 40, "state": "on"}
    assert said(json.dumps(record)) == "output=device 3, power=40, state=on"


def test_a_result_that_failed_is_told_by_what_failed_in_it():
    checks = [{"success": n != 6, "check": f"column_{n} is between 0 and 9", "found": n * 38} for n in range(9)]
    failed = read(json.dumps({"success": False, "suite": "members", "checks": checks}), None)
    assert failed.failed
    assert failed.said.startswith("failed: ")
    assert "column_6 is between 0 and 9" in failed.said


def test_why_a_decision_was_made_goes_before_figures():
    figures = {f"amount_{n}": n * 1000 for n in range(20)}
    claim = {**figures, "decision": "COUNTER_OFFER", "denial_reason": "Seepage over 14 days is excluded"}
    told = said(json.dumps(claim))
    assert "decision=COUNTER_OFFER" in told
    assert "Seepage over 14 days is excluded" in told


def test_what_an_api_answered_is_told_with_the_exception_of_its_client():
    body = '{"status": "error", "message": "Contact already exists. Existing ID: 4711", "category": "CONFLICT"}'
    raised = (
        'Traceback (most recent call last):\n  File "a.py", line 3\nhubspot.ApiException: (409)\nReason: Conflict\n'
    )
    told = said(f"{raised}HTTP response headers: {{}}\nHTTP response body: {body}\n")
    assert "Contact already exists. Existing ID: 4711" in told


def test_an_error_whose_words_stand_on_the_next_line_is_told():
    assert "The total energy is nan" in said("step 1\n" * 40 + "Fatal error:\nThe total energy is nan, stopping.\n")


def test_a_line_that_every_run_prints_goes_after_why_this_one_failed():
    runs = [
        f"Error: no plug-in called old_{number * 0}\nstep {number}\n" + "load it\n" * 60 + f"ValueError: bad {name}\n"
        for number, name in enumerate(("apples", "pears", "plums"))
    ]
    repeated = Repeated((number, each) for number, each in enumerate(runs))
    told = read(runs[1], action_of(ran("python shop.py"), 0), repeated=repeated).said
    assert told.startswith("ValueError: bad pears")
    noisy = "Invalid -W option ignored: unknown warning category: 'LateWarning'\nKeyError: 'price'\n" + "load\n" * 90
    assert "ignored" not in said(noisy, ran("python shop.py"))
