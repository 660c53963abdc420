"""Dependencies run one way: no module, no folder and no package needs one that needs it, not even while it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import trajcompress

ROOT = Path(trajcompress.__file__).parent
FACADE = "trajcompress"
"""It names everything, and nothing of ours goes through it."""


def name_of(path: Path) -> str:
    parts = [FACADE, *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in ROOT.rglob("*.py")}


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the modules of ours that one imports, also within functions, but for what type checkers alone see."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == FACADE:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found.update(name if name in MODULES else node.module for name in names)
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def package_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def child_of(folder: str, module: str) -> str:
    """Return what of a folder a module is or stands in; nothing where it stands outside."""
    inner = module.removeprefix(f"{folder}.")
    return "" if inner == module else inner.split(".")[0]


def graph(part_of: Callable[[str], str]) -> dict[str, set[str]]:
    needs: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        if module != FACADE:
            part = part_of(module)
            needs.setdefault(part, set()).update({part_of(each) for each in imported(path)} - {part})
    return needs


def levels(needs: dict[str, set[str]]) -> int:
    """Count the levels of a graph: whoever needs nobody is on the first."""
    sorter = TopologicalSorter(needs)
    sorter.prepare()  # raises CycleError, which names the cycle
    count = 0
    while ready := sorter.get_ready():
        sorter.done(*ready)
        count += 1
    return count


def test_modules_and_packages_need_each_other_one_way():
    modules = graph(str)
    assert len(modules) > 200
    assert FACADE not in set().union(*modules.values())
    assert levels(modules) > 1


def test_what_stands_in_one_folder_needs_each_other_one_way():
    folders = [name for name, path in MODULES.items() if path.name == "__init__.py" and name != FACADE]
    assert len(folders) > 20
    for folder in folders:
        needs = graph(lambda module, folder=folder: child_of(folder, module))
        beside = {part: needed - {""} for part, needed in needs.items() if part}
        levels(beside)  # raises CycleError where a folder needs another that needs it


def test_packages_and_modules_beside_them_stand_on_few_levels():
    packages = graph(package_of)
    assert len(packages) > 10
    assert levels(packages) <= 12
    assert len(list(ROOT.glob("*.py"))) <= 8
