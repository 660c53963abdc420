"""Saying how rows are read, where a reader could have meant something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trajcompress.formats.adapter import explain_format, explain_roles
from trajcompress.run.row import Accepted, Parsed
from trajcompress.trajectory import Role
from trajcompress.wording import printable

_MOST_LINES = 20
"""Lines about one source: hostile rows name a role each."""


class Explainer:
    """Says once for each source and each way of reading its rows what that way is.

    Args:
        note: takes each line.
        role_map: role names that the settings give a meaning, so there is nothing to say of them.
    """

    def __init__(self, note: Callable[[str], None], role_map: Mapping[str, Role]) -> None:
        self._note = note
        self._role_map = role_map
        self._said: dict[str, set[str]] = {}

    def explain(self, parsed: Parsed) -> None:
        """Say how a row was read, if that is new."""
        if not isinstance(parsed.made, Accepted):
            return
        trajectory, source = parsed.made.trajectory, parsed.source.name
        said = self._said.setdefault(source, set())
        for text in (explain_format(trajectory), *explain_roles(trajectory, self._role_map)):
            if text not in said and len(said) < _MOST_LINES:
                said.add(text)
                self._note(f"{printable(source)}: {text}")
                if len(said) == _MOST_LINES:
                    self._note(f"{printable(source)}: whatever else its rows are read as is not said")
