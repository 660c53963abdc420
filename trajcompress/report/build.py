"""Making the report of a run: from its folder to a page."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from trajcompress.audit.files import MetricsFile, open_metrics
from trajcompress.dataset.durable import write_durably
from trajcompress.errors import OutputError
from trajcompress.report.aggregate import aggregate
from trajcompress.report.excerpt import error_of, make_excerpt
from trajcompress.report.figures import Figures, Place
from trajcompress.report.page import GENERATOR, ShownRow, about_run, all_worst, render, tiles_of, worst_of
from trajcompress.report.sections import plots_of
from trajcompress.report.text import short_names
from trajcompress.run.pairs import find_pairs
from trajcompress.run.past import PastRun, open_run
from trajcompress.show.safe import printable

_BATCH_ROWS = 16_384
_HEAD_BYTES = 1000


def build_report(folder: Path) -> str:
    """Return the page of a run as HTML.

    Raises:
        InputError: the folder holds no finished run, or its metrics cannot be read.
        UsageError: the library that draws is not installed.
    """
    run = open_run(folder)
    record = json.loads(run.folder.run.read_bytes())
    figures = _read_figures(run)
    names = short_names(run.inputs)
    plots = plots_of(figures, names)
    rows = _read_rows(run, figures, names)
    return render(
        run=printable(folder.resolve().name),
        about=about_run(record, figures),
        tiles=tiles_of(figures),
        plots=plots,
        worst=worst_of(figures, rows),
        rows=list(rows.values()),
    )


def check_output(output: Path) -> None:
    """Make sure that a page can be written there, in the place of an earlier one; no other file is replaced.

    Raises:
        OutputError: there is something else, or no such folder.
    """
    try:
        if output.exists() and not _is_report(output):
            raise OutputError(f"{output}: exists and is no report; choose another -o")
    except OSError as error:
        raise OutputError(f"{output}: cannot be read: {error.strerror or error}; choose another -o") from error
    if not output.parent.is_dir():
        raise OutputError(f"{output}: there is no folder {output.parent}; make it first, or choose another -o")


def write_report(page: str, output: Path) -> None:
    """Write a page; see :func:`check_output`.

    Raises:
        OutputError: the file cannot be written.
    """
    try:
        write_durably(output.resolve(), page.encode())  # a link stays one
    except OSError as error:
        raise OutputError(f"{output}: cannot be written: {error.strerror or error}; choose another -o") from error


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return f'content="{GENERATOR}"'.encode() in file.read(_HEAD_BYTES)


def _read_figures(run: PastRun) -> Figures:
    target = run.settings.compression.target_max_tokens
    with closing(open_metrics(MetricsFile(str(run.folder.path), run.folder.metrics, target))) as file:
        return aggregate(file.iter_batches(_BATCH_ROWS), target=target, rows=file.metadata.num_rows)


def _read_rows(run: PastRun, figures: Figures, names: dict[str, str]) -> dict[Place, ShownRow]:
    """Read the worst rows before and after, in the order of their lists."""
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
        )
        for number, place in enumerate(places, 1)
    }
