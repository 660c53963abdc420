"""What the script knows of a source file beforehand: definitions, raised errors, one-line bugs to plant."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_SWAPS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method: where it stands and what it must be given."""

    qualified: str
    name: str
    line: int  # of the def itself
    end: int
    body_line: int  # the first statement after the docstring
    body_indent: int
    required: tuple[str, ...]  # names of the positional parameters without a default
    signature: str
    decorated: bool
    calls: tuple[str, ...]  # names that it calls, sorted; of ``a.b()`` the last part


@dataclass(frozen=True, slots=True)
class Bug:
    """One line changed so that it means something else."""

    line: int
    good: str  # the whole line, as it should be
    bad: str
    was: str  # the part that differs
    now: str
    kind: str


@lru_cache(maxsize=128)
def functions(text: str) -> tuple[Function, ...]:
    """All functions and methods that are not nested in another function, in source order."""
    return tuple(_functions(ast.parse(text).body, ""))


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[Function]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, FunctionNode):
            has_docstring = ast.get_docstring(node, clean=False) is not None
            first = node.body[1 if has_docstring and len(node.body) > 1 else 0]
            positional = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            required = positional[: len(positional) - len(node.args.defaults)]
            yield Function(
                qualified=f"{prefix}{node.name}",
                name=node.name,
                line=node.lineno,
                end=node.end_lineno or node.lineno,
                body_line=first.lineno,
                body_indent=first.col_offset,
                required=tuple(required),
                signature=f"({ast.unparse(node.args)})",
                decorated=bool(node.decorator_list),
                calls=tuple(sorted(_called(node))),
            )


def _called(function: FunctionNode) -> set[str]:
    targets = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    attributes = {target.attr for target in targets if isinstance(target, ast.Attribute)}
    return attributes | {target.id for target in targets if isinstance(target, ast.Name)}


def raised(text: str) -> list[tuple[int, str]]:
    """Line and name of every exception that is raised by name."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Raise) and node.exc is not None:
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            found.append((node.lineno, ast.unparse(error)))
    return sorted(found)


def classes(text: str) -> list[tuple[int, str, tuple[str, ...]]]:
    """Line, name and bases of every class."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    return sorted((node.lineno, node.name, tuple(map(ast.unparse, node.bases))) for node in nodes)


def bugs(text: str) -> list[Bug]:
    """Every one-line bug that can be planted by swapping an operator, dropping a ``not`` or shifting a constant."""
    lines = text.split("\n")
    return [bug for node in ast.walk(ast.parse(text)) for bug in _bugs(node, lines)]


def _bugs(node: ast.AST, lines: list[str]) -> Iterator[Bug]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _SWAPS:
            was, now = _SWAPS[type(operator)]
            yield from _swap(lines, (left, right), (was, now), "comparison")
        case ast.BoolOp(op=operator, values=[left, right]):
            was, now = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
            yield from _swap(lines, (left, right), (was, now), "connective")
        case ast.UnaryOp(op=ast.Not(), operand=operand) if node.lineno == operand.lineno:
            line = lines[node.lineno - 1]
            bad = line[: node.col_offset] + line[operand.col_offset :]
            if line.isascii():
                yield Bug(node.lineno, line, bad, "not", "", "negation")
        case ast.Constant(value=int(value)) if type(value) is int and 0 <= value <= 8:  # noqa: PLR2004 - small indices
            line = lines[node.lineno - 1]
            if line.isascii() and line[node.col_offset : node.end_col_offset] == str(value):
                bad = line[: node.col_offset] + str(value + 1) + line[node.end_col_offset :]
                yield Bug(node.lineno, line, bad, str(value), str(value + 1), "constant")


def _swap(
    lines: list[str], operands: tuple[ast.expr, ast.expr], operators: tuple[str, str], kind: str
) -> Iterator[Bug]:
    (left, right), (was, now) = operands, operators
    if left.end_lineno != right.lineno or left.end_col_offset is None:
        return
    line = lines[right.lineno - 1]
    between = line[left.end_col_offset : right.col_offset]
    if line.isascii() and between.count(f" {was} ") == 1:
        bad = line[: left.end_col_offset] + between.replace(f" {was} ", f" {now} ") + line[right.col_offset :]
        yield Bug(right.lineno, line, bad, was, now, kind)
