"""The sections that say what is read, what is written, and how much of it is worked on at once."""

from dataclasses import dataclass

from trajcompress.settings.choices import Engine, InputFormat, Marks, OutputFormat
from trajcompress.settings.declare import Group, no_option, option
from trajcompress.settings.values import (
    ColumnNames,
    Count,
    CountOrZero,
    MaxFailed,
    Name,
    ObservationsRule,
    Percent,
    RoleMap,
    Seconds,
    ShardOf,
    Size,
    SizeInBytes,
    WorkersOrAuto,
)

DEFAULT_NOTICE = "Some of the earlier turns of this conversation were replaced by a summary to save space."


@dataclass(frozen=True)
class Input:
    """What is read, and how."""

    format: InputFormat = option(
        "auto", "--input-format", Group.READ, "What messages look like.", default_text="auto, by row"
    )
    messages_field: Name | None = option(
        None,
        "--messages-field COLUMN",
        Group.READ,
        "Column that holds the messages; data.messages for those within a column, whose values become columns.",
        default_text="found by row",
    )
    role_key: Name | None = option(
        None,
        "--role-key KEY",
        Group.READ,
        "Key of a message that names who speaks, where it is of no format that is known.",
        default_text="found by row",
    )
    content_key: Name | None = option(
        None, "--content-key KEY", Group.READ, "Key that holds what is said, likewise.", default_text="found by row"
    )
    role_map: RoleMap = option(
        {}, "--role-map NAME=ROLE", Group.READ, "What an unknown role is: agent=assistant. May be given again."
    )
    observations: ObservationsRule = option(
        "auto",
        "--observations auto|tool|REGEX",
        Group.READ,
        "Which turns are observations. auto: tool results, and the user turns in which the environment of a"
        " text-protocol agent answers. tool: tool results alone. REGEX: the user turns in which it is found, if any.",
    )
    dataset: Name | None = option(None, "--dataset NAME", Group.READ, "Hub dataset, streamed, in place of INPUT.")
    split: Name = option("train", "--split S", Group.READ, "Its split.")
    limit: Count | None = option(None, "--limit N", Group.READ, "Read this many rows at most.")
    sample_percent: Percent | None = option(
        None, "--sample-percent P", Group.READ, "Take this share of the rows, up to 100."
    )
    sample_count: Count | None = option(
        None, "--sample-count N", Group.READ, "Take exactly this many rows; reads the input twice."
    )
    seed: CountOrZero = option(42, "--seed S", Group.READ, "Which rows the sample takes.")
    shard: ShardOf | None = option(
        None,
        "--shard I/N",
        Group.READ,
        "Take every Nth row, beginning with the Ith: one of N runs, for trajcompress merge.",
    )
    min_tokens: Count | None = option(
        None, "--min-tokens N", Group.WRITTEN, "Leave shorter rows out of the dataset, not of the metrics."
    )


@dataclass(frozen=True)
class Output:
    """Where the run folder goes, and what is in it."""

    dir: Name | None = option(
        None,
        "--output, -o DIR",
        None,
        "Run folder, here or at s3://, gs:// or az://.",
        default_text="the first input's name + _compressed, beside it",
        in_plan=False,
    )
    output_suffix: str = no_option("_compressed", "What that name ends in.")
    format: OutputFormat = option(
        "parquet",
        "--output-format",
        Group.WRITTEN,
        "What the dataset is written as.",
        default_text="parquet; jsonl for llama-factory, openai and mistral",
        in_plan=False,
    )
    columns: ColumnNames | None = option(
        None,
        "--columns A,B",
        Group.WRITTEN,
        "Write these columns only, where rows have them, and the messages in any case.",
        default_text="all columns",
        in_plan=False,
    )
    per_turn_columns: ColumnNames | None = option(
        None,
        "--per-turn-column A,B",
        Group.WRITTEN,
        "Columns that hold one value per turn, such as rewards or masks: they are kept in step with the turns.",
        default_text="none",
        in_plan=False,
    )
    overwrite: bool = option(
        False,
        "--overwrite",
        Group.WRITTEN,
        "Replace an earlier run in the folder. Never in a file or a variable.",
        in_plan=False,
    )
    log_file: Name | None = option(
        None,
        "--log-file FILE",
        Group.WRITTEN,
        "Append a JSON line here for each event: planned, called, retried, paused, committed and so on.",
        in_plan=False,
    )
    add_summary_notice: bool = no_option(True, "Say in the system turn that there is a summary.")
    summary_notice_text: str = no_option(DEFAULT_NOTICE, "What it says.")
    marks: Marks = option(
        "none",
        "--marks",
        Group.SUMMARIES,
        "Leave a summary's own turn, and turns that stand again, out of the loss by a key of their message: train: "
        "false, loss_mask: 0, weight: 0; auto: the one that the target of --for reads, if any.",
    )
    record: bool | None = option(
        None,
        "--record/--no-record",
        Group.SUMMARIES,
        "Say in a column trajcompress what each summary replaced and what --for changed.",
        default_text="in Parquet only",
        in_plan=False,
    )


