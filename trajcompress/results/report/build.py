"""Making the report of a run: from its folder to a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any

from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError
from trajcompress.metrics.files import read_totals
from trajcompress.metrics.remedies import remedies
from trajcompress.metrics.row import RowMetrics
from trajcompress.results.audit.files import MetricsFile, open_metrics
from trajcompress.results.report.excerpt import error_of, make_excerpt
from trajcompress.results.report.figures import Figures, Place
from trajcompress.results.report.page import ShownRow, about_run, all_worst, render, tiles_of, worst_of
from trajcompress.results.report.parts import short_names
from trajcompress.results.report.sections import plots_of
from trajcompress.results.report.tally import tally
from trajcompress.results.show.safe import printable
from trajcompress.run.folder.manifest import REMEDY, UNCHECKED, first_damage
from trajcompress.run.past.pairs import find_pairs
from trajcompress.run.past.past_run import PastRun, open_run

_BATCH_ROWS = 16_384


def build_report(folder: Location, note: Callable[[str], None]) -> str:
    """Return the page of a run as HTML; ``note`` is called with what is to be known besides.

    Raises:
        InputError: the folder holds no finished run, its metrics cannot be read, or its files are damaged.
    """
    run = open_run(folder)
    if run.so_far is not None:
        note(run.so_far.note)
    elif run.files is None:
        note(f"{folder}: {UNCHECKED}")
    elif why := first_damage(folder, run.files):
        raise InputError(f"{why}; {REMEDY}")
    figures = _read_figures(run)
    names = short_names(run.inputs)
    plots = plots_of(figures, names)
    rows = _read_rows(run, figures, names)
    return render(
        run=printable(folder.resolve().name),
        about=about_run(run.run_json, figures, run.so_far.state if run.so_far else None),
        tiles=tiles_of(figures, run.settings.flat()),
        plots=plots,
        worst=worst_of(figures, rows),
        rows=list(rows.values()),
    )


def _read_figures(run: PastRun) -> Figures:
    target = run.settings.compression.target_max_tokens
    with closing(open_metrics(MetricsFile(str(run.folder.path), run.folder.metrics, target))) as file:
        totals = read_totals(run.folder.metrics)
        return tally(file.iter_batches(_BATCH_ROWS), totals, target=target)


def _read_rows(run: PastRun, figures: Figures, names: dict[str, str]) -> dict[Place, ShownRow]:
    """Read the worst rows before and after, in the order of their lists."""
    settings = run.settings.flat()
    redacted = run.settings.summarization.redact != "off"
    places = [worst.place for worst in all_worst(figures)]
    pairs = {}
    for pair in find_pairs(run.folder.path, places):
        metrics = pair.metrics
        pairs[metrics.source_file, metrics.source_row] = metrics, make_excerpt(pair, redacted=redacted)
    return {
        place: ShownRow(
            anchor=f"row-{number}",
            name=f"{names[place[0]]}, row {place[1]:,}",
            metrics=pairs[place][0],
            error=error_of(pairs[place][0], redacted=redacted),
            excerpt=pairs[place][1],
            helps=_helps(pairs[place][0], settings),
        )
        for number, place in enumerate(places, 1)
    }


def _helps(metrics: RowMetrics, settings: Mapping[str, Any]) -> list[str]:
    return [each.words for each in remedies(metrics, settings)] if metrics.still_over_limit else []
