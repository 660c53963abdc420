"""The options of functions in Python: checked, made into settings, and shown by ``help()``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from typing import Any, TypeVar, get_type_hints

from trajcompress.errors import SettingsError, TrajcompressError
from trajcompress.processes.late_patterns import late_re
from trajcompress.settings import KEYWORDS, OPTIONS, SETTINGS, Resolved, Settings, resolve_arguments
from trajcompress.settings.keywords import CompressOptions, DatasetOptions

Documented = TypeVar("Documented", bound=Callable[..., Any])

_FLAG = late_re(r"(?<![\w-])(?P<flag>--[a-z][a-z-]*[a-z]|-o)\b(?: (?P<value>\w[\w-]*%?))?")
_WIDTH = 110


def settings_of(
    config: str | Path | None, given: Mapping[str, Any], known: type, function: str, **besides: Any
) -> Settings:
    """Return the settings that a function's options make; see :func:`resolved`."""
    return resolved(config, given, known, function, **besides).settings


def resolved(
    config: str | Path | None, given: Mapping[str, Any], known: type, function: str, **besides: Any
) -> Resolved:
    """Return the settings that a function's options make, over those of a config file, and where each came from.

    Args:
        config: the file.
        given: the options.
        known: the TypedDict of those that the function has.
        function: its name.
        besides: options that it sets itself.

    Raises:
        SettingsError: an option is unknown or wrong, or the file cannot be read; names the argument.
    """
    for name in given:
        if name not in known.__annotations__:
            raise SettingsError(_unknown(name, known, function))
    with naming_arguments():
        return resolve_arguments({**given, **besides}, Path(config) if config is not None else None)


@contextmanager
def naming_arguments() -> Iterator[None]:
    """Let errors name the arguments of Python in the place of options of the command line."""
    try:
        yield
    except TrajcompressError as error:
        error.reword(in_python)
        raise


def in_python(text: str) -> str:
    """Put what is said of the command line in words of Python.

    >>> in_python("more than --max-failed 1 allows; the same command with --for trl and --no-facts goes on")
    'more than max_failed=1 allows; the same call with target="trl" and facts=False goes on'
    """
    for of_the_command, of_python in (("the same command", "the same call"), ("the target of --for", "the target")):
        text = text.replace(of_the_command, of_python)
    return _FLAG.sub(_argument, text)


def documented(options: type) -> Callable[[Documented], Documented]:
    """Add a TypedDict of options to the docstring and the signature of what takes them."""

    def add(function: Documented) -> Documented:
        if function.__doc__:
            function.__doc__ = f"{inspect.cleandoc(function.__doc__)}\n\nOptions:\n{describe(options)}\n"
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        types = get_type_hints(options)
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=types[name])
            for name in options.__annotations__
        ]
        function.__signature__ = signature.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
        return function

    return add


def describe(options: type) -> str:
    """Return a line or more for each option: name, default, meaning."""
    return "\n".join(map(_describe, options.__annotations__))


def _describe(name: str) -> str:
    setting = SETTINGS[KEYWORDS[name]]
    default = setting.default_text or (setting.default if setting.default not in (None, {}) else "not set")
    text = f"{name}: {in_python(f'{setting.help} Default: {default}')}."
    return fill(text, _WIDTH, initial_indent="    ", subsequent_indent="        ")


def _unknown(name: str, known: type, function: str) -> str:
    if name in DatasetOptions.__annotations__:
        home = "Compressor" if name in CompressOptions.__annotations__ else "compress_dataset"
        return f"argument {name}: is an option of {home}, not of {function}"
    if name == "for":
        return "argument for: is called target in Python"
    near = get_close_matches(name, known.__annotations__, n=1)
    return f"argument {name}: unknown option of {function}" + (f"; did you mean {near[0]}?" if near else "")


def _argument(found: re.Match[str]) -> str:
    key = _NAMES.get(found["flag"])
    if key is None:
        return found[0]
    setting, value = SETTINGS[key], found["value"]
    behind = f" {value}" if value else ""
    if setting.type is bool:
        return f"{setting.keyword}={not found['flag'].startswith('--no-')}{behind}"
    if not value or value in setting.choices or value.endswith("%"):
        return f'{setting.keyword}="{value}"' if value else setting.keyword
    is_value = value.isdecimal() or value in (setting.metavar or "").split("|")
    return f"{setting.keyword}={value}" if is_value else f"{setting.keyword}{behind}"


_NAMES = {name: key for key in OPTIONS.values() for names in SETTINGS[key].names for name in names.split("/")}
"""Every name of an option, with those that turn it off → dotted key."""
