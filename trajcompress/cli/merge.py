"""``trajcompress merge``: shards into one dataset."""

from typing import Annotated

import typer

from trajcompress.cli import options


def merge(
    folders: Annotated[
        list[str], typer.Argument(metavar="DIR...", help="The run folders of all shards.", show_default=False)
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Run folder to write, here or in a store.")
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in the folder.")] = False,
    quiet: options.Quiet = False,
    as_json: options.Totals = False,
    debug: options.Debug = False,
) -> None:
    """Join the runs of all shards of an input into what one run would have written.

    \b
    On each of three machines, I being 1, 2 and 3:
        trajcompress compress data/ --shard I/3 --output shard-I
    then, where the input can be read:
        trajcompress merge shard-1 shard-2 shard-3 --output out

    The input is read once more; nothing is counted or summarised again.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from trajcompress.cli.progress import TerminalReporter
    from trajcompress.cli.tables import print_result
    from trajcompress.run.merge import merge as merge_runs

    with TerminalReporter(quiet=quiet) as reporter:
        result = merge_runs(folders, output, reporter, overwrite=overwrite)
    print_result(result, quiet=quiet, as_json=as_json)
