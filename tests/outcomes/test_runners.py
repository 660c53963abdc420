"""What is told of a test run: its figures, which test failed and why, in the words of each runner."""

from __future__ import annotations

from pathlib import Path

import pytest
import told
from told import action, read

from trajcompress.outcomes.action.actions import Action

DATA = Path(told.__file__).parent / "data" / "test_reports"
REPORTS = {
    "bats": ("not ok 2 reads the config",),
    "cargo": ("2 passed; 1 failed", "tests::splits: ", 'left: ["a", "b"]; right: ["a", "b", ""]'),
    "ctest": ("1 tests failed out of 3", "emit (Failed)"),
    "defects4j": ("2 failing test cases", "SlugTest::keepsUmlauts: junit", "expected:<[ä]> but was:<[a]>", "::trims"),
    "dotnet": ("Failed: 1, Passed: 6", "SlugTests.Lowercases", 'Expected: "abc"; Actual: "Abc"'),
    "exunit": ("5 tests, 1 failure", "greets the world", "left: :earth; right: :world"),
    "go": (
        "FAIL example.com/m/parser",
        'TestParseHeader: parser_test.go:42: ParseHeader("a: b") = 3, want 4',
        "/two",
    ),
    "go_build": ("[build failed]", "store/store.go:18:14: undefined: openFile"),
    "go_panic": ("TestX: panic: runtime error: invalid memory address",),
    "gradle": ("12 tests completed, 1 failed", "rejectsBadMail()", "Expected com.acme.BadMail to be thrown"),
    "jest": ("1 failed, 8 passed, 9 total", "computes the total with discount: Expected: 90; Received: 100"),
    "maven": ("Tests run: 4, Failures: 1", "CartTest.total:33 expected: <33> but was: <30>"),
    "minitest": ("4 runs, 9 assertions, 1 failures", "PriceTest#test_rounds", "Expected: 10.5; Actual: 10.45"),
    "mocha": ("1 passing (8ms), 1 failing", "Queue pops in order", "3 !== 1"),
    "phpunit": ("Failures: 1", "InvoiceTest::testRoundsVat", "19.0 matches expected 19.05"),
    "playwright": ("1 failed, 2 passed (8.1s)", "logs in: Error: Timed out 5000ms"),
    "pytest": ("1 failed, 23 passed", "test_a.py::test_round_trip", "assert {'a': '1'} == {'a': 1}"),
    "rspec": ("8 examples, 1 failure", "Order#total applies the coupon: expected: 80; got: 100"),
    "rust_old": ("1 failed", "it_works: ", "ParseIntError"),
    "swift": ("with 1 failure", "testNested", '("2") is not equal to ("3")'),
    "tap": ("pass 1, fail 1", "parses dates", "expected: 2024-01-02; actual: 2024-02-01"),
    "unittest": ("Ran 7 tests, FAILED (failures=1)", "test_trim", "'a ' != 'a'"),
    "vitest": ("1 failed | 4 passed (5)", "trims names: AssertionError: expected ' x' to be 'x'"),
}


@pytest.mark.parametrize("runner", REPORTS)
def test_which_test_failed_and_why_stands_beside_the_figures(runner):
    report = (DATA / f"{runner}.txt").read_text("utf-8")
    outcome = read(report, action("bash", command="run the tests"))
    assert outcome.failed
    assert [part for part in REPORTS[runner] if part not in outcome.said] == []
    assert len(outcome.said) <= 240


def test_all_reports_are_tried():
    assert {path.stem for path in DATA.iterdir()} == set(REPORTS)


@pytest.mark.parametrize(
    "passed",
    [
        "PASS  src/a.test.ts\n\nTests:       9 passed, 9 total\nTime:        1.5 s\n",
        "test a ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured\n",
        "8 examples, 0 failures\n",
        "  3 passing (8ms)\n",
        "Passed!  - Failed:     0, Passed:     7, Skipped:     0, Total:     7, Duration: 3 ms\n",
        "100% tests passed, 0 tests failed out of 3\n",
        "ok  \texample.com/m/util\t0.003s\n",
        "# tests 3\n# pass  3\n# fail  0\n",
        "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n",
        "OK (15 tests, 31 assertions)\n",
        "Failing tests: 0\n",
    ],
)
def test_a_run_that_passed_has_not_failed(passed):
    outcome = read("...\n" * 90 + passed, action("bash", command="run the tests"))
    assert not outcome.failed
    assert outcome.tests


