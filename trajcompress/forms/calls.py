"""Ids and arguments of calls: which call has which id, once every one has one, in the shape that a target wants."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from trajcompress.forms.form import Draft, UnfitError
from trajcompress.json_values import parse_json
from trajcompress.settings.choices import ArgumentsAs
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import ToolCall, Turn

IdsAs: TypeAlias = Literal["any", "nine"]

_NINE = 9
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Ids(Struct, frozen=True):
    """The id of each call, and for each result the id of the call that it answers; None where none does."""

    calls: dict[Place, str]
    results: dict[Place, str | None]


def give_ids(turns: Sequence[Turn], wanted: IdsAs) -> Ids:
    """Return an id for every call of a row: its own where it has one that will do, else one made for it.

    Results whose call is known have its id. ``nine``: ids are nine letters and digits, as Mistral's models have
    them; others become a digest, distinct within the row.
    """
    plain = [(index, turn) for index, turn in enumerate(turns) if not turn.in_text]
    own = {(index, n): call.id for index, turn in plain for n, call in enumerate(turn.calls)}
    taken = {call_id for call_id in own.values() if call_id}
    taken |= {answer for _, turn in plain for answer in turn.answers if answer}
    fresh = _fresh(taken)
    to_nine = _Nine(taken) if wanted == "nine" else None
    calls = {place: _shaped(call_id or next(fresh), to_nine) for place, call_id in own.items()}
    answered = {match.result: match.call for match in match_results(turns)}
    results: dict[Place, str | None] = {}
    for index, turn in plain:
        for n, answer in enumerate(turn.answers):
            call = answered.get((index, n))
            known = calls.get(call) if call is not None else None
            results[index, n] = known or (_shaped(answer, to_nine) if answer else None)
    return Ids(calls, results)


def _fresh(taken: set[str]) -> Iterator[str]:
    number = 0
    while True:
        made = f"call{number:05d}"
        number += 1
        if made not in taken:
            yield made


def _shaped(call_id: str, to_nine: _Nine | None) -> str:
    return call_id if to_nine is None else to_nine(call_id)


class _Nine:
    """Makes ids of nine letters and digits, the same of the same id, and others of others."""

    def __init__(self, taken: set[str]) -> None:
        self._made: dict[str, str] = {call_id: call_id for call_id in taken if _is_nine(call_id)}
        self._used = set(self._made)

    def __call__(self, call_id: str) -> str:
        if call_id not in self._made:
            made = next(each for each in _digests(call_id) if each not in self._used)
            self._used.add(made)
            self._made[call_id] = made
        return self._made[call_id]


def _is_nine(call_id: str) -> bool:
    return len(call_id) == _NINE and call_id.isascii() and call_id.isalnum()


def _digests(call_id: str) -> Iterator[str]:
    if _is_nine(call_id):
        yield call_id
    salt = 0
    while True:
        number = int.from_bytes(hashlib.sha256(f"{salt}{call_id}".encode("utf-8", "surrogatepass")).digest()[:8])
        digits = []
        for _ in range(_NINE):
            number, digit = divmod(number, len(_LETTERS))
            digits.append(_LETTERS[digit])
        yield "".join(digits)
        salt += 1


def write_arguments(given: Any, wanted: ArgumentsAs) -> Any:
    """Return the arguments of a call as text or as an object; text that is no JSON stays."""
    if given is None or (isinstance(given, str) and not given.strip()):
        given = {}  # a call without arguments, as some servers write it
    if wanted != "object":
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    if not isinstance(given, str):
        return given
    try:
        parsed = parse_json(given)
    except ValueError:
        return given
    return parsed if isinstance(parsed, dict) else given


def write_call(call: ToolCall, call_id: str, wanted: ArgumentsAs) -> dict[str, Any]:
    """Return a call as the Chat Completions API has it.

    Raises:
        UnfitError: it has no name.
    """
    if not call.name:
        raise UnfitError(f"tool_call_shape: a call without a name: {call.arguments}"[:120])
    function = {"name": call.name, "arguments": write_arguments(call.arguments, wanted)}
    return {"id": call_id, "type": "function", "function": function}


def write_calls(given: Any, calls: Sequence[tuple[ToolCall, str]], wanted: ArgumentsAs, draft: Draft) -> list[Any]:
    """Return calls in the shape of the Chat Completions API; those that have it are kept, but for id and arguments.

    Args:
        given: ``tool_calls`` of the message as it was read.
        calls: the calls that were read in it, each with the id that it is to have.
        wanted: how arguments are to be.
        draft: takes note of what was changed.
    """
    own = given if isinstance(given, list) and len(given) == len(calls) else [None] * len(calls)
    return [_written(each, *call, wanted, draft) for each, call in zip(own, calls, strict=True)]


def _written(given: Any, call: ToolCall, call_id: str, wanted: ArgumentsAs, draft: Draft) -> dict[str, Any]:
    function = given.get("function") if isinstance(given, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or "arguments" not in function:
        draft.changes.add("calls")
        return write_call(call, call_id, wanted)
    changed: dict[str, Any] = given
    arguments = write_arguments(function["arguments"], wanted)
    if arguments is not function["arguments"]:
        draft.changes.add("arguments")
        changed = {**changed, "function": {**function, "arguments": arguments}}
    if given.get("id") != call_id:
        draft.changes.add("ids")
        changed = {"id": call_id, **{key: value for key, value in changed.items() if key != "id"}}
    if given.get("type") != "function":
        draft.changes.add("calls")
        changed = {**changed, "type": "function"}
    return changed
