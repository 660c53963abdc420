"""The region that a summary replaces: a pure function of sizes, roles and tool groups.

The algorithm is the greedy one that trajectory tools share: protect the first turns and the last ones, and take the
oldest turns of the middle until they hold what must be saved and the summary besides. What differs here: the head is
only the *leading* protected turns, so that a first tool result late in a row protects nothing before it; both
ends of the region move off tool groups; where the last turn that was taken holds far more than was left to save, the
first ones stay after all; and nothing is planned that cannot save.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.settings.budget import LEAST_SUMMARY, ProtectedTurns
from trajcompress.settings.choices import Target
from trajcompress.transcript.observations import answers_call, is_request
from trajcompress.transcript.speakers import speaker_of, users_in_a_row
from trajcompress.transcript.summary_marks import is_whole_summary
from trajcompress.transcript.targets import takes_user_after_tool
from trajcompress.transcript.tool_groups import allowed_cuts
from trajcompress.transcript.trajectory import Region, Turn

KeepReason: TypeAlias = Literal["no_middle", "region_not_larger_than_summary"]


class Protection(Struct, frozen=True):
    """Which turns are never summarised away.

    ``tail_tokens`` protects the tail by tokens, in place of ``last_n_turns``. Where the head takes more than
    ``head_tokens``, the first assistant turn and the first tool result are not protected. With ``last_request`` the
    last request stays word for word while turns on both sides of it may go: a summary of both then stands before it.
    """

    first_system: bool = True
    first_human: bool = True
    first_gpt: bool = True
    first_tool: bool = True
    last_n_turns: int = ProtectedTurns.last_n_turns
    tail_tokens: int | None = None
    head_tokens: int | None = None
    last_request: bool = False


class SummaryShare(Struct, frozen=True):
    """A summary as long as a share of what it replaces, between a floor and a ceiling, in tokens."""

    share: float = 0.2
    floor: int = 200
    ceiling: int = 2000


class Layout(Struct, frozen=True):
    """Where the middle ``[middle.start, middle.end)`` of a trajectory lies, and where it may be cut.

    ``seam`` is where a previous summary stood, which the next one updates; it lies in the middle or at an end of it.
    ``request`` is a turn of the middle that stays: where the region takes it in, it stands behind the summary. A
    region begins with the middle, or where ``starts`` allows that, with a turn before it like that before the middle.
    It rather ends at ``unnamed_end`` than with the middle, behind which a person's name stands.
    """

    middle: Region
    cuts: tuple[bool, ...]
    seam: int | None = None
    request: int | None = None
    starts: frozenset[int] = frozenset()
    unnamed_end: int | None = None


class Compress(Struct, frozen=True):
    """Replace this region. It holds ``tokens`` tokens, and its summary may take ``summary_tokens``."""

    region: Region
    tokens: int
    summary_tokens: int


class Keep(Struct, frozen=True):
    """Leave the trajectory as it is."""

    reason: KeepReason


Plan: TypeAlias = Compress | Keep

_LEAST_TAIL_TURNS = 3
_MOST_QUOTING = 0.25  # of what a region holds
_READY_CHARS = 200  # of a reply that takes note of rules
_OPENING_TURNS = 6  # before the first action
_STRADDLE = 1.5  # a turn across the line of a tail in tokens is kept while the tail stays under so many times that


def summary_room(size: int | SummaryShare, region_tokens: int) -> int:
    """Return the tokens that the summary of a region may take."""
    if isinstance(size, int):
        return size
    return min(max(int(size.share * region_tokens), size.floor), size.ceiling)


def least_summary(size: int | SummaryShare, region_tokens: int) -> int:
    """Return the fewest tokens that a summary of a region is asked for in, where there is no room for more."""
    return min(LEAST_SUMMARY, summary_room(size, region_tokens))


def lay_out(
    turns: Sequence[Turn],
    protection: Protection,
    sizes: Sequence[int] = (),
    seam: int | None = None,
    *,
    target: Target = "template",
    fixed: int = 0,
    may_fold: bool = False,
) -> Layout:
    """Find the middle of a trajectory: after the head, before the tail, no tool group across either end.

    Where no two user turns stand side by side, a cut that would bring the turn before the middle and a user turn
    together as such is not allowed either, nor, where the ``target`` takes none there, one that brings a user turn
    behind a tool result: no placement of a summary could keep the roles valid. With ``may_fold`` nor is one, if there
    are others, before a turn with a person's name, into which the summary would have to be folded. ``sizes``, the
    tokens of each turn, matter where head or tail are protected by tokens. A ``seam`` is in the middle, whatever is
    protected: what stood there is replaced. The last ``fixed`` turns are in the tail.
    """
    cuts = allowed_cuts(turns)
    request = last_request(turns)
    start = _head_end(turns, protection)
    if protection.head_tokens is not None and _tokens_before(start, sizes, cuts) > protection.head_tokens:
        start = _head_end(turns, replace(protection, first_gpt=False, first_tool=False))
    end = min(_tail_start(turns, protection, sizes, start, request), len(turns) - fixed)
    end = _before_all_that_is_trained(turns, start, max(start, end))
    if seam is not None:
        start, end = min(start, seam), max(end if end > start else seam, seam)
    while start < end and not cuts[start]:
        start += 1
    if takes_no_user := 0 < start < end and _takes_no_user_after(turns[start - 1], turns, target):
        for index in range(start + 1, end + 1):
            meets_user = index < len(turns) and turns[index].role == "user"
            moves_user = protection.last_request and request is not None and start <= request < index
            cuts[index] = cuts[index] and not meets_user and not moves_user
    while max(start, seam or 0) < end and not cuts[end]:
        end -= 1
    avoids_names = may_fold and not takes_no_user and 0 < start < end and not users_in_a_row(turns)
    unnamed_end = _cut_off_names(turns, cuts, Region(start, end), seam) if avoids_names else None
    stays = protection.last_request and request is not None and start <= request < end
    before = turns[start - 1].role if start else None
    starts = frozenset(index for index in range(start + 1, end) if cuts[index] and turns[index - 1].role == before)
    return Layout(Region(start, end), tuple(cuts), seam, request if stays else None, starts, unnamed_end)


def plan_region(
    sizes: Sequence[int],
    layout: Layout,
    excess: int,
    summary: int | SummaryShare,
    previous: int = 0,
    *,
    parting: Collection[int] = (),
    begin: int | None = None,
) -> Plan:
    """Choose the region; it may be empty where a previous summary alone is to be made shorter, so that the row fits.

    Where even the whole middle does not free room for the summary, the summary is to be as short as the room is. What
    an earlier summary left before itself goes only where what is behind it is not enough.

    Args:
        sizes: tokens of each turn.
        layout: the middle and the allowed cuts of the same turns.
        excess: tokens that must go, over and above what the summary will add.
        summary: tokens that the summary may take.
        previous: tokens of a previous summary, which goes too.
        parting: before which turns no region ends, if those up to where one may are few: they quote what goes.
        begin: where the region of a summary begins that is to be updated; else that is the seam, if there is one.
    """
    middle, seam = layout.middle, layout.seam
    start = max(middle.start, (seam or 0) if begin is None else begin)

    def least(held: int) -> int:
        return excess + summary_room(summary, held)

    end, held = _oldest(sizes, layout, start, previous, least)
    if start > middle.start and held < least(held):
        start = middle.start
        end, held = _oldest(sizes, layout, start, previous, least)
    end, held = _behind_quotes(sizes, layout, parting, end, held)
    end, held = _before_name(sizes, layout, end, held, lambda held: excess + least_summary(summary, held))
    wanted, left, fewest = summary_room(summary, held), held - excess, least_summary(summary, held)
    room = left if fewest <= left < wanted else wanted
    if held <= room or (end == start and left < fewest):
        return Keep("region_not_larger_than_summary" if len(middle) else "no_middle")
    if begin is None and seam is None:
        start, held = _later(sizes, layout, Region(start, end), held, held - room - excess)
    return Compress(Region(start, end), held, room)


def _oldest(
    sizes: Sequence[int], layout: Layout, start: int, previous: int, least: Callable[[int], int]
) -> tuple[int, int]:
    """Return where the turns from ``start`` on end that hold enough, and what they hold."""
    middle = layout.middle
    beyond = start if layout.seam is None else layout.seam
    end, held = start, previous
    while end < middle.end and (end < beyond or held < least(held) or not layout.cuts[end]):
        held += sizes[end] if end != layout.request else 0
        end += 1
    return end, held


def _later(sizes: Sequence[int], layout: Layout, region: Region, held: int, free: int) -> tuple[int, int]:
    """Return where a region may begin so that the first turns stay for which tokens are free, and what it holds."""
    start, left, passed = region.start, 0, 0
    for index in range(region.start, region.end - 1):
        passed += sizes[index] if index != layout.request else 0
        if passed > free:
            break
        if index + 1 in layout.starts:
            start, left = index + 1, passed
    return start, held - left


def _behind_quotes(
    sizes: Sequence[int], layout: Layout, parting: Collection[int], end: int, held: int
) -> tuple[int, int]:
    """Move the end of a region behind turns that quote results of it, where these are few."""
    further, more = end, 0
    while further < layout.middle.end and (further in parting or not layout.cuts[further]):
        more += sizes[further] if further != layout.request else 0
        further += 1
    return (further, held + more) if further not in parting and more <= _MOST_QUOTING * held else (end, held)


def _before_name(
    sizes: Sequence[int], layout: Layout, end: int, held: int, least: Callable[[int], int]
) -> tuple[int, int]:
    """Move an end that has a name behind it to the last one before that has none, where that frees enough as well."""
    before = layout.unnamed_end
    if before is None or end != layout.middle.end or before <= max(layout.middle.start, layout.seam or 0):
        return end, held
    less = held - sum(sizes[index] for index in range(before, end) if index != layout.request)
    return (before, less) if less >= least(less) else (end, held)


def _tail_start(
    turns: Sequence[Turn], protection: Protection, sizes: Sequence[int], head_end: int, request: int | None
) -> int:
    if protection.tail_tokens is None:
        return len(turns) - protection.last_n_turns
    start, held = len(turns), 0
    while start > head_end:
        held += sizes[start - 1]
        straddles = held > protection.tail_tokens
        if straddles and held >= _STRADDLE * protection.tail_tokens and len(turns) - start >= _LEAST_TAIL_TURNS:
            break
        start -= 1
        if straddles and len(turns) - start >= _LEAST_TAIL_TURNS:
            break
    if request is None or request < head_end or (protection.last_request and not turns[request].answers):
        return start
    return min(start, request)


def _before_all_that_is_trained(turns: Sequence[Turn], start: int, end: int) -> int:
    """Move an end to the last turn of the assistant where no other would be left: nothing would be trained on.

    Where no turn is protected, none is to be spared.
    """
    spoken = [index for index, turn in enumerate(turns) if turn.role == "assistant"]
    if not spoken or spoken[0] < start or spoken[-1] >= end or end - start == len(turns):
        return end
    return spoken[-1]


def last_request(turns: Sequence[Turn]) -> int | None:
    """Return the position of the last turn in which a person asks for something, None where there is none.

    What they say in a result stands with its call, so that is none.
    """
    backwards = range(len(turns) - 1, -1, -1)
    asked = (i for i in backwards if is_request(turns[i]) and not answers_call(turns[i]))
    return next((i for i in asked if not is_whole_summary(turns[i].text)), None)


def _tokens_before(start: int, sizes: Sequence[int], cuts: Sequence[bool]) -> int:
    """Return the tokens before a turn, or before the first behind it where the row may be cut."""
    return sum(sizes[: next(cut for cut in range(start, len(cuts)) if cuts[cut])])


def _takes_no_user_after(turn: Turn, turns: Sequence[Turn], target: Target) -> bool:
    if turn.role == "tool":
        return not takes_user_after_tool(target)
    return turn.role == "user" and not users_in_a_row(turns)


def _cut_off_names(turns: Sequence[Turn], cuts: list[bool], middle: Region, seam: int | None) -> int | None:
    """Allow no end of a region before a user turn with a person's name, in place, where there are other ends.

    But at the end of the middle, for rows of which all of it has to go; return the last end before that then.
    """
    ends = [index for index in range(middle.start + 1, middle.end) if cuts[index] and index != seam]
    kept = [index for index in ends if not _is_named(turns[index])]
    for index in ends if kept else ():
        cuts[index] = index in kept
    return kept[-1] if kept and middle.end < len(turns) and _is_named(turns[middle.end]) else None


def _is_named(turn: Turn) -> bool:
    return speaker_of(turn) is not None and not turn.answers


def _head_end(turns: Sequence[Turn], protection: Protection) -> int:
    """Return the end of the leading run of turns that are each the first of a protected role.

    Instructions may come as several system turns in a row (``system``, ``developer``), which count as one. So does
    all that is said before the first action of a text-protocol agent: rules, examples, the task, and that it is one.
    """
    wanted = {
        "system": protection.first_system,
        "user": protection.first_human,
        "assistant": protection.first_gpt,
        "tool": protection.first_tool,
    }
    opening = _opening_end(turns) if protection.first_human else 0
    for index, turn in enumerate(turns):
        role = "tool" if turn.answers and turn.role == "user" else turn.role
        more_instructions = role == "system" and protection.first_system and turns[index - 1].role == "system"
        if index < opening and role in {"user", "assistant"}:
            continue
        if not wanted[role] and not more_instructions:
            return index
        wanted[role] = False
    return len(turns)


def _opening_end(turns: Sequence[Turn]) -> int:
    """Return where a text-protocol agent first acts, 0 where that is not soon or the row is no such agent's.

    Where it says more before than that it has understood, what opens the row ends there: a conversation has begun.
    """
    acts = (index for index, turn in enumerate(turns[: _OPENING_TURNS + 1]) if turn.calls)
    first = next(acts, 0)
    if not turns[first].in_text:
        return 0
    replies = (index for index, turn in enumerate(turns[:first]) if turn.role == "assistant")
    return next((index for index in replies if not _is_ready(turns[index].text)), first)


def _is_ready(reply: str) -> bool:
    return len(reply) <= _READY_CHARS and not any(map(reply.__contains__, "?？"))
