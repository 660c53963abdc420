"""Settings as a YAML file with the help of each above it."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import yaml

from trajcompress.settings.declare import Setting
from trajcompress.settings.model import SECTIONS, SETTINGS
from trajcompress.settings.values import Size

HEAD = """\
# Stronger than this file, strongest first: the command line (the option in brackets), the environment, .env in the
# working folder. A variable is TRAJCOMPRESS_ and the option (TRAJCOMPRESS_RPM=60) or, for every key,
# TRAJCOMPRESS_ and section and key (TRAJCOMPRESS_SUMMARIZATION__RPM=60).
# `trajcompress config show --config FILE` prints the values a run would see and where each came from.
# "null" means "not set". The section "metrics" of other tools is accepted and has no effect: metrics are always
# written.
"""


def commented(values: Mapping[str, Any], origins: Mapping[str, str] | None = None) -> str:
    """Return every setting by section, with its help above it, and where it came from if that is no default.

    Args:
        values: by dotted key; what is not there has its default.
        origins: where a value came from, by dotted key.
    """
    return "".join(
        f"\n# {(made.__doc__ or '').partition(chr(10))[0]}\n{name}:\n{_keys_of(name, values, origins or {})}"
        for name, made in SECTIONS.items()
    )


def _keys_of(section: str, values: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    return "".join(
        f"{fill(_comment(setting, origins), 118, initial_indent='  # ', subsequent_indent='  # ')}\n"
        f"  {setting.name}: {_as_yaml(values.get(setting.key, setting.default))}\n"
        for setting in SETTINGS.values()
        if setting.section == section
    )


def _comment(setting: Setting, origins: Mapping[str, str]) -> str:
    parts = [f"[{setting.flag}]"] if setting.flag else []
    if setting.choices:
        parts.append(f"{' | '.join(setting.choices)}.")
    parts.append(setting.help)
    if setting.default is None and setting.default_text:
        parts.append(f"null: {setting.default_text}.")
    if (origin := origins.get(setting.key, "default")) != "default":
        parts.append(f"Set by: {origin}.")
    return " ".join(parts)


def _as_yaml(value: Any) -> str:
    if isinstance(value, Size):
        return str(value)
    return "off" if value == "off" else yaml.safe_dump(value, width=1000, default_flow_style=True).partition("\n")[0]
