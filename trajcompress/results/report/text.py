"""What a page calls files and reasons."""

from __future__ import annotations

import os.path
from collections.abc import Iterable

from trajcompress.metrics.reasons import explain
from trajcompress.results.show.safe import printable


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return names to show for files: without the folders that all of them share."""
    names = list(names)
    folders = {os.path.dirname(name) for name in names}  # noqa: PTH120 - a name may be - or one of the hub
    try:
        shared = os.path.commonpath(folders) if all(folders) else ""
    except ValueError:  # some are absolute, some are not
        shared = ""
    return {name: printable(os.path.relpath(name, shared) if shared else name) for name in names}


def explanation(reason: str, outcome: str) -> str:
    """Return in sentences why rows are as they are, and what helps."""
    known = explain(reason, outcome)
    meaning = f"{known.meaning[:1].upper()}{known.meaning[1:]}."
    return f"{meaning} What helps: {known.remedy}." if known.remedy else meaning
