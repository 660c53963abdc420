"""The turns of one segment: the head, the running summary, what was last observed, and the stretch. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajcompress.compaction.assemble import unnamed_user_turn, with_notice
from trajcompress.compaction.loss_marks import has_mark, learns_from_users, marked
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import Placed
from trajcompress.formats.media import without_marks
from trajcompress.formats.turns import add_text
from trajcompress.transcript.message_shape import content_of
from trajcompress.transcript.speakers import speaker_of, users_in_a_row
from trajcompress.transcript.summary_marks import SUMMARY_END
from trajcompress.transcript.targets import fits_between
from trajcompress.transcript.trajectory import ToolCall, Trajectory, Turn

_CALL_CHARS = 400  # of a call that is quoted again with its result; in full it stands in the segment before
_LAST_CALL = "The last call, and what came of it:"


class Placing(Struct, frozen=True):
    """A turn, and its place among those of the input row; None where it was made."""

    turn: Turn
    place: int | None


class Observed(Struct, frozen=True):
    """An observation that a segment begins with, and the call that it answers, where that is known."""

    turn: Turn
    place: int
    call: ToolCall | None


class Contents(Struct, frozen=True):
    """What a segment is put together of; ``summary`` is None in the first.

    ``context`` are turns of the stretch before that stand again, ``observed`` is quoted where these do not hold it.
    """

    head: Sequence[Placing]
    summary: str | None
    observed: Sequence[Observed]
    context: Sequence[Placing]
    stretch: Sequence[Placing]


class Composed(Struct, frozen=True):
    """The turns of a segment, with their places; ``placed`` and ``in_loss`` say how its summary stands."""

    placings: tuple[Placing, ...]
    placed: Placed | None = None
    in_loss: bool = False

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns alone."""
        return tuple(each.turn for each in self.placings)


def compose(trajectory: Trajectory, contents: Contents, policy: Policy) -> Composed:
    """Put a segment together.

    The summary is a user turn of its own where the target takes one there; else it, the requests beside it and what
    was observed become one user turn. What a tool returned stands at the end of the summary, as a result cannot
    stand without its call; what a user turn of a text protocol tells stands behind it, as it was.
    """
    if contents.summary is None:
        return Composed((*contents.head, *contents.stretch))
    head = _with_notice(contents.head, policy.notice)
    printed = [Placing(each.turn, each.place) for each in contents.observed if each.turn.in_text]
    returned = [each for each in contents.observed if not each.turn.in_text]
    text = "\n\n".join([contents.summary, *([_tell(returned)] if returned else [])])
    context = [out_of_loss(each, policy) for each in contents.context]
    following = [*printed, *context, *contents.stretch]
    left = head[-1].turn if head else None
    right = following[0].turn if following else None
    trains = learns_from_users(policy.target, policy.train_on, assistant_only=policy.assistant_only)
    if _stands_alone(left, right, trajectory, policy):
        own = Placing(marked(unnamed_user_turn(trajectory, text, policy), policy.marks, policy.target), None)
        in_loss = trains and not has_mark(policy.marks, policy.target)
        return Composed((*head, own, *following), "human", in_loss)
    before = head[-1:] if left is not None and left.role == "user" else []
    ends = next((i for i, each in enumerate(following) if not _is_request(each.turn)), len(following))
    merged = _merged(before, f"{text}\n{SUMMARY_END}", following[:ends])
    return Composed((*head[: len(head) - len(before)], *merged, *following[ends:]), "fold", trains)


def _stands_alone(left: Turn | None, right: Turn | None, trajectory: Trajectory, policy: Policy) -> bool:
    beside = [turn for turn in (left, right) if turn is not None and _is_request(turn)]
    if policy.placement == "human" or not beside:
        return True  # there is nothing to fold it into either
    is_named = any(map(speaker_of, beside)) and users_in_a_row(trajectory.turns)
    return policy.placement == "auto" and fits_between(
        left, right, policy.target, beside_users=policy.train_on == "all" or is_named
    )


def _is_request(turn: Turn) -> bool:
    return turn.role == "user" and (turn.in_text or not turn.answers)


def out_of_loss(context: Placing, policy: Policy) -> Placing:
    """Return a turn that stands as context: marked, if the assistant's, where the target reads a mark."""
    if context.turn.role != "assistant":
        return context
    return Placing(marked(context.turn, policy.marks, policy.target), context.place)


def _with_notice(head: Sequence[Placing], notice: str | None) -> list[Placing]:
    if not notice:
        return list(head)
    turns = with_notice([each.turn for each in head], notice)
    return [Placing(turn, each.place) for turn, each in zip(turns, head, strict=True)]


def _tell(observed: Sequence[Observed]) -> str:
    """Tell calls with their results, word for word but for long arguments, and marks of images, which stay behind."""
    results = []
    for each in observed:
        call = each.call
        named = f"{call.name} {_short(call.arguments)}\n" if call else ""
        text = without_marks(each.turn.text) if each.turn.marks else each.turn.text
        results.append(f"{named}{text}")
    return "\n\n".join([f"{_LAST_CALL}\n{results[0]}", *results[1:]])


def _short(arguments: str) -> str:
    if len(arguments) <= _CALL_CHARS:
        return arguments
    half = _CALL_CHARS // 2
    return f"{arguments[:half]} … {arguments[-half:]}"


def _merged(before: Sequence[Placing], text: str, after: Sequence[Placing]) -> list[Placing]:
    """Make one user turn of requests and a text between them, unless several hold more than text, such as images."""
    requests = [*before, *after]
    rich = [each for each in requests if each.turn.marks or not isinstance(content_of(each.turn), str)]
    if len(rich) > 1:  # they stay turns of their own, the text in one of them
        if before:
            return [_add(before[-1], after=text), *after]
        return [_add(after[0], before=text), *after[1:]]
    anchor = rich[0] if rich else requests[0]
    at = requests.index(anchor)
    said = [_said(each.turn, anchor.turn) for each in requests]
    words = [*said[: len(before)], text, *said[len(before) :]]
    place = at + (at >= len(before))
    return [_add(anchor, before="\n\n".join(words[:place]), after="\n\n".join(words[place + 1 :]))]


def _said(turn: Turn, anchor: Turn) -> str:
    """Return what a turn says, with the name of who does where it is to stand under another."""
    name = speaker_of(turn)
    return f"{name}: {turn.text}" if name and name != speaker_of(anchor) else turn.text


def _add(placing: Placing, *, before: str = "", after: str = "") -> Placing:
    before, after = f"{before}\n\n" if before else "", f"\n\n{after}" if after else ""
    return Placing(add_text(placing.turn, before=before, after=after), placing.place)
