"""The page: what is on it, and putting it together."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from markupsafe import Markup, escape

from trajcompress.metrics.reasons import explain
from trajcompress.metrics.remedies import largest_turn
from trajcompress.metrics.row import RowMetrics
from trajcompress.processes.late_patterns import late_re
from trajcompress.results.report import advice
from trajcompress.results.report.excerpt import Excerpt
from trajcompress.results.report.figures import Figures, Place, WorstRow
from trajcompress.results.report.parts import Plot, explanation
from trajcompress.results.report.svg import DARK, LIGHT
from trajcompress.results.show.safe import printable
from trajcompress.run.past.unfinished import in_words
from trajcompress.wording import last_part

_TOKENS = "Tokens"
_OPTION = late_re(r"--[a-z][a-z-]*")


@dataclass(frozen=True, slots=True)
class Tile:
    """A headline figure, and what to do about it."""

    name: str
    value: str
    note: str = ""
    is_bad: bool = False
    advice: str = ""


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A row with its excerpt; ``anchor`` is where it stands on the page, ``name`` its file and row."""

    anchor: str
    name: str
    metrics: RowMetrics
    error: str
    excerpt: Excerpt
    helps: Sequence[str] = ()  # what may help it, by what it is like

    @property
    def meaning(self) -> str:
        """Why the row is as it is, and what helps; empty where all is well."""
        metrics = self.metrics
        if not metrics.reason:
            return ""
        largest = largest_turn(metrics)
        if largest is None:
            return explanation(metrics.reason, metrics.outcome)
        meaning = explain(metrics.reason, metrics.outcome).meaning
        helps = f" What may help: {'; '.join(self.helps)}." if self.helps else ""
        return f"{meaning[:1].upper()}{meaning[1:]}. The largest turn that is left: {printable(str(largest))}.{helps}"


@dataclass(frozen=True, slots=True)
class WorstList:
    """Rows that are bad in one way, the worst first, each with its amount of it."""

    title: str
    amount: str
    shows_tokens: bool  # beside the amount
    rows: list[tuple[ShownRow, str]]


def render(
    *, run: str, about: Sequence[tuple[str, str]], tiles: Sequence[Tile], plots: Sequence[Plot],
    worst: Sequence[WorstList], rows: Sequence[ShownRow],
) -> str:  # fmt: skip
    """Return the page as HTML; nothing that comes from rows can act in it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("trajcompress.results.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["with_options"] = _with_options
    script = files("trajcompress.results.report").joinpath("templates/page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("page.html.j2").render(
        script=script,
        script_digest=digest,
        light=LIGHT,
        dark=DARK,
        run=run,
        about=about,
        tiles=tiles,
        plots=plots,
        worst=worst,
        rows=rows,
    )


def tiles_of(figures: Figures, settings: Mapping[str, Any]) -> list[Tile]:
    """Return the headline figures of a run with such settings, by dotted key."""
    totals = figures.totals
    outcomes = totals.outcomes
    before, after = totals.original_tokens, totals.compressed_tokens
    over, lost = totals.still_over_limit, totals.facts_needed - totals.facts_kept
    calls = totals.summarization_api_calls
    at_least = "at least " if totals.asked_without_price else ""
    price = f"{at_least}${totals.known_cost_usd:,.2f}" if totals.has_price else "cost not known"
    return [
        Tile(
            "Tokens saved",
            _share(totals.tokens_saved, before),
            f"{before:,} → {after:,}",
            advice=advice.saved(totals),
        ),
        Tile(
            "Rows",
            f"{totals.rows:,}",
            f"{outcomes['compressed']:,} compressed, {outcomes['skipped_under_target']:,} under the target already, "
            f"{outcomes['unchanged']:,} over it and unchanged",
            advice=advice.rows(totals),
        ),
        Tile(
            "Still over the target",
            f"{over:,}",
            f"{_share(over, totals.rows)} of all rows",
            over > 0,
            advice.over(totals),
        ),
        Tile(
            "Assistant tokens kept",
            _share(totals.assistant_tokens_kept, totals.assistant_tokens_original),
            f"{totals.assistant_tokens_kept:,} of {totals.assistant_tokens_original:,} in rows over the target",
            advice.loses_much(totals),
            advice.assistant_kept(totals, settings),
        ),
        Tile(
            "Facts kept",
            _share(totals.facts_kept, totals.facts_needed),
            f"{totals.facts_kept:,} of {totals.facts_needed:,} that kept turns rely on",
            lost > 0,
            advice.facts(totals),
        ),
        Tile(
            "Failed or rejected",
            f"{totals.not_handled:,}",
            f"{outcomes['failed']:,} failed, original kept; {outcomes['rejected']:,} rejected",
            totals.not_handled > 0,
            advice.not_handled(totals),
        ),
        Tile(
            "API calls", f"{calls:,}", price if calls else "summaries were made offline", advice=advice.calls(totals)
        ),
    ]


def worst_of(figures: Figures, rows: Mapping[Place, ShownRow]) -> list[WorstList]:
    """Return the lists of the rows to look at, those that have any."""
    lists = (
        ("Largest over the target", "Tokens over", figures.most_over),
        ("Most facts lost", "Facts lost", figures.most_facts_lost),
        ("Failed, largest first", _TOKENS, figures.failed),
        ("Most compressed", "Tokens saved", figures.most_saved),
    )
    return [
        WorstList(title, amount, amount != _TOKENS, [(rows[each.place], f"{each.amount:,}") for each in worst])
        for title, amount, worst in lists
        if worst
    ]


def all_worst(figures: Figures) -> list[WorstRow]:
    """Return every row that is in one of the lists, once."""
    lists = (*figures.most_over, *figures.most_facts_lost, *figures.failed, *figures.most_saved)
    return list({each.place: each for each in lists}.values())


def about_run(run_json: Mapping[str, Any], figures: Figures, state: str | None) -> list[tuple[str, str]]:
    """Return what a reader must know of the run to judge its figures; ``state`` is that of one that has not ended."""
    summarizers = ", ".join(printable(each) for each in sorted(figures.totals.summarizers)) or "none was needed"
    changed = [printable(name) for name in run_json.get("changed_inputs", {})]
    return [
        *([("So far", f"the run {in_words(state)}; these are the rows committed by now")] if state else []),
        *([("Inputs that changed while they were read", ", ".join(changed))] if changed else []),
        ("Target", f"{figures.target:,} tokens"),
        ("Tokenizer", printable(last_part(run_json["tokenizer"]["name"]))),
        ("Counted by", ", ".join(sorted(figures.totals.count_methods)) or "nothing could be counted"),
        ("Summariser", summarizers),
        ("Made with", f"trajcompress {run_json['versions']['trajcompress-cli']}"),
    ]


def _with_options(text: str) -> Markup:
    """Set options of the command line apart, so that they are not broken across lines."""
    return Markup(_OPTION.sub(r"<code>\g<0></code>", str(escape(text))))  # noqa: S704 - escaped right here


def _share(part: int, whole: int) -> str:
    """Return a percentage that is 0 or 100 only where it is so."""
    if not whole:
        return "–"
    shown = f"{part / whole:.1%}"
    if shown == "100.0%":
        return "100%" if part == whole else ">99.9%"
    return "0%" if not part else "<0.1%" if shown == "0.0%" else shown
