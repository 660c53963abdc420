"""Commands and groups: their help by topic, and what converts values imported only for a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from trajcompress.settings.checking import plain
from trajcompress.settings.declare import Group

_MEANT = {
    **dict.fromkeys(("stats", "statistics", "metrics", "summary", "analyze", "analyse"), "audit"),
    **dict.fromkeys(("validate", "verify", "lint"), "check"),
    **dict.fromkeys(("estimate", "dry-run", "count"), "plan"),
    **dict.fromkeys(("view", "inspect"), "show"),
    **dict.fromkeys(("run", "resume"), "compress"),
    **dict.fromkeys(("progress", "watch"), "status"),
    "diff": "compare",
    "upload": "push",
}
"""Commands by the names that other tools have for what they do, or for options that do it."""
_PYDANTIC = ("Value error, ", "Input should ")


class DeferredGroup(TyperGroup):
    """A group whose parameters, and those of its commands, are converted where they are given, for a run.

    Typer converts with pydantic, also what is not given, and also where a shell asks how a line may go on.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the line as far as the group's own options go."""
        _defer(self, ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the line goes on with."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except Exception as error:  # Typer has the names that look most similar
            if (meant := _MEANT.get(args[0].lower())) in self.commands:
                error.message = f"No such command {args[0]!r}. Did you mean {meant!r}?"  # type: ignore[attr-defined]
            raise
        if command is not None:
            _defer(command, ctx)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; of an option that nobody knows, what it may mean is suggested, if anything."""
        try:
            return super().invoke(ctx)
        except Exception as error:  # whatever it is goes on, with a suggestion where it is of an option
            _suggest(error, self.commands)
            raise


def _suggest(error: Any, commands: Mapping[str, Any]) -> None:
    """Have options suggested that begin as an unknown one does, or the command that does what it asks for.

    Where there is neither, Typer has the most similar options.
    """
    given, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if not given or not context or getattr(error, "possibilities", None) is None:
        return
    known = [name for each in context.command.get_params(context) for name in each.opts]
    beginning, meant = [name for name in known if name.startswith(given)], _MEANT.get(given.lstrip("-"), "")
    if beginning:
        error.possibilities = beginning
    elif context.command is not commands.get(meant) and meant in commands:
        error.message, error.possibilities = f"No such option: {given}. Did you mean the command {meant!r}?", []


def _defer(command: Any, ctx: Any) -> None:
    for parameter in command.get_params(ctx):
        parameter.__class__ = _Option if parameter.param_type_name == "option" else _Argument


class _Option(TyperOption):
    def process_value(self, ctx: Any, value: Any) -> Any:
        if _is_deferred(self, ctx, value):
            return _as_given(self, ctx, value)
        try:
            return super().process_value(ctx, value)
        except typer.BadParameter as error:
            error.message = _in_our_words(error.message, value, get_args(self.type_descriptor.annotation))
            raise


def _in_our_words(message: str, value: Any, choices: Sequence[str]) -> str:
    """Say what is wrong with a value as settings do: the value, and the nearest of the choices."""
    if not message.startswith(_PYDANTIC):
        return message
    if not choices:
        return f"{plain(message)}, not {value!r}"
    near = get_close_matches(str(value), [each for each in choices if isinstance(each, str)], n=1)
    return f"{plain(message)}" + (f" Did you mean {near[0]}?" if near else "")


class _Argument(TyperArgument):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_given(self, ctx, value) if _is_deferred(self, ctx, value) else super().process_value(ctx, value)


def _is_deferred(parameter: Any, ctx: Any, value: Any) -> bool:
    return ctx.resilient_parsing or (value is None and not parameter.required)


def _as_given(parameter: Any, ctx: Any, value: Any) -> Any:
    several = parameter.multiple or parameter.nargs == -1
    value = () if several and value is None else value
    return parameter.callback(ctx, parameter, value) if parameter.callback else value


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each :class:`Group`, behind the options of none."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options of no group, and the groups."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", "Options", *Group)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                alone = "Options" if parameter.param_type_name == "option" else "Arguments"
                sections[getattr(parameter, "rich_help_panel", None) or alone].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
