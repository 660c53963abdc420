"""A row before and after for a terminal: side by side where it is wide, one under another where it is not.

Rows may hold anything, so their text comes through :func:`~trajcompress.results.show.safe.printable`, and never as
markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from trajcompress.metrics.row import rows_written
from trajcompress.results.show.model import Section, Step, TurnView, View
from trajcompress.results.show.safe import one_line, printable
from trajcompress.results.show.summary import SummaryView

WIDE = 120
"""Columns from which on both sides stand side by side."""

_STYLES = {"plain": "", "fact": "bold black on green", "secret": "bold black on yellow"}
_ROLES = {"system": "magenta", "user": "cyan", "assistant": "green", "tool": "blue"}
_RAW_CHARS = 2000


def render(view: View, *, width: int, full: bool, color: bool) -> str:
    """Return what a terminal of ``width`` columns shows; ``full`` has whole turns, else a line of each."""
    console = Console(
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    with console.capture() as capture:
        for block in _blocks(view, width=width, full=full):
            console.print(block)
    return capture.get()


def _blocks(view: View, *, width: int, full: bool) -> Iterator[RenderableType]:
    yield Text(printable(view.title), style="bold")
    yield _header(view)
    for note in view.notes:
        yield Text(f"note: {printable(note)}", style="yellow")
    if view.raw is not None and not view.sections:
        yield Rule("as it was read", align="left", characters="─")
        yield Text(printable(view.raw if full else view.raw[:_RAW_CHARS]))
        if not full and len(view.raw) > _RAW_CHARS:
            yield Text(f"… {len(view.raw) - _RAW_CHARS:,} more characters; --full shows them", style="dim")
    show = _side_by_side if width >= WIDE else _one_under_another
    yield from show(view, full=full)


def _header(view: View) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in view.figures:
        table.add_row(name, Text(printable(value)))
    if view.why is not None:
        over = view.metrics.still_over_limit
        table.add_row("why over the limit" if over else "why", Text(printable(view.why.meaning), style="bold"))
    for at, words in enumerate(view.helps or ((view.why.remedy,) if view.why and view.why.remedy else ())):
        table.add_row("" if at else "what helps", Text(printable(words)))
    return table


def _side_by_side(view: View, *, full: bool) -> Iterator[RenderableType]:
    if view.sections:
        yield _columns(Text("before", style="bold underline"), Text("after", style="bold underline"))
    sections = list(view.sections)
    for at, section in enumerate(sections):
        beside = section.part == "summary" and at > 0 and sections[at - 1].part == "region"
        if beside:
            continue
        yield _title(section)
        if section.part == "region":
            following = sections[at + 1] if at + 1 < len(sections) else None
            stands = following.steps[0] if following and following.part == "summary" else None
            left = Group(*(_turn(step.before, full=full) for step in section.steps if step.before))
            yield _columns(left, _summary(view.summary, stands))
        elif section.part == "summary":
            yield _columns(Text(""), _summary(view.summary, section.steps[0]))
        else:
            for step in section.steps:
                yield _columns(
                    _turn(step.before, full=full) if step.before else Text(""), _after(step, view, full=full)
                )


def _one_under_another(view: View, *, full: bool) -> Iterator[RenderableType]:
    for section in view.sections:
        yield _title(section)
        for step in section.steps:
            if step.part == "summary":
                yield _summary(view.summary, step)
            elif step.before is None or step.changes:
                if step.before:
                    yield _turn(step.before, full=full)
                yield _after(step, view, full=full)
            else:
                yield _turn(step.before, full=full)


def _after(step: Step, view: View, *, full: bool) -> RenderableType:
    summary = view.summary
    if step.after is None:
        return Text("" if rows_written(view.metrics) else "not in the dataset", style="dim")
    if step.before and not step.changes:
        return Text(f"{step.after.index:>4} as before", style="dim")
    if summary is None or not summary.folded or summary.index != step.after.index:
        return _turn(step.after, full=full, changes=step.changes)
    rest = replace(step.after, text=step.after.text.replace(summary.text, "(the summary, see below)"))
    return Group(_turn(rest, full=full, changes=step.changes), _summary(summary, None))


def _title(section: Section) -> Rule:
    turns = len(section.steps)
    title = f"{section.title} · {turns:,} turn{'s' if turns > 1 else ''}"
    if section.tokens is not None:
        title += f" · {section.tokens:,} tokens"
    return Rule(title, align="left", characters="─", style="dim")


def _columns(left: RenderableType, right: RenderableType) -> Table:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(left, right)
    return table


def _turn(turn: TurnView, *, full: bool, changes: tuple[str, ...] = ()) -> Table:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(justify="right", width=4, style="dim")
    table.add_column(width=9, no_wrap=True, overflow="ellipsis")
    table.add_column(justify="right", width=7)
    table.add_column(ratio=1, no_wrap=not full, overflow="fold" if full else "ellipsis")
    role, _, _ = turn.label.partition(" ")
    said = Text(no_wrap=not full, overflow="fold" if full else "ellipsis")
    if changes:
        said.append(f"[after: {', '.join(changes)}] ", style="bold yellow")
    if turn.protocol_part:
        said.append(f"[{turn.protocol_part}] ", style="dim")
    said.append(printable(turn.text) if full else turn.excerpt)
    tokens = "–" if turn.tokens is None else f"{turn.tokens:,}"
    table.add_row(str(turn.index), Text(role, style=_ROLES.get(role, "")), tokens, said)
    return table


def _summary(summary: SummaryView | None, step: Step | None) -> RenderableType:
    if summary is None:
        return _turn(step.after, full=True) if step and step.after else Text("")
    where = f"folded into turn {summary.index}" if summary.folded else f"turn {summary.index}, user"
    size = "" if summary.tokens is None else f", {summary.tokens:,} tokens"
    text = Text(f"{where}{size}\n", style="dim")
    for span in summary.spans:
        text.append(printable(span.text), style=_STYLES[span.kind] or "default not dim")
    parts: list[RenderableType] = [text]
    facts = summary.facts
    if facts is not None and (facts.kept or facts.missing):
        parts.append(Text(f"\n{len(facts.kept):,} facts that kept turns need are marked", style="dim"))
    if facts is not None and facts.missing:
        missing = ", ".join(one_line(fact, 100) for fact in facts.missing)
        parts.append(Text(f"needed, and not in it: {missing}", style="bold red"))
    return Padding(Group(*parts), (0, 0, 0, 2))
