"""Write ``docs/reference.md`` from the command line, and ``configs/default.yaml`` from what it is made from.

python scripts/make_reference.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import Any

from typer.main import get_command

from trajcompress.cli import app
from trajcompress.settings import OPTIONS
from trajcompress.settings.commented import HEAD, commented
from trajcompress.settings.declare import Group

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference.md"
DEFAULTS = ROOT / "configs" / "default.yaml"
_HEAD = """\
# Command reference

<!-- Made by scripts/make_reference.py from the command line itself; not to be edited by hand. -->

An option with a key can be set in the YAML file as well (`--config FILE`), and by the variable that has its name:
`--target-max-tokens` by `TRAJCOMPRESS_TARGET_MAX_TOKENS`. [configs/default.yaml](../configs/default.yaml) holds all
keys; some have no option. Data goes to standard output, everything else to standard error.

Exit codes: 0 all is well · 1 rows failed or were rejected beyond `--max-failed`, or an audit or a check found
something · 2 wrong usage, settings, input or output, or an endpoint that answered no call · 75 batches are
under way, come back later · 130 interrupted.
"""
_YAML_HEAD = """\
# Every setting of trajcompress, with its default. Copy this file, keep the keys you change, and give it with
# --config. Made by scripts/make_reference.py from the declarations of the settings.
#
"""
_ORDER = [None, *Group]
_DEFAULT = re.compile(r"\s*\[(?:default: )?(?P<value>[^\[\]]+?)(?:; x[<>]=[\d.]+)?\]$")
_RANGE = re.compile(r"\s*\[x[<>]=[\d.]+\]$")
_TYPE = re.compile(r" <[\w\[\]]+>$")  # of an argument, whose name says more


def reference() -> str:
    """Return the page."""
    sections = (_section(name, command, context) for name, command, context in _commands())
    return "\n".join([_HEAD, *sections])


def defaults() -> str:
    """Return ``configs/default.yaml``: every setting, with its help above it."""
    return f"{_YAML_HEAD}{HEAD}{commented({})}"


def undocumented() -> list[str]:
    """Name every command, argument and option that has no help."""
    missing = [name for name, command, _ in _commands() if not command.help]
    for name, command, context in _commands():
        missing += [f"{name} {names}" for _, names, text, _ in _parameters(command, context) if not text]
    return missing


def _commands() -> Iterator[tuple[str, Any, Any]]:
    """Yield the whole name of each command, itself, and the context that it shows its help in."""
    root = get_command(app)
    waiting: list[tuple[Any, Any]] = [(root, None)]
    while waiting:
        command, parent = waiting.pop(0)
        context = command.context_class(command, info_name=command.name, parent=parent)
        yield context.command_path, command, context
        waiting[:0] = [(each, context) for each in getattr(command, "commands", {}).values()]


def _parameters(command: Any, context: Any) -> Iterator[tuple[Any, str, str, str]]:
    """Yield each parameter with its names and values, its help and its default."""
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or "--help" in parameter.opts:
            continue
        names, text = record
        text = _RANGE.sub("", text)
        match = _DEFAULT.search(text)
        yield parameter, names, _DEFAULT.sub("", text), match["value"] if match else ""


def _section(name: str, command: Any, context: Any) -> str:
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"## {name}\n", f"{_prose(command.help)}\n", f"```text\n{usage}\n```\n"]
    parameters = list(_parameters(command, context))
    arguments = [each for each in parameters if each[0].param_type_name == "argument"]
    options = [each for each in parameters if each[0].param_type_name == "option"]
    options.sort(key=lambda each: _ORDER.index(each[0].rich_help_panel))
    if arguments:
        parts.append(
            _table(
                ["argument", "what", "default"],
                [[f"`{_TYPE.sub('', n)}`", text, _code(d)] for _, n, text, d in arguments],
            )
        )
    if options:
        keys = {flag: key for flag, key in OPTIONS.items() if command.name in {"compress", "plan"}}
        rows = [[f"`{n}`", text, _code(d), _code(_key(p, keys))] for p, n, text, d in options]
        head = ["option", "what", "default", "key"]
        parts.append(_table(head, rows) if keys else _table(head[:3], [row[:3] for row in rows]))
    return "\n".join(parts)


def _key(parameter: Any, keys: dict[str, str]) -> str:
    return next((keys[flag] for flag in parameter.opts if flag in keys), "")


def _prose(text: str) -> str:
    r"""Turn help into Markdown. In a block after ``\b``, which keeps its lines, those that are indented are code."""
    parts: list[str] = []
    for block in dedent(text).strip().split("\n\n"):
        if not block.startswith("\b"):
            parts.append(block)
            continue
        for is_code, lines in groupby(block.splitlines()[1:], key=lambda line: line.startswith("    ")):
            shown = dedent("\n".join(lines))
            parts.append(f"```text\n{shown}\n```" if is_code else shown)
    return "\n\n".join(parts)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


if __name__ == "__main__":
    for path, text in ((PAGE, reference()), (DEFAULTS, defaults())):
        path.write_text(text, encoding="utf-8")
        print(path)
