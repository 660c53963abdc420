"""A comparison as aligned text: a column for each run, fitted to a terminal, whole lines elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Any, TypeAlias

from trajcompress.metrics.reasons import OUTCOMES
from trajcompress.metrics.totals import Totals
from trajcompress.results.audit.figures import brief, number, place
from trajcompress.results.audit.gates import percent, share
from trajcompress.results.compare.model import Comparison, Side
from trajcompress.results.text_table import Columns, lines_of, shortened
from trajcompress.settings import SETTINGS
from trajcompress.wording import counted

_INDENT = "  "
_LONGEST_NAME = 24
_LONGEST_VALUE = 40

Figure: TypeAlias = tuple[str, Callable[[Totals], str]]


def render(comparison: Comparison, width: int | None = None) -> str:
    """Return the comparison, fitted to ``width`` columns where one is given."""
    return "\n\n".join("\n".join(lines) for lines in _sections(comparison, width) if lines)


def names_of(comparison: Comparison) -> list[str]:
    """Return short names for the runs that tell them apart."""
    paths = [brief(run.file.name.rstrip("/")) for run in comparison.runs]
    parts = [path.split("/") for path in paths]
    shared = 0
    while all(len(each) > shared + 1 and each[shared] == parts[0][shared] for each in parts):
        shared += 1
    return [shortened("/".join(each[shared:]), _LONGEST_NAME) for each in parts]


def _sections(comparison: Comparison, width: int | None) -> Iterator[list[str]]:
    names = names_of(comparison)
    shared = counted(comparison.common_rows, "row")
    if comparison.are_of_the_same_rows:
        yield [f"The same {shared} in each run", *_figures(names, [run.totals for run in comparison.runs], width)]
    else:
        yield ["All rows of each run", *_figures(names, [run.totals for run in comparison.runs], width)]
        if comparison.common_rows:
            common = [run.common for run in comparison.runs]
            yield [f"The {shared} in common", *_figures(names, common, width)]
        elif not comparison.from_stdin:
            yield ["No row is in all of the runs: none read the same input, by its name or its content."]
    if comparison.from_stdin:
        none = "" if comparison.common_rows else "No row is known to be in all of the runs: "
        read = " and ".join(names[at] for at in comparison.from_stdin)
        yield [f"{none}{read} read standard input, whose rows are matched with those of no file; name the file there"]
    if comparison.changed_inputs:
        yield [
            f"{brief(name)} held something else in another of the runs; its rows are matched by their number"
            for name in comparison.changed_inputs
        ]
    if comparison.settings:
        yield _settings(comparison, names, width)
    if comparison.common_rows:
        yield _rows(comparison, names, width)


def _figures(names: Sequence[str], totals: Sequence[Totals], width: int | None) -> list[str]:
    return _side_by_side(names, [(name, *map(show, totals)) for name, show in _shown(totals)], width)


def _side_by_side(names: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Return a table with a column for each run, in blocks of as many runs as there is room for."""
    first = max(len(row[0]) for row in rows)
    sizes = [max(len(name), *(len(row[at]) for row in rows)) for at, name in enumerate(names, 1)]
    lines: list[str] = []
    done = 0
    while done < len(names):
        room = math.inf if width is None else width - len(_INDENT) - first
        end = done
        while end < len(names) and (end == done or room >= sizes[end] + len(_INDENT)):
            room -= sizes[end] + len(_INDENT)
            end += 1
        columns = Columns(("", *names[done:end]), texts=frozenset({""}))
        block = [(row[0], *row[done + 1 : end + 1]) for row in rows]
        lines += ([""] if lines else []) + lines_of(columns, block, width, indent=_INDENT)
        done = end
    return lines


