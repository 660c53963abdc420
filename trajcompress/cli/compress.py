"""``trajcompress compress``: the main job."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajcompress.cli.targets import TargetName

if TYPE_CHECKING:  # importing these would slow every --help down
    from trajcompress.run.report import RunResult
    from trajcompress.settings import Settings


class Count(StrEnum):
    """How tokens are counted."""

    template = "template"
    content = "content"


class Placement(StrEnum):
    """Where the summary stands."""

    auto = "auto"
    human = "human"
    fold = "fold"


class InputFormat(StrEnum):
    """What messages look like."""

    auto = "auto"
    sharegpt = "sharegpt"
    openai = "openai"


class OutputFormat(StrEnum):
    """What the dataset is written as."""

    parquet = "parquet"
    jsonl = "jsonl"


class Redact(StrEnum):
    """Where secrets are replaced by marks."""

    off = "off"
    egress = "egress"
    dataset = "dataset"


class OnFailure(StrEnum):
    """What becomes of a row whose summary failed."""

    keep = "keep"
    extractive = "extractive"


def compress(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT...",
            help="Files, folders (searched recursively) or globs of .jsonl, .json and .parquet, each also .gz or "
            ".zst; a save_to_disk folder; - for JSON lines on standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Run folder. Default: the first input's name + _compressed, beside it.",
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", metavar="FILE", help="YAML settings.")] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME_OR_DIR",
            help="Hub name or folder of the tokenizer of the model to be trained. Default: a built-in one.",
        ),
    ] = None,
    trust_remote_code: Annotated[
        bool | None,
        typer.Option("--trust-remote-code", help="Run code that the tokenizer brings."),
    ] = None,
    target_max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Rows above this are compressed to it. [default: 15250]"),
    ] = None,
    summary_target_tokens: Annotated[
        str | None,
        typer.Option(
            metavar="N|auto",
            help="Room for a summary; auto: a fifth of what it replaces, 200 to 2000. [default: 750]",
        ),
    ] = None,
    last_n_turns: Annotated[
        int | None, typer.Option(metavar="N", help="Protect the last N turns. [default: 4]")
    ] = None,
    tail_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Protect the tail by tokens, not by turns: at least 3 turns, and the last request.",
        ),
    ] = None,
    max_passes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Summaries of a row at most, where one leaves it too long. [default: 3]"),
    ] = None,
    count: Annotated[
        Count | None,
        typer.Option(
            help="template: the rendered chat template with the row's tools; content: the turns alone. "
            "[default: template where the tokenizer has one]",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Model that writes the summaries. Naming one turns API calls on; without, summaries are extractive, "
            "offline and free.",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="OpenAI-compatible endpoint. [default: OpenAI's]"),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="VAR", help="Variable that holds the key. [default: OPENAI_API_KEY]"),
    ] = None,
    rpm: Annotated[int | None, typer.Option(metavar="N", help="Requests per minute at most.")] = None,
    tpm: Annotated[int | None, typer.Option(metavar="N", help="Tokens per minute at most.")] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Keep summaries here for other runs, and take from here what they kept.",
        ),
    ] = None,
    redact: Annotated[
        Redact | None,
        typer.Option(
            help="Secrets (keys, tokens, passwords) become typed marks: egress: in what is sent and in summaries; "
            "dataset: in all messages; off. [default: egress]",
        ),
    ] = None,
    max_concurrent_requests: Annotated[
        int | None, typer.Option(metavar="N", help="Calls open at once. [default: 50]")
    ] = None,
    max_retries: Annotated[
        int | None,
        typer.Option(metavar="N", help="Further tries after a failed call. [default: 8]"),
    ] = None,
    max_failures_in_a_row: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="After so many failed summaries in a row calls pause; if the next fails too, the run stops, and "
            "can go on later. [default: 20]",
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
            help="After this a row keeps its original. [default: 300]",
        ),
    ] = None,
    placement: Annotated[
        Placement | None,
        typer.Option(
            help="human: the summary is a user turn of its own; fold: it joins a neighbouring turn; "
            "auto: human where that puts no two user turns side by side. [default: auto]",
        ),
    ] = None,
    for_: Annotated[
        TargetName | None,
        typer.Option(
            "--for",
            help="What will take the rows: with auto placement the summary is a turn of its own only where that "
            "takes one. [default: template, the tokenizer's own]",
        ),
    ] = None,
    output_format: Annotated[OutputFormat | None, typer.Option(help="[default: parquet]")] = None,
    save_over_limit: Annotated[
        bool | None,
        typer.Option(
            "--save-over-limit/--no-save-over-limit",
            help="Rows that are still over the target: in the dataset or in rejected.jsonl. [default: the dataset]",
        ),
    ] = None,
    overwrite: Annotated[
        bool | None,
        typer.Option("--overwrite", help="Replace an earlier run in the folder."),
    ] = None,
    input_format: Annotated[
        InputFormat | None,
        typer.Option(help="What messages look like. [default: auto, by row]"),
    ] = None,
    messages_field: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column that holds the messages.")
    ] = None,
    role_map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ROLE",
            help="What an unknown role is: agent=assistant. May be given again.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Hub dataset, streamed, in place of INPUT."),
    ] = None,
    split: Annotated[str | None, typer.Option(metavar="S", help="Its split. [default: train]")] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="Read this many rows at most.")] = None,
    sample_percent: Annotated[float | None, typer.Option(metavar="P", help="Take this share of the rows.")] = None,
    sample_count: Annotated[
        int | None,
        typer.Option(metavar="N", help="Take exactly this many rows; reads the input twice."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", help="Which rows the sample takes. [default: 42]"),
    ] = None,
    min_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Leave shorter rows out of the dataset, not of the metrics."),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(metavar="I/N", help="Take every Nth row, beginning with the Ith: one of N runs."),
    ] = None,
    max_failed: Annotated[
        str | None,
        typer.Option(
            metavar="N|P%",
            help="Rows that may fail or be rejected. With more the run stops early with exit code 1; a share counts "
            "at the end. Not given: the run ends, with exit code 1 if there is any such row.",
        ),
    ] = None,
    max_in_flight: Annotated[
        int | None,
        typer.Option(metavar="N", help="Rows in memory at once; bounds memory. [default: 256]"),
    ] = None,
    num_workers: Annotated[int | None, typer.Option(metavar="N", help="Threads that count. [default: cores]")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the totals as JSON on stdout.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
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
    from trajcompress.settings import OPTIONS, resolve

    given = {
        key: value
        for name, value in locals().items()
        if (key := OPTIONS.get("--" + name.rstrip("_").replace("_", "-")))
    }
    resolved = resolve({key: str(v) if isinstance(v, StrEnum) else v for key, v in given.items()}, config)
    if not inputs and resolved.settings.input.dataset is None:
        raise SettingsError("nothing to read: name files or folders, - for standard input, or --dataset NAME")
    from trajcompress.run.interrupt import EXIT_INTERRUPTED
    from trajcompress.run.job import run

    reporter = TerminalReporter(quiet=quiet)
    for note in resolved.notes:
        reporter.note(note)
    with reporter:
        try:
            result = run(resolved.settings, inputs or [], reporter, handle_signals=True)
        except KeyboardInterrupt:
            typer.echo("interrupted before the first row", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None
    print_result(result, quiet=quiet, as_json=as_json)
    _print_how_to_go_on(result)
    raise typer.Exit(_exit_code(result, resolved.settings))


def _exit_code(result: RunResult, settings: Settings) -> int:
    from trajcompress.run.interrupt import EXIT_INTERRUPTED
    from trajcompress.settings import FailureLimit

    if result.state == "interrupted":
        return EXIT_INTERRUPTED
    if result.stopped:
        return 1
    allowed = settings.processing.max_failed or FailureLimit()
    return int(allowed.exceeded(result.totals.not_handled, result.totals.rows))


def _print_how_to_go_on(result: RunResult) -> None:
    if result.stopped:
        typer.echo(f"error: stopped early: {result.stopped}", err=True)
        typer.echo(f"what is done is kept; mend the cause, and go on with: {_same_command()}", err=True)
    elif result.state == "complete" and (lost := result.totals.not_handled):
        where = (
            "metrics.parquet" if lost == result.totals.outcomes["failed"] else "rejected.jsonl and metrics.parquet"
        )
        typer.echo(f"{lost:,} rows failed or were rejected; {result.folder}: {where} say why", err=True)
    elif result.state == "interrupted":
        typer.echo(f"interrupted; what is done is kept. To go on: {_same_command()}", err=True)


def _same_command() -> str:
    return shlex.join(["trajcompress", *(arg for arg in sys.argv[1:] if arg != "--overwrite")])
