"""What measures the package imports nothing of it, so that no mistake is made twice."""

from __future__ import annotations

import ast

import pytest
from measures import SCRIPTS

PACKAGES = ("images", "trainers", "truth")
MEASURES = sorted(file for folder in PACKAGES for file in (SCRIPTS / folder).glob("*.py"))
MEASURES += sorted(SCRIPTS.glob("eval_*.py"))


@pytest.mark.parametrize("path", MEASURES, ids=lambda path: path.relative_to(SCRIPTS).as_posix())
def test_it_imports_nothing_of_what_it_measures(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not [name for name in names if name.split(".")[0] == "trajcompress"]
