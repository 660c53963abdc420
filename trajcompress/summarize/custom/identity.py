"""The version of a summariser of one's own: what it says itself, that of its package, or a digest of its code."""

from __future__ import annotations

import functools
import hashlib
import inspect
import uuid
from typing import Any


def version_of(value: Any, package: str | None = None) -> str:
    """Return what tells one state of a summariser from another.

    Args:
        value: a function, or an object.
        package: the package that offers it, with its version.

    Where nothing does, as for an object that says nothing, or what is written in C, it is never twice the same, so
    that nothing old is taken for its own.
    """
    said = getattr(value, "version", None)
    if isinstance(said, str | int | float) and str(said).strip():
        return str(said)
    if package is not None:
        return package
    code = _code(value)
    return uuid.uuid4().hex if code is None else hashlib.sha256(code).hexdigest()[:16]


def _code(value: Any) -> bytes | None:
    if isinstance(value, functools.partial):
        inner = _code(value.func)
        return None if inner is None else inner + repr((value.args, sorted(value.keywords.items()))).encode()
    if not (inspect.isfunction(value) or inspect.isclass(value)):  # an object, or a method of one, has a state
        return None
    try:
        return inspect.getsource(inspect.unwrap(value)).encode("utf-8", "replace")
    except (OSError, TypeError):  # typed in at a prompt
        code = getattr(value, "__code__", None)
        return None if code is None else bytes(code.co_code) + repr((code.co_consts, code.co_names)).encode()
