"""Gates: limits that figures must keep, each with its verdict and the rows behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from trajcompress.processes.late_patterns import late_re
from trajcompress.results.audit.figures import AuditedRow, Figures, Kind
from trajcompress.settings.values import FailureLimit

_RATIO = late_re(r"\d+(\.\d+)?|\.\d+")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is asked of the figures; None asks nothing. The least shares are percentages."""

    max_over_limit: FailureLimit | None = None
    max_failed: FailureLimit | None = None
    max_left_out: FailureLimit | None = None
    min_facts_kept: Decimal | None = None
    min_assistant_kept: Decimal | None = None
    max_ratio: Decimal | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """A verdict. ``rows`` are the first of the ``offending`` rows of a gate that failed, largest first."""

    name: str
    limit: str
    figure: str
    passed: bool
    offending: int = 0
    rows: tuple[AuditedRow, ...] = ()


def parse_percentage(text: str) -> Decimal:
    """Read ``98%``.

    Raises:
        ValueError: it is no percentage from 0% to 100%.
    """
    try:
        limit = FailureLimit.parse(text)
    except ValueError:
        limit = FailureLimit()
    if not limit.percent:
        raise ValueError("should be a percentage from 0% to 100%, such as 98%")
    return limit.number


def parse_ratio(text: str) -> Decimal:
    """Read ``0.6``.

    Raises:
        ValueError: it is no such number.
    """
    if _RATIO.fullmatch(text.strip()) is None:
        raise ValueError("should be compressed by original tokens, a number such as 0.6")
    return Decimal(text.strip())


def judge(figures: Figures, limits: Limits, examples: int) -> tuple[GateResult, ...]:
    """Return a verdict for each limit, with at most ``examples`` rows.

    Where there are no rows nothing is shown to be good, so all fail.
    """
    gates = []
    if limits.max_over_limit is not None:
        gates.append(_at_most(figures, "max-over-limit", limits.max_over_limit, "over_limit"))
    if limits.max_failed is not None:
        gates.append(_at_most(figures, "max-failed", limits.max_failed, "failed", "rejected"))
    if limits.max_left_out is not None:
        gates.append(_at_most(figures, "max-left-out", limits.max_left_out, "left_out"))
    if limits.min_facts_kept is not None:
        gates.append(_facts_kept(figures, limits.min_facts_kept))
    if limits.min_assistant_kept is not None:
        gates.append(_assistant_kept(figures, limits.min_assistant_kept))
    if limits.max_ratio is not None:
        gates.append(_ratio(figures, limits.max_ratio))
    return tuple(replace(gate, rows=gate.rows[:examples]) for gate in gates)


def share(part: int, whole: int) -> str:
    """Write a number, and what share it is of a whole that is there."""
    return f"{part:,} ({percent(part, whole)})" if whole else f"{part:,}"


def percent(part: int, whole: int, digits: int = 1) -> str:
    """Write a share of something that is there."""
    return f"{100 * part / whole:.{digits}f}%"


def _at_most(figures: Figures, name: str, limit: FailureLimit, *kinds: Kind) -> GateResult:
    rows = sum(figures.count(kind) for kind in kinds)
    whole = figures.totals.rows
    figure = f"{rows:,} of {whole:,} rows{_share(rows, whole)}"
    passed = whole > 0 and not limit.exceeded(rows, whole)
    return _verdict(figures, name, f"at most {limit}", figure if whole else "no rows", passed, *kinds)


def _facts_kept(figures: Figures, least: Decimal) -> GateResult:
    totals = figures.totals
    needed, kept = totals.facts_needed, totals.facts_kept
    figure = f"{kept:,} of {needed:,} facts{_share(kept, needed)}" if needed else "no facts needed"
    if totals.facts_unknown:
        figure = f"nobody looked up the facts of {totals.facts_unknown:,} compressed rows (--no-facts)"
    passed = totals.rows > 0 and kept * 100 >= least * needed and not totals.facts_unknown
    figure = figure if totals.rows else "no rows"
    return _verdict(figures, "min-facts-kept", f"at least {least}%", figure, passed, "facts_lost")


def _assistant_kept(figures: Figures, least: Decimal) -> GateResult:
    totals = figures.totals
    original, kept = totals.assistant_tokens_original, totals.assistant_tokens_kept
    figure = f"{kept:,} of {original:,} tokens of rows over the target{_share(kept, original)}"
    if not original:
        figure = "no row over the target has assistant tokens"
    if not figures.assistant_known:
        figure = "the metrics do not say; an earlier version wrote them"
    passed = totals.rows > 0 and figures.assistant_known and kept * 100 >= least * original
    figure = figure if totals.rows else "no rows"
    return _verdict(figures, "min-assistant-kept", f"at least {least}%", figure, passed, "assistant_lost")


def _ratio(figures: Figures, most: Decimal) -> GateResult:
    original, compressed = figures.totals.original_tokens, figures.totals.compressed_tokens
    passed = original > 0 and compressed <= most * original
    figure = f"{compressed / original:.4g} ({compressed:,} of {original:,} tokens)" if original else "no tokens"
    return _verdict(figures, "max-ratio", f"at most {most}", figure, passed, "over_ratio")


def _share(part: int, whole: int) -> str:
    """Write a share so exactly that it does not look as if it kept a limit that it broke."""
    return f" ({percent(part, whole, digits=4)})" if whole else ""


def _verdict(figures: Figures, name: str, limit: str, figure: str, passed: bool, *kinds: Kind) -> GateResult:
    if passed:
        return GateResult(name, limit, figure, passed=True)
    offending = sum(figures.count(kind) for kind in kinds)
    return GateResult(name, limit, figure, False, offending, figures.examples(*kinds))
