"""The forms in which test runners report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re

_NUMBERED = r"^[ \t]{0,4}\d{1,4}\) (?!Failure:$|Error:$)(\S[^\n]{2,200})$"


class Runner(NamedTuple):
    """One form of reports.

    ``mark`` and one of ``hints`` are in every text that ``figures`` can match, and are found more quickly; of several
    patterns the last gives the figures: its groups, if it has any, with the ``joint`` between. ``failed`` finds the
    names of tests that failed, where a pattern for these is needed: each begins a block that says why, or
    ``tells_why`` itself. ``counts``: what figures count that stand apart, in the order of a report. ``parts`` marks
    figures of a part of what others sum up, ``whole`` finds those of all, ``each``
    names what every line of figures is of.
    """

    mark: str
    hints: Sequence[str]
    figures: Sequence[re.Pattern[str]]
    failed: re.Pattern[str] | None = None
    counts: Sequence[str] = ()
    tells_why: bool = False
    joint: str = " "
    parts: str = ""
    whole: re.Pattern[str] | None = None
    each: str = ""


RUNNERS: Sequence[Runner] = (
    Runner(  # unittest, whose own lines say which test failed
        "Ran ",
        ("FAILED", "OK", "NO TESTS RAN", "PASSED"),
        (
            late_re(
                r"^(Ran \d+ tests?)\b[^\n]{0,60}\n(?:(?!Ran \d)[^\n]{0,300}\n){0,20}?"
                r"((?:FAILED|OK|NO TESTS RAN|PASSED)(?: \([^\n)]{1,100}\))?)[ \t]*$",
                re.MULTILINE,
            ),
        ),
        joint=", ",
    ),
    Runner(  # pytest
        " in ",
        (" passed", " failed", " error", " skipped"),
        (
            late_re(r" in [\d.]{1,12} ?s"),
            late_re(r"\d(?<![\w.]\d)\d* (?:failed|passed|errors?|skipped)(?:, \d+ \w{1,20}){0,6} in [\d.]{1,12} ?s"),
        ),
        late_re(r"^((?:FAILED|ERROR) \S{1,300}(?: \S{1,100}){0,8}? - [^\n]{1,400})$", re.MULTILINE),
        tells_why=True,
    ),
    Runner(  # cargo
        "test result: ",
        ("test result: ",),
        (late_re(r"^test result: \w{2,10}\. \d+ passed; \d+ failed", re.MULTILINE),),
        late_re(r"^---- (\S{1,200}) stdout ----$", re.MULTILINE),
    ),
    Runner(  # jest
        "Tests:",
        (" total",),
        (  # a suite that does not load fails no test
            late_re(
                r"^(Test Suites: {1,8}[1-9]\d* failed)[^\n]{0,100}\n(Tests: {1,8}(?!\d+ failed)\d[^\n]{0,200} total)"
                r"|^(Tests: {1,8}\d[^\n]{0,200} total)",
                re.MULTILINE,
            ),
        ),
        late_re(r"^[ \t]{0,8}● (?!Console$)(\S[^\n]{1,200})$", re.MULTILINE),
        joint=", ",
    ),
    Runner(  # PHPUnit
        "ssertions",
        ("Assertions: ", " assertions)"),
        (late_re(r"^(?:Tests: \d+, Assertions|OK \(\d+ tests?,)[^\n]{1,200}", re.MULTILINE),),
        late_re(_NUMBERED, re.MULTILINE),
    ),
    Runner(  # Maven
        "Tests run: ",
        ("Failures: ",),
        (late_re(r"Tests run: \d+, Failures: [^\n<]{1,100}(?=\n|$)"),),
        late_re(r"^\[ERROR\] {1,6}((?!Tests run)\w[\w.$]{0,120}\.\w{1,80}:\d{1,6}\b[^\n]{0,300})$", re.MULTILINE),
        tells_why=True,
        parts="Time elapsed",  # of a class
    ),
    Runner(  # Vitest
        "Tests  ",
        (" passed", " failed"),
        (
            late_re(
                r"^ {1,12}(Test Files  [1-9]\d* failed)[^\n]{0,100}\n {2,12}"
                r"(Tests  (?!\d+ failed)(?:\d|no tests)[^\n]{0,100})|^ {2,12}Tests  (\d[^\n]{1,100})",
                re.MULTILINE,
            ),
        ),
        late_re(r"^ {0,3}FAIL  (\S[^\n]{1,200} > [^\n]{1,200}|\S{1,200}(?= \[ \S{1,200} \]$))", re.MULTILINE),
        joint=", ",
    ),
    Runner(  # Defects4J, and agents that run its tests
        "ailing test",
        ("Failing tests: ", " failing test case"),
        (late_re(r"^Failing tests: \d+|\b\d+ failing test cases?\b", re.MULTILINE),),
        late_re(r"^(?:--- | {2,4}- )([\w.$]{1,200}::\w{1,200})$", re.MULTILINE),
    ),
    Runner(  # Gradle
        " tests completed",
        (" failed",),
        (late_re(r"^\d+ tests completed, [^\n]{1,100}", re.MULTILINE),),
        late_re(r"^(\S[^\n]{0,120} > [^\n]{1,120}) FAILED$", re.MULTILINE),
    ),
    Runner(  # RSpec, ExUnit, Minitest
        "fail",
        (" examples,", " tests,", " example,", " test,", " assertions,"),
        (
            late_re(
                r"^(?:\d+ doctests?, )?\d+ (?:examples?|tests?|runs), \d+ (?:assertions, \d+ )?failures?[^\n]{0,80}",
                re.MULTILINE,
            ),
        ),
        late_re(rf"{_NUMBERED}|^[ \t]{{0,4}}\d{{1,4}}\) (?:Failure|Error):\n(\S[^\n]{{2,200}})$", re.MULTILINE),
    ),
    Runner(  # Mocha
        " passing",
        (" failing", "ms)", "s)", "m)"),
        (late_re(r"^ {2,4}(\d+ (?:passing|pending|failing)(?: \([^\n)]{1,20}\))?)$", re.MULTILINE),),
        late_re(r"^ {2}\d{1,4}\) (\S[^\n]{0,200}(?:\n {5,40}\S[^\n]{0,200}){1,6}:)$", re.MULTILINE),
        counts=("passing", "pending", "failing"),
    ),
    Runner(  # Playwright
        " passed (",
        (" passed (",),
        (
            late_re(
                r"^ {2}(\d+ (?:failed|interrupted|flaky|skipped|did not run|passed)(?: \([^\n)]{1,20}\))?)$",
                re.MULTILINE,
            ),
        ),
        late_re(r"^ {2}\d{1,4}\) (\S[^\n]{0,200} › [^\n]{1,200}?)[ ─]{0,200}$", re.MULTILINE),
        counts=("failed", "interrupted", "flaky", "skipped", "did not run", "passed"),
    ),
    Runner(  # .NET
        "Passed: ",
        ("Failed: ",),
        (late_re(r"Failed: {1,6}\d+, Passed: {1,6}\d+[^\n]{0,60}Total: {1,6}\d+"),),
        late_re(r"^ {2}Failed (\S{1,200})(?: \[[^\]\n]{1,20}\])?$", re.MULTILINE),
    ),
    Runner(  # CTest
        "tests passed, ",
        (" out of ",),
        (late_re(r"^\d+% tests passed, \d+ tests failed out of \d+", re.MULTILINE),),
        late_re(r"^[ \t]{1,8}(\d+ - \S{1,120} \([^()\n]{1,40}\))", re.MULTILINE),
        tells_why=True,
    ),
    Runner(  # Swift: suites of suites, each with its figures
        "Executed ",
        (" tests, with ", " test, with "),
        (late_re(r"Executed \d{1,9} tests?, with [^\n()]{1,60}"),),
        whole=late_re(
            r"^Test Suite '(?:All|Selected) tests' [^\n]{1,80}\n[^\n]{0,20}?"
            r"(Executed \d{1,9} tests?, with [^\n()]{1,60})",
            re.MULTILINE,
        ),
    ),
    Runner(  # Swift's other library
        "Test run with ",
        (" passed", " failed"),
        (
            late_re(
                r"Test run with \d+ tests?(?: in \d+ suites?)? "
                r"(?:passed|failed after [\d.]{1,12} seconds with \d+ issues?)"
            ),
        ),
    ),
    Runner(  # GoogleTest
        "[==========]",
        ("[  PASSED  ]", "[  FAILED  ]"),
        (late_re(r"^\[ {2}(PASSED|FAILED) {2}\] (\d+ tests?)\b", re.MULTILINE),),
        late_re(
            r"^\[ RUN {6}\] (\S{1,200})\n(?=(?:(?!\[)[^\n]{0,600}\n){0,60}?\[ {2}FAILED {2}\])"
            r"|^\[ {2}FAILED {2}\] (?!\d+ tests?\b)(\w[\w./<>-]{2,200})",
            re.MULTILINE,
        ),
        counts=("PASSED", "FAILED"),
    ),
    Runner(  # node's own
        "# fail ",
        ("# pass ",),
        (late_re(r"^# ((?:pass|fail) {1,4}\d+)$", re.MULTILINE),),
        late_re(r"^[ \t]{0,12}not ok \d+ -? ?(\S[^\n]{0,200})$", re.MULTILINE),
        counts=("pass", "fail"),
    ),
    Runner(  # Go
        "\t",
        ("FAIL\t", "ok  \t", "ok\t"),
        (late_re(r"^(?:FAIL|ok {0,2})\t\S{1,200}(?:\t[\d.]{1,9}s|\t\(cached\)| \[)[^\n]{0,300}$", re.MULTILINE),),
        late_re(
            r"^[ \t]{0,12}--- FAIL: (\S{1,200})(?: \([\d.]{1,12}s\))?$"
            r"|^((?:\./)?[\w./-]{1,200}\.go:\d+:\d+: [^\n]{1,300})$",
            re.MULTILINE,
        ),
        each="package",
    ),
)
