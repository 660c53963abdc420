"""What a script calls: of code that is one call, or that names values for one, the call tells most."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from msgspec import Struct

from trajcompress.outcomes.action.quotes import closed
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

_READ_CHARS = 2_000
_CALLEE_CHARS = 80
_VALUE_CHARS = 60
_PRINTS = frozenset({"print", "display"})
_ESCAPE = late_re(r"\\[^\\'\"abfnrtv\n01234567xuUN]")  # which Python warns of

_SAVED = late_re(
    r"\s{0,4}(?:#|//|/\*|<!--) ?filename: ?([\w./~+-]{1,200}\.\w{1,10})[ \t]{0,4}(?:\*/|-->)?[ \t]{0,4}(?:\n|\Z)"
)
_FILENAME_CHARS = 60


class Called(Struct, frozen=True):
    """What a script calls, and what ``given``: each argument with its name, if it has one, as it is written.

    ``others`` are the lines of the script besides.
    """

    callee: str
    given: tuple[tuple[str, str], ...]
    others: int

    def arguments(self) -> dict[str, str]:
        """Return the arguments by their names or places."""
        return {name or str(place): value for place, (name, value) in enumerate(self.given)}


def called_in(code: str) -> Called | None:
    r"""Return the one call that a script makes, but for printing what came; None for any other script.

    >>> called_in("token = 'abc'\nfound = notes.search(token, limit=20)\nprint(found)")
    Called(callee='notes.search', given=(('', 'token'), ('limit', '20')), others=2)
    """
    code = code.strip()
    if len(code) > _READ_CHARS or "(" not in code or (tree := parsed(code)) is None:
        return None
    if (call := _only_call(tree.body)) is None:
        return None
    callee = ast.get_source_segment(code, call.func) or ""
    given = [("", each) for each in call.args] + [(each.arg or "**", each.value) for each in call.keywords]
    written = tuple((name, one_line(ast.get_source_segment(code, value) or "")) for name, value in given)
    if not callee.replace(".", "_").isidentifier() or len(callee) > _CALLEE_CHARS:
        return None
    lines = sum(bool(line) and line[0] != "#" for line in map(str.strip, code.splitlines()))
    return Called(callee, written, lines - (call.end_lineno or call.lineno) + call.lineno - 1)


def told_call(called: Called, limit: int, first: Collection[str] = frozenset()) -> str:
    """Write a call in whole arguments; those go ``first`` that tell it from others, as far as they have names.

    What is given under its own name tells least.
    """
    pairs = sorted(called.given, key=lambda pair: (bool(pair[0]) and pair[0] not in first, pair[0] == pair[1]))
    written = [f"{name}{'=' * (name not in ('', '**'))}{_value(value)}" for name, value in pairs]
    count = len(written)
    while len(written) > 1 and len(called.callee) + sum(len(each) + 2 for each in written) > limit:
        written.pop()
    more = ["…"] if len(written) < count else []
    lines = f" (+{called.others} line{'s' if called.others > 1 else ''})" if called.others > 0 else ""
    return f"{called.callee}({', '.join((*written, *more))}){lines}"


def _value(source: str) -> str:
    return source if len(source) <= _VALUE_CHARS else closed(shorten(source, _VALUE_CHARS - 1))


def _only_call(body: Iterable[ast.stmt]) -> ast.Call | None:
    """Return the one call of statements that do nothing besides but name values, import, and print."""
    made: list[ast.expr] = []
    printed: list[ast.expr] = []
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            continue
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr) else None
        if value is None:
            return None
        shown = _shown(value)
        if any(isinstance(node, ast.Call) for node in ast.walk(shown or value)):
            (printed if shown else made).append(shown or value)
    calls = made or printed
    call = calls[0].value if calls and isinstance(calls[0], ast.Await) else calls[0] if calls else None
    return call if len(calls) == 1 and isinstance(call, ast.Call) else None


def _shown(value: ast.expr) -> ast.expr | None:
    """Return what is printed; None where nothing is."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _PRINTS:
        return value.args[0] if len(value.args) == 1 and not value.keywords else value
    return None


def parsed(code: str) -> ast.Module | None:
    """Return a script as a tree; None where that is none of Python."""
    if _ESCAPE.search(code):
        return None
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def saved_as(code: str) -> str:
    r"""Return the file that AutoGen saves a block of code to before it runs it, as its first line says; else nothing.

    >>> saved_as("# filename: chart.py\nimport os")
    'chart.py'
    """
    named = _SAVED.match(code) if "filename:" in code[:_FILENAME_CHARS] else None
    return named[1] if named else ""
