"""What the documentation of a function says that an agent looks up: how it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trajcompress.facts.parts import Wanted
from trajcompress.outcomes.text import LEAST_CHARS, one_line, shorten

_PARAMETERS = ("parameters", "params", "inputSchema", "input_schema", "args_schema")
_NAMES = ("api_name", "name", "tool_name", "function_name", "endpoint")
_SAYS = ("constraints", "enum", "description")
_MOST_DEFAULT, _MOST_NAME = 24, 60


class _Parameter(NamedTuple):
    """One that a function takes; ``default`` is what it is if it is not given, if that is told."""

    name: str
    required: bool
    default: str
    says: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name if self.required else f"{self.name}={self.default}" if self.default else f"{self.name}?"


def signature_of(data: Any, wanted: Wanted, limit: int) -> str:
    """Say how a documented function is called, and of parameters that later turns name what they may be.

    Such as ``login(username, password, keep=false, device?)``: those that need not be given have a default, or a
    question mark. Nothing of other data. Those who say how their tools are called agree on a list of named
    parameters, or on a JSON Schema, as MCP and OpenAI's functions do.

    Args:
        data: a JSON result.
        wanted: what later turns use.
        limit: the most characters.
    """
    held = data.get("function", data) if isinstance(data, dict) else None
    held = held if isinstance(held, dict) else data
    parameters = _parameters_of(held) if isinstance(held, dict) else []
    name = next((name for key in _NAMES if isinstance(name := held.get(key), str)), "") if parameters else ""
    if not name or len(name) > _MOST_NAME or " " in name:
        return ""
    parameters.sort(key=lambda each: (each.name not in wanted, not each.required))
    said = f"{name}({_listed(parameters, limit - len(name) - 2)})"
    for more in _more(held, [each for each in parameters if each.name in wanted]):
        room = limit - len(said) - 2
        if room < min(LEAST_CHARS, len(more)):
            break
        said += f"; {shorten(more, room)}"
    return said


def _parameters_of(data: Mapping[str, Any]) -> list[_Parameter]:
    """Return the parameters that a function is documented with; none of what documents no function."""
    given = next((data[key] for key in _PARAMETERS if data.get(key)), None)
    if isinstance(given, dict) and isinstance(given.get("properties"), dict):
        needed = given.get("required")
        needed = needed if isinstance(needed, list) else []
        named = [(name, says, name in needed) for name, says in given["properties"].items()]
    elif isinstance(given, list):
        named = [(each.get("name"), each, each.get("required") is True) for each in given if isinstance(each, dict)]
        named = named if len(named) == len(given) and all("type" in says for _, says, _ in named) else []
    else:
        return []
    if not all(isinstance(name, str) and name and isinstance(says, dict) for name, says, _ in named):
        return []
    return [_Parameter(name, required, _written(says.get("default")), says) for name, says, required in named]


def _written(default: Any) -> str:
    """Return a default that is told: none, and what is long, are not."""
    if default is None or isinstance(default, dict | list):
        return ""
    written = str(default).lower() if isinstance(default, bool) else str(default)
    return written if len(written) <= _MOST_DEFAULT else ""


def _listed(parameters: Sequence[_Parameter], room: int) -> str:
    said = ""
    for each in map(str, parameters):
        more = f"{', ' if said else ''}{each}"
        if len(said) + len(more) + 3 > room:
            return f"{said}, …" if said else "…"
        said += more
    return said


def _more(data: Mapping[str, Any], used: Sequence[_Parameter]) -> Iterator[str]:
    """Yield what is said of parameters that later turns name, and of the function."""
    for key in _SAYS:
        for each in used:
            value = each.says.get(key)
            value = ", ".join(map(str, value)) if isinstance(value, list) else value
            if isinstance(value, str) and value.strip():
                yield f"{each.name}: {one_line(value)}"
    if isinstance(described := data.get("description"), str) and described.strip():
        yield one_line(described)
