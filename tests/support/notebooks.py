"""Running a notebook as IPython does, but for its kernel: its code cells in order, in one namespace and one loop.

``nbclient`` would bring a kernel, ZeroMQ and a web of packages for four things that a cell of ours may hold: Python,
``await`` outside functions, lines of shell behind ``!``, and a last expression that is shown.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_SHELL = re.compile(r"^!(?P<command>.+)$", re.MULTILINE)


def code_cells(notebook: Path) -> list[str]:
    """Return the sources of the code cells of a notebook, in order."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    if content["nbformat"] != 4:
        raise ValueError(f"{notebook}: notebooks of format 4 are known")
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]


def run_notebook(notebook: Path, shell: Callable[[str], None]) -> dict[str, Any]:
    """Run the code cells within a running event loop; return the names that they leave, and in ``Out`` what is shown.

    Args:
        notebook: the file.
        shell: runs a line of shell, and raises where that fails.
    """
    names: dict[str, Any] = {"__name__": "__main__", "_shell": shell, "Out": []}

    async def run_all() -> None:
        for number, source in enumerate(code_cells(notebook), start=1):
            text = _SHELL.sub(lambda line: f"_shell({line['command']!r})", source)
            await _run_cell(text, f"{notebook.name}, code cell {number}", names)

    asyncio.run(run_all())
    return names


async def _run_cell(text: str, where: str, names: dict[str, Any]) -> None:
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    await _run(compile(tree, where, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if isinstance(last, ast.Expr):
        code = compile(ast.Expression(last.value), where, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names["Out"].append(await _run(code, names))


async def _run(code: Any, names: dict[str, Any]) -> Any:
    value = eval(code, names)  # noqa: S307 - what the notebook says to run
    return await value if inspect.iscoroutine(value) else value
