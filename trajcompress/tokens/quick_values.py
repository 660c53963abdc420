"""What quick look-ups know of the values that templates look into."""

from __future__ import annotations

OF_DICT = frozenset(dir(dict))
"""Names that a dictionary has of its own, whatever its keys."""
HELD = "_Namespace__attrs"
"""Where a namespace of Jinja keeps what it was given."""
PLAIN = frozenset({str, int, float, bool, list, dict})
"""Types of what a namespace may hold that is no method, which may need wrapping."""
look_inside = object.__getattribute__  # a namespace's own takes two calls for each name
