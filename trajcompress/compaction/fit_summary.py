"""Fitting a summary into the room that its row leaves it: trimmed, with what kept turns need of it put back."""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.compaction.order import truncation_order
from trajcompress.compaction.over_limit import shortest, truncated
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.reading import request_for
from trajcompress.compaction.region import least_summary
from trajcompress.compaction.state import Splice, State
from trajcompress.compaction.trim import trim_summary_text
from trajcompress.compaction.verify import splice_again, splice_in, with_summary
from trajcompress.errors import SummaryError
from trajcompress.facts import without_note
from trajcompress.summarize.base import BUILT_IN
from trajcompress.summarize.extractive import ExtractiveSummarizer

_TRIES = 3  # a text may have more tokens in its row than alone
_LEAST_LEFT = 16  # tokens that are worth another summary
_NO_ROOM = "what is needed of the summary does not fit into {} tokens"
_ESTIMATED = 4  # tokens: a region is chosen by an estimate of what goes around its summary


def fit_summary(base: State, splice: Splice, policy: Policy) -> Splice | None:
    """Trim a summary to the room for it; None where truncating observations is enough, or nothing is.

    Raises:
        SummaryError: what kept turns need of it does not fit.
    """
    least = least_summary(policy.summary_size, sum(base.sizes[splice.region.start : splice.region.end]))
    for view in _views(base, policy):
        placed = splice if view is base else splice_again(view, view.turns, splice, policy)
        over = placed.tokens - policy.target_max_tokens
        if over <= 0:
            return None
        room = placed.summary_tokens - over
        if room >= least - _ESTIMATED:
            made = _trimmed(view, placed, room, policy)
            return made if view is base else splice_again(base, base.turns, made, policy)
    return None


def _views(base: State, policy: Policy) -> Iterator[State]:
    """Yield the row as the ladder will leave it: where old observations are cleared, the last are truncated last."""
    if policy.fit == "lenient":
        yield base
    elif policy.clear_observations:
        for with_last in (False, True):
            yield truncated(base, truncation_order(base, policy, with_last=with_last))
    else:
        yield base
        yield shortest(base, policy)


def _trimmed(view: State, splice: Splice, room: int, policy: Policy) -> Splice:
    """Return the splice with a summary that fits; the built-in summariser's where that may write another.

    That writes a shorter one, rather than that the end of its longer one is cut off: what was last is there.
    """
    is_built_in = splice.summarizer == BUILT_IN
    if not is_built_in:
        made = _fitted(view, splice, room, policy, in_part=not policy.grounded)
        if made is not None:
            return made
        if not policy.built_in_on_failure:
            raise SummaryError("overlong_answer", _NO_ROOM.format(room))
    anew = _written_anew(view, splice, room, policy)
    if anew.tokens <= policy.target_max_tokens:
        return anew
    made = _fitted(view, anew, room, policy, in_part=True)
    if made is None and is_built_in:
        raise SummaryError("overlong_answer", _NO_ROOM.format(room))
    return made or anew


def _written_anew(view: State, splice: Splice, room: int, policy: Policy) -> Splice:
    """Return the splice with another summary of the built-in summariser: the longest tried with which the row fits.

    A text may have more tokens in its row than alone, or fewer. Where none fits, it is the last.
    """
    best: Splice | None = None
    made = splice
    for _ in range(_TRIES):
        request = request_for(view, splice.region, room, None, policy)
        another = splice_in(view, splice.region, request, ExtractiveSummarizer().write(request), policy)
        if another is None:
            break
        made = another
        left = policy.target_max_tokens - made.tokens
        best = made if left >= 0 and (best is None or made.tokens > best.tokens) else best
        room += left
        if room <= 0 or 0 <= left < _LEAST_LEFT:
            break
    return best or made


def _fitted(view: State, splice: Splice, room: int, policy: Policy, *, in_part: bool) -> Splice | None:
    text, needed = without_note(splice.summary), splice.needed if policy.grounded else ()
    for _ in range(_TRIES):
        trimmed = trim_summary_text(text, room, needed, view.count_text, in_part=in_part)
        if trimmed is None:
            return None
        made = with_summary(view, splice, trimmed, policy)
        over = made.tokens - policy.target_max_tokens
        if over <= 0:
            return made
        room -= over
    return None
