"""``trajcompress status``: how a run stands, while it works and after."""

from typing import Annotated

import typer

from trajcompress.cli import options


def status(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="The folder of a run, here or in a store.", show_default=False)
    ],
    watch: Annotated[bool, typer.Option("--watch", help="Look again every two seconds, until it ends.")] = False,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Show how far a run is: its state, rows, calls, cost, pace, and last errors.

    \b
        trajcompress status out/
        trajcompress status out/ --watch

    Nothing is changed, and no process is disturbed. audit, report and show read what is committed of a run.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    import json
    import sys
    import time

    from trajcompress.cli.readers import is_read
    from trajcompress.dataset.storage.location import location_of
    from trajcompress.results.status import in_lines, read_status

    again = "\x1b[H\x1b[J" if watch and sys.stdout.isatty() and not as_json else ""
    try:
        while True:
            found = read_status(location_of(folder))
            text = json.dumps(found.as_dict(), indent=None if watch else 2) if as_json else "\n".join(in_lines(found))
            typer.echo(f"{again}{text}")
            if not (watch and found.is_running and is_read()):
                return
            time.sleep(_EVERY_S)
    except KeyboardInterrupt:  # how one stops to watch
        return


_EVERY_S = 2.0