def _shown(totals: Sequence[Totals]) -> Iterator[Figure]:
    """Yield the figures that say something of any of the runs."""
    yield "rows", lambda each: number(each.rows)
    if any(_written(each) != each.rows for each in totals):
        yield "rows written", lambda each: number(_written(each))
    for outcome, name in OUTCOMES.items():
        if any(each.outcomes[outcome] for each in totals):
            yield name, _outcome(outcome)
    yield "still over the target", lambda each: share(each.still_over_limit, each.rows)
    yield "tokens before", lambda each: number(each.original_tokens)
    yield "tokens after", lambda each: share(each.compressed_tokens, each.original_tokens)
    yield "assistant tokens kept", lambda each: share(each.assistant_tokens_kept, each.assistant_tokens_original)
    yield "facts kept", lambda each: share(each.facts_kept, each.facts_needed)
    if any(each.summarization_api_calls or each.cache_hits for each in totals):
        yield "calls", lambda each: number(each.summarization_api_calls)
        yield "calls that failed", lambda each: number(each.summarization_errors)
        yield "from a store", lambda each: number(each.cache_hits)
        yield "tokens in", lambda each: number(each.prompt_tokens)
        yield "tokens out", lambda each: number(each.completion_tokens)
        yield "cost in USD", lambda each: "-" if each.cost_usd is None else f"{each.cost_usd:,.4f}"


def _written(totals: Totals) -> int:
    return max(totals.rows_written, totals.in_dataset)  # earlier versions counted only these, one for a row


def _outcome(outcome: str) -> Callable[[Totals], str]:
    return lambda each: number(each.outcomes[outcome])


def _settings(comparison: Comparison, names: Sequence[str], width: int | None) -> list[str]:
    rows = [(key, *(_value(key, value) for value in values)) for key, values in comparison.settings.items()]
    return ["Settings that differ", *_side_by_side(names, rows, width)]


def _value(key: str, value: Any) -> str:
    if value is None:
        means = SETTINGS[key].default_text if key in SETTINGS else ""
        value = f"default: {means}" if means else "not set"
    return shortened(brief(value if isinstance(value, str) else json.dumps(value)), _LONGEST_VALUE)


def _rows(comparison: Comparison, names: Sequence[str], width: int | None) -> list[str]:
    differing, rows = comparison.differing, comparison.rows
    if not differing:
        return ["No row in common differs."]
    verb = "differs" if differing == 1 else "differ"
    first = "first those that fit in one run and not in another, then by tokens"
    lines = [f"{counted(differing, 'row')} in common {verb}; {first}"]
    if width is not None:
        lines = wrap(lines[0], width)
    calls = any(side.summarization_api_calls for row in rows for side in row.sides)
    figures = ("run", "ended", "tokens", "assistant", "facts", *(("calls",) if calls else ()))
    sides = [
        (name, *_side(side)[: len(figures) - 1]) for row in rows for name, side in zip(names, row.sides, strict=True)
    ]
    if width is None:  # each line says which row, so that a program can search them
        columns = Columns(("row", "id", *figures), texts=frozenset({"run", "ended"}), names=frozenset({"row", "id"}))
        places = [(place(row), brief(row.trajectory_id or "-")) for row in rows for _ in names]
        whole = [(*where, *side) for where, side in zip(places, sides, strict=True)]
        return [*lines, *lines_of(columns, whole, None, indent=_INDENT)] if rows else lines
    columns = Columns(figures, texts=frozenset({"run", "ended"}))
    header, *of_sides = lines_of(columns, sides, None, indent=2 * _INDENT)
    lines += [header] if rows else []
    for at, row in enumerate(rows):
        which = f"{place(row)}  {brief(row.trajectory_id or '')}".rstrip()
        lines += [_INDENT + shortened(which, width - len(_INDENT)), *of_sides[at * len(names) :][: len(names)]]
    return lines


def _side(side: Side) -> tuple[str, ...]:
    ended = "still over" if side.still_over_limit and side.outcome != "failed" else side.outcome
    return (
        "under already" if ended == "skipped_under_target" else ended,
        number(side.compressed_tokens),
        _part(side.assistant_tokens_kept, side.assistant_tokens_original),
        "-" if side.facts_needed is None else f"{side.facts_kept or 0}/{side.facts_needed}",
        number(side.summarization_api_calls),
    )


def _part(part: int | None, whole: int | None) -> str:
    return percent(part or 0, whole, digits=0) if whole else "-"
