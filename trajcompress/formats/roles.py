"""Role names: the many spellings of four roles.

A name that nobody knows (``agent``, ``Orchestrator (-> WebSurfer)``) is kept as it is on output. To count and plan,
it is read as the role map says; else by what the speaker does where the name first occurs: a speaker who addresses
somebody (``->``) or who opens the conversation asks, and is read as ``user``; any other answers, as ``assistant``.
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
    someone_known_asks = "user" in known
    decided: dict[str, Role] = {}
    roles: list[Role] = []
    spoken = False
    for name, alias in zip(names, known, strict=True):
        opens = not spoken and not someone_known_asks
        role = alias or decided.setdefault(name, "user" if "->" in name or opens else "assistant")
        spoken = spoken or role != "system"
        roles.append(role)
    return roles
