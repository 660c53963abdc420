"""``trajcompress compress``: the main job."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajcompress.cli import options
from trajcompress.wording import counted

if TYPE_CHECKING:  # importing these would slow every --help down
    from trajcompress.run.reporter import RunResult
    from trajcompress.settings import Settings

_NOT_AGAIN = (
    "standard input, or a pipe, cannot be read again, so this run cannot go on: save it to a file, and name that; "
    "--cache DIR keeps summaries from being paid for twice"
)


class Marks(StrEnum):
    """What leaves a summary out of the loss."""

    none = "none"
    train = "train"
    loss_mask = "loss-mask"
    weight = "weight"
    auto = "auto"


class OutputFormat(StrEnum):
    """What the dataset is written as."""

    parquet = "parquet"
    jsonl = "jsonl"


class OnFailure(StrEnum):
    """What becomes of a row whose summary failed."""

    keep = "keep"
    extractive = "extractive"


def compress(
    inputs: options.Inputs = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Run folder. Default: the first input's name + _compressed, beside it.",
        ),
    ] = None,
    config: options.ConfigFile = None,
    tokenizer: options.Tokenizer = None,
    trust_remote_code: options.TrustRemoteCode = None,
    target_max_tokens: options.TargetMaxTokens = None,
    summary_target_tokens: options.SummaryTargetTokens = None,
    last_n_turns: options.LastNTurns = None,
    tail_tokens: options.TailTokens = None,
    max_passes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Summaries of a row at most, where one is too long or leaves out what is needed. [default: 3]",
        ),
    ] = None,
    prune: options.PruneWhat = None,
    fit: options.FitHow = None,
    count: options.CountMethod = None,
    model: options.Model = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="OpenAI-compatible endpoint. [default: OpenAI's]"),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="VAR", help="Variable that holds the key. [default: OPENAI_API_KEY]"),
    ] = None,
    rpm: options.Rpm = None,
    tpm: options.Tpm = None,
    price_in: options.PriceIn = None,
    price_out: options.PriceOut = None,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Keep summaries here for other runs, and take from here what they kept.",
        ),
    ] = None,
    redact: options.RedactWhere = None,
    max_concurrent_requests: options.MaxConcurrentRequests = None,
    max_retries: Annotated[
        int | None,
        typer.Option(metavar="N", help="Further tries after a failed call. [default: 8]"),
    ] = None,
    max_failures_in_a_row: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="After so many failed calls in a row all pause, and one at a time is tried until one is answered. "
            "[default: 20]",
        ),
    ] = None,
    max_outage: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long to wait for a server that is down or asks for patience; then the run stops, and can go "
            "on later. One that never answered is given 30 seconds. [default: 600]",
        ),
    ] = None,
    fallback_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One try on this model where the first fails."),
    ] = None,
    on_failure: Annotated[
        OnFailure | None,
        typer.Option(
            help="A row whose summary failed: keep the original, or use the built-in summariser. [default: keep]",
        ),
    ] = None,
    per_trajectory_timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="After so long in calls a row keeps its original. [default: 300]",
        ),
    ] = None,
    placement: options.PlacementOfSummary = None,
    for_: options.For = None,
    marks: Annotated[
        Marks | None,
        typer.Option(
            help="Leave a summary's own turn out of the loss by a key of its message: train: false, loss_mask: 0, "
            "weight: 0; auto: the one that the target of --for reads, if any. [default: none]",
        ),
    ] = None,
    record: Annotated[
        bool | None,
        typer.Option(
            "--record/--no-record",
            help="Say in a column trajcompress what each summary replaced. [default: in Parquet only]",
        ),
    ] = None,
    facts: Annotated[
        bool | None,
        typer.Option(
            "--facts/--no-facts",
            help="Look up what kept turns rely on, and see to it that summaries tell it. [default: yes]",
        ),
    ] = None,
    focus: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Topic that gets the larger share of each summary.")
    ] = None,
    summarizer_context: options.SummarizerContext = None,
    output_format: Annotated[
        OutputFormat | None, typer.Option(help="What the dataset is written as. [default: parquet]")
    ] = None,
    save_over_limit: options.SaveOverLimit = None,
    overwrite: Annotated[
        bool | None,
        typer.Option("--overwrite", help="Replace an earlier run in the folder."),
    ] = None,
    log_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Append a JSON line here for each event: planned, called, retried, paused, committed and so on.",
        ),
    ] = None,
    input_format: options.FormatOfInput = None,
    messages_field: options.MessagesField = None,
    role_map: options.RoleMap = None,
    dataset: options.Dataset = None,
    split: options.Split = None,
    limit: options.Limit = None,
    sample_percent: options.SamplePercent = None,
    sample_count: options.SampleCount = None,
    seed: options.Seed = None,
    min_tokens: options.MinTokens = None,
    shard: options.Shard = None,
    max_failed: Annotated[
        str | None,
        typer.Option(
            metavar="N|P%",
            help="Rows that may fail or be rejected. With more the run stops early with exit code 1; a share counts "
            "at the end. Not given: the run ends, with exit code 1 if there is any such row.",
        ),
    ] = None,
    max_in_flight: options.MaxInFlight = None,
    num_workers: options.NumWorkers = None,
    push_to_hub: Annotated[
        str | None,
        typer.Option(
            metavar="OWNER/NAME",
            help="Publish the finished run as a dataset on the Hugging Face hub, with the token in HF_TOKEN: data, "
            "card, totals and metrics, nothing that was rejected. Also of a run that is finished already.",
        ),
    ] = None,
    private: Annotated[bool, typer.Option("--private/--public", help="What a repository is made as.")] = True,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
    debug: options.Debug = False,
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
    from trajcompress.errors import SettingsError
    from trajcompress.settings import resolve

    resolved = resolve(options.by_key(locals()), config)
    if not inputs and resolved.settings.input.dataset is None:
        raise SettingsError("nothing to read: name files or folders, - for standard input, or --dataset NAME")
    from trajcompress.run.interrupt import EXIT_INTERRUPTED, stop_signals
    from trajcompress.run.job import run
    from trajcompress.run.push import check_push

    if push_to_hub:
        check_push(push_to_hub)
    reporter = TerminalReporter(quiet=quiet)
    for note in resolved.notes:
        reporter.note(note)
    with reporter, stop_signals() as stop_on:
        try:
            result = run(resolved.settings, inputs or [], reporter, stop_on=stop_on)
        except KeyboardInterrupt:
            typer.echo("interrupted before the first row", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    print_result(result, resolved.settings, quiet=quiet, as_json=as_json)
    _print_how_to_go_on(result, from_stdin=any(each == "-" or Path(each).is_fifo() for each in inputs or ()))
    code = _exit_code(result, resolved.settings)
    if push_to_hub:
        _push(result, push_to_hub, code, private=private, quiet=quiet)
    raise typer.Exit(code)


def _push(result: RunResult, repo: str, code: int, *, private: bool, quiet: bool) -> None:
    from trajcompress.run.push import push

    if code:
        typer.echo(f"{repo}: not pushed, as the run did not end well; the same command pushes once it does", err=True)
        return
    url = push(result.folder, repo, private=private, progress=not quiet and sys.stderr.isatty())
    if not quiet:
        typer.echo(f"pushed to {url}", err=True)


def _exit_code(result: RunResult, settings: Settings) -> int:
    from trajcompress.run.interrupt import EXIT_INTERRUPTED
    from trajcompress.settings import FailureLimit

    if result.state == "interrupted":
        return EXIT_INTERRUPTED
    if result.error:
        return result.error.exit_code
    if result.changed:
        return 1
    allowed = settings.processing.max_failed or FailureLimit()
    return int(allowed.exceeded(result.totals.not_handled, result.totals.rows))


def _print_how_to_go_on(result: RunResult, *, from_stdin: bool) -> None:
    from trajcompress.dataset.standing import change_lines

    if result.stopped:
        typer.echo(f"error: stopped early: {result.stopped}", err=True)
        how = _NOT_AGAIN if from_stdin else f"{_kept(result)}; mend the cause, and go on with: {_same_command()}"
        typer.echo(how, err=True)
    elif result.state in ("complete", "input_changed") and (lost := result.totals.not_handled):
        where = (
            "metrics.parquet" if lost == result.totals.outcomes["failed"] else "rejected.jsonl and metrics.parquet"
        )
        typer.echo(f"failed or rejected: {counted(lost, 'row')}; see {where} in {result.folder}", err=True)
    elif result.state == "interrupted":
        how = _NOT_AGAIN if from_stdin else f"{_kept(result)}. To go on: {_same_command()}"
        typer.echo(f"interrupted; {how}", err=True)
    if result.changed:
        for line in change_lines(result.changed):
            typer.echo(f"error: {line}", err=True)
        marked = ": its rows are marked input_changed in metrics.parquet" if result.state == "input_changed" else ""
        typer.echo(
            f"what was read of such a file may be wrong{marked}; once it stands still, run again with --overwrite, "
            "which keeps the summaries that were paid for",
            err=True,
        )


def _kept(result: RunResult) -> str:
    done, written = result.totals.rows, result.committed_rows
    if done == written:
        return "what is done is kept"
    again = f"{written:,} of {counted(done, 'row')} are written, and the others are done again"
    return f"{again}, but no summary is paid for twice" if result.totals.summarization_api_calls else again


def _same_command() -> str:
    return shlex.join(["trajcompress", *(arg for arg in sys.argv[1:] if arg != "--overwrite")])
