"""Making a trajectory shorter without any summary: deterministic, and turn for turn. Pure."""

from __future__ import annotations

from trajcompress.prune.cut import name_in_mark
from trajcompress.prune.elide import elide_results
from trajcompress.prune.steps import Kind, Pruned, Step, prune, prune_steps, prune_until

__all__ = ["Kind", "Pruned", "Step", "elide_results", "name_in_mark", "prune", "prune_steps", "prune_until"]
