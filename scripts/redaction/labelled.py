"""The labelled set: rows with secrets, rows that only look so, and what each may and must still hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SET = Path(__file__).resolve().parents[2] / "tests" / "support" / "data" / "secrets"


@dataclass(frozen=True)
class Labelled:
    """One row of the set.

    Attributes:
        secrets: Texts that may not survive; none in a look-alike.
        keep: Texts that must survive.
        marks_ok: A look-alike in which a mark is no fault: a weak value beside its name.
    """

    id: str
    split: str
    category: str
    turns: list[dict[str, Any]]
    secrets: list[str]
    keep: list[str]
    marks_ok: bool = False


def read_set(folder: Path, split: str) -> list[Labelled]:
    """Read the rows of a split, ``all`` for both halves of the first set.

    Raises:
        SystemExit: The folder holds no such rows.
    """
    rows = [
        Labelled(**json.loads(line))
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    rows = [row for row in rows if row.split == split or (split == "all" and row.split != "fresh")]
    if not rows:
        raise SystemExit(f"{folder}: no rows of split {split}")
    return rows


def strings(value: Any) -> Iterator[str]:
    """Yield every string in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
