"""Metrics have one writer: what happened to a row becomes its metrics in one module, and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import trajcompress
from trajcompress.metrics.row import COLUMNS

ROOT = Path(trajcompress.__file__).parent
WRITER = "compaction/row_metrics.py"
MADE = {"RowMetrics", "SegmentMetrics"}
READERS = {"metrics/files.py"}
"""They make metrics again of what the writer's became in a file."""
BEFORE_METRICS = ("compaction/", "run/rows/row.py", "run/loop/row_loop.py", "run/rows/output_rows.py", "api/opened")
"""Who decides what happens to a row, by what happened to it."""
TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert, ast.comprehension, ast.Match)


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def written(tree: ast.AST) -> Iterator[str]:
    """Yield where metrics are made, or made others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = last_name(node.func)
            replaced = called == "replace" and node.args and "metrics" in last_name(node.args[0])
            columns = {each.arg for each in node.keywords} & set(COLUMNS)
            if called in MADE or (replaced and columns):
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif (
            isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and "metrics" in last_name(node.value)
        ):
            yield f"line {node.lineno}: {ast.unparse(node)}"


def decided_by(tree: ast.AST) -> Iterator[str]:
    """Yield what is decided by a metric."""
    for node in ast.walk(tree):
        if isinstance(node, TESTS):
            tests = node.ifs if isinstance(node, ast.comprehension) else [getattr(node, "test", None) or node.subject]
            for each in (inner for test in tests for inner in ast.walk(test)):
                if isinstance(each, ast.Attribute) and last_name(each.value) == "metrics" and each.attr in COLUMNS:
                    yield f"line {each.lineno}: {ast.unparse(each)}"


def modules() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_one_module_writes_metrics():
    found = {name: list(written(tree)) for name, tree in modules() if name not in READERS}
    assert len(found.pop(WRITER)) >= len(MADE)
    assert {name: places for name, places in found.items() if places} == {}


def test_what_happens_to_a_row_is_not_decided_by_its_metrics():
    found = {name: list(decided_by(tree)) for name, tree in modules() if name.startswith(BEFORE_METRICS)}
    del found[WRITER]
    assert len(found) > 20
    assert {name: places for name, places in found.items() if places} == {}


@pytest.mark.parametrize(
    "code",
    [
        "RowMetrics('a', 0)",
        "done.metrics.outcome = 'failed'",
        "replace(done.metrics, outcome='failed')",
        "dataclasses.replace(row_metrics, passes=1)",
    ],
)
def test_another_writer_is_found(code: str):
    assert list(written(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["if done.metrics.reason is None: pass", "x = 1 if metrics.passes else 2", "[a for a in b if metrics.error]"],
)
def test_what_is_decided_by_metrics_is_found(code: str):
    assert list(decided_by(ast.parse(code)))
