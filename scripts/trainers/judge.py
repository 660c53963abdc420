"""A row as a trainer loaded it, against the row as it was read and the metrics of the run."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from trainers.said import Call, assistant_turns

SUMMARY = "[CONTEXT SUMMARY]:"

FIGURES = (
    *("rows", "loaded", "dropped", "mismatch", "tokens equal", "ours less", "ours more", "hidden over"),
    *("words", "words there", "turns", "turns whole", "calls", "calls there", "values", "values there"),
    *("encoded twice", "summaries", "summary in loss"),
)
FAULTS = ("dropped", "ours less", "hidden over", "turns whole", "calls there", "values there", "encoded twice")
"""What ``--list`` shows examples of: figures that should be nought, or as many as the one before."""


def judge(
    before: dict[str, Any], metrics: dict[str, Any], loaded: dict[str, Any], target: int
) -> tuple[Counter[str], dict[str, str]]:
    """The figures of a row, and what speaks against it by figure."""
    found: Counter[str] = Counter(rows=1)
    faults: dict[str, str] = {}
    if not loaded["loaded"]:
        found["dropped"] = 1
        return found, {"dropped": str(loaded["error"])}
    found["loaded"] = 1
    found["mismatch"] = bool(loaded.get("mismatch"))
    _tokens(metrics, loaded["tokens"], target, found, faults)
    start, end = metrics.get("region_start_idx"), metrics.get("region_end_idx")
    removed = range(start or 0, end or 0) if start is not None and metrics["was_compressed"] else range(0)
    trained = loaded["trained"]
    left = Counter(trained.split())
    for number, turn in enumerate(assistant_turns(before, removed)):
        wanted = Counter(turn.words)
        there = wanted & left
        left -= there
        found["turns"] += 1
        found["turns whole"] += there == wanted
        found["words"] += wanted.total()
        found["words there"] += there.total()
        if there != wanted:
            gone = list((wanted - there).elements())
            faults["turns whole"] = f"assistant turn {number} lacks {len(gone)} words: {' '.join(gone)[:120]}"
        for call in turn.calls:
            _call(call, trained, found, faults)
    found["summaries"] = SUMMARY in loaded["rendered"] or SUMMARY in trained
    found["summary in loss"] = SUMMARY in trained
    return found, faults


def _tokens(metrics: dict[str, Any], tokens: int, target: int, found: Counter[str], faults: dict[str, str]) -> None:
    counted = metrics["compressed_tokens"] or 0
    found["tokens equal"] = counted == tokens
    found["ours less"] = counted < tokens
    found["ours more"] = counted > tokens
    found["hidden over"] = tokens > target and not metrics["still_over_limit"]
    if counted < tokens:
        faults["ours less"] = f"counted {counted:,}, loaded {tokens:,}"
    if found["hidden over"]:
        faults["hidden over"] = f"loaded {tokens:,}, target {target:,}"


def _call(call: Call, trained: str, found: Counter[str], faults: dict[str, str]) -> None:
    found["calls"] += 1
    found["calls there"] += call.name in trained
    if call.name not in trained:
        faults["calls there"] = call.name
    missing = [value for value in call.values if not stands(value, trained)]
    found["values"] += len(call.values)
    found["values there"] += len(call.values) - len(missing)
    if missing:
        faults["values there"] = f"{call.name}: {missing[0][:120]!r}"
    if encoded_twice(call, trained):
        found["encoded twice"] += 1
        faults["encoded twice"] = call.name


def encoded_twice(call: Call, trained: str) -> bool:
    """Whether a call's arguments are a JSON string within JSON: its first key stands there with its quotes escaped.

    A result may be one, too. Arguments without a key are told by their braces.
    """
    if call.first_key is None:
        return False
    key = re.escape(json.dumps(json.dumps(call.first_key))[1:-1]) if call.first_key else r"\}"
    return re.search(rf'"arguments":\s*"\{{\s*{key}', trained) is not None


def stands(value: str, text: str) -> bool:
    """Whether a value stands in a text, as it is or escaped as JSON does, once or twice."""
    escaped = json.dumps(value)[1:-1]
    plain = json.dumps(value, ensure_ascii=False)[1:-1]
    twice = (json.dumps(escaped)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1])
    return any(form in text for form in (value, escaped, plain, *twice))
