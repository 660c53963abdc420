"""The choices that settings give, each named once: whatever offers or obeys one takes it from here."""

from __future__ import annotations

from typing import Literal, TypeAlias

Marks: TypeAlias = Literal["none", "train", "loss-mask", "weight", "auto"]
"""The key that leaves the turn of a summary out of a trainer's loss."""
