"""The manifest of a part: what was read, what came of it, and its files with sizes and digests.

A part counts as written once its manifest is there, and not before. One that cannot be cut before it is read has a
manifest for each of its pieces.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple

from trajcompress.processes.late_patterns import late_re
from trajcompress.run.folder.manifest import WrittenFile, is_data, read_files
from trajcompress.run.parts.cursor import Counts, Cursor
from trajcompress.run.progress.progress import Progress

_NAME = late_re(r"(\d{6,})-(\d{5,})\.json")


class PartKey(NamedTuple):
    """Which part of the input, and which piece of it; sorts in input order."""

    number: int
    piece: int = 0

    def file(self, suffix: str) -> str:
        """Return the name of a file of the part."""
        return f"{self.number:06}-{self.piece:05}.{suffix}"


@dataclass(frozen=True, slots=True)
class CommittedPart:
    """A part, or a piece of one, that is written.

    It begins at ``start``; ``read`` is what it holds, and ``is_last`` says that no piece follows. ``files`` are the
    data file, the metrics and the rejects, each where there is any; ``progress`` counts its rows.
    """

    key: PartKey
    is_last: bool
    start: Cursor
    read: Counts
    files: tuple[WrittenFile, ...]
    progress: Progress = field(default_factory=Progress)

    @property
    def data(self) -> WrittenFile | None:
        """Its data file, None where no row was written."""
        return next((file for file in self.files if is_data(file.name)), None)

    def file_of(self, what: Literal["metrics", "segments", "rejected"]) -> WrittenFile | None:
        """Return the file of its metrics, of those of segments, or of its rejects; None where there is none."""
        return next((file for file in self.files if file.name.startswith(f".state/{what}/")), None)

    def with_file(self, new: WrittenFile) -> CommittedPart:
        """Return it with another file of the same name."""
        return replace(self, files=tuple(new if file.name == new.name else file for file in self.files))


def key_of(name: str) -> PartKey | None:
    """Return the part whose manifest has that name; None for other names."""
    match = _NAME.fullmatch(name)
    return PartKey(int(match[1]), int(match[2])) if match else None


def as_json(part: CommittedPart) -> bytes:
    """Return the text of a manifest."""
    value = {
        "number": part.key.number,
        "piece": part.key.piece,
        "is_last": part.is_last,
        "start": asdict(part.start),
        "read": asdict(part.read),
        "files": [asdict(file) for file in part.files],
        "progress": part.progress.as_state(),
    }
    return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def from_json(key: PartKey, text: bytes) -> CommittedPart:
    """Read the manifest of a part.

    Raises:
        ValueError: it is none.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is no manifest ({error})") from error
    try:
        part = CommittedPart(
            PartKey(_whole(value["number"]), _whole(value["piece"])),
            bool(value["is_last"]),
            Cursor(**_numbers(value["start"])),
            Counts(**_numbers(value["read"])),
            tuple(read_files(value["files"])),
            Progress.from_state(value["progress"]),
        )
        _numbers(part.progress.outcomes)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"is no manifest ({error!r})") from error
    if part.key != key:
        raise ValueError("is the manifest of another part")
    return part


def _numbers(value: Mapping[str, Any]) -> dict[str, int]:
    return {name: _whole(number) for name, number in value.items()}


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"is no manifest ({value!r} is no number of anything)")
    return value
