"""What a test runner reports: its figures, which test failed and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.summarize.extractive.errors import ERROR_CHARS
from trajcompress.summarize.extractive.text import on_one_line, one_line, shorten

_END_CHARS = 3_000  # in which figures stand
_MOST_FAILED = 40  # of which names are looked for
_NAME_CHARS, _WHY_CHARS, _LINE_CHARS = 100, 130, 80
_BLOCK_CHARS = 2_500
_MOST_LINES = 3
_KNOWN_CHARS = 40
_TOLD_NAMES = 4

_FAILED = late_re(
    r"FAIL|[1-9]\d* (?:tests? |of \d+ )?(?:fail(?:ed|ing|ures?)|errors?)"
    r"|(?:Failures|Errors|Failed): {0,6}[1-9]|fail +[1-9]"
)
_RAN = late_re(r"^Ran \d+ tests?", re.MULTILINE)
_UNITTEST = late_re(r"^(?:FAILED|OK)(?: \([^\n)]{1,100}\))?[ \t]*$", re.MULTILINE)
_NUMBERED = r"^[ \t]{0,4}\d{1,4}\) (?!Failure:$|Error:$)(\S[^\n]{2,200})$"


class _Runner(NamedTuple):
    """One form of reports.

    ``mark`` and one of ``hints`` are in every text that ``figures`` can match, and are found more quickly; of several
    patterns the last gives the figures. ``failed`` finds the names of tests that failed, where a pattern for these
    is needed: each begins a block that says why, or ``tells_why`` itself. ``counts``: figures that stand apart.
    """

    mark: str
    hints: Sequence[str]
    figures: Sequence[re.Pattern[str]]
    failed: re.Pattern[str] | None = None
    counts: int = 1
    tells_why: bool = False


_RUNNERS: Sequence[_Runner] = (
    _Runner(  # pytest, whose own lines say which test failed
        " in ",
        (" passed", " failed", " error", " skipped"),
        (
            late_re(r" in [\d.]{1,12} ?s"),
            late_re(r"\d(?<![\w.]\d)\d* (?:failed|passed|errors?|skipped)(?:, \d+ \w{1,20}){0,6} in [\d.]{1,12} ?s"),
        ),
    ),
    _Runner(  # cargo
        "test result: ",
        ("test result: ",),
        (late_re(r"^test result: \w{2,10}\. \d+ passed; \d+ failed", re.MULTILINE),),
        late_re(r"^---- (\S{1,200}) stdout ----$", re.MULTILINE),
    ),
    _Runner(  # jest
        "Tests:",
        (" total",),
        (late_re(r"^Tests: {1,8}\d[^\n]{1,200}", re.MULTILINE),),
        late_re(r"^[ \t]{0,8}● (?!Console$)(\S[^\n]{1,200})$", re.MULTILINE),
    ),
    _Runner(  # PHPUnit
        "ssertions",
        ("Assertions: ", " assertions)"),
        (late_re(r"^(?:Tests: \d+, Assertions|OK \(\d+ tests?,)[^\n]{1,200}", re.MULTILINE),),
        late_re(_NUMBERED, re.MULTILINE),
    ),
    _Runner(  # Maven
        "Tests run: ",
        ("Failures: ",),
        (late_re(r"Tests run: \d+, Failures: [^\n<]{1,100}(?=\n|$)"),),
        late_re(r"^\[ERROR\] {1,6}((?!Tests run)\w[\w.$]{0,120}\.\w{1,80}:\d{1,6}\b[^\n]{0,300})$", re.MULTILINE),
        tells_why=True,
    ),
    _Runner(  # Vitest
        "Tests  ",
        (" passed", " failed"),
        (late_re(r"^ {2,12}Tests  (\d[^\n]{1,100})", re.MULTILINE),),
        late_re(r"^ {0,3}FAIL  (\S[^\n]{1,200} > [^\n]{1,200})$", re.MULTILINE),
    ),
    _Runner(  # Gradle
        " tests completed",
        (" failed",),
        (late_re(r"^\d+ tests completed, [^\n]{1,100}", re.MULTILINE),),
        late_re(r"^(\S[^\n]{0,120} > [^\n]{1,120}) FAILED$", re.MULTILINE),
    ),
    _Runner(  # RSpec, ExUnit, Minitest
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
    _Runner(  # Mocha
        " passing",
        (" failing", "ms)", "s)", "m)"),
        (late_re(r"^ {2,4}(\d+ (?:passing|pending|failing)(?: \([^\n)]{1,20}\))?)$", re.MULTILINE),),
        late_re(r"^ {2}\d{1,4}\) (\S[^\n]{0,200}(?:\n {5,40}\S[^\n]{0,200}){1,6}:)$", re.MULTILINE),
        counts=3,
    ),
    _Runner(  # Playwright
        " passed (",
        (" passed (",),
        (late_re(r"^ {2}(\d+ (?:failed|flaky|skipped|did not run|passed)(?: \([^\n)]{1,20}\))?)$", re.MULTILINE),),
        late_re(r"^ {2}\d{1,4}\) (\S[^\n]{0,200} › [^\n]{1,200}?)[ ─]{0,200}$", re.MULTILINE),
        counts=4,
    ),
    _Runner(  # .NET
        "Passed: ",
        ("Failed: ",),
        (late_re(r"Failed: {1,6}\d+, Passed: {1,6}\d+[^\n]{0,60}Total: {1,6}\d+"),),
        late_re(r"^ {2}Failed (\S{1,200})(?: \[[^\]\n]{1,20}\])?$", re.MULTILINE),
    ),
    _Runner(  # CTest
        "tests passed, ",
        (" out of ",),
        (late_re(r"^\d+% tests passed, \d+ tests failed out of \d+", re.MULTILINE),),
        late_re(r"^[ \t]{1,8}(\d+ - \S{1,120} \([^()\n]{1,40}\))", re.MULTILINE),
        tells_why=True,
    ),
    _Runner(  # Swift
        "Executed ",
        (" tests, with ", " test, with "),
        (late_re(r"Executed \d+ tests?, with [^\n()]{1,60}"),),
    ),
    _Runner(  # node's own
        "# fail ",
        ("# pass ",),
        (late_re(r"^# ((?:pass|fail) {1,4}\d+)$", re.MULTILINE),),
        late_re(r"^[ \t]{0,12}not ok \d+ -? ?(\S[^\n]{0,200})$", re.MULTILINE),
        counts=2,
    ),
    _Runner(  # Go
        "\t",
        ("FAIL\t", "ok  \t", "ok\t"),
        (late_re(r"^(?:FAIL|ok {0,2})\t\S{1,200}(?:\t[\d.]{1,9}s|\t\(cached\)| \[)[^\n]{0,300}$", re.MULTILINE),),
        late_re(
            r"^[ \t]{0,12}--- FAIL: (\S{1,200})(?: \([\d.]{1,12}s\))?$"
            r"|^((?:\./)?[\w./-]{1,200}\.go:\d+:\d+: [^\n]{1,300})$",
            re.MULTILINE,
        ),
    ),
)
_GO_LOG = late_re(r"^ {4,16}(\S{1,120}\.go:\d+: {0,2}[^\n]{0,300}(?:\n[ \t]{8,20}[^\n]{1,200}){0,8})", re.MULTILINE)
_PAIR = late_re(
    r"(?:[-+] ?)?(?:expected|received|actual|got|left|right|want|have|but was)\b\s{0,8}[:=]", re.IGNORECASE
)
_TRACE = late_re(  # what stands behind the reason
    r"(?:at (?:\S|.{0,60}\()|# \./|stack ?trace:|from /|File \"|/\S+:\d+$|goroutine \d|❯ |\S+\.php:\d+)",
    re.IGNORECASE,
)
_NO_REASON = late_re(  # quotes of code, differences, and what announces the reason
    r"(?:>? ?\d+ ?\||> |\||[-+] ?(?:expected|actual|received)\b|[-+] |code:|note: |error trace:|test: |failure/error:"
    r"|error message:|expect\(|\(compared using|messages:|operator: |---$|\.\.\.$|↓"
    r"|thread '.{1,200}' .{0,20}panicked at \S+:$|caused by:$|at: |location: |=== |--- |FAIL\b|PASS\b"
    r"|\[(?:INFO|ERROR)\]|test suites?: |call log|locator: |duration_ms|type: |# )|.{0,3}$|\d+\.\.\d+$",
    re.IGNORECASE,
)
_EXPLAINED = late_re(r"^(?!E )[^\n]*\nE {2,8}(\S[^\n]{0,400})", re.MULTILINE)
_SHORT_SUMMARY = late_re(r"^=+ short test summary info =+$", re.MULTILINE)


class RunReport(NamedTuple):
    """Figures of a test run, in its own words, and which tests failed: of the first why, if that is told."""

    figures: str = ""
    failures: Sequence[str] = ()

    @property
    def failed(self) -> bool:
        """Whether it reports a failure."""
        return bool(self.failures) or (bool(self.figures) and _FAILED.search(self.figures) is not None)


NO_REPORT = RunReport()


def read_report(text: str) -> RunReport:
    """Read the last report of a test run, if a text has one."""
    end = text[-_END_CHARS:]
    if "Ran " in end and (ran := _RAN.search(end)) and (verdict := _UNITTEST.findall(end)):
        return RunReport(f"{ran[0]}, {verdict[-1].strip()}")
    for runner in _RUNNERS:
        if runner.mark in end and holds_any(end, runner.hints) and all(each.search(end) for each in runner.figures):
            figures = _figures(runner, end)
            if runner.failed is None or not _FAILED.search(figures):
                return RunReport(figures)
            return RunReport(figures, list(_failures(text, runner.failed, tells_why=runner.tells_why)))
    return NO_REPORT


def _figures(runner: _Runner, end: str) -> str:
    found = [one_line(each if isinstance(each, str) else each[-1]) for each in runner.figures[-1].findall(end)]
    return next((each for each in reversed(found) if each.startswith("FAIL")), ", ".join(found[-runner.counts :]))


def _failures(text: str, heading: re.Pattern[str], *, tells_why: bool) -> Iterator[str]:
    """Yield the first test that failed with its reason, then the names of some more."""
    found = [(match, one_line(next(filter(None, match.groups()))).rstrip(": ")) for match in heading.finditer(text)]
    found = found[:_MOST_FAILED]
    names = [name for _, name in found]
    # of a table of tests those within it have failed, not it
    inner = [each for each in found if not any(other.startswith(f"{each[1]}/") for other in names)]
    if not inner:
        return
    (first, name), *others = inner
    after = [match.start() for match, _ in found if match.start() > first.start()]
    block = text[first.end() : min([*after[:1], first.end() + _BLOCK_CHARS])]
    why = (
        "" if tells_why else _logged(text[max(first.start() - _BLOCK_CHARS, 0) : first.start()], name) or _why(block)
    )
    yield f"{shorten(name, _NAME_CHARS)}: {why}" if why else shorten(name, _NAME_CHARS + _WHY_CHARS)
    yield from dict.fromkeys(shorten(other, _NAME_CHARS) for _, other in others[:_TOLD_NAMES] if other != name)


def _why(block: str) -> str:
    """Return why a test failed of what stands below its name: what was expected and came, else its first lines."""
    lines: list[str] = []
    for line in map(one_line, block.splitlines()):
        if lines and _TRACE.match(line):
            break
        is_pair = _PAIR.match(line) is not None
        is_told = any(line[:_KNOWN_CHARS] in each for each in lines) and not is_pair
        if line and (is_pair or not (is_told or _NO_REASON.match(line) or _TRACE.match(line))):
            lines.append(line)
    pairs = [line for line in lines if _PAIR.match(line)][:2]
    first = [line for line in lines if line not in pairs]
    chosen = [*first[:1], *pairs] if pairs else first[:_MOST_LINES]
    chosen = [shorten(line, _LINE_CHARS) for line in chosen] if pairs else chosen
    return shorten(on_one_line(chosen), _WHY_CHARS)


def _logged(before: str, name: str) -> str:
    """Return what a test of Go logged last before it is called failed."""
    began = before.rfind(f"=== RUN   {name}")
    logged = [match[1] for match in _GO_LOG.finditer(before[began:])] if began >= 0 else []
    return _why(logged[-1]) if logged else ""


def reasons_of_pytest(text: str) -> list[str]:
    """Give why pytest says that a test failed: the first line of the last explanation, else what it ends with."""
    if explained := _EXPLAINED.findall(text):
        return [one_line(explained[-1])]
    body = text[: end.start()] if (end := _SHORT_SUMMARY.search(text)) else ""
    last = next((line for line in reversed(body.splitlines()) if any(map(str.isalnum, line))), "")
    return [shorten(one_line(last), ERROR_CHARS)] if last and not last.startswith(("=", "_")) else []
