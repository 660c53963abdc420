"""Answers of models, labelled by hand: those that are no summary, by reason, and summaries."""

from __future__ import annotations

import re
from pathlib import Path

from trajcompress.summarize.base import SummaryRequest
from trajcompress.transcript.trajectory import Turn

_HERE = Path(__file__).parent / "data" / "labelled"
READ = (
    "Step 3: I look at module 3 of build 7 next, and at src/parser.py, line 40.",
    "src/module_3.py:7: def handle_7(node): raise ValueError('case 3 of 7')",
)


def labelled(name: str) -> list[tuple[str, str]]:
    """Return the answers of a file, each behind its label; a new one is a line ``%% label`` and the text below it."""
    _, *parts = re.split(r"^%% ?(.*)\n", (_HERE / f"{name}.txt").read_text("utf-8"), flags=re.MULTILINE)
    return [(label, text.rstrip("\n")) for label, text in zip(parts[::2], parts[1::2], strict=True)]


def request(
    *read: str, target: int = 300, facts: tuple[str, ...] = (), previous: str | None = None
) -> SummaryRequest:
    """Make a request whose turns hold these texts."""
    region = tuple(Turn("tool", text, {}) for text in read or READ)
    head = (Turn("user", "Mend the build.", {}),)
    return SummaryRequest("r", head, region, target, _count, facts=facts, previous=previous)


def _count(text: str) -> int:
    return -(-len(text) // 4)
