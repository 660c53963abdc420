"""The form of rows whose messages stand in several columns: TRL reads these columns, others do not.

The turns are written as those of any row, and go back into their columns where these stay.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace
from msgspec.structs import replace as struct_replace

from trajcompress.formats.adapter import replace_turns
from trajcompress.formats.messages import MESSAGES
from trajcompress.settings.choices import Target
from trajcompress.transcript.trajectory import Formed, Split, Trajectory, Turn

READ_BY: frozenset[Target] = frozenset({"template", "trl"})
"""Targets that read prompts, completions and preference pairs in columns of their own."""


def of_columns(trajectory: Trajectory, target: Target, form: Callable[[Trajectory], Trajectory]) -> Trajectory:
    """Return a trajectory of several columns in the form of a target, which ``form`` gives rows of one column."""
    split = trajectory.split
    if split is None:
        return form(trajectory)
    if target in READ_BY:
        return trajectory if split.has_text else _in_its_columns(trajectory, split, form)  # text knows no roles
    if split.other is not None:
        return _unfit(trajectory, f"wrong_column: it is given no preference pairs ({', '.join(split.columns)})")
    made = form(_of_one_column(trajectory, trajectory.turns))
    formed = made.formed or Formed()
    if formed.unfit:
        return _unfit(trajectory, formed.unfit)
    return replace(made, formed=replace(formed, changes=tuple(sorted({*formed.changes, "columns"}))))


def _in_its_columns(trajectory: Trajectory, split: Split, form: Callable[[Trajectory], Trajectory]) -> Trajectory:
    before = tuple(turn for turn in trajectory.turns if not turn.in_answer)
    wanted = [trajectory.turns, *([(*before, *split.other_turns)] if split.other else [])]
    made = [form(_of_one_column(trajectory, turns)) for turns in wanted]
    formed = [each.formed for each in made if each.formed]
    if unfit := next((each.unfit for each in formed if each.unfit), None):
        return _unfit(trajectory, unfit)
    changes = {change for each in formed for change in each.changes}
    if not changes:
        return trajectory
    if [len(each.turns) for each in made] != [len(turns) for turns in wanted]:
        return _unfit(trajectory, "wrong_column: its turns would be joined, or parted, across columns")
    at = len(before)
    turns = (*made[0].turns[:at], *(struct_replace(turn, in_answer=True) for turn in made[0].turns[at:]))
    columns = {name: made[0].row.get(name, value) for name, value in trajectory.row.items()}
    other = made[-1].turns[at:] if split.other else ()
    written = replace(trajectory, turns=turns, row=columns, split=replace(split, other_turns=other))
    return replace(
        written,
        row=replace_turns(written, turns),
        format=made[0].format,
        tools=made[0].tools,
        formed=Formed(tuple(sorted(changes))),
    )


def _of_one_column(trajectory: Trajectory, turns: tuple[Turn, ...]) -> Trajectory:
    """Return turns as those of a row of messages, beside the columns that hold something else."""
    columns = trajectory.message_columns
    others = {name: value for name, value in trajectory.row.items() if name not in columns}
    row = {MESSAGES: [turn.raw for turn in turns], **others}
    return replace(trajectory, turns=turns, row=row, messages_field=MESSAGES, messages_as_text=False, split=None)


def _unfit(trajectory: Trajectory, why: str) -> Trajectory:
    return replace(trajectory, formed=Formed(unfit=why))
