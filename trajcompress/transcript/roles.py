"""Role names: the many spellings of four roles.

A name that nobody knows (``agent``, ``Orchestrator (-> WebSurfer)``) is kept as it is on output. To count and plan,
it is read as the role map says; else by what the speaker does where the name first occurs:

* An agent that works for a user calls others as it would tools: who says ``(-> WebSurfer)`` is the ``assistant``,
  and the ``WebSurfer`` that answers is a ``tool``, whose pages are no words of the model. That is told for each turn:
  what is kept of a row must be read as it was in the whole.
* Where no user is known, who addresses somebody, or opens the conversation, asks, and is read as ``user``.
* Everybody else answers, as ``assistant``.

An ``environment`` answers a user's agent, as tools do; where no user is known it may ask, and is a name like others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from trajcompress.settings.choices import Role

ALIASES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "customer": "user",
    "client": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "ai": "assistant",
    "chatgpt": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "tool-call": "assistant",
    "tool_use": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "tool-response": "tool",
    "tool_result": "tool",
    "tool_results": "tool",
    "tool-result": "tool",
    "tool_output": "tool",
    "function_result": "tool",
    "ipython": "tool",
    "environment": "tool",
    "env": "tool",
}

CALL_ROLES = frozenset({"function_call", "tool_call", "tool-call"})
"""Roles whose whole value is one call, or a list of calls."""

_ENVIRONMENTS = frozenset({"environment", "env"})


def is_known(name: str, role_map: Mapping[str, Role], role: Role | None = None) -> bool:
    """Tell whether a role name is one that needs no guess; of a ``role``, whether it was read as that without one."""
    alias = ALIASES.get(name.strip().lower())
    return name in role_map or (alias is not None and role in {None, alias})


def addressee_of(name: str) -> str | None:
    """Return whom a speaker addresses by name, as ``Orchestrator (-> WebSurfer)`` does."""
    return name.partition("->")[2].partition(")")[0].strip() or None


def normalise_roles(names: Sequence[str], role_map: Mapping[str, Role]) -> list[Role]:
    """Return the role of each turn of one row, given the turns' own role names."""
    meaning = {name: role_map.get(name) or ALIASES.get(name.strip().lower()) for name in set(names)}
    someone_known_asks = "user" in meaning.values()
    if not someone_known_asks:
        asking = {name for name in meaning if name.strip().lower() in _ENVIRONMENTS and name not in role_map}
        meaning |= dict.fromkeys(asking)
    known = [meaning[name] for name in names]
    if None not in meaning.values():
        return [role for role in known if role]
    decided: dict[str, Role] = {}
    called: Counter[str | None] = Counter()  # how many answers each agent owes
    roles: list[Role] = []
    spoken = someone_known_asks
    for name, alias in zip(names, known, strict=True):
        if alias is None and someone_known_asks and called[name]:
            role: Role = "tool"
            called[name] -= 1
        else:
            asks = not spoken or ("->" in name and not someone_known_asks)
            role = alias or decided.setdefault(name, "user" if asks else "assistant")
        if alias is None:
            called[addressee_of(name)] += 1
        spoken = spoken or role != "system"
        roles.append(role)
    return roles
