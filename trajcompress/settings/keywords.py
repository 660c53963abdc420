"""The options as keywords of functions, for type checkers, which cannot read declarations; a test compares them."""

from __future__ import annotations

from typing import Literal, TypedDict

from trajcompress.settings import choices
from trajcompress.summarizers import Summarizer, SummarizerFunction


class TokenOptions(TypedDict, total=False):
    """How tokens are counted."""

    tokenizer: str
    trust_remote_code: bool
    chat_template: str
    assistant_only: bool
    mistral_version: choices.MistralVersion
    target: choices.Target
    count: choices.Counting
    input_format: choices.InputFormat
    messages_field: str
    role_key: str
    content_key: str
    role_map: dict[str, choices.Role]
    observations: str


class CompactOptions(TokenOptions, total=False):
    """How a trajectory is made to fit, and who writes the summary."""

    target_max_tokens: int
    summary_target_tokens: int | Literal["auto"]
    tail_tokens: int
    max_passes: int
    prune: choices.Prune
    keep_observations: int
    fit: choices.Fit
    placement: choices.Placement
    summarizer: str | SummarizerFunction | Summarizer | type[Summarizer]
    model: str
    base_url: str
    api_key_env: str
    fallback_model: str
    on_failure: choices.OnFailure
    redact: choices.Redact
    cache: str
    max_failures_in_a_row: int
    max_outage: float
    summarizer_context: int
    focus: str
    max_retries: int
    rpm: int
    tpm: int
    price_in: float
    price_out: float
    price_cached: float
    max_concurrent_requests: int
    per_trajectory_timeout: float


class CompressOptions(CompactOptions, total=False):
    """How trajectories are compressed for training."""

    last_n_turns: int
    form: choices.Form
    trim_end: bool
    train_on: choices.TrainOn
    facts: bool
    marks: choices.Marks
    record: bool


class DatasetOptions(CompressOptions, total=False):
    """How a dataset is read and written."""

    mode: choices.Mode
    segment_overlap: int
    train_summaries: bool
    output_format: choices.OutputFormat
    columns: list[str]
    per_turn_column: list[str]
    overwrite: bool
    log_file: str
    max_cost: float
    batch: bool
    batch_wait: bool
    batch_fallback: bool
    dataset: str
    split: str
    limit: int
    sample_percent: float
    sample_count: int
    seed: int
    shard: str
    min_tokens: int
    save_over_limit: bool
    save_unfit: bool
    max_in_flight: int
    max_failed: int | str
    num_workers: int | str
    engine: choices.Engine
    ray_address: str
    retry_failed: bool
    part_size: int | str
