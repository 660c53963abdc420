"""What a row gives its chat template besides messages and tools: columns that a trainer hands on by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trajcompress.settings.choices import Target
from trajcompress.tokens.rendering import Options


def options_of(row: Mapping[str, Any], target: Target) -> Options:
    """Return what the target takes of a row for its template, by name; such as whether the model is to think."""
    read = _READ_BY.get(target)
    return read(row) if read else {}


def _chat_template_kwargs(row: Mapping[str, Any]) -> Options:
    given = row.get("chat_template_kwargs")
    return given if isinstance(given, dict) else {}


def _enable_thinking(row: Mapping[str, Any]) -> Options:
    given = row.get("enable_thinking")
    return {} if given is None else {"enable_thinking": bool(given)}


_READ_BY: Mapping[Target, Callable[[Mapping[str, Any]], Options]] = {
    "template": _chat_template_kwargs,
    "trl": _chat_template_kwargs,
    "verl": _enable_thinking,
}
"""Who reads a column; axolotl and LLaMA-Factory have a setting for all rows alike."""
