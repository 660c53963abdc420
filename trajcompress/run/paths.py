"""The inputs, the output folder and the log file of a run, found from its settings and checked."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path

from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.readers import require_one_of_each
from trajcompress.dataset.source_files import stem_of
from trajcompress.dataset.sources import Found, MissingInputError, find_inputs
from trajcompress.dataset.storage.location import Location, is_stored, location_of
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import InputError, OutputError
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.settings import Settings


def find_run_inputs(settings: Settings, inputs: Sequence[str]) -> Found:
    """Find what to read, and see that it can be.

    Raises:
        InputError: an input cannot be read, or there are files and a dataset.
    """
    if settings.input.dataset is None:
        try:
            found = find_inputs(inputs)
        except MissingInputError as error:
            error.reword(lambda text: f"{text} (a dataset of the hub is named with --dataset)")
            raise
        for source in found.sources:
            require_one_of_each(source)
        return found
    if inputs:
        raise InputError(f"{inputs[0]}: give either files or --dataset, not both")
    return Found([hub_source(settings.input.dataset, settings.input.split)], [])


def check_log(log: str | None, inputs: Iterable[Location], folder: RunFolder) -> None:
    """Raise OutputError where the log is an input, lies in one, or is a file that the run itself writes."""
    if log is None:
        return
    path = Path(log).resolve()
    for given in inputs:
        if path == given.resolve() or (given.is_dir() and given.resolve() in path.parents):
            raise OutputError(f"{log}: the log would be part of the input {given}; choose another --log-file")
    if folder.writes(path):
        raise OutputError(f"{log}: the run writes that itself; choose another --log-file, such as run.log")


def _checked(folder: Location) -> Location:
    """Return an output folder; raise OutputError where none can be there."""
    if isinstance(folder, StorePath):
        if folder.scheme == "hf":
            raise OutputError(f"{folder}: the hub is written to by a push; write to a folder here, and push that")
        if folder.parent == folder:
            raise OutputError(f"{folder}: name a folder in it, such as {folder}/fitted")
        if {".", ".."} & set(folder.url.split("/")):
            raise OutputError(f"{folder}: a store has no folders . and ..; write the address out")
    return folder


def output_folder(settings: Settings, inputs: Sequence[str]) -> Location:
    """Return the folder that is asked for, else the first input's name and the suffix, beside it.

    Where that is in a store, it is a folder here.

    Raises:
        OutputError: there is no such name.
    """
    if settings.output.dir == "-":
        raise OutputError("-: the output is a folder, with a dataset and its metrics; name one")
    if settings.output.dir is not None:
        return _checked(location_of(settings.output.dir))
    suffix = settings.output.output_suffix
    if inputs and is_stored(inputs[0]):
        place = location_of(inputs[0])
        if glob.has_magic(place.name):
            raise OutputError("a glob names no output folder: add --output DIR")
        return Path(stem_of(place) + suffix)
    first = Path(inputs[0] if inputs else settings.input.dataset or "dataset")
    if str(first) == "-" or not first.exists():
        named = "stdin" if str(first) == "-" else first.name
        if any(each in named for each in "*?["):
            raise OutputError("a glob names no output folder: add --output DIR")
        return Path(named + suffix)
    resolved = first if first.name not in {"", ".", ".."} else first.resolve()
    stem = resolved.name if resolved.is_dir() else resolved.name.split(".")[0] or resolved.name
    if not suffix:
        raise OutputError("output.output_suffix is empty: the output would be the input; set it, or add --output DIR")
    return resolved.with_name(stem + suffix)
