"""Notes on how rows are read: their format, and which role names were taken for which roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trajcompress.formats.adapter import explain_format, explain_roles
from trajcompress.run.row import Accepted, Parsed
from trajcompress.settings.choices import Role
from trajcompress.wording import printable

_MOST_LINES = 20
"""Files may be many, and hostile rows name a role each; ways of reading that are new have as many more."""


class Explainer:
    """Says in which way the rows of each source are read, and of many sources those ways alone that are new.

    Args:
        note: takes each line.
        role_map: role names that the settings give a meaning, so there is nothing to say of them.
    """

    def __init__(self, note: Callable[[str], None], role_map: Mapping[str, Role]) -> None:
        self._note = note
        self._role_map = role_map
        self._source = ""
        self._said_of_it: set[str] = set()
        self._said: set[str] = set()
        self._lines = 0

    def explain(self, parsed: Parsed) -> None:
        """Say how a row was read, if that is new."""
        if not isinstance(parsed.made, Accepted):
            return
        trajectory, source = parsed.made.trajectory, parsed.source.name
        if source != self._source:
            self._source, self._said_of_it = source, set()
        for text in (explain_format(trajectory), *explain_roles(trajectory, self._role_map)):
            if text not in self._said_of_it:
                self._say(text)

    def _say(self, text: str) -> None:
        if self._lines >= (_MOST_LINES if text in self._said else 2 * _MOST_LINES):
            return
        self._said_of_it.add(text)
        self._said.add(text)
        self._lines += 1
        self._note(f"{printable(self._source)}: {text}")
        if self._lines == _MOST_LINES:
            self._note("from here on files are named only where their rows are read in another way")
