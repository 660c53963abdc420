"""What is told of one result, and what a later call brings in."""

from __future__ import annotations

import json

from trajcompress.facts.next_turns import Later, LaterReader
from trajcompress.summarize.extractive.outcome import read
from trajcompress.summarize.extractive.steps import action_of
from trajcompress.transcript.trajectory import ToolCall, Turn


def said(printed: str, did: Turn | None = None, limit: int = 150) -> str:
    """What is told of a result."""
    return read(printed, action_of(did, 0) if did else None, limit=limit).said


def later(**turns: str) -> Later:
    """What a call brings in."""
    acts = Turn("assistant", "", {}, calls=(ToolCall("c", "do", json.dumps(turns)),))
    return LaterReader([Turn("tool", "", {}, answers=("b",)), acts]).after(0)
