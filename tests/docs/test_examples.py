"""The examples in docstrings are what the code gives."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import trajcompress

ROOT = Path(trajcompress.__file__).parent
SHOWING = [path for path in sorted(ROOT.rglob("*.py")) if "\n    >>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: path.stem)
def test_examples_give_what_they_show(path: Path):
    module = import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
