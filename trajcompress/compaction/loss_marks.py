"""Loss marks: the key that leaves the turn of a summary out of the loss, where a trainer looks for one."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from trajcompress.settings.choices import Marks, Target
from trajcompress.transcript.trajectory import Turn

_KEYS: dict[Marks, dict[str, Any]] = {
    "none": {},
    "train": {"train": False},
    "loss-mask": {"loss_mask": 0},
    "weight": {"weight": 0},
}
_BY_TARGET: dict[Target, Marks] = {"axolotl": "train", "openai": "weight"}  # the others read no such key


def marked(turn: Turn, marks: Marks, target: Target) -> Turn:
    """Return the turn of a summary with the key that leaves it out of the loss, if one is wanted."""
    key = _key(marks, target)
    return replace(turn, raw={**turn.raw, **key}) if key else turn


def has_mark(marks: Marks, target: Target) -> bool:
    """Tell whether a summary that is a turn of its own gets such a key."""
    return bool(_key(marks, target))


def _key(marks: Marks, target: Target) -> dict[str, Any]:
    return _KEYS[_BY_TARGET.get(target, "none") if marks == "auto" else marks]
