"""The committed parts of a run, as they lie in its folder: how they become durable, visible together, and are found.

All that a commit asks of the file system, or of a store, is here. Files are written under temporary names first; the
manifest, which gets its name when they are durable, commits them; then they get theirs. So a kill leaves a part as it
was before, or one that :meth:`PartStore.settle` makes whole. A store has no names to change: there the files are put
first, and the manifest commits them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.dataset.durable import TEMPORARY, publish, rename_into_place, sync_folder, write_durably
from trajcompress.dataset.storage.location import Location, read_all
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.run.folder.manifest import (
    WrittenFile,
    damage_of,
    describe_file,
    is_complete_temporary,
    list_objects,
)
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.parts.committed import CommittedPart, PartKey, as_json, from_json, key_of


class PartStore:
    """The manifests of a run folder, and their files; several processes may commit parts of different keys."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._listed: dict[str, Location] = {}  # what a store listed when the parts were read

    def read(self) -> tuple[dict[PartKey, CommittedPart], dict[PartKey, str]]:
        """Return the parts that are committed, in input order, and what is wrong with unreadable manifests."""
        parts, damaged = {}, {}
        manifests = sorted(self._manifests())
        for (key, _), text in zip(manifests, read_all([path for _, path in manifests]), strict=True):
            try:
                if isinstance(text, OSError):
                    raise text
                parts[key] = from_json(key, text)
            except (OSError, ValueError) as error:
                damaged[key] = str(error)
        self._listed = list_objects(self.folder.path, [file for part in parts.values() for file in part.files])
        return parts, damaged

    def _manifests(self) -> Iterator[tuple[PartKey, Location]]:
        for path in self.folder.parts.iterdir() if self.folder.parts.exists() else ():
            if (key := key_of(path.name)) is not None:
                yield key, path

    def read_one(self, key: PartKey) -> CommittedPart | None:
        """Return a part, None where it is not committed or its manifest cannot be read."""
        try:
            return from_json(key, self.manifest(key).read_bytes())
        except (OSError, ValueError):
            return None

    def manifest(self, key: PartKey) -> Location:
        """Return where the manifest of a part is."""
        return self.folder.parts / key.file("json")

    def commit(self, part: CommittedPart, instead_of: CommittedPart | None = None) -> None:
        """Commit a part whose files are complete and durable under their temporary names.

        Raises:
            OSError: the disk is full or the folder cannot be written; the part is then as it was, or whole.
        """
        self.folder.check_held()
        paths = [self._path(file) for file in part.files]
        if isinstance(self.folder.path, StorePath):
            if instead_of is not None:
                self.forget(part.key, instead_of)  # a kill from here on costs the part, not the truth of its manifest
            for path in paths:
                publish(path)
            write_durably(self.manifest(part.key), as_json(part))
            return
        for folder in {path.parent for path in paths}:
            sync_folder(folder)
        write_durably(self.manifest(part.key), as_json(part))
        for path in paths:
            rename_into_place(path)
        for folder in {path.parent for path in paths}:
            sync_folder(folder)
        if instead_of is not None:
            for name in {file.name for file in instead_of.files} - {file.name for file in part.files}:
                (self.folder.path / name).unlink(missing_ok=True)

    def replace(self, part: CommittedPart, file: WrittenFile) -> CommittedPart:
        """Put another file, complete under its temporary name, in the place of one of a part; return that part."""
        new = part.with_file(file)
        if isinstance(self.folder.path, StorePath):
            self.manifest(part.key).unlink()
            publish(self._path(file))
            write_durably(self.manifest(part.key), as_json(new))
            return new
        write_durably(self.manifest(part.key), as_json(new))
        publish(self._path(file))
        return new

    def settle_replaced(self, part: CommittedPart) -> CommittedPart | None:
        """Return what a part is whose data file was being replaced when a kill came; None where it is damaged.

        Raises:
            OSError: a file cannot be read or written.
        """
        now, data = self.read_one(part.key), part.data
        if now is None and data is not None and isinstance(self.folder.path, StorePath):  # the manifest went first
            path = self._path(data)
            now = part
            if damage_of(path, data, digest=True):  # objects are there as a whole or not at all
                now = part.with_file(describe_file(path, data.name, data.rows))
            write_durably(self.manifest(part.key), as_json(now))
        return now if now is not None and not self.settle(now) else None

    def settle(self, part: CommittedPart) -> dict[Location, str]:
        """Finish what a kill cut off behind a part's manifest; return what is wrong with files of it nevertheless.

        Raises:
            OSError: a file cannot be read.
        """
        damaged = {}
        for file in part.files:
            path = self._path(file)
            is_stored = isinstance(path, StorePath)  # where to read it all again would cost as much as to do it again
            why = damage_of(self._listed.get(file.name, path), file, digest=not is_stored)
            if why and not is_stored and is_complete_temporary(self.folder.path, file) and not path.is_dir():
                publish(path)
            elif why:
                damaged[path] = why
        return damaged

    def forget(self, key: PartKey, part: CommittedPart | None) -> None:
        """Delete a part: its files first, as what no manifest names is nobody's."""
        for file in part.files if part else ():
            self._path(file).unlink(missing_ok=True)
        self.manifest(key).unlink(missing_ok=True)

    def sweep(self, parts: dict[PartKey, CommittedPart]) -> None:
        """Delete what a kill has left of files that no part has; data files without a temporary name stay."""
        known = {self._path(file) for part in parts.values() for file in part.files}
        folder = self.folder
        for where in (folder.data, *folder.part_folders, folder.parts):
            for path in where.iterdir() if where.exists() else ():
                unfinished = path.name.endswith(TEMPORARY) and path.is_file()
                unknown = where in folder.part_folders and path not in known
                if unfinished or (unknown and path.is_file()):
                    path.unlink()

    def _path(self, file: WrittenFile) -> Location:
        return self.folder.path / file.name
