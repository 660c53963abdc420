"""Who speaks in user turns, where a row names them: several people, or agents that see each other as users. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from trajcompress.transcript.roles import is_known
from trajcompress.transcript.text_protocols.delegated import is_person
from trajcompress.transcript.trajectory import Turn


def speaker_of(turn: Turn) -> str | None:
    """Return the name of who speaks in a user turn, be it a key of its own or the role; None where it has none.

    A name that says no more than the role, such as ``user``, is none.
    """
    if turn.role != "user":
        return None
    names = (turn.name, turn.own_role)
    return next((name for name in names if name and not is_known(name, {}, "user")), None)


def people_of(head: Sequence[Turn], others: Sequence[Turn]) -> frozenset[str]:
    """Return the names of people among those who speak in user turns; other names are those of colleagues.

    Whoever opens the row asks. If that one has a name and no assistant has any, all names are of people: where agents
    talk to each other the assistant is one of those that are named.

    Args:
        head: the first turns of the row.
        others: some that follow.
    """
    turns = (*head, *others)
    named = {name for turn in turns if not turn.answers and (name := speaker_of(turn))}
    opener = next((turn for turn in head if turn.role != "system"), None)
    asks = speaker_of(opener) if opener is not None and not opener.answers else None
    if asks and not any(turn.name for turn in turns if turn.role == "assistant"):
        return frozenset(named)
    by_role = {turn.own_role for turn in turns if not turn.name}
    return frozenset(name for name in named if name == asks or name in by_role or is_person(name))


def unnamed_role(turns: Sequence[Turn], mapped: Collection[str]) -> str | None:
    """Return the role of a user turn that is nobody's, where roles of the row are names; None where none is sure.

    That is one that everybody knows, if the row has one, or where it names several and the role map all of them.
    What else a role name says is guessed from the row: another one might change how the others are read.
    """
    names = list(dict.fromkeys(turn.own_role for turn in turns if turn.role == "user"))
    usual = next((name for name in names if is_known(name, {})), None)
    if usual is None and len(names) > 1 and all(name in mapped for name in names) and "user" not in mapped:
        return "user"
    return usual


def users_in_a_row(turns: Sequence[Turn]) -> bool:
    """Tell whether two user turns stand side by side."""
    return any(one.role == other.role == "user" for one, other in pairwise(turns))
