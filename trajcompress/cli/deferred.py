"""Commands that import what converts values only for a value: help and completion need none of it."""

from __future__ import annotations

from typing import Any

from typer.core import TyperArgument, TyperGroup, TyperOption


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
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _defer(command, ctx)
        return name, command, rest


def _defer(command: Any, ctx: Any) -> None:
    for parameter in command.get_params(ctx):
        parameter.__class__ = _Option if parameter.param_type_name == "option" else _Argument


class _Option(TyperOption):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_given(self, ctx, value) if _is_deferred(self, ctx, value) else super().process_value(ctx, value)


class _Argument(TyperArgument):
    def process_value(self, ctx: Any, value: Any) -> Any:
        return _as_given(self, ctx, value) if _is_deferred(self, ctx, value) else super().process_value(ctx, value)


def _is_deferred(parameter: Any, ctx: Any, value: Any) -> bool:
    return ctx.resilient_parsing or (value is None and not parameter.required)


def _as_given(parameter: Any, ctx: Any, value: Any) -> Any:
    several = parameter.multiple or parameter.nargs == -1
    value = () if several and value is None else value
    return parameter.callback(ctx, parameter, value) if parameter.callback else value
