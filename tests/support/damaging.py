"""Damage that is done to files, and runs to do it to."""

from __future__ import annotations

import contextlib
import itertools
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import commands
import pytest
import runs
from loopback import LoopbackServer

Damage = Callable[[Path], object]
"""Does something to a run folder."""

PARTS, SUMMARIES = ".state/parts", ".state/summaries.sqlite"

_numbers = itertools.count()


def cut(name: str, share: float = 0.6) -> Damage:
    """Cut a file short."""
    return lambda folder: _rewrite(folder / name, lambda data: data[: int(len(data) * share)])


def flip(name: str) -> Damage:
    """Flip a bit in the middle of a file, which keeps its size."""

    def flipped(data: bytes) -> bytes:
        at = len(data) // 2
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return lambda folder: _rewrite(folder / name, flipped)


def empty(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"")


def garbage(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"no database, no parquet, no json " * 500)


def lose_line(name: str) -> Damage:
    return lambda folder: _rewrite(folder / name, lambda data: b"".join(data.splitlines(keepends=True)[1:]))


def double_line(name: str) -> Damage:
    return lambda folder: _rewrite(folder / name, lambda data: data.splitlines(keepends=True)[0] + data)


def swap_lines(name: str) -> Damage:
    return lambda folder: _rewrite(folder / name, lambda data: b"".join(_first_two_swapped(data)))


def delete(name: str) -> Damage:
    def deleted(folder: Path) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return deleted


def put(source: str, name: str) -> Damage:
    """Put one file of the folder in the place of another."""
    return lambda folder: shutil.copy(folder / source, folder / name)


def swap(one: str, other: str) -> Damage:
    def swapped(folder: Path) -> None:
        first, second = (folder / one).read_bytes(), (folder / other).read_bytes()
        (folder / one).write_bytes(second)
        (folder / other).write_bytes(first)

    return swapped


def write(name: str, text: str) -> Damage:
    return lambda folder: (folder / name).write_text(text)


def folder_instead(name: str) -> Damage:
    def made(folder: Path) -> None:
        delete(name)(folder) if (folder / name).exists() else None
        (folder / name).mkdir(parents=True)

    return made


def file_instead(name: str) -> Damage:
    def made(folder: Path) -> None:
        delete(name)(folder) if (folder / name).exists() else None
        (folder / name).write_text("no folder")

    return made


def link_instead(name: str) -> Damage:
    """Move something elsewhere, and leave a link to it."""

    def linked(folder: Path) -> None:
        elsewhere = folder.with_name(f"{folder.name}-elsewhere")
        (folder / name).rename(elsewhere)
        (folder / name).symlink_to(elsewhere)

    return linked


def all_of(*damages: Damage) -> Damage:
    return lambda folder: [damage(folder) for damage in damages]


NOTHING = all_of()


def sql(name: str, *statements: str) -> Damage:
    """Change a database."""

    def changed(folder: Path) -> None:
        with contextlib.closing(sqlite3.connect(folder / name, isolation_level=None)) as database:
            for statement in statements:
                database.execute(statement)

    return changed


def fold_in(name: str) -> Damage:
    """Have nothing of a database in its write-ahead log."""
    return sql(name, "PRAGMA wal_checkpoint(TRUNCATE)")


def in_run_json(old: str, new: str) -> Damage:
    """Replace a text in ``run.json``."""
    return lambda folder: _rewrite(folder / "run.json", lambda data: data.replace(old.encode(), new.encode()))


def of_part(number: int, folder: str = PARTS, piece: int = 0) -> str:
    """Return the name of a part's file in a folder of the state: its manifest, its metrics or its rejects."""
    suffix = {"parts": "json", "metrics": "parquet", "rejected": "jsonl"}[folder.rpartition("/")[2]]
    return f"{folder}/{number:06}-{piece:05}.{suffix}"


