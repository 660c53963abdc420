"""Nebius' trajectories of SWE-agent: ``trajectory``, a list of ``{role, text}`` whose prompt is in ``system_prompt``.

Roles are ``system``, ``user`` and ``ai``. ``mask`` says which turns their trainer learns from, ``cutoff_date`` is of
the prompt; both stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, objects, one_of
from trajcompress.transcript.trajectory import Message

_COLUMN = "trajectory"
_ROLES = {"system": "system", "user": "user", "ai": "assistant"}
_READ = frozenset({"role", "text", "system_prompt"})


def _find(_: Row, lists: Lists) -> tuple[str, ...]:
    turns = lists.get(_COLUMN)
    return (_COLUMN,) if turns and turns[0].keys() >= _READ else ()


def _read(_: Row, lists: Lists, __: tuple[str, ...]) -> Made:
    return Made([_message(turn, index) for index, turn in enumerate(objects(lists[_COLUMN], "turn"))])


def _message(turn: Mapping[str, Any], index: int) -> Message:
    role = one_of(turn.get("role"), _ROLES, f"turn {index} has role")
    said = turn.get("text") if turn.get("text") is not None else turn.get("system_prompt")
    if not isinstance(said, str):
        raise RowError("turns_without_content", f"turn {index} has neither 'text' nor 'system_prompt' that is text")
    rest = {key: value for key, value in turn.items() if key not in _READ and value is not None}
    return {"role": role, "content": said} | rest


ADAPTER = Adapter("nebius", _find, _read)
