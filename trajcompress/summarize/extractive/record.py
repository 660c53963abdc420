"""The record of a region: everything worth saying, as items for the budget to choose from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter

from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import calls, needed, prose
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.earlier import carry_over
from trajcompress.summarize.extractive.errors import ERROR_CHARS
from trajcompress.summarize.extractive.fit import NAMES, Item, Record
from trajcompress.summarize.extractive.text import clip, shorten
from trajcompress.summarize.extractive.topic import prefer, terms_of
from trajcompress.summarize.extractive.walk import Walk
from trajcompress.transcript.trajectory import Turn

_RANK = {"change": 3.0, "run": 2.0, "read": 1.2, "idle": 0.4}
_VERBS = {"change": "changed", "run": "run", "read": "read"}
_MAX_NAMES = 40
_NAME_CHARS = 100
_LINE_CHARS = (100, 280)  # of a sentence or a value, in the smallest and the largest budget
_SHORT_OUTCOME = 24
_LONG_PATH = 30
_HEAD_GOAL = 2.5  # the head says it too


def write(request: SummaryRequest) -> Record:
    """Write down everything worth saying about the region, and what the summary before it says.

    Small budgets make for short lines. Lines rank higher that hold some of the facts, or are about the focus.
    """
    head, region, budget, facts = request.head, request.region, request.target_tokens, request.facts
    topic = terms_of(request.focus) if request.focus else frozenset()
    walk = Walk(head, region, min(max(budget // 3, _LINE_CHARS[0]), _LINE_CHARS[1]), topic)
    if walk.goal:
        walk.add("Goal", -1, _HEAD_GOAL, shorten(walk.goal, walk.line_chars))
    for error, (times, last) in walk.errors.items():
        text = shorten(error, min(max(budget, _LINE_CHARS[0]), 2 * ERROR_CHARS)) + (f" ×{times}" if times > 1 else "")
        walk.add("Errors", last, walk.recency(last) + min(times, 3), text)
    merged = list(_merged(walk.actions))
    for order, action in enumerate(merged):
        score = (
            _RANK[action.kind] + walk.recency(action.turn) + 1.2 * action.failed + 1.5 * (order == len(merged) - 1)
        )
        quiet = (
            action.kind in {"read", "idle"} and len(action.name) > 1 and len(action.outcome or "") < _SHORT_OUTCOME
        )
        label, text = (action.name, action.line[len(action.name) + 1 :]) if quiet else ("", action.line)
        walk.items.append(Item("Actions", order, score, text, label, action.count))
    _add_open_ends(walk)
    paths = _add_files(walk)
    _add_names(walk, head, paths)
    bases = Counter(_base(path) for path in paths)
    short = {
        path: _base(path) for path in paths if len(path) > _LONG_PATH and bases[_base(path)] == 1 and _base(path)
    }
    actions = len(walk.actions)
    if request.previous is not None:
        actions += carry_over(request.previous, walk.items, goes_on=bool(region))
    if topic:
        prefer(walk.items, topic)
    needed.favour(walk.items, region, facts)
    return Record(walk.items, short, actions, facts, request.special_tokens)


def _merged(actions: Sequence[Action]) -> Iterator[Action]:
    """Merge what was done again to the same effect before anything changed, and successive reads of one file."""
    seen: dict[tuple[str, str, str | None, int], Action] = {}
    previous: Action | None = None
    changes = 0
    for action in actions:
        key = (action.head, action.span, action.outcome, changes)
        if (same := seen.get(key)) is not None:
            same.count += 1
        elif previous and previous.head == action.head and previous.span and action.span and not action.failed:
            previous.span += f", {action.span}"
            previous.outcome = ""
            previous.count += 1
        else:
            seen[key] = previous = action
            changes += action.kind == "change" and not action.failed
    yield from seen.values()


def _add_files(walk: Walk) -> list[str]:
    """Add the files that actions named, changed ones first."""
    touched: dict[str, Counter[str]] = {}
    last: dict[str, int] = {}
    full = _full_paths(path for action in walk.actions for path in action.files)
    for action in walk.actions:
        for path in (full[path] for path in action.files if action.kind != "idle"):
            touched.setdefault(path, Counter())[action.kind] += 1
            last[path] = action.turn
    for order, (path, how) in enumerate(touched.items()):
        score = 3.0 * bool(how["change"]) + min(how.total(), 4) * 0.5 + walk.recency(last[path])
        walk.add(
            "Files touched", order, score, f"{path} ({', '.join(verb for kind, verb in _VERBS.items() if how[kind])})"
        )
    return list(touched)


def _full_paths(paths: Iterable[str]) -> dict[str, str]:
    """Map each path to the one that it is the end of, so that a file is named once; else to itself."""
    by_base: dict[str, dict[str, None]] = {}  # ordered sets
    for path in paths:
        by_base.setdefault(_base(path), {})[path] = None
    full = {}
    for group in by_base.values():
        for path in group:
            ending = "/" + path.removeprefix("./").lstrip("/")
            longer = [other for other in group if other != path and other.endswith(ending)]
            full[path] = longer[0] if len(longer) == 1 else path
    return full


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _add_names(walk: Walk, head: Sequence[Turn], paths: Sequence[str]) -> None:
    """Add names that were used more than once, or spoken of: what comes later is likely to rely on them."""
    visible = "\n".join((*(clip(turn.text) for turn in head), *paths))
    repeated = sorted((pair for pair in walk.names.items() if pair[1] > 1), key=itemgetter(1), reverse=True)
    ranked = (name for name, _ in repeated[: 8 * _MAX_NAMES] if len(name) <= _NAME_CHARS)
    fresh = (name for name in ranked if name not in visible and not _is_noise(name))
    for order, name in enumerate(islice(fresh, _MAX_NAMES)):
        walk.add(NAMES, order, walk.names[name] + min(len(name), 20) / 10, name)


def _is_noise(name: str) -> bool:
    """Whether a long token looks like encoded data."""
    return len(name) > 40 and "/" not in name and any(map(str.isupper, name)) and any(map(str.isdecimal, name))  # noqa: PLR2004 - a git hash has 40


def _add_open_ends(walk: Walk) -> None:
    """Add what the region leaves open: a question, a plan, an action without a good end."""
    end = len(walk.region)
    last = walk.region[-1] if end else None
    if last and last.role == "user" and not last.name and not walk.is_output(end - 1):
        if said := prose.request(clip(last.text)):
            walk.add("Open ends", end, 4.0, shorten(f"not answered yet: {said}", walk.line_chars))
        walk.items = [item for item in walk.items if not (item.section == "Goal" and item.order == end - 1)]
    for turn in reversed(walk.region[-6:]):
        if turn.role == "assistant" and (
            said := prose.plan(calls.thoughts(clip(turn.text))[1].partition("<tool_call>")[0])
        ):
            walk.items = [
                item for item in walk.items if item.section == "Goal" or not item.text.startswith(said[:60])
            ]
            walk.add("Open ends", end - 1, 3.0, shorten(said, walk.line_chars))
            break
    if walk.actions:
        action = walk.actions[-1]
        if action.outcome is None:
            walk.add("Open ends", end + 1, 3.5, f"no result yet: {shorten(action.head, 100)}")
        elif action.failed:
            walk.add(
                "Open ends", end + 1, 3.5, f"the last action failed: {shorten(action.head, 100)} → {action.outcome}"
            )
