"""What a run folder says of itself: the target, the tokenizer and the template that its rows were written for."""

from __future__ import annotations

import json
from typing import Any

import yaml

from trajcompress.dataset.storage.location import Location, location_of

_TAKEN = {
    "compression.target": "--for",
    "tokenizer.name": "--tokenizer",
    "tokenizer.chat_template": "--chat-template",
    "compression.assistant_only": "--assistant-only",
    "compression.mistral_version": "--mistral-version",
}


def settings_of_run(paths: list[str]) -> dict[str, Any]:
    """Return the settings that shape how the rows of run folders are rendered; empty where there are none.

    Those of several runs count where they agree.
    """
    runs = [_settings(location_of(path) / "run.json") for path in paths]
    found = [run for run in runs if run is not None]
    if not found or len(found) < len(runs) or any(run != found[0] for run in found):
        return {}
    return {key: value for key, value in found[0].items() if value not in (None, False)}


def shown(taken: dict[str, Any]) -> str:
    """Return settings as one would give them on the command line."""
    return " ".join(_TAKEN[key] if value is True else f"{_TAKEN[key]} {value}" for key, value in taken.items())


def is_run(path: str) -> bool:
    """Tell whether a path is the folder of a run."""
    return _settings(location_of(path) / "run.json") is not None


def lets_messages_differ(paths: list[str]) -> bool:
    """Tell whether all are runs whose verl.yaml lets messages by themselves differ from the whole conversation."""
    return all(_ignores_mismatch(location_of(path) / "verl.yaml") for path in paths)


def _ignores_mismatch(path: Location) -> bool:
    try:
        return bool(yaml.safe_load(path.read_bytes())["data"]["ignore_input_ids_mismatch"])
    except (OSError, yaml.YAMLError, LookupError, TypeError):
        return False


def _settings(path: Location) -> dict[str, Any] | None:
    try:
        settings = json.loads(path.read_bytes())["settings"]
        return {key: settings.get(key) for key in _TAKEN}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
