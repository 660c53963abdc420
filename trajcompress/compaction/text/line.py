"""One line in the place of an observation: what ran → what came of it, and how much there was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from trajcompress.facts import facts_in
from trajcompress.outcomes.action.actions import SHELLS, Action
from trajcompress.outcomes.asked import FAILED_CHARS, SAID_CHARS
from trajcompress.outcomes.outcome import Reading
from trajcompress.outcomes.printed.screen import PAGE_CHARS
from trajcompress.outcomes.steps import file_name, label_of, without_folders
from trajcompress.outcomes.text import harmless, one_line, shorten, shorten_amid
from trajcompress.redact import HOLDS_NONE, Clean, without_secrets
from trajcompress.transcript.notes import without_notes
from trajcompress.transcript.observations import REFUSED_REPLY
from trajcompress.transcript.summary_marks import is_cleared_line

FAILS = "fails as before"
_SAME = "the same result as"
_RESULT = "tool result"  # of a call that is not known
_UNSEEN = "…"  # a command that is off the screen
_CUT = " …]"  # ends a line that does not say how much there was

LINE_CHARS = 260
"""No line is longer, but for why something failed, and what later turns need of it.

Many lines come to more than their row's answers.
"""

SAYS = " → "
"""Stands before what came of a call."""

BRIEF_CHARS = 700
MOST_CHARS = 2_000
"""Of a line that tells what later turns need, and of one that tells all that they take."""
_NEEDED_CHARS = 40  # for each of these

LABEL_CHARS, LONG_LABEL_CHARS = 70, 120
"""Of the call; the turn that holds it says the rest."""
_SHORTEST_CHARS, _SHORTEST_LABEL_CHARS = 100, 60  # of what came of a call, and of the call
_BARE_CHARS, _BARE_FAILED_CHARS, _BARE_LABEL_CHARS = 56, 80, 32


def result_line(
    result: Reading,
    name: str | None,
    clean: Clean = without_secrets,
    *,
    shortest: bool = False,
    whole: str | None = None,
    label_chars: int = LONG_LABEL_CHARS,
) -> str:
    """Write the line of an observation that is cleared, with what later turns need of it, and take from it.

    Such as ``[read_file src/a.py → class Reader:; 212 lines, 8,031 characters]``. The ``shortest`` has what they need
    and little else. The size is that of the ``whole`` result, where its text has lost its bulk.
    """
    if parts := result.parts:
        said = "; ".join(_of_part(part, len(parts), clean, shortest=shortest) for part in parts)
        return f"[{said}; {_size(whole or result.text, briefly=shortest)}]"
    action, needed = result.asked.action, result.asked.needed
    taken = {} if shortest else result.asked.taken
    limit, label_chars = (_SHORTEST_CHARS, _SHORTEST_LABEL_CHARS) if shortest else (SAID_CHARS, label_chars)
    most = MOST_CHARS if taken else min(limit + _NEEDED_CHARS * len(needed), BRIEF_CHARS)
    outcome = result.told(limit, most, taken)
    # Of a page more is told than was asked for, and of why something failed as much as of what came before.
    longest = PAGE_CHARS + (limit if outcome.failed and not shortest else 0)
    said = _plain(without_folders(outcome.said, action), max(most, longest), clean)
    said += _with(needed, said)
    size = _size(whole or result.text, briefly=shortest and bool(said))
    ends = f"{SAYS}{said.rstrip(';')}; {size}]" if said else f": {size}]"
    room = max(LINE_CHARS - len(ends) - 1, LABEL_CHARS)
    return f"[{_label(action, name, min(room, label_chars), _unnamed(result))}{ends}"


def _of_part(part: Reading, number: int, clean: Clean, *, shortest: bool) -> str:
    """Tell of one of so many commands that were typed at once: each has a share of the room that two would have."""
    action, needed = part.asked.action, part.asked.needed
    taken = {} if shortest else part.asked.taken
    limit = max(2 * (_SHORTEST_CHARS if shortest else SAID_CHARS) // number, _BARE_CHARS)
    most = MOST_CHARS // number if taken else limit + _NEEDED_CHARS * len(needed)
    said = _plain(without_folders(part.told(limit, most, taken).said, action), max(most, FAILED_CHARS), clean)
    said += _with(needed, said)
    label = _label(action, None, _SHORTEST_LABEL_CHARS, _UNSEEN)
    return f"{label}{SAYS}{said.rstrip('; …') or _size(part.text)}"


def bare_line(result: Reading, name: str | None, clean: Clean = without_secrets, *, whole: str | None = None) -> str:
    """Write the least that a line may be: the call in short, what later turns need, and the first of what came of it.

    Such as ``[pytest tests/ → 3 failed, 12 passed …]``. Where nothing is said its size is, as in :func:`result_line`.
    """
    action, needed = result.asked.action, result.asked.needed
    most = _BARE_CHARS + _NEEDED_CHARS * len(needed)
    outcome = result.told(_BARE_CHARS, most, {})
    said = without_folders(outcome.said, action)
    if outcome.failed:  # why stands at the end as often as not
        most = max(most, _BARE_FAILED_CHARS)
        said = shorten_amid(one_line(clean(said)), most)
    said = _plain(said, most, clean)
    said += _with(needed, said)
    ends = f"{SAYS}{said.rstrip('; …')}{_CUT}" if said else f": {_size(whole or result.text)}]"
    return f"[{_bare_label(action, name, _unnamed(result))}{ends}"


def bare_repeat(line: str) -> str:
    """Return a line for what came before without the call, which the turn before it holds, and without its size."""
    start, end = line.find(f"{SAYS}{_SAME}"), line.rfind("; ")
    return f"[{line[start + len(SAYS) : end]}{_CUT}" if 0 < start < end else line


def repeat_line(
    result: Reading,
    name: str | None,
    earlier: Action | None,
    clean: Clean = without_secrets,
    *,
    when: Literal["just", "last", "before"] = "before",
    is_same: bool,
    whole: str | None = None,
) -> str:
    """Write the line of an observation that an earlier one gave: as what came of which call, or of the same one.

    What failed says so and why. What later turns need of it is named.

    Args:
        result: what is said again.
        name: of its tool, where no call is known.
        earlier: the call that gave it first.
        clean: takes secrets out.
        when: it gave it just before, the last time where such a call gave different results, or else before.
        is_same: whether the very same call gave it.
        whole: the result with its secrets, whose size is told.
    """
    label, before = (_label(each, name, LABEL_CHARS) for each in (result.asked.action, earlier))
    outcome = result.told(_SHORTEST_CHARS, _SHORTEST_CHARS, {})
    of = "this call gave" if is_same else "a call like this gave" if before == label else f"{before} gave"
    of = "the call before" if when == "just" else f"{of} {'the time before' if when == 'last' else 'before'}"
    came = f"{_SAME} {of}"
    if outcome.failed:
        why = _plain(without_folders(outcome.said, result.asked.action), FAILED_CHARS, clean)
        came = f"{FAILS}: {why}" if why else FAILS
    needed = [_plain(value, LABEL_CHARS, clean) for value in result.asked.needed if len(value) <= LABEL_CHARS]
    came += _with(needed, came)
    return f"[{label}{SAYS}{came}; {_size(whole or result.text)}]"


def _with(needed: Sequence[str], said: str) -> str:
    """Name what is not said of what later turns need."""
    told = facts_in(needed, said)
    missing = [fact for fact in needed if fact not in told]
    return f"; with {', '.join(missing)}" if missing else ""


def is_line(text: str) -> bool:
    """Whether an observation is such a line already, of this version or an earlier one."""
    return is_cleared_line(text)


def _unnamed(result: Reading) -> str:
    return REFUSED_REPLY if result.refuses_reply else _RESULT


def _label(action: Action | None, name: str | None, limit: int, unnamed: str = _RESULT) -> str:
    """Name an observation by its call, else by the tool that the row names, else as what is ``unnamed``.

    Where a file is, and what an edit brings in, stands in the turn of the call, which stays. Its secrets went before
    it was described: half a call may look as if it had one.
    """
    action = replace(action, change="") if action and action.change else action
    label = label_of(action, name or "", limit)
    label = without_folders(label, action) if len(label) > LABEL_CHARS else label
    return _plain(label, limit, HOLDS_NONE) or unnamed


def _bare_label(action: Action | None, name: str | None, unnamed: str) -> str:
    """Name an observation by its call, or by the file that this is about alone, as the turn above has the call."""
    label = _label(action, name, LABEL_CHARS, unnamed)
    if len(label) <= _BARE_LABEL_CHARS:
        return label
    if action and len(action.files) == 1 and action.name.lower() not in SHELLS:
        action, name = replace(action, name="", target=file_name(action.files[0]), beside=""), ""
    return _label(action, name, _BARE_LABEL_CHARS, unnamed)


def _plain(text: str, limit: int, clean: Clean) -> str:
    return shorten(one_line(harmless(one_line(clean(text)))), limit)


def _size(text: str, *, briefly: bool = False) -> str:
    """Say how long a text is, without notes of its harness.

    Briefly in its lines, so that one of a list that is told does not pass for all.
    """
    text = without_notes(text) or text
    lines = text.rstrip("\n").count("\n") + 1
    if lines == 1:
        return f"{len(text):,} characters"
    return f"{lines:,} lines" if briefly else f"{lines:,} lines, {len(text):,} characters"
