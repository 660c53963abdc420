"""What an audit says to people, as titled tables: shared by the terminal, Markdown, and the log of a CI job."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trajcompress.metrics.reasons import OUTCOMES, explain
from trajcompress.metrics.remedies import largest_turn, remedies
from trajcompress.metrics.totals import Totals
from trajcompress.results.audit.figures import Group, Kind, brief, describe, number
from trajcompress.results.audit.formats.faults import faults
from trajcompress.results.audit.formats.section import Section, named
from trajcompress.results.audit.gates import GateResult, percent, share
from trajcompress.results.audit.report import AuditReport
from trajcompress.results.kept import Kept, least_first
from trajcompress.wording import counted

_MOST_INPUTS = 10


def sections(report: AuditReport) -> Iterator[Section]:
    """Yield what there is to say, the verdicts last."""
    total = report.total
    yield _totals(report)
    if len(report.files) > 1:
        yield _paths(report)
    yield from _assistant_kept(report)
    if total.count("over_limit"):
        yield from _over_limit(report)
    if total.totals.not_handled:
        yield from _not_handled(report)
    yield from faults(report)
    if total.count("facts_lost"):
        yield _facts_lost(report)
    if total.count("near_limit"):
        yield _near_limit(report)
    if report.gates:
        yield _gates(report)
    if any(gate.rows for gate in report.gates):
        yield _behind_gates(report)


def _totals(report: AuditReport) -> Section:
    total = report.total.totals
    rows = [(OUTCOMES.get(name, brief(name)), number(total.outcomes[name])) for name in _ordered(total)]
    if left_out := total.rows - total.outcomes["rejected"] - total.in_dataset:
        rows.append(("of these left out of the dataset", number(left_out)))
    rows.append(("still over the limit", share(total.still_over_limit, total.rows)))
    if total.rows_written > total.in_dataset:
        rows.append(("rows written, in segments", number(total.rows_written)))
        rows.append(("segments over the limit", share(total.rows_over_limit, total.rows_written)))
    if report.near is not None:
        rows.append((f"within the limit, from {report.near:f} of it", number(report.total.count("near_limit"))))
    if total.input_invalid and not report.new_only:
        rows.append(("invalid for the target in the input already", share(total.input_invalid, total.rows)))
    if total.newly_invalid or (report.new_only and report.total.faults_known):
        rows.append(("invalid by what the run did", share(total.newly_invalid, total.rows)))
    rows += [
        ("tokens before", number(total.original_tokens)),
        ("tokens after", share(total.compressed_tokens, total.original_tokens)),
        *(
            [
                (
                    "assistant tokens kept, of rows over it",
                    share(total.assistant_tokens_kept, total.assistant_tokens_original),
                )
            ]
            if report.total.assistant_known
            else []
        ),
        ("facts needed", number(total.facts_needed)),
        ("facts kept", share(total.facts_kept, total.facts_needed)),
    ]
    if report.total.answers_judged and total.asked_model:
        again = total.no_summary - total.no_summary_failed
        rows += [
            ("answered with no summary, asked again", share(again, total.rows)),
            ("answered with no summary, failed", share(total.no_summary_failed, total.rows)),
        ]
    where = f" where {brief(report.where)}" if report.where else ""
    return Section(
        f"{counted(total.rows, 'row')}{where}", ("figure", "value"), tuple(rows), texts=frozenset({"figure"})
    )


def _paths(report: AuditReport) -> Section:
    header = ("path", "rows", "over the limit", "failed", "rejected", "tokens before", "tokens after", "facts lost")
    rows = tuple(
        (
            brief(file.name),
            *map(number, (totals.rows, totals.still_over_limit, totals.outcomes["failed"])),
            *map(number, (totals.outcomes["rejected"], totals.original_tokens, totals.compressed_tokens)),
            number(totals.facts_needed - totals.facts_kept),
        )
        for file, totals in ((file, figures.totals) for file, figures in report.files)
    )
    return Section("By path", header, rows, quoted=frozenset({"path"}))


def _assistant_kept(report: AuditReport) -> Iterator[Section]:
    """Show where the assistant's tokens went: by length of rows, and by input where there are several."""
    by_length, by_input = report.total.kept_by_length, report.total.kept_by_input
    title = "Assistant tokens kept, of rows over the target"
    if len(by_length) > 1:
        header = ("length before", "rows", "before", "kept")
        yield Section(f"{title}, by length", header, _kept_rows(by_length), texts=frozenset({"length before"}))
    if len(by_input) > 1:
        shown = least_first(by_input)[:_MOST_INPUTS]
        more = f"; the {_MOST_INPUTS} least of {len(by_input):,}" if len(by_input) > len(shown) else ""
        header = ("path", "rows", "before", "kept")
        yield Section(f"{title}, by input{more}", header, _kept_rows(shown), quoted=frozenset({"path"}))


