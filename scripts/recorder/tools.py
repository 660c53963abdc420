"""The tools as a model is told of them (OpenAI function definitions)."""

from __future__ import annotations

from typing import Any


def _tool(
    name: str, description: str, optional: tuple[str, ...] = (), **parameters: tuple[str, str]
) -> dict[str, Any]:
    properties = {key: {"type": kind, "description": text} for key, (kind, text) in parameters.items()}
    required = [key for key in parameters if key not in optional]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [
    _tool("list_dir", "List a folder of the workspace.", path=("string", "Folder, relative to the workspace.")),
    _tool(
        "read_file",
        "Read a file, or a range of its lines, with line numbers.",
        optional=("start", "end"),
        path=("string", "File, relative to the workspace."),
        start=("integer", "First line, from 1."),
        end=("integer", "Last line, included."),
    ),
    _tool(
        "search",
        "Find lines that match a Python regular expression.",
        optional=("path",),
        pattern=("string", "Regular expression."),
        path=("string", "File or folder to search; default is the whole workspace."),
    ),
    _tool(
        "edit_file",
        "Replace one exact piece of text in a file. It must occur exactly once.",
        path=("string", "File, relative to the workspace."),
        old=("string", "Text to replace."),
        new=("string", "Text to put in its place."),
    ),
    _tool(
        "write_file",
        "Create or overwrite a file.",
        path=("string", "File, relative to the workspace."),
        content=("string", "The whole text."),
    ),
    _tool("run_tests", "Run unittest.", target=("string", "Dotted name of a test module, class or method.")),
    _tool("run_python", "Run a Python snippet; src/ comes first on the path.", code=("string", "Python code.")),
]
