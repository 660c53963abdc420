"""Whether what a prompt announces is what a row does: its lines are actions where replies bear that out. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from trajcompress.transcript.text_protocols.acted import Acted, without_end_token
from trajcompress.transcript.text_protocols.announced import Announced, Marked, names_call, told_apart
from trajcompress.transcript.text_protocols.feedback import is_feedback
from trajcompress.transcript.text_protocols.moves import are_led_by, taken_up
from trajcompress.transcript.text_protocols.openings import opening_of, without_figures
from trajcompress.transcript.text_protocols.printed import printed
from trajcompress.transcript.text_protocols.turn_evidence import TurnEvidence
from trajcompress.transcript.text_protocols.written_calls import FINAL
from trajcompress.transcript.trajectory import Turn

_MOSTLY = 0.75
_FEW_CHARS = 6


def add_announced(row: TurnEvidence, announced: Announced) -> set[str]:
    """Add to a row's actions what its prompt announced as such; return the labels by which whoever asks is known."""
    turns, answered = row.turns, row.answered
    if not answered:
        return set()
    said = {
        i: announced.action(without_end_token(turn.text)) for i, turn in enumerate(turns) if turn.role == "assistant"
    }
    acting = {i: act for i, act in said.items() if act}
    marks = {i: acting[i] for i in answered if i in acting}
    asked = [turn for turn in turns[: answered[0] + 1] if turn.role == "user"][-1:]
    fresh, person = told_apart(turns, [i + 1 for i in answered], asked, [i for i, act in marks.items() if act.sure])
    own = [i for i, act in marks.items() if act.name.lower() not in FINAL and i + 1 in fresh]
    told = [i for i in own if announced.replies_with(turns[i + 1].text, turns[i].text)]
    told += [i for i in own if names_call(turns[i + 1].text, marks[i].name)]
    told += [i for i in row.acts if i + 1 in fresh and announced.reports(turns[i + 1].text)]
    if not told:
        last = max(said)
        apart = last not in acting or acting[last].name not in {act.name for i, act in marks.items() if i != last}
        acts = {i: marks[i] for i in own}
        if not _are_borne_out(row, acts, asked, template=_is_template(row, acting, len(said)), ends_apart=apart):
            return person
    row.acts.update({i: row.acts[i]._replace(sure="named") for i in (*told, *marks) if i in row.acts})
    row.acts.update({i: Acted((act.call,), "named", act.start) for i, act in marks.items() if i not in row.acts})
    return person


def _is_template(row: TurnEvidence, acting: Mapping[int, Marked], said: int) -> bool:
    """Whether lines may be but what a chat's prompt says answers look like: forms, or all that is ``said``."""
    written = [row.turns[i].text[act.start :].strip() for i, act in acting.items()]
    forms = any(text.startswith(("{", "<")) or ("\n" in text and not text.startswith("```")) for text in written)
    return len({act.name for act in acting.values()}) == 1 and (forms or len(acting) == said)


def _are_borne_out(
    row: TurnEvidence, acts: Mapping[int, Marked], asked: Sequence[Turn], *, template: bool, ends_apart: bool
) -> bool:
    """Whether lines as a prompt announced them are actions, by what answers them.

    ``asked``: the turn before the first reply; ``ends_apart``: the row's last turn is no line as those before it.
    """
    chatty = sum(row.is_chatty(i + 1) and not row.prints[i + 1].shaped for i in acts)
    if 2 * chatty <= len(acts) and sum(act.sure for act in acts.values()) > 1:
        return True
    if len(acts) <= 1:  # once is no protocol
        return False
    if 2 * chatty <= len(acts) and row.is_told_of(list(acts)):
        return True
    if template or chatty > (1 - _MOSTLY) * len(acts):
        return False
    if any(printed(turn.text).shaped for turn in asked):  # each turn gives something to work on
        return False
    up = taken_up((row.turns[i].text, row.turns[i + 1].text) for i in acts)
    several = len({act.name for act in acts.values()}) > 1
    ends = up and several and ends_apart and not are_led_by(row.turns, list(acts))
    return ends or (_are_printed(row, acts) and (up or ends_apart or _begin_alike(row, acts)))


def _are_printed(row: TurnEvidence, acts: Collection[int]) -> bool:
    """Whether at least half of what answers some lines is output, or under the same label, and little a person's."""
    labels = Counter(opening_of(row.turns[i + 1].text) for i in acts)
    output = sum(row.is_output(i + 1) or labels[opening_of(row.turns[i + 1].text)] > 1 for i in acts)
    said = [row.prints[i + 1] for i in acts]
    persons = sum(each.person and not is_feedback(each.begin) for each in said)
    return 2 * output >= len(acts) and persons <= (1 - _MOSTLY) * len(acts)


def _begin_alike(row: TurnEvidence, acts: Collection[int]) -> bool:
    """Whether at least half of what answers some lines begins in the same way, whatever the figures."""
    begins = Counter(without_figures(row.prints[i + 1].begin, _FEW_CHARS) for i in acts)
    return max(begins.values()) >= max(2, len(acts) / 2)
