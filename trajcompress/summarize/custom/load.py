"""Summarisers of one's own, found by name: in the entry points of packages, or as ``module:function``."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from functools import partial, reduce
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajcompress.errors import SettingsError
from trajcompress.settings.choices import OWN_SUMMARIZERS
from trajcompress.settings.summarizer_choice import SummarizerChoice
from trajcompress.summarize.custom.identity import version_of
from trajcompress.summarizers import SummaryInput

GROUP = "trajcompress.summarizers"
"""The group of entry points in which packages offer summarisers."""


class OpenSummarizer(Struct, frozen=True):
    """A summariser that is ready: what is called, and what closes it, where it was made for that."""

    call: Callable[[SummaryInput], str | Awaitable[str]]
    close: Callable[[], object] | None


class LoadedSummarizer(Struct, frozen=True):
    """A summariser that was found; a class is not made yet. ``name`` and ``version`` are its identity."""

    name: str
    version: str
    value: Any

    @property
    def identity(self) -> str:
        """Name and version in one."""
        return f"{self.name} {self.version}"

    def open(self) -> OpenSummarizer:
        """Make it, where it is a class; raises whatever that raises."""
        if not inspect.isclass(self.value):
            return OpenSummarizer(_method(self.value), None)  # whoever made it closes it
        made = self.value()
        close = getattr(made, "aclose", None) or getattr(made, "close", None)
        return OpenSummarizer(_method(made), close if callable(close) else None)


def load_summarizer(choice: SummarizerChoice) -> LoadedSummarizer:
    """Return the summariser that is meant.

    Raises:
        SettingsError: there is none of that name, its module cannot be imported, or it is no summariser.
    """
    if choice.given is not None:
        return _loaded(choice.given, choice.spec, None)
    if choice.is_code:
        return _loaded(_imported(choice.spec), choice.spec, None)
    found = _entry_point(choice.spec)
    try:
        value = found.load()
    except Exception as error:  # what runs is code of others; its error is told
        raise SettingsError(
            f"summarizer {choice.spec}: its package cannot be loaded ({found.value}): {_words(error)}"
        ) from error
    package = f"{found.dist.name} {found.dist.version}" if found.dist else None
    return _loaded(value, choice.spec, package)


def names() -> list[str]:
    """Return the names that are known: ours, then those that packages offer."""
    offered = {each.name for each in entry_points(group=GROUP)} - set(OWN_SUMMARIZERS)
    return [*OWN_SUMMARIZERS, *sorted(offered)]


def _entry_point(name: str) -> EntryPoint:
    found = list(entry_points(group=GROUP, name=name))
    if len({each.value for each in found}) > 1:
        values = ", ".join(sorted(f"{each.value} of {each.dist.name if each.dist else '?'}" for each in found))
        raise SettingsError(f"summarizer {name}: several packages offer one ({values}); give module:function")
    if found:
        return found[0]
    near = get_close_matches(name, names(), n=1)
    remedy = f"did you mean {near[0]}?" if near else f"known are {', '.join(names())}."
    raise SettingsError(f"summarizer {name}: there is none; {remedy} One of your own is given as module:function")


def _imported(spec: str) -> Any:
    module_name, _, path = spec.partition(":")
    try:
        module = _module(module_name)
    except Exception as error:  # as above
        raise SettingsError(f"summarizer {spec}: {module_name} cannot be imported: {_words(error)}") from error
    try:
        return reduce(getattr, path.split("."), module)
    except AttributeError as error:
        near = get_close_matches(path, [name for name in dir(module) if not name.startswith("_")], n=1)
        remedy = f"; did you mean {module_name}:{near[0]}?" if near else ""
        raise SettingsError(f"summarizer {spec}: {module_name} has no {path}{remedy}") from error


def _module(name: str) -> Any:
    """Import a module, from the working folder where there is none of that name elsewhere."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0] or str(Path.cwd()) in sys.path:
            raise
    sys.path.append(str(Path.cwd()))  # last: nothing in it takes the place of what is installed
    importlib.invalidate_caches()
    return importlib.import_module(name)


def _loaded(value: Any, spec: str, package: str | None) -> LoadedSummarizer:
    is_object = not (inspect.isroutine(value) or inspect.isclass(value) or isinstance(value, partial))
    call = value.summarize if callable(getattr(value, "summarize", None)) else value
    if not callable(call) or (inspect.isclass(value) and call is value):
        raise SettingsError(f"summarizer {spec}: is no function, and has no method summarize: {_shown(value)}")
    for attribute in ("name", "version") if is_object and call is not value and package is None else ():
        if not isinstance(getattr(value, attribute, None), str):
            raise SettingsError(f"summarizer {spec}: has no {attribute}, a text; name and version are its identity")
    _check_takes_one(value, call, spec)
    own_name = getattr(value, "name", None)
    name = own_name if isinstance(own_name, str) and own_name.strip() else spec
    if name in OWN_SUMMARIZERS:
        raise SettingsError(f"summarizer {spec}: calls itself {name}, which is one of ours; give it another name")
    return LoadedSummarizer(name, version_of(value, package), value)


def _method(value: Any) -> Callable[[SummaryInput], str | Awaitable[str]]:
    method = getattr(value, "summarize", None)
    found: Callable[[SummaryInput], str | Awaitable[str]] = method if callable(method) else value
    return found


def _check_takes_one(value: Any, call: Callable[..., Any], spec: str) -> None:
    arguments = (None, None) if inspect.isclass(value) and inspect.isfunction(call) else (None,)  # it and its self
    try:
        inspect.signature(call).bind(*arguments)
    except TypeError as error:
        raise SettingsError(
            f"summarizer {spec}: should take one argument, a SummaryInput, and return text: {error}"
        ) from error
    except ValueError:  # written in C: nobody knows
        return


def _shown(value: Any) -> str:
    return f"a class {value.__qualname__}" if inspect.isclass(value) else f"an object of type {type(value).__name__}"


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
