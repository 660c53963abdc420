"""``trajcompress push``: a finished run to the Hugging Face hub."""

import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from trajcompress.cli import options


def push(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="The folder of a finished run.", show_default=False)],
    repo: Annotated[
        str, typer.Argument(metavar="OWNER/NAME", help="The dataset repository; made if need be.", show_default=False)
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be published, and print the card; publish nothing.")
    ] = False,
    private: Annotated[bool, typer.Option("--private/--public", help="What a repository is made as.")] = True,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Publish a finished run as a dataset on the Hugging Face hub, with the token in HF_TOKEN.

    \b
        trajcompress push out/ ann/agents-16k --dry-run
        trajcompress push out/ ann/agents-16k

    Data, card, totals and metrics are published; rejected rows, and what tells of this machine, are not. An earlier
    push of a run is brought to this one. --push-to-hub of compress does the same.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from trajcompress.dataset.storage.location import location_of
    from trajcompress.run.past.push import check_name, check_push, check_run, prepare
    from trajcompress.run.past.push import push as publish

    check_name(repo)
    run = location_of(folder)
    for note in check_run(run):
        typer.echo(note, err=True)
    if dry_run:
        publication = prepare(run)
        typer.echo(f"{repo}, {'private' if private else 'public'} if it is new:")
        _list(publication.sizes)
        typer.echo(f"\n{publication.card}", nl=False)
        return
    check_push(repo)
    url = publish(run, repo, private=private, progress=not quiet and sys.stderr.isatty())
    if not quiet:
        typer.echo(f"pushed to {url}", err=True)


def _list(sizes: Mapping[str, int]) -> None:
    from trajcompress.wording import counted, in_bytes

    shown = {name: in_bytes(size) for name, size in sizes.items()}
    name_columns, size_columns = max(map(len, shown)), max(map(len, shown.values()))
    for name, size in shown.items():
        typer.echo(f"  {name:<{name_columns}}  {size:>{size_columns}}")
    typer.echo(f"{counted(len(sizes), 'file')}, {in_bytes(sum(sizes.values()))}")
