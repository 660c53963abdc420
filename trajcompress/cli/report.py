"""``trajcompress report``: one page that shows what a run did."""

from functools import partial
from typing import Annotated

import typer

from trajcompress.cli import options


def report(
    folder: Annotated[
        str,
        typer.Argument(metavar="DIR", help="The run folder that compress or merge has written.", show_default=False),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write; - for stdout. [default: DIR/report.html]"
        ),
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Make one HTML page of a run: its figures, its plots, and its worst rows before and after.

    \b
        trajcompress report out/
        trajcompress report out/ -o report.html

    The page opens without a network. It quotes rows, secrets taken out unless the run had --redact off.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    options.stay_offline()

    from trajcompress.cli.printing import print_utf8
    from trajcompress.dataset.storage.location import location_of
    from trajcompress.results.page_file import check_page_file, write_page
    from trajcompress.results.report.build import build_report
    from trajcompress.run.folder.run_folder import RunFolder

    note = partial(typer.echo, err=True)
    if output == "-":
        print_utf8(build_report(location_of(folder), note))
        return
    place = location_of(folder)
    path = location_of(output) if output else RunFolder(place).report
    if place.is_dir():  # else that is what is wrong
        check_page_file(path, "-o")
    page = build_report(place, note)
    write_page(page, path, "-o")
    typer.echo(f"{path}: {len(page.encode()) / 1000:,.0f} kB", err=True)
