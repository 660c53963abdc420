"""What the agent may work on: parts of the standard library, each with a test suite in ``suites/``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STDLIB = Path(os.__file__).parent
_SUITES = Path(__file__).parent / "suites"  # .txt, so that neither linters nor test runners take them for ours


@dataclass(frozen=True, slots=True)
class Topic:
    """A module or package of the standard library and what it is for."""

    name: str
    purpose: str

    def sources(self) -> list[Path]:
        """The Python files, in a stable order; empty where this Python has no such module."""
        module = STDLIB / f"{self.name}.py"
        return [module] if module.is_file() else sorted((STDLIB / self.name).rglob("*.py"))

    def characters(self) -> int:
        """The size of all sources together."""
        return sum(path.stat().st_size for path in self.sources())

    def suite(self) -> str:
        """The text of the unit tests that a workspace holds for this topic."""
        return (_SUITES / f"test_{self.name}.txt").read_text(encoding="utf-8")


_PURPOSES = {
    "argparse": "command-line parsing",
    "ast": "syntax trees and unparsing",
    "calendar": "calendars as text and HTML",
    "configparser": "INI files",
    "csv": "reading and writing CSV",
    "dataclasses": "generated classes",
    "difflib": "comparing sequences",
    "email": "parsing and building mail",
    "fnmatch": "file name patterns",
    "fractions": "rational numbers",
    "gettext": "message catalogues",
    "graphlib": "topological order",
    "heapq": "heap queues",
    "html": "HTML parsing and entities",
    "http": "HTTP clients, servers and cookies",
    "ipaddress": "addresses and networks",
    "json": "JSON encoding and decoding",
    "logging": "logging and its configuration",
    "mimetypes": "types of files by name",
    "optparse": "the older command-line parser",
    "plistlib": "property lists",
    "pprint": "pretty printing",
    "queue": "thread-safe queues",
    "shlex": "shell-like splitting",
    "statistics": "statistics",
    "string": "templates and formatting",
    "tarfile": "tar archives",
    "textwrap": "wrapping and indenting text",
    "tokenize": "Python tokens",
    "tomllib": "reading TOML",
    "urllib": "URLs and requests",
    "wsgiref": "WSGI reference code",
    "zipfile": "zip archives",
}


@cache
def available_topics() -> tuple[Topic, ...]:
    """Every topic that this Python has, by name."""
    topics = (Topic(name, purpose) for name, purpose in _PURPOSES.items())
    return tuple(topic for topic in topics if topic.sources())
