"""What is told of a test run: its figures, which test failed and why, in the words of each runner."""

from __future__ import annotations

from pathlib import Path

import pytest
import told
from told import action

from trajcompress.summarize.extractive.outcome import read

DATA = Path(told.__file__).parent / "data" / "test_reports"
REPORTS = {
    "bats": ("not ok 2 reads the config",),
    "cargo": ("2 passed; 1 failed", "tests::splits: ", 'left: ["a", "b"]; right: ["a", "b", ""]'),
    "ctest": ("1 tests failed out of 3", "emit (Failed)"),
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
    ],
)
def test_a_run_that_passed_has_not_failed(passed):
    outcome = read("...\n" * 90 + passed, action("bash", command="run the tests"))
    assert not outcome.failed
    assert outcome.tests


def test_a_list_with_numbers_is_no_report():
    text = "Steps:\n  1) mix the flour\n  2) add 3 eggs\n" * 9 + "It makes 5 tests, 1 failure of ten is fine.\n"
    assert not read(text, action("read_file", path="a.md")).failed