def test_a_list_with_numbers_is_no_report():
    text = "Steps:\n  1) mix the flour\n  2) add 3 eggs\n" * 9 + "It makes 5 tests, 1 failure of ten is fine.\n"
    assert not read(text, action("read_file", path="a.md")).failed


def _cargo(passed: int, failed: int = 0) -> str:
    verdict = "FAILED" if failed else "ok"
    return (
        f"running {passed + failed} tests\n\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; "
        "0 measured; 0 filtered out; finished in 0.02s\n\n"
    )


CARGO_FAILED = (
    "---- parse::keeps_order stdout ----\nthread 'parse::keeps_order' panicked at src/lib.rs:10:5:\n"
    "assertion `left == right` failed\n  left: 3\n right: 4\n\n" + _cargo(39, 1)
)


def _maven(total: int, failed: int = 0, reason: str = "") -> str:
    level, mark = ("ERROR", " <<< FAILURE!") if failed else ("INFO", "")
    return (
        "[INFO] Running com.acme.CartTest\n"
        f"[{level}] Tests run: {total - 9}, Failures: {failed}, Errors: 0, Skipped: 0, Time elapsed: 0.05 s{mark}\n"
        "[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in com.acme.BagTest\n"
        f"[INFO] Results:\n[INFO]\n{reason}[{level}] Tests run: {total}, Failures: {failed}, Errors: 0, Skipped: 0\n"
    )


CART = "[ERROR] Failures: \n[ERROR]   CartTest.total:33 expected: <33> but was: <30>\n[INFO]\n"


def _jest(passed: int, failed: int = 0) -> str:
    of_failed = f"{failed} failed, " if failed else ""
    why = "  ● cart › totals\n\n    Expected: 3\n    Received: 4\n\n" if failed else ""
    return (
        f"> @acme/a@1.0.0 test\n> jest\n\n{why}Test Suites: {of_failed}1 passed, 2 total\n"
        f"Tests:       {of_failed}{passed} passed, {passed + failed} total\nSnapshots:   0 total\n\n"
    )


def _swift(*totals: str) -> str:
    names = ("ATests", "BTests", "shopPackageTests.xctest", "All tests")
    return "".join(
        f"Test Suite '{name}' passed at 2024-01-01 10:00:00.100.\n\t Executed {total} (0 unexpected) in 0.1 seconds\n"
        for name, total in zip(names[-len(totals) :], totals, strict=True)
    )


