"""What commands share: the options of settings, made from their declarations, and those of every command."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import typer

from trajcompress.errors import SettingsError
from trajcompress.settings import KEYWORDS, SETTINGS, Resolved, Settings
from trajcompress.settings.declare import Group, Setting
from trajcompress.wording import printable

Command = TypeVar("Command", bound=Callable[..., None])

Inputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT...",
        help="Files, folders (searched recursively) or globs of .jsonl, .json, .traj and .parquet, each also "
        ".gz, .bz2, .xz or .zst; a save_to_disk folder; - for JSON lines on standard input. Also s3://, gs://, "
        "az:// and hf://datasets/ places.",
        show_default=False,
    ),
]
ConfigFile: TypeAlias = Annotated[Path | None, typer.Option("--config", "-c", metavar="FILE", help="YAML settings.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Shown: TypeAlias = Annotated[
    Literal["auto", "bar", "lines", "off"],
    typer.Option(
        "--progress",
        rich_help_panel=Group.RUN,
        help="How far it is: a bar, a line every 30 seconds, or nothing; auto: a bar on a terminal, else lines.",
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Totals: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the totals as JSON on stdout.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def takes(settings: Iterable[Setting]) -> Callable[[Command], Command]:
    """Give a command the options of settings: they stand where its keywords begin, and come as its ``**given``."""

    def with_options(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        start = next((place for place, each in enumerate(own) if each.kind is each.KEYWORD_ONLY), len(own))
        options = [_parameter(setting) for setting in settings if setting.usage]
        parameters = [each.replace(kind=each.KEYWORD_ONLY) for each in (*own[:start], *options, *own[start:])]
        command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return command

    return with_options


def by_key(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that the options of :func:`takes` have, by dotted key."""
    return {KEYWORDS[name]: value for name, value in given.items()}


def _parameter(setting: Setting) -> inspect.Parameter:
    option = typer.Option(
        *setting.names,
        metavar=setting.metavar,
        help=f"{setting.help}{_default(setting)}",
        rich_help_panel=setting.group,
    )
    annotation: Any = Annotated[_type(setting) | None, option]
    return inspect.Parameter(setting.keyword, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _type(setting: Setting) -> Any:
    """Return what Typer parses: all but numbers, flags and choices is text to it."""
    if isinstance(setting.default, dict):
        return list[str]
    return setting.type if setting.choices or setting.type in {bool, int, float} else str


def _default(setting: Setting) -> str:
    shown: object = setting.default_text or setting.default
    if shown is True:
        shown = "yes"
    return f" [default: {shown:g}]" if isinstance(shown, float) else f" [default: {shown}]" if shown else ""


_OF_OTHERS: Mapping[str, tuple[Callable[[Settings], bool], str]] = {
    "compression.keep_observations": (
        lambda settings: settings.compression.prune in (None, "all"),
        "is of --prune all, which clears all but the last N",
    ),
    "compression.trim_end": (
        lambda settings: settings.compression.form == "target" or not settings.compression.trim_end,
        "is of --form target, which --for implies",
    ),
    "compression.mistral_version": (
        lambda settings: settings.compression.target == "mistral",
        "is of --for mistral",
    ),
    "input.seed": (
        lambda settings: settings.input.sample_percent is not None or settings.input.sample_count is not None,
        "says which rows --sample-percent or --sample-count takes",
    ),
}
"""Settings that change nothing without others: whether these are there, and what to say where they are not."""


def without_effect(*ways: Resolved) -> list[str]:
    """Name the options of the command line that change nothing, in none of the ways to be gone, and say why.

    Settings of a file or a variable are not named: they stand there for whatever command needs them.
    """
    told: list[str] = []
    for key, (has_effect, why) in _OF_OTHERS.items():
        flag = SETTINGS[key].flag
        given = any(each.origins[key] == f"command line ({flag})" for each in ways)
        if given and not any(has_effect(each.settings) for each in ways):
            told.append(f"{flag}: of no effect, as it {why}")
    return told


def require_inputs(inputs: Sequence[str] | None, settings: Settings) -> None:
    """Raise SettingsError where nothing is named to be read."""
    if not inputs and settings.input.dataset is None:
        raise SettingsError("nothing to read: name files or folders, - for standard input, or --dataset NAME")


_SELECTING = ("input.limit", "input.sample_percent", "input.sample_count", "input.shard")
_NAMED = 3


def no_row_of(inputs: Sequence[str], settings: Settings) -> str:
    """Say that nothing was read: of what, and what may have left all of it out."""
    names = [*map(printable, inputs[:_NAMED]), *(["…"] if len(inputs) > _NAMED else [])]
    given = {SETTINGS[key].flag: value for key, value in settings.flat().items() if key in _SELECTING}
    taken = " and ".join(f"{flag} {value}" for flag, value in given.items() if value is not None)
    read = ", ".join(names) or settings.input.dataset
    return f"there was no row in {read}{f', or none with {taken}' if taken else ''}"


def stay_offline() -> None:
    """Keep the hub's client, before anything imports it, from the network: a run may name anything."""
    os.environ["HF_HUB_OFFLINE"] = "1"
