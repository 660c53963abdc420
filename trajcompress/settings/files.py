"""Reading the two files that settings come from: YAML, strictly, and ``.env``."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import yaml

from trajcompress.errors import SettingsError

_MOST_CHARS = 2**20
_MOST_LEVELS = 50
_MOST_VALUES = 10_000
_MOST_DIGITS = 100
_TOO_LARGE = 2**63


class _ConfigLoader(yaml.SafeLoader):
    """The safe loader, within what a config can be: not deep, not large, each key once.

    YAML says that a key given twice is an error; PyYAML keeps the last. An alias counts as all that it stands for.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._level = 0
        self._values = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self._level >= _MOST_LEVELS:
            raise self._refusal(f"nested deeper than {_MOST_LEVELS} levels")
        before = self._values
        is_alias = self.check_event(yaml.AliasEvent)
        self._level += 1
        node = super().compose_node(parent, index)
        self._level -= 1
        self._values += self._sizes.get(id(node), _MOST_VALUES) if is_alias else 1  # one that is open yet has no end
        if self._values > _MOST_VALUES:
            raise self._refusal(f"holds more than {_MOST_VALUES:,} values, with all that aliases stand for")
        self._sizes[id(node)] = self._values - before
        return node

    def _refusal(self, problem: str) -> yaml.MarkedYAMLError:
        return yaml.MarkedYAMLError(problem=problem, problem_mark=self.get_mark())

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

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        number = super().construct_yaml_int(node) if len(node.value) <= _MOST_DIGITS else _TOO_LARGE
        if abs(number) >= _TOO_LARGE:
            raise yaml.MarkedYAMLError(problem="a number too large for any setting", problem_mark=node.start_mark)
        return int(number)


_ConfigLoader.add_constructor("tag:yaml.org,2002:int", _ConfigLoader.construct_yaml_int)


def read_yaml(path: Path) -> dict[Any, Any]:
    """Read a config file; an empty one is an empty mapping.

    Raises:
        SettingsError: the file does not exist, cannot be read, is not YAML, repeats a key, is not a mapping, or is
            larger or deeper than any config.
    """
    if not path.exists():
        raise SettingsError(f"{path}: no such config file")
    try:
        loader = _ConfigLoader(_read_text(path))
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
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MOST_CHARS + 1)
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from error
    if len(text) > _MOST_CHARS:
        raise SettingsError(f"{path}: larger than any config; is it one?")
    return text
