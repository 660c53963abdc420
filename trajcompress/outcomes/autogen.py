"""What AutoGen prints of the results of calls: each within the object that holds it."""

from __future__ import annotations

import ast

_BEGINS = "[FunctionExecutionResult("
_MOST_CHARS = 200_000
_FAILED = "Error"


def told_by_autogen(text: str) -> str | None:
    r"""Give what the results of a printed list say, with ``Error:`` before those that failed; None of another text.

    >>> told_by_autogen("[FunctionExecutionResult(content='no such pipe', name='look', call_id='c', is_error=True)]")
    'Error: no such pipe'
    """
    if not text.lstrip().startswith(_BEGINS) or len(text) > _MOST_CHARS:
        return None
    try:
        listed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    told = [_told(each) for each in listed.elts] if isinstance(listed, ast.List) else []
    return "\n".join(said for said in told if said is not None) if told and None not in told else None


def _told(result: ast.expr) -> str | None:
    given = {each.arg: each.value for each in result.keywords} if isinstance(result, ast.Call) else {}
    content, failed = given.get("content"), given.get("is_error")
    if not isinstance(content, ast.Constant) or not isinstance(content.value, str):
        return None
    is_error = isinstance(failed, ast.Constant) and failed.value is True and _FAILED not in content.value
    return f"{_FAILED}: {content.value}" if is_error else content.value
