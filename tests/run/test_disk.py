"""A disk that is full, a folder that may no longer be written, an input that vanishes: a clear end, and a way on."""

from __future__ import annotations

import shutil
import subprocess
import threading

import pytest
import runs
from loopback import LoopbackServer

DONE_IS_KEPT = "what is done is kept"


@pytest.fixture
def place(tmp_path, make_tokenizer):
    return runs.Place(tmp_path, make_tokenizer())


def mount(*arguments):
    """Mount a file system; tell whether that worked."""
    command = shutil.which("mount")
    return command is not None and subprocess.run([command, *arguments], check=False).returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system with room for little."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)):
        pytest.skip("no file system can be mounted here; root of a container with CAP_SYS_ADMIN may")
    yield disk
    subprocess.run([shutil.which("umount"), "-l", str(disk)], check=True)


def limit_file_size(size: int) -> str:
    """Return code that lets no file of its process grow beyond ``size`` bytes, as a quota does."""
    ignored = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"  # so that a write fails instead
    return f"import resource, signal; {ignored}; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))\n"


def assert_clear(ran, *words):
    """Check that a run ended with one line that says what to do, besides what it notes on its way."""
    assert ran.code == 2, ran.stderr
    assert "Traceback" not in ran.stderr
    (error,) = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
    for word in words:
        assert word in error


@pytest.mark.parametrize(
    ("output_format", "size"),
    [("jsonl", 100), ("parquet", 6_000), pytest.param("jsonl", 14_000, marks=pytest.mark.slow)],
)
def test_a_quota_on_the_size_of_files(place, output_format, size):
    inputs = runs.write_inputs(place.folder, 30)
    command = place.offline(inputs, "out", "--output-format", output_format)
    assert_clear(runs.run(*command, cwd=place.folder, code=limit_file_size(size)), "out")
    runs.finish(place, command)
    runs.assert_same_as_whole(place, command)


def test_a_quota_where_summaries_are_recorded(place):
    inputs = runs.write_inputs(place.folder, 60)
    with LoopbackServer() as server:
        command = place.calling(server.base_url, inputs, "out", "--output-format", "jsonl")
        full = runs.run(*command, cwd=place.folder, code=limit_file_size(60_000))
        assert_clear(full, "summaries.sqlite", "make room")
        paid = runs.recorded(place.folder / "out")
        before = len(server.seen)
        assert before - len(paid) <= 4  # those whose answer could not be written down
        runs.finish(place, command)
        assert not paid & {runs.prompt_digest(seen) for seen in server.seen[before:]}
        runs.assert_same_as_whole(place, command)


def test_a_full_disk(place, small_disk):
    inputs = runs.write_inputs(place.folder, 60)
    output = str(small_disk / "out")
    with LoopbackServer() as server:
        command = place.calling(server.base_url, inputs, output, "--output-format", "jsonl")
        assert_clear(runs.run(*command, cwd=place.folder), "make room")
        paid = runs.recorded(small_disk / "out")
        assert paid
        assert_clear(runs.run(*command, cwd=place.folder), "make room")
        before = len(server.seen)
        assert mount("-o", "remount,size=20m", str(small_disk))
        runs.finish(place, command)
        assert not paid & {runs.prompt_digest(seen) for seen in server.seen[before:]}
        runs.assert_same_as_whole(place, command, output)


def test_a_disk_that_is_full_from_the_start(place, small_disk):
    inputs = runs.write_inputs(place.folder, 4)
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(2**20))
    command = place.offline(inputs, str(small_disk / "out"))
    assert_clear(runs.run(*command, cwd=place.folder))
    filler.unlink()
    runs.finish(place, command)


@pytest.mark.wants("forbidding")
@pytest.mark.parametrize("lost", ["data", ".state/metrics", "."])
def test_a_lost_permission(place, lost):
    inputs = runs.write_inputs(place.folder, 40)
    folder = place.folder / "out"
    with LoopbackServer(latency=0.1) as server:
        command = place.calling(server.base_url, inputs, "out")
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: (folder / "data").exists() and any((folder / "data").glob("*-00000.parquet")), process)
        (folder / lost).chmod(0o500)
        ran = runs.ended(process)
        again = runs.run(*command, cwd=place.folder)
        (folder / lost).chmod(0o700)
        assert_clear(ran, "out", "Permission denied", DONE_IS_KEPT)
        assert_clear(again, "out", "Permission denied")
        runs.finish(place, command)
        runs.assert_same_as_whole(place, command)


def test_a_folder_that_cannot_be_made(place):
    inputs = runs.write_inputs(place.folder, 4)
    (place.folder / "file").write_text("")
    assert_clear(runs.run(*place.offline(inputs, "file/out"), cwd=place.folder), "file/out")
    assert_clear(runs.run(*place.offline(inputs, "file"), cwd=place.folder), "file: is a file")


def wait_until(happened: threading.Event) -> None:
    """Answer nobody until something has happened: this holds the whole server up."""
    assert happened.wait(120)


def test_an_input_that_vanishes_on_the_way(place):
    first, second = runs.write_inputs(place.folder, 20)
    gone = threading.Event()
    with LoopbackServer(lambda _: wait_until(gone)) as server:
        more = ("--max-in-flight", "4", "--part-size", "1MB")
        command = place.calling(server.base_url, [first, second], "out", *more)
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: server.seen, process)
        hidden = second.rename(place.folder / "elsewhere")
        gone.set()
        assert_clear(runs.ended(process), "b.jsonl.gz", "No such file")
        assert_clear(runs.run(*command, cwd=place.folder), "b.jsonl.gz", "no such file")
        paid, before = runs.recorded(place.folder / "out"), len(server.seen)
        hidden.rename(second)
        runs.finish(place, command)
        assert paid
        assert not paid & {runs.prompt_digest(seen) for seen in server.seen[before:]}
        runs.assert_same_as_whole(place, command)


def test_summaries_are_kept_though_no_part_is_committed_when_an_input_vanishes(place):
    first, second = runs.write_inputs(place.folder, 20)
    gone = threading.Event()
    with LoopbackServer(lambda _: wait_until(gone)) as server:
        more = ("--max-in-flight", "4", "--part-size", "1MB")
        command = place.calling(server.base_url, [first, second], "out", *more)
        process = runs.start(*command, cwd=place.folder)
        runs.wait_for(lambda: server.seen, process)
        hidden = second.rename(place.folder / "elsewhere")
        gone.set()
        assert_clear(runs.ended(process), "b.jsonl.gz", "No such file")
        paid, before = runs.recorded(place.folder / "out"), len(server.seen)
        assert paid
        hidden.rename(second)
        runs.finish(place, command)
        assert not paid & {runs.prompt_digest(seen) for seen in server.seen[before:]}
