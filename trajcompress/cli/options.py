"""Options that several commands share: each is defined once, so that it means and says the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from trajcompress.cli.targets import TargetName


class Count(StrEnum):
    """How tokens are counted."""

    template = "template"
    content = "content"


class InputFormat(StrEnum):
    """What messages look like."""

    auto = "auto"
    sharegpt = "sharegpt"
    openai = "openai"


class Redact(StrEnum):
    """Where secrets are replaced by marks."""

    off = "off"
    egress = "egress"
    dataset = "dataset"


class Prune(StrEnum):
    """What is pruned."""

    off = "off"
    safe = "safe"
    all = "all"


class Fit(StrEnum):
    """How far to go to make a row fit."""

    lenient = "lenient"
    strict = "strict"


class Placement(StrEnum):
    """Where the summary stands."""

    auto = "auto"
    human = "human"
    fold = "fold"


Inputs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUT...",
        help="Files, folders (searched recursively) or globs of .jsonl, .json and .parquet, each also .gz, "
        ".bz2, .xz or .zst; a save_to_disk folder; - for JSON lines on standard input.",
        show_default=False,
    ),
]
ConfigFile: TypeAlias = Annotated[Path | None, typer.Option("--config", "-c", metavar="FILE", help="YAML settings.")]
Tokenizer: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME_OR_DIR",
        help="Hub name or folder of the tokenizer of the model to be trained. Default: a built-in one.",
    ),
]
TrustRemoteCode: TypeAlias = Annotated[
    bool | None,
    typer.Option("--trust-remote-code", help="Run code that the tokenizer brings."),
]
TargetMaxTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="Rows above this are compressed to it. [default: 15250]"),
]
SummaryTargetTokens: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="N|auto",
        help="Room for a summary; auto: a fifth of what it replaces, 200 to 2000. [default: 750]",
    ),
]
LastNTurns: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", help="Protect the last N turns. [default: 4]")
]
TailTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Protect the tail by tokens, not by turns: at least 3 turns, and the last request.",
    ),
]
PruneWhat: TypeAlias = Annotated[
    Prune | None,
    typer.Option(
        help="Old tool results become one line each: safe: in what a model reads to summarise, which costs less and "
        "tells it less; all: also in kept turns, before any is summarised, which may be all that a row needs. "
        "[default: off]",
    ),
]
FitHow: TypeAlias = Annotated[
    Fit | None,
    typer.Option(
        help="A row that is still too long: lenient: its protected turns stay as they are; strict: their long "
        "tool results lose the middle, oldest first, where that makes it fit. [default: lenient]",
    ),
]
PlacementOfSummary: TypeAlias = Annotated[
    Placement | None,
    typer.Option(
        help="human: the summary is a user turn of its own; fold: it joins a neighbouring turn; "
        "auto: human where that puts no two user turns side by side. [default: auto]",
    ),
]
For: TypeAlias = Annotated[
    TargetName | None,
    typer.Option(
        "--for",
        help="What will take the rows: with auto placement the summary is a turn of its own only where it "
        "takes a user turn there. [default: template, the tokenizer's own]",
    ),
]
CountMethod: TypeAlias = Annotated[
    Count | None,
    typer.Option(
        help="template: the rendered chat template with the row's tools; content: the turns alone. "
        "[default: template where the tokenizer has one]",
    ),
]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Model that writes the summaries. Naming one turns API calls on; without, summaries are extractive, "
        "offline and free.",
    ),
]
SummarizerContext: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Tokens that the model takes at once. What is longer is summarised piece by piece. "
        "[default: whatever there is in one request]",
    ),
]
Rpm: TypeAlias = Annotated[int | None, typer.Option(metavar="N", help="Requests per minute at most.")]
Tpm: TypeAlias = Annotated[int | None, typer.Option(metavar="N", help="Tokens per minute at most.")]
PriceIn: TypeAlias = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Price of a million tokens sent. [default: a table's, for well-known models]"),
]
PriceOut: TypeAlias = Annotated[
    float | None, typer.Option(metavar="USD", help="Price of a million tokens written, thinking included.")
]
RedactWhere: TypeAlias = Annotated[
    Redact | None,
    typer.Option(
        help="Secrets (keys, tokens, passwords) become typed marks: egress: in what is sent and in summaries; "
        "dataset: in all columns; off. [default: egress]",
    ),
]
MaxConcurrentRequests: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", help="Calls open at once. [default: 50]")
]
SaveOverLimit: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--save-over-limit/--no-save-over-limit",
        help="Rows that are still over the target: in the dataset or in rejected.jsonl. [default: the dataset]",
    ),
]
FormatOfInput: TypeAlias = Annotated[
    InputFormat | None,
    typer.Option(help="What messages look like. [default: auto, by row]"),
]
MessagesField: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Column that holds the messages.")
]
RoleMap: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=ROLE",
        help="What an unknown role is: agent=assistant. May be given again.",
    ),
]
Dataset: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Hub dataset, streamed, in place of INPUT."),
]
Split: TypeAlias = Annotated[str | None, typer.Option(metavar="S", help="Its split. [default: train]")]
Limit: TypeAlias = Annotated[int | None, typer.Option(metavar="N", help="Read this many rows at most.")]
SamplePercent: TypeAlias = Annotated[float | None, typer.Option(metavar="P", help="Take this share of the rows.")]
SampleCount: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="Take exactly this many rows; reads the input twice."),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="S", help="Which rows the sample takes. [default: 42]"),
]
MinTokens: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="Leave shorter rows out of the dataset, not of the metrics."),
]
Shard: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="I/N", help="Take every Nth row, beginning with the Ith: one of N runs."),
]
MaxInFlight: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="Rows in memory at once; bounds memory. [default: 256]"),
]
NumWorkers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Processes to work on rows in, of some 400 MB each; at most one for each 32 MB of input. "
        "[default: one, and where Hugging Face counts, one per core to count]",
    ),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print the totals as JSON on stdout.")]
Debug: TypeAlias = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def by_key(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a command's parameters that are settings, by dotted key."""
    from trajcompress.settings import OPTIONS

    keys = {flag.removeprefix("--").replace("-", "_"): key for flag, key in OPTIONS.items()}
    named = ((name.rstrip("_"), value) for name, value in values.items())
    return {keys[name]: str(value) if isinstance(value, StrEnum) else value for name, value in named if name in keys}
