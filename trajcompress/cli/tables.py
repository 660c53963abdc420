"""How a run ended: a table for people on stderr, JSON for programs on stdout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from trajcompress.cli.printing import wrapped
from trajcompress.compaction.happened import FORM_UNFIT
from trajcompress.metrics.reasons import OUTCOMES, REJECTED, UNCOUNTABLE, explain
from trajcompress.run.progress.reporter import RunResult
from trajcompress.tokens.tokenizer import DEFAULT_TOKENIZER
from trajcompress.wording import counted, last_part, printable

if TYPE_CHECKING:
    from trajcompress.metrics.totals import Totals
    from trajcompress.settings import Settings

_STATES = {"complete": "", "input_changed": ", of inputs that changed while they were read"}
_REMEDIES = {
    "to cut long tool results of protected turns": "--fit strict",
    "to protect less": "a smaller --last-n-turns, or --tail-tokens N",
    "to leave rows out": "--no-save-over-limit",
}


def how_to_fit(settings: Settings | None) -> str:
    """Say what helps rows that do not fit, but for what was asked for already."""
    if settings and settings.compression.mode == "segments":
        leave = "; to leave such segments out: --no-save-over-limit" * settings.processing.save_over_limit
        return f"To give it room: a larger --target-max-tokens{leave}."
    given = set()
    if settings is None or settings.compression.fit == "strict":  # the default; merged runs have settings each
        given.add("--fit strict")
    if settings and not settings.processing.save_over_limit:
        given.add("--no-save-over-limit")
    helps = "; ".join(f"{aim}: {option}" for aim, option in _REMEDIES.items() if option not in given)
    return f"{helps[0].upper()}{helps[1:]}."


def print_result(result: RunResult, settings: Settings | None = None, *, quiet: bool, as_json: bool) -> None:
    """Print the totals of a run that was made by ``settings``."""
    if as_json:
        figures = {
            "output": str(result.folder),
            "state": result.state,
            **result.totals.as_dict(),
            "count_caveat": result.count_caveat,
            "changed_inputs": dict(result.changed),
            "left_out": [left.as_dict() for left in result.left_out],
        }
        typer.echo(json.dumps(figures, indent=2))
    elif not quiet and not (result.state == "waiting" and not result.totals.rows):  # nothing is to be counted yet
        _print_table(result, settings)


def _print_table(result: RunResult, settings: Settings | None) -> None:
    totals, folder = result.totals, result.folder
    title = counted(totals.rows, "row") + _STATES.get(result.state, _so_far(result))
    if settings:
        tokenizer = printable(last_part(settings.tokenizer.name or DEFAULT_TOKENIZER))
        title += f"; target {settings.compression.target_max_tokens:,} tokens of {tokenizer}"
    figures = totals.as_dict()
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    _add_outcomes(table, totals)
    table.add_row("tokens", f"{totals.original_tokens:,} → {totals.compressed_tokens:,}")
    if totals.rows_written > totals.in_dataset:
        table.add_row("rows written, in segments", f"{totals.rows_written:,}")
    elif totals.original_tokens:
        table.add_row("saved", f"{totals.tokens_saved:,} ({totals.tokens_saved / totals.original_tokens:.1%})")
    if figures["assistant_tokens_kept_ratio"] is not None:
        table.add_row(
            "assistant tokens kept, of rows over the target", f"{figures['assistant_tokens_kept_ratio']:.1%}"
        )
    if totals.facts_needed:
        table.add_row(
            "facts that kept turns rely on, in summaries", f"{totals.facts_kept:,} of {totals.facts_needed:,}"
        )
    _add_summarizers(table, totals, settings)
    _add_calls(table, totals, settings, "API calls" if result.state in _STATES else "API calls for these rows")
    console = Console(stderr=True, highlight=False)
    console.print(f"\n{title}", soft_wrap=not console.is_terminal, markup=False)
    console.print(table)
    _print_reasons(console, totals, settings)
    console.print(f"\n{folder}/", style="bold")


def _so_far(result: RunResult) -> str:
    """Say of a run that has not ended how many of the rows that its figures count will be done once more."""
    again = result.totals.rows - result.committed_rows
    counted_too = (
        f"; these figures count {again:,} not yet written, done again by the run that goes on" if again else ""
    )
    return f" so far: {result.state}{counted_too}"


def _add_outcomes(table: Table, totals: Totals) -> None:
    for key, name in OUTCOMES.items():
        table.add_row(name, f"{totals.outcomes[key]:,}")
    if left_out := totals.rows - totals.outcomes["rejected"] - totals.in_dataset:
        table.add_row("of these left out of the dataset", f"{left_out:,}")
    table.add_row("still over the target", f"{totals.still_over_limit:,}")
    if uncountable := totals.reasons[UNCOUNTABLE]:
        table.add_row("of these of unknown length", f"{uncountable:,}")
    if totals.unfit_over_limit:
        table.add_row("of these without a form in the target", f"{totals.unfit_over_limit:,}")
    if refused := totals.count_methods["content_template_refused"]:
        table.add_row("counted by turns: the template refuses them, or drops calls", f"{refused:,}")


def _add_summarizers(table: Table, totals: Totals, settings: Settings | None) -> None:
    """Say who wrote summaries, where it was not only the model that was asked for."""
    called = settings.summarization.called if settings else None
    if called and totals.summarizers.keys() - {called}:
        for name, rows in totals.summarizers.most_common():
            table.add_row(printable(f"summaries by {name}"), f"{rows:,}")


def _add_calls(table: Table, totals: Totals, settings: Settings | None, what: str) -> None:
    if totals.summarization_api_calls:
        table.add_row(what, f"{totals.summarization_api_calls:,} ({totals.summarization_errors:,} failed)")
        cached = f" ({totals.cached_tokens:,} cached)" * bool(totals.cached_tokens)
        table.add_row(
            "tokens in, out of the model", f"{totals.prompt_tokens:,}{cached}, {totals.completion_tokens:,}"
        )
        if totals.cost_usd is not None:
            most = settings.summarization.max_cost if settings else None
            above = totals.cost_usd - most if most is not None else 0.0
            more = f" ({above:,.4f} above --max-cost)" if above > 0 else ""
            table.add_row("cost in USD", f"{totals.cost_usd:,.4f}{more}")
        elif not totals.prompt_tokens:
            table.add_row("cost in USD", "unknown: no tokens were counted")
    if totals.cache_hits:
        table.add_row("summaries reused, not paid for again", f"{totals.cache_hits:,}")


def _print_reasons(console: Console, totals: Totals, settings: Settings | None) -> None:
    width = console.width if console.is_terminal else None
    for reason, rows in totals.reasons.most_common():
        line = wrapped(f"  {rows:,} × {reason_in_words(reason, settings)}", width, hanging="      ")
        console.print(line, soft_wrap=True, markup=False)
    if too_long := totals.still_over_limit - totals.unfit_over_limit - totals.failed_over_limit:
        console.print(
            f"\nstill too long: {counted(too_long, 'row')}, for the reasons above; trajcompress audit"
            f" names each and says what helps it. {how_to_fit(settings)}"
        )
    if totals.template_refused and not (settings and settings.compression.form == "target"):
        console.print(f"\n{wrapped(_how_to_render(totals.template_refused), width)}", soft_wrap=True)
    if unfit := totals.reasons[FORM_UNFIT]:
        console.print(f"\n{_how_to_form(unfit, settings)}")


def _how_to_render(rows: int) -> str:
    """Say what helps rows that the chat template refuses."""
    return (
        f"refused by the chat template: {counted(rows, 'row')} as written, at which a trainer stops; trajcompress "
        "check names them and says why. To have them rendered: --for TRAINER, which writes rows in its form, or "
        "--chat-template FILE."
    )


def _how_to_form(rows: int, settings: Settings | None) -> str:
    """Say what helps rows that the target has no form for, which no budget does."""
    target = settings.compression.target if settings else "the target"
    if settings is None or settings.processing.save_unfit:
        why = "error in metrics.parquet says why of each"
    else:
        why = "rejected.jsonl says why of each, and --save-unfit keeps such rows in the dataset"
    version = ""
    if target == "mistral":
        version = "; where a --mistral-version is named that takes a row, and it is your tokenizer's, give that"
    return (
        f"no form in {target}: {counted(rows, 'row')}, which is no matter of length, so no limit helps; {why}. To "
        f"write them for it, change them in the input{version}."
    )


_WITH_REMEDY = {
    *REJECTED,
    UNCOUNTABLE,
    "context_length_exceeded",
    "context_too_small",
    "request_exceeds_tpm",
    "summarizer_error",
    "trajectory_timeout",
}
"""The others are told how to be tried again, or how to fit."""


def reason_in_words(reason: str, settings: Settings | None) -> str:
    """Say what a reason means, and what helps of those for which nothing else is said of the run."""
    named = settings.input.messages_field if settings else None
    if reason == "no_messages" and named is not None:
        why = f"no column {named!r} with messages, which --messages-field names"
        return printable(f"{reason}: {why}; name another, or leave the option out, which finds the usual ones")
    known = explain(reason, "failed")
    return f"{reason}: {known.meaning}" + (f"; {known.remedy}" if reason in _WITH_REMEDY else "")
