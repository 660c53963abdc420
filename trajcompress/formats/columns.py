"""Rows whose messages stand in several columns: a prompt and its completion, or two answers to one prompt.

These are TRL's: ``prompt`` and ``completion``; ``prompt``, ``chosen`` and ``rejected``; or ``chosen`` and
``rejected`` that both begin with the prompt. Each column is text, one message, or a list of messages, and stays so.
What is read as one trajectory is the prompt and the answer; of two answers the longer, and the other is counted
besides.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.errors import RowError
from trajcompress.formats.messages import MESSAGE_FIELDS, as_messages, is_message
from trajcompress.transcript.trajectory import Held, Message, Split

PROMPT, COMPLETION, CHOSEN, REJECTED = "prompt", "completion", "chosen", "rejected"
_AUTHORS = {PROMPT: "user", COMPLETION: "assistant", CHOSEN: "assistant", REJECTED: "assistant"}


class Parts(Struct, frozen=True):
    """The messages of the columns: those of the prompt, of the answer that is read, and of the other one."""

    split: Split
    prompt: list[Message]
    answer: list[Message]
    other: list[Message]

    @property
    def messages(self) -> list[Message]:
        """The messages of the trajectory."""
        return [*self.prompt, *self.answer]

    def with_messages(self, messages: Sequence[Message]) -> Parts:
        """Return the parts with others, as many, for all messages, those of the other answer behind the rest."""
        first, second = len(self.prompt), len(self.prompt) + len(self.answer)
        return replace(
            self, prompt=list(messages[:first]), answer=list(messages[first:second]), other=list(messages[second:])
        )


def find_parts(row: dict[str, Any]) -> Parts | None:
    """Return the messages of a row that has them in several columns; None of any other.

    Raises:
        RowError: ``messages_not_a_list``: a column that belongs to another holds neither text nor messages.
    """
    answers = [row[name] for name in (CHOSEN, REJECTED) if name in row]
    if len(answers) == 2 and answers != [None, None]:  # noqa: PLR2004  a table gives all rows all columns
        return _pair(row)
    if row.get(PROMPT) is None or row.get(COMPLETION) is None:
        return None
    prompt, answer = _read(row, PROMPT), _read(row, COMPLETION)
    if prompt is None or answer is None:
        _refuse_half(row, (PROMPT, COMPLETION))
        return None
    return Parts(Split(prompt[0], answer[0]), prompt[1], answer[1], [])


def put_parts(
    row: dict[str, Any], split: Split, prompt: Sequence[Message], answer: Sequence[Message], other: Sequence[Message]
) -> dict[str, Any]:
    """Return the row with other messages of the prompt, the answer and the other answer, each in its own way."""
    if split.is_implicit and split.other is not None:
        written = {
            held.column: _together(held, prompt, said)
            for held, said in ((split.answer, answer), (split.other, other))
        }
    else:
        written = {split.answer.column: _written(split.answer, answer)}
        if split.prompt is not None:
            written[split.prompt.column] = _written(split.prompt, prompt)
        if split.other is not None:
            written[split.other.column] = _written(split.other, other)
    return {**row, **written}


def _pair(row: dict[str, Any]) -> Parts | None:
    found = [_read(row, name) for name in (CHOSEN, REJECTED)]
    if any(each is None for each in found):
        _refuse_half(row, (CHOSEN, REJECTED))
        return None
    (chosen, said), (rejected, other) = (each for each in found if each is not None)
    column = _prompt_column(row, chosen)
    prompt = _read(row, column) if column else None
    begins = said[0].get("role", said[0].get("from")) in ("system", "user", "human")
    kinds = {chosen.kind, rejected.kind}
    if kinds <= {"messages", "json"} and begins and (prompt is None or prompt[0].kind == "text"):
        shared = _shared(said, other)
        parts = Parts(Split(None, chosen, rejected, is_implicit=True), said[:shared], said[shared:], other[shared:])
    elif kinds == {"text"} and prompt is None:
        begin = _begin(str(said[0]["content"]), str(other[0]["content"]))
        asked = [{"role": "user", "content": begin}] if begin else []
        rest = [[{**each[0], "content": str(each[0]["content"])[len(begin) :]}] for each in (said, other)]
        parts = Parts(Split(None, chosen, rejected, is_implicit=True), asked, *rest)
    elif prompt is None:
        _refuse_half(row, (PROMPT, CHOSEN))
        return None
    else:
        parts = Parts(Split(prompt[0], chosen, rejected), prompt[1], said, other)
    if _size(parts.other) > _size(parts.answer):
        swapped = replace(parts.split, answer=rejected, other=chosen)
        parts = Parts(swapped, parts.prompt, parts.other, parts.answer)
    return parts


def _prompt_column(row: dict[str, Any], answer: Held) -> str | None:
    """Return the column of the prompt; beside answers of one message it may have any usual name."""
    names = (PROMPT, *MESSAGE_FIELDS) if answer.kind == "message" else (PROMPT,)
    return next((name for name in names if row.get(name) is not None), None)


def _read(row: dict[str, Any], name: str) -> tuple[Held, list[Message]] | None:
    """Return what a column holds, and its messages; None where it is neither text nor messages."""
    value = row[name]
    if isinstance(value, dict) and is_message(value):
        return Held(name, "message"), [value]
    found = as_messages(name, value)
    if found is not None:
        held = Held(name, "json" if found.as_text else "messages")
        return (held, found.messages) if found.messages and all(map(is_message, found.messages)) else None
    if isinstance(value, str):
        return Held(name, "text"), [{"role": _AUTHORS.get(name, "user"), "content": value}]
    return None


def _refuse_half(row: dict[str, Any], names: tuple[str, ...]) -> None:
    """Refuse a row of which one column could be read and the other could not, unless a usual one holds messages."""
    usual = (row[name] for name in MESSAGE_FIELDS if name != PROMPT and name in row)
    if any(isinstance(each, list) and each and all(map(is_message, each)) for each in usual):
        return
    if any(row.get(name) is not None and _read(row, name) for name in names):
        broken = next(name for name in names if row.get(name) is None or _read(row, name) is None)
        what = "nothing" if row.get(broken) is None else type(row[broken]).__name__
        both = " and ".join(map(repr, names))
        raise RowError("messages_not_a_list", f"column {broken!r} holds {what}; {both} hold text or messages, each")


def _shared(said: list[Message], other: list[Message]) -> int:
    """Return how many messages both begin with; each keeps one for its answer."""
    most = min(len(said), len(other)) - 1
    return next((index for index in range(most) if said[index] != other[index]), max(most, 0))


def _begin(said: str, other: str) -> str:
    """Return the words that both texts begin with."""
    most = min(len(said), len(other))
    shared = said[: next((index for index in range(most) if said[index] != other[index]), most)]
    return shared[: max(map(shared.rfind, " \n")) + 1]


def _size(messages: list[Message]) -> int:
    return len(json.dumps(messages, ensure_ascii=False, default=str))


def _together(held: Held, prompt: Sequence[Message], answer: Sequence[Message]) -> Any:
    if held.kind == "text":
        return "".join(str(message["content"]) for message in (*prompt, *answer))
    return _written(held, (*prompt, *answer))


def _written(held: Held, messages: Sequence[Message]) -> Any:
    match held.kind:
        case "message" if len(messages) == 1:
            return messages[0]
        case "text":
            return "\n\n".join(str(message["content"]) for message in messages)
        case "json":
            return json.dumps(list(messages), ensure_ascii=False)
        case _:
            return list(messages)
