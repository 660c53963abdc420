"""An audit, start to end: find the metrics, add them up, judge them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError, SettingsError
from trajcompress.results.audit.export import check_export, export_rows
from trajcompress.results.audit.figures import AuditedRow, Figures, Kind, add_up
from trajcompress.results.audit.files import MetricsFile, find_metrics
from trajcompress.results.audit.gates import GateResult, Limits, judge
from trajcompress.results.audit.overlap import refuse_same_rows
from trajcompress.results.audit.query import Question, read_figures
from trajcompress.results.audit.where import parse_condition

NEAR = Decimal("0.95")
_TROUBLE: tuple[Kind, ...] = ("over_limit", "failed", "rejected")


@dataclass(frozen=True, slots=True)
class Asked:
    """What an audit is asked. ``near`` None is :data:`NEAR` where the target is known; ``target`` is in tokens.

    ``new_only`` leaves out the faults that the input had.
    """

    paths: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    where: str | None = None
    near: Decimal | None = None
    target: int | None = None
    examples: int = 5
    export: Path | None = None
    new_only: bool = False


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found. ``near`` is None where no target was known, ``exported`` where nothing was to be.

    ``notes`` are what is to be known of the runs besides.
    """

    files: tuple[tuple[MetricsFile, Figures], ...]
    total: Figures
    gates: tuple[GateResult, ...]
    where: str | None
    near: Decimal | None
    exported: int | None = None
    notes: tuple[str, ...] = ()
    new_only: bool = False

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return all(gate.passed for gate in self.gates)

    @property
    def failed_gates(self) -> tuple[GateResult, ...]:
        """The gates that did not pass."""
        return tuple(gate for gate in self.gates if not gate.passed)

    def trouble(self) -> tuple[int, tuple[AuditedRow, ...]]:
        """Return how many rows, counted once for each kind, are over the limit, failed or rejected, and the first."""
        return sum(self.total.count(kind) for kind in _TROUBLE), self.total.examples(*_TROUBLE)


def audit(asked: Asked) -> AuditReport:
    """Audit the metrics of one run or several.

    Raises:
        InputError: there are no metrics, or they cannot be read or lack a column.
        SettingsError: the condition is none, or the target is needed and not known.
        OutputError: the selected rows cannot be written.
    """
    condition = parse_condition(asked.where) if asked.where is not None else None
    files = tuple(_with_target(find_metrics(path), asked) for path in asked.paths)
    _check_each_once(files)
    if asked.limits != Limits() and (unfinished := [file for file in files if file.so_far]):
        raise InputError(f"{unfinished[0].note}; gates judge whole runs: leave them out to look at this one")
    notes = [file.note for file in files if file.note]
    if len(files) > 1:
        refuse_same_rows(files, condition, notes.append)
    if asked.export is not None:
        check_export(asked.export, files)
    near = (asked.near or NEAR) if any(file.target is not None for file in files) else None
    question = Question(condition, near, asked.limits.max_ratio, asked.examples)
    found = tuple((file, read_figures(file, question)) for file in files)
    total = add_up([figures for _, figures in found], asked.examples)
    exported = export_rows(files, condition, asked.export) if asked.export is not None else None
    if asked.new_only and not total.faults_known:
        old = next(file for file, figures in found if not figures.faults_known)
        raise InputError(
            f"{old.name}: an earlier version wrote the metrics, which do not say what was invalid; "
            "`trajcompress check --new-only`, given the run folder, reads the rows for it"
        )
    gates = judge(total, asked.limits, asked.examples)
    return AuditReport(found, total, gates, asked.where, near, exported, tuple(notes), asked.new_only)


def _check_each_once(files: Sequence[MetricsFile]) -> None:
    seen: dict[Location, str] = {}
    for file in files:
        path = file.path.resolve()
        if path in seen:
            raise InputError(f"{file.name}: the same metrics as {seen[path]}; name them once")
        seen[path] = file.name


def _with_target(file: MetricsFile, asked: Asked) -> MetricsFile:
    target = file.target if asked.target is None else asked.target
    if target is None and asked.near is not None:
        raise SettingsError(f"--near: the target of {file.name} is not known; add --target-max-tokens N")
    return replace(file, target=target)
