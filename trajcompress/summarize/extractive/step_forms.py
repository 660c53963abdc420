"""A step of a record at full length and in short: what ran, and what came of it. Pure."""

from __future__ import annotations

import re

from msgspec.structs import replace

from trajcompress.outcomes.action.actions import GIVEN_CHARS, SHELLS, Action
from trajcompress.outcomes.outcome import Outcome
from trajcompress.outcomes.records.told_values import closed
from trajcompress.outcomes.steps import LABEL_CHARS, Step, file_name, label_of, without_folders, written
from trajcompress.outcomes.text import shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.scores import Told

SHORT_SAID_CHARS = 60
"""Of what came of a step that is told in short."""

_SHORT_FAILED_CHARS, _SHORT_LABEL_CHARS, _PAGE_LABEL_CHARS = 120, 60, 40
LITTLE_MORE_CHARS = 20
"""So much more is told of it rather than cut."""

_ACT_LABEL_CHARS = 130
_PARTS = late_re(r"; | … ")
_LEFT_OUT = late_re(r"[\[(]… \d{1,9} more\Z")
_AND_SO_ON = "; …"
_TROUBLE = late_re(
    r"\b(?:errors?|warnings?|problem(?:s|\(s\))?|fail(?:s|ed|ures?)?|conflicts?|invalid)\b", re.IGNORECASE
)
_UNREAD = "…"  # what was done, where no call tells it


def forms_of(each: Told) -> tuple[str, ...]:
    """Write a step at full length, and short."""
    times = f" ×{each.times}" if each.times > 1 else ""
    if each.outcome is None:
        return (each.label + times,)
    said, action = each.outcome.said, each.step.action
    if not each.outcome.failed:  # of what failed the whole path may be why
        said = _without_file(without_folders(said, action), action)
    full = written((each.label or _UNREAD) + times, Outcome(said, each.outcome.size))
    brief = Outcome(each.in_short or in_brief(Outcome(said, failed=each.outcome.failed), action), each.outcome.size)
    suffix = in_file(each) if each.label.endswith(in_file(each)) else ""
    spare = max(SHORT_SAID_CHARS - len(brief.said), 0) if action and action.change else 0
    label = (label_of_step(each.step, _SHORT_LABEL_CHARS + spare) or _UNREAD) + suffix + times
    quoting = [written(label, Outcome(_without_file(each.quoted, action)))] if each.quoted else []
    forms = dict.fromkeys([full, *(form for form in quoting if len(form) < len(full)), written(label, brief)])
    if each.pages:
        label = label_of(action, each.step.name, _PAGE_LABEL_CHARS) + times
        forms = dict.fromkeys([full, *(written(label, Outcome(page)) for page in each.pages)])
    return tuple(forms)


def label_of_step(step: Step, limit: int, change_chars: int = 0) -> str:
    """Say what ran; in whole what changes records, as its last argument may tell which of them, or what they are."""
    action = step.action
    acts = action is not None and action.kind in {"run", "change"} and not action.files and "=" in action.target
    if action is None or not (acts or action.given) or action.name.lower() in SHELLS:
        return label_of(action, step.name, limit, change_chars, full=True)
    if action.given and limit >= LABEL_CHARS:
        action, limit = replace(action, target=action.given), len(action.name) + GIVEN_CHARS
    return label_of(action, step.name, max(limit, _ACT_LABEL_CHARS), change_chars, full=True)


def _without_file(said: str, action: Action | None) -> str:
    """Say of an edit that it was made, and not of what: that stands before it."""
    first = _PARTS.split(said, 1)[0]
    for path in action.files if action and action.change else ():
        _, name, made = first.partition(file_name(path))
        if name and made.strip()[:1].isalpha() and " " in made.strip():
            return f"{made.strip()}{said[len(first) :]}"
    return said


def in_brief(outcome: Outcome, action: Action | None) -> str:
    """Say the first of what was said, in whole lines; of an edit no more than that it was made."""
    said, most = outcome.said, _SHORT_FAILED_CHARS if outcome.failed else SHORT_SAID_CHARS
    is_edit = action is not None and bool(action.change)  # what it shows besides need not be what it changed
    is_short = len(said) <= most + LITTLE_MORE_CHARS  # what would be cut may be what came of it
    if is_short and (outcome.failed or not is_edit):
        return said
    first, *others = _PARTS.split(said)
    while others and (_LEFT_OUT.search(first) or first.endswith(":")):  # how many go before, or a title, says nothing
        first = said[: said.index(others[0], len(first)) + len(others.pop(0))]
    others = [] if is_edit else others
    end = len(first)
    for other in others:
        end_of_other = said.index(other, end) + len(other)
        if end_of_other > most:
            break
        end = end_of_other
    told = closed(shorten(said[:end], most), said)
    looks = action is not None and action.kind in {"read", "idle"}
    # A list that is begun is not to pass for all, nor what went well at first.
    begun = (looks or _TROUBLE.search(said, end)) and end < len(said) and not told.endswith(("…", "]"))
    return f"{told}{_AND_SO_ON}" if begun else told


def in_file(each: Told) -> str:
    """Name the file that a step changed, as it stands behind what ran."""
    return f" in {each.files[0]}" if each.files else ""


def is_echo(said: str, action: Action) -> bool:
    """Whether what is said of a result is no more than what it was asked for."""
    given = f"{action.given or action.target} {action.passed}"
    pairs = [part.partition("=")[2] for part in said.removesuffix("…").rstrip(", ").split(", ")]
    return all(value and value in given for value in pairs)
