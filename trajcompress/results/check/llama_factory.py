"""What LLaMA-Factory's converters and templates make of a row, by rule: nothing is rendered here.

Templates differ in the tools that they take. Most show a definition as it is; those of the default style write out
its name and its parameters, and raise where there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trajcompress.formats.turns import without_think
from trajcompress.json_values import parse_json
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.transcript.violation import Violation

if TYPE_CHECKING:
    from trajcompress.tokens.llama_factory.template import LlamaFactoryTemplate

_SHOWN = 60


class LlamaFactoryRows:
    """Tells what its converters leave out of a row or encode a second time, and at which tools its template stops.

    Args:
        template: the one for the model that is trained; None where that is not known.
    """

    def __init__(self, template: LlamaFactoryTemplate | None = None) -> None:
        self._template = None if template is None or template.is_bound else template

    @property
    def tools_as_prose(self) -> bool:
        """Whether its template may write out names and parameters of tools, in the place of their JSON."""
        return self._template is None or self._template.tools_as_prose

    def violations(self, trajectory: Trajectory) -> list[Violation]:
        """Return what is wrong with what it would render of a row."""
        lost = [found for index, turn in enumerate(trajectory.turns) for found in _lost(index, turn)]
        return [*self._of_tools(trajectory), *lost]

    def behind_refusal(self, trajectory: Trajectory) -> list[Violation]:  # noqa: ARG002 - its converters refuse none
        """Return nothing more: no row is refused as it is rendered."""
        return []

    def _of_tools(self, trajectory: Trajectory) -> Iterator[Violation]:
        given = trajectory.row.get("tools")
        if isinstance(given, list) and given and trajectory.format == "sharegpt":
            yield Violation("tools_shape", None, "a list, where its ShareGPT converter takes JSON text")
            return
        tools = _definitions(given)
        stop = next(filter(None, (_stop_of_default(index, tool) for index, tool in enumerate(tools))), None)
        if stop is None:
            return
        if self._template is None:
            yield Violation("tools_for_some_templates", None, stop[:120])
        elif self._template.tools_as_prose:
            yield Violation("tools_shape", None, f"{stop}, at which its {self._template.name} raises"[:120])
        else:
            yield Violation("tools_not_standard", None, stop[:120])


def _definitions(given: Any) -> list[dict[str, Any]]:
    """Return the tools of a column; none where they are no list of objects, which ``tools_shape`` tells."""
    if isinstance(given, str):
        try:
            given = parse_json(given)
        except ValueError:
            return []
    return given if isinstance(given, list) and all(isinstance(tool, dict) for tool in given) else []


def _stop_of_default(index: int, tool: dict[str, Any]) -> str | None:
    """Return at what of a tool templates of the default style raise; None where they write it out."""
    function = tool.get("function") if tool.get("type") == "function" else tool
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        keys = ", ".join(map(repr, function)) if isinstance(function, dict) else type(function).__name__
        return f"tool {index} has no name; its keys are {keys}"
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    if not isinstance(parameters, dict) or not isinstance(properties, dict):
        return f"parameters of {function['name']!r} have no properties"
    if properties and not isinstance(parameters.get("required", []), list | str | dict):
        return f"required of {function['name']!r} is no list"
    odd = next((name for name, each in properties.items() if not _is_written_out(each)), None)
    return None if odd is None else f"parameter {odd} of {function['name']!r} is none that is written out"


def _is_written_out(given: Any) -> bool:
    if not isinstance(given, dict):
        return False
    choices, items = given.get("enum") or [], given.get("items") or {}
    are_texts = isinstance(choices, list | str | dict) and all(isinstance(each, str) for each in choices)
    return isinstance(items, dict) and are_texts


def _lost(index: int, turn: Turn) -> Iterator[Violation]:
    if turn.role != "assistant":
        return
    if turn.reasoning.strip():
        yield Violation("thoughts_not_rendered", index, f"beside the content: {_first(turn.reasoning)}")
    if not turn.raw.get("role"):
        return
    own = turn.raw.get("tool_calls")
    if own and isinstance(own, list):  # read instead of the content
        if words := without_think(turn.text).strip():
            yield Violation("content_not_rendered", index, f"beside tool_calls: {_first(words)}")
        if words != turn.text.strip():
            yield Violation("thoughts_not_rendered", index, f"beside tool_calls: {_first(turn.text)}")
        if any(isinstance(_arguments(call), str) for call in own):
            yield Violation("arguments_encoded_twice", index, "arguments are text, which is encoded again")
    elif turn.raw.get("function_call"):
        yield Violation("call_not_rendered", index, "function_call is not read")


def _first(text: str) -> str:
    return " ".join(text[: 2 * _SHOWN].split())[:_SHOWN]


def _arguments(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    return function.get("arguments") if isinstance(function, dict) else None
