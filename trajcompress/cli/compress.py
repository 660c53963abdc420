"""``trajcompress compress``: the main job."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trajcompress.cli import options
from trajcompress.settings import SETTINGS, FailureLimit, Settings, resolve
from trajcompress.settings.declare import Group
from trajcompress.wording import command_to_show, counted, place_in, printable

if TYPE_CHECKING:  # importing these would slow every --help down
    from trajcompress.run.progress.reporter import RunResult

_OF_AN_ENDPOINT = {
    f"summarization.{name}" for name in ("base_url", "api_key_env", "price_in", "price_out", "price_cached")
}
_NOT_AGAIN = (
    "standard input, or a pipe, cannot be read again, so this run cannot go on: save it to a file, and name that; "
    "--cache DIR keeps summaries from being paid for twice"
)


@options.takes(SETTINGS.values())
def compress(
    inputs: options.Inputs = None,
    *,
    config: options.ConfigFile = None,
    push_to_hub: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="Publish the finished run as a dataset on the Hugging Face hub, with the token in HF_TOKEN: data, "
            "card, totals and metrics, nothing that was rejected. Also of a run that is finished already.",
            rich_help_panel=Group.WRITTEN,
        ),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private/--public", help="What a repository is made as.", rich_help_panel=Group.WRITTEN)
    ] = True,
    progress: options.Shown = "auto",
    quiet: options.Quiet = False,
    as_json: options.Totals = False,
    debug: options.Debug = False,
    **given: Any,
) -> None:
    """Compress the trajectories that are over the token budget, and write the dataset and its metrics.

    \b
    Offline and free unless --model is named:
        trajcompress compress data/ --output out/

    \b
    With a model behind any OpenAI-compatible endpoint:
        trajcompress compress data/ -o out/ --model gpt-5-mini --rpm 500

    Running the same command again goes on where an interrupted run stopped.
    """  # noqa: D301  \b is what keeps the help from joining these lines
    from trajcompress.cli.progress import TerminalReporter
    from trajcompress.cli.tables import print_result

    resolved = resolve(options.by_key(given), config)
    options.require_inputs(inputs, resolved.settings)
    from trajcompress.run.build.prices import listed_price, price_of
    from trajcompress.run.interrupt import EXIT_INTERRUPTED, stop_signals
    from trajcompress.run.job import run
    from trajcompress.run.past.push import check_push

    if push_to_hub:
        check_push(push_to_hub)
    settings = resolved.settings
    price = price_of(settings)
    reporter = TerminalReporter(
        quiet=quiet,
        shown=progress,
        settings=settings,
        price_of=lambda model: price if model == settings.summarization.called else listed_price(model),
    )
    for note in (*resolved.notes, *options.without_effect(resolved), *_calls_nobody(settings, resolved.origins)):
        reporter.note(note)
    with reporter, stop_signals() as stop_on:
        try:
            result = run(resolved.settings, inputs or [], reporter, stop_on=stop_on)
        except KeyboardInterrupt:
            typer.echo("interrupted before the first row", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    print_result(result, resolved.settings, quiet=quiet, as_json=as_json)
    if result.state == "complete" and not result.totals.rows:
        reporter.note(options.no_row_of(inputs or [], settings))
    _print_how_to_go_on(
        result,
        settings,
        _paid(*reporter.calls()),
        from_stdin=any(each == "-" or Path(each).is_fifo() for each in inputs or ()),
    )
    if result.is_first and resolved.origins["processing.retry_failed"].startswith("command line"):
        nothing = f"{result.folder} held no run whose rows could have failed"
        typer.echo(f"--retry-failed: of no use, as {printable(nothing)}", err=True)
    code = _exit_code(result, resolved.settings)
    if push_to_hub:
        _push(result, push_to_hub, code, private=private, quiet=quiet)
    raise typer.Exit(code)


def _calls_nobody(settings: Settings, origins: dict[str, str]) -> list[str]:
    """Say that options are of no use that bear on calls alone, where nobody is called."""
    of_calls = {key for key, each in SETTINGS.items() if each.group is Group.CALLS} | _OF_AN_ENDPOINT
    flags = [
        each.flag
        for key, each in SETTINGS.items()
        if key in of_calls and origins[key] == f"command line ({each.flag})"
    ]
    if not flags or not settings.summarization.is_built_in:
        return []
    return [f"{', '.join(flags)}: of no use, as the built-in summariser calls nobody; to call a model: --model NAME"]


def _push(result: "RunResult", repo: str, code: int, *, private: bool, quiet: bool) -> None:
    from trajcompress.run.past.push import push

    if code:
        typer.echo(f"{repo}: not pushed, as the run did not end well; the same command pushes once it does", err=True)
        return
    url = push(result.folder, repo, private=private, progress=not quiet and sys.stderr.isatty())
    if not quiet:
        typer.echo(f"pushed to {url}", err=True)


def _exit_code(result: "RunResult", settings: Settings) -> int:
    from trajcompress.run.interrupt import EXIT_INTERRUPTED

    if result.state == "interrupted":
        return EXIT_INTERRUPTED
    if result.error:
        return result.error.exit_code
    if result.changed:
        return 1
    allowed = settings.processing.max_failed or FailureLimit()
    return int(allowed.exceeded(result.totals.not_handled, result.totals.rows))


def _print_how_to_go_on(result: "RunResult", settings: Settings, paid: str, *, from_stdin: bool) -> None:
    from trajcompress.dataset.standing import change_lines

    if result.state == "waiting":
        typer.echo(f"waiting: {result.stopped}", err=True)
    elif result.stopped:
        typer.echo(f"error: stopped early: {result.stopped}", err=True)
        typer.echo(
            _NOT_AGAIN if from_stdin else f"{_kept(result, paid)}; {_how_to_go_on(result, settings)}", err=True
        )
    elif result.state in ("complete", "input_changed") and (lost := result.totals.not_handled):
        from trajcompress.metrics.files import first_not_handled
        from trajcompress.run.folder.run_folder import RunFolder

        failed = result.totals.outcomes["failed"]
        where = "metrics.parquet" if lost == failed else "rejected.jsonl and metrics.parquet"
        again = "; the same command with --retry-failed tries those again that failed" if failed else ""
        place = first_not_handled(RunFolder(result.folder).metrics)
        show = f"; to look at one: {command_to_show(str(result.folder), place_in(*place))}" if place else ""
        typer.echo(
            f"failed or rejected: {counted(lost, 'row')}; see {where} in {result.folder}{show}{again}", err=True
        )
    elif result.state == "interrupted":
        how = _NOT_AGAIN if from_stdin else f"{_kept(result, paid)}. To go on: {_same_command()}"
        typer.echo(f"interrupted; {how}", err=True)
    if result.changed:
        for line in change_lines(result.changed):
            typer.echo(f"error: {line}", err=True)
        rows_say = ": its rows are marked input_changed in metrics.parquet" if result.state == "input_changed" else ""
        typer.echo(
            f"what was read of such a file may be wrong{rows_say}; once it stands still, run again with --overwrite, "
            "which keeps the summaries that were paid for",
            err=True,
        )


def _kept(result: "RunResult", paid: str) -> str:
    done, written = result.totals.rows, result.committed_rows
    if done <= written:
        return f"what is done is kept: {counted(written, 'row')}{paid}"
    begun = f"{done - written:,} more, begun already, will be done again"
    return f"what is written is kept: {counted(written, 'row')}; {begun}{paid}"


def _paid(calls: int, usd: float | None) -> str:
    """Say what the calls of this session have cost; nothing where there were none."""
    if not calls:
        return ""
    cost = f" for ${usd:,.4f}" if usd is not None else ""
    return f"; {counted(calls, 'call')} made{cost} in this session, and no summary is paid for twice"


def _how_to_go_on(result: "RunResult", settings: Settings) -> str:
    """Say with which command; not with a limit again that would stop it at once."""
    from trajcompress.errors import SummarizerUnusableError, TooManyFailedError

    match result.error:
        case TooManyFailedError():
            return (
                "the same command tries rows that failed again; to go on however many fail: "
                f"{_same_command('--max-failed', '100%')}"
            )
        case SummarizerUnusableError(reason="max_cost"):
            more = f"{2 * (settings.summarization.max_cost or 0):g}"
            return f"to go on with more: {_same_command('--max-cost', more)}"
        case SummarizerUnusableError(reason="unknown_cost"):
            return f"to go on: {_same_command('--max-cost', None)}"
    return f"fix the cause, and go on with: {_same_command()}"


def _same_command(option: str | None = None, value: str | None = None) -> str:
    """Return the command that was given, to go on with; with another value of an option, None for without it."""
    args, given = list[str](), iter(sys.argv[1:])
    for arg in given:
        if arg == option:
            next(given, None)
        elif arg != "--overwrite" and not arg.startswith(f"{option}="):
            args.append(arg)
    return shlex.join(["trajcompress", *args, *([option, value] if option and value else [])])