@dataclass(frozen=True)
class Processing:
    """How much is done at once, and what becomes of rows."""

    max_concurrent_requests: Count = option(50, "--max-concurrent-requests N", Group.CALLS, "Calls open at once.")
    per_trajectory_timeout: Seconds = option(
        300.0,
        "--per-trajectory-timeout SECONDS",
        Group.CALLS,
        "After so long in calls a row keeps its original; with --mode segments, so long for each of its summaries.",
        in_plan=False,
    )
    skip_under_target: bool = no_option(
        True, "Leave rows alone that fit; false: where prune all is given, prune those too."
    )
    save_over_limit: bool = option(
        True,
        "--save-over-limit/--no-save-over-limit",
        Group.WRITTEN,
        "Rows that are still over the target: in the dataset or in rejected.jsonl.",
        default_text="the dataset; for verl, whose load they stop, rejected.jsonl",
    )
    save_unfit: bool = option(
        True,
        "--save-unfit/--no-save-unfit",
        Group.WRITTEN,
        "Rows that the target of --for has no form for: in the dataset as they were read, or in rejected.jsonl.",
        default_text="the dataset; for all trainers but openai, whose load they stop, rejected.jsonl",
    )
    max_failed: MaxFailed | None = option(
        None,
        "--max-failed N|P%",
        Group.RUN,
        "Rows that may fail or be rejected. With more the run stops early with exit code 1; a share counts at the "
        "end. Not given: the run ends, with exit code 1 if there is any such row.",
        in_plan=False,
    )
    retry_failed: bool = option(
        False,
        "--retry-failed",
        Group.RUN,
        "Try the failed rows of a finished run again, also with another model. An unfinished run does so by itself.",
        in_plan=False,
    )
    engine: Engine = option(
        "auto",
        "--engine auto|local|ray",
        Group.RUN,
        "Who works on parts: processes of this machine, or workers on a Ray cluster. auto: Ray where --ray-address or"
        " RAY_ADDRESS names a cluster.",
    )
    ray_address: str | None = option(
        None,
        "--ray-address ADDRESS",
        Group.RUN,
        "The Ray cluster: auto for the one that this machine is a node of, or such as ray://host:10001. Without it"
        " --engine ray starts one here.",
    )
    num_workers: WorkersOrAuto = option(
        "auto",
        "--num-workers N|auto",
        Group.RUN,
        "Processes to work on parts in, of some 400 MB each; at most one for each part and each 32 MB of input."
        " auto: as many as there are cores and memory, or CPUs in the Ray cluster.",
    )
    part_size: SizeInBytes = option(
        Size(64 * 2**20),
        "--part-size SIZE",
        Group.RUN,
        "Bytes of input that become one data file, and are worked on and committed as one.",
        default_text="64MB",
    )
    max_in_flight: Count = option(256, "--max-in-flight N", Group.RUN, "Rows in memory at once; bounds memory.")
