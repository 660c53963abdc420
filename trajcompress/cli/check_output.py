"""What a check found: a table for people, JSON for programs."""

import dataclasses
import json
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer

from trajcompress.cli.printing import terminal_width
from trajcompress.compaction.loss_marks import marks_not_read
from trajcompress.errors import INTERNAL
from trajcompress.settings.choices import Target
from trajcompress.transcript.violation import MEANINGS
from trajcompress.wording import counted, place_in, printable

if TYPE_CHECKING:
    from trajcompress.dataset.left_out import LeftOut
    from trajcompress.results.check.rows import CheckResult, Found


def print_json(
    result: "CheckResult",
    target: Target,
    left_out: "list[LeftOut]",
    fixed: dict[str, int] | None,
    *,
    new_only: bool,
) -> None:
    """Print everything that was found."""
    kinds, notes = (
        {kind: {"meaning": MEANINGS.get(kind)} | dataclasses.asdict(found) for kind, found in each.items()}
        for each in (result.found, result.notes)
    )
    figures: dict[str, Any] = {
        "target": target,
        "rows": result.rows,
        "invalid_rows": result.invalid_rows,
        "new_only": new_only,
        "of_input": result.of_input,
        "rows_of_input": result.rows_of_input,
        "violations": kinds,
        "notes": notes,
        "unread_marks": result.unread_marks,
        "changed_inputs": result.changed,
        "left_out": [left.as_dict() for left in left_out],
    }
    if fixed is not None:
        figures["fixed"] = fixed
    typer.echo(json.dumps(figures, indent=2))


def print_table(result: "CheckResult", target: Target, *, new_only: bool) -> None:
    """Print a line for each example, so that a program can search them too; a terminal gets them wrapped at words."""
    width = terminal_width()
    for indent, line in _lines(result, target, new_only=new_only):
        typer.echo(indent + line if width is None else "\n".join(_wrapped(line, indent, width)))


def _wrapped(line: str, indent: str, width: int) -> list[str]:
    hanging = indent + "    "
    return wrap(
        line,
        width,
        initial_indent=indent,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _lines(result: "CheckResult", target: Target, *, new_only: bool) -> Iterator[tuple[str, str]]:
    """Yield lines, each with its indentation."""
    lines = [("", item) for item in sorted(result.found.items(), key=lambda item: (-item[1].rows, item[0]))]
    lines += [("note: ", item) for item in sorted(result.notes.items())]
    for opening, (kind, found) in lines:
        times = "" if found.count == found.rows else f" ({found.count:,} times)"
        unread = "a mistake of this program: report it" if kind == INTERNAL else "the row cannot be read"
        meaning = MEANINGS.get(kind, unread)
        yield "", f"{opening}{kind}  {counted(found.rows, 'row')}{times}: {meaning}{_remedy(found)}"
        for example in found.examples:
            where = "" if example.turn is None else f" turn {example.turn}"
            detail = printable(" ".join(example.detail.split()))
            yield "    ", f"{place_in(printable(example.file), example.row, example.line)}{where}: {detail}"
    for mark, rows in result.unread_marks.items():
        yield "", f"note: {counted(rows, 'row')}: {marks_not_read([mark], target)}"
    new = "new " if new_only else ""
    yield "", f"{counted(result.rows, 'row')} checked for {target}, {result.invalid_rows:,} with {new}violations"
    if result.of_input is not None and (result.of_input or result.invalid_rows):
        these = " (left out)" if new_only and result.of_input else "" if new_only else "; --new-only leaves them out"
        these = these if result.of_input else ""
        had = f"{counted(result.of_input, 'violation')} in {counted(result.rows_of_input or 0, 'row')}"
        yield "", f"of the input: {had}{these}"


def _remedy(found: "Found") -> str:
    if found.mended == found.rows:
        return "; --fix mends it"
    return f"; --fix mends it in {counted(found.mended, 'row')}" if found.mended else ""
