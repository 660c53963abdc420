"""The help of commands with many options: by what they are about, in place of one long list."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

GROUPS = {
    "What is compressed": (
        *("--target-max-tokens", "--summary-target-tokens", "--last-n-turns", "--tail-tokens", "--max-passes"),
        *("--prune", "--fit"),
    ),
    "The model to be trained": ("--tokenizer", "--trust-remote-code", "--count", "--for"),
    "The model that summarises": (
        *("--model", "--base-url", "--api-key-env", "--fallback-model", "--on-failure", "--summarizer-context"),
        *("--cache", "--price-in", "--price-out"),
    ),
    "Limits of its calls": (
        *("--rpm", "--tpm", "--max-concurrent-requests", "--max-retries", "--max-failures-in-a-row"),
        *("--max-outage", "--per-trajectory-timeout"),
    ),
    "The summaries": ("--facts", "--focus", "--redact", "--placement", "--marks", "--record"),
    "What is read": (
        *("--input-format", "--messages-field", "--role-map", "--dataset", "--split", "--limit"),
        *("--sample-percent", "--sample-count", "--seed", "--shard"),
    ),
    "What is written": (
        *("--output-format", "--save-over-limit", "--min-tokens", "--overwrite", "--log-file"),
        *("--push-to-hub", "--private"),
    ),
    "The run": ("--max-failed", "--num-workers", "--max-in-flight"),
}
"""Title → options, in order. What is in none comes first, under ``Options``."""

_GROUP_OF = {flag: title for title, flags in GROUPS.items() for flag in flags}
_PLACES = {flag: place for place, flag in enumerate(_GROUP_OF)}


class GroupedCommand(TyperCommand):
    """A command whose help has a section for each of ``GROUPS``."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options of no group, and the groups."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", "Options", *GROUPS)}
        for parameter in sorted(self.get_params(ctx), key=lambda parameter: _PLACES.get(parameter.opts[0], -1)):
            record = parameter.get_help_record(ctx)
            if record is not None:
                alone = "Options" if parameter.param_type_name == "option" else "Arguments"
                sections[_GROUP_OF.get(parameter.opts[0], alone)].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
