"""A cache of summaries that is damaged, foreign, locked or full: a run says so once and goes on."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
from pathlib import Path

import commands
import damaging as do
import pytest
import runs
from loopback import LoopbackServer

STORE = "summaries.sqlite"
_numbers = iter(range(10**6))


class Cached:
    """A run that was made with a cache."""

    def __init__(self, folder, server):
        self.folder = folder
        self.place = runs.Place(folder, runs.small_tokenizer())
        self.server = server
        self.rows = commands.write_rows(folder / "in.jsonl", [commands.conversation(number) for number in range(4)])
        assert self.run("first", "cache").code == 0
        with contextlib.closing(sqlite3.connect(folder / "cache" / STORE)) as store:
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def run(self, output, cache):
        command = self.place.calling(self.server.base_url, [self.rows], output, "--output-format", "jsonl")
        return commands.run_here(*command, "--cache", cache, cwd=self.folder)

    def attacked(self, attack):
        """Copy the cache, and do the damage."""
        cache = Path(shutil.copytree(self.folder / "cache", self.folder / f"cache-{next(_numbers)}"))
        attack(cache)
        return cache

    def assert_goes_on(self, cache, *words, asked=None):
        """Check that a run with a cache ends as the first did, says each of the words once, and asks so often."""
        output = f"out-{next(_numbers)}"
        before = len(self.server.seen)
        ran = self.run(output, cache)
        assert ran.code == 0, ran.stderr
        assert "Traceback" not in ran.stderr
        for word in words:
            assert ran.stderr.count(word) == 1
        assert asked is None or len(self.server.seen) - before == asked
        assert commands.read_lines(self.folder / output) == commands.read_lines(self.folder / "first")


@pytest.fixture(scope="module")
def cached(tmp_path_factory):
    with LoopbackServer() as server:
        yield Cached(tmp_path_factory.mktemp("cached"), server)


def sql(statement):
    def changed(cache):
        with contextlib.closing(sqlite3.connect(cache / STORE, isolation_level=None)) as store:
            store.execute(statement)

    return changed


WITHOUT, UNREADABLE = "the run goes on without it", "cannot be read; it, and others like it"
ATTACKS = {
    "nothing": (do.all_of(), (), 0),
    "garbage": (do.garbage(STORE), (WITHOUT,), 4),
    "emptied": (do.empty(STORE), (), 4),
    "cut": (do.cut(STORE, 0.3), (WITHOUT,), 4),
    "a_folder": (do.folder_instead(STORE), (WITHOUT,), 4),
    "of_another_schema": (sql("ALTER TABLE summaries DROP COLUMN usage"), (WITHOUT,), 4),
    "of_other_tables": (sql("ALTER TABLE summaries RENAME TO others"), (), 4),
    "with_a_column_more": (sql("ALTER TABLE summaries ADD COLUMN added TEXT"), (), 0),
    "keys_are_numbers": (sql("UPDATE summaries SET key = rowid"), (), 4),
    "no_json": (sql("UPDATE summaries SET summary = '{'"), (UNREADABLE,), 4),
    "a_list": (sql("UPDATE summaries SET summary = '[]'"), (UNREADABLE,), 4),
    "no_text": (sql("""UPDATE summaries SET summary = '{"summarizer": "m"}'"""), (UNREADABLE,), 4),
    "text_is_a_number": (
        sql("""UPDATE summaries SET summary = '{"text": 1, "summarizer": "m"}'"""),
        (UNREADABLE,),
        4,
    ),
    "no_utf_8": (sql("UPDATE summaries SET summary = CAST(x'7b22ff227d' AS TEXT)"), (UNREADABLE,), 4),
    "a_nul": (sql("UPDATE summaries SET summary = summary || char(0)"), (UNREADABLE,), 4),
    "bytes_of_the_same": (sql("UPDATE summaries SET summary = CAST(summary AS BLOB)"), (), 0),
    "a_number": (sql("UPDATE summaries SET summary = 1.5"), (UNREADABLE,), 4),
    "huge": (
        sql("""UPDATE summaries SET summary = '{"text": "' || hex(zeroblob(9000000)) || '"}' WHERE rowid = 1"""),
        (UNREADABLE,),
        1,
    ),
    "nested_deep": (sql("UPDATE summaries SET summary = replace(hex(zeroblob(50000)), '00', '[')"), (UNREADABLE,), 4),
    "costs_are_texts": (sql("""UPDATE summaries SET usage = '{"api_calls": "many"}'"""), (UNREADABLE,), 4),
    "costs_are_beyond_all": (sql("""UPDATE summaries SET usage = '{"api_calls": 1e999}'"""), (UNREADABLE,), 4),
    "one_of_four": (
        sql("UPDATE summaries SET summary = 'x' WHERE rowid = (SELECT min(rowid) FROM summaries)"),
        (UNREADABLE,),
        1,
    ),
}


@pytest.mark.parametrize(
    ("attack", "words", "asked"), [pytest.param(*line, id=name) for name, line in ATTACKS.items()]
)
def test_what_cannot_be_read_is_asked_for_again(cached, attack, words, asked):
    cache = cached.attacked(attack)
    cached.assert_goes_on(cache, *words, asked=asked)
    if UNREADABLE in words:
        cached.assert_goes_on(cache, asked=0)


def test_a_cache_that_another_process_has_locked(cached, monkeypatch):
    monkeypatch.setattr("trajcompress.summarize.cache.store._PATIENCE_S", 0.2)
    cache = cached.attacked(do.all_of())
    with contextlib.closing(sqlite3.connect(cache / STORE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        cached.assert_goes_on(cache, WITHOUT, asked=4)
    cached.assert_goes_on(cache, asked=0)


def test_a_cache_that_another_process_writes_for_long(cached, monkeypatch):
    monkeypatch.setattr("trajcompress.summarize.cache.store._PATIENCE_S", 0.2)
    cache = cached.attacked(sql("DELETE FROM summaries WHERE rowid = (SELECT min(rowid) FROM summaries)"))
    with contextlib.closing(sqlite3.connect(cache / STORE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        cached.assert_goes_on(cache, "adds nothing to it", asked=1)


def test_a_cache_that_cannot_be_written(cached, disk):
    shutil.copytree(cached.folder / "cache", disk / "cache")
    subprocess.run([shutil.which("mount"), "-o", "remount,ro", str(disk)], check=True)
    cached.assert_goes_on(disk / "cache", WITHOUT, asked=4)


def test_a_cache_on_a_full_disk(cached, disk):
    shutil.copytree(cached.folder / "cache", disk / "cache")
    with contextlib.closing(sqlite3.connect(disk / "cache" / STORE, isolation_level=None)) as store:
        store.execute("DELETE FROM summaries")
    with pytest.raises(OSError, match="No space"):
        (disk / "filler").write_bytes(bytes(2**24))
    cached.assert_goes_on(disk / "cache", asked=4)


def test_a_cache_that_is_no_folder_is_wrong_usage(cached):
    (cached.folder / "file").write_text("")
    ran = cached.run("never", "file")
    assert (ran.code, "Traceback" in ran.stderr) == (2, False)
    assert "--cache file" in ran.stderr