SWIFT = _swift("25 tests, with 1 failure", "15 tests, with 0 failures", *["40 tests, with 1 failure"] * 2)
NO_SWIFT = _swift("0 tests, with 0 failures")
GO_PASSED = "".join(f"ok  \texample.com/m/p{number}\t0.00{number}s\n" for number in range(9))
GO_FAILED = "--- FAIL: TestFoo (0.00s)\n    foo_test.go:12: got 3, want 4\nFAIL\nFAIL\texample.com/m/foo\t0.010s\n"
GTEST = (
    "[==========] Running 5 tests from 2 test suites.\n[ RUN      ] Cart.Empty\n[       OK ] Cart.Empty (0 ms)\n"
    "[ RUN      ] Cart.Total\ncart_test.cc:12: Failure\nExpected equality of these values:\n  total\n"
    "    Which is: 3\n  4\n[  FAILED  ] Cart.Total (0 ms)\n\n[==========] 5 tests from 2 test suites ran.\n"
    "[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.Total\n\n 1 FAILED TEST\n"
)
UNITTEST = "FAIL: test_trim (a.T)\n----\nRan 3 tests in 0.001s\n\nFAILED (failures=1)\n....\n"
SEVERAL = {
    "cargo": (
        f"{CARGO_FAILED}{_cargo(12)}   Doc-tests shop\n\n{_cargo(0)}",
        (
            "test result: FAILED. 39 passed; 1 failed; then test result: ok. 12 passed; 0 failed; "
            "parse::keeps_order: assertion `left == right` failed; left: 3; right: 4"
        ),
    ),
    "cargo far from the end": (
        f"{_cargo(7)}{CARGO_FAILED}{_cargo(12) * 200}",
        "test result: FAILED. 39 passed; 1 failed; 201 other runs passed; parse::keeps_order: ",
    ),
    "maven": (
        f"{_maven(13, 1, CART)}{_maven(40)}[INFO] BUILD FAILURE\n",
        (
            "Tests run: 13, Failures: 1, Errors: 0, Skipped: 0; then Tests run: 40, Failures: 0, Errors: 0, "
            "Skipped: 0; CartTest.total:33 expected: <33> but was: <30>"
        ),
    ),
    "maven, many": (
        f"{_maven(13)}{_maven(14, 1, CART)}{_maven(15, 2)}{_maven(16, 3)}{_maven(40)}[INFO] BUILD FAILURE\n",
        (
            "Tests run: 14, Failures: 1, Errors: 0, Skipped: 0; Tests run: 15, Failures: 2, Errors: 0, Skipped: 0; "
            "1 other run failed, 2 passed; CartTest.total:33"
        ),
    ),
    "dotnet": (
        (
            "Failed!  - Failed:     1, Passed:     6, Skipped:     0, Total:     7, Duration: 3 ms - A.dll (net8.0)\n"
            "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 3 ms - B.dll (net8.0)\n"
        ),
        "Failed: 1, Passed: 6, Skipped: 0, Total: 7; then Failed: 0, Passed: 12, Skipped: 0, Total: 12",
    ),
    "jest": (
        f"{_jest(8, 1)}{_jest(4)}{_jest(5)}",
        (
            "Tests: 1 failed, 8 passed, 9 total; then Tests: 4 passed, 4 total; then Tests: 5 passed, 5 total; "
            "cart › totals: Expected: 3; Received: 4"
        ),
    ),
    "a suite of jest that does not load": (
        "  ● Test suite failed to run\n\n    Cannot find module './tax' from 'src/b.test.ts'\n\n"
        "Test Suites: 1 failed, 1 total\nTests:       0 total\nSnapshots:   0 total\n\n" + _jest(5),
        (
            "Test Suites: 1 failed, Tests: 0 total; then Tests: 5 passed, 5 total; "
            "Test suite failed to run: Cannot find module './tax'"
        ),
    ),
    "a file of vitest that does not load": (
        (
            ' FAIL  src/b.test.ts [ src/b.test.ts ]\nError: Failed to resolve import "./tax" from "src/b.ts".\n\n'
            " Test Files  1 failed | 30 passed (31)\n      Tests  120 passed (120)\n   Duration  2.1s\n"
        ),
        "Test Files 1 failed, Tests 120 passed (120); src/b.test.ts: Error: Failed to resolve import",
    ),
    "tox": (
        "".join(f"py3{n}: pytest\n== {'1 failed, ' * (n == 10)}7 passed in 0.33s ==\n" for n in range(9, 13)),
        "1 failed, 7 passed in 0.33s; 3 other runs passed",
    ),
    "swift": (SWIFT + NO_SWIFT, "Executed 40 tests, with 1 failure"),
    "pytest": (
        "FAILED tests/a.py::test_y - assert 1 == 2\n== 1 failed, 2 passed in 0.31s ==\n..\n== 7 passed in 0.33s ==\n",
        "1 failed, 2 passed in 0.31s; then 7 passed in 0.33s; FAILED tests/a.py::test_y - assert 1 == 2",
    ),
    "pytest, then jest": (
        f"== 7 passed in 0.33s ==\n{_jest(8, 1)}",
        "7 passed in 0.33s; then Tests: 1 failed, 8 passed, 9 total; cart › totals: Expected: 3; Received: 4",
    ),
    "unittest": (
        f"{UNITTEST}----\nRan 4 tests in 0.002s\n\nOK\n",
        "Ran 3 tests, FAILED (failures=1); then Ran 4 tests, OK; FAIL: test_trim (a.T)",
    ),
    "mocha": (
        "Queue\n\n  3 passing (8ms)\n  1 failing\n\n  1) Queue\n       pops:\n      3 !== 1\n\n  5 passing (4ms)\n",
        "3 passing (8ms), 1 failing; then 5 passing (4ms); Queue pops: 3 !== 1",
    ),
    "go": (
        GO_PASSED + GO_FAILED + GO_PASSED,
        "FAIL example.com/m/foo 0.010s; 18 other packages passed; TestFoo: foo_test.go:12: got 3, want 4",
    ),
    "googletest": (
        GTEST,
        "PASSED 4 tests, FAILED 1 test; Cart.Total: cart_test.cc:12: Failure; Expected equality of these",
    ),
}


