"""Files that are compressed although their names do not say so."""

from __future__ import annotations

from pathlib import Path

from trajcompress.dataset.json_text import LOOKS
from trajcompress.dataset.rows import Source, Unreadable
from trajcompress.dataset.source_files import COMPRESSIONS

_LONGEST_BEGIN = 6  # of those in LOOKS


def unnamed_compression(source: Source) -> Unreadable | None:
    """Return what stands for the rows of a file that is compressed, or is Parquet, under a name of JSON.

    Each of its line ends would else begin a row that cannot be read. In a store nobody looks: that is a request more.
    None where it is no such file.
    """
    path = source.path
    if source.is_stream or not isinstance(path, Path) or path.suffix.lower() in COMPRESSIONS:
        return None
    try:
        with path.open("rb") as file:
            begin = file.read(_LONGEST_BEGIN)
    except OSError:  # an error of who reads its rows
        return None
    looks = next((kind for kind, begins in LOOKS.items() if kind != "UTF-16" and begin.startswith(begins)), None)
    return Unreadable(source.name, 0, None, "invalid_utf8", f"it looks like {looks}", "") if looks else None
