"""Rows as they are read and counted; for single calls, with the tokenizers that were loaded last."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from trajcompress.api.options import naming_arguments
from trajcompress.api.rows import as_row
from trajcompress.compaction.happened import mistake_in
from trajcompress.errors import INTERNAL, OF_THE_RUN, RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import MESSAGES
from trajcompress.run.build.components import build_counter, build_form_with, build_format_options
from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

_KEPT = 4  # a large one takes some hundred MB


class RowReader:
    """Reads rows in the form that the settings ask for, and counts them."""

    def __init__(self, settings: Settings, counter: TokenCounter) -> None:
        self._formats = build_format_options(settings)
        self._messages_field = settings.input.messages_field or MESSAGES
        self._form = build_form_with(settings, counter)
        self._counter = counter

    def read(self, given: object, fallback_id: str) -> Trajectory:
        """Return the trajectory of a row; raise RowError where it holds none."""
        row = as_row(given, self._messages_field)
        try:
            trajectory = read_trajectory(row, fallback_id, self._formats)
            return self._form.of(trajectory) if self._form else trajectory
        except OF_THE_RUN:
            raise
        except Exception as error:  # a mistake of ours is this row's alone; it goes on as the cause
            raise RowError(INTERNAL, mistake_in(error)) from error

    def count(self, given: object) -> int:
        """Return the tokens of a row; raise RowError where it holds no trajectory."""
        with naming_arguments():
            return self._counter.count(self.read(given, "row")).tokens


def kept_reader(settings: Settings) -> RowReader:
    """Return what counts rows as the settings say, kept between calls while the files that they name stay the same.

    Raises:
        SettingsError: settings contradict each other.
        TokenizerError: the tokenizer cannot be loaded.
    """
    chosen = settings.tokenizer
    stamps = tuple(_stamps(each) for each in (chosen.name, chosen.chat_template))
    return _opened(_Wanted(repr(settings.flat()), stamps, settings))


@dataclass(frozen=True)
class _Wanted:
    """Settings by their values, with the files that they name as they are now."""

    values: str
    stamps: tuple[object, ...]
    settings: Settings = field(compare=False)


@lru_cache(_KEPT)
def _opened(wanted: _Wanted) -> RowReader:
    with naming_arguments():
        # Of this process alone: others would wait, for as long as this one lives, for a call that may never come.
        return RowReader(wanted.settings, build_counter(wanted.settings, processes=1))


def _stamps(named: str | None) -> object:
    """Return what tells a file, or those of a folder, from what stood there before; None for what is no path."""
    if not named:
        return None
    try:
        path = Path(named).resolve()
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return str(path), *((each.name, *_stamp(each.stat())) for each in files)
    except (OSError, ValueError):  # a name of the hub, or a template that is itself given
        return None


def _stamp(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
