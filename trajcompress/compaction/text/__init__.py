"""Making a trajectory shorter without any summary: deterministic, and turn for turn. Pure."""

from __future__ import annotations

from trajcompress.compaction.text.elide import elide_results
from trajcompress.compaction.text.middle import name_in_mark
from trajcompress.compaction.text.result_lines import ResultLines
from trajcompress.compaction.text.steps import Kind, Pruned, Step, bare_steps, prune, prune_steps, shorter_steps

__all__ = [
    "Kind",
    "Pruned",
    "ResultLines",
    "Step",
    "bare_steps",
    "elide_results",
    "name_in_mark",
    "prune",
    "prune_steps",
    "shorter_steps",
]
