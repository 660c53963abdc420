"""``trajcompress plan``: what ``compress`` would do."""

from pathlib import Path
from typing import Annotated, Any

import typer

from trajcompress.cli import options
from trajcompress.settings import SETTINGS, Resolved, resolve


@options.takes(setting for setting in SETTINGS.values() if setting.in_plan)
def plan(
    inputs: options.Inputs = None,
    *,
    config: options.ConfigFile = None,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...", help="Compare these targets, in one reading, in place of --target-max-tokens."
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Put the ways side by side, in one reading: one row with observations cleared first, one row with "
            "summaries alone, and segments.",
        ),
    ] = False,
    progress: options.Shown = "auto",
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
    **given: Any,
) -> None:
    """Show what compress would do: rows by outcome, tokens, calls, cost, time, and how long the rows are.

    \b
    Nothing is summarised, called or written:
        trajcompress plan data/ --target-max-tokens 8000
        trajcompress plan data/ --sweep 8000,16000,32000 --model gpt-5-mini --rpm 500
        trajcompress plan data/ --target-max-tokens 8000 --compare

    A summary is taken to fill its room. Where it is shorter, turns stay, so what is expected is close, not a bound.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from trajcompress.cli.plan_figures import as_figures
    from trajcompress.cli.plan_tables import print_plan
    from trajcompress.cli.progress import TerminalReporter
    from trajcompress.dataset.standing import change_lines
    from trajcompress.errors import SettingsError
    from trajcompress.planning.job import plan_dataset
    from trajcompress.run.build.prices import price_of
    from trajcompress.run.interrupt import EXIT_INTERRUPTED

    if sweep is not None and compare:
        raise SettingsError("--sweep compares targets, --compare ways to one of them; give one")
    by_key = options.by_key(given)
    each = _resolve_ways(by_key, config) if compare else _resolve_each(by_key, config, sweep)
    settings = [one.settings for one in each]
    options.require_inputs(inputs, settings[0])
    price = price_of(settings[0])
    if price and settings[0].summarization.batch:
        price = price.by_batch()
    with TerminalReporter(quiet=quiet, task="plan", shown=progress) as reporter:
        for note in (*each[0].notes, *options.without_effect(*each)):
            reporter.note(note)
        try:
            planned = plan_dataset(settings, inputs or [], reporter)
        except KeyboardInterrupt:
            typer.echo("interrupted; a plan leaves nothing behind", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    figures = as_figures(planned, settings, price)
    if as_json:
        import json

        typer.echo(json.dumps(figures, indent=2))
    else:
        print_plan(figures, settings[0])
    if not figures["targets"][0]["rows"]:
        reporter.note(options.no_row_of(inputs or [], settings[0]))
    if planned.changed:
        for line in change_lines(planned.changed):
            typer.echo(f"error: {line}", err=True)
        typer.echo("what is planned may be wrong; plan again once the input stands still", err=True)
        raise typer.Exit(1)


def _resolve_ways(given: dict[str, Any], config: Path | None) -> list[Resolved]:
    """Return the settings for each way to bring rows to the target."""
    from trajcompress.errors import SettingsError

    mode, prune, fit = (f"compression.{name}" for name in ("mode", "prune", "fit"))
    if named := next((key for key in (mode, prune, fit) if given[key] is not None), None):
        raise SettingsError(f"--compare plans with each {named}; leave it out")
    ways = (("row", "all", "strict"), ("row", "off", "lenient"), ("segments", "all", "strict"))
    return [resolve({**given, mode: way[0], prune: way[1], fit: way[2]}, config) for way in ways]


def _resolve_each(given: dict[str, Any], config: Path | None, sweep: str | None) -> list[Resolved]:
    """Return the settings for each target, from the smallest."""
    from trajcompress.errors import SettingsError

    key = "compression.target_max_tokens"
    if sweep is None:
        return [resolve(given, config)]
    if given[key] is not None:
        raise SettingsError("--sweep and --target-max-tokens are two ways to say it; give one")
    try:
        targets = sorted({int(target) for target in sweep.split(",")})
    except ValueError:
        raise SettingsError(f"--sweep {sweep}: should be targets such as 8000,16000,32000") from None
    return [resolve({**given, key: target}, config) for target in targets]
