"""The loss: whether user turns are in it, and the key that leaves a summary out where a trainer looks for one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from trajcompress.settings.choices import Marks, Target, TrainOn
from trajcompress.transcript.trajectory import Turn

_KEYS: dict[Marks, dict[str, Any]] = {
    "none": {},
    "train": {"train": False},
    "loss-mask": {"loss_mask": 0},
    "weight": {"weight": 0},
}
_BY_TARGET: dict[Target, Marks] = {"axolotl": "train", "openai": "weight"}  # the others read no such key
_READ_BY: dict[Target, frozenset[str]] = {
    "axolotl": frozenset({"train"}),
    "openai": frozenset({"weight"}),
    "mistral": frozenset({"weight"}),
    "trl": frozenset(),
    "llama-factory": frozenset(),
    "verl": frozenset(),
}
"""Of targets that are trainers, the keys that they read."""
_READS_NO_KEY = frozenset(target for target, keys in _READ_BY.items() if not keys)


def marked(turn: Turn, marks: Marks, target: Target) -> Turn:
    """Return the turn of a summary with the key that leaves it out of the loss, if one is wanted."""
    key = _key(marks, target)
    return replace(turn, raw={**turn.raw, **key}) if key else turn


def has_mark(marks: Marks, target: Target) -> bool:
    """Tell whether a summary that is a turn of its own gets such a key, which the target reads."""
    return bool(_key(marks, target)) and target not in _READS_NO_KEY


def unread_marks(turns: Sequence[Turn], target: Target) -> list[str]:
    """Return the marks that leave the assistant's turns out of the loss and that the target does not read."""
    if target not in _READ_BY:
        return []
    said = [turn.raw for turn in turns if turn.role == "assistant"]
    marks = {key: value for keys in _KEYS.values() for key, value in keys.items() if key not in _READ_BY[target]}
    return [
        f"{key}: {json.dumps(value)}"
        for key, value in marks.items()
        if any(raw.get(key) is not None and raw[key] == value for raw in said)
    ]


def marks_not_read(marks: Sequence[str], target: Target) -> str:
    """Say what comes of marks that the target does not read."""
    return (
        f"assistant turns are marked to be left out of the loss ({', '.join(marks)}), which {target} does not read: "
        "it trains them"
    )


def learns_from_users(
    target: Target, train_on: TrainOn, *, assistant_only: bool, split: bool = False, in_answer: bool = False
) -> bool:
    """Tell whether a trainer learns what a user turn says, with the settings that stand beside the data for it.

    Args:
        target: who trains.
        train_on: which turns are said to be in its loss.
        assistant_only: whether TRL is told to look for the assistant's.
        split: whether the row is a prompt and what completes it, of which TRL trains the completion.
        in_answer: whether the turn stands in that.
    """
    if target == "verl":  # it trains the role assistant, whatever it is told
        return False
    if target == "trl":
        return not assistant_only and (in_answer or not split)
    return train_on == "all" or in_answer


def _key(marks: Marks, target: Target) -> dict[str, Any]:
    return _KEYS[_BY_TARGET.get(target, "none") if marks == "auto" else marks]
