"""Putting a summary in the place of a region. Pure.

A summary stands as one user turn of its own where that puts no two user turns side by side; else it is folded into
the user turn beside it, or into the tool result before it, and ends there with a plain marker. Of rows that name who
speaks, it stands in no turn of somebody if there is another place.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajcompress.compaction.loss_marks import has_mark, learns_from_users, marked
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import Placed
from trajcompress.formats.turns import add_text, new_user_turn
from trajcompress.settings.choices import Placement
from trajcompress.transcript.speakers import speaker_of, unnamed_role, users_in_a_row
from trajcompress.transcript.summary_marks import SUMMARY_END
from trajcompress.transcript.targets import fits_between
from trajcompress.transcript.trajectory import Region, Trajectory, Turn


class Assembled(Struct, frozen=True):
    """The turns of the compressed trajectory, and how the summary stands among them.

    ``in_loss``: a trainer learns to write it, as user turns are trained, or all of a completion, and no mark leaves
    it out.
    """

    turns: tuple[Turn, ...]
    placed: Placed
    in_loss: bool = False


def assemble(
    trajectory: Trajectory,
    region: Region,
    summary: str,
    policy: Policy,
    *,
    placement: Placement | None = None,
    request: int | None = None,
) -> Assembled:
    """Replace the region by the summary, and add the policy's notice to the first system turn that is kept.

    A ``request`` that stands in the region is kept, right behind the summary. A ``placement`` goes before that of the
    policy.

    With ``auto`` placement the summary is a turn of its own where the target takes a user turn there. Where all turns
    are trained that is also beside another user turn: marks can leave it out, not what is folded into a turn. It is
    so, too, where the row has user turns side by side, and the summary would stand under somebody's name.
    """
    left = list(trajectory.turns[: region.start])
    right = list(trajectory.turns[region.end :])
    if request is not None and region.start <= request < region.end:
        right.insert(0, trajectory.turns[request])
    placement = placement or policy.placement
    stands_alone = placement == "human" or (placement == "auto" and _fits(left, right, trajectory, policy))
    if not stands_alone and _fold(left, right, summary):
        placed: Placed = "fold"
        middle = []
    else:
        placed = "human"
        middle = [marked(unnamed_user_turn(trajectory, summary, policy), policy.marks, policy.target)]
    if policy.notice:
        left = with_notice(left, policy.notice)
    trains = learns_from_users(
        policy.target,
        policy.train_on,
        assistant_only=policy.assistant_only,
        split=trajectory.split is not None,
        in_answer=bool(left and left[-1].in_answer),
    )
    in_loss = trains and not (placed == "human" and has_mark(policy.marks, policy.target))
    return Assembled((*left, *middle, *right), placed, in_loss)


def unnamed_user_turn(trajectory: Trajectory, text: str, policy: Policy) -> Turn:
    """Make a user turn for a summary, under nobody's name as far as the roles of the row allow."""
    return new_user_turn(trajectory, text, unnamed_role(trajectory.turns, policy.mapped_roles))


def _fits(left: list[Turn], right: list[Turn], trajectory: Trajectory, policy: Policy) -> bool:
    before, after = left[-1] if left else None, right[0] if right else None
    beside_users = policy.train_on == "all"
    if not beside_users and (place := _place_to_fold(before, after)):
        beside_users = speaker_of(place) is not None and users_in_a_row(trajectory.turns)
    return fits_between(before, after, policy.target, beside_users=beside_users)


def _fold(left: list[Turn], right: list[Turn], summary: str) -> bool:
    """Fold the summary into a neighbour, in place; return False where there is none to fold it into."""
    block = f"{summary}\n{SUMMARY_END}"
    before, after = left[-1] if left else None, right[0] if right else None
    place = _place_to_fold(before, after)
    if place is None:
        return False
    if place is after:
        right[0] = add_text(place, before=f"{block}\n\n")
    else:
        left[-1] = add_text(place, after=f"\n\n{block}")
    return True


def _place_to_fold(before: Turn | None, after: Turn | None) -> Turn | None:
    """Return the neighbour to fold a summary into: the user turn behind it, but rather one without a name."""
    takes_after = after is not None and after.role == "user" and not after.answers and not after.in_answer
    takes_before = before is not None and before.role in {"user", "tool"}
    if not takes_after:
        return before if takes_before else None
    is_better = takes_before and before is not None and (before.answers or speaker_of(before) is None)
    return before if is_better and after is not None and speaker_of(after) is not None else after


def with_notice(kept: Sequence[Turn], notice: str) -> list[Turn]:
    """Return the turns with the notice at the end of the first system turn, if there is one."""
    at = next((index for index, turn in enumerate(kept) if turn.role == "system"), None)
    if at is None or notice in kept[at].text:
        return list(kept)
    return [*kept[:at], add_text(kept[at], after=f"\n\n{notice}"), *kept[at + 1 :]]
