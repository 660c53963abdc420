"""The names of settings: dotted keys, command line options, environment variables, and the nearest to a wrong one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import get_args

from pydantic import BaseModel

from trajcompress.settings.model import Settings

PREFIX = "TRAJCOMPRESS_"

OPTIONS: dict[str, str] = {
    "--output": "output.dir",
    "--output-format": "output.format",
    "--overwrite": "output.overwrite",
    "--log-file": "output.log_file",
    "--tokenizer": "tokenizer.name",
    "--trust-remote-code": "tokenizer.trust_remote_code",
    "--target-max-tokens": "compression.target_max_tokens",
    "--summary-target-tokens": "compression.summary_target_tokens",
    "--last-n-turns": "protected_turns.last_n_turns",
    "--tail-tokens": "protected_turns.tail_tokens",
    "--max-passes": "compression.max_passes",
    "--prune": "compression.prune",
    "--fit": "compression.fit",
    "--count": "compression.count",
    "--placement": "compression.placement",
    "--for": "compression.target",
    "--model": "summarization.model",
    "--base-url": "summarization.base_url",
    "--api-key-env": "summarization.api_key_env",
    "--fallback-model": "summarization.fallback_model",
    "--on-failure": "summarization.on_failure",
    "--max-retries": "summarization.max_retries",
    "--max-failures-in-a-row": "summarization.max_failures_in_a_row",
    "--max-outage": "summarization.max_outage",
    "--rpm": "summarization.rpm",
    "--tpm": "summarization.tpm",
    "--price-in": "summarization.price_in",
    "--price-out": "summarization.price_out",
    "--cache": "summarization.cache",
    "--redact": "summarization.redact",
    "--facts": "summarization.facts",
    "--summarizer-context": "summarization.context_tokens",
    "--focus": "summarization.focus",
    "--marks": "output.marks",
    "--record": "output.record",
    "--input-format": "input.format",
    "--messages-field": "input.messages_field",
    "--role-map": "input.role_map",
    "--dataset": "input.dataset",
    "--split": "input.split",
    "--limit": "input.limit",
    "--sample-percent": "input.sample_percent",
    "--sample-count": "input.sample_count",
    "--seed": "input.seed",
    "--min-tokens": "input.min_tokens",
    "--shard": "input.shard",
    "--num-workers": "processing.num_workers",
    "--max-concurrent-requests": "processing.max_concurrent_requests",
    "--max-in-flight": "processing.max_in_flight",
    "--per-trajectory-timeout": "processing.per_trajectory_timeout",
    "--max-failed": "processing.max_failed",
    "--save-over-limit": "processing.save_over_limit",
}
"""Command line option → dotted key. ``TRAJCOMPRESS_<OPTION>`` is the environment's short form of each."""

FLAGS = {key: flag for flag, key in OPTIONS.items()}

SECTIONS: dict[str, type[BaseModel]] = {name: type(section) for name, section in Settings()}
NULLABLE = {
    f"{name}.{key}"
    for name, section in SECTIONS.items()
    for key, field in section.model_fields.items()
    if type(None) in get_args(field.annotation)
}
KEYS = [f"{name}.{key}" for name, section in SECTIONS.items() for key in section.model_fields]

MEANINGLESS = {"metrics.enabled", "metrics.per_trajectory", "metrics.output_file"}
"""Keys of other trajectory tools that are accepted: metrics are always written, to ``metrics.parquet``."""

VARIABLES = {
    **{PREFIX + key.replace(".", "__").upper(): key for key in (*KEYS, *sorted(MEANINGLESS))},
    **{PREFIX + flag.removeprefix("--").replace("-", "_").upper(): key for flag, key in OPTIONS.items()},
}
"""Environment variable → dotted key."""


def hint(unknown: str) -> str:
    """What to say after an unknown dotted key: where it belongs, the nearest valid key, or the sections."""
    section, _, name = unknown.rpartition(".")
    if unknown in KEYS:
        return f"; write {name} under the section {section}"
    homes = [key for key in KEYS if key.endswith(f".{name}")]
    if homes:
        near = get_close_matches(unknown, homes, n=1, cutoff=0.8) if section else []
        return _did_you_mean(near) if near else f"; {name} belongs in a section: {' or '.join(homes)}"
    if not section and (sections := get_close_matches(name, SECTIONS, n=1)):
        return _did_you_mean(sections)
    in_section = [key for key in KEYS if key.startswith(f"{section}.")]
    near = get_close_matches(unknown, in_section, n=1) or get_close_matches(unknown, KEYS, n=1)
    return _did_you_mean(near) if near else f"; the sections are {', '.join(SECTIONS)}"


def variable_hint(unknown: str) -> str:
    """What to say after an unknown environment variable."""
    # Without the prefix, which alone makes any two of them look alike.
    near = get_close_matches(unknown.removeprefix(PREFIX), [name.removeprefix(PREFIX) for name in VARIABLES], n=1)
    return (
        _did_you_mean([PREFIX + name for name in near])
        if near
        else "; unset it, or see `trajcompress config show` for the keys"
    )


def _did_you_mean(near: list[str]) -> str:
    return f"; did you mean {near[0]}?"
