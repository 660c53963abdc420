"""What may take the rows, as an option's values."""

from __future__ import annotations

from enum import StrEnum


class TargetName(StrEnum):
    """Whose rules apply."""

    template = "template"
    trl = "trl"
    axolotl = "axolotl"
    llama_factory = "llama-factory"
    verl = "verl"
    openai = "openai"
    mistral = "mistral"
