"""What a test runner reports: its figures, which test failed and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from trajcompress.outcomes.reports.errors import ERROR_CHARS
from trajcompress.outcomes.reports.runner_forms import RUNNERS, Runner
from trajcompress.outcomes.text import on_one_line, one_line, shorten
from trajcompress.processes.late_patterns import holds_any, late_re

_END_CHARS = 3_000  # in which figures stand of a text that is no more than a report
_MOST_CHARS = 200_000  # that are read
_MOST_RUNS, _TOLD_RUNS = 3, 2  # of which all are told, and of more
_FIGURES_CHARS = 140  # with more there is no room for what failed
_MOST_FAILED = 40  # of which names are looked for
_NAME_CHARS, _WHY_CHARS, _LINE_CHARS = 100, 130, 80
_BLOCK_CHARS = 2_500
_MOST_LINES = 3
_KNOWN_CHARS = 40
_TOLD_NAMES = 4

_FAILED = late_re(
    r"FAIL|[1-9]\d* (?:tests? |of \d+ )?(?:fail(?:ed|ing|ures?)|errors?)|failed after"
    r"|(?:Failures|Errors|Failed|Failing tests): {0,6}[1-9]|fail +[1-9]"
)
_CAPTURED = "Captured std"  # stands above what pytest's tests printed
_COUNT = late_re(r"[1-9]\d{0,8}")
_TIME = late_re(r"\d[\d.]{0,12} ?(?:ms|s|m|min|seconds)\b")
_GO_LOG = late_re(r"^ {4,16}(\S{1,120}\.go:\d+: {0,2}[^\n]{0,300}(?:\n[ \t]{8,20}[^\n]{1,200}){0,8})", re.MULTILINE)
_PAIR = late_re(
    r"(?:[-+] ?)?(?:expected|received|actual|got|left|right|want|have|but was)\b\s{0,8}[:=]", re.IGNORECASE
)
_TRACE = late_re(  # what stands behind the reason
    r"(?:at (?:\S|.{0,60}\()|# \./|stack ?trace:|from /|File \"|/\S+:\d+$|goroutine \d|❯ |\S+\.php:\d+"
    r"|\d+ (?:passing|pending|failing)\b|test suites: \d|test files {1,2}\d|snapshots: |require stack:"
    r"|ok \S{1,200} (?:[\d.]{1,9}s|\(cached\)))",
    re.IGNORECASE,
)
_NO_REASON = late_re(  # quotes of code, differences, and what announces the reason
    r"(?:>? ?\d+ ?\||> |\||[-+] ?(?:expected|actual|received)\b|[-+] |code:|note: |error trace:|test: |failure/error:"
    r"|error message:|expect\(|\(compared using|messages:|operator: |---$|\.\.\.$|↓"
    r"|thread '.{1,200}' .{0,20}panicked at \S+:$|caused by:$|at: |location: |=== |--- |FAIL\b|PASS\b"
    r"|\[(?:INFO|ERROR)\]|test suites?: |tests: \d|snapshots: |\[ \S{1,200} \]$"
    r"|call log|locator: |duration_ms|type: |# )|.{0,3}$|\d+\.\.\d+$",
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


def read_report(text: str, *, anywhere: bool = False) -> RunReport:
    """Read the reports of the test runs in a text that ends with one, or that has one ``anywhere``.

    Up to three are told in their order. What tests printed of other runs is no report: of a text with such parts the
    last report is told alone.
    """
    text = text[-_MOST_CHARS:]
    is_inner = _CAPTURED in text
    shown = text if anywhere and not is_inner else text[-_END_CHARS:]
    runners = [
        runner
        for runner in RUNNERS
        if runner.mark in shown
        and holds_any(shown, runner.hints)
        and all(each.search(shown) for each in runner.figures)
    ]
    runs = _last_run(runners, shown) if is_inner else _runs(runners, text)
    if not runs:
        return NO_REPORT
    failed = {run.runner.mark: run.runner for run in runs if run.failed}.values()
    named = [
        name
        for runner in failed
        if runner.failed is not None
        for name in _failures(text, runner.failed, tells_why=runner.tells_why)
    ]
    figures = [run.figures for run in runs]
    in_full = "; then ".join(figures)
    is_long = len(figures) > _MOST_RUNS or (len(in_full) > _FIGURES_CHARS and any(run.failed for run in runs))
    return RunReport(_first_failed(figures, "run", most=_TOLD_RUNS) if is_long else in_full, named)


class _Run(NamedTuple):
    """The figures of one run, and where they stand."""

    start: int
    figures: str
    runner: Runner

    @property
    def failed(self) -> bool:
        return _FAILED.search(self.figures) is not None

    @property
    def is_empty(self) -> bool:
        """Whether no test ran."""
        if self.runner.each:
            return "[no test" in self.figures
        return _COUNT.search(_TIME.sub("", self.figures)) is None


def _runs(runners: Sequence[Runner], text: str) -> list[_Run]:
    """Return all runs in their order, but for those of no test where there are others."""
    found = sorted((run for runner in runners for run in _runs_of(runner, text)), key=lambda run: run.start)
    return [run for run in found if not run.is_empty] or found[-1:]


def _last_run(runners: Sequence[Runner], end: str) -> list[_Run]:
    return [_runs_of(runner, end)[-1] for runner in runners[:1]]


def _runs_of(runner: Runner, text: str) -> list[_Run]:
    whole = list(runner.whole.finditer(text)) if runner.whole else []
    matches = whole or runner.figures[-1].finditer(text)
    found = [_Run(match.start(), _said(match, runner.joint), runner) for match in matches]
    if runner.parts:
        found = [run for run in found if runner.parts not in run.figures] or found
    if runner.counts:
        found = [_joined(group) for group in _grouped(found, runner.counts)]
    if runner.each and len(found) > 1:
        ran = [run for run in found if not run.is_empty] or found
        found = [found[0]._replace(figures=_first_failed([run.figures for run in ran], runner.each, most=1))]
    return found


def _said(match: re.Match[str], joint: str) -> str:
    return one_line(joint.join(filter(None, match.groups())) or match[0])


def _grouped(found: Sequence[_Run], counts: Sequence[str]) -> list[list[_Run]]:
    """Return the figures of each run where they stand apart: another begins where their order does."""
    groups: list[list[_Run]] = []
    last = len(counts)
    for run in found:
        place = next((place for place, word in enumerate(counts) if word in run.figures), last)
        if place <= last:
            groups.append([])
        groups[-1].append(run)
        last = place
    return groups


def _joined(group: Sequence[_Run]) -> _Run:
    return group[0]._replace(figures=", ".join(run.figures for run in group))


def _first_failed(figures: Sequence[str], what: str, *, most: int) -> str:
    """Tell the first figures that report a failure, else the last, and how many others passed and failed."""
    failed = [each for each in figures if _FAILED.search(each)]
    told = failed[:most] or figures[-1:]
    others_failed = max(len(failed) - most, 0)
    others = {"failed": others_failed, "passed": len(figures) - len(told) - others_failed}
    counted = [f"{count} {came}" for came, count in others.items() if count]
    if not counted:
        return "; then ".join(told)
    number, _, came = counted[0].partition(" ")
    first = f"{number} other {what}{'' if number == '1' else 's'} {came}"
    return "; ".join([*told, ", ".join([first, *counted[1:]])])


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
    unlike = dict.fromkeys(other for _, other in others if other != name)
    file = name.partition("::")[0]
    for other in islice(unlike, _TOLD_NAMES):  # those of one file name it once
        of, _, test = other.partition("::")
        yield shorten(f"::{test}" if test and of == file else other, _NAME_CHARS)


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
