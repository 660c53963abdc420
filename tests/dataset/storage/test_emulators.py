"""Google's and Azure's stores, by emulators of them, where they are installed."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

import pytest
import runs

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.sources import find_inputs
from trajcompress.dataset.storage import lease
from trajcompress.dataset.storage.location import location_of
from trajcompress.dataset.storage.range_file import BLOCK_BYTES
from trajcompress.dataset.storage.stores import filesystem
from trajcompress.errors import InputError, OutputError

# Azurite's own, which everybody knows.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
CONTAINER = "rows"


@contextlib.contextmanager
def serving(command, port):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            assert process.poll() is None
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="module")
def azure():
    from azure.storage import blob

    port = free_port()
    at = f"BlobEndpoint=http://127.0.0.1:{port}/devstoreaccount1;"
    connection = f"DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey={KEY};{at}"
    command = ["azurite-blob", "--inMemoryPersistence", "--blobPort", str(port), "--silent", "--skipApiVersionCheck"]
    with serving(command, port), pytest.MonkeyPatch.context() as patched:
        patched.setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
        with blob.BlobServiceClient.from_connection_string(connection) as client:
            client.create_container(CONTAINER)
        yield f"az://{CONTAINER}"
    filesystem.cache_clear()


@pytest.fixture(scope="module")
def google():
    port = free_port()
    script = "from gcp_storage_emulator.__main__ import main; main()"
    options = ["start", "--host=127.0.0.1", f"--port={port}", "--in-memory", f"--default-bucket={CONTAINER}"]
    with serving([sys.executable, "-c", script, *options], port), pytest.MonkeyPatch.context() as patched:
        patched.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        yield f"gs://{CONTAINER}"
    filesystem.cache_clear()


EMULATED = {"azure": "azurite", "google": "gcp-storage-emulator"}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.wants(emulator)) for name, emulator in EMULATED.items()])
def root(request, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    return request.getfixturevalue(request.param)


@pytest.mark.filterwarnings("ignore:Sending a large body directly:ResourceWarning")  # Azure's client does
def test_objects_are_listed_read_and_put(root, tmp_path):
    folder = location_of(f"{root}/in")
    lines = (json.dumps({"id": number}).encode().ljust(2**16 - 1) + b"\n" for number in range(100))
    data = b"".join(lines)
    assert len(data) > BLOCK_BYTES
    (tmp_path / "large").write_bytes(data)
    (folder / "large.jsonl").upload(tmp_path / "large")
    (folder / "b/small.jsonl").write_bytes(b'{"id": 1}\n')
    sources = find_inputs([f"{root}/in"]).sources
    assert [(source.name, source.size) for source in sources] == [
        (f"{root}/in/large.jsonl", len(data)),
        (f"{root}/in/b/small.jsonl", 10),
    ]
    assert [row.value["id"] for row in read_rows(sources[0])] == list(range(100))
    assert [source.name for source in find_inputs([f"{root}/in/*/*.jsonl"]).sources] == [f"{root}/in/b/small.jsonl"]
    small = folder / "b/small.jsonl"
    assert small.look() == sources[1].path.listed
    small.write_bytes(b'{"id": 2}\n')
    assert small.look() != sources[1].path.listed
    with pytest.raises(InputError, match="no such object"):
        find_inputs([f"{root}/none"])


def test_a_run_there_leaves_what_it_leaves_here(root, tmp_path, make_tokenizer):
    place = runs.Place(tmp_path, make_tokenizer())
    inputs = runs.write_inputs(tmp_path, 24)
    runs.finish(place, place.offline(inputs, f"{root}/out"))
    runs.finish(place, place.offline(inputs, "here"))
    there = location_of(f"{root}/out")
    for each in there.find():
        copy = tmp_path / "there" / each.url.removeprefix(f"{there.url}/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(each.read_bytes())
    assert runs.outcome(tmp_path / "there") == runs.outcome(tmp_path / "here")


def test_one_run_at_a_time(root):
    path = location_of(f"{root}/held/.state/lock")
    with lease.held_lease(path):
        with pytest.raises(OutputError, match=rf"process {os.getpid()} on .* is writing here"):
            lease.held_lease(path).__enter__()
        if root.startswith("az:"):  # the emulator of Google's store lets every put overwrite
            with pytest.raises(FileExistsError):
                path.create(b"another")
    assert not path.exists()
