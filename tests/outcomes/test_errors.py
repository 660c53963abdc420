"""Error lines in what a tool printed."""

from __future__ import annotations

import pytest
from told import read

from trajcompress.outcomes.action.actions import Action, describe
from trajcompress.outcomes.reports.errors import errors
from trajcompress.outcomes.steps import action_of
from trajcompress.transcript.trajectory import ToolCall, Turn


def test_an_error_whose_message_begins_below_it_is_told_with_it():
    text = (
        'Traceback (most recent call last):\n  File "/x/utils.py", line 840, in f\n    raise AssertionError(msg)\n'
        "AssertionError: \nArrays are not equal\n\nMismatched elements: 862 / 1000 (86.2%)\n"
        "\nDuring handling of the above exception, another exception occurred:\n"
    )
    (told,) = errors(text)
    assert told == "AssertionError: Arrays are not equal; Mismatched elements: 862 / 1000 (86.2%) (/x/utils.py:840)"
    assert errors("ValueError:\n\n\n") == ["ValueError:"]


def test_an_exception_is_told_with_the_frame_of_the_code_at_hand_and_not_of_a_library():
    trace = (
        'Traceback (most recent call last):\n  File "/repo/run.py", line 4, in <module>\n    plot()\n'
        '  File "/repo/lib/art.py", line 174, in plot\n    np.broadcast_to(zs, 3)\n'
        '  File "/opt/lib/python3.11/site-packages/numpy/lib/stride.py", line 349, in broadcast_to\n    it = x(\n'
    )
    assert errors(f"{trace}ValueError: wrong shape\n") == ["ValueError: wrong shape (/repo/lib/art.py:174)"]


def test_an_exception_that_says_nothing_is_told_with_the_code_that_raised_it():
    trace = 'Traceback (most recent call last):\n  File "/srv/run.py", line 7, in <module>\n    draw(3)\n'
    trace += '  File "/srv/slider.py", line 819, in place\n    assert 0 <= d <= 1\nAssertionError'
    assert read(trace, None).said == "AssertionError (/srv/slider.py:819: assert 0 <= d <= 1)"
    assert read(f"{trace}: too far", None).said == "AssertionError: too far (/srv/slider.py:819)"


def test_what_ends_a_traceback_is_told_whatever_its_name():
    trace = 'started\nTraceback (most recent call last):\n  File "/repo/run.py", line 4, in <module>\n    f()\n'
    (told,) = errors(f"{trace}django.core.exceptions.ImproperlyConfigured: no settings\nmore: of it\n")
    assert told == "django.core.exceptions.ImproperlyConfigured: no settings (/repo/run.py:4)"
    assert errors(f"{trace}no exception at all\nvalue: 3\n") == []


def _trace(frames: str, said: str) -> str:
    return f"Traceback (most recent call last):\n{frames}\n{said}\n"


_OWN = '  File "/repo/run.py", line 4, in <module>\n    fetch()'
_LIBRARY = '  File "/env/lib/python3.11/site-packages/net/pool.py", line 9, in open\n    sock = connect(address)'
_WHILE = "\nDuring handling of the above exception, another exception occurred:\n\n"


def test_of_chained_exceptions_the_last_and_the_root_are_told():
    text = _WHILE.join(
        [
            _trace(_LIBRARY, "ConnectionRefusedError: refused"),
            _trace(_LIBRARY, "net.PoolError: no connection in the pool"),
            _trace(f"{_OWN}\n{_LIBRARY}", "net.FetchError: could not fetch the page"),
        ]
    )
    root, last = errors(text)
    assert root.startswith("ConnectionRefusedError: refused (")
    assert last == "net.FetchError: could not fetch the page (/repo/run.py:4)"
    said = read(text, None, taken={"connect": 3.0, "address": 3.0}).said
    assert said.startswith(last)
    assert "PoolError" not in said
    assert "sock = " not in said


def test_an_exception_that_is_raised_again_in_other_words_is_told_once():
    text = _WHILE.join(
        [
            _trace(_LIBRARY, "sqlite3.OperationalError: no such table: prices"),
            _trace(_OWN, "db.OperationalError: no such table: prices"),
        ]
    )
    assert errors(text) == ["db.OperationalError: no such table: prices (/repo/run.py:4)"]
    action = action_of(Turn("assistant", "", {}, calls=(ToolCall("c", "bash", '{"command": "make"}'),)), 0)
    assert read(text, action).said == "db.OperationalError: no such table: prices (/repo/run.py:4)"


