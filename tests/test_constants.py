"""A constant of a module has one value: a second one, further down, would change what stands above it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import trajcompress

ROOT = Path(trajcompress.__file__).parent


def _assigned(path: Path) -> Iterator[str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and name.id.isupper():
                    yield name.id


def test_no_constant_is_assigned_twice():
    twice = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in ROOT.rglob("*.py")
        for name, times in Counter(_assigned(path)).items()
        if times > 1
    }
    assert twice == set()
