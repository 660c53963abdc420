"""Which files in the data folder of a run are its own."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import PurePosixPath

from msgspec import Struct

from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.writers import part_of_temporary, stem_of
from trajcompress.errors import OutputError
from trajcompress.run.folder.manifest import is_data, read_files, read_manifest


class OwnData(Struct, frozen=True):
    """The data folder of a run, its ``run.json``, and the manifests of its parts."""

    data: Location
    run: Location
    parts: Location

    def of_finished(self) -> set[str]:
        """Return the names of the data files that ``run.json`` names, which a finished run has left."""
        with suppress(OSError, ValueError):
            run_json = json.loads(self.run.read_bytes())
            return {PurePosixPath(file.name).name for file in read_manifest(run_json) or () if is_data(file.name)}
        return set()

    def check(self) -> None:
        """Raise OutputError where the data folder holds anything but what runs in this folder have written."""
        own = self.files()
        foreign = [path for path in self._entries() if path not in own]
        if foreign:
            more = f" and {len(foreign) - 1:,} more" if len(foreign) > 1 else ""
            raise OutputError(
                f"{foreign[0]}{more}: not written by the run here, and --overwrite deletes only what is; move it "
                "away, or choose another -o"
            )

    def _entries(self) -> list[Location]:
        return sorted(self.data.iterdir()) if self.data.exists() else []

    def files(self) -> set[Location]:
        """Return the files in the data folder that runs here have written."""
        finished, of_parts = self.of_finished(), self._of_parts()
        known = finished | (of_parts or set())
        own = set()
        for path in self._entries():
            part = part_of_temporary(path.name)
            name = part or path.name
            # where nothing says more, an earlier version wrote it, or what is known of the parts is lost
            by_stem = part is not None or (of_parts is None and not finished)
            if not path.is_dir() and (name in known or (by_stem and stem_of(name) in self._stems())):
                own.add(path)
        return own

    def _of_parts(self) -> set[str] | None:
        """Return the names of the data files that the manifests of parts name; None where one is lost, or all are."""
        names: set[str] = set()
        manifests: list[Location] = [*self.parts.glob("*.json")] if self.parts.exists() else []
        try:
            for path in manifests:
                files = read_files(json.loads(path.read_bytes())["files"])
                names |= {PurePosixPath(file.name).name for file in files if is_data(file.name)}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return names if manifests else None

    def _stems(self) -> set[str]:
        """Return how data files of the run here begin."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            run_json = json.loads(self.run.read_bytes())
            return {each["stem"] for each in run_json["inputs"]} | set(run_json.get("packs", ()))
        return set()
