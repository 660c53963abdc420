"""The choices that settings give, each named once: whatever offers or obeys one takes it from here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

ArgumentsAs: TypeAlias = Literal["text", "object", "unseen"]
"""How a call holds its arguments for a chat template that shows them so; ``unseen``: it shows no calls at all."""

Counting: TypeAlias = Literal["template", "content"]
"""What is counted: the rendered chat template, or the turns alone."""

Engine: TypeAlias = Literal["auto", "local", "ray"]
"""Who works on parts: processes of this machine, or a Ray cluster."""

Fit: TypeAlias = Literal["lenient", "strict"]
"""Whether long tool results of protected turns may be cut to make a row fit."""

Marks: TypeAlias = Literal["none", "train", "loss-mask", "weight", "auto"]
"""The key that leaves the turn of a summary out of a trainer's loss."""

MessageFormat: TypeAlias = Literal["sharegpt", "openai"]
"""The keys of a message: ``from`` and ``value``, or ``role`` and ``content``."""

InputFormat: TypeAlias = Literal["auto", MessageFormat]
"""The format that messages are read as; ``auto`` is found out row by row."""

MistralVersion: TypeAlias = Literal["v3", "v7", "v11", "v13"]
"""The version of a Mistral tokenizer, as mistral-common names them."""

Mode: TypeAlias = Literal["row", "segments"]
"""What an over-long row becomes: one row with a summary in it, or as many rows as its turns need."""

OnFailure: TypeAlias = Literal["keep", "extractive"]
"""The fallback of a row whose summary failed: its original, or the built-in summariser."""

OutputFormat: TypeAlias = Literal["parquet", "jsonl"]
"""The file format of the dataset."""

Placement: TypeAlias = Literal["auto", "human", "fold"]
"""Where a summary stands: a user turn of its own, or part of a neighbouring turn."""

Prune: TypeAlias = Literal["off", "safe", "all"]
"""Where old tool results are cleared: nowhere, in what a summariser reads, or in kept turns as well."""

Redact: TypeAlias = Literal["off", "egress", "dataset"]
"""Where secrets become placeholders: nowhere, in requests and summaries, or in all columns as well."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
"""Who speaks in a turn, whatever its format calls them."""

Form: TypeAlias = Literal["as-read", "target"]
"""Whether rows are written as they were read, or as the target reads them."""

Target: TypeAlias = Literal["template", "trl", "axolotl", "llama-factory", "verl", "openai", "mistral"]
"""What takes the rows: the tokenizer's own chat template, or a trainer."""

TrainOn: TypeAlias = Literal["assistant", "all"]
"""Which turns are in the loss."""

OWN_SUMMARIZERS = ("extractive", "openai")
"""The summarisers that come with this package: the built-in one, and a model at an endpoint."""

_FORMED = {"compression.form": "target"}
_ALONE = {"processing.save_unfit": False}  # a row that it refuses would stop the load of all
_WITHIN_LIMIT = {"processing.save_over_limit": False}  # verl stops at a longer row (truncation: error)
IMPLIED_BY_TARGET: Mapping[str, Mapping[str, Any]] = {
    "trl": {**_FORMED, **_ALONE},
    "axolotl": {**_FORMED, **_ALONE},
    "llama-factory": {**_FORMED, **_ALONE, "compression.trim_end": True, "output.format": "jsonl"},
    "verl": {**_FORMED, **_ALONE, **_WITHIN_LIMIT},
    "openai": {**_FORMED, "output.format": "jsonl"},
    "mistral": {**_FORMED, **_ALONE, "compression.trim_end": True, "output.format": "jsonl"},
}
"""The defaults of other settings once a target is named, by dotted key."""
