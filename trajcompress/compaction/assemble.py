"""Putting a summary in the place of a region. Pure.

A summary stands as one user turn of its own where that puts no two user turns side by side; else it is folded into
the user turn beside it, or into the tool result before it, and ends there with a plain marker.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajcompress.compaction.loss_marks import has_mark, learns_from_users, marked
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import Placed
from trajcompress.formats.turns import add_text, new_user_turn
from trajcompress.settings.choices import Placement
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
    are trained that is also beside another user turn: marks can leave it out, not what is folded into a turn.
    """
    left = list(trajectory.turns[: region.start])
    right = list(trajectory.turns[region.end :])
    if request is not None and region.start <= request < region.end:
        right.insert(0, trajectory.turns[request])
    placement = placement or policy.placement
    stands_alone = placement == "human" or (placement == "auto" and _fits(left, right, policy))
    if not stands_alone and _fold(left, right, summary):
        placed: Placed = "fold"
        middle = []
    else:
        placed = "human"
        middle = [marked(new_user_turn(trajectory, summary), policy.marks, policy.target)]
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


def _fits(left: list[Turn], right: list[Turn], policy: Policy) -> bool:
    before, after = left[-1] if left else None, right[0] if right else None
    return fits_between(before, after, policy.target, beside_users=policy.train_on == "all")


def _fold(left: list[Turn], right: list[Turn], summary: str) -> bool:
    """Fold the summary into a neighbour, in place; return False where there is none to fold it into."""
    block = f"{summary}\n{SUMMARY_END}"
    if right and right[0].role == "user" and not right[0].answers and not right[0].in_answer:
        right[0] = add_text(right[0], before=f"{block}\n\n")
    elif left and left[-1].role in {"user", "tool"}:
        left[-1] = add_text(left[-1], after=f"\n\n{block}")
    else:
        return False
    return True


def with_notice(kept: Sequence[Turn], notice: str) -> list[Turn]:
    """Return the turns with the notice at the end of the first system turn, if there is one."""
    at = next((index for index, turn in enumerate(kept) if turn.role == "system"), None)
    if at is None or notice in kept[at].text:
        return list(kept)
    return [*kept[:at], add_text(kept[at], after=f"\n\n{notice}"), *kept[at + 1 :]]
