"""A plan as tables and bars for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rich.bar import Bar
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trajcompress.cli.plan_figures import Figures
from trajcompress.cli.tables import reason_in_words
from trajcompress.compaction.happened import FORM_UNFIT
from trajcompress.errors import INTERNAL
from trajcompress.metrics.reasons import REJECTED, UNCOUNTABLE
from trajcompress.metrics.remedies import LargestTurn
from trajcompress.planning.requests import BoundBy, Tries
from trajcompress.settings import Settings
from trajcompress.wording import counted, place_in, printable

_BAR_COLUMNS = 40
_FEWEST_BAR_COLUMNS = 10
_BESIDE_A_BAR = 40  # columns of lengths, rows, and which targets lie there
_COLUMNS_OF_A_FILE = 400  # whole lines, so that a program can search them
_MINUTES_IN_AN_HOUR = 60
_LIMITED: dict[BoundBy, str] = {
    "rpm": "--rpm",
    "tpm": "--tpm",
    "concurrency": "calls at once",
}


def print_plan(figures: Figures, settings: Settings) -> None:
    """Print the plan on stdout: a column for each target, then the lengths of the rows."""
    terminal = Console(highlight=False)
    console = terminal if terminal.is_terminal else Console(highlight=False, width=_COLUMNS_OF_A_FILE)
    targets = figures["targets"]
    console.print(f"{counted(targets[0]['rows'], 'row')}, {counted(targets[0]['original_tokens'], 'token')}\n")
    table = Table(box=None, pad_edge=False)
    table.add_column()
    for target in targets:
        differ = len({each["way"] for each in targets}) > 1
        name = target["way"] if differ else f"target {target['target_max_tokens']:,}"
        table.add_column(name, justify="right")
    for name, show in _lines(figures):
        table.add_row(name, *(show(target) for target in targets))
    console.print(table)
    for target in targets:
        _print_over(console, target)
    for text in _remarks(figures, settings):
        _print_text(console, f"\n{text}")
    if figures["lengths"]["bins"]:
        _print_lengths(console, figures)


def _print_text(console: Console, text: str) -> None:
    """Print prose: wrapped at words on a terminal, whole lines elsewhere."""
    console.print(text, soft_wrap=not console.is_terminal, markup=False)


def _print_over(console: Console, target: Figures) -> None:
    """Name the longest rows that stay over a target, with what makes them long and what was tried."""
    over = target["largest_over"]
    if not over:
        return
    rows = target["still_over_limit"]
    first = f"; the {len(over)} longest" if rows > len(over) else ""
    what = "what helps was tried by planning them with it"
    _print_text(
        console, f"\n{counted(rows, 'row')} over the target of {target['target_max_tokens']:,}{first}; {what}:"
    )
    for row in over:
        place = place_in(printable(row["source_file"]), row["source_row"], row["source_line"])
        _print_text(console, f"{place}: {row['tokens']:,} tokens ({row['reason']})")
        if row["largest_turn"] is not None:
            size = LargestTurn(
                row["largest_turn"], row["largest_turn_role"], row["largest_turn_tokens"], row["tokens"]
            )
            _print_indented(console, f"largest: {size}")
        for words in row["helps"]:
            _print_indented(console, words)


def _print_indented(console: Console, text: str) -> None:
    console.print(
        Padding(Text(text), (0, 0, 0, 2)) if console.is_terminal else f"  {text}",
        soft_wrap=not console.is_terminal,
        markup=False,
    )


def _lines(figures: Figures) -> Iterator[tuple[str, Callable[[Figures], str]]]:
    for key, name in (
        ("skipped_under_target", "under the target already"),
        ("compressed", "to compress"),
        ("unchanged", "over the target, to be left unchanged"),
        ("rejected", "rejected"),
        ("in_dataset", "rows in the dataset"),
        ("still_over_limit", "still over the target"),
    ):
        yield name, partial(_number, key)
    for cause in sorted({cause for target in figures["targets"] for cause in target["causes"]} - {UNCOUNTABLE}):
        yield f"  {cause}", partial(_number, cause, within="causes")
    for reason, name in (
        (UNCOUNTABLE, "of these of unknown length"),
        (FORM_UNFIT, "no form for them"),
        (INTERNAL, "would fail"),
    ):
        if any(target["reasons"].get(reason) for target in figures["targets"]):
            yield f"{name} ({reason})", partial(_number, reason, within="reasons")
    yield "tokens after, about", partial(_number, "expected_tokens")
    yield "saved", _saved
    yield "assistant tokens kept, of rows over", _assistant_tokens_kept
    yield "", lambda _: ""
    yield "with a model, if you name one" if figures["model"] is None else f"with {figures['model']}", lambda _: ""
    yield "calls", partial(_up_to_most, "calls")
    yield "tokens in", partial(_up_to_most, "prompt_tokens")
    yield "tokens out", lambda target: _from_to(target["requests"]["completion_tokens"], "{:,}")
    if figures["price"]:
        yield "cost in USD", lambda target: _from_to(target["requests"]["cost_usd"], "{:,.2f}")
    yield "time", _time


def _number(key: str, target: Figures, within: str | None = None) -> str:
    return f"{(target[within] if within else target).get(key, 0):,}"


def _up_to_most(key: str, target: Figures) -> str:
    requests = target["requests"]
    return _from_to({"low": requests[key], "high": requests["most"][key]}, "{:,}")


def _saved(target: Figures) -> str:
    share = target["tokens_saved"] / target["original_tokens"] if target["original_tokens"] else 0
    return f"{target['tokens_saved']:,} ({share:.1%})"


def _assistant_tokens_kept(target: Figures) -> str:
    had = target["assistant_tokens_original"]
    return f"{target['assistant_tokens_kept'] / had:.1%}" if had else "–"


def _from_to(span: Figures, form: str) -> str:
    low, high = form.format(span["low"]), form.format(span["high"])
    return low if low == high else f"{low} – {high}"


def _time(target: Figures) -> str:
    requests = target["requests"]
    low, high = (_duration(requests["minutes"][end]) for end in ("low", "high"))
    if not requests["calls"]:
        return "0 min"
    return low if low == high else f"{low} – {high}"


def _duration(minutes: float) -> str:
    if minutes < 1:
        return "under 1 min"
    return f"{minutes:.0f} min" if minutes < _MINUTES_IN_AN_HOUR else f"{minutes / _MINUTES_IN_AN_HOUR:.1f} h"


def _remarks(figures: Figures, settings: Settings) -> Iterator[str]:
    """Say what the figures rest on, and what would go wrong."""
    targets = figures["targets"]
    if rejected := {reason: rows for reason, rows in targets[0]["reasons"].items() if reason in REJECTED}:
        lines = (f"  {rows:,} × {reason_in_words(reason, settings)}" for reason, rows in rejected.items())
        yield "\n".join(("Rows that cannot be read (trajcompress check names each):", *lines))
    if any(target["reasons"].get(FORM_UNFIT) for target in targets):
        trainer = settings.compression.target
        where = "stay in the dataset as they are" if settings.processing.save_unfit else "go to rejected.jsonl"
        yield (
            f"Rows that {trainer} has no form for {where} (--save-unfit, --no-save-unfit); which ones, and why: "
            f"trajcompress check --for {trainer}"
        )
    if uncountable := targets[0]["reasons"].get(UNCOUNTABLE):
        words = reason_in_words(UNCOUNTABLE, settings)
        yield f"Rows that cannot be counted (trajcompress check names each):\n  {uncountable:,} × {words}"
    bound_by = [target["requests"]["bound_by"] for target in targets if target["requests"]["calls"]]
    if not bound_by:
        return
    yield f"Time is limited by {' or '.join(_LIMITED[each] for each in dict.fromkeys(bound_by))}."
    if figures["model"] is None:
        yield "No model is named: summaries come from the built-in summariser, without calls, and cost nothing."
    elif figures["price"] is None:
        yield "What it costs is not known: add --price-in and --price-out, in USD per million tokens."
    yield (
        "From the likely to the most: each summary at the first try and as long as asked, or at the last of "
        f"{Tries.of(settings).most}, each as long as a model may write, thinking included. Tokens in are those of "
        "the prompts by this tokenizer. Calls that the server fails at come on top."
    )
    largest = max(target["requests"]["largest"] for target in figures["targets"])
    if figures["tpm"] is not None and largest > figures["tpm"]:
        yield f"The largest request may take {largest:,} tokens: more than --tpm {figures['tpm']:,} ever admits."


def _print_lengths(console: Console, figures: Figures) -> None:
    bins = figures["lengths"]["bins"]
    targets = {target["target_max_tokens"] for target in figures["targets"]}
    most = max(each["rows"] for each in bins)
    width = min(_BAR_COLUMNS, max(_FEWEST_BAR_COLUMNS, console.width - _BESIDE_A_BAR))
    table = Table(box=None, pad_edge=False)
    table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column(width=width)
    table.add_column(no_wrap=True)
    for each in bins:
        over = each["over"] >= min(targets)
        table.add_row(
            f"≤ {each['up_to']:,}",
            f"{each['rows']:,}",
            Bar(most, 0, each["rows"], width=width, color="yellow" if over else "green"),
            f"◀ target {each['up_to']:,}" if each["up_to"] in targets else "",
        )
    console.print()
    console.print(table)
    half, most_of, nearly_all, longest = (f"{tokens:,}" for tokens in figures["lengths"]["quantiles"].values())
    _print_text(console, f"\nhalf of the rows ≤ {half}, 90% ≤ {most_of}, 99% ≤ {nearly_all}, the longest {longest}")
