"""``trajcompress show``: one row before and after."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from trajcompress.cli import options


def show(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder of a run.", show_default=False)],
    row: Annotated[
        str,
        typer.Argument(
            metavar="ID|ROW",
            help="A trajectory's id; a row of the run, counted from 0 as in metrics.parquet; FILE:ROW, counted so, "
            "too; or 'FILE:line N', counted from 1, as rows are named elsewhere.",
            show_default=False,
        ),
    ],
    full: Annotated[bool, typer.Option("--full", help="Show whole turns, not a line of each.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: metrics, both rows, the turns.")] = False,
    web: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write one HTML page that needs nothing else; - for standard output."),
    ] = None,
    pager: Annotated[
        bool, typer.Option("--pager/--no-pager", help="Page what is longer than the terminal, with $PAGER.")
    ] = True,
    debug: options.Debug = False,
) -> None:
    """Show one row before and after: its turns, what was protected, what was replaced, and by what.

    \b
        trajcompress show out/ agent-00001
        trajcompress show out/ 17 --full
        trajcompress show out/ rows.jsonl:17 --web row.html

    Facts that kept turns need are marked in the summary. The row is read again from the input; nothing is sent or
    fetched.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    options.stay_offline()

    from trajcompress.dataset.storage.location import location_of
    from trajcompress.errors import UsageError
    from trajcompress.planning.advice import advise
    from trajcompress.results.show.load import load_row

    if as_json and web is not None:
        raise UsageError("--json and --web: choose one")
    shown = load_row(location_of(folder), row, advise)
    if as_json:
        from trajcompress.results.show.data import as_json as to_json

        typer.echo(to_json(shown))
    elif web is not None:
        from trajcompress.cli.printing import print_utf8
        from trajcompress.results.page_file import check_page_file, write_page
        from trajcompress.results.show.html import page

        if web == "-":
            print_utf8(page(shown.view))
            return
        check_page_file(Path(web), "--web")
        write_page(page(shown.view), Path(web), "--web")
        typer.echo(web, err=True)
    else:
        from trajcompress.cli.printing import print_paged
        from trajcompress.results.show.terminal import render

        on_terminal = sys.stdout.isatty()
        color = on_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        width = shutil.get_terminal_size((100, 40)).columns
        print_paged(render(shown.view, width=width, full=full, color=color), page=pager and on_terminal)
