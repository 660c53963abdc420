"""The names of settings: dotted keys, command line options, environment variables, and the nearest to a wrong one."""

from __future__ import annotations

from difflib import get_close_matches

from trajcompress.settings.model import SECTIONS, SETTINGS

PREFIX = "TRAJCOMPRESS_"

OPTIONS: dict[str, str] = {setting.flag: key for key, setting in SETTINGS.items() if setting.flag}
"""Command line option → dotted key. ``TRAJCOMPRESS_<OPTION>`` is the environment's short form of each."""

KEYWORDS: dict[str, str] = {SETTINGS[key].keyword: key for key in OPTIONS.values()}
"""Keyword of the functions in Python → dotted key."""

MEANINGLESS = {"metrics.enabled", "metrics.per_trajectory", "metrics.output_file"}
"""Keys of other trajectory tools that are accepted: metrics are always written, to ``metrics.parquet``."""

VARIABLES = {
    **{PREFIX + key.replace(".", "__").upper(): key for key in (*SETTINGS, *sorted(MEANINGLESS))},
    **{PREFIX + flag.removeprefix("--").replace("-", "_").upper(): key for flag, key in OPTIONS.items()},
}
"""Environment variable → dotted key."""


def hint(unknown: str) -> str:
    """What to say after an unknown dotted key: where it belongs, the nearest valid key, or the sections."""
    section, _, name = unknown.rpartition(".")
    if unknown in SETTINGS:
        return f"; write {name} under the section {section}"
    homes = [key for key in SETTINGS if key.endswith(f".{name}")]
    if homes:
        near = get_close_matches(unknown, homes, n=1, cutoff=0.8) if section else []
        return _did_you_mean(near) if near else f"; {name} belongs in a section: {' or '.join(homes)}"
    if (of_option := OPTIONS.get(f"--{name.replace('_', '-')}")) is not None:  # such as for, which is target here
        return _did_you_mean([of_option])
    if not section and (sections := get_close_matches(name, SECTIONS, n=1)):
        return _did_you_mean(sections)
    in_section = [key for key in SETTINGS if key.startswith(f"{section}.")]
    near = get_close_matches(unknown, in_section, n=1) or get_close_matches(unknown, SETTINGS, n=1)
    return _did_you_mean(near) if near else f"; the sections are {', '.join(SECTIONS)}"


def variable_hint(unknown: str) -> str:
    """What to say after an unknown environment variable."""
    # Without the prefix, which alone makes any two of them look alike.
    near = get_close_matches(unknown.removeprefix(PREFIX), [name.removeprefix(PREFIX) for name in VARIABLES], n=1)
    return (
        _did_you_mean([PREFIX + name for name in near])
        if near
        else "; unset it, or see `trajcompress config show` for the keys"
    )


def _did_you_mean(near: list[str]) -> str:
    return f"; did you mean {near[0]}?"
