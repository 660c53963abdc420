"""``trajcompress compare``: runs side by side."""

from typing import Annotated

import typer

from trajcompress.cli import options


def compare(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Run folders, or Parquet files of metrics.", show_default=False),
    ],
    examples: Annotated[int, typer.Option(metavar="N", min=0, help="Rows to name of those that differ most.")] = 10,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
) -> None:
    """Compare runs over the same input: tokens, assistant tokens kept, rows still over, facts, calls, cost.

    \b
        trajcompress compare out-8k/ out-16k/
        trajcompress compare extractive/ gpt-5-mini/ --json

    Figures are of all rows of each run, and of the rows that all of them have: the same rows of inputs of the same
    name or content. Only metrics are read.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from trajcompress.cli.printing import terminal_width
    from trajcompress.results.compare.compute import compare as compare_runs

    comparison = compare_runs(paths, examples)
    for run in comparison.runs:
        if run.file.note:
            typer.echo(run.file.note, err=True)
    if as_json:
        from trajcompress.results.compare.data import as_json as to_json

        typer.echo(to_json(comparison))
        return
    from trajcompress.results.compare.table import render

    typer.echo(render(comparison, terminal_width()))
