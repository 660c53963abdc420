"""What is to be told of a result: which action it is of, what later turns need and use of it, and the room."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajcompress.facts.next_turns import NOTHING_LATER
from trajcompress.facts.parts import Wanted
from trajcompress.facts.taken import STRONG
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.repeated import NOTHING_REPEATED, Repeated

SAID_CHARS = 150
"""What an outcome takes, where it may not take more."""

FAILED_CHARS = 240
"""What it takes where something failed: an error's reason may stand at its end."""

_NEEDED = 8 * STRONG  # goes before all else that is taken, or it would stand behind that without its line


class Asked(Struct, frozen=True):
    """What is to be told of one result.

    ``action`` is what it answers. ``needed`` is what of it later turns use: told with its line or its sentence.
    ``later`` is what the next turns bring in: lines that have it go first. ``taken`` is what else later turns take
    from it; ``repeated`` are lines that other results have as well. It is told in ``limit`` characters at most, and
    where later turns take much of it in ``most``.
    """

    action: Action | None = None
    needed: Sequence[str] = ()
    limit: int = SAID_CHARS
    repeated: Repeated = NOTHING_REPEATED
    later: Wanted = NOTHING_LATER
    taken: Wanted = NOTHING_LATER
    most: int = 0

    @property
    def kind(self) -> str:
        """The kind of action; somebody who asked for nothing reads."""
        return self.action.kind if self.action else "read"

    @property
    def wanted(self) -> Wanted:
        """All that later turns need and take, where they take anything; what is needed tells the most."""
        return {**self.taken, **(self.later if self.taken else {}), **dict.fromkeys(self.needed, _NEEDED)}