@pytest.mark.parametrize("runs", SEVERAL)
def test_of_several_runs_each_is_told_or_those_that_failed_first(runs):
    printed, told = SEVERAL[runs]
    outcome = read(printed, action("bash", command="run the tests"))
    assert outcome.said.startswith(told)
    assert outcome.failed


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (_cargo(80) + _cargo(0), "test result: ok. 80 passed; 0 failed"),
        (_cargo(0), "test result: ok. 0 passed; 0 failed"),
        ("".join(map(_jest, (8, 4, 5, 7, 9))), "Tests: 9 passed, 9 total; 4 other runs passed"),
        (GO_PASSED, "ok example.com/m/p8 0.008s; 8 other packages passed"),
        (_swift("12 tests, with 0 failures") + NO_SWIFT, "Executed 12 tests, with 0 failures"),
        (
            NO_SWIFT + "✔ Test run with 12 tests in 2 suites passed after 0.003 seconds.\n",
            "Test run with 12 tests in 2 suites passed",
        ),
        (
            "[==========] 4 tests from 1 test suite ran. (3 ms total)\n[  PASSED  ] 4 tests.\n",
            "PASSED 4 tests",
        ),
    ],
)
def test_runs_of_no_test_are_left_out_where_there_are_others(printed, told):
    outcome = read("...\n" * 50 + printed, action("bash", command="run the tests"))
    assert (outcome.said, outcome.failed) == (told, False)


def test_what_tests_printed_of_other_runs_is_no_report():
    inner = "___ test_plugin ___\n---- Captured stdout call ----\n== 4 failed in 0.3s ==\n"
    outcome = read(f"{inner}== 1 failed, 7 passed in 0.33s ==\n", action("bash", command="pytest"))
    assert outcome.said.startswith("1 failed, 7 passed in 0.33s")
    assert "4 failed" not in outcome.said


def test_reports_are_read_in_linear_time():
    for part in ("Ran 3 tests\n", "[ RUN      ] A.b\nx\n", "Executed 1 test, with 0 failures\n", GTEST, _maven(13)):
        read(part * (1_000_000 // len(part)), action("bash", command="run the tests"))


def test_of_pytest_all_tests_that_failed_are_told_and_their_file_once():
    why = {"empty": "assert None == 0", "discount": "assert 10 == 5", "currency": "AttributeError: no 'currency'"}
    lines = [f"FAILED tests/cart.py::test_{name} - {said}\n" for name, said in why.items()]
    text = f"== short test summary info ==\n{''.join(lines)}== 3 failed, 11 passed in 0.12s ==\n"
    said = read(text, Action("bash", "pytest tests", "run")).said
    assert said == (
        "3 failed, 11 passed in 0.12s; FAILED tests/cart.py::test_empty - assert None == 0;"
        " ::test_discount - assert 10 == 5; ::test_currency - AttributeError: no 'currency'"
    )
