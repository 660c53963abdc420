"""Finding the metrics of a run, and opening them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from trajcompress.dataset.storage.location import Location, location_of
from trajcompress.dataset.storage.parquet import open_parquet
from trajcompress.errors import InputError, SettingsError
from trajcompress.metrics.row import COLUMNS
from trajcompress.run.folder.manifest import FOREIGN, REMEDY, UNCHECKED, first_damage, foreign_data, read_manifest
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.past.unfinished import SoFar, reading_while_it_works, so_far

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


@dataclass(frozen=True, slots=True)
class MetricsFile:
    """The metrics of a run. ``name`` is how they were asked for, ``target`` the limit in tokens where it is known.

    ``note`` is what is to be known of the run, ``run_json`` its record; empty where a file of metrics was named.
    ``so_far`` is what is committed of a run that has not ended.
    """

    name: str
    path: Location
    target: int | None = None
    note: str | None = None
    run_json: Mapping[str, Any] = field(default_factory=dict)
    so_far: SoFar | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that the run was made with, by dotted key."""
        settings = self.run_json.get("settings")
        return settings if isinstance(settings, dict) else {}

    def fingerprints(self) -> dict[str, str]:
        """Return what the content of inputs is known by, by their names."""
        inputs = self.run_json.get("inputs")
        known = [each for each in inputs if isinstance(each, dict)] if isinstance(inputs, list) else []
        return {str(each.get("name")): each["fingerprint"] for each in known if each.get("fingerprint")}


@reading_while_it_works
def find_metrics(given: str) -> MetricsFile:
    """Find the metrics of a run folder, or take the Parquet file that is named.

    Raises:
        InputError: there are none.
    """
    path = location_of(given)
    if not path.exists():
        raise InputError(f"{given}: no such file or folder; name a run folder or its metrics.parquet")
    if not path.is_dir():
        return MetricsFile(given, path)
    folder = RunFolder(path)
    run_json = _run_json(folder)
    state = run_json.get("state", "complete")
    if state == "input_changed":
        raise InputError(
            f"{given}: inputs of the run changed while it read them (its run.json names them): run it again with "
            f"--overwrite; to look at it all the same name {folder.metrics}, where input_changed marks their rows"
        )
    part = so_far(folder, run_json) if state != "complete" and not folder.metrics.is_file() else None
    if part is None and not folder.metrics.is_file():
        raise InputError(
            f"{given}: holds no metrics.parquet; name the folder that `trajcompress compress --output` wrote"
        )
    if part is not None:
        found = MetricsFile(given, part.metrics, note=part.note, run_json=run_json, so_far=part)
    else:
        found = MetricsFile(given, folder.metrics, note=_check_whole(folder, run_json), run_json=run_json)
    target = found.settings.get("compression.target_max_tokens")
    return replace(found, target=target if isinstance(target, int) else None)


def _check_whole(folder: RunFolder, run_json: dict[str, Any]) -> str | None:
    """Raise InputError where metrics, or the size of a file, are not as written; return what else is to be known."""
    try:
        files = read_manifest(run_json)
    except ValueError as error:
        raise InputError(f"{folder.run}: {error}; name metrics.parquet itself") from error
    if files is None:
        return f"{folder.path}: {UNCHECKED}" if run_json else None
    if why := first_damage(folder.path, files, digest_of=[folder.metrics.name]):
        raise InputError(f"{why}; {REMEDY}; naming metrics.parquet itself looks at nothing else")
    foreign = foreign_data(folder.path, [file.name for file in files])
    return f"{foreign[0]}: {FOREIGN}" if foreign else None


def _run_json(folder: RunFolder) -> dict[str, Any]:
    """Return ``run.json``, nothing where a folder of metrics has none."""
    try:
        run_json = json.loads(folder.run.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{folder.run}: cannot be read: {error}; name metrics.parquet itself") from error
    if not isinstance(run_json, dict):
        raise InputError(f"{folder.run}: is no record of a run; name metrics.parquet itself")
    return run_json


def open_metrics(file: MetricsFile) -> pq.ParquetFile:
    """Open the Parquet file; raise InputError where it is none."""
    import pyarrow as pa

    try:
        return open_parquet(file.path)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{file.path}: cannot be read as Parquet: {reason}; name the metrics of a run") from error


def require_columns(file: MetricsFile, schema: pa.Schema, needed: Iterable[str]) -> None:
    """Raise InputError where a column that every audit needs is not there, or is not what it should be."""
    from trajcompress.metrics.row import metrics_schema

    expected = metrics_schema()
    for name in needed:
        if name not in schema.names:
            raise InputError(_lacks(file, name))
        found, wanted = schema.field(name).type, expected.field(name).type
        if _family(found) not in {_family(wanted), "null"}:
            raise InputError(f"{file.path}: column `{name}` is {found}, not {wanted}; name the metrics of a run")


def match_columns(file: MetricsFile, schema: pa.Schema, named: Iterable[str]) -> list[str]:
    """Return the columns that a condition names, in any case, as the file spells them.

    Raises:
        SettingsError: metrics have no such column.
        InputError: metrics have it, but not these.
    """
    known = {column.lower(): column for column in schema.names}
    for name in sorted(named):
        if name.lower() in known:
            continue
        if name.lower() in COLUMNS:
            raise InputError(_lacks(file, name))
        near = get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {known[near[0]]}?" if near else "texts take single quotes: reason = 'head'"
        raise SettingsError(f"--where: no column {name} in {file.path}; {hint}")
    return [known[name.lower()] for name in named]


def _lacks(file: MetricsFile, column: str) -> str:
    return (
        f"{file.path}: has no column `{column}`: it is not the metrics of a run, or an older version wrote it; "
        "name a run folder or its metrics.parquet, or run `trajcompress compress` again with --overwrite"
    )


def _family(kind: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _family(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "number"  # pandas makes fractions of whole numbers where some are missing
    return str(kind)
