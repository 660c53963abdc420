"""``trajcompress audit``: what runs have left, judged by their metrics."""

from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, TypeVar

import typer

from trajcompress.cli import options

T = TypeVar("T")


Format: TypeAlias = Literal["table", "json", "markdown", "junit", "github"]
"""What the audit is printed as."""


def audit(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Run folders, or Parquet files of metrics; several, as shards are, are added up.",
            show_default=False,
        ),
    ],
    max_over_limit: Annotated[
        str | None, typer.Option(metavar="N|P%", help="Gate: rows that may still be over the limit.")
    ] = None,
    max_failed: Annotated[
        str | None, typer.Option(metavar="N|P%", help="Gate: rows that may have failed or been rejected.")
    ] = None,
    max_left_out: Annotated[
        str | None,
        typer.Option(
            metavar="N|P%",
            help="Gate: rows that may be left out of the dataset, such as those without a form for the target.",
        ),
    ] = None,
    min_facts_kept: Annotated[
        str | None,
        typer.Option(metavar="P%", help="Gate: share of the facts that kept turns rely on, in summaries at least."),
    ] = None,
    min_assistant_kept: Annotated[
        str | None,
        typer.Option(
            metavar="P%", help="Gate: share of the assistant's tokens that is kept at least, of rows over the target."
        ),
    ] = None,
    max_ratio: Annotated[
        str | None, typer.Option(metavar="R", help="Gate: tokens after by tokens before, at most; such as 0.6.")
    ] = None,
    near: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Count the rows within the limit that have this share of it, or more. [default: 0.95, where the "
            "limit is known]",
        ),
    ] = None,
    target_max_tokens: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The limit, for --near. [default: that of the run folder]")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION",
            help="Audit the rows alone that meet a condition over the columns of metrics.parquet, written as in SQL: "
            "\"in_dataset AND source_file LIKE 'web/%'\".",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the audited rows, after --where: ids to a .txt, their metrics to a .jsonl."
        ),
    ] = None,
    new_only: Annotated[
        bool,
        typer.Option("--new-only", help="Of what the target would refuse, leave out what the input had already."),
    ] = False,
    examples: Annotated[int, typer.Option(metavar="N", min=0, help="Rows to name of each cause and gate.")] = 5,
    output_format: Annotated[
        Format | None,
        typer.Option("--format", help="github: annotations; junit: for GitLab and Jenkins. [default: table]"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    debug: options.Debug = False,
) -> None:
    """Say what became of the rows of a run: which are still over the limit, failed, or lost facts, and why.

    \b
    At a desk:
        trajcompress audit out/
        trajcompress audit out/ --where "still_over_limit AND reason = 'tail'" --export ids.txt

    \b
    In CI; exit code 1 if a gate fails:
        trajcompress audit out/ --max-over-limit 0.5% --max-failed 0 --format github

    Only metrics are read; nothing is counted or summarised again.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from trajcompress.cli.printing import print_utf8, terminal_width
    from trajcompress.errors import SettingsError
    from trajcompress.results.audit.gates import Limits, parse_percentage, parse_ratio
    from trajcompress.results.audit.report import Asked
    from trajcompress.results.audit.report import audit as run_audit
    from trajcompress.settings import FailureLimit
    from trajcompress.wording import counted

    if as_json and output_format not in {None, "json"}:
        raise SettingsError(f"--json and --format {output_format} are two formats; give one")
    chosen: Format = "json" if as_json else output_format or "table"
    limits = Limits(
        max_over_limit=_read("--max-over-limit", FailureLimit.parse, max_over_limit),
        max_failed=_read("--max-failed", FailureLimit.parse, max_failed),
        max_left_out=_read("--max-left-out", FailureLimit.parse, max_left_out),
        min_facts_kept=_read("--min-facts-kept", parse_percentage, min_facts_kept),
        min_assistant_kept=_read("--min-assistant-kept", parse_percentage, min_assistant_kept),
        max_ratio=_read("--max-ratio", parse_ratio, max_ratio),
    )
    share = _read("--near", _parse_share, near)
    report = run_audit(Asked(paths, limits, where, share, target_max_tokens, examples, export, new_only))
    for note in report.notes:
        typer.echo(note, err=True)
    if report.exported is not None:
        typer.echo(f"{counted(report.exported, 'row')} written to {export}", err=True)
    if not report.total.totals.rows:
        typer.echo("no rows were audited" + (": none meet --where" if where else ""), err=True)
    name = "json_object" if chosen == "json" else chosen
    module = import_module(f"trajcompress.results.audit.formats.{name}")
    text = module.render(report, terminal_width()) if chosen == "table" else module.render(report)
    if chosen in {"junit", "github"}:
        print_utf8(f"{text}\n")
    else:
        typer.echo(text)
    raise typer.Exit(int(not report.passed))


def _read(option: str, parse: Callable[[str], T], value: str | None) -> T | None:
    from trajcompress.errors import SettingsError

    try:
        return None if value is None else parse(value)
    except ValueError as error:
        raise SettingsError(f"{option} {value}: {error}") from error


def _parse_share(text: str) -> Decimal:
    from trajcompress.results.audit.gates import parse_ratio

    try:
        share = parse_ratio(text)
    except ValueError:
        share = Decimal(0)
    if not 0 < share <= 1:
        raise ValueError("should be a share of the limit, above 0 and up to 1, such as 0.95")
    return share
