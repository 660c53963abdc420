"""``trajcompress config``: the settings as a run would see them, and files of settings to begin with."""

import json
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from trajcompress.cli import options
from trajcompress.cli.deferred import DeferredGroup
from trajcompress.settings import SETTINGS, Resolved, resolve
from trajcompress.settings.credentials import locate_api_key, mask_key
from trajcompress.settings.files import shipped_file

app = typer.Typer(cls=DeferredGroup, help="Write a file of settings, or look at the settings.", no_args_is_help=True)


Preset: TypeAlias = Literal["default", "15k", "32k", "128k"]
"""The files of ``configs/``."""


@app.command()
@options.takes(SETTINGS.values())
def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; - for standard output.")] = Path(
        "trajcompress.yaml"
    ),
    *,
    config: options.ConfigFile = None,
    preset: Annotated[
        Preset | None,
        typer.Option(
            help="A file as it is shipped. default: every setting with its default; the others: what a training "
            "window of that size wants. [default: the present settings]",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    debug: options.Debug = False,
    **given: Any,
) -> None:
    """Write a commented YAML file of the present settings, to edit and to give to compress with --config.

    Present are those of the options given here, which are those of compress, of the environment, .env and --config.
    Keys of an API are not written.
    """
    from trajcompress.errors import OutputError, SettingsError

    asked = {key: value for key, value in options.by_key(given).items() if value is not None}
    if preset and (asked or config):
        what = SETTINGS[next(iter(asked))].flag if asked else "--config"
        raise SettingsError(f"{what}: --preset writes a file as it is shipped; leave one of them out")
    text = shipped_file(f"{preset}.yaml").read_text(encoding="utf-8") if preset else _present(asked, config)
    if str(file) == "-":
        typer.echo(text, nl=False)
        return
    try:
        with file.open("w" if force else "x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise OutputError(f"{file}: exists; --force replaces it") from None
    except OSError as error:
        raise OutputError(f"{file}: cannot be written: {error.strerror}") from error
    typer.echo(
        f"{file} is written; edit it, and: trajcompress compress INPUT --config {shlex.quote(str(file))}", err=True
    )


@app.command()
def show(
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="YAML file of settings.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print every setting, its value and where it came from. Keys are masked."""
    resolved = resolve({}, config)
    rows = _rows(resolved)
    variable, api_key, found_in = _key_row(resolved)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "settings": {
                        key: {"value": value, **({"means": means} if means else {}), "origin": origin}
                        for key, value, means, origin in rows
                    },
                    "api_key": {"variable": variable, "value": api_key, "origin": found_in},
                    "notes": resolved.notes,
                },
                ensure_ascii=False,
                indent=2,
            )
        )
        return
    _print_table(
        [
            (key, json.dumps(value, ensure_ascii=False) + (f": {means}" if means else ""), origin)
            for key, value, means, origin in rows
        ]
    )
    typer.echo(f"\n{variable}: {api_key or 'not set'}" + (f", from {found_in}" if found_in else ""))
    for note in resolved.notes:
        typer.echo(note, err=True)


def _present(asked: dict[str, Any], config: Path | None) -> str:
    from trajcompress.settings.commented import HEAD, commented

    resolved = resolve(asked, config)
    values = resolved.settings.flat()
    for note in resolved.notes:
        typer.echo(note, err=True)
    for key in ("output.overwrite", "summarization.summarizer"):
        value = values[key]
        if value is True or (isinstance(value, str) and ":" in value):
            typer.echo(f"{key} {value} is not written: it is taken from the command line alone", err=True)
            values[key] = SETTINGS[key].default
    head = f"# The settings of trajcompress as they were when this was written.\n#\n{HEAD}"
    return head + commented(values, resolved.origins)


def _rows(resolved: Resolved) -> list[tuple[str, Any, str, str]]:
    """Return each key, its value, what happens where that is null, and its origin."""
    return [
        (key, value, SETTINGS[key].default_text if value is None else "", resolved.origins[key])
        for key, value in resolved.settings.flat().items()
    ]


def _key_row(resolved: Resolved) -> tuple[str, str | None, str | None]:
    found = locate_api_key(resolved.settings)
    variable = resolved.settings.summarization.api_key_env
    return (variable, mask_key(found[0]), found[1]) if found else (variable, None, None)


def _print_table(rows: list[tuple[str, str, str]]) -> None:
    """Print a table, or in a terminal too narrow for one a line for each setting."""
    from trajcompress.cli.printing import terminal_width, wrapped
    from trajcompress.results.text_table import Columns, lines_of

    header, width = ("key", "value", "origin"), terminal_width()
    lines = lines_of(Columns(header, texts=frozenset(header)), rows, width)
    if width is not None and max(map(len, lines)) > width:
        lines = [wrapped(f"{key}: {value}  ({origin})", width, hanging="    ") for key, value, origin in rows]
    for line in lines:
        typer.echo(line)
