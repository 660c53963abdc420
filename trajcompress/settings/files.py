"""Reading the two files that settings come from: YAML, strictly, and ``.env``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import yaml

from trajcompress.errors import SettingsError


class _UniqueKeyLoader(yaml.SafeLoader):
    """The safe loader, but a key given twice is an error: YAML says so, PyYAML keeps the last."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"duplicate key {key.value}", problem_mark=key.start_mark)
            seen.add(key.value)
        return node


def read_yaml(path: Path) -> dict[Any, Any]:
    """Read a config file; an empty one is an empty mapping.

    Raises:
        SettingsError: the file does not exist, cannot be read, is not YAML, repeats a key, or is not a mapping.
    """
    if not path.exists():
        raise SettingsError(f"{path}: no such config file")
    try:
        loader = _UniqueKeyLoader(_read_text(path))
        content = loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        line = f" line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SettingsError(f"{path}{line}: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date that no calendar has
        raise SettingsError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"{path}: should be a mapping of sections, not a {type(content).__name__}")
    return content


def read_dotenv(path: Path | None) -> dict[str, str]:
    """Read the variables of a ``.env`` file; none where there is no file.

    Raises:
        SettingsError: the file is there but cannot be read.
    """
    if path is None or not path.is_file():
        return {}
    from dotenv import dotenv_values

    # Without interpolation: a "$" in a key is a "$".
    values = dotenv_values(stream=io.StringIO(_read_text(path)), interpolate=False)
    return {name: value for name, value in values.items() if value is not None}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
