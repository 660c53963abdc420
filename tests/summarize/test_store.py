"""Stores of summaries: kept through anything, and found again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from trajcompress.errors import OutputError
from trajcompress.summarize.base import Summary, Usage
from trajcompress.summarize.cache.recovery import SummaryCache, open_repaired
from trajcompress.summarize.cache.store import Stored, SummaryStore
from trajcompress.summarize.endpoint.batch.store import BatchStore

STORED = Stored(Summary("[CONTEXT SUMMARY]: größer\0\ud800", "m"), Usage(2, 1, 0, 100, 20, latency_s=0.5))


def test_what_is_added_is_found_again(store, tmp_path):
    assert store.is_empty()
    store.add("key", STORED)
    store.add("key", Stored(Summary("another", "m"), Usage()))
    again = SummaryStore(tmp_path / "new" / "summaries.sqlite")
    assert again.find("key") == STORED
    assert again.find("other") is None
    assert not again.is_empty()
    again.close()


def test_what_another_version_wrote_is_read(store):
    store._db.execute(
        "INSERT INTO summaries VALUES ('key', ?, ?)",
        ('{"text": "s", "summarizer": "m", "style": "new"}', '{"api_calls": 2, "carbon_g": 0.1}'),
    )
    assert store.find("key") == Stored(Summary("s", "m"), Usage(api_calls=2))


def test_many_threads_and_connections_add_at_once(tmp_path):
    path = tmp_path / "summaries.sqlite"
    stores = [SummaryStore(path) for _ in range(3)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: stores[number % 3].add(f"key {number % 50}", STORED), range(300)))
    assert all(store.find(f"key {number}") == STORED for store in stores for number in range(50))
    for store in stores:
        store.close()


def test_processes_that_open_a_new_store_at_the_same_moment(tmp_path):
    script = (
        "import sys, pathlib, time; from trajcompress.summarize.cache.store import SummaryStore, Stored\n"
        "from trajcompress.summarize.base import Summary, Usage\n"
        "go = pathlib.Path(sys.argv[1]) / 'go'\n"
        "print('ready', flush=True)\n"
        "while not go.exists(): pass\n"
        "for n in range(20):\n"
        "    store = SummaryStore(pathlib.Path(sys.argv[1]) / str(n) / 'summaries.sqlite')\n"
        "    store.add(sys.argv[2], Stored(Summary('s', 'm'), Usage()))\n"
        "    store.close()\n"
    )
    commands_ = [[sys.executable, "-c", script, str(tmp_path), str(number)] for number in range(3)]
    running = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for one in commands_]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    for process in running:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    for number in range(20):
        store = SummaryStore(tmp_path / str(number) / "summaries.sqlite")
        assert all(store.find(str(each)) for each in range(3))
        store.close()


def test_a_file_that_is_no_store_is_named(tmp_path):
    path = tmp_path / "summaries.sqlite"
    path.write_bytes(b"this is no database, and long enough to be sure of it" * 100)
    with pytest.raises(OutputError, match=r"summaries\.sqlite: cannot be used"):
        SummaryStore(path)


@pytest.mark.parametrize("kind", [SummaryStore, BatchStore])
def test_a_file_that_is_no_store_is_closed_again(tmp_path, monkeypatch, kind):
    (tmp_path / "no.sqlite").write_bytes(b"no database" * 1000)
    connect, opened = sqlite3.connect, []
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: opened.append(connect(*args, **options)) or opened[-1]
    )
    with pytest.raises(OutputError, match="cannot be used"):
        kind(tmp_path / "no.sqlite")
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_a_store_that_breaks_later_is_an_error_of_ours(store, tmp_path):
    store.add("key", STORED)
    store._db.execute("DROP TABLE summaries")
    with pytest.raises(OutputError, match="cannot be read"):
        store.find("key")
    with pytest.raises(OutputError, match="cannot be kept"):
        store.add("key", STORED)


def test_only_what_cannot_be_used_is_replaced(store):
    store.add("key", STORED)
    other = Stored(Summary("another", "m"), Usage())
    store.add("key", other, instead_of=other)  # somebody else replaced it meanwhile
    assert store.find("key") == STORED
    store.add("key", other, instead_of=STORED)
    assert store.find("key") == other


def test_a_damaged_record_is_put_aside_and_what_can_be_read_is_kept(tmp_path):
    path, notes = tmp_path / "summaries.sqlite", []
    store = SummaryStore(path)
    for number in range(200):
        store.add(f"key {number}", Stored(Summary(f"{number}" * 500, "m"), Usage()))
    store.close()
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    store = open_repaired(path, notes.append)
    kept = [number for number in range(200) if store.find(f"key {number}")]
    assert len(kept) < 200
    assert len(notes) == 1
    assert f"{len(kept)} summaries of it are kept" in notes[0]
    assert path.with_name("summaries.sqlite.damaged").exists()
    store.add("key 199", STORED)
    store.close()
    store = open_repaired(path, notes.append)
    assert (store.find("key 199"), len(notes)) == (STORED, 1)
    store.close()


def test_of_a_record_with_a_damaged_page_the_others_are_kept(tmp_path):
    path, notes = tmp_path / "summaries.sqlite", []
    store = SummaryStore(path)
    for number in range(200):
        store.add(f"key {number}", Stored(Summary(f"{number}" * 500, "m"), Usage()))
    store.close()
    data = bytearray(path.read_bytes())
    at = len(data) // 4096 * 4096 // 2
    data[at : at + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    store = open_repaired(path, notes.append)
    assert 0 < sum(store.find(f"key {number}") is not None for number in range(200)) < 200
    assert len(notes) == 1
    store.close()


def test_an_entry_that_cannot_be_read_gives_way_to_a_new_one(tmp_path):
    path, notes = tmp_path / "summaries.sqlite", []
    store = SummaryStore(path, notes.append)
    for key in ("one", "other"):
        store.add(key, STORED)
    store._db.execute("UPDATE summaries SET summary = x'ff'")
    assert (store.find("one"), store.find("other"), len(notes)) == (None, None, 1)
    store.add("one", STORED)
    assert (store.find("one"), store.find("other"), len(notes)) == (STORED, None, 1)
    store.close()


def test_a_run_goes_on_without_a_cache_that_cannot_be_used(tmp_path):
    (tmp_path / "summaries.sqlite").write_bytes(b"no database" * 1000)
    notes = []
    cache = SummaryCache(tmp_path / "summaries.sqlite", notes.append)
    cache.add("key", STORED)
    assert (cache.find("key"), len(notes)) == (None, 1)
    assert "goes on without it" in notes[0]
    cache.close()
