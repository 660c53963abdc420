"""Role names: the many spellings of four roles.

A name that nobody knows (``agent``, ``Orchestrator (-> WebSurfer)``) is kept as it is on output. To count and plan,
it is read as the role map says; else by what the speaker does where the name first occurs:

* An agent that works for a user calls another as it would a tool: who says ``(-> WebSurfer)`` is the ``assistant``,
  and the ``WebSurfer`` that answers is a ``tool``, whose pages are no words of the model.
* Any other speaker who addresses somebody, or who opens the conversation, asks, and is read as ``user``.
* Everybody else answers, as ``assistant``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trajcompress.trajectory import Role

ALIASES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "ai": "assistant",
    "chatgpt": "assistant",
    "function_call": "assistant",
    "tool_call": "assistant",
    "tool-call": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "function_response": "tool",
    "tool_response": "tool",
    "tool-response": "tool",
    "ipython": "tool",
}

CALL_ROLES = frozenset({"function_call", "tool_call", "tool-call"})
"""Roles whose whole value is one call, or a list of calls."""


def is_known(name: str, role_map: Mapping[str, Role]) -> bool:
    """Tell whether a role name is one that needs no guess."""
    return name in role_map or name.strip().lower() in ALIASES


def normalise_roles(names: Sequence[str], role_map: Mapping[str, Role]) -> list[Role]:
    """Return the role of each turn of one row, given the turns' own role names."""
    known = [role_map.get(name) or ALIASES.get(name.strip().lower()) for name in names]
    decided = _agents_called(names, known) if "user" in known else {}
    roles: list[Role] = []
    spoken = "user" in known
    for name, alias in zip(names, known, strict=True):
        role = alias or decided.setdefault(name, "user" if "->" in name or not spoken else "assistant")
        spoken = spoken or role != "system"
        roles.append(role)
    return roles


def _agents_called(names: Sequence[str], known: Sequence[Role | None]) -> dict[str, Role]:
    """Return the roles of agents that call others by name, and of those that answer under it."""
    addressees: dict[str, str] = {}
    addressed: set[str] = set()
    answered: set[str] = set()
    for name, alias in zip(names, known, strict=True):
        if alias is not None:
            continue
        if name in addressed:
            answered.add(name)
        if addressee := name.partition("->")[2].partition(")")[0].strip():
            addressees[name] = addressee
            addressed.add(addressee)
    callers: dict[str, Role] = {name: "assistant" for name, called in addressees.items() if called in answered}
    return callers | dict.fromkeys(answered, "tool")
