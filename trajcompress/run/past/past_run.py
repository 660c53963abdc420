"""A run, opened for reading: its settings and files, and where its inputs are now."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.location import Location, is_stored, location_of, size_of
from trajcompress.dataset.writers import read_part_rows
from trajcompress.errors import InputError
from trajcompress.run.folder.manifest import REMEDY, WrittenFile, data_files, first_damage, read_manifest
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.folder.run_json import describe_inputs, same_input
from trajcompress.run.past.unfinished import ENDED, SoFar, reading_while_it_works, so_far
from trajcompress.settings import Settings, resolve

CHANGED = "has changed since the run"


class Located(Struct, frozen=True):
    """An input of a run: as it is now, or why it cannot be read again."""

    source: Source | None
    why: str | None = None


class PastRun(Struct, frozen=True):
    """A run with its metrics: ``run_json`` is its ``run.json``, ``inputs`` are those in it, by name, in input order.

    ``files`` are those that it left, None where an earlier version wrote it. ``so_far`` is what is committed of one
    that has not ended.
    """

    folder: RunFolder
    run_json: dict[str, Any]
    settings: Settings
    inputs: dict[str, dict[str, Any]]
    files: list[WrittenFile] | None
    so_far: SoFar | None = None

    def data_files(self) -> list[tuple[Location, int]]:
        """Return the data files in input order, each with its number of rows.

        Raises:
            InputError: one of an earlier version, which did not note that, cannot be read.
        """
        paths = data_files(self.folder.path, self.files, [each["stem"] for each in self.inputs.values()])
        rows = {self.folder.path / file.name: file.rows for file in self.files or ()}
        return [(path, rows[path] if path in rows else sum(1 for _ in read_part_rows(path))) for path in paths]

    def locate(self, name: str) -> Located:
        """Find an input where the run found it, as seen from here or from above the run folder.

        Nothing is fetched: rows that were streamed are not to be had again.
        """
        noted = self.inputs[name]
        kind, stem = noted["kind"], noted["stem"]
        if name == "-":
            return Located(None, "the input was standard input, which cannot be read again")
        if kind == "hub":
            return Located(None, f"{name} was streamed, and nothing is fetched again")
        if is_stored(name):
            return self._locate_stored(location_of(name), noted)
        above = self.folder.path.resolve().parents if isinstance(self.folder.path, Path) else ()
        bases = (Path(), *above)
        found = [path for base in bases if (path := base / name).exists()]
        for path in dict.fromkeys(found):
            size = os.stat(path).st_size if path.is_file() else noted["size"]  # noqa: PTH116 - one call for both
            source = Source(name, stem, kind, path, size)
            if size == noted["size"] and same_input(noted, describe_inputs([source])[0]):
                return Located(source)
        return Located(None, f"{name} {CHANGED}" if found else f"{name} is not there any more")

    @staticmethod
    def _locate_stored(path: Location, noted: dict[str, Any]) -> Located:
        name, kind, stem, size = (noted[key] for key in ("name", "kind", "stem", "size"))
        try:
            if kind != "saved":
                size = size_of(path)
            source = Source(name, stem, kind, path, size)
            if same_input(noted, describe_inputs([source])[0]):
                return Located(source)
        except FileNotFoundError:
            return Located(None, f"{name} is not there any more")
        except (OSError, InputError) as error:
            return Located(None, f"{name} cannot be read again ({getattr(error, 'strerror', None) or error})")
        return Located(None, f"{name} {CHANGED}")


@contextmanager
def reading_run_json(folder: RunFolder) -> Iterator[None]:
    """Let a folder without a ``run.json`` that can be read be an InputError."""
    if not folder.path.is_dir():
        raise InputError(f"{folder.path}: no such folder; name the --output of a run")
    try:
        yield
    except FileNotFoundError:
        raise InputError(
            f"{folder.path}: no run folder, for it holds no run.json; name the --output of a run"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder.run}: cannot be read ({error}); make the run again") from error


@reading_while_it_works
def open_run(path: Location) -> PastRun:
    """Open a run folder.

    Raises:
        InputError: it is none, or nothing of the run is committed.
    """
    folder = RunFolder(path)
    with reading_run_json(folder):
        run_json = json.loads(folder.run.read_bytes())
        settings = resolve(run_json["settings"], None, environ={}, dotenv=None).settings
        inputs = {each["name"]: each for each in run_json["inputs"]}
        state = run_json["state"]
        files = read_manifest(run_json)
    part: SoFar | None = None
    if not folder.metrics.exists() and (state not in ENDED or files is None):
        part = so_far(folder, run_json)
        folder.metrics, folder.rejected = part.metrics, part.rejected
        files = list(part.data)
    if any(not {"kind", "stem"} <= each.keys() for each in inputs.values()):
        raise InputError(f"{folder.run}: does not say how its data files are named; make the run again")
    metrics = [each for each in files or () if each.name == folder.metrics.name]
    if why := first_damage(path, metrics, digest_of=[folder.metrics.name]):
        raise InputError(f"{why}; {REMEDY}")
    return PastRun(folder, run_json, settings, inputs, files, part)