def test_tracebacks_are_read_in_linear_time():
    for part in (_trace(_OWN, "E: x") + _WHILE, _WHILE, _OWN + "\n", "Traceback (most recent call last):\n", " " * 9):
        read(part * (1_000_000 // len(part)), None, taken={"fetch": 3.0})


def test_of_the_calls_that_led_to_an_error_no_more_is_told_than_the_last_line_of_the_code_at_hand():
    led = (
        '  File "/app/run.py", line 59, in <module>\n    success = main_of_server()\n'
        '  File "/app/run.py", line 36, in main_of_server\n    response = client.create_pool(\n'
        '  File "/env/lib/python3.12/site-packages/api/call.py", line 569, in _api_call\n    return self._make(name)'
    )
    printed = _trace(led, "ConnectError: no route to http://localhost:5000/")
    used = dict.fromkeys(("main_of_server", "create_pool", "_api_call"), 2.0)
    told = "ConnectError: no route to http://localhost:5000/ (/app/run.py:36)"
    assert read(printed, describe("bash", {"command": "python run.py"}), later=used).said.startswith(told)
    said = read(printed, describe("bash", {"command": "python run.py"}), later=used, taken=used, most=900).said
    assert said == f"{told}; response = client.create_pool("
    needed = read(printed, describe("bash", {"command": "python run.py"}), ["_api_call"], taken=used, most=900).said
    assert "_api_call" in needed


def test_an_error_is_placed_by_the_traceback_that_it_ends_and_by_no_earlier_one():
    printed = (
        f'ERROR: test_a (t.A)\n{"-" * 70}\nTraceback (most recent call last):\n  File "/w/t.py", line 7, in test_a\n'
        "    import ledger\nModuleNotFoundError: No module named 'ledger'\n\n"
        f"{'=' * 70}\nFAIL: test_b (t.A)\n{'-' * 70}\nTraceback (most recent call last):\n"
        '  File "/w/t.py", line 5, in test_b\n    self.assertEqual(1, 2)\nAssertionError: 1 != 2\n'
    )
    assert errors(printed) == [
        "ERROR: test_a (t.A)",
        "ModuleNotFoundError: No module named 'ledger' (/w/t.py:7)",
        "FAIL: test_b (t.A)",
        "AssertionError: 1 != 2 (/w/t.py:5)",
    ]


def test_errors_are_told_in_their_order_as_the_first_leads_to_others():
    printed = (
        "error: failed to run custom build command for `openssl-sys`\n"
        + "  cargo:rerun-if-changed=build.rs\n" * 30
        + "\n"
        "error: failed to compile `sqlx-cli`\n\nerror: installation failed, see above\n"
    )
    ran = describe("bash", {"command": "cargo install sqlx-cli"})
    assert read(printed, ran).said.startswith(
        "error: failed to run custom build command for `openssl-sys`; error: failed to compile `sqlx-cli`; error: "
    )


def test_a_traceback_that_a_harness_heads_otherwise_is_told_by_what_was_raised():
    frames = '  File "<python-input>", line 2, in <module>\n    print(notes())\n          ^^^^^^^\n'
    raised = 'Exception: Response status code is 401:\n{"message":"You are not authorized."}'
    said = 'Exception: Response status code is 401: {"message":"You are not authorized."}'
    for head in ("Execution failed. Traceback:", "Traceback (innermost last):"):
        told = read(f"{head}\n{frames}{raised}")
        assert (told.said, told.failed) == (f"{said}", True)
    assert read(f"{frames}{raised}").said == said  # without the head that was cut off
    assert not read("Traceback: see the log\nall went well").failed


PARSED = "At line:1 char:28\n+ cd shop && dir\n+         ~~\nThe token '&&' is not a valid statement separator.\n"
NOT_FOUND = (
    "Get-Content : Cannot find path 'C:\\shop\\a.txt' because it does not\nexist.\n"
    "At C:\\shop\\run.ps1:3 char:1\n+ Get-Content a.txt\n+ ~~~~~~~~~~~~~~~~~\n"
)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (PARSED, "The token '&&' is not a valid statement separator."),
        (NOT_FOUND, "Get-Content : Cannot find path 'C:\\shop\\a.txt' because it does not exist."),
    ],
)
def test_of_an_error_of_powershell_its_message_is_told(printed, message):
    behind = "    + CategoryInfo          : ParserError: (:) [], Exception\n    + FullyQualifiedErrorId : Invalid\n"
    told = read(f"Starting\n\n{printed}{behind}", Action("bash", "run", "run"))
    assert told.failed
    assert told.said.startswith(message)
