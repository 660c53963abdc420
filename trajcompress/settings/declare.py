"""How a setting is declared: once, as a field of a section, with its option and its help beside type and default.

All else is made from that: options and their help, keys, variables, what pydantic checks, ``docs/reference.md`` and
``configs/default.yaml``. Files of sections have annotations that are types, not text, as these are read from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from enum import StrEnum
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin

T = TypeVar("T")


class Group(StrEnum):
    """The sections that options stand in, in ``--help``, in this order."""

    BUDGET = "What is compressed"
    TRAINED = "The model to be trained"
    SUMMARISER = "The model that summarises"
    CALLS = "Limits of its calls"
    SUMMARIES = "The summaries"
    READ = "What is read"
    WRITTEN = "What is written"
    RUN = "The run"


class Setting(NamedTuple):
    """One setting; ``usage`` is its option as help shows it (``--rpm N``), empty where it has none.

    ``default_text`` says what happens by default, where the default itself does not. Options that a plan has no use
    for are not ``in_plan``.
    """

    section: str
    name: str
    annotation: Any
    default: Any
    usage: str
    group: Group | None
    help: str
    default_text: str
    in_plan: bool

    @property
    def key(self) -> str:
        """The dotted key."""
        return f"{self.section}.{self.name}"

    @property
    def names(self) -> list[str]:
        """The option's names, the main one first, as Typer takes them: ``--facts/--no-facts`` is one."""
        return [each for each in self.usage.replace(",", "").split() if each.startswith("-")]

    @property
    def flag(self) -> str:
        """The option's main name; empty where there is none."""
        return self.names[0].partition("/")[0] if self.usage else ""

    @property
    def metavar(self) -> str | None:
        """What help shows for the option's value; None where the type says it."""
        words = self.usage.split()
        return words[-1] if len(words) > len(self.names) else None

    @property
    def keyword(self) -> str:
        """The option's name in Python; ``for`` is a word that Python keeps for itself."""
        name = self.flag.removeprefix("--").replace("-", "_")
        return "target" if name == "for" else name

    @property
    def type(self) -> Any:
        """The type without bounds, and without None."""
        parts = [part for part in get_args(self.annotation) if part is not NoneType] if self.is_nullable else []
        plain = parts[0] if len(parts) == 1 else self.annotation
        return get_args(plain)[0] if get_origin(plain) is Annotated else plain

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a choice; empty for any other type."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def is_nullable(self) -> bool:
        """Whether None is a value."""
        return NoneType in get_args(self.annotation)


def option(
    default: T, usage: str, group: Group | None, help_text: str, *, default_text: str = "", in_plan: bool = True
) -> T:
    """Declare a setting that has an option; its type stands at the field."""
    given: dict[str, Any] = {"default_factory": default.copy} if isinstance(default, dict) else {"default": default}
    metadata = {"usage": usage, "group": group, "help": help_text, "default_text": default_text, "in_plan": in_plan}
    declared: T = field(**given, metadata=metadata)
    return declared


def no_option(default: T, help_text: str) -> T:
    """Declare a setting of files and variables alone."""
    return option(default, "", None, help_text, in_plan=False)


def declared_in(section: str, declaration: type) -> Iterator[Setting]:
    """Yield the settings of a section."""
    defaults = declaration()
    for each in fields(declaration):
        yield Setting(section, each.name, each.type, getattr(defaults, each.name), **each.metadata)
