"""Tool definitions in the shape that targets read: ``{type: function, function: {…}}``, as a list or its JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from trajcompress.forms.form import Draft, UnfitError
from trajcompress.json_values import parse_json
from trajcompress.transcript.json_schema import schema_fault, with_json_types

ToolsAs: TypeAlias = Literal["text", "list"]

_NAMES = ("name", "name_for_model")
_DESCRIPTIONS = ("description", "description_for_model")
_PARAMETERS = ("parameters", "input_schema", "inputSchema")


ToolsInSystem: TypeAlias = Callable[[str | None, list[dict[str, Any]]], str | None]
"""Returns the system prompt that shows tools as the chat template shows them; None where none does."""


def written_out(system: str | None, tools: list[dict[str, Any]]) -> str:
    """Return a system prompt with tools behind it as JSON, where there is no chat template to ask."""
    return "\n".join([*filter(None, [system]), *(json.dumps(tool, ensure_ascii=False) for tool in tools)])


def pop_tools(draft: Draft) -> list[dict[str, Any]]:
    """Take the tools of a row out of its columns.

    Raises:
        UnfitError: they are no definitions of functions.
    """
    found = [draft.columns.pop(name) for name in ("tools", "functions") if name in draft.columns]
    if found:
        draft.changes.add("tools")
    given = next(filter(None, found), None)
    return standard_tools(given) if given else []


def write_tools(draft: Draft, wanted: ToolsAs, *, none: str | None = None, as_prose: bool = False) -> None:
    """Put the tools of a row into column ``tools``, in the standard's shape; ``none`` where a list has none.

    With ``as_prose`` the template writes out names and parameters, and all that it asks for has to be there.

    Raises:
        UnfitError: they are no definitions of functions.
    """
    name = next((name for name in ("tools", "functions") if draft.columns.get(name)), "tools")
    given = draft.columns.get(name)
    tools = standard_tools(given) if given else []
    if wanted == "list":
        tools = [_of_json_schema(tool) for tool in tools]
    if as_prose:
        tools = [_with_parameters(tool) for tool in tools]
    value: Any = tools or none  # an empty list is of another type than text, and shown as a list of none
    if tools and wanted == "text":
        value = (
            given if isinstance(given, str) and tools == parse_json(given) else json.dumps(tools, ensure_ascii=False)
        )
    if name in draft.columns and (name != "tools" or value != given):
        draft.columns = {
            "tools" if key == name else key: value if key == name else kept
            for key, kept in draft.columns.items()
            if key == name or key != "tools"
        }
        draft.changes.add("tools")


def standard_tools(given: Any) -> list[dict[str, Any]]:
    """Return tool definitions, or the JSON text of all or of each, in the shape of the Chat Completions API.

    Raises:
        UnfitError: they are no definitions of functions.
    """
    tools = _decoded(given, "column tools is")
    if not isinstance(tools, list):
        raise UnfitError(f"tools_shape: tools are {type(tools).__name__}, no list")
    return [_standard(_decoded(tool, "a tool is text and")) for tool in tools]


def _decoded(given: Any, what: str) -> Any:
    if not isinstance(given, str):
        return given
    try:
        return parse_json(given)
    except ValueError as error:
        raise UnfitError(f"tools_shape: {what} no JSON: {error}"[:120]) from error


def _standard(tool: Any) -> dict[str, Any]:
    if not isinstance(tool, dict):
        raise UnfitError(f"tools_shape: a tool is {type(tool).__name__}, no object")
    inner = tool.get("function")
    function = inner if isinstance(inner, dict) else tool
    if isinstance(function.get("name"), str) and inner is function and tool.get("type") == "function":
        return tool
    name, description, parameters = (_first(function, keys) for keys in (_NAMES, _DESCRIPTIONS, _PARAMETERS))
    if not isinstance(name, str):
        raise UnfitError(f"tools_shape: a tool without a name; it has {', '.join(map(repr, function)) or 'nothing'}")
    known = {"type", *_NAMES, *_DESCRIPTIONS, *_PARAMETERS}
    made = {"name": name, "description": description or "", "parameters": _schema(parameters)}
    made |= {key: value for key, value in function.items() if key not in known and value is not None}
    return {"type": "function", "function": made}


def _of_json_schema(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool whose parameters are a JSON schema, which who validates them insists on."""
    function = tool["function"]
    parameters = with_json_types(function.get("parameters"))
    if (fault := schema_fault(parameters)) is not None:
        raise UnfitError(f"tools_shape: of {function['name']!r} {fault}"[:120])
    made = {**tool, "function": {**function, "parameters": parameters}}
    return tool if made == tool else made


def _with_parameters(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool whose parameters can be written out: properties that are objects, choices that are texts."""
    function = tool["function"]
    given = function.get("parameters")
    parameters = dict(given) if isinstance(given, dict) else {"type": "object"}
    properties = parameters.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    parameters["properties"] = {name: _as_prose(each) for name, each in properties.items()}
    if not isinstance(parameters.get("required", []), list):
        parameters["required"] = []
    made = {**tool, "function": {**function, "parameters": parameters}}
    return tool if made == tool else made


def _as_prose(each: Any) -> dict[str, Any]:
    if not isinstance(each, dict):
        return {}
    made = dict(each)
    if isinstance(choices := each.get("enum"), list):
        made["enum"] = [choice if isinstance(choice, str) else json.dumps(choice) for choice in choices]
    elif choices:
        del made["enum"]
    if not isinstance(each.get("items", {}), dict):
        del made["items"]  # of those of an array, only the one type is written
    return made


def _first(mapping: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key)), None)


def _schema(parameters: Any) -> Any:
    """Return a JSON schema; some write the properties as a list that names each."""
    if not parameters:
        return {"type": "object", "properties": {}}
    if not isinstance(parameters, list):
        return parameters
    named = [each for each in parameters if isinstance(each, dict) and isinstance(each.get("name"), str)]
    if len(named) < len(parameters):
        raise UnfitError("tools_shape: parameters are a list whose items have no names")
    properties = {each["name"]: _property(each) for each in named}
    return {
        "type": "object",
        "properties": properties,
        "required": [each["name"] for each in named if each.get("required") is True],
    }


def _property(each: dict[str, Any]) -> dict[str, Any]:
    inner = each.get("schema")
    kept = {key: value for key, value in each.items() if key not in {"name", "required", "schema"}}
    return {**kept, **inner} if isinstance(inner, dict) else kept
