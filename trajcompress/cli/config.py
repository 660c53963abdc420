"""``trajcompress config``: the settings as a run would see them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:  # importing pydantic would slow every --help down
    from trajcompress.settings import Resolved

app = typer.Typer(help="Look at the settings.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Look at the settings."""  # makes `show` a subcommand even though it is the only one


@app.command()
def show(
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="YAML file of settings."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print every setting, its value and where it came from. Keys are masked."""
    from trajcompress.settings import resolve

    resolved = resolve({}, config)
    rows = _rows(resolved)
    variable, key, origin = _key_row(resolved)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "settings": {name: {"value": value, "origin": where} for name, value, where in rows},
                    "api_key": {"variable": variable, "value": key, "origin": origin},
                    "notes": resolved.notes,
                },
                ensure_ascii=False,
                indent=2,
            ),
        )
        return
    _print_table([(name, json.dumps(value, ensure_ascii=False), where) for name, value, where in rows])
    typer.echo(f"\n{variable}: {key or 'not set'}" + (f", from {origin}" if origin else ""))
    for note in resolved.notes:
        typer.echo(note, err=True)


def _rows(resolved: Resolved) -> list[tuple[str, Any, str]]:
    return [(key, value, resolved.origins[key]) for key, value in resolved.settings.masked().items()]


def _key_row(resolved: Resolved) -> tuple[str, str | None, str | None]:
    from trajcompress.settings.credentials import locate_api_key, mask_key

    found = locate_api_key(resolved.settings)
    variable = resolved.settings.summarization.api_key_env
    return (variable, mask_key(found[0]), found[1]) if found else (variable, None, None)


def _print_table(rows: list[tuple[str, str, str]]) -> None:
    """Fit the table to a terminal; elsewhere print whole lines, so that a program can search them."""
    header = ("key", "value", "origin")
    if not sys.stdout.isatty():
        widths = [max(len(row[column]) for row in (header, *rows)) for column in (0, 1)]
        for key, value, origin in (header, *rows):
            typer.echo(f"{key:<{widths[0]}}  {value:<{widths[1]}}  {origin}")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
