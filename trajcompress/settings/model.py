"""All settings of a run, by section."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from trajcompress.settings.budget import Compression, ProtectedTurns, Tokenizer
from trajcompress.settings.dataset import Input, Output, Processing
from trajcompress.settings.declare import Setting, declared_in
from trajcompress.settings.summarization import Summarization
from trajcompress.settings.summarizer_choice import SummarizerChoice
from trajcompress.settings.values import FailureLimit, Shard, Size


@dataclass(frozen=True)
class Settings:
    """The settings of a run. Each value is right in itself; see :func:`trajcompress.settings.layers.resolve`.

    Raises:
        ValueError: two values contradict each other.
    """

    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    compression: Compression = field(default_factory=Compression)
    protected_turns: ProtectedTurns = field(default_factory=ProtectedTurns)
    summarization: Summarization = field(default_factory=Summarization)
    input: Input = field(default_factory=Input)
    output: Output = field(default_factory=Output)
    processing: Processing = field(default_factory=Processing)

    def __post_init__(self) -> None:
        target, summary = self.compression.target_max_tokens, self.compression.summary_target_tokens
        if summary != "auto" and summary >= target:
            raise ValueError(
                f"compression.summary_target_tokens ({summary}) should be less than "
                f"compression.target_max_tokens ({target}); auto sizes it by what it replaces"
            )
        if self.input.sample_percent is not None and self.input.sample_count is not None:
            raise ValueError("input.sample_percent and input.sample_count are two ways to say it; give one")
        writer = self.summarization.summarizer
        if writer is not None and writer.spec == "openai" and self.summarization.model is None:
            raise ValueError("summarization.summarizer openai needs summarization.model, the name of a model")
        if self.summarization.fallback_model is not None and self.summarization.is_custom:
            raise ValueError(
                "summarization.fallback_model is the fallback of a model, not of summarization.summarizer; "
                "on_failure is that of both"
            )
        if self.summarization.fallback_model is not None and self.summarization.model is None:
            raise ValueError("summarization.fallback_model needs summarization.model to fall back from")

    def flat(self) -> dict[str, Any]:
        """Every value by dotted key, as JSON; none is a secret."""
        values = {key: getattr(getattr(self, each.section), each.name) for key, each in SETTINGS.items()}
        return {
            key: str(value) if isinstance(value, FailureLimit | Shard | Size | SummarizerChoice) else value
            for key, value in values.items()
        }


SECTIONS: dict[str, type] = {each.name: type(getattr(Settings(), each.name)) for each in fields(Settings)}

SETTINGS: dict[str, Setting] = {
    setting.key: setting for section, declaration in SECTIONS.items() for setting in declared_in(section, declaration)
}
"""Dotted key → declaration."""
