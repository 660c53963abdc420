"""Runs that a test can break off: as processes of their own, and within the test; and what is left of them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gzip
import json
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import commands
import forked
import pyarrow.parquet as pq
from loopback_replies import Seen, digest
from small_definition import small_definition

from trajcompress.run import job
from trajcompress.run.progress.progress import Progress
from trajcompress.settings import resolve
from trajcompress.tokens.tokenizer import load_tokenizer

PART_SIZE = 15_000
"""Bytes of input of a part: some five rows."""
_DIGEST = re.compile(r"- request (\w+)")
_SETTINGS = "summarization: {retry_delay: 0.02, max_retries: 1, max_failures_in_a_row: 4, max_outage: 2}\n"


def start(
    *arguments: str | Path,
    cwd: Path,
    code: str = "",
    stdin: int = subprocess.DEVNULL,
    start_new_session: bool = False,
) -> subprocess.Popen[str]:
    """Start the command; ``code`` runs before it."""
    return forked.start(
        arguments,
        code=code + forked.MAIN,
        cwd=cwd,
        env=commands.environment(),
        stdin=stdin,
        start_new_session=start_new_session,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], seconds: float = 120) -> commands.Ran:
    """Wait for the end of a process; one that does not end in time is killed, and the test fails."""
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        raise AssertionError(f"still running after {seconds} s; it said: {stderr}") from None
    return commands.Ran(process.returncode, stdout, stderr)


def run(*arguments: str | Path, cwd: Path, code: str = "") -> commands.Ran:
    """Run the command to its end."""
    return ended(start(*arguments, cwd=cwd, code=code))


def wait_for(happened: Callable[[], Any], process: subprocess.Popen[str]) -> None:
    """Wait until something has happened; the process must not end before."""
    while not happened():
        if process.poll() is not None:
            raise AssertionError(f"ended too early, with {process.returncode}: {process.communicate()[1]}")
        time.sleep(0.005)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def write_inputs(folder: Path, rows: int) -> list[Path]:
    """Write two files, of either format: long and short rows, broken lines, columns that come, go and change."""
    count = rows // 2
    first = [commands.conversation(i, steps=2 if i % 4 == 3 else 12) for i in range(count)]
    lines = [json.dumps(row) for row in first]
    lines[1:1] = ["", '{"id": "cut", "messages": [{"role"', "[]"]
    openai = folder / "a.jsonl"
    openai.write_text("\n".join(lines) + "\n")
    scores: list[Any] = [1, 0.5, None, "high", {"by": "judge", "of": [1]}]
    second = [
        commands.conversation(i, sharegpt=True, score=scores[i * len(scores) // rows]) for i in range(count, rows)
    ]
    sharegpt = folder / "b.jsonl.gz"
    sharegpt.write_bytes(gzip.compress("\n".join(map(json.dumps, second)).encode(), mtime=0))
    return [openai, sharegpt]


@dataclass(frozen=True, slots=True)
class Place:
    """A folder to run in, and a small tokenizer that loads at once."""

    folder: Path
    tokenizer: str

    def offline(self, inputs: Iterable[Path | str], output: str, *more: str) -> list[str | Path]:
        """Return the command line of a run without calls, with parts of a few rows.

        Its broken lines are allowed, and counted at the end.
        """
        small = ["--tokenizer", self.tokenizer, "--target-max-tokens", "2000", "--summary-target-tokens", "300"]
        small += ["--part-size", str(PART_SIZE)]
        return ["compress", *inputs, "-o", output, *small, "--max-failed", "90%", *more]

    def calling(self, base_url: str, inputs: Iterable[Path | str], output: str, *more: str) -> list[str | Path]:
        """Return the command line of a run that makes calls, four at once."""
        config = self.folder / "settings.yaml"
        config.write_text(_SETTINGS)
        chosen = ["-c", str(config), "--model", "loopback", "--base-url", base_url, "--max-concurrent-requests", "4"]
        return self.offline(inputs, output, *chosen, "--max-in-flight", "12", *more)


def finish(place: Place, command: list[str | Path]) -> None:
    """Run the command to its end, within this process, which spares the imports; it must succeed."""
    ran = commands.run_here(*command, cwd=place.folder)
    assert ran.code == 0, ran


def assert_same_as_whole(place: Place, command: list[str | Path], output: str = "out") -> None:
    """Check that the run of ``command`` into ``output`` has ended as one that nobody disturbed."""
    finish(place, ["whole" if argument == output else argument for argument in command])
    ours, whole = outcome(place.folder / output), outcome(place.folder / "whole")
    differ = [name for name in ours.keys() | whole.keys() if ours.get(name) != whole.get(name)]
    told = [(name, ours.get(name), whole.get(name)) for name in differ if name.endswith((".parquet", ".json"))]
    assert ours == whole, (differ, told)


def outcome(folder: Path) -> dict[str, Any]:
    """Return what a run leaves for its reader, but for times and the record of the run itself."""
    files: dict[str, Any] = dict(commands.files_of(folder))
    del files["run.json"]
    table = pq.read_table(folder / "metrics.parquet").drop_columns(["latency_s"])
    files["metrics.parquet"] = (table.schema, table.to_pylist())
    return files


def recorded(folder: Path) -> set[str]:
    """Return the digests of the prompts whose summaries a run has recorded, without touching its files."""
    with tempfile.TemporaryDirectory() as copy:
        for file in (folder / ".state").glob("summaries.sqlite*"):
            shutil.copy(file, copy)
        with contextlib.closing(sqlite3.connect(Path(copy) / "summaries.sqlite")) as database:
            try:
                summaries = database.execute("SELECT summary FROM summaries").fetchall()
            except sqlite3.OperationalError:  # killed before there was a table
                return set()
    return {match[1] for (summary,) in summaries if (match := _DIGEST.search(summary))}


def committed_rows(folder: Path) -> int:
    return sum(pq.read_metadata(part).num_rows for part in (folder / ".state" / "metrics").glob("*.parquet"))


def prompt_digest(seen: Seen) -> str:
    """Return what the loopback server writes into the summary of a request."""
    return digest(str(seen.messages[-1]["content"]))


@dataclass
class Told:
    """What a run within the test has told."""

    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.notes.append(text)

    def started(self, total_bytes: int | None) -> None:
        pass

    def advanced(self, bytes_read: int, progress: Progress) -> None:
        pass


def run_here(*inputs: Path | str, output: Path, told: Told | None = None, **settings: Any) -> job.RunResult:
    """Run within the test, each tokenizer loaded once for all; ``section__key`` names a setting."""
    given = {key.replace("__", "."): value for key, value in settings.items()}
    resolved = resolve({**given, "output.dir": str(output)}, None, environ={}, dotenv=None)
    with mock.patch("trajcompress.run.build.components.load_tokenizer", _load_once):
        return job.run(resolved.settings, [str(each) for each in inputs], told or Told())


_load_once = functools.cache(load_tokenizer)


@functools.cache
def small_tokenizer() -> str:
    """Return the folder of a small tokenizer, for tests that run very often."""
    folder = Path(tempfile.mkdtemp(prefix="small-tokenizer-"))
    atexit.register(shutil.rmtree, folder)
    (folder / "tokenizer.json").write_text(small_definition())
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    return str(folder)


NEVER = 10**6


def killed_at_steps(cwd: Path, *arguments: str | Path, steps: list[int]) -> list[bool]:
    """Run the command once for each of ``steps``, killed before so many durable steps; tell which were killed."""
    killing = Path(__file__).with_name("killing.py").read_text()
    ran = [run(*arguments, cwd=cwd, code=f"{killing}\nkill_before({step})\n") for step in steps]
    assert {each.code for each in ran} <= {0, -signal.SIGKILL}, ran
    return [each.code != 0 for each in ran]
