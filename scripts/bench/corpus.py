"""A corpus of any size from the recorded trajectories in ``data/``: real text, rows of 3,000 to 80,000 tokens.

A row is the head of one trajectory, whole tool groups of many, and the last answer of the first. Every text of a turn
begins with a mark of its own, as no two of real agents are alike, and what remembers texts must not win by that. The
same number of rows is always the same bytes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
Group: TypeAlias = list[Message]  # an assistant turn, and the results that answer it

DATA = Path(__file__).resolve().parents[2] / "data"
FILES = {"code-agent-openai.jsonl": ("messages", "role", "content"), "code-agent-sharegpt.jsonl": (
    "conversations", "from", "value")}  # fmt: skip
CHARS_PER_TOKEN = 3.4
SIZES = (3_500, 9_000, 16_500, 6_000, 22_000, 12_500, 40_000, 17_500, 75_000, 4_500, 28_000, 11_000)
"""Tokens of the rows, over and over: half of them are over 15,250."""
FEW_ROWS = 6
"""Rows of a run that is little more than its start, but makes a call."""


def write_corpus(folder: Path, rows: int, *, largest: int | None = None) -> list[Path]:
    """Write so many rows, half of them as OpenAI messages and half as ShareGPT; return the files.

    Args:
        folder: where to.
        rows: how many in all.
        largest: tokens; longer rows become this long.
    """
    written = []
    for number, (name, fields) in enumerate(FILES.items()):
        path = folder / name
        count = (rows + 1 - number) // len(FILES)
        with path.open("w", encoding="utf-8") as file:
            for _, row in zip(range(count), _rows(DATA / name, fields, largest), strict=False):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        written.append(path)
    return written


def _rows(path: Path, fields: tuple[str, str, str], largest: int | None) -> Iterator[dict[str, Any]]:
    field, role, text = fields
    recorded = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    taken = [_take_apart(row[field], role) for row in recorded]
    groups = [group for _, of_row in taken for group in of_row]
    random.Random(7).shuffle(groups)  # noqa: S311 - repeatable on purpose
    supply = cycle(groups)
    for number, (row, (head, _), tokens) in enumerate(zip(cycle(recorded), cycle(taken), cycle(SIZES), strict=False)):
        messages = [*head]
        chars = sum(map(_chars, head)) + len(json.dumps(row.get("tools")))
        while chars < min(tokens, largest or tokens) * CHARS_PER_TOKEN:
            group = next(supply)
            messages += group
            chars += sum(map(_chars, group))
        messages.append(row[field][-1])
        mark = _marker(number)
        yield row | {
            "id": f"row-{number:06}",
            field: [message | {text: mark(message[text])} if message[text] else message for message in messages],
        }


def _take_apart(messages: list[Message], role: str) -> tuple[Group, list[Group]]:
    """Return what comes before the first assistant turn, and each assistant turn with calls and its results."""
    head: Group = []
    groups: list[Group] = []
    for message in messages:
        if message[role] in {"assistant", "gpt"}:
            groups.append([message])
        elif groups:
            groups[-1].append(message)
        else:
            head.append(message)
    return head, [group for group in groups if len(group) > 1 and group[-1][role] == "tool"]


def _chars(message: Message) -> int:
    return sum(len(value if isinstance(value, str) else json.dumps(value)) for value in message.values())


def _marker(row: int) -> Callable[[str], str]:
    steps = iter(range(10**9))
    return lambda text: f"{row}.{next(steps)} {text}"