def in_manifest(number: int, **changes: Any) -> Damage:
    """Change what a part's manifest says."""
    return lambda folder: _rewrite(
        folder / of_part(number), lambda data: json.dumps({**json.loads(data), **changes}).encode()
    )


def _rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def _first_two_swapped(data: bytes) -> list[bytes]:
    first, second, *others = data.splitlines(keepends=True)
    return [second, first, *others]


def forget_manifest(folder: Path) -> None:
    """Leave a run as an earlier version would have: without sizes and digests of its files, in another format."""
    record = json.loads((folder / "run.json").read_text())
    del record["files"], record["format"]
    (folder / "run.json").write_text(json.dumps(record))
    shutil.rmtree(folder / PARTS, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Broken:
    """A run that calls a server: ``whole`` is the folder of one that ended, ``killed`` of one that did not."""

    place: runs.Place
    server: LoopbackServer
    inputs: list[Path]
    output_format: str

    def command(self, output: str) -> list[str | Path]:
        return self.place.calling(self.server.base_url, self.inputs, output, "--output-format", self.output_format)

    def run(self, output: str | Path, *more: str) -> commands.Ran:
        """Run the command, in a folder of that name, to its end."""
        return commands.run_here(*self.command(str(output)), *more, cwd=self.place.folder)

    def attacked(self, kind: str, damage: Damage) -> Path:
        """Copy a folder, ``killed`` or ``whole``, and do the damage."""
        return attacked(self.place.folder / kind, damage)

    def assert_as_whole(self, folder: Path) -> None:
        assert runs.outcome(folder) == runs.outcome(self.place.folder / "whole")

    def assert_mended(self, kind: str, damage: Damage, *words: str) -> None:
        """Check that the same command names what is damaged, mends it, and pays for nothing twice."""
        paid = runs.recorded(self.place.folder / kind)
        folder = self.attacked(kind, damage)
        before = len(self.server.seen)
        ran = self.run(folder.name)
        assert ran.code == 0, ran.stderr
        assert "Traceback" not in ran.stderr
        for word in words:
            assert word in ran.stderr
        self.assert_as_whole(folder)
        assert not {runs.prompt_digest(seen) for seen in self.server.seen[before:]} & paid


def attacked(folder: Path, damage: Damage) -> Path:
    """Copy a folder to one beside it, and do the damage."""
    copy = Path(shutil.copytree(folder, folder.with_name(f"{folder.name}-{next(_numbers)}")))
    damage(copy)
    return copy


def assert_refused(ran: commands.Ran, *words: str) -> None:
    """Check that a command ended with one line that holds all words."""
    assert ran.code == 2, ran
    assert "Traceback" not in ran.stderr
    (error,) = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    for word in words:
        assert word in error


def files_and_folders(folder: Path) -> dict[Path, bytes | bool]:
    """Return all that is in a folder, but for the state of a run."""
    return {path: path.is_dir() or path.read_bytes() for path in folder.rglob("*") if ".state" not in path.parts}


@contextlib.contextmanager
def broken_run(folder: Path, output_format: str, rows: int = 28) -> Iterator[Broken]:
    """Run to the end, and run again to be killed amid the second input."""
    with LoopbackServer(latency=0.02) as server:
        place = runs.Place(folder, runs.small_tokenizer())
        broken = Broken(place, server, runs.write_inputs(folder, rows), output_format)
        runs.finish(place, broken.command("whole"))
        process = runs.start(*broken.command("killed"), cwd=folder)
        data = folder / "killed/data"
        runs.wait_for(lambda: len(list(data.glob(f"*-0000[0-9].{output_format}"))) >= 5, process)
        runs.kill(process)
        yield broken


def table(lines: dict[str, tuple[object, ...]]) -> list[object]:
    """Return the lines of a table as parameters: the first of each, and the words that are said."""
    return [pytest.param(damage, words, id=name) for name, (damage, *words) in lines.items()]
