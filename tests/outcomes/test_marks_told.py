"""What is marked as failed is told beside what is marked as passed; what crashed or conflicts as well."""

from __future__ import annotations

import pytest
from told import read, result_line

from trajcompress.compaction.text.cut import cut_text
from trajcompress.outcomes.action.actions import describe
from trajcompress.outcomes.reports.errors import errors, marked_failures, tally

FAILING = (7, 40, 77)
VERBOSE = "\n".join(f"tests/a.py::t{n} {'FAILED' if n in FAILING else 'PASSED'} [{n:3}%]" for n in range(100))
WORKERS = "\n".join(
    f"[gw{n % 2}] [{n:3}%] {'FAILED' if n in FAILING else 'PASSED'} tests/a.py::t{n}" for n in range(100)
)
VITEST = "\n".join(
    [*(f" ✓ cart > adds {n} 2ms" for n in range(50)), " × cart > totals 5ms", "   → expected 1 to be 2"]
)
GITHUB = "\n".join(
    ["✓ main CI · 123", "", "JOBS", "✓ build in 1m2s (ID 1)", "  ✓ Set up job", "X test (3.11) in 3m2s (ID 3)"]
    + ["  ✓ Checkout", "  X Run tests", "", "ANNOTATIONS", "X Process completed with exit code 1."]
    + ["✓ lint"] * 9
)
GOOGLE = (
    "[       OK ] Cart.Empty (0 ms)\n[  FAILED  ] Cart.Total (0 ms)\n[  FAILED  ] Cart.Tax (0 ms)\n"
    "[  PASSED  ] 4 tests.\n[  FAILED  ] 2 tests, listed below:\n[  FAILED  ] Cart.Total\n[  FAILED  ] Cart.Tax\n"
)


def line(printed, command):
    return result_line(printed, "bash", describe("bash", {"command": command}))


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (VERBOSE, "3 × FAILED; tests/a.py::t7; tests/a.py::t40; tests/a.py::t77; 97 × PASSED"),
        (WORKERS, "3 × FAILED; tests/a.py::t7; tests/a.py::t40; tests/a.py::t77; 97 × PASSED"),
        (VITEST, "× cart > totals 5ms; 50 × ✓"),
        (GITHUB, "X test (3.11) in 3m2s (ID 3); 13 × ✓"),
    ],
)
def test_failures_are_told_with_passes(printed, told):
    outcome = read(printed, describe("bash", {"command": "make check"}))
    assert outcome.failed
    assert outcome.said.startswith(told)


def test_a_test_that_a_summary_names_again_failed_once():
    again = "\n".join(f"FAILED tests/a.py::t{n} - assert 1 == 2" for n in FAILING)
    assert tally(f"{VERBOSE}\n{again}") == tally(VERBOSE) == "3 × FAILED, 97 × PASSED"
    assert tally(f"{GOOGLE}[  FAILED  ] Cart.Round (1 ms)\n") == "3 × FAILED"


def test_the_mark_of_what_was_cut_counts_what_failed_in_it():
    assert "elided, with 3 × FAILED, " in cut_text("\n".join(["start"] * 90 + [VERBOSE] + ["end"] * 90), 900)


@pytest.mark.parametrize("text", ["✖ 3 problems (0 errors, 3 warnings)", "X is the unknown", "2 × 3 = 6"])
def test_what_marks_no_failure(text):
    assert marked_failures(text) == []


@pytest.mark.parametrize(
    ("crash", "told"),
    [
        ("Segmentation fault (core dumped)", "Segmentation fault (core dumped)"),
        ("run.sh: line 3: 12345 Killed                  ./prog", "Killed"),
        ("Aborted (core dumped)", "Aborted (core dumped)"),
        ("Fatal Python error: Segmentation fault", "Fatal Python error: Segmentation fault"),
    ],
)
def test_a_run_that_crashed_failed_whatever_its_figures_say(crash, told):
    outcome = read(
        f"{'.' * 72}\n120 passed, 10 warnings in 3.21s\n{crash}\n", describe("bash", {"command": "pytest"})
    )
    assert outcome.failed
    assert outcome.said == f"{told}; 120 passed, 10 warnings in 3.21s"


def test_all_conflicts_of_a_merge_are_counted():
    files = "".join(f"CONFLICT (content): Merge conflict in src/{name}.py\n" for name in "abcdef")
    assert errors(f"Auto-merging src/a.py\n{files}Automatic merge failed\n")[-1] == (
        "6 × CONFLICT: src/a.py; src/b.py; src/c.py; src/d.py; src/e.py; src/f.py"
    )
