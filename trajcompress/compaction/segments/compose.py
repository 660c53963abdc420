"""The turns of one segment: the head, the running summary, what was last observed, and the stretch. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajcompress.compaction.assemble import Placed, with_notice
from trajcompress.compaction.loss_marks import has_mark, marked
from trajcompress.compaction.policy import Policy
from trajcompress.formats.turns import add_text, keys_of, new_user_turn
from trajcompress.transcript.summary_marks import SUMMARY_END
from trajcompress.transcript.targets import fits_between
from trajcompress.transcript.trajectory import ToolCall, Trajectory, Turn

_CALL_CHARS = 400  # of a call that is told again with its result; in full it stands in the segment before
_LAST_CALL = "The last call, and what came of it:"


@dataclass(frozen=True, slots=True)
class Placing:
    """A turn, and its place among those of the input row; None where it was made."""

    turn: Turn
    place: int | None


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation that a segment begins with, and the call that it answers, where that is known."""

    turn: Turn
    place: int
    call: ToolCall | None


@dataclass(frozen=True, slots=True)
class Composed:
    """The turns of a segment, with their places; ``placed`` and ``in_loss`` say how its summary stands."""

    placings: tuple[Placing, ...]
    placed: Placed | None = None
    in_loss: bool = False

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns alone."""
        return tuple(each.turn for each in self.placings)


def compose(
    trajectory: Trajectory,
    head: Sequence[Placing],
    summary: str | None,
    observed: Sequence[Observed],
    stretch: Sequence[Placing],
    policy: Policy,
) -> Composed:
    """Put a segment together.

    The summary is a user turn of its own where the target takes one there; else it, the requests beside it and what
    was observed become one user turn. What a tool returned stands at the end of the summary, as a result cannot
    stand without its call; what a user turn of a text protocol tells stands behind it, as it was.
    """
    if summary is None:
        return Composed((*head, *stretch))
    head = _with_notice(head, policy.notice)
    printed = [Placing(each.turn, each.place) for each in observed if each.turn.in_text]
    returned = [each for each in observed if not each.turn.in_text]
    text = "\n\n".join([summary, *([_tell(returned)] if returned else [])])
    following = [*printed, *stretch]
    left = head[-1].turn if head else None
    right = following[0].turn if following else None
    is_user = left is not None and left.role == "user"
    if policy.placement == "human" or (
        policy.placement == "auto"
        and fits_between(left, right, policy.target, beside_users=policy.train_on == "all")
    ):
        own = Placing(marked(new_user_turn(trajectory, text), policy.marks, policy.target), None)
        in_loss = policy.train_on == "all" and not has_mark(policy.marks, policy.target)
        return Composed((*head, own, *following), "human", in_loss)
    before = [head[-1]] if is_user else []
    ends = next((i for i, each in enumerate(following) if not _is_request(each.turn)), len(following))
    merged = _merge(before, f"{text}\n{SUMMARY_END}", following[:ends])
    if merged is None:
        merged = [Placing(new_user_turn(trajectory, text), None)]
        ends, before = 0, []
    kept = head[: len(head) - len(before)]
    return Composed((*kept, *merged, *following[ends:]), "fold", policy.train_on == "all")


def _is_request(turn: Turn) -> bool:
    return turn.role == "user" and (turn.in_text or not turn.answers)


def _with_notice(head: Sequence[Placing], notice: str | None) -> list[Placing]:
    if not notice:
        return list(head)
    turns = with_notice([each.turn for each in head], notice)
    return [Placing(turn, each.place) for turn, each in zip(turns, head, strict=True)]


def _tell(observed: Sequence[Observed]) -> str:
    """Tell calls with their results, word for word but for long arguments."""
    told = []
    for each in observed:
        call = each.call
        named = f"{call.name} {_short(call.arguments)}\n" if call else ""
        told.append(f"{named}{each.turn.text}")
    return "\n\n".join([f"{_LAST_CALL}\n{told[0]}", *told[1:]])


def _short(arguments: str) -> str:
    if len(arguments) <= _CALL_CHARS:
        return arguments
    half = _CALL_CHARS // 2
    return f"{arguments[:half]} … {arguments[-half:]}"


def _merge(before: Sequence[Placing], text: str, after: Sequence[Placing]) -> list[Placing] | None:
    """Make one user turn of requests and the summary between them; None where there is no request.

    Where several hold more than text, such as images, they stay turns of their own.
    """
    requests = [*before, *after]
    if not requests:
        return None
    rich = [each for each in requests if not isinstance(each.turn.raw.get(keys_of(each.turn.raw).content), str)]
    if len(rich) > 1:
        at = len(before)
        into = before[-1] if before else after[0]
        added = add_text(into.turn, **({"after": f"\n\n{text}"} if before else {"before": f"{text}\n\n"}))
        changed = Placing(added, into.place)
        return [*requests[: at - 1], changed, *after] if before else [changed, *after[1:]]
    anchor = rich[0] if rich else requests[0]
    at = requests.index(anchor)
    words = [each.turn.text for each in before] + [text] + [each.turn.text for each in after]
    place = at if at < len(before) else at + 1
    lead, rest = "\n\n".join(words[:place]), "\n\n".join(words[place + 1 :])
    turn = add_text(anchor.turn, before=f"{lead}\n\n" if lead else "", after=f"\n\n{rest}" if rest else "")
    return [Placing(turn, anchor.place)]
