"""A YAML loader within what a config can be."""

from __future__ import annotations

from typing import Any

import yaml

_MOST_LEVELS = 50
_MOST_VALUES = 10_000
_MOST_DIGITS = 100
_TOO_LARGE = 2**63


class StrictLoader(yaml.SafeLoader):
    """The safe loader, within what a config can be: not deep, not large, each key once.

    YAML says that a key given twice is an error; PyYAML keeps the last. An alias counts as all that it stands for.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._level = 0
        self._values = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Refuse what is nested too deep, or too many values."""
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
        """Refuse a key given twice."""
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
        """Refuse a number too large for any setting."""
        number = super().construct_yaml_int(node) if len(node.value) <= _MOST_DIGITS else _TOO_LARGE
        if abs(number) >= _TOO_LARGE:
            raise yaml.MarkedYAMLError(problem="a number too large for any setting", problem_mark=node.start_mark)
        return int(number)


StrictLoader.add_constructor("tag:yaml.org,2002:int", StrictLoader.construct_yaml_int)