def _kept_rows(groups: Iterable[Kept]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (brief(each.name), number(each.rows), number(each.original), share(each.kept, each.original))
        for each in groups
    )


def _over_limit(report: AuditReport) -> Iterator[Section]:
    groups = report.total.groups["over_limit"]
    rows = tuple(
        (
            brief(group.cause or ""),
            number(group.rows),
            percent(group.rows, report.total.totals.rows),
            _helps(report, group),
        )
        for group in groups
    )
    header, texts = ("cause", "rows", "of all", "what helps"), frozenset({"what helps"})
    yield Section("Still over the limit, by cause", header, rows, texts, quoted=frozenset({"cause"}))
    yield named(
        report,
        "The largest of each cause",
        ("cause", "tokens", "head", "tail", "largest turn"),
        [
            (
                row,
                (
                    brief(group.cause or ""),
                    *map(number, (row.size, row.head_tokens, row.tail_tokens)),
                    brief(str(largest_turn(row) or "-")),
                ),
            )
            for group in groups
            for row in group.examples
        ],
    )


def _helps(report: AuditReport, group: Group) -> str:
    """Say what helps the rows of a cause: what bears on those that are named and is not in force already."""
    settings = {file.name: file.settings for file, _ in report.files}
    known = [row for row in group.examples if largest_turn(row) is not None]
    found = [remedy for row in known for remedy in remedies(row, settings[row.path])]
    largest = max((each.target for each in found if each.target is not None), default=None)
    words = dict.fromkeys(each.words for each in found if not each.of_turn and each.target in (None, largest))
    if any(each.of_turn for each in found):
        words["shorter turns in the input, the largest of which are named below"] = None
    return "; ".join(words) if words else explain(group.cause or "", "unchanged").remedy


def _not_handled(report: AuditReport) -> Iterator[Section]:
    kinds: tuple[Kind, ...] = ("failed", "rejected")
    found = [(kind, group) for kind in kinds for group in report.total.groups.get(kind, ())]
    rows = tuple(
        (kind, brief(group.cause or ""), number(group.rows), explain(group.cause or "", kind).remedy or "-")
        for kind, group in found
    )
    header, texts = ("outcome", "reason", "rows", "what helps"), frozenset({"outcome", "what helps"})
    yield Section("Failed and rejected, by reason", header, rows, texts, quoted=frozenset({"reason"}))
    yield named(
        report,
        "The largest of each reason",
        ("reason", "tokens"),
        [
            (row, (brief(group.cause or ""), number(row.original_tokens)))
            for _, group in found
            for row in group.examples
        ],
    )


def _facts_lost(report: AuditReport) -> Section:
    return named(
        report,
        f"{counted(report.total.count('facts_lost'), 'row')} lost facts; the most first",
        ("needed", "kept", "lost"),
        [
            (row, tuple(map(number, (row.facts_needed, row.facts_kept, row.size))))
            for row in report.total.examples("facts_lost")
        ],
    )


def _near_limit(report: AuditReport) -> Section:
    return named(
        report,
        f"{counted(report.total.count('near_limit'), 'row')} near the limit; the largest first",
        ("tokens",),
        [(row, (number(row.size),)) for row in report.total.examples("near_limit")],
    )


def _gates(report: AuditReport) -> Section:
    rows = tuple((verdict(gate), gate.name, gate.limit, gate.figure) for gate in report.gates)
    header = ("gate", "name", "limit", "figure")
    return Section("Gates", header, rows, texts=frozenset(header))


def _behind_gates(report: AuditReport) -> Section:
    return named(
        report,
        "Rows behind the gates that failed; the largest first",
        ("gate", "what"),
        [(row, (gate.name, describe(row))) for gate in report.failed_gates for row in gate.rows],
    )


def verdict(gate: GateResult) -> str:
    """Return the word for how a gate ended."""
    return "pass" if gate.passed else "fail"


def _ordered(totals: Totals) -> list[str]:
    return [*OUTCOMES, *sorted(totals.outcomes.keys() - OUTCOMES.keys())]
