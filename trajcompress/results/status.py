"""How a run stands: its state, what is committed, and what its process says of itself while it works."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trajcompress.dataset.storage.location import Location
from trajcompress.metrics.files import read_totals
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.parts.store import PartStore
from trajcompress.run.past.past_run import reading_run_json
from trajcompress.run.past.unfinished import ENDED, committed_metrics, reading_while_it_works, standing
from trajcompress.wording import command_to_show, counted, duration, place_in, printable

_MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How a run stands.

    Args:
        path: its folder, as it was named.
        state: as in ``run.json``, but ``running`` only where a process works on it, and ``killed`` where one did.
        committed: figures of the rows that are committed, as in ``summary.json``.
        session: what the last process has said of itself; None for a run of an earlier version.
    """

    path: str
    state: str
    committed: dict[str, Any]
    session: dict[str, Any] | None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    @property
    def is_running(self) -> bool:
        """Whether a process works on it."""
        return self.state == "running"


@reading_while_it_works
def read_status(path: Location) -> RunStatus:
    """Look at a run; nothing is changed, whatever works on it.

    Raises:
        InputError: the folder holds no run, or what is committed cannot be read.
    """
    folder = RunFolder(path)
    with reading_run_json(folder):
        run_json = json.loads(folder.run.read_bytes())
        noted = run_json["state"]
    has_ended = noted in ENDED and folder.metrics.is_file()
    if has_ended:
        totals = read_totals(folder.metrics)
    else:
        parts, _ = PartStore(folder).read()
        found = committed_metrics(folder, parts.values())
        totals = read_totals(*found) if found else Totals()
    return RunStatus(str(path), standing(folder, run_json), totals.as_dict(), _session(folder.progress))


def _session(path: Path) -> dict[str, Any] | None:
    with suppress(OSError, ValueError):
        value = json.loads(path.read_bytes())
        return value if isinstance(value, dict) and {"began", "updated", "elapsed_s"} <= value.keys() else None
    return None


def in_lines(status: RunStatus, now: datetime | None = None) -> list[str]:
    """Return a status as lines of text, names before values."""
    figures = list(_figures(status, now or datetime.now(UTC)))
    width = max(len(name) for name, _ in figures)
    errors = status.session.get("last_errors", []) if status.session else []
    lines = [printable(status.path), *(f"  {name:<{width}}  {value}" for name, value in figures)]
    return lines + (
        ["last errors", *(f"  {_error(each)}" for each in errors), *_how_to_look(status)] if errors else []
    )


def _figures(status: RunStatus, now: datetime) -> Iterator[tuple[str, str]]:
    session, committed = status.session, status.committed
    yield "state", _state(status)
    yield "rows committed", _rows(committed)
    if session is not None and not _is_over(status):
        yield "rows done", f"{session.get('rows', 0):,} in this session"
    if session is not None and session.get("calls") and not _is_over(status):
        failed, still = session.get("calls_failed", 0), session.get("calls_open", 0)
        opened = f", {still:,} open" if still and status.is_running else ""
        yield "calls", f"{session['calls']:,} in this session{opened}, {failed:,} failed"
    elif committed["summarization_api_calls"]:
        yield "calls", f"{committed['summarization_api_calls']:,}, {committed['summarization_errors']:,} failed"
    if session is not None and status.state == "killed" and (session.get("calls") or session.get("calls_open")):
        yield "not counted", "calls of the last seconds before the kill, which may have been paid for"
    cost = session.get("cost_usd") if session and not _is_over(status) else committed["cost_usd"]
    if cost:
        yield "cost", f"${cost:,.4f}" + ("" if _is_over(status) else " in this session")
    if session is not None and status.is_running:
        yield "pace", _pace(session)
        if (paused := session.get("paused")) is not None:
            yield "paused", f"{max(0, paused['seconds']):.0f} s ({paused['why']})"
        yield "heard of", f"{duration((now - datetime.fromisoformat(session['updated'])).total_seconds())} ago"


def _is_over(status: RunStatus) -> bool:
    return status.state in ENDED


def _state(status: RunStatus) -> str:
    session = status.session
    if session is None or not status.is_running:
        return status.state if _is_over(status) else f"{status.state}; the same command goes on"
    share, left = session.get("share_done"), session.get("seconds_left")
    words = [f"running for {duration(session['elapsed_s'])}", f"process {session.get('pid')}"]
    words += [f"{share:.0%} done"] if share is not None else []
    return ", ".join(words + ([f"{duration(left)} left"] if left is not None else []))


def _rows(committed: dict[str, Any]) -> str:
    named = [(name, committed[name]) for name in ("compressed", "failed", "rejected")]
    named.append(("left out", committed["rows"] - committed["rejected"] - committed["in_dataset"]))
    return ", ".join([counted(committed["rows"], "row"), *(f"{rows:,} {name}" for name, rows in named if rows)])


def _pace(session: dict[str, Any]) -> str:
    minutes = max(session["elapsed_s"], 1) / _MINUTE_S
    rows = f"{session.get('rows', 0) / minutes:,.0f} rows a minute"
    return rows + (f", {session['calls'] / minutes:,.0f} calls" if session.get("calls") else "")


def _error(error: dict[str, Any]) -> str:
    where = _place(error)
    return printable(f"{error.get('time', '')}  {error.get('what', '')}{f'  {where}' if where else ''}")


def _place(error: dict[str, Any]) -> str:
    """Return the row of an error; nothing where it is of none."""
    file, row = error.get("source_file"), error.get("source_row")
    return place_in(file, row, error.get("source_line")) if file is not None and row is not None else ""


def _how_to_look(status: RunStatus) -> Iterator[str]:
    """Say how to look at the last row of the errors, once it is there to look at."""
    errors = status.session.get("last_errors", ()) if status.session and _is_over(status) else ()
    if place := next(filter(None, map(_place, reversed(errors))), ""):
        yield f"to look at one: {command_to_show(status.path, place)}"
